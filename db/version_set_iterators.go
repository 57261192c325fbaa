// Port of db/version_set.cc, the iterators over a version's tables.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// AddIterators adds iterators over all tables, newest first: one a file of
// level 0, one a level below. ro has to outlive them, and a reference on the
// version too. readSeqno hides newer range tombstones. With scan, of bounded
// ranges, files and levels that have no part in these are left out.
func (v *Version) AddIterators(ro *rocksdb.ReadOptions, b *table.MergeIteratorBuilder, allowUnpreparedValue bool,
	readSeqno rocksdb.SequenceNumber, scan *rocksdb.MultiScanArgs) {
	for level := range v.storage.NumNonEmptyLevels() {
		v.AddIteratorsForLevel(ro, b, level, allowUnpreparedValue, readSeqno, scan)
	}
}

// AddIteratorsForLevel is AddIterators for one level.
func (v *Version) AddIteratorsForLevel(ro *rocksdb.ReadOptions, b *table.MergeIteratorBuilder, level int,
	allowUnpreparedValue bool, readSeqno rocksdb.SequenceNumber, scan *rocksdb.MultiScanArgs) {
	if level >= v.storage.NumNonEmptyLevels() {
		return
	}
	files := v.storage.LevelFilesBrief(level)
	if files.NumFiles() == 0 {
		return
	}
	icmp := v.storage.InternalComparator()
	if level > 0 {
		only, several := -1, true
		if scan != nil {
			only, several = multiScanFiles(icmp, files, scan)
		}
		if several {
			v.addLevelIterator(ro, b, level, allowUnpreparedValue, readSeqno)
		} else if only >= 0 {
			v.addTableIterator(ro, b, level, files.Files[only].FileMetadata, allowUnpreparedValue, readSeqno)
		}
		return
	}
	sample := monitoring.ShouldSampleFileRead()
	for i := range files.Files {
		f := files.Files[i].FileMetadata
		if scan != nil && !multiScanOverlaps(icmp, scan, f.Smallest.UserKey(), f.Largest.UserKey()) {
			continue
		}
		v.addTableIterator(ro, b, 0, f, allowUnpreparedValue, readSeqno)
		if sample {
			// Once an iterator; the other levels count seeks and steps.
			monitoring.SampleFileReadInc(&f.Stats)
		}
	}
}

func (v *Version) addTableIterator(ro *rocksdb.ReadOptions, b *table.MergeIteratorBuilder, level int, f *version.FileMetaData,
	allowUnpreparedValue bool, readSeqno rocksdb.SequenceNumber) {
	var tombstones *rangedel.TruncatedRangeDelIterator
	o := tablecache.IteratorOptions{
		OpenOptions: tablecache.OpenOptions{FileReadHist: v.cfd.InternalStats().GetFileReadHist(level), Level: level},
		Caller:      rocksdb.CallerUserIterator, AllowUnpreparedValue: allowUnpreparedValue,
		RangeDelIter: &tombstones, RangeDelReadSeqno: readSeqno, MaybePin: true,
	}
	if level == 0 {
		o.MaxFileSizeForL0MetaPin = v.maxFileSizeForL0MetaPin
	} else {
		o.SkipFilters = v.isFilterSkipped(level, false)
	}
	it := v.cfd.TableCache().NewIterator(ro, f, v.mutableCFOptions, &o)
	syncpoint.ProcessArg("Version::AddIteratorsForLevel:AddedFile", f)
	syncpoint.ProcessArg("Version::AddIteratorsForLevel:IteratorType", "table")
	if ro.IgnoreRangeDeletions {
		b.AddIterator(it)
	} else {
		b.AddPointAndTombstoneIterator(it, tombstones, nil)
	}
}

func (v *Version) levelIterator(ro *rocksdb.ReadOptions, level int, allowUnpreparedValue bool,
	readSeqno rocksdb.SequenceNumber, agg rangedel.RangeDelAggregator) *LevelIterator {
	return NewLevelIterator(LevelIteratorOptions{
		TableCache: v.cfd.TableCache(), ReadOptions: ro, Comparator: v.storage.InternalComparator(),
		Files: v.storage.LevelFilesBrief(level), MutableCFOptions: v.mutableCFOptions, IOptions: v.cfd.IOptions(),
		FileReadHist: v.cfd.InternalStats().GetFileReadHist(level), Caller: rocksdb.CallerUserIterator,
		SkipFilters: v.isFilterSkipped(level, false), Level: level, RangeDelAgg: agg,
		AllowUnpreparedValue: allowUnpreparedValue, ReadSeqno: readSeqno,
	})
}

func (v *Version) addLevelIterator(ro *rocksdb.ReadOptions, b *table.MergeIteratorBuilder, level int,
	allowUnpreparedValue bool, readSeqno rocksdb.SequenceNumber) {
	it := v.levelIterator(ro, level, allowUnpreparedValue, readSeqno, nil)
	if syncpoint.Enabled {
		for _, f := range v.storage.LevelFiles(level) {
			syncpoint.ProcessArg("Version::AddIteratorsForLevel:AddedFile", f)
		}
		syncpoint.ProcessArg("Version::AddIteratorsForLevel:IteratorType", "level")
	}
	if ro.IgnoreRangeDeletions {
		b.AddIterator(it)
	} else {
		b.AddPointAndTombstoneIterator(it, nil, it)
	}
}

// TESTGetLevelIterator adds and gives the iterator of a level above 0.
func (v *Version) TESTGetLevelIterator(ro *rocksdb.ReadOptions, b *table.MergeIteratorBuilder, level int, allowUnpreparedValue bool) internaliter.InternalIterator {
	it := v.levelIterator(ro, level, allowUnpreparedValue, 0, nil)
	if ro.IgnoreRangeDeletions {
		b.AddIterator(it)
	} else {
		b.AddPointAndTombstoneIterator(it, nil, it)
	}
	return it
}

// OverlapWithLevelIterator tells whether the level holds an entry or a range
// tombstone between two user keys, both included.
func (v *Version) OverlapWithLevelIterator(ro *rocksdb.ReadOptions, smallest, largest []byte, level int) (bool, error) {
	if level >= v.storage.NumNonEmptyLevels() || v.storage.LevelFilesBrief(level).NumFiles() == 0 {
		return false, nil
	}
	icmp := v.storage.InternalComparator()
	agg := rangedel.NewReadRangeDelAggregator(icmp, dbformat.MaxSequenceNumber)
	if level > 0 {
		overlap, err := overlapWithIterator(icmp, smallest, largest, v.levelIterator(ro, level, false, 0, agg))
		return overlap || err == nil && agg.IsRangeOverlapped(smallest, largest), err
	}
	for _, f := range v.storage.LevelFiles(0) {
		if icmp.CompareWithoutTimestamp(smallest, f.Largest.UserKey()) > 0 ||
			icmp.CompareWithoutTimestamp(largest, f.Smallest.UserKey()) < 0 {
			continue
		}
		o := tablecache.IteratorOptions{
			OpenOptions: tablecache.OpenOptions{FileReadHist: v.cfd.InternalStats().GetFileReadHist(0),
				MaxFileSizeForL0MetaPin: v.maxFileSizeForL0MetaPin},
			Caller: rocksdb.CallerUserIterator, RangeDelAgg: agg,
		}
		it := v.cfd.TableCache().NewIterator(ro, f, v.mutableCFOptions, &o)
		if overlap, err := overlapWithIterator(icmp, smallest, largest, it); overlap || err != nil {
			return overlap, err
		}
	}
	return agg.IsRangeOverlapped(smallest, largest), nil
}

// overlapWithIterator closes it.
func overlapWithIterator(icmp *dbformat.InternalKeyComparator, smallest, largest []byte, it internaliter.InternalIterator) (overlap bool, err error) {
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	it.Seek(dbformat.NewInternalKey(smallest, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
	if !it.Valid() {
		return false, it.Status()
	}
	key, err := dbformat.ParseInternalKey(it.Key(), false)
	if err != nil {
		return false, err
	}
	return icmp.CompareWithoutTimestamp(key.UserKey, largest) <= 0, it.Status()
}
