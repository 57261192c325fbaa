// Port of db/version_util.{h,cc}. Differs: the offline MANIFEST writer comes
// with the tools that need it.

package db

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
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
