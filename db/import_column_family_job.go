// Port of db/import_column_family_job.{h,cc}. Differs: the bounds of a file
// without LiveFileMetaData's are read from it only where they are missing; links
// are synced, and the directory is, before the MANIFEST names the files.

package db

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
)

// importedFile is a file on its way into a new family.
type importedFile struct {
	keyRange
	meta     *rocksdb.LiveFileMetaData
	external string
	internal string // "" until the file may exist
	number   uint64
	size     uint64
	props    rocksdb.TableProperties
	uniqueID uniqueid.UniqueId64x2
}

// ImportColumnFamilyJob fills a family that was just made with exported files.
// The order of calls is Prepare, Run, Cleanup.
type ImportColumnFamilyJob struct {
	vs    *VersionSet
	cfd   *ColumnFamilyData
	dbo   *options.ImmutableDBOptions
	fo    rocksdb.FileOptions
	dirs  *Directories
	o     rocksdb.ImportColumnFamilyOptions
	from  []*rocksdb.ExportImportFilesMetaData
	files [][]*importedFile // of each source family
	edit  version.VersionEdit
}

// NewImportColumnFamilyJob makes a job.
func NewImportColumnFamilyJob(vs *VersionSet, cfd *ColumnFamilyData, dbo *options.ImmutableDBOptions, fo rocksdb.FileOptions, dirs *Directories,
	o *rocksdb.ImportColumnFamilyOptions, from []*rocksdb.ExportImportFilesMetaData) *ImportColumnFamilyJob {
	return &ImportColumnFamilyJob{vs: vs, cfd: cfd, dbo: dbo, fo: fo, dirs: dirs, o: *o, from: from}
}

// Edit is what Run made.
func (j *ImportColumnFamilyJob) Edit() *version.VersionEdit { return &j.edit }

// Prepare looks at the files and links or copies them into the database under
// the numbers from next on. The DB mutex is not held.
func (j *ImportColumnFamilyJob) Prepare(next uint64, sv *SuperVersion) error {
	icmp := j.cfd.icmp
	var ranges []keyRange
	for _, m := range j.from {
		var files []*importedFile
		var all keyRange
		for i := range m.Files {
			f := &importedFile{meta: &m.Files[i], external: m.Files[i].DBPath + "/" + m.Files[i].Name, number: next}
			next++
			if err := j.fileInfo(f, sv); err != nil {
				return err
			}
			if f.props.NumEntries == 0 {
				return rocksdb.InvalidArgument("File contain no entries")
			}
			if !f.smallest.Valid() || !f.largest.Valid() {
				return rocksdb.Corruption("File has corrupted keys").In(f.external)
			}
			if all.smallest == nil || icmp.Compare(all.smallest, f.smallest) > 0 {
				all.smallest = f.smallest
			}
			if all.largest == nil || icmp.Compare(all.largest, f.largest) < 0 {
				all.largest = f.largest
			}
			files = append(files, f)
		}
		if len(files) == 0 {
			return rocksdb.InvalidArgument("The list of files is empty")
		}
		j.files = append(j.files, files)
		ranges = append(ranges, all)
	}
	slices.SortStableFunc(ranges, func(a, b keyRange) int { return icmp.CompareUserKey(a.smallest.UserKey(), b.smallest.UserKey()) })
	for i := 1; i < len(ranges); i++ {
		if icmp.CompareUserKey(ranges[i-1].largest.UserKey(), ranges[i].smallest.UserKey()) >= 0 {
			return rocksdb.InvalidArgument("CFs have overlapping ranges")
		}
	}
	return j.addFiles()
}

// addFiles links or copies the files, and syncs them and the directory.
func (j *ImportColumnFamilyJob) addFiles() error {
	link := j.o.MoveFiles
	fs := j.dbo.FS
	for _, files := range j.files {
		for _, f := range files {
			inside := filename.TableFileName(j.cfd.ioptions.CFPaths, f.number, 0)
			if link {
				err := fs.LinkFile(f.external, inside, rocksdb.NewIOOptions())
				switch {
				case err == nil:
					f.internal = inside
					if err := fs.SyncFile(inside, &j.fo, rocksdb.NewIOOptions(), j.dbo.UseFsync); err != nil && !rocksdb.IsNotSupported(err) {
						return err
					}
					continue
				case !rocksdb.IsNotSupported(err):
					return err
				}
				logging.Info(j.dbo.InfoLog, "Try to link file %s but it's not supported : %v", inside, err)
				link = false
			}
			f.internal = inside
			if err := file.CopyFile(fs, f.external, inside, 0, &file.CopyOptions{UseFsync: j.dbo.UseFsync, MaxReadBufferSize: 1 << 20}); err != nil {
				return err
			}
		}
	}
	return j.dirs.DataDir(j.cfd, 0).FsyncWithDirOptions(rocksdb.NewIOOptions(), rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncNewFileSynced})
}

// Run makes the edit: levels as they were, epochs numbered anew, one source
// family after the other. The DB mutex is held and no write is under way. It
// also gives the greatest sequence number of the files.
func (j *ImportColumnFamilyJob) Run() (last rocksdb.SequenceNumber, err error) {
	var now uint64
	if t, err := j.dbo.Clock.GetCurrentTime(); err == nil {
		now = uint64(t)
	}
	j.edit.SetColumnFamily(j.cfd.GetID())
	for i, files := range j.files {
		n, err := j.addFamily(files, i == 0, now)
		if err != nil {
			return 0, err
		}
		last = max(last, n)
	}
	return last, nil
}

// addFamily puts one source family's files in order by a version of their own.
func (j *ImportColumnFamilyJob) addFamily(files []*importedFile, restartEpochs bool, now uint64) (last rocksdb.SequenceNumber, err error) {
	edit := &version.VersionEdit{}
	for _, f := range files {
		if f.meta.Level < 0 || f.meta.Level >= j.cfd.NumberLevels() {
			return 0, rocksdb.InvalidArgument(fmt.Sprintf("File %s of level %d does not fit into a column family of %d levels",
				f.external, f.meta.Level, j.cfd.NumberLevels()))
		}
		m := version.NewFileMetaData()
		m.FD.Set(f.number, 0, f.size, f.meta.SmallestSeqno, f.meta.LargestSeqno)
		m.Smallest, m.Largest = f.smallest, f.largest
		m.Temperature = f.meta.Temperature
		m.OldestAncesterTime, m.FileCreationTime = now, now
		m.EpochNumber = f.meta.EpochNumber
		m.FileChecksum, m.FileChecksumFuncName = rocksdb.UnknownFileChecksum, rocksdb.UnknownFileChecksumFuncName
		m.UniqueID = f.uniqueID
		m.TailSize = version.CalculateTailSize(f.size, &f.props)
		m.UserDefinedTimestampsPersisted = f.props.UserDefinedTimestampsPersisted != 0
		edit.AddFile(f.meta.Level, m)
		last = max(last, f.meta.LargestSeqno)
	}
	b := NewVersionBuilder(VersionBuilderOptions{FileOptions: j.fo, IOptions: j.cfd.ioptions, TableCache: j.cfd.tableCache,
		Base: j.cfd.current.storage, VersionSet: j.vs, CFD: j.cfd})
	defer b.Close()
	if err := b.Apply(edit); err != nil {
		return 0, err
	}
	v := newVersion(j.cfd, j.vs, j.cfd.GetLatestMutableCFOptions(), 0, version.EpochNumberMightMissing)
	if err := b.SaveTo(v.storage); err != nil {
		return 0, err
	}
	next := j.cfd.GetNextEpochNumber()
	if restartEpochs {
		next = version.UnknownEpochNumber + 1
		if j.cfd.AllowIngestBehind() {
			next = version.ReservedEpochNumberForFileIngestedBehind + 1
		}
	}
	next, _ = v.storage.RecoverEpochNumbersFrom(next, true)
	j.cfd.SetNextEpochNumber(next)
	for level := range v.storage.NumLevels() {
		for _, f := range v.storage.LevelFiles(level) {
			j.edit.AddFile(level, f)
		}
	}
	return last, nil
}

// Cleanup removes what the job added, after an error, or with move_files the
// files' original links. keep are numbers of files that the MANIFEST may name.
func (j *ImportColumnFamilyJob) Cleanup(status error, keep []uint64) {
	for _, files := range j.files {
		for _, f := range files {
			path := f.external
			if status != nil {
				path = f.internal
			}
			if status == nil && !j.o.MoveFiles || path == "" || status != nil && slices.Contains(keep, f.number) {
				continue
			}
			if err := j.dbo.FS.DeleteFile(path, rocksdb.NewIOOptions()); err != nil {
				logging.Warn(j.dbo.InfoLog, "Import clean up: removing file %s failed : %v", path, err)
			}
		}
	}
}

// fileInfo reads what is to be known of a file.
func (j *ImportColumnFamilyJob) fileInfo(f *importedFile, sv *SuperVersion) (err error) {
	m := f.meta
	if f.size = m.Size; f.size == 0 {
		if f.size, err = j.dbo.FS.GetFileSize(f.external, rocksdb.NewIOOptions()); err != nil {
			return err
		}
	}
	fo := j.fo
	fo.FileChecksum, fo.FileChecksumFuncName = m.FileChecksum, m.FileChecksumFuncName
	raw, err := j.dbo.FS.NewRandomAccessFile(f.external, &fo)
	if err != nil {
		return err
	}
	mo := sv.MutableCFOptions
	factory, ok := mo.TableFactory.(table.Factory)
	if !ok {
		_ = raw.Close()
		return rocksdb.InvalidArgument("table_factory cannot open tables")
	}
	t := table.DefaultTableReaderOptions(j.cfd.ioptions, j.cfd.icmp)
	t.PrefixExtractor, t.CompressionManager, t.FileOptions = mo.PrefixExtractor, mo.CompressionManager, j.fo
	t.BlockProtectionBytesPerKey = mo.BlockProtectionBytesPerKey
	t.CurDBSessionID, t.CurFileNum = j.vs.DBSessionID(), f.number
	// One that was ingested has a sequence number that only the metadata knows.
	t.LargestSeqno = m.LargestSeqno
	ro := rocksdb.DefaultReadOptions()
	r, err := factory.NewTableReader(&ro, &t, file.NewRandomAccessFileReader(raw, f.external, nil), f.size, true)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := r.Close(); err == nil {
			err = cerr
		}
	}()
	f.props = *r.GetTableProperties()
	if id, err := uniqueid.GetSstInternalUniqueId(f.props.DBID, f.props.DBSessionID, f.props.OrigFileNumber, false); err == nil {
		f.uniqueID = id.Standard()
	} else {
		logging.Warn(j.dbo.InfoLog, "Failed to get SST unique id for file %s", f.external)
	}
	if len(m.Smallest) > 0 {
		// They may cut range tombstones, which the file itself does not know.
		f.smallest, f.largest = bytes.Clone(m.Smallest), bytes.Clone(m.Largest)
		return nil
	}
	return j.bounds(f, r, sv)
}

// bounds finds a file's least and greatest key.
func (j *ImportColumnFamilyJob) bounds(f *importedFile, r table.TableReader, sv *SuperVersion) (err error) {
	ro := rocksdb.DefaultReadOptions()
	it := r.NewIterator(&ro, sv.MutableCFOptions.PrefixExtractor, false, rocksdb.CallerExternalSSTIngestion, 0, false)
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	icmp := j.cfd.icmp
	if it.SeekToFirst(); it.Valid() {
		f.smallest, f.largest = bytes.Clone(it.Key()), bytes.Clone(it.Key())
		if sv.MutableCFOptions.TableFactory.Name() == rocksdb.PlainTableName {
			for ; it.Valid(); it.Next() {
				if icmp.Compare(it.Key(), f.largest) > 0 {
					f.largest = append(f.largest[:0], it.Key()...)
				}
			}
		} else if it.SeekToLast(); it.Valid() {
			f.largest = bytes.Clone(it.Key())
		} else if it.Status() == nil {
			return rocksdb.Corruption("Can not find largest key in sst file").In(f.external)
		}
	}
	if err := it.Status(); err != nil {
		return err
	}
	rit := r.NewRangeTombstoneIterator(&ro)
	if rit == nil {
		return nil
	}
	for rit.SeekToFirst(); rit.Valid(); rit.Next() {
		k, err := dbformat.ParseInternalKey(rit.Key(), j.dbo.AllowDataInErrors)
		if err != nil {
			return rocksdb.Corruption("Corrupted key in external file. ", rocksdb.AsStatus(err).Message)
		}
		t := dbformat.RangeTombstone{StartKey: k.UserKey, EndKey: rit.Value(), Seq: k.Sequence}
		if start := t.SerializeKey(); f.smallest == nil || icmp.Compare(start, f.smallest) < 0 {
			f.smallest = start
		}
		if end := t.SerializeEndKey(); f.largest == nil || icmp.Compare(end, f.largest) > 0 {
			f.largest = end
		}
	}
	return rit.Status()
}
