// Port of db/log_reader.{h,cc} (FragmentBufferedReader). Differs: a record that
// cannot fit into its block is reported instead of waited for; at a record of
// the file's former life reading stops instead of going round for ever.

package wal

import (
	"encoding/binary"
	"strconv"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// FragmentBufferedReader reads a log that is still being written: where a
// record is not complete yet it keeps the fragments it has, and goes on from
// there when it is called again.
type FragmentBufferedReader struct {
	Reader
	inFragmented bool
	start        uint64 // of the record whose fragments are in scratch
	atOldRecord  bool
}

// NewFragmentBufferedReader makes a reader of f, which it takes over. It does
// not verify the chain of logs.
func NewFragmentBufferedReader(f *file.SequentialFileReader, opts ReaderOptions) *FragmentBufferedReader {
	opts.TrackAndVerifyWALs, opts.StopReplayForCorruption = false, false
	opts.MinWALNumberToKeep, opts.ObservedPredecessor = NoLogNumber, PredecessorWALInfo{}
	return &FragmentBufferedReader{Reader: Reader{file: f, opts: opts, backing: make([]byte, BlockSize)}}
}

// UnmarkEOF lets reading go on after the file has grown.
func (r *FragmentBufferedReader) UnmarkEOF() {
	if !r.readError {
		r.eof = false
		r.readRestOfBlock()
	}
}

// AtOldRecord tells that reading stopped at a record of the file's former life. The
// records that take its place will be found by another reader.
func (r *FragmentBufferedReader) AtOldRecord() bool { return r.atOldRecord }

// ReadRecord gives the next logical record; ok is false when it is not there
// yet, and a later call may find it. The record is valid until the next call.
// Of the recovery modes none makes a difference.
func (r *FragmentBufferedReader) ReadRecord(mode rocksdb.WALRecoveryMode) (record []byte, ok bool) {
	if !r.inFragmented {
		r.scratch = r.scratch[:0]
	}
	for {
		offset := r.LastRecordEnd()
		fragment, outcome, drop := r.tryReadFragment()
		switch outcome {
		case int(FullType), int(RecyclableFullType):
			r.dropPartial("partial record without end(1)")
			if record, ok = r.finish(fragment, offset); ok {
				return record, true
			}
		case int(FirstType), int(RecyclableFirstType):
			r.dropPartial("partial record without end(2)")
			r.start = offset
			r.scratch = append(r.scratch, fragment...)
			r.inFragmented = true
		case int(MiddleType), int(RecyclableMiddleType):
			if !r.inFragmented {
				r.reportCorruption(len(fragment), "missing start of fragmented record(1)")
			} else {
				r.scratch = append(r.scratch, fragment...)
			}
		case int(LastType), int(RecyclableLastType):
			if !r.inFragmented {
				r.reportCorruption(len(fragment), "missing start of fragmented record(2)")
				break
			}
			r.scratch = append(r.scratch, fragment...)
			r.inFragmented = false
			if record, ok = r.finish(r.scratch, r.start); ok {
				return record, true
			}
		case int(SetCompressionType), int(PredecessorWALInfoType), int(RecyclePredecessorWALInfoType),
			int(UserDefinedTimestampSizeType), int(RecyclableUserDefinedTimestampSizeType):
			if isTimestampSize(outcome) {
				r.dropPartial("user-defined timestamp size record interspersed partial record")
			}
			r.forgetPartial()
			r.lastRecordOffset = offset
			r.readMeta(RecordType(outcome), fragment, mode)
		case eofOutcome:
			return nil, false
		case badHeader, oldRecord:
			if r.atOldRecord = outcome == oldRecord; r.atOldRecord {
				r.forgetPartial() // its rest is not written yet
			}
			r.dropPartial("error in middle of record")
			return nil, false
		case badRecord:
			r.dropPartial("error in middle of record")
		case badRecordChecksum, badRecordLen:
			if r.recycled {
				// Most likely the rest of an older record.
				r.forgetPartial()
				r.atOldRecord = true
				return nil, false
			}
			if outcome == badRecordLen {
				r.reportCorruption(drop, "bad record length")
			} else {
				r.reportCorruption(drop, "checksum mismatch")
			}
			r.dropPartial("error in middle of record")
		default:
			if outcome&RecordTypeSafeIgnoreMask == 0 {
				r.reportCorruption(len(fragment)+len(r.scratch), "unknown record type "+strconv.Itoa(outcome))
			}
			r.forgetPartial()
		}
	}
}

func (r *FragmentBufferedReader) forgetPartial() {
	r.inFragmented = false
	r.scratch = r.scratch[:0]
}

func (r *FragmentBufferedReader) dropPartial(reason string) {
	if r.inFragmented && len(r.scratch) > 0 {
		r.reportCorruption(len(r.scratch), reason)
	}
	r.forgetPartial()
}

// require tries to have n bytes of the present block in buffer.
func (r *FragmentBufferedReader) require(n int) (outcome, drop int, ok bool) {
	for len(r.buffer) < n {
		had := len(r.buffer)
		switch {
		case r.readError:
			drop = had
			r.buffer = nil
			if drop > 0 {
				return badHeader, drop, false
			}
			return eofOutcome, 0, false
		case r.eof:
			r.UnmarkEOF()
			if !r.readError && len(r.buffer) == had {
				return eofOutcome, 0, false // not written yet
			}
		default:
			if had >= HeaderSize {
				return badRecordLen, 0, false // it would cross the block's end
			}
			// A full block's trailer: skip it.
			if outcome, drop, ok = r.readMore(); !ok {
				return outcome, drop, false
			}
			if r.eof {
				syncpoint.Process("FragmentBufferedLogReader::TryReadMore:FirstEOF")
			}
		}
	}
	return 0, 0, true
}

// dropBlock gives up what is left of the buffer.
func (r *FragmentBufferedReader) dropBlock() int {
	n := len(r.buffer)
	r.buffer = nil
	return n
}

// tryReadFragment gives the next physical record's payload and type, or an
// outcome and the number of bytes dropped. The outcome eofOutcome leaves what
// there is of the record in the buffer.
func (r *FragmentBufferedReader) tryReadFragment() (payload []byte, outcome, drop int) {
	r.physicalOffset = r.LastRecordEnd()
	if out, n, ok := r.require(HeaderSize); !ok {
		return nil, out, n
	}
	r.physicalOffset = r.LastRecordEnd()
	length := int(binary.LittleEndian.Uint16(r.buffer[4:]))
	t := r.buffer[6]
	headerSize := HeaderSize
	if isRecyclable(t) {
		headerSize = RecyclableHeaderSize
		if r.firstRecordRead && !r.recycled {
			r.reportCorruption(r.dropBlock(), "recyclable record in a log that does not begin with one")
			return nil, badRecord, 0
		}
		r.recycled = true
	}
	if int(r.physicalOffset%BlockSize)+headerSize+length > BlockSize {
		return nil, badRecordLen, r.dropBlock()
	}
	if headerSize > HeaderSize {
		if out, n, ok := r.require(headerSize); !ok {
			return nil, out, n
		}
		if binary.LittleEndian.Uint32(r.buffer[7:]) != uint32(r.opts.LogNumber) {
			return nil, oldRecord, 0
		}
	}
	if out, n, ok := r.require(headerSize + length); !ok {
		return nil, out, n
	}
	if t == ZeroType && length == 0 {
		r.dropBlock()
		return nil, badRecord, 0
	}
	h := r.buffer[:headerSize+length]
	if r.opts.Checksum && util.Crc32cUnmask(binary.LittleEndian.Uint32(h)) != util.Crc32cValue(h[6:]) {
		return nil, badRecordChecksum, r.dropBlock()
	}
	r.buffer = r.buffer[len(h):]
	return h[headerSize:], int(t), 0
}
