package compute

import (
	"errors"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/db"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/engine/txn"
	"tornpage/engine/wal"
)

// ErrNotOpen says that Open has not succeeded.
var ErrNotOpen = errors.New("the engine is not open")

// Engine is the writer of one boot. Make it with New, then Open it.
type Engine struct {
	m       host.Machine
	cfg     Config
	geo     heap.Geometry
	st      engine.Storage
	pool    *buffer.Pool
	pg      *pager.Pager
	status  *txn.Status
	txns    *txn.Manager
	queue   *txn.Queue
	locks   *txn.Locks
	idle    *work
	endings *ending
	ended   *host.Cond // Wait's

	lockTable *txn.LockTable
	catalog   catalog
	ddl       *host.Latch // of changes of the catalog
	open      bool
	failed    error
	state     engine.State
	stats     Stats
}

// New makes an engine that is not open. Its Pool can be given to the storage
// that Open is then called with.
func New(m host.Machine, cfg Config) (*Engine, error) {
	cfg, geo, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{
		m: m, cfg: cfg, geo: geo,
		pool:  buffer.New(m, cfg.Pool),
		locks: txn.NewLocks(m),
		ended: m.NewCond(host.WaitWork),
		ddl:   host.NewLatch(m, host.WaitRelation),
	}
	e.pg = pager.New(m, e.pool, e.fail)
	e.pool.OnFail(e.fail)
	return e, nil
}

// Open is New and Engine.Open for a storage that needs no pool.
func Open(m host.Machine, st engine.Storage, cfg Config) (*Engine, error) {
	e, err := New(m, cfg)
	if err != nil {
		return nil, err
	}
	return e, e.Open(st)
}

// Open opens the storage and takes over what it found. It blocks for recovery.
func (e *Engine) Open(st engine.Storage) error {
	state, err := st.Open()
	if err == nil {
		err = e.failed // the pool may have failed in recovery
	}
	if err != nil {
		return err
	}
	e.st, e.state = st, state
	e.pool.Attach(st, state.End)
	e.pg.Attach(st)
	e.status = txn.NewStatus(e.m, e.pool, e.cfg.StatusCache)
	e.txns = txn.NewManager(e.m, e.status, state.NextXID, state.End, e.cfg.XIDBatch, e.logHorizon)
	e.queue = txn.NewQueue(e.m, e.txns, st, e.cfg.Published)
	e.lockTable = txn.NewLockTable(e.m, e.txns, e.cfg.Locks)
	e.open = true
	if !e.cfg.Relational {
		return nil
	}
	if err := e.openCatalog(); err != nil {
		return err
	}
	e.startTasks()
	return nil
}

// Pool is the engine's page pool, for the checkpoint of a storage that has one.
func (e *Engine) Pool() *buffer.Pool { return e.pool }

// State is what storage found when it was opened.
func (e *Engine) State() engine.State { return e.state }

// Geometry tells how the table lies on its pages.
func (e *Engine) Geometry() heap.Geometry { return e.geo }

// Rel is the table.
func (e *Engine) Rel() page.Rel { return e.cfg.Rel }

// Published is the LSN of the last commit that reads can see.
func (e *Engine) Published() wal.LSN { return e.txns.Published() }

// Running are the transactions in progress, and the next XID.
func (e *Engine) Running() engine.Running {
	return engine.Running{XIDs: append([]uint32(nil), e.txns.RunningXIDs()...), Next: e.txns.Next()}
}

// Serving reports whether the engine is open and has not failed.
func (e *Engine) Serving() bool { return e.open && e.failed == nil }

// Failed is the error that ended the boot (rule C6), nil while there is none.
func (e *Engine) Failed() error { return e.failed }

// Wait blocks until the engine fails and gives the error. The process should
// then exit: only a new boot can go on.
func (e *Engine) Wait() error {
	for e.failed == nil {
		e.ended.Wait()
	}
	return e.failed
}

// fail ends the boot (rule C6).
func (e *Engine) fail(err error) {
	if e.failed != nil {
		return
	}
	e.failed = err
	e.m.Logf("engine failed: %v", err)
	e.pg.Fail(err)
	if e.open {
		e.txns.Fail(err)
		e.queue.Fail(err)
	}
	e.ended.Broadcast()
}

// usable gives the reason why nothing can be done, nil if something can.
func (e *Engine) usable() error {
	if !e.open {
		return ErrNotOpen
	}
	return e.failed
}

// Stats are the counts so far.
func (e *Engine) Stats() Stats {
	s := e.stats
	s.Pool = e.pool.Stats()
	s.Records, s.LogBytes, s.Images, s.Rebuilt = e.pg.Stats.Records, e.pg.Stats.LogBytes, e.pg.Stats.Images, e.pg.Stats.Rebuilt
	s.LockWaits = e.locks.Waits
	if e.open {
		s.Committed = e.queue.Stats.Commits
		s.Grouped = e.queue.Stats.Grouped
		s.Horizons = e.txns.Extended
		s.StatusRead = e.status.Loads
	}
	return s
}

// work is the memory of one transaction in progress, used again by later ones.
type work struct {
	mtr   wal.MTR
	view  txn.View
	plan  heap.Plan
	tuple []byte
	ask   []uint32 // XIDs whose status is needed before the next attempt
	rows  []thinRow
	next  *work
}

// thinRow is one row of a write to the thin table.
type thinRow struct {
	key   int64
	value []byte // nil: delete
}

func (e *Engine) takeWork() *work {
	w := e.idle
	if w == nil {
		w = &work{}
	} else {
		e.idle, w.next = w.next, nil
	}
	w.rows = w.rows[:0]
	w.view.Begin(e.txns)
	return w
}

func (e *Engine) giveWork(w *work) { w.next, e.idle = e.idle, w }

// aborted is the outcome of a transaction that has no commit record and never
// will have one.
func aborted(why db.Why, err error) db.Outcome {
	o := db.Outcome{Status: db.Aborted, Why: why}
	if err != nil {
		o.Text = err.Error()
	}
	return o
}
