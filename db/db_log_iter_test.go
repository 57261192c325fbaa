// Port of db/db_log_iter_test.cc.

package db_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
)

func (x *dbTest) logIterOptions() rocksdb.Options {
	o := x.currentOptions()
	o.WALTTLSeconds = 1000
	return o
}

func (x *dbTest) updatesSince(seq rocksdb.SequenceNumber) *rocksdb.TransactionLogIterator {
	x.Helper()
	it, err := x.db.GetUpdatesSince(seq, nil)
	x.must(err)
	x.Cleanup(func() { it.Close() })
	if !it.Valid() {
		x.Fatal("no batch")
	}
	return it
}

// readRecords counts the batches and gives the last sequence number.
func (x *dbTest) readRecords(it *rocksdb.TransactionLogIterator) (n int, last rocksdb.SequenceNumber) {
	x.Helper()
	for ; it.Valid(); it.Next() {
		b := it.GetBatch()
		if b.Sequence <= last {
			x.Errorf("batch %d after %d", b.Sequence, last)
		}
		x.must(it.Err())
		last = b.Sequence
		n++
	}
	return n, last
}

func (x *dbTest) expectRecords(want int, it *rocksdb.TransactionLogIterator) {
	x.Helper()
	if n, _ := x.readRecords(it); n != want || it.Err() != nil {
		x.Errorf("%d batches, not %d; %v", n, want, it.Err())
	}
	x.must(it.Close())
}

// eachLogIter runs f with a fresh database of each style of compaction.
func eachLogIter(t *testing.T, f func(x *dbTest, o rocksdb.Options)) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.logIterOptions()
		x.destroyAndReopen(o)
		f(x, o)
	}
}

func TestDBTestXactLogIterator_TransactionLogIterator(t *testing.T) {
	eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		big := dummyString(1024, 'a')
		x.mustPut(0, "key1", big)
		x.mustPut(1, "key2", big)
		x.mustPut(1, "key2", big)
		if n := x.db.GetLatestSequenceNumber(); n != 3 {
			t.Errorf("latest is %d", n)
		}
		x.expectRecords(3, x.updatesSince(0))
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
		x.mustPut(0, "key4", big)
		x.mustPut(1, "key5", big)
		x.mustPut(0, "key6", big)
		x.expectRecords(6, x.updatesSince(0))
		if _, err := x.db.GetUpdatesSince(7, nil); !rocksdb.IsNotFound(err) {
			t.Errorf("what is not written yet: %v", err)
		}
	})
}

func TestDBTestXactLogIterator_TransactionLogIteratorStallAtLastRecord(t *testing.T) {
	eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
		x.mustPut(0, "key1", dummyString(1024, 'a'))
		it := x.updatesSince(0)
		it.Next()
		if it.Valid() || it.Err() != nil {
			t.Errorf("after the last: %v, %v", it.Valid(), it.Err())
		}
		x.mustPut(0, "key2", dummyString(1024, 'a'))
		it.Next()
		if !it.Valid() || it.Err() != nil {
			t.Errorf("with another: %v, %v", it.Valid(), it.Err())
		}
		x.must(it.Close())
	})
}

func TestDBTestXactLogIterator_TransactionLogIteratorCheckAfterRestart(t *testing.T) {
	eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
		x.mustPut(0, "key1", dummyString(1024, 'a'))
		x.mustPut(0, "key2", dummyString(1023, 'a'))
		x.flush(0)
		x.reopen(o)
		x.expectRecords(2, x.updatesSince(0))
	})
}

func TestDBTestXactLogIterator_TransactionLogIteratorCorruptedLog(t *testing.T) {
	eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
		for i := range 1024 {
			x.mustPut(0, fmt.Sprintf("key%d", i), dummyString(10, 'a'))
		}
		x.flush(0)
		x.must(x.db.FlushWAL(false))
		x.must(x.full().DisableFileDeletions())
		files, err := x.db.GetSortedWalFiles()
		x.must(err)
		if len(files) == 0 {
			t.Fatal("no logs")
		}
		x.must(os.Truncate(x.dir+files[0].PathName(), int64(files[0].SizeFileBytes/2)))
		x.must(x.full().EnableFileDeletions())
		x.mustPut(0, "key1025", dummyString(10, 'a'))
		x.must(x.db.FlushWAL(false))

		it := x.updatesSince(0)
		n, last := x.readRecords(it)
		if n == 0 || last >= 1025 || it.Err() == nil {
			t.Errorf("%d batches up to %d, %v", n, last, it.Err())
		}
		x.must(it.Close())
		// Behind the gap there is one.
		x.expectRecords(1, x.updatesSince(last+1))
	})
}

func TestDBTestXactLogIterator_TransactionLogIteratorBatchOperations(t *testing.T) {
	eachLogIter(t, func(x *dbTest, o rocksdb.Options) {
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		b := rocksdb.NewWriteBatch()
		big := []byte(dummyString(1024, 'a'))
		x.must(b.PutCF(x.cf(1), []byte("key1"), big))
		x.must(b.PutCF(x.cf(0), []byte("key2"), big))
		x.must(b.PutCF(x.cf(1), []byte("key3"), big))
		x.must(b.DeleteCF(x.cf(0), []byte("key2")))
		x.must(x.db.Write(nil, b))
		x.flush(1)
		x.flush(0)
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
		x.mustPut(1, "key4", string(big))
		x.expectRecords(2, x.updatesSince(3))
	})
}

// recordLister writes down the records of a batch.
type recordLister struct {
	writebatch.HandlerBase
	seen string
}

func (l *recordLister) PutCF(cf uint32, key, value []byte) error {
	l.seen += fmt.Sprintf("Put(%d, %s, %d)", cf, key, len(value))
	return nil
}

func (l *recordLister) DeleteCF(cf uint32, key []byte) error {
	l.seen += fmt.Sprintf("Delete(%d, %s)", cf, key)
	return nil
}

func (l *recordLister) LogData(blob []byte) { l.seen += fmt.Sprintf("LogData(%s)", blob) }

func TestDBTestXactLogIterator_TransactionLogIteratorBlobs(t *testing.T) {
	x := newDBTest(t)
	o := x.logIterOptions()
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	b := rocksdb.NewWriteBatch()
	big := []byte(dummyString(1024, 'a'))
	x.must(b.PutCF(x.cf(1), []byte("key1"), big))
	x.must(b.PutCF(x.cf(0), []byte("key2"), big))
	x.must(b.PutLogData([]byte("blob1")))
	x.must(b.PutCF(x.cf(1), []byte("key3"), big))
	x.must(b.PutLogData([]byte("blob2")))
	x.must(b.DeleteCF(x.cf(0), []byte("key2")))
	x.must(x.db.Write(nil, b))
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	var l recordLister
	x.must(x.updatesSince(0).GetBatch().Batch.Iterate(&l))
	if want := "Put(1, key1, 1024)Put(0, key2, 1024)LogData(blob1)Put(1, key3, 1024)LogData(blob2)Delete(0, key2)"; l.seen != want {
		t.Errorf("%s, not %s", l.seen, want)
	}
}
