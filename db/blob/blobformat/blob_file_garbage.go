// Port of db/blob/blob_file_garbage.{h,cc}.

package blobformat

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// BlobFileGarbage is the MANIFEST's record of blobs that became garbage.
//
// Its bytes: varint64 file number, varint64 number of blobs, varint64 bytes,
// then custom fields and their end as in BlobFileAddition.
type BlobFileGarbage struct {
	blobFileNumber   uint64
	garbageBlobCount uint64
	garbageBlobBytes uint64
}

// NewBlobFileGarbage makes the record.
func NewBlobFileGarbage(number, count, bytes uint64) BlobFileGarbage {
	return BlobFileGarbage{number, count, bytes}
}

// GetBlobFileNumber is the file's number.
func (g *BlobFileGarbage) GetBlobFileNumber() uint64 { return g.blobFileNumber }

// GetGarbageBlobCount is the number of blobs that became garbage.
func (g *BlobFileGarbage) GetGarbageBlobCount() uint64 { return g.garbageBlobCount }

// GetGarbageBlobBytes is their size with headers and keys.
func (g *BlobFileGarbage) GetGarbageBlobBytes() uint64 { return g.garbageBlobBytes }

// EncodeTo appends the record to dst.
func (g *BlobFileGarbage) EncodeTo(dst []byte) []byte {
	dst = util.AppendVarint64(dst, g.blobFileNumber)
	dst = util.AppendVarint64(dst, g.garbageBlobCount)
	dst = util.AppendVarint64(dst, g.garbageBlobBytes)
	syncpoint.ProcessArg("BlobFileGarbage::EncodeTo::CustomFields", &dst)
	return util.AppendVarint32(dst, customFieldEndMarker)
}

// DecodeFrom reads the record at the front of src and gives what follows it.
func (g *BlobFileGarbage) DecodeFrom(src []byte) (rest []byte, err error) {
	const class = "BlobFileGarbage"
	var ok bool
	if g.blobFileNumber, src, ok = util.GetVarint64(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding blob file number")
	}
	if g.garbageBlobCount, src, ok = util.GetVarint64(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding garbage blob count")
	}
	if g.garbageBlobBytes, src, ok = util.GetVarint64(src); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding garbage blob bytes")
	}
	return skipCustomFields(class, src)
}

// DebugString is the record as text.
func (g *BlobFileGarbage) DebugString() string {
	return fmt.Sprintf("blob_file_number: %d garbage_blob_count: %d garbage_blob_bytes: %d",
		g.blobFileNumber, g.garbageBlobCount, g.garbageBlobBytes)
}

// DebugJSON is the record as a JSON object.
func (g *BlobFileGarbage) DebugJSON() string {
	return fmt.Sprintf(`{"BlobFileNumber": %d, "GarbageBlobCount": %d, "GarbageBlobBytes": %d}`,
		g.blobFileNumber, g.garbageBlobCount, g.garbageBlobBytes)
}
