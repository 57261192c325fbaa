// Port of db/db_basic_test.cc (databases opened for reading). Differs: a file of
// its own.

package db_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
)

// enforcedReadOnlyReopen opens for reading on a file system that refuses writes.
func (x *dbTest) enforcedReadOnlyReopen(o rocksdb.Options) {
	x.Helper()
	x.must(x.tryReadOnlyReopen(x.onFS(o, env.NewReadOnlyFileSystem(x.env.GetFileSystem()))))
}

func TestDBBasicTest_ReadOnlyDB(t *testing.T) {
	x := newDBTest(t)
	x.mustPut(0, "foo", "v1")
	x.mustPut(0, "bar", "v2")
	x.flush(0)
	x.mustPut(0, "foo", "v3")
	o := x.currentOptions()

	verify := func() {
		t.Helper()
		x.wantGet(0, "foo", "v3")
		x.wantGet(0, "bar", "v2")
		its, err := x.db.NewIterators(nil, []*rocksdb.ColumnFamily{x.db.ColumnFamily})
		x.must(err)
		if len(its) != 1 {
			t.Fatal(len(its))
		}
		for _, it := range append(its, x.db.NewIterator(nil)) {
			if keys := x.keysOf(it); len(keys) != 2 {
				t.Fatal(keys)
			}
		}
	}
	x.enforcedReadOnlyReopen(o)
	verify()
	x.wantIs(x.db.Flush(nil), rocksdb.ErrNotSupported)

	x.reopen(o)
	x.flush(0)
	x.enforcedReadOnlyReopen(o)
	verify()
	x.wantIs(x.db.SyncWAL(), rocksdb.ErrNotSupported)

	_, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "blah")
	x.wantIs(err, rocksdb.ErrNotSupported)
	_, err = x.db.CreateColumnFamilies(o.ColumnFamilyOptions, []string{"blah"})
	x.wantIs(err, rocksdb.ErrNotSupported)
	_, err = x.db.CreateColumnFamiliesByDescriptors([]rocksdb.ColumnFamilyDescriptor{{Name: "blah", Options: o.ColumnFamilyOptions}})
	x.wantIs(err, rocksdb.ErrNotSupported)
}

func TestDBBasicTest_ReadOnlyDBWithWriteDBIdToManifestSet(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteDBIDToManifest = false
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "v1")
	x.mustPut(0, "bar", "v2")
	x.mustPut(0, "foo", "v3")

	o.WriteDBIDToManifest = true
	x.enforcedReadOnlyReopen(o)
	id := x.db.GetDbIdentity()
	x.wantGet(0, "foo", "v3")
	x.wantGet(0, "bar", "v2")
	if keys := x.keysOf(x.db.NewIterator(nil)); len(keys) != 2 {
		t.Fatal(keys)
	}

	x.reopen(o)
	x.flush(0)
	x.enforcedReadOnlyReopen(o)
	x.wantGet(0, "foo", "v3")
	x.wantGet(0, "bar", "v2")
	x.wantIs(x.db.SyncWAL(), rocksdb.ErrNotSupported)
	if got := x.db.GetDbIdentity(); got != id || id == "" {
		t.Fatal(got, id)
	}
}

func TestDBBasicTest_ReadOnlyDBFlushWAL(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.ManualWALFlush = true
	x.destroyAndReopen(o)
	x.mustPut(0, "foo", "v1")
	x.mustPut(0, "bar", "v2")
	x.flush(0)
	x.mustPut(0, "baz", "v3")
	x.must(x.tryReadOnlyReopen(o))
	x.wantGet(0, "foo", "v1")
	x.wantGet(0, "bar", "v2")
	x.wantGet(0, "baz", "v3")
	x.wantIs(x.db.FlushWAL(false), rocksdb.ErrNotSupported)
	x.wantIs(x.db.FlushWAL(true), rocksdb.ErrNotSupported)
	files, err := x.db.GetLiveFilesStorageInfo(&rocksdb.LiveFilesStorageInfoOptions{})
	x.must(err)
	if len(files) == 0 {
		t.Fatal("no files")
	}
}

func TestDBBasicTest_CompactedDB(t *testing.T) {
	const size = 1 << 20
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	o.WriteBufferSize, o.TargetFileSizeBase, o.MaxBytesForLevelBase = size, size, 1<<30
	o.Compression = rocksdb.NoCompression
	x.reopen(o)
	half := func(c byte) string { return dummyString(size/2, c) }
	// refuses opens for reading and checks what a write is told.
	refuses := func(text string) {
		t.Helper()
		x.must(x.tryReadOnlyReopen(o))
		if err := x.put(0, "new", "value"); err == nil || err.Error() != "Not implemented: "+text {
			t.Fatal(err)
		}
	}
	const readOnly, compacted = "Not supported operation in read only mode.", "Not supported in compacted db mode."
	liveFiles := func() {
		t.Helper()
		files, n, err := x.db.GetLiveFiles(true)
		x.must(err)
		info, err := x.db.GetLiveFilesStorageInfo(nil)
		x.must(err)
		if len(files) < 3 || n == 0 || len(info) < 3 {
			t.Fatal(files, n, info)
		}
	}
	x.putFlush("aaa", half('1'))
	refuses(readOnly)
	x.wantGet(0, "aaa", half('1'))
	o.MaxOpenFiles = -1
	refuses(compacted)
	x.wantGet(0, "aaa", half('1'))

	x.reopen(o)
	x.putFlush("bbb", half('2'))
	x.putFlush("aaa", half('a'))
	x.mustPut(0, "bbb", half('b'))
	x.putFlush("eee", half('e'))
	x.mustPut(0, "something_not_flushed", "x")
	refuses(readOnly)
	liveFiles()

	x.reopen(o)
	for _, c := range "fhij" {
		x.mustPut(0, strings.Repeat(string(c), 3), half(byte(c)))
	}
	x.compact(0, "", "")
	if n := x.numTableFilesAtLevel(1, 0); n != 3 {
		t.Fatal(n)
	}
	refuses(compacted)
	for _, c := range "abcefghijk" {
		want := half(byte(c))
		if strings.ContainsRune("cgk", c) {
			want = "NOT_FOUND"
		}
		x.wantGet(0, strings.Repeat(string(c), 3), want)
	}
	x.wantGet(0, "abc", "NOT_FOUND")
	liveFiles()
	values, errs := x.multiGetRaw(0, rocksdb.DefaultReadOptions(), "aaa", "ccc", "eee", "ggg", "iii", "kkk")
	x.wantMulti(values, errs, half('a'), "NOT_FOUND", half('e'), "NOT_FOUND", half('i'), "NOT_FOUND")

	x.reopen(o)
	x.mustPut(0, "fff", half('f'))
	refuses(readOnly)
}
