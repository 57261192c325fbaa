// Port of env/composite_env_wrapper.h and env/composite_env.cc. Differs: one
// type, since an Env has no file methods of its own to forward.

package env

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// CompositeEnv is an Env with another file system and clock; threads and the
// rest are the target's.
type CompositeEnv struct {
	rocksdb.EnvWrapper
	fs    rocksdb.FileSystem
	clock rocksdb.SystemClock
}

// NewCompositeEnv joins a file system to the default Env.
func NewCompositeEnv(fs rocksdb.FileSystem) *CompositeEnv {
	return NewCompositeEnvWrapper(Default(), fs, nil)
}

// NewCompositeEnvWrapper replaces the file system and the clock of target;
// nil keeps the target's. Without a target it is of use after PrepareOptions.
func NewCompositeEnvWrapper(target rocksdb.Env, fs rocksdb.FileSystem, clock rocksdb.SystemClock) *CompositeEnv {
	c := &CompositeEnv{rocksdb.EnvWrapper{Env: target}, fs, clock}
	if target != nil {
		c.complete()
	}
	return c
}

func (c *CompositeEnv) complete() {
	if c.fs == nil {
		c.fs = c.Env.GetFileSystem()
	}
	if c.clock == nil {
		c.clock = c.Env.GetSystemClock()
	}
}

// PrepareOptions takes the default Env for a target that is missing.
func (c *CompositeEnv) PrepareOptions(*rocksdb.ConfigOptions) error {
	if c.Env == nil {
		c.Env = Default()
	}
	c.complete()
	return nil
}

// OptionsPtr has "file_system", "clock" and "target".
func (c *CompositeEnv) OptionsPtr(name string) any {
	switch name {
	case rocksdb.CompositeFSOptionsName:
		return &c.fs
	case rocksdb.CompositeClockOptionsName:
		return &c.clock
	}
	return c.EnvWrapper.OptionsPtr(name)
}

// Name is CompositeEnv.
func (c *CompositeEnv) Name() string { return "CompositeEnv" }

// GetFileSystem is the one given.
func (c *CompositeEnv) GetFileSystem() rocksdb.FileSystem { return c.fs }

// GetSystemClock is the one given.
func (c *CompositeEnv) GetSystemClock() rocksdb.SystemClock { return c.clock }
