// Port of db/version_set.{h,cc} (ReactiveVersionSet). Differs: it has the reader
// of the MANIFEST as well; damage of a MANIFEST is forgotten with that MANIFEST.

package db

import (
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// ReactiveVersionSet keeps a VersionSet up with the MANIFEST of a database that
// another process writes. The DB mutex is held in all calls.
type ReactiveVersionSet struct {
	*VersionSet
	tailer *manifestTailer
	reader *wal.FragmentBufferedReader // nil before Recover
	damage firstCorruption             // of the MANIFEST
}

// NewReactiveVersionSet makes one of an empty set.
func NewReactiveVersionSet(vs *VersionSet) *ReactiveVersionSet {
	return &ReactiveVersionSet{VersionSet: vs}
}

// Recover reads the MANIFEST that CURRENT names, for the families named, of
// which one must be the default one.
func (r *ReactiveVersionSet) Recover(cfs []rocksdb.ColumnFamilyDescriptor) error {
	if err := r.maybeSwitchManifest(); err != nil {
		return err
	}
	r.tailer = newManifestTailer(r.VersionSet, cfs)
	if err := r.tailer.run(r.reader, &r.damage.err); err != nil {
		return err
	}
	if !r.tailer.complete() {
		if _, err := r.ReadAndApply(); err != nil {
			return err
		}
	}
	r.tailer.takeChanged()
	r.recoverEpochNumbers()
	return nil
}

// ReadAndApply reads what has come to the MANIFEST since, or the one that took its
// place, and gives the families that changed. TryAgain tells that the MANIFEST
// was being replaced, or that files go faster than we read of it.
func (r *ReactiveVersionSet) ReadAndApply() (changed map[*ColumnFamilyData]bool, err error) {
	for range readAndApplyTries {
		if err := r.maybeSwitchManifest(); err != nil {
			return nil, err
		}
		if err := r.tailer.run(r.reader, &r.damage.err); err != nil {
			return nil, err
		}
		if r.tailer.complete() {
			return r.tailer.takeChanged(), nil
		}
	}
	return nil, rocksdb.TryAgain("The primary has deleted files of its newest known state.")
}

const readAndApplyTries = 5

// maybeSwitchManifest opens the MANIFEST that CURRENT names, unless that is the
// one being read.
func (r *ReactiveVersionSet) maybeSwitchManifest() error {
	path, number, err := GetCurrentManifestPath(r.dbname, r.fs, false)
	if err != nil {
		return err
	}
	if r.reader != nil && r.reader.File().FileName() == path {
		return nil
	}
	syncpoint.Process("ReactiveVersionSet::MaybeSwitchManifest:AfterGetCurrentManifestPath:0")
	syncpoint.Process("ReactiveVersionSet::MaybeSwitchManifest:AfterGetCurrentManifestPath:1")
	f, err := file.CreateSequentialFileReader(r.fs, path, r.fs.OptimizeForManifestRead(&r.fileOptions), &file.SequentialReaderOptions{
		Listeners: r.dbOptions.Listeners, ReadaheadSize: int(r.dbOptions.LogReadaheadSize)})
	if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
		return rocksdb.TryAgain("The primary may have switched to a new MANIFEST and deleted the old one.").Wrap(err)
	}
	if err != nil {
		return err
	}
	r.closeReader()
	r.damage.err = nil
	r.reader = wal.NewFragmentBufferedReader(f, wal.ReaderOptions{Reporter: &r.damage, Checksum: true})
	r.manifestFileNumber = number
	logging.Info(r.dbOptions.Logger, "Switched to new manifest: %s\n", path)
	if r.tailer != nil {
		r.tailer.prepareToReadNewManifest()
	}
	return nil
}

func (r *ReactiveVersionSet) closeReader() {
	if r.reader != nil {
		_ = r.reader.Close() // it was only read from
		r.reader = nil
	}
}

// Close ends the reading; the VersionSet is the caller's to destroy, after it.
func (r *ReactiveVersionSet) Close() {
	r.closeReader()
	if r.tailer != nil {
		r.tailer.close()
		r.tailer = nil
	}
}
