// No upstream twin: Go package documentation.

// Command sst_dump looks into table files under upstream's flags. The dumper is
// not built yet: each command is refused by its name, and an unknown one as
// upstream refuses it.
package main
