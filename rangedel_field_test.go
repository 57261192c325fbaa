// No upstream twin: public reports about range tombstones and timestamps, each
// with the outcome that is right. Their ids stand beside the tests.

package rocksdb_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestFieldDeleteRangeFromTheEmptyKey(t *testing.T) { // cockroachdb/pebble#1022
	x := newFieldTest(t, nil)
	x.put("", "v", "a", "v", "l", "v", "m", "v", "z", "v")
	x.flush()
	x.deleteRange("", "m")
	const want = "m=v z=v"
	x.same("memtable", x.forward(nil)+" "+x.get(nil, ""), want+" NotFound")
	x.flush()
	x.same("flushed", x.forward(nil)+" "+x.get(nil, ""), want+" NotFound")
	x.same("files", x.levels(1), "2")
	x.compact(false)
	x.same("compacted", x.forward(nil)+" "+x.get(nil, ""), want+" NotFound")
	f := x.tables(6)
	if len(f) != 1 || string(f[0].SmallestKey) != "m" || string(f[0].LargestKey) != "z" {
		t.Errorf("%+v", f)
	}
	x.deleteRange("m", "m")
	x.deleteRange("", "")
	x.same("empty ranges", x.forward(nil), want)
	// Refused before the log: what comes after it goes on.
	if err := x.db.DeleteRange(nil, []byte("m"), []byte("a")); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument ||
		!strings.Contains(err.Error(), "end key comes before start key") {
		t.Error(err)
	}
	x.put("n", "v")
	x.flush()
	x.reopen()
	x.same("goes on", x.forward(nil), "m=v n=v z=v")
}

// rangeModel is what a database of random writes holds.
type rangeModel map[string]string

func (m rangeModel) deleteRange(begin, end string) {
	maps.DeleteFunc(m, func(k, _ string) bool { return begin <= k && k < end })
}

func (m rangeModel) String() string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, k+"="+m[k])
	}
	return strings.Join(list, " ")
}

func TestFieldInsertHintsAndRanges(t *testing.T) { // facebook/rocksdb#12558
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MemtableInsertWithHintPrefixExtractor = rocksdb.NewFixedPrefixTransform(1)
	})
	x.put("a1", "1")
	x.deleteRange("a", "b")
	x.put("a2", "2", "b1", "3")
	x.deleteRange("b0", "b2")
	x.put("a3", "4", "b1", "5")
	x.same("literal", x.forward(nil), "a2=2 a3=4 b1=5")
	m := rangeModel{"a2": "2", "a3": "4", "b1": "5"}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 3000 {
		p := string(rune('a' + r.IntN(5)))
		switch n := r.IntN(100); {
		case n < 70:
			k, v := fmt.Sprintf("%s%02d", p, r.IntN(100)), fmt.Sprint(i)
			x.put(k, v)
			m[k] = v
		case n < 75:
			x.deleteRange(p, p+"~")
			m.deleteRange(p, p+"~")
		default:
			from := r.IntN(100)
			begin, end := fmt.Sprintf("%s%02d", p, from), fmt.Sprintf("%s%02d", p, min(from+r.IntN(5), 99))
			x.deleteRange(begin, end)
			m.deleteRange(begin, end)
		}
		if i%500 == 499 {
			x.same("random", x.forward(nil), m.String())
		}
		if i%1000 == 999 {
			x.flush()
		}
	}
	x.compact(true)
	x.same("compacted", x.forward(nil), m.String())
}

func TestFieldUnsortedRangeTombstones(t *testing.T) { // facebook/rocksdb#14579
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Comparator, o.PersistUserDefinedTimestamps = rocksdb.BytewiseComparatorWithU64Ts(), false
		o.AllowConcurrentMemtableWrite, o.FlushVerifyMemtableCount = false, true
	})
	for _, k := range []string{"b", "k"} {
		x.must(x.db.PutWithTimestamp(nil, []byte(k), rocksdb.EncodeU64Ts(1), []byte("v")))
	}
	for i, r := range []string{"m p", "a c", "a c", "b d"} {
		x.must(x.db.DeleteRangeWithTimestamp(nil, []byte(r[:1]), []byte(r[2:]), rocksdb.EncodeU64Ts(uint64(i+2))))
	}
	x.must(x.db.IncreaseFullHistoryTsLow(rocksdb.EncodeU64Ts(10)))
	x.flush()
	counts := func(want string) {
		t.Helper()
		all, err := x.db.GetPropertiesOfAllTables()
		x.must(err)
		for _, p := range all {
			x.same("counts", fmt.Sprint(p.NumEntries, " ", p.NumRangeDeletions), want)
		}
	}
	counts("8 7")
	ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Timestamp = rocksdb.EncodeU64Ts(20) })
	x.same("reads", x.get(ro, "b")+" "+x.get(ro, "k"), "NotFound v")
	x.compact(false)
	x.same("reads", x.get(ro, "b")+" "+x.get(ro, "k"), "NotFound v")

	x = newFieldTest(t, nil)
	x.put("b", "v")
	for _, r := range []string{"m p", "a c", "b n"} {
		x.deleteRange(r[:1], r[2:])
	}
	x.flush()
	counts("5 5")
}

func TestFieldConvertedTombstonesAndIngestion(t *testing.T) { // facebook/rocksdb#14654
	for _, early := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.MinTombstonesForRangeConversion, o.Statistics = 2, rocksdb.NewStatistics()
		})
		x.put("b", "v", "c", "v", "d", "v")
		x.flush()
		x.del("b", "c")
		x.flush()
		x.put("z", "v")
		s := x.snapshot()
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = s })
		var it *rocksdb.Iterator
		if early {
			it = x.db.NewIterator(ro)
		}
		path := filepath.Join(x.root, "x.sst")
		w := rocksdb.NewSstFileWriter(x.o, nil)
		x.must(w.Open(path, rocksdb.TemperatureUnknown))
		x.must(w.Put([]byte("c"), []byte("live")))
		x.must(w.Finish(nil))
		x.must(x.db.IngestExternalFile([]string{path}, nil))
		if !early {
			it = x.db.NewIterator(ro)
		}
		it.SeekToFirst()
		x.same("at the snapshot", rest(it, it.Next, keyOf), "d z")
		it.Close()
		tickers := func() string {
			return fmt.Sprint(x.o.Statistics.GetTickerCount(rocksdb.ReadPathRangeTombstonesInserted), " ",
				x.o.Statistics.GetTickerCount(rocksdb.ReadPathRangeTombstonesDiscarded))
		}
		x.same("tickers", tickers(), "0 1")
		x.same("gets", x.get(nil, "c")+" "+x.get(ro, "c"), "live NotFound")
		for range 2 {
			x.same("scan", x.forward(nil), "c=live d=v z=v")
			x.same("scan", x.backward(nil), "z=v d=v c=live")
			x.flush()
			x.compact(false)
		}
		x.release(s)
		x.close()
	}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MinTombstonesForRangeConversion, o.Statistics = 2, rocksdb.NewStatistics()
	})
	x.put("a", "", "b", "", "c", "", "d", "")
	x.del("b", "c")
	for range 3 {
		x.same("control", x.forward(nil), "a= d=")
	}
	if i, d := x.o.Statistics.GetTickerCount(rocksdb.ReadPathRangeTombstonesInserted),
		x.o.Statistics.GetTickerCount(rocksdb.ReadPathRangeTombstonesDiscarded); i != 1 || d != 0 {
		t.Error(i, d)
	}
}

func TestFieldRangesSnapshotsCompactions(t *testing.T) { // facebook/rocksdb#2752
	for seed := range uint64(2) {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.DisableAutoCompactions, o.Compression, b.BlockSize = false, rocksdb.NoCompression, 128
			o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase, o.Level0FileNumCompactionTrigger = 16<<10, 2<<10, 8<<10, 2
		})
		type view struct {
			s rocksdb.Snapshot
			m string
		}
		var views []view
		m := rangeModel{}
		r := rand.New(rand.NewPCG(seed, 7))
		compare := func(when string) {
			t.Helper()
			x.same(when, x.forward(nil), m.String())
			for _, v := range views {
				x.same(when+", snapshot", x.forward(readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = v.s })), v.m)
			}
		}
		for i := range 6000 {
			k := r.IntN(600)
			key := fmt.Sprintf("k%04d", k)
			switch n := r.IntN(100); {
			case n < 65:
				m[key] = fmt.Sprint(i, strings.Repeat("x", r.IntN(60)))
				x.put(key, m[key])
			case n < 80:
				delete(m, key)
				x.del(key)
			case n < 90:
				width := 10
				if r.IntN(2) == 0 {
					width = 200
				}
				end := fmt.Sprintf("k%04d", k+r.IntN(width))
				x.deleteRange(key, end)
				m.deleteRange(key, end)
			case len(views) < 7 && n < 92:
				views = append(views, view{x.snapshot(), m.String()})
			case len(views) > 0 && n < 93:
				x.release(views[0].s)
				views = views[1:]
			}
			if i%1500 == 1499 {
				compare("random")
				from := r.IntN(500)
				x.must(x.compactRange(false, fmt.Appendf(nil, "k%04d", from), fmt.Appendf(nil, "k%04d", from+100)))
				compare("compacted in part")
			}
		}
		x.compact(true)
		compare("compacted")
		for _, v := range views {
			x.release(v.s)
		}
		x.close()
	}
}

func TestFieldFilesSharingATombstone(t *testing.T) { // facebook/rocksdb#2833
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.DisableAutoCompactions, o.Compression, b.BlockSize = false, rocksdb.NoCompression, 128
		o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase, o.Level0FileNumCompactionTrigger = 16<<10, 2<<10, 8<<10, 2
	})
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for n := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 8))
			o := rocksdb.DefaultCompactRangeOptions()
			o.ExclusiveManualCompaction = false
			for {
				select {
				case <-stop:
					return
				default:
				}
				from := r.IntN(500)
				if err := x.db.CompactRange(&o, fmt.Appendf(nil, "k%04d", from), fmt.Appendf(nil, "k%04d", from+100)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	m := rangeModel{}
	r := rand.New(rand.NewPCG(11, 9))
	for i := range 4000 {
		k := r.IntN(600)
		key := fmt.Sprintf("k%04d", k)
		switch n := r.IntN(100); {
		case n < 70:
			m[key] = fmt.Sprint(i, strings.Repeat("x", r.IntN(60)))
			x.put(key, m[key])
		case n < 85:
			delete(m, key)
			x.del(key)
		default:
			end := fmt.Sprintf("k%04d", k+r.IntN(200))
			x.deleteRange(key, end)
			m.deleteRange(key, end)
		}
	}
	close(stop)
	wg.Wait()
	x.must(x.db.WaitForCompact(nil))
	x.same("scan", x.forward(nil), m.String())
	for level := 1; level < 7; level++ {
		last := ""
		for _, f := range x.tables(level) {
			if string(f.SmallestKey) < last {
				t.Errorf("level %d: a file from %q after one to %q", level, f.SmallestKey, last)
			}
			last = string(f.LargestKey)
		}
	}
}

func TestFieldTombstonesInTheLastLevel(t *testing.T) { // facebook/rocksdb#4774
	for _, held := range []bool{false, true} {
		x := newFieldTest(t, nil)
		for i := 1; i <= 1000; i++ {
			x.put(fmt.Sprintf("%04d", i), "v")
		}
		x.flush()
		var s rocksdb.Snapshot
		if held {
			s = x.snapshot()
		}
		x.deleteRange("0001", "1001")
		x.compact(true)
		if held {
			f := x.tables(6)
			if x.levels(7) != "0 0 0 0 0 0 1" || f[0].NumEntries != 1001 || f[0].NumDeletions != 1 ||
				string(f[0].SmallestKey) != "0001" || string(f[0].LargestKey) != "1001" {
				t.Errorf("%s %+v", x.levels(7), f)
			}
			x.release(s)
			x.compact(true)
		}
		x.same("files", x.levels(7), "0 0 0 0 0 0 0")
		x.same("scan", x.forward(nil), "")
		x.close()
	}
	x := newFieldTest(t, nil)
	x.deleteRange("a", "b")
	x.flush()
	x.compact(false)
	x.same("moved", x.levels(7), "0 0 0 0 0 0 1")
	x.compact(true)
	x.same("forced", x.levels(7), "0 0 0 0 0 0 0")
}

func TestFieldSentinelEndKeys(t *testing.T) { // facebook/rocksdb#4829
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.NumLevels, o.Compression, b.BlockSize, o.TargetFileSizeBase = 4, rocksdb.NoCompression, 16, 1
	})
	x.put("a", "old", "b", "old", "bb", "old")
	x.flush()
	x.moveTo(3)
	s0 := x.snapshot()
	x.deleteRange("a", "c")
	s1 := x.snapshot()
	long := strings.Repeat("v", 2000)
	x.put("a", long, "aa", long, "ab", long, "b", long)
	x.flush()
	o := rocksdb.DefaultCompactionOptions()
	o.OutputFileSizeLimit = 1
	_, err := x.db.CompactFiles(&o, []string{x.tables(0)[0].Name}, 1, -1, nil)
	x.must(err)
	if f := x.tables(1); len(f) < 2 {
		t.Fatalf("%+v", f)
	}
	x.must(x.compactRange(false, []byte("b"), []byte("b")))
	if f := x.tables(1); len(f) == 0 {
		t.Fatal("all files moved")
	}
	x.same("gets", x.get(nil, "ab")+x.get(nil, "b")+x.get(nil, "bb"), long+long+"NotFound")
	it := x.db.NewIterator(nil)
	it.SeekToFirst()
	x.same("scan", rest(it, it.Next, keyOf), "a aa ab b")
	it.Close()
	ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = s0 })
	x.same("before", x.get(ro, "b")+" "+x.get(ro, "bb"), "old old")
	x.release(s0, s1)
}

func TestFieldMergeOverARange(t *testing.T) { // facebook/rocksdb#5392
	one := string([]byte{1, 0, 0, 0, 0, 0, 0, 0})
	for variant := range 3 {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.MergeOperator = rocksdb.NewUInt64AddOperator()
		})
		var views []rocksdb.Snapshot
		step := func() {
			if variant > 0 {
				views = append(views, x.snapshot())
			}
			if variant > 1 {
				x.flush()
			}
		}
		x.put("k", one)
		step()
		x.deleteRange("k", "k_")
		step()
		x.merge("k", one)
		step()
		for range 3 {
			x.same("get", x.get(nil, "k"), one)
			x.same("scan", x.forward(nil), "k="+one)
			x.flush()
			x.compact(true)
		}
		for i, want := range []string{one, "NotFound", one} {
			if variant > 0 {
				x.same("snapshot", x.get(readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = views[i] }), "k"), want)
			}
		}
		x.release(views...)
		x.close()
	}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MergeOperator = rocksdb.NewUInt64AddOperator()
	})
	x.put("k", one)
	x.flush()
	x.compact(false)
	x.deleteRange("k", "k_")
	x.merge("k", one)
	x.merge("k", one)
	x.flush()
	x.same("two", x.get(nil, "k"), "\x02"+one[1:])
}

func TestFieldAdjacentTombstonesIngested(t *testing.T) { // facebook/rocksdb#5649
	file := func(x *recoveryTest, n int, begin, end, point string) string {
		path := filepath.Join(x.root, fmt.Sprint(n, ".sst"))
		w := rocksdb.NewSstFileWriter(x.o, nil)
		x.must(w.Open(path, rocksdb.TemperatureUnknown))
		if point != "" {
			x.must(w.Put([]byte(point), []byte("v")))
		}
		x.must(w.DeleteRange([]byte(begin), []byte(end)))
		x.must(w.Finish(nil))
		return path
	}
	for i, c := range []struct{ end, point, levels, scan string }{
		{"b", "", "0 0 0 0 0 0 2", ""}, {"b", "b", "0 0 0 0 0 0 2", "b=v"}, {"b1", "", "1 0 0 0 0 0 1", ""}, {"b", "", "3 0 0 0 0 0 0", "c=v"},
	} {
		x := newFieldTest(t, nil)
		if i == 3 {
			x.put("a1", "v", "b1", "v", "c", "v")
		}
		x.must(x.db.IngestExternalFile([]string{file(x, 1, "a", c.end, ""), file(x, 2, "b", "c", c.point)}, nil))
		x.same(fmt.Sprint(i, " files"), x.levels(7), c.levels)
		x.same(fmt.Sprint(i, " scan"), x.forward(nil), c.scan)
		if n := x.db.GetLatestSequenceNumber(); i < 2 && n != 0 {
			t.Error(i, n)
		}
		x.close()
	}
}

// gate is a listener that holds flushes and compactions up.
type gate struct {
	rocksdb.EventListenerBase
	flushes, compactions chan struct{}
	began                chan struct{} // one for each that waits
}

func (*gate) Name() string { return "gate" }

func (g *gate) OnFlushBegin(rocksdb.DBRef, *rocksdb.FlushJobInfo) {
	if g.flushes != nil {
		g.began <- struct{}{}
		<-g.flushes
	}
}

func (g *gate) OnCompactionBegin(rocksdb.DBRef, *rocksdb.CompactionJobInfo) {
	if g.compactions != nil {
		g.began <- struct{}{}
		<-g.compactions
	}
}

func TestFieldSnapshotAndALaterRange(t *testing.T) { // facebook/rocksdb#6062
	g := &gate{flushes: make(chan struct{}), began: make(chan struct{}, 100)}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) { o.Listeners = append(o.Listeners, g) })
	for c := 'a'; c <= 'z'; c++ {
		x.put(string(c), "v")
	}
	s := x.snapshot()
	ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = s })
	x.deleteRange("a", "z")
	x.must(x.db.Flush(&rocksdb.FlushOptions{AllowWriteStall: true}))
	<-g.began
	all := func(when string) {
		t.Helper()
		if a, b := strings.Count(x.forward(ro), "="), strings.Count(x.backward(ro), "="); a != 26 || b != 26 || x.get(ro, "m") != "v" {
			t.Errorf("%s: %d, %d, %s", when, a, b, x.get(ro, "m"))
		}
	}
	all("held up")
	x.same("present", x.forward(nil), "z=v")
	it := x.db.NewIterator(ro)
	x.deleteRange("a", "zz")
	it.SeekToFirst()
	if n := len(strings.Fields(rest(it, it.Next, keyOf))); n != 26 {
		t.Error(n)
	}
	it.Close()
	close(g.flushes)
	x.flush()
	all("flushed")
	x.same("present", x.forward(nil), "")
	x.release(s)
}

func TestFieldMergeOverATimestampedDelete(t *testing.T) { // facebook/rocksdb#10915
	for layout := range 3 {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.Comparator, o.MergeOperator = rocksdb.BytewiseComparatorWithU64Ts(), rocksdb.NewStringAppendOperator(",")
		})
		key := []byte("k")
		x.must(x.db.PutWithTimestamp(nil, key, rocksdb.EncodeU64Ts(1), []byte("a")))
		if layout == 2 {
			x.flush()
		}
		x.must(x.db.DeleteWithTimestamp(nil, key, rocksdb.EncodeU64Ts(2)))
		if layout == 2 {
			x.flush()
		}
		x.must(x.db.MergeWithTimestamp(nil, key, rocksdb.EncodeU64Ts(3), []byte("b")))
		if layout > 0 {
			x.flush()
		}
		read := func(ts uint64, want string) {
			t.Helper()
			ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Timestamp = rocksdb.EncodeU64Ts(ts) })
			show := func(it *rocksdb.Iterator) string {
				n, err := rocksdb.DecodeU64Ts(it.Timestamp())
				x.must(err)
				return fmt.Sprint(pairOf(it), "@", n)
			}
			it := x.db.NewIterator(ro)
			defer it.Close()
			it.SeekToFirst()
			x.same(fmt.Sprint(layout, " forward at ", ts), rest(it, it.Next, show), want)
			it.SeekToLast()
			x.same(fmt.Sprint(layout, " backward at ", ts), rest(it, it.Prev, show), want)
			v, at, err := x.db.GetWithTimestamp(ro, key)
			got := "k=" + outcome(v.Data(), err)
			if err == nil {
				n, _ := rocksdb.DecodeU64Ts(at)
				got += fmt.Sprint("@", n)
			} else {
				got = ""
			}
			v.Release()
			x.same(fmt.Sprint(layout, " get at ", ts), got, want)
		}
		read(3, "k=b@3")
		read(2, "")
		read(1, "k=a@1")
		x.must(x.db.MergeWithTimestamp(nil, key, rocksdb.EncodeU64Ts(4), []byte("c")))
		read(4, "k=b,c@4")
		x.close()
	}
}

func TestFieldRowCacheAndTimestamps(t *testing.T) { // facebook/rocksdb#11816
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Comparator, o.RowCache, o.Statistics = rocksdb.BytewiseComparatorWithU64Ts(), rocksdb.NewLRUCache(1<<20), rocksdb.NewStatistics()
	})
	x.must(x.db.PutWithTimestamp(nil, []byte("k"), rocksdb.EncodeU64Ts(1), []byte("v")))
	x.flush()
	at := func(ts uint64) *rocksdb.ReadOptions {
		return readOptions(func(ro *rocksdb.ReadOptions) { ro.Timestamp = rocksdb.EncodeU64Ts(ts) })
	}
	for i := range 3 {
		x.same("get", x.get(at(2), "k"), "v")
		v, ts, err := x.db.GetWithTimestamp(at(2), []byte("k"))
		x.must(err)
		if n, _ := rocksdb.DecodeU64Ts(ts); n != 1 || string(v.Data()) != "v" {
			t.Errorf("%q at %d", v.Data(), n)
		}
		v.Release()
		if hits, misses := x.o.Statistics.GetTickerCount(rocksdb.RowCacheHit), x.o.Statistics.GetTickerCount(rocksdb.RowCacheMiss); misses != 1 || hits != uint64(2*i+1) {
			t.Error(hits, misses)
		}
	}
	x.same("earlier", x.get(at(0), "k"), "NotFound")
}
