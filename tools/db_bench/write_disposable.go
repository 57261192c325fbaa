// Port of the disposable and persistent entries of Benchmark::DoWrite of
// tools/db_bench_tool.cc.

package main

import (
	"github.com/rocksdb-go/rocksdb/util"
)

// disposer writes sets of keys as results of a computation would come: first
// disposable ones; a delay later the persistent ones that replace them, and the
// disposable ones' deletions. In each database's sequence of keys a set is its
// disposable keys, then its persistent ones.
type disposer struct {
	w                      *writer
	batch, persistentBatch uint64
	delay                  uint64 // microseconds
	rnd                    *util.Random
	isDisposable           bool // the last key drawn
	deletes                uint64
	byDB                   []disposerState
}

// disposerState is one database's: the next disposable key, how far the oldest
// set due has got, and the sets that wait.
type disposerState struct {
	next, progress uint64
	queue          []disposerJob
}

// disposerJob is a set whose second half may begin at a time.
type disposerJob struct{ at, first uint64 }

func newDisposer(w *writer) *disposer {
	f := w.b.flags
	return &disposer{
		w: w, batch: f.DisposableEntriesBatchSize, persistentBatch: f.PersistentEntriesBatchSize,
		delay: f.DisposableEntriesDeleteDelay, rnd: util.NewRandom(uint32(w.b.tool.seedBase)),
		isDisposable: true, byDB: make([]disposerState, len(w.keyGens)),
	}
}

func (d *disposer) now() uint64 { return d.w.b.tool.env.clock.NowMicros() }

// draw gives the next key to write, or deletes one and says so.
func (d *disposer) draw(db *benchDB, id uint64) (n uint64, ok, deleted bool, err error) {
	s, gen := &d.byDB[id], d.w.keyGens[id]
	if len(s.queue) == 0 || s.queue[0].at >= d.now() {
		n, ok = gen.fetch(s.next)
		s.next++
		d.isDisposable = true
		if s.next%d.batch == 0 {
			s.next += d.persistentBatch
		}
		return n, ok, false, nil
	}
	job := s.queue[0]
	if s.progress < d.persistentBatch {
		n, ok = gen.fetch(job.first + d.batch + s.progress)
		d.isDisposable = false
	} else {
		n, ok = gen.fetch(job.first + s.progress - d.persistentBatch)
		deleted = true
	}
	if s.progress++; s.progress == d.batch+d.persistentBatch {
		s.queue = s.queue[1:]
		s.progress = 0
	}
	if !ok {
		return 0, false, false, nil
	}
	if deleted {
		err = d.remove(db, n)
	}
	return n, true, deleted, err
}

func (d *disposer) remove(db *benchDB, n uint64) error {
	w := d.w
	if err := w.batch.DeleteCF(db.pick(n), w.b.keys.generate(n, w.b.flags.Num, w.key)); err != nil {
		return w.t.failed("put error", err)
	}
	w.batchBytes += int64(w.b.keys.keySize)
	w.bytes += int64(w.b.keys.keySize)
	d.deletes++
	return nil
}

// value gives a value for the key drawn last.
func (d *disposer) value() []byte {
	f := d.w.b.flags
	n := f.PersistentEntriesValueSize
	if d.isDisposable {
		n = f.DisposableEntriesValueSize
	}
	return []byte(d.rnd.RandomString(int(n)))
}

// wrote queues a set whose disposable keys are all written.
func (d *disposer) wrote(id uint64) {
	s := &d.byDB[id]
	if set := d.batch + d.persistentBatch; d.isDisposable && s.next%set == 0 {
		s.queue = append(s.queue, disposerJob{d.now() + d.delay, s.next - set})
	}
}
