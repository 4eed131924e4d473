package hosttest_test

import (
	"fmt"

	"tornpage/engine/host"
)

// logger is a machine that can only log.
type logger struct {
	host.Machine
	lines []string
}

func (l *logger) Logf(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}
