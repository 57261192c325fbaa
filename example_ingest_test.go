// No upstream twin: examples of the package's documentation.

package rocksdb_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rocksdb-go/rocksdb"
)

// A table file is written outside of any database and ingested into one.
func ExampleSstFileWriter() {
	dir, err := os.MkdirTemp("", "ingest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true

	file := filepath.Join(dir, "fruit.sst")
	w := rocksdb.NewSstFileWriter(o, nil)
	defer w.Close()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(w.Open(file, rocksdb.TemperatureUnknown))
	check(w.Put([]byte("apple"), []byte("red")))
	check(w.Put([]byte("banana"), []byte("yellow")))
	check(w.Finish(nil))

	db, err := rocksdb.Open(filepath.Join(dir, "db"), o)
	check(err)
	defer db.Close()
	check(db.Put(nil, []byte("apple"), []byte("green")))
	how := rocksdb.DefaultIngestExternalFileOptions()
	how.MoveFiles = true
	check(db.IngestExternalFile([]string{file}, &how))
	it := db.NewIterator(nil)
	defer it.Close()
	for k, v := range it.All() {
		fmt.Printf("%s: %s\n", k, v)
	}
	// Output:
	// apple: red
	// banana: yellow
}

func ExampleWriteBatchWithIndex() {
	db, done := openTemp(rocksdb.DefaultOptions())
	defer done()
	check(db.Put(nil, []byte("a"), []byte("stored")))
	check(db.Put(nil, []byte("b"), []byte("stored")))

	b, err := rocksdb.NewWriteBatchWithIndex(rocksdb.WriteBatchWithIndexOptions{OverwriteKey: true})
	check(err)
	check(b.Delete([]byte("a")))
	check(b.Put([]byte("c"), []byte("pending")))
	it := b.NewIteratorWithBase(db.ColumnFamily, db.NewIterator(nil), nil)
	for k, v := range it.All() { // what the database will be
		fmt.Printf("%s=%s\n", k, v)
	}
	check(it.Close())

	check(db.Write(nil, b.GetWriteBatch()))
	fmt.Println(get(db.ColumnFamily, "c"))
	// Output:
	// b=stored
	// c=pending
	// pending
}
