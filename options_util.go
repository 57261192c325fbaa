// Port of include/rocksdb/utilities/options_util.h and of the option strings of
// include/rocksdb/convenience.h.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/options"
	optionsutil "github.com/rocksdb-go/rocksdb/utilities/options"
)

// LoadOptionsFromFile reads an OPTIONS file: the database's options and its
// families'. A cache that is not nil becomes the families' block cache. cfg may
// be nil for the defaults.
func LoadOptionsFromFile(cfg *ConfigOptions, name string, cache Cache) (DBOptions, []ColumnFamilyDescriptor, error) {
	RegisterBuiltins()
	return optionsutil.LoadOptionsFromFile(orDefaultConfig(cfg), name, cache)
}

// LoadLatestOptions is LoadOptionsFromFile for the newest OPTIONS file of the
// database at dbPath; the error is PathNotFound when there is none.
func LoadLatestOptions(cfg *ConfigOptions, dbPath string, cache Cache) (DBOptions, []ColumnFamilyDescriptor, error) {
	RegisterBuiltins()
	return optionsutil.LoadLatestOptions(orDefaultConfig(cfg), dbPath, cache)
}

// GetLatestOptionsFileName gives the name, without directory, of the newest
// OPTIONS file of the database at dbPath. env may be nil.
func GetLatestOptionsFileName(dbPath string, env Env) (string, error) {
	return optionsutil.GetLatestOptionsFileName(dbPath, env)
}

// CheckOptionsCompatibility compares options with those of the newest OPTIONS
// file of the database at dbPath, as cfg.SanityLevel asks.
func CheckOptionsCompatibility(cfg *ConfigOptions, dbPath string, o *DBOptions, families []ColumnFamilyDescriptor) error {
	RegisterBuiltins()
	return optionsutil.CheckOptionsCompatibility(orDefaultConfig(cfg), dbPath, o, families)
}

func orDefaultConfig(cfg *ConfigOptions) *ConfigOptions {
	if cfg == nil {
		c := DefaultConfigOptions()
		return &c
	}
	return cfg
}

// GetOptionsFromString changes base by a string of options by their upstream
// names, e.g. "max_open_files=100;compression=kZSTD". cfg may be nil.
func GetOptionsFromString(cfg *ConfigOptions, base Options, text string) (Options, error) {
	RegisterBuiltins()
	return options.GetOptionsFromString(orDefaultConfig(cfg), &base, text)
}

// GetDBOptionsFromString is GetOptionsFromString for the database's own options.
func GetDBOptionsFromString(cfg *ConfigOptions, base DBOptions, text string) (DBOptions, error) {
	RegisterBuiltins()
	return options.GetDBOptionsFromString(orDefaultConfig(cfg), &base, text)
}

// GetColumnFamilyOptionsFromString is GetOptionsFromString for a family's.
func GetColumnFamilyOptionsFromString(cfg *ConfigOptions, base ColumnFamilyOptions, text string) (ColumnFamilyOptions, error) {
	RegisterBuiltins()
	return options.GetColumnFamilyOptionsFromString(orDefaultConfig(cfg), &base, text)
}

// GetBlockBasedTableOptionsFromString is GetOptionsFromString for a table's.
func GetBlockBasedTableOptionsFromString(cfg *ConfigOptions, base BlockBasedTableOptions, text string) (BlockBasedTableOptions, error) {
	RegisterBuiltins()
	return options.GetBlockBasedTableOptionsFromString(orDefaultConfig(cfg), &base, text)
}

// GetStringFromDBOptions is the inverse of GetDBOptionsFromString.
func GetStringFromDBOptions(cfg *ConfigOptions, o DBOptions) (string, error) {
	RegisterBuiltins()
	return options.GetStringFromDBOptions(orDefaultConfig(cfg), &o)
}

// GetStringFromColumnFamilyOptions is the inverse of
// GetColumnFamilyOptionsFromString.
func GetStringFromColumnFamilyOptions(cfg *ConfigOptions, o ColumnFamilyOptions) (string, error) {
	RegisterBuiltins()
	return options.GetStringFromColumnFamilyOptions(orDefaultConfig(cfg), &o)
}
