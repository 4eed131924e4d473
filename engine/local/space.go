package local

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine"
	"tornpage/engine/host"
)

const (
	logReserveName  = "reserve.wal"
	dataReserveName = "reserve.data"

	// reserveBlock is how much of a reserve is written at once, in bytes: few
	// calls, and nobody who needs the space waits for long.
	reserveBlock = 128 << 10
)

// reserve is a file on a disk that is given up when the disk is full (rule
// L11): what has been let in can then still be written.
type reserve struct {
	s     *Storage
	name  string
	on    string // the disk's name
	disk  host.Disk
	file  host.File
	want  int64 // size in bytes; 0: no reserve, and a full disk ends the process
	have  int64 // its size now
	short bool  // it was given up, and is not whole again: changes are refused
	freed uint64
	stuck int         // tasks that wait for space
	latch *host.Latch // of the file's size
}

func newReserve(s *Storage, name, on string, want int64) reserve {
	return reserve{s: s, name: name, on: on, want: want, latch: host.NewLatch(s.m, host.WaitSpace)}
}

// open finds what an earlier boot has left of the reserve.
func (r *reserve) open() error {
	if r.want == 0 {
		return nil
	}
	r.disk = r.s.m.Disk(r.on)
	f, err := r.disk.Open(r.name, host.ClassData, false)
	if errors.Is(err, host.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("local: open %s on disk %s: %w", r.name, r.on, err)
	}
	r.file = f
	r.have, err = f.Size()
	if err != nil {
		return fmt.Errorf("local: size of %s on disk %s: %w", r.name, r.on, err)
	}
	return nil
}

// attempt is one caller's attempts to write something.
type attempt struct {
	r     *reserve
	freed uint64 // as the caller's last attempt saw it
}

func (r *reserve) attempt() attempt { return attempt{r, r.freed} }

// again tells, after an attempt with this result, whether to make another one
// since space has been freed, by this call or meanwhile. It may block.
func (a *attempt) again(err error) bool {
	if err == nil || a.r.want == 0 || !errors.Is(err, host.ErrNoSpace) {
		return false
	}
	if a.r.freed == a.freed {
		a.r.giveUp()
	}
	again := a.r.freed != a.freed
	a.freed = a.r.freed
	return again
}

// until is again for what has to be written whatever comes: if there is nothing
// left to give up it waits for space to return. A storage that closes does not:
// the next boot recovers.
func (a *attempt) until(err error) bool {
	if a.again(err) {
		return true
	}
	r := a.r
	if err == nil || r.want == 0 || !errors.Is(err, host.ErrNoSpace) || r.s.check.closing {
		return false
	}
	if r.stuck == 0 {
		r.s.m.Mark("local.waits-for-space")
		r.s.m.Logf("local: disk %s is full and its reserve is used up: waiting for space: %v", r.on, err)
	}
	r.stuck++
	r.s.m.Sleep(r.s.cfg.SpaceRetry)
	r.stuck--
	return true
}

// giveUp frees what there is of the reserve and has changes refused.
func (r *reserve) giveUp() {
	if !r.short {
		r.short = true
		r.s.m.Mark("local.disk-full")
		r.s.m.Logf("local: disk %s is full: changes are refused, %d bytes of reserve are given up", r.on, r.have)
		r.s.gate.Refuse(r.refusal())
		r.s.spaceWanted.Signal()
	}
	r.latch.Lock()
	defer r.latch.Unlock()
	if r.have == 0 {
		return
	}
	err := r.file.Truncate(0)
	if err == nil {
		err = r.file.Sync() // a file system may keep the space until then
	}
	if err != nil {
		r.s.fail(fmt.Errorf("truncate %s on disk %s: %w", r.name, r.on, err))
	}
	r.have = 0
	r.freed++
}

// refusal is the error that refuses a change.
func (r *reserve) refusal() error {
	return fmt.Errorf("local: disk %s lacks %d of the %d bytes that %s holds in reserve: %w",
		r.on, r.want-r.have, r.want, r.name, engine.ErrFull)
}

// fill makes the reserve whole, as far as there is space. What it takes can be
// given up again at any time, also while it is not whole.
func (r *reserve) fill() {
	if r.want == 0 || r.have == r.want || r.stuck > 0 {
		return
	}
	r.latch.Lock()
	err := r.write()
	r.latch.Unlock()
	switch {
	case errors.Is(err, host.ErrNoSpace):
		if !r.short { // at Open: there never was enough
			r.short = true
			r.s.m.Mark("local.disk-full")
			r.s.m.Logf("%v", r.refusal())
		}
	case err != nil:
		r.s.fail(fmt.Errorf("write %s on disk %s: %w", r.name, r.on, err))
	case r.have == r.want && r.short:
		r.short = false
		r.s.m.Mark("local.space-returned")
		r.s.m.Logf("local: disk %s has space again: %s holds its %d bytes", r.on, r.name, r.want)
	}
}

// write makes the file larger, or smaller, until it has the size that is
// wanted, and syncs it: a file system may promise space before that.
func (r *reserve) write() error {
	if r.file == nil {
		f, err := r.disk.Open(r.name, host.ClassData, true)
		if err != nil {
			return err
		}
		r.file = f
	}
	if r.have > r.want { // the configuration was changed
		if err := r.file.Truncate(r.want); err != nil {
			return err
		}
		r.have = r.want
	}
	zeros := make([]byte, min(reserveBlock, r.want))
	for r.have < r.want {
		n := min(int64(len(zeros)), r.want-r.have)
		if _, err := r.file.WriteAt(zeros[:n], r.have); err != nil {
			return err
		}
		r.have += n
	}
	return r.file.Sync()
}

// refused is the error that refuses changes while a reserve is not whole.
func (s *Storage) refused() error {
	for _, r := range [...]*reserve{&s.logSpace, &s.dataSpace} {
		if r.short {
			s.stats.Refused++
			return r.refusal()
		}
	}
	return nil
}

// Full reports that changes are refused because a disk is full.
func (s *Storage) Full() bool { return s.logSpace.short || s.dataSpace.short }

// refill tries to make the reserves whole.
func (s *Storage) refill() {
	s.logSpace.fill()
	s.dataSpace.fill()
}

// runSpace is the task that looks for space from time to time while a disk is
// full. Checkpoints, which free log, do so too.
func (s *Storage) runSpace() {
	for !s.closed {
		for !s.Full() && !s.closed {
			s.spaceWanted.Wait()
		}
		s.m.Sleep(s.cfg.SpaceRetry)
		if !s.closed {
			s.refill()
		}
	}
}

// spaceRetry is how often space is looked for: soon enough for who waits, and
// not worth noticing where the disk stays full for a night.
const spaceRetry = time.Second
