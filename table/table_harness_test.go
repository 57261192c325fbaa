// Port of table/table_test.cc: HarnessTest. Differs: of its kinds of tables
// those of this module, block-based and plain tables and single blocks; memtables
// and databases have tests of their own.

package table_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/table/plain"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

type harness struct {
	t    *testing.T
	cmp  rocksdb.Comparator
	icmp *dbformat.InternalKeyComparator
	data *util.KVMap
	// forwardOnly iterators cannot go back, and seek to keys that are there.
	forwardOnly bool
	// build gives a source of iterators over data.
	build func() func() internaliter.InternalIterator
}

// eachHarness runs f for all kinds of tables, orders and encodings; f gets one
// with no data.
func eachHarness(t *testing.T, f func(h *harness, rnd *util.Random)) {
	run := func(name string, reverse bool, build func(h *harness) func() internaliter.InternalIterator) {
		t.Run(fmt.Sprintf("%s,reverse=%t", name, reverse), func(t *testing.T) {
			h := &harness{t: t, cmp: util.BytewiseComparator()}
			if reverse {
				h.cmp = reverseComparator
			}
			h.icmp, h.data = dbformat.NewInternalKeyComparator(h.cmp), util.NewKVMap(h.cmp)
			h.build = func() func() internaliter.InternalIterator { return build(h) }
			f(h, util.NewRandom(uint32(rand.Int31())))
		})
	}
	total := rocksdb.DefaultPlainTableOptions()
	total.BloomBitsPerKey, total.HashTableRatio = 0, 0
	for _, reverse := range []bool{false, true} {
		run("block", reverse, buildBlock)
		for _, mmap := range []bool{false, true} {
			for name, p := range map[string]struct {
				prefix rocksdb.SliceTransform
				opts   rocksdb.PlainTableOptions
			}{
				"semi-fixed prefix": {util.NewCappedPrefixTransform(2), rocksdb.DefaultPlainTableOptions()},
				"full prefix":       {util.NewNoopTransform(), rocksdb.DefaultPlainTableOptions()},
				"total order":       {nil, total},
			} {
				run(fmt.Sprintf("plain,%s,mmap=%t", name, mmap), reverse, func(h *harness) func() internaliter.InternalIterator {
					h.forwardOnly = true
					o := rocksdb.DefaultOptions()
					o.Comparator, o.PrefixExtractor, o.AllowMmapReads = h.cmp, p.prefix, mmap
					o.TableFactory = plain.NewPlainTableFactory(&p.opts)
					return buildTable(h, &o)
				})
			}
		}
		for _, interval := range []int{16, 1, 1024} {
			for ct := rocksdb.NoCompression; ct <= rocksdb.ZSTD; ct++ {
				if !compression.CompressionTypeSupported(ct) {
					continue
				}
				for _, threads := range []uint32{1, 4} {
					for _, fv := range []uint32{format.MinSupportedBbtFormatVersionForRead, 7} {
						name := fmt.Sprintf("table,interval=%d,compression=%d,threads=%d,fv=%d", interval, ct, threads, fv)
						run(name, reverse, func(h *harness) func() internaliter.InternalIterator {
							bbto := rocksdb.DefaultBlockBasedTableOptions()
							bbto.BlockSize, bbto.FormatVersion = 256, fv
							bbto.BlockRestartInterval, bbto.IndexBlockRestartInterval = interval, interval
							o := optionsFor(&bbto)
							o.Comparator, o.Compression, o.CompressionOpts.ParallelThreads = h.cmp, ct, threads
							return buildTable(h, &o)
						})
					}
				}
			}
		}
	}
}

func buildTable(h *harness, o *rocksdb.Options) func() internaliter.InternalIterator {
	c := newTableConstructor(h.t, h.cmp, true)
	h.t.Cleanup(c.Close)
	c.data = h.data
	c.Finish(o, h.icmp)
	return func() internaliter.InternalIterator { return c.iterator(nil, nil) }
}

func buildBlock(h *harness) func() internaliter.InternalIterator {
	b := block.NewBlockBuilder(&block.BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, DataBlockHashTableUtilRatio: 0.75})
	for i := 0; i < h.data.Len(); i++ {
		k, v := h.data.At(i)
		b.Add(maxIkey(k), []byte(v), nil, false)
	}
	bl := block.NewBlock(format.BorrowBlock(slices.Clone(b.Finish())), 0, nil)
	return func() internaliter.InternalIterator {
		return bl.NewDataIterator(h.icmp, block.DataIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber}, new(block.DataBlockIter))
	}
}

// at checks that the iterator is at entry i of the data; outside of it, that it
// is not valid.
func (h *harness) at(it internaliter.InternalIterator, i int) {
	h.t.Helper()
	fatalIf(h.t, it.Status())
	if i < 0 || i >= h.data.Len() {
		checkEq(h.t, "valid", it.Valid(), false)
		return
	}
	checkEq(h.t, "valid", it.Valid(), true)
	k, v := h.data.At(i)
	checkEq(h.t, "key", string(it.UserKey()), k)
	checkEq(h.t, "value", string(it.Value()), v)
}

func (h *harness) test(rnd *util.Random) {
	h.t.Helper()
	iterator := h.build()
	it := iterator()
	checkEq(h.t, "valid", it.Valid(), false)
	i := 0
	for it.SeekToFirst(); i < h.data.Len(); it.Next() {
		h.at(it, i)
		i++
	}
	h.at(it, i)
	it.Close()
	if !h.forwardOnly {
		it = iterator()
		i = h.data.Len() - 1
		for it.SeekToLast(); i >= 0; it.Prev() {
			h.at(it, i)
			i--
		}
		h.at(it, i)
		it.Close()
	}
	it = iterator()
	defer it.Close()
	moves := 5
	if h.forwardOnly {
		moves = 3
	}
	for range 200 {
		switch rnd.Uniform(moves) {
		case 0:
			if !it.Valid() {
				continue
			}
			it.Next()
			i++
		case 1:
			it.SeekToFirst()
			i = 0
		case 2:
			k := h.pickKey(rnd)
			if h.forwardOnly && h.data.Len() == 0 {
				continue
			}
			it.Seek(maxIkey(k))
			i = h.data.LowerBound(k)
		case 3:
			if !it.Valid() {
				continue
			}
			it.Prev()
			i--
		default:
			it.SeekToLast()
			i = h.data.Len() - 1
		}
		h.at(it, i)
	}
}

// pickKey gives a key of the data or one just below or above it.
func (h *harness) pickKey(rnd *util.Random) string {
	if h.data.Len() == 0 {
		return "foo"
	}
	k, _ := h.data.At(int(rnd.Uniform(h.data.Len())))
	if h.forwardOnly {
		return k
	}
	switch rnd.Uniform(3) {
	case 1:
		if b := []byte(k); len(b) > 0 && b[len(b)-1] > 0 {
			b[len(b)-1]--
			return string(b)
		}
	case 2:
		if h.cmp == rocksdb.Comparator(reverseComparator) {
			return "\x00" + k
		}
		return k + "\x00"
	}
	return k
}

func TestParameterizedHarnessTest_RandomizedHarnessTest(t *testing.T) {
	n := 0
	eachHarness(t, func(h *harness, rnd *util.Random) {
		// Upstream builds each number of entries from 0 to 50 and beyond;
		// here each kind of table gets an eighth of them.
		n++
		for num := n % 8; num < 2000; {
			for range num {
				h.data.Set(randomKey(rnd, int(rnd.Skewed(4))), rnd.RandomString(int(rnd.Skewed(5))))
			}
			h.test(rnd)
			h.data = util.NewKVMap(h.cmp)
			if num < 50 {
				num += 8
			} else {
				num += 600
			}
		}
	})
}

func testEntries(t *testing.T, kvs ...string) {
	eachHarness(t, func(h *harness, rnd *util.Random) {
		for i := 0; i < len(kvs); i += 2 {
			h.data.Set(kvs[i], kvs[i+1])
		}
		h.test(rnd)
	})
}

func TestParameterizedHarnessTest_SimpleEmptyKey(t *testing.T) { testEntries(t, "", "v") }

func TestParameterizedHarnessTest_SimpleSingle(t *testing.T) { testEntries(t, "abc", "v") }

func TestParameterizedHarnessTest_SimpleMulti(t *testing.T) {
	testEntries(t, "abc", "v", "abcd", "v", "ac", "v2")
}

func TestParameterizedHarnessTest_SimpleSpecialKey(t *testing.T) { testEntries(t, "\xff\xff", "v3") }
