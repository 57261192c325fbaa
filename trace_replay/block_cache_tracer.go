// Port of trace_replay/block_cache_tracer.{h,cc} and
// include/rocksdb/block_cache_trace_writer.h. Differs: human-readable traces go to
// an io.Writer and come from an io.Reader; a trace that was ended is closed.

package tracereplay

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// The kinds of records of a block cache trace: the blocks that are looked up.
const (
	BlockTraceIndexBlock             TraceType = 7
	BlockTraceFilterBlock            TraceType = 8
	BlockTraceDataBlock              TraceType = 9
	BlockTraceUncompressionDictBlock TraceType = 10
	BlockTraceRangeDeletionBlock     TraceType = 11
)

const (
	// UnknownColumnFamilyName stands for a family that is not known.
	UnknownColumnFamilyName = "UnknownColumnFamily"
	// ReservedGetID is no lookup.
	ReservedGetID uint64 = 0
)

// BlockCacheTraceRecord is one access to the block cache.
type BlockCacheTraceRecord struct {
	AccessTimestamp uint64 // microseconds since 1970
	BlockKey        []byte // in the cache
	BlockType       TraceType
	BlockSize       uint64 // bytes
	CFID            uint64
	CFName          string
	Level           uint32
	SSTFDNumber     uint64
	Caller          rocksdb.TableReaderCaller
	IsCacheHit      bool
	NoInsert        bool

	// Of Get and MultiGet.
	GetID                        uint64
	GetFromUserSpecifiedSnapshot bool
	ReferencedKey                []byte // an internal key

	// Of their data blocks.
	ReferencedDataSize        uint64 // bytes of the entry found
	NumKeysInBlock            uint64
	ReferencedKeyExistInBlock bool
}

// BlockCacheTraceOptions say what is traced.
type BlockCacheTraceOptions struct {
	// SamplingFrequency keeps the accesses to one block in that many. Default 1.
	SamplingFrequency uint64
}

// DefaultBlockCacheTraceOptions gives the defaults.
func DefaultBlockCacheTraceOptions() BlockCacheTraceOptions {
	return BlockCacheTraceOptions{SamplingFrequency: 1}
}

// BlockCacheTraceWriterOptions are NewBlockCacheTraceWriter's.
type BlockCacheTraceWriterOptions struct {
	// MaxTraceFileSize in bytes; what comes then is dropped. Default 64 GiB.
	MaxTraceFileSize uint64
}

// DefaultBlockCacheTraceWriterOptions gives the defaults.
func DefaultBlockCacheTraceWriterOptions() BlockCacheTraceWriterOptions {
	return BlockCacheTraceWriterOptions{MaxTraceFileSize: 64 << 30}
}

// BlockCacheTraceWriter takes the records of a trace. Its calls are not
// concurrent.
type BlockCacheTraceWriter interface {
	// WriteHeader comes first.
	WriteHeader() error
	// WriteBlockAccess adds a record, which is the caller's again when it
	// returns.
	WriteBlockAccess(r *BlockCacheTraceRecord) error
	Close() error
}

// IsGetOrMultiGet tells whether the caller looks keys up.
func IsGetOrMultiGet(c rocksdb.TableReaderCaller) bool {
	return c == rocksdb.CallerUserGet || c == rocksdb.CallerUserMultiGet
}

// IsGetOrMultiGetOnDataBlock tells whether the access is to see whether a key is
// in a block.
func IsGetOrMultiGetOnDataBlock(t TraceType, c rocksdb.TableReaderCaller) bool {
	return t == BlockTraceDataBlock && IsGetOrMultiGet(c)
}

// IsUserAccess tells whether an application waits for the access.
func IsUserAccess(c rocksdb.TableReaderCaller) bool {
	switch c {
	case rocksdb.CallerUserGet, rocksdb.CallerUserMultiGet, rocksdb.CallerUserIterator,
		rocksdb.CallerUserApproximateSize, rocksdb.CallerUserVerifyChecksum:
		return true
	}
	return false
}

// ComputeRowKey names the file and the user key of a lookup.
func (r *BlockCacheTraceRecord) ComputeRowKey() string {
	if !IsGetOrMultiGet(r.Caller) || len(r.ReferencedKey) < dbformat.NumInternalBytes {
		return ""
	}
	return strconv.FormatUint(r.SSTFDNumber, 10) + "_" + string(dbformat.ExtractUserKey(r.ReferencedKey))
}

// GetTableID is one more than what a lookup's key begins with, 4 bytes, least
// first; 0 when it does not.
func (r *BlockCacheTraceRecord) GetTableID() uint64 {
	if !IsGetOrMultiGet(r.Caller) || len(r.ReferencedKey) < 4 {
		return 0
	}
	return uint64(binary.LittleEndian.Uint32(r.ReferencedKey)) + 1
}

// GetSequenceNumber is one more than that of a lookup at a snapshot, else 0.
func (r *BlockCacheTraceRecord) GetSequenceNumber() uint64 {
	if !IsGetOrMultiGet(r.Caller) || !r.GetFromUserSpecifiedSnapshot || len(r.ReferencedKey) < dbformat.NumInternalBytes {
		return 0
	}
	return 1 + dbformat.GetInternalKeySeqno(r.ReferencedKey)
}

// GetBlockOffsetInFile is the last varint64 of the block's key.
func (r *BlockCacheTraceRecord) GetBlockOffsetInFile() (offset uint64) {
	for key, ok := r.BlockKey, true; ok; {
		var v uint64
		if v, key, ok = util.GetVarint64(key); ok {
			offset = v
		}
	}
	return offset
}

// blockCacheTraceWriter is upstream's BlockCacheTraceWriterImpl. A record is, in
// the frame of all traces, with b for a byte that is 0 or 1:
//
//	block key (length-prefixed), block size (fixed64)
//	family's ID (fixed64) and name (length-prefixed)
//	level (fixed32), file number (fixed64)
//	caller (1 byte), cache hit (b), no insert (b)
//	of Get and MultiGet: their ID (fixed64), at a snapshot (b), key (length-prefixed)
//	of their data blocks: data size, number of keys (fixed64), key is there (b)
type blockCacheTraceWriter struct {
	clock   rocksdb.SystemClock
	o       BlockCacheTraceWriterOptions
	w       rocksdb.TraceWriter
	payload []byte
	record  []byte
}

// NewBlockCacheTraceWriter makes a writer to w, which Close closes.
func NewBlockCacheTraceWriter(clock rocksdb.SystemClock, o BlockCacheTraceWriterOptions, w rocksdb.TraceWriter) BlockCacheTraceWriter {
	return &blockCacheTraceWriter{clock: clock, o: o, w: w}
}

func (w *blockCacheTraceWriter) write(t *Trace) error {
	w.record = AppendTrace(w.record[:0], t)
	return w.w.Write(w.record)
}

func (w *blockCacheTraceWriter) WriteHeader() error {
	return w.w.Write(appendHeader(w.record[:0], w.clock.NowMicros()))
}

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func (w *blockCacheTraceWriter) WriteBlockAccess(r *BlockCacheTraceRecord) error {
	if w.w.GetFileSize() > w.o.MaxTraceFileSize {
		return nil
	}
	p := util.AppendLengthPrefixedSlice(w.payload[:0], r.BlockKey)
	p = util.AppendFixed64(p, r.BlockSize)
	p = util.AppendFixed64(p, r.CFID)
	p = util.AppendLengthPrefixedSlice(p, []byte(r.CFName))
	p = util.AppendFixed32(p, r.Level)
	p = util.AppendFixed64(p, r.SSTFDNumber)
	p = append(p, byte(r.Caller))
	p = appendBool(appendBool(p, r.IsCacheHit), r.NoInsert)
	if IsGetOrMultiGet(r.Caller) {
		p = util.AppendFixed64(p, r.GetID)
		p = appendBool(p, r.GetFromUserSpecifiedSnapshot)
		p = util.AppendLengthPrefixedSlice(p, r.ReferencedKey)
	}
	if IsGetOrMultiGetOnDataBlock(r.BlockType, r.Caller) {
		p = util.AppendFixed64(p, r.ReferencedDataSize)
		p = util.AppendFixed64(p, r.NumKeysInBlock)
		p = appendBool(p, r.ReferencedKeyExistInBlock)
	}
	w.payload = p
	return w.write(&Trace{TS: r.AccessTimestamp, Type: r.BlockType, Payload: p})
}

func (w *blockCacheTraceWriter) Close() error { return w.w.Close() }

// BlockCacheTraceReader reads what NewBlockCacheTraceWriter's writers write.
type BlockCacheTraceReader struct{ r rocksdb.TraceReader }

// NewBlockCacheTraceReader reads r, which stays the caller's.
func NewBlockCacheTraceReader(r rocksdb.TraceReader) *BlockCacheTraceReader {
	return &BlockCacheTraceReader{r}
}

// ReadHeader comes first.
func (r *BlockCacheTraceReader) ReadHeader() (TraceHeader, error) { return readHeader(r.r) }

// ReadAccess reads the next record; at the end it is Incomplete.
func (r *BlockCacheTraceReader) ReadAccess() (a BlockCacheTraceRecord, err error) {
	t, err := readTrace(r.r)
	if err != nil {
		return a, err
	}
	a.AccessTimestamp, a.BlockType = t.TS, t.Type
	p := payloadReader{p: t.Payload}
	a.BlockKey = p.slice("block key")
	p.fixed64(&a.BlockSize, "block size")
	p.fixed64(&a.CFID, "column family ID")
	a.CFName = string(p.slice("column family name"))
	p.fixed32(&a.Level, "level")
	p.fixed64(&a.SSTFDNumber, "SST file number")
	a.Caller = rocksdb.TableReaderCaller(p.byte("caller"))
	a.IsCacheHit = p.byte("is_cache_hit") != 0
	a.NoInsert = p.byte("no_insert") != 0
	if IsGetOrMultiGet(a.Caller) {
		p.fixed64(&a.GetID, "get id")
		a.GetFromUserSpecifiedSnapshot = p.byte("get_from_user_specified_snapshot") != 0
		a.ReferencedKey = p.slice("referenced key")
	}
	if IsGetOrMultiGetOnDataBlock(a.BlockType, a.Caller) {
		p.fixed64(&a.ReferencedDataSize, "referenced data size")
		p.fixed64(&a.NumKeysInBlock, "number of keys in the block")
		a.ReferencedKeyExistInBlock = p.byte("referenced_key_exist_in_block") != 0
	}
	return a, p.err()
}

// WriteHumanReadableTraceRecord writes a record as a line of numbers between
// commas. blockID and getKeyID stand for the keys, of which only the sizes are
// told.
func WriteHumanReadableTraceRecord(w io.Writer, a *BlockCacheTraceRecord, blockID, getKeyID uint64) error {
	b := func(v bool) int {
		if v {
			return 1
		}
		return 0
	}
	_, err := fmt.Fprintf(w, "%d,%d,%d,%d,%d,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n",
		a.AccessTimestamp, blockID, a.BlockType, a.BlockSize, a.CFID, a.CFName, a.Level, a.SSTFDNumber, a.Caller, b(a.NoInsert),
		a.GetID, getKeyID, a.ReferencedDataSize, b(a.IsCacheHit), b(a.ReferencedKeyExistInBlock), a.NumKeysInBlock,
		a.GetTableID(), a.GetSequenceNumber(), len(a.BlockKey), len(a.ReferencedKey), a.GetBlockOffsetInFile())
	return err
}

// BlockCacheHumanReadableTraceReader reads such lines.
type BlockCacheHumanReadableTraceReader struct{ lines *bufio.Scanner }

// NewBlockCacheHumanReadableTraceReader reads r, which stays the caller's.
func NewBlockCacheHumanReadableTraceReader(r io.Reader) *BlockCacheHumanReadableTraceReader {
	return &BlockCacheHumanReadableTraceReader{bufio.NewScanner(r)}
}

// ReadHeader has none to read.
func (*BlockCacheHumanReadableTraceReader) ReadHeader() (h TraceHeader, err error) {
	return h, nil
}

// maxReadableKey bounds keys whose sizes alone are told, in bytes.
const maxReadableKey = 1 << 20

var errReadableFormat = rocksdb.Incomplete("Records format is wrong.")

// ReadAccess reads the next record, with keys that have the sizes and the numbers
// that were told; at the end it is Incomplete.
func (r *BlockCacheHumanReadableTraceReader) ReadAccess() (a BlockCacheTraceRecord, err error) {
	if !r.lines.Scan() {
		if err := r.lines.Err(); err != nil {
			return a, rocksdb.IOError("reading a block cache trace").Wrap(err)
		}
		return a, rocksdb.Incomplete("No more records to read.")
	}
	fields := strings.Split(r.lines.Text(), ",")
	if len(fields) != 21 {
		return a, errReadableFormat
	}
	const name = 5
	var n [21]uint64
	for i, f := range fields {
		if i == name {
			continue
		}
		if n[i], err = strconv.ParseUint(f, 10, 64); err != nil {
			return a, errReadableFormat
		}
	}
	if n[18] > maxReadableKey || n[19] > maxReadableKey {
		return a, errReadableFormat
	}
	a = BlockCacheTraceRecord{
		AccessTimestamp: n[0], BlockType: TraceType(n[2]), BlockSize: n[3], CFID: n[4], CFName: fields[name],
		Level: uint32(n[6]), SSTFDNumber: n[7], Caller: rocksdb.TableReaderCaller(n[8]), NoInsert: n[9] != 0, GetID: n[10],
		ReferencedDataSize: n[12], IsCacheHit: n[13] != 0, ReferencedKeyExistInBlock: n[14] != 0, NumKeysInBlock: n[15],
		GetFromUserSpecifiedSnapshot: n[17] > 0,
	}
	key := util.AppendVarint64(util.AppendVarint64(nil, n[1]), n[20])
	a.BlockKey = append(ones(int(n[18])-len(key)), key...)
	if n[11] != 0 {
		table, seq := n[16], n[17] // one more than they are
		if table > 0 {
			table--
		}
		if seq > 0 {
			seq--
		}
		key = util.AppendFixed64(util.AppendFixed64(nil, n[11]), seq<<8)
		a.ReferencedKey = util.AppendFixed32(nil, uint32(table))
		a.ReferencedKey = append(a.ReferencedKey, ones(int(n[19])-len(key)-len(a.ReferencedKey))...)
		a.ReferencedKey = append(a.ReferencedKey, key...)
	}
	return a, nil
}

// ones fills a key up to its size.
func ones(n int) []byte { return bytes.Repeat([]byte("1"), max(n, 0)) }

// BlockCacheTracer writes a trace while one is on: between StartTrace and
// EndTrace. It is safe for concurrent use; a nil one never traces.
type BlockCacheTracer struct {
	on     atomic.Bool
	nextID atomic.Uint64

	mu struct {
		sync.Mutex
		o BlockCacheTraceOptions
		w BlockCacheTraceWriter // nil: none
	}
}

// StartTrace traces to w from now on, which EndTrace closes. While another trace
// is on it is Busy, and w stays the caller's.
func (t *BlockCacheTracer) StartTrace(o BlockCacheTraceOptions, w BlockCacheTraceWriter) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.w != nil {
		return rocksdb.Busy()
	}
	t.nextID.Store(1)
	t.mu.o, t.mu.w = o, w
	t.on.Store(true)
	return w.WriteHeader()
}

// EndTrace ends the trace, if one is on.
func (t *BlockCacheTracer) EndTrace() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.mu.w
	t.on.Store(false)
	t.mu.w = nil
	if w == nil {
		return nil
	}
	return w.Close()
}

// IsTracingEnabled tells whether a trace is on.
func (t *BlockCacheTracer) IsTracingEnabled() bool { return t != nil && t.on.Load() }

// WriteBlockAccess adds a record to the trace, if one is on: all accesses of a
// block or none.
func (t *BlockCacheTracer) WriteBlockAccess(r *BlockCacheTraceRecord) error {
	if !t.IsTracingEnabled() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.w == nil {
		return nil
	}
	if n := t.mu.o.SamplingFrequency; n > 1 && util.GetSliceRangedNPHash(r.BlockKey, n) != 0 {
		return nil
	}
	return t.mu.w.WriteBlockAccess(r)
}

// NextGetID numbers lookups, from 1; without a trace it is ReservedGetID.
func (t *BlockCacheTracer) NextGetID() uint64 {
	if !t.IsTracingEnabled() {
		return ReservedGetID
	}
	id := t.nextID.Add(1) - 1
	if id == ReservedGetID {
		return t.nextID.Add(1) - 1
	}
	return id
}
