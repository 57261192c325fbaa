// Port of include/rocksdb/utilities/options_util.h.

package rocksdb

import optionsutil "github.com/rocksdb-go/rocksdb/utilities/options"

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
