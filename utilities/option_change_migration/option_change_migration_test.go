// Port of utilities/option_change_migration/option_change_migration_test.cc.
// Differs: half the data.

package optionchangemigration_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// migration is a database with one set of families.
type migration struct {
	*testing.T
	dir string
	rnd *rand.Rand
}

func newMigration(t *testing.T) *migration {
	return &migration{t, t.TempDir() + "/db", rand.New(rand.NewPCG(301, 0))}
}

func (m *migration) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *migration) value() []byte {
	b := make([]byte, 900)
	for i := range b {
		b[i] = byte(' ' + m.rnd.IntN(95))
	}
	return b
}

func levelOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Level0FileNumCompactionTrigger = 3
	o.WriteBufferSize = 64 << 10
	o.TargetFileSizeBase = 128 << 10
	o.MaxBytesForLevelMultiplier = 3
	o.MaxBytesForLevelBase = 200 << 10
	return o
}

// form is a compaction style with its levels.
type form struct {
	levels  int
	style   rocksdb.CompactionStyle
	dynamic bool
}

func (f form) apply(o *rocksdb.Options) {
	o.NumLevels, o.CompactionStyle = f.levels, f.style
	switch f.style {
	case rocksdb.CompactionStyleLevel:
		o.LevelCompactionDynamicLevelBytes = f.dynamic
	case rocksdb.CompactionStyleFIFO:
		o.MaxOpenFiles = -1
	}
}

func allKeys(t *testing.T, cf *rocksdb.ColumnFamily) (keys []string) {
	t.Helper()
	it := cf.NewIterator(nil)
	defer it.Close()
	for k := range it.All() {
		keys = append(keys, string(k))
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// migrate makes a database with old, lets fill write, and opens it with the new
// options after migration.
func (m *migration) migrate(old, o rocksdb.Options, fill func(db *rocksdb.DB)) {
	m.Helper()
	db, err := rocksdb.Open(m.dir, old)
	m.must(err)
	fill(db)
	m.must(db.WaitForCompact(nil))
	keys := allKeys(m.T, db.ColumnFamily)
	m.must(db.Close())
	m.must(rocksdb.OptionChangeMigration(m.dir, old, o))
	for range 2 {
		db, err = rocksdb.Open(m.dir, o)
		m.must(err)
		m.must(db.WaitForCompact(nil))
		if got := allKeys(m.T, db.ColumnFamily); !slices.Equal(got, keys) {
			m.Errorf("%d keys, not %d", len(got), len(keys))
		}
		m.must(db.Close())
	}
}

func (m *migration) put(db *rocksdb.DB, i int) {
	m.Helper()
	m.must(db.Put(nil, fmt.Appendf(nil, "key%06d", i), m.value()))
}

// forms are the parameters upstream has: from, to, and the FIFO size limit.
var forms = []struct {
	from, to form
	fifoSize uint64
}{
	{form{3, rocksdb.CompactionStyleLevel, false}, form{4, rocksdb.CompactionStyleLevel, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, true}, form{4, rocksdb.CompactionStyleLevel, true}, 0},
	{form{3, rocksdb.CompactionStyleLevel, true}, form{4, rocksdb.CompactionStyleLevel, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, false}, form{4, rocksdb.CompactionStyleLevel, true}, 0},
	{form{3, rocksdb.CompactionStyleUniversal, false}, form{4, rocksdb.CompactionStyleUniversal, false}, 0},
	{form{1, rocksdb.CompactionStyleUniversal, false}, form{4, rocksdb.CompactionStyleUniversal, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, false}, form{4, rocksdb.CompactionStyleUniversal, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, false}, form{1, rocksdb.CompactionStyleUniversal, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, true}, form{4, rocksdb.CompactionStyleUniversal, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, true}, form{1, rocksdb.CompactionStyleUniversal, false}, 0},
	{form{1, rocksdb.CompactionStyleUniversal, false}, form{4, rocksdb.CompactionStyleLevel, false}, 0},
	{form{4, rocksdb.CompactionStyleLevel, false}, form{1, rocksdb.CompactionStyleFIFO, false}, 0},
	{form{3, rocksdb.CompactionStyleLevel, true}, form{2, rocksdb.CompactionStyleFIFO, false}, 0},
	{form{3, rocksdb.CompactionStyleUniversal, false}, form{3, rocksdb.CompactionStyleFIFO, false}, 0},
	{form{1, rocksdb.CompactionStyleUniversal, false}, form{4, rocksdb.CompactionStyleFIFO, false}, 0},
	{form{4, rocksdb.CompactionStyleLevel, false}, form{1, rocksdb.CompactionStyleFIFO, false}, math.MaxUint64},
	{form{3, rocksdb.CompactionStyleLevel, true}, form{2, rocksdb.CompactionStyleFIFO, false}, math.MaxUint64},
	{form{3, rocksdb.CompactionStyleUniversal, false}, form{3, rocksdb.CompactionStyleFIFO, false}, math.MaxUint64},
	{form{1, rocksdb.CompactionStyleUniversal, false}, form{4, rocksdb.CompactionStyleFIFO, false}, math.MaxUint64},
}

func testForms(t *testing.T, backwards bool, fill func(m *migration, db *rocksdb.DB)) {
	for _, f := range forms {
		if backwards {
			f.from, f.to = f.to, f.from
		}
		t.Run(fmt.Sprintf("%v to %v, %d", f.from, f.to, f.fifoSize), func(t *testing.T) {
			old := levelOptions()
			f.from.apply(&old)
			o := old
			f.to.apply(&o)
			if f.fifoSize != 0 {
				o.CompactionOptionsFIFO.MaxTableFilesSize = f.fifoSize
			}
			o.TargetFileSizeBase = 256 << 10
			o.MaxBytesForLevelBase = 150 << 10
			o.MaxBytesForLevelMultiplier = 4
			m := newMigration(t)
			m.migrate(old, o, func(db *rocksdb.DB) { fill(m, db) })
		})
	}
}

// newFiles writes ten files of 100 KB.
func newFiles(m *migration, db *rocksdb.DB) {
	for i := range 10 * 100 {
		m.put(db, i)
	}
	m.must(db.Flush(nil))
}

// overlappingFiles compacts all half-way.
func overlappingFiles(m *migration, db *rocksdb.DB) {
	for num := range 10 {
		for i := range 50 {
			m.put(db, num*100+i)
		}
		m.must(db.Flush(nil))
		m.must(db.WaitForCompact(nil))
		if num == 4 {
			m.compactAll(db)
		}
	}
}

func (m *migration) compactAll(db *rocksdb.DB) {
	m.Helper()
	o := rocksdb.DefaultCompactRangeOptions()
	o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	m.must(db.CompactRange(&o, nil, nil))
}

func TestDBOptionChangeMigrationTests_Migrate1(t *testing.T) { testForms(t, false, newFiles) }
func TestDBOptionChangeMigrationTests_Migrate2(t *testing.T) { testForms(t, true, newFiles) }
func TestDBOptionChangeMigrationTests_Migrate3(t *testing.T) { testForms(t, false, overlappingFiles) }
func TestDBOptionChangeMigrationTests_Migrate4(t *testing.T) { testForms(t, true, overlappingFiles) }

func TestDBOptionChangeMigrationTest_CompactedSrcToUniversal(t *testing.T) {
	old := levelOptions()
	old.MaxCompactionBytes = 200 << 10
	old.LevelCompactionDynamicLevelBytes = false
	old.NumLevels = 4
	o := old
	o.CompactionStyle = rocksdb.CompactionStyleUniversal
	o.TargetFileSizeBase = 256 << 10
	o.NumLevels = 1
	o.MaxBytesForLevelBase = 150 << 10
	o.MaxBytesForLevelMultiplier = 4
	m := newMigration(t)
	m.migrate(old, o, func(db *rocksdb.DB) {
		for i := range 500 {
			m.put(db, i)
		}
		m.must(db.Flush(nil))
		m.compactAll(db)
	})
}

func descriptors(o ...rocksdb.Options) []rocksdb.ColumnFamilyDescriptor {
	return []rocksdb.ColumnFamilyDescriptor{
		{Name: rocksdb.DefaultColumnFamilyName, Options: o[0].ColumnFamilyOptions}, {Name: "cf1", Options: o[len(o)-1].ColumnFamilyOptions}}
}

// migrateFamilies is migrate with two families; o has the options of both.
func (m *migration) migrateFamilies(old rocksdb.Options, keys int, o ...rocksdb.Options) {
	m.Helper()
	old.CreateMissingColumnFamilies = true
	db, cfs, err := rocksdb.OpenColumnFamilies(m.dir, old.DBOptions, descriptors(old))
	m.must(err)
	for i := range keys {
		for _, cf := range cfs {
			m.must(cf.Put(nil, fmt.Append(nil, "key", i), m.value()))
		}
	}
	m.must(db.FlushColumnFamilies(nil, cfs))
	m.must(db.WaitForCompact(nil))
	var want [][]string
	for _, cf := range cfs {
		want = append(want, allKeys(m.T, cf))
	}
	m.must(db.Close())

	m.must(rocksdb.OptionChangeMigrationOfColumnFamilies(m.dir, old.DBOptions, descriptors(old), descriptors(o...)))
	db, cfs, err = rocksdb.OpenColumnFamilies(m.dir, o[0].DBOptions, descriptors(o...))
	m.must(err)
	for i, cf := range cfs {
		if got := allKeys(m.T, cf); !slices.Equal(got, want[i]) {
			m.Errorf("%s: %d keys, not %d", cf.GetName(), len(got), len(want[i]))
		}
	}
	m.must(db.Close())
}

func TestDBOptionChangeMigrationMultiCFTest_BasicMultiCF(t *testing.T) {
	old := levelOptions()
	form{4, rocksdb.CompactionStyleLevel, false}.apply(&old)
	o := old
	o.CompactionStyle, o.NumLevels, o.TargetFileSizeBase = rocksdb.CompactionStyleUniversal, 5, 256<<10
	newMigration(t).migrateFamilies(old, 100, o)
}

func TestDBOptionChangeMigrationMultiCFTest_DifferentStylesPerCF(t *testing.T) {
	old := levelOptions()
	old.NumLevels = 4
	universal, dynamic := old, old
	form{5, rocksdb.CompactionStyleUniversal, false}.apply(&universal)
	form{5, rocksdb.CompactionStyleLevel, true}.apply(&dynamic)
	newMigration(t).migrateFamilies(old, 50, universal, dynamic)
}

func TestDBOptionChangeMigrationMultiCFTest_ValidationMismatched(t *testing.T) {
	o := levelOptions()
	both := descriptors(o)
	renamed := descriptors(o)
	renamed[1].Name = "cf2"
	for text, bad := range map[string][]rocksdb.ColumnFamilyDescriptor{
		"same number":   both[:1],
		"mismatch at 1": renamed,
		"mismatch at 0": {both[1], both[0]},
	} {
		err := rocksdb.OptionChangeMigrationOfColumnFamilies(t.TempDir(), o.DBOptions, both, bad)
		if rocksdb.CodeOf(err) != rocksdb.CodeInvalidArgument || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestDBOptionChangeMigrationMultiCFTest_FromFIFOMultiCF(t *testing.T) {
	old := levelOptions()
	form{1, rocksdb.CompactionStyleFIFO, false}.apply(&old)
	o := old
	form{4, rocksdb.CompactionStyleLevel, false}.apply(&o)
	o.MaxOpenFiles = 1000
	newMigration(t).migrateFamilies(old, 50, o)
}
