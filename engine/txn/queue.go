package txn

import (
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// Log is what the commit queue asks of storage.
type Log interface {
	Durable() wal.LSN
	WaitDurable(lsn wal.LSN) error
}

// Queue is the commit queue. The oldest waiter asks storage, for all; then it
// publishes every commit that has become durable, in LSN order, wakes exactly
// those, and the next oldest goes on. There is no timer: while storage writes,
// later commits gather, and the next write takes them all.
type Queue struct {
	m         host.Machine
	t         *Manager
	log       Log
	latch     *host.Latch // from before a commit's Append until Enter (rule T3)
	head      *Commit
	tail      *Commit
	spare     *Commit
	leading   bool
	failed    error
	published func(xid uint32, lsn wal.LSN)
	Stats     QueueStats
}

// QueueStats counts what went through a queue.
type QueueStats struct {
	Commits uint64 // published
	Waits   uint64 // times that storage was asked
	Grouped uint64 // commits that another one's wait made durable
	Largest uint64 // commits published at once, at most
}

// Commit is a commit record in the log that is not published yet.
type Commit struct {
	LSN  wal.LSN
	XID  uint32
	subs []uint32 // its live subtransactions
	cond *host.Cond
	done bool
	next *Commit
}

// NewQueue makes the queue that publishes to t. published, which may be nil,
// is told of each commit as it becomes visible, and must not block.
func NewQueue(m host.Machine, t *Manager, log Log, published func(xid uint32, lsn wal.LSN)) *Queue {
	return &Queue{m: m, t: t, log: log, published: published, latch: host.NewLatch(m, host.WaitWALInsert)}
}

// Lock blocks until the caller alone may append a commit record.
func (q *Queue) Lock() { q.latch.Lock() }

// Unlock lets the next one.
func (q *Queue) Unlock() { q.latch.Unlock() }

// Enter puts a commit whose record was appended under Lock into the queue,
// with the live subtransactions that the record lists. The caller passes it to
// Wait, once.
func (q *Queue) Enter(xid uint32, lsn wal.LSN, subs ...uint32) *Commit {
	if !q.latch.Held() {
		invariant.Broken("T3", "commit of XID %d at %v entered without the queue's latch", xid, lsn)
	}
	if q.tail != nil && lsn <= q.tail.LSN || lsn <= q.t.Published() {
		invariant.Broken("T3", "commit at %v entered behind a later one (published %v)", lsn, q.t.Published())
	}
	c := q.spare
	if c == nil {
		c = &Commit{cond: q.m.NewCond(host.WaitCommitQueue)}
	} else {
		q.spare = c.next
	}
	c.LSN, c.XID, c.done, c.next = lsn, xid, false, nil
	c.subs = append(c.subs[:0], subs...)
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.next = c
	}
	q.tail = c
	return c
}

// Wait blocks until the commit is published. An error means that its outcome
// is not known (S6).
func (q *Queue) Wait(c *Commit) error {
	for !c.done && q.failed == nil {
		if q.leading || q.head != c {
			c.cond.Wait()
			continue
		}
		q.leading = true
		q.Stats.Waits++
		err := q.log.WaitDurable(c.LSN)
		q.leading = false
		if err != nil {
			q.Fail(err)
			break
		}
		q.publish(q.log.Durable())
		if !c.done {
			invariant.Broken("T2", "storage waited for %v, but is durable to %v only", c.LSN, q.log.Durable())
		}
	}
	if !c.done {
		return q.failed
	}
	c.next, q.spare = q.spare, c
	return nil
}

// publish makes the commits up to durable visible (rules T2, T3), each with all
// its subtransactions (T7).
func (q *Queue) publish(durable wal.LSN) {
	n := uint64(0)
	last := wal.LSN(0)
	for q.head != nil && q.head.LSN <= durable {
		c := q.head
		q.head = c.next
		q.t.leave(c.XID, c.LSN)
		for _, sub := range c.subs {
			q.t.leave(sub, c.LSN)
		}
		last = c.LSN
		n++
		c.done = true
		c.cond.Signal()
		if q.published != nil {
			q.published(c.XID, c.LSN)
		}
	}
	if q.head == nil {
		q.tail = nil
	} else {
		q.head.cond.Signal() // the next to ask storage
	}
	if n == 0 {
		return
	}
	q.t.publish(last)
	q.Stats.Commits += n
	q.Stats.Largest = max(q.Stats.Largest, n)
	if n > 1 {
		q.Stats.Grouped += n - 1
		q.m.Mark("commit.grouped")
	}
}

// Fail ends every wait, present and to come, with err.
func (q *Queue) Fail(err error) {
	if q.failed == nil {
		q.failed = err
	}
	for c := q.head; c != nil; c = c.next {
		c.cond.Signal()
	}
}
