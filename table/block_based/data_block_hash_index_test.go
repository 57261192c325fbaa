// Port of table/block_based/data_block_hash_index_test.cc: the case that needs a
// table.

package blockbased_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
)

func TestDataBlockHashIndex_BlockBoundary(t *testing.T) {
	v1, v2 := strings.Repeat("1", 4100), strings.Repeat("2", 4100) // each fills a block
	for _, c := range []struct {
		key1  string
		seek  uint64
		state table.GetState
		value string
	}{
		{"aab", 60, table.GetFound, v2},
		{"axy", 60, table.GetFound, v2},
		{"axy", 120, table.GetFound, v1},
		{"axy", 5, table.GetNotFound, ""},
	} {
		s := newSpec()
		s.bbto.DataBlockIndexType, s.bbto.BlockRestartInterval, s.bbto.BlockSize = rocksdb.DataBlockBinaryAndHash, 1, 4096
		name := filepath.Join(t.TempDir(), "000007.sst")
		s.write(t, name, []entry{
			{ikey(c.key1, 100, dbformat.TypeValue), []byte(v1)}, {ikey("axy", 10, dbformat.TypeValue), []byte(v2)},
		}, nil)
		tr := s.open(t, name)
		if n := tr.GetTableProperties().NumDataBlocks; n != 2 {
			t.Errorf("%d blocks", n)
		}
		ro := rocksdb.DefaultReadOptions()
		var l lookup
		l.init(s.icmp, []byte("axy"))
		if err := tr.Get(&ro, ikey("axy", c.seek, dbformat.TypeValue), &l.gc, nil, false); err != nil {
			t.Fatal(err)
		}
		if l.gc.State() != c.state || string(l.v.Data()) != c.value {
			t.Errorf("%s, axy@%d: state %v, value of %d bytes", c.key1, c.seek, l.gc.State(), l.v.Size())
		}
		l.v.Release()
		tr.Close()
	}
}
