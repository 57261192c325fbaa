// No upstream twin: traces that db_bench writes.

package main

import (
	"path/filepath"
	"strings"
	"testing"

	engine "github.com/rocksdb-go/rocksdb"
	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
)

func TestBlockCacheTrace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace")
	if out, code := runTool(t, "--db="+dir+"/db", "--num=2000", "--benchmarks=fillrandom,flush"); code != 0 {
		t.Fatal(out)
	}
	out, code := runTool(t, "--db="+dir+"/db", "--num=2000", "--use_existing_db", "--benchmarks=readrandom", "--block_cache_trace_file="+path)
	if code != 0 || !strings.Contains(out, "Tracing block cache accesses to: ["+path+"]\n") {
		t.Fatalf("exit %d: %s", code, out)
	}
	f, err := engine.NewFileTraceReader(nil, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := tracereplay.NewBlockCacheTraceReader(f)
	if h, err := r.ReadHeader(); err != nil || h.MajorVersion != rocksdb.Major {
		t.Fatal(h, err)
	}
	found, lastID := 0, uint64(0)
	for {
		a, err := r.ReadAccess()
		if err != nil {
			if !rocksdb.IsIncomplete(err) {
				t.Error(err)
			}
			break
		}
		if a.Caller != rocksdb.CallerUserGet {
			continue
		}
		if a.GetID < lastID || a.CFName != rocksdb.DefaultColumnFamilyName || a.SSTFDNumber == 0 || a.ReferencedDataSize != 16+8+100 && a.ReferencedKeyExistInBlock {
			t.Fatalf("after lookup %d: %+v", lastID, a)
		}
		lastID = a.GetID
		if a.ReferencedKeyExistInBlock {
			found++
		}
	}
	if lastID != 2000 || found == 0 || found > 2000 {
		t.Errorf("%d lookups, %d found", lastID, found)
	}
	for flag, want := range map[string]string{
		"--block_cache_trace_sampling_frequency=0":           "Block cache trace sampling frequency must be higher than 0.\n",
		"--block_cache_trace_max_trace_file_size_in_bytes=0": "The maximum file size for block cache tracing must be higher than 0.\n",
	} {
		out, code := runTool(t, "--db="+dir+"/db", "--num=10", "--use_existing_db", "--benchmarks=readrandom", "--block_cache_trace_file="+path, flag)
		if code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s", flag, code, out)
		}
	}
}

// TestTraceAndReplay: a workload's trace, replayed in another database, leaves the
// same keys.
func TestTraceAndReplay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "trace")
	run := func(want string, args ...string) {
		t.Helper()
		if out, code := runTool(t, append(args, "--num=500", "--trace_file="+path)...); code != 0 || !strings.Contains(out, want) {
			t.Fatalf("%v: exit %d: %s", args, code, out)
		}
	}
	run("Tracing the workload to: ["+path+"]\n", "--db="+dir+"/one", "--benchmarks=fillrandom", "--seed=1")
	run("Replay completed from trace_file: "+path+"\n", "--db="+dir+"/two", "--benchmarks=replay", "--trace_replay_fast_forward=100")
	run("Replay completed from trace_file: "+path+"\n", "--db="+dir+"/three", "--benchmarks=replay", "--trace_replay_threads=2")
	out, code := runTool(t, "--db="+dir+"/two", "--use_existing_db", "--benchmarks=verify", "--truth_db="+dir+"/one")
	if code != 0 || !strings.Contains(out, "...Verified") {
		t.Errorf("verify: exit %d: %s", code, out)
	}
	if out, code := runTool(t, "--db="+dir+"/two", "--use_existing_db", "--benchmarks=replay"); code != 1 || !strings.Contains(out, "Please set --trace_file") {
		t.Errorf("no file: exit %d: %s", code, out)
	}
}
