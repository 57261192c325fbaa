//go:build syncpoint

// Port of db/db_dynamic_level_test.cc.

package db_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// dynamicOptions has levels of 10 KB and more, whose base level moves.
func (x *dbTest) dynamicOptions(o rocksdb.Options) rocksdb.Options {
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.Level0FileNumCompactionTrigger = 2048, 2, 2
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 9999, 9999
	o.LevelCompactionDynamicLevelBytes, o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = true, 10240, 4
	o.TargetFileSizeBase, o.NumLevels = 2048, 5
	return o
}

func (x *dbTest) wantBaseLevel(want uint64) {
	x.Helper()
	if n := x.intProperty(0, "rocksdb.base-level"); n != want {
		x.Fatalf("base level %d, not %d: %s", n, want, x.filesPerLevel(0))
	}
}

func TestDBTestDynamicLevel_DynamicLevelMaxBytesBase(t *testing.T) {
	const n = 300
	rnd := util.NewRandom(301)
	for _, ordered := range []bool{false, true} {
		for _, compactions := range []int{1, 3} {
			t.Run(fmt.Sprintf("ordered=%t,compactions=%d", ordered, compactions), func(t *testing.T) {
				x := newDBTest(t)
				keys := make([]int, n)
				for i := range keys {
					keys[i] = i
				}
				if !ordered {
					for i := n - 1; i > 0; i-- {
						j := rnd.Uniform(i + 1)
						keys[i], keys[j] = keys[j], keys[i]
					}
				}
				o := x.dynamicOptions(x.plainOptions())
				o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger, o.MaxBackgroundCompactions = 2, 2, compactions
				o.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.LZ4Compression, rocksdb.SnappyCompression}
				x.destroyAndReopen(o)
				for i, k := range keys {
					x.puts(0, key(n+k), rnd.RandomString(102), key(k), rnd.RandomString(102), key(2*n+k), rnd.RandomString(102))
					x.mustDelete(0, key(n+keys[i/10]))
				}
				verify := func() {
					t.Helper()
					for i := range n {
						for at, there := range map[int]bool{i: true, 2*n + i: true, n + keys[i]: i >= n/10} {
							if (x.get(0, key(at)) != "NOT_FOUND") != there {
								t.Fatalf("%s: there %t", key(at), !there)
							}
						}
					}
				}
				same(t, "background errors", x.intProperty(0, "rocksdb.background-errors"), 0)
				verify()
				x.reopen(o)
				verify()
				x.compact(0, "", "")
				if levels := x.db.GetColumnFamilyMetaData(nil).Levels; len(levels) != 5 || len(levels[4].Files) == 0 {
					t.Fatal(x.filesPerLevel(0))
				}
				x.wantFiles(0, fmt.Sprint("0,0,0,0,", x.numTableFilesAtLevel(4, 0)))
				verify()
			})
		}
	}
}

func TestDBTestDynamicLevel_DynamicLevelMaxBytesBase2(t *testing.T) {
	const point = "DynamicLevelMaxBytesBase2:"
	x := newDBTest(t)
	rnd := util.NewRandom(301)
	o := x.dynamicOptions(x.currentOptions())
	o.Compression, o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = rocksdb.NoCompression, 20480, 9102, 40960
	o.MaxBackgroundCompactions, o.MaxCompactionBytes, o.DBHostID = 2, 0, ""
	o = blockTable(o, func(b *rocksdb.BlockBasedTableOptions) { b.BlockSize = 1024 })
	x.destroyAndReopen(o)
	fill := func(n int) {
		for range n {
			x.mustPut(0, key(int(rnd.Uniform(1000000))), rnd.RandomString(380))
		}
	}
	// write puts entries while nothing is compacted, and compacts then.
	write := func(n int, base uint64) {
		t.Helper()
		x.setOptions("disable_auto_compactions", "true")
		fill(n)
		x.setOptions("disable_auto_compactions", "false")
		x.flush(0)
		x.must(x.full().TestWaitForCompact())
		x.wantBaseLevel(base)
	}
	x.wantBaseLevel(4)
	write(70, 4)
	write(70, 3)
	x.wantLevelFiles(1, 0)
	x.wantLevelFiles(2, 0)
	write(100, 3)
	// A compaction of level 0 begins before the last of the data is flushed, or
	// the base level would rise to 1.
	x.setOptions("disable_auto_compactions", "true")
	fill(1300)
	order("CompactionJob::Run():Start", point+"0")
	x.setOptions("disable_auto_compactions", "false")
	syncpoint.Process(point + "0")
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	x.wantBaseLevel(2)
	syncpoint.Reset()
	// A manual compaction runs while the base level moves to 1.
	order("CompactionJob::Run():Start", point+"1", point+"2", "CompactionJob::Run():End",
		point+"compact_range_finish", "FlushJob::WriteLevel0Table")
	done := make(chan error)
	go func() {
		err := x.db.CompactRange(nil, nil, nil)
		syncpoint.Process(point + "compact_range_finish")
		done <- err
	}()
	syncpoint.Process(point + "1")
	fill(2)
	syncpoint.Process(point + "2")
	x.flush(0)
	x.must(<-done)
	syncpoint.Reset()
	x.wantBaseLevel(1)
}

func TestDBTestDynamicLevel_DynamicLevelMaxBytesCompactRange(t *testing.T) {
	x := newDBTest(t)
	rnd := util.NewRandom(301)
	o := x.dynamicOptions(x.currentOptions())
	o.TargetFileSizeBase, o.MaxBackgroundCompactions, o.MaxCompactionBytes = 2, 1, 1
	o = blockTable(o, func(b *rocksdb.BlockBasedTableOptions) { b.BlockSize = 1024 })
	x.destroyAndReopen(o)
	x.compact(0, "", "")
	x.wantBaseLevel(4)
	put := func() { x.mustPut(0, key(int(rnd.Uniform(1000000))), rnd.RandomString(80)) }
	for range 140 {
		put()
	}
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	if x.numTableFilesAtLevel(0, 0) == 0 {
		put()
		x.flush(0)
	}
	x.wantBaseLevel(3)
	x.wantLevelFiles(1, 0)
	x.wantLevelFiles(2, 0)
	levels := map[int]bool{}
	syncpoint.SetCallBack("CompactionPicker::CompactRange:Return", func(arg any) { levels[arg.(*compaction.Compaction).OutputLevel()] = true })
	syncpoint.EnableProcessing()
	x.compact(0, "", "")
	same(t, "output levels", fmt.Sprint(levels), "map[3:true 4:true]")
	x.wantLevelFiles(0, 0)
	x.wantLevelFiles(3, 0)
	x.wantBaseLevel(3)
}

func TestDBTestDynamicLevel_DynamicLevelMaxBytesBaseInc(t *testing.T) {
	const n, random = 3000, 100
	x := newDBTest(t)
	o := x.dynamicOptions(x.currentOptions())
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 2
	o.MaxBackgroundCompactions, o.MaxCompactionBytes = 2, 100000000
	x.destroyAndReopen(o)
	jobs := passes("DBImpl::BackgroundCompaction:NonTrivial")
	syncpoint.EnableProcessing()
	rnd := util.NewRandom(301)
	for i := range n {
		x.mustPut(0, key(i), string(binary.LittleEndian.AppendUint32([]byte(rnd.RandomString(random)), uint32(i))))
	}
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	syncpoint.DisableProcessing()
	same(t, "compactions that rewrote tables", jobs.Load(), 0)
	for i := range n {
		same(t, key(i), binary.LittleEndian.Uint32([]byte(x.get(0, key(i))[random:])), uint32(i))
	}
}
