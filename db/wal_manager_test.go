// Port of db/wal_manager_test.cc.

package db

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// walTest is a directory of archived logs on an Env in memory.
type walTest struct {
	t         *testing.T
	env       *mockenv.MockEnv
	fs        rocksdb.FileSystem
	dir       string
	dbOptions options.ImmutableDBOptions
	m         *WalManager
	lastSeq   rocksdb.SequenceNumber
	writer    *wal.Writer
	number    uint64
}

func newWalTest(t *testing.T, clock rocksdb.SystemClock, set func(o *options.ImmutableDBOptions)) *walTest {
	x := &walTest{t: t, env: mockenv.Create(env.Default()), dir: "/wal_manager_test"}
	x.fs = x.env.GetFileSystem()
	io := &rocksdb.IOOptions{}
	x.check(x.fs.CreateDirIfMissing(x.dir, io))
	x.check(x.fs.CreateDirIfMissing(filename.ArchivalDirectory(x.dir), io))
	o := rocksdb.DefaultDBOptions()
	o.DBPaths = []rocksdb.DBPath{{Path: x.dir, TargetSize: 1 << 62}}
	o.WALDir = x.dir
	o.Env = x.env
	x.dbOptions = options.NewImmutableDBOptions(&o)
	x.dbOptions.Clock = clock
	if clock == nil {
		x.dbOptions.Clock = x.env.GetSystemClock()
	}
	if set != nil {
		set(&x.dbOptions)
	}
	x.reopen()
	return x
}

func (x *walTest) check(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *walTest) reopen() { x.m = NewWalManager(&x.dbOptions) }

func (x *walTest) openWriter(path string, number uint64) *wal.Writer {
	x.t.Helper()
	fo := rocksdb.DefaultFileOptions()
	w, err := file.CreateWritableFileWriter(x.fs, path, &fo, nil)
	x.check(err)
	return wal.NewWriter(w, wal.WriterOptions{LogNumber: number})
}

func batchWith(t *testing.T, seq rocksdb.SequenceNumber, key, value string) []byte {
	t.Helper()
	b := writebatch.New()
	if err := b.Put([]byte(key), []byte(value)); err != nil {
		t.Fatal(err)
	}
	b.SetSequence(seq)
	return b.Data()
}

func (x *walTest) put(key, value string) {
	x.t.Helper()
	x.lastSeq++
	x.check(x.writer.AddRecord(nil, batchWith(x.t, x.lastSeq, key, value), x.lastSeq))
}

func (x *walTest) rollTheLog() {
	x.t.Helper()
	if x.writer != nil {
		x.check(x.writer.Close(nil))
	}
	x.number++
	x.writer = x.openWriter(filename.ArchivedLogFileName(x.dir, x.number), x.number)
}

func (x *walTest) createArchiveLogs(logs, entries int) {
	x.t.Helper()
	for range logs {
		x.rollTheLog()
		for k := range entries {
			x.put(strconv.Itoa(k), strings.Repeat("a", 1024))
		}
	}
}

func (x *walTest) iterator(seq rocksdb.SequenceNumber) *TransactionLogIterator {
	x.t.Helper()
	it, err := x.m.GetUpdatesSince(seq, nil, func() rocksdb.SequenceNumber { return x.lastSeq })
	x.check(err)
	x.t.Cleanup(func() { it.Close() })
	return it
}

// archived gives the number of archived logs and their size in bytes.
func (x *walTest) archived() (n int, size uint64) {
	x.t.Helper()
	dir := filename.ArchivalDirectory(x.dir)
	names, err := x.fs.GetChildren(dir, &rocksdb.IOOptions{})
	x.check(err)
	for _, name := range names {
		if f, ok := filename.ParseFileName(name, ""); ok && f.Type == rocksdb.WalFile {
			s, err := x.fs.GetFileSize(dir+"/"+name, &rocksdb.IOOptions{})
			x.check(err)
			n++
			size += s
		}
	}
	return n, size
}

func TestWalManagerTest_ReadFirstRecordCache(t *testing.T) {
	x := newWalTest(t, nil, nil)
	path := x.dir + "/000001.log"
	w := x.openWriter(path, 1)
	firstRecord := func(want rocksdb.SequenceNumber) {
		t.Helper()
		if got, err := x.m.readFirstRecord(rocksdb.AliveLogFile, 1); err != nil || got != want {
			t.Fatalf("%d, %v; not %d", got, err, want)
		}
	}
	if seq, err := x.m.readFirstLine(path, 1); err != nil || seq != 0 {
		t.Fatal(seq, err)
	}
	firstRecord(0)
	x.check(w.AddRecord(nil, batchWith(t, 10, "foo", "bar"), 10))
	x.check(w.Close(nil))
	firstRecord(10)
	// No reads any more, as it is remembered.
	x.check(x.fs.DeleteFile(path, &rocksdb.IOOptions{}))
	firstRecord(10)
}

func TestWalManagerTest_WALArchivalSizeLimit(t *testing.T) {
	x := newWalTest(t, nil, func(o *options.ImmutableDBOptions) { o.WALSizeLimitMB = 1000 })
	x.createArchiveLogs(20, 1000)
	x.m.PurgeObsoleteWALFiles()
	if n, _ := x.archived(); n != 20 {
		t.Fatalf("%d logs", n)
	}
	x.dbOptions.WALSizeLimitMB = 8
	x.reopen()
	x.m.PurgeObsoleteWALFiles()
	if n, size := x.archived(); size > 8<<20 || n == 0 {
		t.Fatalf("%d logs of %d bytes", n, size)
	}
	x.dbOptions.WALTTLSeconds = 1
	x.env.GetSystemClock().SleepForMicroseconds(2 * 1000 * 1000)
	x.reopen()
	x.m.PurgeObsoleteWALFiles()
	if n, _ := x.archived(); n != 0 {
		t.Fatalf("%d logs", n)
	}
}

func TestWalManagerTest_WALArchivalTtl(t *testing.T) {
	x := newWalTest(t, nil, func(o *options.ImmutableDBOptions) { o.WALTTLSeconds = 1000 })
	x.createArchiveLogs(20, 100)
	x.m.PurgeObsoleteWALFiles()
	if n, _ := x.archived(); n != 20 {
		t.Fatalf("%d logs", n)
	}
	x.dbOptions.WALTTLSeconds = 1
	x.env.GetSystemClock().SleepForMicroseconds(3 * 1000 * 1000)
	x.reopen()
	x.m.PurgeObsoleteWALFiles()
	if n, _ := x.archived(); n != 0 {
		t.Fatalf("%d logs", n)
	}
}

// laggingClock is a second behind another clock.
type laggingClock struct{ rocksdb.SystemClock }

func (c laggingClock) GetCurrentTime() (int64, error) {
	now, err := c.SystemClock.GetCurrentTime()
	return now - 1, err
}

func TestWalManagerTest_WALArchivalTtlClockGoesBackwards(t *testing.T) {
	x := newWalTest(t, nil, func(o *options.ImmutableDBOptions) { o.WALTTLSeconds = 86400 })
	x.dbOptions.Clock = laggingClock{x.dbOptions.Clock}
	x.reopen()
	x.createArchiveLogs(5, 100)
	x.m.PurgeObsoleteWALFiles()
	if n, _ := x.archived(); n != 5 {
		t.Fatalf("%d logs", n)
	}
}

func TestWalManagerTest_TransactionLogIteratorMoveOverZeroFiles(t *testing.T) {
	x := newWalTest(t, nil, nil)
	x.rollTheLog()
	x.put("key1", strings.Repeat("a", 1024))
	// A log without records.
	x.rollTheLog()
	x.rollTheLog()
	x.put("key2", strings.Repeat("a", 1024))
	it := x.iterator(0)
	n := 0
	var last rocksdb.SequenceNumber
	for ; it.Valid(); it.Next() {
		b := it.GetBatch()
		if b.Sequence <= last || b.Batch.Count() != 1 {
			t.Errorf("batch of %d at %d", b.Batch.Count(), b.Sequence)
		}
		last = b.Sequence
		n++
	}
	if err := it.Err(); n != 2 || err != nil {
		t.Errorf("%d batches, %v", n, err)
	}
}

func TestWalManagerTest_TransactionLogIteratorJustEmptyFile(t *testing.T) {
	x := newWalTest(t, nil, nil)
	x.rollTheLog()
	if it := x.iterator(0); it.Valid() {
		t.Error("a batch of nothing")
	}
}

func TestWalManagerTest_TransactionLogIteratorNewFileWhileScanning(t *testing.T) {
	x := newWalTest(t, nil, nil)
	x.createArchiveLogs(2, 100)
	count := func(it *TransactionLogIterator) (n int) {
		for ; it.Valid(); it.Next() {
			n++
		}
		return n
	}
	it := x.iterator(0)
	x.createArchiveLogs(1, 100)
	if n := count(it); n != 200 {
		t.Errorf("%d batches", n)
	}
	if !errors.Is(it.Err(), rocksdb.ErrTryAgain) {
		t.Errorf("%v where there is a new log", it.Err())
	}
	it = x.iterator(0)
	if n := count(it); n != 300 || it.Err() != nil {
		t.Errorf("%d batches, %v", n, it.Err())
	}
}

func TestRetainProbableWalFiles(t *testing.T) {
	var files []rocksdb.LogFile
	for _, seq := range []rocksdb.SequenceNumber{10, 20, 30} {
		files = append(files, rocksdb.LogFile{StartSequence: seq})
	}
	for target, want := range map[rocksdb.SequenceNumber]int{0: 3, 9: 3, 10: 3, 11: 3, 19: 3, 20: 2, 29: 2, 30: 1, 1000: 1} {
		if got := len(retainProbableWalFiles(files, target)); got != want {
			t.Errorf("%d: %d files, not %d", target, got, want)
		}
	}
	if got := retainProbableWalFiles(nil, 5); len(got) != 0 {
		t.Errorf("%d files of none", len(got))
	}
}
