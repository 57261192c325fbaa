// Port of db/blob/blob_file_meta.{h,cc}. Differs: the shared part frees itself
// with its last version by a count instead of a shared_ptr's deleter.

package blob

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
)

// SharedBlobFileMetaData is what all versions agree on about one blob file.
type SharedBlobFileMetaData struct {
	blobFileNumber uint64
	totalBlobCount uint64
	totalBlobBytes uint64
	checksumMethod string
	checksumValue  string

	refs      atomic.Int64
	onRelease func(*SharedBlobFileMetaData)
}

// NewSharedBlobFileMetaData makes it with no reference. onRelease, which may
// be nil, is called when the last reference is given back.
func NewSharedBlobFileMetaData(number, count, bytes uint64, method, value string,
	onRelease func(*SharedBlobFileMetaData)) *SharedBlobFileMetaData {
	return &SharedBlobFileMetaData{blobFileNumber: number, totalBlobCount: count, totalBlobBytes: bytes,
		checksumMethod: method, checksumValue: value, onRelease: onRelease}
}

// Ref counts a holder.
func (s *SharedBlobFileMetaData) Ref() { s.refs.Add(1) }

// Unref takes a holder off.
func (s *SharedBlobFileMetaData) Unref() {
	if s.refs.Add(-1) == 0 && s.onRelease != nil {
		s.onRelease(s)
	}
}

// GetBlobFileSize is the file's size in bytes: header, blobs, footer.
func (s *SharedBlobFileMetaData) GetBlobFileSize() uint64 {
	return blobformat.BlobLogHeaderSize + s.totalBlobBytes + blobformat.BlobLogFooterSize
}

// GetBlobFileNumber is the file's number.
func (s *SharedBlobFileMetaData) GetBlobFileNumber() uint64 { return s.blobFileNumber }

// GetTotalBlobCount is the number of blobs in the file.
func (s *SharedBlobFileMetaData) GetTotalBlobCount() uint64 { return s.totalBlobCount }

// GetTotalBlobBytes is the size of the blobs with their headers and keys.
func (s *SharedBlobFileMetaData) GetTotalBlobBytes() uint64 { return s.totalBlobBytes }

// GetChecksumMethod names the file's checksum function, "" for none.
func (s *SharedBlobFileMetaData) GetChecksumMethod() string { return s.checksumMethod }

// GetChecksumValue is the file's checksum.
func (s *SharedBlobFileMetaData) GetChecksumValue() string { return s.checksumValue }

// DebugString is the metadata as text.
func (s *SharedBlobFileMetaData) DebugString() string {
	return fmt.Sprintf("blob_file_number: %d total_blob_count: %d total_blob_bytes: %d checksum_method: %s checksum_value: %X",
		s.blobFileNumber, s.totalBlobCount, s.totalBlobBytes, s.checksumMethod, s.checksumValue)
}

// LinkedSsts are the numbers of tables whose oldest blob file this is.
type LinkedSsts map[uint64]struct{}

// BlobFileMetaData is one version's view of a blob file. Versions that agree
// share it; each holds a reference.
type BlobFileMetaData struct {
	*SharedBlobFileMetaData
	linkedSsts       LinkedSsts
	garbageBlobCount uint64
	garbageBlobBytes uint64
	refs             atomic.Int64
}

// NewBlobFileMetaData makes a view with no reference; it keeps linked.
func NewBlobFileMetaData(shared *SharedBlobFileMetaData, linked LinkedSsts, garbageCount, garbageBytes uint64) *BlobFileMetaData {
	return &BlobFileMetaData{SharedBlobFileMetaData: shared, linkedSsts: linked,
		garbageBlobCount: garbageCount, garbageBlobBytes: garbageBytes}
}

// Ref counts a version that lists the file; the first holds the shared part.
func (m *BlobFileMetaData) Ref() {
	if m.refs.Add(1) == 1 {
		m.SharedBlobFileMetaData.Ref()
	}
}

// Unref takes a version off.
func (m *BlobFileMetaData) Unref() {
	if m.refs.Add(-1) == 0 {
		m.SharedBlobFileMetaData.Unref()
	}
}

// GetSharedMeta is the part that all versions share.
func (m *BlobFileMetaData) GetSharedMeta() *SharedBlobFileMetaData { return m.SharedBlobFileMetaData }

// GetLinkedSsts are the tables whose oldest blob file this is. Not to be
// changed.
func (m *BlobFileMetaData) GetLinkedSsts() LinkedSsts { return m.linkedSsts }

// SortedLinkedSsts lists them in order.
func (m *BlobFileMetaData) SortedLinkedSsts() []uint64 { return slices.Sorted(maps.Keys(m.linkedSsts)) }

// GetGarbageBlobCount is the number of blobs that are garbage.
func (m *BlobFileMetaData) GetGarbageBlobCount() uint64 { return m.garbageBlobCount }

// GetGarbageBlobBytes is their size with headers and keys.
func (m *BlobFileMetaData) GetGarbageBlobBytes() uint64 { return m.garbageBlobBytes }

// DebugString is the metadata as text.
func (m *BlobFileMetaData) DebugString() string {
	var r strings.Builder
	r.WriteString(m.SharedBlobFileMetaData.DebugString())
	r.WriteString(" linked_ssts: {")
	for _, n := range m.SortedLinkedSsts() {
		fmt.Fprintf(&r, " %d", n)
	}
	fmt.Fprintf(&r, " } garbage_blob_count: %d garbage_blob_bytes: %d", m.garbageBlobCount, m.garbageBlobBytes)
	return r.String()
}
