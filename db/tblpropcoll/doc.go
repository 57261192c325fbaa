// Package tblpropcoll adapts the users' table properties collectors to the
// internal keys that table builders see, and has the engine's own collector.
//
// Main types: InternalTblPropColl and its factory (the builders' view),
// UserKeyTablePropertiesCollector (wraps a user's collector),
// TimestampTablePropertiesCollector.
//
// Invariants: a collector belongs to one builder; factories are safe for
// concurrent use. There are no locks.
//
// Read table_properties_collector.go.
package tblpropcoll
