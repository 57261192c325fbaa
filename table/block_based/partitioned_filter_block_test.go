// Port of table/block_based/partitioned_filter_block_test.cc.

package blockbased

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

var (
	partitionTestKeys    = []string{"afoo", "bar", "box", "hello"}
	partitionTestMissing = []string{"missing", "other"}
)

// partitionedFilterTest builds and reads one filter.
type partitionedFilterTest struct {
	t         *testing.T
	opts      rocksdb.BlockBasedTableOptions
	icmp      *dbformat.InternalKeyComparator
	persistTS bool
	prefix    rocksdb.SliceTransform
	index     *partitionedIndexBuilder
	filter    *partitionedFilterBlockBuilder
	offset    uint64
}

func forPartitionedFilters(t *testing.T, test func(t *testing.T, p *partitionedFilterTest)) {
	for _, version := range []uint32{2, 3, 4, 5, 6, 7} {
		for _, ts := range []string{"none", "persisted", "stripped"} {
			for _, decoupled := range []bool{false, true} {
				t.Run(fmt.Sprintf("v%d/%s/%v", version, ts, decoupled), func(t *testing.T) {
					p := &partitionedFilterTest{t: t, opts: rocksdb.DefaultBlockBasedTableOptions(), persistTS: ts != "stripped"}
					p.icmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())
					if ts != "none" {
						p.icmp = dbformat.NewInternalKeyComparator(util.BytewiseComparatorWithU64Ts())
					}
					p.opts.FilterPolicy = NewBloomFilterPolicy(10)
					p.opts.FormatVersion, p.opts.IndexBlockRestartInterval = version, 3
					p.opts.DecouplePartitionedFilters = decoupled
					test(t, p)
				})
			}
		}
	}
}

// keys adds the least timestamp, where there are timestamps.
func (p *partitionedFilterTest) keys(plain []string) (keys [][]byte) {
	for _, k := range plain {
		keys = append(keys, dbformat.AppendKeyWithMinTimestamp(nil, []byte(k), p.icmp.TimestampSize()))
	}
	return keys
}

func (p *partitionedFilterTest) strip(key []byte) []byte {
	return dbformat.StripTimestampFromUserKey(key, p.icmp.TimestampSize())
}

func (p *partitionedFilterTest) maxIndexSize() int {
	return len(partitionTestKeys) * (len("hello") + p.icmp.TimestampSize() + 8)
}

// newBuilders begins index and filter.
func (p *partitionedFilterTest) newBuilders(metadataBlockSize int) {
	p.opts.MetadataBlockSize = uint64(metadataBlockSize)
	cfg := indexConfig{icmp: p.icmp, restartInterval: p.opts.IndexBlockRestartInterval, formatVersion: p.opts.FormatVersion,
		shortening: p.opts.IndexShortening, persistTS: p.persistTS, uniformCV: -1}
	p.index = newPartitionedIndexBuilder(&p.opts, cfg)
	size := max((metadataBlockSize*(100-p.opts.BlockSizeDeviation)+99)/100, 1)
	bits := p.opts.FilterPolicy.GetBuilderWithContext(&rocksdb.FilterBuildingContext{TableOptions: &p.opts})
	p.filter = newPartitionedFilterBlockBuilder(p.prefix, p.opts.WholeKeyFiltering, bits, &cfg, p.index, size, p.opts.DecouplePartitionedFilters)
}

func (p *partitionedFilterTest) add(key []byte) { p.filter.Add(p.strip(key)) }

// cutBlock ends a data block; next is nil for the last.
func (p *partitionedFilterTest) cutBlock(key, next []byte) {
	last := dbformat.AppendInternalKey(nil, key, 0, dbformat.TypeValue)
	if next != nil {
		next = dbformat.AppendInternalKey(nil, next, 0, dbformat.TypeValue)
	}
	p.index.AddIndexEntry(last, next, format.BlockHandle{Offset: 1, Size: 1}, false)
}

// reader finishes the filter and reads it, its partitions in memory.
func (p *partitionedFilterTest) reader(wantEmpty bool) *partitionedFilterReader {
	p.t.Helper()
	t := &BlockBasedTable{opts: &p.opts, icmp: p.icmp, globalSeqno: dbformat.DisableGlobalSequenceNumber,
		indexValueFull: true, udtPersisted: p.persistTS}
	t.create = blockCreateContext{opts: &p.opts}
	r := &partitionedFilterReader{t: t, partitions: map[uint64]block.CachableEntry[*ParsedFullFilterBlock]{}}
	p.offset = 10
	var h format.BlockHandle
	for {
		contents, more, err := p.filter.Finish(h)
		if err != nil {
			p.t.Fatal(err)
		}
		if wantEmpty && len(contents) != 0 {
			p.t.Errorf("%d bytes for no keys", len(contents))
		}
		h = format.BlockHandle{Offset: p.offset + 1, Size: uint64(len(contents))}
		p.offset += h.Size
		if !more {
			var e block.CachableEntry[*block.Block]
			e.SetOwnedValue(block.NewBlock(format.BlockContents{Data: contents}, 0, nil))
			r.entry = e
			break
		}
		var e block.CachableEntry[*ParsedFullFilterBlock]
		e.SetOwnedValue(t.create.parseFilter(format.BlockContents{Data: contents}))
		r.partitions[h.Offset] = e
	}
	t.indexKeySeq = p.index.SeparatorIsKeyPlusSeq()
	return r
}

func (p *partitionedFilterTest) matches(r *partitionedFilterReader, entry, key []byte) bool {
	ro := rocksdb.DefaultReadOptions()
	return r.mayMatch(&readContext{ro: &ro}, entry, dbformat.AppendInternalKey(nil, key, 0, dbformat.TypeValue))
}

func (p *partitionedFilterTest) verify(empty bool) {
	p.t.Helper()
	r := p.reader(empty)
	keys := p.keys(partitionTestKeys)
	for _, k := range append(keys, keys[0]) {
		if !p.matches(r, p.strip(k), k) {
			p.t.Errorf("%q does not match", k)
		}
	}
	for _, k := range p.keys(partitionTestMissing) {
		if p.matches(r, p.strip(k), k) != empty {
			p.t.Errorf("%q: matches %v", k, !empty)
		}
	}
}

func (p *partitionedFilterTest) countIndexPartitions() int {
	p.t.Helper()
	for n := 0; ; n++ {
		_, more, err := p.index.Finish(format.BlockHandle{Offset: 10, Size: 10})
		if err != nil {
			p.t.Fatal(err)
		}
		if !more {
			return n
		}
	}
}

// build adds the keys, one of them twice, and ends a block after each of cuts.
func (p *partitionedFilterTest) build(metadataBlockSize int, cuts ...int) {
	p.t.Helper()
	p.newBuilders(metadataBlockSize)
	keys := p.keys(partitionTestKeys)
	for i, k := range keys {
		p.add(k)
		if i == 2 {
			p.add(k)
		}
		for _, c := range cuts {
			if c != i {
				continue
			}
			if i == len(keys)-1 {
				p.cutBlock(k, nil)
			} else {
				p.cutBlock(k, keys[i+1])
			}
		}
	}
	p.verify(false)
}

func TestPartitionedFilterBlockTest_EmptyBuilder(t *testing.T) {
	forPartitionedFilters(t, func(_ *testing.T, p *partitionedFilterTest) {
		p.newBuilders(4096)
		p.verify(true)
	})
}

func TestPartitionedFilterBlockTest_OneBlock(t *testing.T) {
	forPartitionedFilters(t, func(_ *testing.T, p *partitionedFilterTest) {
		for i := 1; i <= p.maxIndexSize(); i++ {
			p.build(i, 3)
		}
	})
}

func TestPartitionedFilterBlockTest_TwoBlocksPerKey(t *testing.T) {
	forPartitionedFilters(t, func(_ *testing.T, p *partitionedFilterTest) {
		for i := 1; i <= p.maxIndexSize(); i++ {
			p.build(i, 1, 3)
		}
	})
}

func TestPartitionedFilterBlockTest_SamePrefixInMultipleBlocks(t *testing.T) {
	forPartitionedFilters(t, func(t *testing.T, p *partitionedFilterTest) {
		p.prefix = util.NewFixedPrefixTransform(1)
		p.newBuilders(1)
		keys := p.keys([]string{"p-key10", "p-key20", "p-key30"})
		for i, k := range keys {
			p.add(k)
			if i+1 < len(keys) {
				p.cutBlock(k, keys[i+1])
			} else {
				p.cutBlock(k, nil)
			}
		}
		r := p.reader(false)
		for _, k := range append(keys, p.keys([]string{"p-key9", "p-key11", "p-key21", "p-key31"})...) {
			if !p.matches(r, p.prefix.Transform(k), k) {
				t.Errorf("the prefix of %q does not match", k)
			}
		}
	})
}

func TestPartitionedFilterBlockTest_PrefixInWrongPartitionBug(t *testing.T) {
	forPartitionedFilters(t, func(t *testing.T, p *partitionedFilterTest) {
		p.prefix = util.NewFixedPrefixTransform(2)
		p.newBuilders(1)
		keys := p.keys([]string{"p1-key1", "p2-key2", "p3-key3", "p4-key3", "p5-key3"})
		for i, k := range keys {
			p.add(k)
			if i+1 < len(keys) {
				p.cutBlock(k, keys[i+1])
			} else {
				p.cutBlock(k, nil)
			}
		}
		r := p.reader(false)
		for _, k := range keys {
			if !p.matches(r, p.prefix.Transform(k), k) {
				t.Errorf("the prefix of %q does not match", k)
			}
		}
	})
}

func TestPartitionedFilterBlockTest_OneBlockPerKey(t *testing.T) {
	forPartitionedFilters(t, func(_ *testing.T, p *partitionedFilterTest) {
		for i := 1; i <= p.maxIndexSize(); i++ {
			p.build(i, 0, 1, 2, 3)
		}
	})
}

func TestPartitionedFilterBlockTest_PartitionCount(t *testing.T) {
	forPartitionedFilters(t, func(t *testing.T, p *partitionedFilterTest) {
		p.build(max(p.maxIndexSize(), len(partitionTestKeys)*10+64*8+5), 0, 1, 2, 3)
		if n := p.countIndexPartitions(); n != 1 {
			t.Errorf("%d partitions", n)
		}
		p.build(1, 0, 1, 2, 3)
		if n := p.countIndexPartitions(); n != len(partitionTestKeys)-1 { // the last two keys together
			t.Errorf("%d partitions", n)
		}
	})
}
