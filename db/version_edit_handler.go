// Port of db/version_edit_handler.{h,cc}, the handler of a recovery. Differs:
// what upstream overrides in derived classes is an interface of hooks;
// corruptions keep file and offset; a MANIFEST that goes on after a record that
// cannot be read is a corruption even where that record looks cut short.

package db

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// editApplier takes in the edits of a MANIFEST, one by one; those of an atomic
// group only once it is complete.
type editApplier interface {
	initialize() error
	applyVersionEdit(e *version.VersionEdit) error
	onAtomicGroupReplayBegin() error
	onAtomicGroupReplayEnd() error
	// checkIterationResult is called at the end, with the error so far.
	checkIterationResult(r manifestReader, err error) error
}

// manifestReader is a wal.Reader of a MANIFEST, or a FragmentBufferedReader of
// one that is still being written.
type manifestReader interface {
	ReadRecord(mode rocksdb.WALRecoveryMode) (record []byte, ok bool)
	LastRecordOffset() uint64
	LastRecordEnd() uint64
	GetReadOffset() uint64
	File() *file.SequentialFileReader
}

// editIterator replays a MANIFEST.
type editIterator struct {
	readBuffer AtomicGroupReadBuffer
	// maxReadSize ends the replay after that many bytes; 0 is no limit.
	maxReadSize uint64
	// fs, where it is not nil, is used to look behind the last record read.
	fs rocksdb.FileSystem
	// isRetry asks fs to read from redundant copies.
	isRetry bool

	// lastValidRecordEnd is the file offset behind the last edit that counts.
	lastValidRecordEnd uint64
	lastRecordEnd      uint64
}

// iterate replays all records of r. logErr is where r's reporter puts the
// first corruption that it drops.
// Upstream: VersionEditHandlerBase::Iterate.
func (it *editIterator) iterate(r manifestReader, logErr *error, a editApplier) error {
	recovered := 0
	err := a.initialize()
	for err == nil && (it.maxReadSize == 0 || r.LastRecordEnd() < it.maxReadSize) {
		record, ok := r.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if !ok || *logErr != nil {
			break
		}
		it.lastRecordEnd = r.LastRecordEnd()
		e := new(version.VersionEdit)
		if err = e.DecodeFrom(record); err == nil {
			err = it.readBuffer.AddEdit(e)
		}
		if err == nil {
			err = it.apply(r, e, a, &recovered)
		}
		if rocksdb.IsCorruption(err) && !rocksdb.AsStatus(err).HasOffset {
			err = rocksdb.AsStatus(err).InAt(r.File().FileName(), r.LastRecordOffset())
		}
	}
	if err == nil {
		err = *logErr
	}
	if err == nil && it.fs != nil && it.maxReadSize == 0 {
		err = checkManifestTail(it.fs, r.File().FileName(), it.lastRecordEnd, it.isRetry)
	}
	err = a.checkIterationResult(r, err)
	if rocksdb.IsCorruption(err) {
		s := *rocksdb.AsStatus(err)
		s.Message += "  The file " + r.File().FileName() + " may be corrupted."
		if s.File == "" {
			s.File = r.File().FileName()
		}
		err = &s
	}
	syncpoint.ProcessArg("VersionEditHandlerBase::Iterate:Finish", &recovered)
	return err
}

func (it *editIterator) apply(r manifestReader, e *version.VersionEdit, a editApplier, recovered *int) error {
	if !e.IsInAtomicGroup() {
		it.lastValidRecordEnd = r.LastRecordEnd()
		if err := a.applyVersionEdit(e); err != nil {
			return err
		}
		*recovered++
		return nil
	}
	if !it.readBuffer.IsFull() {
		return nil
	}
	it.lastValidRecordEnd = r.LastRecordEnd()
	if err := a.onAtomicGroupReplayBegin(); err != nil {
		return err
	}
	for _, g := range it.readBuffer.Edits() {
		if err := a.applyVersionEdit(g); err != nil {
			return err
		}
		*recovered++
	}
	it.readBuffer.Clear()
	return a.onAtomicGroupReplayEnd()
}

// noAtomicGroups is for appliers that need not know of groups.
type noAtomicGroups struct{}

func (noAtomicGroups) initialize() error                                      { return nil }
func (noAtomicGroups) onAtomicGroupReplayBegin() error                        { return nil }
func (noAtomicGroups) onAtomicGroupReplayEnd() error                          { return nil }
func (noAtomicGroups) checkIterationResult(_ manifestReader, err error) error { return err }

// listColumnFamiliesHandler collects the names of the families.
type listColumnFamiliesHandler struct {
	noAtomicGroups
	names map[uint32]string
}

func newListColumnFamiliesHandler() *listColumnFamiliesHandler {
	return &listColumnFamiliesHandler{names: map[uint32]string{0: rocksdb.DefaultColumnFamilyName}}
}

func (h *listColumnFamiliesHandler) applyVersionEdit(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	_, known := h.names[id]
	switch {
	case e.IsColumnFamilyAdd() && known:
		return rocksdb.Corruption("Manifest adding the same column family twice")
	case e.IsColumnFamilyAdd():
		h.names[id] = e.GetColumnFamilyName()
	case e.IsColumnFamilyDrop() && !known:
		return rocksdb.Corruption("Manifest - dropping non-existing column family")
	case e.IsColumnFamilyDrop():
		delete(h.names, id)
	}
	return nil
}

// fileChecksumRetriever collects the files' checksums.
type fileChecksumRetriever struct {
	noAtomicGroups
	checksums map[uint32]map[uint64]fileChecksum // by family, file number
}

type fileChecksum struct{ value, funcName string }

func (h *fileChecksumRetriever) applyVersionEdit(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	if e.IsColumnFamilyDrop() {
		delete(h.checksums, id)
	}
	for _, d := range e.GetDeletedFiles() {
		if _, ok := h.checksums[id][d.Number]; !ok {
			return rocksdb.NotFound()
		}
		delete(h.checksums[id], d.Number)
	}
	add := func(number uint64, value, funcName string) {
		if h.checksums[id] == nil {
			h.checksums[id] = map[uint64]fileChecksum{}
		}
		if _, ok := h.checksums[id][number]; !ok {
			h.checksums[id][number] = fileChecksum{value, funcName}
		}
	}
	for _, f := range e.GetNewFiles() {
		add(f.Meta.FD.GetNumber(), f.Meta.FileChecksum, f.Meta.FileChecksumFuncName)
	}
	for _, b := range e.GetBlobFileAdditions() {
		value, method := blobChecksum(b.GetChecksumValue(), b.GetChecksumMethod())
		add(b.GetBlobFileNumber(), value, method)
	}
	return nil
}

// blobChecksum is what stands for a blob file without a checksum.
func blobChecksum(value, method string) (string, string) {
	if method == "" {
		return rocksdb.UnknownFileChecksum, rocksdb.UnknownFileChecksumFuncName
	}
	return value, method
}

// versionEditHandlerHooks is what the kinds of handler do differently.
type versionEditHandlerHooks interface {
	editApplier
	fileVerifier
	maybeCreateVersionBeforeApplyEdit(e *version.VersionEdit, cfd *ColumnFamilyData, force bool) error
	loadTables(cfd *ColumnFamilyData) error
	destroyCF(e *version.VersionEdit) error
	mustOpenAllColumnFamilies() bool
}

// versionEditHandler builds a VersionSet from a MANIFEST.
type versionEditHandler struct {
	editIterator
	noAtomicGroups
	vs       *VersionSet
	hooks    versionEditHandlerHooks
	readOnly bool
	// trackFiles looks at every file as edits name it.
	trackFiles             bool
	noErrorIfFilesMissing  bool
	skipLoadTableFiles     bool
	allowIncompleteVersion bool
	epochRequirement       version.EpochNumberRequirement
	readOptions            rocksdb.ReadOptions

	nameToOptions map[string]*rocksdb.ColumnFamilyOptions
	builders      map[uint32]*referencedVersionBuilder
	doNotOpen     map[uint32]string
	// params adds up the numbers of all edits.
	params version.VersionEdit
	// comparatorNames, when not nil, gets the names of comparators that are not
	// those of the options, instead of an error.
	comparatorNames map[uint32]string
	markNoUDT       map[uint32]bool
}

func newVersionEditHandler(vs *VersionSet, cfs []rocksdb.ColumnFamilyDescriptor, readOnly bool) *versionEditHandler {
	h := &versionEditHandler{vs: vs, readOnly: readOnly, epochRequirement: version.EpochNumberMustPresent,
		nameToOptions: map[string]*rocksdb.ColumnFamilyOptions{}, builders: map[uint32]*referencedVersionBuilder{},
		doNotOpen: map[uint32]string{}, markNoUDT: map[uint32]bool{}, readOptions: rocksdb.DefaultReadOptions()}
	h.readOptions.IOActivity = rocksdb.IOActivityDBOpen
	h.fs = vs.fs
	for i := range cfs {
		h.nameToOptions[cfs[i].Name] = &cfs[i].Options
	}
	h.hooks = h
	return h
}

// close lets go of the builders.
func (h *versionEditHandler) close() {
	for _, b := range h.builders {
		b.close()
	}
	h.builders = nil
}

func (h *versionEditHandler) run(r manifestReader, logErr *error) error {
	return h.iterate(r, logErr, h.hooks)
}

// VerifyFile finds every file good.
func (h *versionEditHandler) VerifyFile(*ColumnFamilyData, string, int, *version.FileMetaData) error {
	return nil
}

// VerifyBlobFile finds every blob file good.
func (h *versionEditHandler) VerifyBlobFile(*ColumnFamilyData, uint64, *blobformat.BlobFileAddition) error {
	return nil
}

func (h *versionEditHandler) mustOpenAllColumnFamilies() bool { return !h.vs.unchanging }

func (h *versionEditHandler) initialize() error {
	o := h.nameToOptions[rocksdb.DefaultColumnFamilyName]
	if o == nil {
		return rocksdb.InvalidArgument("Default column family not specified")
	}
	var e version.VersionEdit
	e.AddColumnFamily(rocksdb.DefaultColumnFamilyName)
	h.createCF(o, &e)
	return nil
}

func (h *versionEditHandler) createCF(o *rocksdb.ColumnFamilyOptions, e *version.VersionEdit) *ColumnFamilyData {
	cfd := h.vs.createColumnFamily(o, &h.readOptions, e, h.readOnly)
	var verifier fileVerifier
	if h.trackFiles {
		verifier = h.hooks
	}
	h.builders[cfd.GetID()] = h.vs.newReferencedVersionBuilder(cfd, verifier, h.allowIncompleteVersion)
	return cfd
}

func (h *versionEditHandler) destroyCF(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	cfd := h.vs.cfs.GetColumnFamily(id)
	if cfd == nil || id == 0 {
		return rocksdb.Corruption("MANIFEST - dropping non-existing column family")
	}
	h.builders[id].close()
	delete(h.builders, id)
	h.vs.dropColumnFamily(cfd)
	return nil
}

func (h *versionEditHandler) applyVersionEdit(e *version.VersionEdit) error {
	var cfd *ColumnFamilyData
	var err error
	switch {
	case e.IsColumnFamilyAdd():
		cfd, err = h.onColumnFamilyAdd(e)
	case e.IsColumnFamilyDrop():
		err = h.onColumnFamilyDrop(e)
	case e.IsWalAddition():
		err = h.vs.wals.AddWals(e.GetWalAdditions())
	case e.IsWalDeletion():
		err = h.vs.wals.DeleteWalsBefore(e.GetWalDeletion().GetLogNumber())
	default:
		cfd, err = h.onNonCFOperation(e)
	}
	if err != nil {
		return err
	}
	return h.extractInfo(cfd, e)
}

func (h *versionEditHandler) onColumnFamilyAdd(e *version.VersionEdit) (*ColumnFamilyData, error) {
	id, name := e.GetColumnFamily(), e.GetColumnFamilyName()
	if _, skipped := h.doNotOpen[id]; skipped || h.builders[id] != nil {
		return nil, rocksdb.Corruption("MANIFEST adding the same column family twice: " + name)
	}
	if o := h.nameToOptions[name]; o != nil {
		return h.createCF(o, e), nil
	}
	if name == PersistentStatsColumnFamilyName { // never asked for by users
		o := rocksdb.DefaultColumnFamilyOptions()
		monitoring.OptimizeForPersistentStats(&o)
		return h.createCF(&o, e), nil
	}
	h.doNotOpen[id] = name
	return nil, nil
}

// PersistentStatsColumnFamilyName is the hidden family of persisted statistics.
const PersistentStatsColumnFamilyName = "___rocksdb_stats_history___"

func (h *versionEditHandler) onColumnFamilyDrop(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	if h.builders[id] != nil {
		return h.hooks.destroyCF(e)
	}
	if _, ok := h.doNotOpen[id]; ok {
		delete(h.doNotOpen, id)
		return nil
	}
	return rocksdb.Corruption("MANIFEST - dropping non-existing column family")
}

func (h *versionEditHandler) onNonCFOperation(e *version.VersionEdit) (*ColumnFamilyData, error) {
	id := e.GetColumnFamily()
	if _, skipped := h.doNotOpen[id]; skipped {
		return nil, nil
	}
	if h.builders[id] == nil {
		return nil, rocksdb.Corruption("MANIFEST record referencing unknown column family")
	}
	cfd := h.vs.cfs.GetColumnFamily(id)
	// Before the files are looked at, which may need their bounds.
	if err := h.handleFileBoundaries(e, cfd); err != nil {
		return nil, err
	}
	return cfd, h.hooks.maybeCreateVersionBeforeApplyEdit(e, cfd, false)
}

// handleFileBoundaries gives timestamps to the bounds of files that do not
// keep them, and marks the files of a family in which timestamps are being
// turned on.
func (h *versionEditHandler) handleFileBoundaries(e *version.VersionEdit, cfd *ColumnFamilyData) error {
	ts := cfd.UserComparator().TimestampSize()
	if ts == 0 {
		return nil
	}
	markAll := h.markNoUDT[cfd.GetID()]
	stripped := false
	for _, f := range e.GetNewFiles() {
		m := f.Meta
		if m.UserDefinedTimestampsPersisted && !markAll {
			// All files of one edit were made under the same options.
			if stripped {
				return rocksdb.Corruption("New files in one VersionEdit has different user_defined_timestamps_persisted value.")
			}
			break
		}
		stripped = true
		m.UserDefinedTimestampsPersisted = false
		m.Smallest = dbformat.PadInternalKeyWithMinTimestamp(nil, m.Smallest, ts)
		if dbformat.ExtractInternalKeyFooter(m.Largest) == dbformat.RangeTombstoneSentinel {
			m.Largest = dbformat.PadInternalKeyWithMaxTimestamp(nil, m.Largest, ts)
		} else {
			m.Largest = dbformat.PadInternalKeyWithMinTimestamp(nil, m.Largest, ts)
		}
	}
	return nil
}

// maybeCreateVersionBeforeApplyEdit adds e to the family's builder. With force
// the state before e becomes the current version.
func (h *versionEditHandler) maybeCreateVersionBeforeApplyEdit(e *version.VersionEdit, cfd *ColumnFamilyData, force bool) error {
	b := h.builders[cfd.GetID()]
	if force {
		v := newVersion(cfd, h.vs, cfd.GetLatestMutableCFOptions(), h.vs.takeVersionNumber(), h.epochRequirement)
		if err := b.SaveTo(v.storage); err != nil {
			v.release()
			return err
		}
		v.PrepareAppend(&h.readOptions, !h.vs.dbOptions.SkipStatsUpdateOnDBOpen)
		h.vs.appendVersion(cfd, v)
	}
	return b.Apply(e)
}

func (h *versionEditHandler) loadTables(cfd *ColumnFamilyData) error {
	skip := h.skipLoadTableFiles
	syncpoint.ProcessArg("VersionEditHandler::LoadTables:skip_load_table_files", &skip)
	if skip {
		return nil
	}
	err := h.builders[cfd.GetID()].LoadTableHandlers(h.loadOptions(cfd))
	if (rocksdb.IsPathNotFound(err) || rocksdb.IsCorruption(err)) && h.noErrorIfFilesMissing || !h.vs.dbOptions.ParanoidChecks {
		return nil
	}
	return err
}

func (h *versionEditHandler) loadOptions(cfd *ColumnFamilyData) LoadTableHandlersOptions {
	mo := cfd.GetLatestMutableCFOptions()
	return LoadTableHandlersOptions{MaxThreads: h.vs.dbOptions.MaxFileOpeningThreads, IsInitialLoad: true,
		MutableCFOptions: mo, MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(mo),
		ReadOptions: &h.readOptions, InternalStats: cfd.InternalStats()}
}

// extractInfo takes in the numbers that e sets. cfd is nil for a family that
// is not opened.
func (h *versionEditHandler) extractInfo(cfd *ColumnFamilyData, e *version.VersionEdit) error {
	if e.HasDbId() {
		h.vs.dbID = e.GetDbId()
		h.params.SetDBId(e.GetDbId())
	}
	if cfd != nil {
		if e.HasLogNumber() {
			if cfd.GetLogNumber() > e.GetLogNumber() {
				logging.Warn(h.vs.dbOptions.Logger, "MANIFEST corruption detected, but ignored - Log numbers in records NOT monotonically increasing")
			} else {
				cfd.SetLogNumber(e.GetLogNumber())
				h.params.SetLogNumber(e.GetLogNumber())
			}
		}
		if e.HasComparatorName() {
			mark, err := writebatch.ValidateUserDefinedTimestampsOptions(cfd.UserComparator(), e.GetComparatorName(),
				cfd.IOptions().PersistUserDefinedTimestamps, e.GetPersistUserDefinedTimestamps())
			if err != nil && h.comparatorNames != nil {
				h.comparatorNames[cfd.GetID()] = e.GetComparatorName()
			}
			if mark {
				h.markNoUDT[cfd.GetID()] = true
			}
			if err != nil {
				return err
			}
		}
		if e.HasFullHistoryTsLow() {
			cfd.SetFullHistoryTsLow([]byte(e.GetFullHistoryTsLow()))
		}
	}
	p := &h.params
	if e.HasPrevLogNumber() {
		p.SetPrevLogNumber(e.GetPrevLogNumber())
	}
	if e.HasNextFile() {
		p.SetNextFile(e.GetNextFile())
	}
	if e.HasMaxColumnFamily() {
		p.SetMaxColumnFamily(e.GetMaxColumnFamily())
	}
	if e.HasMinLogNumberToKeep() {
		p.SetMinLogNumberToKeep(max(p.GetMinLogNumberToKeep(), e.GetMinLogNumberToKeep()))
	}
	if e.HasLastSequence() {
		p.SetLastSequence(e.GetLastSequence())
	}
	if e.HasLastCompactedManifestFileSize() {
		h.vs.lastCompactedManifestSize = e.GetLastCompactedManifestFileSize()
		h.vs.tuneMaxManifestFileSize()
	}
	if !p.HasPrevLogNumber() {
		p.SetPrevLogNumber(0)
	}
	return nil
}

// checkIterationResult completes the version set, unless the replay failed.
func (h *versionEditHandler) checkIterationResult(r manifestReader, err error) error {
	if err == nil {
		err = h.checkNumbers()
	}
	if err == nil && h.hooks.mustOpenAllColumnFamilies() && len(h.doNotOpen) > 0 {
		var names []string
		for _, name := range h.doNotOpen {
			names = append(names, name)
		}
		slices.Sort(names)
		err = rocksdb.InvalidArgument("Column families not opened: " + strings.Join(names, ", "))
	}
	if err != nil {
		return err
	}
	vs := h.vs
	vs.cfs.UpdateMaxColumnFamily(h.params.GetMaxColumnFamily())
	vs.MarkMinLogNumberToKeep(h.params.GetMinLogNumberToKeep())
	vs.MarkFileNumberUsed(h.params.GetPrevLogNumber())
	vs.MarkFileNumberUsed(h.params.GetLogNumber())
	live := slices.DeleteFunc(slices.Clone(vs.cfs.All()), (*ColumnFamilyData).IsDropped)
	for _, cfd := range live {
		if !h.builders[cfd.GetID()].CheckConsistencyForNumLevels() {
			return rocksdb.InvalidArgument("db has more levels than options.num_levels")
		}
	}
	for _, cfd := range live {
		if vs.unchanging {
			cfd.TableCache().SetTablesAreImmortal()
		}
		if err := h.hooks.loadTables(cfd); err != nil {
			if rocksdb.IsPathNotFound(err) { // a live file is missing
				err = rocksdb.Corruption("Corruption: " + err.Error()).Wrap(err)
			}
			return err
		}
	}
	for _, cfd := range live {
		if err := h.hooks.maybeCreateVersionBeforeApplyEdit(new(version.VersionEdit), cfd, true); err != nil {
			return err
		}
	}
	vs.manifestFileSize = r.GetReadOffset()
	vs.manifestLastValidRecordEnd = h.lastValidRecordEnd
	vs.nextFileNumber.Store(h.params.GetNextFile() + 1)
	last := h.params.GetLastSequence()
	if last > dbformat.MaxSequenceNumber {
		return rocksdb.Corruption(fmt.Sprintf("last sequence %d in MANIFEST is too large", last))
	}
	vs.lastAllocatedSequence.Store(max(last, vs.lastAllocatedSequence.Load()))
	vs.lastPublishedSequence.Store(max(last, vs.lastPublishedSequence.Load()))
	vs.lastSequence.Store(max(last, vs.lastSequence.Load()))
	// It may exceed the files' largest: compaction drops data and zeroes
	// sequence numbers.
	vs.descriptorLastSequence = max(last, vs.descriptorLastSequence)
	vs.prevLogNumber = h.params.GetPrevLogNumber()
	return nil
}

func (h *versionEditHandler) checkNumbers() error {
	var missing []string
	if !h.params.HasLogNumber() {
		missing = append(missing, "log_file_number")
	}
	if !h.params.HasNextFile() {
		missing = append(missing, "next_file_number")
	}
	if !h.params.HasLastSequence() {
		missing = append(missing, "last_sequence")
	}
	if missing != nil {
		return rocksdb.Corruption("no " + strings.Join(missing, ", ") + " entry in MANIFEST")
	}
	return nil
}
