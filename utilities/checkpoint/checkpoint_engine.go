// Port of utilities/checkpoint/checkpoint_impl.cc (CheckpointEngine) and of
// include/rocksdb/utilities/checkpoint.h. Differs: a bounded number of goroutines instead of a pool of threads.

package checkpoint

import (
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/util/ratelimiter"
)

// defaultIOBuffer is what files are copied by, in bytes.
const defaultIOBuffer = 5 << 20

// CheckpointEngineOptions configure a CheckpointEngine.
type CheckpointEngineOptions struct {
	InfoLog rocksdb.Logger
	// IOBufferSize is the size of the pieces that files are copied by, in
	// bytes; 0 is 5 MiB, or what the rate limiter gives at once.
	IOBufferSize uint64
	// BackupRateLimit bounds copying, in bytes a second; 0 is no limit. It is
	// not looked at with a BackupRateLimiter.
	BackupRateLimit uint64
	// BackupRateLimiter bounds copying, if not nil.
	BackupRateLimiter rocksdb.RateLimiter
	// MaxBackgroundOperations is how many files are linked or copied at once.
	// Default 1.
	MaxBackgroundOperations int
	// UseLinkFileWhenAvailable links files that do not change. Default true.
	UseLinkFileWhenAvailable bool
}

// DefaultCheckpointEngineOptions are upstream's.
func DefaultCheckpointEngineOptions() CheckpointEngineOptions {
	return CheckpointEngineOptions{MaxBackgroundOperations: 1, UseLinkFileWhenAvailable: true}
}

// CreateCheckpointOptions are those of one checkpoint.
type CreateCheckpointOptions struct {
	// DecreaseBackgroundThreadCPUPriority is not supported: goroutines have no
	// priority.
	DecreaseBackgroundThreadCPUPriority bool
	// LogSizeForFlush is Checkpoint.CreateCheckpoint's.
	LogSizeForFlush uint64
}

// CheckpointEngine makes checkpoints of databases, several files at once. It is
// safe for concurrent use; its bounds are for all checkpoints together.
type CheckpointEngine struct {
	o     CheckpointEngineOptions
	slots chan struct{} // one for each file in work
}

// OpenCheckpointEngine makes an engine.
// Upstream: CheckpointEngine::Open.
func OpenCheckpointEngine(o CheckpointEngineOptions) (*CheckpointEngine, error) {
	if o.MaxBackgroundOperations < 1 {
		return nil, rocksdb.InvalidArgument("max_background_operations must be at least 1")
	}
	if o.BackupRateLimiter == nil && o.BackupRateLimit > 0 {
		l, err := ratelimiter.NewGenericRateLimiter(int64(o.BackupRateLimit), 100*1000, 10, rocksdb.AllIO, false, 0)
		if err != nil {
			return nil, err
		}
		o.BackupRateLimiter = l
	}
	if o.IOBufferSize == 0 {
		o.IOBufferSize = defaultIOBuffer
		if o.BackupRateLimiter != nil {
			o.IOBufferSize = uint64(max(o.BackupRateLimiter.GetSingleBurstBytes(), 1))
		}
	}
	return &CheckpointEngine{o: o, slots: make(chan struct{}, o.MaxBackgroundOperations)}, nil
}

// CreateCheckpoint is Checkpoint.CreateCheckpoint of an open database; o may be
// nil.
func (e *CheckpointEngine) CreateCheckpoint(d *dbimpl.DBImpl, dir string, o *CreateCheckpointOptions) (rocksdb.SequenceNumber, error) {
	if o == nil {
		o = &CreateCheckpointOptions{}
	}
	if o.DecreaseBackgroundThreadCPUPriority {
		return 0, rocksdb.NotSupported("decrease_background_thread_cpu_priority: goroutines have no priority")
	}
	c := New(d)
	if e.o.InfoLog != nil {
		c.log = e.o.InfoLog
	}
	return c.create(dir, o.LogSizeForFlush, &parallelMover{e: e, c: c, stats: d.GetDBOptions().Statistics})
}

// ExportColumnFamily is Checkpoint.ExportColumnFamily: one file after the
// other, as upstream's.
func (e *CheckpointEngine) ExportColumnFamily(d *dbimpl.DBImpl, h *db.ColumnFamilyHandleImpl, dir string) (*rocksdb.ExportImportFilesMetaData, error) {
	return New(d).ExportColumnFamily(h, dir)
}

// mover puts files into the staging directory.
type mover interface {
	// link answers NotSupported where the file has to be copied.
	link(src, dst string, f *rocksdb.LiveFileStorageInfo) error
	// copy copies the first f.Size bytes.
	copy(src, dst string, f *rocksdb.LiveFileStorageInfo) error
	// finish waits for all of it, and gives the first error.
	finish() error
}

// serialMover does one thing after the other.
type serialMover struct{ c *Checkpoint }

func (m serialMover) link(src, dst string, _ *rocksdb.LiveFileStorageInfo) error {
	logging.Info(m.c.log, "Hard Linking %s", dst)
	return m.c.fs.LinkFile(src, dst, rocksdb.NewIOOptions())
}

func (m serialMover) copy(src, dst string, f *rocksdb.LiveFileStorageInfo) error {
	logging.Info(m.c.log, "Copying %s", dst)
	return m.c.copyFile(src, dst, f, &file.CopyOptions{MaxReadBufferSize: 1 << 20})
}

func (serialMover) finish() error { return nil }

// parallelMover hands files to goroutines. Its methods are called by one
// goroutine.
type parallelMover struct {
	e     *CheckpointEngine
	c     *Checkpoint
	stats rocksdb.Statistics
	done  sync.WaitGroup

	mu struct {
		sync.Mutex
		err error // the first one
	}
}

// run does work beside the caller, once there is a slot.
func (m *parallelMover) run(work func() error) {
	m.e.slots <- struct{}{}
	m.done.Go(func() {
		defer func() { <-m.e.slots }()
		if err := work(); err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.mu.err == nil {
				m.mu.err = err
			}
		}
	})
}

func (m *parallelMover) link(src, dst string, f *rocksdb.LiveFileStorageInfo) error {
	if !m.e.o.UseLinkFileWhenAvailable {
		return rocksdb.NotSupported("Linking disabled")
	}
	logging.Info(m.c.log, "Hard Linking %s", dst)
	m.run(func() error {
		err := m.c.fs.LinkFile(src, dst, rocksdb.NewIOOptions())
		if rocksdb.IsNotSupported(err) {
			logging.Info(m.c.log, "Copying (link fallback) %s", dst)
			return m.copyNow(src, dst, f)
		}
		return err
	})
	return nil
}

func (m *parallelMover) copy(src, dst string, f *rocksdb.LiveFileStorageInfo) error {
	logging.Info(m.c.log, "Copying %s", dst)
	m.run(func() error { return m.copyNow(src, dst, f) })
	return nil
}

func (m *parallelMover) copyNow(src, dst string, f *rocksdb.LiveFileStorageInfo) error {
	return m.c.copyFile(src, dst, f, &file.CopyOptions{MaxReadBufferSize: int(m.e.o.IOBufferSize), Progress: func(n int) {
		monitoring.RecordTick(m.stats, rocksdb.CheckpointReadBytes, uint64(n))
		if l := m.e.o.BackupRateLimiter; l != nil {
			for left := int64(n); left > 0; {
				step := min(left, max(l.GetSingleBurstBytes(), 1))
				l.Request(step, rocksdb.IOLow, nil, rocksdb.OpTypeWrite)
				left -= step
			}
		}
		monitoring.RecordTick(m.stats, rocksdb.CheckpointWriteBytes, uint64(n))
	}})
}

func (m *parallelMover) finish() error {
	m.done.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mu.err
}
