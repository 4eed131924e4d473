package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "tornpage",
		Short: "Deterministic simulation of database storage: run, break, replay, explain",
		Long: `tornpage runs a real storage engine in a simulated world whose disks tear
pages and whose machines lose power, and holds every run against checkers.
The same seed gives the same run, to the byte.

Start with:  tornpage demo
Exit codes:  0 clean, 1 a check is broken, 2 not known, 3 runs differ, 64 usage`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.PersistentFlags().BoolVar(&a.noColor, "no-color", false, "print without colour (so does the environment's NO_COLOR)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(err, "try: "+c.CommandPath()+" --help")
	})
	root.AddCommand(demoCommand(a), runCommand(a), replayCommand(a), planCommand(a), listCommand(a),
		determinismCommand(a), hashesCommand(a), eventsCommand(a), versionCommand(a))
	return root
}

// exactly is cobra.ExactArgs with a sentence that says what is wanted.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usage(fmt.Errorf("%s: want %s, found %d arguments", c.CommandPath(), what, len(args)), "try: "+c.CommandPath()+" --help")
	}
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return unknown(fmt.Errorf("writing the output: %w", err), "check where standard output goes")
	}
	return nil
}

// next hints at the next useful command.
func (a *app) next(format string, args ...any) {
	if !a.json {
		fmt.Fprintf(a.err, "next: "+format+"\n", args...)
	}
}

// warn tells of something that makes a result weaker than it looks.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.err, "%s "+format+"\n", append([]any{a.paint(yellow, "warning:")}, args...)...)
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this binary was built from",
		Args:  exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"module": "tornpage", "version": "(devel)", "plan_format": "1"}
			if b, ok := debug.ReadBuildInfo(); ok {
				v["version"], v["go"] = b.Main.Version, b.GoVersion
				for _, s := range b.Settings {
					if s.Key == "vcs.revision" || s.Key == "vcs.modified" || s.Key == "GOARCH" || s.Key == "GOOS" {
						v[s.Key] = s.Value
					}
				}
			}
			if a.json {
				return a.printJSON(v)
			}
			fmt.Fprintf(a.out, "tornpage %s, %s, %s/%s", v["version"], v["go"], v["GOOS"], v["GOARCH"])
			if v["vcs.revision"] != "" {
				fmt.Fprintf(a.out, ", commit %s, modified %s", v["vcs.revision"], v["vcs.modified"])
			}
			fmt.Fprintln(a.out)
			return nil
		},
	}
}
