// Port of util/compression_test.cc: cases that need a database.

package compression_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func dbKey(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }

// randomString is of printable bytes, which compress a little.
func randomString(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = ' ' + byte(r.IntN(95))
	}
	return b
}

// TestDBCompressionTest_PresetCompressionDict: a dictionary makes tables
// smaller, and all data is still there.
func TestDBCompressionTest_PresetCompressionDict(t *testing.T) {
	const blockSize, fileSize, files = 4 << 10, 128 << 10, 5
	for name, c := range map[string]rocksdb.CompressionType{
		"zlib": rocksdb.ZlibCompression, "lz4": rocksdb.LZ4Compression, "lz4hc": rocksdb.LZ4HCCompression, "zstd": rocksdb.ZSTD,
	} {
		t.Run(name, func(t *testing.T) {
			without := presetDictSize(t, c, blockSize, fileSize, files, func(*rocksdb.CompressionOptions) {})
			with := presetDictSize(t, c, blockSize, fileSize, files, func(o *rocksdb.CompressionOptions) { o.MaxDictBytes = blockSize })
			if with >= without {
				t.Errorf("%d bytes with a dictionary, %d without", with, without)
			}
			if c != rocksdb.ZSTD {
				return
			}
			for _, trainer := range []bool{false, true} {
				n := presetDictSize(t, c, blockSize, fileSize, files, func(o *rocksdb.CompressionOptions) {
					o.MaxDictBytes, o.ZSTDMaxTrainBytes, o.UseZSTDDictTrainer = blockSize, fileSize, trainer
				})
				if n >= with && n >= without {
					t.Errorf("trainer %v: %d bytes, %d with samples, %d without dictionary", trainer, n, with, without)
				}
			}
		})
	}
}

// presetDictSize writes files with compressed blocks that repeat from block to
// block, compacts them, and gives the size of all tables.
func presetDictSize(t *testing.T, c rocksdb.CompressionType, blockSize, fileSize, files int, change func(*rocksdb.CompressionOptions)) (total uint64) {
	t.Helper()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.DisableAutoCompactions, o.NumLevels = true, true, 2
	o.Compression, o.TargetFileSizeBase, o.TargetFileSizeMultiplier = c, uint64(fileSize), 2
	change(&o.CompressionOpts)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize = uint64(blockSize)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	db, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := rand.New(rand.NewPCG(301, 1))
	var data [10][]byte
	for i := range data {
		data[i] = randomString(r, blockSize-50)
	}
	perFile := fileSize / blockSize
	for f := range files {
		for k := range perFile + 1 {
			n := f*perFile + k
			if err := db.Put(nil, dbKey(n), data[n/10%10]); err != nil {
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
	for _, f := range db.GetLiveFilesMetaData() {
		if f.Level != 1 {
			t.Errorf("a table in level %d", f.Level)
		}
		total += f.Size
	}
	for n := range files * perFile {
		v, err := db.Get(nil, dbKey(n))
		if err != nil || !bytes.Equal(v.Data(), data[n/10%10]) {
			t.Fatalf("%d: %d bytes, %v", n, v.Size(), err)
		}
		v.Release()
	}
	return total
}

func TestDBCompressionTest_ConfiguredCompressionTypeRecordedInProperties(t *testing.T) {
	for _, c := range []rocksdb.CompressionType{rocksdb.LZ4Compression, rocksdb.LZ4HCCompression} {
		o := rocksdb.DefaultOptions()
		o.CreateIfMissing, o.Compression = true, c
		db, err := rocksdb.Open(t.TempDir(), o)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(301, 2))
		for i := range 100 {
			if err := db.Put(nil, dbKey(i), randomString(r, 100)); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Flush(nil); err != nil {
			t.Fatal(err)
		}
		props, err := db.GetPropertiesOfAllTables()
		if err != nil || len(props) == 0 {
			t.Fatalf("%d tables, %v", len(props), err)
		}
		for _, p := range props {
			if want := fmt.Sprintf("_type=%d", c); !strings.Contains(p.CompressionOptions, want) {
				t.Errorf("%s: no %s", p.CompressionOptions, want)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
