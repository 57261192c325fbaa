// No upstream twin: blob files written by flushes, recoveries and compactions,
// read here and by C++ engines.

package rocksdb_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func blobFileNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) == ".blob" {
			names = append(names, f.Name())
		}
	}
	return names
}

// TestBlobFiles writes values on both sides of min_blob_size, overwrites and
// deletes some, compacts with garbage collection, and after each step reads all
// of it back, before and after reopening.
func TestBlobFiles(t *testing.T) {
	for _, compression := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.LZ4Compression, rocksdb.ZSTD} {
		t.Run(fmt.Sprint(compression), func(t *testing.T) {
			dir := t.TempDir()
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing = true
			o.DisableAutoCompactions = true
			o.EnableBlobFiles, o.MinBlobSize = true, 100
			o.BlobFileSize = 64 << 10
			o.BlobCompressionType = compression
			o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff = true, 1
			o.Statistics = rocksdb.NewStatistics()
			db, err := rocksdb.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { db.Close() }()
			model := map[string]string{}
			check := func(when string) {
				t.Helper()
				it := db.NewIterator(nil)
				defer it.Close()
				n := 0
				for k, v := range it.All() {
					n++
					if model[string(k)] != string(v) {
						t.Fatalf("%s: %q has a value of %d bytes, want %d", when, k, len(v), len(model[string(k)]))
					}
				}
				if it.Err() != nil || n != len(model) {
					t.Fatalf("%s: %d keys, want %d: %v", when, n, len(model), it.Err())
				}
				for k, want := range model {
					v, err := db.Get(nil, []byte(k))
					if err != nil || string(v.Data()) != want {
						t.Fatalf("%s: Get(%q): %v", when, k, err)
					}
					v.Release()
				}
			}
			reopen := func() {
				t.Helper()
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				if db, err = rocksdb.Open(dir, o); err != nil {
					t.Fatal(err)
				}
			}
			put := func(round int) {
				t.Helper()
				for i := round; i < 600; i += round + 1 {
					k := fmt.Sprintf("key%04d", i)
					v := strings.Repeat(fmt.Sprintf("%d-%d ", round, i), 1+i%60)
					if err := db.Put(nil, []byte(k), []byte(v)); err != nil {
						t.Fatal(err)
					}
					model[k] = v
				}
			}
			for round := range 3 {
				put(round)
				if err := db.Flush(nil); err != nil {
					t.Fatal(err)
				}
				check("flush")
			}
			if n := len(blobFileNames(t, dir)); n < 3 {
				t.Errorf("%d blob files", n)
			}
			for i := 0; i < 600; i += 7 {
				k := fmt.Sprintf("key%04d", i)
				if err := db.Delete(nil, []byte(k)); err != nil {
					t.Fatal(err)
				}
				delete(model, k)
			}
			reopen() // the deletions come from the WAL
			check("recovery")
			put(5)
			reopen() // and values, which go to blob files
			check("recovery of values")
			before := blobFileNames(t, dir)
			if err := db.CompactRange(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			check("compaction")
			if err := db.CompactRange(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			reopen()
			check("reopening")
			after := blobFileNames(t, dir)
			for _, name := range before {
				for _, left := range after {
					if name == left {
						t.Errorf("%s is still there after garbage collection", name)
					}
				}
			}
			if o.Statistics.GetTickerCount(rocksdb.BlobDBGCNumKeysRelocated) == 0 {
				t.Error("no blob was moved")
			}
			if v, ok := db.GetProperty("rocksdb.blob-stats"); !ok || !bytes.Contains([]byte(v), []byte("Number of blob files: ")) {
				t.Errorf("rocksdb.blob-stats: %q", v)
			}
		})
	}
}
