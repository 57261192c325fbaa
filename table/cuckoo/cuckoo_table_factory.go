// Port of table/cuckoo/cuckoo_table_factory.{h,cc}. Differs: option strings are
// package options' matter; a hash_table_ratio that is not positive is refused.

package cuckoo

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
)

// CuckooTableFactory makes cuckoo tables. The options may be changed through
// OptionsPtr until the first use.
type CuckooTableFactory struct{ opts rocksdb.CuckooTableOptions }

var _ table.Factory = (*CuckooTableFactory)(nil)

// NewCuckooTableFactory makes a factory; nil means the default options.
func NewCuckooTableFactory(o *rocksdb.CuckooTableOptions) *CuckooTableFactory {
	if o == nil {
		return &CuckooTableFactory{rocksdb.DefaultCuckooTableOptions()}
	}
	return &CuckooTableFactory{*o}
}

// Name is "CuckooTable".
func (*CuckooTableFactory) Name() string { return rocksdb.CuckooTableName }

// IsDeleteRangeSupported is false.
func (*CuckooTableFactory) IsDeleteRangeSupported() bool { return false }

// Clone copies the factory.
func (f *CuckooTableFactory) Clone() rocksdb.TableFactory {
	c := *f
	return &c
}

// OptionsPtr gives the options.
func (f *CuckooTableFactory) OptionsPtr(name string) any {
	if name == rocksdb.CuckooTableOptionsName {
		return &f.opts
	}
	return nil
}

// NewTableReader implements table.Factory. The file has to be mapped.
func (f *CuckooTableFactory) NewTableReader(_ *rocksdb.ReadOptions, o *table.TableReaderOptions, r *file.RandomAccessFileReader,
	fileSize uint64, _ bool) (table.TableReader, error) {
	t, err := Open(&ReaderParams{IOptions: o.IOptions, UserComparator: o.InternalComparator.UserComparator()}, r, fileSize)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// NewTableBuilder implements table.Factory.
func (f *CuckooTableFactory) NewTableBuilder(o *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	if !(f.opts.HashTableRatio > 0) {
		return nil, rocksdb.InvalidArgument("hash_table_ratio of a cuckoo table has to be above 0")
	}
	return NewCuckooTableBuilder(&BuilderParams{
		MaxHashTableRatio: f.opts.HashTableRatio, MaxNumHashFunc: maxNumHashFunc, MaxSearchDepth: f.opts.MaxSearchDepth,
		UserComparator: o.InternalComparator.UserComparator(), CuckooBlockSize: f.opts.CuckooBlockSize,
		UseModuleHash: f.opts.UseModuleHash, IdentityAsFirstHash: f.opts.IdentityAsFirstHash,
		ColumnFamilyID: o.ColumnFamilyID, ColumnFamilyName: o.ColumnFamilyName, DBID: o.DBID, DBSessionID: o.DBSessionID,
		FileNumber: o.CurFileNum, WriteOptions: o.WriteOptions,
	}, w), nil
}

// GetPrintableOptions gives the options for the LOG, one a line.
func (f *CuckooTableFactory) GetPrintableOptions() string {
	o := &f.opts
	identity := 0
	if o.IdentityAsFirstHash {
		identity = 1
	}
	var s strings.Builder
	fmt.Fprintf(&s, "  hash_table_ratio: %f\n", o.HashTableRatio)
	fmt.Fprintf(&s, "  max_search_depth: %d\n", o.MaxSearchDepth)
	fmt.Fprintf(&s, "  cuckoo_block_size: %d\n", o.CuckooBlockSize)
	fmt.Fprintf(&s, "  identity_as_first_hash: %d\n", identity)
	return s.String()
}
