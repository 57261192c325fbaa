// Package options turns options into text and back, and splits them into the
// halves that an open database keeps.
//
// Each option is declared once: a field of a struct in include/rocksdb, and a
// Row of a Table here (*_rows.go) with its name, its field, whether it may
// change while the database is open, and how it is compared. Option strings,
// SetOptions, the OPTIONS file (options_parser.go) and its verification all
// walk the tables.
//
// Main types: Table and Row; ImmutableDBOptions, MutableDBOptions,
// ImmutableCFOptions, MutableCFOptions; Parser.
//
// Invariants:
//   - Rows stand in the order in which v11.8.1 writes them: a file written here
//     has the bytes that upstream would write.
//   - A failed conversion leaves all options as they were.
//   - Plug-ins are made by the registry of the ConfigOptions at hand
//     (utilities/registry); nothing here knows their packages. A nil comparator,
//     memtable factory, table factory or flush block policy stands for the
//     default one and is written by its name.
//
// There are no locks; the tables are read-only after package initialization.
//
// Read option_type.go first, then configurable.go and options_parser.go.
package options
