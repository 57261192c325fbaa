// Port of db/memtable.{h,cc}, range tombstones. Differs: one cached list for
// all cores, since the collector counts its references.

package memtable

import (
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// NewRangeTombstoneIterator gives the tombstones visible at readSeq and
// ro.Timestamp, nil if there are none at all. immutable says that the memtable
// is in an immutable list, so that ConstructFragmentedRangeTombstones was
// called. An error is a corruption of an entry.
func (m *MemTable) NewRangeTombstoneIterator(ro *rocksdb.ReadOptions, readSeq rocksdb.SequenceNumber, immutable bool) (*rangedel.FragmentedRangeTombstoneIterator, error) {
	if ro.IgnoreRangeDeletions || !m.hasRangeDel.Load() {
		return nil, nil
	}
	list, err := m.fragmentedTombstones(immutable)
	if err != nil {
		return nil, err
	}
	return rangedel.NewFragmentedRangeTombstoneIterator(list, m.icmp, readSeq, ro.Timestamp, 0), nil
}

// RangeTombstoneCovers tells whether a fragment of the tombstones visible at
// seq covers all of [start, end); for the active memtable.
func (m *MemTable) RangeTombstoneCovers(seq rocksdb.SequenceNumber, start, end []byte) bool {
	it, err := m.NewRangeTombstoneIterator(&rocksdb.ReadOptions{}, seq, false)
	if err != nil || it == nil {
		return false
	}
	it.Seek(start)
	return it.Valid() && m.icmp.CompareUserKey(it.StartKey(), start) <= 0 && m.icmp.CompareUserKey(it.EndKey(), end) >= 0
}

// fragmentedTombstones gives the tombstones cut into fragments: those of the
// time the memtable became immutable, or present ones, cached.
func (m *MemTable) fragmentedTombstones(immutable bool) (*rangedel.FragmentedRangeTombstoneList, error) {
	if immutable && (m.rangeDel.fragmented != nil || m.rangeDel.fragmentErr != nil) {
		return m.rangeDel.fragmented, m.rangeDel.fragmentErr
	}
	return m.rangeDel.cache.Load().Get(m.fragmentTombstones)
}

func (m *MemTable) fragmentTombstones() (*rangedel.FragmentedRangeTombstoneList, error) {
	return rangedel.NewFragmentedRangeTombstoneList(m.newRangeDelEntryIterator(), m.icmp, false, nil, true)
}

// ConstructFragmentedRangeTombstones prepares what reads use once the memtable
// is immutable; called just before, perhaps more than once.
func (m *MemTable) ConstructFragmentedRangeTombstones() {
	if m.hasRangeDel.Load() {
		m.rangeDel.fragmented, m.rangeDel.fragmentErr = m.fragmentTombstones()
	}
}

// IsFragmentedRangeTombstonesConstructed tells whether that was done, or is not
// needed.
func (m *MemTable) IsFragmentedRangeTombstonesConstructed() bool {
	return m.rangeDel.fragmented != nil || !m.hasRangeDel.Load()
}

// NewTimestampStrippingRangeTombstoneIterator is NewRangeTombstoneIterator with
// all timestamps replaced by the least one; for flushes that do not keep them.
func (m *MemTable) NewTimestampStrippingRangeTombstoneIterator(ro *rocksdb.ReadOptions, readSeq rocksdb.SequenceNumber) (*rangedel.FragmentedRangeTombstoneIterator, error) {
	if ro.IgnoreRangeDeletions || !m.hasRangeDel.Load() {
		return nil, nil
	}
	m.rangeDel.strippedOnce.Do(func() {
		it := &TimestampStrippingIterator{inner: m.newRangeDelEntryIterator(), tsSize: m.tsSize, rangeDel: true}
		m.rangeDel.stripped, m.rangeDel.strippedErr = rangedel.NewFragmentedRangeTombstoneList(it, m.icmp, false, nil, true)
	})
	if m.rangeDel.strippedErr != nil {
		return nil, m.rangeDel.strippedErr
	}
	return rangedel.NewFragmentedRangeTombstoneIterator(m.rangeDel.stripped, m.icmp, readSeq, ro.Timestamp, 0), nil
}

// maxCoveringTombstoneSeq gives the greatest sequence number, visible at
// readSeq, of a tombstone over userKey, and its timestamp; 0 for none.
func (m *MemTable) maxCoveringTombstoneSeq(ro *rocksdb.ReadOptions, userKey []byte, readSeq rocksdb.SequenceNumber, immutable bool) (rocksdb.SequenceNumber, []byte, error) {
	list, err := m.fragmentedTombstones(immutable)
	if err != nil {
		return 0, nil, err
	}
	var it rangedel.FragmentedRangeTombstoneIterator
	it.Init(list, m.icmp, readSeq, ro.Timestamp, 0)
	seq := it.MaxCoveringTombstoneSeqnum(userKey)
	if seq == 0 || m.tsSize == 0 {
		return seq, nil, nil
	}
	return seq, it.Timestamp(), nil
}
