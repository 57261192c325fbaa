// Port of db/compaction/compaction_job_test.cc. Differs: entries are written as
// text, "key sequence type value".

package job_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/compaction/job"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// jobTest is a database without a database object: a version set, mock tables,
// and compactions of whole levels into level 1.
type jobTest struct {
	*testing.T
	dir       string
	db        rocksdb.DBOptions
	cf        rocksdb.ColumnFamilyOptions
	imm       options.ImmutableDBOptions
	mut       options.MutableDBOptions
	fs        rocksdb.FileSystem // of the job; nil: that of db
	vs        *db.VersionSet
	wc        *writethread.WriteController
	mu        sync.Mutex
	mock      *mocktable.MockTableFactory // nil: block based tables
	snapshots []uint64
	conflict  uint64 // earliest write conflict snapshot; 0: none
	maxBytes  uint64 // of a compaction
	target    uint64 // size of a file
	parts     uint32 // MaxSubcompactions of the compaction
	tsLow     []byte // full_history_ts_low; nil: none
}

func newJobTest(t *testing.T) *jobTest {
	x := &jobTest{T: t, dir: t.TempDir(), db: rocksdb.DefaultDBOptions(), cf: rocksdb.DefaultColumnFamilyOptions(),
		mock: mocktable.NewMockTableFactory(), wc: writethread.NewWriteController(1 << 20), maxBytes: 10 << 20, target: 1 << 20}
	x.db.Env = env.Default()
	x.db.DBPaths = []rocksdb.DBPath{{Path: x.dir}}
	x.cf.TableFactory = x.mock
	return x
}

func (x *jobTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *jobTest) mergeOperator(name string) rocksdb.MergeOperator {
	x.Helper()
	m, err := mergeoperators.New(name)
	x.must(err)
	return m
}

// newDB makes an empty database with the options as they are.
func (x *jobTest) newDB() {
	x.Helper()
	x.imm, x.mut = options.NewImmutableDBOptions(&x.db), options.NewMutableDBOptions(&x.db)
	x.vs = db.NewVersionSet(&db.VersionSetOptions{DBName: x.dir, DBOptions: &x.imm, MutableDBOptions: &x.mut, FileOptions: rocksdb.DefaultFileOptions(),
		TableCache: cache.NewLRUCacheOfCapacity(50000), WriteController: x.wc, DBID: "id", DBSessionID: "session"})
	x.Cleanup(x.vs.Destroy)
	e := new(version.VersionEdit)
	e.SetDBId("id")
	e.SetLogNumber(0)
	e.SetNextFile(2)
	e.SetLastSequence(0)
	record, _ := e.EncodeTo(nil, 0)
	w, err := file.CreateWritableFileWriter(x.imm.FS, filename.DescriptorFileName(x.dir, 1), nil, &file.WriterOptions{})
	x.must(err)
	log := wal.NewWriter(w, wal.WriterOptions{})
	x.must(log.AddRecord(nil, record, 0))
	x.must(log.Close(nil))
	x.must(file.SetCurrentFile(nil, x.imm.FS, x.dir, 1, rocksdb.TemperatureUnknown, nil))
	_, err = x.vs.Recover([]rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: x.cf}}, false, nil)
	x.must(err)
}

func (x *jobTest) cfd() *db.ColumnFamilyData { return x.vs.GetColumnFamilySet().GetDefault() }

func (x *jobTest) level(level int) []*version.FileMetaData {
	return x.cfd().Current().StorageInfo().LevelFiles(level)
}

var entryTypes = map[string]dbformat.ValueType{"put": dbformat.TypeValue, "del": dbformat.TypeDeletion, "sdel": dbformat.TypeSingleDeletion,
	"merge": dbformat.TypeMerge, "tsdel": dbformat.TypeDeletionWithTimestamp}

// timestamp is n as a timestamp of 8 bytes.
func timestamp(n uint64) string { return string(util.EncodeU64Ts(n)) }

// entries parses "key sequence type value; …". A value "#n" is the number n in 8
// bytes, a key "k@n" is k with the timestamp n.
func (x *jobTest) entries(text string) (kvs []mocktable.KV) {
	x.Helper()
	for e := range strings.SplitSeq(text, "; ") {
		if e == "" {
			continue
		}
		var key, kind, value string
		var seq uint64
		if n, err := fmt.Sscan(e, &key, &seq, &kind, &value); n < 3 {
			x.Fatalf("entry %q: %v", e, err)
		}
		if n, isNumber := strings.CutPrefix(value, "#"); isNumber {
			var v uint64
			fmt.Sscan(n, &v)
			value = string(binary.LittleEndian.AppendUint64(nil, v))
		}
		if name, ts, stamped := strings.Cut(key, "@"); stamped {
			var n uint64
			fmt.Sscan(ts, &n)
			key = name + timestamp(n)
		}
		kvs = append(kvs, mocktable.KV{Key: dbformat.NewInternalKey([]byte(key), seq, entryTypes[kind]), Value: []byte(value)})
	}
	return kvs
}

// addFile adds a table of entries to a level.
func (x *jobTest) addFile(level int, text string) { x.Helper(); x.addKVs(level, x.entries(text)) }

func (x *jobTest) addKVs(level int, kvs []mocktable.KV) {
	x.Helper()
	f := version.NewFileMetaData()
	number, size := x.vs.NewFileNumber(), uint64(10)
	path := filename.TableFileName(x.db.DBPaths, number, 0)
	if x.mock != nil {
		x.must(x.mock.CreateMockTable(x.imm.FS, path, kvs))
	} else {
		size = x.writeTable(path, kvs)
	}
	f.FD.Set(number, 0, size, dbformat.MaxSequenceNumber, 0)
	f.EpochNumber = x.cfd().NewEpochNumber()
	for _, kv := range kvs {
		k, err := dbformat.ParseInternalKey(kv.Key, true)
		x.must(err)
		x.must(f.UpdateBoundaries(kv.Key, kv.Value, k.Sequence, k.Type))
	}
	e := new(version.VersionEdit)
	e.AddFile(level, f)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.must(x.vs.LogAndApply(&db.LogAndApplyRequest{CFD: x.cfd(), Edits: []*version.VersionEdit{e}, Mutex: &x.mu}))
}

func (x *jobTest) lastSequence(n uint64) {
	x.vs.SetLastAllocatedSequence(n + 1)
	x.vs.SetLastPublishedSequence(n + 1)
	x.vs.SetLastSequence(n + 1)
}

// compact compacts the levels into level 1.
func (x *jobTest) compact(levels []int) *job.CompactionJob {
	x.Helper()
	return x.work(x.pick(levels, 1))
}

// pick is a compaction of the levels into output.
func (x *jobTest) pick(levels []int, output int) *compaction.Compaction {
	x.Helper()
	cfd := x.cfd()
	p := compaction.DefaultParams()
	p.OutputLevel, p.TargetFileSize, p.MaxCompactionBytes, p.Compression = output, x.target, x.maxBytes, rocksdb.NoCompression
	p.Reason, p.MaxSubcompactions = rocksdb.CompactionReasonManualCompaction, x.parts
	if output == 1 {
		p.Grandparents = x.level(2)
	}
	for _, level := range levels {
		p.Inputs = append(p.Inputs, compaction.CompactionInputFiles{Level: level, Files: x.level(level)})
	}
	c := compaction.NewCompaction(cfd.Current().StorageInfo(), cfd.IOptions(), cfd.GetLatestMutableCFOptions(), &x.mut, p)
	c.FinalizeInputInfo(cfd.Current(), &compaction.CFView{ID: cfd.GetID(), Name: cfd.GetName(), IOptions: cfd.IOptions(), Comparator: cfd.InternalComparator(),
		FullHistoryTSLow: x.tsLow})
	return c
}

// work runs and installs a compaction.
func (x *jobTest) work(c *compaction.Compaction) *job.CompactionJob {
	x.Helper()
	imm := x.imm
	if x.fs != nil {
		imm.FS = x.fs
	}
	conflict := x.conflict
	if conflict == 0 {
		conflict = dbformat.MaxSequenceNumber
	}
	var shuttingDown atomic.Bool
	x.mu.Lock()
	j := job.NewCompactionJob(&job.Config{Compaction: c, CFD: x.cfd(), DBName: x.dir, DBOptions: &imm, MutableDBOptions: &x.mut,
		FileOptions: rocksdb.DefaultFileOptions(), VersionSet: x.vs, Mutex: &x.mu, ShuttingDown: &shuttingDown,
		LogBuffer: logging.NewLogBuffer(rocksdb.InfoLevel, nil), Snapshots: x.snapshots, EarliestWriteConflictSnapshot: conflict,
		EventLogger: logging.NewEventLogger(nil), DBID: "id", SessionID: "session", Env: x.db.Env})
	j.Prepare()
	x.mu.Unlock()
	err := j.Run()
	x.must(err)
	x.mu.Lock()
	x.must(j.Install(err, func(error) {}))
	x.mu.Unlock()
	return j
}

// run compacts the levels and compares the tables that it makes.
func (x *jobTest) run(levels []int, want ...string) {
	x.Helper()
	var tables [][]mocktable.KV
	for _, w := range want {
		if w != "" {
			tables = append(tables, x.entries(w))
		}
	}
	x.runKVs(levels, tables...)
}

func (x *jobTest) runKVs(levels []int, want ...[]mocktable.KV) {
	x.Helper()
	inputs := 0
	for _, level := range levels {
		inputs += len(x.level(level))
	}
	j := x.compact(levels)
	if s := j.Stats(); s.NumInputFiles != inputs || s.NumOutputFiles != len(want) || len(x.level(1)) != len(want) {
		x.Fatalf("%d input files, %d tables made, %d in level 1; not %d and %d", s.NumInputFiles, s.NumOutputFiles, len(x.level(1)), inputs, len(want))
	}
	x.must(x.mock.CheckLatestFiles(want))
}

// filterTen drops merge operands and values that are the number 10.
type filterTen struct{}

func (filterTen) Name() string          { return "FilterTen" }
func (filterTen) IgnoreSnapshots() bool { return true }

func (filterTen) FilterV3(_ int, _ []byte, _ rocksdb.CompactionFilterValueType, existing []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	if binary.LittleEndian.Uint64(existing) == 10 {
		return rocksdb.FilterRemove, nil, nil
	}
	return rocksdb.FilterKeep, nil, nil
}

// twoFiles adds two tables of which the second overwrites half of the first, and
// gives what is left of both.
func (x *jobTest) twoFiles() []mocktable.KV {
	x.Helper()
	const keys = 10000
	var want []mocktable.KV
	seq := uint64(0)
	for i := range 2 {
		var kvs []mocktable.KV
		for k := range keys {
			seq++
			key, value := []byte(fmt.Sprint(i*keys/2+k)), []byte(fmt.Sprint(i*keys+k))
			kvs = append(kvs, mocktable.KV{Key: dbformat.NewInternalKey(key, seq, dbformat.TypeValue), Value: value})
			if i == 1 || k < keys/2 {
				want = append(want, mocktable.KV{Key: dbformat.NewInternalKey(key, 0, dbformat.TypeValue), Value: value})
			}
		}
		mocktable.SortKVVector(kvs, nil)
		x.addKVs(0, kvs)
	}
	x.lastSequence(seq)
	mocktable.SortKVVector(want, nil)
	return want
}

func TestCompactionJobTest_Simple(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	want := x.twoFiles()
	x.runKVs([]int{0}, want)
}

func TestCompactionJobTest_SimpleDeletion(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "c 4 del; c 3 put val")
	x.addFile(0, "b 2 put val; b 1 put val")
	x.lastSequence(4)
	x.run([]int{0}, "b 0 put val")
}

func TestCompactionJobTest_OutputNothing(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "a 1 put val")
	x.addFile(0, "a 2 del")
	x.lastSequence(4)
	x.run([]int{0}, "")
}

func TestCompactionJobTest_SimpleOverwrite(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "a 3 put val2; b 4 put val3")
	x.addFile(0, "a 1 put val; b 2 put val")
	x.lastSequence(4)
	x.run([]int{0}, "a 0 put val2; b 0 put val3")
}

func TestCompactionJobTest_SimpleNonLastLevel(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "a 5 put val2; b 6 put val3")
	x.addFile(1, "a 3 put val; b 4 put val")
	x.addFile(2, "a 1 put val; b 2 put val")
	x.lastSequence(6)
	x.run([]int{0, 1}, "a 5 put val2; b 6 put val3")
}

func TestCompactionJobTest_SimpleMerge(t *testing.T) {
	x := newJobTest(t)
	x.cf.MergeOperator = x.mergeOperator("stringappend")
	x.newDB()
	x.addFile(0, "a 5 merge 5; a 4 merge 4; a 3 put 3")
	x.addFile(0, "b 2 merge 2; b 1 put 1")
	x.lastSequence(5)
	x.run([]int{0}, "a 0 put 3,4,5; b 0 put 1,2")
}

func TestCompactionJobTest_NonAssocMerge(t *testing.T) {
	x := newJobTest(t)
	x.cf.MergeOperator = x.mergeOperator("stringappendtest")
	x.newDB()
	x.addFile(0, "a 5 merge 5; a 4 merge 4; a 3 merge 3")
	x.addFile(0, "b 2 merge 2; b 1 merge 1")
	x.lastSequence(5)
	x.run([]int{0}, "a 0 put 3,4,5; b 0 put 1,2")
}

func TestCompactionJobTest_MergeOperandFilter(t *testing.T) {
	x := newJobTest(t)
	x.cf.MergeOperator, x.cf.CompactionFilter = x.mergeOperator("uint64add"), filterTen{}
	x.newDB()
	x.addFile(0, "a 5 merge #5; a 4 merge #10; a 3 merge #3")
	x.addFile(0, "b 2 merge #2; b 1 merge #10")
	x.lastSequence(5)
	x.run([]int{0}, "a 0 put #8; b 0 put #2")
}

func TestCompactionJobTest_FilterSomeMergeOperands(t *testing.T) {
	x := newJobTest(t)
	x.cf.MergeOperator, x.cf.CompactionFilter = x.mergeOperator("uint64add"), filterTen{}
	x.newDB()
	x.addFile(0, "a 5 merge #5; a 4 merge #10; a 3 put #5; d 8 merge #10")
	x.addFile(0, "b 2 merge #10; b 1 merge #10; c 2 merge #3; c 1 put #7; d 1 put #6")
	x.addFile(2, "a 1 merge #3")
	x.lastSequence(5)
	x.run([]int{0}, "a 5 put #10; c 2 put #10; d 1 put #6")
}

func TestCompactionJobTest_FilterAllMergeOperands(t *testing.T) {
	x := newJobTest(t)
	x.cf.MergeOperator, x.cf.CompactionFilter = x.mergeOperator("uint64add"), filterTen{}
	x.newDB()
	x.addFile(0, "a 11 merge #10; a 10 merge #10; a 9 merge #10")
	x.addFile(0, "b 8 merge #10; b 7 merge #10; b 6 merge #10; b 5 merge #10; b 4 merge #10; b 3 merge #10; b 2 merge #10; c 2 merge #10; "+
		"c 1 merge #10")
	x.addFile(2, "a 2 merge #10; b 1 merge #10")
	x.lastSequence(11)
	x.run([]int{0}, "")
}

func TestCompactionJobTest_SimpleSingleDelete(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "a 5 del; b 6 sdel")
	x.addFile(0, "a 3 put val; b 4 put val")
	x.addFile(2, "a 1 put val")
	x.lastSequence(6)
	x.run([]int{0}, "a 5 del")
}

func TestCompactionJobTest_SingleDeleteSnapshots(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "A 12 sdel; a 12 sdel; b 21 sdel; c 22 sdel; d 9 sdel; f 21 sdel; j 11 sdel; j 9 sdel; k 12 sdel; k 11 sdel; l 3 sdel; "+
		"l 2 sdel")
	x.addFile(0, "0 2 sdel; a 11 put val1; b 11 put val2; c 21 put val3; d 8 put val4; e 2 sdel; f 1 put val1; g 11 sdel; h 2 sdel; "+
		"m 12 put val1; m 11 sdel; m 8 put val2")
	x.addFile(2, "A 1 put val; e 1 put val")
	x.snapshots, x.conflict = []uint64{10, 20}, 10
	x.lastSequence(22)
	x.run([]int{0}, "A 12 sdel; a 12 sdel; a 11 put; b 21 sdel; b 11 put val2; c 22 sdel; c 21 put; e 2 sdel; f 21 sdel; f 1 put val1; "+
		"g 11 sdel; j 11 sdel; k 11 sdel; m 12 put val1; m 11 sdel; m 8 put val2")
}

func TestCompactionJobTest_EarliestWriteConflictSnapshot(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "A 24 sdel; A 23 put val; B 24 sdel; B 23 put val; D 24 sdel; G 32 sdel; G 31 put val; G 24 sdel; G 23 put val2; "+
		"H 31 put val; H 24 sdel; H 23 put val; I 35 sdel; I 34 put val2; I 33 sdel; I 32 put val3; I 31 sdel; J 34 put val; "+
		"J 33 sdel; J 25 put val2; J 24 sdel")
	x.addFile(0, "A 14 sdel; A 13 put val2; C 14 sdel; C 13 put val; E 12 sdel; F 4 sdel; F 3 put val; G 14 sdel; G 13 put val3; H 14 sdel; "+
		"H 13 put val2; I 13 put val4; I 12 sdel; I 11 put val5; J 15 put val3; J 14 sdel")
	x.snapshots, x.conflict = []uint64{10, 20, 30}, 20
	x.lastSequence(24)
	x.run([]int{0}, "A 24 sdel; A 23 put; B 24 sdel; B 23 put; D 24 sdel; E 12 sdel; G 32 sdel; G 31 put; H 31 put val; I 35 sdel; I 34 put; "+
		"I 31 sdel; I 13 put val4; J 34 put val; J 33 sdel; J 25 put val2; J 24 sdel; J 15 put val3; J 14 sdel")
}

func TestCompactionJobTest_SingleDeleteZeroSeq(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "A 10 sdel; dummy 5 put val2")
	x.addFile(0, "A 0 put val")
	x.lastSequence(22)
	x.run([]int{0}, "dummy 0 put val2")
}

func TestCompactionJobTest_MultiSingleDelete(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.addFile(0, "A 14 sdel; A 13 put val5; A 12 sdel; B 14 sdel; B 13 put val2; C 14 put val3; D 12 sdel; D 11 put val4; G 15 put val; "+
		"G 14 sdel; G 13 put val; I 14 sdel; I 13 put val; J 15 put val; J 14 sdel; J 13 sdel; J 12 put val; J 11 put val; "+
		"K 16 sdel; K 15 put val1; K 14 sdel; K 13 sdel; K 12 put val2; K 11 sdel; L 16 sdel; L 15 put val; L 14 sdel; L 13 sdel; "+
		"L 12 put val; L 11 sdel; M 16 sdel; M 15 sdel; M 14 put val; M 13 sdel; M 12 sdel; M 11 put val")
	x.addFile(0, "A 10 put val; B 12 sdel; B 11 put val2; C 10 sdel; C 9 put val6; C 8 sdel; D 10 sdel; E 12 sdel; E 11 put val; E 5 sdel; "+
		"E 4 put val; F 6 sdel; F 5 put val; F 4 sdel; F 3 put val; G 12 sdel; H 6 sdel; H 5 put val; H 4 sdel; H 3 put val; "+
		"I 12 sdel; I 11 put val; J 6 sdel; J 5 sdel; J 4 put val; J 3 sdel; J 2 put val; K 8 put val3; K 7 put val4; K 6 sdel; "+
		"K 5 put val5; K 2 sdel; K 1 sdel; L 5 sdel; L 4 put val; L 3 sdel; L 2 put val; L 1 sdel; M 10 sdel; M 7 put val; "+
		"M 5 sdel; M 4 put val; M 3 sdel")
	x.addFile(2, "D 1 put val; H 1 put val; I 2 put val")
	x.addFile(2, "M 1 put val")
	x.snapshots, x.conflict = []uint64{10}, 10
	x.lastSequence(22)
	x.run([]int{0}, "A 14 sdel; A 13 put; A 12 sdel; A 10 put val; B 14 sdel; B 13 put; C 14 put val3; D 12 sdel; D 11 put; D 10 sdel; "+
		"E 12 sdel; E 11 put; G 15 put val; G 12 sdel; I 14 sdel; I 13 put; J 15 put val; K 16 sdel; K 15 put; K 11 sdel; "+
		"K 8 put val3; L 16 sdel; L 15 put; L 11 sdel; M 15 sdel; M 14 put; M 3 sdel")
}

func TestCompactionJobTest_VerifyProximalLevelOutput(t *testing.T) {
	x := newJobTest(t)
	x.cf.LastLevelTemperature = rocksdb.TemperatureCold
	x.cf.PrecludeLastLevelDataSeconds = 1000
	x.newDB()
	x.addFile(0, "z 12 put val")
	x.addFile(1, "b 10 put val; f 11 put val")
	x.addFile(1, "j 12 put val; k 13 put val")
	x.addFile(1, "p 14 put val; u 15 put val")
	x.addFile(2, "f 8 put val; h 9 put val")
	x.addFile(2, "m 6 put val; p 7 put val")
	x.addFile(3, "g 2 put val; k 3 put val")
	x.addFile(3, "v 4 put val; x 5 put val")
	last := x.cf.NumLevels - 1
	c := x.pick([]int{0, 1, 2, 3}, last)
	for k := byte('a'); k <= 'z'; k++ {
		if within := c.WithinProximalLevelOutputRange([]byte{k}); within != (k != 'a') {
			t.Errorf("%c may go to the proximal level: %t", k, within)
		}
	}
	// No time is known, so that everything counts as new.
	x.work(c)
	if len(x.level(last-1)) != 1 || len(x.level(last)) != 0 || x.level(last - 1)[0].Temperature != rocksdb.TemperatureUnknown {
		t.Fatalf("%d tables on the proximal level, %d on the last", len(x.level(last-1)), len(x.level(last)))
	}
}

func TestCompactionJobTest_NoEnforceSingleDeleteContract(t *testing.T) {
	x := newJobTest(t)
	x.db.EnforceSingleDelContracts = false
	x.newDB()
	x.addFile(0, "a 4 sdel; a 3 del dontcare")
	x.lastSequence(4)
	x.run([]int{0}, "")
}

func TestCompactionJobTest_OldestBlobFileNumber(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	index := func(n, offset, size uint64) []byte {
		return blobformat.EncodeBlob(nil, n, offset, size, rocksdb.NoCompression)
	}
	values := [][]byte{blobformat.EncodeInlinedTTL(nil, 1234567890, []byte("foo")), index(59, 123456, 999), index(138, 1000, 1<<8),
		index(199, 3<<10, 1<<20), index(19, 6789, 333), blobformat.EncodeBlobTTL(nil, 1234567890, 5, 2048, 1<<7, rocksdb.NoCompression)}
	var in, want []mocktable.KV
	for i, v := range values {
		key := []byte{byte('a' + i)}
		in = append(in, mocktable.KV{Key: dbformat.NewInternalKey(key, uint64(i+1), dbformat.TypeBlobIndex), Value: v})
		want = append(want, mocktable.KV{Key: dbformat.NewInternalKey(key, 0, dbformat.TypeBlobIndex), Value: v})
	}
	x.addKVs(0, in[:3])
	x.addKVs(0, in[3:])
	x.lastSequence(6)
	x.runKVs([]int{0}, want)
	if n := x.level(1)[0].OldestBlobFileNumber; n != 19 {
		t.Errorf("oldest blob file %d", n)
	}
}

func TestCompactionJobTest_CutForMaxCompactionBytes(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.target, x.maxBytes = 80, 21
	x.addFile(0, "c 5 put val2; n 6 put val3")
	x.addFile(1, "h 3 put val; j 4 put val")
	for _, keys := range []string{"b c c1 c2 c3 c4 d e", "h i i1 i2 i3 i4 j k", "l m m1 m2 m3 m4 n o"} {
		list := strings.Fields(keys)
		for i, k := range list {
			list[i] = fmt.Sprintf("%s %d put val", k, 1+i/7)
		}
		x.addFile(2, strings.Join(list, "; "))
	}
	x.lastSequence(6)
	x.run([]int{0, 1}, "c 5 put val2; h 3 put val; j 4 put val", "n 6 put val3")
}

func TestCompactionJobTest_CutForMaxCompactionBytesSameKey(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.target, x.maxBytes = 80, 20
	x.addFile(0, "a 104 put val1; b 103 put val")
	x.addFile(1, "a 102 put val2; c 101 put val")
	for i := range 10 {
		x.addFile(2, fmt.Sprintf("a %d put val; a %d put val", 100-2*i, 99-2*i))
	}
	for i := range 10 {
		x.addFile(2, fmt.Sprintf("b %d put val; b %d put val", 80-2*i, 79-2*i))
	}
	x.lastSequence(122)
	for i := uint64(80); i <= 105; i++ {
		x.snapshots = append(x.snapshots, i)
	}
	x.run([]int{0, 1}, "a 104 put val1; a 102 put val2", "b 103 put val", "c 101 put val")
}

func TestCompactionJobTest_CutToSkipGrandparentFile(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	x.target = 70
	x.addFile(0, "a 5 put val2; z 6 put val3")
	x.addFile(1, "c 3 put val; x 4 put val")
	x.addFile(2, "b 1 put val; d 2 put val")
	x.addFile(2, "h 1 put val; i 2 put val")
	x.addFile(2, "v 1 put val; y 2 put val")
	x.lastSequence(6)
	x.run([]int{0, 1}, "a 5 put val2; c 3 put val", "x 4 put val; z 6 put val3")
}

func TestCompactionJobTest_CutToAlignGrandparentBoundary(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	const size = 10000
	x.mock.SetKeyValueSize(size)
	x.target = 10 * size
	var upper []string
	for i := range 12 {
		upper = append(upper, fmt.Sprintf("%c %d put val%d", 'd'+i, i+10, i))
	}
	x.addFile(0, strings.Join(upper, "; "))
	x.addFile(1, "e 3 put val; s 4 put val")
	for _, f := range []string{"a b", "c e", "h j", "k n", "q t"} {
		x.addFile(2, f[:1]+" 1 put val; "+f[2:]+" 2 put val")
	}
	x.lastSequence(22)
	// The first table ends where a table of level 2 does.
	x.run([]int{0, 1}, strings.Join(upper[:7], "; "), strings.Join(append(slices.Clone(upper[7:]), "s 4 put val"), "; "))
}

func TestCompactionJobTest_CutToAlignGrandparentBoundarySameKey(t *testing.T) {
	x := newJobTest(t)
	x.newDB()
	const size = 10000
	x.mock.SetKeyValueSize(size)
	x.target = 10 * size
	var a []string
	for i := 100; i > 93; i-- {
		a = append(a, fmt.Sprintf("a %d put val%d", i, i))
	}
	x.addFile(0, strings.Join(a, "; ")+"; b 90 put valb")
	x.addFile(1, "a 93 put val93; b 90 put valb")
	x.addFile(2, "a 89 put val; a 88 put val")
	x.addFile(2, "a 87 put val; a 86 put val")
	x.addFile(2, "b 85 put val; b 84 put val")
	x.lastSequence(122)
	for i := uint64(80); i <= 100; i++ {
		x.snapshots = append(x.snapshots, i)
	}
	x.run([]int{0, 1}, strings.Join(a, "; ")+"; a 93 put val93", "b 90 put valb")
}

// priorityFS checks the priority of all reads and writes.
type priorityFS struct {
	rocksdb.FileSystemWrapper
	t    *testing.T
	want rocksdb.IOPriority
	n    atomic.Int32
}

func (f *priorityFS) check(o *rocksdb.IOOptions) {
	f.n.Add(1)
	if o == nil || o.RateLimiterPriority != f.want {
		f.t.Errorf("priority of %+v is not %v", o, f.want)
	}
}

func (f *priorityFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.Target().NewWritableFile(name, o)
	return &priorityFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, err
}

type priorityFile struct {
	rocksdb.FSWritableFileWrapper
	fs *priorityFS
}

func (w *priorityFile) Append(data []byte, o *rocksdb.IOOptions) error {
	w.fs.check(o)
	return w.FSWritableFile.Append(data, o)
}

func (w *priorityFile) Flush(o *rocksdb.IOOptions) error {
	w.fs.check(o)
	return w.FSWritableFile.Flush(o)
}

func (w *priorityFile) Sync(o *rocksdb.IOOptions) error {
	w.fs.check(o)
	return w.FSWritableFile.Sync(o)
}

func (w *priorityFile) Close(o *rocksdb.IOOptions) error {
	w.fs.check(o)
	return w.FSWritableFile.Close(o)
}

// runWithPriority compacts two tables and checks the priority of all I/O.
func runWithPriority(x *jobTest, want rocksdb.IOPriority) *job.CompactionJob {
	x.Helper()
	x.newDB()
	x.twoFiles()
	fs := &priorityFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.imm.FS}, t: x.T, want: want}
	x.fs = fs
	j := x.compact([]int{0})
	if fs.n.Load() == 0 {
		x.Error("nothing was written")
	}
	return j
}

func TestCompactionJobIOPriorityTest_WriteControllerStateNormal(t *testing.T) {
	runWithPriority(newJobTest(t), rocksdb.IOLow)
}

func TestCompactionJobIOPriorityTest_WriteControllerStateDelayed(t *testing.T) {
	x := newJobTest(t)
	defer x.wc.GetDelayToken(1000000).Release()
	runWithPriority(x, rocksdb.IOUser)
}

func TestCompactionJobIOPriorityTest_WriteControllerStateStalled(t *testing.T) {
	x := newJobTest(t)
	defer x.wc.GetStopToken().Release()
	runWithPriority(x, rocksdb.IOUser)
}

func TestCompactionJobIOPriorityTest_GetRateLimiterPriority(t *testing.T) {
	x := newJobTest(t)
	j := runWithPriority(x, rocksdb.IOLow)
	want := func(pri rocksdb.IOPriority) {
		t.Helper()
		if got := j.GetRateLimiterPriority(); got != pri {
			t.Errorf("priority %v, not %v", got, pri)
		}
	}
	want(rocksdb.IOLow)
	for _, token := range []func() *writethread.Token{func() *writethread.Token { return x.wc.GetDelayToken(1000000) }, x.wc.GetStopToken} {
		held := token()
		want(rocksdb.IOUser)
		held.Release()
	}
	want(rocksdb.IOLow)
}

// newTimestampJobTest is a database of keys with timestamps.
func newTimestampJobTest(t *testing.T, tsLow []byte) *jobTest {
	x := newJobTest(t)
	x.cf.Comparator, x.tsLow = util.BytewiseComparatorWithU64Ts(), tsLow
	x.newDB()
	return x
}

func TestCompactionJobTimestampTest_GCDisabled(t *testing.T) {
	x := newTimestampJobTest(t, nil)
	x.addFile(0, "a@100 10 put a10; a@99 9 put a9; b@98 8 put b8; d@97 7 put d7")
	x.addFile(0, "b@96 6 tsdel; c@95 5 tsdel; c@94 4 put c5; d@93 3 sdel")
	x.lastSequence(10)
	x.run([]int{0}, "a@100 10 put a10; a@99 9 put a9; b@98 8 put b8; b@96 6 tsdel; c@95 5 tsdel; c@94 4 put c5; d@97 7 put d7; d@93 3 sdel")
}

func TestCompactionJobTimestampTest_NoKeyExpired(t *testing.T) {
	x := newTimestampJobTest(t, util.EncodeU64Ts(0))
	x.addFile(0, "a@100 6 put a6; b@101 7 put b7; c@99 5 put c5")
	x.addFile(0, "a@98 4 put a4; c@97 3 put c3")
	x.lastSequence(101)
	x.run([]int{0}, "a@100 6 put a6; a@98 4 put a4; b@101 7 put b7; c@99 5 put c5; c@97 3 put c3")
}

func TestCompactionJobTimestampTest_AllKeysExpired(t *testing.T) {
	x := newTimestampJobTest(t, util.EncodeU64Ts(^uint64(0)))
	x.addFile(0, "a@100 5 tsdel; b@99 6 sdel; c@98 7 put c7")
	x.addFile(0, "a@97 4 put a4; b@96 3 put b3; c@95 2 tsdel; c@94 1 put c1")
	x.lastSequence(7)
	x.run([]int{0}, "c@0 0 put c7")
}

func TestCompactionJobTimestampTest_SomeKeysExpired(t *testing.T) {
	x := newTimestampJobTest(t, util.EncodeU64Ts(49))
	x.addFile(0, "a@50 5 put a5; b@49 6 put b6")
	x.addFile(0, "a@48 3 put a3; a@46 2 put a2; b@47 4 tsdel")
	x.lastSequence(6)
	x.run([]int{0}, "a@50 5 put a5; a@0 0 put a3; b@49 6 put b6")
}
