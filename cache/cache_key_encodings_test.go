// Port of db/db_block_cache_test.cc (CacheKeyTest.Encodings).

package cache

import (
	"math/bits"
	"math/rand"
	"strconv"
	"testing"

	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
)

// keyWords are the two words of a key that is not empty; of a key with one word, that
// is the second.
func keyWords(k CacheKey) (fileNum, offset uint64) {
	b := k.AsSlice()
	fileNum, offset = util.DecodeFixed64(b), util.DecodeFixed64(b[8:])
	if offset == 0 {
		return offset, fileNum
	}
	return fileNum, offset
}

func lowMask(n int) uint64 { return 1<<n - 1 }

// decodeSession finds the session's number in the differences of a key's words to
// those of the base, when the number, the file's number and the offset have so many
// bits.
func decodeSession(t *testing.T, fileNum, offset uint64, sessionBits, fileBits, offsetBits int) uint64 {
	switch {
	case offsetBits+sessionBits <= 64:
		return bits.Reverse64(offset) & lowMask(sessionBits)
	case fileBits+sessionBits <= 64:
		return util.DownwardInvolution(fileNum & lowMask(sessionBits))
	}
	// The offset's word has the low bits; the others solve a linear system that the
	// file number's word gives.
	known := bits.Reverse64(offset &^ lowMask(offsetBits))
	knownBits := 64 - offsetBits
	n := min(64-fileBits, 64-knownBits)
	mask := lowMask(n)
	right := (fileNum ^ util.DownwardInvolution(known)) & mask
	var rows [64]uint64 // of the matrix, and its right side in bit n
	for i := range n {
		column := util.DownwardInvolution(uint64(1) << knownBits << i)
		for j := range n {
			rows[j] |= column >> j & 1 << i
		}
	}
	for j := range n {
		rows[j] |= right >> j & 1 << n
	}
	for i := range n {
		at := i
		for at < n && rows[at]>>i&1 == 0 {
			at++
		}
		if at == n {
			t.Fatal("the system has no single solution")
		}
		rows[i], rows[at] = rows[at], rows[i]
		for j := range n {
			if j != i && rows[j]>>i&1 != 0 {
				rows[j] ^= rows[i]
			}
		}
	}
	for j := range n {
		known |= rows[j] >> n & 1 << knownBits << j
	}
	return known
}

// Session, file number and offset can be told from a key, up to 128 bits of them.
func TestCacheKeyTest_Encodings(t *testing.T) {
	seed := rand.Int63()
	r := rand.New(rand.NewSource(seed))
	id, upper, lower := strconv.FormatUint(r.Uint64(), 10), r.Uint64(), r.Uint64()|1
	key := func(session, file, offset uint64) CacheKey {
		base := NewOffsetableCacheKey(id, uniqueid.EncodeSessionId(upper, lower^session), file)
		// The two lowest bits are left out.
		return base.WithOffsetForMinSizeRecord(offset * 4)
	}
	baseFile, baseOffset := keyWords(key(0, 1, 0))
	baseFile ^= bits.Reverse64(1)
	for sessionBits := 0; sessionBits <= 64; sessionBits += 2 {
		for fileBits := 1; fileBits <= 64; fileBits += 3 {
			for offsetBits := 0; offsetBits <= 62 && sessionBits+fileBits+offsetBits <= 128; offsetBits += 2 {
				session, offset := r.Uint64()&lowMask(sessionBits), r.Uint64()&lowMask(offsetBits)
				file := max(r.Uint64()&lowMask(fileBits), 1)
				f, o := keyWords(key(session, file, offset))
				f, o = f^baseFile, o^baseOffset
				s := decodeSession(t, f, o, sessionBits, fileBits, offsetBits)
				if s != session || o^bits.Reverse64(s) != offset || bits.Reverse64(f^util.DownwardInvolution(s)) != file {
					t.Fatalf("seed %d: %d, %d, %d of %d, %d, %d bits decode to session %d", seed, session, file, offset, sessionBits, fileBits, offsetBits, s)
				}
			}
		}
	}
}
