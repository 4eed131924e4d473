package experiments

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"tornpage/checkers"
	"tornpage/faults"
)

// DemoSeed is a seed for Demo that shows every kind of damage. Others show
// other pages and rows, and some none: then the disk tore nothing.
const DemoSeed uint64 = 2

// DemoOptions of Demo.
type DemoOptions struct {
	Seed  uint64 // DemoSeed is a good one
	Color bool   // for terminals
	JSON  bool   // a DemoReport instead of text
}

// Class is how a run of the demo ended.
type Class string

// The classes, from what was seen of the run alone.
const (
	Repaired  Class = "repaired"          // pages were torn, images were put back, every row is right
	Silent    Class = "silent-corruption" // the server works, without an error, and rows read wrong
	Refused   Class = "detected-refused"  // the server named a torn page and did not start
	Safe      Class = "safe"              // no page can tear on this disk, every row is right
	NoTear    Class = "no-tear"           // pages could have torn, none did
	Undamaged Class = "undamaged"         // pages were torn; recovery happened to write all that was missing
	Latent    Class = "latent-damage"     // rows read right, yet a page is wrong
	Unfit     Class = "unexpected"        // anything else: a check failed that no torn page explains
)

// demoSetting is one of the four ways to run the demo.
type demoSetting struct {
	title, short, lesson string
	set                  []faults.KV
	expected             Class
}

var demoSettings = [...]demoSetting{
	{"Full-page writes on", "full-page writes on",
		"the first change of a page after a checkpoint puts the whole page into the log.", nil, Repaired},
	{"Full-page writes off, no checksums", "off, no checksums",
		"the log has changes only, and nobody can see that a page is torn.",
		[]faults.KV{{Key: "fpw", Value: "off"}}, Silent},
	{"Full-page writes off, checksums on", "off, with checksums",
		"a page carries a checksum, so that a torn one is seen, though not repaired.",
		[]faults.KV{{Key: "fpw", Value: "off"}, {Key: "checksums", Value: "on"}}, Refused},
	{"Full-page writes off, on a disk whose 8 KiB writes are atomic", "off, 8 KiB writes are atomic",
		"the disk's unit is the page (a drive or a file system may promise that).",
		[]faults.KV{{Key: "fpw", Value: "off"}, {Key: "disk.sector", Value: "8192"}}, Safe},
}

// DemoReport is what Demo found; all of it comes from the runs.
type DemoReport struct {
	Seed       uint64       `json:"seed"`
	OK         bool         `json:"ok"` // every run ended as expected
	Rows       int          `json:"rows"`
	Pages      int          `json:"pages"`
	Changes    int          `json:"transactions"`
	Runs       []DemoRun    `json:"runs"`
	RealServer []RealTrials `json:"real_server"`
	NextSeed   *uint64      `json:"seed_that_tears,omitempty"` // if this one tore no page
	picture    []string
}

// DemoRun is one of the four.
type DemoRun struct {
	Title    string `json:"title"`
	Class    Class  `json:"class"`
	Expected Class  `json:"expected"`
	// LogBytes are what the transactions' records took, images included.
	LogBytes     uint64        `json:"log_bytes"`
	LogPerChange uint64        `json:"log_bytes_per_transaction"`
	Logged       uint64        `json:"images_logged"`
	Torn         []DemoPage    `json:"torn_pages"`
	Recovery     DemoRecovery  `json:"recovery"`
	Wrong        []DemoRow     `json:"wrong_rows"`
	Latent       []DemoRow     `json:"rows_with_latent_damage"`
	Verdicts     []DemoVerdict `json:"verdicts"`
	Replay       string        `json:"replay"`
	Plan         string        `json:"plan"`
	Hash         string        `json:"hash"`
	mode         string        // how much the disk kept
	setting      *demoSetting
}

// DemoPage is a page that the power cut tore.
type DemoPage struct {
	Block   int64  `json:"block"`
	Sectors string `json:"sectors"` // N new, o old, b between, = the same in both
	LSN     string `json:"lsn"`     // in the torn page's header
	Wrong   int    `json:"wrong_rows"`
}

// DemoRecovery is what the first boot after the power cut did.
type DemoRecovery struct {
	Records uint64 `json:"records_read"`
	Changes uint64 `json:"page_changes_made"` // those of images included
	Images  uint64 `json:"images_put_back"`
	Refusal string `json:"refusal,omitempty"` // why it did not open
	File    string `json:"file,omitempty"`
	Block   string `json:"block,omitempty"`
	LSN     string `json:"lsn,omitempty"`
}

// DemoVerdict is a checker's answer.
type DemoVerdict struct {
	Check  string `json:"check"`
	Result string `json:"result"`
	What   string `json:"what,omitempty"`
}

// Demo shows why full-page writes exist: one load and one power cut, under four
// settings. ok: each run ended as it should; the error is about the means.
func Demo(w io.Writer, opt DemoOptions) (ok bool, err error) {
	r, err := NewDemoReport(opt.Seed)
	if err != nil {
		return false, err
	}
	if opt.JSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return r.OK, e.Encode(r)
	}
	_, err = io.WriteString(w, r.text(opt.Color))
	return r.OK, err
}

// NewDemoReport carries out the four runs.
func NewDemoReport(seed uint64) (*DemoReport, error) {
	r := &DemoReport{Seed: seed, OK: true, RealServer: realServer[:]}
	for i := range demoSettings {
		s := &demoSettings[i]
		t, perPage, err := runSetting(s, seed)
		if err != nil {
			return nil, err
		}
		d := s.judge(t, perPage)
		r.OK = r.OK && d.Class == d.Expected
		r.Runs = append(r.Runs, d)
		if i == 0 {
			r.Rows, r.Pages, r.Changes = sizes(t)
		}
		if s.expected == Silent {
			r.picture = drawPage(t, &d)
			if len(d.Torn) == 0 {
				r.NextSeed = tearingSeed(s, seed)
			}
		}
	}
	return r, nil
}

func runSetting(s *demoSetting, seed uint64) (t *tornRun, perPage int64, err error) {
	sc, err := Find(demoName)
	if err != nil {
		return nil, 0, err
	}
	p := sc.Plan(seed)
	for _, kv := range s.set {
		if p, err = Set(p, kv.Key, kv.Value); err != nil {
			return nil, 0, err
		}
	}
	at, err := parse(p)
	if err != nil {
		return nil, 0, err
	}
	t, err = runTorn(p, Options{})
	return t, at.Compute.RowsPerPage, err
}

// tearingSeed is the next seed that tears a page, nil if none of the next few
// does: about six in ten do.
func tearingSeed(s *demoSetting, seed uint64) *uint64 {
	for range 16 {
		seed++
		if t, _, err := runSetting(s, seed); err == nil && len(t.torn()) > 0 {
			return &seed
		}
	}
	return nil
}

// sizes counts rows and pages at the checkpoint, and the transactions that
// followed.
func sizes(t *tornRun) (rows, pages, changes int) {
	for _, o := range t.History.Ops {
		switch {
		case o.Call >= t.cutAt || o.Outcome != checkers.Committed:
		case o.Kind == checkers.MultiPut:
			rows += len(o.Keys)
		case o.Kind == checkers.Put:
			changes++
		}
	}
	return rows, len(t.filled), changes
}

// judge makes the report of a run.
func (s *demoSetting) judge(t *tornRun, perPage int64) DemoRun {
	d := DemoRun{
		Title: s.title, Expected: s.expected, setting: s, mode: t.mode(),
		LogBytes: t.loadedLog.RecordBytes - t.filledLog.RecordBytes,
		Logged:   t.loadedLog.Images - t.filledLog.Images,
		Recovery: t.recovered(),
		Replay:   fmt.Sprintf("tornpage run %s --seed %d", demoName, t.Plan.Seed),
		Plan:     faults.Print(t.Plan),
		Hash:     fmt.Sprintf("%016x", t.Hash),
	}
	for _, kv := range s.set {
		d.Replay += " --set " + kv.Key + "=" + kv.Value
	}
	if _, _, n := sizes(t); n > 0 {
		d.LogPerChange = d.LogBytes / uint64(n)
	}
	for _, v := range t.Verdicts {
		d.Verdicts = append(d.Verdicts, DemoVerdict{v.Check, v.Result.String(), v.What})
	}
	d.Wrong, d.Latent = t.wrongRows(perPage)
	for _, b := range t.torn() {
		p := DemoPage{Block: b, Sectors: t.sectors(b), LSN: t.cut.page(b).LSN().String()}
		for i := range d.Wrong {
			if d.Wrong[i].Block == b {
				p.Wrong++
			}
		}
		d.Torn = append(d.Torn, p)
	}
	d.Class = d.class(t)
	return d
}

// class says how the run ended.
func (d *DemoRun) class(t *tornRun) Class {
	refused := d.Recovery.Refusal != ""
	silent := slices.ContainsFunc(d.Wrong, func(r DemoRow) bool { return r.Damage != damageRefused })
	atomic, _ := faults.Lookup(t.Plan.Config, "disk.sector")
	switch {
	case refused && len(t.read) == 0 && d.Recovery.File != "" && len(d.Torn) > 0:
		return Refused
	case refused:
		return Unfit
	case silent && len(d.Torn) > 0:
		return Silent
	case len(d.Latent) > 0:
		return Latent
	case !t.Green() || len(t.read) == 0:
		return Unfit
	case len(d.Torn) == 0 && atomic == "8192":
		return Safe
	case len(d.Torn) == 0:
		return NoTear
	case d.Recovery.Images > 0:
		return Repaired
	}
	return Undamaged
}

// mode is how much the disk kept of the table's file.
func (t *tornRun) mode() string {
	for i := range t.disk.Files {
		if f := &t.disk.Files[i]; f.Name == t.file {
			return f.Mode.String()
		}
	}
	return ""
}

// refusedPage finds the place in local's error about a page.
var refusedPage = regexp.MustCompile(`(rel-\d+) block (\d+): .*LSN ([0-9A-F]+/[0-9A-F]+): checksum`)

// recovered tells what the first boot after the cut did.
func (t *tornRun) recovered() DemoRecovery {
	r := DemoRecovery{Records: t.recovery.RedoRecords, Changes: t.recovery.RedoPages, Images: t.recovery.RedoImages}
	for _, e := range t.Refusals {
		if e.Host != writerName || e.Event < t.cutAt {
			continue
		}
		r.Refusal = strings.TrimPrefix(e.Reason, "does not open: ")
		if at := refusedPage.FindStringSubmatch(r.Refusal); at != nil {
			r.File, r.Block, r.LSN = at[1], at[2], at[3]
		}
		break
	}
	return r
}
