// Port of the iterator benchmarks of tools/db_bench_tool.cc.

package main

import (
	"bytes"
	"fmt"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func (b *benchmark) iteratorCreation(t *threadState) error {
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		db := b.selectDB(t.rand)
		t.stampReads()
		it := db.db.NewIterator(&t.ro)
		err := it.Status()
		closeIterator(it)
		if err != nil {
			return t.failed("Iterator error", err)
		}
		t.stats.finishedOps(db, 1, opOthers)
	}
	return nil
}

// seeker is one worker of seekrandom.
type seeker struct {
	b       *benchmark
	t       *threadState
	dbs     []*benchDB
	tailing []*Iterator // with --use_tailing_iterator, one a database
	keyBuf  []byte
	bound   []byte

	read, found, bytes int64
	value              [256]byte
}

func (b *benchmark) seekRandom(t *threadState) error {
	if err := b.needKeys(); err != nil {
		return err
	}
	t.stampReads()
	s := &seeker{b: b, t: t, keyBuf: b.keys.keyBuffer(), bound: b.keys.keyBuffer()}
	if err := b.each(func(d *benchDB, _ bool) error {
		s.dbs = append(s.dbs, d)
		if b.flags.UseTailingIterator {
			s.tailing = append(s.tailing, d.db.NewIterator(&t.ro))
		}
		return nil
	}); err != nil {
		return err
	}
	defer func() {
		for _, it := range s.tailing {
			closeIterator(it)
		}
	}()
	t.ro.AutoPrefixMode = b.flags.AutoPrefixMode
	release := b.withSnapshot(s.dbs[0].db, &t.ro)
	defer release()
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		if err := s.one(); err != nil {
			return err
		}
	}
	t.stats.addBytes(s.bytes)
	t.stats.addMessage(fmt.Sprintf("(%d of %d found)\n", s.found, s.read))
	return nil
}

// one seeks to a random key and reads on from there.
func (s *seeker) one() error {
	b, t, f := s.b, s.t, s.b.flags
	pos := int64(t.rand.Next() % uint64(f.Num))
	key := b.keys.generate(uint64(pos), f.Num, s.keyBuf)
	if f.SeekMissingPrefix {
		// Behind the number comes '0': '1' makes a prefix that is not there. An
		// existing key is shared.
		key = append(s.keyBuf[:0], key...)
		key[8] = '1'
	}
	s.setBounds(pos, key)
	at := uint64(0)
	if len(s.dbs) > 1 {
		at = t.rand.Next() % uint64(len(s.dbs))
	}
	db := s.dbs[at]
	var it *Iterator
	if s.tailing != nil {
		it = s.tailing[at]
	} else {
		it = db.db.NewIterator(&t.ro)
	}
	it.Seek(key)
	s.read++
	if it.Valid() && bytes.Equal(it.Key(), key) {
		s.found++
	}
	for j := int32(0); j < f.SeekNexts && it.Valid(); j++ {
		v := it.Value()
		copy(s.value[:], v)
		s.bytes += int64(len(it.Key()) + len(v))
		s.step(it)
	}
	for j := int32(0); j < f.SeekNextsToDelete && it.Valid(); j++ {
		if err := t.delete(db.db, it.Key()); err != nil {
			b.out.errf("Delete failed: %v\n", err)
		}
		s.step(it)
	}
	err := it.Status()
	if s.tailing == nil {
		closeIterator(it)
	}
	if err != nil {
		return t.failed("Iterator error", err)
	}
	t.limitReads(s.read, 256)
	t.stats.finishedOps(db, 1, opSeek)
	return nil
}

func (s *seeker) step(it *Iterator) {
	if s.b.flags.ReverseIterator {
		it.Prev()
	} else {
		it.Next()
	}
}

// setBounds sets the bounds that flags ask for, for a seek to pos.
func (s *seeker) setBounds(pos int64, key []byte) {
	b, f, ro := s.b, s.b.flags, &s.t.ro
	switch {
	case f.MaxScanDistance != 0 && f.ReverseIterator:
		ro.IterateLowerBound = b.keys.generate(uint64(max(0, pos-f.MaxScanDistance)), f.Num, s.bound)
	case f.MaxScanDistance != 0:
		ro.IterateUpperBound = b.keys.generate(uint64(min(f.Num, pos+f.MaxScanDistance)), f.Num, s.bound)
	case f.AutoPrefixMode && f.PrefixSize != 0 && !f.ReverseIterator:
		// The next prefix.
		ro.IterateUpperBound = append(s.bound[:0], key[:f.PrefixSize]...)
		ro.IterateUpperBound[f.PrefixSize-1]++
	}
}

// writeSeqSeekSeq fills in order, then seeks to each key; only the seeks count.
func (b *benchmark) writeSeqSeekSeq(t *threadState) error {
	f := b.flags
	if err := b.doWrite(t, writeSequential, f.Num); err != nil {
		return err
	}
	t.stats.begin(t.tid)
	db := b.selectDB(t.rand)
	release := b.withSnapshot(db.db, &t.ro)
	defer release()
	t.stampReads()
	it := db.db.NewIterator(&t.ro)
	defer closeIterator(it)
	buf := b.keys.keyBuffer()
	check := func(key []byte) error {
		t.stats.finishedOps(db, 1, opSeek)
		if it.Valid() && bytes.Equal(it.Key(), key) {
			return nil
		}
		if err := it.Status(); err != nil {
			return t.failed("Iterator error", err)
		}
		return t.failed("fillseekseq", rocksdb.Corruptionf("key %x is missing", key))
	}
	for i := int64(0); i < f.Num; i++ {
		key := b.keys.generate(uint64(i), f.Num, buf)
		it.Seek(key)
		if err := check(key); err != nil {
			return err
		}
		for j := int32(0); j < f.SeekNexts && i+1 < f.Num; j++ {
			if f.ReverseIterator {
				it.Prev()
			} else {
				it.Next()
			}
			i++
			key = b.keys.generate(uint64(i), f.Num, buf)
			if err := check(key); err != nil {
				return err
			}
		}
		it.Seek(key)
		if err := check(key); err != nil {
			return err
		}
	}
	return nil
}

// bgScan reads the whole database over and over, as one worker of
// readwhilescanning.
func (b *benchmark) bgScan(t *threadState) error {
	if b.flags.NumMultiDB > 0 {
		b.out.errf("Not supporting multiple DBs.\n")
		return exitCode(1)
	}
	release := b.withSnapshot(b.db.db, &t.ro)
	defer release()
	t.stampReads()
	it := b.db.db.NewIterator(&t.ro)
	defer closeIterator(it)
	b.out.errf("num reads to do %d\n", uint64(b.reads))
	d := t.shared.makeDuration(int64(b.flags.Duration), b.reads, 0)
	for !d.finished(1) {
		if it.Valid() {
			it.Next()
		} else if err := it.Status(); err != nil {
			return t.failed("Iterator error", err)
		} else {
			it.SeekToFirst()
		}
		t.stats.finishedOps(&b.db, 1, opSeek)
	}
	return nil
}
