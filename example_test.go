// No upstream twin: examples of the calls that every program needs.

package rocksdb_test

import (
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/rocksdb-go/rocksdb"
)

// check ends an example that went wrong.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// tempDir makes a directory that done removes.
func tempDir() (dir string, done func()) {
	dir, err := os.MkdirTemp("", "example")
	check(err)
	return dir, func() { check(os.RemoveAll(dir)) }
}

// openTemp opens a new database that done closes and removes.
func openTemp(o rocksdb.Options) (db *rocksdb.DB, done func()) {
	dir, remove := tempDir()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	check(err)
	return db, func() { check(db.Close()); remove() }
}

// get reads a value as text.
func get(c *rocksdb.ColumnFamily, key string) string {
	v, err := c.Get(nil, []byte(key))
	if errors.Is(err, rocksdb.ErrNotFound) {
		return "(none)"
	}
	check(err)
	defer v.Release()
	return string(v.Data())
}

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	if err := db.Put(nil, []byte("planet"), []byte("earth")); err != nil {
		log.Fatal(err)
	}
	v, err := db.Get(nil, []byte("planet"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", v.Data())
	v.Release()

	if err := db.Delete(nil, []byte("planet")); err != nil {
		log.Fatal(err)
	}
	_, err = db.Get(nil, []byte("planet"))
	fmt.Println(errors.Is(err, rocksdb.ErrNotFound))
	// Output:
	// earth
	// true
}

func ExampleOpen_errors() {
	_, err := rocksdb.Open("/no/such/place", rocksdb.DefaultOptions())
	fmt.Println(err != nil)

	dir, done := tempDir()
	defer done()
	_, err = rocksdb.Open(dir, rocksdb.DefaultOptions()) // without CreateIfMissing
	fmt.Println(errors.Is(err, rocksdb.ErrInvalidArgument))

	var status *rocksdb.Status
	if errors.As(err, &status) {
		fmt.Println(status.Code == rocksdb.CodeInvalidArgument, status.Severity == rocksdb.SeverityNoError)
	}
	// Output:
	// true
	// true
	// true true
}

func ExampleColumnFamily_GetInto() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.Put(nil, []byte("a"), []byte("1")))
	check(db.Put(nil, []byte("b"), []byte("2")))

	var v rocksdb.PinnableSlice // used again for each key: nothing is allocated
	defer v.Release()
	for _, key := range []string{"a", "b"} {
		check(db.GetInto(nil, []byte(key), &v))
		fmt.Printf("%s %d\n", v.Data(), v.Size())
	}
	// Output:
	// 1 1
	// 2 1
}

func ExampleColumnFamily_MultiGet() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.Put(nil, []byte("a"), []byte("1")))
	check(db.Put(nil, []byte("c"), []byte("3")))

	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	values := make([]rocksdb.PinnableSlice, len(keys))
	errs := make([]error, len(keys))
	ro := rocksdb.DefaultReadOptions()
	ro.AsyncIO = true // tables of one level are read at the same time
	db.MultiGet(&ro, keys, values, errs)
	for i := range keys {
		if errs[i] != nil {
			fmt.Printf("%s: %v\n", keys[i], rocksdb.IsNotFound(errs[i]))
			continue
		}
		fmt.Printf("%s: %s\n", keys[i], values[i].Data())
		values[i].Release()
	}
	// Output:
	// a: 1
	// b: true
	// c: 3
}

func ExampleColumnFamily_DeleteRange() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	for _, k := range []string{"a", "b", "c", "d"} {
		check(db.Put(nil, []byte(k), []byte("value")))
	}
	check(db.DeleteRange(nil, []byte("b"), []byte("d"))) // the end stays
	for _, k := range []string{"a", "b", "c", "d"} {
		fmt.Println(k, get(db.ColumnFamily, k))
	}
	// Output:
	// a value
	// b (none)
	// c (none)
	// d value
}

func ExampleColumnFamily_SingleDelete() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.Put(nil, []byte("once"), []byte("1"))) // written once, never overwritten
	check(db.SingleDelete(nil, []byte("once")))
	fmt.Println(get(db.ColumnFamily, "once"))
	// Output: (none)
}

func ExampleWriteOptions() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	wo := rocksdb.DefaultWriteOptions()
	wo.Sync = true // survives a crash of the machine
	check(db.Put(&wo, []byte("k"), []byte("v")))
	fmt.Println(get(db.ColumnFamily, "k"))
	// Output: v
}

func ExampleWriteBatch() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.Put(nil, []byte("old"), []byte("1")))

	b := rocksdb.NewWriteBatch()
	check(b.Put([]byte("new"), []byte("2")))
	check(b.Delete([]byte("old")))
	fmt.Println(b.Count())
	check(db.Write(nil, b)) // both or none
	fmt.Println(get(db.ColumnFamily, "old"), get(db.ColumnFamily, "new"))

	b.Clear() // and again
	check(b.DeleteRange([]byte("a"), []byte("z")))
	check(db.Write(nil, b))
	fmt.Println(get(db.ColumnFamily, "new"))
	// Output:
	// 2
	// (none) 2
	// (none)
}

func ExampleWriteBatch_savePoint() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	b := rocksdb.NewWriteBatch()
	check(b.Put([]byte("a"), []byte("1")))
	b.SetSavePoint()
	check(b.Put([]byte("b"), []byte("2")))
	b.SetSavePoint()
	check(b.Put([]byte("c"), []byte("3")))
	check(b.PopSavePoint())        // forgets the inner save point, keeps c
	check(b.RollbackToSavePoint()) // takes b and c back
	check(db.Write(nil, b))
	fmt.Println(get(db.ColumnFamily, "a"), get(db.ColumnFamily, "b"), get(db.ColumnFamily, "c"))
	// Output: 1 (none) (none)
}

// printer lists what is in a batch.
type printer struct{ rocksdb.WriteBatchHandlerBase }

func (printer) PutCF(family uint32, key, value []byte) error {
	fmt.Printf("put %s=%s\n", key, value)
	return nil
}

func (printer) DeleteCF(family uint32, key []byte) error {
	fmt.Printf("delete %s\n", key)
	return nil
}

func ExampleWriteBatchHandler() {
	b := rocksdb.NewWriteBatch()
	check(b.Put([]byte("a"), []byte("1")))
	check(b.Delete([]byte("b")))
	check(b.Iterate(printer{}))
	// Output:
	// put a=1
	// delete b
}

// fill puts <k> under each key k.
func fill(db *rocksdb.DB, keys ...string) {
	for _, k := range keys {
		check(db.Put(nil, []byte(k), fmt.Appendf(nil, "<%s>", k)))
	}
}

func ExampleIterator() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b", "c")

	it := db.NewIterator(nil)
	defer it.Close()
	for k, v := range it.All() {
		fmt.Printf("%s %s\n", k, v) // both are the engine's; copy what is kept
	}
	check(it.Err())

	it.Seek([]byte("bb"))
	fmt.Println(it.Valid(), string(it.Key()))
	it.SeekForPrev([]byte("bb"))
	fmt.Println(it.Valid(), string(it.Key()))
	// Output:
	// a <a>
	// b <b>
	// c <c>
	// true c
	// true b
}

func ExampleIterator_Backward() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b", "c", "d")
	it := db.NewIterator(nil)
	defer it.Close()
	it.SeekForPrev([]byte("c"))
	for k := range it.Backward() {
		fmt.Printf("%s ", k)
	}
	check(it.Err())
	fmt.Println()
	// Output: c b a
}

func ExampleReadOptions_bounds() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b", "c", "d")
	ro := rocksdb.DefaultReadOptions()
	ro.IterateLowerBound, ro.IterateUpperBound = []byte("b"), []byte("d")
	it := db.NewIterator(&ro) // copies the bounds
	defer it.Close()
	for k := range it.All() {
		fmt.Printf("%s ", k)
	}
	check(it.Err())
	fmt.Println()
	// Output: b c
}

func ExampleReadOptions_prefix() {
	o := rocksdb.DefaultOptions()
	o.PrefixExtractor = rocksdb.NewFixedPrefixTransform(2)
	db, done := openTemp(o)
	defer done()
	fill(db, "aa1", "aa2", "ab1")

	ro := rocksdb.DefaultReadOptions()
	ro.PrefixSameAsStart = true
	it := db.NewIterator(&ro)
	defer it.Close()
	for it.Seek([]byte("aa")); it.Valid(); it.Next() {
		fmt.Printf("%s ", it.Key())
	}
	check(it.Status())
	fmt.Println()
	// Output: aa1 aa2
}

func ExampleReadOptions_tailing() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a")
	ro := rocksdb.DefaultReadOptions()
	ro.Tailing = true
	it := db.NewIterator(&ro)
	defer it.Close()
	it.SeekToFirst()
	fmt.Printf("%s\n", it.Key())
	fill(db, "b") // a tailing iterator sees it
	it.Seek([]byte("b"))
	fmt.Println(it.Valid(), string(it.Key()))
	// Output:
	// a
	// true b
}

func ExampleDB_GetSnapshot() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.Put(nil, []byte("k"), []byte("before")))
	snapshot := db.GetSnapshot()
	check(db.Put(nil, []byte("k"), []byte("after")))

	ro := rocksdb.DefaultReadOptions()
	ro.Snapshot = snapshot
	v, err := db.Get(&ro, []byte("k"))
	check(err)
	fmt.Printf("%s %s\n", v.Data(), get(db.ColumnFamily, "k"))
	v.Release()
	check(db.ReleaseSnapshot(snapshot)) // Close fails while one is out
	// Output: before after
}

func ExampleColumnFamily_NewMultiScan() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	fill(db, "a", "b", "c", "d", "e")
	args := rocksdb.DefaultMultiScanArgs(rocksdb.BytewiseComparator())
	args.UseAsyncIO = true
	args.Insert([]byte("a"), []byte("c"))
	args.Insert([]byte("d"), []byte("z"))
	scan := db.NewMultiScan(nil, &args)
	defer scan.Close()
	for entries := range scan.Scans() {
		for k := range entries {
			fmt.Printf("%s ", k)
		}
		fmt.Println("end of range")
	}
	check(scan.Err())
	// Output:
	// a b end of range
	// d e end of range
}

func ExampleDB_Close() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	it := db.NewIterator(nil)
	fmt.Println(db.Close() != nil) // an iterator is open; so the database stays
	check(it.Close())
	fmt.Println(get(db.ColumnFamily, "k"))
	// Output:
	// true
	// (none)
}
