package vacuum

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/sim"
)

// talk is a conversation with one table.
type talk struct {
	w     *sim.World
	world *world
	b     *boot
	open  map[string]*xact
	out   strings.Builder
}

func (k *talk) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

func (k *talk) start(t *testing.T) {
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: func(m host.Machine) {
			b, err := k.world.boot(m)
			if err != nil {
				m.Exit(err)
			}
			k.b, k.open = b, map[string]*xact{}
			m.Sleep(time.Hour)
		}}}})
	require.NoError(t, err)
	k.w = w
	k.reboot()
}

func (k *talk) reboot() {
	k.w.Boot("h")
	k.w.Run(k.w.Now() + time.Millisecond)
}

// do runs one line.
func (k *talk) do(line string) error {
	word := strings.Fields(line)
	n := func(i int) int64 {
		v, err := strconv.ParseInt(word[i], 10, 64)
		if err != nil {
			panic(err)
		}
		return v
	}
	b := k.b
	switch word[0] {
	case "insert", "update", "hot-update", "delete":
		return k.change(word, n)
	case "commit":
		x := k.open[word[1]]
		delete(k.open, word[1])
		return b.end(x, true)
	case "snapshot":
		b.held[len(b.w.states)-1]++
	case "release":
		clear(b.held)
	case "use-table":
		b.use()
	case "leave-table":
		b.leave()
	case "vacuum":
		k.vacuum()
	case "want-table": // and wait for ever
		b.wanting++
	case "extend": // by so many blocks, and give up
		for range n(1) {
			if _, err := b.pg.Extend(tableRel); err != nil {
				return err
			}
		}
	case "grow-late":
		b.late = true
	case "disk-full":
		b.st.full = true
	case "check":
		k.say("check: %v", errorText(b.check()))
	case "pages":
		return k.pages()
	case "free":
		for i := range b.free.Len() {
			k.say("block %d: room for %d", i, b.free.Free(i))
		}
	case "index":
		return b.each(indexRel(int(n(1))), func(_ page.TID, t page.Tuple) error {
			key, tid := entryOf(t)
			k.say("key %d: %v", key, tid)
			return nil
		})
	default:
		return fmt.Errorf("unknown verb %q", line)
	}
	return nil
}

// change is VERB KEY [VALUE] [open|abort].
func (k *talk) change(word []string, n func(int) int64) error {
	b := k.b
	x := b.begin(n(1))
	value, how, rest := int64(0), 1, 2
	if word[0] != "delete" {
		value, rest = n(2), 3
	}
	if word[0] == "hot-update" {
		how = 0
	}
	if err := b.write(x, value, how+2*b.w.indexes); err != nil {
		return err
	}
	switch {
	case len(word) > rest && word[rest] == "open":
		k.open[word[1]] = x
		return nil
	case len(word) > rest && word[rest] == "abort":
		return b.end(x, false)
	}
	return b.end(x, true)
}

func errorText(err error) string {
	if err == nil {
		return "all is well"
	}
	return err.Error()
}

func (k *talk) vacuum() {
	const mark = "vacuum.cut-interrupted"
	before := k.w.Marks()[mark]
	s, err := k.b.vacuum()
	if err != nil {
		k.say("vacuum: %v", err)
		return
	}
	k.say("vacuum: %d blocks, %d looked at, %d skipped; %d pruned, %d became all-visible", s.Blocks, s.Scanned, s.Skipped, s.Pruned, s.Visible)
	k.say("  rows: %d live, %d dead that somebody may see", s.Live, s.Recent)
	k.say("  line pointers: %d dead, %d given up in %d rounds, %d left; index entries removed: %d", s.Dead, s.Reclaimed, s.Rounds, s.LeftDead, s.Index.Removed)
	if s.Truncated > 0 {
		k.say("  cut: %d blocks, interrupted %d times", s.Truncated, k.w.Marks()[mark]-before)
	}
}

// pages prints the line pointers of each page.
func (k *talk) pages() error {
	n, err := k.b.pg.Blocks(tableRel)
	if err != nil {
		return err
	}
	if n == 0 {
		k.say("no blocks")
	}
	for block := range n {
		err := k.b.read(tableRel, block, func(p *page.Page) error {
			s := fmt.Sprintf("block %d:", block)
			if p.Flags()&page.AllVisible != 0 {
				s += " all-visible"
			}
			for off := uint16(1); off <= p.MaxOffset(); off++ {
				s += fmt.Sprintf(" %d=%s", off, item(p, off))
			}
			k.say("%s", s)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func item(p *page.Page, off uint16) string {
	switch id := p.ItemID(off); id.Flags() {
	case page.Dead:
		return "dead"
	case page.Redirect:
		return fmt.Sprintf("->%d", id.Offset())
	case page.Unused:
		return "unused"
	}
	t := p.Tuple(off)
	key, value := rowOf(t)
	s := fmt.Sprintf("(%d,%d)", key, value)
	if t.Infomask()&page.XmaxInvalid == 0 {
		s += "x"
	}
	return s
}

func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		k := &talk{world: newWorld()}
		defer func() { k.w.Close() }()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			k.out.Reset()
			switch d.Cmd {
			case "table":
				k.world.cfg = Config{BypassPercent: -1, SkipRun: 1, TruncateBlocks: 1, LockTries: 1}
				for arg, into := range map[string]*int{"indexes": &k.world.indexes, "pad": &k.world.pad, "dead-tids": &k.world.cfg.DeadTIDs,
					"bypass": &k.world.cfg.BypassPercent} {
					d.MaybeScanArgs(t, arg, into)
				}
				k.start(t)
				return ""
			case "crash-after":
				d.ScanArgs(t, "records", &k.world.crash)
			case "reboot":
				k.w.Kill("h")
				k.reboot()
			}
			for _, line := range strings.Split(d.Input, "\n") {
				if line == "" {
					continue
				}
				k.b.m.Go("verb", func() {
					if err := k.do(line); err != nil {
						k.say("%s: %v", line, err)
					}
				})
				k.w.Run(k.w.Now() + 100*time.Millisecond)
				if f := k.w.Failure(); f != nil {
					return k.out.String() + fmt.Sprintf("panic: %v\n%s", f.Value, f.Stack)
				}
				if !k.w.Up("h") {
					k.say("the process ended: %v", k.w.LastExit("h"))
					break
				}
			}
			return k.out.String()
		})
	})
}
