// No upstream twin: the crash test in small (upstream: db_stress and
// tools/db_crashtest.py).

package rocksdb_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
)

// crashOp is the i-th step of the writer: every step is one batch that also
// stores i, so that a state tells of which prefix of the steps it is.
type crashOp struct {
	puts    map[string]string
	deletes []string
	sync    bool
}

var crashCounter = []byte("~counter")

func makeCrashOp(i int) crashOp {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	op := crashOp{puts: map[string]string{}, sync: i%5 == 0}
	for range 1 + r.IntN(4) {
		op.puts[fmt.Sprintf("k%04d", r.IntN(700))] = strings.Repeat(strconv.Itoa(i)+".", 1+r.IntN(40))
	}
	for range r.IntN(3) {
		k := fmt.Sprintf("k%04d", r.IntN(700))
		if _, both := op.puts[k]; !both {
			op.deletes = append(op.deletes, k)
		}
	}
	return op
}

func crashOptions() rocksdb.Options {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.WriteBufferSize = 64 << 10
	o.TargetFileSizeBase = 32 << 10
	o.MaxBytesForLevelBase = 128 << 10
	o.Level0FileNumCompactionTrigger = 2
	return o
}

// crashWriter is the child: it writes from the step after the state's, and says
// on its standard output which synced steps were acknowledged.
func crashWriter(dir string) error {
	db, err := rocksdb.Open(dir, crashOptions())
	if err != nil {
		return err
	}
	next := 1
	switch v, err := db.Get(nil, crashCounter); {
	case err == nil:
		n, err := strconv.Atoi(string(v.Data()))
		if err != nil {
			return err
		}
		v.Release()
		next = n + 1
	case rocksdb.CodeOf(err) != rocksdb.CodeNotFound:
		return err
	}
	wo := rocksdb.DefaultWriteOptions()
	for i := next; ; i++ {
		op := makeCrashOp(i)
		b := rocksdb.NewWriteBatch()
		for k, v := range op.puts {
			if err := b.Put([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		for _, k := range op.deletes {
			if err := b.Delete([]byte(k)); err != nil {
				return err
			}
		}
		if err := b.Put(crashCounter, []byte(strconv.Itoa(i))); err != nil {
			return err
		}
		wo.Sync = op.sync
		if err := db.Write(&wo, b); err != nil {
			return err
		}
		if op.sync {
			fmt.Println(i)
		}
	}
}

// TestCrashWriterProcess is not a test by itself: TestKilledWriter runs it as
// the process to kill.
func TestCrashWriterProcess(t *testing.T) {
	dir := os.Getenv("ROCKSDB_CRASH_DIR")
	if dir == "" {
		return
	}
	if err := crashWriter(dir); err != nil {
		fmt.Fprintln(os.Stderr, "crash writer:", err)
		os.Exit(3)
	}
}

// TestKilledWriter kills a writing process at random moments. Each time the
// database has to open, to hold exactly the effects of a prefix of the steps,
// and that prefix has to include every acknowledged synced step.
func TestKilledWriter(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 10
	}
	dir := t.TempDir()
	model := map[string]string{}
	applied := 0
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for round := range kills {
		acked := killOnce(t, dir, time.Duration(5+r.IntN(60))*time.Millisecond)
		db, err := rocksdb.Open(dir, crashOptions())
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		n := 0
		if v, err := db.Get(nil, crashCounter); err == nil {
			n, _ = strconv.Atoi(string(v.Data()))
			v.Release()
		} else if rocksdb.CodeOf(err) != rocksdb.CodeNotFound {
			t.Fatalf("round %d: %v", round, err)
		}
		if n < acked || n < applied {
			t.Fatalf("round %d: state of step %d, but step %d was synced and %d seen before", round, n, acked, applied)
		}
		for ; applied < n; applied++ {
			op := makeCrashOp(applied + 1)
			for k, v := range op.puts {
				model[k] = v
			}
			for _, k := range op.deletes {
				delete(model, k)
			}
		}
		compareWithModel(t, db, model, round)
		if err := db.Close(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	t.Logf("%d kills, %d steps", kills, applied)
}

func compareWithModel(t *testing.T, db *rocksdb.DB, model map[string]string, round int) {
	t.Helper()
	it := db.NewIterator(nil)
	defer it.Close()
	seen := 0
	for k, v := range it.All() {
		if bytes.Equal(k, crashCounter) {
			continue
		}
		if want, ok := model[string(k)]; !ok || want != string(v) {
			t.Fatalf("round %d: key %s is %.20q, want %.20q (%v)", round, k, v, want, ok)
		}
		seen++
	}
	if err := it.Err(); err != nil || seen != len(model) {
		t.Fatalf("round %d: %d keys, want %d: %v", round, seen, len(model), err)
	}
}

// killOnce runs the writer for a while and gives the last step it acknowledged.
func killOnce(t *testing.T, dir string, after time.Duration) (acked int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestCrashWriterProcess$")
	cmd.Env = append(os.Environ(), "ROCKSDB_CRASH_DIR="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan int)
	go func() {
		defer close(lines)
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadString('\n')
			if n, e := strconv.Atoi(strings.TrimSpace(line)); e == nil && err == nil {
				lines <- n
			}
			if err != nil {
				_, _ = io.Copy(io.Discard, in)
				return
			}
		}
	}()
	// The clock starts with the first acknowledged step, so that every round
	// makes progress.
	kill := time.After(20 * time.Second)
	for open := true; open; {
		select {
		case n, ok := <-lines:
			if !ok {
				open = false
				break
			}
			if acked == 0 {
				kill = time.After(after)
			}
			acked = n
		case <-kill:
			_ = cmd.Process.Kill()
			kill = nil
		}
	}
	err = cmd.Wait()
	if stderr.Len() > 0 {
		t.Fatalf("writer: %v: %s", err, stderr.String())
	}
	return acked
}
