//go:build !killpoint

// Port of test_util/sync_point.{h,cc} (KillPoint), the form without the tag
// "killpoint".

package killpoint

// Enabled tells whether kill points are compiled in.
const Enabled = false

// Random marks a named point. It does nothing in this build.
func Random(string) {}

// RandomWithWeight marks a named point. It does nothing in this build.
func RandomWithWeight(string, int) {}

// Set does nothing in this build.
func Set(int, []string) {}

// Odds is 0 in this build.
func Odds() int { return 0 }
