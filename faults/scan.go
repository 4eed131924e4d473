package faults

import (
	"fmt"
	"strings"
)

// SyntaxError says where a plan's text goes wrong, what is there and what was
// expected.
type SyntaxError struct {
	File string // as given to Parse
	Line int    // from 1
	Col  int    // bytes from 1
	Msg  string
}

// Error returns the place and the message, as compilers print them.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// word is one word of a line, at a column counted in bytes from 1.
type word struct {
	text string
	col  int
}

// scanner hands out the words of one line after the other.
type scanner struct {
	file    string
	rest    string // lines not yet read
	line    int    // number of the current line, from 1
	words   []word // of the current line
	next    int    // index of the next word
	end     int    // column behind the last word
	comment string // text behind the line's "#"
	hasNote bool   // the line has a "#"
}

// nextLine moves to the next line and splits it; false at the end of the text.
func (s *scanner) nextLine() bool {
	if s.rest == "" {
		return false
	}
	var text string
	text, s.rest, _ = strings.Cut(s.rest, "\n")
	text = strings.TrimSuffix(text, "\r")
	s.line++
	s.words, s.next, s.end, s.comment, s.hasNote = s.words[:0], 0, 1, "", false
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		if text[i] == '#' {
			s.comment, s.hasNote = strings.TrimSpace(text[i+1:]), true
			break
		}
		n := strings.IndexAny(text[i:], " \t")
		if n < 0 {
			n = len(text) - i
		}
		s.words = append(s.words, word{text[i : i+n], i + 1})
		i += n
		s.end = i + 1
	}
	return true
}

func (s *scanner) more() bool { return s.next < len(s.words) }

// peek returns the next word without taking it; "" at the end of the line.
func (s *scanner) peek() string {
	if !s.more() {
		return ""
	}
	return s.words[s.next].text
}

// accept takes the next word if it is text.
func (s *scanner) accept(text string) bool {
	if s.peek() != text {
		return false
	}
	s.next++
	return true
}

// take returns the next word; want says what it should be.
func (s *scanner) take(want string) (word, error) {
	if !s.more() {
		return word{}, s.errorAt(s.end, "want %s, found the end of the line", want)
	}
	s.next++
	return s.words[s.next-1], nil
}

// takeName takes a name of what it says; slash allows "/" in it.
func (s *scanner) takeName(what string, slash bool) (string, error) {
	w, err := s.take("the name of a " + what)
	if err != nil {
		return "", err
	}
	if slash {
		err = checkName(what, w.text)
	} else {
		err = checkNoSlash(what, w.text)
	}
	return w.text, s.wrap(w, err)
}

func (s *scanner) errorAt(col int, format string, args ...any) error {
	return &SyntaxError{File: s.file, Line: s.line, Col: col, Msg: fmt.Sprintf(format, args...)}
}

func (s *scanner) errorIn(w word, format string, args ...any) error {
	return s.errorAt(w.col, format, args...)
}

// wrap gives an error about a word its place.
func (s *scanner) wrap(w word, err error) error {
	if err == nil {
		return nil
	}
	return s.errorAt(w.col, "%s", err.Error())
}

// unknown is the error for a word that is none of a closed set.
func (s *scanner) unknown(what string, w word, known []string) error {
	return s.errorIn(w, "unknown %s %s%s; known: %s", what, quote(w.text), didYouMean(w.text, known), list(known))
}

// quote quotes a word of foreign text, shortened so that errors stay readable.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
