package sim_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"tornpage/engine/host"
	"tornpage/sim"
)

// TestConversations runs the files of testdata/net and testdata/crash.
// "world seed=N a/x b/y" makes processes on machines of their own in zones x
// and y, with the latencies of plainNet, and boots them. A "run" block has one
// verb a line, all at the present time unless "at TIME" comes first:
//
//	send a->b TEXT        a datagram
//	dial a->b             a connection; also called b->a
//	tell a->b TEXT        a message on it
//	close a->b
//	cut a->b, cut a<->b, heal …        links; a zone's name in capitals
//	slow a->b TIME, lose a->b          add latency; lose each first sending
//	kill a, boot a, off a, on a, pause a, resume a
//	stall a, unstall a                 its disk
//	write a F TEXT, read a F, sync a F, rename a F G, list a, syncdir a
//	mark a NAME
//	when NAME a N VERB …  in the N-th mark of that name on a
//	run TIME              let so much time pass
//
// The answer is what the processes saw, with the time.
func TestConversations(t *testing.T) {
	for _, dir := range []string{"testdata/net", "testdata/crash"} {
		datadriven.Walk(t, dir, func(t *testing.T, path string) {
			var k *talk
			datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
				if td.Cmd == "world" {
					k = newTalk(t, td)
					return ""
				}
				for line := range strings.Lines(td.Input) {
					if w := strings.Fields(line); len(w) > 0 && w[0] != "#" {
						k.do(t, w)
					}
				}
				return k.answer()
			})
		})
	}
}

type talk struct {
	*lab
	orders map[string]*orders
	conns  map[string]host.Conn
}

// orders is what a boot of a process still has to do, in order; what goes to
// the disk blocks nothing else.
type orders struct {
	boot  uint64
	say   queue
	files queue
}

type queue struct {
	cond *host.Cond
	list []func(host.Machine)
}

func (q *queue) work(m host.Machine) {
	for {
		for len(q.list) == 0 {
			q.cond.Wait()
		}
		next := q.list[0]
		q.list = q.list[1:]
		next(m)
	}
}

func newTalk(t *testing.T, td *datadriven.TestData) *talk {
	k := &talk{orders: map[string]*orders{}, conns: map[string]host.Conn{}}
	seed, nodes := uint64(1), []node(nil)
	for _, a := range td.CmdArgs {
		if a.Key == "seed" {
			td.ScanArgs(t, "seed", &seed)
			continue
		}
		name, zone, _ := strings.Cut(a.Key, "/")
		nodes = append(nodes, node{name, zone, k.boot})
	}
	k.lab = newLab(t, configOf(seed, nodes...))
	k.BootAll()
	return k
}

// boot says what it receives, and does what it is ordered to.
func (k *talk) boot(m host.Machine) {
	o := k.ordersOf(m.Name())
	o.say.cond, o.files.cond = m.NewCond(host.WaitWork), m.NewCond(host.WaitWork)
	m.Handle(1, func(from host.Addr, msg []byte) { m.Logf("%s from %s", msg, m.NameOf(from)) })
	m.Listen(2, func(c host.Conn) { k.attend(m, c) })
	m.Go("files", func() { o.files.work(m) })
	o.say.work(m)
}

// ordersOf are those of the present boot of a process.
func (k *talk) ordersOf(name string) *orders {
	o := k.orders[name]
	if boots := k.Boots(name); o == nil || o.boot != boots {
		o = &orders{boot: boots}
		k.orders[name] = o
	}
	return o
}

// attend says what comes on a connection.
func (k *talk) attend(m host.Machine, c host.Conn) {
	peer := m.NameOf(c.Peer())
	k.conns[m.Name()+"->"+peer] = c
	m.Logf("connected with %s", peer)
	c.OnRecv(func(msg []byte, err error) {
		if err != nil {
			m.Logf("from %s: %v", peer, err)
			return
		}
		m.Logf("%s on the connection from %s", msg, peer)
	})
}

// answer is what was said, each line with its time.
func (k *talk) answer() string {
	var b strings.Builder
	for i, s := range k.said {
		fmt.Fprintf(&b, "%v %s\n", k.when[i].Round(time.Microsecond), s)
	}
	k.take()
	return b.String()
}

func (k *talk) do(t *testing.T, w []string) {
	span := func(s string) time.Duration {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("%v: %v", w, err)
		}
		return d
	}
	switch w[0] {
	case "run":
		k.must(t, k.Now()+span(w[1]))
	case "at":
		k.At(span(w[1]), func() { k.verb(t, w[2:]) })
	case "when":
		n, err := strconv.ParseUint(w[3], 10, 64)
		if err != nil {
			t.Fatalf("%v: %v", w, err)
		}
		k.OnMark(w[1], w[2], n, func() { k.verb(t, w[4:]) })
	default:
		k.verb(t, w)
	}
}

// verb does one thing now: to the world, or by order to a process.
func (k *talk) verb(t *testing.T, w []string) {
	for len(w) < 4 {
		w = append(w, "")
	}
	who, rest := w[1], strings.TrimSpace(strings.Join(w[2:], " "))
	a, b, _ := strings.Cut(who, "->")
	switch w[0] {
	case "cut":
		k.link(who, sim.LinkFaults{Cut: true})
	case "heal":
		k.link(who, sim.LinkFaults{})
	case "lose":
		k.link(who, sim.LinkFaults{Drop: 1_000_000})
	case "slow":
		d, _ := time.ParseDuration(rest)
		k.link(who, sim.LinkFaults{Delay: int64(d)})
	case "kill":
		k.Kill(who)
	case "boot":
		k.Boot(who)
	case "off":
		k.PowerOff(who + "-m")
	case "on":
		k.PowerOn(who + "-m")
	case "pause", "resume":
		k.SetPaused(who, w[0] == "pause")
	case "stall", "unstall":
		k.SetStall(who+"-m", "data", w[0] == "stall")
	case "send":
		k.order(a, false, func(m host.Machine) { m.Send(m.Lookup(b), 1, []byte(rest)) })
	case "dial":
		k.order(a, false, func(m host.Machine) {
			m.Go("dial", func() {
				if c, err := m.Dial(m.Lookup(b), 2); err != nil {
					m.Logf("%v", err)
				} else {
					k.attend(m, c)
				}
			})
		})
	case "tell":
		k.order(a, false, func(host.Machine) { k.conns[who].Send([]byte(rest)) })
	case "close":
		k.order(a, false, func(host.Machine) { k.conns[who].Close() })
	case "mark":
		k.order(who, false, func(m host.Machine) { m.Mark(rest); m.Logf("marked %s", rest) })
	default:
		k.order(who, true, func(m host.Machine) { k.disk(t, m, w, strings.Join(w[3:], " ")) })
	}
}

// order gives a process something to do, if it runs.
func (k *talk) order(name string, files bool, f func(host.Machine)) {
	if !k.Up(name) {
		k.said, k.when = append(k.said, name+" is down"), append(k.when, k.Now())
		return
	}
	o := k.ordersOf(name)
	q := &o.say
	if files {
		q = &o.files
	}
	if q.list = append(q.list, f); q.cond != nil {
		q.cond.Signal()
	}
}

func (k *talk) link(ends string, f sim.LinkFaults) {
	zone := func(s string) bool { return s == strings.ToUpper(s) }
	a, b, both := strings.Cut(ends, "<->")
	if !both {
		a, b, _ = strings.Cut(ends, "->")
	}
	k.SetLink(strings.ToLower(a), strings.ToLower(b), zone(a), zone(b), f)
	if both {
		k.SetLink(strings.ToLower(b), strings.ToLower(a), zone(b), zone(a), f)
	}
}

// disk does what is to be done with a file.
func (k *talk) disk(t *testing.T, m host.Machine, w []string, text string) {
	d, name := m.Disk("data"), w[2]
	var f host.File
	err := error(nil)
	if w[0] == "write" || w[0] == "read" || w[0] == "sync" {
		f, err = d.Open(name, host.ClassData, w[0] == "write")
	}
	if err != nil {
		m.Logf("%v", err)
		return
	}
	answer := ""
	switch w[0] {
	case "write":
		_, err = f.WriteAt([]byte(text), 0)
	case "sync":
		err = f.Sync()
	case "read":
		b := make([]byte, 100)
		n, _ := f.ReadAt(b, 0)
		answer = strconv.Quote(string(b[:n]))
	case "rename":
		err = d.Rename(name, text)
	case "list":
		var names []string
		names, err = d.List()
		answer = strings.Join(names, " ")
	case "syncdir":
		err = d.SyncDir()
	default:
		m.Logf("what is %q?", w[0])
		return
	}
	if err != nil {
		answer = err.Error()
	} else if answer == "" {
		answer = "ok"
	}
	m.Logf("%s: %s", strings.TrimSpace(w[0]+" "+name), answer)
}
