// Port of table/block_based/block_based_table_reader.cc
// (SaveLookupContextOrTraceRecord, FinishTraceRecord) and of
// BlockCacheLookupContext in trace_replay/block_cache_tracer.h. Differs: all data
// blocks that a batch goes on to are traced, upstream leaves out all but a key's
// first.

package blockbased

import (
	"math"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// pointTrace is what a traced Get or MultiGet tells of itself. Lookups that began
// without a trace have none.
type pointTrace struct {
	id         uint64
	atSnapshot bool
	key        []byte // an internal key; nil for a batch's
	// data is the access to a data block that the key is still to be sought in.
	data    tracereplay.BlockCacheTraceRecord
	pending bool
}

// beginTrace says for whom rc's blocks are looked up and, while there is a trace,
// for which key.
func (t *BlockBasedTable) beginTrace(rc *readContext, caller rocksdb.TableReaderCaller, gc *table.GetContext, key []byte) {
	rc.caller = caller
	if !t.tracer.IsTracingEnabled() {
		return
	}
	rc.point = &pointTrace{atSnapshot: rc.ro.Snapshot != nil, key: key}
	if gc != nil {
		rc.point.id = gc.GetTracingGetID()
	}
}

// traces tells whether the lookup of a block is to be traced.
func (t *BlockBasedTable) traces(rc *readContext) bool {
	return rc.caller != 0 && t.tracer.IsTracingEnabled()
}

// traceKinds are the kinds that a trace tells apart.
var traceKinds = [...]tracereplay.TraceType{
	block.TypeData:                  tracereplay.BlockTraceDataBlock,
	block.TypeFilter:                tracereplay.BlockTraceFilterBlock,
	block.TypeFilterPartitionIndex:  tracereplay.BlockTraceFilterBlock,
	block.TypeCompressionDictionary: tracereplay.BlockTraceUncompressionDictBlock,
	block.TypeRangeDeletion:         tracereplay.BlockTraceRangeDeletionBlock,
	block.TypeIndex:                 tracereplay.BlockTraceIndexBlock,
	block.TypeUserDefinedIndex:      tracereplay.BlockTraceIndexBlock,
}

// traceLookup traces the lookup of a block; v is the block, nil if it could not be
// had. A data block of a point lookup waits for traceFound.
func (t *BlockBasedTable) traceLookup(rc *readContext, h format.BlockHandle, bt block.BlockType, hit bool, v any) {
	p := t.props
	r := tracereplay.BlockCacheTraceRecord{
		AccessTimestamp: t.clock().NowMicros(), BlockType: traceKinds[bt],
		CFID: p.ColumnFamilyID, CFName: p.ColumnFamilyName, Level: math.MaxUint32,
		SSTFDNumber: filename.TableFileNameToNumber(t.file.FileName()), Caller: rc.caller, IsCacheHit: hit,
		NoInsert: rc.ro.ReadTier == rocksdb.BlockCacheTier || !rc.ro.FillCache,
	}
	if t.level >= 0 {
		r.Level = uint32(t.level)
	}
	if t.blockCache != nil {
		key := blockCacheKey(t.baseCacheKey, h)
		r.BlockKey = key.AsSlice()
	}
	if v, ok := v.(interface{ ApproximateMemoryUsage() int }); ok {
		r.BlockSize = uint64(v.ApproximateMemoryUsage())
	}
	point := rc.point
	if point != nil {
		r.GetID, r.GetFromUserSpecifiedSnapshot, r.ReferencedKey = point.id, point.atSnapshot, point.key
		if bt == block.TypeData {
			if b, ok := v.(*block.Block); ok {
				r.NumKeysInBlock = t.approximateNumKeys(b, point.id)
			}
			point.data, point.pending = r, true
			return
		}
	}
	_ = t.tracer.WriteBlockAccess(&r) // a trace that fails does not fail the read
}

// approximateNumKeys counts restart points. The last one has half as many keys on
// average; id decides how that is rounded.
func (t *BlockBasedTable) approximateNumKeys(b *block.Block, id uint64) uint64 {
	interval := uint64(t.opts.BlockRestartInterval)
	n := interval * uint64(b.NumRestarts())
	if n > 0 {
		n -= (interval - id&1) / 2
	}
	return n
}

// traceFound traces the access to a data block after key was sought in it, where
// it stands on if found.
func (t *BlockBasedTable) traceFound(point *pointTrace, key []byte, found bool, it *block.DataBlockIter) {
	if !point.pending {
		return
	}
	r := &point.data
	point.pending = false
	r.AccessTimestamp = t.clock().NowMicros()
	if r.ReferencedKey = key; found {
		r.ReferencedKey, r.ReferencedKeyExistInBlock = it.Key(), true
		r.ReferencedDataSize = uint64(len(it.Key()) + len(it.Value()))
	}
	_ = t.tracer.WriteBlockAccess(r) // as above
}

func (t *BlockBasedTable) clock() rocksdb.SystemClock {
	if c := t.ioptions.Clock; c != nil {
		return c
	}
	return rocksdb.DefaultSystemClock()
}
