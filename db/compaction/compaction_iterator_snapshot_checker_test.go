// Port of db/compaction/compaction_iterator_test.cc (with a snapshot checker).

package compaction_test

import "testing"

// Entries above the last committed sequence number are put out as they are;
// below it the usual rules hold.

func TestCompactionIteratorWithSnapshotCheckerTest_PreserveUncommittedKeys_Value(t *testing.T) {
	withChecker(t).run([]string{keyStr("foo", 3, tValue), keyStr("foo", 2, tValue), keyStr("foo", 1, tValue)}, []string{"v3", "v2", "v1"},
		[]string{keyStr("foo", 3, tValue), keyStr("foo", 2, tValue)}, []string{"v3", "v2"}, settings{lastCommitted: 2})
}

func TestCompactionIteratorWithSnapshotCheckerTest_PreserveUncommittedKeys_Deletion(t *testing.T) {
	keys, values := []string{keyStr("foo", 2, tDel), keyStr("foo", 1, tValue)}, []string{"", "v1"}
	withChecker(t).run(keys, values, keys, values, settings{lastCommitted: 1})
}

func TestCompactionIteratorWithSnapshotCheckerTest_PreserveUncommittedKeys_Merge(t *testing.T) {
	withChecker(t).run([]string{keyStr("foo", 3, tMerge), keyStr("foo", 2, tMerge), keyStr("foo", 1, tValue)}, []string{"v3", "v2", "v1"},
		[]string{keyStr("foo", 3, tMerge), keyStr("foo", 2, tValue)}, []string{"v3", "v1,v2"}, settings{lastCommitted: 2, op: appendOp{partial: true}})
}

func TestCompactionIteratorWithSnapshotCheckerTest_PreserveUncommittedKeys_SingleDelete(t *testing.T) {
	keys, values := []string{keyStr("foo", 2, tSD), keyStr("foo", 1, tValue)}, []string{"", "v1"}
	withChecker(t).run(keys, values, keys, values, settings{lastCommitted: 1})
}

func TestCompactionIteratorWithSnapshotCheckerTest_PreserveUncommittedKeys_BlobIndex(t *testing.T) {
	withChecker(t).run([]string{keyStr("foo", 3, tBlob), keyStr("foo", 2, tBlob), keyStr("foo", 1, tBlob)}, []string{"v3", "v2", "v1"},
		[]string{keyStr("foo", 3, tBlob), keyStr("foo", 2, tBlob)}, []string{"v3", "v2"}, settings{lastCommitted: 2})
}

// Of the entries that one snapshot sees, the newest stays.

func TestCompactionIteratorWithSnapshotCheckerTest_DedupSameSnapshot_Value(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("foo", 4, tValue), keyStr("foo", 3, tValue), keyStr("foo", 2, tValue), keyStr("foo", 1, tValue)},
		[]string{"v4", "v3", "v2", "v1"},
		[]string{keyStr("foo", 4, tValue), keyStr("foo", 3, tValue), keyStr("foo", 1, tValue)}, []string{"v4", "v3", "v1"}, settings{lastCommitted: 3})
}

func TestCompactionIteratorWithSnapshotCheckerTest_DedupSameSnapshot_TimedPut(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("foo", 4, tTimed), keyStr("foo", 3, tTimed), keyStr("foo", 2, tTimed), keyStr("foo", 1, tTimed)},
		[]string{timed("v4", 0), timed("v3", 0), timed("v2", 0), timed("v1", 0)},
		[]string{keyStr("foo", 4, tTimed), keyStr("foo", 3, tTimed), keyStr("foo", 1, tTimed)},
		[]string{timed("v4", 0), timed("v3", 0), timed("v1", 0)}, settings{lastCommitted: 3})
}

func TestCompactionIteratorWithSnapshotCheckerTest_DedupSameSnapshot_Deletion(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("foo", 4, tValue), keyStr("foo", 3, tDel), keyStr("foo", 2, tValue), keyStr("foo", 1, tValue)},
		[]string{"v4", "", "v2", "v1"},
		[]string{keyStr("foo", 4, tValue), keyStr("foo", 3, tDel), keyStr("foo", 1, tValue)}, []string{"v4", "", "v1"}, settings{lastCommitted: 3})
}

func TestCompactionIteratorWithSnapshotCheckerTest_DedupSameSnapshot_Merge(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.addSnapshot(4, 3)
	c.run([]string{keyStr("foo", 5, tMerge), keyStr("foo", 4, tMerge), keyStr("foo", 3, tMerge), keyStr("foo", 2, tMerge), keyStr("foo", 1, tValue)},
		[]string{"v5", "v4", "v3", "v2", "v1"},
		[]string{keyStr("foo", 5, tMerge), keyStr("foo", 4, tMerge), keyStr("foo", 3, tMerge), keyStr("foo", 1, tValue)},
		[]string{"v5", "v4", "v2,v3", "v1"}, settings{lastCommitted: 4, op: appendOp{partial: true}})
}

func TestCompactionIteratorWithSnapshotCheckerTest_DedupSameSnapshot_SingleDeletion(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("foo", 4, tValue), keyStr("foo", 3, tSD), keyStr("foo", 2, tValue), keyStr("foo", 1, tValue)},
		[]string{"v4", "", "v2", "v1"},
		[]string{keyStr("foo", 4, tValue), keyStr("foo", 1, tValue)}, []string{"v4", "v1"}, settings{lastCommitted: 3})
}

func TestCompactionIteratorWithSnapshotCheckerTest_DedupSameSnapshot_BlobIndex(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("foo", 4, tBlob), keyStr("foo", 3, tBlob), keyStr("foo", 2, tBlob), keyStr("foo", 1, tBlob)},
		[]string{"v4", "v3", "v2", "v1"},
		[]string{keyStr("foo", 4, tBlob), keyStr("foo", 3, tBlob), keyStr("foo", 1, tBlob)}, []string{"v4", "v3", "v1"}, settings{lastCommitted: 3})
}

// At the bottom, only what the oldest snapshot sees loses its sequence number,
// or goes.

func TestCompactionIteratorWithSnapshotCheckerTest_NotZeroOutSequenceIfNotVisibleToEarliestSnapshot(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	values := []string{"v1", "v2", "v3"}
	c.run([]string{keyStr("a", 1, tValue), keyStr("b", 2, tValue), keyStr("c", 3, tValue)}, values,
		[]string{keyStr("a", 0, tValue), keyStr("b", 2, tValue), keyStr("c", 3, tValue)}, values, settings{bottommost: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_NotRemoveDeletionIfNotVisibleToEarliestSnapshot(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("a", 1, tDel), keyStr("b", 2, tDel), keyStr("c", 3, tDel)}, []string{"", "", ""}, nil, nil, settings{bottommost: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_NotRemoveDeletionIfValuePresentToEarlierSnapshot(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	values := []string{"", "", ""}
	c.run([]string{keyStr("a", 4, tDel), keyStr("a", 1, tValue), keyStr("b", 3, tValue)}, values,
		[]string{keyStr("a", 4, tDel), keyStr("a", 0, tValue), keyStr("b", 3, tValue)}, values, settings{bottommost: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_NotRemoveSingleDeletionIfNotVisibleToEarliestSnapshot(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	c.run([]string{keyStr("a", 1, tSD), keyStr("b", 2, tSD), keyStr("c", 3, tSD)}, []string{"", "", ""},
		[]string{keyStr("b", 2, tSD), keyStr("c", 3, tSD)}, []string{"", ""}, settings{bottommost: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_SingleDeleteAcrossSnapshotBoundary(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(2, 1)
	keys, values := []string{keyStr("a", 2, tSD), keyStr("a", 1, tValue)}, []string{"", "v1"}
	c.run(keys, values, keys, values, settings{lastCommitted: 2})
}

func testKeepSingleDeletion(t *testing.T, key, value string) {
	c := withChecker(t)
	c.addSnapshot(2, 0)
	c.run([]string{keyStr("a", 2, tSD), key}, []string{"", value}, []string{keyStr("a", 2, tSD), keyStr("a", 1, tValue)}, []string{"", ""},
		settings{lastCommitted: 2, conflictSnapshot: 2})
}

func TestCompactionIteratorWithSnapshotCheckerTest_KeepSingleDeletionForWriteConflictChecking(t *testing.T) {
	testKeepSingleDeletion(t, keyStr("a", 1, tValue), "v1")
}

func TestCompactionIteratorWithSnapshotCheckerTest_KeepSingleDeletionForWriteConflictChecking_BlobIndex(t *testing.T) {
	testKeepSingleDeletion(t, keyStr("a", 1, tBlob), "fake_blob_index")
}

func TestCompactionIteratorWithSnapshotCheckerTest_KeepSingleDeletionForWriteConflictChecking_WideColumnEntity(t *testing.T) {
	testKeepSingleDeletion(t, keyStr("a", 1, tEntity), "fake_entity")
}

func TestCompactionIteratorWithSnapshotCheckerTest_KeepSingleDeletionForWriteConflictChecking_TimedPut(t *testing.T) {
	testKeepSingleDeletion(t, keyStr("a", 1, tTimed), timed("v1", 0))
}

// A timed put takes its preferred sequence number when the oldest snapshot sees
// it, nothing older can be below, and no range tombstone would come to cover it.

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_NotVisibleToEarliestSnapshot_NoSwapPreferredSeqno(t *testing.T) {
	c := withChecker(t)
	c.addSnapshot(3)
	// The fixture's snapshots see everything, as upstream's; what keeps the
	// entry is that its sequence number is above the snapshot.
	keys, values := []string{keyStr("bar", 5, tTimed)}, []string{timed("bv2", 2)}
	c.run(keys, values, keys, values, settings{lastCommitted: 5, bottommost: true, notBeyond: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_MoreEntriesInLowerLevels_NoSwapPreferredSeqno(t *testing.T) {
	keys, values := []string{keyStr("bar", 5, tTimed)}, []string{timed("bv2", 2)}
	withChecker(t).run(keys, values, keys, values, settings{lastCommitted: 5})
}

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_ShouldBeCoverredByRangeDeletionBeforeSwap_NoOutput(t *testing.T) {
	withChecker(t).run([]string{keyStr("morning", 5, tTimed), keyStr("morning", 2, tTimed), keyStr("night", 6, tValue)},
		[]string{timed("zao", 3), timed("zao", 1), "wan"}, []string{keyStr("night", 6, tValue)}, []string{"wan"},
		settings{notBeyond: true, rangeDelKeys: []string{keyStr("ma", 6, tRangeDel)}, rangeDelValues: []string{"mz"}})
}

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_WillBeHiddenByRangeDeletionAfterSwap_NoSwap(t *testing.T) {
	keys, values := []string{keyStr("morning", 5, tTimed), keyStr("night", 6, tValue)}, []string{timed("zao", 3), "wan"}
	withChecker(t).run(keys, values, keys, values,
		settings{notBeyond: true, rangeDelKeys: []string{keyStr("ma", 4, tRangeDel)}, rangeDelValues: []string{"mz"}})
}

func testSwapPreferredSeqno(t *testing.T, keys, wantKeys []string, s settings) {
	s.lastCommitted = 6
	withChecker(t).run(keys, []string{timed("bv2", 2), timed("bv1", 1), "fv1"}, wantKeys, []string{"bv2", "fv1"}, s)
}

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_BottomMostLevelVisibleToEarliestSnapshot_SwapPreferredSeqno(t *testing.T) {
	testSwapPreferredSeqno(t, []string{keyStr("bar", 5, tTimed), keyStr("bar", 4, tTimed), keyStr("foo", 6, tValue)},
		[]string{keyStr("bar", 0, tValue), keyStr("foo", 0, tValue)}, settings{bottommost: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_NonBottomMostLevelVisibleToEarliestSnapshot_SwapPreferredSeqno(t *testing.T) {
	testSwapPreferredSeqno(t, []string{keyStr("bar", 5, tTimed), keyStr("bar", 4, tTimed), keyStr("foo", 6, tValue)},
		[]string{keyStr("bar", 2, tValue), keyStr("foo", 6, tValue)}, settings{notBeyond: true})
}

func TestCompactionIteratorWithSnapshotCheckerTest_TimedPut_SequenceNumberAlreadyZeroedOut_ChangeType(t *testing.T) {
	testSwapPreferredSeqno(t, []string{keyStr("bar", 0, tTimed), keyStr("bar", 0, tTimed), keyStr("foo", 0, tValue)},
		[]string{keyStr("bar", 0, tValue), keyStr("foo", 0, tValue)}, settings{bottommost: true})
}

// The filter sees the newest committed entry, and all committed operands.

func TestCompactionIteratorWithSnapshotCheckerTest_CompactionFilter_Value(t *testing.T) {
	withChecker(t).run([]string{keyStr("a", 2, tValue), keyStr("a", 1, tValue), keyStr("b", 3, tValue), keyStr("c", 1, tValue)},
		[]string{"v2", "v1", "v3", "v4"},
		[]string{keyStr("a", 2, tValue), keyStr("a", 1, tDel), keyStr("b", 3, tValue), keyStr("c", 1, tDel)},
		[]string{"v2", "", "v3", ""}, settings{lastCommitted: 1, filter: filterFunc(filterAllKeys)})
}

func TestCompactionIteratorWithSnapshotCheckerTest_CompactionFilter_TimedPut(t *testing.T) {
	keys, values := []string{keyStr("a", 2, tTimed)}, []string{timed("v1", 0)}
	withChecker(t).run(keys, values, keys, values, settings{lastCommitted: 2, filter: filterFunc(filterAllKeys)})
}

func TestCompactionIteratorWithSnapshotCheckerTest_CompactionFilter_Deletion(t *testing.T) {
	withChecker(t).run([]string{keyStr("a", 2, tDel), keyStr("a", 1, tValue)}, []string{"", "v1"},
		[]string{keyStr("a", 2, tDel), keyStr("a", 1, tDel)}, []string{"", ""}, settings{lastCommitted: 1, filter: filterFunc(filterAllKeys)})
}

func TestCompactionIteratorWithSnapshotCheckerTest_CompactionFilter_PartialMerge(t *testing.T) {
	withChecker(t).run([]string{keyStr("a", 3, tMerge), keyStr("a", 2, tMerge), keyStr("a", 1, tMerge)}, []string{"v3", "v2", "v1"},
		[]string{keyStr("a", 3, tMerge)}, []string{"v3"},
		settings{lastCommitted: 2, op: appendOp{partial: true}, filter: filterFunc(filterAllKeys)})
}

func TestCompactionIteratorWithSnapshotCheckerTest_CompactionFilter_FullMerge(t *testing.T) {
	withChecker(t).run([]string{keyStr("a", 3, tMerge), keyStr("a", 2, tMerge), keyStr("a", 1, tValue)}, []string{"v3", "v2", "v1"},
		[]string{keyStr("a", 3, tMerge), keyStr("a", 1, tDel)}, []string{"v3", ""},
		settings{lastCommitted: 2, op: appendOp{partial: true}, filter: filterFunc(filterAllKeys)})
}
