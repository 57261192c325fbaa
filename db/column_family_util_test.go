// Port of db/column_family_test.cc (its fixture) and of what it takes from
// db/db_test_util.{h,cc} and test_util/testutil.{h,cc}. Differs: the table
// format is no parameter, for the default one is the latest.

package db_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// observedFS counts what is done to files, and does not sync them.
type observedFS struct {
	rocksdb.FileSystemWrapper
	newWritable  atomic.Int64
	optionsFiles atomic.Int64
	deleted      atomic.Int64
	openWALs     atomic.Int64
}

func (f *observedFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	f.newWritable.Add(1)
	if strings.Contains(name, "OPTIONS-") {
		f.optionsFiles.Add(1)
	}
	w, err := f.FileSystem.NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	p, ok := filename.ParseFileName(filepath.Base(name), "")
	x := &observedFile{FSWritableFileWrapper: rocksdb.FSWritableFileWrapper{FSWritableFile: w}, fs: f, wal: ok && p.Type == rocksdb.WalFile}
	if x.wal {
		f.openWALs.Add(1)
	}
	return x, nil
}

func (f *observedFS) DeleteFile(name string, o *rocksdb.IOOptions) error {
	f.deleted.Add(1)
	return f.FileSystem.DeleteFile(name, o)
}

type observedFile struct {
	rocksdb.FSWritableFileWrapper
	fs     *observedFS
	wal    bool
	closed atomic.Bool
}

func (f *observedFile) Sync(*rocksdb.IOOptions) error  { return nil }
func (f *observedFile) Fsync(*rocksdb.IOOptions) error { return nil }

func (f *observedFile) Close(o *rocksdb.IOOptions) error {
	if f.wal && !f.closed.Swap(true) {
		f.fs.openWALs.Add(-1)
	}
	return f.FSWritableFile.Close(o)
}

// specialSkipListFactory makes memtables that are full after some entries.
type specialSkipListFactory struct {
	*memtable.SkipListFactory
	entries int64
}

// roomForEntries is a write buffer that a hundred entries of 1 KB do not fill. With
// upstream's 110 KB the heights of the nodes, which are drawn, decide whether
// memory or the number of entries fills the memtable.
const roomForEntries = 256 << 10

func newSpecialSkipListFactory(entries int64) rocksdb.MemTableRepFactory {
	return specialSkipListFactory{memtable.NewSkipListFactory(0), entries}
}

func (f specialSkipListFactory) CreateMemTableRep(cmp *dbformat.InternalKeyComparator, arena *memory.ConcurrentArena,
	transform rocksdb.SliceTransform, logger rocksdb.Logger) memtable.MemTableRep {
	return &specialRep{MemTableRep: f.SkipListFactory.CreateMemTableRep(cmp, arena, transform, logger), entries: f.entries}
}

type specialRep struct {
	memtable.MemTableRep
	entries int64
	n       atomic.Int64
}

func (r *specialRep) Insert(e memtable.KeyHandle) bool {
	r.n.Add(1)
	return r.MemTableRep.Insert(e)
}

func (r *specialRep) InsertConcurrently(e memtable.KeyHandle) bool {
	r.n.Add(1)
	return r.MemTableRep.InsertConcurrently(e)
}

func (r *specialRep) ApproximateMemoryUsage() int {
	if r.n.Load() < r.entries {
		return 0
	}
	return 1 << 30
}

// cfTest is a database with families. A family that was dropped leaves a nil
// handle and an empty name.
type cfTest struct {
	*testing.T
	dir   string
	fs    *observedFS
	fault *fsutil.FaultInjectionTestFS // above fs; not in the path unless useFault was called
	dbo   rocksdb.DBOptions
	cfo   rocksdb.ColumnFamilyOptions
	db    *rocksdb.DB
	cfs   []*rocksdb.ColumnFamily
	names []string
	keys  map[int]map[string]bool // that putRandom saved, by family
	rnd   *util.Random
}

func newCFTest(t *testing.T) *cfTest {
	x := &cfTest{T: t, dir: filepath.Join(t.TempDir(), "db"), keys: map[int]map[string]bool{}, rnd: util.NewRandom(139)}
	x.fs = &observedFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	x.dbo = rocksdb.DefaultDBOptions()
	x.dbo.CreateIfMissing = true
	x.dbo.Env = env.NewCompositeEnvWrapper(env.Default(), x.fs, nil)
	x.cfo = rocksdb.DefaultColumnFamilyOptions()
	t.Cleanup(func() {
		resetSyncPoints()
		if x.db != nil {
			x.close()
		}
	})
	return x
}

// useFault makes the database work through a file system that can fail.
func (x *cfTest) useFault() {
	x.fault = fsutil.NewFaultInjectionTestFS(x.fs)
	x.dbo.Env = env.NewCompositeEnvWrapper(env.Default(), x.fault, nil)
}

func (x *cfTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *cfTest) want(ok bool, format string, args ...any) {
	x.Helper()
	if !ok {
		x.Fatalf(format, args...)
	}
}

// wantInvalid checks for InvalidArgument.
func (x *cfTest) wantInvalid(err error) {
	x.Helper()
	x.want(errors.Is(err, rocksdb.ErrInvalidArgument), "not invalid: %v", err)
}

func (x *cfTest) descriptors(names []string, o []rocksdb.ColumnFamilyOptions) []rocksdb.ColumnFamilyDescriptor {
	var list []rocksdb.ColumnFamilyDescriptor
	for i, n := range names {
		d := rocksdb.ColumnFamilyDescriptor{Name: n, Options: x.cfo}
		if len(o) > 0 {
			d.Options = o[i]
		}
		list = append(list, d)
	}
	return list
}

// tryOpen opens with the families; without options they get x.cfo.
func (x *cfTest) tryOpen(names []string, o ...rocksdb.ColumnFamilyOptions) (err error) {
	x.names = append([]string(nil), names...)
	x.db, x.cfs, err = rocksdb.OpenColumnFamilies(x.dir, x.dbo, x.descriptors(names, o))
	return err
}

func (x *cfTest) open(names ...string) {
	x.Helper()
	if len(names) == 0 {
		names = []string{"default"}
	}
	x.must(x.tryOpen(names))
}

func (x *cfTest) openReadOnly(names ...string) (err error) {
	x.names = append([]string(nil), names...)
	x.db, x.cfs, err = rocksdb.OpenColumnFamiliesForReadOnly(x.dir, x.dbo, x.descriptors(names, nil), false)
	return err
}

// shut closes the database; the error is that of its Close.
func (x *cfTest) shut() error {
	for _, c := range x.cfs {
		if c != nil {
			c.Close()
		}
	}
	d := x.db
	x.db, x.cfs, x.names = nil, nil, nil
	if d == nil {
		return nil
	}
	return d.Close()
}

func (x *cfTest) close() {
	x.Helper()
	x.must(x.shut())
}

// liveNames are those of the families that were not dropped.
func (x *cfTest) liveNames() (names []string) {
	for _, n := range x.names {
		if n != "" {
			names = append(names, n)
		}
	}
	return names
}

func (x *cfTest) reopen(o ...rocksdb.ColumnFamilyOptions) {
	x.Helper()
	names := x.liveNames()
	x.close()
	x.must(x.tryOpen(names, o...))
}

func (x *cfTest) destroy() {
	x.Helper()
	x.close()
	x.must(rocksdb.DestroyDB(x.dir, rocksdb.Options{DBOptions: x.dbo, ColumnFamilyOptions: x.cfo}))
}

// create makes families, and checks that their options are those given.
func (x *cfTest) create(names []string, o ...rocksdb.ColumnFamilyOptions) {
	x.Helper()
	for _, d := range x.descriptors(names, o) {
		c, err := x.db.CreateColumnFamily(d.Options, d.Name)
		x.must(err)
		x.cfs, x.names = append(x.cfs, c), append(x.names, d.Name)
		got, err := c.GetDescriptor()
		x.must(err)
		dbo := x.full().GetDBOptions()
		imm := options.NewImmutableDBOptions(&dbo)
		sane := db.SanitizeColumnFamilyOptions(&imm, false, &d.Options)
		cfg := rocksdb.DefaultConfigOptions()
		x.must(options.VerifyCFOptions(&cfg, &got.Options, &sane, nil))
	}
}

func (x *cfTest) createAndReopen(names ...string) {
	x.Helper()
	x.create(names)
	x.reopen()
}

func (x *cfTest) drop(places ...int) {
	x.Helper()
	for _, i := range places {
		x.must(x.db.DropColumnFamily(x.cfs[i]))
		x.must(x.cfs[i].Close())
		x.cfs[i], x.names[i] = nil, ""
	}
}

func (x *cfTest) full() *dbimpl.DBImpl { return x.db.Impl() }

func (x *cfTest) put(cf int, key, value string) {
	x.Helper()
	x.must(x.cfs[cf].Put(nil, []byte(key), []byte(value)))
}

func (x *cfTest) merge(cf int, key, value string) error {
	return x.cfs[cf].Merge(nil, []byte(key), []byte(value))
}

func (x *cfTest) flush(cf int) {
	x.Helper()
	x.must(x.cfs[cf].Flush(nil))
}

// get reads a value, "NOT_FOUND", or the error's text.
func (x *cfTest) get(cf int, key string) string {
	ro := rocksdb.DefaultReadOptions()
	ro.VerifyChecksums = true
	v, err := x.cfs[cf].Get(&ro, []byte(key))
	if errors.Is(err, rocksdb.ErrNotFound) {
		return "NOT_FOUND"
	} else if err != nil {
		return err.Error()
	}
	defer v.Release()
	return string(v.Data())
}

func (x *cfTest) wantGet(cf int, key, want string) {
	x.Helper()
	if got := x.get(cf, key); got != want {
		x.Fatalf("family %d: %q is %.100q, not %.100q", cf, key, got, want)
	}
}

func randomKey(rnd *util.Random, n int) string {
	const chars = "\x00\x01abcde\xfd\xfe\xff"
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[rnd.Uniform(len(chars))]
	}
	return string(b)
}

// putRandom writes num entries of about size bytes; with save their keys are
// kept.
func (x *cfTest) putRandom(cf, num, size int, save ...bool) {
	x.Helper()
	for range num {
		key := randomKey(x.rnd, 11)
		if len(save) > 0 {
			if x.keys[cf] == nil {
				x.keys[cf] = map[string]bool{}
			}
			x.keys[cf][key] = true
		}
		x.put(cf, key, x.rnd.RandomString(size-10))
	}
	x.must(x.db.FlushWAL(false))
}

// wantSaved checks that the keys saved are all there.
func (x *cfTest) wantSaved(cf int) {
	x.Helper()
	for k := range x.keys[cf] {
		x.want(x.get(cf, k) != "NOT_FOUND", "family %d misses %q", cf, k)
	}
}

func (x *cfTest) waitForFlush(cf int) {
	x.Helper()
	x.must(x.full().TestWaitForFlushMemTable(x.cfs[cf]))
}

func (x *cfTest) waitForCompaction() {
	x.Helper()
	x.must(x.full().TestWaitForCompact())
}

func (x *cfTest) compactAll(cf int, exclusive bool) {
	x.Helper()
	x.must(x.tryCompactAll(cf, exclusive))
}

func (x *cfTest) tryCompactAll(cf int, exclusive bool) error {
	o := rocksdb.DefaultCompactRangeOptions()
	o.ExclusiveManualCompaction = exclusive
	return x.cfs[cf].CompactRange(&o, nil, nil)
}

func (x *cfTest) property(cf int, name string) (n int) {
	x.Helper()
	v, ok := x.cfs[cf].GetProperty(name)
	x.want(ok, "no property %s", name)
	_, err := fmt.Sscan(v, &n)
	x.must(err)
	return n
}

func (x *cfTest) intProperty(name string) uint64 {
	x.Helper()
	v, ok := x.db.GetIntProperty(name)
	x.want(ok, "no property %s", name)
	return v
}

func (x *cfTest) numTableFilesAtLevel(level, cf int) int {
	x.Helper()
	return x.property(cf, fmt.Sprint("rocksdb.num-files-at-level", level))
}

// wantFiles checks the number of tables a level: "2,0,1".
func (x *cfTest) wantFiles(want string, cf int) {
	x.Helper()
	var counts []string
	last := 0
	for level := range x.cfs[cf].Impl().CFD().NumberLevels() {
		n := x.numTableFilesAtLevel(level, cf)
		counts = append(counts, fmt.Sprint(n))
		if n > 0 {
			last = level + 1
		}
	}
	if got := strings.Join(counts[:last], ","); got != want {
		x.Fatalf("family %d: files per level %q, not %q", cf, got, want)
	}
}

func (x *cfTest) wantLiveFiles(want int) {
	x.Helper()
	n := len(x.db.GetLiveFilesMetaData())
	x.want(n == want, "%d live files, not %d", n, want)
}

// wantLiveLogs counts the logs with data that were not archived. They are
// deleted after a flush was reported, so a lower number may come a bit later.
func (x *cfTest) wantLiveLogs(want int) {
	x.Helper()
	n := -1
	for range 100 {
		list, err := x.db.GetSortedWalFiles()
		if err == nil {
			n = 0
			for _, f := range list {
				if f.Type == rocksdb.AliveLogFile {
					n++
				}
			}
			if n <= want {
				break
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	x.want(n == want, "%d live logs, not %d", n, want)
}

// wantImmutable checks each family's number of immutable memtables, which
// flushes under way may still lower.
func (x *cfTest) wantImmutable(want ...int) {
	x.Helper()
	for i, w := range want {
		n := -1
		for range 100 {
			if n = x.property(i, "rocksdb.num-immutable-mem-table"); n <= w {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		x.want(n == w, "family %d: %d immutable memtables, not %d", i, n, w)
	}
}

func (x *cfTest) countTables(dir string) int {
	x.Helper()
	names, err := env.DefaultFileSystem().GetChildren(dir, &rocksdb.IOOptions{})
	x.must(err)
	n := 0
	for _, name := range names {
		if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.TableFile {
			n++
		}
	}
	return n
}

// blockPool keeps all goroutines of a pool busy until the result is called.
func blockPool(e rocksdb.Env, pri rocksdb.Priority) (release func()) {
	n := e.GetBackgroundThreads(pri)
	started, done, wake := make(chan struct{}, n), make(chan struct{}, n), make(chan struct{})
	for range n {
		e.Schedule(func() {
			started <- struct{}{}
			<-wake
			done <- struct{}{}
		}, pri, nil, nil)
	}
	for range n {
		<-started
	}
	return func() {
		close(wake)
		for range n {
			<-done
		}
	}
}
