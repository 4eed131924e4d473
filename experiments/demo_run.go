package experiments

import (
	"fmt"
	"slices"

	"tornpage/engine/compute"
	"tornpage/engine/local"
	"tornpage/engine/page"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/simdisk"
)

// tornRun is one of the demo's runs with what was seen from outside, at its
// marks: nothing of it changes the run, so that Run of its plan has the same
// hash and verdicts.
type tornRun struct {
	*Result
	filled, loaded, cut, read tornTable   // the table's file at each mark
	filledLog, loadedLog      local.Stats // of the boot that the power cut ended
	recovery                  local.Stats // of the first boot after it, once it had redone or refused
	cutAt                     int64       // event of the power cut, 0: there was none
	file                      string      // the table's
	disk                      sim.Crash   // what the power cut did to the data disk
}

// tornTable is the content of the table's file, page by page.
type tornTable []page.Page

// runTorn carries out a plan of demo/torn-page.
func runTorn(p faults.Plan, opt Options) (*tornRun, error) {
	x, err := prepare(p, opt)
	if err != nil {
		return nil, err
	}
	defer x.w.Close()
	t := &tornRun{file: fmt.Sprintf("rel-%d", compute.DefaultRel)}
	see := func(mark, host string, count uint64, f func() error) {
		x.w.OnMark(mark, host, count, func() {
			if e := f(); e != nil && err == nil {
				err = e
			}
		})
	}
	see(markFilled, loadName, 1, func() (e error) { t.filledLog = x.loc.Stats(); t.filled, e = t.tableOf(x.w); return e })
	see(markLoaded, loadName, 1, func() (e error) { t.loadedLog = x.loc.Stats(); t.loaded, e = t.tableOf(x.w); return e })
	// Behind the plan's own step, which was there first.
	see(markCut, loadName, 1, func() (e error) { t.cutAt = int64(x.w.Event()); t.cut, e = t.tableOf(x.w); return e })
	see(markRead, loadName, 1, func() (e error) { t.read, e = t.tableOf(x.w); return e })
	// The first boot marks recovery.redone too, over an empty disk.
	see("recovery.redone", writerName, 2, func() error { t.recovery = x.loc.Stats(); return nil })
	see("recovery.refused", writerName, 1, func() error { t.recovery = x.loc.Stats(); return nil })
	why := x.load()
	if why == sim.TimeUp || why == sim.Stopped {
		why = x.final()
	}
	t.Result = x.result(why)
	i := slices.IndexFunc(t.Crashes, func(c sim.Crash) bool { return c.Machine == "db-m" && c.Disk == "data" })
	if err == nil && (t.cutAt == 0 || i < 0) {
		err = fmt.Errorf("demo: the power was not cut: the load had not ended after %v; look at the trace of\n%s", t.Virtual, faults.Print(p))
	}
	if err == nil {
		t.disk = t.Crashes[i]
	}
	return t, err
}

// tableOf reads the table's file as it is on the disk now, without touching
// that: images share bytes.
func (t *tornRun) tableOf(w *sim.World) (tornTable, error) {
	d, err := w.Disk("db-m", "data")
	if err != nil {
		return nil, err
	}
	if d, err = d.Image().Start(simdisk.Config{}, 0); err != nil {
		return nil, err
	}
	f, err := d.Open(t.file, false)
	if err != nil {
		return nil, err
	}
	pages := make(tornTable, f.Size()/page.Size)
	for i := range pages {
		if _, err := f.ReadAt(pages[i][:], int64(i)*page.Size); err != nil {
			return nil, err
		}
	}
	return pages, nil
}

// torn are the blocks of the table that the power cut tore.
func (t *tornRun) torn() []int64 {
	for i := range t.disk.Files {
		if f := &t.disk.Files[i]; f.Name == t.file {
			return f.Torn
		}
	}
	return nil
}

// demoSector is the unit of the picture, whatever the disk's is.
const demoSector = 512

// sectors compares a page after the cut with the two versions that the disk
// could choose from: N new, o old, = the same in both, b one in between.
func (t *tornRun) sectors(block int64) string {
	old, loaded, now := t.filled.page(block), t.loaded.page(block), t.cut.page(block)
	var s []byte
	for at := 0; at < page.Size; at += demoSector {
		o, n, is := old[at:at+demoSector], loaded[at:at+demoSector], now[at:at+demoSector]
		switch {
		case slices.Equal(is, n) && slices.Equal(is, o):
			s = append(s, '=')
		case slices.Equal(is, n):
			s = append(s, 'N')
		case slices.Equal(is, o):
			s = append(s, 'o')
		default:
			s = append(s, 'b')
		}
	}
	return string(s)
}

// page is a page of the table, zeros if the file does not reach it.
func (t tornTable) page(block int64) *page.Page {
	if block >= int64(len(t)) {
		return &page.Page{}
	}
	return &t[block]
}
