// Port of table/sst_file_writer.cc. Differs: Close ends a writer, instead of a
// destructor; blobs are not embedded in the file yet.

package sstfile

import (
	"bytes"
	"math"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	// externalFileVersion is the version of the files written: they have a
	// global sequence number.
	externalFileVersion = 2
	// fadviseTrigger is how much is written, in bytes, before the system is told
	// that it need not keep the pages.
	fadviseTrigger = 1 << 20
	// writerDBID takes the place of a database's id in the properties.
	writerDBID = "SST Writer"
)

// sanitize sets what the engine needs and options may leave out.
func sanitize(o rocksdb.Options) rocksdb.Options {
	if o.Env == nil {
		o.Env = env.Default()
	}
	if o.Comparator == nil {
		o.Comparator = util.BytewiseComparator()
	}
	if o.TableFactory == nil {
		b := rocksdb.DefaultBlockBasedTableOptions()
		o.TableFactory = blockbased.NewBlockBasedTableFactory(&b)
	}
	return o
}

// SstFileWriter makes table files that a database can ingest. It writes one
// file after the other and belongs to one goroutine.
type SstFileWriter struct {
	c       rocksdb.SstFileWriterOptions
	fo      rocksdb.FileOptions
	io      options.ImmutableOptions
	mo      options.MutableCFOptions
	wo      rocksdb.WriteOptions
	ro      rocksdb.ReadOptions
	icmp    *dbformat.InternalKeyComparator
	session string
	tsSize  int
	// stripTS: timestamps are not kept; only the least one is taken.
	stripTS bool

	writer      *file.WritableFileWriter
	builder     table.TableBuilder // nil between files
	info        rocksdb.ExternalSstFileInfo
	nextNumber  uint64
	lastFadvise uint64

	smallest, ikey, withTS, rangeEnd []byte
	smallestRange, largestRange      dbformat.InternalKey
}

// NewSstFileWriter makes a writer of files by the options; c may be nil.
func NewSstFileWriter(o *rocksdb.Options, c *rocksdb.SstFileWriterOptions) *SstFileWriter {
	full := sanitize(*o)
	w := &SstFileWriter{c: rocksdb.DefaultSstFileWriterOptions(), wo: rocksdb.DefaultWriteOptions(),
		ro: rocksdb.DefaultReadOptions(), session: env.GenerateDBSessionID(), nextNumber: 1}
	if c != nil {
		w.c = *c
	}
	if w.c.Comparator != nil {
		full.Comparator = w.c.Comparator
	}
	w.fo = *rocksdb.NewFileOptions(&full.DBOptions)
	if w.c.FileOptions != nil {
		w.fo = *w.c.FileOptions
	}
	w.io = options.NewImmutableOptions(&full.DBOptions, &full.ColumnFamilyOptions)
	w.mo = options.NewMutableCFOptions(&full.ColumnFamilyOptions)
	w.wo.RateLimiterPriority = w.c.IOPriority
	w.icmp = dbformat.NewInternalKeyComparator(full.Comparator)
	w.tsSize = full.Comparator.TimestampSize()
	w.stripTS = w.tsSize > 0 && !full.PersistUserDefinedTimestamps
	return w
}

// Open begins the file at path; temperature is a hint to the file system. A
// file that was begun before is abandoned.
func (w *SstFileWriter) Open(path string, temperature rocksdb.Temperature) error {
	return w.open(path, nil, temperature)
}

func (w *SstFileWriter) open(path string, blobs *rocksdb.SstFileWriterEmbeddedBlobOptions, temperature rocksdb.Temperature) error {
	_ = w.Close() // what becomes of an abandoned file does not matter
	factory, ok := w.mo.TableFactory.(table.Factory)
	if !ok {
		return rocksdb.NotSupported("table_factory that is not one of this engine's")
	}
	fo := w.fo
	fo.Temperature = temperature
	fo.OpenContract = rocksdb.FileOpenNoReopenForWrite | rocksdb.FileOpenNoReadersWhileOpenForWrite
	f, err := w.io.FS.NewWritableFile(path, &fo)
	if err != nil {
		return err
	}
	f.SetIOPriority(w.c.IOPriority)
	w.writer = file.NewWritableFileWriter(f, path, &w.fo, &file.WriterOptions{
		Clock: w.io.Clock, Stats: w.io.Stats, HistType: rocksdb.HistSSTWriteMicros, Listeners: w.io.Listeners,
		FileChecksumGenFactory:  w.io.FileChecksumGenFactory,
		PerformDataVerification: w.io.ChecksumHandoffFileTypes.Contains(rocksdb.TableFile)})
	o := w.builderOptions()
	o.EmbeddedBlobs = blobs
	w.builder, err = factory.NewTableBuilder(&o, w.writer)
	if err != nil {
		w.builder = nil
		w.dropFile()
		return err
	}
	w.info = rocksdb.ExternalSstFileInfo{FilePath: path, Version: externalFileVersion}
	w.lastFadvise = 0
	w.smallestRange, w.largestRange = nil, nil
	return nil
}

// OpenWithEmbeddedBlobs is Open for a file that holds large values as blobs
// between its blocks, where the table refers to them; Put and PutEntity then tell
// errors of writing at once. The table has to be block-based, of format_version 7
// or later. RocksDB 11.6 and later read it. o may be nil.
func (w *SstFileWriter) OpenWithEmbeddedBlobs(path string, o *rocksdb.SstFileWriterEmbeddedBlobOptions, temperature rocksdb.Temperature) error {
	if w.builder != nil {
		return rocksdb.InvalidArgument("File is already opened")
	}
	var bbto *rocksdb.BlockBasedTableOptions
	if w.mo.TableFactory != nil {
		bbto, _ = w.mo.TableFactory.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
	}
	if bbto == nil {
		return rocksdb.InvalidArgument("Embedded blob SSTs require block-based table format")
	}
	if !format.FormatVersionUsesCompressionManagerName(bbto.FormatVersion) {
		return rocksdb.InvalidArgument("Embedded blob SSTs require block-based table format_version >= 7")
	}
	if o == nil {
		d := rocksdb.DefaultSstFileWriterEmbeddedBlobOptions()
		o = &d
	}
	return w.open(path, o, temperature)
}

func (w *SstFileWriter) builderOptions() table.TableBuilderOptions {
	o := table.DefaultTableBuilderOptions(&w.io, &w.mo, w.icmp)
	o.CompressionType, o.CompressionOpts = w.compression()
	o.InternalTblPropCollFactories = tblpropcoll.InternalTblPropCollFactories{
		table.NewSstFileWriterPropertiesCollectorFactory(externalFileVersion, 0)}
	for _, f := range w.io.TablePropertiesCollectorFactories {
		o.InternalTblPropCollFactories = append(o.InternalTblPropCollFactories, tblpropcoll.NewUserKeyTablePropertiesCollectorFactory(f))
	}
	if cf := w.c.ColumnFamily; cf != nil {
		o.ColumnFamilyID, o.ColumnFamilyName = cf.GetID(), cf.GetName()
	}
	o.ReadOptions, o.WriteOptions = &w.ro, &w.wo
	o.DBID, o.DBSessionID = writerDBID, w.session
	// The session is the writer's, so the number makes the file's id unique.
	o.CurFileNum = w.nextNumber
	w.nextNumber++
	return o
}

// compression is that of the last level.
func (w *SstFileWriter) compression() (rocksdb.CompressionType, rocksdb.CompressionOptions) {
	mo := &w.mo
	switch n := len(mo.CompressionPerLevel); {
	case mo.BottommostCompression != rocksdb.DisableCompressionOption:
		if mo.BottommostCompressionOpts.Enabled {
			return mo.BottommostCompression, mo.BottommostCompressionOpts
		}
		return mo.BottommostCompression, mo.CompressionOpts
	case n > 0:
		return mo.CompressionPerLevel[n-1], mo.CompressionOpts
	}
	return mo.Compression, mo.CompressionOpts
}

// Put adds a value. Keys come in strictly ascending order, all kinds of entries
// but range deletions together. The slices stay the caller's.
func (w *SstFileWriter) Put(userKey, value []byte) error {
	return w.add(userKey, value, dbformat.TypeValue)
}

// PutWithTS is Put at a timestamp, with a comparator that has timestamps.
func (w *SstFileWriter) PutWithTS(userKey, ts, value []byte) error {
	return w.addWithTS(userKey, ts, value, dbformat.TypeValue)
}

// PutEntity adds a wide-column entity.
func (w *SstFileWriter) PutEntity(userKey []byte, columns rocksdb.WideColumns) error {
	sorted := append(rocksdb.WideColumns(nil), columns...)
	wide.SortColumns(sorted)
	entity, err := wide.Serialize(nil, sorted)
	if err != nil {
		return err
	}
	if uint64(len(entity)) > math.MaxUint32 {
		return rocksdb.InvalidArgument("wide column entity is too large")
	}
	return w.add(userKey, entity, dbformat.TypeWideColumnEntity)
}

// Merge adds a merge operand.
func (w *SstFileWriter) Merge(userKey, operand []byte) error {
	return w.add(userKey, operand, dbformat.TypeMerge)
}

// Delete adds a deletion.
func (w *SstFileWriter) Delete(userKey []byte) error {
	return w.add(userKey, nil, dbformat.TypeDeletion)
}

// DeleteWithTS is Delete at a timestamp.
func (w *SstFileWriter) DeleteWithTS(userKey, ts []byte) error {
	return w.addWithTS(userKey, ts, nil, dbformat.TypeDeletionWithTimestamp)
}

// DeleteRange adds the deletion of [begin, end). It does not concern entries of
// the same file. Range deletions come in any order. An empty range adds
// nothing; begin after end is an InvalidArgument.
func (w *SstFileWriter) DeleteRange(begin, end []byte) error {
	if w.tsSize != 0 {
		return rocksdb.InvalidArgument("Timestamp size mismatch")
	}
	return w.deleteRange(begin, end)
}

// DeleteRangeWithTS is DeleteRange at a timestamp.
func (w *SstFileWriter) DeleteRangeWithTS(begin, end, ts []byte) error {
	if w.tsSize != len(ts) {
		return rocksdb.InvalidArgument("Timestamp size mismatch")
	}
	w.withTS = append(append(w.withTS[:0], begin...), ts...)
	w.rangeEnd = append(append(w.rangeEnd[:0], end...), ts...)
	return w.deleteRange(w.withTS, w.rangeEnd)
}

func (w *SstFileWriter) add(userKey, value []byte, t dbformat.ValueType) error {
	if w.tsSize != 0 {
		return rocksdb.InvalidArgument("Timestamp size mismatch")
	}
	return w.addEntry(userKey, value, t)
}

func (w *SstFileWriter) addWithTS(userKey, ts, value []byte, t dbformat.ValueType) error {
	if w.tsSize != len(ts) {
		return rocksdb.InvalidArgument("Timestamp size mismatch")
	}
	w.withTS = append(append(w.withTS[:0], userKey...), ts...)
	return w.addEntry(w.withTS, value, t)
}

// isLeastTS tells whether userKey ends with the least timestamp.
func (w *SstFileWriter) isLeastTS(userKey []byte) bool {
	ts := dbformat.ExtractTimestampFromUserKey(userKey, w.tsSize)
	return w.icmp.UserComparator().CompareTimestamp(ts, make([]byte, w.tsSize)) == 0
}

func (w *SstFileWriter) addEntry(userKey, value []byte, t dbformat.ValueType) error {
	switch {
	case w.builder == nil:
		return rocksdb.InvalidArgument("File is not opened")
	case w.builder.Status() != nil:
		return w.builder.Status()
	case uint64(len(userKey)) > math.MaxUint32-dbformat.NumInternalBytes:
		return rocksdb.InvalidArgument("key is too large")
	case uint64(len(value)) > math.MaxUint32:
		return rocksdb.InvalidArgument("value is too large")
	case w.stripTS && !w.isLeastTS(userKey):
		return rocksdb.InvalidArgument("persist_user_defined_timestamps flag is set to false, only minimum timestamp is accepted.")
	case w.info.NumEntries > 0 && w.icmp.CompareUserKey(userKey, dbformat.ExtractUserKey(w.ikey)) <= 0:
		return rocksdb.InvalidArgument("Keys must be added in strict ascending order.")
	}
	w.ikey = dbformat.AppendInternalKey(w.ikey[:0], userKey, 0, t)
	_ = w.builder.Add(w.ikey, value) // Status has it
	if w.info.NumEntries == 0 {
		w.smallest = append(w.smallest[:0], w.ikey...)
	}
	w.info.NumEntries++
	w.info.FileSize = w.builder.FileSize()
	w.invalidatePageCache(false)
	return w.builder.Status()
}

func (w *SstFileWriter) deleteRange(begin, end []byte) error {
	if w.builder == nil {
		return rocksdb.InvalidArgument("File is not opened")
	}
	if uint64(len(begin)) > math.MaxUint32-dbformat.NumInternalBytes {
		return rocksdb.InvalidArgument("key is too large")
	}
	if uint64(len(end)) > math.MaxUint32 {
		return rocksdb.InvalidArgument("end key is too large")
	}
	switch c := w.icmp.CompareWithoutTimestamp(begin, end); {
	case c > 0:
		return rocksdb.InvalidArgument("end key comes before start key")
	case c == 0:
		return nil
	}
	if w.stripTS && !w.isLeastTS(begin) {
		return rocksdb.InvalidArgument("persist_user_defined_timestamps flag is set to false, only minimum timestamp is accepted for start key.")
	}
	t := dbformat.RangeTombstone{StartKey: begin, EndKey: end}
	start, bound := t.SerializeKey(), t.SerializeEndKey()
	if err := w.builder.Add(start, end); err != nil {
		return err
	}
	if w.smallestRange == nil || w.icmp.Compare(start, w.smallestRange) < 0 {
		w.smallestRange = start
	}
	if w.largestRange == nil || w.icmp.Compare(bound, w.largestRange) > 0 {
		w.largestRange = bound
	}
	w.info.NumRangeDelEntries++
	w.info.FileSize = w.builder.FileSize()
	w.invalidatePageCache(false)
	return nil
}

// invalidatePageCache is a hint: its failure is none of the writer's.
func (w *SstFileWriter) invalidatePageCache(closing bool) {
	if !w.c.InvalidatePageCache {
		return
	}
	since := w.builder.FileSize() - w.lastFadvise
	if since <= fadviseTrigger && !closing {
		return
	}
	syncpoint.ProcessArg("SstFileWriter::Rep::InvalidatePageCache", &since)
	_ = w.writer.InvalidateCache(0, 0)
	w.lastFadvise = w.builder.FileSize()
}

// Finish completes, syncs and closes the file. On an error the file is deleted.
// info, when not nil, is set to what the file holds. A file without entries is
// an InvalidArgument, and stays open.
func (w *SstFileWriter) Finish(info *rocksdb.ExternalSstFileInfo) error {
	if w.builder == nil {
		return rocksdb.InvalidArgument("File is not opened")
	}
	if w.info.NumEntries == 0 && w.info.NumRangeDelEntries == 0 {
		return rocksdb.InvalidArgument("Cannot create sst file with no entries")
	}
	err := w.builder.Finish()
	w.info.FileSize = w.builder.FileSize()
	var opts rocksdb.IOOptions
	file.PrepareIOFromWriteOptions(&w.wo, &opts)
	if err == nil {
		if err = w.writer.Sync(&opts, w.io.UseFsync); err == nil {
			w.invalidatePageCache(true)
		}
	}
	if err == nil {
		err = w.writer.Close(&opts)
	}
	if err != nil {
		path := w.info.FilePath
		w.builder = nil
		w.dropFile()
		_ = w.io.FS.DeleteFile(path, &opts) // the error that counts is the first
		return err
	}
	w.info.FileChecksum, w.info.FileChecksumFuncName = w.writer.GetFileChecksum(), w.writer.GetFileChecksumFuncName()
	if info != nil {
		*info = w.describe()
	}
	w.builder, w.writer = nil, nil
	return nil
}

// describe gives the finished file's description.
func (w *SstFileWriter) describe() rocksdb.ExternalSstFileInfo {
	info := w.info
	userKey := func(k []byte) []byte {
		k = dbformat.ExtractUserKey(k)
		if w.stripTS {
			k = dbformat.StripTimestampFromUserKey(k, w.tsSize)
		}
		return bytes.Clone(k)
	}
	var smallest, largest dbformat.InternalKey
	widen := func(lo, hi dbformat.InternalKey) {
		if smallest == nil || w.icmp.Compare(lo, smallest) < 0 {
			smallest = lo
		}
		if largest == nil || w.icmp.Compare(hi, largest) > 0 {
			largest = hi
		}
	}
	if info.NumEntries > 0 {
		info.SmallestKey, info.LargestKey = userKey(w.smallest), userKey(w.ikey)
		widen(bytes.Clone(w.smallest), bytes.Clone(w.ikey))
	}
	if info.NumRangeDelEntries > 0 {
		lo, hi := w.smallestRange, w.largestRange
		info.SmallestRangeDelKey, info.LargestRangeDelKey = userKey(lo), userKey(hi)
		if w.tsSize > 0 && !w.stripTS {
			// As the table's own iterator over range tombstones gives them.
			t := dbformat.NewRangeTombstone(lo.UserKey(), hi.UserKey(), 0, bytes.Repeat([]byte{0xff}, w.tsSize))
			lo, hi = t.SerializeKey(), t.SerializeEndKey()
		}
		widen(lo, hi)
	}
	if w.stripTS {
		smallest = dbformat.StripTimestampFromInternalKey(nil, smallest, w.tsSize)
		largest = dbformat.StripTimestampFromInternalKey(nil, largest, w.tsSize)
	}
	info.PreparedFileInfo = &rocksdb.PreparedFileInfo{FileSize: info.FileSize, Smallest: smallest, Largest: largest,
		TableProperties: w.builder.GetTableProperties()}
	return info
}

// FileSize is the size of the file so far, or that of the last one finished, in
// bytes.
func (w *SstFileWriter) FileSize() uint64 { return w.info.FileSize }

// Close gives up a file that was not finished; what was written of it stays on
// disk. The writer may be used again.
func (w *SstFileWriter) Close() error {
	if w.builder != nil {
		w.builder.Abandon()
		w.builder = nil
	}
	return w.dropFile()
}

func (w *SstFileWriter) dropFile() error {
	if w.writer == nil {
		return nil
	}
	var opts rocksdb.IOOptions
	file.PrepareIOFromWriteOptions(&w.wo, &opts)
	err := w.writer.Close(&opts)
	w.writer = nil
	return err
}

// CreatedBySstFileWriter tells by a table's properties whether a SstFileWriter
// made it.
func CreatedBySstFileWriter(p *rocksdb.TableProperties) bool {
	_, ok := p.UserCollectedProperties[table.ExternalSstFileVersionProperty]
	return ok
}
