package faults

import "slices"

// passing lists the faults that every storage claims to tolerate in any number
// as long as they end: none of them destroys what a disk acknowledged.
//
// A failed sync is among them since the engine must treat it as the death of
// the process and recover from the log (Rebello et al., ATC 2020); a full disk
// and I/O errors since refusing is allowed while they last.
func passing() []Kind {
	return []Kind{
		KindKill, KindPowerOff, KindPause,
		KindCut, KindDrop, KindDelay, KindDup, KindReorder, KindCorrupt,
		KindFailSync, KindEIORead, KindEIOWrite, KindFull, KindStall,
		KindSlowDisk, KindSlowNIC, KindSkew, KindDrift,
	}
}

// LocalBudget is what a storage on one machine's disk claims: every crash and
// every outage, no disk that lies or decays. Checksums find most of that, but
// with one copy there is nothing to mend it from.
func LocalBudget() Budget {
	return Budget{Storage: "local", Claims: []Claim{
		{Kinds: append(passing(), KindZoneDown)},
	}}
}

// QuorumBudget is what six segments in three zones claim: one zone gone, for
// ever if need be, and one disk more that decays or is lost (Aurora 2017, §2.1:
// "AZ+1").
//
// Not claimed: lost-write, lost-sync, misdirect-write. A segment that forgot
// without knowing counts in a read quorum that it should not be in: with a
// record on a1 a2 b1 b2, zone a down and b1 forgetful, {b1, c1, c2} is a read
// quorum without it.
func QuorumBudget() Budget {
	return Budget{Storage: "quorum", Claims: []Claim{
		{Kinds: passing()},
		{Kinds: []Kind{KindZoneDown}, AtOnce: 1, Forever: true},
		{Kinds: []Kind{KindRot, KindMisdirectRead, KindLose}, AtOnce: 1},
	}}
}

// LakeBudget is what three safekeepers and a pageserver claim: one zone gone,
// and one disk that decays or is lost, be it a safekeeper's (two of three keep
// the log) or the pageserver's (layers are in the object store, what is younger
// in the log). The zone must come back: there is one pageserver.
//
// Not claimed, for the reason given at QuorumBudget: lost-write, lost-sync,
// misdirect-write.
func LakeBudget() Budget {
	return Budget{Storage: "lake", Claims: []Claim{
		{Kinds: passing()},
		{Kinds: []Kind{KindZoneDown}, AtOnce: 1},
		{Kinds: []Kind{KindRot, KindMisdirectRead, KindLose}, AtOnce: 1},
	}}
}

// AnyBudget claims everything: plans for it go beyond every storage's claims,
// where nothing but an honest refusal is asked.
func AnyBudget() Budget {
	return Budget{Storage: "anything", Claims: []Claim{{Kinds: slices.Clone(Kinds()), Forever: true}}}
}
