package buffer

import "time"

// WriterConfig is the background writer's. A zero means the default.
type WriterConfig struct {
	Delay    time.Duration // between rounds; 0: 200 ms (bgwriter_delay)
	MaxPages int           // written in a round at most; 0: 100 (bgwriter_lru_maxpages)
	// Percent of the frames that are expected to be taken until the next
	// round, which are to be clean by then; 0: 200 (bgwriter_lru_multiplier).
	Percent uint64
}

func (c *WriterConfig) fill() {
	if c.Delay <= 0 {
		c.Delay = 200 * time.Millisecond
	}
	if c.MaxPages <= 0 {
		c.MaxPages = 100
	}
	if c.Percent == 0 {
		c.Percent = 200
	}
}

// RunWriter is the background writer, the body of a task: it writes pages that
// the sweep will come to soon, so that whoever needs a frame finds a clean one.
// It returns when the pool has failed.
func (p *Pool) RunWriter(cfg WriterConfig) {
	cfg.fill()
	for {
		p.m.Sleep(cfg.Delay)
		if p.failed != nil {
			return
		}
		p.cleanAhead(cfg)
	}
}

// cleaner is what the background writer knows from the rounds before.
type cleaner struct {
	taken uint64 // Victims at the last round
	rate  uint64 // frames taken in a round, smoothed, times rateUnit
}

const (
	// rateUnit is one frame a round in the smoothed rate.
	rateUnit = 16
	// rateSamples is over how many rounds the rate falls. It rises at once.
	// Source: PostgreSQL's smoothing_samples in BgBufferSync.
	rateSamples = 16
)

// expect gives how many frames will be taken until the next round.
func (c *cleaner) expect(taken uint64) uint64 {
	recent := (taken - c.taken) * rateUnit
	c.taken = taken
	if recent >= c.rate {
		c.rate = recent
	} else {
		c.rate -= (c.rate - recent + rateSamples - 1) / rateSamples
	}
	return (c.rate + rateUnit - 1) / rateUnit
}

// cleanAhead is one round: from the hand on it looks for as many frames as will
// be taken, and writes those among them that are dirty. It looks at the frames
// between the hand and where it got in the round before again; PostgreSQL
// estimates how many of them can be taken.
func (p *Pool) cleanAhead(cfg WriterConfig) {
	want := p.cleaner.expect(p.stats.Victims) * cfg.Percent / 100
	lap := uint64(len(p.frames))
	written := 0
	for at, found := p.passed, uint64(0); at < p.passed+lap && found < want; at++ {
		f := p.aheadOf(at)
		if f == nil || f.pins > 0 || f.usage > 0 {
			continue
		}
		found++
		if !f.mapped || !f.dirty || f.refused {
			continue
		}
		if written == cfg.MaxPages {
			return
		}
		f.pins++
		err := p.writeBack(f)
		p.Unpin(f)
		if err != nil {
			return // failed, or full: reading needs the attempts more
		}
		written++
		p.stats.Cleaned++
		p.m.Mark("buffer.cleaned")
	}
}

// aheadOf gives the frame that the sweep will look at as its at-th, nil if it
// has done so: the hand moves while a page is written.
func (p *Pool) aheadOf(at uint64) *Frame {
	if at < p.passed {
		return nil
	}
	n := uint64(len(p.frames))
	return &p.frames[(uint64(p.hand)+at-p.passed)%n]
}
