// Port of monitoring/{thread_status_updater,thread_status_util}.{h,cc}. Differs:
// the status is a handle that the worker holds and hands down, Go having no
// thread-locals, so ThreadStatusUtil's functions are methods of the handle;
// databases and column families are known by numbers.

package monitoring

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// InfoKey names a database or a column family to a ThreadStatusUpdater; 0 is
// none.
type InfoKey uint64

var lastInfoKey, lastThreadID atomic.Uint64

// NewInfoKey gives a key never given before.
func NewInfoKey() InfoKey { return InfoKey(lastInfoKey.Add(1)) }

// NewThreadID gives a number for a worker, never given before in this process.
func NewThreadID() uint64 { return lastThreadID.Add(1) }

// constantColumnFamilyInfo is what stays the same of a column family.
type constantColumnFamilyInfo struct {
	dbKey  InfoKey
	dbName string
	cfName string
}

// ThreadStatusData is what one worker is doing. Its methods are for the worker,
// cost a few nanoseconds, and do nothing on nil. All but SetEnableTracking and
// SetColumnFamily do nothing until tracking is enabled.
//
// The worker sets stage and properties before the operation and clears them
// after it: a reader that sees an operation sees its properties too.
type ThreadStatusData struct {
	threadID       uint64
	threadType     rocksdb.ThreadType
	enableTracking atomic.Bool
	cfKey          atomic.Uint64
	operationType  atomic.Int32
	opStartTime    atomic.Uint64 // microseconds
	operationStage atomic.Int32
	opProperties   [rocksdb.NumOperationProperties]atomic.Uint64
	stateType      atomic.Int32
}

// ThreadID is the worker's number in GetThreadList; for nil, which is no worker
// known there, a new one.
func (d *ThreadStatusData) ThreadID() uint64 {
	if d == nil {
		return NewThreadID()
	}
	return d.threadID
}

func (d *ThreadStatusData) tracking() bool { return d != nil && d.enableTracking.Load() }

// SetEnableTracking turns the other setters on or off.
func (d *ThreadStatusData) SetEnableTracking(enable bool) {
	if d != nil {
		d.enableTracking.Store(enable)
	}
}

// SetColumnFamily says which column family the worker works on; 0 is none, and
// then nothing else is listed of it.
func (d *ThreadStatusData) SetColumnFamily(cf InfoKey) {
	if d != nil {
		d.cfKey.Store(uint64(cf))
	}
}

// GetColumnFamily gives what SetColumnFamily set.
func (d *ThreadStatusData) GetColumnFamily() InfoKey {
	if !d.tracking() {
		return 0
	}
	return InfoKey(d.cfKey.Load())
}

// SetThreadOperation says that an operation begins now; OpUnknown, that it is
// over.
func (d *ThreadStatusData) SetThreadOperation(op rocksdb.OperationType) {
	if !d.tracking() {
		return
	}
	var start uint64
	if op != rocksdb.OpUnknown {
		start = rocksdb.DefaultSystemClock().NowMicros()
	}
	d.opStartTime.Store(start)
	d.operationType.Store(int32(op))
	if op == rocksdb.OpUnknown {
		d.operationStage.Store(int32(rocksdb.StageUnknown))
		d.ClearThreadOperationProperties()
	}
}

// GetThreadOperation gives the running operation.
func (d *ThreadStatusData) GetThreadOperation() rocksdb.OperationType {
	if !d.tracking() {
		return rocksdb.OpUnknown
	}
	return rocksdb.OperationType(d.operationType.Load())
}

// ClearThreadOperation says that the operation is over.
func (d *ThreadStatusData) ClearThreadOperation() { d.SetThreadOperation(rocksdb.OpUnknown) }

// SetThreadOperationStage says what step the operation is at, and gives the one
// before, to be set again afterwards where stages nest.
func (d *ThreadStatusData) SetThreadOperationStage(stage rocksdb.OperationStage) rocksdb.OperationStage {
	if !d.tracking() {
		return rocksdb.StageUnknown
	}
	return rocksdb.OperationStage(d.operationStage.Swap(int32(stage)))
}

// SetThreadOperationProperty sets property i of the operation; an i out of range
// is ignored.
func (d *ThreadStatusData) SetThreadOperationProperty(i int, value uint64) {
	if d.tracking() && uint(i) < rocksdb.NumOperationProperties {
		d.opProperties[i].Store(value)
	}
}

// IncreaseThreadOperationProperty adds delta to property i of the operation.
func (d *ThreadStatusData) IncreaseThreadOperationProperty(i int, delta uint64) {
	if d.tracking() && uint(i) < rocksdb.NumOperationProperties {
		d.opProperties[i].Add(delta)
	}
}

// ClearThreadOperationProperties sets all properties to zero.
func (d *ThreadStatusData) ClearThreadOperationProperties() {
	if d.tracking() {
		for i := range d.opProperties {
			d.opProperties[i].Store(0)
		}
	}
}

// SetThreadState says what the worker is doing at this moment.
func (d *ThreadStatusData) SetThreadState(state rocksdb.StateType) {
	if d.tracking() {
		d.stateType.Store(int32(state))
	}
}

// ClearThreadState takes SetThreadState back.
func (d *ThreadStatusData) ClearThreadState() { d.SetThreadState(rocksdb.StateUnknown) }

// ResetThreadStatus clears state, operation and column family.
func (d *ThreadStatusData) ResetThreadStatus() {
	d.ClearThreadState()
	d.ClearThreadOperation()
	d.SetColumnFamily(0)
}

// ThreadStatusUpdater lists workers and what they do. An Env has one. The zero
// value is ready for use; a nil one registers nothing.
type ThreadStatusUpdater struct {
	mu struct {
		sync.Mutex
		threads map[*ThreadStatusData]struct{}
		cfInfo  map[InfoKey]constantColumnFamilyInfo
		dbCFs   map[InfoKey]map[InfoKey]struct{} // database to its column families
	}
}

// RegisterThread adds a worker. Its status is listed until UnregisterThread.
func (u *ThreadStatusUpdater) RegisterThread(threadType rocksdb.ThreadType, threadID uint64) *ThreadStatusData {
	if u == nil {
		return nil
	}
	d := &ThreadStatusData{threadID: threadID, threadType: threadType}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.threads == nil {
		u.mu.threads = make(map[*ThreadStatusData]struct{})
	}
	u.mu.threads[d] = struct{}{}
	return d
}

// UnregisterThread takes a worker off the list.
func (u *ThreadStatusUpdater) UnregisterThread(d *ThreadStatusData) {
	if u == nil || d == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.mu.threads, d)
}

// NewColumnFamilyInfo names a column family. Do not call it with the DB mutex
// held.
func (u *ThreadStatusUpdater) NewColumnFamilyInfo(db InfoKey, dbName string, cf InfoKey, cfName string) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.mu.cfInfo == nil {
		u.mu.cfInfo = make(map[InfoKey]constantColumnFamilyInfo)
		u.mu.dbCFs = make(map[InfoKey]map[InfoKey]struct{})
	}
	if _, ok := u.mu.cfInfo[cf]; !ok {
		u.mu.cfInfo[cf] = constantColumnFamilyInfo{dbKey: db, dbName: dbName, cfName: cfName}
	}
	if u.mu.dbCFs[db] == nil {
		u.mu.dbCFs[db] = make(map[InfoKey]struct{})
	}
	u.mu.dbCFs[db][cf] = struct{}{}
}

// EraseColumnFamilyInfo forgets a column family. Do not call it with the DB
// mutex held.
func (u *ThreadStatusUpdater) EraseColumnFamilyInfo(cf InfoKey) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if info, ok := u.mu.cfInfo[cf]; ok {
		delete(u.mu.dbCFs[info.dbKey], cf)
		delete(u.mu.cfInfo, cf)
	}
}

// EraseDatabaseInfo forgets all column families of a database. Do not call it
// with the DB mutex held.
func (u *ThreadStatusUpdater) EraseDatabaseInfo(db InfoKey) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for cf := range u.mu.dbCFs[db] {
		delete(u.mu.cfInfo, cf)
	}
	delete(u.mu.dbCFs, db)
}

// GetThreadList lists the workers by ID. A worker whose column family is not
// known is listed without what it does.
func (u *ThreadStatusUpdater) GetThreadList() ([]rocksdb.ThreadStatus, error) {
	if u == nil {
		return nil, rocksdb.NotSupported("GetThreadList: the Env keeps no thread status")
	}
	now := rocksdb.DefaultSystemClock().NowMicros()
	u.mu.Lock()
	defer u.mu.Unlock()
	list := make([]rocksdb.ThreadStatus, 0, len(u.mu.threads))
	for d := range u.mu.threads {
		s := rocksdb.ThreadStatus{ThreadID: d.threadID, ThreadType: d.threadType}
		if info, ok := u.mu.cfInfo[InfoKey(d.cfKey.Load())]; ok {
			s.DBName, s.CFName = info.dbName, info.cfName
			d.describe(&s, now)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b rocksdb.ThreadStatus) int { return cmp.Compare(a.ThreadID, b.ThreadID) })
	return list, nil
}

func (d *ThreadStatusData) describe(s *rocksdb.ThreadStatus, now uint64) {
	s.OperationType = rocksdb.OperationType(d.operationType.Load())
	if s.OperationType == rocksdb.OpUnknown {
		return
	}
	if start := d.opStartTime.Load(); start < now {
		s.OpElapsedMicros = now - start
	}
	s.OperationStage = rocksdb.OperationStage(d.operationStage.Load())
	s.StateType = rocksdb.StateType(d.stateType.Load())
	for i := range s.OpProperties {
		s.OpProperties[i] = d.opProperties[i].Load()
	}
}
