//go:build !invariants

// No upstream twin: the role of NDEBUG.

package invariants

// Enabled is true when the binary was built with the tag "invariants".
const Enabled = false
