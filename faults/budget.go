package faults

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Budget declares what a storage claims to tolerate. Within it a run must stay
// correct, and must get on once the faults stop; beyond it the storage must
// refuse rather than lose silently. A kind of fault that no claim names is not
// tolerated at all.
type Budget struct {
	Storage string // whose claims these are, for the sentences of Within
	Claims  []Claim
}

// Claim is one sentence of a budget. A fault falls under the first claim that
// names its kind and its target.
type Claim struct {
	Kinds []Kind
	// On lists the targets, written as in a plan ("db", "db-m/data", "a" for a
	// zone, "a <-> b" for ends); empty: any.
	On []string
	// AtOnce bounds how many different targets may suffer at the same time;
	// 0: any number. What damages a disk counts from then on to the end of the
	// run, and a fault by mark or event counts all the time, since nobody knows
	// when it comes.
	AtOnce int
	// Forever allows faults that the plan never ends.
	Forever bool
}

// Within reports whether a plan stays within a budget; if not, why says in
// words which step goes beyond it, and how.
func Within(p Plan, b Budget) (ok bool, why string) {
	spans := spansOf(p)
	hits := make([][]hit, len(b.Claims))
	for i, s := range p.Steps {
		if spans[i].idle {
			continue
		}
		for _, k := range s.Action.Kinds() {
			c := b.claim(k, target(s.Action))
			if c < 0 {
				return false, fmt.Sprintf("step %d, %q: %s claims nothing under %s%s",
					i+1, s.brief(), b.Storage, k, b.elsewhere(k))
			}
			if !spans[i].cured && !b.Claims[c].Forever {
				return false, fmt.Sprintf("step %d, %q: %s", i+1, s.brief(), endless(s.Action))
			}
			h := hit{step: i, kind: k, target: target(s.Action), starts: spans[i].starts, ends: spans[i].ends}
			if k.damages() {
				h.ends = never
			}
			hits[c] = append(hits[c], h)
		}
	}
	for c, claim := range b.Claims {
		if claim.AtOnce == 0 {
			continue
		}
		if h, targets := crowd(hits[c], claim.AtOnce); targets != nil {
			return false, fmt.Sprintf("step %d, %q: %s claims at most %d at once under %s; with it there are %d: %s",
				h.step+1, p.Steps[h.step].brief(), b.Storage, claim.AtOnce, claim.names(), len(targets),
				strings.Join(targets, ", "))
		}
	}
	return true, ""
}

// claim returns the index of the claim that a fault falls under, or -1.
func (b Budget) claim(k Kind, target string) int {
	return slices.IndexFunc(b.Claims, func(c Claim) bool {
		return slices.Contains(c.Kinds, k) && (len(c.On) == 0 || slices.Contains(c.On, target))
	})
}

// elsewhere names the targets on which a kind would be claimed.
func (b Budget) elsewhere(k Kind) string {
	for _, c := range b.Claims {
		if slices.Contains(c.Kinds, k) {
			return " there, only on " + strings.Join(c.On, ", ")
		}
	}
	return ""
}

func (c Claim) names() string {
	names := make([]string, len(c.Kinds))
	for i, k := range c.Kinds {
		names[i] = k.String()
	}
	return strings.Join(names, ", ")
}

// hit is one fault under a claim.
type hit struct {
	step         int
	kind         Kind
	target       string
	starts, ends time.Duration
}

// crowd returns the first hit at whose start more targets suffer than allowed,
// and those targets in order.
func crowd(hits []hit, atOnce int) (hit, []string) {
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(a.starts, b.starts) })
	suffers := map[string]time.Duration{} // target to the end of its last fault
	for _, h := range hits {
		maps.DeleteFunc(suffers, func(_ string, ends time.Duration) bool { return ends <= h.starts })
		suffers[h.target] = max(suffers[h.target], h.ends)
		if len(suffers) > atOnce {
			return h, slices.Sorted(maps.Keys(suffers))
		}
	}
	return hit{}, nil
}

// target names what an action strikes, as in a plan.
func target(a Action) string {
	switch a := a.(type) {
	case Kill:
		return a.Host
	case PowerOff:
		return a.Machine
	case Pause:
		return a.Host
	case Zone:
		return a.Zone
	case Cut:
		return a.Ends.String()
	case Link:
		return a.Ends.String()
	case NIC:
		return a.Machine
	case Clock:
		return a.Name
	}
	if d, ok := diskOf(a); ok {
		return d.String()
	}
	return "" // cures strike nothing
}

// endless says in words what an action without end leaves behind.
func endless(a Action) string {
	switch a := a.(type) {
	case Kill, PowerOff:
		return target(a) + " is never booted again"
	case Pause:
		return a.Host + " never runs again"
	case Zone:
		return "zone " + a.Zone + " never comes up again"
	case Cut, Link:
		return target(a) + " is never healed"
	case Clock:
		return "the clock of " + a.Name + " is never set right"
	case NIC:
		return "the network card of " + a.Machine + " stays slow for ever"
	}
	return "disk " + target(a) + " never gets well"
}
