package faults_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/faults"
)

func TestValues(t *testing.T) {
	kvs := []faults.KV{
		{"pool.pages", "8"}, {"wal.segment", "32KiB"}, {"fpw", "off"}, {"gossip", "1.5ms"},
		{"loss", "0.1%"}, {"mode", "fast"}, {"name", "x"}, {"shift", "-3"},
	}
	v := faults.NewValues("config", kvs)
	require.Equal(t, int64(8), v.Int("pool.pages", 64, 1, 1000))
	require.Equal(t, int64(32768), v.Bytes("wal.segment", 1, 0, 1<<40))
	require.False(t, v.Bool("fpw", true))
	require.True(t, v.Bool("checksums", true))
	require.Equal(t, 1500*time.Microsecond, v.Duration("gossip", 0, 0, time.Second))
	require.Equal(t, faults.Rate(1000), v.Rate("loss", 0))
	require.Equal(t, "fast", v.Choice("mode", "slow", "slow", "fast"))
	require.Equal(t, "x", v.String("name", ""))
	require.Equal(t, int64(-3), v.Int("shift", 0, -5, 5))
	require.Equal(t, int64(7), v.Int("absent", 7, 0, 10))
	require.NoError(t, v.Err())
}

func TestValuesErrors(t *testing.T) {
	for want, read := range map[string]func(*faults.Values){
		`config: k: "x" is no whole number`:           func(v *faults.Values) { v.Int("k", 0, 0, 1) },
		`config: k: "x" is neither on nor off`:        func(v *faults.Values) { v.Bool("k", false) },
		`config: k: "x" is not one of a, b`:           func(v *faults.Values) { v.Choice("k", "a", "a", "b") },
		`config: k: "x" is no size: want bytes, or a`: func(v *faults.Values) { v.Bytes("k", 0, 0, 1) },
		`config: k: "x" is no time: want a number`:    func(v *faults.Values) { v.Duration("k", 0, 0, 1) },
		`config: k: "x" is no rate`:                   func(v *faults.Values) { v.Rate("k", 0) },
		`config: unknown key "k"; known: clients, ops`: func(v *faults.Values) {
			v.Int("ops", 1, 0, 9)
			v.Int("clients", 1, 0, 9)
			v.Int("ops", 1, 0, 9)
		},
	} {
		v := faults.NewValues("config", []faults.KV{{"k", "x"}})
		read(v)
		require.ErrorContains(t, v.Err(), want)
	}
	v := faults.NewValues("scenario", []faults.KV{{"client", "9"}})
	require.Equal(t, int64(1), v.Int("clients", 1, 0, 8))
	require.EqualError(t, v.Err(), `scenario: unknown key "client"; did you mean "clients"?; known: clients`)
	v = faults.NewValues("scenario", []faults.KV{{"clients", "9"}})
	require.Equal(t, int64(1), v.Int("clients", 1, 0, 8), "a bad value leaves the default")
	require.EqualError(t, v.Err(), `scenario: clients: 9 is not within 0 and 8`)
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]faults.Rate{
		"100%": faults.Million, "5%": 50_000, "0.0001%": 1, "1/1000": 1000, "1/1000000": 1, "250ppm": 250, "7/8": 875_000,
	} {
		got, err := faults.ParseRate(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"", "%", "5", "-5%", "0.00001%", "1/3", "2/1", "1/-2", ".5%", "1e1%", "0x1%", "+1%", "1_0%"} {
		_, err := faults.ParseRate(bad)
		require.Error(t, err, bad)
	}
	for text, want := range map[string]time.Duration{
		"0s": 0, "1.5s": 1500 * time.Millisecond, "2m": 2 * time.Minute, "0.001us": 1, "3µs": 3000, "-5ms": -5 * time.Millisecond,
		"2400h": 2400 * time.Hour,
	} {
		got, err := faults.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"", "s", "5", "1.2.3s", "0.0001us", "2401h", "1 s", "--1s", "1d", "99999999999999999999999h"} {
		_, err := faults.ParseDuration(bad)
		require.Error(t, err, bad)
	}
	for text, want := range map[string]int64{"0": 0, "512": 512, "512B": 512, "8KiB": 8192, "16MiB": 16 << 20, "2GiB": 2 << 30} {
		got, err := faults.ParseBytes(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, bad := range []string{"", "KiB", "8kb", "-1", "9223372036854775807KiB", "99999999999999999999"} {
		_, err := faults.ParseBytes(bad)
		require.Error(t, err, bad)
	}
}

func TestUnitsPrintAndParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := faults.Rate(rapid.Uint32Range(0, uint32(faults.Million)).Draw(t, "rate"))
		back, err := faults.ParseRate(r.String())
		require.NoError(t, err)
		require.Equal(t, r, back)
		limit := int64(100 * 24 * time.Hour)
		d := time.Duration(rapid.Int64Range(-limit, limit).Draw(t, "time"))
		again, err := faults.ParseDuration(faults.FormatDuration(d))
		require.NoError(t, err)
		require.Equal(t, d, again)
	})
}
