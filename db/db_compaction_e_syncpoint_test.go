//go:build syncpoint

// Port of db/db_compaction_test.cc (reads that fail, times of keys, tables left in
// the table cache, checks of outputs).

package db_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	compactionjob "github.com/rocksdb-go/rocksdb/db/compaction/job"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

func TestDBCompactionTest_ErrorWhenReadFileHead(t *testing.T) {
	for file := int64(1); file <= 3; file++ {
		x := newCompactionTest(t)
		o := x.currentOptions()
		o.NumLevels, o.Compression = 7, rocksdb.NoCompression
		x.destroyAndReopen(o)
		rnd, values := util.NewRandom(301), map[int]string{}
		table := func(from, end, level int) {
			x.putRange(rnd, values, from, end, 100)
			x.flush(0)
			x.moveFilesToLevel(level, 0)
		}
		table(50, 150, 6)
		table(0, 100, 5)
		table(100, 200, 5)
		x.wantFiles(0, "0,0,0,0,0,2,1")
		var reads atomic.Int64
		syncpoint.SetCallBack("RandomAccessFileReader::Read::BeforeReturn", func(arg any) {
			if reads.Add(1) == file {
				*arg.(*error) = retryable("injected")
			}
		})
		syncpoint.EnableProcessing()
		err := x.db.CompactRange(nil, nil, nil)
		x.wantRange(values, 0, 200) // a compaction that fails loses nothing
		x.wantIs(err, rocksdb.ErrIOError)
		x.must(x.db.CompactRange(nil, nil, nil))
		x.wantRange(values, 0, 200)
		syncpoint.Reset()
		x.close()
	}
}

func TestDBCompactionTest_RecordNewestKeyTimeForTtlCompaction(t *testing.T) {
	x := newCompactionTest(t)
	clock, e := x.emulatedTime(true)
	o := x.plainOptions()
	o.Env, o.CompactionStyle, o.WriteBufferSize, o.ArenaBlockSize = e, rocksdb.CompactionStyleFIFO, 10<<10, 4096
	o.Compression, o.NumLevels, o.TTL = rocksdb.NoCompression, 1, 60*60
	o.MemtableFactory = newSpecialSkipListFactory(100) // full when told so
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i := range 4 {
		for j := range 10 {
			x.mustPut(0, strconv.Itoa(i*20+j), rnd.RandomString(980))
		}
		x.flush(0)
		clock.MockSleepForSeconds(5)
	}
	x.waitForCompact()
	properties := func(want int) (list []*rocksdb.TableProperties) {
		t.Helper()
		x.wantLevelFiles(0, want)
		for _, f := range x.level(0) {
			list = append(list, f.FD.PinnedReader().GetTableProperties())
		}
		return list
	}
	files := properties(4) // the newest first
	newest, oldest := files[0].NewestKeyTime, files[3].NewestKeyTime
	same(t, "seconds between the first and the last", newest-oldest, 15)
	for i, p := range files {
		same(t, "time of the newest key", p.NewestKeyTime, newest-5*uint64(i))
		same(t, "creation", p.CreationTime, p.NewestKeyTime)
	}
	o.CompactionOptionsFIFO.AllowCompaction = true
	x.reopen(o)
	x.waitForCompact()
	merged := properties(1)[0]
	same(t, "newest key of all", merged.NewestKeyTime, newest)
	same(t, "oldest ancestor of all", merged.CreationTime, oldest)
	same(t, "oldest ancestor of the file", x.level(0)[0].OldestAncesterTime, oldest)
	clock.MockSleepForSeconds(6)
	for _, c := range []struct {
		ttl   string
		files int
	}{{"15", 1}, {"5", 0}} { // the newest of the keys counts
		x.setOptions("ttl", c.ttl)
		x.compact(0, "", "")
		x.waitForCompact()
		x.wantLevelFiles(0, c.files)
	}
}

func TestDBCompactionTest_CompactionRespectsTargetSizeWithTailEstimation(t *testing.T) {
	const n = 5000
	x := newCompactionTest(t)
	o := blockTable(x.currentOptions(), func(b *rocksdb.BlockBasedTableOptions) {
		b.PartitionFilters, b.MetadataBlockSize, b.IndexType = true, 4<<10, rocksdb.BinarySearch
		b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
	})
	o.TargetFileSizeIsUpperBound, o.TargetFileSizeBase, o.WriteBufferSize = true, 128<<10, 2<<20
	o.Level0FileNumCompactionTrigger, o.Compression = 100, rocksdb.NoCompression
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for _, from := range []int{0, n / 2} {
		for i := from; i < from+n; i++ {
			x.mustPut(0, key(i), rnd.RandomString(100))
		}
		x.flush(0)
	}
	x.wantFiles(0, "2")
	x.changeLevel(1)
	if len(x.level(1)) < 2 {
		t.Fatal(x.filesPerLevel(0))
	}
	for _, f := range x.level(1) {
		if f.FD.GetFileSize() > o.TargetFileSizeBase {
			t.Errorf("file %d has %d bytes", f.FD.GetNumber(), f.FD.GetFileSize())
		}
	}
}

// periodicListener counts the compactions that begin for their files' age.
type periodicListener struct {
	rocksdb.EventListenerBase
	n atomic.Int64
}

func (l *periodicListener) OnCompactionBegin(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	if info.CompactionReason == contract.CompactionReasonPeriodicCompaction {
		l.n.Add(1)
	}
}

func TestDBCompactionTest_PeriodicTask(t *testing.T) {
	const week = 7 * 24 * 60 * 60
	x := newStatsHistoryTest(t)
	x.clock.MockSleepForSeconds(100) // files of the time 0 are of no known time
	l := &periodicListener{}
	o := x.options(0)
	o.CompactionStyle, o.PeriodicCompactionSeconds, o.NumLevels = rocksdb.CompactionStyleUniversal, week, 50
	o.Listeners = append(o.Listeners, l)
	x.reopen(o)
	for i := range 10 {
		x.mustPut(0, key(i), dummyString(100, 'v'))
	}
	x.flush(0)
	x.compact(0, "", "")
	x.wantLevelFiles(49, 1)
	x.pass(week + 1)
	x.waitForCompact()
	same(t, "periodic compactions", l.n.Load(), 1)
}

func TestDBCompactionTest_ReadTriggeredCompaction(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.NumLevels, o.Level0FileNumCompactionTrigger, o.DisableAutoCompactions = 3, 10, true
	o.ReadTriggeredCompactionThreshold = 0.001
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	for i, level := range []int{2, 1} {
		for j := range 5 {
			x.mustPut(0, key(i*5+j), rnd.RandomString(1024))
		}
		x.flush(0)
		x.moveFilesToLevel(level, 0)
	}
	x.wantFiles(0, "0,1,1")
	f := x.level(1)[0]
	f.Stats.NumCollapsibleEntryReadsSampled.Store(uint64(0.002 * float64(f.FD.GetFileSize())))
	var picked atomic.Int64
	syncpoint.SetCallBack("LevelCompactionPicker::PickCompaction:Return", func(arg any) {
		if c := arg.(*compaction.Compaction); c != nil && c.CompactionReason() == contract.CompactionReasonReadTriggered {
			picked.Add(1)
		}
	})
	syncpoint.EnableProcessing()
	x.setOptions("disable_auto_compactions", "false")
	x.waitForCompact()
	syncpoint.DisableProcessing()
	if picked.Load() == 0 {
		t.Error("no compaction for reads")
	}
	x.wantLevelFiles(1, 0)
	for i := range 10 {
		if x.get(0, key(i)) == "NOT_FOUND" {
			t.Errorf("%s is lost", key(i))
		}
	}
}

func TestDBCompactionTest_RoundRobinCleanCutWithSharedBoundary(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.CompactionPri, o.MaxBytesForLevelBase, o.DisableAutoCompactions = rocksdb.RoundRobin, 100, true
	x.destroyAndReopen(o)
	var snapshots []rocksdb.Snapshot
	for v := range 5 {
		for k := range 3 {
			x.mustPut(0, fmt.Sprint("key", k), fmt.Sprint("v", v))
		}
		snapshots = append(snapshots, x.db.GetSnapshot())
		x.flush(0)
	}
	// Five tables of three entries each, neighbours of which share keys.
	n := 0
	syncpoint.SetCallBack("CompactionOutputs::ShouldStopBefore::manual_decision", func(arg any) {
		arg.(*compactionjob.ManualDecision).Stop = n > 0 && n%3 == 0
		n++
	})
	syncpoint.EnableProcessing()
	x.must(x.full().TestCompactRange(0, nil, nil, x.cf(0).Impl(), false))
	syncpoint.Reset()
	x.wantLevelFiles(1, 5)
	for _, s := range snapshots {
		x.db.ReleaseSnapshot(s)
	}
	x.setOptions("disable_auto_compactions", "false")
	x.waitForCompact()
	for k := range 3 {
		x.wantGet(0, fmt.Sprint("key", k), "v4")
	}
}

// wantOnlyLiveCached wants the table cache to have no table that is not live.
func (x *dbTest) wantOnlyLiveCached() {
	x.Helper()
	live := map[uint64]bool{}
	for _, f := range x.db.GetLiveFilesMetaData() {
		live[f.FileNumber] = true
	}
	x.full().TestTableCache().ApplyToAllEntries(func(key []byte, _ any, _ int, _ *contract.CacheItemHelper) {
		if n := binary.LittleEndian.Uint64(key); !live[n] {
			x.Errorf("table %d is in the table cache", n)
		}
	})
}

// failMetadataReads keeps obsolete files from being found.
func (x *dbTest) failMetadataReads() {
	x.fault.SetErrorContext(fsutil.FaultInjectionMetadataRead, 0, 1, false, false)
	x.fault.EnableErrorInjection(fsutil.FaultInjectionMetadataRead)
}

// compactionLeaks lets a compaction fail at a point, and no obsolete file be found
// after that; nothing may be left in the table cache.
func compactionLeaks(t *testing.T, point string, failure error) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.ParanoidFileChecks, o.Level0FileNumCompactionTrigger, o.DisableAutoCompactions, o.NumLevels = true, 2, true, 3
	x.destroyAndReopen(o)
	for _, c := range []byte("xy") {
		x.puts(0, "a", dummyString(1024, c), "z", dummyString(1024, c), "flush")
	}
	x.wantFiles(0, "2")
	var once atomic.Bool
	syncpoint.SetCallBack(point, func(arg any) {
		if !once.Swap(true) {
			*arg.(*error) = failure
		}
	})
	syncpoint.SetCallBack("BackgroundCallCompaction:1", func(any) { x.failMetadataReads() })
	syncpoint.EnableProcessing()
	x.wantIs(x.full().TestCompactRange(0, nil, nil, x.cf(0).Impl(), false), failure)
	syncpoint.Reset()
	x.wantOnlyLiveCached()
	x.must(x.db.Close())
	x.fault.DisableAllErrorInjection()
}

func TestDBCompactionTest_LeakedTableCacheEntryOnCompactionFailure(t *testing.T) {
	compactionLeaks(t, "CompactionJob::Run():AfterVerifyOutputFiles", rocksdb.Corruption("injected"))
}

func TestDBCompactionTest_LeakedTableCacheEntryOnInstallFailure(t *testing.T) {
	compactionLeaks(t, "CompactionJob::InstallCompactionResults:BeforeLogAndApply", rocksdb.IOError("injected"))
}

func TestDBCompactionTest_ObsoleteFileTableCacheEntryWithConcurrentRef(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.puts(0, "a", dummyString(1024, 'x'), "z", dummyString(1024, 'x'), "flush")
	x.wantGet(0, "a", dummyString(1024, 'x')) // now it is in the table cache
	f, cache := x.level(0)[0], x.full().TestTableCache()
	lookup := func() rocksdb.CacheHandle {
		return cache.Lookup(f.FD.TableCacheKey(), nil, nil, rocksdb.CachePriorityLow, nil)
	}
	reader := lookup()
	if reader == nil {
		t.Fatal("the table is not in the cache")
	}
	tablecache.ReleaseObsolete(cache, f, 0)
	cache.Release(reader, false)
	if h := lookup(); h != nil {
		cache.Release(h, false)
		t.Error("the table is still in the cache")
	}
}

func TestDBCompactionTest_LeakedTableCacheEntryOnAtomicFlushInstallFailure(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.AtomicFlush, o.DisableAutoCompactions, o.WriteBufferSize = true, true, 64<<20
	x.destroyAndReopen(o)
	x.createAndReopenWithCF(pikachu[1:], o)
	x.mustPut(0, "key0", dummyString(1024, 'a'))
	x.mustPut(1, "key1", dummyString(1024, 'b'))
	syncpoint.SetCallBack("VersionSet::LogAndApply:WriteManifest", func(any) {
		x.fault.SetErrorContext(fsutil.FaultInjectionWrite, 0, 1, false, false)
		x.fault.EnableErrorInjection(fsutil.FaultInjectionWrite)
	})
	syncpoint.EnableProcessing()
	if x.db.FlushColumnFamilies(nil, x.cfs) == nil {
		t.Error("flushed")
	}
	syncpoint.Reset()
	x.fault.DisableAllErrorInjection()
	x.failMetadataReads()
	x.wantOnlyLiveCached()
	x.fault.DisableAllErrorInjection()
}

// overlappingTen flushes two tables of ten keys, of which they share five, and
// gives what the keys have.
func (x *dbTest) overlappingTen() (want []string) {
	x.Helper()
	for i := range 10 {
		x.mustPut(0, key(i), fmt.Sprint("value", i))
	}
	x.flush(0)
	for i := range 15 {
		if i < 5 {
			want = append(want, fmt.Sprint("value", i))
			continue
		}
		want = append(want, fmt.Sprint("value2_", i))
		x.mustPut(0, key(i), want[i])
	}
	x.flush(0)
	return want
}

// verifyOutputs opens a database whose compactions check their tables, if not with
// paranoid_file_checks.
func verifyOutputs(t *testing.T, flags contract.VerifyOutputFlags) *dbTest {
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.FileChecksumGenFactory = true, rocksdb.GetFileChecksumGenCrc32cFactory()
	o.VerifyOutputFlags = flags | contract.EnableForLocalCompaction
	x.destroyAndReopen(o)
	return x
}

func TestDBCompactionTest_VerifyFileChecksumOnCompactionOutput(t *testing.T) {
	x := verifyOutputs(t, contract.VerifyFileChecksum)
	x.overlappingTen()
	syncpoint.SetCallBack("CompactionJob::Run:BeforeVerify", func(any) {
		tables := x.files(rocksdb.TableFile)
		x.flipBytes(tables[len(tables)-1], 0, 1)
	})
	syncpoint.EnableProcessing()
	err := x.db.CompactRange(nil, nil, nil)
	x.wantIs(err, rocksdb.ErrCorruption)
	if !strings.Contains(err.Error(), "File checksum mismatch for compaction output") {
		t.Error(err)
	}
	syncpoint.Reset()
}

// outputsPass compacts, and wants no check to find fault.
func outputsPass(t *testing.T, flags contract.VerifyOutputFlags) {
	x := verifyOutputs(t, flags)
	want := x.overlappingTen()
	x.compact(0, "", "")
	for i, v := range want {
		x.wantGet(0, key(i), v)
	}
}

func TestDBCompactionTest_VerifyIterationWithoutParanoidFileChecks(t *testing.T) {
	outputsPass(t, contract.VerifyIteration)
}

func TestDBCompactionTest_VerifyAllOutputFlagsWithoutParanoidFileChecks(t *testing.T) {
	outputsPass(t, contract.VerifyBlockChecksum|contract.VerifyIteration|contract.VerifyFileChecksum)
}
