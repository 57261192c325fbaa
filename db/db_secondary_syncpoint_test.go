//go:build syncpoint

// Port of db/db_secondary_test.cc, what needs sync points.

package db_test

import (
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestDBSecondaryTest_FailOpenIfLoggerCreationFail(t *testing.T) {
	x := newSecondaryTest(t)
	x.reopen(x.defaultOptions())
	syncpoint.SetCallBack("rocksdb::CreateLoggerFromOptions:AfterGetPath", func(a any) { *a.(*error) = rocksdb.IOError("Injected") })
	syncpoint.EnableProcessing()
	if err := x.tryOpen(x.options()); !rocksdb.IsIOError(err) {
		t.Fatal(err)
	}
}

func TestDBSecondaryTest_SwitchToNewManifestDuringOpen(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	x.reopen(o)
	x.close()
	syncpoint.LoadDependency(
		syncpoint.Pair{Predecessor: "ReactiveVersionSet::MaybeSwitchManifest:AfterGetCurrentManifestPath:0", Successor: "VersionSet::ProcessManifestWrites:BeforeNewManifest"},
		syncpoint.Pair{Predecessor: "DBImpl::Open:AfterDeleteFiles", Successor: "ReactiveVersionSet::MaybeSwitchManifest:AfterGetCurrentManifestPath:1"})
	syncpoint.EnableProcessing()
	first := make(chan error)
	go func() { first <- x.tryOpen(x.options()) }()
	x.reopen(o)
	if err := <-first; !errors.Is(err, rocksdb.ErrTryAgain) {
		t.Fatal(err)
	}
	x.open(x.options())
}

func injectInconsistency() {
	syncpoint.SetCallBack("VersionBuilder::CheckConsistencyBeforeReturn", func(a any) { *a.(*error) = rocksdb.Corruption("Inject corruption") })
	syncpoint.EnableProcessing()
}

func TestDBSecondaryTest_StartFromInconsistent(t *testing.T) {
	x := newSecondaryTest(t)
	x.destroyAndReopen(x.currentOptions())
	x.mustPut(0, "foo", "value")
	x.flush(0)
	injectInconsistency()
	o := x.options()
	o.MaxOpenFiles = 5000
	if err := x.tryOpen(o); !rocksdb.IsCorruption(err) {
		t.Fatal(err)
	}
}

func TestDBSecondaryTest_InconsistencyDuringCatchUp(t *testing.T) {
	x := newSecondaryTest(t)
	x.destroyAndReopen(x.currentOptions())
	x.mustPut(0, "foo", "value")
	x.flush(0)
	x.open(x.options())
	x.wantSec("foo", "value")
	x.mustPut(0, "bar", "value1")
	x.flush(0)
	injectInconsistency()
	if err := x.sec.TryCatchUpWithPrimary(); !rocksdb.IsCorruption(err) {
		t.Fatal(err)
	}
}
