// Port of util/murmurhash.{h,cc}. Differs: the 64-bit variant only, on all
// machines; upstream uses others on 32-bit ones.

package util

// MurmurHash is MurmurHash64A of data.
func MurmurHash(data []byte, seed uint32) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := uint64(seed) ^ uint64(len(data))*m
	for ; len(data) >= 8; data = data[8:] {
		k := DecodeFixed64(data) * m
		k ^= k >> r
		h = (h ^ k*m) * m
	}
	if len(data) > 0 {
		for i, c := range data {
			h ^= uint64(c) << uint(8*i)
		}
		h *= m
	}
	h ^= h >> r
	h *= m
	return h ^ h>>r
}
