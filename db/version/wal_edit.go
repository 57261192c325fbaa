// Port of db/wal_edit.{h,cc}. Differs: CheckWals takes a function that gives a
// file's size instead of an Env.

package version

import (
	"fmt"
	"math"
	"slices"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// WalNumber numbers write-ahead logs.
type WalNumber = uint64

const unknownWalSize = math.MaxUint64

// WalMetadata is what is known of a WAL. Make it with NewWalMetadata or
// UnsyncedWalMetadata.
type WalMetadata struct{ syncedSizeBytes uint64 }

// NewWalMetadata is for a WAL of which the first size bytes are synced.
func NewWalMetadata(size uint64) WalMetadata { return WalMetadata{size} }

// UnsyncedWalMetadata is for a WAL of which nothing is known to be synced.
func UnsyncedWalMetadata() WalMetadata { return WalMetadata{unknownWalSize} }

// HasSyncedSize tells whether the synced size is known.
func (m WalMetadata) HasSyncedSize() bool { return m.syncedSizeBytes != unknownWalSize }

// SetSyncedSizeInBytes sets the synced size.
func (m *WalMetadata) SetSyncedSizeInBytes(n uint64) { m.syncedSizeBytes = n }

// GetSyncedSizeInBytes is the synced size; only when it is known.
func (m WalMetadata) GetSyncedSizeInBytes() uint64 { return m.syncedSizeBytes }

const (
	walAdditionTerminate  = 1
	walAdditionSyncedSize = 2
)

// WalAddition records a WAL's creation or how far it was synced.
//
// Its bytes: varint64 number; then, when the synced size is known, varint32 2
// and the size as varint64; then varint32 1.
type WalAddition struct {
	number   WalNumber
	metadata WalMetadata
}

// NewWalAddition makes a WalAddition.
func NewWalAddition(number WalNumber, m WalMetadata) WalAddition { return WalAddition{number, m} }

// GetLogNumber is the WAL's number.
func (w WalAddition) GetLogNumber() WalNumber { return w.number }

// GetMetadata is what is known of the WAL.
func (w WalAddition) GetMetadata() WalMetadata { return w.metadata }

// EncodeTo appends the record to dst.
func (w WalAddition) EncodeTo(dst []byte) []byte {
	dst = util.AppendVarint64(dst, w.number)
	if w.metadata.HasSyncedSize() {
		dst = util.AppendVarint32(dst, walAdditionSyncedSize)
		dst = util.AppendVarint64(dst, w.metadata.syncedSizeBytes)
	}
	return util.AppendVarint32(dst, walAdditionTerminate)
}

// DecodeFrom reads the record at the front of src and gives what follows it.
func (w *WalAddition) DecodeFrom(src []byte) (rest []byte, err error) {
	const class = "WalAddition"
	w.metadata = UnsyncedWalMetadata()
	d := decoder{src}
	var ok bool
	if w.number, ok = d.varint64(); !ok {
		return nil, rocksdb.Corruption(class, "Error decoding WAL log number")
	}
	for {
		tag, ok := d.varint32()
		if !ok {
			return nil, rocksdb.Corruption(class, "Error decoding tag")
		}
		switch tag {
		case walAdditionSyncedSize:
			size, ok := d.varint64()
			if !ok {
				return nil, rocksdb.Corruption(class, "Error decoding WAL file size")
			}
			w.metadata.SetSyncedSizeInBytes(size)
		case walAdditionTerminate:
			return d.b, nil
		default:
			return nil, rocksdb.Corruption(class, fmt.Sprintf("Unknown tag %d", tag))
		}
	}
}

// DebugString is the record as text.
func (w WalAddition) DebugString() string {
	return fmt.Sprintf("log_number: %d synced_size_in_bytes: %d", w.number, w.metadata.syncedSizeBytes)
}

// WalDeletion records that WALs with lower numbers are obsolete: one varint64.
// The zero value is no deletion.
type WalDeletion struct{ number WalNumber }

// NewWalDeletion makes a WalDeletion.
func NewWalDeletion(number WalNumber) WalDeletion { return WalDeletion{number} }

// GetLogNumber is the least number that stays.
func (w WalDeletion) GetLogNumber() WalNumber { return w.number }

// IsEmpty tells whether nothing is deleted.
func (w WalDeletion) IsEmpty() bool { return w.number == 0 }

// Reset makes it empty.
func (w *WalDeletion) Reset() { w.number = 0 }

// EncodeTo appends the record to dst.
func (w WalDeletion) EncodeTo(dst []byte) []byte { return util.AppendVarint64(dst, w.number) }

// DecodeFrom reads the record at the front of src and gives what follows it.
func (w *WalDeletion) DecodeFrom(src []byte) (rest []byte, err error) {
	d := decoder{src}
	var ok bool
	if w.number, ok = d.varint64(); !ok {
		return nil, rocksdb.Corruption("WalDeletion", "Error decoding WAL log number")
	}
	return d.b, nil
}

// DebugString is the record as text.
func (w WalDeletion) DebugString() string { return fmt.Sprintf("log_number: %d", w.number) }

// WalSet is the set of live WALs that the MANIFEST tracks. The zero value is
// empty. Not safe for concurrent use.
type WalSet struct {
	numbers            []WalNumber // sorted
	wals               map[WalNumber]WalMetadata
	minWalNumberToKeep WalNumber
}

// AddWal adds a WAL, or raises the synced size of a known one. Adding the same
// WAL twice as new is a corruption; one below the minimum to keep is ignored.
func (s *WalSet) AddWal(w WalAddition) error {
	if w.number < s.minWalNumberToKeep {
		return nil
	}
	i, existing := slices.BinarySearch(s.numbers, w.number)
	if !existing {
		if s.wals == nil {
			s.wals = map[WalNumber]WalMetadata{}
		}
		s.numbers = slices.Insert(s.numbers, i, w.number)
		s.wals[w.number] = w.metadata
		return nil
	}
	if !w.metadata.HasSyncedSize() {
		return rocksdb.Corruption("WalSet::AddWal", fmt.Sprintf("WAL %d is created more than once", w.number))
	}
	old := s.wals[w.number]
	if !old.HasSyncedSize() || w.metadata.syncedSizeBytes > old.syncedSizeBytes {
		s.wals[w.number] = w.metadata
	}
	return nil
}

// AddWals adds each in turn and stops at the first error.
func (s *WalSet) AddWals(ws []WalAddition) error {
	for _, w := range ws {
		if err := s.AddWal(w); err != nil {
			return err
		}
	}
	return nil
}

// DeleteWalsBefore forgets the WALs below number.
func (s *WalSet) DeleteWalsBefore(number WalNumber) error {
	if number > s.minWalNumberToKeep {
		s.minWalNumberToKeep = number
		i, _ := slices.BinarySearch(s.numbers, number)
		for _, n := range s.numbers[:i] {
			delete(s.wals, n)
		}
		s.numbers = slices.Delete(s.numbers, 0, i)
	}
	return nil
}

// Reset makes the set empty.
func (s *WalSet) Reset() { *s = WalSet{} }

// GetMinWalNumberToKeep is the bound below which additions are ignored.
func (s *WalSet) GetMinWalNumberToKeep() WalNumber { return s.minWalNumberToKeep }

// GetWals lists the WALs in order of number.
func (s *WalSet) GetWals() []WalAddition {
	ws := make([]WalAddition, len(s.numbers))
	for i, n := range s.numbers {
		ws[i] = WalAddition{n, s.wals[n]}
	}
	return ws
}

// CheckWals tells whether the synced WALs of the set are among logsOnDisk
// (number to path) and at least as long as they were when synced.
func (s *WalSet) CheckWals(getFileSize func(path string) (uint64, error), logsOnDisk map[WalNumber]string) error {
	for _, n := range s.numbers {
		m := s.wals[n]
		if !m.HasSyncedSize() {
			continue
		}
		path, ok := logsOnDisk[n]
		if !ok {
			return rocksdb.Corruptionf("Missing WAL with log number: %d.", n)
		}
		size, err := getFileSize(path)
		if err != nil {
			return err
		}
		if size < m.syncedSizeBytes {
			return rocksdb.Corruptionf("Size mismatch: WAL (log number: %d) in MANIFEST is %d bytes , but actually is %d bytes on disk.",
				n, m.syncedSizeBytes, size)
		}
	}
	return nil
}
