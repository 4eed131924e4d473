package heap

import (
	"testing"

	"tornpage/engine/host"
	"tornpage/engine/page"
)

// deaf is as much of a machine as work on a page in memory needs.
type deaf struct{ host.Machine }

func (deaf) Charge(host.Work, int) {}
func (deaf) Mark(string)           {}

// FuzzHeapPage: no bytes make a reader, a judge, a check or a pruning panic, or
// run for ever.
func FuzzHeapPage(f *testing.F) {
	w := newWorld(Geometry{Rows: 9, RowsPerPage: 4, ValueBytes: 100, Lines: 100})
	for _, line := range []string{"10 is gone", "put 1 a by 10", "11 is gone", "put 1 b by 11", "put 2 c by 10", "12 is recent", "put 1 d by 12"} {
		w.verb(line)
	}
	f.Add(w.p[:])
	w.prune()
	f.Add(w.p[:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p := new(page.Page)
		copy(p[:], b)
		if page.Verify(testPage, p, false) != nil {
			return
		}
		h := &Heap{m: deaf{}, rel: testPage.Rel, lines: page.MaxHeapTuples}
		ts := newTxns()
		ts.next, ts.commits = 20, 5
		ts.commit[10], ts.commit[11], ts.commit[12], ts.running[13] = 1, 2, 5, true
		x := &txn{t: ts, snap: 3, live: []uint32{14}}
		for off := range p.MaxOffset() + 2 {
			tid := page.TID{Offset: off}
			c := beginChain(p, off)
			c.seen(x)
			c = beginChain(p, off)
			c.alive(x)
			if off < 20 && p.Tuple(off) != nil { // it walks all chains
				h.rootOf(p, tid)
				follow(x, p.Tuple(off))
			}
			if x.Fate(xmaxOfAt(p, off)) != Running { // else the row lock was not held (rule E2)
				if _, _, err := h.judge(x, p, tid); err != nil {
					t.Log(err)
				}
			}
		}
		s := &Scan{h: h, x: x}
		if err := s.copy(&op{h: h}, p); err != nil {
			t.Log(err)
		}
		k := &checker{h: h, x: x, next: 20, report: func(err error) { t.Log(err) }, p: *p}
		if err := k.check(); err != nil {
			t.Error(err)
		}
		plan := &Plan{Indexed: true}
		plan.Make(p, x)
		slow := &slowPlan{Plan: Plan{Indexed: true}}
		slow.make(p, x)
		comparePlans(t, &slow.Plan, plan)
		if err := p.Prune(plan.Redirected, plan.Dead, plan.Unused); err != nil {
			t.Log(err)
		}
	})
}

func xmaxOfAt(p *page.Page, off uint16) uint32 {
	if t := p.Tuple(off); t != nil {
		return xmaxOf(t)
	}
	return 0
}
