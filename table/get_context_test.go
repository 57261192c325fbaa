// No upstream twin: point lookups through a mock table.

package table_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
	"github.com/rocksdb-go/rocksdb/table/mocktable"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

var icmp = dbformat.NewInternalKeyComparator(util.BytewiseComparator())

func kv(key string, seq uint64, t dbformat.ValueType, value string) mocktable.KV {
	return mocktable.KV{Key: dbformat.NewInternalKey([]byte(key), seq, t), Value: []byte(value)}
}

// joinOperator joins with commas; it stops a lookup at an operand "stop".
type joinOperator struct{ rocksdb.MergeOperatorBase }

func (joinOperator) Name() string { return "join" }
func (joinOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	if bytes.Contains(in.Operands[0], []byte("fail")) {
		return false
	}
	if in.ExistingValue != nil {
		out.NewValue = append(append(out.NewValue, in.ExistingValue...), ':')
	}
	out.NewValue = append(out.NewValue, bytes.Join(in.Operands, []byte(","))...)
	return true
}
func (joinOperator) ShouldMerge(operands [][]byte) bool {
	return string(operands[len(operands)-1]) == "stop"
}

func openMock(t *testing.T, kvs []mocktable.KV) table.TableReader {
	t.Helper()
	mocktable.SortKVVector(kvs, nil)
	f := mocktable.NewMockTableFactory()
	fs := env.DefaultFileSystem()
	name := filepath.Join(t.TempDir(), "000001.sst")
	if err := f.CreateMockTable(fs, name, kvs); err != nil {
		t.Fatal(err)
	}
	if err := f.CheckSingleFile(kvs); err != nil {
		t.Fatal(err)
	}
	r, err := file.CreateRandomAccessFileReader(fs, name, &rocksdb.FileOptions{}, &file.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := f.NewTableReader(nil, nil, r, 4, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	return reader
}

type lookup struct {
	state    table.GetState
	value    string
	seq      uint64
	operands []string
	err      error
}

func get(t *testing.T, r table.TableReader, key string, seq uint64, change func(p *table.GetContextParams)) lookup {
	t.Helper()
	var value rocksdb.PinnableSlice
	var mc dbformat.MergeContext
	var l lookup
	var isBlob bool
	p := table.GetContextParams{Comparator: icmp, MergeOperator: joinOperator{}, UserKey: []byte(key), Value: &value, MergeContext: &mc, DoMerge: true, Seq: &l.seq, IsBlobIndex: &isBlob}
	if change != nil {
		change(&p)
	}
	var gc table.GetContext
	gc.Init(&p)
	l.err = r.Get(nil, dbformat.NewInternalKey([]byte(key), seq, dbformat.ValueTypeForSeek), &gc, nil, false)
	l.state, l.value = gc.State(), string(value.Data())
	for _, o := range mc.GetOperands() {
		l.operands = append(l.operands, string(o))
	}
	value.Release()
	return l
}

func TestGetContext(t *testing.T) {
	entity, err := wide.Serialize(nil, rocksdb.WideColumns{{Name: []byte(""), Value: []byte("dflt")}, {Name: []byte("n"), Value: []byte("v")}})
	if err != nil {
		t.Fatal(err)
	}
	r := openMock(t, []mocktable.KV{
		kv("a", 30, dbformat.TypeValue, "new"), kv("a", 20, dbformat.TypeValue, "old"),
		kv("b", 30, dbformat.TypeDeletion, ""), kv("b", 20, dbformat.TypeValue, "old"),
		kv("m", 40, dbformat.TypeMerge, "3"), kv("m", 30, dbformat.TypeMerge, "2"), kv("m", 20, dbformat.TypeMerge, "1"), kv("m", 10, dbformat.TypeValue, "base"),
		kv("n", 40, dbformat.TypeMerge, "2"), kv("n", 30, dbformat.TypeSingleDeletion, ""), kv("n", 20, dbformat.TypeMerge, "1"),
		kv("o", 40, dbformat.TypeMerge, "2"), kv("o", 30, dbformat.TypeMerge, "stop"), kv("o", 20, dbformat.TypeMerge, "1"),
		kv("p", 40, dbformat.TypeMerge, "fail"), kv("p", 30, dbformat.TypeValue, "base"),
		kv("q", 40, dbformat.TypeMerge, "1"),
		kv("t", 40, dbformat.TypeValuePreferredSeqno, "timed12345678"),
		kv("w", 40, dbformat.TypeWideColumnEntity, string(entity)),
		kv("x", 40, dbformat.TypeMerge, "1"), kv("x", 30, dbformat.TypeWideColumnEntity, string(entity)),
		kv("z", 40, dbformat.TypeWideColumnEntity, "\x07"),
	})
	const latest = dbformat.MaxSequenceNumber
	for _, c := range []struct {
		key   string
		at    uint64
		state table.GetState
		value string
		seq   uint64
	}{
		{"a", latest, table.GetFound, "new", 30}, {"a", 29, table.GetFound, "old", 20}, {"a", 19, table.GetNotFound, "", latest},
		{"b", latest, table.GetDeleted, "", 30}, {"b", 25, table.GetFound, "old", 20}, {"c", latest, table.GetNotFound, "", latest},
		{"m", latest, table.GetFound, "base:1,2,3", 40}, {"m", 35, table.GetFound, "base:1,2", 30}, {"n", latest, table.GetFound, "2", 40},
		{"o", latest, table.GetFound, "stop,2", 40}, {"q", latest, table.GetMerge, "", 40}, {"t", latest, table.GetFound, "timed", 40},
		{"w", latest, table.GetFound, "dflt", 40}, {"x", latest, table.GetFound, "dflt:1", 40},
	} {
		l := get(t, r, c.key, c.at, nil)
		if l.err != nil || l.state != c.state || l.value != c.value || l.seq != c.seq {
			t.Errorf("%s@%d: %+v, want %+v", c.key, c.at, l, c)
		}
	}
	if l := get(t, r, "p", latest, nil); l.state != table.GetMergeOperatorFailed || !rocksdb.IsCorruption(l.err) {
		t.Errorf("failing operator: %+v", l)
	}
	if l := get(t, r, "z", latest, nil); l.state != table.GetCorrupt || !rocksdb.IsCorruption(l.err) {
		t.Errorf("bad entity: %+v", l)
	}
	// Range tombstones hide what is older.
	tombstone := uint64(25)
	cover := func(p *table.GetContextParams) { p.MaxCoveringTombstoneSeq = &tombstone }
	if l := get(t, r, "a", latest, cover); l.state != table.GetFound || l.seq != 30 {
		t.Errorf("newer than the tombstone: %+v", l)
	}
	if l := get(t, r, "a", 29, cover); l.state != table.GetDeleted || l.seq != 25 {
		t.Errorf("older than the tombstone: %+v", l)
	}
	if l := get(t, r, "m", latest, cover); l.value != "2,3" {
		t.Errorf("operands over a tombstone: %+v", l)
	}
	// GetMergeOperands keeps the base as the oldest operand.
	if l := get(t, r, "m", latest, func(p *table.GetContextParams) { p.DoMerge, p.Value = false, nil }); len(l.operands) != 4 || l.operands[0] != "base" || l.operands[3] != "3" {
		t.Errorf("operands: %+v", l)
	}
	// GetEntity.
	var columns rocksdb.PinnableWideColumns
	asEntity := func(p *table.GetContextParams) { p.Value, p.Columns = nil, &columns }
	for key, want := range map[string]string{"w": ":dflt n:v", "x": ":dflt:1 n:v", "a": ":new", "m": ":base:1,2,3"} {
		if l := get(t, r, key, latest, asEntity); l.err != nil || wide.DumpWideColumns(columns.Columns(), false) != want {
			t.Errorf("entity %s: %s, %v", key, wide.DumpWideColumns(columns.Columns(), false), l.err)
		}
	}
}

func TestGetContext_ReplayLog(t *testing.T) {
	r := openMock(t, []mocktable.KV{kv("m", 40, dbformat.TypeMerge, "2"), kv("m", 30, dbformat.TypeMerge, "1"), kv("m", 20, dbformat.TypeValue, "base")})
	var log []byte
	var value rocksdb.PinnableSlice
	var mc dbformat.MergeContext
	p := table.GetContextParams{Comparator: icmp, MergeOperator: joinOperator{}, UserKey: []byte("m"), Value: &value, MergeContext: &mc, DoMerge: true}
	var gc table.GetContext
	gc.Init(&p)
	gc.SetReplayLog(&log)
	if err := r.Get(nil, dbformat.NewInternalKey([]byte("m"), 100, dbformat.ValueTypeForSeek), &gc, nil, false); err != nil {
		t.Fatal(err)
	}
	if string(value.Data()) != "base:1,2" {
		t.Fatalf("value %q", value.Data())
	}
	value.Release()
	mc.Clear()
	gc.Init(&p)
	if err := table.ReplayGetContextLog(log, []byte("m"), &gc, nil, 40); err != nil || gc.State() != table.GetFound || string(value.Data()) != "base:1,2" {
		t.Fatalf("replayed %q, state %d, %v", value.Data(), gc.State(), err)
	}
	for cut := 1; cut < len(log); cut++ {
		mc.Clear()
		gc.Init(&p)
		if err := table.ReplayGetContextLog(log[:cut], []byte("m"), &gc, nil, 40); err == nil && gc.State() == table.GetFound {
			t.Fatalf("a log cut to %d bytes gives a value", cut)
		}
	}
}

// countingPinner counts references given and released.
type countingPinner struct{ given, released int }

func (p *countingPinner) Pin() rocksdb.Releaser { p.given++; return p }
func (p *countingPinner) Release()              { p.released++ }

func TestGetContext_Pinning(t *testing.T) {
	block := []byte("value in a block")
	pinner := &countingPinner{}
	var value rocksdb.PinnableSlice
	var mc dbformat.MergeContext
	var pinned internaliter.PinnedIteratorsManager
	p := table.GetContextParams{Comparator: icmp, MergeOperator: joinOperator{}, UserKey: []byte("a"), Value: &value, MergeContext: &mc, DoMerge: true, PinnedIters: &pinned}
	var gc table.GetContext
	key := dbformat.ParsedInternalKey{UserKey: []byte("a"), Sequence: 5, Type: dbformat.TypeValue}

	gc.Init(&p)
	if more, matched, err := gc.SaveValue(&key, block, pinner); more || !matched || err != nil {
		t.Fatal(more, matched, err)
	}
	if !value.IsPinned() || &value.Data()[0] != &block[0] || pinner.given != 1 {
		t.Fatal("the value was copied")
	}
	value.Release()
	if pinner.released != 1 {
		t.Fatal("the reference was not released")
	}

	// Operands are copied unless pinning is on.
	key.Type = dbformat.TypeMerge
	gc.Init(&p)
	if more, _, err := gc.SaveValue(&key, block, pinner); !more || err != nil || pinner.given != 1 {
		t.Fatal(more, err, pinner.given)
	}
	pinned.StartPinning()
	if _, _, err := gc.SaveValue(&key, block, pinner); err != nil || pinner.given != 2 || &mc.GetOperand(0)[0] != &block[0] {
		t.Fatal(err, pinner.given)
	}
	if err := pinned.ReleasePinnedData(); err != nil || pinner.released != 2 {
		t.Fatal(err, pinner.released)
	}

	// A lookup of a put allocates nothing.
	key.Type = dbformat.TypeValue
	if n := testing.AllocsPerRun(100, func() {
		gc.Init(&p)
		_, _, _ = gc.SaveValue(&key, block, pinner)
		value.Release()
	}); n != 0 && !syncpoint.Enabled { // their arguments are boxed
		t.Errorf("%v allocations", n)
	}
}
