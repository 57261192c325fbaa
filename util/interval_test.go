// Port of util/interval_test.cc.

package util_test

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

// intervalsText writes a set's intervals; an open end is empty.
func intervalsText[T any](s *util.IntervalSet[T], text func(T) string) string {
	out := ""
	for _, i := range s.Intervals() {
		end := ""
		if i.HasEnd {
			end = text(i.End)
		}
		out += fmt.Sprintf("[%s,%s)", text(i.Start), end)
	}
	return out
}

func TestIntervalSetTest_BasicTest(t *testing.T) {
	s := util.NewIntervalSet(cmp.Compare[int], false)
	check := func(want string) {
		t.Helper()
		if got := intervalsText(s, func(v int) string { return fmt.Sprint(v) }); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	s.Insert(2, 15)
	check("[2,15)")
	s.Insert(5, 9)
	check("[2,15)")
	s.Insert(0, 10)
	check("[0,15)")
	s.Insert(25, 30)
	check("[0,15)[25,30)")
	s.Insert(16, 25)
	check("[0,15)[16,30)")
	s.Insert(45, 85)
	check("[0,15)[16,30)[45,85)")
	s.InsertFrom(31)
	check("[0,15)[16,30)[31,)")
	s.Insert(100, 200)
	check("[0,15)[16,30)[31,)")
	if s.Insert(3, 3) || s.Empty() || s.Size() != 3 {
		t.Error("an empty interval was added")
	}
	s.Clear()
	check("")
}

func keyText(v []byte) string { return string(v) }

func TestIntervalSetTest_SliceTest(t *testing.T) {
	s := util.NewIntervalSet(bytes.Compare, false)
	if !s.Insert([]byte("k00"), []byte("k10")) || !s.Insert([]byte("k02"), []byte("k08")) {
		t.Error("refused")
	}
	if got := intervalsText(s, keyText); got != "[k00,k10)" {
		t.Error(got)
	}
	if !s.Insert([]byte("k15"), []byte("k20")) || !s.InsertFrom([]byte("k16")) {
		t.Error("refused")
	}
	if got := intervalsText(s, keyText); got != "[k00,k10)[k15,)" {
		t.Error(got)
	}
}

func TestIntervalSetTest_PropModeTest(t *testing.T) {
	s := util.NewIntervalSet(bytes.Compare, true)
	check := func(got, want bool, text string) {
		t.Helper()
		if got != want {
			t.Errorf("accepted %v, want %v", got, want)
		}
		if got := intervalsText(s, keyText); got != text {
			t.Errorf("%s, want %s", got, text)
		}
	}
	check(s.Insert([]byte("k00"), []byte("k10")), true, "[k00,k10)")
	check(s.Insert([]byte("k02"), []byte("k08")), false, "[k00,k10)")
	check(s.Insert([]byte("k15"), []byte("k20")), true, "[k00,k10)[k15,k20)")
	check(s.InsertFrom([]byte("k16")), false, "[k00,k10)[k15,k20)")
	check(s.Insert([]byte("k12"), []byte("k14")), true, "[k00,k10)[k12,k14)[k15,k20)")
}
