// Port of db/db_impl/db_impl.cc (NewThreadStatusCfInfo and its like) and
// monitoring/thread_status_util.{h,cc}. Differs: a job is handed its worker's
// record; goroutines have no locals.

package dbimpl

import (
	"context"
	"runtime/pprof"
	"runtime/trace"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
)

// schedule hands a job to a pool. With enable_thread_tracking the job gets its
// worker's record; else nil, which all of the record's methods take. Profiles show
// the job under the labels rocksdb_job and rocksdb_db, execution traces as a
// region. unscheduled is called instead of a job that is taken back by its tag.
func (d *DBImpl) schedule(kind string, job func(*monitoring.ThreadStatusData), pri rocksdb.Priority, tag any, unscheduled func()) {
	labelled := func(status *monitoring.ThreadStatusData) {
		pprof.Do(context.Background(), pprof.Labels("rocksdb_job", kind, "rocksdb_db", d.dbName), func(ctx context.Context) {
			defer trace.StartRegion(ctx, "rocksdb."+kind).End()
			job(status)
		})
	}
	if d.threads != nil {
		d.threads.ScheduleWithStatus(labelled, pri, tag, unscheduled)
		return
	}
	d.env.Schedule(func() { labelled(nil) }, pri, tag, unscheduled)
}

// initThreadTracking finds who keeps the records, with enable_thread_tracking.
func (d *DBImpl) initThreadTracking() error {
	if !d.immutable.EnableThreadTracking {
		return nil
	}
	t := env.ThreadStatusEnvOf(d.env)
	if t == nil || t.GetThreadStatusUpdater() == nil {
		return rocksdb.NotSupported("enable_thread_tracking with an Env that keeps no thread status: " + d.env.Name())
	}
	d.threads, d.statusKey = t, monitoring.NewInfoKey()
	return nil
}

// newThreadStatusCFInfo names a family in GetThreadList.
func (d *DBImpl) newThreadStatusCFInfo(cfd *db.ColumnFamilyData) {
	if d.threads != nil {
		d.threads.GetThreadStatusUpdater().NewColumnFamilyInfo(d.statusKey, d.dbName, cfd.StatusKey(), cfd.GetName())
	}
}

func (d *DBImpl) eraseThreadStatusCFInfo(cfd *db.ColumnFamilyData) {
	if d.threads != nil {
		d.threads.GetThreadStatusUpdater().EraseColumnFamilyInfo(cfd.StatusKey())
	}
}

func (d *DBImpl) eraseThreadStatusDBInfo() {
	if d.threads != nil {
		d.threads.GetThreadStatusUpdater().EraseDatabaseInfo(d.statusKey)
	}
}
