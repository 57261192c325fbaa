// Port of db/experimental.cc. Differs: SuggestCompactRange and PromoteL0 are
// DBImpl's; query filters (SstQueryFilterConfigs) are in package db/experimental.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// GetFileChecksumsFromCurrentManifest makes list, which is reset, hold the
// checksums of the tables and blob files that the MANIFEST of the database at
// dbname names, whether it is open or not. It only reads.
func GetFileChecksumsFromCurrentManifest(fs rocksdb.FileSystem, dbname string, list rocksdb.FileChecksumList) error {
	path, _, err := GetCurrentManifestPath(dbname, fs, true)
	if err != nil {
		return err
	}
	if list == nil {
		return rocksdb.InvalidArgument("checksum_list is nullptr")
	}
	list.Reset()
	return GetFileChecksumsFromManifest(path, fs, 0, func(number uint64, checksum, funcName string) error {
		list.InsertOneFileChecksum(number, checksum, funcName)
		return nil
	})
}

// UpdateManifestTemperatures writes the temperatures that the file system tells
// of the tables of a closed database to its MANIFEST, where they differ.
// Families without a descriptor are an error. Upstream:
// UpdateManifestForFilesState with update_temperatures, its only choice.
func UpdateManifestTemperatures(o *rocksdb.DBOptions, dbname string, families []rocksdb.ColumnFamilyDescriptor) error {
	w, err := NewOfflineManifestWriter(o, dbname, families)
	if err != nil {
		return err
	}
	defer w.Destroy()
	files, changed := 0, 0
	for _, cfd := range w.GetColumnFamilySet().All() {
		if cfd.IsDropped() {
			continue
		}
		e := new(version.VersionEdit)
		e.SetColumnFamily(cfd.GetID())
		storage := cfd.Current().StorageInfo()
		for level := range storage.NumLevels() {
			for _, f := range storage.LevelFiles(level) {
				t, err := storedTemperature(w.fs, cfd, f)
				if err != nil {
					return err
				}
				if t == rocksdb.TemperatureUnknown || t == f.Temperature {
					continue
				}
				files++
				moved := f.CloneForMove()
				moved.Temperature = t
				e.DeleteFile(level, f.FD.GetNumber())
				e.AddFile(level, moved)
			}
		}
		if e.NumEntries() == 0 {
			continue
		}
		if err := w.Apply(cfd, e); err != nil {
			return err
		}
		changed++
	}
	if changed > 0 {
		logging.Info(o.InfoLog, "UpdateManifestForFilesState: updated %d files in %d CFs", files, changed)
	} else {
		logging.Info(o.InfoLog, "UpdateManifestForFilesState: no updates needed")
	}
	return nil
}

// storedTemperature is what the file system says of a table.
func storedTemperature(fs rocksdb.FileSystem, cfd *ColumnFamilyData, f *version.FileMetaData) (rocksdb.Temperature, error) {
	fo := rocksdb.DefaultFileOptions()
	fo.Temperature = rocksdb.TemperatureUnknown // wherever it is
	s, err := fs.NewSequentialFile(filename.TableFileName(cfd.IOptions().CFPaths, f.FD.GetNumber(), f.FD.GetPathId()), &fo)
	if err != nil {
		return rocksdb.TemperatureUnknown, err
	}
	return s.GetTemperature(), s.Close()
}
