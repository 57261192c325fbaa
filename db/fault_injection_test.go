// Port of db/fault_injection_test.cc. Differs: UninstalledCompaction is in
// fault_injection_syncpoint_test.go; the configuration with the file system in
// memory has its own on disk.

package db_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// faultConfig is how the database of a faultTest is laid out and made safe.
type faultConfig int

const (
	faultDefault faultConfig = iota
	faultDifferentDataDir
	faultWalDir
	faultSyncWal
	faultWalDirSyncWal
	faultMultiLevels
)

type resetMethod int

const (
	resetDropUnsyncedData resetMethod = iota
	resetDropRandomUnsyncedData
	resetDeleteUnsyncedFiles
	resetDropAndDeleteUnsynced
)

// faultTest is a database whose file system forgets what was not synced.
type faultTest struct {
	*dbTest
	sequential bool
	syncWal    bool // what is to stay is synced in the WAL; otherwise compacted
	options    rocksdb.Options
}

func newFaultTest(t *testing.T, config faultConfig, sequential bool) *faultTest {
	x := &faultTest{dbTest: newDBTest(t), sequential: sequential}
	x.fault.SetInjectUnsyncedDataLoss(true)
	o := rocksdb.DefaultOptions()
	o.Env, o.ParanoidChecks, o.CreateIfMissing = x.env, true, true
	top := t.TempDir()
	switch config {
	case faultDifferentDataDir:
		o.DBPaths = []rocksdb.DBPath{{Path: filepath.Join(top, "data"), TargetSize: 1000000}}
	case faultWalDir, faultWalDirSyncWal:
		o.WALDir = filepath.Join(top, "wal")
	case faultMultiLevels:
		o.WriteBufferSize, o.TargetFileSizeBase = 64<<10, 64<<10
		o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 2, 2, 4
		o.MaxBytesForLevelBase, o.MaxWriteBufferNumber = 128<<10, 2
		o.MaxBackgroundCompactions, o.MaxBackgroundFlushes = 8, 8
	}
	x.syncWal = config >= faultSyncWal
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache = rocksdb.NewLRUCache(100)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	o.CreateIfMissing = false
	x.options = o
	return x
}

func (x *faultTest) key(i int) string {
	n := uint64(i)
	if !x.sequential {
		n *= 0x5bd1e995
		n ^= n << 24
	}
	return fmt.Sprintf("%016d", int32(n))
}

func (x *faultTest) value(i int) string { return util.NewRandom(uint32(i)).RandomString(1000) }

func (x *faultTest) build(sync bool, from, n int) {
	x.Helper()
	for i := from; i < from+n; i++ {
		x.must(x.db.Put(&rocksdb.WriteOptions{Sync: sync}, []byte(x.key(i)), []byte(x.value(i))))
	}
}

// verify wants the values to be right, and all there when found is true.
func (x *faultTest) verify(from, n int, found bool) {
	x.Helper()
	for i := from; i < from+n; i++ {
		v, err := x.db.Get(nil, []byte(x.key(i)))
		switch {
		case err == nil && string(v.Data()) != x.value(i):
			x.Fatalf("value %d is wrong", i)
		case err != nil && (found || !rocksdb.IsNotFound(err)):
			x.Fatalf("value %d: %v", i, err)
		}
	}
}

func (x *faultTest) open() {
	x.Helper()
	x.close()
	x.fault.ResetState()
	x.must(x.tryReopen(x.options))
}

func (x *faultTest) reset(m resetMethod, rnd *util.Random) {
	x.Helper()
	if x.fault.HasOpenFile() {
		x.Fatal("files are open")
	}
	switch m {
	case resetDropUnsyncedData, resetDropAndDeleteUnsynced:
		x.fault.DropUnsyncedFileData()
	case resetDropRandomUnsyncedData:
		x.fault.DropRandomUnsyncedFileData(rnd)
	}
	if m >= resetDeleteUnsyncedFiles {
		x.fault.SetFilesystemActive(true, nil) // to delete
		x.must(x.fault.DeleteFilesCreatedAfterLastDirSync(nil))
	}
}

// reopenWithFault reopens after nothing was written.
func (x *faultTest) reopenWithFault(m resetMethod) {
	x.Helper()
	x.close()
	x.reset(m, nil)
	x.open()
}

// partialCompact writes pre values that are made safe and post ones that are
// not, loses what is not safe, and verifies.
func (x *faultTest) partialCompact(m resetMethod, pre, post int, rnd *util.Random) {
	x.Helper()
	it := x.db.NewIterator(nil)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		x.must(x.db.Delete(nil, bytes.Clone(it.Key())))
	}
	x.must(it.Status())
	x.must(it.Close())
	x.flush(0)
	x.build(x.syncWal, 0, pre)
	if !x.syncWal {
		x.must(x.db.CompactRange(nil, nil, nil))
	}
	x.build(false, pre, post)

	x.fault.SetFilesystemActive(false, nil)
	x.close()
	x.reset(m, rnd)
	x.open()
	x.verify(0, pre, true)
	x.verify(pre, post, false)
	x.waitCompaction()
	x.verify(0, pre, true)
	x.verify(pre, post, false)
}

func (x *faultTest) waitCompaction() {
	x.must(x.full().TestWaitForCompact())
	x.must(x.db.Put(nil, nil, nil))
}

func TestFaultInjectionTestSplitted_FaultTest(t *testing.T) {
	iterations, most := 3, 2000
	if testing.Short() {
		iterations, most = 1, 300
	}
	for config := faultDefault; config <= faultMultiLevels; config++ {
		for _, sequential := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d,sequential=%t", config, sequential), func(t *testing.T) {
				x := newFaultTest(t, config, sequential)
				rnd := util.NewRandom(301)
				for range iterations {
					pre, post := int(rnd.Uniform(most)), int(rnd.Uniform(most))
					x.partialCompact(resetDropUnsyncedData, pre, post, nil)
					x.reopenWithFault(resetDropUnsyncedData)
					x.partialCompact(resetDropRandomUnsyncedData, pre, post, rnd)
					x.reopenWithFault(resetDropUnsyncedData)
					x.partialCompact(resetDropAndDeleteUnsynced, pre, post, nil)
					x.reopenWithFault(resetDropAndDeleteUnsynced)
					x.partialCompact(resetDeleteUnsyncedFiles, pre, post, nil)
					x.reopenWithFault(resetDeleteUnsyncedFiles)
				}
			})
		}
	}
}

// eachFaultConfig runs f with the default configuration and both orders.
func eachFaultConfig(t *testing.T, f func(x *faultTest)) {
	for _, sequential := range []bool{false, true} {
		t.Run(fmt.Sprintf("sequential=%t", sequential), func(t *testing.T) { f(newFaultTest(t, faultDefault, sequential)) })
	}
}

// syncAfterRoll syncs the second of two values that are in two WALs.
func syncAfterRoll(t *testing.T, syncPut, syncFlush bool) {
	eachFaultConfig(t, func(x *faultTest) {
		wake := x.blockThreads(rocksdb.HighPriority)
		x.build(false, 1, 1)
		x.must(x.db.Flush(&rocksdb.FlushOptions{}))
		x.build(syncPut, 2, 1)
		x.must(x.db.FlushWAL(syncFlush))
		x.fault.SetFilesystemActive(false, nil)
		x.close()
		x.reset(resetDropAndDeleteUnsynced, nil)
		wake()
		x.open()
		x.verify(1, 2, true)
	})
}

func TestFaultInjectionTest_WriteOptionSyncTest(t *testing.T) { syncAfterRoll(t, true, false) }

func TestFaultInjectionTest_ManualLogSyncTest(t *testing.T) { syncAfterRoll(t, false, true) }

func TestFaultInjectionTest_WriteBatchWalTerminationTest(t *testing.T) {
	eachFaultConfig(t, func(x *faultTest) {
		b := rocksdb.NewWriteBatch()
		x.must(b.Put([]byte("cats"), []byte("dogs")))
		b.MarkWalTerminationPoint()
		x.must(b.Put([]byte("boys"), []byte("girls")))
		x.must(x.db.Write(&rocksdb.WriteOptions{Sync: true}, b))
		x.fault.SetFilesystemActive(false, nil)
		x.reopenWithFault(resetDropAndDeleteUnsynced)
		if v := x.get(0, "cats"); v != "dogs" {
			t.Errorf("cats: %q", v)
		}
		if v := x.get(0, "boys"); v != "NOT_FOUND" {
			t.Errorf("boys: %q", v)
		}
	})
}

func TestFaultInjectionFSTest_ReadUnsyncedData(t *testing.T) {
	fs := fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
	fs.SetInjectUnsyncedDataLoss(true)
	if !fs.ReadUnsyncedData() {
		t.Fatal("does not read unsynced data")
	}
	for i := range 10 {
		readUnsynced(t, fs, util.NewRandom(uint32(1000+i)))
	}
}

// readUnsynced reads a file in two parts, while it is being written.
func readUnsynced(t *testing.T, fs *fsutil.FaultInjectionTestFS, rnd *util.Random) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "read_unsynced")
	data := []byte(rnd.RandomString(int(rnd.Uniform(10000)) + 1))
	w, err := fs.NewWritableFile(name, nil)
	must(err)
	synced := int(rnd.Uniform(len(data) + 1))
	must(w.Append(data[:synced], nil))
	if synced > 0 {
		must(w.Sync(nil))
	}
	must(w.Append(data[synced:], nil))
	size, err := fs.GetFileSize(name, nil)
	must(err)
	if size != uint64(len(data)) {
		t.Fatalf("size %d of %d", size, len(data))
	}
	r, err := fs.NewSequentialFile(name, nil)
	must(err)
	defer func() { must(r.Close()) }()
	read := func(want []byte, n int) {
		t.Helper()
		got, err := r.Read(n, nil, make([]byte, n))
		must(err)
		if !bytes.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("%d bytes read, not those of the file", len(got))
		}
	}
	first := int(rnd.Uniform(len(data) + 1))
	read(data, first)
	if rnd.OneIn(2) {
		must(w.Sync(nil))
	}
	if rnd.OneIn(2) {
		more := []byte(rnd.RandomString(int(rnd.Uniform(1000)) + 1))
		must(w.Append(more, nil))
		data = append(data, more...)
	}
	if rnd.OneIn(2) {
		must(w.Sync(nil))
	}
	closed := rnd.OneIn(2)
	if closed {
		must(w.Close(nil))
	}
	read(data[first:], int(rnd.Uniform(len(data)+1)))
	if !closed {
		must(w.Close(nil))
	}
}

// fileOpenContract is a file system and a new file under a contract.
func fileOpenContract(t *testing.T, c contract.FileOpenContract) (fs *fsutil.FaultInjectionTestFS, name string, w contract.FSWritableFile) {
	fs = fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
	name = filepath.Join(t.TempDir(), "file_open_contract")
	o := contract.DefaultFileOptions()
	o.OpenContract = c
	w, err := fs.NewWritableFile(name, &o)
	if err != nil {
		t.Fatal(err)
	}
	return fs, name, w
}

func TestFaultInjectionFSTest_FileOpenContractRejectsReadersWhileOpenForWrite(t *testing.T) {
	fs, name, w := fileOpenContract(t, contract.FileOpenNoReadersWhileOpenForWrite)
	if _, err := fs.NewRandomAccessFile(name, nil); contract.CodeOf(err) != contract.CodeNotSupported {
		t.Errorf("reader beside the writer: %v", err)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	r, err := fs.NewRandomAccessFile(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFaultInjectionFSTest_FileOpenContractAllowsSyncFileButRejectsReopenedWrite(t *testing.T) {
	fs, name, w := fileOpenContract(t, contract.FileOpenNoReopenForWrite)
	opts := contract.DefaultFileOptions()
	for _, err := range []error{w.Append([]byte("abc"), nil), w.Close(nil), fs.SyncFile(name, &opts, nil, false)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again, err := fs.ReopenWritableFile(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Append([]byte("d"), nil); contract.CodeOf(err) != contract.CodeNotSupported {
		t.Errorf("append to a reopened file: %v", err)
	}
	if err := again.Close(nil); err != nil {
		t.Fatal(err)
	}
}

func TestFaultInjectionFSTest_FileOpenContractAllowsCreateAfterDelete(t *testing.T) {
	fs, name, w := fileOpenContract(t, contract.FileOpenNoReopenForWrite)
	for _, err := range []error{w.Append([]byte("abc"), nil), w.Close(nil), env.DefaultFileSystem().DeleteFile(name, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again, err := fs.NewWritableFile(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{again.Append([]byte("def"), nil), again.Close(nil), fs.DeleteFile(name, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
