// Port of db/blob/blob_file_addition_test.cc and db/blob/blob_file_garbage_test.cc,
// the cases that add fields through a sync point.

//go:build syncpoint

package blobformat

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

func addCustomField(t *testing.T, point string, tag uint32, value string) {
	t.Cleanup(syncpoint.Reset)
	syncpoint.SetCallBack(point, func(arg any) {
		dst := arg.(*[]byte)
		*dst = util.AppendVarint32(*dst, tag)
		*dst = util.AppendLengthPrefixedSlice(*dst, []byte(value))
	})
	syncpoint.EnableProcessing()
}

func TestBlobFileAdditionTest_ForwardCompatibleCustomField(t *testing.T) {
	a := NewBlobFileAddition(678, 9999, 100000000, "CRC32", "\x3d\x87\xff\x57")
	plain := len(a.EncodeTo(nil))
	addCustomField(t, "BlobFileAddition::EncodeTo::CustomFields", 2, "deadbeef")
	if n := len(a.EncodeTo(nil)); n != plain+10 {
		t.Fatalf("record grew from %d to %d bytes, want 10 more", plain, n)
	}
	testAdditionEncodeDecode(t, a)
}

func TestBlobFileAdditionTest_ForwardIncompatibleCustomField(t *testing.T) {
	addCustomField(t, "BlobFileAddition::EncodeTo::CustomFields", 1<<6+1, "foobar")
	a := NewBlobFileAddition(456, 100, 2000000, "CRC32B", "\x6d\xbd\xf2\x3a")
	var got BlobFileAddition
	if _, err := got.DecodeFrom(a.EncodeTo(nil)); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "Forward incompatible") {
		t.Errorf("got %v", err)
	}
}

func TestBlobFileGarbageTest_ForwardCompatibleCustomField(t *testing.T) {
	g := NewBlobFileGarbage(678, 9999, 100000000)
	plain := len(g.EncodeTo(nil))
	addCustomField(t, "BlobFileGarbage::EncodeTo::CustomFields", 2, "deadbeef")
	if n := len(g.EncodeTo(nil)); n != plain+10 {
		t.Fatalf("record grew from %d to %d bytes, want 10 more", plain, n)
	}
	testGarbageEncodeDecode(t, g)
}

func TestBlobFileGarbageTest_ForwardIncompatibleCustomField(t *testing.T) {
	addCustomField(t, "BlobFileGarbage::EncodeTo::CustomFields", 1<<6+1, "foobar")
	g := NewBlobFileGarbage(456, 100, 2000000)
	var got BlobFileGarbage
	if _, err := got.DecodeFrom(g.EncodeTo(nil)); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "Forward incompatible") {
		t.Errorf("got %v", err)
	}
}
