// Port of table/table_test.cc: UserDefinedIndexStressTest. Differs: fewer scans,
// seeds that are fixed.

package table_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// dataRange is keys from start up to, without, end, in the test's order, or a
// deletion of them.
type dataRange struct {
	start, end        int
	startKey, endKey  string
	value             string
	deletion, skipped bool
	limit             int // keys that a scan reads
}

// udiStress has the same data in two families: written as usual, and ingested.
type udiStress struct {
	*udiTest
	udi, compacted, backward bool
	db                       *rocksdb.DB
	regular, ingested        *rocksdb.ColumnFamily
	levels                   [][]dataRange // the bottom one first
}

// eachUDIStress runs f with all parameters.
func eachUDIStress(t *testing.T, f func(x *udiStress)) {
	seed := uint32(1)
	for i := range 8 {
		udi, compacted, backward := i&1 != 0, i&2 != 0, i&4 != 0
		t.Run(fmt.Sprintf("udi=%v,compacted=%v,backward=%v", udi, compacted, backward), func(t *testing.T) {
			eachUDI(t, func(u *udiTest) {
				seed++
				u.rnd = util.NewRandom(seed)
				x := &udiStress{udiTest: u, udi: udi, compacted: compacted, backward: backward}
				x.setup()
				f(x)
			})
		})
	}
}

func (x *udiStress) setup() {
	x.Helper()
	x.o.CompactionStyle, x.o.DisableAutoCompactions = rocksdb.CompactionStyleUniversal, true
	x.b.UserDefinedIndexFactory = nil
	x.tables()
	var err error
	x.db, err = rocksdb.Open(filepath.Join(x.dir, "db"), x.o)
	fatalIf(x.T, err)
	if x.compacted {
		x.o.SstPartitionerFactory = rocksdb.NewSstPartitionerFixedPrefixFactory(4)
	}
	x.regular, err = x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, "regular_cf")
	fatalIf(x.T, err)
	if x.udi {
		x.b.UserDefinedIndexFactory = x.index
		x.tables()
	}
	x.ingested, err = x.db.CreateColumnFamily(x.o.ColumnFamilyOptions, "ingest_cf")
	fatalIf(x.T, err)
	x.Cleanup(func() {
		fatalIf(x.T, x.regular.Close())
		fatalIf(x.T, x.ingested.Close())
		fatalIf(x.T, x.db.Close())
	})
}

func stressKey(i int) string { return fmt.Sprintf("key%02d", i) }

// randomRanges are n ranges one after another, of which some are skipped.
func (x *udiStress) randomRanges(n, skip int, value string) []dataRange {
	bounds := map[int]bool{}
	for len(bounds) < n+1 {
		bounds[int(x.rnd.Uniform(100))] = true
	}
	sorted := make([]int, 0, len(bounds))
	for b := range bounds {
		sorted = append(sorted, b)
	}
	slices.Sort(sorted)
	if x.reverse {
		slices.Reverse(sorted)
	}
	ranges := make([]dataRange, n)
	for i := range ranges {
		ranges[i] = dataRange{start: sorted[i], end: sorted[i+1], startKey: stressKey(sorted[i]), endKey: stressKey(sorted[i+1]),
			value: value, deletion: x.rnd.OneIn(6), limit: int(x.rnd.Uniform(10)) + 1}
	}
	for range skip {
		ranges[x.rnd.Uniform(n)].skipped = true
	}
	return ranges
}

func (x *udiStress) wholeDeletion() []dataRange {
	keys := x.ordered("key", "keyz")
	return []dataRange{{start: x.pick(0, 100), end: x.pick(100, 0), startKey: keys[0], endKey: keys[1], deletion: true}}
}

func (r *dataRange) each(f func(i int)) {
	for i := r.start; i != r.end; {
		f(i)
		if r.start < r.end {
			i++
		} else {
			i--
		}
	}
}

// rangesFile makes a file of what is not skipped; "" if that is nothing.
func (x *udiStress) rangesFile(ranges []dataRange) string {
	if !slices.ContainsFunc(ranges, func(r dataRange) bool { return !r.skipped }) {
		return ""
	}
	return x.file(func(w *rocksdb.SstFileWriter) {
		for _, r := range ranges {
			switch {
			case r.skipped:
			case r.deletion:
				fatalIf(x.T, w.DeleteRange([]byte(r.startKey), []byte(r.endKey)))
			default:
				r.each(func(i int) { fatalIf(x.T, w.Put([]byte(stressKey(i)), []byte(r.value))) })
			}
		}
	})
}

func (x *udiStress) ingestOptions() *contract.IngestExternalFileOptions {
	o := contract.DefaultIngestExternalFileOptions()
	o.SnapshotConsistency = false
	return &o
}

// ingestLevel ingests a file for each range, or for several.
func (x *udiStress) ingestLevel(level []dataRange, combine bool) {
	x.Helper()
	var files []string
	for i := 0; i < len(level); {
		n := 1
		if combine {
			n = min(int(x.rnd.Uniform(3))+2, len(level)-i)
		}
		if path := x.rangesFile(level[i : i+n]); path != "" {
			files = append(files, path)
		}
		i += n
	}
	fatalIf(x.T, x.ingested.IngestExternalFile(files, x.ingestOptions()))
}

func (x *udiStress) compact() {
	x.Helper()
	if !x.compacted {
		return
	}
	cro := rocksdb.DefaultCompactRangeOptions()
	cro.ExclusiveManualCompaction, cro.BottommostLevelCompaction = true, rocksdb.BottommostLevelCompactionForce
	fatalIf(x.T, x.ingested.CompactRange(&cro, nil, nil))
}

// ingestAll ingests the levels, and compacts after the first.
func (x *udiStress) ingestAll(combine bool) {
	x.Helper()
	for i, level := range x.levels {
		x.ingestLevel(level, combine)
		if i == 0 {
			x.compact()
		}
	}
}

func (x *udiStress) writeRegular() {
	x.Helper()
	for _, level := range x.levels {
		for _, r := range level {
			if r.skipped {
				continue
			}
			r.each(func(i int) {
				if r.deletion {
					fatalIf(x.T, x.regular.Delete(nil, []byte(stressKey(i))))
				} else {
					fatalIf(x.T, x.regular.Put(nil, []byte(stressKey(i)), []byte(r.value)))
				}
			})
		}
	}
	fatalIf(x.T, x.regular.Flush(nil))
}

// scan reads up to each range's number of keys.
func (x *udiStress) scan(cf *rocksdb.ColumnFamily, index *testIndex, ranges []dataRange, multi bool) (got []string) {
	x.Helper()
	it := cf.NewIterator(readOptions(func(ro *rocksdb.ReadOptions) {
		if index != nil {
			ro.TableIndexFactory = index
		}
	}))
	defer it.Close()
	if multi {
		args := contract.DefaultMultiScanArgs(x.o.Comparator)
		for _, r := range ranges {
			if !r.skipped {
				one := x.scanArgs(r.limit, r.startKey, r.endKey)
				args.Ranges = append(args.Ranges, one.Ranges...)
			}
		}
		it.Prepare(&args)
		fatalIf(x.T, it.Status())
	}
	for _, r := range ranges {
		if r.skipped {
			continue
		}
		lower, step := []byte(nil), it.Next
		if x.backward {
			lower, step = []byte(r.startKey), it.Prev
		}
		it.SetBounds(lower, []byte(r.endKey))
		if x.backward {
			it.SeekForPrev([]byte(r.endKey))
		} else {
			it.Seek([]byte(r.startKey))
		}
		for n := 0; it.Valid() && n < r.limit; n++ {
			got = append(got, string(it.Key())+"="+string(it.Value()))
			step()
		}
		fatalIf(x.T, it.Status())
	}
	return got
}

// compare checks that scans of both families give the same.
func (x *udiStress) compare() {
	x.Helper()
	for i := range 25 {
		ranges := x.randomRanges(int(x.rnd.Uniform(3))+4, 2, "")
		want := x.scan(x.regular, nil, ranges, false)
		check := func(what string, got []string) {
			x.Helper()
			if !slices.Equal(got, want) {
				x.Fatalf("scan %d, %s of %+v: %q, want %q", i, what, ranges, got, want)
			}
		}
		check("scans", x.scan(x.ingested, nil, ranges, false))
		index := x.index
		if !x.udi {
			index = nil
		}
		if x.backward {
			check("scans with the index", x.scan(x.ingested, index, ranges, false))
		} else {
			check("a multi-scan", x.scan(x.ingested, index, ranges, true))
		}
	}
}

func TestUserDefinedIndexStressTest_PartialDeleteRange(t *testing.T) {
	eachUDIStress(t, func(x *udiStress) {
		if x.udi && !x.backward {
			// An index that counts keys does not know which are deleted above:
			// it may leave out blocks that the scan needs.
			x.udi = false
		}
		for i := range 5 {
			x.levels = append(x.levels, x.randomRanges(int(x.rnd.Uniform(3))+4, 2, fmt.Sprint("L", x.o.NumLevels-1-i)))
		}
		for _, level := range x.levels {
			x.ingestLevel(level, false)
		}
		x.compact()
		x.writeRegular()
		x.compare()
	})
}

// threeLevels are data below and above a deletion of all keys.
func (x *udiStress) threeLevels(n int) {
	x.levels = [][]dataRange{x.randomRanges(int(x.rnd.Uniform(3))+n, 2, "L6"), x.wholeDeletion()}
	x.levels = append(x.levels, x.randomRanges(int(x.rnd.Uniform(3))+n, 2, "L4"))
}

func TestUserDefinedIndexStressTest_DeleteRangeMixedWithDataFile(t *testing.T) {
	eachUDIStress(t, func(x *udiStress) {
		x.threeLevels(6)
		x.ingestAll(true)
		x.writeRegular()
		x.compare()
	})
}

func TestUserDefinedIndexStressTest_DeleteRange(t *testing.T) {
	eachUDIStress(t, func(x *udiStress) {
		x.threeLevels(4)
		x.ingestAll(false)
		x.writeRegular()
		x.compare()
	})
}

func TestUserDefinedIndexStressTest_AtomicReplaceBulkLoad(t *testing.T) {
	eachUDIStress(t, func(x *udiStress) {
		x.threeLevels(4)
		x.ingestAll(false)
		// The same as the top level once more, in place of all keys.
		path := x.rangesFile(x.levels[2])
		fatalIf(x.T, x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{{ColumnFamily: x.ingested,
			ExternalFiles: []string{path}, Options: *x.ingestOptions(), AtomicReplaceRange: &rocksdb.RangeOpt{}}}))
		x.writeRegular()
		x.compare()
	})
}
