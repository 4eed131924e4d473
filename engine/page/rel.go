package page

import "strconv"

// Rel names one fork of a relation: the relation's file number, with the top
// bit set for its visibility map. File numbers are below 1<<31.
type Rel uint32

// vmBit tells a relation's visibility map from the relation itself. PostgreSQL
// counts file numbers up from 16384 and names forks apart from them; one
// number here keeps page names comparable and small.
const vmBit Rel = 1 << 31

// VM is the visibility map of r's relation.
func (r Rel) VM() Rel { return r | vmBit }

// IsVM reports a visibility map.
func (r Rel) IsVM() bool { return r&vmBit != 0 }

// Main is the relation itself: its file number.
func (r Rel) Main() Rel { return r &^ vmBit }

// HasParts reports a relation whose pages consist of parts, each valid on its
// own: transaction status and visibility maps. Such a page has no image in the
// log, its LSN proves nothing to redo, and a torn write does it no harm.
func (r Rel) HasParts() bool { return r == StatusRel || r.IsVM() }

// String gives "16384", and "16384 vm" for its visibility map.
func (r Rel) String() string {
	s := strconv.FormatUint(uint64(r.Main()), 10)
	if r.IsVM() {
		s += " vm"
	}
	return s
}

// ID names a page: a block of a relation's fork.
type ID struct {
	Rel   Rel
	Block uint32
}

// String gives "rel 16384 block 7", "rel 16384 vm block 0".
func (id ID) String() string {
	return "rel " + id.Rel.String() + " block " + strconv.FormatUint(uint64(id.Block), 10)
}

// Less orders pages by relation, then block; visibility maps come last.
func (id ID) Less(o ID) bool {
	return id.Rel < o.Rel || id.Rel == o.Rel && id.Block < o.Block
}
