package wal

import "tornpage/engine/page"

// NeedsImage is the one place where a full-page image is decided: the page
// was last changed at or before the floor. Floor 0: never (rule W4).
func NeedsImage(pageLSN, floor LSN) bool { return floor != 0 && pageLSN <= floor }

// appendImage appends p, without its hole if it has a standard header, and
// returns the hole.
func appendImage(dst []byte, p *page.Page, standard bool) (out []byte, holeOff, holeLen int) {
	if standard {
		holeOff, holeLen = p.Hole()
	}
	if holeLen == 0 {
		return append(dst, p[:]...), 0, 0
	}
	dst = append(dst, p[:holeOff]...)
	return append(dst, p[holeOff+holeLen:]...), holeOff, holeLen
}
