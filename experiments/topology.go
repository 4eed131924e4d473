package experiments

import (
	"errors"
	"fmt"

	"tornpage/engine"
	"tornpage/engine/compute"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/local"
	"tornpage/sim"
)

func isNoPage(err error) bool { return errors.Is(err, engine.ErrNoPage) }

// engineStats are counters of the writer, summed over its boots.
type engineStats struct {
	Compute compute.Stats
	Local   local.Stats
}

// writerName and its machine's, in every scenario of one writer.
const (
	writerName = "db"
	auditName  = "audit"
)

// localWriter is the boot function of a writer on storage local.
func (x *run) localWriter(m host.Machine) {
	x.writer(m, "recovery.redone", func(m host.Machine, eng *compute.Engine) engine.Storage {
		x.loc = local.New(m, x.s.Local, eng.Pool())
		return x.loc
	})
}

// writer makes an engine on a storage, both under observation, and serves. cut
// is the mark in which the storage has decided what survived, as its durable
// point says then.
func (x *run) writer(m host.Machine, cut string, storage func(host.Machine, *compute.Engine) engine.Storage) {
	x.collect()
	cfg := x.s.Compute
	cfg.Relational = x.sc.relational
	cfg.Troubled = func(err error) {
		if !errors.Is(err, host.ErrIO) { // a fault of the disk, which reads meet too
			x.troubles = append(x.troubles, err.Error())
		}
	}
	var w *watched
	cfg.Published = func(xid uint32, lsn db.Token) { w.published(xid, lsn) }
	eng, err := compute.New(m, cfg)
	if err != nil {
		x.refuse(m, err)
	}
	var st engine.Storage
	st = storage(marked{m, func(mark string) {
		if mark == cut {
			x.obs.survived(st.Durable())
		}
	}}, eng)
	w = x.obs.watch(m, st)
	x.eng = eng
	x.serve(m, eng, w)
}

// serve opens the engine, answers clients, and exits when it fails.
func (x *run) serve(m host.Machine, eng *compute.Engine, st engine.Storage) {
	if err := eng.Open(st); err != nil {
		x.refuse(m, fmt.Errorf("does not open: %w", err))
	}
	m.Mark(openedMark)
	db.Serve(m, dbPort, eng)
	if x.opened != nil {
		x.opened(m)
	}
	x.refuse(m, eng.Wait())
}

// refuse ends the process with a reason that the history keeps.
func (x *run) refuse(m host.Machine, reason error) {
	x.rec.exit(m, reason)
	m.Exit(reason)
}

// localWorld is one machine with a writer, and one for each client.
func localWorld(x *run) sim.Config {
	cfg := x.base()
	cfg.Machines = append(cfg.Machines, sim.Machine{
		Name: "db-m", Zone: "a", Cores: x.s.Cores,
		Disks: []sim.Disk{{Name: "wal", Config: x.s.Disk}, {Name: "data", Config: x.s.Disk}},
	})
	cfg.Hosts = append(cfg.Hosts, sim.Host{Name: writerName, Machine: "db-m", Boot: x.localWriter})
	x.addClients(&cfg, "")
	return cfg
}

// base is what all worlds share.
func (x *run) base() sim.Config {
	return sim.Config{Seed: x.plan.Seed, Log: x.opt.Log, MaxEvents: x.opt.MaxEvents, Reuse: x.opt.Reuse}
}

// clientName is the process of a worker.
func clientName(worker int) string { return fmt.Sprintf("c%d", worker) }

// addClients adds the clients of the scenario's load and the auditor, in zones
// of their own.
func (x *run) addClients(cfg *sim.Config, replica string) {
	per := (x.s.Ops + x.s.Clients - 1) / x.s.Clients
	for i := range x.s.Clients {
		c, boot := x.work.client(i+1, replica)
		*c = client{worker: i + 1, ops: per, quiet: x.isQuiet, ended: x.clientEnded}
		name := clientName(i + 1)
		cfg.Machines = append(cfg.Machines, sim.Machine{Name: name + "-m", Zone: "c"})
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: name, Machine: name + "-m", Boot: boot})
		x.clients = append(x.clients, c)
	}
	cfg.Machines = append(cfg.Machines, sim.Machine{Name: auditName + "-m", Zone: "audit"})
	cfg.Hosts = append(cfg.Hosts, sim.Host{Name: auditName, Machine: auditName + "-m", Boot: x.audit})
}
