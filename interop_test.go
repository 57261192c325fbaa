// No upstream twin: databases written here and read by real engines, and the
// other way round.

package rocksdb_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

var interopCompressions = map[string]rocksdb.CompressionType{
	"none": rocksdb.NoCompression, "snappy": rocksdb.SnappyCompression, "zlib": rocksdb.ZlibCompression,
	"bzip2": rocksdb.BZip2Compression, "lz4": rocksdb.LZ4Compression, "lz4hc": rocksdb.LZ4HCCompression, "zstd": rocksdb.ZSTD,
}

func interopOptions(c rocksdb.CompressionType, formatVersion uint32) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Compression = c
	o.WriteBufferSize = 128 << 10
	o.TargetFileSizeBase = 64 << 10
	o.MaxBytesForLevelBase = 256 << 10
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FormatVersion = formatVersion
	b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	return o
}

// writeInterop makes puts, overwrites, deletions and range deletions over
// several levels, some of them left in the WAL.
func writeInterop(t *testing.T, dir string, o rocksdb.Options, seed uint64) {
	t.Helper()
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 2))
	key := func() []byte { return fmt.Appendf(nil, "key%05d", r.IntN(4000)) }
	for i := range 6000 {
		var err error
		switch {
		case i%10 == 0:
			err = db.Delete(nil, key())
		case i%500 == 1:
			k := r.IntN(3900)
			err = db.DeleteRange(nil, fmt.Appendf(nil, "key%05d", k), fmt.Appendf(nil, "key%05d", k+20))
		default:
			err = db.Put(nil, key(), []byte(strings.Repeat(fmt.Sprint(r.IntN(1000)), 1+r.IntN(30))))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.WaitForCompact(nil); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if err := db.Put(nil, key(), []byte("only in the WAL")); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func scanHere(t *testing.T, dir string, o rocksdb.Options) string {
	t.Helper()
	db, err := rocksdb.OpenForReadOnly(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it := db.NewIterator(nil)
	defer it.Close()
	var b strings.Builder
	for k, v := range it.All() {
		fmt.Fprintf(&b, "0x%X ==> 0x%X\n", k, v)
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sameLines(t *testing.T, who, theirs, ours string) {
	t.Helper()
	if theirs == ours {
		return
	}
	a, b := strings.Split(theirs, "\n"), strings.Split(ours, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s, line %d: %.80s, here %.80s", who, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s reads %d lines, here %d", who, len(a), len(b))
}

// TestWrittenHereReadByDebian lets Debian's ldb 7.8.3 read what is written here.
func TestWrittenHereReadByDebian(t *testing.T) {
	engines.Tool(t, "ldb")
	for name, c := range interopCompressions {
		for version := uint32(2); version <= 5; version++ {
			t.Run(fmt.Sprintf("%s/format%d", name, version), func(t *testing.T) {
				dir, o := t.TempDir(), interopOptions(c, version)
				writeInterop(t, dir, o, uint64(version))
				ours := scanHere(t, dir, o)
				if n := strings.Count(ours, "\n"); n < 2000 {
					t.Fatalf("%d keys", n)
				}
				sameLines(t, "ldb 7.8.3", engines.ToolScan(t, dir), ours)
			})
		}
	}
}

// TestWrittenHereReadBy11_8_1 does the same with the newest engine and formats.
func TestWrittenHereReadBy11_8_1(t *testing.T) {
	defaults := rocksdb.DefaultOptions()
	defaults.CreateIfMissing = true
	for name, o := range map[string]rocksdb.Options{
		"defaults": defaults,
		"format6":  interopOptions(rocksdb.LZ4Compression, 6),
		"format7":  interopOptions(rocksdb.ZSTD, 7),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeInterop(t, dir, o, 9)
			ours := scanHere(t, dir, o)
			sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", dir), ours)
		})
	}
}

// TestKilledHereReadBy11_8_1 kills a writer and lets the C++ engine recover.
func TestKilledHereReadBy11_8_1(t *testing.T) {
	dir := t.TempDir()
	killOnce(t, dir, 100*time.Millisecond)
	ours := scanHere(t, dir, crashOptions())
	sameLines(t, "11.8.1", engines.Scan(t, "11.8.1", dir), ours)
}

// TestTakenInTurns writes a database here and by the C++ engine in turns.
func TestTakenInTurns(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	model := map[string]string{}
	for round := range 3 {
		writeInterop(t, dir, o, uint64(100+round))
		ours := scanHere(t, dir, o)
		sameLines(t, "11.8.1 reading round", engines.Scan(t, "11.8.1", dir), ours)
		var lines strings.Builder
		for i := range 500 {
			k, v := fmt.Sprintf("0x%X", fmt.Sprintf("cpp%d-%d", round, i)), fmt.Sprintf("0x%X", fmt.Sprint(i))
			fmt.Fprintf(&lines, "%s ==> %s\n", k, v)
			model[k] = v
		}
		engines.Put(t, "11.8.1", dir, lines.String())
		ours = scanHere(t, dir, o)
		for k, v := range model {
			if !strings.Contains(ours, k+" ==> "+v+"\n") {
				t.Fatalf("round %d: %s is missing here", round, k)
			}
		}
		sameLines(t, "11.8.1 after its writes", engines.Scan(t, "11.8.1", dir), ours)
	}
}

// interopFormats are plain and cuckoo tables with options of all kinds. The npm
// engines cannot be told of these formats.
func interopFormats() map[string]rocksdb.Options {
	list := map[string]rocksdb.Options{}
	add := func(name string, f rocksdb.TableFactory, prefix rocksdb.SliceTransform, locality uint32) {
		o := rocksdb.DefaultOptions()
		o.CreateIfMissing, o.AllowMmapReads = true, true
		o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = 64<<10, 32<<10, 128<<10
		o.TableFactory, o.PrefixExtractor, o.BloomLocality = f, prefix, locality
		list[name] = o
	}
	five := rocksdb.NewFixedPrefixTransform(5)
	for _, encoding := range []rocksdb.EncodingType{rocksdb.EncodingPlain, rocksdb.EncodingPrefix} {
		for _, store := range []bool{false, true} {
			p := rocksdb.DefaultPlainTableOptions()
			p.EncodingType, p.StoreIndexInFile = encoding, store
			add(fmt.Sprintf("plain,encoding=%d,stored=%t", encoding, store), rocksdb.NewPlainTableFactory(p), five, uint32(encoding))
		}
	}
	total := rocksdb.DefaultPlainTableOptions()
	total.HashTableRatio, total.UserKeyLen, total.StoreIndexInFile = 0, 8, true
	add("plain,total", rocksdb.NewPlainTableFactory(total), nil, 0)
	for _, module := range []bool{false, true} {
		c := rocksdb.DefaultCuckooTableOptions()
		c.UseModuleHash, c.IdentityAsFirstHash, c.CuckooBlockSize = module, module, 1+uint32(len(list)%4)
		add(fmt.Sprintf("cuckoo,module=%t", module), rocksdb.NewCuckooTableFactory(c), nil, 0)
	}
	return list
}

// TestPlainAndCuckooTablesReadByDebian lets Debian's ldb 7.8.3 read such tables
// as they are here, compact and write them, and reads what that made.
func TestPlainAndCuckooTablesReadByDebian(t *testing.T) {
	engines.Tool(t, "ldb")
	for name, o := range interopFormats() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db, err := rocksdb.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 3000 {
				key := fmt.Appendf(nil, "key%05d", r.IntN(2000))
				if i%10 == 0 {
					err = db.Delete(nil, key)
				} else {
					err = db.Put(nil, key, fmt.Appendf(nil, "value%07d", i))
				}
				if err == nil && i%1000 == 999 {
					err = db.Flush(nil)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			ours := scanHere(t, dir, o)
			sameLines(t, "ldb 7.8.3", engines.ToolScan(t, dir, "--try_load_options"), ours)
			for i := range 20 {
				key := fmt.Sprintf("key%05d", i*97)
				engines.Run(t, "ldb", "--db="+dir, "--ignore_unknown_options", "--try_load_options", "put", key, fmt.Sprintf("value%07d", i))
			}
			ours = scanHere(t, dir, o)
			sameLines(t, "ldb 7.8.3 after its writes", engines.ToolScan(t, dir, "--try_load_options"), ours)
			engines.Run(t, "ldb", "--db="+dir, "--ignore_unknown_options", "--try_load_options", "compact")
			sameLines(t, "ldb 7.8.3 before its compaction", ours, scanHere(t, dir, o))
			db, err = rocksdb.Open(dir, o)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.CompactRange(nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			sameLines(t, "ldb 7.8.3 after compactions", engines.ToolScan(t, dir, "--try_load_options"), ours)
		})
	}
}
