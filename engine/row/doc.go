// Package row is what tables are made of: definitions, typed values, and their
// bytes in heap tuples and index tuples in PostgreSQL 15's layout. Pure code.
//
// # Model
//
// A Table is a definition: columns and indexes, plain values. A Schema and a
// Key are the layouts of its rows and of one index, made once from a valid
// definition. A Value is a null (the zero Value), a number or bytes.
//
// A heap tuple's data is its values in column order, each aligned for its type
// (int4 4, int8 and timestamp 8, bool 1). Text, bytea and char are varlenas:
// up to 126 bytes under a header of one byte without alignment, else under one
// of four, aligned to 4. A null has no bytes, but a bitmap then stands between
// header and data. So a pgbench account (int4, int4, int4, char(84)) has
// 24 + 97 bytes, as a server's log says.
//
// An index tuple is a TID, t_info, a bitmap of the same kind if something is
// null, the key's values laid out likewise, padded to 8 bytes.
//
// # Rules
//
//	R1  Values are checked (Schema.Check, Key.Check, Key.CheckKey) before they
//	    are encoded; encoding a value of another type, or other than all values,
//	    breaks this rule.
//	R2  What Decode accepts, Check accepts, and encoding it gives a tuple that
//	    decodes to the same values.
//	R3  Compare on entries orders them as Compare on their values does, column
//	    by column, a descending column reversed. A null is above all values:
//	    last in an ascending column, first in a descending one.
//	R4  In Compare, what is not there, be it left out of a pivot or cut off by
//	    damage, is below all, in either direction. So no bytes make it panic;
//	    Key.Validate says what is wrong with them.
//	R5  A search tuple (AppendSearch) equals every entry whose first columns
//	    have its values. It is never stored.
//	R6  The definition of any table within the limits has a stored form of less
//	    than page.MaxTupleData bytes: a catalog row holds it.
//
// # Not promised
//
//   - Collations: texts are compared byte by byte, as with COLLATE "C".
//   - Encodings: a text is any bytes, zero bytes too; char(n) counts bytes.
//   - That a decoded value outlives the tuple that it points into.
//   - Use of padding: its bytes are written as zeros and not looked at.
//
// # Departures from PostgreSQL
//
//   - No compression and no values out of line, so that an index entry over 510
//     bytes is stored as it is, and a row is limited to one page.
//   - A char(n) that is too long is refused even if the excess is blanks.
//   - All columns are stored: a definition with columns added later than a row
//     is refused.
//
// Sources: PostgreSQL 15 access/common/heaptuple.c (heap_fill_tuple),
// indextuple.c, include/access/{htup_details,itup,nbtree,tupmacs}.h, postgres.h
// (layouts and limits), varchar.c (bpcharcmp).
//
// Reading route: define.go, value.go, attr.go, schema.go, decode.go, key.go,
// compare.go, codec.go.
package row
