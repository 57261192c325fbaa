// Port of db/multi_scan.cc. Differs: Go iteration; one iterator serves ranges
// with and without a limit alike, so that all are of one state of the database;
// a range without a limit may be scanned.

package dbimpl

import (
	"bytes"
	"iter"
	"slices"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// MultiScan reads several ranges of a family. It implements rocksdb.MultiScan.
type MultiScan struct {
	it    *Iterator
	args  rocksdb.MultiScanArgs
	began bool
	err   error
}

// NewMultiScan reads args' ranges of a family at the present state, or that of
// ro's snapshot. The ranges' keys are read until the scan ends. Wrong arguments
// are its Err. The bounds of ro are not used.
func (d *DBImpl) NewMultiScan(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, args *rocksdb.MultiScanArgs) *MultiScan {
	m := &MultiScan{args: *args}
	m.args.Ranges = slices.Clone(args.Ranges)
	m.args.UseAsyncIO = m.args.UseAsyncIO && rocksdb.CheckFSFeatureSupport(d.fs, rocksdb.AsyncIO)
	if m.err = validateMultiScan(&m.args); m.err != nil {
		return m
	}
	o := rocksdb.DefaultReadOptions()
	if ro != nil {
		o = *ro
	}
	// seek sets them. The merging iterator must not keep the first range's: it
	// leaves out tombstones beyond.
	o.IterateLowerBound, o.IterateUpperBound = nil, nil
	m.it = d.NewIterator(&o, cf)
	if m.err = m.it.Status(); m.err == nil && sameLimits(m.args.Ranges) {
		m.it.Prepare(&m.args)
		m.err = m.it.Status()
	}
	return m
}

// sameLimits tells whether all ranges have a limit or none does; others are not
// read ahead.
func sameLimits(ranges []rocksdb.ScanOptions) bool {
	for i := range ranges {
		if (ranges[i].Range.Limit == nil) != (ranges[0].Range.Limit == nil) {
			return false
		}
	}
	return true
}

func validateMultiScan(args *rocksdb.MultiScanArgs) error {
	switch {
	case len(args.Ranges) == 0:
		return rocksdb.InvalidArgument("Empty MultiScanArgs")
	case args.Comparator == nil:
		return rocksdb.InvalidArgument("MultiScanArgs requires comparator")
	}
	for i := range args.Ranges {
		r := &args.Ranges[i].Range
		what := ""
		switch {
		case r.Start == nil:
			what = "Scan has no start key"
		case args.Reverse && r.Limit == nil:
			what = "Reverse MultiScan requires limit"
		case r.Limit != nil && args.Comparator.CompareWithoutTimestamp(r.Start, false, r.Limit, false) >= 0:
			what = "Scan start key is large or equal than limit"
		default:
			continue
		}
		return rocksdb.InvalidArgument(what + " at index " + strconv.Itoa(i))
	}
	return nil
}

// Scans gives the entries of each range in turn, once; with Reverse each from
// its end. Keys and values are valid until the next step. An error ends the
// range it is met in, and all: after the range Err tells it.
func (m *MultiScan) Scans() iter.Seq[iter.Seq2[[]byte, []byte]] {
	return func(yield func(iter.Seq2[[]byte, []byte]) bool) {
		if m.err == nil && m.began {
			m.err = rocksdb.InvalidArgument("Scans of an exhausted MultiScan")
		}
		m.began = true
		for i := 0; m.err == nil && i < len(m.args.Ranges); i++ {
			m.seek(&m.args.Ranges[i].Range)
			if !yield(m.entries) {
				return
			}
		}
	}
}

// SetBounds changes the bounds, for the seeks to come; nil is none. It is for
// iterators that were made without an upper bound: one made with it leaves out
// range tombstones beyond. After Prepare a seek to a range wants the range's
// limit as upper bound, and a reverse one its start as lower bound.
func (it *Iterator) SetBounds(lower, upper []byte) {
	it.setBounds(bytes.Clone(lower), bytes.Clone(upper))
}

// setBounds keeps the keys.
func (it *Iterator) setBounds(lower, upper []byte) {
	it.boundsMove = true
	it.ro.IterateLowerBound, it.ro.IterateUpperBound = lower, upper
	it.DBIter.SetBounds(lower, upper)
}

func (m *MultiScan) seek(r *rocksdb.RangeOpt) {
	it := m.it
	if m.args.Reverse {
		it.setBounds(r.Start, r.Limit)
		it.SeekForPrev(r.Limit)
	} else {
		it.setBounds(nil, r.Limit)
		it.Seek(r.Start)
	}
	if !it.Valid() {
		m.err = it.Status()
	}
}

// entries gives the rest of the present range.
func (m *MultiScan) entries(yield func(k, v []byte) bool) {
	if m.err != nil {
		return
	}
	for m.it.Valid() {
		if !yield(m.it.Key(), m.it.Value()) {
			return
		}
		if m.args.Reverse {
			m.it.Prev()
		} else {
			m.it.Next()
		}
	}
	m.err = m.it.Status()
}

// Err is what ended the scan early, nil if nothing did.
func (m *MultiScan) Err() error { return m.err }

// Close gives up what the scan holds. It has to be called. What Err tells it
// does not tell again.
func (m *MultiScan) Close() error {
	if m.it == nil {
		return nil
	}
	it, told := m.it, m.err != nil
	m.it = nil
	if !told {
		m.err = rocksdb.InvalidArgument("MultiScan is closed")
	}
	if err := it.Close(); !told {
		return err
	}
	return nil
}
