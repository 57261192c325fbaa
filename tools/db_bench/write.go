// Port of Benchmark::DoWrite and DoDelete of tools/db_bench_tool.cc.

package main

import (
	"math"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// writer is one worker of the fill benchmarks and of overwrite.
type writer struct {
	b    *benchmark
	t    *threadState
	mode writeMode

	numOps       int64
	numPerKeyGen uint64
	keyGens      []*keyGenerator // one a database
	gen          *randomGenerator
	batch        *WriteBatch
	key          []byte
	beginKey     []byte
	endKey       []byte
	overwrites   *overwriter // nil without --overwrite_probability
	disposable   *disposer   // nil without disposable and persistent entries

	bytes             int64
	batchBytes        int64
	numWritten        int64
	numRangeDeletions int64
}

// overwriter picks recent keys again: --overwrite_probability.
type overwriter struct {
	p            float64
	engine       *defaultRandomEngine
	reservoir    *util.Random64
	window       []uint64 // a ring of the last keys
	oldest       int
	windowSize   int
	unique, over uint64
}

// draw gives a recent key or a new one of gen.
func (o *overwriter) draw(gen *keyGenerator) (uint64, bool) {
	if len(o.window) > 0 && o.engine.bernoulli(o.p) {
		o.over++
		i := int(o.reservoir.Next() % uint64(len(o.window)))
		return o.window[(o.oldest+i)%len(o.window)], true
	}
	o.unique++
	n, ok := gen.draw()
	if len(o.window) < o.windowSize {
		o.window = append(o.window, n)
	} else {
		o.window[o.oldest] = n
		o.oldest = (o.oldest + 1) % len(o.window)
	}
	return n, ok
}

// doWrite writes so many entries to each database; 0 means --num.
func (b *benchmark) doWrite(t *threadState, mode writeMode, writes int64) error {
	w, err := b.newWriter(t, mode)
	if err != nil {
		return err
	}
	if w.numOps = writes; writes == 0 {
		w.numOps = b.num
	}
	if err := w.run(); err != nil {
		return err
	}
	if w.overwrites != nil {
		b.out.printf("Number of unique keys inserted: %d.\nNumber of overwrites: %d\n", w.overwrites.unique, w.overwrites.over)
	} else if w.disposable != nil {
		b.out.printf("Number of unique keys inserted (disposable+persistent): %d.\nNumber of 'disposable entry delete': %d\n",
			w.numWritten, w.disposable.deletes)
	}
	if w.numRangeDeletions > 0 {
		b.out.printf("Number of range deletions: %d\n", w.numRangeDeletions)
	}
	t.stats.addBytes(w.bytes)
	return nil
}

func (b *benchmark) newWriter(t *threadState, mode writeMode) (*writer, error) {
	f := b.flags
	batch, err := b.newWriteBatch()
	if err != nil {
		return nil, err
	}
	w := &writer{b: b, t: t, mode: mode, batch: batch}
	w.keyGens = make([]*keyGenerator, max(1, len(b.multiDBs)))
	w.numPerKeyGen = uint64(b.num + f.MaxNumRangeTombstones)
	for i := range w.keyGens {
		w.keyGens[i] = newKeyGenerator(t.rand, mode, w.numPerKeyGen, b.tool.seedBase)
	}
	if b.num != f.Num {
		t.stats.addMessage("(" + itoa(b.num) + " ops)")
	}
	w.gen = b.newGenerator()
	w.key, w.beginKey, w.endKey = b.keys.keyBuffer(), b.keys.keyBuffer(), b.keys.keyBuffer()
	p := min(f.OverwriteProbability, 1)
	if p > 0 && mode == writeUniqueRandom {
		if f.OverwriteWindowSize == 0 {
			b.out.errf("Overwrite_window_size must be  strictly greater than 0.\n")
			return nil, exitCode(1)
		}
		w.overwrites = &overwriter{
			p: p, engine: newDefaultRandomEngine(uint32(b.tool.seedBase)),
			reservoir: util.NewRandom64(uint64(b.tool.seedBase)), windowSize: int(f.OverwriteWindowSize),
		}
	}
	if f.DisposableEntriesBatchSize+f.PersistentEntriesBatchSize > 0 {
		if mode != writeUniqueRandom || f.WritesPerRangeTombstone > 0 || p > 0 {
			b.out.errf("Disposable/persistent deletes are not compatible with overwrites and DeleteRanges; and are only supported in filluniquerandom.\n")
			return nil, exitCode(1)
		}
		if f.DisposableEntriesValueSize < 0 || f.PersistentEntriesValueSize < 0 || f.DisposableEntriesBatchSize == 0 {
			b.out.errf("disposable_entries_value_size and persistent_entries_value_sizehave to be positive.\n")
			return nil, exitCode(1)
		}
		w.disposable = newDisposer(w)
	}
	return w, nil
}

// run writes batch after batch.
func (w *writer) run() error {
	b, t, f := w.b, w.t, w.b.flags
	maxOps := w.numOps * int64(len(w.keyGens))
	opsPerStage := maxOps
	if f.NumColumnFamilies > 1 && f.NumHotColumnFamilies > 0 {
		opsPerStage = (maxOps-1)/int64(f.NumColumnFamilies/f.NumHotColumnFamilies) + 1
	}
	seconds := int64(0)
	if w.mode == writeRandom {
		seconds = int64(f.Duration)
	}
	d := t.shared.makeDuration(seconds, maxOps, opsPerStage)
	stage, id, nextSeqDBAt := int64(0), uint64(0), w.numOps
	n := b.entriesPerBatch
	for w.numPerKeyGen != 0 && !d.finished(n) {
		if opsPerStage != maxOps && d.stage() != stage {
			stage = d.stage()
			if err := b.each(func(d *benchDB, _ bool) error {
				return d.createNewCF(&b.openOptions.ColumnFamilyOptions, stage)
			}); err != nil {
				b.out.errf("%v\n", err)
				return exitCode(1)
			}
		}
		if w.mode != writeSequential {
			id = w.pick()
		} else if w.numWritten >= nextSeqDBAt {
			// One database after the other.
			nextSeqDBAt += w.numOps
			if id++; id >= uint64(len(w.keyGens)) {
				b.out.errf("Logic error. Filled all databases\n")
				return exitCode(1)
			}
		}
		db := b.selectBy(id)
		w.batch.Clear()
		w.batchBytes = 0
		for range n {
			if err := w.entry(db, id); err != nil {
				return err
			}
		}
		if err := w.write(db, n); err != nil {
			return err
		}
	}
	return nil
}

// pick gives the database of the next batch: one at random, or one after it that
// has unique keys left (upstream reads past the end of a database's keys).
func (w *writer) pick() uint64 {
	n := uint64(len(w.keyGens))
	first := w.t.rand.Next() % n
	for i := range n {
		if id := (first + i) % n; !w.keyGens[id].usedUp() {
			return id
		}
	}
	return first
}

// write applies the batch.
func (w *writer) write(db *benchDB, n int64) error {
	t := w.t
	if l := t.shared.writeRateLimiter.Load(); l != nil {
		l.request(w.batchBytes, rocksdb.OpTypeWrite)
		t.stats.resetLastOpTime()
	}
	err := t.write(db.db, w.batch)
	t.stats.finishedOps(db, n, opWrite)
	if w.b.flags.SineWriteRate {
		if err := w.b.followSine(t); err != nil {
			return err
		}
	}
	if err != nil && !w.b.listener.waitForRecovery() {
		return t.failed("put error", err)
	}
	return nil
}

// errKeysUsedUp: upstream reads past the end of its keys.
func (w *writer) errKeysUsedUp() error {
	w.b.out.errf("db_bench: all %d unique keys are used; --writes is greater than --num\n", w.numPerKeyGen)
	return exitCode(1)
}

// entry adds one entry to the batch, and a range deletion when one is due.
func (w *writer) entry(db *benchDB, id uint64) error {
	b, f := w.b, w.b.flags
	var n uint64
	ok, value := true, []byte(nil)
	switch {
	case w.overwrites != nil:
		n, ok = w.overwrites.draw(w.keyGens[id])
	case w.disposable != nil:
		var deleted bool
		var err error
		if n, ok, deleted, err = w.disposable.draw(db, id); deleted || err != nil {
			return err
		}
		value = w.disposable.value()
	default:
		n, ok = w.keyGens[id].draw()
	}
	if !ok {
		return w.errKeysUsedUp()
	}
	key := b.keys.generate(n, f.Num, w.key)
	if w.disposable == nil {
		value = w.gen.generate()
	}
	var err error
	if f.NumColumnFamilies <= 1 {
		err = w.batch.Put(key, value)
	} else {
		err = w.batch.PutCF(db.cfh(n), key, value)
	}
	if err != nil {
		return w.t.failed("put error", err)
	}
	size := int64(len(value)+b.keys.keySize) + w.t.timestampBytes()
	w.batchBytes += size
	w.bytes += size
	w.numWritten++
	if w.disposable != nil {
		w.disposable.wrote(id)
	}
	if f.WritesPerRangeTombstone > 0 && rangeDeletionDue(f, w.numWritten) {
		return w.rangeDeletion(db, id, n)
	}
	return nil
}

// rangeDeletionDue tells whether a range deletion follows the written-th write.
func rangeDeletionDue(f *Flags, written int64) bool {
	after := written - f.WritesBeforeDeleteRange
	return f.WritesPerRangeTombstone > 0 && after > 0 &&
		after/f.WritesPerRangeTombstone <= f.MaxNumRangeTombstones && after%f.WritesPerRangeTombstone == 0
}

// rangeDeletion deletes a range, or its keys one by one; with column families
// in the one of the write before.
func (w *writer) rangeDeletion(db *benchDB, id, randNum uint64) error {
	b, f := w.b, w.b.flags
	w.numRangeDeletions++
	begin, ok := w.keyGens[id].draw()
	if !ok {
		return w.errKeysUsedUp()
	}
	cf := db.pick(randNum)
	if f.ExpandRangeTombstones {
		for offset := range uint64(f.RangeTombstoneWidth) {
			if err := w.batch.DeleteCF(cf, b.keys.generate(begin+offset, f.Num, w.beginKey)); err != nil {
				return w.t.failed("put error", err)
			}
		}
		return nil
	}
	err := w.batch.DeleteRangeCF(cf, b.keys.generate(begin, f.Num, w.beginKey),
		b.keys.generate(begin+uint64(f.RangeTombstoneWidth), f.Num, w.endKey))
	if err != nil {
		return w.t.failed("put error", err)
	}
	return nil
}

func (b *benchmark) sineRate(x float64) float64 {
	f := b.flags
	return f.SineA*math.Sin(f.SineB*x+f.SineC) + f.SineD
}

// followSine sets the write rate anew when its interval is over.
func (b *benchmark) followSine(t *threadState) error {
	now := b.tool.env.clock.NowMicros()
	if now <= t.stats.sineInterval || now-t.stats.sineInterval <= b.flags.SineWriteRateIntervalMilliseconds*1000 {
		return nil
	}
	t.stats.sineInterval = b.tool.env.clock.NowMicros()
	l, err := newLimiter(uint64(b.sineRate(float64(now-t.stats.start)/1e6)), rocksdb.WritesOnly)
	if err != nil {
		return t.failed("sine_write_rate", err)
	}
	t.shared.writeRateLimiter.Store(l)
	return nil
}

// doDelete is deleteseq and deleterandom.
func (b *benchmark) doDelete(t *threadState, seq bool) error {
	f := b.flags
	batch, err := b.newWriteBatch()
	if err != nil {
		return err
	}
	key := b.keys.keyBuffer()
	seconds := int64(0)
	if !seq {
		if err := b.needKeys(); err != nil {
			return err
		}
		seconds = int64(f.Duration)
	}
	d := t.shared.makeDuration(seconds, b.deletes, 0)
	for i := int64(0); !d.finished(b.entriesPerBatch); i += b.entriesPerBatch {
		db := b.selectDB(t.rand)
		batch.Clear()
		for j := range b.entriesPerBatch {
			k := uint64(i + j)
			if !seq {
				k = t.rand.Next() % uint64(f.Num)
			}
			if err := batch.Delete(b.keys.generate(k, f.Num, key)); err != nil {
				return t.failed("del error", err)
			}
		}
		err := t.write(db.db, batch)
		t.stats.finishedOps(db, b.entriesPerBatch, opDelete)
		if err != nil {
			return t.failed("del error", err)
		}
	}
	return nil
}
