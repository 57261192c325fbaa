// No upstream twin: repairs of databases that C++ engines wrote, and what a
// repair keeps that upstream's loses.

package rocksdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// snapshotOf lists a directory's files with their contents.
func snapshotOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestRepairGolden repairs databases of every kind, with and without their
// MANIFEST: nothing may be missing afterwards.
func TestRepairGolden(t *testing.T) {
	var kinds []string
	for _, root := range []string{unpackGolden(t), unpackArchive(t, "testdata/blob_files.tar.zst")} {
		found, err := filepath.Glob(filepath.Join(root, "*/*"))
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, found...)
	}
	for _, kind := range kinds {
		name := filepath.Base(filepath.Dir(kind)) + "/" + filepath.Base(kind)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := goldenScans(t, kind)
			db := filepath.Join(kind, "db")
			for _, lost := range []string{"", "CURRENT", "MANIFEST-*"} {
				dir := filepath.Join(t.TempDir(), "db")
				if err := os.CopyFS(dir, os.DirFS(db)); err != nil {
					t.Fatal(err)
				}
				if lost != "" {
					files, _ := filepath.Glob(filepath.Join(dir, lost))
					for _, f := range files {
						if err := os.Remove(f); err != nil {
							t.Fatal(err)
						}
					}
				}
				cfg := rocksdb.DefaultConfigOptions()
				cfg.IgnoreUnknownOptions = true
				o, families, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range families {
					families[i].Options.EnableBlobFiles = false
				}
				if err := rocksdb.RepairDBColumnFamilies(dir, o, families, nil); err != nil {
					t.Fatalf("without %q: %v", lost, err)
				}
				for range 2 { // the second opening sees what the first left
					x, cfs, err := rocksdb.OpenColumnFamilies(dir, o, families)
					if err != nil {
						t.Fatalf("without %q: %v", lost, err)
					}
					checkScans(t, "without "+lost, cfs, want)
					if err := x.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// repairFixture has a key in the default family and one, not flushed, in x.
func repairFixture(t *testing.T) (dir string, o rocksdb.Options) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "db")
	o = rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	x, err := db.CreateColumnFamily(o.ColumnFamilyOptions, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Put(nil, []byte("d"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := x.Put(nil, []byte("k"), []byte("1")); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, o
}

func describe(o rocksdb.Options, names ...string) (list []rocksdb.ColumnFamilyDescriptor) {
	for _, n := range names {
		list = append(list, rocksdb.ColumnFamilyDescriptor{Name: n, Options: o.ColumnFamilyOptions})
	}
	return list
}

// TestRepairKeepsFamiliesOfWALs: v11.8.1 drops families without tables.
func TestRepairKeepsFamiliesOfWALs(t *testing.T) {
	for _, named := range []bool{false, true} {
		t.Run(fmt.Sprintf("named=%t", named), func(t *testing.T) {
			dir, o := repairFixture(t)
			var err error
			if named {
				err = rocksdb.RepairDBColumnFamilies(dir, o.DBOptions, describe(o, "default", "x"), nil)
			} else {
				err = rocksdb.RepairDB(dir, o)
			}
			if err != nil {
				t.Fatal(err)
			}
			names, err := rocksdb.ListColumnFamilies(o.DBOptions, dir)
			if err != nil || !slices.Equal(names, []string{"default", "x"}) {
				t.Fatal(names, err)
			}
			db, cfs, err := rocksdb.OpenColumnFamilies(dir, o.DBOptions, describe(o, "default", "x"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			checkScans(t, "repaired", cfs, map[string]string{"default": "0x64 ==> 0x31\n", "x": "0x6B ==> 0x31\n"})
		})
	}
}

// TestRepairLosesUnknownFamilies: without options for it, a family's tables are
// moved away.
func TestRepairLosesUnknownFamilies(t *testing.T) {
	dir, o := repairFixture(t)
	db, _, err := rocksdb.OpenColumnFamilies(dir, o.DBOptions, describe(o, "default", "x")) // flushes both
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := rocksdb.RepairDBColumnFamilies(dir, o.DBOptions, describe(o, "default"), nil); err != nil {
		t.Fatal(err)
	}
	lost, _ := filepath.Glob(filepath.Join(dir, "lost", "*.sst"))
	if len(lost) != 1 {
		t.Error(lost)
	}
	db, err = rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkScans(t, "repaired", []*rocksdb.ColumnFamily{db.ColumnFamily}, map[string]string{"default": "0x64 ==> 0x31\n"})
}

// TestRepairRefuses: what a repair would get wrong is refused, and nothing is
// touched then.
func TestRepairRefuses(t *testing.T) {
	reverse := rocksdb.DefaultOptions()
	reverse.Comparator = rocksdb.ReverseBytewiseComparator()
	paths := rocksdb.DefaultOptions()
	paths.CFPaths = []rocksdb.DBPath{{Path: "/elsewhere", TargetSize: 1}}
	plain := rocksdb.DefaultOptions()
	for _, c := range []struct {
		name    string
		repair  func(dir string) error
		is      func(error) bool
		message string
	}{
		{"comparator", func(dir string) error { return rocksdb.RepairDB(dir, reverse) }, isInvalid,
			" is rocksdb.ReverseBytewiseComparator: does not match leveldb.BytewiseComparator"},
		{"comparator of the WAL's family", func(dir string) error {
			return rocksdb.RepairDBColumnFamilies(dir, plain.DBOptions, describe(plain, "default"), &reverse.ColumnFamilyOptions)
		}, isInvalid, "Comparator of column family x"},
		{"no default family", func(dir string) error {
			return rocksdb.RepairDBColumnFamilies(dir, plain.DBOptions, describe(plain, "x"), nil)
		}, isInvalid, "column_families: Must contain entry for default column family"},
		{"paths", func(dir string) error { return rocksdb.RepairDB(dir, paths) }, isNotSupported, "cf_paths"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := repairFixture(t)
			before := snapshotOf(t, dir)
			err := c.repair(dir)
			if !c.is(err) || !strings.Contains(err.Error(), c.message) {
				t.Fatal(err)
			}
			after := snapshotOf(t, dir)
			for name := range after {
				if strings.HasPrefix(name, "LOG") {
					delete(after, name)
					delete(before, name)
				}
			}
			for name := range before {
				if strings.HasPrefix(name, "LOG") {
					delete(before, name)
				}
			}
			if len(before) != len(after) {
				t.Errorf("%d files before, %d after", len(before), len(after))
			}
			for name, data := range before {
				if after[name] != data {
					t.Errorf("%s changed", name)
				}
			}
		})
	}
	t.Run("nothing there", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "none")
		err := rocksdb.RepairDB(dir, plain)
		if rocksdb.CodeOf(err) != rocksdb.CodeIOError || !strings.Contains(err.Error(), "While lock file") && !strings.Contains(err.Error(), "for lock") {
			t.Error(err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Error("the directory was made", err)
		}
	})
}

// TestRepairOpenDatabase: a database in use is not repaired.
func TestRepairOpenDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := rocksdb.RepairDB(dir, o); rocksdb.CodeOf(err) != rocksdb.CodeIOError {
		t.Error(err)
	}
}

// TestRepairDamagedWAL: a bad record costs itself alone, and tables that cannot
// be read, and WALs and MANIFESTs that were replaced, are in "lost".
func TestRepairDamagedWAL(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	id := db.GetDbIdentity()
	value := strings.Repeat("v", 40000) // a record a block and more
	for i := range 10 {
		if err := db.Put(nil, fmt.Appendf(nil, "key%d", i), []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	if len(logs) != 1 {
		t.Fatal(logs)
	}
	data, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	data[100_000] ^= 1
	if err := os.WriteFile(logs[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "000999.sst"), []byte("no table"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := rocksdb.RepairDB(dir, o); err != nil {
		t.Fatal(err)
	}
	lost := snapshotOf(t, filepath.Join(dir, "lost"))
	if len(lost) != 3 || lost["000999.sst"] != "no table" || lost[filepath.Base(logs[0])] != string(data) {
		t.Errorf("%d files in lost", len(lost))
	}
	db, err = rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	it := db.NewIterator(nil)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	it.Close()
	if n < 7 || n > 9 {
		t.Errorf("%d keys are left", n)
	}
	// The repaired database is another one.
	file, err := os.ReadFile(filepath.Join(dir, "IDENTITY"))
	if err != nil || db.GetDbIdentity() == id || string(file) != db.GetDbIdentity() {
		t.Error(db.GetDbIdentity(), string(file), err)
	}
	if next := db.Impl().Versions().CurrentNextFileNumber(); next <= 999 {
		t.Errorf("next file number %d", next)
	}
}

func isInvalid(err error) bool { return rocksdb.CodeOf(err) == rocksdb.CodeInvalidArgument }

func isNotSupported(err error) bool { return rocksdb.CodeOf(err) == rocksdb.CodeNotSupported }
