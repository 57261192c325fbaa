// Package job carries out compactions: it reads the input tables, writes the
// output tables and installs them.
//
// Main types:
//   - CompactionJob: one compaction; Prepare, Run and Install in that order.
//   - subcompactionState: a part of it, one key range, one goroutine.
//   - compactionOutputs: the tables of a part; it decides where they end.
//
// Invariants:
//   - A user key never spans two parts; within a part, output tables are
//     disjoint by internal key.
//   - A range tombstone is cut at the tables' bounds so that each table holds
//     exactly what lies within them.
//   - Outputs become visible by one version edit; before that, nobody reads
//     them and a failure leaves only files that a purge finds.
//
// Lock order: Prepare and Install are called with the database's mutex, which
// they release while they read or write files; Run is called without it. There
// is no other lock.
//
// Read compaction_job.go first, then compaction_outputs.go.
package job
