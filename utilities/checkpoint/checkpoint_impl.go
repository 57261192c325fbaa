// Port of utilities/checkpoint/checkpoint_impl.{h,cc}. Differs: a staging
// directory that an earlier export left is removed.

package checkpoint

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// Checkpoint makes checkpoints of one database.
type Checkpoint struct {
	d   *dbimpl.DBImpl
	fs  rocksdb.FileSystem
	log rocksdb.Logger
	// useFsync is the database's option.
	useFsync bool
}

// New makes a Checkpoint of an open database.
func New(d *dbimpl.DBImpl) *Checkpoint {
	o := d.GetDBOptions()
	return &Checkpoint{d: d, fs: d.GetFileSystem(), log: o.InfoLog, useFsync: o.UseFsync}
}

// staging is the directory next to dir where its contents are collected.
func (c *Checkpoint) staging(dir string) (string, error) {
	name := strings.TrimRight(dir, "/")
	if name == "" {
		return "", rocksdb.InvalidArgument("invalid checkpoint directory name")
	}
	return name + ".tmp", nil
}

// clean removes a staging directory, if it is there.
func (c *Checkpoint) clean(dir string) error {
	err := c.fs.FileExists(dir, nil)
	if rocksdb.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := c.fs.GetChildren(dir, nil)
	if err != nil {
		return err
	}
	for _, n := range names {
		e := c.fs.DeleteFile(dir+"/"+n, nil)
		logging.Info(c.log, "Delete file %s/%s -- %v", dir, n, e)
		if e != nil && err == nil {
			err = e
		}
	}
	if err == nil {
		err = c.fs.DeleteDir(dir, nil)
		logging.Info(c.log, "Delete dir %s -- %v", dir, err)
	}
	return err
}

// install renames a staging directory to its name and syncs it.
func (c *Checkpoint) install(staged, dir string) error {
	if err := c.fs.RenameFile(staged, dir, nil); err != nil {
		return err
	}
	d, err := c.fs.NewDirectory(dir, rocksdb.NewIOOptions())
	if err != nil {
		return err
	}
	err = d.FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncDirRenamed})
	if cerr := d.Close(rocksdb.NewIOOptions()); err == nil && !rocksdb.IsNotSupported(cerr) {
		err = cerr
	}
	return err
}

// withoutDeletions runs f while files of the database stay.
func (c *Checkpoint) withoutDeletions(f func() error) error {
	if err := c.d.DisableFileDeletions(); err != nil {
		return err
	}
	err := f()
	if e := c.d.EnableFileDeletions(); err == nil {
		err = e
	}
	return err
}

// CreateCheckpoint makes the directory dir, which must not exist, a copy of the
// database that can be opened; it gives the sequence number up to which writes
// are surely in it. The memtables are flushed first when the logs have at least
// logSizeForFlush bytes, always with 0; otherwise the logs are copied.
func (c *Checkpoint) CreateCheckpoint(dir string, logSizeForFlush uint64) (seq rocksdb.SequenceNumber, err error) {
	return c.create(dir, logSizeForFlush, serialMover{c})
}

// create is upstream's CheckpointImpl::CreateCheckpointImpl.
func (c *Checkpoint) create(dir string, logSizeForFlush uint64, m mover) (seq rocksdb.SequenceNumber, err error) {
	switch err := c.fs.FileExists(dir, nil); {
	case err == nil:
		return 0, rocksdb.InvalidArgument("Directory exists")
	case !rocksdb.IsNotFound(err):
		return 0, err
	}
	logging.Info(c.log, "Started the snapshot process -- creating snapshot in directory %s", dir)
	tmp, err := c.staging(dir)
	if err != nil {
		return 0, err
	}
	logging.Info(c.log, "Snapshot process -- using temporary directory %s", tmp)
	if err := c.clean(tmp); err != nil {
		return 0, rocksdb.Aborted("Failed to clean the temporary directory " + tmp + " needed before checkpoint creation : " + err.Error())
	}
	if err = c.fs.CreateDir(tmp, nil); err == nil {
		err = c.withoutDeletions(func() error {
			var err error
			seq, err = c.collect(tmp, logSizeForFlush, m)
			// What was begun ends before the directory is cleaned or renamed.
			if ferr := m.finish(); err == nil {
				err = ferr
			}
			return err
		})
	}
	installed := false
	if err == nil {
		err = c.install(tmp, dir)
		installed = err == nil
	}
	if !installed {
		logging.Info(c.log, "Snapshot failed -- %v", err)
		// One of them is there, or none.
		for _, x := range []string{tmp, dir} {
			if e := c.clean(x); e != nil {
				logging.Warn(c.log, "Clean files or directory we might have created %s: %v", x, e)
			}
		}
		return 0, err
	}
	logging.Info(c.log, "Snapshot DONE. All is good")
	logging.Info(c.log, "Snapshot sequence number: %d", seq)
	return seq, nil
}

// collect puts the live files into a directory.
func (c *Checkpoint) collect(to string, logSizeForFlush uint64, m mover) (rocksdb.SequenceNumber, error) {
	paths := func(f *rocksdb.LiveFileStorageInfo) (src, dst string) {
		return f.Directory + "/" + f.RelativeFilename, to + "/" + f.RelativeFilename
	}
	return c.CreateCustomCheckpoint(&CustomCheckpoint{
		Link: func(f *rocksdb.LiveFileStorageInfo) error {
			src, dst := paths(f)
			return m.link(src, dst, f)
		},
		Copy: func(f *rocksdb.LiveFileStorageInfo) error {
			src, dst := paths(f)
			return m.copy(src, dst, f)
		},
		Create: func(f *rocksdb.LiveFileStorageInfo) error {
			logging.Info(c.log, "Creating %s", f.RelativeFilename)
			return file.CreateFile(c.fs, to+"/"+f.RelativeFilename, []byte(f.ReplacementContents), c.useFsync)
		},
		LogSizeForFlush: logSizeForFlush,
	})
}

// copyFile copies the first f.Size bytes, keeping the temperature.
func (c *Checkpoint) copyFile(src, dst string, f *rocksdb.LiveFileStorageInfo, o *file.CopyOptions) error {
	if f.Size == 0 {
		// CopyFile takes 0 for all there is by now.
		return file.CreateFile(c.fs, dst, nil, c.useFsync)
	}
	o.SrcTemperature, o.DstTemperature, o.UseFsync = f.Temperature, f.Temperature, c.useFsync
	return file.CopyFile(c.fs, src, dst, f.Size, o)
}

// CustomCheckpoint says how files are collected.
type CustomCheckpoint struct {
	// Link is called for files that do not change; after its first NotSupported
	// they go to Copy, as the others do.
	Link func(f *rocksdb.LiveFileStorageInfo) error
	// Copy copies the first f.Size bytes.
	Copy func(f *rocksdb.LiveFileStorageInfo) error
	// Create makes a file of f.ReplacementContents.
	Create func(f *rocksdb.LiveFileStorageInfo) error
	// LogSizeForFlush is CreateCheckpoint's.
	LogSizeForFlush uint64
	// IncludeChecksums gives files their checksums, where these are known.
	IncludeChecksums bool
	// AtomicFlush flushes all families as one.
	AtomicFlush bool
}

// CreateCustomCheckpoint hands the live files to x's functions. File deletions
// have to be disabled. It gives the sequence number up to which writes are
// surely in the files.
func (c *Checkpoint) CreateCustomCheckpoint(x *CustomCheckpoint) (rocksdb.SequenceNumber, error) {
	seq := c.d.GetLatestSequenceNumber()
	files, err := c.d.GetLiveFilesStorageInfo(&rocksdb.LiveFilesStorageInfoOptions{IncludeChecksumInfo: x.IncludeChecksums,
		WALSizeForFlush: x.LogSizeForFlush, AtomicFlush: x.AtomicFlush})
	if err != nil {
		return 0, err
	}
	dir := ""
	for i := range files {
		f := &files[i]
		if f.FileType == rocksdb.WalFile {
			continue
		}
		if dir != "" && dir != f.Directory {
			return 0, rocksdb.NotSupported("db_paths / cf_paths not supported for Checkpoint nor BackupEngine")
		}
		dir = f.Directory
	}
	sameFS := true
	for i := range files {
		f := &files[i]
		if f.ReplacementContents != "" {
			if f.Size != uint64(len(f.ReplacementContents)) {
				return 0, rocksdb.Corruption("Inconsistent size metadata for " + f.RelativeFilename)
			}
			if err := x.Create(f); err != nil {
				return 0, err
			}
			continue
		}
		if sameFS && !f.TrimToSize {
			err := x.Link(f)
			if err == nil {
				continue
			}
			if !rocksdb.IsNotSupported(err) {
				return 0, err
			}
			sameFS = false
		}
		if err := x.Copy(f); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

// ExportColumnFamily flushes a family and puts its tables, as hard links where
// the file system has them, into the directory dir, which must not exist. The
// result is for CreateColumnFamilyWithImport. h is nil for the default family.
func (c *Checkpoint) ExportColumnFamily(h *db.ColumnFamilyHandleImpl, dir string) (*rocksdb.ExportImportFilesMetaData, error) {
	if h == nil {
		h = c.d.DefaultColumnFamily()
	}
	switch err := c.fs.FileExists(dir, nil); {
	case err == nil:
		return nil, rocksdb.InvalidArgument("Specified export_dir exists")
	case !rocksdb.IsNotFound(err):
		return nil, err
	}
	tmp, err := c.staging(dir)
	if err != nil {
		return nil, rocksdb.InvalidArgument("Specified export_dir invalid")
	}
	logging.Info(c.log, "[%s] export column family onto export directory %s", h.GetName(), dir)
	if err := c.clean(tmp); err != nil {
		return nil, err
	}
	if err := c.fs.CreateDir(tmp, nil); err != nil {
		return nil, err
	}
	m := &rocksdb.ExportImportFilesMetaData{DBComparatorName: h.GetComparator().Name()}
	if err = c.d.Flush(nil, h); err == nil {
		err = c.withoutDeletions(func() error { return c.export(h, tmp, dir, m) })
	}
	if err == nil {
		err = c.install(tmp, dir)
	}
	if err != nil {
		logging.Info(c.log, "[%s] Export failed. %v", h.GetName(), err)
		for _, x := range []string{tmp, dir} {
			if e := c.clean(x); e != nil {
				logging.Warn(c.log, "Failed to cleanup dir %s: %v", x, e)
			}
		}
		return nil, err
	}
	logging.Info(c.log, "[%s] Export succeeded.", h.GetName())
	return m, nil
}

// export puts the tables into tmp and their descriptions into m.
func (c *Checkpoint) export(h *db.ColumnFamilyHandleImpl, tmp, dir string, m *rocksdb.ExportImportFilesMetaData) error {
	meta := c.d.GetColumnFamilyMetaData(h, nil)
	syncpoint.Process("CheckpointImpl::ExportColumnFamily:GotMetaData")
	link := true
	for _, l := range meta.Levels {
		for i := range l.Files {
			f := l.Files[i]
			src, dst := f.DBPath+f.Name, tmp+f.Name
			if link {
				logging.Info(c.log, "[%s] HardLinking %s", h.GetName(), f.Name)
				err := c.fs.LinkFile(src, dst, rocksdb.NewIOOptions())
				if err != nil && (!rocksdb.IsNotSupported(err) || len(m.Files) > 0) {
					return err
				}
				link = err == nil
			}
			if !link {
				logging.Info(c.log, "[%s] Copying %s", h.GetName(), f.Name)
				if err := file.CopyFile(c.fs, src, dst, 0, &file.CopyOptions{SrcTemperature: f.Temperature, DstTemperature: f.Temperature,
					UseFsync: c.useFsync, MaxReadBufferSize: 1 << 20}); err != nil {
					return err
				}
			}
			x := rocksdb.LiveFileMetaData{SstFileMetaData: rocksdb.SstFileMetaData{SmallestSeqno: f.SmallestSeqno, LargestSeqno: f.LargestSeqno,
				SmallestKey: f.SmallestKey, LargestKey: f.LargestKey, OldestBlobFileNumber: f.OldestBlobFileNumber, EpochNumber: f.EpochNumber,
				Smallest: f.Smallest, Largest: f.Largest, Name: f.Name, DBPath: dir}, Level: l.Level}
			x.Size, x.FileNumber, x.Directory, x.RelativeFilename = f.Size, f.FileNumber, dir, f.RelativeFilename
			x.FileType = f.FileType
			m.Files = append(m.Files, x)
		}
	}
	logging.Info(c.log, "Number of table files %d", len(m.Files))
	return nil
}
