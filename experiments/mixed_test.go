package experiments

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/row"
	"tornpage/faults"
)

func TestLocalMixed(t *testing.T) { tables(t, "local/mixed") }

func TestLocalBank(t *testing.T) { tables(t, "local/bank") }

func TestLocalTPCB(t *testing.T) { tables(t, "local/tpcb") }

// tables runs a few seeds of a load on tables. Which marks a set reaches is for
// hunts, which are longer.
func tables(t *testing.T, name string) {
	sc, err := Find(name)
	require.NoError(t, err)
	var c checkers.Checker
	for seed := range uint64(5) {
		r, err := Run(sc.Plan(seed), Options{Checker: &c})
		require.NoError(t, err)
		requireGreen(t, r)
		i := indexOf(r.Verdicts, "integrity")
		require.Equal(t, checkers.Holds, r.Verdicts[i].Result)
		require.Positive(t, r.Marks["btree.split"], "seed %d", seed)
	}
}

func indexOf(verdicts []checkers.Verdict, check string) int {
	for i, v := range verdicts {
		if v.Check == check {
			return i
		}
	}
	return -1
}

const mixedCalm = `tornpage plan 1
scenario local/mixed clients=4 keys=48 group=8 ops=400 think=5ms writes=70
config value.bytes=200 heap.lines=8
seed 3
at 899ms for 100us pause db
at 900ms quiet
`

// TestMixedDoesEverything: even with no fault but a pause, a run has operations of every kind,
// some of them without effect, and reaches what the load is made for.
func TestMixedDoesEverything(t *testing.T) {
	p, err := faults.Parse("plan", mixedCalm)
	require.NoError(t, err)
	r, err := Run(p, Options{})
	require.NoError(t, err)
	requireGreen(t, r)

	type seen struct {
		kind    checkers.Kind
		outcome checkers.Outcome
	}
	count := map[seen]int{}
	swapped, refused, deleted, shown := 0, 0, 0, 0
	for i := range r.History.Ops {
		o := &r.History.Ops[i]
		count[seen{o.Kind, o.Outcome}]++
		if o.Outcome != checkers.Committed {
			continue
		}
		require.NotZero(t, o.Token, "%+v", o)
		switch {
		case o.Kind == checkers.CAS && o.OK:
			swapped++
		case o.Kind == checkers.CAS:
			refused++
		}
		for _, v := range o.Values {
			if v == 0 {
				deleted++
			}
		}
		for _, v := range o.Results {
			if v != 0 {
				shown++
			}
		}
	}
	for _, s := range []seen{
		{checkers.Get, checkers.Committed}, {checkers.MultiGet, checkers.Committed}, {checkers.Put, checkers.Committed},
		{checkers.MultiPut, checkers.Committed}, {checkers.CAS, checkers.Committed},
		{checkers.Put, checkers.Aborted}, {checkers.MultiPut, checkers.Aborted}, // undone to a savepoint, rolled back
	} {
		require.Positive(t, count[s], "%+v", s)
	}
	require.Positive(t, swapped)
	require.Positive(t, refused)
	require.Positive(t, deleted)
	require.Positive(t, shown)
	for _, m := range []string{"btree.page-deleted", "heap.hot-update", "heap.cross-page-update", "txn.rolled-back-to-savepoint",
		"txn.deadlock", "compute.index-created", "compute.table-dropped", "table.waited-for-key"} {
		require.Positive(t, r.Marks[m], m)
	}
}

// mixerAlone is a client without a world.
func mixerAlone(t *testing.T) *mixer {
	p, err := faults.Parse("plan", mixedCalm)
	require.NoError(t, err)
	s, err := parse(p)
	require.NoError(t, err)
	l := &mixedLoad{x: &run{s: s, rec: &Recorder{}}}
	return l.one()
}

// TestMixedRowsAreHeldToTheirValue: whatever of a row is not as its writer made
// it, the row is damaged.
func TestMixedRowsAreHeldToTheirValue(t *testing.T) {
	c := mixerAlone(t)
	good := func(k int64, v uint64) []row.Value {
		value, pad := c.columns(v)
		return []row.Value{row.NewInt8(k), row.NewInt4(int32(k / c.s.Group)), value, pad}
	}
	for _, v := range []uint64{0, 1, 77, 1 << 40} {
		k, held := c.value(good(9, v))
		require.EqualValues(t, 9, k)
		require.Equal(t, v, held)
	}
	require.Empty(t, c.l.findings)
	require.NotEmpty(t, good(9, 6)[mixedPad].B)

	bad := [][]row.Value{
		nil,
		good(48, 6), // beyond the keys
		good(9, 6)[:3],
	}
	for column, v := range map[int]row.Value{
		mixedK: row.NewInt8(17), mixedGrp: row.NewInt4(4), mixedV: row.NewInt8(7), mixedPad: row.NewText("?"),
	} {
		b := good(9, 6)
		b[column] = v
		bad = append(bad, b)
	}
	noValue := good(9, 6)
	noValue[mixedV] = row.Null()
	for i, b := range append(bad, noValue) {
		_, held := c.value(b)
		require.Equal(t, damaged, held, "%v", b)
		require.Len(t, c.l.findings, i+1)
	}
	require.Equal(t, checkers.Broken, c.l.verdict(nil).Result)
}

// TestMixedComparesWays: each way to a table's rows that gives others than the
// heap is a finding.
func TestMixedComparesWays(t *testing.T) {
	c := mixerAlone(t)
	ways := make([]db.Stmt, 4)
	ways[1].Index, ways[2].Index, ways[3].Index = mixedByGroup, mixedByValue, mixedByPair
	rows := []entry{{1, 10}, {2, 20}}
	c.sameRows(ways, [][]entry{rows, rows, rows[:1], {{1, 10}, {2, 21}}}, 0x500)
	require.Len(t, c.l.findings, 2)
	require.Contains(t, c.l.findings[0], `index "kv_v" finds 1; the first difference is key 2 with value 20 against no row`)
	require.Contains(t, c.l.findings[1], "key 2 with value 20 against key 2 with value 21")

	c.l.findings = nil
	pair := ways[3]
	up, down := []entry{{7, 1}, {0, 2}, {15, 3}, {8, 4}}, []entry{{8, 4}, {15, 3}, {0, 2}, {7, 1}}
	c.ordered(pair, up)
	pair.Desc = true
	c.ordered(pair, down)
	require.Empty(t, c.l.findings)
	c.ordered(pair, up)
	require.Len(t, c.l.findings, 3)
	require.Equal(t, []uint64{4, 0}, c.spread("", []int64{8, 9}, []entry{{8, 4}}))
	require.Equal(t, []uint64{4, 0}, c.spread("", []int64{8, 9}, []entry{{8, 4}, {8, 5}, {10, 6}}))
	require.Len(t, c.l.findings, 5)
}
