// No upstream twin: cache keys against their description (upstream tests them
// in db/db_block_cache_test.cc).

package cache

import (
	"bytes"
	"math/bits"
	"math/rand"
	"testing"

	"github.com/rocksdb-go/rocksdb/table/uniqueid"
	"github.com/rocksdb-go/rocksdb/util"
)

func TestOffsetableCacheKey(t *testing.T) {
	session := uniqueid.EncodeSessionId(0x1234567, 42)
	base := NewOffsetableCacheKey("a-db-id", session, 9)
	id, err := uniqueid.GetSstInternalUniqueId("a-db-id", session, 9, false)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, base, OffsetableCacheKeyFromInternalUniqueId(id.Standard()))
	equal(t, CacheKey{util.DownwardInvolution(id[0]) ^ bits.Reverse64(id[1]), bits.Reverse64(id[0])}, base.WithOffset(0))
	equal(t, base.WithOffset(77), base.WithOffsetForMinSizeRecord(77<<2+3))
	if k := base.WithOffset(5).AsSlice(); !bytes.HasPrefix(k, base.CommonPrefix()) || len(k) != CacheKeySize {
		t.Fatalf("%x does not begin with %x", k, base.CommonPrefix())
	}
	equal(t, true, OffsetableCacheKeyFromInternalUniqueId(uniqueid.NullUniqueId64x2).IsEmpty())
	// A malformed session id still gives a key.
	equal(t, false, NewOffsetableCacheKey("", "", 0).IsEmpty())

	r := rand.New(rand.NewSource(1))
	for i := range 2000 {
		id := uniqueid.UniqueId64x2{r.Uint64() >> (r.Intn(64)), r.Uint64() >> r.Intn(64)}
		if i%50 == 0 {
			id[1] = bits.Reverse64(util.DownwardInvolution(id[0])) // first word 0
		}
		if id[0] == 0 {
			continue
		}
		k := OffsetableCacheKeyFromInternalUniqueId(id)
		equal(t, false, k.IsEmpty())
		if back := k.ToInternalUniqueId(); back != id && i%50 != 0 {
			t.Fatalf("%v gives %v", id, back)
		}
	}
}

func TestCacheKey_Unique(t *testing.T) {
	c := NewLRUCacheOfCapacity(1 << 20)
	a, b := CreateUniqueForCacheLifetime(c), CreateUniqueForCacheLifetime(c)
	p, q := CreateUniqueForProcessLifetime(), CreateUniqueForProcessLifetime()
	seen := map[CacheKey]bool{{}: true}
	for _, k := range []CacheKey{a, b, p, q} {
		equal(t, false, seen[k])
		seen[k] = true
		back, ok := CacheKeyFromBytes(k.AsSlice())
		equal(t, true, ok)
		equal(t, k, back)
	}
	equal(t, true, a.offsetEtc64 < 1<<63 && p.offsetEtc64 >= 1<<63)
}
