package zoo

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"tornpage/faults"
)

// maxSeeds bounds a bug's budget, so that seed ranges of trials stay apart.
const maxSeeds = 100_000

// Lines that enclose the texts of an edit.
const (
	openOld = "<<<<"
	openNew = "===="
	endNew  = ">>>>"
)

// reader reads one bug file.
type reader struct {
	file  string
	lines []string
	at    int // number of lines taken
	bug   Bug
	hunt  []string // lines of the hunt that is being read, as in a plan
}

// Parse reads a bug file. Errors name file and line.
func Parse(file, text string) (Bug, error) {
	p := reader{file: file, lines: strings.Split(text, "\n")}
	for {
		line, ok := p.take()
		if !ok {
			break
		}
		if err := p.line(line); err != nil {
			return Bug{}, err
		}
	}
	if err := p.endHunt(); err != nil {
		return Bug{}, err
	}
	if err := p.bug.check(); err != nil {
		return Bug{}, fmt.Errorf("%s: %w", file, err)
	}
	return p.bug, nil
}

func (p *reader) take() (string, bool) {
	if p.at >= len(p.lines) {
		return "", false
	}
	p.at++
	return strings.TrimSuffix(p.lines[p.at-1], "\r"), true
}

func (p *reader) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", p.file, p.at, fmt.Errorf(format, args...))
}

// line reads what begins with this line.
func (p *reader) line(line string) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
	case "bug":
		p.bug.Name = rest
	case "required":
		p.bug.Required = true
	case "breaks":
		p.bug.Breaks = strings.TrimSpace(p.bug.Breaks + " " + rest)
	case "origin":
		p.bug.Origin = strings.TrimSpace(p.bug.Origin + " " + rest)
	case "checks":
		p.bug.Checks = append(p.bug.Checks, strings.Fields(rest)...)
	case "seeds":
		n, err := strconv.ParseUint(rest, 10, 64)
		if err != nil || n == 0 || n > maxSeeds {
			return p.errorf("seeds %q: want a number from 1 to %d", rest, maxSeeds)
		}
		p.bug.Seeds = n
	case "scenario":
		if err := p.endHunt(); err != nil {
			return err
		}
		p.hunt = append(p.hunt, line)
	case "config", "at", "after":
		if p.hunt == nil {
			return p.errorf("%q stands before any scenario", word)
		}
		p.hunt = append(p.hunt, line)
	case "edit":
		return p.edit(rest)
	default:
		if !strings.HasPrefix(word, "#") {
			return p.errorf("%q is no word of a bug file: see the package's documentation", word)
		}
	}
	return nil
}

// endHunt parses the lines of a hunt as the plan that they are a part of.
func (p *reader) endHunt() error {
	if p.hunt == nil {
		return nil
	}
	text := "tornpage plan 1\nseed 0\n" + strings.Join(p.hunt, "\n") + "\n"
	plan, err := faults.Parse(p.file, text)
	if err != nil {
		return p.errorf("the hunt that ends here, read as a plan with two more lines on top: %w", err)
	}
	p.bug.Hunts = append(p.bug.Hunts, Hunt{
		Scenario: plan.Scenario, Params: plan.Params, Config: plan.Config, Steps: plan.Steps,
	})
	p.hunt = nil
	return nil
}

// edit reads an edit's two texts.
func (p *reader) edit(file string) error {
	if path.Clean(file) != file || !strings.HasPrefix(file, "engine/") || !strings.HasSuffix(file, ".go") {
		return p.errorf("edit of %q: want a Go file under engine/", file)
	}
	if line, _ := p.take(); line != openOld {
		return p.errorf("%q, want %q before the old text", line, openOld)
	}
	e := Edit{File: file}
	var err error
	if e.Old, err = p.until(openNew); err != nil {
		return err
	}
	if e.New, err = p.until(endNew); err != nil {
		return err
	}
	if strings.TrimSpace(e.Old) == "" || e.Old == e.New {
		return p.errorf("the old text is empty, or the same as the new one")
	}
	p.bug.Edits = append(p.bug.Edits, e)
	return nil
}

func (p *reader) until(mark string) (string, error) {
	var b strings.Builder
	for {
		line, ok := p.take()
		if !ok {
			return "", p.errorf("the file ends before %q", mark)
		}
		if line == mark {
			return strings.TrimSuffix(b.String(), "\n"), nil
		}
		b.WriteString(line + "\n")
	}
}
