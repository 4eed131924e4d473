package checkers

import (
	"fmt"
	"slices"
)

// Options bound the work of checks.
type Options struct {
	// Steps is the number of model steps that porcupine may take for one key
	// group before the answer is Undecided. 0: 200,000; each new state costs
	// porcupine one bit per operation and a map entry. Steps, not time: a
	// verdict must not hang on the speed of the machine.
	Steps int
	// SearchOnly sends every group to porcupine; tests hold both ways against each
	// other.
	SearchOnly bool
}

const defaultSteps = 200_000

func (o Options) steps() int {
	if o.Steps <= 0 {
		return defaultSteps
	}
	return o.Steps
}

// Checker runs checks and keeps its buffers between runs. The zero value is
// ready. It is not for concurrent use.
type Checker struct {
	Options Options

	x   index
	s   spans
	w   witness
	z   zones
	fin finals
	pre prefixes
}

// Check runs all checks that a history alone can answer: reads of aborted
// values, linearizability, read views, durability. A malformed history gives
// one Undecided verdict.
func (c *Checker) Check(h *History) []Verdict {
	if err := c.x.build(h); err != nil {
		return []Verdict{undecided("history", nil, "malformed: %v", err)}
	}
	c.s.build(&c.x)
	return []Verdict{c.dirty(), c.linear(), c.views(), c.durable()}
}

// Linear checks that committed operations took effect one at a time, each
// between its call and its return.
func Linear(h *History, opt Options) Verdict {
	return one(h, opt, "linear", func(c *Checker) Verdict {
		if v := c.dirty(); v.Result != Holds {
			return v
		}
		return c.linear()
	})
}

// Views checks that every read view is the state after one prefix of commits.
func Views(h *History) Verdict {
	return one(h, Options{}, "views", (*Checker).views)
}

// Durable checks that recovery kept what was acknowledged.
func Durable(h *History) Verdict {
	return one(h, Options{}, "durable", (*Checker).durable)
}

func one(h *History, opt Options, name string, f func(*Checker) Verdict) Verdict {
	c := Checker{Options: opt}
	if err := c.x.build(h); err != nil {
		return undecided(name, nil, "malformed history: %v", err)
	}
	c.s.build(&c.x)
	return f(&c)
}

// dirty checks that what was read had been written, by an operation that did
// not abort.
func (c *Checker) dirty() Verdict {
	const check = "dirty"
	for _, i := range c.x.byCall {
		o := &c.x.h.Ops[i]
		if o.Outcome != Committed {
			continue
		}
		saw := o.Results
		if o.Kind == CAS && o.OK {
			saw = []uint64{o.Old}
		}
		for n, val := range saw {
			k := c.x.keysOf(i)[n]
			switch by := c.x.writerOf(k, val); {
			case by == nobody:
				return broken(check, []int64{o.ID}, "%s saw %d at key %d, which nobody wrote",
					c.describe(i), val, c.x.name[k])
			case by >= 0 && c.x.h.Ops[by].Outcome == Aborted:
				return broken(check, []int64{o.ID, c.x.h.Ops[by].ID},
					"%s saw %d at key %d, of %s, which aborted",
					c.describe(i), val, c.x.name[k], c.describe(by))
			}
		}
	}
	return holds(check)
}

// linear tries, for every key group, the witness in linear time; where it
// fails the zones of single keys, which refute with an explanation; then
// porcupine, within its steps.
func (c *Checker) linear() Verdict {
	const check = "linear"
	suspects := c.w.suspects(&c.s, c.Options.SearchOnly)
	open := Verdict{Check: check, Result: Holds}
	for _, group := range suspects {
		if !c.Options.SearchOnly {
			if v := c.z.refute(c, group.root); v.Result == Broken {
				return v
			}
		}
		switch v := c.search(group); v.Result {
		case Broken:
			return v
		case Undecided:
			open = v
		}
	}
	return open
}

// describe names an operation in words.
func (c *Checker) describe(i int32) string {
	switch i {
	case fromStart:
		return "the initial state"
	case nobody:
		return "nobody"
	}
	o := &c.x.h.Ops[i]
	s := fmt.Sprintf("%v of client %d (op %d, events %s", o.Kind, o.Client, o.ID, interval(o.Call, o.Return))
	lsn := o.Token
	if o.Writes() && c.x.lsnOf[i] != 0 {
		lsn = c.x.lsnOf[i]
	}
	switch {
	case lsn == 0:
	case o.Kind == View:
		s += fmt.Sprintf(", view %v", lsn)
	case o.Reads() || o.Kind == CAS && !o.OK && o.Outcome == Committed:
		s += fmt.Sprintf(", snapshot %v", lsn)
	default:
		s += fmt.Sprintf(", commit LSN %v", lsn)
	}
	if o.Outcome != Committed {
		s += ", " + o.Outcome.String()
	}
	return s + ")"
}

// identities returns the numbers of operations, each once, in order given.
func (c *Checker) identities(ops ...int32) []int64 {
	var ids []int64
	for _, i := range ops {
		if i >= 0 && !slices.Contains(ids, c.x.h.Ops[i].ID) {
			ids = append(ids, c.x.h.Ops[i].ID)
		}
	}
	return ids
}
