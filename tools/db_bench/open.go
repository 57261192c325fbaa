// Port of Benchmark::OpenDb and of the end of InitializeOptionsGeneral of
// tools/db_bench_tool.cc.

package main

import (
	"slices"
	"strconv"
	"strings"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// openAll opens the database, or --num_multi_db of them.
func (b *benchmark) openAll() error {
	f := b.flags
	opts := b.openOptions
	if f.UseKeepFilter && opts.CompactionFilter == nil {
		// Differs: upstream makes the filter after it opened the database, so
		// that only the next one opened has it.
		b.openOptions.CompactionFilter = keepFilter{}
		opts.CompactionFilter = keepFilter{}
		b.out.printf("A noop compaction filter is used\n")
	}
	if b.expiryFilter != nil {
		b.openOptions.CompactionFilter = b.expiryFilter
		opts.CompactionFilter = b.expiryFilter
	}
	if f.NumMultiDB <= 1 {
		if err := b.openDB(opts, f.DB, &b.db); err != nil {
			return err
		}
	} else {
		b.multiDBs = nil
		for i := range int(f.NumMultiDB) {
			if b.openOptions.WALDir != "" {
				opts.WALDir = pathForMultiple(b.openOptions.WALDir, i)
			}
			d := new(benchDB)
			if err := b.openDB(opts, pathForMultiple(f.DB, i), d); err != nil {
				return err
			}
			b.multiDBs = append(b.multiDBs, d)
		}
	}
	if f.UseExistingKeys {
		return b.readExistingKeys()
	}
	return nil
}

// readExistingKeys takes the keys of --use_existing_keys from the database.
func (b *benchmark) readExistingKeys() error {
	if b.db.db == nil {
		b.out.errf("db_bench: --use_existing_keys works on one database\n")
		return exitCode(1)
	}
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	it := b.db.db.NewIterator(&ro)
	defer closeIterator(it)
	b.keys.existing = nil
	for it.SeekToFirst(); it.Valid(); it.Next() {
		b.keys.existing = append(b.keys.existing, slices.Clone(it.Key()))
	}
	if err := it.Status(); err != nil {
		return err
	}
	b.flags.Num = int64(len(b.keys.existing))
	if b.flags.Num == 0 {
		b.out.errf("db_bench: --use_existing_keys: the database is empty\n")
		return exitCode(1)
	}
	return nil
}

func (b *benchmark) openDB(opts rocksdb.Options, path string, d *benchDB) error {
	start := b.tool.env.clock.NowNanos()
	d.path = path
	var err error
	switch {
	case b.flags.NumColumnFamilies > 1:
		err = b.openWithColumnFamilies(opts, path, d)
	case b.flags.Readonly:
		d.db, err = openForReadOnly(path, &opts)
	default:
		d.db, err = openDB(path, &opts)
	}
	if b.flags.ReportOpenTiming {
		ms := float64(b.tool.env.clock.NowNanos()-start) / 1e6
		b.out.printf("OpenDb:     %s milliseconds\n", strconv.FormatFloat(ms, 'g', 6, 64))
	}
	if err == nil {
		return nil
	}
	d.db = nil
	if code, ok := err.(exitCode); ok {
		return code
	}
	b.out.errf("open error: %v\n", err)
	return exitCode(1)
}

func (b *benchmark) openWithColumnFamilies(opts rocksdb.Options, path string, d *benchDB) error {
	f := b.flags
	numHot := int(f.NumColumnFamilies)
	if hot := int(f.NumHotColumnFamilies); hot > 0 && hot < numHot {
		numHot = hot
	} else {
		f.NumHotColumnFamilies = f.NumColumnFamilies
	}
	descriptors := make([]rocksdb.ColumnFamilyDescriptor, numHot)
	for i := range descriptors {
		descriptors[i] = rocksdb.ColumnFamilyDescriptor{Name: columnFamilyName(i), Options: opts.ColumnFamilyOptions}
	}
	probabilities, err := b.columnFamilyDistribution(numHot)
	if err != nil {
		return err
	}
	db, cfs, err := openColumnFamilies(&opts, path, f.Readonly, descriptors)
	if err != nil {
		return err
	}
	d.db = db
	d.cfs = append(cfs, make([]*ColumnFamily, int(f.NumColumnFamilies)-numHot)...)
	d.numHot, d.idxToProb = int64(numHot), probabilities
	d.numCreated.Store(int64(numHot))
	return nil
}

func (b *benchmark) columnFamilyDistribution(numHot int) (p []int, err error) {
	text := b.flags.ColumnFamilyDistribution
	if text == "" {
		return nil, nil
	}
	sum := 0
	for s := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 0 {
			b.out.errf("db_bench: --column_family_distribution: '%s' is not a percentage\n", s)
			return nil, exitCode(1)
		}
		p = append(p, n)
		sum += n
	}
	if sum != 100 {
		b.out.errf("column_family_distribution items must sum to 100\n")
		return nil, exitCode(1)
	}
	if len(p) != numHot {
		b.out.errf("got %d column_family_distribution items; expected %d\n", len(p), numHot)
		return nil, exitCode(1)
	}
	return p, nil
}
