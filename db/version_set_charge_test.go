// Port of db/version_set_test.cc (ChargeFileMetadataTest). Differs: fewer files,
// of larger keys.

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/cache"
)

// chargedMetadata gives options by which files' metadata is charged, or not, to
// a strict cache of so many pieces, and what is charged.
func (x *dbTest) chargedMetadata(pieces int, decision rocksdb.CacheEntryRoleDecision) (rocksdb.Options, *chargeTracker) {
	x.Helper()
	co := rocksdb.DefaultLRUCacheOptions(pieces * cache.DummyEntrySize)
	co.NumShardBits, co.StrictCapacityLimit = 0, true
	c, err := rocksdb.NewLRUCacheWithOptions(co)
	x.must(err)
	tracker := trackCharges(c, rocksdb.CacheEntryRoleFileMetadata)
	b := rocksdb.DefaultBlockBasedTableOptions()
	b.BlockCache = tracker
	b.CacheUsageOptions.OptionsOverrides = map[rocksdb.CacheEntryRole]rocksdb.CacheEntryRoleOptions{rocksdb.CacheEntryRoleFileMetadata: {Charged: decision}}
	o := x.currentOptions()
	o.LevelCompactionDynamicLevelBytes, o.DisableAutoCompactions = false, true
	o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
	return o, tracker
}

func TestChargeFileMetadataTestWithParam_Basic(t *testing.T) {
	for _, decision := range []rocksdb.CacheEntryRoleDecision{rocksdb.CacheEntryRoleEnabled, rocksdb.CacheEntryRoleDisabled} {
		charged := decision == rocksdb.CacheEntryRoleEnabled
		t.Run(fmt.Sprintf("charged=%t", charged), func(t *testing.T) {
			x := newDBTest(t)
			o, tracker := x.chargedMetadata(4, decision)
			x.destroyAndReopen(o)
			want := func(pieces int) {
				t.Helper()
				if !charged {
					pieces = 0
				}
				if tracker.now != pieces*cache.DummyEntrySize {
					t.Errorf("%d bytes are charged, want %d pieces", tracker.now, pieces)
				}
			}
			files := func(n int) {
				for range n {
					x.puts(0, strings.Repeat("a", 16<<10), "va", "b", "vb", "flush")
				}
			}
			const perPiece = 11
			files(perPiece)
			want(1)
			files(perPiece)
			want(2)
			x.must(x.db.CompactRange(nil, nil, nil))
			x.wantFiles(0, "0,1")
			x.must(x.full().TestWaitForBackgroundWork()) // the old files are purged
			want(1)
			x.destroy(o)
			want(0)

			// Where there is no room a flush fails.
			o, _ = x.chargedMetadata(1, decision)
			x.reopen(o)
			x.puts(0, "a", "va", "b", "vb")
			err := x.db.Flush(nil)
			switch {
			case !charged:
				x.must(err)
			case rocksdb.AsStatus(err).SubCode != rocksdb.SubCodeMemoryLimit || !strings.Contains(err.Error(), cache.CacheEntryRoleToCamelString(rocksdb.CacheEntryRoleFileMetadata)) ||
				!strings.Contains(err.Error(), "memory limit based on cache capacity"):
				t.Error(err)
			}
		})
	}
}
