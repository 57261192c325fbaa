// Port of the LZ4 parts of util/compression.cc, with an encoder of our own.
// Differs: LZ4HC output is valid LZ4 but not that of the C library; with a
// dictionary it is the better of LZ4 with and LZ4HC without.

package compression

import (
	"encoding/binary"
	"math/bits"

	"github.com/pierrec/lz4/v4"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// An LZ4 block is a row of sequences:
//
//	token      4 bits literal count, 4 bits match length less 4; 15 means that
//	           more bytes follow, each added up to the first below 255
//	literals
//	offset     fixed16, how far back the match begins
//
// and ends with a sequence of literals alone. The last match begins at least
// 12 bytes before the end of the input and the last 5 bytes are literals.
//
// The encoder makes the same choices as LZ4_compress_fast of the C library, so
// that files come out alike: a table of the last place of each hash, probed
// with a step that grows by one each 64 misses.
const (
	lz4MinMatch     = 4
	lz4MFLimit      = 12
	lz4LastLiterals = 5
	lz4MinLength    = lz4MFLimit + 1
	lz4SkipTrigger  = 6
	lz4MaxDistance  = 65535
	lz4MLMask       = 15
	lz4RunMask      = 15
	// Inputs below this size use 16-bit table entries and 4-byte hashes.
	lz4Limit64K = 64<<10 + lz4MFLimit - 1

	lz4HashLog16 = 13
	lz4HashLog32 = 12

	lz4MaxAcceleration = 65537
)

type (
	lz4Table16 [1 << lz4HashLog16]uint16
	lz4Table32 [1 << lz4HashLog32]uint32
)

func lz4Hash16(b []byte, i int) uint32 {
	return binary.LittleEndian.Uint32(b[i:]) * 2654435761 >> (32 - lz4HashLog16)
}

func lz4Hash32(b []byte, i int) uint32 {
	return uint32(binary.LittleEndian.Uint64(b[i:]) << 24 * 889523592379 >> (64 - lz4HashLog32))
}

// lz4Count is the length of the common run of b[i:limit] and b[m:], m < i.
func lz4Count(b []byte, i, m, limit int) int {
	start := i
	for i+8 <= limit {
		d := binary.LittleEndian.Uint64(b[i:]) ^ binary.LittleEndian.Uint64(b[m:])
		if d != 0 {
			return i - start + bits.TrailingZeros64(d)>>3
		}
		i, m = i+8, m+8
	}
	for i < limit && b[i] == b[m] {
		i, m = i+1, m+1
	}
	return i - start
}

// lz4PutLiterals writes a token's literal half and the literals; the token's
// place is returned. op < 0 when dst is too short.
func lz4PutLiterals(dst []byte, op int, lit []byte) (token, next int) {
	n := len(lit)
	if op+n+(2+1+lz4LastLiterals)+n/255 > len(dst) {
		return 0, -1
	}
	token = op
	op++
	if n >= lz4RunMask {
		dst[token] = lz4RunMask << 4
		r := n - lz4RunMask
		for ; r >= 255; r -= 255 {
			dst[op] = 255
			op++
		}
		dst[op] = byte(r)
		op++
	} else {
		dst[token] = byte(n << 4)
	}
	return token, op + copy(dst[op:], lit)
}

// lz4PutMatch writes offset and match length (less 4); next < 0 when dst is too
// short.
func lz4PutMatch(dst []byte, token, op, offset, length int) (next int) {
	if op+2+(1+lz4LastLiterals)+(length+240)/255 > len(dst) {
		return -1
	}
	binary.LittleEndian.PutUint16(dst[op:], uint16(offset))
	op += 2
	if length < lz4MLMask {
		dst[token] += byte(length)
		return op
	}
	dst[token] += lz4MLMask
	length -= lz4MLMask
	for ; length >= 255; length -= 255 {
		dst[op] = 255
		op++
	}
	dst[op] = byte(length)
	return op + 1
}

// lz4LastRun writes the closing literals; it returns the block's size, 0 when
// dst is too short.
func lz4LastRun(dst []byte, op int, lit []byte) int {
	n := len(lit)
	if op+n+1+(n+255-lz4RunMask)/255 > len(dst) {
		return 0
	}
	if n >= lz4RunMask {
		dst[op] = lz4RunMask << 4
		op++
		r := n - lz4RunMask
		for ; r >= 255; r -= 255 {
			dst[op] = 255
			op++
		}
		dst[op] = byte(r)
	} else {
		dst[op] = byte(n << 4)
	}
	op++
	return op + copy(dst[op:], lit)
}

// lz4CompressSmall compresses src, shorter than lz4Limit64K, into dst. 0 means
// that it does not fit. table has to be zero.
func lz4CompressSmall(src, dst []byte, table *lz4Table16, acceleration int) int {
	end := len(src)
	if end < lz4MinLength {
		return lz4LastRun(dst, 0, src)
	}
	mflimit := end - lz4MFLimit + 1
	matchLimit := end - lz4LastLiterals
	op, anchor, ip := 0, 0, 1
	table[lz4Hash16(src, 0)] = 0
	h := lz4Hash16(src, 1)
	for {
		// Find a match.
		next, step, tries := ip, 1, acceleration<<lz4SkipTrigger
		var m int
		for {
			cur := h
			ip = next
			next += step
			step = tries >> lz4SkipTrigger
			tries++
			if next > mflimit {
				return lz4LastRun(dst, op, src[anchor:])
			}
			m = int(table[cur])
			h = lz4Hash16(src, next)
			table[cur] = uint16(ip)
			if binary.LittleEndian.Uint32(src[m:]) == binary.LittleEndian.Uint32(src[ip:]) {
				break
			}
		}
		for ip > anchor && m > 0 && src[ip-1] == src[m-1] {
			ip, m = ip-1, m-1
		}
		var token int
		if token, op = lz4PutLiterals(dst, op, src[anchor:ip]); op < 0 {
			return 0
		}
		for {
			length := lz4Count(src, ip+lz4MinMatch, m+lz4MinMatch, matchLimit)
			if op = lz4PutMatch(dst, token, op, ip-m, length); op < 0 {
				return 0
			}
			ip += length + lz4MinMatch
			anchor = ip
			if ip >= mflimit {
				return lz4LastRun(dst, op, src[anchor:])
			}
			table[lz4Hash16(src, ip-2)] = uint16(ip - 2)
			cur := lz4Hash16(src, ip)
			m = int(table[cur])
			table[cur] = uint16(ip)
			if binary.LittleEndian.Uint32(src[m:]) != binary.LittleEndian.Uint32(src[ip:]) {
				break
			}
			if op >= len(dst) {
				return 0
			}
			token = op
			dst[op] = 0
			op++
		}
		ip++
		h = lz4Hash16(src, ip)
	}
}

// lz4CompressLarge compresses buf[start:] into dst; what is before start is a
// dictionary of at most 64 KiB. table holds places in buf plus base, 0 meaning
// none: base is 0 without a dictionary, else 64 KiB less the dictionary's size.
func lz4CompressLarge(buf []byte, start int, dst []byte, table *lz4Table32, base, acceleration int) int {
	end := len(buf)
	if end-start < lz4MinLength {
		return lz4LastRun(dst, 0, buf[start:])
	}
	mflimit := end - lz4MFLimit + 1
	matchLimit := end - lz4LastLiterals
	op, anchor, ip := 0, start, start+1
	table[lz4Hash32(buf, start)] = uint32(start + base)
	h := lz4Hash32(buf, ip)
	for {
		next, step, tries := ip, 1, acceleration<<lz4SkipTrigger
		var m int
		for {
			cur := h
			ip = next
			next += step
			step = tries >> lz4SkipTrigger
			tries++
			if next > mflimit {
				return lz4LastRun(dst, op, buf[anchor:])
			}
			m = int(table[cur]) - base
			h = lz4Hash32(buf, next)
			table[cur] = uint32(ip + base)
			if m >= 0 && m+lz4MaxDistance >= ip &&
				binary.LittleEndian.Uint32(buf[m:]) == binary.LittleEndian.Uint32(buf[ip:]) {
				break
			}
		}
		low := 0
		if m >= start {
			low = start
		}
		for ip > anchor && m > low && buf[ip-1] == buf[m-1] {
			ip, m = ip-1, m-1
		}
		var token int
		if token, op = lz4PutLiterals(dst, op, buf[anchor:ip]); op < 0 {
			return 0
		}
		for {
			length := lz4Count(buf, ip+lz4MinMatch, m+lz4MinMatch, matchLimit)
			if op = lz4PutMatch(dst, token, op, ip-m, length); op < 0 {
				return 0
			}
			ip += length + lz4MinMatch
			anchor = ip
			if ip >= mflimit {
				return lz4LastRun(dst, op, buf[anchor:])
			}
			table[lz4Hash32(buf, ip-2)] = uint32(ip - 2 + base)
			cur := lz4Hash32(buf, ip)
			m = int(table[cur]) - base
			table[cur] = uint32(ip + base)
			if m < 0 || m+lz4MaxDistance < ip ||
				binary.LittleEndian.Uint32(buf[m:]) != binary.LittleEndian.Uint32(buf[ip:]) {
				break
			}
			if op >= len(dst) {
				return 0
			}
			token = op
			dst[op] = 0
			op++
		}
		ip++
		h = lz4Hash32(buf, ip)
	}
}

// lz4LoadDict enters a dictionary's places, each third one, into table.
func lz4LoadDict(dict []byte, table *lz4Table32) (base int) {
	base = 64<<10 - len(dict)
	for i := 0; i+8 <= len(dict); i += 3 {
		table[lz4Hash32(dict, i)] = uint32(i + base)
	}
	return base
}

// lz4Area is an LZ4 compressor's working area.
type lz4Area struct {
	small lz4Table16
	large lz4Table32
	buf   []byte // dictionary and source, where there is a dictionary
	hcOut []byte // LZ4HC's result, where there is a dictionary
	hc    lz4.CompressorHC
}

// lz4Compressor is both LZ4 and LZ4HC.
type lz4Compressor struct {
	compressorBase
	hc       bool
	level    lz4.CompressionLevel // of HC
	accel    int
	dict     []byte      // at most the last 64 KiB
	dictTab  *lz4Table32 // the dictionary's places
	dictBase int
}

func newLZ4Compressor(opts *rocksdb.CompressionOptions, hc bool, dict []byte) *lz4Compressor {
	c := &lz4Compressor{hc: hc, accel: 1}
	c.init(opts, rocksdb.LZ4Compression, "BuiltinLZ4CompressorV2", dict)
	c.newArea = func() any { return new(lz4Area) }
	c.parallel = 1
	if hc {
		c.typ, c.name, c.parallel = rocksdb.LZ4HCCompression, "BuiltinLZ4HCCompressorV2", opts.ParallelThreads
		c.level = lz4HCLevel(opts.Level)
	} else if opts.Level < 0 {
		c.accel = min(-max(opts.Level, -lz4MaxAcceleration), lz4MaxAcceleration)
	}
	c.clone = func(dict []byte) rocksdb.Compressor { return newLZ4Compressor(c.opts, hc, dict) }
	if len(dict) > 64<<10 {
		dict = dict[len(dict)-64<<10:]
	}
	if len(dict) >= 8 {
		c.dict, c.dictTab = dict, new(lz4Table32)
		c.dictBase = lz4LoadDict(dict, c.dictTab)
	}
	return c
}

// lz4HCLevel maps the C library's levels 1 to 12 on search depths.
func lz4HCLevel(level int) lz4.CompressionLevel {
	switch {
	case level == rocksdb.DefaultCompressionLevel || level < 1 || level >= 9:
		return lz4.Level9
	default:
		return lz4.CompressionLevel(1 << (8 + level))
	}
}

// CompressBlock implements rocksdb.Compressor.
func (c *lz4Compressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	n, ok := startBlock(src, dst)
	if !ok {
		return 0, rocksdb.NoCompression, nil
	}
	a, temporary := c.area(area)
	w := a.(*lz4Area)
	out := dst[n:]
	var m int
	switch {
	case c.dict != nil:
		if len(w.buf) < len(c.dict) {
			w.buf = append(w.buf[:0], c.dict...)
		}
		w.buf = append(w.buf[:len(c.dict)], src...)
		w.large = *c.dictTab
		m = lz4CompressLarge(w.buf, len(c.dict), out, &w.large, c.dictBase, c.accel)
		if c.hc {
			m = c.tryHC(w, src, out, m)
		}
	case c.hc:
		w.hc.Level = c.level
		m = lz4CompressHC(&w.hc, src, out)
	case len(src) < lz4Limit64K:
		clear(w.small[:])
		m = lz4CompressSmall(src, out, &w.small, c.accel)
	default:
		clear(w.large[:])
		m = lz4CompressLarge(src, 0, out, &w.large, 0, c.accel)
	}
	if temporary {
		c.ReleaseWorkingArea(a)
	}
	if m == 0 {
		return 1, rocksdb.NoCompression, nil
	}
	return n + m, c.typ, nil
}

// tryHC replaces out's m bytes (0: none) by LZ4HC's where these are fewer.
func (c *lz4Compressor) tryHC(w *lz4Area, src, out []byte, m int) int {
	limit := len(out)
	if m > 0 {
		limit = m
	}
	if cap(w.hcOut) < limit {
		w.hcOut = make([]byte, limit)
	}
	w.hc.Level = c.level
	if n := lz4CompressHC(&w.hc, src, w.hcOut[:limit]); n > 0 && (m == 0 || n < m) {
		return copy(out, w.hcOut[:n])
	}
	return m
}

func lz4CompressHC(hc *lz4.CompressorHC, src, dst []byte) int {
	m, err := hc.CompressBlock(src, dst)
	if err != nil {
		return 0 // dst is too short
	}
	return m
}

func lz4Decompress(src, dst, dict []byte) error {
	var n int
	var err error
	if len(dict) == 0 {
		n, err = lz4.UncompressBlock(src, dst)
	} else {
		n, err = lz4.UncompressBlockWithDict(src, dst, dict)
	}
	if err != nil {
		return errLZ4
	}
	if n != len(dst) {
		return errLZ4Size
	}
	return nil
}

var (
	errLZ4     = rocksdb.Corruption("Error decompressing LZ4 data")
	errLZ4Size = rocksdb.Corruption("Size mismatch decompressing LZ4 data")
)
