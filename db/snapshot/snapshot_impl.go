// Port of db/snapshot_impl.{h,cc}.

package snapshot

import (
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// Impl is one snapshot. Its fields do not change while it is in a list.
type Impl struct {
	Number                  rocksdb.SequenceNumber
	MinUncommitted          rocksdb.SequenceNumber
	IsWriteConflictBoundary bool
	UnixTime                int64
	Timestamp               uint64

	prev, next *Impl
	list       *List
}

// GetSequenceNumber gives the state the snapshot sees.
func (s *Impl) GetSequenceNumber() rocksdb.SequenceNumber { return s.Number }

// GetUnixTime gives when it was taken, in seconds.
func (s *Impl) GetUnixTime() int64 { return s.UnixTime }

// GetTimestamp gives the timestamp it was taken at.
func (s *Impl) GetTimestamp() uint64 { return s.Timestamp }

// List is all snapshots of a database.
type List struct {
	head  Impl // of the ring: head.next is the oldest
	count int
}

// Init makes l empty; it must be called before use.
func (l *List) Init() {
	l.head.prev, l.head.next = &l.head, &l.head
}

// Empty tells whether there is no snapshot.
func (l *List) Empty() bool { return l.head.next == &l.head }

// Count is the number of snapshots.
func (l *List) Count() int { return l.count }

// Oldest gives the oldest snapshot of a list that is not empty.
func (l *List) Oldest() *Impl { return l.head.next }

// Newest gives the newest snapshot of a list that is not empty.
func (l *List) Newest() *Impl { return l.head.prev }

// New adds s with its fields set.
func (l *List) New(s *Impl, seq rocksdb.SequenceNumber, unixTime int64, writeConflict bool, ts uint64) *Impl {
	s.Number, s.UnixTime, s.Timestamp, s.IsWriteConflictBoundary = seq, unixTime, ts, writeConflict
	s.list = l
	s.next = &l.head
	s.prev = l.head.prev
	s.prev.next = s
	s.next.prev = s
	l.count++
	return s
}

// Delete removes s; false when it is not in this list.
func (l *List) Delete(s *Impl) bool {
	if s.list != l {
		return false
	}
	s.prev.next = s.next
	s.next.prev = s.prev
	s.prev, s.next, s.list = nil, nil, nil
	l.count--
	return true
}

// GetAll gives the distinct sequence numbers up to maxSeq in rising order, and
// the oldest that is a write-conflict boundary (MaxUint64 when there is none).
func (l *List) GetAll(maxSeq rocksdb.SequenceNumber) (all []rocksdb.SequenceNumber, oldestWriteConflict rocksdb.SequenceNumber) {
	oldestWriteConflict = math.MaxUint64
	for s := l.head.next; s != &l.head && s.Number <= maxSeq; s = s.next {
		if len(all) == 0 || all[len(all)-1] != s.Number {
			all = append(all, s.Number)
		}
		if oldestWriteConflict == math.MaxUint64 && s.IsWriteConflictBoundary {
			oldestWriteConflict = s.Number
		}
	}
	return all, oldestWriteConflict
}

// GetNewest gives the newest sequence number, 0 when there is none.
func (l *List) GetNewest() rocksdb.SequenceNumber {
	if l.Empty() {
		return 0
	}
	return l.Newest().Number
}

// GetOldestSnapshotTime gives the oldest snapshot's time, 0 when there is none.
func (l *List) GetOldestSnapshotTime() int64 {
	if l.Empty() {
		return 0
	}
	return l.Oldest().UnixTime
}

// GetOldestSnapshotSequence gives the oldest sequence number, 0 when there is
// none.
func (l *List) GetOldestSnapshotSequence() rocksdb.SequenceNumber {
	if l.Empty() {
		return 0
	}
	return l.Oldest().Number
}
