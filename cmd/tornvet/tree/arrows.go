package tree

import (
	"fmt"
	"strconv"
	"strings"
)

// An arrow says what the packages of one layer may import of the module.
// Layers and imports are paths below the module; "x/..." is x and all below it.
type arrow struct {
	from  string
	may   []string
	never []string // taken out of may again
	why   string
}

// oshost is named often: what knows the real machine cannot be simulated.
var oshost = []string{"engine/host/oshost/..."}

// arrows is rule T1. The longest layer that fits a package decides; no arrow of
// an outer layer applies besides.
var arrows = []arrow{
	{
		from: "cmd/...",
		may:  []string{"cmd/...", "experiments/...", "checkers/...", "faults/...", "sim/...", "engine/...", "model/..."},
		why:  "commands are the top: nothing imports them",
	},
	{
		from: "experiments/...",
		may:  []string{"experiments/...", "checkers/...", "faults/...", "sim/...", "engine/...", "model/..."},
		why:  "an experiment puts engine, world, faults and checkers together; how it is shown belongs to cmd",
	},
	{
		from: "checkers/...",
		may:  []string{"checkers/...", "model/...", "engine/page", "engine/wal", "engine/invariant"},
		why:  "a checker judges a history by the model alone; engine code that it shared would hide the engine's bugs",
	},
	{
		from: "faults/...",
		may:  []string{"faults/...", "sim/...", "engine/host/..."}, never: oshost,
		why: "a plan acts on the simulated world and may not depend on which engine runs there",
	},
	{
		from: "sim/...",
		may:  []string{"sim/...", "engine/host/...", "engine/invariant"}, never: oshost,
		why: "the world offers the host interface and knows nothing of what runs on it",
	},
	{
		from: "engine/host/...",
		may:  []string{"engine/host/...", "engine/invariant"}, never: oshost,
		why: "the machine's interface lies below everything that asks it",
	},
	{
		from: "engine/host/oshost/...",
		may:  []string{"engine/host/...", "engine/invariant"},
		why:  "the real machine offers the host interface and knows nothing of what runs on it",
	},
	{
		from: "engine/invariant",
		why:  "every package may break a rule, so reporting one depends on nothing",
	},
	{
		from: "engine/page",
		may:  []string{"engine/invariant"},
		why:  "a page is bytes: it knows nothing of logs, tasks or machines",
	},
	{
		from: "engine/wal",
		may:  []string{"engine/page", "engine/invariant"},
		why:  "the log's codec is pure: whoever stores it or replays it lies above",
	},
	{
		from: "engine/row",
		may:  []string{"engine/page", "engine/invariant"},
		why:  "rows and keys are bytes of a page's items",
	},
	{
		from: "engine/fsm",
		may:  []string{"engine/page"},
		why:  "a free-space map is numbers",
	},
	{
		from: "engine/buffer",
		may:  below("engine"), never: oshost,
		why: "the pool knows storage by four methods, and nobody who uses pages",
	},
	{
		from: "engine/pager",
		may:  below("engine", "engine/buffer"), never: oshost,
		why: "every access method changes pages through it, so it knows none of them",
	},
	{
		from: "engine/btree",
		may:  below("engine", "engine/buffer", "engine/pager"), never: oshost,
		why: "a tree is a set of entries: what they lead to, and who may see that, lies above",
	},
	{
		from: "engine/heap",
		may:  below("engine", "engine/buffer", "engine/pager"), never: oshost,
		why: "a heap asks for the fate of transactions by an interface of its own",
	},
	{
		from: "engine/txn",
		may:  below("engine", "engine/buffer", "engine/heap"), never: oshost,
		why: "transactions answer heap's questions and know no tables",
	},
	{
		from: "engine/vacuum",
		may:  below("engine", "engine/buffer", "engine/pager", "engine/heap", "engine/fsm"), never: oshost,
		why: "vacuum knows indexes by one method",
	},
	{
		from: "engine/table",
		may: below("engine", "engine/buffer", "engine/pager", "engine/heap", "engine/btree", "engine/fsm", "engine/vacuum",
			"engine/txn", "engine/row"), never: oshost,
		why: "a table joins access methods and transactions; sessions lie above",
	},
	{
		from: "engine/db",
		may:  below("engine/row"), never: oshost,
		why: "what a client sees may not depend on how it is done",
	},
	{
		from: "engine/local/...",
		may:  below("engine", "engine/buffer", "engine/local/..."), never: oshost,
		why: "a storage does not know what compute keeps on its pages",
	},
	{
		from: "engine/...",
		may:  []string{"engine/..."}, never: oshost,
		why: "the engine cannot tell whether its machine is simulated, who injects faults, or who checks",
	},
	{
		from: "model/...",
		may:  []string{"model/...", "engine/page"},
		why:  "what is right must not be computed by the code that it judges",
	},
}

// below is what every part of the engine may import, and more.
func below(more ...string) []string {
	return append([]string{"engine/host/...", "engine/page", "engine/wal", "engine/invariant"}, more...)
}

// testMay is what test files of a layer may import besides: an engine test runs
// the engine on the simulated machine. Nothing that ships depends on it.
var testMay = []struct {
	from string
	may  []string
}{
	{"engine/...", []string{"sim/...", "engine/..."}},
}

// Arrows reports imports that break T1, and packages that no layer holds.
func (t *Tree) Arrows() []string {
	var found []string
	for _, f := range t.Go {
		from := layerOf(f.Dir)
		if from == nil {
			found = append(found, fmt.Sprintf("%s: %s belongs to no layer; move it, or give its layer an arrow in cmd/tornvet/tree/arrows.go", f.Path, f.Dir))
			continue
		}
		for _, spec := range f.AST.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the parser took it, so this cannot be
			}
			below, ok := strings.CutPrefix(imported, module+"/")
			if !ok && imported != module {
				continue
			}
			if !from.allows(below) && !(f.Test && testAllows(f.Dir, below)) {
				found = append(found, fmt.Sprintf("%s:%d: imports %s, which breaks the arrow from %s to %s: %s",
					f.Path, t.line(spec.Pos()), imported, from.from, from.targets(), from.why))
			}
		}
	}
	return found
}

// layerOf finds the arrow with the longest layer that holds the folder.
func layerOf(dir string) *arrow {
	var best *arrow
	for i := range arrows {
		if covers(arrows[i].from, dir) && (best == nil || len(arrows[i].from) > len(best.from)) {
			best = &arrows[i]
		}
	}
	return best
}

// covers reports whether the pattern holds the folder.
func covers(pattern, dir string) bool {
	root, below := strings.CutSuffix(pattern, "/...")
	return dir == root || below && strings.HasPrefix(dir, root+"/")
}

func coversAny(patterns []string, dir string) bool {
	for _, p := range patterns {
		if covers(p, dir) {
			return true
		}
	}
	return false
}

func (a *arrow) allows(dir string) bool {
	return coversAny(a.may, dir) && !coversAny(a.never, dir)
}

// targets names what the layer may import, for a message.
func (a *arrow) targets() string {
	if len(a.may) == 0 {
		return "nothing"
	}
	text := strings.Join(a.may, ", ")
	if len(a.never) > 0 {
		text += " without " + strings.Join(a.never, ", ")
	}
	return text
}

func testAllows(dir, imported string) bool {
	for _, more := range testMay {
		if covers(more.from, dir) && coversAny(more.may, imported) {
			return true
		}
	}
	return false
}
