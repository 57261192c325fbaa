// No upstream twin: Go package documentation.

// Command sst_dump looks into table files under upstream's commands and flags;
// package tools does the work.
package main
