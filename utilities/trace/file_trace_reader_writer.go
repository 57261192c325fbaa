// Port of utilities/trace/file_trace_reader_writer.{h,cc}. Differs: the writer
// does not buffer.

package trace

import (
	"encoding/binary"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// FileTraceWriter appends records to a file.
type FileTraceWriter struct {
	file rocksdb.FSWritableFile
	size uint64
}

// NewFileTraceWriter makes or empties the file.
func NewFileTraceWriter(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions) (*FileTraceWriter, error) {
	f, err := fs.NewWritableFile(name, opts)
	if err != nil {
		return nil, err
	}
	return &FileTraceWriter{file: f}, nil
}

// Write appends a record.
func (w *FileTraceWriter) Write(data []byte) error {
	if err := w.file.Append(data, nil); err != nil {
		return err
	}
	w.size += uint64(len(data))
	return nil
}

// Close closes the file.
func (w *FileTraceWriter) Close() error { return w.file.Close(nil) }

// GetFileSize is the bytes written.
func (w *FileTraceWriter) GetFileSize() uint64 { return w.size }

// chunk bounds what is allocated on a length's word alone.
const chunk = 64 << 10

// FileTraceReader reads records of a file.
type FileTraceReader struct {
	file   rocksdb.FSRandomAccessFile
	name   string
	offset uint64
	buf    []byte
}

// NewFileTraceReader opens the file.
func NewFileTraceReader(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions) (*FileTraceReader, error) {
	f, err := fs.NewRandomAccessFile(name, opts)
	if err != nil {
		return nil, err
	}
	return &FileTraceReader{file: f, name: name}, nil
}

// Reset goes back to the beginning.
func (r *FileTraceReader) Reset() error {
	if r.file == nil {
		return rocksdb.IOError("TraceReader is closed.")
	}
	r.offset = 0
	return nil
}

// Close closes the file.
func (r *FileTraceReader) Close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.Close()
}

// more reads up to n bytes to the end of buf.
func (r *FileTraceReader) more(n int) (int, error) {
	at := len(r.buf)
	if cap(r.buf) < at+n {
		r.buf = append(make([]byte, 0, max(at+n, 2*cap(r.buf))), r.buf...)
	}
	got, err := r.file.Read(r.offset, n, nil, r.buf[at:at+n])
	if err != nil {
		return 0, err
	}
	copy(r.buf[at:at+n], got)
	r.buf = r.buf[:at+len(got)]
	r.offset += uint64(len(got))
	return len(got), nil
}

// Read gives the next record.
func (r *FileTraceReader) Read() ([]byte, error) {
	if r.file == nil {
		return nil, rocksdb.IOError("TraceReader is closed.")
	}
	r.buf = r.buf[:0]
	start := r.offset
	n, err := r.more(tracereplay.MetadataSize)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, rocksdb.Incomplete()
	case n < tracereplay.MetadataSize:
		return nil, rocksdb.Corruption("Corrupted trace file.").InAt(r.name, start)
	}
	for left := uint64(binary.LittleEndian.Uint32(r.buf[9:])); left > 0; {
		want := int(min(left, chunk))
		n, err := r.more(want)
		if err != nil {
			return nil, err
		}
		if n < want {
			return nil, rocksdb.Corruption("Corrupted trace file.").InAt(r.name, start)
		}
		left -= uint64(n)
	}
	return r.buf, nil
}
