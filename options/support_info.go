// Port of db/db_impl/db_impl.cc (DumpSupportInfo).

package options

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// DumpSupportInfo writes to log what this build can do. Of the numbers of custom
// compressions, which are not supported without a manager, upstream gives all;
// here a line gives their range.
func DumpSupportInfo(log rocksdb.Logger) {
	d := dumper{log: log, header: true}
	d.line("Compression algorithms supported:")
	for _, t := range compressionTypes {
		if t.value != rocksdb.NoCompression && t.value != rocksdb.DisableCompressionOption && t.value < rocksdb.FirstCustomCompression {
			d.line("\t%s supported: %d", t.name, compression.CompressionTypeSupported(t.value))
		}
	}
	d.line("\tkCustomCompression%02X to %02X supported: 0", int(rocksdb.FirstCustomCompression), int(rocksdb.LastCustomCompression))
	d.line("Fast CRC32 supported: the processor's instruction where it has one, by hash/crc32")
	d.line("DMutex implementation: sync.Mutex")
	d.line("Jemalloc supported: 0")
}
