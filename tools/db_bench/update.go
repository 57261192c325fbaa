// Port of the read-modify-write and merge benchmarks of
// tools/db_bench_tool.cc.

package main

import (
	"bytes"
	"fmt"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// readWriter is what the benchmarks of this file have in common.
type readWriter struct {
	gen                 *randomGenerator
	buf                 []byte
	value               []byte // the value read last
	pinned              rocksdb.PinnableSlice
	found, bytes        int64
	reads, writes, dels int64
}

func (b *benchmark) newReadWriter() (*readWriter, error) {
	if err := b.needKeys(); err != nil {
		return nil, err
	}
	return &readWriter{gen: b.newGenerator(), buf: b.keys.keyBuffer()}, nil
}

// get reads a key into rw.value; ok is false where there is none.
func (rw *readWriter) get(t *threadState, db *benchDB, key []byte) (ok bool, err error) {
	t.stampReads()
	if err := db.db.GetInto(&t.ro, key, &rw.pinned); err != nil {
		rw.value = rw.value[:0]
		if isNotFound(err) {
			return false, nil
		}
		return false, err
	}
	rw.value = append(rw.value[:0], rw.pinned.Data()...)
	rw.pinned.Release()
	rw.found++
	return true, nil
}

// readRandomWriteRandom reads and writes in turns of
// --readwritepercent to the rest.
func (b *benchmark) readRandomWriteRandom(t *threadState) error {
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	f := b.flags
	getWeight, putWeight := int32(0), int32(0)
	d := t.shared.makeDuration(int64(f.Duration), b.readWrites, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		key := b.keys.generate(t.rand.Next()%uint64(f.Num), f.Num, rw.buf)
		if getWeight == 0 && putWeight == 0 {
			getWeight, putWeight = f.Readwritepercent, 100-f.Readwritepercent
		}
		if getWeight > 0 {
			if _, err := rw.get(t, db, key); err != nil {
				b.out.errf("get error: %v\n", err)
			}
			getWeight--
			rw.reads++
			t.stats.finishedOps(db, 1, opRead)
			continue
		}
		if err := t.put(db.db, key, rw.gen.generate()); err != nil {
			return t.failed("put error", err)
		}
		putWeight--
		rw.writes++
		t.stats.finishedOps(db, 1, opWrite)
	}
	t.stats.addMessage(fmt.Sprintf("( reads:%d writes:%d total:%d found:%d)", rw.reads, rw.writes, b.readWrites, rw.found))
	return nil
}

// updateRandom reads a key and writes it anew.
func (b *benchmark) updateRandom(t *threadState) error {
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	f := b.flags
	d := t.shared.makeDuration(int64(f.Duration), b.readWrites, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		key := b.keys.generate(t.rand.Next()%uint64(f.Num), f.Num, rw.buf)
		ok, err := rw.get(t, db, key)
		if err != nil {
			return t.failed("Get returned an error", err)
		}
		if ok {
			rw.bytes += int64(len(key)+len(rw.value)) + t.timestampBytes()
		}
		if l := t.shared.writeRateLimiter.Load(); l != nil {
			l.request(int64(len(key)+len(rw.value)), rocksdb.OpTypeWrite)
		}
		value := rw.gen.generate()
		if err := t.put(db.db, key, value); err != nil {
			return t.fatal("put error", "UpdateRandom put error", err)
		}
		rw.bytes += int64(len(key)+len(value)) + t.timestampBytes()
		t.stats.finishedOps(db, 1, opUpdate)
	}
	t.stats.addBytes(rw.bytes)
	t.stats.addMessage(fmt.Sprintf("( updates:%d found:%d)", b.readWrites, rw.found))
	return nil
}

// xorUpdateRandom writes the value read, combined with random bytes.
func (b *benchmark) xorUpdateRandom(t *threadState) error {
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	f := b.flags
	var updated []byte
	d := t.shared.makeDuration(int64(f.Duration), b.readWrites, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		key := b.keys.generate(t.rand.Next()%uint64(f.Num), f.Num, rw.buf)
		if _, err := rw.get(t, db, key); err != nil {
			return t.fatal("Get returned an error", "XORUpdateRandom get error", err)
		}
		operand := rw.gen.generateN(min(len(rw.value), len(rw.gen.data)))
		updated = append(updated[:0], rw.value...)
		for i, c := range operand {
			updated[i] ^= c
		}
		if err := t.put(db.db, key, updated); err != nil {
			return t.failed("put error", err)
		}
		t.stats.finishedOps(db, 1, opOthers)
	}
	t.stats.addMessage(fmt.Sprintf("( updates:%d found:%d)", b.readWrites, rw.found))
	return nil
}

// appendRandom appends a value, behind a comma, to the one that is there.
func (b *benchmark) appendRandom(t *threadState) error {
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	f := b.flags
	d := t.shared.makeDuration(int64(f.Duration), b.readWrites, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		key := b.keys.generate(t.rand.Next()%uint64(f.Num), f.Num, rw.buf)
		ok, err := rw.get(t, db, key)
		if err != nil {
			return t.failed("Get returned an error", err)
		}
		if ok {
			rw.bytes += int64(len(key)+len(rw.value)) + t.timestampBytes()
		}
		operand := rw.gen.generate()
		if len(rw.value) > 0 {
			rw.value = append(rw.value, ',')
		}
		rw.value = append(rw.value, operand...)
		if err := t.put(db.db, key, rw.value); err != nil {
			return t.failed("put error", err)
		}
		rw.bytes += int64(len(key)+len(rw.value)) + t.timestampBytes()
		t.stats.finishedOps(db, 1, opUpdate)
	}
	t.stats.addBytes(rw.bytes)
	t.stats.addMessage(fmt.Sprintf("( updates:%d found:%d)", b.readWrites, rw.found))
	return nil
}

// needMergeKeys refuses to draw from no keys, where upstream divides by zero.
func (b *benchmark) needMergeKeys() error {
	if b.mergeKeys > 0 {
		return nil
	}
	b.out.errf("db_bench: --merge_keys is 0: there is no key to merge\n")
	return exitCode(1)
}

func (b *benchmark) mergeRandom(t *threadState) error {
	if err := b.needMergeKeys(); err != nil {
		return err
	}
	gen, buf, size := b.newGenerator(), b.keys.keyBuffer(), int64(0)
	d := t.shared.makeDuration(int64(b.flags.Duration), b.readWrites, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		n := t.rand.Next() % uint64(b.mergeKeys)
		key := b.keys.generate(n, b.mergeKeys, buf)
		value := gen.generate()
		if err := db.pick(n).Merge(&t.wo, key, value); err != nil {
			return t.fatal("merge error", "MergeRandom merge error", err)
		}
		size += int64(len(key) + len(value))
		t.stats.finishedOps(db, 1, opMerge)
	}
	t.stats.addBytes(size)
	t.stats.addMessage(fmt.Sprintf("( updates:%d)", b.readWrites))
	return nil
}

func (b *benchmark) readRandomMergeRandom(t *threadState) error {
	if err := b.needMergeKeys(); err != nil {
		return err
	}
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	longest := 0
	d := t.shared.makeDuration(int64(b.flags.Duration), b.readWrites, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		key := b.keys.generate(t.rand.Next()%uint64(b.mergeKeys), b.mergeKeys, rw.buf)
		if int32(t.rand.Next()%100) < b.flags.Mergereadpercent {
			if err := db.db.Merge(&t.wo, key, rw.gen.generate()); err != nil {
				return t.fatal("merge error", "ReadRandomMergeRandom merge error", err)
			}
			rw.writes++
			t.stats.finishedOps(db, 1, opMerge)
			continue
		}
		if _, err := rw.get(t, db, key); err != nil {
			b.out.errf("get error: %v\n", err)
		}
		longest = max(longest, len(rw.value))
		rw.reads++
		t.stats.finishedOps(db, 1, opRead)
	}
	t.stats.addMessage(fmt.Sprintf("(reads:%d merges:%d total:%d hits:%d maxlength:%d)",
		rw.reads, rw.writes, b.readWrites, rw.found, longest))
	return nil
}

// manySuffixes make three keys of one that always hold the same value.
var manySuffixes = [3]byte{'0', '1', '2'}

// many writes or deletes key's three keys in one batch, in order.
func (rw *readWriter) many(t *threadState, db *benchDB, batch *WriteBatch, order string, key, value []byte) error {
	batch.Clear()
	for i := range len(order) {
		k := append(append(rw.value[:0], key...), order[i])
		rw.value = k
		var err error
		if value == nil {
			err = batch.Delete(k)
		} else {
			err = batch.Put(k, value)
		}
		if err != nil {
			return err
		}
	}
	return t.write(db.db, batch)
}

// getMany reads the three keys in one snapshot and says where they differ.
func (rw *readWriter) getMany(b *benchmark, t *threadState, db *benchDB, key []byte) (ok bool) {
	t.stampReads()
	ro := t.ro
	ro.Snapshot = db.db.GetSnapshot()
	defer releaseSnapshot(db.db, ro.Snapshot)
	var values [3][]byte
	for i, suffix := range manySuffixes {
		k := append(append(rw.value[:0], key...), suffix)
		rw.value = k
		err := db.db.GetInto(&ro, k, &rw.pinned)
		switch {
		case err == nil:
			values[i], ok = bytes.Clone(rw.pinned.Data()), true
			rw.pinned.Release()
		case isNotFound(err):
			ok = false
		default:
			b.out.errf("get error: %v\ngetmany error: %v\n", err, err)
			ok = false
		}
	}
	if !bytes.Equal(values[0], values[1]) || !bytes.Equal(values[1], values[2]) {
		b.out.errf("inconsistent values for key %s: %s, %s, %s\n", key, values[0], values[1], values[2])
	}
	return ok
}

// randomWithVerify reads, writes and deletes three keys at a time.
func (b *benchmark) randomWithVerify(t *threadState) error {
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	f := b.flags
	batch, err := b.newWriteBatch()
	if err != nil {
		return err
	}
	getWeight, putWeight, deleteWeight := int32(0), int32(0), int32(0)
	for i := int64(0); i < b.readWrites && !t.shared.fatal.Load(); i++ {
		db := b.selectDB(t.rand)
		if getWeight == 0 && putWeight <= 0 && deleteWeight == 0 {
			getWeight, deleteWeight = f.Readwritepercent, f.Deletepercent
			putWeight = 100 - getWeight - deleteWeight
		}
		key := b.keys.generate(t.rand.Next()%uint64(f.Numdistinct), f.Numdistinct, rw.buf)
		switch {
		case getWeight > 0:
			if rw.getMany(b, t, db, key) {
				rw.found++
			}
			getWeight--
			rw.reads++
			t.stats.finishedOps(db, 1, opRead)
		case putWeight > 0:
			if err := rw.many(t, db, batch, "210", key, rw.gen.generate()); err != nil {
				return t.failed("putmany error", err)
			}
			putWeight--
			rw.writes++
			t.stats.finishedOps(db, 1, opWrite)
		case deleteWeight > 0:
			if err := rw.many(t, db, batch, "120", key, nil); err != nil {
				return t.failed("deletemany error", err)
			}
			deleteWeight--
			rw.dels++
			t.stats.finishedOps(db, 1, opDelete)
		}
	}
	t.stats.addMessage(fmt.Sprintf("( get:%d put:%d del:%d total:%d found:%d)",
		rw.reads, rw.writes, rw.dels, b.readWrites, rw.found))
	return nil
}

// randomReplaceKeys replaces keys by their next versions, as secondary indexes
// do: all data is in the keys.
func (b *benchmark) randomReplaceKeys(t *threadState) error {
	const versions = 50
	f := b.flags
	rw, err := b.newReadWriter()
	if err != nil {
		return err
	}
	counters := make([]uint32, f.Numdistinct)
	db := b.selectDB(t.rand)
	for i := range f.Numdistinct {
		if err := db.db.Put(&t.wo, b.keys.generate(uint64(i*versions), f.Num, rw.buf), rw.gen.generate()); err != nil {
			return t.fatal("Operation failed", "RandomReplaceKeys put failed", err)
		}
	}
	// It keeps the first versions alive until the end.
	snapshot := db.db.GetSnapshot()
	defer releaseSnapshot(db.db, snapshot)
	engine := newDefaultRandomEngine(1)
	normal := normalDistribution{mean: float64(f.Numdistinct) / 2, stddev: f.Stddev}
	d := t.shared.makeDuration(int64(f.Duration), f.Num, 0)
	for !d.finished(1) {
		id := max(0, min(f.Numdistinct-1, int64(normal.next(engine.canonical))))
		key := b.keys.generate(uint64(id*versions+int64(counters[id])), f.Num, rw.buf)
		var err error
		if f.UseSingleDeletes {
			err = db.db.SingleDelete(&t.wo, key)
		} else {
			err = db.db.Delete(&t.wo, key)
		}
		if err == nil {
			counters[id] = (counters[id] + 1) % versions
			err = db.db.Put(&t.wo, b.keys.generate(uint64(id*versions+int64(counters[id])), f.Num, rw.buf), nil)
		}
		if err != nil {
			return t.fatal("Operation failed", "RandomReplaceKeys delete/replace failed", err)
		}
		t.stats.finishedOps(db, 1, opOthers)
	}
	single := 0
	if f.UseSingleDeletes {
		single = 1
	}
	t.stats.addMessage(fmt.Sprintf("use single deletes: %d, standard deviation: %f\n", single, f.Stddev))
	return nil
}
