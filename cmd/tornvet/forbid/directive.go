package forbid

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const directivePrefix = "//tornvet:"

// A directive is one comment that excuses lines from one rule.
type directive struct {
	name     string
	pos      token.Pos
	from, to int // lines excused, inclusive
	used     bool
}

// directives are those of one file, in the order of the text.
type directives struct {
	pass *analysis.Pass
	list []*directive
}

// readDirectives collects a file's directives and reports malformed ones.
func readDirectives(pass *analysis.Pass, file *ast.File) *directives {
	d := &directives{pass: pass}
	var ends map[int]int // computed when the first directive is met
	for _, group := range file.Comments {
		for _, c := range group.List {
			text, ok := strings.CutPrefix(c.Text, directivePrefix)
			if !ok {
				continue
			}
			if ends == nil {
				ends = nodeEnds(pass.Fset, file)
			}
			d.add(c, text, pass.Fset.Position(group.End()).Line, ends)
		}
	}
	return d
}

// add parses one directive. The line below its comment group says what it
// excuses: the whole statement or declaration that starts there. With none
// there, the comment stands at the end of a line and excuses that one.
func (d *directives) add(c *ast.Comment, text string, groupEnd int, ends map[int]int) {
	name, reason, _ := strings.Cut(text, " ")
	switch name {
	case "ordered", "float", "recover", "observe":
	default:
		d.pass.Reportf(c.Pos(), "unknown directive %s%s; there are ordered, float, recover and observe", directivePrefix, name)
		return
	}
	if strings.TrimSpace(reason) == "" {
		d.pass.Reportf(c.Pos(), "%s%s needs a reason on the same line", directivePrefix, name)
		return
	}
	line := d.pass.Fset.Position(c.Pos()).Line
	one := &directive{name: name, pos: c.Pos(), from: line, to: line}
	if end, ok := ends[groupEnd+1]; ok && !hasCode(ends, line) {
		one.from, one.to = groupEnd+1, end
	}
	d.list = append(d.list, one)
}

// hasCode reports whether some node starts on the line, so that a comment on it
// is one at the end of a line.
func hasCode(ends map[int]int, line int) bool {
	_, ok := ends[line]
	return ok
}

// nodeEnds gives, for each line on which a statement, declaration or field
// starts, the last line of the largest one.
func nodeEnds(fset *token.FileSet, file *ast.File) map[int]int {
	ends := map[int]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case ast.Stmt, ast.Decl, ast.Spec, *ast.Field:
			line, end := fset.Position(n.Pos()).Line, fset.Position(n.End()).Line
			ends[line] = max(ends[line], end)
		}
		return true
	})
	return ends
}

// excuses reports whether a directive of that name covers the position.
func (d *directives) excuses(name string, pos token.Pos) bool {
	line := d.pass.Fset.Position(pos).Line
	for _, one := range d.list {
		if one.name == name && one.from <= line && line <= one.to {
			one.used = true
			return true
		}
	}
	return false
}

// excusesLine is excuses for the first line alone: an outer loop's reason says
// nothing about a loop inside it.
func (d *directives) excusesLine(name string, pos token.Pos) bool {
	line := d.pass.Fset.Position(pos).Line
	for _, one := range d.list {
		if one.name == name && one.from == line {
			one.used = true
			return true
		}
	}
	return false
}

// reportUnused reports the directives that excused nothing.
func (d *directives) reportUnused() {
	for _, one := range d.list {
		if !one.used {
			d.pass.Reportf(one.pos, "%s%s excuses nothing here; remove it", directivePrefix, one.name)
		}
	}
}
