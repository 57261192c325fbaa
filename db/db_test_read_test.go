// Port of db/db_test.cc (reads, file systems, snapshots, order of levels).

package db_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/util"
)

// inMemory opens a database in memory and leaves three keys in it.
func inMemory(t *testing.T, o rocksdb.Options, check func(d *rocksdb.DB)) {
	t.Helper()
	d, err := rocksdb.Open("/dir/db", o)
	if err != nil {
		t.Fatal(err)
	}
	if check(d); d.Close() != nil {
		t.Error("not closed")
	}
}

func wantThree(t *testing.T, d *rocksdb.DB) {
	t.Helper()
	for i, k := range []string{"aaa", "bbb", "ccc"} {
		v, err := d.Get(nil, []byte(k))
		if err != nil {
			t.Fatal(err)
		}
		same(t, k, string(v.Data()), []string{"foo", "bar", "baz"}[i])
		v.Release()
	}
}

func testInMemory(t *testing.T, e rocksdb.Env) rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.Env = true, e
	inMemory(t, o, func(d *rocksdb.DB) {
		for i, k := range []string{"aaa", "bbb", "ccc"} {
			if err := d.Put(nil, []byte(k), []byte([]string{"foo", "bar", "baz"}[i])); err != nil {
				t.Fatal(err)
			}
		}
		wantThree(t, d)
		var all []string
		it := d.NewIterator(nil)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			all = append(all, iterStatus(it))
		}
		if err := errors.Join(it.Err(), it.Close()); err != nil {
			t.Error(err)
		}
		same(t, "entries", strings.Join(all, " "), "aaa->foo bbb->bar ccc->baz")
		if err := d.Impl().TestFlushMemTable(true, false, d.ColumnFamily.Impl()); err != nil {
			t.Error(err)
		}
		wantThree(t, d)
	})
	return o
}

func TestDBTest_MockEnvTest(t *testing.T) { testInMemory(t, mockenv.Create(env.Default())) }

func TestDBTest_MemEnvTest(t *testing.T) {
	o := testInMemory(t, mockenv.NewMemEnv(env.Default()))
	o.CreateIfMissing = false
	inMemory(t, o, func(d *rocksdb.DB) { wantThree(t, d) })
}

// requestFS keeps the request that tables were last read for.
type requestFS struct {
	rocksdb.FileSystemWrapper
	last atomic.Pointer[string]
}

type requestFile struct {
	rocksdb.FSRandomAccessFileWrapper
	fs *requestFS
}

func (f *requestFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	r, err := f.Target().NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &requestFile{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: r}, f}, nil
}

func (f *requestFile) note(o *rocksdb.IOOptions) {
	if o.Dbg != nil {
		f.fs.last.Store(o.Dbg.RequestID)
	} else {
		f.fs.last.Store(nil)
	}
}

func (f *requestFile) Read(off uint64, n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	f.note(o)
	return f.FSRandomAccessFile.Read(off, n, o, scratch)
}

func (f *requestFile) MultiRead(r []rocksdb.FSReadRequest, o *rocksdb.IOOptions) error {
	f.note(o)
	return f.FSRandomAccessFile.MultiRead(r, o)
}

func TestDBTest_RequestIdPlumbingTest(t *testing.T) {
	x := newDBTest(t)
	fs := &requestFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
	x.reopen(x.onFS(x.currentOptions(), fs))
	read := func(id string, f func(ro *rocksdb.ReadOptions)) {
		t.Helper()
		fs.last.Store(nil)
		ro := rocksdb.DefaultReadOptions()
		ro.RequestID = id
		f(&ro)
		if got := fs.last.Load(); got == nil || *got != id {
			t.Errorf("read for %v, not %s", got, id)
		}
	}
	x.mustPut(0, "k1", "v1")
	x.flush(0)
	read("test_request_id_123", func(ro *rocksdb.ReadOptions) {
		v, err := x.db.Get(ro, []byte("k1"))
		x.must(err)
		v.Release()
	})
	x.mustPut(0, "k2", "v2")
	x.flush(0)
	read("test_request_id_456", func(ro *rocksdb.ReadOptions) {
		it := x.db.NewIterator(ro)
		it.Seek([]byte("k2"))
		same(t, "valid", it.Valid(), true)
		x.must(it.Close())
	})
	x.mustPut(0, "k3", "v3")
	x.mustPut(0, "k4", "v4")
	x.flush(0)
	read("test_request_id_789", func(ro *rocksdb.ReadOptions) {
		values, errs := make([]rocksdb.PinnableSlice, 2), make([]error, 2)
		x.db.MultiGet(ro, [][]byte{[]byte("k3"), []byte("k4")}, values, errs)
		x.must(errors.Join(errs...))
		values[0].Release()
		values[1].Release()
	})
}

func TestDBTest_LevelReopenWithFIFO(t *testing.T) {
	const levels, keys = 4, 5
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = keys + 1
	x.createAndReopenWithCF(pikachu[1:], o)
	fifo := o
	fifo.CompactionStyle, fifo.MaxOpenFiles, fifo.DisableAutoCompactions = rocksdb.CompactionStyleFIFO, -1, true
	name := func(k int) string { return string(rune('a' + k)) }
	// entries are those of key k that were put at the levels from first to last.
	entries := func(k, first, last int) string {
		var list []string
		for l := first; l <= last; l++ {
			list = append(list, fmt.Sprint(name(k), l))
		}
		if list == nil {
			return "[ ]"
		}
		return "[ " + strings.Join(list, ", ") + " ]"
	}
	check := func(want func(k int) string) {
		t.Helper()
		all := func() {
			t.Helper()
			for k := range keys {
				x.wantEntries(name(k), 1, want(k))
			}
		}
		all()
		x.reopenWithColumnFamilies(pikachu, fifo)
		all()
		x.reopenWithColumnFamilies(pikachu, o)
		all()
	}
	// Every level holds each key once, in a file of its own.
	for level := levels - 1; level >= 0; level-- {
		for p := range keys {
			x.mustPut(1, name(p), fmt.Sprint(name(p), level))
			x.flush(1)
			want := func(k int) string {
				if k <= p {
					return entries(k, level, levels-1)
				}
				return entries(k, level+1, levels-1)
			}
			check(want)
			if level > 0 {
				x.moveFilesToLevel(level, 1)
				check(want)
			}
			var files []string
			for l := range levels {
				files = append(files, fmt.Sprint(map[bool]int{l > level: keys, l == level: p + 1}[true]))
			}
			x.wantFiles(1, strings.Join(files, ","))
		}
	}
	// FIFO drops one file at a time: the last level's by key, then level 0's by age.
	for i := range levels * keys {
		size := x.intProperty(1, "rocksdb.total-sst-files-size")
		if size == 0 {
			t.Fatal("no files")
		}
		drop := fifo
		drop.DisableAutoCompactions = false
		drop.CompactionOptionsFIFO.MaxTableFilesSize = size - 1
		x.reopenWithColumnFamilies(pikachu, drop)
		x.must(x.full().TestCompactRange(0, nil, nil, x.cf(1).Impl(), false))
		x.must(x.full().TestWaitForBackgroundWork())
		check(func(k int) string {
			last := levels - 1 - i/keys
			if k <= i%keys {
				last--
			}
			return entries(k, 0, last)
		})
		left := levels*keys - 1 - i
		var files []string
		for ; left > 0; left -= keys {
			files = append(files, fmt.Sprint(min(left, keys)))
		}
		x.wantFiles(1, strings.Join(files, ","))
	}
}

// persisted reads keys from what is durable by Get and both kinds of MultiGet,
// "" for those not found.
func (x *dbTest) persisted(keys ...string) string {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.PersistedTier
	n := len(keys)
	list, families := make([][]byte, n), make([]*rocksdb.ColumnFamily, n)
	for i, k := range keys {
		list[i], families[i] = []byte(k), x.cf(1)
	}
	text := func(values []rocksdb.PinnableSlice, errs []error) string {
		x.Helper()
		var b strings.Builder
		for i := range values {
			if !errors.Is(errs[i], rocksdb.ErrNotFound) {
				x.must(errs[i])
				b.Write(values[i].Data())
				values[i].Release()
			}
			b.WriteByte(',')
		}
		return b.String()
	}
	values, errs := make([]rocksdb.PinnableSlice, n), make([]error, n)
	for i := range list {
		errs[i] = x.cf(1).GetInto(&ro, list[i], &values[i])
	}
	got := text(values, errs)
	x.cf(1).MultiGet(&ro, list, values, errs)
	same(x, "MultiGet", text(values, errs), got)
	x.db.MultiGetCF(&ro, families, list, values, errs)
	same(x, "MultiGet by families", text(values, errs), got)
	return got
}

func TestDBTest_ReadFromPersistedTier(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		o := x.currentOptions()
		for _, noWAL := range []bool{false, true} {
			x.createAndReopenWithCF(pikachu[1:], o)
			wo := rocksdb.DefaultWriteOptions()
			wo.DisableWAL = noWAL
			put := func(k, v string) { x.must(x.cf(1).Put(&wo, []byte(k), []byte(v))) }
			want := func(logged, unlogged string, keys ...string) {
				x.Helper()
				w := logged
				if noWAL {
					w = unlogged
				}
				same(x, fmt.Sprintf("%v without WAL: %t", keys, noWAL), x.persisted(keys...), w)
			}
			put("foo", "first")
			put("bar", "one")
			x.wantGet(1, "foo", "first")
			x.wantGet(1, "bar", "one")
			want("first,one,", ",,", "foo", "bar")
			x.flush(1)
			put("rocksdb", "hello")
			want("first,one,hello,", "first,one,,", "foo", "bar", "rocksdb")
			x.must(x.cf(1).Delete(&wo, []byte("foo")))
			x.flush(1)
			x.must(x.cf(1).Delete(&wo, []byte("bar")))
			// The deletion is not durable without WAL.
			want(",,hello,", ",one,hello,", "foo", "bar", "rocksdb")
			if !noWAL {
				x.destroyAndReopen(o)
			}
		}
	})
}

func TestDBTest_Snapshot(t *testing.T) {
	x := newDBTest(t)
	clock := env.NewEmulatedSystemClock(x.env.GetSystemClock(), false)
	clock.SetMockSleep(true)
	x.env = env.NewCompositeEnvWrapper(env.Default(), x.fault, clock)
	x.reopen(x.currentOptions())
	for more := true; more; more = x.changeOptions(skipNone) {
		x.snapshotCase(clock)
		s := x.db.GetSnapshot()
		same(x, "time of the oldest snapshot", x.intProperty(0, rocksdb.PropertyOldestSnapshotTime), uint64(s.GetUnixTime()))
		x.must(x.db.ReleaseSnapshot(s))
	}
}

// slowSyncFS holds syncs of tables back while told to.
type slowSyncFS struct {
	rocksdb.FileSystemWrapper
	mu   sync.Mutex
	hold chan struct{} // nil: nothing is held back
}

type slowSyncFile struct {
	rocksdb.FSWritableFileWrapper
	fs *slowSyncFS
}

func (f *slowSyncFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.Target().NewWritableFile(name, o)
	if err != nil || filepath.Ext(name) != ".sst" {
		return w, err
	}
	return &slowSyncFile{rocksdb.FSWritableFileWrapper{FSWritableFile: w}, f}, nil
}

func (f *slowSyncFS) set(hold bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if hold {
		f.hold = make(chan struct{})
	} else {
		close(f.hold)
		f.hold = nil
	}
}

func (f *slowSyncFile) wait() {
	f.fs.mu.Lock()
	hold := f.fs.hold
	f.fs.mu.Unlock()
	if hold != nil {
		<-hold
	}
}

func (f *slowSyncFile) Sync(o *rocksdb.IOOptions) error {
	f.wait()
	return f.FSWritableFile.Sync(o)
}

func (f *slowSyncFile) Fsync(o *rocksdb.IOOptions) error {
	f.wait()
	return f.FSWritableFile.Fsync(o)
}

func TestDBTest_GetFromImmutableLayer(t *testing.T) {
	eachOptions(t, skipNone, func(x *dbTest) {
		fs := &slowSyncFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.fault}}
		o := x.onFS(x.currentOptions(), fs)
		x.createAndReopenWithCF(pikachu[1:], o)
		x.mustPut(1, "foo", "v1")
		x.wantGet(1, "foo", "v1")
		fs.set(true)
		x.mustPut(1, "k1", dummyString(100000, 'x'))
		x.mustPut(1, "k2", dummyString(100000, 'y'))
		x.must(x.full().TestFlushMemTable(false, true, x.cf(1).Impl())) // it waits for the sync
		x.wantGet(1, "foo", "v1")
		x.wantGet(0, "foo", "NOT_FOUND")
		fs.set(false)
	})
}

func TestDBTest_FlushSchedule(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.Level0StopWritesTrigger, o.Level0SlowdownWritesTrigger = true, 1<<10, 1<<10
	o.MinWriteBufferNumberToMerge, o.MaxWriteBufferSizeToMaintain, o.MaxWriteBufferNumber = 1, int64(o.WriteBufferSize), 2
	o.WriteBufferSize = 120 << 10
	c := &flushCounter{want: rocksdb.FlushReasonWriteBufferFull}
	o.Listeners = append(o.Listeners, c)
	x.createAndReopenWithCF(pikachu[1:], o)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			rnd := util.NewRandom(uint32(i))
			for range 5000 { // about two memtables
				if err := x.cf(i&1).Put(nil, []byte(rnd.RandomString(13)), nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	same(t, "flushes for another reason", c.other.Load(), 0)
	for cf := range 2 {
		if n := x.totalTableFiles(cf); n == 0 || n > 10 {
			t.Errorf("family %d has %d tables", cf, n)
		}
	}
}
