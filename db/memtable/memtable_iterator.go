// Port of db/memtable.cc, MemTableIterator and TimestampStrippingIterator.

package memtable

import (
	"reflect"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/invariants"
	"github.com/rocksdb-go/rocksdb/logging"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// MemTableIterator walks a memtable's point entries (or its range tombstones as
// entries). Keys and values are arena memory.
type MemTableIterator struct {
	internaliter.Base
	mem *MemTable
	// The list's iterator where the container is the plain skip list, else
	// iter.
	list   rep.InlineSkipListIterator
	iter   rep.Iterator
	direct bool
	src    SourceIterator // instead of both, in a memtable with a Source

	valid   bool
	checked bool // every step goes through afterMove's and the reps' checks
	bloom   bool
	key     []byte
	err     error
	perf    *rocksdb.PerfContext
	toTime  *seqnotime.SeqnoToTimeMapping
}

var _ internaliter.InternalIterator = (*MemTableIterator)(nil)

// NewIterator gives an iterator over the point entries, to be closed before the
// memtable is let go. With prefixExtractor being the one the memtable was made
// with, and unless ro asks for total order, it need only show the prefix that
// is sought. toTime may be nil.
func (m *MemTable) NewIterator(ro *rocksdb.ReadOptions, prefixExtractor rocksdb.SliceTransform, toTime *seqnotime.SeqnoToTimeMapping) *MemTableIterator {
	it := memTableIterators.Get().(*MemTableIterator)
	*it = MemTableIterator{mem: m, toTime: toTime, perf: ro.PerfContext}
	it.checked = m.opts.ParanoidMemoryChecks || m.opts.ProtectionBytesPerKey > 0
	prefix := sameTransform(m.prefixExtractor, prefixExtractor) &&
		(ro.PrefixSameAsStart || !ro.TotalOrderSeek && !ro.AutoPrefixMode)
	it.bloom = prefix && m.bloom != nil
	switch {
	case m.source != nil:
		it.src = m.source.NewIterator(false)
	case m.skip != nil && m.skip.IsPlain():
		it.direct = true
		it.list = m.skip.List.NewIterator()
	case prefix:
		it.iter = m.table.NewDynamicPrefixIterator()
	default:
		it.iter = m.table.NewIterator()
	}
	return it
}

// memTableIterators are closed iterators.
var memTableIterators = sync.Pool{New: func() any { return new(MemTableIterator) }}

// Close ends the iterator, which must not be used any more.
func (i *MemTableIterator) Close() error {
	err := i.err
	*i = MemTableIterator{}
	if !invariants.Enabled {
		memTableIterators.Put(i)
	}
	return err
}

// sameTransform compares pointers by address and other types, which need not be
// comparable, by what the OPTIONS file keeps of them. Nil is like nothing.
func sameTransform(a, b rocksdb.SliceTransform) bool {
	if a == nil || b == nil || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	if reflect.TypeOf(a).Kind() == reflect.Pointer {
		return a == b
	}
	return a.AsString() == b.AsString()
}

// newRangeDelEntryIterator walks the range tombstones as entries.
func (m *MemTable) newRangeDelEntryIterator() *MemTableIterator {
	it := &MemTableIterator{mem: m, direct: true, list: m.rangeDelTable.List.NewIterator()}
	it.checked = m.opts.ParanoidMemoryChecks || m.opts.ProtectionBytesPerKey > 0
	return it
}

// Valid tells whether the iterator is at an entry.
func (i *MemTableIterator) Valid() bool { return i.valid }

// Status is the corruption that ended the walk, if one did.
func (i *MemTableIterator) Status() error { return i.err }

// Key is the internal key.
func (i *MemTableIterator) Key() []byte { return i.key }

// UserKey is the user key with its timestamp.
func (i *MemTableIterator) UserKey() []byte { return i.key[:len(i.key)-dbformat.NumInternalBytes] }

// Value is the entry's value.
func (i *MemTableIterator) Value() []byte {
	if i.src != nil {
		return i.src.Value()
	}
	_, value := rep.EntryKeyValue(i.entry())
	return value
}

// IsKeyPinned is true, since entries stay, but for those of a Source.
func (i *MemTableIterator) IsKeyPinned() bool { return i.src == nil }

// IsValuePinned is true unless values may be updated in place.
func (i *MemTableIterator) IsValuePinned() bool { return !i.mem.opts.InplaceUpdateSupport }

func (i *MemTableIterator) entry() rep.KeyHandle {
	if i.direct {
		return i.list.Key()
	}
	return i.iter.Key()
}

// settle takes over the place the container's iterator is at.
func (i *MemTableIterator) settle() {
	if i.src != nil {
		if i.valid, i.err = i.src.Valid(), i.src.Status(); i.valid {
			i.key = i.src.Key()
		}
		return
	}
	if i.direct {
		i.valid = i.list.Valid()
	} else {
		i.valid = i.iter.Valid()
	}
	if i.err != nil {
		i.valid = false
	}
	if !i.valid {
		return
	}
	e := i.entry()
	i.key = rep.EntryKey(e)
	if i.checked && i.mem.opts.ProtectionBytesPerKey > 0 {
		if i.err = i.mem.ValidateKey(e, i.mem.opts.AllowDataInErrors); i.err != nil {
			logging.Error(i.mem.opts.InfoLog, "In MemtableIterator: %s", i.err)
			i.valid = false
		}
	}
}

// mayContain asks the prefix filter.
func (i *MemTableIterator) mayContain(internalKey []byte) bool {
	t := i.mem.prefixExtractor
	user := dbformat.ExtractUserKeyAndStripTimestamp(internalKey, i.mem.tsSize)
	if !t.InDomain(user) {
		return true
	}
	may := i.mem.bloom.MayContain(t.Transform(user))
	if i.perf.CountEnabled() {
		if may {
			i.perf.BloomMemtableHitCount++
		} else {
			i.perf.BloomMemtableMissCount++
		}
	}
	return may
}

// startSeek clears the state; false when the filter excludes the key.
func (i *MemTableIterator) startSeek(internalKey []byte) bool {
	i.err = nil
	if i.perf.CountEnabled() {
		i.perf.SeekOnMemtableCount++
	}
	if i.bloom && !i.mayContain(internalKey) {
		i.valid = false
		return false
	}
	return true
}

// Seek moves to the first entry at or after the internal key.
func (i *MemTableIterator) Seek(internalKey []byte) {
	var timer monitoring.PerfStepTimer
	if i.perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&i.perf.SeekOnMemtableTime, i.mem.clock)
	}
	if i.startSeek(internalKey) {
		i.seek(internalKey)
		i.settle()
	}
	timer.Stop()
}

func (i *MemTableIterator) seek(internalKey []byte) {
	o := &i.mem.opts
	switch {
	case i.src != nil:
		i.src.Seek(internalKey)
	case o.ParanoidMemoryChecks || i.mem.validate != nil:
		if i.direct {
			i.err = i.list.SeekAndValidate(internalKey, o.AllowDataInErrors, o.ParanoidMemoryChecks, i.mem.validate)
		} else {
			i.err = i.iter.SeekAndValidate(internalKey, o.AllowDataInErrors, o.ParanoidMemoryChecks, i.mem.validate)
		}
	case i.direct:
		i.list.Seek(internalKey)
	default:
		i.iter.Seek(internalKey)
	}
	i.countComparisons()
}

func (i *MemTableIterator) countComparisons() {
	if i.direct && i.perf.CountEnabled() {
		i.perf.UserKeyComparisonCount += i.list.TakeKeyComparisons()
	}
}

// SeekForPrev moves to the last entry at or before the internal key.
func (i *MemTableIterator) SeekForPrev(internalKey []byte) {
	var timer monitoring.PerfStepTimer
	if i.perf.Enabled(rocksdb.EnableTimeExceptForMutex) {
		timer.Start(&i.perf.SeekOnMemtableTime, i.mem.clock)
	}
	defer timer.Stop()
	if !i.startSeek(internalKey) {
		return
	}
	i.seek(internalKey)
	i.settle()
	if !i.valid && i.err == nil {
		i.SeekToLast()
	}
	for i.valid {
		if i.perf.CountEnabled() {
			i.perf.UserKeyComparisonCount++
		}
		if i.mem.icmp.Compare(internalKey, i.key) >= 0 {
			break
		}
		i.Prev()
	}
}

// SeekToFirst moves to the first entry.
func (i *MemTableIterator) SeekToFirst() {
	i.err = nil
	switch {
	case i.src != nil:
		i.src.SeekToFirst()
	case i.direct:
		i.list.SeekToFirst()
	default:
		i.iter.SeekToFirst()
	}
	i.settle()
}

// SeekToLast moves to the last entry.
func (i *MemTableIterator) SeekToLast() {
	i.err = nil
	switch {
	case i.src != nil:
		i.src.SeekToLast()
	case i.direct:
		i.list.SeekToLast()
	default:
		i.iter.SeekToLast()
	}
	i.settle()
}

// Next moves on by one.
func (i *MemTableIterator) Next() {
	if i.perf.CountEnabled() {
		i.perf.NextOnMemtableCount++
	}
	if i.direct && !i.checked {
		i.list.Next()
		if syncpoint.Enabled {
			syncpoint.ProcessArg("MemTableIterator::Next:0", &i.list)
		}
		if i.valid = i.list.Valid(); i.valid {
			i.key = rep.EntryKey(i.list.Key())
		}
		return
	}
	o := &i.mem.opts
	switch {
	case i.src != nil:
		i.src.Next()
	case o.ParanoidMemoryChecks && i.direct:
		i.err = i.list.NextAndValidate(o.AllowDataInErrors)
	case o.ParanoidMemoryChecks:
		i.err = i.iter.NextAndValidate(o.AllowDataInErrors)
	case i.direct:
		i.list.Next()
	default:
		i.iter.Next()
	}
	i.settle()
}

// NextAndGetResult is Next; values are always there.
func (i *MemTableIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	i.Next()
	if i.valid {
		res.Key = i.key
		res.BoundCheckResult = internaliter.BoundUnknown
		res.ValuePrepared = true
	}
	return i.valid
}

// Prev moves back by one.
func (i *MemTableIterator) Prev() {
	if i.perf.CountEnabled() {
		i.perf.PrevOnMemtableCount++
	}
	o := &i.mem.opts
	switch {
	case i.src != nil:
		i.src.Prev()
	case o.ParanoidMemoryChecks && i.direct:
		i.err = i.list.PrevAndValidate(o.AllowDataInErrors)
	case o.ParanoidMemoryChecks:
		i.err = i.iter.PrevAndValidate(o.AllowDataInErrors)
	case i.direct:
		i.list.Prev()
	default:
		i.iter.Prev()
	}
	i.countComparisons()
	i.settle()
}

// WriteUnixTime is about when the entry was written.
func (i *MemTableIterator) WriteUnixTime() uint64 {
	seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(i.key))
	if t == dbformat.TypeValuePreferredSeqno {
		if _, at, ok := seqnotime.ParsePackedValueWithWriteTime(i.Value()); ok {
			return at
		}
		return internaliter.UnknownUnixTime
	}
	if i.toTime == nil || i.toTime.Empty() {
		return internaliter.UnknownUnixTime
	}
	return i.toTime.GetProximalTimeBeforeSeqno(seq)
}

// TimestampStrippingIterator shows a memtable with each user-defined timestamp
// replaced by the least one; for flushes that do not keep timestamps.
type TimestampStrippingIterator struct {
	internaliter.Base
	inner    *MemTableIterator
	tsSize   int
	rangeDel bool // values are end keys
	key      []byte
	value    []byte
}

var _ internaliter.InternalIterator = (*TimestampStrippingIterator)(nil)

// NewTimestampStrippingIterator is NewIterator without timestamps.
func (m *MemTable) NewTimestampStrippingIterator(ro *rocksdb.ReadOptions, prefixExtractor rocksdb.SliceTransform, toTime *seqnotime.SeqnoToTimeMapping) *TimestampStrippingIterator {
	return &TimestampStrippingIterator{inner: m.NewIterator(ro, prefixExtractor, toTime), tsSize: m.tsSize}
}

// update is upstream's TimestampStrippingIterator::UpdateKeyAndValueBuffer.
func (i *TimestampStrippingIterator) update() {
	i.key, i.value = i.key[:0], i.value[:0]
	if !i.inner.Valid() {
		return
	}
	i.key = dbformat.ReplaceInternalKeyWithMinTimestamp(i.key, i.inner.Key(), i.tsSize)
	if i.rangeDel {
		i.value = dbformat.AppendUserKeyWithMinTimestamp(i.value, i.inner.Value(), i.tsSize)
	}
}

// Valid tells whether the iterator is at an entry.
func (i *TimestampStrippingIterator) Valid() bool { return i.inner.Valid() }

// Status is the inner iterator's.
func (i *TimestampStrippingIterator) Status() error { return i.inner.Status() }

// Key is the internal key with the least timestamp.
func (i *TimestampStrippingIterator) Key() []byte { return i.key }

// UserKey is the user key with the least timestamp.
func (i *TimestampStrippingIterator) UserKey() []byte { return dbformat.ExtractUserKey(i.key) }

// Value is the value, or an end key with the least timestamp.
func (i *TimestampStrippingIterator) Value() []byte {
	if i.rangeDel {
		return i.value
	}
	return i.inner.Value()
}

// IsValuePinned is the inner iterator's, false for end keys.
func (i *TimestampStrippingIterator) IsValuePinned() bool {
	return !i.rangeDel && i.inner.IsValuePinned()
}

// WriteUnixTime is the inner iterator's.
func (i *TimestampStrippingIterator) WriteUnixTime() uint64 { return i.inner.WriteUnixTime() }

// SeekToFirst moves to the first entry.
func (i *TimestampStrippingIterator) SeekToFirst() {
	i.inner.SeekToFirst()
	i.update()
}

// SeekToLast moves to the last entry.
func (i *TimestampStrippingIterator) SeekToLast() {
	i.inner.SeekToLast()
	i.update()
}

// Seek moves to the first entry at or after the internal key.
func (i *TimestampStrippingIterator) Seek(internalKey []byte) {
	i.inner.Seek(internalKey)
	i.update()
}

// SeekForPrev moves to the last entry at or before the internal key.
func (i *TimestampStrippingIterator) SeekForPrev(internalKey []byte) {
	i.inner.SeekForPrev(internalKey)
	i.update()
}

// Next moves on by one.
func (i *TimestampStrippingIterator) Next() {
	i.inner.Next()
	i.update()
}

// NextAndGetResult is Next; values are always there.
func (i *TimestampStrippingIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	i.Next()
	if !i.Valid() {
		return false
	}
	res.Key = i.key
	res.BoundCheckResult = internaliter.BoundUnknown
	res.ValuePrepared = true
	return true
}

// Prev moves back by one.
func (i *TimestampStrippingIterator) Prev() {
	i.inner.Prev()
	i.update()
}
