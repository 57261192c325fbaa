// Port of db/version_set.cc and db/version_set_sync_and_async.h,
// Version::MultiGet. Differs: each key has a picker of its own, and keys that are
// at the same file are looked up together; one state machine instead of
// coroutines for asynchronous reads.

package db

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// MultiGet is the state of one batch lookup, from Version.BeginMultiGet to Finish,
// which has to be called, once; the keys are MultiGet's until then. Each key goes over the files that
// may hold it by a picker of its own; keys at the same file are looked up
// together, files in the order of their age. With ReadOptions.AsyncIO a table
// whose blocks are still to be read is left waiting, and its keys with it, while
// the other keys go on, to other files of the level and to deeper levels; when
// no key can go on, all those reads are under way at once.
// Upstream: FilePickerMultiGet.
type MultiGet struct {
	v        *Version
	ro       *rocksdb.ReadOptions
	r        *table.MultiGetRange
	contexts [table.MaxBatchSize]table.GetContext
	params   table.GetContextParams
	pinned   internaliter.PinnedIteratorsManager
	blob     versionBlobFetcher
	opts     tablecache.OpenOptions

	// Of each key: its picker and the file it is at, nil after the last one.
	pickers [table.MaxBatchSize]filePicker
	file    [table.MaxBatchSize]*version.FdWithKeyRange
	waiting table.MultiGetMask // keys of tables in pending
	blobs   []blobLookup       // keys whose values are in blob files

	tables  [table.MaxBatchSize]tableLookup
	pending int // of tables
	levels  []levelReads
}

// tableLookup is the lookup of some keys in one table.
type tableLookup struct {
	file  *version.FdWithKeyRange
	level int
	// keys are those that came to the file; inTable is the table's own copy.
	keys, inTable table.MultiGetRange
	lookup        tablecache.PendingMultiGet
}

// blobLookup is a key whose value is in a blob file.
// Upstream: BlobReadContext.
type blobLookup struct {
	key    *table.KeyContext
	index  blobformat.BlobIndex
	req    blob.BlobReadRequest
	result rocksdb.PinnableSlice
}

// levelReads counts what was read from a level's files.
type levelReads struct{ filter, index, sst uint64 }

var multiGets = sync.Pool{New: func() any { return new(MultiGet) }}

// MultiGet looks all keys of r up. The outcome is in each key's Err; keys that
// are MergeInProgress go on from their merge context. Every key is marked done.
func (v *Version) MultiGet(ro *rocksdb.ReadOptions, r *table.MultiGetRange, callback dbformat.ReadCallback) {
	if m := v.BeginMultiGet(ro, r, callback); m != nil {
		m.Finish()
	}
}

// BeginMultiGet is MultiGet up to where it would wait for asynchronous reads; nil
// when it is through. Other batches may begin before it is finished.
func (v *Version) BeginMultiGet(ro *rocksdb.ReadOptions, r *table.MultiGetRange, callback dbformat.ReadCallback) *MultiGet {
	m := multiGets.Get().(*MultiGet)
	m.v, m.ro, m.r = v, ro, r
	m.initContexts(callback)
	m.opts = tablecache.OpenOptions{MaxFileSizeForL0MetaPin: v.maxFileSizeForL0MetaPin}
	n := v.storage.NumNonEmptyLevels()
	if cap(m.levels) < n {
		m.levels = make([]levelReads, n)
	}
	m.levels = m.levels[:n]
	clear(m.levels)
	m.waiting, m.pending = 0, 0
	err := m.beginAll()
	if err == nil && m.pending > 0 {
		return m
	}
	m.end(err)
	return nil
}

// Finish waits for the reads and goes on until every key is done.
func (m *MultiGet) Finish() {
	var err error
	for err == nil && m.pending > 0 {
		if err = m.finishPending(); err == nil {
			err = m.beginAll()
		}
	}
	m.end(err)
}

// beginAll looks keys up in their files until none is left that may go on before
// pending reads are done.
// Upstream: Version::ProcessBatch, Version::MultiGetAsync.
func (m *MultiGet) beginAll() error {
	for {
		first := m.nextKey()
		if first < 0 || !m.mayBegin(first) {
			return nil
		}
		if err := m.begin(first); err != nil {
			return err
		}
	}
}

// end settles what is left after the last read or an error, and gives m back.
func (m *MultiGet) end(err error) {
	for _, t := range m.tables[:m.pending] {
		t.lookup.Abandon()
	}
	m.pending, m.waiting = 0, 0
	m.report()
	m.readBlobs()
	m.finish(err)
	for i := m.r.Start(); i < m.r.End(); i++ {
		m.contexts[i].Reset()
		m.pickers[i], m.file[i] = filePicker{}, nil
	}
	_ = m.pinned.ReleasePinnedData()
	m.v, m.ro, m.r, m.params, m.blob = nil, nil, nil, table.GetContextParams{}, versionBlobFetcher{}
	multiGets.Put(m)
}

func (m *MultiGet) initContexts(callback dbformat.ReadCallback) {
	io := m.v.cfd.IOptions()
	m.blob = versionBlobFetcher{m.v, m.ro}
	if io.MergeOperator != nil {
		m.pinned.StartPinning()
	}
	tracingID := m.v.vset.cfs.blockCacheTracer.NextGetID()
	for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
		k := m.r.Key(i)
		m.params = table.GetContextParams{
			Comparator: m.v.storage.InternalComparator(), MergeOperator: io.MergeOperator, Logger: io.Logger,
			Statistics: io.Stats, Clock: io.Clock, PerfContext: m.ro.PerfContext, InitState: table.GetNotFound,
			UserKey: k.UKeyWithTS, Value: k.Value, Columns: k.Columns, Timestamp: k.Timestamp,
			MergeContext: &k.MergeContext, DoMerge: true, MaxCoveringTombstoneSeq: &k.MaxCoveringTombstoneSeq,
			Callback: callback, IsBlobIndex: &k.IsBlobIndex, BlobFetcher: &m.blob, TracingGetID: tracingID,
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
		m.pickers[i].init(m.v.storage, k.UKeyWithTS, k.IKey, m.ro.PerfContext)
		m.advance(i)
	}
}

// advance moves key i on to the next file that may hold it. What is older than
// a range tombstone over the key does not matter.
// Upstream: FilePickerMultiGet::PrepareNextLevelForSearch,
// FilePickerMultiGet::GetNextFileInLevel.
func (m *MultiGet) advance(i int) {
	m.file[i] = nil
	if m.r.Key(i).MaxCoveringTombstoneSeq == 0 {
		m.file[i] = m.pickers[i].next()
	}
}

// nextKey is the first key at the first file that any key is at and that does
// not wait, -1 when there is none.
// Upstream: FilePickerMultiGet::GetNextFileInLevelWithKeys.
func (m *MultiGet) nextKey() int {
	first := -1
	for i := m.r.First(); i < m.r.End(); i = m.r.NextIndex(i) {
		if m.file[i] == nil || m.waiting>>uint(i)&1 != 0 {
			continue
		}
		if first < 0 || m.pickers[i].hitBefore(&m.pickers[first]) {
			first = i
		}
	}
	return first
}

// mayBegin tells whether the file that key i is at may be read along with those
// that are being read. Without ReadOptions.OptimizeMultigetForIO only files of
// one level are, and of level 0 one file.
func (m *MultiGet) mayBegin(i int) bool {
	if m.pending == 0 || m.ro.OptimizeMultigetForIO {
		return true
	}
	level := m.pickers[i].hitLevel
	return level > 0 && level == m.tables[m.pending-1].level
}

// begin looks up key first, and those with it, in their file.
// Upstream: Version::MultiGetFromSST.
func (m *MultiGet) begin(first int) error {
	v := m.v
	t := &m.tables[m.pending]
	t.file, t.level = m.file[first], m.pickers[first].hitLevel
	t.keys = *m.r
	for i := t.keys.First(); i < t.keys.End(); i = t.keys.NextIndex(i) {
		if m.file[i] != t.file || m.waiting>>uint(i)&1 != 0 {
			t.keys.SkipIndex(i)
		}
	}
	t.inTable = t.keys
	m.opts.Level = t.level
	m.opts.SkipFilters = v.isFilterSkipped(t.level, m.pickers[first].hitLastInLevel)
	m.opts.FileReadHist = v.cfd.InternalStats().GetFileReadHist(t.level)
	timer := m.startTimer(t.level)
	lookup, err := v.cfd.TableCache().BeginMultiGet(m.ro, t.file.FileMetadata, &t.inTable, v.mutableCFOptions, false, &m.opts)
	timer.Stop()
	if err != nil {
		for i := t.keys.First(); i < t.keys.End(); i = t.keys.NextIndex(i) {
			*t.keys.Key(i).Err = err
			t.keys.MarkKeyDone(i)
		}
		if rocksdb.CodeOf(err) == rocksdb.CodeTimedOut {
			return err // all keys share the deadline
		}
		return nil // other keys have other tables
	}
	if !lookup.IsZero() {
		t.lookup = lookup
		m.waiting |= t.keys.Remaining()
		m.pending++
		return nil
	}
	return m.settleAll(t)
}

func (m *MultiGet) startTimer(level int) (timer monitoring.PerfStepTimer) {
	if byLevel := m.ro.PerfContext.AtLevel(level); byLevel != nil && m.ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&byLevel.GetFromTableNanos, m.v.vset.clock)
	}
	return timer
}

// finishPending waits for the tables that were begun, the oldest first, and
// settles their keys.
func (m *MultiGet) finishPending() error {
	if stats := m.v.cfd.IOptions().Stats; stats != nil {
		reads := 0
		for n := range m.tables[:m.pending] {
			reads += m.tables[n].lookup.NumReads()
		}
		monitoring.RecordInHistogram(stats, rocksdb.HistMultigetIOBatchSize, uint64(reads))
		// Upstream has a coroutine for each of the tables.
		monitoring.RecordTick(stats, rocksdb.MultigetCoroutineCount, uint64(m.pending))
	}
	for n := range m.tables[:m.pending] {
		t := &m.tables[n]
		timer := m.startTimer(t.level)
		t.lookup.Finish()
		timer.Stop()
		m.waiting &^= t.keys.Remaining()
		if err := m.settleAll(t); err != nil {
			for _, left := range m.tables[n+1 : m.pending] {
				left.lookup.Abandon()
			}
			m.pending = 0
			return err
		}
	}
	m.pending = 0
	return nil
}

// settleAll settles the keys that the table ended and moves the others on.
func (m *MultiGet) settleAll(t *tableLookup) error {
	t.lookup = tablecache.PendingMultiGet{}
	looked := uint64(0)
	for i := t.keys.First(); i < t.keys.End(); i = t.keys.NextIndex(i) {
		k := t.keys.Key(i)
		if *k.Err != nil {
			t.keys.MarkKeyDone(i)
			continue
		}
		looked++
		if m.settle(t, i, k); !t.keys.CheckKeyDone(i) {
			m.advance(i)
		}
		if t.keys.GetValueSize() > m.ro.ValueSizeSoftLimit {
			return rocksdb.Aborted()
		}
	}
	monitoring.RecordInHistogram(m.v.cfd.IOptions().Stats, rocksdb.HistSSTBatchSize, looked)
	return nil
}

func (m *MultiGet) settle(t *tableLookup, i int, k *table.KeyContext) {
	gc := k.GetContext
	state := gc.State()
	if gc.Sample() {
		monitoring.SampleFileReadInc(&t.file.FileMetadata.Stats)
		if state == table.GetNotFound || state == table.GetMerge || state == table.GetDeleted {
			monitoring.SampleCollapsibleEntryFileReadInc(&t.file.FileMetadata.Stats)
		}
	}
	reads := &m.levels[t.level]
	reads.index += gc.Stats.NumIndexRead
	reads.filter += gc.Stats.NumFilterRead
	reads.sst += gc.Stats.NumSstRead
	gc.Stats.NumIndexRead, gc.Stats.NumFilterRead, gc.Stats.NumSstRead = 0, 0, 0
	if state == table.GetNotFound || state == table.GetMerge {
		return
	}
	gc.ReportCounters()
	t.keys.MarkKeyDone(i)
	switch state {
	case table.GetFound:
		m.v.countHit(m.ro, t.level)
		if k.IsBlobIndex {
			*k.Err = m.addBlob(k)
			return
		}
		m.countValue(k)
	case table.GetDeleted:
		*k.Err = rocksdb.ErrNotFound
	default:
		*k.Err = m.v.lookupError(state, k.LKey.UserKey())
	}
}

// addBlob notes that k has a blob index, to be replaced by the blob when all keys
// have been looked up.
func (m *MultiGet) addBlob(k *table.KeyContext) error {
	syncpoint.ProcessArg("Version::MultiGet::TamperWithBlobIndex", k)
	l := blobLookup{key: k}
	if err := l.index.DecodeFrom(encodedBlobIndex(k.Value, k.Columns)); err != nil {
		return err
	}
	m.blobs = append(m.blobs, l)
	return nil
}

// readBlobs reads the values that are in blob files, those of one file at once.
// Upstream: Version::MultiGetBlob.
func (m *MultiGet) readBlobs() {
	if len(m.blobs) == 0 {
		return
	}
	slices.SortStableFunc(m.blobs, func(a, b blobLookup) int { return cmp.Compare(a.index.FileNumber, b.index.FileNumber) })
	var files []blob.BlobFileReadRequests
	for i := range m.blobs {
		l := &m.blobs[i]
		if *l.key.Err = m.v.checkBlobIndex(&l.index); *l.key.Err != nil {
			continue
		}
		l.req = blob.BlobReadRequest{UserKey: l.key.GetContext.UserKeyToGetBlobValue(), Offset: l.index.Offset, Size: l.index.Size,
			Compression: l.index.Compression, Result: &l.result}
		if n := len(files); n == 0 || files[n-1].FileNumber != l.index.FileNumber {
			files = append(files, blob.BlobFileReadRequests{FileNumber: l.index.FileNumber})
		}
		f := &files[len(files)-1]
		f.Requests = append(f.Requests, &l.req)
	}
	m.v.blobs.MultiGetBlob(m.ro, files)
	for i := range m.blobs {
		l := &m.blobs[i]
		if *l.key.Err == nil {
			*l.key.Err = l.req.Err
		}
		m.takeBlob(l)
	}
	clear(m.blobs)
	m.blobs = m.blobs[:0]
}

// takeBlob makes the blob its key's value.
func (m *MultiGet) takeBlob(l *blobLookup) {
	k := l.key
	if *k.Err != nil {
		if rocksdb.IsIncomplete(*k.Err) {
			k.GetContext.MarkKeyMayExist()
		}
		return
	}
	replaceBlobIndex(&l.result, k.Value, k.Columns)
	k.IsBlobIndex = false
	if m.countValue(k); m.r.GetValueSize() > m.ro.ValueSizeSoftLimit {
		m.takeBack(k)
	}
}

// takeBack keeps a blob that goes beyond the limit from the caller.
func (m *MultiGet) takeBack(k *table.KeyContext) {
	*k.Err = rocksdb.Aborted()
	if k.Value != nil {
		k.Value.Release()
		*k.Value = rocksdb.PinnableSlice{}
	} else {
		k.Columns.Reset()
	}
}

func (m *MultiGet) countValue(k *table.KeyContext) {
	if k.Value != nil {
		m.r.AddValueSize(uint64(k.Value.Size()))
	} else if k.Columns != nil {
		m.r.AddValueSize(uint64(k.Columns.PayloadSize()))
	}
}

func (m *MultiGet) report() {
	stats := m.v.cfd.IOptions().Stats
	levelsRead := uint64(0)
	for i := range m.levels {
		l := &m.levels[i]
		if n := l.filter + l.index; n > 0 {
			monitoring.RecordInHistogram(stats, rocksdb.HistNumIndexAndFilterBlocksReadPerLevel, n)
		}
		if l.sst > 0 {
			monitoring.RecordInHistogram(stats, rocksdb.HistNumSSTReadPerLevel, l.sst)
			levelsRead++
		}
	}
	if levelsRead > 0 {
		monitoring.RecordInHistogram(stats, rocksdb.HistNumLevelReadPerMultiget, levelsRead)
	}
}

// finish settles the keys that no table ended: a merge without a base, or not
// found. Those that an error cut short get it.
func (m *MultiGet) finish(err error) {
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
