package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"time"

	"golang.org/x/term"

	"tornpage/experiments"
)

// The exit codes; see K2.
const (
	exitClean     = 0
	exitViolation = 1
	exitUnknown   = 2
	exitDiverged  = 3
	exitUsage     = 64 // EX_USAGE of sysexits.h
)

// app is one call of the command.
type app struct {
	out, err io.Writer
	outTTY   bool
	errTTY   bool
	env      func(string) string
	now      func() time.Time
	json     bool
	noColor  bool
}

// exit is an error that carries the code. Err is nil if all was said already.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// unknown is an error about something that could not be done, with what to do.
func unknown(err error, next string) *exit {
	return &exit{exitUnknown, fmt.Errorf("%w\n%s", err, next)}
}

// usage is an error about what the user gave, with what to do.
func usage(err error, next string) *exit {
	return &exit{exitUsage, fmt.Errorf("%w\n%s", err, next)}
}

// ended is nil for a clean end.
func ended(code int) error {
	if code == exitClean {
		return nil
	}
	return &exit{code: code}
}

// execute runs the command line and gives the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitClean
	}
	var e *exit
	if !errors.As(err, &e) {
		// Cobra's own: an unknown command or flag, a wrong number of arguments.
		e = &exit{exitUsage, fmt.Errorf("%w\ntry: tornpage help", err)}
	}
	if e.err != nil {
		fmt.Fprintf(a.err, "%s %v\n", a.paint(red, "tornpage:"), e.err)
	}
	return e.code
}

func main() {
	// A process of a run on real machines is this program again.
	if handled, code := experiments.DeployChild(); handled {
		os.Exit(code)
	}
	if os.Getenv("GOGC") == "" {
		// Worlds are small and short: a larger heap saves a fifth of a hunt.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	a := &app{
		out: os.Stdout, err: os.Stderr, env: os.Getenv, now: time.Now,
		outTTY: term.IsTerminal(int(os.Stdout.Fd())), errTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}
	code := a.execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
