// Port of include/rocksdb/db.h (GetAsync, MultiGetAsync). Differs: a call gives
// a value to wait for instead of taking a callback, and a goroutine does the
// lookup instead of a coroutine.

package rocksdb

import "bytes"

// GetFuture is a Get under way.
type GetFuture struct {
	done  chan struct{}
	value PinnableSlice
	err   error
}

// Done is closed when the lookup has ended.
func (f *GetFuture) Done() <-chan struct{} { return f.done }

// Wait gives what Get gives, when the lookup has ended. It is called once;
// Release has to be called on the value.
func (f *GetFuture) Wait() (PinnableSlice, error) {
	<-f.done
	v, err := f.value, f.err
	f.value = PinnableSlice{}
	return v, err
}

// MultiGetFuture is a MultiGet under way.
type MultiGetFuture struct {
	done   chan struct{}
	values []PinnableSlice
	errs   []error
}

// Done is closed when the lookups have ended.
func (f *MultiGetFuture) Done() <-chan struct{} { return f.done }

// Wait gives what MultiGet gives, a value and an error for each key, when the
// lookups have ended. It is called once; Release has to be called on the values.
func (f *MultiGetFuture) Wait() ([]PinnableSlice, []error) {
	<-f.done
	v := f.values
	f.values = nil
	return v, f.errs
}

// asyncOptions copies what the caller may change. Contexts are the lookup's
// until Wait.
func asyncOptions(ro *ReadOptions) *ReadOptions {
	if ro == nil {
		return nil
	}
	o := *ro
	o.Timestamp = bytes.Clone(ro.Timestamp)
	return &o
}

// GetAsync begins a Get. key and the options may be changed when it returns;
// what the options point to (a snapshot, contexts) is in use until Wait. Wait
// has to come before the database is closed.
func (c *ColumnFamily) GetAsync(ro *ReadOptions, key []byte) *GetFuture {
	f := &GetFuture{done: make(chan struct{})}
	ro, key = asyncOptions(ro), bytes.Clone(key)
	go func() {
		defer close(f.done)
		f.err = c.GetInto(ro, key, &f.value)
	}()
	return f
}

// MultiGetAsync begins a MultiGet, whose reads of several tables are under way
// at once with ReadOptions.AsyncIO. It is to MultiGet what GetAsync is to Get.
func (c *ColumnFamily) MultiGetAsync(ro *ReadOptions, keys [][]byte) *MultiGetFuture {
	f := &MultiGetFuture{done: make(chan struct{}), values: make([]PinnableSlice, len(keys)), errs: make([]error, len(keys))}
	ro = asyncOptions(ro)
	copies := make([][]byte, len(keys))
	for i, k := range keys {
		copies[i] = bytes.Clone(k)
	}
	go func() {
		defer close(f.done)
		c.MultiGet(ro, copies, f.values, f.errs)
	}()
	return f
}
