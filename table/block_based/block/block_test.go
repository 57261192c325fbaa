// Port of table/block_based/block_test.cc. Differs: fewer keys; damage is done to
// the block itself after its entries' checksums were made, which every move has
// to notice.

package block

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

var testICmpTS = dbformat.NewInternalKeyComparator(util.BytewiseComparatorWithU64Ts())

// udtMode is a way to treat timestamps.
type udtMode struct {
	name    string
	icmp    *dbformat.InternalKeyComparator
	persist bool
}

var udtModes = []udtMode{{"none", testICmp, true}, {"persisted", testICmpTS, true}, {"stripped", testICmpTS, false}}

func (m *udtMode) stripped() bool { return m.icmp.TimestampSize() > 0 && !m.persist }

func testKey(primary, secondary, padding int, rnd *util.Random, tsSize int) []byte {
	k := []byte(fmt.Sprintf("%6d%4d", primary, secondary))
	if padding > 0 {
		k = append(k, rnd.RandomString(padding)...)
	}
	k = dbformat.AppendInternalKeyFooter(k, 0, dbformat.TypeValue)
	if tsSize > 0 {
		return dbformat.PadInternalKeyWithMinTimestamp(nil, k, tsSize)
	}
	return k
}

func randomKVs(from, n, step, padding, perPrefix, tsSize int) (keys, values [][]byte) {
	rnd := util.NewRandom(302)
	for i := from; i < from+n; i += step {
		for j := range perPrefix {
			keys = append(keys, testKey(i, j, padding, rnd, tsSize))
			values = append(values, []byte(rnd.RandomString(100)))
		}
	}
	return keys, values
}

// blockParams are those of BlockTest.
type blockParams struct {
	delta     bool
	udt       udtMode
	index     rocksdb.DataBlockIndexType
	restart   int
	separated bool
}

func forBlockParams(t *testing.T, test func(t *testing.T, p *blockParams)) {
	for _, delta := range []bool{false, true} {
		for _, udt := range udtModes {
			for _, index := range []rocksdb.DataBlockIndexType{rocksdb.DataBlockBinarySearch, rocksdb.DataBlockBinaryAndHash} {
				for _, restart := range []int{1, 8, 16} {
					for _, separated := range []bool{false, true} {
						p := &blockParams{delta, udt, index, restart, separated}
						if udt.icmp.TimestampSize() > 0 {
							p.index = rocksdb.DataBlockBinarySearch
						}
						t.Run(fmt.Sprintf("%v/%s/%d/%d/%v", delta, udt.name, index, restart, separated), func(t *testing.T) { test(t, p) })
					}
				}
			}
		}
	}
}

func (p *blockParams) build(keys, values [][]byte) *Block {
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: p.restart, UseDeltaEncoding: p.delta, IndexType: p.index,
		DataBlockHashTableUtilRatio: 0.75, TSSize: p.udt.icmp.TimestampSize(), PersistUserDefinedTimestamps: p.udt.persist,
		UseSeparatedKVStorage: p.separated, UniformCVThreshold: -1})
	for i := range keys {
		b.Add(keys[i], values[i], nil, false)
	}
	return readBlock(b.Finish())
}

func (p *blockParams) iterator(b *Block) *DataBlockIter {
	o := noSeqno()
	o.PadMinTimestamp = p.udt.stripped()
	return b.NewDataIterator(p.udt.icmp, o, nil)
}

func TestBlockTest_SimpleTest(t *testing.T) {
	forBlockParams(t, func(t *testing.T, p *blockParams) {
		keys, values := randomKVs(0, 20, 1, 0, 1, p.udt.icmp.TimestampSize())
		b := p.build(keys, values)
		it := p.iterator(b)
		i := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if !bytes.Equal(it.Key(), keys[i]) || !bytes.Equal(it.Value(), values[i]) {
				t.Fatalf("not entry %d", i)
			}
			i++
		}
		if i != 20 {
			t.Errorf("%d entries", i)
		}
		rnd := util.NewRandom(301)
		it = p.iterator(b)
		for range 20 {
			i := rnd.Uniform(20)
			if it.Seek(keys[i]); !it.Valid() || !bytes.Equal(it.Value(), values[i]) {
				t.Errorf("entry %d is not found", i)
			}
		}
	})
}

func checkSeeks(t *testing.T, p *blockParams, maxKey, padding, perPrefix int) {
	t.Helper()
	tsSize := p.udt.icmp.TimestampSize()
	keys, values := randomKVs(0, maxKey, 2, padding, perPrefix, tsSize)
	it := p.iterator(p.build(keys, values))
	for i := range keys {
		if it.Seek(keys[i]); it.Status() != nil || !it.Valid() || !bytes.Equal(it.Value(), values[i]) {
			t.Fatalf("entry %d is not found", i)
		}
	}
	for i := 1; i < maxKey-1; i += 2 {
		if it.Seek(testKey(i, 0, 0, nil, tsSize)); !it.Valid() {
			t.Fatalf("nothing after %d", i)
		}
	}
}

func TestBlockTest_SimpleIndexHash(t *testing.T) {
	forBlockParams(t, func(t *testing.T, p *blockParams) { checkSeeks(t, p, 2000, 8, 1) })
}

func TestBlockTest_IndexHashWithSharedPrefix(t *testing.T) {
	forBlockParams(t, func(t *testing.T, p *blockParams) { checkSeeks(t, p, 800, 10, 5) })
}

func TestBlockTest_BlockReadAmpBitmap(t *testing.T) {
	const bytesPerBit = 64
	rnd := util.NewRandom(301)
	for _, size := range []int{1, 32, 61, 64, 512, 1024, 4096, 10240, 51200, 1 << 20, 777, 124653} {
		stats := monitoring.CreateDBStatistics()
		m := NewBlockReadAmpBitmap(size, bytesPerBit, stats)
		if n := stats.GetTickerCount(rocksdb.ReadAmpTotalReadBytes); n != uint64(size) {
			t.Errorf("%d bytes read of %d", n, size)
		}
		var starts []int
		for range 1000 {
			starts = append(starts, int(rnd.Next())%size)
		}
		sort.Ints(starts)
		starts = slices.Compact(starts)
		marked := make([]bool, (size+bytesPerBit-1)/bytesPerBit)
		useful := 0
		for range starts {
			i := int(rnd.Next()) % len(starts)
			from, to := starts[i], size-1
			if i+1 < len(starts) {
				to = starts[i+1] - 1
			}
			m.Mark(uint32(from), uint32(to))
			// A bit stands for one byte of its 64.
			for bit := range marked {
				if at := bit*bytesPerBit + int(m.offset); !marked[bit] && at >= from && at <= to {
					marked[bit] = true
					useful += bytesPerBit
				}
			}
			if n := stats.GetTickerCount(rocksdb.ReadAmpEstimateUsefulBytes); n != uint64(useful) {
				t.Fatalf("size %d: %d bytes useful, not %d", size, n, useful)
			}
		}
	}
}

func TestBlockTest_BlockWithReadAmpBitmap(t *testing.T) {
	const n = 10000
	keys, values := randomKVs(0, n, 1, 0, 1, 0)
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, UniformCVThreshold: -1})
	for i := range keys {
		b.Add(keys[i], values[i], nil, false)
	}
	raw := bytes.Clone(b.Finish())
	rnd := util.NewRandom(301)
	for _, c := range []struct {
		name  string
		limit float64
		step  func(it *DataBlockIter, i int) int // gives the entry it stands on
	}{
		{"Next", 0.01, func(it *DataBlockIter, i int) int {
			if i == 0 {
				it.SeekToFirst()
			} else {
				it.Next()
			}
			return i
		}},
		{"Seek", 0.01, func(it *DataBlockIter, i int) int { it.Seek(keys[i]); return i }},
		{"random Seek", 0.02, func(it *DataBlockIter, _ int) int {
			i := int(rnd.Uniform(n))
			it.Seek(keys[i])
			return i
		}},
	} {
		stats := monitoring.CreateDBStatistics()
		blk := NewBlock(format.BlockContents{Data: raw}, 8, stats)
		it := blk.NewDataIterator(testICmp, noSeqno(), nil)
		seen := make([]bool, n)
		read := 0
		for i := range n {
			at := c.step(it, i)
			if !it.Valid() || !bytes.Equal(it.Value(), values[at]) {
				t.Fatalf("%s: entry %d", c.name, at)
			}
			if !seen[at] {
				seen[at] = true
				read += int(it.next - it.current)
			}
			got := float64(stats.GetTickerCount(rocksdb.ReadAmpEstimateUsefulBytes)) /
				float64(stats.GetTickerCount(rocksdb.ReadAmpTotalReadBytes))
			if want := float64(read) / float64(len(raw)); math.Abs(got-want) >= c.limit {
				t.Fatalf("%s: %v read after %d, not %v", c.name, got, i, want)
			}
		}
	}
}

func TestBlockTest_ReadAmpBitmapPow2(t *testing.T) {
	stats := monitoring.CreateDBStatistics()
	for in, want := range map[int]int{1: 1, 2: 2, 4: 4, 8: 8, 16: 16, 32: 32, 3: 2, 7: 4, 11: 8, 17: 16, 33: 32, 35: 32} {
		if got := NewBlockReadAmpBitmap(100, in, stats).GetBytesPerBit(); got != want {
			t.Errorf("%d: %d", in, got)
		}
	}
}

// indexEntries are separators, handles and first keys of blocks.
type indexEntries struct {
	separators, firstKeys [][]byte
	handles               []format.BlockHandle
}

func randomIndexEntries(n, tsSize, keyLen, prefixLen int, uniform bool) (e indexEntries) {
	rnd := util.NewRandom(42)
	prefix := strings.Repeat("x", prefixLen)
	clusterLen := max(0, keyLen-5)
	clusters := [2]string{prefix + rnd.RandomString(clusterLen), prefix + rnd.RandomString(clusterLen)}
	set := map[string]bool{}
	for len(set) < 2*n {
		var k []byte
		if !uniform {
			// Two clusters, against what interpolation assumes.
			k = []byte(clusters[len(set)%2] + rnd.RandomString(max(1, keyLen-clusterLen)))
		} else {
			base := uint64(len(set))*1000 + uint64(rnd.Uniform(100))
			digits := make([]byte, keyLen)
			for j := keyLen - 1; j >= 0 && base > 0; j-- {
				digits[j] = byte(base)
				base >>= 8
			}
			k = append([]byte(prefix), digits...)
		}
		k = dbformat.AppendInternalKeyFooter(k, 0, dbformat.TypeValue)
		if tsSize > 0 {
			k = dbformat.PadInternalKeyWithMinTimestamp(nil, k, tsSize)
		}
		set[string(k)] = true
	}
	var keys []string
	for k := range set {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	offset := uint64(0)
	for i := 0; i < len(keys); i += 2 {
		e.firstKeys, e.separators = append(e.firstKeys, []byte(keys[i])), append(e.separators, []byte(keys[i+1]))
		size := uint64(rnd.Uniform(16 << 10))
		e.handles = append(e.handles, format.BlockHandle{Offset: offset, Size: size})
		offset += size + format.BlockTrailerSize
	}
	return e
}

func addIndexEntry(b *BlockBuilder, key []byte, h format.BlockHandle, prev *format.BlockHandle, withFirst bool, first []byte) {
	v := format.IndexValue{Handle: h, FirstInternalKey: first}
	var delta []byte
	if prev != nil {
		delta = v.AppendTo(nil, withFirst, prev)
	}
	b.Add(key, v.AppendTo(nil, withFirst, nil), delta, false)
}

// indexParams are those of IndexBlockTest.
type indexParams struct {
	withSeq, valueDelta, firstKey, separated bool
	udt                                      udtMode
	search                                   rocksdb.BlockSearchType
	n, restart, keyLen, prefixLen            int
	uniform                                  bool
}

func (p *indexParams) check(t *testing.T) {
	tsSize := p.udt.icmp.TimestampSize()
	e := randomIndexEntries(p.n, tsSize, p.keyLen, p.prefixLen, p.uniform)
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: p.restart, UseDeltaEncoding: true,
		UseValueDeltaEncoding: p.valueDelta, TSSize: tsSize, PersistUserDefinedTimestamps: p.udt.persist, IsUserKey: !p.withSeq,
		UseSeparatedKVStorage: p.separated, UniformCVThreshold: 0.2})
	want := slices.Clone(e.separators)
	for i := range want {
		first := e.firstKeys[i]
		if p.udt.stripped() {
			first = dbformat.StripTimestampFromInternalKey(nil, first, tsSize)
		}
		var prev *format.BlockHandle
		if p.valueDelta && i > 0 {
			prev = &e.handles[i-1]
		}
		if !p.withSeq {
			want[i] = dbformat.ExtractUserKey(want[i])
		}
		addIndexEntry(b, want[i], e.handles[i], prev, p.firstKey, first)
	}
	blk := readBlock(b.Finish())
	o := IndexIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber, TotalOrderSeek: true, HaveFirstKey: p.firstKey,
		KeyIncludesSeq: p.withSeq, ValueIsFull: !p.valueDelta, PadMinTimestamp: p.udt.stripped(), SearchType: p.search}
	same := func(it *IndexBlockIter, i int) bool {
		first := []byte(nil)
		if p.firstKey {
			first = e.firstKeys[i]
		}
		return it.Valid() && bytes.Equal(it.Key(), want[i]) && it.Value().Handle == e.handles[i] &&
			bytes.Equal(it.Value().FirstInternalKey, first)
	}
	it := blk.NewIndexIterator(p.udt.icmp, o, nil)
	it.SeekToFirst()
	for i := range want {
		if !same(it, i) {
			t.Fatalf("%+v: not entry %d (%v)", p, i, it.Status())
		}
		it.Next()
	}
	if tsSize == 0 {
		uniform := blk.NumRestarts() >= 3 && p.uniform
		if blk.IsUniform() != uniform || b.IsUniform() != uniform {
			t.Errorf("%+v: uniform %v, %v", p, blk.IsUniform(), b.IsUniform())
		}
	}
	rnd := util.NewRandom(301)
	it = blk.NewIndexIterator(p.udt.icmp, o, it)
	for range 2 * len(want) {
		i := int(rnd.Uniform(len(want)))
		if it.Seek(e.separators[i]); !same(it, i) {
			t.Fatalf("%+v: entry %d is not found (%v)", p, i, it.Status())
		}
	}
}

func TestIndexBlockTest_IndexValueEncodingTest(t *testing.T) {
	bools := []bool{false, true}
	for _, udt := range udtModes {
		for _, search := range []rocksdb.BlockSearchType{rocksdb.BlockSearchBinary, rocksdb.BlockSearchInterpolation, rocksdb.BlockSearchAuto} {
			if udt.icmp.TimestampSize() > 0 && search != rocksdb.BlockSearchBinary {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", udt.name, search), func(t *testing.T) {
				for i := range 16 {
					for _, n := range []int{1, 100} {
						for _, restart := range []int{1, 16} {
							for _, keyLen := range []int{1, 8, 12} {
								for _, prefixLen := range []int{0, 50} {
									for _, uniform := range bools {
										p := &indexParams{i&1 > 0, i&2 > 0, i&4 > 0, i&8 > 0, udt, search,
											min(1<<keyLen, n), restart, keyLen, prefixLen, uniform}
										p.check(t)
									}
								}
							}
						}
					}
				}
			})
		}
	}
}

// interpolated is an iterator over an index of keys, each 50 bytes of data.
func interpolated(keys [][]byte, withSeq bool) *IndexBlockIter {
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 1, UseDeltaEncoding: true, UseValueDeltaEncoding: true,
		IsUserKey: !withSeq, UniformCVThreshold: -1})
	var prev *format.BlockHandle
	for i, k := range keys {
		h := format.BlockHandle{Offset: uint64(i) * (50 + format.BlockTrailerSize), Size: 50}
		addIndexEntry(b, k, h, prev, false, nil)
		prev = &h
	}
	return readBlock(b.Finish()).NewIndexIterator(testICmp, IndexIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber,
		TotalOrderSeek: true, KeyIncludesSeq: withSeq, SearchType: rocksdb.BlockSearchInterpolation}, nil)
}

func checkBoundary(t *testing.T, it *IndexBlockIter, first []byte, targets map[string]bool) {
	t.Helper()
	for user, found := range targets {
		it.Seek(dbformat.AppendInternalKey(nil, []byte(user), dbformat.MaxSequenceNumber, dbformat.TypeValue))
		if it.Status() != nil || it.Valid() != found || found && !bytes.Equal(it.Key(), first) {
			t.Errorf("%q: valid %v at %q (%v)", user, it.Valid(), it.Key(), it.Status())
		}
	}
}

func TestIndexBlockTest_InterpolationSearchPrefixBoundary(t *testing.T) {
	var keys [][]byte
	for i := range 20 {
		keys = append(keys, []byte(fmt.Sprintf("ABCDEFGHIJ%03d", i)))
	}
	checkBoundary(t, interpolated(keys, false), keys[0],
		map[string]bool{"AAAAAA": true, "": true, "ABCDEFGHZZ": false, "ABCDEFGHIJ": true, "ABCDEFG": true})
}

func TestIndexBlockTest_InterpolationSearchPrefixBoundary2(t *testing.T) {
	var keys [][]byte
	for i := range 20 {
		keys = append(keys, dbformat.AppendInternalKey(nil, []byte("ABCDEFGHIJ"), uint64(20-i), dbformat.TypeValue))
	}
	it := interpolated(keys, true)
	for i := range keys {
		if it.Seek(keys[i]); !it.Valid() || !bytes.Equal(it.Key(), keys[i]) {
			t.Errorf("entry %d is not found", i)
		}
	}
	checkBoundary(t, it, keys[0], map[string]bool{"AAAAAA": true, "": true, "ABCDEFGHZZ": false, "ABCDEFGHIJ": true,
		"ABCDEFG": true, "ABCDEFGHIJ" + string([]byte{byte(dbformat.TypeValue)}): false})
}

func TestBlockPerKVChecksumTest_EmptyBlock(t *testing.T) {
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, UniformCVThreshold: -1})
	blk := readBlock(b.Finish())
	blk.InitializeDataBlockProtectionInfo(8, testICmp)
	it := blk.NewDataIterator(testICmp, noSeqno(), nil)
	key := testKey(1, 1, 10, util.NewRandom(33), 0)
	for name, move := range map[string]func(){
		"SeekToFirst": it.SeekToFirst, "SeekToLast": it.SeekToLast, "SeekForGet": func() { it.SeekForGet(key) },
		"Seek": func() { it.Seek(key) }, "SeekForPrev": func() { it.SeekForPrev(key) },
	} {
		if move(); it.Valid() || it.Status() != nil {
			t.Errorf("%s: valid %v, %v", name, it.Valid(), it.Status())
		}
	}
}

func TestBlockPerKVChecksumTest_InitializeProtectionInfo(t *testing.T) {
	bad := func() *Block { return readBlock([]byte("1")) }
	b := bad()
	b.InitializeDataBlockProtectionInfo(8, testICmp)
	if err := b.NewDataIterator(testICmp, noSeqno(), nil).Status(); !rocksdb.IsCorruption(err) {
		t.Errorf("data: %v", err)
	}
	b = bad()
	b.InitializeIndexBlockProtectionInfo(8, testICmp, true, false, true)
	if err := b.NewIndexIterator(testICmp, IndexIterOptions{TotalOrderSeek: true, KeyIncludesSeq: true, ValueIsFull: true}, nil).Status(); !rocksdb.IsCorruption(err) {
		t.Errorf("index: %v", err)
	}
	b = bad()
	b.InitializeMetaIndexBlockProtectionInfo(8)
	if err := b.NewMetaIterator(true).Status(); !rocksdb.IsCorruption(err) {
		t.Errorf("meta: %v", err)
	}
}

func TestBlockPerKVChecksumTest_CorruptHashIndexNumBucketsNoOverRead(t *testing.T) {
	data := append(bytes.Repeat([]byte("x"), 500), 0, 0)
	util.EncodeFixed16(data[500:], 60000)
	f := DataBlockFooter{NumRestarts: 1, IndexType: rocksdb.DataBlockBinaryAndHash, SeparatedKV: true, ValuesSectionOffset: math.MaxUint32}
	it := readBlock(f.AppendTo(data)).NewDataIterator(testICmp, noSeqno(), nil)
	if !rocksdb.IsCorruption(it.Status()) {
		t.Error(it.Status())
	}
}

func TestBlockPerKVChecksumTest_ApproximateMemory(t *testing.T) {
	keys, values := randomKVs(0, 20, 1, 24, 1, 0)
	p := &blockParams{delta: true, udt: udtModes[0], restart: 16}
	e := randomIndexEntries(20, 0, 12, 0, true)
	index := func() *Block {
		b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, UniformCVThreshold: -1})
		for i := range e.handles {
			addIndexEntry(b, e.separators[i], e.handles[i], nil, false, nil)
		}
		return readBlock(b.Finish())
	}
	data := func() *Block { return p.build(keys, values) }
	for name, c := range map[string]struct {
		make    func() *Block
		protect func(*Block)
	}{
		"data":  {data, func(b *Block) { b.InitializeDataBlockProtectionInfo(8, testICmp) }},
		"meta":  {data, func(b *Block) { b.InitializeMetaIndexBlockProtectionInfo(8) }},
		"index": {index, func(b *Block) { b.InitializeIndexBlockProtectionInfo(8, testICmp, true, false, true) }},
	} {
		plain, protected := c.make(), c.make()
		c.protect(protected)
		if more := protected.ApproximateMemoryUsage() - plain.ApproximateMemoryUsage(); more <= 100 {
			t.Errorf("%s: %d bytes more", name, more)
		}
	}
}

// checkWalks makes all moves there are over a sound block.
func checkWalks(t *testing.T, n int, it interface {
	Valid() bool
	Status() error
	SeekToFirst()
	SeekToLast()
	Next()
	Prev()
}) {
	t.Helper()
	i := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		i++
	}
	for it.SeekToLast(); it.Valid(); it.Prev() {
		i++
	}
	if i != 2*n || it.Status() != nil {
		t.Errorf("%d entries, not 2*%d (%v)", i, n, it.Status())
	}
}

func checkSums(t *testing.T, b *Block, size int, keys, values [][]byte) {
	t.Helper()
	if len(b.kvChecksum) != size*len(keys) {
		t.Fatalf("%d bytes of checksums for %d keys", len(b.kvChecksum), len(keys))
	}
	for i := range keys {
		if !verifyChecksum(b.kvChecksum[i*size:(i+1)*size], protectKV(keys[i], values[i])) {
			t.Fatalf("checksum %d", i)
		}
	}
}

func forDataChecksums(test func(p *blockParams, n int)) {
	for _, index := range []rocksdb.DataBlockIndexType{rocksdb.DataBlockBinarySearch, rocksdb.DataBlockBinaryAndHash} {
		for _, restart := range []int{1, 2, 3, 8, 16} {
			for _, delta := range []bool{false, true} {
				for _, intervals := range []int{1, 3, 16} {
					test(&blockParams{delta: delta, udt: udtModes[0], index: index, restart: restart}, intervals*restart)
				}
			}
		}
	}
}

func TestDataBlockKVChecksumTest_ChecksumConstructionAndVerification(t *testing.T) {
	for _, size := range []uint8{0, 1, 2, 4, 8} {
		forDataChecksums(func(p *blockParams, n int) {
			keys, values := randomKVs(0, n+1, 1, 24, 1, 0)
			b := p.build(keys[:n], values[:n])
			b.InitializeDataBlockProtectionInfo(size, testICmp)
			checkSums(t, b, int(size), keys[:n], values[:n])
			for _, seqno := range []uint64{dbformat.DisableGlobalSequenceNumber, 0} {
				it := b.NewDataIterator(testICmp, DataIterOptions{GlobalSeqno: seqno}, nil)
				checkWalks(t, n, it)
				it.SeekForGet(keys[n])
				if it.Status() != nil {
					t.Error(it.Status())
				}
				for name, seek := range map[string]func([]byte){"Seek": it.Seek, "SeekForPrev": it.SeekForPrev,
					"SeekForGet": func(k []byte) { it.SeekForGet(k) }} {
					if seek(keys[n/2]); !it.Valid() || !bytes.Equal(it.Value(), values[n/2]) || it.Status() != nil {
						t.Errorf("%s: %v", name, it.Status())
					}
				}
			}
		})
	}
}

func buildIndexBlock(restart int, valueDelta, firstKey bool, e *indexEntries) *Block {
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: restart, UseDeltaEncoding: true,
		UseValueDeltaEncoding: valueDelta, UniformCVThreshold: -1})
	for i := range e.handles {
		var prev *format.BlockHandle
		if valueDelta && i > 0 {
			prev = &e.handles[i-1]
		}
		addIndexEntry(b, e.separators[i], e.handles[i], prev, firstKey, e.firstKeys[i])
	}
	return readBlock(b.Finish())
}

func forIndexChecksums(sizes []uint8, test func(b *Block, e *indexEntries, size uint8, o IndexIterOptions)) {
	for _, size := range sizes {
		for _, restart := range []int{1, 3, 8, 16} {
			for _, valueDelta := range []bool{false, true} {
				for _, firstKey := range []bool{false, true} {
					for _, intervals := range []int{1, 3, 16} {
						for _, seqno := range []uint64{dbformat.DisableGlobalSequenceNumber, 10001} {
							e := randomIndexEntries(intervals*restart, 0, 12, 0, true)
							b := buildIndexBlock(restart, valueDelta, firstKey, &e)
							b.InitializeIndexBlockProtectionInfo(size, testICmp, !valueDelta, firstKey, true)
							test(b, &e, size, IndexIterOptions{GlobalSeqno: seqno, TotalOrderSeek: true, HaveFirstKey: firstKey,
								KeyIncludesSeq: true, ValueIsFull: !valueDelta})
						}
					}
				}
			}
		}
	}
}

func TestIndexBlockKVChecksumTest_ChecksumConstructionAndVerification(t *testing.T) {
	forIndexChecksums([]uint8{0, 1, 2, 4, 8}, func(b *Block, e *indexEntries, size uint8, o IndexIterOptions) {
		it := b.NewIndexIterator(testICmp, o, nil)
		var values [][]byte
		for it.SeekToFirst(); it.Valid(); it.Next() {
			values = append(values, bytes.Clone(it.RawValue()))
		}
		if len(values) != len(e.handles) {
			t.Fatalf("%d entries, not %d (%v)", len(values), len(e.handles), it.Status())
		}
		checkSums(t, b, int(size), e.separators, values)
		checkWalks(t, len(e.handles), it)
		if it.Seek(e.firstKeys[len(e.firstKeys)/2]); !it.Valid() || it.Status() != nil {
			t.Error(it.Status())
		}
	})
}

func TestMetaIndexBlockKVChecksumTest_ChecksumConstructionAndVerification(t *testing.T) {
	for _, size := range []uint8{0, 1, 2, 4, 8} {
		for _, n := range []int{1, 16} {
			keys, values := randomKVs(0, n, 1, 24, 1, 0)
			b := (&blockParams{delta: true, udt: udtModes[0], restart: 1}).build(keys, values)
			b.InitializeMetaIndexBlockProtectionInfo(size)
			checkSums(t, b, int(size), keys, values)
			it := b.NewMetaIterator(true)
			checkWalks(t, n, it)
			for _, seek := range []func([]byte){it.Seek, it.SeekForPrev} {
				if seek(keys[n/2]); !it.Valid() || !bytes.Equal(it.Value(), values[n/2]) || it.Status() != nil {
					t.Error(it.Status())
				}
			}
		}
	}
}

// noticed tells that a move ended in a corruption.
func noticed(t *testing.T, what string, valid bool, err error) {
	t.Helper()
	if valid || !rocksdb.IsCorruption(err) {
		t.Errorf("%s: valid %v, %v", what, valid, err)
	}
}

// corruptValues changes each value of a block in place.
func corruptValues(t *testing.T, b *Block, at int) {
	t.Helper()
	protection := b.protectionSize
	b.protectionSize = 0
	it := b.NewMetaIterator(true)
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		it.Value()[at]++
		n++
	}
	if n == 0 {
		t.Fatal(errors.New("no values"))
	}
	b.protectionSize = protection
}

func TestDataBlockKVChecksumCorruptionTest_CorruptEntry(t *testing.T) {
	for _, size := range []uint8{4, 8} {
		forDataChecksums(func(p *blockParams, n int) {
			keys, values := randomKVs(0, n, 1, 24, 1, 0)
			made := func() (*Block, *DataBlockIter) {
				b := p.build(keys, values)
				b.InitializeDataBlockProtectionInfo(size, testICmp)
				return b, b.NewDataIterator(testICmp, noSeqno(), nil)
			}
			k := keys[n/2]
			for name, move := range map[string]func(*DataBlockIter){
				"SeekToFirst": (*DataBlockIter).SeekToFirst, "SeekToLast": (*DataBlockIter).SeekToLast,
				"Seek":        func(it *DataBlockIter) { it.Seek(k) },
				"SeekForPrev": func(it *DataBlockIter) { it.SeekForPrev(k) },
				"SeekForGet":  func(it *DataBlockIter) { it.SeekForGet(k) },
			} {
				b, it := made()
				corruptValues(t, b, 10)
				move(it)
				noticed(t, name, it.Valid(), it.Status())
			}
			if n < 3 {
				return
			}
			for name, move := range map[string]func(*DataBlockIter){"Next": (*DataBlockIter).Next, "Prev": (*DataBlockIter).Prev} {
				b, it := made()
				if it.Seek(k); !it.Valid() || it.Status() != nil {
					t.Error(it.Status())
				}
				corruptValues(t, b, 10)
				move(it)
				noticed(t, name, it.Valid(), it.Status())
			}
		})
	}
}

func TestIndexBlockKVChecksumCorruptionTest_CorruptEntry(t *testing.T) {
	forIndexChecksums([]uint8{4, 8}, func(b *Block, e *indexEntries, _ uint8, o IndexIterOptions) {
		corrupt := func(delta byte) {
			protection := b.protectionSize
			b.protectionSize = 0
			it := b.NewIndexIterator(testICmp, o, nil)
			var values [][]byte
			for it.SeekToFirst(); it.Valid(); it.Next() {
				values = append(values, it.RawValue())
			}
			b.protectionSize = protection
			for _, v := range values {
				v[0] += delta
			}
			if len(values) == 0 {
				t.Fatal("no values")
			}
		}
		k := e.firstKeys[len(e.firstKeys)/2]
		for name, move := range map[string]func(*IndexBlockIter){"SeekToFirst": (*IndexBlockIter).SeekToFirst,
			"SeekToLast": (*IndexBlockIter).SeekToLast, "Seek": func(it *IndexBlockIter) { it.Seek(k) }} {
			it := b.NewIndexIterator(testICmp, o, nil)
			// The values cannot be found any more once they are changed.
			saved := bytes.Clone(b.contents.Data)
			corrupt(1)
			move(it)
			noticed(t, name, it.Valid(), it.Status())
			copy(b.contents.Data, saved)
		}
		if len(e.handles) < 3 {
			return
		}
		for name, move := range map[string]func(*IndexBlockIter){"Next": (*IndexBlockIter).Next, "Prev": (*IndexBlockIter).Prev} {
			it := b.NewIndexIterator(testICmp, o, nil)
			if it.Seek(k); !it.Valid() || it.Status() != nil {
				t.Error(it.Status())
			}
			saved := bytes.Clone(b.contents.Data)
			corrupt(1)
			move(it)
			noticed(t, name, it.Valid(), it.Status())
			copy(b.contents.Data, saved)
		}
	})
}

func TestMetaIndexBlockKVChecksumCorruptionTest_CorruptEntry(t *testing.T) {
	for _, size := range []uint8{4, 8} {
		for _, n := range []int{1, 3} {
			keys, values := randomKVs(0, n, 1, 24, 1, 0)
			made := func() (*Block, *MetaBlockIter) {
				b := (&blockParams{delta: true, udt: udtModes[0], restart: 1}).build(keys, values)
				b.InitializeMetaIndexBlockProtectionInfo(size)
				return b, b.NewMetaIterator(true)
			}
			k := keys[n/2]
			for name, move := range map[string]func(*MetaBlockIter){
				"SeekToFirst": (*MetaBlockIter).SeekToFirst, "SeekToLast": (*MetaBlockIter).SeekToLast,
				"Seek": func(it *MetaBlockIter) { it.Seek(k) }, "SeekForPrev": func(it *MetaBlockIter) { it.SeekForPrev(k) },
			} {
				b, it := made()
				corruptValues(t, b, 10)
				move(it)
				noticed(t, name, it.Valid(), it.Status())
			}
			if n < 3 {
				continue
			}
			for name, move := range map[string]func(*MetaBlockIter){"Next": (*MetaBlockIter).Next, "Prev": (*MetaBlockIter).Prev} {
				b, it := made()
				if it.Seek(k); !it.Valid() {
					t.Error(it.Status())
				}
				corruptValues(t, b, 10)
				move(it)
				noticed(t, name, it.Valid(), it.Status())
			}
		}
	}
}

// metaBlock is a block of four entries, and where its keys and values end.
func metaBlock(separated bool) (data []byte, keyEnd, valueEnd int) {
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 1, UseDeltaEncoding: true, IsUserKey: true,
		UseSeparatedKVStorage: separated, UniformCVThreshold: -1})
	for i := 1; i <= 4; i++ {
		b.Add([]byte(fmt.Sprintf("key%03d", i)), []byte(fmt.Sprintf("val%02d", i)), nil, false)
	}
	data = bytes.Clone(b.Finish())
	footer := 4
	if separated {
		footer = 8
	}
	valueEnd = len(data) - footer - 4*4
	keyEnd = valueEnd
	if separated {
		keyEnd = int(util.DecodeFixed32(data[len(data)-8:]))
	}
	return data, keyEnd, valueEnd
}

func TestMetaBlockEntryCorruptionTest_CorruptedKeyLengthPastKeyEnd(t *testing.T) {
	for _, separated := range []bool{false, true} {
		data, keyEnd, _ := metaBlock(separated)
		data[1] = byte(keyEnd) // of the first entry
		it := readBlock(data).NewMetaIterator(false)
		it.SeekToFirst()
		noticed(t, "key length", it.Valid(), it.Status())
	}
}

func TestMetaBlockEntryCorruptionTest_CorruptedValueLengthPastValueEnd(t *testing.T) {
	for _, separated := range []bool{false, true} {
		data, _, valueEnd := metaBlock(separated)
		data[2] = byte(valueEnd)
		it := readBlock(data).NewMetaIterator(false)
		it.SeekToFirst()
		noticed(t, "value length", it.Valid(), it.Status())
	}
}

func TestBlockTest_SeparatedKVInvalidValuesSectionOffset(t *testing.T) {
	b := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true,
		IndexType: rocksdb.DataBlockBinaryAndHash, DataBlockHashTableUtilRatio: 0.75, UseSeparatedKVStorage: true, UniformCVThreshold: -1})
	for i := range 5 {
		b.Add(dbformat.AppendInternalKey(nil, []byte(fmt.Sprintf("key%d", i)), uint64(100-i), dbformat.TypeValue),
			[]byte(fmt.Sprintf("value%d", i)), nil, false)
	}
	data := bytes.Clone(b.Finish())
	var f DataBlockFooter
	rest, err := f.DecodeFrom(data)
	if err != nil || !f.SeparatedKV {
		t.Fatal(f, err)
	}
	f.ValuesSectionOffset = uint32(len(data))
	blk := readBlock(f.AppendTo(bytes.Clone(rest)))
	if blk.Size() != 0 {
		t.Errorf("size %d", blk.Size())
	}
	it := blk.NewDataIterator(testICmp, noSeqno(), nil)
	if it.Valid() || it.Status() == nil || it.Status().Error() != "Corruption: bad block contents" {
		t.Errorf("valid %v, %v", it.Valid(), it.Status())
	}
}
