// No upstream twin: Go package documentation.

// Command mutation breaks the engine in five ways, one at a time, and lets
// db_stress, or the tests that lose what was not synced, find out: each mutant
// has to be caught within five minutes. The
// source files stay as they are (go build -overlay).
package main
