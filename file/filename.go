// Port of file/filename.{h,cc} (the functions that write files). The names
// themselves are in file/filename.

package file

import (
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/killpoint"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// SetCurrentFile makes CURRENT name the MANIFEST of that number: it writes and
// syncs a temporary file, renames it, and syncs dir, if that is not nil. wo may
// be nil.
func SetCurrentFile(wo *rocksdb.WriteOptions, fs rocksdb.FileSystem, dbname string, number uint64, temp rocksdb.Temperature, dir rocksdb.FSDirectory) error {
	opts := rocksdb.DefaultIOOptions()
	PrepareIOFromWriteOptions(wo, &opts)
	fileOpts := rocksdb.DefaultFileOptions()
	fileOpts.Temperature = temp
	tmp := filename.TempFileName(dbname, number)
	current := filename.CurrentFileName(dbname)
	err := rocksdb.WriteStringToFile(fs, []byte(filename.DescriptorFileBaseName(number)+"\n"), tmp, true, &opts, &fileOpts)
	syncpoint.ProcessArg("SetCurrentFile:BeforeRename", &err)
	if err == nil {
		killpoint.RandomWithWeight("SetCurrentFile:0", killpoint.ReduceOdds2)
		err = fs.RenameFile(tmp, current, &opts)
		killpoint.RandomWithWeight("SetCurrentFile:1", killpoint.ReduceOdds2)
		syncpoint.ProcessArg("SetCurrentFile:AfterRename", &err)
	}
	if err != nil {
		_ = fs.DeleteFile(tmp, &opts) // the first error counts
		return err
	}
	if dir == nil {
		return nil
	}
	return dir.FsyncWithDirOptions(&opts, rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncFileRenamed, RenamedNewName: current})
}

// SetIdentityFile writes IDENTITY durably, with dbID or, when that is "", a new
// id. wo may be nil.
func SetIdentityFile(wo *rocksdb.WriteOptions, env rocksdb.Env, dbname string, temp rocksdb.Temperature, dbID string) error {
	if dbID == "" {
		dbID = env.GenerateUniqueID()
	}
	fs := env.GetFileSystem()
	opts := rocksdb.DefaultIOOptions()
	PrepareIOFromWriteOptions(wo, &opts)
	fileOpts := rocksdb.DefaultFileOptions()
	fileOpts.Temperature = temp
	// The number 0 is nobody else's.
	tmp := filename.TempFileName(dbname, 0)
	name := filename.IdentityFileName(dbname)
	err := rocksdb.WriteStringToFile(fs, []byte(dbID), tmp, true, &opts, &fileOpts)
	if err == nil {
		err = fs.RenameFile(tmp, name, &opts)
	}
	if err == nil {
		err = syncDirAfterRename(fs, dbname, name, &opts)
	}
	if err != nil {
		_ = fs.DeleteFile(tmp, &opts)
	}
	return err
}

func syncDirAfterRename(fs rocksdb.FileSystem, dir, newName string, opts *rocksdb.IOOptions) error {
	d, err := fs.NewDirectory(dir, opts)
	if err != nil {
		return err
	}
	err = d.FsyncWithDirOptions(opts, rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncFileRenamed, RenamedNewName: newName})
	if cerr := d.Close(opts); err == nil && !rocksdb.IsNotSupported(cerr) {
		err = cerr
	}
	return err
}

// SyncManifest syncs a MANIFEST's writer and counts the time.
func SyncManifest(clock rocksdb.SystemClock, stats rocksdb.Statistics, useFsync bool, wo *rocksdb.WriteOptions, w *WritableFileWriter) error {
	killpoint.RandomWithWeight("SyncManifest:0", killpoint.ReduceOdds2)
	sw := stopwatch.NewStopWatch(clock, stats, rocksdb.HistManifestFileSyncMicros)
	defer sw.Stop()
	opts := rocksdb.DefaultIOOptions()
	PrepareIOFromWriteOptions(wo, &opts)
	return w.Sync(&opts, useFsync)
}
