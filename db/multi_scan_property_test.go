// No upstream twin: scans of several ranges, prepared in each way, against a
// sorted map.

package db_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
)

// ranges draws ranges in order whose bounds do not overlap; unless all have to
// have ends some may be open, not all where there are several.
func (l *layout) ranges(bounded bool) [][2]string {
	n := rapid.IntRange(1, 5).Draw(l.t, "ranges")
	var ends []string
	for range 2 * n {
		ends = append(ends, l.drawKey("bound"))
	}
	slices.Sort(ends)
	var list [][2]string
	for i := 0; i < len(ends); i += 2 {
		if ends[i] < ends[i+1] {
			list = append(list, [2]string{ends[i], ends[i+1]})
		}
	}
	if len(list) == 0 {
		list = append(list, [2]string{"k00", "k99"})
	}
	if bounded || !rapid.Bool().Draw(l.t, "open ends") {
		return list
	}
	list[len(list)-1][1] = ""
	for i := 1; i < len(list)-1; i++ {
		if rapid.Bool().Draw(l.t, "open end") {
			list[i][1] = ""
		}
	}
	return list
}

// scanAll scans the ranges in one way and wants what the map has.
func (l *layout) scanAll(list [][2]string, reverse, async bool, ro *contract.ReadOptions, model map[string]string, budget, coalesce, prefetch uint64, stopAfter int) {
	a := contract.DefaultMultiScanArgs(rocksdb.BytewiseComparator())
	a.UseAsyncIO, a.Reverse, a.IOCoalesceThreshold, a.MaxPrefetchSize = async, reverse, coalesce, prefetch
	if budget > 0 {
		a.IODispatcher = iodispatcher.NewIODispatcher(&contract.IODispatcherOptions{MaxPrefetchMemoryBytes: budget})
	}
	for _, r := range list {
		limit := []byte(r[1])
		if r[1] == "" {
			limit = nil
		}
		a.Insert([]byte(r[0]), limit)
	}
	keys := slices.Sorted(maps.Keys(model))
	m := l.cf.NewMultiScan(ro, &a)
	i := 0
	for s := range m.Scans() {
		r := list[i]
		i++
		want := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return k < r[0] || r[1] != "" && k >= r[1] })
		if reverse {
			slices.Reverse(want)
		}
		n := 0
		for k, v := range s {
			if n >= len(want) || string(k) != want[n] || string(v) != model[want[n]] {
				l.t.Fatalf("async %v, reverse %v: range %q: entry %d is %s->%s, not of %v", async, reverse, r, n, k, v, want)
			}
			if n++; n == stopAfter {
				break
			}
		}
		if prefetch > 0 && contract.IsIncomplete(m.Err()) {
			_ = m.Close() // what was read is at its end
			return
		}
		if n != len(want) && n != stopAfter {
			l.t.Fatalf("async %v, reverse %v: range %q: %d of %v; %v", async, reverse, r, n, want, m.Err())
		}
	}
	l.must(m.Err())
	l.must(m.Close())
	if i != len(list) {
		l.t.Fatalf("%d of %d ranges", i, len(list))
	}
}

func (l *layout) compareScans() {
	ro, model := contract.DefaultReadOptions(), l.model
	if i := rapid.IntRange(-1, len(l.snapshots)-1).Draw(l.t, "snapshot"); i >= 0 {
		ro.Snapshot, model = l.snapshots[i], l.models[i]
	}
	ro.FillCache = rapid.Bool().Draw(l.t, "fill")
	reverse := rapid.Bool().Draw(l.t, "reverse")
	list := l.ranges(reverse)
	budget := rapid.SampledFrom([]uint64{0, 1, 200, 100000}).Draw(l.t, "budget")
	coalesce := rapid.SampledFrom([]uint64{0, 100, 16 << 10}).Draw(l.t, "coalesce")
	prefetch := rapid.SampledFrom([]uint64{0, 1, 100, 1 << 20}).Draw(l.t, "prefetch")
	stop := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(l.t, "stop")
	for _, async := range []bool{false, true} {
		l.scanAll(list, reverse, async, &ro, model, budget, coalesce, prefetch, stop)
	}
}

func TestMultiScan_IsSortedMap(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Env = env.NewCompositeEnvWrapper(env.Default(), &noSyncFS{contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}, nil)
	d, err := rocksdb.Open(filepath.Join(t.TempDir(), "db"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	fo := o.ColumnFamilyOptions
	fo.DisableAutoCompactions, fo.NumLevels, fo.TargetFileSizeBase = true, 5, 1
	names := 0
	rapid.Check(t, func(t *rapid.T) {
		names++
		fo := fo
		if rapid.Bool().Draw(t, "larger files") {
			fo.TargetFileSizeBase = 1 << 20
		}
		fo = blockTable(contract.Options{ColumnFamilyOptions: fo}, func(b *contract.BlockBasedTableOptions) {
			blockAKey(b)
			b.NoBlockCache = rapid.Bool().Draw(t, "no cache")
		}).ColumnFamilyOptions
		cf, err := d.CreateColumnFamily(fo, fmt.Sprint("cf", names))
		if err != nil {
			t.Fatal(err)
		}
		l := &layout{t: t, db: d, cf: cf, model: map[string]string{}}
		defer func() {
			for _, s := range l.snapshots {
				l.must(d.ReleaseSnapshot(s))
			}
			l.must(d.DropColumnFamily(cf))
			l.must(cf.Close())
		}()
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			l.step()
		}
		for range 3 {
			l.compareScans()
		}
	})
}
