// Port of db/repair.cc: tables, WALs, blob files. Differs: see repair.go.

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
)

// repairerDBID is what tables made of WALs name as their database.
const repairerDBID = "DB Repairer"

// keepEverything is a snapshot checker that lets nothing go.
type keepEverything struct{}

func (keepEverything) CheckInSnapshot(_, _ rocksdb.SequenceNumber) dbformat.SnapshotCheckerResult {
	return dbformat.SnapshotCheckerNotInSnapshot
}

// examine reads the properties of tables, the WALs' batches, and the ends of
// blob files, and refuses what would come out wrong.
func (r *repairer) examine() error {
	d := r.d
	def := db.SanitizeColumnFamilyOptions(d.immutable, false, r.def)
	io := options.ImmutableOptions{ImmutableDBOptions: *d.immutable, ImmutableCFOptions: options.NewImmutableCFOptions(&def)}
	mo := options.NewMutableCFOptions(&def)
	cache := tablecache.New(&io, dbformat.NewInternalKeyComparator(io.UserComparator), d.fileOptions, d.tableCache, d.sessionID)
	ro := rocksdb.DefaultReadOptions()
	for _, t := range r.tables {
		size, err := d.fs.GetFileSize(t.path, rocksdb.NewIOOptions())
		if err == nil {
			t.meta.FD.FileSize = size
			r.fillFromManifest(t)
			t.props, err = cache.GetTableProperties(&ro, t.meta, &mo, false)
		}
		cache.Evict(t.meta.FD.GetNumber())
		if err != nil {
			logging.Warn(d.infoLog, "Table #%d: %v", t.meta.FD.GetNumber(), err)
			continue
		}
		t.known = true
		if err := r.checkComparator(t.path, t.props.ColumnFamilyName, t.props.ComparatorName); err != nil {
			return err
		}
	}
	for _, f := range r.old.Families {
		if err := r.checkComparator(d.dbName, f.Name, f.Comparator); err != nil {
			return err
		}
	}
	for _, n := range r.wals {
		if err := r.readWAL(n, r.noteFamilies); err != nil {
			return err
		}
	}
	for _, b := range r.blobs {
		r.examineBlobFile(b)
	}
	return nil
}

// fillFromManifest takes over what only the old MANIFEST knows of a table: the
// sequence number of an ingested one, its checksum and temperature.
func (r *repairer) fillFromManifest(t *repairedTable) {
	f := r.old.Tables[t.meta.FD.GetNumber()]
	if f == nil || f.FD.FileSize != t.meta.FD.FileSize {
		return
	}
	t.meta.FD.LargestSeqno = f.FD.LargestSeqno
	t.meta.FileChecksum, t.meta.FileChecksumFuncName = f.FileChecksum, f.FileChecksumFuncName
	t.meta.Temperature = f.Temperature
}

func (r *repairer) examineBlobFile(b *repairedBlobFile) {
	d := r.d
	data, size, err := readEnds(d.fs, b.path, blobformat.BlobLogHeaderSize, blobformat.BlobLogFooterSize)
	var h blobformat.BlobLogHeader
	var f blobformat.BlobLogFooter
	if err == nil {
		err = h.DecodeFrom(data[:blobformat.BlobLogHeaderSize])
	}
	if err == nil {
		err = f.DecodeFrom(data[blobformat.BlobLogHeaderSize:])
	}
	if err != nil {
		logging.Warn(d.infoLog, "Blob file #%d: %v", b.number, err)
		return
	}
	b.whole = true
	b.columnFamilyID = h.ColumnFamilyID
	bytes := size - blobformat.BlobLogHeaderSize - blobformat.BlobLogFooterSize
	b.addition = blobformat.NewBlobFileAddition(b.number, f.BlobCount, bytes, "", "")
	if old, ok := r.old.Blobs[b.number]; ok && old.GetTotalBlobCount() == f.BlobCount && old.GetTotalBlobBytes() == bytes {
		b.addition = old
	}
}

// readEnds gives the first and last bytes of a file, and its size.
func readEnds(fs rocksdb.FileSystem, path string, first, last int) (data []byte, size uint64, err error) {
	if size, err = fs.GetFileSize(path, rocksdb.NewIOOptions()); err != nil {
		return nil, 0, err
	}
	if size < uint64(first+last) {
		return nil, 0, rocksdb.AsStatus(rocksdb.Corruption("Malformed blob file")).In(path)
	}
	raw, err := fs.NewRandomAccessFile(path, &rocksdb.FileOptions{})
	if err != nil {
		return nil, 0, err
	}
	f := file.NewRandomAccessFileReader(raw, path, &file.ReaderOptions{})
	defer f.Close()
	for _, part := range []struct {
		at uint64
		n  int
	}{{0, first}, {size - uint64(last), last}} {
		buf := make([]byte, part.n)
		got, err := f.Read(rocksdb.NewIOOptions(), part.at, part.n, buf, nil)
		if err != nil {
			return nil, 0, err
		}
		if len(got) != part.n {
			return nil, 0, rocksdb.AsStatus(rocksdb.Corruption("Malformed blob file")).InAt(path, part.at)
		}
		data = append(data, got...)
	}
	return data, size, nil
}

// blobsToKeep chooses the blob files that a family's tables may need. The
// others, which the next opening would delete, are moved away.
func (r *repairer) blobsToKeep(tables map[uint32][]*version.FileMetaData) map[uint32][]*repairedBlobFile {
	kept := map[uint32][]*repairedBlobFile{}
	for _, b := range r.blobs {
		oldest := uint64(blobformat.InvalidBlobFileNumber)
		for _, f := range tables[b.columnFamilyID] {
			if n := f.OldestBlobFileNumber; n != blobformat.InvalidBlobFileNumber && (oldest == blobformat.InvalidBlobFileNumber || n < oldest) {
				oldest = n
			}
		}
		if !b.whole || oldest == blobformat.InvalidBlobFileNumber || b.number < oldest || b.addition.GetTotalBlobCount() == 0 {
			r.archive(b.path)
			continue
		}
		kept[b.columnFamilyID] = append(kept[b.columnFamilyID], b)
	}
	return kept
}

// scanTables reads tables through; those that cannot be read are moved away.
func (r *repairer) scanTables(tables []*repairedTable) error {
	for _, t := range tables {
		err := r.scanTable(t)
		if err == nil {
			r.good = append(r.good, t)
			continue
		}
		logging.Warn(r.d.infoLog, "Table #%d: ignoring %v", t.meta.FD.GetNumber(), err)
		r.archive(t.path)
	}
	return nil
}

// scanTable fills in a table's metadata and makes its family where needed. The
// DB mutex is held.
func (r *repairer) scanTable(t *repairedTable) error {
	d, m := r.d, t.meta
	size, err := d.fs.GetFileSize(t.path, rocksdb.NewIOOptions())
	if err != nil {
		return err
	}
	m.FD.FileSize = size
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek, ro.FillCache = true, false
	if t.props == nil {
		def := d.families.GetDefault()
		if t.props, err = def.TableCache().GetTableProperties(&ro, m, def.GetLatestMutableCFOptions(), false); err != nil {
			return err
		}
		def.TableCache().Evict(m.FD.GetNumber())
	}
	p := t.props
	if id, err := uniqueid.GetSstInternalUniqueId(p.DBID, p.DBSessionID, p.OrigFileNumber, false); err == nil {
		m.UniqueID = id.Standard()
	} else {
		logging.Warn(d.infoLog, "Table #%d: unable to get unique id, default to Unknown.", m.FD.GetNumber())
	}
	name := p.ColumnFamilyName
	t.columnFamilyID = uint32(p.ColumnFamilyID)
	if p.ColumnFamilyID >= uint64(rocksdb.UnknownColumnFamily) {
		logging.Warn(d.infoLog, "Table #%d: column family unknown (probably due to legacy format); adding to default column family id 0.", m.FD.GetNumber())
		t.columnFamilyID, name = 0, rocksdb.DefaultColumnFamilyName
	}
	cfd := d.families.GetColumnFamily(t.columnFamilyID)
	if cfd == nil {
		if err := r.addFamily(name, t.columnFamilyID); err != nil {
			return err
		}
		cfd = d.families.GetColumnFamily(t.columnFamilyID)
	}
	if cfd.GetName() != name {
		logging.Error(d.infoLog, "Table #%d: inconsistent column family name '%s'; expected '%s' for column family id %d.",
			m.FD.GetNumber(), name, cfd.GetName(), t.columnFamilyID)
		return rocksdb.Corruption(d.dbName, "inconsistent column family name")
	}
	m.OldestAncesterTime = p.CreationTime
	m.UserDefinedTimestampsPersisted = p.UserDefinedTimestampsPersisted != 0
	m.TailSize = version.CalculateTailSize(size, p)
	db.ExtractTimestampFromTableProperties(p, m)
	if err := r.scanPoints(cfd, m, &ro); err != nil {
		return err
	}
	if err := r.scanTombstones(cfd, m, &ro); err != nil {
		return err
	}
	if !m.Smallest.Valid() {
		return rocksdb.AsStatus(rocksdb.Corruption("no readable entry")).In(t.path)
	}
	return nil
}

func (r *repairer) scanPoints(cfd *db.ColumnFamilyData, m *version.FileMetaData, ro *rocksdb.ReadOptions) (err error) {
	d := r.d
	points := *ro
	points.IgnoreRangeDeletions = true
	it := cfd.TableCache().NewIterator(&points, m, cfd.GetLatestMutableCFOptions(),
		&tablecache.IteratorOptions{OpenOptions: tablecache.OpenOptions{Level: -1}, Caller: rocksdb.CallerRepair})
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	count := 0
	for it.SeekToFirst(); it.Valid() && err == nil; it.Next() {
		k, e := dbformat.ParseInternalKey(it.Key(), d.immutable.AllowDataInErrors)
		if e != nil {
			logging.Error(d.infoLog, "Table #%d: unparsable key - %s", m.FD.GetNumber(), rocksdb.AsStatus(e).Message)
			continue
		}
		count++
		err = m.UpdateBoundaries(it.Key(), it.Value(), k.Sequence, k.Type)
	}
	if err == nil {
		err = it.Status()
	}
	logging.Info(d.infoLog, "Table #%d: %d entries %s", m.FD.GetNumber(), count, statusText(err))
	return err
}

// scanTombstones widens the bounds by range tombstones, as if the table were a
// whole sorted run.
func (r *repairer) scanTombstones(cfd *db.ColumnFamilyData, m *version.FileMetaData, ro *rocksdb.ReadOptions) error {
	it, err := cfd.TableCache().GetRangeTombstoneIterator(ro, m, cfd.GetLatestMutableCFOptions())
	if err != nil || it == nil {
		return err
	}
	for it.SeekToFirst(); it.Valid(); it.Next() {
		t := it.Tombstone()
		start, _ := t.Serialize()
		m.UpdateBoundariesForRange(start, t.SerializeEndKey(), t.Seq, cfd.InternalComparator())
	}
	return nil
}

// repairReporter writes what a WAL's reader drops to the info log.
type repairReporter struct {
	log    rocksdb.Logger
	number uint64
}

func (p repairReporter) Corruption(bytes int, err error, number uint64) {
	if number == wal.NoLogNumber {
		number = p.number
	}
	logging.Error(p.log, "Log #%d: dropping %d bytes; %v", number, bytes, err)
}

func (repairReporter) OldLogRecord(int) {}

// readWAL gives the batches of a WAL to use, with the sizes of timestamps
// recorded so far. Damaged records are passed over; an error is use's.
func (r *repairer) readWAL(number uint64, use func(number uint64, b *writebatch.WriteBatch, tsSizes map[uint32]uint16) error) error {
	d := r.d
	path := filename.LogFileName(d.immutable.GetWalDir(), number)
	f, err := file.CreateSequentialFileReader(d.fs, path, d.fs.OptimizeForLogRead(&d.fileOptions), nil)
	if err != nil {
		logging.Warn(d.infoLog, "Log #%d: ignoring conversion error: %v", number, err)
		return nil
	}
	report := repairReporter{d.infoLog, number}
	reader := wal.NewReader(f, wal.ReaderOptions{InfoLog: d.infoLog, Reporter: report, Checksum: true, LogNumber: number})
	defer reader.Close()
	batch := writebatch.New()
	for {
		record, ok := reader.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if !ok {
			return nil
		}
		if len(record) < writebatch.HeaderSize {
			report.Corruption(len(record), rocksdb.Corruption("log record too small"), wal.NoLogNumber)
			continue
		}
		if err := batch.SetContents(record); err != nil {
			logging.Warn(d.infoLog, "Log #%d: ignoring %v", number, err)
			continue
		}
		if err := use(number, batch, reader.GetRecordedTimestampSize()); err != nil {
			return err
		}
	}
}

// noteFamilies collects the families of a batch.
func (r *repairer) noteFamilies(number uint64, b *writebatch.WriteBatch, _ map[uint32]uint16) error {
	h := &batchFamilies{ids: r.walFamilies}
	if err := b.Iterate(h); err != nil {
		logging.Warn(r.d.infoLog, "Log #%d: %v", number, err) // it is passed over later
	}
	if h.prepared {
		// Whether such a transaction was committed, no table says.
		path := filename.LogFileName(r.d.immutable.GetWalDir(), number)
		return rocksdb.AsStatus(rocksdb.NotSupported("RepairDB of a WAL with prepared transactions")).In(path)
	}
	return nil
}

// convertWALs writes a table for each family that a WAL has entries of.
func (r *repairer) convertWALs() (made []*repairedTable, err error) {
	d := r.d
	dir := d.immutable.GetWalDir()
	for _, n := range r.wals {
		if made, err = r.convertWAL(n, made); err != nil {
			return made, err
		}
		r.archive(filename.LogFileName(dir, n))
	}
	return made, nil
}

func (r *repairer) convertWAL(number uint64, made []*repairedTable) ([]*repairedTable, error) {
	d := r.d
	for _, cfd := range d.families.All() {
		cfd.CreateNewMemtable(dbformat.MaxSequenceNumber)
	}
	ops := 0
	err := r.readWAL(number, func(number uint64, b *writebatch.WriteBatch, tsSizes map[uint32]uint16) error {
		err := r.checkTimestampSizes(b, tsSizes)
		if err == nil {
			in := db.MemTableInserter{Families: d.families, Sequence: b.Sequence(), IgnoreMissingColumnFamilies: true, RecoveringLogNumber: number}
			err = in.Insert(b)
		}
		if err != nil {
			logging.Warn(d.infoLog, "Log #%d: ignoring %v", number, err)
			return nil
		}
		ops += int(b.Count())
		return nil
	})
	if err != nil {
		return made, err
	}
	for _, cfd := range d.families.All() {
		if cfd.Mem().IsEmpty() {
			continue
		}
		// The WAL is not moved away unless all that it holds is in tables.
		t, err := r.writeTable(cfd)
		logging.Info(d.infoLog, "Log #%d: %d ops saved to Table #%d %s", number, ops, t.meta.FD.GetNumber(), statusText(err))
		if err != nil {
			return made, err
		}
		if t.meta.FD.GetFileSize() > 0 {
			made = append(made, t)
		}
		cfd.CreateNewMemtable(dbformat.MaxSequenceNumber)
	}
	return made, nil
}

// checkTimestampSizes refuses a batch whose families had timestamps of another
// size when it was written.
func (r *repairer) checkTimestampSizes(b *writebatch.WriteBatch, recorded map[uint32]uint16) error {
	_, err := writebatch.HandleWriteBatchTimestampSizeDifference(b, r.d.runningTimestampSizes(), recorded, writebatch.VerifyConsistency)
	return err
}

// writeTable writes a family's memtable out whole.
func (r *repairer) writeTable(cfd *db.ColumnFamilyData) (*repairedTable, error) {
	d := r.d
	mem := cfd.Mem()
	t := &repairedTable{meta: version.NewFileMetaData()}
	t.meta.FD.Set(d.versions.NewFileNumber(), 0, 0, t.meta.FD.SmallestSeqno, t.meta.FD.LargestSeqno)
	t.path = filename.TableFileName(cfd.IOptions().CFPaths, t.meta.FD.GetNumber(), 0)
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	it := mem.NewIterator(&ro, nil, nil)
	defer it.Close()
	var tombstones []*rangedel.FragmentedRangeTombstoneIterator
	rd, err := mem.NewRangeTombstoneIterator(&ro, dbformat.MaxSequenceNumber, false)
	if err != nil {
		return t, err
	}
	if rd != nil {
		tombstones = append(tombstones, rd)
	}
	seconds, err := d.clock.GetCurrentTime()
	if err != nil {
		seconds = 0
	}
	now := uint64(seconds)
	t.meta.FileCreationTime = now
	mo := *cfd.GetLatestMutableCFOptions()
	mo.ParanoidFileChecks = false
	d.mu.Unlock()
	err = db.BuildTable(&db.BuildTableArgs{
		DBName: d.dbName, DBOptions: d.immutable, CFD: cfd, FileOptions: d.fileOptions, MutableCFOptions: &mo,
		Iter: it, RangeTombstones: tombstones, Meta: t.meta, Compression: rocksdb.NoCompression,
		EarliestWriteConflictSnapshot: dbformat.MaxSequenceNumber, JobSnapshot: dbformat.MaxSequenceNumber, SnapshotChecker: keepEverything{},
		Reason: rocksdb.TableFileCreationReasonRecovery, OldestKeyTime: 0, CurrentTime: now,
		DBID: repairerDBID, SessionID: d.sessionID, Priority: rocksdb.IOHigh, ReadOptions: &ro,
	})
	d.mu.Lock()
	size := t.meta.FD.GetFileSize()
	cfd.TableCache().Evict(t.meta.FD.GetNumber())
	// Scanning starts over, from the file.
	fresh := version.NewFileMetaData()
	fresh.FD.Set(t.meta.FD.GetNumber(), 0, size, fresh.FD.SmallestSeqno, fresh.FD.LargestSeqno)
	fresh.FileChecksum, fresh.FileChecksumFuncName = t.meta.FileChecksum, t.meta.FileChecksumFuncName
	fresh.FileCreationTime = now
	t.meta = fresh
	return t, err
}

// batchFamilies notes the families of a batch's entries.
type batchFamilies struct {
	writebatch.HandlerBase
	ids      map[uint32]bool
	prepared bool
}

func (h *batchFamilies) note(id uint32) error {
	h.ids[id] = true
	return nil
}

// PutCF implements writebatch.Handler, as do the methods below.
func (h *batchFamilies) PutCF(id uint32, _, _ []byte) error                { return h.note(id) }
func (h *batchFamilies) TimedPutCF(id uint32, _, _ []byte, _ uint64) error { return h.note(id) }
func (h *batchFamilies) PutEntityCF(id uint32, _, _ []byte) error          { return h.note(id) }
func (h *batchFamilies) DeleteCF(id uint32, _ []byte) error                { return h.note(id) }
func (h *batchFamilies) SingleDeleteCF(id uint32, _ []byte) error          { return h.note(id) }
func (h *batchFamilies) DeleteRangeCF(id uint32, _, _ []byte) error        { return h.note(id) }
func (h *batchFamilies) MergeCF(id uint32, _, _ []byte) error              { return h.note(id) }
func (h *batchFamilies) PutBlobIndexCF(id uint32, _, _ []byte) error       { return h.note(id) }
func (h *batchFamilies) MarkNoop(bool) error                               { return nil }
func (h *batchFamilies) MarkBeginPrepare(bool) error                       { return h.transaction() }
func (h *batchFamilies) MarkEndPrepare([]byte) error                       { return h.transaction() }
func (h *batchFamilies) MarkRollback([]byte) error                         { return h.transaction() }
func (h *batchFamilies) MarkCommit([]byte) error                           { return h.transaction() }
func (h *batchFamilies) MarkCommitWithTimestamp(_, _ []byte) error         { return h.transaction() }

func (h *batchFamilies) transaction() error {
	h.prepared = true
	return nil
}
