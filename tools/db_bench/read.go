// Port of the reading benchmarks of tools/db_bench_tool.cc.

package main

import (
	"fmt"
	"math"
	"strconv"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// isNotFound is errors.Is(err, ErrNotFound), quick for the engine's own error.
func isNotFound(err error) bool {
	s, ok := err.(*rocksdb.Status)
	return ok && s.Code == rocksdb.CodeNotFound || rocksdb.IsNotFound(err)
}

// closeIterator closes one that was read to where the benchmark wanted; its
// status tells of errors.
func closeIterator(it *Iterator) { _ = it.Close() }

// releaseSnapshot gives back a snapshot of db's own.
func releaseSnapshot(db *DB, s rocksdb.Snapshot) { _ = db.ReleaseSnapshot(s) }

// withSnapshot takes a snapshot for --explicit_snapshot; release gives it back.
func (b *benchmark) withSnapshot(db *DB, ro *rocksdb.ReadOptions) (release func()) {
	if !b.flags.ExplicitSnapshot {
		return func() {}
	}
	s := db.GetSnapshot()
	ro.Snapshot = s
	return func() { releaseSnapshot(db, s) }
}

func (b *benchmark) readSequential(t *threadState) error {
	return b.each(func(d *benchDB, _ bool) error {
		release := b.withSnapshot(d.db, &t.ro)
		defer release()
		return b.readAll(t, d, (*Iterator).SeekToFirst, (*Iterator).Next)
	})
}

func (b *benchmark) readReverse(t *threadState) error {
	return b.each(func(d *benchDB, _ bool) error {
		return b.readAll(t, d, (*Iterator).SeekToLast, (*Iterator).Prev)
	})
}

// readAll reads b.reads entries in order.
func (b *benchmark) readAll(t *threadState, d *benchDB, first, next func(*Iterator)) error {
	t.stampReads()
	it := d.db.NewIterator(&t.ro)
	defer closeIterator(it)
	i, bytes := int64(0), int64(0)
	for first(it); i < b.reads && it.Valid(); next(it) {
		bytes += int64(len(it.Key()) + len(it.Value()))
		t.stats.finishedOps(d, 1, opRead)
		i++
		t.limitReads(i, 1024)
	}
	t.stats.addBytes(bytes)
	if err := it.Status(); err != nil {
		return t.failed("Iterator error", err)
	}
	return nil
}

// randomKey draws a key's number: uniform, or skewed by
// --read_random_exp_range. Differs: the skew is computed with 53 bits where
// upstream has 64.
func (b *benchmark) randomKey(r *util.Random64) int64 {
	n := r.Next()
	num := uint64(b.flags.Num)
	if b.flags.ReadRandomExpRange == 0 {
		return int64(n % num)
	}
	const big = 1 << 62
	order := -float64(n%big) / big * b.flags.ReadRandomExpRange
	at := uint64(math.Exp(order) * float64(num))
	// Spread neighbours.
	const prime = 0x5bd1e995
	return int64(at * prime % num)
}

// keyStride walks the keys of readrandom with --multiread_stride.
type keyStride struct {
	key  int64
	done int64
}

// next gives the key's number of the next read.
func (s *keyStride) next(b *benchmark, r *util.Random64) int64 {
	stride := b.flags.MultireadStride
	if b.entriesPerBatch <= 1 || stride == 0 {
		return b.randomKey(r)
	}
	if s.done++; s.done == b.entriesPerBatch {
		s.done = 0
		s.key = b.strideStart(r)
	} else {
		s.key += stride
	}
	return s.key
}

// strideStart draws the first key of a batch that stays below --num.
func (b *benchmark) strideStart(r *util.Random64) int64 {
	key, stride := b.randomKey(r), b.flags.MultireadStride
	if key+(b.entriesPerBatch-1)*stride >= b.flags.Num {
		key = b.flags.Num - b.entriesPerBatch*stride
	}
	return key
}

func (b *benchmark) readRandom(t *threadState) error {
	var v rocksdb.PinnableSlice
	return b.readEach(t, "Get", func(cf *ColumnFamily, key []byte) (size int, err error) {
		if err = cf.GetInto(&t.ro, key, &v); err == nil {
			size = v.Size()
			v.Release()
		}
		return size, err
	})
}

// readEach looks keys drawn at random up, one after another. get gives the size of
// what it found; what names it in errors.
func (b *benchmark) readEach(t *threadState, what string, get func(cf *ColumnFamily, key []byte) (size int, err error)) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	read, found, bytes := int64(0), int64(0), int64(0)
	buf := b.keys.keyBuffer()
	var stride keyStride
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		n := uint64(stride.next(b, t.rand))
		key := b.keys.generate(n, b.flags.Num, buf)
		read++
		t.stampReads()
		size, err := get(db.pick(n), key)
		if err == nil {
			found++
			bytes += int64(len(key)+size) + t.timestampBytes()
		} else if !isNotFound(err) {
			return t.failed(what+" returned an error", err)
		}
		t.limitReads(read, 256)
		t.stats.finishedOps(db, 1, opRead)
	}
	t.stats.addBytes(bytes)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)\n", found, read))
	return nil
}

// needKeys refuses to draw from no keys, where upstream divides by zero.
func (b *benchmark) needKeys() error {
	if b.flags.Num > 0 {
		return nil
	}
	b.out.errf("db_bench: --num is 0: there is no key to read\n")
	return exitCode(1)
}

// readRandomFast reads blocks of 100 keys below the next power of two.
func (b *benchmark) readRandomFast(t *threadState) error {
	num := b.flags.Num
	read, found, nonexist := int64(0), int64(0), int64(0)
	var v rocksdb.PinnableSlice
	buf := b.keys.keyBuffer()
	db := b.selectDB(t.rand)
	pot := int64(1)
	for pot < num {
		pot <<= 1
	}
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for {
		for range 100 {
			n := int64(t.rand.Next()) & (pot - 1)
			read++
			t.stampReads()
			err := db.db.GetInto(&t.ro, b.keys.generate(uint64(n), num, buf), &v)
			if err == nil {
				found++
				v.Release()
			} else if !isNotFound(err) {
				return t.failed("Get returned an error", err)
			}
			if n >= num {
				nonexist++
			}
		}
		if l := t.shared.readRateLimiter; l != nil {
			l.request(100, rocksdb.OpTypeRead)
		}
		t.stats.finishedOps(db, 100, opRead)
		if d.finished(100) {
			break
		}
	}
	t.stats.addMessage(fmt.Sprintf("(%d of %d found, issued %d non-exist keys)\n", found, read, nonexist))
	return nil
}

// readToRowCache reads every key once.
func (b *benchmark) readToRowCache(t *threadState) error {
	read, found, bytes := int64(0), int64(0), int64(0)
	buf := b.keys.keyBuffer()
	var v rocksdb.PinnableSlice
	for n := int64(0); n < b.flags.Num; n++ {
		db := b.selectDB(t.rand)
		key := b.keys.generate(uint64(n), b.flags.Num, buf)
		read++
		t.stampReads()
		// Upstream counts on before it picks the column family.
		err := db.pick(uint64(n+1)).GetInto(&t.ro, key, &v)
		if err == nil {
			found++
			bytes += int64(len(key)+v.Size()) + t.timestampBytes()
			v.Release()
		} else if !isNotFound(err) {
			return t.failed("Get returned an error", err)
		}
		t.limitReads(read, 256)
		t.stats.finishedOps(db, 1, opRead)
	}
	t.stats.addBytes(bytes)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)\n", found, read))
	return nil
}

// drawKeys makes a batch's keys.
func (b *benchmark) drawKeys(t *threadState, keys, bufs [][]byte) {
	stride := b.flags.MultireadStride
	if stride == 0 {
		for i := range keys {
			keys[i] = b.keys.generate(uint64(b.randomKey(t.rand)), b.flags.Num, bufs[i])
		}
		return
	}
	k := b.strideStart(t.rand)
	for i := range keys {
		keys[i] = b.keys.generate(uint64(k), b.flags.Num, bufs[i])
		k += stride
	}
}

// multiReadRandom reads --batch_size keys at a time. The engine has one
// MultiGet, the batched one; without --multiread_batched the values are copied,
// as upstream's other MultiGet does.
func (b *benchmark) multiReadRandom(t *threadState) error {
	values := make([]rocksdb.PinnableSlice, b.entriesPerBatch)
	var copied []byte
	return b.readBatches(t, "MultiGet", func(db *benchDB, keys [][]byte, errs []error) {
		db.db.MultiGet(&t.ro, keys, values, errs)
	}, func(i int) int {
		size := values[i].Size()
		if !b.flags.MultireadBatched {
			copied = append(copied[:0], values[i].Data()...)
		}
		values[i].Release()
		return size
	})
}

// readBatches looks --batch_size keys up at a time. take lets go of a key's value
// and gives its size, 0 where it was not found; what names get in errors.
func (b *benchmark) readBatches(t *threadState, what string, get func(db *benchDB, keys [][]byte, errs []error), take func(i int) int) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	n := b.entriesPerBatch
	bufs, keys, errs := make([][]byte, n), make([][]byte, n), make([]error, n)
	for i := range bufs {
		bufs[i] = b.keys.keyBuffer()
	}
	read, found, bytes, calls := int64(0), int64(0), int64(0), int64(0)
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(n) {
		db := b.selectDB(t.rand)
		b.drawKeys(t, keys, bufs)
		t.stampReads()
		get(db, keys, errs)
		read += n
		calls++
		for i, err := range errs {
			size := take(i)
			if err == nil {
				bytes += int64(len(keys[i])+size) + t.timestampBytes()
				found++
			} else if !isNotFound(err) {
				return t.failed(what+" returned an error", err)
			}
			errs[i] = nil
		}
		if l := t.shared.readRateLimiter; l != nil && calls%256 == 255 {
			l.request(256*n, rocksdb.OpTypeRead)
		}
		t.stats.finishedOps(db, n, opRead)
	}
	t.stats.addBytes(bytes)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)", found, read))
	return nil
}
