// No upstream twin.
// Tables of all forms, written and read back.

package blockbased_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// tableSpec says how a test's table is made.
type tableSpec struct {
	bbto        rocksdb.BlockBasedTableOptions
	cf          rocksdb.ColumnFamilyOptions
	db          rocksdb.DBOptions
	icmp        *dbformat.InternalKeyComparator
	compression rocksdb.CompressionType
	copts       rocksdb.CompressionOptions
	builder     func(*table.TableBuilderOptions)
	reader      func(*table.TableReaderOptions)
}

func newSpec() *tableSpec {
	s := &tableSpec{bbto: rocksdb.DefaultBlockBasedTableOptions(), cf: rocksdb.DefaultColumnFamilyOptions(),
		db: rocksdb.DefaultDBOptions(), icmp: internalComparator(""), copts: rocksdb.DefaultCompressionOptions()}
	s.bbto.BlockSize = 1024
	s.bbto.MetadataBlockSize = 256
	return s
}

// write makes the file name of entries, tombstones last.
func (s *tableSpec) write(t testing.TB, name string, entries, tombstones []entry) *blockbased.BlockBasedTableBuilder {
	t.Helper()
	s.cf.Comparator = s.icmp.UserComparator()
	io, mo := options.NewImmutableOptions(&s.db, &s.cf), options.NewMutableCFOptions(&s.cf)
	ro, wo := rocksdb.DefaultReadOptions(), rocksdb.DefaultWriteOptions()
	o := table.DefaultTableBuilderOptions(&io, &mo, s.icmp)
	o.ReadOptions, o.WriteOptions = &ro, &wo
	o.CompressionType, o.CompressionOpts = s.compression, s.copts
	o.DBID, o.DBSessionID, o.CurFileNum = "an id", "ABCDEFGHIJKLMNOPQRST", 7
	if s.builder != nil {
		s.builder(&o)
	}
	fo := rocksdb.DefaultFileOptions()
	wf, err := env.DefaultFileSystem().NewWritableFile(name, &fo)
	if err != nil {
		t.Fatal(err)
	}
	w := file.NewWritableFileWriter(wf, name, &fo, nil)
	tb, err := blockbased.NewBlockBasedTableFactory(&s.bbto).NewTableBuilder(&o, w)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := tb.Add(e.key, e.value); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range tombstones {
		if err := tb.Add(e.key, e.value); err != nil {
			t.Fatal(err)
		}
	}
	if err := tb.Finish(); err != nil {
		t.Fatal(err)
	}
	ioo := rocksdb.DefaultIOOptions()
	if err := w.Close(&ioo); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(name)
	if err != nil || uint64(st.Size()) != tb.FileSize() {
		t.Fatalf("file of %d bytes, not %d (%v)", st.Size(), tb.FileSize(), err)
	}
	return tb.(*blockbased.BlockBasedTableBuilder)
}

func (s *tableSpec) open(t testing.TB, name string) *blockbased.BlockBasedTable {
	t.Helper()
	tr, err := openFile(t, name, &s.bbto, s.icmp, func(o *table.TableReaderOptions) {
		io := options.NewImmutableOptions(&s.db, &s.cf)
		o.IOptions = &io
		o.PrefixExtractor = s.cf.PrefixExtractor
		o.CurDBSessionID, o.CurFileNum = "ABCDEFGHIJKLMNOPQRST", 7
		if s.reader != nil {
			s.reader(o)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func ikey(user string, seq uint64, vt dbformat.ValueType) []byte {
	return dbformat.AppendInternalKey(nil, []byte(user), rocksdb.SequenceNumber(seq), vt)
}

// randomEntries gives n entries, some of one user key, of all kinds.
func randomEntries(rnd *rand.Rand, n int, icmp *dbformat.InternalKeyComparator) []entry {
	var out []entry
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
	seq := uint64(1)
	for len(out) < n {
		var b strings.Builder
		fmt.Fprintf(&b, "%04x", rnd.IntN(n))
		for range rnd.IntN(4) {
			b.WriteString(words[rnd.IntN(len(words))])
		}
		key := b.String()
		for range 1 + rnd.IntN(2)*rnd.IntN(4) {
			vt, value := dbformat.TypeValue, []byte{}
			switch rnd.IntN(10) {
			case 0:
				vt = dbformat.TypeDeletion
			case 1:
				vt = dbformat.TypeMerge
			}
			if vt != dbformat.TypeDeletion {
				for range rnd.IntN(12) {
					value = append(value, words[rnd.IntN(len(words))]...)
					value = util.AppendFixed32(value, rnd.Uint32())
				}
			}
			out = append(out, entry{ikey(key, seq, vt), value})
			seq++
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return icmp.Compare(a.key, b.key) })
	return out
}

// expected is what a Get of user at seq gives.
func expected(entries []entry, user []byte, seq rocksdb.SequenceNumber, icmp *dbformat.InternalKeyComparator) (table.GetState, []byte) {
	target := dbformat.AppendInternalKey(nil, user, seq, dbformat.ValueTypeForSeek)
	i := sort.Search(len(entries), func(i int) bool { return icmp.Compare(entries[i].key, target) >= 0 })
	var operands [][]byte
	for ; i < len(entries); i++ {
		e := entries[i]
		if !bytes.Equal(dbformat.ExtractUserKey(e.key), user) {
			break
		}
		vt := dbformat.ExtractValueType(e.key)
		if vt == dbformat.TypeMerge {
			operands = append(operands, e.value)
			continue
		}
		var v []byte
		if vt == dbformat.TypeValue {
			v = bytes.Clone(e.value)
		} else if len(operands) == 0 {
			return table.GetDeleted, nil
		}
		for _, o := range slices.Backward(operands) {
			v = append(append(v, ','), o...)
		}
		return table.GetFound, v
	}
	if len(operands) > 0 {
		return table.GetMerge, nil
	}
	return table.GetNotFound, nil
}

type lookup struct {
	gc  table.GetContext
	v   rocksdb.PinnableSlice
	mc  dbformat.MergeContext
	seq rocksdb.SequenceNumber
}

func (l *lookup) init(icmp *dbformat.InternalKeyComparator, user []byte) {
	l.v.Release()
	l.mc.Clear()
	l.seq = 0
	l.gc.Init(&table.GetContextParams{Comparator: icmp, UserKey: user, Value: &l.v, MergeContext: &l.mc, DoMerge: true,
		MaxCoveringTombstoneSeq: &l.seq, MergeOperator: concatOperator{}})
}

func checkLookups(t testing.TB, s *tableSpec, tr table.TableReader, entries []entry, rnd *rand.Rand) {
	t.Helper()
	ro := rocksdb.DefaultReadOptions()
	var l lookup
	check := func(user []byte, seq rocksdb.SequenceNumber) {
		l.init(s.icmp, user)
		key := dbformat.AppendInternalKey(nil, user, seq, dbformat.ValueTypeForSeek)
		if err := tr.Get(&ro, key, &l.gc, s.cf.PrefixExtractor, false); err != nil {
			t.Fatalf("Get %q@%d: %v", user, seq, err)
		}
		state, v := expected(entries, user, seq, s.icmp)
		if l.gc.State() != state || state == table.GetFound && !bytes.Equal(l.v.Data(), v) {
			t.Fatalf("Get %q@%d: state %v, not %v; %q, not %q", user, seq, l.gc.State(), state, l.v.Data(), v)
		}
	}
	for i := range entries {
		p, _ := dbformat.ParseInternalKey(entries[i].key, true)
		check(p.UserKey, p.Sequence)
		check(p.UserKey, dbformat.MaxSequenceNumber)
		if i%7 == 0 {
			absent := append(bytes.Clone(p.UserKey), 'x')
			check(absent, dbformat.MaxSequenceNumber)
			check(p.UserKey[:len(p.UserKey)-1], dbformat.MaxSequenceNumber)
		}
	}
	check([]byte("0"), 100)
	check([]byte("zzzzzz"), 100)

	// The same in batches.
	for range 20 {
		picked := map[string]bool{}
		for range 1 + rnd.IntN(30) {
			u := string(dbformat.ExtractUserKey(entries[rnd.IntN(len(entries))].key))
			if rnd.IntN(4) == 0 {
				u += "!"
			}
			picked[u] = true
		}
		users := make([]string, 0, len(picked))
		for u := range picked {
			users = append(users, u)
		}
		sort.Strings(users)
		ls := make([]lookup, len(users))
		keys := make([]*table.KeyContext, len(users))
		errs := make([]error, len(users))
		for i, u := range users {
			ls[i].init(s.icmp, []byte(u))
			keys[i] = &table.KeyContext{Key: []byte(u), GetContext: &ls[i].gc, Err: &errs[i]}
		}
		var ctx table.MultiGetContext
		ctx.Init(keys, dbformat.MaxSequenceNumber, nil)
		r := ctx.GetMultiGetRange()
		tr.MultiGet(&ro, &r, s.cf.PrefixExtractor, false)
		for i, u := range users {
			state, v := expected(entries, []byte(u), dbformat.MaxSequenceNumber, s.icmp)
			if errs[i] != nil || ls[i].gc.State() != state || state == table.GetFound && !bytes.Equal(ls[i].v.Data(), v) {
				t.Fatalf("MultiGet %q: %v, state %v, not %v; %q, not %q", u, errs[i], ls[i].gc.State(), state, ls[i].v.Data(), v)
			}
			ls[i].v.Release()
		}
	}
	l.v.Release()
}

// checkBounds walks random ranges.
func checkBounds(t testing.TB, s *tableSpec, tr table.TableReader, entries []entry, rnd *rand.Rand) {
	t.Helper()
	user := func(i int) []byte { return dbformat.ExtractUserKey(entries[i].key) }
	uc := s.icmp.UserComparator()
	for range 20 {
		i, j := rnd.IntN(len(entries)), rnd.IntN(len(entries))
		if i > j {
			i, j = j, i
		}
		ro := rocksdb.DefaultReadOptions()
		ro.TotalOrderSeek = true
		ro.IterateLowerBound, ro.IterateUpperBound = user(i), user(j)
		ro.AutoReadaheadSize = rnd.IntN(2) == 0
		lo := sort.Search(len(entries), func(k int) bool { return uc.Compare(user(k), user(i)) >= 0 })
		hi := sort.Search(len(entries), func(k int) bool { return uc.Compare(user(k), user(j)) >= 0 })
		it := tr.NewIterator(&ro, s.cf.PrefixExtractor, false, rocksdb.CallerUserIterator, 0, true)
		k := lo
		for it.Seek(entries[lo].key); it.Valid() && it.UpperBoundCheckResult() != internaliter.OutOfBound; it.Next() {
			if uc.Compare(dbformat.ExtractUserKey(it.Key()), user(j)) >= 0 {
				break
			}
			if !it.PrepareValue() || !bytes.Equal(it.Key(), entries[k].key) || !bytes.Equal(it.Value(), entries[k].value) {
				t.Fatalf("bounds: not entry %d (%v)", k, it.Status())
			}
			k++
		}
		if k != hi || it.Status() != nil {
			t.Fatalf("bounds: ended at %d, not %d (%v)", k, hi, it.Status())
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func checkEstimates(t testing.TB, tr table.TableReader, entries []entry, dataSize uint64) {
	t.Helper()
	ro := rocksdb.DefaultReadOptions()
	last := uint64(0)
	for i := 0; i < len(entries); i += 17 {
		off := tr.ApproximateOffsetOf(&ro, entries[i].key, rocksdb.CallerUncategorized)
		if off < last {
			t.Fatalf("offset %d after %d", off, last)
		}
		last = off
	}
	if last < dataSize*3/4 {
		t.Errorf("last offset %d of %d", last, dataSize)
	}
	whole := tr.ApproximateSize(&ro, entries[0].key, ikey("zzzzz", 1, dbformat.TypeValue), rocksdb.CallerUncategorized)
	if whole < dataSize*9/10 {
		t.Errorf("whole size %d of %d", whole, dataSize)
	}
	if err := tr.Prefetch(&ro, dbformat.ExtractUserKey(entries[3].key), dbformat.ExtractUserKey(entries[len(entries)/2].key)); err != nil {
		t.Error(err)
	}
	anchors, err := tr.ApproximateKeyAnchors(&ro)
	if err != nil || len(anchors) == 0 {
		t.Errorf("%d anchors, %v", len(anchors), err)
	}
	if !slices.IsSortedFunc(anchors, func(a, b table.Anchor) int { return cmp.Compare(string(a.UserKey), string(b.UserKey)) }) {
		t.Error("anchors out of order")
	}
}

// sstDump checks the file with the C++ tool that ROCKSDB_SST_DUMP names.
func sstDump(t testing.TB, name string, entries []entry) {
	tool := os.Getenv("ROCKSDB_SST_DUMP")
	if tool == "" {
		return
	}
	out, err := exec.Command(tool, "--file="+name, "--command=scan", "--output_hex", "--verify_checksum").CombinedOutput()
	if err != nil {
		t.Fatalf("sst_dump: %v\n%s", err, out)
	}
	var want, got strings.Builder
	for _, e := range entries {
		want.WriteString(dumpLine(e.key, e.value, false))
	}
	for _, l := range strings.SplitAfter(string(out), "\n") {
		if strings.HasPrefix(l, "'") {
			got.WriteString(l)
		} else if l != "" && !strings.HasPrefix(l, "options.env") && !strings.HasPrefix(l, "Process") &&
			!strings.HasPrefix(l, "Sst file format") && !strings.HasPrefix(l, "from [") {
			t.Errorf("sst_dump: %s", l)
		}
	}
	if want.String() != got.String() {
		t.Errorf("sst_dump printed something else: %.300s", out)
	}
	if out, err := exec.Command(tool, "--file="+name, "--command=verify").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("The file is ok")) {
		t.Errorf("sst_dump verify: %v\n%s", err, out)
	}
}

type variant struct {
	name  string
	apply func(*tableSpec)
}

func variants() []variant {
	bloom := func(s *tableSpec) { s.bbto.FilterPolicy = blockbased.NewBloomFilterPolicy(10) }
	vs := []variant{
		{"default", func(*tableSpec) {}},
		{"bloom", bloom},
		{"ribbon", func(s *tableSpec) { s.bbto.FilterPolicy = blockbased.NewRibbonFilterPolicy(10, 0) }},
		{"prefix", func(s *tableSpec) { bloom(s); s.cf.PrefixExtractor = util.NewFixedPrefixTransform(4) }},
		{"prefix_only", func(s *tableSpec) {
			bloom(s)
			s.bbto.WholeKeyFiltering = false
			s.cf.PrefixExtractor = util.NewFixedPrefixTransform(4)
		}},
		{"index_partitioned", func(s *tableSpec) { s.bbto.IndexType = rocksdb.TwoLevelIndexSearch }},
		{"partitioned_filter", func(s *tableSpec) {
			bloom(s)
			s.bbto.IndexType, s.bbto.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
		}},
		{"partitioned_filter_coupled", func(s *tableSpec) {
			bloom(s)
			s.bbto.IndexType, s.bbto.PartitionFilters, s.bbto.DecouplePartitionedFilters = rocksdb.TwoLevelIndexSearch, true, false
			s.cf.PrefixExtractor = util.NewFixedPrefixTransform(4)
		}},
		{"index_hash", func(s *tableSpec) {
			s.bbto.IndexType, s.cf.PrefixExtractor = rocksdb.HashSearch, util.NewFixedPrefixTransform(4)
		}},
		{"index_first_key", func(s *tableSpec) { s.bbto.IndexType = rocksdb.BinarySearchWithFirstKey }},
		{"data_hash", func(s *tableSpec) { s.bbto.DataBlockIndexType = rocksdb.DataBlockBinaryAndHash }},
		{"interpolation", func(s *tableSpec) { s.bbto.IndexBlockSearchType = rocksdb.BlockSearchInterpolation }},
		{"auto_search", func(s *tableSpec) {
			s.bbto.IndexBlockSearchType, s.bbto.UniformCVThreshold = rocksdb.BlockSearchAuto, 0.5
		}},
		{"no_delta", func(s *tableSpec) { s.bbto.UseDeltaEncoding = false }},
		{"restart_1", func(s *tableSpec) { s.bbto.BlockRestartInterval, s.bbto.IndexBlockRestartInterval = 1, 8 }},
		{"block_align", func(s *tableSpec) { s.bbto.BlockAlign = true }},
		{"super_block", func(s *tableSpec) {
			s.bbto.SuperBlockAlignmentSize, s.bbto.SuperBlockAlignmentSpaceOverheadRatio = 16384, 4
		}},
		{"no_shortening", func(s *tableSpec) { s.bbto.IndexShortening = rocksdb.NoShortening }},
		{"shorten_last", func(s *tableSpec) { s.bbto.IndexShortening = rocksdb.ShortenSeparatorsAndSuccessor }},
		{"cached_meta", func(s *tableSpec) {
			bloom(s)
			s.bbto.CacheIndexAndFilterBlocks = true
		}},
		{"cached_meta_partitioned", func(s *tableSpec) {
			bloom(s)
			s.bbto.CacheIndexAndFilterBlocks, s.bbto.PartitionFilters = true, true
			s.bbto.IndexType = rocksdb.TwoLevelIndexSearch
			s.bbto.PinTopLevelIndexAndFilter = true
		}},
		{"pinned_all", func(s *tableSpec) {
			bloom(s)
			s.bbto.CacheIndexAndFilterBlocks, s.bbto.PartitionFilters = true, true
			s.bbto.IndexType = rocksdb.TwoLevelIndexSearch
			s.bbto.MetadataCacheOptions = rocksdb.MetadataCacheOptions{TopLevelIndexPinning: rocksdb.PinningTierAll,
				PartitionPinning: rocksdb.PinningTierAll, UnpartitionedPinning: rocksdb.PinningTierAll}
		}},
		{"no_cache", func(s *tableSpec) { s.bbto.NoBlockCache = true; bloom(s) }},
		{"tiny_cache", func(s *tableSpec) { s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(4096); bloom(s) }},
		{"hyper_clock", func(s *tableSpec) {
			o := rocksdb.DefaultHyperClockCacheOptions(1 << 20)
			c, err := cache.NewHyperClockCache(o)
			if err != nil {
				panic(err)
			}
			s.bbto.BlockCache, s.bbto.CacheIndexAndFilterBlocks = c, true
			bloom(s)
		}},
		{"warm", func(s *tableSpec) {
			bloom(s)
			s.bbto.BlockCache = cache.NewLRUCacheOfCapacity(8 << 20)
			s.bbto.CacheIndexAndFilterBlocks = true
			s.bbto.PrepopulateBlockCache = rocksdb.PrepopulateBlockCacheFlushAndCompaction
			s.builder = func(o *table.TableBuilderOptions) { o.Reason = rocksdb.TableFileCreationReasonFlush }
		}},
		{"read_amp", func(s *tableSpec) { s.bbto.ReadAmpBytesPerBit = 8 }},
		{"protection", func(s *tableSpec) {
			s.cf.BlockProtectionBytesPerKey = 8
			s.reader = func(o *table.TableReaderOptions) { o.BlockProtectionBytesPerKey = 8 }
		}},
		{"verify_compression", func(s *tableSpec) { s.compression, s.bbto.VerifyCompression = rocksdb.LZ4Compression, true }},
		{"no_index_compression", func(s *tableSpec) { s.compression, s.bbto.EnableIndexCompression = rocksdb.ZSTD, false }},
		{"parallel", func(s *tableSpec) { s.compression, s.copts.ParallelThreads = rocksdb.LZ4Compression, 4 }},
		{"parallel_partitioned", func(s *tableSpec) {
			bloom(s)
			s.compression, s.copts.ParallelThreads = rocksdb.LZ4Compression, 3
			s.bbto.IndexType, s.bbto.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
		}},
		{"parallel_first_key", func(s *tableSpec) {
			s.compression, s.copts.ParallelThreads = rocksdb.ZSTD, 3
			s.bbto.IndexType = rocksdb.BinarySearchWithFirstKey
		}},
		{"parallel_dict", func(s *tableSpec) {
			s.compression, s.copts.ParallelThreads, s.copts.MaxDictBytes = rocksdb.ZSTD, 3, 2048
		}},
		{"sampling", func(s *tableSpec) { s.cf.SampleForCompression = 2 }},
	}
	for _, c := range []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.BZip2Compression, rocksdb.LZ4Compression,
		rocksdb.LZ4HCCompression, rocksdb.ZSTD} {
		vs = append(vs, variant{fmt.Sprintf("compression_%d", c), func(s *tableSpec) { s.compression = c }},
			variant{fmt.Sprintf("dict_%d", c), func(s *tableSpec) {
				s.compression, s.copts.MaxDictBytes = c, 2048
				bloom(s)
			}},
			variant{fmt.Sprintf("trained_dict_%d", c), func(s *tableSpec) {
				s.compression, s.copts.MaxDictBytes, s.copts.ZSTDMaxTrainBytes = c, 2048, 1<<16
				s.copts.MaxDictBufferBytes = 20000
			}})
	}
	for c := rocksdb.NoChecksum; c <= rocksdb.XXH3; c++ {
		vs = append(vs, variant{fmt.Sprintf("checksum_%d", c), func(s *tableSpec) { s.bbto.Checksum = c }})
	}
	return vs
}

func TestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for version := uint32(2); version <= 7; version++ {
		for _, v := range append(variants(), variant{"separated_kv", func(s *tableSpec) { s.bbto.SeparateKeyValueInDataBlock = true }}) {
			if testing.Short() && version != 2 && version != 7 {
				continue
			}
			t.Run(fmt.Sprintf("v%d/%s", version, v.name), func(t *testing.T) {
				s := newSpec()
				s.bbto.FormatVersion = version
				v.apply(s)
				n := 60 + rnd.IntN(800)
				entries := randomEntries(rnd, n, s.icmp)
				name := filepath.Join(t.TempDir(), "000007.sst")
				b := s.write(t, name, entries, nil)
				tr := s.open(t, name)
				defer func() {
					if err := tr.Close(); err != nil {
						t.Error(err)
					}
				}()
				ro := rocksdb.DefaultReadOptions()
				if err := tr.VerifyChecksum(&ro, rocksdb.CallerUncategorized, false); err != nil {
					t.Fatal(err)
				}
				wp, rp := b.GetTableProperties(), *tr.GetTableProperties()
				if wp.NumEntries != uint64(len(entries)) || rp.NumEntries != wp.NumEntries || rp.DataSize != wp.DataSize ||
					rp.NumDataBlocks != wp.NumDataBlocks || rp.CompressionName != wp.CompressionName || rp.IndexSize != wp.IndexSize {
					t.Errorf("properties: read %+v\nwrote %+v", rp, wp)
				}
				ro.TotalOrderSeek = true
				it := tr.NewIterator(&ro, s.cf.PrefixExtractor, false, rocksdb.CallerUncategorized, 0, false)
				k := 0
				for it.SeekToFirst(); it.Valid(); it.Next() {
					if k >= len(entries) || !bytes.Equal(it.Key(), entries[k].key) || !bytes.Equal(it.Value(), entries[k].value) {
						t.Fatalf("not entry %d", k)
					}
					k++
				}
				if k != len(entries) || it.Status() != nil {
					t.Fatalf("%d entries, not %d (%v)", k, len(entries), it.Status())
				}
				checkIteration(t, it, entries, s.icmp)
				if err := it.Close(); err != nil {
					t.Error(err)
				}
				checkLookups(t, s, tr, entries, rnd)
				checkBounds(t, s, tr, entries, rnd)
				checkEstimates(t, tr, entries, rp.DataSize)
				if version <= 5 && !s.bbto.SeparateKeyValueInDataBlock {
					sstDump(t, name, entries)
				}
			})
		}
	}
}
