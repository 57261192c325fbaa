// Port of db/version_edit.{h,cc}, FileDescriptor to LevelFilesBrief. Differs:
// the pinned table reader sits behind one atomic pointer in FileMetaData's
// descriptor, which FdWithKeyRange shares instead of copying.

package version

import (
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
)

// FileNumberMask takes the file number out of a packed number and path id.
const FileNumberMask uint64 = 0x3FFFFFFFFFFFFFFF

// Values that stand for "not known" in FileMetaData.
const (
	UnknownOldestAncesterTime uint64 = 0
	UnknownNewestKeyTime      uint64 = 0
	UnknownFileCreationTime   uint64 = 0
	UnknownEpochNumber        uint64 = 0
	// ReservedEpochNumberForFileIngestedBehind is the epoch of files that were
	// ingested behind all others.
	ReservedEpochNumberForFileIngestedBehind uint64 = 1
)

// PackFileNumberAndPathId puts a file number (62 bits) and a path id (2 bits)
// into one word. Higher bits of number are dropped.
func PackFileNumberAndPathId(number, pathID uint64) uint64 {
	return number&FileNumberMask | pathID*(FileNumberMask+1)
}

// PinnedTableReader is an open table kept for as long as its file is live.
// Release gives back the cache handle behind it.
type PinnedTableReader struct {
	Reader  table.TableReader
	Release func()
}

// FileDescriptor names a table file and bounds its sequence numbers.
type FileDescriptor struct {
	// Pinned is the table's reader when the file is pinned (max_open_files
	// -1), nil otherwise. It is set once, by the table cache.
	Pinned              atomic.Pointer[PinnedTableReader]
	packedNumberAndPath uint64
	FileSize            uint64 // bytes
	SmallestSeqno       rocksdb.SequenceNumber
	LargestSeqno        rocksdb.SequenceNumber
	cacheKey            [8]byte // the number, little endian
}

// TableCacheKey is the file's key in the table cache. Not to be changed.
func (fd *FileDescriptor) TableCacheKey() []byte { return fd.cacheKey[:] }

// Set fills the descriptor; a pinned reader is left alone.
func (fd *FileDescriptor) Set(number uint64, pathID uint32, fileSize uint64, smallest, largest rocksdb.SequenceNumber) {
	fd.packedNumberAndPath = PackFileNumberAndPathId(number, uint64(pathID))
	fd.FileSize, fd.SmallestSeqno, fd.LargestSeqno = fileSize, smallest, largest
	util.EncodeFixed64(fd.cacheKey[:], fd.GetNumber())
}

// GetNumber is the file's number.
func (fd *FileDescriptor) GetNumber() uint64 { return fd.packedNumberAndPath & FileNumberMask }

// GetPathId says which of the configured paths the file is in.
func (fd *FileDescriptor) GetPathId() uint32 {
	return uint32(fd.packedNumberAndPath / (FileNumberMask + 1))
}

// GetFileSize is the file's size in bytes.
func (fd *FileDescriptor) GetFileSize() uint64 { return fd.FileSize }

// PinnedReader is the pinned reader, nil when there is none.
func (fd *FileDescriptor) PinnedReader() table.TableReader {
	if p := fd.Pinned.Load(); p != nil {
		return p.Reader
	}
	return nil
}

// FileSampledStats counts sampled reads of a file; safe for concurrent use.
type FileSampledStats = monitoring.FileSampledStats

// FileMetaData describes one live table file. Use NewFileMetaData: the zero
// value lacks the defaults of FD's sequence numbers and of the timestamps'
// flag. It must not be copied; see Clone.
type FileMetaData struct {
	FD       FileDescriptor
	Smallest dbformat.InternalKey // smallest internal key served by the table
	Largest  dbformat.InternalKey // largest internal key served by the table
	Stats    FileSampledStats

	// CompensatedFileSize is the size that compaction picking uses: deletions
	// count for more than their bytes. 0 until computed. Under the database's
	// mutex.
	CompensatedFileSize uint64
	NumEntries          uint64 // with deletions and range deletions
	NumDeletions        uint64 // with range deletions
	RawKeySize          uint64 // total uncompressed key bytes
	RawValueSize        uint64 // total uncompressed value bytes
	NumRangeDeletions   uint64
	// CompensatedRangeDeletionSize estimates how many bytes of lower levels
	// the file's range tombstones cover.
	CompensatedRangeDeletionSize uint64

	// Refs counts the StorageInfos that list the file. Under the database's
	// mutex, as the two flags below are.
	Refs int

	BeingCompacted    bool
	InitStatsFromFile bool // the counts above were read from the table's properties
	// MarkedForCompaction is set by a table property collector, or later by
	// SuggestCompactRange, while a MANIFEST may be written without the mutex.
	MarkedForCompaction atomic.Bool

	Temperature          rocksdb.Temperature
	OldestBlobFileNumber uint64 // blobformat.InvalidBlobFileNumber for none
	// OldestAncesterTime is the age, in Unix seconds, of the oldest key's
	// file, carried through compactions.
	OldestAncesterTime uint64
	FileCreationTime   uint64 // Unix seconds
	// EpochNumber orders the files of level 0: of two files that share a key,
	// the one of the higher epoch has the newer data.
	EpochNumber          uint64
	FileChecksum         string
	FileChecksumFuncName string
	UniqueID             uniqueid.UniqueId64x2
	TailSize             uint64 // bytes from the end of the data blocks to the end of the file

	UserDefinedTimestampsPersisted bool
	MinTimestamp                   string // "" when not known
	MaxTimestamp                   string
	FileOpenMetadata               string // what the file system wants back on opening

	// SkipIndexAndFilterBlocksPrefetch is not stored: set while a file is
	// being opened only to be looked at.
	SkipIndexAndFilterBlocksPrefetch bool
}

// NewFileMetaData gives metadata with upstream's defaults: an empty range of
// sequence numbers, no checksum, timestamps persisted.
func NewFileMetaData() *FileMetaData {
	f := new(FileMetaData)
	f.init()
	return f
}

func (f *FileMetaData) init() {
	f.FD.SmallestSeqno = dbformat.MaxSequenceNumber
	f.FileChecksumFuncName = rocksdb.UnknownFileChecksumFuncName
	f.UserDefinedTimestampsPersisted = true
}

// Clone copies the metadata, its pinned reader and counters included. Keys are
// shared: nobody changes them in place.
func (f *FileMetaData) Clone() *FileMetaData {
	c := &FileMetaData{
		Smallest: f.Smallest, Largest: f.Largest,
		CompensatedFileSize: f.CompensatedFileSize,
		NumEntries:          f.NumEntries, NumDeletions: f.NumDeletions,
		RawKeySize: f.RawKeySize, RawValueSize: f.RawValueSize,
		NumRangeDeletions:            f.NumRangeDeletions,
		CompensatedRangeDeletionSize: f.CompensatedRangeDeletionSize,
		Refs:                         f.Refs,
		BeingCompacted:               f.BeingCompacted, InitStatsFromFile: f.InitStatsFromFile,
		Temperature: f.Temperature, OldestBlobFileNumber: f.OldestBlobFileNumber,
		OldestAncesterTime: f.OldestAncesterTime, FileCreationTime: f.FileCreationTime,
		EpochNumber: f.EpochNumber, FileChecksum: f.FileChecksum,
		FileChecksumFuncName: f.FileChecksumFuncName, UniqueID: f.UniqueID,
		TailSize: f.TailSize, UserDefinedTimestampsPersisted: f.UserDefinedTimestampsPersisted,
		MinTimestamp: f.MinTimestamp, MaxTimestamp: f.MaxTimestamp,
		FileOpenMetadata:                 f.FileOpenMetadata,
		SkipIndexAndFilterBlocksPrefetch: f.SkipIndexAndFilterBlocksPrefetch,
	}
	c.FD.Set(f.FD.GetNumber(), f.FD.GetPathId(), f.FD.FileSize, f.FD.SmallestSeqno, f.FD.LargestSeqno)
	c.MarkedForCompaction.Store(f.MarkedForCompaction.Load())
	c.FD.Pinned.Store(f.FD.Pinned.Load())
	c.Stats.NumReadsSampled.Store(f.Stats.NumReadsSampled.Load())
	c.Stats.NumCollapsibleEntryReadsSampled.Store(f.Stats.NumCollapsibleEntryReadsSampled.Load())
	return c
}

// UpdateBoundaries widens the file's bounds by an entry that was appended to
// it; keys have to come in order, and Largest must not be shared before the last. A reference to a blob file also lowers
// OldestBlobFileNumber; one to no blob file is a corruption. key is copied.
func (f *FileMetaData) UpdateBoundaries(key, value []byte, seqno rocksdb.SequenceNumber, t dbformat.ValueType) error {
	switch t {
	case dbformat.TypeBlobIndex:
		var index blobformat.BlobIndex
		if err := index.DecodeFrom(value); err != nil {
			return err
		}
		if err := f.updateOldestBlob(&index); err != nil {
			return err
		}
	case dbformat.TypeWideColumnEntity:
		if err := wide.ForEachBlobFileNumber(value, f.updateOldestBlob); err != nil {
			return err
		}
	}
	if len(f.Smallest) == 0 {
		f.Smallest = append(dbformat.InternalKey(nil), key...)
	}
	f.Largest = append(f.Largest[:0], key...)
	f.FD.SmallestSeqno = min(f.FD.SmallestSeqno, seqno)
	f.FD.LargestSeqno = max(f.FD.LargestSeqno, seqno)
	return nil
}

// updateOldestBlob refuses file number 0: that is also the mark of a blob
// inside the same table, which has to be resolved before it gets here.
func (f *FileMetaData) updateOldestBlob(index *blobformat.BlobIndex) error {
	if index.IsInlined() || index.HasTTL() {
		return nil
	}
	n := index.FileNumber
	if n == blobformat.InvalidBlobFileNumber {
		return rocksdb.Corruption("Invalid blob file number")
	}
	if f.OldestBlobFileNumber == blobformat.InvalidBlobFileNumber || f.OldestBlobFileNumber > n {
		f.OldestBlobFileNumber = n
	}
	return nil
}

// UpdateBoundariesForRange widens the file's bounds by a range tombstone's
// [start, end]. The keys are kept.
func (f *FileMetaData) UpdateBoundariesForRange(start, end dbformat.InternalKey, seqno rocksdb.SequenceNumber,
	icmp *dbformat.InternalKeyComparator) {
	if len(f.Smallest) == 0 || icmp.Compare(start, f.Smallest) < 0 {
		f.Smallest = start
	}
	if len(f.Largest) == 0 || icmp.Compare(f.Largest, end) < 0 {
		f.Largest = end
	}
	f.FD.SmallestSeqno = min(f.FD.SmallestSeqno, seqno)
	f.FD.LargestSeqno = max(f.FD.LargestSeqno, seqno)
}

func (f *FileMetaData) pinnedProperties() *rocksdb.TableProperties {
	if r := f.FD.PinnedReader(); r != nil {
		return r.GetTableProperties()
	}
	return nil
}

// TryGetOldestAncesterTime is OldestAncesterTime, or the creation time of the
// table's properties when the table is pinned.
func (f *FileMetaData) TryGetOldestAncesterTime() uint64 {
	if f.OldestAncesterTime != UnknownOldestAncesterTime {
		return f.OldestAncesterTime
	}
	if p := f.pinnedProperties(); p != nil {
		return p.CreationTime
	}
	return UnknownOldestAncesterTime
}

// TryGetFileCreationTime is FileCreationTime, or that of the table's
// properties when the table is pinned.
func (f *FileMetaData) TryGetFileCreationTime() uint64 {
	if f.FileCreationTime != UnknownFileCreationTime {
		return f.FileCreationTime
	}
	if p := f.pinnedProperties(); p != nil {
		return p.FileCreationTime
	}
	return UnknownFileCreationTime
}

// TryGetNewestKeyTime estimates when the file's newest key was written: from
// the table's properties, or from the age of prev, the next newer file (may be
// nil).
func (f *FileMetaData) TryGetNewestKeyTime(prev *FileMetaData) uint64 {
	if p := f.pinnedProperties(); p != nil && p.NewestKeyTime != UnknownNewestKeyTime {
		return p.NewestKeyTime
	}
	if prev != nil {
		if t := prev.TryGetOldestAncesterTime(); t != UnknownOldestAncesterTime {
			return t
		}
	}
	return UnknownNewestKeyTime
}

// ApproximateMemoryUsage is what the metadata costs, in bytes.
func (f *FileMetaData) ApproximateMemoryUsage() int {
	return int(unsafe.Sizeof(*f)) + len(f.Smallest) + len(f.Largest) + len(f.FileChecksum) +
		len(f.FileChecksumFuncName) + len(f.MinTimestamp) + len(f.MaxTimestamp) + len(f.FileOpenMetadata)
}

// FileIsStandAloneRangeTombstone tells whether the file holds one range
// tombstone and nothing else.
func (f *FileMetaData) FileIsStandAloneRangeTombstone() bool {
	return f.NumRangeDeletions == 1 && f.NumEntries == f.NumRangeDeletions
}

// CalculateTailSize is the number of bytes after the data blocks of a file of
// fileSize bytes; 0 when the properties do not say.
func CalculateTailSize(fileSize uint64, props *rocksdb.TableProperties) uint64 {
	noDataBlocks := props.NumEntries == 0 || props.NumEntries == props.NumRangeDeletions
	if (props.TailStartOffset > 0 || noDataBlocks) && props.TailStartOffset <= fileSize {
		return fileSize - props.TailStartOffset
	}
	return 0
}

// CloneForMove copies what describes the file itself, for listing it in another
// level: the reader, counters and marks stay with the original.
func (f *FileMetaData) CloneForMove() *FileMetaData {
	c := f.Clone()
	c.FD.Pinned.Store(nil)
	c.Refs = 0
	c.BeingCompacted = false
	return c
}
