// Package optionchangemigration brings a database into a form that can be opened
// with other compaction options: another style, fewer levels.
//
// It opens the database, compacts and closes it; it has no state and no locks.
// Read option_change_migration.go first.
package optionchangemigration
