package experiments

import (
	"encoding/binary"
	"time"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/faults"
	"tornpage/sim"
)

// The marks of the demo's load. Its plan cuts the power in demo.cut.
const (
	markFilled = "demo.filled" // the table is filled and a checkpoint is done
	markLoaded = "demo.loaded" // all changes are acknowledged, their pages written, none synced
	markCut    = "demo.cut"
	markRead   = "demo.read" // every row was read after recovery
)

const (
	demoName = "demo/torn-page"
	loadName = "load"
	// demoPort is where the demo's server takes orders to make a checkpoint.
	demoPort host.Port = 2
	// demoHole: every so manieth key is left out when the table is filled, so
	// that the load has rows to insert.
	demoHole = 8
)

// demoTornPage is the scenario of Demo: fill a table, checkpoint, change some
// rows, have every changed page written, cut the power, recover, read all.
func demoTornPage() Scenario {
	b := faults.LocalBudget()
	one := func(key, value string) faults.Dim { return faults.Dim{Key: key, Values: []string{value}} }
	return Scenario{
		Name:   demoName,
		About:  "why full-page writes exist: one load and one power cut; set fpw, checksums and disk.sector",
		Budget: b,
		world:  demoWorld,
		load:   newRegisterLoad,
		must:   []string{"buffer.evicted-dirty", "checkpoint.done", "recovery.redone", markRead},
		steps: []faults.Step{{
			Comment: []string{"every change is acknowledged; no changed page was synced"},
			Trigger: faults.OnMark(1, markCut, loadName), For: 20 * time.Millisecond,
			Action: faults.PowerOff{Machine: "db-m"},
		}},
		Space: faults.Space{
			Scenario: demoName,
			// 16 pages of 56 rows. A tuple of a value of 31 bytes has 64, an
			// eighth of a sector, so that what a sector holds is whole rows; the
			// line pointers of two versions of every row fit in sector 0.
			Params: []faults.Dim{one("keys", "896"), one("group", "14"), one("horizon", "5s")},
			Config: []faults.Dim{
				one("rows.per-page", "56"), one("value.bytes", "31"), one("pool.pages", "4"),
				one("checkpoint.records", "0"), // on demand only
				one("fpw", "on"), one("checksums", "off"), one("disk.sector", "512"),
			},
			Horizon: 5*time.Second + quietTail,
			Quiet:   quietTail,
			Budget:  &b,
		},
	}
}

// demoWorld is the writer's machine, that of the load, and the auditor's.
func demoWorld(x *run) sim.Config {
	x.opened = x.takeOrders
	l := &tornLoad{register: register{
		client: client{worker: 1, ended: x.clientEnded},
		s:      &x.s, rec: x.rec, writer: writerName, last: make([]uint64, x.s.Keys),
	}}
	x.clients = append(x.clients, &l.client)
	cfg := x.base()
	cfg.Machines = []sim.Machine{
		{Name: "db-m", Zone: "a", Cores: x.s.Cores, Disks: []sim.Disk{
			{Name: "wal", Config: x.s.Disk}, {Name: "data", Config: x.s.Disk},
		}},
		{Name: loadName + "-m", Zone: "c"},
		{Name: auditName + "-m", Zone: "audit"},
	}
	cfg.Hosts = []sim.Host{
		{Name: writerName, Machine: "db-m", Boot: x.localWriter},
		{Name: loadName, Machine: loadName + "-m", Boot: l.boot},
		{Name: auditName, Machine: auditName + "-m", Boot: x.audit},
	}
	return cfg
}

// takeOrders lets a client ask for a checkpoint, as CHECKPOINT does.
func (x *run) takeOrders(m host.Machine) {
	st := x.loc
	m.Listen(demoPort, func(c host.Conn) {
		m.Go("checkpoint on demand", func() {
			if _, err := c.Recv(nil); err == nil {
				st.Checkpoint()
				c.Send([]byte("done"))
			}
		})
	})
}

// tornLoad is the demo's only client, so that the order of its requests, and
// with it that of the server's page writes, depends on the seed alone: with and
// without images the disk is in the same state when the power goes.
type tornLoad struct {
	register
	conn *db.Client
}

// boot is the load's process. Booted again it only reads, if that. It does not
// end, so that nobody boots it again.
func (l *tornLoad) boot(m host.Machine) {
	l.conn = nil
	if !l.finish {
		l.work(m)
	}
	for idle := m.NewCond(host.WaitWork); ; {
		idle.Wait()
	}
}

func (l *tornLoad) work(m host.Machine) {
	l.id = l.rec.client()
	if m.Boot() == 1 {
		l.fill(m)
		l.order(m)
		m.Mark(markFilled)
		l.change(m)
		l.readEvery(m, l.s.Compute.RowsPerPage) // one row a page: the pool must write what it holds
		m.Mark(markLoaded)
		m.Mark(markCut)
		l.conn.Close()
	}
	l.readEvery(m, 1)
	m.Mark(markRead)
	l.finish = true
	l.ended()
}

// connect gives a connection that works.
func (l *tornLoad) connect(m host.Machine) *db.Client {
	for l.conn == nil || l.conn.Broken() != nil {
		conn, err := db.Dial(m, writerName, dbPort, l.s.Timeout)
		if err != nil {
			m.Sleep(5 * time.Millisecond)
			continue
		}
		l.conn = conn
	}
	return l.conn
}

// fill writes the table, a transaction for each group of keys.
func (l *tornLoad) fill(m host.Machine) {
	for from := int64(0); from < l.s.Keys; from += l.s.Group {
		var keys []int64
		for k := from; k < min(from+l.s.Group, l.s.Keys); k++ {
			if k%demoHole != demoHole-1 {
				keys = append(keys, k)
			}
		}
		l.put(m, l.op(checkers.MultiPut, keys...), false)
	}
}

// order asks for a checkpoint and waits for it.
func (l *tornLoad) order(m host.Machine) {
	for {
		conn, err := m.Dial(m.Lookup(writerName), demoPort)
		if err == nil {
			conn.Send([]byte("checkpoint"))
			_, err = conn.Recv(nil)
			conn.Close()
		}
		if err == nil {
			return
		}
		m.Sleep(5 * time.Millisecond)
	}
}

// demoChanged is the chance of a row to be changed, one in so many: about four
// rows a page.
const demoChanged = 14

// change changes some rows, in key order, a transaction each: it inserts where
// there is none, and otherwise updates or, one in three, deletes.
func (l *tornLoad) change(m host.Machine) {
	r := m.Rand("demo.change", 0)
	for k := range l.s.Keys {
		if r.Chance(1, demoChanged) {
			l.put(m, l.op(checkers.Put, k), k%demoHole != demoHole-1 && r.Chance(1, 3))
		}
	}
}

// put does one write.
func (l *tornLoad) put(m host.Machine, op checkers.Op, remove bool) {
	conn := l.connect(m)
	op.Values = make([]uint64, len(op.Keys))
	bytes := make([][]byte, len(op.Keys))
	for i := range op.Keys {
		if !remove {
			op.Values[i] = l.rec.value()
			bytes[i] = l.fixedValue(op.Values[i])
		}
	}
	i := l.rec.begin(op)
	var o db.Outcome
	if op.Kind == checkers.Put {
		o = conn.Put(op.Keys[0], bytes[0])
	} else {
		o = conn.MultiPut(op.Keys, bytes)
	}
	switch o.Status {
	case db.Committed:
		l.rec.end(i, checkers.Committed, o.Token)
	case db.Aborted:
		l.rec.end(i, checkers.Aborted, 0)
	default:
		l.rec.end(i, checkers.Unknown, 0)
		l.id = l.rec.client()
	}
}

// fixedValue is encodeValue at full length, so that all tuples have one size.
func (l *tornLoad) fixedValue(v uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, v)
	for i := len(b); i < l.s.Value; i++ {
		b = append(b, byte(v)+byte(i))
	}
	return b
}

// readEvery reads every n-th row, one by one: a row that cannot be read must
// not hide others.
func (l *tornLoad) readEvery(m host.Machine, n int64) {
	for k := int64(0); k < l.s.Keys; {
		conn := l.connect(m)
		l.read(l.op(checkers.Get, k), conn, false)
		if conn.Broken() == nil {
			k += max(n, 1)
		}
	}
}
