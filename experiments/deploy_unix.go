//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package experiments

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// mapShared maps the beginning of a file into memory that all processes share.
func mapShared(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmap(mem []byte) error { return unix.Munmap(mem) }

// monotonic is CLOCK_MONOTONIC.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err) // POSIX: only for a clock that does not exist
	}
	return time.Duration(t.Nano())
}
