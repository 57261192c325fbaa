// Port of table/block_based/block_based_table_reader.{h,cc} and
// block_based_table_reader_sync_and_async.h: point lookups; batches are in
// reader_multiget.go.

package blockbased

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// lookupScratch is a lookup's iterators, kept from one to the next.
type lookupScratch struct {
	index    indexScratch
	data     block.DataBlockIter
	rc       readContext
	parsed   dbformat.ParsedInternalKey
	embedded embeddedLookup
	// mapped is the file of a table that stays open, for blocks in its mapping.
	mapped *file.RandomAccessFileReader
}

var scratchPool = sync.Pool{New: func() any { return new(lookupScratch) }}

func getScratch() *lookupScratch { return scratchPool.Get().(*lookupScratch) }

// putScratch takes a scratch back whose iterators hold no blocks.
func putScratch(s *lookupScratch) {
	s.rc = readContext{}
	s.parsed, s.mapped = dbformat.ParsedInternalKey{}, nil
	scratchPool.Put(s)
}

// Pin implements table.ValuePinner for the data block; nil, and so a copy, for
// blocks that are neither in the cache nor in a mapping that stays.
func (s *lookupScratch) Pin() rocksdb.Releaser {
	e := s.data.Entry()
	if s.mapped != nil && e.OwnValue() && !e.Value().OwnBytes() {
		return s.mapped.Pin()
	}
	return block.PinMore(e)
}

// filterMayMatchKey asks the filter for a key, whole or by its prefix.
// Upstream: BlockBasedTable::FullFilterKeyMayMatch.
func (t *BlockBasedTable) filterMayMatchKey(rc *readContext, ikey []byte, prefixExtractor rocksdb.SliceTransform) bool {
	if t.filter == nil {
		return true
	}
	key := dbformat.ExtractUserKeyAndStripTimestamp(ikey, t.icmp.TimestampSize())
	perf, stats := rc.ro.PerfContext, t.ioptions.Stats
	var may bool
	useful := rocksdb.BloomFilterUseful
	switch {
	case t.wholeKeyFiltering:
		if may = t.filter.mayMatch(rc, key, ikey); may {
			monitoring.RecordTick(stats, rocksdb.BloomFilterFullPositive, 1)
		}
	case !t.prefixExtractorChanged(prefixExtractor) && prefixExtractor.InDomain(key):
		may = t.filter.mayMatch(rc, prefixExtractor.Transform(key), ikey)
		monitoring.RecordTick(stats, rocksdb.BloomFilterPrefixChecked, 1)
		useful = rocksdb.BloomFilterPrefixUseful
	default:
		return true
	}
	if !may {
		monitoring.RecordTick(stats, useful, 1)
	}
	if perf.CountEnabled() {
		t.perfLevel(perf, func(l *rocksdb.PerfContextByLevel) {
			if may {
				l.BloomFilterFullPositive++
			} else {
				l.BloomFilterUseful++
			}
		})
	}
	return may
}

// timestampMayMatch is false when all entries are newer than the read's
// timestamp.
func (t *BlockBasedTable) timestampMayMatch(ro *rocksdb.ReadOptions) bool {
	if len(ro.Timestamp) == 0 || len(t.minTimestamp) == 0 {
		return true
	}
	monitoring.RecordTick(t.ioptions.Stats, rocksdb.TimestampFilterTableChecked, 1)
	if t.icmp.UserComparator().CompareTimestamp(ro.Timestamp, t.minTimestamp) < 0 {
		monitoring.RecordTick(t.ioptions.Stats, rocksdb.TimestampFilterTableFiltered, 1)
		return false
	}
	return true
}

// Get implements table.TableReader.
func (t *BlockBasedTable) Get(ro *rocksdb.ReadOptions, key []byte, gc *table.GetContext, prefixExtractor rocksdb.SliceTransform, skipFilters bool) error {
	if !t.timestampMayMatch(ro) {
		return nil
	}
	s := getScratch()
	s.rc = readContext{ro: ro, gc: gc}
	t.beginTrace(&s.rc, rocksdb.CallerUserGet, gc, key)
	if t.immortal {
		s.mapped = t.file
	}
	filtered := !skipFilters && t.filter != nil
	syncpoint.Process("BlockBasedTable::Get:BeforeFilterMatch")
	may := !filtered || t.filterMayMatchKey(&s.rc, key, prefixExtractor)
	syncpoint.Process("BlockBasedTable::Get:AfterFilterMatch")
	if !may {
		putScratch(s)
		return nil
	}
	// A hash index helps only with the extractor it was made with.
	totalOrder := ro.TotalOrderSeek || t.indexType == rocksdb.HashSearch && t.prefixExtractorChanged(prefixExtractor)
	it := t.newIndexIterator(&s.rc, totalOrder, &s.index)
	matched, err := t.get(s, it, key, gc, skipFilters)
	if filtered && matched {
		t.countTruePositive(ro)
	}
	if err == nil {
		if err = it.Status(); rocksdb.IsNotFound(err) {
			err = nil // the prefix is not in the file
		}
	}
	_ = it.Close() // its status was looked at
	s.data.Invalidate(nil)
	putScratch(s)
	if rocksdb.IsIncomplete(err) && ro.ReadTier == rocksdb.BlockCacheTier {
		gc.MarkKeyMayExist()
	}
	return err
}

func (t *BlockBasedTable) countTruePositive(ro *rocksdb.ReadOptions) {
	tick := rocksdb.BloomFilterFullTruePositive
	if !t.wholeKeyFiltering {
		tick = rocksdb.BloomFilterPrefixTruePositive
	}
	monitoring.RecordTick(t.ioptions.Stats, tick, 1)
	if perf := ro.PerfContext; perf.CountEnabled() {
		t.perfLevel(perf, func(l *rocksdb.PerfContextByLevel) { l.BloomFilterFullTruePositive++ })
	}
}

// get feeds the entries at and after key to gc until that is satisfied.
func (t *BlockBasedTable) get(s *lookupScratch, it internaliter.InternalIndexIterator, key []byte, gc *table.GetContext, skipFilters bool) (matched bool, err error) {
	for it.Seek(key); it.Valid(); it.Next() {
		v := it.Value()
		if len(v.FirstInternalKey) >= dbformat.NumInternalBytes && !skipFilters &&
			t.icmp.CompareWithoutTimestamp(dbformat.ExtractUserKey(key), dbformat.ExtractUserKey(v.FirstInternalKey)) < 0 {
			// The key would lie between the block before and this one.
			return matched, nil
		}
		t.newDataBlockIterator(&s.rc, v.Handle, block.TypeData, &s.data)
		if err := s.data.Status(); err != nil {
			return matched, err
		}
		done, m, err := t.getFromBlock(s, key, gc)
		matched = matched || m
		if point := s.rc.point; point != nil {
			t.traceFound(point, key, done && m && gc.State() == table.GetFound, &s.data)
		}
		if err != nil || done {
			return matched, t.located(err, v.Handle)
		}
	}
	return matched, nil
}

func (t *BlockBasedTable) getFromBlock(s *lookupScratch, key []byte, gc *table.GetContext) (done, matched bool, err error) {
	if t.blobs == nil {
		return t.saveValues(s, key, gc)
	}
	s.embedded.begin(t, s.rc.ro, gc)
	done, matched, err = t.saveValues(s, key, gc)
	s.embedded.end(gc)
	return done, matched, err
}

// saveValues hands the block's entries at and after key to gc.
func (t *BlockBasedTable) saveValues(s *lookupScratch, key []byte, gc *table.GetContext) (done, matched bool, err error) {
	d := &s.data
	// With timestamps the hash index alone does not decide.
	if !d.SeekForGet(key) && t.icmp.TimestampSize() == 0 {
		return true, false, nil
	}
	for ; d.Valid(); d.Next() {
		ikey := d.Key()
		n := len(ikey) - dbformat.NumInternalBytes
		p := &s.parsed
		p.UserKey = ikey[:n]
		p.Sequence, p.Type = dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(ikey))
		if !dbformat.IsExtendedValueType(p.Type) {
			_, err := dbformat.ParseInternalKey(ikey, t.ioptions.AllowDataInErrors)
			return true, matched, err
		}
		value, pinner := d.Value(), table.ValuePinner(s)
		if t.blobs != nil {
			if value, pinner, err = s.embedded.resolve(p, value, s); err != nil {
				return true, matched, err
			}
		}
		more, m, err := gc.SaveValue(p, value, pinner)
		matched = matched || m
		if err != nil || !more {
			return true, matched, err
		}
	}
	return false, matched, d.Status()
}

// filterMayMatchKeys is upstream's BlockBasedTable::MultiGetFilter.
func (t *BlockBasedTable) filterMayMatchKeys(rc *readContext, r *table.MultiGetRange, prefixExtractor rocksdb.SliceTransform) {
	before := uint64(r.KeysLeft())
	stats := t.ioptions.Stats
	useful := rocksdb.BloomFilterUseful
	switch {
	case t.wholeKeyFiltering:
		t.filter.rangeMayMatch(rc, r, nil)
		monitoring.RecordTick(stats, rocksdb.BloomFilterFullPositive, uint64(r.KeysLeft()))
	case !t.prefixExtractorChanged(prefixExtractor):
		t.filter.rangeMayMatch(rc, r, prefixExtractor)
		monitoring.RecordTick(stats, rocksdb.BloomFilterPrefixChecked, before)
		useful = rocksdb.BloomFilterPrefixUseful
	default:
		return
	}
	after := uint64(r.KeysLeft())
	monitoring.RecordTick(stats, useful, before-after)
	if perf := rc.ro.PerfContext; perf.CountEnabled() {
		t.perfLevel(perf, func(l *rocksdb.PerfContextByLevel) {
			l.BloomFilterFullPositive += after
			l.BloomFilterUseful += before - after
		})
	}
}
