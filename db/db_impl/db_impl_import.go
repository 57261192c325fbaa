// Port of db/db_impl/db_impl.cc (CreateColumnFamilyWithImport,
// ClipColumnFamily).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// CreateColumnFamilyWithImport makes a family of exported files; those of
// several exports must not overlap. After an error there is no family.
func (d *DBImpl) CreateColumnFamilyWithImport(o *rocksdb.ColumnFamilyOptions, name string, io *rocksdb.ImportColumnFamilyOptions,
	from []*rocksdb.ExportImportFilesMetaData) (*db.ColumnFamilyHandleImpl, error) {
	if d.readOnly {
		return nil, d.readOnlyError()
	}
	if io == nil {
		io = &rocksdb.ImportColumnFamilyOptions{}
	}
	comparator := db.SanitizeColumnFamilyOptions(d.immutable, false, o).Comparator.Name()
	total := 0
	for _, m := range from {
		if m.DBComparatorName != comparator {
			return nil, rocksdb.InvalidArgument("Comparator name mismatch")
		}
		total += len(m.Files)
	}
	h, err := d.CreateColumnFamily(o, name)
	if err != nil {
		return nil, err
	}
	cfd := h.CFD()
	j := db.NewImportColumnFamilyJob(d.versions, cfd, d.immutable, d.fileOptions, &d.dirs, io, from)
	var pending *uint64
	first, err := d.reserveFileNumbers(cfd, uint64(total), &pending)
	var keep []uint64
	if err == nil {
		sv := cfd.GetReferencedSuperVersion()
		err = j.Prepare(first, sv)
		sv.Release()
		if err == nil {
			keep, err = d.commitImport(cfd, j)
		}
		j.Cleanup(err, keep)
		d.mu.Lock()
		d.releaseOutputsLocked(pending)
		d.mu.Unlock()
	}
	if err == nil {
		return h, nil
	}
	if e := d.DropColumnFamily(h); e != nil {
		logging.Error(d.infoLog, "DropColumnFamily failed with error %v", e)
	}
	_ = d.DestroyColumnFamilyHandle(h) // the first error counts
	return nil, err
}

// commitImport makes the files a part of the family. After an error keep are
// the files that the MANIFEST may name.
func (d *DBImpl) commitImport(cfd *db.ColumnFamilyData, j *db.ImportColumnFamilyJob) (keep []uint64, err error) {
	var ctx db.SuperVersionContext
	d.mu.Lock()
	w := d.enterUnbatchedForSwitchLocked()
	last, err := j.Run()
	if err == nil {
		j.Edit().MarkForegroundOperation()
		err = d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{j.Edit()}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()})
		if err == nil {
			d.raiseLastSequence(last)
			d.installSuperVersionForConfigChangeLocked(cfd, &ctx)
		} else {
			keep = append(keep, d.errorHandler.GetFilesToQuarantine()...)
		}
	}
	d.exitUnbatchedLocked(w)
	d.mu.Unlock()
	ctx.Clean()
	return keep, err
}

// ClipColumnFamily removes all keys outside [begin, end), and their space.
func (d *DBImpl) ClipColumnFamily(cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	if d.readOnly {
		return d.readOnlyError()
	}
	cfd := d.cfd(cf)
	fo := rocksdb.DefaultFlushOptions()
	fo.AllowWriteStall = true
	if err := d.flushMemTable(cfd, &fo, rocksdb.FlushReasonDeleteFiles); err != nil {
		return err
	}
	if err := d.DeleteFilesInRanges(cf, []rocksdb.RangeOpt{{Limit: begin}, {Start: end}}, true); err != nil {
		return err
	}
	// What is left outside goes key by key.
	d.mu.Lock()
	smallest, largest := cfd.Current().GetSstFilesBoundaryKeys()
	d.mu.Unlock()
	if len(smallest) == 0 && len(largest) == 0 {
		return nil
	}
	ucmp := cfd.UserComparator()
	if ucmp.Compare(smallest, begin) < 0 {
		if err := d.DeleteRange(nil, cf, smallest, begin); err != nil {
			return err
		}
	}
	if ucmp.Compare(end, largest) <= 0 {
		if err := d.DeleteRange(nil, cf, end, largest); err != nil {
			return err
		}
		if err := d.Delete(nil, cf, largest); err != nil {
			return err
		}
	}
	// All of the family: a compaction of less would leave range tombstones.
	co := rocksdb.DefaultCompactRangeOptions()
	co.ExclusiveManualCompaction = true
	co.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	return d.CompactRange(&co, cf, nil, nil)
}
