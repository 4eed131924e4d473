package experiments

import (
	"reflect"

	"tornpage/engine/compute"
	"tornpage/engine/local"
	"tornpage/sim/simdisk"
)

// addStats adds counters field by field.
func addStats(to *compute.Stats, s compute.Stats) {
	addFields(reflect.ValueOf(to).Elem(), reflect.ValueOf(s))
}

func addLocal(to *local.Stats, s local.Stats) {
	addFields(reflect.ValueOf(to).Elem(), reflect.ValueOf(s))
}

func addFields(to, s reflect.Value) {
	for i := range to.NumField() {
		switch f := to.Field(i); f.Kind() {
		case reflect.Uint64:
			f.SetUint(f.Uint() + s.Field(i).Uint())
		case reflect.Struct:
			addFields(f, s.Field(i))
		}
	}
}

func faultName(k int) string { return simdisk.Fault(k).String() }
