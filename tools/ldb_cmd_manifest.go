// Port of tools/ldb_cmd.cc: the commands that change the MANIFEST of a closed
// database.

package tools

import (
	"math"
	"strconv"
	"sync"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/db/wal"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// versionSet makes an empty set of the database; one that only reads a MANIFEST
// is unchanging.
func (c *LDBCommand) versionSet(dbname, dbID string, unchanging bool) *db.VersionSet {
	o := c.options.DBOptions
	o.Env = c.env()
	return db.NewOfflineVersionSet(o, dbname, dbID, unchanging)
}

// lockDB makes sure that nobody has the database open.
func (c *LDBCommand) lockDB() (unlock func(), ok bool) {
	none := rocksdb.DefaultIOOptions()
	lock, err := c.fs().LockFile(c.dbPath+"/LOCK", &none)
	if err != nil {
		c.failErr("", err)
		return nil, false
	}
	return func() {
		if err := c.fs().UnlockFile(lock, &none); err != nil && c.state != execFailed {
			c.failErr("", err)
		}
	}, true
}

// mostLevels is how many levels a database may have before reduce_levels
// counted them.
const mostLevels = 128

func (c *LDBCommand) initReduceLevels() {
	c.args.oldLevels = mostLevels
	c.args.newLevels, _ = c.intOption("new_levels")
	if c.args.newLevels <= 0 {
		c.fail(" Use --new_levels to specify a new level number\n")
	}
}

// overrideForReduce lets no level be too large, so that nothing is compacted
// for its size.
func overrideForReduce(c *LDBCommand, o *rocksdb.ColumnFamilyOptions) {
	o.NumLevels = c.args.oldLevels
	for len(o.MaxBytesForLevelMultiplierAdditional) < o.NumLevels {
		o.MaxBytesForLevelMultiplierAdditional = append(o.MaxBytesForLevelMultiplierAdditional, 1)
	}
	o.MaxBytesForLevelMultiplierAdditional = o.MaxBytesForLevelMultiplierAdditional[:o.NumLevels]
	o.MaxBytesForLevelBase = 1 << 50
	o.MaxBytesForLevelMultiplier = 1
}

// oldNumOfLevels counts the levels up to the last one that holds files.
func (c *LDBCommand) oldNumOfLevels() (levels int, dbID string, err error) {
	vs := c.versionSet(c.dbPath, "", false)
	defer vs.Destroy()
	dbID, err = vs.Recover([]rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: c.options.ColumnFamilyOptions}}, true, nil)
	if err != nil { // there are other families, too
		return 0, "", err
	}
	storage := vs.GetColumnFamilySet().GetDefault().Current().StorageInfo()
	for i := range storage.NumLevels() {
		if storage.NumLevelFiles(i) > 0 {
			levels = i + 1
		}
	}
	return levels, dbID, nil
}

func (c *LDBCommand) doReduceLevels() {
	if c.args.newLevels <= 1 {
		c.fail("Invalid number of levels.\n")
		return
	}
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	levels, dbID, err := c.oldNumOfLevels()
	if err != nil {
		c.failErr("", err)
		return
	}
	if c.isFlag("print_old_levels") {
		c.printf("The old number of levels in use is %d\n", levels)
	}
	if levels <= c.args.newLevels {
		return
	}
	c.args.oldLevels = levels
	c.openDB()
	if c.state == execFailed {
		return
	}
	c.printf("Compacting the db...\n")
	o := rocksdb.DefaultCompactRangeOptions()
	err = c.db.CompactRange(&o, c.family(), nil, nil)
	c.closeDB()
	if err != nil {
		c.failErr("", err)
		return
	}
	unlock, ok := c.lockDB()
	if !ok {
		return
	}
	defer unlock()
	vs := c.versionSet(c.dbPath, dbID, false)
	defer vs.Destroy()
	var mu sync.Mutex
	if err := vs.ReduceNumberOfLevels(c.args.newLevels, &c.options.ColumnFamilyOptions, &mu); err != nil {
		c.failErr("", err)
	}
}

func (c *LDBCommand) initUnsafeRemove() {
	if len(c.params) != 1 {
		c.fail("SST file number must be specified")
		return
	}
	n, err := strconv.ParseUint(c.params[0], 10, 64)
	if err != nil {
		c.fail("Failed to parse SST file number " + c.params[0])
	}
	c.args.number = n
}

// doUnsafeRemove takes a table out of the MANIFEST, be the file there or not.
func (c *LDBCommand) doUnsafeRemove() {
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	unlock, ok := c.lockDB()
	if !ok {
		return
	}
	defer unlock()
	if err := c.removeTable(c.args.number); err != nil {
		c.failErr("failed to unsafely remove SST file: ", err)
		return
	}
	c.state, c.message = execSucceeded, "unsafely removed SST file"
}

func (c *LDBCommand) removeTable(number uint64) error {
	o := c.options.DBOptions
	o.Env = c.env()
	w, err := db.NewOfflineManifestWriter(&o, c.dbPath, c.allFamilies())
	if err != nil {
		return err
	}
	defer w.Destroy()
	level, f, cfd, err := w.GetMetadataForFile(number)
	if err != nil {
		return err
	}
	e := new(version.VersionEdit)
	e.SetColumnFamily(cfd.GetID())
	e.DeleteFile(level, f.FD.GetNumber())
	return w.Apply(cfd, e)
}

// allFamilies are the families to recover a closed database with.
func (c *LDBCommand) allFamilies() []rocksdb.ColumnFamilyDescriptor {
	if len(c.columnFamilies) > 0 {
		return c.columnFamilies
	}
	return []rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: c.options.ColumnFamilyOptions}}
}

func (c *LDBCommand) initUpdateManifest() {
	if !c.boolOption("update_temperatures", false) && c.state != execFailed {
		c.fail("No action like --update_temperatures specified for update_manifest")
	}
}

// doUpdateManifest writes the temperatures that the file system tells of the
// files to the MANIFEST.
func (c *LDBCommand) doUpdateManifest() {
	c.prepareOptions()
	if c.state == execFailed {
		return
	}
	c.logToStderr()
	unlock, ok := c.lockDB()
	if !ok {
		return
	}
	defer unlock()
	_ = c.out.Flush() // an error comes again at the last flush
	o := c.options.DBOptions
	o.Env = c.env()
	if err := db.UpdateManifestTemperatures(&o, c.dbPath, c.allFamilies()); err != nil {
		logging.Error(c.options.InfoLog, "UpdateManifestForFilesState failed: %v", err)
		c.failErr("failed to update manifest: ", err)
		return
	}
	c.state, c.message = execSucceeded, "Manifest updates successful"
}

func (c *LDBCommand) initCompactionProgressDump() {
	if c.args.path = c.optionMap["path"]; c.args.path == "" {
		c.fail("The --path option is required for compaction_progress_dump command")
	}
}

// doCompactionProgressDump prints how far a compaction that may be resumed has
// come. As upstream has it, a file that cannot be read is told of on the error
// stream.
func (c *LDBCommand) doCompactionProgressDump() {
	path := c.args.path
	f, err := file.CreateSequentialFileReader(c.fs(), path, nil, nil)
	if err != nil {
		c.warnf("Failed to open compaction progress file %s: %v\n", path, err)
		return
	}
	r := wal.NewReader(f, wal.ReaderOptions{Checksum: true})
	defer r.Close()
	c.printf("Compaction Progress File: %s\n============================================\n", path)
	count := 0
	for {
		record, ok := r.ReadRecord(rocksdb.TolerateCorruptedTailRecords)
		if !ok {
			break
		}
		var e version.VersionEdit
		if err := e.DecodeFrom(record); err != nil {
			c.warnf("Failed to decode VersionEdit: %v\n", err)
			continue
		}
		if e.HasSubcompactionProgress() && count < math.MaxInt32 {
			c.printf("Progress Record %d:\n%s\n", count, e.GetSubcompactionProgress())
			count++
		}
	}
	if count == 0 {
		c.printf("No valid records found in the compaction progress file.\n")
		return
	}
	c.printf("\nTotal records: %d\n", count)
}
