//go:build unix

// No upstream twin: sees to it that nobody writes to the source.

package leveldbimport

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// lockSource takes the locks that keep LevelDB (fcntl) and goleveldb (flock)
// from opening the directory for writing, both for reading only, so that the
// file stays as it is. Without a LOCK file nobody has opened it.
func lockSource(path string) (unlock func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return func() {}, nil
		}
		return nil, rocksdb.IOError(path, err.Error()).Wrap(err)
	}
	if err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Whence: int16(io.SeekStart)})
	}
	if err != nil {
		_ = f.Close()
		return nil, rocksdb.Busy("the source is open in another process", path).Wrap(err)
	}
	return func() { _ = f.Close() }, nil // which gives both locks up
}
