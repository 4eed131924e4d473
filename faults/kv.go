package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Values reads the settings of one line of a plan. Each getter takes the value
// that holds if the key is absent, and thereby makes the key known; Err, called
// last, reports the first bad value, or a key that no getter asked for.
type Values struct {
	line  string
	kvs   []KV
	known []string
	err   error
}

// NewValues returns a reader of settings; line says what they are in errors,
// for example "config".
func NewValues(line string, kvs []KV) *Values { return &Values{line: line, kvs: kvs} }

// Lookup returns the value of a key, and whether it is there.
func Lookup(kvs []KV, key string) (string, bool) {
	for _, kv := range kvs {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}

func (v *Values) lookup(key string) (string, bool) {
	v.known = append(v.known, key)
	return Lookup(v.kvs, key)
}

func (v *Values) fail(key string, err error) {
	if v.err == nil {
		v.err = fmt.Errorf("%s: %s: %w", v.line, key, err)
	}
}

// String returns the text of key, or def.
func (v *Values) String(key, def string) string {
	if s, ok := v.lookup(key); ok {
		return s
	}
	return def
}

// Choice returns the text of key, which must be one of the options, or def.
func (v *Values) Choice(key, def string, options ...string) string {
	s, ok := v.lookup(key)
	if !ok {
		return def
	}
	if !slices.Contains(options, s) {
		v.fail(key, fmt.Errorf("%q is not one of %s", s, strings.Join(options, ", ")))
		return def
	}
	return s
}

// Int returns the whole number of key, within least and most, or def.
func (v *Values) Int(key string, def, least, most int64) int64 {
	return get(v, key, def, least, most, func(s string) (int64, error) {
		body, negative := strings.CutPrefix(s, "-")
		n, ok := digits(body)
		if !ok || n > 1<<63-1 {
			return 0, fmt.Errorf("%q is no whole number", s)
		}
		if negative {
			return -int64(n), nil
		}
		return int64(n), nil
	})
}

// Bytes returns the size of key in bytes ("8KiB"), within least and most, or
// def.
func (v *Values) Bytes(key string, def, least, most int64) int64 {
	return get(v, key, def, least, most, ParseBytes)
}

// Duration returns the time of key ("10ms"), within least and most, or def.
func (v *Values) Duration(key string, def, least, most time.Duration) time.Duration {
	return get(v, key, def, least, most, ParseDuration)
}

// Rate returns the chance of key ("5%"), or def.
func (v *Values) Rate(key string, def Rate) Rate {
	return get(v, key, def, 0, Million, ParseRate)
}

// Bool returns key, one of on, off, true and false, or def.
func (v *Values) Bool(key string, def bool) bool {
	s, ok := v.lookup(key)
	switch {
	case !ok:
		return def
	case s == "on" || s == "true":
		return true
	case s == "off" || s == "false":
		return false
	}
	v.fail(key, fmt.Errorf("%q is neither on nor off", s))
	return def
}

func get[T int64 | time.Duration | Rate](v *Values, key string, def, least, most T, parse func(string) (T, error)) T {
	s, ok := v.lookup(key)
	if !ok {
		return def
	}
	n, err := parse(s)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%s is not within %v and %v", s, least, most)
	}
	if err != nil {
		v.fail(key, err)
		return def
	}
	return n
}

// Err returns the first error of the getters called so far, or an error about
// a key that none of them asked for, with the keys that are known.
func (v *Values) Err() error {
	if v.err != nil {
		return v.err
	}
	for _, kv := range v.kvs {
		if !slices.Contains(v.known, kv.Key) {
			keys := slices.Sorted(slices.Values(v.known))
			return fmt.Errorf("%s: unknown key %q%s; known: %s", v.line, kv.Key, didYouMean(kv.Key, keys), list(slices.Compact(keys)))
		}
	}
	return nil
}
