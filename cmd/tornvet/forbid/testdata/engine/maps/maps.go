// Package maps breaks V7.
package maps

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

type peers map[string]int

func order(m map[string]int, p peers) (sum int) {
	for k := range m { // want `range over a map`
		println(k)
	}
	for range p { // want `range over a map`
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		println(k)
	}
	for _, k := range slices.SortedFunc(maps.Keys(p), cmp.Compare[string]) {
		println(k)
	}
	for k := range maps.Keys(m) { // want `maps.Keys follows map order`
		println(k)
	}
	keys := slices.Collect(maps.Keys(m)) // want `maps.Keys follows map order`
	slices.Sort(keys)
	_ = slices.Sorted(maps.Values(m)) // want `maps.Values follows map order`
	_ = reflect.ValueOf(m).MapKeys()  // want `\(reflect.Value\).MapKeys follows map order`
	for _, v := range m {             // want `range over a map`
		sum += v
	}
	//tornvet:ordered a sum does not depend on the order
	for _, v := range m {
		sum += v
		for range p { // want `range over a map`
		}
	}
	// Two lines of text before the directive
	// are fine.
	//tornvet:ordered clearing
	for k := range m {
		delete(m, k)
	}
	//tornvet:ordered a sum of its values
	sum += total(maps.Values(m))
	return sum
}

func total(func(func(int) bool)) int { return 0 }

func generic[M ~map[K]V, K comparable, V any](m M) {
	for range m { // want `range over a map`
	}
}

func slice(s []int) {
	//tornvet:ordered a slice needs none // want `//tornvet:ordered excuses nothing here`
	for range s {
	}
}

/* want `//tornvet:ordered needs a reason` */ //tornvet:ordered
func noReason()                               {}

//tornvet:sorted because // want `unknown directive //tornvet:sorted`
func unknown() {}
