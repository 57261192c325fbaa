// Port of db/blob/blob_fetcher.h: the interface. Differs: bytes read are a
// result; prefetch buffers belong to the fetcher.

package blobformat

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// BlobFetcher reads blobs for a reader or a compaction. Package db implements
// it upon a version.
type BlobFetcher interface {
	// FetchBlob puts the value of an index that is not inlined into value and
	// says how many bytes it read from files.
	FetchBlob(userKey []byte, index *BlobIndex, value *rocksdb.PinnableSlice) (bytesRead uint64, err error)
}

// FetchEncodedBlob decodes an index and fetches its value, inlined or not. A
// nil fetcher makes an index that is not inlined a corruption.
func FetchEncodedBlob(f BlobFetcher, userKey, encoded []byte, value *rocksdb.PinnableSlice) (bytesRead uint64, err error) {
	var index BlobIndex
	if err := index.DecodeFrom(encoded); err != nil {
		return 0, err
	}
	if index.IsInlined() {
		value.PinSelf(index.Value)
		return 0, nil
	}
	if f == nil {
		return 0, rocksdb.Corruption("Cannot resolve blob reference without a blob fetcher")
	}
	return f.FetchBlob(userKey, &index, value)
}
