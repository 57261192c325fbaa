// No upstream twin: a fuzz target of blob files and their records.

package blob

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

func FuzzBlobFile(f *testing.F) {
	h := blobformat.BlobLogHeader{ColumnFamilyID: 1, Compression: rocksdb.NoCompression}
	for _, compression := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression} {
		h.Compression = compression
		data := h.EncodeTo(nil)
		r := blobformat.BlobLogRecord{Key: []byte("key"), Value: []byte("\x05\x10value")}
		data = append(append(r.EncodeHeaderTo(data), r.Key...), r.Value...)
		offset := uint64(len(data) - 7)
		ft := blobformat.BlobLogFooter{BlobCount: 1}
		f.Add(ft.EncodeTo(data), offset, uint64(7), byte(compression))
	}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	fs := mockenv.NewMockFileSystem(env.Default().GetSystemClock(), false)
	io := options.NewImmutableOptions(&db, &cf)
	io.FS, io.CFPaths = fs, []rocksdb.DBPath{{Path: "/blobs"}}
	fo, iop := rocksdb.DefaultFileOptions(), rocksdb.DefaultIOOptions()
	if err := fs.CreateDirIfMissing("/blobs", &iop); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, offset, size uint64, compression byte) {
		if err := rocksdb.WriteStringToFile(fs, data, filename.BlobFileName("/blobs", 1), false, &iop, &fo); err != nil {
			t.Fatal(err)
		}
		ro := rocksdb.DefaultReadOptions()
		r, err := OpenBlobFileReader(&io, &ro, &fo, 1, nil, 1)
		if err != nil {
			return
		}
		defer r.Close()
		for _, ro.VerifyChecksums = range []bool{false, true} {
			_, _, _ = r.GetBlob(&ro, []byte("key"), offset, size, rocksdb.CompressionType(compression), nil)
		}
	})
}

func FuzzBlobRecord(f *testing.F) {
	r := blobformat.BlobLogRecord{Key: []byte("key"), Value: []byte("value")}
	f.Add(r.EncodeHeaderTo(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		var x blobformat.BlobLogRecord
		if x.DecodeHeaderFrom(data) == nil {
			_ = x.RecordSize()
			_ = x.CheckBlobCRC()
		}
		var h blobformat.BlobLogHeader
		_ = h.DecodeFrom(data)
		var ft blobformat.BlobLogFooter
		_ = ft.DecodeFrom(data)
	})
}
