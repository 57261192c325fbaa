// Port of db/blob/blob_garbage_meter.{h,cc}.

package blob

import (
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// BlobStats counts blobs and their bytes, headers and keys included.
type BlobStats struct{ Count, Bytes uint64 }

// Add counts one blob.
func (s *BlobStats) Add(bytes uint64) {
	s.Count++
	s.Bytes += bytes
}

// BlobInOutFlow is what a compaction read of a blob file's references and what
// of them it kept.
type BlobInOutFlow struct{ In, Out BlobStats }

// IsValid tells whether no more is kept than was read.
func (f *BlobInOutFlow) IsValid() bool { return f.In.Count >= f.Out.Count && f.In.Bytes >= f.Out.Bytes }

// HasGarbage tells whether blobs lost their reference.
func (f *BlobInOutFlow) HasGarbage() bool { return f.In.Count > f.Out.Count }

// GetGarbageCount is their number.
func (f *BlobInOutFlow) GetGarbageCount() uint64 { return f.In.Count - f.Out.Count }

// GetGarbageBytes is their size.
func (f *BlobInOutFlow) GetGarbageBytes() uint64 { return f.In.Bytes - f.Out.Bytes }

// BlobGarbageMeter finds how much more of the blob files becomes garbage by a
// compaction. The zero value is ready.
type BlobGarbageMeter struct {
	flows map[uint64]*BlobInOutFlow
}

// Flows are by file number. Files that the compaction itself wrote are not
// among them.
func (m *BlobGarbageMeter) Flows() map[uint64]*BlobInOutFlow { return m.flows }

// ProcessInFlow counts an entry that is read; key is an internal key.
func (m *BlobGarbageMeter) ProcessInFlow(key, value []byte) error {
	return m.process(key, value, true)
}

// ProcessOutFlow counts an entry that is kept.
func (m *BlobGarbageMeter) ProcessOutFlow(key, value []byte) error {
	return m.process(key, value, false)
}

func (m *BlobGarbageMeter) process(key, value []byte, in bool) error {
	k, err := dbformat.ParseInternalKey(key, false)
	if err != nil {
		return err
	}
	switch k.Type {
	case dbformat.TypeBlobIndex:
		var index blobformat.BlobIndex
		if err := index.DecodeFrom(value); err != nil {
			return err
		}
		return m.add(k.UserKey, &index, in)
	case dbformat.TypeWideColumnEntity:
		return wide.ForEachBlobFileNumber(value, func(index *blobformat.BlobIndex) error { return m.add(k.UserKey, index, in) })
	}
	return nil
}

func (m *BlobGarbageMeter) add(userKey []byte, index *blobformat.BlobIndex, in bool) error {
	if index.IsInlined() || index.HasTTL() {
		return rocksdb.Corruption("Unexpected TTL/inlined blob index")
	}
	if index.IsSameFile() {
		return nil
	}
	bytes := index.Size + blobformat.CalculateAdjustmentForRecordHeader(uint64(len(userKey)))
	f := m.flows[index.FileNumber]
	if !in {
		if f != nil {
			f.Out.Add(bytes)
		}
		return nil
	}
	if f == nil {
		if m.flows == nil {
			m.flows = map[uint64]*BlobInOutFlow{}
		}
		f = new(BlobInOutFlow)
		m.flows[index.FileNumber] = f
	}
	f.In.Add(bytes)
	return nil
}
