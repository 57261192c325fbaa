// Port of db/db_etc2_test.cc (WalFilter).

package db_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
)

// walFilter answers each record with f, the number of records before it given.
type walFilter struct {
	t       *testing.T
	f       func(i int, log uint64, b *writebatch.WriteBatch) (rocksdb.WalProcessingOption, []byte)
	records int
	numbers map[uint32]uint64
	ids     map[string]uint32
}

func (*walFilter) Name() string { return "TestWalFilter" }

func (f *walFilter) ColumnFamilyLogNumberMap(numbers map[uint32]uint64, ids map[string]uint32) {
	f.numbers, f.ids = numbers, ids
}

func (f *walFilter) LogRecordFound(log uint64, _ string, v rocksdb.WriteBatchView) (rocksdb.WalProcessingOption, []byte) {
	b, err := writebatch.NewFromRep(slices.Clone(v.Data()))
	if err != nil || b.Count() != v.Count() {
		f.t.Errorf("%d and %d updates: %v", b.Count(), v.Count(), err)
	}
	f.records++
	return f.f(f.records-1, log, b)
}

var filterKeys = [][]string{{"key1", "key2"}, {"key3", "key4"}, {"key5", "key6"}}

// writeFilterKeys writes batches of keys into families.
func writeFilterKeys(x *dbTest, batches [][]string, cfs ...int) {
	x.Helper()
	for _, keys := range batches {
		b := rocksdb.NewWriteBatch()
		for _, k := range keys {
			for _, cf := range cfs {
				x.must(b.PutCF(x.cf(cf).Impl(), []byte(k), []byte(dummyString(1024, 'a'))))
			}
		}
		x.must(x.db.Write(nil, b))
	}
}

func newFilterTest(t *testing.T) *dbTest {
	x := newDBTest(t)
	x.destroyAndReopen(x.logIterOptions())
	x.createAndReopenWithCF([]string{"pikachu"}, x.logIterOptions())
	return x
}

func reopenWithFilter(x *dbTest, o rocksdb.Options, f rocksdb.WalFilter) error {
	o.WalFilter = f
	return x.tryReopenWithColumnFamilies([]string{"default", "pikachu"}, o)
}

// wantFilterKeys checks which keys are there, also after another reopening
// without filter.
func wantFilterKeys(x *dbTest, there func(batch, i int) bool) {
	x.Helper()
	for range 2 {
		for n, keys := range filterKeys {
			for i, k := range keys {
				want := "NOT_FOUND"
				if there(n, i) {
					want = dummyString(1024, 'a')
				}
				x.wantGet(0, k, want)
			}
		}
		x.reopenWithColumnFamilies([]string{"default", "pikachu"}, x.logIterOptions())
	}
}

func TestDBTest2_WalFilterTest(t *testing.T) {
	for option := range rocksdb.WalProcessingOptionMax {
		x := newFilterTest(t)
		writeFilterKeys(x, filterKeys, 0)
		f := &walFilter{t: t, f: func(i int, _ uint64, _ *writebatch.WriteBatch) (rocksdb.WalProcessingOption, []byte) {
			if i == 1 {
				return option, nil
			}
			return rocksdb.ContinueProcessing, nil
		}}
		err := reopenWithFilter(x, x.logIterOptions(), f)
		if option == rocksdb.CorruptedRecord {
			if !errors.Is(err, rocksdb.ErrCorruption) || rocksdb.AsStatus(err).File == "" {
				t.Fatal(err)
			}
			o := x.logIterOptions()
			o.ParanoidChecks = false
			f.records = 0
			err = reopenWithFilter(x, o, f)
		}
		x.must(err)
		wantFilterKeys(x, func(batch, _ int) bool {
			switch option {
			case rocksdb.IgnoreCurrentRecord:
				return batch != 1
			case rocksdb.StopReplay:
				return batch < 1
			}
			return true
		})
	}
}

func TestDBTest2_WalFilterTestWithChangeBatch(t *testing.T) {
	x := newFilterTest(t)
	writeFilterKeys(x, filterKeys, 0)
	f := &walFilter{t: t, f: func(i int, _ uint64, b *writebatch.WriteBatch) (rocksdb.WalProcessingOption, []byte) {
		if i < 1 {
			return rocksdb.ContinueProcessing, nil
		}
		c := &firstKey{}
		if err := b.Iterate(c); err != nil {
			t.Error(err)
		}
		return rocksdb.ContinueProcessing, c.out.Data()
	}}
	x.must(reopenWithFilter(x, x.logIterOptions(), f))
	wantFilterKeys(x, func(batch, i int) bool { return batch < 1 || i < 1 })
}

// firstKey copies the first entry of a batch.
type firstKey struct {
	writebatch.HandlerBase
	out writebatch.WriteBatch
}

func (c *firstKey) PutCF(cf uint32, key, value []byte) error {
	if c.out.Count() > 0 {
		return nil
	}
	return c.out.PutByID(cf, key, value)
}

func TestDBTest2_WalFilterTestWithChangeBatchExtraKeys(t *testing.T) {
	x := newFilterTest(t)
	writeFilterKeys(x, filterKeys, 0)
	f := &walFilter{t: t, f: func(_ int, _ uint64, b *writebatch.WriteBatch) (rocksdb.WalProcessingOption, []byte) {
		if err := b.Put([]byte("key_extra"), []byte("value_extra")); err != nil {
			t.Error(err)
		}
		return rocksdb.ContinueProcessing, b.Data()
	}}
	if err := reopenWithFilter(x, x.logIterOptions(), f); !rocksdb.IsNotSupported(err) {
		t.Fatal(err)
	}
	x.must(reopenWithFilter(x, x.logIterOptions(), nil))
	wantFilterKeys(x, func(int, int) bool { return true })
}

func TestDBTest2_WalFilterTestWithColumnFamilies(t *testing.T) {
	x := newFilterTest(t)
	writeFilterKeys(x, filterKeys, 0, 1)
	x.flush(0)
	after := [][]string{{"key7", "key8"}, {"key9", "key10"}, {"key11", "key12"}}
	writeFilterKeys(x, after, 0, 1)
	f := &walFilter{t: t}
	found := map[uint32][]string{}
	f.f = func(_ int, log uint64, b *writebatch.WriteBatch) (rocksdb.WalProcessingOption, []byte) {
		// A family's log number says which logs it still needs.
		err := b.Iterate(&eachPut{f: func(cf uint32, key []byte) {
			if number, ok := f.numbers[cf]; !ok {
				t.Errorf("family %d is not known", cf)
			} else if log >= number {
				found[cf] = append(found[cf], string(key))
			}
		}})
		if err != nil {
			return rocksdb.CorruptedRecord, nil
		}
		return rocksdb.ContinueProcessing, nil
	}
	x.must(reopenWithFilter(x, x.logIterOptions(), f))
	if got, want := found[f.ids["default"]], slices.Concat(after...); !slices.Equal(got, want) {
		t.Errorf("default: %v, not %v", got, want)
	}
	if got, want := found[f.ids["pikachu"]], slices.Concat(slices.Concat(filterKeys...), slices.Concat(after...)); !slices.Equal(got, want) {
		t.Errorf("pikachu: %v, not %v", got, want)
	}
}

type eachPut struct {
	writebatch.HandlerBase
	f func(cf uint32, key []byte)
}

func (h *eachPut) PutCF(cf uint32, key, _ []byte) error { h.f(cf, key); return nil }

// What a filter says has to hold in each recovery mode, and an answer that makes
// no sense is an error.
func TestWalFilterAnswers(t *testing.T) {
	answer := func(option rocksdb.WalProcessingOption, batch []byte) *walFilter {
		return &walFilter{t: t, f: func(i int, _ uint64, _ *writebatch.WriteBatch) (rocksdb.WalProcessingOption, []byte) {
			if i == 1 {
				return option, batch
			}
			return rocksdb.ContinueProcessing, nil
		}}
	}
	for mode, want := range map[rocksdb.WALRecoveryMode]int{rocksdb.TolerateCorruptedTailRecords: 0, rocksdb.AbsoluteConsistency: 0,
		rocksdb.PointInTimeRecovery: 1, rocksdb.SkipAnyCorruptedRecords: 1} {
		x := newFilterTest(t)
		writeFilterKeys(x, filterKeys, 0)
		o := x.logIterOptions()
		o.WALRecoveryMode = mode
		err := reopenWithFilter(x, o, answer(rocksdb.CorruptedRecord, nil))
		if want == 0 {
			if !errors.Is(err, rocksdb.ErrCorruption) {
				t.Errorf("mode %d: %v", mode, err)
			}
			continue
		}
		x.must(err)
		wantFilterKeys(x, func(batch, _ int) bool { return batch < want })
	}
	x := newFilterTest(t)
	writeFilterKeys(x, filterKeys, 0)
	if err := reopenWithFilter(x, x.logIterOptions(), answer(rocksdb.WalProcessingOptionMax, nil)); !rocksdb.IsNotSupported(err) {
		t.Error(err)
	}
	if err := reopenWithFilter(x, x.logIterOptions(), answer(rocksdb.ContinueProcessing, []byte("no batch"))); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Error(err)
	}
	x.must(reopenWithFilter(x, x.logIterOptions(), nil))
	wantFilterKeys(x, func(int, int) bool { return true })
}
