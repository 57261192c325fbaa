// Port of table/mock_table.{h,cc}. Differs: assertions give errors.

package mocktable

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/util"
)

// KV is an entry: internal key and value.
type KV struct{ Key, Value []byte }

// SortKVVector sorts entries by internal key; a nil comparator is bytewise.
func SortKVVector(kvs []KV, ucmp rocksdb.Comparator) {
	if ucmp == nil {
		ucmp = util.BytewiseComparator()
	}
	icmp := dbformat.NewInternalKeyComparator(ucmp)
	slices.SortFunc(kvs, func(a, b KV) int { return icmp.Compare(a.Key, b.Key) })
}

// MockCorruptionMode says what the next builder does to its first entry.
type MockCorruptionMode uint8

// The modes.
const (
	CorruptNone MockCorruptionMode = iota
	CorruptKey
	CorruptValue
	CorruptReorderKey // exchanges the first two
)

// MockTableFactory makes tables in memory. It is a table.Factory.
type MockTableFactory struct {
	mu struct {
		sync.Mutex
		files       map[uint32][]KV
		nextID      uint32
		corruptMode MockCorruptionMode
		kvSize      uint64
	}
	icmp *dbformat.InternalKeyComparator
}

var _ table.Factory = (*MockTableFactory)(nil)

// NewMockTableFactory has no tables; their keys are in bytewise order.
func NewMockTableFactory() *MockTableFactory {
	f := &MockTableFactory{icmp: dbformat.NewInternalKeyComparator(util.BytewiseComparator())}
	f.mu.files = make(map[uint32][]KV)
	f.mu.nextID = 1
	f.mu.kvSize = 1
	return f
}

// Name is "MockTable".
func (*MockTableFactory) Name() string { return "MockTable" }

// OptionsPtr has none.
func (*MockTableFactory) OptionsPtr(string) any { return nil }

// GetPrintableOptions is empty.
func (*MockTableFactory) GetPrintableOptions() string { return "" }

// Clone gives f: tables are to be found by both.
func (f *MockTableFactory) Clone() rocksdb.TableFactory { return f }

// IsDeleteRangeSupported is false.
func (*MockTableFactory) IsDeleteRangeSupported() bool { return false }

// SetCorruptionMode is for the builders made from now on.
func (f *MockTableFactory) SetCorruptionMode(m MockCorruptionMode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.corruptMode = m
}

// SetKeyValueSize makes each entry count n bytes in files' sizes.
func (f *MockTableFactory) SetKeyValueSize(n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.kvSize = n
}

func (f *MockTableFactory) writeNextID(w *file.WritableFileWriter) (uint32, error) {
	f.mu.Lock()
	id := f.mu.nextID
	f.mu.nextID++
	f.mu.Unlock()
	return id, w.Append(nil, util.AppendFixed32(nil, id), 0)
}

// NewTableReader opens a table by the number in its file.
func (f *MockTableFactory) NewTableReader(_ *rocksdb.ReadOptions, _ *table.TableReaderOptions, r *file.RandomAccessFileReader, _ uint64, _ bool) (table.TableReader, error) {
	b, err := r.Read(nil, 0, 4, make([]byte, 4), nil)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	if len(b) != 4 {
		return nil, rocksdb.Corruption("mock table file is too short").In(r.FileName())
	}
	f.mu.Lock()
	kvs, ok := f.mu.files[util.DecodeFixed32(b)]
	f.mu.Unlock()
	if !ok {
		return nil, rocksdb.IOError("Mock file not found").In(r.FileName())
	}
	props := rocksdb.NewTableProperties()
	props.NumEntries, props.RawKeySize, props.RawValueSize = uint64(len(kvs)), 1, 1
	return &MockTableReader{kvs: kvs, icmp: f.icmp, props: props}, nil
}

// NewTableBuilder writes the number of a table to w.
func (f *MockTableFactory) NewTableBuilder(_ *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	id, err := f.writeNextID(w)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &mockTableBuilder{factory: f, id: id, mode: f.mu.corruptMode, kvSize: f.mu.kvSize}, nil
}

// CreateMockTable makes a table of sorted entries without a builder.
func (f *MockTableFactory) CreateMockTable(fs rocksdb.FileSystem, name string, kvs []KV) error {
	w, err := file.CreateWritableFileWriter(fs, name, &rocksdb.FileOptions{}, &file.WriterOptions{})
	if err != nil {
		return err
	}
	id, err := f.writeNextID(w)
	if cerr := w.Close(nil); err == nil {
		err = cerr
	}
	if err == nil {
		f.mu.Lock()
		f.mu.files[id] = kvs
		f.mu.Unlock()
	}
	return err
}

// CheckSingleFile fails unless there is one table, with these contents.
func (f *MockTableFactory) CheckSingleFile(want []KV) error {
	f.mu.Lock()
	n := len(f.mu.files)
	f.mu.Unlock()
	if n != 1 {
		return fmt.Errorf("there are %d mock tables", n)
	}
	return f.CheckLatestFiles([][]KV{want})
}

// CheckLatestFiles fails unless the tables made last have these contents, the
// newest last.
func (f *MockTableFactory) CheckLatestFiles(want [][]KV) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var ids []uint32
	for id := range f.mu.files {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) < len(want) {
		return fmt.Errorf("there are %d mock tables, want %d", len(ids), len(want))
	}
	for i, w := range want {
		got := f.mu.files[ids[len(ids)-len(want)+i]]
		if !slices.EqualFunc(got, w, func(a, b KV) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) }) {
			return fmt.Errorf("mock table %d of %d has\n%swant\n%s", i, len(want), dump(got), dump(w))
		}
	}
	return nil
}

func dump(kvs []KV) string {
	var b bytes.Buffer
	for _, kv := range kvs {
		fmt.Fprintf(&b, "  %s -> %q\n", dbformat.InternalKey(kv.Key).DebugString(false), kv.Value)
	}
	return b.String()
}

type mockTableBuilder struct {
	table.TableBuilderBase
	factory *MockTableFactory
	id      uint32
	mode    MockCorruptionMode
	kvSize  uint64
	held    *KV // waits to be exchanged with the next
	kvs     []KV
}

func (b *mockTableBuilder) Add(key, value []byte) error {
	kv := KV{bytes.Clone(key), bytes.Clone(value)}
	switch b.mode {
	case CorruptValue:
		kv.Value = append(kv.Value, ' ')
	case CorruptKey:
		kv.Key = append(kv.Key, ' ')
	case CorruptReorderKey:
		if b.held == nil {
			b.held = &kv
			return nil
		}
		b.kvs = append(b.kvs, kv)
		kv = *b.held
	}
	b.mode = CorruptNone
	b.kvs = append(b.kvs, kv)
	return nil
}

func (b *mockTableBuilder) Status() error   { return nil }
func (b *mockTableBuilder) IOStatus() error { return nil }

func (b *mockTableBuilder) Finish() error {
	b.factory.mu.Lock()
	defer b.factory.mu.Unlock()
	b.factory.mu.files[b.id] = b.kvs
	return nil
}

func (b *mockTableBuilder) Abandon()                  {}
func (b *mockTableBuilder) NumEntries() uint64        { return uint64(len(b.kvs)) }
func (b *mockTableBuilder) IsEmpty() bool             { return len(b.kvs) == 0 }
func (b *mockTableBuilder) FileSize() uint64          { return uint64(len(b.kvs)) * b.kvSize }
func (b *mockTableBuilder) EstimatedFileSize() uint64 { return b.FileSize() }
func (b *mockTableBuilder) GetTableProperties() rocksdb.TableProperties {
	return rocksdb.NewTableProperties()
}
func (b *mockTableBuilder) GetFileChecksum() string { return rocksdb.UnknownFileChecksum }
func (b *mockTableBuilder) GetFileChecksumFuncName() string {
	return rocksdb.UnknownFileChecksumFuncName
}

// MockTableReader reads a table in memory.
type MockTableReader struct {
	table.TableReaderBase
	kvs   []KV
	icmp  *dbformat.InternalKeyComparator
	props rocksdb.TableProperties
}

var _ table.TableReader = (*MockTableReader)(nil)

// NewIterator walks the entries as they are.
func (r *MockTableReader) NewIterator(*rocksdb.ReadOptions, rocksdb.SliceTransform, bool, rocksdb.TableReaderCaller, uint64, bool) internaliter.InternalIterator {
	return &mockTableIterator{r: r, at: len(r.kvs)}
}

// Get is table.TableReader's.
func (r *MockTableReader) Get(_ *rocksdb.ReadOptions, key []byte, gc *table.GetContext, _ rocksdb.SliceTransform, _ bool) error {
	it := mockTableIterator{r: r}
	for it.Seek(key); it.Valid(); it.Next() {
		p, err := dbformat.ParseInternalKey(it.Key(), true)
		if err != nil {
			return err
		}
		if more, _, err := gc.SaveValue(&p, it.Value(), nil); err != nil || !more {
			return err
		}
	}
	return nil
}

// MultiGet is table.TableReader's.
func (r *MockTableReader) MultiGet(ro *rocksdb.ReadOptions, mr *table.MultiGetRange, e rocksdb.SliceTransform, skipFilters bool) {
	table.MultiGetByGet(r, ro, mr, e, skipFilters)
}

// ApproximateOffsetOf is 0.
func (*MockTableReader) ApproximateOffsetOf(*rocksdb.ReadOptions, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// ApproximateSize is 0.
func (*MockTableReader) ApproximateSize(*rocksdb.ReadOptions, []byte, []byte, rocksdb.TableReaderCaller) uint64 {
	return 0
}

// ApproximateMemoryUsage is 0.
func (*MockTableReader) ApproximateMemoryUsage() int { return 0 }

// SetupForCompaction does nothing.
func (*MockTableReader) SetupForCompaction() {}

// GetTableProperties has the number of entries.
func (r *MockTableReader) GetTableProperties() *rocksdb.TableProperties { return &r.props }

// mockTableIterator walks a table; at is len(kvs) when not valid.
type mockTableIterator struct {
	internaliter.Base
	r  *MockTableReader
	at int
}

func (it *mockTableIterator) find(after func(c int) bool, target []byte) int {
	lo, hi := 0, len(it.r.kvs)
	for lo < hi {
		mid := (lo + hi) / 2
		if after(it.r.icmp.Compare(it.r.kvs[mid].Key, target)) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

func (it *mockTableIterator) Valid() bool  { return it.at < len(it.r.kvs) }
func (it *mockTableIterator) SeekToFirst() { it.at = 0 }
func (it *mockTableIterator) SeekToLast()  { it.at = max(len(it.r.kvs)-1, 0) }
func (it *mockTableIterator) Seek(target []byte) {
	it.at = it.find(func(c int) bool { return c >= 0 }, target)
}
func (it *mockTableIterator) SeekForPrev(target []byte) {
	it.at = it.find(func(c int) bool { return c > 0 }, target)
	it.Prev()
}
func (it *mockTableIterator) Next() { it.at++ }
func (it *mockTableIterator) Prev() {
	if it.at == 0 {
		it.at = len(it.r.kvs)
	} else {
		it.at--
	}
}
func (it *mockTableIterator) NextAndGetResult(res *internaliter.IterateResult) bool {
	return internaliter.NextAndGetResult(it, res)
}
func (it *mockTableIterator) Key() []byte     { return it.r.kvs[it.at].Key }
func (it *mockTableIterator) UserKey() []byte { return internaliter.ExtractUserKey(it.Key()) }
func (it *mockTableIterator) Value() []byte   { return it.r.kvs[it.at].Value }
func (it *mockTableIterator) Status() error   { return nil }
