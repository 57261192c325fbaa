// Port of db/external_sst_file_basic_test.cc (temperatures, families without
// memtable writes).

package db_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
)

// temperatureFS remembers files' temperatures, as storage with tiers does.
type temperatureFS struct {
	rocksdb.FileSystemWrapper
	mu    sync.Mutex
	temps map[string]rocksdb.Temperature
}

type temperatureFile struct {
	rocksdb.FSRandomAccessFile
	t rocksdb.Temperature
}

func (f temperatureFile) GetTemperature() rocksdb.Temperature { return f.t }

func (f *temperatureFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystemWrapper.NewWritableFile(name, o)
	if err == nil && o != nil {
		f.mu.Lock()
		f.temps[filepath.Clean(name)] = o.Temperature
		f.mu.Unlock()
	}
	return w, err
}

func (f *temperatureFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	r, err := f.FileSystemWrapper.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return temperatureFile{r, f.temps[filepath.Clean(name)]}, nil
}

func (f *temperatureFS) DeleteFile(name string, o *rocksdb.IOOptions) error {
	err := f.FileSystemWrapper.DeleteFile(name, o)
	if err == nil {
		f.mu.Lock()
		delete(f.temps, filepath.Clean(name))
		f.mu.Unlock()
	}
	return err
}

func (f *temperatureFS) count(t rocksdb.Temperature) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, x := range f.temps {
		if strings.HasSuffix(name, ".sst") && x == t {
			n++
		}
	}
	return n
}

func TestExternalSSTFileBasicTest_IngestWithTemperature(t *testing.T) {
	for i, mode := range []string{"ingest_behind", "fail_if_not", "neither"} {
		for _, hint := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s,hint=%t", mode, hint), func(t *testing.T) { testIngestWithTemperature(t, mode, hint, (i%2 == 0) == hint) })
		}
	}
}

func testIngestWithTemperature(t *testing.T, mode string, hint, cfOption bool) {
	x := newExtTest(t)
	x.destroy(x.last)
	fs := &temperatureFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}, temps: map[string]rocksdb.Temperature{}}
	o := x.currentOptions()
	o.Env = env.NewCompositeEnvWrapper(x.env, fs, nil)
	o.LastLevelTemperature, o.DefaultWriteTemperature = rocksdb.TemperatureCold, rocksdb.TemperatureHot
	w := rocksdb.NewSstFileWriter(o, nil)
	o.Level0FileNumCompactionTrigger = 2
	if cfOption {
		o.CFAllowIngestBehind = mode == "ingest_behind"
	} else {
		o.AllowIngestBehind = mode == "ingest_behind"
	}
	x.reopen(o)
	inDB, outside := map[rocksdb.Temperature]int{}, map[rocksdb.Temperature]int{}
	check := func() {
		t.Helper()
		for _, temp := range []rocksdb.Temperature{rocksdb.TemperatureUnknown, rocksdb.TemperatureHot, rocksdb.TemperatureWarm, rocksdb.TemperatureCold} {
			if got := fs.count(temp); got != inDB[temp]+outside[temp] {
				t.Fatalf("temperature %d: %d files, not %d and %d", temp, got, inDB[temp], outside[temp])
			}
			size := x.property(0, fmt.Sprintf("%s%d", rocksdb.PropertyLiveSstFilesSizeAtTemperature, temp))
			if (size != "0") != (inDB[temp] > 0) {
				t.Fatalf("temperature %d: %s bytes in %d files", temp, size, inDB[temp])
			}
		}
	}
	path := x.sst + "9000000.sst"
	x.must(w.Open(path, rocksdb.TemperatureWarm))
	for _, e := range puts(1000, 1100, "_val") {
		x.must(addEntry(w, e))
	}
	x.must(w.Finish(nil))
	outside[rocksdb.TemperatureWarm]++
	check()
	arg := rocksdb.IngestExternalFileArg{ColumnFamily: x.db.ColumnFamily, ExternalFiles: []string{path}, Options: *ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.AllowGlobalSeqno, o.AllowBlockingFlush, o.WriteGlobalSeqno, o.VerifyFileChecksum = false, false, true, false
		o.IngestBehind, o.FailIfNotBottommostLevel = mode == "ingest_behind", mode == "fail_if_not"
	})}
	if hint {
		arg.FileTemperature = rocksdb.TemperatureWarm
	}
	x.must(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}))
	// The last level's temperature where the file surely goes there.
	last := rocksdb.TemperatureHot
	if mode != "neither" {
		last = rocksdb.TemperatureCold
	}
	temps := func(level int) (ts []rocksdb.Temperature) {
		for _, f := range x.db.GetLiveFilesMetaData() {
			if f.Level == level {
				ts = append(ts, f.Temperature)
			}
		}
		return ts
	}
	wantLevels := func() {
		t.Helper()
		if l0, l6 := temps(0), temps(6); len(l0) != 1 || l0[0] != rocksdb.TemperatureHot || len(l6) != 1 || l6[0] != last {
			t.Fatalf("temperatures %v, %v", l0, l6)
		}
	}
	if l6 := temps(6); len(l6) != 1 || l6[0] != last {
		t.Fatalf("temperatures %v", l6)
	}
	inDB[last]++
	check()
	x.mustPut(0, "foo", "bar")
	x.mustPut(0, "bar", "bar")
	x.flush(0)
	wantLevels()
	inDB[rocksdb.TemperatureHot]++
	check()
	x.reopen(o)
	wantLevels()
	check()
	if v := x.property(0, rocksdb.PropertyLiveSstFilesSizeAtTemperature+"22"); v != "0" {
		t.Fatalf("temperature 22: %s", v)
	}
}

func rangeOf(start, limit string) *rocksdb.RangeOpt {
	r := &rocksdb.RangeOpt{}
	if start != "" {
		r.Start = []byte(start)
	}
	if limit != "" {
		r.Limit = []byte(limit)
	}
	return r
}

func (x *extTest) wantAll(cf int, pairs ...string) {
	x.Helper()
	for i := 0; i < len(pairs); i += 2 {
		x.wantGet(cf, pairs[i], pairs[i+1])
	}
}

func TestExternalSSTFileBasicTest_FailIfNotBottommostLevelAndDisallowMemtable(t *testing.T) {
	for _, disallow := range []bool{false, true} {
		t.Run(fmt.Sprint(disallow), func(t *testing.T) {
			x := newExtTest(t)
			o := x.defaultOptions()
			o.CompactionStyle = rocksdb.CompactionStyleUniversal
			x.destroyAndReopen(o)
			o.DisallowMemtableWrites = disallow
			x.createColumnFamilies([]string{"cf0"}, o)
			if x.cf(0).GetOptions().DisallowMemtableWrites != disallow {
				t.Fatal("disallow_memtable_writes")
			}
			path := x.write(o, "1", kv("b", "0"))
			bottom := func(o *rocksdb.IngestExternalFileOptions) { o.FailIfNotBottommostLevel = true }
			s := x.db.GetSnapshot()
			x.must(x.cf(0).IngestExternalFile([]string{path}, ingestOptions(bottom)))
			x.must(x.db.ReleaseSnapshot(s))
			x.wantGet(0, "b", "0")

			o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleLevel, 2
			x.createColumnFamilies([]string{"cf1"}, o)
			if !disallow {
				x.mustPut(1, "a", "1")
				x.mustPut(1, "c", "3")
				x.flush(1)
				x.mustPut(1, "b", "2")
				x.mustPut(1, "d", "4")
				x.flush(1)
			} else {
				x.wantCode(x.put(1, "a", "1"), rocksdb.CodeInvalidArgument)
				x.ingest(1, x.write(o, "2", kv("a", "1", "c", "3")))
				x.ingest(1, x.write(o, "2", kv("b", "2", "d", "4")))
			}
			all := []string{"a", "1", "b", "2", "c", "3", "d", "4"}
			x.wantAll(1, all...)

			noSnapshot := func(o *rocksdb.IngestExternalFileOptions) { o.SnapshotConsistency = false }
			x.wantCode(x.cf(1).IngestExternalFile([]string{path}, ingestOptions(bottom, noSnapshot)), rocksdb.CodeTryAgain)
			co := rocksdb.DefaultCompactRangeOptions()
			co.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
			x.must(x.cf(1).CompactRange(&co, nil, nil))
			x.wantCode(x.cf(1).IngestExternalFile([]string{path}, ingestOptions(bottom, noSnapshot)), rocksdb.CodeTryAgain)
			x.wantAll(1, all...)
			if !disallow {
				x.mustPut(1, "b", "42")
				err := x.cf(1).IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.AllowBlockingFlush = false }))
				x.wantCode(err, rocksdb.CodeInvalidArgument)
				x.wantAll(1, "a", "1", "b", "42", "c", "3", "d", "4")
				x.mustPut(1, "b", "2")
				x.flush(1)
			}
			testAtomicReplaceRange(x, o, path, disallow)
		})
	}
}

// testAtomicReplaceRange is the test's last part, on a family of a to d.
func testAtomicReplaceRange(x *extTest, o rocksdb.Options, path string, disallow bool) {
	arg := rocksdb.IngestExternalFileArg{ColumnFamily: x.cf(1), ExternalFiles: []string{path}, Options: *ingestOptions()}
	try := func(start, limit string) error {
		arg.AtomicReplaceRange = rangeOf(start, limit)
		return x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg})
	}
	x.wantCode(try("a", "zzz"), rocksdb.CodeNotSupported) // snapshot consistency
	x.wantAll(1, "a", "1", "b", "2", "c", "3", "d", "4")
	arg.Options.SnapshotConsistency, arg.Options.FailIfNotBottommostLevel = false, true
	x.wantCode(try("", "zzz"), rocksdb.CodeNotSupported)
	x.wantCode(try("a", ""), rocksdb.CodeNotSupported)
	x.wantCode(try("x", "z"), rocksdb.CodeInvalidArgument) // not all files
	x.wantCode(try("a", "c"), rocksdb.CodeInvalidArgument) // a part of a file
	if !disallow {
		x.mustPut(1, "e", "5")
		arg.Options.AllowBlockingFlush = false
		x.wantCode(try("a", "z"), rocksdb.CodeInvalidArgument)
		x.wantCode(try("", ""), rocksdb.CodeInvalidArgument)
		// The limit counts as within where memtables are looked at.
		x.wantCode(try("a", "e"), rocksdb.CodeInvalidArgument)
		x.must(try("a", "d2"))
		x.wantGet(1, "e", "5")
	} else {
		x.wantCode(try("b", "z"), rocksdb.CodeInvalidArgument)
		x.must(try("a", "z"))
		x.wantGet(1, "e", "NOT_FOUND")
	}
	x.wantAll(1, "a", "NOT_FOUND", "b", "0", "c", "NOT_FOUND", "d", "NOT_FOUND")
	if n := len(x.db.GetLiveFilesMetaData()); n != 2 {
		x.Fatalf("%d files", n)
	}
	path = x.write(o, "1", kv("f", "6"))
	path2 := x.write(o, "2", kv("f", "7", "g", "8"))
	if disallow {
		arg.ExternalFiles = []string{path2, path}
		x.wantCode(try("e", "z"), rocksdb.CodeTryAgain) // the files overlap
		arg.Options.FailIfNotBottommostLevel = false
		x.wantCode(try("e", "f2"), rocksdb.CodeInvalidArgument)
		x.must(try("e", "z"))
		x.wantAll(1, "b", "0", "f", "6", "g", "8")
		return
	}
	arg.ExternalFiles = []string{path}
	x.wantCode(try("e", "z"), rocksdb.CodeInvalidArgument)
	arg.Options.AllowBlockingFlush = true
	x.must(try("e", "z"))
	x.wantAll(1, "b", "0", "e", "NOT_FOUND", "f", "6", "g", "NOT_FOUND")
	x.mustPut(1, "e", "5")
	arg.Options.AllowBlockingFlush, arg.ExternalFiles = false, []string{path2}
	x.wantCode(try("", ""), rocksdb.CodeInvalidArgument)
	arg.Options.AllowBlockingFlush = true
	x.must(try("", ""))
	x.wantAll(1, "b", "NOT_FOUND", "e", "NOT_FOUND", "f", "7", "g", "8")
}
