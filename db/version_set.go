// Port of db/version_set.{h,cc}, Version. Differs: a Version is counted under
// the DB mutex and never freed by hand; Get takes its many outputs as one
// struct, which the caller keeps.

package db

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

const tablecacheInfinite = tablecache.InfiniteCapacity

// Version is the set of files of a column family at one time. What it refers
// to does not change, apart from compaction scores and marks. References are
// counted under the DB mutex; with the last one, files that no other version
// lists become obsolete.
type Version struct {
	cfd     *ColumnFamilyData // nil for the head of a list
	vset    *VersionSet
	storage *version.StorageInfo
	next    *Version // the family's versions, in a ring
	prev    *Version
	refs    int

	fileOptions             rocksdb.FileOptions
	mutableCFOptions        *options.MutableCFOptions
	maxFileSizeForL0MetaPin uint64 // bytes
	versionNumber           uint64
	// blobs reads blob files; nil for the head of a list.
	blobs *blob.BlobSource
}

// newVersion makes a version without files and without a reference. A nil cfd
// makes the head of a list.
func newVersion(cfd *ColumnFamilyData, vset *VersionSet, mo *options.MutableCFOptions, number uint64,
	req version.EpochNumberRequirement) *Version {
	v := &Version{cfd: cfd, vset: vset, fileOptions: vset.fileOptions, mutableCFOptions: mo, versionNumber: number}
	v.next, v.prev = v, v
	o := version.StorageInfoOptions{Clock: vset.clock, EpochNumberRequirement: req, OffpeakTimeOption: vset.offpeak}
	if cfd != nil {
		io := cfd.IOptions()
		o.InternalComparator = cfd.InternalComparator()
		o.NumLevels = cfd.NumberLevels()
		o.CompactionStyle = io.CompactionStyle
		o.ForceConsistencyChecks = io.ForceConsistencyChecks
		if cur := cfd.Current(); cur != nil {
			o.Ref = cur.storage
		}
		o.BottommostFileCompactionDelay = mo.BottommostFileCompactionDelay
		v.maxFileSizeForL0MetaPin = options.MaxFileSizeForL0MetaPin(mo)
		v.blobs = cfd.blobSource
	}
	v.storage = version.NewStorageInfo(o)
	return v
}

// Ref counts a reference; the DB mutex is held.
func (v *Version) Ref() { v.refs++ }

// Unref gives a reference back and tells whether it was the last; the DB mutex
// is held.
func (v *Version) Unref() bool {
	v.refs--
	if v.refs > 0 {
		return false
	}
	v.release()
	return true
}

// release takes the version out of its list and lets go of its files.
func (v *Version) release() {
	v.prev.next, v.next.prev = v.next, v.prev
	for level := range v.storage.NumLevels() {
		for _, f := range v.storage.LevelFiles(level) {
			f.Refs--
			if f.Refs > 0 {
				continue
			}
			var aggressiveness uint32
			if sv := v.cfd.GetSuperVersion(); sv != nil { // nil while closing
				aggressiveness = sv.MutableCFOptions.UncacheAggressiveness
			}
			v.vset.obsoleteFiles = append(v.vset.obsoleteFiles, ObsoleteFileInfo{
				Metadata: f, Path: pathOf(v.cfd.IOptions().CFPaths, f), UncacheAggressiveness: aggressiveness,
				resMgr: v.vset.metadataCharges[v.cfd.GetID()]})
		}
	}
	v.storage.ReleaseBlobFiles()
}

// pathOf is the directory of a file; the last one when its id is not
// configured any more.
func pathOf(paths []rocksdb.DBPath, f *version.FileMetaData) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[min(int(f.FD.GetPathId()), len(paths)-1)].Path
}

// CFD is the family.
func (v *Version) CFD() *ColumnFamilyData { return v.cfd }

// StorageInfo is the shape of the files.
func (v *Version) StorageInfo() *version.StorageInfo { return v.storage }

// VersionSet is the set that the version belongs to.
func (v *Version) VersionSet() *VersionSet { return v.vset }

// GetVersionNumber numbers the versions of a database.
func (v *Version) GetVersionNumber() uint64 { return v.versionNumber }

// GetMutableCFOptions are the options the version was made under.
func (v *Version) GetMutableCFOptions() *options.MutableCFOptions { return v.mutableCFOptions }

// Next is the next newer version of the family, or the head of the list.
func (v *Version) Next() *Version { return v.next }

// TESTRefs is the number of references.
func (v *Version) TESTRefs() int { return v.refs }

// PrepareAppend computes what is derived from the files. With updateStats it
// also reads properties of new files, for their counts of deletions. The DB
// mutex need not be held.
func (v *Version) PrepareAppend(ro *rocksdb.ReadOptions, updateStats bool) {
	if updateStats {
		v.updateAccumulatedStats(ro)
	}
	v.storage.PrepareForVersionAppend(v.cfd.IOptions(), v.mutableCFOptions)
}

// maxInitCount bounds the table properties read for one new version when not
// all files are open.
const maxInitCount = 20

// updateAccumulatedStats samples files from level 0 down: their counts make
// compensated sizes right, which moves deletions, and so the sampling, on to
// the levels below.
func (v *Version) updateAccumulatedStats(ro *rocksdb.ReadOptions) {
	allOpen := v.vset.tableCache.GetCapacity() >= tablecacheInfinite
	count := 0
	for level := 0; level < v.storage.NumLevels() && count < maxInitCount; level++ {
		for _, f := range v.storage.LevelFiles(level) {
			if !v.maybeInitializeFileMetaData(ro, f) {
				continue
			}
			v.storage.UpdateAccumulatedStats(f)
			if allOpen {
				continue
			}
			if count++; count >= maxInitCount {
				break
			}
		}
	}
	// Where the samples hold nothing but deletions, look further up.
	for level := v.storage.NumLevels() - 1; level >= 0; level-- {
		files := v.storage.LevelFiles(level)
		for i := len(files) - 1; i >= 0 && v.storage.AccumulatedRawValueSize() == 0; i-- {
			if v.maybeInitializeFileMetaData(ro, files[i]) {
				v.storage.UpdateAccumulatedStats(files[i])
			}
		}
	}
}

// maybeInitializeFileMetaData reads a new file's counts, once.
func (v *Version) maybeInitializeFileMetaData(ro *rocksdb.ReadOptions, f *version.FileMetaData) bool {
	if f.InitStatsFromFile || f.CompensatedFileSize > 0 {
		return false
	}
	p, err := v.GetTableProperties(ro, f, "")
	f.InitStatsFromFile = true
	if err != nil {
		logging.Error(v.vset.dbOptions.Logger, "Unable to load table properties for file %d --- %v\n", f.FD.GetNumber(), err)
		return false
	}
	if p == nil {
		return false
	}
	f.RawValueSize, f.RawKeySize, f.NumRangeDeletions = p.RawValueSize, p.RawKeySize, p.NumRangeDeletions
	// Files of old engines may count too few.
	f.NumDeletions = max(p.NumDeletions, p.NumRangeDeletions)
	f.NumEntries = max(p.NumEntries, f.NumDeletions)
	return true
}

// GetEstimatedActiveKeys estimates the live keys.
func (v *Version) GetEstimatedActiveKeys() uint64 { return v.storage.GetEstimatedActiveKeys() }

// AddLiveFiles appends the numbers of the version's table and blob files.
func (v *Version) AddLiveFiles(tables, blobs []uint64) (t, b []uint64) {
	for level := range v.storage.NumLevels() {
		for _, f := range v.storage.LevelFiles(level) {
			tables = append(tables, f.FD.GetNumber())
		}
	}
	for _, m := range v.storage.GetBlobFiles() {
		blobs = append(blobs, m.GetBlobFileNumber())
	}
	return tables, blobs
}

// removeLiveFiles marks the candidates that the version lists.
func (v *Version) removeLiveFiles(tables []ObsoleteFileInfo, blobs []ObsoleteBlobFileInfo) []ObsoleteBlobFileInfo {
	for i := range tables {
		if !tables[i].OnlyDeleteMetadata && v.storage.GetFileLocation(tables[i].Metadata.FD.GetNumber()).IsValid() {
			tables[i].OnlyDeleteMetadata = true
		}
	}
	kept := blobs[:0]
	for _, b := range blobs {
		if v.storage.GetBlobFileMetaData(b.BlobFileNumber) == nil {
			kept = append(kept, b)
		}
	}
	return kept
}

// DebugString lists the files as manifest_dump does.
func (v *Version) DebugString(hex, printStats bool) string {
	var r strings.Builder
	cursors := v.storage.GetCompactCursors()
	for level := range v.storage.NumLevels() {
		fmt.Fprintf(&r, "--- level %d --- version# %d", level, v.versionNumber)
		if cursors[level].Valid() {
			fmt.Fprintf(&r, " --- compact_cursor: %s", cursors[level].DebugString(hex))
		}
		r.WriteString(" ---\n")
		for _, f := range v.storage.LevelFiles(level) {
			fmt.Fprintf(&r, " %d:%d[%d .. %d][%s .. %s]", f.FD.GetNumber(), f.FD.GetFileSize(),
				f.FD.SmallestSeqno, f.FD.LargestSeqno, f.Smallest.DebugString(hex), f.Largest.DebugString(hex))
			if f.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
				fmt.Fprintf(&r, " blob_file:%d", f.OldestBlobFileNumber)
			}
			if printStats {
				fmt.Fprintf(&r, "(%d)", f.Stats.NumReadsSampled.Load())
			}
			r.WriteByte('\n')
		}
	}
	if blobs := v.storage.GetBlobFiles(); len(blobs) > 0 {
		fmt.Fprintf(&r, "--- blob files --- version# %d ---\n", v.versionNumber)
		for _, m := range blobs {
			r.WriteString(m.DebugString() + "\n")
		}
	}
	return r.String()
}

// FetchBlob reads the value of a blob index. It makes a Version with read
// options a blobformat.BlobFetcher; see versionBlobFetcher.
func (v *Version) FetchBlob(ro *rocksdb.ReadOptions, userKey []byte, index *blobformat.BlobIndex,
	value *rocksdb.PinnableSlice) (bytesRead uint64, err error) {
	return v.fetchBlob(ro, userKey, index, nil, value)
}

func (v *Version) fetchBlob(ro *rocksdb.ReadOptions, userKey []byte, index *blobformat.BlobIndex,
	prefetch *file.FilePrefetchBuffer, value *rocksdb.PinnableSlice) (bytesRead uint64, err error) {
	if err := v.checkBlobIndex(index); err != nil {
		return 0, err
	}
	value.Release()
	return v.blobs.GetBlob(ro, userKey, index.FileNumber, index.Offset, index.Size, index.Compression, prefetch, value)
}

// checkBlobIndex refuses an index of no blob file of the version.
func (v *Version) checkBlobIndex(index *blobformat.BlobIndex) error {
	if index.HasTTL() || index.IsInlined() {
		return rocksdb.Corruption("Unexpected TTL/inlined blob index")
	}
	// No metadata is a damaged index, or one to the table's own file (number
	// 0) that its reader should have resolved: never to be read over.
	if v.storage.GetBlobFileMetaData(index.FileNumber) == nil {
		return rocksdb.Corruption("Invalid blob file number")
	}
	return nil
}

// versionBlobFetcher reads blobs of one version.
type versionBlobFetcher struct {
	v  *Version
	ro *rocksdb.ReadOptions
}

// FetchBlob implements blobformat.BlobFetcher.
func (f *versionBlobFetcher) FetchBlob(userKey []byte, index *blobformat.BlobIndex, value *rocksdb.PinnableSlice) (uint64, error) {
	return f.v.FetchBlob(f.ro, userKey, index, value)
}

// BlobFetcher reads blobs of the version under ro, which is kept.
func (v *Version) BlobFetcher(ro *rocksdb.ReadOptions) blobformat.BlobFetcher {
	return &versionBlobFetcher{v, ro}
}

// compactionBlobFetcher is a versionBlobFetcher that reads ahead in each file. It
// is one goroutine's: every part of a compaction has other places in the files.
// Upstream: BlobFetcher with PrefetchBufferCollection.
type compactionBlobFetcher struct {
	versionBlobFetcher
	readahead uint64
	buffers   map[uint64]*file.FilePrefetchBuffer // by file number
}

// FetchBlob implements blobformat.BlobFetcher.
func (f *compactionBlobFetcher) FetchBlob(userKey []byte, index *blobformat.BlobIndex, value *rocksdb.PinnableSlice) (uint64, error) {
	return f.v.fetchBlob(f.ro, userKey, index, f.buffer(index.FileNumber), value)
}

// buffer is the file's prefetch buffer; nil for a file that the version does not
// have.
func (f *compactionBlobFetcher) buffer(number uint64) *file.FilePrefetchBuffer {
	if b := f.buffers[number]; b != nil {
		return b
	}
	meta := f.v.storage.GetBlobFileMetaData(number)
	if meta == nil {
		return nil
	}
	n := int(min(f.readahead, meta.GetBlobFileSize()))
	b := file.NewFilePrefetchBuffer(&file.PrefetchBufferOptions{
		ReadaheadParams: file.ReadaheadParams{InitialReadaheadSize: n, MaxReadaheadSize: n}})
	f.buffers[number] = b
	return b
}

// CompactionBlobFetcher is BlobFetcher for a part of a compaction, with that many
// bytes of read-ahead (blob_compaction_readahead_size).
func (v *Version) CompactionBlobFetcher(ro *rocksdb.ReadOptions, readahead uint64) blobformat.BlobFetcher {
	if readahead == 0 || v.cfd.IOptions().AllowMmapReads {
		return v.BlobFetcher(ro)
	}
	return &compactionBlobFetcher{versionBlobFetcher{v, ro}, readahead, map[uint64]*file.FilePrefetchBuffer{}}
}

// isFilterSkipped: a lookup that reaches the last level is expected to find
// the key there, when the option says so.
func (v *Version) isFilterSkipped(level int, lastFileInLevel bool) bool {
	return v.cfd.IOptions().OptimizeFiltersForHits && (level > 0 || lastFileInLevel) &&
		level == v.storage.NumNonEmptyLevels()-1
}

// GetSstFilesSize is the size of all tables, in bytes.
func (v *Version) GetSstFilesSize() uint64 {
	var sum uint64
	for level := range v.storage.NumLevels() {
		sum += v.storage.NumLevelBytes(level)
	}
	return sum
}

// GetSstFilesBoundaryKeys are the least and greatest user keys of all tables;
// nil without tables.
func (v *Version) GetSstFilesBoundaryKeys() (smallest, largest []byte) {
	ucmp := v.cfd.UserComparator()
	widen := func(f *version.FileMetaData) {
		if lo := f.Smallest.UserKey(); smallest == nil || ucmp.Compare(lo, smallest) < 0 {
			smallest = lo
		}
		if hi := f.Largest.UserKey(); largest == nil || ucmp.Compare(hi, largest) > 0 {
			largest = hi
		}
	}
	for level := range v.storage.NumLevels() {
		files := v.storage.LevelFiles(level)
		switch {
		case len(files) == 0:
		case level == 0:
			for _, f := range files {
				widen(f)
			}
		default:
			widen(files[0])
			widen(files[len(files)-1])
		}
	}
	return smallest, largest
}

// GetCreationTimeOfOldestFile is in seconds since 1970; 0 when some file's is
// not known, MaxUint64 without files.
func (v *Version) GetCreationTimeOfOldestFile() uint64 {
	oldest := uint64(math.MaxUint64)
	for level := range v.storage.NumNonEmptyLevels() {
		for _, f := range v.storage.LevelFiles(level) {
			t := f.TryGetFileCreationTime()
			syncpoint.ProcessArg("Version::GetCreationTimeOfOldestFile::FileCreationTime", &t)
			if t == version.UnknownFileCreationTime {
				return 0
			}
			oldest = min(oldest, t)
		}
	}
	return oldest
}

// AtomicGroupReadBuffer collects the records of an atomic group until it is
// complete. The zero value is empty.
type AtomicGroupReadBuffer struct {
	edits []*version.VersionEdit
	total uint64
}

// AddEdit takes e in if it belongs to a group. A group that is cut short, or
// whose records do not count down, is a corruption.
func (b *AtomicGroupReadBuffer) AddEdit(e *version.VersionEdit) error {
	if !e.IsInAtomicGroup() {
		if len(b.edits) > 0 {
			syncpoint.ProcessArg("AtomicGroupReadBuffer::AddEdit:AtomicGroupMixedWithNormalEdits", e)
			return rocksdb.Corruption("corrupted atomic group")
		}
		return nil
	}
	syncpoint.Process("AtomicGroupReadBuffer::AddEdit:AtomicGroup")
	if len(b.edits) == 0 {
		b.total = uint64(e.GetRemainingEntries()) + 1
		syncpoint.ProcessArg("AtomicGroupReadBuffer::AddEdit:FirstInAtomicGroup", e)
	}
	b.edits = append(b.edits, e)
	if uint64(len(b.edits))+uint64(e.GetRemainingEntries()) != b.total {
		syncpoint.ProcessArg("AtomicGroupReadBuffer::AddEdit:IncorrectAtomicGroupSize", e)
		return rocksdb.Corruption("corrupted atomic group")
	}
	if b.IsFull() {
		syncpoint.ProcessArg("AtomicGroupReadBuffer::AddEdit:LastInAtomicGroup", e)
	}
	return nil
}

// IsFull tells whether the group is complete; so is an empty one.
func (b *AtomicGroupReadBuffer) IsFull() bool { return uint64(len(b.edits)) == b.total }

// IsEmpty tells whether no group is open.
func (b *AtomicGroupReadBuffer) IsEmpty() bool { return len(b.edits) == 0 }

// Edits are the group's records so far.
func (b *AtomicGroupReadBuffer) Edits() []*version.VersionEdit { return b.edits }

// Clear empties the buffer.
func (b *AtomicGroupReadBuffer) Clear() { *b = AtomicGroupReadBuffer{} }
