// Port of db/db_iter.cc (the reverse direction).

package dbiter

import (
	"bytes"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// prevInternal goes back, from the inner iterator's entry on, to the first key
// to show. It assigns valid.
func (d *DBIter) prevInternal() {
	for d.iter.Valid() {
		userKey := dbformat.ExtractUserKey(d.iter.Key())
		d.saveKey(userKey)
		if len(userKey) < d.tsSize {
			d.fail(rocksdb.Corruption("user key shorter than its timestamp"))
			return
		}
		if d.hasPrefix && !d.prefixCheck(userKey) {
			d.endReverseRun()
			d.valid = false
			return
		}
		if d.hasLower && d.iter.MayBeOutOfLowerBound() && d.compareBound(userKey, d.lowerBound) < 0 {
			d.endReverseRun()
			d.valid = false
			return
		}
		if !d.findValueForCurrentKey() {
			return
		}
		if d.convert.threshold > 0 {
			d.trackReverse()
		}
		// The entry found is kept while the inner iterator moves before the key.
		shown := d.valid
		if !d.findUserKeyBeforeSavedKey() {
			return
		}
		if d.valid = shown; d.valid {
			return
		}
		if d.tooManySkipped(false) {
			return
		}
	}
	if d.iter.Status() == nil {
		d.endReverseRun()
	}
	d.valid = false
}

// findValueForCurrentKey walks the saved key's visible entries from the oldest
// to the newest and takes the value. It assigns valid, and is false on an
// error.
func (d *DBIter) findValueForCurrentKey() bool {
	if d.versions {
		return d.findVersionForCurrentKey()
	}
	d.mergeContext.Clear()
	d.entryIsMerged = false
	d.foundVisible = false
	base, last := dbformat.TypeDeletion, dbformat.TypeDeletion
	seen := false
	d.releaseTempPinned()
	d.tempPin()
	var numSkipped uint64
	for d.iter.Valid() {
		if !d.parse() {
			return false
		}
		if !d.equalUserKey(d.ikey.UserKey, d.savedKey.GetUserKey()) {
			break
		}
		if visible, _ := d.isVisible(); !visible {
			break
		}
		if d.tsSize > 0 {
			d.savedTS = append(d.savedTS[:0], dbformat.ExtractTimestampFromUserKey(d.ikey.UserKey, d.tsSize)...)
		}
		if d.tooManySkipped(true) {
			return false
		}
		if numSkipped >= d.maxSkip {
			return d.findValueForCurrentKeyUsingSeek()
		}
		if !d.prepareInner() {
			return false
		}
		if d.tsSize > 0 {
			d.saveKey(dbformat.ExtractUserKey(d.iter.Key()))
		}
		seen = true
		d.foundVisible = true
		last = d.ikey.Type
		switch last {
		case dbformat.TypeValue, dbformat.TypeValuePreferredSeqno, dbformat.TypeBlobIndex, dbformat.TypeWideColumnEntity:
			d.holdValue()
			d.mergeContext.Clear()
			base = last
		case dbformat.TypeDeletion, dbformat.TypeDeletionWithTimestamp, dbformat.TypeSingleDeletion:
			d.mergeContext.Clear()
			base = last
			if d.perf != nil {
				d.perf.InternalDeleteSkippedCount++
			}
		case dbformat.TypeMerge:
			d.mergeContext.PushOperandBack(d.iter.Value(), d.iter.IsValuePinned())
			if d.perf != nil {
				d.perf.InternalMergeCount++
			}
		default:
			return d.fail(rocksdb.Corruptionf("Unknown value type: %d", last))
		}
		if d.perf != nil {
			d.perf.InternalKeySkippedCount++
		}
		d.iter.Prev()
		numSkipped++
	}
	if err := d.iter.Status(); err != nil {
		return d.fail(err)
	}
	switch {
	case !seen || isDeletion(last):
		d.valid = false
		return true
	case last == dbformat.TypeMerge:
		d.entryIsMerged = true
		return d.mergeWithBase(base, d.pinnedValue)
	}
	if !d.showValue(last, d.pinnedValue) {
		return false
	}
	d.valid = true
	return true
}

// holdValue keeps the present value while the inner iterator moves on.
func (d *DBIter) holdValue() {
	d.savedWriteTime = d.iter.WriteUnixTime()
	if d.iter.IsValuePinned() {
		d.pinnedValue = d.iter.Value()
		return
	}
	d.pinnedValue = bytes.Clone(d.iter.Value())
}

// findValueForCurrentKeyUsingSeek does the same by seeking to the newest
// visible entry; for a key of many versions.
func (d *DBIter) findValueForCurrentKeyUsingSeek() bool {
	uk := d.savedKey.GetUserKey()
	start := append([]byte(nil), uk[:len(uk)-d.tsSize]...)
	start = append(start, d.ro.Timestamp...)
	start = dbformat.AppendInternalKeyFooter(start, d.sequence, dbformat.ValueTypeForSeek)
	d.iter.Seek(start)
	monitoring.RecordTick(d.stats, rocksdb.NumberOfReseeksInIteration, 1)
	for {
		if !d.iter.Valid() {
			d.valid = false
			if err := d.iter.Status(); err != nil {
				return d.fail(err)
			}
			return true
		}
		if !d.parse() {
			return false
		}
		if !d.equalUserKey(d.ikey.UserKey, d.savedKey.GetUserKey()) {
			d.valid = false
			return true
		}
		if visible, _ := d.isVisible(); visible {
			break
		}
		d.iter.Next()
	}
	if isDeletion(d.ikey.Type) {
		d.valid = false
		return true
	}
	if !d.prepareInner() {
		return false
	}
	if d.tsSize > 0 {
		d.savedTS = append(d.savedTS[:0], dbformat.ExtractTimestampFromUserKey(d.ikey.UserKey, d.tsSize)...)
		d.saveKey(dbformat.ExtractUserKey(d.iter.Key()))
	}
	if d.ikey.Type != dbformat.TypeMerge {
		d.holdValue()
		if !d.showValue(d.ikey.Type, d.pinnedValue) {
			return false
		}
		d.valid = true
		return true
	}
	return d.mergeUsingSeek(start)
}

// mergeUsingSeek collects operands forward and leaves the inner iterator
// within the key's entries.
func (d *DBIter) mergeUsingSeek(start []byte) bool {
	d.entryIsMerged = true
	d.mergeContext.Clear()
	d.pushOperand()
	for {
		d.iter.Next()
		if !d.iter.Valid() {
			if err := d.iter.Status(); err != nil {
				return d.fail(err)
			}
			break
		}
		if !d.parse() {
			return false
		}
		if !d.equalUserKey(d.ikey.UserKey, d.savedKey.GetUserKey()) || isDeletion(d.ikey.Type) {
			break
		}
		if !d.prepareInner() {
			return false
		}
		if d.ikey.Type != dbformat.TypeMerge {
			return d.mergeWithPresent()
		}
		d.pushOperand()
	}
	if !d.mergeWithBase(dbformat.TypeDeletion, nil) {
		return false
	}
	if !d.expectTotalOrder || !d.iter.Valid() {
		d.seekBackTo(start)
	}
	d.valid = true
	return true
}

// findUserKeyBeforeSavedKey moves the inner iterator before all entries of the
// saved key.
func (d *DBIter) findUserKeyBeforeSavedKey() bool {
	var numSkipped uint64
	for d.iter.Valid() {
		if !d.parse() {
			return false
		}
		if d.compareForSkip(d.ikey.UserKey, d.savedKey.GetUserKey()) < 0 {
			return true
		}
		if d.tooManySkipped(true) {
			return false
		}
		if d.perf != nil {
			if visible, _ := d.isVisible(); visible {
				d.perf.InternalKeySkippedCount++
			} else {
				d.perf.InternalRecentSkippedCount++
			}
		}
		if numSkipped >= d.maxSkip {
			numSkipped = 0
			d.seekToSavedKeyStart()
			if !d.iter.Valid() {
				break
			}
		} else {
			numSkipped++
		}
		d.iter.Prev()
	}
	if err := d.iter.Status(); err != nil {
		return d.fail(err)
	}
	return true
}
