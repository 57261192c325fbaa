// No upstream twin: Go package documentation.

// Package tools holds the administration tool ldb as a library, so that a
// program can offer it with its own comparators, merge operators and column
// families: see LDBTool. The command itself is in tools/ldb.
//
// Main types: LDBTool runs a command line; LDBCommand is one command of it, with
// its options, flags and the database it opens; commandDef is a row of the table
// of commands.
//
// Invariants:
//   - Nothing here ends the process or writes anywhere but to the tool's own
//     output streams. A command ends in one state, succeeded or failed with a
//     text, and that makes the exit code.
//   - What a command prints is upstream's text; scripts read it.
//   - A command or option of upstream's that is not there yet is refused by its
//     name.
//
// A command runs on one goroutine; there are no locks. Read ldb_tool.go first,
// then ldb_cmd.go (arguments), ldb_cmd_options.go (options, opening).
package tools
