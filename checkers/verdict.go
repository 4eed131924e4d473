package checkers

import (
	"fmt"
	"strings"
)

// Result is what a check says of a run.
type Result uint8

// The zero Result is Undecided, so that a check that forgot to answer is not
// taken for one that passed.
const (
	Undecided Result = iota // the check met its bound, or lacked what it needs; never green
	Holds                   // nothing recorded breaks the check
	Broken                  // something recorded breaks the check, whatever else happened
)

func (r Result) String() string {
	switch r {
	case Holds:
		return "holds"
	case Broken:
		return "broken"
	}
	return "undecided"
}

// Verdict is the answer of one check.
type Verdict struct {
	Check   string   // the check's name: "linear", "views", "durable", ...
	Result  Result   // Holds, Broken or Undecided
	What    string   // in words: the operation that broke it, key, want, got, LSN, event
	Ops     []int64  // identities of the operations that show it, the guilty one first
	Details []string // further lines: what the others saw, when boots opened
}

// Green reports whether the check passed. Undecided is never green.
func (v Verdict) Green() bool { return v.Result == Holds }

// String is one line, then one indented line for each detail.
func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", v.Check, v.Result)
	if v.What != "" {
		b.WriteString(": " + v.What)
	}
	for _, d := range v.Details {
		b.WriteString("\n  " + d)
	}
	return b.String()
}

// Worst returns the verdict that a summary line shows: the first Broken one,
// else the first Undecided one, else one that holds. Of nothing, nothing is
// known: it is Undecided.
func Worst(vs []Verdict) Verdict {
	worst := Verdict{Check: "none", What: "no check ran"}
	for i, v := range vs {
		if i == 0 || v.Result == Broken && worst.Result != Broken ||
			v.Result == Undecided && worst.Result == Holds {
			worst = v
		}
	}
	return worst
}

func holds(check string) Verdict { return Verdict{Check: check, Result: Holds} }

func broken(check string, ops []int64, format string, args ...any) Verdict {
	return Verdict{Check: check, Result: Broken, Ops: ops, What: fmt.Sprintf(format, args...)}
}

func undecided(check string, ops []int64, format string, args ...any) Verdict {
	return Verdict{Check: check, Result: Undecided, Ops: ops, What: fmt.Sprintf(format, args...)}
}
