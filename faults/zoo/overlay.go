package zoo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Env is the environment variable from which a program that was built with the
// overlay takes the name of the bug that is on; empty: none.
const Env = "TORNPAGE_BUG"

// Overlay rewrites the source files below root that the bugs edit. The keys of
// the result are paths below root, with slashes.
func Overlay(root string, bugs []Bug) (map[string]string, error) {
	files := map[string]*rewriter{}
	var errs []error
	names := []string{""}
	for _, b := range bugs {
		names = append(names, b.Name)
		for _, e := range b.Edits {
			r := files[e.File]
			if r == nil {
				src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(e.File)))
				if err == nil {
					r, err = newRewriter(e.File, string(src))
				}
				if err != nil {
					errs = append(errs, fmt.Errorf("bug %s: %w", b.Name, err))
					continue
				}
				files[e.File] = r
			}
			if err := r.plant(len(names)-1, e); err != nil {
				errs = append(errs, fmt.Errorf("bug %s: %w", b.Name, err))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out := map[string]string{strings.TrimPrefix(planted, "tornpage/") + "/planted.go": plantedSource(names)}
	for name, r := range files {
		out[name] = r.result()
	}
	return out, nil
}

// plantedSource is the package that exists in the overlay only.
func plantedSource(names []string) string {
	return fmt.Sprintf(`// Package planted knows which planted bug is on.
package planted

import "os"

// Bug is its number; 0: none.
var Bug = number(os.Getenv(%q))

func number(name string) int {
	for i, n := range %#v {
		if n == name {
			return i
		}
	}
	panic("no planted bug is named " + name)
}
`, Env, names)
}

// Root is the directory of the module that dir lies in.
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			err = errors.New("no go.mod here or above: the zoo needs a checkout of the source")
		}
		dir = up
	}
	return "", err
}

// Write writes an overlay into dir and gives the file for go's -overlay.
func Write(root, dir string, overlay map[string]string) (string, error) {
	var list struct{ Replace map[string]string }
	list.Replace = map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(overlay)) {
		to := filepath.Join(dir, fmt.Sprintf("%d_%s", i, filepath.Base(name)))
		if err := os.WriteFile(to, []byte(overlay[name]), 0o644); err != nil {
			return "", err
		}
		list.Replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	b, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, b, 0o644)
}

// Go runs the go command in root with the bugs' overlay: Go(root, bugs, dir,
// "build", "./engine/...") compiles all edits. Files go into dir.
func Go(root string, bugs []Bug, dir string, command string, args ...string) error {
	overlay, err := Overlay(root, bugs)
	if err != nil {
		return err
	}
	file, err := Write(root, dir, overlay)
	if err != nil {
		return err
	}
	c := exec.Command("go", append([]string{command, "-overlay", file}, args...)...)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return nil
}
