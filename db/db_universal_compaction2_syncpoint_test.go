//go:build syncpoint

// Port of db/db_universal_compaction_test.cc (DBTestUniversalCompaction2).

package db_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// universal2 are the options of upstream's DBTestUniversalCompaction2: a table
// with 90 deletions in 100 entries is compacted.
func (x *dbTest) universal2(trigger int) rocksdb.Options {
	o := x.currentOptions()
	o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, rocksdb.NewCompactOnDeletionCollectorFactory(100, 90, 0, 0))
	o.CompactionStyle, o.Level0FileNumCompactionTrigger, o.Compression = rocksdb.CompactionStyleUniversal, trigger, rocksdb.NoCompression
	u := &o.CompactionOptionsUniversal
	u.SizeRatio, u.MinMergeWidth, u.MaxSizeAmplificationPercent = 10, 2, 200
	return o
}

// table flushes a table of the keys, those from deleted on deleted.
func (x *dbTest) table(from, deleted, to int) {
	x.Helper()
	for i := from; i < to; i++ {
		if i < deleted {
			x.mustPut(0, key(i), "val")
		} else {
			x.mustDelete(0, key(i))
		}
	}
	x.flush(0)
}

// deletions writes a table that has the keys from 1999 on, of which 90 in a row
// are deleted.
func (x *dbTest) deletions() {
	x.Helper()
	for i := 1999; i < 3000; i++ {
		if i >= 2900 && i < 2990 {
			x.mustDelete(0, key(i))
		} else {
			x.mustPut(0, key(i), "val")
		}
	}
	x.flush(0)
	x.waitForCompact()
}

func TestDBTestUniversalCompaction2_BasicL0toL1(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.universal2(2))
	x.table(0, 2000, 2000)
	x.compact(0, "", "")
	x.deletions()
	x.wantLevelFiles(0, 0)
	if x.numTableFilesAtLevel(6, 0) == 0 {
		t.Error(x.filesPerLevel(0))
	}
}

func TestDBTestUniversalCompaction2_MultipleLevels(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.universal2(4))
	want := func(levels ...int) { // with files
		t.Helper()
		x.waitForCompact()
		x.wantLevelFiles(0, 0)
		for _, l := range levels {
			if x.numTableFilesAtLevel(l, 0) == 0 {
				t.Fatal(x.filesPerLevel(0))
			}
		}
	}
	for i := 0; i < 2000; i += 500 {
		x.table(i, i+500, i+500)
	}
	want(6)
	for _, from := range []int{1999, 2333, 2666} {
		x.table(from, 3000, min(from+334, 2999))
	}
	want(5, 6)
	x.table(1900, 1900, 2100)
	want(6)
	x.wantFiles(0, fmt.Sprint("0,0,0,0,0,0,", x.numTableFilesAtLevel(6, 0)))
}

func TestDBTestUniversalCompaction2_OverlappingL0(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.universal2(5))
	x.table(0, 2000, 2000)
	x.table(2000, 3000, 3000)
	x.table(3500, 4000, 4000)
	x.table(2900, 2900, 3100)
	x.waitForCompact()
	x.wantLevelFiles(0, 2)
	if x.numTableFilesAtLevel(6, 0) == 0 {
		t.Error(x.filesPerLevel(0))
	}
}

func TestDBTestUniversalCompaction2_IngestBehind(t *testing.T) {
	for _, ofFamily := range []bool{false, true} {
		x := newDBTest(t)
		o := x.universal2(2)
		if ofFamily {
			o.CFAllowIngestBehind = true
		} else {
			o.AllowIngestBehind = true
		}
		x.reopen(o)
		x.table(0, 2000, 2000)
		x.compact(0, "", "")
		x.deletions()
		x.wantFiles(0, fmt.Sprint("0,0,0,0,0,", max(1, x.numTableFilesAtLevel(5, 0)))) // the last level is kept free
		if ofFamily {
			other := rocksdb.DefaultOptions()
			other.CompactionStyle, other.NumLevels = rocksdb.CompactionStyleUniversal, 7
			c, err := x.db.CreateColumnFamily(other.ColumnFamilyOptions, "new_cf")
			x.must(err)
			for i := range 10 {
				x.must(c.Put(nil, []byte(key(i)), []byte("val")))
			}
			x.must(c.CompactRange(nil, nil, nil))
			if n, _ := c.GetProperty("rocksdb.num-files-at-level6"); n != "1" {
				t.Errorf("%s files at the last level", n)
			}
			x.must(x.db.DropColumnFamily(c))
			x.must(c.Close())
		}
		x.close()
	}
}

func TestDBTestUniversalCompaction2_PeriodicCompactionDefault(t *testing.T) {
	const day = 24 * 60 * 60
	x := newDBTest(t)
	o := x.plainOptions()
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	want := func(days uint64) {
		t.Helper()
		x.reopen(o)
		same(t, "seconds", x.db.GetOptions().PeriodicCompactionSeconds, days*day)
	}
	o.CompactionFilterFactory = &contextChecker{t: t}
	want(30)
	o.CompactionFilterFactory, o.CompactionFilter = nil, &valueFilter{}
	want(30)
	o.TTL, o.CompactionFilter = 60*day, nil
	want(30)
	o.PeriodicCompactionSeconds, o.TTL = 45*day, 50*day
	want(45)
	o.PeriodicCompactionSeconds = 0
	want(50)
}

// periodicPicks counts compactions picked for their files' age, and keeps the
// levels of the last one.
type periodicPicks struct {
	n         int
	from, out int
}

func countPeriodicPicks(t *testing.T) *periodicPicks {
	p := &periodicPicks{}
	syncpoint.SetCallBack("UniversalCompactionPicker::PickPeriodicCompaction:Return", func(arg any) {
		c := arg.(*compaction.Compaction)
		if c == nil || c.CompactionReason() != contract.CompactionReasonPeriodicCompaction {
			t.Error("no periodic compaction")
			return
		}
		p.n, p.from, p.out = p.n+1, c.StartLevel(), c.OutputLevel()
	})
	syncpoint.EnableProcessing()
	return p
}

// periodicOptions compact files by nothing but their age.
func (x *dbTest) periodicOptions(seconds uint64) rocksdb.Options {
	o := x.currentOptions()
	o.CompactionStyle, o.Level0FileNumCompactionTrigger, o.MaxOpenFiles = rocksdb.CompactionStyleUniversal, 10, -1
	u := &o.CompactionOptionsUniversal
	u.SizeRatio, u.MinMergeWidth, u.MaxSizeAmplificationPercent = 10, 2, 200
	o.PeriodicCompactionSeconds, o.NumLevels = seconds, 5
	return o
}

func TestDBTestUniversalCompaction2_PeriodicCompaction(t *testing.T) {
	const days = 48 * 60 * 60
	x := newDBTest(t)
	clock, e := x.emulatedTime(false)
	o := x.periodicOptions(days)
	o.Env = e
	x.reopen(o)
	picks := countPeriodicPicks(t)
	want := func(n int) {
		t.Helper()
		x.waitForCompact()
		if picks.n != n || n > 0 && (picks.from != 0 || picks.out != 4) {
			t.Fatalf("%+v", picks)
		}
		picks.n = 0
	}
	x.puts(0, "foo", "bar", "flush")
	want(0)
	clock.MockSleepForSeconds(days + 100) // the flushed file is old
	x.puts(0, "foo", "bar2", "flush")
	want(1)
	x.puts(0, "foo", "bar2", "flush")
	want(0)
	x.puts(0, "foo", "bar2")
	clock.MockSleepForSeconds(days + 100) // the compacted one is
	x.flush(0)
	want(1)
}

func TestDBTestUniversalCompaction2_PeriodicCompactionOffpeak(t *testing.T) {
	const minute, hour, day = 60, 3600, 86400
	x := newDBTest(t)
	o := x.periodicOptions(5 * day)
	picks := countPeriodicPicks(t)
	days := int(util.NewRandom(301).Uniform(100))
	write := func(value string, want int) {
		t.Helper()
		x.puts(0, "foo", value, "flush")
		x.waitForCompact()
		same(t, "periodic compactions", picks.n, want)
	}
	for _, preset := range []string{"", "00:30-04:30", "10:30-02:30"} {
		for _, later := range []string{"", "23:30-02:30"} {
			for _, now := range [][2]int{{0, 0}, {2, 30}, {3, 15}, {5, 10}, {13, 30}, {23, 30}} {
				clock, e := x.mockTime()
				clock.MockSleepForSeconds(days*day + now[0]*hour + now[1]*minute)
				o.Env, o.DailyOffpeakTimeUTC = e, preset
				x.destroyAndReopen(o)
				picks.n = 0
				// due tells whether a file of four days and eight hours has to go
				// now: it is offpeak, and the next such time comes too late.
				due := func() int {
					p := options.NewOffpeakTimeOption(x.db.GetDBOptions().DailyOffpeakTimeUTC)
					info := p.GetOffpeakTimeInfo(int64(clock.NowSeconds()))
					if info.IsNowOffpeak && info.SecondsTillNextOffpeakStart/hour > 16 {
						return 1
					}
					return 0
				}
				write("bar1", 0)
				clock.MockSleepForSeconds(8 * hour)
				write("bar2", 0)
				clock.MockSleepForSeconds(4 * day)
				write("bar3", due())
				if picks.n == 0 && preset != later {
					x.setDBOptions("daily_offpeak_time_utc", later)
					x.puts(0, "foo", "bar4", "flush")
					x.waitForCompact()
					if due() == 1 {
						write("bar5", 1)
					}
				}
			}
		}
	}
}
