// Port of table/sst_file_reader_test.cc (blobs embedded in table files). Differs:
// tables are opened below SstFileReader by a test's own function.

package table_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/util"
)

// entry is a key with its value or, when that is nil, its columns.
type entry struct {
	key     string
	value   []byte
	columns rocksdb.WideColumns
}

func embeddedOptions(minSize uint64) *rocksdb.SstFileWriterEmbeddedBlobOptions {
	o := rocksdb.DefaultSstFileWriterEmbeddedBlobOptions()
	o.MinBlobSize = minSize
	return &o
}

// writeEmbedded writes the file with its large values embedded.
func (x *sstReaderTest) writeEmbedded(o *rocksdb.SstFileWriterEmbeddedBlobOptions, entries ...entry) {
	x.Helper()
	w := rocksdb.NewSstFileWriter(x.o, nil)
	defer w.Close()
	x.must(w.OpenWithEmbeddedBlobs(x.name, o, rocksdb.TemperatureUnknown))
	for _, e := range entries {
		if e.columns != nil {
			x.must(w.PutEntity([]byte(e.key), e.columns))
		} else {
			x.must(w.Put([]byte(e.key), e.value))
		}
	}
	var info rocksdb.ExternalSstFileInfo
	x.must(w.Finish(&info))
	if info.FileSize == 0 {
		x.Fatal("an empty file")
	}
}

// shown is what a plain read gives of an entry.
func (e *entry) shown() []byte {
	if e.columns != nil {
		return e.columns[0].Value // the default column
	}
	return e.value
}

// wantEntries reads the file by Get, MultiGet and an iterator.
func (x *sstReaderTest) wantEntries(r *rocksdb.SstFileReader, entries ...entry) {
	x.Helper()
	keys := make([][]byte, len(entries))
	for i := range entries {
		e := &entries[i]
		keys[i] = []byte(e.key)
		v, err := r.Get(nil, keys[i])
		if err != nil || !bytes.Equal(v.Data(), e.shown()) {
			x.Fatalf("Get of %s: %d bytes, %v", e.key, v.Size(), err)
		}
		v.Release()
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	r.MultiGet(nil, keys, values, errs)
	for i := range values {
		if errs[i] != nil || !bytes.Equal(values[i].Data(), entries[i].shown()) {
			x.Fatalf("MultiGet of %s: %d bytes, %v", keys[i], values[i].Size(), errs[i])
		}
		values[i].Release()
	}
	it := r.NewIterator(nil)
	defer it.Close()
	n := 0
	for it.SeekToFirst(); it.Valid() && n < len(entries); it.Next() {
		if e := &entries[n]; string(it.Key()) != e.key || !bytes.Equal(it.Value(), e.shown()) {
			x.Fatalf("entry %d is %s of %d bytes", n, it.Key(), len(it.Value()))
		}
		n++
	}
	if it.Valid() || it.Status() != nil || n != len(entries) {
		x.Fatalf("%d entries, more %t, %v", n, it.Valid(), it.Status())
	}
}

// wantEmbeddedStats reads the property of embedded blobs.
func (x *sstReaderTest) wantEmbeddedStats(r *rocksdb.SstFileReader, count, payload int) {
	x.Helper()
	p, ok := r.GetTableProperties().UserCollectedProperties[table.EmbeddedBlobSstStatsPropertyName]
	if !ok {
		x.Fatal("no property of embedded blobs")
	}
	var s table.EmbeddedBlobStats
	x.must(s.DecodeFrom([]byte(p)))
	if s != (table.EmbeddedBlobStats{BlobCount: uint64(count), PayloadBytes: uint64(payload)}) {
		x.Fatalf("%+v, not %d of %d bytes", s, count, payload)
	}
}

// openTable opens the file below SstFileReader.
func (x *sstReaderTest) openTable() table.TableReader {
	x.Helper()
	full := x.o
	full.Comparator = util.BytewiseComparator()
	if full.TableFactory == nil {
		full.TableFactory = rocksdb.NewBlockBasedTableFactory(rocksdb.DefaultBlockBasedTableOptions())
	}
	f, err := openReader(x.name, &full)
	x.must(err)
	st, err := os.Stat(x.name)
	x.must(err)
	io := options.NewImmutableOptions(&full.DBOptions, &full.ColumnFamilyOptions)
	tro := table.DefaultTableReaderOptions(&io, dbformat.NewInternalKeyComparator(full.Comparator))
	ro := rocksdb.DefaultReadOptions()
	r, err := full.TableFactory.(table.Factory).NewTableReader(&ro, &tro, f, uint64(st.Size()), true)
	x.must(err)
	x.Cleanup(func() { r.Close() })
	return r
}

// wantPut wants key to be the internal key of a put.
func (x *sstReaderTest) wantPut(key []byte, userKey string) {
	x.Helper()
	p, err := dbformat.ParseInternalKey(key, true)
	if err != nil || string(p.UserKey) != userKey || p.Type != dbformat.TypeValue {
		x.Fatalf("%+v, %v", p, err)
	}
}

func TestSstFileReaderTest_EmbeddedBlobRoundTrip(t *testing.T) {
	x := newSstReaderTest(t)
	big, bigDefault := bytes.Repeat([]byte("v"), 4096), bytes.Repeat([]byte("d"), 4096)
	entries := []entry{
		{key: "a", value: []byte("tiny")},
		{key: "b", value: big},
		{key: "c", columns: rocksdb.WideColumns{{Value: bigDefault}, {Name: []byte("meta"), Value: []byte("x")}}},
	}
	x.writeEmbedded(embeddedOptions(6), entries...)
	r := x.open(x.name)
	x.must(r.VerifyChecksum(nil))
	x.wantEntries(r, entries...)
	if r.GetTableProperties().IndexValueIsDeltaEncoded != 0 {
		t.Error("the index is delta encoded")
	}
	x.wantEmbeddedStats(r, 2, len(big)+len(bigDefault))
}

func TestSstFileReaderTest_EmbeddedBlobIteratorKeyTypeWithFirstKeyIndex(t *testing.T) {
	x := newSstReaderTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.IndexType = rocksdb.BinarySearchWithFirstKey
	b.BlockSize = 1 // a block for each entry
	x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	entries := []entry{
		{key: "k1", value: bytes.Repeat([]byte("x"), 1024)},
		{key: "k2", value: bytes.Repeat([]byte("y"), 1024)},
		{key: "k3", value: bytes.Repeat([]byte("z"), 1024)},
	}
	x.writeEmbedded(embeddedOptions(8), entries...)
	ro := rocksdb.DefaultReadOptions()
	it := x.openTable().NewIterator(&ro, nil, false, contract.CallerUncategorized, 0, true)
	defer it.Close()
	check := func(e *entry) {
		t.Helper()
		if !it.Valid() || it.Status() != nil {
			t.Fatal("no entry", it.Status())
		}
		x.wantPut(it.Key(), e.key)
		if !it.PrepareValue() || !bytes.Equal(it.Value(), e.value) {
			t.Fatalf("value of %s; %v", e.key, it.Status())
		}
	}
	n := 0
	for it.SeekToFirst(); it.Valid(); it.Next() {
		check(&entries[n])
		n++
	}
	if n != len(entries) || it.Status() != nil {
		t.Fatalf("%d entries, %v", n, it.Status())
	}
	it.Seek(dbformat.NewInternalKey([]byte("k2"), dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek))
	check(&entries[1])
}

func TestSstFileReaderTest_EmbeddedBlobKeyStableAcrossValueCall(t *testing.T) {
	x := newSstReaderTest(t)
	big := bytes.Repeat([]byte("v"), 4096)
	x.writeEmbedded(embeddedOptions(8), entry{key: "key1", value: big}, entry{key: "key2", value: big})
	ro := rocksdb.DefaultReadOptions()
	it := x.openTable().NewIterator(&ro, nil, false, contract.CallerCompaction, 0, false)
	defer it.Close()
	it.SeekToFirst()
	for _, key := range []string{"key1", "key2"} {
		if !it.Valid() {
			t.Fatal("no entry", it.Status())
		}
		saved := it.Key()
		before := bytes.Clone(saved)
		if !bytes.Equal(it.Value(), big) {
			t.Fatal("another value")
		}
		x.wantPut(saved, key)
		if !bytes.Equal(saved, before) {
			t.Fatal("the key changed")
		}
		it.Next()
	}
}

func TestSstFileReaderTest_EmbeddedBlobRequiresFormatVersion7(t *testing.T) {
	x := newSstReaderTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.FormatVersion = 6
	x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	w := rocksdb.NewSstFileWriter(x.o, nil)
	defer w.Close()
	x.wantInvalid(w.OpenWithEmbeddedBlobs(x.name, nil, rocksdb.TemperatureUnknown))
}

// OpenWithEmbeddedBlobs does not take other tables, nor a writer in use.
func TestOpenWithEmbeddedBlobsRefuses(t *testing.T) {
	x := newSstReaderTest(t)
	w := x.writer()
	x.wantInvalid(w.OpenWithEmbeddedBlobs(x.name, nil, rocksdb.TemperatureUnknown))
	x.o.TableFactory = rocksdb.NewPlainTableFactory(rocksdb.DefaultPlainTableOptions())
	w = rocksdb.NewSstFileWriter(x.o, nil)
	defer w.Close()
	x.wantInvalid(w.OpenWithEmbeddedBlobs(x.name, nil, rocksdb.TemperatureUnknown))
}

func TestSstFileReaderTest_EmbeddedBlobCompressionOptionsIgnored(t *testing.T) {
	x := newSstReaderTest(t)
	e := entry{key: "a", value: bytes.Repeat([]byte("x"), 16<<10)}
	o := embeddedOptions(1)
	o.Compression = rocksdb.SnappyCompression
	o.CompressionOpts.MaxCompressedBytesPerKB = 10
	x.writeEmbedded(o, e)
	r := x.open(x.name)
	x.wantEntries(r, e)
	x.wantEmbeddedStats(r, 1, len(e.value))
}

func TestSstFileReaderTest_EmbeddedBlobDefaultMinBlobSize(t *testing.T) {
	x := newSstReaderTest(t)
	entries := []entry{
		{key: "a", value: bytes.Repeat([]byte("s"), 2047)},
		{key: "b", value: bytes.Repeat([]byte("l"), 2048)},
	}
	x.writeEmbedded(nil, entries...)
	r := x.open(x.name)
	x.wantEntries(r, entries...)
	x.wantEmbeddedStats(r, 1, 2048)
}

func TestSstFileReaderTest_EmbeddedBlobInterleavedLayout(t *testing.T) {
	x := newSstReaderTest(t)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockSize = 1 // a block for each entry
	x.o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	const size = 4096
	var entries []entry
	for i, key := range []string{"a", "b", "c", "d", "e", "f"} {
		value := []byte("tiny")
		if i%2 == 1 {
			value = bytes.Repeat([]byte{byte('0' + i/2)}, size)
		}
		entries = append(entries, entry{key: key, value: value})
	}
	x.writeEmbedded(embeddedOptions(64), entries...)
	r := x.open(x.name)
	x.must(r.VerifyChecksum(nil))
	p := r.GetTableProperties()
	if p.IndexValueIsDeltaEncoded != 0 || p.NumDataBlocks <= 1 {
		t.Errorf("delta encoded %d, %d data blocks", p.IndexValueIsDeltaEncoded, p.NumDataBlocks)
	}
	data, err := os.ReadFile(x.name)
	x.must(err)
	second := data[size+blobformat.SimpleGen2BlobTrailerSize:]
	if bytes.HasPrefix(second, bytes.Repeat([]byte("1"), 32)) {
		t.Error("the blobs are not between the blocks")
	}
	x.wantEmbeddedStats(r, 3, 3*size)
	x.wantEntries(r, entries...)
}

func TestSstFileReaderTest_EmbeddedBlobRecordCorruptionDetected(t *testing.T) {
	x := newSstReaderTest(t)
	x.writeEmbedded(embeddedOptions(1), entry{key: "a", value: bytes.Repeat([]byte("v"), 4096)})
	data, err := os.ReadFile(x.name)
	x.must(err)
	data[100] ^= 0xff // the blob lies at the file's beginning
	x.must(os.WriteFile(x.name, data, 0o644))
	_, err = x.open(x.name).Get(nil, []byte("a"))
	if !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), x.name) {
		t.Fatal(err)
	}
}

// failingAppendFS fails to append to files, on demand.
type failingAppendFS struct {
	contract.FileSystemWrapper
	fail bool
}

var errInjectedAppend = contract.IOError("Injected embedded blob append failure")

func (fs *failingAppendFS) NewWritableFile(name string, o *contract.FileOptions) (contract.FSWritableFile, error) {
	f, err := fs.FileSystem.NewWritableFile(name, o)
	if err != nil {
		return nil, err
	}
	return &failingAppendFile{contract.FSWritableFileWrapper{FSWritableFile: f}, fs}, nil
}

type failingAppendFile struct {
	contract.FSWritableFileWrapper
	fs *failingAppendFS
}

func (f *failingAppendFile) Append(data []byte, o *contract.IOOptions) error {
	if f.fs.fail {
		return errInjectedAppend
	}
	return f.FSWritableFile.Append(data, o)
}

func (f *failingAppendFile) AppendWithVerification(data []byte, o *contract.IOOptions, info contract.DataVerificationInfo) error {
	if f.fs.fail {
		return errInjectedAppend
	}
	return f.FSWritableFile.AppendWithVerification(data, o, info)
}

func TestSstFileReaderTest_EmbeddedBlobAppendErrorsSurfaceEarly(t *testing.T) {
	x := newSstReaderTest(t)
	fs := &failingAppendFS{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	x.o.Env = env.NewCompositeEnv(fs)
	fo := *contract.NewFileOptions(&x.o.DBOptions)
	fo.WritableFileMaxBufferSize = 1
	wo := rocksdb.DefaultSstFileWriterOptions()
	wo.FileOptions = &fo
	value := bytes.Repeat([]byte("v"), 4096)
	for name, add := range map[string]func(w *rocksdb.SstFileWriter) error{
		"put": func(w *rocksdb.SstFileWriter) error { return w.Put([]byte("a"), value) },
		"entity": func(w *rocksdb.SstFileWriter) error {
			return w.PutEntity([]byte("a"), rocksdb.WideColumns{{Value: value}, {Name: []byte("meta"), Value: []byte("m")}})
		},
	} {
		w := rocksdb.NewSstFileWriter(x.o, &wo)
		fs.fail = false
		x.must(w.OpenWithEmbeddedBlobs(x.name+"_"+name, embeddedOptions(1), rocksdb.TemperatureUnknown))
		fs.fail = true
		for _, err := range []error{add(w), w.Finish(nil)} {
			if !errors.Is(err, rocksdb.ErrIOError) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		fs.fail = false
		_ = w.Close()
	}
}

func TestSstFileReaderTableGetTest_BlobBackedWideColumnDefaultWithoutFetcher(t *testing.T) {
	eachGet(t, func(t *testing.T, get func(r *rocksdb.SstFileReader, keys ...string) ([]string, []error)) {
		x := newSstReaderTest(t)
		x.o.CreateIfMissing, x.o.DisableAutoCompactions = true, true
		x.o.EnableBlobFiles, x.o.MinBlobSize = true, 50
		db, err := rocksdb.Open(filepath.Join(t.TempDir(), "db"), x.o)
		x.must(err)
		defer func() { x.must(db.Close()) }()
		x.must(db.PutEntity(nil, []byte("blob_backed_entity"), rocksdb.WideColumns{
			{Value: bytes.Repeat([]byte("d"), 100)}, {Name: []byte("meta"), Value: []byte("inline")}}))
		x.must(db.Flush(nil))
		x.must(db.CompactRange(nil, nil, nil))
		files := db.GetLiveFilesMetaData()
		if len(files) != 1 {
			t.Fatalf("%d files", len(files))
		}
		_, errs := get(x.open(filepath.Join(files[0].Directory, files[0].RelativeFilename)), "blob_backed_entity")
		if !rocksdb.IsCorruption(errs[0]) || !strings.Contains(errs[0].Error(), "blob fetcher") {
			t.Error(errs[0])
		}
	})
}
