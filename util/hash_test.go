// Port of util/hash_test.cc. Differs: BitwiseAnd has no twin, so BitOps does not
// test it; Go's integer types stand for C++'s.

package util_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/util"
)

type hash32Case struct {
	in   string
	want uint32
}

type hash64Case struct {
	in   string
	want uint64
}

func TestHashTest_Values(t *testing.T) {
	const seed = 0xbc9f1d34 // BloomHash's
	for _, c := range []hash32Case{
		{"", 3164544308},
		{"\x08", 422599524},
		{"\x17", 3168152998},
		{"\x9a", 3195034349},
		{"\x1c", 2651681383},
		{"\x4d\x76", 2447836956},
		{"\x52\xd5", 3854228105},
		{"\x91\xf7", 31066776},
		{"\xd6\x27", 1806091603},
		{"\x30\x46\x0b", 3808221797},
		{"\x56\xdc\xd6", 2157698265},
		{"\xd4\x52\x33", 1721992661},
		{"\x6a\xb5\xf4", 2469105222},
		{"\x67\x53\x81\x1c", 118283265},
		{"\x69\xb8\xc0\x88", 3416318611},
		{"\x1e\x84\xaf\x2d", 3315003572},
		{"\x46\xdc\x54\xbe", 447346355},
		{"\xd0\x7a\x6e\xea\x56", 4255445370},
		{"\x86\x83\xd5\xa4\xd8", 2390603402},
		{"\xb7\x46\xbb\x77\xce", 2048907743},
		{"\x6c\xa8\xbc\xe5\x99", 2177978500},
		{"\x5c\x5e\xe1\xa0\x73\x81", 1036846008},
		{"\x08\x5d\x73\x1c\xe5\x2e", 229980482},
		{"\x42\xfb\xf2\x52\xb4\x10", 3655585422},
		{"\x73\xe1\xff\x56\x9c\xce", 3502708029},
		{"\x5c\xbe\x97\x75\x54\x9a\x52", 815120748},
		{"\x16\x82\x39\x49\x88\x2b\x36", 3056033698},
		{"\x59\x77\xf0\xa7\x24\xf4\x78", 587205227},
		{"\xd3\xa5\x7c\x0e\xc0\x02\x07", 2030937252},
		{"\x31\x1b\x98\x75\x96\x22\xd3\x9a", 469635402},
		{"\x38\xd6\xf7\x28\x20\xb4\x8a\xe9", 3530274698},
		{"\xbb\x18\x5d\xf4\x12\x03\xf7\x99", 1974545809},
		{"\x80\xd4\x3b\x3b\xae\x22\xa2\x78", 3563570120},
		{"\x1a\xb5\xd0\xfe\xab\xc3\x61\xb2\x99", 2706087434},
		{"\x8e\x4a\xc3\x18\x20\x2f\x06\xe6\x3c", 1534654151},
		{"\xb6\xc0\xdd\x05\x3f\xc4\x86\x4c\xef", 2355554696},
		{"\x9a\x5f\x78\x0d\xaf\x50\xe1\x1f\x55", 1400800912},
		{"\x22\x6f\x39\x1f\xf8\xdd\x4f\x52\x17\x94", 3420325137},
		{"\x32\x89\x2a\x75\x48\x3a\x4a\x02\x69\xdd", 3427803584},
		{"\x06\x92\x5c\xf4\x88\x0e\x7e\x68\x38\x3e", 1152407945},
		{"\xbd\x2c\x63\x38\xbf\xe9\x78\xb7\xbf\x15", 3382479516},
	} {
		if got := util.Hash([]byte(c.in), seed); got != c.want {
			t.Errorf("Hash(%q) = %d, want %d", c.in, got, c.want)
		}
		if got := util.BloomHash([]byte(c.in)); got != c.want {
			t.Errorf("BloomHash(%q) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestHashTest_Hash64SmallValueSchema(t *testing.T) {
	for _, c := range []hash64Case{
		{"", 5999572062939766020},
		{"\x08", 583283813901344696},
		{"\x17", 16175549975585474943},
		{"\x9a", 16322991629225003903},
		{"\x1c", 13269285487706833447},
		{"\x4d\x76", 6859542833406258115},
		{"\x52\xd5", 4919611532550636959},
		{"\x91\xf7", 14199427467559720719},
		{"\xd6\x27", 12292689282614532691},
		{"\x30\x46\x0b", 11404699285340020889},
		{"\x56\xdc\xd6", 12404347133785524237},
		{"\xd4\x52\x33", 15853805298481534034},
		{"\x6a\xb5\xf4", 16863488758399383382},
		{"\x67\x53\x81\x1c", 9010661983527562386},
		{"\x69\xb8\xc0\x88", 6611781377647041447},
		{"\x1e\x84\xaf\x2d", 15290969111616346501},
		{"\x46\xdc\x54\xbe", 7063754590279313623},
		{"\xd0\x7a\x6e\xea\x56", 6384167718754869899},
		{"\x86\x83\xd5\xa4\xd8", 16874407254108011067},
		{"\xb7\x46\xbb\x77\xce", 16809880630149135206},
		{"\x6c\xa8\xbc\xe5\x99", 1249038833153141148},
		{"\x5c\x5e\xe1\xa0\x73\x81", 17358142495308219330},
		{"\x08\x5d\x73\x1c\xe5\x2e", 4237646583134806322},
		{"\x42\xfb\xf2\x52\xb4\x10", 4373664924115234051},
		{"\x73\xe1\xff\x56\x9c\xce", 12012981210634596029},
		{"\x5c\xbe\x97\x75\x54\x9a\x52", 5716522398211028826},
		{"\x16\x82\x39\x49\x88\x2b\x36", 15604531309862565013},
		{"\x59\x77\xf0\xa7\x24\xf4\x78", 8601330687345614172},
		{"\xd3\xa5\x7c\x0e\xc0\x02\x07", 8088079329364056942},
		{"\x31\x1b\x98\x75\x96\x22\xd3\x9a", 9844314944338447628},
		{"\x38\xd6\xf7\x28\x20\xb4\x8a\xe9", 10973293517982163143},
		{"\xbb\x18\x5d\xf4\x12\x03\xf7\x99", 9986007080564743219},
		{"\x80\xd4\x3b\x3b\xae\x22\xa2\x78", 1729303145008254458},
		{"\x1a\xb5\xd0\xfe\xab\xc3\x61\xb2\x99", 13253403748084181481},
		{"\x8e\x4a\xc3\x18\x20\x2f\x06\xe6\x3c", 7768754303876232188},
		{"\xb6\xc0\xdd\x05\x3f\xc4\x86\x4c\xef", 12439346786701492},
		{"\x9a\x5f\x78\x0d\xaf\x50\xe1\x1f\x55", 10841838338450144690},
		{"\x22\x6f\x39\x1f\xf8\xdd\x4f\x52\x17\x94", 12883919702069153152},
		{"\x32\x89\x2a\x75\x48\x3a\x4a\x02\x69\xdd", 12692903507676842188},
		{"\x06\x92\x5c\xf4\x88\x0e\x7e\x68\x38\x3e", 6540985900674032620},
		{"\xbd\x2c\x63\x38\xbf\xe9\x78\xb7\xbf\x15", 10551812464348219044},
	} {
		if got := util.Hash64([]byte(c.in), 0); got != c.want {
			t.Errorf("Hash64(%q) = %d, want %d", c.in, got, c.want)
		}
	}
}

func TestHashTest_Hash64Misc(t *testing.T) {
	for _, fill := range []string{"\x00", "a", "1", "\xff"} {
		s := []byte(strings.Repeat(fill, 1000))
		for size := 0; size <= len(s); size++ {
			here := util.Hash64(s[:size], 0)
			if got := util.GetSliceHash64(s[:size]); got != here {
				t.Fatalf("GetSliceHash64 = %d, want %d", got, here)
			}
			if got := uint64(util.Upper32of64(here))<<32 | uint64(util.Lower32of64(here)); got != here {
				t.Fatalf("halves of %x give %x", here, got)
			}
			for seed := uint64(1); seed != 0; seed <<= 1 {
				if util.Hash64(s[:size], seed) == here {
					t.Fatalf("fill %q size %d: seed %d does not matter", fill, size, seed)
				}
			}
			for by := 1; by <= min(30, size); by++ {
				if util.Hash64(s[:size-by], 0) == here {
					t.Fatalf("fill %q: sizes %d and %d hash alike", fill, size, size-by)
				}
			}
		}
	}
}

func TestHashTest_Hash64Trivial(t *testing.T) {
	check := func(in []byte, seed uint64) {
		h := util.Hash64(in, seed)
		if util.Lower32of64(h) == 0 || util.Upper32of64(h) == 0 {
			t.Fatalf("Hash64(%x, %d) = %x", in, seed, h)
		}
	}
	for seed := uint64(0); seed < 0x10000; seed++ {
		check(nil, seed)
	}
	for n := 1; n <= 2; n++ {
		for i := uint32(0); i>>(8*n) == 0; i++ {
			check(util.AppendFixed32(nil, i)[:n], 0)
		}
	}
}

const mod61 = "abcdefghijklmnopqrstuvwxyz123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// hashDescriptor has one character for the hash of each prefix, shorter than
// limit, of s repeated.
func hashDescriptor(s string, limit int, hash func([]byte) uint64) string {
	in := []byte(strings.Repeat(s, limit))
	out := make([]byte, limit)
	for i := range out {
		out[i] = mod61[hash(in[:i])%61]
	}
	return string(out)
}

func TestHashTest_Hash64LargeValueSchema(t *testing.T) {
	for in, want := range map[string]string{
		"foo": "cRhyWsY67B6klRA1udmOuiYuX7IthyGBKqbeosz2hzVglWCmQx8nEdnpkvPfYX56Up2OWOTV" +
			"lTzfAoYwvtqKzjD8E9xttR2unelbXbIV67NUe6bOO23BxaSFRcA3njGu5cUWfgwOqNoTsszp" +
			"uPvKRP6qaUR5VdoBkJUCFIefd7edlNK5mv6JYWaGdwxehg65hTkTmjZoPKxTZo4PLyzbL9U4" +
			"xt12ITSfeP2MfBHuLI2z2pDlBb44UQKVMx27LEoAHsdLp3WfWfgH3sdRBRCHm33UxCM4QmE2" +
			"xJ7gqSvNwTeH7v9GlC8zWbGroyD3UVNeShMLx29O7tH1biemLULwAHyIw8zdtLMDpEJ8m2ic" +
			"l6Lb4fDuuFNAs1GCVUthjK8CV8SWI8Rsz5THSwn5CGhpqUwSZcFknjwWIl5rNCvDxXJqYr",
		"Rocks": "c1EeRkrzgOYWLA8PuhJrwTePJewoB44WdXYDfhbk3ZxTqqg25WlPExDl7IKIQLJvnA6gJxxn" +
			"9TCSLkFGfJeXehaSS1GBqWSzfhEH4VXiXIUCuxJXxtKXcSC6FrNIQGTZbYDiUOLD6Y5inzrF" +
			"9etwQhXUBanw55xAUdNMFQAm2GjJ6UDWp2mISLiMMkLjANWMKLaZMqaFLX37qB4MRO1ooVRv" +
			"zSvaNRSCLxlggQCasQq8icWjzf3HjBlZtU6pd4rkaUxSzHqmo9oM5MghbU5Rtxg8wEfO7lVN" +
			"5wdMONYecslQTwjZUpO1K3LDf3K3XK6sUXM6ShQQ3RHmMn2acB4YtTZ3QQcHYJSOHn2DuWpa" +
			"Q8RqzX5lab92YmOLaCdOHq1BPsM7SIBzMdLgePNsJ1vvMALxAaoDUHPxoFLO2wx18IXnyX",
		"RocksDB": "c1EeRkukbkb28wLTahwD2sfUhZzaBEnF8SVrxnPVB6A7b8CaAl3UKsDZISF92GSq2wDCukOq" +
			"Jgrsp7A3KZhDiLW8dFXp8UPqPxMCRlMdZeVeJ2dJxrmA6cyt99zkQFj7ELbut6jAeVqARFnw" +
			"fnWVXOsaLrq7bDCbMcns2DKvTaaqTCLMYxI7nhtLpFN1jR755FRQFcOzrrDbh7QhypjdvlYw" +
			"cdAMSZgp9JMHxbM23wPSuH6BOFgxejz35PScZfhDPvTOxIy1jc3MZsWrMC3P324zNolO7JdW" +
			"CX2I5UDKjjaEJfxbgVgJIXxtQGlmj2xkO5sPpjULQV4X2HlY7FQleJ4QRaJIB4buhCA4vUTF" +
			"eMFlxCIYUpTCsal2qsmnGOWa8WCcefrohMjDj1fjzSvSaQwlpyR1GZHF2uPOoQagiCpHpm",
	} {
		if got := hashDescriptor(in, 430, util.GetSliceHash64); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestHashTest_Hash128ValueSchema(t *testing.T) {
	sum := func(b []byte) uint64 {
		h := util.GetSliceHash128(b)
		return util.Upper64of128(h) + util.Lower64of128(h)
	}
	for in, want := range map[string]string{
		"foo": "bUMA3As8n9I4vNGhThXlEevxZlyMcbb6TYAlIKJ2f5ponsv99q962rYclQ7u3gfnRdCDQ5JI" +
			"2LrGUaCycbXrvLFe4SjgRb9RQwCfrnmNQ7VSEwSKMnkGCK3bDbXSrnIh5qLXdtvIZklbJpGH" +
			"Dqr93BlqF9ubTnOSYkSdx89XvQqflMIW8bjfQp9BPjQejWOeEQspnN1D3sfgVdFhpaQdHYA5" +
			"pI2XcPlCMFPxvrFuRr7joaDvjNe9IUZaunLPMewuXmC3EL95h52Ju3D7y9RNKhgYxMTrA84B" +
			"yJrMvyjdm3vlBxet4EN7v2GEyjbGuaZW9UL6lrX6PghJDg7ACfLGdxNbH3qXM4zaiG2RKnL5" +
			"S3WXKR78RBB5fRFQ8KDIEQjHFvSNsc3GrAEi6W8P2lv8JMTzjBODO2uN4wadVQFT9wpGfV",
		"Rocks": "b35D2vzvklFVDqJmyLRXyApwGGO3EAT3swhe8XJAN3mY2UVPglzdmydxcba6JI2tSvwO6zSu" +
			"ANpjSM7tc9G5iMhsa7R8GfyCXRO1TnLg7HvdWNdgGGBirxZR68BgT7TQsYJt6zyEyISeXI1n" +
			"MXA48Xo7dWfJeYN6Z4KWlqZY7TgFXGbks9AX4ehZNSGtIhdO5i58qlgVX1bEejeOVaCcjC79" +
			"67DrMfOKds7rUQzjBa77sMPcoPW1vu6ljGJPZH3XkRyDMZ1twxXKkNxN3tE8nR7JHwyqBAxE" +
			"fTcjbOWrLZ1irWxRSombD8sGDEmclgF11IxqEhe3Rt7gyofO3nExGckKkS9KfRqsCHbiUyva" +
			"JGkJwUHRXaZnh58b4i1Ei9aQKZjXlvIVDixoZrjcNaH5XJIJlRZce9Z9t82wYapTpckYSg",
		"RocksDB": "b35D2vFUst3XDZCRlSrhmYYakmqImV97LbBsV6EZlOEQpUPH1d1sD3xMKAPlA5UErHehg5O7" +
			"n966fZqhAf3hRc24kGCLfNAWjyUa7vSNOx3IcPoTyVRFZeFlcCtfl7t1QJumHOCpS33EBmBF" +
			"hvK13QjBbDWYWeHQhJhgV9Mqbx17TIcvUkEnYZxb8IzWNmjVsJG44Z7v52DjGj1ZzS62S2Vv" +
			"qWcDO7apvH5VHg68E9Wl6nXP21vlmUqEH9GeWRehfWVvY7mUpsAg5drHHQyDSdiMceiUuUxJ" +
			"XJqHFcDdzbbPk7xDvbLgWCKvH8k3MpQNWOmbSSRDdAP6nGlDjoTToYkcqVREHJzztSWAAq5h" +
			"GHSUNJ6OxsMHhf8EhXfHtKyUzRmPtjYyeckQcGmrQfFFLidc6cjMDKCdBG6c6HVBrS7H2R",
	} {
		if got := hashDescriptor(in, 430, sum); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestHashTest_Hash128Misc(t *testing.T) {
	for _, fill := range []string{"\x00", "a", "1", "\xff", "e"} {
		s := []byte(strings.Repeat(fill, 1000))
		if fill == "e" {
			for i := range s {
				s[i] += byte(i)
			}
		}
		for size := 0; size <= len(s); size++ {
			in := s[:size]
			here := util.Hash128(in)
			if util.GetSliceHash128(in) != here || util.Hash128WithSeed(in, 0) != here {
				t.Fatal("unseeded forms differ")
			}
			checkHash2x64(t, in, 0, here)
			for seed := uint64(1); seed != 0; seed <<= 1 {
				seeded := util.Hash128WithSeed(in, seed)
				if seeded == here {
					t.Fatalf("fill %q size %d: seed %d does not matter", fill, size, seed)
				}
				checkHash2x64(t, in, seed, seeded)
			}
			for by := 1; by <= min(30, size); by++ {
				if util.Hash128(s[:size-by]) == here {
					t.Fatalf("fill %q: sizes %d and %d hash alike", fill, size, size-by)
				}
			}
		}
	}
}

func checkHash2x64(t *testing.T, in []byte, seed uint64, want util.Unsigned128) {
	t.Helper()
	if hi, lo := util.Hash2x64(in, seed); hi != want.Hi || lo != want.Lo {
		t.Fatalf("Hash2x64(%x, %d) = %x %x, want %x", in, seed, hi, lo, want)
	}
	if len(in) != 16 {
		return
	}
	inLo, inHi := util.DecodeFixed64(in), util.DecodeFixed64(in[8:])
	hi, lo := util.BijectiveHash2x64(inHi, inLo, seed)
	if hi != want.Hi || lo != want.Lo {
		t.Fatalf("BijectiveHash2x64(%x, %d) = %x %x, want %x", in, seed, hi, lo, want)
	}
	if hi, lo = util.BijectiveUnhash2x64(hi, lo, seed); hi != inHi || lo != inLo {
		t.Fatalf("BijectiveUnhash2x64 gives %x %x, want %x %x", hi, lo, inHi, inLo)
	}
}

func TestHashTest_Hash128Trivial(t *testing.T) {
	check := func(in []byte, seed uint64) {
		if h := util.Hash128WithSeed(in, seed); h.Hi == 0 || h.Lo == 0 {
			t.Fatalf("Hash128(%x, %d) = %x", in, seed, h)
		}
	}
	for seed := uint64(0); seed < 0x10000; seed++ {
		check(nil, seed)
	}
	for n := 1; n <= 2; n++ {
		for i := uint32(0); i>>(8*n) == 0; i++ {
			check(util.AppendFixed32(nil, i)[:n], 0)
		}
	}
}

// TestBijectiveHash has no upstream twin: random 128-bit values.
func TestBijectiveHash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < 10000; i++ {
		in := util.Unsigned128{Hi: r.Uint64(), Lo: r.Uint64()}
		var b [16]byte
		util.EncodeFixed128(b[:], in)
		seed := r.Uint64()
		checkHash2x64(t, b[:], seed, util.Hash128WithSeed(b[:], seed))
	}
}

func TestFastRange32Test_Values(t *testing.T) {
	for _, c := range []struct{ hash, n, want uint32 }{
		{0, 0, 0},
		{123, 0, 0},
		{0xffffffff, 0, 0},
		{0, 1, 0},
		{123, 1, 0},
		{0xffffffff, 1, 0},
		{0, 2, 0},
		{123, 2, 0},
		{0x7fffffff, 2, 0},
		{0x80000000, 2, 1},
		{0xffffffff, 2, 1},
		{0, 7, 0},
		{123, 7, 0},
		{613566756, 7, 0},
		{613566757, 7, 1},
		{1227133513, 7, 1},
		{1227133514, 7, 2},
		{0xffffffff, 7, 6},
		{1, 0x80000000, 0},
		{2, 0x80000000, 1},
		{4, 0x7fffffff, 1},
		{4, 0x80000000, 2},
		{0xffffffff, 0x7fffffff, 0x7ffffffe},
		{0xffffffff, 0x80000000, 0x7fffffff},
	} {
		if got := util.FastRange32(c.hash, c.n); got != c.want {
			t.Errorf("FastRange32(%d, %d) = %d, want %d", c.hash, c.n, got, c.want)
		}
		if got := util.FastRangeGeneric(c.hash, c.n); got != c.want {
			t.Errorf("FastRangeGeneric(%d, %d) = %d, want %d", c.hash, c.n, got, c.want)
		}
	}
}

func TestFastRange64Test_Values(t *testing.T) {
	for _, c := range []struct{ hash, n, want uint64 }{
		{0, 0, 0},
		{123, 0, 0},
		{0xffffFFFF, 0, 0},
		{0xffffFFFFffffFFFF, 0, 0},
		{0, 1, 0},
		{123, 1, 0},
		{0xffffFFFF, 1, 0},
		{0xffffFFFFffffFFFF, 1, 0},
		{0, 2, 0},
		{123, 2, 0},
		{0xffffFFFF, 2, 0},
		{0x7fffFFFFffffFFFF, 2, 0},
		{0x8000000000000000, 2, 1},
		{0xffffFFFFffffFFFF, 2, 1},
		{0, 7, 0},
		{123, 7, 0},
		{0xffffFFFF, 7, 0},
		{2635249153387078802, 7, 0},
		{2635249153387078803, 7, 1},
		{5270498306774157604, 7, 1},
		{5270498306774157605, 7, 2},
		{0x7fffFFFFffffFFFF, 7, 3},
		{0x8000000000000000, 7, 3},
		{0xffffFFFFffffFFFF, 7, 6},
		{0x100000000, 0x80000000, 0},
		{0x200000000, 0x80000000, 1},
		{0x400000000, 0x7fffFFFF, 1},
		{0x400000000, 0x80000000, 2},
		{0xffffFFFFffffFFFF, 0x7fffFFFF, 0x7fffFFFE},
		{0xffffFFFFffffFFFF, 0x80000000, 0x7fffFFFF},
		{0x7fffFFFFffffFFFF, 0x4200000002, 0x2100000000},
		{0x8000000000000000, 0x4200000002, 0x2100000001},
		{0x0000000000000000, 420000000002, 0},
		{0x7fffFFFFffffFFFF, 420000000002, 210000000000},
		{0x8000000000000000, 420000000002, 210000000001},
		{0xffffFFFFffffFFFF, 420000000002, 420000000001},
		{0xffffFFFFffffFFFF, 0xffffFFFFffffFFFF, 0xffffFFFFffffFFFE},
	} {
		if got := util.FastRange64(c.hash, c.n); got != c.want {
			t.Errorf("FastRange64(%d, %d) = %d, want %d", c.hash, c.n, got, c.want)
		}
		if got := util.FastRangeGeneric(c.hash, c.n); got != c.want {
			t.Errorf("FastRangeGeneric(%d, %d) = %d, want %d", c.hash, c.n, got, c.want)
		}
	}
}

func TestFastRangeGenericTest_Values(t *testing.T) {
	if got := util.FastRangeGeneric(uint64(1<<63), uint64(420000000002)); got != 210000000001 {
		t.Errorf("64, 64: %d", got)
	}
	if got := util.FastRangeGeneric(uint64(1<<63), uint16(12468)); got != 6234 {
		t.Errorf("64, 16: %d", got)
	}
	if got := util.FastRangeGeneric(uint32(1<<31), uint16(12468)); got != 6234 {
		t.Errorf("32, 16: %d", got)
	}
}
