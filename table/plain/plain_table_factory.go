// Port of table/plain/plain_table_factory.{h,cc}. Differs: option strings are
// package options' matter, memtables are registered in package memtable.

package plain

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
)

// PlainTableFactory makes plain tables. The options may be changed through
// OptionsPtr until the first use.
type PlainTableFactory struct{ opts rocksdb.PlainTableOptions }

var _ table.Factory = (*PlainTableFactory)(nil)

// NewPlainTableFactory makes a factory; nil means the default options.
func NewPlainTableFactory(o *rocksdb.PlainTableOptions) *PlainTableFactory {
	if o == nil {
		return &PlainTableFactory{rocksdb.DefaultPlainTableOptions()}
	}
	return &PlainTableFactory{*o}
}

// Name is "PlainTable".
func (*PlainTableFactory) Name() string { return rocksdb.PlainTableName }

// IsDeleteRangeSupported is false.
func (*PlainTableFactory) IsDeleteRangeSupported() bool { return false }

// Clone copies the factory.
func (f *PlainTableFactory) Clone() rocksdb.TableFactory {
	c := *f
	return &c
}

// OptionsPtr gives the options.
func (f *PlainTableFactory) OptionsPtr(name string) any {
	if name == rocksdb.PlainTableOptionsName {
		return &f.opts
	}
	return nil
}

// NewTableReader implements table.Factory.
func (f *PlainTableFactory) NewTableReader(_ *rocksdb.ReadOptions, o *table.TableReaderOptions, r *file.RandomAccessFileReader,
	fileSize uint64, _ bool) (table.TableReader, error) {
	t, err := Open(&f.opts, o, r, fileSize)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// NewTableBuilder implements table.Factory.
func (f *PlainTableFactory) NewTableBuilder(o *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	b, err := NewPlainTableBuilder(&f.opts, o, w)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// GetPrintableOptions gives the options for the LOG, one a line.
func (f *PlainTableFactory) GetPrintableOptions() string {
	o := &f.opts
	var s strings.Builder
	fmt.Fprintf(&s, "  user_key_len: %d\n", o.UserKeyLen)
	fmt.Fprintf(&s, "  bloom_bits_per_key: %d\n", o.BloomBitsPerKey)
	fmt.Fprintf(&s, "  hash_table_ratio: %f\n", o.HashTableRatio)
	fmt.Fprintf(&s, "  index_sparseness: %d\n", o.IndexSparseness)
	fmt.Fprintf(&s, "  huge_page_tlb_size: %d\n", o.HugePageTLBSize)
	fmt.Fprintf(&s, "  encoding_type: %d\n", int(o.EncodingType))
	fmt.Fprintf(&s, "  full_scan_mode: %d\n", b2i(o.FullScanMode))
	fmt.Fprintf(&s, "  store_index_in_file: %d\n", b2i(o.StoreIndexInFile))
	return s.String()
}

func b2i(v bool) int {
	if v {
		return 1
	}
	return 0
}
