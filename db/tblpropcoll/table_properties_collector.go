// Port of db/table_properties_collector.{h,cc}.

package tblpropcoll

import (
	"encoding/hex"
	"strings"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// InternalTblPropColl is a collector as a table builder calls it.
type InternalTblPropColl interface {
	Name() string
	// InternalAdd sees each entry's internal key and value, which are the
	// caller's; fileSize is the file's size so far in bytes.
	InternalAdd(key, value []byte, fileSize uint64) error
	// BlockAdd sees each data block's size and, where they were sampled, its
	// sizes under fast and slow compression.
	BlockAdd(uncompressedBytes, compressedBytesFast, compressedBytesSlow uint64)
	// Finish adds the properties; it is called once.
	Finish(properties rocksdb.UserCollectedProperties) error
	GetReadableProperties() rocksdb.UserCollectedProperties
	// NeedCompact asks for a compaction of the file.
	NeedCompact() bool
}

// InternalTblPropCollFactory makes a collector for each file.
type InternalTblPropCollFactory interface {
	Name() string
	// CreateInternalTblPropColl may return nil for no collector.
	CreateInternalTblPropColl(ctx rocksdb.TablePropertiesCollectorFactoryContext) InternalTblPropColl
}

// InternalTblPropCollFactories are a column family's factories.
type InternalTblPropCollFactories []InternalTblPropCollFactory

// UserKeyTablePropertiesCollector shows a user's collector user keys.
type UserKeyTablePropertiesCollector struct {
	collector rocksdb.TablePropertiesCollector
}

var _ InternalTblPropColl = (*UserKeyTablePropertiesCollector)(nil)

// NewUserKeyTablePropertiesCollector wraps c.
func NewUserKeyTablePropertiesCollector(c rocksdb.TablePropertiesCollector) *UserKeyTablePropertiesCollector {
	return &UserKeyTablePropertiesCollector{c}
}

// Name is the wrapped collector's.
func (u *UserKeyTablePropertiesCollector) Name() string { return u.collector.Name() }

// InternalAdd takes the key apart; a key that does not parse is a corruption.
func (u *UserKeyTablePropertiesCollector) InternalAdd(key, value []byte, fileSize uint64) error {
	p, err := dbformat.ParseInternalKey(key, false)
	if err != nil {
		return err
	}
	return u.collector.AddUserKey(p.UserKey, value, dbformat.GetEntryType(p.Type), p.Sequence, fileSize)
}

// BlockAdd is the wrapped collector's.
func (u *UserKeyTablePropertiesCollector) BlockAdd(uncompressed, fast, slow uint64) {
	u.collector.BlockAdd(uncompressed, fast, slow)
}

// Finish is the wrapped collector's.
func (u *UserKeyTablePropertiesCollector) Finish(properties rocksdb.UserCollectedProperties) error {
	return u.collector.Finish(properties)
}

// GetReadableProperties is the wrapped collector's.
func (u *UserKeyTablePropertiesCollector) GetReadableProperties() rocksdb.UserCollectedProperties {
	return u.collector.GetReadableProperties()
}

// NeedCompact is the wrapped collector's.
func (u *UserKeyTablePropertiesCollector) NeedCompact() bool { return u.collector.NeedCompact() }

// UserKeyTablePropertiesCollectorFactory wraps a user's factory.
type UserKeyTablePropertiesCollectorFactory struct {
	factory rocksdb.TablePropertiesCollectorFactory
}

var _ InternalTblPropCollFactory = (*UserKeyTablePropertiesCollectorFactory)(nil)

// NewUserKeyTablePropertiesCollectorFactory wraps f.
func NewUserKeyTablePropertiesCollectorFactory(f rocksdb.TablePropertiesCollectorFactory) *UserKeyTablePropertiesCollectorFactory {
	return &UserKeyTablePropertiesCollectorFactory{f}
}

// Name is the wrapped factory's.
func (f *UserKeyTablePropertiesCollectorFactory) Name() string { return f.factory.Name() }

// CreateInternalTblPropColl makes a collector, or nil where the user's factory
// makes none.
func (f *UserKeyTablePropertiesCollectorFactory) CreateInternalTblPropColl(ctx rocksdb.TablePropertiesCollectorFactoryContext) InternalTblPropColl {
	if c := f.factory.CreateTablePropertiesCollector(ctx); c != nil {
		return NewUserKeyTablePropertiesCollector(c)
	}
	return nil
}

// The properties of TimestampTablePropertiesCollector.
const (
	TimestampMinProperty = "rocksdb.timestamp_min"
	TimestampMaxProperty = "rocksdb.timestamp_max"
)

// TimestampTablePropertiesCollector keeps a file's least and greatest
// timestamps; both are empty for a file without keys.
type TimestampTablePropertiesCollector struct {
	cmp      rocksdb.Comparator
	min, max []byte
}

var _ InternalTblPropColl = (*TimestampTablePropertiesCollector)(nil)

// NewTimestampTablePropertiesCollector needs a comparator with timestamps.
func NewTimestampTablePropertiesCollector(cmp rocksdb.Comparator) *TimestampTablePropertiesCollector {
	return &TimestampTablePropertiesCollector{cmp: cmp}
}

// Name is upstream's class name.
func (*TimestampTablePropertiesCollector) Name() string { return "TimestampTablePropertiesCollector" }

// InternalAdd takes the key's timestamp into account.
func (t *TimestampTablePropertiesCollector) InternalAdd(key, _ []byte, _ uint64) error {
	n := t.cmp.TimestampSize()
	if len(key) < dbformat.NumInternalBytes+n {
		return rocksdb.Corruption("User key size mismatch when comparing to timestamp size.")
	}
	ts := dbformat.ExtractTimestampFromKey(key, n)
	if len(t.max) == 0 || t.cmp.CompareTimestamp(ts, t.max) > 0 {
		t.max = append(t.max[:0], ts...)
	}
	if len(t.min) == 0 || t.cmp.CompareTimestamp(t.min, ts) > 0 {
		t.min = append(t.min[:0], ts...)
	}
	return nil
}

// BlockAdd does nothing.
func (*TimestampTablePropertiesCollector) BlockAdd(_, _, _ uint64) {}

// Finish adds the two timestamps.
func (t *TimestampTablePropertiesCollector) Finish(p rocksdb.UserCollectedProperties) error {
	for name, ts := range map[string][]byte{TimestampMinProperty: t.min, TimestampMaxProperty: t.max} {
		if _, ok := p[name]; !ok {
			p[name] = string(ts)
		}
	}
	return nil
}

// GetReadableProperties gives the timestamps in hexadecimal.
func (t *TimestampTablePropertiesCollector) GetReadableProperties() rocksdb.UserCollectedProperties {
	return rocksdb.UserCollectedProperties{
		TimestampMinProperty: strings.ToUpper(hex.EncodeToString(t.min)),
		TimestampMaxProperty: strings.ToUpper(hex.EncodeToString(t.max)),
	}
}

// NeedCompact is false.
func (*TimestampTablePropertiesCollector) NeedCompact() bool { return false }

type timestampFactory struct{ cmp rocksdb.Comparator }

// NewTimestampTablePropertiesCollectorFactory makes collectors of timestamps.
func NewTimestampTablePropertiesCollectorFactory(cmp rocksdb.Comparator) InternalTblPropCollFactory {
	return timestampFactory{cmp}
}

func (timestampFactory) Name() string { return "TimestampTablePropertiesCollector" }

func (f timestampFactory) CreateInternalTblPropColl(rocksdb.TablePropertiesCollectorFactoryContext) InternalTblPropColl {
	return NewTimestampTablePropertiesCollector(f.cmp)
}

func getUint64Property(p rocksdb.UserCollectedProperties, name string) (v uint64, present bool) {
	raw, ok := p[name]
	if !ok {
		return 0, false
	}
	v, _, ok = util.GetVarint64([]byte(raw))
	if !ok {
		return 0, true
	}
	return v, true
}

// GetDeletedKeys gives the number of deletions among the user-collected
// properties of old files, 0 when it is not there.
func GetDeletedKeys(p rocksdb.UserCollectedProperties) uint64 {
	v, _ := getUint64Property(p, rocksdb.TablePropertyDeletedKeys)
	return v
}

// GetMergeOperands gives the number of merge operands likewise.
func GetMergeOperands(p rocksdb.UserCollectedProperties) (n uint64, present bool) {
	return getUint64Property(p, rocksdb.TablePropertyMergeOperands)
}
