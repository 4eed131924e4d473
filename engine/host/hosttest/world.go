package hosttest

import "time"

// World is where one case runs: the hosts of the case, each a process on a
// machine of its own, none booted yet. Worlds are single-use. All methods are
// called by one goroutine, from outside of every process.
type World interface {
	// Caps is what the world can do beyond the minimum.
	Caps() Caps
	// Seed is the seed of the processes' random streams (host.RandKey).
	Seed() uint64
	// Boot starts the next boot of a host whose process does not run: its boot
	// function is Case.Boot(host).
	Boot(host string)
	// Kill ends the host's process between two instructions of it, as SIGKILL
	// does; files stay as last written. Nothing happens if it does not run.
	Kill(host string)
	// PowerOff is Kill for the whole machine, after which its disks are in one
	// of the states of rule H3. Only with Caps.PowerOff.
	PowerOff(host string)
	// Until lets time pass until done gives true, and reports whether it did
	// before limit had passed or nothing was left to happen. done is asked at
	// the start and after each change of what Log and End give.
	Until(limit time.Duration, done func() bool) bool
	// Log is what all boots of a host wrote by Logf so far, line by line,
	// without any prefix.
	Log(host string) []string
	// End is how the last boot of the host ended.
	End(host string) End
}

// Caps are capabilities that some worlds have.
type Caps struct {
	PowerOff bool // World.PowerOff works
	Debt     bool // Charge makes debt, which takes time to pay
}

// has reports whether c covers all that need asks for.
func (c Caps) has(need Caps) bool {
	return (c.PowerOff || !need.PowerOff) && (c.Debt || !need.Debt)
}

// End is how a boot of a process ended.
type End struct {
	Kind EndKind
	// Text is the reason given to Exit, or for a panic the name of the task
	// (or "handler"), the value and the stack.
	Text string
}

// EndKind tells the ways of ending apart.
type EndKind uint8

// The ways of ending.
const (
	Running  EndKind = iota // not booted yet, or still alive
	Returned                // the boot function returned
	Exited                  // Machine.Exit
	Panicked                // a task or a handler panicked
	Killed                  // World.Kill, World.PowerOff
)

var endNames = [...]string{"running", "returned", "exited", "panicked", "killed"}

// String is the name of the kind.
func (k EndKind) String() string { return endNames[k] }

// What every world configures for each host.
const (
	Zone = "a"    // the zone of all machines
	Disk = "data" // the one disk of each machine, empty at first
)
