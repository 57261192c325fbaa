// Port of table/sst_file_reader_test.cc. Differs: a sum of numbers of eight bytes
// is uint64add; the cases of one kind share a function where upstream has
// fixtures.

package table_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

const readerTestKeys = 100

func asString(v uint64) string { return fmt.Sprintf("%08d", v) }
func asUint64(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }

// sstReaderTest makes and reads one table file.
type sstReaderTest struct {
	*testing.T
	o    rocksdb.Options
	name string
}

func newSstReaderTest(t *testing.T) *sstReaderTest {
	t.Helper()
	x := &sstReaderTest{T: t, o: rocksdb.DefaultOptions(), name: filepath.Join(t.TempDir(), "sst_file")}
	m, err := mergeoperators.New("uint64add")
	x.must(err)
	x.o.MergeOperator = m
	return x
}

func newSstReaderTSTest(t *testing.T, persisted bool) *sstReaderTest {
	t.Helper()
	x := newSstReaderTest(t)
	x.o.MergeOperator = nil
	x.o.Comparator = util.BytewiseComparatorWithU64Ts()
	x.o.PersistUserDefinedTimestamps = persisted
	return x
}

func (x *sstReaderTest) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

func (x *sstReaderTest) wantInvalid(err error) {
	x.Helper()
	if !errors.Is(err, rocksdb.ErrInvalidArgument) {
		x.Fatalf("%v, want InvalidArgument", err)
	}
}

// numbered makes readerTestKeys keys.
func numbered(encode func(uint64) string) (keys []string) {
	for i := range uint64(readerTestKeys) {
		keys = append(keys, encode(i))
	}
	return keys
}

// writer begins the file.
func (x *sstReaderTest) writer() *rocksdb.SstFileWriter {
	x.Helper()
	w := rocksdb.NewSstFileWriter(x.o, nil)
	x.Cleanup(func() { w.Close() })
	x.must(w.Open(x.name, rocksdb.TemperatureUnknown))
	return w
}

// open opens a file.
func (x *sstReaderTest) open(path string) *rocksdb.SstFileReader {
	x.Helper()
	r := rocksdb.NewSstFileReader(x.o)
	x.Cleanup(func() {
		if err := r.Close(); err != nil {
			x.Error(err)
		}
	})
	x.must(r.Open(path))
	return r
}

// createFile writes, of each three keys, a put, a merge and a deletion.
func (x *sstReaderTest) createFile(keys []string) {
	x.Helper()
	w := x.writer()
	for i := 0; i+2 < len(keys); i += 3 {
		x.must(w.Put([]byte(keys[i]), []byte(keys[i])))
		x.must(w.Merge([]byte(keys[i+1]), []byte(asUint64(uint64(i+1)))))
		x.must(w.Delete([]byte(keys[i+2])))
	}
	x.must(w.Finish(nil))
}

func (x *sstReaderTest) checkFile(path string, keys []string, globalSeqno bool) {
	x.Helper()
	r := x.open(path)
	x.must(r.VerifyChecksum(nil))
	it := r.NewIterator(nil)
	defer it.Close()
	it.SeekToFirst()
	for i := 0; i+2 < len(keys); i += 3 {
		for j, want := range []string{keys[i], asUint64(uint64(i + 1))} {
			if !it.Valid() || string(it.Key()) != keys[i+j] || string(it.Value()) != want {
				x.Fatalf("at %d: valid %t (%v)", i+j, it.Valid(), it.Status())
			}
			it.Next()
		}
	}
	if it.Valid() || it.Status() != nil {
		x.Fatalf("more entries, or %v", it.Status())
	}
	if !globalSeqno {
		return
	}
	p := r.GetTableProperties()
	host, err := os.Hostname()
	x.must(err)
	if p.DBHostID != host {
		x.Errorf("db_host_id %q, not %q", p.DBHostID, host)
	}
	if _, ok := p.UserCollectedProperties[table.ExternalSstFileGlobalSeqnoProperty]; !ok {
		x.Error("no property of a global sequence number")
	}
}

func TestSstFileReaderTest_Basic(t *testing.T) {
	x := newSstReaderTest(t)
	keys := numbered(asString)
	x.createFile(keys)
	x.checkFile(x.name, keys, false)
}

func TestSstFileReaderTest_Uint64Comparator(t *testing.T) {
	x := newSstReaderTest(t)
	x.o.Comparator = util.Uint64Comparator()
	keys := numbered(asUint64)
	x.createFile(keys)
	x.checkFile(x.name, keys, false)
}

func TestSstFileReaderTest_ParseTableIteratorKey(t *testing.T) {
	x := newSstReaderTest(t)
	keys := []string{asString(0), asString(1), asString(2)}
	x.createFile(keys)
	r := x.open(x.name)
	it := r.NewTableIterator()
	defer it.Close()
	it.SeekToFirst()
	for i, want := range []rocksdb.EntryType{rocksdb.EntryPut, rocksdb.EntryMerge, rocksdb.EntryDelete} {
		x.wantParsed(r, it, keys[i], 0, want)
		it.Next()
	}
	if it.Valid() {
		t.Error("more entries")
	}
}

func (x *sstReaderTest) wantParsed(r *rocksdb.SstFileReader, it *rocksdb.SstTableIterator, key string, seq uint64, typ rocksdb.EntryType) {
	x.Helper()
	if !it.Valid() {
		x.Fatalf("no entry for %q: %v", key, it.Status())
	}
	p, err := r.ParseTableIteratorKey(it.Key())
	x.must(err)
	if string(p.UserKey) != key || p.Sequence != seq || p.Type != typ {
		x.Errorf("%q at %d of type %v, want %q at %d of type %v", p.UserKey, p.Sequence, p.Type, key, seq, typ)
	}
}

// tableFiles lists the paths of a database's tables.
func tableFiles(x *sstReaderTest, dir string, db *rocksdb.DB) (list []string) {
	x.Helper()
	files, _, err := db.GetLiveFiles(true)
	x.must(err)
	for _, f := range files {
		if strings.HasSuffix(f, ".sst") {
			list = append(list, filepath.Join(dir, f))
		}
	}
	slices.Sort(list)
	return list
}

func TestSstFileReaderTest_ParseTableIteratorKeyFromDbGeneratedSst(t *testing.T) {
	x := newSstReaderTest(t)
	o := x.o
	o.CreateIfMissing, o.DisableAutoCompactions = true, true
	dir := filepath.Join(t.TempDir(), "db")
	db, err := rocksdb.Open(dir, o)
	x.must(err)
	keys := []string{asString(0), asString(1)}
	for i, k := range keys {
		x.must(db.Put(nil, []byte(k), fmt.Appendf(nil, "value%d", i)))
	}
	x.must(db.Flush(nil))
	files := tableFiles(x, dir, db)
	if len(files) != 1 {
		t.Fatalf("tables %v", files)
	}
	x.must(db.Close())
	r := x.open(files[0])
	it := r.NewTableIterator()
	defer it.Close()
	it.SeekToFirst()
	for i, k := range keys {
		x.wantParsed(r, it, k, uint64(i+1), rocksdb.EntryPut)
		it.Next()
	}
	if it.Valid() {
		t.Error("more entries")
	}
}

func TestSstFileReaderTest_ParseTableIteratorKeyRejectsShortKey(t *testing.T) {
	x := newSstReaderTest(t)
	x.createFile([]string{asString(0), asString(1), asString(2)})
	_, err := rocksdb.NewSstFileReader(x.o).ParseTableIteratorKey([]byte("short"))
	x.wantInvalid(err)
}

func TestSstFileReaderTest_ReadOptionsOutOfScope(t *testing.T) {
	x := newSstReaderTest(t)
	x.o.Comparator = util.Uint64Comparator()
	x.createFile(numbered(asUint64))
	r := x.open(x.name)
	ro := rocksdb.DefaultReadOptions()
	lower := []byte(asUint64(0))
	ro.IterateLowerBound = lower
	it := r.NewIterator(&ro)
	defer it.Close()
	// What the caller does with its options does not matter any more.
	copy(lower, asUint64(readerTestKeys))
	ro = rocksdb.ReadOptions{}
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	x.must(it.Status())
	if want := readerTestKeys / 3 * 2; n != want {
		t.Errorf("%d entries, not %d", n, want)
	}
}

func TestSstFileReaderTest_ReadFileWithGlobalSeqno(t *testing.T) {
	x := newSstReaderTest(t)
	keys := numbered(asString)
	x.createFile(keys)
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	dir := filepath.Join(t.TempDir(), "db")
	db, err := rocksdb.Open(dir, o)
	x.must(err)
	x.must(db.Put(nil, []byte(keys[0]), []byte("foo")))
	x.must(db.Flush(nil))
	io := rocksdb.DefaultIngestExternalFileOptions()
	io.WriteGlobalSeqno = true
	x.must(db.IngestExternalFile([]string{x.name}, &io))
	files := tableFiles(x, dir, db)
	x.must(db.Close())
	x.checkFile(files[len(files)-1], keys, true)
}

func TestSstFileReaderTest_TimestampSizeMismatch(t *testing.T) {
	x := newSstReaderTest(t)
	w := x.writer()
	x.wantInvalid(w.PutWithTS([]byte("key"), []byte(asUint64(100)), []byte("value")))
	x.wantInvalid(w.DeleteWithTS([]byte("another_key"), []byte(asUint64(200))))
}

func TestSstFileReaderTest_VerifyNumEntriesBasic(t *testing.T) {
	x := newSstReaderTest(t)
	x.createFile(numbered(asUint64))
	x.must(x.open(x.name).VerifyNumEntries(nil))
}

func TestSstFileReaderTest_VerifyNumEntriesDeleteRange(t *testing.T) {
	x := newSstReaderTest(t)
	w := x.writer()
	for i := range uint64(readerTestKeys) {
		x.must(w.Put([]byte(asUint64(i)), []byte(asUint64(i+1))))
	}
	x.must(w.DeleteRange([]byte(asUint64(0)), []byte(asUint64(readerTestKeys/2))))
	x.must(w.Finish(nil))
	x.must(x.open(x.name).VerifyNumEntries(nil))
}

// tsEntry is an entry at a timestamp.
type tsEntry struct {
	key, ts, value string
	deletion       bool
	// contiguous: key and timestamp come out of one buffer.
	contiguous bool
}

func (x *sstReaderTest) createTSFile(es []tsEntry) (info rocksdb.ExternalSstFileInfo) {
	x.Helper()
	w := x.writer()
	for _, e := range es {
		key, ts := []byte(e.key), []byte(e.ts)
		if e.contiguous {
			both := []byte(e.key + e.ts)
			key, ts = both[:len(key)], both[len(key):]
		}
		if e.deletion {
			x.must(w.DeleteWithTS(key, ts))
		} else {
			x.must(w.PutWithTS(key, ts, []byte(e.value)))
		}
	}
	x.must(w.Finish(&info))
	return info
}

func (x *sstReaderTest) checkTSFile(ts string, want []tsEntry) {
	x.Helper()
	r := x.open(x.name)
	x.must(r.VerifyChecksum(nil))
	ro := rocksdb.DefaultReadOptions()
	ro.Timestamp = []byte(ts)
	it := r.NewIterator(&ro)
	defer it.Close()
	it.SeekToFirst()
	for _, e := range want {
		if !it.Valid() || string(it.Key()) != e.key || string(it.Timestamp()) != e.ts || string(it.Value()) != e.value {
			x.Fatalf("at %x: no %q of %x = %q (%v)", ts, e.key, e.ts, e.value, it.Status())
		}
		it.Next()
	}
	if it.Valid() || it.Status() != nil {
		x.Fatalf("at %x: more entries, or %v", ts, it.Status())
	}
}

func TestSstFileReaderTimestampTest_Basic(t *testing.T) {
	x := newSstReaderTSTest(t, true)
	var in []tsEntry
	for k := uint64(0); k < readerTestKeys; k += 4 {
		in = append(in, // newest first
			tsEntry{key: asString(k), ts: asUint64(k + 1), value: asString(k * 2)},
			tsEntry{key: asString(k), ts: asUint64(k), value: asString(k * 3), contiguous: true},
			tsEntry{key: asString(k + 2), ts: asUint64(k + 3), deletion: true, contiguous: k%8 == 0},
			tsEntry{key: asString(k + 2), ts: asUint64(k + 2), value: asString(k * 5), contiguous: k%8 != 0})
	}
	x.createTSFile(in)
	var want []tsEntry
	for ts := range uint64(readerTestKeys) {
		k := ts - ts%4
		switch ts % 4 {
		case 0:
			want = append(want, tsEntry{key: asString(k), ts: asUint64(ts), value: asString(k * 3)})
		case 1: // overwrites
			want[len(want)-1] = tsEntry{key: asString(k), ts: asUint64(ts), value: asString(k * 2)}
		case 2:
			want = append(want, tsEntry{key: asString(k + 2), ts: asUint64(ts), value: asString(k * 5)})
		case 3: // deletes
			want = want[:len(want)-1]
		}
		x.checkTSFile(asUint64(ts), want)
	}
}

func TestSstFileReaderTimestampTest_TimestampsOutOfOrder(t *testing.T) {
	x := newSstReaderTSTest(t, true)
	w := x.writer()
	x.must(w.PutWithTS([]byte("key"), []byte(asUint64(1)), []byte("value1")))
	x.wantInvalid(w.PutWithTS([]byte("key"), []byte(asUint64(2)), []byte("value2")))
}

// checkWrongTimestamps: timestamps of another size, and calls without one, are
// refused.
func (x *sstReaderTest) checkWrongTimestamps() {
	x.Helper()
	w := x.writer()
	x.wantInvalid(w.PutWithTS([]byte("key"), []byte("not_an_actual_64_bit_timestamp"), []byte("value")))
	x.wantInvalid(w.DeleteWithTS([]byte("another_key"), []byte("timestamp_of_unexpected_size")))
	x.wantInvalid(w.Put([]byte("key_without_timestamp"), []byte("value")))
	x.wantInvalid(w.Merge([]byte("another_key_missing_a_timestamp"), []byte("merge_operand")))
	x.wantInvalid(w.Delete([]byte("yet_another_key_still_no_timestamp")))
	x.wantInvalid(w.DeleteRange([]byte("begin_key_timestamp_absent"), []byte("end_key_with_a_complete_lack_of_timestamps")))
}

func TestSstFileReaderTimestampTest_TimestampSizeMismatch(t *testing.T) {
	newSstReaderTSTest(t, true).checkWrongTimestamps()
}

func TestSstFileReaderTimestampNotPersistedTest_Basic(t *testing.T) {
	x := newSstReaderTSTest(t, false)
	var in, want []tsEntry
	for k := range uint64(readerTestKeys) {
		e := tsEntry{key: asString(k), ts: asUint64(0), value: asString(k), contiguous: k%2 == 0}
		in, want = append(in, e), append(want, e)
	}
	info := x.createTSFile(in)
	x.checkTSFile(asUint64(0), want)
	x.wantBounds(&info, asString(0), asString(readerTestKeys-1), "", "")
}

func (x *sstReaderTest) wantBounds(info *rocksdb.ExternalSstFileInfo, smallest, largest, smallestRange, largestRange string) {
	x.Helper()
	if string(info.SmallestKey) != smallest || string(info.LargestKey) != largest ||
		string(info.SmallestRangeDelKey) != smallestRange || string(info.LargestRangeDelKey) != largestRange {
		x.Errorf("bounds %q %q, of ranges %q %q", info.SmallestKey, info.LargestKey, info.SmallestRangeDelKey, info.LargestRangeDelKey)
	}
}

func TestSstFileReaderTimestampNotPersistedTest_NonMinTimestampNotAllowed(t *testing.T) {
	x := newSstReaderTSTest(t, false)
	w := x.writer()
	least, two := []byte(asUint64(0)), []byte(asUint64(2))
	x.wantInvalid(w.DeleteWithTS([]byte("baz"), two))
	x.must(w.PutWithTS([]byte("baz"), least, []byte("foo_val")))
	x.wantInvalid(w.PutWithTS([]byte("key"), two, []byte("value1")))
	x.must(w.PutWithTS([]byte("key"), least, []byte("value2")))
	x.wantInvalid(w.DeleteRangeWithTS([]byte("bar"), []byte("foo"), two))
	x.must(w.DeleteRangeWithTS([]byte("bar"), []byte("foo"), least))
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	x.wantBounds(&info, "baz", "key", "bar", "foo")
}

func TestSstFileReaderTimestampNotPersistedTest_KeyWithoutTimestampOutOfOrder(t *testing.T) {
	x := newSstReaderTSTest(t, false)
	w := x.writer()
	least := []byte(asUint64(0))
	x.must(w.PutWithTS([]byte("foo"), least, []byte("value1")))
	x.wantInvalid(w.PutWithTS([]byte("bar"), least, []byte("value2")))
}

func TestSstFileReaderTimestampNotPersistedTest_IncompatibleTimestampFormat(t *testing.T) {
	newSstReaderTSTest(t, false).checkWrongTimestamps()
}

// rawEntry is an entry as a table iterator shows it; value counts for puts.
type rawEntry struct {
	userKey string
	typ     dbformat.ValueType
	value   string
}

func (x *sstReaderTest) wantRaw(it *rocksdb.SstTableIterator, move func(), want ...rawEntry) {
	x.Helper()
	for _, w := range want {
		if !it.Valid() {
			x.Fatalf("no entry for %q: %v", w.userKey, it.Status())
		}
		p, err := dbformat.ParseInternalKey(it.Key(), false)
		x.must(err)
		if string(p.UserKey) != w.userKey || p.Type != w.typ || w.typ == dbformat.TypeValue && string(it.Value()) != w.value {
			x.Fatalf("%q of type %d = %q, want %v", p.UserKey, p.Type, it.Value(), w)
		}
		move()
	}
	if it.Valid() {
		x.Fatalf("one entry more: %q", it.Key())
	}
}

// checkTableIterator flushes what write writes and compares the views of the
// table: one entry for bar, deletions of suffixes.
func checkTableIterator(t *testing.T, cmp rocksdb.Comparator, write func(x *sstReaderTest, db *rocksdb.DB), readTS []byte, newest []rawEntry) {
	x := newSstReaderTest(t)
	x.o.Comparator, x.o.MergeOperator = cmp, nil
	x.o.CreateIfMissing, x.o.DisableAutoCompactions = true, true
	db, err := rocksdb.Open(filepath.Join(t.TempDir(), "db"), x.o)
	x.must(err)
	defer func() { x.must(db.Close()) }()
	write(x, db)
	files := db.GetLiveFilesMetaData()
	if len(files) != 1 || files[0].Level != 0 {
		t.Fatalf("files %v", files)
	}
	r := x.open(filepath.Join(files[0].Directory, files[0].RelativeFilename))
	x.must(r.VerifyChecksum(nil))
	ro := rocksdb.DefaultReadOptions()
	ro.Timestamp = readTS
	it := r.NewIterator(&ro)
	it.SeekToFirst()
	if !it.Valid() || string(it.Key()) != "bar" || string(it.Value()) != "val2" || readTS != nil && string(it.Timestamp()) != asUint64(3) {
		t.Fatalf("valid %t (%v)", it.Valid(), it.Status())
	}
	if it.Next(); it.Valid() {
		t.Fatalf("deleted %q is there", it.Key())
	}
	x.must(it.Close())

	raw := r.NewTableIterator()
	defer raw.Close()
	raw.SeekToFirst()
	x.wantRaw(raw, raw.Next, newest...)
	target, err := rocksdb.GetInternalKeyForSeek(nil, []byte("foo"), cmp)
	x.must(err)
	raw.Seek(target)
	x.wantRaw(raw, raw.Next, newest[2:]...)
	target, err = rocksdb.GetInternalKeyForSeekForPrev(nil, []byte("bar"), cmp)
	x.must(err)
	raw.SeekForPrev(target)
	x.wantRaw(raw, raw.Prev, newest[1], newest[0])
}

func TestSstFileReaderTableIteratorTest_Basic(t *testing.T) {
	checkTableIterator(t, util.BytewiseComparator(), func(x *sstReaderTest, db *rocksdb.DB) {
		x.must(db.Put(nil, []byte("foo"), []byte("val1")))
		s1 := db.GetSnapshot()
		x.must(db.Delete(nil, []byte("foo")))
		x.must(db.Delete(nil, []byte("bar")))
		s2 := db.GetSnapshot()
		x.must(db.Put(nil, []byte("bar"), []byte("val2")))
		x.must(db.Flush(nil))
		db.ReleaseSnapshot(s1)
		db.ReleaseSnapshot(s2)
	}, nil, []rawEntry{{"bar", dbformat.TypeValue, "val2"}, {"bar", dbformat.TypeDeletion, ""},
		{"foo", dbformat.TypeDeletion, ""}, {"foo", dbformat.TypeValue, "val1"}})
}

func TestSstFileReaderTableIteratorTest_UserDefinedTimestampsEnabled(t *testing.T) {
	checkTableIterator(t, util.BytewiseComparatorWithU64Ts(), func(x *sstReaderTest, db *rocksdb.DB) {
		x.must(db.PutWithTimestamp(nil, []byte("foo"), []byte(asUint64(3)), []byte("val1")))
		x.must(db.DeleteWithTimestamp(nil, []byte("foo"), []byte(asUint64(4))))
		x.must(db.DeleteWithTimestamp(nil, []byte("bar"), []byte(asUint64(2))))
		x.must(db.PutWithTimestamp(nil, []byte("bar"), []byte(asUint64(3)), []byte("val2")))
		x.must(db.Flush(nil))
	}, []byte(asUint64(4)), []rawEntry{{"bar" + asUint64(3), dbformat.TypeValue, "val2"},
		{"bar" + asUint64(2), dbformat.TypeDeletionWithTimestamp, ""},
		{"foo" + asUint64(4), dbformat.TypeDeletionWithTimestamp, ""}, {"foo" + asUint64(3), dbformat.TypeValue, "val1"}})
}

// eachGet runs f with Get and with MultiGet; the getter gives values or errors.
func eachGet(t *testing.T, f func(t *testing.T, get func(r *rocksdb.SstFileReader, keys ...string) ([]string, []error))) {
	t.Run("Get", func(t *testing.T) {
		f(t, func(r *rocksdb.SstFileReader, keys ...string) (values []string, errs []error) {
			for _, k := range keys {
				v, err := r.Get(nil, []byte(k))
				values, errs = append(values, string(v.Data())), append(errs, err)
				v.Release()
			}
			return values, errs
		})
	})
	t.Run("MultiGet", func(t *testing.T) {
		f(t, func(r *rocksdb.SstFileReader, keys ...string) (values []string, errs []error) {
			list := make([][]byte, len(keys))
			for i, k := range keys {
				list[i] = []byte(k)
			}
			pinned := make([]rocksdb.PinnableSlice, len(keys))
			errs = make([]error, len(keys))
			r.MultiGet(nil, list, pinned, errs)
			for i := range pinned {
				values = append(values, string(pinned[i].Data()))
				pinned[i].Release()
			}
			return values, errs
		})
	})
}

func TestSstFileReaderTableGetTest_Basic(t *testing.T) {
	eachGet(t, func(t *testing.T, get func(r *rocksdb.SstFileReader, keys ...string) ([]string, []error)) {
		x := newSstReaderTest(t)
		m, err := mergeoperators.New("stringappend")
		x.must(err)
		x.o.MergeOperator = m
		x.o.CreateIfMissing, x.o.DisableAutoCompactions = true, true
		x.o.Statistics = rocksdb.NewStatistics()
		b := rocksdb.DefaultBlockBasedTableOptions()
		b.FilterPolicy = rocksdb.NewBloomFilterPolicy(10)
		x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		db, err := rocksdb.Open(filepath.Join(t.TempDir(), "db"), x.o)
		x.must(err)
		defer func() { x.must(db.Close()) }()
		put := func(k, v string) { x.must(db.Put(nil, []byte(k), []byte(v))) }
		put("foo", "val1")
		s1 := db.GetSnapshot()
		x.must(db.Delete(nil, []byte("foo")))
		x.must(db.Delete(nil, []byte("bar")))
		s2 := db.GetSnapshot()
		put("bar", "val2")
		put("baz", "val3")
		put("aaa", "val4")
		s3 := db.GetSnapshot()
		x.must(db.Merge(nil, []byte("aaa"), []byte("val5")))
		x.must(db.Flush(nil))
		files := db.GetLiveFilesMetaData()
		if len(files) != 1 || files[0].Level != 0 {
			t.Fatalf("files %v", files)
		}
		r := x.open(filepath.Join(files[0].Directory, files[0].RelativeFilename))
		x.must(r.VerifyChecksum(nil))
		x.must(x.o.Statistics.Reset())
		values, errs := get(r, "fo1", "foo", "baz", "bar", "aaa", "zzz_not_in_sst")
		for i, want := range []string{"", "", "val3", "val2", "val4,val5", ""} {
			if want == "" != errors.Is(errs[i], rocksdb.ErrNotFound) || want != "" && (errs[i] != nil || values[i] != want) {
				t.Errorf("%d: %q, %v; want %q", i, values[i], errs[i], want)
			}
		}
		if x.o.Statistics.GetTickerCount(rocksdb.BlockCacheHit)+x.o.Statistics.GetTickerCount(rocksdb.BlockCacheMiss) == 0 {
			t.Error("the block cache was not asked")
		}
		for _, s := range []rocksdb.Snapshot{s1, s2, s3} {
			db.ReleaseSnapshot(s)
		}
	})
}
