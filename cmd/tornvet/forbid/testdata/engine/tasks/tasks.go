// Package tasks breaks V1, V2 and V10.
package tasks

import (
	"iter"
	_ "net"         // want `import of net: messages go through`
	_ "os"          // want `import of os: files, arguments`
	"sync"          // want `import of sync: tasks of a host run one at a time`
	_ "sync/atomic" // want `import of sync/atomic: tasks`
)

type mailbox struct {
	in chan int // want `channel type`
	mu sync.Mutex
}

func spawn(m *mailbox) int {
	go m.mu.Lock() // want `go statement`
	m.in <- 1      // want `channel send`
	select {       // want `select: the runtime draws`
	case v := <-m.in: // want `channel receive`
		return v
	default:
	}
	for v := range m.in { // want `range over a channel`
		return v
	}
	return cap(make(chan int)) // want `channel type`
}

func swallow() {
	defer func() {
		_ = recover() // want `recover could swallow`
	}()
	defer func() {
		//tornvet:recover the decoder's own panic, raised on no task
		_ = recover()
	}()
}

func pull(seq iter.Seq[int]) {
	next, stop := iter.Pull(seq) // want `iter.Pull is for engine/host/coop alone`
	defer stop()
	next()
}
