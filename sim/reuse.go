package sim

import (
	"tornpage/engine/host/coop"
	"tornpage/sim/simdisk"
)

// Reuse hands coroutines with the stacks that they have grown, and the memory of
// disks, from a world that is closed to a later one. It serves one world at a
// time; the zero value is empty.
type Reuse struct {
	coroutines coop.Pool
	disks      simdisk.Memory
}

// Close ends the coroutines.
func (r *Reuse) Close() { r.coroutines.Close() }

// memory is where disks take from and give back to.
func (w *World) memory() *simdisk.Memory {
	if w.cfg.Reuse == nil {
		return nil
	}
	return &w.cfg.Reuse.disks
}
