// Port of util/simple_mixed_compressor.{h,cc}.

package compression

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// multiCompressor has a compressor of each built-in algorithm, and in all but
// CompressBlock is the last of them.
type multiCompressor struct {
	rocksdb.Compressor
	opts *rocksdb.CompressionOptions
	all  []rocksdb.Compressor
}

// multiArea has a working area for each compressor.
type multiArea []any

func newMultiCompressor(opts *rocksdb.CompressionOptions) multiCompressor {
	o := *opts
	m := multiCompressor{opts: &o}
	for t := rocksdb.NoCompression + 1; t <= rocksdb.LastBuiltinCompression; t++ {
		if CompressionTypeSupported(t) {
			if c := theManager.GetCompressor(&o, t); c != nil {
				m.all = append(m.all, c)
			}
		}
	}
	if len(m.all) > 0 {
		m.Compressor = m.all[len(m.all)-1]
	}
	return m
}

func (m *multiCompressor) ObtainWorkingArea() any {
	area := make(multiArea, len(m.all))
	for i, c := range m.all {
		area[i] = c.ObtainWorkingArea()
	}
	return area
}

func (m *multiCompressor) ReleaseWorkingArea(area any) {
	if a, ok := area.(multiArea); ok {
		for i, c := range m.all {
			c.ReleaseWorkingArea(a[i])
		}
	}
}

func (m *multiCompressor) compressWith(i int, src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	var own any
	if a, ok := area.(multiArea); ok {
		own = a[i]
	}
	return m.all[i].CompressBlock(src, dst, own)
}

// RandomMixedCompressor compresses each block with an algorithm chosen at
// random.
type RandomMixedCompressor struct{ multiCompressor }

// Name is upstream's class name.
func (*RandomMixedCompressor) Name() string { return "RandomMixedCompressor" }

// ID is the name.
func (c *RandomMixedCompressor) ID() string { return c.Name() }

// Clone makes an independent one.
func (c *RandomMixedCompressor) Clone() rocksdb.Compressor {
	return &RandomMixedCompressor{newMultiCompressor(c.opts)}
}

// CompressBlock implements rocksdb.Compressor.
func (c *RandomMixedCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	return c.compressWith(rand.IntN(len(c.all)), src, dst, area)
}

// RoundRobinCompressor compresses blocks with one algorithm after the other.
type RoundRobinCompressor struct{ multiCompressor }

// roundRobinBlocks counts the blocks of all RoundRobinCompressors.
var roundRobinBlocks atomic.Uint64

// Name is upstream's class name.
func (*RoundRobinCompressor) Name() string { return "RoundRobinCompressor" }

// ID is the name.
func (c *RoundRobinCompressor) ID() string { return c.Name() }

// Clone makes an independent one.
func (c *RoundRobinCompressor) Clone() rocksdb.Compressor {
	return &RoundRobinCompressor{newMultiCompressor(c.opts)}
}

// CompressBlock implements rocksdb.Compressor.
func (c *RoundRobinCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	i := (roundRobinBlocks.Add(1) - 1) % uint64(len(c.all))
	return c.compressWith(int(i), src, dst, area)
}

// mixedManager gives multiCompressors in place of another manager's.
type mixedManager struct {
	rocksdb.CompressionManagerWrapper
	name string
	make func(multiCompressor) rocksdb.Compressor
}

func (m *mixedManager) Name() string { return m.name }

// GetCompressorForSST gives nil where no algorithm is allowed.
func (m *mixedManager) GetCompressorForSST(_ *rocksdb.FilterBuildingContext, opts *rocksdb.CompressionOptions, _ rocksdb.CompressionType) rocksdb.Compressor {
	multi := newMultiCompressor(opts)
	if len(multi.all) == 0 {
		return nil
	}
	return m.make(multi)
}

func wrapManager(m rocksdb.CompressionManager) rocksdb.CompressionManagerWrapper {
	if m == nil {
		m = theManager
	}
	return rocksdb.CompressionManagerWrapper{CompressionManager: m}
}

// NewRandomMixedCompressionManager wraps a manager (nil: the built-in one) whose
// files then have blocks of every built-in algorithm, in random order. It is for
// tests. With a dictionary all blocks are of the last algorithm.
func NewRandomMixedCompressionManager(m rocksdb.CompressionManager) rocksdb.CompressionManager {
	return &mixedManager{wrapManager(m), "RandomMixedCompressionManager",
		func(c multiCompressor) rocksdb.Compressor { return &RandomMixedCompressor{c} }}
}

// NewRoundRobinManager is NewRandomMixedCompressionManager with the algorithms
// in turn.
func NewRoundRobinManager(m rocksdb.CompressionManager) rocksdb.CompressionManager {
	return &mixedManager{wrapManager(m), "RoundRobinManager",
		func(c multiCompressor) rocksdb.Compressor { return &RoundRobinCompressor{c} }}
}
