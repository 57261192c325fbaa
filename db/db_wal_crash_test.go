// No upstream twin: what SyncWAL and FlushWAL promise is held against a file
// system that forgets, with writes and flushes beside it.

package db_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

const crashWriters = 2

func crashKey(w int, i int64) string { return fmt.Sprintf("%d-%08d", w, i) }

// crashFamily is the family that writer w writes to.
func crashFamily(families bool, w int) int {
	if families {
		return w
	}
	return 0
}

// writeUntilCrash writes and syncs until the file system stops, and gives how
// many keys of each writer were durable before.
func (x *dbTest) writeUntilCrash(families bool, from [crashWriters]int64, d time.Duration) (durable [crashWriters]int64) {
	x.Helper()
	var written [crashWriters]atomic.Int64
	durable = from
	var wg sync.WaitGroup
	var stop atomic.Bool
	for w := range crashWriters {
		written[w].Store(from[w])
		wg.Go(func() {
			for i := from[w]; !stop.Load(); i++ {
				wo := rocksdb.DefaultWriteOptions()
				wo.Sync = i%256 == 255
				if x.putWith(crashFamily(families, w), crashKey(w, i), dummyString(200, 'v'), &wo) != nil {
					return
				}
				written[w].Store(i + 1)
			}
		})
	}
	wg.Go(func() {
		for !stop.Load() {
			var now [crashWriters]int64
			for w := range now {
				now[w] = written[w].Load()
			}
			if x.db.FlushWAL(true) != nil {
				return
			}
			durable = now
		}
	})
	time.Sleep(d)
	x.fault.SetFilesystemActive(false, rocksdb.IOError("crashed"))
	stop.Store(true)
	wg.Wait()
	return durable
}

func TestSyncWALSurvivesCrash(t *testing.T) {
	for name, set := range map[string]func(o *rocksdb.Options){
		"plain": func(*rocksdb.Options) {},
		"recycled": func(o *rocksdb.Options) {
			o.RecycleLogFileNum = 2
			o.WALRecoveryMode = rocksdb.PointInTimeRecovery
		},
		"pipelined":   func(o *rocksdb.Options) { o.EnablePipelinedWrite = true },
		"precreated":  func(o *rocksdb.Options) { o.AsyncWALPrecreate = true },
		"families":    func(o *rocksdb.Options) { o.WALRecoveryMode = rocksdb.PointInTimeRecovery },
		"manualflush": func(o *rocksdb.Options) { o.ManualWALFlush = true },
		"verified": func(o *rocksdb.Options) {
			o.TrackAndVerifyWALs = true
			o.BackgroundCloseInactiveWALs = true
			o.AvoidFlushDuringRecovery = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			x.close()
			// What is synced is what the fault layer says; the disk is not waited for.
			x.fault = fsutil.NewFaultInjectionTestFS(&observedFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}})
			x.env = envOver(x.fault)
			x.fault.SetInjectUnsyncedDataLoss(true)
			o := x.currentOptions()
			o.WriteBufferSize = 32 << 10
			o.MaxWriteBufferNumber = 4
			o.AvoidFlushDuringShutdown = true
			o.Level0FileNumCompactionTrigger = 8
			set(&o)
			x.destroyAndReopen(o)
			families := name == "families"
			if families {
				x.createAndReopenWithCF([]string{"one"}, o)
			}
			var next [crashWriters]int64
			for round := range 3 {
				durable := x.writeUntilCrash(families, next, 150*time.Millisecond)
				x.close()
				x.fault.DropUnsyncedFileData()
				x.fault.SetFilesystemActive(true, nil)
				x.must(x.fault.DeleteFilesCreatedAfterLastDirSync(nil))
				x.fault.ResetState()
				x.fault.SetInjectUnsyncedDataLoss(true)
				reopen := x.tryReopen
				if families {
					reopen = func(o rocksdb.Options) error { return x.tryReopenWithColumnFamilies([]string{"default", "one"}, o) }
				}
				if err := reopen(o); err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				for w := range crashWriters {
					cf := crashFamily(families, w)
					for i := range durable[w] {
						if got := x.get(cf, crashKey(w, i)); got != dummyString(200, 'v') {
							t.Fatalf("round %d: %s is %.30q; %d keys were durable", round, crashKey(w, i), got, durable[w])
						}
					}
					for next[w] = durable[w]; x.get(cf, crashKey(w, next[w])) != "NOT_FOUND"; next[w]++ {
					}
				}
				t.Logf("round %d: %v durable, %v found", round, durable, next)
			}
		})
	}
}
