// Command tornvet reports code that could make two runs of one seed differ.
//
//	go run ./cmd/tornvet ./...
//
// It exits with 3 when it found something. What it reports, and the comment
// directives that excuse a place with a reason, is in package forbid. The rules
// about the tree as a whole (import arrows, sizes, documentation, layout, text)
// are in package tree and run with go test; they need no command.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"tornpage/cmd/tornvet/forbid"
)

func main() { singlechecker.Main(forbid.Analyzer) }
