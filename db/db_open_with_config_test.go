// Port of db/db_open_with_config_test.cc.

package db_test

import (
	"math"
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

func TestDBOpenWithConfigTest_OpenWithComprehensiveConfig(t *testing.T) {
	x := newDBTest(t)
	o := rocksdb.DefaultOptions()
	o.Env, o.CreateIfMissing, o.MaxOpenFiles = x.env, true, -1
	o.Compression, o.BottommostCompression = rocksdb.LZ4Compression, rocksdb.ZSTD
	co := &o.CompressionOpts
	co.Checksum, co.Enabled, co.UseZSTDDictTrainer = true, true, true
	co.MaxCompressedBytesPerKB, co.ParallelThreads, co.WindowBits = 896, 1, -14
	bo := &o.BottommostCompressionOpts
	bo.Enabled, bo.UseZSTDDictTrainer, bo.Level = true, true, 3
	bo.MaxCompressedBytesPerKB, bo.ParallelThreads, bo.WindowBits = 896, 1, -14
	o.WriteBufferSize, o.MaxWriteBufferNumber, o.MinWriteBufferNumberToMerge, o.ArenaBlockSize = 128<<20, 64, 1, 1<<20
	o.MemtablePrefixBloomSizeRatio, o.MemtableWholeKeyFiltering, o.MemtableProtectionBytesPerKey = 0.01, true, 1
	o.NumLevels, o.Level0FileNumCompactionTrigger = 50, 16
	o.Level0SlowdownWritesTrigger, o.Level0StopWritesTrigger = math.MaxInt32, math.MaxInt32
	o.TargetFileSizeBase, o.MaxBytesForLevelBase, o.MaxCompactionBytes = 512<<20, 100<<20, 13421772800
	o.SoftPendingCompactionBytesLimit, o.HardPendingCompactionBytesLimit = 0, 0
	o.LevelCompactionDynamicLevelBytes, o.DisableAutoCompactions = false, true
	o.CompactionStyle, o.CompactionPri = rocksdb.CompactionStyleFIFO, rocksdb.ByCompensatedSize
	o.CompactionOptionsFIFO.TrivialCopyBufferSize, o.CompactionOptionsFIFO.MaxTableFilesSize = 4096, 1<<50
	u := &o.CompactionOptionsUniversal
	u.ReduceFileLocking, u.MaxSizeAmplificationPercent, u.MaxMergeWidth, u.SizeRatio = true, 50, math.MaxUint32, 10
	o.EnableBlobFiles, o.MinBlobSize, o.BlobFileSize, o.BlobCompressionType = true, 0, 256<<20, rocksdb.NoCompression
	o.MaxSuccessiveMerges, o.StrictMaxSuccessiveMerges = 1000, true
	o.TTL, o.PreserveInternalTimeSeconds = 21600, 1209600
	o.BlockProtectionBytesPerKey, o.ParanoidMemoryChecks, o.ReportBGIOStats = 1, true, true
	o.VerifyOutputFlags = rocksdb.VerifyBlockChecksum | rocksdb.EnableForLocalCompaction
	x.destroyAndReopen(o)

	large := strings.Repeat("x", 1000)
	x.must(x.db.PutEntity(nil, []byte("key1"), columns("", "value1", "attr_name1", "attr_value1")))
	x.must(x.db.PutEntity(nil, []byte("key2"), columns("", large, "attr_large", "large_attr_value")))
	x.mustPut(0, "key3", "value1")
	x.flush(0)
	x.wantGet(0, "key1", "value1")
	x.wantGet(0, "key2", large)
	got := x.db.GetOptions()
	if got.Compression != o.Compression || got.BottommostCompression != o.BottommostCompression ||
		got.CompactionStyle != rocksdb.CompactionStyleFIFO || !got.EnableBlobFiles {
		t.Fatal("the options are other ones")
	}
}
