// Port of db_stress_tool/db_stress_test_base.{h,cc}: the database under test,
// opened and reopened, and the loop of operations. Differs: the database resumes
// after an injected error because the test calls Resume, as nothing in the
// engine does; families are not cleared under operations that use them.

package dbstresstool

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/experimental"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// mode is what one kind of test does its own way.
type mode interface {
	// verifyDB compares the worker's part of the database with what is
	// expected.
	verifyDB(t *threadState)
	// verifyWhileRunning checks the database, or its secondary instance, while
	// the workers write.
	verifyWhileRunning(rnd *util.Random)
	// stateTracked tells whether the expected state is kept.
	stateTracked() bool
	// families are those of an operation that drew cf.
	families(cf int) []int
	// controlFamily is the one an iterator over cf is compared with.
	controlFamily(t *threadState, cf int) int
	keyMayExist(t *threadState, ro *rocksdb.ReadOptions, cf int, key int64)
	get(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64)
	multiGet(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64)
	getEntity(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64)
	multiGetEntity(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64)
	prefixScan(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64)
	put(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64)
	delete(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64)
	deleteRange(t *threadState, wo *rocksdb.WriteOptions, cfs []int, keys []int64)
	ingestFiles(t *threadState, cfs []int, keys []int64)
	iterateAgainstExpected(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64)
}

// stressTest is one database under test.
type stressTest struct {
	tool        *Tool
	flags       *Flags
	label       string
	dbPath      string
	expectedDir string
	mode        mode
	shared      *sharedState

	fs            *stressFS
	fault         *fsutil.FaultInjectionTestFS // nil when no faults are asked for
	env           rocksdb.Env
	options       rocksdb.Options
	filterFactory *stressCompactionFilterFactory
	sqfc          *experimental.Factory
	listener      *stressListener
	dbStopped     atomic.Bool // by an error with data loss

	// cfLock is held to read by each operation where families may be cleared.
	cfLock         sync.RWMutex
	db             *dbimpl.DBImpl
	cfs            []*db.ColumnFamilyHandleImpl
	secondary      secondaryInstance
	names          []string
	nextName       int
	timesReopened  int
	preloaded      bool
	optionNames    []string
	optionValues   map[string][]string
	manifestBefore manifestState

	operating atomic.Int32 // workers in the loop of operations
	// faultsOn and faultPauses are under recovery.mu: errors of jobs and of the WAL
	// are injected when faultsOn and nothing pauses that.
	faultsOn    bool
	faultPauses int
	recovery    struct {
		mu     sync.Mutex // held while the database is resumed, opened or closed
		wake   chan struct{}
		stop   chan struct{}
		done   chan struct{}
		closed bool
	}
}

func newStressTest(t *Tool, i int, dbPath, expectedDir string) (*stressTest, error) {
	f := t.flags
	s := &stressTest{tool: t, flags: f, label: "db_" + strconv.Itoa(i), dbPath: dbPath, expectedDir: expectedDir, nextName: 1}
	s.fs = newStressFS(t.rawEnv.GetFileSystem(), t.terminate)
	var fs rocksdb.FileSystem = s.fs
	if t.needsFaultInjection() {
		s.fault = fsutil.NewFaultInjectionTestFS(s.fs)
		t.faultsMu.Lock()
		t.faults = append(t.faults, s.fault)
		t.faultsMu.Unlock()
		log, err := fsutil.NewInjectedErrorLog(t.faultLogPath(s.label))
		if err != nil {
			return nil, err
		}
		s.fault.SetInjectedErrorLog(log)
		excluded := []rocksdb.FileType{rocksdb.InfoLogFile}
		if s.mightLoseUnsyncedData() {
			// Writes that failed after they were traced could not be replayed.
			excluded = append(excluded, rocksdb.WalFile)
		}
		s.fault.SetFileTypesExcludedFromFaultInjection(excluded...)
		// Files bypass the faults until the database is open.
		s.fault.SetFilesystemDirectWritable(true)
		fs = s.fault
	}
	s.env = env.NewCompositeEnvWrapper(t.rawEnv, fs, nil)
	s.recovery.wake = make(chan struct{}, 1)
	switch {
	case f.TestCFConsistency:
		s.mode = &cfConsistencyTest{stressTest: s}
	case f.TestBatchesSnapshots:
		s.mode = &batchedOpsTest{stressTest: s}
	default:
		s.mode = &nonBatchedTest{stressTest: s}
	}
	if f.DestroyDBInitially {
		if err := t.destroyDB(dbPath); err != nil {
			return nil, fmt.Errorf("cannot destroy original db: %w", err)
		}
	}
	return s, nil
}

// mightLoseUnsyncedData tells whether a kill loses writes that were
// acknowledged.
func (s *stressTest) mightLoseUnsyncedData() bool {
	f := s.flags
	return f.SyncFaultInjection || f.DisableWAL || f.ManualWALFlushOneIn > 0
}

// isInjected tells of an error that a fault made, and after which the database
// goes on.
func isInjected(err error) bool {
	return err != nil && !rocksdb.AsStatus(err).DataLoss && fsutil.IsInjectedError(err, "")
}

func isTolerableCompactionFailure(err error) bool {
	if isInjected(err) {
		return true
	}
	switch rocksdb.CodeOf(err) {
	case rocksdb.CodeIncomplete, rocksdb.CodeAborted, rocksdb.CodeInvalidArgument, rocksdb.CodeNotSupported:
		return true
	}
	return false
}

// process fails the test for an error that no fault explains.
func (s *stressTest) process(op string, err error) {
	if err != nil && !isInjected(err) {
		s.abort("%s failed: %v", op, err)
	}
}

// abort reports a failed verification.
func (s *stressTest) abort(format string, args ...any) {
	s.tool.errf("Verification failed: "+format+"\n", args...)
	s.shared.failVerification()
}

func (s *stressTest) abortKey(cf int, key int64, format string, args ...any) {
	s.tool.errf("Verification failed for column family %d key %X (%d): %s\n", cf, s.tool.keys.key(key), key, fmt.Sprintf(format, args...))
	s.shared.failVerification()
}

func (s *stressTest) readOptions(t *threadState) rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	if t != nil {
		ro.IOStatsContext = t.io
	}
	return ro
}

// verifyReadOptions are for verification: no errors are injected.
func (s *stressTest) verifyReadOptions() rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	ro.VerifyChecksums, ro.Timestamp = s.flags.VerifyChecksum, s.flags.now()
	return ro
}

// setWorkerFaults makes the worker's reads fail as the flags say.
func (s *stressTest) setWorkerFaults(t *threadState) {
	if s.fault == nil {
		return
	}
	f := s.flags
	scope := fsutil.ErrorScope{Stats: t.io}
	retryable, loss := f.InjectErrorSeverity == 1, f.InjectErrorSeverity == 2
	seed := uint32(f.Seed) + uint32(t.tid) + 1
	s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionRead, seed, int(f.ReadFaultOneIn), retryable, loss)
	s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionMetadataRead, seed, int(f.MetadataReadFaultOneIn), retryable, loss)
	s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionWrite, seed, int(f.WriteFaultOneIn), retryable, loss)
	s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionMetadataWrite, seed, int(f.MetadataWriteFaultOneIn), retryable, loss)
	s.fault.EnableScopedErrorInjection(scope, true)
}

// jobScopes are the operations that no worker's calls carry: of jobs, and of
// the leader of a group of writers.
var jobScopes = []fsutil.ErrorScope{
	{Activity: rocksdb.IOActivityFlush}, {Activity: rocksdb.IOActivityCompaction}, {Activity: rocksdb.IOActivityUnknown},
}

func (s *stressTest) setJobFaultsLocked(on bool) {
	if s.fault == nil {
		return
	}
	s.faultsOn = on
	on = on && s.faultPauses == 0
	f := s.flags
	for i, scope := range jobScopes {
		if on {
			retryable, loss := f.InjectErrorSeverity == 1, f.InjectErrorSeverity == 2
			seed := uint32(f.Seed) + uint32(time.Now().UnixNano())
			if scope.Activity != rocksdb.IOActivityUnknown {
				// Reads that say nothing of themselves may be a verification's.
				s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionRead, seed+uint32(i), int(f.ReadFaultOneIn), retryable, loss)
				s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionMetadataRead, seed+uint32(i), int(f.MetadataReadFaultOneIn), retryable, loss)
			}
			s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionWrite, seed+uint32(i), int(f.WriteFaultOneIn), retryable, loss)
			s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionMetadataWrite, seed+uint32(i), int(f.MetadataWriteFaultOneIn), retryable, loss)
		}
		s.fault.EnableScopedErrorInjection(scope, on)
	}
}

func (s *stressTest) setJobFaults(on bool) {
	s.recovery.mu.Lock()
	s.setJobFaultsLocked(on)
	s.recovery.mu.Unlock()
}

// pauseJobFaults injects no errors until resume is called.
func (s *stressTest) pauseJobFaults() (resume func()) {
	pause := func(n int) {
		s.recovery.mu.Lock()
		s.faultPauses += n
		s.setJobFaultsLocked(s.faultsOn)
		s.recovery.mu.Unlock()
	}
	pause(1)
	return func() { pause(-1) }
}

// wakeRecovery tells the goroutine that resumes the database.
func (s *stressTest) wakeRecovery() {
	select {
	case s.recovery.wake <- struct{}{}:
	default:
	}
}

func (s *stressTest) startRecovery() {
	s.recovery.stop, s.recovery.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.recovery.done)
		for {
			select {
			case <-s.recovery.stop:
				return
			case <-s.recovery.wake:
			}
			time.Sleep(20 * time.Millisecond)
			if s.resume() != nil {
				s.wakeRecovery()
			}
		}
	}()
}

func (s *stressTest) stopRecovery() {
	close(s.recovery.stop)
	<-s.recovery.done
}

// resume resumes the database after an injected error; another one may come in
// between.
func (s *stressTest) resume() error {
	s.recovery.mu.Lock()
	defer s.recovery.mu.Unlock()
	if s.db == nil || s.recovery.closed || s.dbStopped.Load() {
		return nil
	}
	on := s.faultsOn
	if s.flags.ErrorRecoveryWithNoFaultInjection && on {
		s.setJobFaultsLocked(false)
		defer s.setJobFaultsLocked(true)
	}
	err := s.db.Resume()
	if err != nil && !isInjected(err) && rocksdb.CodeOf(err) != rocksdb.CodeBusy {
		if !s.errorStops(err) {
			s.tool.terminate("Resume: %v", err)
		}
		return nil
	}
	return err
}

// errorStops tells of an error after which no write is to succeed, and notes
// it: those with data loss, where they are asked for.
func (s *stressTest) errorStops(err error) bool {
	if s.flags.InjectErrorSeverity != 2 || !fsutil.IsInjectedError(err, "") {
		return false
	}
	s.dbStopped.Store(true)
	return true
}

// writeUntilDone writes until that succeeds or surely did not happen: an
// injected error may have come after the write was in the WAL. It tells whether
// the write happened; a wrong error ends the process.
func (s *stressTest) writeUntilDone(name string, write func() error) (done bool, err error) {
	start := time.Now()
	for first := true; ; first = false {
		if err = write(); err == nil {
			if d := time.Since(start); !first && d > 10*time.Second {
				s.tool.printf("%s thread slept to wait for write recovery for %d seconds\n", name, int(d.Seconds()))
			}
			return true, nil
		}
		if !isInjected(err) {
			if !s.errorStops(err) {
				s.tool.terminate("%s error: %v", name, err)
			}
			return false, err
		}
		s.wakeRecovery()
		if first && fsutil.IsFailedToWriteToWALError(err) {
			return false, err
		}
		if time.Since(start) > 3*time.Minute {
			s.tool.terminate("%s: the database did not recover: %v", name, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// cf is a family's handle.
func (s *stressTest) cf(i int) *db.ColumnFamilyHandleImpl { return s.cfs[i] }

func (s *stressTest) get(ro *rocksdb.ReadOptions, cf int, key []byte) ([]byte, error) {
	return s.getFrom(s.db, ro, s.cf(cf), key)
}

func (s *stressTest) getFrom(d *dbimpl.DBImpl, ro *rocksdb.ReadOptions, h *db.ColumnFamilyHandleImpl, key []byte) (value []byte, err error) {
	read := func() {
		var v rocksdb.PinnableSlice
		if err = d.Get(ro, h, key, &v); err == nil {
			value = slices.Clone(v.Data())
			if value == nil {
				value = []byte{}
			}
			v.Release()
		}
	}
	if !s.flags.UseAsyncDBApi {
		read()
		return value, err
	}
	done := make(chan struct{})
	go func() {
		read()
		close(done)
	}()
	<-done
	return value, err
}

func (s *stressTest) multiGet(ro *rocksdb.ReadOptions, cf int, keys [][]byte) (values [][]byte, errs []error) {
	errs = make([]error, len(keys))
	values = make([][]byte, len(keys))
	read := func() {
		pinned := make([]rocksdb.PinnableSlice, len(keys))
		s.db.MultiGet(ro, s.cf(cf), keys, pinned, errs)
		for i := range pinned {
			if errs[i] == nil {
				values[i] = append([]byte{}, pinned[i].Data()...)
				pinned[i].Release()
			}
		}
	}
	if !s.flags.UseAsyncDBApi {
		read()
		return values, errs
	}
	done := make(chan struct{})
	go func() {
		read()
		close(done)
	}()
	<-done
	return values, errs
}

// putsEntity tells whether the value of that number is written as an entity.
func (s *stressTest) putsEntity(base uint32) bool {
	n := s.flags.UsePutEntityOneIn
	return n > 0 && base%n == 0
}

// commonFactorSkew keeps numbers of one choice from being all those of another.
const commonFactorSkew = 1872439133

// putsTimed tells whether the value of that number is written with a time.
func (s *stressTest) putsTimed(base uint32) bool {
	n := s.flags.UseTimedPutOneIn
	return n > 0 && !s.putsEntity(base) && (base+commonFactorSkew)%n == 0
}

// writeTime chooses a time of writing, in Unix seconds: none, one that is kept, or
// the oldest of those.
// Upstream: GetWriteUnixTime.
func (s *stressTest) writeTime(t *threadState) uint64 {
	kept := uint64(max(s.flags.PreserveInternalTimeSeconds, s.flags.PrecludeLastLevelDataSeconds, 0))
	now, err := s.options.Env.GetSystemClock().GetCurrentTime()
	mode := t.rand.Uniform(3)
	switch {
	case mode == 0 || err != nil:
		return math.MaxUint64
	case mode == 2:
		return uint64(now) - kept
	case kept == 0:
		return uint64(now)
	}
	return uint64(now) - uint64(t.rand.Uniform(int(kept)))
}

// putOrMerge writes a value the way that the flags and its number say.
func (s *stressTest) putOrMerge(wo *rocksdb.WriteOptions, cf int, key []byte, base uint32, value []byte) error {
	f := s.flags
	ts := f.now()
	switch {
	case s.putsEntity(base):
		b := newBatch()
		if err := s.addEntity(b, s.cf(cf), key, base, value); err != nil {
			return err
		}
		return s.db.Write(wo, b)
	case f.UseMerge && ts != nil:
		return s.db.MergeWithTimestamp(wo, s.cf(cf), key, ts, value)
	case f.UseMerge:
		return s.db.Merge(wo, s.cf(cf), key, value)
	case ts != nil:
		return s.db.PutWithTimestamp(wo, s.cf(cf), key, ts, value)
	}
	return s.db.Put(wo, s.cf(cf), key, value)
}
