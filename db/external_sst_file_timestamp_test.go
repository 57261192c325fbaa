// Port of db/external_sst_file_test.cc (ExternalSSTFileWithTimestampTest).

package db_test

import (
	"bytes"
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
