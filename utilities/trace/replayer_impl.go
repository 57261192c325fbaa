// Port of include/rocksdb/utilities/replayer.h and
// utilities/trace/replayer_impl.{h,cc}. Differs: with several threads, too, all
// errors but NotSupported end the replay; a trace that is cut off is a Corruption.

package trace

import (
	"sync"
	"time"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

// ReplayOptions say how a trace is replayed.
type ReplayOptions struct {
	// NumThreads do the operations; of 0 and 1 it is the caller. Default 1.
	NumThreads uint32
	// FastForward divides the time between operations: below 1 it is slower than
	// the trace, above faster. Default 1.
	FastForward float64
}

// DefaultReplayOptions gives the defaults.
func DefaultReplayOptions() ReplayOptions { return ReplayOptions{NumThreads: 1, FastForward: 1} }

// ExecuteFunc does an operation. A key that is not found is no error. It is called
// concurrently.
type ExecuteFunc func(r tracereplay.TraceRecord) (tracereplay.TraceRecordResult, error)

// Replayer does the operations of a trace again. Next and Execute are safe for
// concurrent use; the others are not.
type Replayer struct {
	execute  ExecuteFunc
	header   tracereplay.Trace
	version  int
	prepared bool

	mu struct {
		sync.Mutex
		r   rocksdb.TraceReader
		end bool
	}
}

// NewReplayer makes one of a trace, which Close closes.
func NewReplayer(r rocksdb.TraceReader, execute ExecuteFunc) *Replayer {
	x := &Replayer{execute: execute}
	x.mu.r = r
	return x
}

// Close closes the trace.
func (x *Replayer) Close() error { return x.mu.r.Close() }

// Prepare goes to the trace's begin. It has to be called before each replay.
func (x *Replayer) Prepare() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.mu.r.Reset(); err != nil {
		return err
	}
	data, err := x.mu.r.Read()
	if err != nil {
		return err
	}
	if x.version, err = tracereplay.DecodeHeader(data); err != nil {
		return err
	}
	x.header, err = tracereplay.DecodeTrace(data)
	x.prepared, x.mu.end = err == nil, false
	return err
}

// GetHeaderTimestamp is when the trace began, in microseconds since 1970.
func (x *Replayer) GetHeaderTimestamp() uint64 { return x.header.TS }

// read gives the next record, whose payload is its own. At the end it is Incomplete.
func (x *Replayer) read() (t tracereplay.Trace, err error) {
	if !x.prepared {
		return t, rocksdb.Incomplete("Not prepared!")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.mu.end {
		return t, rocksdb.Incomplete("Trace end.")
	}
	data, err := x.mu.r.Read()
	if err == nil {
		t, err = tracereplay.DecodeTrace(data)
	}
	if err == nil && t.Type == tracereplay.TraceEnd {
		err = rocksdb.Incomplete("Trace end.")
	}
	if rocksdb.IsIncomplete(err) { // without an end, where the program was killed
		x.mu.end = true
	}
	t.Payload = append([]byte(nil), t.Payload...)
	return t, err
}

// Next gives the next operation. It is Incomplete at the end, or when Prepare was not
// called, and NotSupported for a record that is none.
func (x *Replayer) Next() (tracereplay.TraceRecord, error) {
	t, err := x.read()
	if err != nil {
		return nil, err
	}
	return tracereplay.DecodeTraceRecord(&t, x.version)
}

// Execute does an operation. A key that is not found is no error.
func (x *Replayer) Execute(r tracereplay.TraceRecord) (tracereplay.TraceRecordResult, error) {
	return x.execute(r)
}

// Replay does all operations that are left, at the times of the trace. It calls
// callback, if that is not nil, with what each gave, by several threads
// concurrently. Records that are no operations are passed over.
func (x *Replayer) Replay(o ReplayOptions, callback func(err error, result tracereplay.TraceRecordResult)) error {
	if !(o.FastForward > 0) {
		return rocksdb.InvalidArgument("Wrong fast forward speed!")
	}
	if callback == nil {
		callback = func(error, tracereplay.TraceRecordResult) {}
	}
	w := replayWork{x: x, callback: callback, epoch: time.Now(), fast: o.FastForward}
	if o.NumThreads <= 1 {
		return w.run()
	}
	return w.runThreads(int(min(o.NumThreads, maxReplayThreads)))
}

// maxReplayThreads bounds what an option may ask for.
const maxReplayThreads = 1024

// replayWork is a replay.
type replayWork struct {
	x        *Replayer
	callback func(error, tracereplay.TraceRecordResult)
	epoch    time.Time
	fast     float64
}

// await waits for the time of a record; one from before the trace is due at once.
func (w *replayWork) await(t *tracereplay.Trace) {
	if after := int64(t.TS - w.x.header.TS); after > 0 {
		time.Sleep(time.Until(w.epoch.Add(time.Duration(float64(after) / w.fast * float64(time.Microsecond)))))
	}
}

// do does the operation of a record. Its error ends the replay.
func (w *replayWork) do(t *tracereplay.Trace) error {
	r, err := tracereplay.DecodeTraceRecord(t, w.x.version)
	var result tracereplay.TraceRecordResult
	if err == nil {
		result, err = w.x.execute(r)
	}
	w.callback(err, result)
	if rocksdb.IsNotSupported(err) {
		return nil
	}
	return err
}

// finished tells that what ended the reading was the end.
func finished(err error) error {
	if rocksdb.IsIncomplete(err) {
		return nil
	}
	return err
}

func (w *replayWork) run() error {
	if !w.x.prepared || w.x.mu.end {
		_, err := w.x.read()
		return err
	}
	for {
		t, err := w.x.read()
		if err != nil {
			return finished(err)
		}
		w.await(&t)
		if err := w.do(&t); err != nil {
			return err
		}
	}
}

// runThreads hands records to n goroutines at their times. The error is that of the
// earliest record that failed.
func (w *replayWork) runThreads(n int) error {
	if !w.x.prepared || w.x.mu.end {
		_, err := w.x.read()
		return err
	}
	var mu sync.Mutex
	var failed error
	var failedAt uint64
	failure := func() error {
		mu.Lock()
		defer mu.Unlock()
		return failed
	}
	work := make(chan tracereplay.Trace)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for t := range work {
				if err := w.do(&t); err != nil {
					mu.Lock()
					if failed == nil || t.TS < failedAt {
						failed, failedAt = err, t.TS
					}
					mu.Unlock()
				}
			}
		})
	}
	var err error
	for failure() == nil {
		var t tracereplay.Trace
		if t, err = w.x.read(); err != nil {
			break
		}
		w.await(&t)
		work <- t
	}
	close(work)
	wg.Wait()
	if failed != nil {
		return failed
	}
	return finished(err)
}
