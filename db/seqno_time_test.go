// Port of db/seqno_time_test.cc (whole databases). Differs: whether sequence numbers
// were set to zero is seen in the entries.

package db_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/utilities"
)

// mockStartTime is late enough that times to preserve do not go below 0.
const mockStartTime = 10000000

// seqnoTimeTest is a database that lives by a mock clock.
type seqnoTimeTest struct {
	*dbTest
	clock   *mockSystemClock
	mockEnv rocksdb.Env
}

func newSeqnoTimeTest(t *testing.T) *seqnoTimeTest {
	x := &seqnoTimeTest{dbTest: newDBTest(t)}
	x.clock, x.mockEnv = x.mockTime()
	x.clock.MockSleepForSeconds(mockStartTime)
	return x
}

func (x *seqnoTimeTest) options() rocksdb.Options {
	o := x.currentOptions()
	o.Env = x.mockEnv
	return o
}

// pass lets seconds go by and waits for the tasks that are due then.
func (x *seqnoTimeTest) pass(seconds int) {
	x.full().TestWaitForPeriodicTaskRun(func() { x.clock.MockSleepForSeconds(seconds) })
}

// putEach writes n keys from first on, with seconds after each.
func (x *seqnoTimeTest) putEach(cf, first, n, seconds int) {
	x.Helper()
	for i := range n {
		x.mustPut(cf, key(first+i), "value")
		x.pass(seconds)
	}
}

func (x *seqnoTimeTest) mapping() *seqnotime.SeqnoToTimeMapping {
	return x.full().TestGetSeqnoToTimeMapping()
}

// decoded is a table's mapping.
func (x *seqnoTimeTest) decoded(p *rocksdb.TableProperties) *seqnotime.SeqnoToTimeMapping {
	x.Helper()
	m := seqnotime.NewSeqnoToTimeMapping()
	x.must(m.DecodeFrom([]byte(p.SeqnoToTimeMapping)))
	if !m.IsEnforced() {
		x.Fatal("a table's mapping is not in order")
	}
	return m
}

// tables are the properties of a family's tables, which have to be n.
func (x *seqnoTimeTest) tables(cf, n int) []*rocksdb.TableProperties {
	x.Helper()
	byPath, err := x.cf(cf).GetPropertiesOfAllTables()
	x.must(err)
	var list []*rocksdb.TableProperties
	for _, p := range byPath {
		list = append(list, p)
	}
	if len(list) != n {
		x.Fatalf("%d tables, want %d", len(list), n)
	}
	slices.SortFunc(list, func(a, b *rocksdb.TableProperties) int { return int(a.OrigFileNumber) - int(b.OrigFileNumber) })
	return list
}

func (x *dbTest) between(what string, got, least, most int) {
	x.Helper()
	if got < least || got > most {
		x.Fatalf("%s: %d, want %d to %d", what, got, least, most)
	}
}

// sizeAt is the bytes of the tables of a temperature.
func (x *dbTest) sizeAt(t rocksdb.Temperature) uint64 {
	x.Helper()
	n, err := strconv.ParseUint(x.property(0, rocksdb.PropertyLiveSstFilesSizeAtTemperature+fmt.Sprint(uint8(t))), 10, 64)
	x.must(err)
	return n
}

// wantHotCold checks of which temperatures there are tables.
func (x *dbTest) wantHotCold(hot, cold bool) {
	x.Helper()
	if h, c := x.sizeAt(rocksdb.TemperatureUnknown), x.sizeAt(rocksdb.TemperatureCold); (h > 0) != hot || (c > 0) != cold {
		x.Fatalf("%d bytes of no temperature, %d cold ones", h, c)
	}
}

// wantCold checks whether a key is read from a cold table; it must not be cached.
func (x *dbTest) wantCold(id int, cold bool) {
	x.Helper()
	var c rocksdb.IOStatsContext
	ro := rocksdb.DefaultReadOptions()
	ro.IOStatsContext = &c
	v, err := x.db.Get(&ro, []byte(key(id)))
	x.must(err)
	v.Release()
	f := &c.FileIOStatsByTemperature
	if c.BytesRead == 0 || (f.ColdFileReadCount > 0) != cold || (f.ColdFileBytesRead > 0) != cold {
		x.Fatalf("key %d: %d bytes read, %d of them cold in %d reads; cold: %t", id, c.BytesRead, f.ColdFileBytesRead, f.ColdFileReadCount, cold)
	}
}

func (x *dbTest) compactForced() {
	x.Helper()
	o := rocksdb.DefaultCompactRangeOptions()
	o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&o, nil, nil))
}

func (x *dbTest) waitForCompact() {
	x.Helper()
	x.must(x.full().TestWaitForCompact())
}

func TestSeqnoTimeTest_TemperatureBasicUniversal(t *testing.T) {
	const trigger, keys, perKey = 4, 100, 10
	x := newSeqnoTimeTest(t)
	o := x.options()
	o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 7
	o.PrecludeLastLevelDataSeconds, o.LastLevelTemperature = 10000, rocksdb.TemperatureCold
	x.destroyAndReopen(o)
	n := 0
	write := func() {
		x.putEach(0, n*(keys-1), keys, perKey)
		x.flush(0)
		n++
	}
	for n < trigger {
		write()
	}
	x.waitForCompact()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	x.wantCold(20, false)
	// A table takes 1000 seconds: up to the tenth all is new.
	for n < 2*trigger {
		write()
		x.waitForCompact()
		x.wantHotCold(true, false)
	}
	for n < 3*trigger {
		write()
		x.waitForCompact()
	}
	x.compactForced()
	hot, cold := x.sizeAt(rocksdb.TemperatureUnknown), x.sizeAt(rocksdb.TemperatureCold)
	x.wantHotCold(true, true)
	x.wantCold(20, true)
	for i := range 30 {
		x.pass(20 * perKey)
		x.compactForced()
		x.wantCold(i*20+250, false)
		x.wantCold(i*20+200, true)
	}
	if h, c := x.sizeAt(rocksdb.TemperatureUnknown), x.sizeAt(rocksdb.TemperatureCold); h >= hot || c <= cold {
		x.Fatalf("hot %d to %d bytes, cold %d to %d", hot, h, cold, c)
	}
	for range 5 {
		x.pass(1000)
		x.compactForced()
	}
	x.wantCold(1000, true)
}

func TestSeqnoTimeTest_TemperatureBasicLevel(t *testing.T) {
	const keys = 100
	x := newSeqnoTimeTest(t)
	o := x.options()
	o.NumLevels, o.LevelCompactionDynamicLevelBytes, o.DisableAutoCompactions = 7, true, true
	o.PrecludeLastLevelDataSeconds, o.LastLevelTemperature = 10000, rocksdb.TemperatureCold
	x.destroyAndReopen(o)
	n := 0
	write := func(upTo int) {
		for ; n < upTo; n++ {
			x.putEach(0, n*(keys-1), keys, 10)
			x.flush(0)
		}
	}
	write(4)
	x.compactForced()
	x.wantFiles(0, "0,0,0,0,0,1")
	x.wantHotCold(true, false)
	x.wantCold(20, false)

	write(14)
	x.moveFilesToLevel(5, 0)
	x.wantHotCold(true, false)
	x.moveFilesToLevel(6, 0)
	x.wantHotCold(true, true)
	x.wantCold(20, true)
	hot, cold := x.sizeAt(rocksdb.TemperatureUnknown), x.sizeAt(rocksdb.TemperatureCold)
	for i := range 30 {
		x.pass(200)
		x.compactForced()
		h, c := x.sizeAt(rocksdb.TemperatureUnknown), x.sizeAt(rocksdb.TemperatureCold)
		if h >= hot || c <= cold {
			x.Fatalf("step %d: hot %d to %d bytes, cold %d to %d", i, hot, h, cold, c)
		}
		hot, cold = h, c
		x.wantCold(i*20+450, false)
		x.wantCold(i*20+400, true)
	}
	for range 5 {
		x.pass(1000)
		x.compactForced()
	}
	x.wantCold(1000, true)
}

// eachTracking runs f with every way to ask for the times of sequence numbers.
func eachTracking(t *testing.T, f func(x *seqnoTimeTest, track func(o *rocksdb.Options, seconds uint64))) {
	for name, track := range map[string]func(o *rocksdb.Options, seconds uint64){
		"preserve": func(o *rocksdb.Options, n uint64) {
			o.PrecludeLastLevelDataSeconds, o.PreserveInternalTimeSeconds = 0, n
		},
		"preclude": func(o *rocksdb.Options, n uint64) {
			o.PrecludeLastLevelDataSeconds, o.PreserveInternalTimeSeconds = n, 0
		},
		"both": func(o *rocksdb.Options, n uint64) {
			o.PrecludeLastLevelDataSeconds, o.PreserveInternalTimeSeconds = n, n/10
		},
	} {
		t.Run(name, func(t *testing.T) { f(newSeqnoTimeTest(t), track) })
	}
}

func TestSeqnoTimeTablePropTest_BasicSeqnoToTimeMapping(t *testing.T) {
	eachTracking(t, func(x *seqnoTimeTest, track func(*rocksdb.Options, uint64)) {
		o := x.options()
		track(&o, 10000)
		o.DisableAutoCompactions = true
		x.destroyAndReopen(o)
		startSeq, startTime := x.full().GetLatestSequenceNumber()+1, x.clock.NowSeconds()
		// wantProximal compares what a mapping knows of the sequence numbers since the
		// last call with an even spread; fuzz is a share of them.
		wantProximal := func(m *seqnotime.SeqnoToTimeMapping, name string, fuzz float64) {
			x.Helper()
			endSeq, endTime := x.full().GetLatestSequenceNumber()+1, x.clock.NowSeconds()
			slack := uint64(float64(endSeq-startSeq)*fuzz + 0.999999)
			for percent := uint64(0); percent <= 100; percent++ {
				at := startTime + percent*(endTime-startTime)/100
				got, want := m.GetProximalSeqnoBeforeTime(at), startSeq+percent*(endSeq-startSeq)/100
				if got > want || endTime-at < 10000 && want > got+slack {
					x.Errorf("%s: at %d%%: %d, want %d less up to %d", name, percent, got, want, slack)
				}
			}
			startSeq, startTime = endSeq, endTime
		}
		for i, step := range []struct {
			name                   string
			first, seconds, lo, hi int
			fuzz                   float64
		}{
			{"a", 0, 10, 10, 22, 0.1}, // samples of before may take some places
			{"b", 190, 1, 1, 3, 0.5},
			{"c", 380, 200, 50, 51, 0.04},
			{"", 570, 100, 99, 101, 0},
		} {
			x.putEach(0, step.first, 200, step.seconds)
			x.flush(0)
			m := x.decoded(x.tables(0, i+1)[i])
			x.between("pairs of table "+step.name, m.Size(), step.lo, step.hi)
			if step.name != "" {
				wantProximal(m, step.name, step.fuzz)
			}
		}
		x.must(x.db.SetOptions(map[string]string{"disable_auto_compactions": "false"}))
		x.waitForCompact()
		m := x.decoded(x.tables(0, 1)[0])
		x.between("pairs after a compaction", m.Size(), 99, 101)
		wantProximal(m, "d", 0.02)
	})
}

func TestSeqnoTimeTablePropTest_MultiCFs(t *testing.T) {
	eachTracking(t, func(x *seqnoTimeTest, track func(*rocksdb.Options, uint64)) {
		o := x.options()
		o.StatsDumpPeriodSec, o.StatsPersistPeriodSec = 0, 0
		x.reopenWithColumnFamilies([]string{"default"}, o)
		wantRecorder := func(want bool) {
			x.Helper()
			if x.full().TestPeriodicTaskScheduler().TestHasTask(db.PeriodicTaskRecordSeqnoTime) != want {
				x.Fatalf("the recorder runs: %t", !want)
			}
		}
		wantRecorder(false)
		x.putEach(0, 0, 200, 100)
		x.flush(0)
		if x.tables(0, 1)[0].SeqnoToTimeMapping != "" || !x.mapping().Empty() {
			x.Fatal("times are recorded")
		}
		one := o
		track(&one, 10000)
		x.createColumnFamilies([]string{"one"}, one)
		wantRecorder(true)
		x.putEach(0, 0, 200, 100)
		x.flush(0)
		x.putEach(1, 0, 20, 10)
		x.flush(1)
		x.between("pairs of one's table", x.decoded(x.tables(1, 1)[0]).Size(), 1, 4)

		two := o
		track(&two, 1000000)
		x.createColumnFamilies([]string{"two"}, two)
		x.putEach(2, 0, 2000, 100)
		x.between("pairs for both families", x.mapping().Size(), 999, 1000*9/8)
		x.flush(2)
		x.between("pairs of two's table", x.decoded(x.tables(2, 1)[0]).Size(), 99, 101)
		x.putEach(0, 0, 10, 100)
		x.flush(0)
		for range 3 {
			x.putEach(2, 0, 200, 100)
			x.flush(2)
		}
		x.waitForCompact()
		x.between("pairs after a compaction", x.decoded(x.tables(2, 1)[0]).Size(), 99, 101)
		x.putEach(0, 0, 200, 100)
		x.flush(0)
		x.waitForCompact()
		if x.tables(0, 1)[0].SeqnoToTimeMapping != "" {
			x.Fatal("the default family's table has times")
		}
		x.putEach(2, 0, 1000, 100)
		x.between("pairs for both families", x.mapping().Size(), 500, math.MaxInt)
		x.must(x.db.DropColumnFamily(x.cfs[1]))
		x.between("pairs for two", x.mapping().Size(), 0, 105)
		x.must(x.db.DropColumnFamily(x.cfs[2]))
		x.between("pairs for no family", x.mapping().Size(), 0, 0)
		wantRecorder(false)
	})
}

func TestSeqnoTimeTablePropTest_MultiInstancesBasic(t *testing.T) {
	eachTracking(t, func(x *seqnoTimeTest, track func(*rocksdb.Options, uint64)) {
		o := x.options()
		track(&o, 10000)
		o.StatsDumpPeriodSec, o.StatsPersistPeriodSec = 0, 0
		x.destroyAndReopen(o)
		other, err := rocksdb.Open(x.dir+"_other", o)
		x.must(err)
		defer other.Close()
		for i := range 200 {
			x.must(other.Put(nil, []byte(key(i)), []byte("value")))
			other.Impl().TestWaitForPeriodicTaskRun(func() { x.clock.MockSleepForSeconds(100) })
		}
		x.between("pairs", other.Impl().TestGetSeqnoToTimeMapping().Size(), 11, math.MaxInt)
	})
}

func TestSeqnoTimeTablePropTest_SeqnoToTimeMappingUniversal(t *testing.T) {
	const trigger, keys = 4, 100
	eachTracking(t, func(x *seqnoTimeTest, track func(*rocksdb.Options, uint64)) {
		o := x.options()
		track(&o, 10000)
		o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 7
		x.destroyAndReopen(o)
		sequences := func() (list []uint64) {
			x.Helper()
			x.must(utilities.GetAllKeyVersions(x.cf(0).Impl().CFD(), nil, nil, func(v *utilities.KeyVersion) bool {
				list = append(list, v.Sequence)
				return true
			}))
			return list
		}
		n := 0
		write := func() {
			x.putEach(0, n*(keys-1), keys, 10)
			x.flush(0)
			n++
		}
		for n < trigger-1 {
			write()
		}
		for _, p := range x.tables(0, 3) {
			x.between("pairs", x.decoded(p).Size(), 10, 12)
		}
		write()
		x.waitForCompact()
		wantTimes := func(tables int) {
			x.Helper()
			if x.decoded(x.tables(0, tables)[0]).Empty() {
				x.Fatal("no times are known")
			}
		}
		wantTimes(1)
		x.compactForced()
		precludes := o.PrecludeLastLevelDataSeconds > 0
		if on5, on6 := x.numTableFilesAtLevel(5, 0) > 0, x.numTableFilesAtLevel(6, 0) > 0; on5 != precludes || on6 == precludes {
			x.Fatalf("tables on L5: %t, on L6: %t", on5, on6)
		}
		wantTimes(1)
		if slices.Contains(sequences(), 0) {
			x.Fatal("a sequence number was set to 0")
		}
		// Half of the data grows old.
		x.clock.MockSleepForSeconds(8000)
		x.compactForced()
		if precludes {
			x.tables(0, 2)
		} else {
			x.tables(0, 1)
		}
		seqs := sequences()
		if len(seqs) <= 300 || slices.ContainsFunc(seqs[:100], func(s uint64) bool { return s != 0 }) || slices.Contains(seqs[len(seqs)-100:], 0) {
			x.Fatalf("sequence numbers %d", seqs)
		}
		x.clock.MockSleepForSeconds(20000)
		x.compactForced()
		if x.numTableFilesAtLevel(6, 0) == 0 {
			x.Fatal("nothing on the last level")
		}
	})
}

func TestSeqnoTimeTablePropTest_PrePopulateInDB(t *testing.T) {
	const preserve, pairs = 1234567, int(seqnotime.MaxSeqnoTimePairsPerSST)
	eachTracking(t, func(x *seqnoTimeTest, track func(*rocksdb.Options, uint64)) {
		base := x.options()
		base.DisableAutoCompactions, base.CreateMissingColumnFamilies = true, true
		tracking := base
		track(&tracking, preserve)
		wantAt := func(at, want uint64) {
			x.Helper()
			if got := x.mapping().GetProximalSeqnoBeforeTime(at); got != want {
				x.Fatalf("at %d: sequence number %d, want %d", at, got, want)
			}
		}
		wantState := func(size int, latest uint64) {
			x.Helper()
			x.between("pairs", x.mapping().Size(), size, size)
			if got := x.full().GetLatestSequenceNumber(); got != latest {
				x.Fatalf("sequence number %d, want %d", got, latest)
			}
		}
		// A family that comes later gets one pair, for the time of its making.
		for _, withWrite := range []bool{false, true} {
			x.destroyAndReopen(base)
			wantState(0, 0)
			if withWrite {
				x.mustPut(0, "foo", "bar")
				x.flush(0)
			} else {
				x.mustDelete(0, "blah")
			}
			x.createColumnFamilies([]string{"one"}, tracking)
			start := x.clock.NowSeconds()
			wantState(1, 1)
			wantAt(start, 1)
			wantAt(start-1, seqnotime.UnknownSeqnoBeforeAll)
			x.putEach(0, 0, 20, preserve/99)
			x.flush(0)
			wantState(21, 21)
			wantAt(x.clock.NowSeconds(), 21)
			wantAt(start, 1)
			wantAt(start-1, seqnotime.UnknownSeqnoBeforeAll)
		}
		// A database that is only read has none, and is not new afterwards.
		for _, withWrite := range []bool{false, true} {
			x.destroyAndReopen(base)
			var latest uint64
			if withWrite {
				x.mustPut(0, "foo", "bar")
				x.flush(0)
				latest = 1
			}
			for _, o := range []rocksdb.Options{base, tracking} {
				x.must(x.tryReadOnlyReopen(o))
				if withWrite {
					x.wantGet(0, "foo", "bar")
				}
				wantState(0, latest)
			}
			if !withWrite {
				x.reopen(tracking)
				wantState(1, 0)
			}
		}
		x.destroyAndReopen(tracking)
		start := x.clock.NowSeconds()
		wantState(pairs, uint64(pairs))
		wantAt(start, uint64(pairs))
		wantAt(start-preserve, 1)
		for _, ratio := range []float64{0, 0.433, 0.678, 0.987, 1} {
			wantAt(start-preserve+uint64(ratio*preserve+0.9999999), uint64(ratio*float64(pairs-1))+1)
		}
		x.putEach(0, 0, 20, preserve/99)
		x.flush(0)
		x.between("pairs", x.mapping().Size(), pairs, math.MaxInt)
		wantAt(x.clock.NowSeconds(), x.full().GetLatestSequenceNumber())
		wantAt(start-preserve/2, uint64(pairs/2))
		wantAt(start-preserve, seqnotime.UnknownSeqnoBeforeAll)
		x.must(x.tryReadOnlyReopen(tracking))
		x.wantGet(0, key(0), "value")
		x.between("pairs", x.mapping().Size(), 0, 0)

		// Another family than the default one asks for it.
		x.destroy(tracking)
		x.reopenWithColumnFamilies([]string{"default", "one"}, base, tracking)
		start = x.clock.NowSeconds()
		wantState(pairs, uint64(pairs))
		wantAt(start, uint64(pairs))
		wantAt(start-preserve, 1)
		x.reopenWithColumnFamilies([]string{"default", "one"}, base, base)
		wantState(0, uint64(pairs))
	})
}
