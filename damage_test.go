// No upstream twin: what damaged files do (upstream: db/corruption_test.cc has
// single cases).

package rocksdb_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
)

func damageOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.WriteBufferSize = 64 << 10
	o.DisableAutoCompactions = true
	o.AvoidFlushDuringShutdown = true
	return o
}

// makeDamageDB writes a small database with tables, a MANIFEST of several
// records and data that is only in the WAL; it gives what each key may be: its
// history, oldest first.
func makeDamageDB(t *testing.T, dir string) map[string][]string {
	t.Helper()
	o := damageOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	history := map[string][]string{}
	for round := range 4 {
		for i := range 120 {
			k, v := fmt.Sprintf("key%03d", i), fmt.Sprintf("value-%d-%d", round, i)
			if err := db.Put(nil, []byte(k), []byte(v)); err != nil {
				t.Fatal(err)
			}
			history[k] = append(history[k], v)
		}
		if round < 3 {
			if err := db.Flush(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return history
}

func copyDir(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// openDamaged opens and reads a damaged database; it must end, with an error or
// with values that were written; the newest ones, unless it is a log that is
// damaged.
func openDamaged(t *testing.T, dir, file, what string, history map[string][]string, tables []string) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("panic: %v", p)
			}
		}()
		done <- readDamaged(dir, history, !strings.HasSuffix(file, ".log"))
	}()
	select {
	case err := <-done:
		if err != nil && strings.HasPrefix(err.Error(), "wrong") || err != nil && strings.HasPrefix(err.Error(), "panic") {
			t.Fatalf("%s: %v", what, err)
		}
		if err != nil && err.Error() == "" {
			t.Fatalf("%s: an error without a text", what)
		}
		for _, f := range tables {
			if _, statErr := os.Stat(filepath.Join(dir, f)); err != nil && statErr != nil {
				t.Fatalf("%s: %v, and %s is gone", what, err, f)
			}
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: does not end", what)
	}
}

func readDamaged(dir string, history map[string][]string, lossless bool) error {
	db, err := rocksdb.Open(dir, damageOptions())
	if err != nil {
		return err
	}
	defer db.Close()
	it := db.NewIterator(nil)
	defer it.Close()
	n := 0
	for k, v := range it.All() {
		if values := history[string(k)]; !contains(values, string(v)) || lossless && values[len(values)-1] != string(v) {
			return fmt.Errorf("wrong value %q of key %q", v, k)
		}
		n++
	}
	if err := it.Err(); err != nil {
		return err
	}
	if lossless && n != len(history) {
		return fmt.Errorf("wrong number of keys: %d of %d, and no error", n, len(history))
	}
	for k, values := range history {
		v, err := db.Get(nil, []byte(k))
		if err != nil {
			if rocksdb.CodeOf(err) == rocksdb.CodeNotFound {
				continue
			}
			return err
		}
		if !contains(values, string(v.Data())) || lossless && values[len(values)-1] != string(v.Data()) {
			return fmt.Errorf("wrong value %q of key %q", v.Data(), k)
		}
		v.Release()
	}
	return nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// damageFiles lists the files of a database that hold its data.
func damageFiles(t *testing.T, dir string) (all, tables []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := d.Name()
		switch {
		case strings.HasSuffix(name, ".sst"):
			tables = append(tables, name)
			all = append(all, name)
		case strings.HasSuffix(name, ".log"), strings.HasPrefix(name, "MANIFEST"), name == "CURRENT", strings.HasPrefix(name, "OPTIONS"), name == "IDENTITY":
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, tables
}

// TestTruncatedFiles cuts each file of a database at every length (a sample of
// them for the longer files).
func TestTruncatedFiles(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	history := makeDamageDB(t, base)
	all, tables := damageFiles(t, base)
	work := filepath.Join(t.TempDir(), "work")
	for _, name := range all {
		data, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(data)/300)
		if testing.Short() {
			step = max(1, len(data)/8)
		}
		for n := 0; n < len(data); n += step {
			copyDir(t, base, work)
			if err := os.WriteFile(filepath.Join(work, name), data[:n], 0o644); err != nil {
				t.Fatal(err)
			}
			openDamaged(t, work, name, fmt.Sprintf("%s cut to %d of %d bytes", name, n, len(data)), history, tables)
		}
	}
}

// TestFlippedBytes changes single bytes of a database's files.
func TestFlippedBytes(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	history := makeDamageDB(t, base)
	all, tables := damageFiles(t, base)
	work := filepath.Join(t.TempDir(), "work")
	flips := 2000
	if testing.Short() {
		flips = 100
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range flips {
		name := all[r.IntN(len(all))]
		data, err := os.ReadFile(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) == 0 {
			continue
		}
		at, with := r.IntN(len(data)), byte(1+r.IntN(255))
		copyDir(t, base, work)
		data[at] ^= with
		if err := os.WriteFile(filepath.Join(work, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
		openDamaged(t, work, name, fmt.Sprintf("%s byte %d xor %#x", name, at, with), history, tables)
	}
}
