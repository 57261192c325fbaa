// No upstream twin: upstream tests these through a database
// (db/perf_context_test.cc).

package monitoring

import (
	"reflect"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// TestPerfContext_Names compares the printed names with upstream's.
func TestPerfContext_Names(t *testing.T) {
	byContext := map[string][]string{}
	for _, row := range readTable(t, "testdata/perf_counters.tsv") {
		byContext[row[0]] = append(byContext[row[0]], row[1])
	}
	var c rocksdb.PerfContext
	c.EnablePerLevelPerfContext()
	c.AtLevel(0).BlockCacheHitCount = 0
	var names []string
	for part := range strings.SplitSeq(c.ToString(false), ", ") {
		name, _, _ := strings.Cut(part, " = ")
		names = append(names, name)
	}
	want := append(byContext["perf_context"], byContext["perf_context_by_level"]...)
	if !reflect.DeepEqual(names, want) {
		t.Errorf("names %v\nwant %v", names, want)
	}
	if n := reflect.TypeFor[rocksdb.PerfCounters]().NumField(); n != len(byContext["perf_context"]) {
		t.Errorf("%d fields", n)
	}
}

// TestPerfContext_Fields sets each field and looks for it in its own place.
func TestPerfContext_Fields(t *testing.T) {
	rows := readTable(t, "testdata/perf_counters.tsv")
	var c rocksdb.PerfContext
	v := reflect.ValueOf(&c.PerfCounters).Elem()
	for i := range v.NumField() {
		c.Reset()
		v.Field(i).SetUint(7)
		checkEqual(t, v.Type().Field(i).Name, c.ToString(true), rows[i][1]+" = 7")
		var sum rocksdb.PerfContext
		sum.Merge(&c)
		sum.Merge(&c)
		checkEqual(t, "merged", sum.ToString(true), rows[i][1]+" = 14")
	}
}

func TestPerfContext_ByLevel(t *testing.T) {
	var c rocksdb.PerfContext
	if c.AtLevel(1) != nil {
		t.Error("counters of a level without being enabled")
	}
	c.EnablePerLevelPerfContext()
	c.AtLevel(2).UserKeyReturnCount += 3
	c.AtLevel(0).UserKeyReturnCount++
	text := c.ToString(true)
	if !strings.Contains(text, "user_key_return_count = 1@level0, 3@level2, get_from_table_nanos = ") {
		t.Errorf("text: %s", text)
	}
	d := c.Clone()
	c.Reset()
	checkEqual(t, "reset", c.AtLevel(2).UserKeyReturnCount, 0)
	checkEqual(t, "clone", d.AtLevel(2).UserKeyReturnCount, 3)
	c.Merge(d)
	c.Merge(d)
	checkEqual(t, "merged", c.AtLevel(2).UserKeyReturnCount, 6)
	c.DisablePerLevelPerfContext()
	if c.AtLevel(2) != nil {
		t.Error("counters of a level although disabled")
	}
	c.EnablePerLevelPerfContext()
	checkEqual(t, "kept", c.AtLevel(2).UserKeyReturnCount, 6)
	c.ClearPerLevelPerfContext()
	c.EnablePerLevelPerfContext()
	checkEqual(t, "cleared", c.AtLevel(2).UserKeyReturnCount, 0)
}

func TestPerfContext_Levels(t *testing.T) {
	var none *rocksdb.PerfContext
	if none.CountEnabled() || none.Enabled(rocksdb.EnableCount) || none.AtLevel(0) != nil {
		t.Error("a nil context collects")
	}
	for level := rocksdb.PerfLevelUninitialized; level < rocksdb.PerfLevelOutOfBounds; level++ {
		c := rocksdb.PerfContext{Level: level}
		effective := level
		if level == rocksdb.PerfLevelUninitialized {
			effective = rocksdb.EnableCount
		}
		for l := rocksdb.EnableCount; l <= rocksdb.EnableTime; l++ {
			checkEqual(t, "enabled", c.Enabled(l), effective >= l)
		}
		checkEqual(t, "count enabled", c.CountEnabled(), effective >= rocksdb.EnableCount)
	}
}

func TestPerfStepTimer(t *testing.T) {
	clock := newMockClock()
	stats := CreateDBStatistics()
	var metric, cpu uint64
	var timer PerfStepTimer
	timer.Stop()
	timer.Measure()
	timer.Start(&metric, clock)
	clock.SleepForMicroseconds(5)
	timer.Measure()
	checkEqual(t, "measured", metric, 5000)
	clock.SleepForMicroseconds(2)
	timer.Stop()
	timer.Stop()
	checkEqual(t, "stopped", metric, 7000)

	timer.StartCPU(&cpu, clock)
	clock.SleepForMicroseconds(10)
	timer.Stop()
	checkEqual(t, "CPU", cpu, 1000)

	var wait PerfStepTimer
	wait.StartTicker(nil, clock, stats, rocksdb.DBMutexWaitMicros)
	clock.SleepForMicroseconds(10)
	wait.Stop()
	checkEqual(t, "ticker", stats.GetTickerCount(rocksdb.DBMutexWaitMicros), 10)

	if n := testing.AllocsPerRun(100, func() {
		var t PerfStepTimer
		t.Start(&metric, nil)
		t.Stop()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
