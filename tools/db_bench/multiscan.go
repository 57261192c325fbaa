// Port of the multi-scan benchmarks of tools/db_bench_tool.cc. Differs: a
// database too small for the scans is an error; upstream draws from no keys.

package main

import (
	"bytes"
	"fmt"
	"slices"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func (b *benchmark) printMultiScan() {
	f := b.flags
	b.out.errf("multiscan_stride = %d\n", f.MultiscanStride)
	b.out.errf("multiscan_size = %d\n", f.MultiscanSize)
	b.out.errf("seek_nexts = %d\n", f.SeekNexts)
	b.printMultiScanMemory()
	b.out.errf("reverse_iterator = %t\n", f.ReverseIterator)
}

func (b *benchmark) printMultiScanMemory() {
	b.out.errf("io_dispatcher_max_prefetch_memory_bytes = %d\n", b.flags.IODispatcherMaxPrefetchMemoryBytes)
	b.out.errf("multiscan_max_prefetch_size = %d\n", b.flags.MultiscanMaxPrefetchSize)
}

func (b *benchmark) printMultiScanRandom() {
	f := b.flags
	b.out.errf("multiscanrandom: batch_size=1..64, max_range_keys=%d\n", b.maxRangeKeys())
	b.printMultiScanMemory()
	b.out.errf("multiscan_use_async_io = %t\n", f.MultiscanUseAsyncIO)
	b.out.errf("use_multiscan = %t\n", f.UseMultiscan)
	b.out.errf("reverse_iterator = %t\n", f.ReverseIterator)
}

// maxRangeKeys make a range of 1 MiB.
func (b *benchmark) maxRangeKeys() int64 {
	return max(1, 1<<20/int64(b.flags.KeySize+b.flags.ValueSize))
}

// multiScanner is one worker.
type multiScanner struct {
	b    *benchmark
	args rocksdb.MultiScanArgs
	bufs [][]byte
}

func (b *benchmark) newMultiScanner() *multiScanner {
	f := b.flags
	c := engine.BytewiseComparator()
	if f.UseUint64Comparator {
		c = util.Uint64Comparator()
	}
	s := &multiScanner{b: b, args: rocksdb.DefaultMultiScanArgs(c)}
	s.args.IOCoalesceThreshold, s.args.UseAsyncIO = f.MultiscanCoalesceThreshold, f.MultiscanUseAsyncIO
	s.args.MaxPrefetchSize, s.args.Reverse = f.MultiscanMaxPrefetchSize, f.ReverseIterator
	if f.IODispatcherMaxPrefetchMemoryBytes > 0 {
		s.args.IODispatcher = newIODispatcher(&rocksdb.IODispatcherOptions{
			MaxPrefetchMemoryBytes: f.IODispatcherMaxPrefetchMemoryBytes, Statistics: b.tool.dbstats})
	}
	return s
}

// add makes the keys from start up to end a range.
func (s *multiScanner) add(start, end uint64) {
	n := 2 * len(s.args.Ranges)
	for len(s.bufs) < n+2 {
		s.bufs = append(s.bufs, s.b.keys.keyBuffer())
	}
	num := s.b.flags.Num
	s.args.Insert(s.b.keys.generate(start, num, s.bufs[n]), s.b.keys.generate(end, num, s.bufs[n+1]))
}

// run scans the ranges and forgets them. keys is how many there were.
func (s *multiScanner) run(t *threadState, db *benchDB) (keys int64) {
	m := db.db.NewMultiScan(&t.ro, &s.args)
	for scan := range m.Scans() {
		for range scan {
			keys++
		}
	}
	if err := m.Err(); err != nil {
		s.b.out.errf("MultiScanException: %v\n", err)
	}
	_ = m.Close() // its error was told
	s.args.Ranges = s.args.Ranges[:0]
	return keys
}

func (t *threadState) countMultiScan(db *benchDB) {
	if l := t.shared.readRateLimiter; l != nil {
		l.request(1, rocksdb.OpTypeRead)
	}
	t.stats.finishedOps(db, 1, opMultiScan)
}

// multiScan scans ranges of --seek_nexts keys, --multiscan_stride apart, from
// random keys on.
func (b *benchmark) multiScan(t *threadState) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	f := b.flags
	size := int64(f.SeekNexts)
	if size == 0 {
		size = 50
	}
	room := f.Num - (size+f.MultiscanStride)*f.MultiscanSize
	if room <= 0 || f.MultiscanSize <= 0 {
		return t.failed("multiscan", rocksdb.InvalidArgumentf("%d scans of %d keys, %d apart, need more than --num=%d keys",
			f.MultiscanSize, size, f.MultiscanStride, f.Num))
	}
	s := b.newMultiScanner()
	done, keys := int64(0), int64(1)
	d := t.shared.makeDuration(int64(f.Duration), b.reads, 0)
	for !d.finished(keys) {
		db := b.selectDB(t.rand)
		start := t.rand.Uniform(uint64(room))
		for range f.MultiscanSize {
			s.add(start, start+uint64(size))
			start += uint64(size + f.MultiscanStride)
		}
		keys = max(1, s.run(t, db))
		t.countMultiScan(db)
		done++
	}
	t.stats.addMessage(fmt.Sprintf("(multiscans:%d)", done))
	return nil
}

// keyRange is keys by number, without end.
type keyRange struct{ start, end uint64 }

// randomRanges draws ranges that do not overlap, in order.
func (b *benchmark) randomRanges(t *threadState, most int64) []keyRange {
	drawn := make([]keyRange, 1+t.rand.Uniform(64))
	for i := range drawn {
		size := 1 + t.rand.Uniform(uint64(most))
		last := uint64(0)
		if uint64(b.flags.Num) > size {
			last = uint64(b.flags.Num) - size
		}
		start := t.rand.Uniform(last + 1)
		drawn[i] = keyRange{start, start + size}
	}
	slices.SortFunc(drawn, func(x, y keyRange) int { return int(int64(x.start - y.start)) })
	out := drawn[:1]
	for _, r := range drawn[1:] {
		end := out[len(out)-1].end
		if r.end <= end {
			continue
		}
		out = append(out, keyRange{max(r.start, end), r.end})
	}
	return out
}

func (b *benchmark) multiScanRandom(t *threadState) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	s, most := b.newMultiScanner(), b.maxRangeKeys()
	low, high := b.keys.keyBuffer(), b.keys.keyBuffer()
	done, rows, keys := int64(0), int64(0), int64(1)
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(keys) {
		db := b.selectDB(t.rand)
		ranges := b.randomRanges(t, most)
		if b.flags.UseMultiscan {
			for _, r := range ranges {
				s.add(r.start, r.end)
			}
			keys = s.run(t, db)
		} else {
			keys = b.scanRanges(t, db, ranges, low, high)
		}
		rows += keys
		keys = max(1, keys)
		t.countMultiScan(db)
		done++
	}
	t.stats.addMessage(fmt.Sprintf("(multiscans:%d rows_scanned:%d rows_per_multiscan:%d max_range_keys:%d)",
		done, rows, rows/max(1, done), most))
	return nil
}

// scanRanges reads the ranges with one plain iterator.
func (b *benchmark) scanRanges(t *threadState, db *benchDB, ranges []keyRange, low, high []byte) (keys int64) {
	it := db.db.NewIterator(&t.ro)
	defer closeIterator(it)
	reverse := b.flags.ReverseIterator
	if reverse {
		slices.Reverse(ranges)
	}
	for _, r := range ranges {
		start, end := b.keys.generate(r.start, b.flags.Num, low), b.keys.generate(r.end, b.flags.Num, high)
		if reverse {
			it.SeekForPrev(end)
			if it.Valid() && bytes.Compare(it.Key(), end) >= 0 {
				it.Prev()
			}
			for ; it.Valid() && bytes.Compare(it.Key(), start) >= 0; it.Prev() {
				keys++
			}
		} else {
			for it.Seek(start); it.Valid() && bytes.Compare(it.Key(), end) < 0; it.Next() {
				keys++
			}
		}
		if err := it.Status(); err != nil {
			b.out.errf("Iterator error: %v\n", err)
			break
		}
	}
	return keys
}
