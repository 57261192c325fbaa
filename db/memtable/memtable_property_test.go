// No upstream twin: lookups and walks against a plain list of the writes.

package memtable

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/util"
	"pgregory.net/rapid"
)

type modelWrite struct {
	seq        uint64
	t          dbformat.ValueType
	key, value string
}

// modelGet answers as get does, by going through all writes backwards.
func modelGet(writes []modelWrite, seq uint64, key string) string {
	covering := uint64(0)
	for _, w := range writes {
		if w.t == dbformat.TypeRangeDeletion && w.seq <= seq && w.key <= key && key < w.value {
			covering = max(covering, w.seq)
		}
	}
	var operands []string
	join := func(base string) string {
		slices.Reverse(operands)
		s := base
		for _, o := range operands {
			if s != "" {
				s += ","
			}
			s += o
		}
		return s
	}
	for i := len(writes) - 1; i >= 0; i-- {
		w := writes[i]
		if w.key != key || w.seq > seq || w.t == dbformat.TypeRangeDeletion {
			continue
		}
		if w.seq < covering {
			w.t = dbformat.TypeDeletion
		}
		switch w.t {
		case dbformat.TypeMerge:
			operands = append(operands, w.value)
		case dbformat.TypeValue:
			return join(w.value)
		default:
			if operands == nil {
				return "NOT_FOUND"
			}
			return join("")
		}
	}
	if operands != nil {
		slices.Reverse(operands)
		return fmt.Sprintf("MERGE(%s)", joinComma(operands))
	}
	return "" // also where a tombstone covers: the caller sees its sequence number
}

func joinComma(s []string) string {
	b := make([][]byte, len(s))
	for i := range s {
		b[i] = []byte(s[i])
	}
	return string(bytes.Join(b, []byte(",")))
}

func TestMemTableProperties(t *testing.T) {
	factories := []rocksdb.MemTableRepFactory{
		rep.NewSkipListFactory(0), rep.NewSkipListFactory(2), rep.NewVectorRepFactory(0),
		rep.NewHashSkipListRepFactory(8, 0, 0), &rep.HashLinkListRepFactory{BucketCount: 8, ThresholdUseSkiplist: 4},
	}
	rapid.Check(t, func(rt *rapid.T) {
		factory := rapid.SampledFrom(factories).Draw(rt, "factory")
		bloom := rapid.Bool().Draw(rt, "bloom")
		whole := rapid.Bool().Draw(rt, "whole key")
		protection := rapid.SampledFrom([]uint32{0, 1, 8}).Draw(rt, "protection")
		m := newTestTable(t, func(o *rocksdb.ColumnFamilyOptions) {
			o.MemtableFactory = factory
			o.PrefixExtractor = util.NewFixedPrefixTransform(1)
			if bloom {
				o.MemtablePrefixBloomSizeRatio, o.MemtableWholeKeyFiltering = 0.01, whole
			}
			o.WriteBufferSize = 64 << 10
			o.MemtableProtectionBytesPerKey = protection
		})
		key := rapid.StringMatching(`[abc]{1,2}`)
		var writes []modelWrite
		n := rapid.IntRange(0, 60).Draw(rt, "writes")
		for i := range n {
			w := modelWrite{seq: uint64(i + 1), key: key.Draw(rt, "key"), value: fmt.Sprint("v", i)}
			w.t = rapid.SampledFrom([]dbformat.ValueType{dbformat.TypeValue, dbformat.TypeValue, dbformat.TypeMerge,
				dbformat.TypeDeletion, dbformat.TypeSingleDeletion, dbformat.TypeRangeDeletion}).Draw(rt, "type")
			switch w.t {
			case dbformat.TypeDeletion, dbformat.TypeSingleDeletion:
				w.value = ""
			case dbformat.TypeRangeDeletion:
				if w.value = key.Draw(rt, "end"); w.value < w.key {
					w.key, w.value = w.value, w.key
				}
			}
			if err := m.Add(w.seq, w.t, []byte(w.key), []byte(w.value), false, nil, nil); err != nil {
				rt.Fatal(err)
			}
			writes = append(writes, w)
		}
		for range 40 {
			k, seq := key.Draw(rt, "lookup"), uint64(rapid.IntRange(0, n+1).Draw(rt, "at"))
			if got, want := get(m, seq, k), modelGet(writes, seq, k); got != want {
				rt.Fatalf("Get(%q at %d) = %q, want %q", k, seq, got, want)
			}
		}
		checkModelWalk(rt, m, writes)
	})
}

// checkModelWalk compares an iterator over everything with the sorted writes.
func checkModelWalk(t *rapid.T, m *MemTable, writes []modelWrite) {
	var keys [][]byte
	tombstones := uint64(0)
	for _, w := range writes {
		if w.t == dbformat.TypeRangeDeletion {
			tombstones++
			continue
		}
		keys = append(keys, dbformat.NewInternalKey([]byte(w.key), w.seq, w.t))
	}
	slices.SortFunc(keys, m.icmp.Compare)
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	it := m.NewIterator(&ro, m.prefixExtractor, nil)
	i := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		if i == len(keys) || !bytes.Equal(it.Key(), keys[i]) {
			t.Fatalf("entry %d is %q", i, it.Key())
		}
		i++
	}
	if i != len(keys) || it.Status() != nil {
		t.Fatalf("%d of %d entries, %v", i, len(keys), it.Status())
	}
	if m.NumEntries() != uint64(len(writes)) || m.NumRangeDeletion() != tombstones {
		t.Fatalf("counters: %d entries, %d tombstones", m.NumEntries(), m.NumRangeDeletion())
	}
}
