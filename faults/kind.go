package faults

import "fmt"

// Kind is one kind of fault: what swarms switch on, budgets allow and coverage
// counts. Cures (boot, zone up, heal, quiet) have none.
type Kind uint8

// The kinds of fault; doc.go has their meaning.
const (
	KindKill Kind = iota
	KindPowerOff
	KindPause
	KindZoneDown
	KindCut
	KindDrop
	KindDelay
	KindDup
	KindReorder
	KindCorrupt
	KindLostWrite
	KindLostSync
	KindFailSync
	KindEIORead
	KindEIOWrite
	KindFull
	KindRot
	KindMisdirectRead
	KindMisdirectWrite
	KindStall
	KindLose
	KindSlowDisk
	KindSlowNIC
	KindSkew
	KindDrift
	numKinds
)

// kindNames has the names by kind. The names key the swarm's draws, so that
// the order of the constants never changes a plan.
var kindNames = [numKinds]string{
	"kill", "power-off", "pause", "zone-down", "cut",
	"drop", "delay", "dup", "reorder", "corrupt",
	"lost-write", "lost-sync", "fail-sync", "eio-read", "eio-write", "full",
	"rot", "misdirect-read", "misdirect-write", "stall", "lose",
	"slow-disk", "slow-nic", "skew", "drift",
}

// String returns the kind's name, for example "lost-write".
func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// Kinds returns all kinds of fault.
func Kinds() []Kind {
	all := make([]Kind, numKinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// ParseKind returns the kind with that name.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("unknown kind of fault %q%s", name, didYouMean(name, kindNames[:]))
}

// damages reports whether the kind leaves harm on a disk after it ended: what
// was not stored, or stored wrongly, stays so.
func (k Kind) damages() bool {
	switch k {
	case KindLostWrite, KindLostSync, KindFailSync, KindRot, KindMisdirectWrite, KindLose:
		return true
	}
	return false
}
