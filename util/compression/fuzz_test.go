// No upstream twin: a fuzz target of compressed blocks.

package compression

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func FuzzDecompress(f *testing.F) {
	opts := rocksdb.DefaultCompressionOptions()
	m := GetBuiltinV2CompressionManager()
	src := sample(2000, 5)
	for _, typ := range writable {
		dst := make([]byte, 5000)
		n, _, err := m.GetCompressor(&opts, typ).CompressBlock(src, dst, nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(typ), dst[:n])
	}
	dict, err := m.GetDecompressor().MaybeCloneForDict(src)
	if err != nil {
		f.Fatal(err)
	}
	decompressors := []rocksdb.Decompressor{m.GetDecompressor(), dict}
	f.Fuzz(func(t *testing.T, typ byte, data []byte) {
		for _, d := range decompressors {
			args := &rocksdb.DecompressArgs{CompressionType: rocksdb.CompressionType(typ), CompressedData: data}
			if d.ExtractUncompressedSize(args) != nil || args.UncompressedSize > 1<<20 {
				continue
			}
			_ = d.DecompressBlock(args, make([]byte, args.UncompressedSize))
		}
	})
}
