// Port of db/db_impl/db_impl.cc (DeleteFilesInRanges).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// DeleteFilesInRanges drops the files above level 0 all of whose keys are in one
// of the ranges. Keys of other files in the ranges stay. With includeEnd a
// range's limit belongs to it. Snapshots do not hold files back, but iterators
// and reads under way do.
func (d *DBImpl) DeleteFilesInRanges(cf rocksdb.ColumnFamilyHandle, ranges []rocksdb.RangeOpt, includeEnd bool) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	cfd := d.cfd(cf)
	ts := cfd.UserComparator().TimestampSize()
	job := d.newJobContext()
	edit := &version.VersionEdit{}
	edit.MarkForegroundOperation()
	edit.SetColumnFamily(cfd.GetID())
	d.mu.Lock()
	input := cfd.Current()
	vs := input.StorageInfo()
	var deleted []*version.FileMetaData
	for _, r := range ranges {
		var begin, end []byte
		if r.Start != nil {
			begin = dbformat.AppendKeyWithMaxTimestamp(nil, r.Start, ts)
		}
		if r.Limit != nil && includeEnd {
			end = dbformat.AppendKeyWithMinTimestamp(nil, r.Limit, ts)
		} else if r.Limit != nil {
			end = dbformat.AppendKeyWithMaxTimestamp(nil, r.Limit, ts)
		}
		deleted = deleteFilesInRange(cfd, vs, edit, deleted, begin, end, includeEnd)
	}
	if len(deleted) == 0 {
		d.mu.Unlock()
		job.clean()
		return nil
	}
	vs.ComputeCompactionScore(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
	input.Ref()
	err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{edit}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
	if err == nil {
		d.installSuperVersionAndScheduleLocked(cfd, &job.sv)
	}
	for _, f := range deleted {
		f.BeingCompacted = false
	}
	input.Unref()
	d.findObsoleteFilesLocked(job, false, false)
	d.mu.Unlock()
	if job.haveSomethingToDelete() {
		d.purgeObsoleteFiles(job)
	}
	job.clean()
	return err
}

// deleteFilesInRange adds to the edit, and to deleted, the files within one
// range of user keys; they count as being compacted from then on.
func deleteFilesInRange(cfd *db.ColumnFamilyData, vs *version.StorageInfo, edit *version.VersionEdit, deleted []*version.FileMetaData,
	begin, end []byte, includeEnd bool) []*version.FileMetaData {
	var lo, hi dbformat.InternalKey
	if begin != nil {
		lo = dbformat.SetMinPossibleForUserKey(begin)
	}
	if end != nil {
		hi = dbformat.SetMaxPossibleForUserKey(end)
	}
	for level := 1; level < cfd.NumberLevels(); level++ {
		if vs.NumLevelFiles(level) == 0 || !vs.OverlapInLevel(level, begin, end) {
			continue
		}
		files, _ := vs.GetCleanInputsWithinInterval(level, lo, hi)
		for _, f := range files {
			if f.BeingCompacted || !includeEnd && end != nil &&
				cfd.InternalComparator().CompareWithoutTimestamp(f.Largest.UserKey(), end) == 0 {
				continue
			}
			edit.DeleteFile(level, f.FD.GetNumber())
			f.BeingCompacted = true
			deleted = append(deleted, f)
		}
	}
	return deleted
}
