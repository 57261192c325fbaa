// No upstream twin: the small parts that upstream tests only through others.

package util_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestFileChecksumGenCrc32c(t *testing.T) {
	f := util.GetFileChecksumGenCrc32cFactory()
	if f.Name() != "FileChecksumGenCrc32cFactory" || f.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{RequestedChecksumFuncName: "other"}) != nil {
		t.Error("factory")
	}
	g := f.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: "f", RequestedChecksumFuncName: "FileChecksumCrc32c"})
	g.Update([]byte("1234"))
	g.Update([]byte("56789"))
	g.Finalize()
	if g.GetChecksum() != "\xe3\x06\x92\x83" || g.Name() != "FileChecksumCrc32c" {
		t.Errorf("%x by %s", g.GetChecksum(), g.Name())
	}
	if got := util.ChecksumInt32ToHex(util.Crc32cValue([]byte("123456789"))); got != "E3069283" {
		t.Error(got)
	}
}

func TestFileChecksumList(t *testing.T) {
	l := util.NewFileChecksumList()
	l.InsertOneFileChecksum(9, "c9", "f")
	l.InsertOneFileChecksum(2, "x", "f")
	l.InsertOneFileChecksum(2, "c2", "g")
	numbers, sums, names := l.GetAllFileChecksums()
	if l.Size() != 2 || !slices.Equal(numbers, []uint64{2, 9}) || !slices.Equal(sums, []string{"c2", "c9"}) || !slices.Equal(names, []string{"g", "f"}) {
		t.Errorf("%v %q %q", numbers, sums, names)
	}
	if sum, name, err := l.SearchOneFileChecksum(2); sum != "c2" || name != "g" || err != nil {
		t.Errorf("%q %q %v", sum, name, err)
	}
	if err := l.RemoveOneFileChecksum(2); err != nil {
		t.Error(err)
	}
	if err := l.RemoveOneFileChecksum(2); !errors.Is(err, rocksdb.ErrNotFound) {
		t.Error(err)
	}
	if _, _, err := l.SearchOneFileChecksum(2); !errors.Is(err, rocksdb.ErrNotFound) {
		t.Error(err)
	}
	if l.Reset(); l.Size() != 0 {
		t.Error("not empty")
	}
}

func TestConcurrentTaskLimiter(t *testing.T) {
	var contract rocksdb.ConcurrentTaskLimiter
	l := util.NewConcurrentTaskLimiter("limiter", 1)
	contract = l
	first := l.GetToken(false)
	if first == nil || l.GetToken(false) != nil || contract.GetName() != "limiter" {
		t.Fatal("limit of one")
	}
	forced := l.GetToken(true)
	if forced == nil || l.GetOutstandingTask() != 2 {
		t.Fatal("forced")
	}
	first.Release()
	first.Release()
	if l.GetOutstandingTask() != 1 || l.GetToken(false) != nil {
		t.Error("released twice")
	}
	contract.ResetMaxOutstandingTask()
	if tok := l.GetToken(false); tok == nil {
		t.Error("no limit")
	} else {
		tok.Release()
	}
	contract.SetMaxOutstandingTask(0)
	forced.Release()
	if l.GetToken(false) != nil || l.GetOutstandingTask() != 0 {
		t.Error("limit of none")
	}
}

func TestAlignedBuffer(t *testing.T) {
	var b util.AlignedBuffer
	b.SetAlignment(512)
	b.AllocateNewBuffer(1000)
	if b.Capacity() != 1024 || b.CurrentSize() != 0 || !util.IsAlignedAddress(b.BufferStart()[:1], 512) {
		t.Fatalf("%d of %d", b.CurrentSize(), b.Capacity())
	}
	if n := b.Append(bytes.Repeat([]byte("a"), 600)); n != 600 {
		t.Errorf("%d", n)
	}
	b.PadToAlignmentWith('p')
	if b.CurrentSize() != 1024 || b.BufferStart()[599] != 'a' || b.BufferStart()[600] != 'p' || b.Append([]byte("x")) != 0 {
		t.Errorf("%d", b.CurrentSize())
	}
	b.RefitTail(512, 88)
	if got := string(b.BufferStart()); got != string(bytes.Repeat([]byte("a"), 88)) {
		t.Errorf("%q", got)
	}
	b.ReallocateKeeping(2000, 80, 8)
	dest := make([]byte, 10)
	if n := b.Read(dest, 1); b.Capacity() != 2048 || b.CurrentSize() != 8 || n != 7 || b.Read(dest, 8) != 0 {
		t.Errorf("%d %d %d", b.Capacity(), b.CurrentSize(), n)
	}
	b.SetSize(copy(b.Destination(), "zz") + b.CurrentSize())
	if got := string(b.BufferStart()); got != "aaaaaaaazz" {
		t.Errorf("%q", got)
	}
	b.PadWith(2, 0)
	b.Clear()
	if b.CurrentSize() != 0 || len(b.Release()) != 0 || b.Capacity() != 0 {
		t.Error("released")
	}
	for what, alloc := range map[string]func(size, alignment int) ([]byte, error){
		"error": func(int, int) ([]byte, error) { return nil, rocksdb.IOError("x") },
		"null":  func(int, int) ([]byte, error) { return nil, nil },
		"short": func(size, alignment int) ([]byte, error) { return util.AlignedSlice(size-1, alignment), nil },
		"start": func(size, alignment int) ([]byte, error) {
			return util.AlignedSlice(size+alignment, alignment)[1:], nil
		},
		"size": func(size, alignment int) ([]byte, error) { return util.AlignedSlice(size+1, alignment), nil },
	} {
		if err := b.AllocateNewBufferFrom(100, alloc); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	err := b.AllocateNewBufferFrom(100, func(size, alignment int) ([]byte, error) { return util.AlignedSlice(size, alignment), nil })
	if err != nil || b.Capacity() != 512 {
		t.Errorf("%v %d", err, b.Capacity())
	}
	if util.Roundup(513, 512) != 1024 || util.Rounddown(1023, 512) != 512 || util.TruncateToPageBoundary(512, 1023) != 512 || util.IsAlignedOffset(513, 512) {
		t.Error("rounding")
	}
}

func TestCleanable(t *testing.T) {
	var got []int
	add := func(c *util.Cleanable, n int) { c.RegisterCleanup(util.ReleaseFunc(func() { got = append(got, n) })) }
	var a, b util.Cleanable
	add(&a, 1)
	add(&a, 2)
	add(&b, 3)
	a.DelegateCleanupsTo(&b)
	if a.HasCleanups() || !b.HasCleanups() {
		t.Error("not delegated")
	}
	a.DelegateCleanupsTo(&b)
	a.Reset()
	b.Reset()
	b.Reset()
	if !slices.Equal(got, []int{3, 1, 2}) {
		t.Error(got)
	}
}

func TestKVMap(t *testing.T) {
	m := util.NewKVMap(util.ReverseBytewiseComparator())
	for _, k := range []string{"b", "a", "c", "a"} {
		m.Set(k, k+"v")
	}
	m.Delete("b")
	m.Delete("x")
	var got []string
	for i := 0; i < m.Len(); i++ {
		k, v := m.At(i)
		got = append(got, k+"="+v)
	}
	if diff := cmp.Diff([]string{"c=cv", "a=av"}, got); diff != "" {
		t.Error(diff)
	}
	if m.LowerBound("b") != 1 {
		t.Errorf("%d", m.LowerBound("b"))
	}
	if _, ok := m.Get("b"); ok {
		t.Error("deleted key is there")
	}
}

func TestXXHash(t *testing.T) {
	for in, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := util.ComputeXXH32([]byte(in)); got != want {
			t.Errorf("%q: %#x, want %#x", in, got, want)
		}
	}
	data := []byte(util.NewRandom(1).RandomString(300))
	for n := 1; n <= len(data); n++ {
		whole, part, last := data[:n], data[:n-1], data[n-1]
		if util.ComputeXXH32(whole) != util.ComputeXXH32WithLastByte(part, last) {
			t.Errorf("XXH32 of %d bytes in two parts", n)
		}
		if util.ComputeXXH64(whole) != util.ComputeXXH64WithLastByte(part, last) {
			t.Errorf("XXH64 of %d bytes in two parts", n)
		}
	}
	if got := util.ComputeXXH64([]byte("a")); got != 0xd24ec4f1a98c6e5b {
		t.Errorf("XXH64: %#x", got)
	}
	if got := util.ComputeXXH3(nil); got != 0x2d06800538d394c2 || util.ComputeXXH3WithSeed(data, 0) != util.ComputeXXH3(data) {
		t.Errorf("XXH3: %#x", got)
	}
	for in, want := range map[string]uint64{"hello, world!": 15099089699360904759, "12345678": 8471103573108904450} {
		if got := util.MurmurHash([]byte(in), 0); got != want {
			t.Errorf("MurmurHash(%q) = %d, want %d", in, got, want)
		}
	}
}

func TestHashesDoNotAllocate(t *testing.T) {
	data := make([]byte, 4096)
	for _, c := range []struct {
		what string
		do   func()
	}{
		{"Hash64 short", func() { util.Hash64(data[:20], 3) }},
		{"Hash64 long", func() { util.Hash64(data, 3) }},
		{"XXH64", func() { util.ComputeXXH64WithLastByte(data, 1) }},
		{"XXH32", func() { util.ComputeXXH32WithLastByte(data, 1) }},
		{"XXH3", func() { util.ComputeXXH3(data) }},
		{"Crc32c", func() { util.Crc32cValue(data) }},
	} {
		if n := testing.AllocsPerRun(100, c.do); n != 0 {
			t.Errorf("%s: %v allocations", c.what, n)
		}
	}
}
