// Port of db/version_set.cc, VersionSet::ProcessManifestWrites and
// WriteCurrentStateToManifest. Differs: see version_set_manifest.go.

package db

import (
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/killpoint"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// referencedVersionBuilder keeps the version that its edits apply to.
type referencedVersionBuilder struct {
	*VersionBuilder
	base *Version
}

// newReferencedVersionBuilder builds upon the family's current version. With a
// verifier it tracks which files exist.
func (vs *VersionSet) newReferencedVersionBuilder(cfd *ColumnFamilyData, verifier fileVerifier, allowIncomplete bool) *referencedVersionBuilder {
	return vs.newVersionBuilderOn(cfd.Current(), cfd, verifier, allowIncomplete)
}

func (vs *VersionSet) newVersionBuilderOn(base *Version, cfd *ColumnFamilyData, verifier fileVerifier, allowIncomplete bool) *referencedVersionBuilder {
	base.Ref()
	return &referencedVersionBuilder{base: base, VersionBuilder: NewVersionBuilder(VersionBuilderOptions{
		FileOptions: vs.fileOptions, IOptions: cfd.IOptions(), TableCache: cfd.TableCache(), Base: base.storage,
		VersionSet: vs, CFD: cfd, fileMetadataCacheResMgr: vs.metadataCharges[cfd.GetID()],
		verifier: verifier, allowIncompleteValidVersion: allowIncomplete,
	})}
}

// close gives everything back; the DB mutex is held.
func (b *referencedVersionBuilder) close() {
	b.VersionBuilder.Close()
	b.base.Unref()
}

// manifestBatch is one write of the MANIFEST on its way.
type manifestBatch struct {
	vs *VersionSet
	x  *manifestWrite

	edits           []*version.VersionEdit
	tsSizes         []int // of each edit's family
	versions        []*Version
	builders        []*referencedVersionBuilder // of each version
	last            *manifestWriter             // the last one taken from the queue
	maxLastSequence rocksdb.SequenceNumber
	maxThreads      int
	cfManipulation  bool
	skipWrite       bool // the edit is a dummy that only waits its turn
	newLog          bool

	// A copy of what may change while the mutex is released.
	state           []familyState
	walAdditions    version.VersionEdit
	oldManifestSize uint64
	newManifestSize uint64
	newWriter       *wal.Writer

	ioErr       error // the last outcome of file operations
	manifestErr error // of operations on the MANIFEST itself, without CURRENT
	quarantined []uint64
}

// familyState is a family and what may change of it. A family that goes while the
// mutex is released was dropped before.
type familyState struct {
	cfd              *ColumnFamilyData
	logNumber        uint64
	fullHistoryTsLow string
}

// processManifestWrites writes the edits of the queue's front, and of those
// behind it that can go with it.
func (vs *VersionSet) processManifestWrites(x *manifestWrite) error {
	b := &manifestBatch{vs: vs, x: x, last: x.writers[0], maxThreads: 1, maxLastSequence: vs.descriptorLastSequence}
	first := x.writers[0].edits[0]
	b.cfManipulation = first.IsColumnFamilyManipulation()
	b.skipWrite = first.IsNoManifestWriteDummy()
	err := b.collect()
	if err == nil {
		b.prepare()
		if b.skipWrite {
			for _, v := range b.versions {
				v.PrepareAppend(x.readOptions, true)
			}
		} else {
			fo := vs.fileOptionsForManifestWrite()
			x.mu.Unlock()
			err = b.write(&fo)
			if first.IsColumnFamilyDrop() {
				syncpoint.Process("VersionSet::LogAndApply::ColumnFamilyDrop:0")
				syncpoint.Process("VersionSet::LogAndApply::ColumnFamilyDrop:1")
				syncpoint.Process("VersionSet::LogAndApply::ColumnFamilyDrop:2")
			}
			logging.Flush(vs.dbOptions.Logger)
			syncpoint.Process("VersionSet::LogAndApply:WriteManifestDone")
			x.mu.Lock()
		}
		err = b.finish(err)
	} else {
		for _, v := range b.versions {
			v.release()
		}
	}
	vs.pendingManifestFileNumber = 0
	for _, builder := range b.builders {
		builder.close()
	}
	b.wake(err)
	return err
}

// collect groups edits and applies them to new versions.
func (b *manifestBatch) collect() error {
	first := b.x.writers[0]
	if b.cfManipulation { // never grouped
		b.vs.prepareCFEdit(first.edits[0], b.maxLastSequence)
		b.addEdit(first.edits[0], 0)
		return nil
	}
	groupStart := -1
	for _, w := range b.vs.manifestWriters {
		if w != first {
			next := w.edits[0]
			if b.skipWrite || next.IsColumnFamilyManipulation() || next.IsNoManifestWriteDummy() {
				break
			}
		}
		b.last = w
		b.maxThreads = max(b.maxThreads, w.maxThreads)
		if w.cfd.IsDropped() {
			b.leaveOutDropped(w, groupStart)
			continue
		}
		builder := b.builderOf(w)
		tsSize := w.cfd.UserComparator().TimestampSize()
		for _, e := range w.edits {
			if !e.IsInAtomicGroup() {
				groupStart = -1
			} else if n := len(b.edits); n == 0 || !b.edits[n-1].IsInAtomicGroup() || b.edits[n-1].GetRemainingEntries() == 0 {
				groupStart = n
			}
			if err := b.vs.applyEdit(builder, e, &b.maxLastSequence); err != nil {
				return err
			}
			b.addEdit(e, tsSize)
		}
	}
	for i, v := range b.versions {
		if err := b.builders[i].SaveTo(v.storage); err != nil {
			return err
		}
	}
	return nil
}

func (b *manifestBatch) addEdit(e *version.VersionEdit, tsSize int) {
	b.edits = append(b.edits, e)
	b.tsSizes = append(b.tsSizes, tsSize)
}

// leaveOutDropped skips the edits of a dropped family. If they belong to an
// atomic group that has begun, the records before them must not wait for them.
func (b *manifestBatch) leaveOutDropped(w *manifestWriter, groupStart int) {
	n := len(b.edits)
	if n == 0 || groupStart < 0 || !b.edits[n-1].IsInAtomicGroup() || b.edits[n-1].GetRemainingEntries() == 0 {
		return
	}
	k := uint32(0)
	for _, e := range w.edits {
		if !e.IsInAtomicGroup() {
			break
		}
		k++
		if e.GetRemainingEntries() == 0 {
			break
		}
	}
	for _, e := range b.edits[groupStart:] {
		e.SetRemainingEntries(e.GetRemainingEntries() - k)
	}
}

// builderOf gives the builder of w's family; nil for edits of WALs, which make
// no version.
func (b *manifestBatch) builderOf(w *manifestWriter) *referencedVersionBuilder {
	for i, v := range b.versions {
		if v.cfd.GetID() == w.cfd.GetID() {
			id := w.cfd.GetID()
			syncpoint.ProcessArg("VersionSet::ProcessManifestWrites:SameColumnFamily", &id)
			return b.builders[i]
		}
	}
	if w.isAllWalEdits() {
		return nil
	}
	v := newVersion(w.cfd, b.vs, w.cfd.GetLatestMutableCFOptions(), b.vs.takeVersionNumber(), version.EpochNumberMustPresent)
	builder := b.vs.newReferencedVersionBuilder(w.cfd, nil, false)
	b.versions = append(b.versions, v)
	b.builders = append(b.builders, builder)
	syncpoint.ProcessArg("VersionSet::ProcessManifestWrites:NewVersion", v)
	return builder
}

// prepareCFEdit completes an edit that adds or drops a family.
// Upstream: VersionSet::LogAndApplyCFHelper.
func (vs *VersionSet) prepareCFEdit(e *version.VersionEdit, maxLastSequence rocksdb.SequenceNumber) {
	e.SetNextFile(vs.nextFileNumber.Load())
	e.SetLastSequence(maxLastSequence)
	if e.IsColumnFamilyDrop() {
		// The id must not be given out again.
		e.SetMaxColumnFamily(vs.cfs.GetMaxColumnFamily())
	}
}

// applyEdit completes an edit and applies it. The last sequences of records
// must not fall.
func (vs *VersionSet) applyEdit(builder *referencedVersionBuilder, e *version.VersionEdit, maxLastSequence *rocksdb.SequenceNumber) error {
	if !e.HasPrevLogNumber() {
		e.SetPrevLogNumber(vs.prevLogNumber)
	}
	e.SetNextFile(vs.nextFileNumber.Load())
	if e.HasLastSequence() && e.GetLastSequence() > *maxLastSequence {
		*maxLastSequence = e.GetLastSequence()
	} else {
		e.SetLastSequence(*maxLastSequence)
	}
	if builder == nil {
		return nil
	}
	return builder.Apply(e)
}

// prepare decides whether to start a new MANIFEST and copies what that needs.
func (b *manifestBatch) prepare() {
	vs := b.vs
	b.oldManifestSize = vs.manifestFileSize
	// A user's call may find the MANIFEST a quarter larger, so that background
	// work, which can wait, is more likely to have to rewrite it.
	limit := vs.tunedMaxManifestFileSize
	if slices.ContainsFunc(b.edits, (*version.VersionEdit).IsForegroundOperation) {
		limit = max(limit, limit+limit/4)
	}
	b.newLog = b.x.newDescriptorLog
	if !b.skipWrite && (vs.descriptorLog == nil || b.oldManifestSize >= limit) {
		syncpoint.Process("VersionSet::ProcessManifestWrites:BeforeNewManifest")
		b.newLog = true
	} else {
		vs.pendingManifestFileNumber = vs.manifestFileNumber
	}
	if b.skipWrite {
		b.newLog = false
	}
	if !b.newLog || len(b.edits) == 0 {
		return
	}
	vs.pendingManifestFileNumber = vs.NewFileNumber()
	b.edits[len(b.edits)-1].SetNextFile(vs.nextFileNumber.Load())
	if id := vs.cfs.GetMaxColumnFamily(); id > 0 {
		b.x.writers[0].edits[0].SetMaxColumnFamily(id)
	}
	for _, cfd := range vs.cfs.All() {
		b.state = append(b.state, familyState{cfd, cfd.GetLogNumber(), string(cfd.GetFullHistoryTsLow())})
	}
	for _, w := range vs.wals.GetWals() {
		b.walAdditions.AddWal(w.GetLogNumber(), w.GetMetadata())
	}
}

// write does all file operations, with the mutex released. Only the front of
// the queue gets here, so that the MANIFEST is its own.
func (b *manifestBatch) write(fo *rocksdb.FileOptions) error {
	syncpoint.Process("VersionSet::LogAndApply:WriteManifestStart")
	syncpoint.Process("VersionSet::LogAndApply:WriteManifest")
	vs := b.vs
	if err := b.loadTables(); err != nil {
		return err
	}
	log := vs.descriptorLog
	if b.newLog {
		if err := b.startManifest(fo); err != nil {
			return err
		}
		log = b.newWriter
	}
	if !b.cfManipulation {
		for _, v := range b.versions {
			v.PrepareAppend(b.x.readOptions, true)
		}
	}
	if err := b.appendEdits(log); err != nil {
		return err
	}
	b.ioErr = file.SyncManifest(vs.clock, vs.dbOptions.Stats, vs.dbOptions.UseFsync, b.x.writeOptions, log.File())
	syncpoint.ProcessArg("VersionSet::ProcessManifestWrites:AfterSyncManifest", &b.ioErr)
	b.manifestErr = b.ioErr
	if b.ioErr != nil {
		logging.Error(vs.dbOptions.Logger, "MANIFEST write %v\n", b.ioErr)
		return b.ioErr
	}
	if b.newLog {
		b.ioErr = file.SetCurrentFile(b.x.writeOptions, vs.fs, vs.dbname, vs.pendingManifestFileNumber, vs.fileOptions.Temperature, b.x.dir)
		syncpoint.ProcessArg("VersionSet::ProcessManifestWrites:AfterSetCurrentFile", &b.ioErr)
		if b.ioErr != nil {
			// CURRENT may name either; neither must go.
			b.quarantined = append(b.quarantined, vs.manifestFileNumber)
			return b.ioErr
		}
	}
	b.newManifestSize = log.File().GetFileSize()
	if b.newLog {
		logging.Info(vs.dbOptions.Logger, "Created manifest %d, compacted+appended from %d to %d\n",
			vs.pendingManifestFileNumber, b.oldManifestSize, b.newManifestSize)
	}
	if b.x.writers[0].edits[0].IsColumnFamilyDrop() {
		syncpoint.Process("VersionSet::LogAndApply::ColumnFamilyDrop:0")
		syncpoint.Process("VersionSet::LogAndApply::ColumnFamilyDrop:1")
		syncpoint.Process("VersionSet::LogAndApply::ColumnFamilyDrop:2")
	}
	return nil
}

func (b *manifestBatch) loadTables() error {
	if b.cfManipulation {
		return nil
	}
	for i, v := range b.versions {
		err := b.builders[i].LoadTableHandlers(LoadTableHandlersOptions{
			MaxThreads: b.maxThreads, PrefetchIndexAndFilterInCache: true, MutableCFOptions: v.mutableCFOptions,
			MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(v.mutableCFOptions),
			ReadOptions:             b.x.readOptions, InternalStats: v.cfd.InternalStats(),
		})
		if err != nil && b.vs.dbOptions.ParanoidChecks {
			return err
		}
	}
	return nil
}

// startManifest creates a MANIFEST with the state before the edits.
func (b *manifestBatch) startManifest(fo *rocksdb.FileOptions) error {
	vs := b.vs
	name := vs.manifestName(vs.pendingManifestFileNumber)
	f, err := vs.fs.NewWritableFile(name, fo)
	if err == nil {
		b.newWriter = vs.createManifestWriter(f, name, fo, 0)
		err = vs.writeCurrentStateToManifest(b, b.newWriter)
	}
	b.ioErr, b.manifestErr = err, err
	return err
}

func (b *manifestBatch) ioOptions() *rocksdb.IOOptions {
	opts := rocksdb.DefaultIOOptions()
	file.PrepareIOFromWriteOptions(b.x.writeOptions, &opts)
	return &opts
}

func (b *manifestBatch) appendEdits(log *wal.Writer) error {
	opts := b.ioOptions()
	var record []byte
	for i, e := range b.edits {
		b.quarantined = append(b.quarantined, e.GetFilesToQuarantineIfCommitFail()...)
		var ok bool
		if record, ok = e.EncodeTo(record[:0], b.tsSizes[i]); !ok {
			return rocksdb.Corruption("Unable to encode VersionEdit:" + e.DebugString(true))
		}
		killpoint.RandomWithWeight("VersionSet::LogAndApply:BeforeAddRecord", killpoint.ReduceOdds2)
		if len(b.edits) > 1 && i == len(b.edits)-1 {
			syncpoint.Process("VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:0")
			syncpoint.Process("VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:1")
		}
		syncpoint.Process("VersionSet::ProcessManifestWrites:AddRecord")
		if b.ioErr = log.AddRecord(opts, record, 0); b.ioErr != nil {
			b.manifestErr = b.ioErr
			logging.Error(b.vs.dbOptions.Logger, "MANIFEST write %v\n", b.ioErr)
			return b.ioErr
		}
	}
	return nil
}

// finish puts the outcome into force, with the mutex held.
func (b *manifestBatch) finish(err error) error {
	vs := b.vs
	if err == nil {
		err = b.applyWalEdits()
	}
	if b.ioErr != nil {
		if vs.ioStatus == nil {
			vs.ioStatus = b.ioErr
			if vs.quarantine != nil {
				vs.quarantine.AddFilesToQuarantine(b.quarantined)
			}
		}
	} else if vs.ioStatus != nil {
		vs.ioStatus = nil
		if vs.quarantine != nil {
			vs.quarantine.ClearFilesToQuarantine()
		}
	}
	if err != nil {
		b.fail(err)
		return err
	}
	if b.newLog {
		old := vs.descriptorLog
		vs.descriptorLog, b.newWriter = b.newWriter, nil
		if old != nil {
			_ = old.Close(nil) // superseded: CURRENT names another
		}
		vs.obsoleteManifests = append(vs.obsoleteManifests, filename.DescriptorFileBaseName(vs.manifestFileNumber))
		vs.lastCompactedManifestSize = b.newManifestSize
		vs.tuneMaxManifestFileSize()
	}
	b.install()
	if !b.skipWrite {
		vs.descriptorLastSequence = b.maxLastSequence
		vs.manifestFileNumber = vs.pendingManifestFileNumber
		vs.manifestFileSize = b.newManifestSize
		vs.prevLogNumber = b.x.writers[0].edits[0].GetPrevLogNumber()
	}
	return nil
}

func (b *manifestBatch) applyWalEdits() error {
	for _, e := range b.edits {
		var err error
		if e.IsWalAddition() {
			err = b.vs.wals.AddWals(e.GetWalAdditions())
		} else if e.IsWalDeletion() {
			err = b.vs.wals.DeleteWalsBefore(e.GetWalDeletion().GetLogNumber())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// install makes the new versions current, or adds or drops the family.
func (b *manifestBatch) install() {
	vs, w := b.vs, b.x.writers[0]
	switch {
	case w.edits[0].IsColumnFamilyAdd():
		vs.createColumnFamily(b.x.newCFOptions, b.x.readOptions, w.edits[0], false)
		return
	case w.edits[0].IsColumnFamilyDrop():
		vs.dropColumnFamily(w.cfd)
		return
	}
	var minLog uint64
	for _, e := range b.edits {
		if cfd := vs.cfs.GetColumnFamily(e.GetColumnFamily()); cfd != nil {
			if e.HasLogNumber() && e.GetLogNumber() > cfd.GetLogNumber() {
				cfd.SetLogNumber(e.GetLogNumber())
			}
			if e.HasFullHistoryTsLow() {
				cfd.SetFullHistoryTsLow([]byte(e.GetFullHistoryTsLow()))
			}
		}
		if e.HasMinLogNumberToKeep() {
			minLog = max(minLog, e.GetMinLogNumberToKeep())
		}
	}
	if minLog != 0 {
		vs.MarkMinLogNumberToKeep(minLog)
	}
	for _, v := range b.versions {
		vs.appendVersion(v.cfd, v)
	}
}

// fail throws the new versions away. The next write starts a new MANIFEST: the
// present one may end in half a record. The one that was started is deleted
// only if it could not be written: once it was complete, CURRENT may name it,
// whatever the rename reported.
func (b *manifestBatch) fail(err error) {
	vs := b.vs
	var text strings.Builder
	for _, e := range b.edits {
		text.WriteString("\n" + e.DebugString(true))
	}
	logging.Error(vs.dbOptions.Logger, "Error in committing version edit to MANIFEST: %s", text.String())
	for _, v := range b.versions {
		v.release()
	}
	for _, log := range []*wal.Writer{vs.descriptorLog, b.newWriter} {
		if log != nil {
			_ = log.Close(nil) // the first error counts
		}
	}
	vs.descriptorLog, b.newWriter = nil, nil
	if b.manifestErr == nil || !b.newLog {
		return
	}
	logging.Info(vs.dbOptions.Logger, "Deleting manifest %d current manifest %d\n", vs.pendingManifestFileNumber, vs.manifestFileNumber)
	if err := vs.fs.DeleteFile(vs.manifestName(vs.pendingManifestFileNumber), nil); err != nil {
		logging.Warn(vs.dbOptions.Logger, "Failed to delete manifest %d: %v", vs.pendingManifestFileNumber, err)
	}
}

// wake takes the writers of the batch off the queue and tells them.
func (b *manifestBatch) wake(err error) {
	vs := b.vs
	for {
		ready := vs.manifestWriters[0]
		vs.manifestWriters[0] = nil
		vs.manifestWriters = vs.manifestWriters[1:]
		ready.err, ready.done = err, true
		if ready.callback != nil {
			ready.callback(err)
		}
		if !slices.Contains(b.x.writers, ready) {
			ready.cond.Signal()
		}
		if ready == b.last {
			break
		}
	}
	vs.WakeUpWaitingManifestWriters()
}

// writeCurrentStateToManifest writes the database's id, the WALs and, of each
// family, its name and all of its files. The mutex is not held: families come
// and go only through the queue of writers, whose front this is.
func (vs *VersionSet) writeCurrentStateToManifest(b *manifestBatch, log *wal.Writer) error {
	opts := b.ioOptions()
	var record []byte
	add := func(e *version.VersionEdit, tsSize int) error {
		var ok bool
		if record, ok = e.EncodeTo(record[:0], tsSize); !ok {
			return rocksdb.Corruption("Unable to Encode VersionEdit:" + e.DebugString(true))
		}
		return log.AddRecord(opts, record, 0)
	}
	if vs.dbOptions.WriteDBIDToManifest {
		var e version.VersionEdit
		e.SetDBId(vs.dbID)
		if err := add(&e, 0); err != nil {
			return err
		}
	}
	if len(b.walAdditions.GetWalAdditions()) > 0 {
		syncpoint.ProcessArg("VersionSet::WriteCurrentStateToManifest:SaveWal", &b.walAdditions)
		if err := add(&b.walAdditions, 0); err != nil {
			return err
		}
	}
	// Without this record an addition that comes late, of a WAL deleted since,
	// would stand.
	var deletions version.VersionEdit
	deletions.DeleteWalsBefore(vs.MinLogNumberToKeep())
	if err := add(&deletions, 0); err != nil {
		return err
	}
	for _, state := range b.state {
		cfd := state.cfd
		if cfd.IsDropped() {
			continue
		}
		var e version.VersionEdit
		if cfd.GetID() != 0 { // the default family is always there
			e.AddColumnFamily(cfd.GetName())
			e.SetColumnFamily(cfd.GetID())
		}
		e.SetComparatorName(cfd.UserComparator().Name())
		e.SetPersistUserDefinedTimestamps(cfd.IOptions().PersistUserDefinedTimestamps)
		if err := add(&e, 0); err != nil {
			return err
		}
		if err := add(vs.currentFiles(state), cfd.UserComparator().TimestampSize()); err != nil {
			return err
		}
	}
	// The size so far, with about what this record adds, tells a later opening
	// how far the MANIFEST may grow.
	const recordSize = 15
	var e version.VersionEdit
	e.SetLastCompactedManifestFileSize(log.File().GetFileSize() + recordSize)
	return add(&e, 0)
}

// currentFiles is an edit with all of a family's files.
func (vs *VersionSet) currentFiles(state familyState) *version.VersionEdit {
	cfd := state.cfd
	e := new(version.VersionEdit)
	e.SetColumnFamily(cfd.GetID())
	storage := cfd.Current().storage
	for level := range storage.NumLevels() {
		for _, f := range storage.LevelFiles(level) {
			e.AddInstalledFile(level, f)
		}
	}
	e.SetCompactCursors(storage.GetCompactCursors())
	for _, m := range storage.GetBlobFiles() {
		e.AddBlobFile(blobformat.NewBlobFileAddition(m.GetBlobFileNumber(), m.GetTotalBlobCount(), m.GetTotalBlobBytes(),
			m.GetChecksumMethod(), m.GetChecksumValue()))
		if m.GetGarbageBlobCount() > 0 {
			e.AddBlobFileGarbage(blobformat.NewBlobFileGarbage(m.GetBlobFileNumber(), m.GetGarbageBlobCount(), m.GetGarbageBlobBytes()))
		}
	}
	e.SetLogNumber(state.logNumber)
	if cfd.GetID() == 0 {
		// It is the whole database's; the default family is never dropped.
		if n := vs.MinLogNumberToKeep(); n != 0 {
			e.SetMinLogNumberToKeep(n)
		}
	}
	if state.fullHistoryTsLow != "" {
		e.SetFullHistoryTsLow(state.fullHistoryTsLow)
	}
	e.SetLastSequence(vs.descriptorLastSequence)
	return e
}
