// Port of utilities/table_properties_collectors/compact_for_tiering_collector_test.cc.

package tablepropertiescollectors

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func tieringContext(level int, threshold rocksdb.SequenceNumber) rocksdb.TablePropertiesCollectorFactoryContext {
	return rocksdb.TablePropertiesCollectorFactoryContext{ColumnFamilyID: 1, LevelAtCreation: level, NumLevels: 6,
		LastLevelInclusiveMaxSeqnoThreshold: threshold}
}

func wantNoCollector(t *testing.T, ratio float64, ctx rocksdb.TablePropertiesCollectorFactoryContext) {
	t.Helper()
	if c := NewCompactForTieringCollectorFactory(ratio).CreateTablePropertiesCollector(ctx); c != nil {
		t.Errorf("a collector with ratio %v", ratio)
	}
}

func TestCompactForTieringCollector_NotEnabled(t *testing.T) {
	wantNoCollector(t, 0, tieringContext(1, 50))
}

func TestCompactForTieringCollector_TieringDisabled(t *testing.T) {
	for _, ratio := range []float64{0, 0.1, 1, 1.5} {
		wantNoCollector(t, ratio, tieringContext(1, dbformat.MaxSequenceNumber))
	}
}

func TestCompactForTieringCollector_LastLevelFile(t *testing.T) {
	for _, ratio := range []float64{0, 0.1, 1, 1.5} {
		wantNoCollector(t, ratio, tieringContext(5, 50))
	}
}

// collectHundred adds entries with the sequence numbers below 100, of which 50
// are eligible.
func collectHundred(t *testing.T, ratio float64, add func(c rocksdb.TablePropertiesCollector, seq rocksdb.SequenceNumber) error, marked bool) {
	t.Helper()
	c := NewCompactForTieringCollectorFactory(ratio).CreateTablePropertiesCollector(tieringContext(1, 50))
	for seq := range rocksdb.SequenceNumber(100) {
		if err := add(c, seq); err != nil || c.NeedCompact() {
			t.Fatalf("ratio %v, entry %d: %v, marked %t", ratio, seq, err, c.NeedCompact())
		}
	}
	p := rocksdb.UserCollectedProperties{}
	if err := c.Finish(p); err != nil {
		t.Fatal(err)
	}
	if n := p[NumEligibleLastLevelEntriesPropertyName]; n != "50" || c.NeedCompact() != marked {
		t.Errorf("ratio %v: %q eligible entries, marked %t", ratio, n, c.NeedCompact())
	}
}

func TestCompactForTieringCollector_CollectorEnabled(t *testing.T) {
	for _, ratio := range []float64{0.1, 0.33333333, 0.5, 1, 1.5} {
		collectHundred(t, ratio, func(c rocksdb.TablePropertiesCollector, seq rocksdb.SequenceNumber) error {
			return c.AddUserKey([]byte("hello"), []byte("rocksdb"), rocksdb.EntryPut, seq, 0)
		}, ratio <= 0.5)
	}
}

func TestCompactForTieringCollector_TimedPutEntries(t *testing.T) {
	collectHundred(t, 0.1, func(c rocksdb.TablePropertiesCollector, seq rocksdb.SequenceNumber) error {
		return c.AddUserKey([]byte("hello"), seqnotime.PackValueAndSeqno(nil, []byte("rocksdb"), seq), rocksdb.EntryTimedPut, 0, 0)
	}, true)
}
