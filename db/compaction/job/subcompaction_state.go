// Port of db/compaction/subcompaction_state.{h,cc} and
// compaction_state.{h,cc}. Differs: a compaction's state is its list of parts.

package job

import (
	"github.com/rocksdb-go/rocksdb/db/blob"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/compaction"
	"github.com/rocksdb-go/rocksdb/db/rangedel"
	"github.com/rocksdb-go/rocksdb/db/tablecache"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// subcompactionState is a part of a compaction: the user keys from start up to
// end, excluded.
type subcompactionState struct {
	c          *compaction.Compaction
	start, end []byte // nil is open
	id         int
	status     error
	outputs    *compactionOutputs
	// proximal are the outputs on the level above the last one; nil where there can
	// be none.
	proximal  *compactionOutputs
	blobs     *blob.BlobFileBuilder  // nil: values stay in the tables
	garbage   *blob.BlobGarbageMeter // of the inputs' blobs; nil: they have none
	stats     rocksdb.CompactionJobStats
	ioStats   rocksdb.IOStatsContext
	rangeDel  *rangedel.CompactionRangeDelAggregator
	rangeArgs rangeDelArgs

	notifyCompletion bool
	thread           uint64 // what listeners are told
}

func newSubcompactionState(c *compaction.Compaction, start, end []byte, id int) *subcompactionState {
	s := &subcompactionState{c: c, start: start, end: end, id: id, outputs: newCompactionOutputs(c, false),
		stats: rocksdb.NewCompactionJobStats()}
	s.outputs.setOutputSplitKey(start, end)
	if c.SupportsPerKeyPlacement() {
		s.proximal = newCompactionOutputs(c, true)
	}
	return s
}

// groups are the outputs, those on the proximal level first.
func (s *subcompactionState) groups() []*compactionOutputs {
	if s.proximal == nil {
		return []*compactionOutputs{s.outputs}
	}
	return []*compactionOutputs{s.proximal, s.outputs}
}

// eachOutput calls do with every table until it fails.
func (s *subcompactionState) eachOutput(do func(out *output) error) error {
	for _, o := range s.groups() {
		for i := range o.outputs {
			if err := do(&o.outputs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// blobAdditions are the blob files made.
func (s *subcompactionState) blobAdditions() []blobformat.BlobFileAddition {
	if s.blobs == nil {
		return nil
	}
	return s.blobs.Additions()
}

// allPaths are those of all files ever made.
func (s *subcompactionState) allPaths() (paths []string) {
	for _, o := range s.groups() {
		paths = append(paths, o.paths...)
	}
	if s.blobs != nil {
		paths = append(paths, s.blobs.Paths()...)
	}
	return paths
}

// forget drops what was written.
func (s *subcompactionState) forget() {
	for _, o := range s.groups() {
		o.outputs, o.paths = nil, nil
	}
	s.blobs = nil
}

// hasRangeDel tells whether there are tombstones.
func (s *subcompactionState) hasRangeDel() bool { return s.rangeDel != nil && !s.rangeDel.IsEmpty() }

// cleanup lets go of a builder and, after an error, takes the outputs out of the
// cache of open tables.
func (s *subcompactionState) cleanup(cache rocksdb.Cache, overall error) {
	for _, o := range s.groups() {
		o.abandon()
	}
	if s.status == nil && overall == nil {
		return
	}
	_ = s.eachOutput(func(out *output) error {
		tablecache.ReleaseObsolete(cache, out.meta, s.c.MutableCFOptions().UncacheAggressiveness)
		return nil
	})
}

// userKeyBounds are the least and the greatest user key of the tables, nil for none.
func (s *subcompactionState) userKeyBounds() (smallest, largest []byte) {
	for _, o := range s.groups() {
		lo, hi := o.smallestUserKey(), o.largestUserKey()
		if len(lo) > 0 && (len(smallest) == 0 || s.c.Comparator().CompareUserKey(lo, smallest) < 0) {
			smallest = lo
		}
		if len(hi) > 0 && (len(largest) == 0 || s.c.Comparator().CompareUserKey(hi, largest) > 0) {
			largest = hi
		}
	}
	return smallest, largest
}

// smallestUserKey is that of the first part with outputs, nil for none.
func smallestUserKey(parts []*subcompactionState) []byte {
	for _, s := range parts {
		if k, _ := s.userKeyBounds(); len(k) > 0 {
			return k
		}
	}
	return nil
}

// largestUserKey is that of the last part with outputs, nil for none.
func largestUserKey(parts []*subcompactionState) []byte {
	for i := len(parts) - 1; i >= 0; i-- {
		if _, k := parts[i].userKeyBounds(); len(k) > 0 {
			return k
		}
	}
	return nil
}
