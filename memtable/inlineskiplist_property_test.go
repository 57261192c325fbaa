// No upstream twin: keys of all shapes against a sorted slice. The comparison
// of first bytes has its edges at user keys under 8 bytes, at zero bytes (the
// padding) and at internal keys of 128 bytes and more (a longer length).

package memtable

import (
	"bytes"
	"slices"
	"sort"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/util"
	"pgregory.net/rapid"
)

func drawUserKey(t *rapid.T) []byte {
	alphabet := rapid.SampledFrom([]byte{0, 1, 'a', 0xff})
	n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(6, 10), rapid.IntRange(118, 122)).Draw(t, "length")
	key := make([]byte, n)
	if n > 0 {
		copy(key[max(n-2, 0):], rapid.SliceOfN(alphabet, min(n, 2), min(n, 2)).Draw(t, "end"))
		key[0] = alphabet.Draw(t, "start")
	}
	return key
}

func TestInlineSkipListProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cmp := rapid.SampledFrom([]rocksdb.Comparator{util.BytewiseComparator(), util.ReverseBytewiseComparator()}).Draw(t, "order")
		icmp := dbformat.NewInternalKeyComparator(cmp)
		arena := memory.NewConcurrentArena(4096, nil, 0)
		defer arena.Free()
		l := NewInlineSkipList(icmp, arena, rapid.IntRange(1, 12).Draw(t, "height"), rapid.IntRange(2, 5).Draw(t, "branching"))
		var model [][]byte
		find := func(key []byte) (int, bool) {
			i := sort.Search(len(model), func(i int) bool { return icmp.CompareKeySeq(model[i], key) >= 0 })
			return i, i < len(model) && icmp.CompareKeySeq(model[i], key) == 0
		}
		var hints [2]Splice
		drawKey := func() []byte {
			return dbformat.NewInternalKey(drawUserKey(t), rapid.Uint64Range(1, 4).Draw(t, "seq"), dbformat.TypeValue)
		}
		check := func(it *InlineSkipListIterator, i int, what string) {
			if it.Valid() != (i >= 0 && i < len(model)) || it.Valid() && !bytes.Equal(EntryKey(it.Key()), model[i]) {
				t.Fatalf("%s: valid %v, index %d of %d", what, it.Valid(), i, len(model))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				key := drawKey()
				user := dbformat.ExtractUserKey(key)
				e, buf := l.AllocateKey(EncodedLength(len(key), 1))
				EncodeEntry(buf, user, dbformat.ExtractInternalKeyFooter(key), []byte("v"))
				var ok bool
				switch form := rapid.IntRange(0, 5).Draw(t, "form"); form {
				case 0, 1:
					ok = l.InsertWithHint(e, &hints[form])
				case 2:
					ok = l.InsertConcurrently(e)
				case 3:
					ok = l.InsertWithHintConcurrently(e, &hints[0])
				default:
					ok = l.Insert(e)
				}
				i, there := find(key)
				if ok == there {
					t.Fatalf("insert of %q says %v", key, ok)
				}
				if !there {
					model = slices.Insert(model, i, key)
				}
			},
			"look up": func(t *rapid.T) {
				key := drawKey()
				i, there := find(key)
				if l.Contains(key) != there {
					t.Fatalf("Contains(%q) is %v", key, !there)
				}
				it := l.NewIterator()
				it.Seek(key)
				check(&it, i, "Seek")
				if it.Valid() {
					it.Next()
					check(&it, i+1, "Next")
				}
				if !there {
					i--
				}
				it.SeekForPrev(key)
				check(&it, i, "SeekForPrev")
				if it.Valid() {
					it.Prev()
					check(&it, i-1, "Prev")
				}
			},
			"look up several": func(t *rapid.T) {
				keys := [][]byte{drawKey(), drawKey(), drawKey(), drawKey()}
				slices.SortFunc(keys, icmp.CompareKeySeq)
				c := &firstKeys{found: make([][]byte, len(keys))}
				if err := l.MultiGet(keys, c, true, true, nil); err != nil {
					t.Fatal(err)
				}
				for j, key := range keys {
					i, _ := find(key)
					if (i < len(model)) != (c.found[j] != nil) || c.found[j] != nil && !bytes.Equal(c.found[j], model[i]) {
						t.Fatalf("MultiGet of %q finds %q", key, c.found[j])
					}
				}
			},
			"": func(t *rapid.T) {
				if err := l.TestValidate(); err != nil {
					t.Fatal(err)
				}
			},
		})
		it := l.NewIterator()
		it.SeekToLast()
		check(&it, len(model)-1, "SeekToLast")
		it.SeekToFirst()
		for i := range model {
			check(&it, i, "walk")
			it.Next()
		}
		check(&it, len(model), "end")
	})
}

// firstKeys notes the first key found for each lookup.
type firstKeys struct{ found [][]byte }

func (f *firstKeys) VisitEntry(i int, e KeyHandle) bool {
	f.found[i] = EntryKey(e)
	return false
}
