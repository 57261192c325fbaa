// No upstream twin: ldb import_leveldb.

package tools

import leveldbimport "github.com/rocksdb-go/rocksdb/utilities/leveldb_import"

// ownCommands are the help's group of commands that upstream does not have.
var ownCommands = []string{"import_leveldb"}

var ownCommandDefs = []commandDef{
	{name: "import_leveldb", help: " --source=<leveldb_directory> --db=<new_db_path>\n" +
		"    Makes a new database of what a LevelDB (or goleveldb) directory holds, its log included. The source is not changed.\n",
		options: []string{"source"}, noDBOpen: true, init: (*LDBCommand).initImportLevelDB, do: (*LDBCommand).doImportLevelDB},
}

func (c *LDBCommand) initImportLevelDB() {
	c.args.path = c.optionMap["source"]
	switch {
	case c.args.path == "":
		c.fail("--source=<leveldb_directory> must be specified for the import_leveldb command")
	case c.dbPath == "":
		c.fail("--db=<new_db_path> must be specified for the import_leveldb command")
	case len(c.params) > 0:
		c.fail("import_leveldb takes no arguments but options, not " + c.params[0])
	case c.columnFamilyName != "default":
		c.fail("import_leveldb writes to the default column family")
	}
}

func (c *LDBCommand) doImportLevelDB() {
	c.overrideBaseOptions()
	if c.state == execFailed {
		return
	}
	c.options.DBPaths = nil // the database is renamed when it is complete
	o := leveldbimport.Options{Env: c.env(), Target: c.options}
	p := startProgress(c.tool.Stderr, "import_leveldb", "keys", 0)
	o.Progress = func(s leveldbimport.Stats) { p.set(s.Keys) }
	stats, err := leveldbimport.Import(c.args.path, c.dbPath, &o)
	p.stop()
	for _, log := range stats.TornLogs {
		c.warnf("%s: the last record is cut off and was left out, as LevelDB does\n", log)
	}
	if err != nil {
		c.failErr("Import failed: ", err)
		return
	}
	c.printf("Imported %d keys (%d bytes) from %d tables and %d logs; %d entries were overwritten or deleted\n",
		stats.Keys, stats.Bytes, stats.Tables, stats.Logs, stats.Hidden)
}
