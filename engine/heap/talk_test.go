package heap

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// world is a page with its transactions: what a reader and pruning need.
type world struct {
	p    *page.Page
	mtr  wal.MTR
	plan Plan
	fate map[uint32]Fate
	ask  map[uint32]bool // statuses that are not at hand
	geo  Geometry
}

var testPage = page.ID{Rel: 9, Block: 0}

func newWorld(g Geometry) *world {
	return &world{p: new(page.Page), fate: map[uint32]Fate{}, ask: map[uint32]bool{}, geo: g}
}

// Fate implements Fates.
func (w *world) Fate(xid uint32) Fate {
	if w.ask[xid] {
		return AskFate
	}
	return w.fate[xid]
}

// view sees the transactions that are Gone, and those below limit that are
// Recent.
type view struct {
	w     *world
	limit uint32
}

// Sees implements View.
func (v view) Sees(xid uint32) Verdict {
	switch f := v.w.fate[xid]; {
	case v.w.ask[xid]:
		return Ask
	case f == Gone || f == Recent && xid < v.limit:
		return Yes
	}
	return No
}

func (w *world) items() string {
	var b strings.Builder
	for off := uint16(1); off <= w.p.MaxOffset(); off++ {
		fmt.Fprintf(&b, "%d: ", off)
		switch item := w.p.ItemID(off); item.Flags() {
		case page.Unused:
			b.WriteString("unused\n")
		case page.Redirect:
			fmt.Fprintf(&b, "redirect to %d\n", item.Offset())
		case page.Dead:
			b.WriteString("dead\n")
		case page.Normal:
			t := w.p.Tuple(off)
			k, v, _ := ParseRow(t.Data())
			fmt.Fprintf(&b, "key %d %q xmin=%d", k, v, t.Xmin())
			if x := xmaxOf(t); x != 0 {
				fmt.Fprintf(&b, " xmax=%d", x)
			}
			if t.Infomask2()&page.HotUpdated != 0 {
				fmt.Fprintf(&b, " then %d", t.Ctid().Offset)
			}
			if t.Infomask2()&page.HeapOnly != 0 {
				b.WriteString(" heap-only")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

var fates = map[string]Fate{"running": Running, "aborted": Aborted, "recent": Recent, "gone": Gone}

// TestConversations: verbs are
//
//	put KEY VALUE by XID      write a version over the one that XID sees
//	delete KEY by XID
//	XID is running|aborted|recent|gone
//	status of XID is not at hand
//	get KEY at LIMIT          what a view sees that has the recent ones below LIMIT
//	prune, items
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		g, err := NewGeometry(100, 4, 100)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(g)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				out.WriteString(w.verb(line))
			}
			return out.String()
		})
	})
}

func num(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (w *world) verb(line string) string {
	f := strings.Fields(line)
	switch {
	case f[0] == "items":
		return w.items()
	case f[0] == "prune":
		return w.prune()
	case f[0] == "get":
		return w.get(num(f[1]), uint32(num(f[3])))
	case f[0] == "put":
		return w.change(uint32(num(f[4])), num(f[1]), []byte(f[2]))
	case f[0] == "delete":
		return w.change(uint32(num(f[3])), num(f[1]), nil)
	case f[0] == "status":
		w.ask[uint32(num(f[2]))] = true
		return ""
	case f[1] == "is":
		delete(w.ask, uint32(num(f[0])))
		w.fate[uint32(num(f[0]))] = fates[f[2]]
		return ""
	}
	return "unknown verb " + line
}

func (w *world) get(key int64, limit uint32) string {
	found, err := Find(testPage, w.p, key, view{w, limit})
	switch {
	case err != nil:
		return err.Error() + "\n"
	case found.Ask != 0:
		return fmt.Sprintf("get %d: what became of %d?\n", key, found.Ask)
	case found.Off == 0:
		return fmt.Sprintf("get %d: absent\n", key)
	}
	return fmt.Sprintf("get %d: %q from item %d\n", key, found.Value, found.Off)
}

// change writes over what is committed, as the row lock's holder.
func (w *world) change(xid uint32, key int64, value []byte) string {
	found, err := Find(testPage, w.p, key, view{w, 1 << 31})
	if err != nil || found.Ask != 0 {
		return fmt.Sprintf("%v, ask %d\n", err, found.Ask)
	}
	if room := w.geo.HasRoom(w.p, len(value)); room == Full {
		return "full\n"
	}
	c := Change{XID: xid, Key: key, Value: value, Old: found.Off}
	c.Apply(&w.mtr, 0, testPage, w.p, nil)
	return wal.OpName(w.mtr.Rmgr(), w.mtr.Info()) + "\n"
}

func (w *world) prune() string {
	w.plan.Make(w.p, w)
	if len(w.plan.Ask) > 0 {
		return fmt.Sprintf("prune: what became of %v?\n", w.plan.Ask)
	}
	s := fmt.Sprintf("prune: redirected %v unused %v, newest removed %d, next hint %d\n",
		w.plan.Redirected, w.plan.Unused, w.plan.LatestRemoved, w.plan.Prunable)
	if err := w.p.Prune(w.plan.Redirected, nil, w.plan.Unused); err != nil {
		return s + err.Error() + "\n"
	}
	return s
}
