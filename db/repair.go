// Port of db/repair.cc, what a repair learns and orders without changing
// anything. Differs: upstream does not look into the MANIFESTs at all. The
// repair itself is in db/db_impl/repair.go, which needs the layer above.

package db

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// SalvagedFamily is a column family as a MANIFEST names it.
type SalvagedFamily struct {
	Name       string
	Comparator string // "" where the MANIFEST does not say
}

// SalvagedManifest is what a MANIFEST, whole or damaged, still tells.
type SalvagedManifest struct {
	Families map[uint32]SalvagedFamily // live ones, by id
	Tables   map[uint64]*version.FileMetaData
	Blobs    map[uint64]blobformat.BlobFileAddition
	// Complete says that it was read to its end.
	Complete bool
}

// SalvageManifest reads the MANIFEST at path as far as it can be read. An error
// only says that the file could not be opened.
func SalvageManifest(path string, fs rocksdb.FileSystem) (*SalvagedManifest, error) {
	var c firstCorruption
	r, err := openManifest(fs, path, nil, nil, nil, &c)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m := &SalvagedManifest{
		Families: map[uint32]SalvagedFamily{0: {Name: rocksdb.DefaultColumnFamilyName}},
		Tables:   map[uint64]*version.FileMetaData{}, Blobs: map[uint64]blobformat.BlobFileAddition{}}
	h := &salvageHandler{m: m}
	it := editIterator{fs: fs}
	m.Complete = it.iterate(r, &c.err, h) == nil && h.edits > 0
	return m, nil
}

// salvageHandler takes in edits without asking whether they fit together.
type salvageHandler struct {
	noAtomicGroups
	m     *SalvagedManifest
	edits int
}

func (h *salvageHandler) applyVersionEdit(e *version.VersionEdit) error {
	h.edits++
	id := e.GetColumnFamily()
	if e.IsColumnFamilyDrop() {
		delete(h.m.Families, id)
		return nil
	}
	if e.IsColumnFamilyAdd() {
		h.m.Families[id] = SalvagedFamily{Name: e.GetColumnFamilyName()}
	}
	if f, known := h.m.Families[id]; known && e.HasComparatorName() {
		f.Comparator = e.GetComparatorName()
		h.m.Families[id] = f
	}
	// A table that moves between levels is deleted and added by one edit.
	for _, d := range e.GetDeletedFiles() {
		delete(h.m.Tables, d.Number)
	}
	for _, f := range e.GetNewFiles() {
		h.m.Tables[f.Meta.FD.GetNumber()] = f.Meta
	}
	for _, b := range e.GetBlobFileAdditions() {
		h.m.Blobs[b.GetBlobFileNumber()] = b
	}
	return nil
}

// NumberRepairedFiles gives a family's tables, all of level 0, epoch numbers in
// the order of their sequence numbers.
func NumberRepairedFiles(files []*version.FileMetaData, cfd *ColumnFamilyData) {
	slices.SortFunc(files, newestFirstBySeqNo)
	next := version.UnknownEpochNumber + 1
	if io := cfd.IOptions(); io.AllowIngestBehind || io.CFAllowIngestBehind {
		next = version.ReservedEpochNumberForFileIngestedBehind + 1
	}
	for _, f := range slices.Backward(files) {
		f.EpochNumber = uint64(next)
		next++
	}
}
