// Port of tools/ldb_cmd.cc: OverrideBaseOptions, PrepareOptions, OpenDB.

package tools

import (
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/util"
	mergeoperators "github.com/rocksdb-go/rocksdb/utilities/merge_operators"
	optionsutil "github.com/rocksdb-go/rocksdb/utilities/options"
)

// defaultMergeDelimiter is that of the operator which is put in where a
// database names none, so that operands can be shown.
const defaultMergeDelimiter = ":"

func (c *LDBCommand) env() rocksdb.Env {
	if c.options.Env == nil {
		c.options.Env = env.Default()
	}
	return c.options.Env
}

func (c *LDBCommand) fs() rocksdb.FileSystem { return c.env().GetFileSystem() }

// intFlag reads an option into field when it is at least low.
func intFlag[T int | int32 | uint32 | uint64](c *LDBCommand, name string, low int, field *T) {
	v, ok := c.intOption(name)
	switch {
	case !ok:
	case v >= low:
		*field = T(v)
	case low == 0:
		c.fail(name + " must be >= 0.")
	default:
		c.fail(name + " must be > 0.")
	}
}

// shareFlag reads a number from 0 to 1.
func (c *LDBCommand) shareFlag(name string, field *float64) {
	v, ok := c.doubleOption(name)
	switch {
	case !ok:
	case v >= 0 && v <= 1:
		*field = v
	default:
		c.fail(name + " must be >= 0 and <= 1.")
	}
}

// compressionNames are those that flags take; they differ from OPTIONS files'.
var compressionNames = map[string]rocksdb.CompressionType{
	"no": rocksdb.NoCompression, "snappy": rocksdb.SnappyCompression, "zlib": rocksdb.ZlibCompression,
	"bzip2": rocksdb.BZip2Compression, "lz4": rocksdb.LZ4Compression, "lz4hc": rocksdb.LZ4HCCompression, "zstd": rocksdb.ZSTD,
}

func (c *LDBCommand) compressionFlag(name string, field *rocksdb.CompressionType) {
	text, ok := c.optionMap[name]
	if !ok {
		return
	}
	if t, known := compressionNames[text]; known {
		*field = t
	} else if text == "xpress" {
		c.fail("xpress compression is not supported in this build.")
	} else {
		c.fail("Unknown compression algorithm: " + text)
	}
}

// overrideBaseOptions lets the flags change the options of the database and of
// its families' default.
func (c *LDBCommand) overrideBaseOptions() {
	o := &c.options
	o.CreateIfMissing = c.createIfMissing
	intFlag(c, "db_write_buffer_size", 0, &o.DBWriteBufferSize)
	if len(o.DBPaths) == 0 {
		o.DBPaths = []rocksdb.DBPath{{Path: c.dbPath, TargetSize: math.MaxUint64}}
	}
	c.overrideCFOptions(&o.ColumnFamilyOptions)
	if c.def.overrideBase != nil {
		c.def.overrideBase(c)
	}
}

// overrideCFOptions lets the flags change a family's options.
func (c *LDBCommand) overrideCFOptions(o *rocksdb.ColumnFamilyOptions) {
	c.overrideTableOptions(o)
	if cmp := c.options.Comparator; cmp != nil && cmp.Name() != util.BytewiseComparator().Name() {
		o.Comparator = cmp
	}
	o.ForceConsistencyChecks = !c.isFlag("disable_consistency_checks")
	c.overrideBlobOptions(o)
	if text, ok := c.optionMap["auto_compaction"]; ok {
		on, ok := stringToBool(text)
		if !ok {
			c.fail("auto_compaction: " + badBoolean)
		}
		o.DisableAutoCompactions = !on
	}
	c.compressionFlag("compression_type", &o.Compression)
	intFlag(c, "compression_max_dict_bytes", 0, &o.CompressionOpts.MaxDictBytes)
	intFlag(c, "write_buffer_size", 1, &o.WriteBufferSize)
	intFlag(c, "file_size", 1, &o.TargetFileSizeBase)
	prefixLen := 0
	intFlag(c, "fix_prefix_len", 1, &prefixLen)
	if prefixLen > 0 {
		o.PrefixExtractor = util.NewFixedPrefixTransform(prefixLen)
	}
	if c.def.overrideCF != nil {
		c.def.overrideCF(c, o)
	}
}

// overrideTableOptions replaces the table factory where a flag is about tables.
func (c *LDBCommand) overrideTableOptions(o *rocksdb.ColumnFamilyOptions) {
	t := rocksdb.DefaultBlockBasedTableOptions()
	use := false
	bits := 0
	intFlag(c, "bloom_bits", 1, &bits)
	if bits > 0 {
		use = true
		t.FilterPolicy = blockbased.NewBloomFilterPolicy(float64(bits))
	}
	if _, ok := c.optionMap["block_size"]; ok {
		use = true
		intFlag(c, "block_size", 1, &t.BlockSize)
	}
	if v, ok := c.doubleOption("uniform_cv_threshold"); ok {
		use = true
		t.UniformCVThreshold = v
	}
	if use {
		o.TableFactory = blockbased.NewBlockBasedTableFactory(&t)
	}
}

func (c *LDBCommand) overrideBlobOptions(o *rocksdb.ColumnFamilyOptions) {
	o.EnableBlobFiles = c.isFlag("enable_blob_files")
	intFlag(c, "min_blob_size", 0, &o.MinBlobSize)
	intFlag(c, "blob_file_size", 1, &o.BlobFileSize)
	o.EnableBlobGarbageCollection = c.isFlag("enable_blob_garbage_collection")
	c.shareFlag("blob_garbage_collection_age_cutoff", &o.BlobGarbageCollectionAgeCutoff)
	c.shareFlag("blob_garbage_collection_force_threshold", &o.BlobGarbageCollectionForceThreshold)
	intFlag(c, "blob_compaction_readahead_size", 1, &o.BlobCompactionReadaheadSize)
	intFlag(c, "blob_file_starting_level", 0, &o.BlobFileStartingLevel)
	c.compressionFlag("blob_compression_type", &o.BlobCompressionType)
	if v, ok := c.intOption("prepopulate_blob_cache"); ok {
		switch v {
		case 0:
			o.PrepopulateBlobCache = rocksdb.PrepopulateBlobCacheDisable
		case 1:
			o.PrepopulateBlobCache = rocksdb.PrepopulateBlobCacheFlushOnly
		default:
			c.fail("prepopulate_blob_cache must be 0 (disable) or 1 (flush only).")
		}
	}
}

// loadLatestOptions reads the newest OPTIONS file: options of the database into
// c.options, those of the families as descriptors.
func (c *LDBCommand) loadLatestOptions() ([]rocksdb.ColumnFamilyDescriptor, error) {
	c.configOptions.Env = c.env()
	o, families, err := optionsutil.LoadLatestOptions(&c.configOptions, c.dbPath, nil)
	if err != nil {
		return nil, err
	}
	c.options.DBOptions = o
	c.options.Env = c.configOptions.Env
	return families, nil
}

// prepareOptions takes the options of the OPTIONS file, where it is to be read,
// and lets the flags change them: those of all families where none is read,
// else those of the family named.
func (c *LDBCommand) prepareOptions() {
	var loaded []rocksdb.ColumnFamilyDescriptor
	if c.tryLoadOptions && !c.createIfMissing {
		var err error
		loaded, err = c.loadLatestOptions()
		if err != nil && !rocksdb.IsNotFound(err) && !rocksdb.IsPathNotFound(err) {
			c.fail(err.Error() + "\nThis tool was built with version " + rocksdb.GetRocksVersionAsString(true) +
				". If your db is in a different version, please try again with option --ignore_unknown_options.")
			return
		}
		if dir := c.options.WALDir; dir != "" && rocksdb.IsNotFound(c.fs().FileExists(dir, nil)) {
			c.options.WALDir = c.dbPath
			c.warnf("wal_dir loaded from the option file doesn't exist. Ignore it.\n")
		}
		for i := range loaded {
			if loaded[i].Options.MergeOperator == nil {
				loaded[i].Options.MergeOperator = mergeoperators.NewStringAppendOperator(defaultMergeDelimiter)
			}
		}
	}
	c.overrideBaseOptions()
	if c.state == execFailed {
		return
	}
	if len(c.columnFamilies) == 0 {
		if len(loaded) == 0 {
			c.familiesOfManifest()
		} else {
			c.columnFamilies = loaded
		}
	}
	if len(loaded) == 0 {
		return
	}
	i := slices.IndexFunc(c.columnFamilies, func(d rocksdb.ColumnFamilyDescriptor) bool { return d.Name == c.columnFamilyName })
	if i < 0 {
		c.fail("Non-existing column family " + c.columnFamilyName)
		return
	}
	c.overrideCFOptions(&c.columnFamilies[i].Options)
}

// familiesOfManifest names the families of a database that has several. A
// database that cannot be read is left for the opening to complain about.
func (c *LDBCommand) familiesOfManifest() {
	names, err := db.ListColumnFamilies(c.dbPath, c.fs())
	if err != nil || len(names) <= 1 {
		return
	}
	for _, name := range names {
		c.columnFamilies = append(c.columnFamilies, rocksdb.ColumnFamilyDescriptor{Name: name, Options: c.options.ColumnFamilyOptions})
	}
}

// openDB opens the database in the command's way.
func (c *LDBCommand) openDB() {
	c.prepareOptions()
	if c.state != execNotStarted {
		return
	}
	families := c.columnFamilies
	if len(families) == 0 {
		if c.options.MergeOperator == nil {
			c.options.MergeOperator = mergeoperators.NewStringAppendOperator(defaultMergeDelimiter)
		}
		families = []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: c.options.ColumnFamilyOptions}}
	}
	var err error
	secondary := c.optionMap["secondary_path"]
	if c.isFlag("ttl") {
		if secondary != "" {
			c.fail("Open as secondary or follower is not supported for TTL DB yet.")
			return
		}
		if c.openTTL(); c.state == execFailed {
			return
		}
	} else if secondary != "" {
		c.db, c.handles, err = dbimpl.OpenAsSecondary(&c.options.DBOptions, c.dbPath, secondary, families)
	} else if c.def.readOnly {
		c.db, c.handles, err = dbimpl.OpenForReadOnly(&c.options.DBOptions, c.dbPath, families, false)
	} else {
		c.db, c.handles, err = dbimpl.Open(&c.options.DBOptions, c.dbPath, families)
	}
	if err != nil {
		c.db, c.handles = nil, nil
		c.failErr("", err)
		return
	}
	c.cfHandles = map[string]*db.ColumnFamilyHandleImpl{}
	for _, h := range append(slices.Clone(c.handles), c.db.DefaultColumnFamily()) {
		c.ucmps[h.GetID()] = h.GetComparator()
		if c.cfHandles[h.GetName()] == nil {
			c.cfHandles[h.GetName()] = h
		}
	}
	if c.cfHandles[c.columnFamilyName] == nil {
		c.fail("Non-existing column family " + c.columnFamilyName)
		c.closeDB()
	}
}

// closeDB closes the database if one is open; a failure fails the command.
func (c *LDBCommand) closeDB() {
	if c.db == nil {
		return
	}
	for _, h := range c.handles {
		if err := c.db.DestroyColumnFamilyHandle(h); err != nil && c.state != execFailed {
			c.failErr("Close failed: ", err)
		}
	}
	if err := c.db.Close(); err != nil && c.state != execFailed {
		c.failErr("Close failed: ", err)
	}
	c.db, c.ttlDB, c.handles, c.cfHandles = nil, nil, nil, nil
}

// family is the column family that the command works on.
func (c *LDBCommand) family() *db.ColumnFamilyHandleImpl { return c.cfHandles[c.columnFamilyName] }
