// Package filename makes and parses the names of a database's files.
//
// It is apart from package file because package logging, which file builds on,
// needs it. SetCurrentFile, SetIdentityFile and SyncManifest, which write
// files, are in package file.
//
// A database directory holds
//
//	CURRENT, LOCK, IDENTITY
//	MANIFEST-<number>              at least six digits, as all but the log's
//	<number>.log                   also in archive/
//	<number>.sst, .ldb, .blob, .dbtmp
//	OPTIONS-<number>[.dbtmp]
//	COMPACTION_PROGRESS-<time>[.dbtmp]
//	METADB-<number>
//	LOG, LOG.old.<microseconds>    or <path>_LOG… in a log directory
//
// Read filename.go; there is nothing else.
package filename
