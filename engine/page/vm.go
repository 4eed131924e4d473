package page

// A visibility map page is a page of parts with an entry for each block of the
// relation (PostgreSQL's visibilitymap.h; its pages have a header and 32,672
// entries).
const VMBlocks = PartEntries

// Bits of a block in the visibility map, with PostgreSQL's values.
const (
	VMAllVisible uint8 = 1 << iota // every tuple is visible to everyone
	VMAllFrozen                    // and frozen: never set here
)

// VMID is the map page that holds the bits of a block of rel.
func VMID(rel Rel, heapBlock uint32) ID { return ID{Rel: rel.VM(), Block: heapBlock / VMBlocks} }

// InitVM makes p an empty map page: no block is all-visible.
func InitVM(p *Page) { initParts(p, vmMagic) }

// VMGet reads the bits of a block from its map page; 0 from a page of zeros.
func VMGet(p *Page, heapBlock uint32) uint8 { return entry(p, heapBlock) }

// VMSet replaces the bits of a block on its map page, which InitVM has made.
func VMSet(p *Page, heapBlock uint32, bits uint8) { setEntry(p, heapBlock, bits) }
