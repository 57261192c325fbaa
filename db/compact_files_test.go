// Port of db/compact_files_test.cc. Cases that need sync points are in
// compact_files_syncpoint_test.go.

package db_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// flushedFileCollector collects the paths of flushed tables.
type flushedFileCollector struct {
	rocksdb.EventListenerBase
	mu    sync.Mutex
	files []string
}

func (c *flushedFileCollector) OnFlushCompleted(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = append(c.files, info.FilePath)
}

func (c *flushedFileCollector) get() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.files...)
}

func (c *flushedFileCollector) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = nil
}

// compactFilesTest is a database whose flushed files are known.
type compactFilesTest struct {
	*testing.T
	dir       string
	collector *flushedFileCollector
	db        *rocksdb.DB
}

func newCompactFilesTest(t *testing.T, o rocksdb.Options) *compactFilesTest {
	t.Helper()
	x := &compactFilesTest{T: t, dir: filepath.Join(t.TempDir(), "db"), collector: &flushedFileCollector{}}
	o.CreateIfMissing = true
	o.Listeners = append(o.Listeners, x.collector)
	db, err := rocksdb.Open(x.dir, o)
	x.must(err)
	x.db = db
	t.Cleanup(func() { x.must(x.db.Close()) })
	return x
}

func (x *compactFilesTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *compactFilesTest) put(key, value string) {
	x.Helper()
	x.must(x.db.Put(nil, []byte(key), []byte(value)))
}

func (x *compactFilesTest) flush() {
	x.Helper()
	x.must(x.db.Flush(nil))
	x.must(x.db.Impl().TestWaitForBackgroundWork())
}

func (x *compactFilesTest) compact(o *rocksdb.CompactionOptions, files []string, level int) error {
	x.Helper()
	_, err := x.db.CompactFiles(o, files, level, -1, nil)
	return err
}

// files are the paths of a level's tables.
func (x *compactFilesTest) files(level int) (paths []string) {
	for _, f := range x.db.GetColumnFamilyMetaData(nil).Levels[level].Files {
		paths = append(paths, filepath.Join(f.Directory, f.RelativeFilename))
	}
	return paths
}

func noCompactionOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CompactionStyle = rocksdb.CompactionStyleNone
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1<<30, 1<<30
	o.WriteBufferSize, o.MaxWriteBufferNumber = 65536, 2
	o.Compression = rocksdb.NoCompression
	return o
}

func TestCompactFilesTest_ObsoleteFiles(t *testing.T) {
	x := newCompactFilesTest(t, noCompactionOptions())
	for i := 1000; i < 2000; i++ {
		x.put(strconv.Itoa(i), strings.Repeat(string(rune('a'+i%26)), 65536/10))
	}
	files := x.collector.get()
	if len(files) == 0 {
		t.Fatal("nothing was flushed")
	}
	x.must(x.compact(nil, files, 1))
	x.must(x.db.Impl().TestWaitForCompact())
	for _, f := range files {
		if _, err := os.Stat(f); !os.IsNotExist(err) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestCompactFilesTest_NotCutOutputOnLevel0(t *testing.T) {
	o := noCompactionOptions()
	o.MaxCompactionBytes = 5000
	x := newCompactFilesTest(t, o)
	fill := func() []string {
		for i := range 500 {
			x.put(strconv.Itoa(i), strings.Repeat(string(rune('a'+i%26)), 1000))
		}
		x.must(x.db.Impl().TestWaitForFlushMemTable(nil))
		defer x.collector.clear()
		return x.collector.get()
	}
	first, second := fill(), fill()
	for _, files := range [][]string{first, second} {
		outputs, err := x.db.CompactFiles(nil, files, 0, -1, nil)
		x.must(err)
		if len(outputs) != 1 {
			t.Errorf("%d outputs of %d files", len(outputs), len(files))
		}
	}
}

// filterWithGet reads while it filters.
type filterWithGet struct {
	t  *testing.T
	db *rocksdb.DB
}

func (*filterWithGet) Name() string          { return "FilterWithGet" }
func (*filterWithGet) IgnoreSnapshots() bool { return true }

func (f *filterWithGet) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	if f.db != nil {
		if _, err := f.db.Get(nil, nil); !errors.Is(err, rocksdb.ErrNotFound) {
			f.t.Errorf("Get within a filter: %v", err)
		}
	}
	return rocksdb.FilterRemove, nil, nil
}

func TestCompactFilesTest_CompactionFilterWithGetSv(t *testing.T) {
	f := &filterWithGet{t: t}
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.CompactionFilter = f
	x := newCompactFilesTest(t, o)
	f.db = x.db
	x.put("K1", "V1")
	x.flush()
	for _, file := range x.files(0) {
		x.must(x.compact(nil, []string{file}, 0))
	}
}

func TestCompactFilesTest_SentinelCompressionType(t *testing.T) {
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal, rocksdb.CompactionStyleNone} {
		t.Run(fmt.Sprint(style), func(t *testing.T) {
			o := rocksdb.DefaultOptions()
			o.LevelCompactionDynamicLevelBytes = false
			o.CompactionStyle = style
			o.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.SnappyCompression}
			x := newCompactFilesTest(t, o)
			x.put("key", "val")
			x.flush()
			files := x.collector.get()
			if len(files) != 1 {
				t.Fatal(files)
			}
			co := rocksdb.DefaultCompactionOptions()
			x.must(x.compact(&co, files, 1))
			all, err := x.db.GetPropertiesOfAllTables()
			x.must(err)
			for path, p := range all {
				if p.CompressionName != "BuiltinV2;02;" {
					t.Errorf("%s: %q", path, p.CompressionName)
				}
			}
		})
	}
}

func TestCompactFilesTest_CompressionWithBlockAlign(t *testing.T) {
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockAlign = true
	o := rocksdb.DefaultOptions()
	o.Compression = rocksdb.NoCompression
	o.DisableAutoCompactions = true
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(bbto)
	x := newCompactFilesTest(t, o)
	x.put("key", "val")
	x.flush()
	files := x.collector.get()
	if len(files) != 1 {
		t.Fatal(files)
	}
	co := rocksdb.DefaultCompactionOptions()
	co.Compression = rocksdb.SnappyCompression
	if err := x.compact(&co, files, 1); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Errorf("%v", err)
	}
	co.Compression = rocksdb.DisableCompressionOption
	x.must(x.compact(&co, files, 1))
}

func TestCompactFilesTest_GetCompactionJobInfo(t *testing.T) {
	o := noCompactionOptions()
	o.MaxCompactionBytes = 5000
	x := newCompactFilesTest(t, o)
	for i := range 500 {
		x.put(strconv.Itoa(i), strings.Repeat(string(rune('a'+i%26)), 1000))
	}
	x.must(x.db.Impl().TestWaitForFlushMemTable(nil))
	co := rocksdb.DefaultCompactionOptions()
	co.Compression = rocksdb.LZ4Compression
	var info rocksdb.CompactionJobInfo
	files := x.collector.get()
	outputs, err := x.db.CompactFiles(&co, files, 0, -1, &info)
	x.must(err)
	if info.BaseInputLevel != 0 || info.OutputLevel != 0 || info.CFID != x.db.GetID() || info.CFName != x.db.GetName() && info.CFName != "default" ||
		info.CompactionReason != rocksdb.CompactionReasonManualCompaction || info.Compression != rocksdb.LZ4Compression || info.Status != nil {
		t.Errorf("%+v", info)
	}
	if len(info.InputFiles) != len(files) || fmt.Sprint(info.OutputFiles) != fmt.Sprint(outputs) || info.Stats.NumInputRecords == 0 {
		t.Errorf("%+v, outputs %v", info, outputs)
	}
}

// TestCompactFilesRefused: what cannot be compacted is an error, and nothing has
// changed.
func TestCompactFilesRefused(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.DisableAutoCompactions = true
	x := newCompactFilesTest(t, o)
	x.put("a", "1")
	x.flush()
	files := x.files(0)
	canceled := rocksdb.DefaultCompactionOptions()
	canceled.Canceled = newCanceled()
	for name, c := range map[string]struct {
		o     *rocksdb.CompactionOptions
		files []string
		level int
		path  int
		want  error
	}{
		"no files":           {nil, nil, 1, -1, rocksdb.ErrInvalidArgument},
		"no file of a table": {nil, []string{"x"}, 1, -1, rocksdb.ErrInvalidArgument},
		"unknown file":       {nil, []string{"000999.sst"}, 1, -1, rocksdb.ErrInvalidArgument},
		"level too large":    {nil, files, 7, -1, rocksdb.ErrInvalidArgument},
		"negative level":     {nil, files, -1, -1, rocksdb.ErrInvalidArgument},
		"unknown path":       {nil, files, 1, 3, rocksdb.ErrInvalidArgument},
		"huge number":        {nil, []string{fmt.Sprint(uint64(math.MaxUint64), ".sst")}, 1, -1, rocksdb.ErrInvalidArgument},
		"canceled":           {&canceled, files, 1, -1, rocksdb.ErrIncomplete},
	} {
		if _, err := x.db.CompactFiles(c.o, c.files, c.level, c.path, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x.db.DisableManualCompaction()
	if err := x.compact(nil, files, 1); !errors.Is(err, rocksdb.ErrIncomplete) {
		t.Errorf("manual compactions disabled: %v", err)
	}
	x.db.EnableManualCompaction()
	if got := x.files(0); len(got) != 1 {
		t.Errorf("%v", got)
	}
	x.must(x.compact(nil, files, 1))
}

func newCanceled() *atomic.Bool {
	b := new(atomic.Bool)
	b.Store(true)
	return b
}
