// Port of db_stress_tool/db_stress_compression_manager.{h,cc}.

package dbstresstool

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/testutil"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// stressCompressionManager has three types of its own besides the built-in ones,
// and compresses with one of them, or as asked, at random.
type stressCompressionManager struct {
	rocksdb.CompressionManager // the built-in one
}

const stressCompatibilityName = "DbStressCustom1"

var stressCompressionTypes = []rocksdb.CompressionType{rocksdb.CustomCompressionAA, rocksdb.CustomCompressionAB, rocksdb.CustomCompressionAC}

func newStressCompressionManager() *stressCompressionManager {
	return &stressCompressionManager{compression.GetBuiltinV2CompressionManager()}
}

// Name is upstream's class name.
func (*stressCompressionManager) Name() string { return "DbStressCustomCompressionManager" }

// CompatibilityName is upstream's.
func (*stressCompressionManager) CompatibilityName() string { return stressCompatibilityName }

// SupportsCompressionType is true of the manager's own types, too.
func (m *stressCompressionManager) SupportsCompressionType(t rocksdb.CompressionType) bool {
	return slices.Contains(stressCompressionTypes, t) || m.CompressionManager.SupportsCompressionType(t)
}

// FindCompatibleCompressionManager is the manager itself for its own files.
func (m *stressCompressionManager) FindCompatibleCompressionManager(name string) rocksdb.CompressionManager {
	if name == stressCompatibilityName {
		return m
	}
	return m.CompressionManager.FindCompatibleCompressionManager(name)
}

// GetCompressorForSST draws an algorithm for the file.
func (m *stressCompressionManager) GetCompressorForSST(_ *rocksdb.FilterBuildingContext, o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	return m.GetCompressor(o, t)
}

// GetCompressor draws an algorithm.
func (m *stressCompressionManager) GetCompressor(o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	if i := rand.IntN(1 + len(stressCompressionTypes)); i > 0 {
		return testutil.NewCompressorCustomAlg(nil, stressCompressionTypes[i-1])
	}
	return m.CompressionManager.GetCompressor(o, t)
}

// GetDecompressor reads blocks of all types.
func (*stressCompressionManager) GetDecompressor() rocksdb.Decompressor {
	return testutil.NewDecompressorCustomAlg(nil)
}

// GetDecompressorOptimizeFor is GetDecompressor.
func (m *stressCompressionManager) GetDecompressorOptimizeFor(rocksdb.CompressionType) rocksdb.Decompressor {
	return m.GetDecompressor()
}

// GetDecompressorForTypes reads blocks of the types alone.
func (*stressCompressionManager) GetDecompressorForTypes(types []rocksdb.CompressionType) rocksdb.Decompressor {
	return testutil.NewDecompressorCustomAlg(types)
}

var registerManagerOnce sync.Once

// registerCompressionManager lets files of the manager be read by runs that do
// not use it.
func registerCompressionManager(l *registry.Library) {
	registerManagerOnce.Do(func() {
		l.AddFactory(registry.KindCompressionManager, stressCompatibilityName, func(*rocksdb.ConfigOptions, string) (any, error) {
			return newStressCompressionManager(), nil
		})
	})
}

// compressionManager makes the manager that --compression_manager names.
func compressionManager(name string) (rocksdb.CompressionManager, error) {
	switch strings.ToLower(name) {
	case "custom":
		return newStressCompressionManager(), nil
	case "mixed":
		return compression.NewRoundRobinManager(nil), nil
	case "randommixed":
		return compression.NewRandomMixedCompressionManager(nil), nil
	case "autoskip":
		return compression.CreateAutoSkipCompressionManager(nil), nil
	case "none":
		return nil, nil
	}
	return nil, rocksdb.InvalidArgument("Unknown compression manager", name)
}
