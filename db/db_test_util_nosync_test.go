// Port of db/db_test_util.{h,cc} (env_do_fsync=false). Differs: a file system of
// its own below those that count and fail.

package db_test

import "github.com/rocksdb-go/rocksdb"

// noSyncFS takes every sync for done: the tests' crashes are simulated above it,
// and a disk's would only make them slow.
type noSyncFS struct{ rocksdb.FileSystemWrapper }

type noSyncFile struct{ rocksdb.FSWritableFileWrapper }

func (noSyncFile) Sync(*rocksdb.IOOptions) error                     { return nil }
func (noSyncFile) Fsync(*rocksdb.IOOptions) error                    { return nil }
func (noSyncFile) RangeSync(_, _ uint64, _ *rocksdb.IOOptions) error { return nil }

type noSyncDirectory struct{ rocksdb.FSDirectoryWrapper }

func (noSyncDirectory) Fsync(*rocksdb.IOOptions) error { return nil }
func (noSyncDirectory) FsyncWithDirOptions(*rocksdb.IOOptions, rocksdb.DirFsyncOptions) error {
	return nil
}

func noSync(f rocksdb.FSWritableFile, err error) (rocksdb.FSWritableFile, error) {
	if err != nil {
		return nil, err
	}
	return noSyncFile{rocksdb.FSWritableFileWrapper{FSWritableFile: f}}, nil
}

func (f *noSyncFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return noSync(f.Target().NewWritableFile(name, o))
}

func (f *noSyncFS) ReopenWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return noSync(f.Target().ReopenWritableFile(name, o))
}

func (f *noSyncFS) ReuseWritableFile(name, oldName string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	return noSync(f.Target().ReuseWritableFile(name, oldName, o))
}

func (f *noSyncFS) SyncFile(string, *rocksdb.FileOptions, *rocksdb.IOOptions, bool) error { return nil }

func (f *noSyncFS) NewDirectory(name string, o *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	d, err := f.Target().NewDirectory(name, o)
	if err != nil {
		return nil, err
	}
	return noSyncDirectory{rocksdb.FSDirectoryWrapper{FSDirectory: d}}, nil
}
