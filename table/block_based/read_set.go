// Port of util/io_dispatcher_imp.cc (ReadSet, and the reading of a job; the
// dispatcher is in package util/iodispatcher) and include/rocksdb/io_dispatcher.h.
// Differs: a block is parsed when it is asked for, not when its read is done;
// where asynchronous reads are refused the blocks are read at once.

package blockbased

import (
	"slices"
	"sort"
	"sync"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table"
	"github.com/rocksdb-go/rocksdb/table/block_based/block"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

// IOJob is a group of data blocks of one table to be read together.
type IOJob struct {
	Table        *BlockBasedTable
	BlockHandles []format.BlockHandle // kept
	// IOCoalesceThreshold joins reads with gaps up to so many bytes.
	IOCoalesceThreshold uint64
	ReadOptions         *rocksdb.ReadOptions // has to outlive the ReadSet
	// Async begins the reads and waits for none of them.
	Async bool
	// Reverse: the blocks will be asked for from the last one on.
	Reverse bool
}

// PrefetchBudget bounds the memory of what several ReadSets have read ahead.
// Its methods are safe for concurrent use and call no ReadSet but in Release.
type PrefetchBudget interface {
	// Max is the whole budget in bytes.
	Max() uint64
	TryAcquire(n uint64) bool
	// Release gives n bytes back and has waiting ReadSets try again.
	Release(n uint64)
	// Wait has s.DispatchPending called after a Release, until Forget.
	Wait(s *ReadSet)
	Forget(s *ReadSet)
}

// blockState is how far a block of a ReadSet is.
type blockState uint8

const (
	blockUnread  blockState = iota // to be read when asked for
	blockPending                   // waits for memory
	blockReading                   // its read is under way, or done
	blockPinned                    // was in the cache
	blockGiven                     // the caller has it, or had
	blockReleased
)

// setBlock is a block of a ReadSet.
type setBlock struct {
	entry   block.CachableEntry[*block.Block] // blockPinned
	read    *setRead                          // blockReading
	state   blockState
	granted bool // its size is taken from the budget
}

// setRead is a read of one or several blocks. Its memory is given back once the
// last of them was given or released.
type setRead struct {
	req    rocksdb.FSReadRequest
	handle rocksdb.IOHandle // nil when done
	lead   stopwatch.StopWatch
	mem    *setMemory
	lease  *format.Lease // the memory, if a provider's
	group  []int         // blocks, by offset
	left   int           // of them neither given nor released
	async  bool          // to be counted as such
}

// setMemory is what reads go to.
type setMemory struct {
	aligned file.AlignedBuf
	buf     []byte
	reads   int // that use it
}

var setMemories = sync.Pool{New: func() any { return new(setMemory) }}

// maxPooledSetMemory bounds what the pool keeps, in bytes.
const maxPooledSetMemory = 1 << 20

func (m *setMemory) bytes(n int) []byte {
	if cap(m.buf) < n {
		m.buf = make([]byte, n)
	}
	return m.buf[:n]
}

func (m *setMemory) release(size int) {
	if m.reads--; m.reads > 0 {
		return
	}
	if size <= maxPooledSetMemory && m.aligned.Alloc == nil {
		setMemories.Put(m)
	}
}

// ReadSetStats count what a ReadSet did.
type ReadSetStats struct {
	SyncReads            uint64 // blocks
	AsyncReads           uint64 // blocks
	CacheHits            uint64 // blocks
	BlocksPrefetched     uint64
	IORequests           uint64
	PrefetchBytes        uint64
	CoalescedNonadjacent uint64 // blocks joined to a read across a gap
}

// ReadSet gives the blocks of a job: from the cache, from reads that were begun
// with it, or by reading them now. It belongs to one goroutine, but for
// DispatchPending, and has to be closed.
type ReadSet struct {
	mu     sync.Mutex // innermost but for the budget's
	job    IOJob
	rc     readContext
	opts   rocksdb.IOOptions
	one    batchRead
	budget PrefetchBudget // nil: unlimited
	blocks []setBlock
	order  []int   // block indexes by offset; nil where they are in that order
	groups [][]int // that wait for memory, those wanted first first
	stats  ReadSetStats
}

// NewReadSet looks the job's blocks up in the cache and reads the others, as
// far as the budget, which may be nil, has memory. An error says that reads
// could not be begun.
func NewReadSet(job *IOJob, budget PrefetchBudget) (*ReadSet, error) {
	if job.Table == nil || job.ReadOptions == nil {
		return nil, rocksdb.InvalidArgument("IOJob without a table or read options")
	}
	s := &ReadSet{job: *job, budget: budget, blocks: make([]setBlock, len(job.BlockHandles))}
	s.rc = job.Table.scanContext(job.ReadOptions)
	hs := s.job.BlockHandles
	byOffset := func(i, j int) bool { return hs[i].Offset < hs[j].Offset }
	if !sort.SliceIsSorted(hs, byOffset) {
		s.order = make([]int, len(hs))
		for i := range s.order {
			s.order[i] = i
		}
		sort.SliceStable(s.order, func(i, j int) bool { return byOffset(s.order[i], s.order[j]) })
	}
	t := job.Table
	if err := t.file.PrepareIOOptions(job.ReadOptions, &s.opts); err != nil {
		return nil, err
	}
	var missing []int
	for n := range hs {
		i := s.byOffset(n)
		b := &s.blocks[i]
		if s.rc.provider == nil && s.lookup(i) {
			b.state = blockPinned
			s.stats.CacheHits++
		} else if hs[i].Size <= t.fileSize && hs[i].FitsIn(t.fileSize, uint64(t.footer.BlockTrailerSize)) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 || t.ioptions.AllowMmapReads || job.ReadOptions.ReadTier == rocksdb.BlockCacheTier {
		return s, nil
	}
	s.mu.Lock()
	groups := s.coalesce(missing)
	if job.Reverse {
		slices.Reverse(groups)
	}
	err := s.dispatch(s.admit(groups), &s.opts)
	waiting := len(s.groups) > 0
	s.mu.Unlock()
	if err != nil {
		s.Close()
		return nil, err
	}
	if waiting {
		budget.Wait(s)
	}
	return s, nil
}

func (s *ReadSet) byOffset(n int) int {
	if s.order != nil {
		return s.order[n]
	}
	return n
}

func (s *ReadSet) size(i int) uint64 {
	return s.job.BlockHandles[i].Size + uint64(s.job.Table.footer.BlockTrailerSize)
}

// lookup pins a block that the cache has.
func (s *ReadSet) lookup(i int) bool {
	t := s.job.Table
	return t.blockCache != nil && t.lookupAndPinBlocksInCache(&s.rc, s.job.BlockHandles[i], &s.blocks[i].entry)
}

// lookupAndPinBlocksInCache puts a data block that the cache has in e.
func (t *BlockBasedTable) lookupAndPinBlocksInCache(rc *readContext, h format.BlockHandle, e *block.CachableEntry[*block.Block]) bool {
	syncpoint.Process("BlockBasedTable::LookupAndPinBlocksInCache:Start")
	if t.blockCache == nil {
		return false
	}
	ch := t.cacheLookup(blockCacheKey(t.baseCacheKey, h), block.TypeData)
	if ch == nil {
		t.countCacheMiss(rc, block.TypeData)
		return false
	}
	v, ok := ch.Value().(*block.Block)
	if !ok {
		t.blockCache.Release(ch, false)
		return false // reading it says what is wrong
	}
	t.countCacheHit(rc, block.TypeData, ch)
	e.SetCachedValue(v, t.blockCache, ch)
	return true
}

// coalesce groups blocks, in order of offset, that are read at once. A group is
// not larger than the budget; blocks that are, are left unread.
func (s *ReadSet) coalesce(missing []int) [][]int {
	most := uint64(0)
	if s.budget != nil {
		most = s.budget.Max()
	}
	var groups [][]int
	from, size := 0, uint64(0) // the last group begins at missing[from]
	kept := missing[:0]
	for _, i := range missing {
		n := s.size(i)
		if most > 0 && n > most {
			continue
		}
		if len(kept) > from {
			last := s.job.BlockHandles[kept[len(kept)-1]]
			end := last.Offset + last.Size + uint64(s.job.Table.footer.BlockTrailerSize)
			if s.job.BlockHandles[i].Offset > end+s.job.IOCoalesceThreshold || most > 0 && size+n > most {
				groups = append(groups, kept[from:len(kept):len(kept)])
				from, size = len(kept), 0
			}
		}
		kept = append(kept, i)
		size += n
	}
	if len(kept) > from {
		groups = append(groups, kept[from:])
	}
	return groups
}

func (s *ReadSet) groupSize(g []int) (n uint64) {
	for _, i := range g {
		n += s.size(i)
	}
	return n
}

// admit gives the groups that there is memory for; the first that there is none for
// waits, and all after it: what comes first is wanted first.
func (s *ReadSet) admit(groups [][]int) [][]int {
	if s.budget == nil {
		return groups
	}
	var now [][]int
	s.groups = nil
	for _, g := range groups {
		ok := len(s.groups) == 0 && s.budget.TryAcquire(s.groupSize(g))
		for _, i := range g {
			b := &s.blocks[i]
			if b.granted = ok; !ok {
				b.state = blockPending
			}
		}
		if ok {
			now = append(now, g)
		} else {
			s.groups = append(s.groups, g)
		}
	}
	return now
}

// dispatch begins to read groups, or reads them.
func (s *ReadSet) dispatch(groups [][]int, opts *rocksdb.IOOptions) error {
	reads := make([]*setRead, 0, len(groups))
	for _, g := range groups {
		reads = append(reads, s.newRead(g))
	}
	if !s.job.Async || s.job.Table.ioptions.FS == nil {
		return s.readNow(reads, opts)
	}
	var refused []*setRead
	for _, r := range reads {
		err := s.begin(r, opts)
		switch {
		case rocksdb.IsNotSupported(err) || rocksdb.CodeOf(err) == rocksdb.CodeBusy:
			refused = append(refused, r)
		case err != nil:
			return err
		}
	}
	return s.readNow(refused, opts)
}

func (s *ReadSet) newRead(g []int) *setRead {
	first, last := s.job.BlockHandles[g[0]], s.job.BlockHandles[g[len(g)-1]]
	r := &setRead{left: len(g), group: g}
	r.req.Offset = first.Offset
	r.req.Len = int(last.Offset - first.Offset + s.size(g[len(g)-1]))
	end := uint64(0)
	for n, i := range g {
		s.blocks[i].state, s.blocks[i].read = blockReading, r
		if n > 0 && s.job.BlockHandles[i].Offset > end {
			s.stats.CoalescedNonadjacent++
		}
		end = s.job.BlockHandles[i].Offset + s.size(i)
	}
	s.stats.BlocksPrefetched += uint64(len(g))
	s.stats.IORequests++
	s.stats.PrefetchBytes += uint64(r.req.Len)
	return r
}

// begin starts an asynchronous read.
func (s *ReadSet) begin(r *setRead, opts *rocksdb.IOOptions) error {
	f := s.job.Table.file
	m := s.newMemory(&r.lease)
	m.reads = 1
	switch {
	case f.UseDirectIO():
	case !s.lends():
		r.req.Scratch = m.bytes(r.req.Len)
	default:
		if r.req.Status = s.borrow(r, &r.req); r.req.Status != nil {
			return nil
		}
	}
	r.mem, r.async = m, true
	h, err := f.ReadAsync(&r.req, opts, s.watchRead(r), &m.aligned)
	if err != nil {
		m.release(r.req.Len)
		r.mem, r.async, r.req.Scratch = nil, false, nil
		r.dropLease()
		if s.lends() && rocksdb.CodeOf(err) == rocksdb.CodeInvalidArgument { // as in borrow
			r.req.Status, err = err, nil
		}
		return err
	}
	r.handle = h // nil: it is done already
	return nil
}

// lends tells whether reads go to the provider's memory: blocks that are not
// compressed stay in it.
func (s *ReadSet) lends() bool { return s.rc.provider != nil && s.job.Table.decompressor == nil }

// newMemory gives memory for reads; where a provider lends it for direct ones, its
// lease comes to *lease.
func (s *ReadSet) newMemory(lease **format.Lease) *setMemory {
	if !s.lends() {
		return setMemories.Get().(*setMemory)
	}
	m := new(setMemory)
	m.aligned.Alloc = table.LeaseAlloc(s.rc.provider, lease)
	return m
}

// borrow gives a read that is not direct the provider's memory. Whoever needs a
// block of the read sees why it has none.
func (s *ReadSet) borrow(r *setRead, req *rocksdb.FSReadRequest) (err error) {
	if r.lease, err = format.NewLease(s.rc.provider, req.Len, 1); err == nil {
		req.Scratch = r.lease.Bytes()[:req.Len]
	}
	return err
}

// dropLease lets the provider's memory go, but for blocks in it.
func (r *setRead) dropLease() {
	if r.lease != nil {
		r.lease.Release()
		r.lease = nil
	}
}

func readDone(*rocksdb.FSReadRequest) {}

// watchRead measures, with statistics, a read until it is seen to be done, by the
// callback that it gives, and until somebody needs it.
func (s *ReadSet) watchRead(r *setRead) func(*rocksdb.FSReadRequest) {
	o := s.job.Table.ioptions
	if o.Stats == nil {
		return readDone
	}
	r.lead = startTimer(o, rocksdb.HistIODispatcherAsyncReadPrefetchLeadMicros)
	done := startTimer(o, rocksdb.HistIODispatcherAsyncReadObservedCompletionMicros)
	return func(*rocksdb.FSReadRequest) { done.Stop() }
}

// readNow reads and waits.
func (s *ReadSet) readNow(reads []*setRead, opts *rocksdb.IOOptions) error {
	if len(reads) == 0 {
		return nil
	}
	f := s.job.Table.file
	var lease *format.Lease
	m := s.newMemory(&lease)
	m.reads = len(reads)
	reqs := make([]rocksdb.FSReadRequest, len(reads))
	total := 0
	for i, r := range reads {
		reqs[i] = r.req
		r.mem = m
		total += r.req.Len
		s.stats.SyncReads += uint64(len(r.group))
	}
	var err error
	switch {
	case f.UseDirectIO():
	case !s.lends():
		buf := m.bytes(total)
		for i := range reqs {
			n := reqs[i].Len
			reqs[i].Scratch, buf = buf[:n:n], buf[n:]
		}
	default:
		for i := 0; i < len(reads) && err == nil; i++ {
			err = s.borrow(reads[i], &reqs[i])
		}
	}
	if err == nil {
		err = f.MultiRead(opts, reqs, &m.aligned)
	}
	for i, r := range reads {
		r.req = reqs[i]
		if lease != nil { // direct reads have one for all
			lease.Ref()
			r.lease = lease
		}
		if s.lends() && err != nil {
			r.req.Status = err
		}
	}
	if lease != nil {
		lease.Release()
	}
	if s.lends() {
		return nil
	}
	return err
}

// ReadIndex gives block i of the job, for the caller to release. A block that
// was given or released before is read again.
func (s *ReadSet) ReadIndex(i int) (block.CachableEntry[*block.Block], error) {
	if i < 0 || i >= len(s.blocks) {
		return block.CachableEntry[*block.Block]{}, rocksdb.InvalidArgument("Block index out of range")
	}
	s.mu.Lock()
	if s.blocks[i].state == blockPending {
		s.dispatchPending(&s.opts)
	}
	e, err := s.take(i)
	freed := s.ungrant(i)
	s.mu.Unlock()
	if freed > 0 {
		s.budget.Release(freed)
	}
	return e, err
}

func (s *ReadSet) take(i int) (e block.CachableEntry[*block.Block], err error) {
	b := &s.blocks[i]
	t := s.job.Table
	was := b.state
	b.state = blockGiven
	switch was {
	case blockPinned:
		e, b.entry = b.entry, block.CachableEntry[*block.Block]{}
		return e, nil
	case blockReading:
		r := b.read
		defer s.drop(b)
		if err := s.wait(r); err != nil {
			return e, err
		}
		e, ok, err := s.parse(r, i)
		if !ok {
			break // a short read
		}
		if perf := s.rc.ro.PerfContext; perf.CountEnabled() {
			n := s.size(i)
			perf.BlockReadCount++
			perf.BlockReadByte += n
			perf.DataBlockReadByte += n
		}
		return e, err
	}
	if was == blockPending {
		s.removePending(i)
	}
	e, err = t.retrieveBlock(&s.rc, s.job.BlockHandles[i], block.TypeData, true)
	if err == nil {
		s.stats.SyncReads++
	}
	return e, err
}

// parse makes block i of what r read; not ok: r does not have all of it.
func (s *ReadSet) parse(r *setRead, i int) (e block.CachableEntry[*block.Block], ok bool, err error) {
	h := s.job.BlockHandles[i]
	skip, n := h.Offset-r.req.Offset, s.size(i)
	if uint64(len(r.req.Result)) < skip+n {
		return e, false, nil
	}
	s.one = batchRead{h.Offset, r.req.Result[skip : skip+n], r.lease}
	s.rc.prefetch, s.rc.cacheMissed = &s.one, true
	e, err = s.job.Table.retrieveBlock(&s.rc, h, block.TypeData, true)
	s.rc.prefetch, s.rc.cacheMissed = nil, false
	s.one.data, s.one.lease = nil, nil
	return e, true, err
}

// wait waits for a read. mu is held, and released meanwhile.
func (s *ReadSet) wait(r *setRead) error {
	if r.handle != nil {
		s.mu.Unlock()
		r.lead.Stop()
		timer := startTimer(s.job.Table.ioptions, rocksdb.HistIODispatcherAsyncReadPollWaitMicros)
		h := [1]rocksdb.IOHandle{r.handle}
		err := s.job.Table.ioptions.FS.Poll(h[:], 1)
		timer.Stop()
		s.mu.Lock()
		if err != nil {
			return err
		}
		r.handle.Release()
		r.handle = nil
	}
	if r.async {
		r.async = false
		s.stats.AsyncReads += uint64(len(r.group))
	}
	return r.req.Status
}

// drop lets a block's read go; the last block's lets its memory go.
func (s *ReadSet) drop(b *setBlock) {
	r := b.read
	b.read = nil
	if r == nil {
		return
	}
	if r.left--; r.left > 0 {
		return
	}
	if r.handle != nil {
		h := [1]rocksdb.IOHandle{r.handle}
		if s.job.Table.ioptions.FS.AbortIO(h[:]) != nil {
			return // the system may still write to the memory: it is left to the collector
		}
		r.handle.Release()
		r.handle = nil
	}
	if r.mem != nil {
		r.mem.release(r.req.Len)
		r.mem = nil
	}
	r.dropLease()
}

func (s *ReadSet) ungrant(i int) uint64 {
	b := &s.blocks[i]
	if !b.granted {
		return 0
	}
	b.granted = false
	return s.size(i)
}

func (s *ReadSet) removePending(i int) {
	for n, g := range s.groups {
		for k, j := range g {
			if j != i {
				continue
			}
			rest := append(append([]int(nil), g[:k]...), g[k+1:]...)
			if len(rest) == 0 {
				s.groups = append(s.groups[:n:n], s.groups[n+1:]...)
			} else {
				s.groups[n] = rest
			}
			return
		}
	}
}

// ReadOffset is ReadIndex of the block at that offset of the file.
func (s *ReadSet) ReadOffset(offset uint64) (block.CachableEntry[*block.Block], error) {
	hs := s.job.BlockHandles
	n := sort.Search(len(hs), func(n int) bool { return hs[s.byOffset(n)].Offset >= offset })
	if n == len(hs) || hs[s.byOffset(n)].Offset != offset {
		return block.CachableEntry[*block.Block]{}, rocksdb.InvalidArgument("Block offset not found in ReadSet")
	}
	return s.ReadIndex(s.byOffset(n))
}

// ReleaseBlock gives up block i. It tells whether the block had been read ahead
// in vain.
func (s *ReadSet) ReleaseBlock(i int) (wasted bool) {
	if i < 0 || i >= len(s.blocks) {
		return false
	}
	s.mu.Lock()
	wasted = s.release(i)
	freed := s.ungrant(i)
	s.mu.Unlock()
	if freed > 0 {
		s.budget.Release(freed)
	}
	return wasted
}

func (s *ReadSet) release(i int) bool {
	b := &s.blocks[i]
	was := b.state
	b.state = blockReleased
	switch was {
	case blockPinned:
		b.entry.Release()
		return true
	case blockReading:
		s.drop(b)
		return true
	case blockPending:
		s.removePending(i)
		return true
	}
	return false
}

// IsBlockAvailable tells whether block i was read ahead, or is being, and
// neither given nor released.
func (s *ReadSet) IsBlockAvailable(i int) bool {
	if i < 0 || i >= len(s.blocks) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.blocks[i].state {
	case blockPinned, blockReading:
		return true
	}
	return false
}

// DispatchPending begins asynchronous reads that were held back, as far as there
// is memory now. It tells whether some are left. It may be called by any goroutine.
func (s *ReadSet) DispatchPending() (left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job.Async {
		opts := s.opts
		s.dispatchPending(&opts)
	}
	return len(s.groups) > 0
}

// dispatchPending is DispatchPending with mu held.
func (s *ReadSet) dispatchPending(opts *rocksdb.IOOptions) {
	if len(s.groups) == 0 {
		return
	}
	if opts != &s.opts {
		opts.IOStats = nil // the owner's alone
	}
	if now := s.admit(s.groups); len(now) > 0 {
		if err := s.dispatch(now, opts); err != nil {
			s.setErr(now, err)
		}
	}
}

// setErr makes err the outcome of reads that were not begun.
func (s *ReadSet) setErr(groups [][]int, err error) {
	for _, g := range groups {
		if r := s.blocks[g[0]].read; r != nil && r.mem == nil {
			r.req.Status = err
		}
	}
}

// Stats are the counts so far.
func (s *ReadSet) Stats() ReadSetStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close gives all up and cancels reads under way. It gives the number of blocks
// that were read ahead in vain.
func (s *ReadSet) Close() (wasted int) {
	s.mu.Lock()
	freed := uint64(0)
	for i := range s.blocks {
		if s.release(i) {
			wasted++
		}
		freed += s.ungrant(i)
	}
	s.groups = nil
	s.mu.Unlock()
	if s.budget != nil {
		s.budget.Forget(s)
		if freed > 0 {
			s.budget.Release(freed)
		}
	}
	return wasted
}

// record adds the counts to a table's tickers.
func (st *ReadSetStats) record(stats rocksdb.Statistics, perf *rocksdb.PerfContext) {
	monitoring.RecordTick(stats, rocksdb.MultiscanBlocksFromCache, st.CacheHits)
	monitoring.RecordTick(stats, rocksdb.MultiscanBlocksPrefetched, st.BlocksPrefetched)
	monitoring.RecordTick(stats, rocksdb.MultiscanPrefetchBytes, st.PrefetchBytes)
	monitoring.RecordTick(stats, rocksdb.MultiscanIORequests, st.IORequests)
	monitoring.RecordTick(stats, rocksdb.MultiscanIOCoalescedNonadjacent, st.CoalescedNonadjacent)
	if perf.CountEnabled() {
		perf.MultiscanBlocksFromCache += st.CacheHits
		perf.MultiscanBlocksPrefetched += st.BlocksPrefetched
		perf.MultiscanPrefetchBytes += st.PrefetchBytes
		perf.MultiscanIORequests += st.IORequests
		perf.MultiscanIOCoalescedNonadjacent += st.CoalescedNonadjacent
	}
}
