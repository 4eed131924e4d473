package oshost

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// castagnoli is the polynomial of all checksums here: CRC-32C has an
// instruction on amd64 and arm64.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bootText is the content of the boot file: readable, and with a checksum.
func bootText(boot uint64) string {
	text := fmt.Sprintf("tornpage boot %d", boot)
	return fmt.Sprintf("%s crc32c %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

// parseBoot reads the boot count back.
func parseBoot(b []byte) (uint64, error) {
	var boot uint64
	var sum uint32
	text := string(b)
	_, err := fmt.Sscanf(text, "tornpage boot %d crc32c %x\n", &boot, &sum)
	if err != nil || boot == 0 {
		return 0, fmt.Errorf("%.80q is not \"tornpage boot N crc32c X\"", text)
	}
	if want := bootText(boot); text != want {
		return 0, fmt.Errorf("%.80q should be %q: the checksum differs", text, want)
	}
	return boot, nil
}

// nextBoot counts one more boot in dir and makes it durable (rule O4).
func nextBoot(dir string) (uint64, error) {
	path := filepath.Join(dir, "boot")
	boot := uint64(1)
	switch b, err := os.ReadFile(path); {
	case err == nil:
		last, err := parseBoot(b)
		if err != nil {
			return 0, fmt.Errorf("%s: %w; the file is damaged: write a count above all earlier boots", path, err)
		}
		boot = last + 1
	case !errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("boot count: %w", err)
	}
	return boot, replaceFile(path, bootText(boot))
}

// replaceFile sets a file's content so that after a crash it has the old or
// the new one.
func replaceFile(path, content string) error {
	tmp := path + ".tmp"
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
