// Port of table/block_based/block_based_table_reader_test.cc (multi-scans).
// Differs: a range's end is the upper bound, as it is under a database iterator;
// a seek back into a range is answered.

package blockbased_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
)

const perBlock = readerEntriesPerBlock

// tableScan is a table under a multi-scan.
type tableScan struct {
	*testing.T
	p       *readerParam
	table   *blockbased.BlockBasedTable
	entries []entry
	ro      rocksdb.ReadOptions
	it      internaliter.InternalIterator
	tracker *iodispatcher.TrackingIODispatcher
}

func eachTableScan(t *testing.T, blocks int, test func(x *tableScan)) {
	n := 0
	for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression} {
		for _, index := range []rocksdb.IndexType{rocksdb.BinarySearch, rocksdb.TwoLevelIndexSearch, rocksdb.BinarySearchWithFirstKey} {
			for _, udt := range []string{"none", "persisted"} {
				n++
				p := &readerParam{compression: c, direct: n%2 == 0, index: index, udt: udt, threads: 1}
				t.Run(fmt.Sprintf("%d/%d/%s/%v", c, index, udt, p.direct), func(t *testing.T) {
					s := p.spec()
					direct := s.reader
					s.reader = func(o *table.TableReaderOptions) {
						direct(o)
						o.IOptions.FS = env.DefaultFileSystem()
					}
					tsSize := 0
					if udt != "none" {
						tsSize = 8
					}
					x := &tableScan{T: t, p: p, entries: readerEntries(blocks, true, tsSize, false), ro: rocksdb.DefaultReadOptions()}
					x.table, _ = p.make(t, s, x.entries)
					if n := len(x.table.DataBlockHandles()); n != blocks {
						t.Fatalf("%d blocks", n)
					}
					x.ro.TotalOrderSeek = true
					test(x)
					x.end()
				})
			}
		}
	}
}

// user is an entry's key without timestamp.
func (x *tableScan) user(i int) []byte {
	k := dbformat.ExtractUserKey(x.entries[i].key)
	if x.p.udt != "none" {
		k = k[:len(k)-8]
	}
	return k
}

func (x *tableScan) end() {
	if x.it != nil {
		_ = x.it.Close() // some end with an error on purpose
		x.it = nil
	}
}

// args make ranges of entry numbers; -1 is no limit.
func (x *tableScan) args(fromTo ...int) *rocksdb.MultiScanArgs {
	x.tracker = iodispatcher.NewTrackingIODispatcher(nil)
	a := rocksdb.DefaultMultiScanArgs(nil)
	a.IODispatcher = x.tracker
	for i := 0; i < len(fromTo); i += 2 {
		var limit []byte
		if fromTo[i+1] >= 0 {
			limit = x.user(fromTo[i+1])
		}
		a.Insert(x.user(fromTo[i]), limit)
	}
	return &a
}

func (x *tableScan) prepare(a *rocksdb.MultiScanArgs) {
	x.Helper()
	x.end()
	x.it = x.table.NewIterator(&x.ro, nil, true, rocksdb.CallerUncategorized, 0, false)
	x.it.Prepare(a)
	if err := x.it.Status(); err != nil {
		x.Fatal(err)
	}
}

// wantKeys reads from an entry on up to limit, or to the end of what was read
// ahead.
func (x *tableScan) wantKeys(from, to int, limit []byte) {
	x.Helper()
	x.ro.IterateUpperBound = limit
	n := from
	for x.it.Seek(x.entries[from].key); x.it.Valid(); x.it.Next() {
		if n >= to || !bytes.Equal(x.it.Key(), x.entries[n].key) || !bytes.Equal(x.it.Value(), x.entries[n].value) {
			x.Fatalf("entry %d of %d: %q", n, to, x.it.Key())
		}
		n++
	}
	if n != to {
		x.Fatalf("ends at %d, want %d: %v", n, to, x.it.Status())
	}
}

func (x *tableScan) pinned(blocks int) (is []int) {
	for i := range blocks {
		if blockbased.IsBlockPinnedByMultiScan(x.it, i) {
			is = append(is, i)
		}
	}
	return is
}

func (x *tableScan) wantPinned(want ...int) {
	x.Helper()
	if got := x.pinned(40); !slices.Equal(got, want) {
		x.Errorf("blocks %v, want %v", got, want)
	}
}

func (x *tableScan) wantLimitReached() {
	x.Helper()
	if s := rocksdb.AsStatus(x.it.Status()); s == nil || s.SubCode != rocksdb.SubCodePrefetchLimitReached {
		x.Errorf("status %v", x.it.Status())
	}
}

func (x *tableScan) firstKeys() bool { return x.p.index == rocksdb.BinarySearchWithFirstKey }

func TestBlockBasedTableReaderMultiScanAsyncIOTest_MultiScanPrepare(t *testing.T) {
	for _, async := range []bool{false, true} {
		eachTableScan(t, 30, func(x *tableScan) {
			x.ro.FillCache = false
			ranges := []int{0, 5, 2 * perBlock, 4*perBlock + 3, 4*perBlock + 3, 6 * perBlock, 20 * perBlock, 25*perBlock - 1}
			a := x.args(ranges...)
			a.UseAsyncIO = async
			x.prepare(a)
			if n := len(x.tracker.ReadSets); n != 1 {
				x.Fatalf("%d read sets", n)
			}
			for i := 0; i < len(ranges); i += 2 {
				x.wantKeys(ranges[i], ranges[i+1], x.user(ranges[i+1]))
			}
			n := x.tracker.Total()
			if async && n.SyncReads != 0 || !async && n.AsyncReads != 0 || n.SyncReads+n.AsyncReads < 10 || n.IORequests >= n.BlocksPrefetched {
				x.Errorf("%+v", n)
			}
			// With a threshold over all gaps it is one read.
			a = x.args(ranges...)
			a.UseAsyncIO, a.IOCoalesceThreshold = async, 1<<20
			x.prepare(a)
			if n := x.tracker.Total(); n.IORequests != 1 || n.CoalescedNonadjacent < 1 {
				x.Errorf("%+v", n)
			}
			x.wantKeys(0, 5, x.user(5))
			// A range from before all and an open one.
			a = x.args(3*perBlock, -1)
			a.UseAsyncIO = async
			x.prepare(a)
			x.wantKeys(3*perBlock, len(x.entries), nil)
		})
	}
}

func TestBlockBasedTableReaderMultiScanTest_MultiScanPrefetchSizeLimit(t *testing.T) {
	eachTableScan(t, 20, func(x *tableScan) {
		if x.p.compression != rocksdb.NoCompression {
			return // sizes would not be what the options say
		}
		a := x.args(0, 5)
		a.MaxPrefetchSize = 1024
		x.prepare(a)
		x.wantKeys(0, 0, nil)
		x.wantLimitReached()

		a = x.args(perBlock, 8*perBlock)
		a.MaxPrefetchSize = 9 << 10
		x.prepare(a)
		x.wantKeys(perBlock, 3*perBlock, x.user(8*perBlock))
		x.wantLimitReached()

		a = x.args(0, 5*perBlock) // two of the blocks are cached, and count
		a.MaxPrefetchSize = 13 << 10
		x.prepare(a)
		x.wantKeys(0, 3*perBlock, x.user(5*perBlock))
		x.wantLimitReached()

		a = x.args(0, 5, 5*perBlock, 8*perBlock)
		a.MaxPrefetchSize = 9 << 10
		x.prepare(a)
		x.wantKeys(0, 5, x.user(5))
		x.wantKeys(5*perBlock, 6*perBlock, x.user(8*perBlock))
		x.wantLimitReached()

		a = x.args(0, 5*perBlock)
		a.MaxPrefetchSize = 10 << 20
		x.prepare(a)
		x.wantKeys(0, 5*perBlock, x.user(5*perBlock))
	})
}

func TestBlockBasedTableReaderMultiScanTest_ReverseMultiScanPrepare(t *testing.T) {
	eachTableScan(t, 20, func(x *tableScan) {
		a := x.args(perBlock, 3*perBlock, 10*perBlock, 12*perBlock)
		a.Reverse = true
		x.prepare(a)
		for _, r := range [][2]int{{10 * perBlock, 12 * perBlock}, {perBlock, 3 * perBlock}} {
			n := r[1]
			for x.it.SeekForPrev(x.entries[r[1]-1].key); x.it.Valid() && n > r[0]; x.it.Prev() {
				if n--; !bytes.Equal(x.it.Key(), x.entries[n].key) {
					x.Fatalf("%q, want %q", x.it.Key(), x.entries[n].key)
				}
			}
			if n != r[0] {
				x.Fatalf("ends at %d", n)
			}
		}
		if x.p.compression == rocksdb.NoCompression {
			a.MaxPrefetchSize = 9 << 10
			x.prepare(a)
			n := 0
			for x.it.SeekForPrev(x.entries[12*perBlock-1].key); x.it.Valid(); x.it.Prev() {
				n++
			}
			x.wantLimitReached()
			// Blocks between the ranges are read as they come.
			if n%perBlock != 0 || n == 0 || n > 9*perBlock {
				x.Errorf("%d entries", n)
			}
		}
	})
}

func TestBlockBasedTableReaderMultiScanTest_MultiScanUnpinPreviousBlocks(t *testing.T) {
	eachTableScan(t, 30, func(x *tableScan) {
		x.ro.FillCache = false
		x.prepare(x.args(0, 5*perBlock-1, 10*perBlock, 12*perBlock-1))
		before := x.pinned(40)
		if len(before) < 7 {
			x.Fatalf("blocks %v", before)
		}
		x.ro.IterateUpperBound = x.user(5*perBlock - 1)
		x.it.Seek(x.entries[2*perBlock].key)
		x.wantPinned(before[3:]...)
		if n := blockbased.ScanWasted(x.it); n != 2 {
			x.Errorf("%d blocks wasted", n)
		}
		for range 2 * perBlock {
			x.it.Next()
		}
		x.wantPinned(before[5:]...)
		x.it.Seek(x.entries[10*perBlock].key)
		if got := x.pinned(40); len(got) >= len(before)-4 {
			x.Errorf("blocks %v", got)
		}
	})
}

func TestBlockBasedTableReaderMultiScanFirstInternalKeyTest_MultiScanLimitAtBlockBoundarySkipsNextBlockWithFirstKey(t *testing.T) {
	eachTableScan(t, 4, func(x *tableScan) {
		x.prepare(x.args(0, perBlock))
		if x.firstKeys() {
			x.wantPinned(0)
		} else {
			x.wantPinned(0, 1)
		}
	})
}

func TestBlockBasedTableReaderMultiScanFirstInternalKeyTest_MultiScanLimitInsideBlockKeepsContainingBlock(t *testing.T) {
	eachTableScan(t, 4, func(x *tableScan) {
		x.prepare(x.args(0, perBlock+1))
		x.wantPinned(0, 1)
	})
}

func TestBlockBasedTableReaderMultiScanFirstInternalKeyTest_MultiScanUnboundedRangeIncludesAllCandidateBlocks(t *testing.T) {
	eachTableScan(t, 4, func(x *tableScan) {
		x.prepare(x.args(0, -1))
		x.wantPinned(0, 1, 2, 3)
	})
}

func TestBlockBasedTableReaderMultiScanFirstInternalKeyTest_MultiScanLimitBeyondLastBlockIncludesAllCandidateBlocks(t *testing.T) {
	eachTableScan(t, 4, func(x *tableScan) {
		a := x.args(0, -1)
		a.Ranges[0].Range.Limit = append(bytes.Clone(x.user(len(x.entries)-1)), 0xff)
		x.prepare(a)
		x.wantPinned(0, 1, 2, 3)
	})
}

func TestBlockBasedTableReaderMultiScanFirstInternalKeyTest_MultiScanRangeBeforeFirstBlockPrunesAllBlocksWithFirstKey(t *testing.T) {
	eachTableScan(t, 4, func(x *tableScan) {
		a := x.args()
		a.Insert([]byte{}, []byte{0})
		x.prepare(a)
		if x.firstKeys() {
			x.wantPinned()
		} else {
			x.wantPinned(0)
		}
	})
}

func TestBlockBasedTableReaderMultiScanFirstInternalKeyTest_MultiScanAdjacentRangeKeepsBlockNeededBySecondRange(t *testing.T) {
	eachTableScan(t, 4, func(x *tableScan) {
		x.prepare(x.args(0, perBlock, perBlock, 2*perBlock))
		if x.firstKeys() {
			x.wantPinned(0, 1)
		} else {
			x.wantPinned(0, 1, 2)
		}
		x.wantKeys(0, perBlock, x.user(perBlock))
		x.wantKeys(perBlock, 2*perBlock, x.user(2*perBlock))
	})
}

func TestBlockBasedTableReaderMultiScanTest_MultiScanReseekAfterExhaustion(t *testing.T) {
	eachTableScan(t, 10, func(x *tableScan) {
		last := 10*perBlock - 1
		x.prepare(x.args(0, 5*perBlock-1, 5*perBlock, last))
		for range 2 { // the second time upstream has nothing to show
			x.wantKeys(0, 5*perBlock-1, x.user(5*perBlock-1))
		}
		for range 2 {
			x.wantKeys(5*perBlock, last, x.user(last))
		}
	})
}
