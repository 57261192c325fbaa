// Port of db/db_etc2_test.cc: traces of operations, and replays.

package db_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

func isInvalidArgument(err error) bool { return contract.CodeOf(err) == contract.CodeInvalidArgument }

// replayCounts counts results by kind. Upstream: TraceExecutionResultHandler.
type replayCounts struct {
	writes, gets, seeks, multiGets int
}

// replayTest is a database with families default and pikachu that is traced, and
// another of the same families that the trace is replayed in.
type replayTest struct {
	*dbTest
	path     string
	second   *rocksdb.DB
	families []*rocksdb.ColumnFamily

	mu     sync.Mutex
	counts replayCounts
}

func newReplayTest(t *testing.T) *replayTest {
	x := &replayTest{dbTest: newDBTest(t)}
	o := x.currentOptions()
	o.MergeOperator = mergeoperators.PutOperatorV2{}
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	if err := x.db.EndTrace(); !contract.IsIOError(err) {
		t.Errorf("end without a trace: %v", err)
	}
	x.path = filepath.Join(t.TempDir(), "rocksdb.trace")
	return x
}

func (x *replayTest) start(o rocksdb.TraceOptions) {
	x.Helper()
	w, err := rocksdb.NewFileTraceWriter(nil, nil, x.path)
	x.must(err)
	x.must(x.db.StartTrace(o, w))
}

// end ends the trace and writes what is not to be in it.
func (x *replayTest) end() {
	x.Helper()
	x.must(x.db.EndTrace())
	x.mustPut(0, "hello", "world")
	x.mustMerge(0, "foo", "bar")
}

// write does 6 writes to the default family.
func (x *replayTest) write() {
	x.Helper()
	x.mustPut(0, "a", "1")
	x.mustMerge(0, "b", "2")
	x.mustDelete(0, "c")
	x.mustSingleDelete(0, "d")
	x.must(x.db.DeleteRange(nil, []byte("e"), []byte("f")))
	b := rocksdb.NewWriteBatch()
	x.must(b.Put([]byte("f"), []byte("11")))
	x.must(b.Merge([]byte("g"), []byte("12")))
	x.must(b.Delete([]byte("h")))
	x.must(b.SingleDelete([]byte("i")))
	x.must(b.DeleteRange([]byte("j"), []byte("k")))
	x.must(x.db.Write(nil, b))
}

// seek does 2 seeks.
func (x *replayTest) seek() {
	x.Helper()
	it := x.db.NewIterator(nil)
	it.Seek([]byte("f"))
	it.SeekForPrev([]byte("g"))
	x.must(it.Status())
	x.must(it.Close())
}

// read does 2 gets of the default family, 2 writes and a get of the other.
func (x *replayTest) read() {
	x.Helper()
	x.wantGet(0, "a", "1")
	x.wantGet(0, "g", "12")
	x.mustPut(1, "foo", "bar")
	x.mustPut(1, "rocksdb", "rocks")
	x.wantGet(1, "leveldb", "NOT_FOUND")
}

// replayer opens the second database, which is empty, with a replayer of the trace.
func (x *replayTest) replayer() *rocksdb.Replayer {
	x.Helper()
	dir := filepath.Join(x.TempDir(), "db_replay")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.CreateMissingColumnFamilies, o.MergeOperator = true, true, mergeoperators.PutOperatorV2{}
	var err error
	x.second, x.families, err = rocksdb.OpenColumnFamilies(dir, o.DBOptions, []rocksdb.ColumnFamilyDescriptor{
		{Name: "default", Options: o.ColumnFamilyOptions}, {Name: "pikachu", Options: rocksdb.DefaultColumnFamilyOptions()}})
	x.must(err)
	f, err := rocksdb.NewFileTraceReader(nil, nil, x.path)
	x.must(err)
	r := x.second.NewDefaultReplayer(x.families, f)
	x.Cleanup(func() {
		x.must(r.Close())
		x.must(x.second.Close())
	})
	return r
}

// wantSecond checks a value in the second database.
func (x *replayTest) wantSecond(cf int, key, want string) {
	x.Helper()
	got := "NOT_FOUND"
	v, err := x.families[cf].Get(nil, []byte(key))
	if err == nil {
		got = string(v.Data())
		v.Release()
	} else if !contract.IsNotFound(err) {
		x.Fatal(err)
	}
	if got != want {
		x.Errorf("%s in family %d: %s, want %s", key, cf, got, want)
	}
}

// count counts a result, which has to be of its record's kind.
func (x *replayTest) count(r rocksdb.TraceRecordResult) {
	x.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	var e *tracereplay.TraceExecutionResult
	kind := tracereplay.TraceNone
	switch r := r.(type) {
	case *tracereplay.StatusOnlyTraceExecutionResult:
		x.counts.writes++
		e, kind = &r.TraceExecutionResult, tracereplay.TraceWrite
	case *tracereplay.SingleValueTraceExecutionResult:
		x.counts.gets++
		e, kind = &r.TraceExecutionResult, tracereplay.TraceGet
	case *tracereplay.MultiValuesTraceExecutionResult:
		x.counts.multiGets++
		e, kind = &r.TraceExecutionResult, tracereplay.TraceMultiGet
	case *tracereplay.IteratorTraceExecutionResult:
		x.counts.seeks++
		if e, kind = &r.TraceExecutionResult, tracereplay.TraceIteratorSeek; e.TraceType == tracereplay.TraceIteratorSeekForPrev {
			kind = e.TraceType
		}
	}
	if e == nil || e.TraceType != kind || e.StartTimestamp > e.EndTimestamp {
		x.Errorf("result %+v", r)
	}
}

func (x *replayTest) wantCounts(want replayCounts) {
	x.Helper()
	if x.counts != want {
		x.Errorf("%+v, want %+v", x.counts, want)
	}
	x.counts = replayCounts{}
}

// wantReplayed checks what write and read wrote, and end did not.
func (x *replayTest) wantReplayed() {
	x.Helper()
	for _, w := range []struct {
		cf        int
		key, want string
	}{
		{0, "a", "1"}, {0, "g", "12"}, {0, "hello", "NOT_FOUND"}, {0, "world", "NOT_FOUND"}, {1, "foo", "bar"}, {1, "rocksdb", "rocks"},
	} {
		x.wantSecond(w.cf, w.key, w.want)
	}
}

func (x *replayTest) wantIncomplete(err error) {
	x.Helper()
	if !contract.IsIncomplete(err) {
		x.Errorf("%v, want Incomplete", err)
	}
}

func TestDBTest2_TraceAndReplay(t *testing.T) {
	x := newReplayTest(t)
	x.start(rocksdb.DefaultTraceOptions())
	x.write()
	x.seek()
	x.read()
	x.end()
	r := x.replayer()
	x.wantSecond(0, "a", "NOT_FOUND")
	x.wantSecond(0, "g", "NOT_FOUND")
	callback := func(err error, result rocksdb.TraceRecordResult) {
		if err != nil && !contract.IsNotSupported(err) {
			t.Error(err)
		}
		if result != nil {
			x.count(result)
		}
	}
	x.wantIncomplete(r.Replay(rocksdb.DefaultReplayOptions(), nil))
	x.must(r.Prepare())
	x.must(r.Prepare())
	x.must(r.Replay(rocksdb.ReplayOptions{NumThreads: 1, FastForward: 1}, callback))
	want := replayCounts{writes: 8, gets: 3, seeks: 2}
	x.wantCounts(want)
	x.wantReplayed()
	x.wantIncomplete(r.Replay(rocksdb.DefaultReplayOptions(), nil))
	for _, fast := range []float64{2, 0.5} {
		x.must(r.Prepare())
		x.must(r.Replay(rocksdb.ReplayOptions{NumThreads: 2, FastForward: fast}, callback))
		x.wantCounts(want)
	}
	x.must(r.Prepare())
	if err := r.Replay(rocksdb.ReplayOptions{NumThreads: 1}, nil); !isInvalidArgument(err) {
		t.Errorf("no speed: %v", err)
	}
}

func TestDBTest2_TraceAndManualReplay(t *testing.T) {
	x := newReplayTest(t)
	x.start(rocksdb.DefaultTraceOptions())
	x.write()
	x.seek()
	b := rocksdb.NewWriteBatch()
	for _, k := range []string{"iter-0", "iter-1", "iter-2", "iter-3", "iter-4"} {
		x.must(b.Put([]byte(k), []byte(k)))
	}
	x.must(x.db.Write(nil, b))
	ro := rocksdb.DefaultReadOptions()
	ro.IterateLowerBound, ro.IterateUpperBound = []byte("iter-1"), []byte("iter-3")
	it := x.db.NewIterator(&ro)
	for _, s := range []struct{ forward, backward string }{{"iter-1", ""}, {"iter-2", "iter-2"}, {"", "iter-2"}} {
		at := map[string]string{"iter-1": "iter-0", "iter-2": "iter-2", "": "iter-4"}[s.forward]
		it.Seek([]byte(at))
		if it.Valid() != (s.forward != "") || it.Valid() && string(it.Key()) != s.forward {
			t.Errorf("Seek(%s) is not at %q", at, s.forward)
		}
		it.SeekForPrev([]byte(at))
		if it.Valid() != (s.backward != "") || it.Valid() && string(it.Key()) != s.backward {
			t.Errorf("SeekForPrev(%s) is not at %q", at, s.backward)
		}
	}
	x.must(it.Status())
	x.must(it.Close())
	x.read()
	x.end()
	r := x.replayer()
	x.wantSecond(0, "a", "NOT_FOUND")
	x.wantSecond(0, "g", "NOT_FOUND")
	for range 2 {
		_, err := r.Next()
		x.wantIncomplete(err)
		x.must(r.Prepare())
		for {
			record, err := r.Next()
			if contract.IsNotSupported(err) {
				continue
			}
			if err != nil {
				x.wantIncomplete(err)
				break
			}
			result, err := r.Execute(record)
			x.must(err)
			x.count(result)
			if s, ok := record.(*tracereplay.IteratorSeekQueryTraceRecord); ok {
				checkReplayedSeek(t, s, result.(*tracereplay.IteratorTraceExecutionResult))
			}
		}
		_, err = r.Next()
		x.wantIncomplete(err)
		x.wantCounts(replayCounts{writes: 9, gets: 3, seeks: 8})
	}
	x.wantReplayed()
	x.executeMadeUp(r)
}

// checkReplayedSeek checks that the bounds of the trace were kept to.
func checkReplayedSeek(t *testing.T, s *tracereplay.IteratorSeekQueryTraceRecord, got *tracereplay.IteratorTraceExecutionResult) {
	t.Helper()
	lower, upper, key := string(s.LowerBound), string(s.UpperBound), string(got.Key)
	if lower != "" && upper != "" {
		if lower != "iter-1" || upper != "iter-3" || got.Valid && (key < lower || key >= upper) {
			t.Errorf("bounds %s and %s, key %q", lower, upper, key)
		}
	}
	if !got.Valid && len(got.Key)+len(got.Value) > 0 {
		t.Errorf("not valid, but at %q", key)
	}
}

// executeMadeUp executes records that are not of a trace.
func (x *replayTest) executeMadeUp(r *rocksdb.Replayer) {
	x.Helper()
	execute := func(record rocksdb.TraceRecord) rocksdb.TraceRecordResult {
		x.Helper()
		result, err := r.Execute(record)
		x.must(err)
		x.count(result)
		return result
	}
	fails := func(is func(error) bool, record rocksdb.TraceRecord) {
		x.Helper()
		if result, err := r.Execute(record); !is(err) || result != nil {
			x.Errorf("%+v: %v, %v", record, result, err)
		}
	}
	b := rocksdb.NewWriteBatch()
	x.must(b.Put([]byte("trace-record-write1"), []byte("write1")))
	x.must(b.Put([]byte("trace-record-write2"), []byte("write2")))
	execute(&tracereplay.WriteQueryTraceRecord{Timestamp: 1, WriteBatchRep: b.Data()})
	x.wantSecond(0, "trace-record-write1", "write1")
	x.wantSecond(0, "trace-record-write2", "write2")
	x.wantCounts(replayCounts{writes: 1})

	first, second := x.families[0].GetID(), x.families[1].GetID()
	invalid := second + 1
	for _, k := range []string{"trace-record-write1", "trace-record-get"} {
		execute(&tracereplay.GetQueryTraceRecord{Timestamp: 2, ColumnFamilyID: first, Key: []byte(k)})
	}
	fails(contract.IsCorruption, &tracereplay.GetQueryTraceRecord{Timestamp: 3, ColumnFamilyID: invalid, Key: []byte("whatever")})
	x.wantCounts(replayCounts{gets: 2})

	for _, typ := range []tracereplay.TraceType{tracereplay.TraceIteratorSeek, tracereplay.TraceIteratorSeekForPrev} {
		for _, k := range []string{"trace-record-write1", "trace-record-get"} {
			execute(&tracereplay.IteratorSeekQueryTraceRecord{Timestamp: 4, SeekType: typ, ColumnFamilyID: first, Key: []byte(k)})
		}
		fails(contract.IsCorruption, &tracereplay.IteratorSeekQueryTraceRecord{Timestamp: 5, SeekType: typ, ColumnFamilyID: invalid, Key: []byte("whatever")})
	}
	x.wantCounts(replayCounts{seeks: 4})

	multi := func(keys []string, ids ...uint32) *tracereplay.MultiGetQueryTraceRecord {
		r := &tracereplay.MultiGetQueryTraceRecord{Timestamp: 6, ColumnFamilyIDs: ids}
		for _, k := range keys {
			r.Keys = append(r.Keys, []byte(k))
		}
		return r
	}
	execute(multi([]string{"a", "foo"}, first, second))
	execute(multi([]string{"no1", "no2"}, first, second))
	m := execute(multi([]string{"a", "no2"}, first, second)).(*tracereplay.MultiValuesTraceExecutionResult)
	if m.MultiStatus[0] != nil || !contract.IsNotFound(m.MultiStatus[1]) || string(m.Values[0]) != "1" || len(m.Values[1]) != 0 {
		x.Errorf("%+v", m)
	}
	fails(contract.IsCorruption, multi([]string{"a", "foo", "whatever"}, first, second, invalid))
	fails(isInvalidArgument, multi(nil))
	fails(isInvalidArgument, multi([]string{"a"}, first, second))
	x.wantCounts(replayCounts{multiGets: 3})
}

func TestDBTest2_TraceWithLimit(t *testing.T) {
	x := newReplayTest(t)
	o := rocksdb.DefaultTraceOptions()
	o.MaxTraceFileSize = 5
	x.start(o)
	for _, k := range []string{"a", "b", "c"} {
		x.mustPut(0, k, "1")
	}
	x.end()
	r := x.replayer()
	x.must(r.Prepare())
	x.must(r.Replay(rocksdb.DefaultReplayOptions(), nil))
	for _, k := range []string{"a", "b", "c"} {
		x.wantSecond(0, k, "NOT_FOUND")
	}
}

func TestDBTest2_TraceWithSampling(t *testing.T) {
	x := newReplayTest(t)
	o := rocksdb.DefaultTraceOptions()
	o.SamplingFrequency = 2
	x.start(o)
	keys := [...]string{"a", "b", "c", "d", "e"}
	values := [...]string{"1", "2", "3", "4", "5"}
	for i, k := range keys {
		x.mustPut(0, k, values[i])
	}
	x.end()
	r := x.replayer()
	x.must(r.Prepare())
	x.must(r.Replay(rocksdb.DefaultReplayOptions(), nil))
	for i, k := range keys {
		want := "NOT_FOUND"
		if i%2 == 1 {
			want = values[i]
		}
		x.wantSecond(0, k, want)
	}
}

func TestDBTest2_TraceWithFilter(t *testing.T) {
	x := newReplayTest(t)
	o := rocksdb.DefaultTraceOptions()
	o.Filter = rocksdb.TraceFilterWrite
	x.start(o)
	x.write()
	x.seek()
	x.read()
	x.end()
	r := x.replayer()
	x.must(r.Prepare())
	x.must(r.Replay(rocksdb.DefaultReplayOptions(), nil))
	for _, w := range []struct {
		cf  int
		key string
	}{{0, "a"}, {0, "g"}, {0, "hello"}, {0, "world"}, {1, "foo"}, {1, "rocksdb"}} {
		x.wantSecond(w.cf, w.key, "NOT_FOUND")
	}

	// Reads filtered out leave the writes.
	x.path = filepath.Join(t.TempDir(), "rocksdb.trace_3")
	w, err := rocksdb.NewFileTraceWriter(nil, nil, x.path)
	x.must(err)
	o.Filter = rocksdb.TraceFilterGet
	x.must(x.second.StartTrace(o, w))
	first := x.families[0]
	x.must(first.Put(nil, []byte("a"), []byte("1")))
	x.must(first.Merge(nil, []byte("b"), []byte("2")))
	x.must(first.Delete(nil, []byte("c")))
	x.must(first.SingleDelete(nil, []byte("d")))
	x.wantSecond(0, "a", "1")
	x.wantSecond(0, "c", "NOT_FOUND")
	x.must(x.second.EndTrace())
	f, err := rocksdb.NewFileTraceReader(nil, nil, x.path)
	x.must(err)
	defer f.Close()
	n := 0
	for _, err = f.Read(); err == nil; _, err = f.Read() {
		n++
	}
	if n != 1+4+1 || !contract.IsIncomplete(err) {
		t.Errorf("%d records, then %v", n, err)
	}
}
