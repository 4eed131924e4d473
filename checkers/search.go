package checkers

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"tornpage/model"
)

// search lets porcupine decide one group within the bound on steps.
func (c *Checker) search(g suspect) Verdict {
	const check = "linear"
	ops, keys := c.group(g.root)
	budget := &budget{left: c.Options.steps()}
	ok := porcupine.CheckOperations(c.porcupine(keys, budget), ops)
	switch {
	case ok:
		return holds(check)
	case budget.spent():
		return undecided(check, nil, "keys %s: no answer for %d operations within %d steps",
			c.keyList(keys), len(ops), c.Options.steps())
	}
	v := broken(check, nil, "keys %s: no order of the %d operations gives these answers",
		c.keyList(keys), len(ops))
	c.reason(&v, g)
	return v
}

// reason says where the order of commit LSNs failed: since no other order does
// better, that is the operation to look at.
func (c *Checker) reason(v *Verdict, g suspect) {
	if g.why != illegal && g.why != late {
		return
	}
	p := &c.s.of[g.at].op
	none := v.What
	v.Ops = c.identities(g.at)
	v.Details = append(v.Details, none)
	switch {
	case g.why == late:
		v.What = c.describe(g.at) + " ended before an operation began that committed ahead of what it saw"
		v.Details = append(v.Details, c.saw(g.at)...)
	case p.Verb == model.Keep && len(p.Values) == 0:
		v.What = fmt.Sprintf("%s failed although key %d held the %s that it expected",
			c.describe(g.at), c.x.name[p.Keys[0]], value(p.Old))
	default:
		k := p.Keys[g.n]
		got := p.Old
		if p.Verb != model.Swap {
			got = p.Values[g.n]
		}
		by, due := c.x.writerOf(k, got), c.x.writerOf(k, g.want)
		v.Ops = c.identities(g.at, due, by)
		v.What = fmt.Sprintf("%s saw %s at key %d, of %s; want %s of %s", c.describe(g.at), value(got),
			c.x.name[k], c.describe(by), value(g.want), c.describe(due))
		if len(p.Keys) > 1 {
			v.Details = append(v.Details, c.saw(g.at)...)
		}
	}
}

// saw lists what an operation answered, key by key.
func (c *Checker) saw(i int32) []string {
	p := &c.s.of[i].op
	var lines []string
	for n, k := range p.Keys {
		val := p.Old
		switch {
		case p.Verb == model.Write || p.Verb == model.Try || p.Verb == model.Keep && len(p.Values) == 0:
			return nil
		case p.Verb != model.Swap:
			val = p.Values[n]
		}
		lines = append(lines, fmt.Sprintf("it saw %s at key %d, of %s", value(val), c.x.name[k],
			c.describe(c.x.writerOf(k, val))))
	}
	return lines
}

// budget counts model steps. Once it is spent every step fails, so that the
// search unwinds in time linear in its depth; porcupine itself knows only
// wall-clock bounds, under which verdicts would flap.
type budget struct{ left int }

func (b *budget) take() bool {
	b.left--
	return b.left >= 0
}

func (b *budget) spent() bool { return b.left < 0 }

// group returns the kept operations of a group, keys as positions in it.
// Views, which may span groups, are projected.
func (c *Checker) group(root int32) (ops []porcupine.Operation, keys []int32) {
	position := make([]int32, len(c.x.name))
	for k := range position {
		position[k] = -1
		if c.s.groups.find(int32(k)) == root {
			position[k] = int32(len(keys))
			keys = append(keys, int32(k))
		}
	}
	for _, i := range c.x.byCall {
		p := &c.s.of[i]
		if !p.kept {
			continue
		}
		op := model.Op{Verb: p.op.Verb, Old: p.op.Old}
		for n, k := range p.op.Keys {
			if position[k] < 0 {
				continue
			}
			op.Keys = append(op.Keys, position[k])
			if n < len(p.op.Values) {
				op.Values = append(op.Values, p.op.Values[n])
			}
		}
		if len(op.Keys) > 0 {
			ops = append(ops, porcupine.Operation{ClientId: c.x.h.Ops[i].Client, Input: step{&op, i},
				Call: p.begin, Return: p.end})
		}
	}
	return redundant(ops), keys
}

// redundant leaves out each read whose interval contains that of another read
// with the same answer: wherever that one is placed, this one can be placed
// beside it. Views at one point share an interval, and a search that took a
// wrong turn would otherwise try all subsets of them.
func redundant(ops []porcupine.Operation) []porcupine.Operation {
	kept := map[string][]int{} // places in out, by what was read
	out := ops[:0]
	for _, o := range ops {
		p := o.Input.(step).op
		if p.Verb != model.Read {
			out = append(out, o)
			continue
		}
		key := fmt.Sprint(p.Keys, p.Values)
		covers := slices.ContainsFunc(kept[key], func(i int) bool {
			return o.Call <= out[i].Call && out[i].Return <= o.Return
		})
		if covers {
			continue
		}
		// What is kept already may contain this one; narrowing it is enough.
		if i := slices.IndexFunc(kept[key], func(i int) bool {
			return out[i].Call <= o.Call && o.Return <= out[i].Return
		}); i >= 0 {
			out[kept[key][i]] = o
			continue
		}
		kept[key] = append(kept[key], len(out))
		out = append(out, o)
	}
	return out
}

// step is what porcupine carries through as an input.
type step struct {
	op *model.Op
	i  int32 // the operation's place in the history
}

// porcupine adapts the sequential model. States are shared when unchanged.
func (c *Checker) porcupine(keys []int32, b *budget) porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			s := make(model.State, len(keys))
			for n, k := range keys {
				s[n] = c.x.initial[k]
			}
			return s
		},
		Step: func(state, input, _ any) (bool, any) {
			if !b.take() {
				return false, state
			}
			s, op := state.(model.State), input.(step).op
			next, ok := model.Next(s, op)
			if !ok || &next[0] == &s[0] {
				return ok, state // no new interface value
			}
			return true, next
		},
		Equal: func(a, b any) bool {
			s, t := a.(model.State), b.(model.State)
			for k := range s {
				if s[k] != t[k] {
					return false
				}
			}
			return true
		},
		Hash: func(s any) uint64 { return model.Hash(s.(model.State)) },
		DescribeOperation: func(input, _ any) string {
			return c.opText(input.(step).i)
		},
		DescribeState: func(s any) string {
			var parts []string
			for n, v := range s.(model.State) {
				parts = append(parts, fmt.Sprintf("%d=%s", c.x.name[keys[n]], value(v)))
			}
			return strings.Join(parts, " ")
		},
	}
}

func (c *Checker) opText(i int32) string {
	var b strings.Builder
	printOp(&b, &c.x.h.Ops[i])
	return strings.TrimSpace(b.String())
}

func (c *Checker) keyList(keys []int32) string {
	var parts []string
	for n, k := range keys {
		if n == 8 { // enough to recognise a group by
			parts = append(parts, fmt.Sprintf("and %d more", len(keys)-n))
			break
		}
		parts = append(parts, numeral(c.x.name[k]))
	}
	return strings.Join(parts, " ")
}

// Picture writes porcupine's interactive page, HTML, for the key group that
// key belongs to. The page is best effort: within the bound on steps it shows
// the longest legal orders found.
func (c *Checker) Picture(w io.Writer, h *History, key int64) error {
	if err := c.x.build(h); err != nil {
		return fmt.Errorf("picture: malformed history: %w", err)
	}
	k, ok := c.x.keys[key]
	if !ok {
		return fmt.Errorf("picture: no operation of the history has key %d", key)
	}
	c.s.build(&c.x)
	ops, keys := c.group(c.s.groups.find(k))
	limit := &budget{left: c.Options.steps()}
	m := c.porcupine(keys, limit)
	_, info := porcupine.CheckOperationsVerbose(m, ops, 0)
	limit.left = len(ops) * (len(ops) + 1) // the page replays orders found
	return porcupine.Visualize(m, info, w)
}
