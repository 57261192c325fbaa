// Port of util/io_dispatcher_imp.{h,cc} (the dispatcher) and
// include/rocksdb/io_dispatcher.h.

package iodispatcher

import (
	"slices"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
)

// IODispatcher implements rocksdb.IODispatcher. It is safe for concurrent use
// and may serve many scans.
type IODispatcher struct {
	limit uint64 // bytes; 0: none
	stats rocksdb.Statistics

	mu      sync.Mutex
	used    uint64
	waiting []*blockbased.ReadSet
}

// NewIODispatcher makes a dispatcher; nil options are the defaults.
func NewIODispatcher(o *rocksdb.IODispatcherOptions) *IODispatcher {
	if o == nil {
		o = &rocksdb.IODispatcherOptions{}
	}
	return &IODispatcher{limit: o.MaxPrefetchMemoryBytes, stats: o.Statistics}
}

// Name names the kind.
func (d *IODispatcher) Name() string { return "IODispatcher" }

// SubmitJob begins a job's reads. The ReadSet has to be closed.
func (d *IODispatcher) SubmitJob(job *blockbased.IOJob) (*blockbased.ReadSet, error) {
	if d.limit == 0 {
		return blockbased.NewReadSet(job, nil)
	}
	return blockbased.NewReadSet(job, d)
}

// Max implements blockbased.PrefetchBudget.
func (d *IODispatcher) Max() uint64 { return d.limit }

// TryAcquire implements blockbased.PrefetchBudget.
func (d *IODispatcher) TryAcquire(n uint64) bool {
	d.mu.Lock()
	ok := n <= d.limit-d.used
	if ok {
		d.used += n
	}
	d.mu.Unlock()
	if ok {
		monitoring.RecordTick(d.stats, rocksdb.PrefetchMemoryBytesGranted, n)
	} else {
		monitoring.RecordTick(d.stats, rocksdb.PrefetchMemoryRequestsBlocked, 1)
	}
	return ok
}

// Release implements blockbased.PrefetchBudget.
func (d *IODispatcher) Release(n uint64) {
	d.mu.Lock()
	d.used -= n
	waiting := slices.Clone(d.waiting)
	d.mu.Unlock()
	monitoring.RecordTick(d.stats, rocksdb.PrefetchMemoryBytesReleased, n)
	for _, s := range waiting {
		s.DispatchPending()
	}
}

// Wait implements blockbased.PrefetchBudget.
func (d *IODispatcher) Wait(s *blockbased.ReadSet) {
	d.mu.Lock()
	d.waiting = append(d.waiting, s)
	d.mu.Unlock()
}

// Forget implements blockbased.PrefetchBudget.
func (d *IODispatcher) Forget(s *blockbased.ReadSet) {
	d.mu.Lock()
	if i := slices.Index(d.waiting, s); i >= 0 {
		d.waiting = slices.Delete(d.waiting, i, i+1)
	}
	d.mu.Unlock()
}

// MemoryUsed is what is granted and not given back, in bytes.
func (d *IODispatcher) MemoryUsed() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}

// TrackingIODispatcher keeps the ReadSets of a dispatcher, for tests. It is not
// safe for concurrent use.
type TrackingIODispatcher struct {
	*IODispatcher
	ReadSets []*blockbased.ReadSet
}

// NewTrackingIODispatcher tracks d, or one without limit when d is nil.
func NewTrackingIODispatcher(d *IODispatcher) *TrackingIODispatcher {
	if d == nil {
		d = NewIODispatcher(nil)
	}
	return &TrackingIODispatcher{IODispatcher: d}
}

// SubmitJob keeps what the dispatcher makes.
func (t *TrackingIODispatcher) SubmitJob(job *blockbased.IOJob) (*blockbased.ReadSet, error) {
	s, err := t.IODispatcher.SubmitJob(job)
	if err == nil {
		t.ReadSets = append(t.ReadSets, s)
	}
	return s, err
}

// Total adds up what the ReadSets did.
func (t *TrackingIODispatcher) Total() (sum blockbased.ReadSetStats) {
	for _, s := range t.ReadSets {
		n := s.Stats()
		sum.SyncReads += n.SyncReads
		sum.AsyncReads += n.AsyncReads
		sum.CacheHits += n.CacheHits
		sum.BlocksPrefetched += n.BlocksPrefetched
		sum.IORequests += n.IORequests
		sum.PrefetchBytes += n.PrefetchBytes
		sum.CoalescedNonadjacent += n.CoalescedNonadjacent
	}
	return sum
}
