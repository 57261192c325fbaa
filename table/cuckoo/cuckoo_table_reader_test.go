// Port of table/cuckoo/cuckoo_table_reader_test.cc.

package cuckoo_test

import (
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/cuckoo"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

const numHashFunc = 10

func numToStr(i int) string { return string(util.AppendFixed64(nil, uint64(i))) }

func lookups(from, n int) (v []uint64) {
	for i := range n {
		v = append(v, uint64(from+i))
	}
	return v
}

// readerTest is a table's entries and hashes.
type readerTest struct {
	*testing.T
	name                   string
	ucmp                   rocksdb.Comparator
	keys, userKeys, values []string
	hashes                 hashMap
}

// newReaderTest makes n entries whose hashes begin at hash(i).
func newReaderTest(t *testing.T, n int, ucmp rocksdb.Comparator, prefix string, seqno, hash func(i int) int) *readerTest {
	x := &readerTest{T: t, name: filepath.Join(t.TempDir(), "table"), ucmp: ucmp, hashes: hashMap{}}
	for i := range n {
		x.userKeys = append(x.userKeys, prefix+numToStr(i))
		x.values = append(x.values, "value"+numToStr(i))
		x.hashes[x.userKeys[i]] = lookups(hash(i), numHashFunc)
	}
	x.updateKeys(seqno)
	return x
}

func (x *readerTest) updateKeys(seqno func(i int) int) {
	x.keys = nil
	for i, k := range x.userKeys {
		x.keys = append(x.keys, string(dbformat.AppendInternalKey(nil, []byte(k), rocksdb.SequenceNumber(seqno(i)), dbformat.TypeValue)))
	}
}

func zero(int) int       { return 0 }
func plus1000(i int) int { return i + 1000 }
func thousand(int) int   { return 1000 }
func same(i int) int     { return i }

func (x *readerTest) open() *cuckoo.CuckooTableReader {
	x.Helper()
	f, size := openFile(x, x.name)
	r, err := cuckoo.Open(&cuckoo.ReaderParams{IOptions: mmapOptions(true), UserComparator: x.ucmp, GetSliceHash: x.hashes.hash}, f, size)
	noError(x, err)
	return r
}

// get looks a key up; "" is not found.
func (x *readerTest) get(r *cuckoo.CuckooTableReader, key string) string {
	x.Helper()
	var value rocksdb.PinnableSlice
	defer value.Release()
	var gc table.GetContext
	gc.Init(&table.GetContextParams{Comparator: dbformat.NewInternalKeyComparator(x.ucmp), UserKey: dbformat.ExtractUserKey([]byte(key)),
		Value: &value, DoMerge: true})
	ro := rocksdb.DefaultReadOptions()
	noError(x, r.Get(&ro, []byte(key), &gc, nil, false))
	return string(value.Data())
}

func (x *readerTest) createFileAndCheckReader() {
	x.Helper()
	w := createFile(x, x.name)
	b := cuckoo.NewCuckooTableBuilder(&cuckoo.BuilderParams{
		MaxHashTableRatio: 0.9, MaxNumHashFunc: numHashFunc, MaxSearchDepth: 100, UserComparator: x.ucmp, CuckooBlockSize: 2,
		GetSliceHash: x.hashes.hash, ColumnFamilyName: rocksdb.DefaultColumnFamilyName,
	}, w)
	for i := range x.keys {
		noError(x, b.Add([]byte(x.keys[i]), []byte(x.values[i])))
		equal(x, "entries", b.NumEntries(), uint64(i+1))
	}
	noError(x, b.Finish())
	equal(x, "entries", b.NumEntries(), uint64(len(x.keys)))
	noError(x, w.Close(nil))
	r := x.open()
	for i, k := range x.keys {
		equal(x, "value", x.get(r, k), x.values[i])
	}
	noError(x, r.Close())
}

func (x *readerTest) iterator(r *cuckoo.CuckooTableReader) internaliter.InternalIterator {
	x.Helper()
	ro := rocksdb.DefaultReadOptions()
	it := r.NewIterator(&ro, nil, false, rocksdb.CallerUncategorized, 0, false)
	noError(x, it.Status())
	equal(x, "valid", it.Valid(), false)
	return it
}

func (x *readerTest) at(it internaliter.InternalIterator, i int) {
	x.Helper()
	noError(x, it.Status())
	equal(x, "key", string(it.Key()), x.keys[i])
	equal(x, "value", string(it.Value()), x.values[i])
}

func (x *readerTest) checkIterator() {
	x.Helper()
	r := x.open()
	it := x.iterator(r)
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		x.at(it, n)
		n++
	}
	equal(x, "entries", n, len(x.keys))
	for it.SeekToLast(); it.Valid(); it.Prev() {
		n--
		x.at(it, n)
	}
	equal(x, "entries left", n, 0)
	n = len(x.keys) / 2
	for it.Seek([]byte(x.keys[n])); it.Valid(); it.Next() {
		x.at(it, n)
		n++
	}
	equal(x, "entries", n, len(x.keys))
	noError(x, it.Close())
	it = x.iterator(r)
	it.Seek([]byte(x.keys[len(x.keys)/2]))
	equal(x, "valid", it.Valid(), true)
	x.at(it, len(x.keys)/2)
	// Backwards from each key, and from between keys.
	for i, k := range x.keys {
		it.SeekForPrev([]byte(k))
		x.at(it, i)
	}
	noError(x, it.Close())
	noError(x, r.Close())
}

func TestCuckooReaderTest_FileNotMmaped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "table")
	w := createFile(t, name)
	noError(t, w.Close(nil))
	fo := mmapFileOptions()
	fo.UseMmapReads = false
	f := openPlainFile(t, name, &fo)
	_, err := cuckoo.Open(&cuckoo.ReaderParams{IOptions: mmapOptions(false), UserComparator: util.BytewiseComparator()}, f, 0)
	if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || rocksdb.AsStatus(err).Message != "File is not mmaped" {
		t.Fatal(err)
	}
}

// whenKeyExists looks up in all kinds of tables, without and with collisions.
func whenKeyExists(t *testing.T, ucmp rocksdb.Comparator, prefix string) {
	x := newReaderTest(t, numHashFunc, ucmp, prefix, plus1000, same)
	x.createFileAndCheckReader()
	x.updateKeys(zero) // the last level
	x.createFileAndCheckReader()
	for _, k := range x.userKeys {
		x.hashes[k] = lookups(0, numHashFunc)
	}
	x.updateKeys(plus1000)
	x.createFileAndCheckReader()
	x.updateKeys(zero)
	x.createFileAndCheckReader()
}

func TestCuckooReaderTest_WhenKeyExists(t *testing.T) {
	whenKeyExists(t, util.BytewiseComparator(), "key")
}

func TestCuckooReaderTest_WhenKeyExistsWithUint64Comparator(t *testing.T) {
	whenKeyExists(t, util.Uint64Comparator(), "")
}

func checkIterator(t *testing.T, ucmp rocksdb.Comparator, prefix string) {
	const n = 2 * numHashFunc
	x := newReaderTest(t, n, ucmp, prefix, thousand, func(i int) int { return n - i - 1 })
	x.createFileAndCheckReader()
	x.checkIterator()
	x.updateKeys(zero) // the last level
	x.createFileAndCheckReader()
	x.checkIterator()
}

func TestCuckooReaderTest_CheckIterator(t *testing.T) {
	checkIterator(t, util.BytewiseComparator(), "key")
}

func TestCuckooReaderTest_CheckIteratorUint64(t *testing.T) {
	checkIterator(t, util.Uint64Comparator(), "")
}

func TestCuckooReaderTest_WhenKeyNotFound(t *testing.T) {
	x := newReaderTest(t, numHashFunc, util.BytewiseComparator(), "key", plus1000, zero)
	x.createFileAndCheckReader()
	r := x.open()
	defer r.Close()
	notFound := func(userKey string, hash int) {
		x.hashes[userKey] = lookups(hash, numHashFunc)
		equal(t, "value", x.get(r, internalKey(userKey, false, dbformat.TypeValue)), "")
	}
	notFound("key"+numToStr(numHashFunc), 0)             // colliding
	notFound("key"+numToStr(numHashFunc+1), numHashFunc) // in empty buckets
	// The key of empty buckets, there.
	unused := r.GetTableProperties().UserCollectedProperties[rocksdb.CuckooTablePropertyEmptyKey]
	notFound(string(dbformat.ExtractUserKey([]byte(unused))), numHashFunc)
	// A key of another length.
	notFound("key", 0)
}

// Keys are found again with the hashes of the factory's builders, in both kinds
// of hash tables. Upstream reads 128 million buckets for the time it takes.
func TestCuckooReaderTest_TestReadPerformance(t *testing.T) {
	for _, num := range []int{1200, 1000, 800, 700} {
		for _, module := range []bool{false, true} {
			x := &readerTest{T: t, name: filepath.Join(t.TempDir(), "table"), ucmp: util.Uint64Comparator()}
			w := createFile(t, x.name)
			b := cuckoo.NewCuckooTableBuilder(&cuckoo.BuilderParams{MaxHashTableRatio: 0.95, MaxNumHashFunc: 64, MaxSearchDepth: 1000,
				UserComparator: x.ucmp, CuckooBlockSize: 5, UseModuleHash: module, IdentityAsFirstHash: true}, w)
			for i := range num {
				k := numToStr(2 * i)
				noError(t, b.Add([]byte(internalKey(k, true, dbformat.TypeValue)), []byte(k[:4])))
			}
			noError(t, b.Finish())
			noError(t, w.Close(nil))
			f, size := openFile(t, x.name)
			r, err := cuckoo.Open(&cuckoo.ReaderParams{IOptions: mmapOptions(true), UserComparator: x.ucmp}, f, size)
			noError(t, err)
			for i := range 2 * num {
				k, want := numToStr(i), ""
				if i%2 == 0 {
					want = k[:4]
				}
				equal(t, "value", x.get(r, internalKey(k, false, dbformat.TypeValue)), want)
			}
			noError(t, r.Close())
		}
	}
}
