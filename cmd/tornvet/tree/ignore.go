package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ignore is the list of patterns of .gitignore. Understood are:
//
//	/name         at the top level
//	*.suffix      or any other pattern without a slash: a name at any depth
//	**/a/b/       a path that ends so
//
// A slash at the end is dropped. Other lines are an error, so that a rule is
// never applied to less than it seems.
type ignore []string

// readIgnore reads .gitignore; without one nothing is ignored.
func readIgnore(root fs.FS) (ignore, error) {
	text, err := fs.ReadFile(root, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list ignore
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern := strings.TrimSuffix(line, "/")
		rest := strings.TrimPrefix(pattern, "**/")
		anchored := strings.HasPrefix(pattern, "/") && !strings.Contains(pattern[1:], "/")
		if strings.HasPrefix(line, "!") || !anchored && rest == pattern && strings.Contains(pattern, "/") {
			return nil, fmt.Errorf(".gitignore:%d: %q is not understood; write /name, a name without a slash, or **/a/b", i+1, line)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf(".gitignore:%d: %q: %w", i+1, line, err)
		}
		list = append(list, pattern)
	}
	return list, nil
}

// match reports whether the slash-separated path is ignored.
func (list ignore) match(p string) bool {
	for _, pattern := range list {
		subject := path.Base(p)
		if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
			if p == rest || strings.HasSuffix(p, "/"+rest) {
				return true
			}
			continue
		}
		if rest, ok := strings.CutPrefix(pattern, "/"); ok {
			pattern, subject = rest, p
		}
		if ok, _ := path.Match(pattern, subject); ok {
			return true
		}
	}
	return false
}
