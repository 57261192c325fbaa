// Port of db/db_impl/db_impl.cc (DestroyDB).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// DestroyDB deletes a database's files, those in the paths of families too. It
// fails when the database is open. A directory that is not empty then stays.
func DestroyDB(dbName string, o *rocksdb.Options, families []rocksdb.ColumnFamilyDescriptor) error {
	e := o.Env
	if e == nil {
		e = env.Default()
	}
	fs := e.GetFileSystem()
	none := &rocksdb.IOOptions{}
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
	var result error
	remove := func(path string) {
		if err := fs.DeleteFile(path, none); err != nil && !rocksdb.IsPathNotFound(err) && !rocksdb.IsNotFound(err) && result == nil {
			result = err
		}
	}
	prefix := filename.InfoLogPrefix(o.DBLogDir != "", dbName)
	for _, n := range names {
		f, ok := filename.ParseFileName(n, prefix)
		if !ok || f.Type == rocksdb.DBLockFile {
			continue
		}
		if f.Type == rocksdb.MetaDatabase {
			if err := DestroyDB(dbName+"/"+n, o, nil); err != nil && result == nil {
				result = err
			}
			continue
		}
		remove(dbName + "/" + n)
	}
	paths := append([]rocksdb.DBPath(nil), o.DBPaths...)
	paths = append(paths, o.CFPaths...)
	for i := range families {
		paths = append(paths, families[i].Options.CFPaths...)
	}
	for _, p := range paths {
		removeKind(fs, p.Path, remove, rocksdb.TableFile, rocksdb.BlobFile)
		_ = fs.DeleteDir(p.Path, none)
	}
	walDir := dbName
	if o.WALDir != "" {
		walDir = o.WALDir
		removeKind(fs, walDir, remove, rocksdb.WalFile)
	}
	archive := filename.ArchivalDirectory(walDir)
	removeKind(fs, archive, remove, rocksdb.WalFile)
	_ = fs.DeleteDir(archive, none)
	if walDir != dbName {
		_ = fs.DeleteDir(walDir, none)
	}
	_ = fs.UnlockFile(lock, none)
	_ = fs.DeleteFile(lockName, none)
	_ = fs.DeleteDir(dbName, none)
	return result
}

// removeKind deletes the files of some kinds in dir.
func removeKind(fs rocksdb.FileSystem, dir string, remove func(string), kinds ...rocksdb.FileType) {
	names, err := fs.GetChildren(dir, &rocksdb.IOOptions{})
	if err != nil {
		return
	}
	for _, n := range names {
		f, ok := filename.ParseFileName(n, "")
		if !ok {
			continue
		}
		for _, k := range kinds {
			if f.Type == k {
				remove(dir + "/" + n)
			}
		}
	}
}
