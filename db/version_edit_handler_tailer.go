// Port of db/version_edit_handler.{h,cc} (ManifestTailer). Differs: families that
// were made later stay out by name, and those of which a new MANIFEST does not
// tell any more count as dropped.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// manifestTailer follows a MANIFEST that another process writes. The first
// replay is a recovery; each later one goes on where the one before ended, and
// makes the newest version of each family current of which all files are there.
type manifestTailer struct {
	*versionEditHandlerPointInTime
	recovered bool
	// unseen are, during the replay of a MANIFEST that took another one's place,
	// the families that it did not name yet.
	unseen map[uint32]bool
	// changed are the families that edits since the last takeChanged were of.
	changed map[*ColumnFamilyData]bool
}

func newManifestTailer(vs *VersionSet, cfs []rocksdb.ColumnFamilyDescriptor) *manifestTailer {
	t := &manifestTailer{versionEditHandlerPointInTime: newVersionEditHandlerPointInTime(vs, cfs, true, false),
		changed: map[*ColumnFamilyData]bool{}}
	t.epochRequirement = version.EpochNumberMightMissing
	t.fs = nil // behind the last record there may be part of one that is being written
	t.hooks = t
	return t
}

func (t *manifestTailer) mustOpenAllColumnFamilies() bool { return false }

// prepareToReadNewManifest is for a MANIFEST that took the place of the one
// before: it begins with all that is.
func (t *manifestTailer) prepareToReadNewManifest() {
	t.readBuffer.Clear()
	t.vs.wals.Reset()
	t.unseen = map[uint32]bool{}
	for id := range t.builders {
		if id != 0 {
			t.unseen[id] = true
		}
	}
	t.restart(t.vs.cfs.GetDefault())
}

// restart lets the family's builder begin with no files again.
func (t *manifestTailer) restart(cfd *ColumnFamilyData) {
	old := t.builders[cfd.GetID()]
	t.builders[cfd.GetID()] = t.vs.newVersionBuilderOn(old.base, cfd, t.hooks, t.allowIncompleteVersion)
	old.close()
}

func (t *manifestTailer) initialize() error {
	if t.recovered {
		return nil
	}
	return t.versionEditHandlerPointInTime.initialize()
}

func (t *manifestTailer) applyVersionEdit(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	if t.recovered && e.IsColumnFamilyAdd() {
		return t.onLaterColumnFamilyAdd(e)
	}
	if cfd := t.vs.cfs.GetColumnFamily(id); cfd != nil && t.builders[id] != nil {
		t.changed[cfd] = true
	}
	return t.versionEditHandlerPointInTime.applyVersionEdit(e)
}

// onLaterColumnFamilyAdd is for a family of a new MANIFEST, or a new family.
func (t *manifestTailer) onLaterColumnFamilyAdd(e *version.VersionEdit) error {
	id := e.GetColumnFamily()
	if t.builders[id] == nil {
		t.doNotOpen[id] = e.GetColumnFamilyName()
		return t.extractInfo(nil, e)
	}
	cfd := t.vs.cfs.GetColumnFamily(id)
	delete(t.unseen, id)
	t.restart(cfd)
	t.changed[cfd] = true
	return t.extractInfo(cfd, e)
}

func (t *manifestTailer) checkIterationResult(r manifestReader, err error) error {
	if err == nil {
		err = t.dropUnseen()
	}
	if err = t.versionEditHandlerPointInTime.checkIterationResult(r, err); err == nil {
		t.recovered = true
	}
	return err
}

// dropUnseen drops what the new MANIFEST, whose beginning is complete before
// CURRENT names it, does not have.
func (t *manifestTailer) dropUnseen() error {
	for id := range t.unseen {
		e := new(version.VersionEdit)
		e.SetColumnFamily(id)
		t.changed[t.vs.cfs.GetColumnFamily(id)] = true
		if err := t.destroyCF(e); err != nil {
			return err
		}
	}
	t.unseen = nil
	return nil
}

// maybeCreateVersionBeforeApplyEdit leaves families alone of which nothing is
// new, unless a group waits for all.
func (t *manifestTailer) maybeCreateVersionBeforeApplyEdit(e *version.VersionEdit, cfd *ColumnFamilyData, force bool) error {
	if t.recovered && force && t.atomicVersions == nil && !t.changed[cfd] {
		return nil
	}
	return t.versionEditHandlerPointInTime.maybeCreateVersionBeforeApplyEdit(e, cfd, force)
}

// complete tells whether all files of the newest state are there. One that is not
// was deleted after it was read about, by a change that the MANIFEST tells of by now.
func (t *manifestTailer) complete() bool {
	for _, b := range t.builders {
		if !b.ValidVersionAvailable() {
			return false
		}
	}
	return true
}

// takeChanged gives the families that changed since it was called last.
func (t *manifestTailer) takeChanged() map[*ColumnFamilyData]bool {
	changed := t.changed
	t.changed = map[*ColumnFamilyData]bool{}
	return changed
}
