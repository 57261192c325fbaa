// Port of db/db_tailing_iter_test.cc.

package db_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
)

// tailingTest runs a case with and without asynchronous reads.
type tailingTest struct {
	*dbTest
	async bool
}

func eachTailing(t *testing.T, f func(x *tailingTest)) {
	t.Helper()
	for _, async := range []bool{false, true} {
		t.Run("async_io="+strconv.FormatBool(async), func(t *testing.T) { f(&tailingTest{newDBTest(t), async}) })
	}
}

// tail makes a tailing iterator.
func (x *tailingTest) tail(cf int, set ...func(*contract.ReadOptions)) testIter {
	return x.iter(cf, append(set, func(ro *contract.ReadOptions) { ro.Tailing, ro.AsyncIO = true, x.async })...)
}

func (x *tailingTest) pikachu(set ...func(o *contract.Options)) {
	x.Helper()
	o := x.currentOptions()
	for _, f := range set {
		f(&o)
	}
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
}

func TestDBTestTailingIterator_TailingIteratorSingle(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		it := x.tail(0)
		it.walk("first", "(invalid)")
		x.mustPut(0, "mirko", "fodor")
		it.walk("first", "=mirko", "next", "(invalid)")
	})
}

func TestDBTestTailingIterator_TailingIteratorKeepAdding(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu()
		it := x.tail(1)
		v := dummyString(1024, 'a')
		for i := range 2000 {
			k := fmt.Sprintf("%016d", i)
			x.mustPut(1, k, v)
			it.walk("seek "+k, "="+k)
		}
	})
}

func tailKey(prefix string, i int) string { return fmt.Sprintf("%s%016d", prefix, i) }

func TestDBTestTailingIterator_TailingIteratorSeekToNext(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu()
		it, itn := x.tail(1), x.tail(1)
		const n = 1000
		v := dummyString(1024, 'a')
		write := func(i int) string {
			k := tailKey("00a0", i*5)
			x.mustPut(1, k, v)
			if i%100 == 99 {
				x.flush(1)
			}
			it.walk("seek "+tailKey("00a0", i*5-2), "="+k)
			return k
		}
		for i := 1; i < n; i++ {
			k := write(i)
			if i == 1 {
				itn.SeekToFirst()
			} else {
				itn.Next()
			}
			itn.walk("=" + k)
		}
		for i := 2 * n; i > 0; i-- {
			write(i)
		}
	})
}

func TestDBTestTailingIterator_TailingIteratorDeletes(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu()
		it := x.tail(1)
		x.mustPut(1, "0test", "test")
		it.walk("first", "=0test")
		x.mustDelete(1, "0test")
		const n = 10000
		v := dummyString(1024, 'A')
		for i := range n {
			x.mustPut(1, fmt.Sprintf("1%015d", i), v)
		}
		x.flush(1)
		it.Next()
		count := 0
		for ; it.Valid(); it.Next() {
			count++
		}
		if count != n || it.Status() != nil {
			x.Fatal(count, it.Status())
		}
	})
}

func TestDBTestTailingIterator_TailingIteratorPrefixSeek(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu(func(o *contract.Options) {
			o.DisableAutoCompactions = true
			o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(2)
			o.MemtableFactory = memtable.NewHashSkipListRepFactory(16, 4, 4)
			o.AllowConcurrentMemtableWrite = false
		})
		it := x.tail(1)
		x.puts(1, "0101", "test", "flush", "0202", "test")
		it.walk("seek 0102", "(invalid)", "seek 0202", "=0202", "next", "(invalid)")
	})
}

func TestDBTestTailingIterator_TailingIteratorIncomplete(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu()
		x.mustPut(0, "key", "value")
		it := x.tail(0, func(ro *contract.ReadOptions) { ro.ReadTier = contract.BlockCacheTier })
		seen := func() {
			x.Helper()
			if it.SeekToFirst(); !it.Valid() && !rocksdb.IsIncomplete(it.Status()) {
				x.Fatal(it.Status())
			}
		}
		seen()
		x.compact(0, "", "")
		seen()
	})
}

func TestDBTestTailingIterator_TailingIteratorSeekToSame(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu(func(o *contract.Options) {
			o.CompactionStyle, o.WriteBufferSize = contract.CompactionStyleUniversal, 1000
		})
		for i := range 10000 {
			x.mustPut(0, fmt.Sprintf("%05d", 2*i), "value")
		}
		x.tail(0).walk("seek 00001", "=00002", "seek 00002", "=00002")
	})
}

func TestDBTestTailingIterator_TailingIteratorGap(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.pikachu()
		x.puts(1, "20", "20", "30", "30", "40", "40", "flush")
		x.moveFilesToLevel(3, 1)
		x.puts(1, "10", "10", "15", "15", "flush", "45", "45", "50", "50", "flush")
		x.moveFilesToLevel(2, 1)
		x.puts(1, "20", "20", "25", "25", "flush", "35", "35", "40", "40", "flush")
		x.moveFilesToLevel(1, 1)
		x.wantFiles(1, "0,2,2,1")
		x.tail(1).walk("seek 30", "=30", "next", "=35", "next", "=40")
	})
}

func TestDBTestTailingIterator_SeekWithUpperBoundBug(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.puts(0, "aa", "SEEN", "flush", "zz", "NOT-SEEN", "flush")
		x.tail(0, upperBound("cc")).walk("seek aa", "=aa")
	})
}

func TestDBTestTailingIterator_SeekToFirstWithUpperBoundBug(t *testing.T) {
	eachTailing(t, func(x *tailingTest) {
		x.puts(0, "aa", "SEEN", "flush", "zz", "NOT-SEEN", "flush")
		x.tail(0, upperBound("cc")).walk("first", "=aa", "next", "(invalid)", "first", "=aa")
	})
}
