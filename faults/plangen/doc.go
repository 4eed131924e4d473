// Package plangen has rapid generators of fault plans.
//
// Plan draws plans over a space, within its budget if it has one: for property
// tests of scenarios. Any draws plans of every form that the text format
// allows, whether they make sense or not: for tests of the format.
//
// The steps are drawn before all else and one by one, so that rapid's shrinker
// removes steps first, then moves what remains to earlier times, first targets
// and smaller numbers; the order of kinds is that of faults.Kinds, from a plain
// kill on.
//
// Not promised: that a plan of Plan reaches its marks, or that rapid finds the
// smallest plan.
package plangen
