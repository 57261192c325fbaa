// Port of db/db_rate_limiter_test.cc.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// limitedOptions are options with a limiter of 1 MB a second.
func (x *dbTest) limitedOptions(mode rocksdb.RateLimiterMode) rocksdb.Options {
	x.Helper()
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	l, err := rocksdb.NewGenericRateLimiter(1<<20, 100*1000, 10, mode, false)
	x.must(err)
	o.RateLimiter = l
	return o
}

// limitedTest reads three tables in level 1 with one key each.
type limitedTest struct {
	*dbTest
	ro                         rocksdb.ReadOptions
	direct, cached, readsAhead bool
}

const limitedKeys = 3

// eachLimited runs f with each kind of read.
func eachLimited(t *testing.T, f func(x *limitedTest)) {
	for i := range 8 {
		x := limitedTest{direct: i&4 != 0, cached: i&2 != 0, readsAhead: i&1 != 0}
		t.Run(fmt.Sprintf("direct=%v,cached=%v,readahead=%v", x.direct, x.cached, x.readsAhead), func(t *testing.T) {
			x.dbTest = newDBTest(t)
			o := x.limitedOptions(rocksdb.AllIO)
			o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.NoBlockCache = !x.cached
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			o.UseDirectReads = x.direct
			if err := x.tryReopen(o); x.direct && err != nil {
				t.Logf("the file system has no direct I/O: %v", err)
				return
			} else if err != nil {
				t.Fatal(err)
			}
			for i := range limitedKeys {
				x.mustPut(0, key(i), "val")
				x.flush(0)
			}
			x.moveFilesToLevel(1, 0)
			x.ro = rocksdb.DefaultReadOptions()
			x.ro.RateLimiterPriority = rocksdb.IOUser
			if x.readsAhead {
				x.ro.ReadaheadSize = 32 << 10
			}
			x.wantRequests(rocksdb.IOUser, 0)
			f(&x)
		})
	}
}

func (x *dbTest) requests(pri rocksdb.IOPriority) int64 {
	return x.last.RateLimiter.GetTotalRequests(pri)
}

func (x *dbTest) wantRequests(pri rocksdb.IOPriority, want int64) {
	x.Helper()
	same(x, "requests", x.requests(pri), want)
}

func TestDBRateLimiterOnReadTest_Get(t *testing.T) {
	eachLimited(t, func(x *limitedTest) {
		want := int64(0)
		for i := range limitedKeys {
			for again := range 2 {
				v, err := x.db.Get(&x.ro, []byte(key(i)))
				x.must(err)
				v.Release()
				if again == 0 || !x.cached {
					want++
				}
				x.wantRequests(rocksdb.IOUser, want)
			}
		}
	})
}

// multiGetLimited checks that MultiGet asks once a key.
func multiGetLimited(t *testing.T, multiGet func(x *limitedTest, keys [][]byte, values []rocksdb.PinnableSlice, errs []error)) {
	eachLimited(t, func(x *limitedTest) {
		keys := make([][]byte, limitedKeys)
		for i := range keys {
			keys[i] = []byte(key(i))
		}
		values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
		before := x.requests(rocksdb.IOTotal)
		multiGet(x, keys, values, errs)
		for i := range keys {
			x.must(errs[i])
			values[i].Release()
		}
		x.wantRequests(rocksdb.IOUser, limitedKeys)
		same(x, "requests of all priorities", x.requests(rocksdb.IOTotal)-before, limitedKeys)
	})
}

func TestDBRateLimiterOnReadTest_NewMultiGet(t *testing.T) {
	multiGetLimited(t, func(x *limitedTest, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
		x.db.MultiGet(&x.ro, keys, values, errs)
	})
}

// Differs: upstream's older MultiGet, with families for each key.
func TestDBRateLimiterOnReadTest_OldMultiGet(t *testing.T) {
	multiGetLimited(t, func(x *limitedTest, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
		cfs := make([]*rocksdb.ColumnFamily, len(keys))
		for i := range cfs {
			cfs[i] = x.db.ColumnFamily
		}
		x.db.MultiGetCF(&x.ro, cfs, keys, values, errs)
	})
}

func TestDBRateLimiterOnReadTest_Iterator(t *testing.T) {
	eachLimited(t, func(x *limitedTest) {
		it := x.db.NewIterator(&x.ro)
		defer it.Close()
		x.wantRequests(rocksdb.IOUser, 0)
		want := int64(0)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			want++
			x.wantRequests(rocksdb.IOUser, want)
		}
		// Backwards, blocks are in the cache where there is one.
		for it.SeekToLast(); it.Valid(); it.Prev() {
			if !x.cached {
				want++
			}
		}
		x.must(it.Err())
		x.wantRequests(rocksdb.IOUser, want)
	})
}

func TestDBRateLimiterOnReadTest_VerifyChecksum(t *testing.T) {
	eachLimited(t, func(x *limitedTest) {
		x.must(x.db.VerifyChecksum(&x.ro))
		// Meta blocks come with the prefetched tail where reads are direct.
		perFile := int64(7)
		if x.direct {
			perFile = 4
		}
		x.wantRequests(rocksdb.IOUser, limitedKeys*perFile)
	})
}

func TestDBRateLimiterOnReadTest_VerifyFileChecksums(t *testing.T) {
	eachLimited(t, func(x *limitedTest) {
		x.must(x.db.VerifyFileChecksums(&x.ro))
		x.wantRequests(rocksdb.IOUser, limitedKeys)
	})
}

// threeLimitedFlushes limits writes only, and flushes three tables.
func threeLimitedFlushes(t *testing.T) *dbTest {
	x, rnd := newDBTest(t), newRandom()
	x.reopen(x.limitedOptions(rocksdb.WritesOnly))
	for range 3 {
		x.puts(0, "a", rnd.str(2), "b", rnd.str(2))
		x.flush(0)
	}
	return x
}

func TestDBRateLimiterOnWriteTest_Flush(t *testing.T) {
	x := threeLimitedFlushes(t)
	x.wantRequests(rocksdb.IOTotal, 3)
	x.wantRequests(rocksdb.IOHigh, 3)
}

func TestDBRateLimiterOnWriteTest_Compact(t *testing.T) {
	x := threeLimitedFlushes(t)
	x.wantFiles(0, "3")
	before := x.requests(rocksdb.IOTotal)
	x.wantRequests(rocksdb.IOLow, 0)
	x.compact(0, "a", "b")
	x.wantFiles(0, "0,1")
	x.wantRequests(rocksdb.IOTotal, before+1)
	x.wantRequests(rocksdb.IOLow, 1)
}

func TestDBRateLimiterOnWriteWALTest_AutoWalFlush(t *testing.T) {
	for _, c := range []struct {
		disableWAL, manual bool
		pri                rocksdb.IOPriority
	}{{false, false, rocksdb.IOTotal}, {false, false, rocksdb.IOUser}, {false, false, rocksdb.IOHigh}, {false, true, rocksdb.IOUser}, {true, false, rocksdb.IOUser}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			x := newDBTest(t)
			o := x.limitedOptions(rocksdb.WritesOnly)
			o.ManualWALFlush = c.manual
			x.reopen(o)
			before := x.requests(rocksdb.IOTotal)
			x.wantRequests(rocksdb.IOUser, 0)
			wo := rocksdb.DefaultWriteOptions()
			wo.DisableWAL, wo.RateLimiterPriority = c.disableWAL, c.pri
			err := x.putWith(0, "foo", "v1", &wo)
			want := int64(0)
			switch {
			case c.pri == rocksdb.IOTotal:
				x.must(err)
			case c.pri == rocksdb.IOUser && !c.disableWAL && !c.manual:
				x.must(err)
				want = 1
			case rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "WriteOptions::rate_limiter_priority"):
				t.Errorf("error %v", err)
			}
			x.wantRequests(rocksdb.IOTotal, before+want)
			x.wantRequests(rocksdb.IOUser, want)
		})
	}
}

func TestDBRateLimiterOnManualWALFlushTest_ManualWALFlush(t *testing.T) {
	for _, pri := range []rocksdb.IOPriority{rocksdb.IOTotal, rocksdb.IOUser, rocksdb.IOHigh, rocksdb.IOLow} {
		t.Run(fmt.Sprint(pri), func(t *testing.T) {
			x := newDBTest(t)
			o := x.limitedOptions(rocksdb.WritesOnly)
			o.ManualWALFlush = true
			x.reopen(o)
			x.wantRequests(rocksdb.IOTotal, 0)
			for _, sync := range []bool{false, true} {
				before, beforeOf := x.requests(rocksdb.IOTotal), x.requests(pri)
				x.mustPut(0, fmt.Sprint("key_", sync), fmt.Sprint("value_", sync))
				x.wantRequests(rocksdb.IOTotal, before)
				x.must(x.db.FlushWALWithOptions(&rocksdb.FlushWALOptions{Sync: sync, RateLimiterPriority: pri}))
				total, of := x.requests(rocksdb.IOTotal)-before, x.requests(pri)-beforeOf
				if total != of || (of > 0) != (pri != rocksdb.IOTotal) {
					t.Errorf("sync %v: %d requests, %d of them of the priority", sync, total, of)
				}
			}
		})
	}
}
