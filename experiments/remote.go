package experiments

import (
	"slices"
	"time"

	"tornpage/checkers"
	"tornpage/engine"
	"tornpage/engine/compute"
	"tornpage/engine/host"
	"tornpage/engine/remote"
	"tornpage/faults"
	"tornpage/sim"
)

// The processes of storage remote beside the writer.
const (
	logName     = "log"
	pagesName   = "pages"
	replicaName = "replica"
)

// remoteConfig is the storage's configuration for all of its processes.
func (x *run) remoteConfig() (remote.Config, error) {
	_, geo, err := x.s.Compute.Table()
	c := x.s.Remote
	c.Log, c.Pages, c.LogDisk = logName, pagesName, logName
	c.Rel, c.Geometry, c.DBPort = compute.DefaultRel, geo, dbPort
	c.Synced = x.rec.durable
	return c, err
}

// remoteWriter is the boot function of a writer on storage remote.
func (x *run) remoteWriter(m host.Machine) {
	rc, err := x.remoteConfig()
	if err != nil {
		x.refuse(m, err)
	}
	x.writer(m, "remote.took-over", func(m host.Machine, _ *compute.Engine) engine.Storage {
		return remote.NewWriter(m, rc)
	})
}

// remotePart is the boot function of another process of the storage.
func (x *run) remotePart(part func(host.Machine, remote.Config)) func(host.Machine) {
	return func(m host.Machine) {
		rc, err := x.remoteConfig()
		if err != nil {
			x.refuse(m, err)
		}
		if m.Name() == replicaName {
			x.rec.boot(checkers.Boot{Host: m.Name(), Boot: m.Boot(), Follower: true})
		}
		part(exits{m, x.rec}, rc)
	}
}

// exits is a machine whose exits the history keeps.
type exits struct {
	host.Machine
	rec *Recorder
}

func (e exits) Exit(reason error) {
	e.rec.exit(e.Machine, reason)
	e.Machine.Exit(reason)
}

// remoteWorld is a writer, a log host, a page host and a replica, each on a
// machine of its own, and the clients.
func remoteWorld(x *run) sim.Config {
	return x.remote(replicaName)
}

// remoteTablesWorld is that without a replica, whose views know the thin table
// only.
func remoteTablesWorld(x *run) sim.Config { return x.remote("") }

func (x *run) remote(replica string) sim.Config {
	cfg := x.base()
	add := func(name, zone string, boot func(host.Machine), disks ...sim.Disk) {
		cfg.Machines = append(cfg.Machines, sim.Machine{Name: name + "-m", Zone: zone, Cores: x.s.Cores, Disks: disks})
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: name, Machine: name + "-m", Boot: boot})
	}
	add(writerName, "a", x.remoteWriter)
	add(logName, "b", x.remotePart(remote.RunLog), sim.Disk{Name: logName, Config: x.s.Disk})
	add(pagesName, "b", x.remotePart(remote.RunPages))
	if replica != "" {
		add(replica, "a", x.remotePart(remote.RunFollower))
	}
	x.addClients(&cfg, replica)
	return cfg
}

// remoteDims are the dimensions of storage remote that seeds vary.
func remoteDims() []faults.Dim {
	return []faults.Dim{
		{Key: "remote.unacknowledged", Values: []string{"4KiB", "64KiB", "1MiB"}},
		{Key: "remote.window", Values: []string{"4KiB", "64KiB"}},
		{Key: "remote.history", Values: []string{"16KiB", "64KiB", "1MiB"}},
		{Key: "disk.sector", Values: []string{"512", "4096"}},
		{Key: "disk.profile", Values: []string{"fast", "nvme", "gp3"}},
	}
}

func remoteRegister() Scenario {
	b := faults.LocalBudget()
	b.Storage = "remote"
	hosts := []string{writerName, logName, pagesName, replicaName, clientNames[0], clientNames[1]}
	return Scenario{
		Name:   "remote/register",
		About:  "a writer, one log machine, one page machine and a replica; the same load, and read views on the replica",
		Budget: b,
		world:  remoteWorld,
		load:   newRegisterLoad,
		must: []string{
			"buffer.evicted", "heap.pruned", "remote.reconnected", "remote.taken-over", "remote.view-moved", "remote.page-waited",
		},
		Space: faults.Space{
			Scenario: "remote/register",
			Names: faults.Names{
				Hosts:    hosts,
				Machines: []string{"db-m", "log-m", "pages-m", "replica-m"},
				Zones:    []string{"a", "b", "c"},
				Disks:    []faults.DiskName{{Machine: "log-m", Disk: logName}},
				Marks: []string{
					"remote.log-synced", "remote.taken-over", "remote.took-over", "remote.reconnecting", "remote.resumed",
					"remote.view-moved", "remote.page-waited", "remote.folded", "buffer.evicted", "heap.pruned", "commit.grouped",
				},
			},
			Params:  scenarioDims(),
			Kinds:   connectionKinds(),
			Markers: []string{writerName, logName, pagesName, replicaName},
			Config:  append(configDims(), remoteDims()...),
			Horizon: time.Second + quietTail,
			Quiet:   quietTail,
			Budget:  &b,
		},
	}
}

// remoteTables is a scenario of a load on tables with indexes, on storage
// remote.
func remoteTables(name, about string, load func(*run) workload) Scenario {
	sc := remoteRegister()
	sc.Name, sc.About, sc.load = name, about, load
	sc.world, sc.relational = remoteTablesWorld, true
	sc.must = []string{"buffer.evicted", "btree.split", "remote.reconnected", "remote.taken-over", "remote.page-waited"}
	local := localTables(name, about, load)
	sc.Space.Scenario, sc.Space.Params = name, local.Space.Params
	sc.Space.Names.Hosts = []string{writerName, logName, pagesName, clientNames[0], clientNames[1]}
	sc.Space.Names.Machines = []string{"db-m", "log-m", "pages-m"}
	sc.Space.Names.Marks = slices.DeleteFunc(slices.Clone(sc.Space.Names.Marks), func(m string) bool { return m == "remote.view-moved" || m == "heap.pruned" })
	sc.Space.Markers = []string{writerName, logName, pagesName}
	sc.Space.Config = append(tableDims(), remoteDims()...)
	return sc
}

// remoteMixed is local/mixed on storage remote.
func remoteMixed() Scenario {
	sc := remoteTables("remote/mixed", mixedAbout, newMixedLoad)
	sc.Space.Params = localMixed().Space.Params
	return sc
}
