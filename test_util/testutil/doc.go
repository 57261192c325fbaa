// No upstream twin: Go package documentation.

// Package testutil is what tests of several packages, and the stress test, share.
//
// CompressorCustomAlg and DecompressorCustomAlg stand for an application's own
// compression. Nothing here is for production.
package testutil
