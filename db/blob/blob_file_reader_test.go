// Port of db/blob/blob_file_reader_test.cc.

package blob

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util/compression"
)

// blobTest is a directory of blob files of family 1.
type blobTest struct {
	t     *testing.T
	dir   string
	io    options.ImmutableOptions
	mo    options.MutableCFOptions
	fo    rocksdb.FileOptions
	ro    rocksdb.ReadOptions
	stats rocksdb.Statistics
}

const testFamily = 1

func newBlobTest(t *testing.T, change ...func(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions)) *blobTest {
	b := &blobTest{t: t, dir: t.TempDir(), fo: rocksdb.DefaultFileOptions(), ro: rocksdb.DefaultReadOptions(), stats: monitoring.CreateDBStatistics()}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	db.Env, db.Statistics = env.Default(), b.stats
	cf.CFPaths = []rocksdb.DBPath{{Path: b.dir}}
	for _, c := range change {
		c(&db, &cf)
	}
	b.io, b.mo = options.NewImmutableOptions(&db, &cf), options.NewMutableCFOptions(&cf)
	return b
}

func (b *blobTest) noErr(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// location is where a blob's value is in its file, and how long it is there.
type location struct{ offset, size uint64 }

func (b *blobTest) path(number uint64) string { return filename.BlobFileName(b.dir, number) }

// write writes a blob file. kvs are keys and values in turn.
func (b *blobTest) write(number uint64, h blobformat.BlobLogHeader, footer blobformat.BlobLogFooter, kvs ...string) []location {
	b.t.Helper()
	h.Version, h.ColumnFamilyID = blobformat.Version1, testFamily
	data := h.EncodeTo(nil)
	var at []location
	for i := 0; i < len(kvs); i += 2 {
		value := []byte(kvs[i+1])
		if h.Compression != rocksdb.NoCompression {
			o := rocksdb.DefaultCompressionOptions()
			c := compression.GetBuiltinV2CompressionManager().GetCompressor(&o, h.Compression)
			out := make([]byte, 2*len(value)+100)
			n, used, err := c.CompressBlock(value, out, nil)
			b.noErr(err)
			if used != h.Compression {
				b.t.Fatalf("not compressed: %d", used)
			}
			value = out[:n]
		}
		r := blobformat.BlobLogRecord{Key: []byte(kvs[i]), Value: value}
		data = r.EncodeHeaderTo(data)
		data = append(append(data, kvs[i]...), value...)
		at = append(at, location{uint64(len(data) - len(value)), uint64(len(value))})
	}
	footer.BlobCount = uint64(len(at))
	b.noErr(os.WriteFile(b.path(number), footer.EncodeTo(data), 0o644))
	return at
}

func (b *blobTest) open(family uint32) (*BlobFileReader, error) {
	return OpenBlobFileReader(&b.io, &b.ro, &b.fo, family, nil, 1)
}

func (b *blobTest) mustOpen() *BlobFileReader {
	b.t.Helper()
	r, err := b.open(testFamily)
	b.noErr(err)
	b.t.Cleanup(func() { _ = r.Close() })
	return r
}

func (b *blobTest) wantCorruption(err error) {
	b.t.Helper()
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), b.path(1)) {
		b.t.Errorf("got %v, want a corruption of %s", err, b.path(1))
	}
}

func TestBlobFileReaderTest_CreateReaderAndGetBlob(t *testing.T) {
	b := newBlobTest(t)
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key1", "blob1", "key2", "blob2", "key3", "blob3")
	r := b.mustOpen()
	for i := range at {
		for _, verify := range []bool{false, true} {
			b.ro.VerifyChecksums = verify
			value, n, err := r.GetBlob(&b.ro, fmt.Appendf(nil, "key%d", i+1), at[i].offset, at[i].size, rocksdb.NoCompression, nil)
			want := at[i].size
			if verify {
				want += blobformat.CalculateAdjustmentForRecordHeader(4)
			}
			if err != nil || string(value) != fmt.Sprintf("blob%d", i+1) || n != want {
				t.Errorf("blob %d: %q, %d bytes, %v; want %d", i, value, n, err, want)
			}
		}
	}
	last := at[2]
	for _, c := range []struct {
		name         string
		key          string
		offset, size uint64
		compression  rocksdb.CompressionType
	}{
		{"too close to the start", "key1", at[0].offset - 1, at[0].size, rocksdb.NoCompression},
		{"too close to the end", "key3", last.offset + 1, last.size, rocksdb.NoCompression},
		{"another compression", "key1", at[0].offset, at[0].size, rocksdb.ZSTD},
		{"a shorter key", "key", at[0].offset - 1, at[0].size, rocksdb.NoCompression},
		{"another key", "foo1", at[0].offset, at[0].size, rocksdb.NoCompression},
		{"another size", "key2", at[1].offset, at[1].size + 1, rocksdb.NoCompression},
		{"beyond all numbers", "key2", at[1].offset, ^uint64(0), rocksdb.NoCompression},
	} {
		value, n, err := r.GetBlob(&b.ro, []byte(c.key), c.offset, c.size, c.compression, nil)
		if value != nil || n != 0 {
			t.Errorf("%s: %q, %d bytes", c.name, value, n)
		}
		b.wantCorruption(err)
	}
}

// sizeFS changes what is said of the sizes of files.
type sizeFS struct {
	rocksdb.FileSystem
	ofPath func() (uint64, error)
	ofFile func() (uint64, error)
}

func (f *sizeFS) GetFileSize(path string, o *rocksdb.IOOptions) (uint64, error) {
	if f.ofPath != nil {
		return f.ofPath()
	}
	return f.FileSystem.GetFileSize(path, o)
}

func (f *sizeFS) NewRandomAccessFile(path string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	file, err := f.FileSystem.NewRandomAccessFile(path, o)
	if err != nil || f.ofFile == nil {
		return file, err
	}
	return &sizeFile{file, f.ofFile}, nil
}

type sizeFile struct {
	rocksdb.FSRandomAccessFile
	size func() (uint64, error)
}

func (f *sizeFile) GetFileSize() (uint64, error) { return f.size() }

func (b *blobTest) testSizes(fs *sizeFS) error {
	b.t.Helper()
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")[0]
	fs.FileSystem = b.io.FS
	b.io.FS = fs
	r, err := b.open(testFamily)
	if err != nil {
		return err
	}
	defer r.Close()
	if value, _, err := r.GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.NoCompression, nil); err != nil || string(value) != "blob" {
		b.t.Errorf("got %q, %v", value, err)
	}
	return nil
}

func TestBlobFileReaderTest_CreateReaderUsesOpenedFileSizeWhenPathSizeIsStale(t *testing.T) {
	b := newBlobTest(t)
	b.noErr(b.testSizes(&sizeFS{ofPath: func() (uint64, error) { return 0, nil }}))
}

func TestBlobFileReaderTest_CreateReaderFallsBackToPathSizeWhenOpenedFileSizeNotSupported(t *testing.T) {
	b := newBlobTest(t)
	b.noErr(b.testSizes(&sizeFS{ofFile: func() (uint64, error) { return 0, rocksdb.NotSupported("size") }}))
}

func TestBlobFileReaderTest_CreateReaderPropagatesOpenedFileSizeError(t *testing.T) {
	b := newBlobTest(t)
	if err := b.testSizes(&sizeFS{ofFile: func() (uint64, error) { return 0, rocksdb.IOError("size") }}); !rocksdb.IsIOError(err) {
		t.Errorf("got %v", err)
	}
}

func TestBlobFileReaderTest_CreateReaderPropagatesFallbackPathSizeErrorWhenOpenedFileSizeNotSupported(t *testing.T) {
	b := newBlobTest(t)
	err := b.testSizes(&sizeFS{ofFile: func() (uint64, error) { return 0, rocksdb.NotSupported("size") },
		ofPath: func() (uint64, error) { return 0, rocksdb.IOError("size") }})
	if !rocksdb.IsIOError(err) {
		t.Errorf("got %v", err)
	}
}

func TestBlobFileReaderTest_Malformed(t *testing.T) {
	b := newBlobTest(t)
	h := blobformat.BlobLogHeader{Version: blobformat.Version1, ColumnFamilyID: testFamily}
	b.noErr(os.WriteFile(b.path(1), h.EncodeTo(nil), 0o644))
	_, err := b.open(testFamily)
	b.wantCorruption(err)
}

func TestBlobFileReaderTest_TTL(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{HasTTL: true}, blobformat.BlobLogFooter{}, "key", "blob")
	_, err := b.open(testFamily)
	b.wantCorruption(err)
}

func TestBlobFileReaderTest_ExpirationRangeInHeader(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{ExpirationRange: blobformat.ExpirationRange{First: 1, Last: 2}}, blobformat.BlobLogFooter{}, "key", "blob")
	_, err := b.open(testFamily)
	b.wantCorruption(err)
}

func TestBlobFileReaderTest_ExpirationRangeInFooter(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{ExpirationRange: blobformat.ExpirationRange{First: 1, Last: 2}}, "key", "blob")
	_, err := b.open(testFamily)
	b.wantCorruption(err)
}

func TestBlobFileReaderTest_IncorrectColumnFamily(t *testing.T) {
	b := newBlobTest(t)
	b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")
	_, err := b.open(testFamily + 1)
	b.wantCorruption(err)
}

func TestBlobFileReaderTest_BlobCRCError(t *testing.T) {
	b := newBlobTest(t)
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")[0]
	data, err := os.ReadFile(b.path(1))
	b.noErr(err)
	data[at.offset] ^= 1
	b.noErr(os.WriteFile(b.path(1), data, 0o644))
	_, _, err = b.mustOpen().GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.NoCompression, nil)
	b.wantCorruption(err)
}

func TestBlobFileReaderTest_Compression(t *testing.T) {
	b := newBlobTest(t)
	blob := strings.Repeat("blob", 1000)
	at := b.write(1, blobformat.BlobLogHeader{Compression: rocksdb.SnappyCompression}, blobformat.BlobLogFooter{}, "key", blob)[0]
	r := b.mustOpen()
	if r.GetCompressionType() != rocksdb.SnappyCompression {
		t.Errorf("compression %d", r.GetCompressionType())
	}
	for _, verify := range []bool{false, true} {
		b.ro.VerifyChecksums = verify
		value, n, err := r.GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.SnappyCompression, nil)
		want := at.size
		if verify {
			want += blobformat.CalculateAdjustmentForRecordHeader(3)
		}
		if err != nil || string(value) != blob || n != want {
			t.Errorf("verify %t: %d bytes of value, %d read, %v; want %d", verify, len(value), n, err, want)
		}
	}
}

func TestBlobFileReaderTest_UncompressionError(t *testing.T) {
	b := newBlobTest(t)
	at := b.write(1, blobformat.BlobLogHeader{Compression: rocksdb.SnappyCompression}, blobformat.BlobLogFooter{}, "key", strings.Repeat("blob", 1000))[0]
	data, err := os.ReadFile(b.path(1))
	b.noErr(err)
	for i := range at.size {
		data[at.offset+i] = 0xff
	}
	b.noErr(os.WriteFile(b.path(1), data, 0o644))
	b.ro.VerifyChecksums = false
	value, _, err := b.mustOpen().GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.SnappyCompression, nil)
	if value != nil {
		t.Errorf("%d bytes of value", len(value))
	}
	b.wantCorruption(err)
}

// Every damaged byte of a blob file is noticed by the opening or by the read,
// unless nobody reads it.
func TestBlobFileReader_DamagedByte(t *testing.T) {
	b := newBlobTest(t)
	at := b.write(1, blobformat.BlobLogHeader{}, blobformat.BlobLogFooter{}, "key", "blob")[0]
	data, err := os.ReadFile(b.path(1))
	b.noErr(err)
	for i := range data {
		if i == 12 || i == 13 {
			continue // bits of the flags that mean nothing; the compression, compared below
		}
		damaged := append([]byte(nil), data...)
		damaged[i] ^= 0x10
		b.noErr(os.WriteFile(b.path(1), damaged, 0o644))
		r, err := b.open(testFamily)
		if err == nil {
			_, _, err = r.GetBlob(&b.ro, []byte("key"), at.offset, at.size, rocksdb.NoCompression, nil)
			b.noErr(r.Close())
		}
		if !rocksdb.IsCorruption(err) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
}
