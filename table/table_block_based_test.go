// Port of table/table_test.cc: what block-based tables hold and how they are
// searched. Continued in table_block_cache_test.go and table_general_test.go.

package table_test

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// allParams runs f for each of upstream's combinations of table options; with
// few, for those that differ in the most.
func allParams(t *testing.T, few bool, f func(t *testing.T, bbto rocksdb.BlockBasedTableOptions)) {
	for _, fv := range []uint32{5, 6, 7} {
		for _, align := range []uint64{0, 128 << 10, 512 << 10, 2 << 20} {
			for _, ratio := range []uint64{2048, 32, 128} {
				for _, separate := range []bool{false, true} {
					if few && (align > 128<<10 || ratio != 128 || (align == 0) != (fv == 6)) {
						continue
					}
					bbto := rocksdb.DefaultBlockBasedTableOptions()
					bbto.FormatVersion, bbto.SeparateKeyValueInDataBlock = fv, separate
					bbto.SuperBlockAlignmentSize, bbto.SuperBlockAlignmentSpaceOverheadRatio = align, ratio
					t.Run(fmt.Sprintf("fv=%d,align=%d,ratio=%d,separate=%t", fv, align, ratio, separate), func(t *testing.T) { f(t, bbto) })
				}
			}
		}
	}
}

func addNine(c *tableConstructor, prefix string) {
	for i, k := range strings.Fields("a1 b2 c3 d4 e5 f6 g7 h8 j9") {
		c.Add(prefix+k, fmt.Sprintf("val%d", i+1))
	}
}

func TestBlockBasedTableTest_BasicBlockBasedTableProperties(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		addNine(c, "")
		bbto.BlockRestartInterval = 1
		o := optionsFor(&bbto)
		o.Statistics = monitoring.CreateDBStatistics()
		c.Finish(&o, icmp)
		checkEq(t, "rejected", o.Statistics.GetTickerCount(rocksdb.NumberBlockCompressionRejected), 0)
		p := c.props()
		checkEq(t, "entries", p.NumEntries, 9)
		checkEq(t, "keys", p.RawKeySize, 9*2+9*8)
		checkEq(t, "values", p.RawValueSize, 9*4)
		checkEq(t, "blocks", p.NumDataBlocks, 1)
		checkEq(t, "filter", p.FilterPolicyName, "")
		b := block.NewBlockBuilder(&block.BlockBuilderOptions{BlockRestartInterval: 1, UseDeltaEncoding: true,
			DataBlockHashTableUtilRatio: 0.75, PersistUserDefinedTimestamps: true, UseSeparatedKVStorage: bbto.SeparateKeyValueInDataBlock})
		for i := 0; i < c.data.Len(); i++ {
			k, v := c.data.At(i)
			b.Add([]byte(k), []byte(v), nil, false)
		}
		checkEq(t, "data size", p.DataSize, uint64(len(b.Finish())+format.BlockTrailerSize+9*8))
	})
}

func TestBlockBasedTableTest_IndexUncompressed(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		compressed := func(index bool) uint64 {
			c := newTableConstructor(t, util.BytewiseComparator(), true)
			defer c.Close()
			for k := 0; k < 10000; k++ {
				c.Add(fmt.Sprintf("key%d", k), fmt.Sprintf("val%d", k))
			}
			bbto.BlockRestartInterval, bbto.EnableIndexCompression = 1, index
			o := optionsFor(&bbto)
			o.Compression = rocksdb.SnappyCompression
			o.Statistics = monitoring.CreateDBStatistics()
			c.Finish(&o, icmp)
			return o.Statistics.GetTickerCount(rocksdb.NumberBlockCompressed)
		}
		checkEq(t, "compressed", compressed(true), compressed(false)+1)
	})
}

type uint64AddOperator struct{ rocksdb.MergeOperatorBase }

func (uint64AddOperator) Name() string { return "UInt64AddOperator" }
func (uint64AddOperator) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	return false
}

// dummyCollectors is a factory of collectors that are nothing but a name.
type dummyCollectors string

type dummyCollector struct{}

func (d dummyCollectors) Name() string { return string(d) }
func (dummyCollectors) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	return dummyCollector{}
}
func (dummyCollector) Name() string { return "DummyPropertiesCollector" }
func (dummyCollector) AddUserKey(_, _ []byte, _ rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	return nil
}
func (dummyCollector) BlockAdd(_, _, _ uint64)                                    {}
func (dummyCollector) Finish(rocksdb.UserCollectedProperties) error               { return nil }
func (dummyCollector) GetReadableProperties() (p rocksdb.UserCollectedProperties) { return p }
func (dummyCollector) NeedCompact() bool                                          { return false }

func TestBlockBasedTableTest_BlockBasedTableProperties2(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, reverseComparator, true)
		defer c.Close()
		c.Add("blah", strings.Repeat("x", 200))
		for _, ct := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression} {
			o := optionsFor(&bbto)
			o.Compression = ct
			c.Finish(&o, icmp)
			p := c.props()
			checkEq(t, "comparator", p.ComparatorName, "leveldb.BytewiseComparator")
			checkEq(t, "merge operator", p.MergeOperatorName, "nullptr")
			checkEq(t, "prefix extractor", p.PrefixExtractorName, "nullptr")
			checkEq(t, "collectors", p.PropertyCollectorsNames, "[]")
			checkEq(t, "filter", p.FilterPolicyName, "")
			want := map[rocksdb.CompressionType][2]string{
				rocksdb.NoCompression:     {"NoCompression", ";;"},
				rocksdb.SnappyCompression: {"Snappy", "BuiltinV2;01;"},
			}[ct]
			if format.FormatVersionUsesCompressionManagerName(bbto.FormatVersion) {
				checkEq(t, "compression", p.CompressionName, want[1])
			} else {
				checkEq(t, "compression", p.CompressionName, want[0])
			}
		}
		o := optionsFor(&bbto)
		o.Comparator, o.MergeOperator, o.PrefixExtractor = reverseComparator, uint64AddOperator{}, util.NewNoopTransform()
		o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{
			dummyCollectors("DummyPropertiesCollectorFactory1"), dummyCollectors("DummyPropertiesCollectorFactory2")}
		c.Finish(&o, dbformat.NewInternalKeyComparator(reverseComparator))
		p := c.props()
		checkEq(t, "comparator", p.ComparatorName, "rocksdb.ReverseBytewiseComparator")
		checkEq(t, "merge operator", p.MergeOperatorName, "UInt64AddOperator")
		checkEq(t, "prefix extractor", p.PrefixExtractorName, "rocksdb.Noop")
		checkEq(t, "collectors", p.PropertyCollectorsNames, "[DummyPropertiesCollectorFactory1,DummyPropertiesCollectorFactory2]")
		checkEq(t, "filter", p.FilterPolicyName, "")
	})
}

func TestBlockBasedTableTest_RangeDelBlock(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		for i, v := range []string{"p", "c"} {
			rt := dbformat.RangeTombstone{StartKey: []byte([]string{"1pika", "2chu"}[i]), EndKey: []byte(v), Seq: uint64(i)}
			k, end := rt.Serialize()
			c.Add(string(k), string(end))
		}
		bbto.BlockRestartInterval = 1
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		ro := rocksdb.DefaultReadOptions()
		for j := 0; j < 2; j++ {
			it := c.reader.NewRangeTombstoneIterator(&ro)
			if j > 0 {
				c.Close() // tombstones outlive the reader
			}
			var got []string
			for it.SeekToFirst(); it.Valid(); it.Next() {
				k, err := dbformat.ParseInternalKey(it.Key(), true)
				fatalIf(t, err)
				got = append(got, fmt.Sprintf("%s-%s@%d", k.UserKey, it.Value(), k.Sequence))
			}
			checkEq(t, "tombstones", strings.Join(got, " "), "1pika-2chu@0 2chu-c@1 2chu-c@0 c-p@0")
			if j == 0 {
				fatalIf(t, c.Reopen(&o))
			}
		}
	})
}

func TestBlockBasedTableTest_FilterPolicyNameProperties(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		c.Add("a1", "val1")
		bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		checkEq(t, "filter", c.props().FilterPolicyName, bbto.FilterPolicy.Name())
	})
}

// wantAt checks the iterator's user key.
func wantAt(t *testing.T, it internaliter.InternalIterator, userKey string) {
	t.Helper()
	fatalIf(t, it.Status())
	if !it.Valid() {
		t.Fatalf("not valid, want %q", userKey)
	}
	checkEq(t, "key", string(it.UserKey()), userKey)
}

func TestBlockBasedTableTest_TotalOrderSeekOnHashIndex(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.BlockSize = 64 // an entry in each block
		for i := 0; i <= 4; i++ {
			bbto := bbto
			var prefix rocksdb.SliceTransform
			switch i {
			case 1, 2:
				bbto.IndexType, prefix = rocksdb.HashSearch, util.NewFixedPrefixTransform(4)
				if i == 2 {
					bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
				}
			case 3:
				bbto.IndexType = rocksdb.TwoLevelIndexSearch
			case 4:
				bbto.IndexType = rocksdb.BinarySearchWithFirstKey
			}
			o := optionsFor(&bbto)
			o.PrefixExtractor = prefix
			c := newTableConstructor(t, util.BytewiseComparator(), true)
			for _, k := range strings.Fields("aaaa1 bbaa1 cccc1 bbbb1 baaa1 abbb1 cccc2") {
				c.Add(k, strings.Repeat("8", 97))
			}
			c.Finish(&o, icmp)
			checkEq(t, "blocks", c.props().NumDataBlocks, 7)
			ro := rocksdb.DefaultReadOptions()
			ro.TotalOrderSeek = true
			it := c.iterator(&ro, prefix)
			for _, s := range [][3]string{{"b", "baaa1", "bbaa1"}, {"bb", "bbaa1", "bbbb1"}, {"bbb", "bbbb1", "cccc1"}} {
				it.Seek(ikeyOf(s[0], 0))
				wantAt(t, it, s[1])
				it.Next()
				wantAt(t, it, s[2])
			}
			it.Close()
			c.Close()
		}
	})
}

func TestBlockBasedTableTest_NoopTransformSeek(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
		o := optionsFor(&bbto)
		o.PrefixExtractor = util.NewNoopTransform()
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		defer c.Close()
		// One byte, so that the index key is the user key itself.
		key := ikeyOf("a", 1)
		c.Add(string(key), "b")
		c.Finish(&o, icmp)
		for _, total := range []bool{true, false} {
			ro := rocksdb.DefaultReadOptions()
			ro.TotalOrderSeek = total
			it := c.iterator(&ro, o.PrefixExtractor)
			it.Seek(key)
			wantAt(t, it, "a")
			it.Close()
		}
	})
}

func TestBlockBasedTableTest_SkipPrefixBloomFilter(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.FilterPolicy, bbto.WholeKeyFiltering = blockbased.NewBloomFilterPolicy(2), false
		o := optionsFor(&bbto)
		o.PrefixExtractor = util.NewFixedPrefixTransform(1)
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		defer c.Close()
		key := ikeyOf("abcdefghijk", 1)
		c.Add(string(key), "test")
		c.Finish(&o, icmp)
		o.PrefixExtractor = util.NewFixedPrefixTransform(9)
		fatalIf(t, c.Reopen(&o))
		it := c.iterator(nil, o.PrefixExtractor)
		defer it.Close()
		it.Seek(key)
		wantAt(t, it, "abcdefghijk")
		checkEq(t, "key", string(it.Key()), string(key))
		checkEq(t, "value", string(it.Value()), "test")
	})
}

func TestBlockBasedTableTest_BadChecksumType(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		o := optionsFor(&bbto)
		c := newTableConstructor(t, util.BytewiseComparator(), false)
		c.Add(string(ikeyOf("abc", 1)), "test")
		c.Finish(&o, icmp)
		b, err := os.ReadFile(c.name)
		fatalIf(t, err)
		at := len(b) - format.FooterNewVersionsEncodedLength
		checkEq(t, "type", rocksdb.ChecksumType(b[at]), bbto.Checksum)
		b[at] = 123
		fatalIf(t, os.WriteFile(c.name, b, 0o644))
		err = c.Reopen(&o)
		if rocksdb.CodeOf(err) != rocksdb.CodeCorruption || !strings.Contains(err.Error(), "123") || !strings.HasSuffix(err.Error(), " in "+c.name) {
			t.Fatal(err)
		}
	})
}

func TestBlockBasedTableTest_ReservedBitInDataBlockFooter(t *testing.T) {
	b := block.NewBlockBuilder(&block.BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, DataBlockHashTableUtilRatio: 0.75})
	b.Add(ikeyOf("abc", 1), []byte("test_value"), nil, false)
	data := slices.Clone(b.Finish())
	f := data[len(data)-4:]
	binary.LittleEndian.PutUint32(f, binary.LittleEndian.Uint32(f)|1<<30)
	bl := block.NewBlock(format.BorrowBlock(data), 0, nil)
	checkEq(t, "size", bl.Size(), 0)
	it := bl.NewDataIterator(icmp, block.DataIterOptions{GlobalSeqno: dbformat.MaxSequenceNumber}, new(block.DataBlockIter))
	if err := it.Status(); it.Valid() || rocksdb.CodeOf(err) != rocksdb.CodeCorruption || !strings.Contains(err.Error(), "reserved") {
		t.Fatal(err)
	}
}

// addLong adds a key of 800 random bytes after a prefix.
func addLong(c *tableConstructor, rnd *util.Random, prefix, value string) {
	c.Add(string(ikeyOf(prefix+rnd.RandomString(800), 0)), value)
}

func indexTest(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
	t.Helper()
	c := newTableConstructor(t, util.BytewiseComparator(), false)
	defer c.Close()
	rnd := util.NewRandom(1023)
	for _, p := range strings.Fields("0015 0035 0054 0055 0056 0057 0058 0075 0076 0095") {
		addLong(c, rnd, p, "v")
	}
	bbto.BlockSize = 1700
	bbto.BlockCache = newLRU(1024, 4)
	o := optionsFor(&bbto)
	prefix := util.NewFixedPrefixTransform(3)
	o.PrefixExtractor = prefix
	keys := c.Finish(&o, icmp)
	checkEq(t, "blocks", c.props().NumDataBlocks, 5)
	it := c.iterator(nil, prefix)
	defer it.Close()
	seek := func(it internaliter.InternalIterator, userKey, want string) {
		t.Helper()
		it.Seek(ikeyOf(userKey, 0))
		fatalIf(t, it.Status())
		if want == "" {
			checkEq(t, "valid", it.Valid(), false)
			return
		}
		checkEq(t, "valid", it.Valid(), true)
		checkEq(t, "key", string(it.Key()), want)
		checkEq(t, "value", string(it.Value()), "v")
	}
	prefixes := []string{"001", "003", "005", "007", "009"}
	for i, first := range []int{0, 1, 2, 7, 9} {
		seek(it, prefixes[i], keys[first])
	}
	for _, k := range keys {
		seek(it, string(dbformat.ExtractUserKey([]byte(k))), k)
	}
	for i, p := range prefixes {
		// A hash index knows nothing of other prefixes.
		it.Seek(ikeyOf(p+"9", 0))
		if err := it.Status(); err != nil && (!rocksdb.IsNotFound(err) || it.Valid()) {
			t.Fatal(err)
		}
		if i == len(prefixes)-1 {
			checkEq(t, "valid", it.Valid(), false)
		} else {
			checkEq(t, "key", string(it.Key()), keys[[]int{1, 2, 7, 9}[i]])
		}
	}
	for _, p := range []string{"002", "004", "006", "008"} {
		it.Seek(ikeyOf(p, 0))
		fatalIf(t, it.Status())
		if it.Valid() && string(it.UserKey()[:3]) <= p {
			t.Fatalf("Seek(%s) at %s", p, it.UserKey()[:4])
		}
		it.SeekForPrev(ikeyOf(p, 0))
		fatalIf(t, it.Status())
		if it.Valid() && string(it.UserKey()[:3]) >= p {
			t.Fatalf("SeekForPrev(%s) at %s", p, it.UserKey()[:4])
		}
	}
	// Seeking again in the same and in other partitions of the index.
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	it2 := c.iterator(&ro, prefix)
	defer it2.Close()
	do := func(steps string) {
		t.Helper()
		for _, s := range strings.Fields(steps) {
			switch {
			case s == "last":
				it2.SeekToLast()
			case s == "prev":
				it2.Prev()
			case s == "next":
				it2.Next()
			case s[0] == '=':
				checkEq(t, "key", string(it2.Key()[:4]), s[1:])
			default:
				it2.Seek(ikeyOf(s, 0))
			}
			checkEq(t, s, it2.Valid(), true)
		}
	}
	do("0055 =0055 last =0095 0055 =0055 last =0095 prev prev =0075")
	do("0095 =0095 prev prev =0075 last =0095")
	do("0095 =0095 prev prev =0075 0075 =0075 next next =0095 last =0095")
}

func TestBlockBasedTableTest_BinaryIndexTestBinarySearch(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.IndexType, bbto.IndexBlockSearchType = rocksdb.BinarySearch, rocksdb.BlockSearchBinary
		indexTest(t, bbto)
	})
}

func TestBlockBasedTableTest_BinaryIndexTestInterpolationSearch(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.IndexType, bbto.IndexBlockSearchType = rocksdb.BinarySearch, rocksdb.BlockSearchInterpolation
		indexTest(t, bbto)
	})
}

func TestBlockBasedTableTest_HashIndexTest(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.IndexType = rocksdb.HashSearch
		indexTest(t, bbto)
	})
}

func TestBlockBasedTableTest_PartitionIndexTest(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.IndexType = rocksdb.TwoLevelIndexSearch
		for i := uint64(1); i <= 5*32+1; i += 4 {
			bbto.MetadataBlockSize = i
			indexTest(t, bbto)
		}
	})
}

func TestBlockBasedTableTest_BinaryIndexWithFirstKey1(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.IndexType = rocksdb.BinarySearchWithFirstKey
		indexTest(t, bbto)
	})
}

func TestBlockBasedTableTest_IndexSizeStat(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		rnd := util.NewRandom(uint32(rand.Int31()))
		var keys []string
		for range 30 {
			keys = append(keys, rnd.RandomString(10000))
		}
		bbto.BlockRestartInterval = 1
		o := optionsFor(&bbto)
		var last uint64
		for i := 1; i < len(keys); i++ {
			c := newTableConstructor(t, util.BytewiseComparator(), true)
			for _, k := range keys[:i] {
				c.Add(k, "val")
			}
			c.Finish(&o, icmp)
			n := c.props().IndexSize
			if n <= last {
				t.Fatalf("%d keys: index size %d after %d", i, n, last)
			}
			last = n
			c.Close()
		}
	})
}

func TestBlockBasedTableTest_NumBlockStat(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		rnd := util.NewRandom(uint32(rand.Int31()))
		bbto.BlockRestartInterval, bbto.BlockSize = 1, 1000
		o := optionsFor(&bbto)
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		for range 10 {
			c.Add(rnd.RandomString(900), "val")
		}
		c.Finish(&o, icmp)
		checkEq(t, "blocks", c.props().NumDataBlocks, 10)
	})
}

func TestBlockBasedTableTest_InvalidOptions(t *testing.T) {
	for v, want := range map[int]int{-10: 0, -1: 0, 0: 0, 1: 1, 99: 99, 100: 100, 101: 0, 1000: 0} {
		o := rocksdb.DefaultBlockBasedTableOptions()
		o.BlockSizeDeviation = v
		checkEq(t, "deviation", blockbased.NewBlockBasedTableFactory(&o).Options().BlockSizeDeviation, want)
	}
	for v, want := range map[int]int{-10: 1, -1: 1, 0: 1, 1: 1, 2: 2, 1000: 1000} {
		o := rocksdb.DefaultBlockBasedTableOptions()
		o.BlockRestartInterval = v
		checkEq(t, "interval", blockbased.NewBlockBasedTableFactory(&o).Options().BlockRestartInterval, want)
	}
}

// writeCounted writes keys 00001 to 10000, block-aligned.
func writeCounted(t *testing.T, bbto *rocksdb.BlockBasedTableOptions) (*tableConstructor, rocksdb.Options) {
	bbto.BlockAlign = true
	o := optionsFor(bbto)
	fatalIf(t, o.TableFactory.(*blockbased.BlockBasedTableFactory).ValidateOptions(&o.DBOptions, &o.ColumnFamilyOptions))
	c := newTableConstructor(t, util.BytewiseComparator(), false)
	for i := 1; i <= 10000; i++ {
		c.Add(string(ikeyOf(fmt.Sprintf("%05d", i), 0)), "val")
	}
	c.Finish(&o, icmp)
	return c, o
}

func TestBlockBasedTableTest_BlockAlignTest(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c, o := writeCounted(t, &bbto)
		defer c.Close()
		r, err := openReader(c.name, &o)
		fatalIf(t, err)
		io, ro := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), rocksdb.DefaultReadOptions()
		p, err := table.ReadTableProperties(r, c.size, format.BlockBasedTableMagicNumber, &io, &ro, nil)
		fatalIf(t, err)
		fatalIf(t, r.Close())
		checkEq(t, "block size", p.DataSize/p.NumDataBlocks, 4096)
		checkEq(t, "data size", p.DataSize, 4096*p.NumDataBlocks)
		// The reader need not know.
		bbto.BlockAlign = false
		o2 := optionsFor(&bbto)
		fatalIf(t, c.Reopen(&o2))
		it := c.iterator(nil, nil)
		defer it.Close()
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			n++
			checkEq(t, "key", string(it.UserKey()), fmt.Sprintf("%05d", n))
			checkEq(t, "value", string(it.Value()), "val")
		}
		fatalIf(t, it.Status())
		checkEq(t, "entries", n, 10000)
	})
}

func TestBlockBasedTableTest_PropertiesBlockRestartPointTest(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c, o := writeCounted(t, &bbto)
		defer c.Close()
		perf := new(rocksdb.PerfContext)
		m := newMetaReader(t, c, &o)
		m.ReadOptions.PerfContext, m.ReadOptions.VerifyChecksums = perf, false
		meta, footer, err := m.ReadMetaIndexBlock(format.BlockBasedTableMagicNumber)
		fatalIf(t, err)
		checkEq(t, "metadata bytes", perf.MetadataBlockReadByte, perf.BlockReadByte)
		it := meta.NewMetaIterator(false)
		h, err := table.FindOptionalMetaBlock(it, table.PropertiesBlockName)
		fatalIf(t, err)
		*perf = rocksdb.PerfContext{}
		f := table.GetBlockFetcher()
		defer table.PutBlockFetcher(f)
		f.File, f.Footer, f.ReadOptions, f.IOptions, f.Handle, f.BlockType = m.File, &footer, m.ReadOptions, m.IOptions, h, block.TypeProperties
		contents, err := f.ReadBlockContents()
		fatalIf(t, err)
		if perf.MetadataBlockReadByte == 0 {
			t.Fatal("read not counted")
		}
		checkEq(t, "metadata bytes", perf.MetadataBlockReadByte, perf.BlockReadByte)
		checkEq(t, "restarts", block.NewBlock(contents, 0, nil).NumRestarts(), 1)
	})
}

func newMetaReader(t *testing.T, c *tableConstructor, o *rocksdb.Options) *table.MetaReader {
	r, err := openReader(c.name, o)
	fatalIf(t, err)
	t.Cleanup(func() { r.Close() })
	io, ro := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), rocksdb.DefaultReadOptions()
	return &table.MetaReader{File: r, FileSize: c.size, ReadOptions: &ro, IOptions: &io}
}

func TestBlockBasedTableTest_PropertiesMetaBlockLast(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		addNine(c, "")
		bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(8)
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		meta, footer, err := newMetaReader(t, c, &o).ReadMetaIndexBlock(format.BlockBasedTableMagicNumber)
		fatalIf(t, err)
		var last format.BlockHandle
		name := ""
		it := meta.NewMetaIterator(false)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			var h format.BlockHandle
			_, err := h.DecodeFrom(it.Value())
			fatalIf(t, err)
			if h.Offset > last.Offset {
				last, name = h, string(it.Key())
			}
		}
		fatalIf(t, it.Status())
		checkEq(t, "last", name, table.PropertiesBlockName)
		if format.FormatVersionUsesIndexHandleInFooter(footer.FormatVersion) {
			checkEq(t, "index before", footer.IndexHandle.Offset < last.Offset, true)
		} else {
			checkEq(t, "no index", footer.IndexHandle.IsNull(), true)
		}
	})
}

func TestBlockBasedTableTest_SeekMetaBlocks(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		addNine(c, "foo_")
		bbto.IndexType, bbto.FilterPolicy = rocksdb.HashSearch, blockbased.NewBloomFilterPolicy(8)
		o := optionsFor(&bbto)
		o.PrefixExtractor = util.NewFixedPrefixTransform(4)
		c.Finish(&o, icmp)
		meta, _, err := newMetaReader(t, c, &o).ReadMetaIndexBlock(format.BlockBasedTableMagicNumber)
		fatalIf(t, err)
		it := meta.NewMetaIterator(false)
		var names []string
		for it.SeekToFirst(); it.Valid(); it.Next() {
			names = append(names, string(it.Key()))
		}
		for _, name := range names {
			it.Seek([]byte(name))
			checkEq(t, name, it.Valid() && string(it.Key()) == name, true)
		}
		for _, name := range []string{blockbased.HashIndexPrefixesBlock, blockbased.HashIndexPrefixesMetadataBlock} {
			checkEq(t, name, slices.Contains(names, name), true)
		}
	})
}

// compressible gives n bytes that compress to that fraction.
func compressible(rnd *util.Random, fraction float64, n int) string {
	raw := rnd.RandomBinaryString(max(1, int(float64(n)*fraction)))
	return strings.Repeat(raw, n/len(raw)+1)[:n]
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got < want-tolerance || got > want+tolerance {
		t.Errorf("%s: got %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestBlockBasedTableTest_CompressionRatioThreshold(t *testing.T) {
	allParams(t, true, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		for _, ct := range []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZlibCompression,
			rocksdb.LZ4Compression, rocksdb.LZ4HCCompression, rocksdb.ZSTD} {
			if !compression.CompressionTypeSupported(ct) {
				t.Errorf("compression %d is not supported", ct)
				continue
			}
			rnd := util.NewRandom(301)
			const n, overhead = 10000, 1000
			for _, threshold := range []int{0, 1, 100, 400, 600, 900, 1024} {
				o := optionsFor(&bbto)
				o.Compression = ct
				o.CompressionOpts.MaxCompressedBytesPerKB = threshold
				for _, to := range []float64{0.25, 0.75} {
					c := newTableConstructor(t, util.BytewiseComparator(), true)
					c.Add("x", compressible(rnd, to, n))
					c.Finish(&o, icmp)
					what := fmt.Sprintf("type %d, threshold %d, to %v", ct, threshold, to)
					if to < float64(threshold)/1024 {
						within(t, what, float64(c.size), n*to+overhead, n/8)
					} else {
						within(t, what, float64(c.size), n+overhead, n/10)
					}
					c.Close()
				}
			}
		}
	})
}

func TestBlockBasedTableTest_OutOfBoundOnSeek(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		c.Add("foo", "v1")
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		ro := rocksdb.DefaultReadOptions()
		ro.IterateUpperBound = []byte("bar")
		for _, seek := range []func(internaliter.InternalIterator){
			func(it internaliter.InternalIterator) { it.SeekToFirst() },
			func(it internaliter.InternalIterator) { it.Seek(maxIkey("foo")) },
		} {
			it := c.iterator(&ro, nil)
			seek(it)
			checkEq(t, "valid", it.Valid(), false)
			fatalIf(t, it.Status())
			checkEq(t, "bound", it.UpperBoundCheckResult(), internaliter.OutOfBound)
			it.Close()
		}
	})
}

func TestBlockBasedTableTest_OutOfBoundOnNext(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		c.Add("bar", "v")
		c.Add("foo", "v")
		bbto.FlushBlockPolicyFactory = blockbased.FlushBlockEveryKeyPolicyFactory{}
		o := optionsFor(&bbto)
		c.Finish(&o, icmp)
		for _, k := range []string{"bar", "foo"} {
			ro := rocksdb.DefaultReadOptions()
			ro.IterateUpperBound = []byte(k + "_after")
			it := c.iterator(&ro, nil)
			it.Seek(maxIkey(k))
			wantAt(t, it, k)
			it.Next()
			checkEq(t, "valid", it.Valid(), false)
			// After the last block it cannot know.
			checkEq(t, "bound", it.UpperBoundCheckResult() == internaliter.OutOfBound, k == "bar")
			it.Close()
		}
	})
}

func TestBlockBasedTableTest_SingleLargeEntry(t *testing.T) {
	allParams(t, false, func(t *testing.T, bbto rocksdb.BlockBasedTableOptions) {
		bbto.BlockSize = 1024
		o := optionsFor(&bbto)
		c := newTableConstructor(t, util.BytewiseComparator(), true)
		defer c.Close()
		value := strings.Repeat("x", 4096)
		c.Add("key1", value)
		c.Finish(&o, icmp)
		it := c.iterator(nil, nil)
		defer it.Close()
		it.SeekToFirst()
		wantAt(t, it, "key1")
		checkEq(t, "value", string(it.Value()), value)
		it.Next()
		fatalIf(t, it.Status())
		checkEq(t, "valid", it.Valid(), false)
	})
}
