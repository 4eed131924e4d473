package checkers

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// header is the first line of a history's text.
const header = "tornpage history 1"

var (
	kindNames    = [...]string{Get: "get", Put: "put", CAS: "cas", MultiPut: "mput", MultiGet: "mget", View: "view", Other: "other"}
	outcomeNames = [...]string{Committed: "committed", Aborted: "aborted", Unknown: "unknown", Pending: "pending"}
)

func (k Kind) String() string {
	if k < Get || k > Other {
		return "none"
	}
	return kindNames[k]
}

func (o Outcome) String() string {
	if o < Committed || o > Pending {
		return "none"
	}
	return outcomeNames[o]
}

// String is the history's text; Parse reads it back.
func (h *History) String() string {
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, v := range h.Initial {
		fmt.Fprintf(&b, "initial k%d=%d\n", v.Key, v.Value)
	}
	for _, v := range h.Boots {
		role := ""
		if v.Follower {
			role = " follower"
		}
		fmt.Fprintf(&b, "boot %s %d end %v%s\n", hostBoot(v.Host, v.Boot), v.OpenedAt, v.End, role)
	}
	for _, v := range h.Exits {
		fmt.Fprintf(&b, "exit %s %d %s\n", hostBoot(v.Host, v.Boot), v.Event,
			strings.Join(strings.Fields(v.Reason), " "))
	}
	for _, v := range h.Durable {
		fmt.Fprintf(&b, "durable %d %v\n", v.Event, v.LSN)
	}
	for _, v := range h.Commits {
		fmt.Fprintf(&b, "commit %v visible %d", v.LSN, v.Visible)
		if v.Op != 0 {
			fmt.Fprintf(&b, " op %d", v.Op)
		}
		b.WriteByte('\n')
	}
	for i := range h.Ops {
		printOp(&b, &h.Ops[i])
	}
	return b.String()
}

// printOp writes one operation as one line:
//
//	op 4 c1 n1 w/2 cas k3=17>19 no=18 committed @0/120 10..24
func printOp(b io.Writer, o *Op) {
	fmt.Fprintf(b, "op %d c%d", o.ID, o.Client)
	if o.Worker != 0 {
		fmt.Fprintf(b, " n%d", o.Worker)
	}
	fmt.Fprintf(b, " %s %v", hostBoot(o.Host, o.Boot), o.Kind)
	for n, k := range o.Keys {
		switch {
		case o.Kind == CAS && n < len(o.Values):
			fmt.Fprintf(b, " k%d=%d>%d", k, o.Old, o.Values[n])
		case o.Writes() && n < len(o.Values):
			fmt.Fprintf(b, " k%d=%d", k, o.Values[n])
		case o.Reads() && n < len(o.Results):
			fmt.Fprintf(b, " k%d=%d", k, o.Results[n])
		default:
			fmt.Fprintf(b, " k%d", k)
		}
	}
	if o.Kind == CAS && o.Outcome == Committed {
		switch {
		case o.OK:
			fmt.Fprint(b, " yes")
		case len(o.Results) > 0:
			fmt.Fprintf(b, " no=%d", o.Results[0])
		default:
			fmt.Fprint(b, " no")
		}
	}
	fmt.Fprintf(b, " %v", o.Outcome)
	if o.Token != 0 {
		fmt.Fprintf(b, " @%v", o.Token)
	}
	if o.AtLeast != 0 {
		fmt.Fprintf(b, " >=%v", o.AtLeast)
	}
	fmt.Fprintf(b, " %s", interval(o.Call, o.Return))
	if o.Start != 0 || o.End != 0 {
		fmt.Fprintf(b, " t%v..%v", o.Start, o.End)
	}
	fmt.Fprintln(b)
}

// hostBoot prints a host and its boot; a host without a name is a dash.
func hostBoot(host string, boot uint64) string {
	if host == "" {
		host = "-"
	}
	return host + "/" + strconv.FormatUint(boot, 10)
}

// interval prints call and return; a return that never came is nothing.
func interval(call, ret int64) string {
	if ret == Open {
		return numeral(call) + ".."
	}
	return numeral(call) + ".." + numeral(ret)
}

func numeral(n int64) string { return strconv.FormatInt(n, 10) }

// value prints a value; absent has a word of its own.
func value(v uint64) string {
	if v == 0 {
		return "absent"
	}
	return strconv.FormatUint(v, 10)
}
