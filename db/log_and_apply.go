// Port of db/version_set.h (ManifestWriter and the arguments of LogAndApply).

package db

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// LogAndApplyRequest asks VersionSet.LogAndApply to make edits of one family
// durable and current.
type LogAndApplyRequest struct {
	CFD         *ColumnFamilyData // nil for an edit that adds a family
	Edits       []*version.VersionEdit
	Mutex       sync.Locker // held by the caller; released while the MANIFEST is written
	DBDirectory rocksdb.FSDirectory
	// NewDescriptorLog starts a new MANIFEST.
	NewDescriptorLog bool
	// NewCFOptions are the options of a family that the edit adds.
	NewCFOptions *rocksdb.ColumnFamilyOptions
	WriteOptions *rocksdb.WriteOptions // of the MANIFEST; nil: defaults
	// ManifestWritten, when not nil, is called with the mutex held once the
	// outcome is known and before a new version is installed.
	ManifestWritten func(error)
	// PreCallback, when not nil, is called with the mutex held when the edit's
	// turn has come; its error is the outcome and nothing is done.
	PreCallback func() error
}

// EditsForFamily is one family's part of an atomic group of edits.
type EditsForFamily struct {
	CFD   *ColumnFamilyData
	Edits []*version.VersionEdit
}
