// No upstream twin: upstream links the gflags library.

// Package gflags reads command lines as the C++ library gflags does, so that
// the tools take the command lines people have.
//
// Flags are the fields of a struct with a `flag:"name,default"` tag (and
// `help:"…"`); New binds them. Accepted forms: -x=1, --x=1, --x 1 (not for
// booleans), --x and --nox for booleans, dashes for underscores, `--` as the
// end of flags. A flag may be given more than once; the last one wins. Numbers
// may be hexadecimal with 0x. --flagfile, --fromenv, --tryfromenv, --undefok,
// --help, --helpfull, --helpshort, --helpon, --helpmatch, --helppackage and
// --version are built in.
//
// All errors of a command line are reported together, sorted by flag, in the
// library's words. The package itself prints nothing and does not exit: see
// Set.Parse and Exit.Print. Read gflags.go first.
package gflags
