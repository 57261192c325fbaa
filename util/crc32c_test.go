// Port of util/crc32c_test.cc.

package util_test

import (
	"bytes"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

const crcBufferSize = 512 * 1024 * 8

// crcBuffer gives words each of which is the FNV hash of the one before.
func crcBuffer() []byte {
	buf := make([]byte, crcBufferSize)
	for at := 8; at < len(buf); at += 8 {
		h := uint64(14695981039346656037)
		for _, c := range buf[at-8 : at] {
			h += h<<1 + h<<4 + h<<5 + h<<7 + h<<8 + h<<40
			h ^= uint64(int64(int8(c)))
		}
		util.EncodeFixed64(buf[at:], h)
	}
	return buf
}

func TestCRC_StandardResults(t *testing.T) {
	// RFC 3720, B.4.
	rising, falling := make([]byte, 32), make([]byte, 32)
	for i := range rising {
		rising[i], falling[i] = byte(i), byte(31-i)
	}
	command := make([]byte, 48)
	command[0], command[1], command[16], command[22] = 0x01, 0xc0, 0x14, 0x04
	command[27], command[31], command[32], command[40] = 0x14, 0x18, 0x28, 0x02
	for _, c := range []struct {
		data []byte
		want uint32
	}{
		{make([]byte, 32), 0x8a9136aa},
		{bytes.Repeat([]byte{0xff}, 32), 0x62a8ab43},
		{rising, 0x46dd794e},
		{falling, 0x113fdb5c},
		{command, 0xd9963a56},
	} {
		if got := util.Crc32cValue(c.data); got != c.want {
			t.Errorf("%x: %#x, want %#x", c.data, got, c.want)
		}
	}

	buffer := crcBuffer()
	for _, c := range []struct {
		offset, length int
		complement     uint32
	}{
		{0, 0, ^uint32(0)},
		{8, 1, 1543413366}, {8, 2, 523493126}, {8, 3, 1560427360}, {8, 4, 3422504776},
		{8, 5, 447841138}, {8, 6, 3910050499}, {8, 7, 3346241981},
		{9, 1, 3855826643}, {10, 2, 560880875}, {11, 3, 1479707779}, {12, 4, 2237687071},
		{13, 5, 4063855784}, {14, 6, 2553454047}, {15, 7, 1349220140},
		{8, 8, 627613930}, {8, 9, 2105929409}, {8, 10, 2447068514}, {8, 11, 863807079},
		{8, 12, 292050879}, {8, 13, 1411837737}, {8, 14, 2614515001}, {8, 15, 3579076296},
		{8, 16, 2897079161}, {8, 17, 675168386},
		{0, crcBufferSize, 2096790750}, {1, crcBufferSize / 2, 3854797577},
	} {
		data := buffer[c.offset : c.offset+c.length]
		if got := util.Crc32cValue(data); got != ^c.complement {
			t.Errorf("%d, %d: %d, want %d", c.offset, c.length, got, ^c.complement)
		}
		half := c.length / 2
		if got := util.Crc32cExtend(util.Crc32cValue(data[:half]), data[half:]); got != ^c.complement {
			t.Errorf("%d, %d in two parts: %d, want %d", c.offset, c.length, got, ^c.complement)
		}
	}
}

func TestCRC_Values(t *testing.T) {
	if util.Crc32cValue([]byte("a")) == util.Crc32cValue([]byte("foo")) {
		t.Error("equal")
	}
}

func TestCRC_Extend(t *testing.T) {
	if got, want := util.Crc32cExtend(util.Crc32cValue([]byte("hello ")), []byte("world")),
		util.Crc32cValue([]byte("hello world")); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func TestCRC_Mask(t *testing.T) {
	crc := util.Crc32cValue([]byte("foo"))
	once := util.Crc32cMask(crc)
	twice := util.Crc32cMask(once)
	if crc == once || crc == twice {
		t.Errorf("%#x masks as %#x and %#x", crc, once, twice)
	}
	if util.Crc32cUnmask(once) != crc || util.Crc32cUnmask(util.Crc32cUnmask(twice)) != crc {
		t.Error("unmask does not undo mask")
	}
}

func TestCRC_Crc32cCombineBasicTest(t *testing.T) {
	a, b := util.Crc32cValue([]byte("hello ")), util.Crc32cValue([]byte("world"))
	if got, want := util.Crc32cCombine(a, b, 5), util.Crc32cValue([]byte("hello world")); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func TestCRC_Crc32cCombineOrderMattersTest(t *testing.T) {
	a, b := util.Crc32cValue([]byte("hello ")), util.Crc32cValue([]byte("world"))
	if util.Crc32cCombine(b, a, 6) == util.Crc32cValue([]byte("hello world")) {
		t.Error("order does not matter")
	}
}

// checkCombine compares combining with extending for data of each size.
func checkCombine(t *testing.T, sizes []int) {
	t.Helper()
	rnd := util.NewRandom(301)
	first := util.Crc32cValue([]byte(rnd.RandomBinaryString(1 << 20)))
	for _, size := range sizes {
		s := []byte(rnd.RandomBinaryString(size))
		got := util.Crc32cCombine(first, util.Crc32cValue(s), uint64(size))
		if want := util.Crc32cExtend(first, s); got != want {
			t.Fatalf("%d bytes: %#x, want %#x", size, got, want)
		}
	}
}

func TestCRC_Crc32cCombineFullCoverTest(t *testing.T) {
	sizes := make([]int, 4096)
	for i := range sizes {
		sizes[i] = i
	}
	checkCombine(t, sizes)
}

func TestCRC_Crc32cCombineBigSizeTest(t *testing.T) {
	checkCombine(t, []int{16<<20 - 1})
}
