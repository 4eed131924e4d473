//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package experiments

import (
	"errors"
	"os"
	"time"
)

// errNoDeploy says why nothing can be deployed here.
var errNoDeploy = errors.New("deployments need POSIX files, a shared mapping and SIGKILL; use the simulator on this system")

func mapShared(*os.File, int) ([]byte, error) { return nil, errNoDeploy }

func unmap([]byte) error { return nil }

func monotonic() time.Duration { return 0 }
