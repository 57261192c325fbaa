// No upstream twin: the builder against an encoder that keeps nothing from one
// entry or block to the next, and what is read back against the sorted entries.

package block

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

type builderEntry struct {
	key, value, delta []byte
	skip              bool
}

// referenceBlock encodes entries by the letter of the format. hashOff tells that
// an earlier block has turned the hash index off.
func referenceBlock(o *BlockBuilderOptions, entries []builderEntry, hashOff *bool) []byte {
	var out, values []byte
	var restarts []uint32
	var restartKeys [][]byte
	for i, e := range entries {
		key, first := strippedOf(o, e.key), i%o.BlockRestartInterval == 0
		shared := 0
		if !first && o.UseDeltaEncoding && !e.skip {
			last := strippedOf(o, entries[i-1].key)
			for shared < min(len(key), len(last)) && key[shared] == last[shared] {
				shared++
			}
		}
		if first {
			restarts, restartKeys = append(restarts, uint32(len(out))), append(restartKeys, key)
		}
		out = binary.AppendUvarint(out, uint64(shared))
		out = binary.AppendUvarint(out, uint64(len(key)-shared))
		if !o.UseValueDeltaEncoding {
			out = binary.AppendUvarint(out, uint64(len(e.value)))
		}
		if o.UseSeparatedKVStorage && first {
			out = binary.AppendUvarint(out, uint64(len(values)))
		}
		out = append(out, key[shared:]...)
		value := e.value
		if o.UseValueDeltaEncoding && shared > 0 {
			value = e.delta
		}
		if o.UseSeparatedKVStorage {
			values = append(values, value...)
		} else {
			out = append(out, value...)
		}
	}
	if len(restarts) == 0 {
		restarts = []uint32{0}
	}
	valuesAt, flags := uint32(len(out)), uint32(len(restarts))
	out = append(out, values...)
	for _, r := range restarts {
		out = binary.LittleEndian.AppendUint32(out, r)
	}
	if o.IndexType == rocksdb.DataBlockBinaryAndHash {
		*hashOff = *hashOff || len(restarts)-1 > MaxRestartSupportedByHashIndex
		buckets := referenceHashIndex(o, entries)
		size := len(out) + len(buckets) + 4
		if o.UseSeparatedKVStorage {
			size += 4
		}
		if !*hashOff && size <= MaxBlockSizeSupportedByHashIndex {
			out, flags = append(out, buckets...), flags|1<<31
		}
	}
	if o.UseSeparatedKVStorage {
		out, flags = binary.LittleEndian.AppendUint32(out, valuesAt), flags|1<<28
	}
	if o.UniformCVThreshold >= 0 && referenceUniform(o, restartKeys) {
		flags |= 1 << 29
	}
	return binary.LittleEndian.AppendUint32(out, flags)
}

func strippedOf(o *BlockBuilderOptions, key []byte) []byte {
	if o.TSSize == 0 || o.PersistUserDefinedTimestamps {
		return key
	}
	if o.IsUserKey {
		return key[:len(key)-o.TSSize]
	}
	user := len(key) - 8
	return append(slices.Clone(key[:user-o.TSSize]), key[user:]...)
}

func referenceHashIndex(o *BlockBuilderOptions, entries []builderEntry) []byte {
	buckets := 0.0
	for range entries {
		buckets += 1 / o.DataBlockHashTableUtilRatio
	}
	out := bytes.Repeat([]byte{NoEntry}, int(uint16(buckets)|1))
	for i, e := range entries {
		at := &out[util.GetSliceHash(e.key[:len(e.key)-8])%uint32(len(out))]
		restart := i / o.BlockRestartInterval
		if *at != NoEntry && *at != uint8(restart) {
			restart = int(Collision)
		}
		*at = uint8(restart)
	}
	return binary.LittleEndian.AppendUint16(out, uint16(len(out)))
}

// referenceUniform takes mean and deviation in two passes.
func referenceUniform(o *BlockBuilderOptions, keys [][]byte) bool {
	n := len(keys)
	if n < 3 {
		return false
	}
	prefix := 0
	for a, b := keys[0], keys[n-1]; prefix < min(len(a), len(b)) && a[prefix] == b[prefix]; prefix++ {
	}
	number := func(k []byte) uint64 {
		if !o.IsUserKey {
			k = k[:len(k)-8]
		}
		var b [8]byte
		copy(b[:], k[min(prefix, len(k)):])
		return binary.BigEndian.Uint64(b[:])
	}
	var gaps []float64
	mean := 0.0
	for i := 1; i < n; i++ {
		gaps = append(gaps, float64(number(keys[i])-number(keys[i-1])))
		mean += gaps[i-1] / float64(n-1)
	}
	if mean <= 0 {
		return false
	}
	variance := 0.0
	for _, g := range gaps {
		variance += (g - mean) * (g - mean) / float64(n-1)
	}
	return math.Sqrt(variance)/mean < o.UniformCVThreshold
}

// drawUserKeys are sorted and distinct, often with long common prefixes.
func drawUserKeys(t *rapid.T, r *rand.Rand, most int) [][]byte {
	prefixes := [][]byte{nil, []byte("p"), bytes.Repeat([]byte("prefix"), 3), bytes.Repeat([]byte{0xff}, 130)}
	var keys [][]byte
	even := rapid.Bool().Draw(t, "even")
	for i := range rapid.IntRange(1, most).Draw(t, "entries") {
		if even {
			keys = append(keys, binary.BigEndian.AppendUint32([]byte("even"), uint32(i)*1000))
			continue
		}
		k := slices.Clone(prefixes[r.Intn(len(prefixes))])
		for range r.Intn(4) {
			k = append(k, "\x00ab\xff"[r.Intn(4)])
		}
		keys = append(keys, k)
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// checkBuilder builds a few blocks with one builder, each compared with the
// reference, and reads each back by read.
func checkBuilder(t *rapid.T, o *BlockBuilderOptions, draw func(*rand.Rand) []builderEntry, read func(*Block, []builderEntry)) {
	b := NewBlockBuilder(o)
	r := rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed")))
	var hashOff bool
	var handed, handedWant, spare []byte
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		entries := draw(r)
		lastKeyGiven := rapid.Bool().Draw(t, "AddWithLastKey")
		lastKey := []byte("ignored at the first entry")
		for _, e := range entries {
			k, v, d := slices.Clone(e.key), slices.Clone(e.value), slices.Clone(e.delta)
			if lastKeyGiven {
				b.AddWithLastKey(k, v, lastKey, d, e.skip)
			} else {
				b.Add(k, v, d, e.skip)
			}
			lastKey = append(lastKey[:0], e.key...)
			for _, used := range [][]byte{k, v, d} { // the caller's again
				clear(used)
			}
		}
		if b.Empty() != (len(entries) == 0) {
			t.Fatalf("empty: %v after %d entries", b.Empty(), len(entries))
		}
		estimate := b.CurrentSizeEstimate()
		raw, want := b.Finish(), referenceBlock(o, entries, &hashOff)
		if !bytes.Equal(raw, want) {
			t.Fatalf("%d bytes, want %d:\n%x\n%x", len(raw), len(want), raw, want)
		}
		if estimate != len(want) && len(want) <= MaxBlockSizeSupportedByHashIndex-2 {
			t.Fatalf("estimated %d bytes of %d", estimate, len(want))
		}
		if len(entries) > 0 {
			read(NewBlock(format.BorrowBlock(slices.Clone(raw)), 0, nil), entries)
		}
		if !bytes.Equal(handed, handedWant) {
			t.Fatal("a block handed over has changed")
		}
		switch rapid.IntRange(0, 3).Draw(t, "end") {
		case 0:
			handed, handedWant = b.SwapAndReset(nil), want
			if len(want) > 0 && cap(b.buffer) < min(len(want), max(b.maxReserve, 1)) {
				t.Fatalf("%d bytes reserved after a block of %d", cap(b.buffer), len(want))
			}
		case 1:
			spare = b.SwapAndReset(spare[:0])
		default:
			b.Reset()
		}
	}
}

func drawBuilderOptions(t *rapid.T) *BlockBuilderOptions {
	return &BlockBuilderOptions{
		BlockRestartInterval:         rapid.SampledFrom([]int{1, 2, 3, 16, 100}).Draw(t, "interval"),
		UseDeltaEncoding:             rapid.Bool().Draw(t, "delta"),
		UseSeparatedKVStorage:        rapid.Bool().Draw(t, "separated"),
		PersistUserDefinedTimestamps: true,
		UniformCVThreshold:           -1,
		ReserveSize:                  rapid.SampledFrom([]int{0, 64, 5000}).Draw(t, "reserve"),
	}
}

func TestBlockBuilderAgainstReference_Data(t *testing.T) {
	var it DataBlockIter
	rapid.Check(t, func(t *rapid.T) {
		o := drawBuilderOptions(t)
		if rapid.Bool().Draw(t, "hash") {
			o.IndexType = rocksdb.DataBlockBinaryAndHash
			o.DataBlockHashTableUtilRatio = rapid.SampledFrom([]float64{0.3, 0.75, 1}).Draw(t, "ratio")
		}
		udt := &udtModes[0]
		if o.IndexType == rocksdb.DataBlockBinarySearch {
			udt = &udtModes[rapid.IntRange(0, len(udtModes)-1).Draw(t, "timestamps")]
		}
		o.TSSize, o.PersistUserDefinedTimestamps = udt.icmp.TimestampSize(), udt.persist
		most := rapid.SampledFrom([]int{1, 60, 400}).Draw(t, "most")
		longest := rapid.SampledFrom([]int{0, 130, 1000}).Draw(t, "longest value")
		draw := func(r *rand.Rand) (entries []builderEntry) {
			for _, u := range drawUserKeys(t, r, most) {
				value := make([]byte, r.Intn(longest+1))
				r.Read(value)
				u = append(u, make([]byte, o.TSSize)...)
				key := dbformat.AppendInternalKey(nil, u, uint64(r.Intn(1000)), dbformat.TypeValue)
				entries = append(entries, builderEntry{key: key, value: value, skip: r.Intn(8) == 0})
			}
			return entries
		}
		checkBuilder(t, o, draw, func(blk *Block, entries []builderEntry) {
			keys, values := make([][]byte, len(entries)), make([][]byte, len(entries))
			for i, e := range entries {
				keys[i], values[i] = e.key, e.value
			}
			io := noSeqno()
			io.PadMinTimestamp = udt.stripped()
			if blk.NewDataIterator(udt.icmp, io, &it); o.TSSize == 0 {
				checkAgainst(t, &it, keys, values)
				return
			}
			it.SeekToFirst()
			for i := range keys {
				if !it.Valid() || !bytes.Equal(it.Key(), keys[i]) || !bytes.Equal(it.Value(), values[i]) {
					t.Fatalf("entry %d is not read (%v)", i, it.Status())
				}
				it.Next()
			}
		})
	})
}

func TestBlockBuilderAgainstReference_Index(t *testing.T) {
	var it IndexBlockIter
	rapid.Check(t, func(t *rapid.T) {
		o := drawBuilderOptions(t)
		o.IsUserKey = rapid.Bool().Draw(t, "user keys")
		o.UseValueDeltaEncoding = rapid.Bool().Draw(t, "value delta")
		o.UseDeltaEncoding = o.UseDeltaEncoding || o.UseValueDeltaEncoding
		o.UniformCVThreshold = rapid.SampledFrom([]float64{-1, 0.2, 1000}).Draw(t, "uniform")
		withFirst := rapid.Bool().Draw(t, "first keys")
		var handles []format.BlockHandle
		draw := func(r *rand.Rand) (entries []builderEntry) {
			handles = handles[:0]
			var at uint64
			for i, u := range drawUserKeys(t, r, 80) {
				// A handle after a gap cannot be a difference from the one before.
				gap := i > 0 && r.Intn(8) == 0
				if gap {
					at += 100
				}
				v := format.IndexValue{Handle: format.BlockHandle{Offset: at, Size: uint64(r.Intn(20000))}}
				if withFirst {
					v.FirstInternalKey = dbformat.AppendInternalKey(nil, u, 7, dbformat.TypeValue)
				}
				e := builderEntry{key: u, value: v.AppendTo(nil, withFirst, nil), skip: gap}
				if i > 0 && !gap {
					e.delta = v.AppendTo(nil, withFirst, &handles[i-1])
				}
				if !o.IsUserKey {
					e.key = dbformat.AppendInternalKey(nil, u, uint64(r.Intn(1000)), dbformat.TypeValue)
				}
				handles, entries = append(handles, v.Handle), append(entries, e)
				at += v.Handle.Size + format.BlockTrailerSize
			}
			return entries
		}
		io := IndexIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber, TotalOrderSeek: true, HaveFirstKey: withFirst,
			KeyIncludesSeq: !o.IsUserKey, ValueIsFull: !o.UseValueDeltaEncoding,
			SearchType: rapid.SampledFrom([]rocksdb.BlockSearchType{rocksdb.BlockSearchBinary, rocksdb.BlockSearchInterpolation,
				rocksdb.BlockSearchAuto}).Draw(t, "search")}
		checkBuilder(t, o, draw, func(blk *Block, entries []builderEntry) {
			blk.NewIndexIterator(testICmp, io, &it)
			at := func(i int, what string) {
				if i < 0 || i >= len(entries) {
					if it.Valid() || it.Status() != nil {
						t.Fatalf("%s: valid %v, %v, want the end", what, it.Valid(), it.Status())
					}
				} else if !it.Valid() || !bytes.Equal(it.Key(), entries[i].key) || it.Value().Handle != handles[i] {
					t.Fatalf("%s: valid %v (%v), want entry %d", what, it.Valid(), it.Status(), i)
				}
			}
			it.SeekToFirst()
			for i := 0; i <= len(entries); i++ {
				if at(i, "Next"); it.Valid() {
					it.Next()
				}
			}
			it.SeekToLast()
			for i := len(entries) - 1; i >= -1; i-- {
				if at(i, "Prev"); it.Valid() {
					it.Prev()
				}
			}
			for range 20 {
				i := rapid.IntRange(0, len(entries)-1).Draw(t, "target")
				target := entries[i].key
				if o.IsUserKey {
					target = dbformat.AppendInternalKey(nil, target, 9, dbformat.TypeValue)
				}
				it.Seek(target)
				at(i, "Seek")
			}
		})
	})
}

func TestBlockBuilderAgainstReference_Meta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawBuilderOptions(t)
		draw := func(r *rand.Rand) (entries []builderEntry) {
			for _, u := range drawUserKeys(t, r, 60) {
				value := make([]byte, r.Intn(40))
				r.Read(value)
				entries = append(entries, builderEntry{key: u, value: value})
			}
			return entries
		}
		checkBuilder(t, o, draw, func(blk *Block, entries []builderEntry) {
			it := blk.NewMetaIterator(false)
			at := func(i int, what string) {
				if it.Valid() != (i >= 0 && i < len(entries)) || it.Status() != nil {
					t.Fatalf("%s: valid %v, %v, entry %d of %d", what, it.Valid(), it.Status(), i, len(entries))
				}
				if it.Valid() && (!bytes.Equal(it.Key(), entries[i].key) || !bytes.Equal(it.Value(), entries[i].value)) {
					t.Fatalf("%s: at %q, want entry %d", what, it.Key(), i)
				}
			}
			it.SeekToFirst()
			for i := 0; i <= len(entries); i++ {
				if at(i, "Next"); it.Valid() {
					it.Next()
				}
			}
			for range 20 {
				target := append(slices.Clone(entries[rapid.IntRange(0, len(entries)-1).Draw(t, "target")].key), "\x00a"[:rapid.IntRange(0, 2).Draw(t, "more")]...)
				first, found := slices.BinarySearchFunc(entries, target, func(e builderEntry, k []byte) int { return bytes.Compare(e.key, k) })
				it.Seek(target)
				at(first, "Seek")
				if !found {
					first--
				}
				it.SeekForPrev(target)
				at(first, "SeekForPrev")
				for first >= 0 {
					it.Prev()
					first--
					at(first, "Prev")
				}
			}
		})
	})
}
