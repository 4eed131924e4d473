package faults

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// TriggerKind says what a Trigger waits for.
type TriggerKind uint8

// The kinds of trigger.
const (
	AtTime     TriggerKind = iota // a time since the start of the run
	AfterEvent                    // an event number of the world
	AfterMark                     // the Count-th time a mark is reached
)

// Trigger says when a step acts. It fires at most once in a run.
type Trigger struct {
	Kind  TriggerKind
	Time  time.Duration // AtTime: since the start of the run
	Event uint64        // AfterEvent: number of the event, counted from 1
	Mark  string        // AfterMark: the mark's name
	Count uint64        // AfterMark: 1 is the first time, counted over all boots
	Host  string        // AfterMark: counts on this host only; empty: on all together
	Delay time.Duration // AfterEvent, AfterMark: waits so long after that
}

// At triggers at a time since the start of the run.
func At(t time.Duration) Trigger { return Trigger{Kind: AtTime, Time: t} }

// OnEvent triggers directly after event n.
func OnEvent(n uint64) Trigger { return Trigger{Kind: AfterEvent, Event: n} }

// OnMark triggers inside the count-th mark of that name on host; an empty host
// counts the mark on all hosts together.
func OnMark(count uint64, mark, host string) Trigger {
	return Trigger{Kind: AfterMark, Count: count, Mark: mark, Host: host}
}

// After returns the trigger delayed by d.
func (t Trigger) After(d time.Duration) Trigger {
	if t.Kind == AtTime {
		t.Time += d
	} else {
		t.Delay += d
	}
	return t
}

// String returns the trigger as in a plan.
func (t Trigger) String() string {
	var s string
	switch t.Kind {
	case AfterEvent:
		s = "after event " + strconv.FormatUint(t.Event, 10)
	case AfterMark:
		s = "after " + strconv.FormatUint(t.Count, 10) + " " + t.Mark
		if t.Host != "" {
			s += " on " + t.Host
		}
	default:
		return "at " + FormatDuration(t.Time)
	}
	if t.Delay != 0 {
		s += " +" + FormatDuration(t.Delay)
	}
	return s
}

func (t Trigger) check() error {
	if t.Time < 0 || t.Delay < 0 {
		return fmt.Errorf("time %v and delay %v must not be negative", t.Time, t.Delay)
	}
	want := Trigger{Kind: t.Kind}
	switch t.Kind {
	case AtTime:
		want.Time = t.Time
	case AfterEvent:
		want.Event, want.Delay = t.Event, t.Delay
		if t.Event == 0 {
			return errors.New("events are counted from 1, not 0")
		}
	case AfterMark:
		want.Mark, want.Count, want.Host, want.Delay = t.Mark, t.Count, t.Host, t.Delay
		if t.Count == 0 {
			return errors.New("marks are counted from 1, not 0")
		}
		if err := checkName("mark", t.Mark); err != nil {
			return err
		}
		if t.Host != "" {
			if err := checkNoSlash("host", t.Host); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("unknown kind of trigger %d", t.Kind)
	}
	if t != want {
		return fmt.Errorf("trigger %q has fields set that its kind does not use", t.String())
	}
	return nil
}
