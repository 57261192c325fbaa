// Port of db/version_set.cc, recovery and the reading of the MANIFEST. Differs:
// DumpManifest writes to a writer.

package db

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// firstCorruption is a wal.Reporter that keeps the first corruption.
type firstCorruption struct{ err error }

func (c *firstCorruption) Corruption(_ int, err error, _ uint64) {
	if c.err == nil {
		c.err = err
	}
}

func (c *firstCorruption) OldLogRecord(int) {}

// openManifest opens a MANIFEST for reading; corruptions go to c.
func openManifest(fs rocksdb.FileSystem, path string, fo *rocksdb.FileOptions, o *file.SequentialReaderOptions, log rocksdb.Logger,
	c *firstCorruption) (*wal.Reader, error) {
	r, err := file.CreateSequentialFileReader(fs, path, fo, o)
	if err != nil {
		return nil, err
	}
	return wal.NewReader(r, wal.ReaderOptions{InfoLog: log, Reporter: c, Checksum: true}), nil
}

func (vs *VersionSet) openManifest(path string, isRetry bool, c *firstCorruption) (*wal.Reader, error) {
	return openManifest(vs.fs, path, vs.fs.OptimizeForManifestRead(&vs.fileOptions), &file.SequentialReaderOptions{
		Listeners: vs.dbOptions.Listeners, ReadaheadSize: int(vs.dbOptions.LogReadaheadSize),
		VerifyAndReconstructRead: isRetry}, nil, c)
}

// RecoverOptions are Recover's rarer arguments.
type RecoverOptions struct {
	// NoErrorIfFilesMissing lets tables be absent or damaged.
	NoErrorIfFilesMissing bool
	// IsRetry asks the file system to read from redundant copies.
	IsRetry bool
	// LogStatus, when not nil, gets what was wrong with the MANIFEST's records.
	LogStatus *error
}

// Recover reads CURRENT and the MANIFEST and makes the families' versions
// current. Families of the MANIFEST that are not asked for are an error, unless
// the database cannot change. It gives the database's id, "" when the MANIFEST
// has none. o may be nil. The mutex is held, or nobody else has the set yet.
func (vs *VersionSet) Recover(cfs []rocksdb.ColumnFamilyDescriptor, readOnly bool, o *RecoverOptions) (dbID string, err error) {
	if o == nil {
		o = &RecoverOptions{}
	}
	path, number, err := GetCurrentManifestPath(vs.dbname, vs.fs, o.IsRetry)
	if err != nil {
		return "", err
	}
	vs.manifestFileNumber = number
	logger := vs.dbOptions.Logger
	logging.Info(logger, "Recovering from manifest file: %s\n", path)
	var c firstCorruption
	r, err := vs.openManifest(path, o.IsRetry, &c)
	if err != nil {
		return "", err
	}
	defer r.Close()
	syncpoint.Process("VersionSet::Recover:StartManifestRead")
	h := newVersionEditHandler(vs, cfs, readOnly)
	defer h.close()
	h.noErrorIfFilesMissing, h.isRetry = o.NoErrorIfFilesMissing, o.IsRetry
	h.skipLoadTableFiles = vs.dbOptions.OpenFilesAsync
	h.epochRequirement = version.EpochNumberMightMissing
	err = h.run(r, &c.err)
	if o.LogStatus != nil {
		*o.LogStatus = c.err
	}
	if err != nil {
		return "", err
	}
	vs.recoverEpochNumbers()
	vs.manifestFileSize = r.GetReadOffset()
	logging.Info(logger, "Recovered from manifest file:%s succeeded,manifest_file_number is %d, next_file_number is %d, "+
		"last_sequence is %d, log_number is %d,prev_log_number is %d,max_column_family is %d,min_log_number_to_keep is %d\n",
		path, vs.manifestFileNumber, vs.CurrentNextFileNumber(), vs.LastSequence(), h.params.GetLogNumber(), vs.prevLogNumber,
		vs.cfs.GetMaxColumnFamily(), vs.MinLogNumberToKeep())
	for _, cfd := range vs.cfs.All() {
		if !cfd.IsDropped() {
			logging.Info(logger, "Column family [%s] (ID %d), log number is %d\n", cfd.GetName(), cfd.GetID(), cfd.GetLogNumber())
		}
	}
	if !readOnly && vs.dbOptions.ReuseManifestOnOpen && vs.manifestLastValidRecordEnd > 0 {
		vs.reopenManifestForAppend(path)
	}
	return h.params.GetDbId(), nil
}

func (vs *VersionSet) recoverEpochNumbers() {
	for _, cfd := range vs.cfs.All() {
		if !cfd.IsDropped() {
			cfd.RecoverEpochNumbers()
		}
	}
}

// reopenManifestForAppend goes on with the MANIFEST that was recovered. Where
// that is not safe, the next write starts a new one, as ever.
func (vs *VersionSet) reopenManifestForAppend(path string) {
	if vs.dbOptions.BestEffortsRecovery {
		return // that mode starts afresh
	}
	logger := vs.dbOptions.Logger
	fo := vs.fileOptionsForManifestWrite()
	// Behind the last record there may be part of another one.
	size, err := vs.fs.GetFileSize(path, nil)
	if err != nil || size != vs.manifestLastValidRecordEnd {
		logging.Warn(logger, "reuse_manifest_on_open: physical size %d != last valid record end %d (tail corruption?); falling back to fresh MANIFEST",
			size, vs.manifestLastValidRecordEnd)
		return
	}
	if fo.UseDirectWrites {
		logging.Warn(logger, "reuse_manifest_on_open: direct writes enabled; falling back to fresh MANIFEST")
		return
	}
	f, err := vs.fs.ReopenWritableFile(path, &fo)
	if err != nil {
		logging.Warn(logger, "Failed to reopen MANIFEST for append: %v", err)
		return
	}
	if size := f.GetFileSize(nil); size != vs.manifestLastValidRecordEnd {
		logging.Warn(logger, "reuse_manifest_on_open: reopened handle size %d != last valid record end %d; falling back to fresh MANIFEST",
			size, vs.manifestLastValidRecordEnd)
		_ = f.Close(nil)
		return
	}
	vs.descriptorLog = vs.createManifestWriter(f, path, &fo, size)
	logging.Info(logger, "Reusing existing MANIFEST file: %s (valid data size: %d)", path, size)
	syncpoint.Process("VersionSet::ReopenManifestForAppend:Reopened")
}

// TryRecover recovers what can be from the newest MANIFEST that allows it, of
// files, the names in the database's directory; CURRENT is not needed. missing
// tells that some state newer than the one recovered lacks files.
// Upstream: ManifestPicker, ManifestPicker::GetNextManifest.
func (vs *VersionSet) TryRecover(cfs []rocksdb.ColumnFamilyDescriptor, readOnly bool, files []string) (dbID string, missing bool, err error) {
	type manifest struct {
		name   string
		number uint64
	}
	var manifests []manifest
	for _, name := range files {
		if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.DescriptorFile {
			manifests = append(manifests, manifest{name, p.Number})
		}
	}
	if len(manifests) == 0 {
		return "", false, rocksdb.Corruption("Cannot locate MANIFEST file in " + vs.dbname)
	}
	slices.SortFunc(manifests, func(a, b manifest) int { return cmp.Compare(b.number, a.number) })
	for i, m := range manifests {
		if i > 0 {
			vs.reset()
		}
		vs.manifestFileNumber = m.number
		if dbID, missing, err = vs.tryRecoverFromOneManifest(joinPath(vs.dbname, m.name), cfs, readOnly); err == nil {
			break
		}
	}
	return dbID, missing, err
}

func (vs *VersionSet) tryRecoverFromOneManifest(path string, cfs []rocksdb.ColumnFamilyDescriptor, readOnly bool) (dbID string, missing bool, err error) {
	logging.Info(vs.dbOptions.Logger, "Trying to recover from manifest: %s\n", path)
	var c firstCorruption
	r, err := vs.openManifest(path, false, &c)
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	h := newVersionEditHandlerPointInTime(vs, cfs, readOnly, true)
	defer h.close()
	h.epochRequirement = version.EpochNumberMightMissing
	err = h.run(r, &c.err)
	missing = h.HasMissingFiles()
	if err == nil {
		vs.recoverEpochNumbers()
	}
	return h.params.GetDbId(), missing, err
}

// verifyFileMetadata looks at whether a table is there, as long as it should be
// and, where that is asked for, the one that the MANIFEST means.
func (vs *VersionSet) verifyFileMetadata(ro *rocksdb.ReadOptions, cfd *ColumnFamilyData, path string, level int, meta *version.FileMetaData) error {
	size, err := vs.fs.GetFileSize(path, nil)
	if err != nil {
		return err
	}
	if size != meta.FD.GetFileSize() {
		return rocksdb.Corruption("File size mismatch: " + path)
	}
	if !vs.dbOptions.VerifySstUniqueIDInManifest {
		return nil
	}
	mo := cfd.GetLatestMutableCFOptions()
	oo := tablecache.OpenOptions{Level: level, NoPrefetchIndexAndFilter: true,
		MaxFileSizeForL0MetaPin: options.MaxFileSizeForL0MetaPin(mo), FileReadHist: cfd.InternalStats().GetFileReadHist(level)}
	_, handle, err := cfd.TableCache().FindTable(ro, meta.Clone(), mo, &oo)
	handle.Release()
	return err
}

// ListColumnFamilies reads the names of the families from the database's
// MANIFEST, in order of their ids.
func ListColumnFamilies(dbname string, fs rocksdb.FileSystem) ([]string, error) {
	path, _, err := GetCurrentManifestPath(dbname, fs, false)
	if err != nil {
		return nil, err
	}
	return ListColumnFamiliesFromManifest(path, fs)
}

// ListColumnFamiliesFromManifest reads them from a given MANIFEST.
func ListColumnFamiliesFromManifest(path string, fs rocksdb.FileSystem) ([]string, error) {
	var c firstCorruption
	r, err := openManifest(fs, path, nil, nil, nil, &c)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h := newListColumnFamiliesHandler()
	it := editIterator{fs: fs}
	if err := it.iterate(r, &c.err, h); err != nil {
		return nil, err
	}
	var names []string
	for _, id := range slices.Sorted(maps.Keys(h.names)) {
		names = append(names, h.names[id])
	}
	return names, nil
}

// GetFileChecksumsFromManifest lists the checksums of the live files of a
// MANIFEST, of which only the first maxSize bytes count (0 for all). add is
// called with number, checksum and function.
func GetFileChecksumsFromManifest(path string, fs rocksdb.FileSystem, maxSize uint64, add func(number uint64, checksum, funcName string) error) error {
	var c firstCorruption
	r, err := openManifest(fs, path, nil, nil, nil, &c)
	if err != nil {
		return err
	}
	defer r.Close()
	h := &fileChecksumRetriever{checksums: map[uint32]map[uint64]fileChecksum{}}
	it := editIterator{fs: fs, maxReadSize: maxSize}
	if err := it.iterate(r, &c.err, h); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(h.checksums)) {
		for _, number := range slices.Sorted(maps.Keys(h.checksums[id])) {
			f := h.checksums[id][number]
			if err := add(number, f.value, f.funcName); err != nil {
				return err
			}
		}
	}
	return nil
}

// DumpManifest prints what a MANIFEST holds. Families without a descriptor in
// cfs get defaults. The set must be empty; it holds the result afterwards.
func (vs *VersionSet) DumpManifest(out io.Writer, path string, defaults *rocksdb.ColumnFamilyOptions,
	cfs []rocksdb.ColumnFamilyDescriptor, o DumpManifestOptions) error {
	names, err := ListColumnFamiliesFromManifest(path, vs.fs)
	if err != nil {
		return err
	}
	descriptors := make([]rocksdb.ColumnFamilyDescriptor, 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(cfs, func(d rocksdb.ColumnFamilyDescriptor) bool { return d.Name == name })
		if i >= 0 {
			descriptors = append(descriptors, cfs[i])
		} else {
			descriptors = append(descriptors, rocksdb.ColumnFamilyDescriptor{Name: name, Options: *defaults})
		}
	}
	var c firstCorruption
	r, err := vs.openManifest(path, false, &c)
	if err != nil {
		return err
	}
	defer r.Close()
	h := &dumpManifestHandler{versionEditHandler: newVersionEditHandler(vs, descriptors, true), out: out, o: o}
	defer h.close()
	h.skipLoadTableFiles = true
	// Upstream requires epoch numbers here, and then shows an empty tree for
	// databases that were made before there were any.
	h.epochRequirement = version.EpochNumberMightMissing
	h.comparatorNames = map[uint32]string{}
	h.hooks = h
	return h.run(r, &c.err)
}

// ReduceNumberOfLevels rewrites the MANIFEST of a closed database for newLevels
// levels. At most one of the levels that vanish may hold files; they move to
// the new last level.
func (vs *VersionSet) ReduceNumberOfLevels(newLevels int, o *rocksdb.ColumnFamilyOptions, mu sync.Locker) error {
	if newLevels <= 1 {
		return rocksdb.InvalidArgument("Number of levels needs to be bigger than 1")
	}
	cfs := []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: *o}}
	if _, err := vs.Recover(cfs, false, nil); err != nil {
		return err
	}
	cfd := vs.cfs.GetDefault()
	storage := cfd.Current().storage
	if storage.NumLevels() <= newLevels {
		return nil
	}
	from := -1
	for level := newLevels - 1; level < storage.NumLevels(); level++ {
		if storage.NumLevelFiles(level) == 0 {
			continue
		}
		if from >= 0 {
			return rocksdb.InvalidArgumentf("Found at least two levels containing files: [%d:%d],[%d:%d].",
				from, storage.NumLevelFiles(from), level, storage.NumLevelFiles(level))
		}
		from = level
	}
	e := new(version.VersionEdit)
	if from >= newLevels {
		for _, f := range storage.LevelFiles(from) {
			e.DeleteFile(from, f.FD.GetNumber())
			e.AddFile(newLevels-1, f.CloneForMove())
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return vs.LogAndApply(&LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{e}, Mutex: mu, NewDescriptorLog: true})
}
