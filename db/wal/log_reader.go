// Port of db/log_reader.{h,cc} (Reader). Differs: with compression a logical
// record is decompressed whole; a reader that a record's offset is known to
// reports file and offset with each corruption. FragmentBufferedReader is in
// log_reader_fragment.go.

package wal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// Reporter is told what a reader drops.
type Reporter interface {
	// Corruption: about bytes were dropped for err. logNumber is that of a log
	// that was missing or did not match, else NoLogNumber.
	Corruption(bytes int, err error, logNumber uint64)
	// OldLogRecord: the log ends at a record of the file's former life.
	OldLogRecord(bytes int)
}

// NoLogNumber says that a corruption is in the log itself.
const NoLogNumber = ^uint64(0)

// Outcomes of reading a physical record besides a RecordType; they are outside
// a uint8.
const (
	eofOutcome = iota + 256
	badRecord
	badHeader
	oldRecord
	badRecordLen
	badRecordChecksum
)

// Bounds of decompression, in bytes.
const (
	maxRecordSize = 4 << 30
	maxWindowSize = 128 << 20
	// A frame may claim so much, and so many times its own size, before the
	// claim has to be earned piece by piece.
	trustedSize  = 1 << 20
	trustedRatio = 64
)

// ReaderOptions are what a log is read with.
type ReaderOptions struct {
	InfoLog   rocksdb.Logger
	Reporter  Reporter // may be nil
	Checksum  bool     // verify checksums
	LogNumber uint64

	RecordChecksum bool // compute what RecordChecksum gives

	// The four below are for the verification of the chain of logs.
	TrackAndVerifyWALs      bool
	StopReplayForCorruption bool
	MinWALNumberToKeep      uint64
	ObservedPredecessor     PredecessorWALInfo
}

// Reader reads logical records. It is used by one goroutine at a time.
type Reader struct {
	file    *file.SequentialFileReader
	opts    ReaderOptions
	backing []byte
	buffer  []byte // what is left of the block in backing
	scratch []byte // fragments of the present record

	eof              bool // the last read gave less than a block
	readError        bool
	eofOffset        int    // where in the block the last read ended, 0 if full
	lastRecordOffset uint64 // of the last record returned
	physicalOffset   uint64 // of the physical record being read
	endOfBuffer      uint64 // file offset behind buffer
	recycled         bool
	firstRecordRead  bool

	compressionRead bool
	undecodable     bool // records are compressed in a way that is not known
	decoder         *zstd.Decoder
	decoded         []byte
	tsSizes         map[uint32]uint16

	recordChecksum uint64
	hash           xxh3.Hasher // of the fragments so far, where asked for
}

// NewReader makes a reader of f, which it takes over.
func NewReader(f *file.SequentialFileReader, opts ReaderOptions) *Reader {
	return &Reader{file: f, opts: opts, backing: make([]byte, BlockSize)}
}

// File gives the file reader.
func (r *Reader) File() *file.SequentialFileReader { return r.file }

// Close closes the file.
func (r *Reader) Close() error {
	if r.decoder != nil {
		r.decoder.Close()
		r.decoder = nil
	}
	return r.file.Close()
}

// GetLogNumber gives the log's number.
func (r *Reader) GetLogNumber() uint64 { return r.opts.LogNumber }

// IsEOF tells whether the file's end was met.
func (r *Reader) IsEOF() bool { return r.eof }

// IsCompressedAndEmptyFile tells whether nothing but the compression type was
// read so far.
func (r *Reader) IsCompressedAndEmptyFile() bool { return !r.firstRecordRead && r.compressionRead }

// HasReadError tells whether a read failed.
func (r *Reader) HasReadError() bool { return r.readError }

// LastRecordOffset is the file offset of the last record returned.
func (r *Reader) LastRecordOffset() uint64 { return r.lastRecordOffset }

// LastRecordEnd is the file offset behind the last record returned.
func (r *Reader) LastRecordEnd() uint64 { return r.endOfBuffer - uint64(len(r.buffer)) }

// RecordChecksum is the XXH3 checksum of the last record returned, taken as its
// parts were read, where the options ask for it.
func (r *Reader) RecordChecksum() uint64 { return r.recordChecksum }

// GetReadOffset is the file offset up to which was read.
func (r *Reader) GetReadOffset() uint64 { return r.endOfBuffer }

// GetRecordedTimestampSize gives the timestamp sizes recorded so far, by
// column family.
func (r *Reader) GetRecordedTimestampSize() map[uint32]uint16 { return r.tsSizes }

// ReadRecord gives the next logical record; ok is false at the end of the log,
// be it the file's end or what mode makes one. The record is valid until the
// next call. What was dropped on the way went to the reporter.
func (r *Reader) ReadRecord(mode rocksdb.WALRecoveryMode) (record []byte, ok bool) {
	r.scratch = r.scratch[:0]
	strict := mode == rocksdb.AbsoluteConsistency || mode == rocksdb.PointInTimeRecovery
	inFragmented := false
	var start uint64
	for {
		offset := r.LastRecordEnd()
		r.physicalOffset = offset
		fragment, outcome, drop := r.readPhysicalRecord()
		switch outcome {
		case int(FullType), int(RecyclableFullType):
			if inFragmented && len(r.scratch) > 0 {
				r.reportCorruption(len(r.scratch), "partial record without end(1)")
			}
			inFragmented = false
			if r.opts.RecordChecksum {
				r.recordChecksum = xxh3.Hash(fragment)
			}
			if record, ok = r.finish(fragment, offset); ok {
				return record, true
			}
		case int(FirstType), int(RecyclableFirstType):
			if inFragmented && len(r.scratch) > 0 {
				r.reportCorruption(len(r.scratch), "partial record without end(2)")
			}
			start = offset
			r.hash.Reset()
			r.addToHash(fragment)
			r.scratch = append(r.scratch[:0], fragment...)
			inFragmented = true
		case int(MiddleType), int(RecyclableMiddleType):
			if !inFragmented {
				r.reportCorruption(len(fragment), "missing start of fragmented record(1)")
			} else {
				r.addToHash(fragment)
				r.scratch = append(r.scratch, fragment...)
			}
		case int(LastType), int(RecyclableLastType):
			if !inFragmented {
				r.reportCorruption(len(fragment), "missing start of fragmented record(2)")
				break
			}
			r.addToHash(fragment)
			r.scratch = append(r.scratch, fragment...)
			if r.opts.RecordChecksum {
				r.recordChecksum = r.hash.Sum64()
			}
			inFragmented = false
			if record, ok = r.finish(r.scratch, start); ok {
				return record, true
			}
		case int(SetCompressionType), int(PredecessorWALInfoType), int(RecyclePredecessorWALInfoType),
			int(UserDefinedTimestampSizeType), int(RecyclableUserDefinedTimestampSizeType):
			if inFragmented && len(r.scratch) > 0 && isTimestampSize(outcome) {
				r.reportCorruption(len(r.scratch), "user-defined timestamp size record interspersed partial record")
			}
			r.scratch = r.scratch[:0]
			r.lastRecordOffset = offset
			r.readMeta(RecordType(outcome), fragment, mode)
		case badHeader, eofOutcome:
			if outcome == badHeader && strict {
				r.reportCorruption(drop, "truncated header")
			}
			if inFragmented && strict {
				r.reportCorruption(len(r.scratch), "error reading trailing data due to encountering EOF")
			}
			return nil, false
		case oldRecord:
			if mode != rocksdb.SkipAnyCorruptedRecords {
				r.endAtOldRecord(inFragmented, strict, mode)
				return nil, false
			}
			inFragmented = r.dropFragments(inFragmented)
		case badRecord:
			inFragmented = r.dropFragments(inFragmented)
		case badRecordLen, badRecordChecksum:
			if outcome == badRecordLen && r.eof {
				if strict {
					r.reportCorruption(drop, "truncated record body")
				}
				return nil, false
			}
			if r.recycled && mode == rocksdb.TolerateCorruptedTailRecords {
				return nil, false
			}
			if outcome == badRecordLen {
				r.reportCorruption(drop, "bad record length")
			} else {
				r.reportCorruption(drop, "checksum mismatch")
			}
			inFragmented = r.dropFragments(inFragmented)
		default:
			if outcome&RecordTypeSafeIgnoreMask == 0 {
				n := len(fragment)
				if inFragmented {
					n += len(r.scratch)
				}
				r.reportCorruption(n, "unknown record type "+strconv.Itoa(outcome))
			}
			inFragmented = false
			r.scratch = r.scratch[:0]
		}
	}
}

func isTimestampSize(outcome int) bool {
	return outcome == int(UserDefinedTimestampSizeType) || outcome == int(RecyclableUserDefinedTimestampSizeType)
}

// finish makes a logical record of its bytes on disk.
func (r *Reader) finish(data []byte, start uint64) ([]byte, bool) {
	r.lastRecordOffset = start
	if r.undecodable {
		r.reportCorruption(len(data), "record of an unsupported compression type")
		return nil, false
	}
	if r.decoder != nil {
		if err := r.decompress(data); err != nil {
			r.reportCorruption(len(data), "could not decompress record: "+err.Error())
			return nil, false
		}
		data = r.decoded
		if r.opts.RecordChecksum {
			r.recordChecksum = xxh3.Hash(data)
		}
	}
	r.firstRecordRead = true
	return data, true
}

func (r *Reader) addToHash(fragment []byte) {
	if r.opts.RecordChecksum {
		_, _ = r.hash.Write(fragment) // cannot fail
	}
}

// decompress decodes a record into r.decoded. What a frame says of its size is
// believed up to a bound; beyond it memory grows with what really comes out.
func (r *Reader) decompress(data []byte) (err error) {
	var h zstd.Header
	if h.Decode(data) != nil || !h.HasFCS || h.FrameContentSize <= trustedSize+trustedRatio*uint64(len(data)) {
		r.decoded, err = r.decoder.DecodeAll(data, r.decoded[:0])
		return err
	}
	if err = r.decoder.Reset(bytes.NewReader(data)); err != nil {
		return err
	}
	r.decoded = r.decoded[:0]
	for {
		r.decoded = slices.Grow(r.decoded, BlockSize)
		n, err := r.decoder.Read(r.decoded[len(r.decoded):cap(r.decoded)])
		r.decoded = r.decoded[:len(r.decoded)+n]
		switch {
		case err == io.EOF:
			return r.decoder.Reset(nil)
		case err == nil && len(r.decoded) > maxRecordSize:
			err = zstd.ErrDecoderSizeExceeded
		}
		if err != nil {
			_ = r.decoder.Reset(nil)
			return err
		}
	}
}

func (r *Reader) dropFragments(inFragmented bool) bool {
	if inFragmented {
		r.reportCorruption(len(r.scratch), "error in middle of record")
		r.scratch = r.scratch[:0]
	}
	return false
}

func (r *Reader) endAtOldRecord(inFragmented, strict bool, mode rocksdb.WALRecoveryMode) {
	switch {
	case inFragmented && strict:
		r.reportCorruption(len(r.scratch), "error reading trailing data due to encountering old record")
	case !inFragmented && mode == rocksdb.PointInTimeRecovery && r.opts.Reporter != nil:
		r.opts.Reporter.OldLogRecord(len(r.scratch))
	}
}

// readMeta takes in a record that is about the log itself.
func (r *Reader) readMeta(t RecordType, payload []byte, mode rocksdb.WALRecoveryMode) {
	switch t {
	case SetCompressionType:
		if r.compressionRead {
			r.reportCorruption(len(payload), "read multiple SetCompressionType records")
		}
		if r.firstRecordRead {
			r.reportCorruption(len(payload), "SetCompressionType not the first record")
		}
		if err := r.initCompression(payload); err != nil {
			r.reportCorruption(len(payload), "could not decode SetCompressionType record: "+err.Error())
		}
	case PredecessorWALInfoType, RecyclePredecessorWALInfoType:
		var recorded PredecessorWALInfo
		if err := recorded.DecodeFrom(payload); err != nil {
			r.reportCorruption(len(payload), "could not decode PredecessorWALInfoType record")
		} else {
			r.verifyPredecessor(mode, len(payload), &recorded)
		}
	default:
		sizes, err := decodeTimestampSizes(payload)
		if err != nil {
			r.reportCorruption(len(payload), "could not decode user-defined timestamp size record")
		} else {
			r.recordTimestampSizes(len(payload), sizes)
		}
	}
}

func (r *Reader) initCompression(payload []byte) error {
	if len(payload) < 4 {
		return rocksdb.Corruption("record too short")
	}
	if r.decoder != nil {
		r.decoder.Close()
		r.decoder = nil
	}
	r.compressionRead, r.undecodable = true, false
	switch t := binary.LittleEndian.Uint32(payload); t {
	case uint32(rocksdb.NoCompression):
		return nil
	case uint32(rocksdb.ZSTD):
	default:
		r.undecodable = true
		return rocksdb.NotSupported(fmt.Sprintf("WAL compression type %d", t))
	}
	var err error
	r.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRecordSize),
		zstd.WithDecoderMaxWindow(maxWindowSize))
	r.undecodable = err != nil
	return err
}

func (r *Reader) recordTimestampSizes(n int, sizes []TimestampSize) {
	for _, s := range sizes {
		if s.Size == 0 {
			r.reportCorruption(n, "User-defined timestamp size record contains zero timestamp size.")
			return
		}
		if _, known := r.tsSizes[s.ColumnFamily]; known {
			r.reportCorruption(n, "User-defined timestamp size record contains update to recorded column family.")
			return
		}
		if r.tsSizes == nil {
			r.tsSizes = map[uint32]uint16{}
		}
		r.tsSizes[s.ColumnFamily] = s.Size
	}
}

func (r *Reader) verifyPredecessor(mode rocksdb.WALRecoveryMode, n int, recorded *PredecessorWALInfo) {
	if !r.opts.TrackAndVerifyWALs || mode == rocksdb.SkipAnyCorruptedRecords || r.opts.StopReplayForCorruption {
		return
	}
	observed := &r.opts.ObservedPredecessor
	var reason string
	switch {
	case !observed.Initialized:
		if recorded.LogNumber < r.opts.MinWALNumberToKeep {
			return
		}
		reason = fmt.Sprintf("Missing WAL of log number %d", recorded.LogNumber)
	case observed.LogNumber != recorded.LogNumber:
		reason = fmt.Sprintf("Mismatched predecessor log number of WAL file %s Recorded %d. Observed %d",
			r.file.FileName(), recorded.LogNumber, observed.LogNumber)
	case observed.LastSeqnoRecorded != recorded.LastSeqnoRecorded:
		reason = fmt.Sprintf("Mismatched last sequence number recorded in the WAL of log number %d. Recorded %d. "+
			"Observed %d. (Last sequence number equal to 0 indicates no WAL records)",
			recorded.LogNumber, recorded.LastSeqnoRecorded, observed.LastSeqnoRecorded)
	case observed.SizeBytes != recorded.SizeBytes:
		reason = fmt.Sprintf("Mismatched size of the WAL of log number %d. Recorded %d bytes. Observed %d bytes.",
			recorded.LogNumber, recorded.SizeBytes, observed.SizeBytes)
	default:
		return
	}
	r.reportDrop(n, rocksdb.Corruption(reason), recorded.LogNumber)
}

// UnmarkEOF lets reading go on after the file has grown.
func (r *Reader) UnmarkEOF() {
	if r.readError {
		return
	}
	r.eof = false
	if r.eofOffset != 0 {
		r.readRestOfBlock()
	}
}

// readRestOfBlock reads on behind a partial block.
func (r *Reader) readRestOfBlock() {
	// Read the rest of the block behind what there is of it.
	consumed := r.eofOffset - len(r.buffer)
	got, err := r.file.Read(BlockSize-r.eofOffset, r.backing[r.eofOffset:], rocksdb.IOTotal, nil)
	copy(r.backing[r.eofOffset:], got)
	added := len(got)
	r.endOfBuffer += uint64(added)
	if err != nil {
		if added > 0 {
			r.reportDrop(added, rocksdb.AsStatus(err), NoLogNumber)
		}
		r.readError = true
		return
	}
	r.buffer = r.backing[consumed : r.eofOffset+added]
	if r.eofOffset+added < BlockSize {
		r.eof = true
		r.eofOffset += added
	} else {
		r.eofOffset = 0
	}
}

func (r *Reader) reportCorruption(bytes int, reason string) {
	r.reportDrop(bytes, rocksdb.Corruption(reason).InAt(r.file.FileName(), r.physicalOffset), NoLogNumber)
}

func (r *Reader) reportDrop(bytes int, err *rocksdb.Status, logNumber uint64) {
	logging.Warn(r.opts.InfoLog, "%s: dropping %d bytes; %v", r.file.FileName(), bytes, err)
	if r.opts.Reporter != nil {
		r.opts.Reporter.Corruption(bytes, err, logNumber)
	}
}

// readMore reads the next block into buffer. When it cannot it tells the
// outcome and how many bytes that drops.
func (r *Reader) readMore() (outcome, drop int, ok bool) {
	if r.eof || r.readError {
		if drop = len(r.buffer); drop > 0 {
			r.buffer = nil
			return badHeader, drop, false
		}
		return eofOutcome, 0, false
	}
	got, err := r.file.Read(BlockSize, r.backing, rocksdb.IOTotal, nil)
	syncpoint.ProcessArg("LogReader::ReadMore:AfterReadFile", &err)
	if err != nil {
		r.buffer = nil
		r.reportDrop(BlockSize, rocksdb.AsStatus(err), NoLogNumber)
		r.readError = true
		return eofOutcome, 0, false
	}
	copy(r.backing, got) // nothing to copy when got is in backing already
	r.buffer = r.backing[:len(got)]
	r.endOfBuffer += uint64(len(got))
	if len(got) < BlockSize {
		r.eof = true
		r.eofOffset = len(got)
	}
	return 0, 0, true
}

// readPhysicalRecord gives the next physical record's payload and type, or an
// outcome and the number of bytes dropped.
func (r *Reader) readPhysicalRecord() (payload []byte, outcome, drop int) {
	for {
		if len(r.buffer) < HeaderSize {
			if out, n, ok := r.readMore(); !ok {
				return nil, out, n
			}
			continue
		}
		h := r.buffer
		length := int(binary.LittleEndian.Uint16(h[4:]))
		t := h[6]
		headerSize := HeaderSize
		if isRecyclable(t) {
			headerSize = RecyclableHeaderSize
			if r.firstRecordRead && !r.recycled {
				// Upstream reads this record again and again.
				r.reportCorruption(len(r.buffer), "recyclable record in a log that does not begin with one")
				r.buffer = nil
				return nil, badRecord, 0
			}
			r.recycled = true
			if len(r.buffer) < headerSize {
				if out, n, ok := r.readMore(); !ok {
					return nil, out, n
				}
				continue
			}
		}
		if headerSize+length > len(r.buffer) {
			drop = len(r.buffer)
			r.buffer = nil
			return nil, badRecordLen, drop
		}
		if headerSize == RecyclableHeaderSize && binary.LittleEndian.Uint32(h[7:]) != uint32(r.opts.LogNumber) {
			r.buffer = r.buffer[headerSize+length:]
			return nil, oldRecord, 0
		}
		if t == ZeroType && length == 0 {
			// Preallocated space: skip the block.
			r.buffer = nil
			return nil, badRecord, 0
		}
		if r.opts.Checksum {
			if util.Crc32cUnmask(binary.LittleEndian.Uint32(h)) != util.Crc32cValue(h[6:headerSize+length]) {
				drop = len(r.buffer)
				r.buffer = nil
				return nil, badRecordChecksum, drop
			}
		}
		r.buffer = r.buffer[headerSize+length:]
		return h[headerSize : headerSize+length], int(t), 0
	}
}
