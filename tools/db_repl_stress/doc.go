// No upstream twin: Go package documentation.

// Command db_repl_stress writes keys while it reads them back from the logs, as a
// replica would, and fails where a sequence number is missing or comes twice.
package main
