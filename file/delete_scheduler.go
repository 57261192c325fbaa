// Port of file/delete_scheduler.{h,cc}. Differs: made by SstFileManagerImpl
// alone; Close instead of a destructor.

package file

import (
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// TrashExtension marks files that wait to be deleted.
const TrashExtension = ".trash"

const microsInSecond = 1000 * 1000

// IsTrashFile tells whether a path is that of a file waiting to be deleted.
func IsTrashFile(path string) bool { return strings.HasSuffix(path, TrashExtension) }

// trashFile is a file waiting to be deleted.
type trashFile struct {
	name      string
	dirToSync string // synced after the deletion, unless ""
	accounted bool   // tracked by the manager
	bucket    *int32
}

// DeleteScheduler deletes files in the background at a bounded rate: each is
// renamed to *.trash at once, large ones are then cut piece by piece. It is
// safe for concurrent use.
type DeleteScheduler struct {
	clock   rocksdb.SystemClock
	fs      rocksdb.FileSystem
	infoLog rocksdb.Logger
	sfm     *SstFileManagerImpl

	totalTrashSize      atomic.Uint64
	rateBytesPerSec     atomic.Int64
	maxTrashDBRatio     atomic.Uint64 // bits of a float64
	bytesMaxDeleteChunk uint64
	linkErrorPrinted    bool // of the background goroutine

	// fileMoveMu makes finding a free name and renaming to it one step.
	fileMoveMu sync.Mutex
	// closed ends the background goroutine's waits for time.
	closed chan struct{}
	done   sync.WaitGroup

	mu struct {
		sync.Mutex
		cond       *sync.Cond // queue, pending or closing changed
		queue      []trashFile
		pending    int // files queued or in work
		nextBucket int32
		buckets    map[int32]int // pending by bucket
		bgErrors   map[string]error
		closing    bool
		running    bool
		stats      rocksdb.Statistics
	}
}

func newDeleteScheduler(clock rocksdb.SystemClock, fs rocksdb.FileSystem, rate int64, infoLog rocksdb.Logger,
	sfm *SstFileManagerImpl, maxTrashDBRatio float64, bytesMaxDeleteChunk uint64) *DeleteScheduler {
	d := &DeleteScheduler{clock: clock, fs: fs, infoLog: infoLog, sfm: sfm, bytesMaxDeleteChunk: bytesMaxDeleteChunk, closed: make(chan struct{})}
	d.mu.cond = sync.NewCond(&d.mu.Mutex)
	d.mu.buckets = map[int32]int{}
	d.mu.bgErrors = map[string]error{}
	d.SetMaxTrashDBRatio(maxTrashDBRatio)
	d.SetRateBytesPerSecond(rate)
	return d
}

// Close ends the background goroutine. Files that still wait stay as trash,
// for the next opening to clean up.
func (d *DeleteScheduler) Close() {
	d.mu.Lock()
	if !d.mu.closing {
		d.mu.closing = true
		close(d.closed)
		d.mu.cond.Broadcast()
	}
	d.mu.Unlock()
	d.done.Wait()
}

// GetRateBytesPerSecond is 0 or less when files are deleted at once.
func (d *DeleteScheduler) GetRateBytesPerSecond() int64 { return d.rateBytesPerSec.Load() }

// SetRateBytesPerSecond changes the rate, also of files that wait.
func (d *DeleteScheduler) SetRateBytesPerSecond(rate int64) {
	d.rateBytesPerSec.Store(rate)
	d.mu.Lock()
	defer d.mu.Unlock()
	if rate > 0 && !d.mu.running && !d.mu.closing {
		d.mu.running = true
		d.done.Go(d.backgroundEmptyTrash)
		logging.Info(d.infoLog, "Created background thread for deletion scheduler with rate_bytes_per_sec: %d", rate)
	}
}

// GetMaxTrashDBRatio is what SetMaxTrashDBRatio set.
func (d *DeleteScheduler) GetMaxTrashDBRatio() float64 {
	return math.Float64frombits(d.maxTrashDBRatio.Load())
}

// SetMaxTrashDBRatio bounds the trash to that part of the tracked files' size;
// beyond it files are deleted at once.
func (d *DeleteScheduler) SetMaxTrashDBRatio(r float64) {
	d.maxTrashDBRatio.Store(math.Float64bits(max(r, 0)))
}

// GetTotalTrashSize is that of tracked files, in bytes.
func (d *DeleteScheduler) GetTotalTrashSize() uint64 { return d.totalTrashSize.Load() }

// SetStatisticsPtr counts deletions from now on.
func (d *DeleteScheduler) SetStatisticsPtr(stats rocksdb.Statistics) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.stats = stats
}

// GetBackgroundErrors gives the errors of the background by path.
func (d *DeleteScheduler) GetBackgroundErrors() map[string]error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.mu.bgErrors)
}

// DeleteFile deletes a tracked file, in the background if there is a rate and,
// unless forceBG, not too much trash.
func (d *DeleteScheduler) DeleteFile(path, dirToSync string, forceBG bool) error {
	total := d.sfm.GetTotalSize()
	trash, ratio := d.totalTrashSize.Load(), d.GetMaxTrashDBRatio()
	if d.rateBytesPerSec.Load() > 0 && (forceBG || float64(trash) <= float64(total)*ratio) {
		return d.addToQueue(trashFile{name: path, dirToSync: dirToSync, accounted: true})
	}
	err := d.deleteImmediately(path, true)
	if err == nil {
		logging.Info(d.infoLog, "Deleted file %s immediately, rate_bytes_per_sec %d, total_trash_size %d, total_size %d, max_trash_db_ratio %f",
			path, d.rateBytesPerSec.Load(), trash, total, ratio)
	}
	return err
}

// DeleteUnaccountedFile deletes a file that is not tracked, in the background
// if there is a rate and, unless forceBG, this is its last name. bucket may be
// nil.
func (d *DeleteScheduler) DeleteUnaccountedFile(path, dirToSync string, forceBG bool, bucket *int32) error {
	links, err := d.fs.NumFileLinks(path, nil)
	if err != nil {
		links = 1
	}
	if d.rateBytesPerSec.Load() > 0 && (forceBG || links <= 1) {
		return d.addToQueue(trashFile{name: path, dirToSync: dirToSync, bucket: bucket})
	}
	err = d.deleteImmediately(path, false)
	if err == nil {
		logging.Info(d.infoLog, "Deleted file %s immediately, rate_bytes_per_sec %d", path, d.rateBytesPerSec.Load())
	}
	return err
}

func (d *DeleteScheduler) tick(t rocksdb.Ticker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	monitoring.RecordTick(d.mu.stats, t, 1)
}

func (d *DeleteScheduler) deleteImmediately(path string, accounted bool) error {
	syncpoint.ProcessArg("DeleteScheduler::DeleteFile", path)
	if err := d.fs.DeleteFile(path, nil); err != nil {
		return err
	}
	d.onDeleteFile(path, accounted)
	d.tick(rocksdb.FilesDeletedImmediately)
	return nil
}

func (d *DeleteScheduler) onDeleteFile(path string, accounted bool) {
	if accounted {
		d.sfm.OnDeleteFile(path)
		return
	}
	syncpoint.ProcessArg("DeleteScheduler::OnDeleteFile", path)
}

func (d *DeleteScheduler) addToQueue(f trashFile) error {
	path := f.name
	trash, err := d.markAsTrash(path, f.accounted)
	if err != nil {
		logging.Error(d.infoLog, "Failed to mark %s as trash -- %s", path, err)
		return d.deleteImmediately(path, f.accounted)
	}
	logging.Info(d.infoLog, "Mark file: %s as trash", trash)
	f.name = trash
	if f.accounted {
		if size, err := d.fs.GetFileSize(trash, nil); err == nil {
			d.totalTrashSize.Add(size)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	monitoring.RecordTick(d.mu.stats, rocksdb.FilesMarkedTrash, 1)
	d.mu.queue = append(d.mu.queue, f)
	d.mu.pending++
	if f.bucket != nil {
		if n, ok := d.mu.buckets[*f.bucket]; ok {
			d.mu.buckets[*f.bucket] = n + 1
		}
	}
	d.mu.cond.Broadcast()
	return nil
}

// markAsTrash renames a file to a free name with the extension.
func (d *DeleteScheduler) markAsTrash(path string, accounted bool) (string, error) {
	if i := strings.LastIndexByte(path, '/'); i < 0 || i == len(path)-1 {
		return "", rocksdb.InvalidArgument("file_path is corrupted", path)
	}
	if IsTrashFile(path) {
		return path, nil
	}
	d.fileMoveMu.Lock()
	defer d.fileMoveMu.Unlock()
	trash := path + TrashExtension
	for n := 0; ; n++ {
		err := d.fs.FileExists(trash, nil)
		if rocksdb.IsNotFound(err) {
			break
		}
		if err != nil {
			return "", err
		}
		trash = fmt.Sprintf("%s%d%s", path, n, TrashExtension)
	}
	if err := d.fs.RenameFile(path, trash, nil); err != nil {
		return "", err
	}
	if accounted {
		d.sfm.OnMoveFile(path, trash)
	}
	return trash, nil
}

// backgroundEmptyTrash runs until Close.
func (d *DeleteScheduler) backgroundEmptyTrash() {
	syncpoint.Process("DeleteScheduler::BackgroundEmptyTrash")
	d.mu.Lock()
	defer d.mu.Unlock()
	for !d.mu.closing {
		if len(d.mu.queue) == 0 {
			d.mu.cond.Wait()
			continue
		}
		d.emptyQueueLocked()
	}
}

// emptyQueueLocked deletes what is queued, waiting after each step until as
// much time has passed as the bytes deleted so far are worth. d.mu is given up
// meanwhile.
func (d *DeleteScheduler) emptyQueueLocked() {
	start, deleted, rate := d.clock.NowMicros(), uint64(0), d.rateBytesPerSec.Load()
	for len(d.mu.queue) > 0 && !d.mu.closing {
		if now := d.rateBytesPerSec.Load(); now != rate {
			start, deleted, rate = d.clock.NowMicros(), 0, now
			logging.Info(d.infoLog, "rate_bytes_per_sec is changed to %d", rate)
		}
		f := d.mu.queue[0]
		d.mu.Unlock()
		n, complete, err := d.deleteTrashFile(f)
		deleted += n
		penalty := uint64(0)
		if rate > 0 {
			penalty = deleted * microsInSecond / uint64(rate)
		}
		d.mu.Lock()
		if complete {
			monitoring.RecordTick(d.mu.stats, rocksdb.FilesDeletedFromTrashQueue, 1)
			d.mu.queue = d.mu.queue[1:]
		}
		if err != nil {
			d.mu.bgErrors[f.name] = err
		}
		d.mu.Unlock()
		d.waitUntil(start + penalty)
		syncpoint.ProcessArg("DeleteScheduler::BackgroundEmptyTrash:Wait", penalty)
		d.mu.Lock()
		if complete {
			d.completeLocked(f)
		}
	}
}

// waitUntil waits for the time or for Close.
func (d *DeleteScheduler) waitUntil(micros uint64) {
	for !d.clock.TimedWait(d.closed, micros) {
		select {
		case <-d.closed:
			return
		default:
		}
	}
}

func (d *DeleteScheduler) completeLocked(f trashFile) {
	d.mu.pending--
	left := -1
	if f.bucket != nil {
		if n, ok := d.mu.buckets[*f.bucket]; ok {
			left = n - 1
			d.mu.buckets[*f.bucket] = left
		}
	}
	if d.mu.pending == 0 || left == 0 {
		d.mu.cond.Broadcast()
	}
}

// deleteTrashFile deletes a file, or the end of a large one, and returns how
// many bytes went and whether the file is done with.
func (d *DeleteScheduler) deleteTrashFile(f trashFile) (deleted uint64, complete bool, err error) {
	syncpoint.ProcessArg("DeleteScheduler::DeleteTrashFile:DeleteFile", f.name)
	size, err := d.fs.GetFileSize(f.name, nil)
	if err == nil {
		if d.cutTail(f.name, size) {
			deleted = d.bytesMaxDeleteChunk
		} else {
			deleted, complete = size, true
			err = d.deleteWhole(f)
		}
	}
	if err != nil {
		logging.Error(d.infoLog, "Failed to delete %s from trash -- %s", f.name, err)
		return 0, true, err
	}
	if f.accounted {
		d.totalTrashSize.Add(-deleted)
	}
	return deleted, complete, nil
}

// cutTail takes a chunk off a large file with no other name; false when it did
// not.
func (d *DeleteScheduler) cutTail(name string, size uint64) bool {
	if d.bytesMaxDeleteChunk == 0 || size <= d.bytesMaxDeleteChunk {
		return false
	}
	links, err := d.fs.NumFileLinks(name, nil)
	switch {
	case err != nil:
		if !d.linkErrorPrinted {
			d.linkErrorPrinted = true
			logging.Info(d.infoLog, "Cannot delete files slowly through ftruncate from trash as Env::NumFileLinks() returns error: %s", err)
		}
		return false
	case links != 1:
		logging.Info(d.infoLog, "Cannot delete %s slowly through ftruncate from trash as it has other links", name)
		return false
	}
	w, err := d.fs.ReopenWritableFile(name, nil)
	if err == nil {
		err = w.Truncate(size-d.bytesMaxDeleteChunk, nil)
		if err == nil {
			syncpoint.Process("DeleteScheduler::DeleteTrashFile:Fsync")
			err = w.Fsync(nil)
		}
		if cerr := w.Close(nil); err == nil {
			err = cerr
		}
	}
	if err != nil {
		logging.Warn(d.infoLog, "Failed to partially delete %s from trash -- %s", name, err)
		return false
	}
	return true
}

func (d *DeleteScheduler) deleteWhole(f trashFile) error {
	if err := d.fs.DeleteFile(f.name, nil); err != nil {
		return err
	}
	if f.dirToSync != "" {
		dir, err := d.fs.NewDirectory(f.dirToSync, nil)
		if err != nil {
			return err
		}
		err = dir.FsyncWithDirOptions(nil, rocksdb.DirFsyncOptions{Reason: rocksdb.DirFsyncFileDeleted})
		_ = dir.Close(nil)
		if err != nil {
			return err
		}
	}
	d.onDeleteFile(f.name, f.accounted)
	return nil
}

// WaitForEmptyTrash waits until nothing is pending, or Close.
func (d *DeleteScheduler) WaitForEmptyTrash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.mu.pending > 0 && !d.mu.closing {
		d.mu.cond.Wait()
	}
}

// NewTrashBucket makes a group of deletions to wait for; nil when files are
// deleted at once.
func (d *DeleteScheduler) NewTrashBucket() *int32 {
	if d.rateBytesPerSec.Load() <= 0 {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.mu.nextBucket
	d.mu.nextBucket++
	d.mu.buckets[n] = 0
	return &n
}

// WaitForEmptyTrashBucket waits until nothing of a bucket is pending, or
// Close. The bucket is then gone.
func (d *DeleteScheduler) WaitForEmptyTrashBucket(bucket int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.mu.buckets[bucket] > 0 && !d.mu.closing {
		d.mu.cond.Wait()
	}
	delete(d.mu.buckets, bucket)
}

// CleanupDirectory deletes the trash that an earlier process left in a
// directory, by way of sfm if that is not nil. The first error is returned,
// after all was tried.
func CleanupDirectory(fs rocksdb.FileSystem, sfm *SstFileManagerImpl, dir string) error {
	opts := rocksdb.NewIOOptions()
	opts.DoNotRecurse = true
	names, err := fs.GetChildren(dir, opts)
	if err != nil {
		return err
	}
	var first error
	for _, name := range names {
		if !IsTrashFile(name) {
			continue
		}
		path := dir + "/" + name
		if sfm != nil {
			err = sfm.OnAddFile(path)
			if derr := sfm.ScheduleFileDeletion(path, dir, false); err == nil {
				err = derr
			}
		} else {
			err = fs.DeleteFile(path, nil)
		}
		if first == nil {
			first = err
		}
	}
	return first
}
