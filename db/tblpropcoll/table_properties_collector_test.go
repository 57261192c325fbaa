// Port of db/table_properties_collector_test.cc. Differs: block-based tables
// only; collectors that see no entry types do not exist here, so that one kind
// of users' collectors is left.

package tblpropcoll_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	testColumnFamilyID = 66
	testLevel          = 1
)

// startsWithA counts the keys that start with "A", and kinds of entries.
type startsWithA struct {
	message                                          string
	count, puts, deletes, singleDeletes, sizeChanges int
	fileSize                                         uint64
}

func (*startsWithA) Name() string { return "RegularKeysStartWithA" }
func (c *startsWithA) AddUserKey(key, _ []byte, t rocksdb.EntryType, _ rocksdb.SequenceNumber, fileSize uint64) error {
	if key[0] == 'A' {
		c.count++
	}
	switch t {
	case rocksdb.EntryPut:
		c.puts++
	case rocksdb.EntryDelete:
		c.deletes++
	case rocksdb.EntrySingleDelete:
		c.singleDeletes++
	}
	if fileSize < c.fileSize {
		c.message = "the file became smaller"
	} else if fileSize != c.fileSize {
		c.sizeChanges++
	}
	return nil
}
func (*startsWithA) BlockAdd(_, _, _ uint64) {}
func (c *startsWithA) Finish(p rocksdb.UserCollectedProperties) error {
	p["TablePropertiesTest"] = c.message
	p["Count"] = fmt.Sprint(c.count)
	p["Kinds"] = fmt.Sprint(c.puts, c.deletes, c.singleDeletes)
	p["GrowsOften"] = fmt.Sprint(c.sizeChanges >= 2)
	return nil
}
func (*startsWithA) GetReadableProperties() rocksdb.UserCollectedProperties { return nil }
func (*startsWithA) NeedCompact() bool                                      { return false }

// startsWithAInternal is the engine's kind of collector.
type startsWithAInternal struct{ startsWithA }

func (c *startsWithAInternal) InternalAdd(key, _ []byte, _ uint64) error {
	if key[0] == 'A' {
		c.count++
	}
	return nil
}

type startsWithAFactory struct{ t *testing.T }

func (startsWithAFactory) Name() string { return "RegularKeysStartWithA" }
func (f startsWithAFactory) CreateTablePropertiesCollector(ctx rocksdb.TablePropertiesCollectorFactoryContext) rocksdb.TablePropertiesCollector {
	if ctx.ColumnFamilyID != testColumnFamilyID || ctx.LevelAtCreation != testLevel {
		f.t.Errorf("context %+v", ctx)
	}
	return &startsWithA{message: "Rocksdb"}
}

type internalFactory struct{}

func (internalFactory) Name() string { return "RegularKeysStartWithA" }
func (internalFactory) CreateInternalTblPropColl(rocksdb.TablePropertiesCollectorFactoryContext) tblpropcoll.InternalTblPropColl {
	return &startsWithAInternal{startsWithA{message: "Rocksdb"}}
}

type everyThird struct{}

type everyThirdPolicy int

func (everyThird) Name() string { return "FlushBlockEveryThreePolicyFactory" }
func (everyThird) NewFlushBlockPolicy(*rocksdb.BlockBasedTableOptions, rocksdb.DataBlockBuilder) rocksdb.FlushBlockPolicy {
	return new(everyThirdPolicy)
}
func (p *everyThirdPolicy) Update(_, _ []byte) bool {
	*p++
	return *p%3 == 0
}

// writeAndRead writes a table of internal keys and reads its properties.
func writeAndRead(t *testing.T, factories tblpropcoll.InternalTblPropCollFactories, keys []dbformat.InternalKey) *rocksdb.TableProperties {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	bbto := rocksdb.DefaultBlockBasedTableOptions()
	bbto.FlushBlockPolicyFactory = everyThird{}
	io, mo := options.NewImmutableOptions(&db, &cf), options.NewMutableCFOptions(&cf)
	ro, wo, fo := rocksdb.DefaultReadOptions(), rocksdb.DefaultWriteOptions(), rocksdb.DefaultFileOptions()
	o := table.DefaultTableBuilderOptions(&io, &mo, dbformat.NewInternalKeyComparator(util.BytewiseComparator()))
	o.ReadOptions, o.WriteOptions, o.InternalTblPropCollFactories = &ro, &wo, factories
	o.ColumnFamilyID, o.ColumnFamilyName, o.LevelAtCreation = testColumnFamilyID, "test_column_fam", testLevel
	name := filepath.Join(t.TempDir(), "test")
	w, err := file.CreateWritableFileWriter(env.DefaultFileSystem(), name, &fo, nil)
	check(err)
	b, err := blockbased.NewBlockBasedTableFactory(&bbto).NewTableBuilder(&o, w)
	check(err)
	for _, k := range keys {
		check(b.Add(k, []byte("val")))
	}
	check(b.Finish())
	opts := rocksdb.DefaultIOOptions()
	check(w.Close(&opts))
	r, err := file.CreateRandomAccessFileReader(env.DefaultFileSystem(), name, &fo, nil)
	check(err)
	defer r.Close()
	st, err := os.Stat(name)
	check(err)
	p, err := table.ReadTableProperties(r, uint64(st.Size()), format.BlockBasedTableMagicNumber, &io, &ro, nil)
	check(err)
	return p
}

func want(t *testing.T, p *rocksdb.TableProperties, name, value string) {
	t.Helper()
	if got, ok := p.UserCollectedProperties[name]; !ok || got != value {
		t.Errorf("%s: got %q, want %q", name, got, value)
	}
}

func TestTablePropertiesTest_CustomizedTablePropertiesCollector(t *testing.T) {
	var keys []dbformat.InternalKey
	for i, k := range []struct {
		key string
		t   dbformat.ValueType
	}{
		{"About   ", dbformat.TypeValue}, {"Abstract", dbformat.TypeValue}, {"Around  ", dbformat.TypeValue},
		{"Beyond  ", dbformat.TypeValue}, {"Builder ", dbformat.TypeValue}, {"Cancel  ", dbformat.TypeValue},
		{"Find    ", dbformat.TypeValue}, {"Foo     ", dbformat.TypeSingleDeletion},
		{"Love    ", dbformat.TypeDeletion}, {"Rocks   ", dbformat.TypeDeletion},
	} {
		keys = append(keys, dbformat.NewInternalKey([]byte(k.key), uint64(i), k.t))
	}
	p := writeAndRead(t, tblpropcoll.InternalTblPropCollFactories{internalFactory{}}, keys)
	want(t, p, "TablePropertiesTest", "Rocksdb")
	want(t, p, "Count", "3")

	p = writeAndRead(t, tblpropcoll.InternalTblPropCollFactories{
		tblpropcoll.NewUserKeyTablePropertiesCollectorFactory(startsWithAFactory{t})}, keys)
	want(t, p, "TablePropertiesTest", "Rocksdb")
	want(t, p, "Count", "3")
	want(t, p, "Kinds", "7 2 1")
	want(t, p, "GrowsOften", "true")
}

func TestTablePropertiesTest_InternalKeyPropertiesCollector(t *testing.T) {
	types := []dbformat.ValueType{
		dbformat.TypeValue, dbformat.TypeValue, dbformat.TypeValue,
		dbformat.TypeDeletion, dbformat.TypeDeletion, dbformat.TypeDeletion, dbformat.TypeDeletion,
		dbformat.TypeSingleDeletion, dbformat.TypeMerge, dbformat.TypeMerge,
	}
	var keys []dbformat.InternalKey
	for i, typ := range types {
		keys = append(keys, dbformat.NewInternalKey([]byte("ABCWXYZabc")[i:i+1], uint64(i), typ))
	}
	for _, user := range []bool{false, true} {
		var factories tblpropcoll.InternalTblPropCollFactories
		if user {
			factories = append(factories, tblpropcoll.NewUserKeyTablePropertiesCollectorFactory(startsWithAFactory{t}))
		}
		for range 2 {
			p := writeAndRead(t, factories, keys)
			if n := tblpropcoll.GetDeletedKeys(p.UserCollectedProperties); n != 5 {
				t.Errorf("%d deleted keys", n)
			}
			if n, ok := tblpropcoll.GetMergeOperands(p.UserCollectedProperties); !ok || n != 2 {
				t.Errorf("%d merge operands, %t", n, ok)
			}
			if user {
				want(t, p, "Count", "1")
				want(t, p, "Kinds", "3 4 1")
			}
		}
	}
}

func TestTimestampTablePropertiesCollector(t *testing.T) {
	cmp := util.BytewiseComparatorWithU64Ts()
	c := tblpropcoll.NewTimestampTablePropertiesCollectorFactory(cmp).CreateInternalTblPropColl(rocksdb.TablePropertiesCollectorFactoryContext{})
	ts := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	for _, n := range []uint64{300, 7, 1000, 256} {
		if err := c.InternalAdd(dbformat.NewInternalKey([]byte("key"+ts(n)), 1, dbformat.TypeValue), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	p := rocksdb.TableProperties{UserCollectedProperties: rocksdb.UserCollectedProperties{}}
	if err := c.Finish(p.UserCollectedProperties); err != nil {
		t.Fatal(err)
	}
	want(t, &p, tblpropcoll.TimestampMinProperty, ts(7))
	want(t, &p, tblpropcoll.TimestampMaxProperty, ts(1000))
}
