// Port of db/arena_wrapped_db_iter.cc (MaybeAutoRefresh and the moves that call
// it); seeks are traced here. Differs: iterators that pin data or were prepared for ranges stay on the
// state they have, and so do steps of iterators that show all versions, whose
// place no seek finds again.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// Seek goes to the first key at or after target.
func (it *Iterator) Seek(target []byte) {
	if it.autoRefresh || it.deferred {
		it.beforeSeek()
	}
	it.traceSeek((*tracereplay.Tracer).IteratorSeek, target)
	it.DBIter.Seek(target)
}

// SeekForPrev goes to the last key at or before target.
func (it *Iterator) SeekForPrev(target []byte) {
	if it.autoRefresh || it.deferred {
		it.beforeSeek()
	}
	it.traceSeek((*tracereplay.Tracer).IteratorSeekForPrev, target)
	it.DBIter.SeekForPrev(target)
}

// SeekToFirst goes to the first key.
func (it *Iterator) SeekToFirst() {
	if it.autoRefresh || it.deferred {
		it.beforeSeek()
	}
	it.DBIter.SeekToFirst()
}

// SeekToLast goes to the last key.
func (it *Iterator) SeekToLast() {
	if it.autoRefresh || it.deferred {
		it.beforeSeek()
	}
	it.DBIter.SeekToLast()
}

// Next moves to the next key. The iterator must be valid.
func (it *Iterator) Next() {
	it.DBIter.Next()
	if it.autoRefresh {
		it.refreshAfterStep(true)
	}
}

// Prev moves to the key before. The iterator must be valid.
func (it *Iterator) Prev() {
	it.DBIter.Prev()
	if it.autoRefresh {
		it.refreshAfterStep(false)
	}
}

// Prepare announces the ranges that are to be scanned; what is read ahead for
// them belongs to the state the iterator is at, which it then keeps. Before the
// first seek it also leaves out memtables, files and levels without a part in
// bounded ranges.
func (it *Iterator) Prepare(args *rocksdb.MultiScanArgs) {
	it.autoRefresh = false
	if !it.SetScanOptionsForPrepare(args) {
		return
	}
	if it.deferred {
		if !args.HasBoundedScanRanges() {
			args = nil
		}
		it.open(args)
	}
	it.PrepareInternalChildren()
}

// mayAutoRefresh tells whether the options ask for it and it can be had.
func (it *Iterator) mayAutoRefresh() bool {
	return it.ro.AutoRefreshIteratorWithSnapshot && it.ro.Snapshot != nil && it.tail == nil && it.callback == nil && !it.ro.PinData
}

// stale tells that the family has gone on to another SuperVersion.
func (it *Iterator) stale() bool {
	return it.sv != nil && it.sv.VersionNumber != it.cfd.GetSuperVersionNumber() && it.Status() == nil
}

func (it *Iterator) beforeSeek() {
	if it.autoRefresh && it.stale() {
		it.renew()
	}
	if it.deferred {
		it.open(nil)
	}
}

// refreshAfterStep renews an iterator that has moved and finds its key again:
// the snapshot keeps all that was seen through the old state.
func (it *Iterator) refreshAfterStep(forward bool) {
	if !it.stale() || it.ro.IterStartTS != nil {
		return
	}
	if !it.Valid() {
		it.renew()
		return
	}
	it.refreshKey = append(it.refreshKey[:0], it.Key()...)
	if it.renew() != nil {
		return
	}
	it.open(nil)
	if forward {
		it.DBIter.Seek(it.refreshKey)
	} else {
		it.DBIter.SeekForPrev(it.refreshKey)
	}
}

// renew moves the iterator to the family's present SuperVersion, at the
// sequence number of its snapshot. Upstream: ArenaWrappedDBIter::DoRefresh.
func (it *Iterator) renew() error {
	old := it.sv
	it.sv = it.cfd.GetReferencedSuperVersion()
	syncpoint.Process("ArenaWrappedDBIter::Refresh:SV")
	c := it.config(it.sv, it.d.readSequence(&it.ro))
	err := it.DBIter.Set(&c)
	it.releaseSuperVersion(old)
	return err
}
