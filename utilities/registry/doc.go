// Package registry makes plug-ins by name: comparators, merge operators, table
// formats and whatever else option strings and OPTIONS files name.
//
// A Library holds factories, by kind ("Comparator", "TableFactory", …) and by
// pattern of the name. A Registry searches its libraries, the newest first,
// then its parent's. Default is the parent of all; what is built in is put
// there by an explicit call from the top of the program (packages call
// Default().AddLibrary in their Register functions; there is no init).
//
// A factory gets the whole ID and makes an object from it; options in the
// string beyond the ID are set afterwards by package options.
//
// Lock order: Registry.mu before Library.mu; a parent's locks are taken with
// none of its children's held.
//
// Read object_registry.go first.
package registry
