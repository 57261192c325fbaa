// Port of utilities/merge_operators/sortlist.{h,cc}. Differs: the value under
// the operands is merged as well (upstream loses it), partial merges merge
// (upstream's gives an empty list), and what is no list of numbers fails.

package mergeoperators

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// SortListName is the name of SortList.
const SortListName = "MergeSortOperator"

// SortList merges lists of numbers in decimal, in ascending order and separated
// by commas. The numbers have 32 bits.
type SortList struct{ rocksdb.MergeOperatorBase }

// Name is SortListName.
func (SortList) Name() string { return SortListName }

// NickName is "sortlist".
func (SortList) NickName() string { return "sortlist" }

func parseList(text []byte) ([]int32, bool) {
	// A list may have been written with the zero that ends a C string.
	text, _, _ = bytes.Cut(text, []byte{0})
	list := make([]int32, 0, bytes.Count(text, []byte{','})+1)
	for item := range strings.SplitSeq(string(text), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(item), 10, 32)
		if err != nil {
			return nil, false
		}
		list = append(list, int32(n))
	}
	return list, true
}

func mergeLists(left, right []int32) []int32 {
	merged := make([]int32, 0, len(left)+len(right))
	for len(left) > 0 && len(right) > 0 {
		if left[0] < right[0] {
			merged, left = append(merged, left[0]), left[1:]
		} else {
			merged, right = append(merged, right[0]), right[1:]
		}
	}
	return append(append(merged, left...), right...)
}

func appendSorted(dst []byte, list []int32, operands [][]byte) ([]byte, bool) {
	for _, o := range operands {
		more, ok := parseList(o)
		if !ok {
			return dst, false
		}
		list = mergeLists(list, more)
	}
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return dst, true
}

// FullMergeV2 merges all lists.
func (SortList) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) (ok bool) {
	var list []int32
	if in.ExistingValue != nil {
		if list, ok = parseList(in.ExistingValue); !ok {
			return false
		}
	}
	out.NewValue, ok = appendSorted(out.NewValue[:0], list, in.Operands)
	return ok
}

// PartialMergeMulti merges all lists.
func (SortList) PartialMergeMulti(_ []byte, operands [][]byte, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	return appendSorted(dst, nil, operands)
}
