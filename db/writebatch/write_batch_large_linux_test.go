// Port of db/write_batch_test.cc (LargeKeyValueSizeLimit). Differs: what is at
// the limit is accepted by the check alone; a batch of it would take 8 GB.

//go:build linux && (amd64 || arm64)

package writebatch

import (
	"math"
	"syscall"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// lazyZeroes gives n bytes that take no memory until they are read.
func lazyZeroes(t *testing.T, n int) []byte {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	noErr(t, err)
	t.Cleanup(func() { noErr(t, syscall.Munmap(m)) })
	return m
}

func TestWriteBatchTest_LargeKeyValueSizeLimit(t *testing.T) {
	const maxKey, maxValue = math.MaxUint32 - 8, math.MaxUint32
	m := lazyZeroes(t, maxValue+1)
	b := New()
	key, value := m[:maxKey+1], m[:maxValue+1]
	noErr(t, checkSizes(maxKey, 3))
	wantErr(t, b.Put(key, bs("val")), rocksdb.ErrInvalidArgument)
	wantErr(t, b.Merge(key, bs("val")), rocksdb.ErrInvalidArgument)
	wantErr(t, b.Delete(key), rocksdb.ErrInvalidArgument)
	wantErr(t, b.SingleDelete(key), rocksdb.ErrInvalidArgument)
	wantErr(t, b.DeleteRange(key, key), rocksdb.ErrInvalidArgument)
	wantErr(t, b.DeleteRange(bs("a"), key), rocksdb.ErrInvalidArgument)
	wantErr(t, b.TimedPut(nil, key, bs("val"), 1), rocksdb.ErrInvalidArgument)
	wantErr(t, b.PutEntityCF(family(0), key, nil), rocksdb.ErrInvalidArgument)

	noErr(t, checkSizes(3, maxValue))
	wantErr(t, b.Put(bs("key"), value), rocksdb.ErrInvalidArgument)
	wantErr(t, b.Merge(bs("key"), value), rocksdb.ErrInvalidArgument)
	wantErr(t, b.PutEntitySerialized(0, bs("key"), value), rocksdb.ErrInvalidArgument)
	// A timestamp counts as part of the key.
	wantErr(t, b.PutWithTimestamp(familyTS(1), m[:maxKey-7], bs("12345678"), bs("val")), rocksdb.ErrInvalidArgument)
	wantCount(t, b, 0)
	if b.GetDataSize() != HeaderSize {
		t.Fatalf("%d bytes", b.GetDataSize())
	}
}
