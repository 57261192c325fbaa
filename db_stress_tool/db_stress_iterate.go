// Port of db_stress_tool/db_stress_test_base.cc (TestIterate, TestMultiScan,
// VerifyIterator). Differs: bounds are changed by SetBounds, for iterators of one
// family that were made without them.

package dbstresstool

import (
	"bytes"
	"fmt"
	"strings"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/util/iodispatcher"
)

// stressIterator is what iterators over one and over several families have in
// common.
type stressIterator interface {
	Valid() bool
	Status() error
	Key() []byte
	SeekToFirst()
	SeekToLast()
	Seek(target []byte)
	SeekForPrev(target []byte)
	Next()
	Prev()
	PrepareValue() bool
	Close() error
}

// columnsIterator is one whose entries are not by attribute group.
type columnsIterator interface {
	stressIterator
	Value() []byte
	Columns() rocksdb.WideColumns
}

// newIterator makes an iterator over the first of the families, or over all.
func (s *stressTest) newIterator(ro *rocksdb.ReadOptions, cfs []int) columnsIterator {
	if s.flags.UseMultiCFIterator {
		return s.db.NewCoalescingIterator(ro, s.handlesOf(cfs))
	}
	return s.db.NewIterator(ro, s.cf(cfs[0]))
}

func (s *stressTest) handlesOf(cfs []int) []rocksdb.ColumnFamilyHandle {
	handles := make([]rocksdb.ColumnFamilyHandle, len(cfs))
	for i, cf := range cfs {
		handles[i] = s.cf(cf)
	}
	return handles
}

// closeIterator closes one and lets its error be: Status told it.
func (s *stressTest) closeIterator(it stressIterator) { _ = it.Close() }

type iterOp uint8

const (
	opSeek iterOp = iota
	opSeekForPrev
	opStep
	opSeekToFirst
	opSeekToLast
)

// iterPair is an iterator and the one it is compared with: over the same
// snapshot, in total order and without bounds.
type iterPair struct {
	s        *stressTest
	t        *threadState
	cf       int // of the control
	ro       *rocksdb.ReadOptions
	it       stressIterator
	ctl      *dbimpl.Iterator
	seekKey  []byte
	log      *strings.Builder
	diverged bool // nothing is to be compared any more
}

// prepare loads the value, where that is put off.
func (p *iterPair) prepare() {
	if p.ro.AllowUnpreparedValue && p.it.Valid() {
		p.log.WriteByte('*')
		p.it.PrepareValue()
	}
}

// injectedError is the error of either iterator that a fault explains.
func (p *iterPair) injectedError() error {
	if err := p.it.Status(); isInjected(err) {
		return err
	}
	if err := p.ctl.Status(); isInjected(err) {
		return err
	}
	return nil
}

func (p *iterPair) fail(format string, args ...any) {
	p.diverged = true
	p.t.stats.errors++
	bounds := fmt.Sprintf("pin_data: %v, total_order_seek: %v, auto_prefix_mode: %v, iterate_upper_bound: %X, iterate_lower_bound: %X, allow_unprepared_value: %v, async_io: %v, readahead_size: %d",
		p.ro.PinData, p.ro.TotalOrderSeek, p.ro.AutoPrefixMode, p.ro.IterateUpperBound, p.ro.IterateLowerBound, p.ro.AllowUnpreparedValue, p.ro.AsyncIO, p.ro.ReadaheadSize)
	state := func(it stressIterator) string {
		if it.Valid() {
			return fmt.Sprintf("at %X", it.Key())
		}
		return fmt.Sprintf("not valid, %v", it.Status())
	}
	p.s.abort("VerifyIterator failed. Control CF %s. %s; iterator %s; control iterator %s; ops %s; seek key %X; under specified iterator ReadOptions: %s",
		p.s.cf(p.cf).GetName(), fmt.Sprintf(format, args...), state(p.it), state(p.ctl), p.log, p.seekKey, bounds)
}

// undefined tells of bounds under which the seek's result is not defined.
func (p *iterPair) undefined(op iterOp) bool {
	lo, hi := p.ro.IterateLowerBound, p.ro.IterateUpperBound
	switch {
	case op == opSeekToFirst && lo != nil, op == opSeekToLast && hi != nil:
		return true
	case op == opSeek && lo != nil && (bytes.Compare(lo, p.seekKey) >= 0 || hi != nil && bytes.Compare(lo, hi) >= 0):
		return true
	case op == opSeekForPrev && hi != nil && (bytes.Compare(hi, p.seekKey) <= 0 || lo != nil && bytes.Compare(lo, hi) >= 0):
		return true
	}
	pe := p.s.options.PrefixExtractor
	if !p.ro.TotalOrderSeek && pe != nil && lo != nil {
		return !pe.InDomain(p.seekKey) || !pe.InDomain(lo) || !bytes.Equal(pe.Transform(p.seekKey), pe.Transform(lo))
	}
	return false
}

// verify compares the two after op.
func (p *iterPair) verify(op iterOp) {
	if p.diverged {
		return
	}
	if p.ro.IterStartTS != nil || p.undefined(op) { // versions are not compared
		p.diverged = true
		return
	}
	pe := p.s.options.PrefixExtractor
	if p.ro.TotalOrderSeek || p.ro.AutoPrefixMode {
		pe = nil
	}
	samePrefix := func(key []byte) bool {
		return pe.InDomain(key) && bytes.Equal(pe.Transform(key), pe.Transform(p.seekKey))
	}
	switch {
	case p.it.Valid() && !p.ctl.Valid():
		if pe != nil && (!pe.InDomain(p.seekKey) || !samePrefix(p.it.Key())) {
			p.diverged = true
			return
		}
		p.fail("Control iterator is invalid but iterator has a key")
		return
	case p.ctl.Valid():
		key := p.ctl.Key()
		if pe != nil {
			if !pe.InDomain(p.seekKey) {
				p.diverged = true
				return
			}
			if !samePrefix(key) {
				// The prefix is exhausted.
				if p.it.Valid() && samePrefix(p.it.Key()) {
					p.fail("Iterator stays in prefix but control doesn't")
				}
				p.diverged = true
				return
			}
		}
		inBounds := (p.ro.IterateUpperBound == nil || bytes.Compare(key, p.ro.IterateUpperBound) < 0) &&
			(p.ro.IterateLowerBound == nil || bytes.Compare(key, p.ro.IterateLowerBound) > 0)
		if p.it.Valid() && !bytes.Equal(p.it.Key(), key) || !p.it.Valid() && inBounds {
			p.fail("Iterator diverged from control iterator")
			return
		}
		if it, ok := p.it.(columnsIterator); ok && it.Valid() && !bytes.Equal(it.Value(), p.ctl.Value()) {
			p.fail("Values differ: %X and %X", it.Value(), p.ctl.Value())
			return
		}
	}
	if p.it.Valid() && !p.s.flags.TestBatchesSnapshots {
		p.verifyColumns()
	}
}

// verifyColumns checks the present entry for itself.
func (p *iterPair) verifyColumns() {
	f := p.s.flags
	switch it := p.it.(type) {
	case *dbimpl.AttributeGroupIterator:
		for _, g := range it.AttributeGroups() {
			if !f.verifyWideColumns(defaultColumn(g.Columns), g.Columns) {
				p.fail("Columns of CF %s inconsistent for iterator: %X", g.ColumnFamily.GetName(), g.Columns)
				return
			}
		}
	case columnsIterator:
		if !f.verifyWideColumns(it.Value(), it.Columns()) {
			p.fail("Value and columns inconsistent for iterator: value: %X, columns: %X", it.Value(), it.Columns())
		}
	}
}

func (p *iterPair) seek(op iterOp, key []byte) {
	p.seekKey = key
	switch op {
	case opSeekToFirst:
		p.it.SeekToFirst()
		p.ctl.SeekToFirst()
		p.log.WriteString("STF ")
	case opSeekToLast:
		p.it.SeekToLast()
		p.ctl.SeekToLast()
		p.log.WriteString("STL ")
	case opSeekForPrev:
		p.it.SeekForPrev(key)
		p.ctl.SeekForPrev(key)
		fmt.Fprintf(p.log, "SFP %X ", key)
	default:
		p.it.Seek(key)
		p.ctl.Seek(key)
		fmt.Fprintf(p.log, "S %X ", key)
	}
}

func (p *iterPair) step(forward bool) {
	if forward {
		p.it.Next()
		if !p.diverged {
			p.ctl.Next()
		}
		p.log.WriteByte('N')
		return
	}
	p.it.Prev()
	if !p.diverged {
		p.ctl.Prev()
	}
	p.log.WriteByte('P')
}

const maxIterLog = 10000

// testIterate seeks and steps at random, beside a control iterator.
func (s *stressTest) testIterate(t *threadState, base *rocksdb.ReadOptions, cfs []int, randKeys []int64) error {
	f := s.flags
	snap := s.db.GetSnapshot()
	defer s.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	s.stampScan(t, &ro)
	ro.PinData, ro.BackgroundPurgeOnIteratorCleanup = t.rand.OneIn(2), t.rand.OneIn(2)
	total := s.options.PrefixExtractor == nil
	if t.rand.OneIn(16) {
		ro.TotalOrderSeek, total = true, true
	} else if t.rand.OneIn(4) {
		ro.TotalOrderSeek, ro.AutoPrefixMode, total = t.rand.OneIn(2), true, true
	}
	randomKey := func() []byte { return s.tool.keys.key(s.generateOneKey(t, f.OpsPerThread)) }
	wantUpper, wantLower := f.UseSqfcForRangeQueries != t.rand.OneIn(16), f.UseSqfcForRangeQueries != t.rand.OneIn(16)
	// Bounds either stand from the start, or change with each seek.
	changing := !f.UseMultiCFIterator && !f.UseSqfcForRangeQueries && t.rand.OneIn(2)
	if wantUpper && !changing {
		ro.IterateUpperBound = randomKey()
	}
	if wantLower && !changing {
		ro.IterateLowerBound = randomKey()
	}
	if ro.IterateUpperBound != nil && ro.IterateLowerBound != nil {
		ro.TableFilter = s.queryFilter(ro.IterateLowerBound, ro.IterateUpperBound)
	}
	var it stressIterator
	if f.UseMultiCFIterator && f.UseAttributeGroup {
		it = s.db.NewAttributeGroupIterator(&ro, s.handlesOf(cfs))
	} else {
		it = s.newIterator(&ro, cfs)
	}
	defer s.closeIterator(it)
	var keys [][]byte
	if t.rand.OneIn(16) {
		keys = s.boundaryKeys(t, cfs[0], len(randKeys))
	}
	if keys == nil {
		for _, k := range randKeys {
			keys = append(keys, s.tool.keys.key(k))
		}
	}
	var log strings.Builder
	for _, key := range keys {
		if log.Len() > maxIterLog {
			log.Reset()
			log.WriteString("(cleared...)\n")
		}
		if changing && (wantUpper || wantLower) {
			ro.IterateUpperBound, ro.IterateLowerBound = nil, nil
			if wantUpper {
				ro.IterateUpperBound = randomKey()
			}
			if wantLower {
				ro.IterateLowerBound = randomKey()
			}
			it.(*dbimpl.Iterator).SetBounds(ro.IterateLowerBound, ro.IterateUpperBound)
			log.WriteString("SetBounds ")
		}
		if err := s.iterateFrom(t, &ro, it, snap, cfs[0], key, total, &log); err != nil {
			return err
		}
		t.stats.iterations++
		log.WriteString("; ")
		if t.shared.failed() {
			break
		}
	}
	return nil
}

func (s *stressTest) iterateFrom(t *threadState, ro *rocksdb.ReadOptions, it stressIterator, snap rocksdb.Snapshot, cf int, key []byte, total bool, log *strings.Builder) error {
	f := s.flags
	cmp := rocksdb.DefaultReadOptions()
	cmp.Snapshot, cmp.TotalOrderSeek = snap, true
	cmp.Timestamp, cmp.IterStartTS = ro.Timestamp, ro.IterStartTS
	control := s.mode.controlFamily(t, cf)
	p := &iterPair{s: s, t: t, cf: control, ro: ro, it: it, ctl: s.db.NewIterator(&cmp, s.cf(control)), log: log}
	defer s.closeIterator(p.ctl)
	if one, ok := it.(*dbimpl.Iterator); ok && t.rand.OneIn(4) {
		if err := one.Refresh(snap); err != nil {
			return err
		}
		log.WriteString("Refresh ")
	}
	op := opSeek
	switch {
	case total && f.TestBackwardScan && t.rand.OneIn(100):
		op = opSeekToFirst
	case total && f.TestBackwardScan && t.rand.OneIn(100):
		op = opSeekToLast
	case f.TestBackwardScan && t.rand.OneIn(8):
		op = opSeekForPrev
	}
	p.seek(op, key)
	p.prepare()
	if err := p.injectedError(); err != nil {
		return err
	}
	p.verify(op)
	forwardOnly := f.Memtablerep == "prefix_hash" && !total || !f.TestBackwardScan
	for i := uint64(0); i < f.NumIterations && it.Valid(); i++ {
		p.step(forwardOnly || t.rand.OneIn(2))
		p.prepare()
		if err := p.injectedError(); err != nil {
			return err
		}
		p.verify(opStep)
	}
	return nil
}

// testMultiScan scans prepared ranges, beside a control iterator.
func (s *stressTest) testMultiScan(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) error {
	f := s.flags
	snap := s.db.GetSnapshot()
	defer s.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	s.stampScan(t, &ro)
	ro.PinData, ro.BackgroundPurgeOnIteratorCleanup = t.rand.OneIn(2), t.rand.OneIn(2)
	args := rocksdb.DefaultMultiScanArgs(util.BytewiseComparator())
	args.Reverse = f.MultiscanReverse
	args.UseAsyncIO = f.MultiscanUseAsyncIO && rocksdb.CheckFSFeatureSupport(s.env.GetFileSystem(), rocksdb.AsyncIO)
	if n := f.MultiscanMaxPrefetchMemoryBytes; n > 0 {
		args.IODispatcher = iodispatcher.NewIODispatcher(&rocksdb.IODispatcherOptions{MaxPrefetchMemoryBytes: n})
	}
	for i := 0; i+1 < len(keys); i += 2 {
		args.Insert(s.tool.keys.key(keys[i]), s.tool.keys.key(keys[i+1]))
	}
	it := s.db.NewIterator(&ro, s.cf(cfs[0]))
	defer s.closeIterator(it)
	it.Prepare(&args)
	var log strings.Builder
	// Some scans stop early, and go on with the next range or not at all.
	early := t.rand.OneIn(2)
	abandon := early && t.rand.OneIn(2)
	for i := range args.Ranges {
		if log.Len() > 5*maxIterLog {
			log.Reset()
			log.WriteString("(cleared...)\n")
		}
		stopped, err := s.scanRange(t, &ro, it, snap, cfs[0], &args, i, early, &log)
		if err != nil {
			return err
		}
		t.stats.iterations++
		log.WriteString("; ")
		if t.shared.failed() || stopped && abandon {
			break
		}
	}
	return nil
}

// scanRange scans range i; stopped tells that it did not go to the range's end.
func (s *stressTest) scanRange(t *threadState, ro *rocksdb.ReadOptions, it *dbimpl.Iterator, snap rocksdb.Snapshot, cf int, args *rocksdb.MultiScanArgs, i int, early bool, log *strings.Builder) (stopped bool, err error) {
	r := args.Ranges[i].Range
	cmp := rocksdb.DefaultReadOptions()
	cmp.Snapshot, cmp.TotalOrderSeek = snap, true
	cmp.Timestamp, cmp.IterStartTS = ro.Timestamp, ro.IterStartTS
	control := s.mode.controlFamily(t, cf)
	p := &iterPair{s: s, t: t, cf: control, ro: ro, it: it, ctl: s.db.NewIterator(&cmp, s.cf(control)), log: log}
	defer s.closeIterator(p.ctl)
	op := opSeek
	if args.Reverse {
		ro.IterateLowerBound, ro.IterateUpperBound = r.Start, r.Limit
		it.SetBounds(r.Start, r.Limit)
		op = opSeekForPrev
		p.seek(op, r.Limit)
		for p.ctl.Valid() && bytes.Compare(p.ctl.Key(), r.Limit) >= 0 {
			p.ctl.Prev()
		}
	} else {
		ro.IterateUpperBound = r.Limit
		it.SetBounds(nil, r.Limit)
		p.seek(op, r.Start)
	}
	verify := func(op iterOp) {
		if args.Reverse {
			p.verifyReverse(r.Start)
		} else {
			p.verify(op)
		}
	}
	p.prepare()
	if err := p.injectedError(); err != nil {
		return false, err
	}
	verify(op)
	for n := uint64(0); it.Valid(); n++ {
		if early && n >= s.flags.NumIterations {
			log.WriteByte('E')
			return true, nil
		}
		p.step(!args.Reverse)
		p.prepare()
		if err := p.injectedError(); err != nil {
			return false, err
		}
		verify(opStep)
		if p.diverged {
			return true, nil
		}
	}
	return false, it.Status()
}

// verifyReverse compares the two in a range that is scanned from its end.
func (p *iterPair) verifyReverse(start []byte) {
	if p.diverged {
		return
	}
	if err := p.it.Status(); err != nil {
		p.fail("Reverse MultiScan error: %v", err)
		return
	}
	valid := p.ctl.Valid() && bytes.Compare(p.ctl.Key(), start) >= 0
	if p.it.Valid() != valid || valid && !bytes.Equal(p.it.Key(), p.ctl.Key()) {
		p.fail("Reverse MultiScan diverged from control iterator")
		return
	}
	if valid {
		p.verifyColumns()
	}
}
