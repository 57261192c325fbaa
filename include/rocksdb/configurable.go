// Port of include/rocksdb/configurable.h. Differs: the machinery that reads and
// writes options is in package options; an object only says which option tables
// it has.

package rocksdb

// Configurable is an object with options of its own. Package options knows the
// tables and walks them; OptionsPtr gives the struct that a table's rows point
// into.
type Configurable interface {
	// OptionsPtr gives the object's options struct of that name (for instance
	// "BlockTableOptions"), nil when it has none.
	OptionsPtr(name string) any
}

// OptionsPreparer is a Configurable that completes its options, once all are
// set, before the database opens.
type OptionsPreparer interface {
	PrepareOptions(config *ConfigOptions) error
}

// OptionsValidator checks an object's options against those around it.
type OptionsValidator interface {
	ValidateOptions(db *DBOptions, cf *ColumnFamilyOptions) error
}

// PrintableOptions gives an object's options for the LOG, one a line.
type PrintableOptions interface{ GetPrintableOptions() string }

// OptionPair is an option as text.
type OptionPair struct{ Name, Value string }

// StringConfigurable is a simple plug-in that reads and writes its options
// itself, by name; for packages below package options.
type StringConfigurable interface {
	// ConfigureOption sets an option: NotFound for a name that is not its own.
	ConfigureOption(config *ConfigOptions, name, value string) error
	// OptionPairs gives all options in a fixed order.
	OptionPairs() []OptionPair
}
