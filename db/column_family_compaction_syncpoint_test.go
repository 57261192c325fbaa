//go:build syncpoint

// No upstream twin: a family that goes while it is compacted.

package db_test

import (
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

// compactionEnds tells of compactions before their end and of what they end with.
type compactionEnds struct {
	rocksdb.EventListenerBase
	before, ended chan error
}

func (l *compactionEnds) OnCompactionPreCommit(_ contract.DBRef, info *contract.CompactionJobInfo) {
	l.before <- info.Status
}
func (l *compactionEnds) OnCompactionCompleted(_ contract.DBRef, info *contract.CompactionJobInfo) {
	l.ended <- info.Status
}

func TestCompactionOfFamilyWithoutHandles(t *testing.T) {
	x := newDBTest(t)
	o := x.currentOptions()
	o.Level0FileNumCompactionTrigger = 2
	l := &compactionEnds{before: make(chan error, 1), ended: make(chan error, 1)}
	o.Listeners = []rocksdb.EventListener{l}
	x.destroyAndReopen(o)
	cf, err := x.db.CreateColumnFamily(o.ColumnFamilyOptions, "going")
	x.must(err)
	defer endSyncPoints()
	flushed, gone := make(chan struct{}), make(chan error, 1)
	syncpoint.SetCallBack(afterRun, func(any) {
		<-flushed
		gone <- errors.Join(x.db.DropColumnFamily(cf), cf.Close())
	})
	syncpoint.EnableProcessing()
	for range 2 {
		x.must(cf.Put(nil, []byte("a"), []byte("value"))) // tables that overlap are not just moved
		x.must(cf.Put(nil, []byte("z"), []byte("value")))
		x.must(cf.Flush(nil))
	}
	close(flushed)
	x.must(<-gone)
	x.must(<-l.before)
	if err := <-l.ended; !errors.Is(err, contract.ErrColumnFamilyDropped) {
		t.Errorf("the compaction ends with %v", err)
	}
}
