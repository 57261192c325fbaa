// Port of file/file_prefetch_buffer.{h,cc} (the queue of buffers, asynchronous
// reads, blocks that lie in two buffers).

package file

import (
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// allocateBuffer takes a free buffer into use, behind the others.
func (b *FilePrefetchBuffer) allocateBuffer() *bufferInfo {
	buf := b.free[0]
	b.free = b.free[:copy(b.free, b.free[1:])]
	b.bufs = append(b.bufs, buf)
	return buf
}

// firstBuffer is the one that is read from, which may be empty.
// Upstream: FilePrefetchBuffer::AllocateBufferIfEmpty, ::GetFirstBuffer.
func (b *FilePrefetchBuffer) firstBuffer() *bufferInfo {
	if len(b.bufs) == 0 {
		return b.allocateBuffer()
	}
	return b.bufs[0]
}

func (b *FilePrefetchBuffer) freeFrontBuffer() {
	buf := b.bufs[0]
	b.bufs = b.bufs[:copy(b.bufs, b.bufs[1:])]
	buf.clear()
	b.free = append(b.free, buf)
}

func (b *FilePrefetchBuffer) freeLastBuffer() {
	buf := b.bufs[len(b.bufs)-1]
	b.bufs = b.bufs[:len(b.bufs)-1]
	buf.clear()
	b.free = append(b.free, buf)
}

func (b *FilePrefetchBuffer) freeAllBuffers() {
	for len(b.bufs) > 0 {
		b.freeLastBuffer()
	}
}

// freeEmptyBuffers takes those out of use that have no data and expect none.
func (b *FilePrefetchBuffer) freeEmptyBuffers() {
	used := b.bufs[:0]
	for _, buf := range b.bufs {
		if buf.inProgress || len(buf.data) > 0 {
			used = append(used, buf)
		} else {
			buf.clear()
			b.free = append(b.free, buf)
		}
	}
	b.bufs = used
}

// isEligibleForFurtherPrefetching: a buffer is free, and there is something to
// read ahead.
func (b *FilePrefetchBuffer) isEligibleForFurtherPrefetching() bool {
	return len(b.free) > 0 && b.readaheadSize > 0
}

// endIO is for a read that is done or given up.
// Upstream: FilePrefetchBuffer::DestroyAndClearIOHandle.
func (i *bufferInfo) endIO() {
	if i.handle != nil {
		i.handle.Release()
		i.handle = nil
	}
	i.inProgress = false
}

// arrived is called once an asynchronous read is done.
// Upstream: FilePrefetchBuffer::PrefetchAsyncCallback.
func (i *bufferInfo) arrived(req *rocksdb.FSReadRequest) {
	if req.Status != nil || len(req.Result) == 0 {
		return // whoever needs it reads it, and gets the error
	}
	i.data = req.Result
}

// readAsync begins to read a range into buf, which is empty; where the file
// cannot do that asynchronously, it is read at once.
func (b *FilePrefetchBuffer) readAsync(buf *bufferInfo, opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int) error {
	syncpoint.Process("FilePrefetchBuffer::ReadAsync")
	buf.req = rocksdb.FSReadRequest{Offset: offset, Len: n, Scratch: buf.mem[:n]}
	buf.data, buf.inProgress = buf.mem[:0], true
	// The read may outlive the caller's opts.
	buf.ioOptions = *orDefault(opts)
	h, err := reader.ReadAsync(&buf.req, &buf.ioOptions, buf.arrived, nil)
	switch {
	case err == nil:
		buf.handle = h
	case rocksdb.IsNotSupported(err) || rocksdb.CodeOf(err) == rocksdb.CodeBusy:
		buf.inProgress = false
		var got []byte
		if got, err = reader.Read(opts, offset, n, buf.mem[:n], nil); err != nil {
			return err
		}
		buf.data = got
	default:
		buf.inProgress = false
		return err
	}
	if b.opts.Usage == UserScanPrefetch {
		monitoring.RecordTick(b.opts.Stats, rocksdb.PrefetchBytes, uint64(n))
	}
	return nil
}

// abortIO gives up the reads of those buffers that stop selects.
func (b *FilePrefetchBuffer) abortIO(stop func(*bufferInfo) bool) {
	b.handles = b.handles[:0]
	for _, buf := range b.bufs {
		if buf.inProgress && buf.handle != nil && stop(buf) {
			b.handles = append(b.handles, buf.handle)
		}
	}
	if len(b.handles) == 0 {
		return
	}
	start := time.Now()
	err := b.opts.FS.AbortIO(b.handles)
	b.recordSince(rocksdb.HistAsyncPrefetchAbortMicros, start)
	for _, buf := range b.bufs {
		if !buf.inProgress || buf.handle == nil || !stop(buf) {
			continue
		}
		buf.endIO()
		buf.data = nil
		if err != nil {
			// The system may still write there.
			buf.mem = nil
		}
	}
	clear(b.handles)
}

// abortOutdatedIO gives up reads of what lies before offset.
func (b *FilePrefetchBuffer) abortOutdatedIO(offset uint64) {
	b.abortIO(func(buf *bufferInfo) bool { return offset >= buf.reach() })
}

func (b *FilePrefetchBuffer) abortAllIOs() {
	b.abortIO(func(*bufferInfo) bool { return true })
	for _, buf := range b.bufs {
		buf.endIO()
	}
}

// clearOutdatedData frees what lies before offset, and everything when the
// first buffer then left does not have it.
func (b *FilePrefetchBuffer) clearOutdatedData(offset uint64, length int) {
	for len(b.bufs) > 0 {
		if buf := b.bufs[0]; buf.inProgress || len(buf.data) == 0 || offset < buf.end() {
			break
		}
		b.freeFrontBuffer()
	}
	if len(b.bufs) <= 1 {
		return
	}
	buf, abort := b.bufs[0], false
	switch {
	case buf.inProgress:
		b.freeEmptyBuffers()
		return
	case buf.holds(offset):
		// The next one does not join it, and is needed.
		abort = buf.end() != b.bufs[1].offset && offset+uint64(length) > buf.end()
	default:
		buf.clear()
		abort = true
	}
	if abort {
		b.abortAllIOs()
		for _, rest := range b.bufs[1:] {
			rest.clear()
		}
	}
	b.freeEmptyBuffers()
}

// pollIfNeeded waits for the first buffer's read.
func (b *FilePrefetchBuffer) pollIfNeeded(offset uint64, length int) error {
	buf := b.bufs[0]
	if buf.inProgress {
		if buf.handle != nil {
			b.handles = append(b.handles[:0], buf.handle)
			start := time.Now()
			err := b.opts.FS.Poll(b.handles, 1)
			b.recordSince(rocksdb.HistPollWaitMicros, start)
			failed := err != nil
			syncpoint.ProcessArg("FilePrefetchBuffer::PollIfNeeded:IOStatus", &err)
			if err != nil {
				if failed {
					buf.mem = nil // the system may still write there
				}
				buf.endIO()
				buf.data = nil
				return err
			}
		}
		buf.endIO()
	}
	b.clearOutdatedData(offset, length)
	return nil
}

// copyToOverlap appends what src has of a range to overlap, and gives the rest
// of the range. src is freed, as the first buffer, when that is not empty.
// Upstream: FilePrefetchBuffer::CopyDataToOverlapBuffer.
func (b *FilePrefetchBuffer) copyToOverlap(src *bufferInfo, offset uint64, length int) (uint64, int) {
	if length == 0 || !src.holds(offset) {
		return offset, length
	}
	part := src.data[offset-src.offset:]
	part = part[:min(len(part), length)]
	b.overlap.data = append(b.overlap.data, part...)
	offset += uint64(len(part))
	length -= len(part)
	if length > 0 {
		b.freeFrontBuffer()
	}
	syncpoint.Process("FilePrefetchBuffer::CopyDataToOverlapBuffer:Complete")
	return offset, length
}

// startOverlap begins a block in the overlap buffer with what buf has of it.
func (b *FilePrefetchBuffer) startOverlap(buf *bufferInfo, offset uint64, length int) (uint64, int) {
	o := &b.overlap
	if cap(o.mem) < length {
		o.mem = make([]byte, length)
	}
	o.data, o.offset = o.mem[:0], offset
	offset, length = b.copyToOverlap(buf, offset, length)
	b.updateStats(false, uint64(len(o.data)))
	return offset, length
}

// overlapSync is for file systems' buffers, which nothing can be appended to.
// Upstream: FilePrefetchBuffer::HandleOverlappingSyncData.
func (b *FilePrefetchBuffer) overlapSync(offset uint64, length int) (uint64, int, bool) {
	if len(b.bufs) == 0 {
		return offset, length, false
	}
	buf := b.bufs[0]
	if !buf.holds(offset) || buf.end() >= offset+uint64(length) {
		return offset, length, false
	}
	offset, length = b.startOverlap(buf, offset, length)
	return offset, length, true
}

// overlapAsync is for a block that begins in the first buffer and goes on in the
// second: the first is freed, and reads ahead.
// Upstream: FilePrefetchBuffer::HandleOverlappingAsyncData.
func (b *FilePrefetchBuffer) overlapAsync(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, length, readahead int) (restAt uint64, rest int, overlapped bool, err error) {
	if len(b.bufs) <= 1 {
		return offset, length, false, nil
	}
	// Only a seek's read can still be under way here.
	if buf := b.bufs[0]; buf.inProgress && offset >= buf.offset && offset < buf.reach() {
		if err := b.pollIfNeeded(offset, length); err != nil {
			return offset, length, false, err
		}
	}
	if len(b.bufs) <= 1 {
		return offset, length, false, nil
	}
	buf, next := b.bufs[0], b.bufs[1]
	if buf.inProgress || !buf.holds(offset) || offset+uint64(length) <= next.offset || !next.inProgress && len(next.data) == 0 {
		return offset, length, false, nil
	}
	reach := next.reach()
	t := readRange{start: next.initialEnd, readahead: readahead, prevEnd: reach}
	offset, length = b.startOverlap(buf, offset, length)
	if offset+uint64(length) > reach || len(b.free) == 0 {
		// The next buffer has to be read on synchronously; what is read ahead
		// begins behind that.
		return offset, length, true, nil
	}
	return offset, length, true, b.readAhead(opts, reader, &t)
}

// readAhead begins to read a range into a free buffer.
func (b *FilePrefetchBuffer) readAhead(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, t *readRange) error {
	buf := b.allocateBuffer()
	err := b.tune(buf, reader, t, b.alignment(reader))
	if err == nil && t.n > 0 {
		err = b.readAsync(buf, opts, reader, t.start, t.n)
	}
	if err != nil {
		buf.endIO()
		b.freeLastBuffer()
	}
	return err
}

// prefetchRemBuffers reads ahead with all free buffers.
func (b *FilePrefetchBuffer) prefetchRemBuffers(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, end uint64, readahead int) error {
	for len(b.bufs) < b.opts.NumBuffers {
		t := readRange{start: b.bufs[len(b.bufs)-1].initialEnd, readahead: readahead, prevEnd: end}
		if err := b.readAhead(opts, reader, &t); err != nil {
			return err
		}
		if t.n > 0 {
			syncpoint.Process("FilePrefetchBuffer::PrefetchAsync:ExtraPrefetching")
		}
		end = t.end
	}
	return nil
}

// prefetchInternal makes the first buffer hold a range, or, where it says so,
// overlap, and reads ahead: with one buffer in the same read, else with the
// others.
func (b *FilePrefetchBuffer) prefetchInternal(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, length, readahead int) (overlapped bool, err error) {
	syncpoint.Process("FilePrefetchBuffer::Prefetch:Start")
	whole := length
	if !b.explicit {
		b.abortOutdatedIO(offset)
		b.freeEmptyBuffers()
	}
	b.clearOutdatedData(offset, length)
	restAt, rest, overlapped, err := b.overlapAsync(opts, reader, offset, length, readahead)
	if err != nil {
		return overlapped, err
	}
	fsBuffer := b.usesFSBuffer(reader)
	if !overlapped && fsBuffer {
		restAt, rest, overlapped = b.overlapSync(offset, length)
	}
	buf := b.firstBuffer()
	if !buf.inProgress && len(buf.data) > 0 && buf.holdsAll(offset, length) {
		if !b.isEligibleForFurtherPrefetching() {
			b.updateStats(true, uint64(whole))
			return overlapped, nil
		}
	} else if err := b.pollIfNeeded(restAt, rest); err != nil {
		return overlapped, err
	}
	buf = b.firstBuffer()
	offset, length = restAt, rest
	if len(buf.data) > 0 {
		if overlapped {
			had := len(b.overlap.data)
			offset, length = b.copyToOverlap(buf, offset, length)
			b.updateStats(false, uint64(len(b.overlap.data)-had))
			if length == 0 {
				b.updateStats(true, 0)
				return overlapped, nil
			}
		} else if buf.holdsAll(offset, length) {
			offset += uint64(length)
			length = 0
			if b.explicit {
				return overlapped, nil
			}
			if !b.isEligibleForFurtherPrefetching() {
				b.updateStats(true, uint64(whole))
				return overlapped, nil
			}
		}
	}
	return overlapped, b.fill(opts, reader, offset, length, whole, readahead, overlapped, fsBuffer)
}

// fill reads what is still missing of a range, the last part of one of whole
// bytes, and reads ahead meanwhile. Upstream: the end of
// FilePrefetchBuffer::PrefetchInternal.
func (b *FilePrefetchBuffer) fill(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, length, whole, readahead int, overlapped, fsBuffer bool) error {
	buf := b.firstBuffer()
	t := readRange{start: offset, length: length, readahead: readahead, current: true, fsBuffer: fsBuffer}
	if length > 0 {
		if buf.holds(offset) {
			b.updateStats(false, buf.end()-offset)
		}
		if err := b.tune(buf, reader, &t, b.alignment(reader)); err != nil {
			return err
		}
	} else {
		b.updateStats(true, uint64(whole))
	}
	if readahead > 0 {
		if err := b.prefetchRemBuffers(opts, reader, t.end, readahead); err != nil {
			return err
		}
	}
	if err := b.read(buf, opts, reader, &t); err != nil {
		b.abortAllIOs()
		b.freeAllBuffers()
		return err
	}
	if overlapped && length > 0 {
		b.copyToOverlap(buf, offset, length)
	}
	return nil
}

// PrefetchAsync begins to read a range, and to read ahead of it, without waiting
// for it: a seek's. data is the range where it is in memory already, with ok;
// without ok and an error the next TryReadFromCache has to ask for it, and waits
// for it. NotSupported: this buffer reads nothing asynchronously.
func (b *FilePrefetchBuffer) PrefetchAsync(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int) (data []byte, ok bool, err error) {
	if b.opts.Disable || b.opts.FS == nil || reader == nil || n < 0 || offset+uint64(n) < offset {
		return nil, false, rocksdb.NotSupported("FilePrefetchBuffer.PrefetchAsync")
	}
	syncpoint.Process("FilePrefetchBuffer::PrefetchAsync:Start")
	b.numFileReads, b.explicit = 0, false
	eligible := b.readaheadSize > 0 && (!b.opts.ImplicitAutoReadahead || b.numFileReads >= b.opts.NumFileReadsForAutoReadahead)
	b.abortAllIOs()
	b.freeEmptyBuffers()
	b.clearOutdatedData(offset, n)
	if len(b.bufs) > 0 && (b.opts.ReadaheadSizeCB != nil || !b.bufs[0].holds(offset)) {
		b.freeAllBuffers()
	}
	b.UpdateReadPattern(offset, n, false)
	if len(b.bufs) > 0 {
		if buf := b.bufs[0]; buf.holdsAll(offset, n) {
			at := offset - buf.offset
			data, ok = buf.data[at:at+uint64(n)], true
			b.updateStats(true, uint64(n))
			b.numFileReads++
			if !eligible || len(b.bufs) > 1 {
				return data, true, nil
			}
		} else {
			// The range is to lie in one buffer.
			b.freeAllBuffers()
		}
	}
	err = b.beginAsync(opts, reader, offset, n, eligible)
	return data, ok && err == nil, err
}

// beginAsync begins the reads of PrefetchAsync.
func (b *FilePrefetchBuffer) beginAsync(opts *rocksdb.IOOptions, reader *RandomAccessFileReader, offset uint64, n int, eligible bool) error {
	readahead := 0
	if eligible {
		readahead = b.readaheadSize / 2
	}
	t := readRange{start: offset, length: n, readahead: readahead, current: true}
	if buf := b.firstBuffer(); len(buf.data) == 0 {
		if eligible || reader.UseDirectIO() {
			if err := b.tune(buf, reader, &t, b.alignment(reader)); err != nil {
				return err
			}
		} else {
			// Nothing but what is asked for.
			t.end, t.n = offset+uint64(n), n
			b.prepare(buf, &t, b.alignment(reader))
			buf.offset, buf.initialEnd = offset, t.end
		}
		if t.n > 0 {
			if err := b.readAsync(buf, opts, reader, t.start, t.n); err != nil {
				buf.endIO()
				b.freeLastBuffer()
				return err
			}
			b.explicit, b.prevLen = true, 0
		}
	}
	if !eligible {
		return nil
	}
	if err := b.prefetchRemBuffers(opts, reader, t.end, readahead); err != nil {
		return err
	}
	b.readaheadSize = min(b.opts.MaxReadaheadSize, b.readaheadSize*2)
	return nil
}
