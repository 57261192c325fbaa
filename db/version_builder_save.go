// Port of db/version_builder.cc, the consistency checks and SaveTo.

package db

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// checkedPair is the argument of the consistency checks' sync points.
type checkedPair struct{ lhs, rhs *version.FileMetaData }

// Swap makes the check fail, for tests.
func (p *checkedPair) Swap() { p.lhs, p.rhs = p.rhs, p.lhs }

// checkConsistency checks a version's files, when it or the build asks for it.
func checkConsistency(v *version.StorageInfo, nonzeroOrder func(a, b *version.FileMetaData) int) error {
	if !invariants.Enabled && !v.ForceConsistencyChecks() {
		return nil
	}
	err := checkConsistencyDetails(v, nonzeroOrder)
	if err == nil {
		return nil
	}
	prefix := "force_consistency_checks"
	if invariants.Enabled {
		prefix += "(DEBUG)"
	}
	return rocksdb.Corruption(prefix, rocksdb.AsStatus(err).Message)
}

func checkConsistencyDetails(v *version.StorageInfo, nonzeroOrder func(a, b *version.FileMetaData) int) error {
	// The links as the tables have them, to compare with what blob files say.
	expected := map[uint64]blob.LinkedSsts{}
	for level := range v.NumLevels() {
		point := "VersionBuilder::CheckConsistency1"
		if level == 0 {
			point = "VersionBuilder::CheckConsistency0"
		}
		var prev *version.FileMetaData
		for _, f := range v.LevelFiles(level) {
			if n := f.OldestBlobFileNumber; n != blobformat.InvalidBlobFileNumber {
				if expected[n] == nil {
					expected[n] = blob.LinkedSsts{}
				}
				expected[n][f.FD.GetNumber()] = struct{}{}
			}
			if prev != nil {
				pair := &checkedPair{prev, f}
				syncpoint.ProcessArg(point, pair)
				var err error
				if level == 0 {
					err = checkL0Pair(v, pair.lhs, pair.rhs)
				} else {
					err = checkNonzeroPair(v, level, pair.lhs, pair.rhs, nonzeroOrder)
				}
				if err != nil {
					return err
				}
			}
			prev = f
		}
	}
	for _, m := range v.GetBlobFiles() {
		n := m.GetBlobFileNumber()
		if m.GetGarbageBlobCount() >= m.GetTotalBlobCount() {
			return builderCorruption("Blob file #%d consists entirely of garbage", n)
		}
		if !maps.Equal(m.GetLinkedSsts(), expected[n]) {
			return builderCorruption("Links are inconsistent between table files and blob file #%d", n)
		}
	}
	var err error
	syncpoint.ProcessArg("VersionBuilder::CheckConsistencyBeforeReturn", &err)
	return err
}

func checkL0Pair(v *version.StorageInfo, l, r *version.FileMetaData) error {
	if v.GetEpochNumberRequirement() == version.EpochNumberMightMissing {
		if newestFirstBySeqNo(l, r) >= 0 {
			return builderCorruption("L0 files are not sorted properly: files #%d with seqnos (largest, smallest) %d , %d, #%d with seqnos (largest, smallest) %d , %d",
				l.FD.GetNumber(), l.FD.LargestSeqno, l.FD.SmallestSeqno, r.FD.GetNumber(), r.FD.LargestSeqno, r.FD.SmallestSeqno)
		}
		return nil
	}
	icmp := v.InternalComparator()
	if l.EpochNumber == r.EpochNumber && icmp.Compare(l.Smallest, r.Largest) <= 0 && icmp.Compare(l.Largest, r.Smallest) >= 0 {
		one := func(f *version.FileMetaData) string {
			return fmt.Sprintf("%d , smallest key: %s , largest key: %s , epoch number: %d",
				f.FD.GetNumber(), f.Smallest.DebugString(true), f.Largest.DebugString(true), f.EpochNumber)
		}
		return builderCorruption("L0 files of same epoch number but overlapping range #%s vs. file #%s", one(l), one(r))
	}
	if newestFirstByEpochNumber(l, r) >= 0 {
		return builderCorruption("L0 files are not sorted properly: files #%d with epoch number %d, #%d with epoch number %d",
			l.FD.GetNumber(), l.EpochNumber, r.FD.GetNumber(), r.EpochNumber)
	}
	return nil
}

func checkNonzeroPair(v *version.StorageInfo, level int, l, r *version.FileMetaData, order func(a, b *version.FileMetaData) int) error {
	if order(l, r) >= 0 {
		return builderCorruption("L%d files are not sorted properly: files #%d, #%d", level, l.FD.GetNumber(), r.FD.GetNumber())
	}
	if v.InternalComparator().Compare(l.Largest, r.Smallest) >= 0 {
		return builderCorruption("L%d has overlapping ranges: file #%d largest key: %s vs. file #%d smallest key: %s",
			level, l.FD.GetNumber(), l.Largest.DebugString(true), r.FD.GetNumber(), r.Smallest.DebugString(true))
	}
	return nil
}

// CheckConsistencyForNumLevels tells whether no file is left on a level that
// does not exist.
func (b *VersionBuilder) CheckConsistencyForNumLevels() bool {
	if b.hasInvalidLevels {
		return false
	}
	for _, n := range b.invalidLevelSizes {
		if n != 0 {
			return false
		}
	}
	return true
}

// SaveTo fills v with the base version and all edits applied.
func (b *VersionBuilder) SaveTo(v *version.StorageInfo) error {
	if invariants.Enabled { // Apply has checked it already
		if err := checkConsistency(b.base, b.nonzeroOrder); err != nil {
			return err
		}
	}
	if err := checkConsistency(v, b.nonzeroOrder); err != nil {
		return err
	}
	b.saveSSTFilesTo(v)
	b.saveBlobFilesTo(v)
	for level, key := range b.updatedCompactCursors {
		v.AddCursorForOneLevel(level, key)
	}
	return checkConsistency(v, b.nonzeroOrder)
}

func (b *VersionBuilder) saveSSTFilesTo(v *version.StorageInfo) {
	if b.numLevels == 0 {
		return
	}
	if v.GetEpochNumberRequirement() == version.EpochNumberMightMissing && !v.HasMissingEpochNumber() && !b.addedLackEpochNumber() {
		v.SetEpochNumberRequirement(version.EpochNumberMustPresent)
	}
	order := newestFirstByEpochNumber
	if v.GetEpochNumberRequirement() == version.EpochNumberMightMissing {
		order = newestFirstBySeqNo
	}
	for level := range b.numLevels {
		v.Reserve(level, len(b.base.LevelFiles(level))+len(b.levels[level].addedFiles))
		b.mergeAddedFiles(level, order, func(f *version.FileMetaData) { b.maybeAddFile(v, level, f) })
		order = b.nonzeroOrder
	}
}

func (b *VersionBuilder) addedLackEpochNumber() bool {
	for i := range b.levels {
		for _, f := range b.levels[i].addedFiles {
			if f.EpochNumber == version.UnknownEpochNumber {
				return true
			}
		}
	}
	return false
}

// mergeAddedFiles calls add with the base version's and the added files of a
// level, in order.
func (b *VersionBuilder) mergeAddedFiles(level int, order func(x, y *version.FileMetaData) int, add func(*version.FileMetaData)) {
	added := slices.SortedFunc(maps.Values(b.levels[level].addedFiles), order)
	base := b.base.LevelFiles(level)
	for len(added) > 0 || len(base) > 0 {
		if len(base) == 0 || len(added) > 0 && order(added[0], base[0]) < 0 {
			add(added[0])
			added = added[1:]
		} else {
			add(base[0])
			base = base[1:]
		}
	}
}

func (b *VersionBuilder) maybeAddFile(v *version.StorageInfo, level int, f *version.FileMetaData) {
	number := f.FD.GetNumber()
	if b.tracking && level == 0 && b.l0MissingFiles[number] {
		return
	}
	state := &b.levels[level]
	if added := state.addedFiles[number]; state.deletedFiles[number] || added != nil && added != f {
		v.RemoveCurrentStats(f) // deleted, or superseded by the added metadata
		return
	}
	v.AddFile(level, f)
}

// blobFileView is a blob file as base version and edits have it.
type blobFileView struct {
	number uint64
	base   *blob.BlobFileMetaData // nil for a new file
	m      *mutableBlobFileMeta   // nil for an untouched file
}

func (w *blobFileView) linkedSsts() blob.LinkedSsts {
	if w.m != nil {
		return w.m.linkedSsts
	}
	return w.base.GetLinkedSsts()
}

// blobFilesFrom lists the blob files from a number on, in order.
func (b *VersionBuilder) blobFilesFrom(first uint64) []blobFileView {
	var views []blobFileView
	base := b.base.GetBlobFiles()[b.base.GetBlobFileMetaDataLB(first):]
	for _, m := range base {
		views = append(views, blobFileView{m.GetBlobFileNumber(), m, b.mutableBlobFileMetas[m.GetBlobFileNumber()]})
	}
	for n, m := range b.mutableBlobFileMetas {
		if n >= first && b.base.GetBlobFileMetaData(n) == nil {
			views = append(views, blobFileView{n, nil, m})
		}
	}
	slices.SortFunc(views, func(x, y blobFileView) int {
		if x.number < y.number {
			return -1
		}
		return 1
	})
	return views
}

// minOldestBlobFileNumber is the oldest blob file that a table is linked to.
func (b *VersionBuilder) minOldestBlobFileNumber() uint64 {
	for _, w := range b.blobFilesFrom(blobformat.InvalidBlobFileNumber) {
		if len(w.linkedSsts()) > 0 {
			return w.number
		}
	}
	return blobformat.InvalidBlobFileNumber
}

// saveBlobFilesTo keeps the blob files from the oldest linked one on: tables
// are linked to the oldest they need and may need any later one.
func (b *VersionBuilder) saveBlobFilesTo(v *version.StorageInfo) {
	oldest := b.minOldestBlobFileNumber()
	if oldest == blobformat.InvalidBlobFileNumber {
		return
	}
	for _, w := range b.blobFilesFrom(oldest) {
		linked := w.linkedSsts()
		if b.tracking && (b.missingBlobFiles[w.number] || len(linked) > 0 && b.onlyLinkedToMissingL0Files(linked)) {
			continue
		}
		meta := w.base
		if meta == nil || w.m != nil && w.m.hasDelta() {
			meta = blob.NewBlobFileMetaData(w.m.shared, maps.Clone(w.m.linkedSsts), w.m.garbageCount, w.m.garbageBytes)
		}
		if len(linked) == 0 && meta.GetGarbageBlobCount() >= meta.GetTotalBlobCount() {
			continue
		}
		v.AddBlobFile(meta)
	}
}

func (b *VersionBuilder) onlyLinkedToMissingL0Files(linked blob.LinkedSsts) bool {
	for n := range linked {
		if !b.l0MissingFiles[n] {
			return false
		}
	}
	return true
}

// ValidVersionAvailable tells whether the edits so far make a version that can
// be opened: all files are there or, where allowed, only the newest files of
// level 0 are missing. Only while tracking.
func (b *VersionBuilder) ValidVersionAvailable() bool {
	if b.versionUpdatedSinceLastCheck {
		b.validVersionAvailable = b.containsCompleteVersion() ||
			!b.editedInAtomicGroup && b.o.allowIncompleteValidVersion && b.onlyMissingL0Suffix()
		b.versionUpdatedSinceLastCheck = false
	}
	return b.validVersionAvailable
}

func (b *VersionBuilder) containsCompleteVersion() bool {
	return len(b.l0MissingFiles) == 0 && len(b.nonL0MissingFiles) == 0 &&
		!b.needsMissingBlobFile()
}

// needsMissingBlobFile leaves out files that are older than any needed one, and
// those that are all garbage, which are deleted as well. Upstream counts the latter.
func (b *VersionBuilder) needsMissingBlobFile() bool {
	if len(b.missingBlobFiles) == 0 {
		return false
	}
	oldest := b.minOldestBlobFileNumber()
	for n := range b.missingBlobFiles {
		m := b.mutableBlobFileMetas[n]
		if n >= oldest && (m == nil || len(m.linkedSsts) > 0 || m.garbageCount < m.shared.GetTotalBlobCount()) {
			return true
		}
	}
	return false
}

// HasMissingFiles tells whether any file is missing. Only while tracking.
func (b *VersionBuilder) HasMissingFiles() bool {
	return len(b.l0MissingFiles) > 0 || len(b.nonL0MissingFiles) > 0 || len(b.missingBlobFiles) > 0
}

// GetAndClearIntermediateFiles lists the tables that came and went.
func (b *VersionBuilder) GetAndClearIntermediateFiles() []string {
	files := b.intermediateFiles[:b.numIntermediateFiles]
	b.intermediateFiles, b.numIntermediateFiles = nil, 0
	return files
}

// ClearFoundFiles forgets which tables were found.
func (b *VersionBuilder) ClearFoundFiles() { clear(b.foundFiles) }

func (b *VersionBuilder) onlyMissingL0Suffix() bool {
	return len(b.nonL0MissingFiles) == 0 &&
		(len(b.l0MissingFiles) == 0 || b.missingL0FilesAreNewest()) &&
		(len(b.missingBlobFiles) == 0 || b.remainingFilesNeedNoMissingBlobFile())
}

// missingL0FilesAreNewest tells whether all missing files of level 0 come
// before the first that is there.
func (b *VersionBuilder) missingL0FilesAreNewest() bool {
	order := newestFirstByEpochNumber
	if b.base.GetEpochNumberRequirement() == version.EpochNumberMightMissing {
		order = newestFirstBySeqNo
	}
	left := len(b.l0MissingFiles)
	present := false
	good := true
	b.mergeAddedFiles(0, order, func(f *version.FileMetaData) {
		if b.l0MissingFiles[f.FD.GetNumber()] {
			good = good && !present
			left--
		} else if left > 0 {
			present = true
			good = false
		}
	})
	return good
}

// remainingFilesNeedNoMissingBlobFile tells whether each missing blob file is
// older than any that is needed, or linked to missing tables only.
func (b *VersionBuilder) remainingFilesNeedNoMissingBlobFile() bool {
	oldest := b.minOldestBlobFileNumber()
	for n := range b.missingBlobFiles {
		if n < oldest {
			continue
		}
		m := b.mutableBlobFileMetas[n]
		if m == nil {
			continue
		}
		if len(m.linkedSsts) > 0 && len(b.l0MissingFiles) == 0 || !b.onlyLinkedToMissingL0Files(m.linkedSsts) {
			return false
		}
	}
	return true
}

// LoadTableHandlersOptions are LoadTableHandlers' arguments.
type LoadTableHandlersOptions struct {
	MaxThreads                    int
	PrefetchIndexAndFilterInCache bool
	IsInitialLoad                 bool
	MutableCFOptions              *options.MutableCFOptions
	MaxFileSizeForL0MetaPin       uint64
	ReadOptions                   *rocksdb.ReadOptions
	InternalStats                 *InternalStats // may be nil
	Stop                          *atomic.Bool   // may be nil; true stops the loading
}

// LoadTableHandlers opens the added tables: all of them when the table cache
// has no limit, otherwise as many as fit in a quarter of it.
func (b *VersionBuilder) LoadTableHandlers(o LoadTableHandlersOptions) error {
	tc := b.o.TableCache
	maxLoad := -1
	if capacity := tc.Capacity(); capacity < tablecacheInfinite {
		limit := capacity / 4
		if o.IsInitialLoad {
			limit = min(16, limit)
		}
		used := tc.Usage()
		if used >= limit {
			return nil
		}
		maxLoad = limit - used
	}
	var files []version.LevelFile
	for level := range b.levels {
		for number, f := range b.levels[level].addedFiles {
			if len(files) == maxLoad {
				break
			}
			if b.tracking && level == 0 && b.l0MissingFiles[number] || f.FD.PinnedReader() != nil {
				continue
			}
			files = append(files, version.LevelFile{Level: level, File: f})
		}
	}
	return loadTableHandlers(files, tc, o)
}
