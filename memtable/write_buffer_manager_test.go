// Port of memtable/write_buffer_manager_test.cc.

package memtable

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/cache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

const (
	mib            = 1 << 20
	kib            = 1 << 10
	sizeDummyEntry = 256 * kib
)

func TestWriteBufferManagerTest_ShouldFlush(t *testing.T) {
	m := NewWriteBufferManager(10*mib, nil, false)
	defer m.Close()
	for i, step := range []struct {
		reserve, schedule, free, size uint64
		want                          bool
	}{
		{reserve: 8 * mib, want: false},
		{reserve: 1 * mib, want: true}, // 9 of 10 MiB are over 7/8
		{schedule: 1 * mib, want: false},
		{reserve: 2 * mib, want: true},
		{schedule: 4 * mib, want: true},  // 11 in all, 6 mutable
		{schedule: 2 * mib, want: false}, // 4 mutable: most is being flushed
		{reserve: 4 * mib, want: true},   // 15 in all, 8 mutable
		{free: 7 * mib, want: false},     // 8, 8
		{size: 8 * mib, want: true},
		{schedule: 2 * mib, want: true},
		{free: 2 * mib, want: false}, // 6, 6
		{reserve: 1 * mib, want: false},
		{reserve: 1 * mib, want: true},
		{schedule: 1 * mib, free: 1 * mib, want: false},
	} {
		if step.reserve > 0 {
			m.ReserveMem(step.reserve)
		}
		if step.schedule > 0 {
			m.ScheduleFreeMem(step.schedule)
		}
		if step.free > 0 {
			m.FreeMem(step.free)
		}
		if step.size > 0 {
			m.SetBufferSize(step.size)
		}
		if m.ShouldFlush() != step.want {
			t.Errorf("step %d: ShouldFlush is %v", i, !step.want)
		}
	}
}

// checkCharge compares the dummy entries with the manager's and the cache's
// figures.
func checkCharge(t *testing.T, m *WriteBufferManager, c rocksdb.Cache, entries int, overhead int) {
	t.Helper()
	want := entries * sizeDummyEntry
	if got := m.DummyEntriesInCacheUsage(); got != uint64(want) {
		t.Errorf("%d dummy bytes, want %d entries", got, entries)
	}
	if got := c.GetPinnedUsage(); got < want || got >= want+overhead {
		t.Errorf("pinned %d, want %d", got, want)
	}
}

func newTestCache(t *testing.T, capacity, shardBits int, strict bool) *cache.LRUCache {
	t.Helper()
	o := rocksdb.DefaultLRUCacheOptions(capacity)
	o.NumShardBits, o.StrictCapacityLimit = shardBits, strict
	c, err := cache.NewLRUCache(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChargeWriteBufferTest_Basic(t *testing.T) {
	o := rocksdb.DefaultLRUCacheOptions(1024 * mib)
	o.NumShardBits, o.MetadataChargePolicy = 4, rocksdb.DontChargeCacheMetadata
	c, err := cache.NewLRUCache(o)
	if err != nil {
		t.Fatal(err)
	}
	m := NewWriteBufferManager(50*mib, c, false)
	const overhead = 10000
	m.ReserveMem(333 * kib)
	checkCharge(t, m, c, 2, overhead)
	m.ReserveMem(512 * kib)
	checkCharge(t, m, c, 4, overhead)
	m.ReserveMem(10 * mib)
	checkCharge(t, m, c, 44, overhead)
	// A little less does not give entries back: above three quarters.
	m.FreeMem(1 * mib)
	checkCharge(t, m, c, 44, overhead)
	if m.ShouldFlush() {
		t.Error("flush at 10 of 50 MiB")
	}
	m.ReserveMem(41 * mib)
	checkCharge(t, m, c, 204, overhead)
	if !m.ShouldFlush() {
		t.Error("no flush over the limit")
	}
	m.ScheduleFreeMem(20 * mib)
	checkCharge(t, m, c, 204, overhead)
	if !m.ShouldFlush() {
		t.Error("no flush over the limit, more than half mutable")
	}
	m.FreeMem(20 * mib)
	checkCharge(t, m, c, 124, overhead)
	if m.ShouldFlush() {
		t.Error("flush under the limit")
	}
	m.FreeMem(16 * kib)
	checkCharge(t, m, c, 124, overhead)
	m.FreeMem(20 * mib)
	checkCharge(t, m, c, 44, overhead)
	m.FreeMem(1 * mib)
	checkCharge(t, m, c, 44, overhead)
	m.ReserveMem(512 * kib)
	checkCharge(t, m, c, 44, overhead)
	m.Close()
	if c.GetPinnedUsage() != 0 {
		t.Errorf("%d bytes still pinned", c.GetPinnedUsage())
	}
}

func TestChargeWriteBufferTest_BasicWithNoBufferSizeLimit(t *testing.T) {
	c := newTestCache(t, 1024*mib, 4, false)
	m := NewWriteBufferManager(0, c, false)
	const overhead = 10000
	m.ReserveMem(10 * mib)
	checkCharge(t, m, c, 40, overhead)
	if m.ShouldFlush() {
		t.Error("flush without a limit")
	}
	m.FreeMem(9 * mib)
	checkCharge(t, m, c, 4, overhead)
	for range 40 {
		m.FreeMem(4 * kib)
	}
	checkCharge(t, m, c, 4, overhead)
	m.Close()
}

func TestChargeWriteBufferTest_BasicWithCacheFull(t *testing.T) {
	c := newTestCache(t, 12*mib, 0, true)
	m := NewWriteBufferManager(0, c, false)
	const overhead = 20000
	m.ReserveMem(10 * mib)
	checkCharge(t, m, c, 40, overhead)
	full := func() {
		t.Helper()
		if p := c.GetPinnedUsage(); p > 12*mib {
			t.Errorf("pinned %d, over the capacity", p)
		}
		if d := m.DummyEntriesInCacheUsage(); d >= 80*sizeDummyEntry {
			t.Errorf("%d dummy bytes in a full cache", d)
		}
	}
	m.ReserveMem(10 * mib)
	if c.GetPinnedUsage() < 40*sizeDummyEntry {
		t.Errorf("pinned %d", c.GetPinnedUsage())
	}
	full()
	m.FreeMem(15 * mib)
	checkCharge(t, m, c, 20, overhead)
	m.ReserveMem(15 * mib)
	full()
	c.SetCapacity(40 * mib)
	m.ReserveMem(10 * mib)
	checkCharge(t, m, c, 120, overhead)
	// Down in steps: 32, 24 and 18 entries go.
	for range 40 {
		m.FreeMem(512 * kib)
	}
	checkCharge(t, m, c, 46, overhead)
	m.Close()
}

// stallFlag is a database that counts its wake-ups.
type stallFlag struct{ signals int }

func (s *stallFlag) Block()  {}
func (s *stallFlag) Signal() { s.signals++ }

// TestWriteBufferManagerStall has no upstream twin: DB tests cover it there.
func TestWriteBufferManagerStall(t *testing.T) {
	m := NewWriteBufferManager(1*mib, nil, true)
	defer m.Close()
	var a, b stallFlag
	if m.ShouldStall() {
		t.Fatal("stall without memory used")
	}
	m.BeginWriteStall(&a)
	if a.signals != 1 || m.IsStallActive() {
		t.Fatalf("stall begun without cause: %d signals", a.signals)
	}
	m.ReserveMem(2 * mib)
	if !m.ShouldStall() || !m.IsStallThresholdExceeded() {
		t.Fatal("no stall over the limit")
	}
	m.BeginWriteStall(&a)
	m.BeginWriteStall(&b)
	if a.signals != 1 || b.signals != 0 || !m.IsStallActive() {
		t.Fatal("stall did not begin")
	}
	m.RemoveDBFromQueue(&b)
	if b.signals != 1 {
		t.Fatal("removed database was not signalled")
	}
	m.FreeMem(mib / 2)
	if a.signals != 1 {
		t.Fatal("stall ended too early")
	}
	m.FreeMem(mib)
	if a.signals != 2 || b.signals != 1 || m.IsStallActive() || m.ShouldStall() {
		t.Fatalf("after the stall: %d and %d signals", a.signals, b.signals)
	}
	m.ReserveMem(mib)
	m.BeginWriteStall(&a)
	m.SetAllowStall(false)
	if a.signals != 3 || m.ShouldStall() {
		t.Fatal("SetAllowStall did not end the stall")
	}
}
