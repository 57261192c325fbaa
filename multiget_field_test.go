// No upstream twin: public reports about MultiGet and merges, each with the
// outcome that is right. Their ids stand beside the tests.

package rocksdb_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestFieldMultiGetRangeTombstone(t *testing.T) { // facebook/rocksdb#10534
	x := newFieldTest(t, nil)
	x.put("b", "vb", "x", "vx")
	x.flush()
	x.moveTo(2)
	x.deleteRange("a", "c")
	x.put("d", "vd")
	x.flush()
	x.moveTo(1)
	for _, async := range []bool{true, false} {
		x.same("b d", x.multiGet(readOptions(func(ro *rocksdb.ReadOptions) { ro.AsyncIO = async }), "b", "d"), "NotFound vd")
	}
}

func TestFieldMultiGetManyLevels(t *testing.T) { // facebook/rocksdb#10688
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		b.FilterPolicy, b.NoBlockCache, b.BlockSize = rocksdb.NewBloomFilterPolicy(10), true, 128
	})
	for level := 3; level >= 0; level-- {
		for i := level; i < 400; i += 4 + level {
			x.put(fmt.Sprintf("k%04d", i), fmt.Sprint("L", level))
		}
		x.flush()
		if level > 0 {
			x.moveTo(level)
		}
	}
	x.deleteRange("k0100", "k0120")
	x.put("k0399", "x")
	x.flush()
	missing := 0
	for i := 0; i < 420; i += 64 {
		var keys, want []string
		for j := i; j < min(i+64, 420); j++ {
			keys = append(keys, fmt.Sprintf("k%04d", j*7%420))
			want = append(want, x.get(nil, keys[len(keys)-1]))
			if want[len(want)-1] == "NotFound" {
				missing++
			}
		}
		for _, async := range []bool{true, false} {
			x.same("batch", x.multiGet(readOptions(func(ro *rocksdb.ReadOptions) { ro.AsyncIO, ro.OptimizeMultigetForIO = async, async }), keys...),
				strings.Join(want, " "))
		}
	}
	if missing == 0 || missing == 420 {
		t.Error(missing, "missing")
	}
}

// noAsyncFS tells of asynchronous reads and has none.
type noAsyncFS struct {
	contract.FileSystemWrapper
	advertised bool
}

func (f noAsyncFS) SupportedOps() int64 {
	ops := f.FileSystemWrapper.SupportedOps() &^ (1 << contract.AsyncIO)
	if f.advertised {
		ops |= 1 << contract.AsyncIO
	}
	return ops
}

type noAsyncFile struct {
	contract.FSRandomAccessFileWrapper
}

func (noAsyncFile) ReadAsync(*contract.FSReadRequest, *contract.IOOptions, func(*contract.FSReadRequest)) (contract.IOHandle, error) {
	return nil, contract.NotSupported("ReadAsync")
}

func (f noAsyncFS) NewRandomAccessFile(path string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	r, err := f.FileSystemWrapper.NewRandomAccessFile(path, o)
	if err != nil {
		return nil, err
	}
	return noAsyncFile{contract.FSRandomAccessFileWrapper{FSRandomAccessFile: r}}, nil
}

func TestFieldNoAsyncReads(t *testing.T) { // facebook/rocksdb#11171
	for _, advertised := range []bool{true, false} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			b.BlockSize, b.NoBlockCache = 128, true
			fs := noAsyncFS{contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}, advertised}
			o.Env = env.NewCompositeEnvWrapper(env.Default(), fs, nil)
		})
		for i := range 200 {
			x.put(fmt.Sprintf("k%03d", i), "v")
		}
		x.flush()
		x.compact(false)
		ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.AsyncIO, ro.OptimizeMultigetForIO = true, true })
		x.same("batch", x.multiGet(ro, "k001", "k050", "k199", "zz"), "v v v NotFound")
		if n := strings.Count(x.forward(ro), "="); n != 200 {
			t.Error(n, "keys")
		}
		x.close()
	}
}

func TestFieldPersistedTier(t *testing.T) { // facebook/rocksdb#11700
	noWAL := rocksdb.DefaultWriteOptions()
	noWAL.DisableWAL = true
	x := newFieldTest(t, nil)
	ro := readOptions(func(ro *rocksdb.ReadOptions) { ro.ReadTier = rocksdb.PersistedTier })
	read := func(when, want string, keys ...string) {
		t.Helper()
		x.same(when, x.multiGet(ro, keys...), want)
		var single []string
		for _, k := range keys {
			single = append(single, x.get(ro, k))
		}
		x.same(when+", one by one", strings.Join(single, " "), want)
	}
	x.must(x.db.Put(&noWAL, []byte("a"), []byte("va")))
	x.must(x.db.Put(&noWAL, []byte("b"), []byte("vb")))
	read("before a flush", "NotFound NotFound", "a", "b")
	x.flush()
	read("after it", "va vb NotFound", "a", "b", "c")
	x.must(x.db.Put(&noWAL, []byte("a"), []byte("new")))
	read("with a write that is not logged", "va vb", "a", "b")
	x.put("b", "wal")
	read("and a logged one", "va vb", "a", "b")
	x.same("iterator", x.walk(ro, "<"), "~Not implemented")
	x = newFieldTest(t, nil)
	x.put("a", "wal")
	read("logged only", "wal", "a")
}

func TestFieldDuplicatesAndErrors(t *testing.T) { // facebook/rocksdb#12295
	fs := newHookFS()
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MergeOperator, o.Compression, o.Env = rocksdb.NewStringAppendOperator(","), rocksdb.NoCompression, fs.env()
		b.NoBlockCache, b.BlockSize = true, 64
	})
	for _, keys := range []string{"b= c=", "j= k=base", "m= z=zz"} {
		for _, kv := range strings.Fields(keys) {
			k, v, _ := strings.Cut(kv, "=")
			x.put(k, v)
		}
		x.flush()
		x.moveTo(2)
	}
	x.put("a", "1")
	var snapshots []rocksdb.Snapshot
	want := "base"
	for i := range 4 {
		operand := strings.Repeat(fmt.Sprint(i), 60)
		x.merge("k", operand)
		snapshots = append(snapshots, x.snapshot())
		want += "," + operand
	}
	x.flush()
	x.moveTo(1)
	x.put("p", "1", "q", "1")
	x.flush()
	_, err := x.db.CompactFiles(nil, []string{x.tables(0)[0].Name}, 1, -1, nil)
	x.must(err)
	x.same("files", x.levels(3), "0 2 3")
	table := strings.TrimPrefix(x.tables(1)[0].Name, "/")
	batch := func(keys ...string) []string {
		return strings.Fields(strings.ReplaceAll(x.multiGet(nil, keys...), "IO error", "IO_error"))
	}
	for fail := -1; fail < 6; fail++ {
		n := 0
		fs.hook = func(op, path string, at uint64, size int) error {
			if op != "read" || filepath.Base(path) != table {
				return nil
			}
			if n++; n-1 == fail {
				return contract.IOError("injected")
			}
			return nil
		}
		got := batch("k", "k", "z")
		n = 0
		got = append(got, batch("k", "k", "k", "p")...)
		fs.hook = nil
		bad := 0
		for i, g := range got {
			// A copy has all of it or the error, never a part.
			switch {
			case i == 2:
				x.same("z", g, "zz")
			case i == 6:
				x.same("p", g, "1")
			case g == "~IO_error":
				bad++
			default:
				x.same(fmt.Sprintf("read %d fails", fail), g, want)
			}
		}
		if (bad > 0) != (fail >= 0 && n > fail) {
			t.Errorf("read %d of %d fails: %q", fail, n, got)
		}
	}
	x.release(snapshots...)
}

func TestFieldDamagedMemtable(t *testing.T) { // facebook/rocksdb#12842
	for _, batch := range []bool{false, true} {
		for _, protected := range []bool{true, false} {
			x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
				if o.MemtableBatchLookupOptimization = batch; protected {
					o.MemtableProtectionBytesPerKey = 8
				}
			})
			x.put("a", "hello", "k", "hello", "z", "hello")
			it := x.db.NewIterator(nil)
			it.Seek([]byte("k"))
			it.Value()[0] = 'J' // in the memtable
			it.Close()
			if !protected {
				x.same("batch", x.multiGet(nil, "a", "k", "z"), "hello Jello hello")
				x.close()
				continue
			}
			x.same("batch", x.multiGet(nil, "a", "k", "z"), "hello ~Corruption hello")
			x.same("get", x.get(nil, "k"), "~Corruption")
			x.same("scan", x.forward(nil), "a=hello ~Corruption")
			if err := x.db.Flush(nil); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
				t.Error(err)
			}
			if err := x.db.Put(nil, []byte("q"), nil); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
				t.Error(err)
			}
			x.close()
		}
	}
}

func TestFieldMultiGetTimestamps(t *testing.T) { // facebook/rocksdb#12943
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	}, "c1")
	put := func(cf, key, value string, ts uint64) {
		t.Helper()
		x.must(x.cfs[cf].PutWithTimestamp(nil, []byte(key), rocksdb.EncodeU64Ts(ts), []byte(value)))
	}
	read := func(want string) {
		t.Helper()
		var cfs []*rocksdb.ColumnFamily
		var keys [][]byte
		for _, s := range []string{"default a", "c1 a", "default b", "c1 b", "default zz"} {
			cf, key, _ := strings.Cut(s, " ")
			cfs, keys = append(cfs, x.cfs[cf]), append(keys, []byte(key))
		}
		values, times, errs := make([]rocksdb.PinnableSlice, 5), make([][]byte, 5), make([]error, 5)
		x.db.MultiGetCFWithTimestamps(readOptions(func(ro *rocksdb.ReadOptions) { ro.Timestamp = rocksdb.EncodeU64Ts(9) }), cfs, keys, values, times, errs)
		var got []string
		for i := range values {
			s := outcome(values[i].Data(), errs[i])
			if len(times[i]) > 0 {
				n, err := rocksdb.DecodeU64Ts(times[i])
				x.must(err)
				s += fmt.Sprint("@", n)
			}
			got = append(got, s)
			values[i].Release()
		}
		x.same("batch", strings.Join(got, " "), want)
	}
	put("default", "a", "0a", 1)
	put("default", "b", "0b", 2)
	put("c1", "a", "1a", 3)
	put("c1", "b", "1b", 5)
	read("0a@1 1a@3 0b@2 1b@5 NotFound")
	put("default", "a", "0a", 2)
	put("c1", "a", "1a", 4)
	x.must(x.cfs["default"].Flush(nil))
	x.must(x.cfs["c1"].Flush(nil))
	read("0a@2 1a@4 0b@2 1b@5 NotFound")
}

func TestFieldPrefixFilters(t *testing.T) { // facebook/rocksdb#5665
	keys := strings.Fields("ab abc abcd abcde abcdef x xyzw1")
	ask := append(slices.Clone(keys), "a", "abce", "xyzw", "xyzv1", "", "zz", "abcdz")
	var want []string
	for i, k := range ask {
		if want = append(want, "NotFound"); i < len(keys) {
			want[i] = "v" + k
		}
	}
	for i := range 4 {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.MemtablePrefixBloomSizeRatio, o.PrefixExtractor = 0.1, rocksdb.NewFixedPrefixTransform(4)
			b.WholeKeyFiltering, b.FilterPolicy = false, rocksdb.NewBloomFilterPolicy(10)
			if i&1 != 0 {
				o.PrefixExtractor = rocksdb.NewCappedPrefixTransform(4)
			}
			if i&2 != 0 {
				b.PartitionFilters, b.IndexType, b.MetadataBlockSize = true, rocksdb.TwoLevelIndexSearch, 32
			}
		})
		for _, k := range keys {
			x.put(k, "v"+k)
		}
		for range 2 {
			x.same("batch", x.multiGet(nil, ask...), strings.Join(want, " "))
			for j, k := range ask {
				x.same("get "+k, x.get(nil, k), want[j])
			}
			x.flush()
		}
		x.close()
	}
}

func TestFieldHashIndexIsNotFinal(t *testing.T) { // facebook/rocksdb#6821
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		b.IndexType, o.PrefixExtractor = rocksdb.HashSearch, rocksdb.NewFixedPrefixTransform(1)
	})
	x.put("b", "vb", "d", "vd")
	x.flush()
	x.moveTo(2)
	x.put("a", "va", "c", "vc", "e", "ve")
	x.flush()
	x.moveTo(1)
	x.same("batch", x.multiGet(nil, strings.Split("a b c d e f 0", " ")...), "va vb vc vd ve NotFound NotFound")
	x.same("get", x.get(nil, "b"), "vb")
}

func TestFieldManyFamiliesUnsorted(t *testing.T) { // facebook/rocksdb#8633
	x := newFieldTest(t, nil, "c1", "c2")
	for _, k := range []string{"a", "b", "c"} {
		x.put(k, "0"+k)
		x.putIn("c1", k, "1"+k)
	}
	x.putIn("c2", "a", "2a")
	for range 2 {
		var cfs []*rocksdb.ColumnFamily
		var keys [][]byte
		for _, s := range strings.Fields("c2,c c1,a default,a c2,b c2,a default,b c1,c c1,a c1,b") {
			cf, key, _ := strings.Cut(s, ",")
			cfs, keys = append(cfs, x.cfs[cf]), append(keys, []byte(key))
		}
		values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
		x.db.MultiGetCF(nil, cfs, keys, values, errs)
		var got []string
		for i := range values {
			got = append(got, outcome(values[i].Data(), errs[i]))
			values[i].Release()
		}
		x.same("batch", strings.Join(got, " "), "NotFound 1a 0a NotFound 2a 0b 1c 1a 1b")
		for _, c := range x.cfs {
			x.must(c.Flush(nil))
		}
	}
}

func TestFieldMultiGetKeepsNoMemory(t *testing.T) { // linxGnu/grocksdb#186
	x := newFieldTest(t, nil)
	x.put("a", "1", "b", "2")
	x.flush()
	keys := [][]byte{[]byte("a"), []byte("zz"), []byte("b"), []byte("a")}
	values, errs := make([]rocksdb.PinnableSlice, 4), make([]error, 4)
	heap := func() uint64 {
		for range 5000 {
			x.db.MultiGet(nil, keys, values, errs)
			for i := range values {
				values[i].Release()
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	first := heap()
	for range 4 {
		if h := heap(); h > first+1<<20 {
			t.Errorf("%d bytes, then %d", first, h)
		}
	}
	if n := x.db.GetEnv(); n == nil { // the database is open to the end
		t.Error("no Env")
	}
}

func TestFieldSingleDeleteOverMerges(t *testing.T) { // facebook/rocksdb#3878; only that nothing breaks
	for _, more := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.MergeOperator = rocksdb.NewStringAppendOperator(",")
		})
		if more {
			x.put("a", "v", "z", "v")
		}
		x.merge("k", "1")
		if more {
			x.flush()
		}
		x.must(x.db.SingleDelete(nil, []byte("k")))
		x.same("memtable", x.get(nil, "k"), "NotFound")
		x.flush()
		x.same("flushed", x.get(nil, "k"), "NotFound")
		x.compact(true)
		x.same("compacted", x.get(nil, "k"), "NotFound")
		x.reopen()
		x.same("reopened", x.get(nil, "k"), "NotFound")
		x.close()
	}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	})
	x.put("k", "0")
	x.flush()
	x.compact(false)
	x.merge("k", "1")
	x.flush()
	x.merge("k", "2")
	x.flush()
	x.must(x.db.SingleDelete(nil, []byte("k")))
	x.flush()
	x.same("before", x.get(nil, "k"), "NotFound")
	x.moveTo(3)
	x.same("after", x.get(nil, "k"), "0")
}

func TestFieldMergeOperandsOfImmutable(t *testing.T) { // facebook/rocksdb#13383
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.MergeOperator, o.MaxWriteBufferNumber = rocksdb.NewStringAppendOperator(","), 8
	})
	operands := func(max, stopAt int) string {
		t.Helper()
		list := make([]rocksdb.PinnableSlice, max)
		calls := 0
		n, err := x.db.GetMergeOperands(nil, []byte("k"), list, &rocksdb.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: max,
			ContinueCB: func([]byte) bool { calls++; return calls != stopAt }})
		if err != nil {
			return fmt.Sprint("~", codeName(err), " ", n)
		}
		var got []string
		for i := range n {
			got = append(got, string(list[i].Data()))
			list[i].Release()
		}
		return strings.Join(got, " ")
	}
	x.must(x.db.PauseBackgroundWork())
	x.merge("k", "1")
	x.merge("k", "2")
	x.must(x.db.Flush(&rocksdb.FlushOptions{AllowWriteStall: true}))
	x.same("immutable", operands(10, 0), "1 2")
	x.same("stop at 2", operands(10, 2), "1 2")
	x.same("stop at 1", operands(10, 1), "2")
	x.merge("k", "3")
	x.same("all", operands(10, 0), "1 2 3")
	x.same("stop at 2", operands(10, 2), "2 3")
	x.same("stop at 1", operands(10, 1), "3")
	x.same("two, stop at 2", operands(2, 2), "2 3")
	x.same("two", operands(2, 0), "~Result incomplete 3")
	x.same("one, stop at 2", operands(1, 2), "~Result incomplete 2")
	x.must(x.db.ContinueBackgroundWork())
}
