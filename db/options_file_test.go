// Port of db/options_file_test.cc.

package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
)

// optionsFiles lists the OPTIONS files of a database, oldest first.
func optionsFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if p, ok := filename.ParseFileName(e.Name(), ""); ok && p.Type == rocksdb.OptionsFile {
			names = append(names, e.Name())
		}
	}
	return names
}

func openForOptions(t *testing.T, dir string, o rocksdb.Options) *rocksdb.DB {
	t.Helper()
	d, err := rocksdb.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// makeStaleOptionsFiles leaves more OPTIONS files than are kept, and closes.
func makeStaleOptionsFiles(t *testing.T, dir string, o rocksdb.Options) {
	t.Helper()
	d := openForOptions(t, dir, o)
	if err := d.Impl().DisableFileDeletions(); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := d.SetOptions(map[string]string{"level0_file_num_compaction_trigger": fmt.Sprint(8 + i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(optionsFiles(t, dir)); n <= 2 {
		t.Fatalf("only %d OPTIONS files", n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

func freshOptions(t *testing.T) (dir string, o rocksdb.Options) {
	o = rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	return filepath.Join(t.TempDir(), "db"), o
}

func TestOptionsFileTest_NumberOfOptionsFiles(t *testing.T) {
	dir, o := freshOptions(t)
	var history []string
	for range 10 {
		d := openForOptions(t, dir, o)
		now := optionsFiles(t, dir)
		if n := len(now); n == 0 || n > 2 {
			t.Fatalf("%d OPTIONS files", n)
		}
		// Those that are gone are older than those that are there.
		for _, old := range history {
			if !slices.Contains(now, old) && old >= now[0] {
				t.Errorf("%s is gone, %v are there", old, now)
			}
		}
		history = append(history, now...)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOptionsFileTest_ObsoleteOptionsFilesPurgedSynchronouslyOnOpen(t *testing.T) {
	dir, o := freshOptions(t)
	makeStaleOptionsFiles(t, dir, o)
	o.CreateIfMissing = false
	d := openForOptions(t, dir, o)
	defer d.Close()
	if n := len(optionsFiles(t, dir)); n > 2 {
		t.Errorf("%d OPTIONS files", n)
	}
}

// optionsSyncFS fails the sync of the directory with the next OPTIONS file.
type optionsSyncFS struct {
	rocksdb.FileSystemWrapper
	armed    atomic.Bool
	failures atomic.Int64
}

type optionsSyncDir struct {
	rocksdb.FSDirectoryWrapper
	fs *optionsSyncFS
}

func (f *optionsSyncFS) NewDirectory(name string, o *rocksdb.IOOptions) (rocksdb.FSDirectory, error) {
	d, err := f.FileSystem.NewDirectory(name, o)
	if err != nil {
		return nil, err
	}
	return &optionsSyncDir{rocksdb.FSDirectoryWrapper{FSDirectory: d}, f}, nil
}

func (d *optionsSyncDir) FsyncWithDirOptions(o *rocksdb.IOOptions, do rocksdb.DirFsyncOptions) error {
	if strings.HasPrefix(filepath.Base(do.RenamedNewName), filename.OptionsFileNamePrefix) && d.fs.armed.CompareAndSwap(true, false) {
		d.fs.failures.Add(1)
		return rocksdb.IOError("Injected OPTIONS directory fsync failure")
	}
	return d.FSDirectory.FsyncWithDirOptions(o, do)
}

func TestOptionsFileTest_ObsoleteOptionsFilesPurgedSynchronouslyOnOpenFailure(t *testing.T) {
	dir, o := freshOptions(t)
	fs := &optionsSyncFS{FileSystemWrapper: rocksdb.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
	o.Env = envOver(fs)
	makeStaleOptionsFiles(t, dir, o)
	o.CreateIfMissing = false
	o.AvoidUnnecessaryBlockingIO = true
	fs.armed.Store(true)
	if d, err := rocksdb.Open(dir, o); err == nil {
		d.Close()
		t.Fatal("opened")
	}
	if n := fs.failures.Load(); n != 1 {
		t.Errorf("%d failures", n)
	}
	if n := len(optionsFiles(t, dir)); n > 2 {
		t.Errorf("%d OPTIONS files", n)
	}
}

func TestOptionsFileTest_OptionsFileName(t *testing.T) {
	check := func(name string, number uint64, want rocksdb.FileType) {
		t.Helper()
		p, ok := filename.ParseFileName(filepath.Base(name), "")
		if !ok || p.Type != want || p.Number != number {
			t.Errorf("%s: %+v, %t", name, p, ok)
		}
	}
	check(filename.OptionsFileName("", 12345), 12345, rocksdb.OptionsFile)
	temp := filename.TempOptionsFileName("", 54352)
	if !strings.Contains(temp, filename.TempFileNameSuffix) {
		t.Errorf("%s", temp)
	}
	check(temp, 54352, rocksdb.TempFile)
}
