// Port of tools/sst_dump_test.cc: recompression.

package tools_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/compression"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// recompressLine is what is printed of one try.
var recompressLine = regexp.MustCompile(`^Cx level: -?\d+ Cx size: +\d+ Uncx size: +\d+ Ratio: +\d+\.\d{6} Write usec: +\d+  Read usec: +\d+ ` +
	` Cx count: +\d+ \( *\d+\.\d%\) Not cx for ratio: +\d+ \( *\d+\.\d%\) Not cx otherwise: +\d+ \( *\d+\.\d%\)$`)

// recompressed checks the lines behind the file's, and gives them.
func recompressed(t *testing.T, out string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(out, "Sst file format: block-based\n")
	if !ok {
		t.Fatal(out)
	}
	lines := strings.Split(strings.TrimSuffix(rest, "\n"), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "Cx level: ") && !recompressLine.MatchString(l) {
			t.Errorf("%q", l)
		}
	}
	return lines
}

func TestSSTDumpToolTest_CompressedSizes(t *testing.T) {
	o := sstOptions(true)
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, 10, false)
	lines := recompressed(t, sstDumpOK(t, o, path, "--command=recompress"))
	var names []string
	for i, l := range lines {
		if i%2 == 0 {
			names = append(names, strings.Fields(l)[1])
			if !strings.HasSuffix(l, " Block Size: 16384  Threads: 1") {
				t.Errorf("%q", l)
			}
		} else if !strings.HasPrefix(l, "Cx level: 32767 ") {
			t.Errorf("%q", l)
		}
	}
	want := "kNoCompression kSnappyCompression kZlibCompression kBZip2Compression kLZ4Compression kLZ4HCCompression kZSTD"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestSSTDumpToolTest_VerifyCompression(t *testing.T) {
	o := sstOptions(true)
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, 10, false)
	for _, verify := range []string{"1", "0"} {
		recompressed(t, sstDumpOK(t, o, path, "--command=recompress", "--verify_compression="+verify))
	}
}

// markedManager is a manager of an application's own type, which is Snappy's.
type markedManager struct{ contract.CompressionManager }

const (
	markedType = contract.CompressionType(0x8a)
	markedName = "sst_dump_test.MyManager"
)

func (markedManager) Name() string              { return markedName }
func (markedManager) CompatibilityName() string { return markedName }
func (m markedManager) FindCompatibleCompressionManager(name string) contract.CompressionManager {
	if name == markedName {
		return m
	}
	return m.CompressionManager.FindCompatibleCompressionManager(name)
}
func (markedManager) SupportsCompressionType(t contract.CompressionType) bool { return t == markedType }
func (m markedManager) GetCompressorForSST(c *contract.FilterBuildingContext, o *contract.CompressionOptions, t contract.CompressionType) contract.Compressor {
	return m.CompressionManager.GetCompressorForSST(c, o, contract.SnappyCompression)
}
func (m markedManager) GetCompressor(o *contract.CompressionOptions, _ contract.CompressionType) contract.Compressor {
	return m.CompressionManager.GetCompressor(o, contract.SnappyCompression)
}

func TestSSTDumpToolTest_CompressionManager(t *testing.T) {
	registry.DefaultLibrary().AddFactory(registry.KindCompressionManager, markedName,
		func(*contract.ConfigOptions, string) (any, error) {
			return contract.CompressionManager(markedManager{compression.GetBuiltinV2CompressionManager()}), nil
		})
	o := sstOptions(true)
	path := filepath.Join(t.TempDir(), "rocksdb_sst_test.sst")
	createSST(t, o, path, 10, false)
	r := sstDump(t, o, "--command=recompress", "--file="+path, "--compression_manager="+markedName, "--compression_types=kCustomCompression8A")
	if r.code != 0 || r.err != "" || !strings.HasPrefix(r.out, "Using compression manager: "+markedName+"\n") {
		t.Fatalf("%+v", r)
	}
	lines := recompressed(t, r.out)
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "Compression: kCustomCompression8A     Block Size: 16384") {
		t.Errorf("%q", lines)
	}
	// What it does not have is told; without types it is asked for all.
	r = sstDump(t, o, "--command=recompress", "--file="+path, "--compression_manager="+markedName, "--compression_types=kZSTD")
	if r.code != 0 || !strings.HasSuffix(r.out, "\nUnsupported compression type: kZSTD.\n") {
		t.Errorf("%+v", r)
	}
	r = sstDump(t, o, "--command=recompress", "--file="+path, "--compression_manager="+markedName)
	if lines := recompressed(t, r.out); r.code != 0 || len(lines) != 2 {
		t.Errorf("%+v", r)
	}
	if r := sstDump(t, o, "--command=recompress", "--file="+path, "--compression_manager=none.such"); r.code != 1 ||
		!strings.HasPrefix(r.err, "Failed to create compression manager: ") {
		t.Errorf("%+v", r)
	}
}

// TestSSTDump_RecompressOptions: levels, dictionaries, threads, block sizes,
// and what is wrong with them.
func TestSSTDump_RecompressOptions(t *testing.T) {
	o := sstOptions(true)
	path := filepath.Join(t.TempDir(), "t.sst")
	createSST(t, o, path, 10, false)
	const zstd = "--command=recompress --compression_types=kZSTD "
	for _, c := range []struct {
		args  string
		lines []string // prefixes
	}{
		{zstd + "--compression_level_from=1 --compression_level_to=3",
			[]string{"Compression: kZSTD                    Block Size: 16384  Threads: 1", "Cx level: 1 ", "Cx level: 2 ", "Cx level: 3 "}},
		{zstd + "--compression_level=6 --compression_max_dict_bytes=4096 --compression_zstd_max_train_bytes=65536",
			[]string{"Compression: kZSTD ", "Cx level: 6 "}},
		{zstd + "--compression_level_from=6 --compression_level_to=6 --compression_max_dict_bytes=4096 --compression_zstd_max_train_bytes=65536 " +
			"--compression_max_dict_buffer_bytes=1000000 --compression_use_zstd_finalize_dict",
			[]string{"Compression: kZSTD ", "Cx level: 6 "}},
		{"--command=recompress --compression_parallel_threads=4 --block_size=1024 --compression_types=kLZ4Compression,kNoCompression --verify_compression=1",
			[]string{"Compression: kLZ4Compression         Block Size: 1024  Threads: 4", "Cx level: 32767 ",
				"Compression: kNoCompression          Block Size: 1024  Threads: 4", "Cx level: 32767 "}},
		{"--command=recompress --set_block_size=8192 --compression_types=kXpressCompression,kZlibCompression --enable_index_compression=0",
			[]string{"Unsupported compression type: kXpressCompression.", "Compression: kZlibCompression        Block Size: 8192 ", "Cx level: 32767 "}},
	} {
		lines := recompressed(t, sstDumpOK(t, o, path, strings.Fields(c.args)...))
		if len(lines) != len(c.lines) {
			t.Errorf("%s: %q", c.args, lines)
			continue
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		for i, want := range c.lines {
			if !strings.HasPrefix(squeeze(lines[i])+" ", squeeze(want)) {
				t.Errorf("%s: %q, not %q", c.args, lines[i], want)
			}
		}
	}
	for _, c := range []struct{ arg, message string }{
		{"--compression_level_from=3", "Specify both --compression_level_from and --compression_level_to.\n\n"},
		{"--compression_types=kNone", "kNone is not a valid CompressionType\n"},
		{"--compression_level=x", "compression_level must be numeric\n"},
		{"--block_size=x", "block size must be numeric\n"},
		{"--compression_max_dict_bytes=4294967296", "compression_max_dict_bytes must be a uint32_t: '--compression_max_dict_bytes=4294967296'\n"},
		{"--compression_zstd_max_train_bytes=-1", "compression_zstd_max_train_bytes must be a uint32_t: '--compression_zstd_max_train_bytes=-1'\n"},
		{"--compression_max_dict_buffer_bytes=-1", "compression_max_dict_buffer_bytes must be positive: '--compression_max_dict_buffer_bytes=-1'\n"},
		{"--compression_parallel_threads=101", "compression_parallel_threads out of range: '--compression_parallel_threads=101'\n"},
	} {
		if r := sstDump(t, o, "--command=recompress", "--file="+path, c.arg); r.code != 1 || !strings.HasPrefix(r.err, c.message) {
			t.Errorf("%s: %d %q", c.arg, r.code, r.err)
		}
	}
}
