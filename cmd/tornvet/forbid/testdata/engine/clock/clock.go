// Package clock breaks V2 to V6.
package clock

import (
	"context"
	crand "crypto/rand" // want `import of crypto/rand: it draws from entropy`
	"fmt"
	_ "hash/maphash" // want `import of hash/maphash: its seed differs`
	"math/rand"
	randv2 "math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"
)

func clocks(ctx context.Context) {
	_ = time.Now()                      // want `time.Now reads or waits for the real clock`
	_ = time.Since(time.Time{})         // want `time.Since reads`
	time.Sleep(time.Second)             // want `time.Sleep reads`
	sleep := time.AfterFunc             // want `time.AfterFunc reads`
	_, c := context.WithTimeout(ctx, 1) // want `context.WithTimeout reads`
	_ = time.Unix(0, 0).In(time.Local)  // want `time.Local is the machine's time zone`
	_ = time.Unix(0, 0).UTC().Add(time.Minute)
	c()
	_ = sleep
}

func chance() {
	_ = rand.Intn(6)   // want `math/rand.Intn draws from a global source`
	_ = randv2.IntN(6) // want `math/rand/v2.IntN draws from a global source`
	_ = randv2.N(6)    // want `math/rand/v2.N draws from a global source`
	_ = randv2.New(randv2.NewPCG(1, 2)).IntN(6)
	_ = rand.New(rand.NewSource(1)).Intn(6)
	_, _ = crand.Read(nil)
}

func observe(p *int) {
	_ = runtime.NumCPU()         // want `runtime.NumCPU observes the real machine`
	runtime.SetFinalizer(p, nil) // want `runtime.SetFinalizer observes`
	runtime.GC()                 // want `runtime.GC observes`
	_ = runtime.GOARCH           // want `runtime.GOARCH observes`
	runtime.KeepAlive(p)
	_ = debug.Stack() // want `runtime/debug.Stack observes`
	//tornvet:observe printed with a panic, after the run is over
	_ = debug.Stack()
	_ = debug.Stack() //tornvet:observe the same, at the end of its line
}

func addresses(p *int) {
	_ = uintptr(unsafe.Pointer(p))     // want `uintptr of a pointer makes an address visible`
	_ = reflect.ValueOf(p).Pointer()   // want `\(reflect.Value\).Pointer makes an address visible`
	_ = fmt.Sprintf("%s at %p", "", p) // want `%p in a format makes an address visible`
	_ = fmt.Sprintf("%[1]p", p)        // want `%p in a format`
	logf("%#p", p)                     // want `%p in a format`
	logf("100%% paid, 50% paid, %d", 1)
}

func logf(format string, args ...any) {}

//go:linkname nanotime runtime.nanotime // want `go:linkname reaches around every rule`
func nanotime() int64
