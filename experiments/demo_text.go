package experiments

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"tornpage/checkers"
)

// demoWidth is the widest line of the demo, in columns.
const demoWidth = 100

// outcomes are the classes in words.
var outcomes = map[Class]string{
	Repaired: "REPAIRED", Silent: "SILENT CORRUPTION", Refused: "DETECTED, refuses to start", Safe: "SAFE",
	NoTear: "no page was torn", Undamaged: "torn, without damage", Latent: "LATENT DAMAGE", Unfit: "UNEXPECTED",
}

// demoText is a text being written.
type demoText struct {
	strings.Builder
	color bool
}

func (b *demoText) line(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }

// para writes words, broken into lines that begin with indent; the first one
// begins with lead.
func (b *demoText) para(lead, indent, format string, args ...any) {
	line, empty := lead, true
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if !empty && columns(line)+1+columns(word) > demoWidth {
			b.line("%s", line)
			line, empty = indent, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	b.line("%s", line)
}

// columns is the width of s on a terminal: colours take none.
func columns(s string) int {
	n := 0
	for s != "" {
		before, rest, found := strings.Cut(s, "\x1b[")
		n += utf8.RuneCountInString(before)
		if s = rest; found {
			_, s, _ = strings.Cut(rest, "m")
		}
	}
	return n
}

// field is a paragraph with a label in front.
func (b *demoText) field(label, format string, args ...any) {
	b.para(fmt.Sprintf("   %-11s", label), strings.Repeat(" ", 14), format, args...)
}

const ansiReset = "\x1b[0m"

// paint colours a text on a terminal: the words say the same without.
func (b *demoText) paint(code, s string) string {
	if !b.color {
		return s
	}
	return "\x1b[" + code + "m" + s + ansiReset
}

// heading is a line that stands out.
func (b *demoText) heading(s string) { b.line("%s", b.paint("1", s)) }

// text is the report for people.
func (r *DemoReport) text(color bool) string {
	b := &demoText{color: color}
	r.intro(b)
	r.table(b)
	for i := range r.Runs {
		b.line("")
		r.Runs[i].text(b, i+1)
	}
	for i, line := range r.picture {
		if i == 0 {
			b.line("")
			b.heading(line)
			continue
		}
		b.line("%s", b.letters(line))
	}
	r.real(b)
	r.next(b)
	return b.String()
}

// letters colours the sectors of a drawn page.
func (b *demoText) letters(line string) string {
	if !b.color || !strings.HasPrefix(strings.TrimSpace(line), "|") {
		return line
	}
	line = strings.ReplaceAll(line, "  N ", b.paint("32", "  N "))
	return strings.ReplaceAll(line, "  o ", b.paint("31", "  o "))
}

func (r *DemoReport) intro(b *demoText) {
	b.heading(fmt.Sprintf("Why full-page writes exist: one load, one power cut, four settings (seed %d)", r.Seed))
	b.line("")
	b.para("", "", `A table of %d rows lies on %d pages of 8 KiB, all of it safe on disk: a checkpoint has just
		been made. Then %d transactions change one row each, and are acknowledged: their log records are safe on disk.
		The changed pages are written as well, but not yet synced, when the power fails. A disk of 512-byte sectors
		stores each sector whole, not a whole page, which is 16 of them: of a page it may have kept some and
		lost others. Such a page is TORN: part old, part new. At the restart, recovery
		reads the log since the checkpoint and makes the changes again that the pages lack.`, r.Rows, r.Pages, r.Changes)
	b.line("")
}

func (r *DemoReport) table(b *demoText) {
	b.heading(fmt.Sprintf("   %-28s %9s %6s  %-22s  %s", "full-page writes", "log bytes", "pages", "recovery", "outcome"))
	b.heading(fmt.Sprintf("   %-28s %9s %6s", "", "a change", "torn"))
	for i := range r.Runs {
		d := &r.Runs[i]
		b.line("%d  %-28s %9d %6d  %-22s  %s", i+1, d.setting.short, d.LogPerChange, len(d.Torn), d.brief(), d.outcome(b))
	}
}

// brief is what recovery did, in a few words.
func (d *DemoRun) brief() string {
	r := &d.Recovery
	switch {
	case r.Refusal != "":
		return "stopped at block " + cmp.Or(r.Block, "?")
	case r.Images > 0:
		return fmt.Sprintf("%d records, %s", r.Records, plural(r.Images, "image"))
	}
	return fmt.Sprintf("%d records, no image", r.Records)
}

func (d *DemoRun) outcome(b *demoText) string {
	s := outcomes[d.Class]
	if d.Class == Silent {
		s += ", " + plural(uint64(len(d.Wrong)), "row")
	}
	switch d.Class {
	case Repaired, Safe:
		return b.paint("32", s)
	case Refused:
		return b.paint("33", s)
	case NoTear, Undamaged:
		return s
	}
	return b.paint("31", s)
}

// plural counts things.
func plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// text is what is to say of a run.
func (d *DemoRun) text(b *demoText, number int) {
	b.para(b.paint("1", fmt.Sprintf("%d  %s:", number, d.Title))+" ", "   ", "%s", d.setting.lesson)
	images := "no page images"
	if d.Logged > 0 {
		images = plural(d.Logged, "page image") + " among them"
	}
	b.field("log", "%d bytes for the changes, %s", d.LogBytes, images)
	b.field("torn", "%s", d.torn())
	b.field("recovery", "%s", d.recovery())
	d.rows(b)
	d.checks(b)
	b.line("   %-11s%s", "replay", d.Replay)
}

func (d *DemoRun) torn() string {
	if len(d.Torn) == 0 {
		if d.setting.expected == Safe {
			return "no page: each was kept or lost whole"
		}
		return fmt.Sprintf("no page: with this seed the disk kept %s of what was unsynced", d.mode)
	}
	var blocks []string
	for _, p := range d.Torn {
		blocks = append(blocks, fmt.Sprint(p.Block))
	}
	return fmt.Sprintf("%s: blocks %s", plural(uint64(len(d.Torn)), "page"), strings.Join(blocks, " "))
}

func (d *DemoRun) recovery() string {
	r := &d.Recovery
	read := plural(r.Records, "log record") + " read, "
	switch {
	case r.Refusal != "" && r.File != "":
		return fmt.Sprintf("%sthen it met a torn page and stopped: file %s, block %s, LSN %s in its header. The server's words: %q",
			read, r.File, r.Block, r.LSN, r.Refusal)
	case r.Refusal != "":
		return fmt.Sprintf("%sthen it stopped: %q", read, r.Refusal)
	case r.Images > 0:
		return fmt.Sprintf("%s%s put back over whatever was there: %s",
			read, plural(r.Images, "page image"), d.fate())
	}
	return fmt.Sprintf("%snone with a page image: %s", read, d.fate())
}

// fate tells what became of the torn pages, and why.
func (d *DemoRun) fate() string {
	if len(d.Torn) == 0 {
		return "every row is right"
	}
	if len(d.Wrong)+len(d.Latent) == 0 && d.Recovery.Images > 0 {
		return fmt.Sprintf("all %d torn pages are right again", len(d.Torn))
	}
	wrong, oldRight, newWrong := 0, 0, 0
	for _, p := range d.Torn {
		newer := p.Sectors[0] != 'o'
		switch {
		case p.Wrong > 0:
			wrong++
			if newer {
				newWrong++
			}
		case !newer:
			oldRight++
		}
	}
	s := fmt.Sprintf("%s wrong now, %d right.", isOrAre(wrong, "torn page"), len(d.Torn)-wrong)
	if oldRight > 0 {
		s += fmt.Sprintf(` On %d of the right ones the first sector stayed old. It says up to which log position (LSN)
			the page's changes reach, so that recovery made the later ones again.`, oldRight)
	}
	if newWrong > 0 {
		s += fmt.Sprintf(` On %d of the wrong ones the first sector is new: recovery believed that nothing was
			missing there.`, newWrong)
	}
	return s
}

func isOrAre(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return plural(uint64(n), thing) + " are"
}

// demoRows is how many wrong rows are listed; JSON has all.
const demoRows = 24

// rows lists the rows that read wrong.
func (d *DemoRun) rows(b *demoText) {
	for i, r := range d.Wrong {
		label := ""
		if i == 0 {
			b.line("   %-11s%5s %5s   %-15s %s", "wrong rows", "key", "block", "committed", "reads now")
		}
		if i == demoRows {
			b.line("   %-11s... and %d more (--json lists all)", label, len(d.Wrong)-i)
			return
		}
		b.line("   %-11s%5d %5d   %-15v %-15v %s", label, r.Key, r.Block, r.Committed, r.shown(), r.why())
	}
}

func (r *DemoRow) shown() string {
	if r.Damage == damageRefused {
		return "an error"
	}
	return r.Read.String()
}

func (r *DemoRow) why() string {
	if r.Damage != damageBoth {
		return r.Damage
	}
	var vs []string
	for _, v := range r.Versions {
		vs = append(vs, fmt.Sprint(uint64(v)))
	}
	return "both versions are there: " + strings.Join(vs, " and ")
}

// checks says what the checkers found, and for one of them why.
func (d *DemoRun) checks(b *demoText) {
	var hold, fail []string
	var tell *DemoVerdict
	for i := range d.Verdicts {
		v := &d.Verdicts[i]
		if v.Result == checkers.Holds.String() {
			hold = append(hold, v.Check)
			continue
		}
		fail = append(fail, v.Check)
		// What was acknowledged and is gone is the easiest to understand.
		if tell == nil || v.Check == "durable" {
			tell = v
		}
	}
	if tell == nil {
		b.field("checks", "all hold: %s", strings.Join(hold, ", "))
		return
	}
	b.field("checks", "BROKEN: %s. Hold: %s", strings.Join(fail, ", "), strings.Join(hold, ", "))
	b.field("", "%s: %s", tell.Check, tell.What)
}

// real holds the demo against a real server.
func (r *DemoReport) real(b *demoText) {
	on, off, sums := r.RealServer[0], r.RealServer[2], r.RealServer[3]
	b.line("")
	b.heading("What a real server does")
	b.para("   ", "   ", `PostgreSQL 15.18, one page torn by hand in each crashed copy. 1: %d of %d repaired. 2: of %d, %d
		silently wrong and %d more with a damaged index (latent), %d undamaged, %d on pages made after the checkpoint, which the log
		builds from nothing. 3: %d of %d refused to start, %d made after the checkpoint. 4 was not measured. There
		too the first part decides: new first half over old last half, %d of %d heap pages wrong; the other way round,
		%d of %d undamaged.`, on.Repaired, on.Trials, off.Trials, off.Silent, off.Latent, off.Undamaged, off.NewPage,
		sums.Refused, sums.Trials, sums.NewPage, off.HeapNewFirst, off.HeapNewTrials, off.HeapOldFirst, off.HeapOldTrials)
	if r.OK {
		b.para("   ", "   ", "Runs 1 to 3 above ended in the same ways: repaired, silently wrong, refused.")
	}
}

// next closes with what to try, or with what went otherwise than it should.
func (r *DemoReport) next(b *demoText) {
	b.line("")
	if !r.OK {
		b.heading("Not as expected")
		for i := range r.Runs {
			if d := &r.Runs[i]; d.Class != d.Expected {
				b.para("   ", "   ", "run %d ended as %s, expected %s", i+1, d.Class, d.Expected)
			}
		}
		if r.NextSeed != nil {
			b.para("   ", "   ", "With seed %d the power cut tears no page, so that there is nothing to show. Another one:", r.Seed)
			b.line("   tornpage demo --seed %d", *r.NextSeed)
		}
		b.line("")
	}
	b.heading("Next (without an installed tornpage: go run ./cmd/tornpage ...)")
	b.line("   tornpage demo --seed %d          other pages, other rows (some seeds tear none)", r.Seed+1)
	b.line("   tornpage demo --json            all of this as data, with the plan of each run")
	b.line("   tornpage run local/register --seeds 100")
	b.line("                                   the engine under random faults, checked")
	b.line("   tornpage list                   every scenario")
}
