package simdisk

import "fmt"

// Sizes in bytes.
const (
	// PageSize is the unit of the page cache, of torn-page reports and of
	// misdirected I/O: the engine's page.
	PageSize = 8192
	// MaxFile bounds a file, which lives in memory: a write beyond it finds no
	// space instead of eating the machine that simulates.
	MaxFile = 64 << 30

	chunkSize  = 64 << 10
	chunkShift = 16
	chunkPages = chunkSize / PageSize
)

// MaxVersions is how many old versions of a sector are kept since its last
// sync, the persisted one included. A write beyond that makes a drawn one in
// between impossible, never the persisted or the newest.
const MaxVersions = 8

// Config is one disk. Zero fields mean the defaults.
type Config struct {
	Sector     int     // bytes that are written atomically: 512, 4,096 or 8,192 (no page tears); 0: 512
	Size       int64   // capacity in bytes; 0: unlimited
	CachePages int     // capacity of the page cache in 8 KiB pages; 0: unlimited, nothing is evicted
	Profile    Profile // performance; zero: ProfileByName("fast")
}

// Check reports what is wrong with the configuration.
func (c Config) Check() error {
	switch c.Sector {
	case 0, 512, 4096, 8192:
	default:
		return fmt.Errorf("disk sector of %d bytes: use 512, 4096 or 8192", c.Sector)
	}
	if c.Size < 0 {
		return fmt.Errorf("disk size of %d bytes: use 0 for unlimited", c.Size)
	}
	if c.CachePages < 0 {
		return fmt.Errorf("page cache of %d pages: use 0 for unlimited", c.CachePages)
	}
	if c.Profile.Name == "" {
		return nil
	}
	return c.Profile.Check()
}

func (c Config) withDefaults() Config {
	if c.Sector == 0 {
		c.Sector = 512
	}
	if c.Profile.Name == "" {
		c.Profile = fast
	}
	return c
}
