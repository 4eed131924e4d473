package draw_test
import ("testing";"fmt";"tornpage/sim/draw")
func TestGold(t *testing.T){
	fmt.Printf("%#x %#x\n", draw.Key(1, "disk", "m1", "data"), draw.FoldN(1, 1<<40))
	r := draw.New(8127, "sched")
	fmt.Printf("%#x %d %d\n", r.Uint64(), r.N(1_000_000), r.N(3))
	r = draw.New(1, "net")
	q := draw.Quantiles{{0, 48_000}, {500_000, 60_000}, {950_000, 78_000}, {1_000_000, 600_000}}
	for range 6 { fmt.Print(q.Draw(&r), ", ") }
}
