// Port of db/db_open_with_config_test.cc.

package db_test

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestDBOpenWithConfigTest_ReopenWithSameConfig(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing, o.MaxOpenFiles = x.env, true, -1
	o.Compression, o.BottommostCompression = rocksdb.LZ4Compression, rocksdb.ZSTD
	o.CompactionStyle, o.DisableAutoCompactions, o.NumLevels = rocksdb.CompactionStyleFIFO, true, 50
	o.CompactionOptionsFIFO.MaxTableFilesSize = 1 << 50
	o.EnableBlobFiles, o.MinBlobSize = true, 0
	o.WriteBufferSize, o.MaxWriteBufferNumber = 128<<20, 64
	o.MemtableProtectionBytesPerKey, o.BlockProtectionBytesPerKey, o.ParanoidMemoryChecks = 1, 1, true
	x.destroyAndReopen(o)
	large := strings.Repeat("x", 1000)
	x.puts(0, "key1", "value1", "key2", large, "flush")
	x.reopen(o)
	x.wantGet(0, "key1", "value1")
	x.wantGet(0, "key2", large)
}
