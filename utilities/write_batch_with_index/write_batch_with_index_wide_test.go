// Port of utilities/write_batch_with_index/write_batch_with_index_test.cc:
// entities.

package writebatchwithindex_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// wideCase is a key and the text of its columns, "" where it is not found.
type wideCase struct{ key, columns, value string }

// checkWide looks cases, in order of keys, up by all calls.
func (x *wbwiTest) checkWide(cases []wideCase) {
	x.Helper()
	var keys [][]byte
	var texts []string
	for _, c := range cases {
		keys, texts = append(keys, []byte(c.key)), append(texts, c.key)
	}
	want := func(c wideCase, s string) string {
		if c.columns == "" {
			return notFound
		}
		return s
	}
	for i, got := range x.multiGet(x.cf(), texts) {
		x.expect("MultiGet "+cases[i].key, got, want(cases[i], cases[i].value))
	}
	results, errs := make([]rocksdb.PinnableWideColumns, len(keys)), make([]error, len(keys))
	x.batch.MultiGetEntityFromBatchAndDB(x.db, &x.ro, x.cf(), keys, results, errs)
	for i, c := range cases {
		x.expectBoth(c.key, want(c, c.value))
		x.expect("MultiGetEntity "+c.key, outcome([]byte(columnsText(results[i].Columns())), errs[i]), want(c, c.columns))
		results[i].Reset()
		err := x.batch.GetEntityFromBatchAndDB(x.db, &x.ro, x.cf(), keys[i], &results[i])
		x.expect("GetEntity "+c.key, outcome([]byte(columnsText(results[i].Columns())), err), want(c, c.columns))
		results[i].Reset()
	}

	it := x.batch.NewIteratorWithBase(x.cf(), x.db.NewIterator(&x.ro), &x.ro)
	defer func() { x.must(it.Close()) }()
	check := func(c wideCase) bool {
		x.Helper()
		if c.columns == "" {
			return false
		}
		x.expect("iterator", keyed(it), c.key+"="+c.value)
		x.expect("iterator's columns", columnsText(it.Columns()), c.columns)
		return true
	}
	it.SeekToFirst()
	for i := range cases {
		if check(cases[i]) {
			it.Next()
		}
	}
	x.expect("the end", keyed(it), "-")
	it.SeekToLast()
	for i := range cases {
		if check(cases[len(cases)-1-i]) {
			it.Prev()
		}
	}
	x.expect("the beginning", keyed(it), "-")
}

func TestWriteBatchWithIndexTest_WideColumnsBatchOnly(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		cases := []wideCase{
			{"d", "", ""}, {"dm", ":dm1", "dm1"}, {"e", ":e0 e:0", "e0"}, {"em", ":em0,em1 em:0", "em0,em1"},
			{"p", ":p0", "p0"}, {"pm", ":pm0,pm1", "pm0,pm1"},
		}
		for _, c := range cases {
			x.add(x.cf(), c.key)
		}
		x.checkWide(cases)
	})
}

func TestWriteBatchWithIndexTest_WideColumnsBatchAndDB(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		x.dbDo("put ma mao", "del mc", "put na nao", "del nc")
		x.must(x.db.PutEntity(nil, []byte("mb"), columns("", "mbo", "mb", "o")))
		x.must(x.db.PutEntity(nil, []byte("nb"), columns("", "nbo", "nb", "o")))
		for _, k := range []string{"ma", "mb", "mc"} {
			x.add(x.cf(), k)
		}
		x.checkWide([]wideCase{
			{"ma", ":mao,ma0", "mao,ma0"}, {"mb", ":mbo,mb0 mb:o", "mbo,mb0"}, {"mc", ":mc0", "mc0"},
			{"na", ":nao", "nao"}, {"nb", ":nbo nb:o", "nbo"}, {"nc", "", ""},
		})
	})
}

func TestWriteBatchWithIndexTest_GetEntityFromBatch(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		get := func(key string) string {
			var c rocksdb.PinnableWideColumns
			defer c.Reset()
			err := x.batch.GetEntityFromBatch(x.cf(), []byte(key), &c)
			return outcome([]byte(columnsText(c.Columns())), err)
		}
		x.expect("nothing", get("a"), notFound)
		x.do(nil, "merge b bv1", "merge b bv2", "put c cv", "put e ev0", "merge e ev1", "merge e ev2", "del g", "del h", "merge h hv1", "merge h hv2")
		x.must(x.batch.PutEntityCF(x.cf(), []byte("d"), columns("", "d0v", "1", "d1v", "2", "d2v")))
		x.must(x.batch.PutEntityCF(x.cf(), []byte("f"), columns("", "f0v0", "1", "f1v", "2", "f2v")))
		x.do(nil, "merge f f0v1", "merge f f0v2")
		for _, s := range [][2]string{
			{"b", mergeInProgress}, {"c", ":cv"}, {"d", ":d0v 1:d1v 2:d2v"}, {"e", ":ev0,ev1,ev2"},
			{"f", ":f0v0,f0v1,f0v2 1:f1v 2:f2v"}, {"g", notFound}, {"h", ":hv1,hv2"},
		} {
			x.expect(s[0], get(s[0]), s[1])
		}
		var c rocksdb.PinnableWideColumns
		for _, err := range []error{x.batch.GetEntityFromBatch(nil, []byte("foo"), &c), x.batch.GetEntityFromBatch(x.cf(), []byte("foo"), nil)} {
			if !isCode(err, rocksdb.ErrInvalidArgument) {
				t.Error(err)
			}
		}
	})
}

func TestWriteBatchWithIndexTest_EntityReadSanityChecks(t *testing.T) {
	eachMode(t, func(x *wbwiTest) {
		x.open()
		ro := func(a rocksdb.IOActivity) *rocksdb.ReadOptions {
			o := rocksdb.DefaultReadOptions()
			o.IOActivity = a
			return &o
		}
		var c rocksdb.PinnableWideColumns
		foo := []byte("foo")
		for i, err := range []error{
			x.batch.GetEntityFromBatchAndDB(nil, nil, x.cf(), foo, &c),
			x.batch.GetEntityFromBatchAndDB(x.db, nil, nil, foo, &c),
			x.batch.GetEntityFromBatchAndDB(x.db, nil, x.cf(), foo, nil),
			x.batch.GetEntityFromBatchAndDB(x.db, ro(rocksdb.IOActivityGet), x.cf(), foo, &c),
		} {
			if !isCode(err, rocksdb.ErrInvalidArgument) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		keys := [][]byte{foo, []byte("bar")}
		for i, call := range []func(results []rocksdb.PinnableWideColumns, errs []error){
			func(r []rocksdb.PinnableWideColumns, errs []error) {
				x.batch.MultiGetEntityFromBatchAndDB(nil, nil, x.cf(), keys, r, errs)
			},
			func(r []rocksdb.PinnableWideColumns, errs []error) {
				x.batch.MultiGetEntityFromBatchAndDB(x.db, nil, nil, keys, r, errs)
			},
			func(r []rocksdb.PinnableWideColumns, errs []error) {
				x.batch.MultiGetEntityFromBatchAndDB(x.db, nil, x.cf(), nil, r, errs)
			},
			func(_ []rocksdb.PinnableWideColumns, errs []error) {
				x.batch.MultiGetEntityFromBatchAndDB(x.db, nil, x.cf(), keys, nil, errs)
			},
			func(r []rocksdb.PinnableWideColumns, errs []error) {
				x.batch.MultiGetEntityFromBatchAndDB(x.db, ro(rocksdb.IOActivityMultiGet), x.cf(), keys, r, errs)
			},
		} {
			errs := make([]error, len(keys))
			call(make([]rocksdb.PinnableWideColumns, len(keys)), errs)
			for _, err := range errs {
				if !isCode(err, rocksdb.ErrInvalidArgument) {
					t.Errorf("call %d of several: %v", i, err)
				}
			}
		}
	})
}
