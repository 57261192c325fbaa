//go:build !linux

// Port of the priorities of util/threadpool_imp.cc and port/port_posix.cc.
// Differs: threads have none here.

package threadpool

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

func setThreadCPUPriority(rocksdb.CPUPriority) {}

func setThreadIOPriorityIdle() {}
