// Port of monitoring/stats_history_test.cc. Differs: the iterators and the key
// format alone, over a source in memory; the cases that need a database are not
// here yet.

package monitoring

import (
	"errors"
	"sort"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

type memoryHistory map[uint64]map[string]uint64

func (h memoryHistory) FindStatsByTime(start, end uint64) (uint64, map[string]uint64, bool) {
	found := end
	for at := range h {
		if at >= start && at < found {
			found = at
		}
	}
	return found, h[found], found < end
}

func TestInMemoryStatsHistoryIterator(t *testing.T) {
	h := memoryHistory{5: {"a": 1}, 7: {"a": 2}, 9: {"a": 3}}
	it := NewInMemoryStatsHistoryIterator(5, 9, h)
	for _, want := range []uint64{5, 7} {
		if !it.Valid() {
			t.Fatal("ends early")
		}
		checkEqual(t, "time", it.GetStatsTime(), want)
		checkEqual(t, "value", it.GetStatsMap()["a"], (want-3)/2)
		delete(h, want) // purged while the iterator stands on it
		it.Next()
	}
	if it.Valid() || it.Err() != nil {
		t.Errorf("valid past the end, %v", it.Err())
	}
	it.Next()
}

// sliceIterator walks sorted pairs; only what the history needs.
type sliceIterator struct {
	rocksdb.Iterator
	keys   []string
	values map[string]string
	pos    int
	err    error
	closed int
}

func (it *sliceIterator) Seek(target []byte) { it.pos = sort.SearchStrings(it.keys, string(target)) }
func (it *sliceIterator) Valid() bool        { return it.err == nil && it.pos < len(it.keys) }
func (it *sliceIterator) Next()              { it.pos++ }
func (it *sliceIterator) Key() []byte        { return []byte(it.keys[it.pos]) }
func (it *sliceIterator) Value() []byte      { return []byte(it.values[it.keys[it.pos]]) }
func (it *sliceIterator) Status() error      { return it.err }
func (it *sliceIterator) Close() error       { it.closed++; return nil }

func newSliceIterator(pairs map[string]string) *sliceIterator {
	it := &sliceIterator{values: pairs}
	for k := range pairs {
		it.keys = append(it.keys, k)
	}
	sort.Strings(it.keys)
	return it
}

func TestPersistentStatsHistoryIterator(t *testing.T) {
	pairs := map[string]string{
		FormatVersionKeyString:     "1",
		CompatibleVersionKeyString: "1",
		"0000000005#":              "7",
		"no history":               "x",
	}
	for at, values := range map[uint64][2]string{5: {"1", "2"}, 7: {"3", "4"}, 1700000000: {"5", "6"}} {
		pairs[string(EncodePersistentStatsKey(at, "a"))] = values[0]
		pairs[string(EncodePersistentStatsKey(at, "b"))] = values[1]
	}
	inner := newSliceIterator(pairs)
	open := func() (rocksdb.Iterator, error) { return inner, nil }
	it := NewPersistentStatsHistoryIterator(0, 1<<40, open)
	for _, want := range []struct{ at, a, b uint64 }{{5, 1, 2}, {7, 3, 4}, {1700000000, 5, 6}} {
		if !it.Valid() {
			t.Fatalf("ends before %d: %v", want.at, it.Err())
		}
		checkEqual(t, "time", it.GetStatsTime(), want.at)
		checkEqual(t, "a", it.GetStatsMap()["a"], want.a)
		checkEqual(t, "b", it.GetStatsMap()["b"], want.b)
		it.Next()
	}
	if it.Valid() || it.Err() != nil {
		t.Errorf("valid past the end, %v", it.Err())
	}
	checkEqual(t, "closed", inner.closed, 4)
	if it = NewPersistentStatsHistoryIterator(6, 6, open); it.Valid() {
		t.Errorf("a snapshot at %d", it.GetStatsTime())
	}

	pairs["0000000005#a"] = "many"
	if it = NewPersistentStatsHistoryIterator(5, 5, open); it.Valid() || !rocksdb.IsCorruption(it.Err()) {
		t.Errorf("a value that is no number: %v", it.Err())
	}
	inner.err = rocksdb.IOError("gone")
	if it = NewPersistentStatsHistoryIterator(5, 5, open); !rocksdb.IsIOError(it.Err()) {
		t.Errorf("a failing iterator: %v", it.Err())
	}
	failed := errors.New("no iterator")
	if it = NewPersistentStatsHistoryIterator(5, 5, func() (rocksdb.Iterator, error) { return nil, failed }); it.Err() != failed {
		t.Errorf("no iterator: %v", it.Err())
	}
}

func TestOptimizeForPersistentStats(t *testing.T) {
	o := rocksdb.ColumnFamilyOptions{Compression: rocksdb.SnappyCompression}
	OptimizeForPersistentStats(&o)
	checkEqual(t, "write buffer", o.WriteBufferSize, 2<<20)
	checkEqual(t, "compression", o.Compression, rocksdb.NoCompression)
}

func TestPersistentStatsKey(t *testing.T) {
	checkEqual(t, "key", string(EncodePersistentStatsKey(42, "rocksdb.bytes.read")), "0000000042#rocksdb.bytes.read")
	checkEqual(t, "length", len(EncodePersistentStatsKey(42, strings.Repeat("x", 200))), 99)
	for _, bad := range []string{"", "#", "12#a", "abcdefghij#a", "0000000001", "-000000001#a"} {
		if _, _, ok := parsePersistentStatsKey([]byte(bad)); ok {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

func TestDecodePersistentStatsVersionNumber(t *testing.T) {
	stored := map[string]string{FormatVersionKeyString: "1", CompatibleVersionKeyString: ""}
	get := func(key []byte) ([]byte, error) {
		v, ok := stored[string(key)]
		if !ok {
			return nil, rocksdb.NotFound()
		}
		return []byte(v), nil
	}
	n, err := DecodePersistentStatsVersionNumber(get, FormatVersion)
	if n != StatsCFCurrentFormatVersion || err != nil {
		t.Errorf("version %d, %v", n, err)
	}
	if _, err = DecodePersistentStatsVersionNumber(get, CompatibleVersion); !rocksdb.IsNotFound(err) {
		t.Errorf("an empty version: %v", err)
	}
	stored[FormatVersionKeyString] = "one"
	if _, err = DecodePersistentStatsVersionNumber(get, FormatVersion); !rocksdb.IsCorruption(err) {
		t.Errorf("a bad version: %v", err)
	}
	if _, err = DecodePersistentStatsVersionNumber(get, 3); !errors.Is(err, rocksdb.ErrInvalidArgument) {
		t.Errorf("an unknown version: %v", err)
	}
}
