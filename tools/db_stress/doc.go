// No upstream twin: Go package documentation.

// Command db_stress is the name under which upstream's stress test is known.
// The test itself is not built yet: the command says so and fails, so that no
// script takes silence for a verified database.
package main
