package oshost

import (
	"os"
	"sync"
)

// openFiles are the files that a process has open. Workers add to it, so that a
// file whose opening a kill cut short is closed too.
type openFiles struct {
	mu    sync.Mutex
	files map[*os.File]struct{}
}

func (o *openFiles) add(f *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.files == nil {
		o.files = map[*os.File]struct{}{}
	}
	o.files[f] = struct{}{}
}

func (o *openFiles) remove(f *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.files, f)
}

func (o *openFiles) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for f := range o.files {
		_ = f.Close() // the process is gone: nobody to tell
	}
	o.files = nil
}

// buffers are the copies through which file calls pass. They belong to the
// loop; one that a kill leaves in a worker's hands is not given back.
type buffers struct{ free [][]byte }

const (
	bufferSize  = 64 << 10 // bytes: most calls are a page or a piece of log
	maxBuffers  = 64       // kept: 4 MiB
	worthPooled = 512      // bytes from which taking one beats allocating
)

// take gives a buffer of n bytes of any content.
func (p *buffers) take(n int) []byte {
	if n < worthPooled || n > bufferSize {
		return make([]byte, n)
	}
	last := len(p.free) - 1
	if last < 0 {
		return make([]byte, n, bufferSize)
	}
	b := p.free[last]
	p.free[last] = nil
	p.free = p.free[:last]
	return b[:n]
}

// give takes a buffer back.
func (p *buffers) give(b []byte) {
	if cap(b) == bufferSize && len(p.free) < maxBuffers {
		p.free = append(p.free, b)
	}
}
