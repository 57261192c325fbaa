// Port of db/db_compaction_test.cc (deletion of files in ranges).

package db_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// rangeDeletion is a case of upstream's DBDeleteFileRangeTest.
type rangeDeletion struct {
	*dbTest
	udt bool // user-defined timestamps
}

func eachRangeDeletion(t *testing.T, f func(x *rangeDeletion, o rocksdb.Options)) {
	for _, udt := range []bool{false, true} {
		t.Run(fmt.Sprintf("timestamps=%t", udt), func(t *testing.T) {
			x := &rangeDeletion{newCompactionTest(t), udt}
			o := x.currentOptions()
			if udt {
				o.Comparator = util.BytewiseComparatorWithU64Ts()
			}
			f(x, o)
		})
	}
}

func (x *rangeDeletion) put(i int, value string) {
	x.Helper()
	if x.udt {
		x.putU64(key(i), 0, value)
	} else {
		x.mustPut(0, key(i), value)
	}
}

// fill puts random values, kept in values, for the keys of [from, end) and
// flushes.
func (x *rangeDeletion) fill(rnd *util.Random, values map[int]string, from, end, size int) {
	x.Helper()
	for i := from; i < end; i++ {
		values[i] = rnd.RandomString(size)
		x.put(i, values[i])
	}
	x.flush(0)
}

// get gives a key's value and tells whether there is one.
func (x *rangeDeletion) get(i int) (string, bool) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	if x.udt {
		ro.Timestamp = u64ts(0)
	}
	v, err := x.db.Get(&ro, []byte(key(i)))
	if errors.Is(err, rocksdb.ErrNotFound) {
		return "", false
	}
	x.must(err)
	defer v.Release()
	return string(v.Data()), true
}

// wantHas checks that the keys of [from, end) have their values, or none.
func (x *rangeDeletion) wantHas(values map[int]string, want bool, from, end int) {
	x.Helper()
	for i := from; i < end; i++ {
		if v, there := x.get(i); there != want || there && v != values[i] {
			x.Fatalf("%s is there: %t, with %.100q", key(i), there, v)
		}
	}
}

func (x *rangeDeletion) deleteFiles(includeEnd bool, ranges ...[2]int) {
	x.Helper()
	var list []rocksdb.RangeOpt
	for _, r := range ranges {
		list = append(list, rocksdb.RangeOpt{Start: []byte(key(r[0])), Limit: []byte(key(r[1]))})
	}
	x.must(x.cf(0).DeleteFilesInRanges(list, includeEnd))
}

func TestDBDeleteFileRangeTest_DeleteFileRange(t *testing.T) {
	eachRangeDeletion(t, func(x *rangeDeletion, o rocksdb.Options) {
		const size, keys, levels = 100, 4300, 4 // a hundredth of upstream's bytes
		o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = 200<<10, 20<<10, 100<<10
		o.MaxBytesForLevelMultiplier, o.NumLevels = 2, levels
		o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = 3, 3
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[int]string{}
		x.fill(rnd, values, 0, 100, size)
		x.fill(rnd, values, 100, 300, size)
		x.wantFiles(0, "2")
		x.changeLevel(2)
		x.wantFiles(0, "0,0,2")
		x.fill(rnd, values, 0, 200, size)
		for range 3 {
			x.fill(rnd, values, 300, 2300, size)
			x.fill(rnd, values, 2300, keys, size)
		}
		x.must(x.full().TestWaitForCompact())
		limit := 4 * o.MaxBytesForLevelBase
		for level := 1; level < levels; level++ {
			if n := x.sizeAtLevel(level); n > limit {
				x.Errorf("level %d has %d bytes", level, n)
			}
			limit *= 2
		}
		files := x.countFiles(rocksdb.TableFile)
		x.deleteFiles(true, [2]int{1000, 2000})
		x.wantHas(values, true, 0, 1000)
		x.wantHas(values, true, 2001, keys)
		deleted := 0
		for i := 1000; i <= 2000; i++ {
			if _, there := x.get(i); !there { // an older value may show up
				deleted++
			}
		}
		if deleted == 0 {
			x.Fatal("no key was deleted")
		}
		x.deleteFiles(true, [2]int{5000, 6000}) // no keys
		// Files of level 0 are not deleted.
		x.changeLevel(1)
		x.must(x.full().TestWaitForCompact())
		x.must(x.cf(0).DeleteFilesInRange(nil, nil))
		x.wantHas(values, false, 0, keys)
		if n := x.countFiles(rocksdb.TableFile); n >= files {
			x.Errorf("%d files, there were %d", n, files)
		}
	})
}

func TestDBDeleteFileRangeTest_DeleteFilesInRanges(t *testing.T) {
	eachRangeDeletion(t, func(x *rangeDeletion, o rocksdb.Options) {
		const size = 1 << 10
		o.WriteBufferSize, o.MaxBytesForLevelMultiplier, o.NumLevels = 10<<20, 2, 4
		o.MaxBackgroundCompactions, o.DisableAutoCompactions = 3, true
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[int]string{}
		for i := range 10 {
			x.fill(rnd, values, i*100, i*100+100, size)
		}
		x.wantFiles(0, "10")
		x.changeLevel(2)
		x.wantFiles(0, "0,0,10")
		for i := 0; i < 10; i += 2 {
			x.fill(rnd, values, i*100, i*100+100, size)
		}
		x.wantFiles(0, "5,0,10")
		x.must(x.full().TestCompactRange(0, nil, nil, x.cf(0).Impl(), false))
		x.wantFiles(0, "0,5,10")

		x.deleteFiles(true, [2]int{0, 100}, [2]int{100, 200}, [2]int{200, 299})
		x.wantFiles(0, "0,3,7")
		x.wantHas(values, false, 0, 300)
		x.wantHas(values, true, 300, 1000)
		x.deleteFiles(false, [2]int{600, 800}, [2]int{700, 900}, [2]int{800, 999})
		x.wantFiles(0, "0,1,4")
		x.wantHas(values, false, 600, 900)
		x.wantHas(values, true, 300, 600)
		x.wantHas(values, true, 900, 1000)
		x.must(x.cf(0).DeleteFilesInRanges([]rocksdb.RangeOpt{{}}, true))
		x.wantFiles(0, "")
		x.wantHas(values, false, 0, 1000)
	})
}

func TestDBDeleteFileRangeTest_DeleteFileRangeFileEndpointsOverlapBug(t *testing.T) {
	eachRangeDeletion(t, func(x *rangeDeletion, o rocksdb.Options) {
		o.Level0FileNumCompactionTrigger, o.TargetFileSizeBase = 2, 1<<10
		x.destroyAndReopen(o)
		// A snapshot keeps key 1's older version, and two keys fill a file, so that
		// the key ends one and begins the next:
		//
		//	file 0: 0 -> first, 1 -> second
		//	file 1:             1 -> first, 2 -> second
		rnd, values := util.NewRandom(301), map[int]string{}
		var snapshot rocksdb.Snapshot
		for i := range 2 {
			value := rnd.RandomString(8 << 10)
			values[i], values[i+1] = value, value
			x.put(i, value)
			x.put(i+1, value)
			x.flush(0)
			if i == 0 {
				snapshot = x.db.GetSnapshot()
			}
		}
		x.must(x.full().TestWaitForCompact())
		x.deleteFiles(true, [2]int{0, 1}) // not only file 0
		x.wantHas(values, true, 1, 2)
		x.db.ReleaseSnapshot(snapshot)
	})
}
