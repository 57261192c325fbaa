// Package builtin registers the plug-ins of the engine by name, so that option
// strings and OPTIONS files can make them: table formats, filter and flush block
// policies, memtables, caches, rate limiters.
//
// Register fills a library; RegisterDefault does so once for the process's
// registry. The facade and the tools call it before they read options; nothing
// registers itself. Merge operators, statistics, comparators and slice
// transforms register with their own packages.
//
// Read table_factory.go first.
package builtin
