// Port of db/transaction_log_impl.{h,cc}. Differs: Close has to be called; the
// last sequence number comes from a function.

package db

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// BatchResult is a batch as it was written, with the sequence number of its
// first entry.
type BatchResult struct {
	Sequence rocksdb.SequenceNumber
	Batch    *writebatch.WriteBatch // the caller's
}

// TransactionLogIterator gives the batches of a database's logs in the order
// they were written, without gaps: where a batch is missing it ends with an
// error. One goroutine uses it.
type TransactionLogIterator struct {
	m            *WalManager
	checksums    bool
	files        []rocksdb.LogFile
	lastSequence func() rocksdb.SequenceNumber

	start     rocksdb.SequenceNumber // that is looked for
	started   bool                   // a batch at or behind start was found
	valid     bool
	err       error
	fileIndex int
	reader    *wal.Reader // nil before the first file is open

	batch    *writebatch.WriteBatch
	batchSeq rocksdb.SequenceNumber // of the batch's first entry
	lastSeq  rocksdb.SequenceNumber // of its last
}

func newTransactionLogIterator(m *WalManager, o *rocksdb.TransactionLogIteratorReadOptions, seq rocksdb.SequenceNumber,
	files []rocksdb.LogFile, lastSequence func() rocksdb.SequenceNumber) *TransactionLogIterator {
	it := &TransactionLogIterator{m: m, checksums: o == nil || o.VerifyChecksums, files: files, start: seq, lastSequence: lastSequence}
	it.seekToStartSequence()
	return it
}

// Valid tells whether the iterator is at a batch.
func (it *TransactionLogIterator) Valid() bool { return it.started && it.valid }

// Err is nil at a batch and when all was shown; TryAgain when there is more that
// a new iterator will find.
func (it *TransactionLogIterator) Err() error { return it.err }

// GetBatch gives the batch that a valid iterator is at, once.
func (it *TransactionLogIterator) GetBatch() BatchResult {
	r := BatchResult{Sequence: it.batchSeq, Batch: it.batch}
	it.batch = nil
	return r
}

// Next goes on to the next batch. After the last it may be called again later.
func (it *TransactionLogIterator) Next() {
	if it.err == nil {
		it.next(false)
	}
}

// Close closes the log that is open.
func (it *TransactionLogIterator) Close() error {
	it.valid = false
	return it.closeReader()
}

func (it *TransactionLogIterator) closeReader() error {
	if it.reader == nil {
		return nil
	}
	err := it.reader.Close()
	it.reader = nil
	return err
}

// Corruption makes the iterator a wal.Reporter: damage goes to the info log, and
// shows as a gap.
func (it *TransactionLogIterator) Corruption(bytes int, err error, _ uint64) {
	logging.Error(it.m.dbOptions.InfoLog, "dropping %d bytes; %v", bytes, err)
}

// OldLogRecord is part of wal.Reporter.
func (it *TransactionLogIterator) OldLogRecord(int) {}

func (it *TransactionLogIterator) openFile(i int) error {
	it.closeReader()
	f := &it.files[i]
	var err error
	if f.Type == rocksdb.AliveLogFile {
		if it.reader, err = it.m.openLog(filename.LogFileName(it.m.dir, f.LogNumber), f.LogNumber, it.checksums, it); err == nil {
			return nil
		}
		// It may have moved.
	}
	it.reader, err = it.m.openLog(filename.ArchivedLogFileName(it.m.dir, f.LogNumber), f.LogNumber, it.checksums, it)
	return err
}

// read gives the next record, but none that was written after the sequence
// number that may be shown.
func (it *TransactionLogIterator) read() (record []byte, ok bool) {
	for it.lastSeq < it.lastSequence() {
		record, ok = it.reader.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if !ok || len(record) >= writebatch.HeaderSize {
			return record, ok
		}
		it.Corruption(len(record), rocksdb.Corruption("very small log record"), wal.NoLogNumber)
	}
	return nil, false
}

func (it *TransactionLogIterator) fail(err error) {
	it.err = err
	logging.Info(it.m.dbOptions.InfoLog, "%v", err)
}

// seekToStartSequence looks for the batch with start in the first file, and
// without one there for the first batch of the others.
func (it *TransactionLogIterator) seekToStartSequence() {
	it.started, it.valid = false, false
	if len(it.files) == 0 || it.err != nil {
		return
	}
	it.fileIndex = 0
	if err := it.openFile(0); err != nil {
		it.fail(err)
		return
	}
	for {
		record, ok := it.read()
		if !ok {
			break
		}
		if it.take(record); it.valid && it.lastSeq >= it.start {
			it.started = true
			return
		}
		it.valid = false
	}
	if len(it.files) != 1 {
		// Gaps count from there on.
		it.fail(rocksdb.Corruption("Start sequence was not found, skipping to the next available"))
		it.next(true)
	}
}

// next goes to the next batch; seeking is set while the first is looked for.
func (it *TransactionLogIterator) next(seeking bool) {
	it.valid = false
	if !seeking && !it.started {
		it.seekToStartSequence()
		if it.Valid() || it.err != nil {
			return
		}
	}
	for it.reader != nil {
		if it.reader.IsEOF() {
			it.reader.UnmarkEOF()
		}
		if record, ok := it.read(); ok {
			it.take(record)
			if seeking && it.valid {
				it.started = true
			}
			return
		}
		if it.fileIndex+1 >= len(it.files) {
			break
		}
		it.fileIndex++
		if err := it.openFile(it.fileIndex); err != nil {
			it.err = err
			return
		}
	}
	it.err = nil
	if it.lastSeq != it.lastSequence() {
		it.err = rocksdb.TryAgain("Create a new iterator to fetch the new tail.")
	}
}

// take makes a record the current batch, unless batches are missing before it.
func (it *TransactionLogIterator) take(record []byte) {
	batch, err := writebatch.NewFromRep(slices.Clone(record))
	if err != nil {
		it.valid = false
		it.fail(err)
		return
	}
	if expected := it.lastSeq + 1; it.started && batch.Sequence() != expected {
		logging.Info(it.m.dbOptions.InfoLog, "Discontinuity in log records. Got seq=%d, Expected seq=%d, Last flushed seq=%d.",
			batch.Sequence(), expected, it.lastSequence())
		it.started, it.valid = false, false
		it.err = rocksdb.NotFound("Gap in sequence numbers")
		return
	}
	it.batch, it.batchSeq = batch, batch.Sequence()
	// A batch of markers alone takes no sequence number.
	it.lastSeq = max(it.batchSeq+rocksdb.SequenceNumber(batch.Count()), 1) - 1
	it.valid, it.err = true, nil
}
