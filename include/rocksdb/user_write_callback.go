// Port of include/rocksdb/user_write_callback.h.

package rocksdb

// UserWriteCallback is told of a write's progress, from the writing goroutine.
type UserWriteCallback interface {
	// OnWriteEnqueued runs when the write has its place in the queue.
	OnWriteEnqueued()
	// OnWalWriteFinish runs when the log has it; not called without a log.
	OnWalWriteFinish()
}
