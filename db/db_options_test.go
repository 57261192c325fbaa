// Port of db/db_options_test.cc. Differs: random options hold only what this
// engine takes.

package db_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

// plainOptions are upstream's Options() on the test's environment.
func (x *dbTest) plainOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.Env = true, x.env
	return o
}

func (x *dbTest) setOptions(kv ...string) {
	x.Helper()
	x.must(x.db.SetOptions(pairs(kv)))
}

func (x *dbTest) setDBOptions(kv ...string) {
	x.Helper()
	x.must(x.db.SetDBOptions(pairs(kv)))
}

func pairs(kv []string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return m
}

func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: %v, not %v", what, got, want)
	}
}

// emulatedTime gives an environment whose clock tests move.
func (x *dbTest) emulatedTime(elapseOnlyBySleep bool) (*env.EmulatedSystemClock, rocksdb.Env) {
	c := env.NewEmulatedSystemClock(x.env.GetSystemClock(), elapseOnlyBySleep)
	return c, env.NewCompositeEnvWrapper(x.env, x.fault, c)
}

func (x *dbTest) sizeAtLevel(level int) (n uint64) {
	for _, f := range x.db.GetLiveFilesMetaData() {
		if f.Level == level {
			n += f.Size
		}
	}
	return n
}

func mutableDBMap(t *testing.T, o rocksdb.DBOptions) map[string]string {
	t.Helper()
	m := options.NewMutableDBOptions(&o)
	cfg := contract.DefaultConfigOptions()
	cfg.Delimiter = "; "
	text, err := options.GetStringFromMutableDBOptions(&cfg, &m)
	if err != nil {
		t.Fatal(err)
	}
	return toMap(t, text)
}

func mutableCFMap(t *testing.T, o rocksdb.ColumnFamilyOptions) map[string]string {
	t.Helper()
	m := options.NewMutableCFOptions(&o)
	cfg := contract.DefaultConfigOptions()
	cfg.Delimiter = "; "
	text, err := options.GetStringFromMutableCFOptions(&cfg, &m)
	if err != nil {
		t.Fatal(err)
	}
	return toMap(t, text)
}

func toMap(t *testing.T, text string) map[string]string {
	t.Helper()
	m, err := options.StringToMap(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// randomDBOptions are upstream's RandomInitDBOptions where they are mutable.
func (x *dbTest) randomDBOptions(rnd *util.Random) map[string]string {
	o := rocksdb.DefaultDBOptions()
	big := func() uint64 { return math.MaxUint32 + uint64(rnd.Uniform(100000)) }
	o.AvoidFlushDuringShutdown = rnd.Uniform(2) == 1
	o.MaxBackgroundCompactions, o.MaxBackgroundFlushes = int(rnd.Uniform(100)), int(rnd.Uniform(100))
	o.MaxOpenFiles = int(rnd.Uniform(100))
	o.ManifestPreallocationSize = uint64(rnd.Uniform(10000))
	o.BytesPerSync, o.DelayedWriteRate, o.DeleteObsoleteFilesPeriodMicros = big(), big(), big()
	o.MaxManifestFileSize, o.MaxTotalWALSize, o.WALBytesPerSync = big(), big(), big()
	o.StatsDumpPeriodSec = rnd.Uniform(100000)
	s, err := dbimpl.TestSanitizeOptions(x.dir, &o)
	x.must(err)
	return mutableDBMap(x.T, s)
}

// randomCFOptions are upstream's RandomInitCFOptions where they are mutable.
func (x *dbTest) randomCFOptions(rnd *util.Random) map[string]string {
	cur := x.currentOptions()
	o := cur.ColumnFamilyOptions
	yes := func() bool { return rnd.Uniform(2) == 1 }
	big := func() uint64 { return math.MaxUint32 + uint64(rnd.Uniform(10000)) }
	n := func(m int) int { return int(rnd.Uniform(m)) }
	o.ReportBGIOStats, o.DisableAutoCompactions, o.ParanoidFileChecks = yes(), yes(), yes()
	o.CompactionOptionsFIFO.AllowCompaction, o.MemtableWholeKeyFiltering = yes(), yes()
	o.EnableBlobFiles, o.EnableBlobGarbageCollection, o.StrictMaxSuccessiveMerges = yes(), yes(), yes()
	o.MemtablePrefixBloomSizeRatio = float64(n(10000)) / 20000
	o.BlobGarbageCollectionAgeCutoff, o.BlobGarbageCollectionForceThreshold = float64(n(10000))/10000, float64(n(10000))/10000
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = n(100), n(100), n(100)
	o.MaxBytesForLevelMultiplier, o.MaxWriteBufferNumber, o.TargetFileSizeMultiplier = float64(n(100)), n(100), n(100)
	o.MaxBytesForLevelMultiplierAdditional = nil
	for range n(100) {
		o.MaxBytesForLevelMultiplierAdditional = append(o.MaxBytesForLevelMultiplierAdditional, n(100))
	}
	o.ArenaBlockSize, o.InplaceUpdateNumLocks, o.MaxSuccessiveMerges = uint64(n(10000)), uint64(n(10000)), uint64(n(10000))
	o.MemtableHugePageSize, o.WriteBufferSize, o.MaxBytesForLevelBase = uint64(n(10000)), uint64(n(10000)), uint64(n(10000))
	if cur.MaxOpenFiles == -1 {
		o.TTL, o.PeriodicCompactionSeconds = big(), big()
	} else {
		o.TTL, o.PeriodicCompactionSeconds = 0, 0
	}
	o.MaxSequentialSkipInIterations, o.TargetFileSizeBase = big(), big()
	o.MaxCompactionBytes = o.TargetFileSizeBase * uint64(n(100))
	o.CompactionOptionsFIFO.MaxTableFilesSize, o.MinBlobSize, o.BlobFileSize = big(), big(), big()
	o.PrefixExtractor = []rocksdb.SliceTransform{util.NewFixedPrefixTransform(n(20) + 1), util.NewCappedPrefixTransform(n(20) + 1), util.NewNoopTransform(), nil}[n(4)]
	compressions := []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.LZ4Compression, rocksdb.ZSTD}
	o.Compression, o.BlobCompressionType = compressions[n(5)], compressions[n(5)]
	imm := options.NewImmutableDBOptions(&cur.DBOptions)
	return mutableCFMap(x.T, db.SanitizeColumnFamilyOptions(&imm, false, &o))
}

func wantMap(t *testing.T, got, want map[string]string) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] {
			t.Errorf("%s is %q, not %q", k, got[k], want[k])
		}
	}
	same(t, "options", len(got), len(want))
}

// immutableOption sets an option that is in force and cannot be unset.
func immutableOption(t *testing.T, name string, field func(o *rocksdb.DBOptions) *bool) {
	x := newDBTest(t)
	o := x.plainOptions()
	*field(&o.DBOptions) = true
	i := options.NewImmutableDBOptions(&o.DBOptions)
	m := options.NewMutableDBOptions(&o.DBOptions)
	built := options.BuildDBOptions(&i, &m)
	x.reopen(o)
	now := x.db.GetDBOptions()
	if !*field(&built) || !*field(&now) {
		t.Errorf("%s is lost", name)
	}
	if err := x.db.SetDBOptions(map[string]string{name: "false"}); err == nil {
		t.Errorf("%s was changed", name)
	}
}

func TestDBOptionsTest_ImmutableTrackAndVerifyWalsInManifest(t *testing.T) {
	immutableOption(t, "track_and_verify_wals_in_manifest", func(o *rocksdb.DBOptions) *bool { return &o.TrackAndVerifyWALsInManifest })
}

func TestDBOptionsTest_ImmutableAsyncWalPrecreate(t *testing.T) {
	immutableOption(t, "async_wal_precreate", func(o *rocksdb.DBOptions) *bool { return &o.AsyncWALPrecreate })
}

func TestDBOptionsTest_ImmutableVerifySstUniqueIdInManifest(t *testing.T) {
	immutableOption(t, "verify_sst_unique_id_in_manifest", func(o *rocksdb.DBOptions) *bool { return &o.VerifySstUniqueIDInManifest })
}

func TestDBOptionsTest_SanitizeAsyncWalPrecreateWithWalRecycle(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultDBOptions()
	o.Env, o.AsyncWALPrecreate, o.RecycleLogFileNum = x.env, true, 1
	s, err := dbimpl.TestSanitizeOptions(x.dir, &o)
	x.must(err)
	same(t, "precreation with recycling", s.AsyncWALPrecreate, false)
	same(t, "logs to recycle", s.RecycleLogFileNum, 1)
	o.RecycleLogFileNum = 0
	s, err = dbimpl.TestSanitizeOptions(x.dir, &o)
	x.must(err)
	same(t, "precreation without recycling", s.AsyncWALPrecreate, true)
}

func TestDBOptionsTest_GetLatestDBOptions(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.plainOptions())
	want := x.randomDBOptions(util.NewRandom(228))
	x.must(x.db.SetDBOptions(want))
	wantMap(t, mutableDBMap(t, x.db.GetDBOptions()), want)
}

func TestDBOptionsTest_GetLatestCFOptions(t *testing.T) {
	x := newDBTest(t)
	rnd := util.NewRandom(228)
	o := x.plainOptions()
	x.reopen(o)
	x.createAndReopenWithCF([]string{"foo"}, o)
	wants := []map[string]string{x.randomCFOptions(rnd), x.randomCFOptions(rnd)}
	for i, want := range wants {
		x.must(x.cfs[i].SetOptions(want))
	}
	for i, want := range wants {
		wantMap(t, mutableCFMap(t, x.cfs[i].GetOptions().ColumnFamilyOptions), want)
	}
}

func blockBasedOf(t *testing.T, f rocksdb.TableFactory) *rocksdb.BlockBasedTableOptions {
	t.Helper()
	b, ok := f.(*blockbased.BlockBasedTableFactory)
	if !ok {
		t.Fatalf("the table factory is %T", f)
	}
	return b.OptionsPtr(contract.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
}

func TestDBOptionsTest_SetMutableTableOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.BlobFileSize = 16384
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.NoBlockCache, b.BlockSize, b.BlockRestartInterval = true, 8192, 7
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.reopen(o)
	table := func() *rocksdb.BlockBasedTableOptions { return blockBasedOf(t, x.db.GetOptions().TableFactory) }
	want := func(b *rocksdb.BlockBasedTableOptions, size uint64, interval int) {
		t.Helper()
		if !b.NoBlockCache || b.BlockSize != size || b.BlockRestartInterval != interval {
			t.Fatalf("no_block_cache %t, block_size %d, block_restart_interval %d", b.NoBlockCache, b.BlockSize, b.BlockRestartInterval)
		}
	}
	first := table()
	same(t, "blob_file_size", x.db.GetOptions().BlobFileSize, 16384)
	want(first, 8192, 7)
	x.setOptions("table_factory.block_size", "16384", "table_factory.block_restart_interval", "11")
	want(first, 8192, 7)
	second := table()
	want(second, 16384, 11)
	refused := func(kv ...string) {
		t.Helper()
		if err := x.db.SetOptions(pairs(kv)); err == nil {
			t.Fatalf("%v taken", kv)
		}
	}
	refused("table_factory.block_size", "8192", "table_factory.does_not_exist", "true", "table_factory.block_restart_interval", "7")
	same(t, "the factory's options", table(), second)
	want(second, 16384, 11)
	refused("table_factory", "PlainTable")
	x.setOptions("table_factory.block_size", "16384", "blob_file_size", "32768", "table_factory.block_restart_interval", "13")
	third := table()
	same(t, "blob_file_size", x.db.GetOptions().BlobFileSize, 32768)
	want(third, 16384, 13)
	refused("table_factory.block_size", "1024", "no_such_option", "32768", "table_factory.block_restart_interval", "7")
	same(t, "the factory's options", table(), third)
	want(third, 16384, 13)
}

// dummySkipListFactory has a name that nobody can make it by.
type dummySkipListFactory struct{ *memtable.SkipListFactory }

func (dummySkipListFactory) Name() string { return "DummySkipListFactory" }

func TestDBOptionsTest_SetWithCustomMemTableFactory(t *testing.T) {
	x := newDBTest(t)
	cfg := contract.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	if _, err := options.GetMemTableRepFactoryFromString(&cfg, "DummySkipListFactory"); err == nil {
		t.Fatal("made by name")
	}
	o := x.plainOptions()
	o.MemtableFactory = dummySkipListFactory{memtable.NewSkipListFactory(2)}
	x.reopen(o)
	x.setOptions("disable_auto_compactions", "true")
	name := func(c *rocksdb.ColumnFamily) string {
		d, err := c.Impl().GetDescriptor()
		x.must(err)
		return d.Options.MemtableFactory.Name()
	}
	same(t, "memtable factory", name(x.db.ColumnFamily), "DummySkipListFactory")
	c, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "test")
	x.must(err)
	same(t, "memtable factory", name(c), "DummySkipListFactory")
	x.must(x.db.DropColumnFamily(c))
	x.must(c.Close())
}

func TestDBOptionsTest_MutableManifestOptions(t *testing.T) {
	x := newDBTest(t)
	for _, i := range []uint64{0, 1, 100, 100000, 10000000} {
		text := func() string { return strconv.FormatUint(i, 10) }
		inVersions := func() (a, b, c uint64) {
			x.full().TestWithMutex(func() { a, b, c = x.full().TestVersionSet().TestManifestOptions() })
			return a, b, c
		}
		next := func() {
			if i > 1 {
				i++
			}
		}
		x.setDBOptions("max_manifest_file_size", text())
		size, _, _ := inVersions()
		same(t, "max_manifest_file_size", x.db.GetDBOptions().MaxManifestFileSize, i)
		same(t, "max_manifest_file_size in force", size, i)
		next()
		x.setDBOptions("max_manifest_space_amp_pct", text())
		_, amp, _ := inVersions()
		same(t, "max_manifest_space_amp_pct", uint64(x.db.GetDBOptions().MaxManifestSpaceAmpPct), i)
		same(t, "max_manifest_space_amp_pct in force", amp, i)
		next()
		x.setDBOptions("manifest_preallocation_size", text())
		_, _, pre := inVersions()
		same(t, "manifest_preallocation_size", x.db.GetDBOptions().ManifestPreallocationSize, i)
		same(t, "manifest_preallocation_size in force", pre, i)
	}
}

func TestDBOptionsTest_SetOptionsAndReopen(t *testing.T) {
	x := newDBTest(t)
	x.must(x.db.SetOptions(x.randomCFOptions(util.NewRandom(1044))))
	x.reopen(x.plainOptions())
}

func TestDBOptionsTest_SetOptionsMayTriggerCompaction(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.LevelCompactionDynamicLevelBytes, o.Level0FileNumCompactionTrigger = false, 1000
	x.reopen(o)
	for i := range 3 {
		x.mustPut(0, "foo", fmt.Sprint(i))
		x.mustPut(0, "bar", fmt.Sprint(i))
		x.flush(0)
	}
	x.wantFiles(0, "3")
	x.setOptions("level0_file_num_compaction_trigger", "3")
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,1")
}

func TestDBOptionsTest_SetBackgroundCompactionThreads(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.MaxBackgroundCompactions = 1
	x.reopen(o)
	same(t, "compactions", x.full().TestBGCompactionsAllowed(), 1)
	x.setDBOptions("max_background_compactions", "3")
	same(t, "compactions", x.full().TestBGCompactionsAllowed(), 1)
	stop := x.full().TestWriteController().GetStopToken()
	defer stop.Release()
	same(t, "compactions under pressure", x.full().TestBGCompactionsAllowed(), 3)
}

// poolSize sets the goroutines of a pool that all databases of the process share.
func (x *dbTest) poolSize(n int, pri rocksdb.Priority) {
	before := x.env.GetBackgroundThreads(pri)
	x.env.SetBackgroundThreads(n, pri)
	x.Cleanup(func() { x.env.SetBackgroundThreads(before, pri) })
}

func TestDBOptionsTest_SetBackgroundFlushThreads(t *testing.T) {
	x := newDBTest(t)
	x.poolSize(1, rocksdb.HighPriority)
	o := x.plainOptions()
	o.MaxBackgroundFlushes = 1
	x.reopen(o)
	same(t, "flushes", x.full().TestBGFlushesAllowed(), 1)
	same(t, "threads", x.env.GetBackgroundThreads(rocksdb.HighPriority), 1)
	x.setDBOptions("max_background_flushes", "3")
	same(t, "threads", x.env.GetBackgroundThreads(rocksdb.HighPriority), 3)
	same(t, "flushes", x.full().TestBGFlushesAllowed(), 3)
}

func TestDBOptionsTest_SetBackgroundJobs(t *testing.T) {
	x := newDBTest(t)
	x.poolSize(1, rocksdb.HighPriority)
	x.poolSize(1, rocksdb.LowPriority)
	o := x.plainOptions()
	o.MaxBackgroundJobs = 8
	x.reopen(o)
	for i := range 2 {
		if i > 0 {
			o.MaxBackgroundJobs = 12
			x.setDBOptions("max_background_jobs", "12")
		}
		flushes := o.MaxBackgroundJobs / 4
		same(t, "flushes", x.full().TestBGFlushesAllowed(), flushes)
		same(t, "compactions", x.full().TestBGCompactionsAllowed(), 1)
		stop := x.full().TestWriteController().GetStopToken()
		same(t, "flushes under pressure", x.full().TestBGFlushesAllowed(), flushes)
		same(t, "compactions under pressure", x.full().TestBGCompactionsAllowed(), 3*flushes)
		same(t, "threads for flushes", x.env.GetBackgroundThreads(rocksdb.HighPriority), flushes)
		same(t, "threads for compactions", x.env.GetBackgroundThreads(rocksdb.LowPriority), 3*flushes)
		stop.Release()
	}
}

func TestDBOptionsTest_AvoidFlushDuringShutdown(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.DisableAutoCompactions = true
	noWAL := rocksdb.DefaultWriteOptions()
	noWAL.DisableWAL = true
	same(t, "avoid_flush_during_shutdown", o.AvoidFlushDuringShutdown, false)
	x.destroyAndReopen(o)
	x.mustPutWith(0, "foo", "v1", &noWAL)
	x.reopen(o)
	x.wantGet(0, "foo", "v1")
	x.wantFiles(0, "1")
	x.destroyAndReopen(o)
	x.mustPutWith(0, "foo", "v2", &noWAL)
	x.setDBOptions("avoid_flush_during_shutdown", "true")
	x.reopen(o)
	x.wantGet(0, "foo", "NOT_FOUND")
	x.wantFiles(0, "")
}

func TestDBOptionsTest_SetDelayedWriteRateOption(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.DelayedWriteRate = 2 << 20
	x.reopen(o)
	rate := func() (n uint64) {
		x.full().TestWithMutex(func() { n = x.full().TestWriteController().MaxDelayedWriteRate() })
		return n
	}
	same(t, "rate", rate(), 2<<20)
	x.setDBOptions("delayed_write_rate", "20000")
	same(t, "rate", rate(), 20000)
}

func TestDBOptionsTest_MaxTotalWalSizeChange(t *testing.T) {
	x := newDBTest(t)
	value := util.NewRandom(1044).RandomString(1024)
	x.createAndReopenWithCF([]string{"1", "2", "3"}, x.plainOptions())
	for i := range 100 {
		for cf := range x.cfs {
			x.mustPut(cf, key(i), value)
		}
	}
	x.setDBOptions("max_total_wal_size", "10")
	for cf := range x.cfs {
		x.waitForFlush(cf)
		x.wantFiles(cf, "1")
	}
}

func TestDBOptionsTest_SetStatsDumpPeriodSec(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.StatsDumpPeriodSec = 5
	x.reopen(o)
	same(t, "stats_dump_period_sec", x.db.GetDBOptions().StatsDumpPeriodSec, 5)
	rnd := util.NewRandom(301)
	for range 20 {
		n := rnd.Uniform(5000) + 1
		x.setDBOptions("stats_dump_period_sec", fmt.Sprint(n))
		same(t, "stats_dump_period_sec", x.db.GetDBOptions().StatsDumpPeriodSec, n)
	}
}

func TestDBOptionsTest_SetStatsDumpPeriodSecRace(t *testing.T) {
	x := newDBTest(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if err := x.db.SetDBOptions(map[string]string{"stats_dump_period_sec": []string{"0", "100"}[i%2]}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same(t, "statistics are dumped", x.full().TestPeriodicTaskScheduler().TestHasTask(db.PeriodicTaskDumpStats), x.db.GetDBOptions().StatsDumpPeriodSec > 0)
}

func TestDBOptionsTest_SetOptionsAndFileRace(t *testing.T) {
	x := newDBTest(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if err := x.db.SetOptions(map[string]string{"ttl": strconv.Itoa(i * 100)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	cfg := contract.DefaultConfigOptions()
	cfg.Env = x.env
	_, families, err := rocksdb.LoadLatestOptions(&cfg, x.dir, nil)
	x.must(err)
	same(t, "families", len(families), 1)
	same(t, "ttl in the file", families[0].Options.TTL, x.db.GetOptions().TTL)
}

func TestDBOptionsTest_SetOptionsStatsPersistPeriodSec(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.StatsPersistPeriodSec = 5
	x.reopen(o)
	same(t, "period", x.db.GetDBOptions().StatsPersistPeriodSec, 5)
	x.setDBOptions("stats_persist_period_sec", "12345")
	same(t, "period", x.db.GetDBOptions().StatsPersistPeriodSec, 12345)
	if err := x.db.SetDBOptions(map[string]string{"stats_persist_period_sec": "abcde"}); err == nil {
		t.Error("abcde is a period")
	}
	same(t, "period", x.db.GetDBOptions().StatsPersistPeriodSec, 12345)
}

func TestDBOptionsTest_DeleteObsoleteFilesPeriodChange(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	clock, e := x.emulatedTime(true)
	o.Env = e
	x.reopen(o)
	none := func(want bool) {
		t.Helper()
		f := x.full().TestFindObsoleteFiles(false, false)
		got := f.FullScanCandidates() == 0
		x.full().TestPurgeObsoleteFiles(f)
		same(t, "no full scan", got, want)
	}
	none(true)
	x.setDBOptions("delete_obsolete_files_period_micros", "0")
	none(false)
	x.setDBOptions("delete_obsolete_files_period_micros", "20")
	none(true)
	clock.MockSleepForMicroseconds(20)
	none(true)
	clock.MockSleepForMicroseconds(1)
	none(false)
}

func TestDBOptionsTest_MaxOpenFilesChange(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.MaxOpenFiles = -1
	x.reopen(o)
	c := x.full().TestTableCache()
	same(t, "max_open_files", x.db.GetDBOptions().MaxOpenFiles, -1)
	if n := c.GetCapacity(); n <= 2000 {
		t.Errorf("room for %d tables", n)
	}
	x.setDBOptions("max_open_files", "1024")
	same(t, "max_open_files", x.db.GetDBOptions().MaxOpenFiles, 1024)
	if n := c.GetCapacity(); n >= 1500 {
		t.Errorf("room for %d tables", n)
	}
}

func TestDBOptionsTest_SanitizeDelayedWriteRate(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.DelayedWriteRate = 0
	x.reopen(o)
	same(t, "rate", x.db.GetDBOptions().DelayedWriteRate, 16<<20)
	l, err := rocksdb.NewGenericRateLimiter(31<<20, 100000, 10, contract.WritesOnly, false)
	x.must(err)
	o.RateLimiter = l
	x.reopen(o)
	same(t, "rate", x.db.GetDBOptions().DelayedWriteRate, 31<<20)
}

func TestDBOptionsTest_SanitizeUniversalTTLCompaction(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	for _, c := range [][4]uint64{{0, 0, 0, 0}, {0, 100, 0, 100}, {100, 0, 100, 100}, {100, 500, 100, 100}} {
		o.TTL, o.PeriodicCompactionSeconds = c[0], c[1]
		x.reopen(o)
		got := x.db.GetOptions()
		same(t, "ttl", got.TTL, c[2])
		same(t, "periodic_compaction_seconds", got.PeriodicCompactionSeconds, c[3])
	}
}

func TestDBOptionsTest_SanitizeTtlDefault(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	x.reopen(o)
	same(t, "ttl", x.db.GetOptions().TTL, 30*24*60*60)
	o.CompactionStyle = rocksdb.CompactionStyleLevel
	for _, ttl := range []uint64{0, 100} {
		o.TTL = ttl
		x.reopen(o)
		same(t, "ttl", x.db.GetOptions().TTL, ttl)
	}
}

func TestDBOptionsTest_SanitizeFIFOPeriodicCompaction(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.CompactionStyle = rocksdb.CompactionStyleFIFO
	same(t, "ttl", x.db.GetOptions().TTL, 30*24*60*60)
	for _, ttl := range []uint64{0, 100, 100 * 24 * 60 * 60} {
		o.TTL = ttl
		x.reopen(o)
		same(t, "ttl", x.db.GetOptions().TTL, ttl)
	}
	o.TTL, o.PeriodicCompactionSeconds = 500, 300
	x.reopen(o)
	same(t, "ttl", x.db.GetOptions().TTL, 500)
}

// tenTables flushes ten tables of about 10 KB.
func (x *dbTest) tenTables(rnd *util.Random) {
	x.Helper()
	for i := range 10 {
		for j := range 10 {
			x.mustPut(0, strconv.Itoa(i*20+j), rnd.RandomString(980))
		}
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	same(x, "tables", x.numTableFilesAtLevel(0, 0), 10)
}

func TestDBOptionsTest_SetFIFOCompactionOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	clock, e := x.emulatedTime(false)
	clock.SetMockSleep(true)
	stats := rocksdb.NewStatistics()
	o.Env, o.Statistics = e, stats
	o.CompactionStyle, o.WriteBufferSize, o.ArenaBlockSize = rocksdb.CompactionStyleFIFO, 10<<10, 4096
	o.Compression, o.CompactionOptionsFIFO.AllowCompaction, o.NumLevels = rocksdb.NoCompression, false, 1
	o.TTL = 60 * 60
	x.reopen(o)
	rnd := util.NewRandom(301)
	compact := func(least, most int) {
		t.Helper()
		x.compact(0, "", "")
		x.must(x.full().TestWaitForCompact())
		if n := x.numTableFilesAtLevel(0, 0); n < least || n > most {
			t.Fatalf("%d tables, not %d to %d", n, least, most)
		}
	}
	counts := func(ttl, size bool) {
		t.Helper()
		same(t, "compactions by ttl", stats.GetTickerCount(rocksdb.FIFOTTLCompactions) > 0, ttl)
		same(t, "compactions by size", stats.GetTickerCount(rocksdb.FIFOMaxSizeCompactions) > 0, size)
	}
	x.tenTables(rnd)
	clock.MockSleepForSeconds(61)
	same(t, "ttl", x.db.GetOptions().TTL, 3600)
	compact(10, 10)
	counts(false, false)
	x.setOptions("ttl", "60")
	same(t, "ttl", x.db.GetOptions().TTL, 60)
	compact(0, 0)
	counts(true, false)
	x.must(stats.Reset())

	o.CompactionOptionsFIFO.MaxTableFilesSize, o.TTL = 500<<10, 0
	x.destroyAndReopen(o)
	x.tenTables(rnd)
	same(t, "size", x.db.GetOptions().CompactionOptionsFIFO.MaxTableFilesSize, 500<<10)
	compact(10, 10)
	counts(false, false)
	x.setOptions("compaction_options_fifo", "{max_table_files_size=12288;}")
	same(t, "size", x.db.GetOptions().CompactionOptionsFIFO.MaxTableFilesSize, 12<<10)
	compact(1, 1)
	counts(false, true)
	x.must(stats.Reset())

	o.Level0FileNumCompactionTrigger = 6
	x.destroyAndReopen(o)
	x.tenTables(rnd)
	same(t, "allow_compaction", x.db.GetOptions().CompactionOptionsFIFO.AllowCompaction, false)
	compact(10, 10)
	x.setOptions("compaction_options_fifo", "{allow_compaction=true;}")
	same(t, "allow_compaction", x.db.GetOptions().CompactionOptionsFIFO.AllowCompaction, true)
	compact(1, 5)

	same(t, "thresholds", len(x.db.GetOptions().CompactionOptionsFIFO.FileTemperatureAgeThresholds), 0)
	x.setOptions("compaction_options_fifo", "{file_temperature_age_thresholds={{age=10;temperature=kWarm}:{age=30000;temperature=kCold}}}")
	got := x.db.GetOptions().CompactionOptionsFIFO.FileTemperatureAgeThresholds
	if want := []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureWarm, Age: 10}, {Temperature: rocksdb.TemperatureCold, Age: 30000}}; !slices.Equal(got, want) {
		t.Errorf("thresholds: %v", got)
	}
}

func TestDBOptionsTest_FIFOTtlBackwardCompatible(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.CompactionStyle, o.WriteBufferSize, o.NumLevels = rocksdb.CompactionStyleFIFO, 10<<10, 1
	x.reopen(o)
	x.tenTables(util.NewRandom(301))
	want := func(ttl uint64) {
		t.Helper()
		got := x.db.GetOptions()
		f := got.CompactionOptionsFIFO
		same(t, "ttl", got.TTL, ttl)
		same(t, "allow_compaction", f.AllowCompaction, true)
		same(t, "max_table_files_size", f.MaxTableFilesSize, 1024)
		if want := []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureCold, Age: 12345}}; !slices.Equal(f.FileTemperatureAgeThresholds, want) {
			t.Errorf("thresholds: %v", f.FileTemperatureAgeThresholds)
		}
	}
	x.setOptions("compaction_options_fifo", "{allow_compaction=true;max_table_files_size=1024;ttl=731;file_temperature_age_thresholds={temperature=kCold;age=12345}}", "ttl", "60")
	want(60)
	x.setOptions("compaction_options_fifo", "{ttl=985;allow_compaction=true;max_table_files_size=1024;}", "ttl", "191")
	want(191)
}

func TestDBOptionsTest_FIFOTemperatureAgeThresholdValidation(t *testing.T) {
	const sorted, oneLevel = "Option file_temperature_age_thresholds requires elements to be sorted in increasing order with respect to `age` field.",
		"Option file_temperature_age_thresholds is only supported when num_levels = 1."
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroy(o)
	refused := func(err error, text string) {
		t.Helper()
		x.wantIs(err, rocksdb.ErrNotSupported)
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v, not %s", err, text)
		}
	}
	o.NumLevels, o.CompactionStyle, o.MaxOpenFiles = 1, rocksdb.CompactionStyleFIFO, -1
	f := &o.CompactionOptionsFIFO.FileTemperatureAgeThresholds
	*f = []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureCold, Age: 1000}, {Temperature: rocksdb.TemperatureWarm, Age: 500}}
	refused(x.tryReopen(o), sorted)
	*f = (*f)[:1]
	x.reopen(o)
	refused(x.db.SetOptions(map[string]string{"compaction_options_fifo": "{file_temperature_age_thresholds={{temperature=kCold;age=1000000}:{temperature=kWarm;age=1}}}"}), sorted)
	o.NumLevels = 2
	refused(x.tryReopen(o), oneLevel)
	*f = nil
	x.destroyAndReopen(o)
	refused(x.db.SetOptions(map[string]string{"compaction_options_fifo": "{file_temperature_age_thresholds={temperature=kCold;age=1000}}"}), oneLevel)
}

// readaheadFS records the readahead that tables are opened with.
type readaheadFS struct {
	rocksdb.FileSystemWrapper
	mu   sync.Mutex
	size uint64
}

func (f *readaheadFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	f.mu.Lock()
	f.size = o.CompactionReadaheadSize
	f.mu.Unlock()
	return f.Target().NewRandomAccessFile(name, o)
}

func TestDBOptionsTest_CompactionReadaheadSizeChange(t *testing.T) {
	x := newDBTest(t)
	for _, direct := range []bool{true, false} {
		fs := &readaheadFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
		o := x.onFS(x.plainOptions(), fs)
		o.UseDirectReads, o.Level0FileNumCompactionTrigger = direct, 2
		err := x.tryReopen(o)
		if direct && err != nil {
			continue
		}
		x.must(err)
		same(t, "readahead", x.db.GetDBOptions().CompactionReadaheadSize, 2<<20)
		x.setDBOptions("compaction_readahead_size", "256")
		same(t, "readahead", x.db.GetDBOptions().CompactionReadaheadSize, 256)
		for _, n := range []int{1024, 2048} {
			for i := range n {
				x.mustPut(0, key(i), dummyString(1024, 'v'))
			}
			x.flush(0)
		}
		x.must(x.full().TestWaitForCompact())
		fs.mu.Lock()
		same(t, "readahead of the last table", fs.size, 256)
		fs.mu.Unlock()
		x.close()
	}
}

func TestDBOptionsTest_SetOptionsMultipleColumnFamilies(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.DisableAutoCompactions = true
	x.reopen(o)
	x.createAndReopenWithCF([]string{"cf1", "cf2"}, o)
	want := func(disabled ...bool) {
		t.Helper()
		for i, d := range disabled {
			same(t, "disable_auto_compactions of family "+fmt.Sprint(i), x.cfs[i].GetOptions().DisableAutoCompactions, d)
		}
	}
	disable := func(v string) map[string]string { return map[string]string{"disable_auto_compactions": v} }
	want(true, true, true)
	x.must(x.db.SetOptionsColumnFamilies(map[*rocksdb.ColumnFamily]map[string]string{x.cfs[1]: disable("false"), x.cfs[2]: disable("false")}))
	want(true, false, false)
	x.must(x.db.SetOptionsColumnFamilies(map[*rocksdb.ColumnFamily]map[string]string{
		x.cfs[0]: disable("false"), x.cfs[1]: disable("true"), x.cfs[2]: disable("true")}))
	want(false, true, true)
}

func TestDBOptionsTest_UseDirectIoForCompactionReadsRoundTrip(t *testing.T) {
	base := rocksdb.DefaultDBOptions()
	same(t, "default", base.UseDirectIOForCompactionReads, false)
	for _, want := range []bool{true, false} {
		o, err := rocksdb.GetDBOptionsFromString(nil, base, fmt.Sprintf("use_direct_io_for_compaction_reads=%t", want))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "parsed", o.UseDirectIOForCompactionReads, want)
	}
}

func TestDBOptionsTest_UseDirectIoForCompactionReadsValidation(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.AllowMmapReads, o.UseDirectIOForCompactionReads = true, true
	x.wantIs(x.tryReopen(o), rocksdb.ErrNotSupported)
}

func TestDBOptionsTest_UseDirectIoForCompactionReadsLiveReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.UseDirectIOForCompactionReads = true
	x.reopenDirect(o)
	same(t, "option", x.db.GetDBOptions().UseDirectIOForCompactionReads, true)
}

// onMockFS are options for direct compaction reads on a file system in memory.
func (x *dbTest) onMockFS(directIO bool) rocksdb.Options {
	o := x.onFS(x.currentOptions(), mockenv.NewMockFileSystem(env.Default().GetSystemClock(), directIO))
	o.UseDirectIOForCompactionReads = true
	return o
}

func TestDBOptionsTest_UseDirectIoForCompactionReadsUnsupportedFileSystem(t *testing.T) {
	x := newDBTest(t)
	err := x.tryReopen(x.onMockFS(false))
	x.wantIs(err, rocksdb.ErrInvalidArgument)
	if !strings.Contains(err.Error(), "Direct I/O is not supported") {
		t.Error(err)
	}
}

func TestDBOptionsTest_OptimizeForCompactionTableReadUsesGlobalDirectReadsOnly(t *testing.T) {
	x := newDBTest(t)
	fs := x.env.GetFileSystem()
	in := rocksdb.DefaultFileOptions()
	for _, global := range []bool{false, true} {
		for _, compaction := range []bool{false, true} {
			o := rocksdb.DefaultDBOptions()
			o.UseDirectReads, o.UseDirectIOForCompactionReads = global, compaction
			tables := fs.OptimizeForCompactionTableRead(&in, o.UseDirectReads, nil)
			same(t, "direct reads of tables", tables.UseDirectReads, global)
			if !global && compaction {
				same(t, "direct writes", tables.UseDirectWrites, false)
				same(t, "direct reads of blobs", fs.OptimizeForBlobFileRead(&in, o.UseDirectReads).UseDirectReads, false)
			}
		}
	}
}
