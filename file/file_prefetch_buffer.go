// Port of file/file_prefetch_buffer.{h,cc}. Differs: the synchronous form, with
// one buffer; PrefetchAsync is not supported yet and NumBuffers above 1 reads
// as 1 does. Buffers of the file system's own (FSBuffer) are not taken over.

package file

import (
	"math"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// DefaultDecrement is how much a read from the block cache takes off the
// read-ahead, in bytes.
const DefaultDecrement = 8 * 1024

// ReadaheadParams say how a FilePrefetchBuffer reads ahead.
type ReadaheadParams struct {
	// InitialReadaheadSize in bytes doubles with each read up to
	// MaxReadaheadSize; 0 is no read-ahead.
	InitialReadaheadSize int
	MaxReadaheadSize     int
	// ImplicitAutoReadahead begins only once NumFileReadsForAutoReadahead
	// reads have followed each other. NumFileReads is how many have already.
	ImplicitAutoReadahead        bool
	NumFileReads                 uint64
	NumFileReadsForAutoReadahead uint64
	NumBuffers                   int
}

// ReadaheadInfo is what one file's read-ahead hands on to the next file's.
type ReadaheadInfo struct {
	ReadaheadSize int
	NumFileReads  uint64
}

// ReadaheadFileInfo is a ReadaheadInfo each for index and data blocks.
type ReadaheadFileInfo struct {
	DataBlock  ReadaheadInfo
	IndexBlock ReadaheadInfo
}

// FilePrefetchBufferUsage says what a buffer is for, for statistics.
type FilePrefetchBufferUsage uint8

// The uses.
const (
	PrefetchUsageUnknown FilePrefetchBufferUsage = iota
	TableOpenPrefetchTail
	UserScanPrefetch
	CompactionPrefetch
)

// PrefetchBufferOptions are a FilePrefetchBuffer's. With the zero value it
// holds what Prefetch loads and does not read ahead.
type PrefetchBufferOptions struct {
	ReadaheadParams
	// Disable makes it read nothing, but for tracking; meant for mapped files,
	// which it cannot read.
	Disable bool
	// TrackMinOffset keeps MinOffsetRead.
	TrackMinOffset bool
	Stats          rocksdb.Statistics
	// ReadaheadSizeCB may narrow the range about to be read, by what the
	// block cache has already. readCurrBlock: the range begins with a block
	// that is needed now.
	ReadaheadSizeCB func(readCurrBlock bool, start, end *uint64)
	Usage           FilePrefetchBufferUsage
}

// FilePrefetchBuffer holds a range of a file read in one piece, and reads ahead
// as a scan goes on. It is used by one goroutine.
type FilePrefetchBuffer struct {
	opts PrefetchBufferOptions
	// buf holds the file's bytes from offset on.
	buf    []byte
	offset uint64

	readaheadSize int
	numFileReads  uint64
	minOffsetRead uint64
	prevOffset    uint64
	prevLen       int
}

// NewFilePrefetchBuffer makes one without memory; o may be nil.
func NewFilePrefetchBuffer(o *PrefetchBufferOptions) *FilePrefetchBuffer {
	if o == nil {
		o = &PrefetchBufferOptions{}
	}
	return &FilePrefetchBuffer{
		opts: *o, readaheadSize: o.InitialReadaheadSize, numFileReads: o.NumFileReads,
		minOffsetRead: math.MaxUint64,
	}
}

func (b *FilePrefetchBuffer) end() uint64 { return b.offset + uint64(len(b.buf)) }

// holds is upstream's BufferInfo::IsDataBlockInBuffer and
// BufferInfo::IsOffsetInBuffer.
func (b *FilePrefetchBuffer) holds(offset uint64) bool {
	return offset >= b.offset && offset < b.end()
}

// reset forgets what is buffered.
// Upstream: FilePrefetchBuffer::ResetValues.
func (b *FilePrefetchBuffer) reset() { b.buf, b.offset = b.buf[:0], 0 }

// Enabled tells whether it reads.
func (b *FilePrefetchBuffer) Enabled() bool { return !b.opts.Disable }

// MinOffsetRead is the least offset asked for; the greatest uint64 when none
// was or they are not tracked.
func (b *FilePrefetchBuffer) MinOffsetRead() uint64 { return b.minOffsetRead }

// GetPrefetchOffset is where the buffered range begins.
func (b *FilePrefetchBuffer) GetPrefetchOffset() uint64 { return b.offset }

// GetReadaheadState is for the next file of a scan.
func (b *FilePrefetchBuffer) GetReadaheadState() ReadaheadInfo {
	return ReadaheadInfo{b.readaheadSize, b.numFileReads}
}

// Close gives the memory back and counts what was read for nothing.
func (b *FilePrefetchBuffer) Close() {
	if b.opts.Stats != nil {
		discarded, last := uint64(0), b.prevOffset+uint64(b.prevLen)
		switch {
		case len(b.buf) == 0:
		case b.prevOffset >= b.offset && last < b.end():
			discarded = b.end() - last
		case b.prevOffset < b.offset && last <= b.offset:
			discarded = uint64(len(b.buf))
		}
		b.opts.Stats.RecordInHistogram(rocksdb.HistPrefetchedBytesDiscarded, discarded)
	}
	b.buf, b.offset = nil, 0
}

// Prefetch loads a range; what of it is buffered already is not read again.
func (b *FilePrefetchBuffer) Prefetch(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int) error {
	if b.opts.Disable || reader == nil {
		return nil
	}
	syncpoint.Process("FilePrefetchBuffer::Prefetch:Start")
	if offset >= b.offset && offset+uint64(n) <= b.end() {
		return nil
	}
	read, err := b.load(opts, reader, offset, 0, n)
	if err == nil && b.opts.Usage == TableOpenPrefetchTail {
		monitoring.RecordInHistogram(b.opts.Stats, rocksdb.HistTableOpenPrefetchTailReadBytes, uint64(read))
	}
	return err
}

// PrefetchAsync is to begin a read without waiting for it.
func (b *FilePrefetchBuffer) PrefetchAsync(*rocksdb.IOOptions, *RandomAccessFileReader, uint64, int) ([]byte, error) {
	return nil, rocksdb.NotSupported("FilePrefetchBuffer.PrefetchAsync")
}

// load makes the buffer hold length bytes from offset and readahead more, or
// what the callback leaves of that, and returns how much it read.
func (b *FilePrefetchBuffer) load(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, length, readahead int) (int, error) {
	align := reader.Alignment()
	start := roundDown(offset, align)
	end := roundUp(offset+uint64(length)+uint64(readahead), align)
	if start > end {
		return 0, rocksdb.InvalidArgumentf("read of %d bytes at offset %d of %s", length, offset, reader.FileName())
	}
	whole := end - start
	if b.opts.ReadaheadSizeCB != nil && readahead > 0 {
		b.opts.ReadaheadSizeCB(true, &start, &end)
	}
	if start == end {
		b.countTrimmed(whole, 0)
		return 0, nil
	}
	start, end = roundDown(start, align), roundUp(end, align)
	b.countTrimmed(whole, end-start)
	useful := b.refit(start, int(end-start), align)
	return b.read(opts, reader, int(end-start)-useful, useful)
}

// countTrimmed is upstream's FilePrefetchBuffer::UpdateReadAheadTrimmedStat.
func (b *FilePrefetchBuffer) countTrimmed(whole, left uint64) {
	if whole != left {
		monitoring.RecordTick(b.opts.Stats, rocksdb.ReadaheadTrimmed, 1)
	}
}

// refit makes the buffer begin at start with room for size bytes, and returns
// how many of them it has already.
func (b *FilePrefetchBuffer) refit(start uint64, size, align int) int {
	var tail []byte
	if b.holds(start) {
		tail = b.buf[start-b.offset:]
	}
	tail = tail[:min(len(tail), size)]
	to := b.buf
	if cap(to) < size || !isAligned(to, align) {
		to = newAligned(size, align)
	}
	b.buf = to[:copy(to[:size], tail)]
	b.offset = start
	return len(b.buf)
}

// read reads n bytes to follow the first have of the buffer.
func (b *FilePrefetchBuffer) read(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, n, have int) (int, error) {
	if n == 0 {
		return 0, nil
	}
	to := b.buf[have : have+n]
	got, err := reader.Read(opts, b.offset+uint64(have), n, to, nil)
	if err != nil {
		b.reset()
		return 0, err
	}
	if len(got) > 0 && &got[0] != &to[0] {
		b.reset()
		return 0, rocksdb.Corruption("File read didn't populate our buffer").In(reader.FileName())
	}
	switch b.opts.Usage {
	case UserScanPrefetch:
		monitoring.RecordTick(b.opts.Stats, rocksdb.PrefetchBytes, uint64(n))
	case CompactionPrefetch:
		monitoring.RecordInHistogram(b.opts.Stats, rocksdb.HistCompactionPrefetchBytes, uint64(n))
	}
	b.buf = b.buf[:have+len(got)]
	return n, nil
}

// TryReadFromCache gives n bytes at offset, fewer at the file's end, out of the
// buffer, which it fills and lets read ahead as the options say. Not ok means
// that the caller has to read by itself; err says why when a read was tried.
// The bytes are valid until the next call. reader may be nil without
// read-ahead.
func (b *FilePrefetchBuffer) TryReadFromCache(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int, forCompaction bool) (data []byte, ok bool, err error) {
	data, ok, err = b.tryRead(opts, reader, offset, n, forCompaction)
	if b.opts.Usage == TableOpenPrefetchTail && !b.opts.Disable {
		t := rocksdb.TableOpenPrefetchTailMiss
		if ok {
			t = rocksdb.TableOpenPrefetchTailHit
		}
		monitoring.RecordTick(b.opts.Stats, t, 1)
	}
	return data, ok, err
}

func (b *FilePrefetchBuffer) tryRead(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int, forCompaction bool) ([]byte, bool, error) {
	if b.opts.TrackMinOffset {
		b.minOffsetRead = min(b.minOffsetRead, offset)
	}
	if b.opts.Disable || n < 0 || offset < b.offset || offset+uint64(n) < offset {
		return nil, false, nil
	}
	prefetched := false
	switch {
	case offset+uint64(n) > b.end():
		if b.readaheadSize == 0 || reader == nil {
			return nil, false, nil
		}
		if b.opts.ImplicitAutoReadahead && !b.isEligibleForPrefetch(offset, n) {
			return nil, false, nil
		}
		syncpoint.Process("FilePrefetchBuffer::Prefetch:Start")
		if b.holds(offset) {
			b.updateStats(false, b.end()-offset)
		} else {
			b.reset()
		}
		if _, err := b.load(opts, reader, offset, n, b.readaheadSize); err != nil {
			return nil, false, err
		}
		prefetched = true
	case !forCompaction:
		b.updateStats(true, uint64(n))
	}
	b.UpdateReadPattern(offset, n, false)
	if prefetched {
		b.readaheadSize = min(b.opts.MaxReadaheadSize, b.readaheadSize*2)
	}
	if !b.holds(offset) {
		// Beyond the file's end, or trimmed to nothing.
		return nil, false, nil
	}
	at := offset - b.offset
	return b.buf[at:min(uint64(len(b.buf)), at+uint64(n))], true, nil
}

func (b *FilePrefetchBuffer) updateStats(found bool, n uint64) {
	if b.opts.Stats == nil {
		return
	}
	if found {
		b.opts.Stats.RecordTick(rocksdb.PrefetchHits, 1)
	}
	if n > 0 {
		b.opts.Stats.RecordTick(rocksdb.PrefetchBytesUseful, n)
	}
}

func (b *FilePrefetchBuffer) isBlockSequential(offset uint64) bool {
	return b.prevLen == 0 || b.prevOffset+uint64(b.prevLen) == offset
}

// isEligibleForPrefetch counts reads that follow each other, and begins anew
// after one that does not.
func (b *FilePrefetchBuffer) isEligibleForPrefetch(offset uint64, n int) bool {
	if !b.isBlockSequential(offset) {
		b.UpdateReadPattern(offset, n, false)
		b.numFileReads = 1
		b.readaheadSize = b.opts.InitialReadaheadSize
		return false
	}
	b.numFileReads++
	if b.numFileReads <= b.opts.NumFileReadsForAutoReadahead {
		b.UpdateReadPattern(offset, n, false)
		return false
	}
	return true
}

// UpdateReadPattern notes a read, of this buffer or of the block cache; with
// decrease the latter makes the read-ahead smaller.
func (b *FilePrefetchBuffer) UpdateReadPattern(offset uint64, n int, decrease bool) {
	if decrease {
		b.DecreaseReadAheadIfEligible(offset, n, DefaultDecrement)
	}
	b.prevOffset, b.prevLen = offset, n
}

// DecreaseReadAheadIfEligible makes the read-ahead smaller by value, but not
// below its initial size, for a block found in the block cache that would
// otherwise have been read ahead from.
func (b *FilePrefetchBuffer) DecreaseReadAheadIfEligible(offset uint64, n, value int) {
	if len(b.buf) == 0 || !b.opts.ImplicitAutoReadahead || b.readaheadSize == 0 {
		return
	}
	if offset+uint64(n) > b.end() && b.isBlockSequential(offset) && b.numFileReads+1 > b.opts.NumFileReadsForAutoReadahead {
		b.readaheadSize = max(b.opts.InitialReadaheadSize, b.readaheadSize-value)
	}
}
