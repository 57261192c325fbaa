// Port of db/version_builder_test.cc.

package db

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
)

const testChecksum = "\xbd\xb7\xf3\x4a\x59\xdf\xa1\x59\x2c\xe7\xf5\x2e\x99\xf9\x8c\x57\x0c\x52\x5c\xbd"

// builderTest builds versions on a base of seven levels.
type builderTest struct {
	t    *testing.T
	icmp *dbformat.InternalKeyComparator
	io   options.ImmutableOptions
	mo   options.MutableCFOptions
	base *version.StorageInfo
}

func newBuilderTest(t *testing.T) *builderTest {
	b := &builderTest{t: t, icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator())}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	db.Env = env.Default()
	b.io, b.mo = options.NewImmutableOptions(&db, &cf), options.NewMutableCFOptions(&cf)
	b.base = b.newStorage(nil, false)
	return b
}

func (b *builderTest) newStorage(ref *version.StorageInfo, check bool) *version.StorageInfo {
	return version.NewStorageInfo(version.StorageInfoOptions{InternalComparator: b.icmp, NumLevels: b.io.NumLevels,
		CompactionStyle: rocksdb.CompactionStyleLevel, Ref: ref, ForceConsistencyChecks: check, Clock: b.io.Clock})
}

func (b *builderTest) noErr(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *builderTest) wantCorruption(err error, message string) {
	b.t.Helper()
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), message) {
		b.t.Errorf("got %v, want a corruption saying %q", err, message)
	}
}

// metaOf describes a file of 100 bytes.
func metaOf(number uint64, smallest, largest string, seq uint64, change ...func(*version.FileMetaData)) *version.FileMetaData {
	f := version.NewFileMetaData()
	f.FD.Set(number, 0, 100, seq, seq)
	f.Smallest = dbformat.NewInternalKey([]byte(smallest), seq, dbformat.TypeValue)
	f.Largest = dbformat.NewInternalKey([]byte(largest), seq, dbformat.TypeValue)
	for _, c := range change {
		c(f)
	}
	return f
}

func epoch(n uint64) func(*version.FileMetaData) {
	return func(f *version.FileMetaData) { f.EpochNumber = n }
}

func oldestBlob(n uint64) func(*version.FileMetaData) {
	return func(f *version.FileMetaData) { f.OldestBlobFileNumber = n }
}

func (b *builderTest) add(level int, number uint64, smallest, largest string, change ...func(*version.FileMetaData)) {
	b.base.AddFile(level, metaOf(number, smallest, largest, 100, change...))
}

func linked(numbers ...uint64) blob.LinkedSsts {
	l := blob.LinkedSsts{}
	for _, n := range numbers {
		l[n] = struct{}{}
	}
	return l
}

func (b *builderTest) addBlob(number, count, size uint64, method, value string, l blob.LinkedSsts, garbageCount, garbageSize uint64) {
	b.base.AddBlobFile(blob.NewBlobFileMetaData(blob.NewSharedBlobFileMetaData(number, count, size, method, value, nil), l, garbageCount, garbageSize))
}

func (b *builderTest) prepare(v *version.StorageInfo) {
	v.PrepareForVersionAppend(&b.io, &b.mo)
	v.SetFinalized()
}

func (b *builderTest) builderOn(base *version.StorageInfo) *VersionBuilder {
	vb := NewVersionBuilder(VersionBuilderOptions{IOptions: &b.io, Base: base})
	b.t.Cleanup(vb.Close)
	return vb
}

// builder works on the base, which is complete from now on.
func (b *builderTest) builder() *VersionBuilder {
	b.prepare(b.base)
	return b.builderOn(b.base)
}

// save makes the version that the builder holds.
func (b *builderTest) save(vb *VersionBuilder, ref *version.StorageInfo, check bool) *version.StorageInfo {
	b.t.Helper()
	v := b.newStorage(ref, check)
	b.noErr(vb.SaveTo(v))
	b.prepare(v)
	return v
}

func edit(fill func(e *version.VersionEdit)) *version.VersionEdit {
	e := new(version.VersionEdit)
	fill(e)
	return e
}

func (b *builderTest) wantLevelBytes(v *version.StorageInfo, want map[int]uint64) {
	b.t.Helper()
	for level, n := range want {
		if got := v.NumLevelBytes(level); got != n {
			b.t.Errorf("level %d has %d bytes, want %d", level, got, n)
		}
	}
}

func TestVersionBuilderTest_ApplyAndSaveTo(t *testing.T) {
	b := newBuilderTest(t)
	b.add(0, 1, "150", "200", epoch(1))
	b.add(1, 66, "150", "200")
	b.add(1, 88, "201", "300")
	b.add(2, 6, "150", "179")
	b.add(2, 7, "180", "220")
	b.add(2, 8, "221", "300")
	b.add(3, 26, "150", "170")
	b.add(3, 27, "171", "179")
	b.add(3, 28, "191", "220")
	b.add(3, 29, "221", "300")
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(2, metaOf(666, "301", "350", 200))
		e.DeleteFile(3, 27)
	})))
	b.wantLevelBytes(b.save(vb, nil, false), map[int]uint64{2: 400, 3: 300})
}

func newDynamicBuilderTest(t *testing.T) *builderTest {
	b := newBuilderTest(t)
	b.io.LevelCompactionDynamicLevelBytes = true
	b.base.AddFile(0, metaOf(1, "150", "200", 200, epoch(2)))
	b.base.AddFile(0, metaOf(88, "201", "300", 100, epoch(1)))
	b.add(4, 6, "150", "179")
	b.add(4, 7, "180", "220")
	b.add(4, 8, "221", "300")
	b.add(5, 26, "150", "170")
	b.add(5, 27, "171", "179")
	return b
}

func TestVersionBuilderTest_ApplyAndSaveToDynamic(t *testing.T) {
	b := newDynamicBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(3, metaOf(666, "301", "350", 200))
		e.DeleteFile(0, 1)
		e.DeleteFile(0, 88)
	})))
	b.wantLevelBytes(b.save(vb, nil, false), map[int]uint64{0: 0, 3: 100, 4: 300, 5: 200})
}

func TestVersionBuilderTest_ApplyAndSaveToDynamic2(t *testing.T) {
	b := newDynamicBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(4, metaOf(666, "301", "350", 200))
		e.DeleteFile(0, 1)
		e.DeleteFile(0, 88)
		e.DeleteFile(4, 6)
		e.DeleteFile(4, 7)
		e.DeleteFile(4, 8)
	})))
	b.wantLevelBytes(b.save(vb, nil, false), map[int]uint64{0: 0, 4: 100, 5: 200})
}

// fiveFiles adds files out of order.
func fiveFiles(e *version.VersionEdit) {
	for _, f := range []struct {
		number            uint64
		smallest, largest string
	}{{666, "301", "350"}, {676, "401", "450"}, {636, "601", "650"}, {616, "501", "550"}, {606, "701", "750"}} {
		e.AddFile(2, metaOf(f.number, f.smallest, f.largest, 200))
	}
}

func TestVersionBuilderTest_ApplyMultipleAndSaveTo(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(fiveFiles)))
	v := b.save(vb, nil, false)
	b.wantLevelBytes(v, map[int]uint64{2: 500})
	for i, want := range []uint64{666, 676, 616, 636, 606} {
		if got := v.LevelFiles(2)[i].FD.GetNumber(); got != want {
			t.Errorf("file %d is #%d, want #%d", i, got, want)
		}
	}
}

func TestVersionBuilderTest_ApplyDeleteAndSaveTo(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(fiveFiles)))
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.DeleteFile(2, 616)
		e.DeleteFile(2, 636)
	})))
	b.wantLevelBytes(b.save(vb, nil, false), map[int]uint64{2: 300})
}

func TestVersionBuilderTest_ApplyFileDeletionIncorrectLevel(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 2345, "bar", "foo")
	b.wantCorruption(b.builder().Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(3, 2345) })),
		"Cannot delete table file #2345 from level 3 since it is on level 1")
}

func TestVersionBuilderTest_ApplyFileDeletionNotInLSMTree(t *testing.T) {
	b := newBuilderTest(t)
	b.wantCorruption(b.builder().Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(3, 1234) })),
		"Cannot delete table file #1234 from level 3 since it is not in the LSM tree")
}

func TestVersionBuilderTest_ApplyFileDeletionAndAddition(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 2345, "bar", "foo")
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(1, 2345) })))
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.AddFile(1, metaOf(2345, "bar", "foo", 100)) })))
	if got := b.save(vb, b.base, false).GetFileLocation(2345); got.Level != 1 {
		t.Errorf("the file is at %v", got)
	}
}

func TestVersionBuilderTest_ApplyFileAdditionAlreadyInBase(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 2345, "bar", "foo")
	b.wantCorruption(b.builder().Apply(edit(func(e *version.VersionEdit) { e.AddFile(2, metaOf(2345, "bar", "foo", 100)) })),
		"Cannot add table file #2345 to level 2 since it is already in the LSM tree on level 1")
}

func TestVersionBuilderTest_ApplyFileAdditionAlreadyApplied(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.AddFile(3, metaOf(2345, "bar", "foo", 100)) })))
	b.wantCorruption(vb.Apply(edit(func(e *version.VersionEdit) { e.AddFile(2, metaOf(2345, "bar", "foo", 100)) })),
		"Cannot add table file #2345 to level 2 since it is already in the LSM tree on level 3")
}

func TestVersionBuilderTest_ApplyFileAdditionAndDeletion(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.AddFile(1, metaOf(2345, "bar", "foo", 100)) })))
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(1, 2345) })))
	if got := b.save(vb, b.base, false).GetFileLocation(2345); got.IsValid() {
		t.Errorf("the file is at %v", got)
	}
}

// addBlobAndTable adds blob file 1234 and table 1, which refers to it.
func addBlobAndTable(e *version.VersionEdit) {
	addBlob1234(e)
	e.AddFile(0, metaOf(1, "bar", "foo", 100, oldestBlob(1234), epoch(1)))
}

func addBlob1234(e *version.VersionEdit) {
	e.AddBlobFile(blobformat.NewBlobFileAddition(1234, 5678, 999999, "SHA1", testChecksum))
}

func garbage(number, count, size uint64) *version.VersionEdit {
	return edit(func(e *version.VersionEdit) { e.AddBlobFileGarbage(blobformat.NewBlobFileGarbage(number, count, size)) })
}

// wantBlob compares a blob file; nil links are not compared.
func (b *builderTest) wantBlob(v *version.StorageInfo, number, count, size uint64, method, value string, l blob.LinkedSsts, garbageCount, garbageSize uint64) {
	b.t.Helper()
	m := v.GetBlobFileMetaData(number)
	if m == nil {
		b.t.Fatalf("no blob file #%d", number)
	}
	if m.GetBlobFileNumber() != number || m.GetTotalBlobCount() != count || m.GetTotalBlobBytes() != size || m.GetChecksumMethod() != method ||
		m.GetChecksumValue() != value || m.GetGarbageBlobCount() != garbageCount || m.GetGarbageBlobBytes() != garbageSize {
		b.t.Errorf("blob file #%d: %s", number, m.DebugString())
	}
	if l != nil && !maps.Equal(l, m.GetLinkedSsts()) {
		b.t.Errorf("blob file #%d: tables %v, want %v", number, m.GetLinkedSsts(), l)
	}
}

func (b *builderTest) wantNumBlobs(v *version.StorageInfo, want int) {
	b.t.Helper()
	if got := len(v.GetBlobFiles()); got != want {
		b.t.Errorf("%d blob files, want %d", got, want)
	}
}

func TestVersionBuilderTest_ApplyBlobFileAddition(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(addBlobAndTable)))
	v := b.save(vb, b.base, false)
	b.wantNumBlobs(v, 1)
	b.wantBlob(v, 1234, 5678, 999999, "SHA1", testChecksum, linked(1), 0, 0)
}

func TestVersionBuilderTest_ApplyBlobFileAdditionAlreadyInBase(t *testing.T) {
	b := newBuilderTest(t)
	b.addBlob(1234, 5678, 999999, "SHA1", testChecksum, linked(), 123, 456789)
	b.wantCorruption(b.builder().Apply(edit(addBlob1234)), "Blob file #1234 already added")
}

func TestVersionBuilderTest_ApplyBlobFileAdditionAlreadyApplied(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(addBlob1234)))
	b.wantCorruption(vb.Apply(edit(addBlob1234)), "Blob file #1234 already added")
}

func TestVersionBuilderTest_ApplyBlobFileGarbageFileInBase(t *testing.T) {
	b := newBuilderTest(t)
	b.addBlob(1234, 5678, 999999, "SHA1", testChecksum, linked(1), 123, 456789)
	b.add(0, 1, "bar", "foo", oldestBlob(1234), epoch(1))
	vb := b.builder()
	b.noErr(vb.Apply(garbage(1234, 456, 111111)))
	v := b.save(vb, b.base, false)
	b.wantNumBlobs(v, 1)
	b.wantBlob(v, 1234, 5678, 999999, "SHA1", testChecksum, linked(1), 123+456, 456789+111111)
	if v.GetBlobFileMetaData(1234).GetSharedMeta() != b.base.GetBlobFileMetaData(1234).GetSharedMeta() {
		t.Error("the versions do not share what is immutable")
	}
}

func TestVersionBuilderTest_ApplyBlobFileGarbageFileAdditionApplied(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(addBlobAndTable)))
	b.noErr(vb.Apply(garbage(1234, 123, 456789)))
	v := b.save(vb, b.base, false)
	b.wantNumBlobs(v, 1)
	b.wantBlob(v, 1234, 5678, 999999, "SHA1", testChecksum, linked(1), 123, 456789)
}

func TestVersionBuilderTest_ApplyBlobFileGarbageFileNotFound(t *testing.T) {
	b := newBuilderTest(t)
	b.wantCorruption(b.builder().Apply(garbage(1234, 5678, 999999)), "Blob file #1234 not found")
}

func TestVersionBuilderTest_BlobFileGarbageOverflow(t *testing.T) {
	b := newBuilderTest(t)
	vb := b.builder()
	b.noErr(vb.Apply(edit(addBlobAndTable)))
	b.wantCorruption(vb.Apply(garbage(1234, 5679, 999999)), "Garbage overflow for blob file #1234")
	b.wantCorruption(vb.Apply(garbage(1234, 5678, 1000000)), "Garbage overflow for blob file #1234")
}

func TestVersionBuilderTest_SaveBlobFilesTo(t *testing.T) {
	b := newBuilderTest(t)
	for i := uint64(1); i <= 3; i++ {
		b.addBlob(2*i+1, i*1000, i*1000000, "", "", linked(2*i), i*100, i*20000)
	}
	for i := uint64(3); i >= 1; i-- { // level 0 lists the newest first
		b.add(0, 2*i, "bar", "foo", oldestBlob(2*i+1), epoch(i))
	}
	vb := b.builder()
	// Blob file 5 gets some garbage; 7 is nothing else, and its table goes.
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddBlobFileGarbage(blobformat.NewBlobFileGarbage(5, 200, 100000))
		e.AddBlobFileGarbage(blobformat.NewBlobFileGarbage(7, 2700, 2940000))
		e.DeleteFile(0, 6)
		e.AddBlobFile(blobformat.NewBlobFileAddition(9, 4000, 4000000, "", ""))
	})))
	v := b.save(vb, b.base, false)
	b.wantNumBlobs(v, 3)
	b.wantBlob(v, 3, 1000, 1000000, "", "", nil, 100, 20000)
	b.wantBlob(v, 5, 2000, 2000000, "", "", nil, 400, 140000)
	b.wantBlob(v, 9, 4000, 4000000, "", "", nil, 0, 0)

	// The oldest blob file has no table any more.
	vb = b.builderOn(v)
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(0, 2) })))
	v2 := b.save(vb, v, false)
	b.wantNumBlobs(v2, 2)
	if v2.GetBlobFileMetaData(3) != nil {
		t.Error("blob file #3 is still there")
	}

	// Without table 4 none has.
	vb = b.builderOn(v2)
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(0, 4) })))
	b.wantNumBlobs(b.save(vb, v2, false), 0)
}

func TestVersionBuilderTest_SaveBlobFilesToConcurrentJobs(t *testing.T) {
	const method, value = "SHA1", "\xfa\xce\xb0\x0c"
	b := newBuilderTest(t)
	b.add(0, 3, "bar", "foo", oldestBlob(4), epoch(1))
	b.addBlob(4, 100, 1<<20, method, value, linked(3), 0, 0)
	vb := b.builder()
	// A blob file with a lower number comes later.
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(0, metaOf(1, "key1", "key987", 0, oldestBlob(2), epoch(2)))
		e.AddBlobFile(blobformat.NewBlobFileAddition(2, 234, 1<<22, method, value))
	})))
	v := b.save(vb, b.base, true)
	b.wantNumBlobs(v, 2)
	b.wantBlob(v, 4, 100, 1<<20, method, value, nil, 0, 0)
	b.wantBlob(v, 2, 234, 1<<22, method, value, nil, 0, 0)
}

func TestVersionBuilderTest_CheckConsistencyForBlobFiles(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 1, "150", "200", oldestBlob(16))
	b.add(1, 23, "201", "300")
	b.addBlob(16, 1000, 1000000, "", "", linked(1), 500, 300000)
	vb := b.builder()
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(1, metaOf(606, "701", "750", 200, oldestBlob(16)))
		e.AddFile(1, metaOf(700, "801", "850", 200, oldestBlob(1000)))
		e.AddBlobFile(blobformat.NewBlobFileAddition(1000, 2000, 200000, "", ""))
	})))
	v := b.save(vb, b.base, true)
	b.wantBlob(v, 16, 1000, 1000000, "", "", linked(1, 606), 500, 300000)
	b.wantBlob(v, 1000, 2000, 200000, "", "", linked(700), 0, 0)
}

func TestVersionBuilderTest_CheckConsistencyForBlobFilesInconsistentLinks(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 1, "150", "200", oldestBlob(256))
	b.addBlob(16, 1000, 1000000, "", "", linked(1), 500, 300000)
	b.wantCorruption(b.builder().SaveTo(b.newStorage(b.base, true)),
		"Links are inconsistent between table files and blob file #16")
}

func TestVersionBuilderTest_CheckConsistencyForBlobFilesAllGarbage(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 1, "150", "200", oldestBlob(16))
	b.addBlob(16, 1000, 1000000, "", "", linked(1), 1000, 1000000)
	b.wantCorruption(b.builder().SaveTo(b.newStorage(b.base, true)), "Blob file #16 consists entirely of garbage")
}

func TestVersionBuilderTest_CheckConsistencyForBlobFilesAllGarbageLinkedSsts(t *testing.T) {
	b := newBuilderTest(t)
	b.add(1, 1, "150", "200", oldestBlob(16))
	b.addBlob(16, 1000, 1000000, "", "", linked(1), 0, 0)
	vb := b.builder()
	b.noErr(vb.Apply(garbage(16, 1000, 1000000)))
	b.wantCorruption(vb.SaveTo(b.newStorage(b.base, true)), "Blob file #16 consists entirely of garbage")
}

func TestVersionBuilderTest_MaintainLinkedSstsForBlobFiles(t *testing.T) {
	b := newBuilderTest(t)
	table := func(n uint64, change ...func(*version.FileMetaData)) *version.FileMetaData {
		key := fmt.Sprintf("%02d", n)
		return metaOf(n, key, key, n*100, change...)
	}
	// Tables 1 … 10 refer to blob files 1 … 5; the next ten to none.
	for n := uint64(1); n <= 20; n++ {
		f := table(n)
		if n <= 10 {
			f.OldestBlobFileNumber = (n-1)%5 + 1
		}
		b.base.AddFile(1, f)
	}
	for n := uint64(1); n <= 5; n++ {
		b.addBlob(n, 2000, 2000000, "", "", linked(n, n+5), 1000, 1000000)
	}
	vb := b.builder()
	meta3 := b.base.GetBlobFileMetaData(3)
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(1, table(21, oldestBlob(1)))
		e.AddFile(1, table(22))
		e.DeleteFile(1, 6)
		e.DeleteFile(1, 16)
		// Files that only move.
		e.DeleteFile(1, 3)
		e.AddFile(2, table(3, oldestBlob(3)))
		e.DeleteFile(1, 13)
		e.AddFile(2, table(13))
		// One that is gone again with the next edit.
		e.AddFile(1, table(23, oldestBlob(5)))
	})))
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) { e.DeleteFile(1, 23) })))
	v := b.save(vb, b.base, true)
	b.wantNumBlobs(v, 5)
	for i, l := range []blob.LinkedSsts{linked(1, 21), linked(2, 7), linked(3, 8), linked(4, 9), linked(5, 10)} {
		b.wantBlob(v, uint64(i+1), 2000, 2000000, "", "", l, 1000, 1000000)
	}
	if v.GetBlobFileMetaData(3) != meta3 {
		t.Error("a move of a table made new metadata of its blob file")
	}
}

func TestVersionBuilderTest_CheckConsistencyForFileDeletedTwice(t *testing.T) {
	b := newBuilderTest(t)
	b.add(0, 1, "150", "200", epoch(1))
	deletion := edit(func(e *version.VersionEdit) { e.DeleteFile(0, 1) })
	vb := b.builder()
	b.noErr(vb.Apply(deletion))
	v := b.save(vb, nil, true)
	if err := b.builderOn(v).Apply(deletion); err == nil {
		t.Error("a file was deleted twice")
	}
}

func TestVersionBuilderTest_CheckConsistencyForL0FilesSortedByEpochNumber(t *testing.T) {
	span := func(number uint64, smallest, largest string, from, to, ep uint64) *version.FileMetaData {
		f := metaOf(number, smallest, largest, 0, epoch(ep))
		f.FD.Set(number, 0, 100, from, to)
		f.Smallest = dbformat.NewInternalKey([]byte(smallest), from, dbformat.TypeValue)
		f.Largest = dbformat.NewInternalKey([]byte(largest), to, dbformat.TypeValue)
		return f
	}
	b := newBuilderTest(t)
	vb := b.builderOn(b.base)
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(0, span(1, "a", "c", 1, 3, 1))
		e.AddFile(0, span(2, "b", "d", 2, 4, 1))
	})))
	b.wantCorruption(vb.SaveTo(b.newStorage(nil, true)), "L0 files of same epoch number but overlapping range")

	vb = b.builderOn(b.base)
	b.noErr(vb.Apply(edit(func(e *version.VersionEdit) {
		e.AddFile(0, span(1, "a", "a", 1, 1, 1))
		e.AddFile(0, span(2, "b", "b", 2, 2, 2))
	})))
	v := b.newStorage(nil, true)
	b.noErr(vb.SaveTo(v))
	files := v.LevelFiles(0)
	if len(files) != 2 {
		t.Fatalf("%d files", len(files))
	}
	files[0].EpochNumber, files[1].EpochNumber = 1, 2
	vb = b.builderOn(b.base)
	b.noErr(vb.Apply(new(version.VersionEdit)))
	b.wantCorruption(vb.SaveTo(v), "L0 files are not sorted properly")
}

func TestVersionBuilderTest_EstimatedActiveKeys(t *testing.T) {
	const samples, levels, perLevel, entries, deletions = 20, 5, 8, 1000, 100
	b := newBuilderTest(t)
	for i := range levels * perLevel {
		f := metaOf(uint64(i+1), fmt.Sprint((i+100)*1000), fmt.Sprint((i+100)*1000+999), 100, func(f *version.FileMetaData) {
			f.NumEntries, f.NumDeletions = entries, deletions
		})
		b.base.AddFile(i/perLevel, f)
		if i < samples {
			f.InitStatsFromFile = true
			b.base.UpdateAccumulatedStats(f)
		}
	}
	// A deletion is no key, and takes one away.
	if got, want := b.base.GetEstimatedActiveKeys(), uint64((entries-2*deletions)*levels*perLevel); got != want {
		t.Errorf("%d keys, want %d", got, want)
	}
}
