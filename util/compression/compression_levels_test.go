//go:build syncpoint

// Port of util/compression_test.cc: cases about levels, dictionaries and failures.

package compression_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// TestDBCompressionTest_PresetCompressionDictLocality: each output file of a
// compaction has a dictionary of its own.
func TestDBCompressionTest_PresetCompressionDictLocality(t *testing.T) {
	const entries, size, files = 1 << 10, 1 << 10, 4
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression = rocksdb.ZSTD
	o.CompressionOpts.MaxDictBytes, o.CompressionOpts.ZSTDMaxTrainBytes = 1<<14, 1<<18
	o.Statistics = rocksdb.NewStatistics()
	o.TargetFileSizeBase = entries * size
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks = true
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.reopen(o)
	r := util.NewRandom(301)
	for i := range files {
		for j := range entries {
			x.put(key(i*entries+j), r.RandomString(size))
		}
		x.flush()
		x.moveFilesToLevel(1)
		x.wantFiles(0, i+1)
	}
	var dicts []string
	syncpoint.SetCallBack("BlockBasedTableBuilder::WriteCompressionDictBlock:RawDict", func(arg any) {
		dicts = append(dicts, string(arg.([]byte)))
	})
	syncpoint.EnableProcessing()
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&cro, nil, nil))
	if n := x.filesAt(1); n <= 1 || n != len(dicts) {
		t.Fatalf("%d files, %d dictionaries", n, len(dicts))
	}
	for i := range dicts[1:] {
		if dicts[i] == dicts[i+1] {
			t.Errorf("files %d and %d have the same dictionary", i, i+1)
		}
	}
}

// fileDeletions checks the names of deleted tables against those expected.
type fileDeletions struct {
	rocksdb.EventListenerBase
	mu       sync.Mutex
	expected map[string]bool
	matched  int
}

func (l *fileDeletions) OnTableFileDeleted(info *rocksdb.TableFileDeletionInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.expected[info.FilePath] {
		l.matched++
	}
}

func (l *fileDeletions) expect(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.expected == nil {
		l.expected = map[string]bool{}
	}
	l.expected[path] = true
}

// checkLevelsCover checks that the files above level 0 do not overlap and have
// all numbers between their first and last one, and that all files together have
// n keys.
func checkLevelsCover(t *testing.T, levels []rocksdb.LevelMetaData, n int) {
	t.Helper()
	id := func(k []byte) (i int) {
		fmt.Sscanf(string(k), "key%d", &i)
		return i
	}
	lastOfLevel, found := -1, 0
	for level := len(levels) - 1; level >= 0; level-- {
		lastOfFile := -1
		for j := range levels[level].Files {
			f := &levels[level].Files[j]
			small, large := id(f.SmallestKey), id(f.LargestKey)
			if int(f.NumEntries) != large-small+1 {
				t.Fatalf("%s: %d entries from %d to %d", f.Name, f.NumEntries, small, large)
			}
			found += int(f.NumEntries)
			if level > 0 && (j == 0 && small <= lastOfLevel || j > 0 && small <= lastOfFile) {
				t.Fatalf("level %d: file %s begins with %d", level, f.Name, small)
			}
			lastOfFile = large
		}
		if level > 0 && len(levels[level].Files) > 0 {
			lastOfLevel = lastOfFile
		}
	}
	if found != n {
		t.Fatalf("%d keys, not %d", found, n)
	}
}

func TestDBCompressionTest_DynamicLevelCompressionPerLevel(t *testing.T) {
	const keys = 120
	x := newDBTest(t)
	r := util.NewRandom(301)
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.DBWriteBufferSize, o.WriteBufferSize, o.MaxWriteBufferNumber = 20480, 20480, 2
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 2, 2
	o.TargetFileSizeBase = 20480
	o.LevelCompactionDynamicLevelBytes = true
	o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 102400, 4
	o.MaxBackgroundCompactions, o.NumLevels = 1, 5
	o.Statistics = rocksdb.NewStatistics()
	o.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.NoCompression, rocksdb.SnappyCompression}
	listener := &fileDeletions{}
	o.Listeners = []rocksdb.EventListener{listener}
	x.destroyAndReopen(o)

	write := func(from, to int) {
		for i := from; i < to; i++ {
			x.put(key(i), compressible(r, 0.8, 4000))
			x.must(x.db.Impl().TestWaitForBackgroundWork())
		}
		x.flush()
		x.waitForCompact()
		if x.filesAt(1) != 0 || x.filesAt(2) != 0 {
			t.Fatal("files at levels 1 or 2")
		}
	}
	// Level 4 is the base: neither level 0 nor level 4 is compressed.
	write(0, 20)
	if x.filesAt(3) != 0 || x.filesAt(0)+x.filesAt(4) == 0 {
		t.Fatal("files are at other levels than 0 and 4")
	}
	if n := o.Statistics.GetTickerCount(rocksdb.NumberBlockCompressed); n != 0 {
		t.Fatalf("%d blocks compressed", n)
	}
	// Now level 3 is: level 4 is compressed.
	x.must(o.Statistics.Reset())
	write(20, keys)
	if x.filesAt(3) < 1 || x.filesAt(4) < 1 {
		t.Fatal("no files at level 3 or 4")
	}
	if o.Statistics.GetTickerCount(rocksdb.NumberBlockCompressed) == 0 {
		t.Fatal("no block compressed")
	}
	x.must(x.db.SetOptions(map[string]string{"disable_auto_compactions": "true"}))
	meta := x.db.GetColumnFamilyMetaData(nil)
	checkLevelsCover(t, meta.Levels, keys)
	last := meta.Levels[4].Files
	for i := range last {
		listener.expect(x.dir + "/" + strings.TrimPrefix(last[i].Name, "/"))
		x.must(x.db.DeleteFilesInRanges([]rocksdb.RangeOpt{{Start: last[i].SmallestKey, Limit: last[i].LargestKey}}, true))
	}
	listener.mu.Lock()
	if listener.matched != len(last) {
		t.Errorf("%d of %d files deleted", listener.matched, len(last))
	}
	listener.mu.Unlock()
	left := len(x.contents())
	if x.filesAt(1) != 0 || x.filesAt(2) != 0 || x.filesAt(3) < 1 || x.filesAt(4) != 0 {
		t.Fatal("files at other levels than 0 and 3")
	}
	meta = x.db.GetColumnFamilyMetaData(nil)
	if size := meta.Levels[0].Size + meta.Levels[3].Size; size <= uint64(left)*4010 {
		t.Errorf("%d bytes for %d keys", size, left)
	}
}

func TestDBCompressionTest_DynamicLevelCompressionPerLevel2(t *testing.T) {
	const keys = 500
	x := newDBTest(t)
	order := make([]int, keys)
	for i := range order {
		order[i] = i
	}
	util.RandomShuffle(order, 301)
	r := util.NewRandom(301)
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.DBWriteBufferSize, o.WriteBufferSize, o.MaxWriteBufferNumber = 6000000, 600000, 2
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 2, 2
	o.SoftPendingCompactionBytesLimit = 1 << 20
	o.TargetFileSizeBase = 20
	o.LevelCompactionDynamicLevelBytes = true
	o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 200, 8
	o.MaxBackgroundCompactions, o.NumLevels = 1, 5
	o.TableFactory = mocktable.NewMockTableFactory()
	o.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.LZ4Compression, rocksdb.ZlibCompression}
	x.destroyAndReopen(o)

	var zlib, lz4, none, wrong atomic.Int64
	count := func(got, want rocksdb.CompressionType, n *atomic.Int64) {
		if got != want {
			wrong.Add(1)
		}
		n.Add(1)
	}
	watch := func(picked func(c *compaction.Compaction)) {
		syncpoint.SetCallBack("LevelCompactionPicker::PickCompaction:Return", func(arg any) {
			if c, _ := arg.(*compaction.Compaction); c != nil {
				picked(c)
			}
		})
		syncpoint.SetCallBack("FlushJob::WriteLevel0Table:output_compression", func(arg any) {
			count(*arg.(*rocksdb.CompressionType), rocksdb.NoCompression, &none)
		})
		syncpoint.EnableProcessing()
	}
	write := func(from, to, each int) {
		for i := from; i < to; i++ {
			x.put(key(order[i]), r.RandomString(200))
			if i%each == each-1 {
				x.flush()
				x.waitForCompact()
			}
		}
	}
	// Level 4 is the base, and LZ4.
	watch(func(c *compaction.Compaction) {
		if c.OutputLevel() == 4 {
			count(c.OutputCompression(), rocksdb.LZ4Compression, &lz4)
		}
	})
	write(0, 100, 25)
	x.flush()
	x.waitForCompact()
	syncpoint.Reset()
	last := x.filesAt(4)
	if x.filesAt(1) != 0 || x.filesAt(2) != 0 || x.filesAt(3) != 0 || last == 0 || none.Load() <= 2 || lz4.Load() == 0 || wrong.Load() != 0 {
		t.Fatalf("%d files at level 4, %d flushes, %d compactions with LZ4, %d wrong", last, none.Load(), lz4.Load(), wrong.Load())
	}
	// With level 3 as the base, it is LZ4, and level 4 zlib.
	lz4.Store(0)
	none.Store(0)
	watch(func(c *compaction.Compaction) {
		if c.OutputLevel() == 4 && c.StartLevel() == 3 {
			count(c.OutputCompression(), rocksdb.ZlibCompression, &zlib)
		} else {
			count(c.OutputCompression(), rocksdb.LZ4Compression, &lz4)
		}
	})
	write(101, keys, 100)
	syncpoint.Reset()
	if x.filesAt(1) != 0 || x.filesAt(2) != 0 || x.filesAt(3) == 0 || x.filesAt(4) <= last {
		t.Fatalf("%d, %d, %d, %d files at levels 1 to 4", x.filesAt(1), x.filesAt(2), x.filesAt(3), x.filesAt(4))
	}
	if none.Load() <= 2 || lz4.Load() == 0 || zlib.Load() == 0 || wrong.Load() != 0 {
		t.Fatalf("%d flushes, %d compactions with LZ4, %d with zlib, %d wrong", none.Load(), lz4.Load(), zlib.Load(), wrong.Load())
	}
}

const (
	dictValue, dictKeys    = 256, 1 << 10
	dictLength, dictBlocks = 16 << 10, 4 << 10
)

// eachPresetDict runs f with a database that makes dictionaries, by the options
// of the bottommost level or of all.
func eachPresetDict(t *testing.T, f func(x *dbTest, o *rocksdb.Options, c rocksdb.CompressionType, bottommost bool)) {
	for _, c := range supported() {
		if !compression.DictCompressionTypeSupported(c) {
			continue
		}
		for _, bottommost := range []bool{false, true} {
			t.Run(fmt.Sprint(name(c), "/", bottommost), func(t *testing.T) {
				x := newDBTest(t)
				o := x.currentOptions()
				opts := &o.CompressionOpts
				if bottommost {
					o.BottommostCompression = c
					opts = &o.BottommostCompressionOpts
					opts.Enabled = true
				} else {
					o.Compression = c
				}
				opts.MaxDictBytes, opts.MaxDictBufferBytes = dictLength, dictBlocks
				o.DisableAutoCompactions = true
				o.Statistics = rocksdb.NewStatistics()
				b := rocksdb.DefaultBlockBasedTableOptions()
				b.BlockSize, b.CacheIndexAndFilterBlocks = dictBlocks, true
				o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
				x.reopen(o)
				f(x, &o, c, bottommost)
			})
		}
	}
}

func (x *dbTest) fillForDict(r *util.Random) {
	x.Helper()
	for i := range dictKeys + 1 {
		x.put(key(i), r.RandomString(dictValue))
	}
	x.flush()
}

// wantDict checks that one dictionary came to the cache, of two blocks at most
// (zstd's is digested), or none.
func wantDict(t *testing.T, o *rocksdb.Options, c rocksdb.CompressionType, any bool) {
	t.Helper()
	n := o.Statistics.GetTickerCount(rocksdb.BlockCacheCompressionDictBytesInsert)
	if !any {
		if n != 0 {
			t.Errorf("%d bytes of dictionaries", n)
		}
		return
	}
	limit := uint64(2 * dictBlocks)
	if c == rocksdb.ZSTD {
		limit = 10 * dictBlocks
	}
	if added := o.Statistics.GetTickerCount(rocksdb.BlockCacheCompressionDictAdd); n == 0 || n > limit || added != 1 {
		t.Errorf("%d dictionaries of %d bytes", added, n)
	}
}

func TestPresetCompressionDictTest_CompactNonBottommost(t *testing.T) {
	eachPresetDict(t, func(x *dbTest, o *rocksdb.Options, c rocksdb.CompressionType, bottommost bool) {
		r := util.NewRandom(301)
		x.fillForDict(r)
		x.moveFilesToLevel(2)
		x.fillForDict(r)
		x.fillForDict(r)
		x.wantFiles(2, 0, 1)
		pop(o, rocksdb.BlockCacheCompressionDictBytesInsert)
		pop(o, rocksdb.BlockCacheCompressionDictAdd)
		x.must(x.db.Impl().TestCompactRange(0, nil, nil, x.db.ColumnFamily.Impl(), false))
		x.wantFiles(0, 1, 1)
		wantDict(x.T, o, c, !bottommost)
	})
}

func TestPresetCompressionDictTest_CompactBottommost(t *testing.T) {
	eachPresetDict(t, func(x *dbTest, o *rocksdb.Options, c rocksdb.CompressionType, bottommost bool) {
		r := util.NewRandom(301)
		x.fillForDict(r)
		x.fillForDict(r)
		x.wantFiles(2)
		pop(o, rocksdb.BlockCacheCompressionDictBytesInsert)
		pop(o, rocksdb.BlockCacheCompressionDictAdd)
		x.must(x.db.CompactRange(nil, nil, nil))
		x.wantFiles(0, 1)
		wantDict(x.T, o, c, true)
	})
}

// failure is a kind of failure that CompressionFailures makes.
type failure struct {
	name, point string
	tamper      func(arg any)
	message     string // of the error; "" for none
	parallel    bool   // only with parallel compression
}

var failures = []failure{
	{"compression", "BlockBasedTableBuilder::CompressAndVerifyBlock:TamperWithResultType",
		func(arg any) { *arg.(*rocksdb.CompressionType) = rocksdb.NoCompression }, "", false},
	{"decompression", "DecompressBlockData:TamperWithReturnValue",
		func(arg any) { *arg.(*error) = rocksdb.Corruption("kTestDecompressionFail") },
		"Could not decompress: kTestDecompressionFail", false},
	{"corruption", "DecompressBlockData:TamperWithDecompressionOutput",
		func(arg any) {
			c := arg.(*format.BlockContents)
			n := len(c.Data) + 1
			c.Free()
			*c = format.BlockContents{Data: make([]byte, n)}
		}, "Decompressed block did not match pre-compression block", false},
	{"start of finish", "BlockBasedTableBuilder::Finish:ParallelIOStatus",
		func(arg any) { *arg.(*error) = rocksdb.Corruption("Seeded failure") }, "Seeded failure", true},
}

func TestCompressionFailuresTest_CompressionFailures(t *testing.T) {
	for _, f := range failures {
		for _, c := range supported() {
			for _, dict := range []uint32{0, 10} {
				for _, threads := range []uint32{1, 4} {
					if f.parallel && threads == 1 {
						continue
					}
					t.Run(fmt.Sprint(f.name, "/", name(c), "/", dict, "/", threads), func(t *testing.T) {
						compressionFailure(t, &f, c, dict, threads)
					})
				}
			}
		}
	}
}

func compressionFailure(t *testing.T, f *failure, c rocksdb.CompressionType, dict, threads uint32) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 2
	o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier, o.NumLevels = 1024, 2, 7
	o.MaxBackgroundCompactions, o.TargetFileSizeBase = 1, 512
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize, b.VerifyCompression = 512, true
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	o.Compression = c
	o.CompressionOpts.ParallelThreads, o.CompressionOpts.MaxDictBytes = threads, dict
	o.BottommostCompressionOpts.ParallelThreads, o.BottommostCompressionOpts.MaxDictBytes = threads, dict
	syncpoint.SetCallBack(f.point, f.tamper)
	x.destroyAndReopen(o)

	written := map[string]string{}
	r := util.NewRandom(405)
	var err error
	for i := range 10 {
		for range 5 {
			k, unit := r.RandomString(5), r.RandomString(16)
			v := strings.Repeat(unit, 16)
			if err = x.db.Put(nil, []byte(k), []byte(v)); err == nil {
				written[k] = v
			} else if f.message == "" {
				t.Fatal(err)
			}
		}
		if err = x.db.Flush(nil); err != nil && f.message == "" {
			t.Fatal(err)
		}
		if err = x.db.Impl().TestWaitForCompact(); err != nil && f.message == "" {
			t.Fatal(err)
		}
		if i == 4 {
			syncpoint.EnableProcessing()
		}
	}
	syncpoint.DisableProcessing()
	if f.message == "" {
		if got := x.contents(); !maps.Equal(got, written) {
			t.Fatalf("%d entries, want %d", len(got), len(written))
		}
		return
	}
	if !rocksdb.IsCorruption(err) || rocksdb.AsStatus(err).Message != f.message {
		t.Fatalf("%v, want a corruption with %q", err, f.message)
	}
}

// compactionCompressions checks what compression compactions were done with.
type compactionCompressions struct {
	rocksdb.EventListenerBase
	t        *testing.T
	o        *rocksdb.Options
	mu       sync.Mutex
	maxLevel int
}

func (l *compactionCompressions) OnCompactionCompleted(db rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	bottommost := 0
	for level := range l.o.NumLevels {
		d := db.(*dbimpl.DBImpl)
		if n, _ := d.GetProperty(d.DefaultColumnFamily(), fmt.Sprint("rocksdb.num-files-at-level", level)); n != "0" {
			bottommost = level
		}
	}
	want := l.o.Compression
	switch {
	case l.o.BottommostCompression != rocksdb.DisableCompressionOption && info.OutputLevel == bottommost:
		want = l.o.BottommostCompression
	case len(l.o.CompressionPerLevel) > 0:
		want = l.o.CompressionPerLevel[info.OutputLevel]
	}
	if info.Compression != want {
		l.t.Errorf("compaction to level %d of %d: %s, not %s", info.OutputLevel, bottommost, name(info.Compression), name(want))
	}
	l.maxLevel = max(l.maxLevel, info.OutputLevel)
}

func TestDBCompressionTest_CompressionOptions(t *testing.T) {
	const no, snappy, zlib = rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.ZlibCompression
	for i, c := range []struct {
		perLevel         []rocksdb.CompressionType
		all, bottommosts rocksdb.CompressionType
	}{
		{[]rocksdb.CompressionType{no, no, no, snappy, snappy, snappy, zlib}, no, zlib},
		{nil, snappy, zlib},
		{nil, snappy, rocksdb.DisableCompressionOption},
	} {
		for _, threads := range []uint32{1, 4} {
			t.Run(fmt.Sprint(i, "/", threads), func(t *testing.T) {
				x := newDBTest(t)
				o := x.currentOptions()
				o.Level0FileNumCompactionTrigger = 2
				o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier, o.NumLevels = 100, 2, 7
				o.MaxBackgroundCompactions = 1
				o.CompressionPerLevel, o.Compression, o.BottommostCompression = c.perLevel, c.all, c.bottommosts
				o.CompressionOpts.ParallelThreads, o.BottommostCompressionOpts.ParallelThreads = threads, threads
				listener := &compactionCompressions{t: t, o: &o}
				o.Listeners = []rocksdb.EventListener{listener}
				x.destroyAndReopen(o)
				r := util.NewRandom(301)
				written := map[string]string{}
				for range 10 {
					for range 5 {
						k, v := r.RandomString(5), r.RandomString(20)
						written[k] = v
						x.put(k, v)
					}
					x.flush()
					x.waitForCompact()
				}
				listener.mu.Lock()
				if listener.maxLevel != 6 {
					t.Errorf("the last level that a compaction wrote is %d", listener.maxLevel)
				}
				listener.mu.Unlock()
				if got := x.contents(); !maps.Equal(got, written) {
					t.Errorf("%d entries, want %d", len(got), len(written))
				}
			})
		}
	}
}

func TestDBCompressionTest_FailWhenCompressionNotSupportedTest(t *testing.T) {
	x := newDBTest(t)
	refused := 0
	for _, c := range []rocksdb.CompressionType{
		rocksdb.ZlibCompression, rocksdb.BZip2Compression, rocksdb.LZ4Compression, rocksdb.LZ4HCCompression, rocksdb.XpressCompression,
	} {
		if compression.CompressionTypeSupported(c) {
			continue
		}
		refused++
		o := x.currentOptions()
		o.Compression = c
		if err := x.tryReopen(o); err == nil {
			t.Errorf("%s: opened", name(c))
		}
		o.Compression = rocksdb.NoCompression
		x.reopen(o)
		o.Compression = c
		if _, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "name"); err == nil {
			t.Errorf("%s: a column family was made", name(c))
		}
	}
	if refused == 0 {
		t.Error("every type is supported")
	}
}

func TestPresetCompressionDictTest_Flush(t *testing.T) {
	eachPresetDict(t, func(x *dbTest, o *rocksdb.Options, c rocksdb.CompressionType, bottommost bool) {
		x.fillForDict(util.NewRandom(301))
		wantDict(x.T, o, c, !bottommost)
	})
}
