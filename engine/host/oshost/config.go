package oshost

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
)

// Config is a deployment: all its processes, the same for each of them.
type Config struct {
	// Seed is the seed of all random streams (host.RandKey).
	Seed uint64 `json:"seed"`
	// Processes by name. Names are at most 255 bytes of printable ASCII.
	Processes map[string]ProcessConfig `json:"processes"`
}

// ProcessConfig is where one process runs.
type ProcessConfig struct {
	// Zone is the availability zone.
	Zone string `json:"zone"`
	// Address is where the process listens, host:port.
	Address string `json:"address"`
	// Dir holds what the process keeps about itself: the files "boot" and
	// "exit". It is made if missing.
	Dir string `json:"dir"`
	// Disks are the directories of the disks by their names, made if missing;
	// a relative one is below Dir. No two are the same, nor Dir itself.
	Disks map[string]string `json:"disks"`
}

const (
	maxName   = 255     // bytes: a name's length is one byte in a hello
	maxConfig = 1 << 20 // bytes of a file that can be a configuration
)

// Load reads and validates a Config from a JSON file.
func Load(path string) (Config, error) {
	f, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("deployment: %w", err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return Config{}, fmt.Errorf("deployment %s: %w", path, err)
	}
	c, err := Parse(b)
	if err != nil {
		return Config{}, fmt.Errorf("deployment %s: %w", path, err)
	}
	return c, nil
}

// Parse reads and validates a Config from JSON. Unknown fields are errors.
func Parse(b []byte) (Config, error) {
	if len(b) > maxConfig {
		return Config{}, fmt.Errorf("more than %d bytes: no deployment has so many processes", maxConfig)
	}
	var c Config
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Config{}, fmt.Errorf("offset %d: %w", offsetOf(d, err), err)
	}
	if d.More() {
		return Config{}, fmt.Errorf("offset %d: text after the end of the configuration; remove it", d.InputOffset())
	}
	return c, c.Validate()
}

// offsetOf is where a decoding error was found, at the latest.
func offsetOf(d *json.Decoder, err error) int64 {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &wrong):
		return wrong.Offset
	}
	return d.InputOffset()
}

// Names are the names of the processes, sorted: an address is an index.
func (c *Config) Names() []string { return slices.Sorted(maps.Keys(c.Processes)) }

// Validate reports everything that is wrong with the configuration.
func (c *Config) Validate() error {
	var errs []error
	if len(c.Processes) == 0 {
		errs = append(errs, errors.New("no processes: name at least one"))
	}
	users := map[string]string{} // address or directory to process
	for _, name := range c.Names() {
		p := c.Processes[name]
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("process %q: %s", name, fmt.Sprintf(format, args...)))
		}
		claim := func(what, value string) {
			key := what + " " + value
			if other, taken := users[key]; taken {
				bad("%s %s is that of process %q too; give each its own", what, value, other)
			}
			users[key] = name
		}
		if !printable(name) {
			bad("the name is not 1 to %d bytes of printable ASCII", maxName)
		}
		if _, port, err := net.SplitHostPort(p.Address); err != nil || port == "" || port == "0" {
			bad("address %q is not host:port with a port above 0", p.Address)
		}
		claim("address", p.Address)
		if p.Dir == "" {
			bad("dir is empty: name a directory for its boot count")
			continue
		}
		claim("directory", filepath.Clean(p.Dir))
		for _, disk := range slices.Sorted(maps.Keys(p.Disks)) {
			if disk == "" || p.Disks[disk] == "" {
				bad("disk %q has directory %q: both must be named", disk, p.Disks[disk])
				continue
			}
			claim("directory", p.diskDir(disk))
		}
	}
	return errors.Join(errs...)
}

// diskDir is the directory of a disk.
func (p *ProcessConfig) diskDir(disk string) string {
	dir := p.Disks[disk]
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(p.Dir, dir)
	}
	return filepath.Clean(dir)
}

func printable(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if name[i] <= ' ' || name[i] > '~' {
			return false
		}
	}
	return true
}
