// Port of include/rocksdb/sst_file_manager.h. Differs: NewSstFileManager is
// in package file.

package rocksdb

// SstFileManager tracks the table and blob files of one or more databases,
// bounds the space they use and the rate at which they are deleted. It is safe
// for concurrent use.
type SstFileManager interface {
	// SetMaxAllowedSpaceUsage bounds the tracked files' total size in bytes;
	// 0 is no bound. Beyond it writes fail.
	SetMaxAllowedSpaceUsage(maxAllowedSpace uint64)
	// SetCompactionBufferSize is the room that compactions have to leave, in
	// bytes.
	SetCompactionBufferSize(compactionBufferSize uint64)
	IsMaxAllowedSpaceReached() bool
	IsMaxAllowedSpaceReachedIncludingCompactions() bool
	// GetTotalSize is that of the tracked files, in bytes.
	GetTotalSize() uint64
	// GetTrackedFiles maps paths to sizes; the map is the caller's.
	GetTrackedFiles() map[string]uint64
	GetDeleteRateBytesPerSecond() int64
	// SetDeleteRateBytesPerSecond of 0 or less deletes at once.
	SetDeleteRateBytesPerSecond(deleteRate int64)
	GetMaxTrashDBRatio() float64
	// SetMaxTrashDBRatio: files are deleted at once while the trash is larger
	// than that part of the database.
	SetMaxTrashDBRatio(ratio float64)
	// GetTotalTrashSize is in bytes.
	GetTotalTrashSize() uint64
	SetStatisticsPtr(stats Statistics)
}
