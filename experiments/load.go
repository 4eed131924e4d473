package experiments

import (
	"time"

	"tornpage/engine/host"
	"tornpage/sim"
)

// Load is what the tasks of one process waited for, over time. Divided by the
// length of an interval, a wait is the average number of active sessions in it.
type Load struct {
	Process string
	Every   time.Duration
	Samples []LoadSample
}

// LoadSample is one interval of virtual time.
type LoadSample struct {
	From, To time.Duration
	Waited   [host.WaitEvents]time.Duration // by wait event, over all tasks
	Boots    uint64                         // boots of the process that began in it
}

// Active is the average number of sessions that were at ev in the interval.
func (s *LoadSample) Active(ev host.WaitEvent) float64 {
	if s.To <= s.From {
		return 0
	}
	return float64(s.Waited[ev]) / float64(s.To-s.From)
}

// Idle reports the wait events of tasks that have nothing to do: a connection
// without a request, a background task until its next round.
func Idle(ev host.WaitEvent) bool {
	switch ev {
	case host.WaitRecv, host.WaitClient, host.WaitSleep, host.WaitWork, host.WaitWALWriter, host.WaitCheckpoint:
		return true
	}
	return false
}

// sampler measures the load of a process while a world runs. It looks on from
// outside: a run with and without it has the same hash.
type sampler struct {
	w    *sim.World
	load Load
	boot uint64
	last [host.WaitEvents]time.Duration
	at   time.Duration
}

func newSampler(w *sim.World, process string, every time.Duration) *sampler {
	return &sampler{w: w, load: Load{Process: process, Every: every}}
}

// look is called at every event. Slices of World.Run would do too, but their
// ends are events, and draws of the schedule would see them.
func (s *sampler) look() {
	if now := s.w.Now(); now >= s.at+s.load.Every {
		s.sample(now)
	}
}

// end closes the last interval.
func (s *sampler) end() *Load {
	s.sample(s.w.Now())
	return &s.load
}

// sample closes an interval. What a boot that died within it had waited for
// since the last sample is not known any more.
func (s *sampler) sample(now time.Duration) {
	if now <= s.at {
		return
	}
	out := LoadSample{From: s.at, To: now}
	boot := s.w.Boots(s.load.Process)
	if out.Boots = boot - s.boot; out.Boots > 0 {
		clear(s.last[:])
	}
	s.boot = boot
	up := s.w.Up(s.load.Process)
	for ev := range s.last {
		if !up {
			s.last[ev] = 0
			continue
		}
		total := s.w.Waited(s.load.Process, host.WaitEvent(ev))
		out.Waited[ev] = total - s.last[ev]
		s.last[ev] = total
	}
	s.load.Samples = append(s.load.Samples, out)
	s.at = now
}
