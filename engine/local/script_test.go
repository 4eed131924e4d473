package local_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine/local"
	"tornpage/engine/page"
	"tornpage/sim"
	"tornpage/sim/simdisk"
)

// TestScripts runs the conversations in testdata/scripts. Their verbs:
//
//	new [seg=BYTES] [keep=N] [frames=N] [redo=N] [fpw=off] [checksums=off]
//	    [size=BYTES: of each disk] [reserve=PAGES] [time=MS: CheckpointTime]
//	boot               open; the state that it found, or why it refused
//	commit P.I ...     set cells I of pages P in one mini-transaction, and wait
//	append P.I ...     the same without waiting
//	cut P              cut pages off from P on, without waiting
//	size               blocks of the relation, and bytes of its file
//	hog DISK BYTES     somebody takes all space of a disk but so many bytes
//	give-back DISK     and frees it again
//	wait MS            let time pass
//	read P             pin page P
//	write P            write page P back
//	checkpoint         checkpoint now
//	fpw on|off         switch full-page writes
//	close              shutdown checkpoint, and the process ends
//	kill, power-off    end the process; end the machine and boot it
//	crash MARK [N]     power-off inside the N-th MARK from now on
//	keep P             remember page P's bytes on disk
//	tear P N           sectors from N on become what was remembered
//	lose P             page P becomes zeros on disk
//	spoil FILE BYTE    flip a byte of a file on disk
//	cells              what the pages hold
//	log                records in the log files from the redo point on
//	files              names on the disks
//	stats              counts of this boot
//	mark NAME          how often a mark was reached
//	opened             what boot says, later
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, s.run)
	})
}

type script struct {
	t    *testing.T
	w    *cells
	kept map[uint32][]byte
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.t = t
	if d.Cmd == "new" {
		return s.fresh(d)
	}
	if d.Cmd != "run" {
		d.Fatalf(t, "unknown directive %q", d.Cmd)
	}
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		verb, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		f := verbs[verb]
		if f == nil {
			d.Fatalf(t, "unknown verb %q", verb)
		}
		out.WriteString(f(s, strings.Fields(args)))
	}
	return out.String()
}

func (s *script) fresh(d *datadriven.TestData) string {
	cfg := local.Config{FullPageWrites: true, Checksums: true, SegmentSize: 32768}
	disk := simdisk.Config{Sector: 512}
	frames := 8
	for _, a := range d.CmdArgs {
		n, _ := strconv.Atoi(a.Vals[0])
		switch a.Key {
		case "seg":
			cfg.SegmentSize = uint32(n)
		case "keep":
			cfg.SegmentsKept = n
		case "frames":
			frames = n
		case "redo":
			cfg.RedoPages = n
		case "fpw":
			cfg.FullPageWrites = false
		case "checksums":
			cfg.Checksums = false
		case "size":
			disk.Size = int64(n)
		case "reserve":
			cfg.WALBuffer = 16384
			cfg.Reserve(n)
			cfg.SpaceRetry = 10 * time.Millisecond
		case "time":
			cfg.CheckpointTime = time.Duration(n) * time.Millisecond
		default:
			d.Fatalf(s.t, "unknown argument %q", a.Key)
		}
	}
	s.w = newCellsDisk(s.t, sim.Config{Seed: 1}, disk, cfg, frames, 16, func(up *engineUp) {
		for {
			up.m.Sleep(time.Hour)
		}
	})
	s.w.lenient = true
	s.kept = map[uint32][]byte{}
	return ""
}

// do runs f as a task of the engine and says how it ended.
func (s *script) do(f func(*engineUp) string) string {
	up, out := s.w.up, "the process died\n"
	if up == nil {
		return "not running\n"
	}
	up.m.Go("script", func() {
		out = f(up)
		s.w.world.Stop()
	})
	s.w.let(time.Second)
	if s.w.world.Up("pg") {
		return out
	}
	s.w.up = nil
	if err := s.w.world.LastExit("pg"); err != nil {
		return fmt.Sprintf("exit: %v\n", err)
	}
	return out
}

var verbs = map[string]func(*script, []string) string{
	"boot":       (*script).boot,
	"commit":     func(s *script, a []string) string { return s.set(a, true) },
	"append":     func(s *script, a []string) string { return s.set(a, false) },
	"cut":        (*script).cut,
	"size":       (*script).size,
	"hog":        (*script).hog,
	"give-back":  (*script).giveBack,
	"wait":       (*script).wait,
	"read":       (*script).read,
	"write":      (*script).write,
	"checkpoint": (*script).checkpoint,
	"fpw":        (*script).fpw,
	"close":      (*script).close,
	"kill":       (*script).kill,
	"power-off":  (*script).powerOff,
	"crash":      (*script).crash,
	"keep":       (*script).keep,
	"tear":       (*script).tear,
	"lose":       (*script).lose,
	"spoil":      (*script).spoil,
	"cells":      (*script).cells,
	"log":        (*script).log,
	"files":      (*script).files,
	"stats":      (*script).stats,
	"mark":       (*script).mark,
	"opened":     func(s *script, _ []string) string { return s.opened() },
}

func (s *script) boot([]string) string {
	s.w.up = nil
	s.w.world.Boot("pg")
	return s.opened()
}

func (s *script) opened() string {
	s.w.let(100 * time.Millisecond)
	if s.w.refused != nil {
		return fmt.Sprintf("refused: %v\n", s.w.refused)
	}
	if !s.w.world.Up("pg") {
		return "the process died\n"
	}
	if s.w.up == nil {
		return "not open yet\n"
	}
	st := s.w.up.state
	return fmt.Sprintf("open: epoch %d, end %v, redo %v, %d records, %d images, next XID %d\n",
		st.Epoch, st.End, st.Redo, st.Records, st.Images, st.NextXID)
}

func (s *script) set(args []string, wait bool) string {
	var at []cell
	for _, a := range args {
		var c cell
		_, err := fmt.Sscanf(a, "%d.%d", &c.page, &c.index)
		require.NoError(s.t, err, a)
		at = append(at, c)
	}
	return s.do(func(up *engineUp) string {
		if wait {
			if err := up.commit(at); err != nil {
				return fmt.Sprintf("error: %v\n", err)
			}
			return fmt.Sprintf("%d durable\n", up.w.next)
		}
		lsn, err := up.set(at)
		if err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		return fmt.Sprintf("%d ends at %v\n", up.w.next, lsn)
	})
}

func block(a []string) page.ID {
	n, _ := strconv.Atoi(a[0])
	return page.ID{Rel: cellRel, Block: uint32(n)}
}

func (s *script) cut(a []string) string {
	return s.do(func(up *engineUp) string {
		lsn, err := up.cutTo(block(a).Block)
		if err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		return fmt.Sprintf("cut at %v\n", lsn)
	})
}

func (s *script) size([]string) string {
	return s.do(func(up *engineUp) string {
		n, err := up.store.Size(cellRel, 0)
		require.NoError(s.t, err)
		d, err := s.w.world.Disk("m", "data")
		require.NoError(s.t, err)
		f, err := d.Open("rel-16384", false)
		require.NoError(s.t, err)
		defer f.Close()
		return fmt.Sprintf("%d blocks, the file has %d\n", n, f.Size()/page.Size)
	})
}

func (s *script) hog(a []string) string {
	n, err := strconv.ParseInt(a[1], 10, 64)
	require.NoError(s.t, err)
	s.w.hog(a[0]).leave(n)
	return ""
}

func (s *script) giveBack(a []string) string {
	s.w.hog(a[0]).giveBack()
	return ""
}

func (s *script) wait(a []string) string {
	n, err := strconv.Atoi(a[0])
	require.NoError(s.t, err)
	s.w.let(time.Duration(n) * time.Millisecond)
	return ""
}

func (s *script) read(a []string) string {
	return s.do(func(up *engineUp) string {
		f, err := up.pool.Pin(block(a))
		if err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		defer up.pool.Unpin(f)
		return fmt.Sprintf("%v has LSN %v\n", f.ID(), f.Page().LSN())
	})
}

func (s *script) write(a []string) string {
	return s.do(func(up *engineUp) string {
		if err := up.pool.WriteBack(block(a)); err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		return ""
	})
}

func (s *script) checkpoint([]string) string {
	return s.do(func(up *engineUp) string {
		up.store.Checkpoint()
		return fmt.Sprintf("floor %v\n", up.store.Floor())
	})
}

func (s *script) fpw(a []string) string {
	return s.do(func(up *engineUp) string {
		up.store.SetFullPageWrites(a[0] == "on")
		return fmt.Sprintf("floor %v\n", up.store.Floor())
	})
}

func (s *script) close([]string) string {
	out := s.do(func(up *engineUp) string {
		up.store.Close()
		return ""
	})
	s.w.world.Kill("pg")
	return out
}

func (s *script) kill([]string) string {
	s.w.world.Kill("pg")
	s.w.up = nil
	return ""
}

func (s *script) powerOff([]string) string {
	s.w.up = nil
	s.w.world.PowerOff("m")
	s.w.world.PowerOn("m")
	return s.opened()
}

func (s *script) crash(a []string) string {
	n := uint64(1)
	if len(a) > 1 {
		n, _ = strconv.ParseUint(a[1], 10, 64)
	}
	n += s.w.world.Marks()[a[0]]
	s.w.world.OnMark(a[0], "pg", n, func() { s.w.world.PowerOff("m") })
	s.w.world.At(0, func() {})
	return ""
}
