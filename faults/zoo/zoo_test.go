package zoo

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBugsCompile: every bug file parses, every old text matches once within a
// function, and the one overlay of all edits type-checks (rules Z1, Z2).
func TestBugsCompile(t *testing.T) {
	bugs, err := All()
	require.NoError(t, err)
	root, err := Root(".")
	require.NoError(t, err)
	required := 0
	for _, b := range bugs {
		if b.Required {
			required++
		}
	}
	require.GreaterOrEqual(t, required, 9)
	require.NoError(t, Go(root, bugs, t.TempDir(), "build", "./engine/..."))
}

// example is a file with the shapes of functions that dispatchers must hand on.
const example = `package p

import "fmt"

type T struct{ n int }

// Add adds.
func (t *T) Add(a, _ int, _ string, more ...int) (sum int, err error) {
	sum = a + t.n
	for _, m := range more {
		sum += m
	}
	return sum, nil
}

func quiet(func(int) error) { fmt.Println("quiet") }
`

func TestRewrite(t *testing.T) {
	r, err := newRewriter("p.go", example)
	require.NoError(t, err)
	require.NoError(t, r.plant(1, Edit{"p.go", "\tsum = a + t.n", "\tsum = a - t.n"}))
	require.NoError(t, r.plant(1, Edit{"p.go", "sum += m", "sum -= m"}))
	require.NoError(t, r.plant(2, Edit{"p.go", "sum += m", "sum *= m"}))
	require.NoError(t, r.plant(3, Edit{"p.go", `fmt.Println("quiet")`, `fmt.Println("loud")`}))
	got := r.result()
	require.Contains(t, got, `package p; import zooPlanted "tornpage/engine/planted"`)
	require.Contains(t, got, `func (zooR *T) Add(zooA0 int, zooA1 int, zooA2 string, zooA3 ...int) (sum int, err error) {
	switch zooPlanted.Bug {
	case 1:
		return zooR.zoo1_Add(zooA0, zooA1, zooA2, zooA3...)
	case 2:
		return zooR.zoo2_Add(zooA0, zooA1, zooA2, zooA3...)
	}
	return zooR.zoo0_Add(zooA0, zooA1, zooA2, zooA3...)
}`)
	require.Contains(t, got, `func quiet(zooA0 func(int) error) {
	switch zooPlanted.Bug {
	case 3:
		zoo3_quiet(zooA0)
		return
	}
	zoo0_quiet(zooA0)
}`)
	// Each copy has its own edits and no others'.
	_, first, _ := strings.Cut(got, "func (t *T) zoo1_Add")
	first, second, _ := strings.Cut(first, "func (t *T) zoo2_Add")
	require.Contains(t, first, "a - t.n")
	require.Contains(t, first, "sum -= m")
	require.Contains(t, second, "a + t.n")
	require.Contains(t, second, "sum *= m")
	// What was there stays on its line.
	require.Equal(t, 15, strings.Count(got[:strings.Index(got, "zoo0_quiet")], "\n"))
}

func TestPlantRefuses(t *testing.T) {
	for old, want := range map[string]string{
		"sum":                "occurs 4 times",
		"nowhere":            "occurs 0 times",
		"type T struct":      "does not lie within",
		"func quiet(func(in": "does not lie within",
	} {
		r, err := newRewriter("p.go", example)
		require.NoError(t, err)
		require.ErrorContains(t, r.plant(1, Edit{"p.go", old, ""}), want)
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := os.ReadFile("bugs/ack-before-sync.bug")
	require.NoError(t, err)
	change := func(old, text string) string { return strings.Replace(string(good), old, text, 1) }
	for _, c := range []struct{ text, want string }{
		{"", "no line with bug, breaks, origin, scenario, checks, seeds, edit"},
		{change("checks", "cheques"), `"cheques" is no word`},
		{change("seeds     60", "seeds 0"), "want a number from 1"},
		{change("scenario  local/register", "scenario  local/register x"), "two more lines"},
		{change("edit engine/local", "edit sim/local"), "want a Go file under engine/"},
		{change("edit engine/local", "edit engine/../local"), "want a Go file under engine/"},
		{change("<<<<", "<<<"), `want "<<<<"`},
		{change(">>>>", ""), `ends before ">>>>"`},
		{"config a=1\n", "before any scenario"},
	} {
		_, err := Parse("x.bug", c.text)
		require.ErrorContains(t, err, c.want, "%s", c.text)
	}
	_, err = Parse("x.bug", string(good))
	require.NoError(t, err)
}

func FuzzParse(f *testing.F) {
	good, err := os.ReadFile("bugs/ack-before-sync.bug")
	require.NoError(f, err)
	f.Add(string(good))
	f.Add("bug x\nscenario a/b k=v\nafter 3 m for 5ms kill db\nedit engine/a.go\n<<<<\n====\n>>>>\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Parse("x.bug", text)
		if err == nil {
			require.NoError(t, b.check())
		}
	})
}

// TestEstimate: the intervals are those of the binomial table.
func TestEstimate(t *testing.T) {
	s := Score{}
	for _, n := range []uint64{9, 2, 5, 1, 7, 30} {
		s.Trials = append(s.Trials, Trial{Seeds: n, Found: Sighting{Kind: Caught}})
	}
	e := s.Estimate()
	require.Equal(t, "7 [1, 30] 97%", e.String()) // 1 - 2/2^6
	s.Trials = append(s.Trials, Trial{Seeds: 50, Found: Sighting{Kind: Green}})
	e = s.Estimate()
	require.Equal(t, "7 [1, >50] 98%", e.String())
	require.Equal(t, 1, s.Escaped())
	for range 2 {
		s.Trials = append(s.Trials, Trial{Seeds: 50, Found: Sighting{Kind: Green}})
	}
	// Of nine, the second smallest and largest: 1 - 2 (1+9)/2^9.
	e = s.Estimate()
	require.Equal(t, "9 [2, >50] 96%", e.String())
}
