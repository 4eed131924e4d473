package wal

import (
	"fmt"
	"hash/crc32"
)

// Sizes of the control file: two slots, each within one sector, so that a
// torn write spoils at most the one being written; 4,096 apart, so that they
// never share a sector.
const (
	ControlSlot    = 512
	ControlSpacing = 4096
	ControlSlots   = 2

	controlMagic   = 0x7470676374726c31 // "tpgctrl1"
	controlVersion = 1
	lenControl     = 100 // bytes under the CRC; those from 88 on are zero, for fields to come
)

// ControlState says how the system was last left.
type ControlState uint8

// States of the control file.
const (
	InProduction ControlState = 1 // running, or crashed
	ShutDown     ControlState = 2 // cleanly: no recovery needed
)

// String names the state.
func (s ControlState) String() string {
	switch s {
	case InProduction:
		return "in production"
	case ShutDown:
		return "shut down"
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// Control is what must be known before the log can be read.
type Control struct {
	SystemID       uint64
	Seq            uint64 // of this version of the file; the higher slot counts
	State          ControlState
	Redo           LSN    // recovery follows this end of a record
	RedoPrev       LSN    // the LSN of the record before Redo; 0: none
	RedoCRC        uint32 // and its CRC, from which the chain goes on
	Checkpoint     LSN    // the checkpoint record; 0: none yet
	NextXID        uint32 // horizon: no XID at or above was used
	OldestXID      uint32 // no status below is needed
	Epoch          uint64 // of the writer; 0 where a storage has none
	FullPageWrites bool
	Checksums      bool // of data pages
	SegSize        uint32
	Time           int64 // microseconds since 2000-01-01 UTC
}

// RedoPosition is where a Reader starts.
func (c *Control) RedoPosition() Position {
	return Position{End: c.Redo, Prev: c.RedoPrev, CRC: c.RedoCRC}
}

// Layout is the log's.
func (c *Control) Layout() Layout { return Layout{SegSize: c.SegSize, SystemID: c.SystemID} }

// SlotOffset is the file offset of the slot that version seq belongs in:
// the other one than its predecessor's.
func SlotOffset(seq uint64) int64 { return int64(seq%ControlSlots) * ControlSpacing }

// Encode appends c as one slot of ControlSlot bytes.
func (c *Control) Encode(dst []byte) []byte {
	n := len(dst)
	dst = append(dst, make([]byte, ControlSlot)...)
	b := dst[n:]
	le.PutUint64(b[0:], controlMagic)
	le.PutUint32(b[8:], controlVersion)
	b[12] = byte(c.State)
	b[13], b[14] = flag(c.FullPageWrites), flag(c.Checksums)
	le.PutUint64(b[16:], c.SystemID)
	le.PutUint64(b[24:], c.Seq)
	le.PutUint64(b[32:], uint64(c.Redo))
	le.PutUint64(b[40:], uint64(c.RedoPrev))
	le.PutUint64(b[48:], uint64(c.Checkpoint))
	le.PutUint32(b[56:], c.RedoCRC)
	le.PutUint32(b[60:], c.NextXID)
	le.PutUint32(b[64:], c.OldestXID)
	le.PutUint32(b[68:], c.SegSize)
	le.PutUint64(b[72:], c.Epoch)
	le.PutUint64(b[80:], uint64(c.Time))
	le.PutUint32(b[lenControl:], crc32.Checksum(b[:lenControl], castagnoli))
	return dst
}

func flag(on bool) byte {
	if on {
		return 1
	}
	return 0
}

// DecodeControl reads one slot.
func DecodeControl(b []byte) (c Control, err error) {
	if len(b) < ControlSlot {
		return c, fmt.Errorf("%d bytes, want %d", len(b), ControlSlot)
	}
	if magic := le.Uint64(b); magic != controlMagic {
		return c, fmt.Errorf("magic %016x, want %016x", magic, uint64(controlMagic))
	}
	if want, got := crc32.Checksum(b[:lenControl], castagnoli), le.Uint32(b[lenControl:]); want != got {
		return c, fmt.Errorf("CRC %08x, want %08x", got, want)
	}
	if v := le.Uint32(b[8:]); v != controlVersion {
		return c, fmt.Errorf("format version %d, this program reads %d", v, controlVersion)
	}
	c = Control{
		State: ControlState(b[12]), FullPageWrites: b[13] != 0, Checksums: b[14] != 0,
		SystemID: le.Uint64(b[16:]), Seq: le.Uint64(b[24:]),
		Redo: LSN(le.Uint64(b[32:])), RedoPrev: LSN(le.Uint64(b[40:])), Checkpoint: LSN(le.Uint64(b[48:])),
		RedoCRC: le.Uint32(b[56:]), NextXID: le.Uint32(b[60:]), OldestXID: le.Uint32(b[64:]),
		SegSize: le.Uint32(b[68:]), Epoch: le.Uint64(b[72:]), Time: int64(le.Uint64(b[80:])),
	}
	if c.State != InProduction && c.State != ShutDown {
		return c, fmt.Errorf("%v, want %d or %d", c.State, InProduction, ShutDown)
	}
	layout := c.Layout()
	return c, layout.Validate()
}

// ChooseControl takes the valid slot with the higher Seq.
func ChooseControl(slots ...[]byte) (c Control, slot int, err error) {
	slot = -1
	why := ""
	for i, b := range slots {
		got, err := DecodeControl(b)
		switch {
		case err != nil:
			why += fmt.Sprintf("; slot %d: %v", i, err)
		case slot < 0 || got.Seq > c.Seq:
			c, slot = got, i
		}
	}
	if slot < 0 {
		return Control{}, -1, fmt.Errorf("control file: no valid slot of %d%s; restore the file from a backup", len(slots), why)
	}
	return c, slot, nil
}
