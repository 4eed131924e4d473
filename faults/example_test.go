package faults_test

import (
	"fmt"
	"time"

	"tornpage/faults"
)

// A plan is text: it parses, and prints in one canonical form. A budget says
// in words which step goes beyond what a storage claims.
func Example() {
	plan, err := faults.Parse("lost.plan", `tornpage plan 1
scenario local/register clients=4 ops=300
config   pool.pages=8
seed     8127
at 120ms for 30ms power-off db-m
at 0.2s for 1s disk db-m/data lost-write=1/1000
at 2s quiet
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(faults.Print(plan))
	_, why := faults.Within(plan, faults.LocalBudget())
	fmt.Println(why)
	// Output:
	// tornpage plan 1
	// scenario  local/register   clients=4 ops=300
	// config    pool.pages=8
	// seed      8127
	// at 120ms for 30ms  power-off db-m
	// at 200ms for 1s   disk db-m/data lost-write=0.1%
	// at 2s             quiet
	// step 2, "at 200ms for 1s disk db-m/data lost-write=0.1%": local claims nothing under lost-write
}

// A swarm turns a seed into a plan over a space.
func ExampleSwarm() {
	budget := faults.LocalBudget()
	plan := faults.Swarm(11, faults.Space{
		Names: faults.Names{
			Hosts:    []string{"db", "c1"},
			Machines: []string{"db-m"},
			Disks:    []faults.DiskName{{Machine: "db-m", Disk: "data"}},
			Marks:    []string{"checkpoint.begun"},
		},
		Scenario: "local/register",
		Config:   []faults.Dim{{Key: "pool.pages", Values: []string{"8", "64", "1024"}}},
		Horizon:  5 * time.Second,
		Quiet:    time.Second,
		MaxSteps: 5,
		Budget:   &budget,
	})
	fmt.Print(faults.Print(plan))
	// Output:
	// tornpage plan 1
	// scenario  local/register
	// config    pool.pages=1024
	// seed      11
	// at 851512us for 351us  disk db-m/data eio-read=0.1%
	// at 1070426us      disk db-m/data fail-sync=4
	// at 3903054us for 87880us  link db <-> c1 reorder=20%
	// after 1 checkpoint.begun for 239582us  link db <-> c1 drop=0.1%
	// after 3 checkpoint.begun on c1 for 4087us  link c1 -> db delay=64ms
	// at 4s             quiet
}
