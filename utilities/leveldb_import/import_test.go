// No upstream twin: imports of directories that goleveldb wrote.

package leveldbimport_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/rocksdb-go/rocksdb"
	leveldbimport "github.com/rocksdb-go/rocksdb/utilities/leveldb_import"
)

// shape is a way to fill a directory.
type shape struct {
	name    string
	options opt.Options
	fill    func(t *testing.T, d *leveldb.DB)
	// tables and logs that the import has to meet, at least.
	tables, logs int
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func key(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }

// value is compressible by half.
func value(i, version int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), uint64(version)))
	b := make([]byte, 20+r.IntN(200))
	for j := range b[:len(b)/2] {
		b[j] = byte(r.Uint32())
	}
	return b
}

func put(t *testing.T, d *leveldb.DB, from, to, step, version int) {
	t.Helper()
	for i := from; i < to; i += step {
		must(t, d.Put(key(i), value(i, version), nil))
	}
}

func del(t *testing.T, d *leveldb.DB, from, to, step int) {
	t.Helper()
	for i := from; i < to; i += step {
		must(t, d.Delete(key(i), nil))
	}
}

func compact(t *testing.T, d *leveldb.DB) { t.Helper(); must(t, d.CompactRange(util.Range{})) }

// small makes many tables on several levels of little data.
func small(o opt.Options) opt.Options {
	o.WriteBuffer, o.CompactionTableSize, o.CompactionTotalSize, o.BlockSize = 32<<10, 16<<10, 64<<10, 1<<10
	return o
}

var shapes = []shape{
	{name: "empty", fill: func(*testing.T, *leveldb.DB) {}},
	{name: "log only", logs: 1, fill: func(t *testing.T, d *leveldb.DB) { put(t, d, 0, 500, 1, 0) }},
	{name: "log with deletions", logs: 1, fill: func(t *testing.T, d *leveldb.DB) {
		put(t, d, 0, 500, 1, 0)
		put(t, d, 0, 500, 3, 1)
		del(t, d, 0, 500, 7)
	}},
	{name: "batches and large values", logs: 1, fill: func(t *testing.T, d *leveldb.DB) {
		var b leveldb.Batch
		for i := range 50 {
			b.Put(key(i), bytes.Repeat(value(i, 0), 300))
			b.Delete(key(i - 1))
			b.Put(key(i-1), nil)
		}
		must(t, d.Write(&b, nil))
		must(t, d.Put(nil, []byte("the empty key"), nil))
		must(t, d.Put([]byte("a\x00b"), []byte{0, 1, 2}, nil))
	}},
	{name: "one level", tables: 1, fill: func(t *testing.T, d *leveldb.DB) {
		put(t, d, 0, 2000, 1, 0)
		compact(t, d)
	}},
	{name: "overwritten and deleted on levels", options: small(opt.Options{}), tables: 5, logs: 1, fill: func(t *testing.T, d *leveldb.DB) {
		for version := range 4 {
			put(t, d, 0, 3000, 1+version, version)
			del(t, d, version, 3000, 11)
		}
	}},
	{name: "all deleted", options: small(opt.Options{}), fill: func(t *testing.T, d *leveldb.DB) {
		put(t, d, 0, 2000, 1, 0)
		del(t, d, 0, 2000, 1)
	}},
	{name: "compacted, then a log on top", options: small(opt.Options{}), tables: 5, logs: 1, fill: func(t *testing.T, d *leveldb.DB) {
		put(t, d, 0, 4000, 1, 0)
		compact(t, d)
		put(t, d, 1000, 1100, 1, 1)
		del(t, d, 3000, 3050, 1)
	}},
	{name: "without compression", options: small(opt.Options{Compression: opt.NoCompression}), tables: 5, fill: func(t *testing.T, d *leveldb.DB) {
		put(t, d, 0, 4000, 1, 0)
		put(t, d, 0, 4000, 2, 1)
	}},
	{name: "bloom filter", options: small(opt.Options{Filter: filter.NewBloomFilter(10)}), tables: 5, fill: func(t *testing.T, d *leveldb.DB) {
		put(t, d, 0, 4000, 1, 0)
		del(t, d, 0, 4000, 5)
	}},
	{name: "level 0 only", options: opt.Options{WriteBuffer: 16 << 10, DisableLargeBatchTransaction: true,
		CompactionL0Trigger: 1000, WriteL0SlowdownTrigger: 1000, WriteL0PauseTrigger: 2000}, tables: 10, logs: 1,
		fill: func(t *testing.T, d *leveldb.DB) {
			for version := range 4 {
				put(t, d, 0, 1000, 1+version, version)
			}
		}},
	{name: "transaction", tables: 1, fill: func(t *testing.T, d *leveldb.DB) {
		tr, err := d.OpenTransaction()
		must(t, err)
		for i := range 1000 {
			must(t, tr.Put(key(i), value(i, 0), nil))
		}
		must(t, tr.Commit())
	}},
	{name: "restart interval of one, old block sizes", options: opt.Options{BlockRestartInterval: 1, BlockSize: 200}, tables: 1,
		fill: func(t *testing.T, d *leveldb.DB) {
			put(t, d, 0, 1000, 1, 0)
			compact(t, d)
		}},
}

// build fills a new directory and gives what is in it.
func build(t *testing.T, s *shape) (dir string, want map[string]string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "leveldb")
	o := s.options
	d, err := leveldb.OpenFile(dir, &o)
	must(t, err)
	s.fill(t, d)
	want = map[string]string{}
	it := d.NewIterator(nil, nil)
	for it.Next() {
		want[string(it.Key())] = string(it.Value())
	}
	it.Release()
	must(t, it.Error())
	must(t, d.Close())
	return dir, want
}

// contents reads all of a RocksDB database.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	d, err := rocksdb.Open(dir, rocksdb.DefaultOptions())
	must(t, err)
	defer func() { must(t, d.Close()) }()
	it := d.NewIterator(nil)
	defer func() { must(t, it.Close()) }()
	got := map[string]string{}
	for k, v := range it.All() {
		got[string(k)] = string(v)
	}
	must(t, it.Err())
	return got
}

// snapshot gives the bytes of all files of a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	files := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		files[e.Name()] = string(data)
	}
	return files
}

func importOptions() *rocksdb.LevelDBImportOptions {
	o := rocksdb.DefaultOptions()
	o.WriteBufferSize = 256 << 10 // several flushes
	return &rocksdb.LevelDBImportOptions{Target: o}
}

func TestImport(t *testing.T) {
	for i := range shapes {
		s := &shapes[i]
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			source, want := build(t, s)
			before := snapshot(t, source)
			target := filepath.Join(t.TempDir(), "new")
			stats, err := rocksdb.ImportLevelDB(source, target, importOptions())
			must(t, err)
			if stats.Tables < s.tables || stats.Logs < s.logs || stats.Keys != uint64(len(want)) || len(stats.TornLogs) > 0 {
				t.Errorf("%+v, %d keys", stats, len(want))
			}
			if diff := cmp.Diff(before, snapshot(t, source)); diff != "" {
				t.Errorf("the source changed: %s", diff)
			}
			if diff := cmp.Diff(want, contents(t, target)); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(target + ".importing"); !os.IsNotExist(err) {
				t.Errorf("leftover: %v", err)
			}
			names, err := filepath.Glob(filepath.Join(target, "OPTIONS-*"))
			must(t, err)
			for _, n := range names {
				data, err := os.ReadFile(n)
				must(t, err)
				if strings.Contains(string(data), ".importing") {
					t.Errorf("%s names the unfinished database", n)
				}
			}
		})
	}
}

// TestImportSstNames reads tables by the older extension.
func TestImportSstNames(t *testing.T) {
	source, want := build(t, &shapes[5])
	names, err := filepath.Glob(filepath.Join(source, "*.ldb"))
	must(t, err)
	for _, n := range names {
		must(t, os.Rename(n, strings.TrimSuffix(n, ".ldb")+".sst"))
	}
	target := filepath.Join(t.TempDir(), "new")
	must(t, os.Mkdir(target, 0o755)) // an empty directory is taken
	_, err = rocksdb.ImportLevelDB(source, target, importOptions())
	must(t, err)
	if diff := cmp.Diff(want, contents(t, target)); diff != "" {
		t.Error(diff)
	}
}

// TestImportRandom compares random histories.
func TestImportRandom(t *testing.T) {
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := opt.Options{}
		if seed%2 == 0 {
			o = small(o)
		}
		if seed%3 == 0 {
			o.Filter = filter.NewBloomFilter(5)
		}
		if seed%4 == 0 {
			o.Compression = opt.NoCompression
		}
		source, want := build(t, &shape{options: o, fill: func(t *testing.T, d *leveldb.DB) {
			for i := range 4000 {
				k := key(r.IntN(1500))[r.IntN(3):]
				switch r.IntN(400) {
				case 0:
					compact(t, d)
				case 1:
					must(t, d.CompactRange(util.Range{Start: key(r.IntN(700)), Limit: key(700 + r.IntN(700))}))
				default:
					if r.IntN(4) == 0 {
						must(t, d.Delete(k, nil))
					} else {
						must(t, d.Put(k, value(i, int(seed)), nil))
					}
				}
			}
		}})
		target := filepath.Join(t.TempDir(), "new")
		_, err := rocksdb.ImportLevelDB(source, target, importOptions())
		must(t, err)
		if diff := cmp.Diff(want, contents(t, target)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

// liveTables are the table files that belong to the database: the writer may have
// been closed before it had deleted what a compaction made obsolete.
func liveTables(t *testing.T, dir string) []string {
	t.Helper()
	s, err := leveldbimport.Open(nil, dir)
	must(t, err)
	defer s.Close()
	names, err := s.TableNames()
	must(t, err)
	return names
}

// copyDir copies the files of a directory.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must(t, os.Mkdir(to, 0o755))
	for name, data := range snapshot(t, from) {
		must(t, os.WriteFile(filepath.Join(to, name), []byte(data), 0o644))
	}
	return to
}

// TestImportDamaged flips bytes and cuts files: the import either gives all
// keys or fails and leaves nothing.
func TestImportDamaged(t *testing.T) {
	source, want := build(t, &shapes[7])
	files := snapshot(t, source)
	live := liveTables(t, source)
	r := rand.New(rand.NewPCG(7, 7))
	failed := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == "LOCK" || strings.HasPrefix(name, "LOG") || strings.HasSuffix(name, ".bak") {
			continue
		}
		isTable := strings.HasSuffix(name, ".ldb")
		if isTable && !slices.Contains(live[:4], name) {
			continue
		}
		data := files[name]
		for round := range 6 {
			dir := copyDir(t, source)
			b := []byte(data)
			at := r.IntN(len(b))
			how := "flip"
			switch {
			case round == 0 && isTable:
				how = "missing"
				must(t, os.Remove(filepath.Join(dir, name)))
			case round == 1 && isTable:
				how = "cut"
				must(t, os.WriteFile(filepath.Join(dir, name), b[:at], 0o644))
			default:
				b[at] ^= 1 << r.IntN(8)
				must(t, os.WriteFile(filepath.Join(dir, name), b, 0o644))
			}
			target := filepath.Join(t.TempDir(), "new")
			stats, err := rocksdb.ImportLevelDB(dir, target, importOptions())
			if err != nil {
				failed++
				for _, path := range []string{target, target + ".importing"} {
					if _, e := os.Stat(path); !os.IsNotExist(e) {
						t.Errorf("%s %s at %d: %s is left (%v)", how, name, at, path, e)
					}
				}
				if base := strings.TrimSuffix(name, ".ldb"); !strings.Contains(err.Error(), dir) || isTable && !strings.Contains(err.Error(), base) {
					t.Errorf("%s %s at %d: %v", how, name, at, err)
				}
				continue
			}
			// A byte of padding, of a filter, or of the last record's length.
			if how != "flip" {
				t.Errorf("%s %s at %d: no error", how, name, at)
			}
			if diff := cmp.Diff(want, contents(t, target)); diff != "" && len(stats.TornLogs) == 0 {
				t.Errorf("%s %s at %d: %s", how, name, at, diff)
			}
		}
	}
	if failed < 20 {
		t.Errorf("%d of the damages were found", failed)
	}
}

// TestImportTornManifest: what a MANIFEST that was cut off would have named is not
// guessed at.
func TestImportTornManifest(t *testing.T) {
	source, _ := build(t, &shapes[7])
	paths, err := filepath.Glob(filepath.Join(source, "MANIFEST-*"))
	must(t, err)
	data, err := os.ReadFile(paths[0])
	must(t, err)
	must(t, os.WriteFile(paths[0], data[:len(data)-3], 0o644))
	target := filepath.Join(t.TempDir(), "new")
	_, err = rocksdb.ImportLevelDB(source, target, importOptions())
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), paths[0]) {
		t.Errorf("%v does not name %s", err, paths[0])
	}
	if _, err := os.Stat(target); !os.IsNotExist(err) {
		t.Errorf("%s is left (%v)", target, err)
	}
}

// TestImportTornLog: a record that was cut off is left out, and told.
func TestImportTornLog(t *testing.T) {
	source, want := build(t, &shapes[1])
	logs, err := filepath.Glob(filepath.Join(source, "*.log"))
	must(t, err)
	data, err := os.ReadFile(logs[0])
	must(t, err)
	must(t, os.WriteFile(logs[0], data[:len(data)-5], 0o644))
	target := filepath.Join(t.TempDir(), "new")
	stats, err := rocksdb.ImportLevelDB(source, target, importOptions())
	must(t, err)
	delete(want, string(key(499)))
	if diff := cmp.Diff([]string{logs[0]}, stats.TornLogs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, contents(t, target)); diff != "" {
		t.Error(diff)
	}
	// A damage before the last record is an error that tells where.
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(logs[0], data, 0o644))
	_, err = rocksdb.ImportLevelDB(source, filepath.Join(t.TempDir(), "new"), importOptions())
	if s := rocksdb.AsStatus(err); !rocksdb.IsCorruption(err) || s.File != logs[0] || !s.HasOffset || s.Offset == 0 || s.Offset > uint64(len(data)) {
		t.Errorf("%v", err)
	}
}

func TestImportRefuses(t *testing.T) {
	source, _ := build(t, &shapes[1])
	other := t.TempDir()
	must(t, os.WriteFile(filepath.Join(other, "file"), nil, 0o644))
	if _, err := rocksdb.ImportLevelDB(source, other, importOptions()); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
		t.Errorf("target with a file: %v", err)
	}
	if _, err := rocksdb.ImportLevelDB(t.TempDir(), filepath.Join(t.TempDir(), "new"), importOptions()); !rocksdb.IsPathNotFound(err) && !rocksdb.IsNotFound(err) && !rocksdb.IsIOError(err) {
		t.Errorf("empty source: %v", err)
	}

	d, err := leveldb.OpenFile(source, nil)
	must(t, err)
	if _, err := rocksdb.ImportLevelDB(source, filepath.Join(t.TempDir(), "new"), importOptions()); rocksdb.CodeOf(err) != rocksdb.CodeBusy {
		t.Errorf("open source: %v", err)
	}
	must(t, d.Close())

	target := filepath.Join(t.TempDir(), "new")
	_, err = rocksdb.ImportLevelDB(source, target, importOptions())
	must(t, err)
	_, err = rocksdb.ImportLevelDB(target, filepath.Join(t.TempDir(), "newer"), importOptions())
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), "RocksDB database") {
		t.Errorf("a RocksDB database: %v", err)
	}

	dir := filepath.Join(t.TempDir(), "reversed")
	d, err = leveldb.OpenFile(dir, &opt.Options{Comparer: reversed{}})
	must(t, err)
	must(t, d.Close())
	_, err = rocksdb.ImportLevelDB(dir, filepath.Join(t.TempDir(), "new"), importOptions())
	if !rocksdb.IsNotSupported(err) || !strings.Contains(err.Error(), "reversed") {
		t.Errorf("another comparator: %v", err)
	}
}

type reversed struct{}

func (reversed) Compare(a, b []byte) int           { return bytes.Compare(b, a) }
func (reversed) Name() string                      { return "reversed" }
func (reversed) Separator(dst, a, b []byte) []byte { return nil }
func (reversed) Successor(dst, b []byte) []byte    { return nil }
