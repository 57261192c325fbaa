// Port of db/version_set_test.cc, what needs a MANIFEST but no database, and
// golden MANIFESTs of real engines.

package db

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

// versionSetTest is a directory with a version set upon it.
type versionSetTest struct {
	t   *testing.T
	dir string
	db  rocksdb.DBOptions
	cf  rocksdb.ColumnFamilyOptions
	imm options.ImmutableDBOptions
	mut options.MutableDBOptions
	vs  *VersionSet
	mu  sync.Mutex
}

func newVersionSetTest(t *testing.T) *versionSetTest {
	v := &versionSetTest{t: t, dir: t.TempDir(), db: rocksdb.DefaultDBOptions(), cf: rocksdb.DefaultColumnFamilyOptions()}
	v.db.Env = env.Default()
	v.db.DBPaths = []rocksdb.DBPath{{Path: v.dir}}
	v.reset()
	return v
}

// reset makes a new version set, as after a restart.
func (v *versionSetTest) reset() {
	v.imm, v.mut = options.NewImmutableDBOptions(&v.db), options.NewMutableDBOptions(&v.db)
	fo := rocksdb.DefaultFileOptions()
	v.vs = NewVersionSet(&VersionSetOptions{DBName: v.dir, DBOptions: &v.imm, MutableDBOptions: &v.mut, FileOptions: fo,
		TableCache: cache.NewLRUCacheOfCapacity(50000), WriteController: writethread.NewWriteController(1 << 20), DBID: "id", DBSessionID: "session"})
	v.t.Cleanup(v.vs.Destroy)
}

// newDB writes the MANIFEST of a new database with further families, as
// upstream's PrepareManifest does.
func (v *versionSetTest) newDB(families ...string) {
	v.t.Helper()
	var edits []*version.VersionEdit
	e := new(version.VersionEdit)
	e.SetDBId("id")
	e.SetLogNumber(0)
	e.SetNextFile(2)
	e.SetLastSequence(0)
	edits = append(edits, e)
	for i, name := range families {
		e := new(version.VersionEdit)
		e.AddColumnFamily(name)
		e.SetColumnFamily(uint32(i + 1))
		e.SetLogNumber(0)
		e.SetNextFile(2)
		e.SetLastSequence(0)
		edits = append(edits, e)
	}
	v.writeManifest(1, edits...)
}

// writeManifest writes a MANIFEST of the edits and makes it current.
func (v *versionSetTest) writeManifest(number uint64, edits ...*version.VersionEdit) {
	v.t.Helper()
	w, err := file.CreateWritableFileWriter(v.imm.FS, filename.DescriptorFileName(v.dir, number), nil, &file.WriterOptions{})
	if err != nil {
		v.t.Fatal(err)
	}
	log := wal.NewWriter(w, wal.WriterOptions{})
	for _, e := range edits {
		record, ok := e.EncodeTo(nil, 0)
		if !ok {
			v.t.Fatalf("edit does not encode: %s", e.DebugString(true))
		}
		if err := log.AddRecord(nil, record, 0); err != nil {
			v.t.Fatal(err)
		}
	}
	if err := log.Close(nil); err != nil {
		v.t.Fatal(err)
	}
	if err := file.SetCurrentFile(nil, v.imm.FS, v.dir, number, rocksdb.TemperatureUnknown, nil); err != nil {
		v.t.Fatal(err)
	}
}

func (v *versionSetTest) descriptors(names ...string) []rocksdb.ColumnFamilyDescriptor {
	var ds []rocksdb.ColumnFamilyDescriptor
	for _, n := range append([]string{rocksdb.DefaultColumnFamilyName}, names...) {
		ds = append(ds, rocksdb.ColumnFamilyDescriptor{Name: n, Options: v.cf})
	}
	return ds
}

func (v *versionSetTest) mustRecover(names ...string) {
	v.t.Helper()
	if _, err := v.vs.Recover(v.descriptors(names...), false, nil); err != nil {
		v.t.Fatal(err)
	}
}

func (v *versionSetTest) logAndApply(cfd *ColumnFamilyData, edits ...*version.VersionEdit) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.vs.LogAndApply(&LogAndApplyRequest{CFD: cfd, Edits: edits, Mutex: &v.mu})
}

func goldenManifests(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("version", "testdata")
	if dir := os.Getenv("ROCKSDB_GOLDEN"); dir != "" {
		root = dir
	}
	files, err := filepath.Glob(filepath.Join(root, "rocksdb-*", "*", "manifest.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return files
}

func goldenManifest(t *testing.T, dir string) []byte {
	t.Helper()
	for _, pattern := range []string{"MANIFEST", "db/MANIFEST-*"} {
		if files, _ := filepath.Glob(filepath.Join(dir, pattern)); len(files) == 1 {
			data, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
	}
	t.Fatalf("no MANIFEST in %s", dir)
	return nil
}

func TestGoldenDumpManifest(t *testing.T) {
	for _, f := range goldenManifests(t) {
		t.Run(filepath.ToSlash(filepath.Dir(f)), func(t *testing.T) {
			want, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			v := newVersionSetTest(t)
			if bytes.Contains(want, []byte(".u64ts")) {
				v.cf.Comparator = util.BytewiseComparatorWithU64Ts()
			}
			path := filepath.Join(v.dir, "MANIFEST-000005")
			if err := os.WriteFile(path, goldenManifest(t, filepath.Dir(f)), 0o644); err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			if err := v.vs.DumpManifest(&got, path, &v.cf, nil, DumpManifestOptions{Verbose: true, Hex: true}); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(want, []byte("version# 0 ---")) {
				// The real tool loses the tree of files without epoch numbers.
				if !strings.Contains(got.String(), "--- level 0 --- version# 1 ---\n ") {
					t.Errorf("no files in level 0:\n%s", got.String())
				}
				return
			}
			// The tool itself prints the first and the last line.
			lines := strings.SplitAfter(string(want), "\n")
			if diff := cmp.Diff(strings.Join(lines[1:len(lines)-2], ""), got.String()); diff != "" {
				t.Errorf("dump differs (-real +ours):\n%s", diff)
			}
		})
	}
}

// TestManifest_DamagedByte flips bits in every byte before the last record:
// recovery must fail with a corruption that names the file and an offset, or
// lose nothing.
func TestManifest_DamagedByte(t *testing.T) {
	dir := filepath.Join("version", "testdata", "rocksdb-11.8.1", "blob_files")
	data := goldenManifest(t, dir)
	dump := func(data []byte) (string, error) {
		v := newVersionSetTest(t)
		path := filepath.Join(v.dir, "MANIFEST-000005")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err := v.vs.DumpManifest(&out, path, &v.cf, nil, DumpManifestOptions{})
		if err != nil && rocksdb.IsCorruption(err) {
			if s := rocksdb.AsStatus(err); s.File != path || !s.HasOffset {
				t.Errorf("corruption names file %q, offset known: %t: %v", s.File, s.HasOffset, err)
			}
		}
		return out.String(), err
	}
	want, err := dump(data)
	if err != nil {
		t.Fatal(err)
	}
	lastStart := 0
	for at := 0; at+wal.HeaderSize <= len(data); {
		lastStart = at
		at += wal.HeaderSize + int(data[at+4]) + int(data[at+5])<<8
	}
	for at := range lastStart {
		for _, flip := range []byte{1 << (at % 8), 0xff} {
			damaged := bytes.Clone(data)
			damaged[at] ^= flip
			if got, err := dump(damaged); err == nil && got != want {
				t.Fatalf("byte %d ^ %#x: opened with another state\n%s", at, flip, got)
			} else if err != nil && !rocksdb.IsCorruption(err) {
				t.Fatalf("byte %d ^ %#x: %v", at, flip, err)
			}
		}
	}
	// A record that was being written at a crash is ignored.
	for end := lastStart + 1; end < len(data); end++ {
		if _, err := dump(data[:end]); err != nil {
			t.Fatalf("cut at %d: %v", end, err)
		}
	}
}

// Space that was allocated for records to come is no damage.
func TestManifest_TrailingZeros(t *testing.T) {
	data := goldenManifest(t, filepath.Join("version", "testdata", "rocksdb-11.8.1", "blob_files"))
	for _, n := range []int{1, wal.HeaderSize - 1, wal.HeaderSize, 100, wal.BlockSize, wal.BlockSize + 5000} {
		v := newVersionSetTest(t)
		path := filepath.Join(v.dir, "MANIFEST-000005")
		if err := os.WriteFile(path, append(bytes.Clone(data), make([]byte, n)...), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := v.vs.DumpManifest(io.Discard, path, &v.cf, nil, DumpManifestOptions{}); err != nil {
			t.Errorf("%d zeros: %v", n, err)
		}
	}
}
