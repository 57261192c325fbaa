// Port of env/env_test.cc (the generators of unique ids).

package env

import (
	"sync"
	"testing"
)

type id128 [2]uint64

func noDuplicates128(t *testing.T, generate func() id128) {
	t.Helper()
	const goroutines, each = 8, 1000
	var mu sync.Mutex
	var wg sync.WaitGroup
	ids := map[id128]bool{}
	for range goroutines {
		wg.Go(func() {
			mine := make([]id128, each)
			for i := range mine {
				mine[i] = generate()
			}
			mu.Lock()
			defer mu.Unlock()
			for _, id := range mine {
				ids[id] = true
			}
		})
	}
	wg.Wait()
	wantInt(t, len(ids), goroutines*each)
}

func TestEnvTest_GenerateRawUniqueId(t *testing.T) {
	noDuplicates128(t, func() (id id128) { id[0], id[1] = GenerateRawUniqueID(); return id })
}

func TestEnvTest_GenerateRawUniqueIdTrackEnvDetailsOnly(t *testing.T) {
	noDuplicates128(t, func() (id id128) { id[0], id[1] = rawEntropy{details: true}.generate(); return id })
}

func TestEnvTest_GenerateRawUniqueIdTrackRandomDeviceOnly(t *testing.T) {
	noDuplicates128(t, func() (id id128) { id[0], id[1] = rawEntropy{random: true}.generate(); return id })
}

func TestEnvTest_SemiStructuredUniqueIdGenTest(t *testing.T) {
	g := NewSemiStructuredUniqueIDGen()
	noDuplicates128(t, func() (id id128) { id[0], id[1] = g.GenerateNext(); return id })
}

func TestEnvTest_SemiStructuredUniqueIdGenTestSmaller(t *testing.T) {
	g := NewSemiStructuredUniqueIDGen()
	hit := map[uint8]bool{}
	for range 256 {
		_, lower := g.GenerateNext()
		hit[uint8(lower)] = true
	}
	wantInt(t, len(hit), 256)
}

func TestEnvTest_UnpredictableUniqueIdGenTest1(t *testing.T) {
	g := NewUnpredictableUniqueIDGen()
	noDuplicates128(t, func() (id id128) { id[0], id[1] = g.GenerateNext(); return id })
}

func TestEnvTest_UnpredictableUniqueIdGenTest2(t *testing.T) {
	var g UnpredictableUniqueIDGen // no seed
	noDuplicates128(t, func() (id id128) { id[0], id[1] = g.GenerateNextWithEntropy(0); return id })
}

func TestEnvTest_UnpredictableUniqueIdGenTest3(t *testing.T) {
	// Without the counter what is fed back into the pool does.
	var g UnpredictableUniqueIDGen
	ids := map[id128]bool{}
	for range 8000 {
		g.counter.Store(4711)
		var id id128
		id[0], id[1] = g.GenerateNext()
		ids[id] = true
	}
	wantInt(t, len(ids), 8000)
}

func TestIOErrorTexts(t *testing.T) {
	_, err := DefaultFileSystem().NewRandomAccessFile("/no/such/file", nil)
	const want = "IO error: No such file or directory: While open a file for random read: /no/such/file: No such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
