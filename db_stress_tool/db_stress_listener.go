// Port of db_stress_tool/db_stress_listener.{h,cc}.

package dbstresstool

import (
	"encoding/binary"
	"math/rand/v2"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/uniqueid"
)

const uniqueIDSize = 24

// uniqueIDs is a file of the ids of all tables that the runs made; none may
// come twice.
type uniqueIDs struct {
	tool *Tool

	mu     sync.Mutex
	file   rocksdb.FSWritableFile
	offset int // of the 8 bytes of an id that are compared
	seen   map[uint64]struct{}
}

// maxUniqueIDs is how many are compared: beyond it chance would repeat some.
const maxUniqueIDs = 4294967

func openUniqueIDs(t *Tool, dir string) (*uniqueIDs, error) {
	fs := t.rawEnv.GetFileSystem()
	if err := fs.CreateDirIfMissing(dir, nil); err != nil {
		return nil, err
	}
	u := &uniqueIDs{tool: t, offset: rand.IntN(uniqueIDSize - 7), seen: map[uint64]struct{}{}}
	name := path.Join(dir, ".unique_ids")
	tmp := name + ".tmp"
	// The temporary file, if a killed run left one, has more than the other.
	if err := fs.FileExists(tmp, nil); rocksdb.IsNotFound(err) {
		if fs.FileExists(name, nil) == nil {
			if err := fs.RenameFile(name, tmp, nil); err != nil {
				return nil, err
			}
		}
	} else if err != nil {
		return nil, err
	}
	var old []byte
	if fs.FileExists(tmp, nil) == nil {
		var err error
		if old, err = rocksdb.ReadFileToString(fs, tmp, nil); err != nil {
			return nil, err
		}
		if len(old)%uniqueIDSize != 0 {
			t.printf("Warning: clearing corrupt unique id file\n")
			old = nil
		}
	}
	for i := 0; i < len(old); i += uniqueIDSize {
		u.add(old[i : i+uniqueIDSize])
	}
	t.printf("(Re-)verified %d unique IDs\n", len(u.seen))
	var err error
	if u.file, err = fs.NewWritableFile(name, nil); err != nil {
		return nil, err
	}
	if err = u.file.Append(old, nil); err != nil {
		return nil, err
	}
	if fs.FileExists(tmp, nil) == nil {
		err = fs.DeleteFile(tmp, nil)
	}
	return u, err
}

func (u *uniqueIDs) add(id []byte) {
	n := binary.LittleEndian.Uint64(id[u.offset:])
	if _, twice := u.seen[n]; twice {
		u.tool.terminate("Duplicate partial unique ID found (offset=%d, count=%d)", u.offset, len(u.seen))
	}
	u.seen[n] = struct{}{}
}

func (u *uniqueIDs) verify(id []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.seen) >= maxUniqueIDs {
		return
	}
	if err := u.file.Append(id, nil); err != nil {
		u.tool.terminate("Error writing to unique id file: %v", err)
	}
	u.add(id)
}

func (u *uniqueIDs) close() { _ = u.file.Close(nil) }

// stressListener checks what the engine tells, and makes it slow at random.
type stressListener struct {
	rocksdb.EventListenerBase
	test   *stressTest
	shared *sharedState
	dir    string
	ids    *uniqueIDs

	shuttingDown atomic.Bool
	pending      atomic.Int64 // table files begun and not ended

	mu struct {
		sync.Mutex
		compacting map[uint64]struct{}         // input files between Begin and PreCommit
		committed  map[int]map[uint64]struct{} // by job, between PreCommit and Completed
	}
}

func newStressListener(s *stressTest, sh *sharedState) (*stressListener, error) {
	dir := s.expectedDir
	if dir == "" {
		dir = s.dbPath
	}
	ids, err := openUniqueIDs(s.tool, dir)
	if err != nil {
		return nil, err
	}
	l := &stressListener{test: s, shared: sh, dir: s.dbPath, ids: ids}
	l.mu.compacting = map[uint64]struct{}{}
	l.mu.committed = map[int]map[uint64]struct{}{}
	return l, nil
}

// Name is upstream's.
func (*stressListener) Name() string { return "DBStressListener" }

func (l *stressListener) fail(format string, args ...any) { l.test.tool.terminate(format, args...) }

func randomSleep() { time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond) }

func (l *stressListener) verifyFamily(name string) {
	if name == rocksdb.DefaultColumnFamilyName {
		return
	}
	for _, c := range name {
		if c < '0' || c > '9' {
			l.fail("a listener was told of column family %q", name)
		}
	}
}

func tableNumber(file string) (uint64, bool) {
	p, ok := filename.ParseFileName(path.Base(file), "")
	return p.Number, ok && p.Type == rocksdb.TableFile
}

func (l *stressListener) verifyFile(file string) {
	if _, ok := tableNumber(file); !ok || path.Dir(file) != path.Clean(l.dir) {
		l.fail("a listener was told of table file %q; the database is in %q", file, l.dir)
	}
}

func (l *stressListener) verifyUniqueID(p *rocksdb.TableProperties, file string) {
	id, err := uniqueid.GetExtendedUniqueIdFromTableProperties(p)
	if err != nil || len(id) != uniqueIDSize {
		l.fail("Error getting SST unique id for %s: %v", file, err)
		return
	}
	l.ids.verify([]byte(id))
}

// OnDBShutdownBegin ends the checks of deletions.
func (l *stressListener) OnDBShutdownBegin(rocksdb.DBRef) { l.shuttingDown.Store(true) }

// OnFlushBegin sleeps.
func (l *stressListener) OnFlushBegin(rocksdb.DBRef, *rocksdb.FlushJobInfo) { randomSleep() }

// OnFlushCompleted notes what is persisted.
func (l *stressListener) OnFlushCompleted(_ rocksdb.DBRef, info *rocksdb.FlushJobInfo) {
	l.verifyFamily(info.CFName)
	l.verifyFile(info.FilePath)
	randomSleep()
	l.shared.setPersistedSeqno(info.LargestSeqno)
}

// OnTableFileDeleted checks that no compaction reads the file.
func (l *stressListener) OnTableFileDeleted(info *rocksdb.TableFileDeletionInfo) {
	if n, ok := tableNumber(info.FilePath); ok && !l.shuttingDown.Load() {
		l.mu.Lock()
		_, busy := l.mu.compacting[n]
		l.mu.Unlock()
		if busy {
			l.fail("OnTableFileDeleted for file tracked as being compacted (between Begin and PreCommit): file_number=%d", n)
		}
	}
	randomSleep()
}

// OnCompactionBegin checks that no two compactions read a file.
func (l *stressListener) OnCompactionBegin(_ rocksdb.DBRef, ci *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	for i := range ci.InputFileInfos {
		n := ci.InputFileInfos[i].FileNumber
		if _, busy := l.mu.compacting[n]; busy {
			l.mu.Unlock()
			l.fail("Concurrent compaction of SST file detected: cf=%s file_number=%d", ci.CFName, n)
			return
		}
		l.mu.compacting[n] = struct{}{}
	}
	l.mu.Unlock()
	randomSleep()
}

// OnCompactionPreCommit takes the files out of the busy ones.
func (l *stressListener) OnCompactionPreCommit(_ rocksdb.DBRef, ci *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	files := map[uint64]struct{}{}
	for i := range ci.InputFileInfos {
		n := ci.InputFileInfos[i].FileNumber
		if _, busy := l.mu.compacting[n]; !busy {
			l.mu.Unlock()
			l.fail("OnCompactionPreCommit for file not in tracking set: cf=%s file_number=%d", ci.CFName, n)
			return
		}
		delete(l.mu.compacting, n)
		files[n] = struct{}{}
	}
	_, twice := l.mu.committed[ci.JobID]
	l.mu.committed[ci.JobID] = files
	l.mu.Unlock()
	if twice {
		l.fail("OnCompactionPreCommit: duplicate job_id %d", ci.JobID)
	}
	randomSleep()
}

// OnCompactionCompleted checks the files' names, and that the job was
// committed.
func (l *stressListener) OnCompactionCompleted(_ rocksdb.DBRef, ci *rocksdb.CompactionJobInfo) {
	l.verifyFamily(ci.CFName)
	if len(ci.InputFiles)+len(ci.OutputFiles) == 0 {
		l.fail("OnCompactionCompleted without files: job_id=%d", ci.JobID)
	}
	for _, f := range ci.InputFiles {
		l.verifyFile(f)
	}
	for _, f := range ci.OutputFiles {
		l.verifyFile(f)
	}
	l.mu.Lock()
	files, ok := l.mu.committed[ci.JobID]
	delete(l.mu.committed, ci.JobID)
	l.mu.Unlock()
	if !ok {
		l.fail("OnCompactionCompleted without prior OnCompactionPreCommit: cf=%s job_id=%d", ci.CFName, ci.JobID)
	}
	for i := range ci.InputFileInfos {
		if _, ok := files[ci.InputFileInfos[i].FileNumber]; !ok {
			l.fail("OnCompactionCompleted: input file %d not in PreCommit set for job_id=%d", ci.InputFileInfos[i].FileNumber, ci.JobID)
		}
	}
	randomSleep()
}

// OnTableFileCreationStarted counts.
func (l *stressListener) OnTableFileCreationStarted(*rocksdb.TableFileCreationBriefInfo) {
	l.pending.Add(1)
}

// OnTableFileCreated checks the table's properties and id.
func (l *stressListener) OnTableFileCreated(info *rocksdb.TableFileCreationInfo) {
	l.verifyFamily(info.CFName)
	if info.DBName != l.dir {
		l.fail("OnTableFileCreated of database %q in %q", info.DBName, l.dir)
	}
	if info.Status == nil {
		p := &info.TableProperties
		l.verifyFile(info.FilePath)
		if info.FileSize == 0 || p.DataSize == 0 && p.NumRangeDeletions == 0 || p.RawKeySize == 0 || p.NumEntries == 0 {
			l.fail("OnTableFileCreated of an empty table %s: size %d, data %d, entries %d", info.FilePath, info.FileSize, p.DataSize, p.NumEntries)
		}
		l.verifyUniqueID(p, info.FilePath)
	}
	l.pending.Add(-1)
}

// OnMemTableSealed sleeps.
func (l *stressListener) OnMemTableSealed(*rocksdb.MemTableInfo) { randomSleep() }

// OnColumnFamilyHandleDeletionStarted sleeps.
func (l *stressListener) OnColumnFamilyHandleDeletionStarted(rocksdb.ColumnFamilyHandle) {
	randomSleep()
}

// OnExternalFileIngested checks the table's id.
func (l *stressListener) OnExternalFileIngested(_ rocksdb.DBRef, info *rocksdb.ExternalFileIngestionInfo) {
	randomSleep()
	l.verifyUniqueID(&info.TableProperties, info.InternalFilePath)
}

// OnBackgroundError lets the test resume the database.
func (l *stressListener) OnBackgroundError(rocksdb.BackgroundErrorReason, *error) {
	randomSleep()
	l.test.wakeRecovery()
}

// OnStallConditionsChanged sleeps.
func (l *stressListener) OnStallConditionsChanged(*rocksdb.WriteStallInfo) { randomSleep() }

// OnBackgroundJobPressureChanged sleeps.
func (l *stressListener) OnBackgroundJobPressureChanged(rocksdb.DBRef, *rocksdb.BackgroundJobPressure) {
	randomSleep()
}

// OnFileReadFinish sleeps seldom.
func (l *stressListener) OnFileReadFinish(info *rocksdb.FileOperationInfo) {
	if info.Length >= 1000000 || rand.IntN(1000) == 0 {
		randomSleep()
	}
}

// OnFileWriteFinish sleeps seldom.
func (l *stressListener) OnFileWriteFinish(info *rocksdb.FileOperationInfo) {
	if info.Length >= 1000000 || rand.IntN(64) == 0 {
		randomSleep()
	}
}

// ShouldBeNotifiedOnFileIO is true.
func (l *stressListener) ShouldBeNotifiedOnFileIO() bool {
	randomSleep()
	return true
}

// OnErrorRecoveryBegin stops the injection of errors, where asked to.
func (l *stressListener) OnErrorRecoveryBegin(rocksdb.BackgroundErrorReason, error, *bool) {
	randomSleep()
}

// OnErrorRecoveryEnd sleeps.
func (l *stressListener) OnErrorRecoveryEnd(*rocksdb.BackgroundErrorRecoveryInfo) { randomSleep() }
