// Package fsutil has file systems that do something beside reading and
// writing: FaultInjectionTestFS fails operations and forgets what was not
// synced, CountedFileSystem counts.
//
// Invariants of FaultInjectionTestFS:
//   - While it is inactive every operation that could change or read a file
//     fails, so that nothing reaches the disk after a simulated crash.
//   - With unsynced data loss on, what a file appended is in memory until it
//     syncs; the target's file ends at fileState.posAtLastSync.
//   - Only files made through it are tracked.
//
// Locks: testFSWritableFile.mu before errorContext.mu before
// FaultInjectionTestFS.mu, with which nothing else is called.
//
// Read fault_injection_fs.go first.
package fsutil
