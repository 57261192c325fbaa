// Port of file/file_prefetch_buffer.{h,cc}; asynchronous reads are in
// file_prefetch_buffer_async.go. Differs: a buffer that was cleared begins at 0,
// so that it stands in no later read's way.

package file

import (
	"math"
	"time"

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
	// NumBuffers above 1 makes all but the first be filled by asynchronous
	// reads while the caller uses the first; that needs PrefetchBufferOptions'
	// FS. 0 is 1.
	NumBuffers int
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
	// FS is the file's file system, which waits for asynchronous reads and may
	// bring its own buffers (FSBuffer). nil: reads are synchronous, into the
	// buffer's own memory.
	FS    rocksdb.FileSystem
	Stats rocksdb.Statistics
	// ReadaheadSizeCB may narrow the range about to be read, by what the
	// block cache has already. readCurrBlock: the range begins with a block
	// that is needed now.
	ReadaheadSizeCB func(readCurrBlock bool, start, end *uint64)
	Usage           FilePrefetchBufferUsage
}

// bufferInfo is one range of the file in memory, or on its way there.
// Upstream: BufferInfo.
type bufferInfo struct {
	// data holds the file's bytes from offset on: in mem, or in the file
	// system's buffer, which scratch keeps alive.
	data    []byte
	mem     []byte // its own memory, whole
	scratch any
	offset  uint64
	// initialEnd is where the next buffer's range begins: the end of this one's
	// before it was trimmed.
	initialEnd uint64

	// While inProgress, req may be written by the file system, and data is
	// empty. handle is nil where the read was done at once.
	req        rocksdb.FSReadRequest
	ioOptions  rocksdb.IOOptions
	handle     rocksdb.IOHandle
	inProgress bool
}

func (i *bufferInfo) end() uint64 { return i.offset + uint64(len(i.data)) }

// holds is upstream's BufferInfo::IsOffsetInBuffer.
func (i *bufferInfo) holds(offset uint64) bool { return offset >= i.offset && offset < i.end() }

// holdsAll is upstream's BufferInfo::IsDataBlockInBuffer.
func (i *bufferInfo) holdsAll(offset uint64, n int) bool {
	return offset >= i.offset && offset+uint64(n) <= i.end()
}

// reach is where the data ends, or will end.
func (i *bufferInfo) reach() uint64 {
	if i.inProgress {
		return i.offset + uint64(i.req.Len)
	}
	return i.end()
}

// clear forgets what is buffered. A read under way has to be aborted before.
// Upstream: BufferInfo::ClearBuffer.
func (i *bufferInfo) clear() {
	i.data, i.scratch, i.offset, i.initialEnd = nil, nil, 0, 0
	i.req = rocksdb.FSReadRequest{}
}

// FilePrefetchBuffer holds a range of a file read in one piece, and reads ahead
// as a scan goes on, with several buffers asynchronously. It is used by one
// goroutine.
type FilePrefetchBuffer struct {
	opts PrefetchBufferOptions
	// bufs hold ranges in rising order; the first is read from. free are not in
	// use.
	bufs, free []*bufferInfo
	// overlap has a block that lies in two of bufs.
	overlap bufferInfo

	readaheadSize int
	numFileReads  uint64
	minOffsetRead uint64
	prevOffset    uint64
	prevLen       int
	// explicit: PrefetchAsync began a read that the next TryReadFromCache is to
	// take.
	explicit bool

	one     bufferInfo // the first of bufs and free, and their memory
	ptrs    [4]*bufferInfo
	handles []rocksdb.IOHandle
}

// NewFilePrefetchBuffer makes one without memory; o may be nil.
func NewFilePrefetchBuffer(o *PrefetchBufferOptions) *FilePrefetchBuffer {
	if o == nil {
		o = &PrefetchBufferOptions{}
	}
	b := &FilePrefetchBuffer{
		opts: *o, readaheadSize: o.InitialReadaheadSize, numFileReads: o.NumFileReads,
		minOffsetRead: math.MaxUint64,
	}
	if b.opts.FS == nil || b.opts.NumBuffers < 1 {
		b.opts.NumBuffers = 1
	}
	b.ptrs[0] = &b.one
	b.free, b.bufs = b.ptrs[:1:2], b.ptrs[2:2:4]
	for len(b.free) < b.opts.NumBuffers {
		b.free = append(b.free, new(bufferInfo))
	}
	return b
}

// Enabled tells whether it reads.
func (b *FilePrefetchBuffer) Enabled() bool { return !b.opts.Disable }

// MinOffsetRead is the least offset asked for; the greatest uint64 when none
// was or they are not tracked.
func (b *FilePrefetchBuffer) MinOffsetRead() uint64 { return b.minOffsetRead }

// GetPrefetchOffset is where the buffered range begins.
func (b *FilePrefetchBuffer) GetPrefetchOffset() uint64 {
	if len(b.bufs) == 0 {
		return 0
	}
	return b.bufs[0].offset
}

// GetReadaheadState is for the next file of a scan.
func (b *FilePrefetchBuffer) GetReadaheadState() ReadaheadInfo {
	return ReadaheadInfo{b.readaheadSize, b.numFileReads}
}

// Close gives up reads under way and the memory, and counts what was read for
// nothing.
func (b *FilePrefetchBuffer) Close() {
	b.abortAllIOs()
	if b.opts.Stats != nil {
		discarded, last := uint64(0), b.prevOffset+uint64(b.prevLen)
		for _, i := range b.bufs {
			switch {
			case len(i.data) == 0:
			case b.prevOffset >= i.offset && last < i.end():
				discarded += i.end() - last
			case b.prevOffset < i.offset && last <= i.offset:
				discarded += uint64(len(i.data))
			}
		}
		b.opts.Stats.RecordInHistogram(rocksdb.HistPrefetchedBytesDiscarded, discarded)
	}
	b.freeAllBuffers()
	for _, i := range b.free {
		i.mem = nil
	}
	b.overlap = bufferInfo{}
}

// usesFSBuffer tells whether the file system's buffers are taken over, which
// saves a copy. Upstream: FilePrefetchBuffer::UseFSBuffer.
func (b *FilePrefetchBuffer) usesFSBuffer(reader *RandomAccessFileReader) bool {
	return b.opts.FS != nil && b.opts.NumBuffers == 1 && !reader.UseDirectIO() &&
		rocksdb.CheckFSFeatureSupport(b.opts.FS, rocksdb.FSBuffer)
}

// alignment is upstream's FilePrefetchBuffer::GetRequiredBufferAlignment.
func (b *FilePrefetchBuffer) alignment(reader *RandomAccessFileReader) int {
	if b.usesFSBuffer(reader) {
		return 1
	}
	return reader.Alignment()
}

// Prefetch loads a range; what of it is buffered already is not read again.
func (b *FilePrefetchBuffer) Prefetch(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int) error {
	if b.opts.Disable || reader == nil {
		return nil
	}
	buf := b.firstBuffer()
	syncpoint.Process("FilePrefetchBuffer::Prefetch:Start")
	if buf.holdsAll(offset, n) {
		return nil
	}
	t := readRange{start: offset, current: true, length: n}
	if err := b.tune(buf, reader, &t, b.alignment(reader)); err != nil {
		return err
	}
	if err := b.read(buf, opts, reader, &t); err != nil {
		b.freeAllBuffers()
		return err
	}
	if b.opts.Usage == TableOpenPrefetchTail {
		monitoring.RecordInHistogram(b.opts.Stats, rocksdb.HistTableOpenPrefetchTailReadBytes, uint64(t.n))
	}
	return nil
}

// readRange is a range to read, as tune is asked for it and as it leaves it.
type readRange struct {
	start     uint64
	length    int // needed
	readahead int // beyond that
	// current: the range begins with a block that is needed now; else it is read
	// ahead only, and begins no earlier than prevEnd, the end of the buffer
	// before.
	current bool
	prevEnd uint64
	// fsBuffer: the memory will be the file system's.
	fsBuffer bool

	end    uint64 // of start on
	useful int    // bytes from start on that buf has already
	n      int    // bytes to read after them; 0 for none
}

// tune rounds a range to what the file needs, lets the callback narrow it, and
// makes buf begin at its start, with room for it.
// Upstream: FilePrefetchBuffer::ReadAheadSizeTuning.
func (b *FilePrefetchBuffer) tune(buf *bufferInfo, reader *RandomAccessFileReader, t *readRange, align int) error {
	start := roundDown(t.start, align)
	end := roundUp(t.start+uint64(t.length)+uint64(t.readahead), align)
	if start > end {
		return rocksdb.InvalidArgumentf("read of %d bytes at offset %d of %s", t.length, t.start, reader.FileName())
	}
	whole, initialEnd := end-start, end
	if b.opts.ReadaheadSizeCB != nil && t.readahead > 0 {
		b.opts.ReadaheadSizeCB(t.current, &start, &end)
	}
	if t.current {
		// What is needed now is not for the callback to leave out.
		start, end = min(start, t.start), max(end, t.start+uint64(t.length))
	}
	switch {
	case start >= end:
		t.start, t.end = start, start
		b.countTrimmed(whole, 0)
		return nil
	case !t.current && end <= t.prevEnd:
		// The buffer before has it all.
		t.start, t.end = t.prevEnd, t.prevEnd
		b.countTrimmed(whole, 0)
		return nil
	}
	t.start, t.end = roundDown(start, align), roundUp(end, align)
	if !t.current {
		t.start = max(t.start, t.prevEnd)
	}
	t.useful = b.prepare(buf, t, align)
	buf.offset, buf.initialEnd = t.start, initialEnd
	t.n = int(t.end-t.start) - t.useful
	b.countTrimmed(whole, t.end-t.start)
	return nil
}

// countTrimmed is upstream's FilePrefetchBuffer::UpdateReadAheadTrimmedStat.
func (b *FilePrefetchBuffer) countTrimmed(whole, left uint64) {
	if whole != left {
		monitoring.RecordTick(b.opts.Stats, rocksdb.ReadaheadTrimmed, 1)
	}
}

// prepare makes buf's memory begin with what it has of the range, with room
// for the rest, and returns how much it has.
// Upstream: FilePrefetchBuffer::PrepareBufferForRead.
func (b *FilePrefetchBuffer) prepare(buf *bufferInfo, t *readRange, align int) int {
	size := int(t.end - t.start)
	var tail []byte
	if buf.holds(t.start) {
		tail = buf.data[t.start-buf.offset:]
		tail = tail[:min(len(tail), size)]
	}
	if t.fsBuffer {
		return len(tail)
	}
	to := buf.mem
	if cap(to) < size || !isAligned(to, align) {
		to = newAligned(size, align)
	}
	to = to[:cap(to)]
	buf.data = to[:copy(to, tail)]
	buf.mem, buf.scratch = to, nil
	return len(buf.data)
}

// read reads what tune left to read, to follow what buf has.
// Upstream: FilePrefetchBuffer::Read.
func (b *FilePrefetchBuffer) read(buf *bufferInfo, opts *rocksdb.IOOptions, reader *RandomAccessFileReader, t *readRange) error {
	if t.n == 0 {
		return nil
	}
	from := t.start + uint64(t.useful)
	if t.fsBuffer {
		if err := b.takeFSBuffer(buf, opts, reader, from, t.n); err != nil {
			return err
		}
	} else {
		to := buf.mem[t.useful : t.useful+t.n]
		got, err := reader.Read(opts, from, t.n, to, nil)
		if err != nil {
			return err
		}
		if len(got) > 0 && &got[0] != &to[0] {
			return rocksdb.Corruption("File read didn't populate our buffer").In(reader.FileName())
		}
		buf.data = buf.mem[:t.useful+len(got)]
	}
	switch b.opts.Usage {
	case UserScanPrefetch:
		monitoring.RecordTick(b.opts.Stats, rocksdb.PrefetchBytes, uint64(t.n))
	case CompactionPrefetch:
		monitoring.RecordInHistogram(b.opts.Stats, rocksdb.HistCompactionPrefetchBytes, uint64(t.n))
	}
	return nil
}

// takeFSBuffer reads into the file system's own buffer, which becomes buf's.
// Upstream: FilePrefetchBuffer::FSBufferDirectRead.
func (b *FilePrefetchBuffer) takeFSBuffer(buf *bufferInfo, opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int) error {
	req := [1]rocksdb.FSReadRequest{{Offset: offset, Len: n}}
	if err := reader.MultiRead(opts, req[:], nil); err != nil {
		return err
	}
	if req[0].Status != nil {
		return req[0].Status
	}
	buf.data, buf.scratch = req[0].Result, req[0].FSScratch
	buf.offset, buf.initialEnd = offset, offset+uint64(len(buf.data))
	return nil
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

// tryRead is upstream's FilePrefetchBuffer::TryReadFromCacheUntracked.
func (b *FilePrefetchBuffer) tryRead(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int, forCompaction bool) ([]byte, bool, error) {
	if b.opts.TrackMinOffset {
		b.minOffsetRead = min(b.minOffsetRead, offset)
	}
	if b.opts.Disable || n < 0 || offset+uint64(n) < offset {
		return nil, false, nil
	}
	if b.explicit && b.prevOffset != offset {
		// Not the read that PrefetchAsync began.
		b.abortAllIOs()
		b.freeAllBuffers()
		b.explicit = false
		return nil, false, nil
	}
	buf := b.firstBuffer()
	if !b.explicit && offset < buf.offset {
		return nil, false, nil
	}
	prefetched, overlapped := false, false
	syncpoint.ProcessArg("FilePrefetchBuffer::TryReadFromCache", &b.readaheadSize)
	switch {
	case b.explicit || buf.inProgress || offset+uint64(n) > buf.end():
		if b.readaheadSize == 0 && !b.explicit || reader == nil {
			return nil, false, nil
		}
		if b.opts.ImplicitAutoReadahead && !b.isEligibleForPrefetch(offset, n) {
			return nil, false, nil
		}
		ahead := b.readaheadSize
		if b.opts.NumBuffers > 1 {
			ahead /= 2 // the other half is read asynchronously
		}
		var err error
		overlapped, err = b.prefetchInternal(opts, reader, offset, n, ahead)
		b.explicit = false
		if err != nil {
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
	buf = &b.overlap
	if !overlapped {
		buf = b.firstBuffer()
	}
	if !buf.holds(offset) {
		// Beyond the file's end, or trimmed to nothing.
		return nil, false, nil
	}
	at := offset - buf.offset
	return buf.data[at:min(uint64(len(buf.data)), at+uint64(n))], true, nil
}

// updateStats counts for scans of users only.
func (b *FilePrefetchBuffer) updateStats(found bool, n uint64) {
	if b.opts.Stats == nil || b.opts.Usage != UserScanPrefetch {
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
	if b.explicit {
		return true
	}
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
	b.prevOffset, b.prevLen, b.explicit = offset, n, false
}

// DecreaseReadAheadIfEligible makes the read-ahead smaller by value, but not
// below its initial size, for a block found in the block cache that would
// otherwise have been read ahead from.
func (b *FilePrefetchBuffer) DecreaseReadAheadIfEligible(offset uint64, n, value int) {
	if len(b.bufs) == 0 || !b.opts.ImplicitAutoReadahead || b.readaheadSize == 0 {
		return
	}
	if offset+uint64(n) > b.bufs[0].reach() && b.isBlockSequential(offset) && b.numFileReads+1 > b.opts.NumFileReadsForAutoReadahead {
		b.readaheadSize = max(b.opts.InitialReadaheadSize, b.readaheadSize-value)
	}
}

// recordSince records the microseconds since start.
func (b *FilePrefetchBuffer) recordSince(h rocksdb.Histogram, start time.Time) {
	monitoring.RecordInHistogram(b.opts.Stats, h, uint64(time.Since(start).Microseconds()))
}
