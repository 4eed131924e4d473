// Package oshost is exempt.
package oshost

import (
	"os"
	"sync"
	"time"
)

var mu sync.Mutex

func run() { go os.Exit(int(time.Now().Unix())); mu.Lock() }
