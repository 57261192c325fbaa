// Package lint holds the rules of the project that are checked by tests: the
// order of packages and package comments. File headers and the porting ledger
// are internal/xref's.
package lint
