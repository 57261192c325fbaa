// Port of util/slice_test.cc.

package util_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestSmallEnumSetTest_SmallEnumSetTest1(t *testing.T) {
	var fs util.SmallEnumSet[rocksdb.FileType]
	check := func(got, want bool, count int) {
		t.Helper()
		if got != want || fs.Count() != count || fs.Empty() != (count == 0) {
			t.Errorf("%v, %d elements; want %v, %d", got, fs.Count(), want, count)
		}
	}
	check(true, true, 0)
	check(fs.Add(rocksdb.IdentityFile), true, 1)
	check(fs.Add(rocksdb.IdentityFile), false, 1)
	check(fs.Add(rocksdb.InfoLogFile), true, 2)
	check(fs.Contains(rocksdb.IdentityFile), true, 2)
	check(fs.Contains(rocksdb.DBLockFile), false, 2)
	check(fs.Remove(rocksdb.DBLockFile), false, 2)
	check(fs.Remove(rocksdb.IdentityFile), true, 1)
	check(fs.Remove(rocksdb.InfoLogFile), true, 0)
}

type myEnum uint8

const (
	enumA myEnum = iota
	enumB
	enumC
)

func TestSmallEnumSetTest_SmallEnumSetTest2(t *testing.T) {
	var s util.SmallEnumSet[myEnum]
	of := util.NewSmallEnumSet[myEnum]
	all := util.AllSmallEnumSet(enumC)
	if !s.Add(enumA) || !s.Contains(enumA) || s.Contains(enumB) {
		t.Errorf("%v after adding A", s)
	}
	for i, c := range []struct{ got, want bool }{
		{s.With(enumB).Contains(enumB), true},
		{s.With(enumA).Contains(enumA), true},
		{s.Contains(enumB), false},
		{s.Without(enumA).Contains(enumA), false},
		{s.With(enumB).Without(enumB).Contains(enumB), false},
		{s.Without(enumB).With(enumB).Contains(enumB), true},
		{s.Contains(enumA), true},
		{s == of(enumA), true},
		{s.Without(enumA) == of(), true},
		{s == all.Without(enumB, enumC), true},
		{s.With(enumB, enumC) == all, true},
		{all == of().With(enumA, enumB, enumC), true},
		{s == of(enumB), false},
		{s == all, false},
	} {
		if c.got != c.want {
			t.Errorf("case %d: %v", i, c.got)
		}
	}
	if of().Count() != 0 || all.Count() != 3 || s.Count() != 1 {
		t.Errorf("counts %d %d %d", of().Count(), all.Count(), s.Count())
	}
	if got := slices.Collect(s.Elements()); !slices.Equal(got, []myEnum{enumA}) {
		t.Errorf("%v", got)
	}
	if got := slices.Collect(all.Without(enumB).Elements()); !slices.Equal(got, []myEnum{enumA, enumC}) {
		t.Errorf("%v", got)
	}
	if got := slices.Collect(of().Elements()); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestSmallEnumSetTest_BiggerEnumClasses(t *testing.T) {
	for _, last := range []myEnum{63, 64, 65, 127, 128, 129, 150, 255} {
		var s util.SmallEnumSet[myEnum]
		for i, e := range []myEnum{0, last - 1, last} {
			if !s.Add(e) || s.Empty() || s.Count() != i+1 {
				t.Errorf("%d: %v after adding %d", last, s, e)
			}
		}
		if got := slices.Collect(s.Elements()); !slices.Equal(got, []myEnum{0, last - 1, last}) {
			t.Errorf("%d: %v", last, got)
		}
		if !s.Remove(0) || !s.Remove(last) || s.Empty() || s.Count() != 1 {
			t.Errorf("%d: %v after removing", last, s)
		}
		if got := slices.Collect(s.Elements()); !slices.Equal(got, []myEnum{last - 1}) {
			t.Errorf("%d: %v", last, got)
		}
		if all := util.AllSmallEnumSet(last); all.Count() != int(last)+1 {
			t.Errorf("all up to %d: %d", last, all.Count())
		}
	}
}

func TestToBaseCharsStringTest_Tests(t *testing.T) {
	for _, c := range []struct {
		base  uint64
		n     int
		v     uint64
		upper bool
		want  string
	}{
		{16, 5, 0, true, "00000"},
		{16, 5, 42, true, "0002A"},
		{16, 5, 42, false, "0002a"},
		{16, 2, 255, false, "ff"},
		{32, 2, 255, false, "7v"},
	} {
		if got := util.ToBaseCharsString(c.base, c.n, c.v, c.upper); got != c.want {
			t.Errorf("%d in base %d: %s, want %s", c.v, c.base, got, c.want)
		}
	}
}

func TestSemaphoreTest_CountingSemaphore(t *testing.T) {
	sem := util.NewCountingSemaphore(0)
	var wg sync.WaitGroup
	for i := 0; i < 5; i++ {
		wg.Go(func() { sem.Release(1) })
		wg.Go(sem.Acquire)
	}
	wg.Wait()
	if sem.TryAcquire() {
		t.Error("a permit is left")
	}
	sem.Release(2)
	if !sem.TryAcquire() {
		t.Error("no permit")
	}
	sem.Acquire()
	if sem.TryAcquire() {
		t.Error("a permit is left")
	}
}

func TestSemaphoreTest_BinarySemaphore(t *testing.T) {
	sem := util.NewBinarySemaphore(0)
	var wg sync.WaitGroup
	for i := 0; i < 5; i++ {
		wg.Go(func() {
			sem.Acquire()
			sem.Release()
		})
	}
	wg.Go(sem.Release)
	wg.Wait()
	if !sem.TryAcquire() || sem.TryAcquire() {
		t.Error("not one permit left")
	}
	if !util.NewBinarySemaphore(1).TryAcquire() {
		t.Error("no permit at the start")
	}
}
