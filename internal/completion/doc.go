// No upstream twin: package documentation.

// Package completion writes completion scripts for bash, zsh and fish from a
// tool's own tables of commands and flags.
package completion
