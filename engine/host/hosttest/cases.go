package hosttest

import (
	"fmt"
	"slices"
	"strings"
)

// Cases are all cases, new on each call.
func Cases() []*Case {
	return slices.Concat(taskCases(), timeCases(), endCases(), condCases(), latchCases(),
		identityCases(), killCases(), datagramCases(), connCases(), connEndCases(),
		fileCases(), nameCases(), rebootCases(), powerCases())
}

// mentions is an error if a text lacks one of the words.
func mentions(text string, words []string) error {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return fmt.Errorf("the end is reported as %q, which does not mention %q", text, word)
		}
	}
	return nil
}
