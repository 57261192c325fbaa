// Port of db/wal_edit_test.cc.

package version

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func noErr(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func unsynced(n WalNumber) WalAddition { return NewWalAddition(n, UnsyncedWalMetadata()) }

func synced(n WalNumber, size uint64) WalAddition { return NewWalAddition(n, NewWalMetadata(size)) }

func TestWalSet_AddDeleteReset(t *testing.T) {
	var wals WalSet
	if len(wals.GetWals()) != 0 {
		t.Fatal("a new set is not empty")
	}
	for n := WalNumber(1); n <= 10; n++ {
		noErr(t, wals.AddWal(unsynced(n)))
	}
	if n := len(wals.GetWals()); n != 10 {
		t.Fatalf("%d WALs", n)
	}
	noErr(t, wals.DeleteWalsBefore(6))
	var numbers []WalNumber
	for _, w := range wals.GetWals() {
		numbers = append(numbers, w.GetLogNumber())
	}
	if want := []WalNumber{6, 7, 8, 9, 10}; !reflect.DeepEqual(numbers, want) {
		t.Errorf("left %v, want %v", numbers, want)
	}
	wals.Reset()
	if len(wals.GetWals()) != 0 {
		t.Error("WALs are left after Reset")
	}
}

func TestWalSet_Overwrite(t *testing.T) {
	var wals WalSet
	noErr(t, wals.AddWal(unsynced(100)))
	if w := wals.GetWals(); w[0].GetLogNumber() != 100 || w[0].GetMetadata().HasSyncedSize() {
		t.Errorf("created: %v", w)
	}
	noErr(t, wals.AddWal(synced(100, 200)))
	if w := wals.GetWals(); len(w) != 1 || !w[0].GetMetadata().HasSyncedSize() || w[0].GetMetadata().GetSyncedSizeInBytes() != 200 {
		t.Errorf("synced: %v", w)
	}
}

func TestWalSet_SmallerSyncedSize(t *testing.T) {
	var wals WalSet
	noErr(t, wals.AddWal(synced(100, 100)))
	before := wals.GetWals()
	noErr(t, wals.AddWal(synced(100, 0)))
	if after := wals.GetWals(); !reflect.DeepEqual(before, after) {
		t.Errorf("a smaller size changed %v to %v", before, after)
	}
}

func TestWalSet_CreateTwice(t *testing.T) {
	var wals WalSet
	noErr(t, wals.AddWal(unsynced(100)))
	if err := wals.AddWal(unsynced(100)); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), "WAL 100 is created more than once") {
		t.Errorf("got %v", err)
	}
}

func TestWalSet_DeleteAllWals(t *testing.T) {
	var wals WalSet
	for n := WalNumber(1); n <= 10; n++ {
		noErr(t, wals.AddWal(unsynced(n)))
	}
	noErr(t, wals.DeleteWalsBefore(11))
	if n := len(wals.GetWals()); n != 0 {
		t.Errorf("%d WALs are left", n)
	}
}

func TestWalSet_AddObsoleteWal(t *testing.T) {
	var wals WalSet
	noErr(t, wals.DeleteWalsBefore(101))
	noErr(t, wals.AddWal(unsynced(100)))
	if w := wals.GetWals(); len(w) != 0 {
		t.Errorf("an obsolete WAL was added: %v", w)
	}
}

func TestWalSet_MinWalNumberToKeep(t *testing.T) {
	var wals WalSet
	for _, step := range []struct{ before, want WalNumber }{{0, 0}, {100, 100}, {99, 100}, {101, 101}} {
		noErr(t, wals.DeleteWalsBefore(step.before))
		if got := wals.GetMinWalNumberToKeep(); got != step.want {
			t.Errorf("after deleting before %d: %d, want %d", step.before, got, step.want)
		}
	}
}

// walSetTest is a set of WALs beside files on disk.
type walSetTest struct {
	t      *testing.T
	dir    string
	onDisk map[WalNumber]string
	wals   WalSet
}

func newWalSetTest(t *testing.T) *walSetTest {
	return &walSetTest{t: t, dir: t.TempDir(), onDisk: map[WalNumber]string{}}
}

func (w *walSetTest) createOnDisk(n WalNumber, size uint64) {
	w.t.Helper()
	path := filepath.Join(w.dir, fmt.Sprintf("log%d", n))
	noErr(w.t, os.WriteFile(path, make([]byte, size), 0o644))
	w.onDisk[n] = path
}

func (w *walSetTest) addToSet(n WalNumber, size uint64) {
	w.t.Helper()
	noErr(w.t, w.wals.AddWal(unsynced(n)))
	noErr(w.t, w.wals.AddWal(synced(n, size)))
}

func (w *walSetTest) check() error {
	return w.wals.CheckWals(func(path string) (uint64, error) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return uint64(info.Size()), nil
	}, w.onDisk)
}

func (w *walSetTest) checkIsCorruption(message string) {
	w.t.Helper()
	if err := w.check(); !rocksdb.IsCorruption(err) || !strings.Contains(err.Error(), message) {
		w.t.Errorf("got %v, want a corruption saying %q", err, message)
	}
}

func TestWalSetTest_CheckEmptyWals(t *testing.T) { noErr(t, newWalSetTest(t).check()) }

func TestWalSetTest_CheckWals(t *testing.T) {
	w := newWalSetTest(t)
	for n := WalNumber(1); n < 10; n++ {
		size := rand.Uint64N(100)
		w.createOnDisk(n, size)
		if n > 5 { // the others are obsolete
			w.addToSet(n, size)
		}
	}
	noErr(t, w.check())
}

func TestWalSetTest_CheckMissingWals(t *testing.T) {
	w := newWalSetTest(t)
	for n := WalNumber(1); n < 10; n++ {
		size := rand.Uint64N(100)
		w.addToSet(n, size)
		if n%2 == 1 {
			w.createOnDisk(n, size)
		}
	}
	w.checkIsCorruption("Missing WAL with log number: 2")
}

func TestWalSetTest_CheckWalsWithShrinkedSize(t *testing.T) {
	w := newWalSetTest(t)
	for n := WalNumber(1); n < 10; n++ {
		size := rand.Uint64N(100) + 1
		w.addToSet(n, size)
		w.createOnDisk(n, size-(1-uint64(n)%2))
	}
	w.checkIsCorruption("Size mismatch: WAL (log number: 2)")
}
