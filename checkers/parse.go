package checkers

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"tornpage/engine/page"
)

// Parse reads a history's text. Blank lines and lines that start with # are
// skipped. An error names the line and what was wanted; whether the operations
// fit together is for the checks to say.
func Parse(text string) (*History, error) {
	h := &History{}
	started := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		if !started {
			if strings.Join(fields, " ") != header {
				return nil, fmt.Errorf("line %d: %.60q, want %q first", number, strings.TrimSpace(line), header)
			}
			started = true
			continue
		}
		c := &cursor{fields: fields}
		h.line(c)
		if c.err == nil && len(c.fields) > 0 {
			c.fail("the end of the line")
		}
		if c.err != nil {
			return nil, fmt.Errorf("line %d: %w", number, c.err)
		}
	}
	if !started {
		return nil, fmt.Errorf("line %d: the end, want %q first", number+1, header)
	}
	return h, nil
}

func (h *History) line(c *cursor) {
	switch word := c.next(); word {
	case "initial":
		h.Initial = append(h.Initial, c.keyValue())
	case "boot":
		b := Boot{}
		b.Host, b.Boot = c.host()
		b.OpenedAt = c.event()
		c.word("end")
		b.End = c.lsn("")
		b.Follower = c.maybe("follower")
		h.Boots = append(h.Boots, b)
	case "exit":
		e := Exit{}
		e.Host, e.Boot = c.host()
		e.Event = c.event()
		e.Reason = strings.Join(c.fields, " ")
		c.fields = nil
		h.Exits = append(h.Exits, e)
	case "durable":
		h.Durable = append(h.Durable, Point{Event: c.event(), LSN: c.lsn("")})
	case "commit":
		m := Commit{LSN: c.lsn("")}
		c.word("visible")
		m.Visible = c.event()
		if c.maybe("op") {
			m.Op = c.integer("")
		}
		h.Commits = append(h.Commits, m)
	case "op":
		h.Ops = append(h.Ops, c.op())
	default:
		c.err = fmt.Errorf("%.60q, want initial, boot, exit, durable, commit or op", word)
	}
}

// cursor takes a line's fields one by one; after an error it takes nothing.
type cursor struct {
	fields []string
	err    error
}

func (c *cursor) peek() string {
	if c.err != nil || len(c.fields) == 0 {
		return ""
	}
	return c.fields[0]
}

func (c *cursor) next() string {
	f := c.peek()
	if f != "" {
		c.fields = c.fields[1:]
	}
	return f
}

// fail reports the field at the cursor.
func (c *cursor) fail(want string) {
	if c.err != nil {
		return
	}
	if f := c.peek(); f != "" {
		c.err = fmt.Errorf("%.60q, want %s", f, want)
		return
	}
	c.err = fmt.Errorf("the line ends, want %s", want)
}

func (c *cursor) word(w string) {
	if !c.maybe(w) {
		c.fail(strconv.Quote(w))
	}
}

func (c *cursor) maybe(w string) bool {
	if c.peek() != w {
		return false
	}
	c.next()
	return true
}

// integer takes a number behind a prefix.
func (c *cursor) integer(prefix string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(c.peek(), prefix), 10, 64)
	if err != nil || !strings.HasPrefix(c.peek(), prefix) {
		c.fail("a number like " + prefix + "7")
	}
	c.next()
	return n
}

func (c *cursor) small(prefix string) int {
	n := c.integer(prefix)
	if int64(int32(n)) != n && c.err == nil {
		c.err = fmt.Errorf("%s%d, want at most 31 bits", prefix, n)
	}
	return int(n)
}

func (c *cursor) event() int64 {
	n, err := strconv.ParseInt(c.peek(), 10, 64)
	if err != nil || n < 0 {
		c.fail("an event number like 120")
	}
	c.next()
	return n
}

func (c *cursor) host() (string, uint64) {
	f := c.peek()
	at := strings.LastIndexByte(f, '/')
	if at < 1 {
		c.fail("host/boot like w/1")
		return "", 0
	}
	boot, err := strconv.ParseUint(f[at+1:], 10, 64)
	if err != nil {
		c.fail("host/boot like w/1")
	}
	c.next()
	if f[:at] == "-" {
		return "", boot
	}
	return f[:at], boot
}

func (c *cursor) lsn(prefix string) page.LSN {
	f, ok := strings.CutPrefix(c.peek(), prefix)
	hi, lo, cut := strings.Cut(f, "/")
	h, err1 := strconv.ParseUint(hi, 16, 32)
	l, err2 := strconv.ParseUint(lo, 16, 32)
	if !ok || !cut || err1 != nil || err2 != nil {
		c.fail("an LSN like " + prefix + "0/1FD8")
	}
	c.next()
	return page.LSN(h<<32 | l)
}

func (c *cursor) keyValue() KeyValue {
	key, val, ok := strings.Cut(strings.TrimPrefix(c.peek(), "k"), "=")
	k, err1 := strconv.ParseInt(key, 10, 64)
	v, err2 := strconv.ParseUint(val, 10, 64)
	if !ok || !strings.HasPrefix(c.peek(), "k") || err1 != nil || err2 != nil {
		c.fail("key and value like k3=17")
	}
	c.next()
	return KeyValue{k, v}
}

func (c *cursor) op() Op {
	o := Op{ID: c.integer(""), Client: c.small("c")}
	if strings.HasPrefix(c.peek(), "n") && !strings.Contains(c.peek(), "/") {
		o.Worker = c.small("n")
	}
	o.Host, o.Boot = c.host()
	for k := Get; k <= View; k++ {
		if c.maybe(kindNames[k]) {
			o.Kind = k
			break
		}
	}
	if o.Kind == 0 {
		c.fail("get, put, cas, mput, mget or view")
	}
	for strings.HasPrefix(c.peek(), "k") {
		c.key(&o)
	}
	c.end(&o)
	if o.Kind == CAS && o.Outcome != Committed {
		o.OK, o.Results = false, nil
	}
	return o
}

func (c *cursor) key(o *Op) {
	f := c.peek()
	switch {
	case o.Kind == CAS:
		left, to, ok := strings.Cut(f, ">")
		v, err := strconv.ParseUint(to, 10, 64)
		if !ok || err != nil {
			c.fail("a swap like k3=17>19")
			return
		}
		c.fields[0] = left
		old := c.keyValue()
		o.Keys, o.Old, o.Values = append(o.Keys, old.Key), old.Value, append(o.Values, v)
	case o.Reads() && !strings.Contains(f, "="):
		o.Keys = append(o.Keys, c.integer("k"))
	default:
		v := c.keyValue()
		o.Keys = append(o.Keys, v.Key)
		if o.Reads() {
			o.Results = append(o.Results, v.Value)
		} else {
			o.Values = append(o.Values, v.Value)
		}
	}
	if o.Reads() && len(o.Results) != 0 && len(o.Results) != len(o.Keys) && c.err == nil {
		c.err = fmt.Errorf("%.60q, want a value for every key or for none", f)
	}
}

// end takes what follows the keys.
func (c *cursor) end(o *Op) {
	if o.Kind == CAS {
		c.swapped(o)
	}
	for out := Committed; out <= Pending; out++ {
		if c.maybe(outcomeNames[out]) {
			o.Outcome = out
			break
		}
	}
	if o.Outcome == 0 {
		c.fail("committed, aborted, unknown or pending")
	}
	if strings.HasPrefix(c.peek(), "@") {
		o.Token = c.lsn("@")
	}
	if strings.HasPrefix(c.peek(), ">=") {
		o.AtLeast = c.lsn(">=")
	}
	c.stamps(o)
	if strings.HasPrefix(c.peek(), "t") {
		c.times(o)
	}
}

func (c *cursor) swapped(o *Op) {
	switch {
	case c.maybe("yes"):
		o.OK = true
	case c.maybe("no"):
	case strings.HasPrefix(c.peek(), "no="):
		v, err := strconv.ParseUint(c.peek()[3:], 10, 64)
		if err != nil {
			c.fail("what the key held, like no=18")
		}
		c.next()
		o.Results = []uint64{v}
	}
}

func (c *cursor) stamps(o *Op) {
	call, ret, ok := strings.Cut(c.peek(), "..")
	from, err := strconv.ParseInt(call, 10, 64)
	to, err2 := Open, error(nil)
	if ret != "" {
		to, err2 = strconv.ParseInt(ret, 10, 64)
	}
	if !ok || err != nil || err2 != nil {
		c.fail("events like 10..24, or 10.. without a return")
	}
	c.next()
	o.Call, o.Return = from, to
}

func (c *cursor) times(o *Op) {
	start, end, ok := strings.Cut(c.peek()[1:], "..")
	s, err := time.ParseDuration(start)
	e, err2 := time.ParseDuration(end)
	if !ok || err != nil || err2 != nil {
		c.fail("virtual times like t1ms..2.5ms")
	}
	c.next()
	o.Start, o.End = s, e
}
