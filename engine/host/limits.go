package host

import (
	"fmt"
	"strings"
)

// Limits that every machine has. A message beyond its limit is a bug of the
// sender: Send panics (rule H-size).
const (
	// MaxDatagram is the longest datagram in bytes: eight pages, the size that
	// TCP stacks hand to a card as one segment.
	MaxDatagram = 64 << 10
	// MaxMessage is the longest message of a connection in bytes. It bounds
	// what a receiver allocates for a length that a peer claims.
	MaxMessage = 16 << 20
)

// MaxFileName is the longest file name in bytes, as on Linux.
const MaxFileName = 255

// CheckFileName gives an error, which wraps ErrIO, for a name that no file of a
// flat directory can have.
func CheckFileName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > MaxFileName || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%w: %.300q is no file name of 1 to %d bytes without slashes", ErrIO, name, MaxFileName)
	}
	return nil
}
