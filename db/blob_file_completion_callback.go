// Port of db/blob/blob_file_completion_callback.h.

package db

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// BlobFileCompletionCallback tells the SstFileManager, the log and listeners of
// the blob files that flushes and compactions make. It is safe for concurrent
// use; the database's mutex is not held.
type BlobFileCompletionCallback struct {
	SstFileManager rocksdb.SstFileManager // may be nil
	Mutex          sync.Locker            // the database's
	ErrorHandler   *ErrorHandler
	EventLogger    *logging.EventLogger
	Listeners      []rocksdb.EventListener
	DBName         string
}

var _ blob.BlobFileCompletionCallback = (*BlobFileCompletionCallback)(nil)

// OnBlobFileCreationStarted implements blob.BlobFileCompletionCallback.
func (b *BlobFileCompletionCallback) OnBlobFileCreationStarted(c *blob.FileCreation) {
	if len(b.Listeners) == 0 {
		return
	}
	info := b.brief(c)
	for _, l := range b.Listeners {
		l.OnBlobFileCreationStarted(&info)
	}
}

func (b *BlobFileCompletionCallback) brief(c *blob.FileCreation) rocksdb.BlobFileCreationBriefInfo {
	return rocksdb.BlobFileCreationBriefInfo{FileCreationBriefInfo: rocksdb.FileCreationBriefInfo{DBName: b.DBName,
		CFName: c.ColumnFamilyName, FilePath: c.Path, JobID: c.JobID}, Reason: c.Reason}
}

// OnBlobFileCompleted implements blob.BlobFileCompletionCallback. It fails when
// the file takes the last of the space that the SstFileManager allows.
func (b *BlobFileCompletionCallback) OnBlobFileCompleted(c *blob.FileCreation) error {
	var err error
	if m, ok := b.SstFileManager.(*file.SstFileManagerImpl); ok {
		err = m.OnAddFile(c.Path)
		if m.IsMaxAllowedSpaceReached() {
			err = rocksdb.WithSubCode(rocksdb.CodeIOError, rocksdb.SubCodeSpaceLimit, "Max allowed space was reached")
			syncpoint.Process("BlobFileCompletionCallback::CallBack::MaxAllowedSpaceReached")
			b.Mutex.Lock()
			b.ErrorHandler.SetBGError(err, rocksdb.BackgroundErrorReasonFlush)
			b.Mutex.Unlock()
		}
	}
	info := rocksdb.BlobFileCreationInfo{BlobFileCreationBriefInfo: b.brief(c), TotalBlobCount: c.BlobCount,
		TotalBlobBytes: c.BlobBytes, Status: c.Status, FileChecksum: c.ChecksumValue, FileChecksumFuncName: c.ChecksumMethod}
	if info.Status == nil {
		info.Status = err
	}
	if info.FileChecksumFuncName == "" {
		info.FileChecksum, info.FileChecksumFuncName = rocksdb.UnknownFileChecksum, rocksdb.UnknownFileChecksumFuncName
	}
	if b.EventLogger != nil {
		b.EventLogger.Log().Add("cf_name", c.ColumnFamilyName).Add("job", c.JobID).Add("event", "blob_file_creation").
			Add("file_number", c.Number).Add("total_blob_count", c.BlobCount).Add("total_blob_bytes", c.BlobBytes).
			Add("file_checksum", upperHex(info.FileChecksum)).Add("file_checksum_func_name", info.FileChecksumFuncName).
			Add("status", statusText(info.Status)).End()
	}
	for _, l := range b.Listeners {
		l.OnBlobFileCreated(&info)
	}
	return err
}

// BlobFileAdditionInfos are the blob files that a job has made, as listeners are
// told of them; path is the family's first directory.
func BlobFileAdditionInfos(path string, files []blobformat.BlobFileAddition) []rocksdb.BlobFileAdditionInfo {
	infos := make([]rocksdb.BlobFileAdditionInfo, len(files))
	for i := range files {
		f := &files[i]
		infos[i] = rocksdb.BlobFileAdditionInfo{
			BlobFileInfo: rocksdb.BlobFileInfo{BlobFilePath: filename.BlobFileName(path, f.GetBlobFileNumber()),
				BlobFileNumber: f.GetBlobFileNumber()},
			TotalBlobCount: f.GetTotalBlobCount(), TotalBlobBytes: f.GetTotalBlobBytes()}
	}
	return infos
}
