// Port of db/corruption_test.cc.

package db_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/util"
)

// errorFS fails the making of files while it is told to.
type errorFS struct {
	contract.FileSystemWrapper
	fail   atomic.Bool
	errors atomic.Int32
}

func (f *errorFS) NewWritableFile(name string, o *contract.FileOptions) (contract.FSWritableFile, error) {
	if f.fail.Load() {
		f.errors.Add(1)
		return nil, contract.IOError(name, "fake error")
	}
	return f.FileSystemWrapper.NewWritableFile(name, o)
}

// corruptionTest is a database whose files get damaged.
type corruptionTest struct {
	*dbTest
	fs *errorFS
	o  rocksdb.Options
}

func newCorruptionTest(t *testing.T) *corruptionTest {
	t.Helper()
	x := &corruptionTest{dbTest: newDBTest(t)}
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, x.last))
	x.fs = &errorFS{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: &noSyncFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}}}
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fs, nil)
	x.o = rocksdb.DefaultOptions()
	x.o.WALRecoveryMode = rocksdb.TolerateCorruptedTailRecords
	x.o.Env = x.env
	x.o.CreateIfMissing = true
	x.reopen(x.o)
	x.o.CreateIfMissing = false
	return x
}

// other are options that begin with the defaults.
func (x *corruptionTest) other(change func(o *rocksdb.Options)) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.Env, o.CreateIfMissing = x.env, true
	if change != nil {
		change(&o)
	}
	return o
}

func (x *corruptionTest) tryReopen(o rocksdb.Options) error {
	o.ArenaBlockSize = 4096
	if o.TableFactory == nil || o.TableFactory.Name() == rocksdb.BlockBasedTableName {
		t := rocksdb.DefaultBlockBasedTableOptions()
		t.BlockSizeDeviation = 0
		c := rocksdb.DefaultLRUCacheOptions(100)
		c.NumShardBits = 4
		cache, err := rocksdb.NewLRUCacheWithOptions(c)
		x.must(err)
		t.BlockCache = cache
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(t)
	}
	return x.dbTest.tryReopen(o)
}

func (x *corruptionTest) reopen(o rocksdb.Options) { x.Helper(); x.must(x.tryReopen(o)) }

func (x *corruptionTest) fresh(o rocksdb.Options) {
	x.Helper()
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, x.last))
	x.reopen(o)
}

func corruptionKey(i int) []byte { return fmt.Appendf(nil, "%016d", i) }

// corruptionValue is a value of printable bytes that cannot be compressed much.
func corruptionValue(i int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 301))
	v := make([]byte, 1000)
	for j := range v {
		v[j] = ' ' + byte(r.UintN(95))
	}
	return v
}

func (x *corruptionTest) build(n, start, flushEvery int) {
	x.Helper()
	for i := range n {
		if flushEvery != 0 && i != 0 && i%flushEvery == 0 {
			x.flush(0)
		}
		x.must(x.db.Put(nil, corruptionKey(i+start), corruptionValue(i+start)))
	}
}

// check counts the keys that are there with their values, reading without
// checksums unless verify is set.
func (x *corruptionTest) check(low, high int, verify bool) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.VerifyChecksums = verify
	it := x.db.NewIterator(&ro)
	defer it.Close()
	correct, next := 0, 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		var n int
		if _, err := fmt.Sscanf(string(it.Key()), "%d", &n); err != nil || len(it.Key()) != 16 || n < next {
			continue
		}
		next = n + 1
		if string(it.Value()) == string(corruptionValue(n)) {
			correct++
		}
	}
	if correct < low || correct > high {
		x.Fatalf("%d values are right, not %d to %d", correct, low, high)
	}
}

// corruptFile changes bytes; a negative offset is from the end.
func (x *corruptionTest) corruptFile(path string, offset, n int) {
	x.Helper()
	data, err := os.ReadFile(path)
	x.must(err)
	if offset < 0 {
		offset = max(0, len(data)+offset)
	}
	offset = min(offset, len(data))
	for i := offset; i < min(offset+n, len(data)); i++ {
		data[i] ^= 0x80
	}
	x.must(os.WriteFile(path, data, 0o644))
}

// corrupt damages the newest file of a type.
func (x *corruptionTest) corrupt(t rocksdb.FileType, offset, n int) {
	x.Helper()
	files := x.files(t)
	if len(files) == 0 {
		x.Fatal("no file of that type")
	}
	x.corruptFile(files[len(files)-1], offset, n)
}

func (x *corruptionTest) damaged() {
	x.Helper()
	if x.db.VerifyChecksum(nil) == nil {
		x.Error("no damage was found")
	}
}

func (x *corruptionTest) compactLevels(n int) {
	x.Helper()
	x.flush(0)
	for level := range n {
		x.must(x.full().TestCompactRange(level, nil, nil, x.cf(0).Impl(), false))
	}
}

func (x *corruptionTest) repairAndReopen() {
	x.Helper()
	x.close()
	x.must(rocksdb.RepairDB(x.dir, x.o))
	x.reopen(x.o)
}

// forcedCompaction compacts everything, the last level too.
func (x *corruptionTest) forcedCompaction() error {
	o := rocksdb.DefaultCompactRangeOptions()
	o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	return x.db.CompactRange(&o, nil, nil)
}

func wantCorruption(t *testing.T, err error, parts ...string) {
	t.Helper()
	if rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		t.Error("no corruption:", err)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v has no %q", err, p)
		}
	}
}

func TestCorruptionTest_Recovery(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(100, 0, 0)
	x.check(100, 100, false)
	x.corrupt(contract.WalFile, 19, 1)
	x.corrupt(contract.WalFile, 32768+1000, 1)
	if x.tryReopen(x.o) == nil {
		t.Fatal("the damage was not seen")
	}
	x.o.ParanoidChecks = false
	x.reopen(x.o)
	// The records of two blocks are lost.
	x.check(36, 36, false)
}

func TestCorruptionTest_PostPITRCorruptionWALsRetained(t *testing.T) {
	x := newCorruptionTest(t)
	x.o.WALRecoveryMode = rocksdb.PointInTimeRecovery
	x.o.CreateMissingColumnFamilies = true
	names := []string{"default", "test_cf"}
	x.reopenWithColumnFamilies(names, x.o)
	x.mustPut(0, "k", "v")
	x.mustPut(1, "k", "v")
	x.mustPut(0, "k2", "v2")
	logs := x.files(contract.WalFile)
	last := logs[len(logs)-1]
	x.close()
	info, err := os.Stat(last)
	x.must(err)
	x.must(os.Truncate(last, info.Size()-1))
	// What is before the damage comes back; then one family goes on alone.
	x.o.AvoidFlushDuringRecovery = true
	x.reopenWithColumnFamilies(names, x.o)
	x.mustPut(1, "k2", "v2")
	x.flush(1)
	for range 2 {
		x.reopenWithColumnFamilies(names, x.o)
	}
}

func TestCorruptionTest_RecoverWriteError(t *testing.T) {
	x := newCorruptionTest(t)
	x.fs.fail.Store(true)
	if x.tryReopen(x.o) == nil {
		t.Error("opened without a new file")
	}
}

func TestCorruptionTest_NewFileErrorDuringWrite(t *testing.T) {
	x := newCorruptionTest(t)
	o := x.other(func(o *rocksdb.Options) { o.WriteBufferSize = 4 << 20 }) // upstream fills 64 MB
	x.fresh(o)
	x.fs.fail.Store(true)
	var err error
	failed := false
	for range 3 + int(o.WriteBufferSize)/1000 {
		err = x.db.Put(nil, []byte("a"), corruptionValue(100))
		failed = failed || err != nil
		if failed && err == nil {
			t.Fatal("a write after a failed one")
		}
	}
	if err == nil || x.fs.errors.Load() < 1 {
		t.Error(err, x.fs.errors.Load())
	}
	x.fs.fail.Store(false)
	x.reopen(o)
}

func TestCorruptionTest_TableFile(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(100, 0, 0)
	x.compactLevels(2)
	x.corrupt(contract.TableFile, 100, 1)
	x.check(99, 99, false)
	x.damaged()
}

func TestCorruptionTest_TableFileIndexData(t *testing.T) {
	x := newCorruptionTest(t)
	o := x.other(func(o *rocksdb.Options) { o.WriteBufferSize = 100 << 20 })
	x.reopen(o)
	x.build(10000, 0, 5000)
	x.flush(0)
	x.corrupt(contract.TableFile, -2000, 500)
	o.ParanoidChecks = false
	x.reopen(o)
	x.check(0, 5000, true)
	x.damaged()
	wantCorruption(t, x.tryReopen(x.o))
}

func TestCorruptionTest_TableFileFooterMagic(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(100, 0, 0)
	x.flush(0)
	x.check(100, 100, false)
	x.corrupt(contract.TableFile, -100, 100)
	wantCorruption(t, x.tryReopen(x.o), "magic number", ".sst")
}

func TestCorruptionTest_TableFileFooterNotMagic(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(100, 0, 0)
	x.flush(0)
	x.check(100, 100, false)
	x.corrupt(contract.TableFile, -100, 92)
	wantCorruption(t, x.tryReopen(x.o), "format_version", ".sst")
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCorruptionTest_DBOpenWithWrongFileSize(t *testing.T) {
	x := newCorruptionTest(t)
	x.o.CreateMissingColumnFamilies = true
	names := []string{"default", "test_cf"}
	x.reopenWithColumnFamilies(names, x.o)
	x.mustPut(0, "k", "v")
	x.mustPut(1, "k1", "v1")
	x.mustPut(0, "k2", "v2")
	x.flush(0)
	appendTo(t, x.files(contract.TableFile)[0], "blahblah")
	x.o.ParanoidChecks = true
	wantCorruption(t, x.tryReopenWithColumnFamilies(names, x.o), "file size mismatch")
	x.o.ParanoidChecks = false
	x.reopenWithColumnFamilies(names, x.o)
	x.wantGet(1, "k1", "v1")
	x.check(0, 0, false)
	_, err := x.db.Get(nil, []byte("k1"))
	wantCorruption(t, err)
}

func TestCorruptionTest_TableFileWrongSize(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(100, 0, 0)
	x.flush(0)
	x.check(100, 100, false)
	path := x.files(contract.TableFile)[0]
	info, err := os.Stat(path)
	x.must(err)
	appendTo(t, path, "blahblah")
	x.o.ParanoidChecks = false
	x.reopen(x.o)
	x.check(0, 0, false)
	_, err = x.db.Get(nil, []byte("k1"))
	wantCorruption(t, err)
	x.o.ParanoidChecks = true
	wantCorruption(t, x.tryReopen(x.o), "file size mismatch")
	for _, lost := range []int64{8, 100} {
		x.must(os.Truncate(path, info.Size()-lost))
		x.o.ParanoidChecks = true
		wantCorruption(t, x.tryReopen(x.o), "file size mismatch")
		x.o.ParanoidChecks = false
		x.reopen(x.o)
		x.check(0, 0, false)
	}
}

func TestCorruptionTest_MissingDescriptor(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(1000, 0, 0)
	x.repairAndReopen()
	x.check(1000, 1000, false)
}

func TestCorruptionTest_SequenceNumberRecovery(t *testing.T) {
	x := newCorruptionTest(t)
	for i := 1; i <= 5; i++ {
		x.mustPut(0, "foo", fmt.Sprint("v", i))
	}
	x.repairAndReopen()
	x.wantGet(0, "foo", "v5")
	// An earlier write would hide this one if the numbers started over.
	x.mustPut(0, "foo", "v6")
	x.wantGet(0, "foo", "v6")
	x.reopen(x.o)
	x.wantGet(0, "foo", "v6")
}

func TestCorruptionTest_CorruptedDescriptor(t *testing.T) {
	x := newCorruptionTest(t)
	x.mustPut(0, "foo", "hello")
	x.flush(0)
	x.must(x.forcedCompaction())
	x.corrupt(contract.DescriptorFile, 0, 1000)
	if x.tryReopen(x.o) == nil {
		t.Fatal("the damage was not seen")
	}
	x.repairAndReopen()
	x.wantGet(0, "foo", "hello")
}

func TestCorruptionTest_CompactionInputError(t *testing.T) {
	x := newCorruptionTest(t)
	x.reopen(x.other(nil))
	x.build(10, 0, 0)
	x.compactLevels(2)
	if n := x.numTableFilesAtLevel(2, 0); n != 1 {
		t.Errorf("%d files at level 2", n)
	}
	x.corrupt(contract.TableFile, 100, 1)
	x.check(9, 9, false)
	x.damaged()
	x.build(10000, 0, 0)
	x.check(10000, 10000, false)
	x.damaged()
}

func TestCorruptionTest_CompactionInputErrorParanoid(t *testing.T) {
	x := newCorruptionTest(t)
	o := x.other(func(o *rocksdb.Options) {
		o.ParanoidChecks, o.WriteBufferSize, o.MaxWriteBufferNumber = true, 131072, 2
	})
	x.reopen(o)
	levels := o.NumLevels
	for level := 1; level < levels; level++ {
		x.mustPut(0, "", "begin")
		x.mustPut(0, "~", "end")
		x.flush(0)
		for l := range levels - level {
			x.must(x.full().TestCompactRange(l, nil, nil, x.cf(0).Impl(), false))
		}
	}
	x.reopen(o)
	x.build(10, 0, 0)
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	files := x.storage(0).LevelFiles(0)
	if len(files) != 1 {
		t.Fatalf("%d files at level 0", len(files))
	}
	x.corruptFile(filepath.Join(x.dir, fmt.Sprintf("%06d.sst", files[0].FD.GetNumber())), 100, 1)
	x.check(9, 9, false)
	x.damaged()
	var err error
	failed := false
	for i := range 10000 {
		err = x.db.Put(nil, corruptionKey(i), corruptionValue(i))
		failed = failed || err != nil
		if failed && err == nil {
			t.Fatal("a write after a failed one")
		}
	}
	if err == nil {
		t.Error("no write failed")
	}
}

func TestCorruptionTest_UnrelatedKeys(t *testing.T) {
	x := newCorruptionTest(t)
	x.build(10, 0, 0)
	x.flush(0)
	x.corrupt(contract.TableFile, 100, 1)
	x.damaged()
	x.must(x.db.Put(nil, corruptionKey(1000), corruptionValue(1000)))
	x.wantGet(0, string(corruptionKey(1000)), string(corruptionValue(1000)))
	x.flush(0)
	x.wantGet(0, string(corruptionKey(1000)), string(corruptionValue(1000)))
}

func TestCorruptionTest_RangeDeletionCorrupted(t *testing.T) {
	x := newCorruptionTest(t)
	x.must(x.db.DeleteRange(nil, []byte("a"), []byte("b")))
	x.flush(0)
	path := x.files(contract.TableFile)[0]
	info, err := os.Stat(path)
	x.must(err)
	f, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), path, nil, nil)
	x.must(err)
	io := options.NewImmutableOptions(&x.o.DBOptions, &x.o.ColumnFamilyOptions)
	ro := contract.DefaultReadOptions()
	m := table.MetaReader{File: f, FileSize: uint64(info.Size()), ReadOptions: &ro, IOptions: &io}
	h, _, err := m.FindMetaBlockInFile(format.BlockBasedTableMagicNumber, "rocksdb.range_del")
	x.must(err)
	x.must(f.Close())
	x.reopen(x.o)
	x.corruptFile(path, int(h.Offset), 1)
	wantCorruption(t, x.tryReopen(x.o))
}

func TestCorruptionTest_FileSystemStateCorrupted(t *testing.T) {
	x := newCorruptionTest(t)
	for _, remove := range []bool{false, true} {
		o := x.other(func(o *rocksdb.Options) { o.ParanoidChecks = true })
		x.fresh(o)
		x.build(10, 0, 0)
		x.flush(0)
		path := x.files(contract.TableFile)[0]
		x.close()
		if remove {
			x.must(os.Remove(path))
		} else {
			x.must(os.WriteFile(path, []byte("corrupted sst"), 0o644))
		}
		wantCorruption(t, x.tryReopen(o))
	}
}

var mockModes = []mocktable.MockCorruptionMode{mocktable.CorruptNone, mocktable.CorruptKey, mocktable.CorruptValue, mocktable.CorruptReorderKey}

func TestCorruptionTest_ParanoidFileChecksOnFlush(t *testing.T) {
	x := newCorruptionTest(t)
	for _, mode := range mockModes {
		m := mocktable.NewMockTableFactory()
		m.SetCorruptionMode(mode)
		x.fresh(x.other(func(o *rocksdb.Options) { o.ParanoidFileChecks, o.TableFactory = true, m }))
		x.build(10, 0, 0)
		if err := x.db.Flush(nil); (err == nil) != (mode == mocktable.CorruptNone) {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}

func TestCorruptionTest_ParanoidFileChecksOnCompact(t *testing.T) {
	x := newCorruptionTest(t)
	for _, mode := range mockModes {
		m := mocktable.NewMockTableFactory()
		x.fresh(x.other(func(o *rocksdb.Options) { o.ParanoidFileChecks, o.TableFactory = true, m }))
		x.build(100, 0, 2)
		x.flush(0)
		m.SetCorruptionMode(mode)
		if err := x.forcedCompaction(); (err == nil) != (mode == mocktable.CorruptNone) {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}

// paranoidDeleteRange writes a table with range tombstones, by a flush or a
// compaction, while fill's snapshot is held.
func paranoidDeleteRange(t *testing.T, fill func(x *corruptionTest, deleteRange func(begin, end int), snapshot func())) {
	t.Helper()
	x := newCorruptionTest(t)
	for _, flush := range []bool{true, false} {
		x.fresh(x.other(func(o *rocksdb.Options) { o.ParanoidFileChecks = true }))
		var s rocksdb.Snapshot
		fill(x, func(begin, end int) { x.must(x.db.DeleteRange(nil, corruptionKey(begin), corruptionKey(end))) },
			func() { s = x.db.GetSnapshot() })
		x.flush(0)
		if !flush {
			x.must(x.forcedCompaction())
		}
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestCorruptionTest_ParanoidFileChecksWithDeleteRangeFirst(t *testing.T) {
	paranoidDeleteRange(t, func(x *corruptionTest, deleteRange func(begin, end int), snapshot func()) {
		deleteRange(3, 7)
		snapshot()
		deleteRange(8, 9)
		deleteRange(2, 5)
		x.build(10, 0, 0)
	})
}

func TestCorruptionTest_ParanoidFileChecksWithDeleteRange(t *testing.T) {
	paranoidDeleteRange(t, func(x *corruptionTest, deleteRange func(begin, end int), snapshot func()) {
		x.build(10, 0, 0)
		deleteRange(5, 15)
		snapshot()
		deleteRange(8, 9)
		deleteRange(12, 17)
		deleteRange(2, 4)
		x.build(10, 10, 0)
	})
}

func TestCorruptionTest_ParanoidFileChecksWithDeleteRangeLast(t *testing.T) {
	paranoidDeleteRange(t, func(x *corruptionTest, deleteRange func(begin, end int), snapshot func()) {
		x.build(10, 0, 0)
		deleteRange(3, 7)
		snapshot()
		deleteRange(6, 8)
		deleteRange(2, 5)
	})
}

func TestCorruptionTest_LogCorruptionErrorsInCompactionIterator(t *testing.T) {
	x := newCorruptionTest(t)
	m := mocktable.NewMockTableFactory()
	m.SetCorruptionMode(mocktable.CorruptKey)
	x.fresh(x.other(func(o *rocksdb.Options) { o.AllowDataInErrors, o.TableFactory = true, m }))
	x.build(100, 0, 2)
	x.flush(0)
	wantCorruption(t, x.forcedCompaction())
}

func TestCorruptionTest_CompactionKeyOrderCheck(t *testing.T) {
	x := newCorruptionTest(t)
	m := mocktable.NewMockTableFactory()
	x.fresh(x.other(func(o *rocksdb.Options) { o.ParanoidFileChecks, o.TableFactory = false, m }))
	m.SetCorruptionMode(mocktable.CorruptReorderKey)
	x.build(100, 0, 2)
	x.flush(0)
	m.SetCorruptionMode(mocktable.CorruptNone)
	if x.forcedCompaction() == nil {
		t.Error("keys out of order were compacted")
	}
}

// countingReads counts reads of tables.
type countingReads struct {
	contract.FileSystemWrapper
	reads atomic.Int64
}

type countedRandom struct {
	contract.FSRandomAccessFile
	reads *atomic.Int64
}

func (f countedRandom) Read(offset uint64, n int, opts *contract.IOOptions, scratch []byte) ([]byte, error) {
	f.reads.Add(1)
	return f.FSRandomAccessFile.Read(offset, n, opts, scratch)
}

func (f *countingReads) NewRandomAccessFile(name string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	r, err := f.FileSystemWrapper.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return countedRandom{r, &f.reads}, nil
}

func TestCorruptionTest_VerifyChecksumReadahead(t *testing.T) {
	x := newCorruptionTest(t)
	fs := &countingReads{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	o := x.other(func(o *rocksdb.Options) {
		o.Env = env.NewCompositeEnvWrapper(env.Default(), fs, nil)
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.NoBlockCache = true
		o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	})
	x.close()
	x.must(x.dbTest.tryReopen(o))
	x.build(10000, 0, 0)
	x.compactLevels(2)
	fs.reads.Store(0)
	x.must(x.db.VerifyChecksum(nil))
	// 10 MB by 256 KB, and at most 20 reads of meta blocks.
	if n := fs.reads.Load(); n == 0 || n >= 60 {
		t.Errorf("%d reads", n)
	}
	fs.reads.Store(0)
	ro := rocksdb.DefaultReadOptions()
	ro.ReadaheadSize = 32 << 10
	x.must(x.db.VerifyChecksum(&ro))
	if n := fs.reads.Load(); n < 213 || n > 447 {
		t.Errorf("%d reads with a readahead of 32 KB", n)
	}
	o.AllowMmapReads = true
	x.must(x.dbTest.tryReopen(o))
	x.must(x.db.VerifyChecksum(&ro))
}

func TestCorruptionTest_VerifyWholeTableChecksum(t *testing.T) {
	x := newCorruptionTest(t)
	o := x.other(func(o *rocksdb.Options) { o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory() })
	x.fresh(o)
	x.build(10, 0, 5)
	x.must(x.db.VerifyFileChecksums(nil))
	x.close()
	x.corrupt(contract.TableFile, 0, 1)
	x.reopen(o)
	wantCorruption(t, x.db.VerifyFileChecksums(nil), ".sst")
}
