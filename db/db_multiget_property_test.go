// No upstream twin: MultiGet against Get.

package db_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// TestMultiGet_IsGet compares batches with single reads over memtables, level
// 0 and deeper levels, with deletions, merges and range deletions, in one
// family and over two.
func TestMultiGet_IsGet(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	rnd := rand.New(rand.NewSource(301))
	for layer := range 6 {
		for range 150 {
			cf, k := rnd.Intn(2), key(rnd.Intn(200))
			switch rnd.Intn(8) {
			case 0:
				x.mustDelete(cf, k)
			case 1:
				x.mustMerge(cf, k, fmt.Sprint(layer))
			case 2:
				if rnd.Intn(10) == 0 {
					x.must(x.cf(cf).DeleteRange(nil, []byte(k), []byte(k+"~")))
				}
			default:
				x.mustPut(cf, k, fmt.Sprintf("%d-%d", layer, rnd.Int31()))
			}
		}
		switch layer {
		case 0:
			x.compact(0, "", "")
			x.compact(1, "", "")
		case 5:
		default:
			x.flush(0)
			x.flush(1)
		}
	}
	for range 50 {
		n := 1 + rnd.Intn(100)
		keys, cfs := make([][]byte, n), make([]*rocksdb.ColumnFamily, n)
		var names []string
		for i := range n {
			names = append(names, key(rnd.Intn(220)))
			keys[i], cfs[i] = []byte(names[i]), x.cf(rnd.Intn(2))
		}
		for i, got := range x.multiGet(1, nil, names...) {
			if want := x.get(1, names[i]); got != want {
				t.Fatalf("%s: %q, not %q", names[i], got, want)
			}
		}
		values, errs := make([]rocksdb.PinnableSlice, n), make([]error, n)
		x.db.MultiGetCF(nil, cfs, keys, values, errs)
		for i := range n {
			v, err := cfs[i].Get(nil, keys[i])
			if fmt.Sprint(err) != fmt.Sprint(errs[i]) || string(v.Data()) != string(values[i].Data()) {
				t.Fatalf("%s: %q %v, not %q %v", keys[i], values[i].Data(), errs[i], v.Data(), err)
			}
			v.Release()
			values[i].Release()
		}
	}
}
