// No upstream twin: batches that are refused before the log is written, in
// groups with others that are not.

package dbimpl_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
)

// Who shares a group with a refused batch has nothing to do with its error, and
// a refused batch is told so whoever leads.
func TestDBImpl_RefusedBatchesInGroups(t *testing.T) {
	for _, mode := range []struct {
		name                  string
		concurrent, pipelined bool
	}{{"serial", false, false}, {"parallel", true, false}, {"pipelined", false, true}, {"pipelined parallel", true, true}} {
		t.Run(mode.name, func(t *testing.T) {
			o := rocksdb.DefaultOptions()
			o.CreateIfMissing = true
			o.AllowConcurrentMemtableWrite, o.EnablePipelinedWrite = mode.concurrent, mode.pipelined
			db, err := rocksdb.Open(t.TempDir(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}()
			const writers, rounds = 12, 100
			var wg sync.WaitGroup
			for i := range writers {
				wg.Go(func() {
					for j := range rounds {
						b := rocksdb.NewWriteBatch()
						key := []byte(fmt.Sprintf("key-%d-%d", i, j))
						err := b.Put(key, key)
						bad := (i+j)%3 == 0
						if bad && err == nil {
							err = b.DeleteRange([]byte("z"), []byte("a"))
						}
						if err != nil {
							t.Error(err)
							return
						}
						err = db.Write(nil, b)
						if bad != (err != nil) || bad && !errors.Is(err, rocksdb.ErrInvalidArgument) {
							t.Errorf("writer %d, round %d: bad %v, %v", i, j, bad, err)
							return
						}
					}
				})
			}
			wg.Wait()
			for i := range writers {
				for j := range rounds {
					key := []byte(fmt.Sprintf("key-%d-%d", i, j))
					v, err := db.Get(nil, key)
					if (i+j)%3 == 0 {
						if !errors.Is(err, rocksdb.ErrNotFound) {
							t.Fatalf("%s of a refused batch: %v", key, err)
						}
						continue
					}
					if err != nil || string(v.Data()) != string(key) {
						t.Fatalf("%s: %q, %v", key, v.Data(), err)
					}
					v.Release()
				}
			}
		})
	}
}
