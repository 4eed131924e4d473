package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tornpage/experiments"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// watchFlags say what of a run is shown while it goes.
type watchFlags struct {
	log   bool
	trace string
	load  loadFlags
}

func (w *watchFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&w.log, "log", false, "print the processes' log lines to standard error")
	c.Flags().StringVar(&w.trace, "trace", "", "write every event to this file")
	w.load.add(c)
}

func (w *watchFlags) any() bool { return w.log || w.trace != "" || w.load.load }

// options are the options of the run; finish, called after it, ends the trace.
func (w *watchFlags) options(a *app) (opt experiments.Options, finish func() error, err error) {
	opt.Load = w.load.interval()
	if w.log {
		opt.Log = func(at time.Duration, process, line string) {
			fmt.Fprintf(a.err, "%12v %-8s %s\n", at, process, line)
		}
	}
	if w.trace == "" {
		return opt, func() error { return nil }, nil
	}
	f, err := os.Create(w.trace)
	if err != nil {
		return opt, nil, unknown(err, "give another file with --trace")
	}
	b := bufio.NewWriterSize(f, 1<<20)
	var names experiments.EventNames
	opt.Trace = func(world *sim.World, e *trace.Event) { b.WriteString(names.Line(world, e)) }
	return opt, func() error {
		err := b.Flush()
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return unknown(fmt.Errorf("the trace is not complete: %w", err), "give another file with --trace")
		}
		return nil
	}, nil
}
