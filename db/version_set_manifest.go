// Port of db/version_set.{h,cc}, VersionSet and the writing of the MANIFEST.
// Differs: a failure while edits are grouped ends the whole group instead of
// leaving its writers waiting; the phases of one write are methods of a
// manifestBatch.

package db

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/memtable"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// FileQuarantine keeps files from being deleted while it is open whether the
// MANIFEST names them.
type FileQuarantine interface {
	AddFilesToQuarantine(numbers []uint64)
	ClearFilesToQuarantine()
}

// ObsoleteFileInfo is a table file that no version lists.
type ObsoleteFileInfo struct {
	Metadata *version.FileMetaData
	Path     string // the directory
	// OnlyDeleteMetadata: the file is listed elsewhere and stays.
	OnlyDeleteMetadata    bool
	UncacheAggressiveness uint32

	resMgr *cache.ConcurrentCacheReservationManager
}

// DeleteMetadata gives back what the metadata was charged.
func (o *ObsoleteFileInfo) DeleteMetadata() {
	if o.resMgr != nil && o.Metadata != nil {
		_ = o.resMgr.UpdateCacheReservationBy(-o.Metadata.ApproximateMemoryUsage()) // a decrease cannot fail
	}
	o.Metadata = nil
}

// ObsoleteBlobFileInfo is a blob file that no version lists.
type ObsoleteBlobFileInfo struct {
	BlobFileNumber uint64
	Path           string // the directory
}

// VersionSet holds the versions of all column families and the MANIFEST, their
// log. Fields without another comment are protected by the DB mutex; the
// MANIFEST itself is written by the front of the queue of writers alone, with
// the mutex released.
type VersionSet struct {
	dbname      string
	dbOptions   *options.ImmutableDBOptions
	fs          rocksdb.FileSystem
	clock       rocksdb.SystemClock
	fileOptions rocksdb.FileOptions
	tableCache  rocksdb.Cache
	cfs         *ColumnFamilySet
	wals        version.WalSet
	offpeak     options.OffpeakTimeOption
	quarantine  FileQuarantine // may be nil
	unchanging  bool           // the database cannot change; constant
	closed      bool
	dbID        string
	dbSessionID string

	// metadataCharges are by family, for those whose options charge metadata of
	// files to the block cache.
	metadataCharges map[uint32]*cache.ConcurrentCacheReservationManager

	nextFileNumber     atomic.Uint64
	minLogNumberToKeep atomic.Uint64
	// lastSequence is the last one visible, lastAllocated the last one given to
	// a writer, lastPublished the last one whose writes are published.
	lastSequence          atomic.Uint64
	lastAllocatedSequence atomic.Uint64
	lastPublishedSequence atomic.Uint64

	manifestFileNumber        uint64
	optionsFileNumber         uint64
	optionsFileSize           uint64
	pendingManifestFileNumber uint64
	prevLogNumber             uint64
	// descriptorLastSequence is the last sequence in the MANIFEST: those of its
	// records never fall.
	descriptorLastSequence rocksdb.SequenceNumber
	currentVersionNumber   uint64
	descriptorLog          *wal.Writer // nil makes the next write start a MANIFEST
	manifestWriters        []*manifestWriter

	manifestFileSize           uint64 // bytes
	manifestLastValidRecordEnd uint64 // where the records recovered end
	lastCompactedManifestSize  uint64
	tunedMaxManifestFileSize   uint64
	minMaxManifestFileSize     uint64
	maxManifestSpaceAmpPct     uint64
	manifestPreallocationSize  uint64
	verifyManifestOnClose      bool

	obsoleteFiles     []ObsoleteFileInfo
	obsoleteBlobFiles []ObsoleteBlobFileInfo
	obsoleteManifests []string
	ioStatus          error // of the last write of the MANIFEST
}

// VersionSetOptions are what NewVersionSet needs.
type VersionSetOptions struct {
	DBName             string
	DBOptions          *options.ImmutableDBOptions
	MutableDBOptions   *options.MutableDBOptions
	FileOptions        rocksdb.FileOptions
	TableCache         rocksdb.Cache
	WriteBufferManager rocksdb.WriteBufferManager
	WriteController    *writethread.WriteController
	DBID               string
	DBSessionID        string
	Quarantine         FileQuarantine                // may be nil
	Unchanging         bool                          // read-only
	BlockCacheTracer   *tracereplay.BlockCacheTracer // may be nil
}

// NewVersionSet makes a set without column families.
func NewVersionSet(o *VersionSetOptions) *VersionSet {
	vs := &VersionSet{
		dbname: o.DBName, dbOptions: o.DBOptions, fs: o.DBOptions.FS, clock: o.DBOptions.Clock,
		fileOptions: o.FileOptions, tableCache: o.TableCache, quarantine: o.Quarantine,
		unchanging: o.Unchanging, dbID: o.DBID, dbSessionID: o.DBSessionID,
		offpeak: options.NewOffpeakTimeOption(o.MutableDBOptions.DailyOffpeakTimeUTC),
	}
	vs.cfs = NewColumnFamilySet(o.DBName, o.DBOptions, o.FileOptions, o.TableCache, o.WriteBufferManager,
		o.WriteController, o.BlockCacheTracer, o.DBID, o.DBSessionID)
	vs.nextFileNumber.Store(2)
	vs.UpdatedMutableDBOptions(o.MutableDBOptions)
	return vs
}

// UpdatedMutableDBOptions takes over what options say of the MANIFEST and of
// opening tables.
func (vs *VersionSet) UpdatedMutableDBOptions(o *options.MutableDBOptions) {
	vs.cfs.UpdatedMutableDBOptions(o)
	vs.fileOptions.WritableFileMaxBufferSize = o.WritableFileMaxBufferSize
	vs.minMaxManifestFileSize = o.MaxManifestFileSize
	vs.maxManifestSpaceAmpPct = uint64(max(o.MaxManifestSpaceAmpPct, 0))
	vs.manifestPreallocationSize = o.ManifestPreallocationSize
	vs.verifyManifestOnClose = o.VerifyManifestContentOnClose
	vs.tuneMaxManifestFileSize()
}

// tuneMaxManifestFileSize lets the MANIFEST grow to a multiple of what it was
// when it was last written afresh, but not less than the option.
func (vs *VersionSet) tuneMaxManifestFileSize() {
	vs.tunedMaxManifestFileSize = max(vs.minMaxManifestFileSize,
		vs.lastCompactedManifestSize*(100+vs.maxManifestSpaceAmpPct)/100)
}

// manifestWriter waits in the queue for its edits to be written.
type manifestWriter struct {
	cfd        *ColumnFamilyData // nil for an edit that adds a family
	edits      []*version.VersionEdit
	cond       *sync.Cond
	done       bool
	err        error
	callback   func(error) // may be nil
	maxThreads int         // to open tables with
}

func (w *manifestWriter) isAllWalEdits() bool {
	for _, e := range w.edits {
		if !e.IsWalManipulation() {
			return false
		}
	}
	return true
}

// manifestWrite is one call of LogAndApply.
type manifestWrite struct {
	writers          []*manifestWriter
	mu               sync.Locker
	dir              rocksdb.FSDirectory // holds CURRENT; may be nil
	newDescriptorLog bool
	newCFOptions     *rocksdb.ColumnFamilyOptions
	readOptions      *rocksdb.ReadOptions
	writeOptions     *rocksdb.WriteOptions
	preCallback      func() error
}

// LogAndApply writes a family's edits to the MANIFEST and makes the resulting
// version current. The mutex is held, and released while it waits and writes;
// calls are taken in order, several at once where they can be.
func (vs *VersionSet) LogAndApply(r *LogAndApplyRequest) error {
	if len(r.Edits) == 0 {
		return nil
	}
	ro := rocksdb.DefaultReadOptions()
	return vs.logAndApply(&manifestWrite{
		writers: []*manifestWriter{{cfd: r.CFD, edits: r.Edits, callback: r.ManifestWritten, maxThreads: 1}},
		mu:      r.Mutex, dir: r.DBDirectory, newDescriptorLog: r.NewDescriptorLog, newCFOptions: r.NewCFOptions,
		readOptions: &ro, writeOptions: r.WriteOptions, preCallback: r.PreCallback,
	})
}

// LogAndApplyGroup is LogAndApply for several families: recovery finds all
// edits or none.
func (vs *VersionSet) LogAndApplyGroup(groups []EditsForFamily, mu sync.Locker, dir rocksdb.FSDirectory) error {
	return vs.LogAndApplyGroupOpening(groups, mu, dir, true, 1)
}

// LogAndApplyGroupOpening is LogAndApplyGroup that says how added tables are
// opened: whether blocks read meanwhile go to the block cache, and by how many
// goroutines at most.
func (vs *VersionSet) LogAndApplyGroupOpening(groups []EditsForFamily, mu sync.Locker, dir rocksdb.FSDirectory, fillCache bool, maxThreads int) error {
	n := 0
	for i := range groups {
		n += len(groups[i].Edits)
	}
	if n == 0 {
		return nil
	}
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = fillCache
	x := &manifestWrite{mu: mu, dir: dir, readOptions: &ro}
	left := n
	for i := range groups {
		g := &groups[i]
		if n > 1 {
			for _, e := range g.Edits {
				left--
				e.MarkAtomicGroup(uint32(left))
			}
		}
		x.writers = append(x.writers, &manifestWriter{cfd: g.CFD, edits: g.Edits, maxThreads: max(maxThreads, 1)})
	}
	return vs.logAndApply(x)
}

// LogAndApplyEach is LogAndApply for several families in one write that is not
// an atomic group; for recovery, whose edits may be replayed in part.
func (vs *VersionSet) LogAndApplyEach(groups []EditsForFamily, mu sync.Locker, dir rocksdb.FSDirectory) error {
	ro := rocksdb.DefaultReadOptions()
	x := &manifestWrite{mu: mu, dir: dir, readOptions: &ro}
	for i := range groups {
		x.writers = append(x.writers, &manifestWriter{cfd: groups[i].CFD, edits: groups[i].Edits, maxThreads: 1})
	}
	if len(x.writers) == 0 {
		return nil
	}
	return vs.logAndApply(x)
}

func (vs *VersionSet) logAndApply(x *manifestWrite) error {
	for _, w := range x.writers {
		w.cond = sync.NewCond(x.mu)
	}
	vs.manifestWriters = append(vs.manifestWriters, x.writers...)
	first := x.writers[0]
	syncpoint.Process("VersionSet::LogAndApply:BeforeWriterWaiting")
	for !first.done && first != vs.manifestWriters[0] {
		first.cond.Wait()
	}
	if first.done {
		syncpoint.ProcessArg("VersionSet::LogAndApply:WakeUpAndDone", x.mu)
		return first.err
	}
	syncpoint.ProcessArg("VersionSet::LogAndApply:WakeUpAndNotDone", x.mu)
	err := error(rocksdb.ErrColumnFamilyDropped)
	for _, w := range x.writers {
		if w.cfd == nil || !w.cfd.IsDropped() {
			err = nil
			break
		}
	}
	if err == nil && x.preCallback != nil {
		err = x.preCallback()
	}
	if err != nil {
		vs.manifestWriters = vs.manifestWriters[len(x.writers):]
		vs.WakeUpWaitingManifestWriters()
		return err
	}
	return vs.processManifestWrites(x)
}

// WakeUpWaitingManifestWriters wakes the front of the queue.
func (vs *VersionSet) WakeUpWaitingManifestWriters() {
	if len(vs.manifestWriters) > 0 {
		vs.manifestWriters[0].cond.Signal()
	}
}

// appendVersion makes v, which is complete, the current version of its family.
func (vs *VersionSet) appendVersion(cfd *ColumnFamilyData, v *Version) {
	v.storage.ComputeCompactionScore(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), string(cfd.GetFullHistoryTsLow()))
	v.storage.SetFinalized()
	if current := cfd.Current(); current != nil {
		current.Unref()
	}
	cfd.SetCurrent(v)
	v.Ref()
	head := cfd.DummyVersions()
	v.prev, v.next = head.prev, head
	v.prev.next, v.next.prev = v, v
}

// createColumnFamily adds the family that edit names, with an empty version
// and memtable.
func (vs *VersionSet) createColumnFamily(o *rocksdb.ColumnFamilyOptions, ro *rocksdb.ReadOptions, edit *version.VersionEdit, readOnly bool) *ColumnFamilyData {
	dummy := newVersion(nil, vs, nil, 0, version.EpochNumberMustPresent)
	dummy.Ref()
	cfd := vs.cfs.CreateColumnFamily(edit.GetColumnFamilyName(), edit.GetColumnFamily(), dummy, o, readOnly)
	vs.chargeMetadata(cfd)
	source := blob.NewBlobSource(cfd.IOptions(), cfd.GetLatestMutableCFOptions(), &vs.dbID, vs.dbSessionID,
		blob.NewBlobFileCache(vs.tableCache, cfd.IOptions(), vs.fileOptions, cfd.GetID(), nil))
	cfd.blobSource = source
	cfd.TableCache().SetBlobSource(source)
	v := newVersion(cfd, vs, cfd.GetLatestMutableCFOptions(), vs.takeVersionNumber(), version.EpochNumberMustPresent)
	v.PrepareAppend(ro, false)
	vs.appendVersion(cfd, v)
	cfd.CreateNewMemtable(vs.LastSequence())
	cfd.SetLogNumber(edit.GetLogNumber())
	return cfd
}

// chargeMetadata makes a family's files cost of the block cache, if its options
// ask for it.
func (vs *VersionSet) chargeMetadata(cfd *ColumnFamilyData) {
	f := cfd.GetLatestMutableCFOptions().TableFactory
	if f == nil {
		return
	}
	o, ok := f.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions)
	role := rocksdb.CacheEntryRoleFileMetadata
	if !ok || o.BlockCache == nil || o.CacheUsageOptions.OptionsOverrides[role].Charged != rocksdb.CacheEntryRoleEnabled {
		return
	}
	if vs.metadataCharges == nil {
		vs.metadataCharges = map[uint32]*cache.ConcurrentCacheReservationManager{}
	}
	vs.metadataCharges[cfd.GetID()] = cache.NewConcurrentCacheReservationManager(cache.NewCacheReservationManager(o.BlockCache, role, false))
}

func (vs *VersionSet) takeVersionNumber() uint64 {
	n := vs.currentVersionNumber
	vs.currentVersionNumber++
	return n
}

// dropColumnFamily marks cfd dropped and gives the set's reference back.
func (vs *VersionSet) dropColumnFamily(cfd *ColumnFamilyData) {
	cfd.SetDropped()
	var free []*memtable.MemTable
	cfd.UnrefLocked(&free)
	for _, m := range free {
		m.Free()
	}
}

// TESTCreateAndAppendVersion makes an empty version current.
func (vs *VersionSet) TESTCreateAndAppendVersion(cfd *ColumnFamilyData) {
	v := newVersion(cfd, vs, cfd.GetLatestMutableCFOptions(), 0, version.EpochNumberMustPresent)
	ro := rocksdb.DefaultReadOptions()
	v.PrepareAppend(&ro, false)
	vs.appendVersion(cfd, v)
}

// GetColumnFamilySet gives the families.
func (vs *VersionSet) GetColumnFamilySet() *ColumnFamilySet { return vs.cfs }

// DBOptions are the database's immutable options.
func (vs *VersionSet) DBOptions() *options.ImmutableDBOptions { return vs.dbOptions }

// FileOptions are how the database's files are opened.
func (vs *VersionSet) FileOptions() *rocksdb.FileOptions { return &vs.fileOptions }

// DBSessionID is this opening's id.
func (vs *VersionSet) DBSessionID() string { return vs.dbSessionID }

// DBID is the database's id as far as the set knows it.
func (vs *VersionSet) DBID() string { return vs.dbID }

// SetDBID sets the id that new MANIFESTs get.
func (vs *VersionSet) SetDBID(id string) { vs.dbID = id }

// Unchanging tells whether the database cannot change.
func (vs *VersionSet) Unchanging() bool { return vs.unchanging }

// IOStatus is the error of the last write of the MANIFEST.
func (vs *VersionSet) IOStatus() error { return vs.ioStatus }

// GetWalSet is the set of WALs that the MANIFEST tracks.
func (vs *VersionSet) GetWalSet() *version.WalSet { return &vs.wals }

// ManifestFileNumber is the number of the current MANIFEST.
func (vs *VersionSet) ManifestFileNumber() uint64 { return vs.manifestFileNumber }

// PendingManifestFileNumber is that of one being written, 0 for none.
func (vs *VersionSet) PendingManifestFileNumber() uint64 { return vs.pendingManifestFileNumber }

// ManifestFileSize is the size of the current MANIFEST, in bytes.
func (vs *VersionSet) ManifestFileSize() uint64 { return vs.manifestFileSize }

// OptionsFileNumber is the number of the latest OPTIONS file.
func (vs *VersionSet) OptionsFileNumber() uint64 { return vs.optionsFileNumber }

// OptionsFileSize is its size in bytes.
func (vs *VersionSet) OptionsFileSize() uint64 { return vs.optionsFileSize }

// SetOptionsFile sets both.
func (vs *VersionSet) SetOptionsFile(number, size uint64) {
	vs.optionsFileNumber, vs.optionsFileSize = number, size
}

// CurrentNextFileNumber is the next number to be given out.
func (vs *VersionSet) CurrentNextFileNumber() uint64 { return vs.nextFileNumber.Load() }

// NewFileNumber gives out a number. No lock is needed.
func (vs *VersionSet) NewFileNumber() uint64 { return vs.nextFileNumber.Add(1) - 1 }

// FetchAddFileNumber gives out n numbers, of which it returns the first.
func (vs *VersionSet) FetchAddFileNumber(n uint64) uint64 { return vs.nextFileNumber.Add(n) - n }

// MarkFileNumberUsed keeps number from being given out. During recovery only.
func (vs *VersionSet) MarkFileNumberUsed(number uint64) {
	if vs.nextFileNumber.Load() <= number {
		vs.nextFileNumber.Store(number + 1)
	}
}

// MinLogNumberToKeep is the least WAL that two-phase commit needs.
func (vs *VersionSet) MinLogNumberToKeep() uint64 { return vs.minLogNumberToKeep.Load() }

// MarkMinLogNumberToKeep raises it.
func (vs *VersionSet) MarkMinLogNumberToKeep(number uint64) {
	if vs.minLogNumberToKeep.Load() < number {
		vs.minLogNumberToKeep.Store(number)
	}
}

// PrevLogNumber is what LevelDB left; 0 otherwise.
func (vs *VersionSet) PrevLogNumber() uint64 { return vs.prevLogNumber }

// LastSequence is the last visible sequence number. No lock is needed.
func (vs *VersionSet) LastSequence() rocksdb.SequenceNumber { return vs.lastSequence.Load() }

// SetLastSequence raises it.
func (vs *VersionSet) SetLastSequence(s rocksdb.SequenceNumber) { vs.lastSequence.Store(s) }

// LastAllocatedSequence is the last number given to a writer.
func (vs *VersionSet) LastAllocatedSequence() rocksdb.SequenceNumber {
	return vs.lastAllocatedSequence.Load()
}

// SetLastAllocatedSequence raises it.
func (vs *VersionSet) SetLastAllocatedSequence(s rocksdb.SequenceNumber) {
	vs.lastAllocatedSequence.Store(s)
}

// FetchAddLastAllocatedSequence gives out n numbers; it returns the last one
// before them.
func (vs *VersionSet) FetchAddLastAllocatedSequence(n uint64) rocksdb.SequenceNumber {
	return vs.lastAllocatedSequence.Add(n) - n
}

// LastPublishedSequence is the last number whose writes are published.
func (vs *VersionSet) LastPublishedSequence() rocksdb.SequenceNumber {
	return vs.lastPublishedSequence.Load()
}

// SetLastPublishedSequence raises it.
func (vs *VersionSet) SetLastPublishedSequence(s rocksdb.SequenceNumber) {
	vs.lastPublishedSequence.Store(s)
}

// SetAllSequences makes s the last number allocated, published and visible, where
// nobody writes.
func (vs *VersionSet) SetAllSequences(s rocksdb.SequenceNumber) {
	vs.SetLastAllocatedSequence(s)
	vs.SetLastPublishedSequence(s)
	vs.SetLastSequence(s)
}

// SyncLastSequenceWithAllocated makes everything allocated visible.
func (vs *VersionSet) SyncLastSequenceWithAllocated() {
	if a := vs.lastAllocatedSequence.Load(); a > vs.lastSequence.Load() {
		vs.lastSequence.Store(a)
	}
}

// MinLogNumberWithUnflushedData is the least WAL with data that is in no table,
// leaving out the families of skip (may be nil).
func (vs *VersionSet) MinLogNumberWithUnflushedData(skip map[*ColumnFamilyData]bool) uint64 {
	least := uint64(math.MaxUint64)
	for _, cfd := range vs.cfs.All() {
		if !skip[cfd] && !cfd.IsDropped() {
			least = min(least, cfd.GetLogNumber())
		}
	}
	return least
}

// PreComputeMinLogNumberWithUnflushedData is that number once the empty
// families' log number is newLogNumberForEmptyCF.
func (vs *VersionSet) PreComputeMinLogNumberWithUnflushedData(newLogNumberForEmptyCF uint64) uint64 {
	least := uint64(math.MaxUint64)
	for _, cfd := range vs.cfs.All() {
		if cfd.IsDropped() {
			continue
		}
		n := cfd.GetLogNumber()
		if cfd.IsEmpty() {
			n = newLogNumberForEmptyCF
		}
		least = min(least, n)
	}
	return least
}

// OffpeakTimeOption is the daily off-peak hours of new versions.
func (vs *VersionSet) OffpeakTimeOption() options.OffpeakTimeOption { return vs.offpeak }

// TestManifestOptions is what the options say of the MANIFEST: its least size in
// bytes before it is written afresh, how much it may grow in percent, and how
// many bytes are preallocated.
func (vs *VersionSet) TestManifestOptions() (minMaxSize, maxSpaceAmpPct, preallocation uint64) {
	return vs.minMaxManifestFileSize, vs.maxManifestSpaceAmpPct, vs.manifestPreallocationSize
}

// ChangeOffpeakTimeOption sets the daily off-peak hours for new versions.
func (vs *VersionSet) ChangeOffpeakTimeOption(text string) {
	vs.offpeak.SetFromOffpeakTimeString(text)
}

func (vs *VersionSet) fileOptionsForManifestWrite() rocksdb.FileOptions {
	o := *vs.fs.OptimizeForManifestWrite(&vs.fileOptions)
	if vs.fileOptions.Temperature != rocksdb.TemperatureUnknown {
		o.Temperature = vs.fileOptions.Temperature
	}
	return o
}

// createManifestWriter appends to f, which holds size bytes already.
func (vs *VersionSet) createManifestWriter(f rocksdb.FSWritableFile, name string, fo *rocksdb.FileOptions, size uint64) *wal.Writer {
	f.SetPreallocationBlockSize(int(vs.manifestPreallocationSize))
	verify := vs.dbOptions.ChecksumHandoffFileTypes.Contains(rocksdb.DescriptorFile)
	w := file.NewWritableFileWriter(f, name, fo, &file.WriterOptions{Clock: vs.clock, Listeners: vs.dbOptions.Listeners,
		PerformDataVerification: verify, BufferedDataWithChecksum: verify, InitialFileSize: size})
	return wal.NewWriter(w, wal.WriterOptions{InitialBlockOffset: int(size % wal.BlockSize)})
}

// Destroy lets go of all families and open tables; after Close.
func (vs *VersionSet) Destroy() {
	vs.dropAllFamilies()
	for i := range vs.obsoleteFiles {
		// The files are not obsolete, only unlisted from now on: their blocks
		// stay in the block cache.
		tablecache.ReleaseObsolete(vs.tableCache, vs.obsoleteFiles[i].Metadata, 0)
		vs.obsoleteFiles[i].DeleteMetadata()
	}
	vs.obsoleteFiles = nil
	vs.obsoleteBlobFiles = nil
	if vs.descriptorLog != nil {
		_ = vs.descriptorLog.Close(nil)
		vs.descriptorLog = nil
	}
}

func (vs *VersionSet) dropAllFamilies() {
	var free []*memtable.MemTable
	for _, cfd := range append([]*ColumnFamilyData(nil), vs.cfs.All()...) {
		cfd.UnrefLocked(&free)
	}
	for _, m := range free {
		m.Free()
	}
}

// reset forgets all that was recovered, for an attempt with another MANIFEST.
func (vs *VersionSet) reset() {
	old := vs.cfs
	vs.dropAllFamilies()
	for i := range vs.obsoleteFiles {
		tablecache.ReleaseObsolete(vs.tableCache, vs.obsoleteFiles[i].Metadata, 0)
	}
	// Tables refer to the options of their family.
	vs.tableCache.EraseUnRefEntries()
	vs.cfs = NewColumnFamilySet(vs.dbname, vs.dbOptions, vs.fileOptions, vs.tableCache, old.writeBufferManager,
		old.writeController, old.blockCacheTracer, vs.dbID, vs.dbSessionID)
	vs.cfs.mutableDBOptions = old.mutableDBOptions
	vs.dbID = ""
	vs.nextFileNumber.Store(2)
	vs.minLogNumberToKeep.Store(0)
	vs.lastSequence.Store(0)
	vs.lastAllocatedSequence.Store(0)
	vs.lastPublishedSequence.Store(0)
	vs.manifestFileNumber, vs.optionsFileNumber, vs.pendingManifestFileNumber, vs.prevLogNumber = 0, 0, 0, 0
	vs.descriptorLog = nil
	vs.currentVersionNumber = 0
	vs.manifestWriters = nil
	vs.manifestFileSize, vs.manifestLastValidRecordEnd, vs.lastCompactedManifestSize = 0, 0, 0
	vs.tuneMaxManifestFileSize()
	vs.obsoleteFiles, vs.obsoleteBlobFiles, vs.obsoleteManifests = nil, nil, nil
	vs.wals.Reset()
}

// manifestName is the path of a MANIFEST.
func (vs *VersionSet) manifestName(number uint64) string {
	return filename.DescriptorFileName(vs.dbname, number)
}
