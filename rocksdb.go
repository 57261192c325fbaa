// Port of include/rocksdb/db.h, as Go programs use it. Differs: a column family
// is an object with the calls that upstream overloads by a handle.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/env"
)

// WriteBatch collects updates that are applied together.
type WriteBatch = writebatch.WriteBatch

// WriteBatchHandlerBase refuses what its embedder does not handle.
type WriteBatchHandlerBase = writebatch.HandlerBase

// WriteBatchHandler is called for each record of a batch.
type WriteBatchHandler = writebatch.Handler

// NewWriteBatch makes an empty batch.
func NewWriteBatch() *WriteBatch { return writebatch.New() }

// NewWriteBatchWithTimestampSize makes an empty batch whose calls without a
// family leave room for timestamps of n bytes, the size that the default family
// has; see WriteBatch.UpdateTimestamps.
func NewWriteBatchWithTimestampSize(n int) *WriteBatch {
	return writebatch.NewWithTimestampSize(0, 0, n)
}

// NewWriteBatchWithProtection makes an empty batch whose entries carry a checksum
// of protectionBytesPerKey bytes, 0 or 8, from when they are added until they are
// in a memtable; Write fails with Corruption if an entry changed meanwhile. Other
// numbers are NotSupported. See WriteOptions.ProtectionBytesPerKey for entries
// that are protected from Write on.
func NewWriteBatchWithProtection(protectionBytesPerKey uint64) (*WriteBatch, error) {
	return writebatch.NewWithProtection(0, 0, protectionBytesPerKey, 0)
}

// DB is an open database, and its default column family. It is safe for
// concurrent use and has to be closed.
type DB struct {
	*ColumnFamily
	impl *dbimpl.DBImpl
}

// ColumnFamily is a column family of an open database. It is a
// ColumnFamilyHandle for batches, too.
type ColumnFamily struct {
	*db.ColumnFamilyHandleImpl
	impl *dbimpl.DBImpl
}

// Impl gives the engine's own handle.
func (c *ColumnFamily) Impl() *db.ColumnFamilyHandleImpl { return c.ColumnFamilyHandleImpl }

func wrap(d *dbimpl.DBImpl, handles []*db.ColumnFamilyHandleImpl) (*DB, []*ColumnFamily) {
	x := &DB{impl: d, ColumnFamily: &ColumnFamily{d.DefaultColumnFamily(), d}}
	families := make([]*ColumnFamily, len(handles))
	for i, h := range handles {
		families[i] = &ColumnFamily{h, d}
	}
	return x, families
}

// Open opens the database at path, which has no column family but the default
// one.
func Open(path string, o Options) (*DB, error) {
	x, _, err := OpenColumnFamilies(path, o.DBOptions, []ColumnFamilyDescriptor{{Name: DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}})
	return x, err
}

// OpenColumnFamilies opens the database at path with the families named, all
// that it has, and gives them in that order.
func OpenColumnFamilies(path string, o DBOptions, families []ColumnFamilyDescriptor) (*DB, []*ColumnFamily, error) {
	RegisterBuiltins()
	d, handles, err := dbimpl.Open(&o, path, families)
	if err != nil {
		return nil, nil, err
	}
	x, cfs := wrap(d, handles)
	return x, cfs, nil
}

// OpenForReadOnly opens the database at path for reading; nothing is written.
func OpenForReadOnly(path string, o Options) (*DB, error) {
	x, _, err := OpenColumnFamiliesForReadOnly(path, o.DBOptions, []ColumnFamilyDescriptor{{Name: DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}, false)
	if err == nil {
		x.impl.EnterCompactedMode()
	}
	return x, err
}

// OpenColumnFamiliesForReadOnly is OpenForReadOnly with some of the families.
// errorIfWALFileExists refuses a database with data in its logs.
func OpenColumnFamiliesForReadOnly(path string, o DBOptions, families []ColumnFamilyDescriptor, errorIfWALFileExists bool) (*DB, []*ColumnFamily, error) {
	RegisterBuiltins()
	d, handles, err := dbimpl.OpenForReadOnly(&o, path, families, errorIfWALFileExists)
	if err != nil {
		return nil, nil, err
	}
	x, cfs := wrap(d, handles)
	return x, cfs, nil
}

// OpenAsSecondary opens the database at path, which another process, the primary, may
// have open, for reading. It sees what the primary had written when it was opened or
// last told to TryCatchUpWithPrimary; its info log is in secondaryPath. With
// max_open_files -1 tables stay readable that the primary deletes.
func OpenAsSecondary(path, secondaryPath string, o Options) (*DB, error) {
	x, _, err := OpenColumnFamiliesAsSecondary(path, secondaryPath, o.DBOptions,
		[]ColumnFamilyDescriptor{{Name: DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}})
	return x, err
}

// OpenColumnFamiliesAsSecondary is OpenAsSecondary with some of the families, the
// default one among them, whose handles it gives in that order.
func OpenColumnFamiliesAsSecondary(path, secondaryPath string, o DBOptions, families []ColumnFamilyDescriptor) (*DB, []*ColumnFamily, error) {
	RegisterBuiltins()
	d, handles, err := dbimpl.OpenAsSecondary(&o, path, secondaryPath, families)
	if err != nil {
		return nil, nil, err
	}
	x, cfs := wrap(d, handles)
	return x, cfs, nil
}

// TryCatchUpWithPrimary brings a secondary instance to what the primary has written
// so far. Families that the primary made later are not seen, those that it dropped
// keep their data. Iterators stay at their state until they are refreshed. After
// an error, TryAgain where the primary was replacing its MANIFEST, it may be called
// again. Other databases answer NotSupported.
func (x *DB) TryCatchUpWithPrimary() error { return x.impl.TryCatchUpWithPrimary() }

// ListColumnFamilies names the families of the database at path; it need not
// be closed.
func ListColumnFamilies(o DBOptions, path string) ([]string, error) {
	if o.Env == nil {
		o.Env = env.Default()
	}
	return db.ListColumnFamilies(path, o.Env.GetFileSystem())
}

// DestroyDB deletes the database at path. Files that are not a database's stay.
func DestroyDB(path string, o Options) error {
	RegisterBuiltins()
	return dbimpl.DestroyDB(path, &o, nil)
}

// RepairDB makes the database at path, which is not open and cannot be opened,
// openable again with as much of its data as its tables and WALs hold; what is
// of no use goes to the directory "lost" in it. o serves all column families.
// Values of deleted keys may come back.
func RepairDB(path string, o Options) error {
	return RepairDBColumnFamilies(path, o.DBOptions,
		[]ColumnFamilyDescriptor{{Name: DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}, &o.ColumnFamilyOptions)
}

// RepairDBColumnFamilies is RepairDB with options for each family, the default
// one among them. unknown serves families that are not named; nil loses their
// data.
func RepairDBColumnFamilies(path string, o DBOptions, families []ColumnFamilyDescriptor, unknown *ColumnFamilyOptions) error {
	RegisterBuiltins()
	return dbimpl.RepairDB(&o, path, families, unknown)
}

// Put stores value under key.
func (c *ColumnFamily) Put(wo *WriteOptions, key, value []byte) error {
	return c.impl.Put(wo, c.ColumnFamilyHandleImpl, key, value)
}

// Delete removes key.
func (c *ColumnFamily) Delete(wo *WriteOptions, key []byte) error {
	return c.impl.Delete(wo, c.ColumnFamilyHandleImpl, key)
}

// SingleDelete removes key, which was put at most once since its last removal.
func (c *ColumnFamily) SingleDelete(wo *WriteOptions, key []byte) error {
	return c.impl.SingleDelete(wo, c.ColumnFamilyHandleImpl, key)
}

// DeleteRange removes the keys in [begin, end).
func (c *ColumnFamily) DeleteRange(wo *WriteOptions, begin, end []byte) error {
	return c.impl.DeleteRange(wo, c.ColumnFamilyHandleImpl, begin, end)
}

// Merge adds an operand to key's value, by the family's merge operator.
func (c *ColumnFamily) Merge(wo *WriteOptions, key, operand []byte) error {
	return c.impl.Merge(wo, c.ColumnFamilyHandleImpl, key, operand)
}

// Get finds key's value. The error is ErrNotFound when there is none; otherwise
// Release has to be called on the value.
func (c *ColumnFamily) Get(ro *ReadOptions, key []byte) (PinnableSlice, error) {
	var v PinnableSlice
	err := c.impl.Get(ro, c.ColumnFamilyHandleImpl, key, &v)
	return v, err
}

// GetInto is Get into a value that is released first; used again and again it
// allocates nothing.
func (c *ColumnFamily) GetInto(ro *ReadOptions, key []byte, value *PinnableSlice) error {
	return c.impl.Get(ro, c.ColumnFamilyHandleImpl, key, value)
}

// GetMergeOperands gives key's merge operands unmerged, oldest first; a base
// value counts as the oldest. operands needs room for as many as o expects, nil
// options expect as many as there is room for. More of them are an Incomplete
// with SubCodeMergeOperandsInsufficientCapacity, and n says how many there are.
// Release has to be called on the operands before the database is closed.
func (c *ColumnFamily) GetMergeOperands(ro *ReadOptions, key []byte, operands []PinnableSlice, o *GetMergeOperandsOptions) (n int, err error) {
	return c.impl.GetMergeOperands(ro, c.ColumnFamilyHandleImpl, key, operands, o)
}

// MultiGet is GetInto for each key, at one state of the family.
func (c *ColumnFamily) MultiGet(ro *ReadOptions, keys [][]byte, values []PinnableSlice, errs []error) {
	c.impl.MultiGet(ro, c.ColumnFamilyHandleImpl, keys, values, errs)
}

// KeyMayExist is false only when key surely has no value; it reads no file.
func (c *ColumnFamily) KeyMayExist(ro *ReadOptions, key []byte) bool {
	var v PinnableSlice
	may, _ := c.impl.KeyMayExist(ro, c.ColumnFamilyHandleImpl, key, &v)
	v.Release()
	return may
}

// NewIterator makes an iterator; it has to be closed.
func (c *ColumnFamily) NewIterator(ro *ReadOptions) *Iterator {
	return &Iterator{c.impl.NewIterator(ro, c.ColumnFamilyHandleImpl)}
}

// NewMultiScan reads several ranges, read ahead together; it has to be closed.
// Wrong arguments are its Err.
func (c *ColumnFamily) NewMultiScan(ro *ReadOptions, args *MultiScanArgs) MultiScan {
	return c.impl.NewMultiScan(ro, c.ColumnFamilyHandleImpl, args)
}

// Flush writes the family's memtables to tables.
func (c *ColumnFamily) Flush(o *FlushOptions) error { return c.impl.Flush(o, c.ColumnFamilyHandleImpl) }

// CompactRange compacts the keys in [begin, end]; nil bounds are open.
func (c *ColumnFamily) CompactRange(o *CompactRangeOptions, begin, end []byte) error {
	return c.impl.CompactRange(o, c.ColumnFamilyHandleImpl, begin, end)
}

// SetOptions changes mutable options, given by name as in an OPTIONS file.
func (c *ColumnFamily) SetOptions(values map[string]string) error {
	return c.impl.SetOptions(c.ColumnFamilyHandleImpl, values)
}

// GetOptions gives the options in force.
func (c *ColumnFamily) GetOptions() Options { return c.impl.GetOptions(c.ColumnFamilyHandleImpl) }

// GetProperty gives a property by name, e.g. "rocksdb.stats"; ok is false when
// there is none of that name.
func (c *ColumnFamily) GetProperty(name string) (value string, ok bool) {
	return c.impl.GetProperty(c.ColumnFamilyHandleImpl, name)
}

// GetIntProperty gives a property that is a number.
func (c *ColumnFamily) GetIntProperty(name string) (value uint64, ok bool) {
	return c.impl.GetIntProperty(c.ColumnFamilyHandleImpl, name)
}

// Close gives the handle of a family back; the default one's, and what is not
// given back, is closed with the database.
func (c *ColumnFamily) Close() error {
	return c.impl.DestroyColumnFamilyHandle(c.ColumnFamilyHandleImpl)
}

// FlushColumnFamilies writes the families' memtables to tables: with
// DBOptions.AtomicFlush or FlushOptions.ForceAtomicFlush as one, so that a crash
// leaves all of it or nothing; else one family after the other.
func (x *DB) FlushColumnFamilies(o *FlushOptions, families []*ColumnFamily) error {
	handles := make([]ColumnFamilyHandle, len(families))
	for i, c := range families {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	return x.impl.FlushFamilies(o, handles)
}

// Write applies a batch atomically.
func (x *DB) Write(wo *WriteOptions, batch *WriteBatch) error { return x.impl.Write(wo, batch) }

// WriteWithCallback is Write with a callback that is told when the write stands
// in the queue and when the log has it.
func (x *DB) WriteWithCallback(wo *WriteOptions, batch *WriteBatch, callback UserWriteCallback) error {
	return x.impl.WriteWithCallback(wo, batch, nil, callback)
}

// MultiGetCF is MultiGet over families, cfs having keys' length.
func (x *DB) MultiGetCF(ro *ReadOptions, cfs []*ColumnFamily, keys [][]byte, values []PinnableSlice, errs []error) {
	handles := make([]ColumnFamilyHandle, len(cfs))
	for i, c := range cfs {
		handles[i] = c.ColumnFamilyHandleImpl
	}
	x.impl.MultiGetCF(ro, handles, keys, values, errs)
}

// GetSnapshot takes a snapshot to read at (ReadOptions.Snapshot).
func (x *DB) GetSnapshot() Snapshot {
	if s := x.impl.GetSnapshot(); s != nil {
		return s
	}
	return nil // inplace_update_support
}

// ReleaseSnapshot gives a snapshot back.
func (x *DB) ReleaseSnapshot(s Snapshot) error { return x.impl.ReleaseSnapshot(s) }

// CreateColumnFamily adds a family.
func (x *DB) CreateColumnFamily(o ColumnFamilyOptions, name string) (*ColumnFamily, error) {
	h, err := x.impl.CreateColumnFamily(&o, name)
	if h == nil {
		return nil, err
	}
	return &ColumnFamily{h, x.impl}, err
}

// DropColumnFamily removes a family; what is open on it stays readable.
func (x *DB) DropColumnFamily(c *ColumnFamily) error {
	return x.impl.DropColumnFamily(c.ColumnFamilyHandleImpl)
}

// SetOptionsColumnFamilies changes mutable options of several families at once:
// one OPTIONS file is written. After an error some of the families may have
// their new options.
func (x *DB) SetOptionsColumnFamilies(changes map[*ColumnFamily]map[string]string) error {
	var list []dbimpl.FamilyOptions
	for c, values := range changes {
		list = append(list, dbimpl.FamilyOptions{CF: c.ColumnFamilyHandleImpl, Values: values})
	}
	return x.impl.SetOptionsEach(list)
}

// SetDBOptions changes mutable options of the database.
func (x *DB) SetDBOptions(values map[string]string) error { return x.impl.SetDBOptions(values) }

// FlushWAL hands buffered WAL records to the file system, and syncs them when
// asked to.
func (x *DB) FlushWAL(sync bool) error { return x.impl.FlushWAL(sync) }

// FlushWALWithOptions is FlushWAL with a priority for the rate limiter.
func (x *DB) FlushWALWithOptions(o *FlushWALOptions) error { return x.impl.FlushWALWithOptions(o) }

// SyncWAL makes all writes so far durable.
func (x *DB) SyncWAL() error { return x.impl.SyncWAL() }

// WaitForCompact waits until no flush or compaction is running or due.
func (x *DB) WaitForCompact(o *WaitForCompactOptions) error { return x.impl.WaitForCompact(o) }

// GetLatestSequenceNumber gives the newest sequence number.
func (x *DB) GetLatestSequenceNumber() SequenceNumber { return x.impl.GetLatestSequenceNumber() }

// GetName gives the path.
func (x *DB) GetName() string { return x.impl.GetName() }

// Impl gives the engine's own object.
func (x *DB) Impl() *dbimpl.DBImpl { return x.impl }

// Close waits for background work and closes the database. It fails, and the
// database stays open, while iterators or snapshots are open.
func (x *DB) Close() error { return x.impl.Close() }
