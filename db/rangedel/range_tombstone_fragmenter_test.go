// Port of db/range_tombstone_fragmenter_test.cc.

package rangedel

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

var bytewiseICmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

// parseTombstones reads "a-c@10 b-d@5".
func parseTombstones(text string) []dbformat.RangeTombstone {
	var out []dbformat.RangeTombstone
	for _, f := range strings.Fields(text) {
		keys, seq, _ := strings.Cut(f, "@")
		start, end, _ := strings.Cut(keys, "-")
		n, err := strconv.ParseUint(seq, 10, 64)
		if err != nil {
			panic(err)
		}
		out = append(out, dbformat.RangeTombstone{StartKey: []byte(start), EndKey: []byte(end), Seq: n})
	}
	return out
}

func format(t dbformat.RangeTombstone) string {
	return fmt.Sprintf("%s-%s@%d", t.StartKey, t.EndKey, t.Seq)
}

func makeRangeDelIter(tombstones []dbformat.RangeTombstone, sorted bool) internaliter.InternalIterator {
	var keys, values [][]byte
	for i := range tombstones {
		k, v := tombstones[i].Serialize()
		keys, values = append(keys, k), append(values, v)
	}
	if sorted {
		return internaliter.NewVectorIterator(keys, values, bytewiseICmp.Compare)
	}
	return internaliter.NewVectorIterator(keys, values, nil)
}

func makeList(t *testing.T, text string, forCompaction bool, snapshots ...rocksdb.SequenceNumber) *FragmentedRangeTombstoneList {
	t.Helper()
	l, err := NewFragmentedRangeTombstoneList(makeRangeDelIter(parseTombstones(text), true), bytewiseICmp, forCompaction, snapshots, true)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func makeIter(t *testing.T, l *FragmentedRangeTombstoneList, upper rocksdb.SequenceNumber) *FragmentedRangeTombstoneIterator {
	return NewFragmentedRangeTombstoneIterator(l, bytewiseICmp, upper, nil, 0)
}

// position gives the present tombstone and checks that the iterator's two
// interfaces agree.
func position(t *testing.T, it *FragmentedRangeTombstoneIterator) string {
	t.Helper()
	if !it.Valid() {
		return "invalid"
	}
	got := format(it.Tombstone())
	internal := dbformat.RangeTombstone{StartKey: dbformat.ExtractUserKey(it.Key()), EndKey: it.Value(), Seq: dbformat.GetInternalKeySeqno(it.Key())}
	if format(internal) != got || string(it.StartKey()) != string(internal.StartKey) || it.Seq() != internal.Seq {
		t.Fatalf("as internal iterator it is %s, else %s", format(internal), got)
	}
	return got
}

func verifyFragmentedRangeDels(t *testing.T, it *FragmentedRangeTombstoneIterator, want string) {
	t.Helper()
	var got []string
	for it.SeekToFirst(); it.Valid(); it.Next() {
		got = append(got, position(t, it))
	}
	if !slices.Equal(got, strings.Fields(want)) {
		t.Fatalf("fragments %q, want %q", got, want)
	}
	// And backward.
	var back []string
	for it.SeekToLast(); it.Valid(); it.Prev() {
		back = append(back, position(t, it))
	}
	slices.Reverse(back)
	if !slices.Equal(back, got) {
		t.Fatalf("backward %q, forward %q", back, got)
	}
}

func verifyVisibleTombstones(t *testing.T, it *FragmentedRangeTombstoneIterator, want string) {
	t.Helper()
	var got, back []string
	for it.SeekToTopFirst(); it.Valid(); it.TopNext() {
		got = append(got, position(t, it))
	}
	for it.SeekToTopLast(); it.Valid(); it.TopPrev() {
		back = append(back, position(t, it))
	}
	slices.Reverse(back)
	if !slices.Equal(got, strings.Fields(want)) || !slices.Equal(back, got) {
		t.Fatalf("visible %q, backward %q, want %q", got, back, want)
	}
}

// verifySeek takes pairs of a target and the position after Seek or, with
// forPrev, SeekForPrev.
func verifySeek(t *testing.T, it *FragmentedRangeTombstoneIterator, forPrev bool, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if forPrev {
			it.SeekForPrev([]byte(pairs[i]))
		} else {
			it.Seek([]byte(pairs[i]))
		}
		if got := position(t, it); got != pairs[i+1] {
			t.Errorf("seek to %q (for prev %v) gives %s, want %s", pairs[i], forPrev, got, pairs[i+1])
		}
	}
}

// verifyMax takes "key:seq" for MaxCoveringTombstoneSeqnum.
func verifyMax(t *testing.T, it *FragmentedRangeTombstoneIterator, cases string) {
	t.Helper()
	for _, c := range strings.Fields(cases) {
		key, want, _ := strings.Cut(c, ":")
		if got := it.MaxCoveringTombstoneSeqnum([]byte(key)); strconv.FormatUint(got, 10) != want {
			t.Errorf("covering %q is %d, want %s", key, got, want)
		}
	}
}

func verifyBounds(t *testing.T, it *FragmentedRangeTombstoneIterator, lower, upper rocksdb.SequenceNumber) {
	t.Helper()
	if it.LowerBound() != lower || it.UpperBound() != upper {
		t.Errorf("bounds %d..%d, want %d..%d", it.LowerBound(), it.UpperBound(), lower, upper)
	}
}

const maxSeq = dbformat.MaxSequenceNumber

func TestRangeTombstoneFragmenterTest_NonOverlappingTombstones(t *testing.T) {
	it := makeIter(t, makeList(t, "a-b@10 c-d@5", false), maxSeq)
	verifyBounds(t, it, 0, maxSeq)
	verifyFragmentedRangeDels(t, it, "a-b@10 c-d@5")
	verifyMax(t, it, ":0 a:10 b:0 c:5")
}

func TestRangeTombstoneFragmenterTest_OverlappingTombstones(t *testing.T) {
	it := makeIter(t, makeList(t, "a-e@10 c-g@15", false), maxSeq)
	verifyBounds(t, it, 0, maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@10 c-e@15 c-e@10 e-g@15")
	verifyMax(t, it, "a:10 c:15 e:15 g:0")
}

func TestRangeTombstoneFragmenterTest_ContiguousTombstones(t *testing.T) {
	it := makeIter(t, makeList(t, "a-c@10 c-e@20 c-e@5 e-g@15", false), maxSeq)
	verifyBounds(t, it, 0, maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@10 c-e@20 c-e@5 e-g@15")
	verifyMax(t, it, "a:10 c:20 e:15 g:0")
}

func TestRangeTombstoneFragmenterTest_RepeatedStartAndEndKey(t *testing.T) {
	it := makeIter(t, makeList(t, "a-c@10 a-c@7 a-c@3", false), maxSeq)
	verifyBounds(t, it, 0, maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@10 a-c@7 a-c@3")
	verifyMax(t, it, "a:10 b:10 c:0")
}

func TestRangeTombstoneFragmenterTest_RepeatedStartKeyDifferentEndKeys(t *testing.T) {
	it := makeIter(t, makeList(t, "a-e@10 a-g@7 a-c@3", false), maxSeq)
	verifyBounds(t, it, 0, maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@10 a-c@7 a-c@3 c-e@10 c-e@7 e-g@7")
	verifyMax(t, it, "a:10 c:10 e:7 g:0")
}

func TestRangeTombstoneFragmenterTest_RepeatedStartKeyMixedEndKeys(t *testing.T) {
	it := makeIter(t, makeList(t, "a-c@30 a-g@20 a-e@10 a-g@7 a-c@3", false), maxSeq)
	verifyBounds(t, it, 0, maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@30 a-c@20 a-c@10 a-c@7 a-c@3 c-e@20 c-e@10 c-e@7 e-g@20 e-g@7")
	verifyMax(t, it, "a:30 c:20 e:20 g:0")
}

const (
	repeated          = "a-e@10 c-g@8 c-i@6 j-n@4 j-l@2"
	repeatedUnordered = "a-e@10 j-n@4 c-i@6 c-g@8 j-l@2"
	repeatedFragments = "a-c@10 c-e@10 c-e@8 c-e@6 e-g@8 e-g@6 g-i@6 j-l@4 j-l@2 l-n@4"
)

func TestRangeTombstoneFragmenterTest_OverlapAndRepeatedStartKey(t *testing.T) {
	l := makeList(t, repeated, false)
	for _, c := range []struct {
		upper        rocksdb.SequenceNumber
		visible, max string
	}{
		{maxSeq, "a-c@10 c-e@10 e-g@8 g-i@6 j-l@4 l-n@4", "a:10 c:10 e:8 i:0 j:4 m:4"},
		{9, "c-e@8 e-g@8 g-i@6 j-l@4 l-n@4", "a:0 c:8 e:8 i:0 j:4 m:4"},
		{7, "c-e@6 e-g@6 g-i@6 j-l@4 l-n@4", "a:0 c:6 e:6 i:0 j:4 m:4"},
		{5, "j-l@4 l-n@4", "a:0 c:0 e:0 i:0 j:4 m:4"},
		{3, "j-l@2", "a:0 c:0 e:0 i:0 j:2 m:0"},
	} {
		it := makeIter(t, l, c.upper)
		verifyFragmentedRangeDels(t, it, repeatedFragments)
		verifyBounds(t, it, 0, c.upper)
		verifyVisibleTombstones(t, it, c.visible)
		verifyMax(t, it, c.max)
	}
}

func TestRangeTombstoneFragmenterTest_OverlapAndRepeatedStartKeyUnordered(t *testing.T) {
	it := makeIter(t, makeList(t, repeatedUnordered, false), 9)
	verifyBounds(t, it, 0, 9)
	verifyFragmentedRangeDels(t, it, repeatedFragments)
	verifyMax(t, it, "a:0 c:8 e:8 i:0 j:4 m:4")
}

func TestRangeTombstoneFragmenterTest_OverlapAndRepeatedStartKeyForCompaction(t *testing.T) {
	it := makeIter(t, makeList(t, repeatedUnordered, true), maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@10 c-e@10 e-g@8 g-i@6 j-l@4 l-n@4")
}

func TestRangeTombstoneFragmenterTest_OverlapAndRepeatedStartKeyForCompactionWithSnapshot(t *testing.T) {
	it := makeIter(t, makeList(t, repeatedUnordered, true, 9, 20), maxSeq)
	verifyFragmentedRangeDels(t, it, "a-c@10 c-e@10 c-e@8 e-g@8 g-i@6 j-l@4 l-n@4")
}

func TestRangeTombstoneFragmenterTest_IteratorSplitNoSnapshots(t *testing.T) {
	splits := makeIter(t, makeList(t, repeatedUnordered, false), maxSeq).SplitBySnapshot(nil)
	if len(splits) != 1 {
		t.Fatalf("%d splits", len(splits))
	}
	verifyBounds(t, splits[0], 0, maxSeq)
	verifyVisibleTombstones(t, splits[0], "a-c@10 c-e@10 e-g@8 g-i@6 j-l@4 l-n@4")
}

func TestRangeTombstoneFragmenterTest_IteratorSplitWithSnapshots(t *testing.T) {
	splits := makeIter(t, makeList(t, repeatedUnordered, false), maxSeq).SplitBySnapshot([]rocksdb.SequenceNumber{3, 5, 7, 9})
	want := []struct {
		lower, upper rocksdb.SequenceNumber
		visible      string
	}{
		{0, 3, "j-l@2"}, {4, 5, "j-l@4 l-n@4"}, {6, 7, "c-e@6 e-g@6 g-i@6"}, {8, 9, "c-e@8 e-g@8"}, {10, maxSeq, "a-c@10 c-e@10"},
	}
	if len(splits) != len(want) {
		t.Fatalf("%d splits", len(splits))
	}
	for i, w := range want {
		verifyBounds(t, splits[i], w.lower, w.upper)
		verifyVisibleTombstones(t, splits[i], w.visible)
	}
}

func TestRangeTombstoneFragmenterTest_SeekStartKey(t *testing.T) {
	l := makeList(t, repeated, false)
	it := makeIter(t, l, maxSeq)
	verifySeek(t, it, false, "a", "a-c@10", "e", "e-g@8", "l", "l-n@4")
	verifySeek(t, it, true, "a", "a-c@10", "e", "e-g@8", "l", "l-n@4")
	it = makeIter(t, l, 3)
	verifySeek(t, it, false, "a", "j-l@2", "e", "j-l@2", "l", "invalid")
	verifySeek(t, it, true, "a", "invalid", "e", "invalid", "l", "j-l@2")
}

func TestRangeTombstoneFragmenterTest_SeekCovered(t *testing.T) {
	l := makeList(t, repeated, false)
	it := makeIter(t, l, maxSeq)
	verifySeek(t, it, false, "b", "a-c@10", "f", "e-g@8", "m", "l-n@4")
	verifySeek(t, it, true, "b", "a-c@10", "f", "e-g@8", "m", "l-n@4")
	it = makeIter(t, l, 3)
	verifySeek(t, it, false, "b", "j-l@2", "f", "j-l@2", "m", "invalid")
	verifySeek(t, it, true, "b", "invalid", "f", "invalid", "m", "j-l@2")
}

func TestRangeTombstoneFragmenterTest_SeekEndKey(t *testing.T) {
	l := makeList(t, repeated, false)
	it := makeIter(t, l, maxSeq)
	verifySeek(t, it, false, "c", "c-e@10", "g", "g-i@6", "i", "j-l@4", "n", "invalid")
	verifySeek(t, it, true, "c", "c-e@10", "g", "g-i@6", "i", "g-i@6", "n", "l-n@4")
	it = makeIter(t, l, 3)
	verifySeek(t, it, false, "c", "j-l@2", "g", "j-l@2", "i", "j-l@2", "n", "invalid")
	verifySeek(t, it, true, "c", "invalid", "g", "invalid", "i", "invalid", "n", "j-l@2")
}

func TestRangeTombstoneFragmenterTest_SeekOutOfBounds(t *testing.T) {
	it := makeIter(t, makeList(t, repeated, false), maxSeq)
	verifySeek(t, it, false, "", "a-c@10", "z", "invalid")
	verifySeek(t, it, true, "", "invalid", "z", "l-n@4")
}

func TestRangeTombstoneFragmenterTest_CountsAllTombstonesWhenInputNeedsSorting(t *testing.T) {
	l, err := NewFragmentedRangeTombstoneList(makeRangeDelIter(parseTombstones("c-e@10 a-d@8 b-f@6 d-g@4"), false), bytewiseICmp, false, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if n := l.NumUnfragmentedTombstones(); n != 4 {
		t.Fatalf("%d tombstones", n)
	}
}

// No upstream twin. Strategy: random tombstones over a small key space, against
// a search of all of them; invariants: fragments do not overlap, and covering
// sequence numbers agree at every bound, by list and by aggregator.
func TestFragmentedRangeTombstoneList_Model(t *testing.T) {
	for seed := range int64(300) {
		r := rand.New(rand.NewSource(seed))
		var in []dbformat.RangeTombstone
		for i := range r.Intn(12) {
			a := byte('a' + r.Intn(12))
			b := a + byte(r.Intn(6))
			in = append(in, dbformat.RangeTombstone{StartKey: []byte{a}, EndKey: []byte{b}, Seq: uint64(i*2 + 1 + r.Intn(2))})
		}
		l, err := NewFragmentedRangeTombstoneList(makeRangeDelIter(in, false), bytewiseICmp, false, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range l.Tombstones() {
			if string(f.StartKey) >= string(f.EndKey) || i > 0 && string(l.Tombstones()[i-1].EndKey) > string(f.StartKey) {
				t.Fatalf("seed %d: fragment %q-%q", seed, f.StartKey, f.EndKey)
			}
		}
		for upper := range rocksdb.SequenceNumber(26) {
			it := makeIter(t, l, upper)
			agg := NewReadRangeDelAggregator(bytewiseICmp, upper)
			agg.AddTombstones(makeIter(t, l, upper), nil, nil)
			for k := byte('a'); k < 'u'; k++ {
				want := rocksdb.SequenceNumber(0)
				for _, d := range in {
					if d.Seq <= upper && d.Seq > want && d.StartKey[0] <= k && k < d.EndKey[0] {
						want = d.Seq
					}
				}
				if got := it.MaxCoveringTombstoneSeqnum([]byte{k}); got != want {
					t.Fatalf("seed %d: covering %c at %d is %d, want %d", seed, k, upper, got, want)
				}
				for seq := upper; ; seq-- {
					p := dbformat.ParsedInternalKey{UserKey: []byte{k}, Sequence: seq, Type: dbformat.TypeValue}
					if got := agg.ShouldDelete(&p, ForwardTraversal); got != (want > seq) {
						t.Fatalf("seed %d: delete %c@%d at %d is %v, newest is %d", seed, k, seq, upper, got, want)
					}
					if seq == 0 {
						break
					}
				}
			}
		}
	}
}
