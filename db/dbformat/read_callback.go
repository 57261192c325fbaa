// Port of db/{read_callback,snapshot_checker}.h.

package dbformat

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// ReadCallback decides whether an entry's sequence number is visible to a
// read; transactions give one.
type ReadCallback interface {
	// IsVisible tells whether entries of seq are seen.
	IsVisible(seq rocksdb.SequenceNumber) bool
	// MaxVisibleSeq bounds what may be visible.
	MaxVisibleSeq() rocksdb.SequenceNumber
	// Refresh moves the callback to a newer sequence number.
	Refresh(seq rocksdb.SequenceNumber)
}

// SnapshotCheckerResult answers SnapshotChecker.CheckInSnapshot.
type SnapshotCheckerResult uint8

// The answers.
const (
	SnapshotCheckerInSnapshot SnapshotCheckerResult = iota
	SnapshotCheckerNotInSnapshot
	SnapshotCheckerSnapshotReleased
)

// SnapshotChecker tells compactions of write-prepared transactions what a
// snapshot sees.
type SnapshotChecker interface {
	CheckInSnapshot(seq, snapshotSeq rocksdb.SequenceNumber) SnapshotCheckerResult
}
