// Package mocktable is a table factory for tests: tables are lists in memory,
// and their files hold a number alone. It can damage what it is given, to test
// who checks the output.
//
// Main type: MockTableFactory. Tables keep their contents as long as the
// factory lives.
//
// Locks: the factory's mutex guards the map of tables; tables are immutable.
//
// Read mock_table.go.
package mocktable
