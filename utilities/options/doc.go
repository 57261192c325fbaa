// Package optionsutil reads the OPTIONS files that a database keeps of itself:
// the newest of a directory, or a file by name, and compares options with them.
//
// Plug-ins that a file names are made by the registry of the ConfigOptions; the
// program has to register what it wants to find there (the module root's
// RegisterBuiltins registers the engine's own).
//
// Read options_util.go.
package optionsutil
