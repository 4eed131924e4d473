package wal

import "tornpage/engine/page"

const lenCheckpoint = 88 // sizeof(CheckPoint) in PostgreSQL 15

// Checkpoint is the payload of a checkpoint record: PostgreSQL's CheckPoint
// with what this engine has; the other fields hold PostgreSQL's first values.
type Checkpoint struct {
	Redo           LSN // where recovery begins
	FullPageWrites bool
	NextXID        uint32 // horizon: no XID at or above was used
	OldestXID      uint32 // 0: not known
	OldestActive   uint32 // 0: none
	Time           int64  // seconds since 1970 UTC
}

// CheckpointRecord builds CHECKPOINT_ONLINE, or CHECKPOINT_SHUTDOWN.
func CheckpointRecord(m *MTR, c Checkpoint, shutdown bool) {
	info := InfoCheckpointOnline
	if shutdown {
		info = InfoCheckpointShutdown
	}
	m.Reset(RmgrXLOG, info, 0)
	var b [lenCheckpoint]byte
	le.PutUint64(b[0:], uint64(c.Redo))
	le.PutUint32(b[8:], 1)  // timeline
	le.PutUint32(b[12:], 1) // previous timeline
	if c.FullPageWrites {
		b[16] = 1
	}
	le.PutUint64(b[24:], uint64(c.NextXID))
	le.PutUint32(b[36:], 1) // next multixact
	le.PutUint32(b[44:], c.OldestXID)
	le.PutUint32(b[48:], 1) // its database
	le.PutUint32(b[52:], 1) // oldest multixact
	le.PutUint32(b[56:], 1) // its database
	le.PutUint64(b[64:], uint64(c.Time))
	le.PutUint32(b[80:], c.OldestActive)
	m.SetMain(b[:])
}

// Checkpoint decodes a checkpoint record's payload.
func (r *Record) Checkpoint() (c Checkpoint, err error) {
	b := r.Main
	if len(b) != lenCheckpoint {
		return c, wrongLength(r, "main data", len(b), lenCheckpoint)
	}
	return Checkpoint{
		Redo: LSN(le.Uint64(b)), FullPageWrites: b[16] != 0, NextXID: le.Uint32(b[24:]),
		OldestXID: le.Uint32(b[44:]), OldestActive: le.Uint32(b[80:]), Time: int64(le.Uint64(b[64:])),
	}, nil
}

// NextXID builds this engine's own record that raises the XID horizon: XIDs
// below it may be used. Shaped like PostgreSQL's NEXTOID.
func NextXID(m *MTR, horizon uint32) {
	m.Reset(RmgrXLOG, InfoNextXID, 0)
	var b [4]byte
	le.PutUint32(b[:], horizon)
	m.SetMain(b[:])
}

// NextXID decodes the horizon.
func (r *Record) NextXID() (uint32, error) {
	if len(r.Main) != 4 {
		return 0, wrongLength(r, "main data", len(r.Main), 4)
	}
	return le.Uint32(r.Main), nil
}

// FPWChange builds a record that says that full-page writes are now on or off.
func FPWChange(m *MTR, on bool) {
	m.Reset(RmgrXLOG, InfoFPWChange, 0)
	b := [1]byte{}
	if on {
		b[0] = 1
	}
	m.SetMain(b[:])
}

// FPWChange decodes the switch.
func (r *Record) FPWChange() (on bool, err error) {
	if len(r.Main) != 1 {
		return false, wrongLength(r, "main data", len(r.Main), 1)
	}
	return r.Main[0] != 0, nil
}

// FPI builds a record that is nothing but the image of p, whatever the floor.
func FPI(m *MTR, id page.ID, p *page.Page) {
	m.Reset(RmgrXLOG, InfoFPI, 0)
	m.Touch(0, id, p, Standard|ForceImage)
}

// FPIForHint goes before the first hint bit since the redo point that is set
// on p: with checksums on, a torn page would otherwise not verify. The image
// follows the floor; without one the record (44 bytes) says nothing, and is
// written all the same, as PostgreSQL does with full_page_writes off.
func FPIForHint(m *MTR, id page.ID, p *page.Page) {
	m.Reset(RmgrXLOG, InfoFPIForHint, 0)
	m.Touch(0, id, p, Standard)
}
