package oshost

import (
	"fmt"
	"path/filepath"
	"testing"

	"tornpage/engine/host"
	"tornpage/engine/host/hosttest"
)

// benchmark runs f as the process "one", beside an echoing process "two".
func benchmark(b *testing.B, f func(m host.Machine)) {
	dir := b.TempDir()
	cfg := Config{Processes: map[string]ProcessConfig{}}
	for i, name := range []string{"one", "two"} {
		cfg.Processes[name] = ProcessConfig{Address: fmt.Sprintf("127.0.0.1:%d", 30_101+i), Dir: filepath.Join(dir, name),
			Disks: map[string]string{hosttest.Disk: "disk"}}
	}
	listening := make(chan struct{})
	two, err := Start(cfg, "two", Options{}, func(m host.Machine) {
		m.Listen(1, func(c host.Conn) { c.OnRecv(func(msg []byte, _ error) { c.Send(msg) }) })
		close(listening)
		park(m)
	})
	if err != nil {
		b.Fatal(err)
	}
	<-listening
	one, err := Start(cfg, "one", Options{}, f)
	if err != nil {
		b.Fatal(err)
	}
	if end := one.Wait(); end.Kind != Returned {
		b.Fatal(end.Text)
	}
	two.Kill()
	two.Wait()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func BenchmarkSwitch(b *testing.B) {
	b.ReportAllocs()
	benchmark(b, func(m host.Machine) {
		for b.Loop() {
			m.Pay()
		}
	})
}

func BenchmarkReadPage(b *testing.B) {
	b.ReportAllocs()
	benchmark(b, func(m host.Machine) {
		f, err := m.Disk(hosttest.Disk).Open("f", host.ClassData, true)
		must(err)
		page := make([]byte, 8192)
		_, err = f.WriteAt(page, 0)
		must(err)
		for b.Loop() {
			_, err := f.ReadAt(page, 0)
			must(err)
		}
	})
}

func BenchmarkWriteAndSync(b *testing.B) {
	b.ReportAllocs()
	benchmark(b, func(m host.Machine) {
		f, err := m.Disk(hosttest.Disk).Open("f", host.ClassWAL, true)
		must(err)
		page := make([]byte, 8192)
		for b.Loop() {
			_, err := f.WriteAt(page, 0)
			must(err)
			must(f.Sync())
		}
	})
}

func BenchmarkRoundTrip(b *testing.B) {
	b.ReportAllocs()
	benchmark(b, func(m host.Machine) {
		c, err := m.Dial(m.Lookup("two"), 1)
		must(err)
		msg := make([]byte, 64)
		for b.Loop() {
			c.Send(msg)
			msg, err = c.Recv(msg)
			must(err)
		}
	})
}
