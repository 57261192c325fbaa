// Package lint holds the rules of the project that are checked by tests: the
// order of packages, package comments, file headers, and the porting ledger.
package lint
