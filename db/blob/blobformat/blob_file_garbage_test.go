// Port of db/blob/blob_file_garbage_test.cc.

package blobformat

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

func testGarbageEncodeDecode(t *testing.T, g BlobFileGarbage) {
	t.Helper()
	var got BlobFileGarbage
	rest, err := got.DecodeFrom(g.EncodeTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(rest) != 0 || got != g {
		t.Errorf("got %+v with %d bytes left, want %+v", got, len(rest), g)
	}
}

func TestBlobFileGarbageTest_Empty(t *testing.T) {
	var g BlobFileGarbage
	if g.GetBlobFileNumber() != InvalidBlobFileNumber || g.GetGarbageBlobCount() != 0 || g.GetGarbageBlobBytes() != 0 {
		t.Errorf("zero value is not empty: %s", g.DebugString())
	}
	testGarbageEncodeDecode(t, g)
}

func TestBlobFileGarbageTest_NonEmpty(t *testing.T) {
	g := NewBlobFileGarbage(123, 1, 9876)
	if g.GetBlobFileNumber() != 123 || g.GetGarbageBlobCount() != 1 || g.GetGarbageBlobBytes() != 9876 {
		t.Errorf("got %s", g.DebugString())
	}
	testGarbageEncodeDecode(t, g)
}

func TestBlobFileGarbageTest_DecodeErrors(t *testing.T) {
	testDecodeErrors(t, func(b []byte) error {
		var g BlobFileGarbage
		_, err := g.DecodeFrom(b)
		return err
	}, []decodeErrorStep{
		{"blob file number", util.AppendVarint64(nil, 123)},
		{"garbage blob count", util.AppendVarint64(nil, 4567)},
		{"garbage blob bytes", util.AppendVarint64(nil, 12345678)},
		{"custom field tag", util.AppendVarint32(nil, 2)},
		{"custom field value", nil},
	})
}
