// Port of include/rocksdb/convenience.h. Differs: the conversions are functions
// of package options; what needs a database is a method of it.

package rocksdb

// SanityLevel says how strictly options are compared with an OPTIONS file.
type SanityLevel uint8

// The levels.
const (
	SanityLevelNone              SanityLevel = 0x01
	SanityLevelLooselyCompatible SanityLevel = 0x02
	SanityLevelExactMatch        SanityLevel = 0xFF
)

// Depth says how much of nested objects is shown or compared.
type Depth uint8

// The depths.
const (
	DepthDefault  Depth = iota
	DepthShallow        // the objects' names
	DepthDetailed       // everything
)

// ObjectRegistry makes plug-ins by name; package utilities/registry's Registry
// is one.
type ObjectRegistry interface {
	// NewObject makes the plug-in of a kind ("Comparator", "TableFactory", …)
	// from its ID, with options applied as config says.
	NewObject(config *ConfigOptions, kind, id string) (any, error)
}

// ConfigOptions says how options are read from and written to strings. Get it
// from DefaultConfigOptions: the zero value is not the default.
type ConfigOptions struct {
	// IgnoreUnknownOptions skips names that are not known. Default false.
	IgnoreUnknownOptions bool
	// IgnoreUnsupportedOptions skips plug-ins that cannot be made. Default true.
	IgnoreUnsupportedOptions bool
	// InputStringsEscaped says that values have backslash escapes. Default true.
	InputStringsEscaped bool
	// InvokePrepareOptions completes objects after they are set. Default true.
	InvokePrepareOptions bool
	// MutableOptionsOnly refuses options that cannot change while open. Default
	// false.
	MutableOptionsOnly bool
	// Delimiter between options written. Default ";".
	Delimiter string
	// Depth. Default DepthDefault.
	Depth Depth
	// SanityLevel. Default SanityLevelExactMatch.
	SanityLevel SanityLevel
	// FileReadaheadSize for reading OPTIONS files, bytes. Default 512 KiB.
	FileReadaheadSize uint64
	// Env of the files; nil (default) is package env's Default.
	Env Env
	// Registry makes plug-ins; nil (default) is package utilities/registry's
	// default one.
	Registry ObjectRegistry
}

// DefaultConfigOptions gives the defaults.
func DefaultConfigOptions() ConfigOptions {
	return ConfigOptions{
		IgnoreUnsupportedOptions: true, InputStringsEscaped: true, InvokePrepareOptions: true,
		Delimiter: ";", SanityLevel: SanityLevelExactMatch, FileReadaheadSize: 512 * 1024,
	}
}

// IsShallow tells whether nested objects are named only.
func (c *ConfigOptions) IsShallow() bool { return c.Depth == DepthShallow }

// IsDetailed tells whether all is shown.
func (c *ConfigOptions) IsDetailed() bool { return c.Depth == DepthDetailed }

// IsCheckDisabled tells whether nothing is compared.
func (c *ConfigOptions) IsCheckDisabled() bool { return c.SanityLevel == SanityLevelNone }

// IsCheckEnabled tells whether what is checked from level on is compared.
func (c *ConfigOptions) IsCheckEnabled(level SanityLevel) bool {
	return level > SanityLevelNone && level <= c.SanityLevel
}
