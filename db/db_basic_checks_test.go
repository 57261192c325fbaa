// Port of db/db_basic_test.cc (checksums, all versions of keys, families
// without memtable). Differs: a file of its own.

package db_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities"
)

// keyVersions lists the types of a family's entries.
func (x *dbTest) keyVersions(cf int, begin, end []byte) (types []string) {
	x.Helper()
	x.must(utilities.GetAllKeyVersions(x.cf(cf).Impl().CFD(), begin, end, func(v *utilities.KeyVersion) bool {
		types = append(types, v.GetTypeName())
		return true
	}))
	return types
}

func TestDBBasicTest_GetAllKeyVersions(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	write := func(cf, n int) {
		t.Helper()
		for i := range n {
			x.mustPut(cf, fmt.Sprint(i), "value")
		}
		for i := range n {
			x.mustPut(cf, fmt.Sprint(i), "value1")
		}
		for i := range n {
			x.mustDelete(cf, fmt.Sprint(i))
		}
	}
	write(0, 4)
	types := x.keyVersions(0, nil, nil)
	if len(types) != 12 {
		t.Fatal(types)
	}
	for i, name := range types {
		want := "TypeValue"
		if i%3 == 0 { // the newest one
			want = "TypeDeletion"
		}
		if name != want {
			t.Fatal(i, name)
		}
	}
	write(1, 3)
	if types := x.keyVersions(1, nil, nil); len(types) != 9 {
		t.Fatal(types)
	}
	// The empty key is a key like others, not the absence of one.
	if types := x.keyVersions(1, []byte{}, []byte{}); len(types) != 0 {
		t.Fatal(types)
	}
}

func TestDBBasicTest_ValueTypeString(t *testing.T) {
	for i := dbformat.TypeDeletion; i < dbformat.TypeMaxValid; i++ {
		v := utilities.KeyVersion{Type: i}
		if name := v.GetTypeName(); name == "Invalid" {
			t.Fatal(i)
		}
	}
}

// misnamedFactory makes CRC-32C checksums under another name.
type misnamedFactory struct{ rocksdb.FileChecksumGenFactory }

type misnamedGenerator struct{ rocksdb.FileChecksumGenerator }

func (misnamedGenerator) Name() string { return "sha1" }

func (f misnamedFactory) CreateFileChecksumGenerator(ctx rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	return misnamedGenerator{f.FileChecksumGenFactory.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: ctx.FileName})}
}

func TestDBBasicTest_VerifyFileChecksums(t *testing.T) {
	x := newDBTest(t)
	o := x.defaultOptions()
	x.destroyAndReopen(o)
	x.putFlush("a", "value")
	x.wantIs(x.db.VerifyFileChecksums(nil), rocksdb.ErrInvalidArgument)

	o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
	x.reopen(o)
	x.must(x.db.VerifyFileChecksums(nil))
	x.putFlush("b", "value")
	x.must(x.db.VerifyFileChecksums(nil))
	x.must(x.db.VerifyChecksum(nil))

	// What is computed rightly under the wrong name is not what is asked for.
	o.FileChecksumGenFactory = misnamedFactory{o.FileChecksumGenFactory}
	x.reopen(o)
	x.wantIs(x.db.VerifyFileChecksums(nil), rocksdb.ErrInvalidArgument)
}

// capturingFS keeps the checksum that tables are opened with.
type capturingFS struct {
	rocksdb.FileSystemWrapper
	mu                 sync.Mutex
	checksum, funcName string
	opens              int
}

func (f *capturingFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	if strings.HasSuffix(name, ".sst") {
		f.mu.Lock()
		f.checksum, f.funcName = opts.FileChecksum, opts.FileChecksumFuncName
		f.opens++
		f.mu.Unlock()
	}
	return f.Target().NewRandomAccessFile(name, opts)
}

func TestDBBasicTest_FileChecksumInFileOptions(t *testing.T) {
	x := newDBTest(t)
	fs := &capturingFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	o := x.onFS(x.defaultOptions(), fs)
	o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
	x.destroyAndReopen(o)
	x.putFlush("key1", "value1")
	fs.checksum, fs.funcName, fs.opens = "", "", 0
	x.reopen(o)
	x.wantGet(0, "key1", "value1")
	if fs.opens == 0 || fs.checksum == "" || fs.funcName != "FileChecksumCrc32c" {
		t.Fatalf("%d opens, last with checksum %q of %q", fs.opens, fs.checksum, fs.funcName)
	}
}

func TestDBBasicTest_DisallowMemtableWrite(t *testing.T) {
	x := newDBTest(t)
	allow := x.defaultOptions()
	disallow := allow
	disallow.DisallowMemtableWrites = true
	disallow.ParanoidMemoryChecks, disallow.MemtableVerifyPerKeyChecksumOnSeek = true, true
	x.destroyAndReopen(allow)
	x.createColumnFamilies([]string{"cf1", "cf2"}, allow)
	x.createColumnFamilies([]string{"cf3"}, disallow)
	names := []string{"default", "cf1", "cf2", "cf3"}
	x.reopenWithColumnFamilies(names, allow, allow, allow, disallow)

	// refused checks the outcome of a write to each family; no is the one that
	// takes none.
	refused := func(no int, write func(cf int) error) {
		t.Helper()
		for cf := range names {
			if err := write(cf); cf == no {
				x.wantIs(err, rocksdb.ErrInvalidArgument)
			} else {
				x.must(err)
			}
		}
	}
	read := func(prefix, value string, no int) {
		t.Helper()
		for cf := range names {
			want := value
			if cf == no {
				want = "NOT_FOUND"
			}
			x.wantGet(cf, fmt.Sprint(prefix, cf), want)
		}
	}
	refused(3, func(cf int) error { return x.put(cf, fmt.Sprint("a", cf), "1") })
	read("a", "1", 3)
	refused(3, func(cf int) error { return x.cf(cf).Delete(nil, []byte(fmt.Sprint("z", cf))) })
	b := rocksdb.NewWriteBatch()
	refused(3, func(cf int) error { return b.PutCF(x.cf(cf), []byte(fmt.Sprint("b", cf)), []byte("2")) })
	x.must(x.db.Write(nil, b))
	read("b", "2", 3)

	it := x.cf(3).NewIterator(nil)
	it.Seek([]byte("a3"))
	x.must(it.Err())
	x.must(it.Close())

	// The logs have entries of a family that may have none any more.
	x.wantIs(x.tryReopenWithColumnFamilies(names, allow, allow, disallow, allow), rocksdb.ErrInvalidArgument)
	// Recovery without the option makes tables of them; then it can be set.
	x.reopenWithColumnFamilies(names, allow)
	read("a", "1", 3)
	x.reopenWithColumnFamilies(names, allow, allow, disallow, allow)
	read("a", "1", 3)
	refused(2, func(cf int) error { return x.put(cf, fmt.Sprint("c", cf), "3") })
	read("c", "3", 2)

	x.destroy(allow)
	x.wantIs(x.tryReopen(disallow), rocksdb.ErrInvalidArgument)
}
