// Package threadpool runs background jobs on a bounded number of goroutines
// (ThreadPoolImpl). An Env has one pool for each rocksdb.Priority.
//
// A job taken from the queue runs to its end. Jobs still queued can be taken back
// by their tag. Idle workers can be reserved: then they take no jobs, so that
// their owner may run as many goroutines of its own.
//
// Invariants: at most GetBackgroundThreads() jobs run, except while that number
// was just lowered; workers end in the reverse order of their making, so that
// the surplus is always the last ones; waiting - reserved workers at most take
// jobs.
//
// Lock: ThreadPoolImpl.mu, a leaf; jobs and unschedule functions run without it.
//
// Read threadpool_imp.go.
package threadpool
