// Port of TimestampEmulator of tools/db_bench_tool.cc and of what
// --user_timestamp_size does to reads and writes.

package main

import (
	"encoding/binary"
	"sync/atomic"
)

// timestampSize is the only --user_timestamp_size there is, in bytes.
const timestampSize = 8

// timestampEmulator counts as a clock that writes advance.
type timestampEmulator struct{ now atomic.Uint64 }

// allocate takes the next timestamp, in buf.
func (c *timestampEmulator) allocate(buf *[timestampSize]byte) []byte {
	binary.LittleEndian.PutUint64(buf[:], c.now.Add(1)-1)
	return buf[:]
}

// timestampBytes is what a timestamp adds to the bytes of an entry.
func (t *threadState) timestampBytes() int64 {
	if t.clock == nil {
		return 0
	}
	return timestampSize
}

// stampReads gives the reads from here on a timestamp: the next one, or with
// --read_with_latest_user_timestamp=false a random one of those before it.
func (t *threadState) stampReads() {
	switch {
	case t.clock == nil:
	case t.latest:
		t.ro.Timestamp = t.clock.allocate(&t.readTS)
	default:
		binary.LittleEndian.PutUint64(t.readTS[:], t.rand.Next()%max(1, t.clock.now.Load()))
		t.ro.Timestamp = t.readTS[:]
	}
}

// The calls below write at the next timestamp, where keys have one.

func (t *threadState) put(db *DB, key, value []byte) error {
	if t.clock == nil {
		return db.Put(&t.wo, key, value)
	}
	return db.PutWithTimestamp(&t.wo, key, t.clock.allocate(&t.writeTS), value)
}

func (t *threadState) delete(db *DB, key []byte) error {
	if t.clock == nil {
		return db.Delete(&t.wo, key)
	}
	return db.DeleteWithTimestamp(&t.wo, key, t.clock.allocate(&t.writeTS))
}

// write takes, as upstream, the last bytes of the keys of the default family for
// the timestamp: they get no room of their own.
func (t *threadState) write(db *DB, batch *WriteBatch) error {
	if t.clock != nil {
		if err := batch.UpdateTimestamps(t.clock.allocate(&t.writeTS), func(uint32) int { return timestampSize }); err != nil {
			return err
		}
	}
	return db.Write(&t.wo, batch)
}

// refuseTimestamps is for the benchmarks that cannot do with timestamps.
func (b *benchmark) refuseTimestamps(name string) error {
	if b.clock == nil {
		return nil
	}
	b.out.errf("%s does not support user timestamps\n", name)
	return exitCode(1)
}
