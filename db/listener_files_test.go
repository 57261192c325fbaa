// Port of db/listener_test.cc (files, memtables, families, background errors).

package db_test

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// tableFS fails to make tables, or loses what is written to them.
type tableFS struct {
	rocksdb.FileSystemWrapper
	fail       atomic.Bool
	dropWrites atomic.Bool
}

func (f *tableFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	if filepath.Ext(name) != ".sst" {
		return f.Target().NewWritableFile(name, o)
	}
	if f.fail.Load() {
		return nil, rocksdb.NotSupported("not supported")
	}
	w, err := f.Target().NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	return &tableFSFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, nil
}

type tableFSFile struct {
	rocksdb.FSWritableFileWrapper
	fs *tableFS
}

func (f *tableFSFile) Append(data []byte, o *rocksdb.IOOptions) error {
	if f.fs.dropWrites.Load() {
		return nil
	}
	return f.FSWritableFileWrapper.Append(data, o)
}

func (f *tableFSFile) AppendWithVerification(data []byte, o *rocksdb.IOOptions, info rocksdb.DataVerificationInfo) error {
	if f.fs.dropWrites.Load() {
		return nil
	}
	return f.FSWritableFileWrapper.AppendWithVerification(data, o, info)
}

func newTableFS(x *dbTest, clock rocksdb.SystemClock) (*tableFS, rocksdb.Env) {
	fs := &tableFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	return fs, env.NewCompositeEnvWrapper(env.Default(), fs, clock)
}

// creationListener counts the tables of flushes and of compactions.
type creationListener struct {
	rocksdb.EventListenerBase
	t           *testing.T
	mu          sync.Mutex
	counts      [6]int // flush started, finished, failed; the same of compaction
	lastFailure error
}

// base is the first of a reason's counts, -1 for other reasons.
func (l *creationListener) base(r rocksdb.TableFileCreationReason) int {
	switch r {
	case rocksdb.TableFileCreationReasonFlush:
		return 0
	case rocksdb.TableFileCreationReasonCompaction:
		return 3
	}
	return -1
}

func (l *creationListener) checkBrief(info *rocksdb.TableFileCreationBriefInfo) {
	if info.DBName == "" || info.CFName == "" || info.FilePath == "" || info.JobID <= 0 {
		l.t.Errorf("%+v", info)
	}
}

func (l *creationListener) OnTableFileCreationStarted(info *rocksdb.TableFileCreationBriefInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.base(info.Reason); i >= 0 {
		l.counts[i]++
	}
	l.checkBrief(info)
}

func (l *creationListener) OnTableFileCreated(info *rocksdb.TableFileCreationInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.base(info.Reason)
	if i >= 0 {
		l.counts[i+1]++
	}
	l.checkBrief(&info.TableFileCreationBriefInfo)
	if info.FileChecksum != rocksdb.UnknownFileChecksum || info.FileChecksumFuncName != rocksdb.UnknownFileChecksumFuncName {
		l.t.Errorf("checksum %q of %q", info.FileChecksum, info.FileChecksumFuncName)
	}
	p := &info.TableProperties
	switch {
	case info.Status != nil && i >= 0:
		l.counts[i+2]++
		l.lastFailure = info.Status
	case info.Status == nil && p.NumRangeDeletions == 0:
		if p.DataSize == 0 || p.RawKeySize == 0 || p.RawValueSize == 0 || p.NumDataBlocks == 0 || p.NumEntries == 0 {
			l.t.Errorf("%+v", p)
		}
	}
}

// take checks the counts and sets them to zero.
func (l *creationListener) take(want ...int) error {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts != [6]int(want) {
		l.t.Errorf("flush started, finished, failed, compaction started, finished, failed: %d, not %d", l.counts, want)
	}
	l.counts = [6]int{}
	return l.lastFailure
}

func TestEventListenerTest_TableFileCreationListenersTest(t *testing.T) {
	x := newDBTest(t)
	l := &creationListener{t: t}
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Listeners = []rocksdb.EventListener{l}
	fs, e := newTableFS(x, newSteppedClock())
	o.Env = e
	x.destroyAndReopen(o)
	put := func(v string) {
		x.mustPut(0, "foo", v)
		x.mustPut(0, "bar", v)
	}
	fails := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("no error")
		}
	}
	flush := func() error { return x.db.Flush(nil) }

	put("a")
	x.must(flush())
	x.must(x.full().TestWaitForFlushMemTable(nil))
	l.take(1, 1, 0, 0, 0, 0)
	put("b")
	fs.fail.Store(true)
	fails(flush())
	if err := l.take(1, 1, 1, 0, 0, 0); !rocksdb.IsNotSupported(err) {
		t.Error(err)
	}
	fs.fail.Store(false)

	x.reopen(o)
	put("c")
	x.must(flush())
	x.must(x.full().TestWaitForFlushMemTable(nil))
	l.take(1, 1, 0, 0, 0, 0)
	x.compact(0, "a", "z")
	x.must(x.full().TestWaitForCompact())
	l.take(0, 0, 0, 1, 1, 0)

	put("d")
	x.must(flush())
	fs.fail.Store(true)
	fails(x.db.CompactRange(nil, []byte("a"), []byte("z")))
	fails(x.full().TestWaitForCompact())
	if err := l.take(1, 1, 0, 1, 1, 1); !rocksdb.IsNotSupported(err) {
		t.Error(err)
	}
	fs.fail.Store(false)
	x.destroyAndReopen(o)

	// A table that holds nothing is told of as aborted.
	x.mustPut(0, "baz", "z")
	x.mustSingleDelete(0, "baz")
	x.must(flush())
	if err := l.take(1, 1, 1, 0, 0, 0); rocksdb.CodeOf(err) != rocksdb.CodeAborted {
		t.Error(err)
	}
	x.mustPut(0, "baz", "z")
	x.must(flush())
	x.must(x.db.DeleteRange(nil, []byte("a"), []byte("z")))
	x.must(flush())
	x.compact(0, "", "")
	x.must(x.full().TestWaitForCompact())
	if err := l.take(2, 2, 0, 1, 1, 1); rocksdb.CodeOf(err) != rocksdb.CodeAborted {
		t.Error(err)
	}
}

// sealedListener wants a flush's entries not newer than the last sealed memtable.
type sealedListener struct {
	rocksdb.EventListenerBase
	t                *testing.T
	latest           atomic.Uint64
	sealed, finished atomic.Int64
}

func (l *sealedListener) OnMemTableSealed(info *rocksdb.MemTableInfo) {
	l.sealed.Add(1)
	l.latest.Store(uint64(info.FirstSeqno))
}

func (l *sealedListener) OnFlushCompleted(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	l.finished.Add(1)
	if uint64(info.SmallestSeqno) > l.latest.Load() {
		l.t.Errorf("flushed from %d, sealed from %d", info.SmallestSeqno, l.latest.Load())
	}
}

func TestEventListenerTest_MemTableSealedListenerTest(t *testing.T) {
	x := newDBTest(t)
	l := &sealedListener{t: t}
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.Listeners = []rocksdb.EventListener{l}
	x.destroyAndReopen(o)
	for i := range 10 {
		x.mustPut(0, "foo"+string(rune('0'+i)), "aaa")
		x.mustPut(0, "bar"+string(rune('0'+i)), "bbb")
		x.flush(0)
	}
	x.must(x.full().TestWaitForBackgroundWork())
	if l.sealed.Load() != 10 || l.finished.Load() != 10 {
		t.Errorf("%d sealed, %d flushed", l.sealed.Load(), l.finished.Load())
	}
}

type handleListener struct {
	rocksdb.EventListenerBase
	t     *testing.T
	names []string // by ID
	count atomic.Int64
}

func (l *handleListener) OnColumnFamilyHandleDeletionStarted(h rocksdb.ColumnFamilyHandle) {
	if l.names[h.GetID()] != h.GetName() {
		l.t.Errorf("family %d is %s", h.GetID(), h.GetName())
	}
	l.count.Add(1)
}

func TestEventListenerTest_ColumnFamilyHandleDeletionStartedListenerTest(t *testing.T) {
	x := newDBTest(t)
	names := []string{"pikachu", "eevee", "Mewtwo"}
	l := &handleListener{t: t, names: append([]string{"default"}, names...)}
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.Listeners = []rocksdb.EventListener{l}
	x.createAndReopenWithCF(names, o)
	if len(x.cfs) != 4 {
		t.Fatalf("%d families", len(x.cfs))
	}
	before := l.count.Load() // of the handles before the families' options had the listener
	for i := 3; i > 0; i-- {
		x.cfs[i].Close()
	}
	x.cfs = x.cfs[:1]
	if n := l.count.Load() - before; n != 3 {
		t.Errorf("%d handles closed", n)
	}
}

// suppressListener lets the first background error pass and mends its cause.
type suppressListener struct {
	rocksdb.EventListenerBase
	fs    *tableFS
	count atomic.Int64
}

func (l *suppressListener) OnBackgroundError(_ rocksdb.BackgroundErrorReason, bgError *error) {
	if l.count.Load() == 0 {
		*bgError = nil
		l.fs.dropWrites.Store(false)
	}
	l.count.Add(1)
}

func TestEventListenerTest_BackgroundErrorListenerFailedCompactionTest(t *testing.T) {
	x := newDBTest(t)
	fs, e := newTableFS(x, newSteppedClock())
	l := &suppressListener{fs: fs}
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = e, true
	o.DisableAutoCompactions, o.Level0FileNumCompactionTrigger, o.ParanoidChecks = true, 2, true
	o.MemtableFactory = newSpecialSkipListFactory(2)
	o.Listeners = []rocksdb.EventListener{l}
	x.destroyAndReopen(o)
	// The third round begins the second memtable's flush.
	for i := range 3 {
		x.mustPut(0, "key0", "val")
		if i > 0 {
			x.must(x.full().TestWaitForFlushMemTable(nil))
		}
		x.mustPut(0, "key1", "val")
	}
	if n := x.numTableFilesAtLevel(0, 0); n != 2 {
		t.Fatalf("%d tables", n)
	}
	fs.dropWrites.Store(true)
	x.must(x.db.SetOptions(map[string]string{"disable_auto_compactions": "false"}))
	x.must(x.full().TestWaitForCompact())
	if n := l.count.Load(); n != 1 {
		t.Errorf("%d errors", n)
	}
	// One more flush makes a compaction due again, unless it was tried already.
	x.mustPut(0, "key0", "val")
	x.must(x.full().TestWaitForFlushMemTable(nil))
	x.must(x.full().TestWaitForCompact())
	if n := x.numTableFilesAtLevel(0, 0); n < 1 {
		t.Errorf("%d tables at level 0", n)
	}
}

// fileOperation is a kind of file operation and how often it was told of.
type fileOperation struct{ all, ok, blob, manifest atomic.Int64 }

// ioListener counts file operations.
type ioListener struct {
	rocksdb.EventListenerBase
	t                                                *testing.T
	reads, writes, flushes, closes, syncs, truncates fileOperation
}

func (l *ioListener) count(op *fileOperation, info *rocksdb.FileOperationInfo) {
	op.all.Add(1)
	if info.Status == nil {
		op.ok.Add(1)
	}
	if strings.HasSuffix(info.Path, ".blob") {
		op.blob.Add(1)
	}
	if strings.Contains(info.Path, "MANIFEST") {
		op.manifest.Add(1)
	}
	if info.Duration <= 0 {
		l.t.Errorf("%+v", info)
	}
}

func (l *ioListener) ShouldBeNotifiedOnFileIO() bool                    { return true }
func (l *ioListener) OnFileReadFinish(info *rocksdb.FileOperationInfo)  { l.count(&l.reads, info) }
func (l *ioListener) OnFileWriteFinish(info *rocksdb.FileOperationInfo) { l.count(&l.writes, info) }
func (l *ioListener) OnFileFlushFinish(info *rocksdb.FileOperationInfo) { l.count(&l.flushes, info) }
func (l *ioListener) OnFileCloseFinish(info *rocksdb.FileOperationInfo) { l.count(&l.closes, info) }
func (l *ioListener) OnFileSyncFinish(info *rocksdb.FileOperationInfo)  { l.count(&l.syncs, info) }
func (l *ioListener) OnFileTruncateFinish(info *rocksdb.FileOperationInfo) {
	l.count(&l.truncates, info)
}

// wantSome wants operations, of which those that succeeded are not more.
func (op *fileOperation) wantSome(t *testing.T, what string) {
	t.Helper()
	if op.ok.Load() > op.all.Load() || op.all.Load() == 0 {
		t.Errorf("%d %s, %d succeeded", op.all.Load(), what, op.ok.Load())
	}
}

func ioOptions(x *dbTest, l *ioListener) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.Listeners = []rocksdb.EventListener{l}
	return o
}

func TestEventListenerTest_OnFileOperationTest(t *testing.T) {
	x := newDBTest(t)
	l := &ioListener{t: t}
	o := ioOptions(x, l)
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "aaa")
	x.flush(0)
	x.must(x.full().TestWaitForFlushMemTable(nil))
	l.writes.wantSome(t, "writes")
	l.flushes.wantSome(t, "flushes")
	x.close()
	x.reopen(o)
	l.reads.wantSome(t, "reads")
	l.closes.wantSome(t, "closes")
	l.syncs.wantSome(t, "syncs")
}

// putBlobs writes three flushes of two or four keys, of which the second writes
// the last two of the first again.
func (x *dbTest) putBlobs() {
	x.Helper()
	for i := 1; i <= 4; i++ {
		x.mustPut(0, "Key"+string(rune('0'+i)), "blob_value"+string(rune('0'+i)))
	}
	x.flush(0)
	x.mustPut(0, "Key3", "new_blob_value3")
	x.mustPut(0, "Key4", "new_blob_value4")
	x.flush(0)
	x.mustPut(0, "Key5", "blob_value5")
	x.mustPut(0, "Key6", "blob_value6")
	x.flush(0)
}

// blobListenerOptions have blob files for everything, and their collection.
func (x *dbTest) blobListenerOptions(l rocksdb.EventListener) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing, o.DisableAutoCompactions = x.env, true, true
	o.EnableBlobFiles, o.MinBlobSize, o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff = true, 0, true, 0.5
	o.Listeners = []rocksdb.EventListener{l}
	return o
}

func TestEventListenerTest_OnBlobFileOperationTest(t *testing.T) {
	x := newDBTest(t)
	l := &ioListener{t: t}
	o := x.blobListenerOptions(l)
	x.destroyAndReopen(o)
	x.putBlobs()
	if l.writes.blob.Load() == 0 || l.flushes.blob.Load() == 0 {
		t.Errorf("%d writes, %d flushes", l.writes.blob.Load(), l.flushes.blob.Load())
	}
	x.close()
	x.reopen(o)
	if l.closes.blob.Load() == 0 || l.syncs.blob.Load() == 0 {
		t.Errorf("%d closes, %d syncs", l.closes.blob.Load(), l.syncs.blob.Load())
	}
}

func TestEventListenerTest_ReadManifestAndWALOnRecovery(t *testing.T) {
	x := newDBTest(t)
	l := &ioListener{t: t}
	o := ioOptions(x, l)
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "aaa")
	x.close()
	before := l.reads.manifest.Load()
	x.reopen(o)
	if n := l.reads.manifest.Load(); n <= before {
		t.Errorf("%d reads of the MANIFEST, %d before", n, before)
	}
}

// blobJobListener checks what flushes and compactions say of blob files.
type blobJobListener struct {
	rocksdb.EventListenerBase
	t       *testing.T
	mu      sync.Mutex
	flushed []string
	calls   int
}

func (l *blobJobListener) called(flushed ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	l.flushed = append(l.flushed, flushed...)
}

func (l *blobJobListener) checkAdditions(db rocksdb.DBRef, infos []rocksdb.BlobFileAdditionInfo) {
	d := db.(*dbimpl.DBImpl)
	if len(infos) == 0 {
		l.t.Error("no blob files")
	}
	d.TestWithMutex(func() {
		vs := d.TestVersionSet().GetColumnFamilySet().GetDefault().Current().StorageInfo()
		for _, a := range infos {
			m := vs.GetBlobFileMetaData(a.BlobFileNumber)
			if m == nil || m.GetBlobFileNumber() != a.BlobFileNumber || m.GetTotalBlobBytes() != a.TotalBlobBytes ||
				m.GetTotalBlobCount() != a.TotalBlobCount || a.BlobFilePath == "" {
				l.t.Errorf("%+v, %+v", a, m)
			}
		}
	})
}

func (l *blobJobListener) OnFlushCompleted(db rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	l.called(info.FilePath)
	if info.BlobCompressionType != rocksdb.NoCompression {
		l.t.Error(info.BlobCompressionType)
	}
	l.checkAdditions(db, info.BlobFileAdditionInfos)
}

func checkGarbage(t *testing.T, infos []rocksdb.BlobFileGarbageInfo) {
	t.Helper()
	for _, g := range infos {
		if g.BlobFileNumber == 0 || g.GarbageBlobCount == 0 || g.GarbageBlobBytes == 0 || g.BlobFilePath == "" {
			t.Errorf("%+v", g)
		}
	}
}

func (l *blobJobListener) OnCompactionCompleted(db rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.called()
	if info.BlobCompressionType != rocksdb.NoCompression || len(info.BlobFileGarbageInfos) == 0 {
		l.t.Errorf("%+v", info)
	}
	l.checkAdditions(db, info.BlobFileAdditionInfos)
	checkGarbage(l.t, info.BlobFileGarbageInfos)
}

// takeCalls gives the calls since the last one.
func (l *blobJobListener) takeCalls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.calls
	l.calls = 0
	return n
}

func TestEventListenerTest_BlobDBOnFlushCompleted(t *testing.T) {
	x := newDBTest(t)
	l := &blobJobListener{t: t}
	o := x.blobListenerOptions(l)
	o.EnableBlobGarbageCollection = false
	x.destroyAndReopen(o)
	x.mustPut(0, "Key1", "blob_value1")
	x.mustPut(0, "Key2", "blob_value2")
	x.flush(0)
	x.mustPut(0, "Key3", "blob_value3")
	x.flush(0)
	for i := 1; i <= 3; i++ {
		x.wantGet(0, "Key"+string(rune('0'+i)), "blob_value"+string(rune('0'+i)))
	}
	x.must(x.full().TestWaitForBackgroundWork())
	if n := l.takeCalls(); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestEventListenerTest_BlobDBOnCompactionCompleted(t *testing.T) {
	x := newDBTest(t)
	l := &blobJobListener{t: t}
	x.destroyAndReopen(x.blobListenerOptions(l))
	x.putBlobs()
	x.must(x.full().TestWaitForBackgroundWork())
	l.takeCalls()
	x.compact(0, "", "") // collects the oldest blob file
	x.must(x.full().TestWaitForBackgroundWork())
	if l.takeCalls() == 0 {
		t.Error("no calls")
	}
}

func TestEventListenerTest_BlobDBCompactFiles(t *testing.T) {
	x := newDBTest(t)
	l := &blobJobListener{t: t}
	x.destroyAndReopen(x.blobListenerOptions(l))
	x.putBlobs()
	x.must(x.full().TestWaitForBackgroundWork())
	var info rocksdb.CompactionJobInfo
	out, err := x.db.CompactFiles(nil, l.flushed, 1, -1, &info)
	x.must(err)
	blobs := 0
	for _, name := range out {
		if strings.HasSuffix(name, ".blob") {
			blobs++
		}
	}
	if blobs == 0 {
		t.Errorf("no blob file in %q", out)
	}
	for _, a := range info.BlobFileAdditionInfos {
		if a.BlobFileNumber == 0 || a.TotalBlobBytes == 0 || a.TotalBlobCount == 0 || a.BlobFilePath == "" {
			t.Errorf("%+v", a)
		}
	}
	checkGarbage(t, info.BlobFileGarbageInfos)
}

// blobFileListener counts blob files.
type blobFileListener struct {
	rocksdb.EventListenerBase
	t                         *testing.T
	started, created, deleted atomic.Int64
}

func (l *blobFileListener) OnBlobFileCreationStarted(info *rocksdb.BlobFileCreationBriefInfo) {
	l.started.Add(1)
	if info.DBName == "" || info.CFName == "" || info.FilePath == "" || info.JobID <= 0 {
		l.t.Errorf("%+v", info)
	}
}

func (l *blobFileListener) OnBlobFileCreated(info *rocksdb.BlobFileCreationInfo) {
	l.created.Add(1)
	if info.DBName == "" || info.CFName == "" || info.FilePath == "" || info.JobID <= 0 || info.TotalBlobCount == 0 || info.TotalBlobBytes == 0 ||
		info.FileChecksum != rocksdb.UnknownFileChecksum || info.FileChecksumFuncName != rocksdb.UnknownFileChecksumFuncName || info.Status != nil {
		l.t.Errorf("%+v", info)
	}
}

func (l *blobFileListener) OnBlobFileDeleted(info *rocksdb.BlobFileDeletionInfo) {
	l.deleted.Add(1)
	if info.DBName == "" || info.FilePath == "" || info.JobID <= 0 || info.Status != nil {
		l.t.Errorf("%+v", info)
	}
}

func TestEventListenerTest_BlobDBFileTest(t *testing.T) {
	x := newDBTest(t)
	l := &blobFileListener{t: t}
	x.destroyAndReopen(x.blobListenerOptions(l))
	x.putBlobs()
	x.compact(0, "", "")
	x.must(x.full().TestWaitForCompact())
	started, created, deleted := l.started.Load(), l.created.Load(), l.deleted.Load()
	if started != created || started == 0 || deleted == 0 || deleted >= created {
		t.Errorf("%d started, %d created, %d deleted", started, created, deleted)
	}
}
