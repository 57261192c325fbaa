// No upstream twin: locking and free space on Windows.

package env

import (
	"os"

	"golang.org/x/sys/windows"
)

func lockWhole(f *os.File, take bool) error {
	var ov windows.Overlapped
	h := windows.Handle(f.Fd())
	if !take {
		return windows.UnlockFileEx(h, 0, ^uint32(0), ^uint32(0), &ov)
	}
	return windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, ^uint32(0), ^uint32(0), &ov)
}

func freeSpace(path string) (uint64, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(p, &free, nil, nil)
	return free, err
}
