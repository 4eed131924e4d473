package host

import "errors"

// Errors of disks and connections. Implementations wrap them with the place
// (process, disk, file, offset); test with errors.Is.
var (
	ErrNotExist = errors.New("no such file")
	ErrNoSpace  = errors.New("no space left on the disk")
	ErrIO       = errors.New("input/output error")
	ErrClosed   = errors.New("closed")
	ErrBroken   = errors.New("connection broken")
	ErrRefused  = errors.New("connection refused: nobody listens there")
	ErrTimeout  = errors.New("timed out")
)
