// Port of tools/ldb_cmd.cc and tools/ldb_cmd_impl.h: arguments and the life of
// a command. Differs: a class is a row of a table; where upstream throws and so
// aborts, a command fails.

package tools

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/ttl"
)

// delim stands between a key and its value.
const delim = " ==> "

// commandDef declares a command.
type commandDef struct {
	name string
	help string // what follows the name in the help; lines end in "\n"
	// options are the options and flags that the command takes.
	options []string
	// onlyOptions says that it does not take the common ones.
	onlyOptions bool
	readOnly    bool
	// noDBOpen commands open no database, or open it themselves.
	noDBOpen bool
	// dbOptional commands open a database only when one is named.
	dbOptional bool
	// createIfMissing commands heed that flag.
	createIfMissing bool
	// init reads the command's arguments; it fails the command at will. nil
	// reads nothing.
	init func(c *LDBCommand)
	// do does the work; the database is open unless noDBOpen, or unless c.db is
	// nil in the few commands that go on then. nil: not built yet.
	do func(c *LDBCommand)
	// overrideBase and overrideCF change options after the common flags did.
	overrideBase func(c *LDBCommand)
	overrideCF   func(c *LDBCommand, o *rocksdb.ColumnFamilyOptions)
	// goOn runs do although the database could not be opened.
	goOn bool
}

type execState uint8

const (
	execNotStarted execState = iota
	execSucceeded
	execFailed
)

// LDBCommand is one command being run.
type LDBCommand struct {
	def    *commandDef
	tool   *LDBTool
	out    *bufio.Writer
	params []string // words after the command
	// optionMap are --name=value arguments, flags those without a value.
	optionMap map[string]string
	flags     []string

	state   execState
	message string

	dbPath           string
	columnFamilyName string
	keyHex, valueHex bool
	tryLoadOptions   bool
	createIfMissing  bool
	configOptions    rocksdb.ConfigOptions
	options          rocksdb.Options
	columnFamilies   []rocksdb.ColumnFamilyDescriptor

	db        *dbimpl.DBImpl
	ttlDB     *ttl.DBWithTTL               // with --ttl; db is the one below
	handles   []*db.ColumnFamilyHandleImpl // in the order of columnFamilies, if those were named
	cfHandles map[string]*db.ColumnFamilyHandleImpl
	ucmps     map[uint32]rocksdb.Comparator

	args commandArgs
}

// parsedParams are arguments taken apart.
type parsedParams struct {
	words     []string
	optionMap map[string]string
	flags     []string
}

func (p *parsedParams) add(arg string) {
	text, ok := strings.CutPrefix(arg, "--")
	if !ok {
		p.words = append(p.words, arg)
		return
	}
	name, value, _ := strings.Cut(text, "=")
	// Upstream splits at "=" and drops an empty part at the end, so that
	// "--name=" is a flag.
	if value == "" {
		p.flags = append(p.flags, name)
		return
	}
	if p.optionMap == nil {
		p.optionMap = map[string]string{}
	}
	p.optionMap[name] = value
}

// newLDBCommand makes the command of a command line, nil if there is none of
// that name. Its arguments may already have failed it.
func newLDBCommand(args []string, t *LDBTool, out *bufio.Writer) *LDBCommand {
	var p parsedParams
	for _, a := range args {
		p.add(a)
	}
	if len(p.words) == 0 {
		fmt.Fprint(t.Stderr, "Command not specified!")
		return nil
	}
	def := findCommand(p.words[0])
	if def == nil {
		return nil
	}
	c := &LDBCommand{def: def, tool: t, out: out, params: p.words[1:], optionMap: p.optionMap, flags: p.flags,
		options: t.Options, columnFamilies: slices.Clone(t.ColumnFamilies),
		configOptions: rocksdb.DefaultConfigOptions(), ucmps: map[uint32]rocksdb.Comparator{}}
	c.dbPath = c.optionMap["db"]
	c.columnFamilyName = rocksdb.DefaultColumnFamilyName
	if name, ok := c.optionMap["column_family"]; ok {
		c.columnFamilyName = name
	}
	c.keyHex = c.boolOption("hex", false) || c.boolOption("key_hex", false)
	c.valueHex = c.boolOption("hex", false) || c.boolOption("value_hex", false)
	// Where a database is named that need not be made, its OPTIONS file tells
	// how to read it.
	_, hasDB := c.optionMap["db"]
	c.tryLoadOptions = c.boolOption("try_load_options", hasDB && !c.isFlag("create_if_missing") && !c.isFlag("ttl"))
	c.configOptions.IgnoreUnknownOptions = c.isFlag("ignore_unknown_options")
	c.createIfMissing = def.createIfMissing && c.boolOption("create_if_missing", false)
	if def.init != nil {
		def.init(c)
	}
	return c
}

func (c *LDBCommand) fail(message string) { c.state, c.message = execFailed, message }

func (c *LDBCommand) failErr(prefix string, err error) { c.fail(prefix + err.Error()) }

func (c *LDBCommand) printf(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }

// line prints a line; an error comes again at the last flush.
func (c *LDBCommand) line(text string) {
	_, _ = c.out.WriteString(text)
	_ = c.out.WriteByte('\n')
}

// warnf writes to the error stream, after what was printed so far.
func (c *LDBCommand) warnf(format string, args ...any) {
	_ = c.out.Flush() // an error comes again at the last flush
	fmt.Fprintf(c.tool.Stderr, format, args...)
}

func (c *LDBCommand) isFlag(name string) bool { return slices.Contains(c.flags, name) }

// boolOption is true for a flag, and what it says for an option with a value.
func (c *LDBCommand) boolOption(name string, absent bool) bool {
	if c.isFlag(name) {
		return true
	}
	text, ok := c.optionMap[name]
	if !ok {
		return absent
	}
	v, ok := stringToBool(text)
	if !ok {
		c.fail("--" + name + ": " + badBoolean)
	}
	return v
}

// badBoolean is said of an option that is neither true nor false.
const badBoolean = "Invalid value for boolean argument"

func stringToBool(s string) (v, ok bool) {
	switch strings.ToLower(s) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

var (
	errInvalidValue = errors.New(" has an invalid value")
	errOutOfRange   = errors.New(" has a value out-of-range")
)

// parseStoi reads an int as C++'s std::stoi: blanks before it and anything
// after it are ignored.
func parseStoi(s string) (int, error) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	if end < len(s) && (s[0] == '+' || s[0] == '-') {
		end++
	}
	digits := end
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == digits {
		return 0, errInvalidValue
	}
	v, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil || v < math.MinInt32 || v > math.MaxInt32 {
		return 0, errOutOfRange
	}
	return int(v), nil
}

// intOption reads an option; ok is false when it is not there or not a number,
// and the latter fails the command.
func (c *LDBCommand) intOption(name string) (v int, ok bool) {
	text, ok := c.optionMap[name]
	if !ok {
		return 0, false
	}
	v, err := parseStoi(text)
	if err != nil {
		c.fail(name + err.Error() + ".")
		return 0, false
	}
	return v, true
}

// doubleOption is intOption for std::stod.
func (c *LDBCommand) doubleOption(name string) (v float64, ok bool) {
	text, ok := c.optionMap[name]
	if !ok {
		return 0, false
	}
	text = strings.TrimLeft(text, " \t\n\v\f\r")
	for end := len(text); end > 0; end-- {
		if strings.ContainsRune(text[:end], '_') {
			continue
		}
		v, err := strconv.ParseFloat(text[:end], 64)
		if err == nil {
			return v, true
		}
		if errors.Is(err, strconv.ErrRange) {
			c.fail(name + errOutOfRange.Error() + ".")
			return 0, false
		}
	}
	c.fail(name + errInvalidValue.Error() + ".")
	return 0, false
}

// maxKeys reads --max_keys, absent where it is not there.
func (c *LDBCommand) maxKeys(absent int) int {
	text, ok := c.optionMap["max_keys"]
	if !ok {
		return absent
	}
	v, err := parseStoi(text)
	if err != nil {
		c.fail("max_keys" + err.Error())
		return absent
	}
	return v
}

// hexToString reads 0x…; a mistake fails the command.
func (c *LDBCommand) hexToString(s string) []byte {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok {
		c.warnf("Invalid hex input %s.  Must start with 0x\n", s)
		c.fail("Invalid hex input")
		return nil
	}
	b, ok := util.DecodeHex(digits)
	if !ok {
		c.fail("Invalid hex input")
		return nil
	}
	return b
}

// key reads a key given as an argument.
func (c *LDBCommand) key(s string) []byte {
	if c.keyHex {
		return c.hexToString(s)
	}
	return []byte(s)
}

// value is key for values.
func (c *LDBCommand) value(s string) []byte {
	if c.valueHex {
		return c.hexToString(s)
	}
	return []byte(s)
}

// rangeArg reads --from or --to; nil when it is not there.
func (c *LDBCommand) rangeArg(name string, hex bool) []byte {
	text, ok := c.optionMap[name]
	switch {
	case !ok:
		return nil
	case hex:
		return c.hexToString(text)
	}
	return []byte(text)
}

func stringToHex(b []byte) string { return "0x" + util.SliceToHex(b) }

func (c *LDBCommand) keyText(key []byte) string {
	if c.keyHex {
		return stringToHex(key)
	}
	return string(key)
}

func (c *LDBCommand) valueText(value []byte) string {
	if c.valueHex {
		return stringToHex(value)
	}
	return string(value)
}

// entryText is a line for a key and what it holds.
func (c *LDBCommand) entryText(key, ts, value []byte, columns rocksdb.WideColumns, ucmp rocksdb.Comparator) string {
	text := c.keyText(key)
	if len(ts) > 0 {
		text += "|timestamp:" + ucmp.TimestampToString(ts)
	}
	if len(columns) == 0 || len(columns) == 1 && wide.HasDefaultColumn(columns) {
		return text + delim + c.valueText(value)
	}
	return text + delim + wide.DumpWideColumns(columns, c.valueHex)
}

// parseKeyValue takes a line of dump's apart.
func (c *LDBCommand) parseKeyValue(line string) (key, value []byte, ok bool) {
	k, v, ok := strings.Cut(line, delim)
	if !ok {
		return nil, nil, false
	}
	if key = c.key(k); c.state != execFailed {
		value = c.value(v)
	}
	return key, value, true
}

// commonOptions are taken by all commands but a few.
var commonOptions = []string{"env_uri", "fs_uri", "db", "secondary_path", "leader_path", "bloom_bits", "block_size",
	"uniform_cv_threshold", "auto_compaction", "compression_type", "compression_max_dict_bytes", "write_buffer_size", "file_size",
	"fix_prefix_len", "try_load_options", "disable_consistency_checks", "enable_blob_files", "min_blob_size", "blob_file_size",
	"blob_compression_type", "enable_blob_garbage_collection", "blob_garbage_collection_age_cutoff",
	"blob_garbage_collection_force_threshold", "blob_compaction_readahead_size", "blob_file_starting_level", "prepopulate_blob_cache",
	"ignore_unknown_options", "column_family", "use_txn", "txn_write_policy"}

// notSupported are the common ones that are not built yet.
var notSupported = []string{"leader_path", "use_txn", "txn_write_policy"}

func (c *LDBCommand) noDBOpen() bool { return c.def.noDBOpen || c.def.dbOptional && c.dbPath == "" }

func (c *LDBCommand) takes(name string) bool {
	return slices.Contains(c.def.options, name) || !c.def.onlyOptions && slices.Contains(commonOptions, name)
}

// validateCmdLineOptions refuses arguments that the command does not take.
func (c *LDBCommand) validateCmdLineOptions() bool {
	names := make([]string, 0, len(c.optionMap))
	for name := range c.optionMap {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if !c.takes(name) {
			c.warnf("Invalid command-line option %s\n", name)
			return false
		}
	}
	for _, name := range c.flags {
		if !c.takes(name) {
			c.warnf("Invalid command-line flag %s\n", name)
			return false
		}
	}
	if !c.noDBOpen() && c.optionMap["db"] == "" && c.optionMap["path"] == "" {
		c.warnf("Either db or path must be specified.\n")
		return false
	}
	return true
}

// run runs the command to its end and closes the database.
func (c *LDBCommand) run() {
	if c.state != execNotStarted {
		return
	}
	if c.def.do == nil {
		c.failErr("", rocksdb.NotSupported("command", c.def.name))
		return
	}
	if c.options.Env == nil {
		e, err := options.CreateEnvFromURI(&c.configOptions, c.optionMap["env_uri"], c.optionMap["fs_uri"])
		if err != nil {
			c.warnf("%v\n", err)
			c.failErr("", err)
			return
		}
		c.options.Env = e
	}
	for _, name := range notSupported {
		if _, ok := c.optionMap[name]; ok || c.isFlag(name) {
			c.failErr("", rocksdb.NotSupported("--"+name))
			return
		}
	}
	if !c.noDBOpen() {
		c.openDB()
		// A MANIFEST or a log may be given to some commands instead.
		if c.state == execFailed && (c.tryLoadOptions || !c.def.goOn) {
			return
		}
	}
	c.def.do(c)
	if c.state == execNotStarted {
		c.state = execSucceeded
	}
	c.closeDB()
}
