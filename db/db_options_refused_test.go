// No upstream twin: no option is taken and then ignored. What the engine does not
// act on is refused by name.

package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable"
	"github.com/rocksdb-go/rocksdb/table/block_based"
)

func wantRefused(t *testing.T, option string, err error) {
	t.Helper()
	if !errors.Is(err, rocksdb.ErrNotSupported) || !strings.Contains(err.Error(), option) {
		t.Errorf("%s: %v", option, err)
	}
}

func TestDBOptionsRefused_Open(t *testing.T) {
	for option, set := range map[string]func(o *rocksdb.Options){
		"read_io_executor_threads": func(o *rocksdb.Options) { o.ReadIOExecutorThreads = 2 },
	} {
		o := rocksdb.DefaultOptions()
		o.CreateIfMissing = true
		set(&o)
		d, err := rocksdb.Open(t.TempDir(), o)
		wantRefused(t, option, err)
		if err == nil {
			d.Close()
		}
	}
}

// Options of a column family are refused by Open as by CreateColumnFamily.
func TestDBOptionsRefused_ColumnFamily(t *testing.T) {
	open := func(o rocksdb.Options) (*rocksdb.DB, error) {
		o.CreateIfMissing = true
		o.AllowConcurrentMemtableWrite = false
		return rocksdb.Open(t.TempDir(), o)
	}
	good, err := open(rocksdb.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer good.Close()
	for option, set := range map[string]func(o *rocksdb.ColumnFamilyOptions){
		"enable_blob_direct_write": func(o *rocksdb.ColumnFamilyOptions) { o.EnableBlobFiles, o.EnableBlobDirectWrite = true, true },
		"paranoid_memory_checks": func(o *rocksdb.ColumnFamilyOptions) {
			o.ParanoidMemoryChecks, o.MemtableFactory = true, memtable.NewVectorRepFactory(0)
		},
		"memtable_verify_per_key_checksum_on_seek": func(o *rocksdb.ColumnFamilyOptions) {
			o.MemtableVerifyPerKeyChecksumOnSeek, o.MemtableFactory = true, memtable.NewVectorRepFactory(0)
		},
		"persistent_cache": func(o *rocksdb.ColumnFamilyOptions) {
			bo := rocksdb.DefaultBlockBasedTableOptions()
			bo.PersistentCache = noCache{}
			o.TableFactory = blockbased.NewBlockBasedTableFactory(&bo)
		},
	} {
		o := rocksdb.DefaultOptions()
		set(&o.ColumnFamilyOptions)
		d, err := open(o)
		wantRefused(t, option, err)
		if err == nil {
			d.Close()
		}
		_, err = good.CreateColumnFamily(o.ColumnFamilyOptions, "other "+option)
		wantRefused(t, option, err)
	}
}

type noCache struct{ rocksdb.PersistentCache }
