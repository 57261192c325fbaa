// Port of db/version_builder.{h,cc}. Differs: the builder is closed explicitly;
// the undo of one edit is a list of slots to swap; a negative level is a
// corruption.

package db

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// newestFirstBySeqNo orders level 0 where epoch numbers are missing.
func newestFirstBySeqNo(a, b *version.FileMetaData) int {
	return cmp.Or(cmp.Compare(b.FD.LargestSeqno, a.FD.LargestSeqno),
		cmp.Compare(b.FD.SmallestSeqno, a.FD.SmallestSeqno),
		cmp.Compare(b.FD.GetNumber(), a.FD.GetNumber()))
}

// newestFirstByEpochNumber orders level 0.
func newestFirstByEpochNumber(a, b *version.FileMetaData) int {
	return cmp.Or(cmp.Compare(b.EpochNumber, a.EpochNumber), newestFirstBySeqNo(a, b))
}

// bySmallestKey orders the other levels.
func bySmallestKey(icmp *dbformat.InternalKeyComparator) func(a, b *version.FileMetaData) int {
	return func(a, b *version.FileMetaData) int {
		return cmp.Or(icmp.Compare(a.Smallest, b.Smallest), cmp.Compare(a.FD.GetNumber(), b.FD.GetNumber()))
	}
}

type levelState struct {
	deletedFiles map[uint64]bool
	addedFiles   map[uint64]*version.FileMetaData
}

// mutableBlobFileMeta is a blob file's state after the edits so far. Its
// builder holds a reference to the shared part.
type mutableBlobFileMeta struct {
	shared       *blob.SharedBlobFileMetaData
	linkedSsts   blob.LinkedSsts
	garbageCount uint64
	garbageBytes uint64

	// What changed against the base version; a table that is unlinked and
	// linked again, as by a trivial move, cancels out.
	garbageChanged bool
	newlyLinked    map[uint64]bool
	newlyUnlinked  map[uint64]bool
}

func (m *mutableBlobFileMeta) clone() *mutableBlobFileMeta {
	c := *m
	c.linkedSsts = maps.Clone(m.linkedSsts)
	c.newlyLinked = maps.Clone(m.newlyLinked)
	c.newlyUnlinked = maps.Clone(m.newlyUnlinked)
	return &c
}

func (m *mutableBlobFileMeta) hasDelta() bool {
	return m.garbageChanged || len(m.newlyLinked) > 0 || len(m.newlyUnlinked) > 0
}

func (m *mutableBlobFileMeta) addGarbage(count, bytes uint64) bool {
	if count > m.shared.GetTotalBlobCount()-m.garbageCount || bytes > m.shared.GetTotalBlobBytes()-m.garbageBytes {
		return false
	}
	m.garbageCount += count
	m.garbageBytes += bytes
	m.garbageChanged = m.garbageChanged || count != 0 || bytes != 0
	return true
}

func (m *mutableBlobFileMeta) linkSst(number uint64) {
	if m.newlyUnlinked[number] {
		delete(m.newlyUnlinked, number)
	} else {
		m.newlyLinked[number] = true
	}
	m.linkedSsts[number] = struct{}{}
}

func (m *mutableBlobFileMeta) unlinkSst(number uint64) {
	if m.newlyLinked[number] {
		delete(m.newlyLinked, number)
	} else {
		m.newlyUnlinked[number] = true
	}
	delete(m.linkedSsts, number)
}

// fileVerifier looks at files on disk while a MANIFEST is replayed to a point
// in time. A missing or damaged file is PathNotFound, NotFound or Corruption.
type fileVerifier interface {
	VerifyFile(cfd *ColumnFamilyData, fpath string, level int, meta *version.FileMetaData) error
	VerifyBlobFile(cfd *ColumnFamilyData, number uint64, addition *blobformat.BlobFileAddition) error
}

// VersionBuilderOptions are what NewVersionBuilder needs.
type VersionBuilderOptions struct {
	FileOptions rocksdb.FileOptions
	IOptions    *options.ImmutableOptions
	TableCache  *tablecache.TableCache // may be nil when no table is opened
	Base        *version.StorageInfo   // the version that edits apply to
	VersionSet  *VersionSet            // told of obsolete blob files; may be nil
	CFD         *ColumnFamilyData      // may be nil unless Verifier is set

	fileMetadataCacheResMgr *cache.ConcurrentCacheReservationManager // nil where metadata is not charged
	// verifier makes the builder track which files exist.
	verifier                    fileVerifier
	allowIncompleteValidVersion bool
}

// mutableScalars is what an edit may change apart from maps.
type mutableScalars struct {
	// hasInvalidLevels: files were added to or deleted from levels that do not
	// exist.
	hasInvalidLevels bool
	// The rest is for tracking only.
	validVersionAvailable        bool
	editedInAtomicGroup          bool
	versionUpdatedSinceLastCheck bool
	numIntermediateFiles         int // how many of intermediateFiles count
}

// editUndo takes the last edit back. Each swap exchanges one slot with its
// value on the other side of the edit; run in one order to roll back and in
// the other to redo, slots recorded twice come out right.
type editUndo struct {
	mutableScalars
	swaps      []func()
	rolledBack bool
	// deferredUnref are the files that the edit deleted; a rollback needs them.
	deferredUnref []*version.FileMetaData
}

// VersionBuilder applies edits to a version and saves the result to another,
// in one pass instead of one version an edit. Not safe for concurrent use.
type VersionBuilder struct {
	o            VersionBuilderOptions
	base         *version.StorageInfo
	numLevels    int
	levels       []levelState
	nonzeroOrder func(a, b *version.FileMetaData) int

	// invalidLevelSizes counts the files of levels that do not exist: in the
	// end all have to be gone.
	invalidLevelSizes     map[int]int
	tableFileLevels       map[uint64]int // of files touched; -1 when deleted
	updatedCompactCursors map[int]dbformat.InternalKey
	mutableBlobFileMetas  map[uint64]*mutableBlobFileMeta
	newShared             []*blob.SharedBlobFileMetaData // a reference each, until Close

	tracking bool
	mutableScalars
	foundFiles        map[uint64]bool // tables
	l0MissingFiles    map[uint64]bool
	nonL0MissingFiles map[uint64]bool
	missingBlobFiles  map[uint64]bool
	intermediateFiles []string // paths of tables that came and went
	undo              *editUndo
}

// NewVersionBuilder makes a builder; Close it.
func NewVersionBuilder(o VersionBuilderOptions) *VersionBuilder {
	n := o.Base.NumLevels()
	b := &VersionBuilder{
		o: o, base: o.Base, numLevels: n, levels: make([]levelState, n),
		nonzeroOrder:          bySmallestKey(o.Base.InternalComparator()),
		invalidLevelSizes:     map[int]int{},
		tableFileLevels:       map[uint64]int{},
		updatedCompactCursors: map[int]dbformat.InternalKey{},
		mutableBlobFileMetas:  map[uint64]*mutableBlobFileMeta{},
		tracking:              o.verifier != nil,
	}
	for i := range b.levels {
		b.levels[i] = levelState{map[uint64]bool{}, map[uint64]*version.FileMetaData{}}
	}
	if b.tracking {
		b.foundFiles = map[uint64]bool{}
		b.l0MissingFiles = map[uint64]bool{}
		b.nonL0MissingFiles = map[uint64]bool{}
		b.missingBlobFiles = map[uint64]bool{}
		b.validVersionAvailable = true
	}
	return b
}

// Close gives back the files and blob files that no version took.
func (b *VersionBuilder) Close() {
	b.CommitLastApply()
	for i := range b.levels {
		for _, f := range b.levels[i].addedFiles {
			b.unrefFile(f)
		}
		b.levels[i].addedFiles = nil
	}
	for _, s := range b.newShared {
		s.Unref()
	}
	b.newShared = nil
}

func (b *VersionBuilder) unrefFile(f *version.FileMetaData) {
	f.Refs--
	if f.Refs > 0 {
		return
	}
	releasePinnedReader(f)
	if b.o.TableCache != nil {
		// The file was never part of a version: nobody will open it again.
		b.o.TableCache.Evict(f.FD.GetNumber())
	}
	if b.o.fileMetadataCacheResMgr != nil {
		_ = b.o.fileMetadataCacheResMgr.UpdateCacheReservationBy(-f.ApproximateMemoryUsage()) // a decrease cannot fail
	}
}

// releasePinnedReader gives back the table that f pins, if any.
func releasePinnedReader(f *version.FileMetaData) {
	if p := f.FD.Pinned.Swap(nil); p != nil && p.Release != nil {
		p.Release()
	}
}

// recordSlot remembers m[key] so that the undo can swap it.
func recordSlot[K comparable, V any](u *editUndo, m map[K]V, key K, copyOf func(V) V) {
	other, present := m[key]
	if present && copyOf != nil {
		other = copyOf(other)
	}
	u.swaps = append(u.swaps, func() {
		live, livePresent := m[key]
		if present {
			m[key] = other
		} else {
			delete(m, key)
		}
		other, present = live, livePresent
	})
}

// captureUndo remembers everything that e is going to change.
func (b *VersionBuilder) captureUndo(e *version.VersionEdit) {
	b.CommitLastApply()
	u := &editUndo{mutableScalars: b.mutableScalars}
	b.undo = u
	table := func(level int, number uint64) {
		recordSlot(u, b.tableFileLevels, number, nil)
		recordSlot(u, b.foundFiles, number, nil)
		recordSlot(u, b.l0MissingFiles, number, nil)
		recordSlot(u, b.nonL0MissingFiles, number, nil)
		switch {
		case level >= b.numLevels:
			recordSlot(u, b.invalidLevelSizes, level, nil)
		case level >= 0:
			recordSlot(u, b.levels[level].addedFiles, number, nil)
			recordSlot(u, b.levels[level].deletedFiles, number, nil)
		}
	}
	blobFile := func(number uint64) {
		if number != blobformat.InvalidBlobFileNumber {
			recordSlot(u, b.mutableBlobFileMetas, number, (*mutableBlobFileMeta).clone)
			recordSlot(u, b.missingBlobFiles, number, nil)
		}
	}
	for _, a := range e.GetBlobFileAdditions() {
		blobFile(a.GetBlobFileNumber())
	}
	for _, g := range e.GetBlobFileGarbages() {
		blobFile(g.GetBlobFileNumber())
	}
	for _, d := range e.GetDeletedFiles() {
		table(d.Level, d.Number)
		if d.Level >= 0 && d.Level < b.numLevels && b.currentLevel(d.Number) == d.Level {
			blobFile(b.oldestBlobFileNumber(d.Level, d.Number))
		}
	}
	for _, f := range e.GetNewFiles() {
		table(f.Level, f.Meta.FD.GetNumber())
		blobFile(f.Meta.OldestBlobFileNumber)
	}
	for _, c := range e.GetCompactCursors() {
		if c.Level >= 0 && c.Level < b.numLevels {
			recordSlot(u, b.updatedCompactCursors, c.Level, nil)
		}
	}
}

func (b *VersionBuilder) toggleUndo() {
	u := b.undo
	if u.rolledBack {
		for _, swap := range slices.Backward(u.swaps) {
			swap()
		}
	} else {
		for _, swap := range u.swaps {
			swap()
		}
	}
	u.mutableScalars, b.mutableScalars = b.mutableScalars, u.mutableScalars
	u.rolledBack = !u.rolledBack
}

// RollbackLastApply takes the last edit back. Only while tracking.
func (b *VersionBuilder) RollbackLastApply() {
	if b.undo != nil && !b.undo.rolledBack {
		b.toggleUndo()
	}
}

// RedoLastApply applies it again.
func (b *VersionBuilder) RedoLastApply() {
	if b.undo != nil && b.undo.rolledBack {
		b.toggleUndo()
	}
}

// CommitLastApply makes the last edit final, redoing it if need be.
func (b *VersionBuilder) CommitLastApply() {
	if b.undo == nil {
		return
	}
	b.RedoLastApply()
	files := b.undo.deferredUnref
	b.undo = nil
	for _, f := range files {
		b.unrefFile(f)
	}
}

func builderCorruption(format string, args ...any) error {
	return rocksdb.Corruption("VersionBuilder", fmt.Sprintf(format, args...))
}

// Apply adds the edit's changes. After an error the builder is only good for
// Close.
func (b *VersionBuilder) Apply(e *version.VersionEdit) error {
	if err := checkConsistency(b.base, b.nonzeroOrder); err != nil {
		return err
	}
	if b.tracking {
		b.captureUndo(e)
	}
	updated := false
	// Blob files come first: tables link to them.
	for _, a := range e.GetBlobFileAdditions() {
		if err := b.applyBlobFileAddition(&a); err != nil {
			return err
		}
		updated = true
	}
	for _, g := range e.GetBlobFileGarbages() {
		if err := b.applyBlobFileGarbage(&g); err != nil {
			return err
		}
		updated = true
	}
	for _, d := range e.GetDeletedFiles() {
		if err := b.applyFileDeletion(d.Level, d.Number); err != nil {
			return err
		}
		updated = true
	}
	for _, f := range e.GetNewFiles() {
		if err := b.applyFileAddition(f.Level, f.Meta); err != nil {
			return err
		}
		updated = true
	}
	for _, c := range e.GetCompactCursors() {
		if c.Level < 0 {
			return builderCorruption("Cannot add compact cursor (%d,%s due to invalid level (level = %d)", c.Level, []byte(c.Key), c.Level)
		}
		if c.Level < b.numLevels { // the database may be opened with fewer levels
			b.updatedCompactCursors[c.Level] = c.Key
		}
	}
	if b.tracking && updated {
		b.versionUpdatedSinceLastCheck = true
		b.editedInAtomicGroup = b.editedInAtomicGroup || e.IsInAtomicGroup()
	}
	return nil
}

func (b *VersionBuilder) getOrCreateMutableBlobFileMeta(number uint64) *mutableBlobFileMeta {
	if m := b.mutableBlobFileMetas[number]; m != nil {
		return m
	}
	meta := b.base.GetBlobFileMetaData(number)
	if meta == nil {
		return nil
	}
	m := &mutableBlobFileMeta{
		shared: meta.GetSharedMeta(), linkedSsts: maps.Clone(meta.GetLinkedSsts()),
		garbageCount: meta.GetGarbageBlobCount(), garbageBytes: meta.GetGarbageBlobBytes(),
		newlyLinked: map[uint64]bool{}, newlyUnlinked: map[uint64]bool{},
	}
	if m.linkedSsts == nil {
		m.linkedSsts = blob.LinkedSsts{}
	}
	b.mutableBlobFileMetas[number] = m
	return m
}

func isMissingFile(err error) bool {
	return rocksdb.IsPathNotFound(err) || rocksdb.IsNotFound(err) || rocksdb.IsCorruption(err)
}

func (b *VersionBuilder) applyBlobFileAddition(a *blobformat.BlobFileAddition) error {
	number := a.GetBlobFileNumber()
	if b.mutableBlobFileMetas[number] != nil || b.base.GetBlobFileMetaData(number) != nil {
		return builderCorruption("Blob file #%d already added", number)
	}
	vs, io, cfd := b.o.VersionSet, b.o.IOptions, b.o.CFD
	shared := blob.NewSharedBlobFileMetaData(number, a.GetTotalBlobCount(), a.GetTotalBlobBytes(),
		a.GetChecksumMethod(), a.GetChecksumValue(), func(s *blob.SharedBlobFileMetaData) {
			if vs != nil {
				vs.AddObsoleteBlobFile(s.GetBlobFileNumber(), io.CFPaths[0].Path)
			}
			if cfd != nil {
				cfd.evictBlobFile(s.GetBlobFileNumber())
			}
		})
	shared.Ref()
	b.newShared = append(b.newShared, shared)
	b.mutableBlobFileMetas[number] = &mutableBlobFileMeta{
		shared: shared, linkedSsts: blob.LinkedSsts{},
		newlyLinked: map[uint64]bool{}, newlyUnlinked: map[uint64]bool{},
	}
	if !b.tracking {
		return nil
	}
	err := b.o.verifier.VerifyBlobFile(b.o.CFD, number, a)
	if isMissingFile(err) {
		b.missingBlobFiles[number] = true
		return nil
	}
	return err
}

func (b *VersionBuilder) applyBlobFileGarbage(g *blobformat.BlobFileGarbage) error {
	m := b.getOrCreateMutableBlobFileMeta(g.GetBlobFileNumber())
	if m == nil {
		return builderCorruption("Blob file #%d not found", g.GetBlobFileNumber())
	}
	if !m.addGarbage(g.GetGarbageBlobCount(), g.GetGarbageBlobBytes()) {
		return builderCorruption("Garbage overflow for blob file #%d", g.GetBlobFileNumber())
	}
	return nil
}

// currentLevel is where the table is now, -1 for nowhere.
func (b *VersionBuilder) currentLevel(number uint64) int {
	if level, ok := b.tableFileLevels[number]; ok {
		return level
	}
	return b.base.GetFileLocation(number).Level
}

func (b *VersionBuilder) oldestBlobFileNumber(level int, number uint64) uint64 {
	f := b.levels[level].addedFiles[number]
	if f == nil {
		f = b.base.GetFileMetaDataByNumber(number)
	}
	if f == nil {
		return blobformat.InvalidBlobFileNumber
	}
	return f.OldestBlobFileNumber
}

func (b *VersionBuilder) applyFileDeletion(level int, number uint64) error {
	if current := b.currentLevel(number); level < 0 || level != current {
		if level >= b.numLevels {
			b.hasInvalidLevels = true
		}
		where := "not in the LSM tree"
		if current >= 0 {
			where = fmt.Sprintf("on level %d", current)
		}
		return builderCorruption("Cannot delete table file #%d from level %d since it is %s", number, level, where)
	}
	if level >= b.numLevels {
		b.invalidLevelSizes[level]--
		b.tableFileLevels[number] = -1
		return nil
	}
	if n := b.oldestBlobFileNumber(level, number); n != blobformat.InvalidBlobFileNumber {
		if m := b.getOrCreateMutableBlobFileMeta(n); m != nil {
			m.unlinkSst(number)
		}
	}
	state := &b.levels[level]
	if f := state.addedFiles[number]; f != nil {
		if b.undo != nil {
			b.undo.deferredUnref = append(b.undo.deferredUnref, f)
		} else {
			b.unrefFile(f)
		}
		delete(state.addedFiles, number)
	}
	state.deletedFiles[number] = true
	b.tableFileLevels[number] = -1
	if !b.tracking {
		return nil
	}
	switch {
	case b.l0MissingFiles[number]:
		delete(b.l0MissingFiles, number)
	case b.nonL0MissingFiles[number]:
		delete(b.nonL0MissingFiles, number)
	case b.foundFiles[number]:
		// It came and went within the edits replayed, so that no version will
		// ever name it as obsolete.
		b.intermediateFiles = append(b.intermediateFiles[:b.numIntermediateFiles],
			filename.MakeTableFileName(b.o.IOptions.CFPaths[0].Path, number))
		b.numIntermediateFiles++
		delete(b.foundFiles, number)
	}
	return nil
}

func (b *VersionBuilder) applyFileAddition(level int, meta *version.FileMetaData) error {
	number := meta.FD.GetNumber()
	if level < 0 {
		return builderCorruption("Cannot add table file #%d to level %d", number, level)
	}
	if current := b.currentLevel(number); current >= 0 {
		if level >= b.numLevels {
			b.hasInvalidLevels = true
		}
		return builderCorruption("Cannot add table file #%d to level %d since it is already in the LSM tree on level %d",
			number, level, current)
	}
	if level >= b.numLevels {
		b.invalidLevelSizes[level]++
		b.tableFileLevels[number] = level
		return nil
	}
	state := &b.levels[level]
	delete(state.deletedFiles, number)
	f := meta.Clone()
	f.Refs = 1
	if b.o.fileMetadataCacheResMgr != nil {
		if err := b.o.fileMetadataCacheResMgr.UpdateCacheReservationBy(f.ApproximateMemoryUsage()); err != nil {
			_ = b.o.fileMetadataCacheResMgr.UpdateCacheReservationBy(-f.ApproximateMemoryUsage())
			return rocksdb.WithSubCode(rocksdb.CodeAborted, rocksdb.SubCodeMemoryLimit,
				"Can't allocate FileMetadata due to exceeding the memory limit based on cache capacity")
		}
	}
	state.addedFiles[number] = f
	if f.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
		if m := b.getOrCreateMutableBlobFileMeta(f.OldestBlobFileNumber); m != nil {
			m.linkSst(number)
		}
	}
	b.tableFileLevels[number] = level
	if !b.tracking {
		return nil
	}
	err := b.o.verifier.VerifyFile(b.o.CFD, filename.MakeTableFileName(b.o.IOptions.CFPaths[0].Path, number), level, meta)
	switch {
	case err == nil:
		b.foundFiles[number] = true
	case isMissingFile(err):
		if level == 0 {
			b.l0MissingFiles[number] = true
		} else {
			b.nonL0MissingFiles[number] = true
		}
		if rocksdb.IsCorruption(err) {
			b.foundFiles[number] = true
		}
	default:
		return err
	}
	return nil
}
