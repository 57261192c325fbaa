// Port of utilities/fault_injection_env.{h,cc}. Differs: the file system is a
// FaultInjectionTestFS that loses unsynced data, where upstream has a second
// copy of it on the older file interface; what is not synced is therefore in
// memory, not in the target's file.

package fsutil

import (
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// FaultInjectionTestEnv is an Env whose files can lose what they did not sync.
type FaultInjectionTestEnv struct {
	*env.CompositeEnv
	// FS is the file system; errors other than inactivity are set there.
	FS *FaultInjectionTestFS
}

// NewFaultInjectionTestEnv wraps the file system of base.
func NewFaultInjectionTestEnv(base rocksdb.Env) *FaultInjectionTestEnv {
	fs := NewFaultInjectionTestFS(base.GetFileSystem())
	fs.SetInjectUnsyncedDataLoss(true)
	return &FaultInjectionTestEnv{env.NewCompositeEnvWrapper(base, fs, nil), fs}
}

// Name is upstream's.
func (e *FaultInjectionTestEnv) Name() string { return "FaultInjectionTestEnv" }

// SetFilesystemActive is FaultInjectionTestFS's.
func (e *FaultInjectionTestEnv) SetFilesystemActive(active bool, err error) {
	e.FS.SetFilesystemActive(active, err)
}

// IsFilesystemActive is FaultInjectionTestFS's.
func (e *FaultInjectionTestEnv) IsFilesystemActive() bool { return e.FS.IsFilesystemActive() }

// GetError is FaultInjectionTestFS's.
func (e *FaultInjectionTestEnv) GetError() error { return e.FS.GetError() }

// DropUnsyncedFileData forgets what was not synced.
func (e *FaultInjectionTestEnv) DropUnsyncedFileData() { e.FS.DropUnsyncedFileData() }

// DropRandomUnsyncedFileData forgets a random part of it.
func (e *FaultInjectionTestEnv) DropRandomUnsyncedFileData(rnd *util.Random) {
	e.FS.DropRandomUnsyncedFileData(rnd)
}

// DeleteFilesCreatedAfterLastDirSync is FaultInjectionTestFS's.
func (e *FaultInjectionTestEnv) DeleteFilesCreatedAfterLastDirSync() error {
	return e.FS.DeleteFilesCreatedAfterLastDirSync(nil)
}

// ResetState is FaultInjectionTestFS's.
func (e *FaultInjectionTestEnv) ResetState() { e.FS.ResetState() }

// UntrackFile is FaultInjectionTestFS's.
func (e *FaultInjectionTestEnv) UntrackFile(name string) { e.FS.UntrackFile(name) }

// HasOpenFile tells whether a file made here is open for writing.
func (e *FaultInjectionTestEnv) HasOpenFile() bool { return e.FS.HasOpenFile() }
