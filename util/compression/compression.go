// Port of util/compression.{h,cc}: names and what is supported. The algorithms
// are in files of their own, the manager in manager.go. Differs:
// XPRESS is not supported, as on upstream's Linux.

package compression

import (
	"fmt"
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

var typeNames = map[rocksdb.CompressionType]string{
	rocksdb.NoCompression:            "NoCompression",
	rocksdb.SnappyCompression:        "Snappy",
	rocksdb.ZlibCompression:          "Zlib",
	rocksdb.BZip2Compression:         "BZip2",
	rocksdb.LZ4Compression:           "LZ4",
	rocksdb.LZ4HCCompression:         "LZ4HC",
	rocksdb.XpressCompression:        "Xpress",
	rocksdb.ZSTD:                     "ZSTD",
	rocksdb.DisableCompressionOption: "DisableOption",
}

// CompressionTypeToString gives the name kept in table properties; it is not
// the one of OPTIONS files.
func CompressionTypeToString(t rocksdb.CompressionType) string {
	if name, ok := typeNames[t]; ok {
		return name
	}
	kind := "Reserved"
	if t >= rocksdb.FirstCustomCompression && t <= rocksdb.LastCustomCompression {
		kind = "Custom"
	}
	return fmt.Sprintf("%s%02X", kind, uint8(t))
}

// CompressionTypeFromString is the inverse of CompressionTypeToString;
// DisableCompressionOption for a name it does not know.
func CompressionTypeFromString(s string) rocksdb.CompressionType {
	for t, name := range typeNames {
		if name == s {
			return t
		}
	}
	for _, kind := range []string{"Custom", "Reserved"} {
		hex, ok := strings.CutPrefix(s, kind)
		var v uint8
		if !ok || len(hex) != 2 {
			continue
		}
		if _, err := fmt.Sscanf(hex, "%02X", &v); err == nil &&
			CompressionTypeToString(rocksdb.CompressionType(v)) == s {
			return rocksdb.CompressionType(v)
		}
	}
	return rocksdb.DisableCompressionOption
}

// CompressionOptionsToString gives the form kept in table properties.
// ParallelThreads is left out, as it does not change files.
func CompressionOptionsToString(o *rocksdb.CompressionOptions) string {
	return fmt.Sprintf("window_bits=%d; level=%d; strategy=%d; max_dict_bytes=%d; "+
		"zstd_max_train_bytes=%d; enabled=%d; max_dict_buffer_bytes=%d; "+
		"use_zstd_dict_trainer=%d; max_compressed_bytes_per_kb=%d; checksum=%d; ",
		o.WindowBits, o.Level, o.Strategy, o.MaxDictBytes, o.ZSTDMaxTrainBytes,
		b2i(o.Enabled), o.MaxDictBufferBytes, b2i(o.UseZSTDDictTrainer),
		o.MaxCompressedBytesPerKB, b2i(o.Checksum))
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// CompressionTypeSupported tells whether blocks of type t can be written.
func CompressionTypeSupported(t rocksdb.CompressionType) bool {
	switch t {
	case rocksdb.NoCompression, rocksdb.SnappyCompression, rocksdb.ZlibCompression,
		rocksdb.BZip2Compression, rocksdb.LZ4Compression, rocksdb.LZ4HCCompression, rocksdb.ZSTD:
		return true
	}
	return false
}

// DictCompressionTypeSupported tells whether t makes use of a dictionary.
func DictCompressionTypeSupported(t rocksdb.CompressionType) bool {
	switch t {
	case rocksdb.ZlibCompression, rocksdb.LZ4Compression, rocksdb.LZ4HCCompression, rocksdb.ZSTD:
		return true
	}
	return false
}

// StreamingCompressionTypeSupported tells whether the log can be compressed
// with t.
func StreamingCompressionTypeSupported(t rocksdb.CompressionType) bool {
	return t == rocksdb.NoCompression || t == rocksdb.ZSTD
}

// CanonicalCompressionType joins the types of one format: LZ4HC is LZ4.
func CanonicalCompressionType(t rocksdb.CompressionType) rocksdb.CompressionType {
	if t == rocksdb.LZ4HCCompression {
		return rocksdb.LZ4Compression
	}
	return t
}

// GetDefaultCompressionType is the type of new files.
func GetDefaultCompressionType() rocksdb.CompressionType { return rocksdb.LZ4Compression }

// startBlock writes the size prefix. ok is false when dst is too short for it
// or src too long; then nothing is to be tried.
func startBlock(src, dst []byte) (n int, ok bool) {
	if uint64(len(src)) > math.MaxUint32 || len(dst) <= 5 {
		return 0, false
	}
	return util.EncodeVarint32(dst, uint32(len(src))), true
}
