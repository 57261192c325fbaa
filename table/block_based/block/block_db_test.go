// Port of table/block_based/block_test.cc: the case with a database.

package block_test

import (
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

func TestBlockPerKVChecksumTest_UnsupportedOptionValue(t *testing.T) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.BlockProtectionBytesPerKey = true, 128
	db, err := rocksdb.Open(t.TempDir(), o)
	if !errors.Is(err, rocksdb.ErrNotSupported) {
		t.Errorf("opened with 128 bytes of protection: %v", err)
	}
	if err == nil {
		db.Close()
	}
}
