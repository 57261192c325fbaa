// Port of util/compression.{h,cc}: streaming compression and the log's
// compression type record. Differs: each call of Compress with new input makes
// one whole ZSTD frame, which is then handed out in pieces; Uncompress collects
// a frame's pieces and hands its contents out once the frame is complete.

package compression

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// CompressionTypeRecord is the body of a log's compression record: the type as
// a fixed32.
type CompressionTypeRecord struct{ CompressionType rocksdb.CompressionType }

// AppendTo encodes the record.
func (r CompressionTypeRecord) AppendTo(dst []byte) []byte {
	return util.AppendFixed32(dst, uint32(r.CompressionType))
}

// DecodeFrom decodes a record and returns what follows it.
func (r *CompressionTypeRecord) DecodeFrom(src []byte) ([]byte, error) {
	v, rest, ok := util.GetFixed32(src)
	if !ok {
		return src, rocksdb.Corruption("CompressionTypeRecord", "Error decoding WAL compression type")
	}
	if v > 0xff || !StreamingCompressionTypeSupported(rocksdb.CompressionType(v)) {
		return src, rocksdb.Corruption("CompressionTypeRecord", "WAL compression type not supported")
	}
	r.CompressionType = rocksdb.CompressionType(v)
	return rest, nil
}

// DebugString names the type.
func (r CompressionTypeRecord) DebugString() string {
	return "compression_type: " + CompressionTypeToString(r.CompressionType)
}

// StreamingCompress compresses records for the log. One goroutine uses it.
type StreamingCompress struct {
	enc *zstd.Encoder
	max int
	buf []byte // the frame
	pos int    // how much of it was handed out
}

// NewStreamingCompress makes a compressor whose pieces have at most
// maxOutputLen bytes; nil for types that cannot stream.
func NewStreamingCompress(t rocksdb.CompressionType, maxOutputLen int) (*StreamingCompress, error) {
	if t != rocksdb.ZSTD {
		return nil, nil
	}
	if maxOutputLen <= 0 {
		return nil, rocksdb.InvalidArgument("streaming compression needs room for its output")
	}
	enc, err := newZSTDEncoder(rocksdb.DefaultCompressionLevel, true, nil)
	if err != nil {
		return nil, rocksdb.Corruption("ZSTD compression", err.Error()).Wrap(err)
	}
	return &StreamingCompress{enc: enc, max: maxOutputLen}, nil
}

// Compress takes a record; Next gives its pieces.
func (c *StreamingCompress) Compress(record []byte) {
	c.buf = c.enc.EncodeAll(record, c.buf[:0])
	c.pos = 0
}

// Next gives the next piece, valid until the next Compress, and whether more
// follow.
func (c *StreamingCompress) Next() (piece []byte, more bool) {
	end := min(c.pos+c.max, len(c.buf))
	piece = c.buf[c.pos:end]
	c.pos = end
	return piece, end < len(c.buf)
}

// Reset forgets what was not handed out.
func (c *StreamingCompress) Reset() { c.buf, c.pos = c.buf[:0], 0 }

// StreamingUncompress undoes StreamingCompress, and the C library's streams.
// One goroutine uses it.
type StreamingUncompress struct {
	dec *zstd.Decoder
	in  []byte
	out []byte
}

// NewStreamingUncompress gives nil for types that cannot stream.
func NewStreamingUncompress(t rocksdb.CompressionType) (*StreamingUncompress, error) {
	if t != rocksdb.ZSTD {
		return nil, nil
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, rocksdb.Corruption("ZSTD", err.Error()).Wrap(err)
	}
	return &StreamingUncompress{dec: dec}, nil
}

// Uncompress takes a piece and returns what became complete by it, valid until
// the next call; nothing when a frame is still open.
func (u *StreamingUncompress) Uncompress(piece []byte) ([]byte, error) {
	u.in = append(u.in, piece...)
	n, err := zstdFramesLength(u.in)
	if err != nil {
		u.Reset()
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	out, err := u.dec.DecodeAll(u.in[:n], u.out[:0])
	if err != nil {
		u.Reset()
		return nil, rocksdb.Corruption("ZSTD", err.Error()).Wrap(err)
	}
	u.out = out
	u.in = u.in[:copy(u.in, u.in[n:])]
	return out, nil
}

// Reset forgets an open frame.
func (u *StreamingUncompress) Reset() { u.in = u.in[:0] }

var errZSTDFrame = rocksdb.Corruption("ZSTD", "bad frame in a compressed log record")

// zstdFramesLength is the length of b's whole frames. A frame is a header of
// 6 to 18 bytes, blocks of a 3-byte header each, and perhaps a checksum of 4.
func zstdFramesLength(b []byte) (int, error) {
	whole := 0
	for {
		n, err := zstdFrameLength(b[whole:])
		if err != nil || n == 0 {
			return whole, err
		}
		whole += n
	}
}

// zstdFrameLength is 0 when the frame is not complete.
func zstdFrameLength(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, nil
	}
	if binary.LittleEndian.Uint32(b) != 0xFD2FB528 {
		return 0, errZSTDFrame
	}
	d := b[4]
	single := d>>5&1 == 1
	n := 5 + [4]int{0, 1, 2, 4}[d&3] + [4]int{0, 2, 4, 8}[d>>6]
	if !single {
		n++
	} else if d>>6 == 0 {
		n++
	}
	for {
		if len(b) < n+3 {
			return 0, nil
		}
		h := uint32(b[n]) | uint32(b[n+1])<<8 | uint32(b[n+2])<<16
		size := int(h >> 3)
		switch h >> 1 & 3 {
		case 1: // one byte repeated
			size = 1
		case 3:
			return 0, errZSTDFrame
		}
		n += 3 + size
		if h&1 == 1 {
			break
		}
	}
	if d>>2&1 == 1 {
		n += 4
	}
	if len(b) < n {
		return 0, nil
	}
	return n, nil
}
