// Port of util/io_dispatcher_test.cc (the reads that files see, and blocks in the
// memory of a ReadScopedBlockBufferProvider). Differs: what is not compressed is
// parsed when it is asked for.

//go:build syncpoint

package blockbased_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// readFS tells what its files are asked to read. With hold, asynchronous reads
// wait for Poll or AbortIO; with strayFirst, Poll ends another one before.
type readFS struct {
	rocksdb.FileSystem
	hold, strayFirst bool

	multiReads     [][]uint64 // offsets
	asyncReads     int
	pending        []*heldRead
	aborts, strays int
}

type readFile struct {
	rocksdb.FSRandomAccessFile
	fs *readFS
}

// heldRead is a read that waits.
type heldRead struct {
	f    *readFile
	req  *rocksdb.FSReadRequest
	done func(*rocksdb.FSReadRequest)
}

func (*heldRead) Release() {}

func newReadFS() *readFS { return &readFS{FileSystem: env.DefaultFileSystem()} }

func (fs *readFS) NewRandomAccessFile(name string, o *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	f, err := fs.FileSystem.NewRandomAccessFile(name, o)
	if err != nil {
		return nil, err
	}
	return &readFile{f, fs}, nil
}

func (f *readFile) MultiRead(reqs []rocksdb.FSReadRequest, o *rocksdb.IOOptions) error {
	var offsets []uint64
	for i := range reqs {
		offsets = append(offsets, reqs[i].Offset)
	}
	f.fs.multiReads = append(f.fs.multiReads, offsets)
	return f.FSRandomAccessFile.MultiRead(reqs, o)
}

func (f *readFile) ReadAsync(req *rocksdb.FSReadRequest, o *rocksdb.IOOptions, cb func(*rocksdb.FSReadRequest)) (rocksdb.IOHandle, error) {
	f.fs.asyncReads++
	if !f.fs.hold {
		return f.FSRandomAccessFile.ReadAsync(req, o, cb)
	}
	h := &heldRead{f, req, cb}
	f.fs.pending = append(f.fs.pending, h)
	return h, nil
}

// end completes a read unless that was done.
func (fs *readFS) end(h *heldRead, aborted bool) bool {
	i := slices.Index(fs.pending, h)
	if i < 0 {
		return false
	}
	fs.pending = slices.Delete(fs.pending, i, i+1)
	if aborted {
		h.req.Status = rocksdb.Aborted("the read")
	} else {
		h.req.Result, h.req.Status = h.f.Read(h.req.Offset, h.req.Len, nil, h.req.Scratch)
	}
	h.done(h.req)
	return true
}

func (fs *readFS) Poll(handles []rocksdb.IOHandle, n int) error {
	if !fs.hold {
		return fs.FileSystem.Poll(handles, n)
	}
	for _, h := range handles {
		if other := slices.IndexFunc(fs.pending, func(p *heldRead) bool { return rocksdb.IOHandle(p) != h }); fs.strayFirst && other >= 0 {
			fs.strays++
			fs.end(fs.pending[other], false)
		}
		fs.end(h.(*heldRead), false)
	}
	return nil
}

func (fs *readFS) AbortIO(handles []rocksdb.IOHandle) error {
	if !fs.hold {
		return fs.FileSystem.AbortIO(handles)
	}
	for _, h := range handles {
		if fs.end(h.(*heldRead), true) {
			fs.aborts++
		}
	}
	return nil
}

// lender lends memory, and knows what it has not back yet.
type lender struct {
	mu          sync.Mutex
	live        map[*byte]int
	allocations int
	alignment   int // the largest asked for
	unreturned  bool
}

func (l *lender) Allocate(size, alignment int) (rocksdb.BlockBufferLease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := (size + alignment - 1) / alignment * alignment
	b := make([]byte, n+alignment)
	skip := (alignment - int(uintptr(unsafe.Pointer(&b[0])))%alignment) % alignment
	b = b[skip : skip+n]
	l.allocations++
	l.alignment = max(l.alignment, alignment)
	if l.unreturned {
		return rocksdb.BlockBufferLease{Data: b}, nil
	}
	if l.live == nil {
		l.live = map[*byte]int{}
	}
	l.live[&b[0]] = n
	return rocksdb.BlockBufferLease{Data: b, Release: func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.live[&b[0]] == 0 {
			panic("memory comes back twice")
		}
		delete(l.live, &b[0])
	}}, nil
}

func (l *lender) owns(b []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for p, n := range l.live {
		if from := uintptr(unsafe.Pointer(p)); at >= from && at+uintptr(len(b)) <= from+uintptr(n) {
			return true
		}
	}
	return false
}

// lent gives the test's scans memory of a lender, which is to have it back at the
// end.
func (x *dispatchTest) lent() *lender {
	l := new(lender)
	x.ro.ReadScopedBlockBufferProvider = l
	x.Cleanup(func() {
		if len(l.live) > 0 {
			x.Errorf("%d pieces of memory did not come back", len(l.live))
		}
	})
	return l
}

// wantLent reads block i, which is to lie in l's memory.
func (x *dispatchTest) wantLent(s *blockbased.ReadSet, l *lender, i int) {
	x.Helper()
	e, err := s.ReadIndex(i)
	if err != nil {
		x.Fatal(err)
	}
	if !l.owns(e.Value().Data()) {
		x.Errorf("block %d is not in the provider's memory", i)
	}
	e.Release()
}

// countLookups counts lookups of scans in the block cache.
func countLookups(t *testing.T) *int {
	n := new(int)
	syncpoint.SetCallBack("BlockBasedTable::LookupAndPinBlocksInCache:Start", func(any) { *n++ })
	syncpoint.EnableProcessing()
	t.Cleanup(func() {
		syncpoint.DisableProcessing()
		syncpoint.ClearAllCallBacks()
	})
	return n
}

func TestIODispatcherTest_LookupAndPinBlocksInCacheNoOpsWithoutBlockCache(t *testing.T) {
	x := newDispatchTest(t, 5, true)
	lookups := countLookups(t)
	if x.table.LookupAndPinBlocksInCache(&x.ro, x.handles[0]) || *lookups != 1 {
		t.Errorf("%d lookups", *lookups)
	}
}

func TestIODispatcherTest_AsyncReadLatencyHistograms(t *testing.T) {
	fs := newReadFS()
	fs.hold = true
	x := newDispatchTestWith(t, 8, dispatchOptions{noCache: true, direct: true, fs: fs, tableStats: true})
	s := x.submit(x.handles[:1], true)
	if fs.asyncReads != 1 {
		t.Errorf("%d asynchronous reads", fs.asyncReads)
	}
	x.read(s, 0)
	s.Close()
	completed := x.stats.GetHistogramData(rocksdb.HistIODispatcherAsyncReadObservedCompletionMicros)
	lead := x.stats.GetHistogramData(rocksdb.HistIODispatcherAsyncReadPrefetchLeadMicros)
	wait := x.stats.GetHistogramData(rocksdb.HistIODispatcherAsyncReadPollWaitMicros)
	if completed.Count != 1 || lead.Count != 1 || wait.Count != 1 || completed.Sum < lead.Sum {
		t.Errorf("completed %+v, needed %+v, waited %+v", completed, lead, wait)
	}
}

func TestIODispatcherTest_VerifyBlockContent(t *testing.T) {
	x := newDispatchTest(t, 50, false)
	want := readerEntries(50, false, 0, false)
	s := x.submit(x.handles, false)
	defer s.Close()
	n := 0
	for i := range x.handles {
		e, err := s.ReadIndex(i)
		if err != nil {
			t.Fatal(err)
		}
		var it block.DataBlockIter
		e.Value().NewDataIterator(newSpec().icmp, block.DataIterOptions{GlobalSeqno: dbformat.DisableGlobalSequenceNumber}, &it)
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if string(it.Key()) != string(want[n].key) || string(it.Value()) != string(want[n].value) {
				t.Fatalf("entry %d is another", n)
			}
			n++
		}
		if err := it.Status(); err != nil {
			t.Fatal(err)
		}
		it.Invalidate(nil)
		e.Release()
	}
	if n != len(want) {
		t.Errorf("%d entries of %d", n, len(want))
	}
}

func TestIODispatcherTest_VerifyReadRequestDetails(t *testing.T) {
	fs := newReadFS()
	x := newDispatchTestWith(t, 10, dispatchOptions{fs: fs})
	var apart []format.BlockHandle
	var want []uint64
	for i := 0; i < len(x.handles); i += 2 {
		apart = append(apart, x.handles[i])
		want = append(want, x.handles[i].Offset)
	}
	fs.multiReads = nil
	s := x.submitCoalesced(apart, false, 0)
	for i := range apart {
		x.read(s, i)
	}
	s.Close()
	if len(fs.multiReads) != 1 || !slices.Equal(fs.multiReads[0], want) {
		t.Errorf("read at %v, want %v", fs.multiReads, want)
	}
}

func TestIODispatcherTest_PartialReadsUpdateCoalescedGroups(t *testing.T) {
	x := newDispatchTest(t, 20, false)
	x.limit(12)
	s := x.submit(x.handles, true)
	for i := range 5 {
		x.read(s, i)
	}
	for i := range 5 {
		s.ReleaseBlock(i)
	}
	for i := 5; i < 20; i++ {
		x.read(s, i)
	}
	if n := s.Stats(); n.SyncReads+n.AsyncReads+n.CacheHits < 15 {
		t.Errorf("%+v", n)
	}
	s.Close()
	x.wantUsed(0)
}

func TestIODispatcherTest_MixedOversizedAndNormalBlocks(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	x.limit(2)
	s := x.submit(x.handles, true)
	for i := range x.handles {
		x.read(s, i)
	}
	if n := s.Stats(); n.SyncReads+n.AsyncReads+n.CacheHits != 10 {
		t.Errorf("%+v", n)
	}
	s.Close()
}

func TestIODispatcherTest_SyncPrefetchDefersAndDispatchesLaterGroups(t *testing.T) {
	x := newDispatchTest(t, 20, false)
	x.limit(3)
	s := x.submit(x.handles, false)
	before := s.Stats().IORequests
	if before == 0 {
		t.Error("nothing was read ahead")
	}
	for i := range 3 {
		x.read(s, i)
		s.ReleaseBlock(i)
	}
	if n := s.Stats().IORequests; n < before {
		t.Errorf("%d reads, then %d", before, n)
	}
	for i := 3; i < 20; i++ {
		x.read(s, i)
	}
	s.Close()
	x.wantUsed(0)
}

func TestIODispatcherTest_ReleasedDirectIOAsyncReadIsNotCompletedByLaterPoll(t *testing.T) {
	fs := newReadFS()
	fs.hold, fs.strayFirst = true, true
	x := newDispatchTestWith(t, 20, dispatchOptions{direct: true, fs: fs})
	fs.multiReads = nil
	s := x.submitCoalesced([]format.BlockHandle{x.handles[0], x.handles[2]}, true, 0)
	if fs.asyncReads != 2 || len(fs.multiReads) != 0 {
		t.Fatalf("%d asynchronous reads, others %v", fs.asyncReads, fs.multiReads)
	}
	s.ReleaseBlock(0)
	if s.IsBlockAvailable(0) {
		t.Error("a block after ReleaseBlock")
	}
	x.read(s, 1)
	s.Close()
	if fs.aborts != 1 || fs.strays != 0 {
		t.Errorf("%d reads were given up, %d completed beside", fs.aborts, fs.strays)
	}
}

func TestIODispatcherTest_ReleasedRangeRemainderDoesNotBlockLaterAsyncRead(t *testing.T) {
	fs := newReadFS()
	fs.hold = true
	x := newDispatchTestWith(t, 30, dispatchOptions{direct: true, fs: fs})
	fs.multiReads = nil
	// Ranges of two blocks, and a read a block.
	s := x.submitCoalesced([]format.BlockHandle{x.handles[0], x.handles[2], x.handles[4], x.handles[6]}, true, 0)
	want := func(aborts, strays int) {
		t.Helper()
		if fs.aborts != aborts || fs.strays != strays {
			t.Errorf("%d reads were given up, %d completed beside, want %d and %d", fs.aborts, fs.strays, aborts, strays)
		}
	}
	if fs.asyncReads != 4 || len(fs.multiReads) != 0 {
		t.Fatalf("%d asynchronous reads, others %v", fs.asyncReads, fs.multiReads)
	}
	x.read(s, 0)
	if s.IsBlockAvailable(0) {
		t.Error("a block that was given")
	}
	want(0, 0)
	fs.strayFirst = true
	s.ReleaseBlock(1)
	if s.IsBlockAvailable(1) {
		t.Error("a block after ReleaseBlock")
	}
	want(1, 0)
	x.read(s, 2)
	want(1, 1)
	x.read(s, 3)
	s.Close()
}

func TestIODispatcherTest_AsyncNotSupportedFallsBackToSync(t *testing.T) {
	fs := newReadFS()
	x := newDispatchTestWith(t, 20, dispatchOptions{fs: fs})
	countLookups(t)
	syncpoint.SetCallBack("RandomAccessFileReader::ReadAsync:InjectStatus", func(arg any) {
		*arg.(*error) = rocksdb.NotSupported("no asynchronous reads")
	})
	fs.multiReads = nil
	s := x.submitCoalesced(x.handles[:4], true, 1<<20)
	if n := s.Stats(); n.SyncReads != 4 || n.AsyncReads != 0 || fs.asyncReads != 0 || len(fs.multiReads) != 1 || len(fs.multiReads[0]) != 1 {
		t.Errorf("%+v, %d asynchronous reads, others %v", n, fs.asyncReads, fs.multiReads)
	}
	for i := range 4 {
		x.read(s, i)
	}
	s.Close()
}

func TestIODispatcherTest_ReadScopedProviderBypassesBlockCache(t *testing.T) {
	x := newDispatchTest(t, 8, false)
	l := x.lent()
	s := x.submit(x.handles, false)
	if l.allocations == 0 || s.Stats().CacheHits != 0 {
		t.Errorf("%d allocations, %+v", l.allocations, s.Stats())
	}
	x.wantLent(s, l, 0)
	s.Close()
}

func TestIODispatcherTest_ReadScopedProviderWorksWithoutBlockCache(t *testing.T) {
	for _, async := range []bool{false, true} {
		x := newDispatchTest(t, 8, true)
		l := x.lent()
		s := x.submit(x.handles, async)
		if l.allocations == 0 {
			t.Error("no allocation")
		}
		x.wantLent(s, l, 0)
		x.wantLent(s, l, 7)
		x.wantLent(s, l, 7) // anew
		s.Close()
	}
}

func TestIODispatcherTest_ReadScopedProviderIgnoredWithMmapReads(t *testing.T) {
	x := newDispatchTestWith(t, 8, dispatchOptions{noCache: true, mmap: true})
	l := x.lent()
	s := x.submit(x.handles, false)
	x.read(s, 0)
	s.Close()
	if l.allocations != 0 {
		t.Errorf("%d allocations", l.allocations)
	}
}

func TestIODispatcherTest_ReadScopedBuffersOwnDecompressedBlocks(t *testing.T) {
	for _, direct := range []bool{false, true} {
		x := newDispatchTestWith(t, 8, dispatchOptions{noCache: true, direct: direct, compression: rocksdb.SnappyCompression})
		l := x.lent()
		s := x.submit(x.handles, false)
		for i := range x.handles {
			x.wantLent(s, l, i)
		}
		if l.allocations != len(x.handles) || l.alignment != 1 {
			t.Errorf("direct %t: %d allocations, at multiples of %d", direct, l.allocations, l.alignment)
		}
		s.Close()
	}
}

func TestIODispatcherTest_InvalidReadScopedLeaseFailsRead(t *testing.T) {
	for _, o := range []dispatchOptions{{noCache: true}, {noCache: true, direct: true}, {noCache: true, compression: rocksdb.SnappyCompression}} {
		for _, async := range []bool{false, true} {
			x := newDispatchTestWith(t, 8, o)
			x.lent().unreturned = true
			s := x.submit(x.handles, async)
			if _, err := s.ReadIndex(0); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument {
				t.Errorf("%+v: %v", o, err)
			}
			s.Close()
		}
	}
}

func TestIODispatcherTest_ReadScopedProviderSkipsCacheLookupAndInsert(t *testing.T) {
	fs := newReadFS()
	x := newDispatchTestWith(t, 10, dispatchOptions{fs: fs})
	s := x.submit(x.handles[:1], false)
	x.read(s, 0)
	s.Close()

	lookups := countLookups(t)
	fs.multiReads = nil
	l := x.lent()
	s = x.submit(x.handles[:2], false)
	if s.Stats().CacheHits != 0 || len(fs.multiReads) == 0 {
		t.Errorf("%+v, reads %v", s.Stats(), fs.multiReads)
	}
	x.wantLent(s, l, 0)
	x.wantLent(s, l, 1)
	s.Close()
	if *lookups != 0 {
		t.Errorf("%d lookups", *lookups)
	}

	fs.multiReads = nil
	x.ro.ReadScopedBlockBufferProvider = nil
	s = x.submit(x.handles[1:2], false)
	if s.Stats().CacheHits != 0 || len(fs.multiReads) == 0 {
		t.Errorf("%+v, reads %v", s.Stats(), fs.multiReads)
	}
	x.read(s, 0)
	s.Close()
}

func TestIODispatcherTest_ReadScopedProviderSkipsCacheLookupForSyncReadFallback(t *testing.T) {
	x := newDispatchTest(t, 10, false)
	l := x.lent()
	x.limitBytes(1)
	lookups := countLookups(t)
	s := x.submit(x.handles[:1], false)
	x.wantLent(s, l, 0)
	if n := s.Stats(); n.CacheHits != 0 || n.SyncReads != 1 || *lookups != 0 {
		t.Errorf("%+v, %d lookups", n, *lookups)
	}
	s.Close()
}

func TestIODispatcherTest_MultiScanReadScopedProviderSkipsLookup(t *testing.T) {
	fs := newReadFS()
	x := newDispatchTestWith(t, 10, dispatchOptions{fs: fs})
	x.lent()
	lookups := countLookups(t)
	fs.multiReads = nil
	it := x.table.NewIterator(&x.ro, nil, false, rocksdb.CallerUncategorized, 0, false)
	args := rocksdb.DefaultMultiScanArgs(newSpec().icmp.UserComparator())
	args.Insert(fmt.Appendf(nil, "%08d", 0), fmt.Appendf(nil, "%08d", 64))
	it.Prepare(&args)
	if err := it.Status(); err != nil || *lookups != 0 || len(fs.multiReads) == 0 {
		t.Errorf("error %v, %d lookups, reads %v", err, *lookups, fs.multiReads)
	}
	if err := it.Close(); err != nil {
		t.Error(err)
	}
}

func TestIODispatcherTest_ReadScopedDirectIOUsesAlignedProviderScratch(t *testing.T) {
	fs := newReadFS()
	x := newDispatchTestWith(t, 8, dispatchOptions{noCache: true, direct: true, fs: fs})
	l := x.lent()
	fs.multiReads = nil
	s := x.submit(x.handles, false)
	if len(fs.multiReads) != 1 || l.allocations != 1 || l.alignment <= 1 {
		t.Errorf("reads %v, %d allocations at multiples of %d", fs.multiReads, l.allocations, l.alignment)
	}
	for i := range x.handles {
		x.wantLent(s, l, i)
	}
	s.Close()
}

// scopedIterators runs f with an iterator on the first entry of a table that is
// read in all ways.
func scopedIterator(t *testing.T, o dispatchOptions) {
	t.Run(fmt.Sprintf("%+v", o), func(t *testing.T) {
		x := newDispatchTestWith(t, 8, o)
		l := x.lent()
		it := x.table.NewIterator(&x.ro, nil, false, rocksdb.CallerUncategorized, 0, false)
		n := 0
		for it.SeekToFirst(); it.Valid(); it.Next() {
			if l.owns(it.Value()) == o.mmap {
				t.Fatalf("entry %d: in the provider's memory %t", n, !o.mmap)
			}
			n++
		}
		if err := it.Status(); err != nil || n != 8*readerEntriesPerBlock || l.allocations == 0 != o.mmap {
			t.Errorf("%d entries, error %v, %d allocations", n, err, l.allocations)
		}
		if aligned := o.direct && o.compression == rocksdb.NoCompression; l.alignment > 1 != aligned {
			t.Errorf("memory at multiples of %d", l.alignment)
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestIODispatcherTest_RegularIteratorUsesReadScopedProvider(t *testing.T) {
	for _, direct := range []bool{false, true} {
		for _, c := range []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.SnappyCompression} {
			scopedIterator(t, dispatchOptions{direct: direct, compression: c})
		}
	}
}

func TestIODispatcherTest_RegularIteratorIgnoresReadScopedProviderWithMmapReads(t *testing.T) {
	scopedIterator(t, dispatchOptions{noCache: true, mmap: true})
}
