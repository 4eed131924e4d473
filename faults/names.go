package faults

import (
	"fmt"
	"slices"
	"strings"
)

// Names is what a plan may name: the parts of one world.
type Names struct {
	Hosts    []string // processes
	Machines []string
	Zones    []string
	Disks    []DiskName
	Marks    []string // nil: any mark may be named
}

// Check returns an error that names the first step of the plan whose host,
// machine, zone, disk or mark does not exist, and what does.
func (n Names) Check(p Plan) error {
	for i, s := range p.Steps {
		if err := n.checkStep(s); err != nil {
			return fmt.Errorf("step %d, %q: %w", i+1, s.brief(), err)
		}
	}
	return nil
}

func (n Names) checkStep(s Step) error {
	if s.Trigger.Kind == AfterMark {
		if n.Marks != nil {
			if err := known("mark", s.Trigger.Mark, n.Marks); err != nil {
				return err
			}
		}
		if s.Trigger.Host != "" {
			if err := known("host", s.Trigger.Host, n.Hosts); err != nil {
				return err
			}
		}
	}
	return n.checkAction(s.Action)
}

func (n Names) checkAction(a Action) error {
	switch a := a.(type) {
	case Kill:
		return known("host", a.Host, n.Hosts)
	case Pause:
		return known("host", a.Host, n.Hosts)
	case PowerOff:
		return known("machine", a.Machine, n.Machines)
	case NIC:
		return known("machine", a.Machine, n.Machines)
	case Boot:
		return known("host or machine", a.Name, slices.Concat(n.Hosts, n.Machines))
	case Clock:
		return known("host or machine", a.Name, slices.Concat(n.Hosts, n.Machines))
	case Zone:
		return known("zone", a.Zone, n.Zones)
	case Cut:
		return n.checkEnds(a.Ends)
	case Heal:
		return n.checkEnds(a.Ends)
	case Link:
		return n.checkEnds(a.Ends)
	}
	if d, ok := diskOf(a); ok {
		disks := make([]string, len(n.Disks))
		for i, k := range n.Disks {
			disks[i] = k.String()
		}
		return known("disk", d.String(), disks)
	}
	return nil // Quiet names nothing
}

func (n Names) checkEnds(e Ends) error {
	for _, end := range []End{e.From, e.To} {
		what, all := "host", n.Hosts
		if end.Zone {
			what, all = "zone", n.Zones
		}
		if err := known(what, end.Name, all); err != nil {
			return err
		}
	}
	return nil
}

// diskOf returns the disk that an action is about, if it is about one.
func diskOf(a Action) (DiskName, bool) {
	switch a := a.(type) {
	case Disk:
		return a.Disk, true
	case FailSync:
		return a.Disk, true
	case Rot:
		return a.Disk, true
	case Lose:
		return a.Disk, true
	}
	return DiskName{}, false
}

func known(what, name string, all []string) error {
	if slices.Contains(all, name) {
		return nil
	}
	return fmt.Errorf("there is no %s %q%s; there is: %s", what, name, didYouMean(name, all), list(all))
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// didYouMean returns a hint at the candidate nearest to name, or nothing if
// none is within two letters and a third of the name, at least one kept.
func didYouMean(name string, candidates []string) string {
	if len(name) > maxName {
		return ""
	}
	best, at := min(2, (len(name)+2)/3, len(name)-1)+1, ""
	for _, c := range candidates {
		if d := editDistance(name, c); d < best {
			best, at = d, c
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", at)
}

// editDistance counts the bytes to insert, delete or replace to turn a into b
// (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
