package tree

import (
	"bytes"
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// The limits of T2, in lines. A function that fits a screen is read at once;
// 95 of 100 functions of well-kept Go code have fewer than 60 lines.
const (
	maxFunc = 60
	maxFile = 400
)

// SizesFile is where exceptions stand.
const SizesFile = "cmd/tornvet/sizes.txt"

// wholeFile stands for the function in an exception for a file.
const wholeFile = "-"

// place names a function of a file, or wholeFile.
type place struct{ path, fn string }

// exception is one line of SizesFile.
type exception struct {
	place
	lines int // allowed
	at    int // line in SizesFile
	used  bool
}

// Sizes reports functions and files over the limit, and exceptions that are
// malformed or not needed.
func (t *Tree) Sizes() []string {
	exceptions, found := parseSizes(t.Text[SizesFile])
	allow := map[place]*exception{}
	for _, e := range exceptions {
		if allow[e.place] != nil {
			found = append(found, fmt.Sprintf("%s:%d: %s %s stands twice", SizesFile, e.at, e.path, e.fn))
		}
		allow[e.place] = e
	}
	check := func(p place, at, lines, limit int) {
		e := allow[p]
		what := "function " + p.fn
		if p.fn == wholeFile {
			what = "file"
		}
		switch {
		case lines <= limit:
		case e == nil:
			found = append(found, fmt.Sprintf("%s:%d: %s has %d lines, limit %d: split it, or name it in %s with a reason", p.path, at, what, lines, limit, SizesFile))
		case lines > e.lines:
			e.used = true
			found = append(found, fmt.Sprintf("%s:%d: %s has %d lines, its exception allows %d", p.path, at, what, lines, e.lines))
		default:
			e.used = true
		}
	}
	for _, f := range t.Go {
		if f.Test || ast.IsGenerated(f.AST) {
			continue
		}
		check(place{f.Path, wholeFile}, 1, bytes.Count(t.Text[f.Path], []byte("\n")), maxFile)
		for _, decl := range f.AST.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				from, to := t.line(fn.Pos()), t.line(fn.End())
				check(place{f.Path, funcName(fn)}, from, to-from+1, maxFunc)
			}
		}
	}
	for _, e := range exceptions {
		if !e.used {
			found = append(found, fmt.Sprintf("%s:%d: %s %s is stale: nothing of that name is over the limit; remove the line", SizesFile, e.at, e.path, e.fn))
		}
	}
	return found
}

// parseSizes reads exceptions, one a line: path, function, lines, reason.
func parseSizes(text []byte) (list []*exception, found []string) {
	for i, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		lines := 0
		if len(f) >= 4 {
			lines, _ = strconv.Atoi(f[2])
		}
		if lines <= 0 {
			found = append(found, fmt.Sprintf("%s:%d: %q: want path, function, lines, reason", SizesFile, i+1, line))
			continue
		}
		list = append(list, &exception{place: place{f[0], f[1]}, lines: lines, at: i + 1})
	}
	return list, found
}

// funcName is Name or Type.Method.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}
