package local

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

const (
	relPrefix = "rel-"
	vmSuffix  = "_vm" // PostgreSQL's name of the fork
)

// relation is the file of one relation.
type relation struct {
	rel    page.Rel
	name   string
	file   host.File
	unsafe bool        // written, or of unknown history, since its last sync
	latch  *host.Latch // exclusive: the file is being cut
}

// relName is the name of a relation's file: rel-16384, and rel-16384_vm for its
// visibility map.
func relName(r page.Rel) string {
	name := relPrefix + strconv.FormatUint(uint64(r.Main()), 10)
	if r.IsVM() {
		name += vmSuffix
	}
	return name
}

// relOf is the relation of a file name.
func relOf(name string) (page.Rel, bool) {
	digits, ok := strings.CutPrefix(name, relPrefix)
	if !ok {
		return 0, false
	}
	digits, vm := strings.CutSuffix(digits, vmSuffix)
	n, err := strconv.ParseUint(digits, 10, 32)
	rel := page.Rel(n)
	if vm {
		rel = rel.VM()
	}
	return rel, err == nil && relName(rel) == name
}

// openRelations opens every relation file there is. A kill may have left
// writes of the boot before in the operating system's cache, so each counts
// as unsynced, and so do the names (rule L6).
func (s *Storage) openRelations() error {
	names, err := s.data.List()
	if err != nil {
		return fmt.Errorf("local: list disk %s: %w", s.cfg.DataDisk, err)
	}
	for _, name := range names {
		rel, ok := relOf(name)
		if !ok {
			continue
		}
		r, err := s.openRelation(rel)
		if err != nil {
			return err
		}
		size, err := r.file.Size()
		if err != nil {
			return fmt.Errorf("local: size of %s: %w", name, err)
		}
		r.unsafe = true
		s.blocks[rel] = uint32((size + page.Size - 1) / page.Size)
	}
	s.dataNames = true
	return nil
}

// openRelation opens or makes the file of rel. One task at a time does so.
func (s *Storage) openRelation(rel page.Rel) (*relation, error) {
	if r := s.rels[rel]; r != nil {
		return r, nil
	}
	s.names.Lock()
	defer s.names.Unlock()
	if r := s.rels[rel]; r != nil {
		return r, nil
	}
	name := relName(rel)
	f, err := s.data.Open(name, host.ClassData, true)
	if err != nil {
		return nil, fmt.Errorf("local: open %s on disk %s: %w", name, s.cfg.DataDisk, err)
	}
	// After the call: a directory sync that ran meanwhile may have missed it.
	s.dataNames = true
	r := &relation{rel: rel, name: name, file: f, latch: host.NewLatch(s.m, host.WaitRelation)}
	s.rels[rel] = r
	return r, nil
}

// sorted are the open relations in the order of their numbers.
func (s *Storage) sorted() []*relation {
	all := make([]*relation, 0, len(s.rels))
	for _, rel := range slices.Sorted(maps.Keys(s.rels)) {
		all = append(all, s.rels[rel])
	}
	return all
}

// readBlock reads and verifies one page. What is not there gives ErrNoPage.
func (s *Storage) readBlock(id page.ID, p *page.Page) error {
	r := s.rels[id.Rel]
	if r == nil {
		return fmt.Errorf("%w: %v: no file %s", engine.ErrNoPage, id, relName(id.Rel))
	}
	r.latch.RLock()
	if s.behindCut(id) {
		r.latch.RUnlock()
		return fmt.Errorf("%w: %v: %s is to be cut before it", engine.ErrNoPage, id, r.name)
	}
	n, err := r.file.ReadAt(p[:], int64(id.Block)*page.Size)
	r.latch.RUnlock()
	s.stats.PagesRead++
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("local: read %s block %d: %w", r.name, id.Block, err)
	}
	if n < page.Size {
		return fmt.Errorf("%w: %v: %s ends within or before it", engine.ErrNoPage, id, r.name)
	}
	if s.cfg.Checksums {
		s.m.Charge(host.WorkPageChecksum, 1)
	}
	err = page.Verify(id, p, s.cfg.Checksums)
	if errors.Is(err, page.ErrNew) {
		return fmt.Errorf("%w: %v: zeros in %s", engine.ErrNoPage, id, r.name)
	}
	if err != nil {
		s.m.Mark("page.torn")
		return fmt.Errorf("local: %s block %d: %w", r.name, id.Block, err)
	}
	return nil
}

// writeBlock seals a copy of p and writes it. It does not sync: the next
// checkpoint does. A failed write ends the process, since what is on disk is
// then unknown (rule L5), unless there is no space: what is not there yet can
// be written later, and what is there takes none.
func (s *Storage) writeBlock(id page.ID, p *page.Page) error {
	err := s.tryWrite(id, p)
	for try := s.dataSpace.attempt(); try.again(err); {
		err = s.tryWrite(id, p)
	}
	switch {
	case err == nil, errors.Is(err, engine.ErrStopped):
		return err
	case s.dataSpace.want > 0 && errors.Is(err, host.ErrNoSpace):
		return fmt.Errorf("local: write %v: %w: %w", id, engine.ErrFull, err)
	}
	s.fail(fmt.Errorf("write %s block %d, LSN %v: %w", relName(id.Rel), id.Block, page.LSNOf(id, p), err))
	return err
}

// tryWrite is one attempt of writeBlock. A block that was cut off while it was
// on its way here is dropped (rule L10).
func (s *Storage) tryWrite(id page.ID, p *page.Page) error {
	r, err := s.openRelation(id.Rel)
	if err != nil {
		return err
	}
	for s.behindCut(id) && id.Block < s.blocks[id.Rel] { // made anew
		if err := s.follow(r); err != nil {
			return err
		}
	}
	r.latch.RLock()
	defer r.latch.RUnlock()
	if id.Block >= s.blocks[id.Rel] {
		s.m.Mark("local.cut-off-write")
		return nil
	}
	c := s.takePage()
	*c = *p
	s.m.Charge(host.WorkPageCopy, 1)
	if s.cfg.Checksums {
		s.m.Charge(host.WorkPageChecksum, 1)
	}
	page.Seal(id, c, s.cfg.Checksums)
	_, err = r.file.WriteAt(c[:], int64(id.Block)*page.Size)
	// After the call: a sync that began meanwhile may have missed it.
	r.unsafe = true
	s.freePages = append(s.freePages, c)
	if err == nil {
		s.stats.PagesWritten++
	}
	return err
}

func (s *Storage) takePage() *page.Page {
	if n := len(s.freePages); n > 0 {
		p := s.freePages[n-1]
		s.freePages = s.freePages[:n-1]
		return p
	}
	return new(page.Page)
}

// syncRelations makes every page written and every truncation logged so far
// survive power-off, and the names of the files.
func (s *Storage) syncRelations() {
	for _, r := range s.sorted() {
		if err := s.follow(r); err != nil {
			s.fail(err)
		}
		if !r.unsafe {
			continue
		}
		r.unsafe = false // what is written from here on needs the next sync
		if err := r.file.Sync(); err != nil {
			s.fail(fmt.Errorf("sync %s: %w", r.name, err))
		}
		s.stats.Syncs++
	}
	if s.dataNames {
		s.dataNames = false
		if err := s.data.SyncDir(); err != nil {
			s.fail(fmt.Errorf("sync the directory of disk %s: %w", s.cfg.DataDisk, err))
		}
		s.stats.Syncs++
	}
}
