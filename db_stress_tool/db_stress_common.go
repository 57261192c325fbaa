// Port of db_stress_tool/db_stress_common.{h,cc}: keys, values, random keys.

package dbstresstool

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	randomValueMaxFactor          = 3
	valueMaxLen                   = 100
	largePrimeForCommonFactorSkew = 1872439133
	zipfSumSize                   = 100000
)

// keyGenerator maps numbers to keys and back, in the same order. A key has one
// to max_key_len parts of 8 bytes, high byte first; in a window of numbers the
// first weights[0] have one part, the next weights[1] two, and so on. Some
// keys have up to 7 'x' behind.
type keyGenerator struct {
	window  uint64
	weights []uint64
}

func newKeyGenerator(f *Flags) (*keyGenerator, string) {
	levels, scale := uint64(max(f.MaxKeyLen, 0)), uint64(max(f.KeyWindowScaleFactor, 0))
	g := &keyGenerator{window: scale * 100}
	if f.KeyLenPercentDist == "" {
		if levels == 0 || g.window < levels {
			return nil, "max_key_len and key_window_scale_factor must be positive"
		}
		each := g.window / levels
		for range levels - 1 {
			g.weights = append(g.weights, each)
		}
		g.weights = append(g.weights, g.window-each*(levels-1))
		return g, ""
	}
	parts := strings.Split(f.KeyLenPercentDist, ",")
	if uint64(len(parts)) != levels {
		return nil, "Number of weights in key_len_dist should be equal to max_key_len"
	}
	total := uint64(0)
	for _, p := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 32)
		if err != nil || n == 0 {
			return nil, "weights in key_len_dist should be positive numbers"
		}
		g.weights = append(g.weights, n*scale)
		total += n
	}
	if total != 100 {
		return nil, "Sum of all weights in key_len_dist should be 100"
	}
	return g, ""
}

// key makes the key of a number.
func (g *keyGenerator) key(n int64) []byte {
	key := make([]byte, 0, 8*len(g.weights)+8)
	window, offset := uint64(n)/g.window, uint64(n)%g.window
	for level, weight := range g.weights {
		part := uint64(0)
		if level == 0 {
			part = window * weight
		}
		part += min(offset, weight-1)
		key = binary.BigEndian.AppendUint64(key, part)
		if offset < weight {
			// Not before the next level's first key, nor at the last level: it
			// would be out of order.
			if offset < weight-1 && level < len(g.weights)-1 {
				for range offset & 7 {
					key = append(key, 'x')
				}
			}
			break
		}
		offset -= weight
	}
	return key
}

// intVal gives the number of a key, or of the first key with that beginning.
func (g *keyGenerator) intVal(key []byte) (n uint64, ok bool) {
	levels := len(key) / 8
	if len(key) > 8*len(g.weights) {
		return 0, false
	}
	for i := range levels {
		part, weight := binary.BigEndian.Uint64(key[8*i:]), g.weights[i]
		n += part/weight*g.window + part%weight
		if i < levels-1 {
			n++ // a part that others follow is weight-1 for weight
		}
	}
	return n, true
}

func (g *keyGenerator) firstIntValInPrefix(prefix []byte) (uint64, bool) {
	return g.intVal(append(bytes.Clone(prefix), make([]byte, (8-len(prefix)%8)%8)...))
}

// prefixKeyCount bounds the number of keys with a prefix, given what follows
// it.
func (g *keyGenerator) prefixKeyCount(prefix, upper []byte) uint64 {
	from, ok1 := g.firstIntValInPrefix(prefix)
	to, ok2 := g.firstIntValInPrefix(upper)
	if !ok1 || !ok2 {
		return 0
	}
	return to - from
}

// nextPrefix is the least prefix of the same length after p.
func nextPrefix(p []byte) ([]byte, bool) {
	q := bytes.Clone(p)
	for i := len(q) - 1; i >= 0; i-- {
		if q[i]++; q[i] != 0 {
			return q, true
		}
	}
	return nil, false
}

// generateValue makes the value of a number: the number and bytes that follow
// from it.
func (f *Flags) generateValue(base uint32) []byte {
	n := int(base%randomValueMaxFactor+1) * int(f.ValueSizeMult)
	v := binary.LittleEndian.AppendUint32(make([]byte, 0, n), base)
	for i := 4; i < n; i++ {
		v = append(v, byte(base)^byte(i))
	}
	return v
}

// getValueBase gives a value's number.
func getValueBase(v []byte) (uint32, bool) {
	if len(v) < 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(v), true
}

// generateWideColumns makes the entity of a number: the value, and parts of it
// under names that are parts of it.
func generateWideColumns(base uint32, value []byte) rocksdb.WideColumns {
	columns := rocksdb.WideColumns{{Name: nil, Value: value}}
	for i := 1; i < int(base%4)+1; i++ {
		columns = append(columns, rocksdb.WideColumn{Name: value[:i], Value: value[i:]})
	}
	return columns
}

// expectedWideColumns are the columns that a value was stored with, in order.
func (f *Flags) expectedWideColumns(base uint32, value []byte) rocksdb.WideColumns {
	if f.UsePutEntityOneIn == 0 || base%f.UsePutEntityOneIn != 0 {
		return rocksdb.WideColumns{{Value: value}}
	}
	columns := generateWideColumns(base, value)
	slices.SortFunc(columns, func(a, b rocksdb.WideColumn) int { return bytes.Compare(a.Name, b.Name) })
	return columns
}

// verifyWideColumns tells whether columns are those of value.
func (f *Flags) verifyWideColumns(value []byte, columns rocksdb.WideColumns) bool {
	base, ok := getValueBase(value)
	if !ok {
		return false
	}
	return slices.EqualFunc(columns, f.expectedWideColumns(base, value), func(a, b rocksdb.WideColumn) bool {
		return bytes.Equal(a.Name, b.Name) && bytes.Equal(a.Value, b.Value)
	})
}

// defaultColumn is nil when there is none.
func defaultColumn(columns rocksdb.WideColumns) []byte {
	if len(columns) > 0 && len(columns[0].Name) == 0 {
		return columns[0].Value
	}
	return nil
}

// hotKeys gives numbers by a Zipf distribution.
type hotKeys struct{ sums []float64 }

func newHotKeys(alpha float64) *hotKeys {
	h := &hotKeys{make([]float64, zipfSumSize+1)}
	c := 0.0
	for i := 1; i <= zipfSumSize; i++ {
		c += 1 / math.Pow(float64(i), alpha)
	}
	c = 1 / c
	for i := 1; i <= zipfSumSize; i++ {
		h.sums[i] = h.sums[i-1] + c/math.Pow(float64(i), alpha)
	}
	return h
}

// key gives the key of a number in [0, 1), spread over all keys.
func (h *hotKeys) key(seed float64, maxKey int64) int64 {
	zipf := int64(0)
	for low, high := 1, zipfSumSize; low <= high; {
		mid := (low + high) / 2
		if h.sums[mid] >= seed && h.sums[mid-1] < seed {
			zipf = int64(mid)
			break
		}
		if h.sums[mid] >= seed {
			high = mid - 1
		} else {
			low = mid + 1
		}
	}
	r := util.NewRandom64(uint64(zipf * maxKey / zipfSumSize))
	return int64(r.Next() % uint64(maxKey))
}

// generateOneKey gives a key, of the active width that moves with iteration.
func (s *stressTest) generateOneKey(t *threadState, iteration uint64) int64 {
	f := s.flags
	done := float64(iteration) / float64(f.OpsPerThread)
	base := int64(done * float64(f.MaxKey-f.ActiveWidth))
	key := base + int64(t.rand.Next())%f.ActiveWidth
	if f.HotKeyAlpha != 0 {
		key = s.hotKey(t)
	}
	return key
}

func (s *stressTest) hotKey(t *threadState) int64 {
	f := s.flags
	return s.tool.hot.key(float64(int64(t.rand.Next())%f.MaxKey)/float64(f.MaxKey), f.MaxKey)
}

// generateNKeys gives keys, rising unless they are hot ones.
func (s *stressTest) generateNKeys(t *threadState, n int, iteration uint64) []int64 {
	f := s.flags
	done := float64(iteration) / float64(f.OpsPerThread)
	base := int64(done * float64(f.MaxKey-f.ActiveWidth))
	next := base + int64(t.rand.Next())%f.ActiveWidth
	keys := make([]int64, 1, max(n, 1))
	keys[0] = next
	for i := 1; i < n; i++ {
		if f.HotKeyAlpha != 0 {
			next = s.hotKey(t)
		} else {
			next += int64(t.rand.Next()) % (f.ActiveWidth - (next - base))
		}
		keys = append(keys, next)
	}
	return keys
}
