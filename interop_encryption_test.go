// No upstream twin: encrypted databases written here and read by a real engine,
// and the other way round.

package rocksdb_test

import (
	"fmt"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/internal/engines"
)

func TestEncryptedInterop(t *testing.T) {
	engines.Tool(t, "ldb")
	const uri = "provider=1://test; id=EncryptedFileSystem"
	e, err := rocksdb.CreateEnvFromURI(nil, "", uri)
	if err != nil {
		t.Fatal(err)
	}
	o := interopOptions(rocksdb.ZSTD, 5)
	o.Env = e

	ours := t.TempDir()
	writeInterop(t, ours, o, 7)
	sameLines(t, "ldb 7.8.3", engines.ToolScan(t, ours, "--fs_uri="+uri), scanHere(t, ours, o))

	theirs := t.TempDir()
	for i := range 3 {
		engines.Run(t, "ldb", "--db="+theirs, "--create_if_missing", "--fs_uri="+uri, "put", fmt.Sprint("key", i), fmt.Sprint("value", i))
	}
	engines.Run(t, "ldb", "--db="+theirs, "--fs_uri="+uri, "compact")
	engines.Run(t, "ldb", "--db="+theirs, "--fs_uri="+uri, "put", "key3", "in the log")
	got := scanHere(t, theirs, o)
	sameLines(t, "ldb 7.8.3", engines.ToolScan(t, theirs, "--fs_uri="+uri), got)
	if want := "0x6B657933 ==> 0x696E20746865206C6F67\n"; got[len(got)-len(want):] != want {
		t.Errorf("the last line of\n%s", got)
	}
}
