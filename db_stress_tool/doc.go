// No upstream twin: Go package documentation.

// Package dbstresstool is the stress test of the database: threads write and
// read at random, and what is read is compared with what was written, also
// after the process was killed.
//
// Main types:
//
//	Tool           one run: flags in, exit code out
//	stressTest     the database under test and the operations all modes share
//	mode           what differs: single keys (no_batched_ops_stress.go), batches
//	               (batched_ops_stress.go), equal families (cf_consistency_stress.go)
//	sharedState    threads' rendezvous, key locks, the expected state
//	expectedState  a word for each key: the value it has, whether it is deleted,
//	               whether a write is under way
//
// The expected state's files (expected_values_dir), keys and values are
// upstream's, so that either tool takes over what the other one left.
//
// A worker may read a key while others write it, so reads are held to what the
// word said before and after. Writers hold the key's lock. Where unsynced data
// may be lost, all writes are traced from a known state on, and a run begins by
// replaying as many of them as the database recovered.
//
// Locks, in order: sharedState.mu; key locks in order of family and key; the
// listener's. Read Tool.Run, then stressTest.operate.
package dbstresstool
