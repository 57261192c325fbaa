// Port of table/block_fetcher_test.cc. Differs: counts allocations of blocks'
// memory, not copies.

package table_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// readModes are reading into a buffer, mapping, and direct reading.
var readModes = []struct {
	name         string
	mmap, direct bool
}{{"buffered", false, false}, {"mmap", true, false}, {"direct", false, true}}

// fetchModes writes a table of one block and fetches a block of it in each mode:
// that named, or the data block. allocations are those wanted in the modes.
func fetchModes(t *testing.T, ct rocksdb.CompressionType, name string, uncompress bool, wantType rocksdb.CompressionType, allocations [3]int64) {
	t.Helper()
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	o := optionsFor(&bbto)
	o.Compression = ct
	c := newTableConstructor(t, util.BytewiseComparator(), false)
	for i := range 9 {
		c.Add(string(ikeyOf(fmt.Sprint(i), 0)), fmt.Sprintf("00000000%d", i))
	}
	c.Finish(&o, icmp)
	defer c.Close()
	h, bt := format.BlockHandle{Size: c.props().DataSize - format.BlockTrailerSize}, block.TypeData
	_, footer, err := newMetaReader(t, c, &o).ReadMetaIndexBlock(format.BlockBasedTableMagicNumber)
	fatalIf(t, err)
	if name != "" {
		bt = block.TypeIndex
		h, footer, err = newMetaReader(t, c, &o).FindMetaBlockInFile(format.BlockBasedTableMagicNumber, name)
		fatalIf(t, err)
	}
	first := ""
	for i, mode := range readModes {
		o.AllowMmapReads, o.UseDirectReads = mode.mmap, mode.direct
		fo := rocksdb.NewFileOptions(&o.DBOptions)
		fo.UseMmapReads, fo.UseDirectReads = mode.mmap, mode.direct
		r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), c.name, fo, nil)
		if err != nil && mode.direct {
			continue // not all file systems can
		}
		fatalIf(t, err)
		io, ro := options.NewImmutableOptions(&o.DBOptions, &o.ColumnFamilyOptions), rocksdb.DefaultReadOptions()
		a := new(countedAllocator)
		f := &table.BlockFetcher{File: r, Footer: &footer, ReadOptions: &ro, IOptions: &io, FileSize: c.size, Handle: h, BlockType: bt,
			DoUncompress: uncompress, MaybeCompressed: ct != rocksdb.NoCompression, Memory: format.BlockMemory{Allocator: a}}
		if uncompress {
			f.Decompressor = compression.GetBuiltinV2CompressionManager().GetDecompressor()
		}
		contents, err := f.ReadBlockContents()
		fatalIf(t, err)
		if i == 0 {
			first = string(contents.Data)
		}
		checkEq(t, mode.name, string(contents.Data), first)
		checkEq(t, mode.name+": type", f.CompressionType, wantType)
		checkEq(t, mode.name+": allocations", a.got.Load(), allocations[i])
		contents.Free()
		checkEq(t, mode.name+": freed", a.freed.Load(), a.got.Load())
		fatalIf(t, r.Close())
	}
	if uncompress || ct == rocksdb.NoCompression {
		b := block.NewBlock(format.BorrowBlock([]byte(first)), 0, nil)
		fatalIf(t, b.Err())
	}
}

func TestBlockFetcherTest_FetchIndexBlock(t *testing.T) {
	for _, ct := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.ZSTD} {
		// So short an index stays as it is.
		fetchModes(t, ct, "rocksdb.index", false, rocksdb.NoCompression, [3]int64{1, 0, 1})
	}
}

func TestBlockFetcherTest_FetchUncompressedDataBlock(t *testing.T) {
	fetchModes(t, rocksdb.NoCompression, "", false, rocksdb.NoCompression, [3]int64{1, 0, 1})
}

func TestBlockFetcherTest_FetchCompressedDataBlock(t *testing.T) {
	for _, ct := range []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZSTD} {
		fetchModes(t, ct, "", false, ct, [3]int64{1, 0, 1})
	}
}

func TestBlockFetcherTest_FetchAndUncompressCompressedDataBlock(t *testing.T) {
	for _, ct := range []rocksdb.CompressionType{rocksdb.SnappyCompression, rocksdb.ZlibCompression, rocksdb.LZ4Compression, rocksdb.ZSTD} {
		fetchModes(t, ct, "", true, ct, [3]int64{1, 1, 1})
	}
}
