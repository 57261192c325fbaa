// No upstream twin: ranges of a batch of keys against a plain set.

package table_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/table"
)

func indexesOf(r *table.MultiGetRange) (is []int) {
	for i := r.First(); i < r.End(); i = r.NextIndex(i) {
		is = append(is, i)
	}
	return is
}

func TestMultiGetRange(t *testing.T) {
	var keys []*table.KeyContext
	for i := range table.MaxBatchSize {
		keys = append(keys, &table.KeyContext{Key: fmt.Appendf(nil, "%02d", i), Err: new(error)})
	}
	for n := range table.MaxBatchSize + 1 {
		var ctx table.MultiGetContext
		ctx.Init(keys[:n], 7, nil)
		whole := ctx.GetMultiGetRange()
		checkEq(t, "keys", whole.KeysLeft(), n)
		checkEq(t, "empty", whole.Empty(), n == 0)
		if n == 0 {
			continue
		}
		first := rand.Intn(n)
		last := first + 1 + rand.Intn(n-first)
		part := table.MakeMultiGetRange(&whole, first, last)
		done, skipped := map[int]bool{}, map[int]bool{}
		for range n {
			switch i := rand.Intn(n); rand.Intn(2) {
			case 0:
				part.MarkKeyDone(i)
				done[i] = true
			case 1:
				part.SkipIndex(i)
				skipped[i] = true
			}
			left := func(from, to int, skips bool) (is []int) {
				for i := from; i < to; i++ {
					if !done[i] && !(skips && skipped[i]) {
						is = append(is, i)
					}
				}
				return is
			}
			if got, want := indexesOf(&part), left(first, last, true); !slices.Equal(got, want) {
				t.Fatalf("part has %v, want %v", got, want)
			}
			// Skips are a range's own, what is done is not.
			if got, want := indexesOf(&whole), left(0, n, false); !slices.Equal(got, want) {
				t.Fatalf("whole has %v, want %v", got, want)
			}
			checkEq(t, "left", part.KeysLeft(), len(left(first, last, true)))
		}
		for i := range n {
			checkEq(t, "done", part.CheckKeyDone(i), done[i])
			checkEq(t, "skipped", part.IsKeySkipped(i), skipped[i])
			checkEq(t, "key", string(whole.Key(i).UKeyWithTS), fmt.Sprintf("%02d", i))
			checkEq(t, "internal key", string(whole.Key(i).IKey[:2]), fmt.Sprintf("%02d", i))
		}
		whole.AddSkipsFrom(&part)
		checkEq(t, "left", whole.KeysLeft(), len(indexesOf(&whole)))
	}
}
