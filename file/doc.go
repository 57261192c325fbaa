// Package file reads and writes files on behalf of the engine: buffers, direct
// I/O alignment, rate limits, statistics, listeners, read-ahead.
//
// Main types: WritableFileWriter, RandomAccessFileReader and
// SequentialFileReader wrap the files of a rocksdb.FileSystem and own them;
// FilePrefetchBuffer reads ahead for one iterator; SstFileManagerImpl and
// DeleteScheduler bound space and delete slowly. Functions copy, create, delete
// and checksum whole files (file_util.go) and set CURRENT and IDENTITY
// (filename.go). The names of files are in file/filename.
//
// Invariants:
//   - WritableFileWriter is used by one goroutine, but for SyncWithoutFlush and
//     the getters. After an error it refuses all until ResetSeenError: what
//     reached the file is not known.
//   - RandomAccessFileReader is safe for concurrent use.
//   - Neither appending to a writer nor reading into a caller's buffer
//     allocates.
//   - With direct I/O all that reaches a file is aligned in offset, length and
//     memory; a writer writes its last page again, padded, until it is full, and
//     cuts the file when it is closed.
//
// Locks: DeleteScheduler.fileMoveMu before SstFileManagerImpl.mu, which is
// never held together with DeleteScheduler.mu. No lock is held while a rate
// limiter waits or a database recovers.
//
// Read writable_file_writer.go first.
package file
