// No upstream twin: speed of the hot functions.

package util_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

var sink uint64

func BenchmarkVarint(b *testing.B) {
	for _, v := range []uint64{5, 300, 1 << 40} {
		s := util.AppendVarint64(nil, v)
		b.Run(fmt.Sprintf("get/%d", len(s)), func(b *testing.B) {
			for b.Loop() {
				v, _, _ := util.GetVarint64(s)
				sink += v
			}
		})
		b.Run(fmt.Sprintf("append/%d", len(s)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s = util.AppendVarint64(s[:0], v)
			}
		})
	}
}

func BenchmarkHash(b *testing.B) {
	data := make([]byte, 4096)
	for _, n := range []int{8, 20, 100, 4096} {
		run := func(name string, f func([]byte) uint64) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					sink += f(data[:n])
				}
			})
		}
		run("Hash", func(d []byte) uint64 { return uint64(util.BloomHash(d)) })
		run("Hash64", util.GetSliceHash64)
		run("Crc32c", func(d []byte) uint64 { return uint64(util.Crc32cValue(d)) })
		run("XXH64", util.ComputeXXH64)
		run("XXH3", util.ComputeXXH3)
	}
}

func BenchmarkFilters(b *testing.B) {
	const keys = 100000
	data := make([]byte, keys*10/8/64*64)
	dynamic := util.NewDynamicBloom(keys*10, 6, nil)
	hashes := ribbonKeys("bench", keys)
	for _, h := range hashes {
		util.FastLocalBloomAddHash(uint32(h), uint32(h>>32), 6, data)
		dynamic.AddHash(uint32(h))
	}
	slots := util.RibbonRoundUpNumSlots(util.RibbonGetNumSlots(keys, util.RibbonOneIn20))
	var banding util.RibbonBanding
	if !banding.ResetAndFindSeedToSolve(slots, hashes, 0, 63) {
		b.Fatal("no seed")
	}
	ribbon := util.NewRibbonSolution(make([]byte, util.RibbonGetBytesForOneInFpRate(slots, 100, 0)))
	ribbon.BackSubstFrom(&banding)
	ask := func(name string, f func(h uint64) bool) {
		b.Run(name, func(b *testing.B) {
			n := 0
			for i := 0; b.Loop(); i++ {
				if f(hashes[i%keys]) {
					n++
				}
			}
			sink += uint64(n)
		})
	}
	ask("FastLocalBloom", func(h uint64) bool { return util.FastLocalBloomHashMayMatch(uint32(h), uint32(h>>32), 6, data) })
	ask("DynamicBloom", func(h uint64) bool { return dynamic.MayContainHash(uint32(h)) })
	ask("Ribbon", func(h uint64) bool { return ribbon.FilterQuery(h, &banding.RibbonHasher) })
}
