package experiments

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/engine/page"
	"tornpage/faults"
)

func demoOf(t *testing.T, opt DemoOptions) (string, bool) {
	t.Helper()
	var b bytes.Buffer
	ok, err := Demo(&b, opt)
	require.NoError(t, err)
	return b.String(), ok
}

func TestDemoText(t *testing.T) {
	datadriven.RunTest(t, "testdata/demo.golden", func(t *testing.T, d *datadriven.TestData) string {
		var seed uint64
		d.ScanArgs(t, "seed", &seed)
		require.Equal(t, DemoSeed, seed)
		text, ok := demoOf(t, DemoOptions{Seed: seed})
		require.True(t, ok)
		return text
	})
}

var ansi = regexp.MustCompile("\x1b\\[[0-9]*m")

func TestDemoTextFits(t *testing.T) {
	for _, seed := range []uint64{DemoSeed, DemoSeed + 1} {
		plain, _ := demoOf(t, DemoOptions{Seed: seed})
		for _, line := range strings.Split(plain, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), demoWidth, line)
		}
		coloured, _ := demoOf(t, DemoOptions{Seed: seed, Color: true})
		require.NotEqual(t, plain, coloured)
		require.Equal(t, plain, ansi.ReplaceAllString(coloured, ""), "colours add nothing to the words")
	}
}

// TestDemoClasses holds each setting against what the real server did, over
// seeds; of these some tear no page at all.
func TestDemoClasses(t *testing.T) {
	may := [len(demoSettings)][]Class{
		append(realServer[0].classes(), NoTear),
		append(realServer[2].classes(), NoTear),
		append(realServer[3].classes(), NoTear),
		{Safe}, // not measured there
	}
	var seen [len(demoSettings)]map[Class]int
	for i := range seen {
		seen[i] = map[Class]int{}
	}
	for seed := range uint64(20) {
		var first []int64
		for i := range demoSettings {
			s := &demoSettings[i]
			r, perPage, err := runSetting(s, seed)
			require.NoError(t, err)
			d := s.judge(r, perPage)
			at := fmt.Sprintf("seed %d, run %d", seed, i+1)
			require.Contains(t, may[i], d.Class, at)
			seen[i][d.Class]++
			switch i {
			case 0:
				first = r.torn()
				require.Positive(t, d.Logged, at)
			case 1, 2:
				require.Equal(t, first, r.torn(), "%s: the same pages tear", at)
				require.Zero(t, d.Logged, at)
			case 3:
				require.Empty(t, r.torn(), at)
			}
			requireConsistent(t, r, &d, at)
		}
	}
	for i, s := range demoSettings {
		require.Positive(t, seen[i][s.expected], "run %d never ended as %s: %v", i+1, s.expected, seen[i])
	}
}

// classes are those in which trials on the real server ended. Pages made after
// the checkpoint are left out: the demo has none.
func (r *RealTrials) classes() (all []Class) {
	for _, c := range []struct {
		n int
		Class
	}{{r.Repaired, Repaired}, {r.Silent, Silent}, {r.Latent, Latent}, {r.Undamaged, Undamaged}, {r.Refused, Refused}} {
		if c.n > 0 {
			all = append(all, c.Class)
		}
	}
	return all
}

// requireConsistent holds the classes against checkers and pages, which know
// nothing of them.
func requireConsistent(t *testing.T, r *tornRun, d *DemoRun, at string) {
	t.Helper()
	require.Equal(t, d.Class != Silent && d.Class != Refused, r.Green(), at)
	torn := map[int64]bool{}
	for _, p := range d.Torn {
		torn[p.Block] = true
		require.True(t, strings.ContainsAny(p.Sectors, "Nb") && strings.ContainsAny(p.Sectors, "ob"),
			"%s: block %d, %s, is no mixture", at, p.Block, p.Sectors)
	}
	for _, w := range append(d.Wrong, d.Latent...) {
		require.True(t, torn[w.Block], "%s: key %d is wrong on block %d, which was not torn", at, w.Key, w.Block)
	}
	switch d.Class {
	case Silent:
		require.NotZero(t, len(d.Wrong), at)
	case Refused:
		require.Empty(t, r.read, at)
		block, err := strconv.ParseInt(d.Recovery.Block, 10, 64)
		require.NoError(t, err, at)
		require.True(t, torn[block], "%s: block %d was refused", at, block)
		require.Equal(t, r.file, d.Recovery.File, at)
		require.Equal(t, r.cut.page(block).LSN().String(), d.Recovery.LSN, at)
	default:
		require.Empty(t, d.Wrong, at)
		for b := range r.loaded {
			want, got := r.loaded.page(int64(b)), r.read.page(int64(b))
			require.Equal(t, want[page.HeaderSize:], got[page.HeaderSize:], "%s: block %d after recovery", at, b)
		}
	}
}

// TestDemoReplays runs the plans that the replay lines name, without the demo's
// instruments.
func TestDemoReplays(t *testing.T) {
	r, err := NewDemoReport(DemoSeed)
	require.NoError(t, err)
	for i, d := range r.Runs {
		words := strings.Fields(d.Replay)
		require.Equal(t, []string{"tornpage", "run", demoName, "--seed", strconv.FormatUint(DemoSeed, 10)}, words[:5])
		sc, err := Find(words[2])
		require.NoError(t, err)
		p := sc.Plan(DemoSeed)
		for words = words[5:]; len(words) > 0; words = words[2:] {
			require.Equal(t, "--set", words[0])
			key, value, _ := strings.Cut(words[1], "=")
			p, err = Set(p, key, value)
			require.NoError(t, err)
		}
		require.Equal(t, d.Plan, faults.Print(p), "run %d", i+1)
		again, err := Run(p, Options{})
		require.NoError(t, err)
		require.Equal(t, d.Hash, fmt.Sprintf("%016x", again.Hash), "run %d", i+1)
		require.Len(t, again.Verdicts, len(d.Verdicts))
		for j, v := range again.Verdicts {
			require.Equal(t, d.Verdicts[j], DemoVerdict{v.Check, v.Result.String(), v.What})
		}
	}
}

func TestDemoJSON(t *testing.T) {
	text, ok := demoOf(t, DemoOptions{Seed: DemoSeed, JSON: true})
	require.True(t, ok)
	var r struct {
		Seed uint64
		OK   bool
		Runs []struct {
			Class string
			Plan  string
			Torn  []DemoPage `json:"torn_pages"`
			Wrong []struct {
				Key             int64
				Committed, Read any
				Damage          string
			} `json:"wrong_rows"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.Equal(t, DemoSeed, r.Seed)
	require.True(t, r.OK)
	require.Len(t, r.Runs, len(demoSettings))
	for i, d := range r.Runs {
		require.Equal(t, string(demoSettings[i].expected), d.Class)
		_, err := faults.Parse("plan of the report", d.Plan)
		require.NoError(t, err)
	}
	require.NotEmpty(t, r.Runs[1].Torn)
	for _, w := range r.Runs[1].Wrong {
		require.NotEqual(t, w.Committed, w.Read, "key %d", w.Key)
	}
}

// TestDemoWithoutTear: where the disk tears nothing, the demo says so, is not
// ok, and names a seed that does.
func TestDemoWithoutTear(t *testing.T) {
	for seed := range uint64(20) {
		r, err := NewDemoReport(seed)
		require.NoError(t, err)
		if len(r.Runs[1].Torn) > 0 {
			continue
		}
		require.False(t, r.OK)
		require.NotNil(t, r.NextSeed)
		next, _, err := runSetting(&demoSettings[1], *r.NextSeed)
		require.NoError(t, err)
		require.NotEmpty(t, next.torn())
		require.Contains(t, r.text(false), fmt.Sprintf("tornpage demo --seed %d", *r.NextSeed))
		return
	}
	t.Fatal("every seed tears a page: the disk draws no crash that keeps all, nothing or a prefix")
}

func TestDemoRowDamage(t *testing.T) {
	for _, c := range []struct {
		committed, read uint64
		versions        []DemoValue
		state           checkers.Outcome
		damage          string
	}{
		{7, 7, []DemoValue{7}, checkers.Committed, ""},
		{0, 0, nil, checkers.Committed, ""},
		{7, 3, []DemoValue{3}, checkers.Committed, damageOld},
		{7, 3, []DemoValue{3, 7}, checkers.Committed, damageBoth},
		{7, 7, []DemoValue{7, 3}, checkers.Committed, damageLatent},
		{7, 0, nil, checkers.Committed, damageLost},
		{0, 3, []DemoValue{3}, checkers.Committed, damageRisen},
		{7, damaged, []DemoValue{DemoValue(damaged)}, checkers.Committed, damageMixed},
		{7, 0, nil, checkers.Aborted, damageRefused},
	} {
		r := DemoRow{Committed: DemoValue(c.committed), Read: DemoValue(c.read), Versions: c.versions}
		r.judge(&truth{state: c.state})
		require.Equal(t, c.damage, r.Damage, "%+v", c)
	}
}

// TestRealServer adds the trials up again.
func TestRealServer(t *testing.T) {
	f, err := os.Open("testdata/demo_postgres.csv")
	require.NoError(t, err)
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+342)
	col := map[string]int{}
	for i, name := range lines[0] {
		col[name] = i
	}
	type setting struct{ fpw, sums bool }
	counts := map[setting]*RealTrials{}
	for _, l := range lines[1:] {
		get := func(name string) string { return l[col[name]] }
		if get("start_option") != "none" || get("workload") == "hint" || get("workload") == "lost_after_checkpoint" {
			continue
		}
		s := setting{get("full_page_writes") == "on", get("data_checksums") == "on"}
		if counts[s] == nil {
			counts[s] = &RealTrials{FullPageWrites: s.fpw, Checksums: s.sums}
		}
		counts[s].count(t, get("outcome"), !s.fpw && !s.sums && get("target") == "t", get("tear"))
	}
	require.Len(t, counts, len(realServer))
	for _, want := range realServer {
		require.Equal(t, want, *counts[setting{want.FullPageWrites, want.Checksums}])
	}
}

func (r *RealTrials) count(t *testing.T, outcome string, plainHeap bool, tear string) {
	r.Trials++
	switch outcome {
	case "repaired_by_fpi":
		r.Repaired++
	case "silent_wrong_result":
		r.Silent++
	case "latent_damage_results_right_amcheck_fails":
		r.Latent++
	case "no_damage":
		r.Undamaged++
	case "no_damage_page_created_after_checkpoint":
		r.NewPage++
	case "detected_server_refuses_to_start":
		r.Refused++
	default:
		t.Fatalf("outcome %q is not counted", outcome)
	}
	if !plainHeap {
		return
	}
	switch tear {
	case "new_first4K_old_last4K":
		r.HeapNewTrials++
		if outcome == "silent_wrong_result" {
			r.HeapNewFirst++
		}
	case "old_first4K_new_last4K":
		r.HeapOldTrials++
		if outcome == "no_damage" {
			r.HeapOldFirst++
		}
	}
}
