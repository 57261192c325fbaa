// Port of table/block_based/data_block_hash_index_test.cc. BlockBoundary is with
// the table reader.

package block

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

// hashFinds tells whether a lookup leads to the restart point or to all.
func hashFinds(x *DataBlockHashIndex, data []byte, mapOffset int, key string, restart uint8) bool {
	e := x.Lookup(data, mapOffset, []byte(key))
	return e == Collision || e == restart
}

// checkHashIndex builds an index of keys behind content and looks all up.
func checkHashIndex(t *testing.T, b *DataBlockHashIndexBuilder, content string, n, step int) {
	t.Helper()
	for i := 0; i < n; i += step {
		b.Add([]byte(fmt.Sprintf("key%d", i)), i)
	}
	size := b.EstimateSize()
	data := b.Finish([]byte(content))
	if len(data) != size+len(content) {
		t.Errorf("%d bytes, estimated %d", len(data), size+len(content))
	}
	var x DataBlockHashIndex
	off, ok := x.Initialize(data)
	if !ok || off != len(content) {
		t.Fatalf("offset %d, not %d (%v)", off, len(content), ok)
	}
	for i := 0; i < n; i += step {
		if key := fmt.Sprintf("key%d", i); !hashFinds(&x, data, off, key, uint8(i)) {
			t.Errorf("%s is not found", key)
		}
	}
}

func newHashIndexBuilder() *DataBlockHashIndexBuilder {
	b := &DataBlockHashIndexBuilder{}
	b.Initialize(0.75)
	return b
}

func TestDataBlockHashIndex_DataBlockHashTestSmall(t *testing.T) {
	b := newHashIndexBuilder()
	for j := range 5 {
		checkHashIndex(t, b, "fake", 2+j, 1)
		b.Reset()
	}
}

func TestDataBlockHashIndex_DataBlockHashTest(t *testing.T) {
	checkHashIndex(t, newHashIndexBuilder(), "fake content", 100, 1)
}

func TestDataBlockHashIndex_InitializeRejectsCorruptNumBuckets(t *testing.T) {
	b := newHashIndexBuilder()
	for i := range 10 {
		b.Add([]byte(fmt.Sprintf("key%d", i)), i)
	}
	data := b.Finish([]byte("fake content"))
	var x DataBlockHashIndex
	if _, ok := x.Initialize(data); !ok {
		t.Error("refused")
	}
	for _, n := range []int{len(data) + 1000, 0} {
		bad := bytes.Clone(data)
		util.EncodeFixed16(bad[len(bad)-2:], uint16(n))
		if _, ok := x.Initialize(bad); ok || x.Valid() {
			t.Errorf("%d buckets: accepted", n)
		}
	}
}

func TestDataBlockHashIndex_InitializeRejectsUnsupportedSize(t *testing.T) {
	for _, n := range []int{0, 1, MaxBlockSizeSupportedByHashIndex, MaxBlockSizeSupportedByHashIndex + 1} {
		var x DataBlockHashIndex
		if _, ok := x.Initialize(bytes.Repeat([]byte("x"), n)); ok || x.Valid() {
			t.Errorf("%d bytes: accepted", n)
		}
	}
}

func TestDataBlockHashIndex_DataBlockHashTestCollision(t *testing.T) {
	checkHashIndex(t, newHashIndexBuilder(), "some other fake content to take up space", 100, 1)
}

func TestDataBlockHashIndex_DataBlockHashTestLarge(t *testing.T) {
	checkHashIndex(t, newHashIndexBuilder(), "filling stuff", 100, 2)
}

func TestDataBlockHashIndex_RestartIndexExceedMax(t *testing.T) {
	b := newHashIndexBuilder()
	fill := func(last int) {
		for i := 0; i <= last; i++ {
			b.Add([]byte(fmt.Sprintf("key%d", i)), i)
		}
	}
	fill(253)
	if !b.Valid() {
		t.Error("253 restarts: invalid")
	}
	b.Reset()
	fill(254)
	if b.Valid() {
		t.Error("254 restarts: valid")
	}
	b.Reset()
	if !b.Valid() {
		t.Error("invalid after Reset")
	}
}

func hashBlockBuilder(restart int, delta bool) *BlockBuilder {
	return NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: restart, UseDeltaEncoding: delta,
		IndexType: rocksdb.DataBlockBinaryAndHash, DataBlockHashTableUtilRatio: 0.75, UniformCVThreshold: -1})
}

func readBlock(raw []byte) *Block {
	return NewBlock(format.BlockContents{Data: bytes.Clone(raw)}, 0, nil)
}

func TestDataBlockHashIndex_BlockRestartIndexExceedMax(t *testing.T) {
	b := hashBlockBuilder(1, true)
	for _, c := range []struct {
		last int
		want rocksdb.DataBlockIndexType
	}{{253, rocksdb.DataBlockBinaryAndHash}, {254, rocksdb.DataBlockBinarySearch}} {
		for i := 0; i <= c.last; i++ {
			b.Add(dbformat.AppendInternalKey(nil, []byte(fmt.Sprintf("key%d", i)), 0, dbformat.TypeValue), []byte("value"), nil, false)
		}
		if got := readBlock(b.Finish()).IndexType(); got != c.want {
			t.Errorf("restart %d: %v", c.last, got)
		}
		b.Reset()
	}
}

func TestDataBlockHashIndex_BlockSizeExceedMax(t *testing.T) {
	key := dbformat.AppendInternalKey(nil, []byte(strings.Repeat("k", 10)), 0, dbformat.TypeValue)
	b := hashBlockBuilder(1, false)
	for _, c := range []struct {
		n    int
		want rocksdb.DataBlockIndexType
	}{{65502, rocksdb.DataBlockBinaryAndHash}, {65503, rocksdb.DataBlockBinarySearch}} {
		b.Add(key, bytes.Repeat([]byte("v"), c.n), nil, false)
		raw := b.Finish()
		if len(raw) > MaxBlockSizeSupportedByHashIndex {
			t.Errorf("a block of %d bytes", len(raw))
		}
		if got := readBlock(raw).IndexType(); got != c.want {
			t.Errorf("value of %d bytes: %v", c.n, got)
		}
		b.Reset()
	}
}

func TestDataBlockHashIndex_BlockTestSingleKey(t *testing.T) {
	b := hashBlockBuilder(16, true)
	key := dbformat.AppendInternalKey(nil, []byte("gopher"), 10, dbformat.TypeValue)
	b.Add(key, []byte("gold"), nil, false)
	blk := readBlock(b.Finish())
	it := blk.NewDataIterator(testICmp, noSeqno(), nil)
	for _, seq := range []uint64{10, 20} {
		if !it.SeekForGet(dbformat.AppendInternalKey(nil, []byte("gopher"), seq, dbformat.ValueTypeForSeek)) || !it.Valid() ||
			!bytes.Equal(it.Key(), key) || string(it.Value()) != "gold" {
			t.Errorf("at %d: valid %v", seq, it.Valid())
		}
	}
	// The entry is too new: the block is at its end, the next may have it.
	if !it.SeekForGet(dbformat.AppendInternalKey(nil, []byte("gopher"), 5, dbformat.ValueTypeForSeek)) || it.Valid() {
		t.Errorf("at 5: valid %v", it.Valid())
	}
}

func TestDataBlockHashIndex_BlockTestLarge(t *testing.T) {
	rnd, kv := util.NewRandom(1019), util.NewRandom(302)
	b := hashBlockBuilder(16, true)
	const n = 500
	var keys []string
	var values []string
	for i := range n {
		keys = append(keys, fmt.Sprintf("%6d%4d", i, 0))
		values = append(values, kv.RandomString(100))
		b.Add(dbformat.AppendInternalKey(nil, []byte(keys[i]+"1"), 0, dbformat.TypeValue), []byte(values[i]), nil, false)
	}
	blk := readBlock(b.Finish())
	for range n {
		i := rnd.Uniform(n)
		it := blk.NewDataIterator(testICmp, noSeqno(), nil)
		if !it.SeekForGet(dbformat.AppendInternalKey(nil, []byte(keys[i]+"1"), 0, dbformat.TypeValue)) || !it.Valid() ||
			string(it.Value()) != values[i] {
			t.Fatalf("%s: not found", keys[i])
		}
		// An absent key either ends the search or goes on to the next block.
		it = blk.NewDataIterator(testICmp, noSeqno(), nil)
		if mayExist := it.SeekForGet(dbformat.AppendInternalKey(nil, []byte(keys[i]+"0"), 0, dbformat.TypeValue)); !mayExist && !it.Valid() {
			t.Fatalf("%s0: neither", keys[i])
		}
	}
}
