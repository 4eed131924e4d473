package experiments

import (
	"time"

	"tornpage/checkers"
	"tornpage/engine/host"
)

// workload is what the clients of a scenario do, and what is asked of it beyond
// the history of keys and values.
type workload interface {
	// client makes a client: what all clients share, which the caller fills,
	// and the boot function of its process. replica is "" where there is none.
	client(worker int, replica string) (*client, func(host.Machine))
	// audit reads everything after the last recovery, in a process of its own.
	// It blocks until it has.
	audit(m host.Machine)
	// verdicts are the checks of this load.
	verdicts() []checkers.Verdict
}

// client is what the clients of all loads share: how much each has to do, and
// when it has done it. It outlives boots of its process.
type client struct {
	worker int
	ops    int // to do before the faults end
	quiet  func() bool
	ended  func()

	done   int
	after  int // committed since the faults ended
	finish bool
}

// quietOps is how many operations each client commits after the faults have
// ended, so that progress has something to look at.
const quietOps = 3

// next waits until the client has something to do; false: it is done. think is
// its longest pause between two operations.
func (c *client) next(m host.Machine, r *host.Rand, think time.Duration) bool {
	for !c.over() {
		if think > 0 && r.Chance(1, 2) {
			m.Sleep(time.Duration(r.N(uint64(think))))
		}
		if c.done < c.ops || c.quiet() {
			return true
		}
		m.Sleep(20 * time.Millisecond) // its share is done; the rest is for progress
	}
	if !c.finish {
		c.finish = true
		c.ended()
	}
	return false
}

func (c *client) over() bool {
	return c.quiet() && c.done >= c.ops && c.after >= quietOps
}

// did counts an operation.
func (c *client) did(committed bool) {
	c.done++
	if committed && c.quiet() {
		c.after++
	}
}
