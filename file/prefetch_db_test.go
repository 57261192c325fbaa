// Port of file/prefetch_test.cc (PrefetchTrimReadaheadTestParam).

package file_test

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// prefetchFS is upstream's MockFS: it says whether the system can read its files
// ahead, and counts that; they may be read at any offset.
type prefetchFS struct {
	contract.FileSystem
	smallAlignment bool
	prefetch       bool
	noAsync        bool // ReadAsync is not supported
	prefetches     atomic.Int32
}

type prefetchFile struct {
	contract.FSRandomAccessFile
	fs *prefetchFS
}

func (f *prefetchFS) SupportedOps() int64 {
	ops := f.FileSystem.SupportedOps()
	if f.noAsync {
		ops &^= 1 << contract.AsyncIO
	}
	return ops
}

func (f *prefetchFS) NewRandomAccessFile(name string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	r, err := f.FileSystem.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &prefetchFile{r, f}, nil
}

func (f *prefetchFile) Prefetch(offset uint64, n int, o *contract.IOOptions) error {
	if !f.fs.prefetch {
		return contract.NotSupported("Prefetch not supported")
	}
	f.fs.prefetches.Add(1)
	_ = f.FSRandomAccessFile.Prefetch(offset, n, o) // not every file system does
	return nil
}

func (f *prefetchFile) ReadAsync(req *contract.FSReadRequest, o *contract.IOOptions, cb func(*contract.FSReadRequest)) (contract.IOHandle, error) {
	if f.fs.noAsync {
		return nil, contract.NotSupported("ReadAsync not supported")
	}
	return f.FSRandomAccessFile.ReadAsync(req, o, cb)
}

func (f *prefetchFile) GetRequiredBufferAlignment() int {
	if f.fs.smallAlignment {
		return 1
	}
	return f.FSRandomAccessFile.GetRequiredBufferAlignment()
}

// openPrefetchDB opens a new database on a prefetchFS.
func openPrefetchDB(t *testing.T, smallAlignment bool, change func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions)) (*rocksdb.DB, contract.Statistics) {
	t.Helper()
	o, b := rocksdb.DefaultOptions(), rocksdb.DefaultBlockBasedTableOptions()
	o.Env = env.NewCompositeEnvWrapper(env.Default(), &prefetchFS{FileSystem: env.DefaultFileSystem(), smallAlignment: smallAlignment}, nil)
	o.CreateIfMissing, o.DisableAutoCompactions, o.Compression = true, true, rocksdb.NoCompression
	o.Statistics = rocksdb.NewStatistics()
	change(&o, &b)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	db, err := rocksdb.Open(t.TempDir(), o)
	ok(t, err)
	t.Cleanup(func() {
		if !t.Failed() { // a panic's iterators are open
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return db, o.Statistics
}

const trimPrefix = "a_prefix_"

func trimReadaheadTests(t *testing.T, change func(o *rocksdb.Options), f func(t *testing.T, db *rocksdb.DB, stats contract.Statistics, auto bool)) {
	for _, mode := range []contract.IndexShorteningMode{contract.NoShortening, contract.ShortenSeparators, contract.ShortenSeparatorsAndSuccessor} {
		for _, auto := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%t", mode, auto), func(t *testing.T) {
				db, stats := openPrefetchDB(t, true, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
					o.WriteBufferSize = 64 << 20
					b.IndexShortening, b.BlockSize = mode, 1
					change(o)
				})
				f(t, db, stats, auto)
			})
		}
	}
}

func wantTrimmed(t *testing.T, stats contract.Statistics, auto bool) {
	t.Helper()
	if n := stats.GetTickerCount(contract.ReadaheadTrimmed); n > 0 != auto {
		t.Errorf("readahead was trimmed %d times", n)
	}
}

func TestPrefetchTrimReadaheadTestParam_PrefixSameAsStart(t *testing.T) {
	prefixed := func(o *rocksdb.Options) { o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(len(trimPrefix)) }
	trimReadaheadTests(t, prefixed, func(t *testing.T, db *rocksdb.DB, stats contract.Statistics, auto bool) {
		rnd := util.NewRandom(301)
		for i := range 10 {
			ok(t, db.Put(nil, []byte(trimPrefix+strconv.Itoa(i)), []byte(rnd.RandomString(100))))
		}
		for i := range 10 {
			key := string(rune('c'+i)) + trimPrefix[1:] + strconv.Itoa(i)
			ok(t, db.Put(nil, []byte(key), []byte(rnd.RandomString(100))))
		}
		ok(t, db.Flush(nil))
		ro := rocksdb.DefaultReadOptions()
		ro.PrefixSameAsStart, ro.AutoReadaheadSize, ro.ReadaheadSize = true, auto, 16<<20
		ok(t, stats.Reset())
		it := db.NewIterator(&ro)
		n := 0
		for it.Seek([]byte(trimPrefix)); it.Valid(); it.Next() {
			n++
		}
		ok(t, it.Err())
		ok(t, it.Close())
		eq(t, n, 10)
		wantTrimmed(t, stats, auto)
	})
}

func TestPrefetchTrimReadaheadTestParam_IterateUpperBoundAtEndOfIndex(t *testing.T) {
	trimReadaheadTests(t, func(*rocksdb.Options) {}, func(t *testing.T, db *rocksdb.DB, stats contract.Statistics, auto bool) {
		rnd := util.NewRandom(301)
		for i := range 64 {
			ok(t, db.Put(nil, []byte("key"+strconv.Itoa(i)), []byte(rnd.RandomString(100))))
		}
		ok(t, db.Flush(nil))
		ro := rocksdb.DefaultReadOptions()
		ro.AsyncIO, ro.AutoReadaheadSize, ro.ReadaheadSize, ro.IterateUpperBound = true, auto, 1<<20, []byte("keyz")
		ok(t, stats.Reset())
		it := db.NewIterator(&ro)
		n := 0
		for it.Seek([]byte("key0")); it.Valid(); it.Next() {
			n++
		}
		ok(t, it.Err())
		ok(t, it.Close())
		eq(t, n, 64)
		wantTrimmed(t, stats, auto)
	})
}

// TestPrefetch_SameEntries: asynchronous reads, readahead and its trimming change
// nothing about what an iterator gives, over several levels with range
// tombstones, whatever it is asked and wherever a table's other blocks lie.
func TestPrefetch_SameEntries(t *testing.T) {
	for name, change := range map[string]func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions){
		"plain": func(*rocksdb.Options, *rocksdb.BlockBasedTableOptions) {},
		"dictionary": func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.Compression, o.CompressionOpts.MaxDictBytes = rocksdb.LZ4Compression, 4096
			b.CacheIndexAndFilterBlocks = true
		},
		"partitions": func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.Compression, o.CompressionOpts.MaxDictBytes = rocksdb.ZSTD, 16384
			o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(6)
			b.CacheIndexAndFilterBlocks, b.PartitionFilters, b.IndexType = true, true, rocksdb.TwoLevelIndexSearch
			b.FilterPolicy, b.MetadataBlockSize = rocksdb.NewBloomFilterPolicy(10), 256
		},
	} {
		t.Run(name, func(t *testing.T) { prefetchSameEntries(t, change) })
	}
}

func prefetchSameEntries(t *testing.T, change func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions)) {
	db, stats := openPrefetchDB(t, false, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.TargetFileSizeBase, o.WriteBufferSize = 32<<10, 64<<10
		b.BlockSize = 512
		b.BlockCache = rocksdb.NewLRUCache(40 << 10)
		change(o, b)
	})
	rnd := util.NewRandom(17)
	key := func(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }
	const keys = 4000
	for round := range 4 {
		for range keys / 2 {
			ok(t, db.Put(nil, key(int(rnd.Uniform(keys))), []byte(rnd.RandomString(100))))
		}
		for range 10 {
			from := int(rnd.Uniform(keys))
			ok(t, db.DeleteRange(nil, key(from), key(from+int(rnd.Uniform(60)))))
		}
		ok(t, db.Flush(nil))
		if round == 1 {
			ok(t, db.CompactRange(nil, nil, nil))
		}
	}
	for c := range 24 {
		plain := rocksdb.DefaultReadOptions()
		// The other's blocks are not to be in the cache already.
		plain.AutoReadaheadSize, plain.FillCache, plain.TotalOrderSeek = false, false, true
		if c%2 == 1 {
			plain.IterateUpperBound = key(1000 + int(rnd.Uniform(keys-1000)))
		}
		ro := plain
		ro.AutoReadaheadSize, ro.AsyncIO, ro.FillCache = c%4 < 2, c%3 > 0, true
		ro.ReadaheadSize = []uint64{0, 3000, 64 << 10}[c/2%3]
		ro.AdaptiveReadahead = c%5 == 0
		want, got := db.NewIterator(&plain), db.NewIterator(&ro)
		for range 300 {
			switch op := rnd.Uniform(40); {
			case op == 0:
				want.SeekToFirst()
				got.SeekToFirst()
			case op == 1:
				want.SeekToLast()
				got.SeekToLast()
			case op < 6:
				k := key(int(rnd.Uniform(keys)))
				want.Seek(k)
				got.Seek(k)
			case op < 8:
				k := key(int(rnd.Uniform(keys)))
				want.SeekForPrev(k)
				got.SeekForPrev(k)
			case !want.Valid():
			case op < 13:
				want.Prev()
				got.Prev()
			default:
				for range rnd.Uniform(30) {
					if want.Next(); !want.Valid() {
						got.Next()
						break
					}
					got.Next()
				}
			}
			ok(t, want.Err())
			ok(t, got.Err())
			if want.Valid() != got.Valid() || want.Valid() && (string(want.Key()) != string(got.Key()) || string(want.Value()) != string(got.Value())) {
				t.Fatalf("case %d: another entry", c)
			}
		}
		ok(t, want.Close())
		ok(t, got.Close())
	}
	if stats.GetTickerCount(contract.ReadaheadTrimmed) == 0 || stats.GetTickerCount(contract.PrefetchBytesUseful) == 0 ||
		stats.GetHistogramData(contract.HistAsyncReadBytes).Count == 0 {
		t.Errorf("trimmed %d times, %d bytes useful, %d asynchronous reads", stats.GetTickerCount(contract.ReadaheadTrimmed),
			stats.GetTickerCount(contract.PrefetchBytesUseful), stats.GetHistogramData(contract.HistAsyncReadBytes).Count)
	}
}
