// No upstream twin: what v11.8.1's own ldb printed of databases of C++ engines,
// compared with ours. The databases are those of the facade's golden test.

package tools_test

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb"
)

// unpack unpacks an archive made by internal/cmd/packgolden.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
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

// firstDifference tells where two texts part.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "line " + w[i] + "\nis now " + g[i]
		}
	}
	return "lengths"
}

// dumpTables prints all tables of a database with sst_dump.
func dumpTables(t *testing.T, db string) string {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(db, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range tables {
		r := sstDump(t, rocksdb.DefaultOptions(), "--file="+name, "--command=scan", "--output_hex", "--show_properties")
		if r.code != 0 {
			t.Fatalf("sst_dump %s: %s", name, r.err)
		}
		_, rest, _ := strings.Cut(r.out, "\n") // the first line has an address
		all.WriteString(strings.ReplaceAll(rest, db+"/", ""))
	}
	return all.String()
}

// TestGolden_Tools: scan, idump and manifest_dump --verbose print of every
// database what the real tool prints, byte for byte, and sst_dump of every table.
func TestGolden_Tools(t *testing.T) {
	dir := t.TempDir()
	unpack(t, "../testdata/golden.tar.zst", dir)
	unpack(t, "testdata/dumps.tar.zst", dir)
	kinds, err := filepath.Glob(filepath.Join(dir, "*/*"))
	if err != nil || len(kinds) < 60 {
		t.Fatal(len(kinds), err)
	}
	compared := 0
	for _, kind := range kinds {
		name, _ := filepath.Rel(dir, kind)
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			db := filepath.Join(kind, "db")
			check := func(file string, args ...string) {
				want, err := os.ReadFile(filepath.Join(kind, file))
				if errors.Is(err, os.ErrNotExist) {
					return
				} else if err != nil {
					t.Fatal(err)
				}
				r := run(t, "", append([]string{"--db=" + db}, args...)...)
				// The manifests were printed from inside the directory.
				got := strings.ReplaceAll(r.out, db+"/", "./")
				if r.code != 0 || got != string(want) {
					t.Errorf("%s: exit code %d, %s\n%s", file, r.code, r.err, firstDifference(string(want), got))
				}
				compared++
			}
			scan := []string{"--try_load_options", "--hex", "scan"}
			if strings.HasSuffix(kind, "timestamps") {
				scan = append(scan, "--read_timestamp=18446744073709551615")
			}
			check("scan.txt", scan...)
			check("idump.txt", "--try_load_options", "--hex", "idump")
			check("manifest.txt", "--hex", "manifest_dump", "--verbose")
			if want, err := os.ReadFile(filepath.Join(kind, "sst.txt")); err == nil {
				compared++
				if got := dumpTables(t, db); got != string(want) {
					t.Errorf("sst.txt:\n%s", firstDifference(string(want), got))
				}
			}
		})
	}
	if compared < 240 {
		t.Errorf("only %d texts compared", compared)
	}
}
