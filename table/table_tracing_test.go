// Port of table/table_test.cc: traces of the block cache.

package table_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// Of all traced tables.
const (
	tracedKey1 = "aak01"
	tracedKey2 = "aak02"
)

var tracedValue = strings.Repeat("a", 5000)

// tracedTable is a table of two entries whose lookups are traced to a file.
type tracedTable struct {
	*tableConstructor
	path string
}

func newTracedTable(t *testing.T, bbto rocksdb.BlockBasedTableOptions) *tracedTable {
	if bbto.BlockCache == nil {
		bbto.BlockCache = newLRU(1<<20, 0)
	}
	bbto.CacheIndexAndFilterBlocks, bbto.FilterPolicy = true, blockbased.NewBloomFilterPolicy(10)
	x := &tracedTable{newTableConstructor(t, util.BytewiseComparator(), false), filepath.Join(t.TempDir(), "trace")}
	t.Cleanup(x.Close)
	fo := rocksdb.DefaultFileOptions()
	w, err := trace.NewFileTraceWriter(env.DefaultFileSystem(), x.path, &fo)
	fatalIf(t, err)
	x.tracer = new(tracereplay.BlockCacheTracer)
	fatalIf(t, x.tracer.StartTrace(tracereplay.DefaultBlockCacheTraceOptions(),
		tracereplay.NewBlockCacheTraceWriter(rocksdb.DefaultSystemClock(), tracereplay.DefaultBlockCacheTraceWriterOptions(), w)))
	x.Add(string(ikeyOf(tracedKey1, 0)), tracedValue)
	x.Add(string(ikeyOf(tracedKey2, 0)), tracedValue)
	o := optionsFor(&bbto)
	x.Finish(&o, icmp)
	return x
}

// access is what is compared of a record.
type access struct {
	kind   tracereplay.TraceType
	caller rocksdb.TableReaderCaller
	hit    bool
	getID  uint64
	key    string // a user key
	found  bool
}

// opened are the accesses of opening the table.
var opened = []access{
	{kind: tracereplay.BlockTraceIndexBlock, caller: rocksdb.CallerPrefetch},
	{kind: tracereplay.BlockTraceFilterBlock, caller: rocksdb.CallerPrefetch},
}

// verify ends the trace and checks that it has the accesses.
func (x *tracedTable) verify(want []access) {
	x.t.Helper()
	t := x.t.(*testing.T)
	fatalIf(t, x.tracer.EndTrace())
	fo := rocksdb.DefaultFileOptions()
	f, err := trace.NewFileTraceReader(env.DefaultFileSystem(), x.path, &fo)
	fatalIf(t, err)
	defer f.Close()
	r := tracereplay.NewBlockCacheTraceReader(f)
	_, err = r.ReadHeader()
	fatalIf(t, err)
	for i := 0; ; i++ {
		a, err := r.ReadAccess()
		if err != nil {
			checkEq(t, "accesses", i, len(want))
			return
		}
		if i == len(want) {
			t.Fatalf("more than %d accesses: %+v", i, a)
		}
		what := func(field string) string { return fmt.Sprintf("access %d: %s", i, field) }
		w := want[i]
		point := w.caller == rocksdb.CallerUserGet || w.caller == rocksdb.CallerUserMultiGet && w.kind == tracereplay.BlockTraceDataBlock
		data := point && w.kind == tracereplay.BlockTraceDataBlock
		checkEq(t, what("has a key"), len(a.BlockKey) > 0, true)
		checkEq(t, what("type"), a.BlockType, w.kind)
		checkEq(t, what("has a size"), a.BlockSize > 0, true)
		checkEq(t, what("caller"), a.Caller, w.caller)
		checkEq(t, what("no insert"), a.NoInsert, false)
		checkEq(t, what("hit"), a.IsCacheHit, w.hit)
		checkEq(t, what("get ID"), a.GetID, w.getID)
		checkEq(t, what("at a snapshot"), a.GetFromUserSpecifiedSnapshot, false)
		key := ""
		if point {
			key = string(ikeyOf(w.key, 0))
		}
		checkEq(t, what("referenced key"), string(a.ReferencedKey), key)
		checkEq(t, what("has a data size"), a.ReferencedDataSize > 0, data)
		checkEq(t, what("found"), a.ReferencedKeyExistInBlock, data && w.found)
		switch {
		case !data:
			checkEq(t, what("keys"), a.NumKeysInBlock, 0)
		case w.caller == rocksdb.CallerUserMultiGet: // one restart point of 16 keys
			checkEq(t, what("keys"), a.NumKeysInBlock, 8+w.getID&1)
		default:
			checkEq(t, what("has keys"), a.NumKeysInBlock > 0, true)
		}
	}
}

func TestBlockBasedTableTest_TracingGetTest(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		x := newTracedTable(t, bbto)
		want := opened
		for id := uint64(1); id <= 2; id++ {
			var value rocksdb.PinnableSlice
			var gc table.GetContext
			gc.Init(&table.GetContextParams{Comparator: icmp, UserKey: []byte(tracedKey1), Value: &value, DoMerge: true,
				MergeContext: new(dbformat.MergeContext), MaxCoveringTombstoneSeq: new(rocksdb.SequenceNumber), TracingGetID: id})
			ro := rocksdb.DefaultReadOptions()
			fatalIf(t, x.reader.Get(&ro, ikeyOf(tracedKey1, 0), &gc, nil, false))
			checkEq(t, "state", gc.State(), table.GetFound)
			checkEq(t, "value", string(value.Data()), tracedValue)
			value.Release()
			a := access{kind: tracereplay.BlockTraceFilterBlock, caller: rocksdb.CallerUserGet, hit: true, getID: id, key: tracedKey1, found: true}
			want = append(want[:len(want):len(want)], a)
			a.kind = tracereplay.BlockTraceIndexBlock
			want = append(want, a)
			a.kind, a.hit = tracereplay.BlockTraceDataBlock, id > 1
			want = append(want, a)
		}
		x.verify(want)
	})
}

// hitMissCountingCache is upstream's HitMissCountingCache.
type hitMissCountingCache struct {
	rocksdb.Cache
	hits, misses atomic.Int64
}

func (c *hitMissCountingCache) Lookup(key []byte, helper *rocksdb.CacheItemHelper, ctx rocksdb.CacheCreateContext, p rocksdb.CachePriority,
	stats rocksdb.Statistics) rocksdb.CacheHandle {
	h := c.Cache.Lookup(key, helper, ctx, p, stats)
	if h != nil {
		c.hits.Add(1)
	} else {
		c.misses.Add(1)
	}
	return h
}

func TestBlockBasedTableTest_TracingMultiGetTest(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		counts := &hitMissCountingCache{Cache: newLRU(1<<20, 0)}
		bbto.BlockCache = counts
		bbto.BlockSize = uint64(2*len(tracedValue) + 100) // both in one block
		x := newTracedTable(t, bbto)
		want := opened
		for _, id := range []uint64{2, 5} {
			ukeys := []string{tracedKey1, tracedKey2}
			var values [2]rocksdb.PinnableSlice
			var errs [2]error
			var gcs [2]table.GetContext
			keys := make([]*table.KeyContext, 2)
			for i, k := range ukeys {
				gcs[i].Init(&table.GetContextParams{Comparator: icmp, UserKey: []byte(k), Value: &values[i], DoMerge: true,
					MergeContext: new(dbformat.MergeContext), MaxCoveringTombstoneSeq: new(rocksdb.SequenceNumber), TracingGetID: id + uint64(i)})
				keys[i] = &table.KeyContext{Key: []byte(k), GetContext: &gcs[i], Value: &values[i], Err: &errs[i]}
			}
			var ctx table.MultiGetContext
			ctx.Init(keys, 42, nil)
			r := ctx.GetMultiGetRange()
			ro := rocksdb.DefaultReadOptions()
			x.reader.MultiGet(&ro, &r, nil, false)
			for i := range ukeys {
				fatalIf(t, errs[i])
				checkEq(t, "state", gcs[i].State(), table.GetFound)
				checkEq(t, "value", string(values[i].Data()), tracedValue)
				values[i].Release()
			}
			a := access{kind: tracereplay.BlockTraceFilterBlock, caller: rocksdb.CallerUserMultiGet, hit: true, getID: id, key: tracedKey1, found: true}
			want = append(want[:len(want):len(want)], a)
			a.kind = tracereplay.BlockTraceIndexBlock
			want = append(want, a)
			a.kind, a.hit = tracereplay.BlockTraceDataBlock, id > 2
			want = append(want, a)
		}
		x.verify(want)
		var hits int64
		for _, a := range want {
			if a.hit {
				hits++
			}
		}
		checkEq(t, "hits", counts.hits.Load(), hits)
		checkEq(t, "misses", counts.misses.Load(), int64(len(want))-hits)
	})
}

func TestBlockBasedTableTest_TracingApproximateOffsetOfTest(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		x := newTracedTable(t, bbto)
		want := opened
		for range 2 {
			ro := rocksdb.DefaultReadOptions()
			x.reader.ApproximateOffsetOf(&ro, ikeyOf(tracedKey1, 0), rocksdb.CallerUserApproximateSize)
			want = append(want[:len(want):len(want)],
				access{kind: tracereplay.BlockTraceIndexBlock, caller: rocksdb.CallerUserApproximateSize, hit: true})
		}
		x.verify(want)
	})
}

func TestBlockBasedTableTest_TracingIterator(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		x := newTracedTable(t, bbto)
		want := opened
		for pass := range 2 {
			ro := rocksdb.DefaultReadOptions()
			it := x.reader.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
			for it.SeekToFirst(); it.Valid(); it.Next() {
				_, _ = it.Key(), it.Value()
			}
			fatalIf(t, it.Status())
			it.Close()
			data := access{kind: tracereplay.BlockTraceDataBlock, caller: rocksdb.CallerUserIterator, hit: pass > 0}
			want = append(want[:len(want):len(want)],
				access{kind: tracereplay.BlockTraceIndexBlock, caller: rocksdb.CallerUserIterator, hit: true}, data, data)
		}
		x.verify(want)
	})
}
