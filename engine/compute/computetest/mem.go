package computetest

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

const logStart = 4096 // LSN of the first record; 0 means none

// Mem survives boots. The zero value is an empty storage.
type Mem struct {
	FlushTime time.Duration // of one flush; 0: 100 µs
	ReadTime  time.Duration // of one page read; 0: none
	WithFloor bool          // images are wanted: floor 0 otherwise

	log     []entry
	durable int // records that survive
	epoch   uint64
	pages   map[page.ID]*page.Page
	sizes   map[page.Rel]uint32 // in blocks, as of the last Append
	evicted []version
}

type entry struct {
	at, end wal.LSN
	crc     uint32
	bytes   []byte
}

type version struct {
	id page.ID
	p  *page.Page
}

// Storage is one boot of a Mem.
type Storage struct {
	mem      *Mem
	m        host.Machine
	floor    wal.LSN
	flushing bool
	flushed  *host.Cond
	failed   error
	epoch    uint64

	// Moves makes the floor move in one Append of so many; 0: never.
	Moves uint64
	rand  host.Rand
	// Betray makes the Append of so many from now on keep its record, and yet
	// give an error; 0: none.
	Betray int
	// EvictErr is what Evict gives, if set.
	EvictErr error
}

// ErrBetrayed is the error of a betrayed Append.
var ErrBetrayed = errors.New("appended, but not said so")

// Boot makes the storage of a new boot on m.
func (d *Mem) Boot(m host.Machine) *Storage {
	return &Storage{mem: d, m: m, flushed: m.NewCond(host.WaitDurable), rand: m.Rand("mem.floor", 0)}
}

// Records decodes the surviving log, in order.
func (d *Mem) Records() ([]wal.Record, error) {
	var out []wal.Record
	prev := uint32(0)
	for _, e := range d.log[:d.durable] {
		r, crc, err := wal.Decode(e.bytes, e.at, prev)
		if err != nil {
			return nil, err
		}
		prev = crc
		out = append(out, r)
	}
	return out, nil
}

// End is the LSN of the end of the appended log.
func (d *Mem) End() wal.LSN {
	if n := len(d.log); n > 0 {
		return d.log[n-1].end
	}
	return logStart
}

func (d *Mem) durableEnd() wal.LSN {
	if d.durable > 0 {
		return d.log[d.durable-1].end
	}
	return logStart
}

// Open implements engine.Storage.
func (s *Storage) Open() (engine.State, error) {
	d := s.mem
	d.log = d.log[:d.durable]
	d.epoch++
	s.epoch = d.epoch
	r, err := d.replay()
	if err != nil {
		return engine.State{}, err
	}
	d.pages, d.sizes, d.evicted = r.pages, r.sizes, nil
	if d.WithFloor {
		s.floor = d.End()
	}
	return engine.State{End: d.End(), Epoch: d.epoch, NextXID: r.next, Records: uint64(len(d.log))}, nil
}

// Admit implements engine.Storage.
func (s *Storage) Admit(int) error { return s.alive() }

func (s *Storage) alive() error {
	if s.failed == nil && s.epoch != s.mem.epoch {
		return engine.ErrFenced
	}
	return s.failed
}

// Floor implements engine.Storage.
func (s *Storage) Floor() wal.LSN { return s.floor }

// MoveFloor sets the floor to the end of the log, as a checkpoint does.
func (s *Storage) MoveFloor() {
	if s.mem.WithFloor {
		s.floor = s.mem.End()
	}
}

// Append implements engine.Storage.
func (s *Storage) Append(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error) {
	if err := s.alive(); err != nil {
		return 0, err
	}
	if s.Moves > 0 && s.rand.N(s.Moves) == 0 {
		s.MoveFloor()
	}
	if s.floor != builtFor && m.Stale(s.floor) {
		return 0, engine.ErrFloorMoved
	}
	s.m.Pay() // time passes before the record has its LSN, and after
	if err := s.alive(); err != nil {
		return 0, err
	}
	if s.floor != builtFor && m.Stale(s.floor) {
		return 0, engine.ErrFloorMoved
	}
	d := s.mem
	at, prev, prevCRC := d.End(), wal.LSN(0), uint32(0)
	if n := len(d.log); n > 0 {
		prev, prevCRC = d.log[n-1].at, d.log[n-1].crc
	}
	b, crc := m.Finish(prev, prevCRC)
	end := at + wal.LSN(page.RoundUp(len(b)))
	e := entry{at, end, crc, append([]byte(nil), b...)}
	checkPages(m, e, prevCRC)
	d.log = append(d.log, e)
	m.Stamp(end)
	d.resize(m)
	s.flush()
	if s.Betray--; s.Betray == 0 {
		return 0, ErrBetrayed
	}
	s.m.Pay()
	return end, nil
}

// flush starts one, unless one is under way.
func (s *Storage) flush() {
	d := s.mem
	if s.flushing || d.durable == len(d.log) {
		return
	}
	s.flushing = true
	upTo, d0 := len(d.log), d.FlushTime
	if d0 == 0 {
		d0 = 100 * time.Microsecond
	}
	s.m.After(d0, func() {
		s.flushing = false
		if s.alive() == nil {
			d.durable = upTo
			s.flush()
		}
		s.flushed.Broadcast()
	})
}

// Fail makes every call from now on give err, and nothing more durable.
func (s *Storage) Fail(err error) {
	s.failed = err
	s.flushed.Broadcast()
}

// Durable implements engine.Storage.
func (s *Storage) Durable() wal.LSN { return s.mem.durableEnd() }

// WaitDurable implements engine.Storage.
func (s *Storage) WaitDurable(lsn wal.LSN) error {
	for s.mem.durableEnd() < lsn {
		if err := s.alive(); err != nil {
			return err
		}
		s.flushed.Wait()
	}
	return nil
}

// ReadPage implements engine.Storage.
func (s *Storage) ReadPage(id page.ID, _, _ wal.LSN, p *page.Page) error {
	if s.mem.ReadTime > 0 {
		s.m.Sleep(s.mem.ReadTime)
	}
	if err := s.alive(); err != nil {
		return err
	}
	old := s.mem.pages[id]
	if old == nil {
		return fmt.Errorf("%w: %v", engine.ErrNoPage, id)
	}
	*p = *old
	return nil
}

// Evict implements engine.Storage.
func (s *Storage) Evict(id page.ID, p *page.Page) error {
	if s.mem.ReadTime > 0 {
		s.m.Sleep(s.mem.ReadTime)
	}
	if err := s.alive(); err != nil {
		return err
	}
	if s.EvictErr != nil {
		return s.EvictErr
	}
	if id.Block >= s.mem.sizes[id.Rel] { // cut off while it was on its way
		s.m.Mark("mem.cut-off-write")
		return nil
	}
	c := *p
	s.mem.pages[id] = &c
	s.mem.evicted = append(s.mem.evicted, version{id, &c})
	return nil
}

// Size implements engine.Storage: pages count from the record that made them.
func (s *Storage) Size(r page.Rel, _ wal.LSN) (uint32, error) { return s.mem.sizes[r], nil }

var _ engine.Storage = (*Storage)(nil)
