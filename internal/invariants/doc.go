// Package invariants tells whether the checks of internal invariants are
// compiled in (build tag "invariants"). Code guards its checks with
// `if invariants.Enabled { … }`, which costs nothing without the tag.
package invariants
