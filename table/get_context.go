// Port of table/get_context.{h,cc}. Differs: reusable, set up from a struct;
// a value is pinned by a counted reference that the caller's ValuePinner gives; a
// table with blobs of its own puts its fetcher before the lookup's.

package table

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// ValuePinner keeps the memory of a value. Pin gives a new counted reference on
// it, to be released once, or nil when there can be none, and then the value is
// copied. Pin is called for values that are kept, at most once for each.
type ValuePinner interface{ Pin() rocksdb.Releaser }

// GetState is the state of a point lookup.
type GetState uint8

// The states. All but NotFound and Merge end the lookup.
const (
	GetNotFound GetState = iota
	GetFound
	GetDeleted
	GetCorrupt
	// GetMerge: operands were found and are in the merge context.
	GetMerge
	GetUnexpectedBlobIndex
	GetMergeOperatorFailed
)

// GetContextStats gathers one lookup's statistics, which go to the tickers in
// one step at its end.
type GetContextStats struct {
	NumCacheHit                         uint64
	NumCacheIndexHit                    uint64
	NumCacheDataHit                     uint64
	NumCacheFilterHit                   uint64
	NumCacheCompressionDictHit          uint64
	NumCacheIndexMiss                   uint64
	NumCacheFilterMiss                  uint64
	NumCacheDataMiss                    uint64
	NumCacheCompressionDictMiss         uint64
	NumCacheBytesRead                   uint64
	NumCacheMiss                        uint64
	NumCacheAdd                         uint64
	NumCacheAddRedundant                uint64
	NumCacheBytesWrite                  uint64
	NumCacheIndexAdd                    uint64
	NumCacheIndexAddRedundant           uint64
	NumCacheIndexBytesInsert            uint64
	NumCacheDataAdd                     uint64
	NumCacheDataAddRedundant            uint64
	NumCacheDataBytesInsert             uint64
	NumCacheFilterAdd                   uint64
	NumCacheFilterAddRedundant          uint64
	NumCacheFilterBytesInsert           uint64
	NumCacheCompressionDictAdd          uint64
	NumCacheCompressionDictAddRedundant uint64
	NumCacheCompressionDictBytesInsert  uint64
	// Of a MultiGet.
	NumFilterRead uint64
	NumIndexRead  uint64
	NumSstRead    uint64
}

// GetContextParams set up a GetContext. What may be nil is not wanted.
type GetContextParams struct {
	Comparator    *dbformat.InternalKeyComparator
	MergeOperator rocksdb.MergeOperator
	Logger        rocksdb.Logger
	Statistics    rocksdb.Statistics
	Clock         rocksdb.SystemClock
	PerfContext   *rocksdb.PerfContext
	InitState     GetState
	UserKey       []byte // with its timestamp
	// Value gets the value and Columns the entity; one of them is nil. Both
	// nil with DoMerge false collects the operands.
	Value   *rocksdb.PinnableSlice
	Columns *rocksdb.PinnableWideColumns
	// Timestamp gets the entry's timestamp.
	Timestamp *[]byte
	// ValueFound is set to false when the key may be there but could not be
	// read.
	ValueFound   *bool
	MergeContext *dbformat.MergeContext
	// DoMerge is false for GetMergeOperands: operands, and the value under
	// them, stay in MergeContext.
	DoMerge bool
	// MaxCoveringTombstoneSeq is the newest range tombstone over the key;
	// older entries are deleted.
	MaxCoveringTombstoneSeq *rocksdb.SequenceNumber
	// Seq gets the newest entry's sequence number, MaxSequenceNumber when
	// there is none.
	Seq           *rocksdb.SequenceNumber
	PinnedIters   *internaliter.PinnedIteratorsManager
	Callback      dbformat.ReadCallback
	IsBlobIndex   *bool // nil refuses blob indexes
	TracingGetID  uint64
	BlobFetcher   blobformat.BlobFetcher
	ContinueMerge func(operand []byte) bool // GetMergeOperandsOptions.ContinueCb
}

// GetContext is the state of one point lookup, which memtables' and tables'
// readers call SaveValue of with each entry of the key, newest first. Keep one
// and Init it anew: it escapes through the TableReader interface.
type GetContext struct {
	Stats GetContextStats

	p                    GetContextParams
	state                GetState
	tsSize               int
	tsFromRangeTombstone bool
	sample               bool
	userKeyWithTS        []byte // of a blob index, where keys have timestamps
	replayLog            *[]byte
	merge                merge.FullMerge
	blob                 rocksdb.PinnableSlice
}

// Init begins a lookup.
func (g *GetContext) Init(p *GetContextParams) {
	g.p = *p
	g.Stats = GetContextStats{}
	g.state = p.InitState
	g.tsSize = p.Comparator.TimestampSize()
	g.tsFromRangeTombstone = false
	g.userKeyWithTS = g.userKeyWithTS[:0]
	g.replayLog = nil
	if p.Seq != nil {
		*p.Seq = dbformat.MaxSequenceNumber
	}
	g.sample = monitoring.ShouldSampleFileRead()
}

// Reset drops what the lookup refers to, and keeps buffers.
func (g *GetContext) Reset() {
	g.p = GetContextParams{}
	g.merge.Operator, g.merge.Key, g.merge.Value, g.merge.Operands = nil, nil, nil, nil
	g.merge.Logger, g.merge.Statistics, g.merge.Clock, g.merge.PerfContext = nil, nil, nil, nil
	g.blob.Release()
	g.replayLog = nil
}

// State is the lookup's state.
func (g *GetContext) State() GetState { return g.state }

// MaxCoveringTombstoneSeq is the parameter.
func (g *GetContext) MaxCoveringTombstoneSeq() *rocksdb.SequenceNumber {
	return g.p.MaxCoveringTombstoneSeq
}

// NeedTimestamp tells whether the timestamp is wanted.
func (g *GetContext) NeedTimestamp() bool { return g.p.Timestamp != nil }

// TimestampSize is that of the keys.
func (g *GetContext) TimestampSize() int { return g.tsSize }

// SetTimestampFromRangeTombstone sets the wanted timestamp to a covering
// tombstone's, until a newer entry is found.
func (g *GetContext) SetTimestampFromRangeTombstone(ts []byte) {
	*g.p.Timestamp = append((*g.p.Timestamp)[:0], ts...)
	g.tsFromRangeTombstone = true
}

// PinnedItersMgr keeps blocks of operands.
func (g *GetContext) PinnedItersMgr() *internaliter.PinnedIteratorsManager { return g.p.PinnedIters }

// SetReplayLog makes SaveValue write all it is given to log, for
// ReplayGetContextLog; nil ends that.
func (g *GetContext) SetReplayLog(log *[]byte) { g.replayLog = log }

// HasReplayLog tells whether there is a log.
func (g *GetContext) HasReplayLog() bool { return g.replayLog != nil }

// CollectsOperands tells whether operands are wanted as they are.
func (g *GetContext) CollectsOperands() bool { return !g.p.DoMerge }

// NeedToReadSequence tells whether the sequence number is wanted.
func (g *GetContext) NeedToReadSequence() bool { return g.p.Seq != nil }

// Sample tells whether this lookup counts for files' read samples.
func (g *GetContext) Sample() bool { return g.sample }

// HasCallback tells whether visibility is the callback's matter.
func (g *GetContext) HasCallback() bool { return g.p.Callback != nil }

// CheckCallback tells whether entries of seq are visible.
func (g *GetContext) CheckCallback(seq rocksdb.SequenceNumber) bool {
	return g.p.Callback == nil || g.p.Callback.IsVisible(seq)
}

// UserKeyToGetBlobValue is the key a found blob index belongs to.
func (g *GetContext) UserKeyToGetBlobValue() []byte {
	if len(g.userKeyWithTS) > 0 {
		return g.userKeyWithTS
	}
	return g.p.UserKey
}

// BlobFetcher is the parameter, or what SetBlobFetcher put in its place.
func (g *GetContext) BlobFetcher() blobformat.BlobFetcher { return g.p.BlobFetcher }

// SetBlobFetcher changes what reads blobs.
func (g *GetContext) SetBlobFetcher(f blobformat.BlobFetcher) { g.p.BlobFetcher = f }

// GetTracingGetID is the parameter.
func (g *GetContext) GetTracingGetID() uint64 { return g.p.TracingGetID }

// MarkKeyMayExist ends the lookup: the key may be there, but reading was not
// allowed.
func (g *GetContext) MarkKeyMayExist() {
	g.state = GetFound
	if g.p.ValueFound != nil {
		*g.p.ValueFound = false
	}
}

// appendToReplayLog writes type byte, length-prefixed value and, where keys
// have timestamps, length-prefixed timestamp.
func (g *GetContext) appendToReplayLog(t dbformat.ValueType, value, ts []byte) {
	if g.replayLog == nil {
		return
	}
	log := append(*g.replayLog, byte(t))
	log = util.AppendLengthPrefixedSlice(log, value)
	if g.tsSize > 0 {
		log = util.AppendLengthPrefixedSlice(log, ts)
	}
	*g.replayLog = log
}

func (g *GetContext) isSameKey(userKey []byte) bool {
	if g.p.Comparator.IsBytewise() {
		return bytes.Equal(userKey, g.p.UserKey)
	}
	return g.p.Comparator.CompareWithoutTimestamp(userKey, g.p.UserKey) == 0
}

// SaveValue takes an entry, whose value is kept by pinner (nil makes a copy).
// more tells whether the next entry is needed, matched whether it was an entry
// of the key.
func (g *GetContext) SaveValue(key *dbformat.ParsedInternalKey, value []byte, pinner ValuePinner) (more, matched bool, err error) {
	if !g.isSameKey(key.UserKey) {
		return false, false, nil
	}
	if !g.CheckCallback(key.Sequence) {
		return true, true, nil
	}
	if g.p.Seq != nil {
		if *g.p.Seq == dbformat.MaxSequenceNumber {
			*g.p.Seq = key.Sequence
		}
		if g.p.MaxCoveringTombstoneSeq != nil {
			*g.p.Seq = max(*g.p.Seq, *g.p.MaxCoveringTombstoneSeq)
		}
	}
	var ts []byte
	if g.tsSize > 0 {
		ts = dbformat.ExtractTimestampFromUserKey(key.UserKey, g.tsSize)
		g.saveTimestamp(key, ts)
	}
	g.appendToReplayLog(key.Type, value, ts)

	t := key.Type
	if g.p.MaxCoveringTombstoneSeq != nil && *g.p.MaxCoveringTombstoneSeq > key.Sequence && dbformat.IsValueType(t) {
		// Deletions too, so that the newer tombstone's timestamp counts.
		t = dbformat.TypeRangeDeletion
	}
	switch t {
	case dbformat.TypeValue:
		return false, true, g.savePlain(value, pinner)
	case dbformat.TypeValuePreferredSeqno:
		v, ok := seqnotime.ParsePackedValueForValue(value)
		if !ok {
			g.state = GetCorrupt
			return false, true, rocksdb.Corruption("timed put's value is too short")
		}
		return false, true, g.savePlain(v, pinner)
	case dbformat.TypeBlobIndex:
		return false, true, g.saveBlobIndex(key, value, pinner)
	case dbformat.TypeWideColumnEntity:
		return false, true, g.saveEntity(key, value, pinner)
	case dbformat.TypeDeletion, dbformat.TypeDeletionWithTimestamp, dbformat.TypeSingleDeletion, dbformat.TypeRangeDeletion:
		if g.state == GetNotFound {
			g.state = GetDeleted
		} else if g.state == GetMerge {
			g.state = GetFound
			if g.p.DoMerge {
				err = g.mergeWith(merge.NoBaseValue, nil)
			}
		}
		return false, true, err
	case dbformat.TypeMerge:
		more, err = g.saveOperand(value, pinner)
		return more, true, err
	}
	g.state = GetCorrupt
	return false, true, rocksdb.Corruptionf("unknown value type %d in a point lookup", t)
}

func (g *GetContext) saveTimestamp(key *dbformat.ParsedInternalKey, ts []byte) {
	if g.p.Timestamp == nil {
		return
	}
	have := *g.p.Timestamp
	if len(have) > 0 && g.tsFromRangeTombstone && g.p.MaxCoveringTombstoneSeq != nil && key.Sequence > *g.p.MaxCoveringTombstoneSeq {
		have = append(have[:0], ts...)
		g.tsFromRangeTombstone = false
	}
	if len(have) == 0 || g.p.Comparator.UserComparator().CompareTimestamp(have, g.p.Comparator.UserComparator().MaxTimestamp()) == 0 {
		have = append(have[:0], ts...)
	}
	*g.p.Timestamp = have
}

// SaveValueSimple is SaveValue of a put whose key is known to match, for column
// families without timestamps.
func (g *GetContext) SaveValueSimple(value []byte, pinner ValuePinner) {
	g.appendToReplayLog(dbformat.TypeValue, value, nil)
	g.state = GetFound
	if g.p.Value != nil {
		pin(g.p.Value, value, pinner)
	}
}

func pin(dst *rocksdb.PinnableSlice, value []byte, pinner ValuePinner) {
	if pinner != nil {
		if r := pinner.Pin(); r != nil {
			dst.PinSlice(value, r)
			return
		}
	}
	dst.PinSelf(value)
}

func owner(pinner ValuePinner) rocksdb.Releaser {
	if pinner == nil {
		return nil
	}
	return pinner.Pin()
}

func (g *GetContext) setIsBlobIndex(is bool) {
	if g.p.IsBlobIndex != nil {
		*g.p.IsBlobIndex = is
	}
}

func (g *GetContext) savePlain(value []byte, pinner ValuePinner) error {
	g.setIsBlobIndex(false)
	merging := g.state == GetMerge
	g.state = GetFound
	switch {
	case !g.p.DoMerge:
		g.PushOperand(value, pinner)
	case merging:
		return g.mergeWith(merge.PlainBaseValue, value)
	case g.p.Value != nil:
		pin(g.p.Value, value, pinner)
	case g.p.Columns != nil:
		g.p.Columns.SetPlainValue(value, owner(pinner))
	}
	return nil
}

func (g *GetContext) saveBlobIndex(key *dbformat.ParsedInternalKey, value []byte, pinner ValuePinner) error {
	if g.p.IsBlobIndex == nil {
		g.state = GetUnexpectedBlobIndex
		return nil
	}
	g.setIsBlobIndex(true)
	merging := g.state == GetMerge
	g.state = GetFound
	if g.p.DoMerge && !merging {
		// The caller fetches the blob.
		if g.tsSize > 0 {
			g.userKeyWithTS = append(g.userKeyWithTS[:0], key.UserKey...)
		}
		if g.p.Value != nil {
			pin(g.p.Value, value, pinner)
		} else if g.p.Columns != nil {
			g.p.Columns.SetPlainValue(value, owner(pinner))
		}
		return nil
	}
	_, err := blobformat.FetchEncodedBlob(g.p.BlobFetcher, key.UserKey, value, &g.blob)
	if err != nil {
		return g.readFailed(err)
	}
	g.setIsBlobIndex(false)
	if g.p.DoMerge {
		err = g.mergeWith(merge.PlainBaseValue, g.blob.Data())
	} else {
		g.PushOperand(g.blob.Data(), nil)
	}
	g.blob.Release()
	return err
}

// readFailed ends the lookup with err; Incomplete leaves it open whether the
// key is there.
func (g *GetContext) readFailed(err error) error {
	if rocksdb.IsIncomplete(err) {
		g.MarkKeyMayExist()
	} else {
		g.state = GetCorrupt
	}
	return err
}

func (g *GetContext) saveEntity(key *dbformat.ParsedInternalKey, entity []byte, pinner ValuePinner) error {
	g.setIsBlobIndex(false)
	merging := g.state == GetMerge
	g.state = GetFound
	switch {
	case !g.p.DoMerge:
		return g.withDefaultColumn(key, entity, pinner, func(value []byte, pinner ValuePinner) { g.PushOperand(value, pinner) })
	case merging:
		resolved, err := wide.ResolveEntityForMerge(entity, key.UserKey, g.p.BlobFetcher)
		if err != nil {
			return g.readFailed(err)
		}
		return g.mergeWith(merge.WideBaseValue, resolved)
	case g.p.Value != nil:
		return g.withDefaultColumn(key, entity, pinner, func(value []byte, pinner ValuePinner) { pin(g.p.Value, value, pinner) })
	case g.p.Columns != nil:
		if err := wide.ReadEntity(g.p.Columns, entity, owner(pinner), key.UserKey, g.p.BlobFetcher); err != nil {
			return g.readFailed(err)
		}
	}
	return nil
}

// withDefaultColumn hands f the default column's value; one that was read from
// a blob has no pinner and is gone after f.
func (g *GetContext) withDefaultColumn(key *dbformat.ParsedInternalKey, entity []byte, pinner ValuePinner, f func([]byte, ValuePinner)) error {
	value, isBlob, err := wide.GetValueOfDefaultColumn(entity)
	if err != nil {
		return g.readFailed(err)
	}
	if !isBlob {
		f(value, pinner)
		return nil
	}
	if _, err := blobformat.FetchEncodedBlob(g.p.BlobFetcher, key.UserKey, value, &g.blob); err != nil {
		return g.readFailed(err)
	}
	f(g.blob.Data(), nil)
	g.blob.Release()
	return nil
}

func (g *GetContext) saveOperand(value []byte, pinner ValuePinner) (more bool, err error) {
	if g.p.MergeContext == nil {
		g.state = GetCorrupt
		return false, rocksdb.InvalidArgument("merge operand in a lookup without merge context")
	}
	g.state = GetMerge
	g.PushOperand(value, pinner)
	if perf := g.p.PerfContext; perf.CountEnabled() {
		perf.InternalMergePointLookupCount++
	}
	if g.p.DoMerge && g.p.MergeOperator != nil && g.p.MergeOperator.ShouldMerge(g.p.MergeContext.GetOperandsDirectionBackward()) {
		g.state = GetFound
		return false, g.mergeWith(merge.NoBaseValue, nil)
	}
	if g.p.ContinueMerge != nil && !g.p.ContinueMerge(value) {
		g.state = GetFound
		return false, nil
	}
	return true, nil
}

// PushOperand adds an operand older than those there are.
func (g *GetContext) PushOperand(value []byte, pinner ValuePinner) {
	if pinner != nil && g.p.PinnedIters.PinningEnabled() {
		if r := pinner.Pin(); r != nil {
			g.p.PinnedIters.PinReleaser(r)
			g.p.MergeContext.PushOperand(value, true)
			return
		}
	}
	g.p.MergeContext.PushOperand(value, false)
}

// mergeWith applies the operands to a base value and saves the result.
func (g *GetContext) mergeWith(base merge.BaseValueKind, value []byte) error {
	if g.p.MergeOperator == nil {
		g.state = GetCorrupt
		return rocksdb.InvalidArgument("merge_operator is not properly initialized.")
	}
	m := &g.merge
	m.Operator, m.Key, m.Base, m.Value = g.p.MergeOperator, g.p.UserKey, base, value
	m.Operands = g.p.MergeContext.GetOperands()
	m.Logger, m.Statistics, m.Clock, m.PerfContext = g.p.Logger, g.p.Statistics, g.p.Clock, g.p.PerfContext
	m.UpdateNumOpsStats = true
	var err error
	if g.p.Columns != nil {
		err = m.ResultEntity(g.p.Columns)
	} else {
		var result []byte
		if result, err = m.ResultValue(); err == nil && g.p.Value != nil {
			g.p.Value.PinSelf(result)
		}
	}
	if err != nil {
		g.state = GetCorrupt
		if s := rocksdb.AsStatus(err); s.SubCode == rocksdb.SubCodeMergeOperatorFailed {
			g.state = GetMergeOperatorFailed
		}
	}
	return err
}

// ReportCounters adds the statistics to the tickers.
func (g *GetContext) ReportCounters() {
	stats := g.p.Statistics
	if stats == nil {
		return
	}
	s := &g.Stats
	for _, c := range [...]struct {
		ticker rocksdb.Ticker
		n      uint64
	}{
		{rocksdb.BlockCacheHit, s.NumCacheHit},
		{rocksdb.BlockCacheIndexHit, s.NumCacheIndexHit},
		{rocksdb.BlockCacheDataHit, s.NumCacheDataHit},
		{rocksdb.BlockCacheFilterHit, s.NumCacheFilterHit},
		{rocksdb.BlockCacheCompressionDictHit, s.NumCacheCompressionDictHit},
		{rocksdb.BlockCacheIndexMiss, s.NumCacheIndexMiss},
		{rocksdb.BlockCacheFilterMiss, s.NumCacheFilterMiss},
		{rocksdb.BlockCacheDataMiss, s.NumCacheDataMiss},
		{rocksdb.BlockCacheCompressionDictMiss, s.NumCacheCompressionDictMiss},
		{rocksdb.BlockCacheBytesRead, s.NumCacheBytesRead},
		{rocksdb.BlockCacheMiss, s.NumCacheMiss},
		{rocksdb.BlockCacheAdd, s.NumCacheAdd},
		{rocksdb.BlockCacheAddRedundant, s.NumCacheAddRedundant},
		{rocksdb.BlockCacheBytesWrite, s.NumCacheBytesWrite},
		{rocksdb.BlockCacheIndexAdd, s.NumCacheIndexAdd},
		{rocksdb.BlockCacheIndexAddRedundant, s.NumCacheIndexAddRedundant},
		{rocksdb.BlockCacheIndexBytesInsert, s.NumCacheIndexBytesInsert},
		{rocksdb.BlockCacheDataAdd, s.NumCacheDataAdd},
		{rocksdb.BlockCacheDataAddRedundant, s.NumCacheDataAddRedundant},
		{rocksdb.BlockCacheDataBytesInsert, s.NumCacheDataBytesInsert},
		{rocksdb.BlockCacheFilterAdd, s.NumCacheFilterAdd},
		{rocksdb.BlockCacheFilterAddRedundant, s.NumCacheFilterAddRedundant},
		{rocksdb.BlockCacheFilterBytesInsert, s.NumCacheFilterBytesInsert},
		{rocksdb.BlockCacheCompressionDictAdd, s.NumCacheCompressionDictAdd},
		{rocksdb.BlockCacheCompressionDictAddRedundant, s.NumCacheCompressionDictAddRedundant},
		{rocksdb.BlockCacheCompressionDictBytesInsert, s.NumCacheCompressionDictBytesInsert},
	} {
		if c.n > 0 {
			stats.RecordTick(c.ticker, c.n)
		}
	}
}

// ReplayGetContextLog hands a lookup what another one saved to its replay log.
// userKey has room for the timestamps. pinner keeps the log.
func ReplayGetContextLog(log, userKey []byte, g *GetContext, pinner ValuePinner, seq rocksdb.SequenceNumber) error {
	key := dbformat.ParsedInternalKey{UserKey: userKey, Sequence: seq}
	if g.tsSize > 0 {
		key.UserKey = bytes.Clone(userKey) // the row cache's key is not ours to change
	}
	for len(log) > 0 {
		key.Type = dbformat.ValueType(log[0])
		value, rest, ok := util.GetLengthPrefixedSlice(log[1:])
		if ok && g.tsSize > 0 {
			var ts []byte
			if ts, rest, ok = util.GetLengthPrefixedSlice(rest); ok && len(ts) == g.tsSize && len(key.UserKey) >= g.tsSize {
				copy(key.UserKey[len(key.UserKey)-g.tsSize:], ts)
			} else {
				ok = false
			}
		}
		if !ok {
			return rocksdb.Corruption("damaged entry in the row cache")
		}
		log = rest
		more, _, err := g.SaveValue(&key, value, pinner)
		if err != nil || !more {
			return err
		}
	}
	return nil
}
