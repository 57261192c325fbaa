// Port of table/table_test.cc: PlainTableTest.

package table_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
)

func plainFactory(userKeyLen uint32) rocksdb.TableFactory {
	p := rocksdb.DefaultPlainTableOptions()
	p.UserKeyLen, p.BloomBitsPerKey, p.HashTableRatio = userKeyLen, 8, 0
	return plain.NewPlainTableFactory(&p)
}

func TestPlainTableTest_BasicPlainTableProperties(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.TableFactory = plainFactory(8)
	name := filepath.Join(t.TempDir(), "test")
	b, w := newBuilder(t, &o, icmp, name, -1, nil, nil)
	for c := byte('a'); c <= 'z'; c++ {
		key := append(bytes.Repeat([]byte{c}, 8), "\x01       "...)
		fatalIf(t, b.Add(key, bytes.Repeat([]byte{c + 42}, 28)))
	}
	finishTable(t, b, w)
	r, err := openReader(name, &o)
	fatalIf(t, err)
	defer r.Close()
	io, ro := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), rocksdb.DefaultReadOptions()
	p, err := table.ReadTableProperties(r, b.FileSize(), format.PlainTableMagicNumber, &io, &ro, nil)
	fatalIf(t, err)
	checkEq(t, "index size", p.IndexSize, 0)
	checkEq(t, "filter size", p.FilterSize, 0)
	checkEq(t, "raw key size", p.RawKeySize, 16*26)
	checkEq(t, "raw value size", p.RawValueSize, 28*26)
	checkEq(t, "entries", p.NumEntries, 26)
	checkEq(t, "data blocks", p.NumDataBlocks, 1)
}

func TestPlainTableTest_NoFileChecksum(t *testing.T) {
	_, function, checksum := writeChecksummed(t, plainFactory(20), nil)
	checkEq(t, "function", function, rocksdb.UnknownFileChecksumFuncName)
	checkEq(t, "checksum", checksum, rocksdb.UnknownFileChecksum)
}

func TestPlainTableTest_Crc32cFileChecksum(t *testing.T) {
	f := util.GetFileChecksumGenCrc32cFactory()
	name, function, checksum := writeChecksummed(t, plainFactory(20), f)
	checkEq(t, "function", function, "FileChecksumCrc32c")
	data, err := os.ReadFile(name)
	fatalIf(t, err)
	g := f.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: "db/tmp"})
	g.Update(data)
	g.Finalize()
	checkEq(t, "checksum", checksum, g.GetChecksum())
}
