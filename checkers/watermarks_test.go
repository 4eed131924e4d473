package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// slowBreach is what Watermarks decides, from the whole list: whether the last
// observation breaks the rule against those before it.
func slowBreach(r Rule, all []Observation) bool {
	o, before := all[len(all)-1], all[:len(all)-1]
	find := func(l []Observation, ok func(Observation) bool) (last, high Observation, any bool) {
		for _, x := range l {
			if ok(x) {
				if last = x; !any || x.LSN > high.LSN {
					high = x
				}
				any = true
			}
		}
		return last, high, any
	}
	bad := func(low, high page.LSN) bool { return low > high || r.less && low == high }
	sameBoot := func(name string) func(Observation) bool {
		return func(x Observation) bool { return x.Name == name && x.Host == o.Host && x.Boot == o.Boot }
	}
	named := func(name string) func(Observation) bool { return func(x Observation) bool { return x.Name == name } }
	switch {
	case r.kind != order && o.Name != r.a:
		return false
	case r.kind == monotone:
		last, _, any := find(before, sameBoot(r.a))
		return any && o.LSN < last.LSN
	case r.kind == lasting:
		_, high, any := find(before, named(r.a))
		return any && o.LSN < high.LSN
	case r.kind == same || r.kind == sole:
		for _, x := range before {
			if x.Name == r.a && x.LSN == o.LSN && x.Part == o.Part {
				return r.kind == same && x.Value != o.Value || r.kind == sole && (x.Host != o.Host || x.Boot != o.Boot)
			}
		}
		return false
	case o.Name == r.a && r.scope == SameBoot:
		last, _, any := find(all, sameBoot(r.b))
		return any && bad(o.LSN, last.LSN)
	case o.Name == r.a && r.scope == Cluster:
		_, high, _ := find(all, named(r.b))
		return bad(o.LSN, high.LSN)
	case o.Name == r.a:
		for _, host := range []string{"w", "r", "q"} {
			last, _, any := find(all, func(x Observation) bool { return x.Name == r.b && x.Host == host })
			if any && bad(o.LSN, last.LSN) {
				return true
			}
		}
		return false
	case o.Name != r.b || r.scope == Cluster:
		return false
	case r.scope == SameBoot:
		last, _, any := find(all, sameBoot(r.a))
		return any && bad(last.LSN, o.LSN)
	}
	_, high, any := find(all, named(r.a))
	return any && bad(high.LSN, o.LSN)
}

// TestWatermarksAgainstSlow: the first breach is found where the slow twin finds
// it, and none elsewhere.
func TestWatermarksAgainstSlow(t *testing.T) {
	rules := []Rule{Monotone("a"), Lasting("a"), Same("a"), Sole("a")}
	for _, scope := range []Scope{SameBoot, Cluster, Least} {
		rules = append(rules, Order("a", "<=", "b", scope), Order("a", "<", "b", scope), Order("a", "<=", "a", scope))
	}
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rules).Draw(t, "rule")
		w := NewWatermarks(r)
		var all []Observation
		base := page.LSN(0)
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			base += page.LSN(rapid.IntRange(0, 2).Draw(t, "rise"))
			o := Observation{
				Event: int64(i), Host: rapid.SampledFrom([]string{"w", "r", "q"}).Draw(t, "host"),
				Boot: rapid.Uint64Range(1, 2).Draw(t, "boot"), Name: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
				Part: uint32(rapid.IntRange(0, 1).Draw(t, "part")), Value: rapid.Uint64Range(0, 1).Draw(t, "value"),
			}
			o.LSN = base
			if o.Name == "b" {
				o.LSN += page.LSN(rapid.IntRange(0, 4).Draw(t, "ahead"))
			}
			all = append(all, o)
			require.Equal(t, !slowBreach(r, all), w.Observe(o), "%v at %v", r, o.text())
			if w.Verdict().Result == Broken {
				return
			}
		}
	})
}
