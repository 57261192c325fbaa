// Port of db/wal_manager.{h,cc} (archiving). Differs: listing and tailing of
// WALs (GetSortedWalFiles, GetUpdatesSince) come with the transaction log.

package db

import (
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
)

// WalManager keeps WALs that recovery no longer needs in the archive, as long
// as wal_ttl_seconds and wal_size_limit_mb say.
type WalManager struct {
	dbOptions *options.ImmutableDBOptions
	mu        struct {
		sync.Mutex
		lastPurge uint64 // seconds
	}
}

// NewWalManager makes a manager for a database.
func NewWalManager(o *options.ImmutableDBOptions) *WalManager { return &WalManager{dbOptions: o} }

// Archiving tells whether WALs are archived rather than deleted.
func (m *WalManager) Archiving() bool {
	return m.dbOptions.WALTTLSeconds > 0 || m.dbOptions.WALSizeLimitMB > 0
}

// CreateArchivalDirectory makes the archive where one is kept.
func (m *WalManager) CreateArchivalDirectory() error {
	if !m.Archiving() {
		return nil
	}
	return m.dbOptions.FS.CreateDirIfMissing(filename.ArchivalDirectory(m.dbOptions.GetWalDir()), &rocksdb.IOOptions{})
}

// ArchiveWALFile moves a WAL into the archive.
func (m *WalManager) ArchiveWALFile(path string, number uint64) {
	to := filename.ArchivedLogFileName(m.dbOptions.GetWalDir(), number)
	if err := m.dbOptions.FS.RenameFile(path, to, &rocksdb.IOOptions{}); err != nil {
		logging.Error(m.dbOptions.InfoLog, "Move log file %s to %s -- %v", path, to, err)
		return
	}
	logging.Info(m.dbOptions.InfoLog, "Move log file %s to %s -- OK", path, to)
}

// Seconds between looks at the archive.
const archivePurgeInterval = 600

// PurgeObsoleteWALFiles deletes archived WALs that are too old or too many.
func (m *WalManager) PurgeObsoleteWALFiles() {
	if !m.Archiving() {
		return
	}
	now64, err := m.dbOptions.Clock.GetCurrentTime()
	if err != nil {
		return
	}
	now, ttl := uint64(now64), m.dbOptions.WALTTLSeconds
	interval := uint64(archivePurgeInterval)
	if m.dbOptions.WALSizeLimitMB == 0 {
		interval = min(interval, max(ttl/2, 1))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.mu.lastPurge+interval > now {
		return
	}
	m.mu.lastPurge = now
	dir := filename.ArchivalDirectory(m.dbOptions.GetWalDir())
	names, err := m.dbOptions.FS.GetChildren(dir, &rocksdb.IOOptions{DoNotRecurse: true})
	if err != nil {
		logging.Error(m.dbOptions.InfoLog, "Can't get archive files: %v", err)
		return
	}
	m.purge(dir, names, now)
}

func (m *WalManager) purge(dir string, names []string, now uint64) {
	type archived struct{ number, size uint64 }
	var kept []archived
	var total uint64
	remove := func(number uint64) {
		path := dir + "/" + filename.LogFileBaseName(number)
		if err := m.dbOptions.FS.DeleteFile(path, &rocksdb.IOOptions{}); err != nil {
			logging.Warn(m.dbOptions.InfoLog, "Can't delete file: %s: %v", path, err)
		}
	}
	for _, n := range names {
		p, ok := filename.ParseFileName(n, "")
		if !ok || p.Type != rocksdb.WalFile {
			continue
		}
		path := dir + "/" + n
		if ttl := m.dbOptions.WALTTLSeconds; ttl > 0 {
			at, err := m.dbOptions.FS.GetFileModificationTime(path, &rocksdb.IOOptions{})
			if err == nil && now-min(at, now) > ttl {
				remove(p.Number)
				continue
			}
		}
		size, err := m.dbOptions.FS.GetFileSize(path, &rocksdb.IOOptions{})
		if err != nil {
			continue
		}
		if size == 0 {
			remove(p.Number)
			continue
		}
		kept = append(kept, archived{p.Number, size})
		total += size
	}
	limit := m.dbOptions.WALSizeLimitMB << 20
	if limit == 0 {
		return
	}
	slices.SortFunc(kept, func(a, b archived) int { return int(int64(a.number) - int64(b.number)) })
	for _, a := range kept {
		if total <= limit {
			break
		}
		remove(a.number)
		total -= a.size
	}
}
