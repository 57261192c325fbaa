// Port of db/compaction/clipping_iterator_test.cc.

package compaction_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// boundsCheckingIterator checks the bounds itself, so that the clipping iterator
// need not.
type boundsCheckingIterator struct {
	*internaliter.VectorIterator
	start, end []byte
}

func (it *boundsCheckingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	it.Next()
	if !it.Valid() {
		return false
	}
	*res = internaliter.IterateResult{Key: it.Key(), BoundCheckResult: it.UpperBoundCheckResult(), ValuePrepared: true}
	return true
}

func (it *boundsCheckingIterator) MayBeOutOfLowerBound() bool {
	return bytes.Compare(it.Key(), it.start) < 0
}

func (it *boundsCheckingIterator) UpperBoundCheckResult() internaliter.IterBoundCheck {
	if bytes.Compare(it.Key(), it.end) >= 0 {
		return internaliter.OutOfBound
	}
	return internaliter.Inbound
}

func TestClippingIteratorTest_Clip(t *testing.T) {
	for _, check := range []bool{false, true} {
		for start := range 5 {
			for size := range 6 {
				t.Run(fmt.Sprintf("check=%v/start=%d/size=%d", check, start, size), func(t *testing.T) { testClip(t, check, start, start+size) })
			}
		}
	}
}

func testClip(t *testing.T, check bool, clipStart, clipEnd int) {
	key := func(i int) []byte { return fmt.Appendf(nil, "key%d", i) }
	value := func(i int) string { return fmt.Sprintf("value%d", i) }
	var input internaliter.InternalIterator = internaliter.NewVectorIterator([][]byte{key(1), key(2), key(3)},
		[][]byte{[]byte(value(1)), []byte(value(2)), []byte(value(3))}, bytes.Compare)
	if check {
		input = &boundsCheckingIterator{input.(*internaliter.VectorIterator), key(clipStart), key(clipEnd)}
	}
	clip := compaction.NewClippingIterator(input, key(clipStart), key(clipEnd), util.BytewiseComparator())
	// What there is to see.
	first, end := max(clipStart, 1), min(clipEnd, 4)
	want := func(i int) {
		t.Helper()
		if i < first || i >= end {
			if clip.Valid() {
				t.Fatalf("at %q, want nothing", clip.Key())
			}
			return
		}
		if !clip.Valid() || !bytes.Equal(clip.Key(), key(i)) || string(clip.Value()) != value(i) {
			t.Fatalf("valid %v, want key %d", clip.Valid(), i)
		}
		if clip.MayBeOutOfLowerBound() || clip.UpperBoundCheckResult() != internaliter.Inbound {
			t.Fatal("not known to be within the bounds")
		}
	}
	if first >= end {
		clip.SeekToFirst()
		want(-1)
		clip.SeekToLast()
		want(-1)
		for i := range 10 {
			clip.Seek(key(i))
			want(-1)
			clip.SeekForPrev(key(i))
			want(-1)
		}
		return
	}
	clip.SeekToFirst()
	want(first)
	for i := first + 1; i < end; i++ {
		clip.Next()
		want(i)
	}
	clip.Next()
	want(-1)

	clip.SeekToFirst()
	for i := first + 1; i < end; i++ {
		var res internaliter.IterateResult
		if !clip.NextAndGetResult(&res) || !bytes.Equal(res.Key, key(i)) || res.BoundCheckResult != internaliter.Inbound {
			t.Fatalf("NextAndGetResult gave %q, %d; want key %d", res.Key, res.BoundCheckResult, i)
		}
		want(i)
	}
	var res internaliter.IterateResult
	if clip.NextAndGetResult(&res) {
		t.Fatalf("NextAndGetResult beyond the end gave %q", res.Key)
	}
	want(-1)

	clip.SeekToLast()
	want(end - 1)
	for i := end - 2; i >= first; i-- {
		clip.Prev()
		want(i)
	}
	clip.Prev()
	want(-1)

	for i := range 10 {
		clip.Seek(key(i))
		switch {
		case i < first:
			want(first)
		default:
			want(i)
		}
		clip.SeekForPrev(key(i))
		switch {
		case i < first:
			want(-1)
		case i < end:
			want(i)
		default:
			want(end - 1)
		}
	}
}
