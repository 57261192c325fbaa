// Port of utilities/blob_db/blob_dump_tool.{h,cc}. Differs: no dump with
// addresses (DisplayType::kDetail); sizes that the file cannot hold are a
// corruption before anything is read.

package blobdb

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// DisplayType says how bytes are printed.
type DisplayType uint8

const (
	// DisplayNone does not print them.
	DisplayNone DisplayType = iota
	// DisplayRaw prints them as they are, up to a zero byte.
	DisplayRaw
	// DisplayHex prints them as hexadecimal digits.
	DisplayHex
)

// BlobDumpTool prints a blob file.
type BlobDumpTool struct {
	FS  rocksdb.FileSystem
	Out io.Writer
	// Key, Blob and UncompressedBlob say how these are printed; without keys the
	// other two are not printed either.
	Key, Blob, UncompressedBlob DisplayType
	// Summary prints the numbers and sizes of all records.
	Summary bool

	name        string
	reader      *file.RandomAccessFileReader
	size        uint64
	compression rocksdb.CompressionType
	total       struct{ records, keys, blobs, raw uint64 }
}

// Run prints the file name. What comes before a damaged place is printed.
func (t *BlobDumpTool) Run(name string) error {
	size, err := t.FS.GetFileSize(name, nil)
	if err != nil {
		return err
	}
	if size == 0 {
		return rocksdb.Corruption("File is empty.").In(name)
	}
	fo := rocksdb.DefaultFileOptions()
	t.reader, err = file.CreateRandomAccessFileReader(t.FS, name, &fo, nil)
	if err != nil {
		return err
	}
	defer t.reader.Close()
	t.name, t.size = name, size
	if err := t.dumpHeader(); err != nil {
		return err
	}
	end, err := t.dumpFooter()
	if err != nil {
		return err
	}
	if t.Key != DisplayNone || t.Summary {
		for at := uint64(blobformat.BlobLogHeaderSize); at < end && err == nil; {
			at, err = t.dumpRecord(at, end)
		}
	}
	if t.Summary {
		fmt.Fprintf(t.Out, "Summary:\n  total records: %d\n  total key size: %d\n  total blob size: %d\n",
			t.total.records, t.total.keys, t.total.blobs)
		if t.compression != rocksdb.NoCompression {
			fmt.Fprintf(t.Out, "  total raw blob size: %d\n", t.total.raw)
		}
	}
	return err
}

func (t *BlobDumpTool) read(offset, n uint64) ([]byte, error) {
	if offset > t.size || n > t.size-offset {
		return nil, rocksdb.Corruptionf("Reach the end of the file unexpectedly.: %s offset %d, %d bytes", t.name, offset, n)
	}
	got, err := t.reader.Read(nil, offset, int(n), make([]byte, n), nil)
	if err == nil && uint64(len(got)) != n {
		err = rocksdb.Corruptionf("Reach the end of the file unexpectedly.: %s offset %d, %d bytes", t.name, offset, n)
	}
	return got, err
}

func (t *BlobDumpTool) dumpHeader() error {
	b, err := t.read(0, blobformat.BlobLogHeaderSize)
	if err != nil {
		return err
	}
	var h blobformat.BlobLogHeader
	if err := h.DecodeFrom(b); err != nil {
		return err
	}
	t.compression = h.Compression
	codec, err := options.GetStringFromCompressionType(h.Compression)
	if err != nil {
		codec = fmt.Sprintf("Unrecongnized compression type (%d)", h.Compression)
	}
	fmt.Fprintf(t.Out, "Blob log header:\n  Version          : %d\n  Column Family ID : %d\n  Compression      : %s\n"+
		"  Expiration range : %s\n", h.Version, h.ColumnFamilyID, codec, rangeText(h.ExpirationRange))
	return nil
}

// dumpFooter gives where the records end.
func (t *BlobDumpTool) dumpFooter() (end uint64, err error) {
	var f blobformat.BlobLogFooter
	if t.size >= blobformat.BlobLogHeaderSize+blobformat.BlobLogFooterSize {
		end = t.size - blobformat.BlobLogFooterSize
		b, err := t.read(end, blobformat.BlobLogFooterSize)
		if err != nil {
			return 0, err
		}
		if f.DecodeFrom(b) == nil {
			fmt.Fprintf(t.Out, "Blob log footer:\n  Blob count       : %d\n  Expiration Range : %s\n", f.BlobCount, rangeText(f.ExpirationRange))
			return end, nil
		}
	}
	fmt.Fprintln(t.Out, "No blob log footer.")
	return t.size, nil
}

// dumpRecord gives where the next one begins.
func (t *BlobDumpTool) dumpRecord(at, end uint64) (next uint64, err error) {
	show := t.Key != DisplayNone
	if show {
		fmt.Fprintf(t.Out, "Read record with offset 0x%x (%d):\n", at, at)
	}
	b, err := t.read(at, blobformat.BlobLogRecordHeaderSize)
	if err != nil {
		return 0, err
	}
	var r blobformat.BlobLogRecord
	if err := r.DecodeHeaderFrom(b); err != nil {
		return 0, err
	}
	if show {
		fmt.Fprintf(t.Out, "  key size   : %d\n  value size : %d\n  expiration : %d\n", r.KeySize, r.ValueSize, r.Expiration)
	}
	at += blobformat.BlobLogRecordHeaderSize
	if r.KeySize > end-min(at, end) || r.ValueSize > end-min(at, end)-r.KeySize {
		return 0, rocksdb.Corruptionf("Reach the end of the file unexpectedly.: %s offset %d", t.name, at)
	}
	b, err = t.read(at, r.KeySize+r.ValueSize)
	if err != nil {
		return 0, err
	}
	key, value := b[:r.KeySize], b[r.KeySize:]
	var raw []byte
	if t.compression != rocksdb.NoCompression && (t.UncompressedBlob != DisplayNone || t.Summary) {
		if raw, err = t.uncompress(value); err != nil {
			return 0, err
		}
	}
	if show {
		t.dumpSlice("  key        : ", key, t.Key)
		t.dumpSlice("  blob       : ", value, t.Blob)
		t.dumpSlice("  raw blob   : ", raw, t.UncompressedBlob)
	}
	t.total.records++
	t.total.keys += r.KeySize
	t.total.blobs += r.ValueSize
	t.total.raw += uint64(len(raw))
	return at + r.KeySize + r.ValueSize, nil
}

func (t *BlobDumpTool) uncompress(value []byte) ([]byte, error) {
	size, rest, err := compression.UncompressedSize(t.compression, value)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, size)
	return raw, compression.GetBuiltinDecompressor().Decompress(t.compression, rest, raw)
}

func (t *BlobDumpTool) dumpSlice(label string, b []byte, as DisplayType) {
	switch as {
	case DisplayRaw:
		text, _, _ := bytes.Cut(b, []byte{0})
		fmt.Fprintf(t.Out, "%s%s\n", label, text)
	case DisplayHex:
		fmt.Fprintf(t.Out, "%s%s\n", label, strings.ToUpper(hex.EncodeToString(b)))
	}
}

func rangeText(r blobformat.ExpirationRange) string {
	if r == (blobformat.ExpirationRange{}) {
		return "nil"
	}
	return fmt.Sprintf("(%d, %d)", r.First, r.Last)
}
