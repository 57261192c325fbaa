// Port of db/memtable.{h,cc}, updates in place (inplace_update_support). A
// value's length and bytes are written under the key's lock; lookups copy them
// under it. Iterators take no lock, as upstream's do not: they are for flushes,
// which no write runs beside.

package memtable

import (
	"encoding/binary"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	rep "github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util"
)

// inplaceLock is upstream's MemTable::GetLock.
func (m *MemTable) inplaceLock(userKey []byte) *sync.RWMutex {
	return &m.inplaceLocks[util.GetSliceRangedNPHash(userKey, uint64(len(m.inplaceLocks)))]
}

// newestFinder finds the newest entry of a user key.
type newestFinder struct {
	m     *MemTable
	user  []byte
	entry rep.KeyHandle
}

// VisitEntry takes the first entry only.
func (f *newestFinder) VisitEntry(_ int, entry rep.KeyHandle) bool {
	if f.m.icmp.EqualUserKey(dbformat.ExtractUserKey(rep.EntryKey(entry)), f.user) {
		f.entry = entry
	}
	return false
}

// newest gives key's newest entry at or below seq if it is of type t, else nil.
func (m *MemTable) newest(seq rocksdb.SequenceNumber, t dbformat.ValueType, key []byte) rep.KeyHandle {
	f := newestFinder{m: m, user: key}
	m.table.Get(dbformat.NewLookupKey(key, seq, nil).InternalKey(), &f)
	if f.entry == nil || dbformat.ExtractValueType(rep.EntryKey(f.entry)) != t {
		return nil
	}
	return f.entry
}

// overwrite gives an entry a value that is not longer than its present one,
// whose lock is held. value may be part of the present one.
func (m *MemTable) overwrite(entry rep.KeyHandle, value []byte) {
	protection := m.opts.ProtectionBytesPerKey
	space := rep.EntryValueSpace(entry, protection)
	var length [binary.MaxVarintLen32]byte
	n := binary.PutUvarint(length[:], uint64(len(value)))
	copy(space[n:], value) // may overlap, and the length's old bytes with it
	copy(space, length[:n])
	if protection > 0 {
		key := rep.EntryKey(entry)
		seq, t := dbformat.UnPackSequenceAndType(dbformat.ExtractInternalKeyFooter(key))
		end := n + len(value)
		encodeChecksum(space[end:end+protection], protect(dbformat.ExtractUserKey(key), space[n:end], t, seq))
	}
	monitoring.RecordTick(m.opts.Statistics, rocksdb.NumberKeysUpdated, 1)
}

// Update writes value over key's newest entry if that has the same type and is
// not shorter; the entry keeps its sequence number. Otherwise it is Add. No
// other write may run.
func (m *MemTable) Update(seq rocksdb.SequenceNumber, t dbformat.ValueType, key, value []byte) error {
	if entry := m.newest(seq, t, key); entry != nil {
		lock := m.inplaceLock(key)
		lock.Lock()
		if _, old := rep.EntryKeyValue(entry); len(value) <= len(old) {
			m.overwrite(entry, value)
			lock.Unlock()
			return nil
		}
		lock.Unlock()
	}
	return m.Add(seq, t, key, value, false, nil, nil)
}

// UpdateCallback lets the option inplace_callback change key's newest value by
// delta, in place or by a new entry. ErrNotFound says that the newest entry is
// not a value, or not here. No other write may run.
func (m *MemTable) UpdateCallback(seq rocksdb.SequenceNumber, key, delta []byte) error {
	if m.opts.InplaceCallback == nil {
		return rocksdb.InvalidArgument("inplace_callback is not set")
	}
	entry := m.newest(seq, dbformat.TypeValue, key)
	if entry == nil {
		return rocksdb.ErrNotFound
	}
	merged, write, err := m.callInplaceCallback(entry, key, delta)
	if err == nil && write {
		err = m.Add(seq, dbformat.TypeValue, key, merged, false, nil, nil)
		monitoring.RecordTick(m.opts.Statistics, rocksdb.NumberKeysWritten, 1)
	}
	m.updateFlushState()
	return err
}

// callInplaceCallback gives the value that is to be written as a new entry, if
// one is.
func (m *MemTable) callInplaceCallback(entry rep.KeyHandle, key, delta []byte) (merged []byte, write bool, err error) {
	lock := m.inplaceLock(key)
	lock.Lock()
	defer lock.Unlock()
	_, old := rep.EntryKeyValue(entry)
	status, n, merged := m.opts.InplaceCallback(old[:len(old):len(old)], delta)
	switch status {
	case rocksdb.UpdatedInplace:
		if n < 0 || n > len(old) {
			return nil, false, rocksdb.InvalidArgumentf("inplace_callback gave %d bytes for a value of %d", n, len(old))
		}
		m.overwrite(entry, old[:n])
	case rocksdb.UpdatedNewValue:
		return merged, true, nil
	}
	return nil, false, nil // UpdateFailed: nothing is to be done
}
