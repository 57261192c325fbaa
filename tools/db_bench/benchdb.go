// Port of DBWithColumnFamilies and of the printing of properties of
// tools/db_bench_tool.cc.

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// benchDB is an open database with the column families in use. Those in
// cfs[:numCreated] are open; the last numHot of them are written and read.
type benchDB struct {
	db         *DB
	path       string
	cfs        []*ColumnFamily // empty with one column family
	numCreated atomic.Int64    // grows after the entries of cfs are set
	numHot     int64
	idxToProb  []int // percentages by hot column family; empty for equal shares
	createMu   sync.Mutex
}

// columnFamilyName is the name of the i-th column family.
func columnFamilyName(i int) string {
	if i == 0 {
		return rocksdb.DefaultColumnFamilyName
	}
	return fmt.Sprintf("column_family_name_%06d", i)
}

// cfh picks the column family that goes with a key's number.
func (d *benchDB) cfh(randNum uint64) *ColumnFamily {
	offset := int64(0)
	if len(d.idxToProb) > 0 {
		sum, want := 0, int(randNum%100)
		for int(offset) < len(d.idxToProb)-1 && sum+d.idxToProb[offset] < want {
			sum += d.idxToProb[offset]
			offset++
		}
	} else {
		offset = int64(randNum % uint64(d.numHot))
	}
	return d.cfs[d.numCreated.Load()-d.numHot+offset]
}

// pick is cfh, or the default column family when there is one only.
func (d *benchDB) pick(randNum uint64) *ColumnFamily {
	if len(d.cfs) > 1 {
		return d.cfh(randNum)
	}
	return d.db.ColumnFamily
}

// createNewCF makes the hot column families of a stage; one worker does it.
func (d *benchDB) createNewCF(opts *rocksdb.ColumnFamilyOptions, stage int64) error {
	d.createMu.Lock()
	defer d.createMu.Unlock()
	created := d.numCreated.Load()
	if (stage+1)*d.numHot <= created {
		return nil
	}
	upTo := min(created+d.numHot, int64(len(d.cfs)))
	for i := created; i < upTo; i++ {
		cf, err := d.db.CreateColumnFamily(*opts, columnFamilyName(int(i)))
		if err != nil {
			return fmt.Errorf("create column family error: %w", err)
		}
		d.cfs[i] = cf
	}
	d.numCreated.Store(upTo)
	return nil
}

func (d *benchDB) close() error {
	if d.db == nil {
		return nil
	}
	err := d.db.Close()
	d.db, d.cfs = nil, nil
	return err
}

// flush writes out all memtables.
func (d *benchDB) flush(opts *rocksdb.FlushOptions) error {
	if len(d.cfs) == 0 {
		return d.db.Flush(opts)
	}
	var errs []error
	for _, cf := range d.cfs[:d.numCreated.Load()] {
		errs = append(errs, cf.Flush(opts))
	}
	return errors.Join(errs...)
}

// printIntervalStats prints what --stats_per_interval asks for.
func (d *benchDB) printIntervalStats(f *Flags, out *outputs) {
	byLevel := func(cf *ColumnFamily) {
		if !f.ShowTableProperties {
			return
		}
		for level := range int(f.NumLevels) {
			s, ok := cf.GetProperty(fmt.Sprintf("rocksdb.aggregated-table-properties-at-level%d", level))
			if ok && !strings.Contains(s, "# entries=0") {
				out.errf("Level[%d]: %s\n", level, s)
			}
		}
	}
	if n := d.numCreated.Load(); n > 0 {
		for _, cf := range d.cfs[:n] {
			if s, ok := cf.GetProperty("rocksdb.cfstats"); ok {
				out.errf("%s\n", s)
			}
			byLevel(cf)
		}
		return
	}
	if s, ok := d.db.GetProperty("rocksdb.stats"); ok {
		out.errf("%s", s)
	}
	if s, ok := d.db.GetProperty("rocksdb.num-running-compactions"); ok {
		out.errf("num-running-compactions: %s\n", s)
	}
	if s, ok := d.db.GetProperty("rocksdb.num-running-flushes"); ok {
		out.errf("num-running-flushes: %s\n\n", s)
	}
	byLevel(d.db.ColumnFamily)
}

// each calls f with every open database.
func (b *benchmark) each(f func(d *benchDB, single bool) error) error {
	if b.db.db != nil {
		return f(&b.db, true)
	}
	for _, d := range b.multiDBs {
		if err := f(d, false); err != nil {
			return err
		}
	}
	return nil
}

// property gives a property's text, or that it failed.
func property(d *benchDB, name string) string {
	if s, ok := d.db.GetProperty(name); ok {
		return s
	}
	return "(failed)"
}

// printStats prints a property of every database.
func (b *benchmark) printStats(name string) error {
	return b.each(func(d *benchDB, single bool) error {
		if !single {
			b.out.printf("\n==== DB: %s ===\n", d.path)
		}
		b.out.printf("\n%s\n", property(d, name))
		return nil
	})
}

// printStalls prints the counts of stalls in the form of older releases, which
// upstream's tools/benchmark.sh still looks for, when the flags are those it
// gives; v11.8.1's own db_bench leaves that column of its report empty.
func (b *benchmark) printStalls() error {
	if b.flags.StatsIntervalSeconds == 0 || b.flags.StatsPerInterval == 0 {
		return nil
	}
	return b.each(func(d *benchDB, _ bool) error {
		var n [6]int
		total := 0
		for i, name := range [...]string{"l0-file-count-limit-delays", "l0-file-count-limit-stops",
			"pending-compaction-bytes-stops", "pending-compaction-bytes-delays", "memtable-limit-stops", "memtable-limit-delays"} {
			n[i] = stallCount(property(d, "rocksdb.cfstats"), name)
			total += n[i]
		}
		b.out.printf("Stalls(count): %d level0_slowdown, 0 level0_slowdown_with_compaction, %d level0_numfiles, "+
			"0 level0_numfiles_with_compaction, %d stop for pending_compaction_bytes, %d slowdown for pending_compaction_bytes, "+
			"%d memtable_compaction, %d memtable_slowdown, cumulative %d total count\n", n[0], n[1], n[2], n[3], n[4], n[5], total)
		return nil
	})
}

// stallCount finds a count in the text of rocksdb.cfstats.
func stallCount(stats, name string) int {
	_, rest, ok := strings.Cut(stats, "Write Stall (count): ")
	if !ok {
		return 0
	}
	line, _, _ := strings.Cut(rest, "\n")
	for field := range strings.SplitSeq(line, ", ") {
		if v, ok := strings.CutPrefix(field, name+": "); ok {
			n, _ := strconv.Atoi(v)
			return n
		}
	}
	return 0
}

// printStatsOf prints several properties, a line each.
func (b *benchmark) printStatsOf(names ...string) error {
	return b.each(func(d *benchDB, single bool) error {
		if !single {
			b.out.printf("\n==== DB: %s ===\n", d.path)
		}
		for _, name := range names {
			b.out.printf("%s: %s\n", name, property(d, name))
		}
		return nil
	})
}
