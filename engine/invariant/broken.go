// Package invariant reports broken rules of the engine.
//
// A rule is a sentence with a short name (for example "B2") in the doc.go of
// the package that owns it. Code that finds its rule broken calls Broken with
// the values it saw. Broken rules panic: they are bugs, never bad input.
// Checks are never compiled out.
package invariant

import "fmt"

// Violation is the value that Broken panics with.
type Violation struct {
	Rule string // the rule's name, as in the owning package's doc.go
	Text string // what was seen, with the values
}

// Error makes a Violation usable as an error once it was recovered.
func (v *Violation) Error() string { return fmt.Sprintf("%s broken: %s", v.Rule, v.Text) }

// Broken panics with a Violation. It is a call of its own so that the test
// before it stays a plain comparison that costs nothing while it holds.
func Broken(rule, format string, args ...any) {
	panic(&Violation{Rule: rule, Text: fmt.Sprintf(format, args...)})
}
