// Port of db/merge_test.cc. Differs: what FullMergeV3 does by default is FullMerge
// of package merge; the operator's calls are counted by the operator.

package db_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/merge"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// countingAdd adds 64-bit numbers and counts its calls.
// Upstream: CountMergeOperator.
type countingAdd struct {
	contract.MergeOperator
	merges, partial atomic.Int64 // values joined in full merges; partial merges
}

func newCountingAdd(t *testing.T) *countingAdd {
	m, err := mergeoperators.New("uint64add")
	if err != nil {
		t.Fatal(err)
	}
	return &countingAdd{MergeOperator: m}
}

func (m *countingAdd) FullMergeV2(in *contract.MergeOperationInput, out *contract.MergeOperationOutput) bool {
	m.merges.Add(int64(len(in.Operands)))
	return m.MergeOperator.FullMergeV2(in, out)
}

func (m *countingAdd) PartialMergeMulti(key []byte, operands [][]byte, dst []byte, l contract.Logger) ([]byte, bool) {
	m.partial.Add(1)
	return m.MergeOperator.PartialMergeMulti(key, operands, dst, l)
}

// nanosClock counts calls of NowNanos.
type nanosClock struct {
	contract.SystemClock
	calls atomic.Int64
}

func (c *nanosClock) NowNanos() uint64 { c.calls.Add(1); return c.SystemClock.NowNanos() }

// counterDB is what the counters need of a database.
type counterDB interface {
	Put(wo *contract.WriteOptions, key, value []byte) error
	Delete(wo *contract.WriteOptions, key []byte) error
	Merge(wo *contract.WriteOptions, key, operand []byte) error
	GetInto(ro *contract.ReadOptions, key []byte, value *contract.PinnableSlice) error
	Write(wo *contract.WriteOptions, b *rocksdb.WriteBatch) error
	Flush(o *contract.FlushOptions) error
	CompactRange(o *contract.CompactRangeOptions, begin, end []byte) error
	walk() error
	Close() error
}

type plainDB struct{ *rocksdb.DB }

func (d plainDB) walk() error {
	it := d.NewIterator(nil)
	for it.SeekToFirst(); it.Valid(); it.Next() {
	}
	return errors.Join(it.Status(), it.Close())
}

// ttlDB is the default family of a database with times.
type ttlDB struct{ *rocksdb.DBWithTTL }

func (d ttlDB) Put(wo *contract.WriteOptions, key, value []byte) error {
	return d.DBWithTTL.Put(wo, d.DefaultColumnFamily(), key, value)
}
func (d ttlDB) Delete(wo *contract.WriteOptions, key []byte) error {
	return d.DBWithTTL.Delete(wo, d.DefaultColumnFamily(), key)
}
func (d ttlDB) Merge(wo *contract.WriteOptions, key, operand []byte) error {
	return d.DBWithTTL.Merge(wo, d.DefaultColumnFamily(), key, operand)
}
func (d ttlDB) GetInto(ro *contract.ReadOptions, key []byte, value *contract.PinnableSlice) error {
	return d.DBWithTTL.Get(ro, d.DefaultColumnFamily(), key, value)
}
func (d ttlDB) Flush(o *contract.FlushOptions) error {
	return d.DBWithTTL.Flush(o, d.DefaultColumnFamily())
}
func (d ttlDB) CompactRange(o *contract.CompactRangeOptions, begin, end []byte) error {
	return d.DBWithTTL.CompactRange(o, d.DefaultColumnFamily(), begin, end)
}
func (d ttlDB) walk() error {
	it := d.NewIterator(nil, d.DefaultColumnFamily())
	for it.SeekToFirst(); it.Valid(); it.Next() {
	}
	return errors.Join(it.Status(), it.Close())
}

// counters are named numbers. byMerge adds by merging, else by reading and
// writing.
type counters struct {
	*testing.T
	db      counterDB
	op      *countingAdd
	clock   *nanosClock
	dir     string
	byMerge bool
}

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func (c *counters) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func openCounters(t *testing.T, ttl bool, maxSuccessive uint64) *counters {
	t.Helper()
	c := &counters{T: t, op: newCountingAdd(t), clock: &nanosClock{SystemClock: env.Default().GetSystemClock()}, byMerge: true}
	c.dir = filepath.Join(t.TempDir(), "db")
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.MergeOperator, o.MaxSuccessiveMerges = true, c.op, maxSuccessive
	o.Env = env.NewCompositeEnvWrapper(env.Default(), &noSyncFS{contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}, c.clock)
	if ttl {
		db, err := rocksdb.OpenTTL(c.dir, o, 0, false)
		c.must(err)
		c.db = ttlDB{db}
	} else {
		db, err := rocksdb.Open(c.dir, o)
		c.must(err)
		c.db = plainDB{db}
	}
	c.clock.calls.Store(0) // a session ID may ask for the time
	return c
}

func (c *counters) get(key string) uint64 {
	c.Helper()
	var v contract.PinnableSlice
	err := c.db.GetInto(nil, []byte(key), &v)
	if errors.Is(err, rocksdb.ErrNotFound) {
		return 0
	}
	c.must(err)
	defer v.Release()
	return binary.LittleEndian.Uint64(v.Data())
}

func (c *counters) want(key string, n uint64) {
	c.Helper()
	if got := c.get(key); got != n {
		c.Fatalf("%s is %d, not %d", key, got, n)
	}
}

func (c *counters) add(key string, n uint64) {
	c.Helper()
	if c.byMerge {
		c.must(c.db.Merge(nil, []byte(key), number(n)))
	} else {
		c.must(c.db.Put(nil, []byte(key), number(c.get(key)+n)))
	}
}

func (c *counters) flush() {
	c.Helper()
	o := contract.DefaultFlushOptions()
	c.must(c.db.Flush(&o))
}

func (c *counters) scan() {
	c.Helper()
	c.must(c.db.walk())
}

// basics are upstream's testCounters.
func (c *counters) basics(flush bool) {
	c.Helper()
	step := func() {
		if flush {
			c.flush()
		}
	}
	c.must(c.db.Put(nil, []byte("a"), number(1)))
	step()
	c.want("a", 1)
	c.must(c.db.Delete(nil, []byte("b")))
	c.want("b", 0)
	c.add("a", 2)
	step()
	c.want("a", 3)
	c.scan()
	sum := uint64(0)
	for i := uint64(1); i < 50; i++ {
		c.add("b", i)
		sum += i
	}
	c.want("b", sum)
	c.scan()
	if flush {
		c.flush()
		c.must(c.db.CompactRange(nil, nil, nil))
		c.scan()
		c.want("a", 3)
		c.want("b", sum)
	}
}

func (c *counters) wantMerges(n int) {
	c.Helper()
	if got := c.op.merges.Swap(0); got != int64(n) {
		c.Fatalf("%d values merged, not %d", got, n)
	}
}

// successive merges one by one, of which each max+1st is done in the memtable.
func (c *counters) successive(max, n int) {
	c.Helper()
	c.must(c.db.Delete(nil, []byte("z")))
	sum := uint64(0)
	c.op.merges.Store(0)
	for i := 1; i <= n; i++ {
		c.add("z", uint64(i))
		sum += uint64(i)
		if i%(max+1) == 0 {
			c.wantMerges(max + 1)
		} else {
			c.wantMerges(0)
		}
		c.want("z", sum)
		c.wantMerges(i % (max + 1))
	}
}

// batch is successive in one batch.
func (c *counters) batch(max, n int) {
	c.Helper()
	b, key := rocksdb.NewWriteBatch(), []byte("BatchSuccessiveMerge")
	for range n {
		c.must(b.Merge(key, number(1)))
	}
	c.op.merges.Store(0)
	c.must(c.db.Write(nil, b))
	c.wantMerges(n - n%(max+1))
	c.want(string(key), uint64(n))
	c.wantMerges(n % (max + 1))
}

// partials merges n operands, alone and over a value, by a compaction.
func (c *counters) partials(least, n int) {
	c.Helper()
	merge := func(key string, want int64) {
		c.Helper()
		c.op.partial.Store(0)
		sum := uint64(0)
		for i := 1; i <= n; i++ {
			c.add(key, uint64(i))
			sum += uint64(i)
		}
		c.flush()
		c.must(c.db.CompactRange(nil, nil, nil))
		c.want(key, sum)
		if got := c.op.partial.Load(); got != want {
			c.Fatalf("%s: %d partial merges of %d operands, not %d", key, got, n, want)
		}
	}
	want := int64(0)
	if n >= least {
		want = 1
	}
	merge("b", want)
	c.must(c.db.Put(nil, []byte("c"), number(0)))
	merge("c", 0)
	if n := c.clock.calls.Load(); n != 0 {
		c.Errorf("the time was asked for %d times", n)
	}
}

func mergeDB(t *testing.T, ttl bool) {
	c := openCounters(t, ttl, 0)
	c.byMerge = false
	c.basics(true)
	c.byMerge = true
	c.basics(false)
	c.must(c.db.Close())

	c = openCounters(t, ttl, 5)
	c.basics(false)
	c.successive(5, 10)
	c.batch(5, 7)
	c.must(c.db.Close())

	for _, n := range []int{1, 2, 3, 20} {
		c = openCounters(t, ttl, 100)
		c.partials(2, n)
		c.must(c.db.Close())
	}

	// Without the operator merged values cannot be read.
	c = openCounters(t, false, 0)
	for range 3 {
		c.add("test-key", 1)
	}
	c.must(c.db.CompactRange(nil, nil, nil))
	c.must(c.db.Close())
	db, err := rocksdb.Open(c.dir, rocksdb.DefaultOptions())
	c.must(err)
	if v, err := db.Get(nil, []byte("test-key")); err == nil {
		t.Errorf("%q without the operator", v.Data())
	}
	c.must(db.Close())
}

func TestMergeTest_MergeDbTest(t *testing.T)    { mergeDB(t, false) }
func TestMergeTest_MergeDbTtlTest(t *testing.T) { mergeDB(t, true) }

var thirdOperand = []byte("third")

// eachBase merges three operands over nothing, a plain value and entities with
// and without the default column, and wants result for the default column; with
// plainFirst the plain value, and that of the default column, comes before it.
func eachBase(t *testing.T, op contract.MergeOperator, check func(m *merge.FullMerge, base merge.BaseValueKind, old []byte, others contract.WideColumns)) {
	t.Helper()
	columns := contract.WideColumns{{Name: []byte{}, Value: []byte("default")}, {Name: []byte("one"), Value: []byte("1")}, {Name: []byte("two"), Value: []byte("2")}}
	for _, c := range []struct {
		base   merge.BaseValueKind
		old    string
		entity contract.WideColumns
	}{{merge.NoBaseValue, "", nil}, {merge.PlainBaseValue, "plain", nil}, {merge.WideBaseValue, "default", columns}, {merge.WideBaseValue, "", columns[1:]}} {
		m := &merge.FullMerge{Operator: op, Key: []byte("foo"), Base: c.base, Value: []byte(c.old),
			Operands: [][]byte{[]byte("first"), []byte("second"), thirdOperand}}
		if c.entity != nil {
			var err error
			if m.Value, err = wide.Serialize(nil, c.entity); err != nil {
				t.Fatal(err)
			}
		}
		check(m, c.base, []byte(c.old), columns[1:])
	}
}

// wantMerged wants a value for the default column, and the others as they were.
func wantMerged(t *testing.T, m *merge.FullMerge, base merge.BaseValueKind, want []byte, others contract.WideColumns) []byte {
	t.Helper()
	result, kind, err := m.Result()
	if err != nil {
		t.Fatal(err)
	}
	if base != merge.WideBaseValue {
		if kind != dbformat.TypeValue || !bytes.Equal(result, want) {
			t.Fatalf("%v %q, not %q", kind, result, want)
		}
		return result
	}
	columns, err := wide.DeserializeSimple(nil, result)
	if err != nil || kind != dbformat.TypeWideColumnEntity || len(columns) != 1+len(others) {
		t.Fatal(kind, columns, err)
	}
	for i, c := range append(contract.WideColumns{{Name: []byte{}, Value: want}}, others...) {
		if !bytes.Equal(columns[i].Name, c.Name) || !bytes.Equal(columns[i].Value, c.Value) {
			t.Fatalf("column %d: %q, not %q", i, columns[i], c)
		}
	}
	return nil
}

func TestMergeTest_FullMergeV3FallbackNewValue(t *testing.T) {
	op, err := mergeoperators.New("{id=stringappend;delimiter=}")
	if err != nil {
		t.Fatal(err)
	}
	eachBase(t, op, func(m *merge.FullMerge, base merge.BaseValueKind, old []byte, others contract.WideColumns) {
		wantMerged(t, m, base, append(old, "firstsecondthird"...), others)
	})
}

func TestMergeTest_FullMergeV3FallbackExistingOperand(t *testing.T) {
	op, err := mergeoperators.New("put")
	if err != nil {
		t.Fatal(err)
	}
	eachBase(t, op, func(m *merge.FullMerge, base merge.BaseValueKind, _ []byte, others contract.WideColumns) {
		if result := wantMerged(t, m, base, thirdOperand, others); result != nil && &result[0] != &thirdOperand[0] {
			t.Error("the operand was copied")
		}
	})
}

// failingOperator fails all that depends on the merge.
type failingOperator struct{ contract.MergeOperatorBase }

func (failingOperator) Name() string { return "FailMergeOperator" }
func (failingOperator) FullMergeV2(_ *contract.MergeOperationInput, out *contract.MergeOperationOutput) bool {
	out.OpFailureScope = contract.OpFailureScopeMustMerge
	return false
}

func TestMergeTest_FullMergeV3FallbackFailure(t *testing.T) {
	eachBase(t, failingOperator{}, func(m *merge.FullMerge, base merge.BaseValueKind, _ []byte, _ contract.WideColumns) {
		if result, _, err := m.Result(); !contract.IsCorruption(err) || m.OpFailureScope != contract.OpFailureScopeMustMerge {
			t.Errorf("base %d: %q, %v, scope %d", base, result, err, m.OpFailureScope)
		}
	})
}
