// Port of include/rocksdb/utilities/option_change_migration.h, as Go programs
// use it.

package rocksdb

import optionchangemigration "github.com/rocksdb-go/rocksdb/utilities/option_change_migration"

// OptionChangeMigration brings a closed database that has the default family
// alone and the options old into a form that opens with o: another compaction
// style, fewer levels. It may take as long as a full compaction.
func OptionChangeMigration(path string, old, o Options) error {
	one := func(o *Options) []ColumnFamilyDescriptor {
		return []ColumnFamilyDescriptor{{Name: DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}
	}
	return OptionChangeMigrationOfColumnFamilies(path, old.DBOptions, one(&old), one(&o))
}

// OptionChangeMigrationOfColumnFamilies is OptionChangeMigration for a database
// with families: all of them, in one order.
func OptionChangeMigrationOfColumnFamilies(path string, oldDB DBOptions, old, families []ColumnFamilyDescriptor) error {
	RegisterBuiltins()
	return optionchangemigration.OptionChangeMigration(path, &oldDB, old, families)
}
