// Port of db/db_iter.cc (ReadOptions::iter_start_ts). Differs: backward a
// version is shown with its newest sequence number, as forward, and a key
// without a version in the range not at all; many versions older than the range
// do not hide those in it; merge operands are refused.

package dbiter

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// With IterStartTS an iterator shows each version of a key whose timestamp is
// in [IterStartTS, Timestamp], deletions included, newest first. The saved key
// is then always an internal key.

// beforeStart tells whether a timestamp is older than what is shown.
func (d *DBIter) beforeStart(ts []byte) bool {
	return d.cmp.UserComparator().CompareTimestamp(ts, d.ro.IterStartTS) < 0
}

// compareForSkip orders what is skipped together: a key's versions, or, when
// all versions are shown, the entries of one version.
func (d *DBIter) compareForSkip(a, b []byte) int {
	if d.versions {
		return d.cmp.CompareUserKey(a, b)
	}
	return d.compareUserKey(a, b)
}

func (d *DBIter) refuseMerge() bool {
	return d.fail(rocksdb.NotSupported("merge operands with ReadOptions.iter_start_ts"))
}

// findVersionForCurrentKey walks the saved key's versions from the oldest on
// and takes the first that is to be shown; the inner iterator is left before
// it. It assigns valid, and is false on an error.
func (d *DBIter) findVersionForCurrentKey() bool {
	d.entryIsMerged = false
	d.valid = false
	d.releaseTempPinned()
	d.tempPin()
	found := false
	var last dbformat.ValueType
	for ; d.iter.Valid(); d.iter.Prev() {
		if !d.parse() {
			return false
		}
		saved := d.savedKey.GetUserKey()
		if !d.equalUserKey(d.ikey.UserKey, saved) || found && d.cmp.CompareUserKey(d.ikey.UserKey, saved) != 0 {
			break
		}
		if d.tooManySkipped(true) {
			return false
		}
		ts := dbformat.ExtractTimestampFromUserKey(d.ikey.UserKey, d.tsSize)
		if d.beforeStart(ts) {
			continue
		}
		if visible, _ := d.isVisible(); !visible {
			break
		}
		if d.ikey.Type == dbformat.TypeMerge {
			return d.refuseMerge()
		}
		if !d.prepareInner() {
			return false
		}
		found, last = true, d.ikey.Type
		d.savedTS = append(d.savedTS[:0], ts...)
		d.saveKey(nil)
		if isDeletion(last) {
			d.pinnedValue = nil
		} else {
			d.holdValue()
		}
		if d.perf != nil {
			d.perf.InternalKeySkippedCount++
		}
	}
	if err := d.iter.Status(); err != nil {
		return d.fail(err)
	}
	if found && !isDeletion(last) && !d.showValue(last, d.pinnedValue) {
		return false
	}
	d.valid = found
	return true
}
