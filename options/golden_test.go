// No upstream twin: OPTIONS files that real engines wrote are read and written
// again.

package options

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func parseFile(t *testing.T, name string) (*Parser, string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := NewParser()
	if err := p.ParseText(testConfig(), string(data)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p, string(data)
}

// A file that v11.8.1 wrote comes out of the parsed options byte for byte.
func TestGoldenOptionsFilesAreReproduced(t *testing.T) {
	files, err := filepath.Glob("testdata/11.8.1/*.ini")
	if err != nil || len(files) < 10 {
		t.Fatalf("files: %v %v", files, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p, want := parseFile(t, name)
			if v := p.RocksDBVersion(); v != [3]int{11, 8, 1} {
				t.Errorf("version %v", v)
			}
			cfg := testConfig()
			got, err := AppendRocksDBOptions(nil, cfg, p.DBOptions(), p.CFNames(), p.CFOptions())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("written again (-golden +ours):\n%s", diff)
			}
			if err := p.verify(cfg, p.DBOptions(), p.CFNames(), p.CFOptions()); err != nil {
				t.Errorf("verified against itself: %v", err)
			}
		})
	}
}

// Files of an older version are read: their deprecated options are ignored,
// what they lack has its default.
func TestGoldenOptionsOf783AreRead(t *testing.T) {
	for _, name := range []string{"column_families", "filter_ribbon", "merge_append", "table_plain", "timestamps"} {
		t.Run(name, func(t *testing.T) {
			p, text := parseFile(t, "testdata/7.8.3/"+name+".ini")
			if v := p.RocksDBVersion(); v != [3]int{7, 8, 3} {
				t.Errorf("version %v", v)
			}
			if n := strings.Count(text, "[CFOptions "); n != p.NumColumnFamilies() {
				t.Errorf("column families: %d, in the file %d", p.NumColumnFamilies(), n)
			}
			cf := p.GetCFOptions(rocksdb.DefaultColumnFamilyName)
			if want := p.CFOptMaps()[0]["write_buffer_size"]; want == "" {
				t.Fatal("no write_buffer_size in the file")
			} else if n, _ := util.ParseUint64(want); n != cf.WriteBufferSize {
				t.Errorf("write_buffer_size %d, in the file %s", cf.WriteBufferSize, want)
			}
			if !p.DBOptions().WriteIdentityFile {
				t.Error("an option younger than the file has not its default")
			}
			switch name {
			case "timestamps":
				if cf.Comparator.TimestampSize() != 8 {
					t.Errorf("comparator %s", cf.Comparator.Name())
				}
			case "table_plain":
				if cf.TableFactory.Name() != rocksdb.PlainTableName {
					t.Errorf("table factory %s", cf.TableFactory.Name())
				}
			case "filter_ribbon":
				if p := bbtoOf(t, cf.TableFactory).FilterPolicy; p == nil || p.ID() != "ribbonfilter:10:0" {
					t.Errorf("filter policy %v", p)
				}
			case "merge_append":
				if cf.MergeOperator.Name() != "StringAppendOperator" {
					t.Errorf("merge operator %s", cf.MergeOperator.Name())
				}
			}
		})
	}
}

// offDefault gives another value of an option's kind; "" where only plug-ins and
// names could stand.
func offDefault(name, value string) string {
	if other, ok := map[string]string{
		"prefix_extractor": "rocksdb.CappedPrefix.3", "filter_policy": "{id=ribbonfilter:10:3;bloom_before_level=3;}", "memtable_factory": "VectorRepFactory",
		"max_bytes_for_level_multiplier_additional": "1:2:3", "db_host_id": "somewhere",
	}[name]; ok {
		return other
	}
	if other, ok := map[string]string{
		"kNonVolatileBlockTier": "kVolatileTier", "kShortenSeparatorsAndSuccessor": "kNoShortening", "kPlain": "kPrefix",
		"kCompactionStyleUniversal": "kCompactionStyleFIFO",
		"true":                      "false", "false": "true", "kSkipAnyCorruptedRecords": "kAbsoluteConsistency", "kPointInTimeRecovery": "kAbsoluteConsistency",
		"kCRC32c": "kxxHash", "kXXH3": "kxxHash64", "kNoCompression": "kZSTD", "kSnappyCompression": "kLZ4Compression", "kDisableCompressionOption": "kZlibCompression",
		"kCompactionStyleLevel": "kCompactionStyleUniversal", "kCompactionStopStyleTotalSize": "kCompactionStopStyleSimilarSize",
		"kMinOverlappingRatio": "kRoundRobin", "kBinarySearch": "kTwoLevelIndexSearch", "kDataBlockBinarySearch": "kDataBlockBinaryAndHash",
		"kShortenSeparators": "kNoShortening", "kFallback": "kAll", "kDisable": "kFlushOnly", "INFO_LEVEL": "WARN_LEVEL",
		"kUnknown": "kWarm", "kBinary": "kInterpolation",
	}[value]; ok {
		return other
	}
	if n, err := strconv.ParseUint(value, 10, 64); err == nil && n > 0 {
		return strconv.FormatUint(n-1, 10)
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return strconv.FormatInt(n+1, 10)
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprintf("%f", f+0.5)
	}
	inner, ok := strings.CutPrefix(value, "{")
	if !ok || !strings.HasSuffix(inner, ";}") || strings.Contains(inner, "{") {
		return ""
	}
	var out strings.Builder
	for part := range strings.SplitSeq(strings.TrimSuffix(inner, ";}"), ";") {
		k, v, _ := strings.Cut(part, "=")
		if other := offDefault(name+"."+k, v); other != "" {
			v = other
		}
		out.WriteString(k + "=" + v + ";")
	}
	return "{" + out.String() + "}"
}

// All options that v11.8.1 writes, each with another value than it had, come out
// as they went in.
func TestGoldenOptionsOffDefault(t *testing.T) {
	for _, name := range []string{"blob_files", "universal", "table_plain", "table_cuckoo"} {
		t.Run(name, func(t *testing.T) {
			_, text := parseFile(t, "testdata/11.8.1/"+name+".ini")
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
				if !ok || strings.HasSuffix(key, "_version") && key != "format_version" {
					continue
				}
				if other := offDefault(key, value); other != "" {
					lines[i] = "  " + key + "=" + other
				}
			}
			want := strings.Join(lines, "\n")
			p := NewParser()
			if err := p.ParseText(testConfig(), want); err != nil {
				t.Fatal(err)
			}
			got, err := AppendRocksDBOptions(nil, testConfig(), p.DBOptions(), p.CFNames(), p.CFOptions())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("written again (-read +written):\n%s", diff)
			}
			// Each is known by its name only.
			for i, line := range lines {
				key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
				if !ok || strings.HasSuffix(key, "_version") {
					continue
				}
				wrong := strings.Join(lines[:i], "\n") + "\n  " + key + "x=" + value + "\n" + strings.Join(lines[i+1:], "\n")
				if err := NewParser().ParseText(testConfig(), wrong); rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), key+"x") {
					t.Errorf("%sx: %v", key, err)
				}
			}
		})
	}
}
