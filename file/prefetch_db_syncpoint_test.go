// Port of file/prefetch_test.cc (PrefetchTest and PrefetchTest1, the cases of
// asynchronous reads).

//go:build syncpoint

package file_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/tools"
	"github.com/rocksdb-go/rocksdb/util"
)

// asyncPrefetchTest is a database whose index is partitioned and whose blocks
// are not cached, and what iterators of it did.
type asyncPrefetchTest struct {
	*testing.T
	db         *rocksdb.DB
	stats      contract.Statistics
	ro         contract.ReadOptions
	perf       *contract.PerfContext
	prefetches *int
}

func buildKey(i int) []byte { return fmt.Appendf(nil, "my_key_%d", i) }

// asyncPrefetchTests runs f with and without direct reads; readahead says
// whether with a ReadaheadSize of 16 KiB too.
func asyncPrefetchTests(t *testing.T, readahead bool, f func(x *asyncPrefetchTest)) {
	for _, direct := range []bool{false, true} {
		for _, size := range []uint64{0, 16 << 10} {
			if size > 0 && !readahead {
				continue
			}
			t.Run(fmt.Sprintf("direct=%t/readahead=%d", direct, size), func(t *testing.T) {
				db, stats := openPrefetchDB(t, false, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
					o.UseDirectReads = direct
					b.NoBlockCache, b.CacheIndexAndFilterBlocks = true, false
					b.MetadataBlockSize, b.IndexType = 1024, contract.TwoLevelIndexSearch
				})
				x := &asyncPrefetchTest{T: t, db: db, stats: stats, ro: contract.DefaultReadOptions(), perf: new(contract.PerfContext)}
				x.perf.Level = contract.EnableCount
				x.ro.AsyncIO, x.ro.AdaptiveReadahead, x.ro.ReadaheadSize, x.ro.PerfContext = true, true, size, x.perf
				t.Cleanup(func() {
					syncpoint.DisableProcessing()
					syncpoint.ClearAllCallBacks()
				})
				f(x)
			})
		}
	}
}

// fill puts n keys, files of them in level 1.
func (x *asyncPrefetchTest) fill(n, files int) {
	x.Helper()
	rnd := util.NewRandom(309)
	for i := range n {
		ok(x.T, x.db.Put(nil, buildKey(i), []byte(rnd.RandomString(1000))))
		if (i+1)%(n/files) == 0 {
			ok(x.T, x.db.Flush(nil))
		}
	}
	ok(x.T, x.db.CompactRange(nil, nil, nil))
	x.prefetches = count("FilePrefetchBuffer::Prefetch:Start")
	x.reset()
}

func (x *asyncPrefetchTest) reset() {
	x.Helper()
	ok(x.T, x.stats.Reset())
	x.perf.Reset()
}

// seek seeks, and counts up to limit entries from there.
func (x *asyncPrefetchTest) seek(it *rocksdb.Iterator, key []byte, limit int) (n int) {
	x.Helper()
	for it.Seek(key); it.Valid() && n < limit; it.Next() {
		n++
	}
	ok(x.T, it.Err())
	return n
}

func (x *asyncPrefetchTest) wantAsync(seeks bool) {
	x.Helper()
	if x.stats.GetHistogramData(contract.HistAsyncReadBytes).Count == 0 {
		x.Error("nothing was read asynchronously")
	}
	if x.perf.NumberAsyncSeek > 0 != seeks {
		x.Errorf("%d asynchronous seeks", x.perf.NumberAsyncSeek)
	}
}

func TestPrefetchTest_ReadAsyncWithPosixFS(t *testing.T) {
	asyncPrefetchTests(t, true, func(x *asyncPrefetchTest) {
		x.fill(5000, 5)
		it := x.db.NewIterator(&x.ro)
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			n++
		}
		ok(x.T, it.Err())
		eq(x.T, n, 5000)
		x.wantAsync(false)
		ok(x.T, it.Close())
		if x.stats.GetHistogramData(contract.HistPrefetchedBytesDiscarded).Count == 0 || *x.prefetches == 0 {
			x.Error("nothing was prefetched")
		}
	})
}

func TestPrefetchTest_MultipleSeekWithPosixFS(t *testing.T) {
	asyncPrefetchTests(t, true, func(x *asyncPrefetchTest) {
		x.fill(5000, 5)
		plain := contract.DefaultReadOptions()
		it := x.db.NewIterator(&plain)
		first, second := x.seek(it, buildKey(450), 100), x.seek(it, buildKey(942), 1<<30)
		ok(x.T, it.Close())

		x.reset()
		it = x.db.NewIterator(&x.ro)
		eq(x.T, x.seek(it, buildKey(450), 100), first)
		x.wantAsync(true)
		x.reset()
		*x.prefetches = 0
		eq(x.T, x.seek(it, buildKey(942), 1<<30), second)
		x.wantAsync(true)
		ok(x.T, it.Close())
		if x.stats.GetHistogramData(contract.HistPrefetchedBytesDiscarded).Count == 0 || *x.prefetches == 0 {
			x.Error("nothing was prefetched")
		}
	})
}

// seekParallelization reads a little more than two blocks, of about four keys
// each. The seek prefetches; the second block does not, since NumFileReads is 2
// then; the third does, unless it was read ahead.
func seekParallelization(x *asyncPrefetchTest, prefetches int) {
	x.fill(2000, 1)
	it := x.db.NewIterator(&x.ro)
	it.Seek(buildKey(0))
	for range 9 {
		eq(x.T, it.Valid(), true)
		it.Next()
	}
	eq(x.T, it.Valid(), true)
	x.wantAsync(true)
	eq(x.T, *x.prefetches, prefetches)
	ok(x.T, it.Close())
}

func TestPrefetchTest1_SeekParallelizationTest(t *testing.T) {
	asyncPrefetchTests(t, false, func(x *asyncPrefetchTest) { seekParallelization(x, 2) })
}

func TestPrefetchTest_SeekParallelizationTestWithPosix(t *testing.T) {
	asyncPrefetchTests(t, true, func(x *asyncPrefetchTest) {
		want := 2
		if x.ro.ReadaheadSize > 0 {
			want = 1
		}
		seekParallelization(x, want)
	})
}

func TestPrefetchTest1_PollErrorRecoveryDuringIteration(t *testing.T) {
	asyncPrefetchTests(t, false, func(x *asyncPrefetchTest) {
		value := func(i int) string { return fmt.Sprintf("value_%d_%s", i, strings.Repeat("x", 100)) }
		want := map[string]string{}
		for i := range 500 {
			want[string(buildKey(i))] = value(i)
			ok(x.T, x.db.Put(nil, buildKey(i), []byte(value(i))))
		}
		ok(x.T, x.db.Flush(nil))
		ok(x.T, x.db.CompactRange(nil, nil, nil))
		polls := 0
		syncpoint.SetCallBack("FilePrefetchBuffer::PollIfNeeded:IOStatus", func(arg any) {
			if polls++; polls == 3 {
				*arg.(*error) = contract.IOError("Injected Poll error for e2e testing")
			}
		})
		scan := func() (n int, err error) {
			it := x.db.NewIterator(&x.ro)
			for it.SeekToFirst(); it.Valid(); it.Next() {
				n++
				if want[string(it.Key())] != string(it.Value()) {
					x.Fatalf("%s has another value", it.Key())
				}
			}
			err = it.Err()
			_ = it.Close() // err again
			return n, err
		}
		syncpoint.EnableProcessing()
		n, err := scan()
		eq(x.T, polls, 3)
		if !contract.IsIOError(err) || n >= 500 {
			x.Fatalf("%d entries, error %v", n, err)
		}
		syncpoint.DisableProcessing()
		n, err = scan()
		ok(x.T, err)
		eq(x.T, n, 500)
	})
}

func TestPrefetchTest_TraceReadAsyncWithCallbackWrapper(t *testing.T) {
	asyncPrefetchTests(t, true, func(x *asyncPrefetchTest) {
		x.fill(5000, 5)
		path := filepath.Join(x.TempDir(), "io_trace_file")
		w, err := rocksdb.NewFileTraceWriter(nil, nil, path)
		ok(x.T, err)
		ok(x.T, x.db.StartIOTrace(rocksdb.DefaultTraceOptions(), w))
		it := x.db.NewIterator(&x.ro)
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			n++
		}
		ok(x.T, it.Err())
		ok(x.T, x.db.EndIOTrace())
		eq(x.T, n, 5000)
		ok(x.T, it.Close())
		x.wantAsync(false)
		if *x.prefetches == 0 {
			x.Error("nothing was prefetched")
		}
		var stdout, stderr bytes.Buffer
		if code := tools.IOTracerParser([]string{"./io_tracer_parser", "-io_trace_file=" + path}, &stdout, &stderr); code != 0 {
			x.Fatal(code, stderr.String())
		}
		if !strings.Contains(stdout.String(), "File Operation: ReadAsync ") {
			x.Error("no ReadAsync in the trace")
		}
	})
}
