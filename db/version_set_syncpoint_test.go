// Port of db/version_set_test.cc, the cases that need sync points.

//go:build syncpoint

package db

import (
	"os"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/test_util/syncpoint"
)

func onSyncPoint(t *testing.T, point string, f func(arg any)) {
	t.Cleanup(syncpoint.Reset)
	syncpoint.SetCallBack(point, f)
	syncpoint.EnableProcessing()
}

func TestVersionSetTest_SameColumnFamilyGroupCommit(t *testing.T) {
	v := newVersionSetTestDB(t)
	const size = 5
	var groups []EditsForFamily
	for range size {
		groups = append(groups, EditsForFamily{v.def(), []*version.VersionEdit{{}}})
	}
	count := 0
	onSyncPoint(t, "VersionSet::ProcessManifestWrites:SameColumnFamily", func(arg any) {
		if id := *arg.(*uint32); id != 0 {
			t.Errorf("family %d", id)
		}
		count++
	})
	v.mu.Lock()
	err := v.vs.LogAndApplyEach(groups, &v.mu, nil)
	v.mu.Unlock()
	v.noErr(err)
	if count != size-1 {
		t.Errorf("%d edits joined the first, want %d", count, size-1)
	}
}

// closeTest is a database about to be closed.
type closeTest struct {
	*versionSetTest
	stats rocksdb.Statistics
	path  string
}

func newCloseTest(t *testing.T, verify bool) *closeTest {
	c := &closeTest{versionSetTest: newVersionSetTest(t), stats: monitoring.CreateDBStatistics()}
	c.db.Statistics = c.stats
	c.reset()
	c.newDB(testFamilies...)
	c.mustRecover(testFamilies...)
	if verify {
		c.mut.VerifyManifestContentOnClose = true
		c.vs.UpdatedMutableDBOptions(&c.mut)
	}
	c.noErr(c.apply(func(*version.VersionEdit) {}))
	c.path = c.manifestPath()
	return c
}

func (c *closeTest) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vs.Close(nil, &c.mu)
}

func (c *closeTest) wantFailures(n uint64) {
	c.t.Helper()
	if got := c.stats.GetTickerCount(rocksdb.ManifestValidationFailureCount); got != n {
		c.t.Errorf("%d failures were counted, want %d", got, n)
	}
}

func (c *closeTest) wantRotated(rotated bool) {
	c.t.Helper()
	if now := c.manifestPath(); (now != c.path) != rotated {
		c.t.Errorf("the MANIFEST was %s and is %s", c.path, now)
	}
}

func (c *closeTest) truncate() {
	if err := os.Truncate(c.manifestPath(), 0); err != nil {
		c.t.Error(err)
	}
}

// corrupt damages the middle of the current MANIFEST.
func (c *closeTest) corrupt() {
	path := c.manifestPath()
	data, err := os.ReadFile(path)
	if err != nil || len(data) <= 20 {
		c.t.Errorf("%d bytes, %v", len(data), err)
		return
	}
	for i := range 8 {
		data[len(data)/2+i] ^= 0xff
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		c.t.Error(err)
	}
}

func TestVersionSetTest_ManifestTruncateAfterClose(t *testing.T) {
	c := newCloseTest(t, false)
	onSyncPoint(t, "VersionSet::Close:AfterClose", func(any) { c.truncate() })
	c.noErr(c.close())
	syncpoint.DisableProcessing()
	c.reopen()
}

func TestVersionSetTest_ManifestContentValidationOnCloseClean(t *testing.T) {
	c := newCloseTest(t, true)
	ran := false
	onSyncPoint(t, "VersionSet::Close:BeforeContentValidation", func(any) { ran = true })
	c.noErr(c.close())
	if !ran {
		t.Error("the MANIFEST was not validated")
	}
	c.wantFailures(0)
	c.wantRotated(false)
	c.reopen()
}

func TestVersionSetTest_ManifestContentValidationOnCloseCorruptRecord(t *testing.T) {
	c := newCloseTest(t, true)
	onSyncPoint(t, "VersionSet::Close:BeforeContentValidation", func(any) { c.corrupt() })
	c.noErr(c.close())
	syncpoint.DisableProcessing()
	c.wantFailures(1)
	c.wantRotated(true)
	c.reopen()
}

func TestVersionSetTest_ManifestContentValidationOnCloseDisabled(t *testing.T) {
	c := newCloseTest(t, false)
	onSyncPoint(t, "VersionSet::Close:BeforeContentValidation", func(any) { t.Error("the MANIFEST was validated") })
	c.noErr(c.close())
	c.wantFailures(0)
	c.wantRotated(false)
}

func TestVersionSetTest_ManifestContentValidationOnCloseSizeCheckFails(t *testing.T) {
	c := newCloseTest(t, true)
	onSyncPoint(t, "VersionSet::Close:AfterClose", func(any) { c.truncate() })
	c.noErr(c.close())
	syncpoint.DisableProcessing()
	c.wantFailures(0)
	c.wantRotated(true)
	c.reopen()
}

// ioErrorCounter counts OnIOError.
type ioErrorCounter struct {
	rocksdb.EventListenerBase
	n int
}

func (l *ioErrorCounter) OnIOError(*rocksdb.IOErrorInfo) { l.n++ }

func TestVersionSetTest_ManifestContentValidationOnCloseCorruptAfterRewrite(t *testing.T) {
	c := newCloseTest(t, true)
	var listener ioErrorCounter
	c.imm.Listeners = append(c.imm.Listeners, &listener)
	onSyncPoint(t, "VersionSet::Close:BeforeContentValidation", func(any) { c.corrupt() })
	onSyncPoint(t, "VersionSet::LogAndApply:WriteManifestDone", func(any) { c.corrupt() })
	err := c.close()
	syncpoint.DisableProcessing()
	c.wantCorruption(err, "")
	if listener.n != 2 {
		t.Errorf("listeners heard of %d errors, want 2", listener.n)
	}
	c.wantFailures(2)
}

func TestVersionSetTest_ManifestContentValidationOnCloseOpenFails(t *testing.T) {
	c := newCloseTest(t, true)
	onSyncPoint(t, "VersionSet::Close:BeforeContentValidation", func(any) {
		if err := os.Remove(c.manifestPath()); err != nil {
			t.Error(err)
		}
	})
	if err := c.close(); !rocksdb.IsIOError(err) {
		t.Errorf("got %v", err)
	}
	c.wantFailures(0)
}

// groupTest recovers a MANIFEST that ends in an atomic group.
type groupTest struct {
	*versionSetTest
	edits            []*version.VersionEdit
	first, last      bool
	inGroup          int
	recovered        int
	mixed, wrongSize string
}

// newGroupTest makes size edits; mark says how many are left after the i-th,
// or -1 for an edit outside of groups.
func newGroupTest(t *testing.T, size int, mark func(i int) int) *groupTest {
	g := &groupTest{versionSetTest: newVersionSetTest(t)}
	for i := range size {
		g.edits = append(g.edits, edit(func(e *version.VersionEdit) {
			e.SetLogNumber(0)
			e.SetNextFile(2)
			if left := mark(i); left >= 0 {
				e.MarkAtomicGroup(uint32(left))
			}
			e.SetLastSequence(uint64(4 + i))
		}))
	}
	text := func(arg any) string { return arg.(*version.VersionEdit).DebugString(false) }
	onSyncPoint(t, "AtomicGroupReadBuffer::AddEdit:FirstInAtomicGroup", func(arg any) {
		if got, want := text(arg), g.edits[0].DebugString(false); got != want {
			t.Errorf("first in group:\n%s\nwant\n%s", got, want)
		}
		g.first = true
	})
	onSyncPoint(t, "AtomicGroupReadBuffer::AddEdit:LastInAtomicGroup", func(arg any) {
		if got, want := text(arg), g.edits[size-1].DebugString(false); got != want || !g.first {
			t.Errorf("last in group, first %t:\n%s\nwant\n%s", g.first, got, want)
		}
		g.last = true
	})
	onSyncPoint(t, "VersionEditHandlerBase::Iterate:Finish", func(arg any) { g.recovered = *arg.(*int) })
	onSyncPoint(t, "AtomicGroupReadBuffer::AddEdit:AtomicGroup", func(any) { g.inGroup++ })
	onSyncPoint(t, "AtomicGroupReadBuffer::AddEdit:AtomicGroupMixedWithNormalEdits", func(arg any) { g.mixed = text(arg) })
	onSyncPoint(t, "AtomicGroupReadBuffer::AddEdit:IncorrectAtomicGroupSize", func(arg any) { g.wrongSize = text(arg) })
	return g
}

// write makes a MANIFEST of the first n edits after those of a new database.
func (g *groupTest) write(n int) {
	g.t.Helper()
	edits := []*version.VersionEdit{edit(func(e *version.VersionEdit) {
		e.SetDBId("id")
		e.SetLogNumber(0)
		e.SetNextFile(2)
		e.SetLastSequence(0)
	})}
	for i, e := range addFamilies(3) {
		e.SetLogNumber(0)
		e.SetNextFile(2)
		e.SetLastSequence(uint64(1 + i))
		edits = append(edits, e)
	}
	g.writeManifest(1, append(edits, g.edits[:n]...)...)
}

// recover recovers a MANIFEST of n edits.
func (g *groupTest) recover(n int) error {
	g.t.Helper()
	g.write(n)
	_, err := g.vs.Recover(g.descriptors(testFamilies...), false, nil)
	if got := g.vs.GetColumnFamilySet().NumberOfColumnFamilies(); got != 4 {
		g.t.Errorf("%d families", got)
	}
	return err
}

func TestVersionSetAtomicGroupTest_HandleValidAtomicGroupWithVersionSetRecover(t *testing.T) {
	g := newGroupTest(t, 3, func(i int) int { return 2 - i })
	g.noErr(g.recover(3))
	if !g.first || !g.last || g.recovered != 4+3 {
		t.Errorf("first %t, last %t, %d edits", g.first, g.last, g.recovered)
	}
}

func TestVersionSetAtomicGroupTest_HandleIncompleteTrailingAtomicGroupWithVersionSetRecover(t *testing.T) {
	g := newGroupTest(t, 4, func(i int) int { return 3 - i })
	g.noErr(g.recover(3))
	if !g.first || g.last || g.inGroup != 3 || g.recovered != 4 {
		t.Errorf("first %t, last %t, %d edits in the group, %d applied", g.first, g.last, g.inGroup, g.recovered)
	}
}

// newCorruptedGroup has an edit outside of the group in its middle.
func newCorruptedGroup(t *testing.T) *groupTest {
	left := 4
	return newGroupTest(t, 4, func(i int) int {
		if i == 2 {
			return -1
		}
		left--
		return left
	})
}

func (g *groupTest) wantMixed() {
	g.t.Helper()
	if want := g.edits[2].DebugString(false); g.mixed != want {
		g.t.Errorf("the wrong edit is\n%s\nwant\n%s", g.mixed, want)
	}
}

func TestVersionSetAtomicGroupTest_HandleCorruptedAtomicGroupWithVersionSetRecover(t *testing.T) {
	g := newCorruptedGroup(t)
	if err := g.recover(4); err == nil {
		t.Error("an edit outside of the group was taken")
	}
	g.wantMixed()
}

func newWrongSizeGroup(t *testing.T) *groupTest {
	return newGroupTest(t, 4, func(i int) int { return []int{3, 3, 1, 0}[i] })
}

func (g *groupTest) wantWrongSize() {
	g.t.Helper()
	if want := g.edits[1].DebugString(false); g.wrongSize != want {
		g.t.Errorf("the wrong edit is\n%s\nwant\n%s", g.wrongSize, want)
	}
}

func TestVersionSetAtomicGroupTest_HandleIncorrectAtomicGroupSizeWithVersionSetRecover(t *testing.T) {
	g := newWrongSizeGroup(t)
	if err := g.recover(4); err == nil {
		t.Error("a group of the wrong size was taken")
	}
	g.wantWrongSize()
}

// reactive follows the MANIFEST from where it has n edits.
func (g *groupTest) reactive(n int) (*ReactiveVersionSet, error) {
	g.t.Helper()
	g.write(n)
	r := NewReactiveVersionSet(g.vs)
	g.t.Cleanup(r.Close)
	err := r.Recover(g.descriptors(testFamilies...))
	if got := g.vs.GetColumnFamilySet().NumberOfColumnFamilies(); got != 4 {
		g.t.Errorf("%d families", got)
	}
	return r, err
}

func (g *groupTest) readAndApply(r *ReactiveVersionSet, n int) error {
	g.write(n)
	_, err := r.ReadAndApply()
	return err
}

// wantHeld wants that many edits of an incomplete group kept by r.
func (g *groupTest) wantHeld(r *ReactiveVersionSet, n int) {
	g.t.Helper()
	held := 0
	for _, e := range r.tailer.readBuffer.Edits() {
		if e != nil {
			held++
		}
	}
	if held != n {
		g.t.Errorf("%d edits are kept, want %d", held, n)
	}
}

func TestVersionSetAtomicGroupTest_HandleValidAtomicGroupWithReactiveVersionSetRecover(t *testing.T) {
	g := newGroupTest(t, 3, func(i int) int { return 2 - i })
	r, err := g.reactive(3)
	g.noErr(err)
	if !g.first || !g.last || g.recovered != 4+3 {
		t.Errorf("first %t, last %t, %d edits", g.first, g.last, g.recovered)
	}
	g.wantHeld(r, 0)
}

func TestVersionSetAtomicGroupTest_HandleValidAtomicGroupWithReactiveVersionSetReadAndApply(t *testing.T) {
	g := newGroupTest(t, 3, func(i int) int { return 2 - i })
	r, err := g.reactive(0)
	g.noErr(err)
	if g.recovered != 4 {
		t.Errorf("%d edits", g.recovered)
	}
	g.noErr(g.readAndApply(r, 3))
	if !g.first || !g.last || g.recovered != 3 {
		t.Errorf("first %t, last %t, %d edits", g.first, g.last, g.recovered)
	}
	g.wantHeld(r, 0)
}

func TestVersionSetAtomicGroupTest_HandleIncompleteTrailingAtomicGroupWithReactiveVersionSetRecover(t *testing.T) {
	g := newGroupTest(t, 4, func(i int) int { return 3 - i })
	r, err := g.reactive(3)
	g.noErr(err)
	if !g.first || g.last || g.inGroup != 3 || g.recovered != 4 {
		t.Errorf("first %t, last %t, %d edits in the group, %d applied", g.first, g.last, g.inGroup, g.recovered)
	}
	g.wantHeld(r, 3)
	g.noErr(g.readAndApply(r, 4))
	if !g.last || g.recovered != 4 {
		t.Errorf("last %t, %d edits", g.last, g.recovered)
	}
	g.wantHeld(r, 0)
}

func TestVersionSetAtomicGroupTest_HandleIncompleteTrailingAtomicGroupWithReactiveVersionSetReadAndApply(t *testing.T) {
	g := newGroupTest(t, 4, func(i int) int { return 3 - i })
	r, err := g.reactive(0)
	g.noErr(err)
	g.noErr(g.readAndApply(r, 3))
	if !g.first || g.last || g.inGroup != 3 || g.recovered != 0 {
		t.Errorf("first %t, last %t, %d edits in the group, %d applied", g.first, g.last, g.inGroup, g.recovered)
	}
	g.wantHeld(r, 3)
}

func TestVersionSetAtomicGroupTest_HandleCorruptedAtomicGroupWithReactiveVersionSetRecover(t *testing.T) {
	g := newCorruptedGroup(t)
	if _, err := g.reactive(4); err == nil {
		t.Error("an edit outside of the group was taken")
	}
	g.wantMixed()
}

func TestVersionSetAtomicGroupTest_HandleCorruptedAtomicGroupWithReactiveVersionSetReadAndApply(t *testing.T) {
	g := newCorruptedGroup(t)
	r, err := g.reactive(0)
	g.noErr(err)
	if err := g.readAndApply(r, 4); err == nil {
		t.Error("an edit outside of the group was taken")
	}
	g.wantMixed()
}

func TestVersionSetAtomicGroupTest_HandleIncorrectAtomicGroupSizeWithReactiveVersionSetRecover(t *testing.T) {
	g := newWrongSizeGroup(t)
	if _, err := g.reactive(4); err == nil {
		t.Error("a group of the wrong size was taken")
	}
	g.wantWrongSize()
}

func TestVersionSetAtomicGroupTest_HandleIncorrectAtomicGroupSizeWithReactiveVersionSetReadAndApply(t *testing.T) {
	g := newWrongSizeGroup(t)
	r, err := g.reactive(0)
	g.noErr(err)
	if err := g.readAndApply(r, 4); err == nil {
		t.Error("a group of the wrong size was taken")
	}
	g.wantWrongSize()
}
