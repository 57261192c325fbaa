// Port of db/flush_job_test.cc.

package db

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/util"
)

// flushTest is a database of three families whose tables are mock ones.
type flushTest struct {
	*versionSetTest
	mock         *mocktable.MockTableFactory
	shuttingDown atomic.Bool
	free         []*memtable.MemTable
}

func newFlushTest(t *testing.T, change func(o *rocksdb.ColumnFamilyOptions)) *flushTest {
	x := &flushTest{versionSetTest: newVersionSetTest(t), mock: mocktable.NewMockTableFactory()}
	x.db.Statistics = monitoring.CreateDBStatistics()
	x.cf.TableFactory = x.mock
	if change != nil {
		change(&x.cf)
	}
	x.reset()
	x.newDB("foo", "bar")
	x.mustRecover("foo", "bar")
	return x
}

// newMemTable is a memtable of the family with a reference.
func (x *flushTest) newMemTable(cfd *ColumnFamilyData) *memtable.MemTable {
	m := cfd.ConstructNewMemtable(cfd.GetLatestMutableCFOptions(), dbformat.MaxSequenceNumber)
	m.Ref()
	return m
}

func (x *flushTest) add(m *memtable.MemTable, seq rocksdb.SequenceNumber, t dbformat.ValueType, key, value string) {
	x.t.Helper()
	x.noErr(m.Add(seq, t, []byte(key), []byte(value), false, nil, nil))
}

// seal makes a memtable one of the family's immutable ones.
func (x *flushTest) seal(cfd *ColumnFamilyData, m *memtable.MemTable) {
	x.t.Helper()
	m.ConstructFragmentedRangeTombstones()
	cfd.imm.Add(m, &x.free)
	if len(x.free) != 0 {
		x.t.Fatalf("%d memtables to be freed", len(x.free))
	}
}

// job is a flush of the family's memtables up to maxID; change may be nil.
func (x *flushTest) job(cfd *ColumnFamilyData, maxID uint64, change func(c *FlushJobConfig)) *FlushJob {
	c := &FlushJobConfig{DBName: x.dir, CFD: cfd, DBOptions: &x.imm, MutableCFOptions: cfd.GetLatestMutableCFOptions(), MaxMemtableID: maxID,
		FileOptions: rocksdb.DefaultFileOptions(), VersionSet: x.vs, Mutex: &x.mu, ShuttingDown: &x.shuttingDown,
		FlushReason: rocksdb.FlushReasonTest, LogBuffer: logging.NewLogBuffer(rocksdb.InfoLevel, nil), Statistics: x.db.Statistics,
		EventLogger: logging.NewEventLogger(nil), SyncOutput: true, WriteManifest: true, MemtablesToFree: &x.free}
	if change != nil {
		change(c)
	}
	return NewFlushJob(c)
}

// run runs a flush and gives what it wrote.
func (x *flushTest) run(j *FlushJob) *version.FileMetaData {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	j.PickMemTable()
	meta, err := j.Run()
	x.noErr(err)
	return meta
}

func (x *flushTest) wantFlushTime() {
	x.t.Helper()
	if h := x.db.Statistics.GetHistogramData(rocksdb.HistFlushTime); h.Average <= 0 {
		x.t.Errorf("flushes took %v µs", h.Average)
	}
}

// wantMeta checks boundaries, as user keys, and sequence numbers.
func (x *flushTest) wantMeta(f *version.FileMetaData, smallest, largest string, smallestSeq, largestSeq rocksdb.SequenceNumber) {
	x.t.Helper()
	if f == nil {
		x.t.Fatal("no file")
	}
	if s, l := string(f.Smallest.UserKey()), string(f.Largest.UserKey()); s != smallest || l != largest {
		x.t.Errorf("keys %q to %q, not %q to %q", s, l, smallest, largest)
	}
	if f.FD.SmallestSeqno != smallestSeq || f.FD.LargestSeqno != largestSeq {
		x.t.Errorf("sequence numbers %d to %d, not %d to %d", f.FD.SmallestSeqno, f.FD.LargestSeqno, smallestSeq, largestSeq)
	}
}

func (x *flushTest) wantTable(want []mocktable.KV) {
	x.t.Helper()
	mocktable.SortKVVector(want, nil)
	x.noErr(x.mock.CheckSingleFile(want))
}

func kv(key string, seq rocksdb.SequenceNumber, t dbformat.ValueType, value string) mocktable.KV {
	return mocktable.KV{Key: dbformat.NewInternalKey([]byte(key), seq, t), Value: []byte(value)}
}

func TestFlushJobTest_Empty(t *testing.T) {
	x := newFlushTest(t, nil)
	if meta := x.run(x.job(x.def(), math.MaxUint64, nil)); meta != nil {
		t.Fatalf("a file %v", meta.FD.GetNumber())
	}
}

func TestFlushJobTest_NonEmpty(t *testing.T) {
	x := newFlushTest(t, nil)
	m := x.newMemTable(x.def())
	var want []mocktable.KV
	// Keys 0 to 9999, and then those from 9995 on are deleted.
	for i := 1; i < 10000; i++ {
		n := (i + 1000) % 10000
		key, value := fmt.Sprint(n), fmt.Sprint("value", n)
		x.add(m, uint64(i), dbformat.TypeValue, key, value)
		if n < 9995 {
			want = append(want, kv(key, uint64(i), dbformat.TypeValue, value))
		}
	}
	var info memtable.MemTablePostProcessInfo
	x.noErr(m.Add(10000, dbformat.TypeRangeDeletion, []byte("9995"), []byte("9999a"), true, &info, nil))
	m.BatchPostProcess(&info)
	want = append(want, kv("9995", 10000, dbformat.TypeRangeDeletion, "9999a"))
	// The oldest blob file is among those without TTL: an inlined value, and one
	// with TTL in file 5, do not count.
	for i, number := range []uint64{0, 5, 103, 17, 102, 101} {
		key, seq := fmt.Sprint(i+10001), uint64(i+10001)
		var index []byte
		switch i {
		case 0:
			index = blobformat.EncodeInlinedTTL(nil, 1234567890, []byte("foo"))
		case 1:
			index = blobformat.EncodeBlobTTL(nil, 1234567890, number, uint64(i)<<10, uint64(i)<<20, rocksdb.NoCompression)
		default:
			index = blobformat.EncodeBlob(nil, number, uint64(i)<<10, uint64(i)<<20, rocksdb.NoCompression)
		}
		x.add(m, seq, dbformat.TypeBlobIndex, key, string(index))
		want = append(want, kv(key, seq, dbformat.TypeBlobIndex, string(index)))
	}
	x.seal(x.def(), m)
	meta := x.run(x.job(x.def(), math.MaxUint64, nil))
	x.wantFlushTime()
	x.wantMeta(meta, "0", "9999a", 1, 10006)
	if meta.OldestBlobFileNumber != 17 {
		t.Errorf("oldest blob file %d", meta.OldestBlobFileNumber)
	}
	x.wantTable(want)
}

// twoMemtables gives the default family two memtables, 0 and 1, of 100 keys
// each.
func (x *flushTest) twoMemtables() {
	x.t.Helper()
	for i := range 2 {
		m := x.newMemTable(x.def())
		m.SetID(uint64(i))
		for n := i * 100; n < (i+1)*100; n++ {
			x.add(m, uint64(n), dbformat.TypeValue, fmt.Sprint(n), fmt.Sprint("value", n))
		}
		x.seal(x.def(), m)
	}
}

func TestFlushJobTest_FlushMemTablesSingleColumnFamily(t *testing.T) {
	x := newFlushTest(t, nil)
	x.twoMemtables()
	meta := x.run(x.job(x.def(), 0, nil))
	x.wantFlushTime()
	x.wantMeta(meta, "0", "99", 0, 99)
	if meta.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
		t.Errorf("oldest blob file %d", meta.OldestBlobFileNumber)
	}
	if n := x.def().imm.NumNotFlushed(); n != 1 {
		t.Errorf("%d memtables wait", n)
	}
}

func TestFlushJobTest_FlushMemtablesMultipleColumnFamilies(t *testing.T) {
	x := newFlushTest(t, nil)
	numMemtables := []int{2, 1, 3}
	cfds := slices.Clone(x.vs.GetColumnFamilySet().All())
	if len(cfds) != len(numMemtables) {
		t.Fatalf("%d families", len(cfds))
	}
	var seq rocksdb.SequenceNumber
	var smallest, largest []rocksdb.SequenceNumber
	var jobs []*FlushJob
	for k, cfd := range cfds {
		smallest = append(smallest, seq)
		for i := range numMemtables[k] {
			m := x.newMemTable(cfd)
			m.SetID(uint64(i))
			for j := range 1000 {
				key := fmt.Sprint(j + i*1000)
				x.add(m, seq, dbformat.TypeValue, key, "value"+key)
				seq++
			}
			x.seal(cfd, m)
		}
		largest = append(largest, seq-1)
		jobs = append(jobs, x.job(cfd, uint64(numMemtables[k]-1), func(c *FlushJobConfig) { c.SyncOutput, c.WriteManifest = false, false }))
	}
	x.mu.Lock()
	for _, j := range jobs {
		j.PickMemTable()
	}
	var metas []*version.FileMetaData
	var mems [][]*memtable.MemTable
	var lists []*MemTableList
	for k, j := range jobs {
		meta, err := j.Run()
		x.noErr(err)
		metas, mems, lists = append(metas, meta), append(mems, j.MemTables()), append(lists, cfds[k].imm)
	}
	commit := &FlushCommit{VersionSet: x.vs, Mutex: &x.mu, LogBuffer: logging.NewLogBuffer(rocksdb.InfoLevel, nil), Free: &x.free}
	err := InstallMemtableAtomicFlushResults(commit, lists, cfds, mems, metas)
	x.mu.Unlock()
	x.noErr(err)
	x.wantFlushTime()
	for k, meta := range metas {
		x.wantMeta(meta, "0", "999", smallest[k], largest[k])
		if id := cfds[k].imm.GetEarliestMemTableID(); id != math.MaxUint64 {
			t.Errorf("family %d: the earliest memtable is %d", k, id)
		}
		if id := cfds[k].imm.GetLatestMemTableID(false); id != 0 {
			t.Errorf("family %d: the latest memtable is %d", k, id)
		}
	}
}

func TestFlushJobTest_Snapshots(t *testing.T) {
	const keys, maxInserts = 10000, 8
	x := newFlushTest(t, nil)
	rnd := util.NewRandom(301)
	isSnapshot := map[rocksdb.SequenceNumber]bool{}
	for range keys / 2 {
		isSnapshot[uint64(rnd.Uniform(keys*(maxInserts/2)))+1] = true
	}
	var snapshots []rocksdb.SequenceNumber
	for s := range isSnapshot {
		snapshots = append(snapshots, s)
	}
	slices.Sort(snapshots)
	m := x.newMemTable(x.def())
	var want []mocktable.KV
	var seq rocksdb.SequenceNumber
	for i := 1; i < keys; i++ {
		key := fmt.Sprint(i)
		n := int(rnd.Uniform(maxInserts))
		for j := range n {
			value := rnd.HumanReadableString(10)
			seq++
			x.add(m, seq, dbformat.TypeValue, key, value)
			if j == n-1 || isSnapshot[seq] {
				want = append(want, kv(key, seq, dbformat.TypeValue, value))
			}
		}
	}
	x.seal(x.def(), m)
	x.run(x.job(x.def(), math.MaxUint64, func(c *FlushJobConfig) { c.Snapshots = snapshots }))
	x.wantTable(want)
	x.wantFlushTime()
}

func TestFlushJobTest_GetRateLimiterPriorityForWrite(t *testing.T) {
	x := newFlushTest(t, nil)
	x.twoMemtables()
	j := x.job(x.def(), 0, nil)
	want := func(p rocksdb.IOPriority) {
		t.Helper()
		if got := j.GetRateLimiterPriority(); got != p {
			t.Errorf("priority %v, not %v", got, p)
		}
	}
	want(rocksdb.IOHigh)
	wc := x.vs.GetColumnFamilySet().writeController
	// Writers are held back: the flush is what they wait for.
	delay := wc.GetDelayToken(1000000)
	want(rocksdb.IOUser)
	delay.Release()
	stop := wc.GetStopToken()
	want(rocksdb.IOUser)
	stop.Release()
	want(rocksdb.IOHigh)
}

func TestFlushJobTest_ReplaceTimedPutWriteTimeWithPreferredSeqno(t *testing.T) {
	x := newFlushTest(t, nil)
	mapping := seqnotime.NewSeqnoToTimeMapping()
	mapping.Append(10, 500)
	mapping.Append(20, 600)
	m := x.newMemTable(x.def())
	x.add(m, 15, dbformat.TypeValuePreferredSeqno, "bar", "bval"+u64(500))
	// Its time is that of a later sequence number: it becomes a plain value.
	x.add(m, 18, dbformat.TypeValuePreferredSeqno, "foo", "fval"+u64(600))
	x.seal(x.def(), m)
	meta := x.run(x.job(x.def(), math.MaxUint64, func(c *FlushJobConfig) { c.SeqnoToTimeMapping = mapping }))
	want := []mocktable.KV{kv("bar", 15, dbformat.TypeValuePreferredSeqno, "bval"+u64(10)), kv("foo", 18, dbformat.TypeValue, "fval")}
	if string(meta.Smallest) != string(want[0].Key) || string(meta.Largest) != string(want[1].Key) {
		t.Errorf("keys %s to %s", meta.Smallest.DebugString(false), meta.Largest.DebugString(false))
	}
	x.wantTable(want)
}

func u64(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }

// startTS is the first timestamp of the tests of history that goes.
const startTS = 10

// flushTimestampTest flushes 100 values of one key, and its deletion if deleted
// says so, where history below low may go.
func flushTimestampTest(t *testing.T, deleted bool, low uint64, check func(x *flushTest, persist bool, lastTS uint64, lastSeq rocksdb.SequenceNumber, f *version.FileMetaData)) {
	for _, paranoid := range []bool{false, true} {
		for _, persist := range []bool{false, true} {
			t.Run(fmt.Sprintf("paranoid=%v,persist=%v", paranoid, persist), func(t *testing.T) {
				x := newFlushTest(t, func(o *rocksdb.ColumnFamilyOptions) {
					o.Comparator = util.BytewiseComparatorWithU64Ts()
					o.ParanoidFileChecks, o.PersistUserDefinedTimestamps = paranoid, persist
				})
				m := x.newMemTable(x.def())
				var n uint64
				for ; n < 100; n++ {
					x.add(m, n, dbformat.TypeValue, u64(0)+u64(startTS+n), "0_value")
				}
				if deleted {
					x.add(m, n, dbformat.TypeDeletionWithTimestamp, u64(0)+u64(startTS+n), "")
					n++
				}
				x.seal(x.def(), m)
				x.def().SetFullHistoryTsLow([]byte(u64(low)))
				f := x.run(x.job(x.def(), math.MaxUint64, nil))
				check(x, persist, startTS+n-1, n-1, f)
			})
		}
	}
}

// wantInstalled checks a file's boundaries in the job's answer and in the
// version, and below which timestamp history may go.
func (x *flushTest) wantInstalled(f *version.FileMetaData, smallest, largest dbformat.InternalKey, low uint64) {
	x.t.Helper()
	files := x.def().Current().StorageInfo().LevelFiles(0)
	if len(files) != 1 {
		x.t.Fatalf("%d files in level 0", len(files))
	}
	for _, f := range []*version.FileMetaData{f, files[0]} {
		if string(f.Smallest) != string(smallest) || string(f.Largest) != string(largest) {
			x.t.Errorf("keys %s to %s, not %s to %s", f.Smallest.DebugString(true), f.Largest.DebugString(true), smallest.DebugString(true), largest.DebugString(true))
		}
	}
	if got := x.def().GetFullHistoryTsLow(); string(got) != u64(low) {
		x.t.Errorf("full_history_ts_low %x, not %x", got, u64(low))
	}
}

func TestFlushJobTimestampTest_AllKeysExpired(t *testing.T) {
	flushTimestampTest(t, true, math.MaxUint64, func(x *flushTest, persist bool, lastTS uint64, lastSeq rocksdb.SequenceNumber, f *version.FileMetaData) {
		if !persist {
			lastTS = 0
		}
		key := dbformat.NewInternalKey([]byte(u64(0)+u64(lastTS)), lastSeq, dbformat.TypeDeletionWithTimestamp)
		x.wantInstalled(f, key, key, math.MaxUint64)
	})
}

func TestFlushJobTimestampTest_NoKeyExpired(t *testing.T) {
	flushTimestampTest(t, false, 0, func(x *flushTest, persist bool, lastTS uint64, lastSeq rocksdb.SequenceNumber, f *version.FileMetaData) {
		key := func(ts uint64, seq rocksdb.SequenceNumber) dbformat.InternalKey {
			return dbformat.NewInternalKey([]byte(u64(0)+u64(ts)), seq, dbformat.TypeValue)
		}
		if persist {
			x.wantInstalled(f, key(lastTS, lastSeq), key(startTS, 0), 0)
		} else {
			// Without timestamps only the newest value is left.
			x.wantInstalled(f, key(0, lastSeq), key(0, lastSeq), lastTS+1)
		}
	})
}
