// Package faults has fault plans: a run written down as a text that parses and
// prints, complete in itself.
//
//	tornpage plan 1
//	scenario  local/register   clients=4 ops=300 keys=8
//	config    pool.pages=8 checkpoint.records=200 fpw=on
//	seed      8127
//	at 120ms for 30ms  kill db
//	# every process of the machine dies; unsynced state becomes one the disk allows
//	at 160ms          power-off db-m
//	at 190ms          boot db-m
//	after 3 hotlog.written on b2 +1ms for 30ms  power-off b2-m
//	at 2s             quiet
//
// # Reading route
//
// plan.go and action.go have the types; parse.go and print.go the text;
// budget.go and claims.go say what a storage claims to tolerate; swarm.go makes
// a plan from a seed; inject.go carries a plan out on a World (world.go). The
// rapid generators are in plangen.
//
// # Grammar
//
// Words stand apart by blanks or tabs, lines end by LF or CR LF, and "#" at the
// start of a word begins a comment. Only "config" may come several times. The
// printed form is canonical: times in the largest of s, ms, us, ns that divides
// them, rates in percent, faults in the order of this grammar.
//
//	plan     = "tornpage plan 1" NL { head | step | [ COMMENT ] NL }
//	head     = ( "scenario" NAME { setting } | "config" setting { setting } | "seed" UINT64 ) NL
//	setting  = NAME "=" TEXT
//	step     = trigger [ "for" TIME ] action [ COMMENT ] NL
//	trigger  = "at" TIME
//	         | "after" "event" UINT64 [ "+" TIME ]
//	         | "after" UINT64 NAME [ "on" HOST ] [ "+" TIME ]
//	action   = "kill" HOST | "power-off" MACHINE | "boot" ( HOST | MACHINE ) | "pause" HOST
//	         | "zone" ZONE ( "down" | "up" )
//	         | ( "cut" | "heal" ) ends | "link" ends link { link }
//	         | "disk" MACHINE "/" DISK ( once | disk { disk } )
//	         | "nic" MACHINE "slow=" FACTOR
//	         | "clock" ( HOST | MACHINE ) clock { clock }
//	         | "quiet"
//	ends     = end ( "->" | "<->" ) end
//	end      = HOST | "zone" ZONE
//	link     = "drop" [ "=" RATE ] | "delay=" TIME | "dup" [ "=" RATE ]
//	         | "reorder" [ "=" RATE ] | "corrupt" [ "=" RATE ]
//	disk     = ( "lost-write" | "lost-sync" | "eio-read" | "eio-write"
//	         | "misdirect-read" | "misdirect-write" ) [ "=" RATE ]
//	         | "full" | "stall" | "slow=" FACTOR
//	once     = ( "fail-sync" | "rot" ) [ "=" UINT32 ] | "lose"
//	clock    = "skew=" [ "-" ] TIME | "drift=" [ "-" ] UINT "ppm"
//	TIME     = DECIMAL ( "ns" | "us" | "ms" | "s" | "m" | "h" )
//	RATE     = DECIMAL "%" | UINT "/" UINT | DECIMAL "ppm"
//	FACTOR   = UINT "x"
//	NAME     = letter, digit or "_", then also "-", ".", "/", ":"
//
// HOST, MACHINE, ZONE and DISK are NAMEs without "/". TEXT has no blanks. A
// rate left out is 100%, a count left out 1. Whole-line comments belong to the
// step below; those above the last head line, or below the last step, to the
// plan. A comment behind a step is printed above it.
//
// # Faults
//
// Where "for" ends a fault, so does "quiet". One machine's disks are a storage's
// own business: who claims what is in claims.go (A: all storages, L local, Q
// quorum, K lake; 1: at most one target at once).
//
//	kind             argument    meaning                                     layer    healed by        claimed by
//	kill             HOST        memory gone, files as last written          machine  for, boot        A
//	power-off        MACHINE     unsynced state becomes one allowed          machine  for, boot        A
//	pause            HOST        does not run; memory stays, messages wait   machine  for              A
//	zone-down        ZONE        every machine of the zone is powered off    machine  for, zone up     L; Q1 for ever; K1
//	cut              ENDS        every message is lost                       network  for, heal        A
//	drop             RATE        messages are lost                           network  for, heal        A
//	delay            TIME        added to the latency                        network  for, heal        A
//	dup              RATE        datagrams arrive twice                      network  for, heal        A
//	reorder          RATE        datagrams are held behind later ones        network  for, heal        A
//	corrupt          RATE        bits of a message flip                      network  for, heal        A
//	lost-write       RATE        acknowledged, never stored                  device   for; harm stays  none
//	lost-sync        RATE        answers, does nothing                       device   for; harm stays  none
//	fail-sync        COUNT       EIO, dirty pages dropped, next one succeeds cache    itself           A
//	eio-read         RATE        the read fails                              device   for              A
//	eio-write        RATE        the write fails, nothing is stored          device   for              A
//	full             -           nothing can grow                            device   for              A
//	rot              COUNT       bits of persisted sectors flip              device   never            Q1, K1
//	misdirect-read   RATE        another sector is returned                  device   for              Q1, K1
//	misdirect-write  RATE        lands on another sector                     device   for; harm stays  none
//	stall            -           every call waits for the end of the stall   device   for              A
//	lose             -           everything is gone, an empty disk is there  device   never            Q1, K1
//	slow-disk        FACTOR      "slow=": service times are multiplied       device   for              A
//	slow-nic         FACTOR      bandwidth divided, message cost multiplied  network  for              A
//	skew             TIME        the wall clock is off; monotonic is right   clock    for              A
//	drift            PPM         the wall clock runs fast or slow            clock    for              A
//
// # Promises
//
//	F1  Parse never panics and never allocates more than the limits of check.go
//	    allow; its errors name line, column, what was found and what expected.
//	F2  Parse(Print(p)) is p for every plan that passes Check, and equal plans
//	    print equal bytes.
//	F3  All chances are whole parts per million, all times whole nanoseconds;
//	    text that is neither is refused, never rounded.
//	F4  Swarm(seed, space) is the same text on every machine; each choice is
//	    keyed by what it is about.
//	F5  Every plan of Swarm ends all its faults, and stays within the budget.
//	F6  The Injector's calls depend on the plan and on when marks and events
//	    come, not on the order in which the world runs what is due together.
//	F7  After a quiet step everything lasting is undone, once each, and nothing
//	    acts any more.
//
// # Not promised
//
//   - That a plan's names exist: Names.Check and Inject see to that. That its
//     settings do: scenarios read them through Values.
//   - That Within finds every plan that is within: what a mark or an event
//     starts counts as acting all the time, and which hosts a machine runs is
//     not known, so that a killed host must be booted by its own name.
//   - That a zone that comes up respects a power-off that goes on in it, or a
//     machine's boot a kill that goes on on it: up means all of it is up.
//   - That a fault strikes anything: Unfired lists steps that never acted, and
//     the world counts what a rate struck.
package faults
