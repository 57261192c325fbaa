// No upstream twin: package documentation.

// Package xref is the cross-reference between upstream's C++ and this module:
// what the command tools/upstream answers from.
//
// Three things come together in a Ref. Facts are upstream's names (files,
// symbols, tests, options, tickers, flags, sync points): ReadTree takes them from
// a source tree with a small scanner of C++ (ctok.go, cparse.go, factscan.go),
// Save and Load keep them in porting/upstream, names and numbers only. A GoTree
// is this module's source, listed by go/packages and parsed once, every build
// tag's files included. The Ledger is porting/*.tsv: which tests are not here and
// why.
//
// No list says which Go function stands for which C++ one. Placement (place.go)
// works it out, in this order: the name in Go's case, in the files whose header
// line names the upstream file and on the type that stands for the class
// (classes.go); constructors, destructors and operators; a Go comment that names
// the symbol; a sync point named after it; the usual changes of names; the same
// words with the same calls (similar.go). Each answer says which rule it is
// from. Where a function goes by another name and no rule finds it, give
// upstream's name in its Go comment.
//
// Start reading at Ref.Where, then Ref.Symbol.
package xref
