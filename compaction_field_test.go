// No upstream twin: public reports about compactions and blob files, each with
// the outcome that is right. Their ids stand beside the tests.

package rocksdb_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// filterFunc is a filter of keys.
type filterFunc func(key []byte, vt rocksdb.CompactionFilterValueType, value []byte) (d rocksdb.CompactionFilterDecision, skipUntil []byte)

func (filterFunc) Name() string          { return "field.filter" }
func (filterFunc) IgnoreSnapshots() bool { return true }
func (f filterFunc) FilterV3(_ int, key []byte, vt rocksdb.CompactionFilterValueType, value []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	d, skipUntil = f(key, vt, value)
	return d, nil, skipUntil
}

func TestFieldFilterOfBlobsAndValues(t *testing.T) { // facebook/rocksdb#10391
	var calls []string
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.EnableBlobFiles, o.MinBlobSize = true, 100
		o.CompactionFilter = filterFunc(func(key []byte, vt rocksdb.CompactionFilterValueType, value []byte) (rocksdb.CompactionFilterDecision, []byte) {
			calls = append(calls, fmt.Sprintf("%s %d %s", key, vt, value))
			return rocksdb.FilterKeep, nil
		})
	})
	a, b, c := strings.Repeat("A", 200), strings.Repeat("B", 10), strings.Repeat("C", 300)
	x.put("a", a, "b", b, "c", c, "d", "D")
	x.flush()
	calls = nil
	x.compact(false)
	x.same("calls", strings.Join(calls, "|"), "a 0 "+a+"|b 0 "+b+"|c 0 "+c+"|d 0 D")
}

func TestFieldTombstonesAndBottommostLevel(t *testing.T) { // facebook/rocksdb#12178
	for _, c := range []struct {
		how  rocksdb.BottommostLevelCompaction
		left bool
	}{{rocksdb.BottommostLevelCompactionSkip, true}, {rocksdb.BottommostLevelCompactionIfHaveCompactionFilter, true},
		{rocksdb.BottommostLevelCompactionForce, false}, {rocksdb.BottommostLevelCompactionForceOptimized, false}} {
		x := newFieldTest(t, nil)
		fill := func(f func(k string)) {
			for i := range 10 {
				f(fmt.Sprint("k", i))
			}
			x.flush()
		}
		fill(func(k string) { x.put(k, "v") })
		x.compact(false)
		s := x.snapshot()
		fill(func(k string) { x.del(k) })
		x.compact(false)
		if f := x.tables(6); len(f) != 1 || f[0].NumDeletions != 10 {
			t.Fatalf("%+v", f)
		}
		x.release(s)
		o := rocksdb.DefaultCompactRangeOptions()
		o.BottommostLevelCompaction = c.how
		x.must(x.db.CompactRange(&o, nil, nil))
		if f := x.tables(6); len(f) != 0 != c.left || c.left && f[0].NumDeletions != 10 {
			t.Errorf("%v: %+v", c.how, f)
		}
		x.close()
	}
	x := newFieldTest(t, nil)
	x.put("k", "v")
	x.flush()
	x.compact(false)
	x.del("k")
	x.flush()
	x.compact(false)
	x.same("without a snapshot", x.levels(7), "0 0 0 0 0 0 0")
}

func TestFieldFailedChangeOfLevel(t *testing.T) { // facebook/rocksdb#13009
	fs := newHookFS()
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.LevelCompactionDynamicLevelBytes, o.MaxBGErrorResumeCount, o.Env = false, 0, fs.env()
	})
	for i := range 2 {
		x.put("a", fmt.Sprint(i), "z", "1")
		x.flush()
	}
	x.compact(false)
	change := func(level int) error {
		o := rocksdb.DefaultCompactRangeOptions()
		o.ChangeLevel, o.TargetLevel = true, level
		return x.db.CompactRange(&o, nil, nil)
	}
	x.must(change(3))
	x.same("at 3", x.levels(5), "0 0 0 1 0")
	fs.hook = func(op, path string, _ uint64, _ int) error {
		if (op == "append" || op == "sync") && strings.HasPrefix(filepath.Base(path), "MANIFEST") {
			return contract.IOError("injected")
		}
		return nil
	}
	if err := change(1); rocksdb.CodeOf(err) != rocksdb.CodeIOError {
		t.Error(err)
	}
	fs.hook = nil
	if f := x.tables(3); len(f) != 1 || f[0].BeingCompacted {
		t.Errorf("%+v", f)
	}
	x.put("b", "1")
	x.flush()
	x.compact(true)
	x.must(change(1))
	x.same("at 1", x.levels(5), "0 1 0 0 0")
	x.reopen()
	x.same("reopened", x.forward(nil), "a=1 b=1 z=1")
}

func TestFieldSnapshotOfSequenceZero(t *testing.T) { // facebook/rocksdb#13155
	for _, newer := range []bool{false, true} {
		x := newFieldTest(t, nil)
		path := filepath.Join(x.root, "x.sst")
		w := rocksdb.NewSstFileWriter(x.o, nil)
		x.must(w.Open(path, rocksdb.TemperatureUnknown))
		x.must(w.Put([]byte("a"), []byte("1")))
		x.must(w.Put([]byte("b"), []byte("2")))
		x.must(w.Finish(nil))
		x.must(x.db.IngestExternalFile([]string{path}, nil))
		s := x.snapshot()
		if x.db.GetLatestSequenceNumber() != 0 || s.GetSequenceNumber() != 0 {
			t.Error(x.db.GetLatestSequenceNumber(), s.GetSequenceNumber())
		}
		want := "a=1 b=2"
		if newer {
			x.put("a", "3")
			want = "a=3 b=2"
		}
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = s })
		for _, force := range []bool{false, true} {
			x.same("present", x.forward(nil), want)
			x.same("snapshot", x.forward(ro), "a=1 b=2")
			x.compact(force)
		}
		x.same("present", x.forward(nil), want)
		x.same("snapshot", x.forward(ro), "a=1 b=2")
		x.release(s)
		x.close()
	}
}

// versionsOfOneKey writes n versions of k, each with a snapshot.
func (x *recoveryTest) versionsOfOneKey(n int) (views []rocksdb.Snapshot) {
	x.Helper()
	for i := range n {
		x.put("k", fmt.Sprintf("%02d", i)+strings.Repeat("x", 200))
		views = append(views, x.snapshot())
	}
	return views
}

func (x *recoveryTest) checkVersions(when string, views []rocksdb.Snapshot) {
	x.Helper()
	for i, s := range views {
		v := x.get(readOptions(func(ro *rocksdb.ReadOptions) { ro.Snapshot = s }), "k")
		x.same(fmt.Sprint(when, ", version ", i), v[:2], fmt.Sprintf("%02d", i))
	}
	x.same(when, x.get(nil, "k")[:2], fmt.Sprintf("%02d", len(views)-1))
}

func TestFieldRoundRobinNeighbours(t *testing.T) { // facebook/rocksdb#14436
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.CompactionPri, o.LevelCompactionDynamicLevelBytes, o.NumLevels = rocksdb.RoundRobin, false, 4
		o.Compression, b.BlockSize = rocksdb.NoCompression, 100
	})
	x.put("a", strings.Repeat("a", 200))
	views := x.versionsOfOneKey(6)
	x.put("z", strings.Repeat("z", 200))
	x.flush()
	o := rocksdb.DefaultCompactionOptions()
	o.OutputFileSizeLimit = 300
	_, err := x.db.CompactFiles(&o, []string{x.tables(0)[0].Name}, 1, -1, nil)
	x.must(err)
	if f := x.tables(1); len(f) < 3 || string(f[0].LargestKey) != "k" || string(f[1].SmallestKey) != "k" {
		t.Fatalf("%+v", f)
	}
	x.must(x.db.SetOptions(map[string]string{"max_bytes_for_level_base": "1", "max_bytes_for_level_multiplier": "1000000",
		"target_file_size_base": "300", "disable_auto_compactions": "false"}))
	for r := range 3 {
		x.put(fmt.Sprint("m", r), "v")
		x.flush()
		x.must(x.db.WaitForCompact(nil))
		x.checkVersions("compacted", views)
	}
	x.same("a", x.get(nil, "a"), strings.Repeat("a", 200))
	x.same("z", x.get(nil, "z"), strings.Repeat("z", 200))
	x.release(views...)
	x.reopen()
	x.same("reopened", x.get(nil, "k")[:2], "05")
}

func TestFieldSkipUntilUnderAPrefixFilter(t *testing.T) { // facebook/rocksdb#2349
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.PrefixExtractor, b.FilterPolicy, b.WholeKeyFiltering = rocksdb.NewFixedPrefixTransform(1), rocksdb.NewBloomFilterPolicy(10), false
		o.CompactionFilter = filterFunc(func(key []byte, _ rocksdb.CompactionFilterValueType, _ []byte) (rocksdb.CompactionFilterDecision, []byte) {
			if string(key) == "a3" {
				return rocksdb.FilterRemoveAndSkipUntil, []byte("b")
			}
			return rocksdb.FilterKeep, nil
		})
	})
	for _, keys := range []string{"a1 a2 a3 a4 a5 c1 c2", "a25 a45 d1"} {
		for _, k := range strings.Fields(keys) {
			x.put(k, "")
		}
		x.flush()
	}
	x.compact(false)
	x.same("left", x.forward(readOptions(func(ro *rocksdb.ReadOptions) { ro.TotalOrderSeek = true })), "a1= a2= a25= c1= c2= d1=")
}

func TestFieldIntraL0OfIngestedFiles(t *testing.T) { // facebook/rocksdb#5958
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.CompactionStyle, o.Level0FileNumCompactionTrigger = style, 100
		})
		level0 := func(when string, leveled, universal int) {
			t.Helper()
			want := leveled
			if style == rocksdb.CompactionStyleUniversal {
				want = universal
			}
			x.same(when+" files", x.levels(1), fmt.Sprint(want))
			x.same(when, x.forward(nil), "a=0 b=after3 c=ing12 m=mem3 n0=mem n1=mem n2=mem n3=mem z=0")
		}
		x.put("a", "0", "z", "0")
		x.flush()
		n := 0
		for r := range 4 {
			x.put("m", fmt.Sprint("mem", r), fmt.Sprint("n", r), "mem")
			for range 3 {
				n++
				path := filepath.Join(x.root, fmt.Sprint(n, ".sst"))
				w := rocksdb.NewSstFileWriter(x.o, nil)
				x.must(w.Open(path, rocksdb.TemperatureUnknown))
				x.must(w.Put([]byte("b"), fmt.Append(nil, "ing", n)))
				x.must(w.Put([]byte("c"), fmt.Append(nil, "ing", n)))
				x.must(w.Finish(nil))
				x.must(x.db.IngestExternalFile([]string{path}, nil))
			}
			x.put("b", fmt.Sprint("after", r))
			x.flush()
		}
		level0("written", 16, 14)
		some := func(from, to int) {
			t.Helper()
			var names []string
			for _, f := range x.tables(0)[from:to] {
				names = append(names, f.Name)
			}
			_, err := x.db.CompactFiles(nil, names, 0, -1, nil)
			x.must(err)
		}
		some(0, 6)
		level0("newest six", 11, 9)
		some(4, 8)
		level0("five to eight", 8, 6)
		x.reopen()
		level0("reopened", 8, 6)
		x.o.DisableAutoCompactions, x.o.Level0FileNumCompactionTrigger = false, 2
		x.reopen()
		x.must(x.db.WaitForCompact(nil))
		level0("compacted", 0, 0)
		if f := x.tables(6); len(f) != 1 || string(f[0].SmallestKey) != "a" || string(f[0].LargestKey) != "z" {
			t.Errorf("%+v", f)
		}
		x.close()
	}
}

func TestFieldDeletedKeysStayAway(t *testing.T) { // google/leveldb#184
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.DisableAutoCompactions, o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = false, 256<<10, 64<<10, 256<<10
	})
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	const n = 20000
	each := func(prefix string, f func(k []byte) error) {
		t.Helper()
		for i := range n {
			x.must(f(fmt.Appendf(nil, "%s/%07d", prefix, i)))
		}
	}
	count := func(when string, want int) {
		t.Helper()
		one, two := 0, 0
		it := x.db.NewIterator(nil)
		defer it.Close()
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if it.Key()[5] == '1' {
				one++
			} else {
				two++
			}
		}
		if one != want || two != 0 || it.Status() != nil {
			t.Errorf("%s: %d, %d, %v", when, one, two, it.Status())
		}
	}
	put := func(k []byte) error { return x.db.Put(&wo, k, []byte("v")) }
	del := func(k []byte) error { return x.db.Delete(&wo, k) }
	each("range1", put)
	each("range2", put)
	each("range2", del)
	count("deleted", n)
	x.compact(false)
	count("compacted", n)
	each("range1", del)
	x.compact(false)
	count("all deleted", 0)
	x.same("files", x.levels(7), "0 0 0 0 0 0 0")
}

func TestFieldVersionsOverFiles(t *testing.T) { // google/leveldb#320
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.LevelCompactionDynamicLevelBytes, o.Compression, b.BlockSize = false, rocksdb.NoCompression, 100
	})
	views := x.versionsOfOneKey(12)
	x.flush()
	o := rocksdb.DefaultCompactionOptions()
	o.OutputFileSizeLimit = 300
	_, err := x.db.CompactFiles(&o, []string{x.tables(0)[0].Name}, 1, -1, nil)
	x.must(err)
	n := len(x.tables(1))
	if n < 3 {
		t.Fatal(n)
	}
	x.checkVersions("in files", views)
	o = rocksdb.DefaultCompactionOptions()
	o.OutputFileSizeLimit = 300
	_, err = x.db.CompactFiles(&o, []string{x.tables(1)[0].Name}, 2, -1, nil)
	x.must(err)
	x.same("all move", x.levels(3), fmt.Sprint("0 0 ", n))
	x.checkVersions("moved", views)
	x.release(views...)
}

func TestFieldBlobFilesOfDeletedTables(t *testing.T) { // facebook/rocksdb#12208
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) { o.EnableBlobFiles = true })
	blobs := func(want int) {
		t.Helper()
		if n := len(blobFileNames(t, filepath.Join(x.root, "db"))); n != want {
			t.Errorf("%d blob files, not %d", n, want)
		}
	}
	x.put("k0", strings.Repeat("v", 100))
	x.flush()
	x.must(x.db.DeleteFilesInRange(nil, nil)) // not of level 0
	x.same("level 0", x.levels(2), "1 0")
	blobs(1)
	x = newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) { o.EnableBlobFiles, o.NumLevels = true, 2 })
	for _, p := range []string{"a", "b", "c"} {
		x.put(p+"1", strings.Repeat("v", 100), p+"2", strings.Repeat("v", 100))
		x.flush()
		x.must(x.compactRange(false, []byte(p), []byte(p+"z")))
	}
	x.same("made", x.levels(2), "0 3")
	blobs(3)
	x.must(x.db.DeleteFilesInRange([]byte("b"), []byte("bz")))
	x.same("without b", x.levels(2), "0 2")
	blobs(3)
	x.must(x.db.DeleteFilesInRange([]byte("c"), []byte("cz")))
	x.same("without c", x.levels(2), "0 1")
	blobs(3)
	x.must(x.db.DeleteFilesInRange(nil, nil))
	x.same("without any", x.levels(2), "0 0")
	blobs(0)
	if n, _ := x.db.GetIntProperty("rocksdb.num-blob-files"); n != 0 {
		t.Error(n)
	}
}

func TestFieldMergeBaseInABlob(t *testing.T) { // facebook/rocksdb#12462
	for _, cached := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.EnableBlobFiles, o.MinBlobSize, o.MergeOperator = true, 0, rocksdb.NewStringAppendOperator(",")
			if cached {
				o.BlobCache = rocksdb.NewLRUCache(1 << 20)
			}
		})
		x.put("k", "v1")
		x.flush()
		x.merge("k", "v2")
		x.flush()
		x.reopen()
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.ReadTier = rocksdb.BlockCacheTier })
		x.same("cold", x.get(ro, "k"), "~Result incomplete")
		x.same("read", x.get(nil, "k"), "v1,v2")
		want, it := "v1,v2", "k=v1,v2"
		if !cached {
			want, it = "~Result incomplete", "~Result incomplete"
		}
		x.same("get", x.get(ro, "k"), want)
		x.same("batch", x.multiGet(ro, "k"), want)
		x.same("iterator", x.forward(ro), it)
		x.close()
	}
}

func TestFieldEntitiesAndBlobReferences(t *testing.T) { // facebook/rocksdb#11162
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.EnableBlobFiles, o.MinBlobSize = true, 0
	})
	entity := func(ro *rocksdb.ReadOptions, key string) string {
		var c rocksdb.PinnableWideColumns
		defer c.Reset()
		if err := x.db.GetEntity(ro, []byte(key), &c); err != nil {
			return outcome(nil, err)
		}
		return columnsOf(c.Columns())
	}
	x.put("k", "v")
	x.must(x.db.PutEntity(nil, []byte("e"), rocksdb.WideColumns{{Name: nil, Value: []byte("dv")}, {Name: []byte("c1"), Value: []byte("x")}}))
	x.flush()
	x.same("k", entity(nil, "k"), "=v")
	x.same("e", entity(nil, "e"), "=dv c1=x")
	results, errs := make([]rocksdb.PinnableWideColumns, 2), make([]error, 2)
	x.db.MultiGetEntity(nil, [][]byte{[]byte("k"), []byte("e")}, results, errs)
	x.same("batch", columnsOf(results[0].Columns())+"|"+columnsOf(results[1].Columns()), "=v|=dv c1=x")
	results[0].Reset()
	results[1].Reset()
	it := x.db.NewIterator(nil)
	it.SeekToFirst()
	x.same("iterator", rest(it, it.Next, func(it *rocksdb.Iterator) string { return pairOf(it) + ":" + columnsOf(it.Columns()) }), "e=dv:=dv c1=x k=v:=v")
	it.Close()
	x.same("get", x.get(nil, "k")+" "+x.get(nil, "e"), "v dv")
	x = newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.EnableBlobFiles, o.MinBlobSize = true, 0
	})
	x.put("k", "v")
	x.flush()
	x.reopen()
	x.same("cold", entity(readOptions(func(ro *rocksdb.ReadOptions) { ro.ReadTier = rocksdb.BlockCacheTier }), "k"), "~Result incomplete")
}

func columnsOf(c rocksdb.WideColumns) string {
	var list []string
	for _, c := range c {
		list = append(list, string(c.Name)+"="+string(c.Value))
	}
	return strings.Join(list, " ")
}
