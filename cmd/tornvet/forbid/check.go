package forbid

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Analyzer reports breaches of the rules in the package comment. It needs no
// other analyzer and leaves no facts.
var Analyzer = &analysis.Analyzer{
	Name: "tornvet",
	Doc:  "reports code under engine/ and sim/ that could make two runs of one seed differ",
	Run:  run,
}

func run(pass *analysis.Pass) (any, error) {
	if !inScope(pass.Pkg.Path()) {
		return nil, nil
	}
	var files []*ast.File
	for _, f := range pass.Files {
		if !strings.HasSuffix(pass.Fset.Position(f.Package).Filename, "_test.go") {
			files = append(files, f)
		}
	}
	for _, f := range files {
		c := &checker{
			pass:   pass,
			path:   pass.Pkg.Path(),
			excuse: readDirectives(pass, f),
			sorted: map[*ast.Ident]bool{},
		}
		c.file(f)
		c.excuse.reportUnused()
	}
	checkGlobals(pass, files)
	return nil, nil
}

// checker looks at one file.
type checker struct {
	pass      *analysis.Pass
	path      string // of the package
	excuse    *directives
	sorted    map[*ast.Ident]bool // uses of maps.Keys whose result is sorted at once
	floatLine int                 // last line on which V9 was reported: once is enough
}

func (c *checker) report(pos token.Pos, format string, args ...any) {
	c.pass.Reportf(pos, format, args...)
}

func (c *checker) file(f *ast.File) {
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the compiler reports it
		}
		if why := importWhy(path); why != "" {
			c.report(spec.Pos(), "import of %s: %s", path, why)
		}
	}
	for _, group := range f.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:linkname ") {
				c.report(comment.Pos(), "go:linkname reaches around every rule")
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if n != nil {
			c.node(n)
		}
		return true
	})
}

// node dispatches on the syntax. Parents come before children, which
// sortedKeys relies on.
func (c *checker) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		c.report(n.Pos(), "go statement: start a task through host.Machine, so that one loop decides who runs")
	case *ast.SelectStmt:
		c.report(n.Pos(), "select: the runtime draws its choice; wait on a host condition")
	case *ast.SendStmt:
		c.report(n.Pos(), "channel send: use a host condition or a message")
	case *ast.ChanType:
		c.report(n.Pos(), "channel type: use a host condition or a message")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			c.report(n.Pos(), "channel receive: use a host condition or a message")
		}
	case *ast.RangeStmt:
		c.rangeOver(n)
	case *ast.CallExpr:
		c.sortedKeys(n)
		c.formats(n)
		c.addressAsNumber(n)
	case *ast.Ident:
		c.use(n)
	}
	if expr, ok := n.(ast.Expr); ok && under(c.path, simPath) {
		c.float(expr)
	}
}

// rangeOver reports loops whose order or pace the runtime decides.
func (c *checker) rangeOver(n *ast.RangeStmt) {
	t := c.pass.TypesInfo.TypeOf(n.X)
	switch {
	case ranges[*types.Chan](t):
		c.report(n.Pos(), "range over a channel: use a host condition or a message")
	case ranges[*types.Map](t) && !c.excuse.excusesLine("ordered", n.Pos()):
		c.report(n.Pos(), "range over a map: its order differs from run to run; use slices.Sorted(maps.Keys(m)), or say why the order cannot be seen with //tornvet:ordered <reason>")
	}
}

// ranges reports whether a value of type t may have a T underneath; for a type
// parameter, whether one of its terms does.
func ranges[T types.Type](t types.Type) bool {
	if t == nil {
		return false
	}
	param, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		_, is := t.Underlying().(T)
		return is
	}
	constraint, ok := param.Constraint().Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for e := range constraint.EmbeddedTypes() {
		union, ok := e.(*types.Union)
		if !ok {
			if _, is := e.Underlying().(T); is {
				return true
			}
			continue
		}
		for term := range union.Terms() {
			if _, is := term.Type().Underlying().(T); is {
				return true
			}
		}
	}
	return false
}

// sortedKeys notes maps.Keys where it is the argument of a sort: keys are
// distinct, so that their sorted order is one.
func (c *checker) sortedKeys(call *ast.CallExpr) {
	switch c.callee(call) {
	case "slices.Sorted", "slices.SortedFunc":
	default:
		return
	}
	keys, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if ok && c.callee(keys) == "maps.Keys" {
		c.sorted[calleeIdent(keys)] = true
	}
}

// callee names the called function as the tables do, or "".
func (c *checker) callee(call *ast.CallExpr) string {
	if id := calleeIdent(call); id != nil {
		if obj := c.pass.TypesInfo.Uses[id]; obj != nil {
			return fullName(obj)
		}
	}
	return ""
}

// calleeIdent finds the identifier of the called function, through a package
// name and explicit type arguments.
func calleeIdent(call *ast.CallExpr) *ast.Ident {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	switch x := fun.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return x.Sel
	}
	return nil
}

// float reports an expression or type of floating point. Untyped constants are
// exact, so they are left alone.
func (c *checker) float(e ast.Expr) {
	t := c.pass.TypesInfo.TypeOf(e)
	if t == nil {
		return
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsFloat|types.IsComplex) == 0 || b.Info()&types.IsUntyped != 0 {
		return
	}
	line := c.pass.Fset.Position(e.Pos()).Line
	if line == c.floatLine || c.excuse.excuses("float", e.Pos()) {
		return
	}
	c.floatLine = line
	c.report(e.Pos(), "floating point in sim: count in integers, or say why no event depends on it with //tornvet:float <reason>")
}
