// Port of tools/sst_dump_tool.cc: recompress and its options.

package tools

import (
	"math"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/sstfile"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// defaultRecompressBlockSize in bytes.
const defaultRecompressBlockSize = 16384

// mostCompressionThreads is how many may be asked for.
const mostCompressionThreads = 100

// recompressArgs are the options of recompress.
type recompressArgs struct {
	types                            []rocksdb.CompressionType // none for all
	blockSize                        uint64
	levelFrom, levelTo               int
	hasLevelFrom, hasLevelTo         bool
	maxDictBytes, zstdMaxTrainBytes  uint32
	maxDictBufferBytes               uint64
	parallelThreads                  uint32
	finalizeDict                     bool
	indexCompression, verifyCompress bool
	manager                          rocksdb.CompressionManager // nil for the built-in one
}

func defaultRecompressArgs() recompressArgs {
	c, t := rocksdb.DefaultCompressionOptions(), rocksdb.DefaultBlockBasedTableOptions()
	return recompressArgs{blockSize: defaultRecompressBlockSize, levelFrom: c.Level, levelTo: c.Level,
		maxDictBytes: c.MaxDictBytes, zstdMaxTrainBytes: c.ZSTDMaxTrainBytes, maxDictBufferBytes: c.MaxDictBufferBytes,
		parallelThreads: 1, finalizeDict: !c.UseZSTDDictTrainer,
		indexCompression: t.EnableIndexCompression, verifyCompress: t.VerifyCompression}
}

// yes reads a boolean as upstream does: an absent value changes nothing.
func yes(value string, field *bool) {
	if value != "" {
		*field = strings.ContainsRune("1tT", rune(value[0]))
	}
}

// recompressOption takes an option of recompress.
func (s *sstDump) recompressOption(name, value string) (known bool, err error) {
	r := &s.args.recompress
	switch name {
	case "compression_types":
		for text := range strings.SplitSeq(value, ",") {
			t, ok := options.CompressionTypeByName(text)
			if !ok {
				s.warnf("%s is not a valid CompressionType\n", text)
				return true, sstDumpExit(1)
			}
			r.types = append(r.types, t)
		}
		return true, nil
	case "compression_manager":
		return true, s.compressionManager(value)
	case "enable_index_compression":
		yes(value, &r.indexCompression)
		return true, nil
	case "verify_compression":
		yes(value, &r.verifyCompress)
		return true, nil
	}
	return s.recompressNumber(name, value)
}

// recompressNumber takes an option that is a number.
func (s *sstDump) recompressNumber(name, value string) (known bool, err error) {
	r := &s.args.recompress
	var n int64
	number := func() bool {
		n, err = s.number(name, value)
		return err == nil
	}
	// outOf tells of a number that does not fit, as upstream does.
	outOf := func(most uint64, what string) bool {
		if n >= 0 && uint64(n) <= most {
			return false
		}
		err = s.usage(name + what + "'--" + name + "=" + value + "'")
		return true
	}
	switch name {
	case "set_block_size", "block_size":
		if number() {
			r.blockSize = uint64(max(n, 0))
		}
	case "compression_level":
		if number() {
			r.levelFrom, r.levelTo, r.hasLevelFrom, r.hasLevelTo = int(n), int(n), true, true
		}
	case "compression_level_from":
		if number() {
			r.levelFrom, r.hasLevelFrom = int(n), true
		}
	case "compression_level_to":
		if number() {
			r.levelTo, r.hasLevelTo = int(n), true
		}
	case "compression_max_dict_bytes":
		if number() && !outOf(math.MaxUint32, " must be a uint32_t: ") {
			r.maxDictBytes = uint32(n)
		}
	case "compression_zstd_max_train_bytes":
		if number() && !outOf(math.MaxUint32, " must be a uint32_t: ") {
			r.zstdMaxTrainBytes = uint32(n)
		}
	case "compression_max_dict_buffer_bytes":
		if number() && !outOf(math.MaxInt64, " must be positive: ") {
			r.maxDictBufferBytes = uint64(n)
		}
	case "compression_parallel_threads":
		if number() && !outOf(mostCompressionThreads, " out of range: ") {
			r.parallelThreads = uint32(n)
		}
	default:
		return false, nil
	}
	return true, err
}

func (s *sstDump) compressionManager(text string) error {
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	m, err := options.CreateFromString[rocksdb.CompressionManager](&cfg, registry.KindCompressionManager, text)
	switch {
	case err != nil:
		s.warnf("Failed to create compression manager: %v\n", err)
		return sstDumpExit(1)
	case m == nil:
		s.warnf("No compression manager created: %s\n", text)
		return sstDumpExit(1)
	}
	s.args.recompress.manager = m
	s.printf("Using compression manager: %s\n", m.Name())
	return nil
}

// tableOptions are the tool's options, as tables are read with and, by
// recompress, written with.
func (s *sstDump) tableOptions() rocksdb.Options {
	o, r := s.t.Options, &s.args.recompress
	t := rocksdb.DefaultBlockBasedTableOptions()
	if o.TableFactory != nil {
		if given, ok := o.TableFactory.OptionsPtr(rocksdb.BlockBasedTableOptionsName).(*rocksdb.BlockBasedTableOptions); ok {
			t = *given
		}
	}
	t.BlockSize = r.blockSize
	t.EnableIndexCompression, t.VerifyCompression = r.indexCompression, r.verifyCompress
	t.FormatVersion = format.LatestBbtFormatVersion
	o.TableFactory = blockbased.NewBlockBasedTableFactory(&t)
	c := &o.CompressionOpts
	c.MaxDictBytes, c.ZSTDMaxTrainBytes, c.MaxDictBufferBytes = r.maxDictBytes, r.zstdMaxTrainBytes, r.maxDictBufferBytes
	c.UseZSTDDictTrainer, c.ParallelThreads = !r.finalizeDict, r.parallelThreads
	if r.manager != nil {
		o.CompressionManager = r.manager
	}
	return o
}

// recompressTypes are those to be tried.
func (s *sstDump) recompressTypes() []rocksdb.CompressionType {
	r := &s.args.recompress
	if len(r.types) > 0 {
		return r.types
	}
	var types []rocksdb.CompressionType
	for t := range int(rocksdb.DisableCompressionOption) {
		c := rocksdb.CompressionType(t)
		if m := r.manager; m != nil && m.SupportsCompressionType(c) || m == nil && compression.CompressionTypeSupported(c) {
			types = append(types, c)
		}
	}
	return types
}

func (s *sstDump) recompress(d *sstfile.SstFileDumper) error {
	r := &s.args.recompress
	var p *progress
	err := d.ShowAllCompressionSizes(&sstfile.RecompressOptions{Types: s.recompressTypes(), LevelFrom: r.levelFrom, LevelTo: r.levelTo,
		Progress: func(n int) {
			if p == nil {
				_ = s.out.Flush()                                                                   // an error comes again at the last flush
				p = startProgress(s.t.Stderr, "recompress", "entries", 2*d.Properties().NumEntries) // written and read
			}
			p.add(n)
		},
		Line: func() {
			p.stop()
			p = nil
		}})
	p.stop()
	if err != nil {
		s.warnf("Failed to recompress: %v\n", err)
		return sstDumpExit(1)
	}
	return nil
}
