package heap

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
	"tornpage/engine/wal"
	"tornpage/sim"
)

// told is a storage that tells what is logged.
type told struct {
	*full
	out *strings.Builder
}

// Append says what it got.
func (s told) Append(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error) {
	lsn, err := s.full.Append(m, builtFor)
	fmt.Fprintf(s.out, "  %s", wal.OpName(m.Rmgr(), m.Info()))
	for i := range m.Blocks() {
		if id, p, flags, _ := m.Block(i); p != nil {
			fmt.Fprintf(s.out, ", block %d", id.Block)
			if id.Rel.IsVM() {
				fmt.Fprint(s.out, " of the map")
			}
			if flags&wal.Implied != 0 {
				fmt.Fprint(s.out, " implied")
			}
		}
	}
	fmt.Fprintln(s.out)
	return lsn, err
}

// conversation is one client that plays all transactions, a verb at a time.
type conversation struct {
	*client
	w     *sim.World
	out   strings.Builder
	xacts map[string]*txn
	n     int
}

func newConversation(t *testing.T, cfg Config) *conversation {
	k := &conversation{xacts: map[string]*txn{}}
	s := &scene{t: t, frames: 8, keys: 26, cfg: cfg, txns: newTxns()}
	k.client = &client{scene: s}
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts: []sim.Host{{Name: "db", Machine: "m", Boot: func(m host.Machine) {
			s.open(m)
			s.pg.Attach(told{s.st, &k.out})
			s.index = map[int64][]page.TID{}
			s.reindex()
			m.Sleep(1000 * time.Hour)
		}}}})
	require.NoError(t, err)
	k.w = w
	k.boot()
	return k
}

func (k *conversation) boot() {
	k.w.Boot("db")
	k.w.Run(k.w.Now() + time.Second)
}

func (k *conversation) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

// do runs one line: "T1 insert a 100", "commit T1", "items 0".
func (k *conversation) do(line string) {
	word := strings.Fields(line)
	k.say("%s", line)
	if line == "crash" {
		k.w.Run(k.w.Now() + time.Second) // all is durable
		k.w.Kill("db")
		k.txns.crash()
		k.boot()
		return
	}
	k.m.Go("verb", func() {
		if x := k.xacts[word[0]]; x != nil {
			k.x = x
			k.row(word[1], word[2:])
			return
		}
		k.other(word)
	})
	k.w.Run(k.w.Now() + time.Second)
	if f := k.w.Failure(); f != nil {
		k.say("%v", f)
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func (k *conversation) other(word []string) {
	switch word[0] {
	case "begin":
		k.xacts[word[1]] = k.txns.begin(k.m)
	case "commit", "abort":
		k.xacts[word[1]].end(word[0] == "commit")
	case "items":
		k.items(uint32(number(word[1])))
	case "free":
		k.free.Set(uint32(number(word[1])), number(word[2]))
	case "extend":
		id, err := k.pg.Extend(sceneRel)
		k.say("  block %d, %v", id.Block, err)
	case "asking":
		k.txns.asking = uint32(number(word[1]))
	case "vacuum":
		k.x = k.txns.begin(k.m)
		k.client.vacuum()
		k.x.end(false)
	case "check":
		x := k.txns.begin(k.m)
		k.must(k.h.Check(x, k.txns.next, func(err error) { k.say("  %v", err) }))
		x.end(false)
	case "flip": // a bit of a block: byte, mask
		f, err := k.pg.Pool().Pin(k.h.id(uint32(number(word[1]))))
		k.must(err)
		f.Page()[number(word[2])] ^= byte(number(word[3]))
		k.pg.Pool().Unpin(f)
	default:
		k.say("  unknown verb")
	}
}

// row runs a verb on a row, named by a letter, or on a version, "(0,1)".
func (k *conversation) row(verb string, args []string) {
	key, tid := int64(0), page.TID{}
	if len(args) > 0 && args[0][0] == '(' {
		_, err := fmt.Sscanf(args[0], "(%d,%d)", &tid.Block, &tid.Offset)
		k.must(err)
	} else if len(args) > 0 {
		key = int64(args[0][0] - 'a')
		if verb != "insert" {
			tid = k.visible(key)
		}
	}
	switch verb {
	case "insert":
		to, err := k.h.Insert(k.x, k.made(key, args))
		k.say("  %v, %v", to, err)
		if err == nil {
			k.index[key] = append(k.index[key], to)
		}
	case "update":
		cold := len(args) > 2 && args[2] == "cold"
		t := k.made(key, args)
		res, to, hot, err := k.h.Update(k.x, tid, t, !cold)
		if res != Done || err != nil {
			k.say("  %v, %v", res, err)
			return
		}
		k.say("  %v to %v, hot %t", tid, to, hot)
		if !hot {
			k.index[key] = append(k.index[key], to)
		}
	case "delete":
		res, err := k.h.Delete(k.x, tid)
		k.say("  %v, %v", res, err)
	case "lock":
		res, err := k.h.Lock(k.x, tid)
		k.say("  %v, %v", res, err)
	case "latest":
		row, found, err := k.h.Latest(k.x, tid, nil)
		k.say("  %s, %t, %v", show(row), found, err)
	case "fetch":
		row, found, err := k.h.Fetch(k.x, tid, nil)
		k.say("  %s, %t, %v", show(row), found, err)
	case "alive":
		d, err := k.h.Alive(k.x, tid, nil)
		k.say("  %s, %t, wait for %d, %v", show(d.Row), d.Found, d.Wait, err)
	case "scan":
		k.scanAll()
	case "savepoint":
		k.x.fresh = true
	case "rollback":
		k.x.rollbackTo(number(args[0]))
	default:
		k.say("  unknown verb")
	}
}

// made is the next version of a row: "a1", with so many bytes of padding.
func (k *conversation) made(key int64, args []string) page.Tuple {
	k.n++
	v := fmt.Appendf(nil, "%c%d", 'a'+key, k.n)
	if len(args) > 1 {
		v = append(v, make([]byte, number(args[1]))...)
	}
	return tuple(key, v)
}

func show(r Row) string {
	if r.Tuple == nil {
		return "none"
	}
	_, v, _ := ParseRow(r.Tuple.Data())
	s, _, _ := strings.Cut(string(v), "\x00")
	if r.Root != r.TID {
		return fmt.Sprintf("%s at %v of %v", s, r.TID, r.Root)
	}
	return fmt.Sprintf("%s at %v", s, r.TID)
}

// visible is the version of the row that k.x sees.
func (k *conversation) visible(key int64) page.TID {
	for _, root := range k.index[key] {
		row, found, err := k.h.Fetch(k.x, root, nil)
		k.must(err)
		if found {
			return row.TID
		}
	}
	return page.TID{}
}

func (k *conversation) scanAll() {
	sc, err := k.h.Scan(k.x)
	k.must(err)
	defer sc.Close()
	for {
		row, ok, err := sc.Next()
		if err != nil {
			k.say("  %v", err)
		}
		if !ok {
			return
		}
		k.say("  %s", show(row))
	}
}

// items prints a block.
func (k *conversation) items(block uint32) {
	f, err := k.h.read(block)
	k.must(err)
	defer k.h.done(f)
	p := f.Page()
	k.say("  free %d, prune %d%s", k.h.room(p), p.PruneXID(), flagNames(p))
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		switch id := p.ItemID(off); id.Flags() {
		case page.Unused:
			k.say("  %d: unused", off)
		case page.Dead:
			k.say("  %d: dead", off)
		case page.Redirect:
			k.say("  %d: redirect to %d", off, id.Offset())
		default:
			k.say("  %d: %s", off, versionText(block, off, p.Tuple(off)))
		}
	}
}

func flagNames(p *page.Page) (s string) {
	for _, f := range []struct {
		bit  uint16
		name string
	}{{page.PageFull, ", full"}, {page.AllVisible, ", all-visible"}} {
		if p.Flags()&f.bit != 0 {
			s += f.name
		}
	}
	return s
}

func versionText(block uint32, off uint16, t page.Tuple) string {
	s := fmt.Sprintf("%s xmin=%d", show(Row{Tuple: t, TID: page.TID{Block: block, Offset: off}, Root: page.TID{Block: block, Offset: off}}), t.Xmin())
	if t.Infomask()&page.XmaxInvalid == 0 {
		s += fmt.Sprintf(" xmax=%d", t.Xmax())
	}
	if t.LockedOnly() {
		s += " locked"
	}
	if c := t.Ctid(); c != (page.TID{Block: block, Offset: off}) {
		s += fmt.Sprintf(" then %v", c)
	}
	if t.Infomask2()&page.HotUpdated != 0 {
		s += " hot-updated"
	}
	if t.Infomask2()&page.HeapOnly != 0 {
		s += " heap-only"
	}
	return s
}

func TestHeapConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/heap", func(t *testing.T, path string) {
		var k *conversation
		defer func() {
			if k != nil {
				k.w.Close()
			}
		}()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "heap" {
				if k != nil {
					k.w.Close()
				}
				var cfg Config
				d.MaybeScanArgs(t, "fill", &cfg.FillFactor)
				d.MaybeScanArgs(t, "lines", &cfg.LinesPerPage)
				k = newConversation(t, cfg)
				return ""
			}
			k.out.Reset()
			for _, line := range strings.Split(d.Input, "\n") {
				k.do(line)
			}
			return k.out.String()
		})
	})
}
