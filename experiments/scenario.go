package experiments

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tornpage/faults"
	"tornpage/sim"
)

// Scenario is a named topology with a workload.
type Scenario struct {
	Name   string
	About  string // one line
	Budget faults.Budget
	// Space is what seeds draw plans from.
	Space faults.Space
	// steps, if any, stand in every plan in place of the swarm's.
	steps []faults.Step
	world func(*run) sim.Config
	load  func(*run) workload
	// relational: the load has tables with indexes.
	relational bool
	// must are marks without which a set of runs has tested nothing.
	must []string
}

// patience is how long after the faults an operation may take. With tables and a
// pool of a few pages a transaction waits for some hundred reads, and eight
// clients for one disk.
func (s Scenario) patience() time.Duration {
	if s.relational {
		return 5 * quietTail
	}
	return quietTail
}

// Scenarios lists all scenarios.
func Scenarios() []Scenario {
	return []Scenario{localRegister(), remoteRegister(), localBank(),
		localTables("local/tpcb", tpcbAbout, newTPCBLoad), localMixed(),
		remoteTables("remote/bank", bankAbout, newBankLoad),
		remoteTables("remote/tpcb", tpcbAbout, newTPCBLoad), remoteMixed(), demoTornPage()}
}

// Find gives the scenario of a name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("no scenario is named %q; there are %s", name, strings.Join(names, ", "))
}

// Plan draws the plan of a seed.
func (s Scenario) Plan(seed uint64) faults.Plan {
	p := faults.Swarm(seed, s.Space)
	if s.steps != nil {
		p.Steps = slices.Clone(s.steps)
	}
	return p
}

// clientNames are the clients that swarms know; they may be killed too.
var clientNames = [...]string{"c1", "c2"}

// connectionKinds are the faults that can strike where everything is said over
// connections: they keep order, and nothing comes twice.
func connectionKinds() []faults.Kind {
	return slices.DeleteFunc(faults.Kinds(), func(k faults.Kind) bool {
		return k == faults.KindDup || k == faults.KindReorder
	})
}

// quietTail is the time at the end of a run in which nothing is wrong any
// more, for progress.
const quietTail = 2 * time.Second

func localRegister() Scenario {
	b := faults.LocalBudget()
	return Scenario{
		Name:   "local/register",
		About:  "one writer on its machine's disks (PostgreSQL on a volume); gets, puts, compare-and-sets and groups of keys",
		Budget: b,
		world:  localWorld,
		load:   newRegisterLoad,
		must:   append(localMust(), "heap.pruned"),
		Space: faults.Space{
			Scenario: "local/register",
			Names: faults.Names{
				Hosts: []string{writerName, clientNames[0], clientNames[1]}, Machines: []string{"db-m"}, Zones: []string{"a", "c"},
				Disks: []faults.DiskName{{Machine: "db-m", Disk: "wal"}, {Machine: "db-m", Disk: "data"}},
				Marks: []string{
					"checkpoint.begun", "checkpoint.pages-written", "checkpoint.logged", "checkpoint.done", "control.written",
					"recovery.begun", "recovery.redone", "recovery.done", "wal.flushed", "wal.segment-created",
					"wal.segment-recycled", "wal.segment-removed", "buffer.evicted-dirty", "heap.pruned", "commit.grouped",
				},
			},
			Params:  scenarioDims(),
			Kinds:   connectionKinds(),
			Markers: []string{writerName},
			Config:  append(configDims(), localDims()...),
			Horizon: time.Second + quietTail,
			Quiet:   quietTail,
			Budget:  &b,
		},
	}
}

const tpcbAbout = "pgbench's TPC-B-like transactions with history as a journal, audits in one snapshot; vacuum, an index made meanwhile"

const bankAbout = "transfers between accounts with a journal, audits in one snapshot; savepoints, deadlocks, vacuum, an index made meanwhile"

// localTables is a scenario of a load on tables with indexes, on storage local.
func localTables(name, about string, load func(*run) workload) Scenario {
	sc := localRegister()
	sc.Name, sc.About, sc.load = name, about, load
	sc.relational, sc.must = true, localTablesMust()
	sc.Space.Scenario = name
	sc.Space.Names.Marks = append(slices.DeleteFunc(sc.Space.Names.Marks, func(m string) bool { return m == "heap.pruned" }), tableCrashMarks()...)
	sc.Space.Config = append(tableDims(), slices.DeleteFunc(localDims(), func(d faults.Dim) bool { return d.Key == "disk.profile" })...)
	// Slower disks make a run with so small a pool wait for reads alone.
	sc.Space.Config = append(sc.Space.Config, faults.Dim{Key: "disk.profile", Values: []string{"fast", "nvme"}})
	sc.Space.Params = []faults.Dim{
		{Key: "clients", Values: []string{"4", "2", "8"}},
		{Key: "keys", Values: []string{"48", "24"}},
		{Key: "ops", Values: []string{"160"}},
	}
	return sc
}

// localBank is transfers between accounts.
func localBank() Scenario {
	sc := localTables("local/bank", bankAbout, newBankLoad)
	sc.must = bankMust()
	return sc
}

// localMixed is the load of keys and values on a table with several indexes.
func localMixed() Scenario {
	sc := localTables("local/mixed", mixedAbout, newMixedLoad)
	sc.must = mixedMust()
	sc.Space.Params = []faults.Dim{
		{Key: "clients", Values: []string{"4", "2", "8"}},
		{Key: "keys", Values: []string{"48", "96"}},
		{Key: "group", Values: []string{"8", "4", "16"}},
		{Key: "writes", Values: []string{"60", "80"}},
		{Key: "ops", Values: []string{"160"}},
	}
	return sc
}
