package pager

import (
	"errors"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// recordSlack is what a record takes in the log besides images and data, in
// bytes, for Admit: headers, block references, alignment.
const recordSlack = 256

// Pager joins a pool and a storage. It lives for one boot.
type Pager struct {
	m      host.Machine
	pool   *buffer.Pool
	st     engine.Storage
	blocks map[page.Rel]uint32
	unmade map[page.ID]bool // blocks that Extend gave and that no record has made yet
	idle   []*wal.MTR
	failed error
	onFail func(error)
	Stats  Stats
}

// Stats counts what went through a pager.
type Stats struct {
	Records  uint64 // log records
	LogBytes uint64 // their bytes, without what storage puts around them
	Images   uint64 // full-page images in them
	Rebuilt  uint64 // records built again because the floor had moved
	Full     uint64 // Admits refused because the disk is full
	Extended uint64 // blocks added to relations
}

// New makes a pager on a pool. onFail, which may be nil, hears of the error
// that ends the boot; it must not block.
func New(m host.Machine, pool *buffer.Pool, onFail func(error)) *Pager {
	return &Pager{m: m, pool: pool, blocks: map[page.Rel]uint32{}, unmade: map[page.ID]bool{}, onFail: onFail}
}

// Attach gives the pager its storage, which is open.
func (p *Pager) Attach(st engine.Storage) { p.st = st }

// Machine is the machine that the pager works on.
func (p *Pager) Machine() host.Machine { return p.m }

// Pool is the buffer pool.
func (p *Pager) Pool() *buffer.Pool { return p.pool }

// Storage is the storage.
func (p *Pager) Storage() engine.Storage { return p.st }

// Failed is the error that ended the boot, nil while there is none.
func (p *Pager) Failed() error { return p.failed }

// Fail ends the boot (rule P5).
func (p *Pager) Fail(err error) {
	if p.failed != nil {
		return
	}
	p.failed = err
	p.pool.Fail(err)
	if p.onFail != nil {
		p.onFail(err)
	}
}

// MTR gives a mini-transaction to build records in; Done takes it back.
func (p *Pager) MTR() *wal.MTR {
	if n := len(p.idle); n > 0 {
		m := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return m
	}
	return new(wal.MTR)
}

// Done takes back what MTR gave.
func (p *Pager) Done(m *wal.MTR) { p.idle = append(p.idle, m) }

// Floor is the storage's: what a record is best described for.
func (p *Pager) Floor() wal.LSN { return p.st.Floor() }

// Admit blocks until there is room for a record with n bytes of data and, if
// storage wants them, images of so many pages (rule P1). engine.ErrFull
// refuses this change and does not end the boot.
func (p *Pager) Admit(images, n int) error {
	if p.failed != nil {
		return p.failed
	}
	n += recordSlack
	if images > 0 && p.st.Floor() != 0 {
		n += images * page.Size
	}
	err := p.st.Admit(n)
	switch {
	case err == nil:
		return p.failed // Admit blocks: the boot may have ended meanwhile
	case errors.Is(err, engine.ErrFull):
		p.Stats.Full++
		return err
	}
	p.Fail(err)
	return err
}

// Append builds and appends the record that m describes, whose pages are
// latched exclusively, marked dirty and changed. It stamps the pages with the
// LSN that it returns. An error has ended the boot.
func (p *Pager) Append(m *wal.MTR) (wal.LSN, error) {
	for {
		if p.failed != nil {
			return 0, p.failed
		}
		floor := p.st.Floor()
		m.Build(floor)
		p.m.Charge(host.WorkRecord, 1)
		p.m.Charge(host.WorkRecordBytes, int(m.Len()+63)/64)
		// Images are decided. Time passes here, as it does in real engines, so
		// that the floor can move before the record is in the log.
		p.m.Pay()
		lsn, err := p.st.Append(m, floor)
		if err == nil {
			p.appended(m, lsn)
			return lsn, nil
		}
		if !errors.Is(err, engine.ErrFloorMoved) {
			p.Fail(err)
			return 0, err
		}
		p.Stats.Rebuilt++
		p.m.Mark("append.floor-moved")
	}
}

// appended counts, and checks that storage has stamped the pages.
func (p *Pager) appended(m *wal.MTR, lsn wal.LSN) {
	p.Stats.Records++
	p.Stats.LogBytes += uint64(m.Len())
	for i := range m.Blocks() {
		id, pg, _, image := m.Block(i)
		if pg == nil {
			continue
		}
		if image {
			p.Stats.Images++
		}
		if len(p.unmade) > 0 {
			delete(p.unmade, id)
		}
		if got := page.LSNOf(id, pg); got != lsn {
			invariant.Broken("S4", "%s appended up to %v left %v with LSN %v",
				wal.OpName(m.Rmgr(), m.Info()), lsn, id, got)
		}
	}
}

// Blocks is the number of blocks of a relation, those included whose number
// Extend gave and that no record has made yet. It may block, once a relation.
func (p *Pager) Blocks(rel page.Rel) (uint32, error) {
	if n, ok := p.blocks[rel]; ok {
		return n, nil
	}
	n, err := p.st.Size(rel, 0)
	if err != nil {
		return 0, err
	}
	if known, ok := p.blocks[rel]; ok { // somebody else asked meanwhile
		return known, nil
	}
	p.blocks[rel] = n
	return n, nil
}

// Extend gives the next block of a relation to the caller (rule P6).
func (p *Pager) Extend(rel page.Rel) (page.ID, error) {
	if _, err := p.Blocks(rel); err != nil {
		return page.ID{}, err
	}
	n := p.blocks[rel]
	if n == 1<<32-1 {
		return page.ID{}, ErrRelationFull
	}
	p.blocks[rel] = n + 1
	p.Stats.Extended++
	id := page.ID{Rel: rel, Block: n}
	p.unmade[id] = true
	return id, nil
}

// Unmade reports that Extend gave the block in this boot and that no record has
// made it since: it is zeros, and storage has nothing of it. Blocks are met by
// others as soon as Extend has counted them, so whoever extended asks again
// before it takes the page for new.
func (p *Pager) Unmade(id page.ID) bool { return p.unmade[id] }

// ErrRelationFull says that a relation has 2^32-1 blocks.
var ErrRelationFull = errors.New("the relation has 2^32-1 blocks and cannot grow: move rows to another table")

// Truncated tells that a relation was cut to n blocks, by a record that is in
// the log. Nobody uses a block from n on.
func (p *Pager) Truncated(rel page.Rel, n uint32) {
	p.blocks[rel] = n
	for id := range p.unmade { //tornvet:ordered deletes only
		if id.Rel == rel && id.Block >= n {
			delete(p.unmade, id)
		}
	}
}
