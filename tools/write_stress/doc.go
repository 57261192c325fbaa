// No upstream twin: Go package documentation.

// Command write_stress writes keys whose prefix drifts, so that tables of all levels
// come and go, while an iterator holds old ones; in the end no table file may be
// left that the database does not know.
package main
