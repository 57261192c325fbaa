// Port of db/db_etc2_test.cc (tables opened with what the file system left in the
// MANIFEST).

package db_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// fastOpenFS gives metadata for tables and counts how it comes back.
type fastOpenFS struct {
	rocksdb.FileSystemWrapper
	mu           sync.Mutex
	given, taken int
	last         string
}

type fastOpenFile struct {
	rocksdb.FSRandomAccessFileWrapper
	fs   *fastOpenFS
	name string
}

func (f *fastOpenFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	if o.FileMetadata != nil {
		f.mu.Lock()
		f.taken++
		f.last = string(o.FileMetadata)
		f.mu.Unlock()
	}
	r, err := f.Target().NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &fastOpenFile{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: r}, f, name}, nil
}

func (f *fastOpenFile) GetFileOpenMetadata() ([]byte, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	f.fs.given++
	return []byte("fast_open_metadata:" + f.name), nil
}

// counts gives how often metadata was given and taken, and starts anew.
func (f *fastOpenFS) counts() (given, taken int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	given, taken = f.given, f.taken
	f.given, f.taken = 0, 0
	return given, taken
}

// fastOpen opens a fresh database on such a file system.
func fastOpen(t *testing.T, set ...func(o *rocksdb.Options)) (*dbTest, *fastOpenFS, rocksdb.Options) {
	x := newDBTest(t)
	fs := &fastOpenFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
	o := x.onFS(x.plainOptions(), fs)
	o.FastSstOpen = true
	for _, f := range set {
		f(&o)
	}
	x.destroyAndReopen(o)
	fs.counts()
	return x, fs, o
}

func (x *dbTest) flushKey(k string) {
	x.Helper()
	x.mustPut(0, "key"+k, "value"+k)
	x.flush(0)
}

// wantReopened checks the keys after reopening, and how many tables were opened
// with metadata.
func (x *dbTest) wantReopened(fs *fastOpenFS, o rocksdb.Options, taken int, keys ...string) {
	x.Helper()
	same(x, "tables opened with metadata", x.countReopened(fs, o, keys...), taken)
}

// countReopened reopens, wants the keys, and counts the tables opened with metadata.
func (x *dbTest) countReopened(fs *fastOpenFS, o rocksdb.Options, keys ...string) int {
	x.Helper()
	x.close()
	fs.counts()
	x.reopen(o)
	for _, k := range keys {
		x.wantGet(0, "key"+k, "value"+k)
	}
	_, taken := fs.counts()
	return taken
}

func wantGiven(t *testing.T, fs *fastOpenFS, want int) {
	t.Helper()
	given, _ := fs.counts()
	same(t, "tables asked for metadata", given, want)
}

func TestDBTest2_FastSstOpenDefaultFSReturnsNotSupported(t *testing.T) {
	x := newDBTest(t)
	fs := x.env.GetFileSystem()
	name := filepath.Join(t.TempDir(), "000001.sst")
	fo := rocksdb.DefaultFileOptions()
	w, err := fs.NewWritableFile(name, &fo)
	x.must(err)
	x.must(w.Append([]byte("test"), &rocksdb.IOOptions{}))
	x.must(w.Close(&rocksdb.IOOptions{}))
	r, err := fs.NewRandomAccessFile(name, &fo)
	x.must(err)
	b, err := r.GetFileOpenMetadata()
	x.wantIs(err, rocksdb.ErrNotSupported)
	same(t, "metadata", string(b), "")
	x.must(r.Close())
}

func TestDBTest2_FastSstOpenFlushAndReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.FastSstOpen = true
	x.destroyAndReopen(o)
	x.puts(0, "key1", "value1", "key2", "value2")
	x.flush(0)
	x.reopen(o)
	x.wantGet(0, "key1", "value1")
	x.wantGet(0, "key2", "value2")
}

func TestDBTest2_FastSstOpenCompactionAndReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.FastSstOpen, o.Level0FileNumCompactionTrigger = true, 2
	x.destroyAndReopen(o)
	x.flushKey("1")
	x.flushKey("2")
	x.must(x.full().TestWaitForCompact())
	x.reopen(o)
	x.wantGet(0, "key1", "value1")
	x.wantGet(0, "key2", "value2")
}

func TestDBTest2_FastSstOpenWithTestFS(t *testing.T) {
	x, fs, o := fastOpen(t)
	x.mustPut(0, "key1", "value1")
	x.flushKey("2")
	given, taken := fs.counts()
	same(t, "tables asked for metadata", given, 1)
	same(t, "tables opened with metadata", taken, 0)
	x.wantReopened(fs, o, 1, "1", "2")
	if !strings.HasPrefix(fs.last, "fast_open_metadata:") {
		t.Errorf("opened with %q", fs.last)
	}
}

func TestDBTest2_FastSstOpenCompactionWithTestFS(t *testing.T) {
	x, fs, o := fastOpen(t, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 2 })
	x.flushKey("1")
	x.flushKey("2")
	x.must(x.full().TestWaitForCompact())
	if given, _ := fs.counts(); given < 2 {
		t.Errorf("%d tables were asked for metadata", given)
	}
	if x.countReopened(fs, o, "1", "2") < 1 {
		t.Error("no table was opened with metadata")
	}
}

func TestDBTest2_FastSstOpenDisabledNoMetadata(t *testing.T) {
	x, fs, o := fastOpen(t, func(o *rocksdb.Options) { o.FastSstOpen = false })
	x.flushKey("1")
	wantGiven(t, fs, 0)
	x.wantReopened(fs, o, 0, "1")
}

func TestDBTest2_FastSstOpenToggleOption(t *testing.T) {
	x, fs, o := fastOpen(t, func(o *rocksdb.Options) { o.FastSstOpen, o.Level0FileNumCompactionTrigger = false, 100 })
	x.flushKey("1")
	wantGiven(t, fs, 0)
	o.FastSstOpen = true
	x.reopen(o)
	fs.counts()
	x.flushKey("2")
	wantGiven(t, fs, 1)
	x.wantReopened(fs, o, 1, "1", "2") // the first table has none
}

func TestDBTest2_FastSstOpenIngestion(t *testing.T) {
	x, fs, o := fastOpen(t)
	file := filepath.Join(t.TempDir(), "external.sst")
	w := rocksdb.NewSstFileWriter(o, nil)
	x.must(w.Open(file, rocksdb.TemperatureUnknown))
	for _, k := range []string{"1", "2"} {
		x.must(w.Put([]byte("key"+k), []byte("value"+k)))
	}
	x.must(w.Finish(nil))
	fs.counts()
	x.must(x.db.IngestExternalFile([]string{file}, nil))
	if given, _ := fs.counts(); given < 1 {
		t.Error("the table was not asked for metadata")
	}
	if x.countReopened(fs, o, "1", "2") < 1 {
		t.Error("the table was not opened with metadata")
	}
}

func TestDBTest2_FastSstOpenDisableAfterMetadataPersisted(t *testing.T) {
	x, fs, o := fastOpen(t)
	x.flushKey("1")
	wantGiven(t, fs, 1)
	o.FastSstOpen = false
	x.wantReopened(fs, o, 0, "1")
}

func TestDBTest2_FastSstOpenMetadataPreservedAcrossManifestRotation(t *testing.T) {
	x, fs, o := fastOpen(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	x.flushKey("1")
	wantGiven(t, fs, 1)
	x.setDBOptions("max_manifest_file_size", "1", "max_manifest_space_amp_pct", "0")
	before := x.manifestNumber()
	x.flushKey("2")
	if after := x.manifestNumber(); after <= before {
		t.Errorf("MANIFEST %d after %d", after, before)
	}
	x.wantReopened(fs, o, 2, "1", "2")
}

func TestDBTest2_FastSstOpenMetadataPreservedAcrossTrivialMove(t *testing.T) {
	x, fs, o := fastOpen(t, func(o *rocksdb.Options) { o.DisableAutoCompactions = true })
	x.flushKey("1")
	wantGiven(t, fs, 1)
	x.compact(0, "", "")
	wantGiven(t, fs, 0) // it was moved
	x.wantReopened(fs, o, 1, "1")
}
