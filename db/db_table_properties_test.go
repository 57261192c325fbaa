// Port of db/db_table_properties_test.cc (what needs no sync points). Differs:
// the case of names of compressions is in package options.

package db_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// onlyTable gives the properties of a family's only table.
func (x *dbTest) onlyTable(cf int) *rocksdb.TableProperties {
	x.Helper()
	props, err := x.cf(cf).GetPropertiesOfAllTables()
	x.must(err)
	if len(props) != 1 {
		x.Fatalf("%d tables in family %d", len(props), cf)
	}
	for _, p := range props {
		return p
	}
	return nil
}

func TestDBTablePropertiesTest_CreateOnDeletionCollectorFactory(t *testing.T) {
	newDBTest(t) // which registers what is built in
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	const id = "CompactOnDeletionCollector"
	for text, want := range map[string][3]float64{
		id: {0, 0, 0},
		"window_size=100; deletion_trigger=90; id=" + id:                     {100, 90, 0},
		"window_size=100; deletion_trigger=90; deletion_ratio=0.5; id=" + id: {100, 90, 0.5},
	} {
		made, err := options.CreateFromString[rocksdb.TablePropertiesCollectorFactory](&cfg, registry.KindTablePropertiesCollectorFactory, text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		f, ok := made.(*rocksdb.CompactOnDeletionCollectorFactory)
		if !ok {
			t.Fatalf("%q: a %T", text, made)
		}
		if got := [3]float64{float64(f.GetWindowSize()), float64(f.GetDeletionTrigger()), f.GetDeletionRatio()}; got != want {
			t.Errorf("%q: %v, not %v", text, got, want)
		}
	}
}

// decentOptions are those of a database of many small tables.
func (x *dbTest) decentOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.CreateIfMissing = true
	o.WriteBufferSize = 4096
	o.MaxWriteBufferNumber = 2
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 2, 2
	o.TargetFileSizeBase = 2048
	o.MaxBytesForLevelBase, o.MaxBytesForLevelMultiplier = 40960, 4
	o.HardPendingCompactionBytesLimit = 16 << 10
	o.NumLevels = 8
	o.Env = x.env
	return o
}

// fillDecent writes random keys until levels 0 to 2 have tables, and pauses
// background work.
func (x *dbTest) fillDecent(rnd *util.Random, put func(key, value string)) {
	x.Helper()
	for range 2500 { // a quarter of upstream's
		put(randomKey(rnd, 5), rnd.RandomString(102))
	}
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	if x.numTableFilesAtLevel(0, 0) == 0 {
		put(randomKey(rnd, 5), rnd.RandomString(102))
		x.flush(0)
	}
	x.must(x.db.PauseBackgroundWork())
	for level := range 3 {
		if x.numTableFilesAtLevel(level, 0) == 0 {
			x.Fatalf("no tables on level %d: %s", level, x.filesPerLevel(0))
		}
	}
}

func TestDBTablePropertiesTest_GetPropertiesOfTablesByLevelTest(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.decentOptions())
	x.fillDecent(util.NewRandom(202), func(key, value string) { x.mustPut(0, key, value) })
	meta := x.db.GetColumnFamilyMetaData(nil)
	levels, err := x.db.GetPropertiesOfTablesByLevel()
	x.must(err)
	for i := range 8 {
		if got, want := len(levels[i]), len(meta.Levels[i].Files); got != want {
			t.Errorf("level %d: properties of %d tables, not %d", i, got, want)
		}
	}
	x.must(x.db.ContinueBackgroundWork())
	x.close()
}

func TestDBTablePropertiesInRangeTest_GetPropertiesOfTablesInRange(t *testing.T) {
	for _, timestamps := range []bool{true, false} {
		t.Run(fmt.Sprintf("timestamps=%t", timestamps), func(t *testing.T) { propertiesInRange(t, timestamps) })
	}
}

func propertiesInRange(t *testing.T, timestamps bool) {
	x := newDBTest(t)
	o := x.decentOptions()
	if timestamps {
		o.Comparator = util.BytewiseComparatorWithU64Ts()
	}
	x.destroyAndReopen(o)
	rnd := util.NewRandom(301)
	x.fillDecent(rnd, func(key, value string) {
		if timestamps {
			x.must(x.db.PutWithTimestamp(nil, []byte(key), u64ts(0), []byte(value)))
		} else {
			x.mustPut(0, key, value)
		}
	})
	ends := func(r rocksdb.Range) (start, limit []byte) {
		if timestamps {
			return append(append([]byte(nil), r.Start...), u64ts(1<<64-1)...), append(append([]byte(nil), r.Limit...), u64ts(0)...)
		}
		return r.Start, r.Limit
	}
	// query checks that the tables are those in a range.
	query := func(ranges ...rocksdb.Range) (properties, files int) {
		t.Helper()
		props, err := x.db.GetPropertiesOfTablesInRange(ranges)
		x.must(err)
		cmp := util.BytewiseComparator()
		if timestamps {
			cmp = util.BytewiseComparatorWithU64Ts()
		}
		live := x.db.GetLiveFilesMetaData()
		for _, f := range live {
			in := false
			for _, r := range ranges {
				start, limit := ends(r)
				in = in || cmp.Compare(start, f.LargestKey) <= 0 && cmp.Compare(limit, f.SmallestKey) >= 0
			}
			if props[x.dir+f.Name] != nil != in {
				t.Fatalf("%s: in a range: %t, properties: %t", f.Name, in, !in)
			}
		}
		return len(props), len(live)
	}
	smallest, middle, largest := []byte("\x00\x00\x00\x00\x00"), []byte("ddddd"), []byte("\xff\xff\xff\xff\xff")
	if p, n := query(rocksdb.Range{Start: smallest, Limit: largest}); p != n {
		t.Errorf("the whole range: %d of %d tables", p, n)
	}
	if p, n := query(rocksdb.Range{Start: largest, Limit: smallest}); p != 0 || n == 0 {
		t.Errorf("an empty range: %d of %d tables", p, n)
	}
	if p, n := query(rocksdb.Range{Start: middle, Limit: largest}); p == 0 || p >= n {
		t.Errorf("the upper half: %d of %d tables", p, n)
	}
	for range 30 {
		var ranges []rocksdb.Range
		for range rnd.Uniform(50) + 1 {
			ranges = append(ranges, rocksdb.Range{Start: []byte(randomKey(rnd, 5)), Limit: []byte(randomKey(rnd, 5))})
		}
		query(ranges...)
	}
	x.must(x.db.ContinueBackgroundWork())
	x.close()
}

func TestDBTablePropertiesTest_GetColumnFamilyNameProperty(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
	for cf, name := range []string{"default", "pikachu"} {
		x.mustPut(cf, "key", "val")
		x.flush(cf)
		if p := x.onlyTable(cf); p.ColumnFamilyName != name || p.ColumnFamilyID != uint64(cf) {
			t.Errorf("family %d: a table of %q (%d)", cf, p.ColumnFamilyName, p.ColumnFamilyID)
		}
	}
}

func TestDBTablePropertiesTest_GetDbIdentifiersProperty(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF([]string{"goku"}, x.currentOptions())
	for cf := range 2 {
		x.puts(cf, "key", "val", "foo", "bar")
		x.flush(cf)
		if p := x.onlyTable(cf); p.DBID != x.db.GetDbIdentity() || p.DBSessionID != x.db.GetDbSessionId() {
			t.Errorf("family %d: %q, %q", cf, p.DBID, p.DBSessionID)
		}
	}
}

// sometimesFactory makes a collector every other time.
type sometimesFactory struct{ n int }

func (*sometimesFactory) Name() string { return "SometimesTablePropertiesCollectorFactory" }
func (f *sometimesFactory) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	if f.n++; f.n&1 == 0 {
		return nil
	}
	return &collector{name: "JunkTablePropertiesCollector", finish: func(p rocksdb.UserCollectedProperties) { p["Junk"] = "Junk" }}
}

func TestDBTablePropertiesTest_FactoryReturnsNull(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, &sometimesFactory{})
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(4)
	for _, f := range []rocksdb.TableFactory{o.TableFactory, rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions())} {
		o.TableFactory = f
		x.destroyAndReopen(o)
		x.mustPut(0, "key0", "value1")
		x.flush(0)
		x.mustPut(0, "key0", "value2")
		x.flush(0)
		props, err := x.db.GetPropertiesOfAllTables()
		x.must(err)
		junk := 0
		for _, p := range props {
			if p.UserCollectedProperties["Junk"] != "" {
				junk++
			}
		}
		if len(props) != 2 || junk != 1 {
			t.Errorf("%s: %d of %d tables with the property", f.Name(), junk, len(props))
		}
	}
}

func TestDBTableHostnamePropertyTest_DbHostLocationProperty(t *testing.T) {
	for _, config := range []optionConfig{configDefault, configPlainTableFirstBytePrefix} {
		for _, id := range []string{rocksdb.HostnameForDBHostID, "foobar", ""} {
			t.Run(fmt.Sprintf("config=%d,id=%q", config, id), func(t *testing.T) {
				x := newDBTest(t)
				x.config = config
				o := x.currentOptions()
				want := id
				if id == rocksdb.HostnameForDBHostID {
					var err error
					want, err = x.env.GetHostName()
					x.must(err)
				} else {
					o.DBHostID = id
				}
				x.destroy(x.last)
				x.reopen(o)
				x.createAndReopenWithCF([]string{"goku"}, o)
				for cf := range 2 {
					x.puts(cf, "key", "val", "foo", "bar")
					x.flush(cf)
					if p := x.onlyTable(cf); p.DBHostID != want {
						t.Errorf("family %d: %q, not %q", cf, p.DBHostID, want)
					}
				}
			})
		}
	}
}

// markedListener wants compactions of marked files alone.
type markedListener struct {
	rocksdb.EventListenerBase
	t *testing.T
}

func (l *markedListener) check(info *rocksdb.CompactionJobInfo) {
	if info.CompactionReason != rocksdb.CompactionReasonFilesMarkedForCompaction {
		l.t.Errorf("a compaction for %v", info.CompactionReason)
	}
}

func (l *markedListener) OnCompactionBegin(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.check(info)
}

func (l *markedListener) OnCompactionCompleted(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.check(info)
}

func TestDBTablePropertiesTest_DeletionTriggeredCompactionMarking(t *testing.T) {
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal} {
		t.Run(fmt.Sprint(style), func(t *testing.T) {
			x := newDBTest(t)
			const keys = 1000
			window, trigger := 100, 90
			f := rocksdb.NewCompactOnDeletionCollectorFactory(uint64(window), uint64(trigger), 0, 0)
			o := x.currentOptions()
			o.Statistics = rocksdb.NewStatistics()
			o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, f)
			o.CompactionStyle = style
			x.reopen(o)
			// So that flushes do not drop deletions of nothing.
			x.mustPut(0, key(0), "val")
			x.flush(0)
			x.moveFilesToLevel(1, 0)
			o.Listeners = append(o.Listeners, &markedListener{t: t})
			x.reopen(o)
			write := func(want int) {
				t.Helper()
				for i := range keys {
					if i >= keys-window && i < keys-window+trigger {
						x.mustDelete(0, key(i))
					} else {
						x.mustPut(0, key(i), "val")
					}
				}
				x.flush(0)
				x.must(x.full().TestWaitForCompact())
				if n := x.numTableFilesAtLevel(0, 0); n != want {
					t.Fatalf("%d tables on level 0, not %d", n, want)
				}
			}
			write(0)
			window, trigger = 50, 40
			f.SetWindowSize(uint64(window))
			f.SetDeletionTrigger(uint64(trigger))
			write(0)
			window = 0
			f.SetWindowSize(0)
			write(1)
			if x.ticker(rocksdb.CompactWriteBytesMarked) == 0 || x.ticker(rocksdb.CompactReadBytesMarked) == 0 {
				t.Error("bytes of compactions of marked files are not counted")
			}
		})
	}
}

// A table of deletions alone is compacted down until nothing is left.
func TestDBTablePropertiesTest_RatioBasedDeletionTriggeredCompactionMarking(t *testing.T) {
	x := newDBTest(t)
	const keys = 1000
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	o.TablePropertiesCollectorFactories = append(o.TablePropertiesCollectorFactories, rocksdb.NewCompactOnDeletionCollectorFactory(0, 0, 0.1, 0))
	x.reopen(o)
	x.mustPut(0, key(0), "val")
	x.flush(0)
	x.moveFilesToLevel(2, 0)
	o.Listeners = append(o.Listeners, &markedListener{t: t})
	x.reopen(o)
	for i := range keys {
		x.mustPut(0, key(i), "not important")
	}
	x.flush(0)
	for i := range keys {
		x.mustDelete(0, key(i))
	}
	x.flush(0)
	x.must(x.full().TestWaitForCompact())
	for level := range 3 {
		if n := x.numTableFilesAtLevel(level, 0); n != 0 {
			t.Errorf("%d tables on level %d", n, level)
		}
	}
}

func TestDBTablePropertiesTest_KeyLargestSmallestSeqno(t *testing.T) {
	x := newDBTest(t)
	x.puts(0, "key1", "value1", "key2", "value2", "key3", "value3", "flush")
	p := x.onlyTable(0)
	if !p.HasKeyLargestSeqno() || !p.HasKeySmallestSeqno() || p.KeySmallestSeqno == 0 || p.KeyLargestSeqno != p.KeySmallestSeqno+2 {
		t.Errorf("sequence numbers %d to %d", p.KeySmallestSeqno, p.KeyLargestSeqno)
	}
	c := rocksdb.DefaultCompactRangeOptions()
	c.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&c, nil, nil))
	p = x.onlyTable(0)
	if !p.HasKeyLargestSeqno() || !p.HasKeySmallestSeqno() || p.KeySmallestSeqno != 0 || p.KeyLargestSeqno != 0 {
		t.Errorf("sequence numbers %d to %d after a compaction", p.KeySmallestSeqno, p.KeyLargestSeqno)
	}
}
