// Port of include/rocksdb/trace_reader_writer.h.

package rocksdb

// TraceWriter is where a trace goes. Its calls are not concurrent.
type TraceWriter interface {
	// Write adds a record; data is the caller's again when it returns.
	Write(data []byte) error
	Close() error
	// GetFileSize is the bytes written so far.
	GetFileSize() uint64
}

// TraceReader is where a trace comes from. Its calls are not concurrent.
type TraceReader interface {
	// Read gives the next record, which is valid until the next call. At the
	// end it is Incomplete, in the middle of a record Corruption.
	Read() ([]byte, error)
	// Reset goes back to the beginning.
	Reset() error
	Close() error
}
