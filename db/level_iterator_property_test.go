// No upstream twin: iterators over levels of small files against a sorted map.

package db_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// layout is a family with files drawn at random, and what it holds: at present
// and at snapshots.
type layout struct {
	t         *rapid.T
	db        *rocksdb.DB
	cf        *rocksdb.ColumnFamily
	model     map[string]string
	snapshots []rocksdb.Snapshot
	models    []map[string]string
	n         int // writes
}

func (l *layout) must(err error) {
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *layout) drawKey(label string) string {
	return fmt.Sprintf("k%02d", rapid.IntRange(0, 19).Draw(l.t, label))
}

// step writes, flushes, compacts a piece of a level into files of a key or so,
// or takes a snapshot, which keeps versions and tombstones.
func (l *layout) step() {
	k := l.drawKey("key")
	switch rapid.IntRange(0, 13).Draw(l.t, "op") {
	case 0:
		delete(l.model, k)
		l.must(l.cf.Delete(nil, []byte(k)))
	case 1, 2, 3:
		end := l.drawKey("end")
		if end < k {
			k, end = end, k
		}
		maps.DeleteFunc(l.model, func(key, _ string) bool { return k <= key && key < end })
		l.must(l.cf.DeleteRange(nil, []byte(k), []byte(end)))
	case 4, 5:
		l.must(l.cf.Flush(nil))
	case 6, 7, 8:
		var begin, end []byte
		if rapid.Bool().Draw(l.t, "piece") {
			begin, end = []byte(k), []byte(l.drawKey("to"))
			if string(end) < k {
				begin, end = end, begin
			}
		}
		level := rapid.IntRange(0, 3).Draw(l.t, "level")
		l.must(l.db.Impl().TestCompactRange(level, begin, end, l.cf.Impl(), rapid.Bool().Draw(l.t, "rewrite")))
	case 9:
		if len(l.snapshots) < 3 {
			l.snapshots = append(l.snapshots, l.db.GetSnapshot())
			l.models = append(l.models, maps.Clone(l.model))
		}
	default:
		l.n++
		l.model[k] = fmt.Sprint(l.n)
		l.must(l.cf.Put(nil, []byte(k), []byte(l.model[k])))
	}
}

// compare walks at random and compares with the sorted map.
func (l *layout) compare() {
	ro, model := contract.DefaultReadOptions(), l.model
	if i := rapid.IntRange(-1, len(l.snapshots)-1).Draw(l.t, "snapshot"); i >= 0 {
		ro.Snapshot, model = l.snapshots[i], l.models[i]
		ro.AutoRefreshIteratorWithSnapshot = rapid.Bool().Draw(l.t, "refresh")
	}
	lower, upper := "", "~"
	if rapid.Bool().Draw(l.t, "lower?") {
		lower = l.drawKey("lower")
		ro.IterateLowerBound = []byte(lower)
	}
	if rapid.Bool().Draw(l.t, "upper?") {
		upper = l.drawKey("upper")
		ro.IterateUpperBound = []byte(upper)
	}
	ro.PinData = rapid.Bool().Draw(l.t, "pin")
	ro.AsyncIO = rapid.Bool().Draw(l.t, "async")
	ro.AllowUnpreparedValue = rapid.Bool().Draw(l.t, "unprepared")
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(model)), func(k string) bool { return k < lower || k >= upper })
	it := l.cf.NewIterator(&ro)
	defer it.Close()
	at := -1 // index in keys; outside: not valid
	for range rapid.IntRange(1, 25).Draw(l.t, "moves") {
		k := l.drawKey("target")
		move := rapid.SampledFrom([]string{"seek", "for-prev", "first", "last", "next", "next", "next", "prev", "prev", "prev"}).Draw(l.t, "move")
		if !it.Valid() && (move == "next" || move == "prev") {
			move = "seek"
		}
		switch move {
		case "seek":
			it.Seek([]byte(k))
			at, _ = slices.BinarySearch(keys, k)
		case "for-prev":
			it.SeekForPrev([]byte(k))
			i, found := slices.BinarySearch(keys, k)
			if at = i; !found {
				at = i - 1
			}
		case "first":
			it.SeekToFirst()
			at = 0
		case "last":
			it.SeekToLast()
			at = len(keys) - 1
		case "next":
			it.Next()
			at++
		case "prev":
			it.Prev()
			at--
		}
		l.must(it.Status())
		valid := at >= 0 && at < len(keys)
		if it.Valid() != valid {
			l.t.Fatalf("%s %s: valid is %v, not %v; %v", move, k, it.Valid(), valid, keys)
		}
		if valid && !it.PrepareValue() {
			l.t.Fatalf("%s %s: %v", move, k, it.Status())
		}
		if valid && (string(it.Key()) != keys[at] || string(it.Value()) != model[keys[at]]) {
			l.t.Fatalf("%s %s: %s->%s, not %s->%s", move, k, it.Key(), it.Value(), keys[at], model[keys[at]])
		}
	}
}

func TestLevelIterator_IsSortedMap(t *testing.T) {
	e := mockenv.NewMemEnv(env.Default())
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.Env = true, e
	d, err := rocksdb.Open("/db", o)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	fo := o.ColumnFamilyOptions
	fo.DisableAutoCompactions, fo.NumLevels = true, 5
	fo.TargetFileSizeBase = 1 // a file a key, or a piece of a tombstone
	fo.MaxSequentialSkipInIterations = 2
	fo = blockTable(contract.Options{ColumnFamilyOptions: fo}, blockAKey).ColumnFamilyOptions
	names := 0
	rapid.Check(t, func(t *rapid.T) {
		names++
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
		for range 4 {
			l.compare()
		}
	})
}
