// No upstream twin: databases that C++ engines wrote, read and rewritten here.

package rocksdb_test

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb"
)

// unpackGolden unpacks testdata/golden.tar.zst, made by internal/cmd/packgolden
// from databases of RocksDB 7.8.3 and 11.8.1.
func unpackGolden(t *testing.T) string {
	t.Helper()
	return unpackArchive(t, "testdata/golden.tar.zst")
}

func unpackArchive(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		} else if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scanLines lists a family in the form of ldb's `scan --hex`, forwards or
// backwards.
func scanLines(t *testing.T, cf *rocksdb.ColumnFamily, backwards bool) string {
	t.Helper()
	it := cf.NewIterator(nil)
	defer it.Close()
	var lines []string
	all := it.All()
	if backwards {
		all = it.Backward()
	}
	for k, v := range all {
		lines = append(lines, fmt.Sprintf("0x%X ==> 0x%X\n", k, v))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	if backwards {
		slices.Reverse(lines)
	}
	return strings.Join(lines, "")
}

func isPlainTable(cf *rocksdb.ColumnFamily) bool {
	o := cf.GetOptions()
	return o.TableFactory.Name() == rocksdb.PlainTableName
}

func checkScans(t *testing.T, when string, families []*rocksdb.ColumnFamily, want map[string]string) {
	t.Helper()
	if len(families) != len(want) {
		t.Fatalf("%s: %d families, not %d", when, len(families), len(want))
	}
	for _, cf := range families {
		for _, backwards := range []bool{false, true} {
			if backwards && isPlainTable(cf) {
				continue // has no way back
			}
			if got := scanLines(t, cf, backwards); got != want[cf.GetName()] {
				t.Fatalf("%s, family %s, backwards %v: %d lines, not the %d of the engine, or others", when, cf.GetName(), backwards,
					strings.Count(got, "\n"), strings.Count(want[cf.GetName()], "\n"))
			}
		}
		// Each key by Get, too.
		for line := range strings.Lines(want[cf.GetName()]) {
			var k, v []byte
			if _, err := fmt.Sscanf(line, "0x%X ==> 0x%X\n", &k, &v); err != nil && len(v) > 0 {
				t.Fatal(err)
			}
			p, err := cf.Get(nil, k)
			if err != nil || string(p.Data()) != string(v) {
				t.Fatalf("%s, family %s: Get %X: %X, %v", when, cf.GetName(), k, p.Data(), err)
			}
			p.Release()
		}
	}
}

// goldenScans is what the engine's own scan printed, by family.
func goldenScans(t *testing.T, kind string) map[string]string {
	t.Helper()
	want := map[string]string{}
	scans, _ := filepath.Glob(filepath.Join(kind, "scan*.txt"))
	for _, s := range scans {
		data, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(s), "scan."), ".txt")
		if name == "txt" {
			name = rocksdb.DefaultColumnFamilyName
		}
		want[name] = string(data)
	}
	return want
}

// TestGolden reads databases of every kind read-only, read-write, and after a
// compaction of everything and a new opening.
func TestGolden(t *testing.T) {
	root := unpackGolden(t)
	kinds, err := filepath.Glob(filepath.Join(root, "*/*"))
	if err != nil || len(kinds) < 60 {
		t.Fatal(len(kinds), err)
	}
	for _, kind := range kinds {
		t.Run(strings.TrimPrefix(kind, root+"/"), func(t *testing.T) {
			t.Parallel()
			want := goldenScans(t, kind)
			dir := filepath.Join(kind, "db")
			cfg := rocksdb.DefaultConfigOptions()
			cfg.IgnoreUnknownOptions = true
			o, families, err := rocksdb.LoadLatestOptions(&cfg, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			db, cfs, err := rocksdb.OpenColumnFamiliesForReadOnly(dir, o, families, false)
			if err != nil {
				t.Fatal(err)
			}
			checkScans(t, "read-only", cfs, want)
			db.Close()
			for _, when := range []string{"read-write", "reopened"} {
				db, cfs, err := rocksdb.OpenColumnFamilies(dir, o, families)
				if err != nil {
					t.Fatal(err)
				}
				checkScans(t, when, cfs, want)
				for _, cf := range cfs {
					if err := cf.CompactRange(nil, nil, nil); err != nil {
						t.Fatal(err)
					}
				}
				checkScans(t, when+", compacted", cfs, want)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
