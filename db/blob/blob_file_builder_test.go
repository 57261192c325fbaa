// Port of db/blob/blob_file_builder_test.cc.

package blob

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// builderTest is a builder over a directory; file numbers begin at 2.
type builderTest struct {
	*blobTest
	wo rocksdb.WriteOptions
	b  *BlobFileBuilder
}

func newBuilderTest(t *testing.T, change ...func(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions)) *builderTest {
	var mo options.MutableCFOptions
	change = append(change, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) {
		cf.EnableBlobFiles = true
		mo = options.NewMutableCFOptions(cf)
	})
	b := &builderTest{blobTest: newBlobTest(t, change...), wo: rocksdb.DefaultWriteOptions()}
	b.wo.RateLimiterPriority = rocksdb.IOHigh
	number := uint64(1)
	b.b = NewBlobFileBuilder(BlobFileBuilderOptions{NewFileNumber: func() uint64 { number++; return number }, IOptions: &b.io, MutableCFOptions: &mo,
		FileOptions: &b.fo, WriteOptions: &b.wo, DBID: testDBID, DBSessionID: "session", JobID: 1, ColumnFamilyID: testFamily,
		ColumnFamilyName: "foobar", WriteHint: rocksdb.WriteLifeMedium, Reason: rocksdb.BlobFileCreationReasonFlush})
	return b
}

func (b *builderTest) add(key, value string) blobformat.BlobIndex {
	b.t.Helper()
	index, err := b.b.Add([]byte(key), []byte(value))
	b.noErr(err)
	if index == nil {
		b.t.Fatalf("%s was not moved", key)
	}
	var x blobformat.BlobIndex
	b.noErr(x.DecodeFrom(index))
	if x.IsInlined() || x.HasTTL() {
		b.t.Errorf("%s: %s", key, x.DebugString(false))
	}
	return x
}

// wantFiles compares what the builder made: files 2, 3, … of so many blobs.
func (b *builderTest) wantFiles(counts []uint64, bytes []uint64) {
	b.t.Helper()
	var paths []string
	for i := range counts {
		paths = append(paths, b.path(uint64(i+2)))
	}
	if !slices.Equal(b.b.Paths(), paths) {
		b.t.Errorf("paths %v, want %v", b.b.Paths(), paths)
	}
	as := b.b.Additions()
	if len(as) != len(counts) {
		b.t.Fatalf("%d additions, want %d", len(as), len(counts))
	}
	for i := range as {
		if as[i].GetBlobFileNumber() != uint64(i+2) || as[i].GetTotalBlobCount() != counts[i] || as[i].GetTotalBlobBytes() != bytes[i] {
			b.t.Errorf("addition %d: %s, want %d blobs, %d bytes", i, as[i].DebugString(), counts[i], bytes[i])
		}
	}
}

// wantRecord reads a blob by its index.
func (b *builderTest) wantRecord(x blobformat.BlobIndex, c rocksdb.CompressionType, key, value string) {
	b.t.Helper()
	r, err := OpenBlobFileReader(&b.io, &b.ro, &b.fo, testFamily, nil, x.FileNumber)
	b.noErr(err)
	defer r.Close()
	if x.Compression != c {
		b.t.Errorf("%s has compression %d", key, x.Compression)
	}
	if got, _, err := r.GetBlob(&b.ro, []byte(key), x.Offset, x.Size, c, nil); err != nil || string(got) != value {
		b.t.Errorf("%s: %q, %v; want %q", key, got, err, value)
	}
}

const recordHeader = blobformat.BlobLogRecordHeaderSize

func TestBlobFileBuilderTest_BuildAndCheckOneFile(t *testing.T) {
	b := newBuilderTest(t)
	var indexes []blobformat.BlobIndex
	for i := range 10 {
		indexes = append(indexes, b.add(fmt.Sprint(i), fmt.Sprint(i+1234)))
	}
	b.noErr(b.b.Finish())
	b.wantFiles([]uint64{10}, []uint64{10 * (recordHeader + 1 + 4)})
	for i, x := range indexes {
		if x.FileNumber != 2 || x.Size != 4 {
			t.Errorf("blob %d: %s", i, x.DebugString(false))
		}
		b.wantRecord(x, rocksdb.NoCompression, fmt.Sprint(i), fmt.Sprint(i+1234))
	}
	// Nothing else is in the file.
	info, err := os.Stat(b.path(2))
	b.noErr(err)
	if want := int64(blobformat.BlobLogHeaderSize + 10*(recordHeader+5) + blobformat.BlobLogFooterSize); info.Size() != want {
		t.Errorf("the file has %d bytes, want %d", info.Size(), want)
	}
}

func TestBlobFileBuilderTest_BuildAndCheckMultipleFiles(t *testing.T) {
	b := newBuilderTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) { cf.BlobFileSize = 10 })
	var counts, bytes []uint64
	for i := range 10 {
		value := fmt.Sprint(i + 1234567890)
		x := b.add(fmt.Sprint(i), value)
		if x.FileNumber != uint64(i+2) {
			t.Errorf("blob %d is in file %d", i, x.FileNumber)
		}
		b.wantRecord(x, rocksdb.NoCompression, fmt.Sprint(i), value)
		counts, bytes = append(counts, 1), append(bytes, recordHeader+1+10)
	}
	b.noErr(b.b.Finish())
	b.wantFiles(counts, bytes)
}

func TestBlobFileBuilderTest_InlinedValues(t *testing.T) {
	b := newBuilderTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) { cf.MinBlobSize = 1024 })
	for i := range 10 {
		index, err := b.b.Add(fmt.Append(nil, i), fmt.Append(nil, i+1234567890))
		if index != nil || err != nil {
			t.Errorf("value %d: %x, %v", i, index, err)
		}
	}
	b.noErr(b.b.Finish())
	b.wantFiles(nil, nil)
}

func TestBlobFileBuilderTest_Compression(t *testing.T) {
	for _, value := range []string{strings.Repeat("p", 3400000), "0123456789abcdef"} { // the second gets longer
		b := newBuilderTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) {
			cf.BlobCompressionType = rocksdb.SnappyCompression
		})
		x := b.add("1", value)
		b.noErr(b.b.Finish())
		b.wantFiles([]uint64{1}, []uint64{recordHeader + 1 + x.Size})
		if len(value) > 1000 && x.Size >= uint64(len(value)) {
			t.Errorf("%d bytes were stored", x.Size)
		}
		b.wantRecord(x, rocksdb.SnappyCompression, "1", value)
	}
}

type dummyChecksum struct{}

func (dummyChecksum) Update([]byte)       {}
func (dummyChecksum) Finalize()           {}
func (dummyChecksum) GetChecksum() string { return "dummy" }
func (dummyChecksum) Name() string        { return "DummyFileChecksum" }
func (dummyChecksum) CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	return dummyChecksum{}
}

func TestBlobFileBuilderTest_Checksum(t *testing.T) {
	b := newBuilderTest(t, func(db *rocksdb.DBOptions, _ *rocksdb.ColumnFamilyOptions) {
		db.FileChecksumGenFactory = dummyChecksum{}
	})
	x := b.add("1", "deadbeef")
	b.noErr(b.b.Finish())
	b.wantFiles([]uint64{1}, []uint64{recordHeader + 1 + 8})
	if a := b.b.Additions()[0]; a.GetChecksumMethod() != "DummyFileChecksum" || a.GetChecksumValue() != "dummy" {
		t.Errorf("got %s", a.DebugString())
	}
	b.wantRecord(x, rocksdb.NoCompression, "1", "deadbeef")
}

// recordingCallback notes what it hears.
type recordingCallback struct{ started, completed []FileCreation }

func (r *recordingCallback) OnBlobFileCreationStarted(c *FileCreation) {
	r.started = append(r.started, *c)
}
func (r *recordingCallback) OnBlobFileCompleted(c *FileCreation) error {
	r.completed = append(r.completed, *c)
	return nil
}

func TestBlobFileBuilder_Abandon(t *testing.T) {
	b := newBuilderTest(t)
	var r recordingCallback
	b.b.o.Callback = &r
	b.add("1", "deadbeef")
	failure := rocksdb.IOError("no")
	b.b.Abandon(failure)
	if len(b.b.Paths()) != 1 || len(b.b.Additions()) != 0 {
		t.Errorf("paths %v, %d additions", b.b.Paths(), len(b.b.Additions()))
	}
	if len(r.started) != 1 || len(r.completed) != 1 || r.completed[0].Status != error(failure) || r.completed[0].Number != 2 ||
		r.completed[0].BlobCount != 1 || r.completed[0].Path != b.path(2) {
		t.Errorf("heard of %+v and %+v", r.started, r.completed)
	}
}

func TestBlobFileBuilder_WarmCache(t *testing.T) {
	blobs := cache.NewLRUCacheOfCapacity(1 << 20)
	b := newBuilderTest(t, func(_ *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) {
		cf.BlobCache, cf.PrepopulateBlobCache = blobs, rocksdb.PrepopulateBlobCacheFlushOnly
	})
	x := b.add("1", "deadbeef")
	b.noErr(b.b.Finish())
	s := NewBlobSource(&b.io, &b.mo, &testDBID, "session", b.fileCache(10))
	b.ro.ReadTier = rocksdb.BlockCacheTier
	var value rocksdb.PinnableSlice
	if _, err := s.GetBlob(&b.ro, []byte("1"), x.FileNumber, x.Offset, x.Size, x.Compression, nil, &value); err != nil || string(value.Data()) != "deadbeef" {
		t.Errorf("got %q, %v", value.Data(), err)
	}
	value.Release()
}
