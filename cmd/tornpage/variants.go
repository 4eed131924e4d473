package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"tornpage/experiments"
)

// variant is a way to build and run the tool that must change no hash.
type variant struct {
	name  string
	flags []string // of go build; nil and no env: the plain build
	env   []string // of go build
	run   []string // the environment of the run
}

// plain says whether the variant runs the plain build.
func (v *variant) plain() bool { return v.flags == nil && v.env == nil }

// variants are the differences that design asks to be none. The first is what
// the others are compared with.
var variants = []variant{
	{name: "GOMAXPROCS=1", run: []string{"GOMAXPROCS=1"}},
	{name: "GOMAXPROCS=2", run: []string{"GOMAXPROCS=2"}},
	{name: "GOGC=1", run: []string{"GOGC=1"}},
	{name: "GOGC=off", run: []string{"GOGC=off"}},
	{name: "-race", flags: []string{"-race"}, env: []string{"CGO_ENABLED=1"}},
	{name: "GOARCH=386", env: []string{"GOARCH=386", "CGO_ENABLED=0"}},
	{name: "optimisation off", flags: []string{"-gcflags=all=-N -l"}},
}

// checkout finds the source of this command from a directory inside of the
// module, or of one that requires it.
func checkout(ctx context.Context, dir string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return unknown(err, "put the go command on the path, or say --same-binary")
	}
	c := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "tornpage/cmd/tornpage")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return unknown(fmt.Errorf("no source of tornpage at %s: %s", dir, lastLine(out, err)),
			"give a checkout with --src DIR, or say --same-binary")
	}
	return nil
}

// errNotRun is why a variant could not be tried, which is no difference.
var errNotRun = errors.New("not run")

// build builds the tool into dir and gives the program.
func (v *variant) build(ctx context.Context, src, dir string) (string, error) {
	name := strings.Map(func(r rune) rune {
		if r == ' ' || r == '=' || r == '/' {
			return '-'
		}
		return r
	}, v.name)
	program := filepath.Join(dir, "tornpage-"+name)
	args := append([]string{"build", "-o", program}, v.flags...)
	c := exec.CommandContext(ctx, "go", append(args, "tornpage/cmd/tornpage")...)
	c.Dir, c.Env = src, append(os.Environ(), v.env...)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: go build: %s", errNotRun, lastLine(out, err))
	}
	return program, nil
}

// program is a variant that was built.
type program struct {
	variant
	path string
	ctx  context.Context
}

// call runs a hidden command and gives its lines as words.
func (p *program) call(args ...string) ([]string, error) {
	c := exec.CommandContext(p.ctx, p.path, args...)
	c.Env = append(os.Environ(), p.run...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	var ended *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &ended):
		return nil, fmt.Errorf("%s: %s", p.name, lastLine(stderr.Bytes(), err))
	default: // it never began: a foreign architecture, say
		return nil, fmt.Errorf("%w: %w", errNotRun, err)
	}
	text := strings.TrimSuffix(string(out), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// steps gives the running hashes of seeds, by seed.
func (p *program) steps(scenario string, seed, seeds, every uint64) (map[uint64][]experiments.Step, error) {
	lines, err := p.call("hashes", scenario, "--seed", number(seed), "--seeds", number(seeds), "--every", number(every))
	if err != nil {
		return nil, err
	}
	all := map[uint64][]experiments.Step{}
	for _, l := range lines {
		var of uint64
		var s experiments.Step
		if _, err := fmt.Sscanf(l, "%d %d %x", &of, &s.Event, &s.Hash); err != nil {
			return nil, fmt.Errorf("%s: line %q of the hidden command hashes: %w", p.name, l, err)
		}
		all[of] = append(all[of], s)
	}
	return all, nil
}

// side is the program with one seed, for the search of a difference.
func (p *program) side(scenario string, seed uint64) experiments.Side {
	return experiments.Side{
		Name: p.name,
		Steps: func(every uint64) ([]experiments.Step, error) {
			all, err := p.steps(scenario, seed, 1, every)
			return all[seed], err
		},
		Events: func(from, to uint64) ([]string, error) {
			return p.call("events", scenario, "--seed", number(seed), "--from", number(from), "--to", number(to))
		},
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// lastLine is the last line of a failed command's output, or its error.
func lastLine(out []byte, err error) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return err.Error()
}
