// Port of db/listener_test.cc. Differs: a thread is known by its number in
// GetThreadList, which the infos hold, and by its job's.

package db_test

import (
	"sync"
	"testing"

	root "github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// preCommitListener wants OnCompactionPreCommit between the other two events,
// while the inputs are still the database's.
type preCommitListener struct {
	rocksdb.EventListenerBase
	x *dbTest

	mu                          sync.Mutex
	begun, committed, completed int
	job                         int
}

func (l *preCommitListener) want(event string, job, begun, committed, completed int) {
	if l.begun != begun || l.committed != committed || l.completed != completed || job != l.job {
		l.x.Errorf("%s of job %d after %d begun, %d committed, %d completed, the last of job %d", event, job, l.begun, l.committed, l.completed, l.job)
	}
}

func (l *preCommitListener) OnCompactionBegin(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
	l.job = info.JobID
	l.want("OnCompactionBegin", info.JobID, l.committed+1, l.committed, l.committed)
}

func (l *preCommitListener) OnCompactionPreCommit(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed++
	l.want("OnCompactionPreCommit", info.JobID, l.begun, l.begun, l.begun-1)
	live := make(map[uint64]bool)
	for _, f := range l.x.db.GetLiveFilesMetaData() {
		live[f.FileNumber] = f.BeingCompacted
	}
	if len(info.InputFileInfos) == 0 {
		l.x.Error("no inputs")
	}
	for _, f := range info.InputFileInfos {
		if busy, ok := live[f.FileNumber]; !ok || !busy {
			l.x.Errorf("input %d: live %t, being compacted %t", f.FileNumber, ok, busy)
		}
	}
}

func (l *preCommitListener) OnCompactionCompleted(_ rocksdb.DBRef, info *rocksdb.CompactionJobInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.completed++
	l.want("OnCompactionCompleted", info.JobID, l.begun, l.begun, l.begun)
}

func TestEventListenerTest_OnCompactionPreCommitOrdering(t *testing.T) {
	for name, set := range map[string]func(*root.Options){
		"job":  func(*root.Options) {},
		"move": func(o *root.Options) { o.Level0FileNumCompactionTrigger = 1 },
		"deletion": func(o *root.Options) {
			o.CompactionStyle = rocksdb.CompactionStyleFIFO
			o.CompactionOptionsFIFO.MaxTableFilesSize = 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newDBTest(t)
			l := &preCommitListener{x: x}
			o := x.currentOptions()
			o.Compression = rocksdb.NoCompression
			o.Level0FileNumCompactionTrigger = 4
			o.MaxBackgroundCompactions = 1
			set(&o)
			o.Listeners = []rocksdb.EventListener{l}
			x.destroyAndReopen(o)
			for i := range 4 {
				for j := range 10 {
					if name == "move" {
						j += 10 * i
					}
					x.mustPut(0, dummyString(10, byte('a'+j)), "value")
				}
				x.flush(0)
				if name == "move" {
					x.must(x.full().TestWaitForCompact())
				}
			}
			x.must(x.full().TestWaitForCompact())
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.begun == 0 || l.committed != l.begun || l.completed != l.begun {
				t.Errorf("%d begun, %d committed, %d completed", l.begun, l.committed, l.completed)
			}
		})
	}
}

type shutdownListener struct {
	rocksdb.EventListenerBase
	mu    sync.Mutex
	count int
	db    rocksdb.DBRef
}

func (l *shutdownListener) OnDBShutdownBegin(db rocksdb.DBRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	l.db = db
}

func TestEventListenerTest_OnDBShutdownBeginOnceForCancelAndClose(t *testing.T) {
	x := newDBTest(t)
	l := &shutdownListener{}
	o := x.currentOptions()
	o.Listeners = []rocksdb.EventListener{l}
	x.destroyAndReopen(o)
	impl := x.full()
	impl.CancelAllBackgroundWork(false)
	if l.count != 1 || l.db != rocksdb.DBRef(impl) {
		t.Errorf("%d calls, of %v", l.count, l.db)
	}
	x.close()
	if l.count != 1 {
		t.Errorf("%d calls after Close", l.count)
	}
}
