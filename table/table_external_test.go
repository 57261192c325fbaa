// Port of table/table_test.cc (external tables). Differs: the dummy table keeps
// its entries in a slice that is searched; that Get goes the short way is not
// looked at.

package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// dummyTable is a table of an application's own format: the properties block,
// and then the entries, all of them with their sizes before them.
type dummyTable struct {
	contract.ExternalTableReaderBase
	contract.ExternalTableBuilderBase
	f          *dummyTableFactory
	path       string
	out        contract.FSWritableFile // nil: the file at path
	entries    [][2]string
	properties []byte
	size       int
	finishErr  error
}

func (d *dummyTable) Add(key, value []byte) {
	d.entries = append(d.entries, [2]string{string(key), string(value)})
}
func (d *dummyTable) Status() error    { return d.finishErr }
func (d *dummyTable) Abandon()         { d.entries = nil }
func (d *dummyTable) FileSize() uint64 { return uint64(d.size) }

func appendSized(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

func (d *dummyTable) Finish() error {
	b := appendSized(nil, string(d.properties))
	for _, e := range d.entries {
		b = appendSized(appendSized(b, e[0]), e[1])
	}
	d.size = len(b)
	if d.out != nil {
		d.finishErr = d.out.Append(b, nil)
	} else {
		d.finishErr = os.WriteFile(d.path, b, 0o644)
	}
	return d.finishErr
}

func (d *dummyTable) load() error {
	b, err := os.ReadFile(d.path)
	if err != nil {
		return err
	}
	var parts []string
	for len(b) >= 4 {
		n := int(binary.LittleEndian.Uint32(b))
		if len(b)-4 < n {
			break
		}
		parts, b = append(parts, string(b[4:4+n])), b[4+n:]
	}
	if len(b) > 0 || len(parts)%2 != 1 {
		return contract.Corruption("a dummy table")
	}
	d.properties = []byte(parts[0])
	for i := 1; i < len(parts); i += 2 {
		d.entries = append(d.entries, [2]string{parts[i], parts[i+1]})
	}
	return nil
}

func (d *dummyTable) PutPropertiesBlock(block []byte) error {
	if !d.f.properties {
		return d.ExternalTableBuilderBase.PutPropertiesBlock(block)
	}
	d.properties = bytes.Clone(block)
	return nil
}

func (d *dummyTable) GetPropertiesBlock() ([]byte, uint64, error) {
	if !d.f.properties {
		return d.ExternalTableReaderBase.GetPropertiesBlock()
	}
	return d.properties, 4, nil
}

func (d *dummyTable) tableProperties() contract.TableProperties {
	p := contract.NewTableProperties()
	p.ComparatorName, p.NumEntries = util.BytewiseComparator().Name(), uint64(len(d.entries))
	for _, e := range d.entries {
		p.RawKeySize += uint64(len(e[0]))
		p.RawValueSize += uint64(len(e[1]))
	}
	return p
}

// dummyReader and dummyBuilder are the two sides of a dummyTable, whose
// GetTableProperties differ.
type dummyReader struct{ *dummyTable }

func (r dummyReader) GetTableProperties() *contract.TableProperties {
	p := r.tableProperties()
	return &p
}

type dummyBuilder struct{ *dummyTable }

func (b dummyBuilder) GetTableProperties() contract.TableProperties { return b.tableProperties() }

func (d *dummyTable) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(d.entries, string(key), func(e [2]string, key string) int { return strings.Compare(e[0], key) })
}

// dummyPin counts the values that are given back.
type dummyPin struct{ released *atomic.Int64 }

func (p dummyPin) Release() { p.released.Add(1) }

func (d *dummyTable) Get(_ *contract.ReadOptions, key []byte, _ contract.SliceTransform, value *contract.PinnableSlice) error {
	i, ok := d.find(key)
	switch {
	case !ok:
		return contract.NotFound()
	case d.f.pin:
		value.PinSlice([]byte(d.entries[i][1]), dummyPin{&d.f.released})
	default:
		value.PinSelf([]byte(d.entries[i][1]))
	}
	return nil
}

func (d *dummyTable) MultiGet(ro *contract.ReadOptions, keys [][]byte, e contract.SliceTransform, values []contract.PinnableSlice, errs []error) {
	for i := range keys {
		errs[i] = d.Get(ro, keys[i], e, &values[i])
	}
}

func (d *dummyTable) NewIterator(*contract.ReadOptions, contract.SliceTransform) contract.ExternalTableIterator {
	return &dummyIterator{d: d, err: d.f.iteratorErr}
}

// dummyIterator stands on a key; a seek finds equal keys alone. After Prepare it
// wants the starts to be sought in order.
type dummyIterator struct {
	d     *dummyTable
	at    int
	valid bool
	scans []contract.ScanOptions
	next  int // scan
	err   error
}

func (it *dummyIterator) Valid() bool { return it.valid }
func (it *dummyIterator) SeekToFirst() {
	if it.scans != nil {
		it.err = contract.InvalidArgument()
		return
	}
	it.at, it.valid, it.err = 0, len(it.d.entries) > 0, nil
}
func (it *dummyIterator) SeekToLast() {
	if it.scans != nil {
		it.err = contract.InvalidArgument()
		return
	}
	it.at, it.valid, it.err = len(it.d.entries)-1, len(it.d.entries) > 0, nil
}
func (it *dummyIterator) Seek(target []byte) {
	if it.err == nil {
		if it.at, it.valid = it.d.find(target); !it.valid {
			it.at = len(it.d.entries)
		}
	}
	if it.scans == nil {
		return
	}
	if it.next >= len(it.scans) || !bytes.Equal(target, it.scans[it.next].Range.Start) {
		it.err = contract.InvalidArgument()
		return
	}
	it.next++
	it.bound()
}
func (it *dummyIterator) SeekForPrev([]byte) { it.valid, it.err = false, contract.NotSupported() }
func (it *dummyIterator) Prev()              { it.valid, it.err = false, contract.NotSupported() }
func (it *dummyIterator) Next() {
	it.at++
	it.valid = it.at < len(it.d.entries)
	it.bound()
}
func (it *dummyIterator) bound() {
	if it.valid && it.next > 0 {
		if limit := it.scans[it.next-1].Range.Limit; limit != nil && string(it.Key()) >= string(limit) {
			it.valid = false
		}
	}
}
func (it *dummyIterator) NextAndGetResult(res *contract.IterateResult) bool {
	it.Next()
	*res = contract.IterateResult{BoundCheckResult: it.UpperBoundCheckResult()}
	if it.valid {
		*res = contract.IterateResult{Key: it.Key(), BoundCheckResult: contract.Inbound, ValuePrepared: true}
	}
	return it.valid
}
func (it *dummyIterator) PrepareValue() bool { return it.valid }
func (it *dummyIterator) UpperBoundCheckResult() contract.IterBoundCheck {
	if it.at >= len(it.d.entries) {
		return contract.BoundUnknown
	}
	return contract.OutOfBound
}
func (it *dummyIterator) Key() []byte                          { return []byte(it.d.entries[it.at][0]) }
func (it *dummyIterator) Value() []byte                        { return []byte(it.d.entries[it.at][1]) }
func (it *dummyIterator) Status() error                        { return it.err }
func (it *dummyIterator) Prepare(scans []contract.ScanOptions) { it.scans, it.next = scans, 0 }
func (it *dummyIterator) Close() error                         { return nil }

// dummyTableFactory makes dummyTables.
type dummyTableFactory struct {
	properties  bool // tables have a properties block
	viaFS       bool // the file system of the options is read
	pin         bool // values are pinned
	iteratorErr error
	released    atomic.Int64 // values
}

func (*dummyTableFactory) Name() string { return "DummyExternalTableFactory" }

func (f *dummyTableFactory) NewTableReader(_ *contract.ReadOptions, path string, o *contract.ExternalTableOptions) (contract.ExternalTableReader, error) {
	if f.viaFS {
		in, err := o.FS.NewRandomAccessFile(path, &o.FileOptions)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		var b [1]byte
		if got, err := in.Read(0, 1, &o.FileOptions.IOOptions, b[:]); err != nil || len(got) != 1 {
			return nil, errors.Join(err, contract.Corruption("Expected one byte from external table"))
		}
	}
	d := &dummyTable{f: f, path: path}
	return dummyReader{d}, d.load()
}

func (f *dummyTableFactory) NewTableBuilder(_ *contract.ExternalTableBuilderOptions, path string, out contract.FSWritableFile) (contract.ExternalTableBuilder, error) {
	return dummyBuilder{&dummyTable{f: f, path: path, out: out}}, nil
}

// newExternalTest has options of external tables.
func newExternalTest(t *testing.T, f *dummyTableFactory) *sstReaderTest {
	t.Helper()
	x := newSstReaderTest(t)
	x.o.MergeOperator = nil
	x.o.TableFactory = rocksdb.NewExternalTableFactory(f)
	return x
}

// writePairs writes a file of keys and values.
func (x *sstReaderTest) writePairs(pairs ...string) (info rocksdb.ExternalSstFileInfo) {
	x.Helper()
	w := x.writer()
	for i := 0; i < len(pairs); i += 2 {
		x.must(w.Put([]byte(pairs[i]), []byte(pairs[i+1])))
	}
	x.must(w.Finish(&info))
	return info
}

// wantPairs scans from the first key.
func wantPairs(t *testing.T, it *rocksdb.Iterator, pairs ...string) {
	t.Helper()
	defer it.Close()
	it.Seek([]byte(pairs[0]))
	for i := 0; i < len(pairs); i += 2 {
		if !it.Valid() || string(it.Key()) != pairs[i] || string(it.Value()) != pairs[i+1] {
			t.Fatalf("not on %s: %v", pairs[i], it.Err())
		}
		it.Next()
	}
	if it.Valid() || it.Err() != nil {
		t.Fatal("more entries", it.Err())
	}
}

// externalDB opens a database and makes a family with the options.
func (x *sstReaderTest) externalDB() (*rocksdb.DB, *rocksdb.ColumnFamily) {
	x.Helper()
	x.o.CreateIfMissing = true
	db, err := rocksdb.Open(filepath.Join(x.TempDir(), "db"), x.o)
	x.must(err)
	x.Cleanup(func() { x.must(db.Close()) })
	cf, err := db.CreateColumnFamily(x.o.ColumnFamilyOptions, "new_cf")
	x.must(err)
	return db, cf
}

func TestExternalTableTest_BasicTest(t *testing.T) {
	var f contract.ExternalTableFactory = &dummyTableFactory{}
	path := filepath.Join(t.TempDir(), "external_table")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := f.NewTableBuilder(&contract.ExternalTableBuilderOptions{}, path, nil)
	must(err)
	b.Add([]byte("foo"), []byte("bar"))
	must(b.Finish())
	r, err := f.NewTableReader(nil, path, &contract.ExternalTableOptions{})
	must(err)
	it := r.NewIterator(nil, nil)
	it.Seek([]byte("foo"))
	if !it.Valid() || it.Status() != nil || string(it.Value()) != "bar" {
		t.Fatal(it.Status())
	}
	if it.Next(); it.Valid() {
		t.Error("more entries")
	}
	values, errs := make([]contract.PinnableSlice, 2), make([]error, 2)
	r.MultiGet(nil, [][]byte{[]byte("foo"), []byte("bar")}, nil, values, errs)
	if string(values[0].Data()) != "bar" || errs[0] != nil || !rocksdb.IsNotFound(errs[1]) {
		t.Error(errs)
	}
}

func TestExternalTableTest_SstReaderTest(t *testing.T) {
	x := newExternalTest(t, &dummyTableFactory{})
	x.writePairs("a", "val_a", "b", "val_b", "c", "val_c")
	r := x.open(x.name)
	it := r.NewIterator(nil)
	defer it.Close()
	it.Seek([]byte("a"))
	for _, want := range []string{"val_a", "val_b", "val_c"} {
		if !it.Valid() || string(it.Value()) != want {
			t.Fatal(want, it.Status())
		}
		it.Next()
	}
	if it.Valid() || it.Status() != nil {
		t.Error(it.Status())
	}
	x.wantValues(r, "a", "val_a", "b", "val_b", "missing", "", "c", "val_c")
}

// wantValues reads by MultiGet; no value means that the key is not there.
func (x *sstReaderTest) wantValues(r *rocksdb.SstFileReader, pairs ...string) {
	x.Helper()
	var keys [][]byte
	for i := 0; i < len(pairs); i += 2 {
		keys = append(keys, []byte(pairs[i]))
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	r.MultiGet(nil, keys, values, errs)
	for i := range keys {
		want := pairs[2*i+1]
		if string(values[i].Data()) != want || (want == "") != rocksdb.IsNotFound(errs[i]) {
			x.Errorf("%s: %q, %v", keys[i], values[i].Data(), errs[i])
		}
		values[i].Release()
	}
}

// readListener counts reads that succeeded.
type readListener struct {
	contract.EventListenerBase
	reads, bytes atomic.Int64
}

func (*readListener) ShouldBeNotifiedOnFileIO() bool { return true }
func (l *readListener) OnFileReadFinish(i *contract.FileOperationInfo) {
	if i.Status == nil {
		l.reads.Add(1)
		l.bytes.Add(int64(i.Length))
	}
}

func TestExternalTableTest_ReaderFileReadsUpdateStatistics(t *testing.T) {
	x := newExternalTest(t, &dummyTableFactory{properties: true, viaFS: true})
	s := rocksdb.NewStatistics()
	s.SetStatsLevel(contract.StatsLevelAll)
	l := &readListener{}
	x.o.Statistics, x.o.Listeners = s, []contract.EventListener{l}
	x.writePairs("a", "val_a")
	figures := func() []int64 {
		return []int64{int64(s.GetTickerCount(contract.NonLastLevelReadCount)), int64(s.GetTickerCount(contract.NonLastLevelReadBytes)),
			int64(s.GetHistogramData(contract.HistSSTReadMicros).Count), l.reads.Load(), l.bytes.Load()}
	}
	before := figures()
	x.open(x.name)
	for i, after := range figures() {
		if after <= before[i] {
			t.Errorf("figure %d: %d, then %d", i, before[i], after)
		}
	}
}

func TestExternalTableTest_PinnedGetTest(t *testing.T) {
	f := &dummyTableFactory{properties: true, pin: true}
	x := newExternalTest(t, f)
	x.writePairs("key1", "pinned_val1", "key2", "pinned_val2")
	db, _ := x.externalDB()
	x.must(db.IngestExternalFile([]string{x.name}, nil))
	for i := range 2 {
		v, err := db.Get(nil, fmt.Appendf(nil, "key%d", i+1))
		if err != nil || string(v.Data()) != fmt.Sprintf("pinned_val%d", i+1) || !v.IsPinned() {
			t.Fatalf("%q, %v", v.Data(), err)
		}
		v.Release()
		if n := f.released.Load(); n != int64(i+1) {
			t.Fatalf("%d values given back", n)
		}
	}
	if _, err := db.Get(nil, []byte("missing")); !rocksdb.IsNotFound(err) {
		t.Error(err)
	}
	values, errs := make([]rocksdb.PinnableSlice, 3), make([]error, 3)
	db.MultiGet(nil, [][]byte{[]byte("key1"), []byte("missing"), []byte("key2")}, values, errs)
	for i, want := range []string{"pinned_val1", "", "pinned_val2"} {
		if want == "" != rocksdb.IsNotFound(errs[i]) || string(values[i].Data()) != want || values[i].IsPinned() != (want != "") {
			t.Errorf("%q, %v", values[i].Data(), errs[i])
		}
		values[i].Release()
	}
	if n := f.released.Load(); n != 4 {
		t.Errorf("%d values given back", n)
	}
}

func TestExternalTableTest_SstReaderPinnableMultiGetTest(t *testing.T) {
	x := newSstReaderTest(t)
	x.writePairs("a", "val_a", "b", "val_b", "c", "val_c")
	x.wantValues(x.open(x.name), "a", "val_a", "b", "val_b", "missing", "", "c", "val_c")
}

func TestExternalTableTest_ExternalFileChecksumTest(t *testing.T) {
	x := newExternalTest(t, &dummyTableFactory{properties: true})
	x.o.FileChecksumGenFactory = util.GetFileChecksumGenCrc32cFactory()
	info := x.writePairs("foo", "bar", "foo2", "bar2")
	data, err := os.ReadFile(x.name)
	x.must(err)
	g := x.o.FileChecksumGenFactory.CreateFileChecksumGenerator(contract.FileChecksumGenContext{})
	g.Update(data)
	g.Finalize()
	if info.FileChecksum != g.GetChecksum() {
		t.Errorf("%x, not %x", info.FileChecksum, g.GetChecksum())
	}
}

func TestExternalTableTest_DBIterTest(t *testing.T) {
	x := newExternalTest(t, &dummyTableFactory{properties: true})
	x.writePairs("foo", "bar", "foo2", "bar2")
	_, cf := x.externalDB()
	o := rocksdb.DefaultIngestExternalFileOptions()
	o.AllowDBGeneratedFiles, o.FillCache = true, false
	x.must(cf.IngestExternalFile([]string{x.name}, &o))
	wantPairs(t, cf.NewIterator(nil), "foo", "bar", "foo2", "bar2")
}

func TestExternalTableTest_DBMultiScanTest(t *testing.T) {
	f := &dummyTableFactory{properties: true}
	x := newExternalTest(t, f)
	var pairs []string
	for i := range 100 {
		pairs = append(pairs, fmt.Sprintf("k%02d", i), fmt.Sprintf("val%02d", i))
	}
	x.writePairs(pairs...)
	_, cf := x.externalDB()
	o := rocksdb.DefaultIngestExternalFileOptions()
	o.AllowDBGeneratedFiles, o.FillCache = true, false
	x.must(cf.IngestExternalFile([]string{x.name}, &o))
	// scan counts the entries of ranges; each must lie in its own, up to limits.
	scan := func(limits []string, ranges ...string) (n int, err error) {
		args := rocksdb.DefaultMultiScanArgs(util.BytewiseComparator())
		for i := 0; i < len(ranges); i += 2 {
			var limit []byte
			if ranges[i+1] != "" {
				limit = []byte(ranges[i+1])
			}
			args.Insert([]byte(ranges[i]), limit)
		}
		m := cf.NewMultiScan(nil, &args)
		defer m.Close()
		at := 0
		for r := range m.Scans() {
			for k := range r {
				if string(k) < ranges[2*at] {
					t.Fatalf("%s in range %d", k, at)
				}
				if string(k) >= limits[at] {
					if ranges[2*at+1] != "" {
						t.Fatalf("%s in range %d", k, at)
					}
					break
				}
				n++
			}
			at++
		}
		return n, m.Err()
	}
	if n, err := scan([]string{"k10", "k50"}, "k03", "k10", "k25", "k50"); n != 32 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
	// Ranges that overlap: all of both, or an error.
	if n, err := scan([]string{"k30", "k50"}, "k03", "k30", "k25", "k50"); n != 52 && err == nil {
		t.Errorf("%d entries", n)
	}
	if n, err := scan([]string{"k30", "k50"}, "k03", "", "k25", ""); n != 52 && err == nil {
		t.Errorf("%d entries", n)
	}
	f.iteratorErr = contract.IOError()
	if n, err := scan([]string{"k30", "k50"}, "k03", "", "k25", ""); n != 0 || err == nil {
		t.Errorf("%d entries, %v", n, err)
	}
}

func TestExternalTableTest_IngestionTest(t *testing.T) {
	x := newExternalTest(t, &dummyTableFactory{properties: true})
	x.writePairs("foo", "bar", "foo2", "bar2")
	db, cf := x.externalDB()
	o := rocksdb.DefaultIngestExternalFileOptions()
	o.FillCache = false
	x.must(cf.IngestExternalFile([]string{x.name}, &o))
	wantPairs(t, cf.NewIterator(nil), "foo", "bar", "foo2", "bar2")

	o.SnapshotConsistency = false
	ingest := func(replace *rocksdb.RangeOpt) error {
		return db.IngestExternalFiles([]rocksdb.IngestExternalFileArg{{ColumnFamily: cf, ExternalFiles: []string{x.name},
			Options: o, AtomicReplaceRange: replace}})
	}
	x.name += "2"
	x.writePairs("foo", "val", "foo2", "val2")
	x.must(ingest(&rocksdb.RangeOpt{}))
	wantPairs(t, cf.NewIterator(nil), "foo", "val", "foo2", "val2")

	// Over what is there it would get a sequence number.
	x.name += "3"
	x.writePairs("foo", "newval", "foo2", "newval2")
	if err := ingest(nil); !rocksdb.IsNotSupported(err) {
		t.Error(err)
	}
	wantPairs(t, cf.NewIterator(nil), "foo", "val", "foo2", "val2")
}
