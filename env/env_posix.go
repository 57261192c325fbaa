// Port of env/env_posix.cc and env/env.cc. Differs: no dynamic libraries, and
// no file methods beside the file system's.

package env

import (
	"fmt"
	"os"
	"sync"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util/threadpool"
)

// posixEnv is the process's Env. Its pools live as long as the process.
type posixEnv struct {
	updater monitoring.ThreadStatusUpdater
	pools   [rocksdb.UserPriority]*threadpool.ThreadPoolImpl
	started sync.WaitGroup
}

func newPosixEnv() *posixEnv {
	e := &posixEnv{}
	for pri := range e.pools {
		e.pools[pri] = threadpool.NewThreadPoolImpl(rocksdb.Priority(pri), &e.updater)
	}
	return e
}

var defaultEnv = sync.OnceValue(newPosixEnv)

// Default is the process's Env: the operating system's files and clock, and a
// pool of goroutines for each of the priorities Bottom, Low and High.
func Default() rocksdb.Env { return defaultEnv() }

// ThreadStatusEnv is an Env whose jobs report what they do.
type ThreadStatusEnv interface {
	// GetThreadStatusUpdater keeps the reports; nil when there are none.
	GetThreadStatusUpdater() *monitoring.ThreadStatusUpdater
	// ScheduleWithStatus is Schedule, and hands the job its worker's record.
	ScheduleWithStatus(fn func(*monitoring.ThreadStatusData), pri rocksdb.Priority, tag any, unsched func())
}

// ThreadStatusEnvOf finds the ThreadStatusEnv that e is or wraps; nil when
// there is none.
func ThreadStatusEnvOf(e rocksdb.Env) ThreadStatusEnv {
	t, _ := envOf[ThreadStatusEnv](e)
	return t
}

// AwaitPickup waits until the idle workers of e's pool of that priority have taken
// the jobs queued; not at all where the Env that e is or wraps has pools of its own.
func AwaitPickup(e rocksdb.Env, pri rocksdb.Priority) {
	if p, ok := envOf[*posixEnv](e); ok {
		p.pool(pri).AwaitPickup()
	}
}

// envOf finds the T that e is or wraps.
func envOf[T any](e rocksdb.Env) (t T, ok bool) {
	for e != nil {
		if t, ok = e.(T); ok {
			return t, true
		}
		w, ok := e.(interface{ Target() rocksdb.Env })
		if !ok {
			break
		}
		e = w.Target()
	}
	return t, false
}

// pool clamps: user threads are not pooled, their work goes to High.
func (e *posixEnv) pool(pri rocksdb.Priority) *threadpool.ThreadPoolImpl {
	return e.pools[min(pri, rocksdb.HighPriority)]
}

func (e *posixEnv) Name() string                        { return "PosixEnv" }
func (e *posixEnv) NickName() string                    { return rocksdb.DefaultEnvName }
func (e *posixEnv) GetFileSystem() rocksdb.FileSystem   { return DefaultFileSystem() }
func (e *posixEnv) GetSystemClock() rocksdb.SystemClock { return rocksdb.DefaultSystemClock() }

func (e *posixEnv) Schedule(fn func(), pri rocksdb.Priority, tag any, unsched func()) {
	e.pool(pri).Schedule(fn, tag, unsched)
}

func (e *posixEnv) ScheduleWithStatus(fn func(*monitoring.ThreadStatusData), pri rocksdb.Priority, tag any, unsched func()) {
	e.pool(pri).ScheduleWithStatus(fn, tag, unsched)
}

func (e *posixEnv) UnSchedule(tag any, pri rocksdb.Priority) int {
	return e.pool(pri).UnSchedule(tag)
}

func (e *posixEnv) StartThread(fn func()) { e.started.Go(fn) }

func (e *posixEnv) WaitForJoin() { e.started.Wait() }

func (e *posixEnv) ReserveThreads(n int, pri rocksdb.Priority) int {
	return e.pool(pri).ReserveThreads(n)
}

func (e *posixEnv) ReleaseThreads(n int, pri rocksdb.Priority) int {
	return e.pool(pri).ReleaseThreads(n)
}

func (e *posixEnv) GetThreadPoolQueueLen(pri rocksdb.Priority) int {
	return int(e.pool(pri).GetQueueLen())
}

func (e *posixEnv) SetBackgroundThreads(n int, pri rocksdb.Priority) {
	e.pool(pri).SetBackgroundThreads(n)
}

func (e *posixEnv) GetBackgroundThreads(pri rocksdb.Priority) int {
	return e.pool(pri).GetBackgroundThreads()
}

func (e *posixEnv) IncBackgroundThreadsIfNeeded(n int, pri rocksdb.Priority) {
	e.pool(pri).IncBackgroundThreadsIfNeeded(n)
}

func (e *posixEnv) LowerThreadPoolIOPriority(pri rocksdb.Priority) { e.pool(pri).LowerIOPriority() }

func (e *posixEnv) LowerThreadPoolCPUPriority(pri rocksdb.Priority, cpu rocksdb.CPUPriority) error {
	e.pool(pri).LowerCPUPriority(cpu)
	return nil
}

func (e *posixEnv) GetHostName() (string, error) {
	name, err := os.Hostname()
	if err != nil {
		return "", IOError("GetHostName", "", err)
	}
	return name, nil
}

func (e *posixEnv) GetThreadID() uint64 { return threadID() }

func (e *posixEnv) GetThreadList() ([]rocksdb.ThreadStatus, error) {
	return e.updater.GetThreadList()
}

func (e *posixEnv) GetThreadStatusUpdater() *monitoring.ThreadStatusUpdater { return &e.updater }

func (e *posixEnv) GenerateUniqueID() string { return GenerateUniqueID() }

func (e *posixEnv) SetAllowNonOwnerAccess(allow bool) error {
	defaultFileSystem().SetAllowNonOwnerAccess(allow)
	return nil
}

// GenerateUniqueID makes a random UUID (RFC 4122, version 4).
func GenerateUniqueID() string {
	upper, lower := GenerateRawUniqueID()
	upper = upper&^0xf000 | 0x4000
	lower = lower&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", upper>>32, upper>>16&0xffff, upper&0xffff, lower>>48, lower&(1<<48-1))
}
