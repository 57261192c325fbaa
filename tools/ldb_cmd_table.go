// Port of tools/ldb_cmd.cc (SelectCommand, the Help methods) and
// tools/ldb_tool.cc (PrintHelp).

package tools

import (
	"io"
	"slices"
	"strings"
)

// The groups of the help, in its order.
var (
	dataCommands = []string{"put", "put_entity", "get", "get_entity", "multi_get", "multi_get_entity", "batchput", "scan", "delete",
		"singledelete", "deleterange", "query", "approxsize", "checkconsistency", "list_file_range_deletes"}
	adminCommands = []string{"dump_wal", "compact", "reduce_levels", "change_compaction_style", "dump", "load", "manifest_dump",
		"compaction_progress_dump", "update_manifest", "file_checksum_dump", "get_property", "list_column_families",
		"create_column_family", "drop_column_family", "dump_live_files", "idump", "list_live_files_metadata", "repair", "backup",
		"restore", "checkpoint", "write_extern_sst", "ingest_extern_sst", "unsafe_remove_sst_file", "remote_compaction_primary",
		"remote_compaction_worker"}
)

const (
	helpRange         = " [--from] [--to] "
	helpReadTimestamp = " [--read_timestamp=<uint64_ts>] "
	helpCreateTTL     = " [--create_if_missing] [--ttl]\n"
	helpBackup        = " [--backup_env_uri | --backup_fs_uri]  [--backup_dir]  [--num_threads]  [--stderr_log_level=<int (InfoLogLevel)>] \n"
)

func findCommand(name string) *commandDef {
	i := slices.IndexFunc(commandDefs(), func(d commandDef) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return &commandDefs()[i]
}

// commandDefs are all commands; those without do are refused by name.
func commandDefs() []commandDef {
	return slices.Concat(dataCommandDefs, adminCommandDefs, externalCommandDefs, laterCommandDefs, ownCommandDefs)
}

var dataCommandDefs = []commandDef{
	{name: "get", help: " <key>" + helpReadTimestamp + " [--ttl]\n", options: with("ttl", "read_timestamp"), readOnly: true,
		init: oneKey("<key> must be specified for the get command"), do: (*LDBCommand).doGet},
	{name: "multi_get", help: " <key_1> <key_2> <key_3> ..." + helpReadTimestamp + "\n", options: with("read_timestamp"), readOnly: true,
		init: (*LDBCommand).initMultiGet, do: (*LDBCommand).doMultiGet},
	{name: "put", help: " <key> <value>" + helpCreateTTL, options: with("ttl", "create_if_missing"), createIfMissing: true,
		init: (*LDBCommand).initPut, do: (*LDBCommand).doPut},
	{name: "batchput", help: " <key> <value> [<key> <value>] [..]" + helpCreateTTL, options: with("ttl", "create_if_missing"),
		createIfMissing: true, init: (*LDBCommand).initBatchPut, do: (*LDBCommand).doBatchPut},
	{name: "scan", help: helpRange + " [--ttl] [--timestamp] [--max_keys=<N>q]  [--start_time=<N>:- is inclusive] [--end_time=<N>:- is exclusive] [--no_value]" +
		helpReadTimestamp + " [--get_write_unix_time]\n",
		options:  with("ttl", "no_value", "to", "from", "timestamp", "max_keys", "start_time", "end_time", "read_timestamp", "get_write_unix_time"),
		readOnly: true, init: (*LDBCommand).initScan, do: (*LDBCommand).doScan},
	{name: "delete", help: " <key>\n", options: hexOptions,
		init: oneKey("KEY must be specified for the delete command"), do: (*LDBCommand).doDelete},
	{name: "singledelete", help: " <key>\n", options: hexOptions,
		init: oneKey("KEY must be specified for the single delete command"), do: (*LDBCommand).doSingleDelete},
	{name: "deleterange", help: " <begin key> <end key>\n", options: hexOptions,
		init: (*LDBCommand).initDeleteRange, do: (*LDBCommand).doDeleteRange},
	{name: "query", help: " [--ttl]\n    Starts a REPL shell.  Type help for list of available commands.\n", options: with("ttl"),
		do: (*LDBCommand).doQuery},
	{name: "put_entity", help: " <key> <column1_name>:<column1_value> <column2_name>:<column2_value> <...>" + helpCreateTTL,
		options: with("ttl", "create_if_missing"), createIfMissing: true, init: (*LDBCommand).initPutEntity, do: (*LDBCommand).doPutEntity},
	{name: "get_entity", help: " <key>" + helpReadTimestamp + " [--ttl]\n", options: with("ttl", "read_timestamp"), readOnly: true,
		init: oneKey("<key> must be specified for the get_entity command"), do: (*LDBCommand).doGetEntity},
	{name: "multi_get_entity", help: " <key_1> <key_2> <key_3> ..." + helpReadTimestamp + "\n", options: with("read_timestamp"), readOnly: true,
		init: (*LDBCommand).initMultiGetEntity, do: (*LDBCommand).doMultiGetEntity},
	{name: "approxsize", help: helpRange + "\n", options: with("from", "to"), readOnly: true,
		init: (*LDBCommand).initApproxSize, do: (*LDBCommand).doApproxSize},
	{name: "checkconsistency", help: "\n", readOnly: true, noDBOpen: true, do: (*LDBCommand).doCheckConsistency},
	{name: "list_file_range_deletes", help: " [--max_keys=<N>] : print tombstones in SST files.\n", options: []string{"max_keys"}, readOnly: true,
		init: (*LDBCommand).initListFileRangeDeletes, do: (*LDBCommand).doListFileRangeDeletes},
}

var adminCommandDefs = []commandDef{
	{name: "dump_wal", help: " --walfile=<write_ahead_log_file_path_or_directory> [--db=<db_path>] [--header]  [--print_value]  " +
		"[--only_print_seqno_gaps] (only correct if not using pessimistic transactions) [--write_committed=true|false] \n",
		options: []string{"walfile", "write_committed", "header", "print_value", "only_print_seqno_gaps"}, readOnly: true, dbOptional: true,
		init: (*LDBCommand).initDumpWAL, do: (*LDBCommand).doDumpWAL},
	{name: "compact", help: helpRange + "\n", options: with("from", "to", "ttl"), init: (*LDBCommand).initRange, do: (*LDBCommand).doCompact},
	{name: "change_compaction_style", help: " --old_compaction_style=<Old compaction style: 0 for level compaction, 1 for universal compaction>" +
		" --new_compaction_style=<New compaction style: 0 for level compaction, 1 for universal compaction>\n",
		options: []string{"old_compaction_style", "new_compaction_style"}, init: (*LDBCommand).initChangeCompactionStyle,
		overrideCF: overrideOneFile, do: (*LDBCommand).doChangeCompactionStyle},
	{name: "dump", help: helpRange + " [--ttl] [--max_keys=<N>] [--timestamp] [--count_only] [--count_delim=<char>] [--stats] [--bucket=<N>]" +
		" [--start_time=<N>:- is inclusive] [--end_time=<N>:- is exclusive] [--path=<path_to_a_file>] [--decode_blob_index] [--dump_uncompressed_blobs]\n",
		options: with("ttl", "from", "to", "max_keys", "count_only", "count_delim", "stats", "start_time", "end_time", "bucket", "timestamp",
			"path", "decode_blob_index", "dump_uncompressed_blobs"),
		readOnly: true, goOn: true, init: (*LDBCommand).initDump, do: (*LDBCommand).doDump},
	{name: "load", help: " [--create_if_missing] [--disable_wal] [--bulk_load] [--compact]\n",
		options: with("from", "to", "create_if_missing", "disable_wal", "bulk_load", "compact"), createIfMissing: true,
		overrideBase: func(c *LDBCommand) {
			if c.isFlag("bulk_load") {
				c.options.PrepareForBulkLoad()
			}
		}, init: (*LDBCommand).initRange, do: (*LDBCommand).doLoad},
	{name: "manifest_dump", help: " [--verbose] [--json] [--path=<path_to_manifest_file>]\n",
		options: []string{"verbose", "path", "hex", "json"}, readOnly: true, noDBOpen: true,
		init: (*LDBCommand).initPath, do: (*LDBCommand).doManifestDump},
	{name: "file_checksum_dump", help: " [--path=<path_to_manifest_file>]\n", options: []string{"path", "hex"}, readOnly: true, noDBOpen: true,
		init: (*LDBCommand).initPath, do: (*LDBCommand).doFileChecksumDump},
	{name: "get_property", help: " <property_name>\n", readOnly: true, init: oneName("property name must be specified"), do: (*LDBCommand).doGetProperty},
	{name: "list_column_families", help: "\n", readOnly: true, noDBOpen: true, do: (*LDBCommand).doListColumnFamilies},
	{name: "create_column_family", help: " --db=<db_path> <new_column_family_name>\n", options: []string{"db"}, onlyOptions: true,
		init: oneName("new column family name must be specified"), do: (*LDBCommand).doCreateColumnFamily},
	{name: "drop_column_family", help: " --db=<db_path> <column_family_name_to_drop>\n", options: []string{"db"}, onlyOptions: true,
		init: oneName("The name of column family to drop must be specified"), do: (*LDBCommand).doDropColumnFamily},
	{name: "idump", help: helpRange + " [--input_key_hex] [--max_keys=<N>] [--count_only] [--count_delim=<char>] [--stats] [--decode_blob_index]\n",
		options:  with("from", "to", "max_keys", "count_only", "count_delim", "stats", "input_key_hex", "decode_blob_index"),
		readOnly: true, init: (*LDBCommand).initIDump, do: (*LDBCommand).doIDump},
	{name: "list_live_files_metadata", help: " [--sort_by_filename] \n", options: []string{"sort_by_filename"}, readOnly: true,
		do: (*LDBCommand).doListLiveFilesMetadata},
	{name: "reduce_levels", help: " --new_levels=<New number of levels> [--print_old_levels]\n",
		options: []string{"new_levels", "print_old_levels"}, noDBOpen: true, init: (*LDBCommand).initReduceLevels,
		overrideCF: overrideForReduce, do: (*LDBCommand).doReduceLevels},
	{name: "compaction_progress_dump", help: " [--path=<path_to_compaction_progress_file>]\n", options: []string{"path"}, noDBOpen: true,
		init: (*LDBCommand).initCompactionProgressDump, do: (*LDBCommand).doCompactionProgressDump},
	{name: "update_manifest", help: " [--update_temperatures]      MUST NOT be used on a live DB.\n",
		options: []string{"verbose", "update_temperatures"}, noDBOpen: true, init: (*LDBCommand).initUpdateManifest, do: (*LDBCommand).doUpdateManifest},
	{name: "repair", help: " [--verbose]\n", options: []string{"verbose"}, noDBOpen: true, overrideBase: (*LDBCommand).logToStderr,
		do: (*LDBCommand).doRepair},
	{name: "unsafe_remove_sst_file", help: " <SST file number>      MUST NOT be used on a live DB.\n", noDBOpen: true,
		init: (*LDBCommand).initUnsafeRemove, do: (*LDBCommand).doUnsafeRemove},
	{name: "dump_live_files", help: " [--decode_blob_index] [--dump_uncompressed_blobs]\n",
		options: []string{"decode_blob_index", "dump_uncompressed_blobs"}, readOnly: true,
		do: (*LDBCommand).doDumpLiveFiles},
}

// laterCommandDefs are upstream's commands that are not built yet.
var laterCommandDefs = []commandDef{
	{name: "backup", help: helpBackup, options: []string{"backup_env_uri", "backup_fs_uri", "backup_dir", "num_threads", "stderr_log_level"}},
	{name: "restore", help: helpBackup, options: []string{"backup_env_uri", "backup_fs_uri", "backup_dir", "num_threads", "stderr_log_level"},
		noDBOpen: true},
	{name: "remote_compaction_primary", help: " --db=<db_path> --job_dir=<dir>\n" +
		"    Open an existing DB and run CompactRange() through LocalFileCompactionService.\n" +
		"    Schedule() writes job_dir/input.bin (once). Wait() polls for job_dir/result.bin.\n" +
		"    Must run with remote_compaction_worker in background on the same --db and --job_dir,\n" +
		"    otherwise Wait() will hang until timeout.\n", options: []string{"job_dir"}, noDBOpen: true},
	{name: "remote_compaction_worker", help: " --db=<db_path> --job_dir=<dir>\n" +
		"    Read job_dir/input.bin, run DB::OpenAndCompact(), write job_dir/result.bin.\n", options: []string{"job_dir"}, noDBOpen: true},
}

// helpOptions are the lines about the common options.
const helpOptions = `
commands MUST specify --db=<full_path_to_db_directory> when necessary

commands can optionally specify
  --env_uri=<uri_of_environment> or --fs_uri=<uri_of_filesystem> if necessary
  --secondary_path=<secondary_path> to open DB as secondary instance. Operations not supported in secondary instance will fail.

  --leader_path=<leader_path> to open DB as a follower instance. Operations not supported in follower instance will fail.

The following optional parameters control if keys/values are input/output as hex or as plain strings:
  --key_hex : Keys are input/output as hex
  --value_hex : Values are input/output as hex
  --hex : Both keys and values are input/output as hex

The following optional parameters control the database internals:
  --column_family=<string> : name of the column family to operate on. default: default column family
  --ttl with 'put','get','scan','dump','query','batchput' : DB supports ttl and value is internally timestamp-suffixed
  --use_txn : Open database as TransactionDB. Required for databases created with WritePrepared or WriteUnprepared transactions.
  --txn_write_policy=<0|1|2> : Transaction write policy. 0=WRITE_COMMITTED (default), 1=WRITE_PREPARED, 2=WRITE_UNPREPARED
  --try_load_options : Try to load option file from DB. Default to true if db is specified and not creating a new DB and not open as TTL DB. Can be set to false explicitly.
  --disable_consistency_checks : Set options.force_consistency_checks = false.
  --ignore_unknown_options : Ignore unknown options when loading option file.
  --bloom_bits=<int,e.g.:14>
  --fix_prefix_len=<int,e.g.:14>
  --compression_type=<no|snappy|zlib|bzip2|lz4|lz4hc|xpress|zstd>
  --compression_max_dict_bytes=<int,e.g.:16384>
  --block_size=<block_size_in_bytes>
  --uniform_cv_threshold=<double,e.g.:0.2>
  --auto_compaction=<true|false>
  --db_write_buffer_size=<int,e.g.:16777216>
  --write_buffer_size=<int,e.g.:4194304>
  --file_size=<int,e.g.:2097152>
  --enable_blob_files : Enable key-value separation using BlobDB
  --min_blob_size=<int,e.g.:2097152>
  --blob_file_size=<int,e.g.:2097152>
  --blob_compression_type=<no|snappy|zlib|bzip2|lz4|lz4hc|xpress|zstd>
  --enable_blob_garbage_collection : Enable blob garbage collection
  --blob_garbage_collection_age_cutoff=<double,e.g.:0.25>
  --blob_garbage_collection_force_threshold=<double,e.g.:0.25>
  --blob_compaction_readahead_size=<int,e.g.:2097152>
  --read_timestamp=<uint64_ts, e.g.:323> : read timestamp, required if column family enables timestamp, otherwise invalid if provided.
`

func (t *LDBTool) printHelp(w io.Writer) {
	var s strings.Builder
	s.WriteString(t.LDBOptions.PrintHelpHeader + "\n" + helpOptions)
	for _, group := range []struct {
		title string
		names []string
	}{{"Data Access Commands:", dataCommands}, {"Admin Commands:", adminCommands}, {"Commands of this port:", ownCommands}} {
		s.WriteString("\n" + group.title + "\n")
		for _, name := range group.names {
			s.WriteString("  " + name + findCommand(name).help)
		}
		s.WriteString("\n")
	}
	_, _ = io.WriteString(w, s.String()) // there is nobody left to tell
}
