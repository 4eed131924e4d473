package local_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine/local"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// TestScripts runs the conversations in testdata/scripts. Their verbs:
//
//	new [seg=BYTES] [keep=N] [frames=N] [redo=N] [fpw=off] [checksums=off]
//	boot               open; the state that it found, or why it refused
//	commit P.I ...     set cells I of pages P in one mini-transaction, and wait
//	append P.I ...     the same without waiting
//	write P            write page P back
//	checkpoint         checkpoint now
//	fpw on|off         switch full-page writes
//	close              shutdown checkpoint, and the process ends
//	kill, power-off    end the process; end the machine and boot it
//	crash MARK [N]     power-off inside the N-th MARK from now on
//	keep P             remember page P's bytes on disk
//	tear P N           sectors from N on become what was remembered
//	spoil FILE BYTE    flip a byte of a file on disk
//	cells              what the pages hold
//	log                records in the log files from the redo point on
//	files              names on the disks
//	stats              counts of this boot
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
		default:
			d.Fatalf(s.t, "unknown argument %q", a.Key)
		}
	}
	s.w = newCells(s.t, 1, cfg, frames, 16, func(up *engineUp) {
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
	"write":      (*script).write,
	"checkpoint": (*script).checkpoint,
	"fpw":        (*script).fpw,
	"close":      (*script).close,
	"kill":       (*script).kill,
	"power-off":  (*script).powerOff,
	"crash":      (*script).crash,
	"keep":       (*script).keep,
	"tear":       (*script).tear,
	"spoil":      (*script).spoil,
	"cells":      (*script).cells,
	"log":        (*script).log,
	"files":      (*script).files,
	"stats":      (*script).stats,
}

func (s *script) boot([]string) string {
	s.w.world.Boot("pg")
	return s.opened()
}

func (s *script) opened() string {
	s.w.let(100 * time.Millisecond)
	if s.w.refused != nil {
		return fmt.Sprintf("refused: %v\n", s.w.refused)
	}
	if !s.w.world.Up("pg") || s.w.up == nil {
		return "the process died\n"
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

// raw opens a file of the machine from outside.
func (s *script) raw(disk, name string) interface {
	io.ReaderAt
	Sync() error
	WriteAt([]byte, int64) (uint64, error)
} {
	d, err := s.w.world.Disk("m", disk)
	require.NoError(s.t, err)
	f, err := d.Open(name, false)
	require.NoError(s.t, err)
	return f
}

func (s *script) keep(a []string) string {
	id := block(a)
	b := make([]byte, page.Size)
	_, err := s.raw("data", "rel-16384").ReadAt(b, int64(id.Block)*page.Size)
	require.NoError(s.t, err)
	s.kept[id.Block] = b
	return ""
}

func (s *script) tear(a []string) string {
	id := block(a)
	n, _ := strconv.Atoi(a[1])
	f := s.raw("data", "rel-16384")
	_, err := f.WriteAt(s.kept[id.Block][n*512:], int64(id.Block)*page.Size+int64(n)*512)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Sync())
	return ""
}

func (s *script) spoil(a []string) string {
	at, _ := strconv.ParseInt(a[1], 0, 64)
	disk := "data"
	if len(a[0]) == 24 {
		disk = "wal"
	}
	f := s.raw(disk, a[0])
	b := make([]byte, 1)
	_, err := f.ReadAt(b, at)
	require.NoError(s.t, err)
	_, err = f.WriteAt([]byte{b[0] ^ 0xFF}, at)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Sync())
	return ""
}

func (s *script) cells([]string) string {
	return s.do(func(up *engineUp) string {
		var out strings.Builder
		for n := range up.w.pages {
			f, err := up.pool.Pin(page.ID{Rel: cellRel, Block: n})
			if err != nil {
				fmt.Fprintf(&out, "page %d: %v\n", n, err)
				continue
			}
			if !f.Page().IsZero() {
				fmt.Fprintf(&out, "page %d:", n)
				for i := range uint16(cellCount) {
					if v := binary.LittleEndian.Uint64(cellAt(f.Page(), i)); v != 0 {
						fmt.Fprintf(&out, " %d=%d", i, v)
					}
				}
				out.WriteByte('\n')
			}
			up.pool.Unpin(f)
		}
		return out.String()
	})
}

// log reads the log as recovery would.
func (s *script) log([]string) string {
	b := make([]byte, wal.ControlSpacing+wal.ControlSlot)
	_, err := s.raw("data", "control").ReadAt(b, 0)
	if err != nil {
		require.ErrorIs(s.t, err, io.EOF)
	}
	c, _, err := wal.ChooseControl(b[:wal.ControlSlot], b[wal.ControlSpacing:])
	require.NoError(s.t, err)
	l := c.Layout()
	d, err := s.w.world.Disk("m", "wal")
	require.NoError(s.t, err)
	r := wal.NewReader(l, func(b []byte, at wal.LSN) (int, error) {
		f, err := d.Open(l.SegmentName(l.Segment(at)), false)
		if err != nil {
			return 0, io.EOF
		}
		return f.ReadAt(b, l.Offset(at))
	}, c.RedoPosition())
	var out strings.Builder
	fmt.Fprintf(&out, "%v, epoch %d\n", c.State, c.Epoch)
	for {
		rec, err := r.Next()
		if err != nil {
			fmt.Fprintf(&out, "%v\n", err)
			return out.String()
		}
		fmt.Fprintf(&out, "%v\n", rec)
	}
}

func (s *script) files([]string) string {
	var out strings.Builder
	for _, name := range []string{"wal", "data"} {
		d, err := s.w.world.Disk("m", name)
		require.NoError(s.t, err)
		fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(d.List(), " "))
	}
	return out.String()
}

func (s *script) stats([]string) string {
	return s.do(func(up *engineUp) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%+v", up.store.Stats()), "{}"), " ", "\n") + "\n"
	})
}
