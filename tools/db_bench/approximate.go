// Port of the estimates, of the history of statistics and of the compaction of
// one level of tools/db_bench_tool.cc.

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// approximateSizeRandom asks for the sizes of --batch_size random ranges at a
// time.
func (b *benchmark) approximateSizeRandom(t *threadState) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	n := b.entriesPerBatch
	ranges := make([]rocksdb.Range, n)
	for i := range ranges {
		ranges[i] = rocksdb.Range{Start: b.keys.keyBuffer(), Limit: b.keys.keyBuffer()}
	}
	var sum, count uint64
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		for i := range ranges {
			l, r := b.randomKey(t.rand), b.randomKey(t.rand)
			ranges[i].Start = b.keys.generate(uint64(min(l, r)), b.flags.Num, ranges[i].Start)
			ranges[i].Limit = b.keys.generate(uint64(max(l, r)), b.flags.Num, ranges[i].Limit)
		}
		sizes, err := db.db.GetApproximateSizes(nil, ranges)
		if err != nil {
			return t.failed("GetApproximateSizes returned an error", err)
		}
		for _, size := range sizes {
			sum += size
		}
		count += uint64(n)
		t.stats.finishedOps(db, n, opOthers)
	}
	t.stats.addMessage(fmt.Sprintf("(Avg approx size=%s)", strconv.FormatFloat(float64(sum)/float64(count), 'g', 6, 64)))
	return nil
}

// approximateMemtableStats asks how many entries --batch_size neighbouring keys
// have in memtables.
func (b *benchmark) approximateMemtableStats(t *threadState) error {
	n := b.entriesPerBatch
	if b.flags.Num <= n {
		b.out.errf("db_bench: --num has to be more than --batch_size\n")
		return exitCode(1)
	}
	r := rocksdb.Range{Start: b.keys.keyBuffer(), Limit: b.keys.keyBuffer()}
	counts := monitoring.NewHistogramImpl()
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		start := t.rand.Uniform(uint64(b.flags.Num - n))
		r.Start = b.keys.generate(start, b.flags.Num, r.Start)
		r.Limit = b.keys.generate(start+uint64(n), b.flags.Num, r.Limit)
		count, _ := db.db.GetApproximateMemTableStats(r)
		counts.Add(count)
		t.stats.finishedOps(db, 1, opOthers)
	}
	t.stats.addMessage(fmt.Sprintf("\nReported entry count stats (expected %d):", n))
	t.stats.addMessage("\n" + counts.ToString())
	return nil
}

// printStatsHistory prints what --stats_persist_period_sec has kept.
func (b *benchmark) printStatsHistory() error {
	return b.each(func(d *benchDB, single bool) error {
		if !single {
			b.out.printf("\n==== DB: %s ===\n", d.path)
		}
		it := d.db.GetStatsHistory(0, math.MaxUint64)
		for ; it.Valid(); it.Next() {
			at, values := it.GetStatsTime(), it.GetStatsMap()
			b.out.printf("------ %s ------\n", util.TimeToHumanString(int64(at)))
			for _, name := range slices.Sorted(maps.Keys(values)) {
				b.out.printf(" %d   %s  %d\n", at, name, values[name])
			}
		}
		if err := it.Err(); err != nil {
			b.out.printf("%v\n", err)
		}
		return nil
	})
}

// compactLevel compacts level 0, or the first level below it that has files,
// into the next that has. What background compactions take away under it is
// tried again after them.
// Upstream: Benchmark::CompactLevel.
func (b *benchmark) compactLevel(from int) error {
	return b.each(func(d *benchDB, _ bool) error {
		for {
			done, err := b.compactLevelOnce(d, from)
			if done || err != nil {
				return err
			}
			if err := b.waitForCompaction(); err != nil {
				return err
			}
		}
	})
}

// compactLevelOnce is one try.
// Upstream: Benchmark::CompactLevelHelper.
func (b *benchmark) compactLevelOnce(d *benchDB, from int) (done bool, err error) {
	files := d.db.GetLiveFilesMetaData()
	level := from
	if from > 0 {
		// With dynamic levels the first one in use need not be level 1.
		level = math.MaxInt
		for i := range files {
			if l := files[i].Level; l > 0 {
				level = min(level, l)
			}
		}
	}
	next := math.MaxInt
	var names []string
	for i := range files {
		switch l := files[i].Level; {
		case l == level:
			names = append(names, files[i].Name)
		case l > level:
			next = min(next, l)
		}
	}
	switch {
	case len(names) == 0:
		b.out.printf("compact%d found 0 files to compact\n", from)
		return true, nil
	case next == math.MaxInt:
		b.out.printf("compact%d found no data beyond L%d\n", from, level)
		return true, nil
	}
	b.out.printf("compact%d found %d files to compact from L%d to L%d\n", from, len(names), level, next)
	o := rocksdb.DefaultCompactionOptions()
	o.OutputFileSizeLimit = d.db.GetOptions().TargetFileSizeBase
	if _, err := d.db.CompactFiles(&o, names, next, -1, nil); err != nil {
		b.out.errf("compact%d CompactFiles failed: %v\n", from, err)
		if c := rocksdb.CodeOf(err); c != rocksdb.CodeAborted && c != rocksdb.CodeInvalidArgument {
			// Only a compaction of the background's that took the files is
			// worth another try.
			return true, exitCode(1)
		}
		return false, nil
	}
	return true, nil
}
