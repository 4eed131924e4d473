package remote_test
import ("testing";"time";"tornpage/engine/remote";"tornpage/engine/host";"fmt")
func TestTmp(t *testing.T){
	for _, fr := range []int{4, 16} {
	f := newFixture(t, 1, remote.Config{}, fr, 4)
	f.boot()
	f.let(300 * time.Millisecond)
	fmt.Println(fr, f.acked(), f.views, f.behind, f.w.Marks())
	for ev := range 31 { if d := f.w.Waited("writer", host.WaitEvent(ev)); d > 0 { fmt.Println(host.EventName(host.WaitEvent(ev)), d) } }
	fmt.Printf("%+v\n", f.engine.Stats())
	}
}
