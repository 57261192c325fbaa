// Port of db/db_basic_test.cc (reads of several blocks, deadlines). Differs: a
// file of its own.

package db_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/util"
)

// parallelIO is a database of two tables, one of compressible values and one of
// others under keys with an "a" before, ten keys a block.
type parallelIO struct {
	*dbTest
	options        rocksdb.Options
	cache          rocksdb.Cache // nil: none
	compressed     bool
	fillCache      bool
	values         []string
	incompressible []string
}

// eachParallelIO runs f with each kind of cache and compression.
func eachParallelIO(t *testing.T, f func(t *testing.T, p *parallelIO)) {
	for i := range 16 {
		cached, compressed, fill, threads := i&1 != 0, i&2 != 0, i&4 != 0, uint32(1)
		if i&8 != 0 {
			threads = 4
		}
		t.Run(fmt.Sprintf("cache=%v/compressed=%v/fill=%v/threads=%d", cached, compressed, fill, threads), func(t *testing.T) {
			f(t, newParallelIO(t, 1, cached, compressed, fill, threads))
		})
	}
}

func newParallelIO(t *testing.T, families int, cached, compressed, fill bool, threads uint32) *parallelIO {
	t.Helper()
	x := newDBTest(t)
	p := &parallelIO{dbTest: x, compressed: compressed, fillCache: fill}
	o := x.currentOptions()
	table := rocksdb.DefaultBlockBasedTableOptions()
	if o.Compression = rocksdb.NoCompression; compressed {
		o.Compression = rocksdb.SnappyCompression
		o.CompressionOpts.ParallelThreads = threads
	}
	if table.NoBlockCache = !cached; cached {
		p.cache = rocksdb.NewLRUCache(1 << 20)
		table.BlockCache = p.cache
		table.PinL0FilterAndIndexBlocksInCache = true
	}
	table.FlushBlockPolicyFactory = keysPerBlock(10)
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	p.options = o
	x.reopen(o)
	if families > 1 {
		for i := range families {
			x.createColumnFamilies([]string{fmt.Sprintf("cf%d", i)}, o)
		}
	}
	rnd := util.NewRandom(301)
	for range 100 {
		p.values = append(p.values, rnd.RandomString(128)+dummyString(128, 0))
		p.incompressible = append(p.incompressible, rnd.RandomString(256)+"\x00")
	}
	for cf := range families {
		for i, v := range p.values {
			x.mustPut(cf, key(i), v)
		}
		x.flush(cf)
		for i, v := range p.incompressible {
			x.mustPut(cf, "a"+key(i), v)
		}
		x.flush(cf)
	}
	return p
}

// lookUp reads keys with a prefix and checks the values; it gives how many reads
// of files that took.
func (p *parallelIO) lookUp(prefix string, numbers ...int) int {
	p.Helper()
	ro := rocksdb.DefaultReadOptions()
	ro.FillCache = p.fillCache
	before := p.count.Counters().Reads.Ops.Load()
	var keys, want []string
	for _, n := range numbers {
		keys = append(keys, prefix+key(n))
		if prefix == "" {
			want = append(want, p.values[n])
		} else {
			want = append(want, p.incompressible[n])
		}
	}
	values, errs := p.multiGetRaw(0, ro, keys...)
	p.wantMulti(values, errs, want...)
	return int(p.count.Counters().Reads.Ops.Load() - before)
}

func TestDBBasicTestWithParallelIO_MultiGet(t *testing.T) {
	eachParallelIO(t, func(t *testing.T, p *parallelIO) {
		fromCache := p.fillCache && p.cache != nil
		want := func(reads, cached, compressed, plain int) {
			t.Helper()
			expected := plain
			switch {
			case fromCache:
				expected = cached
			case p.compressed:
				expected = compressed
			}
			if reads != expected {
				t.Fatalf("%d reads, not %d", reads, expected)
			}
		}
		p.lookUp("", 0, 50) // fills the cache
		want(p.lookUp("", 1, 51), 0, 2, 2)
		// Neighbours are read together where they are to be decompressed anyway.
		many := []int{1, 2, 15, 16, 55, 81, 82, 83, 84, 85}
		want(p.lookUp("", many...), 2, 3, 4)
		cold := 4
		if p.compressed {
			cold = 3
		}
		want(p.lookUp("a", many...), cold, 3, 4)
		want(p.lookUp("a", 1, 2, 15, 16, 55), 0, 2, 3)
	})
}

// fakeDirectFS opens files for direct reads without them, and says it has them.
type fakeDirectFS struct{ rocksdb.FileSystemWrapper }

type fakeDirectFile struct {
	rocksdb.FSRandomAccessFileWrapper
}

func (fakeDirectFile) UseDirectIO() bool               { return true }
func (fakeDirectFile) GetRequiredBufferAlignment() int { return 1 }

func (f *fakeDirectFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	o := *opts
	o.UseDirectReads = false
	file, err := f.Target().NewRandomAccessFile(name, &o)
	if err != nil {
		return nil, err
	}
	return &fakeDirectFile{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: file}}, nil
}

func TestDBBasicTestWithParallelIO_MultiGetDirectIO(t *testing.T) {
	eachParallelIO(t, func(t *testing.T, p *parallelIO) {
		o := p.onFS(p.options, &fakeDirectFS{rocksdb.FileSystemWrapper{FileSystem: p.env.GetFileSystem()}})
		o.UseDirectReads = true
		p.reopen(o)
		p.lookUp("", 0, 50)
		if p.cache != nil {
			p.cache.SetCapacity(0)
			p.cache.SetCapacity(1 << 20)
		}
		if reads := p.lookUp("", 1, 51); reads != 2 {
			t.Fatalf("%d reads", reads)
		}
	})
}

// deadlineFS checks that reads of files are given the time that is left, and
// makes the clock pass it at one of them.
type deadlineFS struct {
	rocksdb.FileSystemWrapper
	t                   *testing.T
	clock               *env.EmulatedSystemClock
	deadline, ioTimeout time.Duration
	trigger, ios        int // the number of the read to delay; reads so far
	timedOut, ignore    bool
	errorOnDelay        bool
}

type deadlineFile struct {
	rocksdb.FSRandomAccessFileWrapper
	fs *deadlineFS
}

func newDeadlineFS(x *dbTest, errorOnDelay bool) *deadlineFS {
	return &deadlineFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: x.env.GetFileSystem()}, t: x.T,
		clock: env.NewEmulatedSystemClock(env.Default().GetSystemClock(), true), errorOnDelay: errorOnDelay}
}

func (f *deadlineFS) options(x *dbTest, o rocksdb.Options) rocksdb.Options {
	o.Env = env.NewCompositeEnvWrapper(x.env, f, f.clock)
	return o
}

// arm gives a call ten milliseconds, or its reads five, which pass at the
// trigger-th read.
func (f *deadlineFS) arm(ro *rocksdb.ReadOptions, deadline, ioTimeout bool, trigger int) {
	if deadline {
		ro.Deadline = time.Duration(f.clock.NowMicros())*time.Microsecond + 10*time.Millisecond
	}
	if ioTimeout {
		ro.IOTimeout = 5 * time.Millisecond
	}
	f.deadline, f.ioTimeout, f.trigger, f.ios, f.timedOut = ro.Deadline, ro.IOTimeout, trigger, 0, false
}

func (f *deadlineFS) disarm() { f.deadline, f.ioTimeout, f.timedOut = 0, 0, false }

func (f *deadlineFS) check(o *rocksdb.IOOptions) {
	f.t.Helper()
	if f.ignore || f.deadline == 0 && f.ioTimeout == 0 {
		return
	}
	want := f.ioTimeout
	if f.deadline > 0 {
		want = f.deadline - time.Duration(f.clock.NowMicros())*time.Microsecond
		if f.ioTimeout > 0 {
			want = min(want, f.ioTimeout)
		}
	}
	if o.Timeout != want {
		f.t.Errorf("a read has %v, not %v", o.Timeout, want)
	}
}

func (f *deadlineFS) delay(o *rocksdb.IOOptions) error {
	switch {
	case f.timedOut:
		return rocksdb.TimedOut()
	case f.deadline == 0 && f.ioTimeout == 0 || f.ignore:
		return nil
	}
	f.ios++
	if f.ios-1 == f.trigger {
		f.clock.SleepForMicroseconds(int(o.Timeout.Microseconds()) + 1)
		f.timedOut = true
		if f.errorOnDelay {
			return rocksdb.TimedOut()
		}
	}
	return nil
}

func (f *deadlineFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	file, err := f.Target().NewRandomAccessFile(name, opts)
	if err != nil {
		return nil, err
	}
	f.check(&opts.IOOptions)
	if err := f.delay(&opts.IOOptions); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &deadlineFile{rocksdb.FSRandomAccessFileWrapper{FSRandomAccessFile: file}, f}, nil
}

func (r *deadlineFile) Read(offset uint64, n int, opts *rocksdb.IOOptions, scratch []byte) ([]byte, error) {
	r.fs.check(opts)
	data, err := r.FSRandomAccessFile.Read(offset, n, opts, scratch)
	if err == nil {
		err = r.fs.delay(opts)
	}
	return data, err
}

func (r *deadlineFile) MultiRead(reqs []rocksdb.FSReadRequest, opts *rocksdb.IOOptions) error {
	r.fs.check(opts)
	err := r.FSRandomAccessFile.MultiRead(reqs, opts)
	if err == nil {
		err = r.fs.delay(opts)
	}
	return err
}

func TestDBBasicTestMultiGetDeadline_MultiGetDeadlineExceeded(t *testing.T) {
	p := newParallelIO(t, 10, true, true, true, 1)
	fs := newDeadlineFS(p.dbTest, false)
	o := fs.options(p.dbTest, p.currentOptions())
	cache := rocksdb.NewLRUCache(1 << 20)
	table := rocksdb.DefaultBlockBasedTableOptions()
	table.BlockCache = cache
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(table)
	var names []string
	for i := range 10 {
		names = append(names, fmt.Sprintf("cf%d", i))
	}
	p.reopenWithColumnFamilies(append(names, "default"), o)
	check := func(errs []error, ok int) {
		t.Helper()
		for i, err := range errs {
			if i < ok && err != nil || i >= ok && !errors.Is(err, rocksdb.ErrTimedOut) {
				t.Fatalf("key %d of %d: %v", i, ok, err)
			}
		}
	}
	empty := func() {
		cache.SetCapacity(0)
		cache.SetCapacity(1 << 20)
	}
	// Two keys of each of five families: a family's keys are one batch, and the
	// time is looked at between batches.
	for _, c := range []struct{ trigger, ok int }{{0, 2}, {2, 6}, {3, 8}} {
		ro := rocksdb.DefaultReadOptions()
		fs.arm(&ro, true, false, c.trigger)
		var cfs []*rocksdb.ColumnFamily
		var keys [][]byte
		for i := range 10 {
			cfs, keys = append(cfs, p.cfs[i/2]), append(keys, []byte(key(i)))
		}
		values, errs := make([]rocksdb.PinnableSlice, 10), make([]error, 10)
		p.db.MultiGetCF(&ro, cfs, keys, values, errs)
		takeValues(values)
		check(errs, c.ok)
		empty()
	}
	// A hundred keys of one family are batches of 32.
	var keys []string
	for i := range 100 {
		keys = append(keys, key(i))
	}
	ro := rocksdb.DefaultReadOptions()
	fs.arm(&ro, true, false, 1)
	_, errs := p.multiGetRaw(0, ro, keys...)
	check(errs, 64)
	fs.disarm()
}
