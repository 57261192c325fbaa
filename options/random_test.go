// Port of test_util/testutil.cc: random options. Differs: the plain options are
// found by walking the tables.

package options

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// randomize sets every plain option of a table; numbers stay small.
func randomize(r *util.Random, t *Table, base any) {
	for i := range t.Rows {
		row := &t.Rows[i]
		if row.Field == nil || row.Verification == Alias {
			continue
		}
		switch p := row.Field(base).(type) {
		case *bool:
			*p = r.Uniform(2) == 1
		case *int:
			*p = int(r.Uniform(100))
		case *int64:
			*p = int64(r.Uniform(100))
		case *uint8:
			*p = uint8(r.Uniform(100))
		case *uint32:
			*p = r.Uniform(10000)
		case *uint64:
			*p = 1<<40 + uint64(r.Uniform(10000))
		case *float64:
			*p = float64(r.Uniform(10000)) / 20000
		case *string:
			*p = fmt.Sprintf("path/%d", r.Uniform(1000))
		case *rocksdb.CompressionType:
			*p = rocksdb.CompressionType(r.Uniform(8))
		case *rocksdb.CompactionStyle:
			*p = rocksdb.CompactionStyle(r.Uniform(4))
		case *rocksdb.CompactionPri:
			*p = rocksdb.CompactionPri(r.Uniform(4))
		case *rocksdb.Temperature:
			*p = temperatures[r.Uniform(6)].value
		case *rocksdb.WALRecoveryMode:
			*p = rocksdb.WALRecoveryMode(r.Uniform(4))
		case *rocksdb.InfoLogLevel:
			*p = rocksdb.InfoLogLevel(r.Uniform(5))
		}
	}
}

func randomDB(seed uint32) rocksdb.DBOptions {
	o := rocksdb.DefaultDBOptions()
	randomize(util.NewRandom(seed), dbOptionsTable, &o)
	return o
}

func randomSliceTransform(r *util.Random) rocksdb.SliceTransform {
	switch r.Uniform(4) {
	case 0:
		return util.NewFixedPrefixTransform(int(r.Uniform(20)) + 1)
	case 1:
		return util.NewCappedPrefixTransform(int(r.Uniform(20)) + 1)
	case 2:
		return util.NewNoopTransform()
	}
	return nil
}

// changling is a plug-in of several kinds whose name may change.
type changling struct {
	rocksdb.MergeOperatorBase
	name string
}

func (c *changling) Name() string { return c.name }
func (c *changling) FullMergeV2(*rocksdb.MergeOperationInput, *rocksdb.MergeOperationOutput) bool {
	return false
}
func (c *changling) FilterV3(int, []byte, rocksdb.CompactionFilterValueType, []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	return rocksdb.FilterKeep, nil, nil
}
func (c *changling) IgnoreSnapshots() bool { return true }

type changlingFactory struct{ name string }

func (c *changlingFactory) Name() string { return c.name }
func (c *changlingFactory) ShouldFilterTableFileCreation(rocksdb.TableFileCreationReason) bool {
	return false
}
func (c *changlingFactory) CreateCompactionFilter(*rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	return nil
}

func randomName(r *util.Random, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + r.Uniform(26))
	}
	return string(b)
}

func randomCF(seed uint32) rocksdb.ColumnFamilyOptions {
	r := util.NewRandom(seed)
	o := rocksdb.DefaultColumnFamilyOptions()
	randomize(r, cfOptionsTable, &o)
	for _, c := range []*rocksdb.CompressionOptions{&o.CompressionOpts, &o.BottommostCompressionOpts, &o.BlobCompressionOpts} {
		randomize(r, compressionTable, c)
	}
	randomize(r, universalTable, &o.CompactionOptionsUniversal)
	randomize(r, fifoTable, &o.CompactionOptionsFIFO)
	o.CompactionOptionsFIFO.FileTemperatureAgeThresholds = []rocksdb.FileTemperatureAge{
		{Temperature: rocksdb.TemperatureWarm, Age: uint64(r.Uniform(100))}, {Temperature: rocksdb.TemperatureCold, Age: 100},
	}
	o.MaxBytesForLevelMultiplierAdditional = nil
	o.CompressionPerLevel = nil
	for i := uint32(0); i < r.Uniform(6)+1; i++ {
		o.MaxBytesForLevelMultiplierAdditional = append(o.MaxBytesForLevelMultiplierAdditional, int(r.Uniform(10)))
		o.CompressionPerLevel = append(o.CompressionPerLevel, rocksdb.CompressionType(r.Uniform(8)))
	}
	o.PrefixExtractor = randomSliceTransform(r)
	o.MemtableInsertWithHintPrefixExtractor = randomSliceTransform(r)
	o.MergeOperator = &changling{name: randomName(r, 10)}
	o.CompactionFilter = &changling{name: randomName(r, 10)}
	o.CompactionFilterFactory = &changlingFactory{name: randomName(r, 10)}
	return o
}
