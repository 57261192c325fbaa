//go:build syncpoint

// Port of db/db_options_test.cc.

package db_test

import (
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// passes counts how often a point is passed.
func passes(point string) *atomic.Int64 {
	var n atomic.Int64
	syncpoint.SetCallBack(point, func(any) { n.Add(1) })
	return &n
}

func TestDBOptionsTest_AvoidUpdatingOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.MaxBackgroundJobs, o.DelayedWriteRate = 4, 1024
	x.reopen(o)
	written := passes("DBImpl::WriteOptionsFile:PersistOptions")
	syncpoint.EnableProcessing()
	for _, c := range []struct {
		changed int64
		kv      []string
	}{
		{1, []string{"bytes_per_sync", "0"}}, // 0 stands for another value
		{0, []string{"max_background_jobs", "4"}},
		{1, []string{"bytes_per_sync", "123"}},
		{0, []string{"bytes_per_sync", "123"}},
		{0, []string{"strict_bytes_per_sync", "false"}},
		{1, []string{"strict_bytes_per_sync", "true"}},
		{0, []string{"max_total_wal_size", "0", "stats_dump_period_sec", "600"}},
		{1, []string{"max_open_files", "100", "stats_dump_period_sec", "600"}},
	} {
		x.setDBOptions(c.kv...)
		same(t, fmt.Sprintf("OPTIONS files for %v", c.kv), written.Swap(0), c.changed)
	}
}

func TestDBOptionsTest_SetBytesPerSync(t *testing.T) {
	const unit = 512 << 10 // upstream's is a megabyte
	x := newDBTest(t)
	o := x.plainOptions()
	o.BytesPerSync, o.WriteBufferSize, o.DisableAutoCompactions, o.Compression = unit, 400*unit, true, rocksdb.NoCompression
	o.WritableFileMaxBufferSize = unit
	x.reopen(o)
	same(t, "bytes_per_sync", x.db.GetDBOptions().BytesPerSync, unit)
	syncs := passes("WritableFileWriter::RangeSync:0")
	write := func() {
		for i := range 40 {
			x.mustPut(0, key(i), dummyString(unit, 'v'))
		}
		syncpoint.EnableProcessing()
		x.compact(0, "", "")
		syncpoint.DisableProcessing()
	}
	write()
	low := syncs.Swap(0)
	if low <= 35 || low >= 45 {
		t.Errorf("%d syncs of 40 units", low)
	}
	x.setDBOptions("bytes_per_sync", strconv.Itoa(8*unit))
	same(t, "bytes_per_sync", x.db.GetDBOptions().BytesPerSync, 8*unit)
	write()
	if n := syncs.Load(); n <= 5 || n >= 15 || n >= low {
		t.Errorf("%d syncs of 80 units by 8", n)
	}
}

func TestDBOptionsTest_SetWalBytesPerSync(t *testing.T) {
	const size = 192 << 10 // upstream's is 3 MB
	x := newDBTest(t)
	o := x.plainOptions()
	o.WALBytesPerSync, o.WriteBufferSize, o.DisableAutoCompactions, o.Compression = 512, 100*size, true, rocksdb.NoCompression
	x.reopen(o)
	same(t, "wal_bytes_per_sync", x.db.GetDBOptions().WALBytesPerSync, 512)
	syncs := passes("WritableFileWriter::RangeSync:0")
	syncpoint.EnableProcessing()
	write := func() {
		for i := range 10 {
			x.mustPut(0, key(i), dummyString(size, 'v'))
		}
	}
	write()
	// A flush now would leave an empty log, which is not switched.
	low := syncs.Load()
	x.setDBOptions("wal_bytes_per_sync", strconv.Itoa(size/3*5))
	same(t, "wal_bytes_per_sync", x.db.GetDBOptions().WALBytesPerSync, size/3*5)
	syncs.Store(0)
	write()
	if n := syncs.Load(); n == 0 || low <= n {
		t.Errorf("%d syncs, %d before", n, low)
	}
}

func TestDBOptionsTest_WritableFileMaxBufferSize(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.WritableFileMaxBufferSize, o.Level0FileNumCompactionTrigger = 1<<20, 3
	o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 1, 0
	x.reopen(o)
	var size, match, other atomic.Int64
	size.Store(1 << 20)
	syncpoint.SetCallBack("WritableFileWriter::WritableFileWriter:0", func(arg any) {
		if int64(arg.(int)) == size.Load() {
			match.Add(1)
		} else {
			other.Add(1)
		}
	})
	syncpoint.EnableProcessing()
	write := func() {
		t.Helper()
		same(t, "writable_file_max_buffer_size", x.db.GetDBOptions().WritableFileMaxBufferSize, uint64(size.Load()))
		for i := range 3 {
			x.mustPut(0, "foo", strconv.Itoa(i))
			x.mustPut(0, "bar", strconv.Itoa(i))
			x.flush(0)
		}
		x.must(x.full().TestWaitForCompact())
		same(t, "writers of another size", other.Load(), 0)
		if n := match.Load(); n < 11 {
			t.Errorf("%d writers", n)
		}
	}
	write()
	x.setDBOptions("writable_file_max_buffer_size", "524288")
	size.Store(512 << 10)
	match.Store(0)
	other.Store(0)
	write()
}

func TestDBOptionsTest_EnableAutoCompactionAndTriggerStall(t *testing.T) {
	for _, how := range []string{"SetOptions", "EnableAutoCompaction"} {
		for limit := range 4 {
			t.Run(fmt.Sprintf("%s/%d", how, limit), func(t *testing.T) { enableAndStall(newDBTest(t), how, limit) })
		}
	}
}

func enableAndStall(x *dbTest, how string, limit int) {
	o := x.plainOptions()
	o.DisableAutoCompactions, o.WriteBufferSize, o.Compression = true, 10<<20, rocksdb.NoCompression
	o.Level0FileNumCompactionTrigger, o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger = 1, math.MaxInt32, math.MaxInt32
	o.HardPendingCompactionBytesLimit, o.SoftPendingCompactionBytesLimit = math.MaxUint64, math.MaxUint64
	x.destroyAndReopen(o)
	for i := range 2048 {
		x.mustPut(0, key(i), dummyString(1024, 'v'))
		if i%1024 == 1023 {
			x.flush(0)
		}
	}
	same(x, "tables", x.numTableFilesAtLevel(0, 0), 2)
	size := x.sizeAtLevel(0)
	stop := limit == 0 || limit == 2
	switch limit {
	case 0:
		o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger = 2, 2
	case 1:
		o.Level0SlowdownWritesTrigger = 2
	case 2:
		o.HardPendingCompactionBytesLimit, o.SoftPendingCompactionBytesLimit = size, size
	case 3:
		o.SoftPendingCompactionBytesLimit = size
	}
	x.reopen(o)
	x.must(x.full().TestWaitForCompact())
	ctl := x.full().TestWriteController()
	free := func() {
		x.Helper()
		if ctl.IsStopped() || ctl.NeedsDelay() {
			x.Fatal("writes are stalled")
		}
	}
	free()
	const point = "DBOptionsTest::EnableAutoCompactionAndTriggerStall:"
	syncpoint.LoadDependency(
		syncpoint.Pair{Predecessor: point + "1", Successor: "BackgroundCallCompaction:0"},
		syncpoint.Pair{Predecessor: "DBImpl::BackgroundCompaction():BeforePickCompaction", Successor: point + "2"},
		syncpoint.Pair{Predecessor: point + "3", Successor: "DBImpl::BackgroundCompaction():AfterPickCompaction"})
	syncpoint.EnableProcessing()
	if how == "SetOptions" {
		x.setOptions("disable_auto_compactions", "false")
	} else {
		x.must(x.db.EnableAutoCompaction([]*rocksdb.ColumnFamily{x.db.ColumnFamily}))
	}
	syncpoint.Process(point + "1")
	syncpoint.Process(point + "2")
	if ctl.IsStopped() != stop || !stop && !ctl.NeedsDelay() {
		x.Errorf("stopped %t, delayed %t", ctl.IsStopped(), ctl.NeedsDelay())
	}
	syncpoint.Process(point + "3")
	x.must(x.full().TestWaitForCompact())
	free()
}

// wantOffpeak asks whether a time of day is offpeak, and how far the next
// offpeak time is, on some day.
func wantOffpeak(t *testing.T, hours string, off bool, wait, hour, minute, second int) {
	t.Helper()
	o := rocksdb.DefaultDBOptions()
	o.DailyOffpeakTimeUTC = hours
	if err := dbimpl.TestValidateOptions(&o); err != nil {
		t.Fatal(err)
	}
	p := options.NewOffpeakTimeOption(hours)
	info := p.GetOffpeakTimeInfo(int64(rand.Intn(100)*86400 + hour*3600 + minute*60 + second))
	same(t, "offpeak", info.IsNowOffpeak, off)
	same(t, "seconds till next", info.SecondsTillNextOffpeakStart, wait)
}

func TestDBOptionsTest_OffpeakTimes(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	// The fourth is two of them in one, as upstream's is.
	invalid := []string{"06:30-", "-23:30", "00:00-00:00", "06:30-06:3012:30 PM-23:30", "12:01AM-11:00PM", "01:99-22:00",
		"00:00-24:00", "6-7", "6:-7", "06:31.42-7:00", "6.31:42-7:00", "6:0-7:", "15:0.2-3:.7", ":00-00:02", "02:00-:00", "random-value", "No:No-Hi:Hi"}
	valid := []string{"", "06:30-11:30", "06:30-23:30", "13:30-14:30", "00:00-23:59", "23:30-01:15", "1:0000000000000-2:000000000042"}
	for _, c := range invalid {
		o.DailyOffpeakTimeUTC = c
		x.wantIs(dbimpl.TestValidateOptions(&o.DBOptions), rocksdb.ErrInvalidArgument)
	}
	for _, c := range valid {
		o.DailyOffpeakTimeUTC = c
		x.must(dbimpl.TestValidateOptions(&o.DBOptions))
	}
	const hour, minute = 3600, 60
	wantOffpeak(t, "", false, 0, 12, 30, 0)
	wantOffpeak(t, "06:30-11:30", false, hour, 5, 30, 0)
	wantOffpeak(t, "06:30-11:30", true, 24*hour, 6, 30, 0)
	wantOffpeak(t, "06:30-11:30", true, 20*hour, 10, 30, 0)
	wantOffpeak(t, "06:30-11:30", true, 19*hour, 11, 30, 0)
	wantOffpeak(t, "06:30-11:30", false, 17*hour, 13, 30, 0)
	wantOffpeak(t, "23:30-04:30", false, 17*hour, 6, 30, 0)
	wantOffpeak(t, "23:30-04:30", true, 24*hour, 23, 30, 0)
	wantOffpeak(t, "23:30-04:30", true, 23*hour+30*minute, 0, 0, 0)
	wantOffpeak(t, "23:30-04:30", true, 22*hour+30*minute, 1, 0, 0)
	wantOffpeak(t, "23:30-04:30", true, 19*hour, 4, 30, 0)
	wantOffpeak(t, "23:30-04:30", false, 18*hour+59*minute, 4, 31, 0)
	wantOffpeak(t, "00:00-23:59", true, 24*hour, 0, 0, 0)
	wantOffpeak(t, "00:00-23:59", true, 12*hour, 12, 0, 0)
	wantOffpeak(t, "00:00-23:59", true, minute, 23, 59, 0)
	wantOffpeak(t, "00:00-23:59", true, 59, 23, 59, 1)
	wantOffpeak(t, "00:00-23:59", true, 1, 23, 59, 59)

	o.DailyOffpeakTimeUTC = "01:30-04:15"
	x.destroyAndReopen(o)
	same(t, "hours", x.db.GetDBOptions().DailyOffpeakTimeUTC, "01:30-04:15")
	inForce := func() (p options.OffpeakTimeOption) {
		x.full().TestWithMutex(func() { p = x.full().TestVersionSet().OffpeakTimeOption() })
		return p
	}
	schedules := passes("DBImpl::MaybeScheduleFlushOrCompaction:Start")
	syncpoint.EnableProcessing()
	for _, c := range invalid {
		if err := x.db.SetDBOptions(map[string]string{"daily_offpeak_time_utc": c}); err == nil {
			t.Errorf("%q taken", c)
		}
		same(t, "hours", inForce(), options.OffpeakTimeOption{DailyOffpeakTimeUTC: "01:30-04:15",
			DailyOffpeakStartTimeUTC: hour + 30*minute, DailyOffpeakEndTimeUTC: 4*hour + 15*minute})
	}
	same(t, "looks for work", schedules.Load(), 0)
	expected := int64(0)
	for _, c := range valid {
		if inForce().DailyOffpeakTimeUTC != c {
			expected++
		}
		x.setDBOptions("daily_offpeak_time_utc", c)
		same(t, "hours", x.db.GetDBOptions().DailyOffpeakTimeUTC, c)
		same(t, "hours in force", inForce().DailyOffpeakTimeUTC, c)
	}
	same(t, "looks for work", schedules.Load(), expected)
	x.setDBOptions("daily_offpeak_time_utc", "06:30-11:30")
	schedules.Store(0)
	x.setDBOptions("daily_offpeak_time_utc", "06:30-11:30")
	same(t, "looks for work", schedules.Load(), 0)
}

// compressions records what the compactions that pass a point compress by.
func compressions(point string) func(t *testing.T) (rocksdb.CompressionType, rocksdb.CompressionOptions) {
	var mu sync.Mutex
	var last *compaction.Compaction
	syncpoint.SetCallBack(point, func(arg any) {
		mu.Lock()
		defer mu.Unlock()
		if c, _ := arg.(*compaction.Compaction); c != nil {
			last = c
		}
	})
	syncpoint.EnableProcessing()
	return func(t *testing.T) (rocksdb.CompressionType, rocksdb.CompressionOptions) {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if last == nil {
			t.Fatal("no compaction")
		}
		c := last
		last = nil
		return c.OutputCompression(), *c.OutputCompressionOpts()
	}
}

// fooBar flushes two tables of the same keys and waits for their compaction.
func (x *dbTest) fooBar() {
	x.Helper()
	for range 2 {
		x.mustPut(0, "foo", "foofoofoo")
		x.mustPut(0, "bar", "foofoofoo")
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
}

func TestDBOptionsTest_ChangeCompression(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.WriteBufferSize, o.Level0FileNumCompactionTrigger = 10<<10, 2
	o.Compression, o.BottommostCompression = rocksdb.LZ4Compression, rocksdb.NoCompression
	o.BottommostCompressionOpts.Level, o.BottommostCompressionOpts.ParallelThreads = 2, 1
	x.reopen(o)
	used := compressions("LevelCompactionPicker::PickCompaction:Return")
	x.fooBar()
	kind, opts := used(t)
	same(t, "compression", kind, rocksdb.NoCompression)
	same(t, "level", opts.Level, o.CompressionOpts.Level)
	same(t, "parallel_threads", opts.ParallelThreads, o.CompressionOpts.ParallelThreads)
	x.setOptions("bottommost_compression", "kSnappyCompression", "bottommost_compression_opts", "0:6:0:0:4:true")
	x.fooBar()
	kind, opts = used(t)
	same(t, "compression", kind, rocksdb.SnappyCompression)
	same(t, "level", opts.Level, 6)
}

func TestDBOptionsTest_BottommostCompressionOptsWithFallbackType(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger, o.Compression = 2, rocksdb.LZ4Compression
	o.CompressionOpts.Level, o.BottommostCompressionOpts.Level, o.BottommostCompressionOpts.Enabled = 1, 2, true
	x.reopen(o)
	used := compressions("CompactionPicker::RegisterCompaction:Registered")
	x.fooBar()
	kind, opts := used(t)
	same(t, "compression", kind, rocksdb.LZ4Compression)
	same(t, "level", opts.Level, 2)
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = contract.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&cro, nil, nil))
	kind, opts = used(t)
	same(t, "compression", kind, rocksdb.LZ4Compression)
	same(t, "level", opts.Level, 2)
}

func TestDBOptionsTest_TempOptionsFailTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	syncpoint.SetCallBack("PersistRocksDBOptions:create", func(any) { x.fault.SetFilesystemActive(false, nil) })
	syncpoint.SetCallBack("PersistRocksDBOptions:written", func(any) { x.fault.SetFilesystemActive(true, nil) })
	syncpoint.EnableProcessing()
	if err := x.tryReopen(o); err == nil {
		t.Error("opened without an OPTIONS file")
	}
	syncpoint.DisableProcessing()
	x.fault.SetFilesystemActive(true, nil)
	same(t, "temporary files", x.countFiles(rocksdb.TempFile), 0)
}

func TestDBOptionsTest_SetOptionsNoManifestWrite(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "x", "x")
	x.flush(0)
	cfd := x.db.Impl().TestCFD(x.db.ColumnFamily.Impl())
	want := func(disabled bool) {
		latest, current := cfd.GetLatestMutableCFOptions(), cfd.Current().GetMutableCFOptions()
		if latest.DisableAutoCompactions != disabled || current.DisableAutoCompactions != disabled || cfd.GetSuperVersion().MutableCFOptions.DisableAutoCompactions != disabled {
			t.Errorf("disable_auto_compactions is not %t everywhere", disabled)
		}
	}
	var wg sync.WaitGroup
	calls := 0
	syncpoint.SetCallBack("VersionSet::LogAndApply:WakeUpAndNotDone", func(arg any) {
		want(false)
		calls++
		wg.Go(func() {
			mu := arg.(sync.Locker)
			mu.Lock()
			defer mu.Unlock()
			want(true) // all of it is done before the mutex is to be had
		})
	})
	syncpoint.EnableProcessing()
	manifest := func() (number uint64, size int64) { return x.manifestNumber(), x.fileSize(x.manifest()) }
	number, size := manifest()
	x.setDBOptions("max_open_files", "100")
	x.setOptions("disable_auto_compactions", "true")
	wg.Wait()
	same(t, "calls", calls, 1)
	syncpoint.Reset()
	n, s := manifest()
	same(t, "MANIFEST", n, number)
	same(t, "its size", s, size)
	x.wantGet(0, "x", "x")
}

func TestDBOptionsTest_UseDirectIoForCompactionReadsSetDBOptionsKeepsVerificationReadsBuffered(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.onMockFS(true))
	calls := 0
	syncpoint.SetCallBack("DBImpl::SetDBOptions:FileOptionsForCompaction", func(arg any) {
		calls++
		same(t, "direct reads", arg.(*rocksdb.FileOptions).UseDirectReads, false)
	})
	syncpoint.EnableProcessing()
	x.setDBOptions("bytes_per_sync", "1024")
	same(t, "calls", calls, 1)
}
