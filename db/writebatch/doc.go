// Package writebatch is the codec of write batches: what a caller collects,
// what the WAL stores, and how both are walked.
//
// Format of a batch, which is also a WAL record's payload:
//
//	fixed64  sequence number of the first entry
//	fixed32  number of entries that take a sequence number
//	records  one byte of dbformat.ValueType, then by type:
//	  Value, Merge, BlobIndex, WideColumnEntity   varstring key, varstring value
//	  Deletion, SingleDeletion                    varstring key
//	  RangeDeletion                               varstring begin, varstring end
//	  ValuePreferredSeqno                         varstring key, varstring value | fixed64 write time
//	  ColumnFamily… forms                         varint32 family id before the above
//	  LogData, EndPrepareXID, CommitXID, RollbackXID   varstring
//	  CommitXIDAndTimestamp                       varstring timestamp, varstring xid
//	  Noop, BeginPrepareXID and its kin           nothing
//
// where a varstring is a varint32 length and the bytes.
//
// Invariant: a batch's content flags name at least every kind of record it
// holds. The inserter into memtables lives in package db.
package writebatch
