package experiments

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"
)

// board is a few words of memory that all processes of a deployment share: a
// mapped file. It outlives each of them, so that SIGKILL harms no counter.
//
// Stamps are taken from one counter with an atomic addition, on which all
// processors agree. An operation draws its call stamp before its request is
// sent and its return stamp after the answer has come, so recorded intervals
// contain the true ones, and an operation that ended before another began has
// the smaller stamps, in whichever processes they ran: what the checkers need
// (real-time order, closed intervals). No two stamps are equal, and no clock
// takes part.
type board struct {
	mem   []byte
	words *[boardWords]atomic.Int64
}

// The words of a board.
const (
	boardStamp    = iota // the last stamp
	boardSessions        // processes started so far
	boardAnswered        // operations that committed
	boardQuiet           // 1: the faults are over
	boardStart           // the beginning of the run, on the monotonic clock
	boardWords
)

// boardBytes is the size of the file: one page of the smallest size in use.
const boardBytes = 4096

// makeBoard makes the file of a board.
func makeBoard(path string) (*board, error) {
	if err := os.WriteFile(path, make([]byte, boardBytes), 0o644); err != nil {
		return nil, err
	}
	b, err := openBoard(path)
	if err == nil {
		b.words[boardStart].Store(int64(monotonic()))
	}
	return b, err
}

// openBoard maps the file of a board.
func openBoard(path string) (*board, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err != nil || st.Size() != boardBytes {
		return nil, fmt.Errorf("board %s: %d bytes, want %d: %v", path, st.Size(), boardBytes, err)
	}
	mem, err := mapShared(f, boardBytes)
	if err != nil {
		return nil, fmt.Errorf("board %s: %w", path, err)
	}
	return &board{mem: mem, words: (*[boardWords]atomic.Int64)(unsafe.Pointer(&mem[0]))}, nil
}

func (b *board) close() error { return unmap(b.mem) }

// stamp is the next event number of the deployment.
func (b *board) stamp() int64 { return b.words[boardStamp].Add(1) }

// now is the time since the run began, on the machine's monotonic clock, which
// all its processes share.
func (b *board) now() time.Duration {
	return monotonic() - time.Duration(b.words[boardStart].Load())
}

func (b *board) quiet() bool { return b.words[boardQuiet].Load() != 0 }
