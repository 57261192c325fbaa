// Port of db/db_properties_test.cc (the cases that look inside). Differs: in
// package db.

package db

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestDBPropertiesTest_ValidatePropertyInfo(t *testing.T) {
	if len(properties) < 60 {
		t.Errorf("%d properties", len(properties))
	}
	for name, info := range properties {
		// A number at the end is an argument.
		if base, arg := splitProperty(name); base != name || arg != "" || !strings.HasPrefix(name, "rocksdb.") {
			t.Errorf("property name %q", name)
		}
		if (info.text == nil) == (info.number == nil) {
			t.Errorf("%s is text and a number, or neither", name)
		}
		if info.values != nil && info.text == nil {
			t.Errorf("%s has parts but no text", name)
		}
		if GetPropertyInfo(name+"12") != info {
			t.Errorf("%s takes no argument", name)
		}
	}
	if GetPropertyInfo("rocksdb.no-such") != nil || GetPropertyInfo("") != nil {
		t.Error("an unknown property was found")
	}
}

func TestDBPropertiesTest_WriteStallStatsSanityCheck(t *testing.T) {
	seen := map[InternalCFStat]bool{}
	for cause := range StallNone {
		for _, condition := range []rocksdb.WriteStallCondition{rocksdb.WriteStallConditionDelayed, rocksdb.WriteStallConditionStopped} {
			stat, ok := internalCFStat(cause, condition)
			if !ok || seen[stat] || stat >= BytesFlushed {
				t.Errorf("cause %d, condition %d: counter %d, %v", cause, condition, stat, ok)
			}
			seen[stat] = true
		}
		if _, ok := internalCFStat(cause, rocksdb.WriteStallConditionNormal); ok {
			t.Errorf("cause %d is counted without a stall", cause)
		}
	}
	names := map[string]bool{}
	for _, c := range cfStalls {
		if c.name == "" || names[c.name] {
			t.Errorf("name %q", c.name)
		}
		names[c.name] = true
	}
}

func TestCompactionStatsSums(t *testing.T) {
	var sum CompactionStats
	job := CompactionStats{Micros: 1, CPUMicros: 2, BytesReadNonOutputLevels: 3, BytesReadOutputLevel: 4, BytesReadBlob: 5, BytesWritten: 6,
		BytesWrittenPreComp: 7, BytesWrittenBlob: 8, BytesMoved: 9, NumInputFilesInNonOutputLevels: 10, NumInputFilesInOutputLevel: 11,
		NumOutputFiles: 12, NumInputRecords: 13, NumDroppedRecords: 14, NumOutputRecords: 15, Count: 1, Reason: rocksdb.CompactionReasonFlush}
	sum.Add(&job)
	first := sum
	sum.Add(&job)
	var all CompactionStats
	all.Add(&sum)
	if all.CountsByReason[rocksdb.CompactionReasonFlush] != 2 || all.Count != 2 {
		t.Errorf("%d of %d flushes", all.CountsByReason[rocksdb.CompactionReasonFlush], all.Count)
	}
	if all != sum {
		t.Errorf("the sum of one sum is\n%+v\nnot\n%+v", all, sum)
	}
	all.Subtract(&first)
	if all != first {
		t.Errorf("half of the sum is\n%+v\nnot\n%+v", all, first)
	}
}
