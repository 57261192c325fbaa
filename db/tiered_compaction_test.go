// Port of db/compaction/tiered_compaction_test.cc (what needs no sync points).

package db_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	tablepropertiescollectors "github.com/rocksdb-go/rocksdb/utilities/table_properties_collectors"
)

// precludeTest is a database of seven levels that changes its options while it is
// open, or by opening it again.
type precludeTest struct {
	*seqnoTimeTest
	o       rocksdb.Options
	dynamic bool
	rnd     *util.Random
}

// newPrecludeTest begins with universal compaction.
func newPrecludeTest(t *testing.T, dynamic bool) *precludeTest {
	x := &precludeTest{seqnoTimeTest: newSeqnoTimeTest(t), dynamic: dynamic, rnd: util.NewRandom(301)}
	x.o = x.options()
	x.o.CompactionStyle, x.o.NumLevels, x.o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleUniversal, 7, 4
	return x
}

// eachConfigWay runs f for both ways to change options.
func eachConfigWay(t *testing.T, f func(x *precludeTest)) {
	for _, dynamic := range []bool{false, true} {
		t.Run(fmt.Sprintf("dynamic=%t", dynamic), func(t *testing.T) { f(newPrecludeTest(t, dynamic)) })
	}
}

// change puts options of the family into force; set and values say the same.
func (x *precludeTest) change(values map[string]string, set func(o *rocksdb.Options)) {
	x.Helper()
	set(&x.o)
	if x.dynamic {
		x.must(x.db.SetOptions(values))
	} else {
		x.reopen(x.o)
	}
}

// preclude keeps the data of so many seconds out of the last, cold level.
func (x *precludeTest) preclude(seconds uint64) {
	x.Helper()
	x.change(map[string]string{"preclude_last_level_data_seconds": fmt.Sprint(seconds), "last_level_temperature": "kCold"},
		func(o *rocksdb.Options) {
			o.PrecludeLastLevelDataSeconds, o.LastLevelTemperature = seconds, rocksdb.TemperatureCold
		})
}

// preserve keeps times of so many seconds.
func (x *precludeTest) preserve(seconds uint64) {
	x.Helper()
	x.change(map[string]string{"preserve_internal_time_seconds": fmt.Sprint(seconds)},
		func(o *rocksdb.Options) { o.PreserveInternalTimeSeconds = seconds })
}

// overlappingTables flushes tables of 100 keys, from the first to before the last;
// a key takes 10 seconds.
func (x *precludeTest) overlappingTables(first, last int, value func() string) {
	x.Helper()
	for ; first < last; first++ {
		for i := range 100 {
			x.mustPut(0, key(first*99+i), value())
			x.pass(10)
		}
		x.flush(0)
	}
}

func shortValue() string                  { return "value" }
func (x *precludeTest) longValue() string { return string(x.rnd.RandomString(100)) }

func (x *precludeTest) timedPut(k, value string, at uint64, wo *rocksdb.WriteOptions) {
	x.Helper()
	b := rocksdb.NewWriteBatch()
	x.must(b.TimedPut(x.cf(0), []byte(k), []byte(value), at))
	x.must(x.db.Write(wo, b))
}

// allSequences are the sequence numbers of all entries.
func (x *precludeTest) allSequences() (list []uint64) {
	x.Helper()
	x.must(utilities.GetAllKeyVersions(x.cf(0).Impl().CFD(), nil, nil, func(v *utilities.KeyVersion) bool {
		list = append(list, v.Sequence)
		return true
	}))
	return list
}

// wantOldAndNew wants more than 300 entries, the first 100 of them without sequence
// numbers, the last 100 with theirs.
func (x *precludeTest) wantOldAndNew() {
	x.Helper()
	s := x.allSequences()
	if len(s) <= 300 || slices.ContainsFunc(s[:100], func(n uint64) bool { return n != 0 }) || slices.Contains(s[len(s)-100:], 0) {
		x.Fatalf("sequence numbers %d", s)
	}
}

func (x *precludeTest) deleteRange(first, end int) {
	x.Helper()
	x.must(x.db.DeleteRange(nil, []byte(key(first)), []byte(key(end))))
}

func (x *precludeTest) compactAll() {
	x.Helper()
	x.must(x.db.CompactRange(nil, nil, nil))
}

// preserved begins with one table on the last level, of keys whose times are kept.
func (x *precludeTest) preserved(seconds uint64) {
	x.Helper()
	x.o.PreserveInternalTimeSeconds = seconds
	x.destroyAndReopen(x.o)
	x.overlappingTables(0, 4, shortValue)
	x.waitForCompact()
	x.wantFiles(0, "0,0,0,0,0,0,1")
}

func TestPrecludeLastLevelTest_MigrationFromPreserveTimeManualCompaction(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		x.preserved(10000)
		x.preclude(10000)
		x.wantHotCold(true, false)
		x.mustPut(0, key(10), "value")
		x.flush(0)
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,1")
		x.wantHotCold(true, false)
	})
}

func TestPrecludeLastLevelTest_MigrationFromPreserveTimeAutoCompaction(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		x.preserved(10000)
		// The last level must not count for the amplification of size.
		x.change(map[string]string{"preclude_last_level_data_seconds": "10000", "last_level_temperature": "kCold",
			"compaction_options_universal.max_size_amplification_percent": "400"}, func(o *rocksdb.Options) {
			o.PrecludeLastLevelDataSeconds, o.LastLevelTemperature = 10000, rocksdb.TemperatureCold
			o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 400
		})
		x.wantHotCold(true, false)
		for i := 4; i < 7; i++ {
			x.overlappingTables(i, i+1, x.longValue) // large enough for a full compaction
			x.waitForCompact()
		}
		x.wantFiles(0, "0,0,0,0,0,1")
		x.wantHotCold(true, false)
	})
}

func TestPrecludeLastLevelTest_MigrationFromPreserveTimePartial(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		x.preserved(2000)
		x.wantOldAndNew()
		x.preclude(2000)
		x.mustPut(0, key(10), "value")
		x.flush(0)
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,1,1")
		x.wantHotCold(true, true)
	})
}

func TestPrecludeLastLevelTest_SmallPrecludeTime(t *testing.T) {
	for _, temperature := range knownTemperatures {
		t.Run(fmt.Sprint(temperature), func(t *testing.T) {
			x := newPrecludeTest(t, false)
			x.o.PrecludeLastLevelDataSeconds, x.o.LastLevelTemperature = 60, temperature
			x.destroyAndReopen(x.o)
			x.pass(int(x.rnd.Uniform(10)) + 1)
			for i := range 100 {
				x.mustPut(0, key(i), x.longValue())
				x.pass(int(x.rnd.Uniform(2)))
			}
			x.flush(0)
			if x.decoded(x.tables(0, 1)[0]).Empty() {
				x.Fatal("no times are known")
			}
			wantSizes := func(at rocksdb.Temperature) {
				x.Helper()
				for _, known := range append([]rocksdb.Temperature{rocksdb.TemperatureUnknown}, knownTemperatures...) {
					if n := x.sizeAt(known); (n > 0) != (known == at) {
						x.Fatalf("%d bytes of the temperature %v", n, known)
					}
				}
			}
			wantSizes(rocksdb.TemperatureUnknown)
			// Nothing is written any more, so that no table gets a later time.
			x.clock.MockSleepForSeconds(100)
			x.compactAll()
			x.wantFiles(0, "0,0,0,0,0,0,1")
			wantSizes(temperature)
		})
	}
}

func TestPrecludeLastLevelTest_CheckInternalKeyRange(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		x.o.CompactionStyle, x.o.LevelCompactionDynamicLevelBytes = rocksdb.CompactionStyleLevel, true
		x.o.LastLevelTemperature, x.o.MaxSubcompactions, x.o.PreserveInternalTimeSeconds = rocksdb.TemperatureCold, 10, 10000
		x.destroyAndReopen(x.o)
		x.puts(0, key(2), "val2", key(3), "val3", "flush")
		x.moveFilesToLevel(6, 0)
		x.puts(0, key(50), "val50", "flush")
		x.moveFilesToLevel(6, 0)
		x.preclude(10000)
		s := x.db.GetSnapshot()
		x.deleteRange(1, 3)
		x.flush(0)
		x.moveFilesToLevel(5, 0)
		x.puts(0, key(3), "vall", key(100), "val100", "flush")
		x.moveFilesToLevel(5, 0)
		x.wantFiles(0, "0,0,0,0,0,2,2")
		verify := func() {
			x.Helper()
			for k, want := range map[int][2]string{2: {"val2", "NOT_FOUND"}, 3: {"val3", "vall"}, 50: {"val50", "val50"}, 100: {"NOT_FOUND", "val100"}} {
				x.wantGetAt(0, key(k), s, want[0])
				x.wantGet(0, key(k), want[1])
			}
		}
		verify()
		// Key 3 of the last level must not come up beside the newer one.
		o := rocksdb.DefaultCompactRangeOptions()
		o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
		x.must(x.db.CompactRange(&o, []byte(key(1)), []byte(key(2))))
		verify()
		x.must(x.db.ReleaseSnapshot(s))
	})
}

func TestPrecludeWithCompactStyleTest_RangeTombstoneSnapshotMigrateFromLast(t *testing.T) {
	for _, isUniversal := range []bool{false, true} {
		t.Run(fmt.Sprintf("universal=%t", isUniversal), func(t *testing.T) {
			x := newPrecludeTest(t, true)
			if !isUniversal {
				x.o.CompactionStyle = rocksdb.CompactionStyleLevel
			}
			x.o.CompactionOptionsUniversal.AllowTrivialMove = true
			x.o.LastLevelTemperature, x.o.MaxSubcompactions, x.o.PreserveInternalTimeSeconds = rocksdb.TemperatureCold, 10, 30000
			x.destroyAndReopen(x.o)
			x.puts(0, key(2), "val2", key(6), "val6")
			for range 10 {
				x.pass(1000)
			}
			s := x.db.GetSnapshot()
			x.deleteRange(1, 5)
			x.puts(0, key(1), "val1", "flush")
			if isUniversal {
				x.compactAll()
			} else {
				x.moveFilesToLevel(6, 0)
			}
			x.wantFiles(0, "0,0,0,0,0,0,1")
			x.preclude(10000)
			x.puts(0, key(0), "val0", "flush", key(3), "val3", "flush", key(7), "val7")
			x.pass(1000)
			x.flush(0)
			if isUniversal {
				x.waitForCompact()
			} else {
				x.moveFilesToLevel(5, 0)
			}
			x.wantFiles(0, "0,0,0,0,0,3,1")
			verify := func() {
				x.Helper()
				for k, want := range map[int][2]string{0: {"NOT_FOUND", "val0"}, 1: {"NOT_FOUND", "val1"}, 2: {"val2", "NOT_FOUND"},
					3: {"NOT_FOUND", "val3"}, 6: {"val6", "val6"}, 7: {"NOT_FOUND", "val7"}} {
					if s != nil {
						x.wantGetAt(0, key(k), s, want[0])
					}
					x.wantGet(0, key(k), want[1])
				}
			}
			verify()
			if isUniversal {
				middle := x.storage(0).LevelFiles(5)[1].FD.GetNumber()
				_, err := x.db.CompactFiles(nil, []string{filename.MakeTableFileName("", middle)}, 6, -1, nil)
				x.must(err)
			} else {
				x.must(x.db.CompactRange(nil, []byte(key(3)), []byte(key(4))))
			}
			x.wantFiles(0, "0,0,0,0,0,3,1")
			verify()
			x.compactAll()
			x.wantFiles(0, "0,0,0,0,0,1,1")
			verify()
			if isUniversal {
				if first := string(x.storage(0).LevelFiles(6)[0].Smallest.UserKey()); first <= key(1) {
					x.Fatalf("the last level begins with %s", first)
				}
			}
			x.must(x.db.ReleaseSnapshot(s))
			s = nil
			x.clock.MockSleepForSeconds(10000)
			x.compactAll()
			x.wantFiles(0, "0,0,0,0,0,0,1")
			verify()
		})
	}
}

// eachProtection runs f with write options that protect entries, and not.
func eachProtection(t *testing.T, f func(x *precludeTest, wo *rocksdb.WriteOptions)) {
	for _, bytes := range []uint64{0, 8} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			wo := rocksdb.DefaultWriteOptions()
			wo.ProtectionBytesPerKey = bytes
			f(newPrecludeTest(t, false), &wo)
		})
	}
}

// oldTime is long before any time that is kept.
const oldTime = 50

func TestTimedPutPrecludeLastLevelTest_FastTrackTimedPutToLastLevel(t *testing.T) {
	const keys = 100
	eachProtection(t, func(x *precludeTest, wo *rocksdb.WriteOptions) {
		x.o.PrecludeLastLevelDataSeconds, x.o.LastLevelTemperature = 60, rocksdb.TemperatureCold
		x.destroyAndReopen(x.o)
		x.pass(int(x.rnd.Uniform(10)) + 1)
		for i := range keys / 2 {
			x.must(x.db.Put(wo, []byte(key(i)), []byte(x.longValue())))
			x.pass(int(x.rnd.Uniform(2)))
		}
		x.flush(0)
		for i := keys / 2; i < keys; i++ {
			x.timedPut(key(i), x.longValue(), oldTime, wo)
		}
		x.flush(0)
		x.compactAll()
		x.wantFiles(0, "0,0,0,0,0,1,1")
		x.clock.MockSleepForSeconds(100)
		x.compactAll()
		x.wantFiles(0, "0,0,0,0,0,0,1")
		x.wantHotCold(false, true)
	})
}

const secondsPerDay = 24 * 60 * 60

// hotAndCold asks for data of so many days to be kept hot, by hand.
func (x *precludeTest) hotAndCold(days uint64) {
	x.o.DisableAutoCompactions, x.o.PrecludeLastLevelDataSeconds = true, days*secondsPerDay
	x.o.LastLevelTemperature, x.o.DefaultWriteTemperature = rocksdb.TemperatureCold, rocksdb.TemperatureHot
	x.destroyAndReopen(x.o)
}

// wantTiers checks of which temperatures there are tables.
func (x *precludeTest) wantTiers(hot, cold bool) {
	x.Helper()
	if h, c := x.sizeAt(rocksdb.TemperatureHot), x.sizeAt(rocksdb.TemperatureCold); (h > 0) != hot || (c > 0) != cold {
		x.Fatalf("%d hot bytes, %d cold ones", h, c)
	}
}

func TestTimedPutPrecludeLastLevelTest_InterleavedTimedPutAndPut(t *testing.T) {
	eachProtection(t, func(x *precludeTest, wo *rocksdb.WriteOptions) {
		x.hotAndCold(1)
		x.timedPut(key(0), "v0", mockStartTime-secondsPerDay, wo)
		x.must(x.db.Put(wo, []byte(key(1)), []byte("v1")))
		x.flush(0)
		x.compactAll()
		x.wantFiles(0, "0,0,0,0,0,1,1")
		x.wantTiers(true, true)
	})
}

func TestTimedPutPrecludeLastLevelTest_PreserveTimedPutOnProximalLevel(t *testing.T) {
	eachProtection(t, func(x *precludeTest, wo *rocksdb.WriteOptions) {
		x.hotAndCold(3)
		// What no snapshot sees keeps its own sequence number, so that the table's times
		// have to cover both.
		s := x.db.GetSnapshot()
		for i := range 3 {
			x.timedPut(key(i), fmt.Sprint("v", i), mockStartTime-secondsPerDay, wo)
		}
		x.flush(0)
		x.compactAll()
		x.wantFiles(0, "0,0,0,0,0,1")
		x.wantTiers(true, false)
		x.must(x.db.ReleaseSnapshot(s))
		x.clock.MockSleepForSeconds(secondsPerDay)
		x.compactAll()
		x.wantFiles(0, "0,0,0,0,0,1")
		x.wantTiers(true, false)
		// Old enough a sample too early.
		x.clock.MockSleepForSeconds(secondsPerDay - 3*secondsPerDay/int(seqnotime.MaxSeqnoTimePairsPerCF))
		x.compactAll()
		x.wantFiles(0, "0,0,0,0,0,0,1")
		x.wantTiers(false, true)
	})
}

func TestTimedPutPrecludeLastLevelTest_AutoTriggerCompaction(t *testing.T) {
	const keys = 200
	eachProtection(t, func(x *precludeTest, wo *rocksdb.WriteOptions) {
		x.o.PrecludeLastLevelDataSeconds, x.o.LastLevelTemperature = 60, rocksdb.TemperatureCold
		x.o.Level0FileNumCompactionTrigger = 10
		f := tablepropertiescollectors.NewCompactForTieringCollectorFactory(0.4)
		x.o.TablePropertiesCollectorFactories = append(x.o.TablePropertiesCollectorFactories, f)
		x.destroyAndReopen(x.o)
		x.pass(int(x.rnd.Uniform(10)) + 1)
		for i := range keys / 4 {
			x.must(x.db.Put(wo, []byte(key(i)), []byte(x.longValue())))
			x.pass(int(x.rnd.Uniform(2)))
		}
		x.flush(0)
		quarter := func(n int) {
			x.Helper()
			for i := n * keys / 4; i < (n+1)*keys/4; i++ {
				x.timedPut(key(i), x.longValue(), oldTime, wo)
			}
			x.flush(0)
			x.waitForCompact()
		}
		quarter(1)
		x.wantFiles(0, "1,0,0,0,0,0,1")
		x.wantHotCold(true, true)
		f.SetCompactionTriggerRatio(1.1)
		quarter(2)
		x.wantFiles(0, "2,0,0,0,0,0,1")
		f.SetCompactionTriggerRatio(0)
		quarter(3)
		x.wantFiles(0, "3,0,0,0,0,0,1")
	})
}

func TestPrecludeLastLevelTest_LastLevelOnlyCompactionPartial(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		x.preserved(2000)
		x.preclude(2000)
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,1,1")
		x.wantHotCold(true, true)
		x.wantOldAndNew()
	})
}

// threeRanges cuts tables before keys 20 and 40; a key of each is there.
var threeRanges = cutAt{func(k string) bool { return k == key(20) || k == key(40) }}

func TestPrecludeLastLevelTest_PartialProximalLevelCompaction(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		x.o.PreserveInternalTimeSeconds = 10000
		x.destroyAndReopen(x.o)
		for i := range 300 {
			x.mustPut(0, key(i), x.longValue())
			x.pass(10)
		}
		x.flush(0)
		x.compactForced()
		x.wantFiles(0, "0,0,0,0,0,0,1")
		x.o.SstPartitionerFactory = threeRanges
		x.reopen(x.o)
		for i := range 3 {
			for j := range 100 {
				x.mustPut(0, key(i*100+j), string(x.rnd.RandomString(10)))
			}
			x.flush(0)
		}
		x.waitForCompact()
		x.wantFiles(0, "0,0,0,0,0,3,1")
		x.preclude(10000)
		meta := x.db.GetColumnFamilyMetaData(nil)
		l5, l6 := meta.Levels[5].Files, meta.Levels[6].Files
		if string(l6[0].SmallestKey) != key(0) || string(l6[0].LargestKey) != key(299) {
			x.Fatalf("the last level holds %s to %s", l6[0].SmallestKey, l6[0].LargestKey)
		}
		_, err := x.db.CompactFiles(nil, []string{l5[2].Name, l6[0].Name}, 6, -1, nil)
		x.must(err)
		// Up to key 39 nothing can move up, for it would meet the tables there.
		x.wantFiles(0, "0,0,0,0,0,3,2")
		x.wantHotCold(true, true)
		meta = x.db.GetColumnFamilyMetaData(nil)
		for _, f := range meta.Levels[5].Files {
			if f.Temperature != rocksdb.TemperatureUnknown {
				x.Errorf("L5 %s: temperature %v", f.Name, f.Temperature)
			}
		}
		for i, f := range meta.Levels[6].Files {
			if f.Temperature != rocksdb.TemperatureCold || string(f.SmallestKey) != key(20*i) || string(f.LargestKey) != key(20*i+19) {
				x.Errorf("L6 %s: %s to %s, temperature %v", f.Name, f.SmallestKey, f.LargestKey, f.Temperature)
			}
		}
	})
}

// writeTimes walks an iterator and checks keys and what it says of their times of
// writing; want gives the time of a key by its number.
func (x *precludeTest) wantWriteTimes(tailing, backward bool, n int, want func(i int) uint64) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.Tailing = tailing
	it := x.db.NewIterator(&ro)
	defer it.Close()
	count := 0
	step, at := func() { it.Next() }, func() int { return count }
	if backward {
		it.SeekToLast()
		step, at = func() { it.Prev() }, func() int { return n - 1 - count }
	} else {
		it.Seek([]byte(key(0)))
	}
	for ; it.Valid() && string(it.Key()) >= key(0); step() {
		x.wantWriteTime(it, key(at()), want(at()))
		count++
	}
	x.must(it.Status())
	if count != n {
		x.Fatalf("%d keys, want %d", count, n)
	}
}

// writeTime is what an iterator says of the present entry.
func (x *precludeTest) writeTime(it *rocksdb.Iterator, wantKey string) uint64 {
	x.Helper()
	if !it.Valid() || string(it.Key()) != wantKey {
		x.Fatalf("the iterator is not at %s: %v", wantKey, it.Status())
	}
	v, err := it.GetProperty("rocksdb.iterator.write-time")
	x.must(err)
	return binary.LittleEndian.Uint64([]byte(v))
}

func (x *precludeTest) wantWriteTime(it *rocksdb.Iterator, wantKey string, want uint64) {
	x.Helper()
	if got := x.writeTime(it, wantKey); got != want {
		x.Fatalf("%s was written at %d, want %d", wantKey, got, want)
	}
}

const (
	perSample = 101 // seconds
	timedKey  = 25
	timedAt   = mockStartTime + 15*perSample
)

// eachIteratorWay runs f for tailing iterators and others, and both ways to change
// options. There are 100 keys, a sample of the time before each; key 25 brings a time
// of its own. start is the time known of the first one.
func eachIteratorWay(t *testing.T, f func(x *precludeTest, tailing bool, expected func(timed uint64) func(i int) uint64)) {
	for _, tailing := range []bool{false, true} {
		for _, dynamic := range []bool{false, true} {
			t.Run(fmt.Sprintf("tailing=%t,dynamic=%t", tailing, dynamic), func(t *testing.T) {
				x := newPrecludeTest(t, dynamic)
				x.destroyAndReopen(x.o)
				x.mustDelete(0, "something_to_bump_seqno")
				x.preserve(10000)
				for i := range 100 {
					x.pass(perSample)
					if i == timedKey {
						x.timedPut(key(i), x.longValue(), timedAt, nil)
					} else {
						x.mustPut(0, key(i), x.longValue())
					}
				}
				f(x, tailing, func(timed uint64) func(i int) uint64 {
					it := x.db.NewIterator(nil)
					defer it.Close()
					it.Seek([]byte(key(0)))
					start := x.writeTime(it, key(0))
					return func(i int) uint64 {
						switch i {
						case 0:
							return start
						case timedKey:
							return timed
						}
						return start + uint64(perSample*(i+1))
					}
				})
			})
		}
	}
}

func TestIteratorWriteTimeTest_ReadFromMemtables(t *testing.T) {
	eachIteratorWay(t, func(x *precludeTest, tailing bool, expected func(uint64) func(int) uint64) {
		want := expected(timedAt)
		x.wantWriteTimes(tailing, false, 100, want)
		x.wantWriteTimes(false, true, 100, want)
		// Without recording, a memtable knows the times that entries bring.
		x.preserve(0)
		x.timedPut(key(timedKey), x.longValue(), timedAt, nil)
		wantTimed := func(want uint64) {
			x.Helper()
			it := x.db.NewIterator(nil)
			defer it.Close()
			it.Seek([]byte(key(timedKey)))
			x.wantWriteTime(it, key(timedKey), want)
		}
		wantTimed(timedAt)
		x.flush(0)
		wantTimed(math.MaxUint64)
	})
}

func TestIteratorWriteTimeTest_ReadFromSstFile(t *testing.T) {
	eachIteratorWay(t, func(x *precludeTest, tailing bool, expected func(uint64) func(int) uint64) {
		x.flush(0)
		// The time became a sequence number, and that a time again.
		want := expected(timedAt - perSample)
		x.wantWriteTimes(tailing, false, 100, want)
		x.wantWriteTimes(false, true, 100, want)
		x.preserve(0)
		x.pass(perSample)
		x.mustPut(0, "a", "val")
		x.between("pairs", x.mapping().Size(), 0, 0)
		wantA := func() {
			x.Helper()
			it := x.db.NewIterator(nil)
			defer it.Close()
			it.SeekToFirst()
			x.wantWriteTime(it, "a", math.MaxUint64)
		}
		wantA()
		x.wantWriteTimes(false, false, 100, want)
		x.flush(0)
		wantA()
		x.compactAll()
		x.wantWriteTimes(false, false, 100, func(int) uint64 { return 0 })
	})
}

func TestIteratorWriteTimeTest_MergeReturnsBaseValueWriteTime(t *testing.T) {
	eachConfigWay(t, func(x *precludeTest) {
		for _, tailing := range []bool{false, true} {
			op, err := mergeoperators.New("stringappend")
			x.must(err)
			x.o.MergeOperator = op
			x.destroyAndReopen(x.o)
			x.preserve(10000)
			x.pass(perSample)
			x.mustPut(0, "foo", "fv1")
			x.pass(perSample)
			x.mustPut(0, "bar", "bv1")
			x.mustMerge(0, "foo", "bv1")
			ro := rocksdb.DefaultReadOptions()
			ro.Tailing = tailing
			it := x.db.NewIterator(&ro)
			it.SeekToFirst()
			bar := x.writeTime(it, "bar")
			it.Next()
			if foo := x.writeTime(it, "foo"); bar <= foo {
				x.Fatalf("bar was written at %d, foo at %d", bar, foo)
			}
			it.Next()
			if it.Valid() || it.Status() != nil {
				x.Fatalf("at the end: %v", it.Status())
			}
			x.must(it.Close())
		}
	})
}
