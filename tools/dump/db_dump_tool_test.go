// No upstream twin: a database, dumped and loaded again; damaged dumps.

package dump_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/tools/dump"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func scan(t *testing.T, dir string) (s string) {
	t.Helper()
	db, err := rocksdb.OpenForReadOnly(dir, rocksdb.DefaultOptions())
	check(t, err)
	it := db.NewIterator(nil)
	for k, v := range it.All() {
		s += fmt.Sprintf("%q=%q ", k, v)
	}
	check(t, it.Err())
	check(t, it.Close())
	check(t, db.Close())
	return s
}

func TestDumpAndUndump(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(filepath.Join(dir, "db"), o)
	check(t, err)
	check(t, db.Put(nil, nil, []byte("empty key")))
	check(t, db.Put(nil, []byte("a\x00b"), nil))
	check(t, db.Flush(nil))
	check(t, db.Put(nil, []byte("large"), bytes.Repeat([]byte("x"), 100000)))
	check(t, db.Close())
	file := filepath.Join(dir, "dumped")
	check(t, dump.Dump(&dump.DumpOptions{DBPath: filepath.Join(dir, "db"), DumpLocation: file, Anonymous: true}, &o))
	data, err := os.ReadFile(file)
	check(t, err)
	// The head, and the first entry, byte for byte.
	if head := "ROCKDUMP\x00\x00\x00\x00\x00\x00\x00\x01\x02\x00\x00\x00{}\x00\x00\x00\x00\x09\x00\x00\x00empty key\x03\x00\x00\x00a\x00b\x00\x00\x00\x00"; string(data[:len(head)]) != head {
		t.Errorf("%q", data[:len(head)])
	}
	for i, compact := range []bool{false, true} {
		to := filepath.Join(dir, fmt.Sprint("loaded", i))
		check(t, dump.Undump(&dump.UndumpOptions{DBPath: to, DumpLocation: file, CompactDB: compact}, &o))
		if got, want := scan(t, to), scan(t, filepath.Join(dir, "db")); got != want {
			t.Errorf("%.200s, not %.200s", got, want)
		}
	}
	check(t, dump.Dump(&dump.DumpOptions{DBPath: filepath.Join(dir, "db"), DumpLocation: file}, &o))
	if named, err := os.ReadFile(file); err != nil || !bytes.Contains(named, []byte(`{ "database-path": "`+filepath.Join(dir, "db")+`", "hostname": "`)) {
		t.Errorf("%.200q, %v", named, err)
	}
	// A cut file is told of; sizes beyond it are not believed.
	for _, n := range []int{0, 7, 12, 17, 21, 24, 30, len(data) - 1} {
		check(t, os.WriteFile(file, data[:n], 0o644))
		err := dump.Undump(&dump.UndumpOptions{DBPath: filepath.Join(dir, fmt.Sprint("cut", n)), DumpLocation: file}, &o)
		if rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	huge := append(bytes.Clone(data[:22]), 0xff, 0xff, 0xff, 0xff)
	check(t, os.WriteFile(file, huge, 0o644))
	if err := dump.Undump(&dump.UndumpOptions{DBPath: filepath.Join(dir, "huge"), DumpLocation: file}, &o); rocksdb.CodeOf(err) != rocksdb.CodeCorruption {
		t.Error(err)
	}
	if err := dump.Dump(&dump.DumpOptions{DBPath: filepath.Join(dir, "none"), DumpLocation: file}, &o); err == nil {
		t.Error("no database was dumped")
	}
}
