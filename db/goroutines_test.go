// No upstream twin: what Close leaves behind.

package db_test

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// engineGoroutines gives the stacks of other goroutines that run the engine. Idle
// workers of the environment's pools, which outlive databases, do not count.
func engineGoroutines() (stacks []string) {
	buf := make([]byte, 1<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	engine := regexp.MustCompile(`rocksdb-go/rocksdb(/db|/file|/logging|/cache|/table)?(/[a-z_]+)*\.`)
	for _, s := range all[1:] { // the first one is this one
		if engine.MatchString(s) && !strings.Contains(s, "threadpool.(*ThreadPoolImpl)") && !strings.Contains(s, "testing.") {
			stacks = append(stacks, s)
		}
	}
	return stacks
}

// Close leaves no goroutine, whatever ran in the background.
func TestNoGoroutineAfterClose(t *testing.T) {
	for name, set := range map[string]func(o *rocksdb.Options){
		"default":          func(*rocksdb.Options) {},
		"pipelined":        func(o *rocksdb.Options) { o.EnablePipelinedWrite = true },
		"unordered":        func(o *rocksdb.Options) { o.UnorderedWrite = true },
		"two write queues": func(o *rocksdb.Options) { o.TwoWriteQueues = true },
		"parallel": func(o *rocksdb.Options) {
			o.MaxSubcompactions, o.MaxBackgroundJobs, o.CompressionOpts.ParallelThreads = 4, 8, 4
		},
		"periodic": func(o *rocksdb.Options) {
			o.Statistics = monitoring.CreateDBStatistics()
			o.StatsDumpPeriodSec, o.StatsPersistPeriodSec = 1, 1
		},
		"limited": func(o *rocksdb.Options) { o.DelayedWriteRate, o.BytesPerSync = 1<<20, 4096 },
	} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.WriteBufferSize, o.Level0FileNumCompactionTrigger = 64<<10, 2
			set(&o)
			before := engineGoroutines()
			x.destroyAndReopen(o)
			for i := range 400 {
				x.mustPut(0, key(i%100), dummyString(1000, 'v'))
			}
			x.flush(0)
			x.compact(0, "", "")
			x.close()
			// A job's goroutine has a few steps left after it was counted off.
			var left []string
			for range 1000 {
				if left = engineGoroutines(); len(left) <= len(before) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
		})
	}
}
