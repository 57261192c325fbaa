// Port of db/{flush_scheduler,trim_history_scheduler}.{h,cc}.

package db

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/db/memtable"
)

// FamilyScheduler collects column families for later work: those whose
// memtable is full, or whose flushed memtables take too much. Several inserting
// goroutines may schedule at once.
type FamilyScheduler struct {
	pending atomic.Int32
	mu      struct {
		sync.Mutex
		families []*ColumnFamilyData
	}
}

// ScheduleWork adds cfd, with a reference, unless it is there.
func (s *FamilyScheduler) ScheduleWork(cfd *ColumnFamilyData) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.mu.families {
		if c == cfd {
			return
		}
	}
	cfd.Ref()
	s.mu.families = append(s.mu.families, cfd)
	s.pending.Add(1)
}

// TakeNextColumnFamily removes a family and gives it with its reference; nil
// when there is none left. Dropped ones are passed over. The DB mutex is held.
func (s *FamilyScheduler) TakeNextColumnFamily(free *[]*memtable.MemTable) *ColumnFamilyData {
	for {
		s.mu.Lock()
		n := len(s.mu.families)
		if n == 0 {
			s.mu.Unlock()
			return nil
		}
		cfd := s.mu.families[n-1]
		s.mu.families = s.mu.families[:n-1]
		s.pending.Add(-1)
		s.mu.Unlock()
		if !cfd.IsDropped() {
			return cfd
		}
		cfd.UnrefLocked(free)
	}
}

// Empty tells, without a lock, whether there is nothing to do.
func (s *FamilyScheduler) Empty() bool { return s.pending.Load() == 0 }

// Clear drops all. The DB mutex is held.
func (s *FamilyScheduler) Clear(free *[]*memtable.MemTable) {
	for cfd := s.TakeNextColumnFamily(free); cfd != nil; cfd = s.TakeNextColumnFamily(free) {
		cfd.UnrefLocked(free)
	}
}
