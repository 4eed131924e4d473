// Package bad does not type-check.
package bad

var x = missing
