// No upstream twin: table_test.cc asks these through tables; here are handles,
// index values, footers and checksums by themselves.

package format

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestBlockHandleRoundTrip(t *testing.T) {
	for _, h := range []BlockHandle{{}, {1, 2}, {127, 128}, {1 << 40, 1 << 30}, {math.MaxUint64, math.MaxUint64}} {
		enc := h.AppendTo([]byte("x"))[1:]
		if len(enc) > MaxEncodedLength {
			t.Errorf("%v: %d bytes", h, len(enc))
		}
		var got BlockHandle
		rest, err := got.DecodeFrom(append(bytes.Clone(enc), 7))
		if err != nil || got != h || len(rest) != 1 {
			t.Errorf("%v: %v, %d left, %v", h, got, len(rest), err)
		}
		for n := range enc {
			if _, err := got.DecodeFrom(enc[:n]); !rocksdb.IsCorruption(err) {
				t.Errorf("%v of %d bytes: %v", h, n, err)
			}
		}
	}
	if (BlockHandle{0, 5}).IsNull() || !(BlockHandle{}).IsNull() {
		t.Error("IsNull")
	}
	for _, c := range []struct {
		h    BlockHandle
		size uint64
		want bool
	}{{BlockHandle{10, 5}, 20, true}, {BlockHandle{10, 6}, 20, false}, {BlockHandle{math.MaxUint64, 1}, 20, false},
		{BlockHandle{1, math.MaxUint64}, 20, false}, {BlockHandle{}, 5, true}, {BlockHandle{}, 4, false}} {
		if got := c.h.FitsIn(c.size, 5); got != c.want {
			t.Errorf("%v in %d: %v", c.h, c.size, got)
		}
	}
}

func TestIndexValueRoundTrip(t *testing.T) {
	prev := BlockHandle{100, 50}
	// A handle given by its difference follows at once on the one before.
	next := BlockHandle{100 + 50 + BlockTrailerSize, 20}
	for _, first := range []bool{false, true} {
		for _, p := range []*BlockHandle{nil, &prev} {
			v := IndexValue{Handle: next}
			if first {
				v.FirstInternalKey = []byte("the first key")
			}
			enc := v.AppendTo(nil, first, p)
			var got IndexValue
			rest, err := got.DecodeFrom(enc, first, p)
			if err != nil || len(rest) != 0 || got.Handle != next || !bytes.Equal(got.FirstInternalKey, v.FirstInternalKey) {
				t.Errorf("first %v, delta %v: %+v, %v", first, p != nil, got, err)
			}
			for n := range enc {
				if _, err := got.DecodeFrom(enc[:n], first, p); !rocksdb.IsCorruption(err) {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
		}
	}
}

func TestFooterRoundTrip(t *testing.T) {
	const offset = 10000
	for _, magic := range []uint64{BlockBasedTableMagicNumber, PlainTableMagicNumber, CuckooTableMagicNumber} {
		for version := uint32(0); version <= LatestBbtFormatVersion; version++ {
			if !IsSupportedFormatVersionForWrite(magic, version) {
				continue
			}
			f := Footer{TableMagicNumber: magic, FormatVersion: version, ChecksumType: rocksdb.XXH3}
			f.MetaindexHandle = BlockHandle{offset - 300 - BlockTrailerSize, 300}
			if FormatVersionUsesIndexHandleInFooter(version) || magic != BlockBasedTableMagicNumber {
				f.IndexHandle = BlockHandle{100, 200}
			}
			if magic != BlockBasedTableMagicNumber {
				f.MetaindexHandle = BlockHandle{200, 300}
			}
			if FormatVersionUsesContextChecksum(version) && magic == BlockBasedTableMagicNumber {
				f.BaseContextChecksum = 0x12345678
			}
			if version == 0 {
				f.ChecksumType = rocksdb.CRC32c
			}
			enc, err := BuildFooter(&f, offset)
			if err != nil {
				t.Fatalf("%x version %d: %v", magic, version, err)
			}
			var got Footer
			if err := got.DecodeFrom(enc, offset, magic); err != nil {
				t.Fatalf("%x version %d: %v", magic, version, err)
			}
			if got.MetaindexHandle != f.MetaindexHandle || got.IndexHandle != f.IndexHandle || got.FormatVersion != version ||
				got.ChecksumType != f.ChecksumType || got.BaseContextChecksum != f.BaseContextChecksum || got.TableMagicNumber != magic {
				t.Errorf("%x version %d: %+v, not %+v", magic, version, got, f)
			}
			if err := got.DecodeFrom(enc, offset, magic+1); !rocksdb.IsCorruption(err) {
				t.Errorf("%x version %d: another magic number: %v", magic, version, err)
			}
			for n := range enc {
				if err := got.DecodeFrom(enc[n+1:], offset+uint64(n)+1, magic); n >= len(enc)-FooterMinEncodedLength && !rocksdb.IsCorruption(err) {
					t.Errorf("%x version %d: %d bytes: %v", magic, version, len(enc)-n-1, err)
				}
			}
			for i := range enc {
				for bit := range 8 {
					bad := bytes.Clone(enc)
					bad[i] ^= 1 << bit
					err := got.DecodeFrom(bad, offset, magic)
					if err != nil && !rocksdb.IsCorruption(err) && !rocksdb.IsNotSupported(err) {
						t.Errorf("%x version %d: byte %d: %v", magic, version, i, err)
					}
					// An older version has no checksum: its handles are wrong instead.
					older := got.FormatVersion < version
					if err == nil && !older && magic == BlockBasedTableMagicNumber && FormatVersionUsesContextChecksum(version) {
						t.Errorf("version %d: byte %d, bit %d: not noticed", version, i, bit)
					}
				}
			}
		}
	}
}

func TestBuildFooterRefuses(t *testing.T) {
	f := Footer{TableMagicNumber: BlockBasedTableMagicNumber, FormatVersion: LatestBbtFormatVersion + 1, ChecksumType: rocksdb.XXH3}
	if _, err := BuildFooter(&f, 1000); err == nil {
		t.Error("a version of the future")
	}
}

func TestChecksumWithLastByte(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for ct := rocksdb.NoChecksum; ct <= rocksdb.XXH3; ct++ {
		seen := map[uint32]bool{}
		for n := range 300 {
			data := make([]byte, n+1)
			for i := range data {
				data[i] = byte(rnd.Uint32())
			}
			whole := ComputeBuiltinChecksum(ct, data)
			if got := ComputeBuiltinChecksumWithLastByte(ct, data[:n], data[n]); got != whole {
				t.Errorf("type %d, %d bytes: %x, not %x", ct, n, got, whole)
			}
			data[rnd.IntN(len(data))] ^= 0x10
			if other := ComputeBuiltinChecksum(ct, data); ct != rocksdb.NoChecksum && other == whole {
				t.Errorf("type %d, %d bytes: a change not noticed", ct, n)
			}
			seen[whole] = true
		}
		if ct != rocksdb.NoChecksum && len(seen) < 299 {
			t.Errorf("type %d: only %d different", ct, len(seen))
		}
		if !IsSupportedChecksumType(ct) {
			t.Errorf("type %d is not supported", ct)
		}
	}
	if IsSupportedChecksumType(rocksdb.XXH3 + 1) {
		t.Error("an unknown type is supported")
	}
}

func TestChecksumModifier(t *testing.T) {
	if ChecksumModifierForContext(0, 12345) != 0 {
		t.Error("without a base there is no modifier")
	}
	a := ChecksumModifierForContext(0x12345678, 1)
	if a == ChecksumModifierForContext(0x12345678, 2) || a == ChecksumModifierForContext(0x12345678, 1<<32+1) ||
		a == ChecksumModifierForContext(0x12345679, 1) {
		t.Error("two places have one modifier")
	}
}

func FuzzFooter(f *testing.F) {
	for version := uint32(2); version <= LatestBbtFormatVersion; version++ {
		ft := Footer{TableMagicNumber: BlockBasedTableMagicNumber, FormatVersion: version, ChecksumType: rocksdb.XXH3,
			MetaindexHandle: BlockHandle{95, 900}}
		if enc, err := BuildFooter(&ft, 1000); err == nil {
			f.Add(enc)
		}
	}
	f.Add(binary.LittleEndian.AppendUint64(make([]byte, 40), LegacyBlockBasedTableMagicNumber))
	f.Fuzz(func(t *testing.T, data []byte) {
		var ft Footer
		_ = ft.DecodeForImport(data, 1000, 0)
		if err := ft.DecodeFrom(data, 1000, 0); err == nil {
			_ = ft.ToString()
			if !IsSupportedChecksumType(ft.ChecksumType) {
				t.Errorf("checksum type %d", ft.ChecksumType)
			}
		}
	})
}
