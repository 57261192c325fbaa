// Port of db/blob/blob_file_addition.{h,cc}.

package blobformat

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// Tags of the custom fields that end a blob file's MANIFEST records. An
// unknown one is skipped unless it has customFieldForwardIncompatibleMask.
const (
	customFieldEndMarker               = 0
	customFieldForwardIncompatibleMask = 1 << 6
)

// BlobFileAddition is the MANIFEST's record of a new blob file.
//
// Its bytes: varint64 file number, varint64 number of blobs, varint64 bytes of
// blobs, string checksum method, string checksum, then custom fields (varint32
// tag, string), then varint32 0. A string is a varint32 length and that many
// bytes.
type BlobFileAddition struct {
	blobFileNumber uint64
	totalBlobCount uint64
	totalBlobBytes uint64
	checksumMethod string
	checksumValue  string
}

// NewBlobFileAddition makes the record; method and value are both empty or
// neither.
func NewBlobFileAddition(number, count, bytes uint64, method, value string) BlobFileAddition {
	return BlobFileAddition{number, count, bytes, method, value}
}

// GetBlobFileNumber is the file's number.
func (a *BlobFileAddition) GetBlobFileNumber() uint64 { return a.blobFileNumber }

// GetTotalBlobCount is the number of blobs in the file.
func (a *BlobFileAddition) GetTotalBlobCount() uint64 { return a.totalBlobCount }

// GetTotalBlobBytes is the size of the blobs with their headers and keys.
func (a *BlobFileAddition) GetTotalBlobBytes() uint64 { return a.totalBlobBytes }

// GetChecksumMethod names the file's checksum function, "" for none.
func (a *BlobFileAddition) GetChecksumMethod() string { return a.checksumMethod }

// GetChecksumValue is the file's checksum.
func (a *BlobFileAddition) GetChecksumValue() string { return a.checksumValue }

// EncodeTo appends the record to dst.
func (a *BlobFileAddition) EncodeTo(dst []byte) []byte {
	dst = util.AppendVarint64(dst, a.blobFileNumber)
	dst = util.AppendVarint64(dst, a.totalBlobCount)
	dst = util.AppendVarint64(dst, a.totalBlobBytes)
	dst = util.AppendLengthPrefixedSlice(dst, []byte(a.checksumMethod))
	dst = util.AppendLengthPrefixedSlice(dst, []byte(a.checksumValue))
	syncpoint.ProcessArg("BlobFileAddition::EncodeTo::CustomFields", &dst)
	return util.AppendVarint32(dst, customFieldEndMarker)
}

// DecodeFrom reads the record at the front of src, which is not kept, and
// gives what follows it.
func (a *BlobFileAddition) DecodeFrom(src []byte) (rest []byte, err error) {
	const class = "BlobFileAddition"
	var ok bool
	if a.blobFileNumber, src, ok = util.GetVarint64(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding blob file number")
	}
	if a.totalBlobCount, src, ok = util.GetVarint64(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding total blob count")
	}
	if a.totalBlobBytes, src, ok = util.GetVarint64(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding total blob bytes")
	}
	var s []byte
	if s, src, ok = util.GetLengthPrefixedSlice(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding checksum method")
	}
	a.checksumMethod = string(s)
	if s, src, ok = util.GetLengthPrefixedSlice(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding checksum value")
	}
	a.checksumValue = string(s)
	return skipCustomFields(class, src)
}

// skipCustomFields reads up to and including the end marker.
func skipCustomFields(class string, src []byte) (rest []byte, err error) {
	for {
		tag, r, ok := util.GetVarint32(src)
		if !ok {
			return nil, rocksdb.Corruption(class, "Error decoding custom field tag")
		}
		if tag == customFieldEndMarker {
			return r, nil
		}
		if tag&customFieldForwardIncompatibleMask != 0 {
			return nil, rocksdb.Corruption(class, "Forward incompatible custom field encountered")
		}
		if _, src, ok = util.GetLengthPrefixedSlice(r); !ok {
			return nil, rocksdb.Corruption(class, "Error decoding custom field value")
		}
	}
}

// DebugString is the record as text.
func (a *BlobFileAddition) DebugString() string {
	return fmt.Sprintf("blob_file_number: %d total_blob_count: %d total_blob_bytes: %d checksum_method: %s checksum_value: %X",
		a.blobFileNumber, a.totalBlobCount, a.totalBlobBytes, a.checksumMethod, a.checksumValue)
}

// DebugJSON is the record as a JSON object.
func (a *BlobFileAddition) DebugJSON() string {
	return fmt.Sprintf(`{"BlobFileNumber": %d, "TotalBlobCount": %d, "TotalBlobBytes": %d, "ChecksumMethod": "%s", "ChecksumValue": "%X"}`,
		a.blobFileNumber, a.totalBlobCount, a.totalBlobBytes, a.checksumMethod, a.checksumValue)
}
