// Package env connects the engine to the operating system: the POSIX file
// system, the default Env with its thread pools, and wrappers that change one
// of them.
//
// Main types: PosixFileSystem (fs_posix.go) and its files (io_posix.go);
// CompositeEnv, which Default returns one of; EmulatedSystemClock,
// ReadOnlyFileSystem, RemapFileSystem, ChrootFileSystem; the generators of
// unique ids (unique_id_gen.go). The in-memory file system is in env/mockenv.
//
// Invariants:
//   - Everything that asks the system goes through sysFile; what only Linux has
//     is in sys_linux.go, the other systems' substitutes in sys_other.go.
//   - A file's methods do not allocate unless they fail.
//   - Error texts are upstream's, with the C library's wording of errno.
//   - A LOCK file is locked by fcntl over all of its bytes, as the C++ engine
//     does, and recorded in lockedFiles, since fcntl does not keep a process
//     from locking twice. The record is made before the file is opened: closing
//     any descriptor of a file gives up the process's lock on it.
//
// Locks: lockedFiles.mu is held during LockFile and UnlockFile and is innermost,
// as are those of the block size cache and of the remapping file systems.
//
// Read fs_posix.go first.
package env
