// Port of db/write_batch.cc (Handler, ReadRecordFromWriteBatch, Iterate).

package writebatch

import (
	"encoding/binary"
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// OptionState is what a handler says of a transaction write policy.
type OptionState uint8

// The states.
const (
	OptionUnknown OptionState = iota
	OptionDisabled
	OptionEnabled
)

// Handler is called for each record of a batch. Its slices point into the
// batch. A method that returns an ErrTryAgain is called once more with the
// same record; any other error ends the walk. Embed HandlerBase for the
// methods one does not need.
type Handler interface {
	PutCF(cf uint32, key, value []byte) error
	TimedPutCF(cf uint32, key, value []byte, writeTime uint64) error
	PutEntityCF(cf uint32, key, entity []byte) error
	DeleteCF(cf uint32, key []byte) error
	SingleDeleteCF(cf uint32, key []byte) error
	DeleteRangeCF(cf uint32, begin, end []byte) error
	MergeCF(cf uint32, key, operand []byte) error
	PutBlobIndexCF(cf uint32, key, index []byte) error
	LogData(blob []byte)
	MarkBeginPrepare(unprepare bool) error
	MarkEndPrepare(xid []byte) error
	MarkNoop(emptyBatch bool) error
	MarkRollback(xid []byte) error
	MarkCommit(xid []byte) error
	MarkCommitWithTimestamp(xid, ts []byte) error
	// Continue tells, before each record, whether to go on.
	Continue() bool
	WriteAfterCommit() OptionState
	WriteBeforePrepare() OptionState
}

// HandlerBase refuses every record but puts, deletions and merges of the
// default column family, which it ignores.
type HandlerBase struct{}

// PutCF ignores the default family's and refuses others.
func (HandlerBase) PutCF(cf uint32, _ []byte, _ []byte) error {
	return refuseOthers(cf, "PutCF")
}

// TimedPutCF refuses.
func (HandlerBase) TimedPutCF(uint32, []byte, []byte, uint64) error {
	return rocksdb.InvalidArgument("TimedPutCF not implemented")
}

// PutEntityCF refuses.
func (HandlerBase) PutEntityCF(uint32, []byte, []byte) error {
	return rocksdb.NotSupported("PutEntityCF not implemented")
}

// DeleteCF ignores the default family's and refuses others.
func (HandlerBase) DeleteCF(cf uint32, _ []byte) error {
	return refuseOthers(cf, "DeleteCF")
}

// SingleDeleteCF ignores the default family's and refuses others.
func (HandlerBase) SingleDeleteCF(cf uint32, _ []byte) error {
	return refuseOthers(cf, "SingleDeleteCF")
}

// DeleteRangeCF refuses.
func (HandlerBase) DeleteRangeCF(uint32, []byte, []byte) error {
	return rocksdb.InvalidArgument("DeleteRangeCF not implemented")
}

// MergeCF ignores the default family's and refuses others.
func (HandlerBase) MergeCF(cf uint32, _ []byte, _ []byte) error {
	return refuseOthers(cf, "MergeCF")
}

// PutBlobIndexCF refuses.
func (HandlerBase) PutBlobIndexCF(uint32, []byte, []byte) error {
	return rocksdb.InvalidArgument("PutBlobIndexCF not implemented")
}

func refuseOthers(cf uint32, method string) error {
	if cf == 0 {
		return nil
	}
	return rocksdb.InvalidArgument("non-default column family and " + method + " not implemented")
}

// LogData ignores the blob.
func (HandlerBase) LogData([]byte) {}

// MarkBeginPrepare refuses.
func (HandlerBase) MarkBeginPrepare(bool) error {
	return rocksdb.InvalidArgument("MarkBeginPrepare() handler not defined.")
}

// MarkEndPrepare refuses.
func (HandlerBase) MarkEndPrepare([]byte) error {
	return rocksdb.InvalidArgument("MarkEndPrepare() handler not defined.")
}

// MarkNoop refuses.
func (HandlerBase) MarkNoop(bool) error {
	return rocksdb.InvalidArgument("MarkNoop() handler not defined.")
}

// MarkRollback refuses.
func (HandlerBase) MarkRollback([]byte) error {
	return rocksdb.InvalidArgument("MarkRollbackPrepare() handler not defined.")
}

// MarkCommit refuses.
func (HandlerBase) MarkCommit([]byte) error {
	return rocksdb.InvalidArgument("MarkCommit() handler not defined.")
}

// MarkCommitWithTimestamp refuses.
func (HandlerBase) MarkCommitWithTimestamp([]byte, []byte) error {
	return rocksdb.InvalidArgument("MarkCommitWithTimestamp() handler not defined.")
}

// Continue goes on.
func (HandlerBase) Continue() bool { return true }

// WriteAfterCommit is not known.
func (HandlerBase) WriteAfterCommit() OptionState { return OptionUnknown }

// WriteBeforePrepare is not known.
func (HandlerBase) WriteBeforePrepare() OptionState { return OptionUnknown }

// Record is one decoded record; its slices point into the batch.
type Record struct {
	Tag           dbformat.ValueType
	ColumnFamily  uint32
	Key, Value    []byte // Value is the end key of a range deletion
	Blob, XID     []byte
	WriteUnixTime uint64 // of a timed put
}

// recordShape says how a tag's record is read.
type recordShape uint8

const (
	shapeInvalid recordShape = iota
	shapeEmpty
	shapeKey
	shapeKeyValue
	shapeTimed
	shapeBlob
	shapeXID
	shapeTimestampXID
)

var shapes = [dbformat.TypeMaxValid]struct {
	shape  recordShape
	family bool
	name   string
}{
	dbformat.TypeValue:                           {shapeKeyValue, false, "bad WriteBatch Put"},
	dbformat.TypeColumnFamilyValue:               {shapeKeyValue, true, "bad WriteBatch Put"},
	dbformat.TypeDeletion:                        {shapeKey, false, "bad WriteBatch Delete"},
	dbformat.TypeColumnFamilyDeletion:            {shapeKey, true, "bad WriteBatch Delete"},
	dbformat.TypeSingleDeletion:                  {shapeKey, false, "bad WriteBatch Delete"},
	dbformat.TypeColumnFamilySingleDeletion:      {shapeKey, true, "bad WriteBatch Delete"},
	dbformat.TypeRangeDeletion:                   {shapeKeyValue, false, "bad WriteBatch DeleteRange"},
	dbformat.TypeColumnFamilyRangeDeletion:       {shapeKeyValue, true, "bad WriteBatch DeleteRange"},
	dbformat.TypeMerge:                           {shapeKeyValue, false, "bad WriteBatch Merge"},
	dbformat.TypeColumnFamilyMerge:               {shapeKeyValue, true, "bad WriteBatch Merge"},
	dbformat.TypeBlobIndex:                       {shapeKeyValue, false, "bad WriteBatch BlobIndex"},
	dbformat.TypeColumnFamilyBlobIndex:           {shapeKeyValue, true, "bad WriteBatch BlobIndex"},
	dbformat.TypeLogData:                         {shapeBlob, false, "bad WriteBatch Blob"},
	dbformat.TypeNoop:                            {shapeEmpty, false, ""},
	dbformat.TypeBeginPrepareXID:                 {shapeEmpty, false, ""},
	dbformat.TypeBeginPersistedPrepareXID:        {shapeEmpty, false, ""},
	dbformat.TypeBeginUnprepareXID:               {shapeEmpty, false, ""},
	dbformat.TypeEndPrepareXID:                   {shapeXID, false, "bad EndPrepare XID"},
	dbformat.TypeCommitXID:                       {shapeXID, false, "bad Commit XID"},
	dbformat.TypeCommitXIDAndTimestamp:           {shapeTimestampXID, false, "bad Commit XID"},
	dbformat.TypeRollbackXID:                     {shapeXID, false, "bad Rollback XID"},
	dbformat.TypeWideColumnEntity:                {shapeKeyValue, false, "bad WriteBatch PutEntity"},
	dbformat.TypeColumnFamilyWideColumnEntity:    {shapeKeyValue, true, "bad WriteBatch PutEntity"},
	dbformat.TypeValuePreferredSeqno:             {shapeTimed, false, "bad WriteBatch TimedPut"},
	dbformat.TypeColumnFamilyValuePreferredSeqno: {shapeTimed, true, "bad WriteBatch TimedPut"},
}

// ReadRecord decodes the first record of input, which is not empty, into rec
// and gives the rest.
func ReadRecord(input []byte, rec *Record) (rest []byte, err error) {
	tag := dbformat.ValueType(input[0])
	input = input[1:]
	*rec = Record{Tag: tag}
	if tag >= dbformat.TypeMaxValid || shapes[tag].shape == shapeInvalid {
		return nil, rocksdb.Corruption("unknown WriteBatch tag", strconv.Itoa(int(tag)))
	}
	sh := &shapes[tag]
	ok := true
	if sh.family {
		if rec.ColumnFamily, input, ok = util.GetVarint32(input); !ok {
			return nil, rocksdb.Corruption(sh.name)
		}
	}
	switch sh.shape {
	case shapeKey:
		rec.Key, input, ok = util.GetLengthPrefixedSlice(input)
	case shapeKeyValue, shapeTimed:
		if rec.Key, input, ok = util.GetLengthPrefixedSlice(input); ok {
			rec.Value, input, ok = util.GetLengthPrefixedSlice(input)
		}
		if ok && sh.shape == shapeTimed {
			n := len(rec.Value) - 8
			if ok = n >= 0; ok {
				rec.WriteUnixTime = binary.LittleEndian.Uint64(rec.Value[n:])
				rec.Value = rec.Value[:n]
			}
		}
	case shapeBlob:
		rec.Blob, input, ok = util.GetLengthPrefixedSlice(input)
	case shapeXID:
		rec.XID, input, ok = util.GetLengthPrefixedSlice(input)
	case shapeTimestampXID:
		if rec.Key, input, ok = util.GetLengthPrefixedSlice(input); ok {
			rec.XID, input, ok = util.GetLengthPrefixedSlice(input)
		}
	}
	if !ok {
		return nil, rocksdb.Corruption(sh.name)
	}
	return input, nil
}

// Iterate calls h for each record in order.
func (b *WriteBatch) Iterate(h Handler) error {
	if b.rep == nil {
		return nil
	}
	if len(b.rep) < HeaderSize {
		return rocksdb.Corruption("malformed WriteBatch (too small)")
	}
	return b.IterateRange(h, HeaderSize, len(b.rep))
}

// IterateRange is Iterate over the records in bytes [begin, end).
func (b *WriteBatch) IterateRange(h Handler, begin, end int) error {
	if begin > len(b.rep) || end > len(b.rep) || end < begin {
		return rocksdb.Corruption("Invalid start/end bounds for Iterate")
	}
	whole := begin == HeaderSize && end == len(b.rep)
	input := b.rep[begin:end]
	var rec Record
	var found uint32
	empty, goOn := true, true
	for len(input) > 0 {
		if goOn = h.Continue(); !goOn {
			break
		}
		var err error
		if input, err = ReadRecord(input, &rec); err != nil {
			return err
		}
		err = dispatch(h, &rec, &empty, &found)
		if err != nil && rocksdb.CodeOf(err) == rocksdb.CodeTryAgain {
			if goOn = h.Continue(); !goOn {
				break
			}
			if err = dispatch(h, &rec, &empty, &found); err != nil && rocksdb.CodeOf(err) == rocksdb.CodeTryAgain {
				return rocksdb.Corruption("two consecutive TryAgain in WriteBatch handler; " +
					"this is either a software bug or data corruption.")
			}
		}
		if err != nil {
			return err
		}
	}
	if goOn && whole && found != b.Count() {
		return rocksdb.Corruption("WriteBatch has wrong count")
	}
	return nil
}

// dispatch calls the handler's method for rec; empty and found are the walk's
// state.
func dispatch(h Handler, rec *Record, empty *bool, found *uint32) (err error) {
	switch rec.Tag {
	case dbformat.TypeValue, dbformat.TypeColumnFamilyValue:
		err = h.PutCF(rec.ColumnFamily, rec.Key, rec.Value)
	case dbformat.TypeDeletion, dbformat.TypeColumnFamilyDeletion:
		err = h.DeleteCF(rec.ColumnFamily, rec.Key)
	case dbformat.TypeSingleDeletion, dbformat.TypeColumnFamilySingleDeletion:
		err = h.SingleDeleteCF(rec.ColumnFamily, rec.Key)
	case dbformat.TypeRangeDeletion, dbformat.TypeColumnFamilyRangeDeletion:
		err = h.DeleteRangeCF(rec.ColumnFamily, rec.Key, rec.Value)
	case dbformat.TypeMerge, dbformat.TypeColumnFamilyMerge:
		err = h.MergeCF(rec.ColumnFamily, rec.Key, rec.Value)
	case dbformat.TypeBlobIndex, dbformat.TypeColumnFamilyBlobIndex:
		err = h.PutBlobIndexCF(rec.ColumnFamily, rec.Key, rec.Value)
	case dbformat.TypeWideColumnEntity, dbformat.TypeColumnFamilyWideColumnEntity:
		err = h.PutEntityCF(rec.ColumnFamily, rec.Key, rec.Value)
	case dbformat.TypeValuePreferredSeqno, dbformat.TypeColumnFamilyValuePreferredSeqno:
		err = h.TimedPutCF(rec.ColumnFamily, rec.Key, rec.Value, rec.WriteUnixTime)
	case dbformat.TypeLogData:
		h.LogData(rec.Blob)
		*empty = false
		return nil
	default:
		return dispatchMark(h, rec, empty)
	}
	if err == nil {
		*empty = false
		*found++
	}
	return err
}

func dispatchMark(h Handler, rec *Record, empty *bool) error {
	switch rec.Tag {
	case dbformat.TypeBeginPrepareXID, dbformat.TypeBeginPersistedPrepareXID, dbformat.TypeBeginUnprepareXID:
		*empty = false
		if err := h.MarkBeginPrepare(rec.Tag == dbformat.TypeBeginUnprepareXID); err != nil {
			return err
		}
		return checkWritePolicy(h, rec.Tag)
	case dbformat.TypeEndPrepareXID:
		*empty = true
		return h.MarkEndPrepare(rec.XID)
	case dbformat.TypeCommitXID:
		*empty = true
		return h.MarkCommit(rec.XID)
	case dbformat.TypeCommitXIDAndTimestamp:
		*empty = true
		return h.MarkCommitWithTimestamp(rec.XID, rec.Key)
	case dbformat.TypeRollbackXID:
		*empty = true
		return h.MarkRollback(rec.XID)
	}
	e := *empty
	*empty = true
	return h.MarkNoop(e)
}

// checkWritePolicy refuses the WAL of a transaction policy other than the one
// in force.
func checkWritePolicy(h Handler, tag dbformat.ValueType) error {
	const advice = "; if it is not due to corruption, the WAL must be emptied before changing the WritePolicy"
	afterCommit, beforePrepare := h.WriteAfterCommit(), h.WriteBeforePrepare()
	switch {
	case tag == dbformat.TypeBeginPrepareXID && (afterCommit == OptionDisabled || beforePrepare == OptionEnabled):
		return rocksdb.NotSupported("WriteCommitted txn tag under another write policy" + advice)
	case tag != dbformat.TypeBeginPrepareXID && afterCommit == OptionEnabled:
		return rocksdb.NotSupported("WritePrepared/WriteUnprepared txn tag under the WriteCommitted policy" + advice)
	case tag == dbformat.TypeBeginUnprepareXID && beforePrepare == OptionDisabled:
		return rocksdb.NotSupported("WriteUnprepared txn tag under another write policy" + advice)
	}
	return nil
}

// classifier computes content flags.
type classifier struct {
	HandlerBase
	flags uint32
}

func (c *classifier) add(f uint32) error { c.flags |= f; return nil }

func (c *classifier) PutCF(uint32, []byte, []byte) error              { return c.add(hasPut) }
func (c *classifier) TimedPutCF(uint32, []byte, []byte, uint64) error { return c.add(hasTimedPut) }
func (c *classifier) PutEntityCF(uint32, []byte, []byte) error        { return c.add(hasPutEntity) }
func (c *classifier) DeleteCF(uint32, []byte) error                   { return c.add(hasDelete) }
func (c *classifier) SingleDeleteCF(uint32, []byte) error             { return c.add(hasSingleDelete) }
func (c *classifier) DeleteRangeCF(uint32, []byte, []byte) error      { return c.add(hasDeleteRange) }
func (c *classifier) MergeCF(uint32, []byte, []byte) error            { return c.add(hasMerge) }
func (c *classifier) PutBlobIndexCF(uint32, []byte, []byte) error     { return c.add(hasBlobIndex) }
func (c *classifier) MarkEndPrepare([]byte) error                     { return c.add(hasEndPrepare) }
func (c *classifier) MarkNoop(bool) error                             { return nil }
func (c *classifier) MarkRollback([]byte) error                       { return c.add(hasRollback) }
func (c *classifier) MarkCommit([]byte) error                         { return c.add(hasCommit) }
func (c *classifier) MarkCommitWithTimestamp([]byte, []byte) error    { return c.add(hasCommit) }
func (c *classifier) MarkBeginPrepare(unprepare bool) error {
	if unprepare {
		c.flags |= hasBeginUnprepare
	}
	return c.add(hasBeginPrepare)
}
