package experiments

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestOneSeed(t *testing.T) {
	n, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	name := os.Getenv("SC")
	if name == "" {
		name = "local/register"
	}
	sc, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{}
	if os.Getenv("LOG") != "" {
		opt.Log = func(at time.Duration, p, l string) { fmt.Println("LOG", at, p, l) }
	}
	start := time.Now()
	r, err := Run(sc.Plan(n), opt)
	fmt.Println(err, time.Since(start), r.Events, len(r.History.Ops), r.Virtual, r.Why)
	if os.Getenv("HIST") != "" {
		fmt.Println(r.History)
	}
	requireGreen(t, r)
}
