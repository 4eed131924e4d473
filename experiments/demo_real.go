package experiments

// RealTrials is what a real server did with torn pages under one setting.
type RealTrials struct {
	FullPageWrites bool `json:"full_page_writes"`
	Checksums      bool `json:"checksums"`
	Trials         int  `json:"trials"`
	Repaired       int  `json:"repaired"`  // from the image, all rows right
	Silent         int  `json:"silent"`    // starts without an error, rows wrong
	Latent         int  `json:"latent"`    // rows right, an index is not
	Undamaged      int  `json:"undamaged"` // redo rewrote the torn part
	NewPage        int  `json:"new_page"`  // made after the checkpoint: redo builds it from nothing
	Refused        int  `json:"refused"`   // does not start: FATAL: invalid page in block N
	HeapNewFirst   int  `json:"-"`         // of Silent: heap pages with the new first and the old last half,
	HeapNewTrials  int  `json:"-"`         // of so many;
	HeapOldFirst   int  `json:"-"`         // of Undamaged: the other way round,
	HeapOldTrials  int  `json:"-"`         // of so many
}

// realServer are counts over testdata/demo_postgres.csv, which has a line for
// each of 342 trials on PostgreSQL 15.18 (the test adds them up again): a
// table is changed after a CHECKPOINT (hot, hot_prune, delete, insert or nonhot
// workload), its pages are written back without another, all processes are
// killed, one page is made of sectors of both versions, and the server is
// started. Left out here: start options that ignore damage, hint bits, and
// pages that were torn after their checkpoint was complete.
var realServer = [...]RealTrials{
	{FullPageWrites: true, Trials: 57, Repaired: 57},
	{FullPageWrites: true, Checksums: true, Trials: 57, Repaired: 57},
	{Trials: 57, Silent: 31, Latent: 2, Undamaged: 18, NewPage: 6,
		HeapNewFirst: 15, HeapNewTrials: 15, HeapOldFirst: 12, HeapOldTrials: 15},
	{Checksums: true, Trials: 57, Refused: 45, NewPage: 12},
}
