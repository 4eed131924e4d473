package checkers

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/model"
)

func drawShape(t *rapid.T, ops int) shape {
	return shape{
		clients: rapid.IntRange(1, 5).Draw(t, "clients"),
		keys:    rapid.IntRange(1, 4).Draw(t, "keys"),
		ops:     rapid.IntRange(1, ops).Draw(t, "ops"),
		unknown: rapid.SampledFrom([]int{0, 5, 25}).Draw(t, "unknown"),
		crash:   rapid.SampledFrom([]int{0, 20}).Draw(t, "crash"),
		views:   rapid.Bool().Draw(t, "views"),
		multi:   rapid.Bool().Draw(t, "multi"),
		tokens:  rapid.Bool().Draw(t, "tokens"),
		deletes: rapid.SampledFrom([]bool{false, false, true}).Draw(t, "deletes"),
	}
}

func drawHistory(t *rapid.T, ops int) *History {
	s := drawShape(t, ops)
	return perfectHistory(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), s)
}

// What is right by construction is accepted by every check, and by porcupine
// without a witness. Without LSNs, failed swaps that told nothing can leave
// more open than the bound on steps allows; that may be undecided, never broken.
func TestPerfectHistoriesHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t, 60)
		for _, search := range []bool{false, true} {
			c := Checker{Options: Options{SearchOnly: search}}
			for _, v := range c.Check(h) {
				require.NotEqual(t, Broken, v.Result, "search=%v\n%v\n%v", search, v, h)
				require.True(t, v.Green() || c.s.anyBlind(), "search=%v\n%v\n%v", search, v, h)
			}
		}
	})
}

// mutate changes one value that somebody read to another value of that key.
func mutate(r *rand.Rand, h *History) (op int, ok bool) {
	written := map[int64][]uint64{}
	for i := range h.Ops {
		o := &h.Ops[i]
		for n := range o.Values {
			if o.Outcome == Committed && (o.Kind != CAS || o.OK) {
				written[o.Keys[n]] = append(written[o.Keys[n]], o.Values[n])
			}
		}
	}
	for range 50 {
		i := r.IntN(len(h.Ops))
		o := &h.Ops[i]
		if o.Outcome != Committed || !o.Reads() {
			continue
		}
		n := r.IntN(len(o.Keys))
		vals := append(written[o.Keys[n]], 0)
		if v := vals[r.IntN(len(vals))]; v != o.Results[n] {
			o.Results[n] = v
			return i, true
		}
	}
	return 0, false
}

// With snapshot LSNs there is one right answer to each read: any other value
// is rejected.
func TestMutatedReadIsRejected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawShape(t, 60)
		s.tokens, s.unknown, s.crash, s.deletes = true, 0, 0, false
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		h := perfectHistory(r, s)
		i, ok := mutate(r, h)
		if !ok {
			t.Skip("nothing to mutate")
		}
		v := Views(h)
		require.Equal(t, Broken, v.Result, "op %d\n%v", h.Ops[i].ID, h)
		require.Contains(t, v.Ops, h.Ops[i].ID, "%v\n%v", v, h)
	})
}

// Witness and zones never disagree with porcupine alone, and the tightened
// model never disagrees with one that leaves unknown operations open.
func TestFastPathsAgreeWithPorcupine(t *testing.T) {
	brokenSeen := 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t, 30)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "mutation"), 2))
		mutate(r, h)
		fast := Checker{}
		require.NoError(t, fast.x.build(h))
		fast.s.build(&fast.x)
		slow := Checker{Options: Options{SearchOnly: true}}
		require.NoError(t, slow.x.build(h))
		slow.s.build(&slow.x)
		a, b := fast.linear(), slow.linear()
		require.Equal(t, b.Result, a.Result, "%v\n%v\n%v", a, b, h)
		if a.Result == Broken {
			brokenSeen++
		}
		if fast.dirty().Green() {
			h.Boots = nil // rule C4 is no rule of the plain model
			require.Equal(t, plain(h), Linear(h, Options{}).Green(), "%v", h)
		}
	})
	require.NotZero(t, brokenSeen, "no mutation broke anything")
}

// plain is the naive twin of tighten.go: every unknown write stays, as an
// attempt without an end. It knows nothing of boots.
func plain(h *History) bool {
	c := Checker{}
	if c.x.build(h) != nil {
		return false
	}
	c.s.build(&c.x)
	for i := range c.s.of {
		o, p := &h.Ops[i], &c.s.of[i]
		if o.Outcome != Unknown || !o.Writes() {
			continue
		}
		p.kept, p.end = true, Open
		p.op.Verb = model.Write
		if o.Kind == CAS {
			p.op.Verb = model.Try
		}
	}
	c.s.groups.build(&c.x, c.s.of)
	for k := range c.x.name {
		if c.s.groups.find(int32(k)) != int32(k) {
			continue
		}
		ops, keys := c.group(int32(k))
		if !porcupine.CheckOperations(c.porcupine(keys, &budget{left: 5_000_000}), ops) {
			return false
		}
	}
	return true
}

// The text form loses nothing.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t, 40)
		text := h.String()
		back, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, back.String())
		require.Equal(t, (&Checker{}).Check(h), (&Checker{}).Check(back))
	})
}

func FuzzParse(f *testing.F) {
	f.Add(perfectHistory(rand.New(rand.NewPCG(1, 1)), shape{clients: 3, keys: 3, ops: 20, unknown: 20, crash: 20,
		views: true, multi: true, tokens: true}).String())
	f.Add(header + "\nop 4 c1 n1 w/1 cas k3=17>19 no=18 committed @0/120 10..24 t1ms..2.5ms\n")
	f.Add(header + "\nboot -/1 0 end 0/8 follower\nexit w/1 30 x\ncommit 1/10 visible 12 op 4\ninitial k-1=5\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Parse(text)
		if err != nil {
			require.Contains(t, err.Error(), "line ")
			return
		}
		back, err := Parse(h.String())
		require.NoError(t, err, "%q", h.String())
		require.Equal(t, h.String(), back.String())
		if len(h.Ops) <= 20 { // checks must not panic on what parses
			c := Checker{Options: Options{Steps: 2000}}
			for _, v := range c.Check(h) {
				require.NotEmpty(t, v.Check)
			}
		}
	})
}

func TestWorstCaseIsDecided(t *testing.T) {
	unknown := 0
	h := worst(true)
	for i := range h.Ops {
		if h.Ops[i].Outcome == Unknown && h.Ops[i].Return == Open {
			unknown++
		}
	}
	require.Equal(t, 17, unknown)
	for _, search := range []bool{false, true} {
		require.Equal(t, Broken, Linear(h, Options{SearchOnly: search}).Result, "search=%v", search)
		require.Equal(t, Holds, Linear(worst(false), Options{SearchOnly: search}).Result, "search=%v", search)
	}
}

// The bound on steps gives the same undecided verdict every time.
func TestBoundIsDeterministic(t *testing.T) {
	h := worst(true)
	first := Linear(h, Options{SearchOnly: true, Steps: 300})
	require.Equal(t, Undecided, first.Result)
	require.False(t, first.Green())
	require.Equal(t, first, Linear(h, Options{SearchOnly: true, Steps: 300}))
}

// A checker that is used again remembers nothing.
func TestCheckerIsReusable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c Checker
		for range 3 {
			h := drawHistory(t, 30)
			mutate(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "mutation"), 2)), h)
			require.Equal(t, (&Checker{}).Check(h), c.Check(h))
		}
	})
}

func TestPicture(t *testing.T) {
	var b bytes.Buffer
	h := worst(true)
	require.NoError(t, (&Checker{Options: Options{Steps: 20_000}}).Picture(&b, h, 0))
	require.Contains(t, b.String(), "<html")
	require.ErrorContains(t, (&Checker{}).Picture(&b, h, 99), "key 99")
}

func TestWorst(t *testing.T) {
	h, b, u := Verdict{Result: Holds}, Verdict{Result: Broken}, Verdict{}
	require.Equal(t, Undecided, Worst(nil).Result)
	require.Equal(t, Broken, Worst([]Verdict{u, h, b}).Result)
	require.Equal(t, Undecided, Worst([]Verdict{h, u, h}).Result)
	require.Equal(t, Holds, Worst([]Verdict{h, h}).Result)
}

func (s *spans) anyBlind() bool { return slices.Contains(s.blind, true) }
