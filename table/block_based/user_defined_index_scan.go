// Port of table/block_based/multi_scan_index_iterator.{h,cc}, for user-defined
// indexes. Differs: seeks outside the announced ranges go to the table's own index.

package blockbased

import (
	"sort"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/table/format"
	"github.com/rocksdb-go/rocksdb/table/internaliter"
)

// scanIndex is what a user-defined index answered for the ranges of a multi-scan.
// The index is asked once for each range, when it is prepared; scanIndex stands
// in for it thereafter, so that it does not matter how often a range is sought.
type scanIndex struct {
	internaliter.Base
	icmp    *dbformat.InternalKeyComparator
	ranges  []scanIndexRange
	reverse bool
	rest    internaliter.InternalIndexIterator // for all other seeks
	inRest  bool
	cur     *scanIndexRange // nil: not valid
	at      int
	err     error // of asking the index; seeks within the ranges have it
}

// scanIndexRange is one range and the index's entries for it.
type scanIndexRange struct {
	start, limit []byte // user keys without timestamp; the limit may be nil
	entries      []scanIndexEntry
}

type scanIndexEntry struct {
	key   []byte // internal
	value format.IndexValue
}

func newScanIndex(icmp *dbformat.InternalKeyComparator, args *rocksdb.MultiScanArgs) *scanIndex {
	s := &scanIndex{icmp: icmp, reverse: args.Reverse}
	for i := range args.Ranges {
		r := &args.Ranges[i].Range
		s.ranges = append(s.ranges, scanIndexRange{start: append([]byte(nil), r.Start...)})
		if r.Limit != nil {
			s.ranges[i].limit = append([]byte{}, r.Limit...)
		}
	}
	return s
}

// add takes an entry of range i.
func (s *scanIndex) add(i int, key []byte, v format.IndexValue) {
	r := &s.ranges[i]
	r.entries = append(r.entries, scanIndexEntry{append([]byte(nil), key...), format.IndexValue{Handle: v.Handle}})
}

// rangeOf gives the range that a target lies in, nil for none. A backward scan
// begins at its limit.
func (s *scanIndex) rangeOf(target []byte) *scanIndexRange {
	cmp, user := s.icmp.UserComparator(), dbformat.ExtractUserKey(target)
	i := sort.Search(len(s.ranges), func(i int) bool {
		if s.ranges[i].limit == nil {
			return true
		}
		c := cmp.CompareWithoutTimestamp(user, true, s.ranges[i].limit, false)
		return c < 0 || c == 0 && s.reverse
	})
	if i < len(s.ranges) && cmp.CompareWithoutTimestamp(user, true, s.ranges[i].start, false) >= 0 {
		return &s.ranges[i]
	}
	return nil
}

// stays tells whether a target lies in the range that s is on.
func (s *scanIndex) stays(target []byte) bool { return !s.inRest && s.rangeOf(target) == s.cur }

func (s *scanIndex) Valid() bool {
	if s.inRest {
		return s.rest.Valid()
	}
	return s.cur != nil && s.err == nil && s.at >= 0 && s.at < len(s.cur.entries)
}

func (s *scanIndex) Status() error {
	if s.inRest {
		return s.rest.Status()
	}
	return s.err
}

func (s *scanIndex) Key() []byte {
	if s.inRest {
		return s.rest.Key()
	}
	return s.cur.entries[s.at].key
}

func (s *scanIndex) UserKey() []byte {
	if s.inRest {
		return s.rest.UserKey()
	}
	return dbformat.ExtractUserKey(s.cur.entries[s.at].key)
}

func (s *scanIndex) Value() format.IndexValue {
	if s.inRest {
		return s.rest.Value()
	}
	return s.cur.entries[s.at].value
}

// Seek goes to the first entry of the target's range that is not before it; for a
// backward scan that is the range's last one where all are before it.
func (s *scanIndex) Seek(target []byte) {
	s.cur = s.rangeOf(target)
	if s.inRest = s.cur == nil; s.inRest {
		s.rest.Seek(target)
		return
	}
	n := len(s.cur.entries)
	s.at = sort.Search(n, func(i int) bool { return s.icmp.Compare(s.cur.entries[i].key, target) >= 0 })
	if s.reverse && s.at == n {
		s.at = n - 1
	}
}

func (s *scanIndex) SeekForPrev(target []byte) {
	s.cur, s.inRest = nil, true
	s.rest.SeekForPrev(target)
}

func (s *scanIndex) SeekToFirst() {
	s.cur, s.inRest = nil, true
	s.rest.SeekToFirst()
}

func (s *scanIndex) SeekToLast() {
	s.cur, s.inRest = nil, true
	s.rest.SeekToLast()
}

func (s *scanIndex) Next() {
	if s.inRest {
		s.rest.Next()
	} else {
		s.at++
	}
}

func (s *scanIndex) Prev() {
	if s.inRest {
		s.rest.Prev()
	} else {
		s.at--
	}
}

func (s *scanIndex) NextAndGetResult(res *internaliter.IterateResult) bool {
	s.Next()
	if s.Valid() {
		*res = internaliter.IterateResult{Key: s.Key(), ValuePrepared: true}
	}
	return s.Valid()
}

func (s *scanIndex) Close() error { return s.rest.Close() }
