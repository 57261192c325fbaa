// Port of db/manual_compaction_test.cc.

package db_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// valueFilter removes the values that it is told to, and keeps of each key the
// level of the last compaction that showed it.
type valueFilter struct {
	remove string
	levels map[string]int
}

func (*valueFilter) Name() string          { return "ValueFilter" }
func (*valueFilter) IgnoreSnapshots() bool { return true }

func (f *valueFilter) FilterV3(level int, key []byte, _ rocksdb.CompactionFilterValueType, existing []byte) (d rocksdb.CompactionFilterDecision, _, _ []byte) {
	if f.levels != nil {
		f.levels[string(key)] = level
	}
	if f.remove != "" && string(existing) == f.remove {
		return rocksdb.FilterRemove, nil, nil
	}
	return rocksdb.FilterKeep, nil, nil
}

func TestManualCompactionTest_CompactTouchesAllKeys(t *testing.T) {
	for _, style := range []rocksdb.CompactionStyle{rocksdb.CompactionStyleLevel, rocksdb.CompactionStyleUniversal} {
		x := newDBTest(t)
		o := x.plainOptions()
		if o.CompactionStyle = style; style == rocksdb.CompactionStyleLevel {
			o.NumLevels = 3
		}
		o.Compression, o.CompactionFilter = rocksdb.NoCompression, &valueFilter{remove: "destroy"}
		x.destroyAndReopen(o)
		x.puts(0, "key1", "destroy", "key2", "destroy", "key3", "value3", "key4", "destroy")
		x.compact(0, "", "key4")
		x.iter(0).walk("first", "=key3", "next", "(invalid)")
		x.close()
	}
}

func TestManualCompactionTest_Test(t *testing.T) {
	const n = 1100
	x := newDBTest(t)
	o := x.plainOptions()
	o.WriteBufferSize, o.Compression = 1024, rocksdb.NoCompression
	x.destroyAndReopen(o)
	name := func(i int, end string) []byte { return fmt.Appendf(nil, "my_key_%d%s", i, end) }
	write := func(f func(b *rocksdb.WriteBatch, i int) error) {
		b := rocksdb.NewWriteBatch()
		for i := range n {
			x.must(f(b, i))
		}
		x.must(x.db.Write(nil, b))
	}
	write(func(b *rocksdb.WriteBatch, i int) error { return b.Put(name(i, ""), []byte("value for range 1 key")) })
	write(func(b *rocksdb.WriteBatch, i int) error {
		return b.Put(name(i, "_xxx"), []byte("value for range 2 key"))
	})
	write(func(b *rocksdb.WriteBatch, i int) error { return b.Delete(name(i, "_xxx")) })
	x.must(x.db.CompactRange(nil, name(0, ""), name(n-1, "")))
	same(t, "keys", x.iter(0).count(false), n)
}

func TestManualCompactionTest_SkipLevel(t *testing.T) {
	x := newDBTest(t)
	o := x.plainOptions()
	f := &valueFilter{}
	o.LevelCompactionDynamicLevelBytes, o.NumLevels, o.Level0FileNumCompactionTrigger = false, 3, 100
	o.Compression, o.CompactionFilter = rocksdb.NoCompression, f
	x.destroyAndReopen(o)
	x.puts(0, "1", "", "flush", "2", "", "flush", "4", "", "8", "", "flush")
	for _, c := range []struct {
		begin, end string
		want       map[string]int // keys compacted, and from which level
	}{
		{"5", "7", nil}, // level 0: 1, 2, [4, 8]
		{"3", "7", map[string]int{"4": 0, "8": 0}},
		{"", "0", nil}, // level 0: 1, 2; level 1: [4, 8]
		{"9", "", nil},
		{"2", "2", map[string]int{"2": 0}},
		{"2", "5", map[string]int{"2": 1, "4": 1, "8": 1}}, // level 0: 1; level 1: 2, [4, 8]
		{"0", "", map[string]int{"1": 0, "2": 1, "4": 1, "8": 1}},
	} {
		f.levels = map[string]int{}
		x.compact(0, c.begin, c.end)
		same(t, fmt.Sprintf("%q to %q", c.begin, c.end), fmt.Sprint(f.levels), fmt.Sprint(c.want))
	}
}
