// Port of db/blob/blob_log_writer.{h,cc}. Differs: what follows an element is
// not checked; records are never flushed one by one.

package blob

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// BlobLogWriter writes one blob file: a header, records, a footer. It belongs to
// one goroutine and owns the file.
type BlobLogWriter struct {
	dest     *file.WritableFileWriter // nil once closed
	number   uint64
	offset   uint64 // where the next element goes
	clock    rocksdb.SystemClock
	stats    rocksdb.Statistics
	useFsync bool
	header   []byte // of a record; scratch
}

// NewBlobLogWriter writes to an empty file.
func NewBlobLogWriter(dest *file.WritableFileWriter, clock rocksdb.SystemClock, stats rocksdb.Statistics, number uint64,
	useFsync bool) *BlobLogWriter {
	return &BlobLogWriter{dest: dest, clock: clock, stats: stats, number: number, useFsync: useFsync}
}

// GetLogNumber is the file's number.
func (w *BlobLogWriter) GetLogNumber() uint64 { return w.number }

// File is the file being written.
func (w *BlobLogWriter) File() *file.WritableFileWriter { return w.dest }

func ioOptions(wo *rocksdb.WriteOptions) *rocksdb.IOOptions {
	o := new(rocksdb.IOOptions)
	file.PrepareIOFromWriteOptions(wo, o)
	return o
}

func (w *BlobLogWriter) append(wo *rocksdb.WriteOptions, parts ...[]byte) error {
	o := ioOptions(wo)
	n := 0
	for _, p := range parts {
		if err := w.dest.Append(o, p, 0); err != nil {
			return err
		}
		n += len(p)
	}
	w.offset += uint64(n)
	monitoring.RecordTick(w.stats, rocksdb.BlobDBBlobFileBytesWritten, uint64(n))
	return nil
}

// WriteHeader begins the file.
func (w *BlobLogWriter) WriteHeader(wo *rocksdb.WriteOptions, h *blobformat.BlobLogHeader) error {
	return w.append(wo, h.EncodeTo(nil))
}

// AddRecord appends a blob and tells where its value lies.
func (w *BlobLogWriter) AddRecord(wo *rocksdb.WriteOptions, key, value []byte) (blobOffset uint64, err error) {
	r := blobformat.BlobLogRecord{Key: key, Value: value}
	w.header = r.EncodeHeaderTo(w.header[:0])
	blobOffset = w.offset + blobformat.BlobLogRecordHeaderSize + uint64(len(key))
	return blobOffset, w.append(wo, w.header, key, value)
}

// Sync makes what was written durable.
func (w *BlobLogWriter) Sync(wo *rocksdb.WriteOptions) error {
	syncpoint.Process("BlobLogWriter::Sync")
	watch := stopwatch.NewStopWatch(w.clock, w.stats, rocksdb.HistBlobDBBlobFileSyncMicros)
	err := w.dest.Sync(ioOptions(wo), w.useFsync)
	watch.Stop()
	if err == nil {
		monitoring.RecordTick(w.stats, rocksdb.BlobDBBlobFileSynced, 1)
	}
	return err
}

// AppendFooter ends the file, syncs and closes it. The checksum's method and
// value are "" when there is none. The file is closed on an error too.
func (w *BlobLogWriter) AppendFooter(wo *rocksdb.WriteOptions, f *blobformat.BlobLogFooter) (method, value string, err error) {
	if w.dest.SeenError() {
		w.Close()
		return "", "", rocksdb.IOError("Seen Error. Skip closing.")
	}
	if err = w.append(wo, f.EncodeTo(nil)); err == nil {
		err = w.Sync(wo)
	}
	if err != nil {
		w.Close()
		return "", "", err
	}
	dest := w.dest
	w.dest = nil
	if err = dest.Close(ioOptions(wo)); err != nil {
		return "", "", err
	}
	if m := dest.GetFileChecksumFuncName(); m != rocksdb.UnknownFileChecksumFuncName {
		method = m
	}
	if v := dest.GetFileChecksum(); v != rocksdb.UnknownFileChecksum {
		value = v
	}
	return method, value, nil
}

// Close gives the file up, as it is.
func (w *BlobLogWriter) Close() {
	if w.dest != nil {
		_ = w.dest.Close(nil)
		w.dest = nil
	}
}
