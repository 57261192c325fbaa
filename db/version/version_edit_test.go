// Port of db/version_edit_test.cc.

package version

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const big = uint64(1) << 50

func testEncodeDecode(t *testing.T, e *VersionEdit) {
	t.Helper()
	encoded, ok := e.EncodeTo(nil, 0)
	if !ok {
		t.Fatalf("not encoded: %s", e.DebugString(true))
	}
	var parsed VersionEdit
	noErr(t, parsed.DecodeFrom(encoded))
	again, ok := parsed.EncodeTo(nil, 0)
	if !ok || !bytes.Equal(encoded, again) {
		t.Errorf("encoded again (%t):\n%x\nwant\n%x", ok, again, encoded)
	}
}

func mustEncode(t *testing.T, e *VersionEdit) []byte {
	t.Helper()
	encoded, ok := e.EncodeTo(nil, 0)
	if !ok {
		t.Fatalf("not encoded: %s", e.DebugString(true))
	}
	return encoded
}

// testFile describes a file of keys foo … zoo.
func testFile(number uint64, pathID uint32, size uint64, seq uint64, change ...func(*FileMetaData)) *FileMetaData {
	f := NewFileMetaData()
	f.FD.Set(number, pathID, size, big+500+seq, big+600+seq)
	f.Smallest = dbformat.NewInternalKey([]byte("foo"), big+500+seq, dbformat.TypeValue)
	f.Largest = dbformat.NewInternalKey([]byte("zoo"), big+600+seq, dbformat.TypeDeletion)
	f.EpochNumber = number
	for _, c := range change {
		c(f)
	}
	return f
}

func marked(f *FileMetaData) { f.MarkedForCompaction.Store(true) }

func setCommonFields(e *VersionEdit, persistUDT bool) {
	e.SetComparatorName("foo")
	e.SetPersistUserDefinedTimestamps(persistUDT)
	e.SetLogNumber(big + 100)
	e.SetNextFile(big + 200)
	e.SetLastSequence(big + 1000)
}

func TestVersionEditTest_EncodeDecode(t *testing.T) {
	var e VersionEdit
	for i := range uint64(4) {
		testEncodeDecode(t, &e)
		e.AddFile(3, testFile(big+300+i, 0, 0, i, func(f *FileMetaData) {
			f.FD.Set(big+300+i, 1<<30+400+uint32(i), 0, big+500+i, big+600+i)
			f.OldestAncesterTime, f.FileCreationTime = 888, 678
			f.FileChecksum, f.FileChecksumFuncName = "234", "crc32c"
		}))
		e.DeleteFile(4, big+700+i)
	}
	setCommonFields(&e, true)
	testEncodeDecode(t, &e)
}

func TestVersionEditTest_EncodeDecodeNewFile4(t *testing.T) {
	var e VersionEdit
	e.AddFile(3, testFile(300, 3, 100, 0, marked))
	e.AddFile(4, testFile(301, 3, 100, 1, func(f *FileMetaData) { f.UserDefinedTimestampsPersisted = false }))
	e.AddFile(5, testFile(302, 0, 100, 2, marked, func(f *FileMetaData) { f.OldestAncesterTime, f.FileCreationTime = 666, 888 }))
	e.AddFile(5, testFile(303, 0, 100, 3, marked, func(f *FileMetaData) {
		f.Smallest = dbformat.NewInternalKey([]byte("foo"), big+503, dbformat.TypeBlobIndex)
		f.Largest = dbformat.NewInternalKey([]byte("zoo"), big+603, dbformat.TypeBlobIndex)
		f.OldestBlobFileNumber = 1001
	}))
	e.DeleteFile(4, 700)
	setCommonFields(&e, false)
	testEncodeDecode(t, &e)

	var parsed VersionEdit
	noErr(t, parsed.DecodeFrom(mustEncode(t, &e)))
	want := []struct {
		marked, udt bool
		path        uint32
		blob        uint64
	}{{true, true, 3, 0}, {false, false, 3, 0}, {true, true, 0, 0}, {true, true, 0, 1001}}
	files := parsed.GetNewFiles()
	if len(files) != len(want) {
		t.Fatalf("%d files", len(files))
	}
	for i, w := range want {
		f := files[i].Meta
		if f.MarkedForCompaction.Load() != w.marked || f.UserDefinedTimestampsPersisted != w.udt || f.FD.GetPathId() != w.path ||
			f.OldestBlobFileNumber != w.blob {
			t.Errorf("file %d: marked %t, timestamps %t, path %d, blob %d; want %+v", i, f.MarkedForCompaction.Load(),
				f.UserDefinedTimestampsPersisted, f.FD.GetPathId(), f.OldestBlobFileNumber, w)
		}
	}
	if parsed.GetPersistUserDefinedTimestamps() {
		t.Error("the flag of timestamps is lost")
	}
}

func TestVersionEditTest_EncodeDecodeNewFile4HandleFileBoundary(t *testing.T) {
	const tsSize = 16
	bound := func(key string, ts int, seq uint64, vt dbformat.ValueType) dbformat.InternalKey {
		return dbformat.NewInternalKey(append([]byte(key), make([]byte, ts)...), seq, vt)
	}
	var e VersionEdit
	for _, persisted := range []bool{false, true} {
		e.AddFile(3, testFile(300, 3, 100, 0, marked, func(f *FileMetaData) {
			f.Smallest = bound("foo", tsSize, big+500, dbformat.TypeValue)
			f.Largest = bound("zoo", tsSize, big+600, dbformat.TypeDeletion)
			f.UserDefinedTimestampsPersisted = persisted
		}))
	}
	encoded, ok := e.EncodeTo(nil, tsSize)
	if !ok {
		t.Fatal("not encoded")
	}
	var parsed VersionEdit
	noErr(t, parsed.DecodeFrom(encoded))
	files := parsed.GetNewFiles()
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	for i, ts := range []int{0, tsSize} {
		f := files[i].Meta
		if f.UserDefinedTimestampsPersisted != (ts > 0) {
			t.Errorf("file %d: timestamps persisted: %t", i, f.UserDefinedTimestampsPersisted)
		}
		if want := bound("foo", ts, big+500, dbformat.TypeValue); !bytes.Equal(f.Smallest, want) {
			t.Errorf("file %d: smallest %x, want %x", i, f.Smallest, want)
		}
		if want := bound("zoo", ts, big+600, dbformat.TypeDeletion); !bytes.Equal(f.Largest, want) {
			t.Errorf("file %d: largest %x, want %x", i, f.Largest, want)
		}
	}
}

func TestVersionEditTest_EncodeEmptyFile(t *testing.T) {
	var e VersionEdit
	e.AddFile(0, NewFileMetaData())
	if _, ok := e.EncodeTo(nil, 0); ok {
		t.Error("a file without bounds was encoded")
	}
}

func TestVersionEditTest_ColumnFamilyTest(t *testing.T) {
	var e VersionEdit
	e.SetColumnFamily(2)
	e.AddColumnFamily("column_family")
	e.SetMaxColumnFamily(5)
	testEncodeDecode(t, &e)

	e.Clear()
	e.SetColumnFamily(3)
	e.DropColumnFamily()
	testEncodeDecode(t, &e)
}

func TestVersionEditTest_MinLogNumberToKeep(t *testing.T) {
	for _, n := range []uint64{13, 23} {
		var e VersionEdit
		e.SetMinLogNumberToKeep(n)
		testEncodeDecode(t, &e)
	}
}

func TestVersionEditTest_AtomicGroupTest(t *testing.T) {
	var e VersionEdit
	e.MarkAtomicGroup(1)
	testEncodeDecode(t, &e)
}

func appendTagged(dst []byte, tag uint32, v uint64) []byte {
	return util.AppendVarint64(util.AppendVarint32(dst, tag), v)
}

func TestVersionEditTest_IgnorableField(t *testing.T) {
	const ignorable = 0x2710
	var e VersionEdit
	// The field says that it is longer than the record.
	encoded := append(appendTagged(appendTagged(nil, 2, 66), ignorable, 5), "abc"...)
	if err := e.DecodeFrom(encoded); err == nil {
		t.Error("a truncated field was read")
	}
	// A tag that is not known and may not be ignored.
	encoded = appendTagged(append(appendTagged(appendTagged(nil, 2, 66), 666, 3), "abc"...), 3, 88)
	if err := e.DecodeFrom(encoded); err == nil {
		t.Error("an unknown field was ignored")
	}
	encoded = appendTagged(append(appendTagged(appendTagged(nil, 2, 66), ignorable, 3), "abc"...), 3, 88)
	noErr(t, e.DecodeFrom(encoded))
	if !e.HasLogNumber() || !e.HasNextFile() || e.GetLogNumber() != 66 || e.GetNextFile() != 88 {
		t.Errorf("got %s", e.DebugString(true))
	}
}

func TestVersionEditTest_DbId(t *testing.T) {
	for _, id := range []string{"ab34-cd12-435f-er00", "34ba-cd12-435f-er01"} {
		var e VersionEdit
		e.SetDBId(id)
		testEncodeDecode(t, &e)
	}
}

func TestVersionEditTest_BlobFileAdditionAndGarbage(t *testing.T) {
	var e VersionEdit
	for n := uint64(1); n <= 10; n++ {
		count, size := n<<10, n<<20
		e.AddBlobFile(blobformat.NewBlobFileAddition(n, count, size, fmt.Sprintf("Hash%d", n), fmt.Sprintf("Value%d", n)))
		e.AddBlobFileGarbage(blobformat.NewBlobFileGarbage(n, count>>2, size>>1))
	}
	testEncodeDecode(t, &e)
}

func TestVersionEditTest_AddWalEncodeDecode(t *testing.T) {
	var e VersionEdit
	for n := WalNumber(1); n <= 20; n++ {
		m := UnsyncedWalMetadata()
		if rand.IntN(2) == 0 {
			m.SetSyncedSizeInBytes(rand.Uint64N(1000))
		}
		e.AddWal(n, m)
	}
	testEncodeDecode(t, &e)
}

// walAdditionRecord is an edit whose WAL addition holds the given bytes.
func walAdditionRecord(data []byte) []byte {
	return util.AppendLengthPrefixedSlice(util.AppendVarint32(nil, uint32(TagWalAddition2)), data)
}

func wantWalCorruption(t *testing.T, data []byte, message string) {
	t.Helper()
	var e VersionEdit
	if err := e.DecodeFrom(walAdditionRecord(data)); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), message) {
		t.Errorf("WAL addition %x: got %v, want a corruption saying %q", data, err, message)
	}
}

func TestVersionEditTest_AddWalDecodeBadLogNumber(t *testing.T) {
	wantWalCorruption(t, nil, "Error decoding WAL log number")
	wantWalCorruption(t, []byte{128}, "Error decoding WAL log number")
}

func TestVersionEditTest_AddWalDecodeBadTag(t *testing.T) {
	encoded := util.AppendVarint64(nil, 100)
	wantWalCorruption(t, encoded, "Error decoding tag")
	withSize := util.AppendVarint64(util.AppendVarint32(bytes.Clone(encoded), walAdditionSyncedSize), 100)
	wantWalCorruption(t, withSize, "Error decoding tag")

	var e VersionEdit
	noErr(t, e.DecodeFrom(walAdditionRecord(util.AppendVarint32(encoded, walAdditionTerminate))))
	if w := e.GetWalAdditions(); len(w) != 1 || w[0].GetLogNumber() != 100 || w[0].GetMetadata().HasSyncedSize() {
		t.Errorf("got %v", w)
	}
}

func TestVersionEditTest_AddWalDecodeNoSize(t *testing.T) {
	encoded := util.AppendVarint32(util.AppendVarint64(nil, 100), walAdditionSyncedSize)
	wantWalCorruption(t, encoded, "Error decoding WAL file size")
	// The end marker is taken for the size.
	wantWalCorruption(t, util.AppendVarint32(encoded, walAdditionTerminate), "Error decoding tag")
}

func TestVersionEditTest_AddWalDebug(t *testing.T) {
	var e VersionEdit
	e.AddWal(10, NewWalMetadata(100))
	e.AddWal(20, NewWalMetadata(200))
	if !e.IsWalAddition() {
		t.Error("not a WAL addition")
	}
	w := e.GetWalAdditions()
	if len(w) != 2 || w[0] != NewWalAddition(10, NewWalMetadata(100)) || w[1] != NewWalAddition(20, NewWalMetadata(200)) {
		t.Errorf("got %v", w)
	}
	want := "VersionEdit {\n" +
		"  WalAddition: log_number: 10 synced_size_in_bytes: 100\n" +
		"  WalAddition: log_number: 20 synced_size_in_bytes: 200\n" +
		"  ColumnFamily: 0\n}\n"
	if got := e.DebugString(true); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = `{"EditNumber": 4, "WalAdditions": [{"LogNumber": 10, "SyncedSizeInBytes": 100}, ` +
		`{"LogNumber": 20, "SyncedSizeInBytes": 200}], "ColumnFamily": 0}`
	if got := e.DebugJSON(4, true); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestVersionEditTest_DeleteWalEncodeDecode(t *testing.T) {
	var e VersionEdit
	e.DeleteWalsBefore(rand.Uint64N(100))
	testEncodeDecode(t, &e)
}

func TestVersionEditTest_DeleteWalDebug(t *testing.T) {
	var e VersionEdit
	e.DeleteWalsBefore(20)
	if d := e.GetWalDeletion(); !e.IsWalDeletion() || d.GetLogNumber() != 20 {
		t.Errorf("got %v", e.GetWalDeletion())
	}
	if got, want := e.DebugString(true), "VersionEdit {\n  WalDeletion: log_number: 20\n  ColumnFamily: 0\n}\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := e.DebugJSON(4, true), `{"EditNumber": 4, "WalDeletion": {"LogNumber": 20}, "ColumnFamily": 0}`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestVersionEditTest_FullHistoryTsLow(t *testing.T) {
	var e VersionEdit
	if e.HasFullHistoryTsLow() {
		t.Error("an empty edit has a bound of history")
	}
	e.SetFullHistoryTsLow(string(make([]byte, 8)))
	testEncodeDecode(t, &e)
}

func TestFileMetaDataTest_UpdateBoundariesBlobIndex(t *testing.T) {
	f := NewFileMetaData()
	f.FD.Set(10, 0, 0, dbformat.MaxSequenceNumber, 0)
	const oldest = 20
	steps := []struct {
		name      string
		value     []byte
		vt        dbformat.ValueType
		corrupted bool
		want      uint64
	}{
		{"plain value", []byte("value"), dbformat.TypeValue, false, blobformat.InvalidBlobFileNumber},
		{"blob", blobformat.EncodeBlob(nil, 25, 1000, 100, rocksdb.NoCompression), dbformat.TypeBlobIndex, false, 25},
		{"older blob", blobformat.EncodeBlob(nil, oldest, 2000, 300, rocksdb.NoCompression), dbformat.TypeBlobIndex, false, oldest},
		{"inlined, expires", blobformat.EncodeInlinedTTL(nil, 9876543210, []byte("value")), dbformat.TypeBlobIndex, false, oldest},
		{"blob, expires", blobformat.EncodeBlobTTL(nil, 9876543210, 15, 2000, 500, rocksdb.NoCompression), dbformat.TypeBlobIndex, false, oldest},
		{"not an index", []byte("!corrupt!"), dbformat.TypeBlobIndex, true, oldest},
		{"no blob file", blobformat.EncodeBlob(nil, blobformat.InvalidBlobFileNumber, 10000, 1000, rocksdb.NoCompression),
			dbformat.TypeBlobIndex, true, oldest},
	}
	for i, s := range steps {
		seq := uint64(200 + i)
		err := f.UpdateBoundaries(dbformat.NewInternalKey([]byte("foo"), seq, s.vt), s.value, seq, s.vt)
		if s.corrupted != rocksdb.IsCorruption(err) || !s.corrupted && err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if f.OldestBlobFileNumber != s.want {
			t.Errorf("%s: oldest blob file %d, want %d", s.name, f.OldestBlobFileNumber, s.want)
		}
	}
}

func progressFile(number uint64, prefix string) *FileMetaData {
	f := NewFileMetaData()
	f.FD.Set(number, 0, 1024, 50, 150)
	f.Smallest = dbformat.NewInternalKey([]byte(prefix+"a"), 50, dbformat.TypeValue)
	f.Largest = dbformat.NewInternalKey([]byte(prefix+"z"), 150, dbformat.TypeValue)
	f.OldestAncesterTime, f.FileCreationTime, f.EpochNumber = 12345, 67890, 10
	f.FileChecksum, f.FileChecksumFuncName = fmt.Sprintf("checksum_%d", number), "crc32c"
	return f
}

func newProgress(key string, input, output, proximal uint64, prefix string) SubcompactionProgress {
	p := SubcompactionProgress{NextInternalKeyToCompact: []byte(key), NumProcessedInputRecords: input}
	p.OutputLevelProgress.NumProcessedOutputRecords = output
	p.ProximalOutputLevelProgress.NumProcessedOutputRecords = proximal
	p.OutputLevelProgress.AddToOutputFiles(progressFile(1, prefix+"output_"))
	p.ProximalOutputLevelProgress.AddToOutputFiles(progressFile(2, prefix+"proximal_"))
	return p
}

func encodeDecodeProgress(t *testing.T, p SubcompactionProgress) *VersionEdit {
	t.Helper()
	var e VersionEdit
	e.SetSubcompactionProgress(p)
	parsed := new(VersionEdit)
	noErr(t, parsed.DecodeFrom(mustEncode(t, &e)))
	if !parsed.HasSubcompactionProgress() {
		t.Fatal("the progress is lost")
	}
	return parsed
}

func sameProgressFile(a, b *FileMetaData) bool {
	return a.FD.GetNumber() == b.FD.GetNumber() && a.FD.FileSize == b.FD.FileSize && bytes.Equal(a.Smallest, b.Smallest) &&
		bytes.Equal(a.Largest, b.Largest) && a.OldestAncesterTime == b.OldestAncesterTime && a.FileCreationTime == b.FileCreationTime &&
		a.EpochNumber == b.EpochNumber && a.FileChecksum == b.FileChecksum && a.FileChecksumFuncName == b.FileChecksumFuncName &&
		a.MarkedForCompaction.Load() == b.MarkedForCompaction.Load() && a.Temperature == b.Temperature
}

// checkProgress compares with files as the lists of both levels.
func checkProgress(t *testing.T, got, want *SubcompactionProgress, files, proximal []*FileMetaData) {
	t.Helper()
	if !bytes.Equal(got.NextInternalKeyToCompact, want.NextInternalKeyToCompact) || got.NumProcessedInputRecords != want.NumProcessedInputRecords {
		t.Errorf("at %q after %d records, want %q after %d", got.NextInternalKeyToCompact, got.NumProcessedInputRecords,
			want.NextInternalKeyToCompact, want.NumProcessedInputRecords)
	}
	level := func(name string, got, want *SubcompactionProgressPerLevel, files []*FileMetaData) {
		t.Helper()
		if got.NumProcessedOutputRecords != want.NumProcessedOutputRecords || len(got.OutputFiles) != len(files) {
			t.Fatalf("%s: %v, want %v with %d files", name, got, want, len(files))
		}
		for i, f := range files {
			if !sameProgressFile(got.OutputFiles[i], f) {
				t.Errorf("%s, file %d: %+v, want %+v", name, i, got.OutputFiles[i], f)
			}
		}
	}
	level("output", &got.OutputLevelProgress, &want.OutputLevelProgress, files)
	level("proximal", &got.ProximalOutputLevelProgress, &want.ProximalOutputLevelProgress, proximal)
}

func TestSubcompactionProgressTest_BasicEncodeDecode(t *testing.T) {
	p := newProgress("key_100", 500, 400, 100, "test_")
	got := encodeDecodeProgress(t, p).GetSubcompactionProgress()
	checkProgress(t, got, &p, p.OutputLevelProgress.OutputFiles, p.ProximalOutputLevelProgress.OutputFiles)
}

func TestSubcompactionProgressTest_OutputFilesDeltaEncodeDecode(t *testing.T) {
	p := newProgress("key_100", 100, 40, 60, "initial_")
	first := encodeDecodeProgress(t, p)
	p.OutputLevelProgress.UpdateLastPersistedOutputFilesCount()
	p.ProximalOutputLevelProgress.UpdateLastPersistedOutputFilesCount()

	p.NextInternalKeyToCompact, p.NumProcessedInputRecords = []byte("key_300"), 1000
	p.OutputLevelProgress.NumProcessedOutputRecords = 400
	p.ProximalOutputLevelProgress.NumProcessedOutputRecords = 600
	p.OutputLevelProgress.AddToOutputFiles(progressFile(3, "new_"))
	p.ProximalOutputLevelProgress.AddToOutputFiles(progressFile(4, "new_"))
	second := encodeDecodeProgress(t, p)
	// Only what was not persisted before is written.
	checkProgress(t, second.GetSubcompactionProgress(), &p, p.OutputLevelProgress.OutputFiles[1:],
		p.ProximalOutputLevelProgress.OutputFiles[1:])

	var b SubcompactionProgressBuilder
	if b.HasAccumulatedSubcompactionProgress() {
		t.Error("a new builder has progress")
	}
	if !b.ProcessVersionEdit(first) || !b.HasAccumulatedSubcompactionProgress() || !b.ProcessVersionEdit(second) {
		t.Error("the builder does not take the edits")
	}
	checkProgress(t, b.GetAccumulatedSubcompactionProgress(), &p, p.OutputLevelProgress.OutputFiles,
		p.ProximalOutputLevelProgress.OutputFiles)
	b.Clear()
	if b.HasAccumulatedSubcompactionProgress() {
		t.Error("a cleared builder has progress")
	}
}

func TestSubcompactionProgressTest_UnknownTags(t *testing.T) {
	field := func(dst []byte, tag uint32, value []byte) []byte {
		return util.AppendLengthPrefixedSlice(util.AppendVarint32(dst, tag), value)
	}
	data := field(nil, progressNextInternalKey, []byte("test_key"))
	data = field(data, progressNumProcessedInput, util.AppendVarint64(nil, 100))
	data = field(data, progressSafeIgnoreMask+1, []byte("future_data"))
	data = util.AppendVarint32(data, progressTerminate)
	var p SubcompactionProgress
	noErr(t, p.DecodeFrom(data))
	if string(p.NextInternalKeyToCompact) != "test_key" || p.NumProcessedInputRecords != 100 {
		t.Errorf("got %q, %d", p.NextInternalKeyToCompact, p.NumProcessedInputRecords)
	}

	data = field(nil, progressNextInternalKey, []byte("test_key"))
	data = field(data, progressSafeIgnoreMask-1, []byte("critical_future_data"))
	data = util.AppendVarint32(data, progressTerminate)
	if err := p.DecodeFrom(data); !rocksdb.IsNotSupported(err) {
		t.Errorf("an unknown field that may not be ignored: %v", err)
	}
}

func TestVersionEditTest_FileOpenMetadataEncodeDecode(t *testing.T) {
	var e VersionEdit
	e.AddFile(3, testFile(300, 0, 100, 0))
	e.GetNewFiles()[0].Meta.FileOpenMetadata = "test_metadata_content_12345"
	e.AddFile(4, testFile(301, 0, 200, 1))
	var parsed VersionEdit
	noErr(t, parsed.DecodeFrom(mustEncode(t, &e)))
	files := parsed.GetNewFiles()
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	if got := files[0].Meta.FileOpenMetadata; got != "test_metadata_content_12345" {
		t.Errorf("got %q", got)
	}
	if got := files[1].Meta.FileOpenMetadata; got != "" {
		t.Errorf("a file without has %q", got)
	}
}

func TestVersionEditTest_FileOpenMetadataForwardCompatibility(t *testing.T) {
	long := strings.Repeat("x", 1024)
	var e VersionEdit
	e.AddFile(3, testFile(300, 0, 100, 0))
	e.GetNewFiles()[0].Meta.FileOpenMetadata = long
	var parsed VersionEdit
	noErr(t, parsed.DecodeFrom(mustEncode(t, &e)))
	if files := parsed.GetNewFiles(); len(files) != 1 || files[0].Meta.FileOpenMetadata != long {
		t.Errorf("got %s", parsed.DebugString(true))
	}
	if CustomTagFileOpenMetadata&CustomTagNonSafeIgnoreMask != 0 {
		t.Error("older engines may not ignore the field")
	}
}

func TestVersionEditTest_FileOpenMetadataInApproximateMemoryUsage(t *testing.T) {
	f := NewFileMetaData()
	base := f.ApproximateMemoryUsage()
	f.FileOpenMetadata = strings.Repeat("z", 500)
	if got := f.ApproximateMemoryUsage(); got < base+500 {
		t.Errorf("%d bytes, without metadata %d", got, base)
	}
}
