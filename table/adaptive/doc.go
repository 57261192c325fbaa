// Package adaptive is a table factory that reads every table format and writes
// one of them, to change a database's format without a conversion.
//
// Main type: AdaptiveTableFactory. It does not change once made; there are no
// locks.
//
// Read adaptive_table_factory.go.
package adaptive
