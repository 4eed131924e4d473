// Package sched is the event queue of the simulated world.
//
// # Model
//
// Items are plain values ordered by time alone. Items of the same time form
// the ready set, among which the world draws. The queue is monotone: nothing is
// pushed before the time of the last item popped.
//
// # Promises
//
//	Q1  Pop gives an item of the least time in the queue.
//	Q2  The ready set has the same order for the same pushes and choices.
//	Q3  No allocation once the queue has been as full before.
//
// # Why a radix heap
//
// Of five queues measured it is the fastest by far (45 ns an operation with
// 1,000 pending, 74 with 100,000; a binary heap 64 and 147), and its lowest
// bucket is the ready set for free. Heap is the plain binary heap that tests
// compare it with. Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the
// shortest path problem", JACM 1990.
package sched
