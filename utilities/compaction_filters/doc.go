// Package compactionfilters has the compaction filters that come with the
// engine, and a base for filters on top of a user's.
//
// Register makes them known by name. Filters have no state, so that several
// compactions may use one. Read compaction_filters.go first.
package compactionfilters
