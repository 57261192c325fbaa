// Port of db/blob/blob_file_addition_test.cc.

package blobformat

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const sha1Checksum = "\xbd\xb7\xf3\x4a\x59\xdf\xa1\x59\x2c\xe7\xf5\x2e\x99\xf9\x8c\x57\x0c\x52\x5c\xbd"

func testAdditionEncodeDecode(t *testing.T, a BlobFileAddition) {
	t.Helper()
	var got BlobFileAddition
	rest, err := got.DecodeFrom(a.EncodeTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(rest) != 0 || got != a {
		t.Errorf("got %+v with %d bytes left, want %+v", got, len(rest), a)
	}
}

func TestBlobFileAdditionTest_Empty(t *testing.T) {
	var a BlobFileAddition
	if a.GetBlobFileNumber() != InvalidBlobFileNumber || a.GetTotalBlobCount() != 0 || a.GetTotalBlobBytes() != 0 ||
		a.GetChecksumMethod() != "" || a.GetChecksumValue() != "" {
		t.Errorf("zero value is not empty: %s", a.DebugString())
	}
	testAdditionEncodeDecode(t, a)
}

func TestBlobFileAdditionTest_NonEmpty(t *testing.T) {
	a := NewBlobFileAddition(123, 2, 123456, "SHA1", sha1Checksum)
	if a.GetBlobFileNumber() != 123 || a.GetTotalBlobCount() != 2 || a.GetTotalBlobBytes() != 123456 ||
		a.GetChecksumMethod() != "SHA1" || a.GetChecksumValue() != sha1Checksum {
		t.Errorf("got %s", a.DebugString())
	}
	testAdditionEncodeDecode(t, a)
}

// decodeErrorStep is one more field of a record and what is missing before it.
type decodeErrorStep struct {
	missing string
	field   []byte
}

func testDecodeErrors(t *testing.T, decode func([]byte) error, steps []decodeErrorStep) {
	t.Helper()
	var data []byte
	for _, s := range steps {
		if err := decode(data); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), s.missing) {
			t.Errorf("after %d bytes: got %v, want a corruption of the %s", len(data), err, s.missing)
		}
		data = append(data, s.field...)
	}
}

func str(s string) []byte { return util.AppendLengthPrefixedSlice(nil, []byte(s)) }

func TestBlobFileAdditionTest_DecodeErrors(t *testing.T) {
	testDecodeErrors(t, func(b []byte) error {
		var a BlobFileAddition
		_, err := a.DecodeFrom(b)
		return err
	}, []decodeErrorStep{
		{"blob file number", util.AppendVarint64(nil, 123)},
		{"total blob count", util.AppendVarint64(nil, 4567)},
		{"total blob bytes", util.AppendVarint64(nil, 12345678)},
		{"checksum method", str("SHA1")},
		{"checksum value", str(sha1Checksum)},
		{"custom field tag", util.AppendVarint32(nil, 2)},
		{"custom field value", nil},
	})
}
