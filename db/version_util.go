// Port of db/version_util.{h,cc}.

package db

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// loadTableHandlers opens tables and pins them to their metadata, with several
// goroutines. It stops at the first error, or when the cache is full.
func loadTableHandlers(files []version.LevelFile, tc *tablecache.TableCache, o LoadTableHandlersOptions) error {
	var next atomic.Int64
	var failed atomic.Bool
	var once sync.Once
	var first error
	load := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(files) || failed.Load() || o.Stop != nil && o.Stop.Load() {
				return
			}
			if c := tc.Capacity(); c < tablecacheInfinite && tc.Usage() >= c {
				return
			}
			f := files[i].File
			syncpoint.ProcessArg("VersionBuilder::Rep::LoadTableHandlers::BeforeFindTable", f)
			oo := tablecache.OpenOptions{Level: files[i].Level, Pin: true, MaxFileSizeForL0MetaPin: o.MaxFileSizeForL0MetaPin,
				NoPrefetchIndexAndFilter: !o.PrefetchIndexAndFilterInCache || f.SkipIndexAndFilterBlocksPrefetch}
			if o.InternalStats != nil {
				oo.FileReadHist = o.InternalStats.GetFileReadHist(files[i].Level)
			}
			_, _, err := tc.FindTable(o.ReadOptions, f, o.MutableCFOptions, &oo)
			syncpoint.ProcessArg("VersionBuilder::Rep::LoadTableHandlers::AfterFindTable", &err)
			if err != nil {
				failed.Store(true)
				once.Do(func() { first = err })
			}
		}
	}
	var wg sync.WaitGroup
	for range min(o.MaxThreads, len(files)) - 1 {
		wg.Go(load)
	}
	load()
	wg.Wait()
	return first
}

// OpenTables opens the version's tables in several goroutines, and pins them, as
// long as the table cache has room. It ends early when stop becomes true.
func (v *Version) OpenTables(o *LoadTableHandlersOptions) error {
	var files []version.LevelFile
	for level := range v.storage.NumNonEmptyLevels() {
		for _, f := range v.storage.LevelFiles(level) {
			files = append(files, version.LevelFile{Level: level, File: f})
		}
	}
	return loadTableHandlers(files, v.cfd.TableCache(), *o)
}

const (
	// offlineTableCacheSize is how many tables of a closed database stay open.
	offlineTableCacheSize = 1000
	// offlineDelayedWriteRate in bytes a second; nothing is delayed.
	offlineDelayedWriteRate = 16 << 20
)

// NewOfflineVersionSet makes an empty set for work on a closed database; one that
// only reads a MANIFEST is unchanging. o.Env is the one to use.
func NewOfflineVersionSet(o rocksdb.DBOptions, dbname, dbID string, unchanging bool) *VersionSet {
	if len(o.DBPaths) == 0 {
		o.DBPaths = []rocksdb.DBPath{{Path: dbname}}
	}
	imm, mut := options.NewImmutableDBOptions(&o), options.NewMutableDBOptions(&o)
	return NewVersionSet(&VersionSetOptions{DBName: dbname, DBOptions: &imm, MutableDBOptions: &mut,
		FileOptions: rocksdb.DefaultFileOptions(), TableCache: cache.NewLRUCacheOfCapacity(offlineTableCacheSize),
		WriteController: writethread.NewWriteController(offlineDelayedWriteRate), DBID: dbID, Unchanging: unchanging})
}

// OfflineManifestWriter changes the MANIFEST of a closed database. Destroy it
// after use.
type OfflineManifestWriter struct{ *VersionSet }

// NewOfflineManifestWriter recovers the families' versions, whether their files
// are there or not.
func NewOfflineManifestWriter(o *rocksdb.DBOptions, dbname string, families []rocksdb.ColumnFamilyDescriptor) (*OfflineManifestWriter, error) {
	vs := NewOfflineVersionSet(*o, dbname, "", false)
	dbID, err := vs.Recover(families, false, &RecoverOptions{NoErrorIfFilesMissing: true})
	if err != nil {
		vs.Destroy()
		return nil, err
	}
	vs.SetDBID(dbID)
	return &OfflineManifestWriter{vs}, nil
}

// Apply writes an edit of a family. Upstream: OfflineManifestWriter::LogAndApply.
func (w *OfflineManifestWriter) Apply(cfd *ColumnFamilyData, e *version.VersionEdit) error {
	none := rocksdb.DefaultIOOptions()
	dir, err := w.fs.NewDirectory(w.dbname, &none)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	mu.Lock()
	err = w.LogAndApply(&LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{e}, Mutex: &mu, DBDirectory: dir})
	mu.Unlock()
	if e := dir.Close(&none); err == nil {
		err = e
	}
	return err
}
