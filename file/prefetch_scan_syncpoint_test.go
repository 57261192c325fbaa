// Port of file/prefetch_test.cc (PrefetchTest, PrefetchTailTest and PrefetchTest1
// but for the cases of reads that are asynchronous by the kernel). Differs: reads
// are asynchronous without io_uring too.

//go:build syncpoint

package file_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// scanTest is a database that is opened again with other options, and counts of
// what reads ahead for it: the file system or a FilePrefetchBuffer.
type scanTest struct {
	*testing.T
	fs      *prefetchFS
	dir     string
	o       rocksdb.Options
	b       rocksdb.BlockBasedTableOptions
	db      *rocksdb.DB
	buffers atomic.Int32
}

// newScanTest opens no database yet. Its index is partitioned, and blocks are not
// cached.
func newScanTest(t *testing.T, fsPrefetch, direct bool) *scanTest {
	x := &scanTest{T: t, dir: t.TempDir(), o: rocksdb.DefaultOptions(), b: rocksdb.DefaultBlockBasedTableOptions()}
	x.fs = &prefetchFS{FileSystem: env.DefaultFileSystem(), prefetch: fsPrefetch}
	x.o.Env = env.NewCompositeEnvWrapper(env.Default(), x.fs, nil)
	x.o.CreateIfMissing, x.o.DisableAutoCompactions, x.o.Compression = true, true, rocksdb.NoCompression
	x.o.WriteBufferSize, x.o.TargetFileSizeBase, x.o.Statistics = 1024, 2<<20, rocksdb.NewStatistics()
	x.o.UseDirectReads, x.o.UseDirectIOForFlushAndCompaction = direct, direct
	x.b.NoBlockCache, x.b.CacheIndexAndFilterBlocks = true, false
	x.b.MetadataBlockSize, x.b.IndexType = 1024, contract.TwoLevelIndexSearch
	syncpoint.SetCallBack("FilePrefetchBuffer::Prefetch:Start", func(any) { x.buffers.Add(1) })
	syncpoint.EnableProcessing()
	t.Cleanup(func() {
		x.close()
		syncpoint.DisableProcessing()
		syncpoint.ClearAllCallBacks()
	})
	return x
}

// cache gives the database a block cache.
func (x *scanTest) cache(capacity int) {
	x.b.NoBlockCache, x.b.BlockCache = false, rocksdb.NewLRUCache(capacity)
}

func (x *scanTest) open() {
	x.Helper()
	x.close()
	x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(x.b)
	db, err := rocksdb.Open(x.dir, x.o)
	ok(x.T, err)
	x.db = db
}

func (x *scanTest) close() {
	x.Helper()
	if x.db != nil && !x.Failed() { // a failure's iterators are open
		ok(x.T, x.db.Close())
	}
	x.db = nil
}

// write writes keys from to to by one batch.
func (x *scanTest) write(rnd *util.Random, from, to int) {
	x.Helper()
	var b rocksdb.WriteBatch
	for i := from; i < to; i++ {
		ok(x.T, b.Put(buildKey(i), []byte(rnd.RandomString(1000))))
	}
	ok(x.T, x.db.Write(nil, &b))
}

// fill leaves keys 0 to n in one table.
func (x *scanTest) fill(n int) {
	x.Helper()
	x.write(util.NewRandom(309), 0, n)
	ok(x.T, x.db.CompactRange(nil, nil, nil))
	x.forget()
}

// fillLevel2 leaves 5000 keys in level 2 and tells in how many tables.
func (x *scanTest) fillLevel2() (files int) {
	x.Helper()
	rnd := util.NewRandom(309)
	for i := range 5 {
		x.write(rnd, 1000*i, 1000*(i+1))
		ok(x.T, x.db.Flush(nil))
	}
	x.moveFilesToLevel(2)
	x.forget()
	n, found := x.db.GetProperty("rocksdb.num-files-at-level2")
	eq(x.T, found, true)
	files, err := strconv.Atoi(n)
	ok(x.T, err)
	if files < 2 {
		x.Fatalf("%d files in level 2", files)
	}
	return files
}

func (x *scanTest) moveFilesToLevel(level int) {
	x.Helper()
	for l := range level {
		ok(x.T, x.db.Impl().TestCompactRange(l, nil, nil, x.db.ColumnFamily.Impl(), false))
	}
}

func (x *scanTest) forget() {
	x.fs.prefetches.Store(0)
	x.buffers.Store(0)
}

// took tells how often was read ahead since it was asked the last time, by the
// one that has to: by the file system where that can, and reads are not direct.
func (x *scanTest) took() int32 {
	x.Helper()
	fs, buffers := x.fs.prefetches.Swap(0), x.buffers.Swap(0)
	if !x.fs.prefetch || x.o.UseDirectReads {
		eq(x.T, fs, 0)
		return buffers
	}
	if x.b.IndexType != contract.TwoLevelIndexSearch { // opening tables reads all partitions
		eq(x.T, buffers, 0)
	}
	return fs
}

func (x *scanTest) ticker(t contract.Ticker) uint64 { return x.o.Statistics.GetTickerCount(t) }

func (x *scanTest) reads(h contract.Histogram) uint64 {
	return x.o.Statistics.GetHistogramData(h).Count
}

// seeks makes an iterator seek keys one after the other.
func (x *scanTest) seeks(it *rocksdb.Iterator, keys ...int) {
	x.Helper()
	for _, k := range keys {
		it.Seek(buildKey(k))
		if !it.Valid() {
			x.Fatalf("nothing at or after key %d: %v", k, it.Err())
		}
	}
}

// seekAll is seeks with a new iterator.
func (x *scanTest) seekAll(ro *contract.ReadOptions, keys ...int) {
	x.Helper()
	it := x.db.NewIterator(ro)
	x.seeks(it, keys...)
	ok(x.T, it.Close())
}

// scan counts all entries.
func (x *scanTest) scan(ro *contract.ReadOptions) (n int) {
	x.Helper()
	it := x.db.NewIterator(ro)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	ok(x.T, it.Err())
	ok(x.T, it.Close())
	return n
}

// eachPair runs f with all values of two parameters.
func eachPair(t *testing.T, first, second string, f func(t *testing.T, a, b bool)) {
	for _, a := range []bool{false, true} {
		for _, b := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s=%t/%s=%t", first, a, second, b), func(t *testing.T) { f(t, a, b) })
		}
	}
}

// scanTests runs f with and without a file system that reads ahead, and with and
// without direct reads.
func scanTests(t *testing.T, f func(x *scanTest)) {
	eachPair(t, "fs", "direct", func(t *testing.T, fs, direct bool) { f(newScanTest(t, fs, direct)) })
}

func TestPrefetchTest_Basic(t *testing.T) {
	scanTests(t, func(x *scanTest) {
		x.b = rocksdb.DefaultBlockBasedTableOptions() // the last scan is to find everything in the cache
		x.open()
		const keys = 1100
		write := func(put func(b *rocksdb.WriteBatch, i int) error) {
			var b rocksdb.WriteBatch
			for i := range keys {
				ok(x.T, put(&b, i))
			}
			ok(x.T, x.db.Write(nil, &b))
			ok(x.T, x.db.Flush(nil))
		}
		other := func(i int) []byte { return append(buildKey(i), "key2"...) }
		write(func(b *rocksdb.WriteBatch, i int) error { return b.Put(buildKey(i), []byte("v1")) })
		write(func(b *rocksdb.WriteBatch, i int) error { return b.Put(other(i), []byte("v2")) })
		write(func(b *rocksdb.WriteBatch, i int) error { return b.Delete(other(i)) })
		// Each new table's tail.
		eq(x.T, int(x.took()), len(x.db.GetLiveFilesMetaData()))

		tails, hits, misses := x.reads(contract.HistTableOpenPrefetchTailReadBytes), x.ticker(contract.TableOpenPrefetchTailHit), x.ticker(contract.TableOpenPrefetchTailMiss)
		eq(x.T, x.reads(contract.HistCompactionPrefetchBytes), 0)
		ok(x.T, x.db.CompactRange(nil, buildKey(0), buildKey(keys-1)))
		if n := x.took(); n <= 1 {
			x.Errorf("a compaction read ahead %d times", n)
		}
		ahead := x.o.Statistics.GetHistogramData(contract.HistCompactionPrefetchBytes)
		if x.fs.prefetch && !x.o.UseDirectReads {
			eq(x.T, ahead.Count, 0)
		} else {
			if x.reads(contract.HistTableOpenPrefetchTailReadBytes) <= tails || x.ticker(contract.TableOpenPrefetchTailHit) <= hits ||
				x.ticker(contract.TableOpenPrefetchTailMiss) < misses {
				x.Error("the output's tail was not read ahead")
			}
			want := float64(x.o.CompactionReadaheadSize)
			if ahead.Count == 0 || ahead.Max < want*0.9 || ahead.Max > want*1.1 || ahead.Average < want*0.9 || ahead.Average > want*1.1 {
				x.Errorf("read ahead %+v, want about %g bytes each time", ahead, want)
			}
		}
		ro := rocksdb.DefaultReadOptions()
		eq(x.T, x.scan(&ro), keys)
		if x.took() == 0 {
			x.Error("a scan did not read ahead")
		}
		ro.ReadTier = contract.BlockCacheTier
		eq(x.T, x.scan(&ro), keys)
		eq(x.T, x.took(), 0)
	})
}

func TestPrefetchTailTest_Basic(t *testing.T) {
	scanTests(t, func(x *scanTest) {
		x.b = rocksdb.DefaultBlockBasedTableOptions()
		x.b.IndexType, x.b.PartitionFilters, x.b.FilterPolicy = contract.TwoLevelIndexSearch, true, rocksdb.NewBloomFilterPolicy(10)
		x.open()
		// The file system leaves the reads of the tail's parts to us.
		wantReads := func(h contract.Histogram, before, n uint64) {
			x.Helper()
			if got := x.reads(h) - before; got < n || got == n == (x.fs.prefetch && !x.o.UseDirectReads) {
				x.Errorf("%d reads", got)
			}
		}
		put := func(key, value string) { ok(x.T, x.db.Put(nil, []byte(key), []byte(value))) }
		put("k1", "v1")
		before := x.reads(contract.HistFileReadFlushMicros)
		ok(x.T, x.db.Flush(nil))
		wantReads(contract.HistFileReadFlushMicros, before, 1)
		put("k1", "v2")
		put("k2", "v2")
		ok(x.T, x.db.Flush(nil))
		before = x.reads(contract.HistFileReadCompactionMicros)
		ok(x.T, x.db.CompactRange(nil, nil, nil))
		// The two inputs and the output's tail.
		wantReads(contract.HistFileReadCompactionMicros, before, 3)
	})
}

func TestPrefetchTailTest_UpgradeToTailSizeInManifest(t *testing.T) {
	x := newScanTest(t, false, false)
	x.fs.smallAlignment = true
	x.o.MaxOpenFiles, x.o.WriteBufferSize = -1, 1<<20
	x.b = rocksdb.DefaultBlockBasedTableOptions()
	x.b.IndexType, x.b.MetadataBlockSize, x.b.BlockCache = contract.TwoLevelIndexSearch, 1, rocksdb.NewLRUCache(1)
	// A MANIFEST without the sizes of tails, as by releases before them.
	syncpoint.SetCallBack("FileMetaData::FileMetaData", func(arg any) { arg.(*version.FileMetaData).TailSize = 0 })
	x.open()
	for i := range 10000 {
		ok(t, x.db.Put(nil, []byte("k"+strconv.Itoa(i)), []byte("v")))
	}
	ok(t, x.db.Flush(nil))
	syncpoint.ClearCallBack("FileMetaData::FileMetaData")
	// So little that each partition would be read by itself.
	syncpoint.SetCallBack("BlockBasedTable::Open::TailPrefetchLen", func(arg any) { *arg.(*uint64) = 1 })
	x.open()
	syncpoint.ClearCallBack("BlockBasedTable::Open::TailPrefetchLen")
	props, err := x.db.GetPropertiesOfAllTables()
	ok(t, err)
	partitions := uint64(0)
	for _, p := range props {
		partitions += p.IndexPartitions
	}
	if n := x.reads(contract.HistFileReadDBOpenMicros); n >= partitions {
		t.Errorf("%d reads for %d partitions of indexes", n, partitions)
	}
}

// configureReadahead changes options of readahead between scans of level 2, level
// 1 and level 0, and wants none at level 0.
func configureReadahead(t *testing.T, initial func(b *rocksdb.BlockBasedTableOptions), options [3]string) {
	scanTests(t, func(x *scanTest) {
		initial(&x.b)
		x.o.MaxOpenFiles = 5000
		// Tables are opened when they are read, not with the database.
		syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = 11 })
		x.open()
		const keys = 100
		key := func(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }
		rnd := util.NewRandom(309)
		for level := 2; level >= 0; level-- {
			for i := range keys {
				ok(x.T, x.db.Put(nil, key(level*keys+i), []byte(rnd.RandomString(500))))
			}
			ok(x.T, x.db.Flush(nil))
			x.moveFilesToLevel(level)
		}
		x.open()
		it := x.db.NewIterator(nil)
		x.forget()
		var took [3]int32
		for level := 2; level >= 0; level-- {
			ok(x.T, x.db.SetOptions(map[string]string{"block_based_table_factory": options[level]}))
			ok(x.T, it.Err())
			ok(x.T, it.Refresh(nil)) // to the present options
			for i := range keys {
				it.Seek(key(level*keys + i))
				it.Next()
			}
			ok(x.T, it.Err())
			took[level] = x.took()
			if took[level] > 0 != (level > 0) {
				x.Errorf("level %d: read ahead %d times", level, took[level])
			}
		}
		ok(x.T, it.Close())
		if !x.fs.prefetch && took[1] <= took[2] {
			x.Errorf("read ahead %v times", took)
		}
	})
}

func TestPrefetchTest_ConfigureAutoMaxReadaheadSize(t *testing.T) {
	configureReadahead(t, func(b *rocksdb.BlockBasedTableOptions) { b.MaxAutoReadaheadSize = 0 }, [...]string{
		"{max_auto_readahead_size=0;}", "{max_auto_readahead_size=4096;}", "{max_auto_readahead_size=65536;}"})
}

func TestPrefetchTest_ConfigureInternalAutoReadaheadSize(t *testing.T) {
	configureReadahead(t, func(b *rocksdb.BlockBasedTableOptions) { b.InitialAutoReadaheadSize = 0 }, [...]string{
		"{initial_auto_readahead_size=0;}", "{initial_auto_readahead_size=4096;max_auto_readahead_size=4096;}",
		"{initial_auto_readahead_size=65536;}"})
}

func TestPrefetchTest_ConfigureNumFilesReadsForReadaheadSize(t *testing.T) {
	scanTests(t, func(x *scanTest) {
		x.b.NumFileReadsForAutoReadahead = 0
		x.open()
		x.fill(2000)
		x.open()
		x.forget()
		// Seeks of blocks of four keys one after the other, two of which are read
		// ahead. Keys 0 (which reads ahead in the index as well), 1008 and 1033
		// read ahead; 103 leaves out two blocks that are in the buffer.
		x.seekAll(nil, 0, 1000, 1004, 1008, 1011, 1015, 1019, 103, 1033)
		eq(x.T, x.took(), 4)
	})
}

func TestPrefetchTest_PrefetchWhenReseek(t *testing.T) {
	scanTests(t, func(x *scanTest) {
		x.open()
		x.fill(2000)
		want := func(n int32) {
			x.Helper()
			eq(x.T, x.took(), n)
		}
		// The third block in a row reads ahead, and those that are not in the
		// buffer then.
		x.seekAll(nil, 0, 1000, 1004, 1008, 1011, 1015, 1019, 103, 1033)
		want(3)
		x.seekAll(nil, 0, 1008, 1019, 1033, 1048) // not in a row
		want(0)
		x.seekAll(nil, 0, 1, 10, 100) // one block
		want(0)
		// Back again: begins anew, with what readahead begins with.
		it := x.db.NewIterator(nil)
		x.seeks(it, 0, 1000, 1004, 1008, 996, 992, 989)
		want(1)
		x.seeks(it, 1011, 1015, 1019, 1022, 1026, 103)
		want(2)
		ok(x.T, it.Close())
		// Partitions of the index in a row.
		x.seekAll(nil, 0, 1167, 1334, 1499, 1667, 1847, 1999)
		want(1)
		var apart []int
		for i := range 10 {
			apart = append(apart, 100*i, 1000+100*i)
		}
		x.seekAll(nil, apart...)
		want(0)
		x.scan(nil)
		want(13)
	})
}

func TestPrefetchTest_PrefetchWhenReseekwithCache(t *testing.T) {
	scanTests(t, func(x *scanTest) {
		x.cache(4 << 20)
		x.open()
		x.fill(2000)
		x.seekAll(nil, 1011, 1015, 1019)
		eq(x.T, x.took(), 1)
		// 1004 reads ahead; 1015 and 1019 would, but are in the cache; 1026 does.
		x.seekAll(nil, 0, 1000, 1004, 1011, 1015, 1019, 1022, 1026, 103, 1033, 1037)
		want := int32(2)
		if x.fs.prefetch && !x.o.UseDirectReads {
			want = 3
		}
		eq(x.T, x.took(), want)
	})
}

// sameScan wants the same keys with both options.
func (x *scanTest) sameScan(ro, other *contract.ReadOptions, seek, bound string, samePrefix bool) {
	x.Helper()
	a, b := x.twoIterators(ro, other, bound, samePrefix)
	a.Seek([]byte(seek))
	b.Seek([]byte(seek))
	n := 0
	for ; a.Valid() && b.Valid(); n++ {
		eq(x.T, string(a.Key()), string(b.Key()))
		a.Next()
		b.Next()
	}
	if a.Valid() || b.Valid() || n == 0 {
		x.Errorf("%d entries, more with one of the options", n)
	}
	ok(x.T, a.Close())
	ok(x.T, b.Close())
}

func (x *scanTest) twoIterators(ro, other *contract.ReadOptions, bound string, samePrefix bool) (a, b *rocksdb.Iterator) {
	for _, o := range []*contract.ReadOptions{ro, other} {
		if o.IterateUpperBound = nil; bound != "" {
			o.IterateUpperBound = []byte(bound)
		}
		o.PrefixSameAsStart = samePrefix
	}
	return x.db.NewIterator(ro), x.db.NewIterator(other)
}

const tunePrefix = "my_key_"

// fillLetters puts ten keys a letter, of one to ten of it after tunePrefix.
func (x *scanTest) fillLetters() {
	x.Helper()
	rnd := util.NewRandom(309)
	var b rocksdb.WriteBatch
	for c := 'a'; c <= 'z'; c++ {
		for n := range 10 {
			ok(x.T, b.Put([]byte(tunePrefix+strings.Repeat(string(c), n+1)), []byte(rnd.RandomString(1000))))
		}
	}
	ok(x.T, x.db.Write(nil, &b))
	ok(x.T, x.db.CompactRange(nil, nil, nil))
}

func TestPrefetchTest_PrefetchWithBlockLookupAutoTuneTest(t *testing.T) {
	eachPair(t, "readahead", "async", func(t *testing.T, readahead, async bool) {
		x := newScanTest(t, false, false)
		x.o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(len(tunePrefix))
		x.open()
		x.fillLetters()
		for reads := range 3 {
			x.cache(1 << 20)
			x.b.NumFileReadsForAutoReadahead = uint64(reads)
			x.open()
			it := x.db.NewIterator(nil)
			for _, key := range []string{"bbb", "ccccccccc", "ddd", "ddddddd", "e", "eeeee", "eeeeeeeee"} {
				it.Seek([]byte(tunePrefix + key))
				eq(t, it.Valid(), true)
			}
			ok(t, it.Close())
			ro := rocksdb.DefaultReadOptions()
			if readahead {
				ro.ReadaheadSize = 32768
			}
			other := ro
			ro.AsyncIO, ro.AutoReadaheadSize, other.AutoReadaheadSize = async, true, false
			x.sameScan(&ro, &other, tunePrefix+"aaa", tunePrefix+"uuu", false)
			x.sameScan(&ro, &other, tunePrefix+"v", tunePrefix+"y", false)
			x.sameScan(&ro, &other, tunePrefix+"aaa", "", true)
		}
	})
}

func TestPrefetchTest_PrefetchWithBlockLookupAutoTuneWithPrev(t *testing.T) {
	x := newScanTest(t, false, false)
	x.o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(len(tunePrefix))
	x.cache(1 << 20)
	x.open()
	x.fillLetters()
	for _, c := range []struct {
		bound      string
		samePrefix bool
	}{{tunePrefix + "uuu", false}, {"", true}} {
		ro, other := rocksdb.DefaultReadOptions(), rocksdb.DefaultReadOptions()
		ro.AutoReadaheadSize, other.AutoReadaheadSize = true, false
		a, b := x.twoIterators(&ro, &other, c.bound, c.samePrefix)
		for _, move := range []func(it *rocksdb.Iterator){
			func(it *rocksdb.Iterator) { it.Seek([]byte(tunePrefix + "bbb")) },
			(*rocksdb.Iterator).Prev,
			func(it *rocksdb.Iterator) { it.Seek([]byte(tunePrefix + "bbb")) },
		} {
			move(a)
			move(b)
			eq(t, [2]bool{a.Valid(), b.Valid()}, [2]bool{true, true})
			eq(t, string(a.Key()), string(b.Key()))
		}
		ok(t, a.Close())
		ok(t, b.Close())
	}
}

// levelReadahead scans level 2 and looks how the readahead of one table is handed
// on to the next.
func levelReadahead(t *testing.T, async bool) {
	eachPair(t, "direct", "adaptive", func(t *testing.T, direct, adaptive bool) {
		x := newScanTest(t, false, direct)
		x.open()
		files := x.fillLevel2()
		carried := 0
		syncpoint.SetCallBack("BlockPrefetcher::SetReadaheadState", func(arg any) {
			carried++
			if size := *arg.(*int); size <= 8<<10 {
				t.Errorf("a table begins with readahead of %d bytes", size)
			}
		})
		syncpoint.SetCallBack("FilePrefetchBuffer::TryReadFromCache", func(arg any) {
			if *arg.(*int) == 0 {
				t.Error("no readahead")
			}
		})
		ro := rocksdb.DefaultReadOptions()
		ro.AdaptiveReadahead, ro.AsyncIO = adaptive, async
		ok(t, x.o.Statistics.Reset())
		eq(t, x.scan(&ro), 5000)
		want := 0
		if adaptive {
			want = 2 * (files - 1) // index and data
		}
		eq(t, carried, want)
		if x.took() == 0 {
			t.Error("nothing was read ahead")
		}
		eq(t, x.reads(contract.HistAsyncReadBytes) > 0, async)
	})
}

func TestPrefetchTest_DBIterLevelReadAhead(t *testing.T) { levelReadahead(t, false) }

func TestPrefetchTest_DBIterLevelReadAheadWithAsyncIO(t *testing.T) { levelReadahead(t, true) }

func TestPrefetchTest_AvoidBlockCacheLookupTwice(t *testing.T) {
	eachPair(t, "direct", "async", func(t *testing.T, direct, async bool) {
		x := newScanTest(t, false, direct)
		x.cache(4 << 20)
		x.open()
		x.fill(1000)
		ro := rocksdb.DefaultReadOptions()
		ro.AsyncIO = async
		ok(t, x.o.Statistics.Reset())
		x.seekAll(&ro, 99)
		eq(t, x.ticker(contract.BlockCacheDataMiss), 1)
	})
}

func TestPrefetchTest_DBIterAsyncIONoIOUring(t *testing.T) {
	eachPair(t, "direct", "adaptive", func(t *testing.T, direct, adaptive bool) {
		x := newScanTest(t, false, direct)
		x.fs.noAsync = true
		x.open()
		x.fillLevel2()
		for _, tailing := range []bool{false, true} {
			ro := rocksdb.DefaultReadOptions()
			ro.AdaptiveReadahead, ro.AsyncIO, ro.Tailing = adaptive, true, tailing
			ok(t, x.o.Statistics.Reset())
			eq(t, x.scan(&ro), 5000)
			eq(t, x.reads(contract.HistAsyncReadBytes), 0)
			eq(t, x.ticker(contract.ReadAsyncMicros), 0)
		}
	})
}

// eachDirect runs f with and without direct reads.
func eachDirect(t *testing.T, f func(x *scanTest)) {
	for _, direct := range []bool{false, true} {
		t.Run(fmt.Sprintf("direct=%t", direct), func(t *testing.T) { f(newScanTest(t, false, direct)) })
	}
}

func TestPrefetchTest1_SeekWithExtraPrefetchAsyncIO(t *testing.T) {
	eachDirect(t, func(x *scanTest) {
		x.open()
		x.fill(2000)
		for reads := range int32(3) {
			x.b.NumFileReadsForAutoReadahead = uint64(reads)
			x.open()
			extra := 0
			syncpoint.SetCallBack("FilePrefetchBuffer::PrefetchAsync:ExtraPrefetching", func(any) { extra++ })
			ro := rocksdb.DefaultReadOptions()
			ro.AsyncIO = true
			it := x.db.NewIterator(&ro)
			x.forget()
			for i, key := range []int{0, 22, 33} {
				wantExtra, wantTook := 0, int32(1)
				if reads == 0 {
					if wantExtra = 1; i == 0 {
						wantTook = 2 // the index as well
					}
				}
				extra = 0
				x.seeks(it, key)
				eq(x.T, extra, wantExtra)
				eq(x.T, x.took(), wantTook)
			}
			ok(x.T, it.Close())
		}
	})
}

func TestPrefetchTest1_NonSequentialReadsWithAdaptiveReadahead(t *testing.T) {
	eachDirect(t, func(x *scanTest) {
		x.open()
		x.fillLevel2()
		carried, size := 0, 0
		syncpoint.SetCallBack("BlockPrefetcher::SetReadaheadState", func(any) { carried++ })
		syncpoint.SetCallBack("FilePrefetchBuffer::TryReadFromCache", func(arg any) { size = *arg.(*int) })
		ro := rocksdb.DefaultReadOptions()
		ro.AdaptiveReadahead = true
		it := x.db.NewIterator(&ro)
		untilAhead := func() {
			x.Helper()
			eq(x.T, it.Valid(), true)
			for it.Valid() && x.buffers.Load() == 0 {
				it.Next()
			}
			eq(x.T, size, 8<<10)
			eq(x.T, carried, 0)
			eq(x.T, x.took(), 1)
		}
		it.SeekToFirst()
		untilAhead()
		it.Seek(buildKey(4004)) // the last file
		untilAhead()
		ok(x.T, it.Close())
	})
}

func TestPrefetchTest1_DecreaseReadAheadIfInCache(t *testing.T) {
	eachDirect(t, func(x *scanTest) {
		x.cache(4 << 20)
		x.open()
		x.fill(2000)
		size := 0
		syncpoint.SetCallBack("FilePrefetchBuffer::TryReadFromCache", func(arg any) { size = *arg.(*int) })
		ro := rocksdb.DefaultReadOptions()
		ro.AdaptiveReadahead = true
		x.seekAll(&ro, 1011, 1015, 1019)
		x.forget()
		it := x.db.NewIterator(&ro)
		seek := func(want int, keys ...int) {
			x.Helper()
			x.seeks(it, keys...)
			eq(x.T, size, want)
		}
		seek(8<<10, 0, 1000)
		seek(8<<10, 1004) // reads ahead, and doubles the size
		// 1015 and 1019 would read ahead but are in the cache.
		seek(8<<10, 1011, 1015, 1016, 1019, 1022)
		eq(x.T, x.took(), 2)
		ok(x.T, it.Close())
	})
}
