//go:build syncpoint

// Port of db/db_compaction_test.cc (the first half: compactions that snapshots
// or time set off).

package db_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	hour = 60 * 60 // seconds
	day  = 24 * hour
)

// pickedReasons are the reasons of the compactions that the level picker gives.
type pickedReasons struct {
	t  *testing.T
	mu sync.Mutex
	n  map[rocksdb.CompactionReason]int
}

func countPicked(t *testing.T) *pickedReasons {
	p := &pickedReasons{t: t, n: map[rocksdb.CompactionReason]int{}}
	syncpoint.SetCallBack("LevelCompactionPicker::PickCompaction:Return", func(arg any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.n[arg.(*compaction.Compaction).CompactionReason()]++
	})
	syncpoint.EnableProcessing()
	return p
}

// only fails the test where there was another reason than those.
func (p *pickedReasons) only(reasons ...rocksdb.CompactionReason) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	total := 0
	for _, n := range p.n {
		total += n
	}
	for _, r := range reasons {
		total -= p.n[r]
	}
	if total != 0 {
		p.t.Fatalf("compactions by reason: %v", p.n)
	}
}

// want checks how many compactions had a reason up to now.
func (p *pickedReasons) want(r rocksdb.CompactionReason, n int) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n[r] != n {
		p.t.Fatalf("compactions by reason: %v; not %d for %v", p.n, n, r)
	}
}

// take gives how many had a reason, and begins anew.
func (p *pickedReasons) take(r rocksdb.CompactionReason) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.n[r]
	p.n[r] = 0
	return n
}

// limitOpenFiles goes below the least number of open files.
func limitOpenFiles(n int) {
	syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = n })
}

// forgetTimes has the MANIFEST not tell a time, as an old version's did not.
func forgetTimes(field string) {
	syncpoint.SetCallBack("VersionEdit::EncodeTo:"+field, func(arg any) { *arg.(*uint64) = 0 })
}

// fillFiles flushes files of random values, with consecutive keys.
func (x *dbTest) fillFiles(rnd *util.Random, files, keys, size int) {
	x.Helper()
	for i := range files {
		x.putRange(rnd, map[int]string{}, i*keys, i*keys+keys, size)
		x.flush(0)
	}
}

// deletedUnderSnapshot makes files with half of the keys deleted, the values
// kept by a snapshot.
func (x *dbTest) deletedUnderSnapshot(files int) rocksdb.Snapshot {
	const keys, size = 1024, 128
	rnd := util.NewRandom(301)
	var snapshot rocksdb.Snapshot
	for i := range files {
		x.putRange(rnd, map[int]string{}, i*keys, i*keys+keys, size)
		if i == files-1 {
			snapshot = x.db.GetSnapshot()
			for j := 0; j < files*keys; j += 2 {
				x.mustDelete(0, key(j))
			}
		}
		x.flush(0)
		if i < files-1 {
			x.wantLevelFiles(0, i+1)
		}
	}
	return snapshot
}

func (x *dbTest) bottomFileOptions(files int) rocksdb.Options {
	o := x.currentOptions()
	o.Compression, o.Level0FileNumCompactionTrigger = rocksdb.NoCompression, files
	o.TargetFileSizeBase = 120 * 1024 * 128 / 100
	return o
}

func TestDBCompactionTest_CompactBottomLevelFilesWithDeletions(t *testing.T) {
	const files = 4
	x := newCompactionTest(t)
	x.createAndReopenWithCF([]string{"one"}, x.bottomFileOptions(files))
	snapshot := x.deletedUnderSnapshot(files)
	x.must(x.full().TestWaitForCompact())
	x.wantLevelFiles(1, files)
	before := x.db.GetLiveFilesMetaData()
	x.mustPut(0, key(0), "val") // the newest sequence number is not in the files
	if x.storage(0).BottommostFilesMarkThreshold() == dbformat.MaxSequenceNumber {
		t.Error("no file waits for a snapshot")
	}
	picked := countPicked(t)
	x.db.ReleaseSnapshot(snapshot)
	same(t, "threshold", x.storage(0).BottommostFilesMarkThreshold(), dbformat.MaxSequenceNumber)
	x.must(x.full().TestWaitForCompact())
	picked.only(rocksdb.CompactionReasonBottommostFiles)
	after := x.db.GetLiveFilesMetaData()
	same(t, "files", len(after), len(before))
	for i := range after {
		if before[i].Level != 1 || after[i].Level != 1 || after[i].Size >= before[i].Size {
			t.Errorf("%v became %v", before[i], after[i])
		}
	}
}

func TestDBCompactionTest_DelayCompactBottomLevelFilesWithDeletions(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env, o.BottommostFileCompactionDelay = e, hour
	x.destroyAndReopen(o)
	x.createColumnFamilies([]string{"one"}, o)
	x.cfs = append([]*rocksdb.ColumnFamily{x.db.ColumnFamily}, x.cfs...)
	x.putRange(util.NewRandom(301), map[int]string{}, 0, 100, 100)
	snapshot := x.db.GetSnapshot()
	for i := 0; i < 100; i += 2 {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	x.wantFiles(0, "0,1")
	before := x.sizeAtLevel(1)
	picked := countPicked(t)
	x.mustPut(0, key(0), "val")
	if x.storage(0).BottommostFilesMarkThreshold() == dbformat.MaxSequenceNumber {
		t.Error("no file waits for a snapshot")
	}
	x.db.ReleaseSnapshot(snapshot)
	same(t, "threshold", x.storage(0).BottommostFilesMarkThreshold(), dbformat.MaxSequenceNumber)
	x.must(x.full().TestWaitForCompact())
	picked.want(rocksdb.CompactionReasonBottommostFiles, 0) // too young
	clock.MockSleepForSeconds(hour)
	x.flush(0) // computes scores
	x.wantLevelFiles(0, 1)
	x.must(x.full().TestWaitForCompact())
	picked.want(rocksdb.CompactionReasonBottommostFiles, 1)
	picked.only(rocksdb.CompactionReasonBottommostFiles)
	x.wantFiles(0, "1,1")
	if n := x.sizeAtLevel(1); n >= before {
		t.Errorf("%d bytes became %d", before, n)
	}
}

func TestDBCompactionTest_NoCompactBottomLevelFilesWithDeletions(t *testing.T) {
	const files = 4
	x := newCompactionTest(t)
	o := x.bottomFileOptions(files)
	o.DisableAutoCompactions = true
	x.reopen(o)
	snapshot := x.deletedUnderSnapshot(files)
	x.must(x.full().TestCompactRange(0, nil, nil, x.cf(0).Impl(), false))
	x.wantLevelFiles(1, files)
	before := x.db.GetLiveFilesMetaData()
	x.mustPut(0, key(0), "val")
	begun := passes("DBImpl::BackgroundCompaction:Start")
	syncpoint.EnableProcessing()
	x.db.ReleaseSnapshot(snapshot)
	x.must(x.full().TestWaitForCompact())
	same(t, "compactions", begun.Load(), 0)
	after := x.db.GetLiveFilesMetaData()
	same(t, "files", len(after), len(before))
	for i := range after {
		if before[i].Level != 1 || after[i].Level != 1 || after[i].Size != before[i].Size {
			t.Errorf("%v became %v", before[i], after[i])
		}
	}
}

// roundRobinTTL is a database whose files grow old, in levels 6, 5 and, with
// three, 4: one an hour, the deepest first.
func roundRobinTTL(t *testing.T, three bool) (*dbTest, *env.EmulatedSystemClock, *pickedReasons) {
	x := newCompactionTest(t)
	picked := countPicked(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env, o.Compression, o.Level0FileNumCompactionTrigger = e, rocksdb.NoCompression, 20
	o.TTL, o.CompactionPri = day, rocksdb.RoundRobin
	x.destroyAndReopen(o)
	fill := func(level, files, keys int) {
		for i := range files {
			for j := i * keys; j < i*keys+keys; j++ {
				x.mustPut(0, key(j), fmt.Sprint("value", j))
			}
			x.flush(0)
			clock.MockSleepForSeconds(hour)
		}
		x.moveFilesToLevel(level, 0)
	}
	fill(6, 10, 100)
	fill(5, 5, 200)
	if three {
		fill(4, 3, 300)
		x.wantFiles(0, "0,0,0,0,3,5,10")
	} else {
		x.wantFiles(0, "0,0,0,0,0,5,10")
	}
	return x, clock, picked
}

// poke flushes two keys and waits for what comes of it.
func (x *dbTest) poke(first, second int, value string) {
	x.Helper()
	x.puts(0, key(first), value, key(second), value, "flush")
	x.must(x.full().TestWaitForCompact())
}

func TestDBCompactionTest_RoundRobinTtlCompactionNormal(t *testing.T) {
	const ttl, robin = rocksdb.CompactionReasonTtl, rocksdb.CompactionReasonRoundRobinTtl
	x, clock, picked := roundRobinTTL(t, true)
	late := int64(1) // a little more each time, so that files are old enough
	age := func(hours int64) {
		clock.MockSleepForSeconds(hours*hour + late)
		late++
	}
	age(16) // the first file of level 5
	x.poke(4, 5, "value1")
	same(t, "round robin compactions", picked.take(robin), 1)
	age(2) // two more
	x.poke(4, 5, "value2")
	same(t, "round robin compactions", picked.take(robin), 2)
	age(4) // four more, two of three of level 4 among them
	x.poke(6, 7, "value3")
	x.wantLevelFiles(4, 1)
	x.wantLevelFiles(5, 0)
	if picked.take(robin) == 0 {
		t.Error("no round robin compaction")
	}
	picked.want(ttl, 0)
	age(19) // the first file of level 0, compacted for its age
	x.poke(6, 7, "value4")
	if picked.take(ttl) == 0 || picked.take(robin) == 0 {
		t.Error("not both kinds of compactions")
	}
	clock.MockSleepForSeconds(day) // all of them
	x.poke(6, 7, "value4")
	x.wantFiles(0, "0,0,0,0,0,0,2")
	if picked.take(ttl) == 0 || picked.take(robin) == 0 {
		t.Error("not both kinds of compactions")
	}
	picked.only()
}

func TestDBCompactionTest_RoundRobinTtlCompactionUnsortedTime(t *testing.T) {
	x, clock, picked := roundRobinTTL(t, false)
	// The cursor is at the fourth file of level 5.
	x.storage(0).AddCursorForOneLevel(5, dbformat.AppendInternalKey(nil, []byte(key(600)), 100000, dbformat.TypeValue))
	clock.MockSleepForSeconds(19*hour + 1) // the first file of level 5
	x.poke(6, 7, "value4")
	x.wantLevelFiles(5, 2) // the fourth, the fifth, then the first file were compacted
	picked.want(rocksdb.CompactionReasonRoundRobinTtl, 3)
	picked.only(rocksdb.CompactionReasonRoundRobinTtl)
}

func TestDBCompactionTest_LevelCompactExpiredTtlFiles(t *testing.T) {
	const keys, files = 32, 2
	x := newCompactionTest(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env, o.Compression, o.TTL, o.MaxOpenFiles = e, rocksdb.NoCompression, day, -1
	// deletedBelow has level 1 delete all that level 3 has.
	deletedBelow := func() {
		t.Helper()
		x.destroyAndReopen(o)
		x.fillFiles(util.NewRandom(301), files, keys, 1024)
		x.must(x.full().TestWaitForCompact())
		x.moveFilesToLevel(3, 0)
		x.wantFiles(0, "0,0,0,2")
		for i := range files {
			for j := range keys {
				x.mustDelete(0, key(i*keys+j))
			}
			x.flush(0)
		}
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(0, "2,0,0,2")
		x.moveFilesToLevel(1, 0)
		x.wantFiles(0, "0,2,0,2")
	}
	deletedBelow()
	clock.MockSleepForSeconds(36 * hour)
	x.wantFiles(0, "0,2,0,2")
	picked := countPicked(t)
	x.putFlush("a", "1")
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "1")
	picked.only(rocksdb.CompactionReasonTtl)
	syncpoint.Reset()

	deletedBelow()
	clock.MockSleepForSeconds(12 * hour)
	x.putFlush("a", "1")
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "1,2,0,2")
	picked = countPicked(t)
	x.setOptions("ttl", fmt.Sprint(10*hour))
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "1")
	picked.only(rocksdb.CompactionReasonTtl)
}

// eachRestart runs f with and without reopening, with all files open and with
// few.
func eachRestart(t *testing.T, f func(x *dbTest, clock *env.EmulatedSystemClock, restart, openAll bool)) {
	for _, restart := range []bool{false, true} {
		for _, openAll := range []bool{false, true} {
			t.Run(fmt.Sprintf("restart=%t,openAll=%t", restart, openAll), func(t *testing.T) {
				x := newCompactionTest(t)
				clock, e := x.emulatedTime(true)
				o := x.currentOptions()
				o.Env, o.MaxOpenFiles = e, 20
				if openAll {
					o.MaxOpenFiles = -1
				}
				x.last = o
				f(x, clock, restart, openAll)
			})
		}
	}
}

// flushOrReopen writes a key and has it flushed, by a restart if asked to.
func (x *dbTest) flushOrReopen(restart bool, key, value string) {
	x.Helper()
	x.mustPut(0, key, value)
	if restart {
		x.reopen(x.last)
	} else {
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
}

func TestDBCompactionTest_LevelTtlCascadingCompactions(t *testing.T) {
	eachRestart(t, func(x *dbTest, clock *env.EmulatedSystemClock, restart, openAll bool) {
		o := x.last
		o.Compression, o.TTL = rocksdb.NoCompression, day
		limitOpenFiles(2)
		if restart && openAll {
			forgetTimes("VarintOldestAncesterTime")
		}
		picked := countPicked(x.T)
		x.destroy(o)
		x.reopen(o)
		rnd := util.NewRandom(301)
		fill := func(from, to int) {
			x.putRange(rnd, map[int]string{}, from, to+1, 100)
			x.flush(0)
		}
		fill(1, 100)
		oldest := x.level(0)[0].OldestAncesterTime // its descendants keep it
		clock.MockSleepForSeconds(hour)
		fill(101, 200)
		x.moveFilesToLevel(6, 0)
		x.wantFiles(0, "0,0,0,0,0,0,2")
		clock.MockSleepForSeconds(hour)
		fill(1, 50)
		clock.MockSleepForSeconds(hour)
		fill(51, 150)
		x.moveFilesToLevel(4, 0)
		x.wantFiles(0, "0,0,0,0,2,0,2")
		clock.MockSleepForSeconds(hour)
		fill(26, 75)
		x.must(x.full().TestWaitForCompact())
		x.moveFilesToLevel(1, 0)
		x.wantFiles(0, "0,1,0,0,2,0,2")
		// Once the file of level 1 is too old it is moved to level 3, merged into
		// level 4, moved to level 5 and merged into level 6.
		clock.MockSleepForSeconds(25 * hour)
		x.flushOrReopen(restart, key(1), "1")
		x.wantFiles(0, "1,0,0,0,0,0,1")
		picked.want(rocksdb.CompactionReasonTtl, 5)
		same(x, "oldest ancester time", x.level(6)[0].OldestAncesterTime, oldest)
		clock.MockSleepForSeconds(25 * hour)
		x.flushOrReopen(restart, key(2), "1")
		x.wantFiles(0, "1,0,0,0,0,0,1")
		if n := picked.take(rocksdb.CompactionReasonTtl); n < 6 {
			x.Errorf("%d compactions", n)
		}
	})
}

func TestDBCompactionTest_LevelPeriodicCompaction(t *testing.T) {
	const periodic = rocksdb.CompactionReasonPeriodicCompaction
	eachRestart(t, func(x *dbTest, clock *env.EmulatedSystemClock, restart, openAll bool) {
		o := x.last
		o.PeriodicCompactionSeconds = 2 * day
		limitOpenFiles(0)
		if restart && openAll {
			forgetTimes("VarintFileCreationTime")
		}
		picked := countPicked(x.T)
		x.destroy(o)
		x.reopen(o)
		x.fillFiles(util.NewRandom(301), 2, 32, 100)
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(0, "2")
		picked.want(periodic, 0)
		clock.MockSleepForSeconds(50 * hour)
		x.flushOrReopen(false, "a", "1")
		x.wantFiles(0, "3") // where they were
		picked.want(periodic, 2)
		x.moveFilesToLevel(1, 0)
		x.wantFiles(0, "0,3")
		clock.MockSleepForSeconds(50 * hour)
		x.flushOrReopen(restart, "b", "2")
		x.wantFiles(0, "1,3")
		picked.want(periodic, 5)
		clock.MockSleepForSeconds(50 * hour)
		x.flushOrReopen(false, "c", "3")
		x.wantFiles(0, "2,3")
		picked.want(periodic, 9)
	})
}

func TestDBCompactionTest_LevelPeriodicCompactionOffpeak(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart=%t", restart), func(t *testing.T) {
			x := newCompactionTest(t)
			if restart {
				forgetTimes("VarintFileCreationTime")
			}
			picked := countPicked(t)
			rnd := util.NewRandom(301)
			clock, e := x.mockTime()
			clock.MockSleepForSeconds(int(rnd.Uniform(100))*day + 15*60) // at 00:15 of some day
			o := x.currentOptions()
			o.Env, o.TTL, o.PeriodicCompactionSeconds, o.DailyOffpeakTimeUTC = e, 0, 5*day, "00:30-04:30"
			x.reopen(o)
			x.fillFiles(rnd, 2, 32, 100)
			x.must(x.full().TestWaitForCompact())
			x.wantFiles(0, "2")
			clock.MockSleepForSeconds(hour)
			x.flushOrReopen(false, "a", "1")
			x.wantFiles(0, "3")
			picked.want(rocksdb.CompactionReasonPeriodicCompaction, 0)
			x.moveFilesToLevel(1, 0)
			x.wantFiles(0, "0,3")
			// The first two files would be too old before the next off-peak hours.
			clock.MockSleepForSeconds(4 * day)
			x.flushOrReopen(restart, "b", "2")
			x.wantFiles(0, "1,3")
			picked.want(rocksdb.CompactionReasonPeriodicCompaction, 2)
		})
	}
}

func TestDBCompactionTest_LevelPeriodicCompactionWithOldDB(t *testing.T) {
	const files, keys = 4, 32
	x := newCompactionTest(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env = e
	x.destroyAndReopen(o)
	var mu sync.Mutex
	noFileTime, noTime := true, true
	set := func(file, other bool) {
		mu.Lock()
		defer mu.Unlock()
		noFileTime, noTime = file, other
	}
	syncpoint.SetCallBack("PropertyBlockBuilder::AddTableProperty:Start", func(arg any) {
		mu.Lock()
		defer mu.Unlock()
		p := arg.(*rocksdb.TableProperties)
		if noFileTime {
			p.FileCreationTime = 0
		}
		if noTime {
			p.CreationTime = 0
		}
	})
	picked := countPicked(t)
	rnd := util.NewRandom(301)
	for i := range files {
		x.putRange(rnd, map[int]string{}, i*keys, i*keys+keys, 100)
		x.flush(0)
		if i == 1 {
			x.moveFilesToLevel(2, 0)
			set(true, false)
		}
	}
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "2,0,2")
	picked.want(rocksdb.CompactionReasonPeriodicCompaction, 0)
	x.close()
	set(false, false)
	clock.MockSleepForSeconds(2 * day)
	o.PeriodicCompactionSeconds = day
	x.reopen(o)
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "2,0,2")
	picked.want(rocksdb.CompactionReasonPeriodicCompaction, files)
}

func TestDBCompactionTest_LevelPeriodicAndTtlCompaction(t *testing.T) {
	x := newCompactionTest(t)
	o := x.currentOptions()
	clock, e := x.emulatedTime(true)
	o.Env, o.TTL, o.PeriodicCompactionSeconds, o.MaxOpenFiles = e, 10*hour, 2*day, -1
	x.destroyAndReopen(o)
	picked := countPicked(t)
	want := func(files string, periodic, ttl int) {
		t.Helper()
		x.wantFiles(0, files)
		picked.want(rocksdb.CompactionReasonPeriodicCompaction, periodic)
		picked.want(rocksdb.CompactionReasonTtl, ttl)
	}
	x.fillFiles(util.NewRandom(301), 2, 32, 100)
	x.must(x.full().TestWaitForCompact())
	x.moveFilesToLevel(3, 0)
	want("0,0,0,2", 0, 0)
	clock.MockSleepForSeconds(50 * hour)
	x.flushOrReopen(false, "a", "1")
	want("1,0,0,2", 2, 0) // those of the last level
	clock.MockSleepForSeconds(11 * hour)
	x.flushOrReopen(false, "b", "1")
	want("1,0,0,3", 2, 3) // the file of level 0 fell level by level
	clock.MockSleepForSeconds(50 * hour)
	x.flushOrReopen(false, "c", "1")
	want("1,0,0,4", 6, 6) // both
}

// keepFactory makes filters that keep everything.
type keepFactory struct{ contextFactory }

func (*keepFactory) CreateCompactionFilter(*rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return blobFilter(keepAll)
}

func TestDBCompactionTest_LevelPeriodicCompactionWithCompactionFilters(t *testing.T) {
	x := newCompactionTest(t)
	for _, factory := range []bool{false, true} {
		o := x.currentOptions()
		clock, e := x.emulatedTime(true)
		o.Env = e
		same(t, "periodic_compaction_seconds", o.PeriodicCompactionSeconds, ^uint64(0)-1)
		if factory {
			o.CompactionFilterFactory = &keepFactory{}
		} else {
			o.CompactionFilter = blobFilter(keepAll)
		}
		x.destroyAndReopen(o)
		same(t, "periodic_compaction_seconds", x.db.GetOptions().PeriodicCompactionSeconds, 30*day)
		picked := countPicked(t)
		x.fillFiles(util.NewRandom(301), 2, 32, 100)
		x.must(x.full().TestWaitForCompact())
		x.wantFiles(0, "2")
		picked.want(rocksdb.CompactionReasonPeriodicCompaction, 0)
		clock.MockSleepForSeconds(31 * day)
		x.flushOrReopen(false, "a", "1")
		x.wantFiles(0, "3")
		picked.want(rocksdb.CompactionReasonPeriodicCompaction, 2)
		syncpoint.Reset()
	}
}
