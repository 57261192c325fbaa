//go:build !syncpoint

// Port of test_util/sync_point.{h,cc}, the form without the tag "syncpoint".

package syncpoint

// Enabled tells whether sync points are compiled in.
const Enabled = false

// Process marks a named point. It does nothing in this build.
func Process(string) {}

// ProcessArg marks a named point with an argument for callbacks. It does
// nothing in this build.
func ProcessArg(string, any) {}
