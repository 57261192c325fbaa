// Port of db_stress_tool/db_stress_test_base.cc (Open, Reopen, FinishInitDb,
// PreloadDbAndReopenAsReadOnly, VerifyManifestNotRewritten).

package dbstresstool

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func newBatch() *writebatch.WriteBatch { return writebatch.New() }

// listFamilies gives the families of an existing database, nil when there is
// none.
func (s *stressTest) listFamilies() []string {
	names, err := db.ListColumnFamilies(s.dbPath, s.tool.rawEnv.GetFileSystem())
	if err != nil {
		return nil
	}
	return names
}

// familyDescriptors says which families to open, and names the ones to make.
func (s *stressTest) familyDescriptors() []rocksdb.ColumnFamilyDescriptor {
	existing := s.listFamilies()
	switch {
	case existing == nil && len(s.names) == 0:
		s.names = []string{rocksdb.DefaultColumnFamilyName}
	case len(s.names) == 0:
		s.names = existing
	default:
		a, b := slices.Sorted(slices.Values(s.names)), slices.Sorted(slices.Values(existing))
		if !slices.Equal(a, b) {
			s.tool.terminate("Expected column families differ from the existing:\nExpected: %v\nExisting: %v", a, b)
		}
	}
	for _, name := range s.names {
		if n, err := strconv.Atoi(name); err == nil {
			s.nextName = max(s.nextName, n+1)
		}
	}
	for len(s.names) < int(s.flags.ColumnFamilies) {
		s.names = append(s.names, strconv.Itoa(s.nextName))
		s.nextName++
	}
	descriptors := make([]rocksdb.ColumnFamilyDescriptor, len(s.names))
	for i, name := range s.names {
		descriptors[i] = rocksdb.ColumnFamilyDescriptor{Name: name, Options: s.options.ColumnFamilyOptions}
	}
	return descriptors
}

// openFaults are the errors injected while the database is opened.
type openFaults struct {
	sync                                     bool
	metadataRead, metadataWrite, read, write int32
}

func (o *openFaults) any() bool {
	return o.sync || o.metadataRead > 0 || o.metadataWrite > 0 || o.read > 0 || o.write > 0
}

// set makes all operations fail as o says, if there is a database. It tells
// whether faults are asked for.
func (s *stressTest) setOpenFaults(o *openFaults) bool {
	if !o.any() {
		return false
	}
	if s.fault.FileExists(filename.CurrentFileName(s.dbPath), nil) != nil {
		return true
	}
	if o.sync || o.write > 0 {
		s.fault.SetFilesystemDirectWritable(false)
		s.fault.SetInjectUnsyncedDataLoss(o.sync)
	}
	seed := uint32(s.flags.Seed) + uint32(time.Now().UnixNano())
	for _, scope := range jobScopes {
		s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionMetadataRead, seed, int(o.metadataRead), false, false)
		s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionMetadataWrite, seed+1, int(o.metadataWrite), false, false)
		s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionRead, seed+2, int(o.read), false, false)
		s.fault.SetScopedErrorContext(scope, fsutil.FaultInjectionWrite, seed+3, int(o.write), false, false)
		s.fault.EnableScopedErrorInjection(scope, true)
	}
	return true
}

// clearOpenFaults ends that, for classes that later phases do not set, too.
func (s *stressTest) clearOpenFaults() {
	for _, scope := range jobScopes {
		for _, t := range []fsutil.FaultInjectionIOType{fsutil.FaultInjectionRead, fsutil.FaultInjectionWrite, fsutil.FaultInjectionMetadataRead, fsutil.FaultInjectionMetadataWrite} {
			s.fault.SetScopedErrorContext(scope, t, 0, 0, false, false)
		}
	}
}

func (s *stressTest) tryOpen() error {
	if s.listener != nil {
		s.listener.ids.close()
	}
	l, err := newStressListener(s, s.shared)
	if err != nil {
		return err
	}
	s.listener = l
	s.options.Listeners = []rocksdb.EventListener{l}
	if uri := s.flags.ListenerUri; uri != "" {
		cfg := rocksdb.DefaultConfigOptions()
		more, err := registry.NewObject[rocksdb.EventListener](&cfg, registry.KindEventListener, uri)
		if err != nil {
			s.tool.terminate("Failed to create listener from URI '%s': %v", uri, err)
		}
		s.options.Listeners = append(s.options.Listeners, more)
	}
	descriptors := s.familyDescriptors()
	if s.preloaded && s.flags.ReadOnly {
		s.db, s.cfs, err = dbimpl.OpenForReadOnly(&s.options.DBOptions, s.dbPath, descriptors, false)
	} else {
		s.db, s.cfs, err = dbimpl.Open(&s.options.DBOptions, s.dbPath, descriptors)
	}
	return err
}

// open opens the database. Errors are injected where asked for; then it is
// opened again without.
func (s *stressTest) open(reopen bool) error {
	f, t := s.flags, s.tool
	if err := s.initOptions(); err != nil {
		return err
	}
	if f.PrefixSize == 0 && f.Memtablerep == "prefix_hash" {
		return rocksdb.InvalidArgument("prefeix_size cannot be zero if memtablerep == prefix_hash")
	}
	if f.PrefixSize != 0 && f.Memtablerep != "prefix_hash" {
		t.printf("WARNING: prefix_size is non-zero but memtablerep != prefix_hash\n")
	}
	t.printf("DB path: [%s]\n", s.dbPath)
	faults := openFaults{f.SyncFaultInjection, f.OpenMetadataReadFaultOneIn, f.OpenMetadataWriteFaultOneIn, f.OpenReadFaultOneIn, f.OpenWriteFaultOneIn}
	for {
		injecting := s.setOpenFaults(&faults)
		err := s.tryOpen()
		if injecting {
			s.fault.DisableAllErrorInjection()
			s.clearOpenFaults()
			if err == nil {
				// Jobs may have met errors, too.
				if err = s.db.WaitForCompact(nil); err != nil {
					s.closeFamilies()
					if cerr := s.db.Close(); cerr != nil {
						t.printf("Close after an injected error: %v\n", cerr)
					}
					s.db = nil
				}
			}
			if err != nil {
				if !isInjected(err) {
					t.printf("Opening with injected errors gave: %v\n", err)
				}
				faults = openFaults{}
				if !reopen {
					s.dropAtRandom()
				}
				continue
			}
		}
		if err != nil {
			return err
		}
		break
	}
	if f.TestSecondary {
		if err := s.openSecondary(s.familyDescriptors()); err != nil {
			return err
		}
	}
	if f.PreserveUnverifiedChanges {
		// Nothing that is live has become obsolete so far, and what does from now
		// on is kept.
		if err := s.db.DisableFileDeletions(); err != nil {
			return err
		}
		if err := s.db.EnableAutoCompaction(s.handles()); err != nil {
			return err
		}
	}
	if have, want := s.db.GetLatestSequenceNumber(), s.shared.persistedSeqno(); have < want {
		t.terminate("DB of latest sequence number %d did not recover to the persisted sequence number %d from last DB session", have, want)
	}
	return nil
}

// dropAtRandom loses what a crash of the machine may lose now.
func (s *stressTest) dropAtRandom() {
	rnd := util.NewRandom(uint32(s.flags.Seed) + uint32(time.Now().UnixNano()))
	if rnd.OneIn(2) {
		if err := s.fault.DeleteFilesCreatedAfterLastDirSync(nil); err != nil {
			s.tool.printf("DeleteFilesCreatedAfterLastDirSync: %v\n", err)
		}
	}
	if rnd.OneIn(3) {
		s.fault.DropUnsyncedFileData()
	} else if rnd.OneIn(2) {
		s.fault.DropRandomUnsyncedFileData(rnd)
	}
}

func (s *stressTest) handles() []rocksdb.ColumnFamilyHandle {
	all := make([]rocksdb.ColumnFamilyHandle, len(s.cfs))
	for i, h := range s.cfs {
		all[i] = h
	}
	return all
}

func (s *stressTest) closeFamilies() {
	s.closeHandles(s.db, s.cfs)
	s.cfs = nil
}

func (s *stressTest) closeHandles(d *dbimpl.DBImpl, handles []*db.ColumnFamilyHandleImpl) {
	for _, h := range handles {
		if err := d.DestroyColumnFamilyHandle(h); err != nil {
			s.tool.printf("closing a column family: %v\n", err)
		}
	}
}

// close ends the test of the database.
func (s *stressTest) close() {
	s.recovery.mu.Lock()
	defer s.recovery.mu.Unlock()
	s.setJobFaultsLocked(false)
	s.recovery.closed = true
	s.closeSecondary()
	if s.db == nil {
		return
	}
	s.closeFamilies()
	if err := s.db.Close(); err != nil {
		s.tool.errf("Non-ok close status: %v\n", err)
		s.shared.failVerification()
	}
	s.db = nil
	s.listener.ids.close()
}

// finishInit brings the expected state to what the database recovered.
func (s *stressTest) finishInit() error {
	f := s.flags
	if f.ReadOnly {
		s.tool.printf("%s Preloading db with %d KVs\n", timeString(), f.MaxKey)
		if err := s.preload(); err != nil {
			return err
		}
	}
	if m := s.shared.expected; m.hasHistory() {
		if err := m.restore(s.db); err != nil {
			return rocksdb.Corruption("Error restoring historical expected values", err.Error()).Wrap(err)
		}
	}
	if s.filterFactory != nil {
		s.filterFactory.shared.Store(s.shared)
		s.tool.printf("Compaction filter factory: %s\n", s.filterFactory.Name())
	}
	return nil
}

// trackExpectedState begins to trace writes, if some may be lost.
func (s *stressTest) trackExpectedState() error {
	if !s.mightLoseUnsyncedData() || !s.mode.stateTracked() || s.expectedDir == "" {
		return nil
	}
	return s.shared.expected.saveAtAndAfter(s.db)
}

// preload writes all keys and opens the database to read only.
func (s *stressTest) preload() error {
	f := s.flags
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL, wo.Sync = f.DisableWAL, f.Sync
	for cf := range s.cfs {
		for k := range f.MaxKey {
			p := s.shared.preparePut(cf, k)
			base := p.finalValueBase()
			if err := s.putOrMerge(&wo, cf, s.tool.keys.key(k), base, f.generateValue(base)); err != nil {
				p.rollback()
				return err
			}
			p.commit()
		}
	}
	if err := s.db.FlushFamilies(nil, s.handles()); err != nil {
		return err
	}
	s.closeSecondary()
	s.closeFamilies()
	if err := s.db.Close(); err != nil {
		return err
	}
	s.db, s.preloaded = nil, true
	s.tool.printf("%s Reopening database in read-only\n", timeString())
	return s.open(true)
}

// reopen closes and opens the database; no worker is in an operation.
func (s *stressTest) reopen(t *threadState) {
	s.recovery.mu.Lock()
	defer s.recovery.mu.Unlock()
	s.setJobFaultsLocked(false)
	f := s.flags
	fatal := func(what string, err error) {
		if err != nil {
			s.tool.terminate("%s: %v", what, err)
		}
	}
	// An error of a job may stand: nothing injects another.
	err := s.db.Resume()
	for tries := 0; rocksdb.CodeOf(err) == rocksdb.CodeBusy && tries < 3000; tries++ {
		// The database is at it itself.
		time.Sleep(10 * time.Millisecond)
		err = s.db.Resume()
	}
	if err != nil && !s.errorStops(err) {
		fatal("Resume before reopening", err)
	}
	if t.rand.OneIn(2) {
		s.db.CancelAllBackgroundWork(t.rand.OneIn(2))
	}
	s.closeFamilies()
	if !f.DisableWAL {
		if f.ManualWALFlushOneIn > 0 {
			fatal("Error persisting WAL data which is needed before reopening the DB", s.db.FlushWAL(true))
		} else {
			fatal("Error persisting WAL data which is needed before reopening the DB", s.db.SyncWAL())
		}
	}
	fatal("Non-ok close status", s.db.Close())
	s.db = nil
	s.closeSecondary()
	s.timesReopened++
	s.tool.printf("%s Reopening database for the %dth time\n", timeString(), s.timesReopened)
	s.recordManifest()
	fatal("open error", s.open(true))
	s.verifyManifest()
	if s.fault != nil {
		s.enableFaultFiles()
	}
	if err := s.trackExpectedState(); err != nil {
		fatal("Error enabling history tracing", err)
	}
	if s.filterFactory != nil {
		s.filterFactory.shared.Store(s.shared)
	}
}

// enableFaultFiles lets new files lose what they do not sync, where asked for.
func (s *stressTest) enableFaultFiles() {
	f := s.flags
	if !f.SyncFaultInjection && f.WriteFaultOneIn <= 0 {
		return
	}
	s.fault.SetFilesystemDirectWritable(false)
	s.fault.SetInjectUnsyncedDataLoss(f.SyncFaultInjection)
	if f.ExcludeWALFromWriteFaultInjection {
		s.fault.SetFileTypesExcludedFromWriteFaultInjection(rocksdb.WalFile)
	}
}

// manifestState is what is known of the MANIFEST before a reopening.
type manifestState struct {
	check, strict, noWrite bool
	number                 uint64
	size                   int64
	current                string
}

func (s *stressTest) findManifest() (m manifestState, ok bool) {
	entries, err := os.ReadDir(s.dbPath)
	if err != nil {
		return m, false
	}
	for _, e := range entries {
		if p, parsed := filename.ParseFileName(e.Name(), ""); parsed && p.Type == rocksdb.DescriptorFile {
			info, err := e.Info()
			if err != nil {
				return m, false
			}
			m.number, m.size, ok = p.Number, info.Size(), true
		}
	}
	current, err := os.ReadFile(filepath.Join(s.dbPath, "CURRENT"))
	m.current = strings.TrimSpace(string(current))
	return m, ok && err == nil
}

// recordManifest notes the MANIFEST, if the options say that it is to be kept.
func (s *stressTest) recordManifest() {
	f := s.flags
	s.manifestBefore = manifestState{}
	if f.BestEffortsRecovery || !f.ReuseManifestOnOpen {
		return
	}
	m, ok := s.findManifest()
	if !ok {
		return
	}
	m.check = true
	if f.OptimizeManifestForRecovery {
		m.noWrite = true
		m.strict = f.MetadataWriteFaultOneIn == 0 && f.OpenMetadataWriteFaultOneIn == 0 && f.AvoidFlushDuringRecovery && !f.WriteDbidToManifest
	}
	s.manifestBefore = m
}

// verifyManifest compares. What background work may change is only a warning.
func (s *stressTest) verifyManifest() {
	before := s.manifestBefore
	if !before.check {
		return
	}
	after, ok := s.findManifest()
	if !ok {
		return
	}
	what, strict := "", before.strict
	switch {
	case after.number != before.number:
		what = "MANIFEST file was recreated despite reuse_manifest_on_open=1"
	case after.current != before.current:
		what = "CURRENT file was updated despite reuse_manifest_on_open=1 and MANIFEST being reused"
	case before.noWrite && after.size > before.size:
		what = "MANIFEST file grew after reopen despite optimize_manifest_for_recovery=1 and reuse_manifest_on_open=1"
		strict = strict && s.flags.DisableAutoCompactions // one may be over by now
	case after.size-before.size > 10240:
		what = "MANIFEST file grew after reopen (may indicate unexpected writes)"
	default:
		return
	}
	if strict {
		s.tool.terminate("FATAL: %s. Before: MANIFEST-%06d, %d bytes; after: MANIFEST-%06d, %d bytes", what, before.number, before.size, after.number, after.size)
	}
	s.tool.printf("WARNING: %s. Before: MANIFEST-%06d, %d bytes; after: MANIFEST-%06d, %d bytes\n", what, before.number, before.size, after.number, after.size)
}

// clearOneFamily drops a family and makes another in its place, sometimes.
func (s *stressTest) clearOneFamily(t *threadState) {
	f := s.flags
	if f.ColumnFamilies <= 1 || f.TestBatchesSnapshots || f.TestCFConsistency || !t.rand.OneInOpt(int(f.ClearColumnFamilyOneIn)) {
		return
	}
	cf := int(t.rand.Next()%uint32(f.ColumnFamilies-1)) + 1
	// All operations are shut out.
	s.cfLock.Lock()
	defer s.cfLock.Unlock()
	name := strconv.Itoa(s.nextName)
	s.nextName++
	s.tool.printf("[CF %d] Dropping and recreating column family. new name: %s\n", cf, name)
	s.shared.lockColumnFamily(cf)
	defer s.shared.unlockColumnFamily(cf)
	// A family may be there, or gone, though an error says that the options could
	// not be written.
	defer s.pauseJobFaults()()
	old := s.cf(cf)
	retry := func(what string, f func() error) {
		for range 200 {
			err := f()
			if err == nil {
				return
			}
			if !isInjected(err) {
				s.tool.terminate("%s: %v", what, err)
			}
			s.wakeRecovery()
			time.Sleep(50 * time.Millisecond)
		}
		s.tool.terminate("%s: the database did not recover", what)
	}
	retry("dropping column family error", func() error { return s.db.DropColumnFamily(old) })
	if err := s.db.DestroyColumnFamilyHandle(old); err != nil {
		s.tool.terminate("closing a dropped column family: %v", err)
	}
	retry("creating column family error", func() (err error) {
		s.cfs[cf], err = s.db.CreateColumnFamily(&s.options.ColumnFamilyOptions, name)
		return err
	})
	s.names[cf] = name
	s.shared.expected.latest.clearColumnFamily(cf)
}

// rlockFamilies keeps families from being cleared.
func (s *stressTest) rlockFamilies() (unlock func()) {
	if s.flags.ClearColumnFamilyOneIn <= 0 {
		return func() {}
	}
	s.cfLock.RLock()
	return sync.OnceFunc(s.cfLock.RUnlock)
}
