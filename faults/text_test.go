package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/faults"
	"tornpage/faults/plangen"
)

// Plans and their one canonical text, or the error with its place.
func TestText(t *testing.T) {
	datadriven.Walk(t, "testdata/text", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := d.Input
			switch d.Cmd {
			case "parse":
				// A whole plan.
			case "step":
				// The lines below the head; places count from its first.
				input = "tornpage plan 1\nscenario s\nseed 1\n" + input
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			p, err := faults.Parse("p", input)
			if err != nil {
				return err.Error()
			}
			text := faults.Print(p)
			again, err := faults.Parse("printed", text)
			require.NoError(t, err)
			require.Equal(t, p, again)
			if d.Cmd == "step" {
				_, text, _ = strings.Cut(text, "seed      1\n")
			}
			return text
		})
	})
}

func TestPrintedPlansParseToThemselves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := plangen.Any().Draw(t, "plan")
		require.NoError(t, p.Check())
		text := faults.Print(p)
		again, err := faults.Parse("plan.txt", text)
		require.NoError(t, err, text)
		require.Equal(t, p, again)
		require.Equal(t, text, faults.Print(again))
	})
}

func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/text/*")
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, chunk := range strings.Split(string(b), "\n\n") {
			_, chunk, _ = strings.Cut(chunk, "\n")
			body, _, _ := strings.Cut(chunk, "----")
			f.Add(body)
			f.Add("tornpage plan 1\nscenario s\nseed 1\n" + body)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := faults.Parse("fuzz", text)
		if err != nil {
			var syntax *faults.SyntaxError
			require.ErrorAs(t, err, &syntax)
			require.Positive(t, syntax.Line)
			require.Positive(t, syntax.Col)
			require.Less(t, len(syntax.Error()), 2_000, "errors stay readable")
			return
		}
		printed := faults.Print(p)
		again, err := faults.Parse("printed", printed)
		require.NoError(t, err, printed)
		require.Equal(t, p, again)
		require.Equal(t, printed, faults.Print(again))
		faults.Within(p, faults.QuorumBudget())
		p.QuietAt()
	})
}

func TestLimits(t *testing.T) {
	_, err := faults.Parse("p", strings.Repeat("#", faults.MaxText+1))
	require.EqualError(t, err, "p:1:1: the text has 1048577 bytes, above the limit of 1048576")

	head := "tornpage plan 1\nscenario s\nseed 1\n"
	_, err = faults.Parse("p", head+strings.Repeat("at 1s quiet\n", faults.MaxSteps+1))
	require.EqualError(t, err, "p:10004:1: step 10001 is above the limit of 10000 steps")

	p, err := faults.Parse("p", head+strings.Repeat("at 1s quiet\n", faults.MaxSteps))
	require.NoError(t, err)
	require.Len(t, p.Steps, faults.MaxSteps)

	// Short text whose canonical form would not be read back.
	_, err = faults.Parse("p", head+strings.Repeat("#\n", 1000)+strings.Repeat("at 0s for 1s kill "+strings.Repeat("h", 83)+"\n", faults.MaxSteps))
	require.ErrorContains(t, err, "above the limit of 1048576")
}

// What cannot be printed so that it parses is refused by Check.
func TestCheckRefuses(t *testing.T) {
	good := faults.Plan{Scenario: "s", Steps: []faults.Step{{Action: faults.Kill{Host: "db"}}}}
	require.NoError(t, good.Check())
	step := func(s faults.Step) faults.Plan { return good.WithSteps([]faults.Step{s}) }
	ends := faults.Ends{From: faults.HostEnd("a"), To: faults.HostEnd("b")}
	disk := faults.DiskName{Machine: "m", Disk: "d"}
	for want, p := range map[string]faults.Plan{
		`scenario: the name is missing`:                 {},
		`value of "k" is empty`:                         {Scenario: "s", Config: []faults.KV{{Key: "k"}}},
		`value of "k" has the character ' '`:            {Scenario: "s", Config: []faults.KV{{Key: "k", Value: "a b"}}},
		`key "k" is given twice`:                        {Scenario: "s", Params: []faults.KV{{Key: "k", Value: "1"}, {Key: "k", Value: "2"}}},
		`must be one line`:                              {Scenario: "s", Comment: []string{"a\nb"}},
		`foreign type: <nil>`:                           step(faults.Step{}),
		`foreign type: *faults.Kill`:                    step(faults.Step{Action: &faults.Kill{Host: "a"}}),
		`takes no "for"`:                                step(faults.Step{Action: faults.Boot{Name: "a"}, For: 1}),
		`events are counted from 1`:                     step(faults.Step{Trigger: faults.OnEvent(0), Action: faults.Quiet{}}),
		`marks are counted from 1`:                      step(faults.Step{Trigger: faults.OnMark(0, "m", ""), Action: faults.Quiet{}}),
		`fields set that its kind does not use`:         step(faults.Step{Trigger: faults.Trigger{Event: 3}, Action: faults.Quiet{}}),
		`must not be negative`:                          step(faults.Step{Trigger: faults.At(-1), Action: faults.Quiet{}}),
		`both ends are "a"`:                             step(faults.Step{Action: faults.Cut{Ends: faults.Ends{From: ends.From, To: ends.From}}}),
		`a host named "zone"`:                           step(faults.Step{Action: faults.Cut{Ends: faults.Ends{From: faults.HostEnd("zone"), To: ends.To}}}),
		`no fault is given; want one of drop`:           step(faults.Step{Action: faults.Link{Ends: ends}}),
		`drop: rate 100.0001% is above`:                 step(faults.Step{Action: faults.Link{Ends: ends, Faults: faults.LinkFaults{Drop: faults.Million + 1}}}),
		`delay: time -1ns is out of range`:              step(faults.Step{Action: faults.Link{Ends: ends, Faults: faults.LinkFaults{Delay: -1}}}),
		`slow: factor 1x is not within 2x and 1000000x`: step(faults.Step{Action: faults.Disk{Disk: disk, Faults: faults.DiskFaults{Slow: 1}}}),
		`the count of syncs is 0`:                       step(faults.Step{Action: faults.FailSync{Disk: disk}}),
		`the count of sectors is 0`:                     step(faults.Step{Action: faults.Rot{Disk: disk}}),
		`drift -1000000ppm`:                             step(faults.Step{Action: faults.Clock{Name: "a", Drift: -1_000_000}}),
		`disk: "a/b" has a slash`:                       step(faults.Step{Action: faults.Lose{Disk: faults.DiskName{Machine: "m", Disk: "a/b"}}}),
	} {
		require.ErrorContains(t, p.Check(), want)
	}
}

// A fault added to a struct must be added to parser, printer and merge too:
// they all walk one list, which has as many entries as the structs have fields.
func TestEveryFaultFieldIsKnownToTheText(t *testing.T) {
	ends := faults.Ends{From: faults.HostEnd("a"), To: faults.HostEnd("b")}
	for _, tc := range []struct {
		faults reflect.Type
		action func(reflect.Value) faults.Action
	}{
		{reflect.TypeFor[faults.LinkFaults](), func(v reflect.Value) faults.Action {
			return faults.Link{Ends: ends, Faults: v.Interface().(faults.LinkFaults)}
		}},
		{reflect.TypeFor[faults.DiskFaults](), func(v reflect.Value) faults.Action {
			return faults.Disk{Disk: faults.DiskName{Machine: "m", Disk: "d"}, Faults: v.Interface().(faults.DiskFaults)}
		}},
	} {
		for i := range tc.faults.NumField() {
			v := reflect.New(tc.faults).Elem()
			switch f := v.Field(i); f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int64:
				f.SetInt(2)
			default:
				f.SetUint(2)
			}
			a := tc.action(v)
			require.Len(t, a.Kinds(), 1, "%s.%s", tc.faults, tc.faults.Field(i).Name)
			p, err := faults.Parse("p", fmt.Sprintf("tornpage plan 1\nscenario s\nseed 1\nat 1s %s\n", a))
			require.NoError(t, err)
			require.Equal(t, a, p.Steps[0].Action)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, k := range faults.Kinds() {
		require.NotEmpty(t, k.String())
		require.False(t, seen[k.String()], "%s twice", k)
		seen[k.String()] = true
		back, err := faults.ParseKind(k.String())
		require.NoError(t, err)
		require.Equal(t, k, back)
		require.Contains(t, string(doc), "//	"+k.String()+" ", "the fault table of doc.go has every kind")
	}
	_, err = faults.ParseKind("lost-wrte")
	require.EqualError(t, err, `unknown kind of fault "lost-wrte"; did you mean "lost-write"?`)
}
