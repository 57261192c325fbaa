// Port of table/adaptive/adaptive_table_factory.{h,cc}.

package adaptive

import (
	"fmt"
	"strings"

	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table"
	blockbased "github.com/rocksdb-go/rocksdb/table/block_based"
	"github.com/rocksdb-go/rocksdb/table/cuckoo"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/plain"
)

// AdaptiveTableFactory opens a table with the factory of its format, which the
// footer tells, and builds tables with one of them. It has no name in option
// strings.
type AdaptiveTableFactory struct {
	write, blockBased, plain, cuckoo table.Factory
}

var _ table.Factory = (*AdaptiveTableFactory)(nil)

// NewAdaptiveTableFactory makes a factory that writes with the first one. A nil
// factory is that of the format with default options, the first the one for
// block-based tables.
func NewAdaptiveTableFactory(write, blockBased, plainTable, cuckooTable table.Factory) *AdaptiveTableFactory {
	f := &AdaptiveTableFactory{write: write, blockBased: blockBased, plain: plainTable, cuckoo: cuckooTable}
	if f.plain == nil {
		f.plain = plain.NewPlainTableFactory(nil)
	}
	if f.blockBased == nil {
		f.blockBased = blockbased.NewBlockBasedTableFactory(nil)
	}
	if f.cuckoo == nil {
		f.cuckoo = cuckoo.NewCuckooTableFactory(nil)
	}
	if f.write == nil {
		f.write = f.blockBased
	}
	return f
}

// Name is "AdaptiveTableFactory".
func (*AdaptiveTableFactory) Name() string { return "AdaptiveTableFactory" }

// IsDeleteRangeSupported is false.
func (*AdaptiveTableFactory) IsDeleteRangeSupported() bool { return false }

// Clone gives a factory of the same factories.
func (f *AdaptiveTableFactory) Clone() rocksdb.TableFactory {
	c := *f
	return &c
}

// OptionsPtr has none.
func (*AdaptiveTableFactory) OptionsPtr(string) any { return nil }

// NewTableReader implements table.Factory.
func (f *AdaptiveTableFactory) NewTableReader(ro *rocksdb.ReadOptions, o *table.TableReaderOptions, r *file.RandomAccessFileReader,
	fileSize uint64, prefetchIndexAndFilterInCache bool) (table.TableReader, error) {
	opts := rocksdb.DefaultIOOptions()
	footer, err := table.ReadFooterFromFile(&opts, r, o.IOptions.FS, nil, fileSize, format.NullTableMagicNumber, o.IOptions.Stats)
	if err == nil {
		switch footer.TableMagicNumber {
		case format.PlainTableMagicNumber:
			return f.plain.NewTableReader(ro, o, r, fileSize, prefetchIndexAndFilterInCache)
		case format.BlockBasedTableMagicNumber:
			return f.blockBased.NewTableReader(ro, o, r, fileSize, prefetchIndexAndFilterInCache)
		case format.CuckooTableMagicNumber:
			return f.cuckoo.NewTableReader(ro, o, r, fileSize, prefetchIndexAndFilterInCache)
		}
		err = rocksdb.NotSupported("Unidentified table format")
	}
	_ = r.Close() // the first error counts
	return nil, err
}

// NewTableBuilder implements table.Factory.
func (f *AdaptiveTableFactory) NewTableBuilder(o *table.TableBuilderOptions, w *file.WritableFileWriter) (table.TableBuilder, error) {
	return f.write.NewTableBuilder(o, w)
}

// ValidateOptions checks the options of the factory that writes.
func (f *AdaptiveTableFactory) ValidateOptions(db *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) error {
	if v, ok := f.write.(interface {
		ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error
	}); ok {
		return v.ValidateOptions(db, cf)
	}
	return nil
}

// GetPrintableOptions gives the options of all factories for the LOG.
func (f *AdaptiveTableFactory) GetPrintableOptions() string {
	var s strings.Builder
	fmt.Fprintf(&s, "  write factory (%s) options:\n%s\n", f.write.Name(), f.write.GetPrintableOptions())
	for _, p := range []table.Factory{f.plain, f.blockBased, f.cuckoo} {
		fmt.Fprintf(&s, "  %s options:\n%s\n", p.Name(), p.GetPrintableOptions())
	}
	return s.String()
}
