// Port of db/wal_manager.{h,cc}.

package db

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// WalManager lists WALs and reads them back, and keeps those that recovery no
// longer needs in the archive, as long as wal_ttl_seconds and wal_size_limit_mb
// say. It is safe for concurrent use.
type WalManager struct {
	dbOptions   *options.ImmutableDBOptions
	fileOptions rocksdb.FileOptions
	dir         string
	lastPurge   atomic.Uint64 // seconds

	// firstRecords has the sequence numbers of the first records of WALs that
	// are known to have one.
	firstRecords struct {
		sync.Mutex
		byNumber map[uint64]rocksdb.SequenceNumber
	}
}

// NewWalManager makes a manager for a database.
func NewWalManager(o *options.ImmutableDBOptions) *WalManager {
	m := &WalManager{dbOptions: o, fileOptions: rocksdb.DefaultFileOptions(), dir: o.GetWalDir()}
	m.firstRecords.byNumber = map[uint64]rocksdb.SequenceNumber{}
	return m
}

// Archiving tells whether WALs are archived rather than deleted.
func (m *WalManager) Archiving() bool {
	return m.dbOptions.WALTTLSeconds > 0 || m.dbOptions.WALSizeLimitMB > 0
}

// CreateArchivalDirectory makes the archive where one is kept.
func (m *WalManager) CreateArchivalDirectory() error {
	if !m.Archiving() {
		return nil
	}
	return m.dbOptions.FS.CreateDirIfMissing(filename.ArchivalDirectory(m.dir), rocksdb.NewIOOptions())
}

// ArchiveWALFile moves a WAL into the archive.
func (m *WalManager) ArchiveWALFile(path string, number uint64) {
	to := filename.ArchivedLogFileName(m.dir, number)
	syncpoint.Process("WalManager::PurgeObsoleteFiles:1")
	err := m.dbOptions.FS.RenameFile(path, to, rocksdb.NewIOOptions())
	syncpoint.Process("WalManager::PurgeObsoleteFiles:2")
	syncpoint.Process("WalManager::ArchiveWALFile")
	if err != nil {
		logging.Error(m.dbOptions.InfoLog, "Move log file %s to %s -- %v", path, to, err)
		return
	}
	logging.Info(m.dbOptions.InfoLog, "Move log file %s to %s -- OK", path, to)
}

// exists tells whether a file is there; in doubt it is.
func (m *WalManager) exists(path string) bool {
	err := m.dbOptions.FS.FileExists(path, rocksdb.NewIOOptions())
	return err == nil || !rocksdb.IsNotFound(err) && !rocksdb.IsPathNotFound(err)
}

// GetSortedWalFiles lists the WALs by number, those in the archive, if they are
// wanted, included. needSeqnos fills in StartSequence and leaves out WALs without
// a record.
func (m *WalManager) GetSortedWalFiles(needSeqnos, includeArchived bool) ([]rocksdb.LogFile, error) {
	// The archive comes last: a WAL that moves in between is then seen twice
	// rather than never.
	alive, err := m.sortedWalsOfType(m.dir, rocksdb.AliveLogFile, needSeqnos)
	if err != nil || !includeArchived {
		return alive, err
	}
	syncpoint.Process("WalManager::GetSortedWalFiles:1")
	syncpoint.Process("WalManager::GetSortedWalFiles:2")
	var files []rocksdb.LogFile
	archive := filename.ArchivalDirectory(m.dir)
	if m.exists(archive) {
		if files, err = m.sortedWalsOfType(archive, rocksdb.ArchivedLogFile, needSeqnos); err != nil {
			return nil, err
		}
	}
	var latestArchived uint64
	if len(files) > 0 {
		latestArchived = files[len(files)-1].LogNumber
		logging.Info(m.dbOptions.InfoLog, "Latest Archived log: %d", latestArchived)
	}
	for i := range alive {
		if alive[i].LogNumber > latestArchived {
			files = append(files, alive[i])
		} else {
			logging.Warn(m.dbOptions.InfoLog, "%s already moved to archive", alive[i].PathName())
		}
	}
	return files, nil
}

func (m *WalManager) sortedWalsOfType(dir string, t rocksdb.WalFileType, needSeqnos bool) ([]rocksdb.LogFile, error) {
	names, err := m.dbOptions.FS.GetChildren(dir, ListingOptions())
	if err != nil {
		return nil, err
	}
	var files []rocksdb.LogFile
	for _, name := range names {
		p, ok := filename.ParseFileName(name, "")
		if !ok || p.Type != rocksdb.WalFile {
			continue
		}
		f := rocksdb.LogFile{LogNumber: p.Number, Type: t}
		if needSeqnos {
			if f.StartSequence, err = m.readFirstRecord(t, p.Number); err != nil {
				return nil, err
			}
			if f.StartSequence == 0 {
				continue
			}
		}
		syncpoint.Process("WalManager::GetSortedWalsOfType:1")
		syncpoint.Process("WalManager::GetSortedWalsOfType:2")
		if f.SizeFileBytes, ok, err = m.sizeOfWal(dir, t, p.Number); err != nil {
			return nil, err
		} else if ok {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b rocksdb.LogFile) int { return cmp.Compare(a.LogNumber, b.LogNumber) })
	return files, nil
}

// sizeOfWal finds a WAL that moved to the archive meanwhile there; ok is false
// when it is gone from there, too.
func (m *WalManager) sizeOfWal(dir string, t rocksdb.WalFileType, number uint64) (size uint64, ok bool, err error) {
	io := rocksdb.NewIOOptions()
	size, err = m.dbOptions.FS.GetFileSize(filename.LogFileName(dir, number), io)
	if err == nil || t != rocksdb.AliveLogFile {
		return size, err == nil, err
	}
	archived := filename.ArchivedLogFileName(dir, number)
	if !m.exists(archived) {
		return 0, false, err
	}
	if size, err = m.dbOptions.FS.GetFileSize(archived, io); err != nil && !m.exists(archived) {
		return 0, false, nil
	}
	return size, err == nil, err
}

// GetUpdatesSince makes an iterator over the batches from the one with seq on.
// lastSequence gives the newest sequence number that may be shown; o may be nil.
func (m *WalManager) GetUpdatesSince(seq rocksdb.SequenceNumber, o *rocksdb.TransactionLogIteratorReadOptions,
	lastSequence func() rocksdb.SequenceNumber) (*TransactionLogIterator, error) {
	files, err := m.GetSortedWalFiles(true, true)
	if err != nil {
		return nil, err
	}
	it := newTransactionLogIterator(m, o, seq, retainProbableWalFiles(files, seq), lastSequence)
	if err := it.Err(); err != nil {
		return nil, closeAfter(it, err)
	}
	return it, nil
}

func closeAfter(it *TransactionLogIterator, err error) error {
	it.Close()
	return err
}

// retainProbableWalFiles leaves out the WALs that end before target; the last
// one always stays.
func retainProbableWalFiles(files []rocksdb.LogFile, target rocksdb.SequenceNumber) []rocksdb.LogFile {
	i, found := slices.BinarySearchFunc(files, target, func(f rocksdb.LogFile, target rocksdb.SequenceNumber) int {
		return cmp.Compare(f.StartSequence, target)
	})
	if !found && i > 0 {
		i-- // may hold target behind its start
	}
	return files[min(i, len(files)):]
}

// GetLiveWalFile describes a WAL that is being written; without its
// StartSequence.
func (m *WalManager) GetLiveWalFile(number uint64) (rocksdb.LogFile, error) {
	if number == 0 {
		return rocksdb.LogFile{}, rocksdb.WithSubCode(rocksdb.CodeIOError, rocksdb.SubCodePathNotFound, "log file not available")
	}
	size, err := m.dbOptions.FS.GetFileSize(filename.LogFileName(m.dir, number), rocksdb.NewIOOptions())
	if err != nil {
		return rocksdb.LogFile{}, err
	}
	return rocksdb.LogFile{LogNumber: number, Type: rocksdb.AliveLogFile, SizeFileBytes: size}, nil
}

// readFirstRecord gives the sequence number of a WAL's first record, 0 when it
// has none or is gone.
func (m *WalManager) readFirstRecord(t rocksdb.WalFileType, number uint64) (rocksdb.SequenceNumber, error) {
	known := &m.firstRecords
	known.Lock()
	seq, ok := known.byNumber[number]
	known.Unlock()
	if ok {
		return seq, nil
	}
	var err error
	if t == rocksdb.AliveLogFile {
		path := filename.LogFileName(m.dir, number)
		if seq, err = m.readFirstLine(path, number); err != nil && m.exists(path) {
			return 0, err
		}
	}
	if t == rocksdb.ArchivedLogFile || err != nil {
		path := filename.ArchivedLogFileName(m.dir, number)
		if seq, err = m.readFirstLine(path, number); err != nil && !m.exists(path) {
			return 0, nil
		}
	}
	if err == nil && seq != 0 {
		known.Lock()
		known.byNumber[number] = seq
		known.Unlock()
	}
	return seq, err
}

// firstLineReporter keeps the first damage it is told of.
type firstLineReporter struct {
	log     rocksdb.Logger
	path    string
	ignored string // for the log
	err     error
}

func (r *firstLineReporter) Corruption(bytes int, err error, _ uint64) {
	logging.Warn(r.log, "[WalManager] %s%s: dropping %d bytes; %v", r.ignored, r.path, bytes, err)
	if r.err == nil {
		r.err = err
	}
}

func (r *firstLineReporter) OldLogRecord(int) {}

// openLog opens a WAL for reading.
func (m *WalManager) openLog(path string, number uint64, checksum bool, reporter wal.Reporter) (*wal.Reader, error) {
	fs := m.dbOptions.FS
	f, err := file.CreateSequentialFileReader(fs, path, fs.OptimizeForLogRead(&m.fileOptions),
		&file.SequentialReaderOptions{RateLimiter: m.dbOptions.RateLimiter})
	if err != nil {
		return nil, err
	}
	return wal.NewReader(f, wal.ReaderOptions{InfoLog: m.dbOptions.InfoLog, Reporter: reporter, Checksum: checksum, LogNumber: number}), nil
}

// readFirstLine gives the sequence number of a file's first record, 0 when it
// has none. A file that says it is compressed, and no more, has 1: it belongs to
// the database's logs.
func (m *WalManager) readFirstLine(path string, number uint64) (rocksdb.SequenceNumber, error) {
	rep := &firstLineReporter{log: m.dbOptions.InfoLog, path: path}
	if !m.dbOptions.ParanoidChecks {
		rep.ignored = "(ignoring error) "
	}
	reader, err := m.openLog(path, number, true, rep)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	record, ok := reader.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
	if ok && (rep.err == nil || !m.dbOptions.ParanoidChecks) {
		if len(record) < writebatch.HeaderSize {
			rep.Corruption(len(record), rocksdb.Corruption("log record too small"), wal.NoLogNumber)
		} else {
			var batch writebatch.WriteBatch
			if err := batch.SetContents(record); err != nil {
				return 0, err
			}
			return batch.Sequence(), nil
		}
	}
	if rep.err == nil && reader.IsCompressedAndEmptyFile() {
		return 1, nil
	}
	return 0, rep.err
}

// Seconds between looks at the archive.
const archivePurgeInterval = 600

// PurgeObsoleteWALFiles deletes archived WALs that are too old or too many.
func (m *WalManager) PurgeObsoleteWALFiles() {
	if !m.Archiving() {
		return
	}
	log := m.dbOptions.InfoLog
	now64, err := m.dbOptions.Clock.GetCurrentTime()
	if err != nil {
		logging.Error(log, "Can't get current time: %v", err)
		return
	}
	now, interval := uint64(now64), uint64(archivePurgeInterval)
	if ttl := m.dbOptions.WALTTLSeconds; ttl > 0 {
		interval = min(interval, max(ttl/2, 1))
	}
	last := m.lastPurge.Load()
	if last+interval > now || !m.lastPurge.CompareAndSwap(last, now) {
		return
	}
	dir := filename.ArchivalDirectory(m.dir)
	names, err := m.dbOptions.FS.GetChildren(dir, ListingOptions())
	if err != nil {
		logging.Error(log, "Can't get archive files: %v", err)
		return
	}
	var kept []uint64
	var largest uint64 // bytes
	for _, name := range names {
		p, ok := filename.ParseFileName(name, "")
		if !ok || p.Type != rocksdb.WalFile || m.deleteIfExpired(dir, name, p.Number, now) || m.dbOptions.WALSizeLimitMB == 0 {
			continue
		}
		size, err := m.dbOptions.FS.GetFileSize(dir+"/"+name, rocksdb.NewIOOptions())
		if err != nil {
			logging.Error(log, "Unable to get file size: %s: %v", dir+"/"+name, err)
			return
		}
		if size == 0 {
			m.deleteArchived(dir, p.Number)
			continue
		}
		kept = append(kept, p.Number)
		largest = max(largest, size)
	}
	if len(kept) == 0 {
		return
	}
	// As many as fit if all were as large as the largest; the newest.
	slices.Sort(kept)
	if keep := m.dbOptions.WALSizeLimitMB << 20 / largest; keep < uint64(len(kept)) {
		for _, number := range kept[:uint64(len(kept))-keep] {
			m.deleteArchived(dir, number)
		}
	}
}

// deleteIfExpired deletes an archived WAL that is older than the time to live;
// true when there is no more to do about it. A time in the future is no age.
func (m *WalManager) deleteIfExpired(dir, name string, number, now uint64) bool {
	ttl := m.dbOptions.WALTTLSeconds
	if ttl == 0 {
		return false
	}
	written, err := m.dbOptions.FS.GetFileModificationTime(dir+"/"+name, rocksdb.NewIOOptions())
	if err != nil {
		logging.Warn(m.dbOptions.InfoLog, "Can't get file mod time: %s: %v", dir+"/"+name, err)
		return true
	}
	if written > now || now-written <= ttl {
		return false
	}
	m.deleteArchived(dir, number)
	return true
}

func (m *WalManager) deleteArchived(dir string, number uint64) {
	path := dir + "/" + filename.LogFileBaseName(number)
	// The file manager counts and paces what is in the database's directories.
	inDBPath := len(m.dbOptions.DBPaths) > 0 && m.dir == m.dbOptions.DBPaths[0].Path
	if err := file.DeleteDBFile(m.dbOptions.FS, m.dbOptions.SstFileManager, path, dir, false, !inDBPath); err != nil {
		logging.Warn(m.dbOptions.InfoLog, "Can't delete file: %s: %v", path, err)
		return
	}
	m.firstRecords.Lock()
	delete(m.firstRecords.byNumber, number)
	m.firstRecords.Unlock()
}
