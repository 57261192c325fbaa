// Port of db_stress_tool/db_stress_driver.{h,cc}.

package dbstresstool

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// runWorker is a worker from its first verification to its last.
func (s *stressTest) runWorker(t *threadState) {
	f, sh := s.flags, t.shared
	if !f.SkipVerifydb && s.expectedDir != "" {
		s.mode.verifyDB(t)
	}
	sh.update(func() { sh.mu.initialized++ })
	if f.VerificationOnly {
		return
	}
	sh.wait(func() bool { return sh.mu.start })
	s.operate(t)
	sh.update(func() { sh.mu.operated++ })
	sh.wait(func() bool { return sh.mu.startVerify })
	if !f.SkipVerifydb {
		s.mode.verifyDB(t)
	}
	sh.update(func() { sh.mu.done++ })
}

// runInBackground runs step until the test is over.
func (s *stressTest) runInBackground(step func()) {
	sh := s.shared
	sh.mu.bgThreads++
	go func() {
		for {
			sh.mu.Lock()
			stop := sh.mu.stopBG
			sh.mu.Unlock()
			if stop {
				break
			}
			step()
		}
		sh.update(func() { sh.mu.bgFinished++ })
	}()
}

var poolSizeOnce sync.Once

func (s *stressTest) startBackground() {
	f := s.flags
	if f.CompactionThreadPoolAdjustInterval > 0 {
		poolSizeOnce.Do(func() {
			rnd := util.NewRandom(uint32(f.Seed))
			s.runInBackground(func() {
				n := int(f.MaxBackgroundCompactions-f.CompactionThreadPoolVariations) + int(rnd.Uniform(int(f.CompactionThreadPoolVariations)*2+1))
				s.tool.rawEnv.SetBackgroundThreads(max(n, 1), rocksdb.LowPriority)
				time.Sleep(time.Duration(rnd.Uniform(int(f.CompactionThreadPoolAdjustInterval)))*time.Millisecond + time.Microsecond)
			})
		})
	}
	if s.tool.compressedSecondary != nil || s.tool.cache != nil && f.CompressedSecondaryCacheRatio > 0 {
		rnd := util.NewRandom(uint32(f.Seed))
		s.runInBackground(func() { s.changeCapacities(rnd) })
	}
	if f.ContinuousVerificationInterval > 0 {
		rnd := util.NewRandom(uint32(f.Seed))
		s.runInBackground(func() {
			if !s.shared.failed() && f.Reopen == 0 && s.operating.Load() > 0 {
				s.mode.verifyWhileRunning(rnd)
			}
			time.Sleep(time.Duration(rnd.Uniform(int(f.ContinuousVerificationInterval)))*time.Millisecond + time.Microsecond)
		})
	}
}

// run tests one database. It tells whether all verifications passed.
func (s *stressTest) run() (passed bool, err error) {
	f, t, sh := s.flags, s.tool, s.shared
	label := ""
	if f.NumDbs > 1 {
		label = "[" + s.label + "] "
	}
	if s.expectedDir != "" && f.PreserveUnverifiedChanges {
		if err := t.copyUnverified(s.dbPath, s.expectedDir); err != nil {
			return false, rocksdb.IOError(label+"Failed to setup unverified state dir", err.Error())
		}
	}
	t.printf("%s Initializing db_stress\n", timeString())
	s.printEnv()
	if err := s.open(false); err != nil {
		return false, rocksdb.AppendMessage(err, "; ", label+"open error")
	}
	defer s.close()
	s.buildOptionsTable()
	if err := s.finishInit(); err != nil {
		return false, err
	}
	t.printf("%s %sInitializing worker threads\n", timeString(), label)
	sh.mu.threads = int(f.Threads)
	s.startRecovery()
	defer s.stopRecovery()
	threads := make([]*threadState, f.Threads)
	for i := range threads {
		threads[i] = newThreadState(i, sh)
		go s.runWorker(threads[i])
	}
	s.startBackground()
	sh.wait(func() bool { return sh.mu.initialized == sh.mu.threads })
	if s.expectedDir != "" {
		s.reportRecovery(label)
	}
	if !f.VerificationOnly {
		if err := s.runOperations(label); err != nil {
			return false, err
		}
		for _, o := range threads[1:] {
			threads[0].stats.merge(&o.stats)
		}
		if !threads[0].stats.report(label+"Stress Test") && !sh.failed() && !f.ReadOnly {
			t.errf("No writes or ops?\n")
		}
	}
	if !f.SkipVerifydb && !f.TestBatchesSnapshots && !sh.failed() {
		t.printf("%s %sVerification successful\n", timeString(), label)
	}
	if !f.VerificationOnly && s.options.Statistics != nil {
		t.printf("STATISTICS:\n%s\n", s.options.Statistics.ToString())
	}
	sh.update(func() { sh.mu.stopBG = true })
	sh.wait(func() bool { return sh.mu.bgFinished == sh.mu.bgThreads })
	t.printf("%s %sStress test bg threads finished\n", timeString(), label)
	if sh.failed() {
		t.errf("%sVerification failed :(\n", label)
		return false, nil
	}
	return true, nil
}

func (s *stressTest) reportRecovery(label string) {
	if s.shared.failed() {
		s.tool.errf("%sCrash-recovery verification failed :(\n", label)
		return
	}
	s.tool.printf("%sCrash-recovery verification passed :)\n", label)
	for _, dir := range []string{s.dbPath, s.expectedDir} {
		if err := s.tool.removeDir(filepath.Join(dir, "unverified")); err != nil {
			s.tool.terminate("%sFailed to cleanup unverified state dir: %v", label, err)
		}
	}
}

// runOperations lets the workers run, and then verify.
func (s *stressTest) runOperations(label string) error {
	f, t, sh := s.flags, s.tool, s.shared
	if err := s.trackExpectedState(); err != nil {
		return rocksdb.AppendMessage(err, "; ", "Error enabling history tracing")
	}
	if s.fault != nil {
		s.enableFaultFiles()
	}
	if s.disableAutoCompactionsBeforeVerify() {
		if err := s.db.EnableAutoCompaction(s.handles()); err != nil {
			return err
		}
	}
	t.printf("%s %sStarting database operations\n", timeString(), label)
	sh.update(func() { sh.mu.start = true })
	sh.wait(func() bool { return sh.mu.operated == sh.mu.threads })
	switch {
	case f.TestBatchesSnapshots:
		t.printf("%s %sLimited verification already done during gets\n", timeString(), label)
	case f.SkipVerifydb:
		t.printf("%s %sVerification skipped\n", timeString(), label)
	default:
		t.printf("%s %sStarting verification\n", timeString(), label)
	}
	sh.update(func() { sh.mu.startVerify = true })
	sh.wait(func() bool { return sh.mu.done == sh.mu.threads })
	return nil
}
