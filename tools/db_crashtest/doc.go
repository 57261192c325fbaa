// No upstream twin: Go package documentation.

// Command db_crashtest runs db_stress again and again over one database, with
// parameters drawn anew each time, and makes it die: from outside at some time
// (blackbox) or at a point in its own code (whitebox). The next run verifies
// what the killed one left. Parameters, their rules and the course of a test are
// upstream's (tools/db_crashtest.py); what db_stress has not built is pinned
// off, unless the command line asks for it.
package main
