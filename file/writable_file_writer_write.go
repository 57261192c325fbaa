// Port of file/writable_file_writer.cc (WriteBuffered, WriteDirect and their
// forms with checksums).

package file

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/killpoint"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// allowed asks the rate limiter how much of n bytes may be written now.
func (w *WritableFileWriter) allowed(opts *rocksdb.IOOptions, n, alignment int) int {
	if w.rateLimiter == nil || opts.RateLimiterPriority == rocksdb.IOTotal {
		return n
	}
	return w.rateLimiter.RequestToken(n, alignment, opts.RateLimiterPriority, w.stats, rocksdb.OpTypeWrite)
}

// waitForAll waits until all of n bytes may be written: a piece with one
// checksum cannot be cut.
func (w *WritableFileWriter) waitForAll(opts *rocksdb.IOOptions, n, alignment int) {
	for n > 0 {
		n -= w.allowed(opts, n, alignment)
	}
}

func (w *WritableFileWriter) handoff(crc uint32) rocksdb.DataVerificationInfo {
	binary.LittleEndian.PutUint32(w.checksumBuf[:], crc)
	return rocksdb.DataVerificationInfo{Checksum: w.checksumBuf[:]}
}

// appendToFile writes one piece, timed and told of. With crc its checksum is
// handed over.
func (w *WritableFileWriter) appendToFile(opts *rocksdb.IOOptions, p []byte, withCRC bool, crc uint32) error {
	var t, cpu monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.WriteNanos, w.clock)
		startCPUNanos(&cpu, opts.IOStats, &opts.IOStats.CPUWriteNanos, w.clock)
	}
	syncpoint.Process("WritableFileWriter::Flush:BeforeAppend")
	start := w.listeners.start()
	offset := w.flushedSize.Load()
	var err error
	if withCRC {
		err = w.file.AppendWithVerification(p, opts, w.handoff(crc))
	} else {
		err = w.file.Append(p, opts)
	}
	t.Stop()
	cpu.Stop()
	w.listeners.notify(start, rocksdb.FileOperationTypeWrite, rocksdb.FileOperationTypeAppend, offset, len(p), err)
	if err != nil {
		// Some of the bytes may be in the file. Were the buffer kept, a retry
		// could write them twice.
		w.buf, w.bufferedCRC = w.buf[:0], 0
		w.setSeenError(err)
		return err
	}
	opts.IOStats.AddBytesWritten(uint64(len(p)))
	w.flushedSize.Add(uint64(len(p)))
	return nil
}

// writeBuffered writes data, which may be the buffer, and empties the buffer.
func (w *WritableFileWriter) writeBuffered(opts *rocksdb.IOOptions, data []byte) error {
	for len(data) > 0 {
		n := w.allowed(opts, len(data), 0)
		crc := uint32(0)
		if w.verify {
			crc = util.Crc32cValue(data[:n])
		}
		if err := w.appendToFile(opts, data[:n], w.verify, crc); err != nil {
			return w.forget(err)
		}
		killpoint.Random("WritableFileWriter::WriteBuffered:0")
		data = data[n:]
	}
	w.buf, w.bufferedCRC = w.buf[:0], 0
	return nil
}

// forget drops what is buffered after a failed write: the file may have it all
// the same, and must not get it twice from a later Close or retry.
func (w *WritableFileWriter) forget(err error) error {
	w.buf, w.bufferedCRC = w.buf[:0], 0
	w.setSeenError(err)
	return err
}

// writeBufferedWithChecksum writes data, whose checksum is bufferedCRC, in one
// piece.
func (w *WritableFileWriter) writeBufferedWithChecksum(opts *rocksdb.IOOptions, data []byte) error {
	w.waitForAll(opts, len(data), 0)
	if err := w.appendToFile(opts, data, true, w.bufferedCRC); err != nil {
		return w.forget(err)
	}
	killpoint.Random("WritableFileWriter::WriteBuffered:0")
	w.buf, w.bufferedCRC = w.buf[:0], 0
	return nil
}

// writeDirect writes the buffer, padded to whole pages, at nextOffset. The
// bytes of the last, unfinished page stay in the buffer and are written again
// with what follows.
func (w *WritableFileWriter) writeDirect(opts *rocksdb.IOOptions, withCRC bool) error {
	size := len(w.buf)
	advance := int(roundDown(uint64(size), w.alignment))
	padded := w.buf[:roundUp(uint64(size), w.alignment)]
	clear(padded[size:])
	if withCRC {
		w.bufferedCRC = util.Crc32cExtend(w.bufferedCRC, padded[size:])
		w.waitForAll(opts, len(padded), w.alignment)
	}
	offset := w.nextOffset
	for left := padded; len(left) > 0; {
		n, crc := len(left), w.bufferedCRC
		if !withCRC {
			n = w.allowed(opts, n, w.alignment)
			if w.verify {
				crc = util.Crc32cValue(left[:n])
			}
		}
		if err := w.positionedAppend(opts, left[:n], offset, crc); err != nil {
			if withCRC {
				w.bufferedCRC = util.Crc32cValue(w.buf)
			}
			w.setSeenError(err)
			return err
		}
		left = left[n:]
		offset += uint64(n)
	}
	w.buf = w.buf[:copy(w.buf, w.buf[advance:])]
	if withCRC {
		w.bufferedCRC = util.Crc32cValue(w.buf)
	}
	w.nextOffset += uint64(advance)
	return nil
}

func (w *WritableFileWriter) positionedAppend(opts *rocksdb.IOOptions, p []byte, offset uint64, crc uint32) error {
	var t monitoring.PerfStepTimer
	if opts.IOStats != nil {
		startNanos(&t, opts.IOStats, &opts.IOStats.WriteNanos, w.clock)
	}
	syncpoint.Process("WritableFileWriter::Flush:BeforeAppend")
	start := w.listeners.start()
	var err error
	if w.verify {
		err = w.file.PositionedAppendWithVerification(p, offset, opts, w.handoff(crc))
	} else {
		err = w.file.PositionedAppend(p, offset, opts)
	}
	t.Stop()
	w.listeners.notify(start, rocksdb.FileOperationTypeWrite, rocksdb.FileOperationTypePositionedAppend, offset, len(p), err)
	if err != nil {
		return err
	}
	opts.IOStats.AddBytesWritten(uint64(len(p)))
	w.flushedSize.Add(uint64(len(p)))
	return nil
}
