// Port of db/write_batch.cc and include/rocksdb/write_batch{,_base}.h.
// Differs: the memtable inserter is in package db.

package writebatch

import (
	"encoding/binary"
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// HeaderSize is the size of a batch without records, in bytes.
const HeaderSize = 12

// maxKeySize keeps key plus footer within 32 bits.
const maxKeySize = math.MaxUint32 - dbformat.NumInternalBytes

// Content flags of a batch.
const (
	hasPut uint32 = 1 << (iota + 1)
	hasDelete
	hasSingleDelete
	hasMerge
	hasBeginPrepare
	hasEndPrepare
	hasCommit
	hasRollback
	hasDeleteRange
	hasBlobIndex
	hasBeginUnprepare
	hasPutEntity
	hasTimedPut
	flagsDeferred uint32 = 1
)

// SavePoint is a state of a batch to go back to.
type SavePoint struct {
	Size         int // bytes
	Count        uint32
	contentFlags uint32
}

// IsCleared tells whether nothing was marked.
func (s *SavePoint) IsCleared() bool { return s.Size == 0 && s.Count == 0 && s.contentFlags == 0 }

// WriteBatch collects updates that are applied together. It is not safe for
// concurrent use. Keys and values are copied into it. The zero value is an
// empty batch.
type WriteBatch struct {
	rep          []byte
	contentFlags uint32
	maxBytes     int
	savePoints   []SavePoint
	walTermPoint SavePoint
	otherFamily  bool // there may be records of families besides the default one

	defaultTSSize       int  // of the default family's timestamps
	needsInPlaceUpdate  bool // some timestamps are placeholders
	hasKeyWithTimestamp bool

	protected  bool     // entries have checksums
	protection []uint64 // one an entry
}

// ensureHeader makes the zero value usable.
func (b *WriteBatch) ensureHeader() {
	if b.rep == nil {
		b.rep = make([]byte, HeaderSize)
	}
}

// New makes an empty batch.
func New() *WriteBatch { return NewWithOptions(0, 0) }

// NewWithOptions makes an empty batch with room for reserved bytes, which
// refuses to grow over maxBytes (0: no limit).
func NewWithOptions(reserved, maxBytes int) *WriteBatch {
	return NewWithTimestampSize(reserved, maxBytes, 0)
}

// NewWithTimestampSize is NewWithOptions for a database whose default column
// family has timestamps of tsSize bytes. Clear makes that 0.
func NewWithTimestampSize(reserved, maxBytes, tsSize int) *WriteBatch {
	return &WriteBatch{rep: make([]byte, HeaderSize, max(reserved, HeaderSize)), maxBytes: maxBytes, defaultTSSize: tsSize}
}

// NewFromRep makes a batch of an encoded one, which it takes over.
func NewFromRep(rep []byte) (*WriteBatch, error) {
	b := &WriteBatch{}
	return b, b.SetContents(rep)
}

// SetContents makes b hold an encoded batch, which it takes over.
func (b *WriteBatch) SetContents(rep []byte) error {
	if len(rep) < HeaderSize {
		return rocksdb.Corruption("malformed WriteBatch (too small)")
	}
	b.rep = rep
	b.contentFlags = flagsDeferred
	b.otherFamily = true
	b.needsInPlaceUpdate, b.hasKeyWithTimestamp = false, false
	b.savePoints = b.savePoints[:0]
	b.walTermPoint = SavePoint{}
	b.protected, b.protection = false, b.protection[:0]
	return nil
}

// Clear drops all records and save points. A batch whose entries have checksums
// stays one.
func (b *WriteBatch) Clear() {
	if cap(b.rep) < HeaderSize {
		b.rep = make([]byte, HeaderSize)
	}
	b.rep = b.rep[:HeaderSize]
	clear(b.rep)
	b.contentFlags = 0
	b.otherFamily = false
	b.savePoints = b.savePoints[:0]
	b.walTermPoint = SavePoint{}
	b.defaultTSSize = 0
	b.protection = b.protection[:0]
	b.needsInPlaceUpdate, b.hasKeyWithTimestamp = false, false
}

// Data gives the encoded batch, which stays b's.
func (b *WriteBatch) Data() []byte {
	b.ensureHeader()
	return b.rep
}

// Release hands the encoded batch over and leaves b empty.
func (b *WriteBatch) Release() []byte {
	r := b.Data()
	b.rep = nil
	b.Clear()
	return r
}

// GetDataSize is the encoded size in bytes.
func (b *WriteBatch) GetDataSize() int { return max(len(b.rep), HeaderSize) }

// Count is the number of entries.
func (b *WriteBatch) Count() uint32 {
	if len(b.rep) < HeaderSize {
		return 0
	}
	return binary.LittleEndian.Uint32(b.rep[8:])
}

// SetCount overwrites the number of entries.
func (b *WriteBatch) SetCount(n uint32) {
	b.ensureHeader()
	binary.LittleEndian.PutUint32(b.rep[8:], n)
}

// Sequence is the first entry's sequence number.
func (b *WriteBatch) Sequence() rocksdb.SequenceNumber {
	if len(b.rep) < HeaderSize {
		return 0
	}
	return binary.LittleEndian.Uint64(b.rep)
}

// SetSequence sets the first entry's sequence number.
func (b *WriteBatch) SetSequence(seq rocksdb.SequenceNumber) {
	b.ensureHeader()
	binary.LittleEndian.PutUint64(b.rep, seq)
}

// SetMaxBytes limits the encoded size; 0 is no limit.
func (b *WriteBatch) SetMaxBytes(n int) { b.maxBytes = n }

// ingestOnly is a handle that knows whether its family takes no writes.
type ingestOnly interface{ DisallowMemtableWrites() bool }

// family gives the id and the timestamp size of cf, nil being the default
// family.
func (b *WriteBatch) family(cf rocksdb.ColumnFamilyHandle) (id uint32, tsSize int, err error) {
	if cf == nil {
		return 0, b.defaultTSSize, nil
	}
	id = cf.GetID()
	if d, ok := cf.(ingestOnly); ok && id != 0 && d.DisallowMemtableWrites() {
		return 0, 0, rocksdb.InvalidArgument("This column family has disallow_memtable_writes=true")
	}
	if c := cf.GetComparator(); c != nil {
		tsSize = c.TimestampSize()
		if id == 0 && tsSize != b.defaultTSSize {
			return 0, 0, rocksdb.InvalidArgument("Default cf timestamp size mismatch")
		}
	}
	return id, tsSize, nil
}

// here is the present state.
func (b *WriteBatch) here() SavePoint {
	b.ensureHeader()
	return SavePoint{Size: len(b.rep), Count: b.Count(), contentFlags: b.contentFlags}
}

// beginRecord starts a record; end must be called when it is complete.
func (b *WriteBatch) beginRecord(id uint32, plain, withFamily dbformat.ValueType) SavePoint {
	sp := b.here()
	if id == 0 {
		b.rep = append(b.rep, byte(plain))
	} else {
		b.otherFamily = true
		b.rep = append(b.rep, byte(withFamily))
		b.rep = util.AppendVarint32(b.rep, id)
	}
	return sp
}

func (b *WriteBatch) endRecord(sp SavePoint, flag uint32) error {
	b.SetCount(sp.Count + 1)
	b.contentFlags |= flag
	if b.protected {
		if err := b.protectLast(sp.Size); err != nil {
			b.restore(sp)
			return err
		}
	}
	return b.checkMaxBytes(sp)
}

func (b *WriteBatch) checkMaxBytes(sp SavePoint) error {
	if b.maxBytes > 0 && len(b.rep) > b.maxBytes {
		b.restore(sp)
		return rocksdb.WithSubCode(rocksdb.CodeAborted, rocksdb.SubCodeMemoryLimit)
	}
	return nil
}

func (b *WriteBatch) restore(sp SavePoint) {
	b.rep = b.rep[:sp.Size]
	b.SetCount(sp.Count)
	b.contentFlags = sp.contentFlags
	if b.protected {
		b.protection = b.protection[:min(int(sp.Count), len(b.protection))]
	}
}

func checkSizes(keySize, valueSize int) error {
	if uint64(keySize) > maxKeySize {
		return rocksdb.InvalidArgument("key is too large")
	}
	if uint64(valueSize) > math.MaxUint32 {
		return rocksdb.InvalidArgument("value is too large")
	}
	return nil
}

// op is a kind of record that has a key.
type op struct {
	plain, withFamily dbformat.ValueType
	flag              uint32
	hasValue          bool
	valueIsKey        bool // it ends with a timestamp where the key does
}

var (
	opPut          = op{dbformat.TypeValue, dbformat.TypeColumnFamilyValue, hasPut, true, false}
	opDelete       = op{dbformat.TypeDeletion, dbformat.TypeColumnFamilyDeletion, hasDelete, false, false}
	opSingleDelete = op{dbformat.TypeSingleDeletion, dbformat.TypeColumnFamilySingleDeletion, hasSingleDelete, false, false}
	opDeleteRange  = op{dbformat.TypeRangeDeletion, dbformat.TypeColumnFamilyRangeDeletion, hasDeleteRange, true, true}
	opMerge        = op{dbformat.TypeMerge, dbformat.TypeColumnFamilyMerge, hasMerge, true, false}
	opBlobIndex    = op{dbformat.TypeBlobIndex, dbformat.TypeColumnFamilyBlobIndex, hasBlobIndex, true, false}
	opPutEntity    = op{dbformat.TypeWideColumnEntity, dbformat.TypeColumnFamilyWideColumnEntity, hasPutEntity, true, false}
)

// zeroTimestamp is room for a timestamp.
var zeroTimestamp [16]byte

// add adds a record to cf; a timestamp is filled with zeros until
// UpdateTimestamps.
func (b *WriteBatch) add(cf rocksdb.ColumnFamilyHandle, o *op, key, value []byte) error {
	id, tsSize, err := b.family(cf)
	if err != nil {
		return err
	}
	if tsSize > 0 {
		ts := zeroTimestamp[:]
		if tsSize > len(ts) {
			ts = make([]byte, tsSize)
		}
		if err = b.addByID(id, o, key, ts[:tsSize], value); err == nil {
			b.needsInPlaceUpdate, b.hasKeyWithTimestamp = true, true
		}
		return err
	}
	return b.addByID(id, o, key, nil, value)
}

// addByID adds a record to the family of that id, ts behind the key.
func (b *WriteBatch) addByID(id uint32, o *op, key, ts, value []byte) error {
	if o.valueIsKey && uint64(len(value)+len(ts)) > maxKeySize {
		return rocksdb.InvalidArgument("end key is too large")
	}
	if err := checkSizes(len(key)+len(ts), len(value)); err != nil {
		return err
	}
	sp := b.beginRecord(id, o.plain, o.withFamily)
	b.appendKey(key, ts)
	switch {
	case o.valueIsKey:
		b.appendKey(value, ts)
	case o.hasValue:
		b.rep = util.AppendLengthPrefixedSlice(b.rep, value)
	}
	return b.endRecord(sp, o.flag)
}

func (b *WriteBatch) appendKey(key, ts []byte) {
	b.rep = util.AppendVarint32(b.rep, uint32(len(key)+len(ts)))
	b.rep = append(b.rep, key...)
	b.rep = append(b.rep, ts...)
}

// Put stores value under key in the default column family.
func (b *WriteBatch) Put(key, value []byte) error { return b.PutCF(nil, key, value) }

// PutCF stores value under key in cf; nil is the default column family here
// and in all methods below.
func (b *WriteBatch) PutCF(cf rocksdb.ColumnFamilyHandle, key, value []byte) error {
	return b.add(cf, &opPut, key, value)
}

// Delete removes key.
func (b *WriteBatch) Delete(key []byte) error { return b.DeleteCF(nil, key) }

// DeleteCF removes key from cf.
func (b *WriteBatch) DeleteCF(cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return b.add(cf, &opDelete, key, nil)
}

// SingleDelete removes key, which was put at most once.
func (b *WriteBatch) SingleDelete(key []byte) error { return b.SingleDeleteCF(nil, key) }

// SingleDeleteCF is SingleDelete in cf.
func (b *WriteBatch) SingleDeleteCF(cf rocksdb.ColumnFamilyHandle, key []byte) error {
	return b.add(cf, &opSingleDelete, key, nil)
}

// DeleteRange removes the keys in [begin, end).
func (b *WriteBatch) DeleteRange(begin, end []byte) error { return b.DeleteRangeCF(nil, begin, end) }

// DeleteRangeCF is DeleteRange in cf.
func (b *WriteBatch) DeleteRangeCF(cf rocksdb.ColumnFamilyHandle, begin, end []byte) error {
	return b.add(cf, &opDeleteRange, begin, end)
}

// Merge adds a merge operand to key.
func (b *WriteBatch) Merge(key, operand []byte) error { return b.MergeCF(nil, key, operand) }

// MergeCF is Merge in cf.
func (b *WriteBatch) MergeCF(cf rocksdb.ColumnFamilyHandle, key, operand []byte) error {
	return b.add(cf, &opMerge, key, operand)
}

// PutBlobIndex stores the encoded place of a blob under key.
func (b *WriteBatch) PutBlobIndex(id uint32, key, index []byte) error {
	return b.addByID(id, &opBlobIndex, key, nil, index)
}

// PutLogData stores a blob that goes to the WAL only and takes no sequence
// number.
func (b *WriteBatch) PutLogData(blob []byte) error {
	sp := b.here()
	b.rep = append(b.rep, byte(dbformat.TypeLogData))
	b.rep = util.AppendLengthPrefixedSlice(b.rep, blob)
	return b.checkMaxBytes(sp)
}

// SetSavePoint remembers the present state on a stack.
func (b *WriteBatch) SetSavePoint() {
	b.savePoints = append(b.savePoints, b.here())
}

// RollbackToSavePoint goes back to the last save point and removes it;
// NotFound when there is none.
func (b *WriteBatch) RollbackToSavePoint() error {
	n := len(b.savePoints)
	if n == 0 {
		return rocksdb.ErrNotFound
	}
	sp := b.savePoints[n-1]
	b.savePoints = b.savePoints[:n-1]
	b.restore(sp)
	return nil
}

// PopSavePoint forgets the last save point; NotFound when there is none.
func (b *WriteBatch) PopSavePoint() error {
	n := len(b.savePoints)
	if n == 0 {
		return rocksdb.ErrNotFound
	}
	b.savePoints = b.savePoints[:n-1]
	return nil
}

// MarkWalTerminationPoint says that what is added from here on does not go to
// the WAL.
func (b *WriteBatch) MarkWalTerminationPoint() {
	b.walTermPoint = b.here()
}

// GetWalTerminationPoint gives what MarkWalTerminationPoint set.
func (b *WriteBatch) GetWalTerminationPoint() SavePoint { return b.walTermPoint }

// Append adds src's records to b; with walOnly those up to src's WAL
// termination point.
func (b *WriteBatch) Append(src *WriteBatch, walOnly bool) error {
	size, count, flags := src.GetDataSize(), src.Count(), src.contentFlags
	if walOnly && !src.walTermPoint.IsCleared() {
		size, count, flags = src.walTermPoint.Size, src.walTermPoint.Count, src.walTermPoint.contentFlags
	}
	if src.protected || b.protected {
		if err := b.appendProtection(src, count); err != nil {
			return err
		}
	}
	b.SetCount(b.Count() + count)
	if size > HeaderSize {
		b.rep = append(b.rep, src.rep[HeaderSize:size]...)
	}
	b.contentFlags |= flags
	b.otherFamily = b.otherFamily || src.otherFamily
	b.needsInPlaceUpdate = b.needsInPlaceUpdate || src.needsInPlaceUpdate
	b.hasKeyWithTimestamp = b.hasKeyWithTimestamp || src.hasKeyWithTimestamp
	return nil
}

// flags gives the content flags, computing them for a batch that came encoded.
func (b *WriteBatch) flags() uint32 {
	if b.contentFlags&flagsDeferred != 0 {
		c := classifier{}
		_ = b.Iterate(&c) // a damaged batch is reported by whoever applies it
		b.contentFlags = c.flags
	}
	return b.contentFlags
}

// IsPlain tells whether the batch surely holds nothing but puts and deletions of
// the default column family, which no memtable refuses.
func (b *WriteBatch) IsPlain() bool {
	return !b.otherFamily && b.contentFlags&^(hasPut|hasDelete|hasSingleDelete) == 0
}

// HasPut and its kin tell whether the batch holds such a record.
func (b *WriteBatch) HasPut() bool { return b.flags()&hasPut != 0 }

// HasTimedPut tells whether there is a timed put.
func (b *WriteBatch) HasTimedPut() bool { return b.flags()&hasTimedPut != 0 }

// HasPutEntity tells whether there is a wide-column entity.
func (b *WriteBatch) HasPutEntity() bool { return b.flags()&hasPutEntity != 0 }

// HasDelete tells whether there is a deletion.
func (b *WriteBatch) HasDelete() bool { return b.flags()&hasDelete != 0 }

// HasSingleDelete tells whether there is a single deletion.
func (b *WriteBatch) HasSingleDelete() bool { return b.flags()&hasSingleDelete != 0 }

// HasDeleteRange tells whether there is a range deletion.
func (b *WriteBatch) HasDeleteRange() bool { return b.flags()&hasDeleteRange != 0 }

// HasMerge tells whether there is a merge.
func (b *WriteBatch) HasMerge() bool { return b.flags()&hasMerge != 0 }

// HasBlobIndex tells whether there is a blob index.
func (b *WriteBatch) HasBlobIndex() bool { return b.flags()&hasBlobIndex != 0 }

// HasBeginPrepare tells whether there is the start of a prepared transaction.
func (b *WriteBatch) HasBeginPrepare() bool { return b.flags()&hasBeginPrepare != 0 }

// HasEndPrepare tells whether there is the end of a prepared transaction.
func (b *WriteBatch) HasEndPrepare() bool { return b.flags()&hasEndPrepare != 0 }

// HasCommit tells whether there is a commit.
func (b *WriteBatch) HasCommit() bool { return b.flags()&hasCommit != 0 }

// HasRollback tells whether there is a rollback.
func (b *WriteBatch) HasRollback() bool { return b.flags()&hasRollback != 0 }
