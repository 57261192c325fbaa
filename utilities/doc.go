// No upstream twin: Go package documentation.

// Package utilities holds helpers on top of an open database that have no
// package of their own. GetAllKeyVersions (debug.go) lists internal keys.
//
// There are no locks and no state.
package utilities
