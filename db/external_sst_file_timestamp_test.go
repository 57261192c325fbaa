// Port of db/external_sst_file_test.cc (ExternalSSTFileWithTimestampTest).

package db_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// tsExtOptions are those of a family with timestamps, which are persisted or
// only kept in memtables.
func (x *extTest) tsExtOptions(persisted bool) rocksdb.Options {
	o := x.currentOptions()
	o.Comparator = rocksdb.BytewiseComparatorWithU64Ts()
	o.PersistUserDefinedTimestamps = persisted
	if !persisted {
		o.AllowConcurrentMemtableWrite = false
	}
	return o
}

// writeTS makes a file of keys from and below to, at timestamp ts of each.
func (x *extTest) writeTS(o rocksdb.Options, name string, from, to int, ts func(k int) uint64) string {
	x.Helper()
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	x.must(w.Open(x.sst+name, rocksdb.TemperatureUnknown))
	for k := from; k < to; k++ {
		x.must(w.PutWithTS([]byte(key(k)), u64ts(ts(k)), []byte(val(k))))
	}
	x.must(w.Finish(nil))
	return x.sst + name
}

func sameTS(k int) uint64 { return uint64(k) }

func TestExternalSSTFileWithTimestampTest_SanityCheck(t *testing.T) {
	x := newExtTest(t)
	o := x.tsExtOptions(true)
	x.destroyAndReopen(o)
	file1 := x.writeTS(o, "file1.sst", 0, 100, sameTS)
	file2 := x.writeTS(o, "file2.sst", 50, 75, func(k int) uint64 { return uint64(k + 2) })
	// In no order of the files do all newer entries have newer timestamps.
	x.wantCode(x.db.IngestExternalFile([]string{file1, file2}, ingestOptions()), rocksdb.CodeNotSupported)
	for _, family := range []bool{false, true} {
		o := o
		if family {
			o.CFAllowIngestBehind = true
		} else {
			o.AllowIngestBehind = true
		}
		x.destroyAndReopen(o)
		x.wantCode(x.db.IngestExternalFile([]string{file1}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.IngestBehind = true })),
			rocksdb.CodeNotSupported)
	}
}

// rangeBounds ingests, by what its writer knows of it, a file with a key and a
// range deletion before it, and compares the bounds: the writer's, and the
// database's.
func rangeBounds(t *testing.T, persisted bool, ts uint64, smallest, largest, dbSmallest, dbLargest []byte) {
	t.Helper()
	x := newExtTest(t)
	o := x.tsExtOptions(persisted)
	o.DisableAutoCompactions = true
	x.destroyAndReopen(o)
	path := x.sst + "range_bounds.sst"
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	x.must(w.PutWithTS([]byte(key(30)), u64ts(ts), []byte("v30")))
	x.must(w.DeleteRangeWithTS([]byte(key(20)), []byte(key(26)), u64ts(ts)))
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	user := func(internal []byte) []byte { return internal[:len(internal)-8] }
	if p := info.PreparedFileInfo; !bytes.Equal(user(p.Smallest), smallest) || !bytes.Equal(user(p.Largest), largest) {
		t.Errorf("the writer's bounds are %q to %q", user(p.Smallest), user(p.Largest))
	}
	arg := x.argOf(0, path)
	arg.FileInfos = []*rocksdb.PreparedFileInfo{info.PreparedFileInfo}
	x.must(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}))
	files := x.db.GetLiveFilesMetaData()
	if len(files) != 1 || !bytes.Equal(files[0].SmallestKey, dbSmallest) || !bytes.Equal(files[0].LargestKey, dbLargest) {
		t.Errorf("files %+v", files)
	}
}

// maxTSOf is a key at the greatest timestamp.
func maxTSOf(k int) []byte { return append([]byte(key(k)), bytes.Repeat([]byte{0xff}, 8)...) }

func TestExternalSSTFileWithTimestampTest_TimestampsPersistedIngestWithFileInfoRangeDeletionBounds(t *testing.T) {
	largest := append([]byte(key(30)), u64ts(10)...)
	rangeBounds(t, true, 10, maxTSOf(20), largest, maxTSOf(20), largest)
}

func TestExternalSSTFileWithTimestampTest_TimestampsNotPersistedIngestWithFileInfoRangeDeletionBounds(t *testing.T) {
	rangeBounds(t, false, 0, []byte(key(20)), []byte(key(30)), maxTSOf(20), append([]byte(key(30)), u64ts(0)...))
}

// at is a key with a timestamp appended.
func atTS(k int, ts uint64) string { return key(k) + string(u64ts(ts)) }

// tsFile writes a file, by f, and gives its path and description.
func (x *extTest) tsFile(o rocksdb.Options, f func(w *rocksdb.SstFileWriter)) (string, rocksdb.ExternalSstFileInfo) {
	x.Helper()
	x.id++
	path := fmt.Sprintf("%sfile%d.sst", x.sst, x.id)
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	if w.FileSize() != 0 {
		x.Fatal("size before Open")
	}
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	f(w)
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	if w.FileSize() == 0 {
		x.Fatal("no size after Finish")
	}
	x.wantErr(w.PutWithTS([]byte(key(100)), u64ts(0), []byte("bad_val")))
	return path, info
}

func (x *extTest) ingestTS(files ...string) error {
	return x.db.IngestExternalFile(files, ingestOptions())
}

// wantAtTS wants a value, written at just the timestamp that it is read at.
func (x *extTest) wantAtTS(k int, ts uint64, value string) {
	x.Helper()
	v, got, err := x.db.GetWithTimestamp(readAt(u64ts(ts)), []byte(key(k)))
	x.must(err)
	defer v.Release()
	if string(v.Data()) != value || !bytes.Equal(got, u64ts(ts)) {
		x.Fatalf("%s at %d is %q of %x, not %q", key(k), ts, v.Data(), got, value)
	}
}

func versionOf(k int, version int) string { return fmt.Sprintf("%s_val%d", key(k), version) }

func TestExternalSSTFileWithTimestampTest_Basic(t *testing.T) {
	x := newExtTest(t)
	for more := true; more; more = x.changeOptions(rangeDelSkipConfigs | skipFIFOCompaction) {
		x.timestampsBasic()
		x.recreateDir()
	}
}

func (x *extTest) timestampsBasic() {
	x.Helper()
	o := x.tsExtOptions(true)
	x.destroyAndReopen(o)
	put := func(w *rocksdb.SstFileWriter, k int, ts uint64, value string) {
		x.Helper()
		x.must(w.PutWithTS([]byte(key(k)), u64ts(ts), []byte(value)))
	}
	wantSeq := func(want uint64) {
		x.Helper()
		if got := x.db.GetLatestSequenceNumber(); got != want {
			x.Fatalf("sequence number %d, not %d", got, want)
		}
	}
	path, info := x.tsFile(o, func(w *rocksdb.SstFileWriter) {
		for k := range 50 {
			for version := 3; version > 0; version-- { // the newest comes first
				put(w, k, uint64(k+version), versionOf(k, version))
			}
		}
	})
	x.wantInfo(info, path, 150, atTS(0, 3), atTS(49, 50), 0, "", "")
	wantSeq(0)
	x.must(x.ingestTS(path))
	wantSeq(0)
	versions := func(newest int) {
		x.Helper()
		for k := range 50 {
			for version := newest; version > 0; version-- {
				x.wantAtTS(k, uint64(k+version), versionOf(k, version))
			}
		}
	}
	versions(3)

	path2, info := x.tsFile(o, func(w *rocksdb.SstFileWriter) {
		for k := 50; k < 200; k++ {
			put(w, k, uint64(k), val(k))
			if k == 100 {
				x.must(w.DeleteRangeWithTS([]byte(key(75)), []byte(key(125)), u64ts(100)))
			}
		}
	})
	x.wantInfo(info, path2, 150, atTS(50, 50), atTS(199, 199), 1, atTS(75, 100), atTS(125, 100))
	x.must(x.ingestTS(path2))
	wantSeq(0)
	for k := 50; k < 200; k++ {
		if k < 75 || k >= 125 {
			x.wantAtTS(k, uint64(k), val(k))
		}
	}

	// Keys that are there may have newer timestamps: such files are refused.
	path, info = x.tsFile(o, func(w *rocksdb.SstFileWriter) {
		for k := 100; k < 200; k++ {
			put(w, k, uint64(k+1), versionOf(k, 1))
		}
	})
	x.wantInfo(info, path, 100, atTS(100, 101), atTS(199, 200), 0, "", "")
	x.wantErr(x.ingestTS(path2))
	x.wantErr(x.db.IngestExternalFile([]string{path2}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.AllowGlobalSeqno = false })))

	for k := range 50 {
		x.must(x.db.PutWithTimestamp(nil, []byte(key(k)), u64ts(uint64(k+4)), []byte(versionOf(k, 4))))
	}
	versions(4)
	before := x.db.GetLatestSequenceNumber()
	path, info = x.tsFile(o, func(w *rocksdb.SstFileWriter) {
		for k := 200; k < 250; k++ {
			put(w, k, uint64(k), val(k))
		}
	})
	x.wantInfo(info, path, 50, atTS(200, 200), atTS(249, 249), 0, "", "")
	x.must(x.ingestTS(path))
	for k := 200; k < 250; k++ {
		x.wantAtTS(k, uint64(k), val(k))
	}
	wantSeq(before) // what does not overlap has no need of a number

	x.must(x.db.PutWithTimestamp(nil, []byte(key(250)), u64ts(250), []byte(val(250))))
	for _, c := range [][2]int{{200, 199}, {200, 201}, {250, 249}, {250, 251}} { // in a table and in a memtable
		path, _ = x.tsFile(o, func(w *rocksdb.SstFileWriter) { put(w, c[0], uint64(c[1]), val(c[0])) })
		x.wantCode(x.ingestTS(path), rocksdb.CodeInvalidArgument)
	}
}

// Files without timestamps go to families that keep none in tables, and those
// with go to families that do.
func TestExternalSSTFileWithTimestampTest_UDTSettingsCompatibilityCheck(t *testing.T) {
	x := newExtTest(t)
	none, notPersisted, persisted := x.currentOptions(), x.tsExtOptions(false), x.tsExtOptions(true)
	file1, _ := x.tsFile(none, func(w *rocksdb.SstFileWriter) {
		for k := range 50 {
			x.wantErr(w.PutWithTS([]byte(key(k)), u64ts(1), []byte(val(k))))
			x.must(w.Put([]byte(key(k)), []byte(val(k))))
		}
	})
	file2, _ := x.tsFile(notPersisted, func(w *rocksdb.SstFileWriter) {
		for k := 50; k < 100; k++ {
			x.wantErr(w.Put([]byte(key(k)), []byte(val(k))))
			x.wantErr(w.PutWithTS([]byte(key(k)), u64ts(uint64(k)), []byte(val(k))))
			x.must(w.PutWithTS([]byte(key(k)), u64ts(0), []byte(val(k))))
		}
	})
	file3, _ := x.tsFile(persisted, func(w *rocksdb.SstFileWriter) {
		for k := 100; k < 150; k++ {
			x.wantErr(w.Put([]byte(key(k)), []byte(val(k))))
			x.must(w.PutWithTS([]byte(key(k)), u64ts(uint64(k)), []byte(val(k))))
		}
	})
	x.destroyAndReopen(none)
	x.must(x.ingestTS(file1, file2))
	x.wantErr(x.ingestTS(file3))
	for k := range 100 {
		x.wantGet(0, key(k), val(k))
	}
	x.destroyAndReopen(notPersisted)
	x.must(x.ingestTS(file1, file2))
	x.wantErr(x.ingestTS(file3))
	for k := range 100 {
		x.wantAtTS(k, 0, val(k))
	}
	x.destroyAndReopen(persisted)
	x.wantErr(x.ingestTS(file1, file2))
	x.must(x.ingestTS(file3))
	for k := 100; k < 150; k++ {
		x.wantAtTS(k, uint64(k), val(k))
	}
}

func TestExternalSSTFileWithTimestampTest_TimestampsNotPersistedBasic(t *testing.T) {
	x := newExtTest(t)
	for more := true; more; more = x.changeOptions(rangeDelSkipConfigs | skipFIFOCompaction) {
		x.notPersistedBasic()
		x.recreateDir()
	}
}

func (x *extTest) notPersistedBasic() {
	x.Helper()
	o := x.tsExtOptions(false)
	x.destroyAndReopen(o)
	wantSeq := func(want uint64) {
		x.Helper()
		if got := x.db.GetLatestSequenceNumber(); got != want {
			x.Fatalf("sequence number %d, not %d", got, want)
		}
	}
	file := func(from, to int, more ...func(w *rocksdb.SstFileWriter)) (string, rocksdb.ExternalSstFileInfo) {
		x.Helper()
		return x.tsFile(o, func(w *rocksdb.SstFileWriter) {
			for k := from; k < to; k++ {
				x.wantErr(w.PutWithTS([]byte(key(k)), u64ts(1), []byte(versionOf(k, 1))))
				x.must(w.PutWithTS([]byte(key(k)), u64ts(0), []byte(versionOf(k, 0))))
			}
			for _, f := range more {
				f(w)
			}
		})
	}
	path, info := file(0, 50)
	x.wantInfo(info, path, 50, key(0), key(49), 0, "", "")
	wantSeq(0)
	x.must(x.ingestTS(path))
	wantSeq(0)
	for k := range 50 {
		x.wantAtTS(k, 0, versionOf(k, 0))
	}
	path, info = file(50, 200, func(w *rocksdb.SstFileWriter) {
		x.must(w.DeleteRangeWithTS([]byte(key(75)), []byte(key(125)), u64ts(0)))
	})
	x.wantInfo(info, path, 150, key(50), key(199), 1, key(75), key(125))
	x.must(x.ingestTS(path))
	wantSeq(0)
	for k := 50; k < 200; k++ { // keys of the same file go before the range
		x.wantAtTS(k, 0, versionOf(k, 0))
	}
	path, info = file(100, 200)
	x.wantInfo(info, path, 100, key(100), key(199), 0, "", "")
	x.wantErr(x.ingestTS(path))
	x.wantErr(x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.AllowGlobalSeqno = false })))
	for k := range 50 {
		for version := 1; version < 3; version++ {
			x.must(x.db.PutWithTimestamp(nil, []byte(key(k)), u64ts(uint64(version)), []byte(versionOf(k, version))))
		}
	}
	for k := range 50 {
		for version := range 3 {
			x.wantAtTS(k, uint64(version), versionOf(k, version))
		}
	}
	before := x.db.GetLatestSequenceNumber()
	path, info = file(200, 250)
	x.wantInfo(info, path, 50, key(200), key(249), 0, "", "")
	x.must(x.ingestTS(path))
	wantSeq(before)
}
