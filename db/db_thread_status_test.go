//go:build syncpoint

// Port of db/db_test.cc (ThreadStatus). Differs: the list is read at the sync
// point, in the worker.

package db_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	inc "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// seenThreads collects the workers that are at an operation when a sync point is
// passed.
type seenThreads struct {
	mu   sync.Mutex
	seen []inc.ThreadStatus
	hits int
}

func watchThreads(t *testing.T, e rocksdb.Env, point string, op inc.OperationType) *seenThreads {
	t.Helper()
	s := &seenThreads{}
	syncpoint.SetCallBack(point, func(any) {
		list, err := e.GetThreadList()
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hits++
		for _, x := range list {
			if x.OperationType == op {
				s.seen = append(s.seen, x)
			}
		}
	})
	syncpoint.EnableProcessing()
	return s
}

// operations counts the workers at an operation now.
func (x *dbTest) operations(op inc.OperationType) (n int) {
	x.Helper()
	list, err := x.env.GetThreadList()
	x.must(err)
	for _, s := range list {
		if s.OperationType == op {
			n++
		}
	}
	return n
}

func TestDBTest_ThreadStatusFlush(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.WriteBufferSize = 100000
	o.EnableThreadTracking = true
	x.createAndReopenWithCF([]string{"pikachu"}, o)
	if n := x.operations(inc.OpFlush); n != 0 {
		t.Fatalf("%d flushes", n)
	}
	x.mustPut(1, "foo", "v1")
	x.wantGet(1, "foo", "v1")
	if n := x.operations(inc.OpFlush); n != 0 {
		t.Fatalf("%d flushes", n)
	}
	s := watchThreads(t, x.env, "FlushJob::WriteLevel0Table", inc.OpFlush)
	x.mustPut(1, "k1", dummyString(100000, 'x'))
	x.mustPut(1, "k2", dummyString(100000, 'y'))
	x.must(x.full().TestWaitForFlushMemTable(x.cf(1)))
	x.must(x.full().TestWaitForBackgroundWork())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hits == 0 || len(s.seen) != s.hits {
		t.Fatalf("%d flushes seen at %d", len(s.seen), s.hits)
	}
	f := s.seen[0]
	if f.CFName != "pikachu" || !strings.HasSuffix(x.dir, f.DBName) || f.OperationStage != inc.StageFlushWriteL0 ||
		f.OpProperties[inc.FlushJobID] == 0 || f.OpProperties[inc.FlushBytesMemtables] < 100000 {
		t.Errorf("%+v", f)
	}
	if n := x.operations(inc.OpFlush); n != 0 {
		t.Errorf("%d flushes are left", n)
	}
}

func TestDBTestWithParam_ThreadStatusSingleCompaction(t *testing.T) {
	for name, tracking := range map[string]bool{"tracked": true, "not tracked": false} {
		t.Run(name, func(t *testing.T) {
			const files, perFile = 4, 100
			x := newDBTest(t)
			o := x.currentOptions()
			o.Compression = rocksdb.NoCompression
			o.EnableThreadTracking = tracking
			o.Level0FileNumCompactionTrigger = files
			x.destroyAndReopen(o)
			s := watchThreads(t, x.env, "CompactionJob::Run():Start", inc.OpCompaction)
			for f := range files {
				for k := range perFile {
					x.mustPut(0, key(k*files+f), dummyString(984, 'v'))
				}
				x.flush(0)
			}
			x.must(x.full().TestWaitForCompact())
			s.mu.Lock()
			defer s.mu.Unlock()
			if !tracking {
				if s.hits == 0 || len(s.seen) != 0 {
					t.Errorf("%d compactions seen at %d", len(s.seen), s.hits)
				}
				return
			}
			if s.hits != 1 || len(s.seen) != 1 {
				t.Fatalf("%d compactions seen at %d", len(s.seen), s.hits)
			}
			c := s.seen[0]
			if c.CFName != "default" || c.OpProperties[inc.CompactionJobID] == 0 || c.OpProperties[inc.CompactionInputOutputLevel] != 1 ||
				c.OpProperties[inc.CompactionTotalInputBytes] < files*perFile*984 || c.OperationStage != inc.StageCompactionRun {
				t.Errorf("%+v", c)
			}
			if n := x.operations(inc.OpCompaction); n != 0 {
				t.Errorf("%d compactions are left", n)
			}
		})
	}
}

func TestDBTest_DisableThreadStatus(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.EnableThreadTracking = false
	x.reopen(o)
	x.createAndReopenWithCF([]string{"moscow", "sf"}, o)
	list, err := x.env.GetThreadList()
	x.must(err)
	for _, s := range list {
		if s.DBName != "" || s.CFName != "" {
			t.Errorf("a family is known: %+v", s)
		}
	}
}
