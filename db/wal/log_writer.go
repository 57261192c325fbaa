// Port of db/log_writer.{h,cc}. Differs: with compression a logical record is
// compressed whole and then cut, instead of in steps; the bytes are of the
// same format.

package wal

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

var zeros [RecyclableHeaderSize]byte

// WriterOptions are what a log is written with.
type WriterOptions struct {
	LogNumber       uint64
	RecycleLogFiles bool // recyclable records
	// ManualFlush keeps records in the file writer's buffer until WriteBuffer.
	ManualFlush        bool
	Compression        rocksdb.CompressionType // none or zstd
	TrackAndVerifyWALs bool
	InitialBlockOffset int // bytes already in the file's last block
}

// Writer appends records to a log file. It owns the file writer. It is used by
// one goroutine at a time.
type Writer struct {
	dest        *file.WritableFileWriter
	opts        WriterOptions
	blockOffset int
	headerSize  int
	encoder     *zstd.Encoder
	compressed  []byte
	header      [RecyclableHeaderSize]byte

	lastSeqnoRecorded rocksdb.SequenceNumber
	recordedTSSizes   map[uint32]uint16
}

// NewWriter makes a writer that appends to dest, which it takes over.
func NewWriter(dest *file.WritableFileWriter, opts WriterOptions) *Writer {
	w := &Writer{dest: dest, opts: opts, blockOffset: opts.InitialBlockOffset, headerSize: HeaderSize}
	if opts.RecycleLogFiles {
		w.headerSize = RecyclableHeaderSize
	}
	return w
}

// File gives the file writer.
func (w *Writer) File() *file.WritableFileWriter { return w.dest }

// GetLogNumber gives the file's number.
func (w *Writer) GetLogNumber() uint64 { return w.opts.LogNumber }

// GetLastSeqnoRecorded gives the greatest sequence number given to AddRecord.
func (w *Writer) GetLastSeqnoRecorded() rocksdb.SequenceNumber { return w.lastSeqnoRecorded }

// BufferIsEmpty tells whether everything has reached the file system.
func (w *Writer) BufferIsEmpty() bool { return w.dest.BufferIsEmpty() }

// WriteBuffer hands what is buffered to the file system.
func (w *Writer) WriteBuffer(opts *rocksdb.IOOptions) error {
	if err := w.seenError(); err != nil {
		return err
	}
	return w.dest.Flush(opts)
}

// Close flushes and closes the file.
func (w *Writer) Close(opts *rocksdb.IOOptions) error {
	if w.encoder != nil {
		w.encoder.Close()
		w.encoder = nil
	}
	return w.dest.Close(opts)
}

func (w *Writer) seenError() error {
	if w.dest.SeenError() {
		return rocksdb.IOError("Seen error. Skip writing buffer.").In(w.dest.FileName())
	}
	return nil
}

// AddRecord appends a logical record; seq is the greatest sequence number in
// it, 0 for none. Unless ManualFlush is set the file system has it afterwards.
func (w *Writer) AddRecord(opts *rocksdb.IOOptions, record []byte, seq rocksdb.SequenceNumber) error {
	if err := w.seenError(); err != nil {
		return err
	}
	if w.encoder != nil {
		w.compressed = w.encoder.EncodeAll(record, w.compressed[:0])
		record = w.compressed
	}
	for begin := true; ; begin = false {
		if err := w.padBlock(opts); err != nil {
			return err
		}
		n := min(len(record), BlockSize-w.blockOffset-w.headerSize)
		if err := w.emit(opts, w.fragmentType(begin, n == len(record)), record[:n]); err != nil {
			return err
		}
		record = record[n:]
		if len(record) == 0 {
			break
		}
	}
	w.lastSeqnoRecorded = max(w.lastSeqnoRecorded, seq)
	return w.maybeFlush(opts)
}

func (w *Writer) fragmentType(begin, end bool) RecordType {
	t := MiddleType
	switch {
	case begin && end:
		t = FullType
	case begin:
		t = FirstType
	case end:
		t = LastType
	}
	if w.opts.RecycleLogFiles {
		t += RecyclableFullType - FullType
	}
	return t
}

// padBlock fills the rest of a block that cannot take a header.
func (w *Writer) padBlock(opts *rocksdb.IOOptions) error {
	leftover := BlockSize - w.blockOffset
	if leftover >= w.headerSize {
		return nil
	}
	w.blockOffset = 0
	return w.dest.Append(opts, zeros[:leftover], 0)
}

func (w *Writer) maybeFlush(opts *rocksdb.IOOptions) error {
	if w.opts.ManualFlush {
		return nil
	}
	return w.dest.Flush(opts)
}

// AddCompressionTypeRecord starts a compressed log; it must be the first
// record. Without compression it does nothing.
func (w *Writer) AddCompressionTypeRecord(opts *rocksdb.IOOptions) error {
	if w.opts.Compression == rocksdb.NoCompression {
		return nil
	}
	if w.opts.Compression != rocksdb.ZSTD {
		return rocksdb.NotSupported("wal_compression other than kZSTD")
	}
	if err := w.seenError(); err != nil {
		return err
	}
	var payload [4]byte
	binary.LittleEndian.PutUint32(payload[:], uint32(w.opts.Compression))
	if err := w.emit(opts, SetCompressionType, payload[:]); err != nil {
		return err
	}
	var err error
	if w.encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return rocksdb.IOError("WAL compression", err.Error()).In(w.dest.FileName())
	}
	return w.maybeFlush(opts)
}

// MaybeAddPredecessorWALInfo records what is known of the log before, when
// tracking is on.
func (w *Writer) MaybeAddPredecessorWALInfo(opts *rocksdb.IOOptions, info *PredecessorWALInfo) error {
	if err := w.seenError(); err != nil {
		return err
	}
	if !w.opts.TrackAndVerifyWALs || !info.Initialized {
		return nil
	}
	t := PredecessorWALInfoType
	if w.opts.RecycleLogFiles {
		t = RecyclePredecessorWALInfoType
	}
	if err := w.emitWhole(opts, t, info.AppendTo(nil)); err != nil {
		return err
	}
	return w.maybeFlush(opts)
}

// MaybeAddUserDefinedTimestampSizeRecord records the timestamp sizes that this
// log does not hold yet; sizes of zero need none.
func (w *Writer) MaybeAddUserDefinedTimestampSizeRecord(opts *rocksdb.IOOptions, sizes []TimestampSize) error {
	var fresh []TimestampSize
	for _, s := range sizes {
		if _, known := w.recordedTSSizes[s.ColumnFamily]; known || s.Size == 0 {
			continue
		}
		if w.recordedTSSizes == nil {
			w.recordedTSSizes = map[uint32]uint16{}
		}
		w.recordedTSSizes[s.ColumnFamily] = s.Size
		fresh = append(fresh, s)
	}
	if len(fresh) == 0 {
		return nil
	}
	t := UserDefinedTimestampSizeType
	if w.opts.RecycleLogFiles {
		t = RecyclableUserDefinedTimestampSizeType
	}
	return w.emitWhole(opts, t, appendTimestampSizes(nil, fresh))
}

// emitWhole writes a record that must not be cut, in the next block if need
// be.
func (w *Writer) emitWhole(opts *rocksdb.IOOptions, t RecordType, payload []byte) error {
	if leftover := BlockSize - w.blockOffset; leftover < w.headerSize+len(payload) {
		if err := w.dest.Append(opts, make([]byte, leftover), 0); err != nil {
			return err
		}
		w.blockOffset = 0
	}
	return w.emit(opts, t, payload)
}

// emit writes one physical record, which fits into the block.
func (w *Writer) emit(opts *rocksdb.IOOptions, t RecordType, payload []byte) error {
	h := w.header[:HeaderSize]
	binary.LittleEndian.PutUint16(h[4:], uint16(len(payload)))
	h[6] = t
	crc := util.Crc32cValue(h[6:7])
	if isRecyclable(t) {
		h = w.header[:RecyclableHeaderSize]
		binary.LittleEndian.PutUint32(h[7:], uint32(w.opts.LogNumber))
		crc = util.Crc32cValue(h[6:11])
	}
	// Extending is faster than combining with the payload's own checksum; a file
	// that wants that one computes it.
	crc = util.Crc32cMask(util.Crc32cExtend(crc, payload))
	syncpoint.ProcessArg("LogWriter::EmitPhysicalRecord:BeforeEncodeChecksum", &crc)
	binary.LittleEndian.PutUint32(h, crc)
	w.blockOffset += len(h) + len(payload)
	if err := w.dest.Append(opts, h, 0); err != nil {
		return err
	}
	return w.dest.Append(opts, payload, 0)
}
