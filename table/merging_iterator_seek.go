// Port of table/merging_iterator.cc: seeks, deleted keys, changes of direction.

package table

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// seekChild seeks one child, and counts and times that where wanted.
func (m *MergingIterator) seekChild(child *heapItem, target []byte, reseek bool) {
	perf := m.perf
	if !perf.CountEnabled() {
		m.seekChildDirection(child, target)
		return
	}
	perf.SeekChildSeekCount++
	if reseek {
		perf.InternalRangeDelReseekCount++
	}
	if !perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		m.seekChildDirection(child, target)
		return
	}
	clock := rocksdb.DefaultSystemClock()
	start := clock.NowNanos()
	m.seekChildDirection(child, target)
	perf.SeekChildSeekTime += clock.NowNanos() - start
}

func (m *MergingIterator) seekChildDirection(child *heapItem, target []byte) {
	switch {
	case m.backward:
		child.iter.SeekForPrev(target)
	case m.async && child.iter.SeekAsync(target):
		n := len(m.pending)
		m.pending = slices.Grow(m.pending, 1)[:n+1]
		p := &m.pending[n]
		p.child, p.target = child, append(p.target[:0], target...)
	case !m.async:
		child.iter.Seek(target)
	}
}

// seekImplAdd puts a child that was sought into the heap, unless its seek is
// pending.
func (m *MergingIterator) seekImplAdd(child *heapItem) {
	if n := len(m.pending); n == 0 || m.pending[n-1].child != child {
		if m.perf != nil {
			m.timedAdd(child)
		} else {
			m.addToMinHeap(child)
		}
	}
}

// timedAdd puts a child into the heap of the direction, with a context.
func (m *MergingIterator) timedAdd(child *heapItem) {
	var timer monitoring.PerfStepTimer
	if m.perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		if m.backward {
			timer.Start(&m.perf.SeekMaxHeapTime, nil)
		} else {
			timer.Start(&m.perf.SeekMinHeapTime, nil)
		}
	}
	if m.backward {
		m.addToMaxHeap(child)
	} else {
		m.addToMinHeap(child)
	}
	timer.Stop()
}

// finishPending waits for the seeks that have begun.
func (m *MergingIterator) finishPending() {
	for i := range m.pending {
		p := &m.pending[i]
		p.child.iter.Seek(p.target)
		m.addToMinHeap(p.child)
		if m.perf.CountEnabled() {
			m.perf.NumberAsyncSeek++
		}
	}
	m.pending = m.pending[:0]
}

// restoreLevelsBefore fills the heap again from the children and tombstones
// before first, which stay as they are, and forgets which of the others are
// active.
func (m *MergingIterator) restoreLevelsBefore(first int) {
	m.clearHeaps()
	for i := range m.children[:first] {
		if m.backward {
			m.addToMaxHeap(&m.children[i])
		} else {
			m.addToMinHeap(&m.children[i])
		}
	}
	if !m.hasTombstones {
		return
	}
	for i, t := range m.tombstones[:first] {
		if t == nil || !t.Valid() {
			continue
		}
		switch {
		case m.backward:
			m.maxHeap.push(&m.ends[i])
		case m.active.contains(i):
			m.minHeap.push(&m.ends[i])
		default:
			m.insertTombstone(i, true, false) // checks the upper bound
		}
	}
	m.active.eraseFrom(first)
}

// seekImpl seeks the children from first on to target or, where a tombstone of
// a child before covers it, to the tombstone's end. Those before first stay;
// their tombstones, if active, must start before target, and those they passed
// end before it. It leaves invariants 3 and 4 in force.
func (m *MergingIterator) seekImpl(target []byte, first int, reseek bool) {
	m.restoreLevelsBefore(first)
	if !m.hasTombstones {
		for i := first; i < len(m.children); i++ {
			m.seekChild(&m.children[i], target, reseek)
			m.seekImplAdd(&m.children[i])
		}
		m.finishPending()
		return
	}
	pik := parseTarget(target)
	search := target
	for i := first; i < len(m.children); i++ {
		child := &m.children[i]
		m.seekChild(child, search, reseek)
		// The seek of a level may have put another iterator here.
		if t := m.tombstones[i]; t != nil {
			if t.SeekInternalKey(search); t.Valid() {
				start := t.StartKey()
				m.insertTombstone(i, m.icmp.CompareParsed(&start, &pik) > 0, false)
				// Its end is after search. The user key is enough to compare:
				// were search between the tombstone's start and the entries of
				// the same user key before it, these would be newer than all
				// of the older children.
				if m.icmp.CompareUserKey(start.UserKey, dbformat.ExtractUserKey(search)) <= 0 {
					reseek = true
					end := t.EndKey()
					m.searchKey = dbformat.AppendInternalKey(m.searchKey[:0], end.UserKey, end.Sequence, end.Type)
					search = m.searchKey
				}
			}
		}
		m.seekImplAdd(child)
	}
	m.finishPending()
}

// seekForPrevImpl is seekImpl backward.
func (m *MergingIterator) seekForPrevImpl(target []byte, first int, reseek bool) {
	m.restoreLevelsBefore(first)
	if !m.hasTombstones {
		for i := first; i < len(m.children); i++ {
			m.seekChild(&m.children[i], target, reseek)
			m.addToMaxHeap(&m.children[i])
		}
		return
	}
	pik := parseTarget(target)
	search := target
	for i := first; i < len(m.children); i++ {
		child := &m.children[i]
		m.seekChild(child, search, reseek)
		if t := m.tombstones[i]; t != nil {
			user := dbformat.ExtractUserKey(search)
			if t.SeekForPrev(user); t.Valid() {
				end := t.EndKey()
				m.insertTombstone(i, m.icmp.CompareParsed(&end, &pik) > 0, false)
				// Its start is at or before search.
				if m.icmp.CompareUserKey(user, end.UserKey) < 0 {
					reseek = true
					m.searchKey = dbformat.AppendInternalKey(m.searchKey[:0], t.StartKey().UserKey, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeekForPrev)
					search = m.searchKey
				}
			}
		}
		if m.perf != nil {
			m.timedAdd(child)
		} else {
			m.addToMaxHeap(child)
		}
	}
}

func parseTarget(key []byte) dbformat.ParsedInternalKey {
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(key))
	return dbformat.ParsedInternalKey{UserKey: dbformat.ExtractUserKey(key), Sequence: seq, Type: t}
}

// findNextVisibleKey moves on until the top of the heap is a point key that no
// tombstone deletes, or the heap is empty, and makes the top current.
func (m *MergingIterator) findNextVisibleKey() {
	if m.hasTombstones {
		m.popDeleteRangeStart()
		// Without active tombstones the top is a point iterator.
		for !m.minHeap.empty() && (m.active.n > 0 || m.minHeap.top().iter.IsDeleteRangeSentinelKey()) && m.skipNextDeleted() {
			m.popDeleteRangeStart()
		}
	}
	if m.minHeap.empty() {
		m.current = nil
	} else {
		m.current = m.minHeap.top()
	}
}

// findPrevVisibleKey is findNextVisibleKey backward.
func (m *MergingIterator) findPrevVisibleKey() {
	if m.hasTombstones {
		m.popDeleteRangeEnd()
		for !m.maxHeap.empty() && (m.active.n > 0 || m.maxHeap.top().iter.IsDeleteRangeSentinelKey()) && m.skipPrevDeleted() {
			m.popDeleteRangeEnd()
		}
	}
	if m.maxHeap.empty() {
		m.current = nil
	} else {
		m.current = m.maxHeap.top()
	}
}

// popDeleteRangeStart makes the tombstones active whose starts are on top.
func (m *MergingIterator) popDeleteRangeStart() {
	for !m.minHeap.empty() && m.minHeap.top().typ == itemDeleteRangeStart {
		syncpoint.Process("MergeIterator::PopDeleteRangeStart")
		m.insertTombstone(m.minHeap.top().level, false, true)
	}
}

// popDeleteRangeEnd makes the tombstones active whose ends are on top.
func (m *MergingIterator) popDeleteRangeEnd() {
	for !m.maxHeap.empty() && m.maxHeap.top().typ == itemDeleteRangeEnd {
		m.insertTombstone(m.maxHeap.top().level, true, true)
	}
}

// skipNextDeleted is false when the top is a point key that is to be shown.
// Otherwise it passes the top: an end of a tombstone, a sentinel, or a deleted
// key. The top is no start of a tombstone.
func (m *MergingIterator) skipNextDeleted() bool {
	top := m.minHeap.top()
	level := top.level
	if top.typ == itemDeleteRangeEnd {
		m.active.erase(level)
		t := m.tombstones[level]
		if t.Next(); t.Valid() {
			m.insertTombstone(level, true, true)
		} else {
			m.minHeap.pop()
		}
		return true
	}
	if top.iter.IsDeleteRangeSentinelKey() {
		m.enterNextFile(top)
		return true
	}
	if m.active.n == 0 {
		return false
	}
	switch i := m.active.least(); {
	case i < level:
		// Of a newer run: it deletes the key and all up to its end.
		end := m.tombstones[i].EndKey()
		m.targetBuf = dbformat.AppendInternalKey(m.targetBuf[:0], end.UserKey, end.Sequence, end.Type)
		m.seekImpl(m.targetBuf, level, true)
		return true
	case i == level && dbformat.GetInternalKeySeqno(top.iter.Key()) < m.tombstones[level].Seq():
		top.iter.Next()
		if m.moved(top) {
			m.minHeap.replaceTop(top)
		} else {
			m.minHeap.pop()
		}
		return true
	}
	return false // of older runs only, or older than the key
}

// enterNextFile moves a level, on top with a sentinel, to its next file, with
// which its tombstone iterator changes.
func (m *MergingIterator) enterNextFile(top *heapItem) {
	level := top.level
	m.minHeap.pop()
	// The last tombstone may end at the file's end, after the sentinel: it
	// straddles this file and the next. The file's tombstones must leave the
	// heap before their iterator goes.
	if t := m.tombstones[level]; t != nil && t.Valid() && !m.minHeap.empty() && m.minHeap.top().level == level {
		m.minHeap.pop()
		m.active.erase(level)
	}
	top.iter.Next()
	m.addToMinHeap(top)
	if t := m.tombstones[level]; t != nil && t.Valid() {
		m.insertTombstone(level, true, false)
	}
}

// skipPrevDeleted is skipNextDeleted backward.
func (m *MergingIterator) skipPrevDeleted() bool {
	top := m.maxHeap.top()
	level := top.level
	if top.typ == itemDeleteRangeStart {
		m.active.erase(level)
		t := m.tombstones[level]
		if t.Prev(); t.Valid() {
			m.insertTombstone(level, false, true)
		} else {
			m.maxHeap.pop()
		}
		return true
	}
	if top.iter.IsDeleteRangeSentinelKey() {
		m.enterPrevFile(top)
		return true
	}
	if m.active.n == 0 {
		return false
	}
	switch i := m.active.least(); {
	case i < level:
		// Forward, the children between i and level are at later user keys;
		// backward they may be at this one, so that all after i have to seek.
		start := m.tombstones[i].StartKey()
		m.targetBuf = dbformat.AppendInternalKey(m.targetBuf[:0], start.UserKey, start.Sequence, start.Type)
		m.seekForPrevImpl(m.targetBuf, i+1, true)
		return true
	case i == level && dbformat.GetInternalKeySeqno(top.iter.Key()) < m.tombstones[level].Seq():
		top.iter.Prev()
		if m.moved(top) {
			m.maxHeap.replaceTop(top)
		} else {
			m.maxHeap.pop()
		}
		return true
	}
	return false
}

func (m *MergingIterator) enterPrevFile(top *heapItem) {
	level := top.level
	m.maxHeap.pop()
	if !m.maxHeap.empty() && m.maxHeap.top().level == level && m.maxHeap.top().typ == itemDeleteRangeStart {
		m.maxHeap.pop()
		m.active.erase(level)
	}
	top.iter.Prev()
	m.addToMaxHeap(top)
	if t := m.tombstones[level]; t != nil && t.Valid() {
		m.insertTombstone(level, false, false)
	}
}

// switchToForward puts all children but the current one after its key.
func (m *MergingIterator) switchToForward() {
	m.clearHeaps()
	m.active.clear()
	m.backward = false
	target := m.current.iter.Key()
	for i := range m.children {
		child := &m.children[i]
		if child != m.current {
			child.iter.Seek(target)
			if child.iter.Valid() && m.equal(target, child.iter.Key()) {
				child.iter.Next()
			}
		}
		m.addToMinHeap(child)
	}
	pik := parseTarget(target)
	for i := range m.tombstones {
		t := m.tombstones[i]
		if t == nil {
			continue
		}
		// Seek goes by the user key; a tombstone cut at a file's end may end
		// before the key all the same.
		t.Seek(pik.UserKey)
		for t.Valid() {
			if end := t.EndKey(); m.icmp.CompareParsed(&end, &pik) > 0 {
				start := t.StartKey()
				m.insertTombstone(i, m.icmp.CompareParsed(&start, &pik) > 0, false)
				break
			}
			t.Next()
		}
	}
}

func (m *MergingIterator) equal(a, b []byte) bool {
	return len(b) >= dbformat.NumInternalBytes && m.icmp.Compare(a, b) == 0
}

// switchToBackward puts all children but the current one before its key.
func (m *MergingIterator) switchToBackward() {
	m.clearHeaps()
	m.active.clear()
	m.backward = true
	target := m.current.iter.Key()
	for i := range m.children {
		child := &m.children[i]
		if child != m.current {
			child.iter.SeekForPrev(target)
			if child.iter.Valid() && m.equal(target, child.iter.Key()) {
				child.iter.Prev()
			}
		}
		m.addToMaxHeap(child)
	}
	pik := parseTarget(target)
	for i := range m.tombstones {
		t := m.tombstones[i]
		if t == nil {
			continue
		}
		// A tombstone that starts at the same user key, but with a smaller
		// sequence number, would come above the current key.
		t.SeekForPrev(pik.UserKey)
		for t.Valid() {
			if start := t.StartKey(); m.icmp.CompareParsed(&start, &pik) <= 0 {
				end := t.EndKey()
				m.insertTombstone(i, m.icmp.CompareParsed(&end, &pik) > 0, false)
				break
			}
			t.Prev()
		}
	}
	// Keys may have been inserted into a memtable since, so that another child
	// is on top.
	if !m.prefixSeekMode {
		if m.maxHeap.empty() {
			m.current = nil
		} else {
			m.current = m.maxHeap.top()
		}
	}
}
