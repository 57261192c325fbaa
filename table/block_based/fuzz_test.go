// No upstream twin: fuzz targets of filters, indexes, properties and range
// deletions; the seeds are blocks of golden tables.

package blockbased_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// eachGoldenMetaBlock gives use the meta blocks of that name in golden tables.
func eachGoldenMetaBlock(f *testing.F, name string, typ block.BlockType, use func(data []byte)) {
	n := 0
	for _, path := range goldenTables(f) {
		st, err := os.Stat(path)
		if err != nil {
			f.Fatal(err)
		}
		fo := rocksdb.DefaultFileOptions()
		r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), path, &fo, nil)
		if err != nil {
			f.Fatal(err)
		}
		ro := rocksdb.DefaultReadOptions()
		m := table.MetaReader{File: r, FileSize: uint64(st.Size()), ReadOptions: &ro}
		if c, err := m.ReadMetaBlock(format.BlockBasedTableMagicNumber, name, typ); err == nil && len(c.Data) < 8<<10 {
			use(append([]byte{}, c.Data...))
			n++
		}
		_ = r.Close()
	}
	if n == 0 {
		f.Logf("no golden table has %s", name)
	}
}

// addFilters seeds filters of each kind, and those of golden tables.
func addFilters(f *testing.F) {
	for _, name := range []string{blockbased.FastLocalBloomFilterClassName, blockbased.LegacyBloomFilterClassName, blockbased.Standard128RibbonFilterClassName} {
		o := rocksdb.DefaultBlockBasedTableOptions()
		b := blockbased.CreateBloomLikeFilterPolicy(name, 10).GetBuilderWithContext(&rocksdb.FilterBuildingContext{TableOptions: &o})
		for i := range 40 {
			b.AddKey(fmt.Appendf(nil, "key%05d", i))
		}
		data, err := b.Finish()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, name := range []string{"fullfilter.rocksdb.BuiltinBloomFilter", "fullfilter.bloomfilter", "fullfilter.ribbonfilter"} {
		eachGoldenMetaBlock(f, name, block.TypeFilter, func(data []byte) { f.Add(data) })
	}
}

func FuzzFilter(f *testing.F) {
	addFilters(f)
	keys := [][]byte{nil, []byte("k"), []byte("key00001"), []byte("0000000000000001"), make([]byte, 200)}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := blockbased.NewBuiltinFilterBitsReader(data)
		may := make([]bool, len(keys))
		r.MayMatchBatch(keys, may)
		for i, k := range keys {
			if r.MayMatch(k) != may[i] {
				t.Errorf("%q: %v alone, %v in a batch", k, !may[i], may[i])
			}
		}
	})
}

func FuzzProperties(f *testing.F) {
	eachGoldenMetaBlock(f, table.PropertiesBlockName, block.TypeProperties, func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := table.ParsePropertiesBlock(nil, 0, block.NewBlock(format.BorrowBlock(data), 0, nil))
		if err == nil {
			_ = propertiesText(p)
		}
	})
}

func FuzzRangeDel(f *testing.F) {
	eachGoldenMetaBlock(f, table.RangeDelBlockName, block.TypeRangeDeletion, func(data []byte) { f.Add(data, false) })
	for _, ts := range []bool{false, true} {
		b := block.NewBlockBuilder(&block.BlockBuilderOptions{BlockRestartInterval: 1, UseDeltaEncoding: true,
			PersistUserDefinedTimestamps: true, UniformCVThreshold: -1})
		for i := range 6 {
			begin, end := fmt.Appendf(nil, "k%d", i), fmt.Appendf(nil, "k%d", i*3)
			if ts {
				begin, end = append(begin, "12345678"...), append(end, "12345678"...)
			}
			b.Add(dbformat.AppendInternalKey(nil, begin, uint64(9-i), dbformat.TypeRangeDeletion), end, nil, false)
		}
		f.Add(append([]byte{}, b.Finish()...), ts)
	}
	plain := dbformat.NewInternalKeyComparator(util.BytewiseComparator())
	stamped := dbformat.NewInternalKeyComparator(util.BytewiseComparatorWithU64Ts())
	f.Fuzz(func(t *testing.T, data []byte, ts bool) {
		icmp := plain
		if ts {
			icmp = stamped
		}
		blk := block.NewBlock(format.BorrowBlock(data), 0, nil)
		it := blk.NewDataIterator(icmp, block.DataIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber}, nil)
		l, err := rangedel.NewFragmentedRangeTombstoneList(it, icmp, false, nil, true)
		if err != nil {
			return
		}
		tomb := rangedel.NewFragmentedRangeTombstoneIterator(l, icmp, dbformat.MaxSequenceNumber, nil, 0)
		n := 0
		for tomb.SeekToFirst(); tomb.Valid(); tomb.Next() {
			if n++; n > len(data)*len(data)+10 {
				t.Fatal("no end")
			}
		}
		tomb.Seek(append([]byte("k1"), "12345678"...))
		tomb.SeekForPrev(append([]byte("k5"), "12345678"...))
	})
}
