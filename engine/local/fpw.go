package local

import (
	"tornpage/engine/wal"
)

// SetFullPageWrites switches full-page images on or off while the storage
// runs, and blocks until the switch is in the log. The order is PostgreSQL's:
// off is durable in the log before the first record without images; on takes
// effect before it is logged (UpdateFullPageWrites).
//
// On also makes a checkpoint, which PostgreSQL leaves to the next one that is
// due: pages that were changed while images were off have none after the old
// redo point, so that until redo has moved past those changes a torn write of
// such a page is fatal.
func (s *Storage) SetFullPageWrites(on bool) {
	s.toggle.Lock()
	defer s.toggle.Unlock()
	if on == s.fpw {
		return
	}
	if on {
		s.setFPW(true)
		s.logFPW(true)
		s.Checkpoint()
	} else {
		s.logFPW(false)
		s.setFPW(false)
	}
	s.m.Mark("fpw.changed")
}

// setFPW changes the flag between two records: under the insertion latch,
// where Append looks at it again.
func (s *Storage) setFPW(on bool) {
	s.insertion.Lock()
	s.fpw = on
	s.insertion.Unlock()
}

func (s *Storage) logFPW(on bool) {
	var m wal.MTR
	wal.FPWChange(&m, on)
	s.appendOwn(&m)
}
