package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// module is the path that go.mod declares.
const module = "tornpage"

// Tree is a checkout as read: all rules look at this and at no file.
type Tree struct {
	Top   []string          // names at the top level, sorted
	Text  map[string][]byte // content by slash-separated path
	Paths []string          // keys of Text, sorted
	Go    []GoFile          // in the order of Paths; without testdata
	fset  *token.FileSet
}

// GoFile is one parsed source file.
type GoFile struct {
	Path string // slash-separated, from the top of the checkout
	Dir  string // of Path; "." at the top
	Test bool   // named _test.go
	AST  *ast.File
}

// Read reads every file of a checkout, without .git and what .gitignore names.
// A Go file that does not parse is an error: the rules could say nothing of it.
func Read(root fs.FS) (*Tree, error) {
	t := &Tree{Text: map[string][]byte{}, fset: token.NewFileSet()}
	ignore, err := readIgnore(root)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == ".":
			return nil
		case p == ".git" || ignore.match(p):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.Contains(p, "/") {
			t.Top = append(t.Top, p)
		}
		if d.IsDir() {
			return nil
		}
		return t.add(root, p)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// add reads one file and parses it if it is Go source.
func (t *Tree) add(root fs.FS, p string) error {
	text, err := fs.ReadFile(root, p)
	if err != nil {
		return err
	}
	t.Text[p] = text
	t.Paths = append(t.Paths, p)
	if path.Ext(p) != ".go" || inTestdata(p) {
		return nil
	}
	f, err := parser.ParseFile(t.fset, p, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("no rule can look at a file that does not parse: %w", err)
	}
	t.Go = append(t.Go, GoFile{Path: p, Dir: path.Dir(p), Test: strings.HasSuffix(p, "_test.go"), AST: f})
	return nil
}

// inTestdata reports whether the go command would leave the file out.
func inTestdata(p string) bool {
	return strings.HasPrefix(p, "testdata/") || strings.Contains(p, "/testdata/")
}

// line is the line of a position.
func (t *Tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }
