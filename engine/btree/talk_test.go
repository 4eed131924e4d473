package btree

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/sim"
)

// talk is a conversation with one index. Each block of verbs is a boot of its
// own; a trap ends it by a kill.
type talk struct {
	t     *testing.T
	mem   *computetest.Mem
	cfg   Config
	w     *sim.World
	lines []string
	out   strings.Builder
	next  uint32
}

func (k *talk) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

// boot does the lines of one block, and then waits until the log is durable.
func (k *talk) boot(m host.Machine) {
	b := start(m, k.mem, 8, 0, k.cfg)
	for _, line := range k.lines {
		k.do(b, strings.Fields(line))
	}
	if err := b.st.WaitDurable(k.mem.End()); err != nil {
		panic(err)
	}
}

func (k *talk) do(b *boot, word []string) {
	switch word[0] {
	case "insert": // keys, each for a row of its own
		for _, w := range word[1:] {
			k.next++
			if err := b.tree.Insert(7, tupleOf(nil, num(w), 0), page.TID{Block: k.next, Offset: 1}); err != nil {
				k.say("insert %s: %v", w, err)
			}
		}
	case "lookup":
		ids, err := b.tree.Lookup(tupleOf(nil, num(word[1]), 0), nil)
		k.say("lookup %s: %v %v", word[1], ids, err)
	case "scan", "scan-down":
		k.scan(b, Range{Desc: word[0] == "scan-down"})
	case "vacuum": // from and to of the keys whose rows are dead
		k.vacuum(b, num(word[1]), num(word[2]))
	case "tree":
		k.tree(b)
	case "check":
		s, bad := b.findings()
		k.say("%+v %v", s, bad)
	default:
		k.say("unknown verb %v", word)
	}
}

func num(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (k *talk) scan(b *boot, r Range) {
	c := b.tree.Scan(r)
	defer c.Close()
	var keys []int64
	for {
		tuple, _, ok, err := c.Next()
		if err != nil {
			k.say("%v", err)
		}
		if !ok {
			break
		}
		keys = append(keys, keyOf(tuple))
	}
	k.say("%v", keys)
}

func (k *talk) vacuum(b *boot, from, to int64) {
	dead := map[page.TID]bool{}
	low, high := tupleOf(nil, from, 0), tupleOf(nil, to, 0)
	c := b.tree.Scan(Range{From: Bound{Tuple: low, Inclusive: true}, To: Bound{Tuple: high, Inclusive: true}})
	for {
		_, id, ok, err := c.Next()
		if err != nil {
			panic(err)
		}
		if !ok {
			break
		}
		dead[id] = true
	}
	c.Close()
	s, err := b.tree.Vacuum(func(id page.TID) bool { return dead[id] })
	k.say("%+v %v", s, err)
}

// tree prints all pages but free ones, level by level.
func (k *talk) tree(b *boot) {
	n, _ := b.pg.Blocks(testRel)
	if err := b.tree.open(); err != nil {
		panic(err)
	}
	c := checker{t: b.tree}
	for level := int(b.tree.level); level >= 0; level-- {
		for block := uint32(1); block < n; block++ {
			q, err := c.read(block)
			if err != nil {
				panic(err)
			}
			if q.Level == uint32(level) && !c.p.IsZero() && !q.Has(page.IndexDeleted) {
				k.say("level %d page %d (%d, %d)%s: %s", level, block, q.Prev, q.Next, flagNames(q.Flags), items(&c.p, q))
			}
		}
	}
}

func flagNames(f uint16) (s string) {
	for _, n := range []struct {
		flag uint16
		name string
	}{{page.IndexRoot, " root"}, {page.IndexHalfDead, " half-dead"}, {page.IndexIncomplete, " split unfinished"}} {
		if f&n.flag != 0 {
			s += n.name
		}
	}
	return s
}

// items prints entries as keys, downlinks as key>block, the high key last.
func items(p *page.Page, q page.IndexOpaque) string {
	var s []string
	show := func(it page.IndexTuple) string {
		k := "-inf"
		if it.Attrs() > 0 || !it.Pivot() {
			k = fmt.Sprint(keyOf(it))
		}
		if id, ok := it.PivotTID(); it.Pivot() && ok {
			k += id.String()
		}
		return k
	}
	for off := q.First(); off <= p.MaxOffset(); off++ {
		it := p.IndexTuple(off)
		text := show(it)
		if q.Level > 0 {
			text += fmt.Sprintf(">%d", it.Block())
		}
		s = append(s, text)
	}
	if q.Next != 0 {
		s = append(s, "| "+show(p.IndexTuple(1)))
	}
	return strings.Join(s, " ")
}

func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		k := &talk{t: t, mem: &computetest.Mem{FlushTime: time.Microsecond}, cfg: Config{ItemsPerPage: 4}}
		k.w = world(t, 1, k.boot)
		defer k.w.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			k.out.Reset()
			k.lines = strings.Split(d.Input, "\n")
			if d.HasArg("kill-after") { // the mark after whose record, once durable, the process dies
				var mark string
				d.ScanArgs(t, "kill-after", &mark)
				k.w.OnMark(mark, "h", k.w.Marks()[mark]+1, func() {
					k.w.At(k.w.Now()+2*time.Microsecond, func() {
						k.say("killed after %s", mark)
						k.w.Kill("h")
					})
				})
			}
			k.w.Boot("h")
			k.w.Run(k.w.Now() + time.Hour)
			if f := k.w.Failure(); f != nil {
				return fmt.Sprintf("panic: %v", f.Value)
			}
			return k.out.String()
		})
	})
}
