// No upstream twin: databases that db_stress was killed over, read by a real
// engine.

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

// childVariable makes the test program db_stress.
const childVariable = "DB_STRESS_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// killStress runs db_stress on dir until there are tables and a log with writes,
// and kills it.
func killStress(t *testing.T, dir string, flags ...string) {
	t.Helper()
	args := append([]string{"--db=" + dir, "--expected_values_dir=" + t.TempDir(), "--column_families=1", "--threads=4", "--max_key=4000",
		"--ops_per_thread=10000000", "--reopen=0", "--clear_column_family_one_in=0", "--write_buffer_size=131072", "--target_file_size_base=65536",
		"--max_bytes_for_level_base=262144", "--readpercent=5", "--prefixpercent=0", "--writepercent=70", "--delpercent=20", "--delrangepercent=5",
		"--iterpercent=0", "--compression_manager=none", "--flush_one_in=500", "--compact_range_one_in=2000"}, flags...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childVariable+"=1", "TEST_TMPDIR="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !tablesAndLog(t, dir) {
		select {
		case err := <-ended:
			t.Fatalf("db_stress ended: %v\n%s", err, &out)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func tablesAndLog(t *testing.T, dir string) bool {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		if info, err := os.Stat(log); err == nil && info.Size() > 4096 && len(tables) >= 4 {
			return true
		}
	}
	return false
}

// scan reads the database as it is, in the form of engines.Scan.
func scan(t *testing.T, dir string) string {
	t.Helper()
	o := rocksdb.DefaultOptions()
	d, handles, err := dbimpl.OpenForReadOnly(&o.DBOptions, dir,
		[]rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}}, false)
	if err != nil {
		t.Fatal(err)
	}
	it := d.NewIterator(nil, handles[0])
	var b strings.Builder
	for it.SeekToFirst(); it.Valid(); it.Next() {
		fmt.Fprintf(&b, "0x%X ==> 0x%X\n", it.Key(), it.Value())
	}
	err = it.Status()
	for _, f := range []func() error{it.Close, func() error { return d.DestroyColumnFamilyHandle(handles[0]) }, d.Close} {
		if e := f(); err == nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestKilledReadBy11_8_1 lets the C++ engine recover what db_stress left.
func TestKilledReadBy11_8_1(t *testing.T) {
	for name, flags := range map[string][]string{
		"defaults":    nil,
		"old formats": {"--format_version=2", "--checksum_type=kxxHash", "--compression_type=zlib", "--wal_compression=zstd"},
		"partitions": {"--format_version=7", "--checksum_type=kXXH3", "--compression_type=zstd", "--compression_max_dict_bytes=4096",
			"--compression_zstd_max_train_bytes=65536", "--index_type=2", "--partition_filters=1", "--bloom_bits=8", "--bloom_before_level=1"},
		"blob files": {"--enable_blob_files=1", "--min_blob_size=30", "--blob_compression_type=lz4", "--enable_blob_garbage_collection=1",
			"--blob_garbage_collection_age_cutoff=1.0", "--format_version=6", "--checksum_type=kxxHash64"},
		"universal": {"--compaction_style=1", "--compression_manager=mixed", "--format_version=5", "--data_block_index_type=1",
			"--atomic_flush=1", "--enable_pipelined_write=0"},
		"no checksums": {"--checksum_type=kNoChecksum", "--compression_type=lz4hc", "--format_version=4", "--enable_pipelined_write=1", "--recycle_log_file_num=0",
			"--use_put_entity_one_in=3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			killStress(t, dir, flags...)
			ours := scan(t, dir)
			if n := strings.Count(ours, "\n"); n < 100 {
				t.Fatalf("%d entries", n)
			}
			if theirs := engines.Scan(t, "11.8.1", dir); theirs != ours {
				t.Fatalf("11.8.1 reads %d entries, here %d, or others", strings.Count(theirs, "\n"), strings.Count(ours, "\n"))
			}
		})
	}
}
