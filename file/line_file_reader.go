// Port of file/line_file_reader.{h,cc}.

package file

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const lineBufferSize = 8192

// LineFileReader reads a file line by line.
type LineFileReader struct {
	r         *SequentialFileReader
	buf       []byte
	rest      []byte // read and not handed out
	line      []byte
	atEOF     bool
	err       error
	lineCount uint64
}

// NewLineFileReader takes r over.
func NewLineFileReader(r *SequentialFileReader) *LineFileReader {
	return &LineFileReader{r: r, buf: make([]byte, lineBufferSize)}
}

// CreateLineFileReader opens a file. o may be nil.
func CreateLineFileReader(fs rocksdb.FileSystem, name string, opts *rocksdb.FileOptions, o *SequentialReaderOptions) (*LineFileReader, error) {
	r, err := CreateSequentialFileReader(fs, name, opts, o)
	if err != nil {
		return nil, err
	}
	return NewLineFileReader(r), nil
}

// ReadLine gives the next line without its newline, valid until the next call.
// Not ok is the file's end, or an error that GetStatus tells. What follows the
// last newline is no line.
func (l *LineFileReader) ReadLine(pri rocksdb.IOPriority) (line []byte, ok bool) {
	l.line = l.line[:0]
	for l.err == nil {
		if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
			l.line = append(l.line, l.rest[:i]...)
			l.rest = l.rest[i+1:]
			l.lineCount++
			return l.line, true
		}
		l.line = append(l.line, l.rest...)
		l.rest = nil
		if l.atEOF {
			return nil, false
		}
		l.rest, l.err = l.r.Read(lineBufferSize, l.buf, pri, nil)
		l.atEOF = len(l.rest) < lineBufferSize
	}
	return nil, false
}

// GetLineNumber is that of the line last read, from 1.
func (l *LineFileReader) GetLineNumber() uint64 { return l.lineCount }

// GetStatus is the error that reading ended with, nil at the file's end.
func (l *LineFileReader) GetStatus() error { return l.err }

// Close closes the file.
func (l *LineFileReader) Close() error { return l.r.Close() }
