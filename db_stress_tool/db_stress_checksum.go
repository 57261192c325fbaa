// Port of db_stress_tool/db_stress_common.cc (GetFileChecksumImpl).

package dbstresstool

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// xxh64Checksum is XXH64, alone or, big, with six hashes of it behind: 448
// bits in all.
type xxh64Checksum struct {
	big    bool
	digest *xxhash.Digest
	sum    []byte
}

func newXXH64Checksum(big bool) *xxh64Checksum { return &xxh64Checksum{big, xxhash.New(), nil} }

// Update adds data.
func (c *xxh64Checksum) Update(data []byte) { _, _ = c.digest.Write(data) }

// Finalize ends the sum.
func (c *xxh64Checksum) Finalize() {
	c.sum = binary.LittleEndian.AppendUint64(nil, c.digest.Sum64())
	if c.big {
		for range 6 {
			c.sum = binary.LittleEndian.AppendUint64(c.sum, util.GetSliceHash64(c.sum))
		}
	}
}

// GetChecksum gives the bytes.
func (c *xxh64Checksum) GetChecksum() string { return string(c.sum) }

// Name is upstream's.
func (c *xxh64Checksum) Name() string {
	if c.big {
		return "MyBigChecksum"
	}
	return "MyXXH64Checksum"
}

// checksumGenFactory makes the function asked for, or a default one; so a
// database may have files of several.
type checksumGenFactory struct{ defaultName string }

// Name is that of the built-in factory, as upstream's.
func (checksumGenFactory) Name() string { return "FileChecksumGenCrc32cFactory" }

// CreateFileChecksumGenerator is nil for a function nobody knows.
func (f checksumGenFactory) CreateFileChecksumGenerator(ctx rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	name := ctx.RequestedChecksumFuncName
	if name == "" {
		name = f.defaultName
	}
	switch name {
	case rocksdb.StandardDBFileChecksumFuncName:
		return util.GetFileChecksumGenCrc32cFactory().CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: ctx.FileName})
	case "MyXXH64Checksum":
		return newXXH64Checksum(false)
	case "MyBigChecksum":
		return newXXH64Checksum(true)
	}
	return nil
}

func checksumFactory(impl string) (rocksdb.FileChecksumGenFactory, error) {
	switch impl {
	case "", "none":
		return nil, nil
	case "crc32c":
		return checksumGenFactory{rocksdb.StandardDBFileChecksumFuncName}, nil
	case "xxh64":
		return checksumGenFactory{"MyXXH64Checksum"}, nil
	case "big":
		return checksumGenFactory{"MyBigChecksum"}, nil
	}
	return nil, rocksdb.InvalidArgument("--file_checksum_impl", impl)
}
