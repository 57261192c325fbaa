// Port of include/rocksdb/{sst_file_writer,sst_file_reader}.h, as Go programs
// use them.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/table/sstfile"
)

// SstFileWriter makes table files for DB.IngestExternalFile, one after the
// other. It belongs to one goroutine and has to be closed.
type SstFileWriter = sstfile.SstFileWriter

// NewSstFileWriter makes a writer. The options have to be those of the column
// family that the files are for, as far as they say how tables are written. c
// may be nil.
func NewSstFileWriter(o Options, c *SstFileWriterOptions) *SstFileWriter {
	return sstfile.NewSstFileWriter(&o, c)
}

// CreatedBySstFileWriter tells by a table's properties whether a SstFileWriter
// made it.
func CreatedBySstFileWriter(p *TableProperties) bool { return sstfile.CreatedBySstFileWriter(p) }

// SstFileReader reads a table file without a database. It is safe for
// concurrent use once open and has to be closed.
type SstFileReader = sstfile.SstFileReader

// SstFileIterator walks the entries of a table file that a database would show.
type SstFileIterator = sstfile.Iterator

// SstTableIterator walks all point entries of a table file; its keys are
// internal keys, which ParseEntry takes apart.
type SstTableIterator = sstfile.TableIterator

// NewSstFileReader makes a reader for tables that were written with the
// options.
func NewSstFileReader(o Options) *SstFileReader { return sstfile.NewSstFileReader(&o) }

// GetInternalKeyForSeek appends to dst what to seek a user key (without
// timestamp) with in a SstTableIterator.
func GetInternalKeyForSeek(dst, userKey []byte, cmp Comparator) ([]byte, error) {
	return dbformat.GetInternalKeyForSeek(dst, userKey, cmp)
}

// GetInternalKeyForSeekForPrev is GetInternalKeyForSeek for SeekForPrev.
func GetInternalKeyForSeekForPrev(dst, userKey []byte, cmp Comparator) ([]byte, error) {
	return dbformat.GetInternalKeyForSeekForPrev(dst, userKey, cmp)
}

// ParseEntry takes a key of a SstTableIterator apart; the result points into it.
func ParseEntry(internalKey []byte, cmp Comparator) (ParsedEntryInfo, error) {
	return dbformat.ParseEntry(internalKey, cmp)
}
