// Port of table/block_based/block_based_table_reader_test.cc. Differs: a choice of
// the combinations of parameters; multi-scans are in
// block_based_table_reader_scan_test.go.

package blockbased_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	readerBytesPerEntry   = 256
	readerEntriesPerBlock = 16
)

// readerEntries fill so many blocks. Values of every other block are easy to
// compress where mixed is set. With sameKey there is one user key, of falling
// timestamps and sequence numbers.
func readerEntries(blocks int, mixed bool, tsSize int, sameKey bool) (out []entry) {
	seq, ts := uint64(0), uint64(0)
	if sameKey {
		seq = uint64(readerEntriesPerBlock*blocks + 100)
		ts = seq
	}
	rnd := util.NewRandom(101)
	n := readerBytesPerEntry - (8 + tsSize + dbformat.NumInternalBytes)
	key := 0
	for b := range blocks {
		for range readerEntriesPerBlock {
			v := ""
			if mixed && b%2 == 1 {
				v = rnd.HumanReadableString(n)
			} else {
				v = rnd.RandomString(n)
			}
			user := fmt.Sprintf("%08d", key)
			if tsSize > 0 {
				user = string(util.AppendFixed64([]byte(user), ts))
			}
			out = append(out, entry{ikey(user, seq, dbformat.TypeValue), []byte(v)})
			if sameKey {
				seq--
				if tsSize > 0 {
					ts--
				}
			} else {
				key++
			}
		}
	}
	return out
}

type readerParam struct {
	compression rocksdb.CompressionType
	direct      bool
	index       rocksdb.IndexType
	udt         string
	threads     uint32
	dict        uint32
	sameKey     bool
	superBlock  uint64
}

func (p *readerParam) spec() *tableSpec {
	s := newSpec()
	s.bbto = rocksdb.DefaultBlockBasedTableOptions()
	s.bbto.IndexType = p.index
	s.bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
	s.bbto.PartitionFilters = p.index == rocksdb.TwoLevelIndexSearch
	s.bbto.MetadataCacheOptions.PartitionPinning = rocksdb.PinningTierAll
	s.bbto.SuperBlockAlignmentSize = p.superBlock
	s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(32 << 20)
	s.cf.PrefixExtractor = util.NewFixedPrefixTransform(3)
	s.compression, s.copts.ParallelThreads = p.compression, p.threads
	s.copts.MaxDictBytes, s.copts.MaxDictBufferBytes = p.dict, uint64(p.dict)
	if p.udt != "none" {
		s.icmp = internalComparator(".u64ts")
		s.cf.PersistUserDefinedTimestamps = p.udt == "persisted"
	}
	s.reader = func(o *table.TableReaderOptions) {
		o.UserDefinedTimestampsPersisted = p.udt != "stripped"
		o.FileOptions.UseDirectReads = p.direct
	}
	return s
}

func forReaderParams(t *testing.T, sameKey bool, test func(t *testing.T, p *readerParam)) {
	n := 0
	for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.ZlibCompression,
		rocksdb.LZ4Compression, rocksdb.LZ4HCCompression, rocksdb.ZSTD} {
		for _, index := range []rocksdb.IndexType{rocksdb.BinarySearch, rocksdb.HashSearch, rocksdb.TwoLevelIndexSearch, rocksdb.BinarySearchWithFirstKey} {
			for _, udt := range []string{"none", "persisted", "stripped"} {
				for _, super := range []uint64{0, 32 << 10} {
					n++
					p := &readerParam{c, n%3 == 0, index, udt, 1 + uint32(n%2), uint32(n/2%2) * 4096, sameKey && n%2 == 0 && udt != "stripped", super}
					t.Run(fmt.Sprintf("%d/%d/%s/%d/%d/%v/%v/%d", c, index, udt, p.threads, p.dict, p.direct, p.sameKey, super), func(t *testing.T) { test(t, p) })
				}
			}
		}
	}
}

// make writes the table and opens it.
func (p *readerParam) make(t *testing.T, s *tableSpec, entries []entry) (*blockbased.BlockBasedTable, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "000007.sst")
	s.write(t, name, entries, nil)
	return p.reopen(t, s, name), name
}

func (p *readerParam) reopen(t *testing.T, s *tableSpec, name string) *blockbased.BlockBasedTable {
	t.Helper()
	tr := s.open(t, name)
	t.Cleanup(func() {
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	})
	ro := rocksdb.DefaultReadOptions()
	if err := tr.VerifyChecksum(&ro, rocksdb.CallerUserVerifyChecksum, false); err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestBlockBasedTableReaderGetTest_Get(t *testing.T) {
	forReaderParams(t, true, func(t *testing.T, p *readerParam) {
		s := p.spec()
		tsSize := s.icmp.TimestampSize()
		entries := readerEntries(20, true, tsSize, p.sameKey)
		tr, _ := p.make(t, s, entries)
		ro := rocksdb.DefaultReadOptions()
		var l lookup
		defer l.v.Release()
		for i, e := range entries {
			// The first entry read brings the whole block.
			if in := tr.KeyInCache(&ro, e.key); in != (i%readerEntriesPerBlock != 0) {
				t.Fatalf("entry %d: in cache %v", i, in)
			}
			l.init(s.icmp, dbformat.ExtractUserKey(e.key))
			if err := tr.Get(&ro, e.key, &l.gc, nil, false); err != nil || !bytes.Equal(l.v.Data(), e.value) {
				t.Fatalf("entry %d: %v", i, err)
			}
			if !tr.KeyInCache(&ro, e.key) {
				t.Fatalf("entry %d: not in cache", i)
			}
		}
	})
}

// multiGet looks up every step-th entry by one MultiGet.
func multiGet(s *tableSpec, tr table.TableReader, ro *rocksdb.ReadOptions, entries []entry) (picked []entry, values []rocksdb.PinnableSlice, errs []error) {
	step := max(len(entries)/table.MaxBatchSize, 1)
	for i := 0; i < len(entries) && len(picked) < table.MaxBatchSize; i += step {
		picked = append(picked, entries[i])
	}
	values, errs = make([]rocksdb.PinnableSlice, len(picked)), make([]error, len(picked))
	gcs := make([]table.GetContext, len(picked))
	keys := make([]*table.KeyContext, len(picked))
	mcs := make([]dbformat.MergeContext, len(picked))
	seqs := make([]rocksdb.SequenceNumber, len(picked))
	for i, e := range picked {
		gcs[i].Init(&table.GetContextParams{Comparator: s.icmp, UserKey: dbformat.ExtractUserKey(e.key), Value: &values[i],
			MergeContext: &mcs[i], DoMerge: true, MaxCoveringTombstoneSeq: &seqs[i]})
		keys[i] = &table.KeyContext{Key: dbformat.ExtractUserKeyAndStripTimestamp(e.key, s.icmp.TimestampSize()),
			GetContext: &gcs[i], Value: &values[i], Err: &errs[i]}
	}
	var ctx table.MultiGetContext
	ctx.Init(keys, 0, ro.Timestamp)
	r := ctx.GetMultiGetRange()
	tr.MultiGet(ro, &r, nil, false)
	return picked, values, errs
}

func TestBlockBasedTableReaderTest_MultiGet(t *testing.T) {
	forReaderParams(t, false, func(t *testing.T, p *readerParam) {
		s := p.spec()
		tsSize := s.icmp.TimestampSize()
		entries := readerEntries(64, true, tsSize, false)
		tr, _ := p.make(t, s, entries)
		perf := rocksdb.PerfContext{Level: rocksdb.EnableTime}
		ro := rocksdb.DefaultReadOptions()
		ro.PerfContext = &perf
		if tsSize > 0 {
			ro.Timestamp = make([]byte, 8)
		}
		step := len(entries) / table.MaxBatchSize
		for i := 0; i < len(entries); i += step {
			if tr.KeyInCache(&ro, entries[i].key) {
				t.Fatalf("entry %d is in the cache already", i)
			}
		}
		perf.Reset()
		picked, values, errs := multiGet(s, tr, &ro, entries)
		if perf.BlockReadCount-perf.IndexBlockReadCount-perf.FilterBlockReadCount-perf.CompressionDictBlockReadCount < 1 || perf.BlockReadByte < 1 {
			t.Errorf("%d blocks of %d bytes read", perf.BlockReadCount, perf.BlockReadByte)
		}
		for i := range picked {
			if errs[i] != nil || !bytes.Equal(values[i].Data(), picked[i].value) || !tr.KeyInCache(&ro, picked[i].key) {
				t.Errorf("key %d: %v", i, errs[i])
			}
			values[i].Release()
		}
	})
}

func TestBlockBasedTableReaderTest_NewIterator(t *testing.T) {
	forReaderParams(t, false, func(t *testing.T, p *readerParam) {
		s := p.spec()
		tsSize := s.icmp.TimestampSize()
		entries := readerEntries(20, true, tsSize, false)
		tr, _ := p.make(t, s, entries)
		ro := rocksdb.DefaultReadOptions()
		if tsSize > 0 {
			ro.Timestamp = make([]byte, 8)
		}
		it := tr.NewIterator(&ro, s.cf.PrefixExtractor, false, rocksdb.CallerUncategorized, 0, false)
		defer it.Close()
		if it.Valid() {
			t.Error("valid at once")
		}
		i := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if !bytes.Equal(it.Key(), entries[i].key) || !bytes.Equal(it.Value(), entries[i].value) {
				t.Fatalf("forward: entry %d", i)
			}
			i++
		}
		for it.SeekToLast(); it.Valid(); it.Prev() {
			i--
			if !bytes.Equal(it.Key(), entries[i].key) || !bytes.Equal(it.Value(), entries[i].value) {
				t.Fatalf("backward: entry %d", i)
			}
		}
		if i != 0 || it.Status() != nil {
			t.Errorf("%d left, %v", i, it.Status())
		}
	})
}

func isMemoryLimit(err error) bool {
	return errors.Is(err, &rocksdb.Status{Code: rocksdb.CodeAborted, SubCode: rocksdb.SubCodeMemoryLimit})
}

func TestChargeTableReaderTest_Basic(t *testing.T) {
	for _, charged := range []rocksdb.CacheEntryRoleDecision{rocksdb.CacheEntryRoleEnabled, rocksdb.CacheEntryRoleDisabled} {
		entries := readerEntries(2, false, 0, false)
		s := newSpec()
		s.bbto = rocksdb.DefaultBlockBasedTableOptions()
		lo := rocksdb.DefaultLRUCacheOptions(4 * cache.DummyEntrySize)
		lo.NumShardBits, lo.StrictCapacityLimit = 0, true
		c, err := cache.NewLRUCache(lo)
		if err != nil {
			t.Fatal(err)
		}
		s.bbto.BlockCache = c
		s.bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
		s.bbto.PartitionFilters, s.bbto.IndexType = true, rocksdb.TwoLevelIndexSearch
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, entries, nil)
		probe := s.open(t, name)
		mem := probe.ApproximateMemoryUsage()
		probe.Close()
		if mem <= 0 {
			t.Fatalf("%d bytes of memory", mem)
		}
		s.bbto.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{
			rocksdb.CacheEntryRoleBlockBasedTableReader: {Charged: charged},
		}
		factory := blockbased.NewBlockBasedTableFactory(&s.bbto) // all readers share its reservation
		maxReaders := func(capacity int) int {
			return (capacity/cache.DummyEntrySize - 1) * cache.DummyEntrySize / mem
		}
		capped := maxReaders(4 * cache.DummyEntrySize)
		uncapped := capped * 11 / 10
		var readers []table.TableReader
		open := func() error {
			tr, err := openWithFactory(t, factory, name, s.icmp, nil)
			if err == nil {
				readers = append(readers, tr)
			}
			return err
		}
		err = nil
		for err == nil && len(readers) < uncapped {
			err = open()
		}
		if charged != rocksdb.CacheEntryRoleEnabled {
			if err != nil || len(readers) != uncapped || c.GetPinnedUsage() != 0 {
				t.Errorf("%d readers of %d, %v, %d bytes pinned", len(readers), uncapped, err, c.GetPinnedUsage())
			}
		} else {
			if !isMemoryLimit(err) || !strings.Contains(err.Error(), "BlockBasedTableReader") ||
				!strings.Contains(err.Error(), "memory limit based on cache capacity") {
				t.Errorf("%v", err)
			}
			if len(readers) < capped*95/100 || len(readers) > capped*105/100 {
				t.Errorf("%d readers, not %d", len(readers), capped)
			}
			for len(readers) >= maxReaders(2*cache.DummyEntrySize) {
				readers[len(readers)-1].Close()
				readers = readers[:len(readers)-1]
			}
			if err := open(); err != nil {
				t.Error(err)
			}
		}
		for _, r := range readers {
			r.Close()
		}
		if n := c.GetPinnedUsage(); n != 0 {
			t.Errorf("%d bytes stay pinned", n)
		}
	}
}

func strictSpec(t *testing.T) *tableSpec {
	t.Helper()
	s := newSpec()
	s.bbto = rocksdb.DefaultBlockBasedTableOptions()
	lo := rocksdb.DefaultLRUCacheOptions(4 << 10)
	lo.NumShardBits, lo.StrictCapacityLimit = 0, true
	c, err := cache.NewLRUCache(lo)
	if err != nil {
		t.Fatal(err)
	}
	s.bbto.BlockCache = c
	s.bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10)
	s.bbto.PartitionFilters, s.bbto.IndexType = true, rocksdb.TwoLevelIndexSearch
	return s
}

func checkFull(t *testing.T, err error) {
	t.Helper()
	if !isMemoryLimit(err) || !strings.Contains(err.Error(), "Memory limit reached: Insert failed due to LRU cache being full") {
		t.Errorf("%v", err)
	}
}

func TestStrictCapacityLimitReaderTest_Get(t *testing.T) {
	s := strictSpec(t)
	entries := readerEntries(2, true, 0, false)
	p := &readerParam{}
	tr, _ := p.make(t, s, entries)
	ro := rocksdb.DefaultReadOptions()
	hit := false
	var l lookup
	for i, e := range entries {
		l.init(s.icmp, dbformat.ExtractUserKey(e.key))
		if err := tr.Get(&ro, e.key, &l.gc, nil, false); err != nil {
			checkFull(t, err)
			hit = true
		} else if !bytes.Equal(l.v.Data(), e.value) {
			t.Errorf("entry %d", i)
		}
	}
	l.v.Release()
	if !hit {
		t.Error("the limit was not met")
	}
}

func TestStrictCapacityLimitReaderTest_MultiGet(t *testing.T) {
	s := strictSpec(t)
	entries := readerEntries(2, true, 0, false)
	p := &readerParam{}
	tr, _ := p.make(t, s, entries)
	ro := rocksdb.DefaultReadOptions()
	picked, values, errs := multiGet(s, tr, &ro, entries)
	hit := false
	for i := range picked {
		if errs[i] != nil {
			checkFull(t, errs[i])
			hit = true
		} else if !bytes.Equal(values[i].Data(), picked[i].value) {
			t.Errorf("entry %d", i)
		}
		values[i].Release()
	}
	if !hit {
		t.Error("the limit was not met")
	}
}

func TestBlockBasedTableReaderTestVerifyChecksum_ChecksumMismatch(t *testing.T) {
	for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.LZ4Compression, rocksdb.ZSTD} {
		for _, udt := range []string{"none", "persisted", "stripped"} {
			p := &readerParam{compression: c, index: rocksdb.TwoLevelIndexSearch, udt: udt, threads: 1}
			s := p.spec()
			s.bbto.MetadataCacheOptions = rocksdb.MetadataCacheOptions{}
			s.db.Statistics = monitoring.CreateDBStatistics()
			entries := readerEntries(200, false, s.icmp.TimestampSize(), false)
			tr, name := p.make(t, s, entries)
			h := tr.FirstIndexPartition()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range min(128, h.Size) {
				data[h.Offset+i] ^= 0x80
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(8 << 20)
			o := s.bbto
			o.CacheIndexAndFilterBlocks = false
			tr2, err := openFile(t, name, &o, s.icmp, func(ro *table.TableReaderOptions) {
				io := options.NewImmutableOptions(&s.db, &s.cf)
				ro.IOptions, ro.PrefixExtractor = &io, s.cf.PrefixExtractor
				ro.UserDefinedTimestampsPersisted = udt != "stripped"
			})
			if err != nil {
				// A partition that is read at opening is looked at there.
				if !rocksdb.IsCorruption(err) {
					t.Error(err)
				}
				continue
			}
			before := s.db.Statistics.GetTickerCount(rocksdb.BlockChecksumMismatchCount)
			ro := rocksdb.DefaultReadOptions()
			err = tr2.VerifyChecksum(&ro, rocksdb.CallerUserVerifyChecksum, false)
			if n := s.db.Statistics.GetTickerCount(rocksdb.BlockChecksumMismatchCount) - before; n != 1 || before != 0 || !rocksdb.IsCorruption(err) {
				t.Errorf("%d, then %d mismatches, %v", before, n, err)
			}
			tr2.Close()
		}
	}
}

// prefetchFS may deny that it can read ahead.
type prefetchFS struct {
	rocksdb.FileSystemWrapper
	prefetch bool
}

func (f *prefetchFS) SupportedOps() int64 {
	ops := f.FileSystemWrapper.SupportedOps()
	if !f.prefetch {
		ops &^= 1 << rocksdb.FSPrefetch
	}
	return ops
}

func TestBlockBasedTableReaderTest_FSPrefetchSupportInitializedCorrectly(t *testing.T) {
	for _, udt := range []string{"none", "persisted", "stripped"} {
		p := &readerParam{udt: udt, index: rocksdb.BinarySearch, threads: 1}
		s := p.spec()
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, readerEntries(5, true, s.icmp.TimestampSize(), false), nil)
		for _, prefetch := range []bool{true, false} {
			fs := &prefetchFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}, prefetch}
			s.db.Env = env.NewCompositeEnvWrapper(env.Default(), fs, rocksdb.DefaultSystemClock())
			tr := s.open(t, name)
			if tr.FSPrefetch() != prefetch || rocksdb.CheckFSFeatureSupport(fs, rocksdb.FSPrefetch) != prefetch {
				t.Errorf("%v: %v", prefetch, tr.FSPrefetch())
			}
			tr.Close()
		}
	}
}
