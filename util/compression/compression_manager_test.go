//go:build syncpoint

// Port of util/compression_test.cc: cases about compression managers.

package compression_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/test_util/testutil"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// mixedRoundTrip writes and reads blocks with a manager that mixes algorithms,
// one entry a block.
func mixedRoundTrip(t *testing.T, m rocksdb.CompressionManager) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Statistics = rocksdb.NewStatistics()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.EnableIndexCompression = false
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	o.CompressionManager = m
	x.destroyAndReopen(o)
	r := util.NewRandom(301)
	values := make([]string, 13)
	for i := range values {
		if i == 6 {
			values[i] = r.RandomBinaryString(20000)
		} else {
			values[i] = compressible(r, 0.1, 20000)
		}
		x.put(key(i), values[i])
		x.wantGet(key(i), values[i])
	}
	x.flush()
	for i, v := range values {
		x.wantGet(key(i), v)
	}
	x.wantGet(key(len(values)), "NOT_FOUND")
	if n := o.Statistics.GetTickerCount(rocksdb.NumberBlockCompressed); n != uint64(len(values)-1) {
		t.Errorf("%d blocks compressed", n)
	}
	if p := x.oneTable(key(0), key(99)); len(strings.Split(p.CompressionName, ";")[1]) < 4 {
		t.Errorf("compressed by one algorithm only: %s", p.CompressionName)
	}
}

func TestDBCompressionTest_RoundRobinManager(t *testing.T) {
	mixedRoundTrip(t, compression.NewRoundRobinManager(nil))
}

func TestDBCompressionTest_RandomMixedCompressionManager(t *testing.T) {
	mixedRoundTrip(t, compression.NewRandomMixedCompressionManager(builtin))
}

// eachMaybeParallel runs f for each parameter of DBCompressionTestMaybeParallel.
func eachMaybeParallel(t *testing.T, f func(t *testing.T, threads uint32, dict, separated bool)) {
	for _, threads := range []uint32{1, 4} {
		for _, dict := range []bool{false, true} {
			for _, separated := range []bool{false, true} {
				t.Run(fmt.Sprint(threads, "/", dict, "/", separated), func(t *testing.T) { f(t, threads, dict, separated) })
			}
		}
	}
}

const doNotCompress, rejectCompression = "do_not_compress", "reject_compression"

// markedManager's compressors do not try blocks that say so, reject others, and
// check the form of data and index blocks.
type markedManager struct {
	rocksdb.CompressionManagerWrapper
	separated               bool
	data, index, compressed atomic.Int64 // calls
	bad                     atomic.Pointer[string]
}

func (m *markedManager) Name() string { return "MyManager" }

func (m *markedManager) GetCompressorForSST(ctx *rocksdb.FilterBuildingContext, o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	return &markedCompressor{rocksdb.CompressorWrapper{Compressor: m.CompressionManager.GetCompressorForSST(ctx, o, t)}, m}
}

type markedCompressor struct {
	rocksdb.CompressorWrapper
	m *markedManager
}

// markedArea shows that areas come back to the compressor that they are of.
type markedArea struct {
	owner   *markedCompressor
	wrapped any
}

func (c *markedCompressor) Name() string { return "MyCompressor" }
func (c *markedCompressor) Clone() rocksdb.Compressor {
	return &markedCompressor{rocksdb.CompressorWrapper{Compressor: c.Compressor.Clone()}, c.m}
}

func (c *markedCompressor) MaybeCloneSpecialized(role rocksdb.CacheEntryRole, d rocksdb.CompressionDictConfig) (rocksdb.Compressor, error) {
	s, err := c.Compressor.MaybeCloneSpecialized(role, d)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = c.Compressor.Clone()
	}
	marked := &markedCompressor{rocksdb.CompressorWrapper{Compressor: s}, c.m}
	switch role {
	case rocksdb.CacheEntryRoleDataBlock:
		return &checkedCompressor{rocksdb.CompressorWrapper{Compressor: marked}, &c.m.data, func(b []byte) error {
			return validateDataBlock(b, c.m.separated)
		}, c.m}, nil
	case rocksdb.CacheEntryRoleIndexBlock:
		return &checkedCompressor{rocksdb.CompressorWrapper{Compressor: marked}, &c.m.index, validateIndexBlock, c.m}, nil
	}
	return marked, nil
}

func (c *markedCompressor) ObtainWorkingArea() any {
	a := &markedArea{c, c.Compressor.ObtainWorkingArea()}
	if c.GetPreferredCompressionType() == rocksdb.ZSTD && a.wrapped == nil {
		c.m.fail("zstd has no working area")
	}
	return a
}

func (c *markedCompressor) ReleaseWorkingArea(area any) {
	c.Compressor.ReleaseWorkingArea(area.(*markedArea).wrapped)
}

func (c *markedCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	c.m.compressed.Add(1)
	switch a, ok := area.(*markedArea); {
	case ok && a.owner != c:
		c.m.fail("a working area of another compressor")
	case ok:
		area = a.wrapped
	}
	switch {
	case strings.Contains(string(src), doNotCompress):
		return 0, rocksdb.NoCompression, nil
	case strings.Contains(string(src), rejectCompression):
		return 1, rocksdb.NoCompression, nil
	}
	return c.Compressor.CompressBlock(src, dst, area)
}

func (m *markedManager) fail(s string) { m.bad.CompareAndSwap(nil, &s) }

// checkedCompressor checks a kind of block and counts it.
type checkedCompressor struct {
	rocksdb.CompressorWrapper
	n     *atomic.Int64
	check func([]byte) error
	m     *markedManager
}

func (c *checkedCompressor) Clone() rocksdb.Compressor {
	return &checkedCompressor{rocksdb.CompressorWrapper{Compressor: c.Compressor.Clone()}, c.n, c.check, c.m}
}

func (c *checkedCompressor) CompressBlock(src, dst []byte, area any) (int, rocksdb.CompressionType, error) {
	c.n.Add(1)
	if err := c.check(src); err != nil {
		return 0, rocksdb.NoCompression, err
	}
	return c.Compressor.CompressBlock(src, dst, area)
}

var errBlock = errors.New("malformed block")

// entries cuts footer and restarts off a block; values is where the values begin
// when they are apart.
func entries(b []byte) (entries, rest []byte, separated bool, err error) {
	var f block.DataBlockFooter
	if rest, err = f.DecodeFrom(b); err != nil {
		return nil, nil, false, err
	}
	if f.NumRestarts == 0 || int(f.NumRestarts)*4 > len(rest) {
		return nil, nil, false, errBlock
	}
	rest = rest[:len(rest)-4*int(f.NumRestarts)]
	if f.SeparatedKV {
		if int(f.ValuesSectionOffset) > len(rest) {
			return nil, nil, false, errBlock
		}
		return rest[:f.ValuesSectionOffset], rest[f.ValuesSectionOffset:], true, nil
	}
	return rest, nil, false, nil
}

func varint(b *[]byte, err *error) (v uint32) {
	v, rest, ok := util.GetVarint32(*b)
	if !ok {
		*err = errBlock
		return 0
	}
	*b = rest
	return v
}

func skip(b *[]byte, n uint32, err *error) {
	if uint64(n) > uint64(len(*b)) {
		*err = errBlock
		return
	}
	*b = (*b)[n:]
}

func validateDataBlock(b []byte, wantSeparated bool) error {
	e, values, separated, err := entries(b)
	if err == nil && separated != wantSeparated {
		err = errBlock
	}
	interval := rocksdb.DefaultBlockBasedTableOptions().BlockRestartInterval
	next := uint32(0)
	for i := 0; err == nil && len(e) > 0; i++ {
		varint(&e, &err)
		unshared, length := varint(&e, &err), varint(&e, &err)
		if separated && i%interval == 0 {
			next = varint(&e, &err)
		}
		skip(&e, unshared, &err)
		if separated {
			if next += length; int(next) > len(values) {
				err = errBlock
			}
		} else {
			skip(&e, length, &err)
		}
	}
	return err
}

// validateIndexBlock expects handles as deltas and no values' lengths.
func validateIndexBlock(b []byte) error {
	e, _, separated, err := entries(b)
	if err == nil && separated {
		err = errBlock
	}
	for err == nil && len(e) > 0 {
		shared, unshared := varint(&e, &err), varint(&e, &err)
		skip(&e, unshared, &err)
		varint(&e, &err)
		if shared == 0 {
			varint(&e, &err)
		}
	}
	return err
}

func TestDBCompressionTestMaybeParallel_CompressionManagerWrapper(t *testing.T) {
	eachMaybeParallel(t, func(t *testing.T, threads uint32, dict, separated bool) {
		m := &markedManager{CompressionManagerWrapper: rocksdb.CompressionManagerWrapper{CompressionManager: builtin}, separated: separated}
		for _, c := range supported() {
			for _, wrapped := range []bool{false, true} {
				t.Run(fmt.Sprint(name(c), "/", wrapped), func(t *testing.T) {
					x := newDBTest(t)
					o := x.currentOptions()
					o.Compression = c
					o.CompressionOpts.ParallelThreads = threads
					if dict {
						o.CompressionOpts.MaxDictBytes = 4096
					}
					o.Statistics = rocksdb.NewStatistics()
					b := rocksdb.DefaultBlockBasedTableOptions()
					b.EnableIndexCompression, b.IndexType, b.PartitionFilters = true, rocksdb.TwoLevelIndexSearch, true
					b.FilterPolicy = rocksdb.NewBloomFilterPolicy(5)
					b.SeparateKeyValueInDataBlock = separated
					o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
					if wrapped {
						o.CompressionManager = m
					}
					x.destroyAndReopen(o)
					markedBlocks(x, &o, m, wrapped, dict)
				})
			}
		}
	})
}

// markedBlocks writes blocks of one entry, of which some are marked, and checks
// what was compressed.
func markedBlocks(x *dbTest, o *rocksdb.Options, m *markedManager, wrapped, dict bool) {
	const count = 13
	r := util.NewRandom(301)
	for i := range count {
		var v string
		switch {
		case i == 6:
			v = r.RandomBinaryString(20000)
		case i%2 == 0:
			v = compressible(r, 0.1, 20000) + doNotCompress
		case i == 7:
			v = compressible(r, 0.1, 20000) + rejectCompression
		default:
			v = compressible(r, 0.1, 20000)
		}
		x.put(key(i), v)
	}
	x.flush()
	// A partition of the index is compressed, its top level rejected.
	want := [3]uint64{count, 0, 2}
	if wrapped {
		want = [3]uint64{count / 2, count / 2, 3}
	}
	got := [3]uint64{pop(o, rocksdb.NumberBlockCompressed), pop(o, rocksdb.NumberBlockCompressionBypassed),
		pop(o, rocksdb.NumberBlockCompressionRejected)}
	if got != want && !dict { // with a dictionary more may be rejected
		x.Errorf("%d blocks compressed, bypassed, rejected, want %d", got, want)
	}
	for i := range count {
		if x.get(key(i)) == "NOT_FOUND" {
			x.Errorf("%d is not found", i)
		}
	}
	x.wantGet(key(count), "NOT_FOUND")
	calls := [3]int64{m.index.Swap(0), m.data.Swap(0), m.compressed.Swap(0)}
	if wrapped && calls != [3]int64{2, count, count + 2} || !wrapped && calls != [3]int64{} {
		x.Errorf("%d index blocks, data blocks and all", calls)
	}
	if s := m.bad.Load(); s != nil {
		x.Error(*s)
	}
}

// customManager has the custom types 8A to 8C and the built-in ones, under a
// compatibility name of its own.
type customManager struct {
	rocksdb.CompressionManager // the built-in one
	compatibility              string
	used8A                     int
	last                       atomic.Uint32 // the first type of the last GetDecompressorForTypes
	friends                    map[string]rocksdb.CompressionManager
}

func newCustomManager(compatibility string) *customManager {
	return &customManager{CompressionManager: builtin, compatibility: compatibility, friends: map[string]rocksdb.CompressionManager{}}
}

func custom(t rocksdb.CompressionType) bool {
	return t == rocksdb.CustomCompression8A || t == rocksdb.CustomCompression8B || t == rocksdb.CustomCompression8C
}

func (m *customManager) Name() string              { return "MyManager:" + m.compatibility }
func (m *customManager) CompatibilityName() string { return m.compatibility }
func (m *customManager) SupportsCompressionType(t rocksdb.CompressionType) bool {
	return custom(t) || builtin.SupportsCompressionType(t)
}

func (m *customManager) FindCompatibleCompressionManager(compatibility string) rocksdb.CompressionManager {
	if f := m.friends[compatibility]; f != nil {
		return f
	}
	return m.CompressionManager.FindCompatibleCompressionManager(compatibility)
}

func (m *customManager) GetCompressorForSST(_ *rocksdb.FilterBuildingContext, o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	return m.GetCompressor(o, t)
}

func (m *customManager) GetCompressor(o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	if !custom(t) {
		return builtin.GetCompressor(o, t)
	}
	if t == rocksdb.CustomCompression8A {
		m.used8A++
	}
	return testutil.NewCompressorCustomAlg(nil, t)
}

func (m *customManager) GetDecompressor() rocksdb.Decompressor {
	return testutil.NewDecompressorCustomAlg(nil)
}

func (m *customManager) GetDecompressorOptimizeFor(rocksdb.CompressionType) rocksdb.Decompressor {
	return m.GetDecompressor()
}

func (m *customManager) GetDecompressorForTypes(types []rocksdb.CompressionType) rocksdb.Decompressor {
	m.last.Store(uint32(types[0]))
	return testutil.NewDecompressorCustomAlg(types)
}

var managers atomic.Int64 // how many have a name of their own

func TestDBCompressionTestMaybeParallel_CompressionManagerCustomCompression(t *testing.T) {
	eachMaybeParallel(t, func(t *testing.T, threads uint32, dict, _ bool) {
		c := &customTest{dbTest: newDBTest(t), r: util.NewRandom(404), foo: newCustomManager("Foo"),
			bar: newCustomManager(fmt.Sprint("Bar", managers.Add(1))), claims: newCustomManager(compression.BuiltinCompatibilityName),
			values: map[string]string{}}
		c.o = c.currentOptions()
		c.o.Level0FileNumCompactionTrigger = 20
		c.o.Compression = rocksdb.LZ4Compression
		c.o.CompressionOpts.ParallelThreads = threads
		if dict {
			c.o.CompressionOpts.MaxDictBytes = customValue / 2
		}
		c.builtinNames(t)
		c.customNames(t)
		c.otherManagers(t)
	})
}

const customValue = 10000

type customTest struct {
	*dbTest
	o                rocksdb.Options
	r                *util.Random
	foo, bar, claims *customManager
	values           map[string]string
}

func (c *customTest) format(version uint32) {
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.EnableIndexCompression, b.FormatVersion = false, version
	c.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
}

// write flushes one entry, which is to be compressed; compressionName "" is not
// checked.
func (c *customTest) write(k, compressionName string) {
	c.Helper()
	c.values[k] = compressible(c.r, 0.1, customValue)
	c.put(k, c.values[k])
	c.flush()
	c.wantGet(k, c.values[k])
	p := c.oneTable(k, k+"0")
	if p.DataSize >= customValue/2 || compressionName != "" && p.CompressionName != compressionName {
		c.Fatalf("%s: %d bytes, %s", k, p.DataSize, p.CompressionName)
	}
}

func (c *customTest) all() {
	c.Helper()
	for k, v := range c.values {
		c.wantGet(k, v)
	}
}

func (c *customTest) refused(m rocksdb.CompressionManager, t rocksdb.CompressionType, want error) {
	c.Helper()
	c.o.CompressionManager, c.o.Compression = m, t
	if err := c.tryReopen(c.o); !errors.Is(err, want) {
		c.Fatalf("%s: %v, want %v", name(t), err, want)
	}
}

func (c *customTest) opened(m rocksdb.CompressionManager, t rocksdb.CompressionType) {
	c.Helper()
	c.o.CompressionManager, c.o.Compression = m, t
	c.reopen(c.o)
}

// builtinNames: a manager of the built-in compatibility name writes what the
// built-in one reads, and may not have types of its own.
func (c *customTest) builtinNames(t *testing.T) {
	c.format(6)
	c.opened(c.claims, rocksdb.LZ4Compression)
	c.write("a", "LZ4")
	c.opened(nil, rocksdb.LZ4Compression)
	c.all()
	c.refused(c.claims, rocksdb.CustomCompression8A, rocksdb.ErrInvalidArgument)
	c.refused(nil, rocksdb.CustomCompressionFE, rocksdb.ErrInvalidArgument)
	c.refused(nil, rocksdb.LastBuiltinCompression+1, rocksdb.ErrInvalidArgument)
	c.refused(c.foo, rocksdb.LZ4Compression, rocksdb.ErrInvalidArgument) // format 6
	c.format(7)
	c.refused(c.claims, rocksdb.CustomCompression8B, rocksdb.ErrInvalidArgument)
	c.opened(c.claims, rocksdb.LZ4Compression)
	c.write("a1", "BuiltinV2;04;")

	// Neither of the manager's names leads back to it.
	cfg := rocksdb.DefaultConfigOptions()
	create := func(name string) (rocksdb.CompressionManager, error) {
		return options.CreateFromString[rocksdb.CompressionManager](&cfg, registry.KindCompressionManager, name)
	}
	if m, err := create(c.claims.Name()); m != nil || err != nil {
		t.Errorf("%s: %v, %v", c.claims.Name(), m, err)
	}
	m, err := create(c.claims.CompatibilityName())
	if err != nil || m == nil || m.CompatibilityName() != compression.BuiltinCompatibilityName || m.Name() == c.claims.Name() {
		t.Errorf("%s: %v, %v", c.claims.CompatibilityName(), m, err)
	}
	c.opened(nil, rocksdb.LZ4Compression)
	c.all()
}

// customNames: files of a manager of another name, with built-in and own types,
// by option and by SetOptions.
func (c *customTest) customNames(t *testing.T) {
	c.refused(c.foo, rocksdb.CustomCompressionF0, rocksdb.ErrNotSupported)
	wantLast := func(want rocksdb.CompressionType) {
		t.Helper()
		if got := rocksdb.CompressionType(c.foo.last.Load()); got != want {
			t.Errorf("the decompressor is for %s, not %s", name(got), name(want))
		}
	}
	c.opened(c.foo, rocksdb.LZ4Compression)
	c.write("b", "Foo;04;")
	wantLast(rocksdb.LZ4Compression)
	c.wantFiles(3)

	c.opened(c.foo, rocksdb.CustomCompression8A)
	if c.foo.used8A != 0 {
		t.Errorf("%d compressors before a file", c.foo.used8A)
	}
	c.write("c", "Foo;8A;")
	if c.foo.used8A != 1 {
		t.Errorf("%d compressors for a file", c.foo.used8A)
	}
	wantLast(rocksdb.CustomCompression8A)

	c.must(c.db.SetOptions(map[string]string{"compression": "kLZ4Compression"}))
	c.write("d", "Foo;04;")
	wantLast(rocksdb.LZ4Compression)
	c.must(c.db.SetOptions(map[string]string{"compression": "kCustomCompression8B"}))
	c.write("e", "Foo;8B;")
	wantLast(rocksdb.CustomCompression8B)
	c.wantFiles(6)
}

// otherManagers: a file's manager is found through the one in the options, or
// registered.
func (c *customTest) otherManagers(t *testing.T) {
	c.refused(c.bar, rocksdb.LZ4Compression, rocksdb.ErrNotSupported)
	c.bar.friends["Foo"] = c.foo
	c.opened(c.bar, rocksdb.LZ4Compression)
	c.all()
	c.write("f", "")
	if got := rocksdb.CompressionType(c.bar.last.Load()); got != rocksdb.LZ4Compression {
		t.Errorf("the decompressor is for %s", name(got))
	}
	c.wantFiles(7)
	c.refused(c.foo, rocksdb.LZ4Compression, rocksdb.ErrNotSupported)
	compatibility := c.bar.compatibility
	registry.DefaultLibrary().AddFactory(registry.KindCompressionManager, compatibility,
		func(*rocksdb.ConfigOptions, string) (any, error) { return newCustomManager(compatibility), nil })
	c.opened(c.foo, rocksdb.LZ4Compression)
	c.all()
}

// windowPolicy ends a block at each key, and calls f at each window's first key
// but the file's.
type windowPolicy struct {
	builder rocksdb.DataBlockBuilder
	window  int
	keys    int
	f       func(window int)
}

func (p *windowPolicy) Update(_, _ []byte) bool {
	if p.builder.Empty() {
		return false
	}
	if p.keys%p.window == 0 {
		p.f(p.keys / p.window)
	}
	p.keys++
	return true
}

type windowPolicyFactory struct {
	name string
	f    func(window int)
}

func (p windowPolicyFactory) Name() string { return p.name }

func (p windowPolicyFactory) NewFlushBlockPolicy(_ *rocksdb.BlockBasedTableOptions, b rocksdb.DataBlockBuilder) rocksdb.FlushBlockPolicy {
	return &windowPolicy{builder: b, window: 10, f: p.f}
}

// TestDBAutoSkip_AutoSkipCompressionManager: windows of ten blocks that are all
// tried, and then windows that go by the prediction.
func TestDBAutoSkip_AutoSkipCompressionManager(t *testing.T) {
	for _, dict := range []uint32{0, 10000} {
		for _, c := range supported() {
			t.Run(fmt.Sprint(dict, "/", name(c)), func(t *testing.T) { autoSkip(t, dict, c) })
		}
	}
}

func autoSkip(t *testing.T, dict uint32, c rocksdb.CompressionType) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompressionManager = rocksdb.CreateAutoSkipCompressionManager(nil)
	o.Statistics = rocksdb.NewStatistics()
	o.Compression, o.BottommostCompression, o.CompressionOpts.MaxDictBytes = c, c, dict
	checked := 0
	window := func(n int) {
		syncpoint.ClearAllCallBacks()
		syncpoint.SetCallBack("AutoSkipCompressorWrapper::CompressBlock::exploitOrExplore",
			func(arg any) { *arg.(*bool) = n%2 == 0 })
		syncpoint.EnableProcessing()
		got := [3]uint64{pop(&o, rocksdb.NumberBlockCompressionRejected), pop(&o, rocksdb.NumberBlockCompressionBypassed),
			pop(&o, rocksdb.NumberBlockCompressed)}
		if got == [3]uint64{} {
			return // all blocks wait for the dictionary
		}
		want := map[int][3]uint64{1: {6, 0, 4}, 2: {0, 10, 0}, 3: {4, 0, 6}, 4: {6, 0, 4}}[n]
		if checked++; got != want {
			t.Errorf("window %d: %d rejected, bypassed, compressed; want %d", n, got, want)
		}
	}
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.EnableIndexCompression = false
	b.FlushBlockPolicyFactory = windowPolicyFactory{"AutoSkipTestFlushBlockPolicyFactory", window}
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	r := util.NewRandom(231)
	next := 0
	write := func(unfriendly, friendly int) {
		v := r.RandomBinaryString(20000)
		for range unfriendly {
			x.put(key(next), v)
			next++
		}
		v = strings.Repeat("A", 20000)
		for range friendly {
			x.put(key(next), v)
			next++
		}
	}
	write(6, 4)
	write(6, 4)
	write(4, 6)
	write(6, 4)
	write(0, 10)
	x.flush()
	if dict == 0 && checked != 4 {
		t.Errorf("%d windows checked", checked)
	}
}

func TestDBCompressionCostPredictor_CostAwareCompressorManager(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.CompressionManager = rocksdb.CreateCostAwareCompressionManager(nil)
	o.Statistics = rocksdb.NewStatistics()
	var predictor atomic.Pointer[compression.IOCPUCostPredictor]
	checked := 0
	window := func(n int) {
		syncpoint.ClearAllCallBacks()
		syncpoint.SetCallBack("CostAwareCompressor::CompressBlockAndRecord::GetPredictor", func(arg any) {
			p := arg.(*compression.IOCPUCostPredictor)
			p.CPUPredictor.SetPrediction(1000)
			p.IOPredictor.SetPrediction(100)
			predictor.Store(p)
		})
		syncpoint.EnableProcessing()
		if n == 1 {
			checked++
			if p := predictor.Load(); p.IOPredictor.Predict() != 100 || p.CPUPredictor.Predict() != 1000 {
				t.Errorf("predicted %d bytes, %d microseconds", p.IOPredictor.Predict(), p.CPUPredictor.Predict())
			}
		}
	}
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.EnableIndexCompression = false
	b.FlushBlockPolicyFactory = windowPolicyFactory{"CostAwareTestFlushBlockPolicyFactory", window}
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	v := util.NewRandom(231).RandomBinaryString(20000)
	for i := range 20 {
		x.put(key(i), v)
	}
	x.flush()
	if checked != 1 {
		t.Errorf("checked %d times", checked)
	}
}

// givenDictManager's compressors want a dictionary given beforehand.
type givenDictManager struct {
	rocksdb.CompressionManagerWrapper
	dict []byte
}

const givenDictName = "PreDefinedDictTest"

func (m *givenDictManager) Name() string              { return "PreDefinedDictManager" }
func (m *givenDictManager) CompatibilityName() string { return givenDictName }
func (m *givenDictManager) GetCompressorForSST(ctx *rocksdb.FilterBuildingContext, o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	return &givenDictCompressor{rocksdb.CompressorWrapper{Compressor: m.CompressionManager.GetCompressorForSST(ctx, o, t)}, m.dict}
}

type givenDictCompressor struct {
	rocksdb.CompressorWrapper
	dict []byte
}

func (c *givenDictCompressor) Name() string { return "PreDefinedDictCompressor" }
func (c *givenDictCompressor) GetDictGuidance(role rocksdb.CacheEntryRole) rocksdb.CompressionDictConfig {
	if role == rocksdb.CacheEntryRoleDataBlock {
		return rocksdb.CompressionDictConfig{Kind: rocksdb.DictPreDefined, DictData: c.dict}
	}
	return rocksdb.CompressionDictConfig{Kind: rocksdb.DictDisabled}
}

func (c *givenDictCompressor) Clone() rocksdb.Compressor {
	return &givenDictCompressor{rocksdb.CompressorWrapper{Compressor: c.Compressor.Clone()}, c.dict}
}

// brokenDictManager's decompressors make no use of a dictionary.
type brokenDictManager struct {
	rocksdb.CompressionManagerWrapper
}

func (m *brokenDictManager) Name() string              { return "BrokenDictManager" }
func (m *brokenDictManager) CompatibilityName() string { return givenDictName }
func (m *brokenDictManager) GetDecompressor() rocksdb.Decompressor {
	return &ignoreDict{rocksdb.DecompressorWrapper{Decompressor: m.CompressionManager.GetDecompressor()}, nil}
}
func (m *brokenDictManager) GetDecompressorOptimizeFor(rocksdb.CompressionType) rocksdb.Decompressor {
	return m.GetDecompressor()
}
func (m *brokenDictManager) GetDecompressorForTypes([]rocksdb.CompressionType) rocksdb.Decompressor {
	return m.GetDecompressor()
}

type ignoreDict struct {
	rocksdb.DecompressorWrapper
	dict []byte
}

func (d *ignoreDict) Name() string              { return "IgnoreDictDecompressor" }
func (d *ignoreDict) GetSerializedDict() []byte { return d.dict }
func (d *ignoreDict) MaybeCloneForDict(dict []byte) (rocksdb.Decompressor, error) {
	return &ignoreDict{d.DecompressorWrapper, dict}, nil
}

func TestDBCompressionTest_PreDefinedDictionaryCompression(t *testing.T) {
	r := util.NewRandom(42)
	var dict []byte
	patterns := make([]string, 50)
	for i := range patterns {
		patterns[i] = r.RandomString(200)
		dict = append(dict, patterns[i]...)
	}
	wrapper := rocksdb.CompressionManagerWrapper{CompressionManager: builtin}
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.CompressionOpts.MaxDictBytes = rocksdb.ZSTD, uint32(len(dict))
	o.CompressionManager = &givenDictManager{wrapper, dict}
	o.Statistics = rocksdb.NewStatistics()
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.EnableIndexCompression, b.FormatVersion, b.CacheIndexAndFilterBlocks = true, 7, true
	b.BlockCache = rocksdb.NewLRUCache(1 << 20)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.destroyAndReopen(o)
	values := make([]string, 100)
	for i := range values {
		for range 5 {
			values[i] += patterns[r.Uniform(len(patterns))]
		}
		x.put(key(i), values[i])
	}
	x.flush()
	if n := o.Statistics.GetTickerCount(rocksdb.BlockCacheCompressionDictBytesInsert); n < uint64(len(dict)) {
		t.Errorf("%d bytes of dictionaries in the cache", n)
	}
	for i, v := range values {
		x.wantGet(key(i), v)
	}
	// A cached dictionary is that of the decompressor it was read for.
	o.CompressionManager = &brokenDictManager{wrapper}
	b.BlockCache = rocksdb.NewLRUCache(1 << 20)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	x.reopen(o)
	if _, err := x.db.Get(nil, dbKey(0)); !errors.Is(err, rocksdb.ErrCorruption) {
		t.Errorf("without the dictionary: %v", err)
	}
}

// threadsManager changes the number of threads.
type threadsManager struct {
	rocksdb.CompressionManagerWrapper
	threads uint32
}

func (m *threadsManager) Name() string { return "ParallelOverrideManager" }
func (m *threadsManager) GetCompressorForSST(ctx *rocksdb.FilterBuildingContext, o *rocksdb.CompressionOptions, t rocksdb.CompressionType) rocksdb.Compressor {
	changed := *o
	changed.ParallelThreads = m.threads
	return m.CompressionManager.GetCompressorForSST(ctx, &changed, t)
}

func TestDBCompressionTest_CompressionManagerOverridesParallelThreads(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Compression, o.CompressionOpts.ParallelThreads = rocksdb.ZSTD, 1
	o.CompressionManager = &threadsManager{rocksdb.CompressionManagerWrapper{CompressionManager: builtin}, 4}
	observed := uint32(0)
	syncpoint.SetCallBack("BlockBasedTableBuilder::MaybeStartParallelCompression:Started",
		func(arg any) { observed = *arg.(*uint32) })
	syncpoint.EnableProcessing()
	x.destroyAndReopen(o)
	r := util.NewRandom(301)
	for i := range 100 {
		x.put(key(i), r.RandomString(100))
	}
	x.flush()
	syncpoint.Reset()
	if observed != 4 {
		t.Errorf("%d threads", observed)
	}
	for i := range 100 {
		if n := len(x.get(key(i))); n != 100 {
			t.Errorf("%d: %d bytes", i, n)
		}
	}
}
