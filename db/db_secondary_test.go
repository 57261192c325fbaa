// Port of db/db_secondary_test.cc, without what needs sync points.

package db_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/util"
)

// secondaryTest is a primary, the dbTest, and a secondary instance of it.
type secondaryTest struct {
	*dbTest
	sec    *rocksdb.DB
	secCFs []*rocksdb.ColumnFamily // as opened, the default one first
}

func newSecondaryTest(t *testing.T) *secondaryTest {
	x := &secondaryTest{dbTest: newDBTest(t)}
	t.Cleanup(x.closeSecondary)
	return x
}

func (x *dbTest) secondaryDir() string { return filepath.Join(filepath.Dir(x.dir), "secondary") }

// tryReopenAsSecondary makes the database itself a secondary instance.
func (x *dbTest) tryReopenAsSecondary(o rocksdb.Options) (err error) {
	x.close()
	x.last = o
	o.MaxOpenFiles = -1
	x.db, err = rocksdb.OpenAsSecondary(x.dir, x.secondaryDir(), o)
	return err
}

// primary are upstream's default options, with which the primary is opened.
func (x *secondaryTest) primary() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	return o
}

// options are those of the secondary.
func (x *secondaryTest) options() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.Env, o.MaxOpenFiles = x.env, -1
	return o
}

func (x *secondaryTest) tryOpen(o rocksdb.Options, families ...string) (err error) {
	names := append([]string{"default"}, families...)
	x.sec, x.secCFs, err = rocksdb.OpenColumnFamiliesAsSecondary(x.dir, x.secondaryDir(), o.DBOptions, descriptors(names, []rocksdb.Options{o}))
	return err
}

func (x *secondaryTest) open(o rocksdb.Options, families ...string) {
	x.Helper()
	x.must(x.tryOpen(o, families...))
}

func (x *secondaryTest) closeSecondary() {
	if x.sec == nil {
		return
	}
	for _, c := range x.secCFs {
		c.Close()
	}
	if err := x.sec.Close(); err != nil {
		x.Error(err)
	}
	x.sec, x.secCFs = nil, nil
}

func (x *secondaryTest) catchUp() {
	x.Helper()
	x.must(x.sec.TryCatchUpWithPrimary())
}

// wantSec wants a value of the secondary's default family, or "NOT_FOUND".
func (x *secondaryTest) wantSec(key, want string) { x.Helper(); x.wantSecCF(0, key, want) }

func (x *secondaryTest) wantSecCF(cf int, key, want string) {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	v, err := x.secCFs[cf].Get(&ro, []byte(key))
	defer v.Release()
	got := string(v.Data())
	if rocksdb.IsNotFound(err) {
		got, err = "NOT_FOUND", nil
	}
	x.must(err)
	if got != want {
		x.Fatalf("secondary: %s is %q, want %q", key, got, want)
	}
}

// scanSec gives all entries of a family of the secondary as "k=v k=v".
func (x *secondaryTest) scanSec(cf int) string {
	x.Helper()
	return x.scan(x.secCFs[cf])
}

func (x *secondaryTest) scan(cf *rocksdb.ColumnFamily) string {
	x.Helper()
	it := cf.NewIterator(nil)
	defer it.Close()
	var all []string
	for it.SeekToFirst(); it.Valid(); it.Next() {
		all = append(all, fmt.Sprintf("%s=%s", it.Key(), it.Value()))
	}
	x.must(it.Err())
	return strings.Join(all, " ")
}

// putBoth writes foo and bar to the primary.
func (x *secondaryTest) putBoth(foo, bar string) {
	x.Helper()
	x.mustPut(0, "foo", foo)
	x.mustPut(0, "bar", bar)
}

// wantBoth wants foo and bar, and nothing else, by Get and by iterator.
func (x *secondaryTest) wantBoth(foo, bar string) {
	x.Helper()
	x.wantSec("foo", foo)
	x.wantSec("bar", bar)
	if got := x.scanSec(0); got != "bar="+bar+" foo="+foo {
		x.Fatal(got)
	}
}

func TestDBSecondaryTest_NonExistingDb(t *testing.T) {
	x := newSecondaryTest(t)
	x.destroy(x.last)
	_, err := rocksdb.OpenAsSecondary("/doesnt/exist", x.secondaryDir(), x.options())
	if !rocksdb.IsIOError(err) {
		t.Fatal(err)
	}
}

func TestDBSecondaryTest_ReopenAsSecondary(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing = x.env, true
	x.reopen(o)
	x.mustPut(0, "foo", "foo_value")
	x.mustPut(0, "bar", "bar_value")
	columns := rocksdb.WideColumns{{Value: []byte("attr_default_val")}, {Name: []byte("attr_name1"), Value: []byte("attr_value_1")},
		{Name: []byte("attr_name2"), Value: []byte("attr_value_2")}}
	x.must(x.db.PutEntity(nil, []byte("baz"), columns))
	x.flush(0)
	x.must(x.tryReopenAsSecondary(o))
	x.wantGet(0, "foo", "foo_value")
	x.wantGet(0, "bar", "bar_value")
	same := func(got rocksdb.WideColumns) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(columns) {
			t.Fatalf("%s", got)
		}
	}
	var entity rocksdb.PinnableWideColumns
	x.must(x.db.GetEntity(nil, []byte("baz"), &entity))
	same(entity.Columns())
	entity.Reset()
	it := x.db.NewIterator(nil)
	defer it.Close()
	var keys []string
	for it.SeekToFirst(); it.Valid(); it.Next() {
		k := string(it.Key())
		keys = append(keys, k)
		if k == "baz" {
			same(it.Columns())
		} else if string(it.Value()) != k+"_value" {
			t.Fatalf("%s: %s", k, it.Value())
		}
	}
	x.must(it.Err())
	if !slices.Equal(keys, []string{"bar", "baz", "foo"}) {
		t.Fatal(keys)
	}
}

func TestDBSecondaryTest_GetMergeOperands(t *testing.T) {
	x := newSecondaryTest(t)
	o, so := x.primary(), x.options()
	o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	so.MergeOperator = o.MergeOperator
	x.reopen(o)
	for i := 1; i <= 4; i++ {
		x.mustMerge(0, "k1", fmt.Sprint("v", i))
	}
	x.open(so)
	x.catchUp()
	if got := x.operands("k1", 4); got != "v1 v2 v3 v4" {
		t.Fatal(got)
	}
	// Upstream forgets the expected maximum here.
	var values [2]rocksdb.PinnableSlice
	n, err := x.sec.GetMergeOperands(nil, []byte("k1"), values[:], &rocksdb.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: 2})
	if !rocksdb.IsIncomplete(err) || n != 4 {
		t.Fatal(n, err)
	}
}

func (x *secondaryTest) operands(key string, most int) string {
	x.Helper()
	values := make([]rocksdb.PinnableSlice, most)
	n, err := x.sec.GetMergeOperands(nil, []byte(key), values, &rocksdb.GetMergeOperandsOptions{ExpectedMaxNumberOfOperands: most})
	x.must(err)
	var all []string
	for i := range n {
		all = append(all, string(values[i].Data()))
		values[i].Release()
	}
	return strings.Join(all, " ")
}

func TestDBSecondaryTest_GetMergeOperandsWithBlobBackedEntityDefaultColumn(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.defaultOptions()
	o.EnableBlobFiles, o.MinBlobSize, o.DisableAutoCompactions = true, 50, true
	o.MergeOperator = rocksdb.NewStringAppendOperator("|")
	x.reopen(o)
	value := strings.Repeat("d", 100)
	x.must(x.db.PutEntity(nil, []byte("k"), rocksdb.WideColumns{{Value: []byte(value)},
		{Name: []byte("col_large"), Value: []byte(strings.Repeat("l", 120))}, {Name: []byte("meta"), Value: []byte("inline")}}))
	x.flush(0)
	x.must(x.db.CompactRange(nil, nil, nil))
	o.MaxOpenFiles = -1
	x.open(o)
	x.mustMerge(0, "k", "suffix")
	x.catchUp()
	x.wantSec("k", value+"|suffix")
	if got := x.operands("k", 2); got != value+" suffix" {
		t.Fatal(got)
	}
}

func TestDBSecondaryTest_OpenAsSecondary(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.Level0FileNumCompactionTrigger = 4
	x.reopen(o)
	for i := range 3 {
		x.putBoth(fmt.Sprint("foo_value", i), fmt.Sprint("bar_value", i))
		x.flush(0)
	}
	x.open(x.options())
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.wantBoth("foo_value2", "bar_value2")
	x.putBoth("new_foo_value", "new_bar_value")
	x.flush(0)
	x.catchUp()
	x.wantBoth("new_foo_value", "new_bar_value")
}

// closeCounter counts the tables that are closed.
type closeCounter struct {
	rocksdb.FileSystemWrapper
	closed atomic.Int64
}

type closeCountedFile struct {
	rocksdb.FSRandomAccessFile
	fs *closeCounter
}

func (f closeCountedFile) Close() error {
	f.fs.closed.Add(1)
	return f.FSRandomAccessFile.Close()
}

func (c *closeCounter) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	f, err := c.FileSystemWrapper.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return closeCountedFile{f, c}, nil
}

func TestDBSecondaryTest_SecondaryCloseFiles(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.MaxOpenFiles, o.DisableAutoCompactions = 1, true
	x.reopen(o)
	fs := &closeCounter{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	so := rocksdb.DefaultOptions()
	so.Env = env.NewCompositeEnvWrapper(env.Default(), fs, nil)
	x.open(so)
	for _, keys := range []string{"ac", "bd"} {
		for _, k := range keys {
			x.mustPut(0, string(k), "value")
		}
		x.flush(0)
		x.catchUp()
		if got, want := x.scanSec(0), x.scan(x.cf(0)); got != want || want == "" {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	x.must(x.db.CompactRange(nil, nil, nil))
	x.catchUp()
	if n := fs.closed.Load(); n != 2 {
		t.Fatalf("%d files closed", n)
	}
	if err := x.sec.SetDBOptions(map[string]string{"max_open_files": "-1"}); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
}

func TestDBSecondaryTest_OpenAsSecondaryWALTailing(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.Level0FileNumCompactionTrigger = 4
	x.reopen(o)
	for i := range 3 {
		x.putBoth(fmt.Sprint("foo_value", i), fmt.Sprint("bar_value", i))
	}
	x.open(x.options())
	x.wantBoth("foo_value2", "bar_value2")
	x.putBoth("new_foo_value", "new_bar_value")
	x.catchUp()
	x.wantBoth("new_foo_value", "new_bar_value")
	x.flush(0)
	x.mustPut(0, "foo", "new_foo_value_1")
	x.catchUp()
	x.wantBoth("new_foo_value_1", "new_bar_value")
}

func TestDBSecondaryTest_CatchUpTailsCurrentWalWhenFutureWalExists(t *testing.T) {
	x := newSecondaryTest(t)
	x.reopen(x.primary())
	x.mustPut(0, "foo", "value0")
	x.flush(0)
	x.mustPut(0, "foo", "value1")
	x.must(x.db.FlushWAL(true))
	wal, err := x.db.GetCurrentWalFile()
	x.must(err)
	f, err := x.env.GetFileSystem().NewWritableFile(filename.LogFileName(x.dir, wal.LogNumber+1000), &rocksdb.FileOptions{})
	x.must(err)
	x.must(f.Close(nil))
	x.open(x.options())
	x.wantSec("foo", "value1")
	x.mustPut(0, "foo", "value2")
	x.must(x.db.FlushWAL(true))
	x.catchUp()
	x.wantSec("foo", "value2")
}

func TestDBSecondaryTest_SecondaryTailingBug_ISSUE_8467(t *testing.T) {
	x := newSecondaryTest(t)
	x.reopen(x.primary())
	for i := range 3 {
		x.putBoth(fmt.Sprint("foo_value", i), fmt.Sprint("bar_value", i))
	}
	x.open(x.options())
	for range 2 {
		x.catchUp()
		x.wantBoth("foo_value2", "bar_value2")
	}
}

func TestDBSecondaryTest_RefreshIterator(t *testing.T) {
	x := newSecondaryTest(t)
	x.reopen(x.primary())
	x.open(x.options())
	it := x.sec.NewIterator(nil)
	defer it.Close()
	want := func(value string) {
		t.Helper()
		it.Seek([]byte("foo"))
		x.must(it.Err())
		if it.Valid() != (value != "") || it.Valid() && string(it.Value()) != value {
			t.Fatalf("valid %v, want %q", it.Valid(), value)
		}
	}
	before := ""
	for i := range 3 {
		value := fmt.Sprint("foo_value", i)
		x.mustPut(0, "foo", value)
		x.catchUp()
		want(before)
		x.must(it.Refresh(nil))
		want(value)
		before = value
	}
}

func TestDBSecondaryTest_OpenWithNonExistColumnFamily(t *testing.T) {
	x := newSecondaryTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.primary())
	if err := x.tryOpen(x.options(), "pikachu", "eevee"); err == nil {
		t.Fatal("opened")
	}
}

func TestDBSecondaryTest_OpenWithSubsetOfColumnFamilies(t *testing.T) {
	x := newSecondaryTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.primary())
	x.open(x.options())
	x.mustPut(0, "foo", "foo_value")
	x.mustPut(1, "foo", "foo_value")
	x.flush(0)
	x.flush(1)
	x.catchUp()
	x.wantSec("foo", "foo_value")
}

func TestDBSecondaryTest_MissingTableFileDuringOpen(t *testing.T) {
	x := newSecondaryTest(t)
	x.writeFourTables()
	x.open(x.options())
	x.wantBoth("foo_value3", "bar_value3")
}

// writeFourTables lets a compaction take away what it writes.
func (x *secondaryTest) writeFourTables() {
	x.Helper()
	o := x.primary()
	o.Level0FileNumCompactionTrigger = 4
	if x.sec == nil {
		x.reopen(o)
	}
	for i := range 4 {
		x.putBoth(fmt.Sprint("foo_value", i), fmt.Sprint("bar_value", i))
		x.flush(0)
	}
	x.must(x.full().TestWaitForCompact())
}

func TestDBSecondaryTest_MissingTableFile(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.Level0FileNumCompactionTrigger = 4
	x.reopen(o)
	x.open(x.options())
	x.writeFourTables()
	x.wantSec("foo", "NOT_FOUND")
	x.wantSec("bar", "NOT_FOUND")
	x.catchUp()
	x.wantBoth("foo_value3", "bar_value3")
}

func TestDBSecondaryTest_PrimaryDropColumnFamily(t *testing.T) {
	x := newSecondaryTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.primary())
	x.open(x.options(), "pikachu")
	x.mustPut(1, "foo", "foo_val_1")
	x.flush(1)
	x.catchUp()
	x.wantSecCF(1, "foo", "foo_val_1")
	x.must(x.db.DropColumnFamily(x.cfs[1]))
	x.close()
	for kind, want := range map[rocksdb.FileType]int{rocksdb.WalFile: 1, rocksdb.TableFile: 0, rocksdb.DescriptorFile: 1} {
		if n := x.countFiles(kind); n != want {
			t.Fatalf("%d files of type %v, want %d", n, kind, want)
		}
	}
	x.catchUp()
	x.wantSecCF(1, "foo", "foo_val_1")
}

// A MANIFEST that begins after a family was dropped says nothing of it.
func TestSecondary_DroppedInAnotherManifest(t *testing.T) {
	x := newSecondaryTest(t)
	x.createAndReopenWithCF([]string{"pikachu", "eevee"}, x.primary())
	x.open(x.options(), "pikachu", "eevee")
	x.mustPut(1, "foo", "one")
	x.mustPut(2, "foo", "two")
	x.flush(1)
	x.catchUp()
	x.must(x.db.DropColumnFamily(x.cfs[1]))
	x.reopenWithColumnFamilies([]string{"default", "eevee"}, x.primary())
	x.mustPut(1, "foo", "three")
	x.createColumnFamilies([]string{"new"}, x.primary())
	x.mustPut(2, "foo", "four") // of a family that the secondary does not have
	x.flush(2)
	x.catchUp()
	x.wantSecCF(1, "foo", "one")
	x.wantSecCF(2, "foo", "three")
	x.mustPut(1, "foo", "five")
	x.flush(1)
	x.catchUp()
	x.wantSecCF(2, "foo", "five")
}

func TestDBSecondaryTest_SwitchManifest(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.Level0FileNumCompactionTrigger = 4
	x.createAndReopenWithCF([]string{"test_cf"}, o)
	x.open(x.options(), "test_cf")
	for i := range 3 {
		for j := range 10 {
			x.mustPut(0, fmt.Sprint("key", j), fmt.Sprint("value_", i))
		}
		x.flush(0)
	}
	x.catchUp()
	want := x.scan(x.cf(0))
	if got := x.scanSec(0); got != want || strings.Count(got, "value_2") != 10 {
		t.Fatal(got)
	}
	names := []string{"default", "test_cf"}
	x.reopenWithColumnFamilies(names, o)
	x.must(x.db.CompactRange(nil, nil, nil))
	x.must(x.full().TestWaitForCompact())
	x.reopenWithColumnFamilies(names, o)
	x.must(x.db.SetOptions(map[string]string{"disable_auto_compactions": "false"}))
	x.catchUp()
	if got := x.scanSec(0); got != want {
		t.Fatal(got)
	}
}

func TestDBSecondaryTest_SwitchManifestTwice(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.DisableAutoCompactions = true
	x.createAndReopenWithCF([]string{"test_cf"}, o)
	x.open(x.options(), "test_cf")
	x.mustPut(0, "0", "value0")
	x.flush(0)
	x.catchUp()
	x.wantSec("0", "value0")
	names := []string{"default", "test_cf"}
	x.reopenWithColumnFamilies(names, o)
	x.must(x.db.SetOptions(map[string]string{"disable_auto_compactions": "false"}))
	x.reopenWithColumnFamilies(names, o)
	x.mustPut(0, "0", "value1")
	x.catchUp()
	x.wantSec("0", "value1")
}

// smallMemtables lets the primary switch its log all the time.
func (x *secondaryTest) smallMemtables(perMemtable int64) rocksdb.Options {
	o := x.primary()
	o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge = 4, 2
	o.MemtableFactory = newSpecialSkipListFactory(perMemtable)
	return o
}

// wantSame wants the same of both in all families.
func (x *secondaryTest) wantSame() {
	x.Helper()
	for i, cf := range x.secCFs {
		want := x.scan(x.cf(i))
		if got := x.scan(cf); got != want {
			x.Fatalf("family %d: %q, want %q", i, got, want)
		}
		for kv := range strings.SplitSeq(want, " ") {
			if k, v, ok := strings.Cut(kv, "="); ok {
				x.wantSecCF(i, k, v)
			}
		}
	}
}

func TestDBSecondaryTest_DISABLED_SwitchWAL(t *testing.T) {
	x := newSecondaryTest(t)
	x.reopen(x.smallMemtables(1))
	x.open(x.options())
	for k := range 16 {
		x.mustPut(0, fmt.Sprint("key", k), fmt.Sprint("value", k))
		x.catchUp()
		x.wantSame()
	}
}

func TestDBSecondaryTest_DISABLED_SwitchWALMultiColumnFamilies(t *testing.T) {
	x := newSecondaryTest(t)
	x.createAndReopenWithCF([]string{"pikachu"}, x.smallMemtables(1))
	x.open(x.options(), "pikachu")
	for k := range 8 {
		for range 2 {
			x.mustPut(0, fmt.Sprint("key", k), fmt.Sprint("value", k))
			x.mustPut(1, fmt.Sprint("key", k), fmt.Sprint("value", k))
		}
		x.catchUp()
		x.wantSame()
	}
}

func TestDBSecondaryTest_CatchUpAfterFlush(t *testing.T) {
	x := newSecondaryTest(t)
	x.reopen(x.smallMemtables(16))
	x.open(x.options())
	write := func(key0, key1 string) {
		t.Helper()
		b := rocksdb.NewWriteBatch()
		x.must(b.Put([]byte("key0"), []byte(key0)))
		if key1 == "" {
			x.must(b.Delete([]byte("key1")))
		} else {
			x.must(b.Put([]byte("key1"), []byte(key1)))
		}
		x.must(x.db.Write(nil, b))
	}
	want := func(it *rocksdb.Iterator, key, value string) {
		t.Helper()
		it.Seek([]byte(key))
		if it.Valid() != (value != "") || it.Valid() && string(it.Value()) != value {
			t.Fatalf("%s: valid %v, want %q", key, it.Valid(), value)
		}
		x.must(it.Err())
	}
	write("value0", "value1")
	it1 := x.sec.NewIterator(nil)
	defer it1.Close()
	want(it1, "key0", "")
	want(it1, "key1", "")
	x.catchUp()
	want(it1, "key0", "")
	want(it1, "key1", "")
	it2 := x.sec.NewIterator(nil)
	defer it2.Close()
	want(it2, "key0", "value0")
	want(it2, "key1", "value1")
	write("value01", "value11")
	write("new_value0", "")
	x.flush(0)
	x.catchUp()
	it3 := x.sec.NewIterator(nil)
	defer it3.Close()
	want(it3, "key0", "new_value0")
	want(it3, "key1", "")
}

func TestDBSecondaryTest_GetLiveFilesOnSecondary(t *testing.T) {
	x := newSecondaryTest(t)
	o := x.primary()
	o.Level0FileNumCompactionTrigger = 4
	x.reopen(o)
	for i := range 3 {
		x.mustPut(0, fmt.Sprint("key", i), fmt.Sprint("value", i))
		x.flush(0)
	}
	x.open(x.options())
	files, size, err := x.sec.GetLiveFiles(false)
	x.must(err)
	if size == 0 {
		t.Fatal("no size of the MANIFEST")
	}
	for _, part := range []string{".sst", "CURRENT", "MANIFEST"} {
		if !slices.ContainsFunc(files, func(f string) bool { return strings.Contains(f, part) }) {
			t.Fatalf("no %s in %v", part, files)
		}
	}
	x.mustPut(0, "key3", "value3")
	x.flush(0)
	x.catchUp()
	after, _, err := x.sec.GetLiveFiles(false)
	x.must(err)
	if len(after) <= len(files) {
		t.Fatal(after, files)
	}
}

func TestDBSecondaryTestWithTimestamp_IteratorAndGetReadTimestampSizeMismatch(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, true, false).wantAllRefused(readAt(shortTS), true)
}

func TestDBSecondaryTestWithTimestamp_IteratorAndGetReadTimestampSpecifiedWithoutWriteTimestamp(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, false, false).wantAllRefused(readAt(timestamp(2, 0)), true)
}

func TestDBSecondaryTestWithTimestamp_IteratorAndGetWriteWithTimestampReadWithoutTimestamp(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, true, false).wantAllRefused(readAt(nil), true)
}

func TestDBSecondaryTestWithTimestamp_IteratorAndGet(t *testing.T) {
	twoVersions(t, (*dbTest).tryReopenAsSecondary, 128, false, false).wantIteratorsAndGets()
}

func TestDBSecondaryTestWithTimestamp_IteratorsReadTimestampSizeMismatch(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, true, false).wantIteratorsRefused(readAt(shortTS))
}

func TestDBSecondaryTestWithTimestamp_FullHistoryTsLowSanityCheckFail(t *testing.T) {
	testHistoryTsLow(t, (*dbTest).tryReopenAsSecondary)
}

func TestDBSecondaryTestWithTimestamp_IteratorsReadTimestampSpecifiedWithoutWriteTimestamp(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, false, false).wantIteratorsRefused(readAt(timestamp(2, 0)))
}

func TestDBSecondaryTestWithTimestamp_IteratorsWriteWithTimestampReadWithoutTimestamp(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, true, false).wantIteratorsRefused(readAt(nil))
}

func TestDBSecondaryTestWithTimestamp_Iterators(t *testing.T) {
	timestampTest(t, (*dbTest).tryReopenAsSecondary, 128, true, false).wantIterators()
}

// A secondary that catches up now and then sees what the primary has, whatever that
// does: flushes, compactions, families dropped and made, new MANIFESTs, recycled
// and compressed logs.
func TestSecondary_FollowsPrimary(t *testing.T) {
	for name, set := range map[string]func(o *rocksdb.Options){
		"plain":    func(*rocksdb.Options) {},
		"recycled": func(o *rocksdb.Options) { o.RecycleLogFileNum = 2; o.WALRecoveryMode = rocksdb.PointInTimeRecovery },
		"compressed": func(o *rocksdb.Options) {
			o.WALCompression, o.AsyncWALPrecreate, o.MaxManifestFileSize = rocksdb.ZSTD, true, 500
		},
		"atomic": func(o *rocksdb.Options) { o.AtomicFlush, o.EnableBlobFiles, o.MinBlobSize = true, true, 8 },
	} {
		t.Run(name, func(t *testing.T) {
			rnd := util.NewRandom(301)
			x := newSecondaryTest(t)
			o := x.primary()
			o.WriteBufferSize, o.Level0FileNumCompactionTrigger = 64<<10, 3
			set(&o)
			x.createAndReopenWithCF([]string{"a", "b"}, o)
			so := x.options()
			so.EnableBlobFiles, so.MinBlobSize = o.EnableBlobFiles, o.MinBlobSize
			x.open(so, "a", "b")
			names := []string{"default", "a", "b"}
			for step := range 400 {
				cf := int(rnd.Uniform(3))
				key := fmt.Sprintf("key%02d", rnd.Uniform(60))
				switch n := rnd.Uniform(100); {
				case n < 55:
					x.mustPut(cf, key, fmt.Sprintf("value%d-%s", step, strings.Repeat("x", int(rnd.Uniform(20)))))
				case n < 65:
					x.mustDelete(cf, key)
				case n < 70:
					x.must(x.cf(cf).DeleteRange(nil, []byte(key), []byte(key+"~")))
				case n < 80:
					x.flush(cf)
				case n < 83:
					x.must(x.cf(cf).CompactRange(nil, nil, nil))
				case n < 85:
					x.reopenWithColumnFamilies(names, o)
				default:
					x.catchUp()
					x.wantSame()
				}
			}
			x.catchUp()
			x.wantSame()
		})
	}
}

// Reads of a secondary go on while it catches up, and see whole batches.
func TestSecondary_ReadsWhileCatchingUp(t *testing.T) {
	x := newSecondaryTest(t)
	x.createAndReopenWithCF([]string{"a"}, x.smallMemtables(20))
	x.open(x.options(), "a")
	stop := make(chan struct{})
	done := make(chan error)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			var values [2]string
			for i := range values { // the first one is read first: it is not newer
				v, e := x.secCFs[0].Get(nil, []byte{'k', byte('0' + i)})
				if e != nil && !rocksdb.IsNotFound(e) {
					err = e
				}
				values[i] = string(v.Data())
				v.Release()
			}
			if err == nil && values[0] > values[1] {
				err = fmt.Errorf("%q and then %q", values[0], values[1])
			}
		}
		done <- err
	}()
	for i := range 300 {
		b := rocksdb.NewWriteBatch()
		value := fmt.Appendf(nil, "%05d", i)
		x.must(b.Put([]byte("k0"), value))
		x.must(b.Put([]byte("k1"), value))
		x.must(x.db.Write(nil, b))
		if i%3 == 0 {
			x.catchUp()
		}
	}
	close(stop)
	x.must(<-done)
	x.catchUp()
	x.wantSec("k1", "00299")
}
