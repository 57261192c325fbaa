// Port of db/version_edit_handler.cc, VersionEditHandlerPointInTime.

package db

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// versionEditHandlerPointInTime recovers each family to the last state of
// which all files exist. Families that an atomic group touched go together.
type versionEditHandlerPointInTime struct {
	*versionEditHandler
	versions map[uint32]*Version // the last complete one; not installed yet

	inAtomicGroup bool
	// atomicVersions are the complete versions, nil where there is none yet, of
	// the families that the last atomic group may have touched.
	atomicVersions map[uint32]*Version
}

// newVersionEditHandlerPointInTime makes a handler. allowIncomplete also
// accepts states in which only the newest files of level 0 are missing.
func newVersionEditHandlerPointInTime(vs *VersionSet, cfs []rocksdb.ColumnFamilyDescriptor, readOnly, allowIncomplete bool) *versionEditHandlerPointInTime {
	h := &versionEditHandlerPointInTime{versionEditHandler: newVersionEditHandler(vs, cfs, readOnly), versions: map[uint32]*Version{}}
	h.trackFiles, h.noErrorIfFilesMissing, h.allowIncompleteVersion = true, true, allowIncomplete
	h.hooks = h
	return h
}

// close lets go of versions and builders.
func (h *versionEditHandlerPointInTime) close() {
	h.releaseVersions()
	h.versionEditHandler.close()
}

func (h *versionEditHandlerPointInTime) releaseVersions() {
	for _, v := range h.versions {
		v.release()
	}
	clear(h.versions)
	h.releaseAtomicVersions()
}

func (h *versionEditHandlerPointInTime) releaseAtomicVersions() {
	for _, v := range h.atomicVersions {
		if v != nil {
			v.release()
		}
	}
	h.atomicVersions = nil
}

// put makes v the last complete version of its family.
func (h *versionEditHandlerPointInTime) put(id uint32, v *Version) {
	v.PrepareAppend(&h.readOptions, !h.vs.dbOptions.SkipStatsUpdateOnDBOpen)
	if old := h.versions[id]; old != nil {
		old.release()
	}
	h.versions[id] = v
}

func (h *versionEditHandlerPointInTime) onAtomicGroupReplayBegin() error {
	if h.inAtomicGroup {
		return rocksdb.Corruption("unexpected AtomicGroup start")
	}
	// The group may keep families from being saved: save what is complete.
	for _, id := range h.familyIDs() {
		if err := h.maybeCreateVersionBeforeApplyEdit(new(version.VersionEdit), h.vs.cfs.GetColumnFamily(id), true); err != nil {
			return err
		}
	}
	// What an earlier group did not complete is too old for this one.
	h.releaseAtomicVersions()
	h.inAtomicGroup = true
	// All families count as touched; that may recover less than it could.
	h.atomicVersions = map[uint32]*Version{}
	for id := range h.builders {
		h.atomicVersions[id] = nil
	}
	return nil
}

func (h *versionEditHandlerPointInTime) familyIDs() []uint32 {
	ids := make([]uint32, 0, len(h.builders))
	for id := range h.builders {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (h *versionEditHandlerPointInTime) onAtomicGroupReplayEnd() error {
	if !h.inAtomicGroup {
		return rocksdb.Corruption("unexpected AtomicGroup end")
	}
	h.inAtomicGroup = false
	if len(h.builders) != len(h.atomicVersions) {
		return rocksdb.Corruption("unexpected CF change in AtomicGroup")
	}
	for id := range h.builders {
		if _, ok := h.atomicVersions[id]; !ok {
			return rocksdb.Corruption("unexpected CF add in AtomicGroup")
		}
	}
	return nil
}

func (h *versionEditHandlerPointInTime) checkIterationResult(r manifestReader, err error) error {
	if err = h.versionEditHandler.checkIterationResult(r, err); err != nil {
		h.releaseVersions()
		return err
	}
	for _, cfd := range h.vs.cfs.All() {
		id := cfd.GetID()
		if v := h.versions[id]; v != nil && !cfd.IsDropped() {
			delete(h.versions, id)
			h.vs.appendVersion(cfd, v)
			h.builders[id].ClearFoundFiles() // they are live now
		}
	}
	return nil
}

func (h *versionEditHandlerPointInTime) destroyCF(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	if v, ok := h.atomicVersions[id]; ok {
		if v != nil {
			v.release()
		}
		delete(h.atomicVersions, id)
		h.applyCompleteAtomicVersions()
	}
	if v := h.versions[id]; v != nil {
		v.release()
		delete(h.versions, id)
	}
	return h.versionEditHandler.destroyCF(e)
}

// maybeCreateVersionBeforeApplyEdit applies e, and saves the state before it
// when that was complete and the one after is not, or the state after it when
// that is complete and the caller forces it.
func (h *versionEditHandlerPointInTime) maybeCreateVersionBeforeApplyEdit(e *version.VersionEdit, cfd *ColumnFamilyData, force bool) error {
	b := h.builders[cfd.GetID()]
	defer b.CommitLastApply()
	before := b.ValidVersionAvailable()
	if err := b.Apply(e); err != nil {
		return err
	}
	after := b.ValidVersionAvailable()
	edge := before && !after
	if h.checkNumbers() != nil || h.inAtomicGroup || !edge && !(after && force) {
		return nil
	}
	if edge {
		b.RollbackLastApply()
		defer b.RedoLastApply()
	}
	v := newVersion(cfd, h.vs, cfd.GetLatestMutableCFOptions(), h.vs.takeVersionNumber(), h.epochRequirement)
	if err := b.LoadTableHandlers(h.loadOptions(cfd)); err != nil {
		v.release()
		if rocksdb.IsCorruption(err) {
			return nil // this state cannot be recovered; another may
		}
		return err
	}
	if err := b.SaveTo(v.storage); err != nil {
		v.release()
		return err
	}
	id := cfd.GetID()
	if old, ok := h.atomicVersions[id]; ok {
		if old != nil {
			old.release()
		}
		h.atomicVersions[id] = v
		h.applyCompleteAtomicVersions()
		return nil
	}
	h.put(id, v)
	return nil
}

// applyCompleteAtomicVersions saves the versions of a group once all are there.
func (h *versionEditHandlerPointInTime) applyCompleteAtomicVersions() {
	for _, v := range h.atomicVersions {
		if v == nil {
			return
		}
	}
	for id, v := range h.atomicVersions {
		h.put(id, v)
	}
	h.atomicVersions = nil
}

// VerifyFile looks at a table's size and, where that is asked for, its id.
func (h *versionEditHandlerPointInTime) VerifyFile(cfd *ColumnFamilyData, fpath string, level int, meta *version.FileMetaData) error {
	return h.vs.verifyFileMetadata(&h.readOptions, cfd, fpath, level, meta)
}

// VerifyBlobFile looks at whether a blob file is there, complete, the family's
// and as long as it should be.
func (h *versionEditHandlerPointInTime) VerifyBlobFile(cfd *ColumnFamilyData, number uint64, addition *blobformat.BlobFileAddition) error {
	ro := rocksdb.DefaultReadOptions()
	r, err := blob.OpenBlobFileReader(cfd.IOptions(), &ro, &h.vs.fileOptions, cfd.GetID(), nil, number)
	if err != nil {
		return err
	}
	size := r.GetFileSize()
	if err := r.Close(); err != nil {
		return err
	}
	if size < blobformat.BlobLogHeaderSize+addition.GetTotalBlobBytes()+blobformat.BlobLogFooterSize {
		return rocksdb.Corruption("File size mismatch: " + filename.BlobFileName(cfd.IOptions().CFPaths[0].Path, number))
	}
	return nil
}

// loadTables does nothing: versions load theirs as they are made.
func (h *versionEditHandlerPointInTime) loadTables(*ColumnFamilyData) error { return nil }

// HasMissingFiles tells whether any family misses files.
func (h *versionEditHandlerPointInTime) HasMissingFiles() bool {
	for _, b := range h.builders {
		if b.HasMissingFiles() {
			return true
		}
	}
	return false
}
