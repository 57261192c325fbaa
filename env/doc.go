// Package env connects the engine to the operating system: the POSIX file
// system, the default Env with its thread pools, and wrappers that change one
// of them.
//
// Main types: PosixFileSystem (fs_posix.go) and its files (io_posix.go);
// asyncReads, its means to read several requests at once and asynchronously
// (async_read.go, over io_posix_multi_read.go and io_uring_linux.go);
// CompositeEnv, which Default returns one of; EmulatedSystemClock,
// ReadOnlyFileSystem, RemapFileSystem, ChrootFileSystem; the generators of
// unique ids (unique_id_gen.go). The in-memory file system is in env/mockenv.
//
// Invariants:
//   - Everything that asks the system goes through sysFile and ioRing; what only
//     Linux has is in *_linux.go, the other systems' substitutes in *_other.go.
//   - The kernel writes to memory that it knows by address only. multiRing.slots
//     and asyncQueue.reads hold it, on the heap, until the completion was taken,
//     also when a caller gives up.
//   - A ring's completions are taken by one goroutine at a time, and never by
//     another while one waits in the kernel for them (asyncQueue.taking).
//   - A file's methods do not allocate unless they fail.
//   - Error texts are upstream's, with the C library's wording of errno.
//   - A LOCK file is locked by fcntl over all of its bytes, as the C++ engine
//     does, and recorded in lockedFiles, since fcntl does not keep a process
//     from locking twice. The record is made before the file is opened: closing
//     any descriptor of a file gives up the process's lock on it.
//
// Locks: lockedFiles.mu is held during LockFile and UnlockFile and is innermost,
// as are those of the block size cache, of the remapping file systems and of
// asyncReads. asyncRead.finished is held during a callback and comes before
// asyncQueue.mu, which is innermost.
//
// Read fs_posix.go first.
package env
