// Port of db/db_impl/db_impl_experimental.cc. Differs: no background work runs
// while PromoteL0 moves files, which it could work on.

package dbimpl

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// SuggestCompactRange marks the files with keys from begin to end, end included,
// for compaction, but for those of the last level with files; nil bounds are open.
func (d *DBImpl) SuggestCompactRange(cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	cfd := d.cfd(cf)
	ts := cfd.UserComparator().TimestampSize()
	var lo, hi dbformat.InternalKey
	if begin != nil {
		lo = dbformat.SetMinPossibleForUserKey(dbformat.AppendKeyWithMaxTimestamp(nil, begin, ts))
	}
	if end != nil {
		hi = dbformat.SetMaxPossibleForUserKey(dbformat.AppendKeyWithMinTimestamp(nil, end, ts))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	vs := cfd.Current().StorageInfo()
	for level := range vs.NumNonEmptyLevels() - 1 {
		for _, f := range vs.GetOverlappingInputs(level, lo, hi) {
			f.MarkedForCompaction.Store(true)
		}
	}
	vs.ComputeCompactionScore(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
	d.enqueuePendingCompactionLocked(cfd)
	d.maybeScheduleLocked()
	return nil
}

// PromoteL0 moves all level 0 files to level target without reading them. It is
// InvalidArgument where they overlap or are being compacted, or where the levels
// up to target are not empty.
func (d *DBImpl) PromoteL0(cf rocksdb.ColumnFamilyHandle, target int) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	if target < 1 {
		return d.promoteFailed("Invalid target level")
	}
	cfd := d.cfd(cf)
	d.mu.Lock()
	_, err := d.promotableLocked(cfd, target)
	d.mu.Unlock()
	if err != nil {
		return err
	}
	if err := d.PauseBackgroundWork(); err != nil {
		return err
	}
	job := d.newJobContext()
	d.mu.Lock()
	files, err := d.promotableLocked(cfd, target)
	if err == nil && len(files) > 0 {
		edit := &version.VersionEdit{}
		edit.SetColumnFamily(cfd.GetID())
		for _, f := range files {
			edit.DeleteFile(0, f.FD.GetNumber())
			edit.AddFile(target, f.CloneForMove())
		}
		err = d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{edit}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
		if err == nil {
			d.installSuperVersionAndScheduleLocked(cfd, &job.sv)
		}
	}
	d.mu.Unlock()
	job.clean()
	if e := d.ContinueBackgroundWork(); err == nil {
		err = e
	}
	return err
}

func (d *DBImpl) promoteFailed(why string) error {
	logging.Info(d.infoLog, "PromoteL0 FAILED. %s", why)
	return rocksdb.InvalidArgument(why)
}

// promotableLocked gives the level 0 files, by key, if they may be moved.
func (d *DBImpl) promotableLocked(cfd *db.ColumnFamilyData, target int) ([]*version.FileMetaData, error) {
	vs, icmp := cfd.Current().StorageInfo(), cfd.InternalComparator()
	if target >= vs.NumLevels() {
		return nil, d.promoteFailed("Target level does not exist")
	}
	files := slices.Clone(vs.LevelFiles(0))
	slices.SortFunc(files, func(a, b *version.FileMetaData) int { return icmp.Compare(a.Largest, b.Largest) })
	for i, f := range files {
		if f.BeingCompacted {
			return nil, d.promoteFailed("PromoteL0 called during L0 compaction")
		}
		// Below level 0 a user key is in one file only.
		if i > 0 && icmp.UserComparator().Compare(files[i-1].Largest.UserKey(), f.Smallest.UserKey()) >= 0 {
			return nil, d.promoteFailed("L0 has overlapping files")
		}
	}
	for level := 1; level <= target; level++ {
		if vs.NumLevelFiles(level) > 0 {
			return nil, d.promoteFailed("All levels up to target_level must be empty")
		}
	}
	return files, nil
}
