// Package other has a variable for package state to change.
package other

// Limit is never changed here.
var Limit = 3
