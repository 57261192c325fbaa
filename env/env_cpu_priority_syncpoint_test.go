//go:build syncpoint

// Port of EnvPosixTest.LowerThreadPoolCpuPriority of env/env_test.cc. Differs:
// an Env of its own, since priorities cannot be raised again.

package env

import (
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func TestEnvPosixTest_LowerThreadPoolCpuPriority(t *testing.T) {
	const normal, low, idle = rocksdb.CPUPriorityNormal, rocksdb.CPUPriorityLow, rocksdb.CPUPriorityIdle
	var from, to atomic.Int32
	from.Store(int32(normal))
	to.Store(int32(normal))
	defer syncpoint.Reset()
	for point, v := range map[string]*atomic.Int32{
		"ThreadPoolImpl::BGThread::BeforeSetCpuPriority": &from,
		"ThreadPoolImpl::BGThread::AfterSetCpuPriority":  &to,
	} {
		syncpoint.SetCallBack(point, func(arg any) { v.Store(int32(*arg.(*rocksdb.CPUPriority))) })
	}
	syncpoint.EnableProcessing()

	e := newPosixEnv()
	bottom, high := rocksdb.BottomPriority, rocksdb.HighPriority
	for _, pri := range []rocksdb.Priority{bottom, high} {
		e.SetBackgroundThreads(1, pri)
		defer e.pools[pri].JoinAllThreads()
	}
	for _, step := range []struct {
		pool            rocksdb.Priority
		set, from, want rocksdb.CPUPriority
	}{
		{bottom, normal, normal, normal},
		{bottom, rocksdb.CPUPriorityHigh, normal, normal},
		{bottom, low, normal, low},
		{bottom, idle, low, idle},
		{high, idle, normal, idle},
	} {
		noError(t, e.LowerThreadPoolCPUPriority(step.pool, step.set))
		done := make(chan struct{})
		e.Schedule(func() { close(done) }, step.pool, nil, nil)
		<-done
		if f, to := rocksdb.CPUPriority(from.Load()), rocksdb.CPUPriority(to.Load()); f != step.from || to != step.want {
			t.Errorf("%+v: from %v to %v", step, f, to)
		}
	}
}
