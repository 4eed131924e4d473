package zoo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// planted is the import path of the package that knows which bug is on. It
// exists in the overlay only.
const planted = "tornpage/engine/planted"

// change is a replacement of src[from:to].
type change struct {
	from, to int
	text     string
}

// mutant is a function with the changes of one bug.
type mutant struct {
	bug     int
	changes []change
}

// target is a function that some bugs change.
type target struct {
	decl    *ast.FuncDecl
	mutants []mutant
}

// rewriter makes one file of the overlay.
type rewriter struct {
	name    string
	src     string
	file    *ast.File
	tf      *token.File
	targets []*target
}

func newRewriter(name, src string) (*rewriter, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &rewriter{name: name, src: src, file: f, tf: fset.File(f.Pos())}, nil
}

// plant adds an edit of the bug with that number (rule Z1).
func (r *rewriter) plant(bug int, e Edit) error {
	if n := strings.Count(r.src, e.Old); n != 1 {
		return fmt.Errorf("%s: the old text occurs %d times, want once:\n%s", r.name, n, e.Old)
	}
	from := strings.Index(r.src, e.Old)
	to := from + len(e.Old)
	t := r.around(from, to)
	if t == nil {
		return fmt.Errorf("%s: the old text does not lie within the body of one function:\n%s", r.name, e.Old)
	}
	if t.decl.Type.TypeParams != nil || t.decl.Recv == nil && t.decl.Name.Name == "init" {
		return fmt.Errorf("%s: %s is generic, or init: it cannot be dispatched", r.name, t.decl.Name.Name)
	}
	i := slices.IndexFunc(t.mutants, func(m mutant) bool { return m.bug == bug })
	if i < 0 {
		t.mutants = append(t.mutants, mutant{bug: bug})
		i = len(t.mutants) - 1
	}
	t.mutants[i].changes = append(t.mutants[i].changes, change{from, to, e.New})
	return nil
}

// around is the function whose body holds src[from:to], nil if none does.
func (r *rewriter) around(from, to int) *target {
	for _, d := range r.file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || from <= r.at(f.Body.Lbrace) || to > r.at(f.Body.Rbrace) {
			continue
		}
		i := slices.IndexFunc(r.targets, func(t *target) bool { return t.decl == f })
		if i < 0 {
			r.targets = append(r.targets, &target{decl: f})
			i = len(r.targets) - 1
		}
		return r.targets[i]
	}
	return nil
}

func (r *rewriter) at(p token.Pos) int { return r.tf.Offset(p) }

func (r *rewriter) text(n ast.Node) string { return r.src[r.at(n.Pos()):r.at(n.End())] }

// original is what a dispatched function is called.
func original(name string, bug int) string { return fmt.Sprintf("zoo%d_%s", bug, name) }

// result is the rewritten file. What was there keeps its line.
func (r *rewriter) result() string {
	pkg := r.at(r.file.Name.End())
	changes := []change{{pkg, pkg, fmt.Sprintf("; import zooPlanted %q", planted)}}
	var more strings.Builder
	for _, t := range r.targets {
		name := t.decl.Name
		changes = append(changes, change{r.at(name.Pos()), r.at(name.End()), original(name.Name, 0)})
		more.WriteString(r.dispatcher(t))
		for _, m := range t.mutants {
			rename := change{r.at(name.Pos()), r.at(name.End()), original(name.Name, m.bug)}
			more.WriteString("\n" + apply(r.src, r.at(t.decl.Pos()), r.at(t.decl.End()), append(m.changes, rename)) + "\n")
		}
	}
	return apply(r.src, 0, len(r.src), changes) + more.String()
}

// apply gives src[from:to] with the changes made.
func apply(src string, from, to int, changes []change) string {
	changes = slices.Clone(changes)
	slices.SortFunc(changes, func(a, b change) int { return a.from - b.from })
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(src[from:c.from] + c.text)
		from = c.to
	}
	b.WriteString(src[from:to])
	return b.String()
}

// dispatcher is the function under its old name, which calls the copy of the
// bug that is on, or the original.
func (r *rewriter) dispatcher(t *target) string {
	var b strings.Builder
	f := t.decl
	b.WriteString("\nfunc ")
	prefix := ""
	if f.Recv != nil {
		fmt.Fprintf(&b, "(zooR %s) ", r.text(f.Recv.List[0].Type))
		prefix = "zooR."
	}
	params, args := r.params(f)
	fmt.Fprintf(&b, "%s(%s) ", f.Name.Name, params)
	ret := ""
	if f.Type.Results != nil {
		b.WriteString(r.text(f.Type.Results) + " ")
		ret = "return "
	}
	b.WriteString("{\n\tswitch zooPlanted.Bug {\n")
	for _, m := range t.mutants {
		fmt.Fprintf(&b, "\tcase %d:\n\t\t%s%s%s(%s)\n", m.bug, ret, prefix, original(f.Name.Name, m.bug), args)
		if ret == "" {
			b.WriteString("\t\treturn\n")
		}
	}
	fmt.Fprintf(&b, "\t}\n\t%s%s%s(%s)\n}\n", ret, prefix, original(f.Name.Name, 0), args)
	return b.String()
}

// params are the parameters under names that can be handed on, and they handed
// on.
func (r *rewriter) params(f *ast.FuncDecl) (params, args string) {
	var ps, as []string
	for _, field := range f.Type.Params.List {
		_, variadic := field.Type.(*ast.Ellipsis)
		for range max(1, len(field.Names)) {
			name := fmt.Sprintf("zooA%d", len(ps))
			ps = append(ps, name+" "+r.text(field.Type))
			if variadic {
				name += "..."
			}
			as = append(as, name)
		}
	}
	return strings.Join(ps, ", "), strings.Join(as, ", ")
}
