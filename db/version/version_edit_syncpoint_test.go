// Port of db/version_edit_test.cc, the cases that change records through a
// sync point.

//go:build syncpoint

package version

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestVersionEditTest_ForwardCompatibleNewFile4(t *testing.T) {
	var e VersionEdit
	e.AddFile(3, testFile(300, 3, 100, 0, marked))
	e.AddFile(4, testFile(301, 3, 100, 1, func(f *FileMetaData) {
		f.OldestAncesterTime, f.FileCreationTime = 686, 868
		f.FileChecksum, f.FileChecksumFuncName = "234", "crc32c"
	}))
	e.DeleteFile(4, 700)
	setCommonFields(&e, true)

	t.Cleanup(syncpoint.Reset)
	calls := 0
	syncpoint.SetCallBack("VersionEdit::EncodeTo:NewFile4:CustomizeFields", func(arg any) {
		dst := arg.(*[]byte)
		*dst = util.AppendLengthPrefixedSlice(util.AppendVarint32(*dst, 33), []byte("random_string"))
		if calls++; calls == 1 {
			*dst = util.AppendLengthPrefixedSlice(util.AppendVarint32(*dst, 22), []byte("s"))
		}
	})
	syncpoint.EnableProcessing()
	encoded := mustEncode(t, &e)
	syncpoint.DisableProcessing()
	if calls != 2 {
		t.Fatalf("%d calls", calls)
	}
	var parsed VersionEdit
	noErr(t, parsed.DecodeFrom(encoded))
	files := parsed.GetNewFiles()
	if len(files) != 2 || !files[0].Meta.MarkedForCompaction.Load() || files[1].Meta.MarkedForCompaction.Load() ||
		files[0].Meta.FD.GetPathId() != 3 || files[1].Meta.FD.GetPathId() != 3 {
		t.Errorf("got %s", parsed.DebugString(true))
	}
	if n := len(parsed.GetDeletedFiles()); n != 1 {
		t.Errorf("%d deleted files", n)
	}
	if !parsed.GetPersistUserDefinedTimestamps() {
		t.Error("the flag of timestamps is lost")
	}
}

func TestVersionEditTest_NewFile4NotSupportedField(t *testing.T) {
	var e VersionEdit
	e.AddFile(3, testFile(300, 3, 100, 0, marked, func(f *FileMetaData) { f.UserDefinedTimestampsPersisted = false }))
	setCommonFields(&e, false)
	t.Cleanup(syncpoint.Reset)
	syncpoint.SetCallBack("VersionEdit::EncodeTo:NewFile4:CustomizeFields", func(arg any) {
		dst := arg.(*[]byte)
		*dst = util.AppendLengthPrefixedSlice(*dst, []byte("s"))
	})
	syncpoint.EnableProcessing()
	encoded := mustEncode(t, &e)
	syncpoint.DisableProcessing()
	var parsed VersionEdit
	if err := parsed.DecodeFrom(encoded); err == nil {
		t.Errorf("a field without its value was read: %s", parsed.DebugString(true))
	}
}

func TestVersionEditTest_IgnorableTags(t *testing.T) {
	t.Cleanup(syncpoint.Reset)
	syncpoint.SetCallBack("VersionEdit::EncodeTo:IgnoreIgnorableTags", func(arg any) { *arg.(*bool) = true })
	syncpoint.EnableProcessing()

	var e VersionEdit
	e.AddWal(1, NewWalMetadata(2))
	e.AddWal(2, NewWalMetadata(3))
	e.SetDBId("db_id")
	e.SetPrevLogNumber(100)
	e.SetLogNumber(200)
	e.DeleteWalsBefore(100)
	e.SetNextFile(300)
	e.SetFullHistoryTsLow("ts")
	e.SetColumnFamily(400)

	var d VersionEdit
	noErr(t, d.DecodeFrom(mustEncode(t, &e)))
	if d.HasDbId() || d.HasFullHistoryTsLow() || d.IsWalAddition() || d.IsWalDeletion() || len(d.GetWalAdditions()) != 0 {
		t.Errorf("ignorable fields were read: %s", d.DebugString(true))
	}
	if d.GetPrevLogNumber() != 100 || d.GetLogNumber() != 200 || d.GetNextFile() != 300 || d.GetColumnFamily() != 400 {
		t.Errorf("other fields were lost: %s", d.DebugString(true))
	}
}
