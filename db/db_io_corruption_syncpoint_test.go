//go:build syncpoint

// Port of db/db_io_failure_test.cc (DBIOCorruptionTest).

package db_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// corruptionFS damages what one read gives. It has good copies for reads that
// ask for verification, and its own buffers for those that bring none.
type corruptionFS struct {
	rocksdb.FileSystemWrapper
	ownBuffers, reconstructs bool

	mu      sync.Mutex
	rnd     random
	trigger int // the read to damage, counted from when it was set; -1: none
	reads   int
	name    string // of the file with the damage, until it is read again
	from    uint64
	to      uint64
}

func (f *corruptionFS) SupportedOps() int64 {
	ops := int64(1 << contract.AsyncIO)
	if f.ownBuffers {
		ops |= 1 << contract.FSBuffer
	}
	if f.reconstructs {
		ops |= 1 << contract.VerifyAndReconstructRead
	}
	return ops
}

func (f *corruptionFS) setTrigger(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trigger, f.reads, f.name = n, 0, ""
}

// fired tells whether the damage has been done.
func (f *corruptionFS) fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trigger < 0
}

// reread tells whether what was damaged has been read again.
func (f *corruptionFS) reread() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.to > 0 && f.name == ""
}

// pass is what becomes of a read.
func (f *corruptionFS) pass(name string, offset uint64, data []byte, o *rocksdb.IOOptions) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := offset + uint64(len(data))
	if o != nil && o.VerifyAndReconstructRead {
		if name == f.name && offset < f.to && f.from < end {
			f.name = ""
		}
		return data
	}
	if len(data) == 0 {
		return data // nothing to damage
	}
	if f.reads++; f.trigger >= 0 && f.reads >= f.trigger {
		f.trigger, f.name, f.from, f.to = -1, name, offset, end
		return []byte(f.rnd.str(len(data)))
	}
	return data
}

type corruptionFile struct {
	contract.FSRandomAccessFileWrapper
	fs   *corruptionFS
	name string
}

func (f *corruptionFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	r, err := f.Target().NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &corruptionFile{contract.FSRandomAccessFileWrapper{FSRandomAccessFile: r}, f, name}, nil
}

func (r *corruptionFile) Read(offset uint64, n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	data, err := r.FSRandomAccessFile.Read(offset, n, o, scratch)
	if err != nil {
		return data, err
	}
	return scratch[:copy(scratch, r.fs.pass(r.name, offset, data, o))], nil
}

func (r *corruptionFile) MultiRead(reqs []contract.FSReadRequest, o *rocksdb.IOOptions) error {
	for i := range reqs {
		q := &reqs[i]
		into := q.Scratch
		if r.fs.ownBuffers {
			into = make([]byte, q.Len)
			q.FSScratch = into
		}
		q.Result, q.Status = r.Read(q.Offset, q.Len, o, into)
	}
	return nil
}

// ReadAsync is MultiRead: asynchronous MultiGet uses it, upstream's without
// coroutines does not.
func (r *corruptionFile) ReadAsync(q *contract.FSReadRequest, o *rocksdb.IOOptions, cb func(*contract.FSReadRequest)) (contract.IOHandle, error) {
	reqs := []contract.FSReadRequest{*q}
	err := r.MultiRead(reqs, o)
	*q = reqs[0]
	cb(q)
	return nil, err
}

func (*corruptionFile) Prefetch(uint64, int, *rocksdb.IOOptions) error {
	return rocksdb.NotSupported("Prefetch")
}

type corruptionSequentialFile struct {
	contract.FSSequentialFileWrapper
	fs     *corruptionFS
	name   string
	offset uint64
}

func (f *corruptionFS) NewSequentialFile(name string, o *rocksdb.FileOptions) (rocksdb.FSSequentialFile, error) {
	r, err := f.Target().NewSequentialFile(name, o)
	if err != nil || strings.HasSuffix(name, "IDENTITY") {
		return r, err
	}
	return &corruptionSequentialFile{FSSequentialFileWrapper: contract.FSSequentialFileWrapper{FSSequentialFile: r}, fs: f, name: name}, nil
}

func (r *corruptionSequentialFile) Read(n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	data, err := r.FSSequentialFile.Read(n, o, scratch)
	if err != nil || len(data) == 0 {
		return data, err
	}
	data = scratch[:copy(scratch, r.fs.pass(r.name, r.offset, data, o))]
	r.offset += uint64(len(data))
	return data, nil
}

type ioCorruptionTest struct {
	*dbTest
	fs *corruptionFS
	o  rocksdb.Options
	ro rocksdb.ReadOptions
}

// eachCorruption runs f without and with buffers of the file system,
// asynchronous reads and good copies.
func eachCorruption(t *testing.T, f func(x *ioCorruptionTest)) {
	for i := range 8 {
		own, async, reconstructs := i&4 != 0, i&2 != 0, i&1 != 0
		t.Run(fmt.Sprintf("buffers=%v,async=%v,reconstructs=%v", own, async, reconstructs), func(t *testing.T) {
			x := &ioCorruptionTest{dbTest: newDBTest(t), ro: rocksdb.DefaultReadOptions()}
			x.fs = &corruptionFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}, ownBuffers: own,
				reconstructs: reconstructs, rnd: newRandom(), trigger: -1}
			x.o = x.onFS(x.currentOptions(), x.fs)
			x.o.Statistics = monitoring.CreateDBStatistics()
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.NumFileReadsForAutoReadahead = 0
			x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			x.o.DisableAutoCompactions, x.o.MaxFileOpeningThreads = true, 0
			x.ro.AsyncIO = async
			x.reopen(x.o)
			f(x)
		})
	}
}

// wantRetries checks the error of what met damage, and how often it was read
// again; more tells that it may be more often.
func (x *ioCorruptionTest) wantRetries(err error, want int, more bool) {
	x.Helper()
	tries, good := x.ticker(contract.FileReadCorruptionRetryCount), x.ticker(contract.FileReadCorruptionRetrySuccessCount)
	switch {
	case !x.fs.reconstructs:
		if !errors.Is(err, rocksdb.ErrCorruption) || tries != 0 {
			x.Errorf("error %v after %d retries, which are impossible", err, tries)
		}
	case err != nil:
		x.Error(err)
	case tries != good || tries < want || !more && tries > want:
		x.Errorf("%d retries, %d with success, not %d", tries, good, want)
	}
}

// wantKey1 checks, where damage was repaired, that reads go on.
func (x *ioCorruptionTest) wantKey1() {
	x.Helper()
	if !x.fs.reconstructs {
		return
	}
	v, err := x.db.Get(&x.ro, []byte("key1"))
	x.must(err)
	same(x, "value", string(v.Data()), "val1")
	v.Release()
}

func TestDBIOCorruptionTest_GetReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.mustPut(0, "key1", "val1")
		x.flush(0)
		x.fs.setTrigger(1)
		v, err := x.db.Get(&x.ro, []byte("key1"))
		x.wantRetries(err, 1, false)
		if err == nil {
			same(x, "value", string(v.Data()), "val1")
			v.Release()
		}
	})
}

func TestDBIOCorruptionTest_IterReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.mustPut(0, "key1", "val1")
		x.flush(0)
		x.fs.setTrigger(1)
		x.ro.ReadaheadSize = 65536
		it := x.db.NewIterator(&x.ro)
		defer it.Close()
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			n++
		}
		x.wantRetries(it.Err(), 1, false)
		same(x, "complete", n == 1, x.fs.reconstructs)
	})
}

func TestDBIOCorruptionTest_MultiGetReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.puts(0, "key1", "val1", "key2", "val2")
		x.flush(0)
		x.fs.setTrigger(1)
		values, errs := x.multiGetRaw(0, x.ro, "key1", "key2")
		for _, err := range errs {
			x.wantRetries(err, 1, false)
		}
		if x.fs.reconstructs {
			same(x, "values", strings.Join(values, ","), "val1,val2")
		}
	})
}

func TestDBIOCorruptionTest_CompactionReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.puts(0, "key1", "val1", "key3", "val3")
		x.flush(0)
		x.mustPut(0, "key2", "val2")
		x.flush(0)
		x.fs.setTrigger(1)
		x.wantRetries(x.db.CompactRange(nil, nil, nil), 1, false)
		x.wantKey1()
	})
}

func TestDBIOCorruptionTest_FlushReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.mustPut(0, "key1", "val1")
		x.fs.setTrigger(1)
		x.wantRetries(x.db.Flush(nil), 2, true)
		x.wantKey1()
	})
}

func TestDBIOCorruptionTest_ManifestCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.mustPut(0, "key1", "val1")
		x.flush(0)
		syncpoint.SetCallBack("VersionSet::Recover:StartManifestRead", func(any) { x.fs.setTrigger(0) })
		syncpoint.EnableProcessing()
		err := x.tryReopen(x.o)
		endSyncPoints()
		if err != nil && !x.fs.reconstructs {
			same(x, "retries", x.o.Statistics.GetTickerCount(contract.FileReadCorruptionRetryCount), 0)
			x.wantIs(err, rocksdb.ErrCorruption)
			return
		}
		x.wantRetries(err, 2, true)
	})
}

// damageOnce damages the first data that passes a point.
func (x *ioCorruptionTest) damageOnce(point string) {
	done := false
	syncpoint.SetCallBack(point, func(arg any) {
		if data := arg.([]byte); !done {
			copy(data, x.fs.rnd.str(len(data)))
			done = true
		}
	})
	syncpoint.EnableProcessing()
}

func TestDBIOCorruptionTest_FooterReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.damageOnce("ReadFooterFromFileInternal:0")
		x.mustPut(0, "key1", "val1")
		err := x.db.Flush(nil)
		endSyncPoints()
		x.wantRetries(err, 1, false)
		x.wantKey1()
		if !x.fs.reconstructs && x.ticker(contract.SSTFooterCorruptionCount) == 0 {
			t.Error("the footer is not counted as damaged")
		}
	})
}

func TestDBIOCorruptionTest_TablePropertiesCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		x.damageOnce("ReadTablePropertiesHelper:0")
		x.mustPut(0, "key1", "val1")
		err := x.db.Flush(nil)
		endSyncPoints()
		x.wantRetries(err, 1, false)
		x.wantKey1()
	})
}

func TestDBIOCorruptionTest_DBOpenReadCorruptionRetry(t *testing.T) {
	eachCorruption(t, func(x *ioCorruptionTest) {
		if !x.fs.reconstructs {
			return // nothing to go on with
		}
		const tables, keys = 3, 100
		name := func(i int) string { return fmt.Sprintf("%3d", i) }
		for i := range tables * keys {
			x.mustPut(0, "key"+name(i), "val"+name(i))
			if i%keys == keys-1 {
				x.flush(0)
			}
		}
		syncpoint.SetCallBack("SanitizeOptions::AfterChangeMaxOpenFiles", func(arg any) { *arg.(*int) = 11 })
		syncpoint.EnableProcessing()
		defer endSyncPoints()
		for trigger := 1; ; trigger++ {
			x.close()
			x.fs.setTrigger(trigger)
			x.reopen(x.o)
			for i := range tables * keys {
				x.wantGet(0, "key"+name(i), "val"+name(i))
			}
			if !x.fs.fired() {
				return
			}
			if !x.fs.reread() {
				t.Fatalf("damage of read %d was not noticed", trigger)
			}
		}
	})
}
