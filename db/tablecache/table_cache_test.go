// No upstream twin: upstream tests the table cache through databases.

package tablecache

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
)

const entriesPerTable = 100

// harness is a directory of tables below a table cache.
type harness struct {
	t     *testing.T
	dir   string
	io    options.ImmutableOptions
	mo    options.MutableCFOptions
	icmp  *dbformat.InternalKeyComparator
	ro    rocksdb.ReadOptions
	stats rocksdb.Statistics
	tc    *TableCache
}

func newHarness(t *testing.T, capacity int, change ...func(*rocksdb.DBOptions)) *harness {
	h := &harness{t: t, dir: t.TempDir(), icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator()),
		ro: rocksdb.DefaultReadOptions(), stats: monitoring.CreateDBStatistics()}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	db.Env, db.Statistics = env.Default(), h.stats
	db.DBPaths = []rocksdb.DBPath{{Path: h.dir}}
	for _, c := range change {
		c(&db)
	}
	o := rocksdb.DefaultBlockBasedTableOptions()
	cf.TableFactory = blockbased.NewBlockBasedTableFactory(&o)
	cf.CFPaths = db.DBPaths
	h.io, h.mo = options.NewImmutableOptions(&db, &cf), options.NewMutableCFOptions(&cf)
	co := rocksdb.DefaultLRUCacheOptions(capacity)
	co.NumShardBits, co.MetadataChargePolicy = 0, rocksdb.DontChargeCacheMetadata
	readers, err := cache.NewLRUCache(co)
	h.noErr(err)
	h.tc = New(&h.io, h.icmp, rocksdb.DefaultFileOptions(), readers, "session")
	return h
}

func (h *harness) noErr(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func key(number uint64, i int) []byte { return fmt.Appendf(nil, "%04d/%04d", number, i) }

// table writes a table of even keys, i → "value i", and, if its number is odd, a
// range tombstone over keys 10 … 19 that covers nothing of its own.
func (h *harness) table(number uint64) *version.FileMetaData {
	h.t.Helper()
	path := filename.MakeTableFileName(h.dir, number)
	w, err := file.CreateWritableFileWriter(h.io.FS, path, nil, &file.WriterOptions{})
	h.noErr(err)
	o := table.DefaultTableBuilderOptions(&h.io, &h.mo, h.icmp)
	wo := rocksdb.DefaultWriteOptions()
	o.WriteOptions, o.ReadOptions = &wo, &h.ro
	b, err := h.mo.TableFactory.(table.Factory).NewTableBuilder(&o, w)
	h.noErr(err)
	for i := 0; i < 2*entriesPerTable; i += 2 {
		h.noErr(b.Add(dbformat.NewInternalKey(key(number, i), 5, dbformat.TypeValue), fmt.Appendf(nil, "value %d", i)))
	}
	if number%2 == 1 {
		h.noErr(b.Add(dbformat.NewInternalKey(key(number, 10), 3, dbformat.TypeRangeDeletion), key(number, 20)))
	}
	h.noErr(b.Finish())
	h.noErr(w.Close(nil))
	f := version.NewFileMetaData()
	f.FD.Set(number, 0, b.FileSize(), 3, 5)
	f.Smallest = dbformat.NewInternalKey(key(number, 0), 5, dbformat.TypeValue)
	f.Largest = dbformat.NewInternalKey(key(number, 2*entriesPerTable-2), 5, dbformat.TypeValue)
	return f
}

func (h *harness) get(f *version.FileMetaData, k []byte) (value string, covering uint64, state table.GetState, err error) {
	var v rocksdb.PinnableSlice
	var mc dbformat.MergeContext
	var gc table.GetContext
	gc.Init(&table.GetContextParams{Comparator: h.icmp, InitState: table.GetNotFound, UserKey: k, Value: &v, MergeContext: &mc,
		DoMerge: true, MaxCoveringTombstoneSeq: &covering})
	err = h.tc.Get(&h.ro, f, dbformat.NewInternalKey(k, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek), &gc, &h.mo, &OpenOptions{})
	value, state = string(v.Data()), gc.State()
	v.Release()
	gc.Reset()
	return value, covering, state, err
}

func (h *harness) wantOpens(n uint64) {
	h.t.Helper()
	if got := h.stats.GetTickerCount(rocksdb.NoFileOpens); got != n {
		h.t.Errorf("%d files were opened, want %d", got, n)
	}
}

func (h *harness) wantGet(f *version.FileMetaData, i int) {
	h.t.Helper()
	value, covering, state, err := h.get(f, key(f.FD.GetNumber(), i))
	h.noErr(err)
	wantValue, wantState, wantCovering := "", table.GetNotFound, uint64(0)
	if i%2 == 0 {
		wantValue, wantState = fmt.Sprintf("value %d", i), table.GetFound
	}
	if i >= 10 && i < 20 && f.FD.GetNumber()%2 == 1 {
		wantCovering = 3
	}
	if value != wantValue || state != wantState || covering != wantCovering {
		h.t.Errorf("key %d: %q, state %d, covered by %d; want %q, %d, %d", i, value, state, covering, wantValue, wantState, wantCovering)
	}
}

func TestTableCache_Get(t *testing.T) {
	for _, c := range []struct {
		name     string
		capacity int
		pinned   bool
	}{{"limited", 100, false}, {"pinned", InfiniteCapacity, true}} {
		t.Run(c.name, func(t *testing.T) {
			h := newHarness(t, c.capacity)
			f := h.table(1)
			for i := range 2 * entriesPerTable {
				h.wantGet(f, i)
			}
			h.wantOpens(1)
			if got := f.FD.PinnedReader() != nil; got != c.pinned {
				t.Errorf("pinned: %t", got)
			}
			if h.tc.Usage() != 1 {
				t.Errorf("%d tables are open", h.tc.Usage())
			}
			ReleaseObsolete(h.tc.Cache(), f, 0)
			if h.tc.Usage() != 0 || f.FD.PinnedReader() != nil {
				t.Errorf("%d tables are open, pinned %t", h.tc.Usage(), f.FD.PinnedReader() != nil)
			}
		})
	}
}

func TestTableCache_Iterator(t *testing.T) {
	h := newHarness(t, 100)
	f := h.table(1)
	it := h.tc.NewIterator(&h.ro, f, &h.mo, &IteratorOptions{Caller: rocksdb.CallerUserIterator})
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if want := dbformat.NewInternalKey(key(1, 2*n), 5, dbformat.TypeValue); string(it.Key()) != string(want) {
			t.Fatalf("entry %d is %q", n, it.Key())
		}
		n++
	}
	h.noErr(it.Status())
	if n != entriesPerTable {
		t.Errorf("%d entries", n)
	}
	// The iterator holds the table even when it is evicted.
	h.tc.Evict(1)
	if it.SeekToLast(); !it.Valid() {
		t.Errorf("after the eviction: %v", it.Status())
	}
	h.noErr(it.Close())
	h.wantGet(f, 0)
	h.wantOpens(2)
}

func TestTableCache_TombstonesOfFile(t *testing.T) {
	h := newHarness(t, 100)
	f := h.table(1)
	it, err := h.tc.GetRangeTombstoneIterator(&h.ro, f, &h.mo)
	h.noErr(err)
	if it == nil || it.MaxCoveringTombstoneSeqnum(key(1, 15)) != 3 || it.MaxCoveringTombstoneSeqnum(key(1, 20)) != 0 {
		t.Error("the tombstone is not found, or too long")
	}
}

func TestTableCache_NoIO(t *testing.T) {
	h := newHarness(t, 100)
	f := h.table(1)
	h.ro.ReadTier = rocksdb.BlockCacheTier
	if _, _, _, err := h.get(f, key(1, 0)); !rocksdb.IsIncomplete(err) {
		t.Errorf("a table that is not open: %v", err)
	}
	if _, err := h.tc.GetTableProperties(&h.ro, f, &h.mo, true); !rocksdb.IsIncomplete(err) {
		t.Errorf("properties of a table that is not open: %v", err)
	}
	if n := h.tc.GetMemoryUsageByTableReader(&h.ro, f, &h.mo); n != 0 {
		t.Errorf("a table that is not open uses %d bytes", n)
	}
	h.wantOpens(0)
	p, err := h.tc.GetTableProperties(&h.ro, f, &h.mo, false)
	h.noErr(err)
	if p.NumEntries != entriesPerTable+1 || p.NumRangeDeletions != 1 {
		t.Errorf("%d entries, %d range deletions", p.NumEntries, p.NumRangeDeletions)
	}
}

func TestTableCache_FailuresAreNotKept(t *testing.T) {
	h := newHarness(t, 100)
	f := h.table(1)
	path := filename.MakeTableFileName(h.dir, 1)
	h.noErr(os.Rename(path, path+".away"))
	if _, _, _, err := h.get(f, key(1, 0)); !rocksdb.IsPathNotFound(err) {
		t.Errorf("a missing file: %v", err)
	}
	it := h.tc.NewIterator(&h.ro, f, &h.mo, &IteratorOptions{})
	if it.SeekToFirst(); it.Valid() || !rocksdb.IsPathNotFound(it.Status()) {
		t.Errorf("an iterator over a missing file: %v", it.Status())
	}
	h.noErr(it.Close())
	if got := h.stats.GetTickerCount(rocksdb.NoFileErrors); got != 2 {
		t.Errorf("%d errors were counted, want 2", got)
	}
	h.noErr(os.Rename(path+".away", path))
	h.wantGet(f, 0)
}

func TestTableCache_LevelDBName(t *testing.T) {
	h := newHarness(t, 100)
	f := h.table(1)
	path := filename.MakeTableFileName(h.dir, 1)
	h.noErr(os.Rename(path, filename.Rocks2LevelTableFileName(path)))
	h.wantGet(f, 4)
}

func TestTableCache_Capacity(t *testing.T) {
	h := newHarness(t, 2)
	var files []*version.FileMetaData
	for n := uint64(1); n <= 8; n++ {
		files = append(files, h.table(n))
	}
	for range 2 {
		for _, f := range files {
			h.wantGet(f, 2)
			if n := h.tc.Usage(); n > 2 {
				t.Errorf("%d tables are open", n)
			}
		}
	}
	if got := h.stats.GetTickerCount(rocksdb.NoFileOpens); got < 16-2 {
		t.Errorf("%d files were opened", got)
	}
}

func TestTableCache_Ephemeral(t *testing.T) {
	h := newHarness(t, 100)
	f := h.table(1)
	_, handle, err := h.tc.FindTable(&h.ro, f, &h.mo, &OpenOptions{Ephemeral: true})
	h.noErr(err)
	if h.tc.Usage() != 0 || handle.IsZero() {
		t.Errorf("an ephemeral reader is in the cache: %d", h.tc.Usage())
	}
	handle.Release()
	if !handle.IsZero() {
		t.Error("the handle holds something after its release")
	}
}

func TestTableCache_RowCache(t *testing.T) {
	rows := cache.NewLRUCacheOfCapacity(1 << 20)
	h := newHarness(t, 100, func(o *rocksdb.DBOptions) { o.RowCache = rows })
	plain, tombstones := h.table(2), h.table(1)
	for range 2 {
		h.wantGet(plain, 2)
		h.wantGet(plain, 3)
		h.wantGet(plain, 12)
		h.wantGet(tombstones, 12) // not cached: the row does not tell what covers it
	}
	hits, misses := h.stats.GetTickerCount(rocksdb.RowCacheHit), h.stats.GetTickerCount(rocksdb.RowCacheMiss)
	if hits != 2 || misses != 6 {
		t.Errorf("%d hits, %d misses; want 2 and 6", hits, misses)
	}
}

// Many goroutines open the same tables once.
func TestTableCache_Concurrent(t *testing.T) {
	h := newHarness(t, InfiniteCapacity)
	var files []*version.FileMetaData
	for n := uint64(1); n <= 4; n++ {
		files = append(files, h.table(n))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range entriesPerTable {
				h.wantGet(files[(i+g)%len(files)], i)
			}
		})
	}
	wg.Wait()
	h.wantOpens(4)
}
