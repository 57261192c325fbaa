// Package timer runs functions later and again: Timer (many functions by name,
// one goroutine; the database's periodic work), RepeatableThread (one function,
// one goroutine) and TimerQueue (milliseconds, functions told when they are
// cancelled).
//
// Invariants: functions of one object never run at the same time, and run with
// no lock held. Cancel and Shutdown return only after the function concerned has
// returned; so a function must not cancel itself or shut its own timer down.
//
// Locks: each object has one mutex, a leaf.
//
// Read timer.go first.
package timer
