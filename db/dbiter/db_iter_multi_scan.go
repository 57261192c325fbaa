// Port of db/db_iter.cc (Prepare and the checks of prepared scans).

package dbiter

import (
	"slices"
	"strconv"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
)

// scanState is what Prepare announced.
type scanState struct {
	args *rocksdb.MultiScanArgs // nil: nothing
	next int                    // the range that the next seek has to begin
}

// Prepare announces the ranges that are to be scanned, in order; each seek
// thereafter begins the next of them. Ranges out of order are the iterator's
// error.
func (d *DBIter) Prepare(args *rocksdb.MultiScanArgs) {
	if d.SetScanOptionsForPrepare(args) {
		d.PrepareInternalChildren()
	}
}

// SetScanOptionsForPrepare is the first part of Prepare, for which no inner
// iterator is needed; false when the iterator has an error.
func (d *DBIter) SetScanOptionsForPrepare(args *rocksdb.MultiScanArgs) bool {
	if d.scan.args != nil {
		return d.refuseScan("Prepare called more than once on the same iterator")
	}
	if d.status = d.validateScanOptions(args); d.status != nil {
		d.valid = false
		return false
	}
	a := *args
	a.Ranges = slices.Clone(args.Ranges)
	if a.IODispatcher == nil {
		a.IODispatcher = iodispatcher.NewIODispatcher(nil) // one for all tables
	}
	d.scan = scanState{args: &a}
	return true
}

// PrepareInternalChildren is the second part of Prepare: it tells the inner
// iterator.
func (d *DBIter) PrepareInternalChildren() {
	if d.scan.args.HasBoundedScanRanges() {
		d.iter.Prepare(d.scan.args)
	} else {
		d.iter.Prepare(nil)
	}
}

// SetBounds changes the bounds of the seeks to come; nil is none. Whoever made
// d has to change them in the ReadOptions of the inner iterators too.
func (d *DBIter) SetBounds(lower, upper []byte) {
	d.lowerBound, d.hasLower = append(d.lowerBound[:0], lower...), lower != nil
	d.upperBound, d.hasUpper = append(d.upperBound[:0], upper...), upper != nil
}

func (d *DBIter) validateScanOptions(args *rocksdb.MultiScanArgs) error {
	if args == nil || len(args.Ranges) == 0 {
		return rocksdb.InvalidArgument("Empty MultiScanArgs")
	}
	if args.Comparator == nil {
		return rocksdb.InvalidArgument("MultiScanArgs requires comparator")
	}
	if args.Ranges[0].Range.Limit == nil {
		switch {
		case args.Reverse:
			return rocksdb.InvalidArgument("Reverse MultiScan requires limit")
		case len(args.Ranges) > 1:
			return rocksdb.InvalidArgument("Scan has no upper bound")
		}
	}
	bad := func(what string, i int) error {
		return rocksdb.InvalidArgument(what + " at index " + strconv.Itoa(i))
	}
	for i := range args.Ranges {
		r := &args.Ranges[i].Range
		switch {
		case r.Start == nil:
			return bad("Scan has no start key", i)
		case r.Limit != nil && d.compareTargetBound(r.Start, r.Limit) >= 0:
			return bad("Scan start key is large or equal than limit", i)
		case i == 0:
		case r.Limit == nil:
			return bad("Scan has no upper bound", i)
		case d.compareTargetBound(r.Start, args.Ranges[i-1].Range.Limit) < 0:
			return bad("Overlapping ranges", i)
		}
	}
	return nil
}

// refuseScan makes what a seek does against the announced scans an error.
func (d *DBIter) refuseScan(what string) bool {
	monitoring.RecordTick(d.stats, rocksdb.MultiscanSeekErrors, 1)
	return d.fail(rocksdb.InvalidArgument(what))
}

// beginScan checks that a forward seek begins the next announced range.
func (d *DBIter) beginScan(target []byte) bool {
	a, i := d.scan.args, d.scan.next
	if a.Reverse {
		return d.refuseScan("Seek called on reverse MultiScan")
	}
	if i >= len(a.Ranges) {
		return d.refuseScan("Seek called after exhausting all of the scan ranges")
	}
	r := &a.Ranges[i].Range
	if d.compareTargetBound(target, r.Start) != 0 {
		return d.refuseScan("Seek target does not match the start of the next prepared range at index " + strconv.Itoa(i))
	}
	if r.Limit != nil && !d.isUpperBound(r.Limit) {
		return d.refuseScan("Upper bound is not set to the same limit value of the next prepared range at index " + strconv.Itoa(i))
	}
	d.scan.next++
	return true
}

// beginReverseScan is beginScan for SeekForPrev.
func (d *DBIter) beginReverseScan(target []byte) bool {
	a, i := d.scan.args, d.scan.next
	if !a.Reverse {
		return d.refuseScan("SeekForPrev called on forward MultiScan")
	}
	if i >= len(a.Ranges) {
		return d.refuseScan("SeekForPrev called after exhausting all of the scan ranges")
	}
	r := &a.Ranges[i].Range
	switch {
	case d.compareTargetBound(target, r.Limit) != 0:
		return d.refuseScan("SeekForPrev target does not match the limit of the next prepared range at index " + strconv.Itoa(i))
	case !d.hasLower || d.compareTargetBound(r.Start, d.lowerBound) != 0:
		return d.refuseScan("Lower bound is not set to the same start value of the next prepared range at index " + strconv.Itoa(i))
	case !d.isUpperBound(r.Limit):
		return d.refuseScan("Upper bound is not set to the same limit value of the next prepared range at index " + strconv.Itoa(i))
	}
	d.scan.next++
	return true
}

func (d *DBIter) isUpperBound(key []byte) bool {
	return d.hasUpper && d.compareTargetBound(key, d.upperBound) == 0
}
