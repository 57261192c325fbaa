// Port of db/version_set.cc and db/version_set_sync_and_async.h,
// Version::MultiGet. Differs: within a level keys are grouped by the file they
// fall in, instead of by a second file picker; blobs are read one by one.

package db

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// noFile is a key's position when it has no more file on the level.
const noFile = -1

// multiGet is the state of one batch lookup.
type multiGet struct {
	v        *Version
	ro       *rocksdb.ReadOptions
	r        *table.MultiGetRange
	contexts [table.MaxBatchSize]table.GetContext
	params   table.GetContextParams
	pinned   internaliter.PinnedIteratorsManager
	blob     versionBlobFetcher
	opts     tablecache.OpenOptions

	// Of each key: its file on the present level, and where to search on the
	// next one.
	file        [table.MaxBatchSize]int
	left, right [table.MaxBatchSize]int32

	levelFilterReads, levelIndexReads, levelSSTReads uint64
	levelsRead                                       uint64
}

var multiGets = sync.Pool{New: func() any { return new(multiGet) }}

// MultiGet looks all keys of r up. The outcome is in each key's Err; keys that
// are MergeInProgress go on from their merge context. Every key is marked done.
func (v *Version) MultiGet(ro *rocksdb.ReadOptions, r *table.MultiGetRange, callback dbformat.ReadCallback) {
	m := multiGets.Get().(*multiGet)
	m.v, m.ro, m.r = v, ro, r
	m.run(callback)
	for i := r.Start(); i < r.End(); i++ {
		m.contexts[i].Reset()
	}
	_ = m.pinned.ReleasePinnedData()
	m.v, m.ro, m.r, m.params, m.blob = nil, nil, nil, table.GetContextParams{}, versionBlobFetcher{}
	multiGets.Put(m)
}

func (m *multiGet) run(callback dbformat.ReadCallback) {
	m.initContexts(callback)
	m.opts = tablecache.OpenOptions{}
	m.levelsRead = 0
	var err error
	storage := m.v.storage
	for level := 0; level < storage.NumNonEmptyLevels() && err == nil && !m.r.Empty(); level++ {
		m.levelFilterReads, m.levelIndexReads, m.levelSSTReads = 0, 0, 0
		if level == 0 {
			err = m.level0()
		} else {
			err = m.sortedLevel(level)
		}
		m.reportLevel()
	}
	if m.levelsRead > 0 {
		monitoring.RecordInHistogram(m.v.cfd.IOptions().Stats, rocksdb.HistNumLevelReadPerMultiget, m.levelsRead)
	}
	m.finish(err)
}

func (m *multiGet) initContexts(callback dbformat.ReadCallback) {
	io := m.v.cfd.IOptions()
	m.blob = versionBlobFetcher{m.v, m.ro}
	if io.MergeOperator != nil {
		m.pinned.StartPinning()
	}
	for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
		k := m.r.Key(i)
		m.params = table.GetContextParams{
			Comparator: m.v.storage.InternalComparator(), MergeOperator: io.MergeOperator, Logger: io.Logger,
			Statistics: io.Stats, Clock: io.Clock, PerfContext: m.ro.PerfContext, InitState: table.GetNotFound,
			UserKey: k.UKeyWithTS, Value: k.Value, Columns: k.Columns, Timestamp: k.Timestamp,
			MergeContext: &k.MergeContext, DoMerge: true, MaxCoveringTombstoneSeq: &k.MaxCoveringTombstoneSeq,
			Callback: callback, IsBlobIndex: &k.IsBlobIndex, BlobFetcher: &m.blob,
		}
		if *k.Err != nil { // MergeInProgress: the state has it from here on
			m.params.InitState = table.GetMerge
			*k.Err = nil
		}
		if io.MergeOperator != nil {
			m.params.PinnedIters = &m.pinned
		}
		k.GetContext = &m.contexts[i]
		k.GetContext.Init(&m.params)
		m.left[i], m.right[i] = 0, version.LevelMaxIndex
	}
}

// level0 looks into each file, newest first, for the keys within its bounds.
// With few files and no other level filters do as well as comparing keys.
func (m *multiGet) level0() error {
	b := m.v.storage.LevelFilesBrief(0)
	filterByRange := m.v.storage.NumNonEmptyLevels() > 1 || len(b.Files) > 3
	icmp := m.v.storage.InternalComparator()
	for at := range b.Files {
		f := &b.Files[at]
		keys := *m.r
		for i := keys.First(); i < keys.End(); i = keys.NextIndex(i) {
			k := keys.Key(i)
			if k.MaxCoveringTombstoneSeq > 0 ||
				filterByRange && (icmp.CompareWithoutTimestamp(k.UKeyWithTS, dbformat.ExtractUserKey(f.SmallestKey)) < 0 ||
					icmp.CompareWithoutTimestamp(k.UKeyWithTS, dbformat.ExtractUserKey(f.LargestKey)) > 0) {
				keys.SkipIndex(i)
			}
		}
		if keys.Empty() {
			continue
		}
		if err := m.fromTable(f, 0, at == len(b.Files)-1, &keys); err != nil {
			return err
		}
	}
	return nil
}

// sortedLevel finds each key's first file, then looks into file after file. A
// key that a file ends with may go on in the next one.
func (m *multiGet) sortedLevel(level int) error {
	b := m.v.storage.LevelFilesBrief(level)
	icmp := m.v.storage.InternalComparator()
	for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
		k := m.r.Key(i)
		m.file[i] = noFile
		if len(b.Files) > 0 && k.MaxCoveringTombstoneSeq == 0 {
			if start, ok := searchBounds(icmp, b, k.IKey, m.left[i], m.right[i]); ok {
				m.file[i] = start
			}
		}
		m.left[i], m.right[i] = 0, version.LevelMaxIndex
	}
	for {
		at := m.lowestFile()
		if at == noFile {
			return nil
		}
		f := &b.Files[at]
		keys := *m.r
		for i := keys.First(); i < keys.End(); i = keys.NextIndex(i) {
			if m.file[i] != at || !m.enterFile(level, at, f, i, icmp) {
				keys.SkipIndex(i)
			}
		}
		if keys.Empty() {
			continue
		}
		if err := m.fromTable(f, level, at == len(b.Files)-1, &keys); err != nil {
			return err
		}
		for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
			if m.file[i] >= len(b.Files) || m.r.Key(i).MaxCoveringTombstoneSeq > 0 {
				m.file[i] = noFile
			}
		}
	}
}

// enterFile tells whether key i is within the file. It moves the key on: to
// the next file, or off the level.
func (m *multiGet) enterFile(level, at int, f *version.FdWithKeyRange, i int, icmp *dbformat.InternalKeyComparator) bool {
	userKey := m.r.Key(i).UKeyWithTS
	cmpLargest := -1
	cmpSmallest := icmp.CompareWithoutTimestamp(userKey, dbformat.ExtractUserKey(f.SmallestKey))
	if cmpSmallest >= 0 {
		cmpLargest = icmp.CompareWithoutTimestamp(userKey, dbformat.ExtractUserKey(f.LargestKey))
	}
	m.left[i], m.right[i] = m.v.storage.FileIndexer().GetNextLevelIndex(level, at, cmpSmallest, cmpLargest)
	m.file[i] = noFile
	if cmpSmallest < 0 || cmpLargest > 0 {
		return false
	}
	if cmpLargest == 0 {
		m.file[i] = at + 1
	}
	return true
}

func (m *multiGet) lowestFile() int {
	lowest := noFile
	for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
		if f := m.file[i]; f != noFile && (lowest == noFile || f < lowest) {
			lowest = f
		}
	}
	return lowest
}

// fromTable looks keys up in one table and settles those it ends.
func (m *multiGet) fromTable(f *version.FdWithKeyRange, level int, last bool, keys *table.MultiGetRange) error {
	v := m.v
	m.opts.Level = level
	m.opts.SkipFilters = v.isFilterSkipped(level, last)
	m.opts.FileReadHist = v.cfd.InternalStats().GetFileReadHist(level)
	byLevel := m.ro.PerfContext.AtLevel(level)
	var timer monitoring.PerfStepTimer
	if byLevel != nil && m.ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&byLevel.GetFromTableNanos, v.vset.clock)
	}
	err := v.cfd.TableCache().MultiGet(m.ro, f.FileMetadata, keys, v.mutableCFOptions, false, tablecache.Handle{}, &m.opts)
	timer.Stop()
	if err != nil {
		for i := keys.First(); i < keys.End(); i = keys.NextIndex(i) {
			*keys.Key(i).Err = err
			keys.MarkKeyDone(i)
		}
		return err
	}
	for i := keys.First(); i < keys.End(); i = keys.NextIndex(i) {
		k := keys.Key(i)
		if *k.Err != nil {
			keys.MarkKeyDone(i)
			continue
		}
		m.settle(f, level, keys, i, k)
		if keys.GetValueSize() > m.ro.ValueSizeSoftLimit {
			return rocksdb.Aborted()
		}
	}
	return nil
}

func (m *multiGet) settle(f *version.FdWithKeyRange, level int, keys *table.MultiGetRange, i int, k *table.KeyContext) {
	gc := k.GetContext
	state := gc.State()
	if gc.Sample() {
		monitoring.SampleFileReadInc(&f.FileMetadata.Stats)
		if state == table.GetNotFound || state == table.GetMerge || state == table.GetDeleted {
			monitoring.SampleCollapsibleEntryFileReadInc(&f.FileMetadata.Stats)
		}
	}
	m.levelIndexReads += gc.Stats.NumIndexRead
	m.levelFilterReads += gc.Stats.NumFilterRead
	m.levelSSTReads += gc.Stats.NumSstRead
	gc.Stats.NumIndexRead, gc.Stats.NumFilterRead, gc.Stats.NumSstRead = 0, 0, 0
	if state == table.GetNotFound || state == table.GetMerge {
		return
	}
	gc.ReportCounters()
	keys.MarkKeyDone(i)
	switch state {
	case table.GetFound:
		m.v.countHit(m.ro, level)
		if k.IsBlobIndex {
			*k.Err = m.v.resolveBlobIndex(m.ro, gc.UserKeyToGetBlobValue(), k.Value, k.Columns)
			if rocksdb.IsIncomplete(*k.Err) {
				gc.MarkKeyMayExist()
			}
			k.IsBlobIndex = *k.Err != nil
		}
		m.countValue(k)
	case table.GetDeleted:
		*k.Err = rocksdb.ErrNotFound
	default:
		*k.Err = m.v.lookupError(state, k.LKey.UserKey())
	}
}

func (m *multiGet) countValue(k *table.KeyContext) {
	if k.Value != nil {
		m.r.AddValueSize(uint64(k.Value.Size()))
	} else if k.Columns != nil {
		m.r.AddValueSize(uint64(k.Columns.PayloadSize()))
	}
}

func (m *multiGet) reportLevel() {
	stats := m.v.cfd.IOptions().Stats
	if n := m.levelFilterReads + m.levelIndexReads; n > 0 {
		monitoring.RecordInHistogram(stats, rocksdb.HistNumIndexAndFilterBlocksReadPerLevel, n)
	}
	if m.levelSSTReads > 0 {
		monitoring.RecordInHistogram(stats, rocksdb.HistNumSSTReadPerLevel, m.levelSSTReads)
		m.levelsRead++
	}
}

// finish settles the keys that no table ended: a merge without a base, or not
// found. Those that an error cut short get it.
func (m *multiGet) finish(err error) {
	op := m.v.cfd.IOptions().MergeOperator
	for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
		k := m.r.Key(i)
		m.r.MarkKeyDone(i)
		if err != nil {
			*k.Err = err
			continue
		}
		k.GetContext.ReportCounters()
		switch {
		case k.GetContext.State() != table.GetMerge:
			*k.Err = rocksdb.ErrNotFound
		case op == nil:
			*k.Err = rocksdb.InvalidArgument("merge_operator is not properly initialized.")
		default:
			*k.Err = mergeWithoutBase(op, k.LKey.UserKey(), &k.MergeContext, k.Value, k.Columns, m.v, m.ro)
			m.countValue(k)
			if m.r.GetValueSize() > m.ro.ValueSizeSoftLimit {
				err = rocksdb.Aborted()
			}
		}
	}
}
