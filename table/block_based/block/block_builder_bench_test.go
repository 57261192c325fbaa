// No upstream twin: what each saving of the builder brings, against the plain
// form, which lives here alone. `benchstat -col /form` compares them.

package block

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/util"
)

// plainBuilder builds a data block without the savings that are off: grown
// buffers of each block, a restart array made anew, the last key kept by the
// builder.
type plainBuilder struct {
	interval, counter int
	buffer            []byte
	restarts          []uint32
	lastKey           []byte
	keepRestarts      bool
}

func (b *plainBuilder) reset(buffer []byte) []byte {
	out := b.buffer
	if b.keepRestarts {
		b.restarts = b.restarts[:1]
	} else {
		b.restarts = []uint32{0}
	}
	b.buffer, b.counter, b.lastKey = buffer, 0, b.lastKey[:0]
	return out
}

func (b *plainBuilder) add(key, value []byte) {
	shared := 0
	if b.counter >= b.interval {
		b.restarts = append(b.restarts, uint32(len(b.buffer)))
		b.counter = 0
	} else {
		shared = differenceOffset(key, b.lastKey)
	}
	b.buffer = util.AppendVarint32(b.buffer, uint32(shared))
	b.buffer = util.AppendVarint32(b.buffer, uint32(len(key)-shared))
	b.buffer = util.AppendVarint32(b.buffer, uint32(len(value)))
	b.buffer = append(append(b.buffer, key[shared:]...), value...)
	b.lastKey = append(b.lastKey[:0], key...)
	b.counter++
}

func (b *plainBuilder) finish() []byte {
	for _, r := range b.restarts {
		b.buffer = binary.LittleEndian.AppendUint32(b.buffer, r)
	}
	b.buffer = binary.LittleEndian.AppendUint32(b.buffer, uint32(len(b.restarts)))
	return b.buffer
}

// builderBenchBlock is the entries of one block of about 4 KiB.
func builderBenchBlock(keySize, valueSize int) (keys [][]byte, value []byte) {
	value = make([]byte, valueSize)
	for i := 0; i*(valueSize+10) < 4000; i++ {
		keys = append(keys, dbformat.AppendInternalKey(nil, fmt.Appendf(nil, "%0*d", keySize, 7*i), 5, dbformat.TypeValue))
	}
	return keys, value
}

var sinkBlock []byte

// BenchmarkBlockBuilderBuffer hands each block's buffer over, as compression by
// workers and by dictionary does.
func BenchmarkBlockBuilderBuffer(b *testing.B) {
	keys, value := builderBenchBlock(16, 100)
	for _, form := range []string{"plain", "reserved"} {
		b.Run("form="+form, func(b *testing.B) {
			bb := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, UniformCVThreshold: -1})
			b.ReportAllocs()
			for b.Loop() {
				for i, k := range keys {
					var last []byte
					if i > 0 {
						last = keys[i-1]
					}
					bb.AddWithLastKey(k, value, last, nil, false)
				}
				bb.Finish()
				if form == "reserved" {
					sinkBlock = bb.SwapAndReset(nil)
					continue
				}
				sinkBlock = bb.buffer
				bb.buffer = nil
				bb.Reset()
			}
		})
	}
}

// BenchmarkBlockBuilderReset has a restart point at every entry, as a hash
// index wants and indexes have.
func BenchmarkBlockBuilderReset(b *testing.B) {
	keys, value := builderBenchBlock(16, 8)
	for _, form := range []string{"plain", "kept"} {
		b.Run("form="+form, func(b *testing.B) {
			bb := &plainBuilder{interval: 1, restarts: []uint32{0}, keepRestarts: form == "kept"}
			b.ReportAllocs()
			for b.Loop() {
				for _, k := range keys {
					bb.add(k, value)
				}
				bb.finish()
				sinkBlock = bb.reset(bb.buffer[:0])
			}
		})
	}
}

// BenchmarkBlockBuilderLastKey compares Add, which keeps a copy of each key,
// with AddWithLastKey.
func BenchmarkBlockBuilderLastKey(b *testing.B) {
	for _, size := range []int{16, 64, 256} {
		keys, value := builderBenchBlock(size, 20)
		for _, form := range []string{"plain", "given"} {
			b.Run(fmt.Sprintf("key=%d/form=%s", size, form), func(b *testing.B) {
				bb := NewBlockBuilder(&BlockBuilderOptions{BlockRestartInterval: 16, UseDeltaEncoding: true, UniformCVThreshold: -1})
				b.ReportAllocs()
				for b.Loop() {
					var last []byte
					for _, k := range keys {
						if form == "plain" {
							bb.Add(k, value, nil, false)
						} else {
							bb.AddWithLastKey(k, value, last, nil, false)
							last = k
						}
					}
					sinkBlock = bb.Finish()
					bb.Reset()
				}
			})
		}
	}
}
