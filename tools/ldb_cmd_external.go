// Port of tools/ldb_cmd.cc (write_extern_sst, ingest_extern_sst, checkpoint).

package tools

import (
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/sstfile"
	"github.com/rocksdb-go/rocksdb/utilities/checkpoint"
)

// externalCommandDefs are the commands that make and take files and directories
// outside of the database's.
var externalCommandDefs = []commandDef{
	{name: "checkpoint", help: " [--checkpoint_dir] \n", options: []string{"checkpoint_dir"}, do: (*LDBCommand).doCheckpoint},
	{name: "write_extern_sst", help: " <output_sst_path>\n", options: with("from", "to", "create_if_missing"), createIfMissing: true,
		init: (*LDBCommand).initWriteExternSst, do: (*LDBCommand).doWriteExternSst},
	{name: "ingest_extern_sst", help: " <input_sst_path> [--move_files]  [--snapshot_consistency]  [--allow_global_seqno]  [--allow_blocking_flush]  " +
		"[--ingest_behind]  [--write_global_seqno] \n", options: []string{"move_files", "snapshot_consistency", "allow_global_seqno",
		"create_if_missing", "allow_blocking_flush", "ingest_behind", "write_global_seqno"}, createIfMissing: true,
		init: (*LDBCommand).initIngestExternSst, do: (*LDBCommand).doIngestExternSst},
}

// onePath reads the only parameter as a path.
func onePath(message string) func(*LDBCommand) {
	return func(c *LDBCommand) {
		if len(c.params) != 1 {
			c.fail(message)
			return
		}
		c.args.path = c.params[0]
	}
}

func (c *LDBCommand) doCheckpoint() {
	if _, err := checkpoint.New(c.db).CreateCheckpoint(c.optionMap["checkpoint_dir"], 0); err != nil {
		c.failErr("", err)
		return
	}
	c.printf("OK\n")
}

func (c *LDBCommand) initWriteExternSst() {
	c.initRange()
	onePath("output SST file path must be specified")(c)
}

// doWriteExternSst makes a table of the lines of standard input.
func (c *LDBCommand) doWriteExternSst() {
	o := c.db.GetOptions(c.family())
	wo := rocksdb.DefaultSstFileWriterOptions()
	wo.ColumnFamily = c.family()
	fo := rocksdb.DefaultFileOptions()
	wo.FileOptions = &fo
	w := sstfile.NewSstFileWriter(&o, &wo)
	defer w.Close()
	if err := w.Open(c.args.path, rocksdb.TemperatureUnknown); err != nil {
		c.failErr("failed to open SST file: ", err)
		return
	}
	bad := c.readEntries("failed to read records: ", "failed to write record to file: ", w.Put)
	if c.state == execFailed {
		return
	}
	if err := w.Finish(nil); err != nil {
		c.failErr("Failed to finish writing to file: ", err)
		return
	}
	if bad > 0 {
		c.warnf("Warning: %d bad lines ignored.\n", bad)
	}
	c.state, c.message = execSucceeded, "external SST file written to "+c.args.path
}

// flagOrOption is a flag that may also be given a value.
func (c *LDBCommand) flagOrOption(name string, absent bool) bool {
	return c.isFlag(name) || c.boolOption(name, absent)
}

func (c *LDBCommand) initIngestExternSst() {
	if c.flagOrOption("allow_global_seqno", true) {
		if !c.flagOrOption("write_global_seqno", true) {
			c.warnf("Warning: not writing global_seqno to the ingested SST can\nprevent older versions of RocksDB from being able to open it\n")
		}
	} else if c.flagOrOption("write_global_seqno", true) {
		c.fail("ldb cannot write global_seqno to the ingested SST when global_seqno is not allowed")
		return
	}
	if c.state != execFailed {
		onePath("input SST path must be specified")(c)
	}
}

func (c *LDBCommand) doIngestExternSst() {
	o := rocksdb.DefaultIngestExternalFileOptions()
	o.MoveFiles = c.flagOrOption("move_files", false)
	o.SnapshotConsistency = c.flagOrOption("snapshot_consistency", true)
	o.AllowGlobalSeqno = c.flagOrOption("allow_global_seqno", true)
	o.AllowBlockingFlush = c.flagOrOption("allow_blocking_flush", true)
	o.IngestBehind = c.flagOrOption("ingest_behind", false)
	o.WriteGlobalSeqno = c.flagOrOption("write_global_seqno", true)
	if err := c.db.IngestExternalFile(c.family(), []string{c.args.path}, &o); err != nil {
		c.failErr("failed to ingest external SST: ", err)
		return
	}
	c.state, c.message = execSucceeded, "external SST files ingested"
}
