// Port of util/auto_tune_compressor.{h,cc}.

package compression

import (
	"math/rand/v2"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const (
	autoSkipWindow     = 10 // blocks
	autoSkipExploring  = 10 // percent of blocks that are tried whatever the prediction
	autoSkipCutOff     = 50 // percent; more rejections than that: skip
	costPredictorBlock = 10 // blocks a prediction is made of
)

// CompressionRejectionProbabilityPredictor predicts how many of a hundred blocks
// will be rejected: as many as in the last full window.
type CompressionRejectionProbabilityPredictor struct {
	prediction           int
	rejected, compressed int
	window               int
}

// Predict is in percent.
func (p *CompressionRejectionProbabilityPredictor) Predict() int { return p.prediction }

// AttemptedCompressionCount counts the blocks of the window that is not full.
func (p *CompressionRejectionProbabilityPredictor) AttemptedCompressionCount() int {
	return p.rejected + p.compressed
}

// Record takes note of a block that was tried.
func (p *CompressionRejectionProbabilityPredictor) Record(t rocksdb.CompressionType) {
	if t == rocksdb.NoCompression {
		p.rejected++
	} else {
		p.compressed++
	}
	if n := p.AttemptedCompressionCount(); n >= p.window {
		p.prediction = p.rejected * 100 / n
		p.rejected, p.compressed = 0, 0
	}
}

// AutoSkipCompressorWrapper does not try to compress where most blocks before
// were rejected. Each working area predicts by itself.
type AutoSkipCompressorWrapper struct{ rocksdb.CompressorWrapper }

type autoSkipArea struct {
	owner     *AutoSkipCompressorWrapper
	wrapped   any
	predictor CompressionRejectionProbabilityPredictor
}

func newAutoSkip(c rocksdb.Compressor) *AutoSkipCompressorWrapper {
	return &AutoSkipCompressorWrapper{rocksdb.CompressorWrapper{Compressor: c}}
}

// Name is upstream's class name.
func (*AutoSkipCompressorWrapper) Name() string { return "AutoSkipCompressorWrapper" }

// ID is the name.
func (c *AutoSkipCompressorWrapper) ID() string { return c.Name() }

// Clone makes an independent one.
func (c *AutoSkipCompressorWrapper) Clone() rocksdb.Compressor {
	return newAutoSkip(c.Compressor.Clone())
}

// MaybeCloneSpecialized wraps the wrapped compressor's special clone.
func (c *AutoSkipCompressorWrapper) MaybeCloneSpecialized(role rocksdb.CacheEntryRole, d rocksdb.CompressionDictConfig) (rocksdb.Compressor, error) {
	s, err := c.Compressor.MaybeCloneSpecialized(role, d)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = c.Compressor.Clone()
	}
	return newAutoSkip(s), nil
}

// ObtainWorkingArea makes a predictor and takes an area of the wrapped
// compressor.
func (c *AutoSkipCompressorWrapper) ObtainWorkingArea() any {
	return &autoSkipArea{
		owner: c, wrapped: c.Compressor.ObtainWorkingArea(),
		predictor: CompressionRejectionProbabilityPredictor{window: autoSkipWindow},
	}
}

// ReleaseWorkingArea gives the wrapped compressor's area back.
func (c *AutoSkipCompressorWrapper) ReleaseWorkingArea(area any) {
	if a, ok := area.(*autoSkipArea); ok {
		c.Compressor.ReleaseWorkingArea(a.wrapped)
	}
}

// CompressBlock implements rocksdb.Compressor. Without an area of its own every
// block is tried.
func (c *AutoSkipCompressorWrapper) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	a, ok := area.(*autoSkipArea)
	if !ok || a.owner != c {
		return c.Compressor.CompressBlock(src, dst, nil)
	}
	explore := rand.IntN(100) < autoSkipExploring
	syncpoint.ProcessArg("AutoSkipCompressorWrapper::CompressBlock::exploitOrExplore", &explore)
	if !explore && a.predictor.Predict() > autoSkipCutOff {
		return 0, rocksdb.NoCompression, nil
	}
	n, t, err := c.Compressor.CompressBlock(src, dst, a.wrapped)
	a.predictor.Record(t)
	return n, t, err
}

// autoSkipManager has the name of the manager that it wraps.
type autoSkipManager struct {
	rocksdb.CompressionManagerWrapper
}

func (m *autoSkipManager) GetCompressorForSST(ctx *rocksdb.FilterBuildingContext, opts *rocksdb.CompressionOptions, preferred rocksdb.CompressionType) rocksdb.Compressor {
	c := m.CompressionManager.GetCompressorForSST(ctx, opts, preferred)
	if c == nil {
		return nil
	}
	return newAutoSkip(c)
}

// CreateAutoSkipCompressionManager wraps a manager (nil: the built-in one) whose
// compressors then skip blocks that would be rejected, judging by those before.
// Experimental, as upstream's.
func CreateAutoSkipCompressionManager(m rocksdb.CompressionManager) rocksdb.CompressionManager {
	return &autoSkipManager{wrapManager(m)}
}

// WindowAveragePredictor predicts the average of the last full window.
type WindowAveragePredictor struct {
	sum, prediction uint64
	count, window   int
}

// Predict is in the unit that was recorded.
func (p *WindowAveragePredictor) Predict() uint64 { return p.prediction }

// Record takes note of a measurement.
func (p *WindowAveragePredictor) Record(v uint64) {
	p.sum += v
	if p.count++; p.count >= p.window {
		p.prediction = p.sum / uint64(p.count)
		p.sum, p.count = 0, 0
	}
}

// SetPrediction is for tests.
func (p *WindowAveragePredictor) SetPrediction(v uint64) { p.prediction = v }

// IOCPUCostPredictor predicts a block's compressed size in bytes and the
// microseconds that compressing it takes.
type IOCPUCostPredictor struct{ IOPredictor, CPUPredictor WindowAveragePredictor }

// costAwareLevels are the levels of each algorithm whose cost is predicted; the
// index is the compression type less 1.
var costAwareLevels = [rocksdb.LastBuiltinCompression][]int{
	rocksdb.SnappyCompression - 1: {0},
	rocksdb.LZ4Compression - 1:    {-1, -4, -9},
	rocksdb.LZ4HCCompression - 1:  {1, 4, 9},
	rocksdb.ZSTD - 1:              {1, 15, 22},
}

// CostAwareCompressor is to choose an algorithm and level by cost. As in
// upstream it measures only, and compresses with zstd at its highest level.
type CostAwareCompressor struct {
	rocksdb.Compressor // the one that is chosen
	opts               *rocksdb.CompressionOptions
	all                [][]rocksdb.Compressor // by type less 1 and place in costAwareLevels
}

type costAwareArea struct {
	owner      *CostAwareCompressor
	wrapped    any
	predictors [][]IOCPUCostPredictor // as the compressors
}

func newCostAware(opts *rocksdb.CompressionOptions) *CostAwareCompressor {
	o := *opts
	c := &CostAwareCompressor{opts: &o}
	for i, levels := range costAwareLevels {
		var list []rocksdb.Compressor
		for _, level := range levels {
			lo := o
			lo.Level = level
			if k := theManager.GetCompressor(&lo, rocksdb.CompressionType(i+1)); k != nil {
				list = append(list, k)
				c.Compressor = k
			}
		}
		c.all = append(c.all, list)
	}
	return c
}

// Name is upstream's class name.
func (*CostAwareCompressor) Name() string { return "CostAwareCompressor" }

// ID is the name.
func (c *CostAwareCompressor) ID() string { return c.Name() }

// Clone makes an independent one.
func (c *CostAwareCompressor) Clone() rocksdb.Compressor { return newCostAware(c.opts) }

// ObtainWorkingArea makes predictors for each algorithm and level.
func (c *CostAwareCompressor) ObtainWorkingArea() any {
	a := &costAwareArea{owner: c, wrapped: c.Compressor.ObtainWorkingArea()}
	window := WindowAveragePredictor{window: costPredictorBlock}
	for _, list := range c.all {
		p := make([]IOCPUCostPredictor, len(list))
		for i := range p {
			p[i] = IOCPUCostPredictor{window, window}
		}
		a.predictors = append(a.predictors, p)
	}
	return a
}

// ReleaseWorkingArea gives the chosen compressor's area back.
func (c *CostAwareCompressor) ReleaseWorkingArea(area any) {
	if a, ok := area.(*costAwareArea); ok {
		c.Compressor.ReleaseWorkingArea(a.wrapped)
	}
}

// CompressBlock implements rocksdb.Compressor.
func (c *CostAwareCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	a, ok := area.(*costAwareArea)
	if !ok || a.owner != c {
		return c.Compressor.CompressBlock(src, dst, nil)
	}
	start := rocksdb.DefaultSystemClock().NowNanos()
	n, t, err := c.Compressor.CompressBlock(src, dst, a.wrapped)
	chosen := a.predictors[rocksdb.ZSTD-1]
	p := &chosen[len(chosen)-1]
	p.CPUPredictor.Record((rocksdb.DefaultSystemClock().NowNanos() - start) / 1000)
	p.IOPredictor.Record(uint64(n))
	syncpoint.ProcessArg("CostAwareCompressor::CompressBlockAndRecord::GetPredictor", p)
	return n, t, err
}

// costAwareManager has the name of the manager that it wraps.
type costAwareManager struct {
	rocksdb.CompressionManagerWrapper
}

// GetCompressorForSST gives nil where no algorithm is allowed.
func (m *costAwareManager) GetCompressorForSST(_ *rocksdb.FilterBuildingContext, opts *rocksdb.CompressionOptions, _ rocksdb.CompressionType) rocksdb.Compressor {
	c := newCostAware(opts)
	if c.Compressor == nil {
		return nil
	}
	return c
}

// CreateCostAwareCompressionManager wraps a manager (nil: the built-in one) with
// compressors that predict what compressing costs. Experimental, as upstream's.
func CreateCostAwareCompressionManager(m rocksdb.CompressionManager) rocksdb.CompressionManager {
	return &costAwareManager{wrapManager(m)}
}
