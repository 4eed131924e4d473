package tree

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"tornpage/cmd/tornvet/forbid"
)

// Vet applies package forbid to the packages that the go command finds for the
// patterns in dir, and reports what it finds (T6). It reports packages that do
// not type-check, and a pattern that matches none, instead of passing them by.
func Vet(dir string, patterns ...string) ([]string, error) {
	top, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	var all []*packages.Package
	for _, pattern := range patterns {
		// Dependencies come as export data from the build cache; only the
		// matched packages are type-checked from source.
		pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: top}, pattern)
		if err != nil {
			return nil, fmt.Errorf("loading %s: %w", pattern, err)
		}
		if len(pkgs) == 0 {
			found = append(found, fmt.Sprintf("%s matches no package, so nothing was looked at", pattern))
		}
		for _, pkg := range pkgs {
			if len(pkg.Errors) > 0 {
				found = append(found, fmt.Sprintf("%s does not type-check, so nothing is known of it: %s", pkg.PkgPath, relative(top, worst(pkg.Errors).Error())))
				continue
			}
			all = append(all, pkg)
		}
	}
	if len(all) == 0 {
		return found, nil
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{forbid.Analyzer}, all, nil)
	if err != nil {
		return nil, err
	}
	for _, act := range graph.Roots {
		if act.Err != nil {
			found = append(found, fmt.Sprintf("%s could not be looked at: %v", act.Package.PkgPath, act.Err))
		}
		for _, d := range act.Diagnostics {
			found = append(found, relative(top, fmt.Sprintf("%s: %s", act.Package.Fset.Position(d.Pos), d.Message)))
		}
	}
	slices.Sort(found)
	return found, nil
}

// worst picks the error to show: the go command's own have no position, and
// often repeat what the type checker says with one.
func worst(errs []packages.Error) packages.Error {
	for _, e := range errs {
		if e.Kind == packages.TypeError || e.Kind == packages.ParseError {
			return e
		}
	}
	return errs[0]
}

// relative shortens a message that starts with a file below top.
func relative(top, message string) string {
	return strings.TrimPrefix(message, top+string(filepath.Separator))
}
