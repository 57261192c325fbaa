// No upstream twin: the encoder that upstream has from libbz2. It makes streams of
// block size 1 (100 kB), with as many Huffman tables, chosen as libbz2 does.

package compression

import "math/bits"

const (
	bzip2BlockSize   = 100000 - 19 // bytes after the first run-length coding
	bzip2BlockMagic  = 0x314159265359
	bzip2EndMagic    = 0x177245385090
	bzip2MaxTables   = 6
	bzip2ChunkSize   = 50 // symbols that share a table
	bzip2MaxAlphabet = 258
	bzip2MaxLen      = 17 // bits of a code
	bzip2Iterations  = 4
)

var bzip2CRC = func() (table [256]uint32) {
	for i := range table {
		c := uint32(i) << 24
		for range 8 {
			if c&(1<<31) != 0 {
				c = c<<1 ^ 0x04c11db7
			} else {
				c <<= 1
			}
		}
		table[i] = c
	}
	return table
}()

// bzip2Encoder has the working memory of one stream after another.
type bzip2Encoder struct {
	out  []byte // what is free of the destination
	n    int    // bytes of it that are used
	full bool   // it is too short
	acc  uint64 // bits that wait, nacc of them, at the lower end
	nacc uint

	block          []byte
	sa, sa2        []int32 // rotations in order
	rank, rank2    []int32
	buckets        []int32
	symbols        []uint16
	selectors      []byte
	lens           [bzip2MaxTables][bzip2MaxAlphabet]uint8
	codes          [bzip2MaxTables][bzip2MaxAlphabet]uint32
	freqs          [bzip2MaxTables][bzip2MaxAlphabet]int32
	heap           []int32
	weight, parent []int32
}

// encode writes src as one stream into dst; ok is false where it does not fit.
func (e *bzip2Encoder) encode(dst, src []byte) (n int, ok bool) {
	e.out, e.n, e.full, e.acc, e.nacc = dst, 0, false, 0, 0
	e.bits(0x425a6831, 32) // "BZh1"
	combined := uint32(0)
	for len(src) > 0 && !e.full {
		used, crc := e.fillBlock(src)
		src = src[used:]
		combined = bits.RotateLeft32(combined, 1) ^ crc
		e.writeBlock(crc)
	}
	e.bits(bzip2EndMagic>>24, 24)
	e.bits(bzip2EndMagic&(1<<24-1), 24)
	e.bits(uint64(combined), 32)
	if e.nacc > 0 {
		e.bits(0, 8-e.nacc)
	}
	e.out = nil
	return e.n, !e.full
}

// bits writes the n lower bits of v, n at most 32.
func (e *bzip2Encoder) bits(v uint64, n uint) {
	e.acc = e.acc<<n | v
	e.nacc += n
	for e.nacc >= 8 {
		e.nacc -= 8
		if e.n == len(e.out) {
			e.full = true
			return
		}
		e.out[e.n] = byte(e.acc >> e.nacc)
		e.n++
	}
}

// fillBlock takes as much of src as a block holds. Runs of 4 to 255 bytes are 4 of
// them and how many more there are.
func (e *bzip2Encoder) fillBlock(src []byte) (used int, crc uint32) {
	e.block = e.block[:0]
	crc = 0xffffffff
	for used < len(src) && len(e.block) < bzip2BlockSize-5 {
		b, run := src[used], 1
		for run < 255 && used+run < len(src) && src[used+run] == b {
			run++
		}
		for range run {
			crc = crc<<8 ^ bzip2CRC[byte(crc>>24)^b]
		}
		for range min(run, 4) {
			e.block = append(e.block, b)
		}
		if run >= 4 {
			e.block = append(e.block, byte(run-4))
		}
		used += run
	}
	return used, ^crc
}

func (e *bzip2Encoder) writeBlock(crc uint32) {
	first := e.sortRotations()
	alphabet, used := e.moveToFront()
	tables := e.chooseTables(alphabet)
	e.bits(bzip2BlockMagic>>24, 24)
	e.bits(bzip2BlockMagic&(1<<24-1), 24)
	e.bits(uint64(crc), 32)
	e.bits(0, 1) // not randomised
	e.bits(uint64(first), 24)
	e.writeUsed(used)
	e.writeTables(tables, alphabet)
	for i, s := range e.symbols {
		t := e.selectors[i/bzip2ChunkSize]
		e.bits(uint64(e.codes[t][s]), uint(e.lens[t][s]))
		if e.full {
			return
		}
	}
}

func grown(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	return s[:n]
}

// sortRotations puts the rotations of the block in order, by their first byte and
// then by doubled lengths, and gives the place of the unrotated one.
func (e *bzip2Encoder) sortRotations() (first int) {
	n := len(e.block)
	e.sa, e.sa2, e.rank, e.rank2 = grown(e.sa, n), grown(e.sa2, n), grown(e.rank, n), grown(e.rank2, n)
	e.buckets = grown(e.buckets, max(n, 256)+1)
	for i, b := range e.block {
		e.rank[i] = int32(b)
		e.sa2[i] = int32(i)
	}
	e.sortByRank(256)
	classes := e.newRanks(0)
	for k := 1; classes < n && k < n; k *= 2 {
		// In order of the second half: the rotations k before those in order.
		for i, at := range e.sa {
			at -= int32(k)
			if at < 0 {
				at += int32(n)
			}
			e.sa2[i] = at
		}
		e.sortByRank(classes)
		classes = e.newRanks(k)
	}
	for i, at := range e.sa {
		if at == 0 {
			return i
		}
	}
	return 0
}

// sortByRank sorts sa2 by rank, of which there are so many, into sa; equal ones
// stay in order.
func (e *bzip2Encoder) sortByRank(classes int) {
	count := e.buckets[:classes+1]
	clear(count)
	for _, at := range e.sa2 {
		count[e.rank[at]+1]++
	}
	for i := 1; i <= classes; i++ {
		count[i] += count[i-1]
	}
	for _, at := range e.sa2 {
		r := e.rank[at]
		e.sa[count[r]] = at
		count[r]++
	}
}

// newRanks numbers the rotations by their first k bytes and the k behind these (k
// 0: by their first byte) and gives how many different ones there are.
func (e *bzip2Encoder) newRanks(k int) int {
	n := len(e.block)
	second := func(at int32) int32 {
		i := int(at) + k
		if i >= n {
			i -= n
		}
		return e.rank[i]
	}
	classes := 0
	for i, at := range e.sa {
		if i > 0 {
			prev := e.sa[i-1]
			if e.rank[at] != e.rank[prev] || k > 0 && second(at) != second(prev) {
				classes++
			}
		}
		e.rank2[at] = int32(classes)
	}
	e.rank, e.rank2 = e.rank2, e.rank
	return classes + 1
}

// moveToFront makes symbols of the bytes before the rotations: runs of the byte
// last seen as numbers in base 2 of the digits 1 and 2, others by how long ago
// they were seen.
func (e *bzip2Encoder) moveToFront() (alphabet int, used [256]bool) {
	for _, b := range e.block {
		used[b] = true
	}
	var order [256]byte
	n := 0
	for b := range used {
		if used[b] {
			order[n] = byte(b)
			n++
		}
	}
	e.symbols = e.symbols[:0]
	zeros := 0
	flush := func() {
		for ; zeros > 0; zeros = (zeros - 1) / 2 {
			e.symbols = append(e.symbols, uint16((zeros-1)&1))
		}
	}
	for _, at := range e.sa {
		b := e.block[(int(at)+len(e.block)-1)%len(e.block)]
		if order[0] == b {
			zeros++
			continue
		}
		flush()
		i := 1
		for order[i] != b {
			i++
		}
		copy(order[1:i+1], order[:i])
		order[0] = b
		e.symbols = append(e.symbols, uint16(i+1))
	}
	flush()
	e.symbols = append(e.symbols, uint16(n+1)) // the end
	return n + 2, used
}

// chooseTables makes Huffman tables and the choice among them for each chunk: each
// begins with a part of the alphabet as the cheap one, and then comes of the chunks
// that it was the cheapest for.
func (e *bzip2Encoder) chooseTables(alphabet int) (tables int) {
	tables = bzip2MaxTables
	for i, limit := range []int{200, 600, 1200, 2400} {
		if len(e.symbols) < limit {
			tables = i + 2
			break
		}
	}
	var total [bzip2MaxAlphabet]int
	for _, s := range e.symbols {
		total[s]++
	}
	left, from := len(e.symbols), 0
	for t := tables; t > 0; t-- {
		share, sum, to := left/t, 0, from
		for to < alphabet && (sum < share || to == from) {
			sum += total[to]
			to++
		}
		if t == 1 {
			to = alphabet
		}
		for s := range alphabet {
			e.lens[t-1][s] = 15
			if s >= from && s < to {
				e.lens[t-1][s] = 0
			}
		}
		left, from = left-sum, min(to, alphabet-1)
	}
	for range bzip2Iterations {
		for t := range tables {
			clear(e.freqs[t][:alphabet])
		}
		e.selectors = e.selectors[:0]
		for from := 0; from < len(e.symbols); from += bzip2ChunkSize {
			chunk := e.symbols[from:min(from+bzip2ChunkSize, len(e.symbols))]
			best, least := 0, 1<<30
			for t := range tables {
				cost := 0
				for _, s := range chunk {
					cost += int(e.lens[t][s])
				}
				if cost < least {
					best, least = t, cost
				}
			}
			e.selectors = append(e.selectors, byte(best))
			for _, s := range chunk {
				e.freqs[best][s]++
			}
		}
		for t := range tables {
			e.makeLengths(e.lens[t][:alphabet], e.freqs[t][:alphabet])
		}
	}
	for t := range tables {
		e.makeCodes(e.lens[t][:alphabet], e.codes[t][:alphabet])
	}
	return tables
}

// makeLengths gives each symbol the length of its Huffman code. Where one is too
// long the frequencies are made more alike.
func (e *bzip2Encoder) makeLengths(lens []uint8, freqs []int32) {
	n := len(freqs)
	e.weight, e.parent = grown(e.weight, 2*n), grown(e.parent, 2*n)
	for s, f := range freqs {
		e.weight[s] = max(f, 1) << 8
	}
	for {
		if e.treeLengths(lens, n) <= bzip2MaxLen {
			return
		}
		for s := range n {
			e.weight[s] = (1 + e.weight[s]>>9) << 8
		}
	}
}

// treeLengths builds the tree of n weights and gives the longest code's length. A
// weight's lower 8 bits are its tree's height, so that low trees are joined first.
func (e *bzip2Encoder) treeLengths(lens []uint8, n int) (longest int) {
	e.heap = e.heap[:0]
	for s := range n {
		e.push(int32(s))
	}
	next := n
	for len(e.heap) > 1 {
		a, b := e.pop(), e.pop()
		e.parent[a], e.parent[b] = int32(next), int32(next)
		e.weight[next] = (e.weight[a]&^255 + e.weight[b]&^255) | (1 + max(e.weight[a]&255, e.weight[b]&255))
		e.push(int32(next))
		next++
	}
	root := int32(next - 1)
	for s := range n {
		depth := 0
		for at := int32(s); at != root; at = e.parent[at] {
			depth++
		}
		lens[s] = uint8(depth)
		longest = max(longest, depth)
	}
	return longest
}

func (e *bzip2Encoder) push(v int32) {
	e.heap = append(e.heap, v)
	i := len(e.heap) - 1
	for i > 0 {
		p := (i - 1) / 2
		if e.weight[e.heap[p]] <= e.weight[v] {
			break
		}
		e.heap[i] = e.heap[p]
		i = p
	}
	e.heap[i] = v
}

func (e *bzip2Encoder) pop() int32 {
	top := e.heap[0]
	last := len(e.heap) - 1
	v := e.heap[last]
	e.heap = e.heap[:last]
	for i := 0; last > 0; {
		c := 2*i + 1
		if c+1 < last && e.weight[e.heap[c+1]] < e.weight[e.heap[c]] {
			c++
		}
		if c >= last || e.weight[e.heap[c]] >= e.weight[v] {
			e.heap[i] = v
			break
		}
		e.heap[i] = e.heap[c]
		i = c
	}
	return top
}

// makeCodes numbers the symbols of each length in order.
func (e *bzip2Encoder) makeCodes(lens []uint8, codes []uint32) {
	code := uint32(0)
	for length := uint8(1); length <= bzip2MaxLen; length++ {
		for s := range lens {
			if lens[s] == length {
				codes[s] = code
				code++
			}
		}
		code <<= 1
	}
}

// writeUsed writes the map of bytes that occur: which groups of 16 have any, and
// which they are.
func (e *bzip2Encoder) writeUsed(used [256]bool) {
	groups, maps := uint64(0), [16]uint64{}
	for b := range used {
		maps[b/16] <<= 1
		if used[b] {
			maps[b/16] |= 1
			groups |= 1 << (15 - b/16)
		}
	}
	e.bits(groups, 16)
	for _, m := range maps {
		if m != 0 {
			e.bits(m, 16)
		}
	}
}

// writeTables writes the chunks' tables, by how long ago each was chosen, and the
// lengths of codes as differences.
func (e *bzip2Encoder) writeTables(tables, alphabet int) {
	e.bits(uint64(tables), 3)
	e.bits(uint64(len(e.selectors)), 15)
	order := [bzip2MaxTables]byte{0, 1, 2, 3, 4, 5}
	for _, t := range e.selectors {
		i := 0
		for order[i] != t {
			i++
		}
		copy(order[1:i+1], order[:i])
		order[0] = t
		e.bits(1<<(i+1)-2, uint(i+1))
	}
	for t := range tables {
		cur := e.lens[t][0]
		e.bits(uint64(cur), 5)
		for _, l := range e.lens[t][:alphabet] {
			for ; cur < l; cur++ {
				e.bits(2, 2)
			}
			for ; cur > l; cur-- {
				e.bits(3, 2)
			}
			e.bits(0, 1)
		}
	}
}
