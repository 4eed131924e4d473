package faults

// slotOf names what the world holds one state for: effects in the same slot
// are merged.
func slotOf(a Action) string {
	switch a := a.(type) {
	case Link:
		return "link " + a.Ends.String()
	case Disk:
		return "disk " + a.Disk.String()
	case NIC:
		return "nic " + a.Machine
	case Clock:
		return "clock " + a.Name
	}
	return a.String()
}

// refresh tells the world the state of an action's slot, merged over all
// effects that act there now.
func (in *Injector) refresh(a Action) {
	slot := slotOf(a)
	var here []Action
	for _, x := range in.active {
		if x.slot == slot {
			here = append(here, x.action)
		}
	}
	switch a := a.(type) {
	case Kill:
		if len(here) == 0 {
			in.world.Boot(a.Host)
		}
	case PowerOff:
		if len(here) == 0 {
			in.world.Boot(a.Machine)
		}
	case Zone:
		in.world.SetZone(a.Zone, len(here) == 0)
	case Pause:
		in.world.SetPaused(a.Host, len(here) > 0)
	case Cut:
		in.world.SetCut(a.Ends.From, a.Ends.To, len(here) > 0)
	case Link:
		var l LinkFaults
		mergeAll(l.fields(), here)
		in.world.SetLink(a.Ends.From, a.Ends.To, l)
	case Disk:
		var d DiskFaults
		mergeAll(d.fields(), here)
		in.world.SetDisk(a.Disk, d)
	case NIC:
		slow := uint32(1)
		for _, n := range here {
			slow = max(slow, n.(NIC).Slow)
		}
		in.world.SetNIC(a.Machine, slow)
	case Clock:
		c := Clock{Name: a.Name}
		mergeAll(c.fields(), here)
		in.world.SetClock(c.Name, c.Skew, c.Drift)
	}
}

// mergeAll merges the faults of actions of one kind into a group.
func mergeAll(into []field, actions []Action) {
	for _, a := range actions {
		var from []field
		switch a := a.(type) {
		case Link:
			from = a.Faults.fields()
		case Disk:
			from = a.Faults.fields()
		case Clock:
			from = a.fields()
		}
		for i, f := range into {
			f.merge(from[i])
		}
	}
}
