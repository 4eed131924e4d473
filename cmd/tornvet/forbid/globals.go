package forbid

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// globals holds what is known of the package-level variables of one package.
type globals struct {
	pass  *analysis.Pass
	wrote map[*types.Var]token.Pos // first place that may change the variable
}

// checkGlobals applies V8: a package-level variable is a sentinel, blank, or
// never changed by its package; and no package changes that of another.
func checkGlobals(pass *analysis.Pass, files []*ast.File) {
	g := &globals{pass: pass, wrote: map[*types.Var]token.Pos{}}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			g.node(n)
			return true
		})
	}
	for _, f := range files {
		for _, decl := range f.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				for _, spec := range gen.Specs {
					g.declared(spec.(*ast.ValueSpec))
				}
			}
		}
	}
}

// declared judges the variables of one specification.
func (g *globals) declared(spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		v, ok := g.pass.TypesInfo.Defs[name].(*types.Var)
		if !ok || name.Name == "_" {
			continue
		}
		var value ast.Expr
		if i < len(spec.Values) {
			value = spec.Values[i]
		}
		if at, ok := g.wrote[v]; ok {
			p := g.pass.Fset.Position(at)
			g.pass.Reportf(name.Pos(), "package-level variable %s may change at line %d of %s: it would be shared by every machine and outlive their crashes", v.Name(), p.Line, base(p.Filename))
			continue
		}
		if why := g.hidesState(v, value); why != "" {
			g.pass.Reportf(name.Pos(), "package-level variable %s %s: it would be shared by every machine and outlive their crashes", v.Name(), why)
		}
	}
}

// hidesState says how a variable that is never assigned could change all the
// same, or "".
func (g *globals) hidesState(v *types.Var, value ast.Expr) string {
	switch t := v.Type().Underlying().(type) {
	case *types.Pointer:
		if named, ok := types.Unalias(t.Elem()).(*types.Named); ok && ofModule(named) {
			return "points to a value that its methods can change"
		}
	case *types.Signature:
		if _, call := ast.Unparen(orNil(value)).(*ast.CallExpr); call {
			return "is a function that may hold state"
		}
	case *types.Map:
		if value == nil {
			return "is a map that nobody fills"
		}
	}
	return ""
}

// orNil stands in for an absent initial value.
func orNil(e ast.Expr) ast.Expr {
	if e == nil {
		return &ast.BadExpr{}
	}
	return e
}

func ofModule(n *types.Named) bool {
	return n.Obj().Pkg() != nil && under(n.Obj().Pkg().Path(), modulePath)
}

// node notes what may change a package-level variable.
func (g *globals) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, lhs := range n.Lhs {
				g.write(lhs)
			}
		}
	case *ast.IncDecStmt:
		g.write(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			g.write(n.Key)
			g.write(n.Value)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			g.write(n.X)
		}
	case *ast.CallExpr:
		g.call(n)
	case *ast.SelectorExpr:
		g.method(n)
	}
}

// call notes built-in and library functions that write through their first
// argument.
func (g *globals) call(n *ast.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	id := calleeIdent(n)
	if id == nil {
		return
	}
	switch obj := g.pass.TypesInfo.Uses[id].(type) {
	case *types.Builtin:
		switch obj.Name() {
		case "delete", "clear", "copy":
			g.write(n.Args[0])
		}
	case *types.Func:
		switch fullName(obj) {
		case "slices.Sort", "slices.SortFunc", "slices.SortStableFunc", "slices.Reverse",
			"sort.Slice", "sort.SliceStable", "sort.Ints", "sort.Strings", "maps.Copy", "maps.Insert", "maps.DeleteFunc":
			g.write(n.Args[0])
		}
	}
}

// method notes x.M where M has a pointer receiver and x is a variable: the call
// takes x's address.
func (g *globals) method(n *ast.SelectorExpr) {
	sel, ok := g.pass.TypesInfo.Selections[n]
	if !ok || sel.Kind() != types.MethodVal {
		return
	}
	recv := sel.Obj().(*types.Func).Signature().Recv()
	if recv == nil {
		return
	}
	_, wantsPointer := recv.Type().Underlying().(*types.Pointer)
	_, hasPointer := sel.Recv().Underlying().(*types.Pointer)
	if wantsPointer && !hasPointer {
		g.write(n.X)
	}
}

// write notes that the variable at the root of e may change here. A variable of
// another package is reported at once, as its own package cannot see it.
func (g *globals) write(e ast.Expr) {
	v := g.root(e)
	if v == nil || !isGlobal(v) {
		return
	}
	if v.Pkg() != g.pass.Pkg {
		g.pass.Reportf(e.Pos(), "changes %s, a variable of another package", fullName(v))
		return
	}
	if _, seen := g.wrote[v]; !seen {
		g.wrote[v] = e.Pos()
	}
}

// root finds the variable that x, x.f, x[i], x[i:j], *x and their combinations
// start from.
func (g *globals) root(e ast.Expr) *types.Var {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.SelectorExpr:
			if v, ok := g.pass.TypesInfo.Uses[x.Sel].(*types.Var); ok && isGlobal(v) {
				return v
			}
			e = x.X
		case *ast.Ident:
			v, _ := g.pass.TypesInfo.Uses[x].(*types.Var)
			return v
		default:
			return nil
		}
	}
}

// base is the last element of a file name, whatever the separator.
func base(name string) string {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' || name[i] == '\\' {
			return name[i+1:]
		}
	}
	return name
}
