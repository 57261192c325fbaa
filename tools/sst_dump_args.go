// Port of tools/sst_dump_tool.cc: arguments and help.

package tools

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// flag gives where a flag without a value is kept, nil for what is none.
func (a *sstDumpArgs) flag(name string) *bool {
	switch name {
	case "--output_hex":
		return &a.outputHex
	case "--decode_blob_index":
		return &a.decodeBlobIndex
	case "--show_sequence_number_type":
		return &a.showSeqnoType
	case "--input_key_hex":
		return &a.inputKeyHex
	case "--verify_checksum":
		return &a.verifyChecksum
	case "--show_properties":
		return &a.showProperties
	case "--show_summary":
		return &a.showSummary
	case "--list_meta_blocks":
		return &a.listMetaBlocks
	case "--compression_use_zstd_finalize_dict":
		return &a.recompress.finalizeDict
	}
	return nil
}

// sstDumpFlags are those that flag knows, sstDumpOptions those that option knows;
// completion and a test go by them.
var (
	sstDumpFlags = []string{"--output_hex", "--decode_blob_index", "--show_sequence_number_type", "--input_key_hex", "--verify_checksum",
		"--show_properties", "--show_summary", "--list_meta_blocks", "--compression_use_zstd_finalize_dict"}
	sstDumpOptions = []string{"env_uri", "fs_uri", "file", "command", "read_num", "from", "to", "prefix", "readahead_size",
		"require_property_regex", "exclude_property_regex", "compression_types", "compression_manager", "enable_index_compression",
		"verify_compression", "set_block_size", "block_size", "compression_level", "compression_level_from", "compression_level_to",
		"compression_max_dict_bytes", "compression_parallel_threads", "compression_zstd_max_train_bytes", "compression_max_dict_buffer_bytes"}
)

// parse reads the arguments; done says that there is nothing more to do.
func (s *sstDump) parse(args []string) (done bool, err error) {
	a := &s.args
	a.readNum, a.readaheadSize = math.MaxUint64, defaultSstReadahead
	a.recompress = defaultRecompressArgs()
	for i, arg := range args {
		if f := a.flag(arg); f != nil {
			*f = true
			continue
		}
		switch arg {
		case "--help":
			sstDumpHelp(s.out)
			return true, nil
		case "--version":
			s.printf("sst_dump (RocksDB) %s\n", rocksdb.GetRocksVersionAsString(true))
			return true, nil
		case "--":
			a.paths = append(a.paths, args[i+1:]...)
			return false, nil
		}
		if !strings.HasPrefix(arg, "-") {
			a.paths = append(a.paths, arg)
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if ok && name == "parse_internal_key" {
			return true, s.parseInternalKey(value)
		}
		if known, err := s.option(name, value); err != nil {
			return false, err
		} else if !ok || !known {
			return false, s.usage("Unrecognized argument '" + arg + "'")
		}
	}
	return false, nil
}

// option takes an option with a value.
func (s *sstDump) option(name, value string) (known bool, err error) {
	a := &s.args
	switch name {
	case "env_uri":
		a.envURI = value
	case "fs_uri":
		a.fsURI = value
	case "file":
		a.paths = append(a.paths, value)
	case "command":
		a.command = value
	case "read_num":
		a.readNum, err = strconv.ParseUint(value, 10, 64)
		if err != nil {
			return false, nil
		}
	case "from":
		a.from = []byte(value)
	case "to":
		a.to = []byte(value)
	case "prefix":
		if a.from != nil {
			s.warnf("Cannot specify --prefix and --from\n\n")
			return true, sstDumpExit(1)
		}
		a.from, a.prefix = []byte(value), true
	case "readahead_size":
		n, err := s.number(name, value)
		if err != nil {
			return true, err
		}
		a.readaheadSize = uint64(max(n, 0))
	case "require_property_regex":
		a.requireProperty, err = s.regexp(name, value)
	case "exclude_property_regex":
		a.excludeProperty, err = s.regexp(name, value)
	default:
		return s.recompressOption(name, value)
	}
	return true, err
}

func (s *sstDump) regexp(name, value string) (*regexp.Regexp, error) {
	r, err := regexp.Compile(value)
	if err != nil {
		s.warnf("%s: %v\n", name, err)
		return nil, sstDumpExit(1)
	}
	return r, nil
}

// number reads the digits at the beginning of value.
func (s *sstDump) number(name, value string) (int64, error) {
	text := strings.TrimLeft(value, " \t")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	n, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		s.warnf("%s must be numeric\n", strings.TrimPrefix(strings.Replace(name, "block_size", "block size", 1), "set_"))
		return 0, sstDumpExit(1)
	}
	return n, nil
}

// usage complains and prints the help.
func (s *sstDump) usage(message string) error {
	s.warnf("%s\n\n", message)
	sstDumpHelp(s.t.Stderr)
	return sstDumpExit(1)
}

func (s *sstDump) checkArgs() error {
	a := &s.args
	if a.recompress.hasLevelFrom != a.recompress.hasLevelTo {
		s.warnf("Specify both --compression_level_from and --compression_level_to.\n\n")
		return sstDumpExit(1)
	}
	if a.inputKeyHex {
		for _, key := range []*[]byte{&a.from, &a.to} {
			if *key == nil {
				continue
			}
			digits, ok := strings.CutPrefix(string(*key), "0x")
			b, decoded := util.DecodeHex(digits)
			if !ok || !decoded {
				s.warnf("Invalid hex input %s.  Must start with 0x\n", *key)
				return sstDumpExit(1)
			}
			*key = b
		}
	}
	if len(a.paths) == 0 {
		return s.usage("file or directory must be specified.")
	}
	switch a.command {
	case "", "check", "scan", "raw", "verify", "identify", "recompress", "none":
	default:
		// As upstream has it, the files are opened and nothing more is done.
		s.warnf("sst_dump: unknown command '%s'\n", a.command)
	}
	return nil
}

func sstDumpHelp(w io.Writer) {
	// Nobody is left to tell of an error.
	_, _ = fmt.Fprintf(w, sstDumpHelpText, "kNoCompression, kSnappyCompression, kZlibCompression, kBZip2Compression, kLZ4Compression, kLZ4HCCompression, kZSTD")
}

const sstDumpHelpText = `sst_dump <db_dirs_OR_sst_files...> [--command=check|scan|raw|recompress|identify]
    --file=<db_dir_OR_sst_file>
      Path to SST file or directory containing SST files (old option syntax)

    --command=check|scan|raw|verify|identify
        check: read all entries, print only what is wrong (the default).
               Without --read_num, --from and --to the number of entries is compared with the table's properties.
        scan: print all entries
        raw: write all contents of the table to <file_name>_dump.txt
        verify: read all blocks and verify their checksums
        recompress: report the file's size under different compressions
        identify: tell whether a file is a valid SST file, or list those of a directory

    --output_hex
      Print keys and values in hexadecimal (scan)

    --decode_blob_index
      Print references to blobs in readable form (scan)

    --show_sequence_number_type
      Show sequence number and value type (raw)

    --from=<user_key>
      First key to read (check, scan)

    --to=<user_key>
      Key to stop before (check, scan)

    --prefix=<user_key>
      Read the keys with this prefix (check, scan); not with --from

    --read_num=<num>
      Read so many entries at most (check, scan)

    --verify_checksum
      Verify checksums while reading (check, scan)

    --input_key_hex
      --from, --to and --prefix are in hexadecimal, 0x…

    --show_properties
      Print the table's properties (check, scan, identify)

    --show_summary
      Print totals over all files

    --block_size=<block_size>, --compression_types=<comma-separated list>, --compression_manager=<string>,
    --enable_index_compression=<bool>, --verify_compression=<bool>, --compression_level=<level>,
    --compression_level_from=<level>, --compression_level_to=<level>, --compression_max_dict_buffer_bytes=<int64_t>,
    --compression_max_dict_bytes=<uint32_t>, --compression_parallel_threads=<uint32_t>,
    --compression_use_zstd_finalize_dict, --compression_zstd_max_train_bytes=<uint32_t>
      For recompress. Built-in compression types: %s

    --parse_internal_key=<0xKEY>
      Print the parts of an internal key

    --list_meta_blocks
      Print the list of all meta blocks in the file
`
