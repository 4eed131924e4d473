package trace

import (
	"encoding/binary"
	"math/bits"
)

// Kind is what an event is about.
type Kind uint8

// The kinds of events. New kinds go to the end: the number enters the hash.
const (
	None Kind = iota
	TaskRun
	TaskStart
	TaskEnd
	Deliver
	Send
	Drop
	Connect
	Break
	Read
	Write
	Sync
	Name
	Boot
	Kill
	PowerOff
	Exit
	Mark
	Fault
	Timer
	Panic
	Crash // what a power-off left of one file
	Note  // a fact that a scenario recorded
	kinds
)

var kindNames = [kinds]string{
	"none", "run", "start", "end", "deliver", "send", "drop", "connect", "break", "read", "write",
	"sync", "name", "boot", "kill", "power-off", "exit", "mark", "fault", "timer", "panic", "crash", "note",
}

// String is the kind's name.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return "?"
}

const (
	m1 = 0xa0761d6478bd642f // odd constants of wyhash (Wang Yi, public domain)
	m2 = 0xe7037ed1a0b428db
	m3 = 0x8ebc6af09c88c6e3
)

func mum(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Bytes folds b into h, 16 bytes a multiplication. Equal on every machine.
func Bytes(h uint64, b []byte) uint64 {
	n := uint64(len(b))
	for len(b) >= 32 {
		h = mum(binary.LittleEndian.Uint64(b)^m1, binary.LittleEndian.Uint64(b[8:])^h)
		h = mum(binary.LittleEndian.Uint64(b[16:])^m2, binary.LittleEndian.Uint64(b[24:])^h)
		b = b[32:]
	}
	for len(b) >= 8 {
		h = mum(binary.LittleEndian.Uint64(b)^m3, h^m1)
		b = b[8:]
	}
	var tail uint64
	for i := len(b) - 1; i >= 0; i-- {
		tail = tail<<8 | uint64(b[i])
	}
	return mum(tail^m2, h^n^m3)
}
