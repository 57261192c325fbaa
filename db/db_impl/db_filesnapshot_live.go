// Port of db/db_filesnapshot.cc (GetLiveFiles, GetLiveFilesStorageInfo).
// Differs: a read-only database lists its logs, too.

package dbimpl

import (
	"math"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// flushForLiveFiles flushes all families; what cannot be written to has nothing
// to flush.
func (d *DBImpl) flushForLiveFiles(atomic bool) error {
	if d.readOnly {
		return nil
	}
	d.mu.Lock()
	locked := d.st.lockWALCount > 0
	d.mu.Unlock()
	if locked && !d.hasUnpersistedData.Load() {
		// A flush would wait for UnlockWAL, and the logs have everything.
		logging.Info(d.infoLog, "Skipping FlushForGetLiveFiles while WAL is locked and all data is already persisted")
		return nil
	}
	o := rocksdb.DefaultFlushOptions()
	o.ForceAtomicFlush = atomic
	err := d.flushAllColumnFamilies(&o, rocksdb.FlushReasonGetLiveFiles)
	if err != nil {
		logging.Error(d.infoLog, "Cannot Flush data %v\n", err)
	}
	return err
}

// GetLiveFiles names the files of the present state, without WALs, by paths
// within the database's directory ("/000004.sst"). With flushMemtable memtables
// are flushed first. Of the MANIFEST the first manifestFileSize bytes count.
// Unless file deletions are disabled, files may be gone again on return.
func (d *DBImpl) GetLiveFiles(flushMemtable bool) (files []string, manifestFileSize uint64, err error) {
	if flushMemtable {
		if err := d.flushForLiveFiles(false); err != nil {
			return nil, 0, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var tables, blobs []uint64
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			tables, blobs = cfd.Current().AddLiveFiles(tables, blobs)
		}
	}
	for _, n := range tables {
		files = append(files, "/"+filename.MakeTableFileBaseName(n))
	}
	for _, n := range blobs {
		files = append(files, "/"+filename.BlobFileBaseName(n))
	}
	files = append(files, "/"+filename.CurrentFileBaseName, "/"+filename.DescriptorFileBaseName(d.versions.ManifestFileNumber()))
	if n := d.versions.OptionsFileNumber(); n != 0 { // a database opened for reading may have none
		files = append(files, "/"+filename.OptionsFileBaseName(n))
	}
	return files, d.versions.ManifestFileSize(), nil
}

// liveFiles collects the answer of GetLiveFilesStorageInfo.
type liveFiles struct {
	d         *DBImpl
	checksums bool
	list      []rocksdb.LiveFileStorageInfo
}

// add adds a file; of those other than tables and blob files no checksum is
// known.
func (l *liveFiles) add(dir, name string, number uint64, t rocksdb.FileType, size uint64) *rocksdb.LiveFileStorageInfo {
	l.list = append(l.list, rocksdb.LiveFileStorageInfo{FileStorageInfo: rocksdb.FileStorageInfo{
		RelativeFilename: name, Directory: dir, FileNumber: number, FileType: t, Size: size}})
	f := &l.list[len(l.list)-1]
	if l.checksums {
		f.FileChecksumFuncName, f.FileChecksum = rocksdb.UnknownFileChecksumFuncName, rocksdb.UnknownFileChecksum
	}
	return f
}

func (l *liveFiles) setChecksum(f *rocksdb.LiveFileStorageInfo, checksum, funcName string) {
	if l.checksums && funcName != "" {
		f.FileChecksum, f.FileChecksumFuncName = checksum, funcName
	}
}

func (l *liveFiles) addFamilyLocked(cfd *db.ColumnFamilyData) {
	vs := cfd.Current().StorageInfo()
	paths := cfd.IOptions().CFPaths
	for level := range vs.NumLevels() {
		for _, m := range vs.LevelFiles(level) {
			dir := paths[min(int(m.FD.GetPathId()), len(paths)-1)].Path
			f := l.add(dir, filename.MakeTableFileBaseName(m.FD.GetNumber()), m.FD.GetNumber(), rocksdb.TableFile, m.FD.GetFileSize())
			f.Temperature = m.Temperature
			l.setChecksum(f, m.FileChecksum, m.FileChecksumFuncName)
		}
	}
	for _, m := range vs.GetBlobFiles() {
		n := m.GetBlobFileNumber()
		f := l.add(paths[0].Path, filename.BlobFileBaseName(n), n, rocksdb.BlobFile, m.GetBlobFileSize())
		l.setChecksum(f, m.GetChecksumValue(), m.GetChecksumMethod())
	}
}

// GetLiveFilesStorageInfo describes the files that a copy of the present state
// needs, and how to copy them. Unless file deletions are disabled, files may be
// gone again on return. o may be nil.
func (d *DBImpl) GetLiveFilesStorageInfo(o *rocksdb.LiveFilesStorageInfoOptions) ([]rocksdb.LiveFileStorageInfo, error) {
	if o == nil {
		o = &rocksdb.LiveFilesStorageInfoOptions{}
	}
	flush, err := d.needsFlushForLiveFiles(o)
	if err != nil {
		return nil, err
	}
	if flush {
		if err := d.flushForLiveFiles(o.AtomicFlush); err != nil {
			return nil, err
		}
	}
	l := &liveFiles{d: d, checksums: o.IncludeChecksumInfo}
	d.mu.Lock()
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			l.addFamilyLocked(cfd)
		}
	}
	manifest, manifestSize := d.versions.ManifestFileNumber(), d.versions.ManifestFileSize()
	optionsNumber, optionsSize := d.versions.OptionsFileNumber(), d.versions.OptionsFileSize()
	minLog, maxLog := d.minLogNumberToKeep(), d.logNumber.Load()
	d.mu.Unlock()
	if d.readOnly {
		maxLog = math.MaxUint64
	}
	name := filename.DescriptorFileBaseName(manifest)
	l.add(d.dbName, name, manifest, rocksdb.DescriptorFile, manifestSize).TrimToSize = true
	// CURRENT may name another MANIFEST by the time it is copied.
	l.add(d.dbName, filename.CurrentFileBaseName, 0, rocksdb.CurrentFile, uint64(len(name)+1)).ReplacementContents = name + "\n"
	if optionsNumber != 0 {
		l.add(d.dbName, filename.OptionsFileBaseName(optionsNumber), optionsNumber, rocksdb.OptionsFile, optionsSize)
	}
	syncpoint.Process("CheckpointImpl::CreateCheckpoint:FlushDone")
	syncpoint.Process("CheckpointImpl::CreateCheckpoint:SavedLiveFiles1")
	syncpoint.Process("CheckpointImpl::CreateCheckpoint:SavedLiveFiles2")
	// What is in a buffer cannot be copied.
	if err := d.FlushWAL(false); err != nil && !rocksdb.IsNotSupported(err) {
		return nil, err
	}
	syncpoint.Process("CheckpointImpl::CreateCustomCheckpoint:AfterGetLive1")
	syncpoint.Process("CheckpointImpl::CreateCustomCheckpoint:AfterGetLive2")
	if err := l.addLogs(flush && !d.readOnly, minLog, maxLog); err != nil {
		return nil, err
	}
	return l.list, nil
}

// needsFlushForLiveFiles tells whether the logs are too large to be copied.
func (d *DBImpl) needsFlushForLiveFiles(o *rocksdb.LiveFilesStorageInfoOptions) (bool, error) {
	if d.immutable.Allow2PC || o.WALSizeForFlush == 0 {
		return true, nil
	}
	if o.WALSizeForFlush == math.MaxUint64 {
		return false, nil
	}
	logs, err := d.walManager.GetSortedWalFiles(false, false)
	total := uint64(0)
	for i := range logs {
		total += logs[i].SizeFileBytes
	}
	return total >= o.WALSizeForFlush, err
}

// addLogs adds the logs from minLog (all, unless flushed) to maxLog.
func (l *liveFiles) addLogs(flushed bool, minLog, maxLog uint64) error {
	d := l.d
	// Logs that are open may not be synced, and grow: they are copied up to
	// what is in the file by now, not linked.
	recycling := d.immutable.RecycleLogFileNum > 0
	open := map[uint64]uint64{}
	if !recycling {
		d.walMu.Lock()
		for _, w := range d.walMu.logs {
			open[w.number] = w.writer.File().GetFlushedSize()
		}
		for _, w := range d.walMu.leaving {
			open[w.GetLogNumber()] = w.File().GetFlushedSize()
		}
		d.walMu.Unlock()
	}
	logs, err := d.sortedWalFiles(false)
	if err != nil {
		return err
	}
	for i := range logs {
		w := &logs[i]
		if w.Type != rocksdb.AliveLogFile || flushed && w.LogNumber < minLog || w.LogNumber > maxLog {
			continue
		}
		f := l.add(d.immutable.GetWalDir(), filename.LogFileBaseName(w.LogNumber), w.LogNumber, rocksdb.WalFile, w.SizeFileBytes)
		if size, isOpen := open[w.LogNumber]; isOpen {
			f.Size = min(f.Size, size)
			f.TrimToSize = true
		}
		f.TrimToSize = f.TrimToSize || recycling // the name may come to stand for another log
	}
	return nil
}
