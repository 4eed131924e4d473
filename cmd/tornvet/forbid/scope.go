package forbid

import "strings"

// Paths of the module that the rules name.
const (
	enginePath = "tornpage/engine"
	simPath    = "tornpage/sim"
	oshostPath = "tornpage/engine/host/oshost" // the real machine: exempt
	coopPath   = "tornpage/engine/host/coop"   // the task core: owns kill and coroutines
	modulePath = "tornpage"
)

// under reports whether the package path is root or lies below it.
func under(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

// inScope reports whether the rules hold in the package. The go command names
// the main package that it generates for a test path.test.
func inScope(path string) bool {
	return !strings.HasSuffix(path, ".test") && (under(path, enginePath) || under(path, simPath)) && !under(path, oshostPath)
}
