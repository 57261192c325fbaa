// Package iterstats counts what a compaction's iterator saw and dropped.
//
// Its one type is CompactionIterationStats, a plain value that belongs to its
// compaction's goroutine; there are no locks.
package iterstats
