// Package compat has no code of its own: its test walks the matrix of real
// engines, formats, compressions, checksums, filters, indexes and dictionaries,
// in both directions, and writes docs/compatibility.md (make compat). Start with
// cells_test.go, which lists the cells.
package compat
