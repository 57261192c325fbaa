// Package stopwatch measures how long something takes: StopWatch in
// microseconds into histograms, StopWatchNano in nanoseconds for the caller.
// Both are values of one goroutine and allocate nothing.
//
// Invariant: with no statistics, a level without timers and no elapsed pointer,
// a StopWatch does not read the clock.
package stopwatch
