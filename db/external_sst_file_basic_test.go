// Port of db/external_sst_file_basic_test.cc. Differs: what needs sync points
// is in external_sst_file_basic_syncpoint_test.go.

package db_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/util"
)

func (x *extTest) wantInfo(info rocksdb.ExternalSstFileInfo, path string, n uint64, smallest, largest string, rangeDels uint64, smallestRange, largestRange string) {
	x.Helper()
	if info.FilePath != path || info.NumEntries != n || string(info.SmallestKey) != smallest || string(info.LargestKey) != largest ||
		info.NumRangeDelEntries != rangeDels || string(info.SmallestRangeDelKey) != smallestRange || string(info.LargestRangeDelKey) != largestRange {
		x.Fatalf("file info %+v", info)
	}
}

func TestExternalSSTFileBasicTest_Basic(t *testing.T) {
	x := newExtTest(t)
	w := rocksdb.NewSstFileWriter(x.currentOptions(), nil)
	defer w.Close()
	if w.FileSize() != 0 {
		t.Fatal("size before Open")
	}
	path := x.sst + "file1.sst"
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	for _, e := range puts(0, 100, "_val") {
		x.must(addEntry(w, e))
	}
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	if w.FileSize() == 0 || info.FileSize != w.FileSize() {
		t.Fatalf("size %d, %d", w.FileSize(), info.FileSize)
	}
	x.wantInfo(info, path, 100, key(0), key(99), 0, "", "")
	if info.FileChecksum != rocksdb.UnknownFileChecksum || info.FileChecksumFuncName != rocksdb.UnknownFileChecksumFuncName {
		t.Fatalf("checksum %q %q", info.FileChecksum, info.FileChecksumFuncName)
	}
	x.wantErr(w.Put([]byte(key(100)), []byte("bad_val")))
	x.wantErr(w.DeleteRange([]byte(key(100)), []byte(key(200))))
}

// alignedFS fails a write after one whose size was no power of two: only the
// last write may have such a size.
type alignedFS struct {
	rocksdb.FileSystemWrapper
	bad atomic.Bool
}

type alignedFile struct {
	rocksdb.FSWritableFile
	fs   *alignedFS
	last bool
}

func (f *alignedFS) NewWritableFile(name string, o *rocksdb.FileOptions) (rocksdb.FSWritableFile, error) {
	w, err := f.FileSystemWrapper.NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	return &alignedFile{FSWritableFile: w, fs: f}, nil
}

func (f *alignedFile) Append(data []byte, o *rocksdb.IOOptions) error {
	if f.last {
		f.fs.bad.Store(true)
	}
	f.last = len(data)&(len(data)-1) != 0
	return f.FSWritableFile.Append(data, o)
}

func TestExternalSSTFileBasicTest_AlignedBufferedWrite(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	fs := &alignedFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	o.Env = env.NewCompositeEnvWrapper(x.env, fs, nil)
	fo := rocksdb.DefaultFileOptions()
	fo.WritableFileMaxBufferSize = 64 << 20
	c := rocksdb.DefaultSstFileWriterOptions()
	c.FileOptions = &fo
	w := rocksdb.NewSstFileWriter(o, &c)
	x.must(w.Open(x.sst+"file1.sst", rocksdb.TemperatureUnknown))
	rnd := util.NewRandom(301)
	for k := range 16 * 1024 {
		x.must(w.Put([]byte(key(k)), []byte(rnd.RandomString(int(4096+rnd.Uniform(8192))))))
	}
	x.must(w.Finish(nil))
	if w.FileSize() == 0 {
		t.Fatal("no size")
	}
	if fs.bad.Load() {
		t.Fatal("a write that was not the last had a size that is no power of two")
	}
}

func TestExternalSSTFileBasicTest_BasicWithFileChecksumCrc32c(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
	path, info := x.writeInfo(o, "file1.sst", puts(0, 100, "_val"))
	checksum, name := x.fileChecksum(o, path, "")
	x.wantInfo(info, path, 100, key(0), key(99), 0, "", "")
	if info.FileChecksum != checksum || info.FileChecksumFuncName != name {
		t.Fatalf("checksum %q %q", info.FileChecksum, info.FileChecksumFuncName)
	}
	x.destroyAndReopen(o)
	x.must(x.addFile([]string{path}, false, false))
	x.wantSeqno(0)
	for k := range 100 {
		x.wantGet(0, key(k), key(k)+"_val")
	}
}

// variousGen is CRC32C under many names.
type variousGen struct {
	rocksdb.FileChecksumGenerator
	name string
}

func (g variousGen) Name() string        { return g.name }
func (g variousGen) GetChecksum() string { return g.FileChecksumGenerator.GetChecksum() + "_" + g.name }

// variousFactory gives every generator that nobody asked for by name another
// name.
type variousFactory struct {
	rocksdb.FileChecksumGenFactory
	n *atomic.Int32
}

func newVariousFactory() variousFactory {
	return variousFactory{util.GetFileChecksumGenCrc32cFactory(), &atomic.Int32{}}
}

func (variousFactory) Name() string { return "VariousFileChecksumGenFactory" }

func (f variousFactory) CreateFileChecksumGenerator(c rocksdb.FileChecksumGenContext) rocksdb.FileChecksumGenerator {
	name := c.RequestedChecksumFuncName
	switch {
	case name == "":
		name = fmt.Sprintf("Various%d", f.n.Add(1)-1)
	case !strings.HasPrefix(name, "Various"):
		return nil
	}
	return variousGen{f.FileChecksumGenFactory.CreateFileChecksumGenerator(rocksdb.FileChecksumGenContext{FileName: c.FileName}), name}
}

func (x *extTest) addWithChecksum(files, checksums, names []string, verify, writeSeqno bool) error {
	o := ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.AllowGlobalSeqno, o.AllowBlockingFlush = false, false
		o.WriteGlobalSeqno, o.VerifyFileChecksum = writeSeqno, verify
	})
	return x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{{ColumnFamily: x.db.ColumnFamily, ExternalFiles: files, Options: *o,
		FilesChecksums: checksums, FilesChecksumFuncNames: names}})
}

// newLiveFile gives the one table that is not in seen, and adds it.
func (x *extTest) newLiveFile(seen map[string]bool) rocksdb.LiveFileMetaData {
	x.Helper()
	var found []rocksdb.LiveFileMetaData
	for _, f := range x.db.GetLiveFilesMetaData() {
		if !seen[f.Name] {
			seen[f.Name] = true
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		x.Fatalf("%d new files", len(found))
	}
	return found[0]
}

func TestExternalSSTFileBasicTest_IngestFileWithFileChecksum(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.FileChecksumGenFactory = newVariousFactory()
	bounds := []int{1000, 1100, 1300, 1500, 1800, 2000, 2200}
	var files, sums, names []string
	for i := range 6 {
		path, info := x.writeInfo(o, fmt.Sprintf("file0%d.sst", i+1), puts(bounds[i], bounds[i+1], "_val"))
		x.wantInfo(info, path, uint64(bounds[i+1]-bounds[i]), key(bounds[i]), key(bounds[i+1]-1), 0, "", "")
		sum, name := x.fileChecksum(o, path, info.FileChecksumFuncName)
		if info.FileChecksum != sum || info.FileChecksumFuncName != name {
			t.Fatalf("checksum %q %q", info.FileChecksum, info.FileChecksumFuncName)
		}
		files, sums, names = append(files, path), append(sums, sum), append(names, name)
	}
	seen := map[string]bool{}
	// Without a factory the database does not care for checksums.
	x.must(x.addWithChecksum(files[:1], []string{sums[0], "xyz"}, sums[:1], true, false))
	x.wantFile(files[0], true)
	f := x.newLiveFile(seen)
	if f.FileChecksum != rocksdb.UnknownFileChecksum || f.FileChecksumFuncName != rocksdb.UnknownFileChecksumFuncName {
		t.Fatalf("checksum %q %q", f.FileChecksum, f.FileChecksumFuncName)
	}
	if f.Level != 6 || f.Temperature != rocksdb.TemperatureUnknown {
		t.Fatalf("level %d, temperature %d", f.Level, f.Temperature)
	}
	x.reopen(o)
	x.wantErr(x.addWithChecksum(files[1:2], []string{sums[1], "xyz"}, names[1:2], true, false))
	x.wantErr(x.addWithChecksum(files[1:2], sums[1:2], []string{"xyz"}, true, false))
	x.wantErr(x.addWithChecksum(files[1:2], []string{"xyz"}, names[1:2], true, false))
	x.must(x.addWithChecksum(files[1:2], sums[1:2], names[1:2], true, false))
	if f := x.newLiveFile(seen); f.FileChecksum != sums[1] || f.FileChecksumFuncName != names[1] {
		t.Fatalf("checksum %q %q", f.FileChecksum, f.FileChecksumFuncName)
	}
	recomputed := func(i int) {
		t.Helper()
		f := x.newLiveFile(seen)
		if f.FileChecksumFuncName == names[i] {
			t.Fatal("not computed anew")
		}
		sum, name := x.fileChecksum(o, x.dir+f.Name, f.FileChecksumFuncName)
		if f.FileChecksum != sum || f.FileChecksumFuncName != name {
			t.Fatalf("checksum %q %q", f.FileChecksum, f.FileChecksumFuncName)
		}
		x.wantFile(files[i], true)
	}
	x.must(x.addWithChecksum(files[2:3], nil, nil, true, false))
	recomputed(2)
	// Not verified: the function has to be known, the checksum is taken as it is.
	x.wantErr(x.addWithChecksum(files[3:4], sums[3:4], []string{"xyz"}, false, false))
	x.must(x.addWithChecksum(files[3:4], []string{"asd"}, []string{"VariousABCD"}, false, false))
	if f := x.newLiveFile(seen); f.FileChecksum != "asd" || f.FileChecksumFuncName != "VariousABCD" {
		t.Fatalf("checksum %q %q", f.FileChecksum, f.FileChecksumFuncName)
	}
	// With the number written into the file the checksum is another.
	x.must(x.addWithChecksum(files[4:5], sums[4:5], names[4:5], true, true))
	recomputed(4)
	x.must(x.addWithChecksum(files[5:6], nil, nil, false, false))
	recomputed(5)
}

func TestExternalSSTFileBasicTest_NoCopy(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	f1, i1 := x.writeInfo(o, "file1.sst", puts(0, 100, "_val"))
	x.wantInfo(i1, f1, 100, key(0), key(99), 0, "", "")
	f2, i2 := x.writeInfo(o, "file2.sst", puts(100, 300, "_val"))
	x.wantInfo(i2, f2, 200, key(100), key(299), 0, "", "")
	f3, i3 := x.writeInfo(o, "file3.sst", puts(110, 125, "_val_overlap"))
	x.wantInfo(i3, f3, 15, key(110), key(124), 0, "", "")
	x.must(x.addFile([]string{f1}, true, false))
	x.wantFile(f1, false)
	x.must(x.addFile([]string{f2}, false, false))
	x.wantFile(f2, true)
	x.wantErr(x.addFile([]string{f3}, true, false))
	x.wantFile(f3, true)
	for k := range 300 {
		x.wantGet(0, key(k), key(k)+"_val")
	}
}

// eachSeqnoParam runs f with the suite's two parameters.
func eachSeqnoParam(t *testing.T, f func(t *testing.T, writeSeqno, verify bool)) {
	for _, w := range []bool{true, false} {
		for _, v := range []bool{true, false} {
			t.Run(fmt.Sprintf("write_global_seqno=%t,verify_checksums=%t", w, v), func(t *testing.T) { f(t, w, v) })
		}
	}
}

// ingestStep is a file's ingestion and how much the sequence number rises.
type ingestStep struct {
	keys   []int
	kinds  string
	ranges [][2]int
	rise   uint64
}

func (x *extTest) runSteps(o rocksdb.Options, writeSeqno, verify bool, steps []ingestStep) {
	x.Helper()
	for i, s := range steps {
		before := x.db.GetLatestSequenceNumber()
		x.must(x.generate(o, writeSeqno, verify, s.keys, s.kinds, s.ranges...))
		if got := x.db.GetLatestSequenceNumber() - before; got != s.rise {
			x.Fatalf("step %d: the sequence number rose by %d, not %d", i, got, s.rise)
		}
	}
}

// runGlobalSeqno is what the three tests of picked sequence numbers have in
// common: first into an empty database, then with memtables, then with a
// snapshot, and without it.
func runGlobalSeqno(t *testing.T, merge bool, empty, memtable, snapshot []ingestStep, last ingestStep) {
	eachSeqnoParam(t, func(t *testing.T, w, v bool) {
		eachIngestionOptions(t, func(x *extTest) {
			o := x.currentOptions()
			o.DisableAutoCompactions = true
			if merge {
				o.MergeOperator = putOperator(t)
			}
			x.destroyAndReopen(o)
			x.runSteps(o, w, v, empty)
			for k := range 50 {
				x.mustPut(0, key(k), "memtable")
				x.data[key(k)] = "memtable"
			}
			x.runSteps(o, w, v, memtable)
			s := x.db.GetSnapshot()
			x.runSteps(o, w, v, snapshot)
			x.must(x.db.ReleaseSnapshot(s))
			x.runSteps(o, w, v, []ingestStep{last})
			x.verify(x.data)
		})
	})
}

func TestExternalSSTFileBasicTest_IngestFileWithGlobalSeqnoPickedSeqno(t *testing.T) {
	runGlobalSeqno(t, false,
		[]ingestStep{{[]int{1, 2, 3, 4, 5, 6}, "P", nil, 0}, {[]int{10, 11, 12, 13}, "P", nil, 0}, {[]int{1, 4, 6}, "P", nil, 1},
			{[]int{11, 15, 19}, "P", nil, 1}, {[]int{120, 130}, "P", nil, 0}, {[]int{1, 130}, "P", nil, 1}},
		[]ingestStep{{[]int{60, 61, 62}, "P", nil, 0}, {[]int{40, 41, 42}, "P", nil, 1}, {[]int{20, 30, 40}, "P", nil, 1}},
		[]ingestStep{{[]int{1000, 1002}, "P", nil, 1}, {[]int{2000, 3002}, "P", nil, 1}, {[]int{1, 20, 40, 100, 150}, "P", nil, 1}},
		ingestStep{[]int{5000, 5001}, "P", nil, 0})
}

func TestExternalSSTFileBasicTest_IngestFileWithMultipleValueType(t *testing.T) {
	runGlobalSeqno(t, true,
		[]ingestStep{{[]int{1, 2, 3, 4, 5, 6}, "P", nil, 0}, {[]int{10, 11, 12, 13}, "P", nil, 0}, {[]int{1, 4, 6}, "M", nil, 1},
			{[]int{11, 15, 19}, "D", nil, 1}, {[]int{120, 130}, "M", nil, 0}, {[]int{1, 130}, "D", nil, 1},
			{[]int{120}, "P", [][2]int{{120, 135}}, 1},
			// The end is exclusive but counts as an overlap.
			{nil, "P", [][2]int{{110, 120}}, 1}, {nil, "P", [][2]int{{100, 109}}, 0}},
		[]ingestStep{{[]int{60, 61, 62}, "P", nil, 0}, {[]int{40, 41, 42}, "M", nil, 1}, {[]int{20, 30, 40}, "D", nil, 1}},
		[]ingestStep{{[]int{1000, 1002}, "M", nil, 1}, {[]int{2000, 3002}, "M", nil, 1}, {[]int{1, 20, 40, 100, 150}, "M", nil, 1}},
		ingestStep{[]int{5000, 5001}, "P", nil, 0})
}

func TestExternalSSTFileBasicTest_IngestFileWithMixedValueType(t *testing.T) {
	runGlobalSeqno(t, true,
		[]ingestStep{{[]int{1, 2, 3, 4, 5, 6}, "PMPMPM", nil, 0}, {[]int{10, 11, 12, 13}, "PMPM", nil, 0}, {[]int{1, 4, 6}, "DPM", nil, 1},
			{[]int{11, 15, 19}, "DMP", nil, 1}, {[]int{120, 130}, "PM", nil, 0}, {[]int{1, 130}, "MD", nil, 1},
			{[]int{150, 151, 152}, "PMD", [][2]int{{150, 160}, {180, 190}}, 0}, {[]int{150, 151, 152}, "PMP", [][2]int{{200, 250}}, 1},
			{[]int{300, 301, 302}, "PMD", [][2]int{{1, 2}, {152, 154}}, 1}},
		[]ingestStep{{[]int{60, 61, 62}, "PMP", nil, 0}, {[]int{40, 41, 42}, "PDD", nil, 1}, {[]int{20, 30, 40}, "DDD", nil, 1}},
		[]ingestStep{{[]int{1000, 1002}, "PM", nil, 1}, {[]int{2000, 3002}, "PM", nil, 1}, {[]int{1, 20, 40, 100, 150}, "DDPMM", nil, 1}},
		ingestStep{[]int{5000, 5001}, "PM", nil, 0})
}

// readCountFS counts reads of random access files.
type readCountFS struct {
	rocksdb.FileSystemWrapper
	n atomic.Int64
}

type readCountFile struct {
	rocksdb.FSRandomAccessFile
	n *atomic.Int64
}

func (f *readCountFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	r, err := f.FileSystemWrapper.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &readCountFile{r, &f.n}, nil
}

func (f *readCountFile) Read(offset uint64, n int, o *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	f.n.Add(1)
	return f.FSRandomAccessFile.Read(offset, n, o, scratch)
}

func TestExternalSSTFileBasicTest_VerifyChecksumReadahead(t *testing.T) {
	x := newExtTest(t)
	fs := &readCountFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}}
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	plain := o
	o.Env = env.NewCompositeEnvWrapper(x.env, fs, nil)
	x.destroyAndReopen(o)
	value := string(util.NewRandom(301).RandomString(4000))
	var es []extEntry
	for i := range 5000 {
		es = append(es, extEntry{'P', key(i), value})
	}
	path := x.write(plain, "verify_checksum_readahead_test.sst", es)
	fs.n.Store(0)
	x.ingest(0, path)
	base := fs.n.Load()
	if base == 0 {
		t.Fatal("no reads")
	}
	x.must(x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
		o.VerifyChecksumsBeforeIngest, o.VerifyChecksumsReadaheadSize = true, 2<<20
	})))
	// About 20 MB by 2 MB each, and the metadata.
	if n := fs.n.Load() - base; n == 0 || n > 40 {
		t.Fatalf("%d reads", n)
	}
}

func TestExternalSSTFileBasicTest_IngestRangeDeletionTombstoneWithGlobalSeqno(t *testing.T) {
	x := newExtTest(t)
	for k := 5; k < 25; k++ {
		x.mustPut(0, key(k), key(k)+"_val")
	}
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.reopen(o)
	path, info := x.writeInfo(o, "file.sst", []extEntry{{'R', key(0), key(30)}})
	x.wantInfo(info, path, 0, "", "", 1, key(0), key(30))
	x.must(x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.MoveFiles, o.WriteGlobalSeqno = true, true })))
	for k := 5; k < 25; k++ {
		x.wantGet(0, key(k), "NOT_FOUND")
	}
}

func TestExternalSSTFileBasicTest_IngestionWithRangeDeletions(t *testing.T) {
	eachSeqnoParam(t, func(t *testing.T, w, v bool) {
		x := newExtTest(t)
		o := x.currentOptions()
		o.DisableAutoCompactions, o.NumLevels = true, 7
		x.reopen(o)
		// It keeps the range deletions.
		s := x.db.GetSnapshot()
		// [0, 50) in level 6, [50, 100) in level 0, [100, 150) in the memtable.
		for i := range 3 {
			if i != 0 {
				x.flush(0)
				if i == 1 {
					x.moveFilesToLevel(6, 0)
				}
			}
			x.must(x.db.DeleteRange(nil, []byte(key(50*i)), []byte(key(50*(i+1)))))
		}
		x.wantFiles(0, "1,0,0,0,0,0,1")
		// Overlaps level 0, not the memtable.
		x.runSteps(o, w, v, []ingestStep{{[]int{60, 90}, "P", [][2]int{{65, 70}, {70, 85}}, 1}})
		x.wantFiles(0, "2,0,0,0,0,0,1")
		x.runSteps(o, w, v, []ingestStep{{[]int{10, 40}, "P", nil, 1}})
		x.wantFiles(0, "2,0,0,0,0,1,1")
		x.runSteps(o, w, v, []ingestStep{{nil, "P", [][2]int{{5, 15}}, 1}})
		x.wantFiles(0, "2,0,0,0,1,1,1")
		// The memtable is flushed first.
		x.runSteps(o, w, v, []ingestStep{{[]int{100, 140}, "P", nil, 1}})
		x.wantFiles(0, "4,0,0,0,1,1,1")
		x.must(x.db.ReleaseSnapshot(s))
		x.runSteps(o, w, v, []ingestStep{{[]int{151, 175}, "P", [][2]int{{160, 200}}, 0}})
		x.wantFiles(0, "4,0,0,0,1,1,2")
		x.verify(x.data)
	})
}

func TestExternalSSTFileBasicTest_AdjacentRangeDeletionTombstones(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	f8, i8 := x.writeInfo(o, "file8.sst", []extEntry{{'R', key(300), key(400)}})
	x.wantInfo(i8, f8, 0, "", "", 1, key(300), key(400))
	f9, i9 := x.writeInfo(o, "file9.sst", []extEntry{{'R', key(400), key(500)}})
	x.wantInfo(i9, f9, 0, "", "", 1, key(400), key(500))
	x.must(x.addFile([]string{f8, f9}, false, false))
	x.wantSeqno(0)
}

func TestExternalSSTFileBasicTest_UnorderedRangeDeletions(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions, o.NumLevels = true, 7
	x.reopen(o)
	s := x.db.GetSnapshot()
	x.must(x.db.DeleteRange(nil, []byte(key(0)), []byte(key(50))))
	x.must(x.generate(o, true, true, []int{60, 90}, "P", [2]int{65, 70}, [2]int{45, 50}))
	x.wantFiles(0, "2")
	x.verify(x.data)
	x.moveFilesToLevel(6, 0)
	x.wantFiles(0, "0,0,0,0,0,0,1")
	x.verify(x.data)
	x.must(x.generate(o, true, true, []int{151, 175}, "P", [2]int{160, 200}, [2]int{120, 180}))
	x.wantFiles(0, "0,0,0,0,0,0,2")
	x.verify(x.data)
	x.must(x.generate(o, true, true, nil, "P", [2]int{190, 200}, [2]int{170, 180}, [2]int{55, 65}))
	if len(x.data) != 2 {
		t.Fatalf("model has %d keys", len(x.data))
	}
	x.wantFiles(0, "0,0,0,0,0,1,2")
	x.verify(x.data)
	x.must(x.db.ReleaseSnapshot(s))
}

func TestExternalSSTFileBasicTest_RangeDeletionEndComesBeforeStart(t *testing.T) {
	x := newExtTest(t)
	w := rocksdb.NewSstFileWriter(x.currentOptions(), nil)
	path := x.sst + "file.sst"
	x.must(w.Open(path, rocksdb.TemperatureUnknown))
	del := func(a, b int) error { return w.DeleteRange([]byte(key(a)), []byte(key(b))) }
	x.wantCode(del(300, 200), rocksdb.CodeInvalidArgument)
	x.must(del(300, 300))
	x.must(del(300, 400))
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	x.wantInfo(info, path, 0, "", "", 1, key(300), key(400))
}

// flipByte damages a file.
func (x *extTest) flipByte(path string, offset int64) {
	x.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	x.must(err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], offset)
	x.must(err)
	b[0] ^= 0xff
	_, err = f.WriteAt(b[:], offset)
	x.must(err)
}

func TestExternalSSTFileBasicTest_IngestFileWithCorruptedDataBlock(t *testing.T) {
	eachSeqnoParam(t, func(t *testing.T, write, verify bool) {
		rnd := util.NewRandom(301)
		eachIngestionOptions(t, func(x *extTest) {
			o := x.currentOptions()
			o.Compression = rocksdb.NoCompression
			b := rocksdb.DefaultBlockBasedTableOptions()
			b.BlockSize = 4 << 10
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
			var es []extEntry
			for i := range 100 {
				es = append(es, extEntry{'P', key(i), string(rnd.RandomString(200))})
			}
			path := x.write(o, "0", es)
			// Neither the first nor the last data block: those are read anyway.
			x.flipByte(path, 5000)
			err := x.db.IngestExternalFile([]string{path}, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
				o.WriteGlobalSeqno, o.VerifyChecksumsBeforeIngest = write, verify
			}))
			if verify {
				x.wantCode(err, rocksdb.CodeCorruption)
			} else {
				x.must(err)
			}
		})
	})
}

func TestExternalSSTFileBasicTest_OverlappingFiles(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	files := []string{x.write(o, "file1.sst", kv("a", "a1", "i", "i1")), x.write(o, "file2.sst", kv("i", "i2")),
		x.write(o, "file3.sst", kv("k", "k1", "m", "m1")), x.write(o, "file4.sst", kv("j", "j1")), x.write(o, "file5.sst", kv("i", "i3"))}
	x.wantErr(x.db.IngestExternalFile(files, ingestOptions(func(o *rocksdb.IngestExternalFileOptions) { o.AllowGlobalSeqno = false })))
	x.ingest(0, files...)
	x.verify(map[string]string{"a": "a1", "i": "i3", "j": "j1", "k": "k1", "m": "m1"})
	x.wantFiles(0, "0,0,0,0,2,2,1")
}

func TestExternalSSTFileBasicTest_IngestFileAfterDBPut(t *testing.T) {
	x := newExtTest(t)
	for range 3 {
		x.mustPut(0, "k", "a")
		x.flush(0)
	}
	path := x.write(x.currentOptions(), "file1.sst", kv("k", "b"))
	x.ingest(0, path)
	x.must(x.full().TestWaitForCompact())
	x.wantGet(0, "k", "b")
}

func TestExternalSSTFileBasicTest_AtomicReplaceColumnFamilyWithIngestedVersionKey(t *testing.T) {
	x := newExtTest(t)
	o := x.defaultOptions()
	o.CompactionStyle, o.NumLevels = rocksdb.CompactionStyleUniversal, 7
	x.destroyAndReopen(o)
	x.ingest(0, x.write(o, "data_original", kv("ukey1", "uval1_orig", "ukey2", "uval2_orig")))
	x.mustPut(0, "data_version", "v_original")
	x.flush(0)
	x.verify(map[string]string{"data_version": "v_original", "ukey1": "uval1_orig", "ukey2": "uval2_orig"})
	x.wantFiles(0, "1,0,0,0,0,0,1")
	for i := range 10 {
		n := fmt.Sprint(i)
		arg := rocksdb.IngestExternalFileArg{ColumnFamily: x.db.ColumnFamily, AtomicReplaceRange: &rocksdb.RangeOpt{},
			ExternalFiles: []string{x.write(o, "version"+n, kv("data_version", "v"+n)), x.write(o, n, kv("ukey1", "uval1"+n, "ukey2", "uval2"+n))},
			Options: *ingestOptions(func(o *rocksdb.IngestExternalFileOptions) {
				o.FailIfNotBottommostLevel, o.SnapshotConsistency = i%2 == 0, false
			})}
		x.must(x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{arg}))
		x.verify(map[string]string{"data_version": "v" + n, "ukey1": "uval1" + n, "ukey2": "uval2" + n})
		x.wantFiles(0, "0,0,0,0,0,0,2")
	}
}

func TestExternalSSTFileBasicTest_VerifyChecksum(t *testing.T) {
	x := newExtTest(t)
	x.mustPut(0, "k", "put_val")
	x.flush(0)
	x.ingest(0, x.write(x.currentOptions(), "file_to_ingest.sst", kv("k", "ingested_val")))
	x.must(x.db.VerifyChecksum(nil))
}

func TestExternalSSTFileBasicTest_ConcurrentIngestionAndDropColumnFamily(t *testing.T) {
	const n = 10
	x := newExtTest(t)
	o := x.currentOptions()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("cf_%d", i))
	}
	x.createColumnFamilies(names, o)
	path := x.write(o, "file_to_ingest.sst", kv("key", "value"))
	var wg sync.WaitGroup
	var done, failed atomic.Int32
	for i := range n {
		cf := x.cfs[i]
		wg.Go(func() {
			if err := x.db.DropColumnFamily(cf); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			err := x.db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{{ColumnFamily: cf, ExternalFiles: []string{path}, Options: *ingestOptions()}})
			v, gerr := cf.Get(nil, []byte("key"))
			if err == nil {
				if gerr != nil || string(v.Data()) != "value" {
					t.Errorf("ingested, but %q %v", v.Data(), gerr)
				}
				done.Add(1)
			} else {
				if !rocksdb.IsNotFound(gerr) {
					t.Errorf("not ingested (%v), but %q %v", err, v.Data(), gerr)
				}
				failed.Add(1)
			}
			v.Release()
		})
	}
	wg.Wait()
	if done.Load()+failed.Load() != n {
		t.Fatal("lost one")
	}
}

func TestExternalSSTFileBasicTest_LargeSizeSstFileWriter(t *testing.T) {
	// What is refused costs address space only; what is accepted costs twice its
	// size of memory and is written, which is upstream's reason to run that on
	// large machines alone.
	x := newExtTest(t)
	const limit = 1<<32 - 1
	big := make([]byte, limit+1)
	w := rocksdb.NewSstFileWriter(x.currentOptions(), nil)
	defer w.Close()
	x.must(w.Open(x.sst+"large.sst", rocksdb.TemperatureUnknown))
	x.wantCode(w.Put(big[:limit-8+1], []byte("val")), rocksdb.CodeInvalidArgument)
	x.wantCode(w.Put([]byte("key"), big), rocksdb.CodeInvalidArgument)
	x.wantCode(w.DeleteRange([]byte("a"), big), rocksdb.CodeInvalidArgument)
	x.must(w.Put([]byte("key"), bytes.Repeat([]byte("v"), 1<<20)))
	x.must(w.Finish(nil))
}

func TestExternalSSTFileBasicTest_ReadOldValueOfIngestedKeyBug(t *testing.T) {
	x := newExtTest(t)
	o := x.currentOptions()
	o.CompactionStyle, o.DisableAutoCompactions, o.NumLevels = rocksdb.CompactionStyleUniversal, true, 3
	o.PreserveInternalTimeSeconds = 36000
	x.destroyAndReopen(o)
	// Older entries on the last level than on the one above, which only the ranges
	// of keys keep apart.
	place := func(level int, key string, values [2]string) {
		for _, v := range values {
			x.mustPut(0, key, v)
			x.flush(0)
		}
		files := x.db.GetColumnFamilyMetaData(nil).Levels[0].Files
		if len(files) != 2 {
			t.Fatalf("%d files", len(files))
		}
		_, err := x.db.CompactFiles(nil, []string{files[0].Name, files[1].Name}, level, -1, nil)
		x.must(err)
	}
	wantSeqno := func(level int, want uint64) {
		t.Helper()
		files := x.db.GetColumnFamilyMetaData(nil).Levels[level].Files
		if len(files) != 1 || files[0].LargestSeqno != want {
			t.Fatalf("L%d: %v, want sequence number %d", level, files, want)
		}
	}
	place(1, "k1", [2]string{"seqno1", "seqno2"})
	x.wantFiles(0, "0,1")
	wantSeqno(1, 102) // the first 100 are set aside
	place(2, "k2overlap", [2]string{"old_value", "old_value"})
	x.wantFiles(0, "0,1,1")
	wantSeqno(2, 104)

	x.ingest(0, x.write(o, "f.sst", kv("k2overlap", "new_value")))
	x.must(x.db.CompactRange(nil, nil, nil))
	x.wantGet(0, "k2overlap", "new_value")
}
