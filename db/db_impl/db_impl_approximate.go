// Port of db/db_impl/db_impl.cc (GetApproximateSizes,
// GetApproximateMemTableStats, GetColumnFamilyMetaData).

package dbimpl

import (
	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// rangeKeys gives a range's ends as internal keys.
func rangeKeys(cf rocksdb.ColumnFamilyHandle, r *rocksdb.Range) (start, limit []byte) {
	size := cf.GetComparator().TimestampSize()
	internal := func(key []byte) []byte {
		if size > 0 {
			key = dbformat.AppendKeyWithMaxTimestamp(nil, key, size)
		}
		return dbformat.AppendInternalKey(nil, key, dbformat.MaxSequenceNumber, dbformat.ValueTypeForSeek)
	}
	return internal(r.Start), internal(r.Limit)
}

// blobRatio is the blob files' size as a multiple of the tables'.
func blobRatio(v *db.Version) float64 {
	vs := v.StorageInfo()
	var tables, blobs uint64
	for level := range vs.NumNonEmptyLevels() {
		tables += vs.NumLevelBytes(level)
	}
	if tables == 0 {
		return 0
	}
	for _, f := range vs.GetBlobFiles() {
		blobs += f.GetBlobFileSize()
	}
	return float64(blobs) / float64(tables)
}

// GetApproximateSizes fills sizes, which is as long as ranges, with about the
// bytes that the keys of each range take. o may be nil.
func (d *DBImpl) GetApproximateSizes(o *rocksdb.SizeApproximationOptions, cf rocksdb.ColumnFamilyHandle, ranges []rocksdb.Range, sizes []uint64) error {
	if o == nil {
		def := rocksdb.DefaultSizeApproximationOptions()
		o = &def
	}
	if !o.IncludeMemtables && !o.IncludeFiles && !o.IncludeBlobFiles {
		return rocksdb.InvalidArgument("Invalid options")
	}
	if len(sizes) != len(ranges) {
		return rocksdb.InvalidArgument("sizes and ranges differ in length")
	}
	sv := d.cfd(cf).GetReferencedSuperVersion()
	defer sv.Release()
	ro := rocksdb.DefaultReadOptions()
	ratio := 0.0
	if o.IncludeBlobFiles {
		ratio = blobRatio(sv.Current)
	}
	for i := range ranges {
		start, limit := rangeKeys(cf, &ranges[i])
		sizes[i] = 0
		if o.IncludeFiles || o.IncludeBlobFiles {
			n := d.versions.ApproximateSize(&ro, sv.Current, start, limit, 0, -1, o.FilesSizeErrorMargin, rocksdb.CallerUserApproximateSize)
			if o.IncludeFiles {
				sizes[i] += n
			}
			sizes[i] += uint64(float64(n) * ratio)
		}
		if o.IncludeMemtables {
			mem, _ := sv.Mem.ApproximateStats(start, limit)
			imm, _ := sv.Imm.ApproximateStats(start, limit)
			sizes[i] += mem + imm
		}
	}
	return nil
}

// GetApproximateMemTableStats estimates number and bytes of the entries of a
// range in memtables.
func (d *DBImpl) GetApproximateMemTableStats(cf rocksdb.ColumnFamilyHandle, r rocksdb.Range) (count, size uint64) {
	sv := d.cfd(cf).GetReferencedSuperVersion()
	defer sv.Release()
	start, limit := rangeKeys(cf, &r)
	memSize, memCount := sv.Mem.ApproximateStats(start, limit)
	immSize, immCount := sv.Imm.ApproximateStats(start, limit)
	return memCount + immCount, memSize + immSize
}

// GetAllColumnFamilyMetaData describes the files of every family.
func (d *DBImpl) GetAllColumnFamilyMetaData() (all []rocksdb.ColumnFamilyMetaData) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, cfd := range d.families.All() {
		if !cfd.IsDropped() {
			all = append(all, cfd.Current().GetColumnFamilyMetaData(nil))
		}
	}
	return all
}

// GetColumnFamilyMetaData describes a family's files; o selects by range and
// level, nil is all.
func (d *DBImpl) GetColumnFamilyMetaData(cf rocksdb.ColumnFamilyHandle, o *rocksdb.GetColumnFamilyMetaDataOptions) rocksdb.ColumnFamilyMetaData {
	// Compactions mark their files, so that the mutex is needed.
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cfd(cf).Current().GetColumnFamilyMetaData(o)
}
