// Port of tools/write_stress.cc. Differs: a failure ends the program with exit
// code 1 instead of a core; sleeping goroutines are woken for the end.

package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
)

// Flags are upstream's.
type Flags struct {
	KeySize                         int32   `flag:"key_size,10" help:"bytes of a key"`
	ValueSize                       int32   `flag:"value_size,100" help:"bytes of a value"`
	DB                              string  `flag:"db," help:"directory of the database; write_stress in the test directory if empty"`
	DestroyDB                       bool    `flag:"destroy_db,true" help:"destroy the database before the run"`
	RuntimeSec                      int32   `flag:"runtime_sec,600" help:"seconds of the run; -1 runs until killed"`
	Seed                            int32   `flag:"seed,139" help:"seed of keys and values"`
	PrefixMutatePeriodSec           float64 `flag:"prefix_mutate_period_sec,1" help:"seconds between chances for the prefix to change"`
	FirstCharMutateProbability      float64 `flag:"first_char_mutate_probability,0.1" help:"chance of its first byte"`
	SecondCharMutateProbability     float64 `flag:"second_char_mutate_probability,0.2" help:"chance of its second byte"`
	ThirdCharMutateProbability      float64 `flag:"third_char_mutate_probability,0.5" help:"chance of its third byte"`
	IteratorHoldSec                 int32   `flag:"iterator_hold_sec,5" help:"seconds that an iterator holds files before it reads them"`
	SyncProbability                 float64 `flag:"sync_probability,0.01" help:"share of writes that are synced"`
	DeleteObsoleteFilesWithFullscan bool    `flag:"delete_obsolete_files_with_fullscan,false" help:"look the directory through for files to delete after each flush and compaction"`
	LowOpenFilesMode                bool    `flag:"low_open_files_mode,false" help:"keep at most 20 files open"`
}

const prefixSize = 3

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// run gives the exit code; args[0] is the program's name.
func run(args []string, stdout, stderr io.Writer) int {
	s := &writeStress{done: make(chan struct{})}
	return gflags.Program(args, stdout, stderr, &s.Flags, contract.GetRocksVersionAsString(true), func(*gflags.Set) error { return s.run() })
}

// writeStress is a run. Its goroutines work until done is closed.
type writeStress struct {
	Flags
	db     *rocksdb.DB
	prefix [prefixSize]atomic.Uint32 // bytes; later ones change more often
	done   chan struct{}
}

func (s *writeStress) run() (err error) {
	if s.KeySize < prefixSize || s.ValueSize < 0 {
		return fmt.Errorf("--key_size has to be at least %d, --value_size at least 0", prefixSize)
	}
	if err := s.open(); err != nil {
		return fmt.Errorf("can't open database: %w", err)
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	for i := range s.prefix {
		s.prefix[i].Store('a')
	}
	var group sync.WaitGroup
	failed := make(chan error, 3) // one a goroutine
	for _, work := range []func() error{s.write, s.mutatePrefix, s.holdIterators} {
		group.Go(func() {
			if err := work(); err != nil {
				failed <- err
			}
		})
	}
	var over <-chan time.Time
	if s.RuntimeSec != -1 {
		over = time.After(time.Duration(s.RuntimeSec) * time.Second)
	}
	select {
	case <-over:
	case err = <-failed:
	}
	close(s.done)
	group.Wait()
	close(failed)
	for e := range failed {
		err = errors.Join(err, e)
	}
	if err != nil {
		return err
	}
	return s.checkFiles()
}

func (s *writeStress) open() error {
	if s.DB == "" {
		dir, err := rocksdb.DefaultEnv().GetFileSystem().GetTestDirectory(nil)
		if err != nil {
			return err
		}
		s.DB = filepath.Join(dir, "write_stress")
	}
	o := rocksdb.DefaultOptions()
	if s.DestroyDB {
		_ = rocksdb.DestroyDB(s.DB, o) // as upstream: there may be none
	}
	// A deep tree, with many flushes and compactions at once.
	o.CreateIfMissing = true
	o.WriteBufferSize = 256 << 10
	o.MaxBytesForLevelBase = 1 << 20
	o.TargetFileSizeBase = 100 << 10
	o.MaxWriteBufferNumber = 16
	o.MaxBackgroundCompactions, o.MaxBackgroundFlushes = 16, 16
	if s.LowOpenFilesMode {
		o.MaxOpenFiles = 20
	}
	if s.DeleteObsoleteFilesWithFullscan {
		o.DeleteObsoleteFilesPeriodMicros = 0
	}
	var err error
	s.db, err = rocksdb.Open(s.DB, o)
	return err
}

// over tells whether the run has ended; it waits for that up to d.
func (s *writeStress) over(d time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(d):
		return false
	}
}

// newRand gives a goroutine its random numbers.
func (s *writeStress) newRand() *rand.Rand { return rand.New(rand.NewPCG(uint64(s.Seed), 0)) }

func letter(r *rand.Rand) byte { return 'a' + byte(r.IntN(26)) }

func (s *writeStress) write() error {
	r := s.newRand()
	key, value := make([]byte, s.KeySize), make([]byte, s.ValueSize)
	wo := rocksdb.DefaultWriteOptions()
	for {
		select {
		case <-s.done:
			return nil
		default:
		}
		for i := range key {
			if i < prefixSize {
				key[i] = byte(s.prefix[i].Load())
			} else {
				key[i] = letter(r)
			}
		}
		for i := range value {
			value[i] = letter(r)
		}
		wo.Sync = r.Float64() < s.SyncProbability
		if err := s.db.Put(&wo, key, value); err != nil {
			return fmt.Errorf("write to DB failed: %w", err)
		}
	}
}

func (s *writeStress) mutatePrefix() error {
	r := s.newRand()
	chances := [prefixSize]float64{s.FirstCharMutateProbability, s.SecondCharMutateProbability, s.ThirdCharMutateProbability}
	for !s.over(time.Duration(s.PrefixMutatePeriodSec * float64(time.Second))) {
		for i, chance := range chances {
			if r.Float64() < chance {
				s.prefix[i].Store(uint32(letter(r)))
			}
		}
	}
	return nil
}

// holdIterators keeps tables alive that were compacted meanwhile, then reads
// them.
func (s *writeStress) holdIterators() error {
	for over := false; !over; {
		it := s.db.NewIterator(nil)
		over = s.over(time.Duration(s.IteratorHoldSec) * time.Second)
		for it.SeekToFirst(); it.Valid(); it.Next() {
		}
		if err := errors.Join(it.Status(), it.Close()); err != nil {
			return fmt.Errorf("iterator status not OK: %w", err)
		}
	}
	return nil
}

// checkFiles looks for table files that were leaked.
func (s *writeStress) checkFiles() error {
	if err := s.db.PauseBackgroundWork(); err != nil {
		return err
	}
	live := map[uint64]bool{}
	for _, f := range s.db.GetLiveFilesMetaData() {
		live[f.FileNumber] = true
	}
	names, err := rocksdb.DefaultEnv().GetFileSystem().GetChildren(s.DB, nil)
	for _, name := range names {
		p, ok := filename.ParseFileName(name, "")
		if ok && p.Type == contract.TableFile && !live[p.Number] {
			err = errors.Join(err, fmt.Errorf("found a table file in DB path that should have been deleted: %s", name))
		}
	}
	return errors.Join(err, s.db.ContinueBackgroundWork())
}
