// Port of utilities/option_change_migration/option_change_migration.cc and
// include/rocksdb/utilities/option_change_migration.h.

package optionchangemigration

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// OptionChangeMigration brings the closed database at path, which old describes,
// into a form that can be opened with the options of families, given as before
// in the same order. It may take as long as a full compaction and twice the
// space. What FIFO compaction drops when it opens is not kept. An error leaves a
// database that opens with the old options.
func OptionChangeMigration(path string, oldDB *rocksdb.DBOptions, oldFamilies []rocksdb.ColumnFamilyDescriptor, families []rocksdb.ColumnFamilyDescriptor) error {
	if err := checkFamilies(oldFamilies, families); err != nil {
		return err
	}
	needReopen := false
	plain := make([]rocksdb.ColumnFamilyDescriptor, len(families))
	for i, f := range oldFamilies {
		o, reopen := migrationOptions(&f.Options, &families[i].Options)
		plain[i] = rocksdb.ColumnFamilyDescriptor{Name: f.Name, Options: o}
		needReopen = needReopen || reopen
	}
	d, handles, err := dbimpl.Open(oldDB, path, plain)
	if err != nil {
		return err
	}
	for i, h := range handles {
		if err = migrate(d, h, &oldFamilies[i].Options, &families[i].Options); err != nil {
			break
		}
	}
	if e := d.Close(); err == nil {
		err = e
	}
	if err != nil || !needReopen {
		return err
	}
	// Another opening rewrites the MANIFEST, which may name levels that are gone.
	if d, _, err = dbimpl.Open(oldDB, path, plain); err != nil {
		return err
	}
	return d.Close()
}

func checkFamilies(old, families []rocksdb.ColumnFamilyDescriptor) error {
	if len(old) != len(families) {
		return rocksdb.InvalidArgumentf("the old and the new options must have the same number of column families, not %d and %d", len(old), len(families))
	}
	for i := range old {
		if old[i].Name != families[i].Name {
			return rocksdb.InvalidArgumentf("column family mismatch at %d: %q in the old options, %q in the new ones", i, old[i].Name, families[i].Name)
		}
	}
	return nil
}

// unlimited is larger than any file.
const unlimited = 999999999999999

// migrationOptions gives the options to migrate a family with; nothing is
// compacted but on demand. reopen is whether the MANIFEST may hold more levels
// than o allows.
func migrationOptions(old, o *rocksdb.ColumnFamilyOptions) (use rocksdb.ColumnFamilyOptions, reopen bool) {
	use, reopen = *old, true
	if o.CompactionStyle == rocksdb.CompactionStyleLevel {
		if o.LevelCompactionDynamicLevelBytes && o.NumLevels > old.NumLevels {
			use, reopen = *o, false
		} else {
			use.TargetFileSizeBase = o.TargetFileSizeBase
		}
	}
	if o.CompactionStyle == rocksdb.CompactionStyleFIFO || o.NumLevels == 1 {
		use.TargetFileSizeBase, use.MaxCompactionBytes = unlimited, unlimited
	}
	use.DisableAutoCompactions = true
	use.Level0SlowdownWritesTrigger, use.Level0StopWritesTrigger = 999999, 999999
	use.SoftPendingCompactionBytesLimit, use.HardPendingCompactionBytesLimit = 0, 0
	return use, reopen
}

// migrate compacts a family to where o can have it.
func migrate(d *dbimpl.DBImpl, cf *db.ColumnFamilyHandleImpl, old, o *rocksdb.ColumnFamilyOptions) error {
	if old.CompactionStyle == rocksdb.CompactionStyleFIFO {
		return nil // all is in level 0
	}
	switch o.CompactionStyle {
	case rocksdb.CompactionStyleUniversal:
		if old.NumLevels <= o.NumLevels {
			return nil
		}
		meta := d.GetColumnFamilyMetaData(cf, nil)
		if n := len(meta.Levels); n == 0 || meta.Levels[n-1].Level < o.NumLevels {
			return nil
		}
		return compactToLevel(d, cf, o.NumLevels-1)
	case rocksdb.CompactionStyleLevel:
		switch {
		case old.NumLevels == 1:
			return nil
		case o.LevelCompactionDynamicLevelBytes:
			return compactToLevel(d, cf, o.NumLevels-1)
		}
		return compactToLevel(d, cf, 1)
	case rocksdb.CompactionStyleFIFO:
		return compactToLevel(d, cf, 0)
	}
	return rocksdb.NotSupported("migration to compaction style", fmt.Sprint(o.CompactionStyle))
}

func compactToLevel(d *dbimpl.DBImpl, cf *db.ColumnFamilyHandleImpl, level int) error {
	o := rocksdb.DefaultCompactRangeOptions()
	o.ChangeLevel, o.TargetLevel = true, level
	if level == 0 {
		// A file that is moved as it is would stay where it is.
		o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	}
	return d.CompactRange(&o, cf, nil, nil)
}
