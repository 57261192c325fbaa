// Port of db/db_impl/db_impl.h (Directories).

package db

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// Directories are the open directories of a database, for syncing them after
// files were made in them. It does not change after Set but by AddFamily, which
// needs the DB mutex.
type Directories struct {
	db     rocksdb.FSDirectory
	wal    rocksdb.FSDirectory // nil when it is the database's
	byPath map[string]rocksdb.FSDirectory
}

// Set opens the database's directory, that of its WALs, and those of paths.
func (x *Directories) Set(fs rocksdb.FileSystem, dbName, walDir string, paths []rocksdb.DBPath) error {
	x.byPath = map[string]rocksdb.FSDirectory{}
	var err error
	if x.db, err = x.open(fs, dbName); err != nil {
		return err
	}
	if walDir != "" && walDir != dbName {
		if x.wal, err = x.open(fs, walDir); err != nil {
			return err
		}
	}
	for _, p := range paths {
		if _, err = x.open(fs, p.Path); err != nil {
			return err
		}
	}
	return nil
}

// AddFamily opens the directories of a family's own paths.
func (x *Directories) AddFamily(fs rocksdb.FileSystem, cfd *ColumnFamilyData) error {
	for _, p := range cfd.ioptions.CFPaths {
		if _, err := x.open(fs, p.Path); err != nil {
			return err
		}
	}
	return nil
}

func (x *Directories) open(fs rocksdb.FileSystem, path string) (rocksdb.FSDirectory, error) {
	if d := x.byPath[path]; d != nil {
		return d, nil
	}
	if err := fs.CreateDirIfMissing(path, rocksdb.NewIOOptions()); err != nil {
		return nil, err
	}
	d, err := fs.NewDirectory(path, rocksdb.NewIOOptions())
	if err == nil {
		x.byPath[path] = d
	}
	return d, err
}

// DBDir is the database's directory, nil before Set.
func (x *Directories) DBDir() rocksdb.FSDirectory { return x.db }

// WalDir is the directory of the WALs, nil before Set.
func (x *Directories) WalDir() rocksdb.FSDirectory {
	if x.wal != nil {
		return x.wal
	}
	return x.db
}

// DataDir is the directory of a family's path.
func (x *Directories) DataDir(cfd *ColumnFamilyData, pathID int) rocksdb.FSDirectory {
	if paths := cfd.ioptions.CFPaths; pathID < len(paths) {
		if d := x.byPath[paths[pathID].Path]; d != nil {
			return d
		}
	}
	return x.db
}

// Close closes all of them.
func (x *Directories) Close(opts *rocksdb.IOOptions) error {
	var result error
	for _, d := range x.byPath {
		if err := d.Close(opts); err != nil && !rocksdb.IsNotSupported(err) && result == nil {
			result = err
		}
	}
	*x = Directories{}
	return result
}

// ListingOptions are for the names of a directory.
func ListingOptions() *rocksdb.IOOptions {
	o := rocksdb.NewIOOptions()
	o.DoNotRecurse = true
	return o
}
