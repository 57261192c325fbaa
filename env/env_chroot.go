// Port of env/env_chroot.{h,cc}. Differs: a path beside the directory whose
// name begins as the directory's does is outside.

package env

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// ChrootFileSystem shows one directory of its target as the root.
type ChrootFileSystem struct {
	*RemapFileSystem
	dir string
}

// NewChrootFileSystem wraps base, whose paths have to be the operating
// system's. dir has to exist.
func NewChrootFileSystem(base rocksdb.FileSystem, dir string) (*ChrootFileSystem, error) {
	c := newChrootFileSystem(base, dir)
	if err := c.PrepareOptions(nil); err != nil {
		return nil, err
	}
	return c, nil
}

func newChrootFileSystem(base rocksdb.FileSystem, dir string) *ChrootFileSystem {
	c := &ChrootFileSystem{dir: dir}
	c.RemapFileSystem = NewRemapFileSystem(base, c)
	return c
}

// PrepareOptions resolves the directory, which has to exist.
func (c *ChrootFileSystem) PrepareOptions(*rocksdb.ConfigOptions) error {
	if c.dir == "" {
		return rocksdb.InvalidArgument("ChRootFileSystem requires a chroot dir")
	}
	if err := c.FileSystem.FileExists(c.dir, nil); err != nil {
		return err
	}
	abs, err := filepath.Abs(c.dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return IOError("While resolving chroot dir", c.dir, err)
	}
	c.dir = abs
	return nil
}

// OptionsPtr has "chroot_dir" and the target.
func (c *ChrootFileSystem) OptionsPtr(name string) any {
	if name == rocksdb.ChrootDirOptionsName {
		return &c.dir
	}
	return c.RemapFileSystem.OptionsPtr(name)
}

// NewChrootEnv is base with a ChrootFileSystem.
func NewChrootEnv(base rocksdb.Env, dir string) (rocksdb.Env, error) {
	fs, err := NewChrootFileSystem(base.GetFileSystem(), dir)
	if err != nil {
		return nil, err
	}
	return NewCompositeEnvWrapper(base, fs, nil), nil
}

// Name is ChrootFS.
func (c *ChrootFileSystem) Name() string { return "ChrootFS" }

// GetTestDirectory is one in the root.
func (c *ChrootFileSystem) GetTestDirectory(opts *rocksdb.IOOptions) (string, error) {
	dir := fmt.Sprintf("/rocksdbtest-%d", os.Geteuid())
	return dir, c.CreateDirIfMissing(dir, opts)
}

// EncodePath resolves links and refuses what then lies outside.
func (c *ChrootFileSystem) EncodePath(path string) (string, error) {
	if path == "" || path[0] != '/' {
		return "", rocksdb.InvalidArgument(path, "Not an absolute path")
	}
	full := c.dir + path
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return "", rocksdb.NotFound(full, errnoStr(err)).Wrap(err)
	}
	if real != c.dir && !strings.HasPrefix(real, strings.TrimSuffix(c.dir, "/")+"/") {
		return "", rocksdb.IOError(full, "Attempted to access path outside chroot")
	}
	return full, nil
}

// EncodePathWithNewBasename checks all but the last part.
func (c *ChrootFileSystem) EncodePathWithNewBasename(path string) (string, error) {
	if path == "" || path[0] != '/' {
		return "", rocksdb.InvalidArgument(path, "Not an absolute path")
	}
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" {
		return c.EncodePath(path)
	}
	sep := strings.LastIndexByte(trimmed, '/')
	if trimmed[sep+1:] == ".." {
		return c.EncodePath(path) // its parent is not its prefix
	}
	parent, err := c.EncodePath(path[:sep+1])
	if err != nil {
		return "", err
	}
	return parent + path[sep+1:], nil
}
