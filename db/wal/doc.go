// Package wal writes and reads log files: the write-ahead log and, with the
// same format, the MANIFEST.
//
// A log is a sequence of 32 KiB blocks; a record never crosses a block's end.
// A block's last bytes too few for a header are zeros. A record:
//
//	fixed32  masked crc32c of all that follows, the length excepted
//	fixed16  payload length
//	uint8    RecordType
//	fixed32  log number, low 32 bits; recyclable types only
//	payload
//
// A logical record is one Full record, or First, Middle…, Last.
//
//	SetCompressionType   fixed32 compression type; first record of the file
//	UserDefinedTimestampSize   (fixed32 family id, fixed16 size)…
//	PredecessorWALInfo   fixed64 log number, fixed64 size, fixed64 last sequence number
//
// Main types: Writer; Reader, which reads a log to its end as a recovery mode
// says; FragmentBufferedReader, which follows a log that is being written.
//
// Types with bit 7 set may be skipped by a reader that does not know them.
// With compression each logical record is one zstd frame, cut into fragments.
//
// Invariants: a Writer is used by one goroutine at a time; a recyclable record
// whose log number is not the file's is the end of the log.
package wal
