//go:build syncpoint

// Port of test_util/sync_point.{h,cc}. Differs: one process-wide instance
// behind package functions; markers compare goroutines by a caller-given key.

package syncpoint

import "sync"

// Enabled tells whether sync points are compiled in.
const Enabled = true

// Pair says that Predecessor has to be passed before Successor may be.
type Pair struct{ Predecessor, Successor string }

var state struct {
	sync.Mutex
	cond         *sync.Cond
	enabled      bool
	predecessors map[string][]string
	callbacks    map[string]func(any)
	cleared      map[string]bool
	running      int
}

func init() { state.cond = sync.NewCond(&state.Mutex) }

// LoadDependency replaces all dependencies, and forgets which points were
// passed.
func LoadDependency(pairs ...Pair) {
	state.Lock()
	defer state.Unlock()
	state.predecessors = map[string][]string{}
	state.cleared = map[string]bool{}
	for _, p := range pairs {
		state.predecessors[p.Successor] = append(state.predecessors[p.Successor], p.Predecessor)
	}
	state.cond.Broadcast()
}

// SetCallBack runs f each time point is passed, with the point's argument.
func SetCallBack(point string, f func(any)) {
	state.Lock()
	defer state.Unlock()
	if state.callbacks == nil {
		state.callbacks = map[string]func(any){}
	}
	state.callbacks[point] = f
}

// ClearCallBack removes the callback of point, once none is running.
func ClearCallBack(point string) {
	state.Lock()
	defer state.Unlock()
	for state.running > 0 {
		state.cond.Wait()
	}
	delete(state.callbacks, point)
}

// ClearAllCallBacks removes every callback, once none is running.
func ClearAllCallBacks() {
	state.Lock()
	defer state.Unlock()
	for state.running > 0 {
		state.cond.Wait()
	}
	state.callbacks = nil
}

// EnableProcessing makes points take effect.
func EnableProcessing() {
	state.Lock()
	defer state.Unlock()
	state.enabled = true
}

// DisableProcessing makes points take no effect; waiting ones go on.
func DisableProcessing() {
	state.Lock()
	defer state.Unlock()
	state.enabled = false
	state.cond.Broadcast()
}

// ClearTrace forgets which points were passed.
func ClearTrace() {
	state.Lock()
	defer state.Unlock()
	state.cleared = map[string]bool{}
}

// Reset disables processing and clears callbacks and dependencies; for a
// test's cleanup.
func Reset() {
	DisableProcessing()
	ClearAllCallBacks()
	LoadDependency()
}

// Process marks a named point: it waits for the point's predecessors and runs
// its callback.
func Process(point string) { ProcessArg(point, nil) }

// ProcessArg is Process with an argument for the callback.
func ProcessArg(point string, arg any) {
	state.Lock()
	defer state.Unlock()
	if !state.enabled {
		return
	}
	for state.enabled && !predecessorsClearedLocked(point) {
		state.cond.Wait()
	}
	if f := state.callbacks[point]; f != nil && state.enabled {
		state.running++
		state.Unlock()
		f(arg)
		state.Lock()
		state.running--
	}
	if state.cleared == nil {
		state.cleared = map[string]bool{}
	}
	state.cleared[point] = true
	state.cond.Broadcast()
}

func predecessorsClearedLocked(point string) bool {
	for _, p := range state.predecessors[point] {
		if !state.cleared[p] {
			return false
		}
	}
	return true
}
