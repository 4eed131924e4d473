package faults

import (
	"strconv"
	"strings"
)

// magic is the first line of every plan; the number is the format's version.
const magic = "tornpage plan 1"

// Columns of the print: where head values start, where actions start, and
// where config lines wrap.
const (
	headColumn   = 10
	actionColumn = 18
	wrapColumn   = 100
)

// Print returns the plan's one canonical text: Parse(Print(p)) is p for every
// plan that passes Check, and two equal plans print the same bytes.
func Print(p Plan) string {
	var b strings.Builder
	b.WriteString(magic + "\n")
	printComment(&b, p.Comment)
	line := pad("scenario", headColumn) + p.Scenario
	for i, kv := range p.Params {
		if i == 0 {
			line = pad(line, headColumn+15) // one column for short scenario names
		}
		line += " " + kv.Key + "=" + kv.Value
	}
	b.WriteString(line + "\n")
	printConfig(&b, p.Config)
	b.WriteString(pad("seed", headColumn) + strconv.FormatUint(p.Seed, 10) + "\n")
	for _, s := range p.Steps {
		printComment(&b, s.Comment)
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}

// String returns Print(p).
func (p Plan) String() string { return Print(p) }

// String returns the step as in a plan, without its comment.
func (s Step) String() string {
	return pad(s.when(), actionColumn) + s.what()
}

// brief is String with single blanks, for sentences.
func (s Step) brief() string { return s.when() + " " + s.what() }

func (s Step) when() string {
	if s.For != 0 {
		return s.Trigger.String() + " for " + FormatDuration(s.For)
	}
	return s.Trigger.String()
}

func (s Step) what() string {
	if s.Action == nil {
		return "nothing" // no action's text; Check refuses the step
	}
	return s.Action.String()
}

func printConfig(b *strings.Builder, kvs []KV) {
	line := ""
	for _, kv := range kvs {
		word := kv.Key + "=" + kv.Value
		if line != "" && len(line)+1+len(word) > wrapColumn {
			b.WriteString(line + "\n")
			line = ""
		}
		if line == "" {
			line = pad("config", headColumn) + word
		} else {
			line += " " + word
		}
	}
	if line != "" {
		b.WriteString(line + "\n")
	}
}

func printComment(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString(strings.TrimSpace("# "+l) + "\n")
	}
}

// pad fills a word up to a column, with two blanks at least.
func pad(s string, column int) string {
	return s + strings.Repeat(" ", max(2, column-len(s)))
}
