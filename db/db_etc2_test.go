// Port of db/db_etc2_test.cc. Differs: the file is upstream's DBTest2.

package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

// openForReadOnlyFails opens a database that is not there for reading, with and
// without create_if_missing; no directory stays.
func openForReadOnlyFails(t *testing.T, open func(dir string, o rocksdb.Options) error) {
	x := newDBTest(t)
	dir := filepath.Join(t.TempDir(), "db_readonly")
	o := x.currentOptions()
	for _, create := range []bool{true, false} {
		o.CreateIfMissing = create
		if err := open(dir, o); err == nil {
			t.Fatal("opened what is not there")
		}
		entries, err := os.ReadDir(dir)
		if create && err == nil { // with nothing but files in it
			for _, e := range entries {
				x.must(os.Remove(filepath.Join(dir, e.Name())))
			}
			x.must(os.Remove(dir))
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a directory: %v", err)
		}
	}
}

func TestDBTest2_OpenForReadOnly(t *testing.T) {
	openForReadOnlyFails(t, func(dir string, o rocksdb.Options) error {
		_, err := rocksdb.OpenForReadOnly(dir, o)
		return err
	})
}

func TestDBTest2_OpenForReadOnlyWithColumnFamilies(t *testing.T) {
	openForReadOnlyFails(t, func(dir string, o rocksdb.Options) error {
		_, _, err := rocksdb.OpenColumnFamiliesForReadOnly(dir, o.DBOptions, descriptors([]string{"default", "goku"}, []rocksdb.Options{o}), false)
		return err
	})
}

func TestDBTest2_ReadOnlyDBWalInDbPathInitialized(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	x.destroyAndReopen(o)
	x.mustPut(0, "key1", "value1")
	x.flush(0)
	x.mustPut(0, "key2", "value2")
	x.close()
	x.must(x.tryReadOnlyReopen(o))
	x.wantGet(0, "key1", "value1")
	x.close()
	d, cfs, err := rocksdb.OpenColumnFamiliesForReadOnly(x.dir, o.DBOptions, descriptors([]string{"default"}, []rocksdb.Options{o}), false)
	x.must(err)
	x.must(cfs[0].Close())
	x.must(d.Close())
}

// flushProperties keeps the properties of flushed tables.
type flushProperties struct {
	rocksdb.EventListenerBase
	all chan rocksdb.TableProperties
}

func (l *flushProperties) OnFlushCompleted(_ rocksdb.DBRef, i *rocksdb.FlushJobInfo) {
	l.all <- i.TableProperties
}

func TestDBTest2_PartitionedIndexUserToInternalKey(t *testing.T) {
	x := newDBTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.IndexType = rocksdb.TwoLevelIndexSearch
	l := &flushProperties{all: make(chan rocksdb.TableProperties, 100)}
	o := x.currentOptions()
	o.DisableAutoCompactions, o.TableFactory = true, rocksdb.NewBlockBasedTableFactory(b)
	o.Listeners = append(o.Listeners, l)
	x.reopen(o)
	rnd := util.NewRandom(301)
	var snapshots []rocksdb.Snapshot
	for i := range 3 {
		for j := range 1000 {
			x.mustPut(0, fmt.Sprint("keykey_", (i*1000+j)%30), rnd.RandomString(1050))
			snapshots = append(snapshots, x.db.GetSnapshot())
		}
		x.flush(0)
		p := <-l.all
		// Versions of one key are at both sides of a partition's end.
		if p.IndexPartitions <= 1 || p.IndexKeyIsUserKey != 0 {
			t.Errorf("%d partitions, by user keys: %d", p.IndexPartitions, p.IndexKeyIsUserKey)
		}
	}
	for _, s := range snapshots {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestDBTest2_IteratorPropertyVersionNumber(t *testing.T) {
	x := newDBTest(t)
	number := func(it *rocksdb.Iterator) (n uint64) {
		t.Helper()
		v, err := it.GetProperty("rocksdb.iterator.super-version-number")
		x.must(errors.Join(err, it.Err()))
		fmt.Sscan(v, &n)
		return n
	}
	x.mustPut(0, "", "")
	first := x.db.NewIterator(nil)
	defer first.Close()
	n1 := number(first)
	x.mustPut(0, "", "")
	x.flush(0)
	second := x.db.NewIterator(nil)
	defer second.Close()
	n2 := number(second)
	if n2 <= n1 {
		t.Errorf("version %d after %d", n2, n1)
	}
	x.mustPut(0, "", "")
	third := x.db.NewIterator(nil)
	defer third.Close()
	same(t, "version without a flush", number(third), n2)
	first.SeekToFirst()
	same(t, "version of the first iterator", number(first), n1)
}

func TestDBTest2_CacheIndexAndFilterWithDBRestart(t *testing.T) {
	x := newDBTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.CacheIndexAndFilterBlocks, b.FilterPolicy = true, rocksdb.NewBloomFilterPolicy(20)
	o := x.currentOptions()
	o.Statistics, o.TableFactory = rocksdb.NewStatistics(), rocksdb.NewBlockBasedTableFactory(b)
	x.createAndReopenWithCF(pikachu[1:], o)
	x.mustPut(1, "a", "begin")
	x.mustPut(1, "z", "end")
	x.flush(1)
	x.reopenWithColumnFamilies(pikachu, o)
	x.wantGet(1, "a", "begin")
}

func TestDBTest2_MaxSuccessiveMergesChangeWithDBRecovery(t *testing.T) {
	x := newDBTest(t)
	o := x.withOperator(x.currentOptions(), "put")
	o.Statistics, o.MaxSuccessiveMerges, o.DisableAutoCompactions = rocksdb.NewStatistics(), 3, true
	x.destroyAndReopen(o)
	x.mustPut(0, "poi", "Finch")
	for _, v := range []string{"Reese", "Shaw", "Root"} {
		x.mustMerge(0, "poi", v)
	}
	o.MaxSuccessiveMerges = 2
	x.reopen(o)
	x.wantGet(0, "poi", "Root")
}

func TestDBTest2_FirstSnapshotTest(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	x.createAndReopenWithCF(pikachu[1:], o)
	s := x.db.GetSnapshot()
	same(t, "sequence number", s.GetSequenceNumber(), 0)
	x.mustPut(1, "k1", dummyString(100000, 'x'))
	x.mustPut(1, "k2", dummyString(100000, 'y'))
	x.must(x.db.ReleaseSnapshot(s))
}

func TestDBTest2_MaxCompactionBytesTest(t *testing.T) {
	x := newDBTest(t)
	o := suggestOptions(x)
	o.TargetFileSizeBase = 100 << 10
	o.MaxCompactionBytes = o.TargetFileSizeBase * 100
	x.reopen(o)
	rnd := util.NewRandom(301)
	for range 8 {
		x.generateNewRandomFile(rnd)
	}
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.BottommostLevelCompaction = contract.BottommostLevelCompactionForce
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.wantFiles(0, "0,0,8")
	o.MaxCompactionBytes = o.TargetFileSizeBase * 3 // a file may overlap three
	x.reopen(o)
	x.generateNewRandomFile(rnd)
	for range 3 {
		x.mustPut(0, "a", "z")
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	x.wantFiles(0, "0,4,8")
}

func TestDBTest2_PausingManualCompaction2(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 2
	x.destroyAndReopen(o)
	x.db.DisableManualCompaction()
	rnd := util.NewRandom(301)
	for range 2 {
		for j := range 100 {
			x.mustPut(0, key(j), rnd.RandomString(50))
		}
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
	same(t, "files", len(x.db.GetLiveFilesMetaData()), 1) // automatic compactions go on
}

func TestDBTest2_OptimizeForPointLookup(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	cfg := contract.DefaultConfigOptions()
	x.must(options.OptimizeForPointLookup(&cfg, &o.ColumnFamilyOptions, 2))
	x.reopen(o)
	x.mustPut(0, "foo", "v1")
	x.wantGet(0, "foo", "v1")
	x.flush(0)
	x.wantGet(0, "foo", "v1")
}

func TestDBTest2_OptimizeForSmallDB(t *testing.T) {
	x := newDBTest(t)
	x.close()
	o := x.currentOptions()
	c := rocksdb.NewLRUCache(16 << 20)
	cfg := contract.DefaultConfigOptions()
	x.must(options.OptimizeForSmallDB(&cfg, &o, c, memtable.NewWriteBufferManager(0, c, false)))
	same(t, "cache", blockBasedOf(t, o.TableFactory).BlockCache, c)
	same(t, "usage", c.GetUsage(), 0)
	x.reopen(o)
	x.mustPut(0, "foo", "v1")
	if c.GetUsage() == 0 {
		t.Error("memtables are not charged to the cache")
	}
	x.wantGet(0, "foo", "v1")
	x.flush(0)
	before := c.GetUsage()
	v, err := x.db.Get(nil, []byte("foo"))
	x.must(err)
	if after := c.GetUsage(); after <= before {
		t.Errorf("usage %d after %d", after, before)
	}
	v.Release()
}

func TestDBTest2_DirectIO(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.UseDirectReads, o.UseDirectIOForFlushAndCompaction = true, true
	x.destroy(x.last)
	x.reopenDirect(o)
	for _, i := range []int{0, 10} {
		x.mustPut(0, key(i), "a")
		x.mustPut(0, key(i+5), "a")
		x.flush(0)
	}
	x.compact(0, "", "")
	x.reopen(o)
	x.wantGet(0, key(15), "a")
}

func TestDBTest2_MemtableOnlyIterator(t *testing.T) {
	x := newDBTest(t)
	x.createAndReopenWithCF(pikachu[1:], x.currentOptions())
	x.puts(1, "foo", "first", "bar", "second")
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = contract.MemtableTier
	want := func(entries string) {
		t.Helper()
		got := ""
		it := x.cf(1).NewIterator(&ro)
		for k, v := range it.All() {
			got += fmt.Sprintf("(%s->%s)", k, v)
		}
		x.must(errors.Join(it.Err(), it.Close()))
		same(t, "entries in memtables", got, entries)
		for k, v := range map[string]string{"foo": "first", "bar": "second"} {
			value, err := x.cf(1).Get(&ro, []byte(k))
			x.must(err)
			same(t, k, string(value.Data()), v)
			value.Release()
		}
	}
	want("(bar->second)(foo->first)")
	x.flush(1)
	want("")
	x.mustPut(1, "foobar", "third")
	want("(foobar->third)")
}

func TestDBTest2_ReduceLevel(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 7
	x.reopen(o)
	x.mustPut(0, "foo", "bar")
	x.flush(0)
	x.moveFilesToLevel(6, 0)
	x.wantFiles(0, "0,0,0,0,0,0,1")
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ChangeLevel, cro.TargetLevel = true, 1
	x.must(x.db.CompactRange(&cro, nil, nil))
	x.wantFiles(0, "0,1")
	o.NumLevels = 3
	x.reopen(o)
	x.wantFiles(0, "0,1")
}

func TestDBTest2_DuplicateSnapshot(t *testing.T) {
	x := newDBTest(t)
	x.reopen(x.currentOptions())
	var snapshots []rocksdb.Snapshot
	take := func(n int) {
		x.mustPut(0, "k", "v")
		for range n {
			snapshots = append(snapshots, x.db.GetSnapshot())
		}
	}
	take(2)
	take(1)
	boundary := x.full().GetSnapshotForWriteConflictBoundary()
	snapshots = append(snapshots, boundary)
	x.mustPut(0, "k", "v")
	snapshots = append(snapshots, x.full().GetSnapshotForWriteConflictBoundary(), x.db.GetSnapshot())
	take(1)
	x.full().TestWithMutex(func() {
		all, oldest := x.full().SnapshotsLocked().GetAll(dbformat.MaxSequenceNumber)
		same(t, "sequence numbers", len(all), 4) // each counts once
		same(t, "oldest boundary", oldest, boundary.GetSequenceNumber())
	})
	for _, s := range snapshots {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

func TestDBTest2_GetFileChecksumsFromCurrentManifest_CRC32(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.FileChecksumGenFactory, o.Level0FileNumCompactionTrigger = rocksdb.GetFileChecksumGenCrc32cFactory(), 10
	x.reopen(o)
	rnd := util.NewRandom(301)
	for i := range 4 {
		x.mustPut(0, key(i), rnd.RandomString(100))
		x.flush(0)
	}
	cf, err := x.db.CreateColumnFamily(rocksdb.DefaultColumnFamilyOptions(), "soon_to_be_deleted")
	x.must(err)
	x.must(cf.Put(nil, []byte("some_key"), []byte("some_value")))
	x.must(cf.Flush(nil))
	x.must(x.db.DropColumnFamily(cf))
	x.must(cf.Close())
	live := x.db.GetLiveFilesMetaData()
	x.close()

	list, err := rocksdb.GetFileChecksumsFromCurrentManifest(env.NewReadOnlyFileSystem(env.DefaultFileSystem()), x.dir)
	x.must(err)
	if len(live) != 4 || list.Size() != len(live) {
		t.Fatalf("%d files, %d checksums", len(live), list.Size())
	}
	for _, f := range live {
		checksum, name, err := list.SearchOneFileChecksum(f.FileNumber)
		if err != nil || checksum != f.FileChecksum || name != f.FileChecksumFuncName {
			t.Errorf("file %d: %x by %q, %v", f.FileNumber, checksum, name, err)
		}
	}
}
