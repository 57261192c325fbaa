// Port of options/options_parser.{h,cc}. Differs: the file is built in memory
// and written in one piece; results are returned.

package options

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
	"github.com/rocksdb-go/rocksdb/util"
)

// The OPTIONS file, text in sections:
//
//	# comment, from an unescaped '#' to the line's end
//	[Version]
//	  rocksdb_version=11.8.1
//	  options_file_version=1.1
//	[DBOptions]
//	  name=value                     once
//	[CFOptions "default"]            once a column family, "default" first
//	  name=value
//	[TableOptions/BlockBasedTable "default"]   after its column family
//	  name=value
//
// Names and values are trimmed. Backslash escapes \n, \r and the characters
// '\\', '#' and ':' in values and in column family names.
const (
	optionFileMajor = 1
	optionFileMinor = 1

	optionFileHeader = "# This is a RocksDB option file.\n" +
		"#\n" +
		"# For detailed file format spec, please refer to the example file\n" +
		"# in examples/rocksdb_option_file_example.ini\n" +
		"#\n\n"

	// maxOptionFileSize is far beyond any file ever written.
	maxOptionFileSize = 1 << 30

	errPrefix = "[RocksDBOptionsParser Error] "
)

// OptionSection is a section of the file.
type OptionSection uint8

// The sections.
const (
	OptionSectionVersion OptionSection = iota
	OptionSectionDBOptions
	OptionSectionCFOptions
	OptionSectionTableOptions
	OptionSectionUnknown
)

var sectionTitles = [OptionSectionUnknown]string{"Version", "DBOptions", "CFOptions", "TableOptions/"}

// AppendRocksDBOptions appends the OPTIONS file of a database to dst. The
// plug-ins of cfg are not made; its delimiter is ignored.
func AppendRocksDBOptions(dst []byte, cfg *rocksdb.ConfigOptions, db *rocksdb.DBOptions, cfNames []string, cfs []rocksdb.ColumnFamilyOptions) ([]byte, error) {
	if len(cfNames) != len(cfs) {
		return dst, rocksdb.InvalidArgument("cf_names.size() and cf_opts.size() must be the same")
	}
	c := *cfg
	c.Delimiter = "\n  "
	dst = append(dst, optionFileHeader...)
	dst = fmt.Appendf(dst, "[%s]\n  rocksdb_version=%s\n  options_file_version=%d.%d\n",
		sectionTitles[OptionSectionVersion], rocksdb.GetRocksVersionAsString(true), optionFileMajor, optionFileMinor)
	text, err := GetStringFromDBOptions(&c, db)
	if err != nil {
		return dst, err
	}
	dst = fmt.Appendf(dst, "\n[%s]\n  %s\n", sectionTitles[OptionSectionDBOptions], text)
	for i := range cfs {
		name := util.EscapeOptionString(cfNames[i])
		if text, err = GetStringFromColumnFamilyOptions(&c, &cfs[i]); err != nil {
			return dst, err
		}
		dst = fmt.Appendf(dst, "\n[%s \"%s\"]\n  %s\n", sectionTitles[OptionSectionCFOptions], name, text)
		tableName, sets := rocksdb.BlockBasedTableName, []OptionSet(nil)
		if tf := cfs[i].TableFactory; tf != nil {
			tableName, sets = tf.Name(), optionSetsOf(tf)
		} else {
			def := rocksdb.DefaultBlockBasedTableOptions()
			sets = []OptionSet{{BlockBasedTable, &def}}
		}
		if text, err = GetOptionString(&c, sets); err != nil {
			return dst, err
		}
		dst = fmt.Appendf(dst, "[%s%s \"%s\"]\n  %s\n", sectionTitles[OptionSectionTableOptions], tableName, name, text)
	}
	return dst, nil
}

// PersistRocksDBOptions writes the OPTIONS file, syncs it, and reads it back to
// compare.
func PersistRocksDBOptions(cfg *rocksdb.ConfigOptions, db *rocksdb.DBOptions, cfNames []string, cfs []rocksdb.ColumnFamilyOptions, fileName string, fs rocksdb.FileSystem) (err error) {
	syncpoint.Process("PersistRocksDBOptions:start")
	content, err := AppendRocksDBOptions(nil, cfg, db, cfNames, cfs)
	if err != nil {
		return err
	}
	fo := rocksdb.DefaultFileOptions()
	fo.Temperature = db.MetadataWriteTemperature
	f, err := fs.NewWritableFile(fileName, &fo)
	if err != nil {
		return err
	}
	syncpoint.Process("PersistRocksDBOptions:create")
	err = f.Append(content, nil)
	if err == nil {
		err = f.Fsync(nil)
	}
	if e := f.Close(nil); err == nil {
		err = e
	}
	syncpoint.Process("PersistRocksDBOptions:written")
	if err != nil {
		return err
	}
	return VerifyRocksDBOptionsFromFile(cfg, db, cfNames, cfs, fileName, fs)
}

// DefaultPersistConfig is how a database writes its OPTIONS file.
func DefaultPersistConfig(db *rocksdb.DBOptions) rocksdb.ConfigOptions {
	cfg := rocksdb.DefaultConfigOptions()
	cfg.Delimiter = "\n  "
	cfg.InvokePrepareOptions = false
	cfg.Env = db.Env
	if db.LogReadaheadSize > 0 {
		cfg.FileReadaheadSize = db.LogReadaheadSize
	}
	return cfg
}

// Parser reads an OPTIONS file. It is used by one goroutine.
type Parser struct {
	db     rocksdb.DBOptions
	dbMap  map[string]string
	names  []string
	cfs    []rocksdb.ColumnFamilyOptions
	cfMaps []map[string]string

	hasVersion, hasDB, hasDefaultCF bool
	dbVersion                       [3]int
	fileVersion                     [3]int
}

// NewParser makes a parser that has read nothing.
func NewParser() *Parser {
	p := &Parser{}
	p.Reset()
	return p
}

// Reset forgets what was read.
func (p *Parser) Reset() { *p = Parser{db: rocksdb.DefaultDBOptions()} }

// DBOptions and the others below give what Parse read; they belong to the
// parser until its next call.
func (p *Parser) DBOptions() *rocksdb.DBOptions { return &p.db }

// DBOptMap is the DBOptions section as text.
func (p *Parser) DBOptMap() map[string]string { return p.dbMap }

// CFNames are the column families in the file's order.
func (p *Parser) CFNames() []string { return p.names }

// CFOptions are their options.
func (p *Parser) CFOptions() []rocksdb.ColumnFamilyOptions { return p.cfs }

// CFOptMaps are their sections as text.
func (p *Parser) CFOptMaps() []map[string]string { return p.cfMaps }

// GetCFOptions gives a column family's options, nil when it is not there.
func (p *Parser) GetCFOptions(name string) *rocksdb.ColumnFamilyOptions {
	for i := range p.names {
		if p.names[i] == name {
			return &p.cfs[i]
		}
	}
	return nil
}

// NumColumnFamilies is how many there are.
func (p *Parser) NumColumnFamilies() int { return len(p.cfs) }

// RocksDBVersion is the version that wrote the file.
func (p *Parser) RocksDBVersion() [3]int { return p.dbVersion }

// Parse reads a file. With cfg.IgnoreUnknownOptions, unknown options are
// ignored only in files of later versions: an older one has no reason to hold
// any.
func (p *Parser) Parse(cfg *rocksdb.ConfigOptions, fileName string, fs rocksdb.FileSystem) error {
	step := cfg.FileReadaheadSize
	if step == 0 {
		step = defaultReadahead
	}
	var io rocksdb.IOOptions
	for {
		data, err := readWholeFile(fs, fileName, max(step, minReadahead), &io)
		if err != nil {
			return err
		}
		err = p.ParseText(cfg, string(data))
		code := rocksdb.CodeOf(err)
		if code != rocksdb.CodeCorruption && code != rocksdb.CodeInvalidArgument || io.VerifyAndReconstructRead ||
			!rocksdb.CheckFSFeatureSupport(fs, rocksdb.VerifyAndReconstructRead) {
			return err
		}
		// The file system may have a better copy of a damaged file.
		io.VerifyAndReconstructRead = true
	}
}

const (
	defaultReadahead = 512 << 10
	minReadahead     = 8 << 10
)

// readWholeFile reads in pieces of step bytes.
func readWholeFile(fs rocksdb.FileSystem, name string, step uint64, io *rocksdb.IOOptions) ([]byte, error) {
	size, err := fs.GetFileSize(name, nil)
	if err != nil {
		return nil, err
	}
	if size > maxOptionFileSize {
		return nil, rocksdb.InvalidArgument("An OPTIONS file of this size cannot be right").In(name)
	}
	f, err := fs.NewSequentialFile(name, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, 0, size)
	scratch := make([]byte, min(step, size+1))
	for uint64(len(data)) < size {
		part, err := f.Read(len(scratch), io, scratch)
		if err != nil {
			return nil, err
		}
		if len(part) == 0 {
			break
		}
		data = append(data, part...)
	}
	return data, nil
}

// ParseText is Parse of a file's contents.
func (p *Parser) ParseText(cfg *rocksdb.ConfigOptions, text string) error {
	p.Reset()
	c := *cfg
	section, title, argument := OptionSectionUnknown, "", ""
	opts := map[string]string{}
	lineNum := 0
	for len(text) > 0 {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		lineNum++
		line = trimAndRemoveComment(line, false)
		if line == "" {
			continue
		}
		if !isSection(line) {
			name, value, err := parseStatement(line, lineNum)
			if err != nil {
				return err
			}
			if _, dup := opts[name]; !dup {
				opts[name] = value
			}
			continue
		}
		if err := p.endSection(&c, section, title, argument, opts); err != nil {
			return err
		}
		opts = map[string]string{}
		if section == OptionSectionVersion && c.IgnoreUnknownOptions && !p.newerThanUs() {
			c.IgnoreUnknownOptions = false
		}
		var err error
		if section, title, argument, err = p.parseSection(line, lineNum); err != nil {
			return err
		}
	}
	if err := p.endSection(&c, section, title, argument, opts); err != nil {
		return err
	}
	return p.validityCheck()
}

func (p *Parser) newerThanUs() bool {
	us := [3]int{rocksdb.Major, rocksdb.Minor, rocksdb.Patch}
	for i := range us {
		if p.dbVersion[i] != us[i] {
			return p.dbVersion[i] > us[i]
		}
	}
	return false
}

func isSection(line string) bool {
	return len(line) >= 2 && line[0] == '[' && line[len(line)-1] == ']'
}

func lineError(lineNum int, message string) error {
	return rocksdb.InvalidArgument(fmt.Sprintf("%s%s (at line %d)", errPrefix, message, lineNum))
}

func (p *Parser) parseSection(line string, lineNum int) (section OptionSection, title, argument string, err error) {
	first, last := strings.IndexByte(line, '"'), strings.LastIndexByte(line, '"')
	if first >= 0 && first != last {
		title = trimAndRemoveComment(line[1:first], true)
		argument = util.UnescapeOptionString(line[first+1 : last])
	} else {
		title = trimAndRemoveComment(line[1:len(line)-1], true)
	}
	for i, t := range sectionTitles {
		s := OptionSection(i)
		if title == t && s != OptionSectionTableOptions ||
			s == OptionSectionTableOptions && strings.HasPrefix(title, t) && len(title) > len(t) {
			return s, title, argument, p.checkSection(s, argument, lineNum)
		}
	}
	return OptionSectionUnknown, title, argument, rocksdb.InvalidArgument("Unknown section " + line)
}

func (p *Parser) checkSection(section OptionSection, argument string, lineNum int) error {
	switch section {
	case OptionSectionDBOptions:
		if p.hasDB {
			return lineError(lineNum, "More than one DBOption section found in the option config file")
		}
		p.hasDB = true
	case OptionSectionCFOptions:
		isDefault := argument == rocksdb.DefaultColumnFamilyName
		if (len(p.cfs) == 0) != isDefault {
			return lineError(lineNum, "Default column family must be the first CFOptions section in the option config file")
		}
		if p.GetCFOptions(argument) != nil {
			return lineError(lineNum, "Two identical column families found in option config file")
		}
		p.hasDefaultCF = p.hasDefaultCF || isDefault
	case OptionSectionTableOptions:
		if p.GetCFOptions(argument) == nil {
			return lineError(lineNum, "Does not find a matched column family name in TableOptions section.  Column Family Name:"+argument)
		}
	case OptionSectionVersion:
		if p.hasVersion {
			return lineError(lineNum, "More than one Version section found in the option config file.")
		}
		p.hasVersion = true
	}
	return nil
}

func parseStatement(line string, lineNum int) (name, value string, err error) {
	name, value, found := strings.Cut(line, "=")
	if !found {
		return "", "", lineError(lineNum, "A valid statement must have a '='.")
	}
	name, value = trimAndRemoveComment(name, true), trimAndRemoveComment(value, false)
	if name == "" {
		return "", "", lineError(lineNum, "A valid statement must have a variable name.")
	}
	return name, value, nil
}

func (p *Parser) endSection(cfg *rocksdb.ConfigOptions, section OptionSection, title, argument string, opts map[string]string) (err error) {
	switch section {
	case OptionSectionDBOptions:
		base := rocksdb.DefaultDBOptions()
		if p.db, err = GetDBOptionsFromMap(cfg, &base, opts); err == nil {
			p.dbMap = opts
		}
		return err
	case OptionSectionCFOptions:
		base := rocksdb.DefaultColumnFamilyOptions()
		cf, err := GetColumnFamilyOptionsFromMap(cfg, &base, opts)
		p.names = append(p.names, argument)
		p.cfs = append(p.cfs, cf)
		p.cfMaps = append(p.cfMaps, opts)
		return err
	case OptionSectionTableOptions:
		cf := p.GetCFOptions(argument)
		if cf == nil {
			return rocksdb.InvalidArgument("The specified column family must be defined before the TableOptions section:", argument)
		}
		name := title[len(sectionTitles[OptionSectionTableOptions]):]
		tf, err := CreateFromString[rocksdb.TableFactory](cfg, tableFactoryCodec.kind, name)
		if err != nil || tf == nil {
			cf.TableFactory = missingTableFactory{name}
			return nil
		}
		cf.TableFactory = tf
		return invalidArgument(ConfigureObject(cfg, tf, opts))
	case OptionSectionVersion:
		return p.endVersion(opts)
	}
	return nil
}

func (p *Parser) endVersion(opts map[string]string) error {
	if v, ok := opts["rocksdb_version"]; ok {
		if err := ParseVersionNumber("rocksdb_version", v, p.dbVersion[:]); err != nil {
			return err
		}
	}
	if v, ok := opts["options_file_version"]; ok {
		if err := ParseVersionNumber("options_file_version", v, p.fileVersion[:2]); err != nil {
			return err
		}
		if p.fileVersion[0] < 1 {
			return rocksdb.InvalidArgument("A valid options_file_version must be at least 1.")
		}
	}
	return nil
}

func (p *Parser) validityCheck() error {
	if !p.hasDB {
		return rocksdb.Corruption("A RocksDB Option file must have a single DBOptions section")
	}
	if !p.hasDefaultCF {
		return rocksdb.Corruption("A RocksDB Option file must have a single CFOptions:default section")
	}
	return nil
}

// ParseVersionNumber reads numbers separated by dots, at most len(version).
func ParseVersionNumber(name, text string, version []int) error {
	clear(version)
	parts := strings.Split(text, ".")
	if len(parts) > len(version) {
		return rocksdb.InvalidArgumentf("A valid %s can only contains at most %d dots.", name, len(version)-1)
	}
	for i, part := range parts {
		if part == "" && len(parts) > 1 {
			where := "before each"
			if i == len(parts)-1 {
				where = "after each"
			}
			return rocksdb.InvalidArgumentf("A valid %s must have at least one digit %s dot.", name, where)
		}
		for _, c := range []byte(part) {
			if c < '0' || c > '9' || version[i] > 1<<24 {
				return rocksdb.InvalidArgumentf("A valid %s can only contains dots and numbers.", name)
			}
			version[i] = version[i]*10 + int(c-'0')
		}
	}
	return nil
}

// TrimAndRemoveComment takes off surrounding space and, unless trimOnly, what
// follows an unescaped '#'.
func TrimAndRemoveComment(line string, trimOnly bool) string {
	return trimAndRemoveComment(line, trimOnly)
}

func trimAndRemoveComment(line string, trimOnly bool) string {
	if !trimOnly {
		for i := 0; i < len(line); i++ {
			if line[i] == '#' && (i == 0 || line[i-1] != '\\') {
				line = line[:i]
				break
			}
		}
	}
	return util.Trim(line)
}

// VerifyRocksDBOptionsFromFile compares options with those of a file, as
// strictly as cfg's sanity level asks.
func VerifyRocksDBOptionsFromFile(cfg *rocksdb.ConfigOptions, db *rocksdb.DBOptions, cfNames []string, cfs []rocksdb.ColumnFamilyOptions, fileName string, fs rocksdb.FileSystem) error {
	c := *cfg
	c.InvokePrepareOptions = false
	if c.SanityLevel < rocksdb.SanityLevelExactMatch {
		c.IgnoreUnsupportedOptions = true
	}
	p := NewParser()
	if err := p.Parse(&c, fileName, fs); err != nil {
		return err
	}
	return p.verify(&c, db, cfNames, cfs)
}

func (p *Parser) verify(cfg *rocksdb.ConfigOptions, db *rocksdb.DBOptions, cfNames []string, cfs []rocksdb.ColumnFamilyOptions) error {
	if err := VerifyDBOptions(cfg, db, &p.db, p.dbMap); err != nil {
		return err
	}
	if len(cfNames) != len(p.names) {
		if cfg.SanityLevel >= rocksdb.SanityLevelLooselyCompatible {
			return rocksdb.InvalidArgument(errPrefix + "The persisted options does not have the same number of column family names as the db instance.")
		}
		if len(cfNames) > len(p.names) {
			return rocksdb.InvalidArgument(errPrefix + "The persisted options file has less number of column family names than that of the specified one.")
		}
	}
	if len(cfs) != len(cfNames) {
		return rocksdb.InvalidArgument(errPrefix + "The persisted options does not have the same number of column families as the db instance.")
	}
	for i := range cfNames {
		if cfNames[i] != p.names[i] {
			return rocksdb.InvalidArgumentf("%sThe persisted options and the db instance does not have the same name for column family %d", errPrefix, i)
		}
	}
	for i := range cfs {
		if err := VerifyCFOptions(cfg, &cfs[i], &p.cfs[i], p.cfMaps[i]); err != nil {
			return err
		}
		if err := VerifyTableFactory(cfg, cfs[i].TableFactory, p.cfs[i].TableFactory); err != nil {
			return err
		}
	}
	return nil
}

// VerifyDBOptions compares options with those of a file, whose text is opts
// (nil when there is none).
func VerifyDBOptions(cfg *rocksdb.ConfigOptions, base, file *rocksdb.DBOptions, opts map[string]string) error {
	ok, mismatch := tablesEqual(cfg, dbOptionsTable, base, file, rowEqualByMap(opts))
	if ok {
		return nil
	}
	return mismatchError(cfg, "DBOptions::", mismatch, opts,
		[]OptionSet{{dbOptionsTable, base}}, []OptionSet{{dbOptionsTable, file}})
}

// VerifyCFOptions does so for a column family.
func VerifyCFOptions(cfg *rocksdb.ConfigOptions, base, file *rocksdb.ColumnFamilyOptions, opts map[string]string) error {
	ok, mismatch := tablesEqual(cfg, cfOptionsTable, base, file, rowEqualByMap(opts))
	if ok {
		return nil
	}
	return mismatchError(cfg, "ColumnFamilyOptions::", mismatch, opts,
		[]OptionSet{{cfOptionsTable, base}}, []OptionSet{{cfOptionsTable, file}})
}

func mismatchError(cfg *rocksdb.ConfigOptions, what, mismatch string, opts map[string]string, base, file []OptionSet) error {
	head := "[RocksDBOptionsParser]: failed the verification on " + what + mismatch
	baseValue, err := GetOption(cfg, base, mismatch)
	var fileValue string
	if err == nil {
		if fileValue, err = GetOption(cfg, file, mismatch); err == nil && fileValue == nullptrString {
			if v, ok := opts[mismatch]; ok {
				fileValue = v
			}
		}
	}
	if err != nil {
		return rocksdb.InvalidArgument(head + " --- Unable to re-serialize an option: " + err.Error() + ".\n")
	}
	return rocksdb.InvalidArgument(head + " --- The specified one is " + baseValue + " while the persisted one is " + fileValue + ".\n")
}

// VerifyTableFactory compares two table formats; a nil one is equal to all.
func VerifyTableFactory(cfg *rocksdb.ConfigOptions, base, file rocksdb.TableFactory) error {
	if base == nil || file == nil {
		return nil
	}
	if cfg.SanityLevel > rocksdb.SanityLevelNone && base.Name() != file.Name() {
		return rocksdb.Corruption("[RocksDBOptionsParser]: failed the verification on TableFactory->Name()")
	}
	if ok, mismatch := ObjectsAreEquivalent(cfg, base, file); !ok {
		return rocksdb.Corruption("[RocksDBOptionsParser]: failed the verification on "+base.Name()+"::", mismatch)
	}
	return nil
}
