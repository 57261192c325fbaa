// Port of tools/ldb_cmd.cc: the commands about a database as a whole.

package tools

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// manifestDumpLevels is how many levels a dump allows for.
const manifestDumpLevels = 64

// oneName reads the only parameter as a name.
func oneName(message string) func(*LDBCommand) {
	return func(c *LDBCommand) {
		if len(c.params) != 1 {
			c.fail(message)
			return
		}
		c.args.name = c.params[0]
	}
}

func (c *LDBCommand) initPath() {
	c.args.path = c.optionMap["path"]
	if c.isFlag("path") {
		c.fail("--path: missing pathname")
	}
}

func (c *LDBCommand) doCompact() {
	o := rocksdb.DefaultCompactRangeOptions()
	o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForceOptimized
	c.compactRange(&o, c.args.from, c.args.to)
}

func (c *LDBCommand) compactRange(o *rocksdb.CompactRangeOptions, from, to []byte) {
	p := startProgress(c.tool.Stderr, "compact", "", 0)
	defer p.stop()
	if err := c.db.CompactRange(o, c.family(), from, to); err != nil {
		c.failErr("Compaction failed: ", err)
	}
}

func (c *LDBCommand) doLoad() {
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = c.isFlag("disable_wal")
	bad := c.readEntries("Load failed: ", "Load failed: ", func(key, value []byte) error {
		return c.db.Put(&wo, c.family(), key, value)
	})
	if c.state == execFailed {
		return
	}
	if bad > 0 {
		c.printf("Warning: %d bad lines ignored.\n", bad)
	}
	if c.isFlag("compact") {
		o := rocksdb.DefaultCompactRangeOptions()
		c.compactRange(&o, nil, nil)
	}
}

// readEntries hands the entries of the input's lines to put, and gives how many lines
// are none. Only keys between --from and --to count; upstream takes these options here
// without going by them. The progress of a file is told in its bytes.
func (c *LDBCommand) readEntries(readFailure, putFailure string, put func(key, value []byte) error) (bad int) {
	ucmp := c.family().GetComparator()
	in := bufio.NewReader(c.tool.Stdin)
	unit, size := "lines", fileSize(c.tool.Stdin)
	if size > 0 {
		unit = "bytes"
	}
	p := startProgress(c.tool.Stderr, c.def.name, unit, size)
	defer p.stop()
	for {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			c.failErr(readFailure, err)
			return bad
		}
		if line == "" {
			return bad
		}
		if size > 0 {
			p.add(len(line))
		} else {
			p.add(1)
		}
		line = strings.TrimSuffix(line, "\n")
		key, value, ok := c.parseKeyValue(line)
		switch {
		case c.state == execFailed:
			return bad
		case !ok:
			if !strings.HasPrefix(line, "Keys in range:") && !strings.HasPrefix(line, "Created bg thread 0x") {
				bad++
			}
		case c.args.from != nil && ucmp.CompareWithoutTimestamp(key, false, c.args.from, false) < 0,
			c.args.to != nil && ucmp.CompareWithoutTimestamp(key, false, c.args.to, false) >= 0:
		default:
			if err := put(key, value); err != nil {
				c.failErr(putFailure, err)
				return bad
			}
		}
	}
}

// findManifest gives the path of the only MANIFEST of the database.
func (c *LDBCommand) findManifest() string {
	none := rocksdb.DefaultIOOptions()
	names, err := c.fs().GetChildren(c.dbPath, &none)
	if err != nil {
		c.fail(err.Error() + ": Failed to list the content of " + c.dbPath)
		return ""
	}
	found := ""
	for _, name := range names {
		if p, ok := filename.ParseFileName(name, ""); ok && p.Type == rocksdb.DescriptorFile {
			if found != "" {
				c.fail("Multiple MANIFEST files found; use --path to select one")
				return ""
			}
			found = name
		}
	}
	if found == "" {
		c.fail("No MANIFEST found in " + c.dbPath)
		return ""
	}
	return strings.TrimSuffix(c.dbPath, "/") + "/" + found
}

func (c *LDBCommand) doManifestDump() {
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	path := c.args.path
	if path == "" {
		if path = c.findManifest(); path == "" {
			return
		}
	}
	verbose := c.isFlag("verbose")
	if verbose {
		c.printf("Processing Manifest file %s\n", path)
	}
	c.dumpManifest(path, verbose, c.isFlag("json"))
	if verbose {
		c.printf("Processing Manifest file %s done\n", path)
	}
}

// dumpManifest prints a MANIFEST. A MANIFEST that cannot be read is told of on
// the error stream, and is no failure of the command, as upstream has it.
func (c *LDBCommand) dumpManifest(path string, verbose, json bool) {
	defaults := c.options.ColumnFamilyOptions
	defaults.NumLevels = manifestDumpLevels
	vs := c.versionSet("dummy", "", true)
	defer vs.Destroy()
	if err := vs.DumpManifest(c.out, path, &defaults, c.columnFamilies, db.DumpManifestOptions{Verbose: verbose, Hex: c.keyHex, JSON: json}); err != nil {
		c.warnf("Error in processing file %s %v\n", path, err)
	}
}

func (c *LDBCommand) doFileChecksumDump() {
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	path := c.args.path
	var err error
	if path == "" {
		path, _, err = db.GetCurrentManifestPath(c.dbPath, c.fs(), false)
	}
	hex := c.isFlag("hex")
	if err == nil {
		err = db.GetFileChecksumsFromManifest(path, c.fs(), 0, func(number uint64, checksum, funcName string) error {
			if hex {
				checksum = stringToHex([]byte(checksum))
			}
			c.printf("%d, %s, %s\n", number, funcName, checksum)
			return nil
		})
	}
	if err != nil {
		c.failErr("", err)
		return
	}
	c.printf("Print SST file checksum information finished \n")
}

func (c *LDBCommand) doGetProperty() {
	name := c.args.name
	if d, ok := any(c.db).(mapPropertyGetter); ok {
		if m, ok := d.GetMapProperty(c.family(), name); ok {
			if len(m) == 0 {
				c.printf("%s: <empty map>\n", name)
			}
			for _, key := range slices.Sorted(maps.Keys(m)) {
				c.printf("%s.%s: %s\n", name, key, m[key])
			}
			return
		}
	}
	if value, ok := c.db.GetProperty(c.family(), name); ok {
		c.printf("%s: %s\n", name, value)
		return
	}
	c.fail("failed to get property: " + name)
}

type mapPropertyGetter interface {
	GetMapProperty(cf rocksdb.ColumnFamilyHandle, name string) (map[string]string, bool)
}

func (c *LDBCommand) doListColumnFamilies() {
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	names, err := db.ListColumnFamilies(c.dbPath, c.fs())
	if err != nil {
		c.warnf("Error in processing db %s %v\n", c.dbPath, err)
		return
	}
	c.printf("Column families in %s: \n{%s}\n", c.dbPath, strings.Join(names, ", "))
}

func (c *LDBCommand) doCreateColumnFamily() {
	h, err := c.db.CreateColumnFamily(&c.options.ColumnFamilyOptions, c.args.name)
	if h != nil {
		c.handles = append(c.handles, h)
	}
	if err != nil {
		c.failErr("Fail to create new column family: ", err)
		return
	}
	c.printf("OK\n")
}

func (c *LDBCommand) doDropColumnFamily() {
	h := c.cfHandles[c.args.name]
	if h == nil {
		c.fail("Column family: " + c.args.name + " doesn't exist in db.")
		return
	}
	if err := c.db.DropColumnFamily(h); err != nil {
		c.failErr("Fail to drop column family: ", err)
		return
	}
	c.printf("OK\n")
}

func (c *LDBCommand) initApproxSize() {
	c.initRange()
	for _, name := range []string{"from", "to"} {
		if _, ok := c.optionMap[name]; !ok {
			c.fail(name + " must be specified for approxsize command")
			return
		}
	}
}

// doApproxSize prints the size of the tables' part of a range.
func (c *LDBCommand) doApproxSize() {
	sv := c.family().CFD().GetReferencedSuperVersion()
	defer sv.Release()
	ro := rocksdb.DefaultReadOptions()
	internal := func(key []byte) []byte {
		for range c.family().GetComparator().TimestampSize() {
			key = append(slices.Clip(key), 0xff)
		}
		return dbformat.AppendInternalKey(nil, key, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
	}
	size := c.db.Versions().ApproximateSize(&ro, sv.Current, internal(c.args.from), internal(c.args.to), 0, -1, -1,
		rocksdb.CallerUserApproximateSize)
	c.printf("%d\n", size)
}

// logToStderr sends the info log to the error stream: warnings or, with
// --verbose, all of it.
func (c *LDBCommand) logToStderr() {
	level := rocksdb.WarnLevel
	if c.isFlag("verbose") || c.boolOption("verbose", false) {
		level = rocksdb.InfoLevel
	}
	c.options.InfoLog = logging.NewStreamLogger(c.tool.Stderr, level, c.env().GetThreadID)
}

// doRepair repairs a closed database. Differs: families have the options that
// the OPTIONS file gives them, not the default one's.
func (c *LDBCommand) doRepair() {
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	families := c.columnFamilies
	isDefault := func(d rocksdb.ColumnFamilyDescriptor) bool { return d.Name == rocksdb.DefaultColumnFamilyName }
	if !slices.ContainsFunc(families, isDefault) {
		families = append(slices.Clone(families), rocksdb.ColumnFamilyDescriptor{Name: rocksdb.DefaultColumnFamilyName, Options: c.options.ColumnFamilyOptions})
	}
	_ = c.out.Flush() // an error comes again at the last flush
	if err := dbimpl.RepairDB(&c.options.DBOptions, c.dbPath, families, &c.options.ColumnFamilyOptions); err != nil {
		c.failErr("", err)
		return
	}
	c.printf("OK\n")
}

func (c *LDBCommand) doCheckConsistency() {
	c.options.ParanoidChecks = true
	c.options.NumLevels = manifestDumpLevels
	c.openDB()
	if c.state != execFailed {
		c.printf("OK\n")
	}
}

// liveFile is a row of list_live_files_metadata.
type liveFile struct {
	path   string
	level  int // -1 for a blob file
	family string
}

func (f liveFile) compare(g liveFile) int {
	return cmp.Or(strings.Compare(f.path, g.path), cmp.Compare(f.level, g.level), strings.Compare(f.family, g.family))
}

func (c *LDBCommand) doListLiveFilesMetadata() {
	var all []liveFile
	sorted := c.isFlag("sort_by_filename")
	for _, h := range c.handles {
		sv := h.CFD().GetReferencedSuperVersion()
		m := sv.Current.GetColumnFamilyMetaData(nil)
		sv.Release()
		if !sorted {
			c.printf("===== Column Family: %s =====\nLive SST Files:\n", m.Name)
		}
		for _, l := range m.Levels {
			if !sorted {
				c.printf("---------- level %d ----------\n", l.Level)
			}
			for _, f := range l.Files {
				path := filename.NormalizePath(f.DBPath + "/" + f.Name)
				all = append(all, liveFile{path, l.Level, m.Name})
				if !sorted {
					c.printf("%s\n", path)
				}
			}
		}
		if !sorted {
			c.printf("Live Blob Files:\n")
		}
		for _, f := range m.BlobFiles {
			path := filename.NormalizePath(f.BlobFilePath + "/" + f.BlobFileName)
			all = append(all, liveFile{path, -1, m.Name})
			if !sorted {
				c.printf("%s\n", path)
			}
		}
	}
	if sorted {
		c.printf("Live SST and Blob Files:\n")
		slices.SortFunc(all, liveFile.compare)
		for _, f := range all {
			level := ""
			if f.level >= 0 {
				level = fmt.Sprintf(" : level %d", f.level)
			}
			c.printf("%s%s, column family '%s'\n", f.path, level, f.family)
		}
	}
	c.printf("------------------------------\n")
}

func (c *LDBCommand) initListFileRangeDeletes() {
	c.args.maxKeys = c.maxKeys(defaultRangeDeletes)
}

// defaultRangeDeletes is how many tombstones are listed without --max_keys.
const defaultRangeDeletes = 1000

func (c *LDBCommand) doListFileRangeDeletes() {
	sv := c.family().CFD().GetReferencedSuperVersion()
	defer sv.Release()
	text, err := sv.Current.TablesRangeTombstoneSummary(c.args.maxKeys)
	if err != nil {
		// Differs: upstream says nothing.
		c.failErr("", err)
		return
	}
	c.printf("%s\n", text)
}

func (c *LDBCommand) levelCounts() string {
	var counts []string
	for i := range c.family().CFD().NumberLevels() {
		n, _ := c.db.GetProperty(c.family(), fmt.Sprintf("rocksdb.num-files-at-level%d", i))
		counts = append(counts, n)
	}
	return strings.Join(counts, ",")
}

func (c *LDBCommand) initChangeCompactionStyle() {
	style := func(name, which string) (rocksdb.CompactionStyle, bool) {
		v, ok := c.intOption(name)
		if !ok || v != int(rocksdb.CompactionStyleLevel) && v != int(rocksdb.CompactionStyleUniversal) {
			c.fail("Use --" + name + " to specify " + which + " compaction style. Check ldb help for proper compaction style value.\n")
			return 0, false
		}
		return rocksdb.CompactionStyle(v), true
	}
	from, ok := style("old_compaction_style", "old")
	if !ok {
		return
	}
	to, ok := style("new_compaction_style", "new")
	switch {
	case !ok:
	case from == to:
		c.fail("Old compaction style is the same as new compaction style. Nothing to do.\n")
	case from == rocksdb.CompactionStyleUniversal:
		c.fail("Convert from universal compaction to level compaction. Nothing to do.\n")
	}
}

// overrideOneFile lets all data go to one file of level 0.
func overrideOneFile(_ *LDBCommand, o *rocksdb.ColumnFamilyOptions) {
	o.DisableAutoCompactions = true
	o.TargetFileSizeBase = math.MaxInt32
	o.TargetFileSizeMultiplier = 1
	o.MaxBytesForLevelBase = math.MaxInt32
	o.MaxBytesForLevelMultiplier = 1
}

func (c *LDBCommand) doChangeCompactionStyle() {
	c.printf("files per level before compaction: %s\n", c.levelCounts())
	o := rocksdb.DefaultCompactRangeOptions()
	o.ChangeLevel = true
	o.TargetLevel = 0
	if err := c.db.CompactRange(&o, c.family(), nil, nil); err != nil {
		c.failErr("Compaction failed: ", err)
		return
	}
	counts := c.levelCounts()
	for i, n := range strings.Split(counts, ",") {
		switch {
		case i == 0 && n != "1":
			c.fail("Number of db files at level 0 after compaction is " + n + ", not 1.\n")
			return
		case i > 0 && n != "0":
			c.fail(fmt.Sprintf("Number of db files at level %d after compaction is %s, not 0.\n", i, n))
			return
		}
	}
	c.printf("files per level after compaction: %s\n", counts)
}

func title(c *LDBCommand, text string) { c.printf("%s\n==============================\n", text) }

// doDumpLiveFiles prints MANIFEST, tables and logs of the database.
func (c *LDBCommand) doDumpLiveFiles() {
	title(c, "Manifest File")
	path, _, err := db.GetCurrentManifestPath(c.db.GetName(), c.fs(), false)
	if err != nil {
		c.failErr("", err)
		return
	}
	path = filename.NormalizePath(path)
	c.printf("%s\n", path)
	c.dumpManifest(path, false, false)
	c.printf("\n")
	for _, h := range c.handles {
		sv := h.CFD().GetReferencedSuperVersion()
		m := sv.Current.GetColumnFamilyMetaData(nil)
		sv.Release()
		if c.dumpLiveFamily(&m); c.state == execFailed {
			return
		}
	}
	c.printf("\n")
	title(c, "Write Ahead Log Files")
	logs, err := c.db.GetSortedWalFiles()
	if err != nil {
		c.warnf("Error when getting WAL files\n")
		return
	}
	dir := c.options.WALDir
	if dir == "" {
		dir = c.db.GetName()
	}
	d := walDump{header: true, values: true, writeCommitted: true}
	for _, log := range logs {
		path := filename.NormalizePath(dir + "/" + log.PathName())
		c.printf("%s\n", path)
		c.dumpWALFile(path, &d)
	}
}

func (c *LDBCommand) dumpLiveFamily(m *rocksdb.ColumnFamilyMetaData) {
	title(c, "Column family name: "+m.Name)
	c.printf("\n")
	title(c, "SST Files")
	for _, l := range m.Levels {
		for _, f := range l.Files {
			path := filename.NormalizePath(f.DBPath + "/" + f.Name)
			c.printf("%s level:%d\n------------------------------\n", path, l.Level)
			c.dumpTable(path, false, nil, nil)
			c.printf("\n")
		}
	}
	title(c, "Blob Files")
	for _, f := range m.BlobFiles {
		path := filename.NormalizePath(f.BlobFilePath + "/" + f.BlobFileName)
		c.printf("%s\n------------------------------\n", path)
		c.dumpBlobFile(path, false, false)
		c.printf("\n")
	}
}
