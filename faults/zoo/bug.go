package zoo

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"tornpage/faults"
)

// Bug is one planted bug.
type Bug struct {
	Name     string
	Required bool     // CI insists that it is caught
	Breaks   string   // the invariant, in words, with the rule's name
	Origin   string   // where such a bug was seen, or "own"
	Hunts    []Hunt   // where it should be caught; seeds take them in turn
	Checks   []string // the checks that may catch it
	Seeds    uint64   // within so many seeds
	Edits    []Edit
}

// Hunt is what is laid over the plans of a scenario to make the bug likely.
type Hunt struct {
	Scenario string
	Params   []faults.KV
	Config   []faults.KV
	Steps    []faults.Step // besides those that the seed draws
}

// Edit is a change of one place in the source.
type Edit struct {
	File     string // below the module's root, with slashes
	Old, New string
}

// Over lays the hunt over a plan: its settings win, its steps are added before
// a closing quiet step, which ends them with all others.
func (h Hunt) Over(p faults.Plan) faults.Plan {
	p.Params = set(p.Params, h.Params)
	p.Config = set(p.Config, h.Config)
	at := len(p.Steps)
	if at > 0 {
		if _, quiet := p.Steps[at-1].Action.(faults.Quiet); quiet {
			at--
		}
	}
	p.Steps = slices.Insert(slices.Clone(p.Steps), at, h.Steps...)
	return p
}

func set(kvs, over []faults.KV) []faults.KV {
	kvs = slices.Clone(kvs)
	for _, o := range over {
		i := slices.IndexFunc(kvs, func(kv faults.KV) bool { return kv.Key == o.Key })
		if i < 0 {
			kvs = append(kvs, o)
		} else {
			kvs[i] = o
		}
	}
	return kvs
}

// Plan lays the hunt whose turn it is over the plan that draw makes of a seed.
func (b Bug) Plan(seed uint64, draw func(scenario string, seed uint64) (faults.Plan, error)) (faults.Plan, error) {
	h := b.Hunts[seed%uint64(len(b.Hunts))]
	p, err := draw(h.Scenario, seed)
	return h.Over(p), err
}

// check says what is missing.
func (b Bug) check() error {
	var missing []string
	for _, f := range []struct {
		name string
		ok   bool
	}{
		{"bug", b.Name != ""}, {"breaks", b.Breaks != ""}, {"origin", b.Origin != ""}, {"scenario", len(b.Hunts) > 0},
		{"checks", len(b.Checks) > 0}, {"seeds", b.Seeds > 0}, {"edit", len(b.Edits) > 0},
	} {
		if !f.ok {
			missing = append(missing, f.name)
		}
	}
	if missing != nil {
		return fmt.Errorf("no line with %s", strings.Join(missing, ", "))
	}
	return nil
}

//go:embed bugs/*.bug
var files embed.FS

// All are the bugs of this package, the required ones first, then by name.
func All() ([]Bug, error) {
	names, err := fs.Glob(files, "bugs/*.bug")
	if err != nil {
		return nil, err
	}
	var all []Bug
	var errs []error
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		b, err := Parse(name, string(text))
		if err == nil && b.Name != strings.TrimSuffix(path.Base(name), ".bug") {
			err = fmt.Errorf("%s: the bug is named %q; give file and bug one name", name, b.Name)
		}
		all = append(all, b)
		errs = append(errs, err)
	}
	slices.SortStableFunc(all, func(a, b Bug) int {
		switch {
		case a.Required == b.Required:
			return strings.Compare(a.Name, b.Name)
		case a.Required:
			return -1
		}
		return 1
	})
	return all, errors.Join(errs...)
}

// Named is the bug of that name.
func Named(bugs []Bug, name string) (Bug, error) {
	for _, b := range bugs {
		if b.Name == name {
			return b, nil
		}
	}
	return Bug{}, fmt.Errorf("no bug is named %q", name)
}
