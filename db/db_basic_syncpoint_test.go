//go:build syncpoint

// Port of db/db_basic_test.cc (cases that hook into the engine).

package db_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// Points that recovery passes where it leaves an edit out.
const (
	skippedDBID           = "DBImpl::Recovery:SkippedNoopEdit:SetupDBId"
	skippedPerCF          = "DBImpl::Recovery:SkippedNoopEdit:PerCF"
	skippedWALDeletion    = "DBImpl::Recovery:SkippedNoopEdit:WalDeletion"
	skippedNextFileNumber = "DBImpl::Recovery:SkippedNoopEdit:NextFileNumber"
	manifestRecord        = "VersionSet::ProcessManifestWrites:AddRecord"
	manifestReopened      = "VersionSet::ReopenManifestForAppend:Reopened"
)

// counting runs f and counts the points meanwhile.
func counting(f func(), points ...string) map[string]int {
	counts := make([]atomic.Int64, len(points))
	for i, p := range points {
		syncpoint.SetCallBack(p, func(any) { counts[i].Add(1) })
	}
	syncpoint.EnableProcessing()
	f()
	syncpoint.Reset()
	out := map[string]int{}
	for i, p := range points {
		out[p] = int(counts[i].Load())
	}
	return out
}

// reopenCounting reopens and counts what recovery leaves out and writes.
func (x *dbTest) reopenCounting(o rocksdb.Options, names ...string) map[string]int {
	x.Helper()
	x.close()
	return counting(func() {
		if len(names) > 0 {
			x.reopenWithColumnFamilies(names, o)
		} else {
			x.reopen(o)
		}
	}, skippedDBID, skippedPerCF, skippedWALDeletion, skippedNextFileNumber, manifestRecord, manifestReopened)
}

func TestDBBasicTest_OptimizeManifestForRecoveryReducesManifestWritesOnCleanReopen(t *testing.T) {
	x := newDBTest(t)
	records := map[bool]int{}
	for _, on := range []bool{false, true} {
		o := x.currentOptions()
		o.OptimizeManifestForRecovery = on
		x.destroyAndReopen(o)
		x.putFlush("k", "v")
		n := x.reopenCounting(o)
		x.wantGet(0, "k", "v")
		records[on] = n[manifestRecord]
		if on != (n[skippedNextFileNumber] > 0) {
			t.Fatal(on, n)
		}
	}
	if records[false] == 0 || records[true] >= records[false] {
		t.Fatal(records)
	}
}

func TestDBBasicTest_OptimizeManifestForRecoveryEmitsPerCFWhenLogAdvances(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.destroyAndReopen(o)
	x.mustPut(0, "k", "v")
	if n := x.reopenCounting(o); n[skippedPerCF] != 0 {
		t.Fatal(n)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_OptimizeManifestForRecoveryPreservesWalTracking(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	o.TrackAndVerifyWALsInManifest = true
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	if n := x.reopenCounting(o); n[skippedWALDeletion] != 1 {
		t.Fatal(n)
	}
}

func TestDBBasicTest_OptimizeManifestForRecoveryDisabledByBestEffortsRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	o.BestEffortsRecovery = true
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	n := x.reopenCounting(o)
	if n[skippedDBID]+n[skippedPerCF]+n[skippedWALDeletion]+n[skippedNextFileNumber] != 0 {
		t.Fatal(n)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_OptimizeManifestForRecoveryMultiCF(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.createAndReopenWithCF([]string{"pikachu", "raichu"}, o)
	for i := range 3 {
		x.mustPut(i, "k", fmt.Sprint("v", i))
	}
	x.flush(0)
	x.reopenCounting(o, "default", "pikachu", "raichu")
	for i := range 3 {
		x.wantGet(i, "k", fmt.Sprint("v", i))
	}
}

func TestDBBasicTest_OptimizeManifestForRecoverySkipsNextFileNumber(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	if n := x.reopenCounting(o); n[skippedNextFileNumber] != 1 {
		t.Fatal(n)
	}
}

func TestDBBasicTest_OptimizeManifestForRecoveryEmitsNextFileNumberWhenJustified(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	number := x.full().Versions().CurrentNextFileNumber() + 100
	x.close()
	x.must(os.WriteFile(fmt.Sprintf("%s/%06d.sst", x.dir, number), nil, 0o644))
	if n := x.reopenCounting(o); n[skippedNextFileNumber] != 0 {
		t.Fatal(n)
	}
	if got := x.full().Versions().CurrentNextFileNumber(); got <= number {
		t.Fatal(got, number)
	}
}

func TestDBBasicTest_OptimizeManifestForRecoveryAdvancesWalMarkersOnClose(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	var newest uint64
	syncpoint.SetCallBack("DBImpl::CloseHelper:CapturedMaxWal", func(arg any) { newest = *arg.(*uint64) })
	syncpoint.EnableProcessing()
	x.close()
	syncpoint.Reset()
	if newest == 0 {
		t.Fatal("nothing was written at Close")
	}
	x.reopen(o)
	if got := x.full().Versions().MinLogNumberToKeep(); got != newest+1 {
		t.Fatal(got, newest)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_OptimizeManifestForRecoveryCleanReopenMatrix(t *testing.T) {
	x := newDBTest(t)
	for _, c := range []struct {
		name                    string
		onOpen, offAtClose, did bool
	}{{"default_off", false, false, false}, {"enabled", true, false, true}, {"disabled_before_close", true, true, false}} {
		o := x.currentOptions()
		o.OptimizeManifestForRecovery = c.onOpen
		x.destroyAndReopen(o)
		x.putFlush("k", c.name)
		if c.offAtClose {
			x.must(x.db.SetDBOptions(map[string]string{"optimize_manifest_for_recovery": "false"}))
		}
		const entered = "DBImpl::CloseHelper:WriteWalMarkersOnCloseEntered"
		atClose := counting(x.close, entered)[entered]
		n := x.reopenCounting(o)
		if c.did && (atClose != 1 || n[manifestRecord] != 0 || n[skippedPerCF] == 0) || !c.did && (atClose != 0 || n[manifestRecord] == 0) {
			t.Fatal(c.name, atClose, n)
		}
		x.wantGet(0, "k", c.name)
	}
}

func TestDBBasicTest_OptimizeManifestForRecoverySkipsNonEmptyCF(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	x.createAndReopenWithCF([]string{"empty_cf", "dirty_cf"}, o)
	x.mustPut(1, "k", "v1")
	x.flush(1)
	x.mustPut(2, "k", "v2")
	n := x.reopenCounting(o, "default", "empty_cf", "dirty_cf")
	if n[skippedPerCF] == 0 || n[manifestRecord] == 0 {
		t.Fatal(n)
	}
	x.wantGet(1, "k", "v1")
	x.wantGet(2, "k", "v2")
}

func TestDBBasicTest_OptimizeManifestForRecoveryEmitsWalDeletionWhenTracking(t *testing.T) {
	x := newDBTest(t)
	o := x.optimized()
	o.TrackAndVerifyWALsInManifest = true
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	n := x.reopenCounting(o)
	if n[skippedPerCF] == 0 || n[manifestRecord] != 0 || x.full().Versions().GetWalSet().GetMinWalNumberToKeep() == 0 {
		t.Fatal(n)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_ReuseManifestOnOpenDefaultOffSkipsReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	if n := x.reopenCounting(o); n[manifestReopened] != 0 {
		t.Fatal(n)
	}
}

func TestDBBasicTest_ReuseManifestOnOpenStillRotatesOnSizeCap(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 1, 0
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	x.close()
	const rotation = "VersionSet::ProcessManifestWrites:BeforeNewManifest"
	n := counting(func() {
		x.reopen(o)
		x.putFlush("k2", "v2")
	}, rotation)
	if n[rotation] == 0 {
		t.Fatal("the MANIFEST grows on")
	}
	x.wantGet(0, "k", "v")
	x.wantGet(0, "k2", "v2")
}

func TestDBBasicTest_ReuseManifestOnOpenDisabledByBestEffortsRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	o.BestEffortsRecovery = true
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	if n := x.reopenCounting(o); n[manifestReopened] != 0 {
		t.Fatal(n)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_ReuseManifestOnOpenFullStackComposition(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	o.OptimizeManifestForRecovery = true
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	if n := x.reopenCounting(o); n[manifestReopened] != 1 {
		t.Fatal(n)
	}
	x.wantGet(0, "k", "v")
}

func TestDBBasicTest_ReuseManifestOnOpenSkipsOnTailCorruption(t *testing.T) {
	x := newDBTest(t)
	o := x.reusing()
	x.destroyAndReopen(o)
	x.putFlush("k", "v")
	x.close()
	f, err := os.OpenFile(x.manifest(), os.O_APPEND|os.O_WRONLY, 0)
	x.must(err)
	_, err = f.WriteString("garbage!")
	x.must(err)
	x.must(f.Close())
	if n := x.reopenCounting(o); n[manifestReopened] != 0 {
		t.Fatal(n)
	}
	x.wantGet(0, "k", "v")
}

// crashAfter writes a key that recovery has to flush, makes reopening fail at
// a point after the MANIFEST was synced, deletes what a crash of the system
// would take, and reopens.
func (x *dbTest) crashAfter(o rocksdb.Options, point string) {
	x.Helper()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.putFlush("base", "value")
	x.mustPut(0, "recovered", "value")
	x.must(x.db.FlushWAL(true))
	x.close()
	x.fault.ResetState()
	fail := true
	syncpoint.SetCallBack(point, func(arg any) {
		if err := arg.(*error); fail {
			if *err != nil {
				x.Error(*err)
			}
			*err = rocksdb.IOError("injected aftermath")
			fail = false
		}
	})
	syncpoint.EnableProcessing()
	x.wantIs(x.tryReopen(o), rocksdb.ErrIOError)
	syncpoint.Reset()
	x.must(x.fault.DeleteFilesCreatedAfterLastDirSync(&rocksdb.IOOptions{}))
	x.reopen(o)
	x.wantGet(0, "base", "value")
	x.wantGet(0, "recovered", "value")
}

func TestDBBasicTest_RecoverySstDirSyncedBeforeFreshManifestPublish(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DBPaths = []rocksdb.DBPath{{Path: x.dir + "_2", TargetSize: 1 << 30}}
	x.crashAfter(o, "VersionSet::ProcessManifestWrites:AfterSetCurrentFile")
}

func TestDBBasicTest_ReuseManifestOnOpenSyncsRecoverySstDirBeforeManifestAppend(t *testing.T) {
	x := newDBTest(t)
	x.crashAfter(x.reusing(), "VersionSet::ProcessManifestWrites:AfterSyncManifest")
}

func TestDBBasicTest_BestEffortsRecoveryWithVersionBuildingFailure(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.putFlush("foo", "value")
	x.close()
	syncpoint.SetCallBack("VersionBuilder::CheckConsistencyBeforeReturn", func(arg any) {
		*arg.(*error) = rocksdb.Corruption("Inject corruption")
	})
	syncpoint.EnableProcessing()
	o.BestEffortsRecovery = true
	x.wantIs(x.tryReopen(o), rocksdb.ErrCorruption)
}

func TestDBBasicTest_BestEffortRecoveryFailureWithTableCacheUseAfterFree(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.MaxManifestFileSize, o.MaxManifestSpaceAmpPct = 1, 0
	x.destroyAndReopen(o)
	x.must(x.db.DisableFileDeletions())
	for i := range 10 {
		x.putFlush(fmt.Sprint("key", i), dummyString(1000, byte('a'+i)))
	}
	if n := x.countFiles(rocksdb.DescriptorFile); n < 2 {
		t.Fatal(n)
	}
	x.close()
	// One MANIFEST fails with tables open already; another one has to do.
	count := 0
	syncpoint.SetCallBack("VersionBuilder::CheckConsistencyBeforeReturn", func(arg any) {
		if count++; count == 4 {
			*arg.(*error) = rocksdb.Corruption("Injected corruption")
		}
	})
	syncpoint.EnableProcessing()
	o.BestEffortsRecovery = true
	x.reopen(o)
	syncpoint.Reset()
	if count < 4 {
		t.Fatal(count)
	}
	for i := range 10 {
		if got := x.get(0, fmt.Sprint("key", i)); got != dummyString(1000, byte('a'+i)) && got != "NOT_FOUND" {
			t.Fatal(i, got)
		}
	}
}

func TestDBBasicTest_ManifestChecksumMismatch(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.putFlush("bar", "value")
	syncpoint.SetCallBack("LogWriter::EmitPhysicalRecord:BeforeEncodeChecksum", func(arg any) { *arg.(*uint32)++ })
	syncpoint.EnableProcessing()
	x.must(x.db.Put(&rocksdb.WriteOptions{DisableWAL: true}, []byte("foo"), []byte("value")))
	x.flush(0)
	syncpoint.Reset()
	x.putFlush("foo", "value1")
	x.wantIs(x.tryReopen(o), rocksdb.ErrCorruption)
}

func TestDBBasicTest_FailOpenIfLoggerCreationFail(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	syncpoint.SetCallBack("rocksdb::CreateLoggerFromOptions:AfterGetPath", func(arg any) { *arg.(*error) = rocksdb.IOError("Injected") })
	syncpoint.EnableProcessing()
	err := x.tryReopen(o)
	if !errors.Is(err, rocksdb.ErrIOError) || o.InfoLog != nil {
		t.Fatal(err, o.InfoLog)
	}
}

func TestDBMultiGetTestWithParam_MultiGetMultiCF(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF(sevenFamilies, x.currentOptions())
	const n = 24
	var cfs []int
	var keys, values []string
	for i := range n {
		cf := i / 3
		cfs, keys, values = append(cfs, cf), append(keys, fmt.Sprintf("cf%d_key_1", cf)), append(values, fmt.Sprintf("cf%d_val_1_2", cf))
		x.mustPut(cf, keys[i], strings.TrimSuffix(values[i], "_2"))
	}
	// Once some families' states are held, all families change: it has to begin
	// again.
	taken := 0
	syncpoint.SetCallBack("DBImpl::MultiCFSnapshot::AfterRefSV", func(any) {
		if taken++; taken == 2 {
			for i := range n {
				if i%8 == 0 {
					x.flush(cfs[i])
				}
				x.mustPut(cfs[i], keys[i], values[i])
			}
		}
	})
	syncpoint.EnableProcessing()
	check := func(at ...int) {
		t.Helper()
		var c []int
		var k []string
		for _, i := range at {
			c, k = append(c, cfs[i]), append(k, keys[i])
		}
		for j, v := range x.multiGetCF(c, nil, k...) {
			if v != values[at[j]] {
				t.Fatal(at[j], v)
			}
		}
	}
	var all []int
	for i := range n {
		all = append(all, i)
	}
	check(all...)
	if taken < 2+8 {
		t.Fatal(taken)
	}
	check(0, 3, 4)
	check(7, 6, 1)
}

// eightKeys writes a key to each of eight families.
func (x *dbTest) eightKeys() (cfs []int, keys []string) {
	x.Helper()
	x.createAndReopenWithCF(sevenFamilies, x.currentOptions())
	for i := range 8 {
		cfs, keys = append(cfs, i), append(keys, fmt.Sprintf("cf%d_key", i))
		x.mustPut(i, keys[i], fmt.Sprintf("cf%d_val", i))
	}
	return cfs, keys
}

func TestDBMultiGetTestWithParam_MultiGetMultiCFMutex(t *testing.T) {
	x := newDBTest(t)
	cfs, keys := x.eightKeys()
	taken, retries, last := 0, 0, false
	syncpoint.SetCallBack("DBImpl::MultiCFSnapshot::LastTry", func(any) { last = true })
	syncpoint.SetCallBack("DBImpl::MultiCFSnapshot::AfterRefSV", func(any) {
		if last {
			return
		}
		if taken++; taken == 2 {
			retries++
			taken = 0
			for i := range 8 {
				x.flush(i)
				x.mustPut(i, keys[i], fmt.Sprintf("cf%d_val%d", i, retries))
			}
		}
	})
	const mine = "DBMultiGetTestWithParam::MultiGetMultiCFMutex:"
	syncpoint.LoadDependency(syncpoint.Pair{Predecessor: "DBImpl::MultiCFSnapshot::AfterLastTryRefSV", Successor: mine + "BeforeCreateSV"},
		syncpoint.Pair{Predecessor: mine + "AfterCreateSV", Successor: "DBImpl::MultiCFSnapshot::BeforeLastTryUnRefSV"})
	syncpoint.EnableProcessing()
	done := make(chan struct{})
	go func() {
		defer close(done)
		syncpoint.Process(mine + "BeforeCreateSV")
		for i := range 8 {
			x.mustPut(i, keys[i], fmt.Sprintf("cf%d_val_after_last_try", i))
			x.flush(i)
		}
		syncpoint.Process(mine + "AfterCreateSV")
	}()
	values := x.multiGetCF(cfs, nil, keys...)
	<-done
	if !last {
		t.Fatal("the mutex was not needed")
	}
	for i, v := range values {
		if v != fmt.Sprintf("cf%d_val%d", i, retries) {
			t.Fatal(i, v, retries)
		}
	}
}

func TestDBMultiGetTestWithParam_MultiGetMultiCFSnapshot(t *testing.T) {
	x := newDBTest(t)
	cfs, keys := x.eightKeys()
	taken := 0
	syncpoint.SetCallBack("DBImpl::MultiCFSnapshot::AfterRefSV", func(any) {
		if taken++; taken == 2 {
			for i := range 8 {
				x.flush(i)
				x.mustPut(i, keys[i], fmt.Sprintf("cf%d_val2", i))
			}
		}
	})
	syncpoint.EnableProcessing()
	s := x.db.GetSnapshot()
	values := x.multiGetCF(cfs, s, keys...)
	x.must(x.db.ReleaseSnapshot(s))
	for i, v := range values {
		if v != fmt.Sprintf("cf%d_val", i) {
			t.Fatal(i, v)
		}
	}
	if taken != 8 {
		t.Fatal(taken)
	}
}

func TestDBBasicTestWithParallelIO_MultiGetWithChecksumMismatch(t *testing.T) {
	eachParallelIO(t, func(t *testing.T, p *parallelIO) {
		reads := 0
		syncpoint.SetCallBack("RetrieveMultipleBlocks:VerifyChecksum", func(arg any) {
			if reads++; reads == 2 {
				*arg.(*error) = rocksdb.Corruption()
			}
		})
		syncpoint.EnableProcessing()
		ro := rocksdb.DefaultReadOptions()
		ro.FillCache = p.fillCache
		values, errs := p.multiGetRaw(0, ro, key(0), key(50))
		if errs[0] != nil || values[0] != p.values[0] || !errors.Is(errs[1], rocksdb.ErrCorruption) {
			t.Fatal(errs)
		}
		syncpoint.Reset()
	})
}

// fewOpenFiles leaves room for one open table, so that lookups open theirs.
func fewOpenFiles() {
	syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = 11 })
}

func TestDBBasicTestWithParallelIO_MultiGetWithMissingFile(t *testing.T) {
	eachParallelIO(t, func(t *testing.T, p *parallelIO) {
		syncpoint.SetCallBack("TableCache::MultiGet:FindTable", func(arg any) { *arg.(*error) = rocksdb.IOError() })
		fewOpenFiles()
		syncpoint.EnableProcessing()
		p.reopen(p.currentOptions())
		ro := rocksdb.DefaultReadOptions()
		ro.FillCache = p.fillCache
		_, errs := p.multiGetRaw(0, ro, key(0), key(50))
		p.wantIs(errs[0], rocksdb.ErrIOError)
		p.wantIs(errs[1], rocksdb.ErrIOError)
		syncpoint.Reset()
	})
}

// eachDeadline runs f with a deadline, a time-out of reads, or both, for each
// configuration.
func eachDeadline(t *testing.T, f func(x *dbTest, fs *deadlineFS, trigger int, deadline, ioTimeout bool)) {
	for _, c := range []struct{ deadline, ioTimeout bool }{{true, false}, {false, true}, {true, true}} {
		t.Run(fmt.Sprintf("deadline=%v/io_timeout=%v", c.deadline, c.ioTimeout), func(t *testing.T) {
			x := newDBTest(t)
			fs := newDeadlineFS(x, true)
			// Reads of filters do not fail the lookup.
			syncpoint.SetCallBack("BlockBasedTable::Get:BeforeFilterMatch", func(any) { fs.ignore = true })
			syncpoint.SetCallBack("BlockBasedTable::Get:AfterFilterMatch", func(any) { fs.ignore = false })
			fewOpenFiles()
			syncpoint.EnableProcessing()
			for x.config = configDefault; x.config < configEnd; x.config++ {
				o := fs.options(x, x.currentOptions())
				if skipped(x.config, skipPlainTable|skipMmapReads) || o.UseDirectReads {
					continue
				}
				o.DisableAutoCompactions = true
				x.destroy(x.last)
				x.reopen(o)
				rnd := util.NewRandom(301)
				for i := range 400 {
					x.mustPut(0, fmt.Sprint("k", i), rnd.RandomString(100))
				}
				x.flush(0)
				cache, _ := o.TableFactory.OptionsPtr(rocksdb.BlockCacheOptsName).(rocksdb.Cache)
				// Until a lookup is done before the next read would be late.
				for trigger, late := 0, true; late; trigger++ {
					if cache != nil {
						cache.SetCapacity(0)
						cache.SetCapacity(1 << 20)
					}
					f(x, fs, trigger, c.deadline, c.ioTimeout)
					late = fs.timedOut
					if trigger > 100 {
						t.Fatal("every read is late")
					}
				}
				fs.disarm()
			}
			x.close()
			syncpoint.Reset()
		})
	}
}

func TestDBBasicTestDeadline_PointLookupDeadline(t *testing.T) {
	eachDeadline(t, func(x *dbTest, fs *deadlineFS, trigger int, deadline, ioTimeout bool) {
		ro := rocksdb.DefaultReadOptions()
		fs.arm(&ro, deadline, ioTimeout, trigger)
		v, err := x.db.Get(&ro, []byte("k50"))
		v.Release()
		if fs.timedOut != errors.Is(err, rocksdb.ErrTimedOut) || !fs.timedOut && err != nil {
			x.Fatal(x.config, trigger, fs.timedOut, err)
		}
	})
}

func TestDBBasicTestDeadline_IteratorDeadline(t *testing.T) {
	eachDeadline(t, func(x *dbTest, fs *deadlineFS, trigger int, deadline, ioTimeout bool) {
		ro := rocksdb.DefaultReadOptions()
		fs.arm(&ro, deadline, ioTimeout, trigger)
		it := x.db.NewIterator(&ro)
		defer it.Close()
		it.Seek([]byte("k50"))
		for n := 0; it.Valid() && n < 100; n++ {
			it.Next()
		}
		err := it.Err()
		if fs.timedOut != errors.Is(err, rocksdb.ErrTimedOut) || fs.timedOut && it.Valid() || !fs.timedOut && err != nil {
			x.Fatal(x.config, trigger, fs.timedOut, err)
		}
	})
}

func TestDBBasicTest_VerifyFileChecksumsReadahead(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
	x.destroyAndReopen(o)
	const alignment = 256 << 10
	rnd := util.NewRandom(301)
	for i := range 16 {
		x.mustPut(0, fmt.Sprint("key", i), rnd.RandomString(alignment))
	}
	x.flush(0)
	tables := x.files(rocksdb.TableFile)
	if len(tables) != 1 {
		t.Fatal(tables)
	}
	size := x.fileSize(tables[0])
	reads := &x.count.Counters().Reads
	reads.Reset()
	last := false
	syncpoint.SetCallBack("GenerateOneFileChecksum::Chunk:0", func(any) {
		n := int64(reads.Bytes.Load())
		if last || n != size && n%alignment != 0 {
			t.Errorf("%d bytes read of %d", n, size)
		}
		last = n == size
	})
	syncpoint.EnableProcessing()
	ro := rocksdb.DefaultReadOptions()
	ro.ReadaheadSize = alignment
	x.must(x.db.VerifyFileChecksums(&ro))
	syncpoint.Reset()
	if n := int64(reads.Ops.Load()); !last || n != (size+alignment-1)/alignment {
		t.Fatal(last, n)
	}
}

// TestDBBasicTest_ManifestWriteFailure leaves enable_blob_files out, which is not
// built.
func TestDBBasicTest_ManifestWriteFailure(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	x.putFlush("foo", "bar")
	syncpoint.SetCallBack("VersionSet::ProcessManifestWrites:AfterSyncManifest", func(arg any) {
		err := arg.(*error)
		if *err != nil {
			t.Error(*err)
		}
		*err = rocksdb.IOError()
	})
	syncpoint.EnableProcessing()
	x.mustPut(0, "key", "value")
	fo := rocksdb.DefaultFlushOptions()
	if err := x.db.Flush(&fo); err == nil {
		t.Fatal("flushed")
	}
	syncpoint.Reset()
	// The edit was written all the same: what it names has to be there.
	x.reopen(o)
	x.wantGet(0, "foo", "bar")
	x.wantGet(0, "key", "value")
}
