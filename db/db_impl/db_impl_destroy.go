// Port of db/db_impl/db_impl.cc (DestroyDB).

package dbimpl

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// DestroyDB deletes a database's files, those in the paths of families too. It
// fails when the database is open. A directory that is not empty then stays.
// The options' SstFileManager, if any, deletes tables, blob files and logs at
// its rate; DestroyDB returns when they are gone.
func DestroyDB(dbName string, o *rocksdb.Options, families []rocksdb.ColumnFamilyDescriptor) error {
	e := o.Env
	if e == nil {
		e = env.Default()
	}
	fs := e.GetFileSystem()
	none := rocksdb.NewIOOptions()
	names, err := fs.GetChildren(dbName, none)
	if err != nil {
		// What is not there is destroyed already.
		return nil
	}
	lockName := filename.LockFileName(dbName)
	lock, err := fs.LockFile(lockName, none)
	if err != nil {
		return err
	}
	// The files go to a bucket of the trash, whose end is waited for.
	sfm, _ := o.SstFileManager.(*file.SstFileManagerImpl)
	var bucket *int32
	if sfm != nil {
		bucket = sfm.NewTrashBucket()
	}
	im := options.ImmutableDBOptions{WALDir: o.WALDir, FS: fs, DBPaths: o.DBPaths}
	walInDBPath := im.IsWalDirSameAs(dbName)
	if len(o.DBPaths) > 0 {
		walInDBPath = im.IsWalDirSameAsDBPath()
	}
	var result error
	note := func(err error) {
		if err != nil && !rocksdb.IsPathNotFound(err) && !rocksdb.IsNotFound(err) && result == nil {
			result = err
		}
	}
	remove := func(path, dirToSync string, t rocksdb.FileType) {
		switch t {
		case rocksdb.TableFile, rocksdb.BlobFile:
			note(file.DeleteUnaccountedDBFile(fs, o.SstFileManager, path, dirToSync, false, false, bucket))
		case rocksdb.WalFile:
			note(file.DeleteUnaccountedDBFile(fs, o.SstFileManager, path, dirToSync, false, dirToSync != dbName && !walInDBPath, bucket))
		default:
			note(fs.DeleteFile(path, none))
		}
	}
	prefix := filename.InfoLogPrefix(o.DBLogDir != "", dbName)
	for _, n := range names {
		f, ok := filename.ParseFileName(n, prefix)
		if !ok || f.Type == rocksdb.DBLockFile {
			continue
		}
		if f.Type == rocksdb.MetaDatabase {
			note(DestroyDB(dbName+"/"+n, o, nil))
			continue
		}
		remove(dbName+"/"+n, dbName, f.Type)
	}
	paths := append([]rocksdb.DBPath(nil), o.DBPaths...)
	paths = append(paths, o.CFPaths...)
	for i := range families {
		paths = append(paths, families[i].Options.CFPaths...)
	}
	for _, p := range paths {
		removeKind(fs, p.Path, dbName, remove, rocksdb.TableFile, rocksdb.BlobFile)
	}
	walDir := dbName
	if o.WALDir != "" {
		walDir = o.WALDir
		removeKind(fs, walDir, walDir, remove, rocksdb.WalFile)
	}
	archive := filename.ArchivalDirectory(walDir)
	removeKind(fs, archive, archive, remove, rocksdb.WalFile)
	_ = fs.UnlockFile(lock, none)
	_ = fs.DeleteFile(lockName, none)
	if bucket != nil {
		sfm.WaitForEmptyTrashBucket(*bucket)
	}
	_ = fs.DeleteDir(archive, none)
	if walDir != dbName {
		_ = fs.DeleteDir(walDir, none)
	}
	for _, p := range paths {
		_ = fs.DeleteDir(p.Path, none)
	}
	_ = fs.DeleteDir(dbName, none)
	return result
}

// removeKind deletes the files of some kinds in dir.
func removeKind(fs rocksdb.FileSystem, dir, dirToSync string, remove func(path, dirToSync string, t rocksdb.FileType), kinds ...rocksdb.FileType) {
	names, err := fs.GetChildren(dir, rocksdb.NewIOOptions())
	if err != nil {
		return
	}
	for _, n := range names {
		f, ok := filename.ParseFileName(n, "")
		if !ok {
			continue
		}
		if slices.Contains(kinds, f.Type) {
			remove(dir+"/"+n, dirToSync, f.Type)
		}
	}
}
