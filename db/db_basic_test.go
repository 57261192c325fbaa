// Port of db/db_basic_test.cc.

package db_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// wantIs fails the test unless err is of the kind.
func (x *dbTest) wantIs(err, kind error) {
	x.Helper()
	if !errors.Is(err, kind) {
		x.Fatalf("error is %v, not of kind %v", err, kind)
	}
}

// wantEntries checks what allEntriesFor gives.
func (x *dbTest) wantEntries(key string, cf int, want string) {
	x.Helper()
	if got := x.allEntriesFor(key, cf); got != want {
		x.Fatalf("entries of %q: %s, not %s", key, got, want)
	}
}

// getPerf is get with a PerfContext.
func (x *dbTest) getPerf(cf int, key string, perf *rocksdb.PerfContext) string {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.PerfContext = perf
	v, err := x.cf(cf).Get(&ro, []byte(key))
	if errors.Is(err, rocksdb.ErrNotFound) {
		return "NOT_FOUND"
	}
	x.must(err)
	defer v.Release()
	return string(v.Data())
}

// onFS gives options that use a file system over the test's own.
func (x *dbTest) onFS(o rocksdb.Options, fs rocksdb.FileSystem) rocksdb.Options {
	o.Env = env.NewCompositeEnvWrapper(x.env, fs, nil)
	return o
}

// keysOf lists an iterator's keys, and closes it.
func (x *dbTest) keysOf(it *rocksdb.Iterator) (keys []string) {
	x.Helper()
	defer it.Close()
	for k := range it.All() {
		keys = append(keys, string(k))
	}
	x.must(it.Err())
	return keys
}

// fillLevels makes a table with the keys for each level.
func (x *dbTest) fillLevels(small, large string, cf int) {
	x.Helper()
	x.makeTables(x.cf(cf).Impl().CFD().NumberLevels(), small, large, cf)
}

func TestDBBasicTest_OpenWhenOpen(t *testing.T) {
	x := newDBTest(t)
	_, err := rocksdb.Open(x.dir, x.currentOptions())
	if !errors.Is(err, rocksdb.ErrIOError) || !strings.Contains(err.Error(), "lock ") {
		t.Fatal(err)
	}
}

func TestDBBasicTest_LevelLimitReopen(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = 256<<10, 128<<10, 512<<10
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	value := dummyString(64<<10, ' ')
	for i := 0; x.numTableFilesAtLevel(2, 1) == 0; i++ {
		x.mustPut(1, key(i), value)
		x.must(x.full().TestWaitForFlushMemTable(nil))
		x.must(x.full().TestWaitForCompact())
	}
	o.NumLevels = 1
	o.MaxBytesForLevelMultiplierAdditional = []int{1}
	err := x.tryReopenWithColumnFamilies([]string{"default", "pikachu"}, o)
	if !errors.Is(err, rocksdb.ErrInvalidArgument) || err.Error() != "Invalid argument: db has more levels than options.num_levels" {
		t.Fatal(err)
	}
	o.NumLevels = 10
	o.MaxBytesForLevelMultiplierAdditional = []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	x.reopenWithColumnFamilies([]string{"default", "pikachu"}, o)
}

func TestDBBasicGetWithParam_PutDeleteGet(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		x.mustPut(1, "foo", "v2")
		x.wantGet(1, "foo", "v2")
		x.mustDelete(1, "foo")
		x.wantGet(1, "foo", "NOT_FOUND")
		x.mustPut(0, "default_foo", "default_v1")
		x.wantGet(0, "default_foo", "default_v1")
	})
}

func TestDBBasicGetWithParam_PutSingleDeleteGet(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		x.mustPut(1, "foo2", "v2")
		x.wantGet(1, "foo2", "v2")
		x.mustSingleDelete(1, "foo")
		x.wantGet(1, "foo", "NOT_FOUND")
	})
}

func TestDBBasicTest_EmptyFlush(t *testing.T) {
	eachOptions(t, skipFIFOCompaction|skipUniversalCompaction|skipMergePut, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.mustPut(1, "a", "")
		x.mustSingleDelete(1, "a")
		x.flush(1)
		if got := x.allEntriesFor("a", 1); got != "[ ]" {
			t.Fatal(got)
		}
	})
}

func TestDBBasicGetWithParam_GetFromVersions(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		x.mustPut(1, "foo", "v1")
		x.flush(1)
		x.wantGet(1, "foo", "v1")
		x.wantGet(0, "foo", "NOT_FOUND")
	})
}

func TestDBBasicGetWithParam_GetSnapshot(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		for _, k := range []string{"foo", dummyString(200, 'x')} {
			x.mustPut(1, k, "v1")
			s := x.db.GetSnapshot()
			x.mustPut(1, k, "v2")
			x.wantGet(1, k, "v2")
			x.wantGetAt(1, k, s, "v1")
			x.flush(1)
			x.wantGet(1, k, "v2")
			x.wantGetAt(1, k, s, "v1")
			x.must(x.db.ReleaseSnapshot(s))
		}
	})
}

func TestDBBasicGetWithParam_TimedPutBasic(t *testing.T) {
	eachOptions(t, skipPlainTable, func(x *dbTest) {
		o := x.currentOptions()
		op, err := mergeoperators.New("stringappend")
		x.must(err)
		o.MergeOperator = op
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		timedPut := func(key, value string, seconds uint64) {
			t.Helper()
			b := rocksdb.NewWriteBatch()
			x.must(b.TimedPut(x.cf(1), []byte(key), []byte(value), seconds))
			x.must(x.db.Write(nil, b))
		}
		timedPut("foo", "v1", 0)
		x.wantGet(1, "foo", "v1")
		timedPut("foo", "v2.1", 3)
		x.wantGet(1, "foo", "v2.1")

		x.flush(1)
		x.mustMerge(1, "foo", "v2.2")
		x.wantGet(1, "foo", "v2.1,v2.2")
		x.mustDelete(1, "foo")
		x.wantGet(1, "foo", "NOT_FOUND")

		timedPut("bar", "bv1", 0)
		x.wantGet(1, "bar", "bv1")
		timedPut("baz", "bzv1", 0)
		x.wantGet(1, "baz", "bzv1")
		if x.config != configRowCache {
			x.must(x.cf(1).DeleteRange(nil, []byte("b"), []byte("baz")))
			x.wantGet(1, "bar", "NOT_FOUND")
		}
		x.wantGet(1, "baz", "bzv1")
		x.mustSingleDelete(1, "baz")
		x.wantGet(1, "baz", "NOT_FOUND")
	})
}

func TestDBBasicTest_CheckLock(t *testing.T) {
	x := newDBTest(t)
	for {
		o := x.currentOptions()
		x.reopen(o)
		if d, err := rocksdb.Open(x.dir, o); err == nil || !strings.Contains(err.Error(), "lock ") {
			t.Fatal(d, err)
		}
		if !x.changeCompactOptions() {
			break
		}
	}
}

func TestDBBasicTest_EnableDirectIOWithZeroBuf(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.UseDirectIOForFlushAndCompaction = true
	o.WritableFileMaxBufferSize = 0
	x.wantIs(x.tryReopen(o), rocksdb.ErrInvalidArgument)
	o.WritableFileMaxBufferSize = 1024
	x.reopen(o)
	x.wantIs(x.db.SetDBOptions(map[string]string{"writable_file_max_buffer_size": "0"}), rocksdb.ErrInvalidArgument)
}

func TestDBBasicTest_UniqueSession(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	form := regexp.MustCompile("^[0-9A-Z]{20}$")
	seen := map[string]bool{}
	// session checks the id of this opening: well-formed, and never had before.
	session := func() string {
		t.Helper()
		id := x.db.GetDbSessionId()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("session %q", id)
		}
		seen[id] = true
		return id
	}
	session()
	x.reopen(o)
	id := session()
	x.mustPut(0, "foo", "v1")
	if got := x.db.GetDbSessionId(); got != id {
		t.Fatal(got, id)
	}
	x.reopen(o)
	session()

	x.must(x.tryReadOnlyReopen(o))
	session()
	x.must(x.tryReadOnlyReopen(o))
	id = session()
	x.wantGet(0, "foo", "v1")
	if got := x.db.GetDbSessionId(); got != id {
		t.Fatal(got, id)
	}

	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"goku"}, o)
	id = session()
	x.mustPut(0, "bar", "e1")
	x.wantGet(0, "bar", "e1")
	if got := x.db.GetDbSessionId(); got != id {
		t.Fatal(got, id)
	}
	x.reopenWithColumnFamilies([]string{"default", "goku"}, o)
	session()
}

func TestDBBasicTest_FlushMultipleMemtable(t *testing.T) {
	x := newDBTest(t)
	for {
		o := x.currentOptions()
		wo := rocksdb.WriteOptions{DisableWAL: true}
		o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge, o.MaxWriteBufferSizeToMaintain = 4, 3, -1
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.must(x.cf(1).Put(&wo, []byte("foo"), []byte("v1")))
		x.flush(1)
		x.must(x.cf(1).Put(&wo, []byte("bar"), []byte("v1")))
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v1")
		x.flush(1)
		if !x.changeCompactOptions() {
			break
		}
	}
}

// blockThreads keeps the one background thread of a pool busy until wake.
func (x *dbTest) blockThreads(pri rocksdb.Priority) (wake func()) {
	x.Helper()
	x.env.SetBackgroundThreads(1, pri)
	running, stop, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	x.env.Schedule(func() {
		close(running)
		<-stop
		close(done)
	}, pri, nil, nil)
	<-running
	var once sync.Once
	wake = func() { once.Do(func() { close(stop); <-done }) }
	x.Cleanup(wake)
	return wake
}

func TestDBBasicTest_FlushEmptyColumnFamily(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 2, 1
	o.MaxWriteBufferSizeToMaintain = int64(o.WriteBufferSize)
	wo := rocksdb.WriteOptions{DisableWAL: true}
	wakeLow, wakeHigh := x.blockThreads(rocksdb.LowPriority), x.blockThreads(rocksdb.HighPriority)
	x.createAndReopenWithCF([]string{"pikachu"}, o)

	// There is nothing to flush, so no thread is needed.
	x.flush(0)
	x.flush(1)
	x.must(x.cf(0).Put(&wo, []byte("foo"), []byte("v1")))
	x.must(x.cf(1).Put(&wo, []byte("bar"), []byte("v1")))
	x.wantGet(0, "foo", "v1")
	x.wantGet(1, "bar", "v1")

	wakeHigh()
	x.flush(0)
	x.flush(1)
	wakeLow()
}

func TestDBBasicTest_Flush(t *testing.T) {
	x := newDBTest(t)
	names := []string{"default", "pikachu"}
	for {
		x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
		put := func(disableWAL bool, key, value string) {
			t.Helper()
			x.must(x.cf(1).Put(&rocksdb.WriteOptions{DisableWAL: disableWAL}, []byte(key), []byte(value)))
		}
		put(true, "foo", "v1")
		x.flush(1)
		put(true, "bar", "v1")
		perf := rocksdb.PerfContext{Level: rocksdb.EnableTime}
		if got := x.getPerf(1, "foo", &perf); got != "v1" || perf.GetFromOutputFilesTime == 0 || perf.GetReadBytes != 2 {
			t.Fatal(got, perf.GetFromOutputFilesTime, perf.GetReadBytes)
		}
		x.reopenWithColumnFamilies(names, x.currentOptions())
		x.wantGet(1, "foo", "v1")
		x.wantGet(1, "bar", "v1")

		put(true, "bar", "v2")
		put(true, "foo", "v2")
		x.flush(1)
		x.reopenWithColumnFamilies(names, x.currentOptions())
		x.wantGet(1, "bar", "v2")
		perf = rocksdb.PerfContext{Level: rocksdb.EnableTime}
		if got := x.getPerf(1, "foo", &perf); got != "v2" || perf.GetFromOutputFilesTime == 0 {
			t.Fatal(got, perf.GetFromOutputFilesTime)
		}

		put(false, "bar", "v3")
		put(false, "foo", "v3")
		x.flush(1)
		x.reopenWithColumnFamilies(names, x.currentOptions())
		x.wantGet(1, "foo", "v3")
		x.wantGet(1, "bar", "v3")
		if !x.changeCompactOptions() {
			break
		}
	}
}

func TestDBBasicTest_IdentityAcrossRestarts(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		for _, c := range []struct{ withManifest, writeFile bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
			x.identityAcrossRestarts(c.withManifest, c.writeFile)
		}
	}
}

func (x *dbTest) identityAcrossRestarts(withManifest, writeFile bool) {
	x.Helper()
	const minIDSize = 10
	name := filename.IdentityFileName(x.dir)
	id1 := x.db.GetDbIdentity()
	if len(id1) < minIDSize {
		x.Fatal(id1)
	}
	o := x.currentOptions()
	o.WriteDBIDToManifest, o.WriteIdentityFile = withManifest, true
	// step reopens and checks the id, and the file when there is to be one.
	step := func(same bool) {
		x.Helper()
		x.reopen(o)
		id := x.db.GetDbIdentity()
		if same != (id == id1) || len(id) < minIDSize {
			x.Fatalf("with manifest %v, file %v: id %q, first %q", withManifest, writeFile, id, id1)
		}
		data, err := os.ReadFile(name)
		if !o.WriteIdentityFile {
			if !os.IsNotExist(err) {
				x.Fatalf("IDENTITY: %q %v", data, err)
			}
			return
		}
		if err != nil || string(data) != id {
			x.Fatalf("IDENTITY is %q, not %q: %v", data, id, err)
		}
	}
	step(true)
	if writeFile {
		x.must(os.Remove(name))
	} else {
		o.WriteIdentityFile = false
		if !withManifest {
			if err := x.tryReopen(o); err == nil {
				x.Fatal("neither file nor manifest has the id")
			}
			o.WriteIdentityFile = true
			x.reopen(o)
			return
		}
	}
	step(withManifest)
	if writeFile {
		x.must(os.Truncate(name, 0))
	}
	step(withManifest)
	if writeFile {
		x.must(os.WriteFile(name, []byte("asdf123456789"), 0o644))
	}
	step(withManifest)
	if !withManifest && x.db.GetDbIdentity() != "asdf123456789" {
		x.Fatal(x.db.GetDbIdentity())
	}
}

func TestDBBasicGetWithParam_Snapshot(t *testing.T) {
	x := newDBTest(t)
	clock := env.NewEmulatedSystemClock(x.env.GetSystemClock(), false)
	clock.SetMockSleep(true)
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fault, clock)
	x.reopen(x.currentOptions())
	for more := true; more; more = x.changeOptions(skipNone) {
		x.snapshotCase(clock)
	}
}

func (x *dbTest) snapshotCase(clock *env.EmulatedSystemClock) {
	x.Helper()
	x.createAndReopenWithCF([]string{"pikachu"}, x.currentOptions())
	putBoth := func(v string) {
		x.Helper()
		x.mustPut(0, "foo", "0"+v)
		x.mustPut(1, "foo", "1"+v)
	}
	wantBoth := func(s rocksdb.Snapshot, v string) {
		x.Helper()
		x.wantGetAt(0, "foo", s, "0"+v)
		x.wantGetAt(1, "foo", s, "1"+v)
	}
	oldestTime := func() uint64 { return x.intProperty(0, rocksdb.PropertyOldestSnapshotTime) }
	// state checks the number of snapshots and the oldest one's sequence number.
	state := func(n, oldest uint64) {
		x.Helper()
		if got := x.intProperty(0, rocksdb.PropertyNumSnapshots); got != n {
			x.Fatalf("%d snapshots, not %d", got, n)
		}
		if got := x.intProperty(0, rocksdb.PropertyOldestSnapshotSequence); got != oldest {
			x.Fatalf("oldest snapshot is of %d, not %d", got, oldest)
		}
	}
	putBoth("v1")
	s1 := x.db.GetSnapshot()
	state(1, s1.GetSequenceNumber())
	time1 := oldestTime()
	if time1 == 0 {
		x.Fatal("no time")
	}
	putBoth("v2")
	clock.MockSleepForSeconds(1)
	s2 := x.db.GetSnapshot()
	state(2, s1.GetSequenceNumber())
	if oldestTime() != time1 {
		x.Fatal(oldestTime(), time1)
	}
	putBoth("v3")
	s3 := x.db.GetSnapshot()
	state(3, s1.GetSequenceNumber())
	putBoth("v4")
	wantBoth(s1, "v1")
	wantBoth(s2, "v2")
	wantBoth(s3, "v3")
	wantBoth(nil, "v4")
	x.must(x.db.ReleaseSnapshot(s3))

	state(2, s1.GetSequenceNumber())
	if oldestTime() != time1 {
		x.Fatal(oldestTime(), time1)
	}
	wantBoth(s1, "v1")
	wantBoth(s2, "v2")
	wantBoth(nil, "v4")
	x.must(x.db.ReleaseSnapshot(s1))
	wantBoth(s2, "v2")
	wantBoth(nil, "v4")
	state(1, s2.GetSequenceNumber())
	if oldestTime() <= time1 {
		x.Fatal(oldestTime(), time1)
	}
	x.must(x.db.ReleaseSnapshot(s2))
	state(0, 0)
	wantBoth(nil, "v4")
}

func TestDBBasicMultiConfigs_CompactBetweenSnapshots(t *testing.T) {
	eachOptions(t, skipFIFOCompaction, func(x *dbTest) {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.destroyAndReopen(o)
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		x.fillLevels("a", "z", 1)

		x.mustPut(1, "foo", "first")
		s1 := x.db.GetSnapshot()
		for _, v := range []string{"second", "third", "fourth"} {
			x.mustPut(1, "foo", v)
		}
		s2 := x.db.GetSnapshot()
		x.mustPut(1, "foo", "fifth")
		x.mustPut(1, "foo", "sixth")
		x.wantEntries("foo", 1, "[ sixth, fifth, fourth, third, second, first ]")
		x.wantGet(1, "foo", "sixth")
		x.wantGetAt(1, "foo", s2, "fourth")
		x.wantGetAt(1, "foo", s1, "first")

		x.flush(1)
		x.wantEntries("foo", 1, "[ sixth, fourth, first ]")

		x.must(x.db.ReleaseSnapshot(s1))
		x.fillLevels("a", "z", 1)
		x.compact(1, "", "")
		x.wantGet(1, "foo", "sixth")
		x.wantGetAt(1, "foo", s2, "fourth")
		x.wantEntries("foo", 1, "[ sixth, fourth ]")

		x.must(x.db.ReleaseSnapshot(s2))
		x.fillLevels("a", "z", 1)
		x.compact(1, "", "")
		x.wantGet(1, "foo", "sixth")
		x.wantEntries("foo", 1, "[ sixth ]")
	})
}

func TestDBBasicTest_DBOpen_Options(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroy(o)
	o.CreateIfMissing = false
	if err := x.tryReopen(o); err == nil || !strings.Contains(err.Error(), "does not exist") || x.db != nil {
		t.Fatal(err)
	}
	o.CreateIfMissing = true
	x.reopen(o)
	o.CreateIfMissing, o.ErrorIfExists = false, true
	if err := x.tryReopen(o); err == nil || !strings.Contains(err.Error(), "exists") || x.db != nil {
		t.Fatal(err)
	}
	o.CreateIfMissing, o.ErrorIfExists = true, false
	x.reopen(o)
}

func TestDBBasicTest_CompactOnFlush(t *testing.T) {
	x := newDBTest(t)
	for more := true; more; more = x.changeCompactOptions() {
		o := x.currentOptions()
		o.DisableAutoCompactions = true
		x.createAndReopenWithCF([]string{"pikachu"}, o)
		put := func(v string) { t.Helper(); x.mustPut(1, "foo", v) }
		want := func(entries string) { t.Helper(); x.wantEntries("foo", 1, entries) }
		compacted := func(entries string) { t.Helper(); x.compact(1, "", ""); want(entries) }
		flushed := func(entries string) { t.Helper(); x.flush(1); want(entries) }

		put("v1")
		flushed("[ v1 ]")
		x.mustPut(1, "a", "begin")
		x.mustPut(1, "z", "end")
		x.flush(1)

		// A deletion and a value.
		x.mustDelete(1, "foo")
		put("v2")
		want("[ v2, DEL, v1 ]")
		flushed("[ v2, v1 ]")
		compacted("[ v2 ]")
		// Two deletions.
		x.mustDelete(1, "foo")
		x.mustDelete(1, "foo")
		want("[ DEL, DEL, v2 ]")
		flushed("[ DEL, v2 ]")
		compacted("[ ]")
		// A value and a deletion.
		put("v3")
		x.mustDelete(1, "foo")
		want("[ DEL, v3 ]")
		flushed("[ DEL ]")
		compacted("[ ]")
		// Two values.
		put("v4")
		put("v5")
		want("[ v5, v4 ]")
		flushed("[ v5 ]")
		compacted("[ v5 ]")
		x.mustDelete(1, "foo")
		compacted("[ ]")
		// Two values with a snapshot between stay.
		put("v6")
		s := x.db.GetSnapshot()
		put("v7")
		flushed("[ v7, v6 ]")
		x.must(x.db.ReleaseSnapshot(s))
		x.mustDelete(1, "foo")
		compacted("[ ]")
		// Of two values after a snapshot the last stays.
		s = x.db.GetSnapshot()
		put("v8")
		put("v9")
		flushed("[ v9 ]")
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestDBBasicTest_FlushOneColumnFamily(t *testing.T) {
	x := newDBTest(t)
	names := []string{"pikachu", "ilya", "muromec", "dobrynia", "nikitich", "alyosha", "popovich"}
	x.createAndReopenWithCF(names, x.currentOptions())
	for i, n := range append([]string{"Default"}, names...) {
		x.mustPut(i, n, n)
	}
	for i := range 8 {
		x.flush(i)
		if n := x.countFiles(rocksdb.TableFile); n != i+1 {
			t.Fatal(n, i)
		}
	}
}

func TestDBBlockChecksumTest_BlockChecksumTest(t *testing.T) {
	kinds := []rocksdb.ChecksumType{rocksdb.NoChecksum, rocksdb.CRC32c, rocksdb.XXHash, rocksdb.XXHash64, rocksdb.XXH3}
	const perFile = 2
	for _, version := range []uint32{2, 3, 4, 5, 6, 7} {
		x := newDBTest(t)
		o := x.currentOptions()
		table := rocksdb.DefaultBlockBasedTableOptions()
		table.FormatVersion = version
		reopen := func(k rocksdb.ChecksumType) error {
			table.Checksum = k
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
			return x.tryReopen(o)
		}
		for i, k := range kinds {
			x.must(reopen(k))
			for j := range perFile {
				x.mustPut(0, key(i*perFile+j), key(i*perFile+j))
			}
			x.flush(0)
		}
		// Each kind is read and verified, whatever new tables have.
		for _, k := range kinds {
			x.must(reopen(k))
			for j := range len(kinds) * perFile {
				x.wantGet(0, key(j), key(j))
			}
		}
		x.wantIs(reopen(123), rocksdb.ErrInvalidArgument)
	}
}

func TestDBBasicTest_MmapAndBufferOptions(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.UseDirectReads, o.AllowMmapReads = true, true
	if err := x.tryReopen(o); err == nil {
		t.Fatal("direct and mapped reads")
	}
	o.UseDirectReads = false
	x.reopen(o)
	o.UseDirectReads, o.AllowMmapReads = true, false
	x.reopen(o)
	o.UseDirectReads = false
	x.reopen(o)
}

// loggingEnv makes loggers whose Close counts and fails.
type loggingEnv struct {
	rocksdb.EnvWrapper
	fs loggingFS
}

type loggingFS struct {
	rocksdb.FileSystemWrapper
	closes int
}

type failingLogger struct {
	rocksdb.LoggerBase
	fs *loggingFS
}

func (l *failingLogger) Logv(rocksdb.InfoLogLevel, string, ...any) {}
func (l *failingLogger) LogHeader(string, ...any)                  {}
func (l *failingLogger) Close() error {
	l.fs.closes++
	return rocksdb.IOError()
}

func (f *loggingFS) NewLogger(string, *rocksdb.IOOptions) (rocksdb.Logger, error) {
	return &failingLogger{fs: f}, nil
}

func (e *loggingEnv) GetFileSystem() rocksdb.FileSystem { return &e.fs }

func TestDBBasicTest_DBClose(t *testing.T) {
	x := newDBTest(t)
	dir := filepath.Join(t.TempDir(), "db_close_test")
	e := &loggingEnv{EnvWrapper: rocksdb.EnvWrapper{Env: x.env}}
	e.fs.FileSystemWrapper = rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}
	o := x.defaultOptions()
	o.Env = e
	closes := func(n int) {
		t.Helper()
		if e.fs.closes != n {
			t.Fatalf("%d closes of the logger, not %d", e.fs.closes, n)
		}
	}
	d, err := rocksdb.Open(dir, o)
	x.must(err)
	x.wantIs(d.Close(), rocksdb.ErrIOError)
	closes(1)
	// Once more is the same answer, and no second close.
	x.wantIs(d.Close(), rocksdb.ErrIOError)
	closes(1)

	o.CreateIfMissing = false
	d, err = rocksdb.Open(dir, o)
	x.must(err)
	x.wantIs(d.WaitForCompact(&rocksdb.WaitForCompactOptions{CloseDB: true}), rocksdb.ErrIOError)
	closes(2)
	x.wantIs(d.Close(), rocksdb.ErrIOError)
	closes(2)

	// A logger that the options bring is not the database's to close.
	own := &failingLogger{fs: &e.fs}
	o.InfoLog = own
	d, err = rocksdb.Open(dir, o)
	x.must(err)
	x.must(d.Close())
	closes(2)
}

func TestDBBasicTest_DBCloseAllDirectoryFDs(t *testing.T) {
	x := newDBTest(t)
	dir := filepath.Join(t.TempDir(), "db")
	o := x.defaultOptions()
	o.WALDir = dir + "_wal_dir"
	o.DBPaths = []rocksdb.DBPath{{Path: dir + "_1", TargetSize: 512 << 10}, {Path: dir + "_2", TargetSize: 4 << 20}, {Path: dir + "_3", TargetSize: 1 << 30}}
	counted := fsutil.NewCountedFileSystem(env.DefaultFileSystem())
	o.Env = env.NewCompositeEnv(counted)
	d, err := rocksdb.Open(dir, o)
	x.must(err)
	x.must(d.Close())
	c := counted.Counters()
	if opens, closes := c.DirOpens.Load(), c.DirCloses.Load(); opens == 0 || opens != closes {
		t.Fatalf("%d directories opened, %d closed", opens, closes)
	}
}

func TestDBBasicTest_DBCloseFlushError(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	o.ManualWALFlush = true
	o.WriteBufferSize = 100
	x.reopen(o)
	x.mustPut(0, "key1", "value1")
	x.mustPut(0, "key2", "value2")
	x.must(x.full().TestSwitchMemtable(nil))
	x.mustPut(0, "key3", "value3")
	x.fault.SetFilesystemActive(false, nil)
	for i := range 3 {
		if i == 2 {
			x.fault.SetFilesystemActive(true, nil)
		}
		// Close is not tried again: its answer stays.
		if err := x.db.Close(); err == nil {
			t.Fatal("closed", i)
		}
	}
}

func TestDBBasicTest_ConcurrentlyCloseDB(t *testing.T) {
	x := newDBTest(t)
	x.destroyAndReopen(x.currentOptions())
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() { errs[i] = x.db.Close() })
	}
	wg.Wait()
	x.must(errors.Join(errs...))
}

func TestDBBasicTest_DestroyDefaultCfHandle(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	x.destroyAndReopen(o)
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	for _, h := range x.cfs {
		if h.Impl() == x.db.Impl().DefaultColumnFamily() {
			t.Fatal("the handle of the default family is shared")
		}
	}
	if x.db.GetID() != 0 || x.cfs[0].GetID() != 0 {
		t.Fatal(x.db.GetID(), x.cfs[0].GetID())
	}
	for _, h := range x.cfs {
		x.must(h.Close())
	}
	x.cfs = nil
	x.wantIs(x.db.ColumnFamily.Close(), rocksdb.ErrInvalidArgument)
}
