// Package cassandra has a merge operator and a compaction filter for rows of
// Cassandra: a row is a value whose columns are merged by the time of their
// writes, deleted columns and rows stay as tombstones for a grace period, and
// columns may expire.
//
//   - RowValue is a row, of Column, ExpiringColumn and Tombstone. Its format is in
//     format.go.
//   - CassandraValueMergeOperator merges rows; CassandraCompactionFilter drops
//     what is expired or was deleted long enough ago.
//
// Nothing has state besides its options, so that all may be used by several
// goroutines. RegisterCassandraObjects makes them known by name.
package cassandra
