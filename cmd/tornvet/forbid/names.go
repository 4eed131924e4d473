package forbid

import (
	"go/types"
	"strings"
)

// Why a name is forbidden; each ends a message that starts with the name.
const (
	whyClock   = "reads or waits for the real clock; ask host.Machine for time"
	whyMapSeq  = "follows map order; sort the keys first, or excuse it with //tornvet:ordered <reason>"
	whyAddress = "makes an address visible, and addresses differ from run to run"
	whyPull    = "is for engine/host/coop alone; a task is started through the machine"
)

// imports lists the packages that V2 forbids, with what lies below them.
var imports = [...]struct{ path, why string }{
	{"sync", "tasks of a host run one at a time; what must hold across a switch is held by a latch"},
	{"os", "files, arguments and environment belong to the host"},
	{"net", "messages go through host.Machine"},
	{"syscall", "the operating system is behind the host"},
	{"golang.org/x/sys", "the operating system is behind the host"},
	{"log", "it reads the clock and writes to the process's own output; use the host's logger"},
	{"crypto/rand", "it draws from entropy; use the keyed streams of host.Machine"},
	{"hash/maphash", "its seed differs in every process"},
	{"io/ioutil", "files belong to the host"},
	{"os/signal", "signals belong to the host"},
	{"golang.org/x/exp/maps", "its Keys and Values come in map order"},
	{"golang.org/x/exp/rand", "its global source is shared; use the keyed streams of host.Machine"},
	{"C", "C code cannot be replayed"},
}

// importWhy gives the reason against an import, or "".
func importWhy(path string) string {
	for _, f := range imports {
		if under(path, f.path) {
			return f.why
		}
	}
	return ""
}

// names lists single functions and variables, written as types.Func.FullName
// writes them.
var names = map[string]string{
	"time.Now":       whyClock,
	"time.Since":     whyClock,
	"time.Until":     whyClock,
	"time.After":     whyClock,
	"time.AfterFunc": whyClock,
	"time.Sleep":     whyClock,
	"time.Tick":      whyClock,
	"time.NewTimer":  whyClock,
	"time.NewTicker": whyClock,
	"time.Local":     "is the machine's time zone; use time.UTC",

	"context.WithTimeout":       whyClock,
	"context.WithTimeoutCause":  whyClock,
	"context.WithDeadline":      whyClock,
	"context.WithDeadlineCause": whyClock,
	"context.AfterFunc":         "starts a goroutine; start a task through host.Machine",

	"maps.Keys":               whyMapSeq,
	"maps.Values":             whyMapSeq,
	"maps.All":                whyMapSeq,
	"maps.EqualFunc":          whyMapSeq,
	"maps.DeleteFunc":         whyMapSeq,
	"(reflect.Value).MapKeys": whyMapSeq,

	"(reflect.Value).MapRange":      whyMapSeq,
	"(reflect.Value).Pointer":       whyAddress,
	"(reflect.Value).UnsafeAddr":    whyAddress,
	"(reflect.Value).UnsafePointer": whyAddress,

	"iter.Pull":  whyPull,
	"iter.Pull2": whyPull,
}

// openRandom lists what V4 leaves of the math/rand packages: constructors that
// take their seed from the caller.
var openRandom = [...]string{"New", "NewSource", "NewZipf", "NewPCG", "NewChaCha8"}

// isRandom reports whether the name is a global function of math/rand.
func isRandom(pkg, name string) bool {
	if pkg != "math/rand" && pkg != "math/rand/v2" {
		return false
	}
	for _, open := range openRandom {
		if name == open {
			return false
		}
	}
	return true
}

// observes reports whether the name is one that V5 forbids. KeepAlive only
// restrains the collector.
func observes(pkg, name string) bool {
	switch pkg {
	case "runtime":
		return name != "KeepAlive"
	case "runtime/debug", "runtime/metrics", "runtime/pprof", "runtime/trace", "weak":
		return true
	}
	return false
}

// fullName names a function, method or package-level variable or constant as
// the tables do; "" for anything else.
func fullName(obj types.Object) string {
	if f, ok := obj.(*types.Func); ok {
		return strings.ReplaceAll(f.FullName(), "(*", "(")
	}
	if isGlobal(obj) {
		return obj.Pkg().Path() + "." + obj.Name()
	}
	return ""
}

// isGlobal reports whether obj is declared at package level.
func isGlobal(obj types.Object) bool {
	return obj != nil && obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope()
}
