// Port of trace_replay/block_cache_tracer_test.cc.

package tracereplay_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// cacheTrace is a trace of accesses to a block cache.
type cacheTrace struct {
	*testing.T
	path string
}

func newCacheTrace(t *testing.T) *cacheTrace {
	return &cacheTrace{t, filepath.Join(t.TempDir(), "block_cache_trace")}
}

func (x *cacheTrace) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// callerOf is the caller of the n-th record.
func callerOf(n int) rocksdb.TableReaderCaller {
	return []rocksdb.TableReaderCaller{rocksdb.CallerPrefetch, rocksdb.CallerCompaction, rocksdb.CallerUserGet,
		rocksdb.CallerUserMultiGet, rocksdb.CallerUserIterator}[n%5]
}

// access is the n-th record, with all that there can be.
func access(n int, t tracereplay.TraceType) *tracereplay.BlockCacheTraceRecord {
	return &tracereplay.BlockCacheTraceRecord{
		AccessTimestamp: 1000 + uint64(n), BlockKey: fmt.Appendf(nil, "test-block-%d", n), BlockType: t, BlockSize: 1024 + uint64(n),
		CFID: 0, CFName: "default", Level: 1, SSTFDNumber: 100 + uint64(n), Caller: callerOf(n), GetID: uint64(n) + 1,
		GetFromUserSpecifiedSnapshot: true, ReferencedKey: fmt.Appendf(nil, "test-get-%d", n),
		ReferencedDataSize: 10 + uint64(n), NumKeysInBlock: 1024, ReferencedKeyExistInBlock: true,
	}
}

// stored is what a trace keeps of the n-th record.
func stored(n int, t tracereplay.TraceType) *tracereplay.BlockCacheTraceRecord {
	r := access(n, t)
	if !tracereplay.IsGetOrMultiGet(r.Caller) {
		r.GetID, r.GetFromUserSpecifiedSnapshot, r.ReferencedKey = tracereplay.ReservedGetID, false, nil
	}
	if !tracereplay.IsGetOrMultiGetOnDataBlock(t, r.Caller) {
		r.ReferencedDataSize, r.NumKeysInBlock, r.ReferencedKeyExistInBlock = 0, 0, false
	}
	return r
}

func (x *cacheTrace) writer() tracereplay.BlockCacheTraceWriter {
	x.Helper()
	f, err := trace.NewFileTraceWriter(env.DefaultFileSystem(), x.path, nil)
	x.must(err)
	return tracereplay.NewBlockCacheTraceWriter(rocksdb.DefaultSystemClock(), tracereplay.DefaultBlockCacheTraceWriterOptions(), f)
}

func (x *cacheTrace) start(t *tracereplay.BlockCacheTracer) {
	x.Helper()
	x.must(t.StartTrace(tracereplay.DefaultBlockCacheTraceOptions(), x.writer()))
}

// reader opens the trace.
func (x *cacheTrace) reader() *tracereplay.BlockCacheTraceReader {
	x.Helper()
	f, err := trace.NewFileTraceReader(env.DefaultFileSystem(), x.path, nil)
	x.must(err)
	x.Cleanup(func() { f.Close() })
	return tracereplay.NewBlockCacheTraceReader(f)
}

// want wants a trace of those records.
func (x *cacheTrace) want(records ...*tracereplay.BlockCacheTraceRecord) {
	x.Helper()
	r := x.reader()
	h, err := r.ReadHeader()
	x.must(err)
	if h.MajorVersion != rocksdb.Major || h.MinorVersion != rocksdb.Minor || h.StartTime == 0 {
		x.Errorf("%+v", h)
	}
	for i, want := range records {
		got, err := r.ReadAccess()
		x.must(err)
		if d := cmp.Diff(*want, got); d != "" {
			x.Fatalf("record %d: %s", i, d)
		}
	}
	if _, err := r.ReadAccess(); err == nil {
		x.Error("more records")
	}
}

func TestBlockCacheTracerTest_AtomicWriteBeforeStartTrace(t *testing.T) {
	x := newCacheTrace(t)
	w := x.writer()
	var tracer tracereplay.BlockCacheTracer
	x.must(tracer.WriteBlockAccess(access(0, tracereplay.BlockTraceDataBlock)))
	x.must(w.Close())
	if _, err := x.reader().ReadHeader(); err == nil {
		t.Error("a header")
	}
}

func TestBlockCacheTracerTest_AtomicWrite(t *testing.T) {
	x := newCacheTrace(t)
	var tracer tracereplay.BlockCacheTracer
	x.start(&tracer)
	x.must(tracer.WriteBlockAccess(access(0, tracereplay.BlockTraceDataBlock)))
	x.must(tracer.EndTrace())
	x.want(stored(0, tracereplay.BlockTraceDataBlock))
}

func TestBlockCacheTracerTest_ConsecutiveStartTrace(t *testing.T) {
	x := newCacheTrace(t)
	var tracer tracereplay.BlockCacheTracer
	x.start(&tracer)
	if err := tracer.StartTrace(tracereplay.DefaultBlockCacheTraceOptions(), nil); !errors.Is(err, rocksdb.ErrBusy) {
		t.Error(err)
	}
	x.must(tracer.EndTrace())
	_, err := os.Stat(x.path)
	x.must(err)
}

func TestBlockCacheTracerTest_AtomicNoWriteAfterEndTrace(t *testing.T) {
	x := newCacheTrace(t)
	var tracer tracereplay.BlockCacheTracer
	x.start(&tracer)
	for range 2 { // the second time there is no trace
		x.must(tracer.WriteBlockAccess(access(0, tracereplay.BlockTraceDataBlock)))
		x.must(tracer.EndTrace())
	}
	x.want(stored(0, tracereplay.BlockTraceDataBlock))
}

func TestBlockCacheTracerTest_NextGetId(t *testing.T) {
	x := newCacheTrace(t)
	var tracer tracereplay.BlockCacheTracer
	want := func(ids ...uint64) {
		t.Helper()
		for _, id := range ids {
			if got := tracer.NextGetID(); got != id {
				t.Errorf("%d, not %d", got, id)
			}
		}
	}
	want(0, 0)
	x.start(&tracer)
	want(1, 2)
	x.must(tracer.EndTrace())
	want(0)
	x.start(&tracer)
	want(1)
	x.must(tracer.EndTrace())
}

func TestBlockCacheTracerTest_MixedBlocks(t *testing.T) {
	x := newCacheTrace(t)
	w := x.writer()
	x.must(w.WriteHeader())
	var want []*tracereplay.BlockCacheTraceRecord
	for i, typ := range []tracereplay.TraceType{tracereplay.BlockTraceUncompressionDictBlock, tracereplay.BlockTraceDataBlock,
		tracereplay.BlockTraceFilterBlock, tracereplay.BlockTraceIndexBlock, tracereplay.BlockTraceRangeDeletionBlock} {
		for n := 10 * i; n < 10*i+10; n++ {
			x.must(w.WriteBlockAccess(access(n, typ)))
			want = append(want, stored(n, typ))
		}
	}
	x.must(w.Close())
	x.want(want...)
}

func TestBlockCacheTracerTest_HumanReadableTrace(t *testing.T) {
	x := newCacheTrace(t)
	a := access(0, tracereplay.BlockTraceDataBlock)
	a.GetID, a.Caller = 1, rocksdb.CallerUserGet
	a.ReferencedKey = util.AppendFixed32(nil, 111)
	a.ReferencedKey = util.AppendLengthPrefixedSlice(a.ReferencedKey, []byte("get_key"))
	a.ReferencedKey = util.AppendFixed64(a.ReferencedKey, 2<<8)
	a.BlockKey = util.AppendVarint64(util.AppendLengthPrefixedSlice(a.BlockKey, []byte("block_key")), 333)
	var b bytes.Buffer
	x.must(tracereplay.WriteHumanReadableTraceRecord(&b, a, 1, 1))
	r := tracereplay.NewBlockCacheHumanReadableTraceReader(&b)
	_, err := r.ReadHeader()
	x.must(err)
	got, err := r.ReadAccess()
	x.must(err)
	if len(got.BlockKey) != len(a.BlockKey) {
		t.Errorf("block key of %d bytes, not %d", len(got.BlockKey), len(a.BlockKey))
	}
	if got.GetTableID() != 112 || got.GetSequenceNumber() != 3 || got.GetBlockOffsetInFile() != 333 {
		t.Errorf("table %d, sequence number %d, offset %d", got.GetTableID(), got.GetSequenceNumber(), got.GetBlockOffsetInFile())
	}
	got.BlockKey, got.ReferencedKey = a.BlockKey, a.ReferencedKey // their sizes alone are told
	if d := cmp.Diff(*a, got); d != "" {
		t.Error(d)
	}
	if _, err := r.ReadAccess(); !rocksdb.IsIncomplete(err) {
		t.Error(err)
	}
}

// Accesses are sampled by block.
func TestBlockCacheTraceSamplesBlocks(t *testing.T) {
	x := newCacheTrace(t)
	var tracer tracereplay.BlockCacheTracer
	x.must(tracer.StartTrace(tracereplay.BlockCacheTraceOptions{SamplingFrequency: 4}, x.writer()))
	for range 3 {
		for n := range 400 {
			x.must(tracer.WriteBlockAccess(access(n, tracereplay.BlockTraceDataBlock)))
		}
	}
	x.must(tracer.EndTrace())
	r := x.reader()
	_, err := r.ReadHeader()
	x.must(err)
	seen := map[string]int{}
	for {
		a, err := r.ReadAccess()
		if err != nil {
			break
		}
		seen[string(a.BlockKey)]++
	}
	if len(seen) < 50 || len(seen) > 150 {
		t.Errorf("%d blocks of 400", len(seen))
	}
	for k, n := range seen {
		if n != 3 {
			t.Errorf("%s: %d of 3 accesses", k, n)
		}
	}
}

// Invariant: no bytes make the readers panic or allocate without end.
func FuzzBlockCacheTrace(f *testing.F) {
	f.Add([]byte("1,2,9,4,5,default,7,8,1,0,11,12,13,1,1,16,17,18,40,40,21\n"))
	f.Add([]byte("1,2,9,4,5,default,7,8,1,0,11,12,13,1,1,16,17,18,99999999999999,40,21\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		human := tracereplay.NewBlockCacheHumanReadableTraceReader(bytes.NewReader(data))
		for {
			a, err := human.ReadAccess()
			if err != nil {
				break
			}
			a.GetSequenceNumber()
		}
		binary := tracereplay.NewBlockCacheTraceReader(oneRecord{data})
		if a, err := binary.ReadAccess(); err == nil {
			a.ComputeRowKey()
		}
		_, _ = binary.ReadHeader()
	})
}

// oneRecord is a trace of one record.
type oneRecord struct{ data []byte }

func (r oneRecord) Read() ([]byte, error) { return r.data, nil }
func (oneRecord) Reset() error            { return nil }
func (oneRecord) Close() error            { return nil }
