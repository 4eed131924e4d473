package oshost

import "sync"

// workerCount bounds the file calls that run at once: enough to fill the queue
// of an SSD's usual 32 slots half way, few enough to cost nothing when idle.
const workerCount = 16

// workers run file calls. They start when first needed.
type workers struct {
	mu      sync.Mutex
	some    *sync.Cond
	jobs    []func()
	idle    int
	started int
	closed  bool
	gone    sync.WaitGroup
}

func newWorkers() *workers {
	w := &workers{}
	w.some = sync.NewCond(&w.mu)
	return w
}

// do runs job soon, on another goroutine.
func (w *workers) do(job func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs = append(w.jobs, job)
	if w.idle < len(w.jobs) && w.started < workerCount {
		w.started++
		w.gone.Go(w.work)
	}
	w.some.Signal()
}

func (w *workers) work() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		for len(w.jobs) == 0 && !w.closed {
			w.idle++
			w.some.Wait()
			w.idle--
		}
		if w.closed {
			return
		}
		job := w.jobs[0]
		w.jobs[0] = nil
		w.jobs = w.jobs[1:]
		w.mu.Unlock()
		job()
		w.mu.Lock()
	}
}

// stop drops what has not begun and waits for what has.
func (w *workers) stop() {
	w.mu.Lock()
	w.closed, w.jobs = true, nil
	w.some.Broadcast()
	w.mu.Unlock()
	w.gone.Wait()
}
