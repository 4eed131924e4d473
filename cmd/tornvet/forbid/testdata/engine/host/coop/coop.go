// Package coop may recover and pull, and nothing more.
package coop

import (
	"iter"
	"runtime"
	"runtime/debug"
)

func run(seq iter.Seq[int]) []byte {
	defer func() { _ = recover() }()
	next, _ := iter.Pull(seq)
	next()
	runtime.Gosched() // want `runtime.Gosched observes`
	return debug.Stack()
}
