// Port of db/blob/blob_read_request.h and of MultiGetBlob of
// db/blob/blob_file_reader.cc and db/blob/blob_source.cc.

package blob

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// BlobReadRequest asks for one blob of a file.
type BlobReadRequest struct {
	UserKey     []byte
	Offset      uint64 // of the value in the file
	Size        uint64 // of the value as it is stored
	Compression rocksdb.CompressionType
	// Result, which is empty before, gets the value; it stays empty where Err,
	// which is set either way, is not nil.
	Result *rocksdb.PinnableSlice
	Err    error
}

// BlobFileReadRequests are those of one file.
type BlobFileReadRequests struct {
	FileNumber uint64
	Requests   []*BlobReadRequest
}

// fileRead is a request that the cache could not serve, and the blob it got.
type fileRead struct {
	*BlobReadRequest
	value []byte
}

// MultiGetBlob reads blobs at once, in rising order of offset, and sets their
// value or Err. It gives how many bytes were read for the good ones.
func (r *BlobFileReader) MultiGetBlob(ro *rocksdb.ReadOptions, blobs []fileRead) (bytesRead uint64) {
	reads := make([]rocksdb.FSReadRequest, 0, len(blobs))
	total := uint64(0)
	for _, b := range blobs {
		if b.Err = r.checkPlace(len(b.UserKey), b.Offset, b.Size, b.Compression); b.Err != nil {
			continue
		}
		adjustment := adjustmentOf(ro, b.UserKey)
		n := b.Size + adjustment
		total += n
		read := rocksdb.FSReadRequest{Offset: b.Offset - adjustment, Len: int(n)}
		if !r.file.UseDirectIO() {
			read.Scratch = make([]byte, n)
		}
		reads = append(reads, read)
	}
	monitoring.RecordTick(r.stats, rocksdb.BlobDBBlobFileBytesRead, total)
	if len(reads) == 0 {
		return 0
	}
	if err := r.multiRead(ro, reads, total); err != nil {
		for _, b := range blobs {
			if b.Err == nil {
				b.Err = err
			}
		}
		return 0
	}
	for i := range blobs {
		b := &blobs[i]
		if b.Err != nil {
			continue
		}
		read := &reads[0]
		reads = reads[1:]
		if b.Err = r.takeBlob(ro, b, read); b.Err == nil {
			bytesRead += uint64(read.Len)
		}
	}
	return bytesRead
}

func (r *BlobFileReader) multiRead(ro *rocksdb.ReadOptions, reads []rocksdb.FSReadRequest, total uint64) error {
	syncpoint.Process("BlobFileReader::MultiGetBlob:ReadFromFile")
	if pc := ro.PerfContext; pc.Enabled(rocksdb.EnableCount) {
		pc.BlobReadCount += uint64(len(reads))
		pc.BlobReadByte += total
	}
	var o rocksdb.IOOptions
	if err := r.file.PrepareIOOptions(ro, &o); err != nil {
		return err
	}
	var aligned file.AlignedBuf
	return r.file.MultiRead(&o, reads, &aligned)
}

// takeBlob makes what was read the blob's value, in memory of its own.
func (r *BlobFileReader) takeBlob(ro *rocksdb.ReadOptions, b *fileRead, read *rocksdb.FSReadRequest) (err error) {
	if read.Status != nil {
		return read.Status
	}
	data := read.Result
	if len(data) != read.Len {
		return r.inFile(rocksdb.Corruption("Failed to read data from blob file"), read.Offset)
	}
	if len(data) > 0 && (len(read.Scratch) == 0 || &data[0] != &read.Scratch[0]) {
		data = bytes.Clone(data) // in the file's mapping, or shared with others
	}
	b.value, err = r.valueOf(ro, data, b.UserKey, b.Offset, b.Size)
	return err
}

// MultiGetBlob reads blobs of several files; it sorts each file's requests. It
// gives how many bytes the files have of the good ones, read or cached.
func (s *BlobSource) MultiGetBlob(ro *rocksdb.ReadOptions, files []BlobFileReadRequests) (bytesRead uint64) {
	for _, f := range files {
		slices.SortFunc(f.Requests, func(a, b *BlobReadRequest) int { return cmp.Compare(a.Offset, b.Offset) })
		bytesRead += s.MultiGetBlobFromOneFile(ro, f.FileNumber, f.Requests)
	}
	return bytesRead
}

// MultiGetBlobFromOneFile reads blobs of one file, in rising order of offset, all
// that are not cached at once.
func (s *BlobSource) MultiGetBlobFromOneFile(ro *rocksdb.ReadOptions, number uint64, reqs []*BlobReadRequest) (bytesRead uint64) {
	left, bytesRead := s.takeCached(ro, number, reqs)
	if len(left) == 0 {
		return bytesRead
	}
	if ro.ReadTier == rocksdb.BlockCacheTier {
		for _, b := range left {
			b.Err = rocksdb.Incomplete("Cannot read blob(s): no disk I/O allowed")
		}
		return bytesRead
	}
	h, err := s.files.GetBlobFileReader(ro, number)
	if err != nil {
		for _, b := range left {
			b.Err = err
		}
		return bytesRead
	}
	bytesRead += h.Reader().MultiGetBlob(ro, left)
	h.Release()
	bytesRead += s.retryDamaged(ro, number, left)
	for _, b := range left {
		if b.Err == nil {
			b.Err = s.deliver(ro, number, b)
		}
	}
	return bytesRead
}

// takeCached serves what the blob cache has, and gives what is left.
func (s *BlobSource) takeCached(ro *rocksdb.ReadOptions, number uint64, reqs []*BlobReadRequest) (left []fileRead, bytesRead uint64) {
	left = make([]fileRead, 0, len(reqs))
	var buf [cache.CacheKeySize]byte
	for _, r := range reqs {
		r.Err = nil
		if s.cache != nil {
			if h := s.lookup(s.key(number, r.Offset).Append(buf[:0]), ro.PerfContext); h != nil {
				s.pin(h, r.Result)
				bytesRead += r.Size + adjustmentOf(ro, r.UserKey)
				continue
			}
		}
		left = append(left, fileRead{BlobReadRequest: r})
	}
	return left, bytesRead
}

// retryDamaged reads what looks damaged once more, from the file opened afresh; see
// readFromFile.
func (s *BlobSource) retryDamaged(ro *rocksdb.ReadOptions, number uint64, blobs []fileRead) (bytesRead uint64) {
	var again []fileRead
	var stale []error
	for _, b := range blobs {
		if rocksdb.IsCorruption(b.Err) {
			again, stale = append(again, b), append(stale, b.Err)
		}
	}
	if len(again) == 0 {
		return 0
	}
	s.files.Evict(number)
	fresh, err := s.files.OpenBlobFileReaderUncached(ro, number)
	if err != nil {
		for i, b := range again {
			b.Err = refreshRetryFailure(stale[i], err)
		}
		return 0
	}
	bytesRead = fresh.MultiGetBlob(ro, again)
	good := false
	for i, b := range again {
		if b.Err != nil {
			b.Err = refreshRetryFailure(stale[i], b.Err)
			continue
		}
		good = true
		at := slices.IndexFunc(blobs, func(o fileRead) bool { return o.BlobReadRequest == b.BlobReadRequest })
		blobs[at].value = b.value
	}
	if !good {
		_ = fresh.Close()
		return bytesRead
	}
	// Should the cache not take it, it is closed.
	_ = s.files.RefreshBlobFileReader(number, fresh)
	return bytesRead
}

// deliver hands a blob that was read to its request, through the cache where that
// is to be filled.
func (s *BlobSource) deliver(ro *rocksdb.ReadOptions, number uint64, b fileRead) error {
	if s.cache == nil || !ro.FillCache {
		*b.Result = rocksdb.NewPinnableSlice(b.value, nil)
		return nil
	}
	h, err := s.insert(s.key(number, b.Offset).AsSlice(), b.value)
	if err != nil {
		return err
	}
	s.pin(h, b.Result)
	return nil
}
