package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/schollz/progressbar/v3"

	"tornpage/checkers"
)

// The colours, as SGR codes.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

// colours says whether the output is a person's who wants colour (no-color.org).
func (a *app) colours() bool {
	return !a.noColor && a.outTTY && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
}

// paint colours s, or does not.
func (a *app) paint(colour, s string) string {
	if !a.colours() {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// verdict paints a result; undecided is never green.
func (a *app) verdict(r checkers.Result) string {
	switch r {
	case checkers.Holds:
		return a.paint(green, r.String())
	case checkers.Broken:
		return a.paint(red, r.String())
	}
	return a.paint(yellow, r.String())
}

// newTable is a table without borders, printed by a.print.
func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Name = "plain"
	style.Box = table.BoxStyle{PaddingRight: "  ", UnfinishedRow: "..."}
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	if len(header) > 0 {
		t.AppendHeader(header)
	}
	t.SuppressTrailingSpaces()
	return t
}

func (a *app) print(t table.Writer) { fmt.Fprintln(a.out, t.Render()) }

// right aligns columns to the right, from 1.
func right(columns ...int) []table.ColumnConfig {
	var cs []table.ColumnConfig
	for _, c := range columns {
		cs = append(cs, table.ColumnConfig{Number: c, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return cs
}

// count prints a number with thousands apart: 34,511.
func count[T uint64 | int](n T) string {
	s := strconv.FormatUint(uint64(n), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// span prints a time with three digits.
func span(d time.Duration) string {
	for _, unit := range []time.Duration{time.Hour, time.Second, time.Millisecond, time.Microsecond} {
		if d >= 100*unit {
			return d.Round(unit).String()
		}
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}

// speedUp is how much faster than the clock on the wall a world went.
func speedUp(virtual, wall time.Duration) string {
	if wall <= 0 {
		return "?x"
	}
	f := float64(virtual) / float64(wall)
	if f < 10 {
		return strconv.FormatFloat(f, 'f', 1, 64) + "x"
	}
	return count(uint64(f)) + "x"
}

// plural is "1 seed" or "2 seeds".
func plural[T uint64 | int](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// patience is how long a command may take before it shows that it works.
const patience = 2 * time.Second

// late drops what is written before its time.
type late struct {
	w     io.Writer
	from  time.Time
	wrote bool
}

func (l *late) Write(b []byte) (int, error) {
	if time.Now().Before(l.from) {
		return len(b), nil
	}
	l.wrote = true
	return l.w.Write(b)
}

// progress shows how many of n are done, with the time that is left: on a
// terminal, and not before it has taken a while. done ends the line.
func (a *app) progress(n uint64, what string) (step, done func()) {
	if !a.errTTY {
		return func() {}, func() {}
	}
	w := &late{w: a.err, from: time.Now().Add(patience)}
	bar := progressbar.NewOptions64(int64(n),
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(strings.TrimSpace(what)),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetRenderBlankState(false),
	)
	return func() { _ = bar.Add(1) }, func() {
		if w.wrote {
			_ = bar.Clear()
		}
	}
}
