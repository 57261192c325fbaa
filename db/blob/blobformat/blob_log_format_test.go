// No upstream twin: blob files of a C++ engine, read and encoded anew, and blob
// indexes.

package blobformat_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func goldenFile(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGoldenBlobFiles(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.blob.gz")
	if len(names) == 0 {
		t.Fatal("no golden files")
	}
	for _, name := range names {
		data := goldenFile(t, name)
		var h blobformat.BlobLogHeader
		if err := h.DecodeFrom(data[:blobformat.BlobLogHeaderSize]); err != nil {
			t.Fatal(err)
		}
		again := h.EncodeTo(nil)
		var f blobformat.BlobLogFooter
		end := len(data) - blobformat.BlobLogFooterSize
		if err := f.DecodeFrom(data[end:]); err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		for len(again) < end {
			at := len(again)
			var r blobformat.BlobLogRecord
			if err := r.DecodeHeaderFrom(data[at : at+blobformat.BlobLogRecordHeaderSize]); err != nil {
				t.Fatalf("%s at %d: %v", name, at, err)
			}
			body := data[at+blobformat.BlobLogRecordHeaderSize : at+int(r.RecordSize())]
			r.Key, r.Value = body[:r.KeySize], body[r.KeySize:]
			if err := r.CheckBlobCRC(); err != nil {
				t.Fatalf("%s at %d: %v", name, at, err)
			}
			offset := uint64(at) + blobformat.CalculateAdjustmentForRecordHeader(r.KeySize)
			if !blobformat.IsValidBlobOffset(offset, r.KeySize, r.ValueSize, uint64(len(data)), true) ||
				!bytes.Equal(data[offset:offset+r.ValueSize], r.Value) {
				t.Fatalf("%s at %d: value is not at %d", name, at, offset)
			}
			r2 := blobformat.BlobLogRecord{Key: r.Key, Value: r.Value, Expiration: r.Expiration}
			again = append(r2.EncodeHeaderTo(again), body...)
			n++
			body[len(body)-1]++
			if r.CheckBlobCRC() == nil {
				t.Fatal("damage not found")
			}
			body[len(body)-1]--
		}
		if n != f.BlobCount {
			t.Errorf("%s: %d records, the footer says %d", name, n, f.BlobCount)
		}
		f2 := blobformat.BlobLogFooter{BlobCount: f.BlobCount, ExpirationRange: f.ExpirationRange}
		if !bytes.Equal(f2.EncodeTo(again), data) {
			t.Errorf("%s: encoded otherwise", name)
		}
		for _, i := range []int{0, 5} {
			data[i]++
			if h.DecodeFrom(data[:blobformat.BlobLogHeaderSize]) == nil {
				t.Errorf("damaged byte %d of the header not found", i)
			}
			data[i]--
		}
		data[end+4]++
		if f.DecodeFrom(data[end:]) == nil {
			t.Error("damaged footer not found")
		}
	}
}

func TestBlobIndex(t *testing.T) {
	for _, c := range []struct {
		enc  []byte
		want blobformat.BlobIndex
	}{
		{blobformat.EncodeInlinedTTL(nil, 1700000000, []byte("value")),
			blobformat.BlobIndex{Type: blobformat.BlobIndexInlinedTTL, Expiration: 1700000000, Value: []byte("value")}},
		{blobformat.EncodeBlob(nil, 300, 1<<40, 12345, rocksdb.ZSTD),
			blobformat.BlobIndex{Type: blobformat.BlobIndexBlob, FileNumber: 300, Offset: 1 << 40, Size: 12345, Compression: rocksdb.ZSTD}},
		{blobformat.EncodeBlobTTL(nil, 7, 1, 2, 3, rocksdb.NoCompression),
			blobformat.BlobIndex{Type: blobformat.BlobIndexBlobTTL, Expiration: 7, FileNumber: 1, Offset: 2, Size: 3}},
	} {
		var b blobformat.BlobIndex
		if err := b.DecodeFrom(c.enc); err != nil {
			t.Fatal(err)
		}
		if b.DebugString(true) != c.want.DebugString(true) || b.HasTTL() != (c.want.Expiration != 0) || b.IsInlined() != (c.want.Value != nil) {
			t.Errorf("got %s, want %s", b.DebugString(true), c.want.DebugString(true))
		}
		if enc := b.EncodeTo(nil); !bytes.Equal(enc, c.enc) {
			t.Errorf("%x, not %x", enc, c.enc)
		}
		if b.IsInlined() {
			continue
		}
		for n := range c.enc {
			if b.DecodeFrom(c.enc[:n]) == nil {
				t.Errorf("%d of %d bytes decode", n, len(c.enc))
			}
		}
	}
}

func FuzzBlobIndex(f *testing.F) {
	f.Add(blobformat.EncodeBlob(nil, 300, 1<<40, 12345, rocksdb.ZSTD))
	f.Add(blobformat.EncodeInlinedTTL(nil, 1, []byte("v")))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b, b2 blobformat.BlobIndex
		if b.DecodeFrom(data) != nil {
			return
		}
		enc := b.EncodeTo(nil)
		if err := b2.DecodeFrom(enc); err != nil || b2.DebugString(true) != b.DebugString(true) {
			t.Fatalf("%v: %s, not %s", err, b2.DebugString(true), b.DebugString(true))
		}
	})
}
