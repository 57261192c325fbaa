// No upstream twin: examples of column families, merge operators, compaction
// filters, comparators and transforms.

package rocksdb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb"
)

func ExampleOpenColumnFamilies() {
	dir, done := tempDir()
	defer done()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.CreateMissingColumnFamilies = true, true
	db, cfs, err := rocksdb.OpenColumnFamilies(dir, o.DBOptions, []rocksdb.ColumnFamilyDescriptor{
		{Name: rocksdb.DefaultColumnFamilyName, Options: o.ColumnFamilyOptions},
		{Name: "users", Options: o.ColumnFamilyOptions},
	})
	check(err)
	users := cfs[1]
	check(users.Put(nil, []byte("k"), []byte("of users"))) // a family has the calls of a database

	b := rocksdb.NewWriteBatch() // a batch over families is atomic
	check(b.Put([]byte("k"), []byte("of default")))
	check(b.PutCF(users, []byte("l"), []byte("more")))
	check(db.Write(nil, b))
	fmt.Println(get(db.ColumnFamily, "k"), "/", get(users, "k"), "/", get(users, "l"))
	check(db.Close()) // closes the families, too

	names, err := rocksdb.ListColumnFamilies(o.DBOptions, dir)
	check(err)
	fmt.Println(names)
	// Output:
	// of default / of users / more
	// [default users]
}

func ExampleDB_CreateColumnFamily() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	o := rocksdb.DefaultColumnFamilyOptions()
	o.Compression = rocksdb.ZSTD
	cf, err := db.CreateColumnFamily(o, "events")
	check(err)
	fmt.Println(cf.GetName(), cf.GetID())
	check(db.DropColumnFamily(cf))
	check(cf.Close()) // its data goes with the last handle
	// Output: events 1
}

func ExampleDB_NewIterators() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	cf, err := db.CreateColumnFamily(rocksdb.DefaultColumnFamilyOptions(), "other")
	check(err)
	check(db.Put(nil, []byte("a"), []byte("1")))
	check(cf.Put(nil, []byte("b"), []byte("2")))
	its, err := db.NewIterators(nil, []*rocksdb.ColumnFamily{db.ColumnFamily, cf}) // at one state
	check(err)
	for _, it := range its {
		for k, v := range it.All() {
			fmt.Printf("%s=%s ", k, v)
		}
		check(it.Close())
	}
	fmt.Println()
	// Output: a=1 b=2
}

func ExampleNewUInt64AddOperator() {
	o := rocksdb.DefaultOptions()
	o.MergeOperator = rocksdb.NewUInt64AddOperator()
	db, done := openTemp(o)
	defer done()
	for n := range uint64(4) {
		check(db.Merge(nil, []byte("sum"), binary.LittleEndian.AppendUint64(nil, n)))
	}
	v, err := db.Get(nil, []byte("sum"))
	check(err)
	fmt.Println(binary.LittleEndian.Uint64(v.Data()))
	v.Release()
	// Output: 6
}

func ExampleNewStringAppendOperator() {
	o := rocksdb.DefaultOptions()
	o.MergeOperator = rocksdb.NewStringAppendOperator(",")
	db, done := openTemp(o)
	defer done()
	check(db.Merge(nil, []byte("k"), []byte("a")))
	check(db.Merge(nil, []byte("k"), []byte("b")))
	fmt.Println(get(db.ColumnFamily, "k"))
	// Output: a,b
}

// longest keeps the longest of the values: values and operands have one format.
type longest struct{}

func (longest) Name() string { return "example.longest" }

func (longest) Merge(key, existing, value, dst []byte, _ rocksdb.Logger) ([]byte, bool) {
	if len(existing) > len(value) {
		value = existing
	}
	return append(dst, value...), true
}

func ExampleNewAssociativeMergeOperator() {
	o := rocksdb.DefaultOptions()
	o.MergeOperator = rocksdb.NewAssociativeMergeOperator(longest{})
	db, done := openTemp(o)
	defer done()
	for _, v := range []string{"bb", "dddd", "ccc"} {
		check(db.Merge(nil, []byte("k"), []byte(v)))
	}
	fmt.Println(get(db.ColumnFamily, "k"))
	// Output: dddd
}

// setOperator keeps a sorted set: operands are "+x" and "-x", the value is
// "x,y".
type setOperator struct{ rocksdb.MergeOperatorBase }

func (setOperator) Name() string { return "example.set" }

func (setOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	set := map[string]bool{}
	if len(in.ExistingValue) > 0 {
		for word := range strings.SplitSeq(string(in.ExistingValue), ",") {
			set[word] = true
		}
	}
	for _, operand := range in.Operands { // oldest first
		if len(operand) == 0 {
			return false // a corruption for the reader
		}
		set[string(operand[1:])] = operand[0] == '+'
	}
	var words []string
	for word, there := range set {
		if there {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	out.NewValue = append(out.NewValue[:0], strings.Join(words, ",")...)
	return true
}

func ExampleMergeOperator() {
	o := rocksdb.DefaultOptions()
	o.MergeOperator = setOperator{}
	db, done := openTemp(o)
	defer done()
	check(db.Put(nil, []byte("tags"), []byte("b,c")))
	check(db.Merge(nil, []byte("tags"), []byte("+a")))
	check(db.Merge(nil, []byte("tags"), []byte("-c")))
	fmt.Println(get(db.ColumnFamily, "tags"))
	// Output: a,b
}

// dropTemp removes the keys that begin with "tmp".
type dropTemp struct{}

func (dropTemp) Name() string          { return "example.dropTemp" }
func (dropTemp) IgnoreSnapshots() bool { return true }

func (dropTemp) FilterV3(level int, key []byte, vt rocksdb.CompactionFilterValueType, value []byte) (rocksdb.CompactionFilterDecision, []byte, []byte) {
	switch {
	case bytes.HasPrefix(key, []byte("tmp")):
		return rocksdb.FilterRemove, nil, nil
	case vt == rocksdb.CompactionFilterValue && len(value) > 3:
		return rocksdb.FilterChangeValue, value[:3], nil
	}
	return rocksdb.FilterKeep, nil, nil
}

func ExampleCompactionFilter() {
	o := rocksdb.DefaultOptions()
	o.CompactionFilter = dropTemp{}
	db, done := openTemp(o)
	defer done()
	check(db.Put(nil, []byte("tmp1"), []byte("x")))
	check(db.Put(nil, []byte("kept"), []byte("abcdef")))
	check(db.CompactRange(nil, nil, nil)) // flushes first
	fmt.Println(get(db.ColumnFamily, "tmp1"), get(db.ColumnFamily, "kept"))
	// Output: (none) abc
}

// byLength orders keys by length, then by bytes.
type byLength struct{ rocksdb.ComparatorBase }

func newByLength() *byLength {
	c := &byLength{}
	c.Self = c
	return c
}

func (*byLength) Name() string { return "example.byLength" }

func (*byLength) Compare(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

func ExampleComparator() {
	o := rocksdb.DefaultOptions()
	o.Comparator = newByLength() // part of the data: a database opens with no other
	db, done := openTemp(o)
	defer done()
	fill(db, "ccc", "a", "bb", "b")
	it := db.NewIterator(nil)
	defer it.Close()
	for k := range it.All() {
		fmt.Printf("%s ", k)
	}
	check(it.Err())
	fmt.Println()
	// Output: a b bb ccc
}

func ExampleReverseBytewiseComparator() {
	o := rocksdb.DefaultOptions()
	o.Comparator = rocksdb.ReverseBytewiseComparator()
	db, done := openTemp(o)
	defer done()
	fill(db, "a", "b", "c")
	it := db.NewIterator(nil)
	defer it.Close()
	for k := range it.All() {
		fmt.Printf("%s ", k)
	}
	check(it.Err())
	fmt.Println()
	// Output: c b a
}

// upToColon takes what is before the first colon as a key's prefix.
type upToColon struct{}

func (upToColon) Name() string                         { return "example.upToColon" }
func (upToColon) AsString() string                     { return "example.upToColon" }
func (upToColon) Transform(key []byte) []byte          { return key[:bytes.IndexByte(key, ':')+1] }
func (upToColon) InDomain(key []byte) bool             { return bytes.IndexByte(key, ':') >= 0 }
func (upToColon) FullLengthEnabled() (int, bool)       { return 0, false }
func (upToColon) SameResultWhenAppended(p []byte) bool { return bytes.IndexByte(p, ':') >= 0 }

func ExampleSliceTransform() {
	o := rocksdb.DefaultOptions()
	o.PrefixExtractor = upToColon{} // NewFixedPrefixTransform and NewCappedPrefixTransform are built in
	db, done := openTemp(o)
	defer done()
	fill(db, "user:1", "user:2", "visit:1")
	ro := rocksdb.DefaultReadOptions()
	ro.PrefixSameAsStart = true
	it := db.NewIterator(&ro)
	defer it.Close()
	for it.Seek([]byte("user:")); it.Valid(); it.Next() {
		fmt.Printf("%s ", it.Key())
	}
	check(it.Status())
	fmt.Println()
	// Output: user:1 user:2
}
