// Port of memtable/skiplist_test.cc.

package memtable

import (
	"cmp"
	"testing"

	"github.com/rocksdb-go/rocksdb/memory"
)

type testSkipList struct{ *SkipList[uint64] }

func (l testSkipList) InsertConcurrently(uint64, bool) { panic("not for this list") }

func (l testSkipList) Iterator() testIterator {
	it := l.NewIterator()
	return &it
}

func newTestSkipList(t *testing.T) testList {
	arena := memory.NewArena(memory.MinBlockSize, nil, 0)
	t.Cleanup(arena.Free)
	return testSkipList{NewSkipList(cmp.Compare[uint64], arena, 0, 0)}
}

func TestSkipTest_Empty(t *testing.T) { checkEmpty(t, newTestSkipList(t)) }

func TestSkipTest_InsertAndLookup(t *testing.T) { checkInsertAndLookup(t, newTestSkipList(t)) }

func TestSkipTest_ConcurrentWithoutThreads(t *testing.T) {
	stressWithoutThreads(t, newTestSkipList(t), false)
}

func TestSkipTest_Concurrent1(t *testing.T) { stressConcurrently(t, newTestSkipList, 1, 1, false) }
func TestSkipTest_Concurrent2(t *testing.T) { stressConcurrently(t, newTestSkipList, 2, 1, false) }
func TestSkipTest_Concurrent3(t *testing.T) { stressConcurrently(t, newTestSkipList, 3, 1, false) }
func TestSkipTest_Concurrent4(t *testing.T) { stressConcurrently(t, newTestSkipList, 4, 1, false) }
func TestSkipTest_Concurrent5(t *testing.T) { stressConcurrently(t, newTestSkipList, 5, 1, false) }
