// No upstream twin: blob files written here, read and dumped by C++ engines.

package rocksdb_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
	blobdb "github.com/rocksdb-go/rocksdb/utilities/blob_db"
)

// TestBlobFilesReadByEngines writes blob files of each compression, after a
// garbage collection. Debian's ldb 7.8.3 and the 11.8.1 engine read the same,
// and ldb dumps the files as we do.
func TestBlobFilesReadByEngines(t *testing.T) {
	engines.Tool(t, "ldb")
	for name, c := range map[string]rocksdb.CompressionType{"no": rocksdb.NoCompression, "snappy": rocksdb.SnappyCompression,
		"zlib": rocksdb.ZlibCompression, "lz4": rocksdb.LZ4Compression, "zstd": rocksdb.ZSTD} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "db")
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing = true
			o.EnableBlobFiles, o.MinBlobSize, o.BlobCompressionType = true, 20, c
			o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff = true, 0.5
			table := rocksdb.DefaultBlockBasedTableOptions()
			table.FormatVersion = 5
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
			db, err := rocksdb.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { db.Close() }()
			var want strings.Builder
			for round := range 2 {
				for i := range 200 {
					k, v := fmt.Sprintf("key%03d", i), strings.Repeat(fmt.Sprint(i), i%30)
					if round == 0 && i%3 == 0 {
						v = "old" + v
					}
					if round == 1 && i%3 != 0 {
						continue
					}
					if err := db.Put(nil, []byte(k), []byte(v)); err != nil {
						t.Fatal(err)
					}
				}
				if err := db.Flush(nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.CompactRange(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			it := db.NewIterator(nil)
			for k, v := range it.All() {
				fmt.Fprintf(&want, "0x%X ==> 0x%X\n", k, v)
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			files := blobFileNames(t, dir)
			if len(files) == 0 {
				t.Fatal("no blob file")
			}
			for _, f := range files {
				path := filepath.Join(dir, f)
				for _, flags := range [][]string{nil, {"--hex"}, {"--dump_uncompressed_blobs"}} {
					theirs := engines.Run(t, "ldb", append([]string{"dump", "--path=" + path}, flags...)...)
					var ours bytes.Buffer
					d := blobdb.BlobDumpTool{FS: rocksdb.DefaultEnv().GetFileSystem(), Out: &ours, Summary: true, Key: blobdb.DisplayRaw, Blob: blobdb.DisplayRaw}
					switch {
					case flags == nil:
					case flags[0] == "--hex":
						d.Key, d.Blob = blobdb.DisplayHex, blobdb.DisplayHex
					default:
						d.Blob, d.UncompressedBlob = blobdb.DisplayNone, blobdb.DisplayRaw
					}
					if err := d.Run(path); err != nil {
						t.Fatal(err)
					}
					if ours.String() != theirs {
						t.Errorf("dump of %s %v is another:\n%s\nwant\n%s", f, flags, ours.String(), theirs)
					}
				}
			}
			sameLines(t, "ldb 7.8.3", engines.ToolScan(t, dir), want.String())
			sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", dir), want.String())
		})
	}
}
