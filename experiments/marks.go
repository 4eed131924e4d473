package experiments

import "slices"

// Marks without which a set of runs has tested nothing of what they stand for.
// A list has what a fifth or more of 150 seeds of its scenario reached, so that
// 50 seeds miss one by chance less than once in 10,000 sets.

// leastCheckpoints is how many checkpoints a set must have: with fewer there
// was none between two others, and no segment was used again after one.
const leastCheckpoints = 3

// Least is how often a set of runs must reach a mark that it must reach.
func Least(mark string) uint64 {
	if mark == "checkpoint.done" {
		return leastCheckpoints
	}
	return 1
}

// localMust are the marks of storage local and of the buffer pool.
func localMust() []string {
	return []string{
		"buffer.evicted", "buffer.evicted-dirty",
		"checkpoint.begun", "checkpoint.done", "checkpoint.logged", "checkpoint.pages-written",
		"control.initialised", "control.written", "recovery.begun", "recovery.done", "recovery.redone",
		"wal.buffer-full", "wal.flushed", "wal.segment-created", "wal.segment-recycled", "wal.segment-removed",
	}
}

// localTablesMust are those of every load on tables with indexes.
func localTablesMust() []string {
	return append(localMust(),
		"append.floor-moved", "buffer.cleaned", "buffer.prefetched", "local.cut", "local.file-cut", "wal.floor-moved",
		"btree.page-deleted", "btree.page-half-dead", "btree.page-reused", "btree.root-split", "btree.split",
		"compute.index-created", "compute.table-created",
		"heap.chain-followed", "heap.cross-page-update", "heap.extended", "heap.fate-asked", "heap.hot-update",
		"heap.line-dead", "heap.page-reused", "heap.pruned-on-read", "heap.redirected", "heap.vm-cleared",
		"table.row-changed-meanwhile", "txn.lock-waited",
		"vacuum.another-round", "vacuum.automatic", "vacuum.cut", "vacuum.cut-logged", "vacuum.fate-asked", "vacuum.index-done",
		"vacuum.pruned", "vacuum.reclaimed", "vacuum.skipped", "vacuum.visible",
	)
}

// bankMust are those of the bank, whose rows grow and move.
func bankMust() []string {
	return append(localTablesMust(), "btree.moved-right", "btree.split-completed", "btree.split-raced", "txn.rolled-back-to-savepoint")
}

// mixedMust are those of a load in which everything happens.
func mixedMust() []string {
	return append(bankMust(), "compute.table-dropped", "table.waited-for-key", "txn.deadlock", "txn.end-waited")
}

// rareMarks are marks of the engine that no scenario on storage local must
// reach, with the reason.
func rareMarks() map[string]string {
	const (
		fullDisk = "only with a full disk, which few plans have"
		race     = "a race of two operations within one page visit"
		never    = "a defect, or a fault beyond the budget"
	)
	return map[string]string{
		"btree.deletion-raced":       race,
		"btree.half-dead-completed":  "a crash between the two records of a page's deletion",
		"btree.scan-again":           race,
		"btree.split-left":           fullDisk,
		"buffer.refused":             fullDisk,
		"checkpoint.waits-for-space": fullDisk,
		"commit.grouped":             "two commits within one sync of the log, which a fast disk has few of",
		"fpw.changed":                "a setting that changes while the writer runs, which no scenario does",
		"heap.page-full":             "the thin table's; its pages have room for every row's versions",
		"heap.prune-refused":         fullDisk,
		"heap.pruned":                "the thin table's: local/register must reach it",
		"local.cut-off-write":        race,
		"local.disk-full":            fullDisk,
		"local.space-returned":       fullDisk,
		"local.waits-for-space":      fullDisk,
		"page.torn":                  never,
		"recovery.doubt-settled":     "a torn page of a relation that the log cuts off later",
		"recovery.refused":           never,
		"recovery.waits-for-space":   fullDisk,
		"table.damage-found":         never,
		"txn.lock-upgrade-waited":    "two transactions that hold one table's lock and ask for a stronger one",
		"txn.xids-run-out":           "two thousand million transactions, or a test's first identifier",
		"vacuum.bypassed":            "vacuums of these scenarios bypass nothing, so that they clean indexes",
		"vacuum.cut-interrupted":     "somebody waits for a table while its end is being cut",
		"vacuum.cut-refused":         "somebody holds a table for as long as vacuum waits",
		"vacuum.disk-full":           fullDisk,
		"vacuum.new-page":            "a crash between a relation's extension and the page's first record",
	}
}

// tableCrashMarks are where crashes can strike a load on tables, beside those
// of the storage: between the parts of what takes several records.
func tableCrashMarks() []string {
	return []string{
		"btree.split", "btree.root-split", "btree.page-half-dead", "btree.page-deleted", "btree.page-reused",
		"compute.index-created", "compute.table-created", "heap.extended", "heap.cross-page-update", "heap.pruned-on-read",
		"local.cut", "local.file-cut", "txn.rolled-back-to-savepoint",
		"vacuum.cut-logged", "vacuum.index-done", "vacuum.pruned", "vacuum.reclaimed", "vacuum.visible",
	}
}

// missing are the marks of a list that were reached less often than they must.
func missing(must []string, marks map[string]uint64) (missed []string) {
	return slices.DeleteFunc(slices.Clone(must), func(m string) bool { return marks[m] >= Least(m) })
}
