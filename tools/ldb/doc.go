// No upstream twin: Go package documentation.

// Command ldb reads, changes and inspects databases under upstream's commands
// and flags; package tools does the work.
package main
