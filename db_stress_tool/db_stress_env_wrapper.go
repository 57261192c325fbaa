// Port of db_stress_tool/db_stress_env_wrapper.h. Differs: activities of I/O are
// not checked, since goroutines have no state of their own; checksums of opened
// tables are.

package dbstresstool

import (
	"path"
	"strings"

	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// stressFS keeps deleted MANIFESTs under other names, to look at, and holds the
// engine to what it says of tables that it opens.
type stressFS struct {
	rocksdb.FileSystemWrapper
	fail func(format string, args ...any)
}

func newStressFS(base rocksdb.FileSystem, fail func(string, ...any)) *stressFS {
	return &stressFS{rocksdb.FileSystemWrapper{FileSystem: base}, fail}
}

// Name is upstream's.
func (f *stressFS) Name() string { return "DbStressFS" }

// NewRandomAccessFile checks what is said of a table's checksum.
func (f *stressFS) NewRandomAccessFile(name string, opts *rocksdb.FileOptions) (rocksdb.FSRandomAccessFile, error) {
	if p, ok := filename.ParseFileName(path.Base(name), ""); ok && p.Type == rocksdb.TableFile && opts != nil {
		switch known := opts.FileChecksumFuncName; known {
		case "":
			// Nothing is said.
		case rocksdb.UnknownFileChecksumFuncName, rocksdb.NoFileChecksumFuncName:
			if opts.FileChecksum != "" {
				f.fail("%s is opened with a checksum %X of function %q", name, opts.FileChecksum, known)
			}
		default:
			if opts.FileChecksum == "" {
				f.fail("%s is opened without a checksum of function %q", name, known)
			}
		}
	}
	return f.FileSystem.NewRandomAccessFile(name, opts)
}

// DeleteFile renames a MANIFEST of the database itself.
func (f *stressFS) DeleteFile(name string, opts *rocksdb.IOOptions) error {
	if !strings.Contains(name, "MANIFEST-") || strings.Contains(name, "checkpoint") || strings.Contains(name, ".backup") || strings.Contains(name, ".restore") {
		return f.FileSystem.DeleteFile(name, opts)
	}
	return f.FileSystem.RenameFile(name, name+"_renamed_", opts)
}
