package wal

// SharedEnds is sharedEnds, for tests.
var SharedEnds = sharedEnds
