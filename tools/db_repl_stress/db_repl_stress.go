// Port of tools/db_repl_stress.cc. Differs: the directory is of the run's own and
// goes with it; the reader waits a little where nothing new is in the logs.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/gflags"
	"github.com/rocksdb-go/rocksdb/util"
)

// Flags are upstream's.
type Flags struct {
	NumInserts     uint64 `flag:"num_inserts,1000" help:"keys to write"`
	WALTTLSeconds  uint64 `flag:"wal_ttl_seconds,1000" help:"Options::WAL_ttl_seconds"`
	WALSizeLimitMB uint64 `flag:"wal_size_limit_MB,10" help:"Options::WAL_size_limit_MB"`
}

func main() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) }

// run gives the exit code; args[0] is the program's name.
func run(args []string, stdout, stderr io.Writer) int {
	var f Flags
	return gflags.Program(args, stdout, stderr, &f, contract.GetRocksVersionAsString(true), func(*gflags.Set) error {
		err := f.stress(stderr)
		if err == nil {
			fmt.Fprintln(stderr, "Successful!")
		}
		return err
	})
}

// stress writes and follows until all that was written was read.
func (f *Flags) stress(log io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "db_repl_stress")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing, o.WALTTLSeconds, o.WALSizeLimitMB = true, f.WALTTLSeconds, f.WALSizeLimitMB
	d, err := rocksdb.Open(dir, o)
	if err != nil {
		return fmt.Errorf("could not open DB: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	written := make(chan error, 1)
	go func() { written <- f.pump(d) }()
	return errors.Join(f.follow(d, log), <-written)
}

func (f *Flags) pump(d *rocksdb.DB) error {
	rnd := util.NewRandom(301)
	for range f.NumInserts {
		if err := d.Put(nil, []byte(rnd.RandomString(500)), []byte(rnd.RandomString(500))); err != nil {
			return fmt.Errorf("error in put: %w", err)
		}
	}
	return nil
}

// surplusProbes are the tries to find more than was written.
const surplusProbes = 100

// follow reads the logs from the first sequence number on. Where the writer fails
// it gives up after a while without news.
func (f *Flags) follow(d *rocksdb.DB, log io.Writer) error {
	const patience = 60 * time.Second
	next, news := rocksdb.SequenceNumber(1), time.Now()
	for probes := 0; ; {
		read := uint64(next - 1)
		it, err := d.GetUpdatesSince(next, nil)
		if rocksdb.IsNotFound(err) {
			if read >= f.NumInserts {
				if probes++; probes > surplusProbes {
					if read > f.NumInserts {
						return fmt.Errorf("too many updates read: %d expected: %d", read, f.NumInserts)
					}
					return nil
				}
			} else if time.Since(news) > patience {
				return fmt.Errorf("%d of %d updates read, no more for %v", read, f.NumInserts, patience)
			}
			time.Sleep(100 * time.Microsecond)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(log, "Refreshing iterator")
		news = time.Now()
		for ; it.Valid(); it.Next() {
			if b := it.GetBatch(); b.Sequence != next {
				err = fmt.Errorf("missed a seq no. b/w %d and %d", next, b.Sequence)
				break
			}
			next++
		}
		if err = errors.Join(err, it.Err(), it.Close()); err != nil {
			return err
		}
	}
}
