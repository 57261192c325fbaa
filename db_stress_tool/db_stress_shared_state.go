// Port of db_stress_tool/db_stress_shared_state.{h,cc}.

package dbstresstool

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// sharedState is what the workers of one database share.
type sharedState struct {
	flags       *Flags
	keysPerLock uint
	keyLocks    [][]sync.Mutex // by family
	noOverwrite map[int64]struct{}
	expected    *expectedStateManager
	startTime   uint64 // nanoseconds since 1970

	verificationFailed atomic.Bool
	shouldStopTest     atomic.Bool

	// mu protects the rendezvous; cond tells of each change.
	mu struct {
		sync.Mutex
		cond        *sync.Cond
		threads     int
		initialized int
		operated    int
		done        int
		voteReopen  int
		generation  int // of reopenings
		start       bool
		startVerify bool
		stopBG      bool
		bgThreads   int
		bgFinished  int
	}
	seqnoMu sync.Mutex
}

func newSharedState(f *Flags, s *stressTest) (*sharedState, error) {
	sh := &sharedState{flags: f, keysPerLock: uint(f.Log2KeysPerLock), startTime: uint64(time.Now().UnixNano())}
	sh.mu.cond = sync.NewCond(&sh.mu)
	s.tool.printf("Choosing random keys with no overwrite\n")
	sh.noOverwrite = noOverwriteKeys(f)
	if s.expectedDir != "" && f.ClearColumnFamilyOneIn > 0 {
		return nil, rocksdb.InvalidArgument("Cannot use --expected_values_dir on when --clear_column_family_one_in is greater than zero.")
	}
	sh.expected = &expectedStateManager{
		maxKey: f.MaxKey, families: int(f.ColumnFamilies), fs: env.DefaultFileSystem(), dir: s.expectedDir, keys: s.tool.keys, strip: f.stripTimestamp,
		check: func(c rocksdb.WideColumns) bool { return f.verifyWideColumns(defaultColumn(c), c) },
		fail:  s.tool.fatal,
	}
	if err := sh.expected.open(); err != nil {
		return nil, err
	}
	if f.TestBatchesSnapshots {
		s.tool.printf("No lock creation because test_batches_snapshots set\n")
		return sh, nil
	}
	n := f.MaxKey >> sh.keysPerLock
	if f.MaxKey&(1<<sh.keysPerLock-1) != 0 {
		n++
	}
	s.tool.printf("Creating %d locks\n", n*int64(f.ColumnFamilies))
	sh.keyLocks = make([][]sync.Mutex, f.ColumnFamilies)
	for i := range sh.keyLocks {
		sh.keyLocks[i] = make([]sync.Mutex, n)
	}
	return sh, nil
}

// noOverwriteKeys are the first keys of a shuffle, the same in each run with
// the seed.
func noOverwriteKeys(f *Flags) map[int64]struct{} {
	n := f.MaxKey * int64(f.Nooverwritepercent) / 100
	ids := make(map[int64]struct{}, n)
	moved := make(map[int64]int64, n) // the permutation, where it is not the identity
	at := func(i int64) int64 {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	rnd := util.NewRandom64(uint64(uint32(f.Seed)))
	for i := range n {
		j := i + int64(rnd.Next()%uint64(f.MaxKey-i))
		vi, vj := at(i), at(j)
		moved[i], moved[j] = vj, vi
		ids[vj] = struct{}{}
	}
	return ids
}

func (sh *sharedState) allowsOverwrite(key int64) bool {
	_, no := sh.noOverwrite[key]
	return !no
}

// failVerification stops the test. Who waits for others is told later: the
// caller may hold mu.
func (sh *sharedState) failVerification() {
	if !sh.verificationFailed.Swap(true) {
		go sh.update(func() {})
	}
}
func (sh *sharedState) failed() bool { return sh.verificationFailed.Load() }

func (sh *sharedState) keyLock(cf int, key int64) *sync.Mutex {
	return &sh.keyLocks[cf][key>>sh.keysPerLock]
}

func (sh *sharedState) lockColumnFamily(cf int) {
	for i := range sh.keyLocks[cf] {
		sh.keyLocks[cf][i].Lock()
	}
}

func (sh *sharedState) unlockColumnFamily(cf int) {
	for i := range sh.keyLocks[cf] {
		sh.keyLocks[cf][i].Unlock()
	}
}

// lockKeyRange locks the keys [start, end); unlock gives them back.
func (sh *sharedState) lockKeyRange(cf int, start, end int64) (unlock func()) {
	var held []*sync.Mutex
	for i := start >> sh.keysPerLock; start < end && i <= (end-1)>>sh.keysPerLock; i++ {
		l := &sh.keyLocks[cf][i]
		l.Lock()
		held = append(held, l)
	}
	return func() {
		for _, l := range held {
			l.Unlock()
		}
	}
}

func (sh *sharedState) setPersistedSeqno(n rocksdb.SequenceNumber) {
	sh.seqnoMu.Lock()
	defer sh.seqnoMu.Unlock()
	w := sh.expected.latest.seqno
	w.Store(max(w.Load(), n))
}

func (sh *sharedState) persistedSeqno() rocksdb.SequenceNumber {
	sh.seqnoMu.Lock()
	defer sh.seqnoMu.Unlock()
	return sh.expected.latest.seqno.Load()
}

func (sh *sharedState) get(cf int, key int64) expectedValue { return sh.expected.latest.get(cf, key) }

func (sh *sharedState) preparePut(cf int, key int64) pendingExpectedValue {
	return sh.expected.latest.preparePut(cf, key)
}

func (sh *sharedState) prepareDelete(cf int, key int64) pendingExpectedValue {
	return sh.expected.latest.prepareDelete(cf, key)
}

func (sh *sharedState) prepareDeleteRange(cf int, begin, end int64) []pendingExpectedValue {
	all := make([]pendingExpectedValue, 0, end-begin)
	for key := begin; key < end; key++ {
		all = append(all, sh.prepareDelete(cf, key))
	}
	return all
}

// exists is for a key whose lock the caller has.
func (sh *sharedState) exists(cf int, key int64) bool { return sh.get(cf, key).exists() }

// update changes the rendezvous and wakes all who wait.
func (sh *sharedState) update(f func()) {
	sh.mu.Lock()
	f()
	sh.mu.cond.Broadcast()
	sh.mu.Unlock()
}

// wait returns when ready does, which is called with mu held.
func (sh *sharedState) wait(ready func() bool) {
	sh.mu.Lock()
	for !ready() {
		sh.mu.cond.Wait()
	}
	sh.mu.Unlock()
}

// threadState is a worker's own.
type threadState struct {
	tid       int
	rand      *util.Random
	shared    *sharedState
	stats     stats
	snapshots []heldSnapshot
	// io stands for the worker towards the fault-injecting file system: calls
	// that carry it fail as its contexts say.
	io *rocksdb.IOStatsContext
}

// heldSnapshot is a snapshot with what a read gave when it was taken.
type heldSnapshot struct {
	releaseAt uint64
	snapshot  rocksdb.Snapshot
	cf        int
	cfName    string
	key       []byte
	timestamp []byte
	err       error
	value     []byte
	keys      []bool // of the default family, or nil
}

func newThreadState(i int, sh *sharedState) *threadState {
	return &threadState{tid: i, rand: util.NewRandom(uint32(1000 + i + int(uint32(sh.flags.Seed)))), shared: sh, io: &rocksdb.IOStatsContext{}}
}
