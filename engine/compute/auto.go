package compute

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine"
	"tornpage/engine/table"
	"tornpage/engine/vacuum"
)

// AutoConfig is autovacuum's.
type AutoConfig struct {
	// Naptime is how often tables are looked at; 0: a minute
	// (autovacuum_naptime); negative: there is no autovacuum.
	Naptime time.Duration
	Policy  vacuum.Policy
}

// startTasks starts what works in the background.
func (e *Engine) startTasks() {
	if e.cfg.Writer.Delay >= 0 {
		e.m.Go("background writer", func() { e.pool.RunWriter(e.cfg.Writer) })
	}
	if e.cfg.Auto.Naptime >= 0 {
		e.m.Go("autovacuum", e.autovacuum)
	}
}

// autovacuum vacuums the tables that want it, one after the other. Counters
// begin with the boot, so that each table is also vacuumed once after it: only
// that tells the free-space map what is free.
func (e *Engine) autovacuum() {
	nap := e.cfg.Auto.Naptime
	if nap == 0 {
		nap = time.Minute
	}
	seen := map[string]bool{}
	for {
		e.m.Sleep(nap)
		for _, t := range e.allTables() {
			if e.failed != nil {
				return
			}
			name := t.Def().Name
			if seen[name] && !e.cfg.Auto.Policy.Due(t.Counters) {
				continue
			}
			seen[name] = true
			e.m.Mark("vacuum.automatic")
			if _, err := t.Vacuum(); err != nil && e.failed == nil {
				e.autoFailed(name, err)
			}
		}
	}
}

// autoFailed notes a vacuum that could not be finished; the next round tries
// again. A page that cannot be read stops the vacuum of its table only.
func (e *Engine) autoFailed(name string, err error) {
	err = fmt.Errorf("autovacuum of table %q: %w", name, err)
	e.m.Logf("%v", err)
	if errors.Is(err, engine.ErrFull) {
		e.m.Mark("vacuum.disk-full")
		return
	}
	if e.cfg.Troubled != nil && !errors.Is(err, table.ErrGone) {
		e.cfg.Troubled(err)
	}
}
