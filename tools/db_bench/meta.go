// Port of the benchmarks that compact, flush and verify of
// tools/db_bench_tool.cc.

package main

import (
	"bytes"
	"time"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// compact is measured; upstream leaves its error alone, here it ends the run.
func (b *benchmark) compact(t *threadState) error {
	db := b.selectDB(t.rand)
	opts := rocksdb.DefaultCompactRangeOptions()
	opts.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	opts.MaxSubcompactions = uint32(b.flags.Subcompactions)
	if err := db.db.CompactRange(&opts, nil, nil); err != nil {
		return t.fatal("CompactRange failed", "Compact failed", err)
	}
	return nil
}

func (b *benchmark) compactAll() error {
	opts := rocksdb.DefaultCompactRangeOptions()
	opts.MaxSubcompactions = uint32(b.flags.Subcompactions)
	return b.each(func(d *benchDB, _ bool) error {
		if err := d.db.CompactRange(&opts, nil, nil); err != nil {
			b.out.errf("CompactRange failed: %v\n", err)
			return exitCode(1)
		}
		return nil
	})
}

// waitForCompactionGrace lets background goroutines wake; a variable for tests.
var waitForCompactionGrace = 5 * time.Second

func (b *benchmark) waitForCompaction() error {
	time.Sleep(waitForCompactionGrace)
	return b.each(func(d *benchDB, _ bool) error {
		b.out.printf("waitforcompaction(%s): started\n", d.path)
		status := "OK"
		if err := d.db.WaitForCompact(&rocksdb.WaitForCompactOptions{}); err != nil {
			status = err.Error()
		}
		b.out.printf("waitforcompaction(%s): finished with status (%s)\n", d.path, status)
		return nil
	})
}

func (b *benchmark) flush() error {
	opts := rocksdb.DefaultFlushOptions()
	if err := b.each(func(d *benchDB, _ bool) error {
		if err := d.flush(&opts); err != nil {
			b.out.errf("Flush failed: %v\n", err)
			return exitCode(1)
		}
		return nil
	}); err != nil {
		return err
	}
	b.out.printf("flush memtable\n")
	return nil
}

func (b *benchmark) resetStats() error {
	return b.each(func(d *benchDB, _ bool) error { return resetStats(d.db) })
}

// verifyOptions are the read options of the checksum benchmarks.
func (b *benchmark) verifyOptions() rocksdb.ReadOptions {
	f := b.flags
	ro := rocksdb.DefaultReadOptions()
	ro.AdaptiveReadahead, ro.AsyncIO = f.AdaptiveReadahead, f.AsyncIO
	if f.RateLimitUserOps {
		ro.RateLimiterPriority = rocksdb.IOUser
	}
	ro.ReadaheadSize = uint64(f.ReadaheadSize)
	ro.AutoReadaheadSize = f.AutoReadaheadSize
	return ro
}

func (b *benchmark) verifyChecksum(t *threadState) error {
	ro := b.verifyOptions()
	if err := verifyChecksum(b.selectDB(t.rand).db, &ro); err != nil {
		return t.fatal("VerifyChecksum() failed", "VerifyChecksum failed", err)
	}
	return nil
}

func (b *benchmark) verifyFileChecksums(t *threadState) error {
	ro := b.verifyOptions()
	if err := verifyFileChecksums(b.selectDB(t.rand).db, &ro); err != nil {
		return t.fatal("VerifyFileChecksums() failed", "VerifyFileChecksums failed", err)
	}
	return nil
}

// verifyDBFromDB compares the database with another one, read-only: by Get,
// and entry by entry. Where upstream asserts, a difference ends the run.
func (b *benchmark) verifyDBFromDB(path string) (err error) {
	truth, err := openForReadOnly(path, &b.openOptions)
	if err != nil {
		b.out.errf("open error: %v\n", err)
		return exitCode(1)
	}
	defer func() {
		if e := truth.Close(); e != nil && err == nil {
			err = e
		}
	}()
	if b.db.db == nil {
		b.out.errf("db_bench: verify works on one database\n")
		return exitCode(1)
	}
	differs := func(what string, key []byte) error {
		b.out.errf("verify: %s, key %x\n", what, key)
		return exitCode(1)
	}
	ro := rocksdb.DefaultReadOptions()
	ro.TotalOrderSeek = true
	want, got := truth.NewIterator(&ro), b.db.db.NewIterator(&ro)
	defer closeIterator(want)
	defer closeIterator(got)
	b.out.errf("Verifying db >= truth_db with ::Get...\n")
	var v rocksdb.PinnableSlice
	for want.SeekToFirst(); want.Valid(); want.Next() {
		if err := b.db.db.GetInto(&ro, want.Key(), &v); err != nil {
			return differs(err.Error(), want.Key())
		}
		same := bytes.Equal(v.Data(), want.Value())
		v.Release()
		if !same {
			return differs("another value", want.Key())
		}
	}
	b.out.errf("Verifying db == truth_db...\n")
	want.SeekToFirst()
	for got.SeekToFirst(); got.Valid(); got.Next() {
		if !want.Valid() {
			return differs("too many keys", got.Key())
		}
		if !bytes.Equal(got.Key(), want.Key()) || !bytes.Equal(got.Value(), want.Value()) {
			return differs("another entry", got.Key())
		}
		want.Next()
	}
	if want.Valid() {
		return differs("too few keys", want.Key())
	}
	for _, it := range []*Iterator{want, got} {
		if err := it.Status(); err != nil {
			b.out.errf("verify: %v\n", err)
			return exitCode(1)
		}
	}
	b.out.errf("...Verified\n")
	return nil
}
