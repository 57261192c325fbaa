//go:build !unix && !windows

// No upstream twin: systems without file locks.

package env

import "os"

func lockWhole(*os.File, bool) error { return nil }
