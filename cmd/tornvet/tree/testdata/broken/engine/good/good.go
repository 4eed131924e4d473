// Package good breaks one rule.
package good

// F starts a goroutine.
func F() { go F() }
