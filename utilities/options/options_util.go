// Port of include/rocksdb/utilities/options_util.h and
// utilities/options/options_util.cc.

package optionsutil

import (
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

func fileSystem(e rocksdb.Env) rocksdb.FileSystem {
	if e == nil {
		e = env.Default()
	}
	return e.GetFileSystem()
}

// LoadOptionsFromFile reads an OPTIONS file: the database's options and its
// families' in the file's order. Where cache is not nil it becomes the block
// cache of all families with block-based tables. What a file cannot say has the
// default: memory sizes of caches it names, comparators and other plug-ins that
// nobody registered (an error for a comparator).
func LoadOptionsFromFile(cfg *rocksdb.ConfigOptions, name string, cache rocksdb.Cache) (rocksdb.DBOptions, []rocksdb.ColumnFamilyDescriptor, error) {
	p := options.NewParser()
	if err := p.Parse(cfg, name, fileSystem(cfg.Env)); err != nil {
		return rocksdb.DBOptions{}, nil, err
	}
	families := make([]rocksdb.ColumnFamilyDescriptor, p.NumColumnFamilies())
	for i, o := range p.CFOptions() {
		families[i] = rocksdb.ColumnFamilyDescriptor{Name: p.CFNames()[i], Options: o}
		if c, ok := o.TableFactory.(rocksdb.Configurable); ok && cache != nil {
			if t, ok := c.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions); ok {
				t.BlockCache = cache
			}
		}
	}
	return *p.DBOptions(), families, nil
}

// GetLatestOptionsFileName gives the name, without directory, of the newest
// OPTIONS file of the database at dbPath. The error is PathNotFound when there
// is none.
func GetLatestOptionsFileName(dbPath string, e rocksdb.Env) (string, error) {
	notFound := func() error {
		return rocksdb.WithSubCode(rocksdb.CodeNotFound, rocksdb.SubCodePathNotFound, "No options files found in the DB directory.", dbPath)
	}
	names, err := fileSystem(e).GetChildren(dbPath, rocksdb.NewIOOptions())
	if rocksdb.IsNotFound(err) || rocksdb.IsPathNotFound(err) {
		return "", notFound()
	} else if err != nil {
		return "", err
	}
	latest, latestNumber := "", uint64(0)
	for _, name := range names {
		if f, ok := filename.ParseFileName(name, ""); ok && f.Type == rocksdb.OptionsFile && f.Number > latestNumber {
			latest, latestNumber = name, f.Number
		}
	}
	if latest == "" {
		return "", notFound()
	}
	return latest, nil
}

// LoadLatestOptions is LoadOptionsFromFile for the newest OPTIONS file of the
// database at dbPath.
func LoadLatestOptions(cfg *rocksdb.ConfigOptions, dbPath string, cache rocksdb.Cache) (rocksdb.DBOptions, []rocksdb.ColumnFamilyDescriptor, error) {
	name, err := GetLatestOptionsFileName(dbPath, cfg.Env)
	if err != nil {
		return rocksdb.DBOptions{}, nil, err
	}
	return LoadOptionsFromFile(cfg, dbPath+"/"+name, cache)
}

// CheckOptionsCompatibility compares options with those of the newest OPTIONS
// file, as far as cfg.SanityLevel asks: the error is InvalidArgument for what
// could not open the database.
func CheckOptionsCompatibility(cfg *rocksdb.ConfigOptions, dbPath string, o *rocksdb.DBOptions, families []rocksdb.ColumnFamilyDescriptor) error {
	name, err := GetLatestOptionsFileName(dbPath, cfg.Env)
	if err != nil {
		return err
	}
	names := make([]string, len(families))
	opts := make([]rocksdb.ColumnFamilyOptions, len(families))
	for i := range families {
		names[i], opts[i] = families[i].Name, families[i].Options
	}
	return options.VerifyRocksDBOptionsFromFile(cfg, o, names, opts, dbPath+"/"+name, fileSystem(cfg.Env))
}
