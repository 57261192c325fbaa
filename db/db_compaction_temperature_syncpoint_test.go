//go:build syncpoint

// Port of db/db_compaction_test.cc (FIFO compactions that change temperatures).

package db_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBCompactionTest_FIFOChangeTemperature(t *testing.T) {
	for _, copies := range []bool{false, true} {
		for _, tempered := range []bool{false, true} {
			t.Run(fmt.Sprintf("copies=%t,tempered=%t", copies, tempered), func(t *testing.T) {
				x := newDBTest(t)
				begin, end := "DBImpl::BackgroundCompaction:BeforeCompaction", "DBImpl::BackgroundCompaction:AfterCompaction"
				if copies {
					begin, end = "DBImpl::BackgroundCompaction:TriviaCopyBeforeCompaction", "DBImpl::BackgroundCompaction:TriviaCopyAfterCompaction"
				}
				var begun, ended atomic.Int32
				syncpoint.SetCallBack(begin, func(any) { begun.Add(1) })
				syncpoint.SetCallBack(end, func(any) { ended.Add(1) })
				clock := newMockSystemClock()
				clock.MockSleepForSeconds(mockStartTime)
				fs := newTemperatureFS(x)
				o := x.currentOptions()
				o.Env = env.NewCompositeEnvWrapper(x.env, fs, clock)
				o.CompactionStyle, o.NumLevels, o.MaxOpenFiles, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleFIFO, 1, -1, 2
				o.CompactionOptionsFIFO.FileTemperatureAgeThresholds = []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureCold, Age: 1000}}
				o.CompactionOptionsFIFO.MaxTableFilesSize = 100000000
				o.CompactionOptionsFIFO.AllowTrivialCopyWhenChangeTemperature, o.CompactionOptionsFIFO.TrivialCopyBufferSize = copies, 4096
				written, later := rocksdb.TemperatureUnknown, rocksdb.TemperatureUnknown
				if tempered {
					written, later = rocksdb.TemperatureWarm, rocksdb.TemperatureHot
				}
				o.DefaultWriteTemperature = written
				o.LastLevelTemperature = rocksdb.TemperatureHot // not with FIFO
				x.destroyAndReopen(o)
				syncpoint.EnableProcessing()
				table := func(seconds int) {
					x.Helper()
					x.mustPut(0, key(0), "value1")
					clock.MockSleepForSeconds(seconds)
					x.mustPut(0, key(2), "value2")
					x.flush(0)
				}
				table(800)
				table(0)
				table(1200) // makes the first two old, which are rewritten one by one
				x.waitForCompact()
				if tempered {
					x.must(x.db.SetOptions(map[string]string{"default_write_temperature": "kHot"}))
				}
				table(800)
				x.waitForCompact()
				syncpoint.DisableProcessing()

				files := x.db.GetColumnFamilyMetaData(nil).Levels[0].Files
				for i, want := range []rocksdb.Temperature{later, written, rocksdb.TemperatureCold, rocksdb.TemperatureCold} {
					if len(files) != 4 || files[i].Temperature != want {
						t.Fatalf("tables %+v", files)
					}
				}
				made := map[rocksdb.Temperature]int{}
				fs.mu.Lock()
				for _, temperature := range fs.temps {
					made[temperature]++
				}
				fs.mu.Unlock()
				if made[rocksdb.TemperatureCold] != 2 || made[rocksdb.TemperatureUnknown] == 0 {
					t.Fatalf("files by temperature: %v", made)
				}
				if begun.Load() != 2 || ended.Load() != 2 {
					t.Fatalf("%d compactions begun, %d ended", begun.Load(), ended.Load())
				}
				x.wantGet(0, key(0), "value1")
			})
		}
	}
}
