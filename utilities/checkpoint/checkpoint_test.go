// Port of utilities/checkpoint/checkpoint_test.cc (what needs no sync points).

package checkpoint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// cpTest is a database with names for a checkpoint and an export beside it.
type cpTest struct {
	*testing.T
	dir, snapshot, export string
	o                     rocksdb.Options
	db                    *rocksdb.DB
	cfs                   []*rocksdb.ColumnFamily
}

func newCPTest(t *testing.T) *cpTest {
	t.Helper()
	top := t.TempDir()
	x := &cpTest{T: t, dir: filepath.Join(top, "db"), snapshot: filepath.Join(top, "snapshot"), export: filepath.Join(top, "export"),
		o: rocksdb.DefaultOptions()}
	x.o.CreateIfMissing = true
	t.Cleanup(x.close)
	x.reopen(x.o)
	return x
}

func (x *cpTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *cpTest) wantIs(err, kind error) {
	x.Helper()
	if !errors.Is(err, kind) {
		x.Fatalf("error is %v, not of kind %v", err, kind)
	}
}

func (x *cpTest) close() {
	for _, c := range x.cfs {
		c.Close()
	}
	if x.db != nil {
		if err := x.db.Close(); err != nil {
			x.Errorf("close: %v", err)
		}
	}
	x.db, x.cfs = nil, nil
}

func (x *cpTest) reopen(o rocksdb.Options) {
	x.Helper()
	x.close()
	db, err := rocksdb.Open(x.dir, o)
	x.must(err)
	x.db, x.cfs = db, nil
}

func (x *cpTest) destroyAndReopen(o rocksdb.Options) {
	x.Helper()
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, x.o))
	x.reopen(o)
}

func families(o rocksdb.Options, names []string) []rocksdb.ColumnFamilyDescriptor {
	list := []rocksdb.ColumnFamilyDescriptor{{Name: "default", Options: o.ColumnFamilyOptions}}
	for _, n := range names {
		list = append(list, rocksdb.ColumnFamilyDescriptor{Name: n, Options: o.ColumnFamilyOptions})
	}
	return list
}

// withFamilies makes families; x.cfs has the default one first.
func (x *cpTest) withFamilies(o rocksdb.Options, names ...string) {
	x.Helper()
	x.close()
	o.CreateMissingColumnFamilies = true
	db, cfs, err := rocksdb.OpenColumnFamilies(x.dir, o.DBOptions, families(o, names))
	x.must(err)
	x.db, x.cfs = db, cfs
}

func (x *cpTest) cf(i int) *rocksdb.ColumnFamily {
	if len(x.cfs) == 0 {
		return x.db.ColumnFamily
	}
	return x.cfs[i]
}

func (x *cpTest) put(cf int, key, value string) {
	x.Helper()
	x.must(x.cf(cf).Put(nil, []byte(key), []byte(value)))
}

func (x *cpTest) flush(cf int) {
	x.Helper()
	x.must(x.cf(cf).Flush(nil))
}

func wantIn(t *testing.T, cf *rocksdb.ColumnFamily, key, want string) {
	t.Helper()
	v, err := cf.Get(nil, []byte(key))
	if err != nil {
		t.Fatalf("%q: %v", key, err)
	}
	defer v.Release()
	if string(v.Data()) != want {
		t.Fatalf("%q is %.100q, not %.100q", key, v.Data(), want)
	}
}

func (x *cpTest) want(cf int, key, want string) { x.Helper(); wantIn(x.T, x.cf(cf), key, want) }

func (x *cpTest) tryCheckpoint(logSize uint64) error {
	_, err := rocksdb.NewCheckpoint(x.db).CreateCheckpoint(x.snapshot, logSize)
	return err
}

func (x *cpTest) checkpoint(logSize uint64) { x.Helper(); x.must(x.tryCheckpoint(logSize)) }

// wantSnapshot opens the checkpoint, with families where names are given, and
// wants a key and value of each.
func (x *cpTest) wantSnapshot(names []string, pairs ...string) {
	x.Helper()
	o := x.o
	o.CreateIfMissing = false
	db, cfs, err := rocksdb.OpenColumnFamilies(x.snapshot, o.DBOptions, families(o, names))
	x.must(err)
	defer func() {
		for _, c := range cfs {
			c.Close()
		}
		x.must(db.Close())
	}()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] != "" {
			wantIn(x.T, cfs[min(i/2, len(cfs)-1)], pairs[i], pairs[i+1])
		}
	}
}

func TestCheckpointTest_GetSnapshotLink(t *testing.T) {
	for _, logSize := range []uint64{0, 1000000} {
		t.Run(fmt.Sprint("log_size_for_flush=", logSize), func(t *testing.T) {
			x := newCPTest(t)
			x.put(0, "foo", "v1")
			x.checkpoint(logSize)
			x.put(0, "foo", "v2")
			x.want(0, "foo", "v2")
			x.flush(0)
			x.want(0, "foo", "v2")
			x.wantSnapshot(nil, "foo", "v1")
			x.close()
			x.must(rocksdb.DestroyDB(x.dir, x.o))
			x.wantSnapshot(nil, "foo", "v1")
			x.must(rocksdb.DestroyDB(x.snapshot, x.o))
		})
	}
}

func TestCheckpointTest_CheckpointWithBlob(t *testing.T) {
	x := newCPTest(t)
	x.o.EnableBlobFiles, x.o.MinBlobSize = true, 0
	x.reopen(x.o)
	x.put(0, "key", "blob")
	x.flush(0)
	x.checkpoint(0)
	if names, _ := filepath.Glob(x.snapshot + "/*.blob"); len(names) == 0 {
		t.Error("no blob file in the checkpoint")
	}
	x.wantSnapshot(nil, "key", "blob")
}

// exported exports a family and wants so many files, then removes them.
func (x *cpTest) exported(cf *rocksdb.ColumnFamily, files int, comparator string) {
	x.Helper()
	m, err := rocksdb.NewCheckpoint(x.db).ExportColumnFamily(cf, x.export)
	x.must(err)
	there, err := os.ReadDir(x.export)
	x.must(err)
	if len(m.Files) != files || len(there) != files || m.DBComparatorName != comparator {
		x.Fatalf("%d files, %d in the directory, not %d; comparator %s", len(m.Files), len(there), files, m.DBComparatorName)
	}
	x.must(os.RemoveAll(x.export))
}

func TestCheckpointTest_ExportColumnFamilyWithLinks(t *testing.T) {
	x := newCPTest(t)
	x.withFamilies(x.o)
	bytewise := util.BytewiseComparator().Name()
	x.put(0, "foo", "v1")
	x.exported(x.cf(0), 1, bytewise)
	x.must(x.cf(0).CompactRange(nil, nil, nil))
	x.put(0, "foo", "v2")
	x.exported(x.cf(0), 2, bytewise)

	o := x.o.ColumnFamilyOptions
	o.Comparator = util.ReverseBytewiseComparator()
	yoyo, err := x.db.CreateColumnFamily(o, "yoyo")
	x.must(err)
	x.cfs = append(x.cfs, yoyo)
	x.put(1, "foo", "v1")
	x.exported(yoyo, 1, o.Comparator.Name())
}

func TestCheckpointTest_ExportEmptyColumnFamily(t *testing.T) {
	x := newCPTest(t)
	x.withFamilies(x.o)
	x.exported(x.cf(0), 0, util.BytewiseComparator().Name())
}

func TestCheckpointTest_ExportColumnFamilyNegativeTest(t *testing.T) {
	x := newCPTest(t)
	x.put(0, "foo", "v1")
	for dir, message := range map[string]string{x.export: "Specified export_dir exists", "": "Specified export_dir invalid"} {
		if dir != "" {
			x.must(os.MkdirAll(dir, 0o755))
		}
		_, err := rocksdb.NewCheckpoint(x.db).ExportColumnFamily(x.db.ColumnFamily, dir)
		x.wantIs(err, rocksdb.ErrInvalidArgument)
		if !strings.Contains(err.Error(), message) {
			t.Errorf("export to %q: %v", dir, err)
		}
	}
}

func TestCheckpointTest_CheckpointInvalidDirectoryName(t *testing.T) {
	x := newCPTest(t)
	for _, dir := range []string{"", "/", "////"} {
		_, err := rocksdb.NewCheckpoint(x.db).CreateCheckpoint(dir, 0)
		x.wantIs(err, rocksdb.ErrInvalidArgument)
	}
}

func TestCheckpointTest_CheckpointWithParallelWrites(t *testing.T) {
	x := newCPTest(t)
	x.put(0, "key1", "val1")
	written := make(chan error)
	go func() { written <- x.db.Put(nil, []byte("key2"), []byte("val2")) }()
	x.checkpoint(0)
	x.must(<-written)
	x.wantSnapshot(nil, "key1", "val1")
}

func TestCheckpointTestWithWalParams_CheckpointWithUnsyncedDataDropped(t *testing.T) {
	type params struct {
		logSize                         uint64
		inManifest, manual, backgrounds bool
	}
	cases := []params{{100000000, true, false, true}}
	for i := range 8 {
		cases = append(cases, params{uint64(i&1) * 100000000, i&2 != 0, i&4 != 0, false})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			x := newCPTest(t)
			fault := fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
			o := x.o
			o.MaxWriteBufferNumber = 4
			o.TrackAndVerifyWALsInManifest, o.ManualWALFlush, o.BackgroundCloseInactiveWALs = c.inManifest, c.manual, c.backgrounds
			if c.backgrounds {
				fault.SetAllowLinkOpenFile(true)
			}
			o.Env = env.NewCompositeEnvWrapper(env.Default(), fault, nil)
			x.reopen(o)
			x.put(0, "key1", "val1")
			if c.logSize > 0 {
				// A log that is closed and synced, one that is closed and not
				// synced, and the open one.
				x.must(x.db.PauseBackgroundWork())
				x.must(x.db.Impl().TestSwitchMemtable(nil))
				x.must(x.db.SyncWAL())
			}
			x.put(0, "key2", "val2")
			if c.logSize > 0 {
				x.must(x.db.Impl().TestSwitchMemtable(nil))
			}
			x.put(0, "key3", "val3")
			x.checkpoint(c.logSize)
			fault.DropUnsyncedFileData()
			x.wantSnapshot(nil, "key1", "val1", "key2", "val2", "key3", "val3")
			if c.logSize > 0 {
				x.must(x.db.ContinueBackgroundWork())
			}
			// What was written meanwhile is lost; closing may say so.
			_ = x.db.Close()
			x.db = nil
		})
	}
}

func TestCheckpointTest_CheckpointReadOnlyDB(t *testing.T) {
	x := newCPTest(t)
	x.put(0, "foo", "foo_value")
	x.flush(0)
	x.close()
	var err error
	x.db, err = rocksdb.OpenForReadOnly(x.dir, x.o)
	x.must(err)
	x.checkpoint(0)
	x.close()
	x.wantSnapshot(nil, "foo", "foo_value")
}

func TestCheckpointTest_CheckpointWithLockWAL(t *testing.T) {
	x := newCPTest(t)
	x.put(0, "foo", "foo_value")
	x.must(x.db.LockWAL())
	x.checkpoint(0)
	x.must(x.db.UnlockWAL())
	x.close()
	x.wantSnapshot(nil, "foo", "foo_value")
}

func TestCheckpointTest_CheckpointReadOnlyDBWithMultipleColumnFamilies(t *testing.T) {
	x := newCPTest(t)
	names := []string{"pikachu", "eevee"}
	x.withFamilies(x.o, names...)
	for i := range 3 {
		x.put(i, "foo", "foo_value")
		x.flush(i)
	}
	x.close()
	var err error
	x.db, x.cfs, err = rocksdb.OpenColumnFamiliesForReadOnly(x.dir, x.o.DBOptions, families(x.o, names), false)
	x.must(err)
	x.checkpoint(0)
	x.close()
	x.wantSnapshot(names, "foo", "foo_value", "foo", "foo_value", "foo", "foo_value")
}

func TestCheckpointTest_CheckpointWithDbPath(t *testing.T) {
	x := newCPTest(t)
	o := x.o
	o.DBPaths = []rocksdb.DBPath{{Path: x.dir + "_2"}}
	x.reopen(o)
	x.put(0, "key1", "val1")
	x.flush(0)
	x.wantIs(x.tryCheckpoint(0), rocksdb.ErrNotSupported)
}

// Requests to flush one family and all as one may wait in the queue together.
func mixedFlushes(t *testing.T, atomicFirst bool) *cpTest {
	x := newCPTest(t)
	x.withFamilies(x.o, "one", "two")
	x.must(x.db.PauseBackgroundWork())
	flush := func(atomic bool, cf int) {
		t.Helper()
		fo := rocksdb.DefaultFlushOptions()
		fo.Wait, fo.AllowWriteStall, fo.ForceAtomicFlush = false, true, atomic
		if atomic {
			x.must(x.db.FlushColumnFamilies(&fo, x.cfs))
		} else {
			x.must(x.cf(cf).Flush(&fo))
		}
	}
	for i := range 3 {
		x.put(i, fmt.Sprint("k", i), fmt.Sprint("v", i))
	}
	flush(atomicFirst, 0)
	for i := range 3 {
		x.put(i, fmt.Sprintf("k%d_2", i), fmt.Sprintf("v%d_2", i))
	}
	flush(!atomicFirst, 1)
	x.must(x.db.ContinueBackgroundWork())
	for _, c := range x.cfs {
		x.must(x.db.Impl().TestWaitForFlushMemTable(c.Impl()))
	}
	for i := range 3 {
		x.want(i, fmt.Sprint("k", i), fmt.Sprint("v", i))
		x.want(i, fmt.Sprintf("k%d_2", i), fmt.Sprintf("v%d_2", i))
	}
	return x
}

func TestCheckpointTest_MixedAtomicAndNonAtomicFlushInQueue(t *testing.T) { mixedFlushes(t, false) }

func TestCheckpointTest_MixedAtomicThenNonAtomicFlushInQueue(t *testing.T) { mixedFlushes(t, true) }

// noLinkFS has no hard links.
type noLinkFS struct{ rocksdb.FileSystemWrapper }

func (noLinkFS) LinkFile(_, _ string, _ *rocksdb.IOOptions) error {
	return rocksdb.NotSupported("Hard links not supported")
}

// inParallel makes a checkpoint of several tables by an engine.
func inParallel(t *testing.T, links bool) *cpTest {
	x := newCPTest(t)
	o := x.o
	o.Statistics = rocksdb.NewStatistics()
	if !links {
		o.Env = env.NewCompositeEnvWrapper(env.Default(), noLinkFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}, nil)
	}
	x.reopen(o)
	const files, keys = 8, 50
	var pairs []string
	for i := range files * keys {
		x.put(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
		pairs = append(pairs, fmt.Sprint("key", i), fmt.Sprint("value", i))
		if i%keys == keys-1 {
			x.flush(0)
		}
	}
	eo := rocksdb.DefaultCheckpointEngineOptions()
	eo.MaxBackgroundOperations = 4
	e, err := rocksdb.OpenCheckpointEngine(eo)
	x.must(err)
	_, err = e.CreateCheckpoint(x.db, x.snapshot, nil)
	x.must(err)
	read, written := o.Statistics.GetTickerCount(rocksdb.CheckpointReadBytes), o.Statistics.GetTickerCount(rocksdb.CheckpointWriteBytes)
	if !links && (read == 0 || written == 0) {
		t.Errorf("%d bytes read, %d written are counted", read, written)
	}
	if o.Statistics.GetTickerCount(rocksdb.BackupReadBytes) != 0 || o.Statistics.GetTickerCount(rocksdb.BackupWriteBytes) != 0 {
		t.Error("bytes count as those of a backup")
	}
	x.close()
	x.wantSnapshot(nil, pairs...)
	return x
}

func TestCheckpointTest_CheckpointEngineParallelLink(t *testing.T) {
	x := inParallel(t, true)
	paths, err := filepath.Glob(x.snapshot + "/*.sst")
	x.must(err)
	for _, p := range paths {
		a, err := os.Stat(p)
		x.must(err)
		if b, err := os.Stat(filepath.Join(x.dir, filepath.Base(p))); err == nil && !os.SameFile(a, b) {
			t.Errorf("%s is a copy", p)
		}
	}
}

func TestCheckpointTest_CheckpointEngineParallelCopy(t *testing.T) { inParallel(t, false) }

func TestCheckpointTest_CheckpointEngineParallelCopyRecordsCheckpointBytes(t *testing.T) {
	x := inParallel(t, false) // which looks at the tickers
	// The rate is kept to, and a failed copy leaves nothing.
	x.reopen(x.o)
	eo := rocksdb.DefaultCheckpointEngineOptions()
	eo.MaxBackgroundOperations, eo.UseLinkFileWhenAvailable, eo.BackupRateLimit = 2, false, 100<<20
	e, err := rocksdb.OpenCheckpointEngine(eo)
	x.must(err)
	_, err = e.CreateCheckpoint(x.db, x.snapshot, nil)
	x.wantIs(err, rocksdb.ErrInvalidArgument) // it exists
	x.must(rocksdb.DestroyDB(x.snapshot, x.o))
	tables, err := filepath.Glob(x.dir + "/*.sst")
	x.must(err)
	x.must(os.Rename(tables[0], tables[0]+".away"))
	_, err = e.CreateCheckpoint(x.db, x.snapshot, nil)
	if err == nil {
		t.Error("a checkpoint without one of the tables")
	}
	for _, d := range []string{x.snapshot, x.snapshot + ".tmp"} {
		if _, err := os.Stat(d); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", d, err)
		}
	}
	x.must(os.Rename(tables[0]+".away", tables[0]))
	_, err = e.CreateCheckpoint(x.db, x.snapshot, nil)
	x.must(err)
	x.close()
	x.wantSnapshot(nil, "key0", "value0")
}
