// Port of table/table_test.cc: files' checksums, estimates of offsets, checks of
// options, dictionaries' memory.

package table_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// writeChecksummed writes 1000 random entries and gives the file's checksum.
func writeChecksummed(t *testing.T, tables rocksdb.TableFactory, factory rocksdb.FileChecksumGenFactory) (name, function, checksum string) {
	o := rocksdb.DefaultOptions()
	o.TableFactory, o.Compression = tables, rocksdb.NoCompression
	name = filepath.Join(t.TempDir(), "test")
	b, w := newBuilder(t, &o, icmp, name, 0, nil, &file.WriterOptions{FileChecksumGenFactory: factory})
	rnd := util.NewRandom(uint32(rand.Int31()))
	kvs := util.NewKVMap(util.BytewiseComparator())
	for range 1000 {
		v := rnd.RandomString(100)
		kvs.Set(randomKey(rnd, 20), v)
	}
	for i := 0; i < kvs.Len(); i++ {
		k, v := kvs.At(i)
		fatalIf(t, b.Add(maxIkey(k), []byte(v)))
	}
	finishTable(t, b, w)
	return name, b.GetFileChecksumFuncName(), b.GetFileChecksum()
}

// randomKey makes keys of few, mostly extreme, bytes.
func randomKey(rnd *util.Random, n int) string {
	const chars = "\x00\x01abcde\xfd\xfe\xff"
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[rnd.Uniform(len(chars))]
	}
	return string(b)
}

func TestBlockBasedTableTest_NoFileChecksum(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		_, function, checksum := writeChecksummed(t, blockbased.NewBlockBasedTableFactory(&bbto), nil)
		checkEq(t, "function", function, rocksdb.UnknownFileChecksumFuncName)
		checkEq(t, "checksum", checksum, rocksdb.UnknownFileChecksum)
	})
}

func TestBlockBasedTableTest_Crc32cFileChecksum(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		f := util.GetFileChecksumGenCrc32cFactory()
		name, function, checksum := writeChecksummed(t, blockbased.NewBlockBasedTableFactory(&bbto), f)
		checkEq(t, "function", function, "FileChecksumCrc32c")
		sum := func(data []byte) string {
			g := f.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: "db/tmp"})
			g.Update(data)
			g.Finalize()
			return g.GetChecksum()
		}
		data, err := os.ReadFile(name)
		fatalIf(t, err)
		checkEq(t, "checksum", checksum, sum(data))
		checkEq(t, "known", sum([]byte("here is some data\x00")), "\345\245\277\110")
	})
}

func TestGeneralTableTest_ApproximateOffsetOfPlain(t *testing.T) {
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockSize = 1024
	o := optionsFor(&bbto)
	o.DBHostID = ""
	c := newTableConstructor(t, util.BytewiseComparator(), true)
	defer c.Close()
	addSeven(c)
	c.Finish(&o, icmp)
	for _, w := range []struct {
		key       string
		low, high uint64
	}{
		{"abc", 0, 0}, {"k01", 0, 0}, {"k01a", 0, 0}, {"k02", 0, 0}, {"k03", 0, 0},
		{"k04", 10000, 11000}, {"k04a", 10000, 211000}, {"k05", 210000, 211000},
		{"k06", 510000, 512000}, {"k07", 510000, 512000}, {"xyz", 610000, 612000},
	} {
		if n := c.approximateOffsetOf(w.key); n < w.low || n > w.high {
			t.Errorf("%s: %d, want %d to %d", w.key, n, w.low, w.high)
		}
	}
}

func TestGeneralTableTest_ApproximateOffsetOfCompressed(t *testing.T) {
	for _, ct := range []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.LZ4Compression, rocksdb.LZ4HCCompression} {
		if !compression.CompressionTypeSupported(ct) {
			t.Errorf("compression %d is not supported", ct)
			continue
		}
		rnd := util.NewRandom(301)
		bbto := rocksdb.DefaultBlockBasedTableOptions()
		bbto.BlockSize = 1024
		o := optionsFor(&bbto)
		o.Compression, o.DBHostID = ct, ""
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		c.Add("k01", "hello")
		c.Add("k02", compressible(rnd, 0.25, 10000))
		c.Add("k03", "hello3")
		c.Add("k04", compressible(rnd, 0.25, 10000))
		c.Finish(&o, icmp)
		for _, k := range []string{"abc", "k01", "k02"} {
			checkEq(t, k, c.approximateOffsetOf(k), 0)
		}
		size := float64(c.size)
		within(t, "k03", float64(c.approximateOffsetOf("k03")), size/2, size/10)
		within(t, "k04", float64(c.approximateOffsetOf("k04")), size/2, size/10)
		within(t, "xyz", float64(c.approximateOffsetOf("xyz")), size, size/10)
		within(t, "data size", float64(c.props().DataSize), 5000, 1500)
		c.Close()
	}
}

func TestGeneralTableTest_ApproximateKeyAnchors(t *testing.T) {
	rnd := util.NewRandom(301)
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockSize = 4096
	o := optionsFor(&bbto)
	c := newTableConstructor(t, util.BytewiseComparator(), true)
	defer c.Close()
	for i := 1000; i < 9000; i++ {
		c.Add(strconv.Itoa(i), rnd.RandomString(2000))
	}
	c.Finish(&o, icmp)
	ro := rocksdb.DefaultReadOptions()
	anchors, err := c.reader.ApproximateKeyAnchors(&ro)
	fatalIf(t, err)
	within(t, "anchors", float64(len(anchors)), 130, 9)
	prev := 1000
	for _, a := range anchors[:len(anchors)-1] {
		within(t, "size", float64(a.RangeSize), 150000, 49999)
		// A shortened key's missing digits are zeros.
		k, err := strconv.Atoi((string(a.UserKey) + "0000")[:4])
		fatalIf(t, err)
		within(t, "distance", float64(k-prev), 75, 24)
		prev = k
	}
	last := anchors[len(anchors)-1]
	checkEq(t, "last", string(last.UserKey), "8999")
	checkEq(t, "last size", last.RangeSize < 200000, true)
}

func TestBBTTailPrefetchTest_TestTailPrefetchStats(t *testing.T) {
	var s blockbased.TailPrefetchStats
	record := func(n int, sizes ...uint64) {
		for range n {
			for _, v := range sizes {
				s.RecordEffectiveSize(v)
			}
		}
	}
	suggests := func(low, high uint64) {
		t.Helper()
		if n := s.GetSuggestedPrefetchSize(); n < low || n > high {
			t.Fatalf("%d, want %d to %d", n, low, high)
		}
	}
	suggests(0, 0)
	record(1, 1000, 1005, 1002)
	suggests(1005, 1005)
	// One large file does not count for much,
	record(1, 1002000, 999)
	suggests(1005, 1199)
	// and only the last 32 count at all.
	record(32, 100)
	suggests(100, 100)
	record(16, 1000)
	record(1, 10, 20)
	record(6, 100)
	suggests(80, 199)
}

func TestBBTTailPrefetchTest_FilePrefetchBufferMinOffset(t *testing.T) {
	b := file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{Disable: true, TrackMinOffset: true})
	defer b.Close()
	io := rocksdb.DefaultIOOptions()
	for _, offset := range []uint64{500, 480, 490} {
		if _, ok, err := b.TryReadFromCache(&io, nil, offset, 10, false); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	checkEq(t, "offset", b.MinOffsetRead(), 480)
}

// validate checks the options as opening a database does.
func validate(o *rocksdb.Options, bbto *rocksdb.BlockBasedTableOptions) (*blockbased.BlockBasedTableFactory, error) {
	f := blockbased.NewBlockBasedTableFactory(bbto)
	return f, f.ValidateOptions(&o.DBOptions, &o.ColumnFamilyOptions)
}

func TestBlockBasedTableTest_BadOptions(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		o := rocksdb.DefaultOptions()
		o.Compression = rocksdb.NoCompression
		bbto.BlockSize, bbto.BlockAlign = 4000, true
		bad := func(want bool) {
			t.Helper()
			_, err := validate(&o, &bbto)
			checkEq(t, "bad", err != nil, want)
		}
		bad(true)
		bbto.BlockSize, o.Compression = 4096, rocksdb.SnappyCompression
		bad(true)
		o.Compression, o.BottommostCompression = rocksdb.NoCompression, rocksdb.SnappyCompression
		bad(true)
		o.BottommostCompression = rocksdb.NoCompression
		o.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.SnappyCompression}
		bad(true)
		o.CompressionPerLevel = nil
		bad(false)
	})
}

func TestCacheUsageOptionsOverridesTest_SanitizeAndValidateOptions(t *testing.T) {
	o := rocksdb.DefaultOptions()
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	f, err := validate(&o, &bbto)
	fatalIf(t, err)
	usage := f.Options().CacheUsageOptions
	checkEq(t, "roles", len(usage.OptionsOverrides), int(rocksdb.NumCacheEntryRoles))
	for role, v := range usage.OptionsOverrides {
		checkEq(t, cache.CacheEntryRoleToCamelString(role), v, usage.Options)
	}
	bad := func(role rocksdb.CacheEntryRole, charged rocksdb.CacheEntryRoleOptions, code rocksdb.Code, texts ...string) {
		t.Helper()
		bbto.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{role: charged}
		_, err := validate(&o, &bbto)
		checkEq(t, "code", rocksdb.CodeOf(err), code)
		for _, s := range append(texts, cache.CacheEntryRoleToCamelString(role)) {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%v: no %q", err, s)
			}
		}
	}
	bad(rocksdb.CacheEntryRoleDataBlock, rocksdb.CacheEntryRoleOptions{Charged: rocksdb.CacheEntryRoleDisabled},
		rocksdb.CodeNotSupported, "Enable/Disable CacheEntryRoleOptions::charged")
	bbto.NoBlockCache = true
	bad(rocksdb.CacheEntryRoleFilterConstruction, rocksdb.CacheEntryRoleOptions{Charged: rocksdb.CacheEntryRoleEnabled},
		rocksdb.CodeInvalidArgument, "Enable CacheEntryRoleOptions::charged", "block cache is disabled")
}

const (
	sizeDummyEntry         = 256 << 10
	metadataChargeOverhead = 10000
)

// dictionaryCharge adds entries that each end a block, with a dictionary to be
// built of at most bufferBytes, and checks how many dummy entries the cache has
// pinned after each.
func dictionaryCharge(t *testing.T, capacity int, bufferBytes uint64, usage map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions, values []string, want []int) {
	t.Helper()
	lo := rocksdb.DefaultLRUCacheOptions(capacity)
	lo.NumShardBits, lo.StrictCapacityLimit = 0, true
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.BlockCache, bbto.FlushBlockPolicyFactory = newLRUWith(lo), blockbased.FlushBlockEveryKeyPolicyFactory{}
	bbto.CacheUsageOptions.OptionsOverrides = usage
	o := optionsFor(&bbto)
	o.Compression = rocksdb.ZSTD
	o.CompressionOpts.MaxDictBytes, o.CompressionOpts.MaxDictBufferBytes = 1024, bufferBytes
	b, w := newBuilder(t, &o, icmp, filepath.Join(t.TempDir(), "test"), -1, nil, nil)
	pinned := func(what string, want int) {
		t.Helper()
		n, high := int(bbto.BlockCache.GetPinnedUsage()), want*sizeDummyEntry
		if want > 0 {
			high += metadataChargeOverhead - 1
		}
		if n < want*sizeDummyEntry || n > high {
			t.Fatalf("%s: %d bytes pinned, want %d dummy entries", what, n, want)
		}
	}
	for i, v := range values {
		fatalIf(t, b.Add(ikeyOf(fmt.Sprintf("key%d", i+1), uint64(i)), []byte(v)))
		pinned(fmt.Sprintf("key%d", i+1), want[i])
	}
	finishTable(t, b, w)
	pinned("finished", 0)
}

func TestChargeCompressionDictionaryBuildingBufferTest_Basic(t *testing.T) {
	for charged, want := range map[rocksdb.CacheEntryRoleDecision]int{rocksdb.CacheEntryRoleEnabled: 1, rocksdb.CacheEntryRoleDisabled: 0} {
		dictionaryCharge(t, 8<<20, 1024, map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{
			rocksdb.CacheEntryRoleCompressionDictionaryBuildingBuffer: {Charged: charged},
		}, []string{"val1", "val2"}, []int{0, want})
	}
}

func TestChargeCompressionDictionaryBuildingBufferTest_BasicWithBufferLimitExceed(t *testing.T) {
	big := strings.Repeat("0", sizeDummyEntry)
	dictionaryCharge(t, 8<<20, 2*sizeDummyEntry, nil, []string{big, big, "val3"}, []int{0, 2, 0})
}

func TestChargeCompressionDictionaryBuildingBufferTest_BasicWithCacheFull(t *testing.T) {
	dictionaryCharge(t, sizeDummyEntry*3/2, 1<<30, nil, []string{"val1", strings.Repeat("0", sizeDummyEntry), "value3"}, []int{0, 1, 0})
}
