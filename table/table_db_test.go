// Port of table/table_test.cc: the cases with a database. Differs: fewer entries
// in RandomizedLongDB.

package table_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// dbIterator shows a database's iterator as one over internal keys.
type dbIterator struct {
	internaliter.Base
	it *rocksdb.Iterator
}

func (d *dbIterator) Valid() bool               { return d.it.Valid() }
func (d *dbIterator) SeekToFirst()              { d.it.SeekToFirst() }
func (d *dbIterator) SeekToLast()               { d.it.SeekToLast() }
func (d *dbIterator) Seek(target []byte)        { d.it.Seek(dbformat.ExtractUserKey(target)) }
func (d *dbIterator) SeekForPrev(target []byte) { d.it.SeekForPrev(dbformat.ExtractUserKey(target)) }
func (d *dbIterator) Next()                     { d.it.Next() }
func (d *dbIterator) Prev()                     { d.it.Prev() }
func (d *dbIterator) Key() []byte {
	return dbformat.AppendInternalKey(nil, d.it.Key(), 0, dbformat.TypeValue)
}
func (d *dbIterator) UserKey() []byte { return d.it.Key() }
func (d *dbIterator) Value() []byte   { return d.it.Value() }
func (d *dbIterator) Status() error   { return d.it.Status() }
func (d *dbIterator) Close() error    { return d.it.Close() }
func (d *dbIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(d, res)
}

func openDB(t *testing.T, o rocksdb.Options) *rocksdb.DB {
	t.Helper()
	db, err := rocksdb.Open(t.TempDir(), o)
	fatalIf(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestDBHarnessTest_RandomizedLongDB(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.ErrorIfExists, o.WriteBufferSize = true, true, 10000
	db := openDB(t, o)
	rnd := util.NewRandom(uint32(rand.Int31()))
	h := &harness{t: t, cmp: util.BytewiseComparator(), data: util.NewKVMap(util.BytewiseComparator())}
	for range 20000 {
		h.data.Set(randomKey(rnd, int(rnd.Skewed(4))), rnd.RandomString(int(rnd.Skewed(5))))
	}
	h.build = func() func() internaliter.InternalIterator {
		for i := range h.data.Len() {
			k, v := h.data.At(i)
			fatalIf(t, db.Put(nil, []byte(k), []byte(v)))
		}
		return func() internaliter.InternalIterator { return &dbIterator{it: db.NewIterator(nil)} }
	}
	h.test(rnd)
	files := 0
	for level := range o.NumLevels {
		text, ok := db.GetProperty(fmt.Sprint("rocksdb.num-files-at-level", level))
		var n int
		if _, err := fmt.Sscan(text, &n); err != nil || !ok {
			t.Fatal(text, ok, err)
		}
		files += n
	}
	if files == 0 {
		t.Error("no tables")
	}
}

// bracketPrefix has keys of the form [d]d in its domain; their first three bytes
// are the prefix.
type bracketPrefix struct{}

func (bracketPrefix) Name() string              { return "TestPrefixExtractor" }
func (p bracketPrefix) AsString() string        { return p.Name() }
func (bracketPrefix) Transform(k []byte) []byte { return k[:3] }
func (bracketPrefix) InDomain(k []byte) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return len(k) == 4 && k[0] == '[' && digit(k[1]) && k[2] == ']' && digit(k[3])
}
func (bracketPrefix) FullLengthEnabled() (int, bool)     { return 0, false }
func (bracketPrefix) SameResultWhenAppended([]byte) bool { return false }

func TestPrefixTest_PrefixAndWholeKeyTest(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 20
	o.CreateIfMissing, o.TargetFileSizeBase, o.PrefixExtractor = true, 268435456, bracketPrefix{}
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FilterPolicy, b.BlockSize, b.WholeKeyFiltering = rocksdb.NewBloomFilterPolicy(10), 262144, true
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	db := openDB(t, o)
	for i := range 10 {
		for j := range 10 {
			fatalIf(t, db.Put(nil, fmt.Appendf(nil, "[%d]%d", i, j), []byte("1")))
		}
	}
	fatalIf(t, db.CompactRange(nil, nil, nil))
	for i := range 10 {
		for j := range 10 {
			v, err := db.Get(nil, fmt.Appendf(nil, "[%d]%d", i, j))
			fatalIf(t, err)
			checkEq(t, "value", string(v.Data()), "1")
			v.Release()
		}
	}
}

// alignedChecksums writes a table of aligned blocks, whose padding has to be in
// the file's checksum.
func alignedChecksums(t *testing.T, o rocksdb.Options, blockSize uint64) {
	o.CreateIfMissing, o.Compression, o.FileChecksumGenFactory = true, rocksdb.NoCompression, util.GetFileChecksumGenCrc32cFactory()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockAlign = true
	if blockSize != 0 {
		b.BlockSize = blockSize
	}
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	db := openDB(t, o)
	fatalIf(t, db.Put(nil, []byte("k1"), []byte("v1")))
	fatalIf(t, db.Flush(nil))
	fatalIf(t, db.VerifyFileChecksums(nil))
	files := db.GetLiveFilesMetaData()
	if len(files) != 1 || files[0].FileChecksumFuncName != "FileChecksumCrc32c" || strings.Trim(files[0].FileChecksum, "\x00") == "" {
		t.Errorf("live files are %+v", files)
	}
}

func TestBlockBasedTableTest_FixBlockAlignMismatchedFileChecksums(t *testing.T) {
	alignedChecksums(t, rocksdb.DefaultOptions(), 1024)
}

// unalignedFS makes files that want no alignment of their buffers, so that the
// smallest buffer is one byte.
type unalignedFS struct{ rocksdb.FileSystemWrapper }

type unalignedFile struct{ rocksdb.FSWritableFile }

func (unalignedFile) GetRequiredBufferAlignment() int { return 1 }

func (fs *unalignedFS) NewWritableFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	f, err := fs.FileSystemWrapper.NewWritableFile(name, opts)
	if err != nil {
		return nil, err
	}
	return unalignedFile{f}, nil
}

func TestBlockBasedTableTest_FixBlockAlignFlushDuringPadMismatchedFileChecksums(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.WritableFileMaxBufferSize = 1
	o.Env = env.NewCompositeEnvWrapper(env.Default(), &unalignedFS{rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}, nil)
	alignedChecksums(t, o, 0)
}
