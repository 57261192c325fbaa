// No upstream twin: where the C++ engine is wrong, as docs/differences.md says.

package rocksdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// TestFaults_MultiGetFromCacheOnly answers Incomplete for keys whose blocks are
// not cached, and reads no file.
func TestFaults_MultiGetFromCacheOnly(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	for i := range 1000 {
		k := fmt.Appendf(nil, "key%05d", i)
		if err := db.Put(nil, k, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			keys = append(keys, k)
		}
	}
	if err := errors.Join(db.Flush(nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	o.Statistics = rocksdb.NewStatistics()
	if db, err = rocksdb.Open(dir, o); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ro := rocksdb.DefaultReadOptions()
	ro.ReadTier = rocksdb.BlockCacheTier
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	db.MultiGet(&ro, keys, values, errs)
	for i, err := range errs {
		if !rocksdb.IsIncomplete(err) {
			t.Errorf("%s, not cached: %v", keys[i], err)
		}
	}
	if n := o.Statistics.GetTickerCount(rocksdb.BlockCacheDataMiss); o.Statistics.GetTickerCount(rocksdb.BlockCacheAdd) > 2 {
		t.Errorf("blocks were read: %d misses", n)
	}
	v, err := db.Get(nil, keys[3])
	if err != nil {
		t.Fatal(err)
	}
	v.Release()
	db.MultiGet(&ro, keys, values, errs)
	for i, err := range errs {
		if cached := i == 3; cached && err != nil || !cached && err != nil && !rocksdb.IsIncomplete(err) {
			t.Errorf("%s: %v", keys[i], err)
		}
		values[i].Release()
	}
}

// TestFaults_BlockSize refuses at once what the next opening would refuse.
func TestFaults_BlockSize(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.SetOptions(map[string]string{"block_based_table_factory": "{block_size=4294967296}"}); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Errorf("SetOptions: %v", err)
	}
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize = 4 << 30
	f := rocksdb.DefaultColumnFamilyOptions()
	f.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	if _, err := db.CreateColumnFamily(f, "large"); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Errorf("CreateColumnFamily: %v", err)
	}
}

// TestFaults_ReadOnlyWritesNothing leaves a fully compacted database as it is.
func TestFaults_ReadOnlyWritesNothing(t *testing.T) {
	dir := t.TempDir()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Put(nil, []byte("k"), []byte("v")), db.Flush(nil), db.CompactRange(nil, nil, nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	list := func() (names []string) {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if s, err := os.Stat(f); err == nil && filepath.Base(f) != "LOG" && len(filepath.Base(f)) != len("LOG.old.1234567890123456") {
				names = append(names, fmt.Sprint(filepath.Base(f), s.Size()))
			}
		}
		return names
	}
	before := list()
	if db, err = rocksdb.OpenForReadOnly(dir, o); err != nil {
		t.Fatal(err)
	}
	_, err = db.CreateColumnFamily(rocksdb.DefaultColumnFamilyOptions(), "new")
	for call, err := range map[string]error{
		"CreateColumnFamily": err, "Put": db.Put(nil, []byte("k"), nil), "Flush": db.Flush(nil),
		"SetOptions":   db.SetOptions(map[string]string{"write_buffer_size": "1000000"}),
		"SetDBOptions": db.SetDBOptions(map[string]string{"max_background_jobs": "3"}),
		"CompactRange": db.CompactRange(nil, nil, nil),
	} {
		if !errors.Is(err, rocksdb.ErrNotSupported) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if after := list(); !slices.Equal(before, after) {
		t.Errorf("files %v, before %v", after, before)
	}
}

// TestFaults_RepairKeepsBlobFiles finds all values again after a repair, with and
// without CURRENT (facebook/rocksdb#13090, #13884).
func TestFaults_RepairKeepsBlobFiles(t *testing.T) {
	for _, lost := range []bool{false, true} {
		x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
			o.EnableBlobFiles, o.MinBlobSize = true, 0
		})
		x.put("k", "v1", "k2", "v2")
		x.flush()
		x.put("k3", "v3")
		x.flush()
		x.close()
		dir := filepath.Join(x.root, "db")
		before := blobFileNames(t, dir)
		if lost {
			x.must(os.Remove(filepath.Join(dir, "CURRENT")))
		}
		x.must(rocksdb.RepairDB(dir, x.o))
		for range 2 {
			x.reopen()
			x.same("scan", x.forward(nil), "k=v1 k2=v2 k3=v3")
			x.same("get", x.get(nil, "k2"), "v2")
		}
		if after := blobFileNames(t, dir); len(before) != 2 || !slices.Equal(before, after) {
			t.Errorf("blob files %v, before %v", after, before)
		}
		x.compact(true)
		x.same("compacted", x.forward(nil), "k=v1 k2=v2 k3=v3")
		x.close()
	}
}

// TestFaults_BlocksWithDictionary counts the data blocks of files with a
// compression dictionary.
func TestFaults_BlocksWithDictionary(t *testing.T) {
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.Compression, o.CompressionOpts.MaxDictBytes, b.BlockSize = rocksdb.ZSTD, 4096, 256
	})
	for i := range 200 {
		x.put(fmt.Sprintf("k%03d", i), strings.Repeat("v", 100))
	}
	x.flush()
	x.compact(true)
	all, err := x.db.GetPropertiesOfAllTables()
	x.must(err)
	for name, p := range all {
		if p.NumDataBlocks < 50 {
			t.Errorf("%s: %d data blocks", name, p.NumDataBlocks)
		}
	}
}

// blobNames notes the blob files that are told of.
type blobNames struct {
	rocksdb.EventListenerBase
	mu    sync.Mutex
	paths []string
}

func (*blobNames) Name() string { return "blobNames" }

func (b *blobNames) OnBlobFileCreated(info *rocksdb.BlobFileCreationInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paths = append(b.paths, info.FilePath)
}

// TestFaults_BlobFilesOfCompactions names the blob file, not a table, where a
// compaction completes one (facebook/rocksdb#15021).
func TestFaults_BlobFilesOfCompactions(t *testing.T) {
	seen := &blobNames{}
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) {
		o.EnableBlobFiles, o.EnableBlobGarbageCollection, o.BlobGarbageCollectionAgeCutoff, o.BlobFileSize = true, true, 1, 1
		o.Listeners = append(o.Listeners, seen)
	})
	x.put("a", "1", "b", "2", "c", "3")
	x.flush()
	x.compact(true)
	x.close()
	seen.mu.Lock()
	defer seen.mu.Unlock()
	if len(seen.paths) != 6 {
		t.Error(seen.paths)
	}
	for _, p := range seen.paths {
		if !strings.HasSuffix(p, ".blob") {
			t.Error(p)
		}
	}
}

// TestFaults_ReverseMultiScanOverVersions goes on past many versions of a key.
func TestFaults_ReverseMultiScanOverVersions(t *testing.T) {
	x := newFieldTest(t, func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions) { o.MaxSequentialSkipInIterations = 2 })
	var views []rocksdb.Snapshot
	for i := range 8 {
		x.put("a", fmt.Sprint(i), "b", fmt.Sprint(i), "c", fmt.Sprint(i))
		views = append(views, x.snapshot())
	}
	for range 2 {
		args := rangesOf(x.comparator(), "a-c")
		args.Reverse = true
		m := x.db.NewMultiScan(nil, args)
		var got []string
		for scan := range m.Scans() {
			for k, v := range scan {
				got = append(got, string(k)+"="+string(v))
			}
		}
		x.must(m.Err())
		x.must(m.Close())
		x.same("scan", strings.Join(got, " "), "b=7 a=7")
		x.flush()
	}
	x.release(views...)
}
