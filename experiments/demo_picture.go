package experiments

import (
	"fmt"
	"strings"

	"tornpage/engine/page"
)

// drawPage draws one torn page, the one with the most kinds of damage: its
// sectors, its LSN and what that did to its rows. Nothing torn: no picture.
func drawPage(t *tornRun, d *DemoRun) []string {
	p := worstPage(d)
	if p == nil {
		return nil
	}
	b := &demoText{}
	b.line("Block %d of run 2 after the power cut: 16 sectors of 512 bytes. N new, o old, = equal in both", p.Block)
	var numbers, letters, holds strings.Builder
	for i, c := range []byte(p.Sectors) {
		fmt.Fprintf(&numbers, " %3d ", i)
		fmt.Fprintf(&letters, "|  %c ", c)
		fmt.Fprintf(&holds, "|%s", t.content(p.Block, i))
	}
	rule := strings.Repeat("+----", len(p.Sectors)) + "+"
	for _, s := range []string{" " + strings.TrimRight(numbers.String(), " "), rule, letters.String() + "|", holds.String() + "|", rule} {
		b.line("   %s", strings.TrimRight(s, " "))
	}
	b.para("   ", "   ", `head: page header and line pointers. new: versions written since the checkpoint. rows: those of the
		checkpoint, in which a change marks the version that it replaces.`)
	t.explainLSN(b, p)
	for i := range d.Wrong {
		if r := &d.Wrong[i]; r.Block == p.Block {
			t.explainRow(b, p, r)
		}
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// worstPage is the torn page with the most kinds of damage, then with the most
// wrong rows; the first one if no row is wrong.
func worstPage(d *DemoRun) *DemoPage {
	var worst *DemoPage
	most := -1
	for i := range d.Torn {
		kinds, rows := map[string]bool{}, 0
		for _, r := range d.Wrong {
			if r.Block == d.Torn[i].Block {
				kinds[r.Damage] = true
				rows++
			}
		}
		if n := len(kinds)*page.MaxItems + rows; n > most {
			worst, most = &d.Torn[i], n
		}
	}
	return worst
}

// content says what a sector of the page holds.
func (t *tornRun) content(block int64, sector int) string {
	from, to := sector*demoSector, (sector+1)*demoSector
	switch {
	case sector == 0:
		return "head"
	case from >= t.filled.page(block).Upper():
		return "rows"
	case to > t.loaded.page(block).Upper():
		return "new "
	}
	return "free"
}

// explainLSN says what recovery makes of the page's header.
func (t *tornRun) explainLSN(b *demoText, p *DemoPage) {
	old, loaded := t.filled.page(p.Block).LSN(), t.loaded.page(p.Block).LSN()
	switch p.Sectors[0] {
	case 'N', '=':
		b.para("   ", "   ", `The header is new: LSN %s, the log position of the page's last change. Recovery compares each
			log record with it, takes all of them for done, and leaves the old sectors as they are.`, p.LSN)
	case 'o':
		b.para("   ", "   ", `The header is old: LSN %v, as of the checkpoint, where the last change has %v. Recovery makes every
			change again.`, old, loaded)
	default:
		b.para("   ", "   ", `The header is of a version in between: LSN %s, where the checkpoint has %v and the last change %v.
			Recovery makes only the changes above it again.`, p.LSN, old, loaded)
	}
}

// explainRow says which sector did what to a row.
func (t *tornRun) explainRow(b *demoText, p *DemoPage, r *DemoRow) {
	var parts []string
	for _, v := range versions(t.loaded.page(p.Block), r.Key) {
		letter := p.Sectors[v.sector]
		state := "stored"
		switch {
		case letter == 'o' && v.visible:
			state = "never stored"
		case letter == 'o':
			state = "not marked as replaced"
			if r.Committed == 0 {
				state = "not marked as deleted"
			}
		case !v.visible && r.Committed == 0:
			state = "marked as deleted"
		case !v.visible:
			state = "marked as replaced"
		}
		parts = append(parts, fmt.Sprintf("%v, sector %d (%c), %s", v.value, v.sector, letter, state))
	}
	b.para(fmt.Sprintf("   key %-4d %-19s ", r.Key, r.Damage+":"), strings.Repeat(" ", 32), "%s", strings.Join(parts, "; "))
}
