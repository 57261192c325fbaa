// Port of table/embedded_blob_sst.h.

package table

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// EmbeddedBlobSstStatsPropertyName is the user property of tables that hold
// blobs themselves. That it is there tells so; the numbers in it are for
// diagnosis.
const EmbeddedBlobSstStatsPropertyName = "rocksdb.embedded.blob.stats"

// EmbeddedBlobStats is the value of EmbeddedBlobSstStatsPropertyName: two
// varint64, in this order.
type EmbeddedBlobStats struct {
	BlobCount    uint64
	PayloadBytes uint64
}

// EncodeTo appends the property's value to dst.
func (s *EmbeddedBlobStats) EncodeTo(dst []byte) []byte {
	return util.AppendVarint64(util.AppendVarint64(dst, s.BlobCount), s.PayloadBytes)
}

// DecodeFrom decodes the property's value.
func (s *EmbeddedBlobStats) DecodeFrom(src []byte) error {
	var d EmbeddedBlobStats
	var ok bool
	if d.BlobCount, src, ok = util.GetVarint64(src); ok {
		d.PayloadBytes, _, ok = util.GetVarint64(src)
	}
	if !ok {
		return rocksdb.Corruption("Error decoding embedded blob stats")
	}
	if d.BlobCount == 0 && d.PayloadBytes != 0 {
		return rocksdb.Corruption("Embedded blob stats have bytes but no records")
	}
	*s = d
	return nil
}

// EmbeddedBlobSource reads blobs in tables by a cache. Package db/blob
// implements it.
type EmbeddedBlobSource interface {
	// GetSimpleGen2Blob gives the blob of an index that f finds valid, and the
	// cache's entry that keeps it, to be released once; nil: the bytes are the
	// caller's.
	GetSimpleGen2Blob(ro *rocksdb.ReadOptions, f *blobformat.SimpleGen2File, index *blobformat.BlobIndex) (data []byte, owner rocksdb.Releaser, err error)
}
