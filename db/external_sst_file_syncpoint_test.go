//go:build syncpoint

// Port of db/external_sst_file_test.cc (what needs sync points).

package db_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// eachFamiliesIngestion runs f for each way of ingesting into three families;
// commit makes the files and ingests them as one.
func eachFamiliesIngestion(t *testing.T, f func(x *extTest, o rocksdb.Options, commit func() error)) {
	for i := range 8 {
		a := add{seqno: true, writeSeqno: i&1 != 0, noVerify: i&2 != 0, twoPhase: i&4 != 0}
		t.Run(fmt.Sprintf("write_global_seqno=%t,verify=%t,two_phase=%t", a.writeSeqno, !a.noVerify, a.twoPhase), func(t *testing.T) {
			x := newExtTest(t)
			o := x.currentOptions()
			o.Env = x.env
			x.createAndReopenWithCF([]string{"pikachu", "eevee"}, o)
			f(x, o, func() error { return x.addToFamilies(o, a) })
			syncpoint.Reset()
			x.close()
		})
	}
}

// familiesData is what addToFamilies brings to each family.
var familiesData = []map[string]string{
	{"foo1": "fv1", "foo2": "fv2"}, {"bar1": "bv1", "bar2": "bv2"}, {"bar3": "bv3", "bar4": "bv4"},
}

func (x *extTest) addToFamilies(o rocksdb.Options, a add) error {
	var args []rocksdb.IngestExternalFileArg
	for cf, es := range [][]extEntry{kv("foo1", "fv1", "foo2", "fv2"), kv("bar1", "bv1", "bar2", "bv2"), kv("bar3", "bv3", "bar4", "bv4")} {
		x.id++
		path, _, err := x.tryWrite(o, nil, fmt.Sprint(x.id), es)
		if err != nil {
			return err
		}
		args = append(args, rocksdb.IngestExternalFileArg{ColumnFamily: x.cf(cf), ExternalFiles: []string{path}, Options: *ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
			o.AllowGlobalSeqno, o.WriteGlobalSeqno, o.VerifyChecksumsBeforeIngest = true, a.writeSeqno, !a.noVerify
		})})
	}
	if !a.twoPhase {
		return x.db.IngestExternalFiles(args)
	}
	h, err := x.db.PrepareFileIngestion(args)
	if err != nil {
		return err
	}
	return x.db.CommitFileIngestionHandle(h)
}

func (x *extTest) reopenFamilies(o rocksdb.Options) {
	x.Helper()
	x.close()
	x.reopenWithColumnFamilies([]string{"default", "pikachu", "eevee"}, o)
}

func TestExternalSSTFileTest_IngestFilesIntoMultipleColumnFamilies_Success(t *testing.T) {
	eachFamiliesIngestion(t, func(x *extTest, o rocksdb.Options, commit func() error) {
		x.mustPut(0, "foo1", "oldvalue")
		x.must(commit())
		x.reopenFamilies(o)
		for cf, data := range familiesData {
			x.verifyCF(cf, data)
		}
	})
}

func TestExternalSSTFileTest_IngestFilesIntoMultipleColumnFamilies_NoMixedStateWithSnapshot(t *testing.T) {
	eachFamiliesIngestion(t, func(x *extTest, o rocksdb.Options, commit func() error) {
		before := [][]string{{"foo1", "fv1_0", "foo2", "fv2_0", "foo3", "fv3_0"}, {"bar1", "bv1_0", "bar2", "bv2_0", "bar3", "bv3_0"}, {"bar4", "bv4_0", "bar5", "bv5_0", "bar6", "bv6_0"}}
		for cf, pairs := range before {
			for i := 0; i < len(pairs); i += 2 {
				x.mustPut(cf, pairs[i], pairs[i+1])
			}
			x.must(x.cf(cf).Flush(nil))
		}
		ro := rocksdb.DefaultReadOptions()
		ro.TotalOrderSeek, ro.Snapshot = true, x.db.GetSnapshot()
		var its []*rocksdb.Iterator
		see := func(cf, i int) {
			it, want := its[cf], before[cf]
			if !it.Valid() || string(it.Key()) != want[i] || string(it.Value()) != want[i+1] {
				x.Errorf("family %d: %q, not %q", cf, it.Key(), want[i])
			}
			it.Next()
		}
		for cf := range before {
			it := x.cf(cf).NewIterator(&ro)
			its = append(its, it)
			it.SeekToFirst()
			see(cf, 0)
		}
		syncpoint.LoadDependency(
			syncpoint.Pair{Predecessor: "DBImpl::IngestExternalFiles:InstallSVForFirstCF:0", Successor: "Families:BeforeRead"},
			syncpoint.Pair{Predecessor: "Families:AfterRead", Successor: "DBImpl::IngestExternalFiles:InstallSVForFirstCF:1"})
		syncpoint.EnableProcessing()
		done := make(chan error, 1)
		go func() { done <- commit() }()
		syncpoint.Process("Families:BeforeRead")
		for cf := range before {
			see(cf, 2)
			see(cf, 4)
			if its[cf].Valid() {
				x.Errorf("family %d: %q", cf, its[cf].Key())
			}
		}
		syncpoint.Process("Families:AfterRead")
		x.must(<-done)
		for _, it := range its {
			x.must(it.Status())
			x.must(it.Close())
		}
		x.must(x.db.ReleaseSnapshot(ro.Snapshot))
		syncpoint.Reset()
		x.reopenFamilies(o)
		for cf, data := range familiesData {
			for k, v := range data {
				x.wantGet(cf, k, v)
			}
		}
	})
}

// failBetween fails every operation on files from point+"0" on; nothing of the
// ingestion may be there afterwards, and the files it was given must be.
func failBetween(t *testing.T, point string, drop bool) {
	eachFamiliesIngestion(t, func(x *extTest, o rocksdb.Options, commit func() error) {
		syncpoint.LoadDependency(
			syncpoint.Pair{Predecessor: point + "0", Successor: "Families:Fail:0"},
			syncpoint.Pair{Predecessor: "Families:Fail:1", Successor: point + "1"})
		syncpoint.EnableProcessing()
		done := make(chan error, 1)
		go func() { done <- commit() }()
		syncpoint.Process("Families:Fail:0")
		x.fault.SetFilesystemActive(false, nil)
		syncpoint.Process("Families:Fail:1")
		x.wantErr(<-done)
		syncpoint.Reset()
		if drop {
			x.fault.DropUnsyncedFileData()
		}
		x.fault.SetFilesystemActive(true, nil)
		x.reopenFamilies(o)
		for cf := range familiesData {
			x.verifyCF(cf, nil)
			x.wantFile(fmt.Sprint(x.sst, cf+1), true)
		}
		// Opening removes what the failure kept from being removed.
		for i := 0; x.countFiles(rocksdb.TableFile) != 0; i++ {
			if i == 100 {
				x.Fatalf("%d tables are left", x.countFiles(rocksdb.TableFile))
			}
			time.Sleep(10 * time.Millisecond)
		}
		// And nothing stands in the way of a second attempt.
		x.must(commit())
		for cf, data := range familiesData {
			x.verifyCF(cf, data)
		}
	})
}

func TestExternalSSTFileTest_IngestFilesIntoMultipleColumnFamilies_PrepareFail(t *testing.T) {
	failBetween(t, "DBImpl::IngestExternalFiles:BeforeLastJobPrepare:", false)
}

func TestExternalSSTFileTest_IngestFilesIntoMultipleColumnFamilies_CommitFail(t *testing.T) {
	failBetween(t, "DBImpl::IngestExternalFiles:BeforeJobsRun:", false)
}

func TestExternalSSTFileTest_IngestFilesIntoMultipleColumnFamilies_PartialManifestWriteFail(t *testing.T) {
	failBetween(t, "VersionSet::ProcessManifestWrites:BeforeWriteLastVersionEdit:", true)
}

// noLinkFS refuses to link.
type noLinkFS struct{ rocksdb.FileSystemWrapper }

func (noLinkFS) LinkFile(string, string, *rocksdb.IOOptions) error { return rocksdb.NotSupported() }

func TestExternSSTFileLinkFailFallbackTest_LinkFailFallBackExternalSst(t *testing.T) {
	for i := range 8 {
		fail, fallBack, move := i&1 != 0, i&2 != 0, i&4 != 0
		t.Run(fmt.Sprintf("fail_link=%t,fall_back=%t,move=%t", fail, fallBack, move), func(t *testing.T) {
			x := newExtTest(t)
			o := x.currentOptions()
			o.DisableAutoCompactions = true
			if fail {
				o = x.onFS(o, noLinkFS{rocksdb.FileSystemWrapper{FileSystem: x.fault}})
			}
			x.destroyAndReopen(o)
			path, info := x.writeInfo(o, "file1.sst", puts(0, 10000, "_value"))
			copied := false
			syncpoint.SetCallBack("ExternalSstFileIngestionJob::Prepare:CopyFile", func(any) { copied = true })
			syncpoint.EnableProcessing()
			err := x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
				o.MoveFiles, o.LinkFiles, o.FailedMoveFallBackToCopy = move, !move, fallBack
			}))
			syncpoint.Reset()
			var written, moved uint64
			for _, s := range x.cf(0).Impl().CFD().InternalStats().TESTGetCompactionStats() {
				written += s.BytesWritten
				moved += s.BytesMoved
			}
			var wantWritten, wantMoved uint64
			switch {
			case !fail:
				x.must(err)
				wantMoved = info.FileSize
				x.wantFile(path, !move)
			case fallBack:
				x.must(err)
				wantWritten = info.FileSize
			default:
				x.wantCode(err, rocksdb.CodeNotSupported)
			}
			if written != wantWritten || moved != wantMoved || copied != (wantWritten != 0) {
				t.Fatalf("%d written, %d moved, copied %t of %d", written, moved, copied, info.FileSize)
			}
		})
	}
}

func TestExternalSSTFileTest_PurgeObsoleteFilesBug(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	path := x.write(o, "file1.sst", puts(0, 500, "_val"))
	o.DeleteObsoleteFilesPeriodMicros, o.DisableAutoCompactions = 0, true
	x.destroyAndReopen(o)
	syncpoint.SetCallBack("ExternalSstFileIngestionJob::Prepare:FileAdded", func(any) {
		for _, v := range []string{"bbb", "xxx"} {
			x.mustPut(0, "aaa", v)
			x.flush(0)
		}
		x.must(x.db.CompactRange(nil, nil, nil))
	})
	syncpoint.EnableProcessing()
	x.must(x.addFile([]string{path}, false, false))
	syncpoint.Reset()
	for i := range 500 {
		x.wantGet(0, key(i), key(i)+"_val")
	}
}
