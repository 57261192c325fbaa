// No upstream twin: upstream has a null table factory, which here would stand
// for the default one.

package options

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

// missingTableFactory stands for a table format that an OPTIONS file names and
// nothing here can make. It keeps the name; no database opens with it.
type missingTableFactory struct{ name string }

// IsMissingTableFactory tells whether tf stands for a format that could not be
// made; a database with it must not open.
func IsMissingTableFactory(tf rocksdb.TableFactory) bool {
	_, missing := tf.(missingTableFactory)
	return missing
}

func (f missingTableFactory) Name() string                { return f.name }
func (missingTableFactory) OptionsPtr(string) any         { return nil }
func (missingTableFactory) GetPrintableOptions() string   { return "" }
func (f missingTableFactory) Clone() rocksdb.TableFactory { return f }
func (missingTableFactory) IsDeleteRangeSupported() bool  { return false }

// ValidateOptions refuses, as upstream does without a factory.
func (f missingTableFactory) ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error {
	return rocksdb.NotFound("Missing configurable object", "table_factory", f.name)
}
