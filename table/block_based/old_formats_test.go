// No upstream twin: tables of format versions 0 and 1, which are read for
// importing only.

package blockbased_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	leveltable "github.com/syndtr/goleveldb/leveldb/table"
	levelutil "github.com/syndtr/goleveldb/leveldb/util"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

func oldKey(i int) []byte {
	return dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "key%05d", i), uint64(i+1), dbformat.TypeValue)
}

func oldValue(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "value%d", i), 5) }

// writeOld writes a table as goleveldb does.
func writeOld(t *testing.T, n int, compression opt.Compression) []byte {
	t.Helper()
	return writeOldWithFilter(t, n, compression, nil)
}

func writeOldWithFilter(t *testing.T, n int, compression opt.Compression, f filter.Filter) []byte {
	t.Helper()
	var b bytes.Buffer
	w := leveltable.NewWriter(&b, &opt.Options{Compression: compression, BlockSize: 500, Filter: f, Comparer: internalOrder{}}, levelutil.NewBufferPool(1<<10), 1<<10)
	for i := range n {
		if err := w.Append(oldKey(i), oldValue(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type internalOrder struct{}

var oldComparator = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

func (internalOrder) Compare(a, b []byte) int         { return oldComparator.Compare(a, b) }
func (internalOrder) Name() string                    { return "leveldb.InternalKeyComparator" }
func (internalOrder) Separator(_, _, _ []byte) []byte { return nil }
func (internalOrder) Successor(_, _ []byte) []byte    { return nil }

// openOld opens a table's bytes.
func openOld(t *testing.T, data []byte, old bool) (table.TableReader, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "000001.ldb")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	all := rocksdb.DefaultOptions()
	ioptions := options.NewImmutableOptions(&all.DBOptions, &all.ColumnFamilyOptions)
	fo := rocksdb.DefaultFileOptions()
	r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), path, &fo, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := table.DefaultTableReaderOptions(&ioptions, oldComparator)
	o.FileOptions, o.OldFormats = fo, old
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	ro := rocksdb.DefaultReadOptions()
	return blockbased.NewBlockBasedTableFactory(&bbto).NewTableReader(&ro, &o, r, uint64(len(data)), false)
}

// checkOld reads n entries forwards, backwards and by seeks.
func checkOld(t *testing.T, data []byte, n int) {
	t.Helper()
	r, err := openOld(t, data, true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	ro := rocksdb.DefaultReadOptions()
	if err := r.VerifyChecksum(&ro, rocksdb.CallerUserVerifyChecksum, false); err != nil {
		t.Error(err)
	}
	it := r.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
	defer func() { _ = it.Close() }()
	same := func(i int) {
		t.Helper()
		if !it.Valid() || !bytes.Equal(it.Key(), oldKey(i)) || !bytes.Equal(it.Value(), oldValue(i)) {
			t.Fatalf("entry %d: valid %v, %v", i, it.Valid(), it.Status())
		}
	}
	i := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		same(i)
		i++
	}
	if i != n || it.Status() != nil {
		t.Errorf("%d entries, %v", i, it.Status())
	}
	for it.SeekToLast(); it.Valid(); it.Prev() {
		i--
		same(i)
	}
	if i != 0 {
		t.Errorf("%d entries not met backwards", i)
	}
	for i := 0; i < n; i += 7 {
		it.Seek(dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "key%05d", i), dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
		same(i)
	}
	if p := r.GetTableProperties(); p.DataSize == 0 {
		t.Error("no data size")
	}
	if at := r.ApproximateOffsetOf(&ro, oldKey(n), rocksdb.CallerUncategorized); at == 0 || at > uint64(len(data)) {
		t.Errorf("approximate offset of the end is %d of %d", at, len(data))
	}
}

func TestOldFormatLevelDB(t *testing.T) {
	for name, c := range map[string]opt.Compression{"none": opt.NoCompression, "snappy": opt.SnappyCompression} {
		t.Run(name, func(t *testing.T) {
			data := writeOld(t, 300, c)
			checkOld(t, data, 300)
			if _, err := openOld(t, data, false); !rocksdb.IsNotSupported(err) {
				t.Errorf("without OldFormats: %v", err)
			}
		})
	}
}

// TestOldFormatFilter: a filter of LevelDB's is passed over.
func TestOldFormatFilter(t *testing.T) {
	checkOld(t, writeOldWithFilter(t, 300, opt.SnappyCompression, filter.NewBloomFilter(10)), 300)
}

// rewriteBlocks makes a table of another's uncompressed blocks, each passed
// through change, with a new footer.
func rewriteBlocks(t *testing.T, data []byte, change func(block []byte) (stored []byte, compression byte), footer func(meta, index format.BlockHandle) []byte) []byte {
	t.Helper()
	var f format.Footer
	if err := f.DecodeForImport(data[len(data)-48:], uint64(len(data)-48), 0); err != nil {
		t.Fatal(err)
	}
	var out []byte
	add := func(block []byte) format.BlockHandle {
		stored, kind := change(block)
		h := format.BlockHandle{Offset: uint64(len(out)), Size: uint64(len(stored))}
		out = append(append(out, stored...), kind)
		return appendChecksum(&out, h)
	}
	block := func(h format.BlockHandle) []byte { return data[h.Offset : h.Offset+h.Size] }
	// The index has one entry a block, each a restart point: shared 0.
	var index []byte
	var restarts []uint32
	old := block(f.IndexHandle)
	n := binary.LittleEndian.Uint32(old[len(old)-4:])
	for i := range n {
		at := binary.LittleEndian.Uint32(old[uint32(len(old))-4*(n+1)+4*i:])
		_, rest, _ := util.GetVarint32(old[at:])
		keyLen, rest, _ := util.GetVarint32(rest)
		valueLen, rest, _ := util.GetVarint32(rest)
		var h format.BlockHandle
		if _, err := h.DecodeFrom(rest[keyLen : keyLen+valueLen]); err != nil {
			t.Fatal(err)
		}
		value := add(block(h)).AppendTo(nil)
		restarts = append(restarts, uint32(len(index)))
		index = append(index, 0, byte(keyLen), byte(len(value)))
		index = append(append(index, rest[:keyLen]...), value...)
	}
	for _, r := range append(restarts, uint32(len(restarts))) {
		index = binary.LittleEndian.AppendUint32(index, r)
	}
	meta := add(block(f.MetaindexHandle))
	return append(out, footer(meta, add(index))...)
}

func appendChecksum(out *[]byte, h format.BlockHandle) format.BlockHandle {
	sum := format.ComputeBuiltinChecksum(rocksdb.CRC32c, (*out)[h.Offset:])
	*out = binary.LittleEndian.AppendUint32(*out, sum)
	return h
}

func legacyFooter(meta, index format.BlockHandle) []byte {
	b := index.AppendTo(meta.AppendTo(nil))
	b = append(b, make([]byte, 40-len(b))...)
	return binary.LittleEndian.AppendUint64(b, format.LegacyBlockBasedTableMagicNumber)
}

func footerOfVersion1(meta, index format.BlockHandle) []byte {
	b := index.AppendTo(meta.AppendTo([]byte{byte(rocksdb.CRC32c)}))
	b = append(b, make([]byte, 41-len(b))...)
	b = binary.LittleEndian.AppendUint32(b, 1)
	return binary.LittleEndian.AppendUint64(b, format.BlockBasedTableMagicNumber)
}

// TestOldFormatZstd: LevelDB's number for zstd is RocksDB's for zlib.
func TestOldFormatZstd(t *testing.T) {
	enc, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	if err != nil {
		t.Fatal(err)
	}
	compress := func(b []byte) ([]byte, byte) { return enc.EncodeAll(b, nil), 2 }
	checkOld(t, rewriteBlocks(t, writeOld(t, 300, opt.NoCompression), compress, legacyFooter), 300)

	lz4 := func(b []byte) ([]byte, byte) { return b, byte(rocksdb.LZ4Compression) }
	if _, err := openOld(t, rewriteBlocks(t, writeOld(t, 300, opt.NoCompression), lz4, legacyFooter), true); !rocksdb.IsNotSupported(err) {
		t.Errorf("lz4: %v", err)
	}
}

func TestOldFormatVersion1(t *testing.T) {
	plain := func(b []byte) ([]byte, byte) { return b, 0 }
	data := rewriteBlocks(t, writeOld(t, 300, opt.NoCompression), plain, footerOfVersion1)
	checkOld(t, data, 300)
	if _, err := openOld(t, data, false); !rocksdb.IsCorruption(err) {
		t.Errorf("without OldFormats: %v", err)
	}
}

// TestOldFormatDamaged: any flipped bit of a block is found, with its place.
func TestOldFormatDamaged(t *testing.T) {
	good := writeOld(t, 100, opt.SnappyCompression)
	ro := rocksdb.DefaultReadOptions()
	for at := 0; at < len(good); at += 3 {
		data := bytes.Clone(good)
		data[at] ^= 0x10
		r, err := openOld(t, data, true)
		if err == nil {
			it := r.NewIterator(&ro, nil, false, rocksdb.CallerUserIterator, 0, false)
			i := 0
			for it.SeekToFirst(); it.Valid(); it.Next() {
				if !bytes.Equal(it.Key(), oldKey(i)) || !bytes.Equal(it.Value(), oldValue(i)) {
					t.Fatalf("byte %d: entry %d is wrong", at, i)
				}
				i++
			}
			if err = it.Status(); err == nil && i != 100 {
				t.Errorf("byte %d: %d entries", at, i)
			}
			_ = it.Close()
			_ = r.Close()
		}
		if err != nil && !rocksdb.IsNotSupported(err) && (!rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "000001.ldb")) {
			t.Errorf("byte %d: %v", at, err)
		}
		if err == nil && at < len(good)-48 {
			t.Errorf("byte %d: not found", at)
		}
	}
}
