// No upstream twin: upstream tests its containers through databases
// (db/db_memtable_test.cc, db/prefix_test.cc); these cases need none.

package memtable

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memory"
	"github.com/rocksdb-go/rocksdb/util"
)

func allFactories() []MemTableRepFactory {
	link := NewHashLinkListRepFactory(16)
	link.ThresholdUseSkiplist = 5 // so that both kinds of bucket occur
	return []MemTableRepFactory{
		NewSkipListFactory(0), NewSkipListFactory(5), NewVectorRepFactory(10),
		NewHashSkipListRepFactory(16, 0, 0), link,
	}
}

func addEntry(r MemTableRep, user string, seq uint64) bool {
	e, buf := r.Allocate(EncodedLength(len(user)+8, 1))
	EncodeEntry(buf, []byte(user), dbformat.PackSequenceAndType(seq, dbformat.TypeValue), []byte("v"))
	return r.Insert(e)
}

// collector gathers the entries of one user key.
type collector struct {
	user []byte
	seqs []uint64
}

func (c *collector) VisitEntry(_ int, e KeyHandle) bool {
	key := EntryKey(e)
	if !bytes.Equal(dbformat.ExtractUserKey(key), c.user) {
		return false
	}
	c.seqs = append(c.seqs, dbformat.GetInternalKeySeqno(key))
	return true
}

// TestContainersAgainstModel fills each container and compares lookups and
// iterators with a sorted slice.
func TestContainersAgainstModel(t *testing.T) {
	for _, f := range allFactories() {
		t.Run(f.ID(), func(t *testing.T) {
			arena := memory.NewConcurrentArena(64<<10, nil, 0)
			defer arena.Free()
			icmp := dbformat.NewInternalKeyComparator(util.BytewiseComparator())
			r := f.CreateMemTableRep(icmp, arena, util.NewFixedPrefixTransform(2), nil)
			rnd := rand.New(rand.NewSource(3))
			var model [][]byte
			for seq := uint64(1); seq <= 600; seq++ {
				user := fmt.Sprintf("%02d%02d", rnd.Intn(40), rnd.Intn(10))
				if seq%50 == 0 {
					user = "x" // has no prefix of two bytes
				}
				if !addEntry(r, user, seq) {
					t.Fatalf("%s at %d is a duplicate", user, seq)
				}
				model = append(model, dbformat.NewInternalKey([]byte(user), seq, dbformat.TypeValue))
			}
			slices.SortFunc(model, icmp.Compare)
			r.MarkReadOnly()

			it := r.NewIterator()
			i := 0
			for it.SeekToFirst(); it.Valid(); it.Next() {
				if !bytes.Equal(EntryKey(it.Key()), model[i]) {
					t.Fatalf("entry %d", i)
				}
				i++
			}
			if i != len(model) {
				t.Fatalf("%d entries", i)
			}
			for it.SeekToLast(); it.Valid(); it.Prev() {
				i--
				if !bytes.Equal(EntryKey(it.Key()), model[i]) {
					t.Fatalf("backwards at entry %d", i)
				}
			}
			if i != 0 {
				t.Fatalf("%d entries left", i)
			}
			checkLookups(t, r, icmp, model)
		})
	}
}

func checkLookups(t *testing.T, r MemTableRep, icmp *dbformat.InternalKeyComparator, model [][]byte) {
	t.Helper()
	prefix := r.NewDynamicPrefixIterator()
	for i, key := range model {
		if !r.Contains(key) {
			t.Fatalf("%q is missing", key)
		}
		user := dbformat.ExtractUserKey(key)
		c := collector{user: user}
		r.Get(dbformat.NewLookupKey(user, dbformat.MaxSequenceNumber, nil).InternalKey(), &c)
		var want []uint64
		for _, k := range model {
			if bytes.Equal(dbformat.ExtractUserKey(k), user) {
				want = append(want, dbformat.GetInternalKeySeqno(k))
			}
		}
		if !slices.Equal(c.seqs, want) {
			t.Fatalf("%q: %v, want %v", user, c.seqs, want)
		}
		// Within a prefix the iterator goes on in order.
		prefix.Seek(key)
		for j := i; j < len(model) && bytes.Equal(model[j][:1], key[:1]) && bytes.Equal(model[j][:2], key[:2]); j++ {
			if !prefix.Valid() || icmp.CompareKeySeq(EntryKey(prefix.Key()), model[j]) > 0 {
				t.Fatalf("prefix iterator from %q misses %q", key, model[j])
			}
			// Another prefix of the same bucket may come in between.
			for prefix.Valid() && icmp.CompareKeySeq(EntryKey(prefix.Key()), model[j]) < 0 {
				prefix.Next()
			}
			prefix.Next()
		}
	}
	absent := dbformat.NewInternalKey([]byte("9999"), 1, dbformat.TypeValue)
	if r.Contains(absent) {
		t.Fatal("contains what was never inserted")
	}
	var c collector
	if r.Get(absent, &c); len(c.seqs) != 0 {
		t.Fatal("found what was never inserted")
	}
}

func TestFactory(t *testing.T) {
	for id, f := range map[string]MemTableRepFactory{
		"SkipListFactory": NewSkipListFactory(0), "SkipListFactory:16": NewSkipListFactory(16),
		"VectorRepFactory": NewVectorRepFactory(0), "HashSkipListRepFactory": NewHashSkipListRepFactory(0, 0, 0),
		"HashLinkListRepFactory": NewHashLinkListRepFactory(0),
	} {
		if f.ID() != id {
			t.Errorf("ID %s, want %s", f.ID(), id)
		}
		if g, err := Factory(f); err != nil || g != f {
			t.Errorf("%s: %v", id, err)
		}
	}
	if f, err := Factory(nil); err != nil || f.Name() != "SkipListFactory" {
		t.Errorf("default: %v", err)
	}
	if _, err := Factory(foreignFactory{}); err == nil {
		t.Error("a foreign factory was taken")
	}
}

type foreignFactory struct{ rocksdb.MemTableRepFactory }

func (foreignFactory) Name() string { return "foreign" }

func TestUniqueRandomSample(t *testing.T) {
	arena := memory.NewConcurrentArena(64<<10, nil, 0)
	defer arena.Free()
	r := NewSkipListRep(dbformat.NewInternalKeyComparator(util.BytewiseComparator()), arena, nil, 0)
	const n = 10000
	for i := range n {
		addEntry(r, fmt.Sprintf("%06d", i), uint64(i+1))
	}
	for _, target := range []uint64{10, 90, 500, n} {
		sample, err := r.UniqueRandomSample(n, target)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[KeyHandle]bool{}
		for _, e := range sample {
			seen[e] = true
		}
		if len(seen) != len(sample) || uint64(len(sample)) > target || uint64(len(sample)) < target*9/10 {
			t.Errorf("%d of %d drawn, %d different", len(sample), target, len(seen))
		}
	}
}
