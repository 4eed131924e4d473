package forbid

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
)

// use reports a forbidden name, however it is reached: called, stored in a
// variable, under another import name.
func (c *checker) use(id *ast.Ident) {
	obj := c.pass.TypesInfo.Uses[id]
	if obj == nil {
		return
	}
	if obj == types.Universe.Lookup("recover") {
		if c.path != coopPath && !c.excuse.excuses("recover", id.Pos()) {
			c.report(id.Pos(), "recover could swallow the panic that unwinds a killed task; only engine/host/coop may")
		}
		return
	}
	if _, isType := obj.(*types.TypeName); isType || obj.Pkg() == nil {
		return
	}
	name := fullName(obj)
	if isGlobal(obj) {
		c.useOf(id, obj.Pkg().Path(), obj.Name())
	}
	why := names[name]
	switch {
	case why == "":
	case why == whyPull && c.path == coopPath:
	case why == whyMapSeq && (c.sorted[id] || c.excuse.excusesLine("ordered", id.Pos())):
	default:
		c.report(id.Pos(), "%s %s", name, why)
	}
}

// useOf reports names that are forbidden by their package.
func (c *checker) useOf(id *ast.Ident, pkg, name string) {
	if isRandom(pkg, name) {
		c.report(id.Pos(), "%s.%s draws from a global source; use the keyed streams of host.Machine", pkg, name)
	}
	if c.path == coopPath && pkg == "runtime/debug" && name == "Stack" {
		return // a task's own stack, for the report of its panic
	}
	if observes(pkg, name) && !c.excuse.excuses("observe", id.Pos()) {
		c.report(id.Pos(), "%s.%s observes the real machine; excuse it with //tornvet:observe <reason> where no event can depend on it", pkg, name)
	}
}

// formats reports %p in constant arguments. Every call is looked at, because
// formats also pass through wrappers such as invariant.Broken.
func (c *checker) formats(call *ast.CallExpr) {
	for _, arg := range call.Args {
		v := c.pass.TypesInfo.Types[arg].Value
		if v != nil && v.Kind() == constant.String && hasPointerVerb(constant.StringVal(v)) {
			c.report(arg.Pos(), "%%p in a format %s", whyAddress)
		}
	}
}

// hasPointerVerb reports whether the format has the verb p. The space flag is
// not followed, so that "50% paid" is no verb.
func hasPointerVerb(format string) bool {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("+-#0123456789.[]*", format[i]) >= 0; i++ {
		}
		if i < len(format) && format[i] == 'p' {
			return true
		}
	}
	return false
}

// addressAsNumber reports uintptr(unsafe.Pointer(…)).
func (c *checker) addressAsNumber(call *ast.CallExpr) {
	if len(call.Args) != 1 || !c.pass.TypesInfo.Types[call.Fun].IsType() {
		return
	}
	to, from := c.pass.TypesInfo.TypeOf(call.Fun), c.pass.TypesInfo.TypeOf(call.Args[0])
	if isBasic(to, types.Uintptr) && isBasic(from, types.UnsafePointer) {
		c.report(call.Pos(), "uintptr of a pointer %s", whyAddress)
	}
}

func isBasic(t types.Type, kind types.BasicKind) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == kind
}
