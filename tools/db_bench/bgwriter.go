// Port of Benchmark::BGWriter and the timeseries benchmark of
// tools/db_bench_tool.cc.

package main

import (
	"bytes"
	"fmt"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// writesOver tells the background writer that the others have ended, or that
// it wrote enough.
func (b *benchmark) writesOver(t *threadState, written int64, hinted *bool) bool {
	f := b.flags
	if f.FinishAfterWrites && written == b.writes {
		b.out.errf("Exiting the writer after %d writes...\n", written)
		return true
	}
	if t.shared.fatal.Load() {
		return true
	}
	if t.shared.done.Load()+1 < int64(t.shared.total) {
		return false
	}
	if f.FinishAfterWrites {
		if !*hinted {
			b.out.errf("Reads are finished. Have %d more writes to do\n", b.writes-written)
			*hinted = true
		}
		return false
	}
	return true
}

// bgWriter writes, or merges, until the other workers have ended. Its counts
// are not added to theirs.
func (b *benchmark) bgWriter(t *threadState, op operationType) error {
	f := b.flags
	if err := b.needKeys(); err != nil {
		return err
	}
	gen := b.newGenerator()
	var limit *limiter
	if f.BenchmarkWriteRateLimit > 0 {
		var err error
		if limit, err = newLimiter(f.BenchmarkWriteRateLimit, rocksdb.WritesOnly); err != nil {
			return t.failed("benchmark_write_rate_limit", err)
		}
	}
	t.stats.excludeFromMerge = true
	buf, begin, end := b.keys.keyBuffer(), b.keys.keyBuffer(), b.keys.keyBuffer()
	written, size, deletions, hinted := int64(0), int64(0), 0, false
	keyspace := f.Num
	if f.BgwriterNum > 0 {
		keyspace = f.BgwriterNum
	}
	for {
		db := b.selectDB(t.rand)
		if b.writesOver(t, written, &hinted) {
			break
		}
		key := b.keys.generate(t.rand.Next()%uint64(keyspace), keyspace, buf)
		value := gen.generate()
		var err error
		if op == opWrite {
			err = t.put(db.db, key, value)
		} else {
			err = db.db.Merge(&t.wo, key, value)
		}
		written++
		if err != nil {
			return t.failed("put or merge error", err)
		}
		size += int64(len(key)+len(value)) + t.timestampBytes()
		t.stats.finishedOps(db, 1, opWrite)
		if limit != nil {
			limit.request(int64(len(key)+len(value)), rocksdb.OpTypeWrite)
		}
		if rangeDeletionDue(f, written) {
			deletions++
			if err := b.deleteRangeNow(t, db, begin, end); err != nil {
				return err
			}
			t.stats.finishedOps(db, 1, opWrite)
		}
	}
	if deletions > 0 {
		b.out.printf("Number of range deletions: %d\n", deletions)
	}
	t.stats.addBytes(size)
	return nil
}

// deleteRangeNow deletes a random range, or its keys one by one.
func (b *benchmark) deleteRangeNow(t *threadState, db *benchDB, begin, end []byte) error {
	f := b.flags
	n := t.rand.Next() % uint64(f.Num)
	if f.ExpandRangeTombstones {
		for offset := range uint64(f.RangeTombstoneWidth) {
			if err := t.delete(db.db, b.keys.generate(n+offset, f.Num, begin)); err != nil {
				return t.failed("delete error", err)
			}
		}
		return nil
	}
	if err := db.db.DeleteRange(&t.wo, b.keys.generate(n, f.Num, begin),
		b.keys.generate(n+uint64(f.RangeTombstoneWidth), f.Num, end)); err != nil {
		return t.failed("deleterange error", err)
	}
	return nil
}

// startTimeSeries starts timeseries' clock, and its filter.
func (b *benchmark) startTimeSeries() {
	b.timestamps = &timestampEmulator{}
	if b.flags.ExpireStyle == "compaction_filter" {
		b.out.printf("Compaction filter is used to remove expired data")
		b.expiryFilter = expiredTimeFilter{b.timestamps, b.flags.TimeRange}
	}
}

// timeSeries is one writer, and readers (or deleters) of single ids.
func (b *benchmark) timeSeries(t *threadState) error {
	if b.db.db == nil || b.keys.keySize < 16 {
		b.out.errf("db_bench: timeseries works on one database with keys of at least 16 bytes\n")
		return exitCode(1)
	}
	if t.tid > 0 {
		return b.timeSeriesRead(t, b.flags.ExpireStyle == "delete" && t.tid <= int(b.flags.NumDeletionThreads))
	}
	err := b.timeSeriesWrite(t)
	t.stats.stop()
	t.stats.print(b.out, "timeseries write")
	return err
}

// timeSeriesWrite writes keys of a random id and the time.
func (b *benchmark) timeSeriesWrite(t *threadState) error {
	f := b.flags
	gen := b.newGenerator()
	t.stats.excludeFromMerge = true
	var limit *limiter
	if f.BenchmarkWriteRateLimit > 0 {
		var err error
		if limit, err = newLimiter(f.BenchmarkWriteRateLimit, rocksdb.WritesOnly); err != nil {
			return t.failed("benchmark_write_rate_limit", err)
		}
	}
	buf := b.keys.keyBuffer()
	d := t.shared.makeDuration(int64(f.Duration), b.writes, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		key := b.keys.generate(t.rand.Next()%uint64(f.KeyIDRange), f.Num, buf)
		putBigEndian(key[8:16], b.timestamps.now.Load())
		b.timestamps.now.Add(1)
		value := gen.generate()
		if err := t.put(db.db, key, value); err != nil {
			return t.failed("put error", err)
		}
		t.stats.finishedOps(db, 1, opWrite)
		t.stats.addBytes(int64(len(key) + len(value)))
		if limit != nil {
			limit.request(int64(len(key)+len(value)), rocksdb.OpTypeWrite)
		}
	}
	return nil
}

// timeSeriesRead reads the entries of random ids, or deletes expired ones,
// until the writer has ended.
func (b *benchmark) timeSeriesRead(t *threadState, deletes bool) error {
	f := b.flags
	read, found, size := int64(0), int64(0), int64(0)
	buf := b.keys.keyBuffer()
	t.stampReads()
	it := b.db.db.NewIterator(&t.ro)
	defer func() { closeIterator(it) }()
	for t.shared.done.Load() == 0 && !t.shared.fatal.Load() {
		if !f.UseTailingIterator {
			closeIterator(it)
			t.stampReads()
			it = b.db.db.NewIterator(&t.ro)
		}
		key := b.keys.generate(t.rand.Next()%uint64(f.KeyIDRange), f.Num, buf)
		clear(key[len(key)-8:])
		read++
		seen := int64(0)
		for it.Seek(key); it.Valid() && bytes.HasPrefix(it.Key(), key); it.Next() {
			seen = 1
			if !deletes {
				size += int64(len(it.Key()) + len(it.Value()))
				t.stats.finishedOps(&b.db, 1, opRead)
				continue
			}
			size += int64(len(it.Key()))
			if !keyExpired(b.timestamps, it.Key(), f.TimeRange) {
				break
			}
			t.stats.finishedOps(&b.db, 1, opDelete)
			if err := t.delete(b.db.db, it.Key()); err != nil {
				return t.failed("delete error", err)
			}
		}
		if err := it.Status(); err != nil {
			return t.failed("Iterator error", err)
		}
		found += seen
		if l := t.shared.readRateLimiter; l != nil {
			l.request(1, rocksdb.OpTypeRead)
		}
	}
	t.stats.addBytes(size)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)", found, read))
	return nil
}
