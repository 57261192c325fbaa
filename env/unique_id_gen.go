// Port of env/unique_id_gen.{h,cc} and DBImpl::GenerateDbSessionId. Differs: a
// forked copy of a Go process does not run on, so the process id is not
// watched; the port's UUID is left out, it has the same source as the random
// bytes.

package env

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/util"
)

// rawEntropy selects what goes into a raw id; either alone is meant to do.
type rawEntropy struct{ random, details bool }

func (e rawEntropy) generate() (a, b uint64) {
	const versionIdentifier = 11<<32 | 8<<16 | 1
	buf := binary.LittleEndian.AppendUint64(make([]byte, 0, 256), versionIdentifier)
	if e.random {
		var r [24]byte
		_, _ = rand.Read(r[:]) // never fails
		buf = append(buf, r[:]...)
	}
	if e.details {
		host, _ := os.Hostname()
		now := time.Now()
		buf = binary.LittleEndian.AppendUint64(buf, uint64(os.Getpid()))
		buf = binary.LittleEndian.AppendUint64(buf, threadID())
		buf = binary.LittleEndian.AppendUint64(buf, uint64(now.Unix()))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(time.Since(processStart)))
		buf = binary.LittleEndian.AppendUint64(buf, rawCounter.Add(1))
		buf = append(buf, host...)
	}
	return util.Hash2x64(buf, 0)
}

var (
	processStart = time.Now()
	rawCounter   atomic.Uint64
)

// GenerateRawUniqueID makes 128 bits that no other call, process or machine
// makes. It is slow next to the generators below.
func GenerateRawUniqueID() (a, b uint64) { return rawEntropy{true, true}.generate() }

// SemiStructuredUniqueIDGen makes ids of one random upper half and a lower half
// that counts, xored with a random number: within a process they cannot
// collide. It is safe for concurrent use.
type SemiStructuredUniqueIDGen struct {
	baseUpper, baseLower uint64
	counter              atomic.Uint64
}

// NewSemiStructuredUniqueIDGen draws the base.
func NewSemiStructuredUniqueIDGen() *SemiStructuredUniqueIDGen {
	g := &SemiStructuredUniqueIDGen{}
	g.Reset()
	return g
}

// Reset draws a new base. Not while another goroutine uses g.
func (g *SemiStructuredUniqueIDGen) Reset() {
	g.baseUpper, g.baseLower = GenerateRawUniqueID()
	g.counter.Store(0)
}

// GenerateNext makes the next id.
func (g *SemiStructuredUniqueIDGen) GenerateNext() (upper, lower uint64) {
	return g.baseUpper, g.baseLower ^ (g.counter.Add(1) - 1)
}

// GetBaseUpper is the upper half of all ids.
func (g *SemiStructuredUniqueIDGen) GetBaseUpper() uint64 { return g.baseUpper }

// UnpredictableUniqueIDGen makes ids that look random, not only unique. It is
// safe for concurrent use.
type UnpredictableUniqueIDGen struct {
	pool    [4]atomic.Uint64
	counter atomic.Uint64
}

// NewUnpredictableUniqueIDGen fills the pool.
func NewUnpredictableUniqueIDGen() *UnpredictableUniqueIDGen {
	g := &UnpredictableUniqueIDGen{}
	g.Reset()
	return g
}

// Reset refills the pool.
func (g *UnpredictableUniqueIDGen) Reset() {
	for i := 0; i < len(g.pool); i += 2 {
		a, b := GenerateRawUniqueID()
		g.pool[i].Store(a)
		g.pool[i+1].Store(b)
	}
}

// GenerateNext makes an id, with the time as further entropy.
func (g *UnpredictableUniqueIDGen) GenerateNext() (upper, lower uint64) {
	return g.GenerateNextWithEntropy(uint64(time.Now().UnixNano()))
}

// GenerateNextWithEntropy makes an id. The counter alone makes the input of
// the hash unique, so races on the pool do no harm.
func (g *UnpredictableUniqueIDGen) GenerateNextWithEntropy(extra uint64) (upper, lower uint64) {
	count := g.counter.Add(1) - 1
	a, b := count, extra
	a, b = util.BijectiveHash2x64(a, b, 0)
	for i := 0; i < len(g.pool); i += 2 {
		a ^= g.pool[i].Load()
		b ^= g.pool[i+1].Load()
		a, b = util.BijectiveHash2x64(a, b, 0)
	}
	g.pool[count%uint64(len(g.pool))].Add(a)
	return b, a
}

var sessionIDs = sync.OnceValue(NewSemiStructuredUniqueIDGen)

// GenerateDBSessionID names one opening of a database: 20 characters of base
// 36. The first 8 are the id's upper bits and the top two of its lower half,
// the other 12 the rest; the lower half is never 0.
func GenerateDBSessionID() string {
	upper, lower := sessionIDs().GenerateNext()
	if lower == 0 {
		upper, lower = sessionIDs().GenerateNext()
	}
	var id [20]byte
	util.PutBaseChars(36, id[:8], upper<<2|lower>>62, true)
	util.PutBaseChars(36, id[8:], lower&(1<<62-1), true)
	return string(id[:])
}
