//go:build syncpoint

// Port of db/error_handler_fs_test.cc (DBErrorHandlingFencingTest).

package db_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func ioFenced() error {
	s := *rocksdb.IOError("IO fenced")
	s.SubCode = rocksdb.SubCodeIOFenced
	return &s
}

// eachFencing runs f with and without paranoid_checks.
func eachFencing(t *testing.T, set func(o *rocksdb.Options), f func(x *errorTest)) {
	for _, paranoid := range []bool{false, true} {
		t.Run(fmt.Sprint("paranoid_checks=", paranoid), func(t *testing.T) {
			f(newErrorTest(t, true, func(o *rocksdb.Options) {
				o.ParanoidChecks = paranoid
				if set != nil {
					set(o)
				}
			}))
		})
	}
}

func (x *errorTest) wantFenced(err error, fatal bool) {
	x.Helper()
	if err == nil || rocksdb.AsStatus(err).SubCode != rocksdb.SubCodeIOFenced {
		x.Fatal(err)
	}
	if fatal {
		x.wantSeverity(err, rocksdb.SeverityFatalError)
	}
}

func TestDBErrorHandlingFencingTest_FlushWriteFenced(t *testing.T) {
	eachFencing(t, nil, func(x *errorTest) {
		x.mustPut(0, key(0), "val")
		x.failAt("FlushJob::Start", ioFenced())
		x.wantFenced(flushNow(x), true)
		x.activate()
		x.wantFenced(x.full().Resume(), false)
	})
}

func TestDBErrorHandlingFencingTest_ManifestWriteFenced(t *testing.T) {
	eachFencing(t, nil, func(x *errorTest) {
		x.mustPut(0, key(0), "val")
		x.flush(0)
		x.mustPut(0, key(1), "val")
		x.failAt("VersionSet::LogAndApply:WriteManifest", ioFenced())
		x.wantFenced(flushNow(x), true)
		x.activate()
		x.wantFenced(x.full().Resume(), false)
	})
}

func TestDBErrorHandlingFencingTest_CompactionWriteFenced(t *testing.T) {
	eachFencing(t, func(o *rocksdb.Options) { o.Level0FileNumCompactionTrigger = 2 }, func(x *errorTest) {
		x.mustPut(0, key(0), "va;")
		x.mustPut(0, key(2), "va;")
		x.flush(0)
		inOrder([2]string{"DBImpl::FlushMemTable:FlushMemTableFinished", "BackgroundCallCompaction:0"})
		x.failAt("BackgroundCallCompaction:0", ioFenced())
		x.mustPut(0, key(1), "val")
		x.flush(0)
		x.wantFenced(x.full().TestWaitForCompact(), true)
		x.activate()
		x.wantFenced(x.full().Resume(), false)
	})
}

func TestDBErrorHandlingFencingTest_WALWriteFenced(t *testing.T) {
	eachFencing(t, smallWrites, func(x *errorTest) {
		rnd := util.NewRandom(301)
		x.must(x.writeSynced(rnd, 0, 100, 0))
		x.failThirdAppend(ioFenced())
		x.wantFenced(x.writeSynced(rnd, 100, 99, 0), false)
		x.activate()
		x.wantFenced(x.writeSynced(rnd, 0, 100, 0), false)
	})
}
