// Package logging writes the info log.
//
// Main types: EnvLogger writes one file; AutoRollLogger puts a full or old
// file aside and begins another; LogBuffer holds lines back while a lock is
// held; EventLogger and JSONWriter write events as JSON. The functions Debug,
// Info, Warn, Error, Fatal and Header are how the engine logs: they accept a
// nil Logger and name the calling file and line.
//
// A line in the file is
//
//	2026/11/30-12:00:00.123456 4711 [db/db_impl/db_impl.go:99] text
//
// in local time, with the thread's number; after it "[WARN] " and the like for
// levels other than Info. Lines of Warn and above are flushed at once, others
// within five seconds of the next line.
//
// Locks: AutoRollLogger.mu before EnvLogger.mu. Nothing else is called with
// either held but the file system.
//
// Read logging.go first.
package logging
