// No upstream twin: Go package documentation.

// Command io_tracer_parser is upstream's: it prints a trace that DB.StartIOTrace
// wrote. Package tools does the work.
package main
