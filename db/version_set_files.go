// Port of db/version_set.cc, VersionSet's live and obsolete files, sizes of key
// ranges, and Close.

package db

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// eachVersion calls f with every version of every family.
func (vs *VersionSet) eachVersion(f func(v *Version)) {
	for _, cfd := range vs.cfs.All() {
		head := cfd.DummyVersions()
		for v := head.next; v != head; v = v.next {
			f(v)
		}
	}
}

// AddLiveFiles appends the numbers of all table and blob files that some
// version lists; a file may come more than once.
func (vs *VersionSet) AddLiveFiles(tables, blobs []uint64) (t, b []uint64) {
	vs.eachVersion(func(v *Version) { tables, blobs = v.AddLiveFiles(tables, blobs) })
	return tables, blobs
}

// RemoveLiveFiles marks the table files, and takes out the blob files, that
// some version lists. It gives the rest of blobs.
func (vs *VersionSet) RemoveLiveFiles(tables []ObsoleteFileInfo, blobs []ObsoleteBlobFileInfo) []ObsoleteBlobFileInfo {
	vs.eachVersion(func(v *Version) { blobs = v.removeLiveFiles(tables, blobs) })
	return blobs
}

// AddObsoleteBlobFile says that no version lists the file any more.
func (vs *VersionSet) AddObsoleteBlobFile(number uint64, path string) {
	vs.obsoleteBlobFiles = append(vs.obsoleteBlobFiles, ObsoleteBlobFileInfo{number, path})
}

// GetObsoleteFiles hands over the obsolete files with numbers below
// minPendingOutput, and the names of the obsolete MANIFESTs.
func (vs *VersionSet) GetObsoleteFiles(minPendingOutput uint64) (files []ObsoleteFileInfo, blobs []ObsoleteBlobFileInfo, manifests []string) {
	var pending []ObsoleteFileInfo
	for _, f := range vs.obsoleteFiles {
		if f.Metadata.FD.GetNumber() < minPendingOutput {
			files = append(files, f)
		} else {
			pending = append(pending, f)
		}
	}
	vs.obsoleteFiles = pending
	var pendingBlobs []ObsoleteBlobFileInfo
	for _, b := range vs.obsoleteBlobFiles {
		if b.BlobFileNumber < minPendingOutput {
			blobs = append(blobs, b)
		} else {
			pendingBlobs = append(pendingBlobs, b)
		}
	}
	vs.obsoleteBlobFiles = pendingBlobs
	manifests, vs.obsoleteManifests = vs.obsoleteManifests, nil
	return files, blobs, manifests
}

// GetObsoleteSstFilesSize is the size of obsolete tables not handed over yet.
func (vs *VersionSet) GetObsoleteSstFilesSize() uint64 {
	var sum uint64
	for i := range vs.obsoleteFiles {
		if f := vs.obsoleteFiles[i].Metadata; f != nil {
			sum += f.FD.GetFileSize()
		}
	}
	return sum
}

// GetMetadataForFile finds a live table; NotFound when there is none.
func (vs *VersionSet) GetMetadataForFile(number uint64) (level int, f *version.FileMetaData, cfd *ColumnFamilyData, err error) {
	for _, cfd := range vs.cfs.All() {
		storage := cfd.Current().storage
		if l := storage.GetFileLocation(number); l.IsValid() {
			return l.Level, storage.LevelFiles(l.Level)[l.Position], cfd, nil
		}
	}
	return 0, nil, nil, rocksdb.NotFound("File not present in any level")
}

// GetLiveFilesMetaData describes the current tables of all families.
func (vs *VersionSet) GetLiveFilesMetaData() []rocksdb.LiveFileMetaData {
	var all []rocksdb.LiveFileMetaData
	for _, cfd := range vs.cfs.All() {
		if cfd.IsDropped() {
			continue
		}
		v := cfd.Current()
		for level := range v.storage.NumLevels() {
			for _, f := range v.storage.LevelFiles(level) {
				all = append(all, rocksdb.LiveFileMetaData{SstFileMetaData: v.sstFileMetaData(f),
					ColumnFamilyName: cfd.GetName(), Level: level})
			}
		}
	}
	return all
}

// GetLiveFilesChecksumInfo calls add with number, checksum and function of each
// current table and blob file.
func (vs *VersionSet) GetLiveFilesChecksumInfo(add func(number uint64, checksum, funcName string) error) error {
	for _, cfd := range vs.cfs.All() {
		if cfd.IsDropped() {
			continue
		}
		storage := cfd.Current().storage
		for level := range storage.NumLevels() {
			for _, f := range storage.LevelFiles(level) {
				if err := add(f.FD.GetNumber(), f.FileChecksum, f.FileChecksumFuncName); err != nil {
					return err
				}
			}
		}
		for _, m := range storage.GetBlobFiles() {
			value, method := blobChecksum(m.GetChecksumValue(), m.GetChecksumMethod())
			if err := add(m.GetBlobFileNumber(), value, method); err != nil {
				return err
			}
		}
	}
	return nil
}

// GetNumLiveVersions counts the versions of a family, by the head of its list.
func GetNumLiveVersions(head *Version) int {
	n := 0
	for v := head.next; v != head; v = v.next {
		n++
	}
	return n
}

// GetTotalSstFilesSize is the size of the tables of all of a family's versions.
func GetTotalSstFilesSize(head *Version) uint64 {
	seen := map[uint64]bool{}
	var sum uint64
	for v := head.next; v != head; v = v.next {
		for level := range v.storage.NumLevels() {
			for _, f := range v.storage.LevelFiles(level) {
				if n := f.FD.GetNumber(); !seen[n] {
					seen[n] = true
					sum += f.FD.GetFileSize()
				}
			}
		}
	}
	return sum
}

// GetTotalBlobFileSize is the size of the blob files of all of a family's
// versions.
func GetTotalBlobFileSize(head *Version) uint64 {
	seen := map[uint64]bool{}
	var sum uint64
	for v := head.next; v != head; v = v.next {
		for _, m := range v.storage.GetBlobFiles() {
			if n := m.GetBlobFileNumber(); !seen[n] {
				seen[n] = true
				sum += m.GetBlobFileSize()
			}
		}
	}
	return sum
}

// CoveredSize is about the bytes that a range tombstone of a new level 0 file
// covers.
func (v *Version) CoveredSize(ro *rocksdb.ReadOptions, start, end []byte) uint64 {
	return v.vset.ApproximateSize(ro, v, start, end, 0, -1, 0.1, rocksdb.CallerFlush)
}

// ApproximateSize is about the bytes of v's tables, on levels from startLevel
// to before endLevel (-1 for all), between two internal keys. errorMargin, when
// above 0, allows that share of error where it saves looking into files.
func (vs *VersionSet) ApproximateSize(ro *rocksdb.ReadOptions, v *Version, start, end []byte, startLevel, endLevel int,
	errorMargin float64, caller rocksdb.TableReaderCaller) uint64 {
	levels := v.storage.NumNonEmptyLevels()
	if endLevel < 0 || endLevel > levels {
		endLevel = levels
	}
	icmp := v.storage.InternalComparator()
	var full, intersecting uint64
	var first, last []*version.FdWithKeyRange
	for level := startLevel; level < endLevel; level++ {
		b := v.storage.LevelFilesBrief(level)
		if b.NumFiles() == 0 {
			continue
		}
		if level == 0 {
			for i := range b.Files {
				first = append(first, &b.Files[i])
			}
			continue
		}
		from := version.FindFileInRange(icmp, b, start, 0, b.NumFiles()-1)
		to := from
		if icmp.Compare(b.Files[to].LargestKey, end) < 0 {
			to = version.FindFileInRange(icmp, b, end, from, b.NumFiles()-1)
		}
		for i := from + 1; i < to; i++ { // wholly within
			full += b.Files[i].FD().GetFileSize()
		}
		first = append(first, &b.Files[from])
		if from != to {
			last = append(last, &b.Files[to])
		}
	}
	for _, f := range first {
		intersecting += f.FD().GetFileSize()
	}
	for _, f := range last {
		intersecting += f.FD().GetFileSize()
	}
	if errorMargin > 0 && intersecting < uint64(float64(full)*errorMargin) {
		return full + intersecting/2
	}
	for _, f := range first {
		full += vs.approximateSizeOf(ro, v, f, start, end, caller)
	}
	for _, f := range last {
		full += vs.approximateOffsetOf(ro, v, f, end, caller)
	}
	return full
}

// approximateOffsetOf is about the bytes of f before key.
func (vs *VersionSet) approximateOffsetOf(ro *rocksdb.ReadOptions, v *Version, f *version.FdWithKeyRange, key []byte, caller rocksdb.TableReaderCaller) uint64 {
	icmp := v.storage.InternalComparator()
	switch {
	case icmp.Compare(f.LargestKey, key) <= 0:
		return f.FD().GetFileSize()
	case icmp.Compare(f.SmallestKey, key) > 0:
		return 0
	}
	return v.cfd.TableCache().ApproximateOffsetOf(ro, key, f.FileMetadata, caller, v.mutableCFOptions)
}

func (vs *VersionSet) approximateSizeOf(ro *rocksdb.ReadOptions, v *Version, f *version.FdWithKeyRange, start, end []byte, caller rocksdb.TableReaderCaller) uint64 {
	icmp := v.storage.InternalComparator()
	size := f.FD().GetFileSize()
	switch {
	case icmp.Compare(f.LargestKey, start) <= 0 || icmp.Compare(f.SmallestKey, end) > 0:
		return 0
	case icmp.Compare(f.SmallestKey, start) >= 0:
		return vs.approximateOffsetOf(ro, v, f, end, caller)
	case icmp.Compare(f.LargestKey, end) < 0:
		return size - min(size, vs.approximateOffsetOf(ro, v, f, start, caller))
	}
	return v.cfd.TableCache().ApproximateSize(ro, start, end, f.FileMetadata, caller, v.mutableCFOptions)
}

// Close closes the MANIFEST. If it is not as long as it should be, or, where
// that is asked for, does not read back, it is written anew. The mutex is held.
func (vs *VersionSet) Close(dir rocksdb.FSDirectory, mu sync.Locker) error {
	if vs.closed || vs.unchanging || vs.manifestFileNumber == 0 || vs.descriptorLog == nil {
		return nil
	}
	path := vs.manifestName(vs.manifestFileNumber)
	err := vs.descriptorLog.Close(nil)
	vs.descriptorLog = nil
	syncpoint.Process("VersionSet::Close:AfterClose")
	var size uint64
	if err == nil {
		size, err = vs.fs.GetFileSize(path, nil)
	}
	if err == nil && size != vs.manifestFileSize {
		err = rocksdb.Corruption().In(path)
	}
	if err != nil {
		vs.notifyManifestError(err, path, int(size))
		logging.Error(vs.dbOptions.Logger, "MANIFEST verification on Close, filename %s, expected size %d failed with status %v and actual size %d\n",
			path, vs.manifestFileSize, err, size)
		err = vs.rewriteManifest(dir, mu)
	}
	if err == nil && vs.verifyManifestOnClose {
		err = vs.verifyManifestContent(dir, mu)
	}
	vs.closed = true
	return err
}

func (vs *VersionSet) rewriteManifest(dir rocksdb.FSDirectory, mu sync.Locker) error {
	return vs.LogAndApply(&LogAndApplyRequest{CFD: vs.cfs.GetDefault(), Edits: []*version.VersionEdit{{}}, Mutex: mu, DBDirectory: dir})
}

func (vs *VersionSet) notifyManifestError(err error, path string, size int) {
	for _, l := range vs.dbOptions.Listeners {
		l.OnIOError(&rocksdb.IOErrorInfo{IOStatus: err, Operation: rocksdb.FileOperationTypeVerify, FilePath: path, Length: size})
	}
}

// verifyManifestContent reads the MANIFEST back, and once more if it had to be
// rewritten.
func (vs *VersionSet) verifyManifestContent(dir rocksdb.FSDirectory, mu sync.Locker) error {
	syncpoint.Process("VersionSet::Close:BeforeContentValidation")
	for attempt := 0; ; attempt++ {
		path := vs.manifestName(vs.manifestFileNumber)
		if vs.descriptorLog != nil { // rewritten just now
			if err := vs.descriptorLog.Close(nil); err != nil {
				return err
			}
			vs.descriptorLog = nil
		}
		good, err := vs.readBackManifest(path)
		if err != nil {
			logging.Error(vs.dbOptions.Logger, "MANIFEST content verification on Close: could not open %s for reading: %v\n", path, err)
			return err
		}
		if good {
			return nil
		}
		monitoring.RecordTick(vs.dbOptions.Stats, rocksdb.ManifestValidationFailureCount, 1)
		vs.notifyManifestError(rocksdb.Corruption("MANIFEST content validation failed"), path, 0)
		if attempt > 0 {
			logging.Error(vs.dbOptions.Logger, "MANIFEST content verification on Close failed again after rewrite, filename %s\n", path)
			return rocksdb.Corruption("MANIFEST content verification failed after rewrite: " + path)
		}
		logging.Error(vs.dbOptions.Logger, "MANIFEST content verification on Close failed, filename %s, rewriting manifest\n", path)
		if err := vs.rewriteManifest(dir, mu); err != nil {
			return err
		}
	}
}

func (vs *VersionSet) readBackManifest(path string) (good bool, err error) {
	var c firstCorruption
	r, err := vs.openManifest(path, false, &c)
	if err != nil {
		return false, err
	}
	defer r.Close()
	for {
		record, ok := r.ReadRecord(rocksdb.AbsoluteConsistency)
		if !ok {
			return c.err == nil, nil
		}
		var e version.VersionEdit
		if e.DecodeFrom(record) != nil {
			return false, nil
		}
	}
}

// TableCache is the cache of open tables that all families share.
func (vs *VersionSet) TableCache() rocksdb.Cache { return vs.tableCache }

// EvictTable closes a table that is going to be deleted.
func (vs *VersionSet) EvictTable(o *ObsoleteFileInfo) {
	tablecache.ReleaseObsolete(vs.tableCache, o.Metadata, o.UncacheAggressiveness)
}
