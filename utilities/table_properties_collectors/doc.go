// Package tablepropertiescollectors has collectors that mark tables for
// compaction by what is in them: CompactOnDeletionCollectorFactory those with
// many deletions, CompactForTieringCollectorFactory those with entries that are
// old enough for the last level.
//
// Put a factory into ColumnFamilyOptions.TablePropertiesCollectorFactories.
// Factories may be changed while databases use them; files begun from then on
// see the change. Register makes both known by name.
//
// Read compact_on_deletion_collector.go first.
package tablepropertiescollectors
