// Port of db/version_set.cc and db/version_set_sync_and_async.h, the point
// lookups. MultiGet is in version_set_multiget.go.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// filePicker goes over the files that may hold a key, newest data first. On a
// level above 0 how the key compares with one file narrows the search in the
// next level.
type filePicker struct {
	storage       *version.StorageInfo
	icmp          *dbformat.InternalKeyComparator
	userKey, ikey []byte
	brief         *version.LevelFilesBrief
	numLevels     int
	level         int
	index         int
	left, right   int32 // of the next level's search, both included
	ended         bool
	perf          *rocksdb.PerfContext

	hitLevel       int
	hitIndex       int
	hitLastInLevel bool
}

// hitBefore tells whether the file that next gave last comes before o's.
func (p *filePicker) hitBefore(o *filePicker) bool {
	return p.hitLevel < o.hitLevel || p.hitLevel == o.hitLevel && p.hitIndex < o.hitIndex
}

func (p *filePicker) init(s *version.StorageInfo, userKey, ikey []byte, perf *rocksdb.PerfContext) {
	*p = filePicker{storage: s, icmp: s.InternalComparator(), userKey: userKey, ikey: ikey, perf: perf,
		numLevels: s.NumNonEmptyLevels(), level: -1, right: version.LevelMaxIndex}
	p.ended = !p.prepareNextLevel()
	if !p.ended && p.level == 0 {
		for i := range p.brief.Files {
			if r := p.brief.Files[i].FD().PinnedReader(); r != nil {
				r.Prepare(ikey)
			}
		}
	}
}

// next gives the next file, nil at the end.
func (p *filePicker) next() *version.FdWithKeyRange {
	for !p.ended {
		for p.index < len(p.brief.Files) {
			f := &p.brief.Files[p.index]
			p.hitLevel, p.hitIndex = p.level, p.index
			p.hitLastInLevel = p.index == len(p.brief.Files)-1
			cmpLargest := -1
			// Three files or fewer in all: looking into them is no more work
			// than comparing.
			if p.numLevels > 1 || len(p.brief.Files) > 3 {
				cmpSmallest := p.icmp.CompareWithoutTimestamp(p.userKey, dbformat.ExtractUserKey(f.SmallestKey))
				if cmpSmallest >= 0 {
					cmpLargest = p.icmp.CompareWithoutTimestamp(p.userKey, dbformat.ExtractUserKey(f.LargestKey))
				}
				if p.level > 0 {
					p.left, p.right = p.storage.FileIndexer().GetNextLevelIndex(p.level, p.index, cmpSmallest, cmpLargest)
				}
				if cmpSmallest < 0 || cmpLargest > 0 {
					if p.level == 0 {
						p.index++
						continue
					}
					break
				}
			}
			if p.level > 0 && cmpLargest < 0 {
				// The key ends before the file does: no other file of the level.
				p.ended = !p.prepareNextLevel()
			} else {
				p.index++
			}
			return f
		}
		p.ended = !p.prepareNextLevel()
	}
	return nil
}

// prepareNextLevel finds the first candidate of the next level that has one.
func (p *filePicker) prepareNextLevel() bool {
	for p.level++; p.level < p.numLevels; p.level++ {
		p.brief = p.storage.LevelFilesBrief(p.level)
		if n := len(p.brief.Files); n > 0 {
			if p.level == 0 {
				p.index = 0
				return true
			}
			if start, ok := searchBounds(p.icmp, p.brief, p.ikey, p.left, p.right, p.perf); ok {
				p.index = start
				return true
			}
		}
		p.left, p.right = 0, version.LevelMaxIndex
	}
	return false
}

// searchBounds finds the first file of left … right whose largest key is not
// below ikey. The bounds come of user keys, so that ikey may still lie behind.
func searchBounds(icmp *dbformat.InternalKeyComparator, b *version.LevelFilesBrief, ikey []byte, left, right int32, perf *rocksdb.PerfContext) (int, bool) {
	if left > right {
		return 0, false
	}
	if right == version.LevelMaxIndex {
		right = int32(len(b.Files)) - 1
	}
	start := version.FindFileCounting(icmp, b, ikey, int(left), int(right)+1, perf)
	return start, start <= int(right)
}

// PointLookup is one lookup's outputs and scratch space. It may be used again
// for another key; what may be nil is not wanted.
type PointLookup struct {
	Value     *rocksdb.PinnableSlice
	Columns   *rocksdb.PinnableWideColumns
	Timestamp *[]byte
	// MergeContext holds the operands found before, in memtables.
	MergeContext *dbformat.MergeContext
	// MergeInProgress says that there are some.
	MergeInProgress bool
	// MaxCoveringTombstoneSeq is the newest range tombstone seen so far; it is
	// never nil.
	MaxCoveringTombstoneSeq *rocksdb.SequenceNumber
	PinnedIters             *internaliter.PinnedIteratorsManager
	ValueFound              *bool
	KeyExists               *bool
	Seq                     *rocksdb.SequenceNumber
	Callback                dbformat.ReadCallback
	// IsBlob makes a blob index be returned as it is.
	IsBlob *bool
	// DoMerge is false to collect operands only.
	DoMerge       bool
	ContinueMerge func(operand []byte) bool

	gc     table.GetContext
	params table.GetContextParams
	picker filePicker
	blob   versionBlobFetcher
	opts   tablecache.OpenOptions
	// isBlobIndex is where IsBlob points when the caller does not care.
	isBlobIndex bool
}

// Get looks a key up in the version's tables. NotFound has no message.
func (v *Version) Get(ro *rocksdb.ReadOptions, k *dbformat.LookupKey, x *PointLookup) error {
	if x.KeyExists != nil {
		*x.KeyExists = true
	}
	v.initLookup(ro, k, x)
	defer x.gc.Reset()
	io := v.cfd.IOptions()
	x.picker.init(v.storage, k.UserKey(), k.InternalKey(), ro.PerfContext)
	for f := x.picker.next(); f != nil; f = x.picker.next() {
		if *x.MaxCoveringTombstoneSeq > 0 {
			break // older files hold covered entries only
		}
		if x.gc.Sample() {
			monitoring.SampleFileReadInc(&f.FileMetadata.Stats)
		}
		level := x.picker.hitLevel
		x.opts.Level = level
		x.opts.SkipFilters = v.isFilterSkipped(level, x.picker.hitLastInLevel)
		x.opts.FileReadHist = v.cfd.InternalStats().GetFileReadHist(level)
		if err := v.getFromTable(ro, f.FileMetadata, k.InternalKey(), level, x); err != nil {
			x.gc.ReportCounters()
			return err
		}
		state := x.gc.State()
		if state != table.GetNotFound && state != table.GetMerge {
			x.gc.ReportCounters()
		}
		if x.gc.Sample() && (state == table.GetNotFound || state == table.GetMerge || state == table.GetDeleted) {
			monitoring.SampleCollapsibleEntryFileReadInc(&f.FileMetadata.Stats)
		}
		if state != table.GetNotFound && state != table.GetMerge {
			return v.finishGet(ro, k, level, x)
		}
	}
	x.gc.ReportCounters()
	if x.gc.State() != table.GetMerge {
		if x.KeyExists != nil {
			*x.KeyExists = false
		}
		return rocksdb.ErrNotFound
	}
	if !x.DoMerge || x.Value == nil && x.Columns == nil {
		return nil
	}
	if io.MergeOperator == nil {
		return rocksdb.InvalidArgument("merge_operator is not properly initialized.")
	}
	return mergeWithoutBase(io.MergeOperator, k.UserKey(), x.MergeContext, x.Value, x.Columns, v, ro)
}

// mergeWithoutBase applies operands that are all there is of a key.
func mergeWithoutBase(op rocksdb.MergeOperator, userKey []byte, mc *dbformat.MergeContext, value *rocksdb.PinnableSlice,
	columns *rocksdb.PinnableWideColumns, v *Version, ro *rocksdb.ReadOptions) error {
	io := v.cfd.IOptions()
	m := merge.FullMerge{Operator: op, Key: userKey, Base: merge.NoBaseValue, Operands: mc.GetOperands(),
		Logger: io.Logger, Statistics: io.Stats, Clock: io.Clock, PerfContext: ro.PerfContext, UpdateNumOpsStats: true}
	if value == nil {
		return m.ResultEntity(columns)
	}
	result, err := m.ResultValue()
	if err == nil {
		value.PinSelf(result)
	}
	return err
}

func (v *Version) initLookup(ro *rocksdb.ReadOptions, k *dbformat.LookupKey, x *PointLookup) {
	io := v.cfd.IOptions()
	x.blob = versionBlobFetcher{v, ro}
	x.isBlobIndex = false
	p := &x.params
	*p = table.GetContextParams{
		Comparator: v.storage.InternalComparator(), MergeOperator: io.MergeOperator, Logger: io.Logger,
		Statistics: io.Stats, Clock: io.Clock, PerfContext: ro.PerfContext, InitState: table.GetNotFound,
		UserKey: k.UserKey(), ValueFound: x.ValueFound, MergeContext: x.MergeContext, DoMerge: x.DoMerge,
		MaxCoveringTombstoneSeq: x.MaxCoveringTombstoneSeq, Seq: x.Seq, Callback: x.Callback,
		IsBlobIndex: x.IsBlob, BlobFetcher: &x.blob, ContinueMerge: x.ContinueMerge,
		TracingGetID: v.vset.cfs.blockCacheTracer.NextGetID(),
	}
	if x.MergeInProgress {
		p.InitState = table.GetMerge
	}
	if x.DoMerge {
		p.Value, p.Columns, p.Timestamp = x.Value, x.Columns, x.Timestamp
	}
	if p.IsBlobIndex == nil {
		p.IsBlobIndex = &x.isBlobIndex
	}
	if io.MergeOperator != nil && x.PinnedIters != nil {
		p.PinnedIters = x.PinnedIters
		x.PinnedIters.StartPinning() // blocks hold the operands
	}
	x.gc.Init(p)
	x.opts = tablecache.OpenOptions{MaxFileSizeForL0MetaPin: v.maxFileSizeForL0MetaPin}
}

func (v *Version) getFromTable(ro *rocksdb.ReadOptions, f *version.FileMetaData, ikey []byte, level int, x *PointLookup) error {
	byLevel := ro.PerfContext.AtLevel(level)
	if byLevel == nil {
		return v.cfd.TableCache().Get(ro, f, ikey, &x.gc, v.mutableCFOptions, &x.opts)
	}
	var timer monitoring.PerfStepTimer
	if ro.PerfContext.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&byLevel.GetFromTableNanos, v.vset.clock)
	}
	defer timer.Stop()
	return v.cfd.TableCache().Get(ro, f, ikey, &x.gc, v.mutableCFOptions, &x.opts)
}

// finishGet turns a lookup's end into its result.
func (v *Version) finishGet(ro *rocksdb.ReadOptions, k *dbformat.LookupKey, level int, x *PointLookup) error {
	switch x.gc.State() {
	case table.GetFound:
		v.countHit(ro, level)
		if x.isBlobIndex && x.DoMerge && (x.Value != nil || x.Columns != nil) {
			err := v.resolveBlobIndex(ro, x.gc.UserKeyToGetBlobValue(), x.Value, x.Columns)
			if rocksdb.IsIncomplete(err) {
				x.gc.MarkKeyMayExist()
			}
			return err
		}
		return nil
	case table.GetDeleted:
		return rocksdb.ErrNotFound
	}
	return v.lookupError(x.gc.State(), k.UserKey())
}

func (v *Version) countHit(ro *rocksdb.ReadOptions, level int) {
	ticker := rocksdb.GetHitL2AndUp
	switch level {
	case 0:
		ticker = rocksdb.GetHitL0
	case 1:
		ticker = rocksdb.GetHitL1
	}
	monitoring.RecordTick(v.cfd.IOptions().Stats, ticker, 1)
	if byLevel := ro.PerfContext.AtLevel(level); byLevel != nil {
		byLevel.UserKeyReturnCount++
	}
}

func (v *Version) lookupError(state table.GetState, userKey []byte) error {
	switch state {
	case table.GetUnexpectedBlobIndex:
		logging.Error(v.cfd.IOptions().Logger, "Encounter unexpected blob index.")
		return rocksdb.NotSupported("Encounter unexpected blob index. Please open DB with ROCKSDB_NAMESPACE::blob_db::BlobDB instead.")
	case table.GetMergeOperatorFailed:
		return rocksdb.WithSubCode(rocksdb.CodeCorruption, rocksdb.SubCodeMergeOperatorFailed)
	}
	return rocksdb.Corruption("corrupted key for ", string(userKey))
}

// resolveBlobIndex replaces a blob index, in value or else as the only column,
// by the blob.
func (v *Version) resolveBlobIndex(ro *rocksdb.ReadOptions, userKey []byte, value *rocksdb.PinnableSlice, columns *rocksdb.PinnableWideColumns) error {
	encoded := encodedBlobIndex(value, columns)
	syncpoint.ProcessArg("Version::Get::TamperWithBlobIndex", &encoded)
	var index blobformat.BlobIndex
	if err := index.DecodeFrom(encoded); err != nil {
		return err
	}
	var result rocksdb.PinnableSlice
	if _, err := v.FetchBlob(ro, userKey, &index, &result); err != nil {
		return err
	}
	replaceBlobIndex(&result, value, columns)
	return nil
}

// encodedBlobIndex is what a lookup found: value, or else the only column.
func encodedBlobIndex(value *rocksdb.PinnableSlice, columns *rocksdb.PinnableWideColumns) []byte {
	if value != nil {
		return value.Data()
	}
	if c := columns.Columns(); len(c) > 0 {
		return c[0].Value
	}
	return nil
}

// replaceBlobIndex puts the blob, which it takes, in the index's place.
func replaceBlobIndex(blob, value *rocksdb.PinnableSlice, columns *rocksdb.PinnableWideColumns) {
	if value != nil {
		value.Release()
		*value = *blob
		return
	}
	columns.SetPlainValue(blob.Data(), nil)
	blob.Release()
}
