// No upstream twin: where the C++ engine is wrong, as docs/differences.md says.

package rocksdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
