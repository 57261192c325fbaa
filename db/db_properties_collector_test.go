// Port of db/db_properties_test.cc (collectors of table properties, latencies).
// Differs: the first opening of ReadLatencyHistogramByLevel may read tables, for
// max_open_files cannot be made smaller than 20.

package db_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/util"
)

// collector is a table properties collector; nil functions do nothing.
type collector struct {
	name    string
	key     func(t rocksdb.EntryType)
	block   func(fast, slow uint64)
	finish  func(p rocksdb.UserCollectedProperties)
	compact func() bool
}

func (c *collector) Name() string { return c.name }
func (c *collector) AddUserKey(_, _ []byte, t rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	if c.key != nil {
		c.key(t)
	}
	return nil
}
func (c *collector) BlockAdd(_, fast, slow uint64) {
	if c.block != nil {
		c.block(fast, slow)
	}
}
func (c *collector) Finish(p rocksdb.UserCollectedProperties) error {
	c.finish(p)
	return nil
}
func (c *collector) GetReadableProperties() rocksdb.UserCollectedProperties {
	return rocksdb.UserCollectedProperties{}
}
func (c *collector) NeedCompact() bool { return c.compact != nil && c.compact() }

// collectorFactory makes collectors for a family that it expects.
type collectorFactory struct {
	t       *testing.T
	make    func() *collector
	family  atomic.Uint32
	anyCF   bool
	created atomic.Int64
}

func (f *collectorFactory) Name() string { return "collectorFactory" }
func (f *collectorFactory) CreateTablePropertiesCollector(ctx rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	if !f.anyCF && ctx.ColumnFamilyID != f.family.Load() {
		f.t.Errorf("a table of family %d, not %d", ctx.ColumnFamilyID, f.family.Load())
	}
	f.created.Add(1)
	return f.make()
}

// expectCreated wants collectors made since the last call.
func (f *collectorFactory) expectCreated() {
	f.t.Helper()
	if f.created.Swap(0) == 0 {
		f.t.Error("no collector was made")
	}
}

func countingCollector() *collector {
	n := uint64(0)
	return &collector{name: "CountingUserTblPropCollector", key: func(rocksdb.EntryType) { n++ },
		finish: func(p rocksdb.UserCollectedProperties) {
			p["CountingUserTblPropCollector"] = "Rocksdb"
			p["Count"] = string(binary.AppendUvarint(nil, n))
		}}
}

// deletionCollector wants tables with more than 10 deletions compacted.
func deletionCollector() *collector {
	n := 0
	return &collector{name: "CountingDeleteTabPropCollector",
		key: func(t rocksdb.EntryType) {
			if t == rocksdb.EntryDelete {
				n++
			}
		},
		compact: func() bool { return n > 10 },
		finish:  func(p rocksdb.UserCollectedProperties) { p["num_delete"] = strconv.Itoa(n) }}
}

func blockCollector() *collector {
	n := 0
	return &collector{name: "BlockCountingTablePropertiesCollector",
		block: func(fast, slow uint64) {
			if fast > 0 || slow > 0 {
				n++
			}
		},
		finish: func(p rocksdb.UserCollectedProperties) { p["NumSampledBlocks"] = strconv.Itoa(n) }}
}

func (x *dbTest) fillTable(cf, table int) {
	x.Helper()
	for i := range 10 + table {
		x.mustPut(cf, strconv.Itoa(table*100+i), "val")
	}
	x.flush(cf)
}

func TestDBPropertiesTest_GetUserDefinedTableProperties(t *testing.T) {
	x := newDBTest(t)
	f := &collectorFactory{t: t, make: countingCollector}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 1 << 30
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{f}
	x.reopen(o)
	for table := range 4 {
		x.fillTable(0, table)
	}
	tables, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	if len(tables) != 4 {
		t.Errorf("%d tables", len(tables))
	}
	sum := uint64(0)
	for name, p := range tables {
		if v := p.UserCollectedProperties["CountingUserTblPropCollector"]; v != "Rocksdb" {
			t.Errorf("%s: %q", name, v)
		}
		n, size := binary.Uvarint([]byte(p.UserCollectedProperties["Count"]))
		if size <= 0 {
			t.Errorf("%s has no count", name)
		}
		sum += n
	}
	if sum != 10+11+12+13 {
		t.Errorf("%d entries", sum)
	}
	f.expectCreated()
	x.must(x.full().TestCompactRange(0, nil, nil, nil, false))
	f.expectCreated()
}

func TestDBPropertiesTest_UserDefinedTablePropertiesContext(t *testing.T) {
	x := newDBTest(t)
	f := &collectorFactory{t: t, make: countingCollector}
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 3
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{f}
	f.family.Store(1)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for _, cf := range []int{1, 0} {
		f.family.Store(uint32(cf))
		for table := range 2 {
			x.fillTable(cf, table)
		}
		f.expectCreated()
		for table := range 3 {
			x.fillTable(cf, table)
			x.must(x.full().TestWaitForCompact())
		}
		f.expectCreated()
		x.must(x.full().TestCompactRange(0, nil, nil, x.cf(cf), false))
		f.expectCreated()
	}
}

// scan counts the keys in [from, to), "" being no end.
func (x *dbTest) scan(from, to string) (n int, perf *rocksdb.PerfContext) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext = &rocksdb.PerfContext{Level: rocksdb.EnableCount}
	it := x.db.NewIterator(&ro)
	for it.Seek([]byte(from)); it.Valid() && (to == "" || string(it.Key()) < to); it.Next() {
		n++
	}
	x.must(it.Err())
	x.must(it.Close())
	return n, ro.PerfContext
}

func TestDBPropertiesTest_TablePropertiesNeedCompactTest(t *testing.T) {
	x := newDBTest(t)
	r := util.NewRandom(301)
	o := x.currentOptions()
	o.WriteBufferSize = 4096
	o.MaxWriteBufferNumber = 8
	o.Level0FileNumCompactionTrigger = 2
	o.Level0SlowdownWritesTrigger = 2
	o.Level0StopWritesTrigger = 4
	o.TargetFileSizeBase = 2048
	o.MaxBytesForLevelBase = 10240
	o.MaxBytesForLevelMultiplier = 4
	o.SoftPendingCompactionBytesLimit = 1024 * 1024
	o.NumLevels = 8
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{&collectorFactory{t: t, make: deletionCollector}}
	x.destroyAndReopen(o)
	const maxKey = 1000
	for i := range maxKey {
		x.mustPut(0, key(i), r.RandomString(102))
		x.mustPut(0, key(maxKey+i), r.RandomString(102))
	}
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	if x.numTableFilesAtLevel(0, 0) == 1 {
		// Empties L0, so that one more table there starts no compaction.
		x.mustPut(0, key(0), "")
		x.mustPut(0, key(maxKey*2), "")
		x.flush(0)
		x.must(x.full().TestWaitForCompact())
	}
	if n := x.numTableFilesAtLevel(0, 0); n != 0 {
		t.Fatalf("%d tables in L0", n)
	}
	from, to := key(maxKey-100), key(maxKey+100)
	if n, _ := x.scan(from, to); n != 200 {
		t.Errorf("%d keys", n)
	}
	x.mustDelete(0, key(0))
	for i := maxKey - 100; i < maxKey+100; i++ {
		x.mustDelete(0, key(i))
	}
	x.mustDelete(0, key(maxKey*2))
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	n, perf := x.scan(from, to)
	if n != 0 || perf.InternalDeleteSkippedCount >= 30 || perf.InternalKeySkippedCount >= 30 {
		t.Errorf("%d keys, %d deletions and %d keys skipped", n, perf.InternalDeleteSkippedCount, perf.InternalKeySkippedCount)
	}
}

func TestDBPropertiesTest_NeedCompactHintPersistentTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxWriteBufferNumber = 8
	o.Level0FileNumCompactionTrigger = 10
	o.Level0SlowdownWritesTrigger = 10
	o.Level0StopWritesTrigger = 10
	o.DisableAutoCompactions = true
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{&collectorFactory{t: t, make: deletionCollector}}
	x.destroyAndReopen(o)
	const maxKey = 100
	for i := range maxKey {
		x.mustPut(0, key(i), "")
	}
	x.flush(0)
	for i := 1; i < maxKey-1; i++ {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	if n := x.numTableFilesAtLevel(0, 0); n != 2 {
		t.Fatalf("%d tables", n)
	}
	// The hint is in the MANIFEST.
	o.DisableAutoCompactions = false
	x.reopen(o)
	x.must(x.full().TestWaitForCompact())
	if n := x.numTableFilesAtLevel(0, 0); n != 0 {
		t.Errorf("%d tables", n)
	}
	n, perf := x.scan(key(0), "")
	if n != 2 || perf.InternalDeleteSkippedCount != 0 || perf.InternalKeySkippedCount > 2 {
		t.Errorf("%d keys, %d deletions and %d keys skipped", n, perf.InternalDeleteSkippedCount, perf.InternalKeySkippedCount)
	}
}

// tablesOfBothKinds makes a table in L0 by a flush, and one in L1 by a
// compaction, and gives their properties.
func (x *dbTest) tablesOfBothKinds(fill func()) map[string]*rocksdb.TableProperties {
	x.Helper()
	for i := range 3 {
		fill()
		x.flush(0)
		if i == 1 {
			x.compact(0, "", "")
		}
	}
	tables, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	if len(tables) != 2 {
		x.Fatalf("%d tables", len(tables))
	}
	return tables
}

func TestDBPropertiesTest_BlockAddForCompressionSampling(t *testing.T) {
	for _, every := range []uint64{0, 1} {
		x := newDBTest(t)
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{&collectorFactory{t: t, make: blockCollector}}
		o.Compression = rocksdb.NoCompression
		o.SampleForCompression = every
		x.destroyAndReopen(o)
		for name, p := range x.tablesOfBothKinds(func() {
			for j := range 50 {
				x.mustPut(0, strconv.Itoa(j), "thisismyvalue")
			}
		}) {
			if n := p.UserCollectedProperties["NumSampledBlocks"]; n != strconv.Itoa(int(every)) {
				t.Errorf("%s: %s sampled blocks", name, n)
			}
			fast, slow := p.FastCompressionEstimatedDataSize, p.SlowCompressionEstimatedDataSize
			switch {
			case every == 0 && (fast != 0 || slow != 0):
				t.Errorf("%s: estimates %d and %d without samples", name, fast, slow)
			case every == 1 && (fast == 0 || slow == 0 || fast >= p.DataSize || slow >= fast):
				t.Errorf("%s: estimates %d and %d of %d", name, fast, slow, p.DataSize)
			}
		}
	}
}

func TestCompressionSamplingDBPropertiesTest_EstimateDataSizeWithCompressionSampling(t *testing.T) {
	for _, fast := range []bool{false, true} {
		t.Run(strconv.FormatBool(fast), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.Compression = rocksdb.ZSTD
			if fast {
				o.Compression = rocksdb.LZ4Compression
			}
			o.DisableAutoCompactions = true
			o.SampleForCompression = 1
			x.reopen(o)
			for name, p := range x.tablesOfBothKinds(func() {
				x.mustPut(0, "a", dummyString(1024, 'a'))
				x.mustPut(0, "b", dummyString(1024, 'a'))
			}) {
				estimate := p.SlowCompressionEstimatedDataSize
				if fast {
					estimate = p.FastCompressionEstimatedDataSize
				}
				if p.DataSize == 0 || estimate != p.DataSize {
					t.Errorf("%s: estimate %d of %d", name, estimate, p.DataSize)
				}
			}
		})
	}
}

// wantLatencies checks for which of the levels 0 to 2 there are read latencies.
func (x *dbTest) wantLatencies(cf int, property string, levels ...bool) {
	x.Helper()
	text := x.property(cf, property)
	for level, want := range levels {
		if got := strings.Contains(text, "** Level "+strconv.Itoa(level)+" read latency histogram"); got != want {
			x.Errorf("latencies of level %d: %v", level, got)
		}
	}
}

func TestDBPropertiesTest_ReadLatencyHistogramByLevel(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 110 << 10
	o.Level0FileNumCompactionTrigger = 6
	o.NumLevels = 4
	o.Compression = rocksdb.NoCompression
	o.MaxBytesForLevelBase = 4500 << 10
	o.TargetFileSizeBase = 98 << 10
	o.MaxWriteBufferNumber = 2
	o.Statistics = rocksdb.NewStatistics()
	o.MaxOpenFiles = 20
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	r := util.NewRandom(301)
	keys := 0
	for range 8 {
		x.mustPut(0, "foo", "bar")
		for range 99 {
			x.mustPut(0, key(keys), r.RandomString(990))
			keys++
		}
		x.mustPut(0, key(keys), r.RandomString(1))
		keys++
		x.flush(0)
		x.must(x.full().TestWaitForCompact())
	}
	readAll := func() {
		for i := range keys {
			x.get(0, key(i))
		}
	}
	names := []string{"default", "pikachu"}
	readAll()
	x.wantLatencies(0, "rocksdb.cfstats", true, true, false)

	x.reopenWithColumnFamilies(names, o)
	readAll()
	statistics := x.property(0, "rocksdb.options-statistics")
	if !strings.Contains(statistics, "rocksdb.block.cache.miss") || strings.Contains(statistics, "rocksdb.db.f.micros") {
		t.Errorf("statistics: %s", statistics)
	}
	x.wantLatencies(0, "rocksdb.cf-file-histogram", true, true, false)

	x.reopenWithColumnFamilies(names, o)
	x.scan(key(0), "")
	x.wantLatencies(0, "rocksdb.cf-file-histogram", true, true, false)
	x.wantLatencies(1, "rocksdb.cf-file-histogram", false, false, false)
	x.mustPut(1, "foo", "bar")
	x.flush(1)
	x.wantGet(1, "foo", "bar")
	x.wantLatencies(1, "rocksdb.cf-file-histogram", true, false, false)

	// All tables are read when the database opens.
	o.MaxOpenFiles = -1
	x.reopenWithColumnFamilies(names, o)
	x.wantLatencies(0, "rocksdb.cf-file-histogram", true, true, false)
	readAll()
	x.wantLatencies(0, "rocksdb.cfstats", true, true, false)
	x.must(x.db.ResetStats())
	x.wantLatencies(0, "rocksdb.cfstats", false, false, false)
}

func TestDumpStats(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	x.reopen(o)
	// The second shows what opening has read, the third that there is nothing
	// new, and the fourth nothing of the family.
	for range 4 {
		x.full().DumpStats()
	}
	x.mustPut(0, "k", "v")
	x.flush(0)
	x.full().DumpStats()
	x.close()
	data, err := os.ReadFile(filepath.Join(x.dir, "LOG"))
	x.must(err)
	for text, want := range map[string]int{
		"------- DUMPING STATS -------": 5, "** DB Stats **": 5, "STATISTICS:\n rocksdb.block.cache.miss COUNT": 5,
		"** Compaction Stats [default] **\nLevel": 4, "** File Read Latency Histogram By Level [default] **": 4,
	} {
		if n := strings.Count(string(data), text); n != want {
			t.Errorf("%q %d times, not %d", text, n, want)
		}
	}
}

// metaIndexKeys are the names of a table's meta blocks in their order.
func (x *dbTest) metaIndexKeys(path string) (names []string) {
	x.Helper()
	fs := x.env.GetFileSystem()
	fo := rocksdb.DefaultFileOptions()
	f, err := file.CreateRandomAccessFileReader(fs, path, &fo, nil)
	x.must(err)
	defer f.Close()
	size, err := fs.GetFileSize(path, &rocksdb.IOOptions{})
	x.must(err)
	ro := rocksdb.DefaultReadOptions()
	reader := table.MetaReader{File: f, FileSize: size, ReadOptions: &ro}
	b, _, err := reader.ReadMetaIndexBlock(0)
	x.must(err)
	defer b.Free()
	it := b.NewMetaIterator(true)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		names = append(names, string(it.Key()))
	}
	x.must(it.Status())
	return names
}

func TestDBPropertiesTest_TableMetaIndexKeys(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		for i := range 100 {
			x.mustPut(0, key(i), "val")
		}
		x.flush(0)
		tables := x.files(rocksdb.TableFile)
		if len(tables) != 1 {
			t.Fatalf("tables %q", tables)
		}
		var want []string
		o := x.last.TableFactory.(rocksdb.Configurable).OptionsPtr(rocksdb.BlockBasedTableOptionsName)
		if bbto, ok := o.(*rocksdb.BlockBasedTableOptions); ok {
			switch {
			case bbto.FilterPolicy == nil:
			case bbto.PartitionFilters:
				want = append(want, "partitionedfilter.rocksdb.BuiltinBloomFilter")
			default:
				want = append(want, "fullfilter.rocksdb.BuiltinBloomFilter")
			}
			if bbto.IndexType == rocksdb.HashSearch {
				want = append(want, "rocksdb.hashindex.metadata", "rocksdb.hashindex.prefixes")
			}
			if bbto.FormatVersion >= 6 {
				want = append(want, "rocksdb.index")
			}
		}
		want = append(want, "rocksdb.properties")
		if got := x.metaIndexKeys(tables[0]); !slices.Equal(got, want) {
			t.Errorf("meta blocks %q, not %q", got, want)
		}
	})
}
