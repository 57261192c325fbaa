// Package writethread orders writers: it gathers those that wait into groups,
// lets one leader write the WAL for its group, and lets a group's members
// insert into memtables side by side; and it decides how long writers are held
// back.
//
// Main types: WriteThread, Writer, WriteGroup; WriteController.
//
// Writers stand in a list linked through linkOlder from the newest; linkNewer
// is filled in when a leader needs it. Only the leader of a list changes links
// behind the newest writer.
//
// Locks: none is held while waiting but a writer's own semaphore. stallMu is
// taken under the DB mutex, never the other way round.
package writethread
