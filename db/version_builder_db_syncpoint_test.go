//go:build syncpoint

// Port of db/version_builder_test.cc (VersionBuilderDBTest).

package db_test

import (
	"encoding/binary"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// A table that was opened for a file whose edit failed does not stay open.
func TestVersionBuilderDBTest_IngestExternalFileEvictsTableCacheOnLogAndApplyFailure(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.MaxBGErrorResumeCount, o.ParanoidFileChecks = true, 0, true
	x.destroyAndReopen(o)
	x.mustPut(0, "k1", "v1") // for a flush to come
	path, _ := x.writeInfo(o, "ingest_me.sst", puts(2, 3, "_value"))
	opened, failed := false, false
	syncpoint.SetCallBack("TableCache::FindTable:0", func(any) { opened = true })
	syncpoint.SetCallBack("VersionSet::ProcessManifestWrites:AfterSyncManifest", func(arg any) {
		if opened && !failed {
			failed = true
			s := rocksdb.IOError("injected")
			s.Retryable = true
			*arg.(*error) = s
		}
	})
	syncpoint.EnableProcessing()
	err := x.db.IngestExternalFile([]string{path}, nil)
	syncpoint.Reset()
	if err == nil || !failed {
		t.Fatalf("ingested; %v", err)
	}
	x.must(x.db.Resume())
	x.flush(0) // the file is no longer in quarantine
	// Whoever looks for obsolete files must not find it.
	x.fault.SetErrorContext(fsutil.FaultInjectionMetadataRead, 0, 1, false, false)
	x.fault.EnableErrorInjection(fsutil.FaultInjectionMetadataRead)
	defer x.fault.DisableErrorInjection(fsutil.FaultInjectionMetadataRead)
	live := map[uint64]bool{}
	for _, f := range x.db.GetLiveFilesMetaData() {
		live[f.FileNumber] = true
	}
	x.full().TestTableCache().ApplyToAllEntries(func(key []byte, _ any, _ int, _ *rocksdb.CacheItemHelper) {
		if n := binary.LittleEndian.Uint64(key); !live[n] {
			t.Errorf("table %d is open; live are %v", n, live)
		}
	})
	if len(live) != 1 {
		t.Errorf("live files %v", live)
	}
}
