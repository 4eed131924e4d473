// Package page is the 8 KiB page in PostgreSQL 15's on-disk shape: header,
// line pointers, heap tuples, checksum; and pages of parts, which hold
// transaction status and visibility maps.
// Pure code: no I/O, no tasks; all integers little endian.
//
// # Model
//
// A Page is 8,192 bytes: a header of 24, an array of line pointers that grows
// up from it (Lower is its end), items that grow down from Special (Upper is
// the lowest), and a special area of the access method. Between Lower and
// Upper lies the hole. An offset is a line pointer's number, from 1.
//
// A page of parts has another layout: 16 parts of 512 bytes, each valid on its
// own, with 32,224 entries of two bits. StatusRel has an entry for each XID, a
// relation's visibility map (a fork: Rel.VM) one for each block.
//
// # Promises
//
//	P1  Verify accepts what Seal prepared and no page whose header is
//	    inconsistent; with checksums on, no page with a changed byte save for
//	    1 in 65,535 (the checksum has 16 bits).
//	P2  No method panics on any bytes: accessors answer nil or false for what
//	    is not there. ValidateItems says what is wrong in words.
//	P3  A torn write of a page of parts harms nothing: every part is old or
//	    new, and Verify needs no checksum setting for it. Needs atomic sectors
//	    of 512 bytes or a multiple.
//	P4  A page's LSN is the END of the last record that changed it, as in
//	    PostgreSQL: it may be written once the log is durable up to it.
//
// # Not promised
//
//   - Detection of a torn heap page without checksums: its header lies in one
//     sector and can look sane. That is what full-page images are for.
//   - Detection of a stale page: an old version is valid in itself.
//   - Cid, PruneXID and the PageFull flag after redo: as in PostgreSQL they
//     are not logged.
//   - That the LSN of a page of parts says which of its parts are new. It may be
//     compared with the durable log (WAL rule), never by redo: see Stamp.
//
// # Departures from PostgreSQL
//
//   - Pages of parts: PostgreSQL's CLOG page has no header and no checksum, its
//     visibility map page the standard header and 32,672 entries.
//   - A fork is named by the top bit of the relation's number.
//   - Compact lays items in line pointer order, where PostgreSQL keeps their
//     order on the page.
//
// Sources: PostgreSQL 15 storage/bufpage.h, itemid.h, access/htup_details.h,
// storage/checksum_impl.h, visibilitymapdefs.h (layouts and constants).
//
// Reading route: header.go, item.go, tuple.go, heapops.go, verify.go, rel.go,
// parts.go, status.go, vm.go; index.go.
package page
