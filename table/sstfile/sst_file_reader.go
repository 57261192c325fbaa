// Port of table/sst_file_reader.cc and table/table_iterator.h. Differs: a
// reader and its iterators are closed explicitly, iterators first.

package sstfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/dbiter"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// SstFileReader reads one table file without a database. It is safe for
// concurrent use once open; iterators belong to one goroutine each.
type SstFileReader struct {
	o      rocksdb.Options
	fo     rocksdb.FileOptions
	io     options.ImmutableOptions
	mo     options.MutableCFOptions
	icmp   *dbformat.InternalKeyComparator
	reader table.TableReader // nil before Open
	rawRO  rocksdb.ReadOptions
}

// NewSstFileReader makes a reader for tables written with the options.
func NewSstFileReader(o *rocksdb.Options) *SstFileReader {
	r := &SstFileReader{o: sanitize(*o), rawRO: rocksdb.DefaultReadOptions()}
	r.fo = *rocksdb.NewFileOptions(&r.o.DBOptions)
	r.io = options.NewImmutableOptions(&r.o.DBOptions, &r.o.ColumnFamilyOptions)
	r.mo = options.NewMutableCFOptions(&r.o.ColumnFamilyOptions)
	r.icmp = dbformat.NewInternalKeyComparator(r.o.Comparator)
	r.rawRO.VerifyChecksums, r.rawRO.FillCache = true, false
	return r
}

// Open opens the file at path; one that was open is closed.
func (r *SstFileReader) Open(path string) error {
	if err := r.Close(); err != nil {
		return err
	}
	factory, ok := r.o.TableFactory.(table.Factory)
	if !ok {
		return rocksdb.NotSupported("table_factory that is not one of this engine's")
	}
	fs := r.o.Env.GetFileSystem()
	fo := r.fo
	fo.FileChecksumFuncName = rocksdb.NoFileChecksumFuncName
	size, err := fs.GetFileSize(path, &fo.IOOptions)
	if err != nil {
		return err
	}
	f, err := file.CreateRandomAccessFileReader(fs, path, &fo, nil)
	if err != nil {
		return err
	}
	t := table.DefaultTableReaderOptions(&r.io, r.icmp)
	t.PrefixExtractor, t.CompressionManager, t.FileOptions = r.mo.PrefixExtractor, r.mo.CompressionManager, r.fo
	t.BlockProtectionBytesPerKey = r.mo.BlockProtectionBytesPerKey
	t.UserDefinedTimestampsPersisted = r.io.PersistUserDefinedTimestamps
	// A sequence number may have been written into the file.
	t.LargestSeqno = dbformat.MaxSequenceNumber
	ro := rocksdb.DefaultReadOptions()
	r.reader, err = factory.NewTableReader(&ro, &t, f, size, true)
	if err != nil {
		r.reader = nil
	}
	return err
}

// Close closes the file. Iterators have to be closed before.
func (r *SstFileReader) Close() error {
	if r.reader == nil {
		return nil
	}
	err := r.reader.Close()
	r.reader = nil
	return err
}

var errNotOpen = rocksdb.InvalidArgument("File is not opened")

func orDefaultRead(ro *rocksdb.ReadOptions) *rocksdb.ReadOptions {
	if ro == nil {
		d := rocksdb.DefaultReadOptions()
		return &d
	}
	return ro
}

func readSequence(ro *rocksdb.ReadOptions) rocksdb.SequenceNumber {
	if ro.Snapshot != nil {
		return ro.Snapshot.GetSequenceNumber()
	}
	return dbformat.MaxSequenceNumber
}

// Iterator walks the entries of a table that a database would show.
type Iterator struct {
	dbiter.DBIter
	ro     rocksdb.ReadOptions
	merger fileMerger
}

// Close ends the iterator.
func (it *Iterator) Close() error { return it.DBIter.Close() }

// Refresh is not supported: a file does not change.
func (it *Iterator) Refresh(rocksdb.Snapshot) error {
	return rocksdb.NotSupported("Refresh() is not supported")
}

// fileMerger applies the options' merge operator.
type fileMerger struct {
	r *SstFileReader
	m merge.FullMerge
}

// FullMerge implements dbiter.Merger.
func (g *fileMerger) FullMerge(key []byte, kind merge.BaseValueKind, base []byte, operands [][]byte) ([]byte, dbformat.ValueType, error) {
	io := &g.r.io
	g.m.Operator, g.m.Key, g.m.Base, g.m.Value, g.m.Operands = io.MergeOperator, key, kind, base, operands
	g.m.Logger, g.m.Statistics, g.m.Clock = io.Logger, io.Stats, io.Clock
	return g.m.Result()
}

// rawBlobIndexes shows references to blob files as they are: a table file does
// not have the values.
type rawBlobIndexes struct{}

// GetBlob implements dbiter.Resolver.
func (rawBlobIndexes) GetBlob(_ *rocksdb.ReadOptions, _, index []byte, value *rocksdb.PinnableSlice) error {
	value.PinSlice(bytes.Clone(index), nil)
	return nil
}

// NewIterator makes an iterator over the entries that a read of a database
// shows: the newest of each key, no deletions. Range deletions of the file do
// not count. It has to be closed.
func (r *SstFileReader) NewIterator(ro *rocksdb.ReadOptions) *Iterator {
	it := &Iterator{ro: *orDefaultRead(ro)}
	if r.reader == nil {
		it.InitError(errNotOpen, r.icmp)
		return it
	}
	it.ro.IterateLowerBound, it.ro.IterateUpperBound = bytes.Clone(it.ro.IterateLowerBound), bytes.Clone(it.ro.IterateUpperBound)
	inner := r.reader.NewIterator(&it.ro, r.mo.PrefixExtractor, false, rocksdb.CallerSSTFileReader, 0, false)
	c := dbiter.Config{ReadOptions: &it.ro, Comparator: r.icmp, Iter: inner, Sequence: readSequence(&it.ro),
		PrefixExtractor: r.mo.PrefixExtractor, MaxSequentialSkip: r.mo.MaxSequentialSkipInIterations,
		Statistics: r.io.Stats, Clock: r.io.Clock, Resolver: rawBlobIndexes{}}
	if r.io.MergeOperator != nil {
		it.merger = fileMerger{r: r}
		c.Merger = &it.merger
	}
	it.Init(&c)
	return it
}

// TableIterator walks all point entries of a table: its keys are internal keys,
// see SstFileReader.ParseTableIteratorKey.
type TableIterator struct{ internaliter.InternalIterator }

// NewTableIterator makes an iterator over all point entries, deletions and older
// versions included. The block cache is not filled. It has to be closed.
func (r *SstFileReader) NewTableIterator() *TableIterator {
	if r.reader == nil {
		return &TableIterator{internaliter.NewErrorInternalIterator(errNotOpen)}
	}
	return &TableIterator{r.reader.NewIterator(&r.rawRO, r.mo.PrefixExtractor, false, rocksdb.CallerSSTFileReader, 0, false)}
}

// ParseTableIteratorKey takes a key of a TableIterator apart; the result points
// into it.
func (r *SstFileReader) ParseTableIteratorKey(key []byte) (rocksdb.ParsedEntryInfo, error) {
	return dbformat.ParseEntry(key, r.o.Comparator)
}

// lookup is one key of a MultiGet.
type lookup struct {
	key      table.KeyContext
	gc       table.GetContext
	merge    dbformat.MergeContext
	covering rocksdb.SequenceNumber
}

func (r *SstFileReader) initGet(l *lookup, key []byte, value *rocksdb.PinnableSlice) {
	l.gc.Init(&table.GetContextParams{Comparator: r.icmp, MergeOperator: r.io.MergeOperator, Statistics: r.io.Stats, Clock: r.io.Clock,
		UserKey: key, Value: value, MergeContext: &l.merge, DoMerge: true, MaxCoveringTombstoneSeq: &l.covering})
}

// getError is the outcome of a lookup that met no error of reading.
func getError(gc *table.GetContext) error {
	switch gc.State() {
	case table.GetFound:
		return nil
	case table.GetNotFound, table.GetDeleted:
		return rocksdb.ErrNotFound
	case table.GetMerge:
		return rocksdb.MergeInProgress()
	}
	return rocksdb.Corruption()
}

// Get looks key up; the error is ErrNotFound when it is not there or deleted,
// and MergeInProgress when there are only merge operands. Range deletions of
// the file do not count. Otherwise Release has to be called on the value.
func (r *SstFileReader) Get(ro *rocksdb.ReadOptions, key []byte) (value rocksdb.PinnableSlice, err error) {
	if r.reader == nil {
		return value, errNotOpen
	}
	l := &lookup{}
	r.initGet(l, key, &value)
	ikey := dbformat.AppendInternalKey(nil, key, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
	err = r.reader.Get(orDefaultRead(ro), ikey, &l.gc, r.mo.PrefixExtractor, false)
	l.gc.ReportCounters()
	if err == nil {
		err = getError(&l.gc)
	}
	if err != nil {
		value.Release()
	}
	return value, err
}

// MultiGet is Get for each key. The three slices have the same length; values
// are released first.
func (r *SstFileReader) MultiGet(ro *rocksdb.ReadOptions, keys [][]byte, values []rocksdb.PinnableSlice, errs []error) {
	ro = orDefaultRead(ro)
	ls := make([]lookup, len(keys))
	sorted := make([]*table.KeyContext, len(keys))
	for i := range keys {
		l := &ls[i]
		values[i].Release()
		errs[i] = nil
		if r.reader == nil {
			errs[i] = errNotOpen
		}
		l.key = table.KeyContext{Key: keys[i], Value: &values[i], Err: &errs[i], GetContext: &l.gc}
		r.initGet(l, keys[i], &values[i])
		sorted[i] = &l.key
	}
	if r.reader == nil {
		return
	}
	slices.SortStableFunc(sorted, func(a, b *table.KeyContext) int { return r.icmp.CompareWithoutTimestamp(a.Key, b.Key) })
	var ctx table.MultiGetContext
	for batch := range slices.Chunk(sorted, table.MaxBatchSize) {
		ctx.Init(batch, readSequence(ro), nil)
		rng := ctx.GetMultiGetRange()
		r.reader.MultiGet(ro, &rng, r.mo.PrefixExtractor, false)
	}
	for i := range ls {
		ls[i].gc.ReportCounters()
		if errs[i] == nil {
			errs[i] = getError(&ls[i].gc)
		}
		if errs[i] != nil {
			values[i].Release()
		}
	}
}

// GetTableProperties gives the table's properties, which must not be changed;
// nil before Open.
func (r *SstFileReader) GetTableProperties() *rocksdb.TableProperties {
	if r.reader == nil {
		return nil
	}
	return r.reader.GetTableProperties()
}

// VerifyChecksum reads all blocks and checks them.
func (r *SstFileReader) VerifyChecksum(ro *rocksdb.ReadOptions) error {
	if r.reader == nil {
		return errNotOpen
	}
	return r.reader.VerifyChecksum(orDefaultRead(ro), rocksdb.CallerSSTFileReader, false)
}

// VerifyNumEntries reads the table and compares the number of point entries to
// what its properties say; a difference is a Corruption.
func (r *SstFileReader) VerifyNumEntries(ro *rocksdb.ReadOptions) (err error) {
	if r.reader == nil {
		return errNotOpen
	}
	it := r.reader.NewIterator(orDefaultRead(ro), r.mo.PrefixExtractor, false, rocksdb.CallerSSTFileReader, 0, false)
	var n uint64
	for it.SeekToFirst(); it.Valid(); it.Next() {
		n++
	}
	err = it.Status()
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	p := r.reader.GetTableProperties()
	if p == nil {
		return rocksdb.Corruption("table properties not available")
	}
	if want := p.NumEntries - p.NumRangeDeletions; n != want {
		return rocksdb.Corruption(fmt.Sprintf("Table property expects %d entries when excluding range deletions, but scanning the table returned %d entries", want, n))
	}
	return nil
}
