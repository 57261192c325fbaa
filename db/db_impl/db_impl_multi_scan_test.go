// No upstream twin: a multi-scan gives what plain iterators give.

package dbimpl_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"sort"
	"testing"

	rocksdbgo "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func scanKey(i int) []byte { return fmt.Appendf(nil, "k%05d", i) }

// scanDB has tables on two levels and level 0, a memtable, and range deletions
// in all of them.
func scanDB(t *testing.T, r *rand.Rand) *rocksdbgo.DB {
	t.Helper()
	o := rocksdbgo.DefaultOptions()
	o.CreateIfMissing, o.DisableAutoCompactions = true, true
	o.TargetFileSizeBase = 16 << 10
	to := rocksdb.DefaultBlockBasedTableOptions()
	to.BlockSize = 512
	if r.Intn(2) == 0 {
		to.IndexType = rocksdb.BinarySearchWithFirstKey
	}
	if r.Intn(3) == 0 {
		to.NoBlockCache = true
	}
	o.TableFactory = rocksdbgo.NewBlockBasedTableFactory(to)
	o.UseDirectReads = r.Intn(3) == 0
	o.MaxSequentialSkipInIterations = 3
	db, err := rocksdbgo.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		for range 600 {
			k := r.Intn(2000)
			switch {
			case r.Intn(40) == 0:
				err = db.DeleteRange(nil, scanKey(k), scanKey(k+1+r.Intn(60)))
			case r.Intn(8) == 0:
				err = db.Delete(nil, scanKey(k))
			default:
				err = db.Put(nil, scanKey(k), fmt.Appendf(nil, "%d %d %032d", k, round, r.Int63()))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if round < 4 {
			if err := db.Flush(nil); err != nil {
				t.Fatal(err)
			}
		}
		if round == 1 {
			if err := db.CompactRange(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}

func TestMultiScan_LikeIterators(t *testing.T) {
	for seed := range int64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewSource(seed))
			db := scanDB(t, r)
			defer func() {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}()
			for range 30 {
				checkScan(t, r, db)
			}
		})
	}
}

func checkScan(t *testing.T, r *rand.Rand, db *rocksdbgo.DB) {
	t.Helper()
	args := rocksdb.DefaultMultiScanArgs(rocksdbgo.BytewiseComparator())
	args.UseAsyncIO, args.Reverse = r.Intn(2) == 0, r.Intn(3) == 0
	args.IOCoalesceThreshold = uint64(r.Intn(3) * 2000)
	limited := false
	switch r.Intn(4) {
	case 0:
		args.IODispatcher = rocksdbgo.NewIODispatcher(&rocksdb.IODispatcherOptions{MaxPrefetchMemoryBytes: uint64(200 + r.Intn(8000))})
	case 1:
		args.MaxPrefetchSize, limited = uint64(1+r.Intn(20000)), true
	}
	ends := make([]int, 2*(1+r.Intn(6)))
	for i := range ends {
		ends[i] = r.Intn(2100)
	}
	sort.Ints(ends)
	for i := 0; i < len(ends); i += 2 {
		if ends[i] == ends[i+1] {
			ends[i+1]++
			if i+2 < len(ends) && ends[i+2] < ends[i+1] {
				return
			}
		}
		args.Insert(scanKey(ends[i]), scanKey(ends[i+1]))
	}
	if n := len(args.Ranges); !args.Reverse && r.Intn(4) == 0 {
		args.Ranges[n-1].Range.Limit = nil
	}
	m := db.NewMultiScan(nil, &args)
	i := 0
	for scan := range m.Scans() {
		rg := args.Ranges[i].Range
		ro := rocksdb.DefaultReadOptions()
		ro.IterateLowerBound, ro.IterateUpperBound = rg.Start, rg.Limit
		it := db.NewIterator(&ro)
		step := it.Next
		if args.Reverse {
			it.SeekToLast()
			step = it.Prev
		} else {
			it.SeekToFirst()
		}
		stop := -1
		if r.Intn(5) == 0 {
			stop = r.Intn(10)
		}
		n := 0
		for k, v := range scan {
			if !it.Valid() || !bytes.Equal(it.Key(), k) || !bytes.Equal(it.Value(), v) {
				t.Fatalf("range %d, entry %d: %s, want valid %v", i, n, k, it.Valid())
			}
			if n == stop {
				break
			}
			n++
			step()
		}
		if limited && m.Err() != nil {
			if s := rocksdb.AsStatus(m.Err()); s == nil || s.SubCode != rocksdb.SubCodePrefetchLimitReached || !it.Valid() {
				t.Fatalf("range %d: %v", i, m.Err())
			}
		} else if n != stop && it.Valid() {
			t.Fatalf("range %d ended before %s: %v", i, it.Key(), m.Err())
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
		i++
	}
	if err := m.Err(); (err != nil || i != len(args.Ranges)) && (err == nil || !limited) {
		t.Fatalf("%d of %d ranges, %v", i, len(args.Ranges), m.Err())
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
