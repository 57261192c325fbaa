// Port of db/db_with_timestamp_basic_test.cc: filters, prefixes, caches, and
// the settings that tables are written with.

package db_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// filteredTS is for eachTSIndex: tables with a filter, and a prefix extractor.
func filteredTS(prefix rocksdb.SliceTransform, wholeKeys bool, memtableRatio float64) func(*rocksdb.Options, *rocksdb.BlockBasedTableOptions) {
	return func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.PrefixExtractor = prefix
		o.MemtablePrefixBloomSizeRatio, o.MemtableWholeKeyFiltering = memtableRatio, wholeKeys && memtableRatio > 0
		b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		b.CacheIndexAndFilterBlocks, b.WholeKeyFiltering, b.BlockSize = true, wholeKeys, 4096
	}
}

// multiGetTS reads keys at low half ts and gives the values, "" where the key
// is not found, and the entries' timestamps.
func (x *dbTest) multiGetTS(ts uint64, keys ...string) (values []string, stamps [][]byte) {
	x.Helper()
	list := make([][]byte, len(keys))
	for i, k := range keys {
		list[i] = []byte(k)
	}
	vs, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	stamps = make([][]byte, len(keys))
	x.db.MultiGetWithTimestamps(readAt(timestamp(ts, 0)), list, vs, stamps, errs)
	for i := range vs {
		if errs[i] != nil && !rocksdb.IsNotFound(errs[i]) {
			x.Fatal(errs[i])
		}
		values = append(values, string(vs[i].Data()))
		vs[i].Release()
	}
	return values, stamps
}

// wantMultiGetTS wants one key's value, "" for a deleted one, of a timestamp.
func (x *dbTest) wantMultiGetTS(key string, at uint64, value string, ts uint64) {
	x.Helper()
	if vs, stamps := x.multiGetTS(at, key); vs[0] != value || !bytes.Equal(stamps[0], timestamp(ts, 0)) {
		x.Fatalf("%s at %d: %q of %x, want %q of %d", key, at, vs[0], stamps[0], value, ts)
	}
}

// threeTables puts foo1 and foo2 into the last level and foo3 on top.
func (x *dbTest) threeTables() {
	x.Helper()
	for i := 1; i <= 3; i++ {
		x.putTS(fmt.Sprint("foo", i), 1, "bar")
		x.must(x.db.Flush(nil))
		if i == 2 {
			x.must(x.db.CompactRange(nil, nil, nil))
		}
	}
}

func TestDBBasicTestWithTimestampTableOptions_SeekWithPrefixLessThanKey(t *testing.T) {
	eachTSIndex(t, filteredTS(rocksdb.NewFixedPrefixTransform(3), true, 0.1), func(x *dbTest) {
		x.threeTables()
		it := x.db.NewIterator(readAt(timestamp(1, 0)))
		defer it.Close()
		it.Seek([]byte("foo"))
		checkIterUserEntry(x, it, []byte("foo1"), false, "bar", timestamp(1, 0))
		it.Next()
		checkIterUserEntry(x, it, []byte("foo2"), false, "bar", timestamp(1, 0))
		it.Seek([]byte("bbb"))
		if it.Valid() || it.Err() != nil {
			x.Fatalf("valid %v, %v", it.Valid(), it.Err())
		}
	})
}

func TestDBBasicTestWithTimestampTableOptions_SeekWithCappedPrefix(t *testing.T) {
	eachTSIndex(t, filteredTS(rocksdb.NewCappedPrefixTransform(3), true, 0.1), func(x *dbTest) {
		x.threeTables()
		it := x.db.NewIterator(readAt(timestamp(2, 0)))
		defer it.Close()
		// The prefix is of the key without timestamp.
		it.Seek([]byte("foo"))
		checkIterUserEntry(x, it, []byte("foo1"), false, "bar", timestamp(1, 0))
		it.Next()
		checkIterUserEntry(x, it, []byte("foo2"), false, "bar", timestamp(1, 0))
	})
}

func TestDBBasicTestWithTimestampTableOptions_SeekWithBound(t *testing.T) {
	eachTSIndex(t, filteredTS(rocksdb.NewFixedPrefixTransform(2), true, 0), func(x *dbTest) {
		for i := 1; i <= 8; i++ {
			x.putTS(fmt.Sprint("foo", i), 1, fmt.Sprint("bar", i))
			if i <= 2 {
				x.must(x.db.Flush(nil))
			}
			if i == 2 {
				x.must(x.db.CompactRange(nil, nil, nil))
			}
		}
		x.must(x.db.Flush(nil))
		ro := readAt(timestamp(2, 0))
		ro.IterateLowerBound, ro.IterateUpperBound, ro.AutoPrefixMode = []byte("foo2"), []byte("foo5"), true
		it := x.db.NewIterator(ro)
		defer it.Close()
		want := func(n int) {
			x.Helper()
			checkIterUserEntry(x, it, fmt.Append(nil, "foo", n), false, fmt.Sprint("bar", n), timestamp(1, 0))
		}
		it.Seek([]byte("foo"))
		want(2)
		it.SeekToFirst()
		want(2)
		it.SeekForPrev([]byte("g"))
		want(4)
		it.SeekToLast()
		want(4)
	})
}

// bloomTS gives tables a filter.
func bloomTS(wholeKeys bool, ratio float64) func(*rocksdb.Options) {
	return func(o *rocksdb.Options) {
		b := rocksdb.DefaultBlockBasedTableOptions()
		filteredTS(nil, wholeKeys, ratio)(o, &b)
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	}
}

func TestDBBasicTestWithTimestamp_MultiGetWithFastLocalBloom(t *testing.T) {
	x := newTSTest(t, bloomTS(true, 0))
	x.putTS("foo", 1, "bar")
	x.must(x.db.Flush(nil))
	x.wantMultiGetTS("foo", 1, "bar", 1)
	x.must(x.db.SingleDeleteWithTimestamp(nil, []byte("foo"), timestamp(2, 0)))
	x.wantMultiGetTS("foo", 3, "", 2)
}

func TestDBBasicTestWithTimestampTableOptions_MultiGetWithPrefix(t *testing.T) {
	eachTSIndex(t, filteredTS(rocksdb.NewCappedPrefixTransform(5), false, 0), func(x *dbTest) {
		x.putTS("foo", 1, "bar")
		x.must(x.db.Flush(nil))
		x.wantMultiGetTS("foo", 1, "bar", 1)
		x.must(x.db.SingleDeleteWithTimestamp(nil, []byte("foo"), timestamp(2, 0)))
		x.must(x.db.Flush(nil)) // upstream leaves it out with the hash index
		x.wantMultiGetTS("foo", 3, "", 2)
	})
}

func TestDBBasicTestWithTimestampTableOptions_MultiGetWithMemBloomFilter(t *testing.T) {
	eachTSIndex(t, filteredTS(rocksdb.NewCappedPrefixTransform(5), false, 0.1), func(x *dbTest) {
		x.putTS("foo", 1, "bar")
		x.wantMultiGetTS("foo", 2, "bar", 1)
	})
}

func TestDBBasicTestWithTimestampTableOptions_MultiGetPrefixFilter(t *testing.T) {
	eachTSIndex(t, filteredTS(rocksdb.NewCappedPrefixTransform(3), false, 0.1), func(x *dbTest) {
		x.putTS("foo", 1, "bar")
		x.must(x.db.Flush(nil))
		x.wantMultiGetTS("foo", 2, "bar", 1)
	})
}

func TestDBBasicTestWithTimestamp_MultiGetRangeFiltering(t *testing.T) {
	x := newTSTest(t, bloomTS(false, 0.1))
	for i := range 3 {
		x.putTS(fmt.Sprint(i*10), 1, fmt.Sprint(i*10))
		x.must(x.db.Flush(nil))
	}
	x.must(x.db.CompactRange(nil, nil, nil))
	x.putTS("foo", 1, "bar")
	x.must(x.db.Flush(nil))
	x.wantMultiGetTS("foo", 2, "bar", 1)
}

// wantRows checks the hits and misses of the row cache.
func (x *dbTest) wantRows(hits, misses uint64) {
	x.Helper()
	st := x.last.Statistics
	if h, m := st.GetTickerCount(rocksdb.RowCacheHit), st.GetTickerCount(rocksdb.RowCacheMiss); h != hits || m != misses {
		x.Fatalf("%d hits and %d misses, want %d and %d", h, m, hits, misses)
	}
}

func TestDBBasicTestWithTimestamp_GetWithRowCache(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) {
		o.Statistics, o.RowCache = rocksdb.NewStatistics(), rocksdb.NewLRUCache(8192)
	})
	nothing := x.db.GetSnapshot()
	for _, n := range []string{"", "2", "3"} {
		x.putTS("foo"+n, 1, "bar"+n)
	}
	withFoo := x.db.GetSnapshot()
	x.must(x.db.Flush(nil))
	x.wantRows(0, 0)
	_, err := x.db.Get(nil, []byte("foo"))
	wantInvalid(t, "no timestamp", err)

	ro := readAt(timestamp(10, 0))
	plain := func(key, want string) {
		t.Helper()
		v, err := x.db.Get(ro, []byte(key))
		if err != nil || string(v.Data()) != want {
			t.Fatalf("%s: %q, %v", key, v.Data(), err)
		}
		v.Release()
	}
	stamped := func(key, want string) {
		t.Helper()
		wantGetTS(t, x.db.ColumnFamily, ro, []byte(key), want, timestamp(1, 0))
	}
	plain("foo2", "bar2")
	x.wantRows(0, 1)
	stamped("foo2", "bar2")
	x.wantRows(1, 1)
	stamped("foo3", "bar3")
	x.wantRows(1, 2)
	plain("foo3", "bar3")
	x.wantRows(2, 2)
	stamped("foo", "bar")
	x.wantRows(2, 3)
	for range 3 {
		stamped("foo", "bar")
	}
	x.wantRows(5, 3)
	if _, _, err := x.getTS("foo", 0); !rocksdb.IsNotFound(err) {
		t.Fatal(err)
	}
	x.wantRows(5, 4)
	ro.Snapshot = withFoo
	stamped("foo", "bar")
	x.wantRows(5, 5)
	stamped("foo", "bar")
	x.wantRows(6, 5)
	ro.Snapshot = nothing
	for i := range uint64(2) {
		if _, err := x.db.Get(ro, []byte("foo")); !rocksdb.IsNotFound(err) {
			t.Fatal(err)
		}
		x.wantRows(6, 6+i)
	}
	x.must(x.db.ReleaseSnapshot(nothing))
	x.must(x.db.ReleaseSnapshot(withFoo))
}

func TestDBBasicTestWithTimestamp_GetWithRowCacheMultiSST(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) {
		o.Statistics, o.RowCache = rocksdb.NewStatistics(), rocksdb.NewLRUCache(8192)
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.BlockSize = 1
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		o.MergeOperator, o.DisableAutoCompactions = mergeoperators.NewStringAppendTESTOperator(","), true
	})
	x.putTS("foo", 1, "v1")
	x.must(x.db.Flush(nil))
	x.must(x.db.MergeWithTimestamp(nil, []byte("foo"), timestamp(2, 0), []byte("v2")))
	x.must(x.db.MergeWithTimestamp(nil, []byte("foo"), timestamp(3, 0), []byte("v3")))
	x.must(x.db.Flush(nil))
	for i := range uint64(2) {
		wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(10, 0)), []byte("foo"), "v1,v2,v3", timestamp(3, 0))
		x.wantRows(2*i, 2)
	}
}

func TestDBBasicTestWithTimestamp_GetApproximateSizes(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) { o.WriteBufferSize, o.Compression = 100000000, rocksdb.NoCompression })
	rnd := util.NewRandom(301)
	for i := range 128 {
		x.putTS(key(i), 1, rnd.RandomString(1024))
	}
	both := rocksdb.DefaultSizeApproximationOptions()
	both.IncludeMemtables = true
	between := func(a, b int) rocksdb.Range { return rocksdb.Range{Start: []byte(key(a)), Limit: []byte(key(b))} }
	sizes := func(o *rocksdb.SizeApproximationOptions, rs ...rocksdb.Range) []uint64 {
		t.Helper()
		n, err := x.db.GetApproximateSizes(o, rs)
		x.must(err)
		return n
	}
	size := sizes(&both, between(50, 60))[0]
	if size <= 6000 || size >= 204800 {
		t.Fatal(size)
	}
	if two := sizes(&both, between(10, 20), between(50, 60)); two[1] != size {
		t.Fatal(two, size)
	}
	if n := sizes(nil, between(50, 60))[0]; n != 0 {
		t.Fatalf("%d bytes in files", n)
	}
	if n := sizes(&both, between(500, 600))[0]; n != 0 {
		t.Fatal(n)
	}
	x.putTS(key(1000), 1, rnd.RandomString(1024))
	if n := sizes(&both, between(1000, 1100))[0]; n == 0 {
		t.Fatal("the start is not included")
	}
	if count, n := x.db.GetApproximateMemTableStats(between(1000, 1100)); count == 0 || n == 0 {
		t.Fatal(count, n)
	}
	if n := sizes(&both, between(900, 1000))[0]; n != 0 {
		t.Fatalf("%d: the end is included", n)
	}
}

func TestDBBasicTestWithTimestamp_TrimHistoryTest(t *testing.T) {
	x := newTSTest(t, nil)
	o := x.last
	k := []byte("k1")
	x.putTS("k1", 2, "v1")
	x.putTS("k1", 4, "v2")
	x.must(x.db.DeleteWithTimestamp(nil, k, timestamp(5, 0)))
	x.putTS("k1", 6, "v3")
	wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(7, 0)), k, "v3", timestamp(6, 0))
	x.must(x.db.Flush(nil))
	trim := func(ts uint64) {
		t.Helper()
		x.close()
		var err error
		x.db, x.cfs, err = rocksdb.OpenAndTrimHistory(x.dir, o.DBOptions, descriptors([]string{"default"}, []rocksdb.Options{o}), timestamp(ts, 0))
		x.must(err)
	}
	trim(5)
	x.wantGoneTS("k1", 7, 5)
	trim(4)
	wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(7, 0)), k, "v2", timestamp(4, 0))
	x.reopen(o)
	x.must(x.db.DeleteRangeWithTimestamp(nil, k, []byte("k3"), timestamp(7, 0)))
	x.wantGoneTS("k1", 8, 7)
	trim(6)
	wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(8, 0)), k, "v2", timestamp(4, 0))
}

func TestDBBasicTestWithTimestamp_OpenAndTrimHistoryInvalidOptionTest(t *testing.T) {
	x := newTSTest(t, nil)
	o := x.last
	x.destroy(o)
	o.AvoidFlushDuringRecovery = true
	_, _, err := rocksdb.OpenAndTrimHistory(x.dir, o.DBOptions, descriptors([]string{"default"}, []rocksdb.Options{o}), timestamp(0, 0))
	wantInvalid(t, "avoid_flush_during_recovery", err)
}

// keyWithPrefix makes a key of a prefix and a number.
func keyWithPrefix(prefix string, k uint64) []byte { return append([]byte(prefix), key1(k)...) }

func TestDBBasicTestWithTimestampFilterPrefixSettings_GetAndMultiGet(t *testing.T) {
	for n := range 2 * 3 * 2 * 4 * 2 * 4 {
		// All values of each setting meet; of the product, one in seven.
		if n%7 != 0 {
			continue
		}
		filter, whole, prefix := n%3, n/3%2 == 0, []int{1, 4, 7, 8}[n/6%4]
		memWhole, ratio, index := n/24%2 == 0, float64(n/48%2)/10, tsIndexTypes[n/96%4]
		t.Run(fmt.Sprintf("filter%d/%v/prefix%d/%v/%v/index%d", filter, whole, prefix, memWhole, ratio, index), func(t *testing.T) {
			x := newTSTest(t, func(o *rocksdb.Options) {
				b := rocksdb.DefaultBlockBasedTableOptions()
				if filter > 0 {
					b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
				}
				b.WholeKeyFiltering, b.CacheIndexAndFilterBlocks, b.IndexType = whole, filter == 1, index
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
				o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(prefix)
				o.MemtableWholeKeyFiltering, o.MemtablePrefixBloomSizeRatio = memWhole, ratio
			})
			const maxKey = 200
			put := func(from, to uint64) {
				for k := from; k < to; k++ {
					x.putTS(string(key1(k)), 1, "bar")
					x.putTS(string(keyWithPrefix("foo", k)), 1, "bar")
				}
			}
			put(0, maxKey/4)
			x.must(x.db.Flush(nil))
			x.must(x.db.CompactRange(nil, nil, nil))
			put(maxKey/4, maxKey/2)
			x.must(x.db.Flush(nil))
			put(maxKey/2, maxKey)
			it := x.db.NewIterator(readAt(timestamp(1, 0)))
			defer it.Close()
			for k := range uint64(maxKey) {
				keys := [][]byte{key1(k), keyWithPrefix("foo", k), key1(maxKey + k), keyWithPrefix("foo", maxKey+k)}
				vs, _ := x.multiGetTS(1, string(keys[0]), string(keys[1]), string(keys[2]), string(keys[3]))
				for i, k := range keys {
					v, _, err := x.getTS(string(k), 1)
					if i >= 2 {
						if vs[i] != "" || !rocksdb.IsNotFound(err) {
							t.Fatalf("%x: %q, %v", k, vs[i], err)
						}
						continue
					}
					if vs[i] != "bar" || err != nil || v != "bar" {
						t.Fatalf("%x: %q and %q, %v", k, vs[i], v, err)
					}
					it.Seek(k)
					checkIterUserEntry(t, it, k, false, "bar", timestamp(1, 0))
				}
			}
		})
	}
}

// eachTSCompression runs f with each compression, with and without filter,
// dictionary and parallel compression.
func eachTSCompression(t *testing.T, f func(t *testing.T, change func(*rocksdb.Options))) {
	for i, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.ZlibCompression, rocksdb.LZ4Compression, rocksdb.LZ4HCCompression, rocksdb.ZSTD} {
		for n := range 2 {
			dict, threads, filter := uint32((i+n)%2)<<14, uint32(1+3*n), i%2 == n
			t.Run(fmt.Sprintf("type%d/dict%d/threads%d/filter%v", c, dict, threads, filter), func(t *testing.T) {
				f(t, func(o *rocksdb.Options) {
					b := rocksdb.DefaultBlockBasedTableOptions()
					if filter {
						b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
					}
					o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
					o.Compression = c
					o.CompressionOpts.MaxDictBytes, o.CompressionOpts.ParallelThreads = dict, threads
					if c == rocksdb.ZSTD {
						o.CompressionOpts.ZSTDMaxTrainBytes = dict
					}
				})
			})
		}
	}
}

func TestDBBasicTestWithTimestampCompressionSettings_PutAndGet(t *testing.T) {
	eachTSCompression(t, func(t *testing.T, change func(*rocksdb.Options)) {
		const perFile, stamps = 1024, 4
		x := newTSTest(t, change)
		o := x.last
		o.MemtableFactory, o.TargetFileSizeBase = newSpecialSkipListFactory(perFile), 1<<26
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		for i := range uint64(stamps) {
			for cf := range 2 {
				for k := range uint64((perFile - 1) / stamps) {
					x.must(x.cf(cf).PutWithTimestamp(nil, key1(k), timestamp(2*i, 0), fmt.Appendf(nil, "value_%d_%d", k, i)))
				}
			}
		}
		for i := range uint64(stamps) {
			for cf := range 2 {
				for k := range uint64((perFile - 1) / stamps) {
					wantGetTS(t, x.cf(cf), readAt(timestamp(1+2*i, 0)), key1(k), fmt.Sprintf("value_%d_%d", k, i), timestamp(2*i, 0))
				}
			}
		}
	})
}

func TestDBBasicTestWithTimestampCompressionSettings_PutDeleteGet(t *testing.T) {
	eachTSCompression(t, func(t *testing.T, change func(*rocksdb.Options)) {
		const n = 512
		x := newTSTest(t, func(o *rocksdb.Options) {
			change(o)
			o.MemtableFactory, o.TargetFileSizeBase = newSpecialSkipListFactory(n), 1<<26
		})
		for i := range 4 {
			for k := range uint64(n) {
				x.putTS(string(key1(k)), 1, fmt.Sprint("value", i))
			}
			x.must(x.db.Flush(nil))
		}
		x.must(x.full().TestWaitForCompact())
		remove := func(k, ts uint64) {
			if k < n/2 {
				x.must(x.db.DeleteWithTimestamp(nil, key1(k), timestamp(ts, 0)))
			} else {
				x.must(x.db.SingleDeleteWithTimestamp(nil, key1(k), timestamp(ts, 0)))
			}
		}
		for k := range uint64(n) {
			if k%3 == 0 {
				remove(k, 3)
			} else {
				x.putTS(string(key1(k)), 3, "new_value")
			}
		}
		x.must(x.db.Flush(nil))
		for k := range uint64(n) {
			switch k % 3 {
			case 1:
				remove(k, 5)
			case 2:
				x.putTS(string(key1(k)), 5, "new_value_2")
			}
		}
		for k := range uint64(n) {
			switch k % 3 {
			case 0:
				x.wantGoneTS(string(key1(k)), 6, 3)
			case 1:
				x.wantGoneTS(string(key1(k)), 6, 5)
			default:
				wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(6, 0)), key1(k), "new_value_2", timestamp(5, 0))
			}
		}
	})
}

func TestDBBasicTestWithTimestampCompressionSettings_PutAndGetWithCompaction(t *testing.T) {
	eachTSCompression(t, func(t *testing.T, change func(*rocksdb.Options)) {
		const perFile, stamps = 1024, 2
		const perStamp = uint64((perFile - 1) / stamps)
		collector := &flushedFileCollector{}
		x := newTSTest(t, change)
		o := x.last
		o.MemtableFactory = newSpecialSkipListFactory(perFile)
		o.Listeners = append(o.Listeners, collector)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		verify := func(i, from, to uint64, cf int) {
			t.Helper()
			for k := from; k <= to; k++ {
				wantGetTS(t, x.cf(cf), readAt(timestamp(1+2*i, 0)), key1(k), fmt.Sprintf("value_%d_%d", k, i), timestamp(2*i, 0))
			}
		}
		for i := range uint64(stamps) {
			for cf := range 2 {
				from := uint64(0)
				for k := range perStamp {
					x.must(x.cf(cf).PutWithTimestamp(nil, key1(k), timestamp(2*i, 0), fmt.Appendf(nil, "value_%d_%d", k, i)))
					if k != perStamp/2+i && k != perStamp-1 {
						continue
					}
					verify(i, from, k, cf)
					from = k + 1
					x.flush(cf)
					x.must(x.full().TestWaitForCompact())
					co := rocksdb.DefaultCompactionOptions()
					co.Compression = rocksdb.NoCompression
					_, err := x.cf(cf).CompactFiles(&co, collector.get(), int(stamps-i), -1, nil)
					x.must(err)
					collector.clear()
				}
			}
		}
		for i := range uint64(stamps) {
			for cf := range 2 {
				verify(i, 0, perStamp-1, cf)
			}
		}
	})
}

func TestDBBasicTestWithTimestamp_BatchWriteAndMultiGet(t *testing.T) {
	const perFile, stamps = 2048, 2
	const perStamp = uint64((perFile - 1) / stamps)
	x := newTSTest(t, bloomTS(true, 0.1))
	o := x.last
	o.MemtableFactory = newSpecialSkipListFactory(perFile)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	verify := func(i uint64, cf int) {
		t.Helper()
		var keys [][]byte
		var cfs []*rocksdb.ColumnFamily
		for k := range perStamp {
			keys, cfs = append(keys, key1(k)), append(cfs, x.cf(cf))
		}
		vs, ts, errs := make([]rocksdb.PinnableSlice, len(keys)), make([][]byte, len(keys)), make([]error, len(keys))
		x.db.MultiGetCFWithTimestamps(readAt(timestamp(1+2*i, 0)), cfs, keys, vs, ts, errs)
		for k := range vs {
			if want := fmt.Sprintf("value_%d_%d", k, i); errs[k] != nil || string(vs[k].Data()) != want || !bytes.Equal(ts[k], timestamp(2*i, 0)) {
				t.Fatalf("%q at %x, %v, want %q", vs[k].Data(), ts[k], errs[k], want)
			}
			vs[k].Release()
		}
	}
	for i := range uint64(stamps) {
		for cf := range 2 {
			b := rocksdb.NewWriteBatchWithTimestampSize(tsSize)
			for k := range perStamp {
				x.must(b.PutCF(x.cf(cf), key1(k), fmt.Appendf(nil, "value_%d_%d", k, i)))
			}
			x.must(b.UpdateTimestamps(timestamp(2*i, 0), func(uint32) int { return tsSize }))
			x.must(x.db.Write(nil, b))
			verify(i, cf)
			x.flush(cf)
		}
	}
	for i := range uint64(stamps) {
		for cf := range 2 {
			verify(i, cf)
		}
	}
}

const (
	maxNumber = ^uint64(0)
	minNumber = maxNumber - 0xff // upstream: 0xfff
)

func TestDBBasicTestWithTimestampPrefixSeek_IterateWithPrefix(t *testing.T) {
	for n := range 4 * 2 * 2 * 4 {
		prefix, filter, same, index := []int{1, 4, 7, 8}[n%4], n/4%2 == 0, n/8%2 == 0, tsIndexTypes[n/16%4]
		t.Run(fmt.Sprintf("prefix%d/%v/%v/index%d", prefix, filter, same, index), func(t *testing.T) {
			pe := rocksdb.NewFixedPrefixTransform(prefix)
			x := newTSTest(t, func(o *rocksdb.Options) {
				b := rocksdb.DefaultBlockBasedTableOptions()
				if filter {
					b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
				}
				b.IndexType = index
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
				o.PrefixExtractor, o.MemtableFactory = pe, newSpecialSkipListFactory(64)
				o.PrefixSeekOptInOnly = false
			})
			write := [][]byte{timestamp(3, 0xffffffff), timestamp(6, 0xffffffff)}
			read := [][]byte{timestamp(5, 0xffffffff), timestamp(9, 0xffffffff)}
			for i, ts := range write {
				for k := maxNumber; k >= minNumber; k-- {
					x.must(x.db.PutWithTimestamp(nil, key1(k), ts, fmt.Append(nil, "value", i)))
				}
			}
			shift := 8 * (8 - len(pe.Transform(key1(0))))
			mask := ^(uint64(1)<<shift - 1)
			for i, at := range read {
				ro := readAt(at)
				ro.PrefixSameAsStart = same
				it := x.db.NewIterator(ro)
				value := fmt.Sprint("value", i)
				it.Seek(key1(maxNumber))
				checkIterUserEntry(t, it, key1(maxNumber), false, value, write[i])
				it.Next()
				x.must(it.Err())
				if it.Valid() {
					t.Fatal("an entry after the last")
				}
				it.Seek(key1(minNumber))
				checkIterUserEntry(t, it, key1(minNumber), false, value, write[i])
				it.Prev()
				x.must(it.Err())
				if it.Valid() {
					t.Fatal("an entry before the first")
				}
				for _, target := range []uint64{minNumber, minNumber + 0x10, minNumber + 0x80, maxNumber} {
					in := func() bool { return same || bytes.Equal(pe.Transform(it.Key()), pe.Transform(key1(target))) }
					k := target
					for it.Seek(key1(target)); it.Valid() && in(); it.Next() {
						checkIterUserEntry(t, it, key1(k), false, value, write[i])
						k++
					}
					x.must(it.Err())
					if want := target&mask + (^mask) + 1; k != want {
						t.Fatalf("%x: ended at %x, want %x", target, k, want)
					}
					k = target
					for it.SeekForPrev(key1(target)); it.Valid() && in(); it.Prev() {
						checkIterUserEntry(t, it, key1(k), false, value, write[i])
						k--
					}
					x.must(it.Err())
					if want := max(target&mask, minNumber) - 1; k != want {
						t.Fatalf("%x: back to %x, want %x", target, k, want)
					}
				}
				it.Close()
			}
		})
	}
}

func TestDBBasicTestWithTsIterTombstones_IterWithDelete(t *testing.T) {
	for n := range 2 * 2 * 2 * 4 {
		prefix, filter, levels, index := 7+n%2, n/2%2 == 0, 2+4*(n/4%2), tsIndexTypes[n/8%4]
		t.Run(fmt.Sprintf("prefix%d/%v/levels%d/index%d", prefix, filter, levels, index), func(t *testing.T) {
			x := newTSTest(t, func(o *rocksdb.Options) {
				b := rocksdb.DefaultBlockBasedTableOptions()
				if filter {
					b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
				}
				b.IndexType = index
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
				o.PrefixExtractor, o.MemtableFactory = rocksdb.NewFixedPrefixTransform(prefix), newSpecialSkipListFactory(64)
				o.NumLevels = levels
			})
			for k := minNumber; ; k++ {
				x.must(x.db.PutWithTimestamp(nil, key1(k), timestamp(2, 0), fmt.Append(nil, "value", k)))
				if k == maxNumber {
					break
				}
			}
			for k := maxNumber; k >= minNumber; k-- {
				if k%2 != 0 {
					x.must(x.db.PutWithTimestamp(nil, key1(k), timestamp(4, 0), fmt.Append(nil, "value1", k)))
				} else {
					x.must(x.db.DeleteWithTimestamp(nil, key1(k), timestamp(4, 0)))
				}
			}
			x.must(x.full().TestWaitForCompact())
			ro := readAt(timestamp(4, 0))
			ro.TotalOrderSeek = true
			it := x.db.NewIterator(ro)
			defer it.Close()
			const want = (maxNumber - minNumber + 1) / 2
			count, k := uint64(0), minNumber+1
			for it.SeekToFirst(); it.Valid(); it.Next() {
				checkIterUserEntry(t, it, key1(k), false, fmt.Sprint("value1", k), timestamp(4, 0))
				count, k = count+1, k+2
			}
			if x.must(it.Err()); count != want {
				t.Fatal(count)
			}
			count, k = 0, maxNumber
			for it.SeekToLast(); it.Valid(); it.Prev() {
				checkIterUserEntry(t, it, key1(k), false, fmt.Sprint("value1", k), timestamp(4, 0))
				count, k = count+1, k-2
			}
			if x.must(it.Err()); count != want {
				t.Fatal(count)
			}
		})
	}
}

func TestDBBasicTestWithTimestamp_TimestampFilterTableReadOnGet(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) {
		o.Statistics = rocksdb.NewStatistics()
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.BlockSize = 100
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	})
	for i, e := range []struct{ key, ts uint64 }{{1, 10}, {3, 20}, {2, 30}, {4, 40}} {
		x.putTS(string(key1(e.key)), e.ts, fmt.Sprint("value", e.key))
		if i%2 == 1 {
			x.must(x.db.Flush(nil))
		}
	}
	counts := func(checked, filtered uint64) {
		t.Helper()
		st := x.last.Statistics
		if c, f := st.GetTickerCount(rocksdb.TimestampFilterTableChecked), st.GetTickerCount(rocksdb.TimestampFilterTableFiltered); c != checked || f != filtered {
			t.Fatalf("%d checked, %d filtered, want %d, %d", c, f, checked, filtered)
		}
	}
	if v, ts, err := x.getTS(string(key1(3)), 1); !rocksdb.IsNotFound(err) || v != "" || len(ts) != 0 {
		t.Fatal(v, ts, err)
	}
	counts(2, 2)
	wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(25, 0)), key1(3), "value3", timestamp(20, 0))
	counts(4, 3)
}

func TestDBBasicTestWithTimestamp_GCPreserveRangeTombstoneWhenNoOrSmallFullHistoryLow(t *testing.T) {
	x := newTSTest(t, nil)
	for i := 1; i <= 3; i++ {
		x.putTS(fmt.Sprint("k", i), 1, fmt.Sprint("v", i))
	}
	x.must(x.db.DeleteRangeWithTimestamp(nil, []byte("k1"), []byte("k3"), timestamp(2, 0)))
	verify := func() {
		t.Helper()
		x.wantGoneTS("k1", 3, 2)
		x.wantGoneTS("k2", 3, 2)
		wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(3, 0)), []byte("k3"), "v3", timestamp(1, 0))
		if vs, _ := x.multiGetTS(3, "k1", "k2", "k3"); vs[0] != "" || vs[1] != "" || vs[2] != "v3" {
			t.Fatal(vs)
		}
	}
	verify()
	x.must(x.db.CompactRange(nil, nil, nil))
	verify()
	x.must(x.db.CompactRange(compactTo(0, false), nil, nil))
	verify()
}

func TestDBBasicTestWithTimestamp_GCRangeTombstonesAndCoveredKeysRespectingTslow(t *testing.T) {
	x := newTSTest(t, func(o *rocksdb.Options) {
		bloomTS(true, 0)(o)
		o.NumLevels = 2
	})
	x.putTS("k1", 1, "v1")
	x.must(x.db.DeleteWithTimestamp(nil, []byte("k2"), timestamp(2, 0)))
	x.must(x.db.DeleteRangeWithTimestamp(nil, []byte("k1"), []byte("k3"), timestamp(3, 0)))
	x.putTS("k3", 4, "v3")
	x.wantMultiGetTS("k1", 5, "", 3)
	x.wantMultiGetTS("k2", 5, "", 3)
	x.wantMultiGetTS("k3", 5, "v3", 4)
	// The range tombstone is not below the limit: what it covers stays.
	x.must(x.db.CompactRange(compactTo(2, true), nil, nil))
	wantGetTS(t, x.db.ColumnFamily, readAt(timestamp(2, 0)), []byte("k1"), "v1", timestamp(0, 0))
	x.wantGoneTS("k2", 2, 2)
	x.must(x.db.CompactRange(compactTo(4, true), nil, nil))
	vs, ts := x.multiGetTS(5, "k1", "k2", "k3")
	if vs[0] != "" || len(ts[0]) != 0 || vs[1] != "" || len(ts[1]) != 0 || vs[2] != "v3" || !bytes.Equal(ts[2], timestamp(4, 0)) {
		t.Fatalf("%q %x", vs, ts)
	}
}

// TestTimestamps_MergeOverDeletion: a merge over a deletion begins anew, however
// the entries are spread.
func TestTimestamps_MergeOverDeletion(t *testing.T) { // facebook/rocksdb#10915
	for flushes := range 3 {
		t.Run(fmt.Sprint("flushes", flushes), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.Comparator, o.MergeOperator = rocksdb.BytewiseComparatorWithU64Ts(), mergeoperators.NewStringAppendTESTOperator(",")
			x.destroyAndReopen(o)
			k := []byte("k")
			flush := func(last bool) {
				if flushes == 2 || flushes == 1 && last {
					x.must(x.db.Flush(nil))
				}
			}
			x.must(x.db.PutWithTimestamp(nil, k, u64ts(1), []byte("a")))
			flush(false)
			x.must(x.db.DeleteWithTimestamp(nil, k, u64ts(2)))
			flush(false)
			x.must(x.db.MergeWithTimestamp(nil, k, u64ts(3), []byte("b")))
			flush(true)
			both := func(at uint64, value string) {
				t.Helper()
				it := x.db.NewIterator(readAt(u64ts(at)))
				defer it.Close()
				for _, seek := range []func(){it.SeekToFirst, it.SeekToLast} {
					if seek(); value != "" {
						checkIterUserEntry(t, it, k, false, value, u64ts(at))
					} else if it.Valid() || it.Err() != nil {
						t.Fatalf("valid %v, %v", it.Valid(), it.Err())
					}
				}
				if value != "" {
					wantGetTS(t, x.db.ColumnFamily, readAt(u64ts(at)), k, value, u64ts(at))
				} else if _, ts, err := x.db.GetWithTimestamp(readAt(u64ts(at)), k); !rocksdb.IsNotFound(err) || !bytes.Equal(ts, u64ts(at)) {
					t.Fatalf("%x, %v", ts, err)
				}
			}
			both(3, "b")
			both(2, "")
			both(1, "a")
			x.must(x.db.MergeWithTimestamp(nil, k, u64ts(4), []byte("c")))
			both(4, "b,c")
		})
	}
}

// TestTimestamps_RowCache: rows in the cache are found at later read timestamps.
func TestTimestamps_RowCache(t *testing.T) { // facebook/rocksdb#11816
	x := newDBTest(t)
	o := x.currentOptions()
	o.Comparator, o.RowCache, o.Statistics = rocksdb.BytewiseComparatorWithU64Ts(), rocksdb.NewLRUCache(1<<20), rocksdb.NewStatistics()
	x.destroyAndReopen(o)
	k := []byte("k")
	x.must(x.db.PutWithTimestamp(nil, k, u64ts(1), []byte("v")))
	x.must(x.db.Flush(nil))
	for i := range uint64(3) {
		wantGetTS(t, x.db.ColumnFamily, readAt(u64ts(2)), k, "v", u64ts(1))
		v, err := x.db.Get(readAt(u64ts(2)), k)
		if err != nil || string(v.Data()) != "v" {
			t.Fatal(v.Data(), err)
		}
		v.Release()
		x.wantRows(2*i+1, 1)
	}
	if _, err := x.db.Get(readAt(u64ts(0)), k); !rocksdb.IsNotFound(err) {
		t.Fatal(err)
	}
}
