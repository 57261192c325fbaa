// Port of db/db_basic_test.cc (DBMultiGetAsyncIOTest). Differs: upstream's
// coroutines are MultiGetAsync and GetAsync; each key goes over the files on its
// own, so that the last key of a file holds no other key back.

package db_test

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// asyncMultiGet is a database with keys on levels 0 to 2 and range deletions on
// level 1.
type asyncMultiGet struct {
	*dbTest
	optimize, async bool
	o               contract.Options
}

func eachAsyncMultiGet(t *testing.T, f func(x *asyncMultiGet)) {
	for i := range 4 {
		optimize, async := i&1 != 0, i&2 != 0
		t.Run(fmt.Sprintf("optimize=%v/async=%v", optimize, async), func(t *testing.T) {
			x := &asyncMultiGet{dbTest: newDBTest(t), optimize: optimize, async: async}
			o := blockTable(x.currentOptions(), func(t *contract.BlockBasedTableOptions) { t.FilterPolicy = rocksdb.NewBloomFilterPolicy(10) })
			o.DisableAutoCompactions, o.Statistics, o.Env = true, rocksdb.NewStatistics(), env.Default()
			x.o = o
			x.reopen(o)
			n := 0
			put := func(i int, level string) {
				x.mustPut(0, key(i), fmt.Sprintf("val_%s_%d", level, i))
				if n++; n == 8 {
					x.flush(0)
					n = 0
				}
			}
			rest := func() {
				if n > 0 {
					x.flush(0)
					n = 0
				}
			}
			for i := range 256 {
				put(i, "l2")
			}
			rest()
			x.moveFilesToLevel(2, 0)
			for i := 0; i < 128; i += 3 {
				put(i, "l1")
			}
			rest()
			for i := 128; i < 256; i += 32 {
				x.deleteRange(0, key(i), key(i+16))
				for j := i + 16; j < i+32; j++ { // for a filter
					if j%3 == 0 {
						x.mustPut(0, key(j), fmt.Sprint("val_l1_", j))
					}
				}
				x.flush(0)
			}
			x.moveFilesToLevel(1, 0)
			for i := 0; i < 128; i += 5 {
				put(i, "l0")
			}
			rest()
			x.reopen(o) // nothing is cached
			f(x)
		})
	}
}

// want looks keys up and wants values.
func (x *asyncMultiGet) want(keys []int, want ...string) {
	x.Helper()
	ro := contract.DefaultReadOptions()
	ro.AsyncIO, ro.OptimizeMultigetForIO = true, x.optimize
	list := make([][]byte, len(keys))
	for i, k := range keys {
		list[i] = []byte(key(k))
	}
	values, errs := make([]contract.PinnableSlice, len(keys)), make([]error, len(keys))
	if x.async {
		f := x.db.MultiGetAsync(&ro, list)
		for _, k := range list {
			clear(k) // the caller's again
		}
		values, errs = f.Wait()
	} else {
		x.db.MultiGet(&ro, list, values, errs)
	}
	for i := range keys {
		got := string(values[i].Data())
		switch {
		case errors.Is(errs[i], rocksdb.ErrNotFound):
			got = "NOT_FOUND"
		case errs[i] != nil:
			got = errs[i].Error()
		}
		if got != want[i] && !(strings.HasPrefix(want[i], "IO error") && strings.HasPrefix(got, want[i])) {
			x.Errorf("%s: %s, not %s", key(keys[i]), got, want[i])
		}
		values[i].Release()
	}
}

// wantBatches checks how many batches of reads there were and how many reads
// the greatest had, and with how many tables reads were awaited.
func (x *asyncMultiGet) wantBatches(count, most, tables int) {
	x.Helper()
	h := x.o.Statistics.GetHistogramData(contract.HistMultigetIOBatchSize)
	if int(h.Count) != count || int(h.Max) != most {
		x.Errorf("%d batches of at most %v reads, not %d of %d", h.Count, h.Max, count, most)
	}
	x.wantTicker(contract.MultigetCoroutineCount, tables)
}

func TestDBMultiGetAsyncIOTest_GetFromL0(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{0, 40, 80}, "val_l0_0", "val_l0_40", "val_l0_80")
		if x.optimize {
			x.wantBatches(1, 3, 3)
		} else {
			x.wantBatches(3, 1, 3) // tables of level 0 one after the other
		}
	})
}

func TestDBMultiGetAsyncIOTest_GetFromL1(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{33, 54, 102}, "val_l1_33", "val_l1_54", "val_l1_102")
		x.wantBatches(1, 3, 3)
	})
}

func TestDBMultiGetAsyncIOTest_SingleGetFromL1UsesCoroutineRead(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		ro := contract.DefaultReadOptions()
		k := []byte(key(33))
		f := x.db.GetAsync(&ro, k)
		clear(k)
		<-f.Done()
		v, err := f.Wait()
		if x.must(err); string(v.Data()) != "val_l1_33" {
			t.Errorf("%q", v.Data())
		}
		v.Release()
		v, err = x.db.GetAsync(nil, []byte("nothing")).Wait()
		if !errors.Is(err, rocksdb.ErrNotFound) || v.Size() != 0 {
			t.Error(err)
		}
	})
}

// Many batches of one call read at once; the keys come in any order and twice.
func TestMultiGet_AsyncBatchesUnderWay(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		rnd := rand.New(rand.NewSource(301))
		var keys []int
		var want []string
		for range 1000 {
			k := rnd.Intn(300)
			keys, want = append(keys, k), append(want, x.get(0, key(k)))
		}
		x.reopen(x.o)
		x.want(keys, want...)
		x.want(keys, want...) // from the cache

		// What the values' size ends is not begun.
		ro := contract.DefaultReadOptions()
		ro.AsyncIO, ro.OptimizeMultigetForIO, ro.ValueSizeSoftLimit = true, x.optimize, 500
		list := make([][]byte, len(keys))
		for i, k := range keys {
			list[i] = []byte(key(k))
		}
		values, errs := make([]contract.PinnableSlice, len(keys)), make([]error, len(keys))
		x.db.MultiGet(&ro, list, values, errs)
		size, aborted := 0, 0
		for i := range keys {
			if errors.Is(errs[i], rocksdb.ErrAborted) {
				aborted++
			}
			size += len(values[i].Data())
			values[i].Release()
		}
		if aborted == 0 || size > 500+32*len("val_l2_255") {
			t.Fatalf("%d keys of %d are aborted, %d bytes came", aborted, len(keys), size)
		}
	})
}

func TestDBMultiGetAsyncIOTest_GetFromL1Error(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		// The table of key 102 cannot be opened; few tables stay open.
		var name string
		for _, f := range x.db.GetLiveFilesMetaData() {
			if f.Level == 1 && string(f.SmallestKey) <= key(102) && key(102) <= string(f.LargestKey) {
				name = f.Name
			}
		}
		fs := &openFault{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
		o := x.onFS(x.o, fs)
		o.MaxOpenFiles = 20 // a table cache of ten, opened lazily
		o.SkipStatsUpdateOnDBOpen, o.OpenFilesAsync = true, false
		x.reopen(o)
		for _, l := range []int{0, 1, 2} {
			for _, f := range x.storage(0).LevelFiles(l) {
				x.cf(0).Impl().CFD().TableCache().Evict(f.FD.GetNumber())
			}
		}
		fs.suffix = name
		x.want([]int{33, 54, 102}, "val_l1_33", "val_l1_54", "IO error")
		x.wantBatches(1, 2, 2)
		fs.suffix = ""
	})
}

// openFault fails opens of files whose name ends in suffix.
type openFault struct {
	contract.FileSystemWrapper
	suffix string
}

func (f *openFault) NewRandomAccessFile(name string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	if f.suffix != "" && strings.HasSuffix(name, f.suffix) {
		return nil, contract.IOError("injected")
	}
	return f.Target().NewRandomAccessFile(name, o)
}

func TestDBMultiGetAsyncIOTest_LastKeyInFile(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{21, 54, 102}, "val_l1_21", "val_l1_54", "val_l1_102") // 21 is the last key of its file
		x.wantBatches(1, 3, 3)
	})
}

func TestDBMultiGetAsyncIOTest_GetFromL1AndL2(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{33, 56, 102}, "val_l1_33", "val_l2_56", "val_l1_102")
		if x.optimize {
			x.wantBatches(1, 3, 3)
		} else {
			x.wantBatches(2, 2, 3)
		}
	})
}

func TestDBMultiGetAsyncIOTest_GetFromL2WithRangeOverlapL0L1(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{19, 26}, "val_l2_19", "val_l2_26")
		x.wantTicker(contract.MultigetCoroutineCount, 2) // filters spare the other levels
	})
}

func TestDBMultiGetAsyncIOTest_GetFromL2WithRangeDelInL1(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{139, 163}, "NOT_FOUND", "NOT_FOUND")
	})
}

func TestDBMultiGetAsyncIOTest_GetFromL1AndL2WithRangeDelInL1(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		x.want([]int{139, 144, 163}, "NOT_FOUND", "val_l1_144", "NOT_FOUND")
	})
}

func TestDBMultiGetAsyncIOTest_GetNoIOUring(t *testing.T) {
	eachAsyncMultiGet(t, func(x *asyncMultiGet) {
		env.RocksDbIOUringEnable(false)
		defer env.RocksDbIOUringEnable(true)
		x.reopen(x.o)
		x.want([]int{33, 54, 102}, "val_l1_33", "val_l1_54", "val_l1_102")
		x.wantBatches(1, 3, 3) // goroutines read as well side by side
	})
}
