// Port of table/sst_file_writer_collectors.h.

package table

import (
	"strconv"

	"github.com/rocksdb-go/rocksdb/db/tblpropcoll"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// ExternalSstFileVersionProperty is the version of files made by SstFileWriter,
// a fixed32.
const ExternalSstFileVersionProperty = "rocksdb.external_sst_file.version"

// SstFileWriterPropertiesCollector adds the properties of external files.
type SstFileWriterPropertiesCollector struct {
	version     int32
	globalSeqno rocksdb.SequenceNumber
}

var _ tblpropcoll.InternalTblPropColl = (*SstFileWriterPropertiesCollector)(nil)

// Name is upstream's class name.
func (*SstFileWriterPropertiesCollector) Name() string { return "SstFileWriterPropertiesCollector" }

// InternalAdd does nothing.
func (*SstFileWriterPropertiesCollector) InternalAdd([]byte, []byte, uint64) error { return nil }

// BlockAdd does nothing.
func (*SstFileWriterPropertiesCollector) BlockAdd(uint64, uint64, uint64) {}

// Finish adds version and global sequence number.
func (c *SstFileWriterPropertiesCollector) Finish(p rocksdb.UserCollectedProperties) error {
	addMissing(p, rocksdb.UserCollectedProperties{
		ExternalSstFileVersionProperty:     string(util.AppendFixed32(nil, uint32(c.version))),
		ExternalSstFileGlobalSeqnoProperty: string(util.AppendFixed64(nil, c.globalSeqno)),
	})
	return nil
}

// GetReadableProperties gives the version in digits.
func (c *SstFileWriterPropertiesCollector) GetReadableProperties() rocksdb.UserCollectedProperties {
	return rocksdb.UserCollectedProperties{ExternalSstFileVersionProperty: strconv.Itoa(int(c.version))}
}

// NeedCompact is false.
func (*SstFileWriterPropertiesCollector) NeedCompact() bool { return false }

type sstFileWriterFactory struct {
	version     int32
	globalSeqno rocksdb.SequenceNumber
}

// NewSstFileWriterPropertiesCollectorFactory makes such collectors.
func NewSstFileWriterPropertiesCollectorFactory(version int32, globalSeqno rocksdb.SequenceNumber) tblpropcoll.InternalTblPropCollFactory {
	return sstFileWriterFactory{version, globalSeqno}
}

func (sstFileWriterFactory) Name() string { return "SstFileWriterPropertiesCollector" }

func (f sstFileWriterFactory) CreateInternalTblPropColl(rocksdb.TablePropertiesCollectorFactoryContext) tblpropcoll.InternalTblPropColl {
	return &SstFileWriterPropertiesCollector{f.version, f.globalSeqno}
}
