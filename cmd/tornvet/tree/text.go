package tree

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// layout is rule T4: all that the top level may hold.
var layout = []string{
	".ci", ".gitignore", "LICENSE", "NOTES.md", "README.md", "checkers", "cmd", "engine",
	"experiments", "faults", "go.mod", "go.sum", "model", "sim",
}

// Layout reports entries of the top level that the design does not name.
func (t *Tree) Layout() []string {
	var found []string
	for _, name := range t.Top {
		if !slices.Contains(layout, name) {
			found = append(found, fmt.Sprintf("%s: the top level holds only %s; move it below one of them", name, strings.Join(layout, " ")))
		}
	}
	return found
}

// Docs reports packages without a package comment (T3). Folders with tests alone
// have no package to document.
func (t *Tree) Docs() []string {
	type state struct {
		name string
		good bool
	}
	packages := map[string]*state{}
	var dirs []string // in the order of the walk
	for _, f := range t.Go {
		if f.Test {
			continue
		}
		if packages[f.Dir] == nil {
			packages[f.Dir] = &state{name: f.AST.Name.Name}
			dirs = append(dirs, f.Dir)
		}
		want := "Package " + f.AST.Name.Name + " "
		if f.AST.Name.Name == "main" {
			want = "Command " + path.Base(f.Dir) + " "
		}
		if f.AST.Doc != nil && strings.HasPrefix(f.AST.Doc.Text(), want) {
			packages[f.Dir].good = true
		}
	}
	var found []string
	for _, dir := range dirs {
		if p := packages[dir]; !p.good {
			found = append(found, fmt.Sprintf("%s: package %s has no package comment that starts with its name; write doc.go", dir, p.name))
		}
	}
	return found
}

// The patterns of T5 are put together from parts, so that this file does not
// hold what it looks for.
var (
	machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.\-/])/(work|root|home|tmp/` + `briefs)(/|\b)`)
	proxyHost   = regexp.MustCompile(`(?i)(://[^/\s"'` + "`" + `]*proxy|\bproxy\.golang)`)
	unfinished  = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
)

// Words reports text that T5 forbids.
func (t *Tree) Words() []string {
	var found []string
	for _, p := range t.Paths {
		if bytes.IndexByte(t.Text[p], 0) >= 0 {
			continue // no text
		}
		for i, line := range bytes.Split(t.Text[p], []byte("\n")) {
			say := func(re *regexp.Regexp, what string) {
				if hit := re.Find(line); hit != nil {
					found = append(found, fmt.Sprintf("%s:%d: %q %s", p, i+1, bytes.TrimSpace(hit), what))
				}
			}
			say(machinePath, "is a path of one machine; a checkout works anywhere")
			say(proxyHost, "is a proxy of one network; leave it to the environment")
			if path.Ext(p) == ".go" {
				say(unfinished, "marks unfinished work; finish it, or say in NOTES.md what is not there")
			}
		}
	}
	return found
}
