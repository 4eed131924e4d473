package remote_test
import ("testing";"time";"tornpage/engine/host";"fmt";"tornpage/sim/draw";"tornpage/sim")
func TestTmp(t *testing.T){
	seed := uint64(7)
	r := draw.New(seed, "chaos")
	f := newFixture(t, seed, tiny(&r), 3+int(r.N(8)), 2+int(r.N(8)))
	fmt.Printf("%+v %d\n", f.cfg, len(f.owners))
	f.boot()
	for range 12 {
		f.let(time.Duration(r.N(uint64(15 * time.Millisecond))))
		name := machines[r.N(5)] // not the clients
		switch r.N(4) {
		case 0:
			f.w.Kill(name)
		case 1:
			f.w.PowerOff(name)
		case 2:
			other := machines[r.N(6)]
			f.w.SetLink(name, other, false, false, sim.LinkFaults{Cut: true})
			f.w.SetLink(other, name, false, false, sim.LinkFaults{Cut: r.Chance(1, 2)})
			fmt.Println(f.w.Now(), "cut", name, other)
		case 3:
			f.heal()
		}
		fmt.Println(f.w.Now(), name, f.acked(), f.views)
	}
	f.heal()
	for range 30 {
	m0 := f.w.Marks()
	f.let(20 * time.Millisecond)
	m1 := f.w.Marks()
	fmt.Println(f.w.Now(), f.acked(), f.views, f.behind, len(f.owners))
	for _, k := range []string{"remote.silent","remote.stream-broken","remote.page-retried","remote.too-old","remote.view-moved","remote.page-waited","remote.bad-message"} { if m1[k] > m0[k] { fmt.Print(k, " ", m1[k]-m0[k], "; ") } }
	}
	for _, p := range []string{"follower","pages","client","log"} {
	fmt.Println(p)
	for ev := range 31 { if d := f.w.Waited(p, host.WaitEvent(ev)); d > 0 { fmt.Println(host.EventName(host.WaitEvent(ev)), d) } }
	}
	fmt.Println(f.w.Marks())
}
