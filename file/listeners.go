// Port of the notification helpers of file/{writable_file_writer,
// random_access_file_reader,sequence_file_reader}.h.

package file

import (
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// ioListeners tells listeners of a file's operations. Its zero value tells
// nobody.
type ioListeners struct {
	listeners   []rocksdb.EventListener
	path        string
	temperature rocksdb.Temperature
}

func newIOListeners(all []rocksdb.EventListener, path string, temp rocksdb.Temperature) ioListeners {
	l := ioListeners{path: path, temperature: temp}
	for _, e := range all {
		if e.ShouldBeNotifiedOnFileIO() {
			l.listeners = append(l.listeners, e)
		}
	}
	return l
}

func (l *ioListeners) active() bool { return len(l.listeners) != 0 }

// start is the time for notify; the zero time when nobody listens.
func (l *ioListeners) start() (t time.Time) {
	if l.active() {
		t = time.Now()
	}
	return t
}

// notify tells of a finished operation, and of its failure. op is what failed,
// infoType what finished: for a write they differ.
func (l *ioListeners) notify(start time.Time, infoType, op rocksdb.FileOperationType, offset uint64, length int, err error) {
	if !l.active() {
		return
	}
	info := &rocksdb.FileOperationInfo{
		Type: infoType, Path: l.path, Temperature: l.temperature, Offset: offset,
		Length: length, StartTS: start, Duration: time.Since(start), Status: err,
	}
	for _, e := range l.listeners {
		switch infoType {
		case rocksdb.FileOperationTypeRead:
			e.OnFileReadFinish(info)
		case rocksdb.FileOperationTypeWrite:
			e.OnFileWriteFinish(info)
		case rocksdb.FileOperationTypeTruncate:
			e.OnFileTruncateFinish(info)
		case rocksdb.FileOperationTypeClose:
			e.OnFileCloseFinish(info)
		case rocksdb.FileOperationTypeFlush:
			e.OnFileFlushFinish(info)
		case rocksdb.FileOperationTypeSync, rocksdb.FileOperationTypeFsync:
			e.OnFileSyncFinish(info)
		case rocksdb.FileOperationTypeRangeSync:
			e.OnFileRangeSyncFinish(info)
		}
	}
	if err == nil {
		return
	}
	failed := &rocksdb.IOErrorInfo{IOStatus: err, Operation: op, FilePath: l.path, Length: length, Offset: offset}
	for _, e := range l.listeners {
		e.OnIOError(failed)
	}
}

// notify tells of a read.
func (r *SequentialFileReader) notify(start time.Time, offset uint64, n int, err error) {
	r.listeners.notify(start, rocksdb.FileOperationTypeRead, rocksdb.FileOperationTypeRead, offset, n, err)
}
