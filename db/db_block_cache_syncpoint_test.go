//go:build syncpoint

// Port of db/db_block_cache_test.cc (cases with sync points).

package db_test

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// clearCache erases all entries but the collector of figures.
func clearCache(c rocksdb.Cache) {
	var keys [][]byte
	c.ApplyToAllEntries(func(key []byte, _ any, _ int, helper *rocksdb.CacheItemHelper) {
		if helper == nil || helper.Role != rocksdb.CacheEntryRoleMisc {
			keys = append(keys, append([]byte(nil), key...))
		}
	})
	for _, k := range keys {
		c.Erase(k)
	}
}

// roleTest wants how many entries of which role a block cache has.
type roleTest struct {
	*blockCacheTest
	clock  *mockSystemClock
	counts [rocksdb.NumCacheEntryRoles]uint64
	past   [rocksdb.NumCacheEntryRoles]uint64 // counts before the last add
}

func (x *roleTest) add(roles ...rocksdb.CacheEntryRole) {
	x.past = x.counts
	for _, r := range roles {
		x.counts[r]++
	}
}

// wantCounts compares the figures that background uses see.
func (x *roleTest) wantCounts(want [rocksdb.NumCacheEntryRoles]uint64) {
	x.Helper()
	cfd := x.full().TestCFD(x.db.ColumnFamily.Impl())
	if got := cfd.InternalStats().TESTGetCacheEntryRoleStats(false).EntryCounts; got != want {
		x.Errorf("entries %v, want %v", got, want)
	}
}

func (x *roleTest) property(name string, role rocksdb.CacheEntryRole) string {
	x.Helper()
	m, ok := x.db.GetMapProperty(name)
	if !ok {
		x.Fatal("no property", name)
	}
	return m[cache.BlockCacheEntryStatsEntryCount(role)]
}

// duringScans calls f at the end of each scan of the cache.
func duringScans(f func()) {
	syncpoint.SetCallBack("CacheEntryStatsCollector::GetStats:AfterApplyToAllEntries", func(any) { f() })
	syncpoint.EnableProcessing()
}

func TestDBBlockCacheTest_CacheEntryRoleStats(t *testing.T) {
	const capacity = 1 << 25
	hyper := rocksdb.DefaultHyperClockCacheOptions(capacity)
	hyper.EstimatedEntryCharge = int(rocksdb.DefaultBlockBasedTableOptions().BlockSize)
	for _, partitioned := range []bool{false, true} {
		for name, open := range map[string]func() (rocksdb.Cache, error){
			"LRUCache":        func() (rocksdb.Cache, error) { return rocksdb.NewLRUCache(capacity), nil },
			"HyperClockCache": func() (rocksdb.Cache, error) { return rocksdb.NewHyperClockCache(hyper) },
		} {
			t.Run(fmt.Sprintf("%s/partitioned=%t", name, partitioned), func(t *testing.T) {
				c, err := open()
				if err != nil {
					t.Fatal(err)
				}
				defer syncpoint.Reset()
				newRoleTest(t, c, partitioned).cacheEntryRoleStats(c, partitioned)
			})
		}
	}
}

// newRoleTest opens a database with two tables, and clears the cache.
func newRoleTest(t *testing.T, c rocksdb.Cache, partitioned bool) *roleTest {
	x := &roleTest{blockCacheTest: newBlockCacheTest(t)}
	x.clock, x.o.Env = x.mockTime()
	x.o.MaxOpenFiles, x.o.TableCacheNumshardbits, x.o.StatsDumpPeriodSec = 13, 0, 0
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache, b.CacheIndexAndFilterBlocks, b.FilterPolicy = c, true, rocksdb.NewBloomFilterPolicy(50)
	if partitioned {
		b.IndexType, b.PartitionFilters = rocksdb.TwoLevelIndexSearch, true
	}
	none := rocksdb.PinningTierNone
	b.MetadataCacheOptions = rocksdb.MetadataCacheOptions{TopLevelIndexPinning: none, PartitionPinning: none, UnpartitionedPinning: none}
	x.tables(b)
	x.destroyAndReopen(x.o)
	x.puts(0, "foo", "value", "bar", "value", "flush", "zfoo", "value", "zbar", "value", "flush")
	clearCache(c)
	x.add(rocksdb.CacheEntryRoleMisc) // the collector
	x.wantCounts(x.counts)
	return x
}

func (x *roleTest) cacheEntryRoleStats(c rocksdb.Cache, partitioned bool) {
	const filter, index, data = rocksdb.CacheEntryRoleFilterBlock, rocksdb.CacheEntryRoleIndexBlock, rocksdb.CacheEntryRoleDataBlock
	blocks := []rocksdb.CacheEntryRole{index, data}
	x.wantGet(0, "different from any key added", "NOT_FOUND")
	x.add(filter, filter)
	if partitioned {
		blocks = append(blocks, index) // the top level
		x.counts[rocksdb.CacheEntryRoleFilterMetaBlock] += 2
	}
	// Background uses do with figures of three minutes.
	x.wantCounts(x.past)
	x.clock.MockSleepForSeconds(45)
	x.wantCounts(x.past)
	x.clock.MockSleepForSeconds(601)
	x.wantCounts(x.counts)

	x.wantGet(0, "foo", "value")
	x.add(blocks...)
	x.clock.MockSleepForSeconds(601)
	// A scan of 20 s is worth 10000 s of older figures.
	duringScans(func() { x.clock.MockSleepForSeconds(20) })
	x.wantCounts(x.counts)
	syncpoint.Reset()
	x.wantGet(0, "zfoo", "value")
	x.add(blocks...)
	x.clock.MockSleepForSeconds(601)
	x.wantCounts(x.past)
	x.clock.MockSleepForSeconds(10000)
	x.wantCounts(x.counts)
	for role, n := range x.counts {
		if got := x.property(rocksdb.PropertyBlockCacheEntryStats, rocksdb.CacheEntryRole(role)); got != strconv.FormatUint(n, 10) {
			x.Errorf("role %d: %s entries, want %d", role, got, n)
		}
	}

	// A property wants newer figures than background uses.
	wbm := rocksdb.NewWriteBufferManager(1<<20, c, false)
	wbm.ReserveMem(1024)
	x.add(rocksdb.CacheEntryRoleWriteBuffer)
	x.clock.MockSleepForSeconds(1)
	if got := x.property(rocksdb.PropertyBlockCacheEntryStats, rocksdb.CacheEntryRoleWriteBuffer); got != "0" {
		x.Errorf("%s write buffers", got)
	}
	x.clock.MockSleepForSeconds(45)
	if got := x.property(rocksdb.PropertyBlockCacheEntryStats, rocksdb.CacheEntryRoleWriteBuffer); got != "1" {
		x.Errorf("%s write buffers", got)
	}
	wbm.FreeMem(1024)

	// The collector stays in a full cache.
	clearCache(c)
	h, err := c.Insert([]byte("Fill-it-up-xxxxx"), nil, &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}, c.GetCapacity()+1, rocksdb.CachePriorityHigh, true)
	x.must(err)
	if c.GetUsage() <= c.GetCapacity() {
		x.Errorf("usage %d", c.GetUsage())
	}
	full := [rocksdb.NumCacheEntryRoles]uint64{rocksdb.CacheEntryRoleMisc: 2}
	x.wantCounts(x.counts)
	x.clock.MockSleepForSeconds(1000)
	x.wantCounts(full)
	c.Release(h, false)
	x.wantScans()
}

// wantScans does what may scan the cache, which must not be with the DB mutex
// held.
func (x *roleTest) wantScans() {
	x.Helper()
	scans := 0
	duringScans(func() {
		x.full().TestWithMutex(func() {})
		scans++
	})
	text := func(name string) func() {
		return func() {
			if _, ok := x.db.GetProperty(name); !ok {
				x.Error("no property", name)
			}
		}
	}
	figures := func(name string) func() { return func() { x.property(name, 0) } }
	for i, s := range []struct {
		sleep int
		do    func()
		scans int // so far
	}{
		{10000, x.full().DumpStats, 1},
		{60, figures(rocksdb.PropertyFastBlockCacheEntryStats), 1},
		{0, figures(rocksdb.PropertyBlockCacheEntryStats), 2},
		{10000, figures(rocksdb.PropertyFastBlockCacheEntryStats), 3},
		{60, text(rocksdb.PropertyFastBlockCacheEntryStats), 3},
		{0, text(rocksdb.PropertyBlockCacheEntryStats), 4},
		{10000, text(rocksdb.PropertyFastBlockCacheEntryStats), 5},
		{0, text(rocksdb.PropertyCFStats), 5}, // the dumps of statistics keep them new enough
	} {
		x.clock.MockSleepForSeconds(s.sleep)
		if s.do(); scans != s.scans {
			x.Errorf("step %d: %d scans, want %d", i, scans, s.scans)
		}
	}
}

// problemLogger counts lines about a HyperClockCache's configuration, by level.
type problemLogger struct {
	rocksdb.LoggerBase
	lines map[rocksdb.InfoLogLevel]int
}

func (l *problemLogger) Logv(level rocksdb.InfoLogLevel, format string, _ ...any) {
	if strings.Contains(format, "EstimatedEntryCharge") {
		l.lines[level]++
	}
}

func (l *problemLogger) LogHeader(string, ...any) {}

// fillPinned fills a cache with pinned entries of a charge, and gives their
// handles.
func fillPinned(t *testing.T, c rocksdb.Cache, charge int) (handles []rocksdb.CacheHandle) {
	t.Helper()
	base := cache.NewOffsetableCacheKey("abc", "abc", 42)
	helper := &rocksdb.CacheItemHelper{Role: rocksdb.CacheEntryRoleMisc}
	for used := 0; used < c.GetCapacity(); used += charge {
		h, err := c.Insert(base.WithOffset(uint64(used)).AsSlice(), nil, helper, min(charge, c.GetCapacity()-used), rocksdb.CachePriorityLow, true)
		if err != nil {
			t.Fatal(err)
		}
		handles = append(handles, h)
	}
	return handles
}

func TestDBBlockCacheTest_HyperClockCacheReportProblems(t *testing.T) {
	const estimate = 8 << 10
	co := rocksdb.DefaultHyperClockCacheOptions(1 << 20)
	co.EstimatedEntryCharge, co.NumShardBits, co.MetadataChargePolicy, co.HashSeed = estimate, 2, rocksdb.DontChargeCacheMetadata, 0
	c, err := rocksdb.NewHyperClockCache(co)
	if err != nil {
		t.Fatal(err)
	}
	x := newBlockCacheTest(t)
	log := &problemLogger{}
	log.SetInfoLogLevel(rocksdb.InfoLevel)
	b := smallBlocks()
	b.BlockCache = c
	x.tables(b)
	x.o.InfoLog, x.o.StatsDumpPeriodSec = log, 0
	x.reopen(x.o)
	const none = rocksdb.HeaderLevel
	for _, fill := range []struct {
		charge int
		level  rocksdb.InfoLogLevel
	}{
		{estimate, none}, {estimate * 3 / 4, none}, {estimate * 4 / 3, none},
		{estimate / 2, rocksdb.WarnLevel}, {estimate / 3, rocksdb.ErrorLevel}, // the estimate is too high
		{estimate * 2, rocksdb.InfoLevel}, {estimate * 3, rocksdb.WarnLevel}, {estimate * 20, rocksdb.WarnLevel}, // too low
	} {
		handles := fillPinned(t, c, fill.charge)
		log.lines = map[rocksdb.InfoLogLevel]int{}
		x.full().DumpStats()
		want := map[rocksdb.InfoLogLevel]int{}
		if fill.level != none {
			want[fill.level] = 1
		}
		if !maps.Equal(log.lines, want) {
			t.Errorf("entries of %d: lines by level %v, want %v", fill.charge, log.lines, want)
		}
		for _, h := range handles {
			c.Release(h, false)
		}
		c.EraseUnRefEntries()
	}
}

func TestDBBlockCacheKeyTest_StableCacheKeys(t *testing.T) {
	for _, numbers := range []bool{true, false} {
		t.Run(fmt.Sprintf("exclude_file_numbers=%t", !numbers), func(t *testing.T) {
			if !numbers {
				// As the files of old versions, whose keys in the cache may change.
				syncpoint.SetCallBack("BlockBasedTableBuilder::BlockBasedTableBuilder:PreSetupBaseCacheKey",
					func(props any) { props.(*rocksdb.TableProperties).OrigFileNumber = 0 })
			}
			syncpoint.EnableProcessing()
			defer syncpoint.Reset()
			x := &cacheKeyTest{blockCacheTest: newBlockCacheTest(t), stable: numbers}
			x.stableCacheKeys()
		})
	}
}

// cacheKeyTest reads from files that are moved to and fro, with one cache.
type cacheKeyTest struct {
	*blockCacheTest
	stable bool
	keys   int // of family 1, each in a file of its own
	adds   int // of blocks of each type to the cache
}

// read reads all keys: only what the cache did not have yet is to be added.
func (x *cacheKeyTest) read() {
	x.Helper()
	if x.stable {
		x.adds = x.keys
	} else {
		x.adds += x.keys
	}
	for i := range x.keys {
		x.wantGet(1, fmt.Sprintf("key%06d", i), "abc")
	}
	x.want(rocksdb.BlockCacheDataAdd, x.adds, rocksdb.BlockCacheIndexAdd, x.adds, rocksdb.BlockCacheFilterAdd, x.adds)
}

// pair is the next key, with a value that makes the file worth compressing.
func (x *cacheKeyTest) pair(put func(key, value []byte) error) {
	x.Helper()
	key := fmt.Sprintf("key%06d", x.keys)
	x.must(put([]byte(key), []byte("abc")))
	x.must(put([]byte(key+"a"), bytes.Repeat([]byte("x"), 500)))
	x.keys++
}

func (x *cacheKeyTest) stableCacheKeys() {
	x.o = x.onFS(x.o, noLinkFS{rocksdb.FileSystemWrapper{FileSystem: x.fault}}) // to copy
	x.o.VerifySstUniqueIDInManifest = false                                     // the ids have file numbers
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks, b.BlockCache, b.FilterPolicy = true, rocksdb.NewLRUCache(1<<25), rocksdb.NewBloomFilterPolicy(10)
	x.tables(b)
	x.destroyAndReopen(x.o)
	x.createAndReopenWithCF([]string{"koko"}, x.o)
	for range 2 {
		x.pair(func(k, v []byte) error { return x.cf(1).Put(nil, k, v) })
		x.flush(1)
	}
	exported := filepath.Join(x.dir, "exported")
	meta, err := rocksdb.NewCheckpoint(x.db).ExportColumnFamily(x.cf(1), exported)
	x.must(err)
	w := rocksdb.NewSstFileWriter(x.o, nil)
	var external []string
	for i := range 2 {
		external = append(external, filepath.Join(x.dir, fmt.Sprintf("external%d.sst", i)))
		x.must(w.Open(external[i], rocksdb.TemperatureUnknown))
		x.pair(w.Put)
		x.must(w.Finish(nil))
		x.must(x.cf(1).IngestExternalFile(external[i:i+1], nil))
	}
	x.must(w.Close())
	x.read()
	x.reopenWithColumnFamilies([]string{"default", "koko"}, x.o)
	x.read()

	// A whole copy of the database.
	copied := x.dir + "-copy"
	_, err = rocksdb.NewCheckpoint(x.db).CreateCheckpoint(copied, 0)
	x.must(err)
	x.close()
	original := x.dir
	x.dir = copied
	x.reopenWithColumnFamilies([]string{"default", "koko"}, x.o)
	x.read()

	// Another database with the files imported and ingested.
	x.destroyAndReopen(x.o)
	yoyo, err := x.db.CreateColumnFamilyWithImport(rocksdb.DefaultColumnFamilyOptions(), "yoyo", nil, meta) // with another cache
	x.must(err)
	x.must(yoyo.Close())
	x.reopenWithColumnFamilies([]string{"default", "yoyo"}, x.o)
	x.must(x.cf(1).IngestExternalFile(external, nil))
	x.read()
	x.destroy(x.o)
	x.dir = original
}
