package tasks

import "time"

// Test files may do what they like.
var started = time.Now()

func use() { go println(started.String()) }
