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
