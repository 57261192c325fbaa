// Port of db_stress_tool/db_stress_test_base.cc (OperateDb and the operations
// that all modes share).

package dbstresstool

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func timeString() string { return time.Now().Format("2006/01/02-15:04:05") }

// operationBounds are the sums of percentages up to each kind of operation.
type operationBounds struct{ read, prefix, write, del, delRange, iterate int }

// operate is a worker's loop of random operations.
func (s *stressTest) operate(t *threadState) {
	f := s.flags
	ro := s.readOptions(t)
	ro.VerifyChecksums = f.VerifyChecksum
	ro.AsyncIO, ro.AdaptiveReadahead = f.AsyncIO, f.AdaptiveReadahead
	ro.ReadaheadSize, ro.AutoReadaheadSize = f.ReadaheadSize, f.AutoReadaheadSize
	ro.FillCache, ro.OptimizeMultigetForIO = f.FillCache, f.OptimizeMultigetForIO
	ro.AllowUnpreparedValue = f.AllowUnpreparedValue
	ro.AutoRefreshIteratorWithSnapshot = f.AutoRefreshIteratorWithSnapshot
	if f.RateLimitUserOps {
		ro.RateLimiterPriority = rocksdb.IOUser
	}
	if f.ReadScopedBlockBufferProvider {
		p := &blockBuffers{fail: func(text string) {
			fmt.Fprintf(s.tool.err, "ReadScopedBlockBufferProvider invariant failed: %s\n", text)
			t.shared.failVerification()
		}}
		ro.ReadScopedBlockBufferProvider = p
		defer p.close()
	}
	wo := rocksdb.DefaultWriteOptions()
	wo.IOStatsContext = t.io
	wo.MemtableInsertHintPerBatch = f.MemtableInsertHintPerBatch
	wo.Sync, wo.DisableWAL = f.Sync, f.DisableWAL
	wo.ProtectionBytesPerKey = f.BatchProtectionBytesPerKey
	if f.RateLimitAutoWALFlush {
		wo.RateLimiterPriority = rocksdb.IOUser
	}
	var b operationBounds
	b.read = int(f.Readpercent)
	b.prefix = b.read + int(f.Prefixpercent)
	b.write = b.prefix + int(f.Writepercent)
	b.del = b.write + int(f.Delpercent)
	b.delRange = b.del + int(f.Delrangepercent)
	b.iterate = b.delRange + int(f.Iterpercent)
	perOpen := f.OpsPerThread / uint64(f.Reopen+1)
	t.stats.begin(f, s.tool.out)
	for open := 0; open <= int(f.Reopen); open++ {
		if t.shared.failed() || t.shared.shouldStopTest.Load() {
			break
		}
		if open > 0 {
			t.stats.finishedSingleOp()
			s.releaseAllSnapshots(t)
			s.voteReopen(t)
		}
		s.setWorkerFaults(t)
		s.operating.Add(1)
		s.setJobFaults(true)
		for i := uint64(0); i < perOpen && !t.shared.failed(); i++ {
			i = s.operation(t, &ro, &wo, &b, i, perOpen)
			t.stats.finishedSingleOp()
			s.tool.operations.Add(1)
		}
		if s.operating.Add(-1) == 0 {
			s.setJobFaults(false)
		}
	}
	s.releaseAllSnapshots(t)
	t.stats.stop()
}

// voteReopen waits until all workers want to reopen; the last of them does it.
func (s *stressTest) voteReopen(t *threadState) {
	sh := t.shared
	sh.mu.Lock()
	sh.mu.voteReopen++
	if sh.mu.voteReopen == sh.mu.threads {
		sh.mu.voteReopen = 0
		s.reopen(t)
		sh.mu.generation++
		sh.mu.cond.Broadcast()
		sh.mu.Unlock()
		return
	}
	for g := sh.mu.generation; sh.mu.generation == g && !sh.failed(); {
		sh.mu.cond.Wait()
	}
	sh.mu.Unlock()
}

// operation runs one operation after what comes once in a while, and gives the
// number of the last one it counts for.
func (s *stressTest) operation(t *threadState, ro *rocksdb.ReadOptions, wo *rocksdb.WriteOptions, b *operationBounds, i, perOpen uint64) uint64 {
	f := s.flags
	if t.rand.OneInOpt(int(f.SetOptionsOneIn)) {
		s.process("SetOptions", s.setOptions(t))
	}
	if t.tid == 0 && t.rand.OneInOpt(int(f.VerifyDBOneIn)) {
		s.mode.verifyWhileRunning(t.rand)
		if t.shared.failed() {
			return i
		}
	}
	s.openReadOnly(t)
	s.clearOneFamily(t)
	defer s.rlockFamilies()()
	s.walOperations(t)
	cf := int(t.rand.Next() % uint32(f.ColumnFamilies))
	if t.rand.OneInOpt(int(f.CompactFilesOneIn)) {
		s.compactFiles(t, cf)
	}
	key := s.generateOneKey(t, i)
	if t.rand.OneInOpt(int(f.CompactRangeOneIn)) {
		s.compactRange(t, key, cf)
		if t.shared.failed() {
			return i
		}
	}
	if t.rand.OneInOpt(int(f.PromoteL0OneIn)) {
		s.promoteL0(t, cf)
	}
	cfs := s.mode.families(cf)
	if t.rand.OneInOpt(int(f.FlushOneIn)) {
		s.flush(t, cfs)
	}
	s.metadataOperations(t)
	s.pausingOperations(t)
	s.verifyingOperations(t, ro)
	keys := []int64{key}
	if t.rand.OneInOpt(int(f.IngestExternalFileOneIn)) {
		s.mode.ingestFiles(t, cfs, keys)
	}
	if t.rand.OneInOpt(int(f.CheckpointOneIn)) {
		s.process("Checkpoint", s.unlessStopped(s.checkpoint(t, cfs, key)))
	}
	if t.rand.OneInOpt(int(f.ApproximateSizeOneIn)) {
		s.process("ApproximateSize", s.approximateSize(t, cf, key, i))
	}
	if t.rand.OneInOpt(int(f.AcquireSnapshotOneIn)) {
		s.acquireSnapshot(t, cf, s.tool.keys.key(key), i)
	}
	s.process("Snapshot", s.maybeReleaseSnapshots(t, i))
	ro.Timestamp = f.now()
	if t.rand.OneInOpt(int(f.KeyMayExistOneIn)) {
		s.mode.keyMayExist(t, ro, cf, key)
	}
	switch n := int(t.rand.Uniform(100)); {
	case n < b.read:
		i = s.read(t, ro, cfs, keys, i, perOpen)
	case n < b.prefix:
		s.mode.prefixScan(t, ro, cfs, keys)
	case n < b.write:
		s.mode.put(t, wo, cfs, keys)
	case n < b.del:
		s.mode.delete(t, wo, cfs, keys)
	case n < b.delRange:
		s.mode.deleteRange(t, wo, cfs, keys)
	case n < b.iterate:
		i = s.iterate(t, ro, cfs, keys, i, perOpen)
	}
	return i
}

// read reads a key, or several at once.
func (s *stressTest) read(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64, i, perOpen uint64) uint64 {
	f := s.flags
	several := s.mode.multiGet
	switch {
	case f.UseMultiGetEntity:
		several = s.mode.multiGetEntity
	case f.UseGetEntity:
		s.mode.getEntity(t, ro, cfs, keys)
		return i
	case !f.UseMultiget:
		s.mode.get(t, ro, cfs, keys)
		return i
	}
	n := max(int(min(uint64(t.rand.Uniform(64)), perOpen-i-1)), 1)
	several(t, ro, cfs, s.generateNKeys(t, n, i))
	return i + uint64(n-1)
}

func (s *stressTest) iterate(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64, i, perOpen uint64) uint64 {
	f := s.flags
	switch {
	case f.UseMultiscan:
		n := max(int(min(uint64(t.rand.Uniform(64)), perOpen-i-1)), 1)
		s.process("MultiScan", s.testMultiScan(t, ro, cfs, s.generateNKeys(t, 2*n, i)))
		return i + uint64(n-1)
	case !f.SkipVerifydb && t.rand.OneInOpt(int(f.VerifyIteratorWithExpectedStateOneIn)):
		s.mode.iterateAgainstExpected(t, ro, cfs, keys)
		return i
	}
	n := int(min(max(uint64(t.rand.Uniform(4)), 1), max(perOpen-i-1, 1)))
	s.process("Iterate", s.testIterate(t, ro, cfs, s.generateNKeys(t, n, i)))
	return i + uint64(n-1)
}

// walOperations are those on the log.
func (s *stressTest) walOperations(t *threadState) {
	f := s.flags
	if t.rand.OneInOpt(int(f.ManualWALFlushOneIn)) {
		sync := t.rand.OneIn(2)
		if err := s.db.FlushWAL(sync); err != nil && !isInjected(err) && !(sync && rocksdb.IsNotSupported(err)) && !s.dbStopped.Load() {
			s.abort("FlushWAL(sync=%v) failed: %v", sync, err)
		}
	}
	if t.rand.OneInOpt(int(f.LockWALOneIn)) {
		s.lockWAL(t)
	}
	if t.rand.OneInOpt(int(f.SyncWALOneIn)) {
		if err := s.db.SyncWAL(); err != nil && !rocksdb.IsNotSupported(err) && !isInjected(err) && !s.dbStopped.Load() {
			s.abort("SyncWAL() failed: %v", err)
		}
	}
}

// lockWAL checks that nothing is written while the log is locked.
func (s *stressTest) lockWAL(t *threadState) {
	if err := s.db.LockWAL(); err != nil {
		if !isInjected(err) && !s.dbStopped.Load() {
			s.abort("LockWAL() failed: %v", err)
		}
		return
	}
	seqno := s.db.GetLatestSequenceNumber()
	before, err := s.db.GetCurrentWalFile()
	if err == nil {
		for ok := true; ok; ok = t.rand.OneIn(2) {
			time.Sleep(10 * time.Microsecond)
		}
		var after rocksdb.LogFile
		if after, err = s.db.GetCurrentWalFile(); err == nil && (after.LogNumber != before.LogNumber || after.SizeFileBytes != before.SizeFileBytes) {
			s.abort("WAL %d of %d bytes changed to %d of %d bytes during LockWAL()", before.LogNumber, before.SizeFileBytes, after.LogNumber, after.SizeFileBytes)
		}
	}
	if err != nil && !isInjected(err) {
		s.abort("GetCurrentWalFile() failed: %v", err)
	}
	if now := s.db.GetLatestSequenceNumber(); now != seqno {
		s.abort("latest seqno changed from %d to %d with WAL locked", seqno, now)
	}
	if err := s.db.UnlockWAL(); err != nil {
		s.abort("UnlockWAL() failed: %v", err)
	}
}

// metadataOperations ask for lists of files.
func (s *stressTest) metadataOperations(t *threadState) {
	f := s.flags
	if t.rand.OneInOpt(int(f.GetLiveFilesApisOneIn)) {
		_, _, err := s.db.GetLiveFiles(true)
		s.process("GetLiveFiles", s.unlessStopped(err))
		s.db.GetLiveFilesMetaData()
		if f.RecycleLogFileNum == 0 {
			o := rocksdb.LiveFilesStorageInfoOptions{AtomicFlush: f.CheckpointAtomicFlush}
			_, err = s.db.GetLiveFilesStorageInfo(&o)
			s.process("GetLiveFilesStorageInfo", s.unlessStopped(err))
		}
	}
	if t.rand.OneInOpt(int(f.GetAllColumnFamilyMetadataOneIn)) {
		s.db.GetLiveFilesMetaData()
	}
	if t.rand.OneInOpt(int(f.GetSortedWALFilesOneIn)) {
		_, err := s.db.GetSortedWalFiles()
		s.process("GetSortedWalFiles", err)
	}
	if t.rand.OneInOpt(int(f.GetCurrentWALFileOneIn)) {
		_, err := s.db.GetCurrentWalFile()
		s.process("GetCurrentWalFile", err)
	}
	if t.rand.OneInOpt(int(f.ResetStatsOneIn)) {
		s.process("ResetStats", s.db.ResetStats())
	}
}

// unlessStopped is err, or nil after an error with data loss.
func (s *stressTest) unlessStopped(err error) error {
	if s.dbStopped.Load() {
		return nil
	}
	return err
}

// skewedSleep is mostly short, seldom up to 16 seconds.
func skewedSleep(t *threadState) {
	time.Sleep(time.Duration(1<<min(t.rand.Uniform(25), t.rand.Uniform(25))) * time.Microsecond)
}

// pausingOperations stop background work for a while.
func (s *stressTest) pausingOperations(t *threadState) {
	f := s.flags
	if t.rand.OneInOpt(int(f.PauseBackgroundOneIn)) {
		err := s.db.PauseBackgroundWork()
		if err == nil {
			skewedSleep(t)
			err = s.db.ContinueBackgroundWork()
		}
		s.process("Pause/ContinueBackgroundWork", err)
	}
	if t.rand.OneInOpt(int(f.DisableFileDeletionsOneIn)) {
		err := s.db.DisableFileDeletions()
		if err == nil {
			skewedSleep(t)
			err = s.db.EnableFileDeletions()
		}
		s.process("TestDisableFileDeletions", err)
	}
	if t.rand.OneInOpt(int(f.DisableManualCompactionOneIn)) {
		s.db.DisableManualCompaction()
		skewedSleep(t)
		s.db.EnableManualCompaction()
	}
	if t.rand.OneInOpt(int(f.AbortAndResumeCompactionsOneIn)) {
		s.db.AbortAllCompactions()
		skewedSleep(t)
		s.db.ResumeAllCompactions()
	}
}

// verifyingOperations check checksums and properties.
func (s *stressTest) verifyingOperations(t *threadState, ro *rocksdb.ReadOptions) {
	f := s.flags
	if t.rand.OneInOpt(int(f.VerifyChecksumOneIn)) {
		o := s.readOptions(t)
		s.process("VerifyChecksum", s.db.VerifyChecksum(&o))
	}
	if t.rand.OneInOpt(int(f.VerifyFileChecksumsOneIn)) && s.options.FileChecksumGenFactory != nil {
		s.process("VerifyFileChecksums", s.db.VerifyFileChecksums(ro))
	}
	if t.rand.OneInOpt(int(f.GetPropertyOneIn)) {
		s.testProperties(t)
	}
	if t.rand.OneInOpt(int(f.GetPropertiesOfAllTablesOneIn)) {
		_, err := s.db.GetPropertiesOfAllTables(nil)
		s.process("TestGetPropertiesOfAllTables", err)
	}
}

// testProperties asks for all properties that need no number.
func (s *stressTest) testProperties(t *threadState) {
	mayBeUnknown := map[string]bool{
		rocksdb.PropertyAggregatedTablePropertiesAtLevel: true, rocksdb.PropertyCompressionRatioAtLevelPrefix: true,
		rocksdb.PropertyNumFilesAtLevelPrefix: true, rocksdb.PropertyEstimateOldestKeyTime: true,
		rocksdb.PropertyOptionsStatistics: true, rocksdb.PropertyLiveSstFilesSizeAtTemperature: true,
		rocksdb.PropertyBlobCacheCapacity: true, rocksdb.PropertyBlobCacheUsage: true, rocksdb.PropertyBlobCachePinnedUsage: true,
	}
	for _, name := range db.PropertyNames() {
		if _, ok := s.db.GetProperty(nil, name); !ok && !mayBeUnknown[name] {
			s.abort("Failed to get DB property: %s", name)
		}
	}
	for level := range s.options.NumLevels {
		for _, prefix := range []string{rocksdb.PropertyAggregatedTablePropertiesAtLevel, rocksdb.PropertyCompressionRatioAtLevelPrefix, rocksdb.PropertyNumFilesAtLevelPrefix} {
			if _, ok := s.db.GetProperty(nil, prefix+strconv.Itoa(level)); !ok {
				s.abort("Failed to get DB property: %s%d", prefix, level)
			}
		}
	}
	if t.rand.OneIn(100) {
		if _, ok := s.db.GetProperty(nil, "rocksdb.invalid_property_name"); ok {
			s.abort("Failed to return false for invalid property name")
		}
	}
}

func (s *stressTest) flush(t *threadState, cfs []int) {
	if s.flags.AtomicFlush {
		s.process("Flush", s.unlessStopped(s.db.FlushFamilies(nil, s.handles())))
		return
	}
	for _, cf := range cfs {
		s.process("Flush", s.unlessStopped(s.db.Flush(nil, s.cf(cf))))
	}
}

// compactRange compacts a part of a family, and compares a snapshot of it
// before and after.
func (s *stressTest) compactRange(t *threadState, key int64, cf int) {
	f := s.flags
	end := int64(math.MaxInt64)
	if key <= math.MaxInt64-int64(f.CompactRangeWidth) {
		end = key + int64(f.CompactRangeWidth)
	}
	begin, limit := s.tool.keys.key(key), s.tool.keys.key(end)
	o := rocksdb.DefaultCompactRangeOptions()
	o.ExclusiveManualCompaction = t.rand.OneIn(2)
	if rocksdb.CompactionStyle(f.CompactionStyle) != rocksdb.CompactionStyleFIFO {
		o.ChangeLevel = t.rand.OneIn(2)
	}
	if t.rand.OneIn(2) {
		o.TargetLevel = int(t.rand.Uniform(s.options.NumLevels))
	}
	o.BottommostLevelCompaction = rocksdb.BottommostLevelCompaction(t.rand.Uniform(4))
	o.AllowWriteStall = t.rand.OneIn(2)
	o.MaxSubcompactions = t.rand.Uniform(4)
	var snap rocksdb.Snapshot
	var before uint32
	if t.rand.OneIn(2) {
		snap = s.db.GetSnapshot()
		before = s.rangeHash(t, snap, cf, begin, limit)
	}
	if err := s.db.CompactRange(&o, s.cf(cf), begin, limit); err != nil && !isTolerableCompactionFailure(err) && !s.dbStopped.Load() {
		s.abort("Unable to perform CompactRange(): %v under specified CompactRangeOptions: %+v", err, o)
	}
	if snap == nil {
		return
	}
	if after := s.rangeHash(t, snap, cf, begin, limit); after != before {
		t.stats.errors++
		s.abort("Data hash different before and after compact range start_key %X end_key %X under specified CompactRangeOptions: %+v", begin, limit, o)
	}
	s.releaseSnapshot(snap)
}

// promoteL0 is upstream's TestPromoteL0.
func (s *stressTest) promoteL0(t *threadState, cf int) {
	target := int(t.rand.Uniform(s.options.NumLevels))
	if err := s.db.PromoteL0(s.cf(cf), target); err != nil && rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument && !isTolerableCompactionFailure(err) && !s.dbStopped.Load() {
		s.abort("Unable to perform PromoteL0(): %v under specified target_level: %d.", err, target)
	}
}

func (s *stressTest) releaseSnapshot(snap rocksdb.Snapshot) {
	if err := s.db.ReleaseSnapshot(snap); err != nil {
		s.tool.terminate("ReleaseSnapshot: %v", err)
	}
}

// rangeHash sums keys, values and columns of a range; no errors are injected.
func (s *stressTest) rangeHash(t *threadState, snap rocksdb.Snapshot, cf int, begin, end []byte) uint32 {
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot, ro.TotalOrderSeek, ro.Timestamp = snap, true, s.flags.now()
	it := s.db.NewIterator(&ro, s.cf(cf))
	defer s.closeIterator(it)
	crc := uint32(0)
	add := func(p []byte) {
		crc = util.Crc32cExtend(crc, p)
		crc = util.Crc32cExtend(crc, []byte{';'})
	}
	for it.Seek(begin); it.Valid() && bytes.Compare(it.Key(), end) <= 0; it.Next() {
		add(it.Key())
		add(it.Value())
		for _, c := range it.Columns() {
			add(c.Name)
			add(c.Value)
		}
	}
	if err := it.Status(); err != nil {
		t.stats.errors++
		s.abort("Iterator non-OK when calculating range CRC: %v", err)
	}
	return crc
}

// acquireSnapshot takes a snapshot and reads a key of it, to be read again
// before it is released.
func (s *stressTest) acquireSnapshot(t *threadState, cf int, key []byte, i uint64) {
	f := s.flags
	ro := s.readOptions(t)
	snap := s.db.GetSnapshot()
	ro.Snapshot, ro.Timestamp = snap, f.now()
	value, err := s.get(&ro, cf, key)
	if isInjected(err) {
		s.releaseSnapshot(snap)
		return
	}
	h := heldSnapshot{snapshot: snap, cf: cf, cfName: s.cf(cf).GetName(), key: bytes.Clone(key), timestamp: ro.Timestamp, err: err, value: value}
	if f.CompareFullDBStateSnapshot && t.tid == 0 {
		h.keys = s.keysOfSnapshot(snap, ro.Timestamp)
	}
	hold := f.SnapshotHoldOps
	if f.LongRunningSnapshots && t.rand.OneIn(10) {
		hold *= 10
		if t.rand.OneIn(10) {
			hold *= 10
		}
	}
	h.releaseAt = min(f.OpsPerThread-1, i+hold)
	t.snapshots = append(t.snapshots, h)
}

// keysOfSnapshot tells of each key whether the default family has it.
func (s *stressTest) keysOfSnapshot(snap rocksdb.Snapshot, timestamp []byte) []bool {
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot, ro.TotalOrderSeek, ro.Timestamp = snap, true, timestamp
	it := s.db.NewIterator(&ro, s.cf(0))
	defer s.closeIterator(it)
	keys := make([]bool, s.flags.MaxKey)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if n, ok := s.tool.keys.intVal(it.Key()); ok && n < uint64(len(keys)) {
			keys[n] = true
		}
	}
	return keys
}

func (s *stressTest) releaseAllSnapshots(t *threadState) {
	for i := range t.snapshots {
		s.releaseSnapshot(t.snapshots[i].snapshot)
	}
	t.snapshots = nil
}

func (s *stressTest) maybeReleaseSnapshots(t *threadState, i uint64) (err error) {
	for err == nil && len(t.snapshots) > 0 && i >= t.snapshots[0].releaseAt {
		err = s.assertSame(&t.snapshots[0])
		s.releaseSnapshot(t.snapshots[0].snapshot)
		t.snapshots = t.snapshots[1:]
	}
	return err
}

// assertSame reads what was read when the snapshot was taken.
func (s *stressTest) assertSame(h *heldSnapshot) error {
	if s.cf(h.cf).GetName() != h.cfName {
		return nil // dropped since
	}
	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot, ro.Timestamp = h.snapshot, h.timestamp
	value, err := s.get(&ro, h.cf, h.key)
	if rocksdb.CodeOf(err) == rocksdb.CodeInvalidArgument && s.flags.stamped() && !s.flags.PersistUserDefinedTimestamps {
		return nil // the versions are gone with a flush
	}
	if err != nil && !rocksdb.IsNotFound(err) {
		return err
	}
	if (err == nil) != (h.err == nil) {
		return rocksdb.Corruption(fmt.Sprintf("The snapshot gave inconsistent results for key %X in cf %s: (%v) vs. (%v)", h.key, h.cfName, h.err, err))
	}
	if !bytes.Equal(value, h.value) {
		return rocksdb.Corruption(fmt.Sprintf("The snapshot gave inconsistent values: (%X) vs. (%X)", h.value, value))
	}
	if h.keys != nil && !slices.Equal(h.keys, s.keysOfSnapshot(h.snapshot, h.timestamp)) {
		return rocksdb.Corruption("Found inconsistent keys at this snapshot")
	}
	return nil
}

// openReadOnly opens the database once more, to read only, and closes it: that
// must not delete files of the one that writes.
func (s *stressTest) openReadOnly(t *threadState) {
	f := s.flags
	if f.OpenReadOnlyOneIn <= 0 || t.tid != 0 || !t.rand.OneIn(int(f.OpenReadOnlyOneIn)) {
		return
	}
	defer s.rlockFamilies()()
	if err := s.tool.openAndClose(s); err != nil {
		return // files go while it opens
	}
	s.process("Flush read-only-primary", s.unlessStopped(s.db.FlushFamilies(nil, s.handles())))
}

// buildOptionsTable lists the values that SetOptions chooses from.
func (s *stressTest) buildOptionsTable() {
	f, o := s.flags, &s.options
	if f.SetOptionsOneIn <= 0 {
		return
	}
	times := func(n uint64, by ...uint64) (values []string) {
		for _, m := range by {
			values = append(values, strconv.FormatUint(n*m, 10))
		}
		return values
	}
	plus := func(n int, by ...int) (values []string) {
		for _, m := range by {
			values = append(values, strconv.Itoa(n+m))
		}
		return values
	}
	ribbonOnly := f.BloomBeforeLevel != math.MaxInt32
	filters := []string{"{filter_policy=bloomfilter:2.34}", "{filter_policy=ribbonfilter:5.67:-1}", "{filter_policy=nullptr}"}
	if ribbonOnly {
		filters = []string{"{filter_policy=ribbonfilter:2.35}", "{filter_policy=ribbonfilter:5.67:-1}", "{filter_policy=ribbonfilter:8.9:3}"}
	}
	m := map[string][]string{
		"write_buffer_size":              times(o.WriteBufferSize, 1, 2, 4),
		"max_write_buffer_number":        times(uint64(o.MaxWriteBufferNumber), 1, 2, 4),
		"arena_block_size":               {strconv.FormatUint(o.ArenaBlockSize, 10), strconv.FormatUint(o.WriteBufferSize/4, 10), strconv.FormatUint(o.WriteBufferSize/8, 10)},
		"memtable_huge_page_size":        {"0", "2097152"},
		"strict_max_successive_merges":   {"false", "true"},
		"inplace_update_num_locks":       {"100", "200", "300"},
		"max_compaction_bytes":           times(o.TargetFileSizeBase, 5, 15, 100),
		"target_file_size_base":          times(o.TargetFileSizeBase, 1, 2, 4),
		"target_file_size_multiplier":    {strconv.Itoa(o.TargetFileSizeMultiplier), "1", "2"},
		"max_bytes_for_level_base":       {strconv.FormatUint(o.MaxBytesForLevelBase/2, 10), strconv.FormatUint(o.MaxBytesForLevelBase, 10), strconv.FormatUint(o.MaxBytesForLevelBase*2, 10)},
		"max_bytes_for_level_multiplier": {strconv.FormatFloat(o.MaxBytesForLevelMultiplier, 'f', -1, 64), "1", "2"},
		"block_based_table_factory": append(filters, "{block_size="+strconv.Itoa(int(f.BlockSize))+"}",
			"{block_size="+strconv.Itoa(int(f.BlockSize)+int(f.Seed&0xfff))+"}"),
		"max_successive_merges":              {"0", "2", "4"},
		"level0_file_num_compaction_trigger": plus(o.Level0FileNumCompactionTrigger, 0, 2, 4),
		"level0_slowdown_writes_trigger":     plus(o.Level0SlowdownWritesTrigger, 0, 2, 4),
		"level0_stop_writes_trigger":         plus(o.Level0StopWritesTrigger, 0, 2, 4),
	}
	if !f.UseMultiscan {
		m["max_sequential_skip_in_iterations"] = []string{"4", "8", "12"}
	}
	if f.AllowSettingBlobOptionsDynamically {
		maps.Copy(m, map[string][]string{
			"enable_blob_files": {"false", "true"}, "min_blob_size": {"0", "8", "16"}, "blob_file_size": {"1M", "16M", "256M", "1G"},
			"blob_compression_type":                   {"kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD"},
			"enable_blob_garbage_collection":          {"false", "true"},
			"blob_garbage_collection_age_cutoff":      {"0.0", "0.25", "0.5", "0.75", "1.0"},
			"blob_garbage_collection_force_threshold": {"0.5", "0.75", "1.0"},
			"blob_file_starting_level":                {"0", "1", "2"}, "prepopulate_blob_cache": {"kDisable", "kFlushOnly"},
		})
	}
	if limit := int(f.UniversalMaxReadAmp); f.CompactionStyle == 1 && limit > 0 {
		// The trigger is at most max_read_amp.
		n := o.Level0FileNumCompactionTrigger
		m["level0_file_num_compaction_trigger"] = plus(0, n, min(n+2, limit), min(n+4, limit))
	}
	if ribbonOnly {
		m["table_factory.filter_policy.bloom_before_level"] = []string{"-1", "0", "1", "2", "2147483646", "2147483647"}
	}
	if f.FileTemperatureAgeThresholds != "" {
		m["compaction_options_fifo.file_temperature_age_thresholds"] = []string{
			"{{temperature=kWarm;age=10}:{temperature=kCool;age=30}:{temperature=kCold;age=100}:{temperature=kIce;age=300}}",
			"{{temperature=kWarm;age=30}:{temperature=kCold;age=300}}", "{{temperature=kCold;age=100}}", "{}"}
		m["compaction_options_fifo.allow_trivial_copy_when_change_temperature"] = []string{strconv.FormatBool(f.AllowTrivialCopyWhenChangeTemperature)}
	}
	// -1 begins with nothing kept out of the last level, and may change that.
	if f.PrecludeLastLevelDataSeconds != 0 {
		m["preclude_last_level_data_seconds"] = []string{"0", "5", "30", "5000"}
	}
	m["preserve_internal_time_seconds"] = []string{"0", "5", "30", "5000"}
	s.optionValues = m
	s.optionNames = slices.Sorted(maps.Keys(m))
}

// setOptions changes an option of a family.
func (s *stressTest) setOptions(t *threadState) error {
	name := s.optionNames[t.rand.Uniform(len(s.optionNames))]
	values := s.optionValues[name]
	at := int(t.rand.Uniform(len(values)))
	change := map[string]string{name: values[at]}
	triggers := []string{"level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger"}
	if slices.Contains(triggers, name) {
		for _, n := range triggers {
			change[n] = s.optionValues[n][at]
		}
	}
	defer s.rlockFamilies()()
	return s.unlessStopped(s.db.SetOptions(s.cf(int(t.rand.Uniform(len(s.cfs)))), change))
}

// boundaryKeys are near the ends of table files, nil when there are none.
func (s *stressTest) boundaryKeys(t *threadState, cf, n int) (keys [][]byte) {
	name := s.cf(cf).GetName()
	var ends [][]byte
	for _, m := range s.db.GetLiveFilesMetaData() {
		if m.ColumnFamilyName == name {
			ends = append(ends, s.flags.stripTimestamp(m.SmallestKey), s.flags.stripTimestamp(m.LargestKey))
		}
	}
	if len(ends) == 0 {
		return nil
	}
	sort.Slice(ends, func(i, j int) bool { return bytes.Compare(ends[i], ends[j]) < 0 })
	for range n {
		k := bytes.Clone(ends[t.rand.Uniform(len(ends))])
		if t.rand.OneIn(3) {
			for i := len(k) - 1; i >= 0; i-- {
				if k[i]--; k[i] != 0xff {
					break
				}
			}
		} else if t.rand.OneIn(2) {
			for i := len(k) - 1; i >= 0; i-- {
				if k[i]++; k[i] != 0 {
					break
				}
			}
		}
		keys = append(keys, k)
	}
	return keys
}
