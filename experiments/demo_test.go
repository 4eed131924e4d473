package experiments

import (
	"fmt"
	"github.com/stretchr/testify/require"
	"os"
	"testing"
	"time"
)

func TestDemoTry(t *testing.T) {
	_, err := Demo(os.Stdout, DemoOptions{Seed: DemoSeed})
	require.NoError(t, err)
	for i := range demoSettings {
		t0 := time.Now()
		r, _, err := runSetting(&demoSettings[i], 2)
		require.NoError(t, err)
		fmt.Println(time.Since(t0), r.Events, len(r.Refusals))
	}
	for s := range uint64(40) {
		r, err := NewDemoReport(s)
		require.NoError(t, err)
		fmt.Println(s, r.OK, r.Runs[0].Class, r.Runs[1].Class, r.Runs[2].Class, r.Runs[3].Class, r.Runs[0].mode, len(r.Runs[1].Wrong), len(r.Runs[1].Latent), len(r.Runs[1].Torn))
	}
}
