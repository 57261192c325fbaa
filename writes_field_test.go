// No upstream twin: public reports about writes, flushes, stalls and what is
// counted, each with the outcome that is right. Their ids stand beside the
// tests.

package rocksdb_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestFieldSlowManifest(t *testing.T) { // facebook/rocksdb#10257
	fs := newHookFS()
	fs.hook = func(op, path string, _ uint64, _ int) error {
		if (op == "append" || op == "sync") && strings.HasPrefix(filepath.Base(path), "MANIFEST") {
			time.Sleep(2 * time.Millisecond)
		}
		return nil
	}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.DisableAutoCompactions, o.Env, o.MaxBackgroundJobs, o.WriteBufferSize, o.MaxWriteBufferNumber = false, fs.env(), 2, 64<<10, 2
		o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 4, 6
		o.Statistics = rocksdb.NewStatistics()
	}, "c1", "c2", "c3", "c4")
	value := make([]byte, 256)
	const n = 1000
	for i := range n {
		for _, c := range x.cfs {
			x.must(c.Put(nil, fmt.Appendf(nil, "k%05d", i), value))
		}
	}
	for _, c := range x.cfs {
		x.must(c.Flush(nil))
	}
	x.must(x.db.WaitForCompact(nil))
	for name := range x.cfs {
		if got := strings.Count(x.scan(name), "="); got != n {
			t.Errorf("%s: %d keys", name, got)
		}
	}
}

func TestFieldUpdatesAfterRestarts(t *testing.T) { // facebook/rocksdb#10476
	x := newRecoveryTest(t, func(o *rocksdb.Options) { o.WALTTLSeconds = 3600 })
	var starts []rocksdb.SequenceNumber
	for range 5 {
		for n := 1; n <= 3; n++ {
			starts = append(starts, x.db.GetLatestSequenceNumber()+1)
			var b rocksdb.WriteBatch
			for i := range n {
				x.must(b.Put(fmt.Append(nil, "k", i), []byte("v")))
			}
			x.must(x.db.Write(nil, &b))
		}
		x.must(x.open("db", x.o))
	}
	first := func(since rocksdb.SequenceNumber) string {
		t.Helper()
		it, err := x.db.GetUpdatesSince(since, nil)
		if err != nil {
			return outcome(nil, err)
		}
		defer it.Close()
		if !it.Valid() {
			return "-"
		}
		return fmt.Sprint(it.GetBatch().Sequence)
	}
	if fmt.Sprint(starts) != "[1 2 4 7 8 10 13 14 16 19 20 22 25 26 28]" {
		t.Error(starts)
	}
	for _, s := range starts {
		x.same("since", first(s), fmt.Sprint(s))
	}
	x.same("since 5", first(5), "4")
	x.same("since 0", first(0), "1")
	x.same("since 31", first(31), "NotFound")
	x.same("since 32", first(32), "NotFound")
	it, err := x.db.GetUpdatesSince(1, nil)
	x.must(err)
	defer it.Close()
	for i := 0; it.Valid(); i++ {
		if s := it.GetBatch().Sequence; i >= len(starts) || s != starts[i] {
			t.Error(i, s)
		}
		it.Next()
	}
	x.must(it.Err())
}

func TestFieldFlushedBytesOnce(t *testing.T) { // facebook/rocksdb#1086
	for _, blobs := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.Compression, o.Statistics, o.EnableBlobFiles = rocksdb.NoCompression, rocksdb.NewStatistics(), blobs
		})
		const rounds = 3
		for r := range rounds {
			for i := range 500 {
				x.put(fmt.Sprintf("k%d-%04d", r, i), strings.Repeat("v", 1024))
			}
			x.flush()
		}
		var size uint64
		for _, pattern := range []string{"*.sst", "*.blob"} {
			files, _ := filepath.Glob(filepath.Join(x.root, "db", pattern))
			for _, f := range files {
				info, err := os.Stat(f)
				x.must(err)
				size += uint64(info.Size())
			}
		}
		if n := x.o.Statistics.GetTickerCount(rocksdb.FlushWriteBytes); n < size || n > size+rounds*1024 {
			t.Errorf("%d bytes written, files of %d", n, size)
		}
		if n := x.o.Statistics.GetTickerCount(rocksdb.CompactWriteBytes); n != 0 {
			t.Error("compacted", n)
		}
		x.close()
	}
}

func TestFieldTTL(t *testing.T) { // facebook/rocksdb#11256, #5485
	for _, ttl := range []int32{473040000, 2147483647, 0, -1} {
		dir, o := t.TempDir(), rocksdb.DefaultOptions()
		o.CreateIfMissing = true
		get := func(x *rocksdb.DBWithTTL) string {
			var v rocksdb.PinnableSlice
			defer v.Release()
			err := x.Get(nil, x.DefaultColumnFamily(), []byte("k"), &v)
			return outcome(v.Data(), err)
		}
		x, err := rocksdb.OpenTTL(dir, o, ttl, false)
		if err != nil {
			t.Fatal(err)
		}
		cf := x.DefaultColumnFamily()
		co := rocksdb.DefaultCompactRangeOptions()
		co.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
		for _, err := range []error{x.Put(nil, cf, []byte("k"), []byte("v")), x.Flush(nil, cf), x.CompactRange(&co, cf, nil, nil)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if s := get(x); s != "v" {
			t.Error(ttl, s)
		}
		for range 2 {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
		if x, err = rocksdb.OpenTTL(dir, o, ttl, false); err != nil {
			t.Fatal(err)
		}
		if s := get(x); s != "v" {
			t.Error(ttl, s)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestFieldDisableManualCompaction(t *testing.T) { // facebook/rocksdb#12578
	g := &gate{compactions: make(chan struct{}), began: make(chan struct{}, 100)}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MaxBackgroundJobs, o.Listeners = 2, append(o.Listeners, g)
	})
	for i := range 4 {
		x.put("a", fmt.Sprint(i), "z", fmt.Sprint(i))
		x.flush()
	}
	results := make(chan error, 4)
	start := func(i int) {
		go func() {
			o := rocksdb.DefaultCompactRangeOptions()
			o.ExclusiveManualCompaction = i%2 == 0
			results <- x.db.CompactRange(&o, nil, nil)
		}()
	}
	start(0)
	<-g.began
	for i := 1; i < 4; i++ {
		start(i)
	}
	disabled := make(chan struct{})
	go func() {
		x.db.DisableManualCompaction()
		close(disabled)
	}()
	paused := func(err error) {
		t.Helper()
		if s := contract.AsStatus(err); err == nil || s.Code != rocksdb.CodeIncomplete || s.SubCode != contract.SubCodeManualCompactionPaused {
			t.Error(err)
		}
	}
	for range 3 {
		paused(<-results) // while the first is held up
	}
	select {
	case <-disabled:
		t.Error("DisableManualCompaction did not wait for the one that runs")
	default:
	}
	close(g.compactions)
	paused(<-results)
	<-disabled
	paused(x.compactRange(false, nil, nil))
	x.db.EnableManualCompaction()
	x.compact(false)
	x.same("scan", x.forward(nil), "a=3 z=3")
}

func TestFieldLockWAL(t *testing.T) { // facebook/rocksdb#12652; a goroutine is not known by its lock
	x := newFieldTest(t, nil)
	path := filepath.Join(x.root, "x.sst")
	w := rocksdb.NewSstFileWriter(x.o, nil)
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	x.must(w.Put([]byte("b"), []byte("2")))
	x.must(w.Finish(nil))
	x.put("a", "1")
	x.must(x.db.LockWAL())
	done := make(chan error, 3)
	go func() { done <- x.db.Flush(nil) }()
	go func() { done <- x.db.IngestExternalFile([]string{path}, nil) }()
	go func() { done <- x.db.Put(nil, []byte("c"), []byte("3")) }()
	select {
	case err := <-done:
		t.Error("one went through", err)
	case <-time.After(200 * time.Millisecond):
	}
	if n := len(x.db.GetLiveFilesMetaData()); n != 0 || x.db.GetLatestSequenceNumber() != 1 {
		t.Error(n, x.db.GetLatestSequenceNumber())
	}
	x.same("read", x.get(nil, "a"), "1")
	x.must(x.db.UnlockWAL())
	for range 3 {
		x.must(<-done)
	}
	x.same("scan", x.forward(nil), "a=1 b=2 c=3")
	if err := x.db.UnlockWAL(); rocksdb.CodeOf(err) != rocksdb.CodeAborted {
		t.Error(err)
	}
	x.must(x.db.LockWAL())
	wo := rocksdb.DefaultWriteOptions()
	wo.NoSlowdown = true
	if err := x.db.Put(&wo, []byte("d"), nil); rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
		t.Error(err)
	}
	x.must(x.db.UnlockWAL())
}

func TestFieldMemTableStats(t *testing.T) { // facebook/rocksdb#13047
	const n = 50000
	for _, shuffled := range []bool{true, false} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) { o.WriteBufferSize = 1 << 30 })
		wo := rocksdb.DefaultWriteOptions()
		wo.DisableWAL = true
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		r := rand.New(rand.NewPCG(1, 3))
		if shuffled {
			r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		for _, i := range order {
			x.must(x.db.Put(&wo, fmt.Appendf(nil, "%08d", i), []byte("0123456789")))
		}
		stats := func(from, to int) (count, size uint64) {
			return x.db.GetApproximateMemTableStats(rocksdb.Range{Start: fmt.Appendf(nil, "%08d", from), Limit: fmt.Appendf(nil, "%08d", to)})
		}
		for range 200 {
			from := r.IntN(n - 1000)
			if c, size := stats(from, from+1000); c < 400 || c > 2500 || size != c*28 {
				t.Errorf("1000 entries are said to be %d, %d bytes", c, size)
			}
		}
		for _, width := range []int{1, 10} {
			if c, _ := stats(777, 777+width); c != uint64(width) {
				t.Errorf("%d entries are said to be %d", width, c)
			}
		}
		if c, _ := stats(0, n); c < n/2 || c > n {
			t.Error("all", c)
		}
		for _, r := range [][2]int{{n, 2 * n}, {10, 5}, {5, 5}} {
			if c, size := stats(r[0], r[1]); c != 0 || size != 0 {
				t.Error(r, c, size)
			}
		}
		x.close()
	}
}

func TestFieldFlushesDoNotWaitForOthers(t *testing.T) { // facebook/rocksdb#13280
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MinWriteBufferNumberToMerge, o.MaxWriteBufferNumber = 2, 4
	})
	for i := range 20 {
		x.put(fmt.Sprintf("k%02d", i), "v")
		var wg sync.WaitGroup
		fails := make(chan error, 4)
		wg.Go(func() { fails <- x.db.Flush(nil) })
		wg.Go(func() {
			fails <- x.db.Put(nil, []byte("z"), []byte("z"))
			fails <- x.db.Flush(nil)
		})
		wg.Go(func() { fails <- x.compactRange(false, nil, nil) })
		wg.Wait()
		for range 4 {
			x.must(<-fails)
		}
	}
	x.put("q", "v")
	x.flush()
	number := func(name string) uint64 {
		n, ok := x.db.GetIntProperty(name)
		if !ok {
			t.Error(name)
		}
		return n
	}
	if a, b := number("rocksdb.num-immutable-mem-table"), number("rocksdb.num-entries-active-mem-table"); a != 0 || b != 0 {
		t.Error(a, b)
	}
	x.put("q2", "v")
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
	x.compact(true) // some of the files may only have been moved down
	x.same("files", x.levels(7), "0 0 0 0 0 0 1")
}

func TestFieldScansOverTombstones(t *testing.T) { // facebook/rocksdb#13308
	const n = 2000
	for _, trigger := range []uint32{0, 1000} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.WriteBufferSize, o.PrefixExtractor, o.MemtableOpScanFlushTrigger = 256<<20, rocksdb.NewFixedPrefixTransform(2), trigger
		})
		for i := range n {
			k := fmt.Sprintf("p1%06d", i)
			x.put(k, "v")
			x.del(k)
		}
		scan := func(when, want string) {
			t.Helper()
			perf := &rocksdb.PerfContext{Level: rocksdb.EnableCount}
			x.same(when, x.walk(readOptions(func(ro *rocksdb.ReadOptions) { ro.PrefixSameAsStart, ro.PerfContext = true, perf }), "+p1"), "-")
			x.same(when+": deletions and keys passed", fmt.Sprint(perf.InternalDeleteSkippedCount, " ", perf.InternalKeySkippedCount), want)
		}
		scan("first", "2000 2000")
		scan("second", "2000 2000")
		x.put("zz", "v", "zy", "v")
		if trigger == 0 {
			scan("after writes", "2000 2000")
			x.compact(false)
			scan("after a flush", "2000 0")
			x.compact(true)
			scan("compacted", "0 0")
			x.close()
			continue
		}
		for range 6000 {
			if x.levels(1) == "1" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		x.same("files", x.levels(1), "1")
		scan("flushed", "2000 0")
		x.compact(false)
		scan("compacted", "0 0")
		x.close()
	}
}

func TestFieldHandMadeBatch(t *testing.T) { // facebook/rocksdb#3480; refused before the log
	x := newFieldTest(t, nil)
	x.put("a", "1")
	var b rocksdb.WriteBatch
	x.must(b.SetContents([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x01k\xff\xff\xff\xff\x7fx")))
	if err := x.db.Write(nil, &b); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		t.Error(err)
	}
	x.put("b", "2")
	x.flush()
	x.same("scan", x.forward(nil), "a=1 b=2")
	x.reopen()
	x.same("reopened", x.forward(nil), "a=1 b=2")
}

func TestFieldFlushWhileWritesAreStopped(t *testing.T) { // facebook/rocksdb#9892
	g := &gate{compactions: make(chan struct{}), began: make(chan struct{}, 100)}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.DisableAutoCompactions, o.Listeners = false, append(o.Listeners, g)
		o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 3, 4
	}, "c")
	x.putIn("c", "q", "v")
	stalling := rocksdb.DefaultFlushOptions()
	stalling.AllowWriteStall = true
	for i := range 4 {
		x.put("k", fmt.Sprint(i))
		x.must(x.db.Flush(&stalling))
	}
	stopped := func() uint64 { n, _ := x.db.GetIntProperty("rocksdb.is-write-stopped"); return n }
	if stopped() != 1 {
		t.Fatal("writes go on")
	}
	for _, allow := range []bool{false, true} {
		if err := x.cfs["c"].Flush(&rocksdb.FlushOptions{AllowWriteStall: allow}); rocksdb.CodeOf(err) != rocksdb.CodeTryAgain {
			t.Error(allow, err)
		}
	}
	wo := rocksdb.DefaultWriteOptions()
	wo.NoSlowdown = true
	if err := x.db.Put(&wo, []byte("k"), nil); rocksdb.CodeOf(err) != rocksdb.CodeIncomplete {
		t.Error(err)
	}
	x.must(x.cfs["c"].Flush(&stalling))
	if stopped() != 1 {
		t.Error("writes go on")
	}
	close(g.compactions)
	x.must(x.db.WaitForCompact(nil))
	if stopped() != 0 {
		t.Error("writes are stopped")
	}
	x.put("k", "5")
	x.must(x.db.Flush(&rocksdb.FlushOptions{}))
}

func TestFieldEmptyKey(t *testing.T) { // google/leveldb#103
	x := newFieldTest(t, nil)
	x.put("", "v", "a", "w")
	x.flush()
	if f := x.tables(0); len(f) != 1 || len(f[0].SmallestKey) != 0 || string(f[0].LargestKey) != "a" {
		t.Errorf("%+v", f)
	}
	x.compact(false)
	x.same("files", x.levels(7), "0 0 0 0 0 0 1")
	x.same("get", x.get(nil, ""), "v")
	x.same("forward", x.forward(nil), "=v a=w")
	x.same("backward", x.backward(nil), "a=w =v")
	it := x.db.NewIterator(nil)
	it.SeekForPrev(nil)
	if !it.Valid() || len(it.Key()) != 0 {
		t.Error(at(it))
	}
	if it.Prev(); it.Valid() || it.Status() != nil {
		t.Error(at(it))
	}
	it.Close()
	x.del("")
	x.compact(false)
	x.same("deleted", x.get(nil, "")+" "+x.forward(nil), "NotFound a=w")
}

func TestFieldNilValues(t *testing.T) { // linxGnu/grocksdb#143
	x := newFieldTest(t, nil, "c")
	x.must(x.cfs["c"].Put(nil, []byte("k"), nil))
	x.must(x.cfs["c"].Put(nil, []byte("k2"), []byte{}))
	x.reopen("c")
	for range 2 {
		x.same("k", getFrom(x.cfs["c"], nil, "k"), "")
		x.same("nope", getFrom(x.cfs["c"], nil, "nope"), "NotFound")
		x.same("default", x.get(nil, "k"), "NotFound")
		x.must(x.cfs["c"].Flush(nil))
	}
}

func TestFieldCallersSlicesMayGo(t *testing.T) { // linxGnu/grocksdb#172
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	})
	for ts := uint64(1); ts <= 20; ts++ {
		for i := range 20 {
			x.must(x.db.PutWithTimestamp(nil, fmt.Appendf(nil, "k%02d", i), rocksdb.EncodeU64Ts(ts), fmt.Append(nil, "v", ts)))
		}
	}
	var wg sync.WaitGroup
	for ts := uint64(1); ts <= 20; ts++ {
		wg.Go(func() {
			at, upper := rocksdb.EncodeU64Ts(ts), []byte("k10")
			ro := rocksdb.DefaultReadOptions()
			ro.Timestamp, ro.IterateUpperBound = at, upper
			it := x.db.NewIterator(&ro)
			defer it.Close()
			ro = rocksdb.ReadOptions{}
			copy(at, "????????")
			copy(upper, "???")
			if ts%5 == 0 {
				runtime.GC()
			}
			i := 0
			for it.SeekToFirst(); it.Valid(); it.Next() {
				n, err := rocksdb.DecodeU64Ts(it.Timestamp())
				if pairOf(it) != fmt.Sprintf("k%02d=v%d", i, ts) || n != ts || err != nil {
					t.Errorf("%s at %d, not %d", pairOf(it), n, ts)
				}
				i++
			}
			if i != 10 || it.Status() != nil {
				t.Error(i, it.Status())
			}
		})
	}
	wg.Wait()
}

func TestFieldExpiredUntilCompacted(t *testing.T) { // facebook/rocksdb#1445
	for _, flushed := range []bool{false, true} {
		clock := &offsetClock{SystemClock: env.Default().GetSystemClock()}
		dir, o := t.TempDir(), rocksdb.DefaultOptions()
		o.CreateIfMissing, o.Env = true, env.NewCompositeEnvWrapper(env.Default(), nil, clock)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		x, err := rocksdb.OpenTTL(dir, o, 1, false)
		must(err)
		cf := x.DefaultColumnFamily()
		get := func(want string) {
			t.Helper()
			var v rocksdb.PinnableSlice
			defer v.Release()
			err := x.Get(nil, cf, []byte("k"), &v)
			if got := outcome(v.Data(), err); got != want {
				t.Errorf("%q, not %q", got, want)
			}
		}
		must(x.Put(nil, cf, []byte("k"), []byte("v")))
		if flushed {
			must(x.Flush(nil, cf))
		}
		clock.seconds.Store(3)
		get("v")
		it := x.NewIterator(nil, cf)
		if it.SeekToFirst(); !it.Valid() || string(it.Value()) != "v" {
			t.Error("expired for an iterator")
		}
		must(it.Close())
		must(x.CompactRange(nil, cf, nil, nil))
		get("NotFound")
		if files, _ := filepath.Glob(filepath.Join(dir, "*.sst")); len(files) != 0 {
			t.Error(files)
		}
		must(x.Put(nil, cf, []byte("k"), []byte("v2")))
		must(x.Flush(nil, cf))
		must(x.Close())
		db, err := rocksdb.Open(dir, o)
		must(err)
		v, err := db.Get(nil, []byte("k"))
		must(err)
		if len(v.Data()) != 6 { // the time stands behind it
			t.Errorf("%q", v.Data())
		}
		v.Release()
		must(db.Close())
	}
}
