// Port of db/db_impl/db_impl.cc (StartTrace, EndTrace, StartBlockCacheTrace,
// EndBlockCacheTrace, StartIOTrace, EndIOTrace). Differs: a
// database that is closed ends its traces.

package dbimpl

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/db/writethread"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// tracing is the trace of operations, if there is one.
type tracing struct {
	on atomic.Bool // tells without the lock that there is nothing to do
	mu struct {
		sync.Mutex
		tracer *tracereplay.Tracer
	}
}

// StartTrace traces operations to w from now on, instead of to an earlier w, which
// is left as it is. EndTrace closes w.
func (d *DBImpl) StartTrace(o *rocksdb.TraceOptions, w rocksdb.TraceWriter) error {
	d.trace.mu.Lock()
	defer d.trace.mu.Unlock()
	d.trace.mu.tracer = tracereplay.NewTracer(d.clock, o, w)
	d.trace.on.Store(true)
	return nil
}

// EndTrace ends the trace.
func (d *DBImpl) EndTrace() error {
	d.trace.mu.Lock()
	defer d.trace.mu.Unlock()
	t := d.trace.mu.tracer
	if t == nil {
		return rocksdb.IOError("No trace file to close")
	}
	d.trace.mu.tracer = nil
	d.trace.on.Store(false)
	return t.Close()
}

// traceWith calls f if there is a trace. A trace that fails does not fail what is
// traced.
func (d *DBImpl) traceWith(f func(t *tracereplay.Tracer)) {
	d.trace.mu.Lock()
	defer d.trace.mu.Unlock()
	if t := d.trace.mu.tracer; t != nil {
		f(t)
	}
}

// traceWrite traces a batch that has not joined a group, unless the order is to
// be kept.
func (d *DBImpl) traceWrite(b *writebatch.WriteBatch) {
	if !d.trace.on.Load() {
		return
	}
	d.traceWith(func(t *tracereplay.Tracer) {
		if !t.IsWriteOrderPreserved() {
			_ = t.Write(b.Data())
		}
	})
}

// traceGet traces a lookup.
func (d *DBImpl) traceGet(cfd *db.ColumnFamilyData, key []byte) {
	if d.trace.on.Load() {
		d.traceWith(func(t *tracereplay.Tracer) { _ = t.Get(cfd.GetID(), key) })
	}
}

// traceMultiGet traces lookups of keys in one family.
func (d *DBImpl) traceMultiGet(cfd *db.ColumnFamilyData, keys [][]byte) {
	if d.trace.on.Load() {
		d.traceWith(func(t *tracereplay.Tracer) { _ = t.MultiGet(keys, func(int) uint32 { return cfd.GetID() }) })
	}
}

// traceMultiGetCF traces lookups of keys in a family each.
func (d *DBImpl) traceMultiGetCF(cfs []rocksdb.ColumnFamilyHandle, keys [][]byte) {
	if d.trace.on.Load() {
		d.traceWith(func(t *tracereplay.Tracer) { _ = t.MultiGet(keys, func(i int) uint32 { return cfs[i].GetID() }) })
	}
}

// traceSeek traces a seek of an iterator.
func (it *Iterator) traceSeek(seek func(t *tracereplay.Tracer, family uint32, key, lower, upper []byte) error, target []byte) {
	if it.d.trace.on.Load() {
		it.d.traceWith(func(t *tracereplay.Tracer) {
			_ = seek(t, it.cfd.GetID(), target, it.ro.IterateLowerBound, it.ro.IterateUpperBound)
		})
	}
}

// traceInOrder calls f if there is a trace that keeps the order of writes. The
// caller keeps all other writes out.
func (d *DBImpl) traceInOrder(f func(t *tracereplay.Tracer)) {
	if !d.trace.on.Load() {
		return
	}
	d.traceWith(func(t *tracereplay.Tracer) {
		if t.IsWriteOrderPreserved() {
			f(t)
		}
	})
}

// traceGroup traces a group in its order, before it is written: what a WAL may
// have, the trace has.
func (d *DBImpl) traceGroup(g *writethread.WriteGroup) {
	d.traceInOrder(func(t *tracereplay.Tracer) {
		for w := g.Leader; w != nil; w = g.Next(w) {
			if !w.CallbackFailed() {
				_ = t.Write(w.Batch.Data()) // as above
			}
		}
	})
}

// StartBlockCacheTrace traces the tables' accesses to the block cache to w from
// now on, which EndBlockCacheTrace closes. It is Busy while another such trace is
// on, and w stays the caller's. The options' filter and order do not matter.
func (d *DBImpl) StartBlockCacheTrace(o *rocksdb.TraceOptions, w rocksdb.TraceWriter) error {
	return d.StartBlockCacheTraceTo(tracereplay.BlockCacheTraceOptions{SamplingFrequency: o.SamplingFrequency},
		tracereplay.NewBlockCacheTraceWriter(d.clock, tracereplay.BlockCacheTraceWriterOptions{MaxTraceFileSize: o.MaxTraceFileSize}, w))
}

// StartBlockCacheTraceTo is StartBlockCacheTrace to a writer of accesses.
func (d *DBImpl) StartBlockCacheTraceTo(o tracereplay.BlockCacheTraceOptions, w tracereplay.BlockCacheTraceWriter) error {
	return d.blockCacheTracer.StartTrace(o, w)
}

// EndBlockCacheTrace ends the trace, if one is on.
func (d *DBImpl) EndBlockCacheTrace() error { return d.blockCacheTracer.EndTrace() }

// StartIOTrace traces what the database does with files to w from now on, which
// EndIOTrace closes. It is Busy while another such trace is on, and w stays the
// caller's. Of the options MaxTraceFileSize matters.
func (d *DBImpl) StartIOTrace(o *rocksdb.TraceOptions, w rocksdb.TraceWriter) error {
	return d.ioTracer.StartIOTrace(d.clock, o, w)
}

// EndIOTrace ends the trace, if one is on.
func (d *DBImpl) EndIOTrace() error { return d.ioTracer.EndIOTrace() }

// endTraces ends what traces are on.
func (d *DBImpl) endTraces() error {
	var err error
	if d.trace.on.Load() {
		err = d.EndTrace()
	}
	return errors.Join(err, d.EndBlockCacheTrace(), d.EndIOTrace())
}
