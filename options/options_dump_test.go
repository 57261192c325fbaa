// No upstream twin: the options in LOG, against a LOG that v11.8.1 wrote.

package options

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// lineLogger keeps lines.
type lineLogger struct {
	rocksdb.LoggerBase
	lines []string
}

func (l *lineLogger) Logv(_ rocksdb.InfoLogLevel, format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}
func (l *lineLogger) LogHeader(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// The lines have the names and the spacing of v11.8.1, in its order.
func TestDumpHasTheLinesOfALOG(t *testing.T) {
	data, err := os.ReadFile("testdata/log_labels.txt")
	noError(t, err)
	want := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	l := &lineLogger{}
	DumpDBOptions(&db, l)
	DumpColumnFamilyOptions(&cf, l)
	check(t, len(l.lines), len(want))
	for i, line := range l.lines {
		if label, _, _ := strings.Cut(line, ":"); i < len(want) && label != want[i] {
			t.Fatalf("line %d: got %q, want %q", i, label, want[i])
		}
		if strings.Contains(line, "%!") {
			t.Errorf("bad format: %s", line)
		}
	}
}

func TestDumpOfValues(t *testing.T) {
	db, cf := randomDB(5), randomCF(5)
	cf.Comparator = util.BytewiseComparatorWithU64Ts()
	cf.PersistUserDefinedTimestamps = true
	cf.CompressionPerLevel = []rocksdb.CompressionType{rocksdb.NoCompression, rocksdb.ZSTD, 0x8A, 0x7F}
	db.RowCache = &testCache{capacity: 77}
	db.MetadataWriteTemperature = rocksdb.TemperatureCold
	l := &lineLogger{}
	DumpDBOptions(&db, l)
	DumpColumnFamilyOptions(&cf, l)
	m := NewMutableCFOptions(&cf)
	m.Dump(l)
	text := strings.Join(l.lines, "\n")
	for _, want := range []string{
		"Options.row_cache: 77\n", "Options.metadata_write_temperature: kCold\n",
		"Options.comparator: leveldb.BytewiseComparator.u64ts\n", "Options.persist_user_defined_timestamps: true\n",
		"Options.compression[0]: NoCompression\n", "Options.compression[1]: ZSTD\n",
		"Options.compression[2]: Custom8A\n", "Options.compression[3]: Reserved7F\n",
		fmt.Sprintf("Options.max_background_jobs: %d\n", db.MaxBackgroundJobs),
		fmt.Sprintf("max_bytes_for_level_multiplier_additional: %s\n", multipliersText(cf.MaxBytesForLevelMultiplierAdditional)),
		fmt.Sprintf("Options.merge_operator: %s\n", cf.MergeOperator.Name()),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if strings.Contains(text, "%!") {
		t.Errorf("a bad format")
	}
}
