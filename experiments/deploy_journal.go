package experiments

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"

	"tornpage/checkers"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// journal is what one process of a deployment records, written through to a
// file of its own at once: SIGKILL keeps what was written. A record is one
// line, written by one call; a last line without an end did not happen.
//
// Lines are those of a history (an operation has one at its call and another
// one at its return) and, for the observer:
//
//	mark NAME HOST/BOOT LSN EVENT  a watermark
//	append LSN                     a commit that is in the log, not yet visible
//	survived LSN                   recovery annulled all above
//	page REL BLOCK LSN BASE64      a page as appended: the sectors that changed,
//	                               each after its number
//	cut REL BLOCKS LSN             a relation's end was cut off
//	broken CHECK TEXT              a verdict, quoted
//
// Each is written before the process does anything that others could learn the
// fact from. A commit is in the log's buffer and its line in the file before
// the log's writer can take it, as the observer does not switch in between.
//
// All methods of a nil journal do nothing.
type journal struct {
	f        *os.File
	answered func() // called after an operation that committed
	pages    map[page.ID]*page.Page
	buf      []byte
}

// pageSector is the granule of what page lines leave out.
const pageSector = 512

func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	return &journal{f: f, answered: func() {}, pages: map[page.ID]*page.Page{}}, nil
}

// line writes one record. A journal that cannot be written ends the process:
// the run would prove nothing.
func (j *journal) line(format string, args ...any) {
	j.buf = fmt.Appendf(j.buf[:0], format, args...)
	if _, err := j.f.Write(append(j.buf, '\n')); err != nil {
		panic(fmt.Sprintf("the journal of this process cannot be written: %v", err))
	}
}

// history writes a history of one record.
func (j *journal) history(h checkers.History) {
	_, line, _ := strings.Cut(h.String(), "\n")
	j.line("%s", strings.TrimSuffix(line, "\n"))
}

func (j *journal) op(op *checkers.Op) {
	if j == nil {
		return
	}
	j.history(checkers.History{Ops: []checkers.Op{*op}})
	if op.Outcome == checkers.Committed {
		j.answered()
	}
}

func (j *journal) boot(b checkers.Boot) {
	if j != nil {
		j.history(checkers.History{Boots: []checkers.Boot{b}})
	}
}

func (j *journal) exit(e checkers.Exit) {
	if j != nil {
		j.history(checkers.History{Exits: []checkers.Exit{e}})
	}
}

func (j *journal) durable(p checkers.Point) {
	if j != nil {
		j.history(checkers.History{Durable: []checkers.Point{p}})
	}
}

func (j *journal) commit(c checkers.Commit) {
	if j != nil {
		j.history(checkers.History{Commits: []checkers.Commit{c}})
	}
}

func (j *journal) mark(o checkers.Observation) {
	if j != nil {
		j.line("mark %s %s/%d %v %d", o.Name, o.Host, o.Boot, o.LSN, o.Event)
	}
}

func (j *journal) appended(lsn wal.LSN) {
	if j != nil {
		j.line("append %v", lsn)
	}
}

func (j *journal) survived(end wal.LSN) {
	if j != nil {
		j.line("survived %v", end)
	}
}

func (j *journal) broken(v checkers.Verdict) {
	if j != nil {
		j.line("broken %s %q", v.Check, strings.Join(append([]string{v.What}, v.Details...), "\n"))
	}
}

func (j *journal) cut(rel page.Rel, blocks uint32, lsn wal.LSN) {
	if j != nil {
		j.line("cut %d %d %v", rel, blocks, lsn)
	}
}

func (j *journal) page(id page.ID, lsn wal.LSN, p *page.Page) {
	if j == nil {
		return
	}
	last, again := j.pages[id]
	if !again {
		last = new(page.Page)
		j.pages[id] = last
	}
	var changed []byte
	for at := 0; at < page.Size; at += pageSector {
		if now := p[at : at+pageSector]; !again || string(now) != string(last[at:at+pageSector]) {
			changed = append(changed, byte(at/pageSector))
			changed = append(changed, now...)
		}
	}
	*last = *p
	j.line("page %d %d %v %s", id.Rel, id.Block, lsn, base64.StdEncoding.EncodeToString(changed))
}
