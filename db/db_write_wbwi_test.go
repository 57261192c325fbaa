// No upstream twin: batches that become memtables, in the database.

package db_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
)

// ingestBatch applies a batch that f fills.
func (x *dbTest) ingestBatch(f func(b *rocksdb.WriteBatchWithIndex)) error {
	b, err := rocksdb.NewWriteBatchWithIndex(rocksdb.WriteBatchWithIndexOptions{OverwriteKey: true})
	x.must(err)
	f(b)
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true
	return x.db.IngestWriteBatchWithIndex(&wo, b)
}

// What is read is the same before and after the flush, for snapshots and
// iterators, of several families; the flush counts overwritten single deletions.
func TestIngestWBWI_ReadFlushReopen(t *testing.T) {
	for _, atomic := range []bool{false, true} {
		t.Run(fmt.Sprintf("atomic_flush=%v", atomic), func(t *testing.T) {
			x := newDBTest(t)
			o := x.currentOptions()
			o.AtomicFlush, o.DisableAutoCompactions, o.Statistics = atomic, true, rocksdb.NewStatistics()
			o.MergeOperator = mergeoperators.NewStringAppendOperator(",")
			x.createAndReopenWithCF([]string{"one"}, o)
			for _, k := range []string{"a", "b", "c", "d"} {
				x.mustPut(0, k, "db")
			}
			before := x.db.GetSnapshot()
			x.must(x.ingestBatch(func(b *rocksdb.WriteBatchWithIndex) {
				for i, err := range []error{
					b.SingleDelete([]byte("a")), b.Put([]byte("a"), []byte("batch")), // overwrites the deletion
					b.SingleDelete([]byte("b")), b.Put([]byte("b"), []byte("x")), b.Delete([]byte("b")),
					b.Merge([]byte("c"), []byte("m1")), b.Merge([]byte("c"), []byte("m2")),
					b.PutEntityCF(x.cf(0), []byte("e"), rocksdb.WideColumns{{Name: []byte("n"), Value: []byte("v")}}),
					b.PutCF(x.cf(1), []byte("k"), []byte("one")),
				} {
					if err != nil {
						t.Fatal(i, err)
					}
				}
			}))
			if n := o.Statistics.GetTickerCount(rocksdb.NumberWBWIIngest); n != 1 {
				t.Errorf("%d ingestions counted", n)
			}
			check := func(when string) {
				t.Helper()
				if got, want := x.contents(0), "(a->batch)(c->db,m1,m2)(d->db)(e->)"; got != want {
					t.Errorf("%s: %s", when, got)
				}
				x.wantGet(1, "k", "one")
				if got := x.multiGet(0, nil, "a", "b", "c", "d"); fmt.Sprint(got) != "[batch NOT_FOUND db,m1,m2 db]" {
					t.Errorf("%s: %v", when, got)
				}
				var c rocksdb.PinnableWideColumns
				x.must(x.db.GetEntity(nil, []byte("e"), &c))
				if len(c.Columns()) != 1 || string(c.Columns()[0].Value) != "v" {
					t.Errorf("%s: %v", when, c.Columns())
				}
				c.Reset()
			}
			check("at once")
			x.wantGetAt(0, "a", before, "db")
			x.wantGetAt(0, "b", before, "db")
			x.must(x.db.WaitForCompact(nil)) // the flush that was asked for
			if n := x.intProperty(0, "rocksdb.num-immutable-mem-table"); n != 0 {
				t.Errorf("%d memtables wait", n)
			}
			check("after the flush")
			x.wantGetAt(0, "a", before, "db")
			x.must(x.db.ReleaseSnapshot(before))
			x.mustPut(0, "d", "later")
			x.wantGet(0, "d", "later")
			x.mustPut(0, "d", "db")
			x.reopenWithColumnFamilies([]string{"default", "one"}, o)
			check("after reopening")
		})
	}
}

// Batches are seen whole beside other writes.
func TestIngestWBWI_Concurrent(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.DisableAutoCompactions = true
	x.createAndReopenWithCF([]string{"one"}, o)
	const rounds = 30
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		defer close(done)
		for i := range rounds {
			v := fmt.Appendf(nil, "%d", i)
			if err := x.ingestBatch(func(b *rocksdb.WriteBatchWithIndex) {
				_ = b.PutCF(x.cf(0), []byte("k"), v)
				_ = b.PutCF(x.cf(1), []byte("k"), v)
			}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if err := x.put(0, fmt.Sprintf("other%03d", i%100), "v"); err != nil {
				t.Error(err)
				return
			}
			values, errs := make([]rocksdb.PinnableSlice, 2), make([]error, 2)
			x.db.MultiGetCF(nil, []*rocksdb.ColumnFamily{x.cf(0), x.cf(1)}, [][]byte{[]byte("k"), []byte("k")}, values, errs)
			if a, b := string(values[0].Data()), string(values[1].Data()); a != b {
				t.Errorf("families show %q and %q", a, b)
				return
			}
			values[0].Release()
			values[1].Release()
		}
	})
	wg.Wait()
	x.wantGet(0, "k", fmt.Sprint(rounds-1))
	x.wantGet(1, "k", fmt.Sprint(rounds-1))
}

// memoryTrace is a trace in memory.
type memoryTrace struct{ records []tracereplay.Trace }

func (m *memoryTrace) Write(data []byte) error {
	r, err := tracereplay.DecodeTrace(bytes.Clone(data))
	m.records = append(m.records, r)
	return err
}
func (*memoryTrace) Close() error        { return nil }
func (*memoryTrace) GetFileSize() uint64 { return 0 }

// Who replays a trace of writes in their order gets the batches, too.
func TestIngestWBWI_Traced(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		x := newDBTest(t)
		o := rocksdb.DefaultTraceOptions()
		o.Filter = rocksdb.TraceFilterGet | rocksdb.TraceFilterMultiGet | rocksdb.TraceFilterIteratorSeek | rocksdb.TraceFilterIteratorSeekForPrev
		o.PreserveWriteOrder = ordered
		m := &memoryTrace{}
		x.must(x.full().StartTrace(&o, m))
		x.mustPut(0, "a", "1")
		x.must(x.ingestBatch(func(b *rocksdb.WriteBatchWithIndex) { x.must(b.Put([]byte("b"), []byte("2"))) }))
		x.mustPut(0, "c", "3")
		x.must(x.full().EndTrace())
		var keys []string
		for i := range m.records {
			if m.records[i].Type != tracereplay.TraceWrite {
				continue
			}
			record, err := tracereplay.DecodeTraceRecord(&m.records[i], tracereplay.FileMajorVersion*10+tracereplay.FileMinorVersion)
			x.must(err)
			var b writebatch.WriteBatch
			x.must(b.SetContents(record.(*tracereplay.WriteQueryTraceRecord).WriteBatchRep))
			x.must(b.Iterate(&eachPut{f: func(_ uint32, key []byte) { keys = append(keys, string(key)) }}))
		}
		if fmt.Sprint(keys) != "[a b c]" {
			t.Errorf("preserve_write_order=%v: traced %v", ordered, keys)
		}
	}
}

// The memtable that takes writes after a batch is numbered after the batch's: a flush
// up to the batch is not one of later writes.
func TestIngestWBWI_MemtableOrder(t *testing.T) {
	x := newDBTest(t)
	x.must(x.db.PauseBackgroundWork())
	x.must(x.ingestBatch(func(b *rocksdb.WriteBatchWithIndex) { x.must(b.Put([]byte("a"), []byte("1"))) }))
	cfd := x.full().DefaultColumnFamily().CFD()
	if active, batch := cfd.Mem().GetID(), cfd.Imm().GetLatestMemTableID(false); active <= batch {
		t.Errorf("memtable %d takes writes after memtable %d", active, batch)
	}
	x.must(x.db.ContinueBackgroundWork())
	x.mustPut(0, "a", "2")
	x.must(x.db.Flush(nil))
	x.wantGet(0, "a", "2")
}
