// Package mockenv keeps files in memory and has a clock that passes by
// sleeping: an Env for tests, and for databases that need not last.
//
// Main types: MockFileSystem (the files) and MockEnv, which joins it to an
// EmulatedSystemClock; NewMemEnv makes one.
//
// Invariants: a file that is deleted, replaced or renamed stays readable
// through what has it open. A directory exists if it was made or something is
// in it. What was not synced can be damaged by CorruptBuffer.
//
// Locks: MockFileSystem.mu before memFile.mu.
//
// Read mock_env.go first.
package mockenv
