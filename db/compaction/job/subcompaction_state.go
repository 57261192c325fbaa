// Port of db/compaction/subcompaction_state.{h,cc} and
// compaction_state.{h,cc}. Differs: one set of outputs; a compaction's state is
// its list of parts.

package job

import (
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
	stats      rocksdb.CompactionJobStats
	ioStats    rocksdb.IOStatsContext
	rangeDel   *rangedel.CompactionRangeDelAggregator
	rangeArgs  rangeDelArgs

	notifyCompletion bool
	thread           uint64 // what listeners are told
}

func newSubcompactionState(c *compaction.Compaction, start, end []byte, id int) *subcompactionState {
	s := &subcompactionState{c: c, start: start, end: end, id: id, outputs: newCompactionOutputs(c),
		stats: rocksdb.NewCompactionJobStats()}
	s.outputs.setOutputSplitKey(start, end)
	return s
}

// hasRangeDel tells whether there are tombstones.
func (s *subcompactionState) hasRangeDel() bool { return s.rangeDel != nil && !s.rangeDel.IsEmpty() }

// cleanup lets go of a builder and, after an error, takes the outputs out of the
// cache of open tables.
func (s *subcompactionState) cleanup(cache rocksdb.Cache, overall error) {
	o := s.outputs
	if o.builder != nil {
		o.builder.Abandon()
		o.builder = nil
	}
	if o.writer != nil {
		_ = o.writer.Close(&rocksdb.IOOptions{}) // its file is not kept
		o.writer = nil
	}
	if s.status == nil && overall == nil {
		return
	}
	for i := range o.outputs {
		tablecache.ReleaseObsolete(cache, o.outputs[i].meta, s.c.MutableCFOptions().UncacheAggressiveness)
	}
}

// smallestUserKey is that of the first part with outputs, nil for none.
func smallestUserKey(parts []*subcompactionState) []byte {
	for _, s := range parts {
		if k := s.outputs.smallestUserKey(); len(k) > 0 {
			return k
		}
	}
	return nil
}

// largestUserKey is that of the last part with outputs, nil for none.
func largestUserKey(parts []*subcompactionState) []byte {
	for i := len(parts) - 1; i >= 0; i-- {
		if k := parts[i].outputs.largestUserKey(); len(k) > 0 {
			return k
		}
	}
	return nil
}
