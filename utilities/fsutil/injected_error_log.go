// Port of utilities/fault_injection_fs.{h,cc} (InjectedErrorLog).

package fsutil

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// The kinds of detail of an entry.
const (
	DetailNone uint8 = iota
	DetailTwoFiles
	DetailSizeAndHead
	DetailOffsetSizeAndHead
	DetailOffsetAndSize
	DetailSize
	DetailCount
	DetailReqOffsetAndSize
)

// The sizes of an entry's parts, in bytes.
const (
	MaxOpNameLen         = 32
	MaxFileNameLen       = 72
	MaxStatusMessageLen  = 56
	MaxDetailPayloadLen  = 48
	InjectedErrorLogSize = 256 // of an entry
)

// ErrorDetail says what the operation was about.
type ErrorDetail struct {
	Kind    uint8
	Offset  uint64
	Size    uint64
	Count   uint32
	ReqIdx  uint32
	payload [MaxDetailPayloadLen]byte
}

func withPayload(d ErrorDetail, data []byte) ErrorDetail {
	copy(d.payload[:], data)
	return d
}

func twoFiles(other string) ErrorDetail {
	return withPayload(ErrorDetail{Kind: DetailTwoFiles, Size: uint64(len(other))}, []byte(other))
}

func sizeAndHead(data []byte) ErrorDetail {
	return withPayload(ErrorDetail{Kind: DetailSizeAndHead, Size: uint64(len(data))}, data)
}

func offsetSizeAndHead(offset uint64, data []byte) ErrorDetail {
	return withPayload(ErrorDetail{Kind: DetailOffsetSizeAndHead, Offset: offset, Size: uint64(len(data))}, data)
}

func offsetAndSize(offset uint64, n int) ErrorDetail {
	return ErrorDetail{Kind: DetailOffsetAndSize, Offset: offset, Size: uint64(n)}
}

func sizeDetail(n uint64) ErrorDetail { return ErrorDetail{Kind: DetailSize, Size: n} }

func countDetail(n int) ErrorDetail { return ErrorDetail{Kind: DetailCount, Count: uint32(n)} }

func reqOffsetAndSize(i int, offset uint64, n int) ErrorDetail {
	return ErrorDetail{Kind: DetailReqOffsetAndSize, ReqIdx: uint32(i), Offset: offset, Size: uint64(n)}
}

// InjectedErrorLog writes each injected error to a file as an entry of 256
// bytes, numbers least byte first:
//
//	0    time in microseconds since 1970, 8 bytes
//	8    thread, 8
//	16   offset, 8; size, 8; count, 4; request, 4
//	40   what the kind of detail says, 48: the head of the data, a file's name
//	88   kind, 1; bytes used of those 48, 1; retryable, 1; data loss, 1
//	92   operation, 32; file, 72; message, 56: their ends, with a zero byte
//	252  zero
//
// It survives a killed process. It is safe for concurrent use; a nil log
// records nothing.
type InjectedErrorLog struct {
	f    *os.File
	next atomic.Int64
}

// NewInjectedErrorLog makes or empties the file.
func NewInjectedErrorLog(path string) (*InjectedErrorLog, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, rocksdb.IOError("While open injected error log", path, err.Error()).Wrap(err)
	}
	return &InjectedErrorLog{f: f}, nil
}

// putSuffix copies the end of s that fits before a zero byte.
func putSuffix(dst []byte, s string) {
	if n := len(dst) - 1; len(s) > n {
		s = s[len(s)-n:]
	}
	copy(dst, s)
}

// Record adds an entry; failing to is let go.
func (l *InjectedErrorLog) Record(op, name string, d ErrorDetail, s *rocksdb.Status) {
	if l == nil {
		return
	}
	var e [InjectedErrorLogSize]byte
	le := binary.LittleEndian
	le.PutUint64(e[0:], uint64(time.Now().UnixMicro()))
	le.PutUint64(e[8:], env.Default().GetThreadID())
	le.PutUint64(e[16:], d.Offset)
	le.PutUint64(e[24:], d.Size)
	le.PutUint32(e[32:], d.Count)
	le.PutUint32(e[36:], d.ReqIdx)
	copy(e[40:88], d.payload[:])
	e[88] = d.Kind
	switch d.Kind {
	case DetailTwoFiles, DetailSizeAndHead, DetailOffsetSizeAndHead:
		e[89] = byte(min(d.Size, MaxDetailPayloadLen))
	}
	if s.Retryable {
		e[90] = 1
	}
	if s.DataLoss {
		e[91] = 1
	}
	putSuffix(e[92:124], op)
	putSuffix(e[124:196], name)
	putSuffix(e[196:252], s.Message)
	_, _ = l.f.WriteAt(e[:], l.next.Add(InjectedErrorLogSize)-InjectedErrorLogSize)
}

// Flush makes the entries durable.
func (l *InjectedErrorLog) Flush() {
	if l != nil {
		_ = l.f.Sync()
	}
}

// Close flushes and closes the file.
func (l *InjectedErrorLog) Close() error {
	if l == nil {
		return nil
	}
	l.Flush()
	return l.f.Close()
}

// HexHead prints the first bytes of data.
func HexHead(data []byte, maxBytes int) string {
	n := min(len(data), maxBytes)
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%02x", data[i])
	}
	if len(data) > maxBytes {
		b.WriteString(" ...")
	}
	return b.String()
}
