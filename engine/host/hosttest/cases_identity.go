package hosttest

import (
	"fmt"
	"slices"
	"strings"

	"tornpage/engine/host"
)

func identityCases() []*Case {
	return []*Case{
		{Name: "names-and-addresses", Rule: "Machine.Lookup", Says: "names and addresses belong together and stay the same over boots",
			Hosts: []Host{{Name: "one", Boot: addresses}, {Name: "two", Boot: addresses}, {Name: "three", Boot: addresses}},
			Drive: driveAddresses},
		ends("unknown-name", "Machine.Lookup", "looking up an unknown name panics",
			func(m host.Machine) error { m.Lookup("nobody"); return nil }, Panicked, "nobody"),
		ends("unknown-disk", "Machine.Disk", "an unknown disk panics",
			func(m host.Machine) error { m.Disk("floppy"); return nil }, Panicked, "floppy"),
		solo("zone", "Machine.Zone", "the zone is as configured", func(m host.Machine) error {
			var c check
			c.that(m.Zone() == Zone, "zone %q, want %q", m.Zone(), Zone)
			return c.err
		}),
		{Name: "boots-are-counted", Rule: "H4", Says: "each boot has a number one higher, from 1, however the last one ended",
			Hosts: []Host{{Name: "one", Boot: countBoot}}, Drive: driveBoots},
		{Name: "rand-is-keyed", Rule: "H8", Says: "draws depend on seed, process, boot, site, entity and count alone",
			Hosts: []Host{{Name: "one", Boot: logDraws}, {Name: "two", Boot: logDraws}}, Drive: driveDraws},
	}
}

func addresses(m host.Machine) error {
	var c check
	names := []string{"one", "three", "two"}
	var addrs []host.Addr
	for _, name := range names {
		a := m.Lookup(name)
		c.that(m.NameOf(a) == name, "NameOf(Lookup(%q)) is %q", name, m.NameOf(a))
		c.that(!slices.Contains(addrs, a), "%v: two names have address %d", names, a)
		addrs = append(addrs, a)
	}
	c.that(slices.Contains(names, m.Name()), "Name is %q, want one of %v", m.Name(), names)
	m.Logf("addresses %v", addrs)
	return c.err
}

func driveAddresses(w World) error {
	var lines []string
	for _, name := range []string{"one", "two", "three", "one", "two"} {
		w.Boot(name)
		if err := verdict(w, name); err != nil {
			return err
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		for _, line := range w.Log(name) {
			if strings.HasPrefix(line, "addresses") {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) != 5 || len(slices.Compact(slices.Clone(lines))) != 1 {
		return fmt.Errorf("hosts and boots disagree: %v", lines)
	}
	return nil
}

func countBoot(m host.Machine) error {
	m.Logf("boot %d", m.Boot())
	switch m.Boot() {
	case 1, 4:
		return nil
	case 2:
		m.Exit(fmt.Errorf("second boot"))
	}
	return forever(m)
}

func driveBoots(w World) error {
	for boot := 1; boot <= 4; boot++ {
		w.Boot("one")
		if err := says(w, "one", fmt.Sprint("boot ", boot), 1); err != nil {
			return err
		}
		if boot == 3 {
			w.Kill("one")
		}
		want := []EndKind{Returned, Exited, Killed, Returned}[boot-1]
		if err := ended(w, "one", want); err != nil {
			return fmt.Errorf("boot %d: %w", boot, err)
		}
	}
	return nil
}

const sites = "hosttest.a hosttest.b"

// logDraws writes draws of four streams, in an order that differs by boot.
func logDraws(m host.Machine) error {
	for _, site := range strings.Fields(sites) {
		for entity := range uint64(2) {
			if m.Boot() > 1 {
				r := m.Rand("hosttest.other", entity) // must move nothing
				r.Uint64()
			}
			r := m.Rand(site, entity)
			m.Logf("%s", draws(m.Name(), m.Boot(), site, entity, r))
		}
	}
	return nil
}

func draws(name string, boot uint64, site string, entity uint64, r host.Rand) string {
	return fmt.Sprintf("%s boot %d %s %d: %x %x %x", name, boot, site, entity, r.Uint64(), r.Uint64(), r.N(1000))
}

func driveDraws(w World) error {
	seen := map[string]string{}
	for boot := uint64(1); boot <= 2; boot++ {
		for _, name := range []string{"one", "two"} {
			w.Boot(name)
			if err := verdict(w, name); err != nil {
				return err
			}
			for _, site := range strings.Fields(sites) {
				for entity := range uint64(2) {
					r := host.NewRand(host.RandKey(w.Seed(), name, boot, site, entity))
					want := draws(name, boot, site, entity, r)
					if count(w, name, want) != 1 {
						return fmt.Errorf("%s did not log %q, the draws of host.RandKey", name, want)
					}
					_, values, _ := strings.Cut(want, ": ")
					if other := seen[values]; other != "" {
						return fmt.Errorf("%q and %q are the same stream", want, other)
					}
					seen[values] = want
				}
			}
		}
	}
	return nil
}
