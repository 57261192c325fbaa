// No upstream twin: the block against a sorted slice, and against damage.

package block

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

var testICmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

func noSeqno() DataIterOptions {
	return DataIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber}
}

// checkAgainst compares all moves of it with keys and values.
func checkAgainst(t *rapid.T, it *DataBlockIter, keys, values [][]byte) {
	at := func(i int, what string) {
		t.Helper()
		if it.Status() != nil {
			t.Fatalf("%s: %v", what, it.Status())
		}
		if i < 0 || i >= len(keys) {
			if it.Valid() {
				t.Fatalf("%s: valid at %q, want the end", what, it.Key())
			}
			return
		}
		if !it.Valid() || !bytes.Equal(it.Key(), keys[i]) || !bytes.Equal(it.Value(), values[i]) {
			t.Fatalf("%s: valid %v, want entry %d", what, it.Valid(), i)
		}
	}
	it.SeekToFirst()
	for i := range keys {
		at(i, "Next")
		it.Next()
	}
	at(len(keys), "Next past the end")
	it.SeekToLast()
	for i := len(keys) - 1; i >= 0; i-- {
		at(i, "Prev")
		it.Prev()
	}
	at(-1, "Prev past the start")
	for n := 0; n < 30; n++ {
		k := keys[rapid.IntRange(0, len(keys)-1).Draw(t, "target")]
		target := bytes.Clone(k)
		if rapid.Bool().Draw(t, "near") {
			binary.LittleEndian.PutUint64(target[len(target)-8:], rapid.Uint64().Draw(t, "footer"))
		}
		first := len(keys)
		for i := range keys {
			if testICmp.Compare(keys[i], target) >= 0 {
				first = i
				break
			}
		}
		it.Seek(target)
		at(first, "Seek")
		pos := first
		for m := 0; m < 6 && it.Valid(); m++ {
			if rapid.Bool().Draw(t, "forward") {
				it.Next()
				pos++
			} else {
				it.Prev()
				pos--
			}
			at(pos, "a step after Seek")
		}
		last := first
		if first == len(keys) || !bytes.Equal(keys[first], target) {
			last--
		}
		it.SeekForPrev(target)
		at(last, "SeekForPrev")
	}
}

func TestBlockAgainstModel(t *testing.T) {
	var it DataBlockIter // reused, as a table iterator does
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		seen := map[string]bool{}
		var keys, values [][]byte
		r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
		for i := 0; i < n; i++ {
			k := fmt.Sprintf("%s%0*d", "prefix"[:r.Intn(7)], 1+r.Intn(4), r.Intn(500))
			seen[k] = true
		}
		for k := range seen {
			keys = append(keys, dbformat.AppendInternalKey(nil, []byte(k), uint64(1+r.Intn(100)), dbformat.TypeValue))
		}
		sortKeys(keys)
		for range keys {
			v := make([]byte, r.Intn(200))
			r.Read(v)
			values = append(values, v)
		}
		o := &BlockBuilderOptions{
			BlockRestartInterval:         rapid.SampledFrom([]int{1, 2, 3, 16}).Draw(t, "interval"),
			UseDeltaEncoding:             rapid.Bool().Draw(t, "delta"),
			UseSeparatedKVStorage:        rapid.Bool().Draw(t, "separated"),
			PersistUserDefinedTimestamps: true,
			UniformCVThreshold:           -1,
		}
		if rapid.Bool().Draw(t, "hash") {
			o.IndexType = rocksdb.DataBlockBinaryAndHash
		}
		b := NewBlockBuilder(o)
		for i := range keys {
			b.Add(keys[i], values[i], nil, false)
		}
		estimate := b.CurrentSizeEstimate()
		raw := b.Finish()
		if estimate != len(raw) {
			t.Fatalf("estimated %d bytes, %d written", estimate, len(raw))
		}
		blk := NewBlock(format.BorrowBlock(raw), 0, nil)
		if rapid.Bool().Draw(t, "protect") {
			blk.InitializeDataBlockProtectionInfo(rapid.SampledFrom([]uint8{1, 2, 4, 8}).Draw(t, "bytes"), testICmp)
		}
		checkAgainst(t, blk.NewDataIterator(testICmp, noSeqno(), &it), keys, values)
		for i := range keys {
			if !it.SeekForGet(keys[i]) || !it.Valid() || !bytes.Equal(it.Value(), values[i]) {
				t.Fatalf("SeekForGet of entry %d", i)
			}
		}
	})
}

func sortKeys(keys [][]byte) {
	for i := range keys {
		for j := i; j > 0 && testICmp.Compare(keys[j], keys[j-1]) < 0; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
}

// walk exercises an iterator over any bytes; it must end and not panic.
func walk(it interface {
	SeekToFirst()
	SeekToLast()
	Next()
	Prev()
	Seek([]byte)
	Valid() bool
	Status() error
}, limit int) {
	target := dbformat.AppendInternalKey(nil, []byte("key00010"), 5, dbformat.TypeValue)
	it.SeekToFirst()
	for n := 0; it.Valid() && n < limit; n++ {
		it.Next()
	}
	it.SeekToLast()
	for n := 0; it.Valid() && n < limit; n++ {
		it.Prev()
	}
	it.Seek(target)
	for n := 0; it.Valid() && n < 3; n++ {
		it.Prev()
	}
}

func FuzzBlock(f *testing.F) {
	for _, separated := range []bool{false, true} {
		b := NewBlockBuilder(&BlockBuilderOptions{
			BlockRestartInterval: 4, UseDeltaEncoding: true, UseSeparatedKVStorage: separated,
			PersistUserDefinedTimestamps: true, UniformCVThreshold: -1, IndexType: rocksdb.DataBlockBinaryAndHash,
		})
		for i := 0; i < 20; i++ {
			b.Add(dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "key%05d", i), 5, dbformat.TypeValue),
				[]byte("\x05\x08value"), nil, false)
		}
		f.Add(b.Finish())
	}
	f.Fuzz(func(t *testing.T, raw []byte) { readAnything(raw) })
}

func readAnything(raw []byte) {
	blk := NewBlock(format.BorrowBlock(raw), 0, nil)
	limit := len(raw) + 10
	d := blk.NewDataIterator(testICmp, noSeqno(), nil)
	walk(d, limit)
	d.SeekForGet(dbformat.AppendInternalKey(nil, []byte("key00011"), 5, dbformat.TypeValue))
	walk(blk.NewMetaIterator(false), limit)
	for flags := 0; flags < 16; flags++ {
		o := IndexIterOptions{
			GlobalSeqno: dbformat.DisableGlobalSequenceNumber, TotalOrderSeek: true,
			HaveFirstKey: flags&1 != 0, KeyIncludesSeq: flags&2 != 0, ValueIsFull: flags&4 != 0,
		}
		if flags&8 != 0 {
			o.SearchType = rocksdb.BlockSearchInterpolation
			o.GlobalSeqno = 7
		}
		walk(blk.NewIndexIterator(testICmp, o, nil), limit)
	}
	blk.InitializeDataBlockProtectionInfo(8, testICmp)
}

func TestDamagedBlocks(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	for _, separated := range []bool{false, true} {
		b := NewBlockBuilder(&BlockBuilderOptions{
			BlockRestartInterval: 4, UseDeltaEncoding: true, UseSeparatedKVStorage: separated,
			PersistUserDefinedTimestamps: true, UniformCVThreshold: -1, IndexType: rocksdb.DataBlockBinaryAndHash,
		})
		for i := 0; i < 30; i++ {
			b.Add(dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "key%05d", i), 5, dbformat.TypeValue),
				bytes.Repeat([]byte{3, 4, 9}, r.Intn(60)), nil, false)
		}
		raw := b.Finish()
		for n := 0; n < 20000; n++ {
			bad := bytes.Clone(raw)
			for m := r.Intn(4); m >= 0; m-- {
				bad[r.Intn(len(bad))] = byte(r.Intn(256))
			}
			if r.Intn(4) == 0 {
				bad = bad[:r.Intn(len(bad))]
			}
			readAnything(bad)
		}
	}
}

func BenchmarkDataBlockIter(b *testing.B) {
	bb := NewBlockBuilder(&BlockBuilderOptions{
		BlockRestartInterval: 16, UseDeltaEncoding: true, PersistUserDefinedTimestamps: true, UniformCVThreshold: -1,
	})
	var keys [][]byte
	for i := 0; bb.CurrentSizeEstimate() < 4096; i++ {
		k := dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "%016d", 3*i), 5, dbformat.TypeValue)
		keys = append(keys, k)
		bb.Add(k, bytes.Repeat([]byte("v"), 20), nil, false)
	}
	blk := NewBlock(format.BorrowBlock(bb.Finish()), 0, nil)
	it := blk.NewDataIterator(testICmp, noSeqno(), nil)
	b.Run("Seek", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			it.Seek(keys[i*7919%len(keys)])
		}
	})
	b.Run("Next", func(b *testing.B) {
		b.ReportAllocs()
		it.SeekToFirst()
		for b.Loop() {
			if it.Next(); !it.Valid() {
				it.SeekToFirst()
			}
		}
	})
}
