//go:build syncpoint

// Port of db/compact_files_test.cc, the cases that need sync points.

package db_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestCompactFilesTest_L0ConflictsFiles(t *testing.T) {
	const trigger = 2
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 20, 20
	o.WriteBufferSize = 10000
	o.Level0FileNumCompactionTrigger = trigger
	o.Compression = rocksdb.NoCompression
	x := newCompactFilesTest(t, o)
	inOrder([2]string{"CompactFilesImpl:0", "BackgroundCallCompaction:0"}, [2]string{"BackgroundCallCompaction:1", "CompactFilesImpl:1"})
	syncpoint.EnableProcessing()
	defer endSyncPoints()
	// The automatic compaction begins and waits.
	for i := range trigger * 4 {
		x.put(strconv.Itoa(i), "")
		x.put(strconv.Itoa(100-i), "")
		x.must(x.db.Flush(nil))
	}
	files := x.files(0)
	if len(files) < 2 {
		t.Fatal(files)
	}
	// It then finds the other compaction of level 0 and does none.
	x.must(x.compact(nil, files[:2], 0))
}

func TestCompactFilesTest_MultipleLevel(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.NumLevels = 6
	x := newCompactFilesTest(t, o)
	for i := 5; i > 2; i-- {
		x.collector.clear()
		x.put(strconv.Itoa(i), "")
		x.flush()
		x.must(x.compact(nil, x.collector.get(), i))
		if n, _ := x.db.GetProperty("rocksdb.num-files-at-level" + strconv.Itoa(i)); n != "1" {
			t.Fatalf("level %d has %s files", i, n)
		}
	}
	x.put("0", "")
	x.must(x.db.Flush(nil))
	var files []string
	for level := range 6 {
		if level != 3 {
			files = append(files, x.files(level)...)
		}
	}
	inOrder([2]string{"CompactionJob::Run():Start", "CompactFilesTest.MultipleLevel:0"}, [2]string{"CompactFilesTest.MultipleLevel:1", "CompactFilesImpl:3"})
	syncpoint.EnableProcessing()
	defer endSyncPoints()
	var wg sync.WaitGroup
	wg.Go(func() {
		syncpoint.Process("CompactFilesTest.MultipleLevel:0")
		for _, k := range []string{"bar", "foo"} {
			if err := x.db.Put(nil, []byte(k), []byte("v2")); err != nil {
				t.Error(err)
			}
		}
		if err := x.db.Flush(nil); err != nil {
			t.Error(err)
		}
		syncpoint.Process("CompactFilesTest.MultipleLevel:1")
	})
	for level := range 5 {
		if err := x.compact(nil, files, level); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("level %d: %v", level, err)
		}
	}
	x.must(x.compact(nil, files, 5))
	wg.Wait()
}

func TestCompactFilesTest_CapturingPendingFiles(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CompactionStyle = rocksdb.CompactionStyleNone
	o.DeleteObsoleteFilesPeriodMicros = 0 // always full scans
	x := newCompactFilesTest(t, o)
	for i := range 5 {
		x.put("key"+strconv.Itoa(i), "value")
		x.must(x.db.Flush(nil))
	}
	x.must(x.db.Impl().TestWaitForBackgroundWork())
	files := x.collector.get()
	if len(files) != 5 {
		t.Fatal(files)
	}
	inOrder([2]string{"CompactFilesImpl:2", "CompactFilesTest.CapturingPendingFiles:0"},
		[2]string{"CompactFilesTest.CapturingPendingFiles:1", "CompactFilesImpl:3"})
	syncpoint.EnableProcessing()
	defer endSyncPoints()
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := x.compact(nil, files, 1); err != nil {
			t.Error(err)
		}
	})
	syncpoint.Process("CompactFilesTest.CapturingPendingFiles:0")
	x.put("key5", "value")
	x.must(x.db.Flush(nil))
	syncpoint.Process("CompactFilesTest.CapturingPendingFiles:1")
	wg.Wait()
	syncpoint.DisableProcessing()
	x.must(x.db.Close())
	db, err := rocksdb.Open(x.dir, o)
	x.must(err)
	x.db = db
}

// trivialMoves counts how often CompactFiles moves files.
func trivialMoves() (n *int) {
	n = new(int)
	syncpoint.SetCallBack("DBImpl::CompactFilesImpl:TrivialMove", func(any) { *n++ })
	syncpoint.EnableProcessing()
	return n
}

func moveOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.DisableAutoCompactions = true
	o.Compression = rocksdb.NoCompression
	o.LevelCompactionDynamicLevelBytes = false
	return o
}

func (x *compactFilesTest) fillPrefix(prefix string, from, to int, value string) {
	x.Helper()
	for i := from; i < to; i++ {
		key := fmt.Sprintf("%s%02d", prefix, i)
		x.put(key, value+key)
	}
	x.must(x.db.Flush(nil))
}

func (x *compactFilesTest) wantValues(prefix string, from, to int, value string) {
	x.Helper()
	for i := from; i < to; i++ {
		key := fmt.Sprintf("%s%02d", prefix, i)
		v, err := x.db.Get(nil, []byte(key))
		x.must(err)
		if string(v.Data()) != value+key {
			x.Errorf("%s: %q", key, v.Data())
		}
		v.Release()
	}
}

func (x *compactFilesTest) wantFiles(level, n int) {
	x.Helper()
	if got := len(x.files(level)); got != n {
		x.Fatalf("level %d has %d files, not %d", level, got, n)
	}
}

func TestCompactFilesTest_TrivialMoveNonOverlappingFiles(t *testing.T) {
	x := newCompactFilesTest(t, moveOptions())
	for _, p := range []string{"a", "b", "c"} {
		x.fillPrefix(p, 0, 100, "value_")
	}
	x.wantFiles(0, 3)
	x.wantFiles(1, 0)
	co := rocksdb.DefaultCompactionOptions()
	co.AllowTrivialMove = true
	x.must(x.compact(&co, x.files(0), 1))
	x.wantFiles(0, 0)
	x.wantFiles(1, 3)

	files := x.files(1) // in key order
	number := x.db.GetColumnFamilyMetaData(nil).Levels[1].Files[0].FileNumber
	moves := trivialMoves()
	defer endSyncPoints()
	x.must(x.compact(&co, files[:1], 6))
	if *moves != 1 {
		t.Fatalf("%d moves", *moves)
	}
	x.wantFiles(1, 2)
	x.wantFiles(6, 1)
	if f := x.db.GetColumnFamilyMetaData(nil).Levels[6].Files[0]; f.FileNumber != number || f.SmallestKey[0] != 'a' || f.LargestKey[0] != 'a' {
		t.Errorf("%+v", f)
	}
	// Without leave to move, the other two are compacted into one.
	x.must(x.compact(nil, files[1:], 6))
	x.wantFiles(1, 0)
	x.wantFiles(6, 2)
	x.wantValues("a", 0, 100, "value_")
}

func TestCompactFilesTest_TrivialMoveBlockedByOverlap(t *testing.T) {
	x := newCompactFilesTest(t, moveOptions())
	x.fillPrefix("m", 0, 100, "value_")
	co := rocksdb.DefaultCompactionOptions()
	co.AllowTrivialMove = true
	x.must(x.compact(&co, x.files(0), 6))
	x.fillPrefix("m", 50, 61, "updated_value_")
	x.must(x.compact(&co, x.files(0), 1))
	x.wantFiles(1, 1)
	moves := trivialMoves()
	defer endSyncPoints()
	x.must(x.compact(&co, x.files(1), 6))
	if *moves != 0 {
		t.Errorf("%d moves", *moves)
	}
	x.wantFiles(1, 0)
	if len(x.files(6)) == 0 {
		t.Error("level 6 is empty")
	}
	x.wantValues("m", 50, 61, "updated_value_")
}
