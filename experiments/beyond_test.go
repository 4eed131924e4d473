package experiments

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/faults"
)

// lostKeys is a second, plain opinion on what a run has lost, from nothing but
// the clients' own records: keys whose last acknowledged write, with no other
// write at the same time or after and no unknown one at all, is not what the
// audit at the end read.
func lostKeys(h *checkers.History) (lost []int64) {
	type state struct {
		last    *checkers.Op
		value   uint64
		unclear bool
		final   uint64
		read    bool
	}
	keys := map[int64]*state{}
	at := func(k int64) *state {
		if keys[k] == nil {
			keys[k] = &state{}
		}
		return keys[k]
	}
	for i := range h.Ops {
		o := &h.Ops[i]
		for j, k := range o.Keys {
			s := at(k)
			switch {
			case o.Worker == 0: // the audit
				if o.Outcome == checkers.Committed {
					s.final, s.read = o.Results[j], true
				}
			case !o.Writes() || o.Outcome == checkers.Aborted || o.Kind == checkers.CAS && o.Outcome == checkers.Committed && !o.OK:
			case o.Outcome != checkers.Committed:
				s.unclear = true
			case s.last == nil || s.last.Return < o.Call:
				s.last, s.value = o, o.Values[j]
			case s.last.Call < o.Return:
				s.unclear = true
			}
		}
	}
	for k, s := range keys {
		if s.last != nil && !s.unclear && s.read && s.final != s.value {
			lost = append(lost, k)
		}
	}
	return lost
}

// TestBeyondTheBudget: on disks that lie or rot, without checksums, rows are
// lost; no run loses one without a check that says so. With no disk left that
// answers, an engine may refuse: that is said too.
func TestBeyondTheBudget(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)
	space := sc.Space
	space.Budget = nil
	space.Kinds = []faults.Kind{
		faults.KindLostSync, faults.KindLostWrite, faults.KindRot, faults.KindMisdirectWrite,
		faults.KindPowerOff, faults.KindKill,
	}
	space.Config = append(space.Config, faults.Dim{Key: "checksums", Values: []string{"off"}})
	const runs = 300
	losses, refusals, silent := 0, 0, 0
	for seed := range uint64(runs) {
		r, err := Run(faults.Swarm(seed, space), Options{})
		require.NoError(t, err)
		lost := lostKeys(r.History)
		switch {
		case len(lost) > 0 && r.Green():
			silent++
			t.Errorf("seed %d: keys %v were lost and no check says so:\n%s", seed, lost, faults.Print(r.Plan))
		case len(lost) > 0:
			losses++
		case !r.Green():
			refusals++
		}
	}
	require.Zero(t, silent)
	require.Positive(t, losses, "no run lost anything: the faults did not strike")
	t.Logf("%d runs: %d lost rows, each reported; %d more were refused or reported", runs, losses, refusals)
}

// TestLostKeysSees: the second opinion is not blind.
func TestLostKeysSees(t *testing.T) {
	h := &checkers.History{Ops: []checkers.Op{
		{ID: 1, Worker: 1, Kind: checkers.Put, Keys: []int64{1}, Values: []uint64{5}, Outcome: checkers.Committed, Call: 1, Return: 2},
		{ID: 2, Worker: 1, Kind: checkers.Put, Keys: []int64{1}, Values: []uint64{6}, Outcome: checkers.Committed, Call: 3, Return: 4},
		{ID: 3, Kind: checkers.Get, Keys: []int64{1}, Results: []uint64{5}, Outcome: checkers.Committed, Call: 5, Return: 6},
	}}
	require.Equal(t, []int64{1}, lostKeys(h))
	h.Ops[2].Results[0] = 6
	require.Empty(t, lostKeys(h))
}
