//go:build syncpoint

// Port of db/db_wal_test.cc.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBWALTest_RecoverWithTableHandle(t *testing.T) {
	const smallMaxOpenFiles = 13
	eachWalOptions(t, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		for _, v := range []string{"1", "3"} {
			x.mustPut(1, "foo", v)
			x.mustPut(1, "bar", v)
			x.flush(1)
		}
		x.mustPut(1, "big", dummyString(100, 'a'))

		o = x.currentOptions()
		pinned := true
		switch x.config {
		case configDBLogDir:
			// Too few for tables to be opened beforehand; upstream's least is 20.
			pinned = false
			o.MaxOpenFiles = smallMaxOpenFiles
			syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = smallMaxOpenFiles })
		case configWalDirAndMmapReads:
			o.MaxOpenFiles = 100
		default:
			o.MaxOpenFiles = -1
		}
		syncpoint.EnableProcessing()
		x.reopenWithColumnFamilies(defaultAndPikachu, o)
		syncpoint.Reset()
		files := 0
		vs := x.storage(1)
		for level := range vs.NumLevels() {
			for _, f := range vs.LevelFiles(level) {
				files++
				if got := f.FD.PinnedReader() != nil; got != pinned {
					x.Errorf("configuration %d: table %d is open: %t", x.config, f.FD.GetNumber(), got)
				}
			}
		}
		if files != 3 {
			x.Errorf("%d tables, not 3", files)
		}
	})
}

// holeKinds are what is done to two logs, the older of which holds an overwritten
// value.
const (
	holeObsolete    = iota // the older one is deleted as not needed any more
	holeDeleted            // it is deleted
	holeCut                // it is cut
	holeCutSeqKnown        // it is cut, and only its size tells
	holeNone               // both are deleted
)

func TestDBWALTrackAndVerifyWALsWithParamsTest_Basic(t *testing.T) {
	for mode := rocksdb.TolerateCorruptedTailRecords; mode <= rocksdb.SkipAnyCorruptedRecords; mode++ {
		for hole := holeObsolete; hole <= holeNone; hole++ {
			t.Run(fmt.Sprintf("mode=%d/hole=%d", mode, hole), func(t *testing.T) {
				newDBTest(t).trackAndVerify(mode, hole)
			})
		}
	}
}

func (x *dbTest) trackAndVerify(mode rocksdb.WALRecoveryMode, hole int) {
	o := x.currentOptions()
	o.AvoidFlushDuringShutdown = true
	o.TrackAndVerifyWALs = true
	o.WALRecoveryMode = mode
	x.destroyAndReopen(o)
	// No flush deletes a log.
	release := blockPool(o.Env, rocksdb.HighPriority)
	released := false
	defer func() {
		if !released {
			release()
		}
	}()
	x.mustPut(0, "key1", "old_value")
	firstSeq := x.db.GetLatestSequenceNumber()
	x.must(x.full().TestSwitchWAL())
	x.mustPut(0, "key1", "new_value")
	logs := x.wals()
	if len(logs) != 2 {
		x.Fatalf("%d logs, not 2", len(logs))
	}
	first, second := filename.LogFileName(x.dir, logs[0].LogNumber), filename.LogFileName(x.dir, logs[1].LogNumber)
	if hole == holeObsolete {
		release()
		released = true
		x.must(x.full().TestWaitForBackgroundWork())
	}
	x.close()
	var message string
	switch hole {
	case holeDeleted:
		x.fault.UntrackFile(first)
		x.must(os.Remove(first))
		message = "Missing WAL"
	case holeCut:
		x.cutFile(first, 0)
		message = "Mismatched last sequence number recorded in the WAL"
	case holeCutSeqKnown:
		x.cutFile(first, 0)
		syncpoint.SetCallBack("DBImpl::UpdatePredecessorWALInfo", func(arg any) {
			if p := arg.(*wal.PredecessorWALInfo); p.LogNumber == logs[0].LogNumber {
				p.LastSeqnoRecorded = firstSeq
			}
		})
		syncpoint.EnableProcessing()
		message = "Mismatched size of the WAL"
	case holeNone:
		for _, p := range []string{first, second} {
			x.fault.UntrackFile(p)
			x.must(os.Remove(p))
		}
	}
	err := x.tryReopen(o)
	syncpoint.Reset()
	switch {
	case hole == holeObsolete:
		x.must(err)
		x.wantGet(0, "key1", "new_value")
	case hole == holeNone:
		if !errors.Is(err, rocksdb.ErrCorruption) || !strings.Contains(err.Error(), "Opening an existing DB with no WAL files") {
			x.Errorf("without logs: %v", err)
		}
	case mode == rocksdb.PointInTimeRecovery:
		x.must(err)
		x.wantGet(0, "key1", "NOT_FOUND")
	case mode == rocksdb.SkipAnyCorruptedRecords:
		x.must(err)
		x.wantGet(0, "key1", "new_value")
	default:
		if !errors.Is(err, rocksdb.ErrCorruption) || !strings.Contains(err.Error(), message) {
			x.Errorf("%v does not say %q", err, message)
		}
	}
}

// Two flushes work out which logs are to be kept before either is in the
// MANIFEST.
func TestDBWALTest_RaceInstallFlushResultsWithWalObsoletion(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.TrackAndVerifyWALsInManifest = true
	o.MaxBackgroundJobs = 8 // two flushes at a time
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"cf1"}, o)
	if n := x.full().TestBGFlushesAllowed(); n < 2 {
		t.Fatalf("%d flushes at a time", n)
	}
	x.must(x.full().PauseBackgroundWork())
	x.mustPut(1, "foo", "value")
	x.mustPut(0, "foo", "value")
	x.must(x.full().TestFlushMemTable(false, true, x.cf(1).Impl()))
	x.mustPut(0, "foo", "value")
	x.must(x.full().TestFlushMemTable(false, true, x.cf(0).Impl()))

	// One flush thread goes on once the other one has put the synced log into the
	// MANIFEST.
	var threads atomic.Int64
	synced := make(chan struct{})
	var syncedOnce, called atomic.Bool
	syncpoint.SetCallBack("DBImpl::BackgroundCallFlush:start", func(any) {
		if threads.Add(1) > 1 {
			<-synced
		}
	})
	syncpoint.SetCallBack("DBImpl::FlushMemTableToOutputFile:CommitWal:1", func(any) {
		if !syncedOnce.Swap(true) {
			close(synced)
		}
	})
	const second = "DBWALTest::RaceInstallFlushResultsWithWalObsoletion:BgFlush2"
	syncpoint.SetCallBack("MemTableList::TryInstallMemtableFlushResults:AfterComputeMinWalToKeep", func(any) {
		if !called.Swap(true) {
			// The first thread lets go of the mutex as it begins to write, and
			// writes when the second has computed.
			syncpoint.LoadDependency(
				syncpoint.Pair{Predecessor: "VersionSet::LogAndApply:WriteManifestStart", Successor: second},
				syncpoint.Pair{Predecessor: second, Successor: "VersionSet::LogAndApply:WriteManifest"})
		} else {
			syncpoint.Process(second)
		}
	})
	syncpoint.EnableProcessing()
	x.must(x.full().ContinueBackgroundWork())
	x.waitForFlush(0)
	x.waitForFlush(1)
	if !called.Load() {
		t.Error("no log was found to be obsolete")
	}
	x.close()
	syncpoint.Reset()
	x.must(x.tryReadOnlyReopen(o))
}

// A log that is obsolete already, and is synced into a new MANIFEST, is not
// missed later.
func TestDBWALTest_FixSyncWalOnObseletedWalWithNewManifestCausingMissingWAL(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	// Each edit makes a MANIFEST.
	o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 1, 0
	o.TrackAndVerifyWALsInManifest = true
	x.destroyAndReopen(o)
	for i := range 3 {
		x.mustPut(0, key(i+1), "")
	}
	path := filepath.Join(x.dir, fmt.Sprintf("%06d.log", x.full().TestLogfileNumber()))
	var synced atomic.Bool
	manifest := func() (n uint64) {
		x.full().TestWithMutex(func() { n = x.full().Versions().ManifestFileNumber() })
		return n
	}
	syncpoint.SetCallBack("FindObsoleteFiles::PostMutexUnlock", func(any) {
		if synced.Load() {
			return
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
		before := manifest()
		if err := x.db.SyncWAL(); err != nil {
			t.Error(err)
		}
		if after := manifest(); after != before+1 {
			t.Errorf("MANIFEST %d, before %d", after, before)
		}
		synced.Store(true)
	})
	syncpoint.EnableProcessing()
	x.flush(0)
	x.must(x.full().TestWaitForBackgroundWork())
	syncpoint.Reset()
	if !synced.Load() {
		t.Error("nothing was synced")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("log is there: %v", err)
	}
	x.reopen(o)
}
