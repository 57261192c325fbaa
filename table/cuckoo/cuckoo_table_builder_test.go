// Port of table/cuckoo/cuckoo_table_builder_test.cc.

package cuckoo_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/cuckoo"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

const hashTableRatio = 0.9

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s is %v, not %v", what, got, want)
	}
}

// hashMap gives the hashes of keys.
type hashMap map[string][]uint64

func (m hashMap) hash(key []byte, index uint32, _ uint64) uint64 { return m[string(key)][index] }

func mmapFileOptions() rocksdb.FileOptions {
	o := rocksdb.DefaultFileOptions()
	o.UseMmapReads = true
	return o
}

func mmapOptions(allow bool) *options.ImmutableOptions {
	o := rocksdb.DefaultOptions()
	o.AllowMmapReads, o.Env = allow, env.Default()
	io := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions)
	return &io
}

func createFile(t testing.TB, name string) *file.WritableFileWriter {
	t.Helper()
	fo := mmapFileOptions()
	w, err := file.CreateWritableFileWriter(env.DefaultFileSystem(), name, &fo, nil)
	noError(t, err)
	return w
}

func openFile(t testing.TB, name string) (*file.RandomAccessFileReader, uint64) {
	t.Helper()
	fo := mmapFileOptions()
	size, err := env.DefaultFileSystem().GetFileSize(name, nil)
	noError(t, err)
	r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), name, &fo, nil)
	noError(t, err)
	return r, size
}

func internalKey(userKey string, zeroSeqno bool, kind dbformat.ValueType) string {
	seq := rocksdb.SequenceNumber(1000)
	if zeroSeqno {
		seq = 0
	}
	return string(dbformat.AppendInternalKey(nil, []byte(userKey), seq, kind))
}

// builderCase is a table to build, and what has to be in the file.
type builderCase struct {
	userKeys, values []string
	kind             dbformat.ValueType // 0 is TypeDeletion
	zeroSeqno        bool
	hashes           hashMap
	maxHashFunc      uint32
	searchDepth      uint32
	blockSize        uint32
	locations        []int // of the keys
	numHashFunc      uint32
}

func (c *builderCase) params() *cuckoo.BuilderParams {
	return &cuckoo.BuilderParams{
		MaxHashTableRatio: hashTableRatio, MaxNumHashFunc: c.maxHashFunc, MaxSearchDepth: c.searchDepth,
		UserComparator: util.BytewiseComparator(), CuckooBlockSize: c.blockSize, GetSliceHash: c.hashes.hash,
		ColumnFamilyName: rocksdb.DefaultColumnFamilyName,
	}
}

func expectedTableSize(num int) uint64 {
	n := uint64(2)
	for n <= uint64(float64(num)/hashTableRatio) {
		n *= 2
	}
	return n
}

// run builds the table and checks builder and file.
func (c *builderCase) run(t *testing.T) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "table")
	w := createFile(t, name)
	b := cuckoo.NewCuckooTableBuilder(c.params(), w)
	var keys []string
	for i, k := range c.userKeys {
		key := internalKey(k, c.zeroSeqno, c.kind)
		noError(t, b.Add([]byte(key), []byte(c.values[i])))
		equal(t, "entries", b.NumEntries(), uint64(i+1))
		noError(t, b.Status())
		if c.zeroSeqno {
			key = k
		}
		keys = append(keys, key)
	}
	size := expectedTableSize(len(keys))
	bucketSize := uint64(len(keys[0]) + len(c.values[0]))
	equal(t, "expected file size", b.FileSize(), size*bucketSize-1)
	noError(t, b.Finish())
	noError(t, w.Close(nil))
	if b.FileSize() < size*bucketSize {
		t.Fatalf("file of %d bytes", b.FileSize())
	}
	unused := "key00"
	if !c.zeroSeqno {
		unused = internalKey(unused, true, dbformat.TypeValue)
	}
	unused += strings.Repeat("a", len(c.values[0]))
	c.checkFile(t, name, keys, unused, size)
}

func readProperties(t testing.TB, name string) *rocksdb.TableProperties {
	t.Helper()
	f, size := openFile(t, name)
	defer f.Close()
	ro := rocksdb.DefaultReadOptions()
	p, err := table.ReadTableProperties(f, size, format.CuckooTableMagicNumber, mmapOptions(true), &ro, nil)
	noError(t, err)
	return p
}

func (c *builderCase) checkFile(t *testing.T, name string, keys []string, unused string, tableSize uint64) {
	t.Helper()
	p := readProperties(t, name)
	u := p.UserCollectedProperties
	fixed64 := func(name string) uint64 { return util.DecodeFixed64([]byte(u[name])) }
	fixed32 := func(name string) uint32 { return util.DecodeFixed32([]byte(u[name])) }
	equal(t, "unused key", u[rocksdb.CuckooTablePropertyEmptyKey], unused[:p.FixedKeyLen])
	valueLength, keyLength := 0, 0
	if len(c.values) > 0 {
		valueLength, keyLength = len(c.values[0]), len(keys[0])
	}
	equal(t, "value length", fixed64(rocksdb.CuckooTablePropertyValueLength), uint64(valueLength))
	equal(t, "raw value size", p.RawValueSize, uint64(len(c.values)*valueLength))
	equal(t, "table size", fixed64(rocksdb.CuckooTablePropertyHashTableSize), tableSize)
	equal(t, "hash functions", fixed32(rocksdb.CuckooTablePropertyNumHashFunc), c.numHashFunc)
	equal(t, "block size", fixed32(rocksdb.CuckooTablePropertyCuckooBlockSize), c.blockSize)
	equal(t, "last level", u[rocksdb.CuckooTablePropertyIsLastLevel] == "\x01", c.zeroSeqno && len(keys) > 0)
	deletions := 0
	if c.kind == dbformat.TypeDeletion {
		deletions = len(keys)
	}
	equal(t, "entries", p.NumEntries, uint64(len(keys)))
	equal(t, "deletions", p.NumDeletions, uint64(deletions))
	equal(t, "key length", p.FixedKeyLen, uint64(keyLength))
	buckets := tableSize + uint64(c.blockSize) - 1
	equal(t, "data size", p.DataSize, uint64(len(unused))*buckets)
	equal(t, "raw key size", p.RawKeySize, uint64(len(keys)*keyLength))
	equal(t, "family id", p.ColumnFamilyID, 0)
	equal(t, "family name", p.ColumnFamilyName, rocksdb.DefaultColumnFamilyName)

	f, size := openFile(t, name)
	defer f.Close()
	data, err := f.Read(nil, 0, int(size), nil, nil)
	noError(t, err)
	found := 0
	for i := range int(buckets) {
		bucket := string(data[i*len(unused) : (i+1)*len(unused)])
		want := unused
		if k := slices.Index(c.locations, i); k >= 0 {
			want = keys[k] + c.values[k]
			found++
		}
		equal(t, "bucket", bucket, want)
	}
	equal(t, "found", found, len(keys))
}

func TestCuckooBuilderTest_SuccessWithEmptyFile(t *testing.T) {
	c := builderCase{kind: dbformat.TypeValue, maxHashFunc: 4, searchDepth: 100, blockSize: 1, numHashFunc: 2}
	name := filepath.Join(t.TempDir(), "table")
	w := createFile(t, name)
	b := cuckoo.NewCuckooTableBuilder(c.params(), w)
	noError(t, b.Status())
	equal(t, "file size", b.FileSize(), 0)
	noError(t, b.Finish())
	noError(t, w.Close(nil))
	c.checkFile(t, name, nil, "", 2)
}

var (
	fourKeys   = []string{"key01", "key02", "key03", "key04"}
	fourValues = []string{"v01", "v02", "v03", "v04"}
	fiveKeys   = append(slices.Clone(fourKeys), "key05")
	fiveValues = append(slices.Clone(fourValues), "v05")
	ascending  = hashMap{"key01": {0, 1, 2, 3}, "key02": {1, 2, 3, 4}, "key03": {2, 3, 4, 5}, "key04": {3, 4, 5, 6}}
	colliding  = hashMap{"key01": {0, 1, 2, 3}, "key02": {0, 1, 2, 3}, "key03": {0, 1, 2, 3}, "key04": {0, 1, 2, 3}}
	path       = hashMap{"key01": {0, 1}, "key02": {1, 2}, "key03": {2, 3}, "key04": {3, 4}, "key05": {0, 2}}
)

func TestCuckooBuilderTest_WriteSuccessNoCollisionFullKey(t *testing.T) {
	for _, kind := range []dbformat.ValueType{dbformat.TypeValue, dbformat.TypeDeletion} {
		c := builderCase{userKeys: fourKeys, values: fourValues, kind: kind, hashes: ascending, maxHashFunc: 4, searchDepth: 100,
			blockSize: 1, locations: []int{0, 1, 2, 3}, numHashFunc: 2}
		if kind == dbformat.TypeDeletion {
			c.values = []string{"", "", "", ""}
		}
		c.run(t)
	}
}

func TestCuckooBuilderTest_WriteSuccessWithCollisionFullKey(t *testing.T) {
	c := builderCase{userKeys: fourKeys, values: fourValues, kind: dbformat.TypeValue, hashes: colliding, maxHashFunc: 4, searchDepth: 100,
		blockSize: 1, locations: []int{0, 1, 2, 3}, numHashFunc: 4}
	c.run(t)
}

func TestCuckooBuilderTest_WriteSuccessWithCollisionAndCuckooBlock(t *testing.T) {
	c := builderCase{userKeys: fourKeys, values: fourValues, kind: dbformat.TypeValue, hashes: colliding, maxHashFunc: 4, searchDepth: 100,
		blockSize: 2, locations: []int{0, 1, 2, 3}, numHashFunc: 3}
	c.run(t)
}

// Two hash functions whose values overlap; the last key displaces all those after
// its place.
func TestCuckooBuilderTest_WithCollisionPathFullKey(t *testing.T) {
	c := builderCase{userKeys: fiveKeys, values: fiveValues, kind: dbformat.TypeValue, hashes: path, maxHashFunc: 2, searchDepth: 100,
		blockSize: 1, locations: []int{0, 1, 3, 4, 2}, numHashFunc: 2}
	c.run(t)
}

func TestCuckooBuilderTest_WithCollisionPathFullKeyAndCuckooBlock(t *testing.T) {
	c := builderCase{userKeys: fiveKeys, values: fiveValues, kind: dbformat.TypeValue,
		hashes:      hashMap{"key01": {0, 1}, "key02": {1, 2}, "key03": {3, 4}, "key04": {4, 5}, "key05": {0, 3}},
		maxHashFunc: 2, searchDepth: 100, blockSize: 2, locations: []int{2, 1, 3, 4, 0}, numHashFunc: 2}
	c.run(t)
}

func TestCuckooBuilderTest_WriteSuccessNoCollisionUserKey(t *testing.T) {
	c := builderCase{userKeys: fourKeys, values: fourValues, kind: dbformat.TypeValue, zeroSeqno: true, hashes: ascending, maxHashFunc: 4,
		searchDepth: 100, blockSize: 1, locations: []int{0, 1, 2, 3}, numHashFunc: 2}
	c.run(t)
}

func TestCuckooBuilderTest_WriteSuccessWithCollisionUserKey(t *testing.T) {
	c := builderCase{userKeys: fourKeys, values: fourValues, kind: dbformat.TypeValue, zeroSeqno: true, hashes: colliding, maxHashFunc: 4,
		searchDepth: 100, blockSize: 1, locations: []int{0, 1, 2, 3}, numHashFunc: 4}
	c.run(t)
}

func TestCuckooBuilderTest_WithCollisionPathUserKey(t *testing.T) {
	c := builderCase{userKeys: fiveKeys, values: fiveValues, kind: dbformat.TypeValue, zeroSeqno: true, hashes: path, maxHashFunc: 2,
		searchDepth: 2, blockSize: 1, locations: []int{0, 1, 3, 4, 2}, numHashFunc: 2}
	c.run(t)
}

// fails builds a table that cannot be finished.
func (c *builderCase) fails(t *testing.T, keys []string, values []string) {
	t.Helper()
	w := createFile(t, filepath.Join(t.TempDir(), "table"))
	b := cuckoo.NewCuckooTableBuilder(c.params(), w)
	for i, k := range keys {
		noError(t, b.Add([]byte(k), []byte(values[i])))
		equal(t, "entries", b.NumEntries(), uint64(i+1))
		noError(t, b.Status())
	}
	if err := b.Finish(); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
	noError(t, w.Close(nil))
}

// The path to an empty bucket is longer than is searched.
func TestCuckooBuilderTest_FailWhenCollisionPathTooLong(t *testing.T) {
	c := builderCase{hashes: hashMap{"key01": {0, 1}, "key02": {1, 2}, "key03": {2, 3}, "key04": {3, 4}, "key05": {0, 1}},
		maxHashFunc: 2, searchDepth: 2, blockSize: 1}
	var keys, values []string
	for _, k := range fiveKeys {
		keys, values = append(keys, internalKey(k, false, dbformat.TypeValue)), append(values, "value")
	}
	c.fails(t, keys, values)
}

func TestCuckooBuilderTest_FailWhenSameKeyInserted(t *testing.T) {
	c := builderCase{hashes: hashMap{"repeatedkey": {0, 1, 2, 3}}, maxHashFunc: 4, searchDepth: 100, blockSize: 1}
	c.fails(t, []string{internalKey("repeatedkey", false, dbformat.TypeValue), internalKey("repeatedkey", true, dbformat.TypeValue)},
		[]string{"value1", "value2"})
}

// Deletions get values of the table's length, also where an earlier table of the
// process had another one.
func TestDeletionsAreFilled(t *testing.T) {
	for _, n := range []int{3, 7} {
		name := filepath.Join(t.TempDir(), "table")
		w := createFile(t, name)
		c := builderCase{maxHashFunc: 4, searchDepth: 100, blockSize: 1}
		p := c.params()
		p.GetSliceHash = nil
		b := cuckoo.NewCuckooTableBuilder(p, w)
		noError(t, b.Add([]byte(internalKey("key1", false, dbformat.TypeValue)), bytes.Repeat([]byte("v"), n)))
		noError(t, b.Add([]byte(internalKey("key2", false, dbformat.TypeDeletion)), nil))
		noError(t, b.Finish())
		noError(t, w.Close(nil))
		f, size := openFile(t, name)
		data, err := f.Read(nil, 0, int(size), nil, nil)
		noError(t, err)
		want := internalKey("key2", false, dbformat.TypeDeletion) + strings.Repeat("a", n)
		if at := bytes.Index(data, []byte(want)); at < 0 || at%len(want) != 0 {
			t.Errorf("%d bytes: %q is not in %q", n, want, data)
		}
		noError(t, f.Close())
	}
}

func openPlainFile(t testing.TB, name string, fo *rocksdb.FileOptions) *file.RandomAccessFileReader {
	t.Helper()
	r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), name, fo, nil)
	noError(t, err)
	return r
}
