// Port of table/block_based/block_prefix_index.{h,cc}.

package block

import (
	"bytes"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// A file with a hash index has two meta blocks: the prefixes, one after
// another, and, for each,
//
//	varint32  length of the prefix
//	varint32  number of the first data block that holds it
//	varint32  number of data blocks that do

// BlockPrefixIndex gives the data blocks that may hold a prefix.
type BlockPrefixIndex struct {
	extractor rocksdb.SliceTransform
	starts    []uint32 // of each bucket in blocks; one more than buckets
	blocks    []uint32
}

type prefixRecord struct{ start, end uint32 }

// NewBlockPrefixIndex builds the index of the two meta blocks, of which nothing
// is kept. numBlocks is how many data blocks the file has at most.
func NewBlockPrefixIndex(extractor rocksdb.SliceTransform, prefixes, meta []byte, numBlocks uint32) (*BlockPrefixIndex, error) {
	type parsed struct {
		prefix []byte
		prefixRecord
	}
	var records []parsed
	for len(meta) > 0 {
		var v [3]uint32
		for i := range v {
			n, rest, ok := util.GetVarint32(meta)
			if !ok {
				return nil, rocksdb.Corruption("Corrupted prefix meta block: unable to read from it.")
			}
			v[i], meta = n, rest
		}
		size, start, count := v[0], v[1], v[2]
		if uint64(size) > uint64(len(prefixes)) {
			return nil, rocksdb.Corruption("Corrupted prefix meta block: size inconsistency.")
		}
		if count == 0 || uint64(start)+uint64(count) > uint64(numBlocks) {
			return nil, rocksdb.Corruption("Corrupted prefix meta block: no such data block.")
		}
		records = append(records, parsed{prefixes[:size], prefixRecord{start, start + count - 1}})
		prefixes = prefixes[size:]
	}
	if len(prefixes) != 0 {
		return nil, rocksdb.Corruption("Corrupted prefix meta block")
	}
	buckets := make([][]prefixRecord, len(records)+1)
	for _, r := range records {
		b := &buckets[util.Hash(r.prefix, 0)%uint32(len(buckets))]
		if n := len(*b); n > 0 {
			last := &(*b)[n-1]
			if r.start < last.end {
				return nil, rocksdb.Corruption("Corrupted prefix meta block: prefixes out of order.")
			}
			// A span that begins where the one before ends continues it.
			if r.start-last.end <= 1 {
				last.end = r.end
				continue
			}
		}
		*b = append(*b, r.prefixRecord)
	}
	x := &BlockPrefixIndex{extractor: extractor, starts: make([]uint32, 1, len(buckets)+1)}
	for _, b := range buckets {
		for _, r := range b {
			for id := r.start; id <= r.end; id++ {
				x.blocks = append(x.blocks, id)
			}
		}
		x.starts = append(x.starts, uint32(len(x.blocks)))
	}
	return x, nil
}

// GetBlocks gives the numbers, ascending, of the blocks that may hold the
// prefix of an internal key; none when no block does.
func (x *BlockPrefixIndex) GetBlocks(key []byte) []uint32 {
	prefix := x.extractor.Transform(dbformat.ExtractUserKey(key))
	b := util.Hash(prefix, 0) % uint32(len(x.starts)-1)
	return x.blocks[x.starts[b]:x.starts[b+1]]
}

// KnowsPrefixOf tells whether GetBlocks may be asked for an internal key with a
// timestamp of tsSize bytes. A prefix that reaches into the timestamp is that of
// one version only, and the key's versions stand under others.
func (x *BlockPrefixIndex) KnowsPrefixOf(key []byte, tsSize int) bool {
	if tsSize == 0 {
		return true
	}
	user := dbformat.ExtractUserKey(key)
	plain := dbformat.StripTimestampFromUserKey(user, tsSize)
	return x.extractor.InDomain(plain) && bytes.Equal(x.extractor.Transform(plain), x.extractor.Transform(user))
}

// ApproximateMemoryUsage is in bytes.
func (x *BlockPrefixIndex) ApproximateMemoryUsage() int { return 64 + 4*(len(x.starts)+len(x.blocks)) }
