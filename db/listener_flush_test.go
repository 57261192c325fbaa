// Port of db/listener_test.cc (flushes and compactions). Differs: a thread is
// known by its number in GetThreadList, which the infos hold, and by its job's.

package db_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	root "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// collectorOfOne gives every table the property 0.
type collectorOfOne struct{}

func (collectorOfOne) Name() string { return "TestTablePropertiesCollector" }
func (c collectorOfOne) CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	return c
}
func (collectorOfOne) AddUserKey(_, _ []byte, _ rocksdb.EntryType, _ rocksdb.SequenceNumber, _ uint64) error {
	return nil
}
func (collectorOfOne) BlockAdd(_, _, _ uint64) {}
func (collectorOfOne) NeedCompact() bool       { return false }
func (collectorOfOne) Finish(p rocksdb.UserCollectedProperties) error {
	p["0"] = "1"
	return nil
}
func (collectorOfOne) GetReadableProperties() rocksdb.UserCollectedProperties {
	return rocksdb.UserCollectedProperties{"2": "3"}
}

var listenerFamilies = []string{"pikachu", "ilya", "muromec", "dobrynia", "nikitich", "alyosha", "popovich"}

// putToFamilies writes one value to each family after the first, and a blob
// index to family 1 that names a file.
func (x *dbTest) putToFamilies(blobFile uint64) {
	x.Helper()
	for i, name := range listenerFamilies {
		x.mustPut(i+1, name, dummyString(90000, name[0]))
	}
	if blobFile > 0 {
		b := root.NewWriteBatch()
		x.must(b.PutBlobIndex(1, []byte("ditto"), blobformat.EncodeBlob(nil, blobFile, 0, 1<<10, rocksdb.NoCompression)))
		x.must(x.db.Write(nil, b))
	}
}

// tableOf finds a live table of a family.
func tableOf(t *testing.T, db rocksdb.DBRef, cfName string, number uint64) rocksdb.LiveFileMetaData {
	t.Helper()
	for _, f := range db.(*dbimpl.DBImpl).GetLiveFilesMetaData() {
		if f.ColumnFamilyName == cfName && f.FileNumber == number {
			return f
		}
	}
	t.Errorf("table %d is not in family %s", number, cfName)
	return rocksdb.LiveFileMetaData{}
}

func wantWorker(t *testing.T, e rocksdb.Env, id uint64) {
	t.Helper()
	list, err := e.GetThreadList()
	if err != nil || !slices.ContainsFunc(list, func(s rocksdb.ThreadStatus) bool { return s.ThreadID == id }) {
		t.Errorf("thread %d is not listed, %v", id, err)
	}
}

type compactionListener struct {
	rocksdb.EventListenerBase
	x         *dbTest
	mu        sync.Mutex
	compacted []rocksdb.DBRef
}

func (l *compactionListener) OnCompactionCompleted(db rocksdb.DBRef, ci *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.compacted = append(l.compacted, db)
	if len(ci.InputFiles) == 0 || len(ci.InputFiles) != len(ci.InputFileInfos) || len(ci.OutputFiles) == 0 || len(ci.OutputFiles) != len(ci.OutputFileInfos) {
		l.x.Errorf("%d inputs, %d infos, %d outputs, %d infos", len(ci.InputFiles), len(ci.InputFileInfos), len(ci.OutputFiles), len(ci.OutputFileInfos))
	}
	for i, f := range ci.InputFileInfos {
		if f.Level != ci.BaseInputLevel || f.FileNumber != filename.TableFileNameToNumber(ci.InputFiles[i]) {
			l.x.Errorf("input %+v is %s, base level %d", f, ci.InputFiles[i], ci.BaseInputLevel)
		}
	}
	if db.(*dbimpl.DBImpl) != l.x.full() {
		l.x.Error("not the database")
	}
	for i, f := range ci.OutputFileInfos {
		m := tableOf(l.x.T, db, ci.CFName, f.FileNumber)
		if f.Level != ci.OutputLevel || f.FileNumber != filename.TableFileNameToNumber(ci.OutputFiles[i]) || m.Level != f.Level ||
			m.OldestBlobFileNumber != f.OldestBlobFileNumber {
			l.x.Errorf("output %+v is %s, output level %d; %+v", f, ci.OutputFiles[i], ci.OutputLevel, m)
		}
	}
	wantWorker(l.x.T, l.x.env, ci.ThreadID)
	for _, name := range slices.Concat(ci.InputFiles, ci.OutputFiles) {
		if tp := ci.TableProperties[name]; tp == nil || tp.UserCollectedProperties["0"] != "1" {
			l.x.Errorf("properties of %s: %+v", name, tp)
		}
	}
}

func TestEventListenerTest_OnSingleDBCompactionTest(t *testing.T) {
	const buffer = 1000 * 100
	x := newDBTest(t)
	l := &compactionListener{x: x}
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = buffer, buffer, 2*buffer
	o.MaxBytesForLevelMultiplier = 2
	o.Compression, o.EnableThreadTracking, o.Level0FileNumCompactionTrigger = rocksdb.NoCompression, true, 4
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{collectorOfOne{}}
	o.Listeners = []rocksdb.EventListener{l}
	x.createAndReopenWithCF(listenerFamilies, o)
	x.putToFamilies(123)
	for i := range listenerFamilies {
		x.flush(i + 1)
		x.must(x.full().TestWaitForFlushMemTable(x.cf(i + 1)))
		x.compact(i+1, "", "")
		x.must(x.full().TestWaitForCompact())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.compacted) != len(listenerFamilies) {
		t.Errorf("%d compactions", len(l.compacted))
	}
	for _, db := range l.compacted {
		if db != rocksdb.DBRef(x.full()) {
			t.Error("a compaction of another database")
		}
	}
}

// flushListener handles one flush at a time.
type flushListener struct {
	rocksdb.EventListenerBase
	t   *testing.T
	env rocksdb.Env

	mu       sync.Mutex
	created  rocksdb.TableFileCreationInfo // the last one
	dbs      []rocksdb.DBRef
	families []string
	slowdown int
	stop     int
}

func (l *flushListener) OnTableFileCreated(info *rocksdb.TableFileCreationInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.created = *info
	p := &info.TableProperties
	if info.DBName == "" || info.CFName == "" || info.FilePath == "" || info.JobID <= 0 || p.DataSize == 0 || p.RawKeySize == 0 ||
		p.RawValueSize == 0 || p.NumDataBlocks == 0 || p.NumEntries == 0 ||
		info.FileChecksum != rocksdb.UnknownFileChecksum || info.FileChecksumFuncName != rocksdb.UnknownFileChecksumFuncName {
		l.t.Errorf("%+v", info)
	}
	list, err := l.env.GetThreadList()
	if err != nil || !slices.ContainsFunc(list, func(s rocksdb.ThreadStatus) bool {
		return s.OperationType == rocksdb.OpFlush && s.OpProperties[rocksdb.FlushJobID] == uint64(info.JobID) ||
			s.OperationType == rocksdb.OpCompaction && s.OpProperties[rocksdb.CompactionJobID] == uint64(info.JobID)
	}) {
		l.t.Errorf("no thread does job %d, %v", info.JobID, err)
	}
}

func (l *flushListener) OnFlushCompleted(db rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dbs = append(l.dbs, db)
	l.families = append(l.families, info.CFName)
	if info.TriggeredWritesSlowdown {
		l.slowdown++
	}
	if info.TriggeredWritesStop {
		l.stop++
	}
	c := &l.created
	if c.DBName != db.GetName() || c.CFName != info.CFName || c.JobID != info.JobID || c.FilePath != info.FilePath ||
		filename.TableFileNameToNumber(info.FilePath) != info.FileNumber {
		l.t.Errorf("created %+v, flushed %+v", c, info)
	}
	if m := tableOf(l.t, db, info.CFName, info.FileNumber); m.Level != 0 || m.OldestBlobFileNumber != info.OldestBlobFileNumber {
		l.t.Errorf("flushed %+v, live %+v", info, m)
	}
	wantWorker(l.t, l.env, info.ThreadID)
	if v := info.TableProperties.UserCollectedProperties["0"]; v != "1" {
		l.t.Errorf("property 0 is %q", v)
	}
}

// wantFlushes checks what was flushed, in order.
func (l *flushListener) wantFlushes(dbs []rocksdb.DBRef, families []string) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.dbs, dbs) || !slices.Equal(l.families, families) {
		l.t.Errorf("%d flushes of %q, not %d of %q", len(l.dbs), l.families, len(dbs), families)
	}
}

// flushListenerOptions are those that flushListener looks at.
func (x *dbTest) flushListenerOptions(l ...rocksdb.EventListener) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing, o.EnableThreadTracking = x.env, true, true
	o.TablePropertiesCollectorFactories = []rocksdb.TablePropertiesCollectorFactory{collectorOfOne{}}
	o.Listeners = l
	return o
}

func TestEventListenerTest_OnSingleDBFlushTest(t *testing.T) {
	x := newDBTest(t)
	l := &flushListener{t: t, env: x.env}
	o := x.flushListenerOptions(l)
	o.WriteBufferSize = 110 << 10
	x.createAndReopenWithCF(listenerFamilies, o)
	x.putToFamilies(456)
	fo := rocksdb.DefaultFlushOptions()
	fo.ListenerWait = true
	var dbs []rocksdb.DBRef
	for i := range listenerFamilies {
		x.must(x.cf(i + 1).Flush(&fo))
		dbs = append(dbs, x.full())
		l.wantFlushes(dbs, listenerFamilies[:i+1])
	}
}

func TestEventListenerTest_MultiDBMultiListeners(t *testing.T) {
	const numDBs, numListeners = 5, 10
	x := newDBTest(t)
	var listeners []rocksdb.EventListener
	for range numListeners {
		listeners = append(listeners, &flushListener{t: t, env: x.env})
	}
	o := x.flushListenerOptions(listeners...)
	var dbs []*root.DB
	cfs := map[string][]*root.ColumnFamily{}
	for d := range numDBs {
		db, err := root.Open(filepath.Join(t.TempDir(), strconv.Itoa(d)), o)
		x.must(err)
		dbs = append(dbs, db)
		for _, name := range listenerFamilies {
			c, err := db.CreateColumnFamily(o.ColumnFamilyOptions, name)
			x.must(err)
			cfs[name] = append(cfs[name], c)
			x.must(c.Put(nil, []byte(name), []byte(name)))
		}
	}
	fo := rocksdb.DefaultFlushOptions()
	fo.ListenerWait = true
	var refs []rocksdb.DBRef
	var families []string
	for _, name := range listenerFamilies {
		for d := range dbs {
			x.must(cfs[name][d].Flush(&fo))
			refs, families = append(refs, dbs[d].Impl()), append(families, name)
		}
	}
	for _, l := range listeners {
		l.(*flushListener).wantFlushes(refs, families)
	}
	for _, name := range listenerFamilies {
		for _, c := range cfs[name] {
			c.Close()
		}
	}
	for _, db := range dbs {
		x.must(db.Close())
	}
}

func TestEventListenerTest_DisableBGCompaction(t *testing.T) {
	const slowdown = 5
	x := newDBTest(t)
	l := &flushListener{t: t, env: x.env}
	o := x.flushListenerOptions(l)
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 1, slowdown, 100
	o.MaxWriteBufferNumber = 10
	o.CompactionStyle, o.Compression, o.WriteBufferSize = rocksdb.CompactionStyleNone, rocksdb.NoCompression, 100000
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	fo := rocksdb.DefaultFlushOptions()
	fo.AllowWriteStall = true
	for i := 0; x.totalTableFiles(1) < slowdown*10; i++ {
		x.mustPut(1, strconv.Itoa(i), dummyString(10000, 'x'))
		x.must(x.cf(1).Flush(&fo))
	}
	x.must(x.full().TestWaitForBackgroundWork())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slowdown < slowdown*9 {
		t.Errorf("%d flushes slowed writes down", l.slowdown)
	}
}

// jobListener keeps what the compactions were.
type jobListener struct {
	rocksdb.EventListenerBase
	mu    sync.Mutex
	infos []rocksdb.CompactionJobInfo
}

func (l *jobListener) OnCompactionCompleted(_ rocksdb.DBRef, ci *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.infos = append(l.infos, *ci)
}

func (l *jobListener) take() []rocksdb.CompactionJobInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	infos := l.infos
	l.infos = nil
	return infos
}

// wantReason wants at least one compaction, all for the same reason.
func (l *jobListener) wantReason(t *testing.T, want rocksdb.CompactionReason) []rocksdb.CompactionJobInfo {
	t.Helper()
	infos := l.take()
	for _, ci := range infos {
		if ci.CompactionReason != want {
			t.Errorf("%s, not %s", ci.CompactionReason, want)
		}
	}
	if len(infos) == 0 {
		t.Errorf("no compaction for %s", want)
	}
	return infos
}

const keysOfRandomFile = 51

// reasonTest opens a database whose memtables hold one random file, with a
// listener for its compactions.
func reasonTest(t *testing.T, set func(*root.Options)) (*dbTest, *jobListener, root.Options) {
	x, l := newDBTest(t), &jobListener{}
	o := rocksdb.DefaultOptions()
	o.LevelCompactionDynamicLevelBytes = false
	o.Env, o.CreateIfMissing = x.env, true
	o.MemtableFactory = newSpecialSkipListFactory(keysOfRandomFile)
	o.Listeners = []rocksdb.EventListener{l}
	set(&o)
	x.destroyAndReopen(o)
	return x, l, o
}

// newRandomFiles fills memtables and waits until they are written and compacted.
func (x *dbTest) newRandomFiles(r random, n int) {
	x.Helper()
	for range n {
		for i := range keysOfRandomFile + 1 {
			size := 2000
			if i == keysOfRandomFile {
				size = 200
			}
			x.mustPut(0, "key"+r.str(7), r.str(size))
		}
		x.must(x.full().TestWaitForFlushMemTable(nil))
		x.must(x.full().TestWaitForCompact())
	}
}

func TestEventListenerTest_NumInputFilesTotalBytesPopulated(t *testing.T) {
	x, l, _ := reasonTest(t, func(o *root.Options) { o.Level0FileNumCompactionTrigger = 4 })
	if n := len(l.take()); n != 0 {
		t.Fatalf("%d compactions", n)
	}
	x.newRandomFiles(newRandom(), 4)
	infos := l.take()
	if len(infos) != 1 || infos[0].Stats.NumInputFiles != 4 || infos[0].Stats.TotalInputBytes == 0 {
		t.Errorf("%+v", infos)
	}
}

func TestEventListenerTest_CompactionReasonLevel(t *testing.T) {
	x, l, o := reasonTest(t, func(o *root.Options) { o.Level0FileNumCompactionTrigger = 4 })
	x.newRandomFiles(newRandom(), 4)
	if n := len(l.wantReason(t, rocksdb.CompactionReasonLevelL0FilesNum)); n != 1 {
		t.Errorf("%d compactions", n)
	}
	x.destroyAndReopen(o)
	for k := 1; k <= 30; k++ { // three files apart
		x.mustPut(0, key(k), key(k))
		if k%10 == 0 {
			x.flush(0)
		}
	}
	x.compact(0, "", "")
	o.MaxBytesForLevelBase = 1
	x.close()
	l.take()
	x.reopen(o)
	x.must(x.full().TestWaitForCompact())
	if n := len(l.wantReason(t, rocksdb.CompactionReasonLevelMaxLevelSize)); n < 2 {
		t.Errorf("%d compactions", n)
	}
	o.DisableAutoCompactions = true
	x.close()
	l.take()
	x.reopen(o)
	x.mustPut(0, "key", "value")
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	x.must(x.db.CompactRange(&cro, nil, nil))
	l.wantReason(t, rocksdb.CompactionReasonManualCompaction)
}

func TestEventListenerTest_CompactionReasonUniversal(t *testing.T) {
	r := newRandom()
	x, l, o := reasonTest(t, func(o *root.Options) {
		o.CompactionStyle, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleUniversal, 8
		o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 100000
		o.CompactionOptionsUniversal.SizeRatio = 100000
	})
	l.take()
	x.newRandomFiles(r, 8)
	l.wantReason(t, rocksdb.CompactionReasonUniversalSizeRatio)
	o.CompactionOptionsUniversal.MaxSizeAmplificationPercent = 1
	x.destroyAndReopen(o)
	l.take()
	x.newRandomFiles(r, 8)
	l.wantReason(t, rocksdb.CompactionReasonUniversalSizeAmplification)
	o.DisableAutoCompactions = true
	x.close()
	l.take()
	x.reopen(o)
	x.compact(0, "", "")
	l.wantReason(t, rocksdb.CompactionReasonManualCompaction)
}

func TestEventListenerTest_CompactionReasonFIFO(t *testing.T) {
	x, l, _ := reasonTest(t, func(o *root.Options) {
		o.CompactionStyle, o.Level0FileNumCompactionTrigger = rocksdb.CompactionStyleFIFO, 4
		o.CompactionOptionsFIFO.MaxTableFilesSize = 1
	})
	x.newRandomFiles(newRandom(), 4)
	l.wantReason(t, rocksdb.CompactionReasonFIFOMaxSize)
}

// pressureListener keeps the pressures it was told of.
type pressureListener struct {
	rocksdb.EventListenerBase
	mu   sync.Mutex
	seen []rocksdb.BackgroundJobPressure
}

func (l *pressureListener) OnBackgroundJobPressureChanged(_ rocksdb.DBRef, p *rocksdb.BackgroundJobPressure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, *p)
}

// take gives what was seen, of which the sums have to be right.
func (l *pressureListener) take(t *testing.T) []rocksdb.BackgroundJobPressure {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen
	l.seen = nil
	if len(seen) == 0 {
		t.Fatal("no pressure was told of")
	}
	for _, p := range seen {
		if p.CompactionScheduled != p.CompactionLowScheduled+p.CompactionBottomScheduled ||
			p.CompactionRunning != p.CompactionLowRunning+p.CompactionBottomRunning {
			t.Errorf("%+v", p)
		}
	}
	return seen
}

func TestEventListenerTest_BackgroundJobPressure(t *testing.T) {
	x := newDBTest(t)
	l := &pressureListener{}
	o := x.currentOptions()
	o.MaxBackgroundJobs = 8
	o.Level0FileNumCompactionTrigger, o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = 4, 4, 100
	o.Listeners = []rocksdb.EventListener{l}
	x.destroyAndReopen(o)
	wake := sleepingTask(x.env, rocksdb.LowPriority)
	fo := rocksdb.DefaultFlushOptions()
	fo.AllowWriteStall = true
	// The pool's only worker sleeps: three files, no pressure.
	write := func(i int) {
		x.mustPut(0, fmt.Sprintf("k%d", i), dummyString(100, 'x'))
		x.must(x.db.Flush(&fo))
	}
	for i := range 3 {
		write(i)
	}
	x.must(x.full().TestWaitForBackgroundWork())
	for _, p := range l.take(t) {
		if p.CompactionRunning != 0 || p.CompactionScheduled != 0 || p.CompactionSpeedupActive || p.WriteStallProximityPct >= 100 {
			t.Errorf("%+v", p)
		}
	}
	for i := 3; i < 10; i++ {
		write(i)
	}
	var speedup, scheduled, near bool
	for _, p := range l.take(t) {
		if p.CompactionRunning != 0 {
			t.Errorf("%+v", p)
		}
		speedup = speedup || p.CompactionSpeedupActive
		scheduled = scheduled || p.CompactionScheduled > 0
		near = near || p.WriteStallProximityPct >= 100
	}
	if !speedup || !scheduled || !near {
		t.Errorf("speedup %t, scheduled %t, near %t", speedup, scheduled, near)
	}
	wake()
	x.must(x.full().TestWaitForBackgroundWork())
	seen := l.take(t)
	if p := seen[len(seen)-1]; p.CompactionRunning != 0 || p.CompactionScheduled != 0 || p.CompactionSpeedupActive || p.WriteStallProximityPct >= 100 {
		t.Errorf("%+v", p)
	}
}
