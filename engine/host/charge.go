package host

// Work is a kind of CPU work that the engine does and says so by Charge. How
// long a unit takes is the machine's cost table; a real machine counts units.
type Work uint8

// The kinds of work, and their unit.
const (
	WorkStatement    Work = iota // a client request decoded and dispatched
	WorkTuple                    // a tuple examined or formed
	WorkPageLookup               // a page found in the buffer pool
	WorkRecord                   // a log record assembled
	WorkRecordBytes              // 64 bytes of log copied and checked
	WorkPageChecksum             // a page's checksum computed
	WorkPageCopy                 // 8 KiB copied
	WorkRedo                     // a log record applied to one page
	WorkMessage                  // a message built or taken apart
	WorkPrune                    // a page pruned
	Works                        // the number of kinds
)

var workNames = [Works]string{
	"statement", "tuple", "page lookup", "record", "record bytes", "page checksum",
	"page copy", "redo", "message", "prune",
}

// String is the name of the kind.
func (w Work) String() string {
	if w < Works {
		return workNames[w]
	}
	return "?"
}
