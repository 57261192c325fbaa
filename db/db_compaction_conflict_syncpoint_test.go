//go:build syncpoint

// Port of db/db_compaction_test.cc (the first half: compactions in each other's way).

package db_test

import (
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestDBCompactionTest_CancelCompactionWaitingOnRunningConflict(t *testing.T) {
	const runs, point = 4, "DBCompactionTest::CancelCompactionWaitingOnRunningConflict:PreDisableManualCompaction"
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleUniversal, runs
	o.MemtableFactory = newSpecialSkipListFactory(99)
	x.reopen(o)
	began, wake := make(chan struct{}), make(chan struct{})
	var once sync.Once
	syncpoint.SetCallBack("CompactionJob::Run():Start", func(any) {
		once.Do(func() { close(began) })
		<-wake
	})
	syncpoint.EnableProcessing()
	rnd := util.NewRandom(301)
	for i := range runs {
		keys := 0
		x.generateFile(0, rnd, &keys, i < runs-1)
	}
	<-began
	order("ColumnFamilyData::CompactRange:Return", point)
	done := make(chan error)
	go func() { done <- x.db.CompactRange(nil, nil, nil) }()
	syncpoint.Process(point)
	x.db.DisableManualCompaction()
	if err := <-done; !isPaused(err) {
		t.Error(err)
	}
	close(wake)
}

func TestDBCompactionTest_CancelCompactionWaitingOnScheduledConflict(t *testing.T) {
	const runs, calls = 4, 2
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.DisableAutoCompactions = rocksdb.CompactionStyleUniversal, true
	o.MemtableFactory = newSpecialSkipListFactory(99)
	x.reopen(o)
	wake := x.blockThreads(rocksdb.LowPriority)
	rnd := util.NewRandom(301)
	for range runs {
		keys := 0
		x.generateFile(0, rnd, &keys, true)
	}
	picked := passes("ColumnFamilyData::CompactRange:Return")
	syncpoint.EnableProcessing()
	done := make(chan error)
	for range calls {
		go func() { done <- x.db.CompactRange(nil, nil, nil) }()
	}
	eventually(t, "one compaction is scheduled, the other one finds it", func() bool { return picked.Load() >= calls })
	x.db.DisableManualCompaction()
	for range calls {
		if err := <-done; !isPaused(err) {
			t.Error(err)
		}
	}
	wake()
}

func TestDBCompactionTest_CompactFilesPendingL0Bug(t *testing.T) {
	const files, point = 5, "DBCompactionTest::CompactFilesPendingL0Bug:"
	x := newCompactionTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.MaxBackgroundCompactions = files-1, 2
	x.destroyAndReopen(o)
	order("LevelCompactionPicker::PickCompaction:Return", point+"Picked",
		point+"ManualCompacted", "DBImpl::BackgroundCompaction:NonTrivial:AfterRun")
	x.wantPressure()
	// All files but the last one go to level 1 meanwhile.
	for i := range files - 1 {
		x.puts(0, key(0), "val", key(i+1), "val", "flush")
	}
	syncpoint.Process(point + "Picked")
	x.putFlush(key(files), "val")
	level0 := x.db.GetColumnFamilyMetaData(nil).Levels[0].Files
	same(t, "files of level 0", len(level0), files)
	_, err := x.db.CompactFiles(nil, []string{level0[0].Name}, 0, -1, nil)
	x.must(err)
	syncpoint.Process(point + "ManualCompacted")
}

func TestDBCompactionTest_DeleteFilesInRangeConflictWithCompaction(t *testing.T) {
	const keys = 10
	x := newCompactionTest(t)
	x.destroyAndReopen(x.currentOptions())
	var snapshot rocksdb.Snapshot
	for i := range keys {
		x.mustPut(0, key(i), key(i))
		x.mustDelete(0, key(i))
		if i == 0 {
			snapshot = x.db.GetSnapshot()
		}
	}
	x.flush(0)
	x.moveFilesToLevel(1, 0)
	x.mustPut(0, key(keys), key(keys))
	x.must(x.full().TestWaitForCompact())
	// The files are deleted that a compaction is about to pick.
	order("VersionSet::LogAndApply:WriteManifestStart", "BackgroundCallCompaction:0",
		"DBImpl::BackgroundCompaction:Finish", "VersionSet::LogAndApply:WriteManifestDone")
	x.db.ReleaseSnapshot(snapshot) // marks the file
	x.must(x.cf(0).DeleteFilesInRange([]byte(key(0)), []byte(key(keys+1))))
	syncpoint.Reset()
}

func TestDBCompactionTest_CompactFilesOutputRangeConflict(t *testing.T) {
	const point = "DBCompactionTest::CompactFilesOutputRangeConflict:"
	x := newCompactionTest(t)
	collector := &flushedFileCollector{}
	o := x.currentOptions()
	o.Listeners = append(o.Listeners, collector)
	x.reopen(o)
	for level := 3; level >= 2; level-- {
		x.puts(0, "a", "val", "b", "val", "flush", "c", "val", "d", "val", "flush")
		x.moveFilesToLevel(level, 0)
	}
	x.puts(0, "ba", "val", "bz", "val", "flush")
	x.moveFilesToLevel(1, 0)
	order("CompactFilesImpl:0", point+"Thread2Begin", point+"Thread2End", "CompactFilesImpl:1")
	files := collector.get()
	last := len(files) - 1
	done := make(chan error)
	go func() {
		_, err := x.db.CompactFiles(nil, files[:last], 3, -1, nil)
		done <- err
	}()
	syncpoint.Process(point + "Thread2Begin")
	// The other compaction writes the range between its files in level 3 as well.
	if _, err := x.db.CompactFiles(nil, files[last:], 3, -1, nil); err == nil {
		t.Error("two compactions write one range of a level")
	}
	syncpoint.Process(point + "Thread2End")
	x.must(<-done)
}
