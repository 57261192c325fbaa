//go:build syncpoint

// Port of db/db_compaction_test.cc (FIFO compactions that change temperatures).

package db_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/util"
)

// madeFS counts the tables made of each temperature.
type madeFS struct {
	*temperatureFS
	made [256]atomic.Int64
}

func (f *madeFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if strings.HasSuffix(name, ".sst") {
		f.made[o.Temperature].Add(1)
	}
	return f.temperatureFS.NewWritableFile(name, o)
}

func (f *madeFS) wantMade(t *testing.T, want map[rocksdb.Temperature]int64) {
	t.Helper()
	for _, temperature := range append(knownTemperatures, rocksdb.TemperatureUnknown) {
		same(t, fmt.Sprintf("tables made of temperature %v", temperature), f.made[temperature].Load(), want[temperature])
	}
}

// agingTest has files that change temperatures as time goes by.
func agingTest(t *testing.T, ages []rocksdb.FileTemperatureAge, copying bool, set func(o *rocksdb.Options)) (*dbTest, *madeFS, *env.EmulatedSystemClock) {
	x := newCompactionTest(t)
	clock := env.NewEmulatedSystemClock(x.env.GetSystemClock(), false)
	fs := &madeFS{temperatureFS: newTemperatureFS(x)}
	o := x.currentOptions()
	o.Env = env.NewCompositeEnvWrapper(x.env, fs, clock)
	o.CompactionStyle, o.NumLevels, o.MaxOpenFiles, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleFIFO, 1, -1, 2
	f := &o.CompactionOptionsFIFO
	f.FileTemperatureAgeThresholds, f.MaxTableFilesSize = ages, 100000000
	f.AllowTrivialCopyWhenChangeTemperature, f.TrivialCopyBufferSize = copying, 4096
	set(&o)
	x.destroyAndReopen(o)
	return x, fs, clock
}

func TestDBCompactionTest_FIFOMultiTierTemperatureAging(t *testing.T) {
	ages := []rocksdb.FileTemperatureAge{{Temperature: rocksdb.TemperatureWarm, Age: 500}, {Temperature: rocksdb.TemperatureCool, Age: 1000},
		{Temperature: rocksdb.TemperatureCold, Age: 1500}, {Temperature: rocksdb.TemperatureIce, Age: 2000}}
	x, fs, clock := agingTest(t, ages, true, func(o *rocksdb.Options) {
		*o = blockTable(*o, func(b *rocksdb.BlockBasedTableOptions) { b.NoBlockCache = true })
		o.Statistics, o.DefaultWriteTemperature = rocksdb.NewStatistics(), rocksdb.TemperatureHot
	})
	rnd := util.NewRandom(301)
	file := func(k, size int) { x.puts(0, key(k), rnd.RandomBinaryString(size), "flush") }
	// read reads keys from files of these temperatures.
	read := func(keys int, of ...rocksdb.Temperature) {
		t.Helper()
		x.must(x.last.Statistics.Reset())
		for i := range keys {
			same(t, "bytes", len(x.get(0, key(i))), 100+i)
		}
		x.wantReads(of...)
	}
	for range 3 {
		file(0, 100)
	}
	read(1, rocksdb.TemperatureHot)
	clock.MockSleepForSeconds(100) // well into each time
	for i, age := range ages {
		clock.MockSleepForSeconds(500)
		file(i+1, 101+i)
		x.waitForCompact()
		read(1, age.Temperature)
	}
	counts := map[rocksdb.Temperature]int{}
	for _, f := range x.db.GetColumnFamilyMetaData(nil).Levels[0].Files {
		counts[f.Temperature]++
	}
	same(t, "temperatures", fmt.Sprint(counts), fmt.Sprint(map[rocksdb.Temperature]int{rocksdb.TemperatureHot: 1, rocksdb.TemperatureWarm: 1,
		rocksdb.TemperatureCool: 1, rocksdb.TemperatureCold: 1, rocksdb.TemperatureIce: 3}))
	fs.wantMade(t, map[rocksdb.Temperature]int64{rocksdb.TemperatureHot: 7, rocksdb.TemperatureWarm: 6, rocksdb.TemperatureCool: 5,
		rocksdb.TemperatureCold: 4, rocksdb.TemperatureIce: 3})
	x.reopen(x.last)
	read(5, knownTemperatures...)
}
