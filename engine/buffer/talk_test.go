package buffer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// gated is a store whose reads and writes wait while the script holds them.
type gated struct {
	t       *talk
	pages   map[page.ID]*page.Page
	durable wal.LSN
	hold    map[string]bool // "read", "write"
	opened  *host.Cond
	fail    error
	full    bool // nothing can grow
}

func (g *gated) wait(what string) {
	for g.hold[what] {
		g.opened.Wait()
	}
}

func (g *gated) ReadPage(id page.ID, changedBy, _ wal.LSN, p *page.Page) error {
	g.t.say("store: read %d, changed by %d", id.Block, changedBy)
	g.wait("read")
	if g.fail != nil {
		return g.fail
	}
	old := g.pages[id]
	if old == nil {
		return engine.ErrNoPage
	}
	*p = *old
	return nil
}

func (g *gated) Evict(id page.ID, p *page.Page) error {
	g.t.say("store: write %d at %d", id.Block, p.LSN())
	g.wait("write")
	if g.fail != nil {
		return g.fail
	}
	if g.full && g.pages[id] == nil {
		return fmt.Errorf("block %d: %w", id.Block, engine.ErrFull)
	}
	c := *p
	g.pages[id] = &c
	return nil
}

func (g *gated) Durable() wal.LSN { return g.durable }

func (g *gated) WaitDurable(lsn wal.LSN) error {
	for g.durable < lsn {
		g.t.say("store: the log has to reach %d", lsn)
		g.opened.Wait()
		if g.fail != nil {
			return g.fail
		}
	}
	return nil
}

// talk runs one conversation: each verb runs in a task of its own, which may
// still wait when the answer is given.
type talk struct {
	w     *sim.World
	m     host.Machine
	pool  *Pool
	store *gated
	out   strings.Builder
	tasks int
}

func (k *talk) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

func (k *talk) boot(t testing.TB) {
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Costs: sim.Costs{host.WorkPageCopy: 1},
		Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: func(m host.Machine) {
			k.m = m
			m.Sleep(time.Hour)
		}}}})
	require.NoError(t, err)
	k.w = w
	w.BootAll()
	w.Run(time.Millisecond)
}

func (k *talk) frames(n, remember int) {
	k.store = &gated{t: k, pages: map[page.ID]*page.Page{}, hold: map[string]bool{}, opened: k.m.NewCond(host.WaitDataRead)}
	k.pool = New(k.m, Config{Frames: n, Remember: remember})
	k.pool.Attach(k.store, 0)
}

func id(block int) page.ID { return page.ID{Rel: 7, Block: uint32(block)} }

// state prints each frame: page, LSN, pins, and what is the case.
func (k *talk) state() {
	for i := range k.pool.frames {
		f := &k.pool.frames[i]
		if !f.mapped {
			k.say("frame %d: free, pins=%d", i, f.pins)
			continue
		}
		s := fmt.Sprintf("frame %d: page %d at %d, pins=%d usage=%d", i, f.id.Block, f.page.LSN(), f.pins, f.usage)
		for _, b := range []struct {
			is   bool
			text string
		}{{f.dirty, " dirty"}, {f.refused, " refused"}, {f.reading, " reading"}, {f.writing, " writing"}} {
			if b.is {
				s += b.text
			}
		}
		k.say("%s", s)
	}
}

// do runs one line of the script.
func (k *talk) do(line string) {
	word := strings.Fields(line)
	n := func(i int) int {
		v, err := strconv.Atoi(word[i])
		if err != nil {
			panic(err)
		}
		return v
	}
	switch word[0] {
	case "pin", "new":
		pin := k.pool.Pin
		if word[0] == "new" {
			pin = k.pool.PinNew
		}
		f, err := pin(id(n(1)))
		if err != nil {
			k.say("%s: %v", line, err)
			return
		}
		k.say("%s: has %d at %d", line, f.id.Block, f.page.LSN())
	case "unpin":
		k.pool.Unpin(k.frame(n(1)))
	case "change":
		f := k.frame(n(1))
		f.Lock()
		f.MarkDirty()
		f.Page().SetLSN(wal.LSN(n(2)))
		f.Unlock()
	case "write-back":
		k.say("%s: done, %v", line, k.pool.WriteBack(id(n(1))))
	case "dirty":
		k.say("dirty: %v", k.pool.Dirty(nil))
	case "durable":
		k.store.durable = wal.LSN(n(1))
		k.store.opened.Broadcast()
	case "hold":
		k.store.hold[word[1]] = true
	case "let":
		delete(k.store.hold, word[1])
		k.store.opened.Broadcast()
	case "store-fails":
		k.store.fail = errors.New("input/output error")
		k.store.opened.Broadcast()
	case "store-works":
		k.store.fail = nil
	case "full":
		k.store.full = word[1] == "on"
	case "drop":
		k.pool.Drop(id(0).Rel, uint32(n(1)))
		k.say("%s: done", line)
	case "prefetch":
		var ids []page.ID
		for i := range word[1:] {
			ids = append(ids, id(n(i+1)))
		}
		k.pool.Prefetch(ids...)
	case "clean":
		cfg := WriterConfig{MaxPages: 2}
		cfg.fill()
		k.pool.cleanAhead(cfg)
		k.say("%s: done", line)
	case "stats":
		s := k.pool.Stats()
		k.say("reads=%d prefetched=%d made=%d dropped=%d written=%d cleaned=%d evicted-dirty=%d refused=%d",
			s.Reads, s.Prefetched, s.Made, s.Dropped, s.Written, s.Cleaned, s.EvictedDirty, s.Refused)
	case "forget":
		delete(k.store.pages, id(n(1)))
	case "reserve":
		k.pool.Reserve(n(1))
		k.say("%s: done", line)
	case "release":
		k.pool.Release(n(1))
	case "state":
		k.state()
	default:
		k.say("unknown verb %q", line)
	}
}

func (k *talk) frame(block int) *Frame {
	i, ok := k.pool.index.get(id(block))
	if !ok {
		panic(fmt.Sprintf("page %d is in no frame", block))
	}
	return &k.pool.frames[i]
}

func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		k := &talk{}
		k.boot(t)
		defer k.w.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			k.out.Reset()
			if d.Cmd == "pool" {
				n, remember := 0, 0
				d.ScanArgs(t, "frames", &n)
				d.MaybeScanArgs(t, "remember", &remember)
				k.frames(n, remember)
				return ""
			}
			for _, line := range strings.Split(d.Input, "\n") {
				k.tasks++
				k.m.Go(fmt.Sprint("verb ", k.tasks), func() { k.do(line) })
				k.w.Run(k.w.Now() + time.Millisecond)
				if f := k.w.Failure(); f != nil {
					return k.out.String() + fmt.Sprintf("panic: %v", f.Value)
				}
			}
			return k.out.String()
		})
	})
}
