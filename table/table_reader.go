// Port of table/table_reader.h. Differs: readers are closed explicitly; a
// table's fragmented tombstones can be had without making an iterator.

package table

import (
	"io"

	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// Anchor is a key that splits a table's contents; RangeSize is about the size
// in bytes of what lies between the anchor before and this one.
type Anchor struct {
	UserKey   []byte
	RangeSize uint64
}

// TableReader reads one table file. It is safe for concurrent use until Close.
// Embed TableReaderBase for the optional methods.
type TableReader interface {
	// NewIterator gives an iterator over the table's point entries, not
	// positioned yet; the caller closes it. ro has to outlive it. skipFilters
	// turns prefix filters off. compactionReadaheadSize, in bytes, counts for
	// CallerCompaction alone. allowUnpreparedValue leaves values unread until
	// PrepareValue.
	NewIterator(ro *rocksdb.ReadOptions, prefixExtractor rocksdb.SliceTransform, skipFilters bool,
		caller rocksdb.TableReaderCaller, compactionReadaheadSize uint64, allowUnpreparedValue bool) internaliter.InternalIterator
	// FragmentedRangeTombstones gives the table's range tombstones; nil when
	// there are none. The list outlives the reader.
	FragmentedRangeTombstones() *rangedel.FragmentedRangeTombstoneList
	// NewRangeTombstoneIterator views the tombstones as of ro's snapshot and
	// timestamp; nil when there are none.
	NewRangeTombstoneIterator(ro *rocksdb.ReadOptions) *rangedel.FragmentedRangeTombstoneIterator
	// NewRangeTombstoneIteratorAt views them at a sequence number and, where
	// it is not empty, a timestamp.
	NewRangeTombstoneIteratorAt(readSeqno rocksdb.SequenceNumber, timestamp []byte) *rangedel.FragmentedRangeTombstoneIterator

	// ApproximateOffsetOf is about the place in the file, in bytes, of an
	// internal key.
	ApproximateOffsetOf(ro *rocksdb.ReadOptions, key []byte, caller rocksdb.TableReaderCaller) uint64
	// ApproximateSize is about the file's bytes between two internal keys, a
	// share of the metadata included; nil is the table's end.
	ApproximateSize(ro *rocksdb.ReadOptions, start, end []byte, caller rocksdb.TableReaderCaller) uint64
	// ApproximateKeyAnchors gives about 128 keys that split the table evenly.
	ApproximateKeyAnchors(ro *rocksdb.ReadOptions) ([]Anchor, error)
	// SetupForCompaction is called before a compaction reads all of it.
	SetupForCompaction()
	// GetTableProperties gives the properties, which must not be changed.
	GetTableProperties() *rocksdb.TableProperties
	// Prepare is called before a Get of the same key.
	Prepare(target []byte)
	// ApproximateMemoryUsage is in bytes.
	ApproximateMemoryUsage() int

	// Get calls gc.SaveValue for the entries at and after key, an internal
	// key, until that wants no more, or not at all when a filter says that
	// the key is not there. When a block may not be read
	// (ro.ReadTier) it calls gc.MarkKeyMayExist.
	Get(ro *rocksdb.ReadOptions, key []byte, gc *GetContext, prefixExtractor rocksdb.SliceTransform, skipFilters bool) error
	// MultiGet is Get for each key of r; errors go to the key contexts.
	MultiGet(ro *rocksdb.ReadOptions, r *MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool)

	// Prefetch loads the blocks of a range of user keys; nil is an open end.
	Prefetch(ro *rocksdb.ReadOptions, begin, end []byte) error
	// DumpTable writes the table in human-readable form.
	DumpTable(out io.Writer, showSequenceNumberType bool) error
	// VerifyChecksum reads all blocks, or the meta blocks only.
	VerifyChecksum(ro *rocksdb.ReadOptions, caller rocksdb.TableReaderCaller, metaBlocksOnly bool) error
	// MarkObsolete says that the file will be deleted: Close may then drop its
	// blocks from the block cache, trying the harder the greater the number.
	// It may be called concurrently and more than once.
	MarkObsolete(uncacheAggressiveness uint32)
	// Close gives up file and pinned blocks. No iterator may be open.
	Close() error
}

// AsyncMultiGetter is a TableReader whose MultiGet can be left waiting for its
// reads.
type AsyncMultiGetter interface {
	// BeginMultiGet is MultiGet up to its reads, which it begins. nil: the
	// keys are looked up already. r and ro have to live until the end.
	BeginMultiGet(ro *rocksdb.ReadOptions, r *MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool) PendingMultiGet
}

// PendingMultiGet is a MultiGet that was begun. One of the methods has to be
// called, once.
type PendingMultiGet interface {
	// Finish waits for the reads and looks the keys up.
	Finish()
	// Abandon waits for the reads, for nothing.
	Abandon()
	// NumReads is the number of reads under way.
	NumReads() int
}

// TableReaderBase gives TableReader's optional methods.
type TableReaderBase struct{}

// FragmentedRangeTombstones has none.
func (TableReaderBase) FragmentedRangeTombstones() *rangedel.FragmentedRangeTombstoneList { return nil }

// NewRangeTombstoneIterator has none.
func (TableReaderBase) NewRangeTombstoneIterator(*rocksdb.ReadOptions) *rangedel.FragmentedRangeTombstoneIterator {
	return nil
}

// NewRangeTombstoneIteratorAt has none.
func (TableReaderBase) NewRangeTombstoneIteratorAt(rocksdb.SequenceNumber, []byte) *rangedel.FragmentedRangeTombstoneIterator {
	return nil
}

// ApproximateKeyAnchors is not supported.
func (TableReaderBase) ApproximateKeyAnchors(*rocksdb.ReadOptions) ([]Anchor, error) {
	return nil, rocksdb.NotSupported("ApproximateKeyAnchors() not supported.")
}

// Prepare does nothing.
func (TableReaderBase) Prepare([]byte) {}

// Prefetch does nothing.
func (TableReaderBase) Prefetch(_ *rocksdb.ReadOptions, _, _ []byte) error { return nil }

// DumpTable is not supported.
func (TableReaderBase) DumpTable(io.Writer, bool) error {
	return rocksdb.NotSupported("DumpTable() not supported")
}

// VerifyChecksum is not supported.
func (TableReaderBase) VerifyChecksum(*rocksdb.ReadOptions, rocksdb.TableReaderCaller, bool) error {
	return rocksdb.NotSupported("VerifyChecksum() not supported")
}

// MarkObsolete does nothing.
func (TableReaderBase) MarkObsolete(uint32) {}

// Close has nothing to give up.
func (TableReaderBase) Close() error { return nil }

// MultiGetByGet is the plain form of TableReader.MultiGet.
func MultiGetByGet(t TableReader, ro *rocksdb.ReadOptions, r *MultiGetRange, prefixExtractor rocksdb.SliceTransform, skipFilters bool) {
	for i := r.First(); i < r.End(); i = r.NextIndex(i) {
		k := r.Key(i)
		*k.Err = t.Get(ro, k.IKey, k.GetContext, prefixExtractor, skipFilters)
	}
}
