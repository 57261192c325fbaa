// Port of logging/auto_roll_logger_test.cc: the part with a database.

package logging_test

import (
	"os"
	"path/filepath"
	"testing"

	root "github.com/rocksdb-go/rocksdb"
)

func TestAutoRollLoggerTest_LogFileExistence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	o := root.DefaultOptions()
	o.MaxLogFileSize = 100 << 20
	o.CreateIfMissing = true
	db, err := root.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := os.Stat(filepath.Join(dir, "LOG")); err != nil {
		t.Fatal(err)
	}
}
